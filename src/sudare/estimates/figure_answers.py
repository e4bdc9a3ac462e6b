"""Figures of columns of numbers: means, variances, correlations and lines, without the errors that a release has.

What is estimated is the figure of the table before its columns were transformed: what the same computation on the true
numbers of the released records would give. From a sample it is the figure of the table that the sample was taken of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import ParameterError, Problem, UnsupportedError
from sudare.estimates import noise_moments
from sudare.estimates.answer_rows import row_columns, shown_figure
from sudare.estimates.error_moments import Multiplied
from sudare.estimates.figure_question import FigureQuestion
from sudare.estimates.noise_moments import LEAST, Figure, Moments, NoisyColumn, Sampling, Shared, nothing
from sudare.estimates.partition import Cells, cells_of, too_many
from sudare.estimates.published_errors import Coded, Grid, Published, entries_of
from sudare.estimates.released_numbers import ReleasedNumbers, check_grouping, read_numbers
from sudare.releases.certificate import Certificate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_CELLS = 100_000
DEVIATION = "standard deviation"
INTERCEPT = "(intercept)"
EVENLY = (
    "Column '{name}' was rounded to multiples of {to:g}. Estimates assume that its numbers lie evenly between them."
)
COARSE = "The grid of {to:g} is coarse against the spread of the numbers, so the limits are bounds that always hold."
COARSE_NONE = "The grid of {to:g} is coarse against the spread of the numbers, so nothing can be estimated."
CLIPPED = (
    "{share:.2g} of the released numbers of column '{name}' are at the bounds of its noise, where it was cut off. This "
    "biases means, variances, correlations and lines. The estimates are only approximate and have no intervals."
)
CLIPPED_UNSEEN = (
    "Noise of column '{name}' was cut off at bounds, and a later step hides how often. This may bias means, variances, "
    "correlations and lines. The estimates are only approximate and have no intervals."
)
BIASED = "Noise was cut off at its bounds. This figure is biased by it, so it has no interval."
LARGE_FACTOR = 0.2
"""The standard deviation of a factor from which on intervals of skewed numbers can be too narrow."""
FACTOR = (
    "Column '{name}' was multiplied by a factor with a standard deviation of {sd:g}. If few large numbers decide about "
    "a figure, its interval may hold the truth less often than it says."
)
BEYOND = (
    "Some numbers are beyond a limit and not shown, so only one side is certain. Counts (--of), medians and other "
    "quantiles within the limit are kept."
)
BEYOND_NONE = "Some numbers are beyond a limit and not shown. Select the others with --where, or ask for counts (--of)."
HIDDEN = (
    "Column '{name}' was limited to numbers {side} {at:g} before its noise, and the noise hides which were beyond. So "
    "only one side is certain."
)
HIDDEN_NONE = (
    "Column '{name}' was limited to numbers {side} {at:g} before its noise, and the noise hides which were beyond. So "
    "this figure is not known."
)
EXCHANGED = "Values changed places with those of suppressed records, too, so the figure of the others is approximate."
SUPPRESSED = "{count} records were suppressed. Figures are about the others."
SAMPLED = "The release is a random sample. Figures are about the whole table, and intervals include the sampling error."
PEOPLE = (
    "The sample was drawn by person, and the release does not show which records belong together. They are treated as "
    "independent, so intervals may be too narrow."
)
AGGREGATED = "Column '{name}' is aggregated; its mean is that of the unaggregated numbers."


@dataclass(frozen=True, eq=False)
class FigureAnswer:
    """Estimated figures: a row for each figure of each cell; iterate over it for rows.

    A row has the ``cell``, the ``figure`` (for a line, `(intercept)` or the regressor), the ``estimate``, its standard
    error ``se``, the limits ``low`` and ``high``, the ``records`` that it comes from, and a ``note``. Its ``limits``
    are those of an *interval*, which holds the true figure with the probability ``level``, or *bounds*, which always
    hold it. A figure of which nothing is known is None.
    """

    question: FigureQuestion
    method: str
    level: float
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return the answer in the types that JSON has, with so many rows at most, or all."""
        return {
            "asked": self.question.asked,
            "columns": list(self.question.columns),
            "by": [each.column for each in self.question.by],
            "method": self.method,
            "level": self.level,
            "rows": list(islice(self, most)),
            "notes": list(self.notes),
        }

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, with a column for each column that figures are grouped by.

        A figure whose name is taken by such a column has an underscore behind it.
        """
        kinds = {"figure": pa.string(), "records": pa.int64(), "limits": pa.string(), "note": pa.string()}
        told = {
            name: pa.array([row[name] for row in self.rows], kinds.get(name, pa.float64()))
            for name in ("figure", "estimate", "se", "low", "high", "limits", "records", "note")
        }
        return row_columns([row["cell"] for row in self.rows], [each.column for each in self.question.by], told)

    def __repr__(self) -> str:
        cells = len({str(row["cell"]) for row in self.rows})
        return f"<sudare.FigureAnswer: {self.question.asked} of {', '.join(self.question.columns)} in {cells} cells>"


@dataclass(frozen=True)
class _Told:
    """A figure under its name; ``bounds`` says that its limits always hold."""

    figure: str
    found: Figure
    bounds: bool = False


def columns_needed(certificate: Certificate, question: FigureQuestion, released: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that an answer takes: those of the question, and people if they were sampled."""
    names = dict.fromkeys((*question.columns, *question.grouping))
    person = _person(certificate)
    return (*names, person) if person is not None and person in released and person not in names else tuple(names)


def _person(certificate: Certificate) -> str | None:
    """Return the column that shows which records belong to one sampled person, if the release has it."""
    sampled = [each for each in entries_of(certificate, None) if each.transformation == "sample"]
    if not sampled or sampled[0].parameters.get("per") != "subject":
        return None
    subjects = certificate.columns.get("subject", ())
    return next(
        (name for name in subjects if any(e.transformation == "pseudonym" for e in entries_of(certificate, name))), None
    )


def answer_figure(
    table: pa.Table, certificate: Certificate, question: FigureQuestion, *, level: float = 0.95
) -> FigureAnswer:
    """Estimate the figure that a question asks for from the columns of a release that it names."""
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0 < level <= 1 - 1e-9:
        raise ParameterError(Problem("level", f"must be a number between 0 and 1; got {level!r}."))
    notes = check_grouping(table, certificate, question)
    columns = [read_numbers(table, certificate, name, question.asked) for name in question.columns]
    columns = columns[1:] + columns[:1] if question.asked == "regress" else columns
    cells = cells_of(table, question.cells)
    work = _Work(certificate, question, columns, level, _sampling(table, certificate, notes))
    rows = [row for place, label in _each(cells) for row in work.rows(label, place)]
    return FigureAnswer(question, certificate.method_name, level, rows, tuple(dict.fromkeys([*notes, *work.notes])))


def _each(cells: Cells) -> Iterator[tuple[Ints, dict[str, Any]]]:
    """Give the records of each cell, and what it is called."""
    if len(cells.labels) > MOST_CELLS:
        raise too_many()
    order = np.argsort(cells.of_record, kind="stable")
    begin = np.searchsorted(cells.of_record[order], np.arange(len(cells.labels) + 1))
    for place, label in enumerate(cells.labels):
        yield order[begin[place] : begin[place + 1]], label


def _sampling(table: pa.Table, certificate: Certificate, notes: list[str]) -> Sampling | None:
    """Return how records were sampled; None if they were not."""
    if certificate.suppressed:
        notes.append(SUPPRESSED.format(count=certificate.suppressed))
    sampled = [each for each in entries_of(certificate, None) if each.transformation == "sample"]
    if not sampled:
        return None
    notes.append(SAMPLED)
    share = sampled[0].parameters.get("share")
    if not isinstance(share, int | float) or not 0 < share <= 1:
        raise UnsupportedError(Problem("certificate.transformations", "does not contain the share of the sample."))
    if sampled[0].parameters.get("per") != "subject":
        return Sampling(float(share))
    person = _person(certificate)
    if person is None or person not in table.column_names:
        notes.append(PEOPLE)
        return Sampling(float(share))
    texts = table.column(person).combine_chunks().cast(pa.large_string()).dictionary_encode()
    codes = np.asarray(texts.indices.fill_null(-1)).astype(np.int64)
    alone = codes < 0  # a record without a person was drawn for itself
    codes[alone] = len(texts.dictionary) + np.arange(np.count_nonzero(alone))
    return Sampling(float(share), codes)


class _Work:
    """The figures of one question, cell by cell."""

    def __init__(
        self,
        certificate: Certificate,
        question: FigureQuestion,
        columns: Sequence[ReleasedNumbers],
        level: float,
        sampling: Sampling | None,
    ) -> None:
        self.certificate, self.question, self.columns = certificate, question, columns
        self.level, self.sampling = level, sampling
        self.there = np.logical_and.reduce([np.isfinite(each.values) for each in columns])
        self.complete = bool(self.there.all()) and not certificate.suppressed
        self.notes: dict[str, None] = {}
        self.covariance: float | None = None
        self._check()

    def _check(self) -> None:
        """Raise about what cannot be estimated in any cell; note down what holds for all."""
        asked, problems = self.question.asked, []
        for column in self.columns:
            told, name = column.told, column.name
            single = asked in ("mean", "variance")
            what = f"values of column '{name}' changed places ({told.moved})"
            groups = ", ".join(sorted(told.within or ()))
            if told.moved and not single:
                kept = f"its mean and variance{f', in the groups of {groups}, too' if groups else ''}"
                problems.append(
                    Problem(asked, f"{what}, so it is not kept how they go with others.", f"kept are {kept}.")
                )
            elif told.moved and not set(self.question.grouping) <= (told.within or frozenset()):
                hint = f"group by nothing but {groups}." if groups else "ask without by and where."
                where = "by" if self.question.by else "where"
                problems.append(Problem(where, f"{what}, so they are not those of these records.", hint))
            if told.moved and self.certificate.suppressed:
                self.notes[EXCHANGED] = None
            if column.aggregated is not None:
                problems += self._of_aggregated(column)
            if told.group and told.multiplied and not single:
                what = f"column '{name}' has correlated and multiplicative noise, whose effects cannot be parted."
                problems.append(Problem(asked, what, "ask for its mean or variance."))
            for each in told.grids:
                self.notes[EVENLY.format(name=name, to=each.to)] = None
            self._note_noise(column)
        if problems:
            raise UnsupportedError(problems)

    def _of_aggregated(self, column: ReleasedNumbers) -> list[Problem]:
        """Return what is wrong with a question about an aggregated column: only means of all records are kept."""
        kept = bool((column.aggregated or {}).get("mean_kept")) and self.sampling is None  # its error is by records
        if self.question.asked == "mean" and not self.question.grouping and kept:
            self.notes[AGGREGATED.format(name=column.name)] = None
            return []
        what = f"column '{column.name}' is aggregated: it shows what represents each group, and not each record."
        hint = "ask for the mean of all records." if kept else ""
        return [Problem(self.question.asked, what, hint or f"count its values: --of {column.name}.")]

    def _note_noise(self, column: ReleasedNumbers) -> None:
        name, sds = column.name, [each.sd for each in column.told.errors if isinstance(each, Multiplied)]
        if column.clipped is None:
            self.notes[CLIPPED_UNSEEN.format(name=name)] = None
        elif column.clipped:
            self.notes[CLIPPED.format(name=name, share=column.clipped)] = None
        if self.question.asked != "mean" and max(sds, default=0.0) > LARGE_FACTOR:
            self.notes[FACTOR.format(name=name, sd=max(sds))] = None

    def rows(self, label: dict[str, Any], records: Ints) -> Iterator[dict[str, Any]]:
        """Give the rows of a cell."""
        records = records[self.there[records]]
        for told in self._figures(records):
            found = told.found
            yield {
                "cell": label,
                "figure": told.figure,
                **{name: shown_figure(getattr(found, name)) for name in ("estimate", "se", "low", "high")},
                "limits": "bounds" if told.bounds else "interval",
                "records": len(records),
                "note": found.note,
            }

    def _figures(self, records: Ints) -> list[_Told]:
        asked = self.question.asked
        names = {
            "mean": ["mean"], "variance": ["variance", DEVIATION], "correlation": ["correlation"],
            "regress": [INTERCEPT, self.columns[0].name],
        }[asked]  # fmt: skip
        if not len(records):
            return [_Told(name, nothing(noise_moments.NONE)) for name in names]
        if len(records) < LEAST and asked != "mean":
            return [_Told(name, nothing(noise_moments.TOO_FEW)) for name in names]
        beyond = [bool(mask[records].any()) for column in self.columns for _, mask in _limits(column)]
        if any(beyond):
            return self._beyond(records, names)
        told = self._within(records, names)
        if all(column.clipped == 0 for column in self.columns):
            return told
        biased = [(each.figure, each.found.estimate, each.found.note) for each in told]
        return [
            _Told(name, nothing(note) if estimate is None else Figure(estimate, None, None, None, BIASED))
            for name, estimate, note in biased
        ]

    def _within(self, records: Ints, names: Sequence[str]) -> list[_Told]:
        """Return the figures where no number is beyond a limit."""
        asked, single = self.question.asked, len(self.columns) == 1
        found = self._moments(records)
        coarse = [each for column, square in zip(self.columns, _variances(found), strict=True)
                  for each in _coarse(column.told, square)]  # fmt: skip
        if coarse:
            return self._coarse(found, records, coarse, names)
        if asked == "mean":
            return [_Told("mean", noise_moments.mean(found))]
        if single:
            square = noise_moments.variance(found)
            return [_Told("variance", square), _Told(DEVIATION, noise_moments.deviation(square))]
        if asked == "correlation":
            return [_Told("correlation", noise_moments.correlation(found))]
        return [_Told(name, each) for name, each in zip(names, noise_moments.line(found), strict=True)]

    def _moments(self, records: Ints) -> Moments:
        everybody = len(records) == len(self.there) and self.complete
        columns = [self._noisy(each, records, everybody=everybody) for each in self.columns]
        sampling = self.sampling
        if sampling is not None and sampling.person is not None:
            sampling = replace(sampling, person=sampling.person[records])
        shared = None if len(columns) < 2 else self._shared(records)
        return noise_moments.moments(columns, level=self.level, sampling=sampling, shared=shared)

    def _noisy(self, column: ReleasedNumbers, records: Ints, *, everybody: bool) -> NoisyColumn:
        told = column.told
        among = int(np.count_nonzero(np.isfinite(column.values))) + self.certificate.suppressed
        growth = told.growth if everybody and told.first and not told.multiplied else 1.0
        return NoisyColumn(column.values[records], told.errors, told.kept, among, growth, told.drawn, told.doubt)

    def _shared(self, records: Ints) -> Shared | None:
        """Return the noise that two columns share: its covariance follows from that of all released records."""
        first, second = (column.told for column in self.columns)
        if not first.group or second.name not in first.group or first.name not in second.group:
            return None
        if self.covariance is None:
            pairs = np.stack([column.values[self.there] for column in self.columns])
            self.covariance = float(np.cov(pairs)[0, 1]) if pairs.shape[1] > 1 else 0.0
        part = len(records) / int(np.count_nonzero(self.there))
        return Shared(first.growth, self.covariance / first.growth, part)

    def _beyond(self, records: Ints, names: Sequence[str]) -> list[_Told]:
        """Return what is certain where numbers beyond a limit are not shown."""
        asked, column = self.question.asked, self.columns[0]
        told = column.told
        limits = [(each, limit, mask[records]) for each in self.columns for limit, mask in _limits(each)]
        limits = [(each, limit, mask) for each, limit, mask in limits if mask.any()]
        some, none = BEYOND, BEYOND_NONE
        hidden = [(each.name, limit) for each, limit, _ in limits if limit.seen is None]
        if hidden:
            name, limit = hidden[0]
            side = "from" if limit.below else "up to"
            some, none = (text.format(name=name, side=side, at=limit.at) for text in (HIDDEN, HIDDEN_NONE))
        changed = bool(told.errors) or self.sampling is not None
        # a factor makes the error depend on the numbers that are not shown
        unknown = any(isinstance(error, Multiplied) for _, limit, _ in limits for error in told.errors[: limit.before])
        if (
            asked in ("correlation", "regress")
            or column.clipped != 0
            or unknown
            or (changed and asked == "variance")
            or (asked == "mean" and len({limit.below for _, limit, _ in limits}) > 1)
        ):
            return [_Told(name, nothing(none)) for name in names]
        values = column.values[records]
        if asked == "mean":
            return [self._one_side(records, [(limit, mask) for _, limit, mask in limits], some)]
        square = float(values.var(ddof=1))  # numbers that are drawn together differ less
        return [
            _Told(name, Figure(None, None, limit, None, some), bounds=True)
            for name, limit in zip(names, (square, math.sqrt(square)), strict=True)
        ]

    def _one_side(self, records: Ints, limits: Sequence[tuple[Coded, NDArray[np.bool_]]], note: str) -> _Told:
        """Return the side of a mean that is certain where numbers are beyond limits, all on one side."""
        column, below = self.columns[0], limits[0][0].below
        told, grids = column.told, column.told.grids
        at = float(column.values[records].mean())
        se = 0.0
        if told.random or self.sampling is not None:
            found = self._moments(records)
            # random rounding errs by to^2 / 4 at most, which numbers at a limit may all do
            more = sum(each.to**2 / 4 - each.to**2 / 6 for each in grids if each.how == "random") / len(records)
            se = found.reach * math.sqrt((noise_moments.mean(found).se or 0.0) ** 2 + more)
        # all numbers at a limit err by the same, so what other rounding does on average is not known
        apart = sum(each.most if below else each.least for each in grids if each.how != "random")
        for limit, mask in limits:
            if isinstance(limit.shows, int | float) and len(told.errors) > limit.before:
                apart += abs(limit.shows - limit.at) * float(mask.mean())
        low, high = (None, at + apart + se) if below else (at - apart - se, None)
        return _Told("mean", Figure(None, None, low, high, note), bounds=se == 0)

    def _coarse(self, found: Moments, records: Ints, grids: Sequence[Grid], names: Sequence[str]) -> list[_Told]:
        """Return what is certain where a grid is coarse."""
        column, asked = self.columns[0], self.question.asked
        widest = max(each.to for each in grids)
        if asked == "mean" and all(each.how == "random" for each in grids):
            # whatever the numbers are, random rounding errs by to^2 / 4 at most, and by 0 on average
            made = noise_moments.mean(found)
            more = sum(each.to**2 / 4 - each.to**2 / 6 for each in grids) / len(records)
            se = math.sqrt((made.se or 0.0) ** 2 + more)
            at = made.estimate or 0.0
            return [_Told("mean", Figure(at, se, at - found.reach * se, at + found.reach * se))]
        alone = len(column.told.errors) == len(column.told.grids) and self.sampling is None
        if not alone or asked in ("correlation", "regress"):
            return [_Told(name, nothing(COARSE_NONE.format(to=widest))) for name in names]
        values, note = column.values[records], COARSE.format(to=widest)
        below, above = (sum(getattr(each, side) for each in column.told.grids) for side in ("least", "most"))
        if asked == "mean":
            middle = float(values.mean())
            return [_Told("mean", Figure(middle - column.told.shift, None, middle - below, middle + above, note), True)]
        # the standard deviation of errors within a range is at most half of it
        reach = (below + above) / 2 * math.sqrt(found.bessel)
        given = float(values.std(ddof=1))
        ends = max(given - reach, 0.0), given + reach
        return [
            _Told("variance", Figure(None, None, ends[0] ** 2, ends[1] ** 2, note), True),
            _Told(DEVIATION, Figure(None, None, *ends, note), True),
        ]


def _limits(column: ReleasedNumbers) -> list[tuple[Coded, NDArray[np.bool_]]]:
    """Return the limits of a column, and which cells may be beyond each; without those of noise."""
    pairs = zip(column.told.limits, column.beyond, strict=True)
    return [(limit, mask) for limit, mask in pairs if not limit.noise]


def _variances(found: Moments) -> list[float]:
    """Return the estimated variance of each column."""
    places = [0] if len(found.first) == 1 else [0, 2]
    return [float(found.second[place] * scale**2) for place, scale in zip(places, found.scale, strict=True)]


def _coarse(told: Published, square: float) -> list[Grid]:
    """Return the grids that are coarse against the spread of what was rounded; one number has no spread."""
    found = []
    for each in told.grids:
        error = told.errors[each.before]
        before = sum(getattr(earlier, "variance", 0.0) for earlier in told.errors[: each.before])
        changed = getattr(error, "variance", 0.0) > 0
        if changed and not square + before >= each.to**2:
            found.append(each)
    return found
