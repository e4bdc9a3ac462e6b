"""Anatomy: the example of the literature, what every group keeps, and what is refused."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError
from sudare.methods.hiding.anatomy import anatomy
from sudare.models import LDiversity, Requirements
from sudare.table import Separation, Table, encode_column

PEOPLE = [
    ("M", 25, "Cancer"), ("M", 29, "Cancer"), ("M", 54, "Cancer"), ("M", 78, "Cold"),
    ("F", 20, "Cold"), ("F", 55, "Cut"), ("F", 56, "Cut"), ("F", 59, "Cut"),
]  # fmt: skip
ILL = [ill for *_, ill in PEOPLE]


def as_table(cells, people=None, **more) -> Table:
    def column(name, values):
        return encode_column(name, pa.array(values), kind="categorical")

    sensitive = {"ill": column("ill", cells)} | {name: column(name, other) for name, other in more.items()}
    return Table(len(cells), {}, sensitive, None if people is None else column("who", people))


def asked(l, *columns):  # noqa: E741 - the literature's letter
    return Requirements(tuple(LDiversity(l, name) for name in columns or ("ill",)))


def held(made: Separation, cells) -> dict[int, list]:
    """The values of each group."""
    found = defaultdict(list)
    for group, cell in zip(made.groups.tolist(), cells, strict=True):
        found[group].append(cell)
    return found


# ---- the example


@pytest.mark.parametrize("seed", range(20))
def test_eight_people_are_four_groups_as_published(seed):
    made = anatomy(as_table(ILL), asked(2), seed=seed)
    assert made.count == 4
    assert Counter(tuple(sorted(values)) for values in held(made, ILL).values()) == {
        ("Cancer", "Cut"): 2,
        ("Cold", "Cut"): 1,
        ("Cancer", "Cold"): 1,
    }


def cancer(made, sex):
    """The share of Cancer that an analyst finds among people of a sex: each has the values of the group in parts."""
    groups = held(made, ILL)
    shares = [
        Fraction(groups[group].count("Cancer"), len(groups[group]))
        for group, (each, *_) in zip(made.groups.tolist(), PEOPLE, strict=True)
        if each == sex
    ]
    return sum(shares) / len(shares)


def test_what_an_analyst_finds_by_hand():
    # the published groups: the women's Cuts in 1, 2 and 3, the man's Cold with a Cut, and the woman's with a Cancer
    published = Separation(np.array([0, 1, 3, 2, 3, 0, 1, 2]), 4)
    assert cancer(published, "F") == Fraction(1, 4) * (Fraction(1, 2) + Fraction(1, 2) + 0 + Fraction(1, 2))
    assert cancer(published, "F") == Fraction(3, 8)
    # no woman has it, and three of the four men have
    assert cancer(published, "M") == Fraction(3, 8)
    # by chance it is the other Cold that stands with a Cancer; in total there are three of them in any case
    found = Counter()
    for seed in range(60):
        made = anatomy(as_table(ILL), asked(2), seed=seed)
        assert 4 * cancer(made, "F") + 4 * cancer(made, "M") == 3
        found[cancer(made, "F")] += 1
    assert set(found) == {Fraction(3, 8), Fraction(1, 4)}
    assert min(found.values()) > 15


# ---- what every group keeps


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", None]), min_size=2, max_size=80),
    st.integers(2, 6),
    st.one_of(st.none(), st.integers(0, 99)),
)
def test_groups_hold_each_value_once(cells, l, seed):  # noqa: E741
    counts = Counter(cells)
    table = as_table(pa.array(cells, pa.string()))
    possible = len(cells) // max(counts.values())
    if l > possible:
        with pytest.raises(PolicyUnmetError) as caught:
            anatomy(table, asked(l), seed=seed)
        assert (f"require at most l = {possible}." in str(caught.value)) == (possible > 1)
        if possible < 2:
            return
        l = possible  # noqa: E741 - what the hint says can be done
    made = anatomy(table, asked(l), seed=seed)
    groups = held(made, cells)
    assert set(groups) == set(range(made.count))
    assert made.count == len(cells) // l
    for values in groups.values():
        assert len(values) == len(set(values)) >= l
    assert sum(map(len, groups.values())) == len(cells)
    # what is left over spreads: fewer than l records, each to a group of its own if there are as many
    over = [len(values) - l for values in groups.values()]
    assert sum(over) == len(cells) % l
    assert Counter(value for values in groups.values() for value in values) == counts


def test_what_is_told():
    made = anatomy(as_table(["a", "b", None, "b"]), asked(2))
    assert made.facts == {
        "columns": {"ill": {"l": 2, "values": ["a", "b", None]}},
        "groups": 2,
        "randomness": "the operating system's",
    }
    assert json.loads(json.dumps(made.facts)) == made.facts
    told = json.dumps(anatomy(as_table(["a", "b", None, "b"]), asked(2), seed=987654).facts)
    assert "987654" not in told
    assert "seed" in told


def test_people_with_several_records_are_noted():
    assert "notes" not in anatomy(as_table(ILL, range(8)), asked(2)).facts
    [note] = anatomy(as_table(ILL, [0, 0, 1, 2, 3, 4, 5, 6]), asked(2)).facts["notes"]
    assert "several records" in note


def test_the_strictest_of_several_promises():
    made = anatomy(as_table(list("abcd") * 5), Requirements((LDiversity(2, "ill"), LDiversity(4, "ill"))))
    assert made.count == 5
    assert made.facts["columns"]["ill"]["l"] == 4


def test_seeds_reproduce_and_without_one_groups_differ():
    table = as_table(list("abcdef") * 50)
    one, same, other = (anatomy(table, asked(3), seed=seed).groups for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()
    assert (anatomy(table, asked(3)).groups != anatomy(table, asked(3)).groups).any()


def test_who_is_with_whom_is_by_chance():
    """Each record of one value is as likely as any other to stand with a certain record of another."""
    cells = ["a"] * 4 + ["b"] * 4
    table = as_table(cells)
    found = Counter()
    for seed in range(2000):
        groups = anatomy(table, asked(2), seed=seed).groups
        found[int(np.flatnonzero(groups[4:] == groups[0])[0])] += 1
    assert all(abs(found[place] - 500) < 100 for place in range(4))


def test_who_is_left_over_joins_any_group():
    cells = ["a"] * 4 + ["b"] * 4 + ["c"]
    joined, left = Counter(), Counter()
    for seed in range(600):
        made = anatomy(as_table(cells), asked(2), seed=seed)
        sizes = np.bincount(made.groups)
        assert sorted(sizes.tolist()) == [2, 2, 2, 3]
        joined[int(sizes.argmax())] += 1
        left.update(np.flatnonzero(made.groups == sizes.argmax()).tolist())
    assert len(joined) > 1
    assert min(left[row] for row in range(8)) > 50


@pytest.mark.parametrize("l", [2, 10, 100])
def test_very_many_values_and_records(l):  # noqa: E741
    codes = np.random.default_rng(0).integers(0, 100_000, 1_000_000)
    column = encode_column("ill", pa.array(codes), kind="numeric")
    made = anatomy(Table(len(codes), {}, {"ill": column}), asked(l))
    assert made.count == 1_000_000 // l
    assert len(np.unique(made.groups * column.size + column.codes)) == 1_000_000
    assert np.bincount(made.groups).min() >= l


def test_all_different_may_be_one_group():
    made = anatomy(as_table(list("abcdefg")), asked(7))
    assert (made.count, made.groups.tolist()) == (1, [0] * 7)


# ---- what is refused


@pytest.mark.parametrize(
    ("cells", "l", "possible"),
    [
        (["a"] * 5 + ["b"] * 4 + ["c"] * 2, 3, 2),
        (["a"] * 4 + ["b", "c", "d", "e", "f", "g"], 4, 2),
        (["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"] * 2, 4, 3),
        (["a"] * 3 + ["b"] * 3, 5, 2),
    ],
)
def test_the_largest_l_is_told(cells, l, possible):  # noqa: E741
    with pytest.raises(PolicyUnmetError, match=f"require at most l = {possible}") as caught:
        anatomy(as_table(cells), asked(l))
    assert "l-diversity" in caught.value.problems[0].where
    assert anatomy(as_table(cells), asked(possible)).count == len(cells) // possible


def test_a_value_that_most_records_have():
    with pytest.raises(PolicyUnmetError, match="one value of 'ill' takes 6 of 8 records, more than 1/2") as caught:
        anatomy(as_table(["a"] * 6 + ["b", "c"]), asked(2))
    assert "dummies" in str(caught.value)
    assert " a " not in str(caught.value)


def test_several_sensitive_columns():
    with pytest.raises(PolicyUnmetError, match="separates one sensitive column, but the policy has 2") as caught:
        anatomy(as_table(ILL, job=ILL), asked(2, "ill", "job"))
    assert "dummies" in str(caught.value)


# ---- the two tables


def test_the_two_tables_of_the_example():
    data = pa.table({"sex": [p[0] for p in PEOPLE], "age": [p[1] for p in PEOPLE], "ill": ILL})
    policy = {
        "columns": {"sex": {"role": "quasi"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "ill"}],
        "method": {"name": "anatomy"},
    }
    release = sudare.anonymize(data, policy)
    assert release.data.column_names == ["sex", "age", "group"]
    assert release.second.column_names == ["group", "ill", "count"]
    assert release.second.num_rows == 8
    assert release.second.column("group").to_pylist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert set(release.second.column("count").to_pylist()) == {1}
    assert Counter(release.second.column("ill").to_pylist()) == Counter(ILL)
    assert Counter(release.data.column("group").to_pylist()) == {1: 2, 2: 2, 3: 2, 4: 2}
    assert release.certificate["mechanism"]["groups"] == 4
    assert len(release.certificate["mechanism"]["second_sha256"]) == 64
