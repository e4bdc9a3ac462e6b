"""Tables that live in Python: the same kind comes back, and the given one is left as it was."""

from __future__ import annotations

import copy
import datetime
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.engines import adopt

ROWS = 240
POLICY = {
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi"},
        "job": {"role": "quasi"},
        "born": {"role": "quasi"},
        "disease": {"role": "sensitive"},
        "visits": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "disease"}],
}
RELEASED = ["age", "job", "born", "disease", "visits"]


def people():
    """Return the table that all kinds below hold."""
    draw = np.random.default_rng(7)
    first = datetime.date(1990, 1, 1)
    return pa.table(
        {
            "name": [f"Qperson {number}" for number in range(ROWS)],
            "age": draw.integers(18, 80, ROWS),
            "job": draw.choice(["cook", "judge", "nurse"], ROWS).tolist(),
            "born": [first + datetime.timedelta(days=int(days)) for days in draw.integers(0, 500, ROWS)],
            "disease": draw.choice(["cold", "pox", "ulcer"], ROWS).tolist(),
            "visits": draw.integers(0, 9, ROWS),
        }
    )


def as_duckdb(table):
    connection = duckdb.connect()
    connection.register("people", table)
    connection.execute("CREATE TABLE stored AS SELECT * FROM people")
    return connection.table("stored")


KINDS = {
    "pandas": (lambda table: table.to_pandas(), pd.DataFrame, pa.Table.from_pandas),
    "polars": (pl.from_arrow, pl.DataFrame, pl.DataFrame.to_arrow),
    "lazy": (lambda table: pl.from_arrow(table).lazy(), pl.LazyFrame, lambda frame: frame.collect().to_arrow()),
    "arrow": (lambda table: table, pa.Table, lambda table: table),
    "chunked": (lambda table: pa.concat_tables([table.slice(0, 99), table.slice(99)]), pa.Table, lambda table: table),
    "batch": (lambda table: table.to_batches()[0], pa.RecordBatch, lambda batch: pa.Table.from_batches([batch])),
    "duckdb": (as_duckdb, duckdb.DuckDBPyRelation, lambda found: found.to_arrow_table()),
}


def content(table):
    """Return the rows as text, in any order."""
    return Counter(tuple(str(cell) for cell in row.values()) for row in table.to_pylist())


@pytest.fixture(scope="module")
def expected():
    """What the Arrow table gives."""
    return content(sudare.anonymize(people(), POLICY, seed=3).data)


@pytest.mark.parametrize("kind", KINDS)
def test_same_kind_and_same_content(kind, expected):
    make, back, to_arrow = KINDS[kind]
    release = sudare.anonymize(make(people()), POLICY, seed=3)
    assert isinstance(release.data, back)
    found = to_arrow(release.data)
    assert found.schema.names == RELEASED
    assert found.num_rows == ROWS
    assert content(found) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_given_table_is_left_as_it_was(kind):
    make, _, to_arrow = KINDS[kind]
    given = make(people())
    sudare.anonymize(given, POLICY)
    assert to_arrow(given).equals(make_arrow(kind, people()))


def make_arrow(kind, table):
    make, _, to_arrow = KINDS[kind]
    return to_arrow(make(table))


def test_released_frame_is_audited_again():
    release = sudare.anonymize(people().to_pandas(), POLICY)
    assert sudare.audit(release.data, POLICY).passed
    report = sudare.audit(release, POLICY)
    assert report.passed and not report.verified  # rows in memory have no digest for a certificate
    assert repr(release).startswith("<sudare.Release: 240 of 240 records")
    assert release.loss["gcp"] == release.certificate["loss"]["gcp"]


class TestPandas:
    def release(self, frame, policy=None, **options):
        before = copy.deepcopy(frame)
        found = sudare.anonymize(frame, policy or POLICY, **options).data
        pd.testing.assert_frame_equal(frame, before)
        return found

    @pytest.mark.parametrize(
        "index",
        [
            [0] * ROWS,
            [f"Qperson {number}" for number in range(ROWS)],
            range(ROWS, 0, -1),
            pd.MultiIndex.from_product([range(2), range(ROWS // 2)], names=["job", "x"]),
        ],
        ids=["duplicate", "text", "backwards", "levels"],
    )
    def test_index_is_no_data(self, index, expected):
        frame = people().to_pandas()
        frame.index = index
        found = self.release(frame, seed=3)
        assert list(found.columns) == RELEASED
        assert list(found.index) == list(range(ROWS))
        assert content(pa.Table.from_pandas(found, preserve_index=False)) == expected

    def test_categories(self, expected):
        frame = people().to_pandas()
        frame["job"] = frame["job"].astype(pd.CategoricalDtype(["nurse", "none", "judge", "cook"]))
        frame["disease"] = frame["disease"].astype("category")
        found = self.release(frame, seed=3)
        assert content(pa.Table.from_pandas(found, preserve_index=False)) == expected

    @pytest.mark.parametrize("kind", ["Int64", "int32", "uint8", "float64", "int64[pyarrow]", "string"])
    def test_types_of_numbers(self, kind, expected):
        frame = people().to_pandas()
        frame["age"] = frame["age"].astype(kind)
        assert content(pa.Table.from_pandas(self.release(frame, seed=3), preserve_index=False)) == expected

    @pytest.mark.parametrize("kind", ["object", "string", "str", "string[pyarrow]"])
    def test_types_of_text(self, kind, expected):
        frame = people().to_pandas()
        frame["job"] = frame["job"].astype(kind)
        assert content(pa.Table.from_pandas(self.release(frame, seed=3), preserve_index=False)) == expected

    def test_datetimes(self):
        frame = people().to_pandas()
        frame["born"] = pd.to_datetime(frame["born"]) + pd.Timedelta(hours=5)
        found = self.release(frame)
        assert found["born"].str.contains("T00:00:00").all()  # days that few were born on: the first of a month

    @pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
    def test_missing(self, missing):
        """Missing values stand together; each class shows that they may be."""
        frame = people().to_pandas()
        frame["job"] = [missing if number % 2 else "cook" for number in range(ROWS)]
        found = self.release(frame)
        shown = {None if pd.isna(cell) else cell for cell in found["job"]}
        assert shown <= {None, "cook", "*"}
        assert len(found) == ROWS

    def test_missing_whole_numbers(self):
        frame = people().to_pandas()
        frame["age"] = frame["age"].astype("Int64")
        frame.loc[: ROWS // 2, "age"] = pd.NA
        assert self.release(frame)["age"].isna().any()

    def test_names_that_are_numbers(self):
        frame = people().to_pandas()
        frame.columns = range(6)
        roles = enumerate(POLICY["columns"].values())
        policy = {"columns": {str(number): spec for number, spec in roles}, "require": POLICY["require"][:1]}
        assert list(self.release(frame, policy).columns) == ["1", "2", "3", "4", "5"]

    def test_subclass(self):
        class Patients(pd.DataFrame):
            pass

        assert isinstance(sudare.anonymize(Patients(people().to_pandas()), POLICY).data, pd.DataFrame)

    def test_name_twice(self):
        frame = people().to_pandas()
        frame.columns = ["name", "age", "age", "born", "disease", "visits"]
        with pytest.raises(DataError, match="columns 2 and 3 have the same name"):
            sudare.anonymize(frame, POLICY)

    def test_mixed_cells_are_named_but_not_shown(self):
        frame = people().to_pandas()
        frame["job"] = ["Qsecret", 7] * (ROWS // 2)
        frame["visits"] = [object()] * ROWS
        with pytest.raises(DataError) as error:
            sudare.anonymize(frame, POLICY)
        assert "column 'job': mixes types" in str(error.value)
        assert "column 'visits': mixes types" in str(error.value)
        assert "Qsecret" not in str(error.value)
        assert error.value.__suppress_context__


@pytest.mark.parametrize(
    "given",
    [3, None, [1, 2], {"age": [1]}, pd.Series([1]), pl.Series([1]), duckdb, pa.array([1])],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_table(given):
    with pytest.raises(DataError, match="is not a supported kind of table"):
        adopt(given)


@pytest.mark.parametrize("kind", KINDS)
def test_no_records(kind):
    if kind == "batch":
        empty = pa.RecordBatch.from_pylist([], schema=people().schema)
    else:
        empty = KINDS[kind][0](people().slice(0, 0))
    with pytest.raises(DataError, match="has no records"):
        sudare.anonymize(empty, POLICY)


def test_column_that_is_not_there():
    with pytest.raises(DataError, match=r"there is no column 'disease', .* Did you mean 'diseases'"):
        sudare.anonymize(people().rename_columns({"disease": "diseases"}), POLICY)


def test_names_that_may_be_cells_are_not_shown():
    """As pandas gives them where a file without a header was read."""
    frame = pd.DataFrame([["b", 2]] * 6, columns=["Qsecret", "1"])
    with pytest.raises(DataError) as error:
        sudare.anonymize(frame, POLICY)
    assert "Qsecret" not in str(error.value)


def test_arrow_dictionaries_and_views(expected):
    table = people()
    for name, kind in (("job", pa.dictionary(pa.int8(), pa.string())), ("disease", pa.string_view())):
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table.column(name).cast(kind))
    assert content(sudare.anonymize(table, POLICY, seed=3).data) == expected


def test_any_table_with_the_arrow_protocol(expected):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return people().__arrow_c_stream__(requested_schema)

    assert content(sudare.anonymize(Stream(), POLICY, seed=3).data) == expected


def test_frame_to_file(tmp_path, expected):
    release = sudare.anonymize(pl.from_arrow(people()), POLICY, out=tmp_path / "release.parquet", seed=3)
    assert release.data is None
    assert release.path == tmp_path / "release.parquet"
    assert sudare.audit(release.path, POLICY).passed


def test_periods_are_their_first_days():
    frame = pd.DataFrame({"month": pd.period_range("2020-01", periods=3, freq="M")})
    assert [str(day)[:10] for day in adopt(frame)[0]["month"].to_pylist()] == ["2020-01-01", "2020-02-01", "2020-03-01"]
