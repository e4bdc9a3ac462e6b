"""From a release, its certificate and a question to estimated counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.errors import DataError, ParameterError, Problem, did_you_mean
from sudare.estimate.cells import Cells, cells_of
from sudare.estimate.questions import Question
from sudare.estimate.sets import DEFAULT, ESTIMATORS, from_sets
from sudare.estimate.spreading import Trees, counted, plain_values, shares_of
from sudare.progress import Listener, silent

Floats = NDArray[np.float64]
FEW = 30
"""Records of a cell below which its estimates are flagged."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Estimated counts: a line for each cell, a column for each value; iterate over it for rows.

    ``records`` is how many records are in each cell, ``few`` which cells have few. ``low`` and ``high`` are the limits
    of intervals that hold the true count with probability ``level``.
    """

    question: Question
    method: str
    estimator: str
    level: float
    cells: list[dict[str, Any]]
    values: list[Any]
    records: Floats
    counts: Floats
    se: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...] = ()

    @property
    def few(self) -> list[dict[str, Any]]:
        """The cells whose records are so few that little can be said."""
        return [cell for cell, records in zip(self.cells, self.records, strict=True) if records < FEW]

    def __len__(self) -> int:
        return self.counts.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line, cell in enumerate(self.cells):
            records = float(self.records[line])
            for place, value in enumerate(self.values):
                estimate = float(self.counts[line, place])
                yield {
                    "cell": cell,
                    "value": value,
                    "estimate": _figure(estimate),
                    "share": _figure(estimate / records if records else math.nan),
                    "se": _figure(float(self.se[line, place])),
                    "low": _figure(float(self.low[line, place])),
                    "high": _figure(float(self.high[line, place])),
                    "records": _figure(records),
                }

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in the types that JSON has; a figure that nothing is known of is null."""
        return {
            "of": self.question.of,
            "by": [each.column for each in self.question.by],
            "method": self.method,
            "estimator": self.estimator,
            "level": self.level,
            "rows": list(self),
            "few": self.few,
            "notes": list(self.notes),
        }

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, with a column for each column that was counted by."""
        lines = np.repeat(np.arange(len(self.cells)), len(self.values))
        by = {each.column: [self.cells[line][each.column] for line in lines] for each in self.question.by}
        shown = {name: pa.array(_alike(cells)) for name, cells in by.items()}
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
        value = {"value": pa.array(_alike(self.values * len(self.cells)))}
        return pa.table(shown | value | {name: pa.array(column) for name, column in figures.items()})

    def __repr__(self) -> str:
        return (
            f"<sudare.Answer: '{self.question.of}' in {len(self.cells)} cells by {self.estimator}, "
            f"{len(self.few)} of them with few records>"
        )


def _alike(cells: Sequence[Any]) -> list[Any]:
    """Return cells of one type, as text where they are of several."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return list(cells) if len(kinds) < 2 else [None if cell is None else str(cell) for cell in cells]


def _figure(value: float) -> float | None:
    return float(f"{value:.12g}") if math.isfinite(value) else None


def answer(
    table: pa.Table,
    certificate: Mapping[str, Any],
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
    ``separator`` joins sets in text.
    """
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0 < level < 1:
        raise ParameterError(Problem("level", f"is a number between 0 and 1; got {level!r}."))
    listener = progress or silent
    method = str(certificate["method"]["name"])
    hidden = mechanism(certificate)
    if question.of in hidden and method == "dummies":
        return _from_sets(table, hidden[question.of], question, estimator, eps, level, separator, listener)
    _only(estimator, eps, ("groups",) if method == "anatomy" and question.of in hidden else ("spread",))
    if method == "anatomy" and question.of in hidden:
        return _from_groups(table, second, hidden[question.of], question, level)
    return _spread(table, certificate, question, method, level, trees or {})


def mechanism(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a certificate tells of hidden columns, by column."""
    told = certificate.get("mechanism") or {}
    columns = told.get("columns") if isinstance(told, Mapping) else None
    return columns if isinstance(columns, Mapping) else {}


def _only(estimator: str | None, eps: float | None, allowed: Sequence[str]) -> None:
    if estimator is not None and estimator not in allowed:
        what = f"'{estimator}' is no estimator for this release. Allowed: {', '.join(allowed)}."
        raise ParameterError(Problem("estimator", what, did_you_mean(estimator, allowed)))
    if eps is not None and estimator != "bayes":
        raise ParameterError(Problem("eps", "belongs to the estimator bayes."))


def _told(facts: Mapping[str, Any], name: str) -> tuple[int, list[Any]]:
    least, values = facts.get("l"), facts.get("values")
    if not isinstance(least, int) or not isinstance(values, list) or not 1 <= least <= len(values):
        where = f"certificate.mechanism.columns.{name}"
        raise DataError(Problem(where, "does not tell l and the values of the column."))
    return least, values


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
    weights = facts.get("weights")
    more: dict[str, Any] = {}
    if weights is not None:
        from sudare.kernels.drawing import log_factors

        more["log_factors"] = log_factors(np.asarray(weights, dtype=np.float64), least)
    found = from_sets(
        cells.of_record, sets, len(values), len(cells.labels), estimator=chosen, eps=eps, level=level,
        progress=listener, **more,
    )  # fmt: skip
    notes = ["Sets show the whole domain, so that nothing can be told."] if least == len(values) > 1 else []
    return Answer(
        question, "dummies", chosen, level, cells.labels, values, found.records.astype(np.float64), found.counts,
        found.se, found.low, found.high, tuple(notes),
    )  # fmt: skip


def read_sets(
    cells: pa.ChunkedArray, name: str, least: int, values: list[Any], separator: str | None
) -> NDArray[np.uint32]:
    """Return sets as codes of the domain, a line of ``least`` for each record."""
    parts = []
    domain = pa.array(values)
    for chunk in cells.chunks:
        lists = chunk
        if not pa.types.is_nested(chunk.type):
            lists = pc.split_pattern(chunk.cast(pa.string()), separator or ",")
        flat = lists.flatten()
        if pa.types.is_dictionary(flat.type):
            flat = flat.cast(flat.type.value_type)
        if not pa.types.is_nested(chunk.type):
            flat = pc.if_else(pc.equal(flat, ""), pa.scalar(None, flat.type), flat)
        codes = pc.index_in(_as(flat, domain.type, name), domain)
        if codes.null_count or len(codes) != least * len(lists) or lists.null_count:
            what = f"column '{name}' does not show sets of {least} of the values that the certificate tells."
            raise DataError(Problem("release", what, "is this the certificate of this release?"))
        parts.append(codes.to_numpy().astype(np.uint32).reshape(-1, least))
    return np.concatenate(parts) if parts else np.zeros((0, least), dtype=np.uint32)


def _as(values: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        return values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        what = f"column '{name}' holds other values than the certificate tells."
        raise DataError(Problem("release", what, "is this the certificate of this release?")) from None


def _from_groups(
    table: pa.Table, second: pa.Table | None, facts: Mapping[str, Any], question: Question, level: float
) -> Answer:
    """Estimate from anatomy: each record has the values of its group in proportion.

    The records of a cell that are in one group are drawn from it without replacement, as far as anybody can tell.
    """
    if second is None:
        raise DataError(Problem("release", "its second table, of sensitive values by group, is not there."))
    _, values = _told(facts, question.of)
    cells = cells_of(table, question)
    group = table.column("group").combine_chunks().cast(pa.int64()).to_numpy()
    of_group = second.column("group").combine_chunks().cast(pa.int64()).to_numpy()
    domain = pa.array(values)
    told = second.column(question.of).combine_chunks()
    told = told.cast(told.type.value_type) if pa.types.is_dictionary(told.type) else told
    codes = pc.index_in(_as(told, domain.type, question.of), domain)
    if codes.null_count:
        raise DataError(Problem("release", "its second table has values that the certificate does not tell."))
    amount = second.column("count").combine_chunks().cast(pa.float64()).to_numpy()
    most = int(max(group.max(initial=0), of_group.max(initial=0))) + 1
    size = np.bincount(of_group, amount, most)
    inside = cells.of_record >= 0
    pairs, n = np.unique(cells.of_record[inside] * most + group[inside], return_counts=True)
    cell, own = pairs // most, pairs % most
    order = np.argsort(of_group, kind="stable")
    begin = np.searchsorted(of_group[order], np.arange(most + 1))
    length = np.diff(begin)[own]
    at = order[np.repeat(begin[own] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))]
    of = np.repeat(np.arange(len(pairs)), length)
    share = amount[at] / size[own[of]]
    left = np.maximum(size[own[of]] - n[of], 0) / np.maximum(size[own[of]] - 1, 1)
    place = cell[of] * len(values) + codes.to_numpy()[at]
    shape = (len(cells.labels), len(values))
    cellwise = np.bincount(place, n[of] * share, math.prod(shape)).astype(np.float64)
    variance = np.bincount(place, n[of] * share * (1 - share) * left, math.prod(shape)).astype(np.float64)
    records = np.bincount(cells.of_record[inside], minlength=shape[0]).astype(np.float64)
    return _normal(question, "anatomy", "groups", level, cells, values, records, cellwise.reshape(shape),
                   variance.reshape(shape))  # fmt: skip


def _spread(
    table: pa.Table,
    certificate: Mapping[str, Any],
    question: Question,
    method: str,
    level: float,
    trees: Trees,
) -> Answer:
    roles = certificate.get("columns", {})
    generalized = [] if certificate.get("mechanism") else list(roles.get("quasi", ()))
    if question.of in generalized:
        what = f"column '{question.of}' is generalized; counts can be estimated of columns that stand as they were."
        raise DataError(Problem("of", what, "count by it instead."))
    for name in {each.column for each in question.by} | set(question.where):
        if pa.types.is_nested(table.schema.field(name).type):
            raise DataError(Problem("by", f"column '{name}' shows sets of items, which cannot be counted by."))
    shares = shares_of(table, question, generalized, trees)
    of, values = plain_values(table, question.of)
    records, counts, variance = counted(shares, of, len(values))
    spread = bool(np.any(variance > 0))
    notes = (
        ("A generalized record counts in each cell in proportion, as if its values were spread evenly: what is wrong "
         "with that is not in the standard errors.",)
        if spread
        else ()
    )  # fmt: skip
    cells = Cells(np.zeros(0, dtype=np.int64), shares.labels)
    return _normal(question, method, "spread", level, cells, values, records, counts, variance, notes)


def _normal(
    question: Question,
    method: str,
    estimator: str,
    level: float,
    cells: Cells,
    values: list[Any],
    records: Floats,
    counts: Floats,
    variance: Floats,
    notes: tuple[str, ...] = (),
) -> Answer:
    se = np.sqrt(np.maximum(variance, 0.0))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * se
    low, high = np.maximum(counts - reach, 0.0), np.minimum(counts + reach, records[:, None])
    return Answer(question, method, estimator, level, cells.labels, values, records, counts, se, low, high, notes)
