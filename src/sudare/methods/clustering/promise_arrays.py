"""What clusters have to keep, as flat arrays for the kernels: kinds of records, and promises about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.kernels.clustering import promise_gaps as kernel
from sudare.kernels.clustering.cover_losses import Needs
from sudare.kernels.clustering.item_limits import ItemLimits
from sudare.methods.class_counts import everybody
from sudare.methods.clustering.neighbourhoods import CATEGORIES, Ints, main_diversity
from sudare.models import (
    TOLERANCE,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    Histograms,
    KAnonymity,
    LDiversity,
    Model,
    Requirements,
    TCloseness,
    named_codes,
)
from sudare.models.t_closeness import ground_tree
from sudare.table import Table

FLOOR = 1.0 - 1e-12
"""Limits of shares are drawn in by this part, so that rounding never makes the kernels less strict than the models."""
KNOWN = (LDiversity, AlphaKAnonymity, BetaLikeness, DeltaDisclosure, TCloseness)
"""The models that kernels know. Others are tested after each pass."""
NO_LIMITS = ItemLimits(*(np.zeros(0, np.int64) for _ in range(4)))
"""No item of a set is limited."""
CHECKED_KINDS = 512
"""Kinds of records that classes are checked by while they are polished; with more, classes that fail are joined."""


@dataclass(frozen=True, eq=False)
class Rules:
    """What a cluster needs, for the kernels: the kind of each record, how many kinds there are, and their promises.

    ``complete`` says that a cluster that the kernels accept keeps all requirements, but for rounding. Otherwise some
    are to be tested.
    """

    values: Ints
    kinds: int
    needs: Needs
    promise: kernel.Promise
    complete: bool

    @property
    def plain(self) -> bool:
        """Whether k and a number of different values are all that the kernels look at."""
        return not len(self.promise.kind)

    @property
    def exact(self) -> bool:
        """Whether nothing is left to be tested of a cluster that the kernels accept."""
        return self.plain and self.complete


def rules_of(table: Table, requirements: Requirements, most: int = CATEGORIES, whole: Table | None = None) -> Rules:
    """Describe requirements, for records of at most so many kinds; these are the ``whole`` release or some of it.

    Where k and different values of one column are all that is required, a kind is a value of this column. Otherwise
    columns are read as long as their values together make so few kinds.
    """
    sensitive, diverse = main_diversity(table, requirements)
    name = None if sensitive is None else sensitive.name
    others = [model for model in requirements.of_groups if not _plain(model, name)]
    k = requirements.least_rows
    if not others:
        values = np.zeros(table.rows, np.int64) if sensitive is None else sensitive.codes.astype(np.int64)
        return Rules(values, 1 if sensitive is None else sensitive.size, Needs(k, diverse), _empty(), True)
    known = [model for model in requirements.of_groups if _known(model)]
    names, values, code = _kinds(table, dict.fromkeys(str(model.column) for model in known), most)
    read = [model for model in known if model.column in names]
    promise = _promise(whole or table, requirements, read, names, code)._replace(items=_limits_of_items(table, others))
    complete = all(model in read or _counts_rows(model) for model in requirements.of_groups)
    return Rules(values, len(code), Needs(k, 1), promise, complete)


def _counts_rows(model: Model) -> bool:
    return isinstance(model, KAnonymity) and model.count == "rows"


def _plain(model: Model, main: str | None) -> bool:
    """Return whether a model only asks for records, or for different values of the main column."""
    return _counts_rows(model) or (
        isinstance(model, LDiversity) and model.variant == "distinct" and model.column == main
    )


def _known(model: Model) -> bool:
    """Return whether kernels know a model by kinds of records. Items of sets they count by themselves."""
    return isinstance(model, KNOWN) and not _limits_items(model)


def _limits_items(model: Model) -> bool:
    return isinstance(model, LDiversity) and model.variant == "frequency"


def _limits_of_items(table: Table, models: Iterable[Model]) -> ItemLimits:
    """Put the limits for the items of sets into arrays, one promise after the other."""
    rows, items, limits, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for model in models:
        if not isinstance(model, LDiversity) or not _limits_items(model):
            continue
        column = table.sensitive[model.column]
        assert column.sets is not None  # the policy was checked
        held = column.sets.counted.taken(column.codes.astype(np.int64))
        harmless = [place for place in column.sets.places(model.harmless or ()) if place >= 0]
        counts = ~np.isin(held.items, harmless)
        rows.append(np.repeat(np.arange(table.rows), np.diff(held.offsets))[counts])
        items.append(held.items[counts].astype(np.int64) + first)
        limits.append(np.full(len(held.values), int(model.l), np.int64))
        first += len(held.values)
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    begin = np.searchsorted(row[order], np.arange(table.rows + 1))
    return ItemLimits(begin, np.concatenate(items)[order], np.concatenate(limits), np.zeros(first, np.int64))


def _kinds(table: Table, columns: Iterable[str], most: int) -> tuple[list[str], Ints, Ints]:
    """Return which columns make up kinds, the kind of each record, and the codes of each kind in these columns."""
    names: list[str] = []
    values, code = np.zeros(table.rows, np.int64), np.zeros((1, 0), np.int64)
    for name in columns:
        column = table.sensitive[name]
        found, fresh = np.unique(values * column.size + column.codes, return_inverse=True)
        if len(found) <= most:
            names.append(name)
            values = fresh
            code = np.column_stack([code[found // column.size], found % column.size])
    return names, values, code


def _empty() -> kernel.Promise:
    none, ints = np.zeros(0), np.zeros(0, np.int64)
    lines, trees = np.zeros((0, 0)), np.zeros((0, 0), np.int64)
    return kernel.Promise(
        kind=ints, column=ints, number=none, factor=none, low=lines, high=lines, above=trees, height=lines, leaf=trees,
        code=trees, values=ints, tally=ints, extra=lines, items=NO_LIMITS,
    )  # fmt: skip


def _promise(
    table: Table, requirements: Requirements, models: Sequence[Model], names: Sequence[str], code: Ints
) -> kernel.Promise:
    """Put models about some columns into arrays."""
    whole = everybody(table, requirements)
    lines: list[tuple[int, _Line]] = []
    for model in models:
        line = _line(model, whole.histograms[str(model.column)])
        if line is not None:
            lines.append((names.index(str(model.column)), line))
    lines.sort(key=lambda each: each[0])
    sizes = np.array([table.sensitive[name].size for name in names], np.int64)
    width = int(sizes.max(initial=0))
    nodes = max((len(line.above) for _, line in lines), default=0)

    def filled(parts: Sequence[NDArray[np.float64]], most: int, otherwise: float) -> NDArray[np.float64]:
        out = np.full((len(parts), most), otherwise)
        for at, part in enumerate(parts):
            out[at, : len(part)] = part
        return out

    found = [line for _, line in lines]
    return kernel.Promise(
        kind=np.array([line.kind for line in found], np.int64),
        column=np.array([at for at, _ in lines], np.int64),
        number=np.array([line.number for line in found], np.float64),
        factor=np.array([line.factor for line in found], np.float64),
        low=filled([line.low for line in found], width, 0.0),
        high=filled([line.high for line in found], width, 1.0),
        above=filled([line.above for line in found], nodes, -1.0).astype(np.int64),
        height=filled([line.height for line in found], nodes, 0.0),
        leaf=filled([line.leaf for line in found], width, 0.0).astype(np.int64),
        code=np.ascontiguousarray(code),
        values=sizes,
        tally=np.zeros(max(width, 1), np.int64),
        extra=np.zeros((3, max(nodes, 1))),
        items=NO_LIMITS,
    )


_NONE = np.zeros(0)


class _Line(NamedTuple):
    """A promise as the kernels have it (see :class:`~sudare.kernels.clustering.promise_gaps.Promise`)."""

    kind: int
    number: float = 0.0
    factor: float = 0.0
    low: NDArray[np.float64] = _NONE
    high: NDArray[np.float64] = _NONE
    above: NDArray[np.float64] = _NONE
    height: NDArray[np.float64] = _NONE
    leaf: NDArray[np.float64] = _NONE


def _line(model: Model, whole: Histograms) -> _Line | None:
    """Put one model into a line; None if every cluster keeps it."""
    share = whole.total / max(int(whole.total.sum()), 1)
    if isinstance(model, LDiversity):
        if model.variant == "entropy":
            return _Line(kernel.ENTROPY, math.log(model.l))
        kind = kernel.DISTINCT if model.variant == "distinct" else kernel.RECURSIVE
        return _Line(kind, model.l, model.c or 0.0)
    if isinstance(model, AlphaKAnonymity):
        named = np.ones(len(share), np.bool_)
        if model.values is not None:
            named[:] = False
            named[[code for code in named_codes(whole.column, model.values) if code >= 0]] = True
        return _limits(np.zeros(len(share)), np.where(named, model.alpha + TOLERANCE, np.inf))
    if isinstance(model, BetaLikeness):
        gain = np.full(len(share), float(model.beta))
        if model.variant == "enhanced":
            gain = np.minimum(gain, -np.log(np.maximum(share, np.finfo(np.float64).tiny)))
        return _limits(np.zeros(len(share)), share * (1.0 + gain + TOLERANCE))
    if isinstance(model, DeltaDisclosure):
        factor = math.exp(model.delta - TOLERANCE)
        return _limits(share / factor, share * factor)
    assert isinstance(model, TCloseness)  # the last of those that are known
    return None if np.count_nonzero(whole.total) < 2 else _distance(model, whole, share)


def _limits(low: NDArray[np.float64], high: NDArray[np.float64]) -> _Line:
    return _Line(kernel.LIMITS, low=low / FLOOR, high=high * FLOOR)


def _distance(model: TCloseness, whole: Histograms, share: NDArray[np.float64]) -> _Line:
    if model.distance != "hierarchical":
        return _Line(kernel.EQUAL if model.distance == "equal" else kernel.ORDERED, model.t, low=share)
    path, height = ground_tree(whole)
    above = np.full(len(height), -1.0)
    for depth in range(path.shape[1] - 1):
        below = path[:, depth + 1] != path[:, depth]
        above[path[below, depth + 1]] = path[below, depth]
    return _Line(
        kernel.TREE, model.t, low=share, above=above, height=height / height[0], leaf=path[:, -1].astype(np.float64)
    )
