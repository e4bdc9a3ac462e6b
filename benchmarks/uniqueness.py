"""What it costs to count the records that a release singles out: processor seconds with it and without.

    python benchmarks/uniqueness.py                    1 million records, CSV and Parquet (about two minutes)
    python benchmarks/uniqueness.py --rows 200000      fewer
    python benchmarks/uniqueness.py --runs 5           the best of more runs

The table is drawn like that of ``risk.py``: Adult with replacement, 15% of the cells from other records, and five of
its columns insensitive. Their numbers have noise, so that most records are alone. Each release is made by the command
line in a process of its own, whose processor time is measured, over all of its threads; *without* is the same with an
audit that counts nothing of this. Kernels are compiled before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from risk import QUASI, table

ALLOWED = 0.20
INSENSITIVE = ("fnlwgt", "relationship", "capital-gain", "capital-loss", "hours-per-week")
NOISE = {"fnlwgt": 1000, "capital-gain": 1000, "capital-loss": 100, "hours-per-week": 10}
POLICY = {
    **dict.fromkeys(QUASI, "quasi"),
    **dict.fromkeys(INSENSITIVE, "insensitive"),
    "income": "sensitive",
}
MAKE = """
{patch}
from sudare.cli import main
main()
"""
WITHOUT = """
from importlib import import_module
from sudare.audits.uniqueness import Found
import_module("sudare.audits.run").look = lambda *given: Found()
"""


def perturbed(rows: int) -> pa.Table:
    """Return a table whose insensitive numbers are hardly the same for two records."""
    given, random = table(rows, (*INSENSITIVE, "income")), np.random.default_rng(1)
    for name, most in NOISE.items():
        noisy = given[name].to_numpy() + random.integers(0, most, rows)
        given = given.set_column(given.column_names.index(name), name, [noisy])
    return given


def spent(source: Path, policy: Path, out: Path, *, counting: bool) -> float:
    """Return the processor seconds of one release."""
    code = MAKE.format(patch="" if counting else WITHOUT)
    asked = [sys.executable, "-c", code, "anonymize", str(source), "--policy", str(policy), "--out", str(out)]
    before = os.times()
    subprocess.run(asked, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    for path in (out, out.with_name(out.name + ".sudare.json")):
        path.unlink()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3, help="of each the best")
    asked = parser.parse_args()
    given = perturbed(asked.rows)
    columns = "".join(f"  {name}: {{role: {role}}}\n" for name, role in POLICY.items())
    print(f"{asked.rows:,} records, {len(POLICY)} columns, processor seconds, the best of {asked.runs}")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        policy = here / "policy.yaml"
        policy.write_text(f"columns:\n{columns}require:\n  - {{model: k-anonymity, k: 10}}\n")
        pc.write_csv(given, here / "table.csv")
        pq.write_table(given, here / "table.parquet")
        spent(here / "table.parquet", policy, here / "release.parquet", counting=True)  # compiles the kernels
        for kind in ("parquet", "csv"):
            source, out = here / f"table.{kind}", here / f"release.{kind}"
            runs = [
                [spent(source, policy, out, counting=counting) for counting in (False, True)]
                for _ in range(asked.runs)
            ]  # fmt: skip
            without, counted = map(min, zip(*runs, strict=True))
            share = counted / without - 1
            print(f"  {kind:8} {without:6.2f} s without, {counted:6.2f} s with: {share:+.1%} (target: +{ALLOWED:.0%})")


if __name__ == "__main__":
    main()
