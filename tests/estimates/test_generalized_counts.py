"""Generalized columns against a slow enumeration of everything that a cell may stand for."""

import math
from collections import defaultdict
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError
from sudare.estimates import ask
from sudare.estimates.generalized_counts import counted, plain_values, shares_of

TREE = {"*": ["a", "b", "c", "d"], "ab": ["a", "b"], "cd": ["c", "d"], **{each: [each] for each in "abcd"}}


def spread(columns, by=(), where=None, trees=None, of=None, generalized=None):
    """The counts of each value of ``of`` in each cell, the records of cells, and everything that was counted."""
    rows = len(next(iter(columns.values())))
    table = pa.table({**columns, "of": of or ["v"] * rows})
    question = ask("of", by, where, table.column_names)
    shares = shares_of(table, question, list(columns) if generalized is None else generalized, trees or {})
    codes, values = plain_values(table, "of")
    found = counted(shares, codes, len(values))
    keys = [tuple(label.values()) for label in shares.labels]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found.records.tolist(), strict=True)), found, (keys, values)


def counts(cells, by="x", where=None, **more):
    return {key: pytest.approx(records) for (key,), records in spread({"x": cells}, by, where, **more)[0].items()}


@pytest.mark.parametrize(
    ("cells", "by", "shown"),
    [
        (["[72, 77]"], "x", dict.fromkeys(range(72, 78), 1 / 6)),
        (["[72, 77]", "73"], "x", {**dict.fromkeys(range(72, 78), 1 / 6), 73: 7 / 6}),
        (["[18, 21]", None], "x:10", {"[10, 19]": 0.5, "[20, 29]": 0.5, None: 1}),
        (["[-3, 2]"], "x:5", {"[-5, -1]": 0.5, "[0, 4]": 0.5}),
        (["[0, 3]"], "x:2.5", {"[0, 2.5)": 0.75, "[2.5, 5)": 0.25}),
        (["[0, 25]", "30", "*"], "x:10", {"[0, 9]": 10 / 26 + 10 / 31, "[10, 19]": 10 / 26 + 10 / 31,
                                          "[20, 29]": 6 / 26 + 10 / 31, "[30, 39]": 1 + 1 / 31}),
        (["[0.5, 10.5]"], "x:10", {"[0, 10)": 0.95, "[10, 20)": 0.05}),
        (["[0, 10)", "[10, 30)", "12.5"], "x:20", {"[0, 20)": 2.5, "[20, 40)": 0.5}),
        (["[0.1, 0.3]"], "x:0.1", {"[0.1, 0.2)": 0.5, "[0.2, 0.3)": 0.5}),
        (["{a, b}", "a", "*", None], "x", {"a": 1.5 + 1 / 3, "b": 0.5 + 1 / 3, None: 1 + 1 / 3}),
        (["{a, null}"], "x", {"a": 0.5, None: 0.5}),
        (["{1, 2, 9}", "9"], "x", {1: 1 / 3, 2: 1 / 3, 9: 4 / 3}),
        (["{13000, 17025}", "*"], "x", {13000: 1, 17025: 1}),
        (["{1, null, 9}", "3"], "x:5", {"[0, 4]": 4 / 3, "[5, 9]": 1 / 3, None: 1 / 3}),
        (["01234", "{01234, 99999}"], "x", {"01234": 1.5, "99999": 0.5}),
        (["902**", "90210"], "x", {"902**": 1, "90210": 1}),
        (["*", "*"], "x", {"*": 2}),
        (["*", None], "x", {"*": 1, None: 1}),
        ([None, None], "x", {None: 2}),
        (["1.5", "2.5", "*"], "x", {"1.5": 1.5, "2.5": 1.5}),
        (["2020", "2021"], "x", {2020: 1, 2021: 1}),
        (["2020", "2021-03", "2021-Q1", "2021-05-06"], "x:year", {"2020": 1, "2021": 3}),
        (["2021-Q1"], "x:month", {"2021-01": 31 / 90, "2021-02": 28 / 90, "2021-03": 31 / 90}),
        (["[2019-12-31, 2020-01-01]"], "x", {"2019-12-31": 0.5, "2020-01-01": 0.5}),
        (["[2019-12-31T23:00:00, 2020-01-01T01:00:00]"], "x:year", {"2019": 0.5, "2020": 0.5}),
        (["2019", "2020"], "x:year", {"2019": 1, "2020": 1}),
        (['"*"', '"[1, 2]"'], "x", {"*": 1, "[1, 2]": 1}),
        (["[10:00:00, 12:00:00]"], "x", {"[10:00:00, 12:00:00]": 1}),
    ],
)  # fmt: skip
def test_what_a_cell_counts_for(cells, by, shown):
    assert counts(cells, by) == shown
    assert sum(spread({"x": cells}, by)[0].values()) == pytest.approx(len(cells))


@pytest.mark.parametrize(
    ("cells", "by", "where", "shown"),
    [
        (["[20, 29]"], "x:5", "x=22..27", {"[20, 24]": 0.3, "[25, 29]": 0.3}),
        (["[20, 29]"], "x", "x=22,25,99", {22: 0.1, 25: 0.1}),
        (["[0.0, 4.0]", "1.5"], "x:2", "x=1..3", {"[0, 2)": 1.25, "[2, 4)": 0.25}),
        (["2020-01", "2020"], "x:year", "x=2020-01-01..2020-01", {"2020": 1 + 31 / 366}),
        (["2020", "2021"], "x:year", "x=2020..2020", {"2020": 1}),
        (["2020", "2021"], "x", "x=2021..", {2021: 1}),
        (["{a, b}", "a"], "x", "x=a", {"a": 1.5}),
        (["{a, null}", None], "x", "x=", {None: 1.5}),
        (["3", None], "x", "x=", {None: 1}),
    ],
)
def test_conditions_cut_through_cells(cells, by, where, shown):
    assert counts(cells, by, where) == shown
    alone = spread({"x": cells}, (), where)[0]
    assert alone[()] == pytest.approx(sum(shown.values()))


def test_labels_of_a_hierarchy_spread_over_their_leaves():
    cells = ["ab", "a", "*", "odd"]
    assert counts(cells, trees={"x": TREE}) == {"a": 1.75, "b": 0.75, "c": 0.25, "d": 0.25, "odd": 1}
    assert counts(cells) == {"ab": 1 + 1 / 3, "a": 1 + 1 / 3, "odd": 1 + 1 / 3}
    assert counts(cells, where="x=a,c", trees={"x": TREE}) == {"a": 1.75, "c": 0.25}
    assert counts(cells, where="x=ab", trees={"x": TREE}) == {"a": 1.75, "b": 0.75}


def test_leaves_that_are_numbers_have_bands():
    tree = {"*": ["1", "2", "11", "12"], "low": ["1", "2"], "high": ["11", "12"]}
    assert counts(["low", "high", "*", "12"], "x:10", trees={"x": tree}) == {"[0, 9]": 1.5, "[10, 19]": 2.5}


@pytest.mark.parametrize(
    ("cells", "by", "where", "says"),
    [
        (["{a, b}"], "x:10", None, "column 'x' does not hold numbers, so it has no bands."),
        (["2020-01-01", "2020-02"], "x:10", None, "column 'x' does not hold numbers"),
        (["[1, 5]"], "x:year", None, "column 'x' does not hold dates, so it has no year."),
        (["{a, b}"], (), "x=1..2", "column 'x' holds neither numbers nor dates"),
        (["[1, 5]"], (), "x=a..b", "column 'x'"),
        (["2020-01-01"], (), "x=1..2", "the range of column 'x' must have dates as its ends."),
        (["[1.5, 5.5]"], "x", None, "give a band width: x:10."),
        (["[0, 999999999]"], "x", None, "the cells of column 'x' cover too many values."),
        (["[0, 1e300]", "[0.5, 1]"], "x:0.01", None, "bands of 0.01 are too narrow for column 'x'."),
        (["*", "*"], "x:10", None, "by: column 'x' shows nothing in this release: all its cells are '*' or missing."),
        (["*", "*"], (), "x=1..2", "where: column 'x' shows nothing in this release"),
        (["[1, 5]"], "x", "x=9..", "no record of this release is in the requested cells."),
    ],
)
def test_what_cannot_be_counted(cells, by, where, says):
    with pytest.raises(DataError) as caught:
        spread({"x": cells}, by, where)
    assert says in str(caught.value)


def test_lists_are_refused():
    with pytest.raises(DataError, match="column 'x' holds sets"):
        spread({"x": pa.array([["a"]])}, "x")


def test_more_cells_than_numbers():
    many = {f"x{place}": [f"[{row}, {row + 9}]" for row in range(3000)] for place in range(6)}
    with pytest.raises(DataError, match="too many"):
        spread(many, list(many))


def test_wide_cells_of_several_columns_are_refused_before_they_fill_the_memory():
    many = {f"x{place}": ["[0, 2000]"] for place in range(3)}
    with pytest.raises(DataError, match="overlap too many cells"):
        spread(many, list(many))


# -- against enumeration ------------------------------------------------------------------------------------------

NUMBERS = st.integers(-12, 30)
DAYS = st.dates(date(1999, 11, 1), date(2000, 3, 31))


def interval(ends):
    return f"[{min(ends)}, {max(ends)}]" if min(ends) != max(ends) else str(ends[0])


WHOLE = st.one_of(st.none(), st.just("*"), NUMBERS.map(str), st.tuples(NUMBERS, NUMBERS).map(interval))
DATES = st.one_of(st.none(), st.just("*"), DAYS.map(str), st.tuples(DAYS, DAYS).map(interval))
SETS = st.one_of(
    st.none(),
    st.just("*"),
    st.sampled_from("abcd"),
    st.lists(st.sampled_from(["a", "b", "c", "d", "null"]), min_size=2, unique=True).map(
        lambda members: "{" + ", ".join(members) + "}"
    ),
)
LABELS = st.sampled_from(["*", "ab", "cd", "a", "b", "c", "d", None])
ROWS = st.lists(st.tuples(WHOLE, DATES, SETS, LABELS, st.sampled_from("vw")), min_size=1, max_size=8)


def members(cell, place, step, told):
    """Everything that a cell stands for, one by one."""
    if cell is None:
        return [None]
    if cell == "*":
        ends = [end for each in told for end in (each or "*").strip("[]").split(", ") if end != "*"]
        if not ends:
            return ["*"]
        if not any(each and "[" in each for each in told):
            return list(dict.fromkeys(None if each is None else place(each) for each in told if each != "*"))
        low, high = min(map(place, ends)), max(map(place, ends))
    else:
        low, _, high = cell.strip("[]").partition(", ")
        low, high = place(low), place(high or low)
    found = [low]
    while found[-1] < high:
        found.append(found[-1] + step)
    return found


def set_members(cell, told):
    if cell == "*":
        found = [member for each in told if each != "*" for member in set_members(each, told)]
        return list(dict.fromkeys(found)) if any(found) else ["*"]
    if cell is None or "{" not in cell:
        return [cell]
    return [None if each == "null" else each for each in cell.strip("{}").split(", ")]


def tree_members(cell):
    return [None] if cell is None else TREE[cell]


def banded(value, how):
    if value is None or not how or value == "*":
        return value.isoformat() if isinstance(value, date) else value
    if how in ("year", "month"):
        return value.isoformat()[: 4 if how == "year" else 7]
    begin = math.floor(value / int(how)) * int(how)
    return f"[{begin}, {begin + int(how) - 1}]"


def wanted_by(value, condition):
    if condition is None:
        return True
    if value is None or value == "*":
        return condition == (None,)
    low, high = condition
    return low <= value <= high


@settings(max_examples=250, deadline=None)
@given(
    rows=ROWS,
    by=st.lists(
        st.sampled_from(["n", "n:10", "n:7", "t", "t:year", "t:month", "s", "h"]),
        unique_by=lambda each: each[0],
        max_size=3,
    ),
    bounds=st.one_of(st.none(), st.tuples(NUMBERS, NUMBERS)),
    days=st.one_of(st.none(), st.tuples(DAYS, DAYS)),
)
def test_shares_are_those_of_an_enumeration(rows, by, bounds, days):
    numbers, dates, sets, labels, of = (list(column) for column in zip(*rows, strict=True))
    columns = {"n": numbers, "t": dates, "s": sets, "h": labels}
    conditions = {"n": bounds and tuple(sorted(bounds)), "t": days and tuple(sorted(days))}
    where = {name: ends for name, ends in conditions.items() if ends is not None}
    shown = {name for name in ("n", "t") if any(cell not in (None, "*") for cell in columns[name])}
    asked = [each for each in by if each[0] in shown or ":" not in each]
    where = {name: ends for name, ends in where.items() if name in shown}
    everything = {
        "n": [members(cell, int, 1, numbers) for cell in numbers],
        "t": [members(cell, date.fromisoformat, timedelta(days=1), dates) for cell in dates],
        "s": [set_members(cell, sets) for cell in sets],
        "h": [tree_members(cell) for cell in labels],
    }
    total, sure, most = defaultdict(Fraction), defaultdict(int), defaultdict(int)
    variance = defaultdict(Fraction)
    for row, value in enumerate(of):
        cells = {(): Fraction(1)}
        for name in dict.fromkeys([*(each[0] for each in asked), *where]):
            how = next((each[2:] for each in asked if each[0] == name), None)
            parts = defaultdict(Fraction)
            for member in everything[name][row]:
                if wanted_by(member, where.get(name)):
                    parts[() if how is None else (banded(member, how),)] += Fraction(1, len(everything[name][row]))
            cells = {cell + part: share * more for cell, share in cells.items() for part, more in parts.items()}
        for cell, share in cells.items():
            total[cell, value] += share
            variance[cell, value] += share * (1 - share)
            sure[cell, value] += share == 1
            most[cell, value] += 1
    if not total:
        with pytest.raises(DataError, match="no record"):
            spread(columns, asked, where, {"h": TREE}, of)
        return
    records, found, (keys, values) = spread(columns, asked, where, {"h": TREE}, of)
    assert set(keys) == {cell for cell, _ in total}
    for line, cell in enumerate(keys):
        for place, value in enumerate(values):
            assert found.counts[line, place] == pytest.approx(float(total[cell, value]), abs=1e-9)
            assert found.variance[line, place] == pytest.approx(float(variance[cell, value]), abs=1e-9)
            assert found.least[line, place] == sure[cell, value]
            assert found.most[line, place] == most[cell, value]
    if not where:
        assert sum(records.values()) == pytest.approx(len(rows))


REALS = st.integers(-40, 120).map(lambda number: number / 8)


@settings(max_examples=150, deadline=None)
@given(
    cells=st.lists(st.one_of(st.none(), st.just("*"), st.tuples(REALS, REALS)), min_size=1, max_size=8),
    width=st.sampled_from([0.5, 2.5, 4]),
    bounds=st.one_of(st.none(), st.tuples(REALS, REALS)),
)
def test_intervals_of_reals_count_by_length(cells, width, bounds):
    ends = [end for cell in cells if isinstance(cell, tuple) for end in cell] + [0.125, 0.5]
    cells = [(min(cell), max(cell)) if isinstance(cell, tuple) else cell for cell in cells] + [(0.125, 0.5)]
    words = [f"[{cell[0]}, {cell[1]}]" if isinstance(cell, tuple) else cell for cell in cells]
    low, high = sorted(bounds) if bounds else (-1e6, 1e6)
    wanted = defaultdict(float)
    for cell in cells:
        if cell is None:
            wanted[None] += bounds is None
            continue
        begin, end = cell if cell != "*" else (min(ends), max(ends))
        for band in range(-100, 100):
            left, right = max(begin, low, band * width), min(end, high, (band + 1) * width)
            label = f"[{band * width:.12g}, {(band + 1) * width:.12g})"
            if begin == end:
                wanted[label] += low <= begin <= high and band * width <= begin < (band + 1) * width
            elif right > left:
                wanted[label] += (right - left) / (end - begin)
    wanted = {label: records for label, records in wanted.items() if records > 0}
    where = None if bounds is None else {"x": (low, high)}
    if not wanted:
        with pytest.raises(DataError, match="no record"):
            spread({"x": words}, f"x:{width}", where)
    else:
        assert counts(words, f"x:{width}", where) == wanted


def test_columns_that_stand_as_they_were_count_whole():
    columns = {"x": ["[20, 29]", "25"], "city": ["Rome", "Oslo"], "pay": [1.5, 12.0]}
    records, found, _ = spread(columns, "city,x:5,pay:10", "pay=1..", generalized=["x"])
    assert records == {
        ("Oslo", "[25, 29]", "[10, 20)"): 1,
        ("Rome", "[20, 24]", "[0, 10)"): 0.5,
        ("Rome", "[25, 29]", "[0, 10)"): 0.5,
    }
    assert found.least.sum() == 1


def test_a_large_release():
    rng = np.random.default_rng(3)
    rows = 300_000
    low = rng.integers(0, 60, rows)
    cells = pa.array(
        [f"[{begin}, {begin + length}]" for begin, length in zip(low, rng.integers(1, 30, rows), strict=True)]
    )
    jobs = pa.array([f"{{a, {letter}}}" for letter in "bcdefgh"]).take(pa.array(rng.integers(0, 7, rows)))
    table = pa.table({"age": cells, "job": jobs, "of": rng.integers(0, 20, rows)})
    shares = shares_of(table, ask("of", "age:10,job", None, table.column_names), ["age", "job"], {})
    codes, values = plain_values(table, "of")
    assert counted(shares, codes, len(values)).records.sum() == pytest.approx(rows)
