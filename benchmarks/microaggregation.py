"""Microaggregation: the loss of our groups beside that of MDAV, and how long they take, in one run.

    python benchmarks/microaggregation.py                 all of it (about two minutes)
    python benchmarks/microaggregation.py --rows 200000   with a smaller large table (the default is 1 million rows)
    python benchmarks/microaggregation.py --only loss     one part: loss, speed, line or limits

*loss*: the three reference tables of CASC (tests/papers/casc), k = 3, 4, 5 and 10. Information loss is 100 SSE/SST on
standardised columns. *speed*: random tables, of correlated columns that are partly rounded and partly skewed, beside a
sort of each of their columns and beside MDAV on 20,000 rows. *line*: one column, cut exactly, beside a sort of it.
*limits*: Census with a sensitive column that depends on the others. Seconds are those of the
decision, from standardised columns to groups. In speed, those of all processors together follow, which other programs
do not lengthen. Kernels are compiled before; the first line tells how long that, or loading them, took.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sudare
from sudare.methods.microaggregation.mdav import information_loss, mdav, standardized
from sudare.methods.microaggregation.record_groups import Limits, group_records
from sudare.models import KAnonymity, LDiversity, Requirements, TCloseness
from sudare.sources.encoded_table import encode

DATA = Path(__file__).parent.parent / "tests" / "papers" / "casc"
NAMES, SIZES = ("tarragona", "census", "eia"), (3, 4, 5, 10)
SAMPLE = 20_000
"""Rows that MDAV, which is quadratic, is timed on."""

Floats = NDArray[np.float64]


def casc(name: str) -> Floats:
    return standardized(np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1))


def drawn(rows: int, columns: int) -> Floats:
    generator = np.random.default_rng(0)
    common = generator.normal(size=(rows, 4)) @ generator.normal(size=(4, columns))
    points = common + 0.7 * generator.normal(size=(rows, columns))
    points[:, ::3] = np.exp(points[:, ::3] / 2)
    points[:, 1::3] = np.round(10 * points[:, 1::3])
    return standardized(points)


def timed(work: Callable[..., Any], *given: Any, **named: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    found = work(*given, **named)
    return time.perf_counter() - started, found


def sorts(points: Floats) -> None:
    for column in points.T:
        np.argsort(column, kind="stable")


def losses() -> None:
    print("loss: ours beside MDAV, information loss and seconds")
    ratios = []
    for name in NAMES:
        points = casc(name)
        for k in SIZES:
            first, published = timed(mdav, points, k)
            seconds, groups = timed(group_records, points, k)
            least, ours = information_loss(points, published), information_loss(points, groups)
            ratios.append(ours / least)
            print(
                f"  {name:<9} k = {k:<3} {ours:6.2f} {seconds:6.2f} s   MDAV {least:6.2f} {first:6.3f} s   "
                f"loss {ours / least:.3f} x",
                flush=True,
            )
    print(f"ratio: {np.mean(ratios):.3f} x the loss of MDAV in the mean, {max(ratios):.3f} x at most (target 0.84)")


def speed(rows: int) -> None:
    for many, columns, k in ((rows // 10, 13, 3), (rows, 10, 3)):
        points = drawn(many, columns)
        sample = points[: min(SAMPLE, many)]
        sorting, _ = timed(sorts, points)
        quadratic, published = timed(mdav, sample, k)
        before = time.process_time()
        seconds, groups = timed(group_records, points, k)
        spent, ours = time.process_time() - before, information_loss(points, groups)
        kept = information_loss(sample, group_records(sample, k)) / information_loss(sample, published)
        print(
            f"speed: {many:>9,} x {columns}, k = {k}: loss {ours:.3f} in {seconds:.2f} s (processors {spent:.2f} s); "
            f"{seconds / sorting:.1f} x a sort of each column, "
            f"{seconds / (quadratic * (many / len(sample)) ** 2):.4f} x what MDAV would take; "
            f"{len(sample):,} rows of it lose {kept:.3f} x what MDAV loses",
            flush=True,
        )


def line(rows: int) -> None:
    values = np.random.default_rng(1).lognormal(size=(rows, 1))
    sorting, _ = timed(sorts, values)
    for k in (3, 10, 100):
        seconds, _ = timed(group_records, values, k)
        print(f"line: {rows:,} values, k = {k:<3} {seconds:6.2f} s, {seconds / sorting:.1f} x a sort", flush=True)


def limits() -> None:
    points = casc("census")
    generator = np.random.default_rng(2)
    score = points[:, 0] + generator.normal(size=len(points))
    codes = np.searchsorted(np.quantile(score, [0.3, 0.5, 0.65, 0.8, 0.9]), score)
    columns = {"q": {"role": "quasi", "kind": "numeric"}, "s": {"role": "sensitive"}}
    require = [{"model": "l-diversity", "l": 2, "column": "s"}]
    data = pa.table({"q": np.arange(len(codes)), "s": [f"value {code}" for code in codes]})
    table = encode(data, sudare.load_policy({"columns": columns, "require": require}))
    free = information_loss(points, group_records(points, 5))
    for name, model in (
        ("4-diversity", LDiversity(l=4, column="s")),
        ("entropy 3-diversity", LDiversity(l=3, variant="entropy", column="s")),
        ("0.2-closeness", TCloseness(t=0.2, distance="equal", column="s")),
    ):
        kept = Limits(table, Requirements((KAnonymity(5), model)))
        seconds, groups = timed(group_records, points, 5, limits=kept)
        ours = information_loss(points, groups)
        print(
            f"limits: census, k = 5 and {name}: {ours:.2f} in {seconds:.2f} s, {ours / free:.2f} x without", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("loss", "speed", "line", "limits"))
    chosen = parser.parse_args()
    small = np.random.default_rng(0).normal(size=(60, 3))
    seconds, _ = timed(lambda: [group_records(small, 3), group_records(small[:, :1], 3)])
    print(f"kernels: {seconds:.1f} s")
    parts: dict[str, Callable[[], None]] = {
        "loss": losses,
        "speed": lambda: speed(chosen.rows),
        "line": lambda: line(10 * chosen.rows),
        "limits": limits,
    }
    for name, part in parts.items():
        if chosen.only in (None, name):
            part()


if __name__ == "__main__":
    main()
