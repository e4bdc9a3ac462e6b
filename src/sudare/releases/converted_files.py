"""A released table in another format: a file that is no release itself, because nothing proves it and it has no
certificate.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from sudare.core.errors import ParameterError, Problem, TargetError, did_you_mean
from sudare.core.operating_system import NEW_FILE
from sudare.core.sizes import FEW_ROWS
from sudare.releases.file_writers import write_batches
from sudare.releases.json_lines_writer import json_objects
from sudare.releases.placement import private_folder
from sudare.releases.release_formats import ENDINGS

FORMATS = tuple(dict.fromkeys([*(ending.removeprefix(".") for ending in ENDINGS), "json", "jsonl"]))
"""The formats, by their endings; ``jsonl`` has a row on each line, and ``json`` is one list of them."""
TEXTS = ("csv", "tsv", "json", "jsonl")
"""Those that can be printed."""


def check_format(form: str, where: str) -> None:
    """Raise if there is no such format."""
    if form not in FORMATS:
        what = f"'{form}' is not a format. Allowed: {', '.join(FORMATS)}."
        raise ParameterError(Problem(where, what, did_you_mean(form, FORMATS)))


def write_converted(table: pa.Table, form: str, target: Path) -> None:
    """Write a table to a new file; it is there only when it is complete."""
    with private_folder(target.parent) as folder:
        written = folder / f"converted.{form}"
        _write(table, form, written)
        try:
            os.close(os.open(target, NEW_FILE))  # so that the renaming replaces nobody else's file
            written.replace(target)
        except FileExistsError:
            raise TargetError(Problem(str(target), "exists already.", "choose another name, or remove it.")) from None
        except OSError as error:
            raise TargetError(Problem(str(target), f"cannot be written: {error.strerror}.")) from None


def converted_text(table: pa.Table, form: str) -> Iterator[str]:
    """Yield a table in a format of text, piece by piece."""
    if form in ("json", "jsonl"):
        yield from _json(table, form)
        return
    with private_folder() as folder:
        written = folder / f"converted.{form}"
        _write(table, form, written)
        with written.open(encoding="utf-8", newline="") as file:
            while piece := file.read(FEW_ROWS):
                yield piece


def _write(table: pa.Table, form: str, path: Path) -> None:
    if form in ("json", "jsonl"):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_json(table, form))
        return
    table = table.unify_dictionaries()
    plain = pa.schema(
        [pa.field(name, _plain(kind)) for name, kind in zip(table.schema.names, table.schema.types, strict=True)]
    )
    write_batches(plain, table.cast(plain).to_batches(max_chunksize=1 << 20), path)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _json(table: pa.Table, form: str) -> Iterator[str]:
    """Yield the objects of rows, as releases in JSON lines have them, each on a line or in one list."""
    begin, between, end = ("", "\n", "\n") if form == "jsonl" else ("[\n", ",\n", "\n]\n")
    yield begin
    first = True
    for row in json_objects(table.schema, table.to_batches(max_chunksize=FEW_ROWS)):
        yield row if first else between + row
        first = False
    yield "" if first and form == "jsonl" else end
