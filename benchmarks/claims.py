"""Claims with item sets, end to end: Parquet to audited Parquet, beside DuckDB copying the same columns.

    python benchmarks/claims.py --rows 10000000                      # QI1 to QI6, k = 10
    python benchmarks/claims.py --rows 100000000 --only QI1 QI2
    python benchmarks/claims.py --rows 10000000 --worst              # every value is specialized to its original
    python benchmarks/claims.py --rows 10000000 --beside global items  # the paper's order, and the most items
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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

Figures = dict[str, Any]
SETS = {"diseases", "drugs"}
QUASI = {
    "QI1": ["born", "sex", "month"],
    "QI2": ["born", "sex", "month", "beds", "claim_type", "first_day"],
    "QI3": ["diseases"],
    "QI4": ["drugs"],
    "QI5": ["diseases", "drugs"],
    "QI6": ["born", "sex", "month", "diseases"],
}


WAYS: dict[str, Figures] = {"": {}, "global": {"order": "global"}, "items": {"objective": "items"}}


def policy(columns: list[str], k: int, options: Figures) -> Figures:
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
    source: Path, columns: list[str], k: int, folder: Path, options: Figures, more: list[str]
) -> tuple[float, float, Figures]:
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


def claims_twice(rows: int, folder: Path) -> Path:
    """Return claims of which each stands twice, so that k = 2 lets every value be specialized to its original."""
    path = folder / f"claims-twice-{rows}.parquet"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    source = pq.ParquetFile(claims(rows // 2, folder))
    with pq.ParquetWriter(part, source.schema_arrow, compression="zstd") as writer:
        for number in range(source.num_row_groups):
            group = source.read_row_group(number)
            writer.write_table(pa.concat_tables([group, group]), row_group_size=2 * group.num_rows)
    part.rename(path)
    return path


def disclosed(certificate: Figures) -> str:
    sets = certificate.get("item_sets", {})
    return ", ".join(f"{name} {figures['disclosed_share']:.1%}" for name, figures in sets.items())


def with_shares(certificate: Figures, source: Path) -> Figures:
    """Return a certificate with the share of the items of each column that it discloses, which it does not tell."""
    found = {}
    for name, figures in certificate.get("item_sets", {}).items():
        lengths = f'coalesce(sum(len("{name}")), 0)'
        [(items,)] = duckdb.sql(f"SELECT {lengths} FROM '{source}'").fetchall()
        found[name] = {**figures, "items": int(items), "disclosed_share": figures["disclosed"] / max(int(items), 1)}
    return certificate | {"item_sets": found}


def kept(save: Path | None) -> Figures:
    """Return the figures of a file of them, none if there is no file."""
    return json.loads(save.read_text()) if save is not None and save.exists() else {}


def keep(save: Path | None, kind: str, key: str, figures: Figures) -> None:
    """Put figures into a file of them, in the place of older ones."""
    if save is None:
        return
    known = kept(save)
    known.setdefault(kind, {})[key] = figures
    save.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


@dataclass(frozen=True)
class Setting:
    """How the claims are released: ``worst`` is the paper's worst case, in which every value becomes its original."""

    rows: int
    quasi: str
    k: int = 10
    worst: bool = False
    way: str = ""
    memory: str = ""

    @property
    def key(self) -> str:
        """The name of its figures in a file of them."""
        kind = ("-worst" if self.worst else "") + (f"-{self.way}" if self.way else "")
        return f"{self.rows}-{self.quasi}{kind}" + (f"--memory{self.memory}" if self.memory else "")

    def source(self, folder: Path) -> Path:
        """Return the claims, which are made once."""
        return claims_twice(self.rows, folder) if self.worst else claims(self.rows, folder)


def measure(setting: Setting, folder: Path) -> Figures:
    """Make the release, and a copy by DuckDB in the same run; print and return their figures."""
    source, columns = setting.source(folder), QUASI[setting.quasi]
    options = WAYS[setting.way]
    more = ["--memory", setting.memory] if setting.memory else []
    copied = min(copy(source, columns, folder) for _ in range(2 if setting.rows <= 10_000_000 else 1))
    seconds, peak, certificate = release(source, columns, 2 if setting.worst else setting.k, folder, options, more)
    if setting.worst and certificate["loss"]["gcp"]:
        sys.exit(f"{setting.key}: something is not at its original, so this was not the worst case.")
    stages = " ".join(f"{stage} {spent:.1f}" for stage, spent in certificate["seconds"].items())
    print(
        f"{setting.key:36} {seconds:8.1f}s {copied:7.2f}s {seconds / copied:6.1f} {peak:6.2f}GiB "
        f"{certificate['classes']:11,} {certificate['loss']['gcp']:7.4f}  {stages}; {disclosed(certificate)}",
        flush=True,
    )
    return {
        "rows": setting.rows, "k": 2 if setting.worst else setting.k, "quasi": setting.quasi,
        "seconds": round(seconds, 2), "copy": round(copied, 2), "peak_gib": round(peak, 2),
        "classes": certificate["classes"], "gcp": certificate["loss"]["gcp"],
        "stages": certificate["seconds"], "item_sets": certificate["item_sets"],
    }  # fmt: skip


def measure_all(settings: Sequence[Setting], folder: Path, save: Path | None) -> None:
    """Measure settings one after the other; those in the file are not measured again."""
    known = kept(save).get("end_to_end", {})
    print(
        f"{os.cpu_count()} processors; {sum(one.key in known for one in settings)} of {len(settings)} are kept already"
    )
    print(f"{'':36} {'release':>9} {'copy':>8} {'ratio':>6} {'peak':>9} {'classes':>11} {'GCP':>7}  stages; disclosed")
    for setting in settings:
        if setting.key not in known:
            keep(save, "end_to_end", setting.key, measure(setting, folder))


def compare_ways(settings: Sequence[Setting], ways: Sequence[str], folder: Path) -> None:
    """Print the times of other orders and objectives beside that of the default, from runs that alternate."""
    for setting in settings:
        spent = {one: measure(replace(setting, way=one), folder)["seconds"] for one in ("", *ways)}
        for way in ways:
            print(f"{setting.quasi}: {way} takes {spent[way] / spent['']:.2f} x the time of the default")
        if {"global", "items"} <= spent.keys():
            print(f"{setting.quasi}: items takes {spent['items'] / spent['global']:.2f} x the time of global")


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


def compile_kernels(folder: Path) -> None:
    """Make small releases of every kind, so that no run that is timed waits for compilation."""
    for columns in QUASI.values():
        release(claims(1000, folder), columns, 10, folder, {}, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(QUASI), default=list(QUASI))
    parser.add_argument("--worst", action="store_true", help="claims that stand twice, k = 2: all becomes original")
    parser.add_argument("--beside", nargs="+", choices=["global", "items"], help="compare with the default; no --save")
    parser.add_argument("--one-by-one", action="store_true", help="compare the two ways to split item sets")
    parser.add_argument("--memory", default="", help="passed on to sudare anonymize")
    parser.add_argument("--save", type=Path, help="a JSON file to keep the figures in; what is there is not measured")
    parser.add_argument("--folder", type=Path, help="where the claims are kept; else they are made anew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        compile_kernels(folder)
        settings = [
            Setting(rows, quasi, given.k, given.worst, memory=given.memory)
            for rows in given.rows
            for quasi in given.only
        ]
        if given.one_by_one:
            both_ways(given.rows[0], given.k, folder, given.save)
        elif given.beside:
            compare_ways(settings, given.beside, folder)
        else:
            measure_all(settings, folder, given.save)


if __name__ == "__main__":
    main()
