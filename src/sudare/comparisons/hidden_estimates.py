"""Query answers from hidden or randomly drawn values: dummies, anatomy and pram.

- ``dummies``: quasi-identifiers are exact; the sensitive values of the records that meet a query's other conditions are
  estimated from their sets, as ``sudare estimate`` does.
- ``anatomy``: each record has the values of its group in proportion.
- ``pram``: the records that meet the conditions on columns that stand as they were are counted by whether they *show*
  what is asked in the others. For these a condition has a matrix of its own: how likely a value that meets it, or does
  not, is shown as one that does. From both the true counts are estimated as ``sudare estimate`` does (``em``). Where
  values that meet a condition differ in how likely they are shown as such, it is the unbiased estimate: with R the
  matrix of a column and a the values that are asked for (1, else 0), a record counts the product of R⁻¹ a over the
  columns, in sum kept between nothing and all records.

Where a column has a hierarchy, its codes here may differ from those of the table that queries are about. The records,
which are the same in both, show which code is which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.comparisons.queries import Condition, Query
from sudare.estimates import from_matrix, from_sets
from sudare.table import Column, Perturbation, Separation, Table

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
DrawnCodes = Mapping[str, NDArray[Any]]
"""By column, the codes that each record shows."""
ALIKE = 1e-9
"""Two probabilities that differ by less count as equal."""
LEAST_KEPT = 1e-6
"""Of a matrix, below which it says nothing about the truth."""


class CannotEstimateError(Exception):
    """Nothing can be estimated; the message has the reason."""


def from_groups(table: Table, recoding: Separation, queries: Sequence[Query]) -> list[float]:
    """Return estimates from a release by anatomy; ``table`` is the one that it was decided for."""
    column = next(iter(table.sensitive.values()))
    sizes = np.bincount(recoding.groups, minlength=recoding.count)
    found = []
    for query in queries:
        rows = query.rows
        if query.sensitive is None or query.sensitive.column.name != column.name:
            found.append(float(query.truth))
            continue
        held = np.bincount(recoding.groups[query.sensitive.rows], minlength=recoding.count)
        found.append(float((held / np.maximum(sizes, 1))[recoding.groups[rows]].sum()))
    return found


def draw_all(recoding: Perturbation, rows: int) -> DrawnCodes:
    """Draw every cell, once, as a release would."""
    return {name: draw.cells(np.arange(rows)) for name, draw in recoding.draws.items()}


def from_draws(recoding: Perturbation, shown: DrawnCodes, queries: Sequence[Query], rows: int) -> list[float]:
    """Return estimates from a release whose values were drawn, by what it shows."""
    if all(draw.width is not None for draw in recoding.draws.values()):
        return [_from_sets(recoding, shown, query) for query in queries]
    if recoding.facts.get("strata") or recoding.facts.get("joint"):
        raise CannotEstimateError("queries are not estimated if columns are drawn jointly or by strata.")
    return [_from_values(recoding, shown, query, rows) for query in queries]


def _from_sets(recoding: Perturbation, shown: DrawnCodes, query: Query) -> float:
    secret = query.sensitive
    if secret is None or secret.column.name not in shown:
        return float(query.truth)
    name = secret.column.name
    draw, facts = recoding.draws[name], recoding.facts["columns"][name]
    factors = None
    if facts.get("weights") is not None:
        from sudare.kernels.random_cells import log_factors

        factors = np.asarray(log_factors(np.asarray(facts["weights"], dtype=np.float64), int(facts["l"])))
    cells = np.where(query.rows, 0, -1)
    sets = np.ascontiguousarray(shown[name], dtype=np.uint32)
    counts = from_sets(cells, sets, draw.column.size, 1, log_factors=factors).counts[0]
    return float(counts[allowed(secret, draw.column)].sum())


def _from_values(recoding: Perturbation, shown: DrawnCodes, query: Query, rows: int) -> float:
    conditions = [*query.quasi.values(), *([] if query.sensitive is None else [query.sensitive])]
    inside = np.ones(rows, dtype=np.bool_)
    matrices, met, counting = [], np.zeros(rows, dtype=np.int64), np.ones(rows)
    alike = True
    for condition in conditions:
        name = condition.column.name
        if name not in shown:
            inside &= condition.rows
            continue
        wanted = allowed(condition, recoding.draws[name].column)
        if wanted.all():
            continue
        told = recoding.facts["columns"][name]["matrix"]
        lumped = _lumped(told, wanted)
        alike &= lumped is not None
        matrices.append(lumped)
        met = 2 * met + wanted[shown[name]]
        counting *= _counting(told, wanted)[shown[name]]
    if not matrices:
        return float(np.count_nonzero(inside))
    if not alike:
        return float(np.clip(counting[inside].sum(), 0.0, rows))
    observed = np.bincount(met[inside], minlength=2 ** len(matrices))[None, :]
    return float(from_matrix(observed, [each for each in matrices if each is not None]).counts[0, -1])


def _lumped(matrix: Mapping[str, Any], wanted: NDArray[np.bool_]) -> Reals | None:
    """Return how likely values inside and outside a query are shown inside; None if that depends on the value."""
    keep = matrix.get("p")
    if keep is not None:
        share = float(wanted.mean())
        once = np.array([1 - share, share])
        return np.asarray(keep * np.eye(2) + (1 - keep) * once)
    met = np.array(matrix["rows"], dtype=np.float64) @ wanted
    ends = [met[~wanted], met[wanted]]
    if any(np.ptp(each) > ALIKE for each in ends):
        return None
    return np.array([[1 - each[0], each[0]] for each in ends])


def _counting(matrix: Mapping[str, Any], wanted: NDArray[np.bool_]) -> Reals:
    """Return what each released code counts for on average."""
    keep, asked = matrix.get("p"), wanted.astype(np.float64)
    if keep is not None:
        if keep < LEAST_KEPT:
            raise CannotEstimateError("some columns keep no values, so queries about them have no answer.")
        return np.asarray((asked - (1 - keep) * asked.mean()) / keep)
    rows = np.array(matrix["rows"], dtype=np.float64)
    if not np.linalg.cond(rows) < 1 / LEAST_KEPT:
        raise CannotEstimateError("some columns are drawn by a matrix that has no inverse.")
    return np.asarray(np.linalg.solve(rows, asked))


def allowed(condition: Condition, column: Column) -> NDArray[np.bool_]:
    """Return which codes of a column a condition allows, where it was drawn for the same column in other codes."""
    own: Ints = np.zeros(column.size, dtype=np.int64)
    own[column.codes] = condition.column.codes
    return np.asarray(condition.codes[own])
