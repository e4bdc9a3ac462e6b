"""Top-down specialization for classification: time, and how it grows with what a step touches, in one run.

    python benchmarks/tds.py               Adult and 3 million perturbed rows (about a minute)
    python benchmarks/tds.py --copies 20   with a smaller large table (the default is 67 copies of 45,222 rows)

The setting: the 45,222 complete records of Adult, nine quasi-identifiers with the packaged hierarchies (age is a
number), the class is income. Timed is the decision, from encoded columns to classes; kernels are compiled before.
"recount" is one GROUP BY of all records in DuckDB per attribute and step, timed on those of the first step: less than a
full recount of all candidates would take. The large table is copies of Adult in which each cell is replaced, with
probability 0.2, by a draw from its column.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import duckdb
import pyarrow as pa

import sudare
from perturbing import perturbed
from sudare.methods.tds.cuts import Cut
from sudare.methods.tds.top_down_specialization import tds
from sudare.models import KAnonymity, Requirements
from sudare.sources.encoded_table import encode
from sudare.table import Table

QUASI = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
)  # fmt: skip
TARGET = "income"


def encoded(data: pa.Table) -> Table:
    trees = sudare.datasets.adult_hierarchies()
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": str(trees[name])} for name in QUASI}
    columns["age"] = {"role": "quasi", "kind": "numeric"}
    columns[TARGET] = {"role": "insensitive"}
    method = {"name": "tds", "target": TARGET}
    require = [{"model": "k-anonymity", "k": 5}]
    return encode(data, sudare.load_policy({"columns": columns, "require": require, "method": method}))


def steps(table: Table, k: int) -> list[tuple[int, float]]:
    """Return, for each step, the atoms of the groups that it changed and the seconds that it took."""
    cut = Cut(table, Requirements((KAnonymity(k),)), 0.98)
    found = []
    while cut.open:
        started = time.perf_counter()
        best = next((candidate for candidate in cut.ranked() if cut.valid(candidate)), None)
        if best is None:
            break
        members = cut.groups.members(best)
        atoms = int((cut.groups.end[members] - cut.groups.start[members]).sum())
        cut.specialize(best)
        found.append((atoms, time.perf_counter() - started))
    return found


def recount(table: Table) -> float:
    """Return the seconds that one GROUP BY for each candidate of the first step takes, per candidate."""
    cells = {f"c{i}": column.codes for i, column in enumerate(table.single.values())}
    assert table.target is not None
    database = duckdb.connect()
    database.register("cells", pa.table({**cells, "y": table.target.codes}))
    database.execute("CREATE TABLE data AS FROM cells")
    started = time.perf_counter()
    for name in cells:
        database.execute(f"SELECT sum(n * log2(n)) FROM (SELECT count(*) n FROM data GROUP BY {name}, y)")
    return (time.perf_counter() - started) / len(cells)


def measure(what: str, table: Table, k: int) -> None:
    requirements = Requirements((KAnonymity(k),))
    times = []
    for _ in range(3):
        started = time.perf_counter()
        facts = dict(tds(table, requirements, target=TARGET).facts)
        times.append(time.perf_counter() - started)
    tries = facts["steps"] * len(QUASI)  # at least one candidate per attribute and step
    against = recount(table) * tries
    print(
        f"{what:22} k = {k:<4} {min(times):6.2f} s, {facts['steps']:>3} steps, table info {facts['table_info']:.4f}; "
        f"recount {against:6.2f} s, {against / min(times):.1f} x",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=67)
    chosen = parser.parse_args()
    adult = sudare.datasets.adult("all", complete=True)
    small = encoded(adult.select([*QUASI, TARGET]))
    tds(small, Requirements((KAnonymity(50),)), target=TARGET)  # compiles
    for k in (5, 50, 500):
        measure(f"Adult, {small.rows:,}", small, k)
    large = encoded(perturbed(adult, adult.num_rows * chosen.copies, (*QUASI, TARGET)))
    for k in (5, 50):
        measure(f"perturbed, {large.rows:,}", large, k)
    print("atoms of the changed groups, and milliseconds of the step (perturbed, k = 5):")
    for atoms, seconds in steps(large, 5):
        print(f"  {atoms:>9,} {1000 * seconds:>8.1f}")


if __name__ == "__main__":
    main()
