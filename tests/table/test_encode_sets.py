"""Sensitive item sets: a whole set is a value."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sudare.kernels import flat_sets
from sudare.table.encode import encode_sets
from sudare.table.value_spellings import fold

cells = st.lists(st.one_of(st.none(), st.lists(st.sampled_from(["a", "A", " b", "b", "", "1", "1.0"]), max_size=5)))


def lists(given) -> pa.Array:
    return pa.array(given, pa.list_(pa.string()))


def shown(column) -> list:
    """What each record shows, None for a missing set."""
    sets = column.sets.shown
    values = sets.values.to_pylist()
    found = []
    for code in column.codes.tolist():
        items = sets.items[sets.offsets[code] : sets.offsets[code + 1]].tolist()
        found.append(None if items == [sets.missing_code] else [values[item] for item in items])
    return found


def first_spellings(cell: list[str]) -> list[str]:
    """The items of a cell, each once, in the spelling that sorts first."""
    found: dict[str, str] = {}
    for item in sorted({item.strip() for item in cell} - {""}):
        found.setdefault(fold(item), item)
    return sorted(found.values())


@given(cells, st.booleans())
def test_every_record_shows_its_items_once_and_sorted(given, merge):
    def items(cell):
        return first_spellings(cell) if merge else sorted({item.strip() for item in cell} - {""})

    expected = [None if cell is None else items(cell) for cell in given]
    column = encode_sets("d", lists(given), merge=merge)
    assert shown(column) == expected
    different = {None if cell is None else tuple(cell) for cell in expected}
    assert column.size == len(different) == len(set(column.codes.tolist()))


@given(cells, st.randoms(use_true_random=False))
def test_codes_do_not_depend_on_the_order_of_records(given, random):
    order = list(range(len(given)))
    random.shuffle(order)
    one, other = encode_sets("d", lists(given)), encode_sets("d", lists([given[place] for place in order]))
    assert [int(one.codes[place]) for place in order] == other.codes.tolist()
    assert one.sets.shown.items.tolist() == other.sets.shown.items.tolist()


def test_spellings_of_an_item_in_one_set_are_shown_once():
    column = encode_sets("d", lists([["hiv ", "HIV", "flu"], ["hiv"], ["250.0", "250"], None, [], ["HIV", "flu"]]))
    assert shown(column) == [["HIV", "flu"], ["hiv"], ["250"], None, [], ["HIV", "flu"]]
    assert column.codes[0] == column.codes[5]


def test_spellings_of_an_item_are_one_where_they_are_counted():
    column = encode_sets("d", lists([["HIV", "hiv"], ["Hiv "], ["1", "01"], None, []]))
    assert column.merged == 3
    assert sorted(np.diff(column.sets.counted.offsets)[column.codes].tolist()) == [0, 0, 1, 1, 1]
    assert set(column.sets.counted.values.to_pylist()) == {"1", "hiv"}
    exact = encode_sets("d", lists([["HIV", "hiv"], ["Hiv "]]), merge=False)
    assert exact.merged is None
    assert exact.sets.held(np.array([1, 1])).tolist() == [1, 1, 1]


def test_text_is_cut_at_the_separator():
    column = encode_sets("d", pa.array(["b| a", "", "a|b|b", None]), separator="|", missing=[""])
    assert shown(column) == [["a", "b"], None, ["a", "b"], None]
    assert column.codes[0] == column.codes[2]


def test_sets_that_are_taken_for_one_get_other_numbers(monkeypatch):
    first = flat_sets.hash_sets

    def collide(offsets, items, salt, found):
        first(offsets, items, salt, found)
        if salt == 0:
            found[:] = 7

    monkeypatch.setattr(flat_sets, "hash_sets", collide)
    assert shown(encode_sets("d", lists([["a"], ["b"], ["a"]]))) == [["a"], ["b"], ["a"]]


@given(st.lists(st.lists(st.sets(st.integers(0, 4))), min_size=1, max_size=5), st.sets(st.integers(0, 4)))
def test_the_kernel_counts_as_plain_python_does(groups, left_out):
    sets = [sorted(each) for group in groups for each in group]
    offsets = np.cumsum([0, *map(len, sets)])
    items = np.array([item for each in sets for item in each], np.uint32)
    start = np.cumsum([0, *map(len, groups)])
    codes, counts = np.arange(len(sets)), np.arange(len(sets)) % 3 + 1
    mask = np.isin(np.arange(5), list(left_out))
    expected = []
    for first, last in pairwise(start):
        held = [sum(int(counts[c]) for c in range(first, last) if item in sets[c]) for item in range(5)]
        expected.append(max((held[item] for item in range(5) if item not in left_out), default=0))
    assert flat_sets.most_held(start, codes, counts, offsets, items, mask).tolist() == expected
