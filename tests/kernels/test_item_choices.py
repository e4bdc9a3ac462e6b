"""Disclosing items, parting clusters and what classes have in common: each kernel against plain Python.

A :class:`State` holds the records of some clusters as lists; :meth:`State.arrays` puts them into the arrays that the
kernels read, and :func:`read_back` takes them out again.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels import common_items
from sudare.kernels.class_rows import count_keys, gather_keys, number_keys
from sudare.kernels.topdown import children as scattering
from sudare.kernels.topdown import item_choices, splits, value_counts, value_orders
from sudare.table import atoms as atoms_module
from sudare.table import find_atoms

from .naive import Cluster, number_column, ordered_places, random_cluster, set_column, tree_column

SEEDS = range(40)
UNIT, FIXED, EACH = item_choices.UNIT, item_choices.FIXED, item_choices.EACH
NO, WHOLE, KEPT, LEFT_OUT, JOINED = (
    item_choices.NO,
    item_choices.WHOLE,
    item_choices.KEPT,
    item_choices.LEFT_OUT,
    item_choices.JOINED,
)
TALLIED = 1
"""The column of ``extra`` with a carried value; the record's number stands before it, the item sets' cells after it."""


@dataclass
class State:
    """Records in clusters: for each item-set column the hidden nodes of each record, and how many items it had."""

    hidden: list[list[list[int]]]
    had: list[list[int]]
    bounds: list[int]
    budgets: list[int]
    nodes: list[int]
    disclosed: list[list[int]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.bounds[-1]

    @property
    def cells(self):
        return np.arange(len(self.hidden)) + TALLIED + 1

    def members(self, cluster: int) -> range:
        return range(self.bounds[cluster], self.bounds[cluster + 1])

    def arrays(self, seed: int = 0):
        """Items, extra and the lines of the clusters."""
        random = np.random.default_rng(seed)
        extra = np.zeros((self.rows, TALLIED + 1 + len(self.hidden)), np.uint32)
        extra[:, 0] = random.permutation(self.rows)
        extra[:, TALLIED] = random.integers(0, 5, self.rows)
        flat: list[int] = []
        begin = []
        for column, sets in enumerate(self.hidden):
            begin.append([])
            for low, high in pairwise(self.bounds):
                begin[column].append(len(flat))
                for row in range(low, high):
                    flat += sets[row]
                    extra[row, TALLIED + 1 + column] = self.had[column][row] << item_choices.HIDDEN | len(sets[row])
                flat += [0] * int(random.integers(0, 4))  # what was disclosed earlier leaves gaps
        lines = []
        for cluster, (low, high) in enumerate(pairwise(self.bounds)):
            line = [low, high, self.budgets[cluster], high - low]
            for column, sets in enumerate(self.hidden):
                disclosed = self.disclosed[column][cluster] if self.disclosed else 0
                line += [begin[column][cluster], sum(len(sets[row]) for row in range(low, high)), disclosed, 0]
            lines.append([*line, 0])
        return np.array(flat, np.uint16), extra, np.array(lines, np.int64)


def read_back(items, extra, line, column, cell) -> list[list[int]]:
    """The hidden nodes of the records of one cluster."""
    at = int(line[FIXED + EACH * column])
    found = []
    for row in range(line[0], line[1]):
        count = int(extra[row, cell]) & 0xFFFF
        found.append(items[at : at + count].tolist())
        at += count
    assert at == line[FIXED + EACH * column] + line[FIXED + EACH * column + 1]
    return found


def random_state(seed: int, *, columns: int = 1, nodes: int | None = None, few: int = 6) -> State:
    random = np.random.default_rng(seed)
    sizes = [int(size) for size in random.integers(1, 9, random.integers(1, 5))]
    bounds = np.concatenate(([0], np.cumsum(sizes))).tolist()
    counts = [nodes or int(random.integers(1, few)) for _ in range(columns)]
    hidden = [
        [random.permutation(count)[: random.integers(0, count + 1)].tolist() for _ in range(bounds[-1])]
        for count in counts
    ]
    had = [[len(held) + int(random.integers(0, 3)) for held in sets] for sets in hidden]
    disclosed = [[int(n) for n in random.integers(0, 2 * UNIT, len(sizes))] for _ in range(columns)]
    return State(hidden, had, bounds, random.integers(0, 4, len(sizes)).tolist(), counts, disclosed)


def flat_forest(nodes: int) -> item_choices.Forest:
    return item_choices.Forest(np.full(nodes, -1, np.int64), np.zeros(nodes))


def tree_forest(seed: int):
    """The forest of a random tree, and its leaves."""
    taxonomy = tree_column("t", np.random.default_rng(seed), missing=seed % 2 == 0).taxonomy
    parent = taxonomy.parent.astype(np.int64)
    return item_choices.Forest(np.where(parent <= 0, -1, parent), taxonomy.share), taxonomy


# ---- tidy


def tidy(items, extra, cell, clusters, column, least, forest, space) -> None:
    """Disclose what all records of a cluster hold, and give up what too few of them hold, in each cluster."""
    for cluster in range(len(clusters)):
        hidden = item_choices.Hidden(items, extra, cell, column)
        found = item_choices.settle(hidden, clusters, cluster, least, forest, space)
        space.held[space.touched[:found]] = 0


def tidied(records: list[list[int]], least: int, parent: list[int], share) -> tuple[list[list[int]], float]:
    """What is left hidden, and what is disclosed: the documentation in lists."""
    lift = any(above >= 0 for above in parent)
    given, marks = 0.0, set()  # a node that shares the mark of a disclosed one takes no part either
    while True:
        held = Counter(node for record in records for node in record)
        shared = {node for node, times in held.items() if times == len(records)}
        rare = {node for node, times in held.items() if times < least} - shared
        given += sum(1.0 - share[node] for node in shared)
        marks |= {node % 62 for node in shared if share[node] > 0}
        left = []
        for record in records:
            kept = []
            for node in record:
                if node in rare:
                    above = parent[node] if lift else -1
                    if above >= 0 and above % 62 not in marks:
                        kept.append(above)
                elif node not in shared:
                    kept.append(node)
            left.append(list(dict.fromkeys(kept)))
        records = left
        if not (lift and rare):
            return records, given


def check_tidy(state: State, forest: item_choices.Forest, least: int, column: int = 0) -> None:
    items, extra, clusters = state.arrays(3)
    before = clusters.copy()
    others = extra[:, : TALLIED + 1].copy()
    space = item_choices.desk(forest)
    cell = state.cells[column]
    tidy(items, extra, cell, clusters, column, least, forest, space)
    for cluster in range(len(clusters)):
        records = [state.hidden[column][row] for row in state.members(cluster)]
        expected, given = tidied(records, least, forest.parent.tolist(), forest.share)
        assert read_back(items, extra, clusters[cluster], column, cell) == expected
        place = FIXED + EACH * column + 2
        assert clusters[cluster, place] - before[cluster, place] == pytest.approx(given * UNIT, abs=2 * UNIT * 1e-5)
        for row in state.members(cluster):
            assert extra[row, cell] >> item_choices.HIDDEN == state.had[column][row]
    assert not space.held.any()
    assert not space.stamp.any()
    np.testing.assert_array_equal(extra[:, : TALLIED + 1], others)
    untouched = [i for i in range(clusters.shape[1]) if i - FIXED - EACH * column not in (1, 2, 3)]
    np.testing.assert_array_equal(clusters[:, untouched], before[:, untouched])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("least", [1, 2, 3, 6])
def test_tidy_discloses_what_all_hold_and_forgets_what_few_do(seed, least):
    state = random_state(seed, columns=2)
    for column in range(2):
        check_tidy(state, flat_forest(state.nodes[column]), least, column)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("least", [1, 2, 3, 6])
def test_tidy_lifts_what_few_hold(seed, least):
    forest, _ = tree_forest(seed)
    check_tidy(random_state(seed, nodes=len(forest.share)), forest, least)


def test_tidy_by_hand():
    # nodes 0 to 4 are leaves, 5 is over 0 and 1, 6 over 5 and 2; 3 and 4 have nothing above. Three records, least 2.
    # 3 is in all of them: shown. 0, 1, 2 and 4 are in one each: 4 goes, 0 and 1 become 5, 2 becomes 6. Then 5 is in two
    # records and stays, 6 is in one and goes, for nothing is above it.
    forest = item_choices.Forest(np.array([5, 5, 6, -1, -1, 6, -1]), np.array([0, 0, 0, 0, 0, 0.5, 0.75]))
    state = State([[[0, 3], [1, 3, 4], [2, 3]]], [[2, 3, 2]], [0, 3], [0], [7])
    items, extra, clusters = state.arrays()
    tidy(items, extra, 2, clusters, 0, 2, forest, item_choices.desk(forest))
    assert read_back(items, extra, clusters[0], 0, 2) == [[5], [5], []]
    assert clusters[0, FIXED + 2] == UNIT


@pytest.mark.parametrize("seed", SEEDS)
def test_lift_all_puts_every_node_one_up(seed):
    forest, _ = tree_forest(seed)
    state = random_state(seed, nodes=len(forest.share))
    items, extra, clusters = state.arrays()
    space = item_choices.desk(forest)
    left = item_choices.lift_all(item_choices.Hidden(items, extra, 2, 0), clusters, forest, space)
    for cluster in range(len(clusters)):
        records = [state.hidden[0][row] for row in state.members(cluster)]
        up = [list(dict.fromkeys(int(forest.parent[n]) for n in held if forest.parent[n] >= 0)) for held in records]
        assert read_back(items, extra, clusters[cluster], 0, 2) == up
        assert left[cluster] == any(up)
    assert not space.stamp.any()


# ---- rank, choose


def ranking(
    records: list[list[int]], least: int, beta: float, alone: bool, budget: int, viable: bool = False, score=None
) -> list[int]:
    if len(records) < least:
        return []
    held = Counter(node for record in records for node in record)
    theta = max(beta * len(records), least)
    worth = {n: times if score is None else times * int(score[n]) for n, times in held.items()}
    ranked = sorted((n for n, times in held.items() if times >= theta), key=lambda n: (-worth[n], -held[n], n))
    if alone or viable:
        out = {n: len(records) - held[n] for n in ranked}
        ranked = [n for n in ranked if out[n] >= least or out[n] <= budget]
    return ranked[:1] if alone else ranked


def offered(state: State, least: int, beta=0.0, alone=False, column: int = 0, *, viable=False, score=None):
    """What the kernel ranks and lets the records choose, with all its arrays."""
    items, extra, clusters = state.arrays(1)
    room = item_choices.parts(sum(len(held) for held in state.hidden[column]) + 1)
    result = item_choices.outcome(len(clusters))
    chosen = np.full(state.rows, 999, np.uint16)
    forest = flat_forest(state.nodes[column])
    space = item_choices.desk(forest, score)
    hidden = item_choices.Hidden(items, extra, state.cells[column], column)
    ranking_rules = item_choices.Ranking(least, beta, alone, viable, score is not None)
    item_choices.rank_and_choose(hidden, clusters, ranking_rules, forest, space, chosen, room, result)
    assert not space.held.any()
    return items, extra, clusters, room, result, chosen


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize(("alone", "viable"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("least", "beta"), [(1, 0.0), (2, 0.0), (2, 0.6), (3, 0.5), (1, 0.99)])
def test_each_record_chooses_the_best_ranked_item_it_holds(seed, alone, viable, least, beta, scored):
    state = random_state(seed, columns=2)
    for column in range(2):
        few = np.random.default_rng(seed).integers(1, 4, state.nodes[column])
        score = few if scored else None
        _, _, _, room, result, chosen = offered(state, least, beta, alone, column, viable=viable, score=score)
        begin = 0
        for cluster in range(len(state.budgets)):
            records = [state.hidden[column][row] for row in state.members(cluster)]
            records, _ = tidied(records, least, [-1] * state.nodes[column], [0.0] * state.nodes[column])
            had = [state.had[column][row] for row in state.members(cluster)]
            end = int(result.ends[cluster])
            ranked = ranking(records, least, beta, alone, state.budgets[cluster], viable, score)
            assert room.node[begin:end].tolist() == ranked
            counts, gains = [0] * len(ranked), [0.0] * len(ranked)
            for row, record, size in zip(state.members(cluster), records, had, strict=True):
                best = min((ranked.index(node) for node in record if node in ranked), default=len(ranked))
                if ranked:
                    assert chosen[row] == best
                if best < len(ranked):
                    counts[best] += 1
                    gains[best] += 1 / size
            assert room.records[begin:end].tolist() == counts
            np.testing.assert_allclose(room.gain[begin:end], gains, rtol=1e-5)
            begin = end


def test_equal_frequencies_are_ranked_by_code():
    state = State([[[2, 0], [0, 2], [1], [1], [3]]], [[2, 2, 1, 1, 1]], [0, 5], [0], [4])
    _, _, _, room, result, chosen = offered(state, 2)
    assert room.node[: result.ends[0]].tolist() == [0, 1, 2]
    assert chosen.tolist() == [0, 0, 1, 1, 3]
    assert room.records[:3].tolist() == [2, 2, 0]


# ---- resolve


def resolved(parts, total, budget, least, join, weight, lost):
    """The fate of a cluster: ``parts`` are (records, worth, valid). Returns fate, gain, bits, numbers of children."""
    live = [i for i, (records, _, valid) in enumerate(parts) if valid and records >= least]
    gain = weight * sum(parts[i][1] for i in live)
    rest = total - sum(parts[i][0] for i in live)
    fate = NO
    if live:
        cost = rest * lost
        if rest == 0:
            fate = WHOLE
        elif rest >= least:
            fate = KEPT
        elif rest <= budget and gain > cost:
            fate, gain = LEFT_OUT, gain - cost
        elif join and len(live) > 1:
            cheapest = min(live, key=lambda i: (parts[i][1], -i))  # the last of the cheapest
            live.remove(cheapest)
            fate, gain, rest = JOINED, gain - weight * parts[cheapest][1], rest + parts[cheapest][0]
    child = [live.index(i) if i in live else -1 for i in range(len(parts))]
    sizes = [parts[i][0] for i in live] + ([rest] if fate in (KEPT, JOINED) else [])
    bits = 0.0 if fate == NO else sum(n * math.log2(total / n) for n in sizes)
    children = 0 if fate == NO else len(live) + (fate != WHOLE)
    return fate, gain, bits, child, children


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_resolve_decides_what_becomes_of_the_remainder(seed, join, least):
    random = np.random.default_rng(seed)
    state = random_state(seed, columns=2, few=5)
    column, weight = 1, float(random.choice([1.0, 0.5, 3.0]))
    _, _, clusters, room, result, _ = offered(state, least, 0.0, False, column)
    share = np.where(random.random(state.nodes[column]) < 0.5, 0.0, random.random(state.nodes[column]))
    valid = random.random(len(room.node)) < 0.8
    lost = random.choice([0.0, 0.1, 2.0], len(clusters))
    which = np.flatnonzero(random.random(len(clusters)) < 0.8)
    rules = item_choices.Rules(least, join, weight)
    item_choices.resolve(clusters, which, rules, share, lost, room, valid, result)
    for cluster in which:
        begin, end = int(result.ends[cluster - 1]) if cluster else 0, int(result.ends[cluster])
        parts = [
            (int(room.records[i]), room.gain[i] * (1 - share[room.node[i]]), bool(valid[i])) for i in range(begin, end)
        ]
        total, budget = int(clusters[cluster, 3]), int(clusters[cluster, 2])
        fate, gain, bits, child, children = resolved(parts, total, budget, least, join, weight, lost[cluster])
        assert result.fate[cluster] == fate
        assert result.children[cluster] == children
        assert result.bits[cluster] == pytest.approx(bits)
        if fate != NO:
            assert result.gain[cluster] == pytest.approx(gain)
            assert room.child[begin:end].tolist() == child
    others = np.setdiff1d(np.arange(len(clusters)), which)
    assert (result.fate[others] == NO).all()
    assert (result.children[others] == 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_hidden_share(seed):
    state = random_state(seed, columns=2)
    _, extra, clusters = state.arrays()
    for column in range(2):
        found = item_choices.hidden_share(extra, state.cells[column], clusters, column)
        for cluster in range(len(clusters)):
            shown = state.disclosed[column][cluster] / UNIT
            had = [state.had[column][row] for row in state.members(cluster)]
            assert found[cluster] == pytest.approx(sum(max(1 - shown / size, 0.0) for size in had if size))


def test_exclude_takes_out_what_failed_and_else_what_gains_least():
    # cluster 0 has parts 0 to 3, of which 2 is no child; cluster 1 has parts 4 and 5
    room = item_choices.parts(6)
    room.child[:] = [0, 1, -1, 2, 0, 1]
    room.gain[:] = [5.0, 1.0, 0.5, 2.0, 1.0, 1.0]
    result = item_choices.outcome(2)
    result.ends[:] = [4, 6]
    begin, tries = np.array([0, 4, 7]), np.zeros(2, np.int64)
    valid = np.ones(6, np.bool_)
    failed = np.array([True, False, True, True, True, True, False])
    item_choices.exclude(np.array([0]), room, result, begin, failed, tries, valid)
    assert valid.tolist() == [True, False, True, True, True, True]
    assert tries.tolist() == [0, 0]
    # now the remainder (the child after the disclosing ones) failed: the part that gains least goes, the last of equals
    valid[:] = True
    remainder = np.array([True, True, True, False, True, True, False])
    item_choices.exclude(np.array([0, 1]), room, result, begin, remainder, tries, valid)
    assert valid.tolist() == [True, False, True, True, True, False]
    assert tries.tolist() == [1, 1]
    # next time two of them
    item_choices.exclude(np.array([0]), room, result, begin, remainder, tries, valid)
    assert valid.tolist() == [False, False, True, False, True, False]


# ---- sending, arranging, counting


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("join", [False, True])
def test_records_go_to_the_child_that_discloses_what_they_chose(seed, join):
    least = 1 + seed % 3
    state = random_state(seed)
    _, _, clusters, room, result, chosen = offered(state, least)
    none = np.zeros(len(clusters))
    valid = np.ones(len(room.node), np.bool_)
    every = np.arange(len(clusters))
    share = np.zeros(state.nodes[0])
    rules = item_choices.Rules(least, join, 1.0)
    item_choices.resolve(clusters, every, rules, share, none, room, valid, result)
    which = np.flatnonzero(result.fate != NO)
    family = scattering.children(result.children)
    part = np.full(state.rows, 999, np.uint16)
    scattering.assign_by_item(clusters, which, chosen, room, result, part, family)
    for cluster in every:
        first, count = family.begin[cluster], result.children[cluster]
        if cluster not in which:
            assert count == 0
            assert (part[state.bounds[cluster] : state.bounds[cluster + 1]] == 999).all()
            continue
        sizes = Counter(int(part[row]) for row in state.members(cluster))
        assert sorted(sizes) == list(range(count))  # nobody is without a child, no child without records
        assert family.records[first : first + count].tolist() == [sizes[child] for child in range(count)]
        for row in state.members(cluster):
            node = family.node[first + part[row]]
            assert node < 0 or node in state.hidden[0][row]
        rest = int(result.fate[cluster] != WHOLE)
        assert (family.node[first : first + count] < 0).tolist() == [False] * (count - rest) + [True] * rest
        if result.fate[cluster] == KEPT:
            begin = int(result.ends[cluster - 1]) if cluster else 0
            for row in state.members(cluster):
                rank = int(chosen[row])
                ranked = begin + rank < result.ends[cluster] and room.records[begin + rank] >= least
                expected = room.node[begin + rank] if ranked else -1
                assert family.node[first + part[row]] == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("by_code", [False, True])
def test_records_go_to_the_side_of_their_value(seed, by_code):
    cluster = random_cluster(seed)
    rows, amounts = cluster.arrays()
    axes = cluster.axes
    buffers = value_orders.scratch(axes, len(rows))
    clusters = np.array([[0, len(rows), 0, len(rows), 0]])
    for a in range(len(cluster.columns)):
        places = ordered_places(cluster, a, by_code=by_code)
        for place in range(len(places) - 1):
            for shape in (value_orders.PREFIX, value_orders.SINGLE):
                chosen = splits.splits(1)
                chosen.attribute[0], chosen.place[0], chosen.shape[0] = a, place, shape
                part = np.full(len(rows), 9, np.uint16)
                family = scattering.children(np.array([2]))
                atoms = value_orders.Atoms(rows, amounts)
                scattering.assign_by_value(atoms, clusters, np.array([0]), chosen, by_code, axes, buffers, part, family)
                left = places[place] if shape == value_orders.SINGLE else set().union(*places[: place + 1])
                expected = [0 if line[a] in left else 1 for line in cluster.lines]
                assert part.tolist() == expected
                assert family.records.tolist() == [expected.count(0), expected.count(1)]


def random_family(state: State, seed: int):
    """Some way to part each cluster: way, part, and the family; children that disclose hold what they disclose."""
    random = np.random.default_rng(seed)
    way = random.integers(-1, 1 + len(state.hidden), len(state.budgets))
    part = np.full(state.rows, 999, np.uint16)
    counts, nodes, left_out = [], [], []
    for cluster in range(len(way)):
        rows = list(state.members(cluster))
        if way[cluster] < 0:
            counts.append(0)
            continue
        if way[cluster] == 0:
            keys = [int(random.integers(2)) for _ in rows]
            disclosed = {0: -1, 1: -1}
        else:
            sets = state.hidden[way[cluster] - 1]
            wanted = random.permutation(state.nodes[way[cluster] - 1])[:3].tolist()
            keys = [next((i for i, node in enumerate(wanted) if node in sets[row]), len(wanted)) for row in rows]
            disclosed = dict(enumerate([*wanted, -1]))
        used = sorted(set(keys))
        for row, key in zip(rows, keys, strict=True):
            part[row] = used.index(key)
        counts.append(len(used))
        nodes += [disclosed[key] for key in used]
        # at most one child goes, and only if the budget covers it
        gone = [keys.count(key) <= state.budgets[cluster] for key in used]
        last = len(used) > 1 and gone[-1] and random.random() < 0.5
        left_out += [False] * (len(used) - 1) + [last]
    family = scattering.children(np.array(counts, np.int64))
    family.node[:] = nodes
    family.left_out[:] = left_out
    for cluster in range(len(way)):
        for row in state.members(cluster):
            if way[cluster] >= 0:
                family.records[family.begin[cluster] + part[row]] += 1
    return way, part, family


def grouped(state: State, way, part) -> list[list[int]]:
    """The rows of every child, child after child, in their order."""
    found = []
    for cluster in range(len(way)):
        if way[cluster] >= 0:
            children = defaultdict(list)
            for row in state.members(cluster):
                children[int(part[row])].append(row)
            found += [children[child] for child in sorted(children)]
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_arrange_lists_the_rows_child_by_child(seed):
    state = random_state(seed, columns=2)
    way, part, family = random_family(state, seed)
    _, _, clusters = state.arrays()
    order = np.full(state.rows, -5, np.int64)
    which = np.flatnonzero(way >= 0)
    scattering.arrange(clusters, which, part, family, order)
    expected = grouped(state, way, part)
    for cluster in range(len(way)):
        rows = order[state.bounds[cluster] : state.bounds[cluster + 1]].tolist()
        own = expected[family.begin[cluster] : family.begin[cluster + 1]]
        assert rows == ([row for child in own for row in child] if way[cluster] >= 0 else [-5] * len(rows))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("values", [3, 40, 100_000], ids=["few", "dense", "sparse"])
@pytest.mark.parametrize("listing", [True, False])
def test_tally_children_counts_what_is_there(seed, values, listing):
    state = random_state(seed, columns=2)
    way, part, family = random_family(state, seed)
    _, extra, clusters = state.arrays()
    extra[:, TALLIED] = np.random.default_rng(seed).integers(0, values, state.rows)
    which = np.flatnonzero(way >= 0)
    order = np.zeros(state.rows, np.int64)
    scattering.arrange(clusters, which, part, family, order)
    count = np.zeros(values, np.int64)
    counter = value_counts.Counter(count, listing)
    carried = extra[:, TALLIED]
    distinct, codes, counts = scattering.tally_children(carried, clusters, which, family, order, counter)
    assert not count.any()
    expected = [sorted(Counter(extra[rows, TALLIED].tolist()).items()) for rows in grouped(state, way, part)]
    assert distinct.tolist() == [len(child) for child in expected]
    flat = [entry for child in expected for entry in child]
    assert list(zip(codes.tolist(), counts.tolist(), strict=True)) == (flat if listing else [])


# ---- the move itself


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("width", [0, 1, 3])
def test_scatter_loses_nothing(seed, width):
    random = np.random.default_rng(seed)
    state = random_state(seed, columns=int(random.integers(1, 4)))
    way, part, family = random_family(state, seed)
    items, extra, clusters = state.arrays(seed)
    clusters[:, -1] = random.integers(0, 8, len(clusters))
    rows = random.integers(0, 1000, (state.rows, width)).astype(np.uint16)
    old_rows, old_extra, old_items = rows.copy(), extra.copy(), items.copy()
    share = random.random((len(state.hidden), max(state.nodes)))
    lines = np.full((len(family.records), clusters.shape[1]), -7, np.int64)
    spare = scattering.Spare(
        np.empty(state.rows, np.uint32),
        np.empty(state.rows * max(width, extra.shape[1]), np.uint32),
        np.empty(len(items), items.dtype),
    )
    table = scattering.Records(rows, extra, items, part)
    scattering.scatter(table, scattering.SetColumns(state.cells, share), clusters, way, family, lines, spare)
    children = grouped(state, way, part)
    for cluster in range(len(way)):
        low, high = state.bounds[cluster : cluster + 2]
        if way[cluster] < 0:  # not touched
            np.testing.assert_array_equal(extra[low:high], old_extra[low:high])
            np.testing.assert_array_equal(rows[low:high], old_rows[low:high])
            for column in range(len(state.hidden)):
                begin, size = clusters[cluster, FIXED + EACH * column], clusters[cluster, FIXED + EACH * column + 1]
                np.testing.assert_array_equal(items[begin : begin + size], old_items[begin : begin + size])
            continue
        own = range(family.begin[cluster], family.begin[cluster + 1])
        # the children are runs, one after the other, of the cluster's own rows
        assert [tuple(lines[child, :2]) for child in own] == list(
            pairwise(np.cumsum([low, *(len(children[child]) for child in own)]).tolist())
        )
        assert [lines[child, 3] for child in own] == [len(children[child]) for child in own]
        assert all(lines[child, -1] == clusters[cluster, -1] for child in own)
        gone = sum(len(children[child]) for child in own if family.left_out[child])
        assert all(lines[child, 2] == 0 for child in own if family.left_out[child])
        assert all(lines[child, 2] >= 0 for child in own)
        assert sum(lines[child, 2] for child in own) + gone == state.budgets[cluster]
        for child in own:
            place = slice(lines[child, 0], lines[child, 1])
            before = children[child]
            np.testing.assert_array_equal(rows[place], old_rows[before])
            np.testing.assert_array_equal(extra[place, : TALLIED + 1], old_extra[before, : TALLIED + 1])
            for column, cell in enumerate(state.cells):
                node = family.node[child] if way[cluster] == 1 + column else -1
                expected = [[n for n in state.hidden[column][row] if n != node] for row in before]
                assert read_back(items, extra, lines[child], column, cell) == expected
                had = extra[place, cell] >> item_choices.HIDDEN
                assert had.tolist() == [state.had[column][row] for row in before]
                more = int((1.0 - share[column, node]) * UNIT) if node >= 0 else 0
                assert lines[child, FIXED + EACH * column + 2] == state.disclosed[column][cluster] + more
    # the items of different children do not overlap
    taken = Counter()
    for line in [*lines, *clusters[way < 0]]:
        for column in range(len(state.hidden)):
            begin, size = line[FIXED + EACH * column], line[FIXED + EACH * column + 1]
            taken.update(range(begin, begin + size))
    assert all(times == 1 for times in taken.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_budgets_are_handed_down_in_proportion(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 50, random.integers(1, 9))
    budget = int(random.integers(0, 100))
    line = np.array([10, 10 + sizes.sum(), budget, sizes.sum(), 5])
    lines = np.zeros((len(sizes), 5), np.int64)
    scattering.new_lines(line, 4, sizes, np.zeros(len(sizes), np.bool_), lines, 0, len(sizes))
    assert lines[:, 2].sum() == budget
    assert (np.abs(lines[:, 2] - budget * sizes / sizes.sum()) <= 1).all()


# ---- what classes have in common


def as_sets(records: list[list[int]]):
    offsets = np.concatenate(([0], np.cumsum([len(record) for record in records]))).astype(np.int64)
    return offsets, np.array([item for record in records for item in sorted(record)], np.uint32)


def random_classes(seed: int, most: int):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, random.integers(1, 6))
    begin = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    share = random.choice([0.2, 0.6, 0.9])
    records = [[item for item in range(most) if random.random() < share] for _ in range(begin[-1])]
    return records, random.permutation(int(begin[-1])), begin


@pytest.mark.parametrize("seed", range(80))
def test_common_items(seed):
    records, order, begin = random_classes(seed, 1 + seed % 9)
    offsets, items = as_sets(records)
    classes = len(begin) - 1
    of_row = np.empty(len(order), np.int32)
    of_row[order] = np.repeat(np.arange(classes), np.diff(begin))
    lengths = np.full(classes, -1, np.int64)
    common_items.first_lengths(offsets, of_row, lengths)
    assert lengths.tolist() == [len(records[min(order[low:high])]) for low, high in pairwise(begin.tolist())]
    room = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    found = np.full(room[-1] + 1, -1, np.int64)
    inverse, filled, disclosed = np.zeros(classes), np.zeros(classes, np.int64), np.full(classes, -1, np.int64)
    sets = common_items.FlatSets(offsets, items)
    common = common_items.InCommon(room, found, disclosed, inverse, disclosed)
    for first, last in ((0, classes // 2), (classes // 2, classes)):  # in two parts, as two threads do it
        common_items.common_items(sets, of_row, first, last, common, filled)
    share = (filled - disclosed * inverse) / np.diff(begin)
    ends = np.concatenate(([0], np.cumsum(disclosed))).astype(np.int64)
    packed = np.empty(ends[-1], np.int64)
    common_items.squeeze(room, found, disclosed, ends, packed)
    for group, (low, high) in enumerate(pairwise(begin.tolist())):
        held = [set(records[row]) for row in order[low:high]]
        common = set.intersection(*held)
        assert packed[ends[group] : ends[group + 1]].tolist() == sorted(common)
        assert share[group] == pytest.approx(np.mean([1 - len(common) / len(s) if s else 0.0 for s in held]))


def lowest_nodes(records: list[list[int]], taxonomy) -> set[int]:
    """The lowest nodes that all records hold, by walking up from what is not shown yet, a level at a time."""
    path = taxonomy.path.tolist()
    shown: set[int] = set()
    for depth in range(len(path[0]) - 1, 0, -1):
        held = [
            {path[item][depth] for item in record if not shown & set(path[item][depth + 1 :])} for record in records
        ]
        shown |= set.intersection(*held)
    return shown


@pytest.mark.parametrize("seed", range(120))
def test_common_nodes(seed):
    _, taxonomy = tree_forest(seed)
    records, order, begin = random_classes(seed, len(taxonomy.path))
    offsets, items = as_sets(records)
    classes, levels = len(begin) - 1, taxonomy.path.shape[1] - 1
    room = np.concatenate(([0], np.cumsum(levels * np.diff(offsets)[order[begin[:-1]]]))).astype(np.int64)
    found = np.full(room[-1] + 1, -1, np.int64)
    share = np.full(classes, -1.0)
    shown, disclosed = np.full(classes, -1, np.int64), np.full(classes, -1, np.int64)
    sets, rows = common_items.FlatSets(offsets, items), common_items.ClassRows(order, begin)
    tree = common_items.ItemTree(taxonomy.path, taxonomy.share)
    common = common_items.InCommon(room, found, shown, share, disclosed)
    common_items.common_nodes(sets, rows, 0, classes, tree, common)
    leaf = taxonomy.is_leaf
    for group, (low, high) in enumerate(pairwise(begin.tolist())):
        held = [records[row] for row in order[low:high]]
        expected = lowest_nodes(held, taxonomy)
        nodes = found[room[group] : room[group] + shown[group]].tolist()
        assert sorted(nodes) == sorted(expected)
        assert 0 not in nodes
        assert disclosed[group] == sum(bool(leaf[node]) for node in expected)
        losses = []
        for record in held:
            each = []
            for item in record:
                above = [node for node in taxonomy.path[item, :0:-1].tolist() if node in expected]
                each.append(taxonomy.share[above[0]] if above else 1.0)
            losses.append(np.mean(each) if each else 0.0)
        assert share[group] == pytest.approx(np.mean(losses))


def test_common_nodes_by_hand():
    # A over a1, a2, a3. Both hold a1, which is shown; their other items are a2 and a3, so that A is shown as well.
    path = np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 5, 5]], np.int32)
    weight = np.array([1.0, 0.75, 0.0, 0.0, 0.0, 0.0])
    offsets, items = as_sets([[0, 1, 3], [0, 2], [0], [0, 1]])
    found, shown = np.full(20, -1, np.int64), np.zeros(2, np.int64)
    share, disclosed = np.zeros(2), np.zeros(2, np.int64)
    room = np.array([0, 10])
    sets, rows = common_items.FlatSets(offsets, items), common_items.ClassRows(np.arange(4), np.array([0, 2, 4]))
    common = common_items.InCommon(room, found, shown, share, disclosed)
    common_items.common_nodes(sets, rows, 0, 2, common_items.ItemTree(path, weight), common)
    assert sorted(found[: shown[0]].tolist()) == [1, 2]
    assert sorted(found[10 : 10 + shown[1]].tolist()) == [2]  # the first of these two holds nothing else below A
    # a1 loses nothing; a2 is under A: 3/4; the other item is hidden: 1. Three and two items.
    assert share[0] == pytest.approx(((0 + 0.75 + 1) / 3 + 0.75 / 2) / 2)
    assert share[1] == pytest.approx((0 + 1 / 2) / 2)
    assert disclosed.tolist() == [1, 1]


# ---- losses of single columns, and atoms


@pytest.mark.parametrize("width", [0, 2])
def test_losses_of_several_clusters(width):
    cluster = Cluster([(0, 0), (1, 1), (1, 2), (3, 0)], [1] * 4, [number_column("n", [0, 1, 2, 4]), set_column("s", 4)])
    rows, _ = cluster.arrays()
    if not width:
        cluster = Cluster([()] * 4, [1] * 4, [])
        rows = np.empty((4, 0), np.uint16)
    axes = cluster.axes
    clusters = np.array([[0, 1, 0, 1], [1, 3, 0, 2], [0, 4, 0, 4]])
    found = splits.losses(rows, clusters, axes, value_orders.scratch(axes, 4))
    # n: one value; two equal ones; 0 to 4. s: one value; 2 of 4; 3 of 4.
    expected = [[0.0, 0.0], [0.0, 0.5], [1.0, 0.75]]
    np.testing.assert_allclose(found, [line[:width] for line in expected])


def naive_atoms(columns):
    lines = np.stack(columns, axis=1)
    codes, of_row, count = np.unique(lines, axis=0, return_inverse=True, return_counts=True)
    return codes, of_row.reshape(-1), count


@pytest.mark.parametrize("way", ["counted", "gathered", "records"])
@pytest.mark.parametrize("seed", range(12))
def test_atoms_are_the_same_whichever_way_they_are_found(seed, way, monkeypatch):
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 400)) + (2000 if way == "records" else 0)  # a sample must not be empty
    sizes = [int(n) for n in random.choice([1, 2, 7, 40, 300], random.integers(1, 5))]
    columns = [random.integers(0, size, rows).astype(np.uint16) for size in sizes]
    if way != "counted":
        monkeypatch.setattr(atoms_module, "LARGEST_TABLE", 0)
    else:  # a cell for every combination, if that is at all possible
        monkeypatch.setattr(atoms_module, "CELLS", 1 << 40, raising=False)
    if way == "records":
        monkeypatch.setattr(atoms_module, "FEW", 0)
        monkeypatch.setattr(atoms_module, "WORTHWHILE", -1.0)
        assert find_atoms(columns, sizes, rows) is None
        monkeypatch.setattr(atoms_module, "WORTHWHILE", 1.0)
    found = find_atoms(columns, sizes, rows)
    codes, of_row, count = naive_atoms(columns)
    np.testing.assert_array_equal(found.codes, codes)
    np.testing.assert_array_equal(found.of_row, of_row)
    np.testing.assert_array_equal(found.count, count)


def test_the_guess_whether_atoms_are_worthwhile_does_not_depend_on_the_order(monkeypatch):
    monkeypatch.setattr(atoms_module, "LARGEST_TABLE", 0)
    monkeypatch.setattr(atoms_module, "FEW", 1000)
    random = np.random.default_rng(0)
    alone = [np.arange(20_000, dtype=np.uint32), random.integers(0, 9, 20_000).astype(np.uint8)]
    often = [random.integers(0, 50, 20_000).astype(np.uint32), random.integers(0, 9, 20_000).astype(np.uint8)]
    for columns, found in ((alone, False), (often, True)):
        order = random.permutation(20_000)
        assert (find_atoms(columns, [20_000, 9], 20_000) is not None) == found
        assert (find_atoms([column[order] for column in columns], [20_000, 9], 20_000) is not None) == found


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), max_size=60))
def test_keys_are_counted_and_numbered(keys):
    given = np.array(keys, np.uint32)
    counts = np.zeros(21, np.uint32)
    present = np.concatenate([count_keys(given, counts, 0, 7), count_keys(given, counts, 7, 21)])
    assert counts.tolist() == np.bincount(given, minlength=21).tolist()
    assert present.tolist() == sorted(set(keys))
    number_keys(given, counts, present)
    assert given.tolist() == [sorted(set(keys)).index(key) for key in keys]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 4), max_size=60))
def test_keys_are_gathered_by_first_appearance(keys):
    of_row = np.full(len(keys), 99, np.uint32)
    found = gather_keys(np.array(keys, np.uint64), of_row)
    seen = {}
    assert of_row.tolist() == [seen.setdefault(key, len(seen)) for key in keys]
    assert found.tolist() == list(seen)


@pytest.mark.parametrize("different", [(1 << 15) - 1, 1 << 15, (1 << 15) + 1, 200_000])
@pytest.mark.parametrize("step", [1, 1 << 32, 3], ids=["near", "far", "odd"])
def test_very_many_keys_are_gathered(different, step):
    # where the table is full it is doubled, and everything found so far is looked up in the new one
    keys = np.arange(different, dtype=np.uint64) * np.uint64(step)
    keys = np.concatenate([keys, keys[::-1]])
    of_row = np.empty(len(keys), np.uint32)
    found = gather_keys(keys, of_row)
    np.testing.assert_array_equal(found, keys[:different])
    np.testing.assert_array_equal(found[of_row], keys)
