"""Encoding chunk by chunk gives what encoding at once gives, however the column is cut."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.table import Storage, encode_column, encode_distinct, encode_items
from sudare.table.encode import ColumnEncoder, ItemsEncoder

WHOLE = st.integers(-(2**63), 2**63 - 1)
CELLS = {
    pa.string(): st.sampled_from(["a", "b", " b", "1", "1.0", "+1", "nan", "2020-01-01", "", "NA", "é"]),
    pa.large_string(): st.text("01.-", max_size=3),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["a", "b", "c"]),
    pa.dictionary(pa.int32(), pa.int64()): st.integers(-5, 5),
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.uint8(): st.integers(0, 255),
    pa.int16(): st.one_of(st.integers(-300, 300), st.integers(-(2**15), 2**15 - 1)),
    pa.int64(): st.one_of(st.integers(-3, 3), st.integers(-70_000, 70_000), WHOLE),
    pa.uint64(): st.one_of(st.integers(0, 3), st.integers(2**64 - 9, 2**64 - 1)),
    pa.float32(): st.sampled_from([0.0, -0.0, 1.5, math.nan, -3.25]),
    pa.float64(): st.floats(allow_infinity=False),
    pa.decimal128(5, 2): st.sampled_from([Decimal("1.50"), Decimal("-2.25"), Decimal("0")]),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
    pa.time32("s"): st.sampled_from([datetime.time(1), datetime.time(23, 59, 59)]),
    pa.duration("ms"): st.sampled_from([datetime.timedelta(0), datetime.timedelta(days=-3)]),
    pa.null(): st.none(),
}


@st.composite
def columns(draw):
    """A column, and the same in chunks."""
    kind = draw(st.sampled_from(list(CELLS)))
    array = pa.array(draw(st.lists(st.one_of(st.none(), CELLS[kind]), min_size=1, max_size=40)), kind)
    return array, cut(draw, array)


def cut(draw, array):
    """Cut an array anywhere; some parts have a dictionary of their own."""
    cuts = sorted(draw(st.lists(st.integers(0, len(array)), max_size=6)))
    parts = [array[low:high] for low, high in zip([0, *cuts], [*cuts, len(array)], strict=True)]
    if pa.types.is_dictionary(array.type):
        parts = [pa.array(part.to_pylist(), array.type) if draw(st.booleans()) else part for part in parts]
    return parts


def tried(make):
    """What comes out, or what is said instead."""
    try:
        return make()
    except DataError as error:
        return str(error)


def in_chunks(encoder, parts):
    for part in parts:
        encoder.add(part)
    return encoder.finish()


def same(column, other):
    if isinstance(column, str):
        assert column == other
        return
    assert column.values.equals(other.values)
    assert (column.missing, column.weight) == (other.missing, other.weight)
    for name in ("codes", "items", "offsets"):
        if hasattr(column, name):
            assert getattr(column, name).dtype == getattr(other, name).dtype
            assert getattr(column, name).tolist() == getattr(other, name).tolist()
    if hasattr(column, "kind"):
        assert column.kind == other.kind
        assert (column.positions is None) == (other.positions is None)


@pytest.mark.parametrize("few", [0, 1 << 16], ids=["merged late", "merged at once"])
@settings(deadline=None, max_examples=150)
@given(columns(), st.sampled_from([None, "numeric", "categorical"]), st.sampled_from([(), ("NA", "1")]))
def test_any_chunks_of_any_column(few, column, kind, missing):
    array, parts = column
    options = {"kind": kind, "missing": missing, "weight": 2.0}
    expected = tried(lambda: encode_column("c", array, **options))
    with mock.patch.object(encode_distinct, "FEW", few):
        same(expected, tried(lambda: in_chunks(ColumnEncoder("c", **options), parts)))


@pytest.mark.parametrize("few", [0, 1 << 16], ids=["merged late", "merged at once"])
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_chunks_of_any_sets(few, data):
    item = data.draw(st.sampled_from([pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.int64()]))
    cells = st.integers(-3, 12) if item == pa.int64() else st.sampled_from(["a", " a", "b", "", " ", "c", "日"])
    lists = st.one_of(st.none(), st.lists(st.one_of(st.none(), cells), max_size=6))
    array = pa.array(data.draw(st.lists(lists, min_size=1, max_size=30)), pa.list_(item))
    nulls = data.draw(st.booleans())
    parts = cut(data.draw, array)
    expected = encode_items("i", array, nulls=nulls)
    with mock.patch.object(encode_distinct, "FEW", few):
        same(expected, in_chunks(ItemsEncoder("i", nulls=nulls), parts))
    held = [expected.values.take(pa.array(expected.items[a:b])).to_pylist() if not (b - a == 1 and
            expected.items[a] == expected.missing_code) else None
            for a, b in zip(expected.offsets[:-1], expected.offsets[1:], strict=True)]  # fmt: skip
    assert held == [
        (None if nulls else []) if row is None
        else sorted({str(cell).strip() for cell in row if cell is not None} - {""}, key=str.encode)
        for row in array.to_pylist()
    ]  # fmt: skip


def test_codes_beyond_memory(tmp_path):
    """The same codes come out of files, and nothing is seen in the folder."""
    numbers = np.random.default_rng(3).integers(0, 90_000, 1_500_000)
    parts = [pa.array(part) for part in np.array_split(numbers, 5)]
    storage = Storage(0, tmp_path)
    column = in_chunks(ColumnEncoder("c", storage=storage), parts)
    assert storage.spilled > 0
    assert list(tmp_path.iterdir()) == []
    same(encode_column("c", pa.array(numbers)), column)
    lists = [pa.ListArray.from_arrays(pa.array(np.arange(0, 300_001, 3, dtype=np.int32)), part) for part in parts]
    sets = in_chunks(ItemsEncoder("i", storage=storage), lists)
    same(encode_items("i", pa.chunked_array(lists)), sets)


@pytest.mark.parametrize("step", [1, 3, 10**12], ids=["dense", "with gaps", "sparse"])
def test_very_many_different_numbers(step):
    numbers = np.random.default_rng(3).permutation(400_000) * step - 7
    column = in_chunks(ColumnEncoder("c"), [pa.array(part) for part in np.array_split(numbers, 7)])
    assert column.codes.tolist() == ((numbers + 7) // step).tolist()
    assert column.values.to_pylist() == sorted(numbers.tolist())


def test_very_many_different_texts():
    numbers = np.random.default_rng(3).integers(0, 200_000, 600_000)
    parts = [pa.array(part).cast(pa.string()) for part in np.array_split(numbers, 7)]
    column = in_chunks(ColumnEncoder("c", kind="categorical"), parts)
    found = column.values.take(pa.array(column.codes[:1000])).to_pylist()
    assert found == numbers[:1000].astype(str).tolist()
    assert len(column.values) == len(set(numbers.tolist()))


def test_the_first_bad_record_is_found_in_later_chunks():
    encoder = ColumnEncoder("c", kind="numeric")
    for texts in (["1"] * 9, ["2", "secret", "1"], ["secret", "hidden"]):
        encoder.add(pa.array(texts))
    with pytest.raises(DataError, match=r"3 of 14 cells are not numbers or dates \(records 11, 13 and 14\)"):
        encoder.finish()


def test_tags_only_tell_cells_apart():
    column = in_chunks(ColumnEncoder("c", kind="categorical", tags=True), [pa.array(["1", "b"]), pa.array(["1", None])])
    assert (column.kind, column.positions, column.missing) == ("categorical", None, True)
    assert column.codes.tolist() == [0, 1, 0, 2]
    numbers = in_chunks(ColumnEncoder("c", kind="categorical", tags=True), [pa.array([7, 3, None, 7])])
    assert (numbers.kind, numbers.codes.tolist()) == ("categorical", [1, 0, 2, 1])
