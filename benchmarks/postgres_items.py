"""Claims with item sets from table to table in PostgreSQL, beside the database's own work on the same rows.

    python benchmarks/postgres_items.py                                   # 1 million claims
    python benchmarks/postgres_items.py --save docs/papers/claims_times.json

The paper on item sets measured 1 million claims in PostgreSQL: year of birth, sex and month of care; then with
diseases; then with drugs, too. With item sets the rows travel to us once. The other way would be to leave them where
they are, and to count there who holds which item, once for each level of clusters. So three steps are timed beside the
release: a copy of the table (CREATE TABLE AS), fetching the rows, and counting the items a single time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import claims as shared
import engines

MEASURED = {"QI1": shared.QUASI["QI1"], "QI6": shared.QUASI["QI6"], "QI6 + drugs": [*shared.QUASI["QI6"], "drugs"]}
COUNT = "SELECT born, item, count(*) FROM (SELECT born, unnest({sets}) AS item FROM claims) AS held GROUP BY born, item"
"""Counting items by cluster; the year of birth stands for the number of a cluster, which a table would have to hold."""


def timed(cursor: Any, statement: str) -> float:
    """Return the seconds of a statement with all its rows, which arrive as Arrow."""
    started = time.perf_counter()
    cursor.execute(statement)
    cursor.fetch_arrow_table()
    return time.perf_counter() - started


def measure(address: str, columns: list[str], folder: Path) -> shared.Figures:
    """Make a release, and let the database do its steps on the same columns."""
    from adbc_driver_postgresql import dbapi

    names, sets = ", ".join(columns), [name for name in columns if name in shared.SETS]
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        copy = engines.postgres_copy(connection, cursor, columns)
        fetch = timed(cursor, f"SELECT {names} FROM claims")
        count = sum(timed(cursor, COUNT.format(sets=name)) for name in sets)
    seconds, peak, told = engines.release(f"{address}#claims", f"{address}#release", columns, folder)
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE release")
        connection.commit()
    figures = {"seconds": seconds, "copy": copy, "fetch": fetch, "count": count, "peak_gib": peak}
    return {name: round(figure, 2) for name, figure in figures.items()} | {
        "classes": told["classes"],
        "stages": told["seconds"],
    }


def measure_all(rows: int, folder: Path, save: Path | None) -> None:
    """Start a server, load the claims, and measure what is not kept yet."""
    keys = {f"{rows}-{name}": columns for name, columns in MEASURED.items()}
    known = shared.kept(save).get("postgres", {})
    if known.keys() >= keys.keys():
        print("All figures are kept already.")
        return
    with engines.claims_in_postgres(shared.claims(rows, folder)) as address:
        if address is None:
            sys.exit("There is no PostgreSQL server to start (Debian: apt-get install postgresql).")
        for key, columns in keys.items():
            if key not in known:
                figures = measure(address, columns, folder)
                ratio = figures["seconds"] / figures["copy"]
                print(f"{key:22} release {figures['seconds']:.1f} s, {ratio:.1f} x a copy", flush=True)
                print(
                    f"{'':22} fetch {figures['fetch']:.1f} s, one count of items {figures['count']:.1f} s", flush=True
                )
                shared.keep(save, "postgres", key, {"rows": rows} | figures)


def main() -> None:
    """Measure, and keep the figures if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--save", type=Path, help="a JSON file to keep the figures in; what is there is not measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sudare-bench-") as name:
        folder = Path(name)
        shared.compile_kernels(folder)
        measure_all(given.rows, folder, given.save)


if __name__ == "__main__":
    main()
