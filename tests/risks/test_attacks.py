"""Attacks: intervals, who fits which released record, linkage and inference, by hand and against naive versions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.kernels.risks.class_matches import judge
from sudare.releases import Anything, Choice, Interval, parse_cell
from sudare.risks import matches
from sudare.risks.class_risk import group_rows, people_by_class
from sudare.risks.inference import guess_as_it_is
from sudare.risks.intervals import success, wilson
from sudare.risks.linkage import link, link_as_it_is

from . import naive


def test_wilson_by_hand():
    """Ten of a hundred at 95%: the interval that textbooks print."""
    assert wilson(0.1, 100) == (pytest.approx(0.0552, abs=1e-4), pytest.approx(0.1744, abs=1e-4))
    assert wilson(0.0, 50)[0] == 0
    assert wilson(1.0, 50)[1] == 1
    assert wilson(0.3, 0) == (0, 1)


def test_the_difference_is_newcombes():
    """The distances to the ends of both intervals of Wilson, squared and added."""
    found = success(0.8, 0.6, 70)
    (low, high), (base_low, base_high) = wilson(0.8, 70), wilson(0.6, 70)
    assert found.above == pytest.approx(0.2)
    assert found.above_low == pytest.approx(0.2 - np.hypot(0.8 - low, base_high - 0.6))
    assert found.above_high == pytest.approx(0.2 + np.hypot(high - 0.8, 0.6 - base_low))


def test_linkage_by_hand():
    """Fitting records 1, 2, 4, 0 of 10: right with 1, 1/2, 1/4 and never; one of four is singled out."""
    found = link(np.array([1.0, 2.0, 4.0, 0.0]), 10)
    assert found.linked.success == pytest.approx((1 + 1 / 2 + 1 / 4) / 4)
    assert found.linked.baseline == pytest.approx(0.1)
    assert (found.singled_out.success, found.unmatched, found.matches) == (0.25, 1, 7 / 4)


def test_records_of_one_person_are_no_crowd():
    """Three records of one person alone in a class, two people in another: found surely, and by one in two."""
    codes = np.array([0, 0, 0, 1, 1, 1])
    subjects = np.array([7, 7, 7, 2, 3, 3])
    classes = group_rows([codes], [2], 6)
    every = np.arange(6)
    found = link_as_it_is(classes, every, subjects)
    assert found.linked.success == pytest.approx((3 * 1 + 3 * 1 / 2) / 6)
    assert found.singled_out.success == pytest.approx(1 / 2)
    assert found.linked.baseline == pytest.approx(1 / 3)
    assert link_as_it_is(classes, every).linked.success == pytest.approx(1 / 3)  # if nobody knew whose they are
    assert people_by_class(classes, subjects).tolist() == [1, 2]
    assert people_by_class(classes, subjects, np.array([True, False, False, True, False, False])).tolist() == [1, 1]


def visits(rows, count):
    """People with three visits each, all alike, and a policy that counts rows or people."""
    draw = np.random.default_rng(5)
    who = np.repeat(np.arange(rows // 3), 3)
    age, job = draw.integers(20, 60, rows // 3)[who], np.array(["a", "b"])[who % 2]
    data = pa.table({"who": who, "age": age, "job": job, "sick": ["x", "y", "z"] * (rows // 3)})
    columns = {
        "who": {"role": "subject"},
        "age": {"role": "quasi"},
        "job": {"role": "quasi"},
        "sick": {"role": "sensitive"},
    }
    return data, {"columns": columns, "require": [{"model": "k-anonymity", "k": 3, "count": count}]}


def test_a_promise_that_counts_rows_gives_people_with_several_away():
    """Three records of one person keep it: whoever finds them has found the person."""
    data, rules = visits(180, "rows")
    release = sudare.anonymize(data, rules, seed=1)
    assert "who" not in release.data.column_names
    found = sudare.risk(data, rules, release=release).after.linkage
    cells = release.data.select(["age", "job"]).to_pylist()
    expected, alone = [], []
    for row in data.to_pylist():
        fitting = sum(one["job"] in (row["job"], "{a, b}", "*") and _covers(one["age"], row["age"]) for one in cells)
        expected.append(3 / fitting)  # the person's other records look the same
        alone.append(fitting == 3)
    assert found.linked.success == pytest.approx(np.mean(expected))
    assert np.mean(alone) > 0.1
    assert found.singled_out.success == pytest.approx(np.mean(alone))
    assert found.linked.baseline == pytest.approx(3 / 180)


def _covers(cell, value):
    told = parse_cell(str(cell))
    if isinstance(told, Interval):
        return float(told.low) <= value <= float(told.high)
    return isinstance(told, Anything) or float(cell) == value


@pytest.mark.parametrize("subjects", ["per-class", "linked"])
def test_a_promise_that_counts_people_limits_linkage(subjects):
    data, rules = visits(180, "subjects")
    rules = {**rules, "release": {"subjects": subjects}}
    release = sudare.anonymize(data, rules, seed=1)
    assert "who" in release.data.column_names
    found = sudare.risk(data, rules, release=release)
    assert found.before.linkage.linked.baseline == found.after.linkage.linked.baseline == pytest.approx(1 / 60)
    assert found.after.linkage.linked.success <= 1 / 3
    assert found.after.linkage.singled_out.success == 0


def test_linkage_to_the_table_itself_is_the_marketer():
    classes = group_rows([np.array([0, 0, 1, 2, 2, 2])], [3], 6)
    found = link_as_it_is(classes, np.arange(6))
    assert found.linked.success == pytest.approx(3 / 6)
    assert found.singled_out.success == pytest.approx(1 / 6)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 3))
def test_guesses_are_those_of_a_naive_version(values, own):
    """With all, and with one of one's own taken away."""
    values = [own, *values]
    counts = Counter(values)
    array = np.zeros(4)
    met = np.array(list(counts), dtype=np.int64)
    for value, count in counts.items():
        array[value] = count
    result = np.zeros(2)
    judge(array, met, len(met), own, result)
    without = naive.guess(values[1:], own)
    assert result[0] == pytest.approx(naive.guess(values, own))
    assert result[1] == (-1 if without is None else pytest.approx(without))


def test_inference_by_hand():
    """Classes {x, x, y} and {y}: the majority is right about 3 of 4.

    The prior is a tie between x and y, and x is taken: 2 of 4. With the own record held out: the x have x and y, a tie
    (1/2 each); the y has x and x (0); the single y has nobody, and the prior is wrong: 1/4 in all.
    """
    classes = group_rows([np.array([0, 0, 0, 1])], [2], 4)
    found = guess_as_it_is(classes, np.array([0, 0, 1, 1]), np.arange(4), 2)
    assert found.by_class.success == pytest.approx(3 / 4)
    assert found.by_class.baseline == pytest.approx(2 / 4)
    assert found.held_out == pytest.approx(1 / 4)
    assert (found.certain, found.nearly_certain) == (0.25, 0.25)
    # shares 2/3 and 1/3 against 1/2: a shift of 1/6; the single one 1/2
    assert found.largest_shift == pytest.approx(1 / 2)
    assert found.mean_shift == pytest.approx((3 / 6 + 1 / 2) / 4)


POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [3, 2, 1]}},
        "job": {"role": "quasi", "kind": "categorical"},
        "items": {"role": "quasi", "kind": "items"},
        "ill": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 2}],
}
person = st.tuples(
    st.one_of(st.none(), st.integers(20, 25)),
    st.one_of(st.none(), st.sampled_from(["111", "112", "121", "211"])),
    st.one_of(st.none(), st.sampled_from(["a", "b", "*", "[1, 2]"])),
    st.one_of(st.none(), st.lists(st.sampled_from(["p", "q", "r"]), max_size=3, unique=True)),
    st.sampled_from(["x", "y"]),
)


def fits(known, row):
    """Say, from the text of its cells alone, whether a released record may be a person's."""
    age, code, job, items, _ = known
    cell = parse_cell(row["age"])
    if isinstance(cell, Interval):
        if age is None or not int(cell.low) <= age <= int(cell.high):
            return False
    elif not isinstance(cell, Anything) and cell != (None if age is None else str(age)):
        return False
    cell = parse_cell(row["zip"])
    if not isinstance(cell, Anything):
        if (cell is None) != (code is None):
            return False
        if cell is not None and not code.startswith(cell.rstrip("*")):
            return False
    cell = parse_cell(row["job"])
    if not isinstance(cell, Anything) and job not in (cell.members if isinstance(cell, Choice) else (cell,)):
        return False
    if row["items"] is None:
        return items is None
    return not row["items"] or (items is not None and set(row["items"]) <= set(items))


@settings(max_examples=60, deadline=None)
@given(st.lists(person, min_size=4, max_size=25), st.sampled_from([1, 2, 256]))
def test_who_fits_is_what_the_cells_say(people, lines):
    """Also where a line is for several codes, as in columns of many values."""
    names = list(POLICY["columns"])
    types = [pa.int64(), pa.string(), pa.string(), pa.list_(pa.string()), pa.string()]
    columns = zip(*people, strict=True)
    data = pa.table({name: pa.array(c, t) for name, c, t in zip(names, columns, types, strict=True)})
    tight = {**POLICY, "release": {"ranges": "tight"}}  # the naive version knows no category for rare values
    release = sudare.anonymize(data, tight, seed=1)
    rows = release.data.to_pylist()
    expected = [sum(fits(known, row) for row in rows) for known in people]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "MOST_LINES", lines)
        found = sudare.risk(data, tight, release=release)
    assert found.after.linkage.linked.success == pytest.approx(np.mean([1 / count for count in expected]))
    assert found.after.linkage.matches == pytest.approx(np.mean(expected))
    right = [naive.guess([row["ill"] for row in rows if fits(known, row)], known[4]) for known in people]
    assert found.inference[0].after.by_class.success == pytest.approx(np.mean(right))


def test_columns_of_many_values():
    """Thousands of different numbers and categories: lines are for ranges of codes, and sets have many members."""
    random = np.random.default_rng(3)
    count = 3000
    data = pa.table(
        {
            "a": np.round(random.normal(0, 100, count), 3),
            "b": [f"c{code}" for code in random.integers(0, 700, count).tolist()],
            "s": random.choice(["x", "y"], count),
        }
    )
    policy = {
        "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 4}],
        "release": {"ranges": "tight"},  # the naive version below knows no category for rare values
    }
    release = sudare.anonymize(data, policy, seed=1)
    found = sudare.risk(data, policy, release=release)
    cells = Counter(zip(release.data["a"].to_pylist(), release.data["b"].to_pylist(), strict=True))
    low, high, allowed, sizes = [], [], [], []
    for (first, second), size in cells.items():
        cell = parse_cell(first)
        ends = (
            (cell.low, cell.high)
            if isinstance(cell, Interval)
            else (-np.inf, np.inf)
            if cell == Anything()
            else (cell,) * 2
        )
        low.append(float(ends[0]))
        high.append(float(ends[1]))
        other = parse_cell(second)
        allowed.append(
            None if isinstance(other, Anything) else set(other.members if isinstance(other, Choice) else [other])
        )
        sizes.append(size)
    low, high, sizes = np.array(low), np.array(high), np.array(sizes)
    expected = []
    for number, word in zip(data["a"].to_pylist(), data["b"].to_pylist(), strict=True):
        inside = np.flatnonzero((low <= number) & (number <= high))
        expected.append(sum(sizes[place] for place in inside if allowed[place] is None or word in allowed[place]))
    assert found.after.linkage.matches == pytest.approx(np.mean(expected))
    assert found.after.linkage.linked.success == pytest.approx(np.mean(1 / np.array(expected)))


def test_a_model_learns_what_is_there_to_learn():
    """The sensitive value follows from two columns that stay as they are, as everybody has company."""
    random = np.random.default_rng(0)
    first, second = random.integers(0, 3, 600), random.integers(0, 3, 600)
    data = pa.table({"a": first, "b": second, "s": np.where((first + second) % 2 == 0, "x", "y")})
    policy = {
        "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 3}],
    }
    found = sudare.risk(data, policy, release=sudare.anonymize(data, policy), model=True).inference[0].after
    assert found.by_model.success == 1
    assert found.model_held_out == 1
    assert found.by_class.success == found.held_out == 1
    assert found.certain == 1
    assert found.by_class.above > 0.3


def often(visits_each):
    """Return visits of people, the n-th of whom has so many, and looks like nobody else if there are many."""
    who = np.repeat(np.arange(len(visits_each)), visits_each)
    data = pa.table({"who": who, "age": 20 + who, "job": np.array(["a", "b"])[who % 2]})
    columns = {"who": {"role": "subject"}, "age": {"role": "quasi"}, "job": {"role": "quasi"}}
    return data, {"columns": columns, "require": [{"model": "k-anonymity", "k": 2, "count": "subjects"}]}


def test_people_are_attacked_once_however_many_records_they_have():
    data, rules = often([1] * 30 + [50] * 10)
    found = sudare.risk(data, rules)
    assert found.unit == found.to_dict()["unit"] == "people"
    assert found.before.linkage.linked.attacked == 40
    assert "40 people" in str(found)
    assert "530 people" not in str(found)


def test_a_few_people_with_many_records_are_no_more_than_a_few():
    """Thirty people who look alike, and ten with fifty visits each who look like nobody: found is one in four."""
    data, rules = often([1] * 30 + [50] * 10)
    who = data["who"].to_numpy()
    data = data.set_column(1, "age", pa.array(np.where(who < 30, 20, 20 + who)))
    found = sudare.risk(data, rules).before.linkage
    assert found.singled_out.success == pytest.approx(10 / 40)
    assert found.linked.success == pytest.approx((10 + 30 * 1 / 15) / 40)


def test_records_are_called_records_where_nobody_knows_whose_they_are():
    data, rules = often([1] * 30 + [50] * 10)
    plain = {name: spec for name, spec in rules["columns"].items() if name != "who"}
    found = sudare.risk(data.drop_columns("who"), {"columns": plain, "require": [{"model": "k-anonymity", "k": 2}]})
    assert found.unit == "records"
    assert found.before.people is None
    assert "530 records" in str(found)
    assert "people" not in str(found)


def test_people_who_are_numbered_anew_in_each_class_are_spoken_of():
    draw = np.random.default_rng(2)
    who = np.repeat(np.arange(60), 4)
    data = pa.table({"who": who, "age": draw.integers(20, 80, 240), "job": draw.choice(["a", "b", "c"], 240)})
    _, rules = often([1])
    found = sudare.risk(data, rules, release=sudare.anonymize(data, rules, seed=1))
    assert found.after.people.units > 60
    assert any("numbers people separately in each class" in note and "for 60 people" in note for note in found.notes)
    linked = {**rules, "release": {"subjects": "linked"}}
    found = sudare.risk(data, linked, release=sudare.anonymize(data, linked, seed=1))
    assert found.after.people.units == 60
    assert not any("anew" in note for note in found.notes)
