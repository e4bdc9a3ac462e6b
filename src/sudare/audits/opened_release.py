"""Opening of a release (CSV, Parquet or Arrow file, or an Arrow table), with clear errors.

No message quotes a cell: errors of the libraries, which quote lines, are replaced by our own.
"""

from __future__ import annotations

import codecs
import csv
import io
import stat
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sudare.audits.canonical_text import Layout
from sudare.audits.file_checks import SecondLook
from sudare.audits.parquet_bytes import check_parquet
from sudare.audits.payload import check_arrow
from sudare.audits.release_columns import Elsewhere, Release, readable
from sudare.core.errors import DataError, Problem, did_you_mean
from sudare.core.sizes import MIB
from sudare.policy import Policy

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
DELIMITERS = (",", ";", "\t", "|")
_HEADER_BYTES = MIB
_LISTED = 5
"""The most missing columns that a message names."""


def _countable(table: pa.Table, policy: Policy) -> pa.Table:
    """Return a table whose insensitive columns can be counted: DuckDB knows no numbers of 16 bits."""
    for place, kind in enumerate(table.schema):
        spec = policy.columns.get(kind.name)
        if pa.types.is_float16(kind.type) and spec is not None and spec.role == "insensitive":
            table = table.set_column(place, kind.name, table.column(place).cast(pa.float32()))
    return table


def open_release(release: str | Path | Any, policy: Policy) -> Release:
    """Open a release and check that its columns can be audited against the policy, or raise DataError."""
    if isinstance(release, pa.Table):
        release = _countable(release, policy)
        opened = Release("release", tuple(release.column_names), tuple(release.schema.types), table=release)
    elif isinstance(release, Elsewhere):
        needed = (*policy.quasi, *read_by_promises(policy))
        opened = Release(
            release.where,
            release.names,
            release.types,
            count=release.count,
            proven=needed,
            added=release.digest,
            single=release.single,
            rare=release.rare,
        )
    elif isinstance(release, str | Path):
        opened = open_file(Path(release), policy)
    else:
        raise DataError(f"a release must be a path or an Arrow table; got {type(release).__name__}.")
    problems = unreadable_columns(opened.names, policy)
    if problems:
        opened.close()
        raise DataError(problems)
    return opened


def read_by_promises(policy: Policy) -> list[str]:
    """Return the columns besides quasi-identifiers that promises use."""
    used = {column for spec in policy.require if (column := getattr(spec, "column", None)) is not None}
    subjects = policy.named("subject") if policy.counts_subjects else []
    return [*(name for name in policy.sensitive if name in used), *subjects]


def open_file(path: Path, policy: Policy) -> Release:
    """Open a file of a release with any columns, or raise DataError."""
    with readable(str(path)):
        return _open_file(path, policy)


def _open_file(path: Path, policy: Policy) -> Release:
    suffix = path.suffix.lower()
    if path.is_dir():
        hint = "for a release by Spark, add --engine spark."
        raise DataError(Problem(str(path), "is a folder, not a file.", hint))
    if suffix not in (*TEXT_SUFFIXES, *ARROW_SUFFIXES, ".parquet"):
        allowed = ", ".join((*TEXT_SUFFIXES, ".parquet", *ARROW_SUFFIXES))
        if path.exists():
            raise DataError(Problem(str(path), f"is not a kind of file that the audit reads. Allowed: {allowed}."))
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise DataError(Problem(str(path), "is not a regular file.", "copy the release into a file."))
    if facts.st_size == 0:
        raise DataError(Problem(str(path), "is empty."))
    if "\\" in str(path.absolute()) and set("*?[") & set(str(path.absolute())):
        what = "has a backslash and one of * ? [ in its path; DuckDB would read other files."
        raise DataError(Problem(str(path), what, "rename the file, or its folder."))
    text = suffix in TEXT_SUFFIXES
    look = SecondLook(path, text)
    try:
        return _opened(path, policy, look, text)
    except BaseException:
        look.close()
        raise


def _opened(path: Path, policy: Policy, look: SecondLook, text: bool) -> Release:
    if text:
        delimiter, names = _header(path, policy)
        look.count_records(Layout(len(names), delimiter))
        kinds, formulas = (pa.string(),) * len(names), policy.release.formulas
        return Release(str(path), names, kinds, path, delimiter, look=look, formulas=formulas)
    if path.suffix.lower() == ".parquet":
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
        look.look_for_payload(partial(check_parquet, path))
        return Release(str(path), tuple(schema.names), tuple(schema.types), path, look=look, said_rows=rows)
    table = _ipc_table(path)
    look.look_for_payload(lambda _: check_arrow(path, table))
    return Release(str(path), tuple(table.column_names), tuple(table.schema.types), path, table=table, look=look)


def _header(path: Path, policy: Policy) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the column names.

    The delimiter is the one under which the header names the most columns of the policy: the source's own, where
    the policy gives one, may not be the release's. Where several do as well, the file's ending decides.
    """
    with path.open("rb") as file:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(_HEADER_BYTES))
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    candidates = dict.fromkeys([usual, policy.source.delimiter or usual, *DELIMITERS])
    headers = {delimiter: names for delimiter in candidates if (names := _first_record(start, delimiter))}
    if not headers:
        raise DataError(Problem(str(path), "has no header: the first line must name the columns."))
    known = set(policy.columns)
    hits = {delimiter: len(known.intersection(names)) for delimiter, names in headers.items()}
    chosen = max(headers, key=lambda delimiter: (hits[delimiter], len(headers[delimiter])))
    return chosen, headers[chosen]


def _first_record(text: str, delimiter: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), ()))
    except (csv.Error, TypeError, ValueError):
        return ()


def _ipc_table(path: Path) -> Any:
    """Read an Arrow file, in the file format or the streaming one."""
    source = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        reader = pa.ipc.open_stream(source)
    table = reader.read_all()
    table.validate(full=True)  # damaged offsets would otherwise be read outside their buffers
    return table


def unreadable_columns(names: Sequence[str], policy: Policy) -> list[Problem]:
    """List the columns that are there twice, or that a promise needs and that are not there.

    Where most are not there, the policy is likely that of another table: that is said first, and few are named.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    # In a file without a header its first row stands here, and those are cells: a name is shown only if the policy
    # has it too, or for a hint, if the policy has another one of them.
    problems = [Problem(name, "is the name of more than one column.") for name in twice if name in policy.columns]
    unknown = len(twice) - len(problems)
    if unknown:
        problems.append(Problem("header", f"column names that occur more than once: {unknown}."))
    needed = [*policy.quasi, *policy.sensitive, *(policy.named("subject") if policy.counts_subjects else ())]
    hints = names if any(name in policy.columns for name in names) else ()
    absent = [name for name in needed if name not in names]
    there = len(needed) - len(absent)
    if len(absent) > max(there, 3):
        what = (
            f"seems to belong to another table: {there} of the {len(needed)} columns that it names are in the release."
        )
        problems.insert(0, Problem("policy", what, "audit with the policy of this release."))
    problems += [
        Problem(name, "is not a column of the release.", did_you_mean(name, hints)) for name in absent[:_LISTED]
    ]
    if len(absent) > _LISTED:
        problems.append(Problem("policy", f"{len(absent) - _LISTED} more of its columns are not in the release."))
    return problems
