"""The eight cases of the paper behind the method pram, and what its releases are good for.

    python papers/pram.py          # measures on Adult what is not kept yet
    python papers/pram.py --again  # measures everything anew
    python papers/pram.py --times  # measures the times alone; the rest stays as kept
    python papers/pram.py --keep   # measures all but the times anew, which stay as kept
    python papers/pram.py --page   # the page and its figures anew, nothing is measured

1. The paper's cases: how much may be kept by each condition, with its rounded priors and with those of the data.
2. What each condition says against the retention probability.
3. How far estimated counts of one, two and three columns are off, by the retention probability.
4. The same for every table of two categorical columns of Adult, with what the most likely counts alone would do.
5. Time: perturbing 100 million cells, and calibrating with a sensitive attribute of 1,000 values.
6. Intruders who use all columns, and generalization at equal risk (``pram_intruders.py``).

Everything is kept in ``pram.json``, part by part, so that a run that was ended goes on where it was; the page
``pram.md`` and its figures are made from it alone. Drawing needs matplotlib, which is in the dependency group
``bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pram_intruders
import sudare
from page_parts import Figures
from pram_page import CASES, COLUMNS, WAYS, draw, page, shown
from sudare.api import load_policy
from sudare.core.randomness import Entropy
from sudare.estimates.matrix_estimator import from_matrix
from sudare.kernels import random_cells as kernel
from sudare.methods.pram import (
    Calibration,
    calibrate,
    uniform_matrix,
)
from sudare.methods.random_columns import CodeDraw
from sudare.sources.encoded_table import encode
from sudare.table import Column

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "papers"
KEPT, PAGE = "pram.json", "pram.md"
ROUNDED = {"income": (0.759, 0.241), "relationship": (0.405, 0.255, 0.156, 0.106, 0.048, 0.030)}
"""The priors of the paper."""
PS = tuple(round(0.1 * tenths, 1) for tenths in range(1, 10))
REPEATS = 30
CATEGORICAL = (
    "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "income",
)  # fmt: skip
SAME = ("education", "education-num")
"""Two columns with the same meaning: 240 of the 256 combinations are nobody's."""
PAIR_REPEATS = 20
CELLS, BLOCK = 100_000_000, 10_000_000
RUNS = 3

Codes = dict[str, NDArray[np.int64]]


def columns(rows: int | None = None, names: Sequence[str] = COLUMNS) -> dict[str, Column]:
    """Return the four columns of the paper or others, of Adult's training part or its first so many records."""
    data = sudare.datasets.adult().select(list(names))
    policy = {
        "columns": {name: {"role": "quasi"} for name in names},
        "require": [{"model": "k-anonymity", "k": 2}],
    }
    table = encode(data if rows is None else data.slice(0, rows), load_policy(policy))
    return {name: table.single[name] for name in names}


# 1. and 2. The cases


def cases(given: dict[str, Column]) -> Figures:
    """Return how much may be kept in each case: with the paper's priors, and with those of the data."""
    exact = {name: np.bincount(given[name].codes) / len(given[name]) for name in ROUNDED}
    found = {"rounded": [], "exact": []}  # type: ignore[var-annotated]
    for case in CASES:
        for kind, priors in (("rounded", ROUNDED), ("exact", exact)):
            made = _calibrated(given, case, priors[case.sensitive])
            found[kind].append({**made.bounds, "p": made.p, "binding": made.binding})
    return found


def _calibrated(given: dict[str, Column], case: Any, prior: Any) -> Calibration:
    limit = (COLUMNS.index(case.sensitive), prior, case.alpha, case.gamma)
    sizes = [column.size for column in given.values()]
    return calibrate(len(given["income"]), sizes, k=case.k, limits=[limit])


def curves(given: dict[str, Column]) -> Figures:
    """Return what each condition says against p, with the priors of the paper."""
    found: Figures = {}
    for case in CASES:
        for curve in _calibrated(given, case, ROUNDED[case.sensitive]).curves:
            name = curve.condition if curve.condition == "pk" else f"{curve.condition}, {case.sensitive}"
            found[name] = {"p": _short(curve.p), "figure": _short(curve.figure)}
    return found


def _short(figures: Iterable[float]) -> list[float]:
    return [float(f"{figure:.6g}") for figure in figures]


# 3. Utility


def utility(given: dict[str, Column], ps: Iterable[float], repeats: int) -> Figures:
    """Return, by p and table, the mean squared errors of counts, and how often intervals hold the truth."""
    return on_all_cores(lambda p: utility_of(given, p, repeats), ps)


def on_all_cores(measured: Callable[[float], Figures], ps: Iterable[float]) -> Figures:
    """Return figures by p, in the order of these."""
    ps = list(ps)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {str(p): found for p, found in zip(ps, pool.map(measured, ps), strict=True)}


def utility_of(given: dict[str, Column], p: float, repeats: int) -> Figures:
    """Return the same for one p."""
    tables = [names for width in (1, 2, 3) for names in combinations(given, width)]
    truth = {name: column.codes.astype(np.int64) for name, column in given.items()}
    lines: Figures = {", ".join(names): dict.fromkeys([*WAYS, "inside"], 0.0) for names in tables}
    for repeat in range(repeats):
        drawn = perturbed(given, p, repeat)
        for names in tables:
            line = lines[", ".join(names)]
            for way, figure in errors(truth, drawn, [given[name] for name in names], p).items():
                line[way] += figure / repeats
    print(f"p = {p}", flush=True)
    return {name: {way: float(f"{figure:.6g}") for way, figure in one.items()} for name, one in lines.items()}


def perturbed(given: dict[str, Column], p: float, seed: int) -> Codes:
    """Return the codes of all columns, each kept with probability p and else drawn from all values."""
    entropy = Entropy(seed)
    rows = np.arange(len(next(iter(given.values()))))
    return {name: CodeDraw(column, entropy, keep=p).cells(rows).astype(np.int64) for name, column in given.items()}


def errors(truth: Codes, drawn: Codes, some: Sequence[Column], p: float) -> dict[str, float]:
    """Return the mean squared error of each way over the cells of a table, and the share of intervals that hold."""
    true, seen = (counted(codes, some) for codes in (truth, drawn))
    matrices = [uniform_matrix(column.size, p) for column in some]
    told = {"raw": seen.astype(np.float64)}
    inside = 0.0
    for way in ("inversion", "em"):
        made = from_matrix(seen[None], matrices, estimator=way)
        told[way] = made.counts[0]
        inside = float(np.mean((made.low[0] <= true) & (true <= made.high[0])))
    return {way: float(np.mean((counts - true) ** 2)) for way, counts in told.items()} | {"inside": inside}


def counted(codes: Codes, some: Sequence[Column]) -> NDArray[np.int64]:
    """Return how many records have each combination of values."""
    shape = [column.size for column in some]
    place = np.ravel_multi_index([codes[column.name] for column in some], shape)
    return np.bincount(place, minlength=int(np.prod(shape)))


# 4. All pairs


def pairs(
    ps: Iterable[float], repeats: int, rows: int | None = None, categorical: Sequence[str] = CATEGORICAL
) -> Figures:
    """Return, by p and pair of columns, the mean squared errors of every estimator and the share of intervals."""
    given = columns(rows, list(dict.fromkeys([*categorical, *SAME])))
    return on_all_cores(lambda p: pairs_of(given, p, repeats, [*combinations(categorical, 2), SAME]), ps)


def pairs_of(given: dict[str, Column], p: float, repeats: int, tables: Sequence[tuple[str, str]]) -> Figures:
    """Return the same for one p and some pairs."""
    truth = {name: column.codes.astype(np.int64) for name, column in given.items()}
    drawn = [perturbed(given, p, repeat) for repeat in range(repeats)]
    found: Figures = {}
    for names in tables:
        some = [given[name] for name in names]
        true, seen = counted(truth, some), np.stack([counted(codes, some) for codes in drawn])
        matrices = [uniform_matrix(column.size, p) for column in some]
        found[", ".join(names)] = line = {}
        for way in ("inversion", "projection", "ml", "em"):
            made = from_matrix(seen, matrices, estimator=way)
            line[way] = float(f"{np.mean((made.counts - true) ** 2):.6g}")
            line["inside"] = round(float(np.mean((made.low <= true) & (true <= made.high))), 4)
    print(f"pairs, p = {p}", flush=True)
    return found


# 5. Times


def times(runs: int = RUNS, cells: int = CELLS, values: int = 1_000) -> Figures:
    """Return seconds, the least of some runs: of perturbing cells on one core, and of calibrating."""
    block, size, p = min(cells, BLOCK), 7, 0.3343
    rng = np.random.default_rng(1)
    codes, made = rng.integers(0, size, block, dtype=np.uint32), np.empty(block, np.uint32)
    words = rng.integers(0, 1 << 32, 3 * block, dtype=np.uint32)
    keep, alias = kernel.units(np.array(p))[()], kernel.alias_of(uniform_matrix(size, p))
    table = columns(2_000)
    column = Column("made up", "categorical", codes, table["marital-status"].values)
    rows = np.arange(block)
    prior = 1 / np.arange(1, values + 1)
    prior /= prior.sum()
    limit = (0, prior, 1.5 * prior.max(), 0.5 * prior.min())
    tasks: dict[str, tuple[int, Callable[[], Any]]] = {
        "uniform": (cells // block, lambda: kernel.draw_uniform(codes, size, keep, words, made)),
        "matrix": (cells // block, lambda: kernel.draw_by_matrix(codes, alias, words, made)),
        "with randomness": (cells // block, lambda: CodeDraw(column, Entropy(), keep=p).cells(rows)),
        "calibration": (1, lambda: calibrate(1_000_000, [values, 7, 6, 5], k=3, limits=[limit])),
    }
    found: Figures = {"runs": runs, "cells": cells, "values": values}
    for name, (times_over, task) in tasks.items():
        task()  # compiles
        spent = []
        for _ in range(runs):
            started = time.perf_counter()
            for _ in range(times_over):
                task()
            spent.append(time.perf_counter() - started)
        found[name] = round(min(spent), 4)
        print(f"{name}: {found[name]} s", flush=True)
    return found


def measure(
    rows: int | None = None,
    ps: Sequence[float] = PS,
    repeats: int = REPEATS,
    kept: Figures | None = None,
    keep: Callable[[Figures], None] = lambda _: None,
) -> Figures:
    """Measure everything but times and what is kept already; utility also at the p of the paper's cases.

    ``keep`` receives all figures after each part.
    """
    given = columns(rows)
    full = repeats == REPEATS
    found: Figures = dict(kept or {})

    def also() -> list[float]:
        return [p for p in sorted({shown(one["p"]) for one in found["cases"]["rounded"]}) if p not in ps]

    parts: dict[str, Callable[[], Any]] = {
        "records": lambda: len(given["income"]),
        "sizes": lambda: {name: column.size for name, column in given.items()},
        "cases": lambda: cases(given),
        "curves": lambda: curves(given),
        "repeats": lambda: repeats,
        "utility": lambda: utility(given, [*ps, *also()], repeats),
        "cells": lambda: {
            ", ".join(names): int(np.prod([given[name].size for name in names]))
            for width in (1, 2, 3)
            for names in combinations(given, width)
        },
        "pairs": lambda: pairs(ps, min(PAIR_REPEATS, 2 * repeats), rows, CATEGORICAL if full else CATEGORICAL[:3]),
        "against": lambda: pram_intruders.against(given, pram_intruders.ATTACKED if full else (5,)),
        "beside": lambda: pram_intruders.beside(
            given,
            pram_intruders.ALPHAS if full else {"relationship": (0.5, 0.7)},
            min(pram_intruders.REPEATS, repeats),
            settings=(pram_intruders.TS, pram_intruders.SHARES) if full else ((0.5,), (0.5,)),
        ),
    }
    for name, part in parts.items():
        if name not in found:
            found[name] = part()
            keep(found)
    return found


# The command


def load(folder: Path) -> Figures:
    """Return the figures that are kept in a folder."""
    path = folder / KEPT
    if not path.exists():
        sys.exit(f"{path.name} is not there yet; run this script without --page and --times first.")
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, unless only the page is wanted, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="measure everything anew, also what is kept")
    parser.add_argument("--times", action="store_true", help="measure the times alone; the rest stays as kept")
    parser.add_argument("--keep", action="store_true", help="measure all but the times, which stay as kept")
    parser.add_argument("--runs", type=int, default=RUNS, help="times are the least of so many runs; 3 if not given")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and page are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.page:

        def keep(figures: Figures) -> None:
            (given.folder / KEPT).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

        if given.times:
            found = load(given.folder)
            found.pop("times", None)
        elif given.keep:
            kept_times = load(given.folder)["times"]
            found = measure(keep=keep) | {"times": kept_times}
        else:
            there = {} if given.again or not (given.folder / KEPT).exists() else load(given.folder)
            found = measure(kept=there, keep=keep)
        if "times" not in found:
            found["times"] = times(runs=given.runs)
        keep(found)
    kept = load(given.folder)
    (given.folder / PAGE).write_text(page(kept), encoding="utf-8")
    draw(kept, given.folder)
    print(f"{given.folder.name}/{PAGE} is written.")


if __name__ == "__main__":
    main()
