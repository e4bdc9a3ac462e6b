"""Claims with item sets, end to end: Parquet to audited Parquet, beside DuckDB copying the same columns.

    python benchmarks/claims.py --rows 10000000                      # QI1 to QI6, k = 10
    python benchmarks/claims.py --rows 100000000 --only QI1 QI2
    python benchmarks/claims.py --one-by-one                         # the two ways to split item sets, 1M claims, QI5
    python benchmarks/claims.py --rows 1000000 --save times.json     # keeps the figures, for papers/complex_topdown.py

Every release is made by the command line in a process of its own, whose time from start to end and whose peak memory
are taken. Kernels are compiled before (a small run). The copy is made by DuckDB with all threads, in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

SETS = {"diseases", "drugs"}
QUASI = {
    "QI1": ["born", "sex", "month"],
    "QI2": ["born", "sex", "month", "beds", "claim_type", "first_day"],
    "QI3": ["diseases"],
    "QI4": ["drugs"],
    "QI5": ["diseases", "drugs"],
    "QI6": ["born", "sex", "month", "diseases"],
}


def policy(columns: list[str], k: int, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": {
            "claim": {"role": "identifier"},
            "patient": {"role": "identifier"},
            **{name: {"role": "quasi", **({"kind": "items"} if name in SETS else {})} for name in columns},
        },
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "top-down", **options},
    }


def release(
    source: Path, columns: list[str], k: int, folder: Path, options: dict[str, Any], more: list[str]
) -> tuple[float, float, dict[str, Any]]:
    """Make a release by the command line; return seconds, peak memory in GiB, and its certificate."""
    asked, out = folder / "policy.json", folder / "release.parquet"
    asked.write_text(json.dumps(policy(columns, k, options)))
    command = [sys.executable, "-m", "sudare", "anonymize", str(source), "--policy", str(asked), "--out", str(out)]
    started = time.perf_counter()
    process = subprocess.Popen([*command, "--json", *more], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        sys.exit(f"failed: {said.decode()}")
    out.unlink()
    return seconds, used.ru_maxrss / 1024**2, with_shares(json.loads(said), source)


def copy(source: Path, columns: list[str], folder: Path) -> float:
    """Let DuckDB copy the columns, in a process of its own; return seconds, without those to start it."""
    names, target = ", ".join(columns), folder / "copy.parquet"
    work = f"""
import duckdb, time
started = time.perf_counter()
duckdb.execute("COPY (SELECT {names} FROM '{source}') TO '{target}' (FORMAT parquet)")
print(time.perf_counter() - started)
"""
    done = subprocess.run([sys.executable, "-c", work], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout.split()[-1])  # a progress bar may stand before it


def claims(rows: int, folder: Path) -> Path:
    path = folder / f"claims-{rows}.parquet"
    if not path.exists():
        subprocess.run(
            [sys.executable, "-m", "sudare", "generate", "claims", "--rows", str(rows), "--out", str(path), "--quiet"],
            check=True,
        )
    return path


def disclosed(certificate: dict[str, Any]) -> str:
    sets = certificate.get("item_sets", {})
    return ", ".join(f"{name} {figures['disclosed_share']:.1%}" for name, figures in sets.items())


def with_shares(certificate: dict[str, Any], source: Path) -> dict[str, Any]:
    """Return a certificate with the share of the items of each column that it discloses, which it does not tell."""
    found = {}
    for name, figures in certificate.get("item_sets", {}).items():
        lengths = f'coalesce(sum(len("{name}")), 0)'
        [(items,)] = duckdb.sql(f"SELECT {lengths} FROM '{source}'").fetchall()
        found[name] = {**figures, "items": int(items), "disclosed_share": figures["disclosed"] / max(int(items), 1)}
    return certificate | {"item_sets": found}


def keep(save: Path | None, kind: str, key: str, figures: dict[str, Any]) -> None:
    """Put figures into a file of them, in the place of older ones."""
    if save is None:
        return
    known = json.loads(save.read_text()) if save.exists() else {}
    known.setdefault(kind, {})[key] = figures
    save.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def all_sets(rows: int, k: int, only: list[str], folder: Path, more: list[str], save: Path | None) -> None:
    source = claims(rows, folder)
    print(f"{rows:,} claims, k = {k}, {os.cpu_count()} processors, source {source.stat().st_size / 1e6:.0f} MB")
    print(f"{'':4} {'release':>9} {'copy':>8} {'ratio':>6} {'peak':>9} {'classes':>10} {'GCP':>7}  stages; disclosed")
    for name in only:
        copied = min(copy(source, QUASI[name], folder) for _ in range(2 if rows <= 10_000_000 else 1))
        seconds, peak, certificate = release(source, QUASI[name], k, folder, {}, more)
        stages = " ".join(f"{stage} {spent:.1f}" for stage, spent in certificate["seconds"].items())
        print(
            f"{name:4} {seconds:8.1f}s {copied:7.2f}s {seconds / copied:6.1f} {peak:6.2f}GiB "
            f"{certificate['classes']:10,} {certificate['loss']['gcp']:7.4f}  {stages}; {disclosed(certificate)}",
            flush=True,
        )
        figures = {
            "rows": rows, "k": k, "quasi": name, "seconds": round(seconds, 2), "copy": round(copied, 2),
            "peak_gib": round(peak, 2), "classes": certificate["classes"], "gcp": certificate["loss"]["gcp"],
            "stages": certificate["seconds"], "item_sets": certificate["item_sets"],
        }  # fmt: skip
        keep(save, "end_to_end", f"{rows}-{name}{''.join(more)}", figures)


def both_ways(rows: int, k: int, folder: Path, save: Path | None) -> None:
    """Compare the two ways to split item sets, by the seconds of the method itself."""
    source = claims(rows, folder)
    spent = {}
    for way in ("rank-choose-split", "one-by-one"):
        _, _, certificate = release(source, QUASI["QI5"], k, folder, {"items": way}, [])
        spent[way] = certificate["seconds"]["method"]
        print(
            f"{way:18} {spent[way]:8.2f} s, {certificate['classes']:,} classes, GCP {certificate['loss']['gcp']:.4f}; "
            f"disclosed: {disclosed(certificate)}"
        )
        figures = {
            "rows": rows, "k": k, "method_seconds": round(spent[way], 2), "classes": certificate["classes"],
            "gcp": certificate["loss"]["gcp"], "item_sets": certificate["item_sets"],
        }  # fmt: skip
        keep(save, "ways", f"{rows}-{way}", figures)
    print(f"one-by-one takes {spent['one-by-one'] / spent['rank-choose-split']:.1f} x the time of rank-choose-split")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(QUASI), default=list(QUASI))
    parser.add_argument("--one-by-one", action="store_true", help="compare the two ways to split item sets")
    parser.add_argument("--memory", help="passed on to sudare anonymize")
    parser.add_argument("--save", type=Path, help="a JSON file to keep the figures in")
    parser.add_argument("--folder", type=Path, help="where the claims are kept; else they are made anew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        warm = claims(1000, folder)
        for columns in QUASI.values():
            release(warm, columns, given.k, folder, {}, [])
        if given.one_by_one:
            both_ways(given.rows, given.k, folder, given.save)
        else:
            more = ["--memory", given.memory] if given.memory else []
            all_sets(given.rows, given.k, given.only, folder, more, given.save)


if __name__ == "__main__":
    main()
