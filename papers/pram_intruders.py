"""PRAM against an intruder who uses all columns, and beside generalization at equal risk: what ``pram.py`` measures.

1. Some cases of the paper: how much its p tells an intruder who uses all columns and knows the table, by the
   definition; and what the default promise keeps instead, with one p and with one for each column.
2. Counts from releases with the same risk. The risk is alpha: how much an intruder believes of a true value, on
   average, for the value that is believed most. For PRAM it is the certified one. In a generalized table, the intruder
   knows the class of a person and believes the shares of the class. Both have k = 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from page_parts import Figures
from pram_page import CASES, COLUMNS
from sudare.api import load_policy
from sudare.core.errors import PolicyUnmetError
from sudare.core.randomness import Entropy
from sudare.estimates.matrix_estimator import from_matrix
from sudare.methods import METHODS
from sudare.methods.pram import uniform_matrix
from sudare.methods.random_columns import CodeDraw
from sudare.models import AlphaKAnonymity, KAnonymity, Requirements, TCloseness
from sudare.sources.encoded_table import encode
from sudare.table import Column, Table

ATTACKED = (2, 5, 6)
"""Cases of the paper, by their numbers."""
K = 3
ALPHAS = {"relationship": (0.45, 0.5, 0.55, 0.6, 0.7, 0.8), "income": (0.77, 0.8, 0.85, 0.9)}
TS = tuple(round(0.02 * step, 2) for step in range(1, 46))
SHARES = tuple(round(0.02 * step, 2) for step in range(15, 50))
SLOW = 2
"""Of how many settings l-clustering, which takes longer, tries one."""
REPEATS = 10

Joint = NDArray[np.float64]
Given = dict[str, Column]


def joint_of(given: Given) -> Joint:
    """Return the share of each combination of all columns."""
    shape = tuple(column.size for column in given.values())
    place = np.ravel_multi_index([column.codes.astype(np.int64) for column in given.values()], shape)
    return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape) / len(place)


def inferred(joint: Joint, at: int, ps: Sequence[float]) -> tuple[float, float, float]:
    """Return alpha and gamma against all columns, and the largest belief for one record, by the definition."""
    matrices = [uniform_matrix(size, p) for size, p in zip(joint.shape, ps, strict=True)]
    shown = []
    for value in range(joint.shape[at]):
        part = np.zeros_like(joint)
        place = tuple(value if axis == at else slice(None) for axis in range(joint.ndim))
        part[place] = joint[place]
        for axis, matrix in enumerate(matrices):
            part = np.moveaxis(np.tensordot(part, matrix, axes=(axis, 0)), -1, axis)
        shown.append(part.ravel())
    lines = np.stack(shown)
    total = lines.sum(axis=0)
    beliefs = (lines / total) @ lines.T / lines.sum(axis=1)[:, None]
    return float(np.diag(beliefs).max()), float(beliefs.min()), float((lines / total).max())


def against(given: Given, numbers: Iterable[int] = ATTACKED) -> Figures:
    """Return, by case, what intruders reach, and what is kept by which promise."""
    data, joint = table_of(given), joint_of(given)
    found: Figures = {}
    for number in numbers:
        case = CASES[number - 1]
        at = COLUMNS.index(case.sensitive)
        lines: Figures = {}
        for name, intruder, p in (
            ("column", "column", "calibrated"),
            ("all columns", "all-columns", "calibrated"),
            ("all columns, per column", "all-columns", "per-column"),
        ):
            limits = {"alpha": case.alpha, "gamma": case.gamma, "against": intruder}
            rules = policy(case.sensitive, limits, p, case.k)
            kept = [sudare.calibrate(rules, data).retention[each] for each in COLUMNS]
            made = sudare.anonymize(data, rules, seed=1).certificate
            used = [made["mechanism"]["calibration"]["retention"][each] for each in COLUMNS]
            told = next(one for one in made["guarantees"] if one["model"] == "alpha-gamma")["achieved"]
            alpha, gamma, record = inferred(joint, at, used)
            lines[name] = {
                "calibrated": _short(kept),
                "p": used,
                "certified": {key: _cut(value) for key, value in told.items()},
                "reached": {"alpha": _cut(alpha), "gamma": _cut(gamma), "record": _cut(record)},
            }
        exact = exact_p(joint, at, case.alpha)
        found[str(number)] = lines | {"exact p": _cut(exact)}
        print(f"against all columns, case {number}", flush=True)
    return found


def policy(sensitive: str, limits: Mapping[str, Any], p: str, k: int) -> dict[str, Any]:
    """Return the policy of a case."""
    return {
        "columns": {name: {"role": "sensitive" if name == sensitive else "quasi"} for name in COLUMNS},
        "require": [{"model": "pk-anonymity", "k": k}, {"model": "alpha-gamma", "column": sensitive, **limits}],
        "method": {"name": "pram", "p": p},
    }


def table_of(given: Given) -> Any:
    """Return the columns as a table of texts."""
    import pyarrow as pa

    return pa.table({name: column.values.take(pa.array(column.codes)) for name, column in given.items()})


def exact_p(joint: Joint, at: int, alpha: float) -> float:
    """Return the largest common p by alpha alone, if the exact table could be used."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        kept = inferred(joint, at, [middle] * joint.ndim)[0] <= alpha
        low, high = (middle, high) if kept else (low, middle)
    return low


# Beside generalization


def beside(
    given: Given,
    alphas: Mapping[str, Sequence[float]] = ALPHAS,
    repeats: int = REPEATS,
    kept: Figures | None = None,
    settings: tuple[Sequence[float], Sequence[float]] = (TS, SHARES),
) -> Figures:
    """Return, by sensitive column and alpha, the errors of counts by PRAM and by generalization at most that risk."""
    found: Figures = dict(kept or {})
    data, truth = table_of(given), joint_of(given)
    for sensitive, limits in alphas.items():
        known = all(f"{sensitive}, {alpha}" in found for alpha in limits)
        choices = [] if known else generalized(given, sensitive, *settings)
        for alpha in limits:
            key = f"{sensitive}, {alpha}"
            if key in found:
                continue
            line: Figures = {}
            for name in ("calibrated", "per-column"):
                made = sudare.anonymize(data, policy(sensitive, {"alpha": alpha, "gamma": 0.0}, name, K), seed=1)
                ps = made.certificate["mechanism"]["calibration"]["retention"]
                line[name] = {"p": ps, **drawn_errors(given, truth, ps, repeats)}
            fit = [one for one in choices if one["alpha"] <= alpha]
            line["generalized"] = min(fit, key=lambda one: one["2"]) if fit else None
            found[key] = line
            print(f"beside generalization: {key}", flush=True)
    return found


def drawn_errors(given: Given, truth: Joint, ps: Mapping[str, float], repeats: int) -> Figures:
    """Return root mean squared errors of counts of two and three columns, by em, over some draws."""
    rows = np.arange(len(next(iter(given.values()))))
    sums: dict[int, list[float]] = {2: [], 3: []}
    for repeat in range(repeats):
        entropy = Entropy(repeat)
        codes = {
            name: CodeDraw(column, entropy, keep=ps[name]).cells(rows).astype(np.int64)
            for name, column in given.items()
        }
        seen = joint_of({name: _recoded(column, codes[name]) for name, column in given.items()}) * len(rows)
        for names in _tables():
            gone = tuple(axis for axis, name in enumerate(given) if name not in names)
            matrices = [uniform_matrix(given[name].size, ps[name]) for name in given if name in names]
            told = from_matrix(seen.sum(axis=gone).reshape(1, -1).astype(np.int64), matrices, estimator="em").counts[0]
            sums[len(names)].extend((told - truth.sum(axis=gone).ravel() * len(rows)) ** 2)
    return {str(width): float(f"{np.sqrt(np.mean(errors)):.6g}") for width, errors in sums.items()}


def _recoded(column: Column, codes: NDArray[np.int64]) -> Column:
    from dataclasses import replace

    return replace(column, codes=codes.astype(np.uint32))


def generalized(
    given: Given, sensitive: str, ts: Sequence[float] = TS, shares: Sequence[float] = SHARES
) -> list[Figures]:
    """Return the risk and the errors of generalized tables, by method and promise."""
    names = [name for name in given if name != sensitive]
    rules = {
        "columns": {name: {"role": "quasi"} for name in names} | {sensitive: {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": K}, {"model": "t-closeness", "t": 0.5, "column": sensitive}],
    }
    table = encode(table_of(given), load_policy(rules))
    promises: dict[str, Sequence[TCloseness | AlphaKAnonymity]] = {
        "t-closeness": [TCloseness(t, sensitive) for t in ts],
        "(alpha, k)-anonymity": [AlphaKAnonymity(share, K, sensitive) for share in shares],
    }
    found = []
    for promise, models in promises.items():
        for method, settings in (("top-down", models), ("l-clustering", models[::SLOW])):
            for model in settings:
                try:
                    made: Any = METHODS[method].load()(table, Requirements((KAnonymity(K), model)))
                except PolicyUnmetError:
                    continue  # one value has a larger share of the whole table
                setting = model.t if isinstance(model, TCloseness) else model.alpha
                about = {"method": method, "promise": promise, "setting": setting}
                found.append(about | _errors_of(given, table, sensitive, made.classes.astype(np.int64)))
    return found


def _errors_of(given: Given, table: Table, sensitive: str, classes: NDArray[np.int64]) -> Figures:
    """Return the risk and the errors of one generalized table; classes that show the same are one to an intruder."""
    columns = list(table.single.values())
    shows = [shown_values(column, classes) for column in columns]
    alike = np.unique(np.concatenate(shows, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    values = table.sensitive[sensitive].codes.astype(np.int64)
    counts = np.zeros((alike.max() + 1, given[sensitive].size))
    np.add.at(counts, (alike[classes], values), 1)
    alpha = float(((counts**2 / counts.sum(axis=1, keepdims=True)).sum(axis=0) / counts.sum(axis=0)).max())
    order = [*(column.name for column in columns), sensitive]
    truth = np.transpose(joint_of(given), [list(given).index(name) for name in order]) * table.rows
    told = spread(counts, columns, alike[classes])
    errors: dict[int, list[float]] = {2: [], 3: []}
    for width in errors:
        for some in combinations(range(len(order)), width):
            gone = tuple(axis for axis in range(len(order)) if axis not in some)
            errors[width].extend(((told - truth).sum(axis=gone) ** 2).ravel())
    roots = {str(width): float(f"{np.sqrt(np.mean(each)):.6g}") for width, each in errors.items()}
    return {"alpha": _cut(alpha), "classes": len(counts), **roots}


def shown_values(column: Column, classes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values each class shows."""
    there = np.zeros((classes.max() + 1, column.size), np.bool_)
    there[classes, column.codes] = True
    return there


def spread(counts: NDArray[np.float64], columns: Sequence[Column], classes: NDArray[np.int64]) -> Joint:
    """Return counts of all combinations: a class has any combination of the values that it shows equally often."""
    told = np.zeros((*(column.size for column in columns), counts.shape[1]))
    shows = [shown_values(column, classes) for column in columns]
    for number, line in enumerate(counts):
        places = np.ix_(*(np.flatnonzero(each[number]) for each in shows))
        cells = int(np.prod([each[number].sum() for each in shows]))
        told[places] += line / cells
    return told


def _tables() -> list[tuple[str, ...]]:
    return [names for width in (2, 3) for names in combinations(COLUMNS, width)]


def _cut(figure: float) -> float:
    return float(f"{figure:.6g}")


def _short(figures: Iterable[float]) -> list[float]:
    return [_cut(figure) for figure in figures]
