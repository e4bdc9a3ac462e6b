"""Cells that their type does not allow are told as they come in; odd types become plain ones, and lose nothing."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.engines.plain_types import plain_batch, plain_schema

ROWS = 12
FAR = pa.array([-2_545_892, 72_330_000] * 6, pa.int32()).view(pa.date32())
BAD_TEXT = pa.array([b"SECRET", b"\xff\xfe"] * 6, pa.binary()).view(pa.string())
UNSOUND = {
    "a date in the year 200000": (FAR, "before the year 1 or after 9999"),
    "a date in a list": (pa.ListArray.from_arrays(pa.array(range(13), pa.int32()), FAR), "before the year 1 or after"),
    "a date in a struct": (pa.StructArray.from_arrays([FAR], names=["d"]), "before the year 1 or after 9999"),
    "a date in a dictionary": (FAR.dictionary_encode(), "before the year 1 or after 9999"),
    "an infinite time": (pa.array([0, 2**63 - 1] * 6, pa.int64()).view(pa.timestamp("ns")), "infinite dates"),
    "seconds beyond all years": (pa.array([0, 2**62] * 6, pa.int64()).view(pa.timestamp("s")), "infinite dates"),
    "text that is none": (BAD_TEXT, "text that is not UTF-8"),
    "text that is none in a dictionary": (BAD_TEXT.dictionary_encode(), "text that is not UTF-8"),
    "a time after midnight": (pa.array([0, 2**40] * 6, pa.int64()).view(pa.time64("us")), "its type does not allow"),
    "nanoseconds": (pa.array([0, 1] * 6, pa.int64()).view(pa.duration("ns")), "finer than a microsecond"),
    "nanoseconds of a day": (pa.array([0, 1] * 6, pa.int64()).view(pa.time64("ns")), "finer than a microsecond"),
    "an endless duration": (pa.array([0, 2**62] * 6, pa.int64()).view(pa.duration("s")), "durations that are too long"),
    "an unknown zone": (pa.array([0, 1] * 6, pa.int64()).view(pa.timestamp("s", "Mars/Olympus")), "unknown time zone"),
    "too many digits": (pa.array([Decimal(10) ** 60] * 12, pa.decimal256(76, 0)), "more than 38 digits"),
}


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive", "subject"])
@pytest.mark.parametrize("what", UNSOUND)
def test_it_is_told_in_every_role_and_no_cell_with_it(what, role):
    cells, words = UNSOUND[what]
    table = pa.table({"age": [1, 2] * 6, "x": cells})
    policy = {
        "columns": {"age": {"role": "quasi"}, "x": {"role": role}}, "require": [{"model": "k-anonymity", "k": 2}],
    }  # fmt: skip
    with pytest.raises(DataError) as raised:
        sudare.anonymize(table, policy)
    assert words in str(raised.value)
    assert "column 'x'" in str(raised.value)
    assert "SECRET" not in str(raised.value)


def test_it_is_told_of_a_file(tmp_path):
    pq.write_table(pa.table({"age": [1, 2] * 6, "x": BAD_TEXT}), tmp_path / "people.parquet")
    policy = {"columns": {"age": {"role": "quasi"}, "x": {"role": "insensitive"}}, "require": []}
    policy["require"] = [{"model": "k-anonymity", "k": 2}]
    with pytest.raises(DataError, match="text that is not UTF-8"):
        sudare.anonymize(tmp_path / "people.parquet", policy, out=tmp_path / "release.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def plain(cells):
    batch = pa.record_batch([cells], names=["x"])
    found = plain_batch(batch)
    assert found.schema == plain_schema(batch.schema)
    return found.column(0)


def test_the_last_moment_of_the_calendar_is_in_it():
    last = datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)
    assert plain(pa.array([last, datetime.datetime(1, 1, 1)])).to_pylist() == [last, datetime.datetime(1, 1, 1)]


def test_identifiers_become_their_usual_text():
    values = [uuid.UUID(int=number) for number in (0, 1, 2**127 + 0xABCDEF)]
    stored = pa.array([values[0].bytes, None, *(value.bytes for value in values)], pa.binary(16))
    cells = pa.ExtensionArray.from_storage(pa.uuid(), stored)
    assert plain(cells).to_pylist() == [str(values[0]), None, *map(str, values)]
    assert plain(cells.slice(2, 2)).to_pylist() == [str(values[0]), str(values[1])]
    assert plain(cells.slice(0, 0)).to_pylist() == []


def test_other_extensions_become_what_they_are_stored_as():
    json = pa.ExtensionArray.from_storage(pa.json_(pa.utf8()), pa.array(['{"a": 1}', None]))
    assert plain(json).to_pylist() == ['{"a": 1}', None]
    truth = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, 2, None], pa.int8()))
    assert plain(truth).to_pylist() == [False, True, True, None]


def test_runs_are_written_out():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, None], pa.int64()))
    assert plain(runs).to_pylist() == [7, 7, None]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.decimal128(5, -2), pa.decimal128(7, 0)),
        (pa.decimal256(40, -3), pa.decimal128(38, 0)),
        (pa.decimal256(50, 2), pa.decimal128(38, 2)),
        (pa.decimal32(7, 2), pa.decimal128(7, 2)),
    ],
)
def test_decimals_keep_their_digits(kind, expected):
    values = [Decimal("7E3"), None, Decimal("-7E3")]
    cells = pa.array(values, kind)
    assert plain(cells).type == expected
    assert plain(cells).to_pylist() == values
