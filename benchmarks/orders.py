"""The orders of `top-down` on synthetic claims: the default, the paper's `order: global`, and `objective: items`.

    python benchmarks/orders.py                                      # 1M claims, all quasi-identifiers, k = 10
    python benchmarks/orders.py --rows 5000000 --columns diseases drugs
    python benchmarks/orders.py --rows 100000 --k 2 5 10 100

The claims are read and encoded once. Each order then decides in this process; its time is that of the method alone, on
all cores, and its ratio that to the default in the same run. Kernels are compiled before (a small run).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import claims as shared
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import METRICS, item_figures
from sudare.models import KAnonymity, Requirements
from sudare.table import Table, encode_column, encode_items, generalize

COLUMNS = ["born", "sex", "month", "beds", "claim_type", "first_day", "diseases", "drugs"]
ORDERS: dict[str, dict[str, Any]] = {
    "default": {},
    "order: global": {"order": "global"},
    "objective: items": {"objective": "items"},
}


def encoded_claims(rows: int, columns: list[str], folder: Path) -> Table:
    """Make claims, and encode some of their columns."""
    read = pq.read_table(shared.claims(rows, folder), columns=columns)
    encoded: dict[str, Any] = {}
    for name in columns:
        cells = read[name].combine_chunks()
        is_list = pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type)
        encoded[name] = encode_items(name, cells) if is_list else encode_column(name, cells)
    return Table(rows, encoded)


def decide(table: Table, k: int, options: dict[str, Any], *, figures: bool = True) -> tuple[float, float, str]:
    """Return seconds, processor seconds, and what the classes are like."""
    started, worked = time.perf_counter(), time.process_time()
    partition = top_down(table, Requirements((KAnonymity(k),)), **options)
    spent = time.perf_counter() - started, time.process_time() - worked
    if not figures:
        return *spent, ""
    made = generalize(table, partition)
    shown = sum(figures["disclosed"] for figures in item_figures(made).values())
    items = sum(len(column.items) for column in table.sets.values())
    share = f", {shown / items:.2%} of the items" if items else ""
    return *spent, f"{partition.count:,} classes, GCP {METRICS['gcp'](made).total:.4f}{share}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, nargs="+", default=[10])
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=COLUMNS)
    parser.add_argument("--folder", type=Path, help="where the claims are kept; else they are made anew")
    given = parser.parse_args()
    orders = {
        name: options
        for name, options in ORDERS.items()
        if "objective" not in options or {"diseases", "drugs"} & set(given.columns)
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        warm = encoded_claims(10_000, given.columns, folder)
        for options in orders.values():
            decide(warm, 10, options, figures=False)
        table = encoded_claims(given.rows, given.columns, folder)
    print(f"{given.rows:,} claims, {', '.join(given.columns)}; {os.cpu_count()} processors")
    for k in given.k:
        first = None
        for name, options in orders.items():
            seconds, worked, figures = decide(table, k, options)
            first = first or (seconds, worked)
            print(
                f"k = {k:<4} {name:16} {seconds:8.2f} s ({seconds / first[0]:.2f} x), processors {worked:8.2f} s "
                f"({worked / first[1]:.2f} x); {figures}",
                flush=True,
            )


if __name__ == "__main__":
    main()
