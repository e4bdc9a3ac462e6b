"""Attribute inference: what a release reveals about a sensitive value of a person whose other columns are known.

**By class.** The intruder looks at the released records that may be the person's (see :mod:`sudare.risks.linkage`), and
takes the sensitive value that most of them have, ties at random. Values that are hidden in sets or groups count in
proportion.

**Baseline and held-out records.** The *baseline* is the prior: always saying the value that is most frequent overall.
Success above it is not all harm, since a release is made to be learned from. So the attack is also judged with the
person's own record *held out*: one record with the person's value is taken away before the others are counted
(leave-one-out). That is what the release tells about people like this one, whether or not they are in it; what success
is above it comes from being in the release.

**By a model**, if asked for: gradient boosting learns the sensitive value from what the release shows (up to 20 values,
else a decision tree). Its held-out figure is from a model of one half of the released records, asked about the other.

**Homogeneity**: the share of records in classes where one value is certain, or has a share of 0.95 or more.
**Skewness**: how far the distribution in a class is from the overall one, as the total variation distance (which is the
distance of t-closeness for values that are all equally far apart): the largest, and the mean over records.

Reference: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity. ICDE 2006. Li, Li, Venkatasubramanian:
t-closeness. ICDE 2007. Giomi, Boenisch, Wehmeyer, Tasnádi: A unified framework for quantifying privacy risk in
synthetic data. PoPETs 2023(2), 312-328, on controls that are not in the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import MissingExtraError
from sudare.kernels.risks.class_matches import guess_in_class
from sudare.risks.class_risk import Classes
from sudare.risks.intervals import Success, success
from sudare.risks.matches import Histogram
from sudare.risks.released_codes import ReleasedCodes
from sudare.table import Column

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NEARLY = 0.95
LEARNED_FROM = 50_000
"""A model learns from as many released records at the most."""
BOOSTED = 20
"""Values up to which a model is boosted; with more of them it is a tree."""
INDICATED = 32
"""The most frequent categories of a column, each of which is a feature."""


@dataclass(frozen=True, eq=False)
class Votes:
    """What a release says about a sensitive column: record ``row[i]`` speaks for ``value[i]`` with ``weight[i]``.

    Values are codes of the data, -1 one that it does not have. Without weights each record has one value, its own.
    """

    row: Ints
    value: Ints
    weight: Floats | None = None

    def of_rows(self, rows: NDArray[np.bool_]) -> Votes:
        """Return what some rows say."""
        some = rows[self.row]
        return Votes(self.row[some], self.value[some], None if self.weight is None else self.weight[some])


@dataclass(frozen=True)
class Guesses:
    """The success of inference on one side: from the original data, or from a release.

    ``certain`` and ``nearly_certain`` are homogeneity, ``largest_shift`` and ``mean_shift`` skewness.
    """

    by_class: Success
    held_out: float | None
    certain: float
    nearly_certain: float
    largest_shift: float
    mean_shift: float
    by_model: Success | None = None
    model_held_out: float | None = None

    @property
    def worst(self) -> Success:
        """The attack that gains most."""
        found = [one for one in (self.by_class, self.by_model) if one is not None]
        return max(found, key=lambda one: one.above)


@dataclass(frozen=True)
class Inference:
    """What can be inferred about a sensitive column, before and after."""

    target: str
    values: int
    before: Guesses
    after: Guesses | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return asdict(self)


def histogram(classes: Classes, votes: Votes, size: int) -> Histogram:
    """Count the values of a sensitive column by class."""
    return Histogram.of(
        classes.of_row[votes.row].astype(np.int64), votes.value, votes.weight, len(classes.sizes), max(size, 1)
    )


def guess_as_it_is(classes: Classes, truth: NDArray[Any], people: Ints, size: int) -> Guesses:
    """Judge the inference from the original table."""
    votes = Votes(np.arange(len(truth)), truth.astype(np.int64))
    counts = histogram(classes, votes, size)
    judged = np.zeros((len(people), 2), dtype=np.float64)
    guess_in_class(classes.of_row[people].astype(np.int64), counts.arrays, votes.value[people], judged)
    return judge(counts, classes, judged, votes.value[people], held_out=True)


def judge(counts: Histogram, classes: Classes, judged: Floats, truth: Ints, *, held_out: bool) -> Guesses:
    """Put the figures together: ``judged`` are the guesses about some people, whose values are the ``truth``."""
    overall = np.bincount(counts.values, counts.counts, counts.size).astype(np.float64)
    usual = (truth == int(np.argmax(overall))).astype(np.float64)
    # who finds nobody alike, or no other one, is left with the prior
    judged = np.where(judged < 0, usual[:, None], judged)
    prior = float(usual.mean()) if len(truth) else 0.0
    share = float(judged[:, 0].mean()) if len(judged) else 0.0
    certain, nearly, largest, mean = _uneven(counts, classes, overall)
    return Guesses(
        by_class=success(share, prior, len(truth)),
        held_out=float(judged[:, 1].mean()) if held_out and len(judged) else None,
        certain=certain,
        nearly_certain=nearly,
        largest_shift=largest,
        mean_shift=mean,
    )


def _uneven(counts: Histogram, classes: Classes, overall: Floats) -> tuple[float, float, float, float]:
    """Return homogeneity (certain, nearly certain) and skewness (largest, mean), the shares by records."""
    number = np.repeat(np.arange(len(classes.sizes)), np.diff(counts.begin))
    total = np.bincount(number, counts.counts, len(classes.sizes))
    told = total > 0
    if not told.any():
        return 0.0, 0.0, 0.0, 0.0
    share = counts.counts / total[number]
    top = np.zeros(len(classes.sizes))
    np.maximum.at(top, number, share)
    gained = np.maximum(share - (overall / overall.sum())[counts.values], 0.0)
    shift = np.bincount(number, gained, len(classes.sizes))
    records = classes.sizes / classes.sizes.sum()
    return (
        float(records[told & (top > 1 - 1e-9)].sum()),
        float(records[told & (top > NEARLY - 1e-9)].sum()),
        float(shift.max()),
        float((shift * records).sum()),
    )


# -- a model ------------------------------------------------------------------------------------------------------


def check_installed() -> None:
    """Raise if scikit-learn is not there."""
    try:
        import sklearn  # noqa: F401
    except ModuleNotFoundError:
        what = "an attack by a model needs scikit-learn, which is not installed."
        raise MissingExtraError(what, hint="pip install scikit-learn, or remove --model.") from None


def guess_by_model(
    shown: ReleasedCodes,
    columns: Mapping[str, Column],
    votes: Votes,
    people: Ints,
    truth: Ints,
    prior: float,
    generator: np.random.Generator,
) -> tuple[Success, float | None]:
    """Judge a model that learns from the release, asked about people whose columns it knows, and on held-out records.

    ``prior`` is how often the most frequent value is right about these people.
    """
    known = votes.row[votes.value >= 0]
    values = votes.value[votes.value >= 0]
    if len(known) > LEARNED_FROM:
        taken = np.sort(generator.choice(len(known), LEARNED_FROM, replace=False))
        known, values = known[taken], values[taken]
    rows = _joined([_released(shown, name, column, known) for name, column in columns.items()], len(known))
    asked = _joined([_plain(column, people) for column in columns.values()], len(people))
    share = float(np.mean(_answers(rows, values, asked) == truth)) if len(people) else 0.0
    order = generator.permutation(len(known))
    half, other = order[: len(order) // 2], order[len(order) // 2 :]
    held_out = float(np.mean(_answers(rows[half], values[half], rows[other]) == values[other])) if len(half) else None
    return success(share, prior, len(people)), held_out


def _answers(features: Floats, values: Ints, asked: Floats) -> Ints:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier
    from threadpoolctl import threadpool_limits  # which scikit-learn itself depends on

    there = np.unique(values)
    if len(there) < 2 or not features.shape[1]:
        return np.full(len(asked), there[0] if len(there) else -1)
    model = (
        HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        if len(there) <= BOOSTED
        else DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    )
    with threadpool_limits(1):  # threads of boosting wait for each other, and others need the cores
        return np.asarray(model.fit(features, values).predict(asked))


def _joined(parts: Sequence[Floats], rows: int) -> Floats:
    return np.concatenate([np.zeros((rows, 0)), *parts], axis=1)


def _released(shown: ReleasedCodes, name: str, column: Column, rows: Ints) -> Floats:
    """Return the features of what some rows show: the middle of a number's cell, the share of each category in it."""
    cells = shown.cells[name]
    used, own = np.unique(cells.of_row[rows], return_inverse=True)
    lines = []
    plain = _by_code(column)
    for number in used.tolist():
        allowed = cells.members.get(number)
        codes = np.arange(cells.low[number], cells.high[number] + 1) if allowed is None else allowed
        line = plain[codes]
        there = ~np.isnan(line).all(axis=1)
        lines.append(line[there].mean(axis=0) if there.any() else np.full(plain.shape[1], np.nan))
    return np.stack(lines)[own] if lines else np.zeros((0, plain.shape[1]))


def _plain(column: Column, rows: Ints) -> Floats:
    return np.asarray(_by_code(column)[column.codes[rows]])


def _by_code(column: Column) -> Floats:
    """Return the features of each code: its place on the axis, or a mark for each of the most frequent categories."""
    if column.positions is not None:
        return np.asarray(np.append(column.positions, [np.nan] * int(column.missing))[:, None])
    frequent = np.argsort(-np.bincount(column.codes, minlength=column.size), kind="stable")[:INDICATED]
    return np.asarray(np.arange(column.size)[:, None] == frequent[None, :], dtype=np.float64)
