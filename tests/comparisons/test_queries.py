"""Queries: errors that are known by hand, drawing, and that estimates are those of ``sudare estimate``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.comparisons import draw_queries
from sudare.comparisons.hidden_estimates import allowed, draw_all, from_draws, from_groups
from sudare.comparisons.queries import LEAST, SANE, Condition, Query, covered, estimates, within
from sudare.estimates import Range
from sudare.methods.hiding.anatomy import anatomy
from sudare.methods.pram.perturbation import pram
from sudare.models import LDiversity, PkAnonymity, Requirements
from sudare.policy import Policy
from sudare.sources.encoded_table import encode
from sudare.sources.rare_value_limits import without_rare
from sudare.table import Partition, Table, encode_column, generalize


def condition(column, wanted, low=None, high=None):
    """What is asked of a column, by its values."""
    codes = np.array([value in wanted for value in [*column.values.to_pylist(), *[None] * column.missing]])
    return Condition(column, codes, low, high)


def small():
    """Eight records in two classes: ages 20 to 23 and 30 to 39, of towns {A, B} and {A, B, C}."""
    age = encode_column("age", pa.array([20, 21, 22, 23, 30, 32, 35, 39]))
    town = encode_column("town", pa.array(["A", "B", "A", "B", "A", "B", "C", "C"]))
    sick = encode_column("sick", pa.array(["y", "n", "y", "n", "y", "y", "n", "n"]))
    table = Table(8, {"age": age, "town": town}, {"sick": sick})
    return table, generalize(table, Partition(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2))


def test_an_interval_of_whole_numbers_counts_for_each_of_them():
    table, shown = small()
    wanted = condition(table.single["age"], range(22, 33), 22, 32)
    # 22 and 23 of 20 to 23; 30, 31 and 32 of 30 to 39
    assert covered(shown.covers["age"], wanted).tolist() == pytest.approx([2 / 4, 3 / 10])
    query = Query({"age": wanted}, None, 4)
    assert estimates(shown, [query]) == pytest.approx([4 * 2 / 4 + 4 * 3 / 10])


def test_a_set_counts_for_each_of_its_members():
    table, shown = small()
    wanted = condition(table.single["town"], ["B", "C"])
    assert covered(shown.covers["town"], wanted).tolist() == pytest.approx([1 / 2, 2 / 3])


def test_columns_are_multiplied_and_sensitive_values_are_exact():
    table, shown = small()
    query = Query(
        {
            "age": condition(table.single["age"], range(22, 33), 22, 32),
            "town": condition(table.single["town"], ["B", "C"]),
        },
        condition(table.sensitive["sick"], ["y"]),
        truth=1,
    )
    # two sick records in each class
    assert estimates(shown, [query]) == pytest.approx([2 * (1 / 2) * (1 / 2) + 2 * (3 / 10) * (2 / 3)])
    assert query.rows.tolist() == [False, False, False, True, False, True, False, False]


def test_the_error_is_relative_to_the_truth_and_to_ten_records_at_least():
    assert Query({}, None, 40).error(30) == 0.25
    assert Query({}, None, 4).error(9) == 5 / SANE == 0.5
    assert Query({}, None, 100).error(100) == 0


def test_real_numbers_count_by_length():
    low, high = np.array([0.0, 0.5, 2.0]), np.array([1.0, 0.5, 4.0])
    assert within(low, high, 0.25, 2.5, whole=False).tolist() == [0.75, 1.0, 0.25]
    assert within(low, high, 5.0, 6.0, whole=False).tolist() == [0.0, 0.0, 0.0]


def test_records_that_are_left_out_do_not_count_and_masked_ones_are_spread_over_everything():
    table, _ = small()
    wanted = condition(table.single["town"], ["C"])
    dropped = generalize(table, Partition(np.array([0, 0, 0, 0, 1, 1, -1, -1]), 2))
    assert estimates(dropped, [Query({"town": wanted}, None, 2)]) == [0.0]
    masked = generalize(table, Partition(np.array([0, 0, 0, 0, 1, 1, 2, 2]), 3, masked=True))
    assert estimates(masked, [Query({"town": wanted}, None, 2)]) == pytest.approx([2 / 3])


def test_missing_numbers_meet_no_range():
    age = encode_column("age", pa.array([1, 2, None, None]))
    table = Table(4, {"age": age})
    wanted = condition(age, [1], 1, 1)
    apart = generalize(table, Partition(np.array([0, 0, 1, 1]), 2))
    assert covered(apart.covers["age"], wanted).tolist() == [0.5, 0.0]
    mixed = generalize(table, Partition(np.array([0, 1, 0, 1]), 2))  # both show everything
    assert covered(mixed.covers["age"], wanted).tolist() == [0.5, 0.5]


def test_groups_of_anatomy_by_hand():
    # two groups of two: each record of a group is sick with the group's share
    town = encode_column("town", pa.array(["A", "B", "A", "B"]))
    sick = encode_column("sick", pa.array(["flu", "pox", "flu", "ulcer"]))
    table = Table(4, {"town": town}, {"sick": sick})
    made = anatomy(Table(4, {}, {"sick": sick}), Requirements((LDiversity(2, "sick"),)), seed=0)
    flu = Query({"town": condition(town, ["A"])}, condition(sick, ["flu"]), 2)
    # each group of two has one flu; two records of town A, each with one half
    assert from_groups(table, made, [flu]) == pytest.approx([1.0])
    assert from_groups(table, made, [Query({"town": condition(town, ["A"])}, None, 2)]) == [2.0]


def test_drawn_values_are_estimated_without_bias():
    draw = np.random.default_rng(3)
    sex = encode_column("sex", pa.array(draw.choice(["f", "m"], 20_000, p=[0.3, 0.7])))
    town = encode_column("town", pa.array(draw.choice(list("ABCDE"), 20_000)))
    table = Table(20_000, {}, {"sex": sex, "town": town})
    made = pram(table, Requirements((PkAnonymity(2),)), p=0.5, seed=1)
    wanted = [condition(sex, ["f"]), condition(town, ["A", "B"])]
    truth = int((wanted[0].rows & wanted[1].rows).sum())
    query = Query({each.column.name: each for each in wanted}, None, truth)
    shown = draw_all(made, table.rows)
    plain = np.count_nonzero(wanted[0].codes[shown["sex"]] & wanted[1].codes[shown["town"]])
    [found] = from_draws(made, shown, [query], table.rows)
    assert query.error(found) < 0.1 < query.error(plain)


def test_codes_are_matched_where_a_method_has_others():
    one = encode_column("town", pa.array(["A", "B", "A"]))
    other = one.reordered(np.array([1, 0]), None)
    assert allowed(condition(one, ["B"]), other).tolist() == [True, False]


# -- drawing -----------------------------------------------------------------------------------------------------

POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "education": {"role": "quasi"},
        "workclass": {"role": "quasi"},
        "occupation": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 8}],
}


@pytest.fixture(scope="module")
def adult():
    return sudare.datasets.adult("test").slice(0, 4000)


@pytest.fixture(scope="module")
def table(adult):
    return encode(adult, Policy.parse(POLICY), also=["occupation"])


def test_queries_have_enough_records_and_one_to_three_columns(table):
    queries = draw_queries(table, 200, 0)
    assert len(queries) == 200
    assert {len(query.quasi) for query in queries} == {1, 2, 3}
    assert 60 < sum(query.sensitive is not None for query in queries) < 140
    for query in queries:
        rows = query.rows if query.sensitive is None else query.rows & query.sensitive.rows
        assert query.truth == rows.sum() >= LEAST * table.rows


def test_the_same_seed_draws_the_same(table):
    def drawn(seed):
        return [(sorted(query.quasi), query.truth) for query in draw_queries(table, 20, seed)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_a_table_whose_values_are_all_different_leaves_few_queries_and_no_endless_search():
    names = encode_column("name", pa.array([f"n{number:05}" for number in range(3000)]))
    assert len(draw_queries(Table(3000, {"name": names}), 10, 0)) == 10
    assert draw_queries(Table(0, {"name": encode_column("name", pa.array([], pa.string()))}), 10, 0) == []


# -- the same as from a release ----------------------------------------------------------------------------------


LEVELS = {"role": "quasi"}


def asked(condition):
    values = condition.column.values.to_pylist()
    if condition.low is not None:
        return Range(condition.low, condition.high)
    chosen = np.flatnonzero(condition.codes)
    return tuple(None if code == condition.column.missing_code else str(values[code]) for code in chosen)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("top-down", {}),
        ("mondrian", {}),
        (
            "full-domain",
            {name: {"role": "quasi", "hierarchy": name} for name in ("age", "sex", "education", "workclass")},
        ),
        ("top-down", {"education": {"role": "quasi", "hierarchy": "education"}}),
    ],
    ids=["top-down", "mondrian", "levels", "a hierarchy"],
)
def test_estimates_are_those_of_a_release(adult, method, more):
    trees = sudare.datasets.adult_hierarchies()
    columns = {
        name: spec | ({"hierarchy": str(trees[spec["hierarchy"]])} if "hierarchy" in spec else {})
        for name, spec in (POLICY["columns"] | more).items()
    }
    rules = POLICY | {"columns": columns, "method": {"name": method}}
    policy = Policy.parse(rules)
    table = without_rare(encode(adult, policy, also=["occupation"]), policy)
    release = sudare.anonymize(adult, rules)
    from sudare.methods import METHODS
    from sudare.pipeline import requirements_of

    shown = generalize(table, METHODS[method].load()(table, requirements_of(policy)))
    queries = draw_queries(table, 30, 5)
    for query, found in zip(queries, estimates(shown, queries), strict=True):
        where = {name: asked(each) for name, each in query.quasi.items()}
        if method == "full-domain" and "age" in where:
            continue  # bands of a file are labels, whose leaves are the ages
        rows = list(sudare.estimate(release, of="occupation", where=where, policy=rules))
        wanted = None if query.sensitive is None else asked(query.sensitive)
        told = sum(row["estimate"] for row in rows if wanted is None or row["value"] in wanted)
        assert found == pytest.approx(told, rel=1e-9, abs=1e-6)
