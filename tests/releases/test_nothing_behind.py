"""What no row of a release shows is not in its file either, and what it shows is what was there."""

import datetime
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import AuditFailedError, DataError, SudareError, TargetError, UnsupportedError
from sudare.table import Partition, Taxonomy, encode_column, generalize, merge_alike
from sudare.table.table import Table

K5 = [{"model": "k-anonymity", "k": 5}]


def policy(require=K5, **columns):
    return {"columns": {"age": {"role": "quasi"}, **columns}, "require": require}


def outlier(values):
    """Sixty records of an age, and one far off that a policy may leave out."""
    return {"age": [30 + row % 3 for row in range(60)] + [95], "diag": values}


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_categories_of_suppressed_records_stay_behind(ending, tmp_path):
    secret = "rare-disease-of-the-suppressed"
    frame = pd.DataFrame(outlier(pd.Categorical(["flu"] * 60 + [secret])))
    rules = policy(diag={"role": "sensitive"}) | {"suppression": {"limit": 0.1}}
    release = sudare.anonymize(frame, rules, out=tmp_path / f"r.{ending}")
    assert release.certificate["suppressed"] == 1
    assert secret.encode() not in (tmp_path / f"r.{ending}").read_bytes()
    back = sudare.anonymize(frame, rules).data
    assert secret not in list(getattr(back["diag"].dtype, "categories", []))


def test_dictionaries_inside_lists_and_values_below_null_structs_stay_behind(tmp_path):
    coded = pa.DictionaryArray.from_arrays(pa.array([0] * 61), pa.array(["shown", "hidden-entry"]))
    lists = pa.ListArray.from_arrays(pa.array(range(62), pa.int32()), coded)
    masked = pa.StructArray.from_arrays([pa.array(["below-null"] * 61)], ["x"], mask=pa.array([True] * 61))
    table = pa.table({**outlier(["flu"] * 61), "lists": lists, "masked": masked})
    rules = policy(lists={"role": "insensitive"}, masked={"role": "insensitive"})
    sudare.anonymize(table, rules, out=tmp_path / "r.arrow")
    written = (tmp_path / "r.arrow").read_bytes()
    assert b"hidden-entry" not in written
    assert b"below-null" not in written


def test_list_views_are_read_right(tmp_path):
    items = [[f"v{row}"] * (row % 4) for row in range(61)]
    table = pa.table({**outlier(["flu"] * 61), "items": pa.array(items, pa.list_view(pa.string()))})
    rules = policy(items={"role": "insensitive"}) | {"release": {"order": "keep"}}
    release = sudare.anonymize(table, rules).data
    assert release.column("items").to_pylist() == items
    sudare.anonymize(table, rules, out=tmp_path / "r.csv")
    assert pd.read_csv(tmp_path / "r.csv", keep_default_na=False)["items"].tolist() == [",".join(i) for i in items]


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([Decimal("5.00"), Decimal("7.50")], "5"),
        ([5.0, 7.5], "5"),
        ([datetime.datetime(1970, 1, 1), datetime.datetime(1980, 5, 5)], "1970-01-01"),
        ([True, False], "true"),
        ([5, 7], "5"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_values_that_a_promise_names_are_found_whatever_their_type(values, name, ending, tmp_path):
    random = np.random.default_rng(3)
    cells = [values[int(pick)] for pick in random.random(80) < 0.5]
    table = pa.table({"age": random.integers(20, 60, 80), "s": cells})
    rules = policy(
        [{"model": "alpha-k-anonymity", "alpha": 0.6, "k": 5, "column": "s", "values": [name]}], s={"role": "sensitive"}
    )
    path = tmp_path / f"r.{ending}"
    release = sudare.anonymize(table, rules, out=path)
    proven = release.certificate["guarantees"][0]
    assert 0 < proven["achieved"]["alpha"] <= 0.6
    assert proven["note"] == ""


def test_a_misspelled_value_is_an_error():
    table = pa.table({"age": [30, 31] * 20, "s": ["hiv", "flu", "cold", "gout"] * 10})
    promise = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 5, "column": "s", "values": ["HVI", "flu"]}
    with pytest.raises(DataError, match=r"require\.0\.values: names 1 values that column 's' does not have"):
        sudare.anonymize(table, policy([promise], s={"role": "sensitive"}))


def test_raw_subjects_are_no_release(tmp_path):
    path = tmp_path / "foreign.csv"
    path.write_text("ssn,age\n" + "".join(f"{900000000 + row},30\n" for row in range(10)))
    rules = {
        "columns": {"ssn": {"role": "subject"}, "age": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    assert not sudare.audit(path, rules).passed
    rules["require"][0]["count"] = "subjects"
    assert not sudare.audit(path, rules).passed
    with pytest.raises(AuditFailedError, match="subjects per class"):
        sudare.audit(path, rules).raise_if_failed()
    assert sudare.audit(path, rules | {"release": {"subjects": "linked"}}).passed


def test_classes_that_look_alike_are_one():
    column = encode_column("c", pa.array(["a", "b", "c", "d"] * 2), kind="categorical")
    tree = Taxonomy(
        labels=("*", "a", "b", "c", "d"),
        parent=np.array([-1, 0, 0, 0, 0], np.int32),
        leaves=np.array([4, 1, 1, 1, 1], np.int32),
        path=np.array([[0, 1], [0, 2], [0, 3], [0, 4]], np.int32),
    )
    table = Table(8, {"c": column.reordered(np.arange(4), tree)})
    alike = Partition(np.array([0, 0, 1, 1, 2, 0, 1, -1]), 3)  # {a, b} and {c, d} both show the root
    merged = merge_alike(alike, generalize(table, alike))
    assert merged.count == 2
    assert merged.classes.tolist() == [0, 0, 0, 0, 1, 0, 0, -1]
    assert merge_alike(merged, generalize(table, merged)) is merged


def test_whole_numbers_with_missing_cells_come_back_whole():
    big = pd.array([2**60 + 1, None] * 10, dtype="Int64")
    frame = pd.DataFrame({"age": [30] * 20, "n": big, "flag": pd.array([True, None] * 10, dtype="boolean")})
    rules = policy(n={"role": "insensitive"}, flag={"role": "insensitive"}) | {"release": {"order": "keep"}}
    back = sudare.anonymize(frame, rules).data
    assert back["n"].dropna().tolist() == [2**60 + 1] * 10
    assert back["flag"].dtype == "boolean"


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["+491700000000", "49"], "text"),
        (["007", "008"], "text"),
        (["1.12345678901234567890", "2.0"], "text"),
        (["nan", "1"], "text"),
        (["1.5", "2.0"], "number"),
        (["12", "-3"], "number"),
        (["2024-01-05", "2024-02-01"], "date"),
    ],
)
def test_text_becomes_numbers_only_if_they_say_the_same(cells, kept, tmp_path):
    source = tmp_path / "s.csv"
    source.write_text("age,x\n" + "".join(f"30,{cells[row % 2]}\n" for row in range(20)))
    sudare.anonymize(source, policy(x={"role": "insensitive"}), out=tmp_path / "r.parquet")
    kind = pq.read_table(tmp_path / "r.parquet").schema.field("x").type
    found = "text" if pa.types.is_large_string(kind) or pa.types.is_string(kind) else "number"
    assert ("date" if pa.types.is_date(kind) else found) == kept


def test_zoned_times_do_not_depend_on_the_machine(tmp_path, monkeypatch):
    when = pa.array([datetime.datetime(2024, 1, 1, 1, 2, 3)] * 20, pa.timestamp("us")).cast(
        pa.timestamp("us", "Asia/Tokyo")
    )
    monkeypatch.setenv("TZ", "America/New_York")
    table = pa.table({"age": [30] * 20, "at": when})
    sudare.anonymize(table, policy(at={"role": "insensitive"}), out=tmp_path / "r.csv")
    assert "10:02:03" in (tmp_path / "r.csv").read_text()


@pytest.mark.parametrize("cells", [["010", "02", "1"], ["2024-1-5", "2024-11-1", "2024-2-9"], ["3", "12", "7"]])
def test_both_sides_order_values_alike(cells, tmp_path):
    random = np.random.default_rng(1)
    table = pa.table({"age": random.integers(20, 60, 90), "s": [cells[pick] for pick in random.integers(0, 3, 90)]})
    promise = {"model": "t-closeness", "t": 0.25, "column": "s", "distance": "ordered"}
    release = sudare.anonymize(table, policy([*K5, promise], s={"role": "sensitive"}), out=tmp_path / "r.csv")
    assert release.certificate["guarantees"][1]["holds"]


def test_a_budget_is_not_lost_where_limits_are_against_the_whole():
    adult = sudare.datasets.adult(complete=True).slice(0, 6000)
    columns = {name: {"role": "quasi"} for name in ("age", "occupation", "sex", "race", "marital-status")}
    losses = {}
    for limit in (0.0, 0.05, 0.2):
        made = sudare.anonymize(
            adult,
            {
                "columns": columns | {"income": {"role": "sensitive"}},
                "require": [*K5, {"model": "t-closeness", "t": 0.15, "column": "income"}],
                "suppression": {"limit": limit},
            },
        )
        losses[limit] = made.loss["gcp"]
        assert made.certificate["suppressed"] <= limit * 6000
    assert losses[0.05] <= losses[0.0]
    assert losses[0.2] <= losses[0.0]


def test_what_the_policy_is_made_of_is_not_overwritten(tmp_path):
    (tmp_path / "job.csv").write_text("a;*\nb;*\n")
    (tmp_path / "policy.yaml").write_text(
        "columns: {job: {role: quasi, hierarchy: job.csv}}\nrequire: [{model: k-anonymity, k: 2}]\n"
    )
    table = pa.table({"job": ["a", "b"] * 5})
    with pytest.raises(TargetError, match="is part of the policy"):
        sudare.anonymize(table, tmp_path / "policy.yaml", out=tmp_path / "job.csv")
    assert (tmp_path / "job.csv").read_text() == "a;*\nb;*\n"


def test_sets_too_long_to_write_are_refused_before_memory_is_full(monkeypatch):
    monkeypatch.setattr(sys.modules["sudare.releases.render"], "LONGEST_COLUMN", 10_000)
    table = pa.table({"who": [f"person {row}" for row in range(400)]})
    rules = {"columns": {"who": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 100}]}
    with pytest.raises(UnsupportedError, match="column 'who' would be released as sets"):
        sudare.anonymize(table, rules | {"release": {"ranges": "tight"}})


def test_a_file_without_a_header_is_not_drafted(tmp_path):
    path = tmp_path / "headless.csv"
    lines = [f"Person {row},19{row:02}-03-04,902{row:02},{'HIV' if row % 3 else 'flu'}" for row in range(10, 40)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="looks like a record") as error:
        sudare.draft(path)
    assert "Person" not in str(error.value)
    assert "HIV" not in str(error.value)


@pytest.mark.parametrize(
    ("pair", "name"), [(["hiv", "HIV"], "hiv"), (["1", "01"], "1"), (["2020-01-01", "2020-01-01 00:00"], "2020-01-01")]
)
def test_a_name_that_is_there_means_just_that_value(pair, name, tmp_path):
    random = np.random.default_rng(5)
    cells = [[*pair, "flu"][pick] for pick in random.choice(3, 200, p=[0.15, 0.7, 0.15])]
    table = pa.table({"age": random.integers(0, 30, 200), "s": cells})
    promise = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 3, "column": "s", "values": [name]}
    rules = policy([promise], s={"role": "sensitive", "kind": "categorical", "exact": True})
    for path in (None, tmp_path / "r.csv", tmp_path / "r.parquet"):
        assert sudare.anonymize(table, rules, out=path).certificate["guarantees"][0]["holds"]


def test_orders_that_a_release_would_not_show_are_refused():
    random = np.random.default_rng(1)
    texts = ["<1", *random.choice(["1", "2", "10", "20"], 99)]
    promise = {"model": "t-closeness", "t": 0.3, "column": "s", "distance": "ordered"}
    rules = policy([*K5, promise], s={"role": "sensitive"}) | {"suppression": {"limit": 0.05}}
    table = pa.table({"age": random.integers(0, 30, 100), "s": texts})
    with pytest.raises(DataError, match="its order is unclear"):
        sudare.anonymize(table, rules)
    rules["columns"]["s"]["kind"] = "categorical"
    assert sudare.anonymize(table, rules).certificate["guarantees"][1]["holds"]
    lasting = pa.array(random.integers(1, 100, 100), pa.duration("s"))
    with pytest.raises(DataError, match="holds durations"):
        sudare.anonymize(table.set_column(1, "s", lasting), policy([*K5, promise], s={"role": "sensitive"}))


def test_spellings_are_kept_apart_or_together_as_they_were_counted(tmp_path):
    source = tmp_path / "s.csv"
    rows = [f"{30 + row % 4},{'1' if row % 2 else '1.0'}" for row in range(60)]
    source.write_text("\n".join(["age,s", *rows, "95,x", "97,x"]) + "\n")
    rules = policy(
        [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "s"}], s={"role": "sensitive"}
    )
    made = sudare.anonymize(source, rules | {"suppression": {"limit": 0.05}}, out=tmp_path / "r.parquet")
    assert made.certificate["guarantees"][1]["achieved"] == 2


@pytest.mark.parametrize(
    "who", [["1", "2.71828", "3"], ["1", "3", "01"], ["0", "1", "2"], ["1", "1", "3"], [None, "1", "2"]]
)
def test_numbers_of_subjects_are_exactly_those_from_one(who):
    table = pa.table({"age": ["30"] * 3 + ["40"] * 3, "who": who * 2})
    rules = {
        "columns": {"age": {"role": "quasi"}, "who": {"role": "subject"}},
        "require": [{"model": "k-anonymity", "k": 2, "count": "subjects"}],
    }
    assert not sudare.audit(table, rules).passed
    assert sudare.audit(table.set_column(1, "who", pa.array(["1", "2", "3"] * 2)), rules).passed


@pytest.mark.parametrize("values", [[0.0, -0.0], [float("nan"), None]])
def test_spellings_of_one_number_are_no_diversity(values):
    table = pa.table({"age": ["30"] * 4, "s": pa.array(values * 2, pa.float64())})
    rules = policy([{"model": "l-diversity", "l": 2, "column": "s"}], s={"role": "sensitive"})
    assert not sudare.audit(table, rules).passed


def test_pandas_columns_that_are_not_asked_for_do_not_matter():
    frame = pd.DataFrame({"age": [30] * 10, "id": [1, "A2", None, 3.5, b"x"] * 2})
    assert len(sudare.anonymize(frame, policy(id={"role": "identifier"})).data) == 10
    assert len(sudare.anonymize(frame, policy()).data) == 10
    with pytest.raises(DataError, match="the policy names none of its 2 columns"):
        sudare.anonymize(frame.rename(columns={"age": "Alter"}), {"columns": {"x": {"role": "quasi"}}, "require": K5})


@pytest.mark.parametrize(
    "cells",
    [
        pa.UnionArray.from_dense(pa.array([0] * 20, pa.int8()), pa.array(range(20), pa.int32()), [pa.array(range(20))]),
        pa.array([pa.MonthDayNano([1, 2, 3])] * 20, pa.month_day_nano_interval()),
        pa.StructArray.from_arrays([pa.array(range(20)), pa.array(range(20))], ["x", "x"]),
    ],
)
def test_types_that_no_release_can_hold_are_named(cells):
    with pytest.raises(DataError, match=r"column 'odd': holds .*, which a release cannot show"):
        sudare.anonymize(pa.table({"age": [30] * 20, "odd": cells}), policy(odd={"role": "insensitive"}))


def test_spreadsheets_of_other_countries_get_a_way_on(tmp_path):
    path = tmp_path / "klinik.csv"
    path.write_bytes("Alter;Kosten €;Geburt\n".encode("cp1252") + b"31;1,5;01.02.1990\n" * 30)
    drafted = sudare.draft(path)
    assert 'encoding: "cp1252"' in drafted
    assert 'encoding: "cp1252"' in sudare.draft(path, encoding="cp1252")
    assert 'decimal: ","' in drafted
    columns = {"Alter": {"role": "quasi"}, "Kosten €": {"role": "quasi", "kind": "numeric"}}
    with pytest.raises(DataError, match=r"encoding: cp1252"):
        sudare.anonymize(path, {"columns": columns, "require": K5})
    with pytest.raises(DataError, match=r"set source: \{decimal"):
        sudare.anonymize(path, {"columns": columns, "require": K5, "source": {"encoding": "cp1252"}})
    path.write_text("sep=;\nAlter;x\n" + "3;4\n" * 9)
    assert "  Alter:" in sudare.draft(path)
    with pytest.raises(SudareError, match="encoding"):
        sudare.draft(path, encoding="no-such-thing")


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_nothing_stands_below_nulls_of_lists_in_structs_either(ending, tmp_path):
    secret = ["below-null"] * 60
    lists = pa.ListArray.from_arrays(pa.array(range(61), pa.int32()), pa.array(secret))
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(secret * 2), 2)
    inner = pa.StructArray.from_arrays([pa.array(secret)], ["s"])
    masked = pa.StructArray.from_arrays([lists, pairs, inner], ["a", "b", "c"], mask=pa.array([True] * 60))
    table = pa.table({"age": [30, 31] * 30, "masked": masked, "moments": pa.array([{"t": 1}] * 60)})
    moments = pa.StructArray.from_arrays([pa.array([1] * 60, pa.int64()).view(pa.timestamp("ns"))], ["t"])
    table = table.set_column(2, "moments", moments)
    rules = policy(masked={"role": "insensitive"}, moments={"role": "insensitive"})
    sudare.anonymize(table, rules, out=tmp_path / f"r.{ending}")
    assert b"below-null" not in (tmp_path / f"r.{ending}").read_bytes()
    found = (
        pq.read_table(tmp_path / "r.parquet")
        if ending == "parquet"
        else pa.ipc.open_file(tmp_path / "r.arrow").read_all()
    )
    assert found["masked"].null_count == 60
    assert found["moments"].combine_chunks().field("t").view(pa.int64()).to_pylist() == [1] * 60
