"""A comparison: its figures, and how it is shown as text."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sudare.compare.classification import CLASSIFIERS, Outcome, evaluate
from sudare.compare.folds import stratified
from sudare.compare.ways import Way
from sudare.methods import METHODS
from sudare.methods.tds import checked_class
from sudare.models import Requirements
from sudare.progress import Listener
from sudare.table import Table

_HEADS = ("tree", "logistic", "boosting")


@dataclass(frozen=True)
class Comparison:
    """How well classifiers learn a class from the releases of several methods; ``show`` makes text of it.

    ``w`` is the weight in the table's information.
    """

    target: str
    classes: int
    records: int
    folds: int
    seed: int
    w: float
    outcomes: tuple[Outcome, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        head = {name: getattr(self, name) for name in ("target", "classes", "records", "folds", "seed", "w")}
        return head | {"outcomes": [outcome.to_dict() for outcome in self.outcomes]}

    def __repr__(self) -> str:
        names = ", ".join(outcome.name for outcome in self.outcomes)
        return f"<sudare.Comparison by '{self.target}', {self.records} records in {self.folds} folds: {names}>"

    def __str__(self) -> str:
        return "\n".join(show(self))


def compare_ways(
    table: Table,
    requirements: Requirements,
    ways: Sequence[Way],
    *,
    target: str,
    folds: int,
    seed: int,
    progress: Listener | None = None,
) -> Comparison:
    """Compare ways to make a release of a table by what classifiers learn about its target, over stratified folds."""
    chosen = checked_class(table.target, target)
    w = next((way.options["w"] for way in ways if "w" in way.options), None)
    if w is None:
        w = inspect.signature(METHODS["tds"].load()).parameters["w"].default
    splits = stratified(table, folds, seed)
    outcomes = evaluate(table, requirements, ways, splits, w=w, seed=seed, progress=progress)
    return Comparison(target, len(chosen.values), table.rows, folds, seed, w, tuple(outcomes))


def show(comparison: Comparison) -> list[str]:
    """Return a table for the terminal: a line per method, baselines first; why some have no figures comes below."""
    head = (
        f"Predicting '{comparison.target}', {comparison.classes} classes, from {comparison.records:,} records "
        f"in {comparison.folds} folds."
    )
    accuracy, area = "".join(f"{name:>11}" for name in _HEADS), "".join(f"{name:>9}" for name in _HEADS)
    wide = max(len(outcome.name) for outcome in comparison.outcomes)
    lines = [
        head,
        "",
        f"{'':{wide}}  {'accuracy, %':>{len(accuracy)}}{'AUC':>{len(area)}}",
        f"{'method':{wide}}  {accuracy}{area}  {'records':>8}  {'class info':>10}  {'GCP':>5}",
    ]
    lines += [_line(outcome, wide) for outcome in comparison.outcomes]
    refused = [f"{outcome.name}: {outcome.problem}" for outcome in comparison.outcomes if outcome.problem]
    return [
        *lines,
        "",
        "± is the standard error over the folds. Class info: bits of doubt left within groups.",
        *refused,
    ]


def _line(outcome: Outcome, wide: int) -> str:
    if outcome.problem is not None:
        return f"{outcome.name:{wide}}  {'no release':>11}"
    scores = [outcome.scores[name] for name in CLASSIFIERS]
    accuracy = "".join(f"{_percent(score.accuracy, score.accuracy_error):>11}" for score in scores)
    area = "".join(f"{'-' if score.auc is None else format(score.auc, '.3f'):>9}" for score in scores)
    return (
        f"{outcome.name:{wide}}  {accuracy}{area}  {outcome.records or 0:>8,.0f}  "
        f"{outcome.class_info or 0:>10.3f}  {outcome.gcp or 0:>5.3f}"
    )


def _percent(share: float, error: float | None) -> str:
    return f"{100 * share:.1f}" + ("" if error is None else f" ±{100 * error:.1f}")
