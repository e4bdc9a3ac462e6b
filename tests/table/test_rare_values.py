"""Who holds each value: records, or people, in one table and in parts of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.table import Table, encode_column
from sudare.table.rare_values import Holders, by_people, count_holders, counted_people, hide_rare


def naive(codes, people, size, least):
    held = [len({who for code, who in zip(codes, people, strict=True) if code == each}) for each in range(size)]
    alone = [0] * size
    for person in set(people):
        rare = [code for code, who in zip(codes, people, strict=True) if who == person and held[code] < least]
        if rare:
            alone[min(rare)] += 1
    return held, alone


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=40), st.integers(1, 5), st.data())
def test_people_are_counted_alike_in_one_table_and_in_parts(rows, least, data):
    column = encode_column("a", pa.array([f"v{value}" for value, _ in rows]))
    who = encode_column("who", pa.array([f"p{person}" for _, person in rows]), kind="categorical")
    table = Table(len(rows), {"a": column}, subject=who)
    held, alone = naive(column.codes.tolist(), who.codes.tolist(), column.size, least)
    found = count_holders(table, "a", least, by_people(table))
    assert (found.held.tolist(), found.alone.tolist()) == (held, alone)
    cut = data.draw(st.integers(0, len(rows)))
    holders = Holders(("a",), least)
    parts = [holders(table.taken(np.arange(*ends))) for ends in ((0, cut), (cut, len(rows)))]
    together = counted_people(holders.merge(*parts)["a"], column.size, least)
    assert np.minimum(together.held, least).tolist() == [min(count, least) for count in held]
    assert together.alone.tolist() == alone


@pytest.mark.parametrize("least", [2, 3])
def test_hiding_leaves_the_given_table_alone(least):
    column = encode_column("a", pa.array(["x", "x", "x", "y", "z"]))
    table = Table(5, {"a": column})
    hidden = hide_rare(table, least).single["a"]
    assert column.values.to_pylist() == ["x", "y", "z"]
    assert column.codes.tolist() == [0, 0, 0, 1, 2]
    assert hidden.values.to_pylist() == ["other", "x"]
    assert hidden.codes.tolist() == [1, 1, 1, 0, 0]
    assert hidden.other == (0, 2)
