"""The kernels once more, in plain Python: records in lists, every loss from scratch.

Nothing here knows of bits, extents or prefix sums. A cluster is a list of lines (codes of all attributes), with how
many records each stands for; an attribute is a :class:`sudare.table.Column`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sudare.kernels import ordering, splits
from sudare.methods.axes import describe_axes
from sudare.table import Column, Taxonomy

MOST_TRACKED = 64 * ordering.WORDS


@dataclass
class Cluster:
    """Lines of codes, the records of each, and the attributes."""

    lines: list[tuple[int, ...]]
    amounts: list[int]
    columns: list[Column]

    @property
    def total(self) -> int:
        return sum(self.amounts)

    @property
    def axes(self) -> ordering.Axes:
        return describe_axes(self.columns)

    def arrays(self):
        rows = np.array(self.lines, dtype=np.uint16).reshape(len(self.lines), len(self.columns))
        return rows, np.array(self.amounts, dtype=np.uint32)


def number_column(name: str, places: list[float], *, missing: bool = False, weight: float = 1.0) -> Column:
    ascending = np.array(sorted(places), dtype=np.float64)
    return Column(name, "numeric", np.zeros(0, np.uint8), pa.array(ascending), missing, ascending, weight=weight)


def set_column(name: str, size: int, *, missing: bool = False, weight: float = 1.0) -> Column:
    values = pa.array([f"{i:05d}" for i in range(size)])
    return Column(name, "categorical", np.zeros(0, np.uint8), values, missing, weight=weight)


def tree_column(name: str, random: np.random.Generator, *, missing: bool = False, weight: float = 1.0) -> Column:
    """A tree of three levels with branches of uneven width and length; some leaves do not occur in the data."""
    labels, parent, leaves, paths = ["*"], [-1], [0], []

    def node(label, above):
        labels.append(label)
        parent.append(above)
        leaves.append(0)
        return len(labels) - 1

    for i in range(random.integers(1, 4)):
        group = node(f"g{i}", 0)
        if random.random() < 0.2:  # a short branch: the leaf itself stands below the root
            leaves[group] = 1
            paths.append([0, group, group, group])
            continue
        for j in range(random.integers(1, 4)):
            branch = node(f"g{i}{j}", group)
            for k in range(random.integers(1, 4)):
                leaf = node(f"v{i}{j}{k}", branch)
                leaves[leaf] = 1
                if k == 0 or random.random() < 0.8:
                    paths.append([0, group, branch, leaf])
    for at in range(len(labels) - 1, 0, -1):
        leaves[parent[at]] += leaves[at]
    names = [labels[path[-1]] for path in paths]
    if missing:
        absent = node("", 0)
        paths.append([0, absent, absent, absent])
    tree = Taxonomy(
        tuple(labels), np.array(parent, np.int32), np.array(leaves, np.int32), np.array(paths, np.int32)
    )  # fmt: skip
    return Column(
        name, "categorical", np.zeros(0, np.uint8), pa.array(names), missing, taxonomy=tree, weight=weight
    )  # fmt: skip


def random_cluster(seed: int) -> Cluster:
    """A cluster with one to four attributes of all kinds, few or many values, and weights."""
    random = np.random.default_rng(seed)
    columns = []
    for index in range(random.integers(1, 5)):
        missing, weight = bool(random.random() < 0.4), float(random.choice([1.0, 1.0, 0.5, 2.0, 0.0]))
        kind = random.integers(3)
        if kind == 0:
            places = random.normal(0, 10, random.integers(1, 12)).tolist()
            columns.append(number_column(f"n{index}", places, missing=missing, weight=weight))
        elif kind == 1:
            size = int(random.choice([1, 3, 5, 70, 300]))
            columns.append(set_column(f"s{index}", size, missing=missing, weight=weight))
        else:
            columns.append(tree_column(f"t{index}", random, missing=missing, weight=weight))
    count = int(random.integers(1, 40))
    lines = [tuple(int(random.integers(column.size)) for column in columns) for _ in range(count)]
    amounts = [int(n) for n in random.integers(1, 6, count)]
    return Cluster(lines, amounts, columns)


def with_others(cluster: Cluster, seed: int) -> Cluster:
    """The same cluster, with a category of each set that stands for several."""
    random = np.random.default_rng(seed)
    columns = [
        column
        if column.taxonomy is not None or column.positions is not None
        else replace(column, other=(int(random.integers(len(column.values))), int(random.integers(1, 9))))
        for column in cluster.columns
    ]
    return Cluster(cluster.lines, cluster.amounts, columns)


def cell_loss(column: Column, codes: set[int]) -> float:
    """The loss of a cell that covers these codes."""
    if column.other is not None:
        count = len(codes) - 1 + column.other[1] if column.other[0] in codes else len(codes)
        return count / column.different if count > 1 else 0.0
    if len(codes) == 1:
        return 0.0
    if column.taxonomy is not None:
        node = common_node(column.taxonomy, codes)
        return 1.0 if node == 0 else column.taxonomy.leaves[node] / column.taxonomy.leaves[0]
    if column.positions is not None:
        if column.missing_code in codes:
            return 1.0
        held = [column.positions[code] for code in codes]
        return (max(held) - min(held)) / (max(column.positions) - min(column.positions))
    return len(codes) / column.size


def common_node(taxonomy: Taxonomy, codes: set[int]) -> int:
    """The lowest node over some codes, by walking up from each."""

    def above(code):
        chain, node = [], int(taxonomy.path[code, -1])
        while node >= 0:
            chain.append(node)
            node = int(taxonomy.parent[node])
        return chain

    chains = [above(code) for code in codes]
    return next(node for node in chains[0] if all(node in chain for chain in chains))


def ordered_places(cluster: Cluster, a: int, *, by_code: bool = False) -> list[set[int]]:
    """The places of an attribute: sets of codes, in the documented order."""
    column = cluster.columns[a]
    held: dict[int, int] = defaultdict(int)
    for line, amount in zip(cluster.lines, cluster.amounts, strict=True):
        held[line[a]] += amount
    if column.taxonomy is not None and len(held) > 1:
        root = common_node(column.taxonomy, set(held))
        children: dict[int, set[int]] = defaultdict(set)
        for code in held:
            path = [int(node) for node in column.taxonomy.path[code]]
            children[path[path.index(root) + 1]].add(code)
        places = list(children.values())
    else:
        places = [{code} for code in held]
        if column.positions is not None or by_code:
            return sorted(places, key=min)
    return sorted(places, key=lambda codes: (-sum(held[code] for code in codes), min(codes)))


def side_loss(cluster: Cluster, members: list[int], split_on: int) -> float:
    """The loss of one record of a side, whose lines are given.

    An attribute with more categories than are tracked counts as unchanged unless it is the one that is split.
    """
    loss = 0.0
    for b, column in enumerate(cluster.columns):
        codes = {cluster.lines[line][b] for line in members}
        whole = {line[b] for line in cluster.lines}
        if column.taxonomy is None and column.positions is None and len(whole) > MOST_TRACKED and b != split_on:
            codes = whole
        loss += column.weight * cell_loss(column, codes)
    return loss


def listed_splits(cluster: Cluster, least: int, budget: int) -> list[tuple[float, int, int, int, int, int]]:
    """Every split that counts, as the documentation lists them: (score, attribute, place, shape, drop, left)."""
    found = []
    everything = sum(column.weight for column in cluster.columns)
    every_line = range(len(cluster.lines))
    before = cluster.total * side_loss(cluster, list(every_line), -1)
    for a, column in enumerate(cluster.columns):
        places = ordered_places(cluster, a)
        for place in range(len(places)):
            for shape in (ordering.PREFIX, ordering.SINGLE):
                if shape == ordering.PREFIX:
                    if place == len(places) - 1:
                        continue
                    chosen = set().union(*places[: place + 1])
                else:
                    is_number = column.taxonomy is None and column.positions is not None
                    if is_number or place in (0, len(places) - 1):
                        continue
                    chosen = places[place]
                inside = [line for line in every_line if cluster.lines[line][a] in chosen]
                outside = [line for line in every_line if cluster.lines[line][a] not in chosen]
                left = sum(cluster.amounts[line] for line in inside)
                right = cluster.total - left
                kept, lost = left * side_loss(cluster, inside, a), right * side_loss(cluster, outside, a)
                for drop, allowed, after in (
                    (splits.KEEP, left >= least and right >= least, kept + lost),
                    (splits.DROP_LEFT, left <= budget and right >= least, left * everything + lost),
                    (splits.DROP_RIGHT, right <= budget and left >= least, kept + right * everything),
                ):
                    if allowed and after < before - 1e-9:
                        found.append((after, a, place, shape, drop, left))
    return found
