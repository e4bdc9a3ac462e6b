"""A comparison: its figures, and the run over all configurations, until the end or until the user stops it."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sudare.comparisons.classifiers import BASELINES, Outcome, evaluate
from sudare.comparisons.comparison_text import show
from sudare.comparisons.configurations import Configuration
from sudare.comparisons.folds import stratified
from sudare.comparisons.measurement import Bench, Result
from sudare.core.errors import UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.methods import METHODS
from sudare.methods.tds.top_down_specialization import checked_class

INTERRUPTED = "stopped early: {done} of {all} configurations are finished."
OUT_OF_TIME = "the time limit was reached: {done} of {all} configurations are finished."
FEWER = "{there} of {wanted} queries could be drawn: few queries match 1% of the records."


@dataclass(frozen=True)
class Comparison:
    """Several configurations side by side; printing it shows tables.

    ``results`` are their figures, and ``outcomes`` how well classifiers learn the ``target`` from their releases, after
    those of the baselines; there are none without a target. ``w`` is the weight in the table's information. ``stopped``
    says why, if not all configurations were measured.
    """

    records: int
    seed: int
    results: tuple[Result, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    target: str | None = None
    classes: int | None = None
    folds: int | None = None
    w: float | None = None
    queries: int = 0
    notes: tuple[str, ...] = ()
    stopped: str | None = None

    @property
    def finished(self) -> int:
        """The number of configurations that made a release."""
        return sum(result.problem is None for result in self.results)

    def to_dict(self, *, costs: bool = False) -> dict[str, Any]:
        """Return everything in the types that JSON has: the same for the same data, policy and seed.

        With ``costs`` also seconds and memory, which are not.
        """
        names = ("target", "classes", "records", "folds", "seed", "w", "queries", "notes", "stopped")
        head = {name: getattr(self, name) for name in names} | {"notes": list(self.notes)}
        return head | {
            "ways": [result.to_dict(costs=costs) for result in self.results],
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
        }

    def __repr__(self) -> str:
        if self.target is not None:
            names = ", ".join(outcome.name for outcome in self.outcomes)
            return f"<sudare.Comparison by '{self.target}', {self.records} records in {self.folds} folds: {names}>"
        return f"<sudare.Comparison of {len(self.results)} configurations, {self.records} records>"

    def __str__(self) -> str:
        return "\n".join(show(self.to_dict(costs=True)))


def compare_configurations(
    bench: Bench,
    configs: Sequence[Configuration],
    *,
    target: str | None = None,
    judged: Sequence[Configuration] = (),
    folds: int = 5,
    wanted: int = 0,
    until: float = math.inf,
    progress: Listener | None = None,
) -> Comparison:
    """Measure all configurations; with a target, also train classifiers for those in ``judged``.

    ``wanted`` is the requested number of queries. No configuration begins after ``until``, by the monotonic clock. The
    time limit and Ctrl-C keep finished results; if there are none, Ctrl-C is raised.
    """
    run = _Run(bench, target, folds, len(configs), len(judged), progress or silent)
    stopped = None
    try:
        run.begin()
        for config in configs:
            if time.monotonic() >= until:
                stopped = OUT_OF_TIME
                break
            run.take(config, judge=config in judged)
    except KeyboardInterrupt:
        if not run.results:
            raise
        stopped = INTERRUPTED
    there = len(bench.queries)
    notes = (FEWER.format(there=there, wanted=wanted),) if there < wanted else ()
    return Comparison(
        records=bench.table.rows,
        seed=bench.seed,
        results=with_frontier(run.results),
        outcomes=tuple(run.outcomes),
        queries=there,
        notes=notes,
        stopped=None if stopped is None else stopped.format(done=len(run.results), all=len(configs)),
        **run.about(configs),
    )


class _Run:
    """The state of a comparison: finished results, and the configurations to come."""

    def __init__(
        self, bench: Bench, target: str | None, folds: int, configs: int, judged: int, listener: Listener
    ) -> None:
        self.bench, self.target, self.folds, self.listener = bench, target, folds, listener
        self.results: list[Result] = []
        self.outcomes: list[Outcome] = []
        self.splits: list[Any] = []
        self.classes: int | None = None
        if target is not None:
            if bench.table.sets:
                what = f"classifiers cannot learn from item sets; got {', '.join(map(repr, bench.table.sets))}."
                raise UnsupportedError(what, hint="remove the column from the policy, or name no target.")
            self.classes = len(checked_class(bench.table.target, target).values)
            self.splits = stratified(bench.table, folds, bench.seed)
        # with a target the folds are what takes time, and else the ways
        self.total = configs if target is None else folds * (judged + len(BASELINES))
        self.done = 0

    def begin(self) -> None:
        """Report the begin, and train the baselines."""
        self.listener("compare", 0, self.total)
        if self.target is not None:
            self.outcomes += self._learn([])

    def take(self, config: Configuration, *, judge: bool) -> None:
        """Measure one configuration."""
        result = self.bench.measure(config)
        learnt = self._learn([config]) if judge and self.target is not None else []
        self.results.append(result)  # both or neither, wherever somebody stops this
        self.outcomes += learnt
        if self.target is None:
            self.done += 1
            self.listener("compare", self.done, self.total)

    def _learn(self, configs: Sequence[Configuration]) -> list[Outcome]:
        before = self.done

        def tell(stage: str, done: float, _: float) -> None:
            self.done = before + int(done)
            self.listener(stage, self.done, self.total)

        table, baselines = self.bench.table, not configs
        if configs and not configs[0].problems and not METHODS[configs[0].method].leaves_quasi:
            table = self.bench.seen(configs[0])  # in which values that are rare under its requirements are one
        required = next((config.requirements for config in configs if config.requirements), self.bench.requirements)
        w = weight(configs)
        return evaluate(
            table, required, configs, self.splits, baselines=baselines, w=w, seed=self.bench.seed, progress=tell
        )

    def about(self, configs: Sequence[Configuration]) -> dict[str, Any]:
        """Return what was learnt of, for the comparison."""
        if self.target is None:
            return {}
        return {"target": self.target, "classes": self.classes, "folds": self.folds, "w": weight(configs)}


def weight(configs: Sequence[Configuration]) -> float:
    """Return the weight in the table's information: that of the first configuration that has one, or the default."""
    for config in configs:
        if "w" in config.options:
            return float(config.options["w"])
    return float(inspect.signature(METHODS["tds"].load()).parameters["w"].default)


def with_frontier(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return for each result whether no other has both less mean risk and less error: of queries, or GCP without any.

    Of equal ones all are on the frontier. What has no risk of classes takes no part.
    """
    plain = [(result.risk.mean, _cost(result)) for result in results if result.risk is not None]

    def beaten(risk: float, cost: float) -> bool:
        return any((r < risk and c <= cost) or (r <= risk and c < cost) for r, c in plain)

    return tuple(
        replace(each, frontier=each.risk is not None and not beaten(each.risk.mean, _cost(each))) for each in results
    )


def _cost(result: Result) -> float:
    found = result.gcp if result.query_error is None else result.query_error
    return math.inf if found is None else found
