"""Opening of a release (text, Parquet, Arrow, JSON lines or Excel file, or an Arrow table), with clear errors.

No message quotes a cell: errors of the libraries, which quote lines, are replaced by our own.
"""

from __future__ import annotations

import codecs
import csv
import io
import stat
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from sudare.audits.auditor_input import AuditorInput
from sudare.audits.canonical_text import Layout as Columns
from sudare.audits.decimal_commas import number_columns
from sudare.audits.excel_sheets import excel_table
from sudare.audits.file_checks import SecondLook
from sudare.audits.json_lines import json_lines_table
from sudare.audits.parquet_bytes import check_parquet
from sudare.audits.payload import check_arrow
from sudare.audits.plain_copies import COMPRESSED, plain_copy
from sudare.audits.release_columns import Elsewhere, Release, readable
from sudare.core.errors import DataError, Problem, did_you_mean
from sudare.core.operating_system import backslash_is_letter
from sudare.core.sizes import MIB
from sudare.policy import Policy, TextLayout

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", *ARROW_SUFFIXES, ".jsonl", ".xlsx")
_MARK = b"\xef\xbb\xbf"
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


@dataclass(frozen=True)
class Opener:
    """What is known of a text file before it is opened: its layout, if somebody states one, and where copies go.

    ``whole`` says that the layout names the columns of numbers, too.
    """

    layout: TextLayout | None = None
    whole: bool = False
    scratch: Path | None = None

    @classmethod
    def of(
        cls, path: Path, policy: Policy, told: AuditorInput, layout: TextLayout | None, scratch: Path | None
    ) -> Opener:
        """Return what the certificate of a file says; where there is none, what the policy asks for."""
        if layout is not None:
            return cls(layout, True, scratch)
        if told.certificate is not None and told.certificate.get("layout") is not None:
            found = TextLayout.from_dict(told.certificate["layout"])
            if found is not None:
                return cls(found, True, scratch)
        asked = told.certificate is None and bool(policy.release.layout_keys)
        return cls(policy.release.layout(tabs=_suffix(path) == ".tsv") if asked else None, False, scratch)


def open_release(release: str | Path | Any, policy: Policy, opener: Opener | None = None) -> Release:
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
        opened = open_file(Path(release), policy, opener)
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


def open_file(path: Path, policy: Policy, opener: Opener | None = None) -> Release:
    """Open a file of a release with any columns, or raise DataError."""
    with readable(str(path)):
        return _open_file(path, policy, opener or Opener())


def asked_layout(release: Release, policy: Policy) -> TextLayout | None:
    """Return how a policy has a text file of this name laid out; None if the release is no text."""
    if release.path is None or release.delimiter is None:
        return None
    return policy.release.layout(tabs=_suffix(release.path) == ".tsv")


def _suffix(path: Path) -> str:
    """Return the ending of a name that says the format, without that of compression."""
    first = Path(path.stem) if path.suffix.lower() in COMPRESSED else path
    return first.suffix.lower()


def _open_file(path: Path, policy: Policy, opener: Opener) -> Release:
    suffix, packed = _suffix(path), path.suffix.lower() in COMPRESSED
    if path.is_dir():
        hint = "for a release by Spark, add --engine spark."
        raise DataError(Problem(str(path), "is a folder, not a file.", hint))
    if suffix not in SUFFIXES or (packed and suffix not in TEXT_SUFFIXES):
        allowed = f"{', '.join(SUFFIXES)}; and text with {' or '.join(COMPRESSED)} behind it"
        if path.exists():
            raise DataError(Problem(str(path), f"is not a kind of file that the audit reads. Allowed: {allowed}."))
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise DataError(Problem(str(path), "is not a regular file.", "copy the release into a file."))
    if facts.st_size == 0:
        raise DataError(Problem(str(path), "is empty."))
    if backslash_is_letter() and "\\" in str(path.absolute()) and set("*?[") & set(str(path.absolute())):
        what = "has a backslash and one of * ? [ in its path; DuckDB would read other files."
        raise DataError(Problem(str(path), what, "rename the file, or its folder."))
    encoding = "utf-8" if opener.layout is None else opener.layout.encoding
    text = suffix in TEXT_SUFFIXES
    plain = text and not packed and encoding == "utf-8"
    look = SecondLook(path, plain)
    try:
        if text:
            return _opened_text(path, policy, opener, look, copied=not plain)
        return _opened(path, look, suffix)
    except BaseException:
        look.close()
        raise


def _opened_text(path: Path, policy: Policy, opener: Opener, look: SecondLook, *, copied: bool) -> Release:
    """Open a text file, and make sure that it is laid out as somebody states."""
    layout, plain = opener.layout, None
    packed = path.suffix.lower() if path.suffix.lower() in COMPRESSED else None
    with ExitStack() as undo:
        if copied:
            encoding = "utf-8" if layout is None else layout.encoding
            plain = undo.enter_context(plain_copy(path, packed, encoding, opener.scratch))
            undo.callback(look.close)  # before the copy is removed, which it may be reading
        file = plain or path
        if not file.stat().st_size:
            raise DataError(Problem(str(path), "is empty."))
        delimiter, names = _header(file, policy, "\t" if _suffix(path) == ".tsv" else ",")
        if layout is not None:
            _check_layout(path, file, layout, delimiter, names)
        look.count_records(Columns(len(names), delimiter), plain)
        opened = Release(
            str(path),
            names,
            (pa.string(),) * len(names),
            path,
            delimiter,
            look=look,
            formulas=policy.release.formulas,
            plain=plain,
        )
        if layout is not None and layout.decimal == ",":
            with duckdb.connect() as connection:
                told = layout.numbers if opener.whole else None
                there = None if told is None else [name for name in told if name in names]
                found = number_columns(connection, opened.written_source(delimiter), names, there, str(path))
            opened = replace(opened, layout=replace(layout, numbers=found))
        return replace(opened, undo=undo.pop_all().close)


def _check_layout(path: Path, file: Path, layout: TextLayout, delimiter: str, names: Sequence[str]) -> None:
    """Raise if a file has another delimiter, or a byte order mark that it should not have, or has not."""
    problems = []
    if len(names) > 1 and delimiter != layout.delimiter:
        problems.append(Problem(str(path), f"has another delimiter than it should have: {delimiter!r}."))
    with file.open("rb") as start:
        if (start.read(len(_MARK)) == _MARK) != layout.bom:
            problems.append(Problem(str(path), f"{'lacks' if layout.bom else 'has'} a byte order mark."))
    if problems:
        raise DataError(problems)


def _opened(path: Path, look: SecondLook, suffix: str) -> Release:
    if suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
        look.look_for_payload(partial(check_parquet, path))
        return Release(str(path), tuple(schema.names), tuple(schema.types), path, look=look, said_rows=rows)
    if suffix in (".jsonl", ".xlsx"):
        table = json_lines_table(path) if suffix == ".jsonl" else excel_table(path)
        return Release(str(path), tuple(table.column_names), tuple(table.schema.types), path, table=table, look=look)
    table = _ipc_table(path)
    look.look_for_payload(lambda _: check_arrow(path, table))
    return Release(str(path), tuple(table.column_names), tuple(table.schema.types), path, table=table, look=look)


def _header(path: Path, policy: Policy, usual: str) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the column names.

    The delimiter is the one under which the header names the most columns of the policy: the source's own, where
    the policy gives one, may not be the release's. Where several do as well, the file's ending decides.
    """
    with path.open("rb") as file:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(_HEADER_BYTES))
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
