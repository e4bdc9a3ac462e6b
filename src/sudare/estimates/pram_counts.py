"""Counts from a release by PRAM.

Every question about perturbed columns is a sum of counts of their values: a single value, a band, or those that a
condition allows. The records are divided by the unchanged columns (and by strata, each with its own matrices), and in
every cell the values of all perturbed columns of the question are counted together. From these tables
:mod:`sudare.estimates.matrix_estimator` estimates the true counts; columns that were drawn jointly are one axis.

**Bands.** Where all values of a band are drawn into each other band with the same probability, bands are perturbed by
a matrix of their own: it is smaller, and is used instead. That is so if the truth is kept with one probability and any
value drawn else, evenly or by a prior. Other matrices are solved value by value, and counts added up.

**Errors of sums.** With R the matrix of an axis and A saying which values count for which part, the unbiased estimate
of the parts is Y B with B = R^-1 A. A record with the truth t that shows o adds B[o, g] to part g. This has the mean
A[t, g] and the second moment (R B²)[t, g], and records are drawn independently: so the variance of a sum is a sum over
the records, and needs no covariances of counts. For several axes the factors are multiplied. For the limits, variances
and third moments are averaged over the records inside and outside a part, and over strata.

If a perturbed column forms the cells, the number of records in a cell is an estimate, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.progress import Listener, silent
from sudare.estimates.generalized_counts import plain_values
from sudare.estimates.matrix_estimator import from_matrix
from sudare.estimates.partition import coded, labelled, nobody, numbered, parted, too_many, within
from sudare.estimates.pram_columns import (
    Attribute,
    Axis,
    Facts,
    attributes_of,
    axis_of,
    damaged,
    draw_of,
    joint_columns,
    strata_columns,
)
from sudare.estimates.question import Question
from sudare.estimates.run import Answer, codes_of
from sudare.estimates.set_counts import Estimates
from sudare.kernels.estimates import count_bounds
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_parts import Mechanism

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PERTURBED_ESTIMATORS = ("em", "ml", "projection", "inversion")
LARGEST = 5_000_000
"""Counts of a table at most: of the values of all perturbed columns together, in all cells of the others."""
ESTIMATED = "Cells are formed by perturbed columns, so the number of records in each cell is an estimate, too."


class Exact(NamedTuple):
    """The unchanged columns of a question: the cell of each record (-1: outside), and the parts of each cell.

    The columns are those after ``by``, and the counted one.
    """

    of_record: Ints
    parts: dict[str, Ints]
    labels: dict[str, list[Any]]

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return int(self.of_record.max()) + 1


class Piece(NamedTuple):
    """The table of a stratum: for each of its lines, how many records show each combination of the axes' lines."""

    lines: Ints
    observed: Ints
    axes: list[Axis]

    @property
    def matrices(self) -> list[Floats]:
        """The matrices of the axes; with no axis, one that changes nothing."""
        return [axis.matrix for axis in self.axes] or [np.ones((1, 1))]


def needed(certificate: Certificate, question: Question) -> tuple[str, ...]:
    """Return the columns that an answer takes: those of the question, what was drawn with them, and strata."""
    names, told = dict.fromkeys(question.columns), certificate.mechanism
    if certificate.recoding == "drawn":
        perturbed = told.columns
        for group in joint_columns(told):
            names |= dict.fromkeys(group) if any(name in names for name in group) else {}
        names |= dict.fromkeys(strata_columns(told)) if any(name in perturbed for name in names) else {}
    return tuple(names)


def answer_randomized(
    table: pa.Table,
    certificate: Certificate,
    question: Question,
    *,
    estimator: str | None = None,
    level: float = 0.95,
    progress: Listener | None = None,
) -> Answer:
    """Estimate what a question asks from a release by PRAM; columns that were not perturbed are exact."""
    told = certificate.mechanism
    chosen = estimator or PERTURBED_ESTIMATORS[0]
    absent = [name for name in needed(certificate, question) if name not in table.column_names]
    if absent:
        what = f"column '{absent[0]}' is missing; the requested columns were drawn jointly with it, or in its strata."
        raise DataError(Problem("release", what, "keep all columns of a release that has strata or joint columns."))
    attributes = list(attributes_of(told, question))
    perturbed = {name for attribute in attributes for name in attribute.names}
    exact = _exact(table, question, perturbed)
    shape = (exact.lines, math.prod(attribute.parts for attribute in attributes))
    _check_size(*shape)
    found = _solve(list(_pieces(told, table, attributes, exact)), exact, shape, chosen, level, progress or silent)
    return _arranged(question, exact, attributes, found, chosen, level)


def _check_size(lines: int, values: int) -> None:
    if lines * values > LARGEST:
        what = (
            f"the perturbed columns have {values:,} combinations, in {lines:,} cells of the others: "
            f"more than {LARGEST:,} counts."
        )
        raise DataError(Problem("by", what, "count by fewer columns, or in bands, or select some values by where."))


# -- what the release shows -------------------------------------------------------------------------------------------


def _exact(table: pa.Table, question: Question, perturbed: set[str]) -> Exact:
    keep = np.ones(table.num_rows, dtype=np.bool_)
    for name, wanted in question.where.items():
        if name not in perturbed:
            column = coded(name, table.column(name), "where")
            keep &= within(column, wanted)[column.codes]
    if not keep.any():
        raise nobody()
    of_record: dict[str, Ints] = {}
    labels: dict[str, list[Any]] = {}
    for by in question.by:
        if by.column not in perturbed:
            made = parted(coded(by.column, table.column(by.column)), by)
            of_record[by.column], labels[by.column] = made.of_record, made.labels
    if question.of not in perturbed:
        of_record[question.of], labels[question.of] = plain_values(table, question.of)
    room = math.prod(len(own) for own in labels.values())
    if room >= 2**62:
        raise too_many()
    key = np.zeros(int(keep.sum()), dtype=np.int64)
    for name, own in of_record.items():
        key = key * len(labels[name]) + own[keep]
    found, numbers = numbered(key, room)
    line = np.full(table.num_rows, -1, dtype=np.int64)
    line[keep] = numbers
    return Exact(line, _unfolded(found, labels), labels)


def _unfolded(keys: Ints, labels: Mapping[str, Sequence[Any]]) -> dict[str, Ints]:
    """Return the part of each column from keys in which the last column counts fastest."""
    parts = {}
    for name in reversed(list(labels)):
        parts[name], keys = keys % len(labels[name]), keys // len(labels[name])
    return parts


def _places(table: pa.Table, name: str, values: list[Any], *, rest: bool = False) -> Ints:
    """Return the place of each record's value among those of the certificate; ``rest``: other values are the last."""
    found = [codes_of(chunk, values, name) for chunk in table.column(name).chunks]
    if not rest and any(chunk.null_count for chunk in found):
        what = f"column '{name}' shows values that its certificate does not list."
        raise DataError(Problem("release", what, "is this the certificate of this release?"))
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(chunk.fill_null(len(values)).to_numpy().astype(np.int64) for chunk in found)])


def _combined(table: pa.Table, domains: Mapping[str, list[Any]]) -> Ints:
    """Return the combination of values of each record, the last column counting fastest."""
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name, values in domains.items():
        key = key * len(values) + _places(table, name, values)
    return key


def _strata(told: Mechanism, table: pa.Table) -> tuple[Ints, list[Facts]]:
    """Return the stratum of each record, and the facts of each stratum from the certificate."""
    names = strata_columns(told)
    if not names:
        return np.zeros(table.num_rows, dtype=np.int64), [{}]
    try:
        cells = list((told.strata or {})["cells"])
        keys = [each["cell"] for each in cells]
        # a stratum that does not name a column has all values of it that no other names
        named = {name: list(dict.fromkeys(key[name] for key in keys if name in key)) for name in names}
        places = {name: {value: place for place, value in enumerate(values)} for name, values in named.items()}
        own = [[places[name][key[name]] if name in key else len(named[name]) for name in names] for key in keys]
    except (KeyError, TypeError):
        raise damaged(".strata", "does not list its cells.") from None
    sizes = tuple(len(values) + 1 for values in named.values())
    numbers = np.ravel_multi_index(tuple(np.array(own, dtype=np.int64).T), sizes)
    shown = np.ravel_multi_index(tuple(_places(table, name, named[name], rest=True) for name in names), sizes)
    order = np.argsort(numbers)
    place = np.minimum(np.searchsorted(numbers[order], shown), len(numbers) - 1)
    if not np.array_equal(numbers[order[place]], shown):
        raise DataError(Problem("release", "it has strata that its certificate does not list."))
    return order[place], cells


def _pieces(told: Mechanism, table: pa.Table, attributes: Sequence[Attribute], exact: Exact) -> Iterator[Piece]:
    """Count, stratum by stratum, the released values of the records of the question."""
    codes = [_combined(table, dict(zip(each.names, each.domains, strict=True))) for each in attributes]
    of_record, strata = _strata(told, table) if attributes else (np.zeros(table.num_rows, dtype=np.int64), [{}])
    asked = np.flatnonzero(exact.of_record >= 0)
    asked = asked[np.argsort(of_record[asked], kind="stable")]
    ends = np.flatnonzero(np.diff(of_record[asked])) + 1
    total, largest = 0, 1
    for rows in np.split(asked, ends):
        stratum = strata[int(of_record[rows[0]])]
        axes = [axis_of(each, draw_of(told, stratum, each)) for each in attributes]
        lines, key = np.unique(exact.of_record[rows], return_inverse=True)
        room = math.prod(len(axis.matrix) for axis in axes)
        total, largest = total + len(lines), max(largest, room)
        _check_size(total, largest)
        for axis, own in zip(axes, codes, strict=True):
            shown = axis.line[own[rows]]
            if shown.size and shown.min() < 0:
                raise DataError(Problem("release", "a stratum shows values that its certificate does not list for it."))
            key = key * len(axis.matrix) + shown
        yield Piece(lines, np.bincount(key, minlength=len(lines) * room).reshape(len(lines), room), axes)


# -- from tables to parts ---------------------------------------------------------------------------------------------


class Sums:
    """What is added up where parts consist of several values or strata, for each line and part.

    ``point`` is the unbiased estimate. The records inside a part, and those outside, add their numbers, the variances
    of what they add to the estimate, and the third moments.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.counts, self.variance, self.point = (np.zeros(shape) for _ in range(3))
        self.inside, self.outside = (np.zeros((*shape, 3)) for _ in range(2))

    def add(self, piece: Piece, estimate: Floats) -> None:
        """Add a table with its estimated counts; moments are taken for these, those below 0 being 0."""
        count = [(axis.part[:, None] == axis.kept) * 1.0 for axis in piece.axes]
        back = [np.linalg.solve(axis.matrix, each) for axis, each in zip(piece.axes, count, strict=True)]
        square = [axis.matrix @ each**2 for axis, each in zip(piece.axes, back, strict=True)]
        cube = [axis.matrix @ each**3 for axis, each in zip(piece.axes, back, strict=True)]
        own_square = [one * each for one, each in zip(count, square, strict=True)]
        own_cube = [one * each for one, each in zip(count, cube, strict=True)]
        place = np.ix_(piece.lines, _combinations([(axis.kept, axis.parts) for axis in piece.axes]))
        likely = np.maximum(estimate, 0.0)
        likely *= piece.observed.sum(axis=1, keepdims=True) / likely.sum(axis=1, keepdims=True)
        self.point[place] += along(piece.observed.astype(np.float64), back)
        self.counts[place] += along(estimate, count)
        self.variance[place] += np.maximum(along(likely, square) - along(likely, count), 0.0)
        # a record more, so that there always is one inside and one outside
        likely = likely + 1 / likely.shape[1]
        held, inner, inner_cube = along(likely, count), along(likely, own_square), along(likely, own_cube)
        # those whose values cannot be drawn into a part are outside of it, too
        self.outside[piece.lines, :, 0] += likely.sum(axis=1, keepdims=True)
        self.inside[place] += np.stack([held, inner - held, inner_cube - 3 * inner + 2 * held], axis=2)
        self.outside[place] += np.stack(
            [-held, along(likely, square) - inner, along(likely, cube) - inner_cube], axis=2
        )

    def finish(self, records: Ints, lines: Ints, level: float, found: Estimates) -> None:
        """Put the figures of some lines where they belong."""
        for line in lines.tolist():
            some = slice(line, line + 1)
            low, high = found.low[some], found.high[some]
            own, others = _averages(self.inside[line]), _averages(self.outside[some])
            count_bounds.bound_estimates(self.point[some], records[some], own, others, float(level), low, high)
            np.minimum(low, self.counts[some], out=low)
            np.maximum(high, self.counts[some], out=high)
        found.counts[lines] = self.counts[lines]
        found.se[lines] = np.sqrt(self.variance[lines])


def _averages(sums: Floats) -> Floats:
    """Return sums by the number of records, which stands before them."""
    return np.ascontiguousarray(sums[..., 1:] / np.maximum(sums[..., :1], np.finfo(float).tiny))


def along(lines: Floats, parts: Sequence[Floats]) -> Floats:
    """Multiply each line by the Kronecker product of some matrices, which need not be square."""
    result = lines.reshape(len(lines), *(len(part) for part in parts))
    for axis, part in enumerate(parts, 1):
        result = np.moveaxis(np.tensordot(result, part, (axis, 0)), -1, axis)
    return np.ascontiguousarray(result.reshape(len(lines), -1))


def _combinations(axes: Sequence[tuple[Ints, int]]) -> Ints:
    """Return the places of all combinations of some numbers, the last counting fastest, from these and their ranges."""
    place: Ints = np.zeros(1, dtype=np.int64)
    for numbers, size in axes:
        place = np.add.outer(place * size, numbers).ravel()
    return place


def _solve(
    pieces: Sequence[Piece], exact: Exact, shape: tuple[int, int], estimator: str, level: float, listener: Listener
) -> Estimates:
    """Return estimates, standard errors and limits for each line and part."""
    records = np.bincount(exact.of_record[exact.of_record >= 0], minlength=shape[0])
    counts, se, low, high = (np.zeros(shape) for _ in range(4))
    found = Estimates(records, counts, se, low, high, 0)
    times = np.bincount(np.concatenate([piece.lines for piece in pieces]), minlength=shape[0])
    sums, added = None, np.zeros(shape[0], dtype=np.bool_)
    for done, piece in enumerate(pieces):
        single = all(len(axis.kept) == np.count_nonzero(axis.part >= 0) for axis in piece.axes)
        if single and times[piece.lines].max() == 1:
            own = from_matrix(piece.observed, piece.matrices, estimator=estimator, level=level)
            chosen = _combinations([(np.flatnonzero(axis.part >= 0), len(axis.part)) for axis in piece.axes])
            parts = [(axis.part[axis.part >= 0], axis.parts) for axis in piece.axes]
            place = np.ix_(piece.lines, _combinations(parts))
            for name in ("counts", "se", "low", "high"):
                getattr(found, name)[place] = getattr(own, name)[:, chosen]
        else:
            sums = sums or Sums(shape)
            sums.add(piece, from_matrix(piece.observed, piece.matrices, estimator=estimator, level=level).counts)
            added[piece.lines] = True
        listener("estimate", done + 1, len(pieces))
    if sums is not None:
        sums.finish(records, np.flatnonzero(added), level, found)
    return found


def _arranged(
    question: Question, exact: Exact, attributes: Sequence[Attribute], found: Estimates, estimator: str, level: float
) -> Answer:
    """Return the figures by cell and value, cells in the order of the columns that are counted by."""
    drawn: dict[str, list[Any]] = {}
    for attribute in attributes:
        drawn |= attribute.labels
    labels = exact.labels | drawn
    shape = found.counts.shape
    parts = {name: np.broadcast_to(own[:, None], shape) for name, own in exact.parts.items()}
    parts |= {name: np.broadcast_to(own, shape) for name, own in _unfolded(np.arange(shape[1]), drawn).items()}
    room, key = 1, np.zeros(shape, dtype=np.int64)
    for by in question.by:
        room *= len(labels[by.column])
        if room >= 2**62:
            raise too_many()
        key = key * len(labels[by.column]) + parts[by.column]
    keys, cell = np.unique(key, return_inverse=True)
    values = labels[question.of]
    place = cell.reshape(shape) * len(values) + parts[question.of]

    def by_cell(figures: Floats) -> Floats:
        placed = np.zeros(len(keys) * len(values))
        placed[place] = figures
        return placed.reshape(len(keys), -1)

    counts = by_cell(found.counts)
    perturbed = {name for attribute in attributes for name in attribute.names}
    if perturbed & {*question.where, *(by.column for by in question.by)}:
        records, notes = counts.sum(axis=1), [ESTIMATED]
    else:
        records, notes = np.bincount(cell.reshape(shape)[:, 0], found.records, len(keys)).astype(np.float64), []
    cells = labelled(keys, question, {by.column: labels[by.column] for by in question.by})
    return Answer(
        question=question,
        method="pram",
        estimator=estimator,
        level=level,
        cells=cells,
        values=values,
        records=records,
        counts=counts,
        se=by_cell(found.se),
        low=by_cell(found.low),
        high=by_cell(found.high),
        notes=tuple(notes),
    )
