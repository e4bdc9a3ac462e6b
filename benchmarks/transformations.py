"""How long transformations of columns take, beside plain ways to do the same.

Each part prints seconds for columns of so many rows:

- ``pseudonym``: pseudonyms of texts, beside HMAC from Python's library in a plain loop.

    python benchmarks/transformations.py [--rows 10000000] [--only PART]

Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import hmac
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.policy import KeySpec, PseudonymSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import PseudonymCheck, pseudonyms
from sudare.transformations.secret_keys import SecretKey

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


PARTS: dict[str, Callable[[int], None]] = {"pseudonym": pseudonym}


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
