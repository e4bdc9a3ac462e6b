"""Columns of text as numbers, where a float may be only the nearest to what the text says."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.table import nearest_numbers, plain_numbers


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_every_float_comes_back(numbers):
    texts = pa.array([None if number is None else repr(number) for number in numbers], pa.string())
    found = nearest_numbers("x", texts)
    if any(number is not None for number in numbers):
        assert found.type == pa.float64()
        assert found.to_pylist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["1e5", "12e3", "125"],  # codes
        ["12345678901234567890", "1"],  # a float would make one of several
        ["+1.5", "2"],
        ["01.5", "2.5"],
        ["1e999", "1.5"],
        ["1.5", "nan"],
        ["1.5", "2024-03-05"],
        ["1,5", "2"],
        [".", "1.5"],
        ["1.5", ""],
        [None],
        [],
    ],
)
def test_what_may_be_a_code_stays_text(texts):
    cells = pa.array(texts, pa.string())
    assert nearest_numbers("x", cells).equals(cells)


@pytest.mark.parametrize("texts", [["1", "2"], ["1.50", "2"], ["2024-03-05"], ["x"]])
def test_what_loses_nothing_is_as_before(texts):
    cells = pa.array(texts, pa.string())
    assert nearest_numbers("x", cells).equals(plain_numbers("x", cells))


@pytest.mark.parametrize("text", ["1e-07", "1E+5", "0.30000000000000004", "1.5e3", "-.5", "3."])
def test_forms_of_numbers(text):
    assert nearest_numbers("x", pa.array([text, "1", None])).to_pylist() == [float(text), 1, None]
