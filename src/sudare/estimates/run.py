"""The run of an estimate: from a release, its certificate and a question to counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import DataError, ParameterError, Problem, UnsupportedError, did_you_mean
from sudare.core.progress import Listener, silent
from sudare.estimates.answer_rows import alike, free_name, shown_figure
from sudare.estimates.generalized_counts import Counted, Trees, counted, plain_values, shares_of
from sudare.estimates.item_counts import SEVERAL, count_items, set_columns
from sudare.estimates.partition import cells_of, plain_value
from sudare.estimates.question import Question
from sudare.estimates.set_counts import DEFAULT, ESTIMATORS, from_sets
from sudare.releases.certificate import Certificate

Floats = NDArray[np.float64]
REPEATED = "Some people have several records, whose sets are one draw, so their intervals are too narrow."
FEW = 30
"""Records of a cell below which its estimates are flagged, and a count below which it is flagged itself."""
GROUPS = (
    "Within a group, any record may have any of its values. If the columns after --by are related to the sensitive "
    "column, estimates are biased towards the whole table, and the release does not show by how much. So the limits "
    "are bounds that hold for every assignment of values within groups, and there is no standard error."
)
AGGREGATED = (
    "A column that is counted by, or that a condition is about, is aggregated: records count where the number of their "
    "class stands. The release does not show how far their own values are from it, so there are no intervals."
)
SPREAD = (
    "A generalized record counts in each cell in proportion, as if its values were spread evenly. Neither errors nor "
    "intervals include the bias of this assumption."
)


@dataclass(frozen=True, eq=False)
class Answer:
    """Estimated counts: a line for each cell, a column for each value; iterate over it for rows.

    ``records`` is how many records are in each cell, ``few`` which cells have few; a row is flagged (``few``) where its
    cell is, or where its count is small itself, and not known exactly. ``low`` and ``high`` are limits:
    of *intervals*, which hold the true count with probability ``level``, or *bounds*, which always hold it and have no
    level. ``limits`` says which.
    """

    question: Question
    method: str
    estimator: str
    level: float | None
    cells: list[dict[str, Any]]
    values: list[Any]
    records: Floats
    counts: Floats
    se: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...] = ()
    limits: Literal["intervals", "bounds"] = "intervals"

    @property
    def few(self) -> list[dict[str, Any]]:
        """The cells whose records are so few that little can be said."""
        return [cell for cell, records in zip(self.cells, self.records, strict=True) if records < FEW]

    @property
    def uncertain(self) -> NDArray[np.bool_]:
        """Which counts are flagged: those in cells of few records, and small ones whose limits lie apart."""
        with np.errstate(invalid="ignore"):
            small = (self.counts < FEW) & ~(self.low == self.high)
        return np.asarray(small | (self.records < FEW)[:, np.newaxis])

    def __len__(self) -> int:
        return self.counts.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        uncertain = self.uncertain
        for line, cell in enumerate(self.cells):
            records = float(self.records[line])
            for place, value in enumerate(self.values):
                estimate = float(self.counts[line, place])
                yield {
                    "cell": cell,
                    "value": value,
                    "estimate": shown_figure(estimate),
                    "share": shown_figure(estimate / records if records else math.nan),
                    "se": shown_figure(float(self.se[line, place])),
                    "low": shown_figure(float(self.low[line, place])),
                    "high": shown_figure(float(self.high[line, place])),
                    "records": shown_figure(records),
                    "few": bool(uncertain[line, place]),
                }

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return the answer in the types that JSON has, with so many rows at most, or all.

        A figure that nothing is known of is null.
        """
        return {
            "of": self.question.of,
            "by": [each.column for each in self.question.by],
            "method": self.method,
            "estimator": self.estimator,
            "limits": self.limits,
            "level": self.level,
            "rows": list(islice(self, most)),
            "few": self.few,
            "notes": list(self.notes),
        }

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, with a column for each column that was counted by.

        A figure whose name is taken by such a column has an underscore behind it.
        """
        lines = np.repeat(np.arange(len(self.cells)), len(self.values))
        names = [each.column for each in self.question.by]
        columns: dict[str, pa.Array] = {
            name: pa.array(alike([cell[name] for cell in self.cells])).take(pa.array(lines)) for name in names
        }
        records = self.records[lines]
        counts = self.counts.reshape(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            figures = {
                "estimate": counts,
                "share": counts / records,
                "se": self.se.reshape(-1),
                "low": self.low.reshape(-1),
                "high": self.high.reshape(-1),
                "records": records,
            }
        told = pa.array(alike(self.values)).take(pa.array(np.tile(np.arange(len(self.values)), len(self.cells))))
        columns[free_name("value", names)] = told
        for name, column in figures.items():
            columns[free_name(name, names)] = pa.array(column, mask=~np.isfinite(column))
        columns[free_name("few", names)] = pa.array(self.uncertain.reshape(-1))
        return pa.table(columns)

    def __repr__(self) -> str:
        return (
            f"<sudare.Answer: '{self.question.of}' in {len(self.cells)} cells by {self.estimator}, "
            f"{len(self.few)} of them with few records>"
        )


def answer(
    table: pa.Table,
    certificate: Certificate,
    question: Question,
    *,
    second: pa.Table | None = None,
    estimator: str | None = None,
    eps: float | None = None,
    level: float = 0.95,
    trees: Trees | None = None,
    separator: str | None = None,
    progress: Listener | None = None,
) -> Answer:
    """Estimate what a question asks from the columns of a release that it names.

    ``second`` is the second table of a release by anatomy, ``trees`` the leaves below the labels of hierarchies.
    ``separator`` joins sets in text; None says that nobody knows.
    """
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0 < level <= 1 - 1e-9:
        raise ParameterError(Problem("level", f"must be a number between 0 and 1; got {level!r}."))
    listener = progress or silent
    method, recoding = certificate.method_name, certificate.recoding
    hidden = certificate.mechanism.columns
    if recoding == "drawn":
        from sudare.estimates.pram_counts import PERTURBED_ESTIMATORS, answer_randomized

        _only(estimator, eps, PERTURBED_ESTIMATORS)
        return answer_randomized(table, certificate, question, estimator=estimator, level=level, progress=listener)
    if question.of not in hidden:
        _only(estimator, eps, ("spread",))
        return _spread(table, certificate, question, method, level, trees or {}, separator)
    if recoding == "sets":
        return _from_sets(table, hidden[question.of], question, estimator, eps, level, separator, listener)
    if recoding == "apart":
        _only(estimator, eps, ("groups",))
        return _from_groups(table, second, hidden[question.of], question)
    what = f"column '{question.of}' was hidden by {method}; counts cannot be estimated from it."
    raise UnsupportedError(what)


def _only(estimator: str | None, eps: float | None, allowed: Sequence[str]) -> None:
    if estimator is not None and estimator not in allowed:
        estimator = str(estimator)
        what = f"'{estimator}' is not an estimator for this release. Allowed: {', '.join(allowed)}."
        raise ParameterError(Problem("estimator", what, did_you_mean(estimator, allowed)))
    if eps is not None and estimator != "bayes":
        raise ParameterError(Problem("eps", "applies only to the estimator bayes."))


def _told(facts: Any, name: str) -> tuple[int, list[Any]]:
    """Return l and the domain of a hidden column, from its certificate."""
    least, values = (facts.get("l"), facts.get("values")) if isinstance(facts, Mapping) else (None, None)
    whole = isinstance(least, int) and not isinstance(least, bool)
    known = isinstance(values, list) and all(value is None or isinstance(value, str | int | float) for value in values)
    if not whole or not known or not 1 <= least <= len(values):  # type: ignore[operator, arg-type]
        raise _damaged(name, "does not contain l and the values of the column.")
    return least, values  # type: ignore[return-value]


def _damaged(name: str, what: str) -> DataError:
    return DataError(Problem(f"certificate.mechanism.columns.{name}", what, "is the certificate complete?"))


def _factors(facts: Mapping[str, Any], name: str, least: int, values: int) -> Floats | None:
    """Return the factor of each value in the likelihood if dummies had unequal weights; None if they were equal."""
    weights = facts.get("weights")
    if weights is None:
        return None
    numbers = isinstance(weights, list) and all(isinstance(each, int | float) for each in weights)
    if not numbers or len(weights) != values or not all(0 < each < math.inf for each in weights):
        raise _damaged(name, "does not contain a weight above 0 for each of its values.")
    from sudare.kernels.random_cells import log_factors

    return np.asarray(log_factors(np.asarray(weights, dtype=np.float64), least), dtype=np.float64)


def _from_sets(
    table: pa.Table,
    facts: Mapping[str, Any],
    question: Question,
    estimator: str | None,
    eps: float | None,
    level: float,
    separator: str | None,
    listener: Listener,
) -> Answer:
    _only(estimator, eps, ESTIMATORS)
    least, values = _told(facts, question.of)
    cells = cells_of(table, question)
    sets = read_sets(table.column(question.of), question.of, least, values, separator)
    chosen = estimator or DEFAULT
    found = from_sets(
        cells.of_record,
        sets,
        len(values),
        len(cells.labels),
        estimator=chosen,
        eps=eps,
        level=level,
        log_factors=_factors(facts, question.of, least, len(values)),
        progress=listener,
    )
    notes = [REPEATED] if facts.get("repeated") else []
    notes += ["Each set shows the whole domain, so nothing can be estimated."] if least == len(values) > 1 else []
    told = [plain_value(value) for value in values]
    return Answer(
        question=question,
        method="dummies",
        estimator=chosen,
        level=level,
        cells=cells.labels,
        values=told,
        records=found.records.astype(np.float64),
        counts=found.counts,
        se=found.se,
        low=found.low,
        high=found.high,
        notes=tuple(notes),
    )


def read_sets(
    cells: pa.ChunkedArray, name: str, least: int, values: list[Any], separator: str | None
) -> NDArray[np.uint32]:
    """Return sets as codes of the domain, a line of ``least`` for each record."""
    parts = []
    for chunk in cells.chunks:
        lists = chunk
        if not pa.types.is_nested(chunk.type):
            # a set of nothing but a missing value is an empty field
            lists = pc.split_pattern(chunk.cast(pa.string()).fill_null(""), separator or ",")
        flat = lists.flatten()
        codes = codes_of(flat, values, name, blank=lists is not chunk)
        lengths = pc.list_value_length(lists)
        if codes.null_count or lengths.null_count or not pc.all(pc.equal(lengths, least), min_count=0).as_py():
            what = f"column '{name}' does not show sets of {least} of the values that the certificate lists."
            hint = "is this its certificate? If its sets are text without commas, also give the policy."
            raise DataError(Problem("release", what, hint))
        parts.append(codes.to_numpy().astype(np.uint32).reshape(-1, least))
    return np.concatenate(parts) if parts else np.zeros((0, least), dtype=np.uint32)


def codes_of(shown: pa.Array, values: list[Any], name: str, *, blank: bool = False) -> pa.Array:
    """Return the place of each shown value in the domain, null where it has none; ``blank``: an empty text is missing.

    Certificates hold numbers as numbers and all else as text; files and frames have many types.
    """
    if pa.types.is_dictionary(shown.type):
        if shown.null_count:  # a missing value may be one of the domain
            return codes_of(shown.cast(shown.type.value_type), values, name, blank=blank)
        return codes_of(shown.dictionary, values, name, blank=blank).take(shown.indices)
    if pa.types.is_floating(shown.type):  # which is how some frames say that a number is missing
        shown = pc.if_else(pc.is_nan(shown), pa.scalar(None, shown.type), shown)
    try:
        domain, kind = pa.array(values), shown.type
        text = pa.types.is_string(domain.type)
        typed = text and (pa.types.is_temporal(kind) or pa.types.is_boolean(kind))
        if text and pa.types.is_time(kind):  # Arrow reads neither times of a day nor durations from text
            shown, domain = shown.cast(pa.time64("ns")).cast(pa.string()), pa.array([_clock(each) for each in values])
        elif text and pa.types.is_duration(kind):
            shown = shown.cast(pa.int64()).cast(pa.string())
        elif typed or pa.types.is_null(domain.type):
            domain = domain.cast(kind)
        else:
            shown = pc.if_else(pc.equal(shown, ""), pa.scalar(None, kind), shown) if blank else shown
            shown = shown.cast(domain.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        what = f"column '{name}' holds values that the certificate does not list."
        raise DataError(Problem("release", what, "is this the certificate of this release?")) from None
    found = pc.index_in(shown, domain)
    if found.null_count and pa.types.is_string(domain.type) and pa.types.is_string(shown.type):
        with suppress(pa.ArrowInvalid):  # the same times, with other digits of a second
            kind = pa.timestamp("ns")
            found = pc.index_in(shown.cast(kind), domain.cast(kind))
    return found


def _clock(text: str | None) -> str | None:
    """Return a time of day with all digits of a second that there can be."""
    if text is None:
        return None
    whole, _, part = text.partition(".")
    return f"{whole}.{part:0<9}"


def _from_groups(table: pa.Table, second: pa.Table | None, facts: Mapping[str, Any], question: Question) -> Answer:
    """Estimate from anatomy: each record has the values of its group in proportion, and bounds are what is certain.

    Of a group with w records, h of which have a value, a cell has n. At most min(h, n) of these have the value; at
    least h - (w - n), as the other records cannot hold more of them. Groups have nothing to do with each other, so sums
    over groups are reached by some assignment: the bounds are the sharpest that the release allows.
    """
    if second is None:
        raise DataError(Problem("release", "its second table, with the sensitive values by group, is missing."))
    _, values = _told(facts, question.of)
    cells = cells_of(table, question)
    group, _ = _whole(table, "group")
    of_group, amount = _whole(second, "group", "count")
    if question.of not in second.column_names:
        raise DataError(Problem("release", f"its second table does not have the column '{question.of}'."))
    told = second.column(question.of).combine_chunks()
    codes = codes_of(told.combine_chunks() if isinstance(told, pa.ChunkedArray) else told, values, question.of)
    if codes.null_count:
        raise DataError(Problem("release", "its second table has values that the certificate does not list."))
    most = int(max(group.max(initial=0), of_group.max(initial=0))) + 1
    size = np.bincount(of_group, amount, most)
    inside = cells.of_record >= 0
    pairs, n = np.unique(cells.of_record[inside] * most + group[inside], return_counts=True)
    cell, own = pairs // most, pairs % most
    if np.any(size[own] < n):
        raise DataError(Problem("release", "its two tables do not belong together."))
    order = np.argsort(of_group, kind="stable")
    begin = np.searchsorted(of_group[order], np.arange(most + 1))
    length = np.diff(begin)[own]
    at = order[np.repeat(begin[own] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))]
    of = np.repeat(np.arange(len(pairs)), length)
    drawn, whole, held = n[of], size[own[of]], amount[at]
    place = cell[of] * len(values) + codes.to_numpy()[at]
    shape = (len(cells.labels), len(values))

    def total(weights: NDArray[Any]) -> Floats:
        summed: Floats = np.bincount(place, weights, math.prod(shape)).astype(np.float64).reshape(shape)
        return summed

    records = np.bincount(cells.of_record[inside], minlength=shape[0]).astype(np.float64)
    low, high = total(np.maximum(held - (whole - drawn), 0)), total(np.minimum(held, drawn))
    exact = low == high
    counts = np.where(exact, low, total(drawn * held / whole))
    return Answer(
        question=question,
        method="anatomy",
        estimator="groups",
        level=None,
        cells=cells.labels,
        values=[plain_value(value) for value in values],
        records=records,
        counts=counts,
        se=np.where(exact, 0.0, np.nan),
        low=low,
        high=high,
        notes=() if exact.all() else (GROUPS,),
        limits="bounds",
    )


def _whole(table: pa.Table, first: str, second: str | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one or two columns of whole numbers from 0, or raise."""
    try:
        found = [table.column(name).combine_chunks().cast(pa.int64()).to_numpy() for name in (first, second or first)]
    except (KeyError, ValueError, pa.ArrowException):
        found = []
    if not found or any(len(column) and column.min() < 0 for column in found):
        raise DataError(Problem("release", "it does not have the groups of its certificate."))
    return found[0], found[1]


def _spread(
    table: pa.Table,
    certificate: Certificate,
    question: Question,
    method: str,
    level: float,
    trees: Trees,
    separator: str | None,
) -> Answer:
    generalized = [] if certificate.mechanism else list(certificate.columns.get("quasi", ()))
    if question.of in generalized:
        what = f"column '{question.of}' is generalized; counts can be estimated only for unchanged columns."
        raise DataError(Problem("of", what, "count by it instead."))
    sensitive = set_columns(certificate)
    sets = {*certificate.item_sets, *sensitive} - ({question.of} if question.of in sensitive else set())
    for where, names in (("of", [question.of]), ("by", [by.column for by in question.by]), ("where", question.where)):
        for name in names:
            if name in sets:
                raise DataError(Problem(where, f"column '{name}' holds sets of items, which cannot be counted."))
    shares = shares_of(table, question, generalized, trees)
    asked = {*(by.column for by in question.by), *question.where}
    finish = _shown_alone if asked & set(certificate.search.aggregated) else lambda found: found
    if question.of in sensitive:
        found, items = count_items(table.column(question.of), question.of, shares, separator)
        told = [SEVERAL, *([SPREAD] if bool(np.any(found.variance > 0)) else [])]
        of_items = _normal(question, method, "spread", level, shares.labels, items, found, "")
        return finish(replace(of_items, notes=tuple(told)))
    of, values = plain_values(table, question.of)
    found = counted(shares, of, len(values))
    notes = SPREAD if bool(np.any(found.variance > 0)) else ""
    return finish(_normal(question, method, "spread", level, shares.labels, values, found, notes))


def _shown_alone(found: Answer) -> Answer:
    """Return an answer by aggregated columns without what nobody can know: how far numbers are from what they show."""
    unknown = np.full(found.counts.shape, np.nan)
    return replace(found, level=None, se=unknown, low=unknown, high=unknown, notes=(*found.notes, AGGREGATED))


def _normal(
    question: Question,
    method: str,
    estimator: str,
    level: float,
    cells: list[dict[str, Any]],
    values: list[Any],
    found: Counted,
    note: str,
) -> Answer:
    """Return an answer with intervals by the normal distribution, within what is certain.

    Counts are whole: half a record more on either side makes the intervals hold for small ones, too.
    """
    se = np.sqrt(np.maximum(found.variance, 0.0))
    reach = np.where(se > 0, NormalDist().inv_cdf(0.5 + level / 2) * se + 0.5, 0.0)
    low, high = np.maximum(found.counts - reach, found.least), np.minimum(found.counts + reach, found.most)
    notes = (note,) if note else ()
    return Answer(
        question=question,
        method=method,
        estimator=estimator,
        level=level,
        cells=cells,
        values=values,
        records=found.records,
        counts=found.counts,
        se=se,
        low=np.minimum(low, found.counts),
        high=np.maximum(high, found.counts),
        notes=notes,
    )
