"""The audit's own reading of a hierarchy: a tree of numbered nodes, and the leaf of each value.

A node is known by its path from the root, so one label may occur in two branches. A leaf that is repeated to fill a
shorter branch (``a;a;group;*``) is one node. Where a value is both a leaf and the name of a group (the prefix ``12`` of
``123``), its leaf is below that group.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import yaml

from sudare.audits.code_groups import groups_of
from sudare.audits.hierarchy_limits import check_events, is_nested, read_text
from sudare.core.errors import HierarchyError, Problem
from sudare.policy import HierarchySpec

_ZIP = 5
ROOT = "*"
"""The default label of the root."""


class _PlainLoader(yaml.BaseLoader):
    """YAML (and JSON, which is YAML) whose scalars stay the text they are, but for the empty ones."""


_PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_PlainLoader.add_constructor("tag:yaml.org,2002:null", lambda loader, node: None)


@dataclass
class Tree:
    """Nodes are numbered from 0, the root; ``parent`` of the root is None. ``leaves`` maps labels to nodes.

    A missing value is a leaf of its own directly below the root: the node ``missing``. ``top`` is what the root is
    called.
    """

    parent: list[int | None] = field(default_factory=lambda: [None])
    leaves: dict[str, int] = field(default_factory=dict)
    top: str = ROOT
    _children: dict[tuple[int, str], int] = field(default_factory=dict)

    root = 0

    def __post_init__(self) -> None:
        self.missing = self._new(self.root)

    def add(self, path: Sequence[str]) -> bool:
        """Add a leaf by its path without the root; False if it is already elsewhere."""
        leaf, steps = path[-1], list(path)
        while len(steps) > 1 and steps[-2] == leaf:
            steps.pop()
        node = self.root
        for label in steps:
            if (node, label) not in self._children:
                self._children[node, label] = self._new(node)
            node = self._children[node, label]
        return self.leaves.setdefault(leaf, node) == node

    def part_leaves(self) -> None:
        """Give every leaf that has something below it a node of its own."""
        inner = set(self.parent)
        self.leaves = {label: self._new(node) if node in inner else node for label, node in self.leaves.items()}

    def path(self, node: int) -> Iterator[int]:
        """Yield a node and all nodes above it."""
        above: int | None = node
        while above is not None:
            yield above
            above = self.parent[above]

    def heights(self) -> list[int]:
        """Return for each node the number of steps to the deepest leaf below it."""
        heights = [0] * len(self.parent)
        for node in range(len(self.parent) - 1, 0, -1):  # parents have smaller numbers than their children
            above = self.parent[node]
            if above is not None:
                heights[above] = max(heights[above], heights[node] + 1)
        return heights

    def depths(self) -> list[int]:
        """Return for each node the number of steps from the root."""
        depths = [0] * len(self.parent)
        for node, above in enumerate(self.parent):
            if above is not None:  # and has a smaller number
                depths[node] = depths[above] + 1
        return depths

    def sizes(self) -> list[int]:
        """Return for each node the number of leaves below it, itself included; missing is none of them."""
        sizes = [0] * len(self.parent)
        for leaf in self.leaves.values():
            sizes[leaf] += 1
        for node in range(len(self.parent) - 1, 0, -1):
            above = self.parent[node]
            if above is not None:
                sizes[above] += sizes[node]
        return sizes

    def labelled(self) -> dict[str, set[int]]:
        """Return the nodes that each label may stand for."""
        found: dict[str, set[int]] = {self.top: {self.root}}
        for (_, label), node in self._children.items():
            found.setdefault(label, set()).add(node)
        for label, node in self.leaves.items():
            found.setdefault(label, set()).add(node)
        return found

    def _new(self, parent: int) -> int:
        self.parent.append(parent)
        return len(self.parent) - 1


def read_tree(spec: HierarchySpec, folder: Path, column: str, labels: Iterable[str], *, anywhere: bool = True) -> Tree:
    """Return the tree of a hierarchy; one made by a rule (prefixes, bands, dates) gets the given labels as leaves.

    A file has to lie in the folder, unless it may be ``anywhere``.
    """
    if spec.file is not None:
        top, paths = _file_paths(folder / spec.file, folder, spec.delimiter, column, anywhere)
    elif spec.tree is not None:
        top, below = _below_root(spec.tree)
        paths = list(_tree_paths(below))
    else:
        top, paths = ROOT, _rule_paths(spec, list(labels))
    tree = Tree(top=top)
    misplaced = sum(not tree.add(path) for path in paths)
    if misplaced:
        raise HierarchyError(Problem(column, f"leaves that occur twice in its hierarchy: {misplaced}."))
    tree.part_leaves()
    return tree


def _file_paths(
    path: Path, folder: Path, delimiter: str | None, column: str, anywhere: bool
) -> tuple[str, list[list[str]]]:
    """Return the root of a file, and its paths from there: lines from leaf to root, or a nested tree."""
    try:
        text = read_text(path, folder, column, anywhere=anywhere)
        if is_nested(path):
            check_events(text, _PlainLoader)
            top, below = _below_root(yaml.load(text, Loader=_PlainLoader))
            return top, list(_tree_paths(below))
        rows = _rows(text, delimiter)
    except (csv.Error, yaml.YAMLError, ValueError, RecursionError):
        raise HierarchyError(Problem(column, f"its hierarchy {path} is not well formed, or not UTF-8.")) from None
    if not rows:
        raise HierarchyError(Problem(column, f"its hierarchy {path} is empty."))
    return _without_root([row[::-1] for row in rows])


def _rows(text: str, delimiter: str | None) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    used = delimiter or next((mark for mark in (";", "\t", ",") if all(mark in line for line in lines)), ";")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=used, strict=True)
    return [row for row in reader if row and any(cell.strip() for cell in row)]


def _without_root(paths: list[list[str]]) -> tuple[str, list[list[str]]]:
    """Part the root from all paths that share it; where they do not, an implied one is above them all."""
    shared = len({path[0] for path in paths}) == 1 and all(len(path) > 1 for path in paths)
    return (paths[0][0], [path[1:] for path in paths]) if shared else (ROOT, paths)


def _below_root(tree: Any) -> tuple[str, Any]:
    """Step over the only key at the top, if it has anything below it: that key is the root."""
    if isinstance(tree, dict) and len(tree) == 1:
        [(top, below)] = tree.items()
        if isinstance(below, dict | list) and below:
            return _label(top), below
    return ROOT, tree


def _tree_paths(tree: Any, above: tuple[str, ...] = ()) -> Iterator[list[str]]:
    if isinstance(tree, dict):
        for key, below in tree.items():
            path = (*above, _label(key))
            if below is None or below in ({}, []):
                yield list(path)
            else:
                yield from _tree_paths(below, path)
    elif isinstance(tree, list):
        for below in tree:
            yield from _tree_paths(below, above)
    else:
        yield [*above, _label(tree)]


def _label(value: Any) -> str:
    """Return a scalar of YAML or JSON as the text a cell would have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _rule_paths(spec: HierarchySpec, labels: Sequence[str]) -> list[list[str]]:
    """Return the paths of the values to which the rule applies, from the top."""
    if spec.prefix is not None:
        return [_prefix_path(spec.prefix, label) for label in labels]
    if spec.codes is not None:
        found = [(groups_of(spec.codes, label), label) for label in labels]
        return [[*groups, label] for groups, label in _evenly(spec.codes, found)]
    if spec.auto:
        raise HierarchyError(Problem("hierarchy: auto", "is made from the source, and cannot be rebuilt."))
    if spec.widths is not None:
        return _band_paths(spec.widths, spec.origin, labels)
    if spec.dates is not None:
        return _date_paths(spec.dates, labels)
    return [[label] for label in labels]


def _prefix_path(lengths: Sequence[int], label: str) -> list[str]:
    """Return the beginnings of a code from the shortest; one that is too short for a length is itself there."""
    cut = [label[:length] for length in reversed(lengths[1:]) if len(label) >= length]
    return [*(f"{beginning}..." for beginning in cut), label]


def _evenly(system: str, found: Sequence[tuple[list[str] | None, str]]) -> list[tuple[list[str], str]]:
    """Return the values that are codes; of ZIP codes the five digits are a group only if some codes are longer."""
    known = [(groups, label) for groups, label in found if groups is not None]
    longer = system != "us-zip" or any(len(label.strip()) > _ZIP for _, label in known)
    return known if longer else [(groups[:-1], label) for groups, label in known]


def _band_paths(widths: Sequence[float], origin: float, labels: Sequence[str]) -> list[list[str]]:
    numbers = {label: number for label in labels if (number := _number(label)) is not None}
    whole = origin.is_integer() and all(label.lstrip("-").isdecimal() for label in numbers)
    paths = []
    for label, number in numbers.items():
        path = []
        for width in reversed(widths):
            band = math.floor((number - origin) / width + 1e-9)  # the slack keeps 0.3 in the band from 3 * 0.1
            path.append(label if whole and width == 1 else f"{band} of {width}")  # a band of one number is that number
        paths.append([*path, label])
    return paths


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date_paths(levels: Sequence[str], labels: Sequence[str]) -> list[list[str]]:
    moments = {label: moment for label in labels if (moment := _moment(label)) is not None}
    timed = any(moment.time() != time() for moment in moments.values())
    paths = []
    for label, moment in moments.items():
        names = {
            "day": f"{moment:%Y-%m-%d}",
            "month": f"{moment:%Y-%m}",
            "quarter": f"{moment:%Y} Q{(moment.month + 2) // 3}",
            "year": f"{moment:%Y}",
        }
        # Where all values are days already, a day is the value itself.
        paths.append([*(names[level] for level in reversed(levels) if level != "day" or timed), label])
    return paths


def _moment(label: str) -> datetime | None:
    try:
        return datetime.fromisoformat(label)
    except ValueError:
        return None
