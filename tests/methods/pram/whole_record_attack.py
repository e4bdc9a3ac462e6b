"""An intruder who uses all released columns, by brute force: only the data and the certificate, no code of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import prod


@dataclass(frozen=True)
class Attack:
    """What is inferred about a column.

    ``alpha`` is the largest average belief in a true value, and ``gamma`` the least average belief in any value.
    ``record`` is the largest belief in any value after a single record, over all records that can be shown.
    """

    alpha: float
    gamma: float
    record: float


def attack(records: list[tuple], column: int, draws: list[dict]) -> Attack:
    """Go through all records that can be shown: ``draws`` has, by column, the probability of (truth, shown)."""
    table = Counter(records)
    n = sum(table.values())
    domains = [sorted({shown for _, shown in draw}, key=repr) for draw in draws]
    truths = sorted({record[column] for record in table}, key=repr)
    share = {value: sum(c for record, c in table.items() if record[column] == value) / n for value in truths}
    sums = {(t, s): 0.0 for t in truths for s in truths}
    largest = 0.0
    for shown in product(*domains):
        joint = dict.fromkeys(truths, 0.0)
        for record, count in table.items():
            chance = prod(draw[true, seen] for draw, true, seen in zip(draws, record, shown, strict=True))
            joint[record[column]] += count / n * chance
        total = sum(joint.values())
        if total == 0:
            continue
        largest = max(largest, max(joint.values()) / total)
        for t in truths:
            for s in truths:
                sums[t, s] += joint[t] * joint[s] / total
    beliefs = {(t, s): figure / share[t] for (t, s), figure in sums.items()}
    alpha = max(beliefs[value, value] for value in truths)
    return Attack(alpha, min(beliefs.values()), largest)


def uniform(values: list, p: float) -> dict:
    """Return the probabilities of uniform PRAM: keep with p, else draw any value."""
    return {(true, shown): p * (true == shown) + (1 - p) / len(values) for true in values for shown in values}


def draws_of(mechanism: dict, columns: list[str]) -> list[dict]:
    """Return the draws of some columns by a certificate without strata and joint columns."""
    found = []
    for name in columns:
        told = mechanism["columns"][name]
        values, matrix = told["values"], told["matrix"]
        if "p" in matrix:
            found.append(uniform(values, matrix["p"]))
        else:
            found.append({(true, shown): matrix["rows"][a][b]
                          for a, true in enumerate(values) for b, shown in enumerate(values)})  # fmt: skip
    return found
