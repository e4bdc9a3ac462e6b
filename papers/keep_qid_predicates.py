"""Queries of one predicate for ``keep_qid.py``: the workload of the paper, which is that of Anatomy.

A query picks g quasi-identifiers, and b = ceil(|A| s^(1/(g+1))) of the |A| values of each. It asks for one
distribution: how often does each sensitive value occur among the records with A1 in set1 and ... and Ag in setg?

Many queries are answered at once. For the sets of ``dummies``, a query is a cell of the library's kernels, and a record
may be in many of them; what the whole table says is found once per release, and not once per query. Every answer is the
one that :func:`sudare.estimate` gives to the query by itself (a test compares them).

Reference: Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keep_qid_queries import CONVERGED, SPREAD, Classes, Floats, Groups, Ints, Sets, errors, own_shares
from sudare.estimates.set_counts import GAP, MOST_ROUNDS, MOST_STEPS, PAPER_EPS, TABLE_GAP, pseudo_records
from sudare.kernels.estimates import set_likelihood
from sudare.table import Table

FEW = 500
"""Records below which a query counts as one of few records."""
AT_ONCE = 8
"""Queries that one core answers together."""
Release = Sets | Groups | Classes | None


@dataclass(frozen=True, eq=False)
class Predicate:
    """The picked values, by their codes, of some columns, and the records that have one of them in each."""

    chosen: Mapping[str, Ints]
    rows: Ints


def draw_predicate(table: Table, g: int, s: float, generator: np.random.Generator) -> Predicate:
    """Draw g quasi-identifiers, and b = ceil(size * s^(1/(g+1))) values of each; redraw until there are records."""
    columns = list(table.single.values())
    while True:
        chosen = {}
        for at in generator.permutation(len(columns))[:g]:
            size = columns[at].size
            taken = math.ceil(size * s ** (1 / (g + 1)))
            chosen[columns[at].name] = np.sort(generator.permutation(size)[:taken])
        found = predicate_of(table, chosen)
        if len(found.rows):
            return found


def predicate_of(table: Table, chosen: Mapping[str, Ints]) -> Predicate:
    """Return the predicate that some values, by their codes, of some columns make."""
    inside = np.ones(table.rows, dtype=np.bool_)
    for name, codes in chosen.items():
        inside &= _allowed(table.single[name].size, codes)[table.single[name].codes]
    return Predicate(chosen, np.flatnonzero(inside))


def _allowed(size: int, codes: Ints) -> NDArray[np.bool_]:
    allowed = np.zeros(size, dtype=np.bool_)
    allowed[codes] = True
    return allowed


def truth(table: Table, queries: Sequence[Predicate]) -> Floats:
    """Return how many records of each query have each sensitive value."""
    [column] = table.sensitive.values()
    counted = [np.bincount(column.codes[query.rows], minlength=column.size) for query in queries]
    return np.array(counted, dtype=np.float64).reshape(len(queries), column.size)


# Answers


class SetAnswers:
    """Answers from a release by dummies, by all estimators: the prior of the whole table is found once."""

    def __init__(self, release: Sets) -> None:
        self.sets, self.size = release.sets, release.size
        rows, self.width = self.sets.shape
        self.rate = (self.width - 1) / (self.size - 1)
        self.known = self.width < self.size  # else all sets are alike, and nothing can be learnt
        if self.known:
            self.shares, self.pseudo = self._table(rows)

    def _table(self, rows: int) -> tuple[Floats, float]:
        """Return the estimated shares of the whole table, and the pseudo-records of its own, uniform prior."""
        cells = set_likelihood.Cells(self.sets, np.arange(rows), np.array([0, rows]))
        holding = np.zeros((1, self.size), dtype=np.int32)
        set_likelihood.count_by_cell(cells, 0, 1, holding)
        uniform = np.full(self.size, 1 / self.size)
        pseudo = self._strength(np.array([rows]), holding, uniform, 0)[0]
        prior = set_likelihood.Prior(np.zeros(self.size), np.zeros(1), np.array([pseudo / self.size]))
        counts = self._maximised(cells, prior, TABLE_GAP)
        return np.asarray((counts[0] + pseudo * uniform) / (rows + pseudo)), float(pseudo)

    def _strength(self, records: Ints, holding: NDArray[np.int32], prior: Floats, rows: int) -> Floats:
        """Return the pseudo-records of each query, found as if it were the only one."""
        shares = (holding / records[:, None] - self.rate) / (1 - self.rate)
        apart = ((shares - prior) ** 2).sum(axis=1)
        noise = (1 - prior) * (self.rate / (1 - self.rate))
        each = [pseudo_records(records[[at]], apart[[at]], prior, noise, rows)[0] for at in range(len(records))]
        return np.array(each)

    def _maximised(self, cells: set_likelihood.Cells, prior: set_likelihood.Prior, gap: float) -> Floats:
        count = len(cells.starts) - 1
        shape = (count, self.size)
        flags, rounds = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
        found = set_likelihood.Found(np.zeros(shape), np.zeros(shape), flags, rounds)
        set_likelihood.maximise(cells, 0, count, prior, gap, MOST_STEPS, found)
        return np.asarray(found.counts)

    def counts(self, queries: Sequence[Predicate]) -> dict[str, Floats]:
        """Estimate the counts of each query, by each estimator."""
        records = np.array([len(query.rows) for query in queries])
        starts = np.concatenate(([0], np.cumsum(records)))
        count = len(queries)
        if not self.known:
            even = np.repeat(records[:, None] / self.size, self.size, axis=1)
            return dict.fromkeys(("em-shrunk", "em", "closed-form", "bayes, eps 1", "bayes, converged"), even)
        cells = set_likelihood.Cells(self.sets, np.concatenate([query.rows for query in queries]), starts)
        holding = np.zeros((count, self.size), dtype=np.int32)
        set_likelihood.count_by_cell(cells, 0, count, holding)
        closed = np.zeros((count, self.size))
        set_likelihood.project_cells(holding, records, self.rate, 0, count, closed)
        none = np.zeros(count)
        return {
            "em-shrunk": self._maximised(cells, self._prior(records, holding), GAP),
            "em": self._maximised(cells, set_likelihood.Prior(np.zeros(self.size), none, none), GAP),
            "closed-form": closed,
            "bayes, eps 1": self._iterated(holding, records, PAPER_EPS),
            "bayes, converged": self._iterated(holding, records, CONVERGED),
        }

    def _prior(self, records: Ints, holding: NDArray[np.int32]) -> set_likelihood.Prior:
        rows = len(self.sets)
        part, strength = records / rows, self._strength(records, holding, self.shares, rows)
        even = part * np.where(part < 1, np.minimum(self.pseudo, strength), self.pseudo) / self.size
        return set_likelihood.Prior(self.shares, strength * (1 - part), even)

    def _iterated(self, holding: NDArray[np.int32], records: Ints, eps: float) -> Floats:
        count = len(records)
        found, rounds = np.zeros((count, self.size)), np.zeros(count, dtype=np.int64)
        width = np.int64(self.width)
        set_likelihood.iterate_bayes(
            holding, records, self.rate, width, float(eps), MOST_ROUNDS, 0, count, found, rounds
        )
        return found


class GroupAnswers:
    """Answers from a release by anatomy: a record counts for all values of its group, in proportion."""

    def __init__(self, release: Groups) -> None:
        self.groups, self.sizes, self.size = release.groups, release.sizes, release.size
        self.values, self.of = release.values, np.repeat(np.arange(len(release.sizes)), release.sizes)

    def counts(self, queries: Sequence[Predicate]) -> Floats:
        """Estimate the counts of each query."""
        found = np.empty((len(queries), self.size))
        for at, query in enumerate(queries):
            share = np.bincount(self.groups[query.rows], minlength=len(self.sizes)) / self.sizes
            found[at] = np.bincount(self.values, share[self.of], self.size)
        return found


class ClassAnswers:
    """Answers from a release by classes: a record counts by the share of its cell that the predicate allows."""

    def __init__(self, release: Classes) -> None:
        self.release = release

    def counts(self, queries: Sequence[Predicate]) -> Floats:
        """Estimate the counts of each query."""
        release = self.release
        found = np.empty((len(queries), release.size))
        for at, query in enumerate(queries):
            share = np.ones(len(next(iter(release.cells.values())).of_class))
            for name, codes in query.chosen.items():
                share *= self._allowed_share(name, codes)[release.cells[name].of_class]
            found[at] = np.bincount(release.value, release.amount * share[release.of], release.size)
        return found

    def _allowed_share(self, name: str, codes: Ints) -> Floats:
        """Return for each cell of a column the share of its values that a predicate allows."""
        cells = self.release.cells[name]
        if cells.numeric:
            below = np.concatenate(
                ([0], np.cumsum(_allowed(int(cells.high.max()) + 1, codes[codes <= cells.high.max()])))
            )
            return np.asarray((below[cells.high + 1] - below[cells.low]) * cells.share)
        bits = np.bitwise_or.reduce(np.uint64(1) << codes.astype(np.uint64))
        return np.asarray(np.bitwise_count(cells.members & bits) * cells.share)


def answers_of(release: Release) -> SetAnswers | GroupAnswers | ClassAnswers | None:
    """Return what answers queries from a release, if there is one."""
    if isinstance(release, Sets):
        return SetAnswers(release)
    if isinstance(release, Groups):
        return GroupAnswers(release)
    return None if release is None else ClassAnswers(release)


# Errors


def measured(
    table: Table, releases: Mapping[str, Release], queries: int, seed: int, g: int, s: float, cores: int = 1
) -> dict[str, Any]:
    """Put random queries to some releases, and return the errors by way.

    The same seed draws the same queries whatever the releases are. The number of cores makes no difference.
    """
    generator = np.random.default_rng(seed)
    asked = {way: one for way, release in releases.items() if (one := answers_of(release)) is not None}
    seeds = generator.integers(0, 2**63, size=queries)

    def work(first: int) -> tuple[Ints, dict[str, tuple[Floats, Floats | None]]]:
        some = [draw_predicate(table, g, s, np.random.default_rng(int(one))) for one in seeds[first : first + AT_ONCE]]
        true = truth(table, some)
        found: dict[str, tuple[Floats, Floats | None]] = {}
        for way, one in asked.items():
            if isinstance(one, SetAnswers):
                found |= {name: (errors(true, counts), None) for name, counts in one.counts(some).items()}
            else:
                counts = one.counts(some)
                own = errors(true, own_shares(true, counts)) if way in SPREAD else None
                found[way] = (errors(true, counts), own)
        return np.array([len(query.rows) for query in some]), found

    with ThreadPoolExecutor(cores) as pool:
        parts = list(pool.map(work, range(0, queries, AT_ONCE)))
    records = np.concatenate([part[0] for part in parts])
    ways = parts[0][1]
    by_way = {way: np.concatenate([part[1][way][0] for part in parts]) for way in ways}
    own = {way: np.concatenate([_there(part[1][way][1]) for part in parts]) for way in ways if way in SPREAD}
    large = records >= FEW
    return {
        "queries": queries,
        "records": float(f"{records.mean():.6g}"),
        "median records": float(np.median(records)),
        "of few": round(1 - float(large.mean()), 4),
        "mse": _figures(by_way),
        "se": _standard_errors(by_way, queries),
        "median": {way: _number(np.median(one)) for way, one in by_way.items()},
        "large": _figures({way: one[large] for way, one in by_way.items()}) if large.any() else {},
        "own": _figures(own),
        "own large": _figures({way: one[large] for way, one in own.items()}) if large.any() else {},
    }


def _there(errors_of_own: Floats | None) -> Floats:
    assert errors_of_own is not None  # methods that generalize have them
    return errors_of_own


def _figures(by_way: Mapping[str, Floats]) -> dict[str, float]:
    return {way: _number(one.mean()) for way, one in by_way.items()}


def _standard_errors(by_way: Mapping[str, Floats], queries: int) -> dict[str, float]:
    if queries < 2:
        return {}
    return {way: _number(one.std(ddof=1) / math.sqrt(queries)) for way, one in by_way.items()}


def _number(figure: Any) -> float:
    return float(f"{figure:.6g}")
