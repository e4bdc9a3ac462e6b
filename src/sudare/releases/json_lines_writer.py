"""Writer of rows as objects of JSON, each with all columns in their order: releases in JSON lines, and conversions.

Ranges and sets are text as in other formats, item sets are lists, and missing cells are null. Numbers and truth values
are those of JSON; not-a-number is missing. Dates and times are text, since JSON has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import Problem, TargetError
from sudare.table import kind_name

_BLOCK = 1 << 14


def write_json_lines(schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write batches, a line for each row."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(row + "\n" for row in json_objects(schema, batches))


def json_objects(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Yield each row as an object of JSON, without a line end."""
    keys = [json.dumps(name, ensure_ascii=False) for name in schema.names]
    for batch in batches:
        for start in range(0, batch.num_rows, _BLOCK):
            part = batch.slice(start, _BLOCK)
            columns = [
                _literals(name, part.column(place), schema.field(place).type) for place, name in enumerate(schema.names)
            ]
            for row in zip(*columns, strict=True):
                yield "{" + ",".join(f"{key}:{cell}" for key, cell in zip(keys, row, strict=True)) + "}"


def _literals(name: str, cells: pa.Array, kind: pa.DataType) -> list[str]:
    """Return cells as JSON writes them."""
    if pa.types.is_nested(kind):
        return [_text(value) for value in cells.to_pylist()] if _holds_texts(kind) else _lists(name, cells)
    if pa.types.is_dictionary(cells.type):
        words = _literals(name, cells.dictionary, cells.dictionary.type)
        return ["null" if index is None else words[index] for index in cells.indices.to_pylist()]
    if pa.types.is_floating(kind):
        endless = pc.sum(pc.is_inf(cells.cast(pa.float64()))).as_py()
        if endless:
            what = f"cells are infinite, which JSON cannot show: {endless}."
            raise TargetError(Problem(f"column '{name}'", what, "write Parquet or CSV."))
        return ["null" if value is None or value != value else repr(value) for value in cells.to_pylist()]
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return [_number(value) for value in cells.to_pylist()]
    if pa.types.is_null(kind):
        return ["null"] * len(cells)
    try:
        texts = cells if pa.types.is_string(kind) or pa.types.is_large_string(kind) else cells.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        what = f"holds {kind_name(kind)}, which JSON cannot show."
        raise TargetError(Problem(f"column '{name}'", what, "write the release as Parquet.")) from None
    return [_text(text) for text in texts.to_pylist()]


def _holds_texts(kind: pa.DataType) -> bool:
    inner = kind.value_type if hasattr(kind, "value_type") else None
    return inner is not None and (pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _lists(name: str, cells: pa.Array) -> list[str]:
    """Return lists of other values than texts."""
    if not pa.types.is_list(cells.type) and not pa.types.is_large_list(cells.type):
        what = f"holds {kind_name(cells.type)}, which a release in JSON lines cannot show."
        raise TargetError(Problem(f"column '{name}'", what, "write the release as Parquet."))
    items = _literals(name, cells.flatten(), cells.type.value_type)
    found, at = list[str](), 0
    for length in pc.list_value_length(cells).to_pylist():
        found.append("null" if length is None else f"[{','.join(items[at : at + length])}]")
        at += length or 0
    return found


def _number(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
