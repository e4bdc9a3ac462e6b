"""Perturbed columns (PRAM) as a certificate describes them: their values and matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.estimates.partition import coded, nobody, parted, plain_value, within
from sudare.estimates.question import By, Question
from sudare.releases.certificate_parts import Mechanism

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Facts = Mapping[str, Any]

WIDEST = 1 << 24
"""Cells of a matrix at most."""
ROUNDED = 1e-6
"""The largest difference from 1 of the sum of a row in a certificate, whose decimals are rounded."""
ALIKE = 1e-9
"""Two probabilities that differ by less count as equal."""


class Drawn(NamedTuple):
    """A random draw: with a probability ``keep`` of the true value, or with a row of probabilities for each value.

    ``codes`` are the possible values, among those of the attribute.
    """

    codes: Ints
    keep: float | None
    rows: Floats | None


class Axis(NamedTuple):
    """An axis of a table: the line of each value (-1: it cannot be there), the matrix, and the part of each line.

    A line that does not count has the part -1; ``parts`` is how many there are.
    """

    line: Ints
    matrix: Floats
    part: Ints
    parts: int

    @property
    def kept(self) -> Ints:
        """The parts that are here, ascending."""
        return np.unique(self.part[self.part >= 0])


@dataclass(frozen=True, eq=False)
class Attribute:
    """Columns that were drawn jointly, mostly one, and the part of each value (combination, the last fastest).

    ``part`` is -1 for values that do not count. ``labels`` has the names of the parts of each column of the question;
    they are combined in the same order.
    """

    names: tuple[str, ...]
    domains: tuple[list[Any], ...]
    part: Ints
    labels: dict[str, list[Any]]

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return math.prod(len(own) for own in self.labels.values())


def damaged(place: str, what: str) -> DataError:
    """Return what to raise about a certificate that cannot be used."""
    return DataError(Problem(f"certificate.mechanism{place}", what, "is the certificate complete?"))


def joint_columns(told: Mechanism) -> list[tuple[str, ...]]:
    """Return the groups of columns that were drawn together, which are the same in all strata."""
    try:
        cells = (told.strata or {}).get("cells") or [{}]
        groups = told.joint or cells[0].get("joint") or ()
        return [tuple(map(str, group["columns"])) for group in groups]
    except (AttributeError, KeyError, TypeError):
        raise damaged(".joint", "does not list the columns that were drawn jointly.") from None


def strata_columns(told: Mechanism) -> list[str]:
    """Return the columns of the strata."""
    strata = told.strata
    if not strata:
        return []
    columns = strata.get("columns") if isinstance(strata, Mapping) else None
    if not isinstance(columns, list) or not columns or not all(isinstance(name, str) for name in columns):
        raise damaged(".strata", "does not list the columns of the strata.")
    return columns


def attributes_of(told: Mechanism, question: Question) -> Iterator[Attribute]:
    """Return the perturbed columns that a question is about, with those that were drawn together with them."""
    facts, groups = told.facts.get("columns"), joint_columns(told)
    if not isinstance(facts, Mapping):
        raise damaged("", "does not list the perturbed columns.")
    left = [name for name in facts if name in question.columns]
    while left:
        names = next((group for group in groups if left[0] in group), (left[0],))
        left = [name for name in left if name not in names]
        yield _attribute(names, tuple(_domain(facts, name) for name in names), question)


def _domain(facts: Facts, name: str) -> list[Any]:
    """Return the values of a perturbed column, in the order of its codes."""
    own = facts.get(name)
    values = own.get("values") if isinstance(own, Mapping) else None
    known = isinstance(values, list) and all(value is None or isinstance(value, str | int | float) for value in values)
    if not values or not known:
        raise damaged(f".columns.{name}", "does not list the values of the column.")
    return list(values)


def _attribute(names: tuple[str, ...], domains: tuple[list[Any], ...], question: Question) -> Attribute:
    asked = {by.column: by for by in question.by} | {question.of: By(question.of)}
    part: Ints = np.zeros(1, dtype=np.int64)
    allowed = np.ones(1, dtype=np.bool_)
    labels = {}
    for name, values in zip(names, domains, strict=True):
        own: Ints = np.zeros(len(values), dtype=np.int64)
        column = coded(name, _column(values))
        if name == question.of:
            own, labels[name] = np.arange(len(values)), [plain_value(value) for value in values]
        elif name in asked:
            made = parted(column, asked[name])
            own, labels[name] = made.of_record, made.labels
        wanted = question.where.get(name)
        fits = np.ones(len(values), dtype=np.bool_) if wanted is None else within(column, wanted)[column.codes]
        part = np.add.outer(part * (len(labels[name]) if name in labels else 1), own).ravel()
        allowed = np.logical_and.outer(allowed, fits).ravel()
    if not allowed.any():
        raise nobody()
    return Attribute(names, domains, np.where(allowed, part, -1), labels)


def _column(values: list[Any]) -> pa.ChunkedArray:
    """Return the values in a certificate as a column; values of several kinds become text."""
    try:
        return pa.chunked_array([pa.array(values)])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.chunked_array([pa.array([None if value is None else str(value) for value in values])])


def draw_of(told: Mechanism, stratum: Facts, attribute: Attribute) -> Drawn:
    """Return how an attribute was drawn in a stratum; what a stratum does not state is the same everywhere."""
    name = attribute.names[0]
    own: Any
    for given, where in ((stratum, ".strata"), (told.facts, "")):
        if len(attribute.names) > 1:
            own = next((group for group in given.get("joint") or () if tuple(group["columns"]) == attribute.names), {})
            place = f"{where}.joint"
        else:
            own, place = (given.get("columns") or {}).get(name), f"{where}.columns.{name}"
        if isinstance(own, Mapping) and _matrix_in(own) is not None:
            return _drawn(own, place, attribute)
    raise damaged(f".columns.{name}", "does not contain the matrix of the draws.")


def _matrix_in(facts: Facts) -> Facts | None:
    """Return the facts of a matrix: columns have it under its name, groups of columns directly."""
    matrix = facts.get("matrix", facts)
    return matrix if isinstance(matrix, Mapping) and ("p" in matrix or "rows" in matrix) else None


def _drawn(facts: Facts, place: str, attribute: Attribute) -> Drawn:
    matrix, codes = _matrix_in(facts) or {}, np.arange(len(attribute.part))
    own = facts.get("values")
    if own is not None and len(attribute.names) == 1:  # of a stratum, where some of them may not occur
        known = {(isinstance(value, bool), value): code for code, value in enumerate(attribute.domains[0])}
        try:
            codes = np.array([known[isinstance(value, bool), value] for value in own], dtype=np.int64)
        except (KeyError, TypeError):
            raise damaged(place, "lists values that the column does not have.") from None
    keep = matrix.get("p")
    if keep is not None:
        if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 <= keep <= 1:
            raise damaged(place, "does not contain the probability of keeping the true value.")
        return Drawn(codes, float(keep), None)
    try:
        rows = np.array(matrix["rows"], dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    square = rows.shape == (len(codes), len(codes))
    if not square or not (rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1).max() <= ROUNDED):
        raise damaged(place, f"does not contain a matrix of {len(codes)} rows of probabilities that add up to 1.")
    if len(attribute.names) > 1:  # combinations that are never made: nobody has them either
        codes = np.flatnonzero(rows.max(axis=0) > 0)
        rows = rows[np.ix_(codes, codes)]
    return Drawn(codes, None, rows / rows.sum(axis=1, keepdims=True))


def axis_of(attribute: Attribute, way: Drawn) -> Axis:
    """Return an axis of parts if these have a matrix of their own, otherwise one of values."""
    own = attribute.part[way.codes]
    parts, group, size = np.unique(own, return_inverse=True, return_counts=True)
    line = np.full(len(attribute.part), -1, dtype=np.int64)
    line[way.codes] = group
    if way.rows is None:
        if len(parts) ** 2 > WIDEST:
            what = f"column '{attribute.names[0]}' has {len(parts):,} values, too many to estimate."
            raise DataError(Problem("by", what, "count in bands, or select some values by where."))
        keep = way.keep or 0.0
        matrix = np.tile((1 - keep) * size / len(own), (len(parts), 1))
        matrix[np.diag_indices(len(parts))] += keep
        return Axis(line, matrix, parts, attribute.parts)
    onto = way.rows @ (group[:, None] == np.arange(len(parts)))
    first = np.unique(group, return_index=True)[1]
    if np.abs(onto - onto[first][group]).max() <= ALIKE:
        return Axis(line, onto[first], parts, attribute.parts)
    line[way.codes] = np.arange(len(own))
    return Axis(line, way.rows, own, attribute.parts)
