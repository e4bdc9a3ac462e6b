"""Drafts of wide tables: how long ``sudare.draft`` and ``sudare.explain`` take, beside DuckDB's SUMMARIZE.

    python benchmarks/drafts.py [--columns 300] [--rows 100000] [--explain]

The table is made here from a fixed seed, and has columns as hospitals have them: ids, demography, codes of diagnoses,
drugs that few take, lab values with fractions, counts, dates, constants, and columns that follow from others. SUMMARIZE
is no draft: it says of each column its type, its smallest and largest value, and about how many values it has. It is
what a look at every cell costs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import sudare

DOSES = np.array(["No", "Steady", "Up", "Down"])


def hospital(columns: int, rows: int) -> pa.Table:
    """Return a table of so many columns; the same numbers give the same table."""
    draw = np.random.default_rng(7)
    age = draw.integers(0, 100, rows)
    codes = np.array(
        [f"{draw.integers(1, 1000):03d}.{draw.integers(0, 100):02d}" for _ in range(700)] + ["V57", "E909"]
    )
    day = np.datetime64("2015-01-01")
    cells: dict[str, Any] = {
        "encounter_id": np.arange(rows) * 7 + 10**7,
        "patient_nbr": draw.integers(10**6, 10**6 + rows * 7 // 10, rows) * 13,
        "age": age,
        "age_group": age // 10,
        "sex": draw.choice(["Female", "Male"], rows),
        "zip": np.array([f"{number:05d}" for number in range(400)])[draw.integers(0, 400, rows)],
        "admission_date": day + draw.integers(0, 1500, rows).astype("timedelta64[D]"),
    }
    kinds: list[Callable[[], tuple[str, Any]]] = [
        lambda: ("drug", draw.choice(DOSES, rows, p=[0.97, 0.02, 0.005, 0.005])),
        lambda: ("lab", draw.normal(100, 20, rows).round(2)),
        lambda: ("diag", codes[np.minimum(draw.exponential(60, rows).astype(int), len(codes) - 1)]),
        lambda: ("count", draw.poisson(2, rows)),
        lambda: ("item", draw.integers(1, 8, rows)),
        lambda: ("constant", np.full(rows, "No")),
        lambda: ("code", np.array([f"U{number}" for number in range(30)])[draw.integers(0, 30, rows)]),
        lambda: ("follows", age // int(draw.integers(5, 20))),
        lambda: ("points", draw.integers(0, 3000, rows)),
        lambda: ("seen", day + draw.integers(0, 1500, rows).astype("timedelta64[D]")),
    ]
    while len(cells) < columns:
        name, values = kinds[len(cells) % len(kinds)]()
        cells[f"{name}_{len(cells)}"] = values
    return pa.table({name: pa.array(values) for name, values in list(cells.items())[:columns]})


def seconds(work: Callable[[], Any]) -> float:
    """Return how long a piece of work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def summarize(table: pa.Table) -> None:
    """Let DuckDB summarize a table."""
    with duckdb.connect() as database:
        database.register("wide", table)
        database.execute("SUMMARIZE wide").fetchall()


def main() -> None:
    """Print the seconds of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--explain", action="store_true", help="measure sudare.explain, too")
    given = parser.parse_args()
    table = hospital(given.columns, given.rows)
    print(f"{table.num_rows:,} rows, {table.num_columns} columns, {table.nbytes >> 20} MiB")
    print(f"  DuckDB SUMMARIZE  {seconds(lambda: summarize(table)):6.2f} s")
    print(f"  sudare.draft      {seconds(lambda: sudare.draft(table)):6.2f} s")
    if given.explain:
        print(f"  sudare.explain    {seconds(lambda: sudare.explain(table)):6.2f} s")


if __name__ == "__main__":
    main()
