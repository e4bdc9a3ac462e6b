"""Losses of a generalized release, per attribute and in total.

An item set loses the share of a record's items that is not shown: an item that is shown as it is loses nothing, one
that is shown as a node of a hierarchy the share of that node, and a hidden one everything.

A metric is a function of a :class:`~sudare.table.Generalized` table that returns a :class:`Loss`. Suppressed records
count as a total loss, and so do masked ones, which are in the release but show nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.table import Column, Cover, Generalized, ItemSets, SetCover

Reals = NDArray[np.float64]
Weights = Literal["domain", 1]
"""How attributes count in the growth of uncertainty: each by its domain, or in its own unit."""


@dataclass(frozen=True)
class Loss:
    """The figure for the whole release, and for each quasi-identifier where the metric has one."""

    total: float
    attributes: dict[str, float] = field(default_factory=dict)


def gcp(given: Generalized) -> Loss:
    """Global certainty penalty: the mean, over records and attributes, of the share of the domain a cell covers.

    Numbers: width of the interval by the range of the column. Categories: size of the set by the number of categories,
    or leaves below the node by leaves of the hierarchy; 0 for a single value. A suppressed record counts 1. Item sets:
    as above. (Ghinita, Karras, Kalnis, Mamoulis: Fast data anonymization with low information loss. VLDB 2007.)
    """
    attributes = {name: _average(given, cover.share) for name, cover in given.covers.items()}
    return _mean(attributes | _own(given))


def arx(given: Generalized) -> Loss:
    """The loss that ARX reports: per attribute (mean share - 1/size) / (1 - 1/size), averaged over attributes.

    The share is leaves below the released node by leaves of the hierarchy; without a hierarchy, different values inside
    the interval or set by different values of the column. A suppressed record has share 1. ARX knows no item sets: for
    those it is the share of hidden items.
    """
    attributes = {}
    for name, cover in given.covers.items():
        if isinstance(cover, SetCover):
            attributes[name] = _average(given, cover.share)
            continue
        attributes[name] = _average(given, leaves_lost(cover), lost=1.0 if _leaves(cover) > 1 else 0.0)
    return _mean(attributes | _own(given))


def discernibility(given: Generalized) -> Loss:
    """Sum of squared class sizes; a suppressed record counts as the number of all records.

    (Bayardo, Agrawal: Data privacy through optimal k-anonymization. ICDE 2005.)
    """
    return Loss(float((given.kept.astype(np.float64) ** 2).sum()) + float(given.lost) * given.rows)


def average_class_size(given: Generalized) -> Loss:
    """Released records per class, without masked ones.

    (LeFevre, DeWitt, Ramakrishnan: Mondrian. ICDE 2006, without the division by k.)
    """
    return Loss(float(given.kept.sum()) / len(given.kept) if len(given.kept) else 0.0)


def precision(given: Generalized) -> Loss:
    """Sweeney's precision: 1 minus the mean height of the released nodes by the height of their hierarchy.

    1 is untouched. Without a hierarchy a single value has height 0, everything height 1, and what lies between the
    share of the domain that it covers; an item set the share of hidden items.
    (Sweeney: Achieving k-anonymity privacy protection. IJUFKS 10(5), 2002.)
    """
    attributes = {}
    for name, cover in given.covers.items():
        height = cover.share if isinstance(cover, SetCover) else heights(cover)
        attributes[name] = 1.0 - _average(given, height)
    return _mean(attributes | {name: 1.0 - loss for name, loss in _own(given).items()})


def entropy(given: Generalized) -> Loss:
    """Non-uniform entropy: bits needed to restore the cells, as a share of what restoring everything would need.

    A cell with value v in a released cell A costs -log2(f(v) / f(A)), f being frequencies in the whole table. Item sets
    take no part: what would restore them is not defined.
    (De Waal, Willenborg: Information loss through global recoding and local suppression. 1999; Gionis, Tassa:
    k-Anonymization with minimal loss of information. TKDE 21(2), 2009.)
    """
    attributes = {}
    for name, cover in given.covers.items():
        if isinstance(cover, SetCover):
            continue
        column = cover.column
        often = column.frequencies().astype(np.float64)
        bits = np.log2(cover.total(often))[: len(given.kept)]
        released = float((given.kept * bits).sum()) + given.lost * np.log2(given.rows)
        own = own_bits(often)
        most = given.rows * np.log2(given.rows) - own
        attributes[name] = max((released - own) / most, 0.0) if most > 0 else 0.0
    return _mean(attributes)


def uncertainty(given: Generalized, weights: Weights = 1) -> Loss:
    """L: by how much the cells have grown, summed over records and attributes.

    Numbers: width of the interval, in the column's own unit (dates in days, times in seconds). Categories: size of the
    set less 1, or leaves below the node less 1. Missing is one category more, or one leaf more below the root; what
    covers missing and numbers counts as the whole range, or 1 if there is only one number. A suppressed or masked
    record counts as a cell that covers everything, which is 0 in a column with one value. Item sets: 1 for each item
    that is not shown unchanged.

    With the ``weights`` "domain" each attribute is divided by its domain. By records and attributes that is GCP, but
    for sets and nodes of n values, which count n - 1 and not n, and for columns with one value. An item set then counts
    the share of its items that is lost, as in GCP. A sum that no float can hold becomes the largest one.
    (A clustering-based approach for data anonymization. Journal of Software, in Chinese.)
    """
    attributes = {name: part.total for name, part in _grown(given, weights).items()}
    return Loss(min(float(sum(attributes.values())), sys.float_info.max), attributes)


def relative_uncertainty(given: Generalized, weights: Weights = 1, *, items: bool = True) -> Loss:
    """RL: :func:`uncertainty` divided by that of the table in which every cell covers everything.

    It is 0 for an unchanged table, 1 for that one, and 0 if there is nothing to lose. Everything means the root of a
    hierarchy, also if a lower node covers all records: otherwise a suppressed record could count more than 1. Without
    ``items``, item sets take no part. (A clustering-based approach for data anonymization. Journal of Software, in
    Chinese.)
    """
    parts = {name: part for name, part in _grown(given, weights).items() if items or name in _single(given)}
    attributes = {name: part.share for name, part in parts.items()}
    # by the widest column, since the sum of several may be more than a float can hold
    widest = max((part.most for part in parts.values()), default=0.0)
    weight = {name: part.most / widest if widest else 0.0 for name, part in parts.items()}
    total = sum(weight[name] * attributes[name] for name in parts)
    return Loss(float(total / sum(weight.values())) if widest else 0.0, attributes)


def item_figures(given: Generalized) -> dict[str, dict[str, float]]:
    """Return, for each item-set column, how many items the release shows unchanged, and the NCP.

    The number of all items is not published: together with the shown items it would reveal how many items of one person
    are hidden. In the NCP each record counts the same, however many it holds.
    """
    sets = {name: cover for name, cover in given.covers.items() if isinstance(cover, SetCover)}
    shown = {name: (int(cover.disclosed.sum()), _average(given, cover.share)) for name, cover in sets.items()}
    shown |= {name: (own.disclosed, _own(given)[name]) for name, own in given.own.items()}
    return {name: {"disclosed": disclosed, "ncp": published(ncp)} for name, (disclosed, ncp) in shown.items()}


def published(figure: float) -> float:
    """Return a figure as certificates have it: exact enough to compare releases, too coarse to solve equations with.

    It is rounded twice, so that a sum in another order (on another engine) does not cross a tie. Where such a sum falls
    below zero by its last digit, the result is 0 and not -0.
    """
    return round(round(figure, 10), 4) + 0.0


METRICS: dict[str, Callable[[Generalized], Loss]] = {
    "gcp": gcp,
    "arx": arx,
    "discernibility": discernibility,
    "average_class_size": average_class_size,
    "precision": precision,
    "entropy": entropy,
    "uncertainty": uncertainty,
    "relative_uncertainty": relative_uncertainty,
}
"""Every loss metric by name."""

PUBLISHED: dict[str, Callable[[Generalized], Loss]] = {
    name: partial(relative_uncertainty, items=False) if name == "relative_uncertainty" else metric
    for name, metric in METRICS.items()
    if name != "uncertainty"
}
"""The metrics of certificates: no sums in a column's own unit, because they reveal its range or a person's set."""


def leaves_lost(cover: Cover) -> Reals:
    """Return what ARX counts for each class's cell: its share of the leaves, from 0 for one of them to 1 for all."""
    column, size = cover.column, _leaves(cover)
    if column.taxonomy is not None:
        share = np.where(cover.node == 0, 1.0, np.maximum(column.taxonomy.leaves[cover.node], 1) / size)
    elif column.positions is not None:
        low, high = cover.reach
        share = (high - low + 1) / size
    else:
        share = cover.values / size
    return (share - 1 / size) / (1 - 1 / size) if size > 1 else np.zeros(len(share))


def heights(cover: Cover) -> Reals:
    """Return how high each class's cell stands, from 0 for a value to 1 for everything."""
    taxonomy = cover.column.taxonomy
    if taxonomy is None:
        return cover.share
    depth = taxonomy.depths
    deepest = max(float(depth.max()), 1.0)
    return np.where(taxonomy.is_leaf[cover.node], 0.0, 1.0 - depth[cover.node] / deepest)


def own_bits(frequency: Reals) -> float:
    """Return the bits that untouched cells are counted with, over all records."""
    return float((frequency * np.log2(np.maximum(frequency, 1.0))).sum())


class _Grown(NamedTuple):
    """The growth of uncertainty of one attribute over all records, as a share, and the most that a record has of it."""

    total: float
    share: float
    most: float


def _grown(given: Generalized, weights: Weights) -> dict[str, _Grown]:
    """Return by how much each attribute has grown."""
    found = {}
    for name, cover in given.covers.items():
        if isinstance(cover, SetCover):
            ncp = _average(given, cover.share)
            found[name] = _hidden(given, cover.column, int(cover.disclosed.sum()), ncp, weights)
            continue
        by_class, most = widths(cover)
        if weights == "domain":
            unit = cover.span or 1.0
            by_class, most = by_class / unit, most / unit
        with np.errstate(over="ignore"):
            total = float((given.kept * by_class[: len(given.kept)]).sum()) + given.lost * most
        share = _average(given, by_class / most) if most else 0.0
        found[name] = _Grown(min(total, sys.float_info.max), share, most)
    told = _own(given)
    return found | {name: _hidden(given, o.column, o.disclosed, told[name], weights) for name, o in given.own.items()}


def widths(cover: Cover) -> tuple[Reals, float]:
    """Return by how much each class's cell is wider than one value, and so for a cell that shows everything."""
    column, taxonomy, most = cover.column, cover.column.taxonomy, widest(cover.column, cover.domain)
    if taxonomy is not None:
        return np.where(cover.node == 0, most, np.maximum(taxonomy.leaves[cover.node] - 1.0, 0.0)), most
    if not most:
        return np.zeros(len(cover.begin)), 0.0
    grown = cover.width if column.positions is not None else np.maximum(cover.width - 1.0, 0.0)
    return np.where(cover.everything, most, grown), most


def widest(column: Column, domain: float | None = None) -> float:
    """Return by how much a cell that shows everything is wider than one value; 0 if there is only one.

    ``domain`` is what shares are of, if that is not the column's own.
    """
    if column.taxonomy is not None:
        return float(max(column.taxonomy.size - 1 + column.missing, 0))
    if column.size < 2 and column.other is None:
        return 0.0
    span = column.domain if domain is None else domain
    # one number, and missing: two that may be told apart
    return span or 1.0 if column.positions is not None else max(span - 1.0, 0.0)


def _hidden(given: Generalized, column: ItemSets, disclosed: int, ncp: float, weights: Weights) -> _Grown:
    """Return what item sets lose: items, or by the domain the share of each record's."""
    if weights == "domain":
        return _Grown(ncp * given.rows, ncp, 1.0)
    items = len(column.items)
    return _Grown(float(items - disclosed), (items - disclosed) / max(items, 1), items / max(given.rows, 1))


def _leaves(cover: Cover) -> int:
    """Return how many leaves there are; without a hierarchy, different values. One that has none counts as one."""
    taxonomy = cover.column.taxonomy
    return cover.column.different if taxonomy is None else max(taxonomy.size, 1)


def _average(given: Generalized, by_class: Reals, lost: float = 1.0) -> float:
    """Return the mean over all records of a per-class figure, which is ``lost`` for suppressed or masked records."""
    return (float((given.kept * by_class[: len(given.kept)]).sum()) + given.lost * lost) / max(given.rows, 1)


def _own(given: Generalized) -> dict[str, float]:
    """Return what item sets lose that each record shows for itself."""
    released = given.rows - given.lost
    return {name: (own.share * released + given.lost) / max(given.rows, 1) for name, own in given.own.items()}


def _single(given: Generalized) -> set[str]:
    return {name for name, cover in given.covers.items() if isinstance(cover, Cover)}


def _mean(attributes: dict[str, float]) -> Loss:
    return Loss(float(np.mean(list(attributes.values()))) if attributes else 0.0, attributes)
