"""``hierarchy: auto``: nested bands of numbers with round ends."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import HierarchyError
from sudare.hierarchies import csv_text, from_csv, quantiles

BAND = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)([\])])")


def ends(label):
    """The ends of a band: a closed one ends before the next whole number."""
    low, high, mark = BAND.fullmatch(label).groups()
    return Fraction(low), Fraction(high) + (mark == "]")


def rows(hierarchy):
    return list(zip(*(column.to_pylist() for column in hierarchy.columns()), strict=True))


def test_ages():
    made = quantiles(pa.array(range(17, 91)))
    assert [labels.to_pylist() for labels in made.labels[1:]] == [
        ["[0, 24]", "[25, 29]", "[30, 39]", "[40, 49]", "[50, 59]", "[60, 69]", "[70, 79]", "[80, 99]"],
        ["[0, 29]", "[30, 49]", "[50, 69]", "[70, 99]"],
        ["[0, 49]", "[50, 99]"],
        ["*"],
    ]
    assert made.names == ("number", "8 bands", "4 bands", "2 bands", "all")


def test_few_values_have_no_bands():
    assert rows(quantiles(pa.array([3, 1, 2]))) == [("1", "*"), ("2", "*"), ("3", "*")]
    assert quantiles(pa.array([], pa.int64())).root == "*"


def test_an_outlier_widens_only_the_last_band():
    made = quantiles(pa.array([*range(1000, 1100), 987_654]))
    last = made.labels[1].to_pylist()[-1]
    assert ends(last)[1] == 1_000_000
    assert "987654" not in "".join(label for labels in made.labels[1:] for label in labels.to_pylist())


@pytest.mark.parametrize("values", [["a", "b"], [datetime.date(2024, 1, 1)], [True, False]])
def test_what_is_no_number(values):
    with pytest.raises(HierarchyError, match="auto makes levels of numbers") as caught:
        quantiles(pa.array(values), source="columns.x.hierarchy")
    assert "built-in hierarchy" in str(caught.value)


def test_numbers_without_end():
    with pytest.raises(HierarchyError, match="1 of 2 distinct values are not finite"):
        quantiles(pa.array([1.0, float("inf")]))


numbers = st.one_of(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=200, unique=True).map(pa.array),
    st.lists(st.integers(0, 120), min_size=1, unique=True).map(pa.array),
    st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=200, unique=True).map(
        lambda values: pa.array([value + 0.0 for value in values])
    ),
    st.lists(st.decimals(-10_000, 10_000, places=2), min_size=1, unique=True).map(
        lambda values: pa.array([value + 0 for value in values], pa.decimal128(12, 2))
    ),
)


@given(numbers)
def test_values_lie_in_their_bands_and_bands_nest(values):
    made = quantiles(values)
    for leaf, *bands, root in rows(made):
        inner = (Fraction(Decimal(leaf)), Fraction(Decimal(leaf)))
        for number, label in enumerate(bands):
            low, high = ends(label)
            assert low <= inner[0]
            assert inner[1] < high if number == 0 else inner[1] <= high
            inner = low, high
        assert root == "*"
    assert made.depth <= 5


@given(numbers)
def test_the_order_of_values_and_repeated_ones_make_no_difference(values):
    again = pa.concat_arrays([values.take(pa.array(range(len(values) - 1, -1, -1))), values])
    assert csv_text(quantiles(values)) == csv_text(quantiles(again))


def test_a_file_has_the_same_levels(tmp_path):
    for values in (pa.array(range(0, 500, 7)), pa.array([number / 8 for number in range(300)])):
        path = tmp_path / f"{values.type}.csv"
        path.write_text(csv_text(quantiles(values)), encoding="utf-8")
        assert rows(from_csv(path)) == rows(quantiles(values))
