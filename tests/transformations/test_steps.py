"""Each transformation by itself: what it makes of cells of all types, and what it says of cells that it cannot take."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.core.errors import DataError, PolicyError, SudareError
from sudare.core.randomness import Entropy
from sudare.engines import open_table
from sudare.policy import RoundSpec
from sudare.sources.opened_source import read
from sudare.transformations.rounded_numbers import Rounding
from sudare.transformations.step import Findings, Place

from .conftest import policy_of


def column(transformed: Any, cells: Any, steps: Any, **more: Any) -> list[Any]:
    found: list[Any] = transformed(pa.table({"x": cells}), {"x": steps}, **more).column("x").to_pylist()
    return found


TOP = [
    (pa.array([88, 89, 90, 101, None]), 89, [88, 89, 89, 89, None]),
    (pa.array(["88", "89", "90", " 101 ", ""]), {"at": 89, "shows": 90}, ["88", "89", "90", "90", None]),
    (pa.array([1.5, 90.0]), {"at": 89, "shows": "90+"}, ["1.5", "90+"]),
    (pa.array([Decimal("1.50"), Decimal("90.01")]), 89, [Decimal("1.50"), Decimal("89.00")]),
    (pa.array([88, 90]), {"at": 88.5}, [88.0, 88.5]),
    (pa.array([1, 255], pa.uint8()), {"at": 200, "shows": 300}, [1, 300]),
]


@pytest.mark.parametrize("cells, step, shown", TOP)
def test_top(transformed, cells, step, shown):
    assert column(transformed, cells, {"top": step}) == shown


def test_bottom_is_the_mirror_of_top(transformed):
    assert column(transformed, pa.array([-5, 0, 17, 18]), {"bottom": 18}) == [18, 18, 18, 18]
    assert column(transformed, pa.array(["3", "20"]), {"bottom": {"at": 18, "shows": "< 18"}}) == ["< 18", "20"]


ROUND = [
    (pa.array([12, 13, -12, -13, None]), 5, [10, 15, -10, -15, None]),
    (pa.array([2, 3, 7]), {"to": 5, "how": "up"}, [5, 5, 10]),
    (pa.array([2, 3, 7]), {"to": 5, "how": "down"}, [0, 0, 5]),
    (pa.array([0.3, 0.1 + 0.2, 0.25]), {"to": 0.1, "how": "up"}, [0.3, 0.3, 0.3]),
    (pa.array([0.3, 0.6, 0.7]), {"to": 0.1, "how": "down"}, [0.3, 0.6, 0.7]),
    (pa.array(["0.26", "1e2", "7"]), 0.25, ["0.25", "100", "7"]),
    (pa.array([7, 8]), 2.5, [7.5, 7.5]),
    (pa.array([Decimal("1.98")]), 0.05, [Decimal("2.00")]),
]


@pytest.mark.parametrize("cells, step, shown", ROUND)
def test_round(transformed, cells, step, shown):
    assert column(transformed, cells, {"round": step}) == shown


def test_rounding_at_random_is_unbiased_and_on_the_grid(transformed):
    values = np.arange(200_000) % 997
    found = np.array(column(transformed, pa.array(values), {"round": {"to": 10, "how": "random"}}))
    assert (found % 10 == 0).all()
    assert np.abs(found - values).max() < 10
    # the mean of 200,000 errors with variance 100/6 has a standard error of 0.009
    assert abs((found - values).mean()) < 0.05


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.sampled_from([0.01, 0.1, 0.25, 1.0, 7.0, 1000.0]))
def test_rounded_numbers_are_the_nearest_multiples(values, to):
    source, _ = read(
        open_table(pa.table({"x": pa.array(values, pa.float64()), "q": ["a"] * len(values)})).table(),
        policy_of({"x": {"round": to}}),
    )
    for before, after in zip(values, source.table().column("x").to_pylist(), strict=True):
        assert abs(before - after) <= to / 2 * (1 + 1e-9) + 1e-6
        exact = Decimal(repr(after)) / Decimal(str(to))
        assert abs(exact - round(exact)) < Decimal("1e-6")


DATES = pa.array([dt.date(2024, 12, 31), dt.date(2021, 1, 3), None])
TIMES = pa.array([dt.datetime(2024, 12, 31, 23, 59), dt.datetime(2021, 1, 3), None], pa.timestamp("us"))
TEXTS = pa.array(["2024-12-31", "2021-01-03 10:00:00", ""])


@pytest.mark.parametrize("cells", [DATES, TIMES, TEXTS])
@pytest.mark.parametrize(
    "to, shown",
    [
        ("month", ["2024-12", "2021-01", None]),
        ("quarter", ["2024-Q4", "2021-Q1", None]),
        ("week", ["2025-W01", "2020-W53", None]),
    ],
)
def test_periods(transformed, cells, to, shown):
    assert column(transformed, cells, {"truncate": to}) == shown


def test_years_are_numbers_unless_dates_are_texts(transformed):
    assert column(transformed, DATES, {"truncate": "year"}) == [2024, 2021, None]
    assert column(transformed, TEXTS, {"truncate": "year"}) == ["2024", "2021", None]


def test_beginnings_count_characters(transformed):
    assert column(transformed, pa.array(["02139", "日本語の", "é", None]), {"truncate": 2}) == ["02", "日本", "é", None]


def test_numbers_have_no_first_characters(transformed):
    with pytest.raises(DataError, match="lost the zeros"):
        column(transformed, pa.array([2139]), {"truncate": {"keep": 3}})


BANDS = [
    (pa.array([0, 4, 5, 99, -1]), 5, ["[0, 4]", "[0, 4]", "[5, 9]", "[95, 99]", "[-5, -1]"]),
    (pa.array(["0", "7"]), 5, ["[0, 4]", "[5, 9]"]),
    (pa.array(["0.5", "7"]), 5, ["[0, 5)", "[5, 10)"]),
    (pa.array([0.3, 0.05]), 0.1, ["[0.3, 0.4)", "[0, 0.1)"]),
    (pa.array([17, 18, 39, 40, 65]), {"edges": [18, 40, 65]}, ["< 18", "[18, 39]", "[18, 39]", "[40, 64]", ">= 65"]),
    (pa.array([17.9, 18.0, 70.0]), {"edges": [18, 40, 65]}, ["< 18", "[18, 40)", ">= 65"]),
]


@pytest.mark.parametrize("cells, step, shown", BANDS)
def test_bands(transformed, cells, step, shown):
    assert column(transformed, cells, {"band": step}) == shown


def test_masks(transformed):
    cells = pa.array(["Anna", "Bo", "C", "", None, "日本語です"])
    assert column(transformed, cells, {"mask": {"keep_first": 1}}) == ["A***", "B*", "*", None, None, "日****"]
    step = {"mask": {"keep_first": 1, "keep_last": 1, "with": "#"}}
    assert column(transformed, cells, step) == ["A##a", "##", "#", None, None, "日###す"]


@pytest.mark.parametrize("cells", [pa.array([1234]), DATES])
def test_only_texts_can_be_masked(transformed, cells):
    with pytest.raises(DataError, match="cannot be masked"):
        column(transformed, cells, {"mask": {}})


def test_replacements(transformed, tmp_path):
    cells = pa.array(["1", "2.0", " b ", None])
    step = {"values": {1: "one", 2: "two", "b": None}}
    assert column(transformed, cells, {"replace": step}) == ["one", "two", None, None]
    assert column(transformed, pa.array([1, 7]), {"replace": {**step, "else": "null"}}) == ["one", None]
    assert column(transformed, pa.array(["1", "q"]), {"replace": {**step, "else": "keep"}}) == ["one", "q"]
    file = tmp_path / "list.csv"
    file.write_text('from;to\n1;"one; or more"\n2;\n')
    found = column(transformed, pa.array([1, 2]), {"replace": {"file": str(file)}})
    assert found == ["one; or more", None]


def test_gaps_in_a_list_are_named_by_their_records(transformed):
    with pytest.raises(DataError) as caught:
        column(transformed, pa.array(["a", "secret", "a", "hidden"]), {"replace": {"values": {"a": "b"}}})
    assert "2 cells are not in the list of replacements (records 2 and 4)" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "needs the header"),
        ("a,b\n1,2\n", "needs the header"),
        ("from,to\n", "lists no values"),
        ("from,to\n1,2,3\n", "line 2 has not two fields"),
        ("from,to\n1,2\n1,3\n", "names a value twice"),
        ("from,to\n1,2\n1.0,3\n", "names a value twice"),
        ('from,to\n"1,2\n', "is not well-formed CSV"),
    ],
)
def test_files_of_replacements_with_mistakes(transformed, tmp_path, text, said):
    file = tmp_path / "list.csv"
    file.write_text(text)
    with pytest.raises(PolicyError, match=said):
        column(transformed, pa.array(["1"]), {"replace": {"file": str(file)}})


def test_redacted_cells_are_empty(transformed):
    assert column(transformed, pa.array([1, None]), "redact") == [None, None]


@pytest.mark.parametrize("name", ["top", "round", "band", "noise"])
def test_words_among_numbers_are_named_by_their_records(transformed, name):
    step = {"noise": {"scale": 1}} if name == "noise" else {name: 5}
    with pytest.raises(DataError) as caught:
        column(transformed, pa.array(["1", "Smith", "3", "inf"]), step)
    assert "2 cells are no numbers (records 2 and 4)" in str(caught.value)
    assert "Smith" not in str(caught.value)


def test_infinite_numbers_are_an_error_and_nan_is_missing(transformed):
    assert column(transformed, pa.array([1.0, float("nan")]), {"round": 1}) == [1.0, None]
    with pytest.raises(DataError, match="1 cell is not finite"):
        column(transformed, pa.array([1.0, float("inf")]), {"round": 1})


def test_all_problems_of_all_columns_come_at_once(transformed):
    table = pa.table({"x": ["a"], "y": ["no date"], "z": [1]})
    with pytest.raises(DataError) as caught:
        transformed(table, {"x": {"round": 5}, "y": {"truncate": "year"}, "z": {"mask": {}}})
    assert len(caught.value.problems) == 3


def test_items_are_transformed_one_by_one(transformed, key):
    sets = {"role": "quasi", "kind": "items"}
    cells = pa.array(["a1,a2,b1", "c", "", None])
    shown = transformed(
        pa.table({"s": cells, "x": [1, 2, 3, 4]}),
        {"x": "redact"},
        others={"s": {**sets, "transform": {"truncate": 1}}},
    )
    assert shown.column("s").to_pylist() == ["a,b", "c", None, None]
    lists = pa.array([["a1", "a2", None], [], None])
    shown = transformed(
        pa.table({"s": lists, "x": [1, 2, 3]}),
        {"x": "redact"},
        others={
            "s": {**sets, "transform": [{"replace": {"values": {"a1": "a", "a2": "a"}}}, {"pseudonym": {"key": key}}]}
        },
    )
    [[one], empty, missing] = shown.column("s").to_pylist()
    assert len(one) == 16
    assert (empty, missing) == ([], None)


def test_items_may_not_contain_the_separator(transformed):
    sets = {"role": "quasi", "kind": "items", "transform": {"replace": {"values": {"a": "x,y"}}}}
    with pytest.raises(SudareError, match="separator"):
        transformed(pa.table({"s": ["a", "a"], "x": [1, 2]}), {"x": "redact"}, others={"s": sets})


def test_steps_are_applied_in_order(transformed):
    cells = pa.array([3, 88, 99])
    assert column(transformed, cells, [{"top": 89}, {"round": 10}]) == [0, 90, 90]
    assert column(transformed, cells, [{"round": 10}, {"top": 89}]) == [0, 89, 89]


def test_missing_words_stay_missing(transformed, key):
    cells = pa.array(["?", "1", ""])
    found = column(transformed, cells, {"pseudonym": {"key": key}}, source={"missing": ["?", ""]})
    assert [each is None for each in found] == [True, False, True]


def test_a_share_finds_a_round_limit_with_enough_people_beyond(transformed):
    rng = np.random.default_rng(3)
    values = np.round(rng.lognormal(8, 1, 5_000), 2)
    policy = policy_of({"x": {"top": {"share": 0.005}}}, require=[{"model": "k-anonymity", "k": 7}])
    table = pa.table({"x": values, "q": ["a"] * len(values)})
    source, _ = read(open_table(table).table(), policy)
    found = np.array(source.table().column("x").to_pylist())
    [entry] = source.facts()
    limit = entry["figures"]["limit"]
    assert found.max() == limit
    assert limit not in values
    assert float(f"{limit:.2g}") == limit
    assert np.count_nonzero(values > limit) >= max(0.005 * len(values), 7)
    assert np.count_nonzero(values > limit) <= 0.012 * len(values)


def test_a_share_counts_people_and_not_records(transformed):
    values = [*range(1, 11), *[1_000] * 30]
    people = [*map(str, range(10)), *["rich"] * 30]
    columns = {"x": {"role": "insensitive", "transform": {"top": {"share": 0.01}}}, "p": {"role": "subject"}}
    policy = policy_of({}, others=columns, require=[{"model": "k-anonymity", "k": 3}])
    source, _ = read(open_table(pa.table({"x": values, "p": people, "q": ["a"] * 40})).table(), policy)
    source.table()
    [entry] = source.facts()
    assert len({p for p, x in zip(people, values, strict=True) if x > entry["figures"]["limit"]}) >= 3


def test_nobody_within_the_limit_is_an_error(transformed):
    with pytest.raises(DataError, match="fewer than 2 people"):
        column(transformed, pa.array([1, 1]), {"top": {"share": 0.1}})


@given(st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=1, max_size=50), st.floats(0.04, 1))
def test_swaps_keep_all_values_and_move_none_too_far(values, within):
    table = pa.table({"x": pa.array(values, pa.int64()), "q": ["a"] * len(values)})
    source, _ = read(open_table(table).table(), policy_of({"x": {"swap": within}}))
    reached = int(within * sum(each is not None for each in values))
    if reached < 2 and any(each is not None for each in values):
        with pytest.raises(DataError, match="everybody could undo it"):
            source.table()
        return
    found = source.table().column("x").to_pylist()
    key = lambda each: (each is None, each or 0)  # noqa: E731
    assert sorted(found, key=key) == sorted(values, key=key)
    assert [each is None for each in found] == [each is None for each in values]
    # the largest move in ranks, between the nearest ranks that equal values could have had
    there = sorted(each for each in values if each is not None)
    lowest = {each: there.index(each) for each in there}
    highest = {each: len(there) - 1 - there[::-1].index(each) for each in there}
    most = int(within * len(there))
    for before, after in zip(values, found, strict=True):
        if before is not None:
            apart = max(lowest[after] - highest[before], lowest[before] - highest[after], 0)
            assert apart <= most


def test_swapped_dates_and_ordered_categories(transformed):
    days = pa.array([dt.date(2024, 1, 1) + dt.timedelta(each) for each in range(100)])
    found = column(transformed, days, {"swap": 0.05})
    assert max(abs((a - b).days) for a, b in zip(found, days.to_pylist(), strict=True)) <= 5
    assert found != days.to_pylist()
    columns = {"x": {"role": "insensitive", "order": ["low", "mid", "high"], "transform": {"swap": 0.1}}}
    cells = pa.array(["low", "mid", "high", None] * 25)
    found = transformed(pa.table({"x": cells}), {}, others=columns).column("x").to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, cells.to_pylist()))
    with pytest.raises(DataError, match="not in the order"):
        transformed(pa.table({"x": ["low", "odd"]}), {}, others=columns)


def test_shuffles_keep_the_values_of_each_group(transformed):
    groups, values = [each % 7 for each in range(700)], list(range(700))
    found = transformed(
        pa.table({"x": values, "g": groups}), {"x": {"shuffle": ["g"]}}, others={"g": {"role": "quasi"}}
    )
    shown = found.column("x").to_pylist()
    assert shown != values
    for group in range(7):
        assert sorted(shown[group::7]) == values[group::7]


def test_the_error_of_rounding_at_random_depends_on_whole_numbers():
    for values, to, variance in (([1, 4], 2.0, 0.5), ([1, 4], 5.0, 4.0), ([1.5, 4.0], 5.0, 4.17), ([1, 4], 2.5, 1.04)):
        place, findings = Place("x", 1, "round"), Findings()
        Rounding(place, RoundSpec(to=to, how="random"), Entropy()).apply(pa.array(values), {}, findings)
        assert findings.figures[place]["error_variance"] == variance


def test_random_steps_are_drawn_once_for_a_table_that_is_read_twice(transformed):
    table = open_table(pa.table({"x": np.arange(100.0), "q": ["a"] * 100})).table()
    source, _ = read(table, policy_of({"x": {"noise": {"scale": 5}}}))
    assert source.table().equals(source.table())


def test_mixed_columns_keep_their_rows_together(transformed):
    """Columns that need all rows at once, and those that do not, are put side by side again."""
    rows = 3_000
    table = pa.table({"x": np.arange(rows), "y": np.arange(rows), "z": pc.cast(pa.array(np.arange(rows)), pa.string())})
    found = transformed(
        table, {"x": {"swap": 0.001}, "y": {"round": 1}}, others={"z": {"role": "insensitive"}}
    ).to_pydict()
    assert found["y"] == list(range(rows))
    assert found["z"] == [str(each) for each in range(rows)]
    assert max(abs(a - b) for a, b in zip(found["x"], found["y"], strict=True)) <= 3


def test_lists_are_item_sets(transformed):
    with pytest.raises(PolicyError, match=r"columns\.x\.kind: the column holds lists.*kind: items"):
        column(transformed, pa.array([["a1"], ["b2"]]), {"truncate": 1})
    columns = {"x": {"role": "insensitive", "kind": "items", "transform": {"truncate": 1}}}
    found = transformed(pa.table({"x": [["a1", "a2"], ["b2"]]}), {}, others=columns)
    assert found.column("x").to_pylist() == [["a"], ["b"]]
