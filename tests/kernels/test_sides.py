"""Carrying splits out and counting on their sides, against lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sudare.kernels.topdown import sides, splits, value_counts, value_orders

from .naive import Cluster, number_column, ordered_places, random_cluster, set_column


def prepared(cluster: Cluster, budget: int = 3):
    rows, amounts = cluster.arrays()
    axes = cluster.axes
    buffers = value_orders.scratch(axes, len(rows), 100_000)
    clusters = np.array([[0, len(rows), budget, cluster.total]])
    out = splits.splits(6 * sum(column.size for column in cluster.columns) + 1)
    before = np.zeros(1)
    search = splits.Search(1, splits.LEAST_LOSS, -1, every=True)
    atoms = value_orders.Atoms(rows, amounts)
    [count] = splits.score_splits(
        atoms, clusters, search, axes, buffers, value_orders.covers(axes, len(rows)), splits.Found(out, out, before)
    )
    return atoms, axes, buffers, clusters, splits.pick(out, slice(count))


def left_codes(cluster: Cluster, split) -> set[int]:
    places = ordered_places(cluster, int(split.attribute[0]))
    place = int(split.place[0])
    return places[place] if split.shape[0] == value_orders.SINGLE else set().union(*places[: place + 1])


@pytest.mark.parametrize("seed", range(40))
def test_carry_out_puts_the_left_side_first_and_keeps_the_order_within(seed):
    cluster = random_cluster(seed)
    _, axes, buffers, clusters, listed = prepared(cluster)
    for index in range(0, len(listed.score), 1 + len(listed.score) // 6):
        chosen = splits.pick(listed, slice(index, index + 1))
        rows, amounts = cluster.arrays()
        extra = np.stack([np.arange(len(rows)), 7 * np.arange(len(rows))], axis=1).astype(np.uint32)
        spare = np.empty((len(rows), rows.shape[1] + 3), np.uint32)
        atoms = value_orders.Atoms(rows, amounts)
        [middle] = sides.carry_out(atoms, extra, clusters, chosen, False, axes, buffers, spare)
        a, codes = int(chosen.attribute[0]), left_codes(cluster, chosen)
        lines = range(len(cluster.lines))
        expected = [i for i in lines if cluster.lines[i][a] in codes] + [
            i for i in lines if cluster.lines[i][a] not in codes
        ]
        assert extra[:, 0].tolist() == expected
        assert extra[:, 1].tolist() == [7 * i for i in expected]
        assert [tuple(row) for row in rows.tolist()] == [cluster.lines[i] for i in expected]
        assert amounts.tolist() == [cluster.amounts[i] for i in expected]
        assert middle == sum(cluster.lines[i][a] in codes for i in lines)
        assert chosen.left[0] == amounts[:middle].sum()


def test_carry_out_leaves_a_cluster_without_a_split_alone():
    cluster = Cluster([(2,), (1,), (0,)], [1, 2, 3], [set_column("s", 3)])
    atoms, axes, buffers, clusters, _ = prepared(cluster)
    chosen = splits.splits(1)
    chosen.attribute[:] = -1
    extra = np.arange(3, dtype=np.uint32).reshape(3, 1)
    spare = np.empty((3, 3), np.uint32)
    assert sides.carry_out(atoms, extra, clusters, chosen, False, axes, buffers, spare).tolist() == [3]
    assert (atoms.codes[:, 0].tolist(), atoms.amounts.tolist(), extra[:, 0].tolist()) == (
        [2, 1, 0],
        [1, 2, 3],
        [0, 1, 2],
    )


def test_carry_out_splits_each_cluster_within_its_own_rows():
    column = number_column("n", [0.0, 1.0, 2.0, 3.0])
    cluster = Cluster([(1,), (0,), (3,), (2,), (3,)], [1] * 5, [column])
    atoms, axes, buffers, _, _ = prepared(cluster)
    clusters = np.array([[0, 2, 0, 2], [2, 5, 0, 3]])
    chosen = splits.splits(2)
    for name, value in (("attribute", 0), ("place", 0), ("shape", 0), ("drop", 0)):
        getattr(chosen, name)[:] = value
    extra = np.arange(5, dtype=np.uint32).reshape(5, 1)
    middles = sides.carry_out(atoms, extra, clusters, chosen, False, axes, buffers, np.empty((3, 3), np.uint32))
    assert middles.tolist() == [1, 3]
    assert atoms.codes[:, 0].tolist() == [0, 1, 2, 3, 3]
    assert extra[:, 0].tolist() == [1, 0, 3, 2, 4]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("values", [3, 50, 100_000], ids=["few", "dense", "sparse"])
@pytest.mark.parametrize("listing", [True, False])
def test_tally_sides_counts_what_is_there(seed, values, listing):
    cluster = random_cluster(seed)
    atoms, axes, buffers, clusters, listed = prepared(cluster)
    random = np.random.default_rng(seed)
    extra = random.integers(0, values, (len(atoms.codes), 2)).astype(np.uint32)
    tried = splits.pick(listed, random.permutation(len(listed.score))[:8])
    count = np.zeros(values, np.int64)
    owner = np.zeros(len(tried.score), np.int64)
    distinct, codes, counts = sides.tally_sides(
        atoms, extra[:, 1], clusters[owner], tried, False, axes, buffers, value_counts.Counter(count, listing)
    )
    assert not count.any()
    expected = []
    for index in range(len(tried.score)):
        split = splits.pick(tried, slice(index, index + 1))
        a, chosen = int(split.attribute[0]), left_codes(cluster, split)
        for side in (True, False):
            held = Counter()
            for line, value, amount in zip(cluster.lines, extra[:, 1].tolist(), cluster.amounts, strict=True):
                if (line[a] in chosen) == side:
                    held[value] += amount
            expected.append(sorted(held.items()))
    assert distinct.tolist() == [len(side) for side in expected]
    flat = [entry for side in expected for entry in side]
    assert list(zip(codes.tolist(), counts.tolist(), strict=True)) == (flat if listing else [])


def test_tally_sides_of_several_clusters():
    column = number_column("n", [0.0, 1.0, 2.0, 3.0])
    cluster = Cluster([(0,), (1,), (2,), (3,)], [1, 2, 3, 4], [column])
    atoms, axes, buffers, _, _ = prepared(cluster)
    clusters = np.array([[0, 2, 0, 3], [2, 4, 0, 7]])
    tried = splits.splits(3)
    for name, value in (("attribute", 0), ("place", 0), ("shape", 0), ("drop", 0)):
        getattr(tried, name)[:] = value
    extra = np.array([[5], [99_999], [5], [7]], np.uint32)
    distinct, codes, counts = sides.tally_sides(
        atoms, extra[:, 0], clusters[[1, 0, 1]], tried, False, axes, buffers,
        value_counts.Counter(np.zeros(100_000, np.int64), listing=True),
    )  # fmt: skip
    assert distinct.tolist() == [1, 1, 1, 1, 1, 1]
    assert codes.tolist() == [5, 7, 5, 99_999, 5, 7]
    assert counts.tolist() == [3, 4, 1, 2, 3, 4]
