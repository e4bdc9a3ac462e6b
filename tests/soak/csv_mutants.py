"""Releases in CSV that were tampered with: what the audit passes keeps the promise in every reader of CSV.

Each case changes a file that passes in a few places, byte by byte or field by field, and audits it. If it still passes,
five libraries read it, with their own settings and as text alone. In each of them every class has k rows.
"""

from __future__ import annotations

import csv
import functools
import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv

import sudare
from sudare.audits import audit_release
from sudare.core.errors import DataError
from sudare.policy import Policy

TITLE = "a mutated CSV release that passes is k-anonymous in every reader"
FULL, REDUCED = 10_000, 120
K = 3
QUASI = ["age", "town", "job"]
BITS = [
    b'"', b'""', b" ", b"  ", b"\t", b"\r", b"\n", b"\r\n", b"\x00", b",", b";", b"\xef\xbb\xbf", b"\xc2\xa0",
    b"\xe2\x80\x83", b"\xe2\x80\xa8", b"\xc2\x85", b"\x0b", b"\x0c", b"\x1a", b"\x1c", b"'", b"\\", b"\\\"", b"#", b"a",
    b"0", b"+", b"NA", b"\xff", b"\xc3",
]  # fmt: skip

Reader = Callable[[Path, str], list[tuple[Any, ...]]]


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    frame = frame[QUASI] if set(QUASI) <= set(frame.columns) else frame.iloc[:, : len(QUASI)]
    frame = frame.astype(object).where(frame.notna(), None)
    return list(frame.itertuples(index=False, name=None))


def _pandas(path: Path, delimiter: str, **how: Any) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _rows(pd.read_csv(path, sep=delimiter, **how))


def _arrow(path: Path, delimiter: str, kind: pa.DataType | None) -> list[tuple[Any, ...]]:
    how = pa.csv.ConvertOptions(column_types={} if kind is None else dict.fromkeys((*QUASI, "ill"), kind))
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    table = pa.csv.read_csv(path, parse_options=parse, convert_options=how)
    return list(zip(*(table.column(name).to_pylist() for name in QUASI), strict=True))


def _library(path: Path, delimiter: str) -> list[tuple[Any, ...]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [tuple(row[name] for name in QUASI) for row in csv.DictReader(file, delimiter=delimiter)]


def _polars(path: Path, delimiter: str, **how: Any) -> list[tuple[Any, ...]]:
    return pl.read_csv(path, separator=delimiter, **how).select(QUASI).rows()


def _duckdb(path: Path, delimiter: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        found = database.read_csv(str(path), delimiter=delimiter, all_varchar=True)
        return list(found.project(", ".join(QUASI)).fetchall())


READERS: dict[str, Reader] = {
    "pandas, C": functools.partial(_pandas, dtype=str, keep_default_na=False, engine="c"),
    "pandas, Python": functools.partial(_pandas, dtype=str, keep_default_na=False, engine="python"),
    "pandas, by default": _pandas,
    "PyArrow, text": functools.partial(_arrow, kind=pa.string()),
    "PyArrow, by default": functools.partial(_arrow, kind=None),
    "csv": _library,
    "Polars, text": functools.partial(_polars, infer_schema=False),
    "Polars, by default": _polars,
    "DuckDB": _duckdb,
}


@functools.cache
def releases() -> list[tuple[bytes, str, Policy]]:
    """Return files that pass, with their endings and policies: sudare's own, and such as other tools write."""
    chance = random.Random(17)
    jobs = ["cook", "judge, retired", 'so-called "artist"', "nurse\nat night", "", " sailor "]
    data = pa.table(
        {
            "age": [chance.randint(18, 90) for _ in range(40)],
            "town": [chance.choice(["Ōsaka", "Kyōto", "Nara", None]) for _ in range(40)],
            "job": [chance.choice(jobs) for _ in range(40)],
            "ill": [chance.choice(["flu", "pox", "ulcer", None]) for _ in range(40)],
        }
    )
    found = []
    for method in ("top-down", "mondrian"):
        rules = {
            "columns": {name: {"role": "quasi"} for name in QUASI} | {"ill": {"role": "sensitive"}},
            "require": [{"model": "k-anonymity", "k": K}],
            "method": {"name": method},
        }
        policy = Policy.parse(rules)
        with tempfile.TemporaryDirectory() as folder:
            for ending in (".csv", ".tsv"):
                path = Path(folder) / f"release{ending}"
                sudare.anonymize(data, rules, out=path)
                found.append((path.read_bytes(), ending, policy))
            frame = pd.read_csv(Path(folder) / "release.csv", dtype=str, keep_default_na=False)
            frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
            found.append((path.read_bytes(), ".csv", policy))
            frame.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
            found.append((path.read_bytes(), ".csv", policy))
    return found


def mutants(text: bytes, chance: random.Random) -> Iterator[bytes]:
    """Give a text after one change, after two, and so on."""
    while True:
        # the header is changed rarely: most of what follows would be refused for it alone
        at = chance.randrange(len(text)) if chance.random() < 0.1 else chance.randrange(text.find(b"\n"), len(text))
        kind, bit = chance.randrange(10), chance.choice(BITS)
        if kind == 0:
            text = text[:at] + bit + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1 :]
        elif kind == 2:
            text = text[:at] + bit + text[at + 1 :]
        elif kind == 3:  # at the end of a line, of all places
            at = text.find(b"\n", at)
            text = text[:at] + bit + text[at:]
        elif kind == 4:  # around a field
            at = text.find(chance.choice([b",", b";", b"\t", b'"']), at)
            text = text[:at] + bit + text[at:]
        else:
            text = _lines_changed(text, kind, bit, chance)
        yield text


def _lines_changed(text: bytes, kind: int, bit: bytes, chance: random.Random) -> bytes:
    lines = text.splitlines(keepends=True)
    one = chance.randrange(min(1, len(lines) - 1), len(lines))
    if kind == 5:
        lines.insert(one, lines[one])
    elif kind == 6:  # the same change in all lines: what readers take for the same may stay a class
        cut = chance.randrange(1, 12)
        lines = [line[:cut] + bit * chance.randrange(2) + line[cut:] for line in lines]
    elif kind > 7:  # a field in another way, in some of the lines that have it
        field = chance.choice(lines[one].strip().split(chance.choice([b",", b";", b"\t"])))
        ways = [field, field + bit, bit + field, b'"' + field.strip(b'"') + b'"', field.strip(b'"'), field + b" "]
        two = chance.sample(ways, 2)
        lines = [line.replace(field, chance.choice(two), 1) if field else line for line in lines]
    else:  # a field in quotes, or without
        fields = lines[one].split(b",")
        place = chance.randrange(len(fields))
        fields[place] = fields[place].strip(b'"') if chance.random() < 0.5 else b'"' + fields[place] + b'"'
        lines[one] = b",".join(fields)
    return b"".join(lines)


def case(number: int) -> str:
    """Change a release, audit it, and read it in every way if it passes."""
    chance = random.Random(number)
    whole, ending, policy = chance.choice(releases())
    changes = mutants(whole, chance)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        text = next(changes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{ending}"
        path.write_bytes(text)
        try:
            report = audit_release(path, policy)
        except DataError:
            return "refused"
        if not report.passed:
            return "failed"
        # the one that names the columns, as for whoever opens the file
        delimiter = max(",;\t", key=text.split(b"\n")[0].decode("utf-8-sig").count)
        for name, read in READERS.items():
            try:
                rows = read(path, delimiter)
            except Exception:  # a reader that refuses the file shows nobody
                continue
            smallest = min(Counter(rows).values(), default=K)
            assert smallest >= K, f"{name} finds a class of {smallest} in what passed, with k = {K}"
    return "passed"
