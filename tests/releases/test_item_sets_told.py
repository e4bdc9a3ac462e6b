"""What a release with item sets tells, and what it must not: found by trying to break it."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, ParameterError, PolicyError, SudareError

QUASI, ITEMS = {"role": "quasi"}, {"role": "quasi", "kind": "items"}


def k(least, **more):
    return [{"model": "k-anonymity", "k": least, **more}]


def km(least, m=2, column="d"):
    return [{"model": "km-anonymity", "k": least, "m": m, "column": column}]


def test_people_who_are_counted_are_not_linked_by_sets_of_their_own():
    table = pa.table(
        {
            "age": range(20, 28),
            "p": [1, 1, 2, 2, 3, 3, 4, 4],
            "d": [["a", "b"], ["b", "a"], ["c"], ["c", "a"], None, None, [], ["z"]],
        }
    )
    columns = {"age": QUASI, "d": ITEMS, "p": {"role": "subject"}}
    release = sudare.anonymize(table, {"columns": columns, "require": k(2, columns=["age"], count="subjects") + km(2)})
    assert all(one["holds"] for one in release.certificate["guarantees"])


@pytest.mark.parametrize("cell", [{"John Doe": 1}, [{"John Doe": 1}]])
def test_names_inside_a_type_are_not_shown(cell):
    with pytest.raises(DataError) as caught:
        sudare.anonymize(pd.DataFrame({"d": [cell] * 4}), {"columns": {"d": QUASI}, "require": k(2)})
    assert "John" not in str(caught.value)


@pytest.mark.parametrize(("missing", "shown"), [(1, 0), (4, 0), (5, 5)])
def test_few_missing_sets_are_not_told_apart(missing, shown):
    table = pa.table({"age": [1] * 10, "d": [["a"]] * (10 - missing) + [None] * missing})
    policy = {"columns": {"age": QUASI, "d": ITEMS}, "require": k(5, columns=["age"]) + km(5)}
    assert sudare.anonymize(table, policy).data.column("d").null_count == shown


@pytest.mark.parametrize("cells", [[["s"]] * 4, [{"a": "s"}] * 4])
def test_views_inside_of_what_is_carried(cells):
    table = pa.table(pl.DataFrame({"age": [1] * 4, "x": cells}))
    assert "view" in str(table.schema.field("x").type)
    policy = {"columns": {"age": QUASI, "x": {"role": "insensitive"}}, "require": k(2)}
    assert sudare.anonymize(table, policy).data.column("x").to_pylist() == cells


def test_classes_are_those_that_the_loss_speaks_of():
    table = pa.table({"age": [1, 1, 2, 2] * 3, "d": [["a"], ["b"], ["a", "b"]] * 4})
    policy = {"columns": {"age": QUASI, "d": ITEMS}, "require": k(5, columns=["age"]) + km(2)}
    facts = sudare.anonymize(table, policy).certificate
    assert facts["classes"] * facts["loss"]["average_class_size"] == facts["rows_out"]


@pytest.mark.parametrize("require", [km(2, 10**30), km(10**40), k(10**40)])
def test_numbers_beyond_all_measure(require):
    with pytest.raises(PolicyError):
        sudare.anonymize(pa.table({"d": [["a"]] * 4}), {"columns": {"d": ITEMS}, "require": require})


def test_a_combination_as_long_as_the_longest_set():
    table = pa.table({"d": [["a", "b", "c"]] * 4 + [["a", "b"]] * 2})
    release = sudare.anonymize(table, {"columns": {"d": ITEMS}, "require": km(3, 65_535)})
    assert release.data.num_rows == 6


@pytest.mark.parametrize("memory", ["99999999999999999999TiB", 10**30])
def test_memory_beyond_all_measure(memory):
    table, policy = pa.table({"a": [1] * 4}), {"columns": {"a": QUASI}, "require": k(2)}
    with pytest.raises(ParameterError, match="memory"):
        sudare.anonymize(table, policy, memory=memory)
    assert sudare.anonymize(table, policy, memory="999TiB").certificate["rows_out"] == 4


@pytest.mark.parametrize("seed", [-1, "x", True, 1.5])
def test_a_seed_that_is_none(seed):
    with pytest.raises(ParameterError, match="seed"):
        sudare.anonymize(pa.table({"a": [1] * 4}), {"columns": {"a": QUASI}, "require": k(2)}, seed=seed)


def test_an_item_of_a_record_that_is_left_out_is_no_obstacle(tmp_path):
    table = pa.table({"age": [10] * 20 + [999], "d": [["a"]] * 20 + [["x,y"]]})
    policy = {
        "columns": {"age": QUASI, "d": ITEMS},
        "require": k(5, columns=["age"]) + km(5),
        "suppression": {"limit": 0.1},
    }
    release = sudare.anonymize(table, policy, out=tmp_path / "o.csv")
    assert release.certificate["suppressed"] == 1


@pytest.mark.parametrize("ending", [".arrow", ".parquet"])
def test_notes_on_the_fields_of_a_source_stay_behind(tmp_path, ending):
    kind = pa.struct([pa.field("f", pa.string(), metadata={"who": "METASECRET"})])
    table = pa.table({"age": [1] * 4, "x": pa.array([{"f": "a"}] * 4, kind)})
    policy = {"columns": {"age": QUASI, "x": {"role": "insensitive"}}, "require": k(2)}
    sudare.anonymize(table, policy, out=tmp_path / f"o{ending}")
    if ending == ".parquet":
        import pyarrow.parquet as pq

        assert pq.read_schema(tmp_path / "o.parquet").field("x").type.field("f").metadata is None or (
            b"who" not in pq.read_schema(tmp_path / "o.parquet").field("x").type.field("f").metadata
        )
    else:
        assert b"METASECRET" not in (tmp_path / "o.arrow").read_bytes()


@pytest.mark.parametrize("spec", [{"kind": "numeric"}, {"kind": "categorical"}, {"kind": "items", "order": ["a"]}])
def test_words_that_do_not_go_with_lists(spec):
    with pytest.raises(SudareError, match="items"):
        sudare.anonymize(pa.table({"d": [["a"]] * 4}), {"columns": {"d": {"role": "quasi", **spec}}, "require": k(2)})
