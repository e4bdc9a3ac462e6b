"""The same release by every engine, beside the engine's own way to copy the same rows, in one run.

    python benchmarks/engines.py                              # 10 million claims, QI2, all engines
    python benchmarks/engines.py --rows 1000000 --only duckdb postgres
    python benchmarks/engines.py --only cluster               # QI6 on two one-core workers, and the driver's memory

DuckDB copies from file to file and from table to table; PostgreSQL, which the script starts by itself, makes a table
of the same rows (CREATE TABLE AS); Spark reads, groups and writes them. Every release is made in a process of its own,
whose time from start to end counts, without kernels that are compiled for the first time (a small run comes before).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow.parquet as pq

import claims as shared

HERE = Path(__file__).parent
LIMITS = {"duckdb file": 8, "duckdb table": 8, "postgres": 3, "spark": 3}
COLUMNS = shared.QUASI["QI2"]


def timed(code: str) -> float:
    """Run some code that prints how long it took, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout.split()[-1])


def release(source: str, out: str, columns: list[str], folder: Path, *more: str) -> tuple[float, float, dict[str, Any]]:
    """Make a release by the command line; return seconds, peak memory of that process in GiB, and its certificate."""
    asked = folder / "policy.json"
    asked.write_text(json.dumps(shared.policy(columns, 10, {})))
    command = [sys.executable, "-m", "sudare", "anonymize", source, "--policy", str(asked), "--out", out, "--json"]
    started = time.perf_counter()
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        sys.exit(f"failed: {said.decode()}")
    return seconds, used.ru_maxrss / 1024**2, json.loads(said)


def stages(certificate: dict[str, Any]) -> str:
    """Return how long each stage took."""
    return ", ".join(f"{stage} {spent:.1f}" for stage, spent in certificate["seconds"].items())


def show(engine: str, seconds: float, copy: float, peak: float, certificate: dict[str, Any]) -> None:
    """Print a line of the table."""
    limit = LIMITS.get(engine)
    print(
        f"| {engine} | {seconds:.1f} s | {copy:.1f} s | {seconds / copy:.1f} | {limit or ''} | {peak:.1f} GiB |"
        f" {certificate['classes']} | {stages(certificate)} |",
        flush=True,
    )


def duckdb(source: Path, folder: Path) -> None:
    """From file to file, and from table to table."""
    copy = shared.copy(source, COLUMNS, folder)
    seconds, peak, told = release(str(source), str(folder / "release.parquet"), COLUMNS, folder)
    show("duckdb file", seconds, copy, peak, told)
    home = folder / "claims.duckdb"
    names = ", ".join(COLUMNS)
    timed(f"""
import duckdb
duckdb.connect({str(home)!r}).execute("CREATE TABLE claims AS SELECT claim, patient, {names} FROM '{source}'")
print(0)""")
    copy = timed(f"""
import duckdb, time
connection = duckdb.connect({str(home)!r})
started = time.perf_counter()
connection.execute("CREATE TABLE copied AS SELECT {names} FROM claims")
connection.execute("CHECKPOINT")
taken = time.perf_counter() - started
connection.execute("DROP TABLE copied")
print(taken)""")
    seconds, peak, told = release(f"{home}#claims", f"{home}#release", COLUMNS, folder)
    show("duckdb table", seconds, copy, peak, told)
    home.unlink()


@contextmanager
def claims_in_postgres(source: Path, columns: Sequence[str] | None = None) -> Iterator[str | None]:
    """Start a server with the claims of a file in a table; give its address, or nothing if there is no server."""
    from adbc_driver_postgresql import dbapi

    sys.path.insert(0, str(HERE.parent / "tests" / "engines"))
    homes: Any = import_module("homes")
    programs = homes.postgres_programs()
    if programs is None:
        yield None
        return
    server = homes.Server(programs, {"shared_buffers": "1GB", "max_wal_size": "8GB"})
    try:
        address = str(server.url("postgres"))
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("claims", pq.read_table(source, columns=columns), mode="create")
            connection.commit()
            cursor.execute("ANALYZE claims")
            connection.commit()
        yield address
    finally:
        server.stop()


def postgres_copy(connection: Any, cursor: Any, columns: Sequence[str]) -> float:
    """Return the seconds in which the server copies columns from table to table."""
    started = time.perf_counter()
    cursor.execute(f"CREATE TABLE copied AS SELECT {', '.join(columns)} FROM claims")
    connection.commit()
    seconds = time.perf_counter() - started
    cursor.execute("DROP TABLE copied")
    connection.commit()
    return seconds


def postgres(source: Path, folder: Path) -> None:
    """From table to table, on a server that is started here."""
    from adbc_driver_postgresql import dbapi

    with claims_in_postgres(source, ["claim", "patient", *COLUMNS]) as address:
        if address is None:
            print("| postgres | there is no server to start (Debian: apt-get install postgresql) |")
            return
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            copy = postgres_copy(connection, cursor, COLUMNS)
        seconds, peak, told = release(f"{address}#claims", f"{address}#release", COLUMNS, folder)
    show("postgres", seconds, copy, peak, told)


SPARK = """
import os, sys, time
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
    "spark.log.level", "OFF").config("spark.ui.showConsoleProgress", "false").getOrCreate()
started = time.perf_counter()
frame = spark.read.parquet({source!r}).select(*{columns!r})
groups = frame.groupBy(*{columns!r}).count()
groups.selectExpr(*{columns!r}, "explode(sequence(1, count)) AS turn").drop("turn").write.parquet({out!r})
print(time.perf_counter() - started)
spark.stop()
"""
"""Spark's own way: read the rows, group them by all columns, and write them in the order of the groups."""


def spark(source: Path, folder: Path) -> None:
    """From Parquet to Parquet, on the two cores of this machine."""
    copy = timed(SPARK.format(source=str(source), columns=COLUMNS, out=str(folder / "spark-copy.parquet")))
    more = ["--engine", "spark", "--master", "local[2]"]
    seconds, peak, told = release(str(source), str(folder / "spark.parquet"), COLUMNS, folder, *more)
    show("spark", seconds, copy, peak, told)


def cluster(source: Path, folder: Path) -> None:
    """QI6 on a standalone cluster of two one-core workers; what the driver takes up is its Python and its Java."""
    sys.path.insert(0, str(HERE.parent / "tests" / "engines"))
    cluster: Any = import_module("spark_cluster")
    columns = shared.QUASI["QI6"]
    home = folder / "cluster"
    home.mkdir()
    with cluster.Cluster(home) as running:
        watching = Watching()
        out = str(folder / "cluster.parquet")
        os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 1g pyspark-shell"
        seconds, _, told = release(str(source), out, columns, folder, "--engine", "spark", "--master", running.url)
        print(
            f"| cluster, QI6 | {seconds:.1f} s | | | | {watching.stop():.1f} GiB (driver) | {told['classes']} |"
            f" {stages(told)} |"
        )


class Watching:
    """Looks at the memory of the processes that this one started, and of those that they started, until stopped.

    Executors belong to the workers of the cluster, which were started before, and do not count.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._known = self._below()
        self._peak, self._going = 0.0, True
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self._going:
            held = 0
            for process in self._below():
                with suppress(OSError, StopIteration, ValueError):
                    text = Path(f"/proc/{process}/status").read_text()
                    held += int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])
            self._peak = max(self._peak, held / 1024**2)
            time.sleep(0.2)

    def _below(self) -> set[int]:
        """Return the processes that come from this one, but for known ones and what these started."""
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError, IndexError):
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        found: set[int] = set()
        new = {os.getpid()}
        while new:
            new = {process for process, parent in parents.items() if parent in new} - found - self._known
            found |= new
        return found

    def stop(self) -> float:
        """Return the most that there was, in GiB."""
        self._going = False
        self._thread.join()
        return self._peak


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", choices=list(MEASURED), default=list(MEASURED))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sudare-bench-") as name:
        folder = Path(name)
        source = shared.claims(given.rows, folder)
        small = shared.claims(20_000, folder)
        release(str(small), str(folder / "release.parquet"), COLUMNS, folder)  # compiles the kernels
        print(f"{given.rows:,} claims, {', '.join(COLUMNS)}, k = 10\n")
        print("| engine | release | copy | ratio | target | peak memory | classes | stages |")
        print("|---|---|---|---|---|---|---|---|")
        for engine in given.only:
            MEASURED[engine](source, folder)


MEASURED = {"duckdb": duckdb, "postgres": postgres, "spark": spark, "cluster": cluster}

if __name__ == "__main__":
    main()
