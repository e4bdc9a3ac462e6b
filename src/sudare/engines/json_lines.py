"""JSON lines: a file with one object a line, whose keys name the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem
from sudare.core.shown_places import SHOWN, first_places
from sudare.core.sizes import EXACT, FEW_ROWS, MIB
from sudare.engines.batches import open_table
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile

_BLOCK = 16 * MIB  # an object, or line, may be as long
_DEEPEST = 1000  # brackets of one line; readers call themselves for each, and crash where there are too many
_OBJECT = 'write one object in each line, as {"age": 39, "sex": "F"}.'
_KINDS = {bool: "truth values", int: "numbers", float: "numbers", str: "text", list: "lists", dict: "objects"}


def open_json_lines(path: Path) -> OpenedFile:
    """Open a file of JSON lines. An object without a key, and one with ``null`` for it, have a missing cell.

    Text stays text, also where it looks like a time.
    """
    from pyarrow import json as arrow_json

    _check_lines(path)
    options = arrow_json.ReadOptions(block_size=_BLOCK)
    try:
        table = arrow_json.read_json(path, read_options=options)
        timed = [field for field in table.schema if pa.types.is_timestamp(_inner(field.type))]
        if timed:
            kinds = [pa.field(each.name, _as_text(each.type)) for each in timed]
            parse = arrow_json.ParseOptions(explicit_schema=pa.schema(kinds))
            table = arrow_json.read_json(path, read_options=options, parse_options=parse).select(table.column_names)
    except pa.ArrowInvalid as error:
        raise _explained(path, str(error)) from None
    if table.num_rows == 0 or not table.column_names:
        raise no_records(path)

    def read(columns: Sequence[str]) -> pa.Table:
        chosen = table.select(list(columns))
        problems = [problem for each in chosen.schema for problem in _wrong(each.name, chosen[each.name])]
        if problems:
            raise DataError(problems)
        return chosen

    return OpenedFile(table.column_names, read, lambda columns, _: open_table(read(columns)))


def _wrong(name: str, cells: pa.ChunkedArray) -> Iterator[Problem]:
    """Yield what is wrong with a column."""
    kind = _inner(cells.type)
    if pa.types.is_struct(kind):
        hint = "write each of their keys as a column of its own."
        yield Problem(f"column '{name}'", "holds objects, which are no single values.", hint)
    elif pa.types.is_floating(cells.type):
        largest = pc.max(pc.abs(cells)).as_py()
        if largest is not None and largest >= EXACT:  # whole numbers of that size have lost digits
            yield Problem(f"column '{name}'", "holds numbers of more than 15 digits.", "write them as text.")


def _inner(kind: pa.DataType) -> pa.DataType:
    return _inner(kind.value_type) if pa.types.is_list(kind) else kind


def _as_text(kind: pa.DataType) -> pa.DataType:
    return pa.list_(_as_text(kind.value_type)) if pa.types.is_list(kind) else pa.string()


def _lines(path: Path) -> Iterator[bytes]:
    with pa.input_stream(str(path)) as stream:
        rest = b""
        while piece := stream.read(MIB):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
        yield rest


def _check_lines(path: Path) -> None:
    """Raise if a line is not UTF-8, or has so many brackets that a reader could crash.

    The library passes on text without looking at its letters, and names of columns, too.
    """
    for number, line in enumerate(_lines(path), 1):
        if not line.isascii() and not _is_utf8(line):
            what = f"is not UTF-8 (line {number:,}), and JSON lines have no other encoding."
            raise DataError(Problem(path.name, what, "save it as UTF-8."))
        if len(line) > FEW_ROWS and line.count(b"[") + line.count(b"{") > _DEEPEST and _depth(line) > _DEEPEST:
            raise DataError(Problem(path.name, f"has lists inside lists in line {number}, too deep to read.", _OBJECT))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _depth(line: bytes) -> int:
    deepest = depth = 0
    for mark in line:
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
    return deepest


def _explained(path: Path, words: str) -> DataError:
    """Return what is wrong with a file that a library cannot read: its words may quote cells, so it is read again."""
    if "straddling object" in words:
        return DataError(Problem(path.name, f"has a line of more than {_BLOCK // MIB} MiB.", _OBJECT))
    if "Empty JSON" in words:
        return no_records(path)
    lines: list[int] = []
    kinds: dict[str, dict[str, int]] = {}
    twice: set[str] = set()
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            pairs = json.loads(line, object_pairs_hook=list)
        except (ValueError, RecursionError):
            lines.append(number)
            continue
        if not line.lstrip().startswith(b"{"):
            lines.append(number)
            continue
        twice |= {name for place, (name, _) in enumerate(pairs) if name in {other for other, _ in pairs[:place]}}
        for name, value in pairs:
            if value is not None:
                kinds.setdefault(name, {}).setdefault(_kind(value), number)
    problems = []
    if lines:
        noun = "is" if len(lines) == 1 else "are"
        where = first_places(lines[: SHOWN + 1], "line")
        problems.append(Problem(path.name, f"{where} {noun} not an object of JSON.", _OBJECT))
    problems += [
        Problem(path.name, f"an object has the key '{name}' twice.", "write each key once.") for name in sorted(twice)
    ]
    for name, found in kinds.items():
        if len(found) > 1:
            what = " and ".join(f"{kind} (first in line {number})" for kind, number in found.items())
            problems.append(Problem(f"column '{name}'", f"mixes {what}.", "write all of its values as one type."))
    return DataError(problems or [Problem(path.name, "cannot be read as JSON lines.", _OBJECT)])


def _kind(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        return _KINDS[dict]
    return _KINDS[type(value)]
