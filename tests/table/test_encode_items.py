"""Encoding of item-set columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.table import encode_items


def sets(column):
    """The column as lists of items again; None for a null set."""
    values = [*column.values.to_pylist(), None]
    lists = [
        [values[code] for code in column.items[column.offsets[row] : column.offsets[row + 1]]]
        for row in range(len(column))
    ]
    return [None if items == [None] else items for items in lists]


def test_repeated_empty_and_null_items_count_once_or_not():
    column = encode_items("i", pa.array([["b", "a", "b", None, "", " a "], [], None, ["c"]]))
    assert sets(column) == [["a", "b"], [], None, ["c"]]
    assert column.offsets.tolist() == [0, 2, 2, 3, 4]
    assert column.items.tolist() == [0, 1, 3, 2]
    assert (column.missing, column.missing_code, column.size) == (True, 3, 4)
    assert column.items.dtype == np.uint8


def test_without_a_null_nothing_is_marked():
    assert encode_items("i", pa.array([["a"], []])).missing is False


def test_null_sets_are_empty_where_nobody_could_tell():
    column = encode_items("i", pa.array([["a"], None, []]), nulls=False)
    assert (sets(column), column.missing) == ([["a"], [], []], False)


@pytest.mark.parametrize(
    ("texts", "separator", "expected"),
    [
        (["b,a,,b", "", None, " ", "a"], None, [["a", "b"], [], None, [], ["a"]]),
        (["b|a", "c,d"], "|", [["a", "b"], ["c,d"]]),
        (["b; a", ";"], ";", [["a", "b"], []]),
        (["a::b:c"], "::", [["a", "b:c"]]),
        (["a.b"], ".", [["a", "b"]]),
    ],
)
def test_text_is_cut_at_the_separator(texts, separator, expected):
    assert sets(encode_items("i", pa.array(texts), separator=separator)) == expected


def test_texts_for_missing():
    assert sets(encode_items("i", pa.array(["NA", "a"]), missing=["NA"])) == [None, ["a"]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([["b", "a"], None, ["a"]], pa.large_list(pa.string())),
        pa.array([["b", "a"], None, ["a"]], pa.list_(pa.large_string())),
        pa.array([["b", "a"], None, ["a"]], pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        pa.array([["b", "a"], None, ["a"]], pa.list_(pa.string_view())),
        pa.array([[b"b", b"a"], None, [b"a"]], pa.list_(pa.binary())),
        pa.array([["b", "a"], None, ["a", None]], pa.list_(pa.string(), 2)),
        pa.array(["b,a", None, "a"]),
        pa.array(["b,a", None, "a"]).dictionary_encode(),
        pa.chunked_array([[["b", "a"]], [], [None, ["a"]]], pa.list_(pa.string())),
        pa.array([["z"], ["b", "a"], None, ["a"], ["y"]]).slice(1, 3),
    ],
    ids=[
        "large list",
        "large text",
        "dictionary items",
        "views",
        "bytes",
        "fixed",
        "text",
        "dictionary",
        "chunked",
        "slice",
    ],
)
def test_every_kind_of_list(array):
    assert sets(encode_items("i", array)) == [["a", "b"], None, ["a"]]


def test_what_stands_below_a_null_set_is_not_read():
    array = pa.ListArray.from_arrays(
        pa.array([0, 2, 3, 4]), pa.array(["a", "b", "secret", "c"]), mask=pa.array([False, True, False])
    )
    column = encode_items("i", array)
    assert sets(column) == [["a", "b"], None, ["c"]]
    assert "secret" not in column.values.to_pylist()


def test_numbers_are_items_by_their_text():
    assert sets(encode_items("i", pa.array([[3, 1], [10]]))) == [["1", "3"], ["10"]]


def test_a_dictionary_of_numbers():
    array = pa.array([[3, 1], None, [10, 3]], pa.list_(pa.dictionary(pa.int8(), pa.int64())))
    assert sets(encode_items("i", array)) == [["1", "3"], None, ["10", "3"]]


def test_values_that_no_record_holds_are_forgotten():
    items = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["b", "secret", "a"]))
    column = encode_items("i", pa.ListArray.from_arrays(pa.array([0, 2]), items))
    assert column.values.to_pylist() == ["a", "b"]
    assert column.items.tolist() == [0, 1]


def test_a_separator_that_never_occurs():
    assert sets(encode_items("i", pa.array(["b a", "c"]), separator="|")) == [["b a"], ["c"]]


def test_no_items_at_all():
    column = encode_items("i", pa.array([[], None], pa.list_(pa.string())))
    assert (sets(column), len(column.values)) == ([[], None], 0)


@pytest.mark.parametrize(
    "array",
    [pa.array([{"a": 1}]), pa.array([[{"a": 1}]]), pa.array([[["a"]]]), pa.array([[b"\xff"]]),
     pa.array([["a"]], pa.list_view(pa.string())), pa.array([b"a"])],
    ids=["struct", "list of structs", "list of lists", "bytes", "list view", "binary"],
)  # fmt: skip
def test_other_types_are_refused(array):
    with pytest.raises(DataError, match="column 'i'"):
        encode_items("i", array)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text("abc ", max_size=3)), max_size=6))))
def test_any_lists(lists):
    expected = [
        None if items is None else sorted({item.strip() for item in items if item is not None} - {""})
        for items in lists
    ]
    assert sets(encode_items("i", pa.array(lists, pa.list_(pa.string())))) == expected


def test_more_items_than_a_byte_holds():
    column = encode_items("i", pa.array([[f"{i:03d}" for i in range(300)], ["299"]]))
    assert column.items.dtype == np.uint16
    assert sets(column)[1] == ["299"]


def test_sets_of_ten_thousand_items():
    draw = np.random.default_rng(5)
    lists = [draw.integers(0, 20_000, 10_000).astype(str).tolist() for _ in range(3)]
    column = encode_items("i", pa.array(lists))
    assert sets(column) == [sorted(set(items)) for items in lists]


def test_a_million_different_items():
    numbers = np.random.default_rng(5).permutation(1_000_000)
    texts = pa.array(numbers).cast(pa.string())
    offsets = pa.array(np.arange(0, 1_000_001, 4, dtype=np.int32))
    array = pa.ListArray.from_arrays(offsets, texts)
    column = encode_items("i", pa.chunked_array([array.slice(0, 100_000), array.slice(100_000)]))
    assert len(column.values) == 1_000_000
    assert column.items.dtype == np.uint32
    assert column.values.take(pa.array(column.items[400:404])).to_pylist() == sorted(map(str, numbers[400:404]))
    assert len(column) == 250_000


@pytest.mark.parametrize(("records", "said"), [(1, "1 record holds"), (2, "2 records hold")])
def test_more_items_than_a_record_may_hold(records, said):
    texts = [f"secret{number}" for number in range(65_536)]
    assert len(encode_items("i", pa.array([texts[1:], ["a"]])).values) == 65_536
    with pytest.raises(DataError, match=f"column 'i': {said} more than 65,535 different items") as caught:
        encode_items("i", pa.array([["a"], *[texts] * records]))
    assert "secret" not in str(caught.value)
