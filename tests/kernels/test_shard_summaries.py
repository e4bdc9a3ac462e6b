"""What shards tell of clusters, against plain Python over all of their records at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest

from sudare.kernels.topdown import children, shard_summaries, splits, value_orders
from sudare.kernels.topdown.item_choices import HIDDEN, PORTION, Hidden, ItemMaps
from sudare.methods.topdown.distributed.questions import (
    ChooseItems,
    CountNodes,
    CountValues,
    CoverPlaces,
    Fork,
    TallyChildren,
    Task,
    Tree,
    item_fork,
    joined,
    pack,
    starts,
)
from sudare.table import Column, ItemSets, Table

from .naive import Cluster, cell_loss, listed_splits, number_column, ordered_places, random_cluster, with_others

SEEDS = range(40)
NODES = np.array([1, 2])


def records(cluster: Cluster) -> list[tuple[int, ...]]:
    return [line for line, n in zip(cluster.lines, cluster.amounts, strict=True) for _ in range(n)]


def as_table(columns: list[Column], lines, sensitive=(), sets=()) -> Table:
    cells = np.array(lines, dtype=np.uint16).reshape(len(lines), len(columns))
    quasi = {f"q{a}": replace(column, codes=cells[:, a].copy()) for a, column in enumerate(columns)}
    quasi |= {f"s{index}": held for index, held in enumerate(sets)}
    return Table(len(lines), quasi, {column.name: column for column in sensitive})


def sets_of(held: list[list[int]], size: int) -> ItemSets:
    values = pa.array([f"{code:03d}" for code in range(size)])
    items = joined([np.array(sorted(items), np.uint16) for items in held], np.uint16)
    return ItemSets("s", starts([len(items) for items in held]), items, values)


def shards_of(table: Table, random) -> list[Table]:
    count = int(random.integers(1, 5))
    owner = random.integers(0, count, table.rows)
    return [table.taken(random.permutation(np.flatnonzero(owner == shard))) for shard in range(count)]


def ask(table, random, question, forks=(), nodes=(0,)):
    """The merged answer to a question about leaves of a tree of one fork at most."""
    child = np.array([1] + [-1] * forks[0].children if forks else [-1])
    task = Task(Tree(child, pack(list(forks))), np.array(nodes), (question,))
    return task.merged(task(shard) for shard in shards_of(table, random))[0]


def halves(cluster: Cluster, random) -> tuple[Fork, list[list[tuple[int, ...]]]]:
    """A fork by the first attribute that parts the records in two, and what is on each side."""
    lines = records(cluster)
    present = sorted({line[0] for line in lines})
    if cluster.axes.kind[0] == value_orders.NUMBER:
        fork = Fork(0, present[len(present) // 2])
        left = [code <= fork.place for code, *_ in lines]
    else:
        places = random.integers(0, 3, len(present)).astype(np.int32)
        shape = int(random.integers(0, 2))
        fork = Fork(0, 1, shape, np.array(present, np.int32), places)
        of = dict(zip(present, places.tolist(), strict=True))
        left = [of[code] == 1 if shape == value_orders.SINGLE else of[code] <= 1 for code, *_ in lines]
    return fork, [[line for line, here in zip(lines, left, strict=True) if here == side] for side in (True, False)]


def counted(axes, table, random, fork):
    return ask(table, random, CountValues(axes.kind, axes.start), [fork], NODES)


@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_counted_in_every_cluster(seed):
    random = np.random.default_rng(seed)
    cluster = random_cluster(seed)
    fork, sides = halves(cluster, random)
    axes = cluster.axes
    found = counted(axes, as_table(cluster.columns, records(cluster)), random, fork)
    expected = Counter(
        (side * int(axes.start[-1]) + int(axes.start[a]) + line[a])
        for side, lines in enumerate(sides)
        for line in lines
        for a in range(len(cluster.columns))
    )
    assert found.keys.tolist() == sorted(expected)
    assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected
    assert not found.many.any()
    for side, lines in enumerate(sides):
        for a in range(len(cluster.columns) if lines else 0):
            ends = min(line[a] for line in lines), max(line[a] for line in lines)
            assert (found.low[side, a], found.high[side, a]) == ends


def looked_at(cluster: Cluster, random, mode=splits.LEAST_LOSS):
    """What is asked of a cluster as a whole: its orders, the records at places, its ends, and what places cover."""
    axes = cluster.axes
    table = as_table(cluster.columns, records(cluster))
    question = CountValues(axes.kind, axes.start)
    found = ask(table, random, question)
    pair = question.pairs(found.keys)
    begin = np.searchsorted(pair, np.arange(len(axes.kind) + 1))
    code = (found.keys - axes.start[pair]).astype(np.int32)
    places, counts = np.zeros(len(axes.kind), np.int64), np.zeros(len(code), np.int64)
    buffers = value_orders.scratch(axes, 1 << 40)
    by_code = mode == splits.MEDIAN
    low, shift = found.low[0].astype(np.int64), np.full(len(places), -1, np.int64)
    orders = shard_summaries.Orders(begin, code, np.zeros(len(code), np.int32), places, low, shift)
    shard_summaries.order_counts(orders, found.counts, by_code, axes, buffers, counts)
    for a in np.flatnonzero(found.many[0]).tolist():
        shift[a] = value_orders.bin_width(low[a], np.int64(found.high[0, a]))
        places[a] = (int(found.high[0, a]) - low[a] >> shift[a]) + 1
    lines = starts([int(places[places > 1].sum())])
    asked = CoverPlaces(axes.kind, orders, lines, mode == splits.LEAST_LOSS)
    return orders, counts, found, asked.complete(ask(table, random, asked)), buffers


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", [splits.LEAST_LOSS, splits.MEDIAN])
def test_values_stand_in_the_documented_order(seed, mode):
    cluster = random_cluster(seed)
    orders, counts, _, _, _ = looked_at(cluster, np.random.default_rng(seed), mode)
    for a in range(len(cluster.columns)):
        own = slice(int(orders.begin[a]), int(orders.begin[a + 1]))
        found = [set() for _ in range(orders.places[a])]
        for code, place in zip(orders.code[own].tolist(), orders.place_of[own].tolist(), strict=True):
            found[place].add(code)
        assert found == ordered_places(cluster, a, by_code=mode == splits.MEDIAN)
        lines = records(cluster)
        assert counts[own][: len(found)].tolist() == [sum(line[a] in place for line in lines) for place in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_splits_are_scored_from_summaries_as_from_records(seed):
    cluster = random_cluster(seed)
    least, budget = 1 + seed % 4, cluster.total // 3 if seed % 2 else 0
    orders, counts, found, covered, buffers = looked_at(cluster, np.random.default_rng(seed))
    room, before = splits.splits(6 * sum(column.size for column in cluster.columns) + 1), np.zeros(1)
    whole = np.array([[0, cluster.total, budget, cluster.total]])
    search = splits.Search(least, splits.LEAST_LOSS, -1, every=True)
    summary = shard_summaries.Summary(orders, counts, splits.Ends(found.low, found.high), covered)
    covers = value_orders.covers(cluster.axes, 1 << 40)
    [count] = shard_summaries.score_covered(
        whole, np.zeros(1, np.int64), summary, search, cluster.axes, buffers, covers, splits.Found(room, room, before)
    )
    by_name = itemgetter(slice(1, None))
    got = sorted(zip(*(array[:count].tolist() for array in room), strict=True), key=by_name)
    expected = sorted(listed_splits(cluster, least, budget), key=by_name)
    assert [line[1:] for line in got] == [line[1:] for line in expected]
    np.testing.assert_allclose([line[0] for line in got], [line[0] for line in expected], rtol=1e-12)
    # and to the last bit as where the records are
    rows, amounts = cluster.arrays()
    out, there = splits.splits(len(room.score)), np.zeros(1)
    clusters = np.array([[0, len(rows), budget, cluster.total]])
    [same] = splits.score_splits(
        value_orders.Atoms(rows, amounts),
        clusters,
        search,
        cluster.axes,
        value_orders.scratch(cluster.axes, len(rows)),
        value_orders.covers(cluster.axes, len(rows)),
        splits.Found(out, out, there),
    )
    assert same == count
    assert out.score[:same].tolist() == room.score[:count].tolist()
    assert there == before


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_are_those_of_the_cells(seed):
    cluster = with_others(random_cluster(seed), seed)
    orders, _, found, _, _ = looked_at(cluster, np.random.default_rng(seed))
    [losses] = shard_summaries.covered_losses(np.zeros(1, np.int64), orders, found.low, found.high, cluster.axes)
    expected = [cell_loss(column, {line[a] for line in cluster.lines}) for a, column in enumerate(cluster.columns)]
    np.testing.assert_allclose(losses, expected)


@pytest.mark.parametrize("shards", [1, 4])
def test_a_number_is_in_bins_if_all_shards_together_have_many_values(shards):
    size = 3 * value_orders.BINS
    column = number_column("n", list(range(size)))
    random = np.random.default_rng(0)
    axes = Cluster([], [], [column]).axes
    question = CountValues(axes.kind, axes.start)
    for values, many in ((value_orders.BINS, False), (value_orders.BINS + 1, True)):
        codes = np.tile(random.permutation(size)[:values], 3)  # many records, and a wide range of codes
        table = as_table([column], codes[:, None])
        parts = np.array_split(random.permutation(len(codes)), shards)
        task = Task(Tree(np.array([-1]), pack([])), np.zeros(1, np.int64), (question,))
        [found] = task.merged(task(table.taken(part)) for part in parts)
        assert found.many.item() == many
        assert len(found.keys) == (0 if many else values)
        assert (found.low.item(), found.high.item()) == (codes.min(), codes.max())


@pytest.mark.parametrize("seed", SEEDS)
def test_children_are_tallied(seed):
    random = np.random.default_rng(seed)
    cluster = random_cluster(seed)
    lines = records(cluster)
    illness = Column("ill", "categorical", random.integers(0, 5, len(lines)).astype(np.uint8), pa.array(list("abcde")))
    who = Column("who", "categorical", random.integers(0, 9, len(lines)).astype(np.uint8), pa.array(list("abcdefghi")))
    held = [sorted(set(random.integers(0, 6, random.integers(0, 4)).tolist())) for _ in lines]
    table = as_table(cluster.columns, lines, [illness], [sets_of(held, 6)])
    table = replace(table, subject=who)
    single, _ = halves(cluster, random)
    ranked = random.permutation(6)[:4]
    child = np.array([1, -1, 0, -1])
    items = item_fork(0, np.sort(ranked), np.argsort(ranked), child, 3)
    assert len(items.child) == 3  # the last rank is as good as none
    expected_child = []
    for own in held:
        best = min((ranked.tolist().index(item) for item in own if item in ranked), default=-1)
        expected_child.append(2 if best < 0 or child[best] < 0 else int(child[best]))
    left = [line in halves_left(single, lines) for line in lines]
    groups = [[i for i, here in enumerate(left) if here == side] for side in (True, False)]
    groups += [[i for i, at in enumerate(expected_child) if at == c] for c in range(3)]
    forks = pack([single, items])
    for apart in (False, True):
        question = TallyChildren(forks, np.zeros(2, np.int64), ("ill",), True, apart)
        if apart:  # whoever is in one shard is in no other
            task = Task(Tree(np.array([-1]), pack([])), np.zeros(1, np.int64), (question,))
            where = [np.flatnonzero(who.codes % 2 == part) for part in range(2)]
            counts, people = task.merged(task(table.taken(rows)) for rows in where)[0]
        else:
            counts, people = ask(table, random, question)
            people = np.unpackbits(people, axis=1).sum(axis=1)
        assert counts.tolist() == [np.bincount(illness.codes[group], minlength=5).tolist() for group in groups]
        assert people.tolist() == [len(set(who.codes[group].tolist())) for group in groups]


def halves_left(fork: Fork, lines) -> set[tuple[int, ...]]:
    if fork.codes is None:
        return {line for line in lines if line[0] <= fork.place}
    of = dict(zip(fork.codes.tolist(), fork.places.tolist(), strict=True))
    return {
        line for line in lines if (of[line[0]] == 1 if fork.shape == value_orders.SINGLE else of[line[0]] <= fork.place)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_items_are_counted_and_chosen(seed):
    random = np.random.default_rng(seed)
    size, count = 8, int(random.integers(1, 40))
    held = [sorted(set(random.integers(0, size, random.integers(0, 5)).tolist())) for _ in range(count)]
    table = as_table([], [()] * count, sets=[sets_of(held, size)])
    # two clusters: who holds item 0, and who does not; codes stand for nodes, some for the same, some are gone
    fork = item_fork(0, np.array([0]), np.array([0]), np.array([0]), 2)
    sides = [[own for own in held if (0 in own) == inside] for inside in (True, False)]
    codes = [np.sort(random.permutation(size)[:6]) for _ in sides]
    slots = [random.integers(0, 3, 6), 3 + random.integers(0, 4, 6)]
    maps = [dict(zip(c.tolist(), s.tolist(), strict=True)) for c, s in zip(codes, slots, strict=True)]
    begin, flat = starts([6, 6]), (joined(codes, np.int32), joined(slots, np.int32))
    found = ask(table, random, CountNodes(0, begin, *flat, 7), [fork], NODES)
    expected = Counter(slot for side, of in zip(sides, maps, strict=True) for own in side for slot in
                       {of[item] for item in own if item in of})  # fmt: skip
    assert found.tolist() == [expected[slot] for slot in range(7)]

    disclosed = np.array([0.5, 1.0])
    found = ask(table, random, ChooseItems(0, begin, *flat, 7, disclosed), [fork], NODES)
    numbers, gain = Counter(), Counter()
    for side, of in zip(sides, maps, strict=True):
        for own in side:
            best = min((of[item] for item in own if item in of), default=None)
            if best is not None:
                numbers[best] += 1
                gain[best] += PORTION // len(own)
    assert found.records.tolist() == [numbers[rank] for rank in range(7)]
    assert found.gain.tolist() == [gain[rank] for rank in range(7)]
    shares = [
        sum(int(max(1 - given / len(own), 0.0) * PORTION) for own in side if own)
        for side, given in zip(sides, disclosed.tolist(), strict=True)
    ]
    assert found.hidden.tolist() == shares


@pytest.mark.parametrize("seed", SEEDS)
def test_hidden_items_of_several_clusters_are_listed(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 6, 3)
    held = [sorted(set(random.integers(0, 7, random.integers(0, 5)).tolist())) for _ in range(int(sizes.sum()))]
    sets = sets_of(held, 7)
    codes = [np.sort(random.permutation(7)[: random.integers(0, 7)]) for _ in sizes]
    nodes = [random.integers(0, 9, len(own)) for own in codes]
    extra = np.zeros((len(held), 2), np.uint32)
    items, runs = np.zeros(len(sets.items) + 5, np.uint16), np.zeros((3, 2), np.int64)
    maps = ItemMaps(starts([len(own) for own in codes]), joined(codes, np.int64), joined(nodes, np.int64))
    lookup = children.Lookup(np.full(7, -1, np.int64), np.zeros(9, np.int64))
    children.fill_hidden(sets.offsets, sets.items, starts(sizes), maps, Hidden(items, extra, 1, 0), 5, runs, lookup)
    at = 5
    for cluster, first in enumerate(starts(sizes)[:-1].tolist()):
        of = dict(zip(codes[cluster].tolist(), nodes[cluster].tolist(), strict=True))
        begin = at
        for row in range(first, first + int(sizes[cluster])):
            expected = {of[item] for item in held[row] if item in of}
            hidden = int(extra[row, 1]) & 0xFFFF
            assert hidden == len(expected)
            assert int(extra[row, 1]) >> HIDDEN == len(held[row])
            assert set(items[at : at + hidden].tolist()) == expected
            at += hidden
        assert runs[cluster].tolist() == [begin, at - begin]


def test_rows_go_down_a_tree_of_several_levels():
    table = as_table([number_column("n", list(range(10)))], [(code,) for code in (3, 9, 0, 5, 7, 1)])
    forks = [Fork(0, 4), Fork(0, 0), Fork(0, 6)]
    tree = Tree(np.array([1, 3, 5, -1, -1, -1, -1]), pack(forks))
    order, first, last = tree.routed(table).nodes
    leaves = [order[first[leaf] : last[leaf]].tolist() for leaf in range(3, 7)]
    assert leaves == [[2], [0, 5], [3], [1, 4]]


def test_forks_share_the_maps_of_the_same_arrays():
    codes, places = np.array([1, 2], np.int32), np.array([0, 1], np.int32)
    packed = pack([Fork(0, 0, 0, codes, places), Fork(1, 5), Fork(0, 1, 1, codes, places)])
    assert packed.map.tolist() == [0, -1, 0]
    assert packed.begin.tolist() == [0, 2]
    assert (packed.code.tolist(), packed.place_of.tolist()) == ([1, 2], [0, 1])
