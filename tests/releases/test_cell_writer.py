"""What released cells look like, and how they are read."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.hierarchies import build
from sudare.policy import HierarchySpec
from sudare.releases import Anything, Choice, Interval, parse_cell
from sudare.releases.cell_writer import cell_labels
from sudare.releases.value_texts import value_texts
from sudare.table import Partition, Table, encode_column, generalize


def labels(array, classes, hierarchy=None, **more):
    column = encode_column("c", array, **more)
    if hierarchy is not None:
        tree = build(HierarchySpec.model_validate(hierarchy), column.values, folder=Path(), column="c")
        column = column.reordered(*tree.taxonomy(column.values, column.missing))
    numbers = np.array(classes, dtype=np.int64)
    shown = generalize(Table(len(classes), {"c": column}), Partition(numbers, int(numbers.max()) + 1))
    return cell_labels(shown.covers["c"]).to_pylist()


def test_numbers():
    assert labels(pa.array([39, 39, 17, 25, 1, None, None]), [0, 0, 1, 1, 2, 2, 3]) == ["39", "[17, 25]", "*", None]
    assert labels(pa.array([1.0, 0.1, 1e300, 2.5]), [0, 0, 1, 1]) == ["[0.1, 1]", "[2.5, 1e+300]"]


def test_dates_and_times():
    assert labels(pa.array([date(2020, 1, 2), date(2020, 1, 1)]), [0, 0]) == ["[2020-01-01, 2020-01-02]"]
    stamps = pa.array([datetime(2020, 1, 1, 12), datetime(2020, 1, 1, 12, 30)])
    assert labels(stamps, [0, 0]) == ["[2020-01-01T12:00:00, 2020-01-01T12:30:00]"]
    assert labels(pa.array([time(8), time(9, 30)]), [0, 0]) == ["[08:00:00, 09:30:00]"]


def test_categories():
    array = pa.array(["Cuba", "Peru", "Chad", None, "Cuba", None, "Peru", "Chad", "Cuba", None])
    assert labels(array, [0, 0, 1, 1, 2, 3, 4, 4, 4, 4]) == ["{Cuba, Peru}", "{Chad, null}", "Cuba", None, "*"]


def test_truth_values():
    assert labels(pa.array([True, False, True, None, None]), [0, 0, 1, 1, 2]) == ["{false, true}", "{true, null}", None]


@pytest.mark.parametrize(
    ("text", "alone", "among"),
    [
        ("*", '"*"', '{"*", z}'),
        ("[1, 2]", '"[1, 2]"', '{"[1, 2]", z}'),
        ("{a}", '"{a}"', '{z, "{a}"}'),
        ("a, b", "a, b", '{"a, b", z}'),
        ("null", "null", '{"null", z}'),
        ("", '""', '{"", z}'),
        (" a", '" a"', '{" a", z}'),
        ("a ", '"a "', '{"a ", z}'),
        ('say "a"', 'say "a"', '{"say \\"a\\"", z}'),
        ('"a"', '"\\"a\\""', '{"\\"a\\"", z}'),
        ("a\nb", "a\nb", "{a\nb, z}"),
        ("日本", "日本", "{z, 日本}"),
    ],
)
def test_what_could_be_taken_for_something_else_is_quoted(text, alone, among):
    array = pa.array([text, text, "z", "z", "~"])
    assert labels(array, [0, 0, 1, 1, 2], kind="categorical")[0] == alone
    assert labels(array, [0, 0, 0, 0, 1], kind="categorical")[0] == among
    assert parse_cell(alone) == text
    assert set(parse_cell(among).members) == {text, "z"}


def test_hierarchies_show_their_labels():
    array = pa.array(["12345", "12399", "12345", "90210", None, "12345", None])
    found = labels(array, [0, 0, 1, 1, 2, 2, 3], {"prefix": [5, 3]}, kind="categorical")
    assert found == ["123**", "*", "*", None]
    assert labels(pa.array([21, 24, 30, 39, 7]), [0, 0, 1, 1, 2], {"bands": [5, 10]}) == ["[20, 24]", "[30, 39]", "7"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (None, None),
        ("*", Anything()),
        ("39", "39"),
        ("", None),
        ("[17, 25]", Interval("17", "25")),
        ("[-1.5, 1e+300]", Interval("-1.5", "1e+300")),
        ("[10, 20)", "[10, 20)"),
        ("[odd]", "[odd]"),
        ("{a, b}", Choice(("a", "b"))),
        ("{a, null}", Choice(("a", None))),
        ('{"null", null}', Choice(("null", None))),
        ('{"a, b", c}', Choice(("a, b", "c"))),
        ('"*"', "*"),
        ("902**", "902**"),
    ],
)
def test_cells_are_read_back(text, cell):
    assert parse_cell(text) == cell


TEXTS = [
    (pa.array([1.0, 2.5, 1e15, 2.0**53, 0.1 + 0.2]), ["0.30000000000000004", "1", "2.5", "1000000000000000",
                                                     "9007199254740992.0"]),
    (pa.array([Decimal("1.50"), Decimal("-2.00")]), ["-2.00", "1.50"]),
    (pa.array([timedelta(days=1, hours=2), timedelta(milliseconds=5), timedelta(0), timedelta(seconds=-1.5)]),
     ["PT-1.5S", "PT0S", "PT0.005S", "PT93600S"]),
    (pa.array([1001, -1], pa.duration("ns")), ["PT-0.000000001S", "PT0.000001001S"]),
    (pa.array([1_500_000_000, 1], pa.timestamp("ns")), ["1970-01-01T00:00:00.000000001",
                                                         "1970-01-01T00:00:01.500000000"]),
    (pa.array([1_500_000_000, 1_000], pa.timestamp("ns")), ["1970-01-01T00:00:00.000001",
                                                             "1970-01-01T00:00:01.500000"]),
    (pa.array([0, 1], pa.timestamp("s", "Asia/Tokyo")), ["1970-01-01T09:00:00+09:00", "1970-01-01T09:00:01+09:00"]),
    (pa.array([2, 3], pa.time64("ns")), ["00:00:00.000000002", "00:00:00.000000003"]),
]  # fmt: skip


@pytest.mark.parametrize(("array", "expected"), TEXTS, ids=[str(array.type) for array, _ in TEXTS])
def test_values_as_text(array, expected):
    column = encode_column("c", array)
    assert value_texts(column).to_pylist() == expected
    assert len(set(expected)) == len(column.values)  # different values never look alike
    [text] = labels(array, [0] * len(array))
    assert parse_cell(text) == Interval(expected[0], expected[-1])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_midnights_are_days(unit):
    array = pa.array([datetime(2020, 1, 1), datetime(2020, 1, 3)], pa.timestamp(unit))
    assert value_texts(encode_column("c", array)).to_pylist() == ["2020-01-01", "2020-01-03"]


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e-300, 123456789.123, 2.0**70, -5.0, math.pi])
def test_fractions_are_written_exactly(number):
    [text] = value_texts(encode_column("c", pa.array([number]))).to_pylist()
    assert float(text) == number
