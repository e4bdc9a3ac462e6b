"""Microaggregation: groups of near records show one value in place of their own, so that columns stay numbers.

Steps
    1. Quasi-identifiers that are not aggregated are generalized: top-down makes classes by them alone, which keep all
       requirements.
    2. Records of a class that miss the same cells of aggregated columns stay together, if enough do (see
       :mod:`sudare.methods.microaggregation.coordinates`).
    3. Inside these, near records become groups of k or more (see
       :mod:`sudare.methods.microaggregation.record_groups`). Columns count equally: each has mean 0 and variance 1,
       times its weight. Groups keep all other requirements, too.
    4. A group shows a representative of each aggregated column: the mean of its numbers, for example. In all other
       columns it shows what covers its records. Groups that show the same are one class.

Cost
    That of the search for groups, and of top-down where some columns are not aggregated.

Guarantee
    Every group keeps all requirements; no record is left out, whatever the policy allows. With ``representative: mean``
    the mean of every aggregated column of numbers is that of the table, but for rounding. The answer depends on the
    multiset of records alone.

Deviations
    Groups may hold more than 2k - 1 records where a requirement beyond k asks for it. Papers know neither missing cells
    nor generalized columns beside aggregated ones. A group that has to mix missing cells with others shows an empty
    cell: its representative would be a value that some record does not have.

References
    Domingo-Ferrer, Mateo-Sanz: Practical data-oriented microaggregation for statistical disclosure control. IEEE TKDE
    14(1), 2002.
    Domingo-Ferrer, Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation. Data Mining and
    Knowledge Discovery 11(2), 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sudare.core.errors import PolicyError, PolicyUnmetError, Problem, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.methods.class_counts import everybody, refuse_free_sets
from sudare.methods.clustering.item_columns import set_ranks
from sudare.methods.clustering.neighbourhoods import in_order, ordered_categories
from sudare.methods.microaggregation.coordinates import (
    Ints,
    apart_by_missing,
    can_aggregate,
    coordinates,
    missing_cells,
)
from sudare.methods.microaggregation.record_groups import Limits, group_records
from sudare.methods.microaggregation.representatives import Groups, facts_of, medoids, represent
from sudare.methods.topdown.top_down import top_down
from sudare.models import Requirements
from sudare.table import Column, Partition, Table, generalize, merge_alike

USUAL = 3
"""Records of a group, where neither the policy nor its requirements say how many."""
HALF = 0.5
"""The share of classes in the progress; the other one is that of groups."""


def microaggregation(
    table: Table,
    requirements: Requirements,
    *,
    k: int | None = None,
    representative: Literal["mean", "median", "mode", "medoid"] = "mean",
    columns: Sequence[str] | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Aggregate columns in groups of near records (see the module's description).

    ``k`` is the least number of records of a group, by default what the requirements imply. ``columns`` are those that
    are aggregated, by default all numbers, dates, times and ordered categories without a hierarchy. Nothing is drawn,
    so ``seed`` makes no difference.
    """
    del seed
    listener = progress or silent
    names = aggregated_columns(table, columns)
    if table.sets:
        refuse_free_sets(table, requirements)
        requirements = requirements.for_groups(())
    least = requirements.least_rows
    size = max(k or (least if least > 1 else min(USUAL, table.rows)), least)
    unmet = requirements.unmet(everybody(table, requirements))
    if not unmet and size > table.rows:
        what = f"groups of {size:,} records cannot be made of {table.rows:,} records."
        unmet = [Problem("method.k", what, "choose a smaller k.")]
    if unmet:
        raise PolicyUnmetError(unmet)
    order = in_order(table, then=set_ranks(table))
    given, table = table, table.taken(order)
    chosen = {name: table.single[name] for name in names}
    found = _groups(table, requirements, size, list(chosen.values()), listener)
    listener("decide", 1.0, 1.0)
    nearest = medoids(coordinates(list(chosen.values())), found) if representative == "medoid" else None
    shown = {name: represent(column, found, representative, nearest) for name, column in chosen.items()}
    classes = np.empty(given.rows, dtype=np.int32)
    classes[order] = found.of_row
    partition = Partition(
        classes,
        found.count,
        facts={"group_size": size, **facts_of(chosen, found, shown)},
        intervals=ordered_categories(chosen.values()),
        aggregated={name: each.values for name, each in shown.items()},
    )
    return merge_alike(partition, generalize(given, partition))


def aggregated_columns(table: Table, asked: Sequence[str] | None) -> list[str]:
    """Return the columns that are aggregated, in the order of the table; raise if one of them cannot be, or none is."""
    if asked is None:
        names = [name for name, column in table.single.items() if column.taxonomy is None and can_aggregate(column)]
        if not names:
            what = "no quasi-identifier holds numbers, dates or times, or has an order."
            hint = "give a column order: or kind: numeric, name it in columns:, or use l-clustering."
            raise UnsupportedError(what, hint=hint)
        return names
    problems = [problem for name in asked if (problem := _unfit(table, name)) is not None]
    if problems:
        raise PolicyError(problems)
    return [name for name in table.single if name in asked]


def _unfit(table: Table, name: str) -> Problem | None:
    """Return why a column cannot be aggregated."""
    if name in table.sets:
        what = f"column '{name}' holds item sets, which have no mean and no median."
        return Problem("method.columns", what, "remove it here: item sets are generalized.")
    if name not in table.single:
        return Problem("method.columns", f"'{name}' is not a quasi-identifier of the table.")
    column = table.single[name]
    if not can_aggregate(column):
        what = f"column '{name}' holds categories without an order and without a hierarchy, so none is near another."
        return Problem("method.columns", what, "give it order: or a hierarchy, or remove it here to generalize it.")
    if column.taxonomy is not None and column.positions is not None:
        what = f"column '{name}' holds numbers or dates, which are aggregated as such: its hierarchy has no effect."
        return Problem("method.columns", what, "remove the hierarchy, or remove the column here to generalize it.")
    return None


def _groups(table: Table, requirements: Requirements, size: int, columns: list[Column], listener: Listener) -> Groups:
    """Return the groups of records, which are in their order."""
    names = {column.name for column in columns}
    others = table.without(names)
    classes: Ints = np.zeros(table.rows, np.int64)
    if others.quasi:
        needed = replace(requirements, limit=0.0, masked=False)
        first, listener = _part(listener, 0.0), _part(listener, HALF)
        classes = top_down(others, _at_least(needed, size), progress=first).classes.astype(np.int64)
    inside = apart_by_missing(table, requirements, size, classes, missing_cells(columns))
    limits = None if requirements.only_rows else Limits(table, requirements)
    points = coordinates(columns)
    found = group_records(points, size, within=inside, limits=limits, progress=listener)
    return Groups.of(np.unique(found, return_inverse=True)[1].astype(np.int64))


def _part(listener: Listener, start: float) -> Listener:
    """Return a listener to one half of the decision, which begins at ``start``."""

    def hear(stage: str, done: float, total: float) -> None:
        if stage == "decide":
            done, total = start + HALF * (done / total if total else 0.0), 1.0
        listener(stage, done, total)

    return hear


def _at_least(requirements: Requirements, size: int) -> Requirements:
    """Return requirements under which a class has so many records at least."""
    from sudare.models import KAnonymity

    return replace(requirements, models=(*requirements.models, KAnonymity(size)))
