"""What kernels of clustering think of promises: they accept the clusters that the models accept, and no others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.clustering import promise_gaps
from sudare.methods.class_counts import tallied
from sudare.methods.clustering.promise_arrays import rules_of
from sudare.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    Requirements,
    TCloseness,
)
from sudare.table import Column, Table, Taxonomy

TREE = Taxonomy(
    labels=("all", "left", "right", "a", "b", "c", "d", "e"),
    parent=np.array([-1, 0, 0, 1, 1, 2, 2, 2], np.int32),
    leaves=np.array([5, 2, 3, 1, 1, 1, 1, 1], np.int32),
    path=np.array([[0, 1, 3], [0, 1, 4], [0, 2, 5], [0, 2, 6], [0, 2, 7]], np.int32),
)

MODELS = [
    LDiversity(2, "s"),
    LDiversity(2.5, "s", "entropy"),
    LDiversity(3, "s", "recursive", 1.0),
    LDiversity(2, "s", "recursive", 0.5),
    AlphaKAnonymity(0.4, 2, "s"),
    AlphaKAnonymity(0.25, 2, "s", ["a", "c", "nobody has it"]),
    BetaLikeness(0.8, "s"),
    BetaLikeness(1.0, "s", "basic"),
    DeltaDisclosure(0.9, "s"),
    TCloseness(0.25, "s"),
    TCloseness(0.2, "s", "ordered"),
    TCloseness(0.2, "s", "hierarchical"),
    LDiversity(2, "r", "entropy"),
    TCloseness(0.2, "r", "ordered"),
]


def column(name, codes, values, **more):
    return Column(name, "categorical", np.asarray(codes, np.uint8), pa.array(list(values)), **more)


def table_of(s, r):
    quasi = {"x": column("x", np.zeros(len(s)), "x")}
    missing = {"missing": True} if 5 in s else {}
    sensitive = {"s": column("s", s, "abcde", taxonomy=TREE, **missing), "r": column("r", r, "yn")}
    return Table(rows=len(s), quasi=quasi, sensitive=sensitive)


def gaps(rules, classes, count):
    """Return the gap of each class."""
    counts = np.zeros((count, rules.kinds), np.int64)
    np.add.at(counts, (classes, rules.values), 1)
    return counts, [promise_gaps.gap(line, line.sum(), rules.promise) for line in counts]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3)), min_size=2, max_size=60),
    st.lists(st.sampled_from(MODELS), min_size=1, max_size=3, unique=True),
)
def test_a_gap_is_nothing_where_the_models_hold(records, models):
    s, r, classes = map(np.array, zip(*records, strict=True))
    classes = np.unique(classes, return_inverse=True)[1]
    count = int(classes.max()) + 1
    table, required = table_of(s, r), Requirements((KAnonymity(2), *models))
    rules = rules_of(table, required)
    assert rules.complete
    if rules.plain:
        return
    counts, found = gaps(rules, classes, count)
    enough = counts.sum(axis=1) >= rules.needs.k
    holds = required.holds(tallied(table, required, classes, count))
    assert ((np.array(found) == 0) & enough).tolist() == holds.tolist()
    keeping = np.zeros(count, np.bool_)
    promise_gaps.keepers(counts, counts.sum(axis=1), rules.promise, keeping)
    assert keeping.tolist() == [gap == 0 for gap in found]


@pytest.mark.parametrize("model", MODELS[1:], ids=str)
def test_helpful_records_leave_a_smaller_gap(model):
    random = np.random.default_rng(5)
    table = table_of(random.integers(0, 5, 200), random.integers(0, 2, 200))
    rules = rules_of(table, Requirements((model,)))
    everything = np.uint64((1 << rules.kinds) - 1)
    seen = 0
    for _ in range(40):
        counts = random.integers(0, 4, rules.kinds)
        counts[0] += counts.sum() == 0
        now = promise_gaps.gap(counts, counts.sum(), rules.promise)
        word = int(promise_gaps.helpful_kinds(counts, counts.sum(), everything, rules.promise))
        assert word
        after = []
        for kind in range(rules.kinds):
            more = counts.copy()
            more[kind] += 1
            after.append(promise_gaps.gap(more, more.sum(), rules.promise))
        chosen = [gap for kind, gap in enumerate(after) if word >> kind & 1]
        if any(gap == 0 or gap < now - 1e-9 for gap in after):
            assert all(gap == 0 or gap < now for gap in chosen)
            seen += 1
        else:
            assert max(chosen) <= min(after) + 1e-9
    assert seen


def test_the_records_that_a_cluster_needs_are_foreseen():
    """Of two values, one in ten: with t = 0.1 records of the one need nobody, but one of the other needs four of it."""
    table = table_of(np.repeat([0, 1], [90, 10]), np.zeros(100, int))
    rules = rules_of(table, Requirements((TCloseness(0.1, "s"),)))
    found = np.zeros(rules.kinds, np.int64)
    promise_gaps.least_sizes(np.array([90, 10]), 1, 64, rules.promise, found)
    assert found.tolist() == [1, 5]
    promise_gaps.least_sizes(np.array([90, 10]), 3, 4, rules.promise, found)
    assert found.tolist() == [3, 4]  # no more than 4 are thought of


def test_columns_whose_values_make_too_many_kinds_are_left_to_the_models():
    random = np.random.default_rng(1)
    table = table_of(random.integers(0, 5, 300), random.integers(0, 2, 300))
    models = (LDiversity(2, "s", "entropy"), LDiversity(2, "r", "entropy"))
    both, one = rules_of(table, Requirements(models), 10), rules_of(table, Requirements(models), 9)
    assert (both.kinds, both.complete, len(both.promise.kind)) == (10, True, 2)
    assert (one.kinds, one.complete, len(one.promise.kind)) == (5, False, 1)
