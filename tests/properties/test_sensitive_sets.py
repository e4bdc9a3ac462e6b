"""Releases with sensitive item sets: nothing is lost, the audit proves them, and an attacker infers no item."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError

METHODS = ["top-down", "mondrian", "full-domain", "l-clustering"]
item = st.sampled_from(["hiv", "HIV", "flu", "cold", "gout", "asthma"])
cell = st.one_of(st.none(), st.lists(item, max_size=3))
record = st.tuples(st.integers(20, 30), st.sampled_from("mf"), cell)


def policy(method, l, **more):  # noqa: E741
    return {
        "columns": {
            "age": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "told": {"role": "sensitive", "kind": "items", "separator": "|"},
        },
        "require": [{"model": "l-diversity", "l": l, "column": "told", "variant": "frequency", **more}],
        "method": {"name": method},
    }


def table_of(records) -> pa.Table:
    ages, sexes, cells = zip(*records, strict=True)
    return pa.table({"age": ages, "sex": sexes, "told": pa.array(cells, pa.list_(pa.string()))})


def one_spelling(told) -> set[str]:
    """Return the items of a set, each in the spelling that sorts first."""
    return {min(each for each in told if each.lower() == text.lower()) for text in told}


def believed(rows) -> float:
    """Return how likely the likeliest item of a person is to somebody who knows age and sex of everybody."""
    by_class = defaultdict(list)
    for row in rows:
        by_class[row["age"], row["sex"]].append({text.lower() for text in row["told"] or ()})
    return max(
        max(Counter(text for told in each for text in told).values(), default=0) / len(each)
        for each in by_class.values()
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(record, min_size=1, max_size=40), st.sampled_from(METHODS), st.integers(2, 3))
def test_a_release_keeps_its_promise_and_its_sets(records, method, l):  # noqa: E741
    table = table_of(records)
    try:
        release = sudare.anonymize(table, policy(method, l))
    except PolicyUnmetError:
        everybody = [{"age": 0, "sex": 0, "told": told} for _, _, told in records]
        assert len(records) < l or believed(everybody) > 1 / l
        return
    rows = release.data.to_pylist()
    expected = Counter(None if told is None else tuple(sorted(one_spelling(told))) for _, _, told in records)
    assert Counter(None if row["told"] is None else tuple(row["told"]) for row in rows) == expected
    assert believed(rows) <= 1 / l
    assert sudare.audit(release.data, policy(method, l)).passed


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_and_lists_say_the_same(tmp_path, ending):
    records = [(20 + n % 9, "mf"[n % 2], [["flu"], ["cold ", "hiv"], [], None, ["gout"]][n % 5]) for n in range(200)]
    path = tmp_path / f"release.{ending}"
    sudare.anonymize(table_of(records), policy("top-down", 3), out=path)
    assert sudare.audit(path, policy("top-down", 3)).passed
    if ending == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            counted = Counter(row["told"] for row in csv.DictReader(file))
        assert counted == {"flu": 40, "cold|hiv": 40, "": 80, "gout": 40}
    else:
        cells = pq.read_table(path)["told"].to_pylist()
        counted = Counter(None if cell is None else tuple(cell) for cell in cells)
        assert counted == {("flu",): 40, ("cold", "hiv"): 40, (): 40, None: 40, ("gout",): 40}


def test_what_cannot_be_promised_leaves_nothing_behind(tmp_path):
    table = table_of([(20 + n, "m", ["hiv"] if n % 3 else ["flu"]) for n in range(30)])
    with pytest.raises(PolicyUnmetError) as error:
        sudare.anonymize(table, policy("top-down", 2), out=tmp_path / "r.csv")
    assert "no l is possible: in column 'told', 1 item is held by more than 1/2 of all records" in str(error.value)
    assert "hiv" not in str(error.value)
    assert not list(tmp_path.iterdir())
    sudare.anonymize(table, policy("top-down", 3, harmless=["HIV"]), out=tmp_path / "r.csv")
    assert sudare.audit(tmp_path / "r.csv", policy("top-down", 3, harmless=["HIV"])).passed
