"""Scores of splits against losses computed from scratch."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from sudare.kernels.topdown import splits, value_orders
from sudare.methods.attribute_arrays import describe_axes

from .naive import (
    Cluster,
    cell_loss,
    listed_splits,
    number_column,
    ordered_places,
    random_cluster,
    set_column,
    side_loss,
    with_others,
)

SEEDS = range(60)
BY_NAME = itemgetter(slice(1, None))


def score(cluster: Cluster, least: int, mode: int, budget: int = 0, *, every=True, axes=None, only=-1, before=None):
    rows, amounts = cluster.arrays()
    axes = cluster.axes if axes is None else axes
    buffers = value_orders.scratch(axes, len(rows))
    room = splits.splits(6 * sum(column.size for column in cluster.columns) + 1)
    clusters = np.array([[0, len(rows), budget, cluster.total]], dtype=np.int64)
    best = splits.splits(1)
    before = np.zeros(1) if before is None else before
    search = splits.Search(least, mode, only, every)
    atoms = value_orders.Atoms(rows, amounts)
    ends = splits.score_splits(
        atoms, clusters, search, axes, buffers, value_orders.covers(axes, len(rows)), splits.Found(room, best, before)
    )
    return splits.pick(room if every else best, slice(ends[-1]))


def as_lines(found: splits.Splits):
    return list(zip(*(array.tolist() for array in found), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("with_budget", [False, True], ids=["keep all", "with a budget"])
def test_least_loss_lists_every_split_with_its_loss(seed, with_budget):
    cluster = random_cluster(seed)
    least = 1 + seed % 5
    budget = cluster.total // 3 if with_budget else 0
    found = as_lines(score(cluster, least, splits.LEAST_LOSS, budget))
    assert [line[1:3] for line in found] == sorted(line[1:3] for line in found)  # by attribute, then by place
    expected = sorted(listed_splits(cluster, least, budget), key=BY_NAME)
    found.sort(key=BY_NAME)
    assert [line[1:] for line in found] == [line[1:] for line in expected]
    np.testing.assert_allclose([line[0] for line in found], [line[0] for line in expected], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_chosen_split_is_the_first_of_the_best(seed):
    cluster = random_cluster(seed)
    listed = score(cluster, 2, splits.LEAST_LOSS, 4)
    [chosen] = as_lines(score(cluster, 2, splits.LEAST_LOSS, 4, every=False))
    if not len(listed.score):
        assert chosen[1] == -1
    else:
        assert chosen == as_lines(listed)[int(np.argmin(listed.score))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", [splits.LEAST_LOSS, splits.WIDEST, splits.MEDIAN])
def test_only_one_attribute_is_listed_where_one_is_asked_for(seed, mode):
    cluster = random_cluster(seed)
    everything = as_lines(score(cluster, 2, mode, 4))
    for a in range(len(cluster.columns)):
        assert as_lines(score(cluster, 2, mode, 4, only=a)) == [line for line in everything if line[1] == a]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("every", [False, True], ids=["best", "all"])
def test_the_loss_before_any_split_is_told(seed, every):
    cluster, before = random_cluster(seed), np.full(1, -1.0)
    score(cluster, 1, splits.LEAST_LOSS, every=every, before=before)
    # a cluster that cannot be split at all is not looked at
    splittable = cluster.total >= 2
    expected = cluster.total * side_loss(cluster, list(range(len(cluster.lines))), -1) if splittable else 0.0
    assert before[0] == pytest.approx(expected)


def test_what_is_left_out_loses_other_columns_too():
    cluster = Cluster([(0,), (1,)], [4, 1], [number_column("n", [0.0, 100.0])])
    axes = describe_axes(cluster.columns, 2.5)
    # the outlier loses 1 here and 2.5 elsewhere; before, five records lose 1 each
    assert as_lines(score(cluster, 2, splits.LEAST_LOSS, 1, axes=axes)) == [(3.5, 0, 0, 0, splits.DROP_RIGHT, 4)]
    assert as_lines(score(cluster, 2, splits.LEAST_LOSS, 1, axes=describe_axes(cluster.columns, 4.0))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_are_those_of_the_cells(seed):
    cluster = random_cluster(seed)
    rows, _ = cluster.arrays()
    axes = cluster.axes
    cuts = sorted({0, len(rows) // 3, len(rows) // 2, len(rows)})
    clusters = np.array([[a, b, 0, b - a] for a, b in pairwise(cuts)], dtype=np.int64)
    found = splits.losses(rows, clusters, axes, value_orders.scratch(axes, len(rows)))
    expected = [
        [cell_loss(column, {line[b] for line in cluster.lines[low:high]}) for b, column in enumerate(cluster.columns)]
        for low, high in pairwise(cuts)
    ]
    np.testing.assert_allclose(found, expected)


def test_several_clusters_are_listed_one_after_the_other():
    cluster = random_cluster(3)
    rows, amounts = cluster.arrays()
    half = len(rows) // 2
    axes = cluster.axes
    clusters = np.array([[0, half, 0, sum(cluster.amounts[:half])], [half, len(rows), 0, sum(cluster.amounts[half:])]])
    out = splits.splits(20_000)
    ends = splits.score_splits(
        value_orders.Atoms(rows, amounts),
        clusters,
        splits.Search(1, splits.LEAST_LOSS, -1, every=True),
        axes,
        value_orders.scratch(axes, len(rows)),
        value_orders.covers(axes, len(rows)),
        splits.Found(out, out, np.zeros(len(clusters))),
    )
    begin = 0
    for part, end in zip((slice(0, half), slice(half, None)), ends, strict=True):
        alone = Cluster(cluster.lines[part], cluster.amounts[part], cluster.columns)
        assert as_lines(splits.pick(out, slice(begin, end))) == as_lines(score(alone, 1, splits.LEAST_LOSS))
        begin = end


@pytest.mark.parametrize("seed", SEEDS)
def test_widest_goes_by_loss_and_then_by_nearness_to_the_median(seed):
    cluster, least = random_cluster(seed), 2
    width = {
        a: -column.weight * cell_loss(column, {line[a] for line in cluster.lines})
        for a, column in enumerate(cluster.columns)
        if len({line[a] for line in cluster.lines}) > 1
    }
    expected = []
    for turn, a in enumerate(sorted(width, key=lambda a: (width[a], a))):
        places = ordered_places(cluster, a)
        for place in range(len(places) - 1):
            chosen = set().union(*places[: place + 1])
            left = sum(n for line, n in zip(cluster.lines, cluster.amounts, strict=True) if line[a] in chosen)
            useful = cluster.columns[a].taxonomy is None or place in (0, len(places) - 2)
            if useful and min(left, cluster.total - left) >= least:
                expected.append((turn + abs(2 * left - cluster.total) / cluster.total, a, place, 0, 0, left))
    if cluster.total < 2 * least:
        expected = []
    found = as_lines(score(cluster, least, splits.WIDEST))
    assert [line[1:] for line in found] == [line[1:] for line in expected]
    np.testing.assert_allclose([line[0] for line in found], [line[0] for line in expected], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_median_lists_one_cut_per_attribute(seed):
    cluster, least = random_cluster(seed), 2
    found = as_lines(score(cluster, least, splits.MEDIAN))
    assert len({line[1] for line in found}) == len(found)
    for _, a, place, shape, drop, left in found:
        assert (shape, drop) == (value_orders.PREFIX, splits.KEEP)
        places = ordered_places(cluster, a, by_code=True)
        lefts = []
        for end in range(1, len(places)):
            chosen = set().union(*places[:end])
            lefts.append(sum(n for line, n in zip(cluster.lines, cluster.amounts, strict=True) if line[a] in chosen))
        if cluster.columns[a].taxonomy is not None:
            assert place == 0  # the largest child is cut off
            lefts = lefts[:1]
        assert left == min(lefts, key=lambda n: (abs(2 * n - cluster.total), n))
        assert least <= left <= cluster.total - least


def test_an_attribute_with_too_many_categories_to_track_counts_as_unchanged():
    # 300 categories x 2 numbers: a cut of the number halves the categories of each side, but that is not seen
    many = 300
    assert many > 64 * value_orders.WORDS
    assert "counts as unchanged" in Path(value_orders.__file__).read_text(encoding="utf-8")
    columns = [number_column("n", [0.0, 1.0]), set_column("s", many)]
    cluster = Cluster([(code % 2, code) for code in range(many)], [1] * many, columns)
    found = as_lines(score(cluster, 1, splits.LEAST_LOSS))
    by_number = [line for line in found if line[1] == 0]
    assert by_number == [(many * 1.0, 0, 0, 0, 0, many // 2)]  # sides lose 1 for the categories, 0 for the number
    # its own splits are still scored as they are: 300 places, prefixes and singles
    own = [line for line in found if line[1] == 1]
    assert len(own) == (many - 1) + (many - 2)
    prefix = next(line for line in own if line[2] == 99 and line[3] == value_orders.PREFIX)
    assert prefix[0] == pytest.approx(100 * (100 / many + 1) + 200 * (200 / many + 1))


def test_as_many_categories_as_can_be_tracked_are_tracked():
    many = 64 * value_orders.WORDS
    columns = [number_column("n", [0.0, 1.0]), set_column("s", many)]
    cluster = Cluster([(code % 2, code) for code in range(many)], [1] * many, columns)
    found = sorted(as_lines(score(cluster, 1, splits.LEAST_LOSS)), key=BY_NAME)
    assert found == [pytest.approx(line) for line in sorted(listed_splits(cluster, 1, 0), key=BY_NAME)]


def test_a_dropped_side_is_chosen_only_where_the_loss_falls():
    # 0 0 0 0 100: without the outlier nothing is lost, with it four records lose all
    cluster = Cluster([(0,), (1,)], [4, 1], [number_column("n", [0.0, 100.0])])
    assert as_lines(score(cluster, 2, splits.LEAST_LOSS, 0)) == []
    assert as_lines(score(cluster, 2, splits.LEAST_LOSS, 1)) == [(1.0, 0, 0, 0, splits.DROP_RIGHT, 4)]
    # of two equal halves dropping one loses as much as it gains: half of everything
    even = Cluster([(0,), (1,)], [2, 2], [number_column("n", [0.0, 100.0])])
    drops = [line for line in as_lines(score(even, 2, splits.LEAST_LOSS, 2)) if line[4] != splits.KEEP]
    assert [line[0] for line in drops] == [2.0, 2.0]


def test_no_split_where_nothing_can_be_gained():
    assert as_lines(score(Cluster([(0, 0)], [9], [set_column("s", 3)] * 2), 1, splits.LEAST_LOSS)) == []
    assert as_lines(score(Cluster([(0,), (1,)], [1, 1], [set_column("s", 3)]), 2, splits.LEAST_LOSS)) == []
    weightless = Cluster([(0,), (1,)], [3, 3], [set_column("s", 3, weight=0.0)])
    assert as_lines(score(weightless, 2, splits.LEAST_LOSS)) == []


@pytest.mark.parametrize("mode", [splits.LEAST_LOSS, splits.WIDEST, splits.MEDIAN])
def test_the_order_of_the_rows_and_how_they_are_counted_do_not_matter(mode):
    cluster = random_cluster(12)
    order = np.random.default_rng(0).permutation(len(cluster.lines))
    mixed = Cluster([cluster.lines[i] for i in order], [cluster.amounts[i] for i in order], cluster.columns)
    spread = Cluster(
        [line for line, n in zip(cluster.lines, cluster.amounts, strict=True) for _ in range(n)],
        [1] * cluster.total,
        cluster.columns,
    )
    once = as_lines(score(cluster, 2, mode, 5))
    assert once == as_lines(score(mixed, 2, mode, 5)) == as_lines(score(spread, 2, mode, 5))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("with_budget", [False, True], ids=["keep all", "with a budget"])
def test_a_category_that_stands_for_several_counts_as_these(seed, with_budget):
    cluster, before = with_others(random_cluster(seed), seed), np.full(1, -1.0)
    least, budget = 1 + seed % 5, cluster.total // 3 if with_budget else 0
    found = as_lines(score(cluster, least, splits.LEAST_LOSS, budget, before=before))
    found = sorted((line for line in found if line[0] >= 0), key=BY_NAME)
    expected = sorted(listed_splits(cluster, least, budget), key=BY_NAME)
    assert [line[1:] for line in found] == [line[1:] for line in expected]
    np.testing.assert_allclose([line[0] for line in found], [line[0] for line in expected], rtol=1e-12)
    if len(found):
        assert before[0] == pytest.approx(cluster.total * side_loss(cluster, list(range(len(cluster.lines))), -1))
    rows, _ = cluster.arrays()
    whole = np.array([[0, len(rows), 0, cluster.total]])
    losses = splits.losses(rows, whole, cluster.axes, value_orders.scratch(cluster.axes, len(rows)))
    cells = [cell_loss(column, {line[b] for line in cluster.lines}) for b, column in enumerate(cluster.columns)]
    np.testing.assert_allclose(losses[0], cells, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", [splits.LEAST_LOSS, splits.WIDEST, splits.MEDIAN])
def test_it_is_split_from_all_others_first_where_that_gains(seed, mode):
    cluster, least = with_others(random_cluster(seed), seed), 1 + seed % 5
    found = [line for line in as_lines(score(cluster, least, mode)) if line[0] < 0]
    varying = [b for b in range(len(cluster.columns)) if len({line[b] for line in cluster.lines}) > 1]
    expected = []
    for a in varying:
        column = cluster.columns[a]
        if column.other is None or column.other[1] < 2:
            continue
        code, several = column.other
        inside = sum(n for line, n in zip(cluster.lines, cluster.amounts, strict=True) if line[a] == code)
        outside = cluster.total - inside
        if not inside or min(inside, outside) < least:
            continue
        gain = several / column.different * column.weight
        gain *= cluster.total * (1 - (1 - inside / cluster.total) ** least) - inside
        rest = [b for b in varying if b != a]
        if rest:
            few, all_of_them = max(inside / least, 1), max(cluster.total / least, 1)
            narrower = few ** (-1 / len(rest)) - all_of_them ** (-1 / len(rest))
            gain -= inside * narrower * sum(cluster.columns[b].weight for b in rest)
        if gain > 0:
            places = ordered_places(cluster, a, by_code=mode == splits.MEDIAN)
            expected.append((-gain, a, places.index({code}), value_orders.SINGLE, splits.KEEP, inside))
    assert [line[1:] for line in found] == [line[1:] for line in expected]
    np.testing.assert_allclose([line[0] for line in found], [line[0] for line in expected], rtol=1e-9)


def test_records_of_a_rare_category_are_split_off_before_they_are_spread_over_classes():
    columns = [number_column("n", [0.0, 1.0]), set_column("s", 3)]
    columns[1] = replace(columns[1], other=(2, 20))
    lines, amounts = [(n, s) for n in (0, 1) for s in (0, 1, 2)], [300, 100, 12, 300, 100, 12]
    [chosen] = as_lines(score(Cluster(lines, amounts, columns), 10, splits.LEAST_LOSS, every=False))
    assert chosen[1:] == (1, 2, value_orders.SINGLE, splits.KEEP, 24)
