"""The promises of PRAM for a table: the figures of Pk and P(alpha, gamma) in every cell, and the largest retention.

**Cells.** A record can only be taken for one that could show the same, and values are drawn within cells. So the number
of records in the bound of Pk is that of the cell, each cell has its own ratio, and the smallest figure counts. Likewise
beliefs are computed by the distribution in the cell, and the worst cell counts: whoever knows which stratum somebody is
in knows its distribution, too. Of an attribute that is drawn alike in all cells it is the distribution in the table.

**Joint attributes.** Whoever sees all columns of a joint attribute uses all of them. The figures of one of its columns
are therefore those of B(t, s) = sum over o of R[t, o] post(s | o), where t and o are joint values and s is a value of
the column. Its prior is the joint one.

**Against whom.** ``against: column`` is the paper's intruder, who looks at the limited column alone. By default the
intruder uses all perturbed columns of a record, and knows how columns go together in the stratum
(:mod:`sudare.methods.pram.whole_record`). This promise includes the other one: both figures are computed, and the worse
counts.

**How much may be kept.** Uniform matrices of single columns all over the table, against the column alone, are
calibrated exactly, by :mod:`sudare.methods.pram.calibration`. Otherwise :mod:`sudare.methods.pram.column_retention`
searches; whatever is found, the figures of the result itself are what has to hold.

**What a release reveals of it.** Promises hold for the exact shares, and for the published ones with three digits. A p
calibrated for both would reveal more about the exact ones. So a release uses a p that is calibrated for the published
shares, lowered by a few fixed steps where the exact ones need it (:mod:`sudare.methods.pram.published_retention`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyError, PolicyUnmetError, Problem, UnsupportedError
from sudare.methods.pram import (
    RUNGS,
    Calibration,
    Limit,
    calibrate,
    cut,
    invariant_matrix,
    least_ratio,
    pk_figure,
    uniform_alpha,
    uniform_gamma,
    uniform_matrix,
    uniform_ratio,
    unkept,
)
from sudare.methods.pram.attributes import Attribute, Cell, Layout, code_of
from sudare.methods.pram.column_retention import Condition, calibrated_by
from sudare.methods.pram.known_combinations import Known, known_combinations
from sudare.methods.pram.whole_record import Beliefs, Channel, beliefs, one_value
from sudare.models import TOLERANCE, AlphaGamma, PkAnonymity, Requirements, describe

Matrix = NDArray[np.float64]
Shares = NDArray[np.float64]
Retention = Sequence[float | None]
"""The probability with which each attribute is kept; None for those with a matrix of their own."""

DIGITS = 3
"""Significant digits of shares from the data, which are published."""
NEAR = 0.005
"""By how much a share in the policy may differ from that in the table: what is promised by it holds as nearly."""
TAKEN = "remove it: it is then taken from the data."
ALL_COLUMNS = "all-columns"
MOST_VALUES = 1024
"""Values of an attribute, joint ones included, that can be limited against all columns."""


def rounded(counts: NDArray[np.int64]) -> Shares:
    """Return shares to a few digits, so that they add up to 1."""
    total = max(int(counts.sum()), 1)
    shares = np.array([float(f"{count / total:.{DIGITS}g}") for count in counts.tolist()])
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True, eq=False)
class Mechanism:
    """How values are drawn, but for how much of them is kept: ``own`` are matrices that the policy gives."""

    layout: Layout
    invariant: bool
    own: Mapping[int, Matrix]

    def matrix(self, cell: Cell, number: int, p: float | None) -> Matrix:
        """Return the matrix of an attribute in a cell, over its domain there."""
        if p is None:
            return self.own[number]
        if self.invariant:
            return invariant_matrix(rounded(cell.counts[number]), p)
        return uniform_matrix(len(cell.domains[number]), p)

    def channel(self, cell: Cell, number: int, p: float | None) -> Channel:
        """Return how an attribute is drawn in a cell."""
        size = len(cell.domains[number])
        if p is not None and not self.invariant:
            return Channel(size, p)
        return Channel(size, None, self.matrix(cell, number, p))

    def ratio(self, cell: Cell, number: int, p: float | None) -> float:
        """Return the least ratio of two probabilities with which truths of a cell show the same value."""
        if p is None:
            return least_ratio(self.own[number])
        if self.invariant:
            rarest = (1 - p) * float(rounded(cell.counts[number]).min())
            return rarest / (p + rarest) if p + rarest > 0 else 0.0
        return uniform_ratio(len(cell.domains[number]), p)

    @property
    def plain(self) -> bool:
        """Whether all of it is uniform matrices of single columns, the same for all records, over all values."""
        [first, *others] = self.layout.cells
        return (
            not others
            and not self.invariant
            and not self.own
            and all(len(attribute.columns) == 1 for attribute in self.layout.attributes)
            and all(len(d) == a.size for d, a in zip(first.domains, self.layout.attributes, strict=True))
        )


@dataclass(frozen=True, eq=False)
class Promise:
    """P(alpha, gamma) of one column: its attribute, its place in it, and its prior in every cell, over the domain.

    ``known`` are the published combinations with other columns, if the intruder uses these (None: the column alone).
    """

    model: AlphaGamma
    number: int
    place: int
    priors: tuple[Shares, ...]
    known: Known | None = None


class Published(NamedTuple):
    """How much of each attribute a release keeps, and the condition that it had to be lowered for, if it had."""

    retention: Retention
    lowered_for: str | None


@dataclass(frozen=True, eq=False)
class Promises:
    """All that a policy asks of a mechanism."""

    mechanism: Mechanism
    k: int | None
    limits: tuple[Promise, ...]

    def pk(self, retention: Retention) -> float:
        """Return the largest k that is kept in every cell."""
        return min(
            pk_figure(cell.rows, (self.mechanism.ratio(cell, at, p) for at, p in enumerate(retention)))
            for cell in self.mechanism.layout.cells
        )

    def figures(self, limit: Promise, retention: Retention, *, published: bool = False) -> tuple[float, float]:
        """Return the worst alpha and gamma of a limited column over all cells, or only by the published shares."""
        alpha, gamma = self._of_column(limit, retention[limit.number], published=published)
        for made in self._of_records(limit, retention, published=published):
            alpha, gamma = max(alpha, made.alpha), min(gamma, made.gamma)
        return alpha, gamma

    def worst_beliefs(self, limit: Promise, retention: Retention) -> dict[str, float]:
        """Return the most that is believed of anybody if one value is shown, and if one record is; neither is limited.

        The former is the belief of somebody who looks at the limited column alone. The latter is an upper bound, and
        only there if the intruder uses all columns.
        """
        layout = self.mechanism.layout
        attribute, values = layout.attributes[limit.number], []
        for cell, shares in zip(layout.cells, limit.priors, strict=True):
            channel = self.mechanism.channel(cell, limit.number, retention[limit.number])
            parts = parts_of(attribute, cell.domains[limit.number], limit.place)
            values += [one_value(prior, parts, channel) for prior in (shares, *exact(limit, cell))]
        records = [made.record for made in self._of_records(limit, retention, published=False)]
        return {"value": max(values)} | ({"record": max(records)} if records else {})

    def _of_records(self, limit: Promise, retention: Retention, *, published: bool) -> Iterator[Beliefs]:
        """Yield what an intruder who uses all columns believes, in every cell."""
        known, layout = limit.known, self.mechanism.layout
        if known is None:
            return
        for index, (cell, shares) in enumerate(zip(layout.cells, limit.priors, strict=True)):
            channels = [self.mechanism.channel(cell, at, p) for at, p in enumerate(retention)]
            parts = parts_of(layout.attributes[limit.number], cell.domains[limit.number], limit.place)
            # the exact shares count even beside a prior of the policy: combinations are from the data, too
            counts = cell.counts[limit.number]
            for prior in (shares,) if published else (shares, counts / max(int(counts.sum()), 1)):
                yield beliefs(
                    prior,
                    known.counts[index] / cell.rows,
                    parts,
                    channels[limit.number],
                    [channels[at] for at in known.others],
                    [channels[at] for at in known.apart(len(channels))],
                )

    def _of_column(self, limit: Promise, p: float | None, *, published: bool) -> tuple[float, float]:
        """Return the worst figures against an intruder who looks at the column alone."""
        attribute = self.mechanism.layout.attributes[limit.number]
        simple = len(attribute.columns) == 1 and not self.mechanism.invariant and p is not None
        found = []
        for cell, shares in zip(self.mechanism.layout.cells, limit.priors, strict=True):
            for prior in (shares, *([] if published else exact(limit, cell))):
                if simple and p is not None and (prior > 0).all():
                    found.append((uniform_alpha(prior, p), uniform_gamma(prior, p)))
                else:
                    parts = parts_of(attribute, cell.domains[limit.number], limit.place)
                    found.append(folded(prior, self.mechanism.matrix(cell, limit.number, p), parts))
        return max(alpha for alpha, _ in found), min(gamma for _, gamma in found)

    def unmet(self, retention: Retention) -> list[str]:
        """Return, in words, the promises that a mechanism does not keep."""
        said = []
        if self.k is not None and (figure := self.pk(retention)) < self.k - TOLERANCE:
            said.append(f"k = {figure:.6g} instead of {self.k}")
        for limit, condition, figure in self._lost(retention):
            asked = getattr(limit.model, condition)
            said.append(f"{condition} = {figure:.6g} of '{limit.model.column}' instead of {asked:g}")
        return said

    def _lost(self, retention: Retention, slack: float = TOLERANCE) -> Iterator[tuple[Promise, str, float]]:
        """Yield the limits of beliefs that are not kept, with the condition and its figure."""
        for limit in self.limits:
            alpha, gamma = self.figures(limit, retention)
            if alpha > limit.model.alpha + slack:
                yield limit, "alpha", alpha
            if gamma < limit.model.gamma - slack:
                yield limit, "gamma", gamma

    def published(self, retention: Sequence[float], *, alike: bool) -> Published:
        """Return the published retention from what the published shares allow: rounded down, and lowered if necessary.

        ``alike`` lowers all attributes equally, otherwise only those whose limits are broken.
        """
        own = self.mechanism.own
        rungs, binding = [0] * len(retention), None
        while True:
            kept = [None if at in own else cut(p * RUNGS[rungs[at]]) for at, p in enumerate(retention)]
            lost = [(limit, condition) for limit, condition, _ in self._lost(kept, 0)]
            below = {
                at
                for limit, _ in lost
                for at in ([limit.number] if limit.known is None else range(len(retention)))
                if at not in own and rungs[at] + 1 < len(RUNGS)
            }
            if not below:
                return Published(kept, binding)
            binding = lost[0][1]
            for at in range(len(retention)) if alike else below:
                rungs[at] = min(rungs[at] + 1, len(RUNGS) - 1)

    def calibrated(self, weights: Sequence[float] | None = None, *, published: bool = False) -> Calibration:
        """Return how much may be kept; ``weights`` give each attribute a probability of its own, for plain mechanisms.

        ``published`` uses only the published shares, and not the exact ones of the table.
        """
        layout = self.mechanism.layout
        if self.mechanism.plain and all(limit.known is None for limit in self.limits):
            limits = [
                Limit(at.number, prior, at.model.alpha, at.model.gamma)
                for at in self.limits
                for prior in (at.priors[0], *([] if published else exact(at, layout.cells[0])))
            ]
            sizes = [attribute.size for attribute in layout.attributes]
            made = calibrate(layout.cells[0].rows, sizes, k=self.k, limits=limits, weights=weights)
            curves = {(curve.condition, curve.attribute, curve.limit): curve for curve in made.curves}
            return replace(made, curves=tuple(curves.values()))  # of the two priors, one is enough to look at
        free = [number for number in range(len(layout.attributes)) if number not in self.mechanism.own]
        return calibrated_by(list(self._conditions(free, published)), len(layout.attributes), weights)

    def _conditions(self, free: Sequence[int], published: bool) -> Iterator[Condition]:
        """Yield the promises as conditions of the retention; matrices of the policy are as they are."""

        def kept(retention: Sequence[float]) -> Retention:
            return [p if number in free else None for number, p in enumerate(retention)]

        k = self.k
        if k is not None:
            yield Condition("pk", None, lambda retention: self.pk(kept(retention)) >= k)
        for limit in self.limits:
            if limit.number not in free and (limit.known is None or not free):
                continue

            @lru_cache(maxsize=512)
            def figures(retention: tuple[float, ...], at: Promise = limit) -> tuple[float, float]:
                return self.figures(at, kept(retention), published=published)

            def alpha_kept(retention: Sequence[float], at: Promise = limit, of: Any = figures) -> bool:
                return bool(of(tuple(retention))[0] <= at.model.alpha)

            def gamma_kept(retention: Sequence[float], at: Promise = limit, of: Any = figures) -> bool:
                return bool(of(tuple(retention))[1] >= at.model.gamma)

            yield Condition("alpha", limit.number, alpha_kept)
            yield Condition("gamma", limit.number, gamma_kept)


def exact(limit: Promise, cell: Cell) -> list[Shares]:
    """Return the exact shares in a cell if the published prior was rounded: both must be kept."""
    counts = cell.counts[limit.number]
    total = int(counts.sum())
    return [] if limit.model.prior is not None or not total else [np.asarray(counts / total, np.float64)]


def parts_of(attribute: Attribute, domain: NDArray[np.int64], place: int) -> NDArray[np.int64]:
    """Return the code of one column in each joint value of a domain."""
    return np.asarray(np.unravel_index(domain, attribute.shape)[place], np.int64)


def folded(prior: Shares, matrix: Matrix, parts: NDArray[np.int64]) -> tuple[float, float]:
    """Return alpha and gamma of the column that ``parts`` gives for each joint value.

    What nobody has is neither a truth nor a value to be believed in: that it is not there is known anyway.
    """
    values, part = np.unique(parts, return_inverse=True)
    shown = prior @ matrix
    inverse = np.divide(1.0, shown, out=np.zeros_like(shown), where=shown > 0)
    weighed = np.zeros((len(values), matrix.shape[1]))
    np.add.at(weighed, part.reshape(-1), prior[:, None] * matrix)
    believed = (matrix * inverse) @ weighed.T
    truths = prior > 0
    own = believed[np.arange(len(prior)), part.reshape(-1)]
    there = np.bincount(part.reshape(-1), weights=prior) > 0
    return float(own[truths].max()), float(believed[truths][:, there].min())


def promises_of(requirements: Requirements, mechanism: Mechanism) -> Promises:
    """Return the requirements, or raise all that no mechanism can keep."""
    layout = mechanism.layout
    problems, limits, k = [], [], None
    least = min(cell.rows for cell in layout.cells)
    drawn = [name for attribute in layout.attributes for name in attribute.names]
    for model in requirements.models:
        if model.scope == "release":
            continue  # which the audit counts
        if isinstance(model, PkAnonymity):
            k = model.k if k is None else max(k, model.k)
            if model.k > least:
                where = "the table" if len(layout.cells) == 1 else f"the smallest {layout.part}"
                what = f"cannot be kept: {where} has {least:,} records."
                hint = f"require at most k = {least}." if least > 1 else f"one record cannot hide in {where}."
                problems.append(Problem(describe(model), what, hint))
        elif isinstance(model, AlphaGamma) and model.column in drawn:
            priors = _priors(model, layout)
            number, place = layout.place(model.column)
            known = _known(model, layout, number, place) if _uses_others(model, layout) else None
            limits.append(Promise(model, number, place, priors, known))
            problems += _out_of_reach(limits[-1], layout)
        elif isinstance(model, AlphaGamma):
            raise PolicyError(Problem(describe(model), f"'{model.column}' is not perturbed.", "remove it from strata."))
        else:
            what = "pram draws values at random, and promises only pk-anonymity and alpha-gamma."
            problems.append(Problem(describe(model), what, "use top-down, which makes classes."))
    if problems:
        raise PolicyUnmetError(problems)
    for limit in limits:
        first = next(other for other in limits if other.number == limit.number)
        if any((one != two).any() for one, two in zip(first.priors, limit.priors, strict=True)):
            raise PolicyError(Problem(describe(limit.model), "has another prior than the promise before it."))
    if k is None and not limits:
        what = "pram needs a requirement of pk-anonymity or alpha-gamma, but there is none."
        raise PolicyError(Problem("require", what, "without a promise there is no limit for the random draws."))
    return Promises(mechanism, k, tuple(limits))


def _uses_others(model: AlphaGamma, layout: Layout) -> bool:
    """Return whether there are columns besides the limited one that an intruder can use."""
    return model.against == ALL_COLUMNS and len(layout.attributes) > 1


def _known(model: AlphaGamma, layout: Layout, number: int, place: int) -> Known:
    """Return what is published of the combinations of a column with others; raise where they cannot be known."""
    if len(layout.by) > len(layout.strata):
        what = f"is {ALL_COLUMNS}, but `never` makes draws depend on columns that are released unchanged."
        hint = "use against: column, or name these columns in strata."
        raise PolicyError(Problem(f"{describe(model)}.against", what, hint))
    size = layout.attributes[number].size
    if size > MOST_VALUES:
        what = f"is {ALL_COLUMNS}, but '{model.column}' has {size:,} values. Allowed: up to {MOST_VALUES:,}."
        raise UnsupportedError(Problem(f"{describe(model)}.against", what, "use coarser values, or against: column."))
    parts = [parts_of(layout.attributes[number], cell.domains[number], place) for cell in layout.cells]
    return known_combinations(layout, number, parts)


def _priors(model: AlphaGamma, layout: Layout) -> tuple[Shares, ...]:
    """Return the prior of a column's attribute in every cell, over its domain there."""
    number, place = layout.place(model.column)
    attribute = layout.attributes[number]
    if model.prior is None:
        return tuple(rounded(cell.counts[number]) for cell in layout.cells)
    where = f"alpha-gamma (column = {model.column}).prior"
    if len(attribute.columns) > 1 or not layout.shared[number]:
        what = "describes the column in the whole table, but values are drawn jointly or by strata."
        raise PolicyError(Problem(where, what, "remove it: it is then taken from the data."))
    column = attribute.columns[place]
    codes = [code_of(column, value) for value in model.prior]
    strange, absent = codes.count(-1), column.size - len(set(codes) - {-1})
    if strange or absent or len(set(codes)) < len(codes):
        what = f"names {strange} values that column '{model.column}' does not have, and lacks {absent} that it has."
        if not strange and not absent:
            what = "names a value twice, in two spellings."
        raise PolicyError(Problem(where, what, "name all values as in the data; '' is a missing value."))
    shares = np.zeros(column.size)
    shares[codes] = list(model.prior.values())
    counts = np.bincount(column.codes, minlength=column.size)
    if (np.abs(counts / counts.sum() - shares) > NEAR).any():
        raise PolicyUnmetError(Problem(where, "is not the distribution of the column.", TAKEN))
    return (shares,) * len(layout.cells)


def _out_of_reach(limit: Promise, layout: Layout) -> list[Problem]:
    """Return the problem of an alpha or gamma that cannot be kept even if no value is kept, for the worst cell.

    Both published and exact shares are tested.
    """
    attribute = layout.attributes[limit.number]
    worst: list[tuple[float, float]] = []
    for cell, shown in zip(layout.cells, limit.priors, strict=True):
        parts = parts_of(attribute, cell.domains[limit.number], limit.place)
        for prior in (shown, *exact(limit, cell)):
            shares = np.bincount(parts, weights=prior)
            worst.append((float(shares.max()), float(shares[shares > 0].min())))
    most, least = max(high for high, _ in worst), min(low for _, low in worst)
    asked = Limit(0, [most, least], limit.model.alpha, limit.model.gamma)
    where = f"alpha-gamma (column = {limit.model.column})"
    return list(unkept(where if layout.shared[limit.number] else f"{where}, in the worst {layout.part}", asked))


def check_priors(promises: Promises, retention: Retention) -> None:
    """Raise if a prior of the policy is not what the column's distribution is: the audit would find it in the release.

    What is shown is compared with what the prior would make of it, within three standard errors and three digits.
    """
    problems = []
    layout = promises.mechanism.layout
    for limit in promises.limits:
        if limit.model.prior is None:
            continue
        cell, prior = layout.cells[0], limit.priors[0]
        matrix = promises.mechanism.matrix(cell, limit.number, retention[limit.number])
        counts = cell.counts[limit.number]
        actual = counts / counts.sum()
        spread = np.sqrt((prior @ (matrix * (1 - matrix))) / counts.sum())
        if (np.abs((actual - prior) @ matrix) > 3 * spread + 0.5 * 10.0**-DIGITS).any():
            what = "is not the distribution of the column."
            problems.append(Problem(f"alpha-gamma (column = {limit.model.column}).prior", what, TAKEN))
    if problems:
        raise PolicyUnmetError(problems)


def retained(p: Any, promises: Promises, calibration: Calibration) -> Published:
    """Return how much of each attribute is kept: what the policy says as it says it, or what the calibration allows."""
    if isinstance(p, str):
        return promises.published(calibration.retention, alike=p != "per-column")
    layout, own = promises.mechanism.layout, promises.mechanism.own
    check_given(p, [attribute.names for attribute in layout.attributes], own)
    given = [p[attribute.names[0]] if isinstance(p, Mapping) and number not in own else p
             for number, attribute in enumerate(layout.attributes)]  # fmt: skip
    return Published([None if number in own else float(each) for number, each in enumerate(given)], None)


def check_given(p: Any, attributes: Sequence[Sequence[str]], own: Collection[int] = ()) -> None:
    """Raise all that is wrong with a mapping of columns to how much of each is kept.

    ``attributes`` are the perturbed columns, those that are drawn jointly together; ``own`` are the places of those
    with a matrix of the policy.
    """
    if not isinstance(p, Mapping):
        return
    problems = []
    for number, names in enumerate(attributes):
        absent = [name for name in names if name not in p]
        if number in own:
            continue
        if absent:
            problems.append(Problem("method.p", f"does not name '{absent[0]}', which is also perturbed."))
        elif len({p[name] for name in names}) > 1:
            problems.append(Problem("method.p", f"differs between {', '.join(names)}, which are drawn jointly."))
    drawn = {name for names in attributes for name in names}
    problems += [Problem("method.p", f"'{name}' is not perturbed.") for name in p if name not in drawn]
    if problems:
        raise PolicyError(problems)
