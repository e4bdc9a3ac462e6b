"""Shares of released cells in the bins and categories of a report.

Cells are read as `sudare estimate` reads them: an interval counts evenly for all it covers, a set for each of its
members, a node of a hierarchy for each leaf below it, and ``*`` for everything that the column shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare import hierarchies
from sudare.core.errors import SudareError
from sudare.policy import ColumnSpec, Policy
from sudare.releases import Anything, Choice
from sudare.releases.cell_reader import ReadCell, label_of, read_cells
from sudare.releases.value_texts import value_texts
from sudare.reports.describe.chart_axes import Axis, Bins, places_of
from sudare.reports.describe.scales import Scale
from sudare.table import Column, encode_like

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SINGLE, GENERAL, HIDDEN = 0, 1, 2


@dataclass(frozen=True, eq=False)
class CellShares:
    """What a released column shows: each record has a kind of cell, and each kind is described once.

    ``form`` says whether it is a single value, generalized or hidden; ``width`` how much it covers (a stretch of the
    axis, or a number of values), from ``low`` to ``high``. ``weights`` is how much it counts for each part of the
    scale; where it counts for one alone, that is ``part`` (-1: for none). ``strange`` says that some cells cover what
    the data does not have.
    """

    kind: Ints
    form: Ints
    width: Floats
    low: Floats
    high: Floats
    weights: Floats | None = None
    part: Ints | None = None
    strange: bool = False

    @property
    def records(self) -> Ints:
        """How many records show each kind of cell."""
        return np.bincount(self.kind, minlength=len(self.form)).astype(np.int64)

    def forms(self) -> list[int]:
        """Return how many records show a single value, something generalized, and nothing."""
        return [int(count) for count in np.bincount(self.form, self.records, 3)]

    def mean_width(self) -> float | None:
        """Return how much a generalized cell covers, on average over the records that show one."""
        general = (self.form == GENERAL) & np.isfinite(self.width)
        records = self.records[general]
        return float((self.width[general] * records).sum() / records.sum()) if records.sum() else None

    def distribution(self, parts: int) -> list[float] | None:
        """Return the share of each part; None if the column is not shown in parts."""
        if self.part is not None:
            there = self.part >= 0
            found: Floats = np.bincount(self.part[there], self.records[there], parts).astype(np.float64)
        elif self.weights is not None:
            found = self.records.astype(np.float64) @ self.weights
        else:
            return None
        whole = float(found.sum())
        return [round(share, 6) for share in (found / whole).tolist()] if whole > 0 else None

    def lines(self, rows: Ints, parts: int) -> Floats | None:
        """Return how much the cells of some records count for each part: a line for each record."""
        kind = self.kind[rows]
        if self.weights is not None:
            return self.weights[kind]
        return None if self.part is None else _one_each(self.part[kind], parts)


class Node(NamedTuple):
    """A label of a hierarchy: the codes below it, how many leaves it has in all, and for numbers what these say."""

    codes: Ints
    total: int
    leaves: tuple[str, ...] = ()


def nodes_of(column: Column, spec: ColumnSpec, policy: Policy) -> dict[str, Node]:
    """Return the labels of a column's hierarchy, and what stands below each."""
    where = spec.hierarchy
    if where is None or (column.positions is not None and where.file is None and where.tree is None):
        return {}  # labels of bands and dates say themselves what they cover
    try:
        tree = hierarchies.build(where, column.values, folder=policy.folder, column=column.name)
        order, taxonomy = tree.taxonomy(column.values, False)
    except SudareError:
        return {}
    below = {} if column.positions is None else _leaves_below(tree)
    found = {}
    for depth in range(taxonomy.depth):
        at = taxonomy.path[:, depth]
        for node in np.unique(at).tolist():
            label = taxonomy.labels[node]
            found[label] = Node(order[at == node], int(taxonomy.leaves[node]), below.get(label, ()))
    return found


def _leaves_below(tree: hierarchies.Hierarchy) -> dict[str, tuple[str, ...]]:
    """Return the leaves below each label; of equal labels those of the lower one."""
    levels = [labels.to_pylist() for labels in tree.columns()]
    found: dict[str, tuple[str, ...]] = {}
    for labels in reversed(levels[1:]):
        below: dict[str, list[str]] = {}
        for label, leaf in zip(labels, levels[0], strict=True):
            below.setdefault(label, []).append(leaf)
        found |= {label: tuple(leaves) for label, leaves in below.items()}
    return found


def read_generalized(
    cells: pa.ChunkedArray, column: Column, scale: Scale | None, nodes: Mapping[str, Node]
) -> CellShares:
    """Read a generalized column."""
    found = read_cells(cells)
    read = _on_axis if column.positions is not None else _of_categories
    return read(found.of_row, found.cells, column, scale, nodes)


def read_parsed(kind: Ints, told: Sequence[ReadCell], column: Column, scale: Scale | None) -> CellShares:
    """Read cells that have been taken apart, on the axis of a column; ``kind`` is that of each record."""
    return _on_axis(kind, told, column, scale, {})


def _on_axis(
    kind: Ints,
    told: Sequence[ReadCell],
    column: Column,
    scale: Scale | None,
    nodes: Mapping[str, Node],
) -> CellShares:
    axis = scale.axis if scale is not None and scale.axis is not None else Axis.of(column)
    root = max(nodes.values(), key=lambda node: node.total, default=None)
    form, low, high, labelled = _spans(told, axis, nodes, root)
    there = np.isfinite(low)
    hidden = form == HIDDEN
    reach = axis.places
    if column.ends is not None:  # round numbers beyond what anybody has
        reach = places_of(replace(column, values=column.ends.values, positions=column.ends.positions))
    strange = bool(np.any(low < reach.min(initial=np.inf)) or np.any(high > reach.max(initial=-np.inf)))
    if there.any():  # what is hidden may be anything that the column shows
        low, high = np.where(hidden, low[there].min(), low), np.where(hidden, high[there].max(), high)
    if root is not None:
        labelled |= dict.fromkeys(np.flatnonzero(hidden).tolist(), _leaf_places(root, axis))
    weights, width = None, high - low
    if scale is not None and scale.bins is not None and (there.any() or not hidden.any()):
        weights = _binned(scale, scale.bins, low, high, labelled)
    for place in labelled:  # the ends of a label are not in the release, and may be somebody's
        ends = (
            np.clip([low[place], high[place]], *scale.bins.reach) if scale is not None and scale.bins else [0, np.nan]
        )
        width[place] = ends[1] - ends[0]
    return CellShares(kind, form, width, low, high, weights, strange=strange)


def _spans(
    told: Sequence[ReadCell], axis: Axis, nodes: Mapping[str, Node], root: Node | None
) -> tuple[Ints, Floats, Floats, dict[int, Floats]]:
    """Return the form of each cell, its ends on the axis (NaN if it has none), and the leaves below labels."""
    low, high = np.full(len(told), np.nan), np.full(len(told), np.nan)
    form = np.full(len(told), SINGLE, dtype=np.int64)
    labelled: dict[int, Floats] = {}
    for place, cell in enumerate(told):
        if cell is None:
            continue
        span = None if isinstance(cell, Anything) else axis.interval(cell)
        node = nodes.get(label_of(cell) or "")
        if node is not None and len(node.codes):
            below = _leaf_places(node, axis)
            span = None if root is None or node.total >= root.total else (below.min(), below.max())
            labelled[place] = below
        if span is None:
            form[place] = HIDDEN
        else:
            low[place], high[place] = span
            form[place] = SINGLE if span[0] == span[1] else GENERAL
    return form, low, high, labelled


def _binned(scale: Scale, bins: Bins, low: Floats, high: Floats, labelled: Mapping[int, Floats]) -> Floats:
    """Return the share of each bin in each cell."""
    weights = np.zeros((len(low), len(scale)))
    known = np.isfinite(low)
    weights[known, : len(bins)] = bins.spread(low[known], high[known])
    for place, below in labelled.items():  # leaf by leaf, which tells nothing of how far out the last ones are
        weights[place] = np.bincount(bins.of(below), minlength=len(scale)) / len(below)
    if scale.missing >= 0:
        weights[~known, scale.missing] = 1.0
    return weights


def _leaf_places(node: Node, axis: Axis) -> Floats:
    """Return where the leaves below a label stand; where none of them can be read, the values of the data do."""
    spans = [axis.span(leaf) for leaf in node.leaves]
    return np.array([span[0] for span in spans if span is not None] or axis.places[node.codes], dtype=np.float64)


@dataclass
class _Members:
    """What cells of categories show: members that are named, nodes with leaves below, and cells that hide all."""

    lines: list[int] = field(default_factory=list)
    members: list[str | None] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    below: list[tuple[int, Ints, int]] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)

    def add(self, place: int, own: Sequence[str | None]) -> None:
        """Add a cell that stands for one of some members."""
        self.lines += [place] * len(own)
        self.members += own
        self.shares += [1 / len(own)] * len(own)

    def weights(self, cells: int, scale: Scale) -> Floats:
        """Return the share of each part of a scale in each of so many cells."""
        weights = np.zeros((cells, len(scale)))
        parts = scale.parts_of(pa.array(self.members, pa.large_string()))
        _add(weights, np.array(self.lines, dtype=np.int64), parts, np.array(self.shares, dtype=np.float64))
        for place, codes, count in self.below:
            _add(weights, np.full(len(codes), place), scale.of_code[codes], np.full(len(codes), 1 / count))
            if scale.others >= 0:  # leaves that the data does not have
                weights[place, scale.others] += 1 - len(codes) / count
        if self.hidden:
            everything, named = np.zeros(len(scale)), list(dict.fromkeys(self.members))
            for part in (scale.parts_of(pa.array(named, pa.large_string())) if named else scale.of_code).tolist():
                everything[part] += part >= 0
            weights[self.hidden] = everything / max(everything.sum(), 1.0)
        return weights


def _of_categories(
    kind: Ints,
    told: Sequence[ReadCell],
    column: Column,
    scale: Scale | None,
    nodes: Mapping[str, Node],
) -> CellShares:
    form = np.full(len(told), SINGLE, dtype=np.int64)
    width = np.ones(len(told))
    leaves = max((node.total for node in nodes.values()), default=0)
    values = set(value_texts(column).to_pylist())
    found = _Members()
    for place, cell in enumerate(told):
        label = label_of(cell)
        if label is not None and label in nodes and (label not in values or len(nodes[label].codes) > 1):
            codes, count, _ = nodes[label]
            form[place], width[place] = (HIDDEN if count >= leaves else GENERAL), count
            found.below.append((place, codes, max(count, len(codes))))
        elif isinstance(cell, Anything):
            form[place] = HIDDEN
            found.hidden.append(place)
        else:
            own = cell.members if isinstance(cell, Choice) else (label,)
            form[place], width[place] = (GENERAL if len(own) > 1 else SINGLE), len(own)
            found.add(place, own)
    none = np.full(len(told), np.nan)
    strange = any(member is not None and member not in values for member in found.members)
    if scale is None or not (found.members or found.below):  # what shows nothing tells no shares either
        return CellShares(kind, form, width, none, none, strange=strange)
    return CellShares(kind, form, width, none, none, found.weights(len(told), scale), strange=strange)


def _add(weights: Floats, line: Ints, part: Ints, share: Floats) -> None:
    there = part >= 0
    np.add.at(weights, (line[there], part[there]), share[there])


def read_untouched(cells: pa.ChunkedArray, column: Column, scale: Scale | None, missing: Sequence[str]) -> CellShares:
    """Read a column that is unchanged, or whose values were drawn."""
    try:
        again = encode_like(column, _plain(cells), missing)
    except SudareError:  # times and durations in text, which are looked up among those of the data
        return _looked_up(cells, column, scale, missing)
    form = np.full(again.size, SINGLE, dtype=np.int64)
    none = np.full(again.size, np.nan)
    kind = again.codes.astype(np.int64)
    if column.positions is not None and again.positions is not None:
        places = np.append(places_of(again), [np.nan] * again.missing)
        part = None
        if scale is not None and scale.bins is not None:
            part = np.where(np.isnan(places), scale.missing, scale.bins.of(places))
        return CellShares(kind, form, np.zeros(again.size), places, places, part=part)
    part = None
    if scale is not None and scale.values is not None:
        texts = value_texts(again)
        part = scale.parts_of(pa.concat_arrays([texts, pa.nulls(int(again.missing), texts.type)]))
    return CellShares(kind, form, np.ones(again.size), none, none, part=part)


def _looked_up(cells: pa.ChunkedArray, column: Column, scale: Scale | None, missing: Sequence[str]) -> CellShares:
    found = read_cells(cells)
    kind, texts = found.of_row, found.texts.to_pylist()
    axis = scale.axis if scale is not None and scale.axis is not None else Axis.of(column)
    spans = [None if text is None or text in missing else axis.span(text) for text in texts]
    places = np.array([np.nan if span is None else span[0] for span in spans])
    form = np.full(len(texts), SINGLE, dtype=np.int64)
    part = None
    if scale is not None and scale.bins is not None:
        part = np.where(np.isnan(places), scale.missing, scale.bins.of(places))
    return CellShares(kind, form, np.zeros(len(texts)), places, places, part=part)


def _plain(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells


def _one_each(parts: Ints, count: int) -> Floats:
    weights = np.zeros((len(parts), count))
    there = np.flatnonzero(parts >= 0)
    weights[there, parts[there]] = 1.0
    return weights
