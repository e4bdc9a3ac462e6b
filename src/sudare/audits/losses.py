"""Losses of a release, computed by the audit from the released cells.

Published losses are relative to the released cells, so most of them follow from these cells, from the policy and from
two figures of the certificate: the number of source records, and the number of rare categories behind ``other``. With s
for the share of a cell, and w for the width of what it shows:

- **GCP**: the mean of s over records and columns. A range: its width by the distance of the outermost ends that the
  column shows. A set: its members by the categories that the column names, ``other`` being as many as it stands for.
  A node of a hierarchy: its leaves by all leaves. One value: 0. ``*``, the root, and a record left out: 1.
- **Precision**: 1 minus the mean of s, or of the height of a node.
- **ARX**: of a hierarchy with n leaves (s - 1/n) / (1 - 1/n), and 0 for a leaf.
- **Relative uncertainty**: by how much cells are wider than one value (w of a range, w - 1 of a set or node), as a
  share of what a cell has that shows everything; columns count by the latter.

Other figures do not follow, since they are about the source:

- *entropy* is about how often values occurred there;
- *ARX* without a hierarchy is about how many different values there were;
- under hierarchies that a rule makes (bands, prefixes, dates) the leaves are the values of the source, so that GCP, ARX
  and uncertainty do not follow either, but precision does;
- what *item sets* lose is about items that are not shown. How many are shown as they are can be counted;
- what an *aggregated* column loses is about the values that its numbers stand for.

For these the release implies a range, often a narrow one, or a point: if all cells show one value, nothing is lost. The
figure of the certificate must be in that range. If a figure depends on something that the release does not show (such
as whether a value was missing), several answers are possible, and the figure must be one of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from sudare.audits.cell_counts import OTHER, Axis, CellCounts, Items, Nodes, Single
from sudare.audits.hierarchy import Tree, read_tree
from sudare.audits.rule_levels import LEAF, ODD, ROOT, heights, is_written
from sudare.core.errors import HierarchyError
from sudare.policy import ColumnSpec, HierarchySpec, Policy

HALF = 5e-5 + 1e-9
"""Figures are rounded to four digits: they may be off by half of the last one."""
_POINT = 1e-9
_MOST_ANSWERS = 4096
_DAY = 86_400.0
_WHOLE = ("gcp", "arx", "precision")
"""The losses that all columns have; the others are not of item sets."""
MEANS = (*_WHOLE, "entropy")
"""The losses that are the mean of what columns lose."""

Span = tuple[float, float]


@dataclass(frozen=True)
class Figure:
    """What a figure may be: something within one of the ``spans``. ``off`` is what floats may be wrong by."""

    spans: tuple[Span, ...]
    off: float = 0.0

    @property
    def known(self) -> bool:
        """Whether the release determines the figure, or a few possible ones."""
        return all(high - low <= _POINT for low, high in self.spans)

    @property
    def hull(self) -> Span:
        """The smallest and the largest that it may be."""
        return min(low for low, _ in self.spans), max(high for _, high in self.spans)

    def fits(self, told: float) -> bool:
        """Whether a rounded figure may be this one."""
        off = HALF + self.off
        return any(low - off <= told <= high + off for low, high in self.spans)

    def nearest(self, told: float) -> float:
        """Return the possible figure that is nearest to a claimed one."""
        ends = [end for span in self.spans for end in span]
        near = min(max(told, min(ends)), max(ends))  # a whole number may be too large to subtract from a float
        return min(ends, key=lambda end: abs(end - near))


def _figure(*spans: Span, off: float = 0.0) -> Figure:
    return Figure(spans, off)


@dataclass(frozen=True)
class Records:
    """The records of a release: how many there were, and how many are ``left`` out of it, or ``masked`` in it."""

    rows: int
    left: int
    masked: int

    def share(self, total: float) -> float:
        """Return a sum over records as a mean."""
        return total / max(self.rows, 1)


@dataclass(frozen=True)
class Losses:
    """What a release has lost, in all and by column; ``disclosed`` is how many items each item-set column shows."""

    totals: Mapping[str, Figure]
    columns: Mapping[str, Mapping[str, Figure]]
    disclosed: Mapping[str, Figure]


@dataclass(frozen=True)
class _Column:
    """What a column has lost; ``grown`` are the answers to its uncertainty: a share, and the most that a cell has."""

    figures: dict[str, Figure]
    grown: tuple[tuple[float, float], ...] | None = ()
    off: float = 0.0
    disclosed: Figure | None = field(default=None)


def losses(
    shown: Mapping[str, CellCounts],
    policy: Policy,
    other: Mapping[str, int],
    records: Records,
    aggregated: Collection[str] = (),
) -> Losses:
    """Return what follows from what the columns of a release show; some of them may be ``aggregated``."""
    columns = {}
    for name, found in shown.items():
        spec = policy.columns[name]
        if name in aggregated and _one_value_each(found, spec):
            columns[name] = _aggregated(records)
            continue
        if isinstance(found, Single):
            columns[name] = _single(found, spec, other.get(name), records)
            continue
        tree = _tree(spec, policy, name)
        if isinstance(found, Items):
            columns[name] = _items(found, spec.hierarchy, tree, records)
        elif tree is not None:
            columns[name] = _written(found, tree, records)
        else:
            columns[name] = _ruled(found, spec.hierarchy, records)
    totals = {name: _mean([each.figures[name] for each in columns.values() if name in each.figures]) for name in MEANS}
    totals["relative_uncertainty"] = _relative([each for each in columns.values() if each.disclosed is None])
    return Losses(
        totals,
        {name: each.figures for name, each in columns.items()},
        {name: each.disclosed for name, each in columns.items() if each.disclosed is not None},
    )


def _tree(spec: ColumnSpec, policy: Policy, column: str) -> Tree | None:
    """Return a hierarchy that is written down; None if it is not, or cannot be read: then little follows."""
    if spec.hierarchy is None or not is_written(spec.hierarchy):
        return None
    try:
        return read_tree(spec.hierarchy, policy.folder, column, (), anywhere=policy.allows_outside)
    except HierarchyError:
        return None


def _mean(figures: Sequence[Figure]) -> Figure:
    count = max(len(figures), 1)
    hulls = [figure.hull for figure in figures]
    off = sum(figure.off for figure in figures) / count
    return _figure((sum(low for low, _ in hulls) / count, sum(high for _, high in hulls) / count), off=off)


def _relative(columns: Sequence[_Column]) -> Figure:
    """Weigh what columns have grown by the most that they can; if that is not known, it lies between their shares."""
    answers = [each.grown for each in columns]
    count = 1
    for each in answers:
        count *= len(each) if each else 1
    off = max((each.off for each in columns), default=0.0)
    if any(each is None for each in answers) or count > _MOST_ANSWERS:
        hulls = [each.figures["relative_uncertainty"].hull for each in columns]
        return _figure((min(min(low for low, _ in hulls), 0.0), max(high for _, high in hulls)), off=off)
    found = {_weighed(chosen) for chosen in product(*(each or () for each in answers))}
    return _figure(*((each, each) for each in sorted(found)), off=off)


def _weighed(chosen: Sequence[tuple[float, float]]) -> float:
    largest = max((most for _, most in chosen), default=0.0)
    if not largest:
        return 0.0
    total = sum(most / largest for _, most in chosen)
    return sum(share * (most / largest) for share, most in chosen) / total


def _column(
    share: Figure,
    height: Figure,
    arx: Figure,
    untouched: bool,
    grown: tuple[tuple[float, float], ...] | None,
    most: Span,
) -> _Column:
    """Put together what a column has lost; ``most`` is the span of its uncertainty where that is not known."""
    low, high = height.hull
    relative = _figure(most) if grown is None else _figure(*((each, each) for each, _ in grown), off=share.off)
    figures = {
        "gcp": share,
        "arx": arx,
        "precision": _figure((1.0 - high, 1.0 - low), off=height.off),
        "entropy": _figure((0.0, 0.0 if untouched else 1.0)),
        "relative_uncertainty": relative,
    }
    return _Column(figures, grown, share.off)


# -- aggregated columns


def _one_value_each(found: CellCounts, spec: ColumnSpec) -> bool:
    """Whether all cells of a column show one value, or are empty: an aggregated one shows nothing else.

    Without an order, and without a hierarchy, these are numbers, dates or times.
    """
    if not isinstance(found, Single):
        return isinstance(found, Nodes)
    on_axis = spec.order is not None or found.axis is not None or not found.single
    return on_axis and not found.odd and not found.ranges + found.sets + found.anything


def _aggregated(records: Records) -> _Column:
    """Return that anything may be lost: the cells do not show what their records were like."""
    least = records.share(records.left)
    return _column(_figure((least, 1.0)), _figure((least, 1.0)), _figure((0.0, 1.0)), False, None, (0.0, 1.0))


# -- columns without a hierarchy


def _single(found: Single, spec: ColumnSpec, several: int | None, records: Records) -> _Column:
    lost, share = found.anything + records.left, records.share
    wide = found.ranges + found.sets
    domain = len(found.names) + (several - 1 if several is not None and OTHER in found.names else 0)
    beyond = (several or 1) - 1
    alone = found.other_alone if beyond else 0
    off = 0.0
    if found.odd:
        gcp = _figure((share(lost), 1.0))
    elif found.ranges and found.axis is not None:
        off = _rounding(found.axis)
        gcp = _point(share(lost + found.axis.width / (found.axis.reach or 1.0)), off)
    else:
        members = found.members + found.with_other * beyond + alone * (beyond + 1)
        gcp = _point(share(lost + members / (domain or 1)))
    differ = bool(wide) or len(found.names) > 1 or beyond > 0  # in the source there was more than one value
    arx = _figure((share(lost) if differ else 0.0, share(lost + wide + alone)))
    grown: list[tuple[float, float]] = []
    if _may_be_numbers(found, spec, several):
        grown += _grown_numbers(found, lost, records)
    if _may_be_categories(found, spec):
        most = max(domain - 1.0, 0.0)
        more = found.members - found.sets + found.with_other * beyond + alone * beyond
        grown.append((share(lost + more / most) if most else 0.0, most))
    return _column(gcp, gcp, arx, not lost + wide, None if found.odd else tuple(grown), (0.0, 1.0))


def _point(figure: float, off: float = 0.0) -> Figure:
    return _figure((figure, figure), off=off)


def _rounding(axis: Axis) -> float:
    """Return what places that are far from 0, and close to each other, may be off by as floats."""
    return min(8 * sys.float_info.epsilon / (axis.reach or 1.0), 1.0)


def _may_be_numbers(found: Single, spec: ColumnSpec, several: int | None) -> bool:
    """Whether a column may hold numbers, dates or times, so that its width is a distance."""
    told = spec.kind != "categorical" and spec.order is None and several is None and not found.sets
    return told and (found.axis is not None or not found.single)


def _may_be_categories(found: Single, spec: ColumnSpec) -> bool:
    return spec.kind != "numeric" and not found.ranges


def _grown_numbers(found: Single, lost: int, records: Records) -> list[tuple[float, float]]:
    """Return the answers for numbers: days that were midnights are counted in seconds."""
    axis = found.axis
    if axis is None or not axis.reach:
        # one number, and perhaps others that are not shown: two that may be told apart
        answers = [(records.share(lost), 1.0)]
        return answers if found.single and found.missing else [(0.0, 0.0), *answers]
    share, width = records.share(lost + axis.width / axis.reach), axis.high - axis.low
    if math.isinf(width):  # numbers that are so far from each other are counted in fours
        width = axis.high / 4 - axis.low / 4
    return [(share, width), (share, width * _DAY)] if axis.unit == "day" else [(share, width)]


# -- hierarchies


def _written(found: Nodes, tree: Tree, records: Records) -> _Column:
    """Return what a column has lost whose hierarchy is known, with all its leaves."""
    nodes, sizes = tree.labelled(), tree.sizes()
    inner, size = set(tree.parent), len(tree.leaves)
    figures = _node_figures(tree)
    sums = {"gcp": [0.0, 0.0], "height": [0.0, 0.0], "arx": [0.0, 0.0]}
    roots, leaves, grown, sure = 0, 0, 0.0, True
    for label, many in found.labels.items():
        stands = {tree.missing} if label is None else nodes.get(label, set())
        sure &= len(stands) == 1
        for name, span in sums.items():
            each = [figures[name][node] for node in stands] or [0.0, 1.0]
            span[0] += many * min(each)
            span[1] += many * max(each)
        if stands == {tree.root}:
            roots += many
        elif len(stands) == 1:
            [node] = stands
            leaves += many if node not in inner else 0
            grown += many * max(sizes[node] - 1, 0)
    left = records.left
    lost = {"gcp": left, "height": left, "arx": left if size > 1 else 0}
    gcp, height, arx = (
        _figure((records.share(low + lost[name]), records.share(high + lost[name])))
        for name, (low, high) in sums.items()
    )
    answers: list[tuple[float, float]] = []
    # what is missing is one leaf more below the root; whether anything was may not be seen
    for missing in [True] if None in found.labels else [False, True] if roots or left else [False]:
        most = float(max(size - 1 + missing, 0))
        answers.append((records.share(roots + left + grown / most) if most else 0.0, most))
    untouched = sure and not left and leaves == sum(found.labels.values())
    return _column(gcp, height, arx, untouched, tuple(answers) if sure else None, (0.0, 1.0))


def _node_figures(tree: Tree) -> dict[str, list[float]]:
    """Return what a record loses that shows a node, by measure and node."""
    sizes, depths = tree.sizes(), tree.depths()
    inner, size = set(tree.parent), len(tree.leaves)
    deepest = max((depth for node, depth in enumerate(depths) if node != tree.missing), default=1) or 1
    figures: dict[str, list[float]] = {"gcp": [], "height": [], "arx": []}
    for node, depth in enumerate(depths):
        gcp = height = arx = 0.0
        if node == tree.root and node in inner:
            gcp, height, arx = 1.0, 1.0, float(size > 1)
        elif node in inner:
            gcp, height = sizes[node] / max(size, 1), 1 - depth / deepest
            arx = (gcp - 1 / size) / (1 - 1 / size) if size > 1 else 0.0
        for name, figure in (("gcp", gcp), ("height", height), ("arx", arx)):
            figures[name].append(figure)
    return figures


def _ruled(found: Nodes, spec: HierarchySpec | None, records: Records) -> _Column:
    """Return the losses of a column whose leaves are those of the source, or whose hierarchy is missing."""
    labels, left = found.labels, records.left
    if spec is None or is_written(spec):
        nothing, between = left, sum(labels.values()) - labels[None]
        answers = []
    else:
        nothing = left + labels[ROOT]
        between = sum(labels.values()) - labels[None] - labels[ROOT] - labels[LEAF]
        answers = heights(spec, (label for label in labels if label is not None))
    share = records.share
    high = share(nothing + between)
    spans = []
    for answer in answers:
        known = sum(many * answer.get(label, 0.0) for label, many in labels.items() if label is not None)
        odd = sum(many for label, many in labels.items() if label is not None and label not in answer)
        spans.append((share(left + known), share(left + known + odd)))
    height = _figure(*(spans or [(share(left), high)]))
    grown = _figure((0.0, 0.0), (high, high)) if not between else _figure((0.0, high))
    made = _column(
        _figure((share(nothing), high)), height, _figure((0.0, high)), not nothing + between, None, (0.0, high)
    )
    return _Column(made.figures | {"relative_uncertainty": grown}, None)


# -- item sets


def _items(found: Items, spec: HierarchySpec | None, tree: Tree | None, records: Records) -> _Column:
    """Return the losses of item sets: how many items are shown unchanged, and the least loss."""
    lost = records.share(records.left + records.masked)
    figures = {"gcp": _figure((lost, 1.0)), "arx": _figure((lost, 1.0)), "precision": _figure((0.0, 1.0 - lost))}
    least, most = found.items, found.items
    if spec is not None:
        least = most = 0
        inner = set() if tree is None else set(tree.parent)
        nodes = {} if tree is None else tree.labelled()
        for label, many in found.labels.items():
            if tree is not None:
                leaf = {node not in inner for node in nodes.get(label or "", ())}
            elif is_written(spec) or label in (ODD, "day"):
                leaf = {True, False}
            else:
                leaf = {label == LEAF}
            least += many if leaf == {True} else 0
            most += many if leaf != {False} else 0
    # that a set is missing is shown like an item; in text it looks like an empty set, or like a masked one
    if found.lists:
        least, most = least + found.nulls, most + found.nulls
    else:
        most += max(found.nulls - records.masked, 0)
    return _Column(figures, (), disclosed=_figure((least, most)))
