"""Tables cut into shards: what happens to them where rows are spread over many machines, acted out in one place."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.methods.topdown.distributed.distributed_frame import Plan, Shape, spread_mondrian, spread_top_down
from sudare.methods.topdown.distributed.questions import Task
from sudare.methods.topdown.mondrian import mondrian
from sudare.methods.topdown.top_down import top_down
from sudare.models import KAnonymity, LDiversity, Requirements, TCloseness
from sudare.table import SUPPRESSED, Column, ItemSets, Partition, Table, Taxonomy

TREES = [
    [[0, 1, 2], [3, 4], [5]],
    [[0], [1, 2, 3, 4, 5, 6, 7], [8, 9]],
    [[0, 1], [2, 3], [4, 5], [6, 7]],
]


@dataclass
class Cluster:
    """Machines that hold some rows of a table each, in no particular order."""

    table: Table
    rows: list[np.ndarray]
    random: np.random.Generator
    tasks: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    apart: bool = False

    @property
    def shards(self) -> list[Table]:
        shards = [self.table.taken(rows) for rows in self.rows]
        if not self.apart:
            return shards
        # nobody is in two shards: people may be called there as each shard likes, and there is no dictionary of them
        called = [
            replace(shard.subject, codes=shard.subject.codes.astype(np.uint32) + 1000, values=pa.nulls(0))
            for shard in shards
        ]
        return [replace(shard, subject=who) for shard, who in zip(shards, called, strict=True)]

    def gather(self, task: Task) -> list[Any]:
        """Send the task as bytes, lose some answers and ask again, merge some of them on the way."""
        sent = pickle.dumps(task)
        self.tasks.append(len(sent))
        answers = []
        for shard in self.shards:
            there = pickle.loads(sent)
            if self.random.random() < 0.1:
                there(shard)
            back = pickle.dumps(there(shard))
            self.answers.append(len(back))
            answers.append(pickle.loads(back))
        self.random.shuffle(answers)
        if len(answers) > 2 and self.random.random() < 0.5:
            answers = [task.merge(answers[0], answers[1]), *answers[2:]]
        return answers

    def solved(self, plan: Plan, bundle: int) -> Partition:
        """Bring the rows of bundles of parts together, and solve each where it is."""
        plan = pickle.loads(pickle.dumps(plan))
        parts = np.full(self.table.rows, -2)
        for rows, shard in zip(self.rows, self.shards, strict=True):
            parts[rows] = plan.route(shard)
        bundles = plan.bundles(bundle)
        classes, count = np.full(self.table.rows, SUPPRESSED), 0
        for number in np.unique(bundles).tolist():
            rows = np.flatnonzero((parts >= 0) & (bundles[np.maximum(parts, 0)] == number))
            rows = self.random.permutation(rows)
            found = plan.solve(self.table.taken(rows), parts[rows])
            classes[rows] = np.where(found.classes >= 0, found.classes + count, SUPPRESSED)
            count += found.count
        return Partition(classes, count)


def cut(table: Table, shards: int, seed: int, *, apart: bool = False) -> Cluster:
    """Cut a table into shards at random; with ``apart`` nobody is in two of them."""
    random = np.random.default_rng(seed)
    order = random.permutation(table.rows)
    if apart and table.subject is not None:
        owner = random.integers(0, shards, table.subject.size)[table.subject.codes[order]]
    else:
        owner = random.integers(0, shards, table.rows)
    rows = [order[owner == shard] for shard in range(shards)]
    return Cluster(table, rows, random, apart=apart and table.subject is not None)


def decided(name: str, table: Table, requirements: Requirements, **options: Any) -> Partition:
    """The classes that the method makes in one place."""
    return (mondrian if name == "mondrian" else top_down)(table, requirements, **options)


def shape_of(table: Table) -> Shape:
    """What a driver knows of a table."""
    totals = {
        name: np.bincount(column.codes, minlength=column.size).astype(np.int64)
        for name, column in table.sensitive.items()
    }
    people = 0 if table.subject is None else len(np.unique(table.subject.codes))
    nothing = replace(table.taken(np.zeros(0, np.int64)), carried=None)
    return Shape(nothing, table.rows, totals, people)


def planned(name: str, cluster: Cluster, requirements: Requirements, **options: Any) -> Plan:
    """The plan for the same, spread out."""
    method = spread_mondrian if name == "mondrian" else spread_top_down
    return method(shape_of(cluster.table), requirements, cluster.gather, **options)


def classes(partition: Partition) -> list[int]:
    """The class of each record, numbered by first appearance."""
    seen: dict[int, int] = {}
    return [SUPPRESSED if c == SUPPRESSED else seen.setdefault(c, len(seen)) for c in partition.classes.tolist()]


def tree_of(groups: list[list[int]]) -> Taxonomy:
    """A tree of two levels over the codes; a group of one is a short branch."""
    labels, parent, leaves, path = ["*"], [-1], [sum(map(len, groups))], []
    for number, group in enumerate(groups):
        labels.append(f"g{number}")
        parent.append(0)
        leaves.append(len(group))
        above = len(labels) - 1
        for code in group:
            if len(group) == 1:
                path.append([0, above, above])
                continue
            labels.append(f"v{code}")
            parent.append(above)
            leaves.append(1)
            path.append([0, above, len(labels) - 1])
    return Taxonomy(tuple(labels), np.array(parent, np.int32), np.array(leaves, np.int32), np.array(path, np.int32))


def _column(kind: str, name: str, random: np.random.Generator, rows: int) -> Column | ItemSets:
    weight = float(random.choice([1.0, 0.5, 2.0, 0.3]))
    tree = tree_of(TREES[random.integers(len(TREES))]) if kind in ("tree", "tree of items") else None
    size = len(tree.path) if tree is not None else int(random.integers(1, 10))
    size = {"many numbers": 2000, "many categories": 300}.get(kind, size)
    values = pa.array([f"{code:05d}" for code in range(size)])
    share = random.dirichlet(np.full(size, 2.0 if kind.startswith("many") else 0.5))
    if "items" in kind:
        sets = [np.unique(random.choice(size, random.integers(0, 6), p=share)) for _ in range(rows)]
        if random.random() < 0.5:
            sets = [np.union1d(items, [0]) for items in sets]  # something to be disclosed at once
        offsets = np.concatenate(([0], np.cumsum([len(items) for items in sets]))).astype(np.int64)
        items = np.concatenate([np.zeros(0), *sets]).astype(np.uint16)
        return ItemSets(name, offsets, items, values, taxonomy=tree, weight=weight)
    missing = tree is None and bool(random.random() < 0.3)
    positions = np.sort(random.normal(size=size)) if "number" in kind else None
    codes = random.choice(size, rows, p=share).astype(np.uint16)
    if missing:
        codes[random.random(rows) < 0.1] = size
    values = pa.array(positions) if positions is not None else values
    sort = "categorical" if positions is None else "numeric"
    return Column(name, sort, codes, values, missing, positions, tree, weight)  # type: ignore[arg-type]


KINDS = ("number", "category", "tree", "many categories", "items", "tree of items")


def random_table(random: np.random.Generator, rows: int, kinds: tuple[str, ...] = KINDS) -> Table:
    """A table with one to five quasi-identifiers, two sensitive columns, and about two records per person."""
    drawn = random.choice(kinds, random.integers(1, 6))
    people = max(rows // 2, 1)
    codes = {
        "few": random.choice(4, rows, p=random.dirichlet(np.ones(4))),
        "several": random.integers(0, 30, rows),
        "who": random.integers(0, people, rows),
    }
    held = {name: cells.astype(np.uint16) for name, cells in codes.items()}
    few = Column("few", "categorical", held["few"], pa.array(list("abcd")))
    several = Column("several", "numeric", held["several"], pa.array(range(30)), positions=np.arange(30.0))
    who = Column("who", "categorical", held["who"], pa.array([str(number) for number in range(people)]))
    return Table(
        rows,
        {f"q{index}": _column(str(kind), f"q{index}", random, rows) for index, kind in enumerate(drawn)},
        {"few": few, "several": several},
        who,
    )


def random_requirements(random: np.random.Generator, ks: tuple[int, ...] = (2, 2, 3, 5)) -> Requirements:
    """Requirements of all kinds; records may be left out, unless limits are against the whole release."""
    k = int(random.choice(ks))
    more: list[tuple[Any, ...]] = [
        (KAnonymity(k),),
        (KAnonymity(k), LDiversity(2, "few")),
        (LDiversity(1.5, "few", "entropy"),),
        (KAnonymity(k), LDiversity(3, "several", "recursive", 2.0)),
        (KAnonymity(k), TCloseness(float(random.choice([0.1, 0.3, 0.6])), "few")),
        (TCloseness(0.3, "several", "ordered"), LDiversity(2, "few")),
        (KAnonymity(k, count="subjects"),),
        (KAnonymity(k, count="subjects"), LDiversity(3, "several")),
    ]
    models = more[random.integers(len(more))]
    whole = any(model.depends_on_whole for model in models)
    return Requirements(models, 0.0 if whole else float(random.choice([0.0, 0.0, 0.05, 0.2])))


def baskets(seed: int, rows: int = 300) -> Table:
    """Sets of several items each, under three nodes of a tree: what is shared, rare, and lifted changes on the way."""
    random = np.random.default_rng(seed)
    size = 20
    share = random.dirichlet(np.ones(size))
    sets = [np.unique(random.choice(size, random.integers(3, 9), p=share)) for _ in range(rows)]
    offsets = np.concatenate(([0], np.cumsum([len(items) for items in sets]))).astype(np.int64)
    tree = tree_of([list(range(6)), list(range(6, 12)), list(range(12, 20))])
    values = pa.array([f"{code:02d}" for code in range(size)])
    return Table(rows, {"q": ItemSets("q", offsets, np.concatenate(sets).astype(np.uint16), values, taxonomy=tree)})
