"""l-clustering on categories with an order: classes show intervals, which cost what they show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.methods.clustering.l_clustering import l_clustering
from sudare.metrics import METRICS, uncertainty
from sudare.models import KAnonymity, Requirements
from sudare.sources.encoded_table import encode
from sudare.table import generalize

ORDER = ["none", "mild", "moderate", "severe", "critical"]


def policy(variant="fast", order=ORDER, k=2, **method):
    return {
        "columns": {"x": {"role": "quasi"}, "stage": {"role": "quasi", "order": order}},
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "l-clustering", "variant": variant, **method},
        "release": {"ranges": "tight"},
    }


def shown(cell):
    """Return the values of a cell, None for missing ones; everything is not listed here."""
    if cell is None or not cell.startswith("{"):
        return [cell]
    return [None if part == "null" else part for part in cell[1:-1].split(", ")]


@pytest.mark.parametrize("variant", ["fast", "reference"])
def test_a_class_shows_all_values_between_its_lowest_and_its_highest(variant):
    data = pa.table({"x": [1, 1, 50, 50, 90, 90], "stage": ["none"] * 2 + ["mild", "severe"] + ["moderate"] * 2})
    done = sudare.anonymize(data, policy(variant))
    found = sorted(done.data.column("stage").to_pylist())
    assert found == ["moderate"] * 2 + ["none"] * 2 + ["{mild, moderate, severe}"] * 2
    # a third of the records shows three of the four values that there are, in one of two columns
    assert done.certificate["loss"]["gcp"] == pytest.approx(3 / 4 / 2 / 3, abs=1e-4)


def test_values_in_their_order_are_nearer():
    """Without an order any two values are equally far apart; with one, neighbours are joined."""
    stages = ["none", "mild", "moderate", "severe"]
    data = pa.table({"x": [5] * 4, "stage": stages})
    cells = sudare.anonymize(data, policy(order=stages)).data.column("stage").to_pylist()
    assert sorted(set(cells)) == ["{moderate, severe}", "{none, mild}"]


def test_a_missing_value_stands_behind_the_last():
    data = pa.table({"x": [1, 1, 9, 9], "stage": ["critical", None, "none", "mild"]})
    given = policy()
    cells = sudare.anonymize(data, given).data.column("stage").to_pylist()
    assert sorted(cells) == ["{critical, null}"] * 2 + ["{none, mild}"] * 2


def test_other_methods_show_the_values_of_a_class():
    data = pa.table({"x": [1, 1, 50, 50, 90, 90], "stage": ["none"] * 2 + ["mild", "severe"] + ["moderate"] * 2})
    given = policy() | {"method": {"name": "mondrian"}}
    assert "{mild, severe}" in sudare.anonymize(data, given).data.column("stage").to_pylist()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([*ORDER, None])), min_size=4, max_size=40),
    st.integers(2, 4),
    st.sampled_from([{}, {"loss": "arx"}, {"weights": 1}, {"variant": "reference"}]),
)
def test_intervals_of_random_tables_cover_their_classes_and_cost_what_they_show(records, k, options):
    x, stage = map(list, zip(*records, strict=True))
    data = pa.table({"x": pa.array(x, pa.int64()), "stage": pa.array(stage, pa.string())})
    table = encode(data, sudare.load_policy(policy()))
    required = Requirements((KAnonymity(k),))
    found = l_clustering(table, required, seed=3, **options)
    assert found.intervals == ("stage",)
    codes, column = table.quasi["stage"].codes.astype(int), table.quasi["stage"]
    cover = generalize(table, found).covers["stage"]
    lost, grown = 0.0, 0.0
    for number in range(found.count):
        held = codes[found.classes == number]
        assert len(held) >= k
        listed = cover.codes[cover.start[number] : cover.start[number + 1]].tolist()
        assert listed == list(range(held.min(), held.max() + 1))
        lost += len(held) * (len(listed) / column.size if len(listed) > 1 else 0.0)
        grown += len(held) * (len(listed) - 1)
    ages = np.array(x)
    span = float(ages.max() - ages.min())
    wide = sum(np.ptp(ages[found.classes == n]) * np.sum(found.classes == n) for n in range(found.count))
    assert METRICS["gcp"](generalize(table, found)).total == pytest.approx(
        (lost + (wide / span if span else 0.0)) / 2 / len(x), abs=1e-9
    )
    assert uncertainty(generalize(table, found)).total == pytest.approx(grown + wide, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([*ORDER, None])), min_size=4, max_size=40))
def test_releases_with_intervals_pass_the_audit_and_read_as_intervals(records):
    x, stage = map(list, zip(*records, strict=True))
    data = pa.table({"x": pa.array(x, pa.int64()), "stage": pa.array(stage, pa.string())})
    done = sudare.anonymize(data, policy())  # a release is proven before it is handed over
    there = [value for value in ORDER if value in stage] + ([None] if None in stage else [])
    for cell in done.data.column("stage").to_pylist():
        if cell == "*":
            continue
        first, *_, last = values if len(values := shown(cell)) > 1 else values * 2
        assert values == there[there.index(first) : there.index(last) + 1]
