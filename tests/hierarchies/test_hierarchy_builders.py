"""Hierarchies that follow from the values: prefixes, bands, dates, flat; and the choice by a policy."""

import datetime
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import HierarchyError
from sudare.hierarchies import bands, build, csv_text, dates, flat, from_csv, levels, prefix
from sudare.policy import HierarchySpec


def rows(hierarchy):
    return list(zip(*(column.to_pylist() for column in hierarchy.columns()), strict=True))


def test_prefix():
    assert rows(prefix([5, 3, 2], pa.array(["90210", "90213", "10115"]))) == [
        ("90210", "902**", "90***", "*"),
        ("90213", "902**", "90***", "*"),
        ("10115", "101**", "10***", "*"),
    ]
    assert rows(prefix([4, 2], pa.array(["東京都区"]))) == [("東京都区", "東京**", "*")]
    assert rows(prefix([3, 1], pa.array([123, 145]))) == [("123", "1**", "*"), ("145", "1**", "*")]


def test_prefix_reports_lengths_and_masks_together_without_values():
    with pytest.raises(HierarchyError) as caught:
        prefix([5, 3], pa.array(["90210", "9021", "902100", "902**"]))
    message = str(caught.value)
    assert "2 of 4 distinct values do not have 5 characters" in message
    assert "1 of 4 distinct values hold the character '*'" in message
    assert "9021" not in message


def test_prefix_of_codes_of_several_lengths():
    assert rows(prefix([5, 3, 1], pa.array(["E11.9", "E11", "E1", "I21.0"]))) == [
        ("E11.9", "E11**", "E****", "*"),
        ("E11", "E11**", "E****", "*"),
        ("E1", "E1", "E****", "*"),
        ("I21.0", "I21**", "I****", "*"),
    ]
    assert rows(prefix([5, 3], pa.array(["E"]))) == [("E", "E", "*")]
    with pytest.raises(HierarchyError) as caught:
        prefix([5, 3], pa.array(["E11.9", "E11.90", "E1"]))
    assert "1 of 3 distinct values are longer than 5, the first prefix length" in str(caught.value)
    assert "E11" not in str(caught.value)


@given(st.lists(st.text("AB1.", min_size=1, max_size=5), min_size=1, unique=True).filter(lambda codes: "A" in codes[0]))
def test_codes_of_several_lengths_make_a_tree(codes):
    made = prefix([5, 3, 1], pa.array(codes))
    file = Path(tempfile.mkdtemp()) / "codes.csv"
    file.write_text(csv_text(made), encoding="utf-8")
    assert rows(from_csv(file)) == rows(made)
    for leaf, three, one, _ in rows(made):
        assert three == (leaf if len(leaf) < 3 else f"{leaf[:3]}**")
        assert one == f"{leaf[0]}****"


@pytest.mark.parametrize("lengths", [[], [3, 5], [5, 5], [5, 0]])
def test_prefix_lengths_must_fall(lengths):
    with pytest.raises(HierarchyError, match="must be whole"):
        prefix(lengths, pa.array(["90210"]))


def test_bands_of_whole_numbers_name_their_first_and_last():
    assert rows(bands([5, 10], 0, pa.array([0, 4, 5, 23, -1]))) == [
        ("0", "[0, 4]", "[0, 9]", "*"),
        ("4", "[0, 4]", "[0, 9]", "*"),
        ("5", "[5, 9]", "[0, 9]", "*"),
        ("23", "[20, 24]", "[20, 29]", "*"),
        ("-1", "[-5, -1]", "[-10, -1]", "*"),
    ]
    assert rows(bands([10.0, 20.0], 5.0, pa.array([4, 5, 30], pa.uint8()))) == [
        ("4", "[-5, 4]", "[-15, 4]", "*"),
        ("5", "[5, 14]", "[5, 24]", "*"),
        ("30", "[25, 34]", "[25, 44]", "*"),
    ]
    assert rows(bands([1, 2], 0, pa.array([3]))) == [("3", "3", "[2, 3]", "*")]


def test_bands_of_other_numbers_are_half_open():
    assert rows(bands([10], 0, pa.array([20.0, 29.999, 30.0]))) == [
        ("20", "[20, 30)", "*"),
        ("29.999", "[20, 30)", "*"),
        ("30", "[30, 40)", "*"),
    ]
    assert rows(bands([2.5], 0, pa.array([2, 3]))) == [("2", "[0, 2.5)", "*"), ("3", "[2.5, 5)", "*")]
    money = pa.array([Decimal("9.99"), Decimal("10.00"), Decimal("-0.01")])
    assert rows(bands([10], 0, money)) == [
        ("9.99", "[0, 10)", "*"),
        ("10.00", "[10, 20)", "*"),
        ("-0.01", "[-10, 0)", "*"),
    ]


def test_bands_are_not_lost_to_rounding():
    values = pa.array([0.1, 0.2, 0.3, 0.6, 0.7, 1.1])
    opened = [row[1] for row in rows(bands([0.1], 0, values))]
    assert opened == ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.6, 0.7)", "[0.7, 0.8)", "[1.1, 1.2)"]
    assert [row[1] for row in rows(bands([0.1], 0, values.cast(pa.float32())))] == opened
    near = pa.array([1e9 + 0.7, 0.3 - 1e-12])
    assert [row[1] for row in rows(bands([1], 0, near))] == ["[1000000000, 1000000001)", "[0, 1)"]
    assert rows(bands([0.1], 0, near))[1][1] == "[0.2, 0.3)"


def test_bands_of_enormous_numbers():
    whole = pa.array([2**63 - 1, -(2**63)])
    assert [row[1] for row in rows(bands([10], 0, whole))] == [
        "[9223372036854775800, 9223372036854775809]",
        "[-9223372036854775810, -9223372036854775801]",
    ]
    unsigned = pa.array([2**64 - 1], pa.uint64())
    assert rows(bands([10], 0, unsigned))[0][1] == "[18446744073709551610, 18446744073709551619]"
    wide = pa.array([Decimal("1234567890123456789012345678901234.56")])
    assert rows(bands([10], 0, wide))[0][1] == (
        "[1234567890123456789012345678901230, 1234567890123456789012345678901240)"
    )
    assert len(rows(bands([1e-3], 0, pa.array([1e300, 1.0])))) == 2


@given(
    values=st.lists(st.integers(-10_000, 10_000), min_size=1, unique=True),
    width=st.integers(1, 50),
    ratio=st.integers(2, 5),
    origin=st.integers(-100, 100),
)
def test_whole_numbers_lie_in_their_bands_and_bands_nest(values, width, ratio, origin):
    hierarchy = bands([width, width * ratio], origin, pa.array(values))
    for leaf, narrow, wide, _ in rows(hierarchy):
        ends = [[int(end) for end in label.strip("[]").split(", ")] for label in (narrow, wide)]
        assert ends[0][0] <= int(leaf) <= ends[0][-1]
        assert ends[1][0] <= ends[0][0] <= ends[0][-1] <= ends[1][-1]
        assert (ends[1][0] - origin) % (width * ratio) == 0
    order, _ = hierarchy.taxonomy(pa.array(sorted(values)), False)
    assert np.array_equal(np.sort(order), np.arange(len(values)))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, unique=True), st.sampled_from([0.1, 0.25, 3.0]))
def test_floats_lie_in_their_bands(values, width):
    hierarchy = bands([width, width * 4], 0.0, pa.array(values))
    found = hierarchy.find(pa.array(values))
    labels = hierarchy.columns()[1].to_pylist()
    for value, place in zip(values, found, strict=True):
        low, high = (float(end) for end in labels[place][1:-1].split(", "))
        assert low - 1e-9 <= value <= high


def test_bands_report_everything_together():
    with pytest.raises(HierarchyError) as caught:
        bands([10, 15], 0, pa.array([1.0, float("nan"), float("inf")]))
    assert len(caught.value.problems) == 2
    assert "2 of 3 distinct values are not finite" in str(caught.value)
    with pytest.raises(HierarchyError, match="bands need a column of numbers; this one holds text"):
        bands([10], 0, pa.array(["x"]))


@pytest.mark.parametrize("widths", [[], [0], [-5], [10, 5], [5, 5], [4, 10]])
def test_band_widths_must_nest(widths):
    with pytest.raises(HierarchyError, match="each a multiple"):
        bands(widths, 0, pa.array([1]))


DAYS = [datetime.date(2024, 3, 5), datetime.date(2023, 12, 31), datetime.date(1969, 7, 20)]


def test_dates():
    assert rows(dates(["day", "month", "quarter", "year"], pa.array(DAYS))) == [
        ("2024-03-05", "2024-03", "2024-Q1", "2024", "*"),
        ("2023-12-31", "2023-12", "2023-Q4", "2023", "*"),
        ("1969-07-20", "1969-07", "1969-Q3", "1969", "*"),
    ]
    assert rows(dates(["year"], pa.array(DAYS[:1], pa.date64()))) == [("2024-03-05", "2024", "*")]


def test_times_lie_above_their_own_day():
    times = [datetime.datetime(2024, 3, 5, 12, 30), datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)]
    assert rows(dates(["day", "year"], pa.array(times))) == [
        ("2024-03-05 12:30:00", "2024-03-05", "2024", "*"),
        ("1969-12-31 23:59:59.5", "1969-12-31", "1969", "*"),
    ]
    assert rows(dates(["month"], pa.array(times)))[0] == ("2024-03-05 12:30:00", "2024-03", "*")


def test_midnights_are_dates_and_zones_keep_their_own_day():
    midnights = pa.array([datetime.datetime(2024, 3, 5)], pa.timestamp("ns"))
    hierarchy = dates(["day", "month"], midnights)
    assert rows(hierarchy) == [("2024-03-05", "2024-03", "*")]
    assert hierarchy.find(midnights).tolist() == [0]
    late = pa.array([datetime.datetime(2024, 3, 5, 23, 30)], pa.timestamp("s", "Asia/Tokyo"))
    hierarchy = dates(["day"], late)
    assert rows(hierarchy) == [("2024-03-06 08:30:00+0900", "2024-03-06", "*")]
    assert hierarchy.find(late).tolist() == [0]


def test_dates_report_everything_together():
    with pytest.raises(HierarchyError) as caught:
        dates(["year", "day"], pa.array(["2024"]))
    assert len(caught.value.problems) == 2
    assert "this column holds text" in str(caught.value)


def test_flat():
    assert rows(flat(pa.array(["b", None, "a", "b"]))) == [("b", "*"), ("a", "*")]
    with pytest.raises(HierarchyError, match="also the label of the root"):
        flat(pa.array(["a", "*"]))


def test_a_hundred_thousand_values_of_each_kind():
    numbers = pa.array(np.arange(100_000))
    assert levels(bands([10, 100], 0, numbers)) == (100_000, 10_000, 1000, 1)
    assert levels(bands([10, 100], 0.5, pa.array(np.arange(100_000) / 7.0)))[0] == 100_000
    moments = pa.array(np.arange(100_000) * 3600).cast(pa.timestamp("s"))
    assert levels(dates(["day", "month", "year"], moments)) == (100_000, 4167, 137, 12, 1)
    assert levels(flat(numbers)) == (100_000, 1)


@pytest.mark.parametrize(
    ("said", "values", "row"),
    [
        ({"prefix": [3, 1]}, pa.array(["abc"]), ("abc", "a**", "*")),
        ({"bands": [10], "origin": 5}, pa.array([7]), ("7", "[5, 14]", "*")),
        ({"dates": ["month"]}, pa.array(DAYS), ("2024-03-05", "2024-03", "*")),
        ({"tree": {"A": ["x"], "B": ["y"]}}, pa.array(["x"]), ("x", "A", "*")),
        ("flat", pa.array(["x"]), ("x", "*")),
        ("jobs.csv", pa.array(["x"]), ("x", "X", "*")),
        ({"file": "jobs.csv", "delimiter": ";"}, pa.array(["x"]), ("x", "X", "*")),
        ("jobs.yaml", pa.array(["x"]), ("x", "X", "*")),
    ],
)
def test_build_follows_the_policy(tmp_path, said, values, row):
    (tmp_path / "jobs.csv").write_text("x;X;*\ny;Y;*\n", encoding="utf-8")
    (tmp_path / "jobs.yaml").write_text("X: [x]\nY: [y]\n", encoding="utf-8")
    spec = HierarchySpec.model_validate(said)
    assert rows(build(spec, values, folder=tmp_path, column="job"))[0] == row


def test_build_tells_what_is_wrong_and_what_is_lacking_at_once(tmp_path):
    (tmp_path / "jobs.csv").write_text("x;X;*\nx;Y;*\ny;Y\n", encoding="utf-8")
    with pytest.raises(HierarchyError) as caught:
        build(HierarchySpec.model_validate("jobs.csv"), pa.array(["x", "Ada"]), folder=tmp_path, column="job")
    message = str(caught.value)
    assert "columns.job.hierarchy (jobs.csv): a leaf has 2 parents" in message
    assert "depth is uneven" in message
    assert "1 of the column's 2 distinct values is not among the leaves" in message
    assert "--column job" in message
    assert "Ada" not in message


@pytest.mark.parametrize(
    "said", ["none.csv", {"prefix": [3]}, {"dates": ["day"]}, {"bands": [5]}, {"tree": {"A": ["x"]}}]
)
def test_build_names_the_column(said):
    with pytest.raises(HierarchyError) as caught:
        build(HierarchySpec.model_validate(said), pa.array(["secret"]), folder=Path("nowhere"), column="job")
    assert str(caught.value).startswith("columns.job.hierarchy")
    assert "secret" not in str(caught.value)
