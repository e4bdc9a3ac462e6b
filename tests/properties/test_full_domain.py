"""The search against brute force: every node of the lattice, in plain Python, on random tables, trees and models."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import PolicyUnmetError
from sudare.hierarchies import build
from sudare.methods.lattice.exploration import explore
from sudare.methods.lattice.full_domain import full_domain
from sudare.metrics import METRICS
from sudare.models import MODELS, Requirements
from sudare.policy import HierarchySpec
from sudare.table import Table, encode_column, generalize

LOSSES = ("arx", "gcp", "discernibility", "class-size", "entropy", "precision")
METRIC = {"arx": "arx", "gcp": "gcp", "discernibility": "discernibility", "entropy": "entropy"}


class Case:
    """A random table with random trees and requirements."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.rows = int(random.integers(6, 45))
        self.paths: dict[str, dict[str, list[str]] | None] = {}
        self.cells: dict[str, list[str | None]] = {}
        for name in "abc"[: random.integers(1, 4)]:
            leaves = [f"{name}{index}" for index in range(random.integers(1, 7))]
            self.paths[name] = None if random.random() < 0.3 else tree(leaves, int(random.integers(0, 3)), random)
            missing = [None] if random.random() < 0.3 else []
            common = random.dirichlet(np.full(len(leaves + missing), 0.7))
            self.cells[name] = random.choice(np.array(leaves + missing, dtype=object), self.rows, p=common).tolist()
        self.weights = {name: float(random.choice([1.0, 1.0, 1.0, 2.0, 0.5])) for name in self.cells}
        self.secret = random.choice(list("pqrs"), self.rows, p=[0.4, 0.3, 0.2, 0.1]).tolist()
        self.people = random.integers(0, max(self.rows * 2 // 3, 1), self.rows).tolist()
        self.limit = float(random.choice([0.0, 0.05, 0.2, 0.5, 1.0]))
        self.masked = bool(random.random() < 0.3)
        self.loss = LOSSES[seed % len(LOSSES)]
        self.asked = self._asked(random)

    def _asked(self, random) -> list[tuple[str, dict]]:
        some = [name for name in self.cells if random.random() < 0.6] or list(self.cells)[:1]
        choices = [
            ("k-anonymity", {"k": int(random.integers(2, 5))}),
            ("k-anonymity", {"k": int(random.integers(2, 4)), "count": "subjects"}),
            ("k-anonymity", {"k": int(random.integers(2, 7)), "columns": some}),
            ("k-anonymity", {"k": int(random.integers(2, 5)), "columns": some, "count": "subjects"}),
            ("l-diversity", {"l": 2, "column": "s"}),
            ("l-diversity", {"l": float(random.choice([1.5, 2.0, 2.5])), "column": "s", "variant": "entropy"}),
            ("l-diversity", {"l": 2, "column": "s", "variant": "recursive", "c": 2.0}),
            ("t-closeness", {"t": float(random.choice([0.2, 0.4])), "column": "s"}),
            ("alpha-k-anonymity", {"alpha": 0.7, "k": 2, "column": "s"}),
            ("beta-likeness", {"beta": 1.5, "column": "s"}),
        ]
        picked = random.choice(len(choices), int(random.integers(1, 4)), replace=False)
        return [choices[index] for index in picked]

    # -- for the search

    def table(self) -> Table:
        quasi = {}
        for name, cells in self.cells.items():
            column = encode_column(name, pa.array(cells, pa.string()), kind="categorical", weight=self.weights[name])
            paths = self.paths[name]
            if paths is not None:
                spec = HierarchySpec.model_validate({"tree": nested(paths)})
                grown = build(spec, column.values, folder=Path(), column=name)
                column = column.reordered(*grown.taxonomy(column.values, column.missing))
            quasi[name] = column
        return Table(
            self.rows,
            quasi,
            {"s": encode_column("s", pa.array(self.secret))},
            encode_column("who", pa.array(self.people), kind="categorical"),
        )

    def requirements(self) -> Requirements:
        return Requirements(tuple(MODELS[name](**given) for name, given in self.asked), self.limit, self.masked)

    # -- the same by hand

    def top(self, name: str) -> int:
        paths = self.paths[name]
        return 1 if paths is None else len(next(iter(paths.values()))) - 1

    def shows(self, name: str, row: int, level: int) -> str | None:
        value, paths = self.cells[name][row], self.paths[name]
        if level == self.top(name):
            return "*"
        return value if value is None or paths is None else paths[value][level]

    def kept(self, levels: dict[str, int]) -> set[int]:
        """The records that are released: what fails is left out, until nothing fails."""
        rows = set(range(self.rows))
        while True:
            passing = {row for group in self.groups(rows, levels).values() if self.passes(group, rows) for row in group}
            for name, given in self.asked:
                if name == "k-anonymity" and "columns" in given and "count" not in given:
                    parts = self.groups(passing, {column: levels[column] for column in given["columns"]})
                    passing = {row for part in parts.values() if self.enough(part, given) for row in part}
            if passing == rows:
                return rows
            rows = passing

    def groups(self, rows, levels) -> dict[tuple, list[int]]:
        found = defaultdict(list)
        for row in sorted(rows):
            found[tuple(self.shows(name, row, level) for name, level in levels.items())].append(row)
        return found

    def enough(self, rows, given) -> bool:
        return len({self.people[row] for row in rows} if given.get("count") == "subjects" else rows) >= given["k"]

    def passes(self, group, rows, everything=False) -> bool:
        whole = range(self.rows) if self.masked else rows
        overall = {v: n / len(whole) for v, n in Counter(self.secret[row] for row in whole).items()}
        counts = Counter(self.secret[row] for row in group)
        share = {value: count / len(group) for value, count in counts.items()}
        for name, given in self.asked:
            if name == "k-anonymity":
                # people are counted in classes, whatever columns a promise is about
                partly = "columns" in given and "count" not in given
                good = self.enough(group, given) or (partly and not everything)
            elif name == "l-diversity":
                ranked = sorted(counts.values(), reverse=True)
                entropy = -sum(p * math.log(p) for p in share.values())
                good = {
                    "distinct": len(counts) >= given["l"],
                    "entropy": entropy >= math.log(given["l"]) - 1e-9,
                    "recursive": ranked[0] < given.get("c", 0) * sum(ranked[int(given["l"]) - 1 :]),
                }[given.get("variant", "distinct")]
            elif name == "t-closeness":
                good = sum(abs(share.get(v, 0) - q) for v, q in overall.items()) / 2 <= given["t"] + 1e-9
            elif name == "alpha-k-anonymity":
                good = len(group) >= given["k"] and max(share.values()) <= given["alpha"] + 1e-9
            else:
                good = all(
                    (p - overall[v]) / overall[v] <= min(given["beta"], -math.log(overall[v])) + 1e-9
                    for v, p in share.items()
                    if p > overall[v]
                )
            if not good:
                return False
        return True

    def allowed(self, kept: set[int]) -> bool:
        left = set(range(self.rows)) - kept
        if not kept or len(left) > self.limit * self.rows + 1e-9:
            return False
        return not left or not self.masked or self.passes(sorted(left), kept, everything=True)

    def value(self, levels: dict[str, int], kept: set[int]) -> float:
        groups = list(self.groups(kept, levels).values())
        if self.loss == "discernibility":
            return sum(len(rows) ** 2 for rows in groups) + (self.rows - len(kept)) * self.rows
        if self.loss == "class-size":
            return self.rows / len(groups)
        figures = [self.column_loss(name, level, kept) * self.weights[name] for name, level in levels.items()]
        return sum(figures) / sum(self.weights.values())

    def column_loss(self, name: str, level: int, kept: set[int]) -> float:
        cells, paths, top = self.cells[name], self.paths[name], self.top(name)
        if self.loss == "entropy":
            frequency = Counter(cells)
            own = sum(n * math.log2(n) for n in frequency.values())
            most = self.rows * math.log2(self.rows) - own
            if most <= 0:
                return 0.0
            shown = Counter(self.shows(name, row, level) for row in range(self.rows))
            bits = sum(math.log2(shown[self.shows(name, row, level)]) for row in kept)
            return (bits + (self.rows - len(kept)) * math.log2(self.rows) - own) / most
        size = len(set(cells)) if paths is None else len(paths)
        if self.loss == "arx" and size == 1:
            return 0.0

        def cell(row: int) -> float:
            label = self.shows(name, row, level)
            if level == top:
                return 1.0
            if label is None or paths is None or label == cells[row]:
                return 0.0
            below = sum(path[level] == label for path in paths.values()) / size
            if self.loss == "arx":
                return (below - 1 / size) / (1 - 1 / size)
            deepest = max(len(set(path)) - 1 for path in paths.values())
            return below if self.loss == "gcp" else 1 - (top - level) / deepest

        return (sum(cell(row) for row in kept) + self.rows - len(kept)) / self.rows

    def every_node(self) -> dict[tuple[int, ...], float]:
        """The loss of each node that keeps the requirements."""
        found = {}
        for levels in itertools.product(*(range(self.top(name) + 1) for name in self.cells)):
            named = dict(zip(self.cells, levels, strict=True))
            kept = self.kept(named)
            if self.allowed(kept):
                found[levels] = self.value(named, kept)
        return found


def tree(leaves: list[str], between: int, random) -> dict[str, list[str]]:
    """Paths from leaf to root, with some levels between in which groups join at random; a few leaves are spare."""
    paths = {leaf: [leaf] for leaf in [*leaves, *(f"{leaves[0]}-spare{i}" for i in range(random.integers(0, 3)))]}
    short = {leaf for leaf in paths if random.random() < 0.3}  # these stand for themselves up to some level
    for level in range(between):
        groups = sorted({path[-1] for leaf, path in paths.items() if leaf not in short})
        into = {group: f"{group[0]}L{level}G{random.integers(0, max(len(groups) // 2, 1))}" for group in groups}
        for leaf, path in paths.items():
            path.append(path[-1] if leaf in short else into[path[-1]])
        short = {leaf for leaf in short if random.random() < 0.5}
    return {leaf: [*path, "*"] for leaf, path in paths.items()}


def nested(paths: dict[str, list[str]]) -> dict:
    """The same as a tree: groups are mappings, leaves have nothing below them."""
    root: dict = {}
    for leaf, *above in paths.values():
        at = root
        for label in reversed(above):
            at = at.setdefault(label, {})
        at[leaf] = None
    return root


@pytest.mark.parametrize("seed", range(150))
def test_no_node_is_better(seed):
    case = Case(seed)
    table, expected = case.table(), case.every_node()
    if not expected:
        with pytest.raises(PolicyUnmetError):
            full_domain(table, case.requirements(), loss=case.loss)
        return
    partition = full_domain(table, case.requirements(), loss=case.loss)
    facts = partition.facts
    least = min(expected.values())
    assert facts["value"] == pytest.approx(least, abs=1e-9)
    chosen = tuple(facts["levels"].values())
    assert expected[chosen] == pytest.approx(least, rel=1e-12, abs=1e-12)
    equal = [levels for levels, loss in expected.items() if loss <= least + 1e-11 * max(abs(least), 1)]
    assert (facts["ties"], facts["optimal"]) == (len(equal) - 1, True)
    # and it shows what these levels show, and leaves out what has to be left out
    levels = dict(zip(case.cells, chosen, strict=True))
    shown = generalize(table, partition)
    assert shown.lost == case.rows - len(case.kept(levels))
    assert shown.masked == (shown.lost if case.masked else 0)
    if case.loss in METRIC and len(set(case.weights.values())) == 1:
        assert METRICS[METRIC[case.loss]](shown).total == pytest.approx(least, abs=1e-9)
    with_time = full_domain(table, case.requirements(), loss=case.loss, time_limit=60)
    assert with_time.facts["levels"] == facts["levels"]
    np.testing.assert_array_equal(with_time.classes, partition.classes)


@pytest.mark.parametrize("seed", range(200, 240))
def test_exploring_lists_the_best_and_all_minimal_nodes(seed):
    case = Case(seed)
    expected = case.every_node()
    if not expected:
        return
    found = explore(case.table(), case.requirements(), loss=case.loss, best=4)
    ranked = sorted(expected.values())[:4]
    assert [node.loss for node in found.best] == pytest.approx(ranked, abs=1e-9)
    for node in found.best:
        assert expected[node.levels] == pytest.approx(node.loss, abs=1e-9)

    def finer(one, other):
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    minimal = {levels for levels in expected if not any(finer(other, levels) for other in expected)}
    assert {node.levels for node in found.minimal} == minimal
    for node, keeps in found.around:
        assert keeps == (node.levels in expected)
