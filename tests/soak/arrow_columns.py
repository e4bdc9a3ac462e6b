"""A column of each type that Arrow has, with plain values and with hostile ones, and what its cells mean exactly.

What a cell means is found from the bytes of the column, and read back from released text, by code of its own here:
Python's types would cut off nanoseconds, and floats digits.
"""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

ROWS = 24
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86_400 * 10**9
_BEFORE = datetime.date(1970, 1, 1).toordinal()


def _cycle(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
    """Return the values again and again, so that there are classes to be found."""
    return pa.array([values[row % len(values)] for row in range(ROWS)], kind)


def _stored(numbers: list[int | None], kind: pa.DataType) -> pa.Array:
    """Return dates or times from the numbers that they are stored as."""
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    return _cycle(numbers, whole).view(kind)


def _bytes_as_text(values: list[bytes], kind: pa.DataType) -> pa.Array:
    """Return text that is none: nobody checks the bytes of a column of text."""
    binary = pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
    return (
        _cycle(values, binary).view(kind)
        if not pa.types.is_string_view(kind)
        else _cycle(values, pa.binary_view()).view(kind)
    )


def _coded(values: pa.Array, index: pa.DataType | None = None, *, ordered: bool = False) -> pa.Array:
    """Return all values of a dictionary in turn, a null sometimes, and one entry that no row has."""
    places = [None if row == 7 else row % max(len(values) - 1, 1) for row in range(ROWS)]
    return pa.DictionaryArray.from_arrays(pa.array(places, index or pa.int8()), values, ordered=ordered)


def _run_ends() -> pa.Array:
    ends = pa.array(range(2, ROWS + 1, 2), pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, pa.array([n % 4 for n in range(len(ends))], pa.int64()))


def _extension(kind: pa.ExtensionType, values: list[Any]) -> pa.Array:
    return pa.ExtensionArray.from_storage(kind, _cycle(values, kind.storage_type))


D, T = datetime.date, datetime.datetime
BITS = (8, 16, 32, 64)
COLUMNS: dict[str, Callable[[], pa.Array]] = {
    **{
        f"int{bits}": lambda bits=bits: _cycle(
            [1, 2, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, None, 0], getattr(pa, f"int{bits}")()
        )
        for bits in BITS
    },
    **{
        f"uint{bits}": lambda bits=bits: _cycle([1, 2, 2**bits - 1, 2**bits - 2, 0, None], getattr(pa, f"uint{bits}")())
        for bits in BITS
    },
    "int64 above 2^53": lambda: _cycle([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1], pa.int64()),
    "uint64 above 2^63": lambda: _cycle([2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2, 5], pa.uint64()),
    "half": lambda: _cycle([0.5, 1.5, -2.0, None, 0.0]).cast(pa.float16()),
    "single": lambda: _cycle([0.1, 1.5, -2.0, None, 3.4e38], pa.float32()),
    "double": lambda: _cycle([0.1, 1 / 3, -2.5e-310, None, 1.7976931348623157e308], pa.float64()),
    "double with whole numbers above 2^53": lambda: _cycle([float(2**53), float(2**53 + 2), 1e300, 5.0]),
    "double with not-a-number and minus zero": lambda: _cycle([math.nan, -0.0, 0.0, 1.0, None]),
    "double with infinity": lambda: _cycle([math.inf, -math.inf, 1.0]),
    "single with infinity": lambda: _cycle([math.inf, 2.0, 1.0], pa.float32()),
    "decimal32": lambda: _cycle([Decimal("1.25"), Decimal("-7.00"), None], pa.decimal32(7, 2)),
    "decimal64": lambda: _cycle([Decimal("1.25"), Decimal("-7.00"), None], pa.decimal64(15, 2)),
    "decimal128": lambda: _cycle(
        [Decimal("1.25"), Decimal("12345678901234567890.07"), Decimal("12345678901234567890.08"), None],
        pa.decimal128(38, 2),
    ),
    "decimal128 with a negative scale": lambda: _cycle([Decimal("1E2"), Decimal("7E2"), None], pa.decimal128(5, -2)),
    "decimal256": lambda: _cycle([Decimal(10) ** 60 + 1, Decimal(10) ** 60 + 2, Decimal(3)], pa.decimal256(76, 2)),
    "decimal256 of few digits": lambda: _cycle([Decimal("1.25"), Decimal("-7.00"), None], pa.decimal256(50, 2)),
    "decimal256 with a negative scale": lambda: _cycle([Decimal("1E3"), Decimal("7E3")], pa.decimal256(40, -3)),
    "bool": lambda: _cycle([True, False, None], pa.bool_()),
    "string": lambda: _cycle(["a", "b,c", 'd"e', "", None, "ß\u0301"], pa.string()),
    "large_string": lambda: _cycle(["a", "b\\n", "\\", "'", None], pa.large_string()),
    "string_view": lambda: _cycle(["a", "a text that is longer than twelve bytes", None], pa.string_view()),
    "string that looks like numbers": lambda: _cycle(["9007199254740993", "9007199254740992", "1"], pa.string()),
    "string with invalid UTF-8": lambda: _bytes_as_text([b"ok", b"\xff\xfe", b"a\xc3"], pa.string()),
    "large_string with invalid UTF-8": lambda: _bytes_as_text([b"ok", b"\xff\xfe", b"a\xc3"], pa.large_string()),
    "string_view with invalid UTF-8": lambda: _bytes_as_text([b"ok", b"\xff\xfe", b"a\xc3"], pa.string_view()),
    "string with a zero byte": lambda: _cycle(["a\0b", "a", "b"], pa.string()),
    "binary": lambda: _cycle([b"a", b"\xff\x00", None, b""], pa.binary()),
    "large_binary": lambda: _cycle([b"a", b"\xff\x00", None], pa.large_binary()),
    "fixed_size_binary": lambda: _cycle([b"abc", b"\xff\x00\x01", None], pa.binary(3)),
    "binary_view": lambda: _cycle([b"a", b"\xff" * 20, None], pa.binary_view()),
    "date32": lambda: _cycle([D(2020, 1, 2), D(1900, 12, 31), D(1, 1, 1), D(9999, 12, 31), None], pa.date32()),
    "date64": lambda: _cycle([D(2020, 1, 2), D(1900, 12, 31), None], pa.date64()),
    "date32 in the years -5000 and 200000": lambda: _stored([-2_545_892, 0, 72_330_000, 1], pa.date32()),
    "date64 in the years -5000 and 200000": lambda: _stored(
        [-2_545_892 * 86_400_000, 0, 72_330_000 * 86_400_000], pa.date64()
    ),
    **{
        f"timestamp {unit}": lambda unit=unit: _stored(
            [0, 1, UNITS["s"] // UNITS[unit] * 86_400 * 365, -1, None], pa.timestamp(unit)
        )
        for unit in UNITS
    },
    **{
        f"timestamp {unit} with a zone": lambda unit=unit: _stored(
            [0, 1, UNITS["s"] // UNITS[unit] * 86_400 * 365, -1, None], pa.timestamp(unit, "Europe/Vienna")
        )
        for unit in UNITS
    },
    **{
        f"timestamp {unit} far out": lambda unit=unit: _stored([-(2**63) + 1, 0, 2**63 - 1], pa.timestamp(unit))
        for unit in UNITS
    },
    "timestamp ns to its ends": lambda: _stored([-(2**63) + 2, 0, 2**63 - 2], pa.timestamp("ns")),
    "timestamp us with a zone far out": lambda: _stored([-(2**63) + 1, 0, 2**63 - 1], pa.timestamp("us", "UTC")),
    "timestamp with an unknown zone": lambda: _stored([0, 1, 2], pa.timestamp("s", "Mars/Olympus")),
    "time32 s": lambda: _stored([0, 1, 86_399, None], pa.time32("s")),
    "time32 ms": lambda: _stored([0, 1, 86_399_999, None], pa.time32("ms")),
    "time64 us": lambda: _stored([0, 1, 86_399_999_999, None], pa.time64("us")),
    "time64 ns": lambda: _stored([0, 1, 86_399_999_999_999, None], pa.time64("ns")),
    "time64 beyond the day": lambda: _stored([0, -1, 90_000_000_000], pa.time64("us")),
    **{
        f"duration {unit}": lambda unit=unit: _stored([0, 1, 123_456_789, -1, None], pa.duration(unit))
        for unit in UNITS
    },
    "duration ns of whole microseconds": lambda: _stored([0, 1_000, 123_456_789_000, -1_000, None], pa.duration("ns")),
    "time64 ns of whole microseconds": lambda: _stored([0, 1_000, 86_399_999_999_000, None], pa.time64("ns")),
    "duration far out": lambda: _stored([-(2**63) + 1, 0, 2**63 - 1], pa.duration("s")),
    "interval": lambda: _cycle(
        [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 0, 1]), None], pa.month_day_nano_interval()
    ),
    "dictionary of texts": lambda: _coded(pa.array(["a", "b", "c", "never shown"])),
    "dictionary of texts, ordered": lambda: _coded(pa.array(["low", "high", "never shown"]), ordered=True),
    "dictionary of texts with a null among them": lambda: _coded(pa.array(["a", None, "c", "never shown"]), pa.int64()),
    "dictionary of texts twice the same": lambda: _coded(pa.array(["a", "b", "a", "c", "never shown"]), pa.uint16()),
    "dictionary of dates": lambda: _coded(pa.array([D(2020, 1, 1), D(2021, 5, 5), D(1, 1, 1)])),
    "dictionary of whole numbers": lambda: _coded(pa.array([2**53 + 1, 2**53, 7, 9])),
    "dictionary of invalid UTF-8": lambda: _coded(_bytes_as_text([b"a", b"\xff", b"b", b"c"], pa.string()).slice(0, 4)),
    "list": lambda: _cycle([["a", "b"], ["b"], [], None, ["a", None]], pa.list_(pa.string())),
    "list of whole numbers": lambda: _cycle([[1, 2**53 + 1], [2], []], pa.list_(pa.int64())),
    "list of lists": lambda: _cycle([[["a"], []], [["b"]]], pa.list_(pa.list_(pa.string()))),
    "list of dates far out": lambda: pa.ListArray.from_arrays(
        pa.array(range(ROWS + 1), pa.int32()), _stored([0, 72_330_000], pa.date32())
    ),
    "list of invalid UTF-8": lambda: pa.ListArray.from_arrays(
        pa.array(range(ROWS + 1), pa.int32()), _bytes_as_text([b"a", b"\xff"], pa.string())
    ),
    "large_list": lambda: _cycle([["a", "b"], ["b"], None], pa.large_list(pa.string())),
    "fixed_size_list": lambda: _cycle([["a", "b"], ["b", "c"], None], pa.list_(pa.string(), 2)),
    "list_view": lambda: _cycle([["a", "b"], ["b"], None], pa.list_view(pa.string())),
    "map": lambda: _cycle([[("a", 1)], [("b", 2), ("c", None)], None], pa.map_(pa.string(), pa.int64())),
    "struct": lambda: _cycle(
        [{"a": 1, "b": "x"}, {"a": 2**53 + 1, "b": None}, None], pa.struct({"a": pa.int64(), "b": pa.string()})
    ),
    "struct of nanoseconds": lambda: pa.StructArray.from_arrays(
        [_stored([0, 1, None], pa.timestamp("ns")), _stored([1, 0, None], pa.duration("ns"))], names=["t", "d"]
    ),
    "struct of dates far out": lambda: pa.StructArray.from_arrays([_stored([0, 72_330_000], pa.date32())], names=["d"]),
    "null": lambda: pa.nulls(ROWS),
    "run-end encoded": _run_ends,
    "uuid": lambda: _extension(pa.uuid(), [uuid.UUID(int=n).bytes for n in (0, 1, 2**127)]),
    "json": lambda: _extension(pa.json_(pa.utf8()), ['{"a": 1}', "[]", "null", None]),
    "bool8": lambda: _extension(pa.bool8(), [1, 0, None, 2]),
}


def meaning(cells: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return what the cells of a column mean, so that equal cells are equal and no digit is lost."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks() if cells.num_chunks != 1 else cells.chunk(0)
    kind = cells.type
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.bool8":  # any other number than 0 is true
            return [None if cell is None else cell != 0 for cell in meaning(cells.storage)]
        if kind.extension_name == "arrow.uuid":
            return [None if cell is None else str(uuid.UUID(bytes=cell)) for cell in cells.storage.to_pylist()]
        return meaning(cells.storage)
    if pa.types.is_dictionary(kind):
        values = meaning(cells.dictionary)
        return [None if place is None else values[place] for place in cells.indices.to_pylist()]
    if pa.types.is_run_end_encoded(kind):
        return meaning(pc.run_end_decode(cells))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        binary = {pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}.get(kind, pa.binary())
        return [
            None if cell is None else cell.decode(errors="surrogateescape") for cell in cells.view(binary).to_pylist()
        ]
    if pa.types.is_struct(kind):
        inner = [meaning(part) for part in cells.flatten()]
        return [None if lost else parts for lost, *parts in zip(cells.is_null().to_pylist(), *inner, strict=True)]
    if pa.types.is_nested(kind):
        inner = pa.struct([("key", kind.key_type), ("value", kind.item_type)]) if pa.types.is_map(kind) else None
        return [
            None if not cell.is_valid else meaning(cell.values if inner is None else pa.array(cell.values))
            for cell in cells
        ]
    if pa.types.is_floating(kind):
        return ["nan" if cell is not None and cell != cell else cell for cell in cells.to_pylist()]
    if pa.types.is_date(kind):
        each = _DAY if pa.types.is_date32(kind) else UNITS["ms"]
        return _times(cells, each)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _times(cells, UNITS[kind.unit])
    return cells.to_pylist()


def _times(cells: pa.Array, each: int) -> list[int | None]:
    whole = cells.view(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    return [None if cell is None else cell * each for cell in whole.to_pylist()]


_STAMP = re.compile(
    r"^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$"
)
_CLOCK = re.compile(r"^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$")


def read_text(text: str, kind: pa.DataType) -> Any:
    """Return what a text means in a column of a type; raise ValueError if it means nothing."""
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return text
        return read_text(text, pa.bool_() if kind.extension_name == "arrow.bool8" else kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return read_text(text, kind.value_type)
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[text]
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        number = pa.scalar(float(text), pa.float64()).cast(kind, safe=False).as_py()
        return "nan" if number != number else number
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _read_stamp(text)
    if pa.types.is_time(kind):
        found = _CLOCK.match(text)
        if found is None:
            raise ValueError("no time")
        hour, minute, second = (int(part or 0) for part in found.groups()[:3])
        return ((hour * 60 + minute) * 60 + second) * 10**9 + int((found[4] or "").ljust(9, "0"))
    if pa.types.is_duration(kind):
        return int(text) * UNITS[kind.unit] if text.lstrip("-").isdigit() else _read_duration(text)
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    ):
        return re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
    return text


_SPAN = re.compile(r"^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")


def _read_duration(text: str) -> int | Fraction:
    """Read a duration: cells of quasi-identifiers tell seconds, carried ones hours, minutes and seconds."""
    found = _SPAN.match(text)
    if found is not None:
        hours, minutes, seconds = (int(part) for part in found.groups()[1:4])
        whole = ((hours * 60 + minutes) * 60 + seconds) * 10**9 + int((found[5] or "").ljust(9, "0"))
        return -whole if found[1] else whole
    if not (text.startswith("PT") and text.endswith("S")):
        raise ValueError("no duration")
    number = Fraction(Decimal(text[2:-1])) * 10**9
    return int(number) if number.denominator == 1 else number


def _read_stamp(text: str) -> int:
    found = _STAMP.match(text)
    if found is None:
        raise ValueError("no date")
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    days = datetime.date(year, month, day).toordinal() - _BEFORE
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    zone = found[8]
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        seconds -= int(zone[0] + "1") * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
    return seconds * 10**9 + int((found[7] or "").ljust(9, "0"))
