"""The optimal full-domain generalization of Adult: time, nodes counted, and the same by counting every node.

    python benchmarks/full_domain.py                 all cases (about two minutes)
    python benchmarks/full_domain.py --rows 3000000  with a larger perturbed table (the default is 1 million rows)

The setting is the one ARX was measured in: 30,162 complete training records, nine quasi-identifiers with the
hierarchies in benchmarks/adult_hierarchies, k = 5; with occupation sensitive, eight. Timed is the decision, from
encoded columns to classes; kernels are compiled before. "every node" counts all nodes of the lattice with the same
kernels but no bound, "DuckDB" is what one GROUP BY per node would take, from 40 nodes drawn at random. The large table
is made of copies of Adult in which each cell is replaced, with probability 0.2, by a draw from its column.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import sudare
from perturbing import perturbed
from sudare.methods.lattice.full_domain import full_domain
from sudare.methods.lattice.lattice import Lattice
from sudare.models import KAnonymity, LDiversity, Model, Requirements, TCloseness
from sudare.sources.encoded_table import encode
from sudare.table import Table, cut_at

HIERARCHIES = Path(__file__).parent / "adult_hierarchies"
NAMES = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income")
OF = "occupation"
K = KAnonymity(5)
CASES: list[tuple[str, bool, tuple[Model, ...], float, bool, float | None]] = [
    # what, with a sensitive column, models, limit, masked, seconds of ARX on another machine (see docs/benchmarks.md)
    ("no suppression", False, (K,), 0.0, False, 0.16),
    ("5% suppression", False, (K,), 0.05, False, 2.7),
    ("suppression free", False, (K,), 1.0, False, 7.2),
    ("distinct 3-diversity", True, (K, LDiversity(3, OF)), 1.0, False, None),
    ("entropy 3-diversity", True, (K, LDiversity(3, OF, "entropy")), 1.0, False, None),
    ("recursive (4,3)", True, (K, LDiversity(3, OF, "recursive", 4)), 1.0, False, None),
    ("t-closeness 0.2, masked", True, (K, TCloseness(0.2, OF)), 1.0, True, 2.9),
    ("t-closeness 0.2, dropped", True, (K, TCloseness(0.2, OF)), 1.0, False, None),
]


def encoded(data: pa.Table, sensitive: bool) -> Table:
    columns: dict[str, Any] = {name: {"role": "quasi", "hierarchy": str(HIERARCHIES / f"{name}.csv")} for name in NAMES}
    require: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 5}]
    if sensitive:
        columns[OF] = {"role": "sensitive"}
        require.append({"model": "l-diversity", "l": 2, "column": OF})
    return encode(data, sudare.load_policy({"columns": columns, "require": require}))


def best_of(runs: int, table: Table, requirements: Requirements) -> tuple[float, dict[str, Any]]:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        partition = full_domain(table, requirements)
        times.append(time.perf_counter() - started)
    return min(times), dict(partition.facts) | {"suppressed": partition.suppressed + _masked(partition)}


def _masked(partition: Any) -> int:
    return int(partition.sizes[-1]) if partition.masked else 0


def every_node(table: Table, requirements: Requirements) -> float:
    """Return the seconds that counting all nodes takes, each from the groups of the one before it."""
    started = time.perf_counter()
    lattice = Lattice(table, requirements, "arx")
    *outer, last = lattice.axes
    for levels in itertools.product(*(range(axis.top + 1) for axis in outer)):
        groups = lattice.at((*levels, 0))
        for level in range(last.top + 1):
            if level:
                groups = lattice.step(groups, [(len(outer), level - 1, level)])
            lattice.judge((*levels, level), groups)
    return time.perf_counter() - started


def by_duckdb(table: Table) -> float:
    """Return the seconds that a GROUP BY for every node would take."""
    columns = list(table.single.values())
    random = np.random.default_rng(0)
    tops = [column.taxonomy.depth for column in columns if column.taxonomy]
    cells = {
        f"c{i}_{level}": cut_at(column, level)[column.codes].astype(np.int16)
        for i, column in enumerate(columns)
        for level in range(tops[i] + 1)
    }
    database = duckdb.connect()
    database.register("cells", pa.table(cells))
    database.execute("CREATE TABLE data AS FROM cells")
    started = time.perf_counter()
    for _ in range(40):
        names = ", ".join(f"c{i}_{random.integers(0, top + 1)}" for i, top in enumerate(tops))
        database.execute(f"SELECT count(*), sum(n) FROM (SELECT count(*) n FROM data GROUP BY {names}) WHERE n >= 5")
    nodes = int(np.prod([top + 1 for top in tops]))
    return (time.perf_counter() - started) / 40 * nodes


def line(what: str, seconds: float, facts: dict[str, Any], arx: float | None) -> str:
    decided = 1 - facts["checked"] / facts["nodes"]
    return (
        f"{what:26} {facts['value']:.6f} {facts['suppressed']:>9,} {seconds:>8.2f} s {facts['nodes']:>7,} nodes, "
        f"{facts['checked']:>5,} counted, {decided:6.1%} decided without" + (f"; ARX {arx:g} s" if arx else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    chosen = parser.parse_args()
    adult = sudare.datasets.adult(complete=True).select(NAMES)
    tables = {sensitive: encoded(adult, sensitive) for sensitive in (False, True)}
    full_domain(tables[True], Requirements((K, LDiversity(2, OF)), 0.1))  # compiles
    for what, sensitive, models, limit, masked, arx in CASES:
        seconds, facts = best_of(3, tables[sensitive], Requirements(models, limit, masked))
        print(line(what, seconds, facts, arx), flush=True)
        if what == "suppression free":
            free = seconds
    every, duck = every_node(tables[False], Requirements((K,), 1.0)), by_duckdb(tables[False])
    print(
        f"every node counted: {every:.1f} s, {every / free:.0f} x the search; DuckDB: {duck:.0f} s, {duck / free:.0f} x"
    )
    large = encoded(perturbed(adult, chosen.rows, NAMES), False)
    seconds, facts = best_of(2, large, Requirements((K,), 0.05))
    print(line(f"{chosen.rows:,} rows, 5%", seconds, facts, 38.7 if chosen.rows == 1_000_000 else None))
    duck = by_duckdb(large)
    print(f"DuckDB, every node: {duck:.0f} s, {duck / seconds:.0f} x")


if __name__ == "__main__":
    main()
