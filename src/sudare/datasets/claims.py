"""Synthetic medical claims, as many as wanted: for trying sudare, and for measuring it on large tables.

No person stands behind a row. The table has the shape of real claims (skewed codes, item sets that depend on age and
sex, several claims per patient), but its codes are only *written* like ICD-10 and ATC codes, and nothing medical can
be learnt from it. One row is one claim:

=============  ==============  ==================================================================================
``claim``      int64           its number, unique
``patient``    int64           whose it is; claims per patient are geometric, four on average
``born``       int16           year of birth, 1910 to 2024, by an age pyramid of patients
``sex``        string          ``female`` or ``male``; the older, the more women
``month``      int16           month of care, 1 (January 2023) to 24; a little more care in winter
``beds``       int16           size of the hospital, 20 to 1200, larger ones more often; 0 for a clinic (most claims)
``claim_type`` string          ``inpatient``, ``outpatient``, ``dental`` or ``pharmacy``; depends on beds and age
``first_day``  int8            first day of care, a day of that month
``diseases``   list of string  1 to 20 of 1,500 codes: the patient's lasting diseases, most of which come back in each
                               of the patient's claims, and passing ones. How many depends on age and claim type;
                               which, on age and sex: 16 % of the codes occur in one sex only
``drugs``      list of string  some of 2,000 codes, possibly none: for each disease some of its two to five usual drugs,
                               and a few others
=============  ==============  ==================================================================================

Codes are Zipf-like: a few are in many claims, most in few. The world these chances describe is
:mod:`sudare.datasets.catalogue`; it is the same for every seed.

Claims are drawn in chunks of 2^18, each from its own child of the seed, so that a table is the same on any number of
threads. A patient's claims are spread at random over one chunk. Items of a set are in alphabetical order. The same
rows and seed give the same table, as long as the generators of NumPy stay the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sudare.core.errors import ParameterError, Problem, TargetError
from sudare.datasets.catalogue import world
from sudare.datasets.claims_chunks import CHUNK, draw_chunk, schema

Listener = Callable[[str, float, float], None]

GROUP = 4
"""Chunks in a row group of the file."""
_PLAIN = ["claim", "patient"]
_FEW = ["born", "sex", "month", "beds", "claim_type", "first_day"]
_LISTS = ["diseases.list.element", "drugs.list.element"]


def claims(rows: int, seed: int = 0, *, threads: int = 2) -> Generator[pa.RecordBatch, None, None]:
    """Yield the table chunk by chunk, texts dictionary-encoded, with only a few chunks in memory at any time."""
    _check(rows, seed)
    world()  # once, before the threads need it
    return _in_order(rows, seed, threads)


def _in_order(rows: int, seed: int, threads: int) -> Generator[pa.RecordBatch, None, None]:
    root = np.random.SeedSequence(seed)
    waiting: deque[Future[pa.RecordBatch]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for number, start in enumerate(range(0, rows, CHUNK)):
                child = root.spawn(1)[0]  # one at a time: the same children as all at once
                waiting.append(pool.submit(draw_chunk, number, min(CHUNK, rows - start), child))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def claims_table(rows: int, seed: int = 0) -> pa.Table:
    """Return the table in memory, with plain texts instead of dictionaries."""
    return pa.Table.from_batches(claims(rows, seed)).cast(schema(pa.string(), pa.string()))


def write_claims(path: Path, rows: int, seed: int = 0, progress: Listener | None = None) -> None:
    """Write the table to a new Parquet file, chunk by chunk; its name appears when it is complete."""
    _check(rows, seed)
    if path.suffix.lower() != ".parquet":
        raise TargetError(Problem(str(path), "does not end in .parquet.", "claims are written to a .parquet file."))
    try:
        _must_be_new(path)
        part = path.with_name(f".{path.name}.part")
        with _new(part) as file:
            try:
                _write(file, rows, seed, progress)
                _must_be_new(path)
                part.rename(path)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror or 'the disk refused'}.")) from None


def _must_be_new(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise TargetError(Problem(str(path), "exists already.", "choose another name, or remove it."))


def _new(part: Path) -> BinaryIO:
    try:
        return part.open("xb")
    except FileExistsError:
        hint = "if no other run is writing it, remove it."
        raise TargetError(Problem(str(part), "exists already.", hint)) from None


def _write(file: BinaryIO, rows: int, seed: int, progress: Listener | None) -> None:
    done = 0
    gathered: list[pa.RecordBatch] = []
    # closed here, and not whenever the traceback of an interruption is forgotten: its threads would go on
    with closing(claims(rows, seed)) as batches, _writer(file) as writer:
        for batch in batches:
            gathered.append(batch)
            done += batch.num_rows
            if len(gathered) == GROUP or done == rows:
                writer.write_table(pa.Table.from_batches(gathered), row_group_size=GROUP * CHUNK)
                gathered = []
            if progress is not None:
                progress("generate claims", done, rows)
    file.flush()  # a full disk shows here, while the file has no name yet


def _writer(file: BinaryIO) -> pq.ParquetWriter:
    # without the Arrow schema, readers see plain texts and not the dictionaries that we write from
    return pq.ParquetWriter(
        file,
        schema(),
        compression="zstd",
        store_schema=False,
        use_dictionary=_FEW + _LISTS,
        write_statistics=_PLAIN + _FEW,  # the smallest and largest code help nobody, and take most of the time
        column_encoding={"claim": "DELTA_BINARY_PACKED"},
    )


def _check(rows: int, seed: int) -> None:
    problems = []
    for name, got, least in (("rows", rows, 1), ("seed", seed, 0)):
        if not isinstance(got, int) or got < least:
            problems.append(Problem(name, f"got {got!r}. Allowed: a whole number from {least}."))
    if problems:
        raise ParameterError(problems)
