"""Retention probabilities that keep given conditions: one for all columns, or one for each.

A condition holds for some retention and, as a rule, for every smaller one. One p for all columns is found by halving,
after steps of a hundredth found the first place where the condition is lost.

With one p for each column their weighted geometric mean is as large as this search makes it. A *direction* has one
number for each column. Along it, all p grow in proportion, up to 1, until a condition is lost. The search starts from
directions that are given, and tries to turn each column up and down, by a step that becomes smaller when nothing is
gained. It is deterministic, and its result keeps all conditions. It is a local optimum up to the last step: a slightly
larger mean may be possible.

What a column is held by is what it could not have more of at any price. A condition without an attribute (Pk) is a
budget of all columns: what one of them takes, the others have less of. So a column is held by another condition if
that one is lost where this column keeps more, and the others so much less that the budget is kept.

Cost: some hundred directions, with some twenty tests of the conditions each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sudare.methods.pram.calibration import Calibration

STEPS = 100
HALVINGS = 50
TURNS = 24
"""Halvings along a direction."""
FIRST_STEP, LAST_STEP = 0.5, 0.015
"""By which factors exp(step) a column is turned up or down against the others."""
MOST_ROUNDS = 60
LEAST = 1e-9
"""The smallest p of which a logarithm is taken."""


@dataclass(frozen=True, eq=False)
class Condition:
    """A promise of all columns: its name, the attribute that it is about, and whether a retention keeps it."""

    name: str
    attribute: int | None
    holds: Callable[[Sequence[float]], bool]


def calibrated_by(conditions: Sequence[Condition], count: int, weights: Sequence[float] | None = None) -> Calibration:
    """Return how much may be kept of so many attributes; with ``weights``, of each on its own."""
    bounds: dict[str, float | None] = {"pk": None, "alpha": None, "gamma": None}
    first: tuple[float, Condition] | None = None
    for condition in conditions:
        p = largest(lambda p, at=condition: at.holds([p] * count))  # type: ignore[misc]
        before = bounds[condition.name]
        bounds[condition.name] = p if before is None else min(before, p)
        if first is None or p < first[0]:
            first = (p, condition)
    p = 1.0 if first is None else first[0]
    binding = None if first is None or p == 1 else first[1]
    name = None if binding is None else binding.name
    retention, held_by = [p] * count, [name] * count
    if weights is not None:
        retention = most_kept(lambda one: all(each.holds(one) for each in conditions), [p] * count, weights)
        held_by = [_holder(conditions, retention, at) for at in range(count)]
    attribute = None if binding is None else binding.attribute
    return Calibration(p, tuple(retention), bounds, name, attribute, tuple(held_by), ())


def largest(holds: Callable[[float], bool]) -> float:
    """Return the largest p before a condition is first lost, as far as steps of a hundredth show it; 0 if at once."""
    low = 0.0
    for step in range(1, STEPS + 1):
        if not holds(step / STEPS):
            break
        low = step / STEPS
    else:
        return 1.0
    high = low + 1 / STEPS
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def most_kept(
    holds: Callable[[Sequence[float]], bool], start: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """Return a retention of each column that keeps all conditions, with a large weighted geometric mean.

    ``start`` keeps them; where nothing can be kept, it is returned.
    """
    if min(start) <= 0 or len(start) == 1:
        return list(start)
    total = sum(weights)

    def value(kept: Sequence[float]) -> float:
        return sum(weight / total * math.log(max(p, LEAST)) for weight, p in zip(weights, kept, strict=True))

    turn = [math.log(p) for p in start]
    best = list(start)
    grown = _along(turn, holds)
    if value(grown) > value(best):
        best = grown
    step = FIRST_STEP
    for _ in range(MOST_ROUNDS):
        if step < LAST_STEP:
            break
        gained = False
        for at in range(len(start)):
            for way in (step, -step):
                tried = [each + way * (place == at) for place, each in enumerate(turn)]
                made = _along(tried, holds)
                if value(made) > value(best) + 1e-7:
                    turn, best, gained = tried, made, True
                    break
        if not gained:
            step /= 2
    return best


def _along(turn: Sequence[float], holds: Callable[[Sequence[float]], bool]) -> list[float]:
    """Return the largest retention along a direction that keeps all conditions."""
    most = max(turn)
    direction = [math.exp(each - most) for each in turn]
    low, high = 0.0, 1.0 / min(direction)  # where all are kept in full

    def at(scale: float) -> list[float]:
        return [min(1.0, scale * each) for each in direction]

    if holds(at(high)):
        return at(high)
    for _ in range(TURNS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(at(middle)) else (low, middle)
    return at(low)


def _holder(conditions: Sequence[Condition], retention: Sequence[float], at: int) -> str | None:
    """Return the condition that allows no more of a column."""
    if retention[at] >= 1:
        return None
    steps = (retention[at] * math.exp(LAST_STEP), retention[at] * 1.1, 1.0)
    return next((held for more in steps if (held := _lost(conditions, retention, at, min(1.0, more)))), None)


def _lost(conditions: Sequence[Condition], retention: Sequence[float], at: int, more: float) -> str | None:
    """Return the condition that is lost if one column keeps more, even where the others pay for it."""

    def tried(others: float) -> list[float]:
        return [more if place == at else p * others for place, p in enumerate(retention)]

    lost = next((each for each in conditions if not each.holds(tried(1.0))), None)
    if lost is None or lost.attribute is not None:
        return None if lost is None else lost.name
    budgets = [each for each in conditions if each.attribute is None]
    traded = tried(largest(lambda others: all(each.holds(tried(others)) for each in budgets)))
    return next((each.name for each in conditions if not each.holds(traded)), lost.name)
