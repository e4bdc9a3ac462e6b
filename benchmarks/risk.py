"""Risk of a large table: seconds of each step, and against pandas doing the same in the same run.

    python benchmarks/risk.py                    1 million records (about a minute, most of it pandas)
    python benchmarks/risk.py --rows 100000      fewer
    python benchmarks/risk.py --no-peer          without pandas

The table is Adult drawn with replacement, 15% of the cells from other records; eight quasi-identifiers. *Classes*: the
size of every record's class, against ``groupby(...).transform("size")`` of pandas on categories. *Combinations*:
minimal sample uniques of up to three columns, against pandas marking the records that are alone in each of the 92
combinations (without the test of minimality, which would take it longer still). *Report*: ``sudare.risk`` from the
Parquet file to the end, alone and with a release. Kernels are compiled before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sudare
from sudare.risks import group_rows, single_out

QUASI = ("age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country")
MOST = 3


def table(rows: int, others: Sequence[str] = ("income", "hours-per-week")) -> pa.Table:
    adult, random = sudare.datasets.adult("all"), np.random.default_rng(0)
    one, two = random.integers(0, adult.num_rows, rows), random.integers(0, adult.num_rows, rows)
    return pa.table(
        {
            name: adult[name].combine_chunks().take(pa.array(np.where(random.random(rows) < 0.15, two, one)))
            for name in (*QUASI, *others)
        }
    )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def by_pandas(given: pa.Table) -> tuple[float, float, int]:
    """Return the seconds for class sizes and for all combinations, and how many records these single out."""
    frame = given.select(QUASI).to_pandas()
    for name in QUASI:
        frame[name] = frame[name].astype("category").cat.add_categories("missing").fillna("missing")
    columns = list(QUASI)
    sizes, _ = timed(lambda: frame.groupby(columns, observed=True)[columns[0]].transform("size"))

    def alone() -> int:
        marked = np.zeros(len(frame), dtype=bool)
        for size in range(1, MOST + 1):
            for chosen in combinations(columns, size):
                marked |= ~frame.duplicated(list(chosen), keep=False).to_numpy()
        return int(marked.sum())

    seconds, found = timed(alone)
    return sizes, seconds, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--no-peer", action="store_true", help="without pandas")
    asked = parser.parse_args()
    given, policy = table(asked.rows), sudare.datasets.adult_policy()
    few = sudare.datasets.adult("test")
    sudare.risk(few, policy, release=sudare.anonymize(few, policy), fraction=0.1)  # compiles the kernels
    coded = [given[name].combine_chunks().dictionary_encode() for name in QUASI]
    sizes = [len(each.dictionary) + 1 for each in coded]
    codes = [each.indices.fill_null(size - 1).to_numpy() for each, size in zip(coded, sizes, strict=True)]
    classes, groups = timed(lambda: group_rows(codes, sizes, asked.rows))
    print(f"{asked.rows:,} records, {len(QUASI)} quasi-identifiers, {len(groups.sizes):,} classes")
    print(f"  classes        {classes:7.2f} s")
    spent, three = timed(lambda: single_out(QUASI, codes, sizes, asked.rows, most=MOST))
    print(f"  combinations   {spent:7.2f} s, {three.records:,} records singled out by up to {MOST} columns")
    seconds, four = timed(lambda: single_out(QUASI, codes, sizes, asked.rows, most=MOST + 1))
    print(f"                 {seconds:7.2f} s, {four.records:,} by up to {MOST + 1}")
    with tempfile.TemporaryDirectory() as folder:
        source, release = Path(folder) / "table.parquet", Path(folder) / "release.parquet"
        pq.write_table(given, source)
        seconds, _ = timed(lambda: sudare.risk(source, policy))
        print(f"  report         {seconds:7.2f} s (target: 10 s for 1 million)")
        sudare.anonymize(source, policy, out=release)
        seconds, report = timed(lambda: sudare.risk(source, policy, release=release, fraction=0.1))
        print(f"  with a release {seconds:7.2f} s, and attacks on {report.after.linkage.linked.people:,} people")
    if not asked.no_peer:
        grouping, marking, alone = by_pandas(given)
        assert alone == three.records, "pandas finds other records"
        print(f"  pandas: classes {grouping:.2f} s ({grouping / classes:.1f} x), ", end="")
        print(f"combinations {marking:.2f} s ({marking / spent:.1f} x)")


if __name__ == "__main__":
    main()
