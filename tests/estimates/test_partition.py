"""Columns that stand as they were, against a slow walk over the records."""

import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.estimates import By, Range, ask
from sudare.estimates.partition import cells_of, coded, labels_of, parted
from sudare.releases.cell_values import period


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def labels(values, by=None, kind=None):
    """The label of each record's part."""
    code = coded("x", values if isinstance(values, pa.ChunkedArray) else column(values, kind))
    found = parted(code, by or By("x"))
    return [found.labels[part] for part in found.of_record.tolist()]


def counts(table, by=(), where=None):
    """How many records are in each cell."""
    question = ask("of", by, where, [*table.column_names, "of"])
    found = cells_of(table, question)
    number = Counter(found.of_record.tolist())
    return {tuple(label.values()): number[place] for place, label in enumerate(found.labels)}


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["b", "a", None], ["b", "a", None]),
        (["10", "9", None], [10, 9, None]),
        (["01", "1"], ["01", "1"]),
        (["1.50", "x"], ["1.50", "x"]),
        ([1.0, -0.0, math.nan, 2.5, None], [1, 0, None, 2.5, None]),
        ([math.inf, 1.0], ["inf", 1]),
        ([True, False, None], [True, False, None]),
        ([Decimal("1.50"), None], ["1.50", None]),
        ([date(2020, 2, 3), None], ["2020-02-03", None]),
        ([datetime(2020, 2, 3), None], ["2020-02-03", None]),
        ([datetime(2020, 2, 3, 4, 5), None], ["2020-02-03 04:05:00", None]),
        (["2020-02-03", "2019-12-31"], ["2020-02-03", "2019-12-31"]),
        ([timedelta(seconds=5)], ["0:00:05"]),
        ([b"x", None], ["b'x'", None]),
        ([None, None], [None, None]),
        (["é", "簾", ""], ["é", "簾", ""]),
    ],
)
def test_values_in_the_types_that_json_has(values, shown):
    assert labels(values) == shown


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_kind_of_text(kind):
    cells = pa.chunked_array([pa.array(["b", None, "a"]).cast(kind), pa.array(["a", "c", "b"]).cast(kind)])
    assert labels(cells) == ["b", None, "a", "a", "c", "b"]
    assert labels_of(coded("x", cells)) == ["a", "b", "c", None]


def test_values_that_no_record_has_are_not_told():
    cells = pa.DictionaryArray.from_arrays(pa.array([2, None, 2]), pa.array(["a", "b", "c"]))
    assert labels_of(coded("x", pa.chunked_array([cells]))) == ["c", None]


def test_values_are_in_order_and_missing_ones_last():
    assert labels_of(coded("x", column(["10", None, "9", "100"]))) == [9, 10, 100, None]


@pytest.mark.parametrize(
    ("values", "width", "shown"),
    [
        ([0, 9, 10, -1, None], 10, ["[0, 9]", "[0, 9]", "[10, 19]", "[-10, -1]", None]),
        ([3, 4], 1, [3, 4]),
        ([0.5, 10.0, None], 10, ["[0, 10)", "[10, 20)", None]),
        ([0.1, 0.3, 0.7, 1.1], 0.1, ["[0.1, 0.2)", "[0.3, 0.4)", "[0.7, 0.8)", "[1.1, 1.2)"]),
        ([5, 7], 2.5, ["[5, 7.5)", "[5, 7.5)"]),
        (["5", "17", None], 10, ["[0, 9]", "[10, 19]", None]),
        ([Decimal("1.5")], 1, ["[1, 2)"]),
    ],
)
def test_bands(values, width, shown):
    assert labels(values, By("x", width=width)) == shown


@pytest.mark.parametrize(("unit", "shown"), [("year", "2020"), ("month", "2020-02"), ("day", "2020-02-03")])
@pytest.mark.parametrize("value", [date(2020, 2, 3), datetime(2020, 2, 3, 23, 59), "2020-02-03"])
def test_units_of_dates(value, unit, shown):
    assert labels([value, None], By("x", unit=unit)) == [shown, None]


def test_a_time_with_a_zone_is_on_the_day_of_its_own_clock():
    moment = column([datetime(2020, 1, 1, 3, tzinfo=UTC)], pa.timestamp("us", "America/New_York"))
    assert labels(moment, By("x", unit="day")) == ["2019-12-31"]


@pytest.mark.parametrize(
    ("values", "wanted", "kept"),
    [
        ([1, 2, None], "2", [2]),
        ([1.0, 2.5, None], "2.50,1", [1.0, 2.5]),
        (["1", "2", "x"], "2", ["2"]),
        ([1, 2, None], "", [None]),
        (["", "a", None], "", ["", None]),
        ([1, 2], "two", []),
        ([True, False, None], "true", [True]),
        ([True, False, None], "False", [False]),
        ([date(2020, 1, 1), date(2020, 1, 2)], "2020-01-02", [date(2020, 1, 2)]),
        ([datetime(2020, 1, 1, 5), datetime(2020, 1, 2)], "2020-01-01", [datetime(2020, 1, 1, 5)]),
        ([1, 5, 9, None], "5..", [5, 9]),
        ([1.5, 5, 9, None], "..5", [1.5, 5]),
        ([1, 5], "9..2", []),
        ([date(1999, 12, 31), date(2000, 1, 1), None], "..1999", [date(1999, 12, 31)]),
        ([date(1999, 12, 31), date(2000, 1, 1)], "2000..", [date(2000, 1, 1)]),
        ([date(2000, 2, 29), date(2000, 3, 1)], "2000-02..2000-02", [date(2000, 2, 29)]),
        ([datetime(2000, 2, 29, 23), datetime(2000, 3, 1)], "..2000-02-29", [datetime(2000, 2, 29, 23)]),
    ],
)
def test_conditions(values, wanted, kept):
    table = pa.table({"x": values})
    if not kept:
        with pytest.raises(
            DataError, match=r"no record of this release is in the requested cells|is not a value of column"
        ):
            counts(table, where=f"x={wanted}")
        return
    keep = cells_of(table, ask("of", (), f"x={wanted}", ["of", "x"])).of_record >= 0
    assert table.filter(pa.array(keep)).column("x").to_pylist() == kept


@pytest.mark.parametrize(
    ("values", "by", "where", "says"),
    [
        (["a"], "x:10", None, "column 'x' does not hold numbers, so it has no bands."),
        ([date(2020, 1, 1)], "x:10", None, "column 'x' does not hold numbers"),
        ([True], "x:1", None, "column 'x' does not hold numbers"),
        ([1], "x:year", None, "column 'x' does not hold dates, so it has no year."),
        (["a"], "x:day", None, "column 'x' does not hold dates"),
        ([1e300], "x:0.001", None, "bands of 0.001 are too narrow for column 'x'."),
        ([math.inf], "x:10", None, "column 'x' has infinite numbers"),
        ([[1, 2]], "x", None, "column 'x' holds sets or structures"),
        ([{"a": 1}], "x", None, "column 'x' holds sets or structures"),
        (["a"], (), "x=1..2", "column 'x' holds neither numbers nor dates, so it has no ranges."),
        ([1], (), "x=a..b", "the range of column 'x' must have numbers as its ends."),
        ([1], (), {"x": (1, 10**400)}, "the range of column 'x' must have numbers as its ends."),
        ([1], (), "x=2020-01-01..", "the range of column 'x' must have numbers as its ends."),
        ([date(2020, 1, 1)], (), "x=1..5", "the range of column 'x' must have dates as its ends."),
        ([date(2020, 1, 1)], (), "x=2020-02-30..", "the range of column 'x' must have dates as its ends."),
    ],
)
def test_what_cannot_be_counted(values, by, where, says):
    with pytest.raises(DataError) as caught:
        counts(pa.table({"x": values}), by, where)
    assert says in str(caught.value)


def test_more_cells_than_numbers():
    many = {f"x{place}": np.arange(3_000) for place in range(6)}
    with pytest.raises(DataError, match="there are too many cells"):
        counts(pa.table(many), list(many))


def test_many_cells_that_are_few():
    """More combinations than a table has room for, of which few occur."""
    many = {f"x{place}": np.arange(3_000) for place in range(3)}
    assert counts(pa.table(many), list(many)) == {(place,) * 3: 1 for place in range(3_000)}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2020", (2020, 1, 1), (2020, 12, 31)),
        ("2020-02", (2020, 2, 1), (2020, 2, 29)),
        ("2020-02-03", (2020, 2, 3), (2020, 2, 3)),
        ("2020-02-03T10:00", (2020, 2, 3), (2020, 2, 3)),
        ("2020-02-03 10:00", (2020, 2, 3), (2020, 2, 3)),
    ],
)
def test_periods(text, first, last):
    assert period(text) == (date(*first).toordinal(), date(*last).toordinal())


@pytest.mark.parametrize("text", ["", "20", "2020-13", "2020-02-30", "0000", "2020 x", "2020-02 x", "2020-02-03x"])
def test_what_is_no_period(text):
    assert period(text) is None


RECORDS = st.fixed_dictionaries(
    {
        "sex": st.sampled_from(["F", "M", None]),
        "age": st.one_of(st.none(), st.integers(-30, 90)),
        "pay": st.one_of(st.none(), st.integers(-80, 400).map(lambda number: number / 8)),
        "born": st.one_of(st.none(), st.dates(date(1998, 1, 1), date(2001, 12, 31))),
    }
)


@settings(max_examples=150, deadline=None)
@given(
    records=st.lists(RECORDS, min_size=1, max_size=30),
    by=st.lists(
        st.sampled_from(["sex", "age", "age:10", "age:7", "pay", "pay:2.5", "born", "born:year", "born:month"]),
        unique_by=lambda each: each.split(":")[0],
    ),
    where=st.lists(
        st.sampled_from(["sex=F", "sex=", "age=-10..40", "age=5", "pay=0..", "pay=..7.5", "born=1999..2000-06"]),
        unique_by=lambda each: each.split("=")[0],
    ),
    as_text=st.booleans(),
)
def test_cells_are_those_of_a_walk_over_the_records(records, by, where, as_text):
    table = pa.Table.from_pylist(
        records,
        schema=pa.schema([("sex", pa.string()), ("age", pa.int64()), ("pay", pa.float64()), ("born", pa.date32())]),
    )
    if as_text:
        table = pa.table({name: cells.cast(pa.string()) for name, cells in zip(table.column_names, table, strict=True)})
    wanted = Counter(naive_cell(record, by, table) for record in records if all(naive_keep(record, w) for w in where))
    if wrong(table, by, where):
        with pytest.raises(DataError):
            counts(table, by, where)
    elif not wanted:
        with pytest.raises(DataError, match=r"no record|'.*' is not a value of column"):
            counts(table, by, where)
    else:
        assert counts(table, by, where) == wanted


def wrong(table, by, where):
    """A column of missing values alone is neither numbers nor dates if it came as text."""
    words = [*(each.split(":")[0] for each in by if ":" in each), *(w.split("=")[0] for w in where if ".." in w)]
    return any(pa.types.is_string(table.schema.field(n).type) and table[n].null_count == len(table) for n in words)


def naive_cell(record, by, table):
    cell = []
    for each in by:
        name, _, how = each.partition(":")
        value = record[name]
        if value is None:
            cell.append(None)
        elif how in ("year", "month"):
            cell.append(value.isoformat()[: 4 if how == "year" else 7])
        elif how:
            width = float(how)
            number = math.floor(value / width)
            told = [v for v in table[name].to_pylist() if v is not None]
            if width == int(width) and all(float(v) == math.floor(float(v)) for v in told):
                cell.append(f"[{int(number * width)}, {int((number + 1) * width) - 1}]")
            else:
                cell.append(f"[{number * width:.12g}, {(number + 1) * width:.12g})")
        else:
            cell.append(value.isoformat() if name == "born" else value)
    return tuple(cell)


def naive_keep(record, where):
    name, _, wanted = where.partition("=")
    value = record[name]
    if wanted == "":
        return value is None
    if value is None:
        return False
    if ".." not in wanted:
        return str(value) == wanted
    low, _, high = wanted.partition("..")
    if name == "born":
        return date(1999, 1, 1) <= value <= date(2000, 6, 30)
    return (not low or value >= float(low)) and (not high or value <= float(high))


def test_a_range_of_two_ends_in_python():
    table = pa.table({"x": [1, 5, 9]})
    assert counts(table, "x", {"x": Range(2, 9)}) == counts(table, "x", {"x": (2, None)}) == {(5,): 1, (9,): 1}


def test_six_hundred_thousand_records_by_three_columns_are_counted():
    rng = np.random.default_rng(1)
    rows = 600_000
    places = pa.array([f"place {number}" for number in range(124)])
    table = pa.table(
        {
            "age": rng.integers(17, 97, rows),
            "sex": pa.array(["F", "M"]).take(pa.array(rng.integers(0, 2, rows))),
            "birth": places.take(pa.array(rng.integers(0, 124, rows))),
        }
    )
    found = cells_of(table, ask("of", "age,sex,birth", "age=20..", ["of", *table.column_names]))
    assert len(found.labels) == 77 * 2 * 124
