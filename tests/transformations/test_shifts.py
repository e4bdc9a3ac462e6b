"""Shifted dates: one offset for each person, everywhere, to the second; and samples of people."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from sudare.core.errors import DataError, PolicyError
from sudare.engines import open_table
from sudare.sources.opened_source import read

from .conftest import policy_of

PEOPLE = [str(each % 50) for each in range(500)]
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=7 * each % 900) for each in range(500)]
MOMENTS = [dt.datetime(2020, 1, 1, 8, 30, 12) + dt.timedelta(seconds=77_777 * each) for each in range(500)]


def shifted(table, columns, **more):
    table = table.append_column("q", pa.array(["a"] * len(table)))
    source, _ = read(open_table(table).table(), policy_of(columns, **more))
    return source.table()


def test_one_offset_moves_all_dates_of_a_person(key):
    step = {"shift": {"days": 100, "per": "p", "key": key}}
    table = pa.table(
        {"p": PEOPLE, "day": DAYS, "at": pa.array(MOMENTS, pa.timestamp("ns")), "text": [f"{at}" for at in MOMENTS]}
    )
    found = shifted(table, {"day": step, "at": step, "text": step}, others={"p": {"role": "identifier"}}).to_pydict()
    moved: dict[str, set[dt.timedelta]] = {}
    for number, person in enumerate(PEOPLE):
        offsets = moved.setdefault(person, set())
        offsets.add(found["day"][number] - DAYS[number])
        offsets.add(found["at"][number].to_pydatetime() - MOMENTS[number])
        offsets.add(dt.datetime.fromisoformat(found["text"][number]) - MOMENTS[number])
    assert all(len(offsets) == 1 for offsets in moved.values())
    days = {offset.days for [offset] in moved.values()}
    assert 0 not in days
    assert min(days) >= -100
    assert max(days) <= 100
    assert len(days) > 25
    assert "p" not in found


def test_text_keeps_its_form_and_its_time_zone(key):
    step = {"shift": {"days": 3, "per": "p", "key": key}}
    table = pa.table({"p": ["1", "1"], "x": ["2024-02-28T23:59:01.5+02:00", "2024-02-28T00:00+02:00"]})
    first, second = shifted(table, {"x": step}, others={"p": {"role": "identifier"}}).column("x").to_pylist()
    assert first[10:] == "T23:59:01.5+02:00"
    assert first[:10] == second[:10] != "2024-02-28"


def test_without_a_key_offsets_are_forgotten_but_the_same_in_all_columns():
    step = {"shift": {"days": 300, "per": "p"}}
    table = pa.table({"p": PEOPLE, "a": DAYS, "b": DAYS})
    found = shifted(table, {"a": step, "b": step}, others={"p": {"role": "identifier"}})
    again = shifted(table, {"a": step, "b": step}, others={"p": {"role": "identifier"}})
    assert found.column("a").equals(found.column("b"))
    assert not found.column("a").equals(again.column("a"))


def test_two_time_zones_are_an_error(key):
    step = {"shift": {"per": "p", "key": key}}
    texts = pa.table({"p": ["1", "1"], "x": ["2024-02-28T00:00Z", "2024-02-28T00:00+09:00"]})
    with pytest.raises(DataError, match="2 time zones"):
        shifted(texts, {"x": step}, others={"p": {"role": "identifier"}})
    here = pa.table(
        {
            "p": ["1"],
            "x": pa.array([MOMENTS[0]], pa.timestamp("us", "Europe/Berlin")),
            "y": pa.array([MOMENTS[0]], pa.timestamp("us", "Asia/Tokyo")),
        }
    )
    with pytest.raises(PolicyError, match="'x' and 'y' are in different time zones"):
        shifted(here, {"x": step, "y": step}, others={"p": {"role": "identifier"}})


@pytest.mark.parametrize(
    "cells, said",
    [
        (pa.array(["0001-01-01"] * 40), "years 1 to 9999"),
        (pa.array([dt.date(9999, 12, 31)] * 40), "years 1 to 9999"),
        (pa.array([(1 << 63) - 10**15] * 40).cast(pa.timestamp("ns")), "leave the dates of their type"),
        (pa.array(["31.12.2024"] * 40), "are no dates"),
        (pa.array(["2024-02-30"] * 40), "are no dates"),
        (pa.array([5] * 40), "are no dates"),
    ],
)
def test_what_cannot_be_shifted(key, cells, said):
    table = pa.table({"p": [str(each) for each in range(40)], "x": cells})
    with pytest.raises(DataError, match=said):
        shifted(table, {"x": {"shift": {"per": "p", "key": key}}}, others={"p": {"role": "identifier"}})


def test_dates_of_nobody_are_an_error(key):
    table = pa.table({"p": ["1", None, ""], "x": DAYS[:3]})
    with pytest.raises(DataError, match=r"2 cells have a date but nobody in 'p'.*\(records 2 and 3\)"):
        shifted(table, {"x": {"shift": {"per": "p", "key": key}}}, others={"p": {"role": "identifier"}})


@pytest.mark.parametrize(
    "columns, said",
    [
        ({"x": {"role": "insensitive", "transform": "shift"}}, "nothing says whom a record is about"),
        ({"x": {"role": "insensitive", "transform": {"shift": {"per": "y"}}}}, "'y' is not a column"),
        ({"x": {"role": "insensitive", "transform": {"shift": {"per": "x"}}}}, "the shifted column itself"),
    ],
)
def test_policies_that_shift_nobody(columns, said):
    with pytest.raises(PolicyError, match=said):
        policy_of({}, others=columns)


def test_samples_of_people_have_all_their_records_or_none():
    people = [str(each % 400) for each in range(4_000)]
    table = pa.table({"p": people, "x": list(range(4_000))})
    found = shifted(
        table, {"x": {"round": 1}}, others={"p": {"role": "subject"}}, sample={"share": 0.25, "per": "subject"}
    ).to_pydict()
    counts = {person: found["p"].count(person) for person in set(found["p"])}
    assert set(counts.values()) == {10}
    assert 60 <= len(counts) <= 140
    assert all(people[x] == p for x, p in zip(found["x"], found["p"], strict=True))


def test_samples_of_records():
    table = pa.table({"x": list(range(10_000))})
    found = shifted(table, {"x": {"round": 1}}, sample={"share": 0.1}).column("x").to_pylist()
    assert 800 <= len(found) <= 1_200
    assert found == sorted(set(found))


def test_a_sample_without_records_is_an_error():
    with pytest.raises(DataError, match="holds no records"):
        shifted(pa.table({"x": [1]}), {"x": {"round": 1}}, sample={"share": 1e-9})
