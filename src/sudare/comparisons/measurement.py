"""The figures of one configuration: loss, risk, query errors, time and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sudare.comparisons.configurations import Configuration
from sudare.comparisons.hidden_estimates import CannotEstimateError, DrawnCodes, draw_all, from_draws, from_groups
from sudare.comparisons.queries import Query, estimates
from sudare.comparisons.run_costs import measured
from sudare.core.errors import SudareError
from sudare.models import AlphaGamma, PkAnonymity, Requirements
from sudare.releases.release_figures import measure
from sudare.risks import Classes, exposure, exposure_of_people
from sudare.table import Generalized, Partition, Perturbation, Recoding, Separation, Table, published_classes

WARM = 1000
"""Records on which a method runs once before it is measured, so that loading its compiled code is not counted."""
THRESHOLDS = ("0.09", "0.2")
NO_MEMORY = "there is not enough memory."
OWN_ITEMS = "item sets differ from record to record, so there is no risk of classes."
ONE_OF_L = "identities are not hidden: the guarantee limits the probability of a sensitive value, to 1/l."
LINKED = "values are drawn: the guarantee limits the probability of linking a record with its person, to 1/k."
BELIEVED = "values are drawn: the guarantee limits the average probability of a value, to alpha."


@dataclass(frozen=True)
class RiskFigures:
    """Prosecutor risk over the ``unit`` ("records", or "people" where the policy says who records are about)."""

    unit: str
    mean: float
    largest: float
    above: dict[str, float]


@dataclass(frozen=True)
class Result:
    """The result of one configuration; figures that do not apply are None, and ``notes`` say why.

    ``swept`` are the values of the sweep. ``suppressed`` is the share of suppressed or masked records, ``guarantee`` a
    probability that the method promises not to exceed, where there is no risk of classes. ``query_error`` is the mean
    relative error. ``memory`` is in bytes. ``frontier`` says that no other configuration has both less risk and more
    utility. If ``problem`` says why there is no release, there are no figures.
    """

    name: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    swept: dict[str, Any] = field(default_factory=dict)
    gcp: float | None = None
    arx: float | None = None
    entropy: float | None = None
    suppressed: float | None = None
    classes: int | None = None
    risk: RiskFigures | None = None
    guarantee: float | None = None
    query_error: float | None = None
    seconds: float | None = None
    memory: int | None = None
    frontier: bool = False
    notes: tuple[str, ...] = ()
    problem: str | None = None

    def to_dict(self, *, costs: bool = False) -> dict[str, Any]:
        """Return everything in the types that JSON has; ``costs`` are the figures that differ from run to run."""
        found = asdict(self)
        found["notes"] = list(self.notes)
        return found if costs else {key: value for key, value in found.items() if key not in ("seconds", "memory")}


class Bench:
    """The bench for all configurations: a table, queries about it, and the table that each method reads.

    ``table`` is the original one, for the baselines of classifiers. ``asks`` returns the queries of a configuration:
    its requirements decide which values are rare, and rare values are merged.
    """

    def __init__(
        self,
        table: Table,
        requirements: Requirements,
        queries: Sequence[Query],
        seen: Callable[[Configuration], Table],
        seed: int,
        asks: Callable[[Configuration], Sequence[Query]] | None = None,
    ) -> None:
        self.asks = asks or (lambda config: queries)
        self.table, self.requirements, self.queries, self.seen, self.seed = table, requirements, queries, seen, seed
        self._warm: set[tuple[str, ...]] = set()

    def measure(self, config: Configuration) -> Result:
        """Return the figures of a configuration, or the reason why it makes no release."""
        blank = Result(config.name, config.method, dict(config.options), dict(config.swept))
        try:
            if config.problems:
                config.recode(self.table, self.requirements, self.seed)  # which raises
            table = self.seen(config)
            self._warm_up(config, table)
            (recoding, drawn), cost = measured(lambda: self._decide(config, table))
            return self._figures(replace(blank, **vars(cost)), config, table, recoding, drawn)
        except SudareError as error:
            return replace(blank, problem=str(error))
        except MemoryError:
            return replace(blank, problem=NO_MEMORY)

    def _warm_up(self, config: Configuration, table: Table) -> None:
        key = (config.method, *(f"{key}={value}" for key, value in sorted(config.options.items())))
        if key in self._warm:
            return
        self._warm.add(key)
        few = np.unique(np.linspace(0, table.rows - 1, min(WARM, table.rows)).astype(np.int64))
        with suppress(SudareError):  # so few records may not keep the policy
            self._decide(config, table.taken(few))

    def _decide(self, config: Configuration, table: Table) -> tuple[Recoding, DrawnCodes]:
        """Return what a method decides, and what it draws, which some do only when a release is written."""
        recoding = config.recode(table, self.requirements, self.seed)
        return recoding, draw_all(recoding, table.rows) if isinstance(recoding, Perturbation) else {}

    def _figures(
        self, blank: Result, config: Configuration, table: Table, recoding: Recoding, drawn: DrawnCodes
    ) -> Result:
        queries = self.asks(config)
        if isinstance(recoding, Partition):
            return self._of_classes(blank, table, recoding, queries)
        guarantee, note = promised(config.requirements or self.requirements)
        error, notes = None, [note]
        try:
            if isinstance(recoding, Separation):
                found = from_groups(table, recoding, queries)
            else:
                found = from_draws(recoding, drawn, queries, table.rows)
            error = self._error(found, queries)
        except CannotEstimateError as reason:
            notes.append(str(reason))
        untouched = {} if note in (LINKED, BELIEVED) else {"gcp": 0.0, "arx": 0.0, "entropy": 0.0}
        figures: dict[str, Any] = untouched | {"suppressed": 0.0, "guarantee": guarantee, "query_error": error}
        return replace(blank, **figures, notes=tuple(notes))

    def _of_classes(self, blank: Result, table: Table, decided: Partition, queries: Sequence[Query]) -> Result:
        shown = published_classes(table, decided)
        figures = measure(shown)  # as in the certificate of such a release
        return replace(
            blank,
            gcp=figures.totals["gcp"],
            arx=figures.totals["arx"],
            entropy=figures.totals["entropy"],
            suppressed=figures.suppressed / max(table.rows, 1),
            classes=len(shown.sizes),
            risk=None if shown.own else risk_of(table, shown),
            query_error=self._error(estimates(shown, queries), queries),
            notes=(OWN_ITEMS,) if shown.own else (),
        )

    @staticmethod
    def _error(found: Sequence[float], queries: Sequence[Query]) -> float | None:
        if not queries:
            return None
        return float(np.mean([query.error(each) for query, each in zip(queries, found, strict=True)]))


def risk_of(table: Table, shown: Generalized) -> RiskFigures:
    """Return the prosecutor risk of the records that show something, or of their people where these are known."""
    kept = shown.partition.shows_something
    classes = Classes(shown.partition.classes[kept], shown.kept)
    if table.subject is None:
        unit, found = "records", exposure(classes)
    else:
        _, people = np.unique(table.subject.codes[kept], return_inverse=True)
        unit, found = "people", exposure_of_people(classes, people)
    return RiskFigures(unit, found.mean_risk, found.largest_risk, {name: found.above[name] for name in THRESHOLDS})


def promised(requirements: Requirements) -> tuple[float | None, str]:
    """Return the probability that a method promises that hides or draws values, and what it is of."""
    ks = [model.k for model in requirements.models if isinstance(model, PkAnonymity)]
    if ks:
        return 1 / max(ks), LINKED
    alphas = [model.alpha for model in requirements.models if isinstance(model, AlphaGamma)]
    if alphas:
        return max(alphas), BELIEVED
    ls = [float(least) for model in requirements.models if (least := getattr(model, "l", None)) is not None]
    return (1 / min(ls) if ls else None), ONE_OF_L
