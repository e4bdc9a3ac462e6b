"""Drawing released cells at random: records per second of one core, and against NumPy in the same run.

    python benchmarks/drawing.py                    10 million records (about ten seconds)
    python benchmarks/drawing.py --rows 1000000     fewer

*dummies*: sets of l = 10 of 50 values, the truth among them. *PRAM*: a cell is kept with probability 0.3, and else
drawn from 50 values; once with one probability for all, once by a matrix. All words come from the operating system.
NumPy does the same with its own generator, which nothing should be released from and which is faster: sets by random
keys, of which argpartition takes the smallest (the truth's is below all); cells by random numbers, and by a search of
the cumulative sums of the matrix. Both go in blocks. Timed is the processor's time, so that other work on the machine
counts little; kernels are compiled before. Drawing by frequency is shown without a counterpart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.core.randomness import BLOCK, Entropy
from sudare.methods.random_columns import CodeDraw, SetDraw
from sudare.table import Column

VALUES, WIDTH, KEEP = 50, 10, 0.3
LINES = 1 << 19
"""Records of a block, as when a release is written."""
FEWER = 10
"""NumPy draws sets for a tenth of the records: it takes as long for each."""


def speed(rows: int, draw: Callable[[Any], Any]) -> float:
    """Return how many records are drawn in a second."""
    every = np.arange(rows)
    draw(every[:1000])
    started = time.process_time()
    for first in range(0, rows, LINES):
        draw(every[first : first + LINES])
    return rows / (time.process_time() - started)


def numpy_sets(codes: Any) -> Callable[[Any], Any]:
    random = np.random.default_rng()

    def draw(rows: Any) -> Any:
        keys = random.random((len(rows), VALUES), dtype=np.float32)
        keys[np.arange(len(rows)), codes[rows]] = -1
        lines = np.argpartition(keys, WIDTH - 1, axis=1)[:, :WIDTH]
        lines.sort(axis=1)
        return lines

    return draw


def numpy_uniform(codes: Any) -> Callable[[Any], Any]:
    random = np.random.default_rng()

    def draw(rows: Any) -> Any:
        kept = random.random(len(rows)) < KEEP
        return np.where(kept, codes[rows], random.integers(0, VALUES, len(rows), dtype=np.uint8))

    return draw


def numpy_matrix(codes: Any, matrix: Any) -> Callable[[Any], Any]:
    random = np.random.default_rng()
    ends = (np.cumsum(matrix, axis=1) + np.arange(VALUES)[:, None]).ravel()  # line t from t to t + 1

    def draw(rows: Any) -> Any:
        line = codes[rows]
        return np.minimum(np.searchsorted(ends, line + random.random(len(rows)), "right") - VALUES * line.astype(int),
                          VALUES - 1)  # fmt: skip

    return draw


def line(name: str, ours: float, theirs: float | None = None, target: float = 0) -> None:
    text = f"{name:<22} {ours / 1e6:6.1f} million per second and core"
    if target:
        text += f" (target {target / 1e6:.0f})"
    if theirs is not None:
        text += f"; NumPy {theirs / 1e6:.1f}, so {ours / theirs:.1f} x as fast"
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    codes = np.random.default_rng(1).integers(0, VALUES, rows, dtype=np.uint8)
    column = Column("x", "categorical", codes, pa.array([f"{value:02}" for value in range(VALUES)]))
    entropy = Entropy()
    started = time.process_time()
    entropy.words(16 * BLOCK)
    rate = 16 * BLOCK * 4 / 2**20 / (time.process_time() - started)
    print(f"{rows:,} records, {VALUES} values, l = {WIDTH}; the operating system gives {rate:,.0f} MiB per second")
    ours = speed(rows, SetDraw(column, WIDTH, entropy).cells)
    line("dummies", ours, speed(max(rows // FEWER, 1), numpy_sets(codes)), 5e6)
    line("PRAM, one probability", speed(rows, CodeDraw(column, entropy, keep=KEEP).cells),
         speed(rows, numpy_uniform(codes)), 10e6)  # fmt: skip
    matrix = np.full((VALUES, VALUES), (1 - KEEP) / VALUES) + KEEP * np.eye(VALUES)
    line("PRAM, a matrix", speed(rows, CodeDraw(column, entropy, matrix=matrix).cells),
         speed(rows, numpy_matrix(codes, matrix)), 10e6)  # fmt: skip
    weights = 1 / np.arange(1, VALUES + 1)
    line("dummies by frequency", speed(rows, SetDraw(column, WIDTH, entropy, weights=weights).cells))


if __name__ == "__main__":
    main()
