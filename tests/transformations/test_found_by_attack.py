"""Cells and policies on which transformations once went wrong: each is right now, or refused with a reason."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, PolicyError, SudareError

DAYS = [dt.date(2024, 1, 1 + day) for day in range(4)]
MOST = 2**63 - 1


def shown(transformed, cells, step, **more):
    return transformed(pa.table({"x": cells}), {"x": step}, **more).column("x").to_pylist()


def refused(transformed, cells, step, words, **more):
    with pytest.raises(SudareError, match=words) as raised:
        shown(transformed, cells, step, **more)
    assert all(problem.hint for problem in raised.value.problems)


def shifted(transformed, texts, **more):
    table = pa.table({"x": texts, "who": [f"p{number}" for number in range(len(texts))]})
    others = {"who": {"role": "identifier"}}
    return transformed(table, {"x": {"shift": {"per": "who"}}}, others=others, **more).column("x").to_pylist()


@pytest.mark.parametrize(
    "text", ["2024-03-05 to 2024-03-09", "2024-03-05 Anna Abel called", "2024-03-05T10:00 2024-03-06", "2024-03-05 x"]
)
def test_nothing_but_a_time_follows_a_shifted_date(transformed, text):
    with pytest.raises(DataError, match="more than a date and a time") as raised:
        shifted(transformed, [text, "2024-03-07"])
    assert "2024-03" not in str(raised.value.problems[0].what)


@pytest.mark.parametrize(
    "clock", ["", "T10:00:00.25", " 10:00", " 9:05 PM", "T10:00:00Z", " 10:00:00+02", " 10:00:00 +02:00", " 10:00 UTC"]
)
def test_times_stay_as_they_are_written(transformed, clock):
    [found] = shifted(transformed, [f"2024-03-05{clock}"])
    assert found[10:] == clock
    assert found[:10] != "2024-03-05"


def test_time_zones_are_seen_across_batches(transformed, monkeypatch):
    monkeypatch.setattr("sudare.engines.batches.ROWS", 2)
    texts = ["2024-03-05T10:00Z"] * 4 + ["2024-03-05T10:00+02:00"] * 4
    with pytest.raises(DataError, match="2 time zones"):
        shifted(transformed, texts)
    assert len(shifted(transformed, texts[:4])) == 4


def test_time_zones_are_seen_across_columns(transformed):
    table = pa.table({"x": ["2024-03-05T10:00Z"], "y": ["2024-03-05T10:00+02:00"], "who": ["p"]})
    steps = {name: {"shift": {"per": "who"}} for name in "xy"}
    with pytest.raises(DataError, match="2 time zones in 2 columns"):
        transformed(table, steps, others={"who": {"role": "identifier"}})


@pytest.mark.parametrize(
    "step", [{"round": 5}, {"round": 0.1}, {"top": 5}, {"bottom": 5.5}, {"noise": 0.5}, {"noise": {"scale": 2}}]
)
@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
def test_steps_of_numbers_refuse_dates(transformed, step, kind):
    refused(transformed, pa.array(DAYS).cast(kind), step, "are no numbers")
    empty = pa.nulls(4, pa.null() if kind == pa.date32() else kind)
    assert shown(transformed, empty, step) == [None] * 4


@pytest.mark.parametrize("how, number", [("up", MOST), ("nearest", MOST - 300), ("down", -MOST)])
def test_rounding_does_not_leave_64_bits(transformed, how, number):
    refused(transformed, pa.array([1, number]), {"round": {"to": 1000, "how": how}}, "beyond 64 bits")


def test_limits_and_grids_beyond_64_bits(transformed):
    cells = pa.array([1, 2, MOST])
    assert shown(transformed, cells, {"round": 1e30}) == [0, 0, 0]
    assert shown(transformed, cells, {"top": 1e30}) == [1, 2, MOST]
    assert shown(transformed, pa.array(["1", "9"]), {"top": {"at": 5, "shows": 1e20}}) == ["1", "1" + 20 * "0"]
    refused(transformed, pa.array([1, 9]), {"top": {"at": 5, "shows": 1e30}}, "beyond 64 bits")
    refused(transformed, pa.array([1, 9]), {"bottom": 1e30}, "beyond 64 bits")
    assert shown(transformed, pa.array([2**62, 1]), {"round": 2.0**62}) == [2**62, 0]


DECIMALS = [
    ({"round": {"to": 1000, "how": "up"}}, ["1000", "1000"]),
    ({"round": 2.5}, ["2.5", "1000"]),
    ({"top": {"at": 5, "shows": 5000}}, ["2", "5000"]),
    ({"bottom": 2.5}, ["2.5", "999"]),
]


@pytest.mark.parametrize("step, expected", DECIMALS)
def test_decimals_have_room_for_other_values(transformed, step, expected):
    cells = pa.array([Decimal(2), Decimal(999)], pa.decimal128(3, 0))
    assert shown(transformed, cells, step) == list(map(Decimal, expected))


def test_noise_on_decimals_has_room(transformed):
    cells = pa.array([Decimal(2)] * 200, pa.decimal128(3, 0))
    assert max(abs(each) for each in shown(transformed, cells, {"noise": {"scale": 5000}})) > 999


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([Decimal("12345678901234567890.12"), Decimal("1.10")], pa.decimal128(30, 2)),
        pa.array(["12345678901234567891", "1.5"]),
        pa.array(["1234567890123456789", "4.5"]),
    ],
)
def test_no_digit_is_lost_silently(transformed, cells):
    refused(transformed, cells, {"top": 5e30}, "more digits")
    assert sorted(map(str, shown(transformed, cells, {"swap": 1}))) == sorted(map(str, cells.to_pylist()))


@pytest.mark.parametrize(
    "cells, step, words",
    [
        (pa.array([1, 2]), {"noise": {"scale": 1, "bounds": [0.2, 0.8]}}, "no whole number"),
        (pa.array([1, 2]), {"noise": {"scale": 1e300}}, "beyond all numbers"),
        (pa.array([1.0, 2]), {"noise": {"scale": 1e308}}, "beyond all numbers"),
        (pa.array([1.0, 1e300]), {"noise": 1.0}, "beyond all numbers"),
        (pa.array([MOST, -MOST]), {"noise": 1.0}, "beyond all numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_noise_beyond_all_numbers_or_bounds(transformed, cells, step, words):
    refused(transformed, cells, step, words)


def test_periods_of_early_years(transformed):
    days = pa.array([dt.date(1, 1, 5), dt.date(987, 12, 30)])
    assert shown(transformed, days, {"truncate": "quarter"}) == ["0001-Q1", "0987-Q4"]
    weeks = [day.isocalendar() for day in days.to_pylist()]
    assert shown(transformed, days, {"truncate": "week"}) == [f"{each[0]:04}-W{each[1]:02}" for each in weeks]


@pytest.mark.parametrize(
    "cells, width, label",
    [
        (pa.array([MOST]), 10, "[9223372036854775800, 9223372036854775809]"),
        (pa.array([2**53 + 1]), 1, str(2**53 + 1)),
        (pa.array([-7]), 5, "[-10, -6]"),
        (pa.array([123456789012.34]), 0.1, "[123456789012.3, 123456789012.4)"),
        (pa.array([-0.05]), 0.1, "[-0.1, 0)"),
    ],
)
def test_bands_have_exact_ends(transformed, cells, width, label):
    assert shown(transformed, cells, {"band": width}) == [label]


def test_bands_far_too_narrow(transformed):
    refused(transformed, pa.array([1e300, 1.0]), {"band": 0.1}, "too large for bands")


def test_a_release_with_bands_of_large_numbers_keeps_its_policy():
    table = pa.table({"q": ["a"] * 4, "x": [123456789012.34, -98765432109.87, 0.3, -0.05]})
    columns = {"q": {"role": "quasi"}, "x": {"role": "insensitive", "transform": {"band": 0.1}}}
    policy = {"version": 1, "columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
    [entry] = sudare.anonymize(table, policy).certificate["transformations"]  # raises if the audit finds anything
    assert entry["proven"]


@pytest.mark.parametrize(
    "cells", [pa.array([{"a": 1}] * 2), pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64()))]
)
@pytest.mark.parametrize("step", [{"truncate": 2}, {"replace": {"values": {"a": "b"}}}])
def test_records_within_cells_are_refused(transformed, cells, step):
    with pytest.raises(PolicyError, match="holds records of several"):
        shown(transformed, cells, step)
