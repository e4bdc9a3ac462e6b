"""Top-down specialization on random tables: every step against a full recount, in plain Python."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import PolicyUnmetError
from sudare.hierarchies import build
from sudare.methods.tds.cuts import Cut
from sudare.methods.tds.top_down_specialization import tds
from sudare.models import KAnonymity, LDiversity, Requirements, TCloseness
from sudare.policy import HierarchySpec
from sudare.table import Table, encode_column, generalize

from .test_full_domain import nested, tree


def random_table(seed: int) -> Table:
    """Trees with short branches, flat categories and numbers, missing cells, and a class that some of it tells."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(20, 120))
    signal = random.random(rows)
    quasi = {}
    for name in "abcd"[: random.integers(1, 5)]:
        kind = random.choice(["tree", "flat", "number"])
        noise = 0.5 * signal + 0.5 * random.random(rows)
        values: list[object] = [f"{name}{int(x * random.integers(2, 7))}" for x in noise]
        if kind == "number":
            values = [int(x * 12) for x in noise]
        if random.random() < 0.4:
            values = [None if random.random() < 0.1 else value for value in values]
        column = encode_column(name, pa.array(values), kind="numeric" if kind == "number" else "categorical")
        if kind == "tree":
            leaves = [str(value) for value in column.values.to_pylist()]
            spec = HierarchySpec.model_validate({"tree": nested(tree(leaves, int(random.integers(0, 3)), random))})
            grown = build(spec, column.values, folder=Path(), column=name)
            column = column.reordered(*grown.taxonomy(column.values, column.missing))
        quasi[name] = column
    target = encode_column("y", pa.array(["x" if s > 0.6 else "z" if s > 0.3 else "w" for s in signal]))
    secret = encode_column("s", pa.array(random.choice(list("pqr"), rows).tolist()))
    people = encode_column("who", pa.array(random.integers(0, rows * 2 // 3, rows).tolist()), kind="categorical")
    return Table(rows, quasi, {"s": secret}, people, target=target)


def shown(cut: Cut, row: int) -> tuple[int, ...]:
    return tuple(int(tree.now[column.codes[row]]) for column, tree in zip(cut.columns, cut.trees, strict=True))


def table_info(cut: Cut, table: Table, w: float) -> float:
    """Count everything anew."""
    groups = defaultdict(Counter)
    for row in range(table.rows):
        groups[shown(cut, row)][int(table.target.codes[row])] += 1
    doubt = split = 0.0
    for counts in groups.values():
        size = sum(counts.values())
        doubt -= sum(n / table.rows * math.log2(n / size) for n in counts.values())
        split -= size / table.rows * math.log2(size / table.rows)
    return w * doubt + (1 - w) * split


def requirements(seed: int, table: Table) -> Requirements:
    names = list(table.quasi)
    choices = [
        (KAnonymity(4),),
        (KAnonymity(3, "subjects"),),
        (KAnonymity(6, columns=names[:1]), KAnonymity(2, columns=names[-2:])),
        (KAnonymity(2), LDiversity(2, "s")),
        (KAnonymity(2), TCloseness(0.5, "s")),
        (KAnonymity(4, "subjects", names[:2]), KAnonymity(2)),
    ]
    return Requirements(choices[seed % len(choices)])


def holds(cut: Cut, table: Table, asked: Requirements) -> bool:
    """Test the requirements of these tests on what is shown, in plain Python."""
    names = [column.name for column in cut.columns]
    for model in asked.models:
        columns = getattr(model, "columns", None) or names
        if getattr(model, "count", "") == "subjects":
            columns = names  # people are counted in classes, whatever columns a promise is about
        groups = defaultdict(list)
        for row in range(table.rows):
            cells = shown(cut, row)
            groups[tuple(cells[names.index(name)] for name in columns)].append(row)
        for rows in groups.values():
            secrets = Counter(table.sensitive["s"].codes[rows].tolist())
            if isinstance(model, KAnonymity):
                who = set(table.subject.codes[rows].tolist()) if model.count == "subjects" else rows
                good = len(who) >= model.k
            elif isinstance(model, LDiversity):
                good = len(secrets) >= model.l
            else:
                whole = Counter(table.sensitive["s"].codes.tolist())
                good = sum(abs(secrets[v] / len(rows) - n / table.rows) for v, n in whole.items()) / 2 <= model.t + 1e-9
            if not good:
                return False
    return True


def entropy(counts: Counter) -> float:
    size = sum(counts.values())
    return -sum(n / size * math.log2(n / size) for n in counts.values())


def node_score(
    cut: Cut, trial: Cut, table: Table, asked: Requirements, candidate: tuple[int, int], score: str
) -> float:
    """Count an older score anew, from a cut and what a specialization makes of it."""
    index, node = candidate
    column, before, after = cut.columns[index], cut.trees[index].now, trial.trees[index].now
    rows = [row for row in range(table.rows) if before[column.codes[row]] == node]
    children = defaultdict(Counter)
    for row in rows:
        children[int(after[column.codes[row]])][int(table.target.codes[row])] += 1
    sizes = {child: sum(counts.values()) for child, counts in children.items()}
    gain = entropy(sum(children.values(), Counter()))
    gain -= sum(sizes[child] / len(rows) * entropy(counts) for child, counts in children.items())
    if score == "info-gain":
        return gain
    if score == "gain-ratio":
        split = entropy(Counter(sizes))
        return gain / split if split else 0.0  # a node with one child
    names = [one.name for one in cut.columns]
    subsets = []
    for model in asked.models:
        by_rows = isinstance(model, KAnonymity) and model.columns is not None and model.count == "rows"
        subsets.append([name for name in names if name in model.columns] if by_rows else names)
    losses = []
    for subset in {tuple(one) for one in subsets if column.name in one}:
        at = [names.index(name) for name in subset]
        least = [
            min(Counter(tuple(shown(one, row)[place] for place in at) for row in range(table.rows)).values())
            for one in (cut, trial)
        ]
        losses.append(least[0] - least[1])
    lost = sum(losses) / len(losses) if losses else 0
    return gain / lost if lost else gain


SCORES = ["table-info", "gain-ratio", "info-gain", "anony-loss"]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("seed", range(60))
def test_every_step_is_the_best_valid_one_by_a_full_recount(seed, score):
    table, w = random_table(seed), [0.98, 0.5, 1.0][seed % 3]
    asked = requirements(seed, table)
    cut = Cut(table, asked, w, score)
    assert cut.information == pytest.approx(table_info(cut, table, w), abs=1e-9)
    while cut.open:
        valid = {}
        for candidate in cut.ranked():
            trial = cut.copy()
            trial.specialize(candidate)
            fall = cut.information - table_info(trial, table, w)
            assert trial.information == pytest.approx(table_info(trial, table, w), abs=1e-9)
            # all scores, not only those of what changed last
            if score == "table-info":
                assert cut.scored(candidate) == pytest.approx(fall, abs=1e-9)
            else:
                expected = node_score(cut, trial, table, asked, candidate, score)
                assert cut.scored(candidate) == pytest.approx(expected, abs=1e-9)
            valid[candidate] = holds(trial, table, asked)
            assert cut.valid(candidate) == valid[candidate]
        best = next((candidate for candidate in cut.ranked() if valid[candidate]), None)
        for candidate in [candidate for candidate in cut.ranked() if not valid[candidate]]:
            cut.drop(candidate)
        if best is None:
            break
        cut.specialize(best)
    # the method does the same, and shows what is true of every record
    if not holds(Cut(table, asked, w, score), table, asked):
        return
    partition = tds(table, asked, target="y", score=score, w=w)
    assert partition.facts["table_info"] == pytest.approx(cut.information, abs=1e-9)
    groups = {}
    for row in range(table.rows):
        assert groups.setdefault(shown(cut, row), partition.classes[row]) == partition.classes[row]
    assert len(groups) == partition.count
    generalize(table, partition)  # which refuses classes whose records differ in what they are to show


@pytest.mark.parametrize("seed", range(20))
def test_a_beam_is_never_worse_than_greedy(seed):
    table = random_table(100 + seed)
    asked = Requirements((KAnonymity(3),))
    try:
        wide = tds(table, asked, target="y", search="beam", width=3)
    except PolicyUnmetError:
        return
    greedy = tds(table, asked, target="y")
    assert wide.facts["greedy_table_info"] == pytest.approx(greedy.facts["table_info"], abs=1e-8)
    assert wide.facts["table_info"] <= greedy.facts["table_info"] + 1e-9
    assert wide.sizes.min() >= 3


def path(table: Table, asked: Requirements, score: str, w: float) -> list[float]:
    """Return the TableInfo of every cut on the greedy way, counted anew."""
    cut, found = Cut(table, asked, w, score), []
    while True:
        found.append(table_info(cut, table, w))
        best = next((candidate for candidate in cut.ranked() if cut.valid(candidate)), None)
        if best is None:
            return found
        cut.specialize(best)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("seed", range(12))
def test_least_is_the_least_on_the_way(seed, score):
    table, w = random_table(200 + seed), [0.98, 0.8, 0.6][seed % 3]
    asked = requirements(seed, table)
    try:
        end = tds(table, asked, target="y", score=score, w=w)
    except PolicyUnmetError:
        return
    least = tds(table, asked, target="y", score=score, w=w, stop="least")
    on_the_way = path(table, asked, score, w)
    assert least.facts["table_info"] == pytest.approx(min(on_the_way), abs=1e-8)
    assert on_the_way[least.facts["steps"]] == pytest.approx(min(on_the_way), abs=1e-8)
    assert min(on_the_way[: least.facts["steps"]], default=math.inf) > min(on_the_way), "the first of equal ones"
    assert end.facts["table_info"] == pytest.approx(on_the_way[-1], abs=1e-8)
    assert (end.facts["steps"], least.facts["steps"] <= end.facts["steps"]) == (len(on_the_way) - 1, True)
    generalize(table, least)
    wide = tds(table, asked, target="y", score=score, w=w, stop="least", search="beam", width=3)
    assert wide.facts["greedy_table_info"] == least.facts["table_info"]
    assert wide.facts["table_info"] <= least.facts["table_info"] + 1e-9
    order = np.random.default_rng(seed).permutation(table.rows)
    again = tds(table.taken(order), asked, target="y", score=score, w=w, stop="least")
    assert again.facts == least.facts
    pairs = set(zip(least.classes[order].tolist(), again.classes.tolist(), strict=True))
    assert len(pairs) == least.count, "the same classes, whatever the order of the rows"
