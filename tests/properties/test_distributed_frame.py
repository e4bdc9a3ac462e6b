"""Rows spread over many machines: the classes are those that one machine makes of them, exactly."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, reject, settings
from hypothesis import strategies as st

from sudare.core.errors import DataError, ParameterError, PolicyUnmetError, UnsupportedError
from sudare.methods.topdown import item_trials
from sudare.methods.topdown.distributed.distributed_frame import spread_top_down
from sudare.models import MODELS, KAnonymity, KmAnonymity, LDiversity, Requirements, TCloseness
from sudare.policy import Policy
from sudare.sources.encoded_table import encode
from sudare.table import SUPPRESSED, Column, Table

from .spreading import KINDS, baskets, classes, cut, decided, planned, random_requirements, random_table, shape_of
from .tables import drawn_tables, effective
from .test_complex_releases import complex_tables

many = partial(settings, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WAYS = [
    ("top-down", {}),
    ("top-down", {"split": "widest"}),
    ("top-down", {"items": "one-by-one"}),
    ("top-down", {"objective": "items"}),
    ("top-down", {"objective": "items", "split": "widest"}),
    ("top-down", {"rank": "information"}),
    ("top-down", {"order": "global"}),
    ("top-down", {"order": "global", "split": "widest", "remainder": "close"}),
    ("top-down", {"remainder": "close"}),
    ("top-down", {"beta": 0.2, "split": "widest"}),
    ("mondrian", {}),
]


SMALL_TABLE = 20


@pytest.fixture(autouse=True, scope="module")
def small_clusters():
    """Let only tiny clusters be split in several ways, which is done in one place; the others are split by asking."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_trials, "small", lambda least: 12)
        patch.setattr(item_trials, "SMALL_TABLE", SMALL_TABLE)
        yield


def compare(name, table, requirements, shards, seed, most, bundle=1000, **options):
    """Decide in one place and spread out, and expect the same; return the plan, or None where nothing can be kept."""
    if all(requirements.free(column) for column in table.sets):
        # refused where there are no sets
        of_sets = ("objective", "items", "remainder", "beta", "rank")
        options = {key: value for key, value in options.items() if key not in of_sets}
    apart = requirements.counts_subjects and seed % 2 == 0
    cluster = cut(table, shards, seed, apart=apart)
    try:
        expected = decided(name, table, requirements, **options)
    except PolicyUnmetError as unmet:
        with pytest.raises(PolicyUnmetError) as also:
            planned(name, cluster, requirements, most=most, apart=apart, **options)
        assert str(also.value) == str(unmet)
        return None
    plan = planned(name, cluster, requirements, most=most, apart=apart, **options)
    found = cluster.solved(plan, bundle)
    assert classes(found) == classes(expected)
    assert found.count == expected.count
    in_one_place = SMALL_TABLE if options.get("objective") == "items" else 0
    assert ((plan.records <= max(most, in_one_place)) | plan.final).all()
    return plan


@pytest.mark.parametrize("seed", range(150))
def test_classes_are_those_of_one_place(seed):
    random = np.random.default_rng(seed)
    table = random_table(random, int(random.choice([3, 10, 40, 150, 400])))
    name, options = WAYS[random.integers(len(WAYS) - bool(table.sets))]
    most, bundle = int(random.choice([1, 5, 30, 200])), int(random.choice([1, 20, 1000]))
    compare(name, table, random_requirements(random), 1 + seed % 5, seed, most, bundle, **options)


@pytest.mark.parametrize("seed", range(16))
def test_numbers_with_very_many_values_are_cut_where_one_place_cuts_them(seed):
    random = np.random.default_rng(seed)
    kinds = ("many numbers", "many numbers", "number", "category", "items")
    table = random_table(random, 4000, kinds)
    name, options = WAYS[random.integers(len(WAYS) - bool(table.sets))]
    most = int(random.choice([50, 300, 1500]))
    compare(name, table, random_requirements(random, (2, 10, 50)), 1 + seed % 5, seed, most, **options)


@pytest.mark.parametrize("seed", range(40))
def test_rare_categories_count_there_as_in_one_place(seed):
    random = np.random.default_rng(seed)
    table = random_table(random, int(random.choice([40, 150, 400])), ("category", "category", "number", "items"))
    quasi = {
        name: replace(column, other=(int(random.integers(len(column.values))), int(random.integers(2, 30))))
        if isinstance(column, Column) and column.positions is None and len(column.values)
        else column
        for name, column in table.quasi.items()
    }
    name, options = WAYS[random.integers(len(WAYS) - bool(table.sets))]
    rare = replace(table, quasi=quasi)
    compare(name, rare, random_requirements(random), 1 + seed % 5, seed, int(random.choice([5, 30])), **options)


def test_a_split_in_bins_is_tested_where_more_than_rows_is_required():
    random = np.random.default_rng(5)
    size = 5000
    number = Column("n", "numeric", random.permutation(size).astype(np.uint16), pa.array(np.arange(size)),
                    positions=np.sort(random.normal(size=size)))  # fmt: skip
    few = Column("few", "categorical", random.integers(0, 4, size).astype(np.uint8), pa.array(list("abcd")))
    table = Table(size, {"n": number}, {"few": few})
    for way in ({}, {"split": "widest"}):
        plan = compare("top-down", table, Requirements((LDiversity(4, "few"),)), 3, 1, 40, **way)
        assert len(plan.lines) > 20


@pytest.mark.parametrize("seed", range(10, 20))
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_items_are_lifted_to_nodes_above_as_in_one_place(seed, limit):
    for most in (1, 60):
        compare("top-down", baskets(seed), Requirements((KAnonymity(20),), limit), 2, seed, most)


@pytest.mark.parametrize("seed", range(20))
def test_small_trees_of_items_are_climbed_as_in_one_place(seed):
    table = random_table(np.random.default_rng(seed), 150, ("tree of items", "tree of items", "number"))
    for k in (2, 8):
        compare("top-down", table, Requirements((KAnonymity(k),)), 2, seed, 10)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("way", [{}, {"split": "widest"}, {"items": "one-by-one", "rank": "information"}], ids=str)
def test_rounds_are_those_of_one_place(seed, way):
    random = np.random.default_rng(seed)
    kinds = (("number", "category", "tree"), ("items", "number"), ("tree of items", "items", "category"), ("items",))
    table = random_table(random, int(random.choice([10, 60, 200])), kinds[seed % 4])
    plan = compare("top-down", table, random_requirements(random), 1 + seed % 3, seed, 1, order="global", **way)
    assert plan is None or plan.final.all()


def as_encoded(drawn, **more):
    policy = Policy.parse(effective({**drawn.policy, **more}))
    models = tuple(MODELS[spec.model](**spec.parameters()) for spec in policy.require)
    try:
        return encode(drawn.arrow, policy), Requirements(models, policy.suppression.limit)
    except DataError:  # an order that a column has not
        reject()


def refused(table, requirements, options):
    """What needs a look at the finished classes, or at all of the table at once."""
    return (
        options.get("polish", False)
        or any(requirements.free(name) for name in table.sets)
        or (requirements.budget(table.rows) > 0 and requirements.depends_on_whole)
    )


def check(name, table, requirements, shards, seed, most, **options):
    if not refused(table, requirements, options):
        plan = compare(name, table, requirements, shards, seed, most, **options)
        event("unmet" if plan is None else "one part" if len(plan.lines) == 1 else "parts")
        return
    event("refused")
    with pytest.raises(UnsupportedError):
        planned(name, cut(table, shards, seed), requirements, most=most, **options)


@many(max_examples=150)
@given(
    drawn_tables(), st.sampled_from([*WAYS[:2], WAYS[-1]]), st.integers(1, 5), st.integers(0, 9),
    st.sampled_from([1, 5, 30]),
)  # fmt: skip
def test_any_table_of_single_values(drawn, way, shards, seed, most):
    name, options = way
    table, requirements = as_encoded(drawn, method={"name": name})
    if name == "mondrian":
        requirements = Requirements(requirements.models)
    check(name, table, requirements, shards, seed, most, **options)


@many(max_examples=150)
@given(complex_tables(), st.integers(1, 5), st.integers(0, 9), st.sampled_from([1, 5, 30]))
def test_any_table_with_item_sets(drawn, shards, seed, most):
    table, requirements = as_encoded(drawn)
    options = {key: value for key, value in drawn.policy["method"].items() if key != "name"}
    check("top-down", table, requirements, shards, seed, most, **options)


def test_an_empty_shard_changes_nothing():
    random = np.random.default_rng(1)
    table = random_table(random, 100)
    cluster = cut(table, 2, 0)
    cluster.rows.insert(1, np.zeros(0, np.int64))
    requirements = Requirements((KAnonymity(3),))
    found = cluster.solved(planned("top-down", cluster, requirements, most=10), 50)
    assert classes(found) == classes(decided("top-down", table, requirements))


def test_parts_can_be_solved_one_by_one_or_together():
    table = random_table(np.random.default_rng(4), 300, KINDS[:4])
    requirements = Requirements((KAnonymity(3), LDiversity(2, "few")))
    cluster = cut(table, 3, 0)
    plan = planned("top-down", cluster, requirements, most=60)
    assert len(plan.lines) > 3
    assert plan.records.sum() == table.rows
    assert classes(cluster.solved(plan, 1)) == classes(cluster.solved(plan, table.rows))


def test_budgets_of_parts_add_up_to_what_is_left():
    random = np.random.default_rng(7)
    for seed in range(20):
        table = random_table(random, 300)
        requirements = Requirements((KAnonymity(4),), 0.2)
        cluster = cut(table, 3, seed)
        plan = planned("top-down", cluster, requirements, most=40)
        gone = sum(int((plan.route(shard) == SUPPRESSED).sum()) for shard in cluster.shards)
        budgets = np.where(plan.final, 0, plan.lines[:, 2])  # how many records of each part may still be left out
        assert budgets.sum() + gone <= requirements.budget(table.rows)
        assert plan.records.sum() == table.rows - gone


def test_nothing_to_solve_is_solved():
    table = random_table(np.random.default_rng(2), 200)
    plan = planned("top-down", cut(table, 2, 0), Requirements((KAnonymity(2),)), most=20)
    assert plan.solve(table.taken(np.zeros(0, np.int64)), np.zeros(0, np.int32)).count == 0


def test_a_part_has_to_be_whole():
    table = random_table(np.random.default_rng(2), 200)
    plan = planned("top-down", cut(table, 2, 0), Requirements((KAnonymity(2),)), most=20)
    parts = plan.route(table)
    with pytest.raises(ParameterError, match="rows of a part are missing"):
        plan.solve(table.taken(np.arange(150)), parts[:150])


def copied(table: Table, times: int) -> Table:
    return table.taken(np.tile(np.arange(table.rows), times))


@pytest.mark.parametrize("kinds", [KINDS[:4], KINDS], ids=["single", "with sets"])
def test_what_is_sent_does_not_grow_with_the_rows(kinds):
    """Ten times the same rows, and ten times the k: the same decisions, from messages of the same size."""
    sizes = []
    table = random_table(np.random.default_rng(11), 200, kinds)
    for times in (1, 10):
        cluster = cut(copied(table, times), 1, 0)
        plan = planned("top-down", cluster, Requirements((KAnonymity(3 * times),)), most=30 * times)
        assert len(plan.lines) > 3
        both = len(pickle.dumps(plan)), len(cloudpickle.dumps(plan))
        sizes.append((sum(cluster.tasks), max(cluster.answers), *both))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.03)
    assert max(sizes[0]) < 400_000


def test_tasks_and_plans_can_be_sent_by_cloudpickle():
    table = random_table(np.random.default_rng(3), 150)
    requirements = Requirements((KAnonymity(3), LDiversity(2, "few")), 0.1)
    cluster = cut(table, 3, 0)

    def gather(task):
        there = cloudpickle.loads(cloudpickle.dumps(task))
        return [cloudpickle.loads(cloudpickle.dumps(there(shard))) for shard in cluster.shards]

    plan = spread_top_down(shape_of(table), requirements, gather, most=20)
    found = cluster.solved(cloudpickle.loads(cloudpickle.dumps(plan)), 50)
    assert classes(found) == classes(decided("top-down", table, requirements))


def test_the_driver_holds_no_rows():
    table = random_table(np.random.default_rng(0), 100)
    shape = shape_of(table)
    assert shape.table.rows == 0
    assert all(len(column) == 0 for column in [*shape.table.quasi.values(), *shape.table.sensitive.values()])


@pytest.mark.parametrize(
    ("models", "limit", "masked", "options", "said"),
    [
        ((KAnonymity(2),), 0.0, False, {"polish": True}, "polish"),
        ((KAnonymity(2),), 0.0, False, {"sensitive": "blind"}, "sensitive: blind"),
        ((KAnonymity(2),), 0.2, True, {}, "masked records"),
        ((KAnonymity(2), TCloseness(0.3, "few")), 0.2, False, {}, "against the whole release"),
        ((KAnonymity(2, columns=("a",)), KmAnonymity(2, 2, "q0")), 0.0, False, {}, "k^m-anonymity"),
    ],
    ids=["polish", "blind", "masked", "whole", "km"],
)
def test_what_cannot_be_had_is_refused(models, limit, masked, options, said):
    table = random_table(np.random.default_rng(0), 50, ("items",))
    with pytest.raises(UnsupportedError) as refusal:
        spread_top_down(shape_of(table), Requirements(models, limit, masked), lambda task: [task(table)], **options)
    assert said in str(refusal.value)
    assert "run on one machine" in str(refusal.value)


def test_the_driver_takes_only_so_many_clusters_from_round_to_round(monkeypatch):
    monkeypatch.setattr("sudare.methods.topdown.distributed.driver.MOST_CLUSTERS", 3)
    table = random_table(np.random.default_rng(1), 80, ("items",))
    with pytest.raises(UnsupportedError, match="more than 3 classes") as refusal:
        planned("top-down", cut(table, 2, 0), Requirements((KAnonymity(2),)), most=10, order="global")
    assert "run on one machine" in str(refusal.value)


def test_mondrian_refuses_item_sets_and_never_leaves_records_out():
    table = random_table(np.random.default_rng(0), 50, ("items",))
    with pytest.raises(UnsupportedError, match="item sets"):
        planned("mondrian", cut(table, 2, 0), Requirements((KAnonymity(2),)), most=10)
    single = replace(table, quasi={"few": table.sensitive["few"]}, sensitive={})
    compare("mondrian", single, Requirements((KAnonymity(2),), 0.5, masked=True), 2, 0, 10)


def test_masked_records_are_no_matter_where_none_may_be_left_out():
    table = random_table(np.random.default_rng(2), 80)
    compare("top-down", table, Requirements((KAnonymity(3),), 0.0, masked=True), 3, 0, 10)
