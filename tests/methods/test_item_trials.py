"""Clusters that are split in several ways show at least as many items as in one, and everything stays as required."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.methods.topdown import frame, item_trials
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import item_figures
from sudare.models import KAnonymity, LDiversity, Requirements
from sudare.table import SUPPRESSED, Table, encode_column, encode_items, generalize

SETTINGS = settings(deadline=None, max_examples=60)


def with_sizes(small: int, small_table: int) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setattr(item_trials, "small", lambda least: small)
    patch.setattr(item_trials, "SMALL_TABLE", small_table)
    return patch


def decided(table: Table, requirements: Requirements, small: int, small_table: int, **options):
    patch = with_sizes(small, small_table)
    try:
        return top_down(table, requirements, objective="items", **options)
    finally:
        patch.undo()


def shown(table: Table, partition) -> float:
    return sum(figures["disclosed"] for figures in item_figures(generalize(table, partition)).values())


def random_baskets(seed: int, rows: int, items: int = 12, columns: int = 1) -> Table:
    random = np.random.default_rng(seed)
    popular = 1 / np.arange(1, items + 1)
    sets = {}
    for column in range(columns):
        held = random.random((rows, items)) < popular
        cells = [[f"i{item}" for item in np.flatnonzero(line)] for line in held]
        sets[f"set{column}"] = encode_items(f"set{column}", pa.array(cells, pa.list_(pa.string())))
    ages = encode_column("age", pa.array(random.integers(0, 90, rows)))
    secret = encode_column("secret", pa.array(random.integers(0, 5, rows).astype(str)))
    return Table(rows, {**sets, "age": ages}, {"secret": secret})


@SETTINGS
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(6, 300),
    k=st.integers(2, 6),
    columns=st.integers(1, 2),
    limit=st.sampled_from([0.0, 0.1]),
    rank=st.sampled_from(["frequency", "information"]),
    diverse=st.booleans(),
)
def test_no_fewer_items_are_shown_and_the_requirements_hold(seed, rows, k, columns, limit, rank, diverse):
    table = random_baskets(seed, rows, columns=columns)
    models = (KAnonymity(k), LDiversity(2, "secret")) if diverse else (KAnonymity(k),)
    requirements = Requirements(models, limit)
    if diverse and len(np.unique(table.sensitive["secret"].codes)) < 2:
        return
    one_way = decided(table, requirements, 0, 0, rank=rank)
    for sizes in ((50, 0), (0, 1000), (50, 1000)):
        found = decided(table, requirements, *sizes, rank=rank)
        if limit == 0:  # what is left out of one cluster cannot be left out of another, so sums need not grow otherwise
            assert shown(table, found) >= shown(table, one_way)
        kept = found.classes[found.classes != SUPPRESSED]
        assert (np.bincount(kept) >= k).all()
        assert len(kept) >= rows - requirements.budget(rows)
        if diverse:
            pairs = {(group, code) for group, code in zip(found.classes, table.sensitive["secret"].codes, strict=True)}
            values = np.bincount([group for group, _ in pairs if group != SUPPRESSED])
            assert (values >= 2).all()
        again = decided(table, requirements, *sizes, rank=rank)
        assert np.array_equal(found.classes, again.classes)


def test_more_items_are_shown_on_larger_tables():
    table = random_baskets(3, 4000, items=60)
    for k in (2, 5, 10):
        requirements = Requirements((KAnonymity(k),))
        one_way = shown(table, decided(table, requirements, 0, 0))
        small = shown(table, decided(table, requirements, 1000, 0))
        assert one_way < small <= shown(table, decided(table, requirements, 1000, 1 << 16))


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_classes_do_not_depend_on_cores_or_blocks(cores, monkeypatch):
    table = random_baskets(5, 20_000, items=40, columns=2)
    requirements = Requirements((KAnonymity(5),))
    expected = decided(table, requirements, 300, 0)
    monkeypatch.setattr(frame.os, "cpu_count", lambda: cores)
    found = decided(table, requirements, 300, 0)
    assert len(np.unique(expected.classes)) > 500
    pairs = {(a, b) for a, b in zip(expected.classes.tolist(), found.classes.tolist(), strict=True)}
    assert len(pairs) == expected.count == found.count


def test_weights_of_items_are_kept_to():
    # with weights the number of items is not what is wanted, and clusters are split in one way
    table = random_baskets(7, 500)
    requirements = Requirements((KAnonymity(5),))
    weights = {"set0": {"i0": 1.0, "i5": 9.0}}
    one_way = decided(table, requirements, 0, 0, rank=weights)
    assert np.array_equal(decided(table, requirements, 4096, 1 << 16, rank=weights).classes, one_way.classes)
