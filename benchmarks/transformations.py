"""How long transformations of columns take, beside plain ways to do the same.

Each part prints seconds for columns of so many rows:

- ``pseudonym``: pseudonyms of texts, beside HMAC from Python's library in a plain loop.
- ``columns``: reading a Parquet file and writing it again with columns shifted, rounded and top-coded, beside a copy of
  the same columns by the same code. With the same key this is all that happens to a column that is released as it is.
- ``swap``: rank swapping of one column, in memory.

    python benchmarks/transformations.py [--rows 10000000] [--only PART]

Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import hmac
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sudare.core.randomness import Entropy
from sudare.policy import KeySpec, Policy, PseudonymSpec, SwapSpec
from sudare.releases import write_batches
from sudare.sources.opened_source import read
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import PseudonymCheck, pseudonyms
from sudare.transformations.rank_swaps import RankSwap
from sudare.transformations.secret_keys import SecretKey
from sudare.transformations.step import Findings, Place

PIECE = 1 << 20
"""The rows of a batch, as sources give them."""


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long something takes, and its result."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def show(what: str, taken: float, rows: int, beside: float | None = None) -> None:
    """Print a line."""
    ratio = "" if beside is None else f"   {beside / taken:5.1f} x as fast as the plain loop"
    print(f"  {what:<52}{taken:8.2f} s{rows / taken / 1e6:8.2f} M rows/s{ratio}", flush=True)


def pseudonym(rows: int) -> None:
    """Time pseudonyms of different texts: the keyed digest, the whole step, and the check."""
    key = SecretKey.random()
    secret = bytes.fromhex(key.hex)
    texts = pa.array(np.arange(rows) + 1_000_000_000).cast(pa.large_string())
    listed = texts.to_pylist()
    plain, expected = seconds(lambda: [hmac.digest(secret, text.encode(), "sha256").hex()[:16] for text in listed])
    show("hmac.digest(...).hex()[:16] in a plain loop", plain, rows)
    for form in ("hex", "base32", "digits"):
        spec = PseudonymSpec(key=KeySpec(env="UNUSED"), form=form)
        check(spec, texts[:1000], pseudonyms(key, spec, normal_texts(texts[:1000])))  # compiled now
        taken, found = seconds(partial(pseudonyms, key, spec, texts))
        show(f"pseudonyms, form {form}", taken, rows, plain)
        if form == "hex":
            assert found.equals(pa.array(expected, pa.large_string()))
            expected.clear()
        taken, found = seconds(partial(whole_step, key, spec, texts))
        show(f"normal texts and pseudonyms, form {form}", taken, rows, plain)
        taken, _ = seconds(partial(check, spec, texts, found))
        show("  the check that they are unique, and no values", taken, rows)


def whole_step(key: SecretKey, spec: PseudonymSpec, cells: pa.Array) -> pa.Array:
    """Return the pseudonyms of cells as they are."""
    return pseudonyms(key, spec, normal_texts(cells))


def check(spec: PseudonymSpec, texts: pa.Array, made: pa.Array) -> None:
    """Check pseudonyms batch by batch."""
    found = PseudonymCheck(spec)
    for first in range(0, len(texts), PIECE):
        found.add(texts.slice(first, PIECE), made.slice(first, PIECE))
    assert not found.problems("id")


STEPS: Mapping[str, Mapping[str, Any]] = {
    "shift": {"seen": {"shift": {"days": 365, "key": {"env": "SUDARE_BENCHMARK_KEY"}}}},
    "shift of times": {"at": {"shift": {"days": 365, "key": {"env": "SUDARE_BENCHMARK_KEY"}}}},
    "round, whole numbers": {"age": {"round": 5}},
    "round, fractions": {"pay": {"round": 0.5}},
    "top": {"age": {"top": 89}},
}
"""What is done to the columns of a table, step by step and all at once."""


def table_of(rows: int) -> pa.Table:
    """Return records of a million people: integers, dates, times and fractions."""
    draw = np.random.default_rng(0)
    return pa.table(
        {
            "person": draw.integers(0, 1_000_000, rows).astype(np.int32),
            "seen": pa.array(draw.integers(15_000, 19_000, rows).astype(np.int32)).cast(pa.date32()),
            "at": pa.array(draw.integers(1_300_000_000, 1_700_000_000, rows) * 1_000_000).cast(pa.timestamp("us")),
            "age": draw.integers(0, 105, rows).astype(np.int32),
            "pay": np.round(draw.lognormal(7, 1, rows), 2),
        }
    )


def policy_of(steps: Mapping[str, Any]) -> Policy:
    """Return a policy that releases all columns as they are, but for these steps."""
    names = ("seen", "at", "age", "pay")
    columns = {name: {"role": "insensitive"} | ({"transform": steps[name]} if name in steps else {}) for name in names}
    asked = {"person": {"role": "subject"}, **columns, "sex": {"role": "quasi"}}
    return Policy.parse({"columns": asked, "require": [{"model": "k-anonymity", "k": 2}]})


def columns(rows: int) -> None:
    """Time a copy of a file, and copies with transformed columns."""
    os.environ["SUDARE_BENCHMARK_KEY"] = SecretKey.random().hex
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "given.parquet", Path(folder) / "made.parquet"
        sex = pa.array(np.zeros(rows, np.int8))
        pq.write_table(table_of(rows).append_column("sex", sex), path)

        def copied(steps: Mapping[str, Any], most: Path = path) -> None:
            source, _ = read(most, policy_of(steps), only=["person", "seen", "at", "age", "pay"])
            write_batches(source.schema, source.batches(()), out)

        small = Path(folder) / "small.parquet"
        pq.write_table(pq.read_table(path).slice(0, 1000), small)
        everything = {"seen": STEPS["shift"]["seen"], "at": STEPS["shift of times"]["at"], "pay": {"round": 0.5},
                      "age": [{"top": 89}, {"round": 5}]}  # fmt: skip
        for steps in ({}, *STEPS.values(), everything):
            copied(steps, small)  # compiled now
        plain = min(seconds(partial(copied, {}))[0] for _ in range(3))
        show("a copy", plain, rows)
        for name, steps in (*STEPS.items(), ("all of these", everything)):
            taken = min(seconds(partial(copied, steps))[0] for _ in range(3))
            print(f"  {name:<52}{taken:8.2f} s    {taken / plain:5.2f} x a copy", flush=True)


def swap(rows: int) -> None:
    """Time rank swapping of a column in which nearly all values differ, and of one with few values."""
    given = table_of(rows)
    step = RankSwap(Place("x", 0, "swap"), SwapSpec(within=0.05), Entropy(), None)
    step.apply(given["pay"].combine_chunks().slice(0, 1000), {}, Findings())  # compiled now
    for name, what in (("pay", "rank swapping, amounts"), ("age", "rank swapping, ages"), ("seen", "swapping, dates")):
        taken, _ = seconds(partial(step.apply, given[name].combine_chunks(), {}, Findings()))
        show(what, taken, rows)


PARTS: dict[str, Callable[[int], None]] = {"pseudonym": pseudonym, "columns": columns, "swap": swap}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", choices=sorted(PARTS))
    given = parser.parse_args()
    for name, part in PARTS.items():
        if given.only in (None, name):
            print(f"{name}, {given.rows:,} rows")
            part(given.rows)


if __name__ == "__main__":
    main()
