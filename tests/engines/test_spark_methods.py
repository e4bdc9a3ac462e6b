"""Every method on Spark: the same classes, losses and guarantees as here, or refused with what to use instead."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.cases import coded
from tests.engines.comparing import assert_same

import sudare
from sudare import datasets
from sudare.core.errors import UnsupportedError
from sudare.methods import METHODS
from sudare.pipeline.spark import spark_release as spread

ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation", "income")


def adult(rows=2000):
    table = datasets.adult()
    return table.select([name for name in table.column_names if name in ADULT]).slice(0, rows)


def adult_policy(method, *, k=5, l=None, suppression=0.0, **options):  # noqa: E741
    trees = {} if method in ("dummies", "anatomy") else datasets.adult_hierarchies()  # these do not generalize
    columns = {
        name: {"role": "quasi"} | ({"hierarchy": {"file": str(trees[name])}} if name in trees else {})
        for name in ("age", "sex", "race", "education")
    }
    columns |= {"occupation": {"role": "sensitive"}, "income": {"role": "insensitive"}}
    require = [{"model": "k-anonymity", "k": k}] if k else []
    if l:
        require.append({"model": "l-diversity", "l": l, "column": "occupation"})
    return {
        "version": 1, "columns": columns, "require": require, "method": {"name": method, **options},
        "suppression": {"limit": suppression},
    }  # fmt: skip


def framed(spark, table, parts=2):
    return spark.createDataFrame(table).repartition(parts)


WAYS = ("frame", "folder")


def made(spark, table, policy, way, folder):
    """A release by Spark: a DataFrame, or one that was written to a folder."""
    out = folder / "release.parquet" if way == "folder" else None
    release = sudare.anonymize(framed(spark, table), policy, out=out)
    assert (release.data is None, release.path) == (way == "folder", out)
    return release


SETTINGS = {
    "top-down": adult_policy("top-down"),
    "top-down, l": adult_policy("top-down", l=3),
    "top-down, suppression": adult_policy("top-down", suppression=0.02),
    "top-down, widest": adult_policy("top-down", split="widest"),
    "mondrian": adult_policy("mondrian"),
    "mondrian, l": adult_policy("mondrian", l=2),
    "full-domain": adult_policy("full-domain", suppression=0.05),
    "full-domain, l": adult_policy("full-domain", l=3, suppression=0.05),
    "incognito": adult_policy("incognito"),
    "l-incognito": adult_policy("l-incognito", k=None, l=3, suppression=0.1),
    "tds": adult_policy("tds", target="income"),
}


@pytest.mark.parametrize("method", ["top-down", "full-domain"])
def test_hierarchies_that_come_with_sudare(spark, method, tmp_path):
    table, policy = coded()
    policy["method"] = {"name": method}
    assert_same(sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path))


def runs():
    """Every method gives a DataFrame and a folder; where it has several settings, they take turns."""
    methods = [policy["method"]["name"] for policy in SETTINGS.values()]
    for at, (setting, method) in enumerate(zip(SETTINGS, methods, strict=True)):
        turn = methods[:at].count(method)
        for way in WAYS if methods.count(method) == 1 else (WAYS[turn % 2],):
            yield pytest.param(setting, way, id=f"{setting}, {way}")


@pytest.mark.parametrize("setting, way", list(runs()))
def test_the_release_is_the_local_one(spark, in_pieces, setting, way, tmp_path):
    table, policy = adult(), SETTINGS[setting]
    local, spread = sudare.anonymize(table, policy), made(spark, table, policy, way, tmp_path)
    assert_same(local, spread)
    assert (local.plan is None) == (spread.plan is None)
    if local.plan is not None:
        assert local.plan == spread.plan


@pytest.mark.parametrize("name", ["l-clustering", "microaggregation", "three-phase", "anatomy"])
def test_what_does_not_run_names_something_that_does(spark, name):
    needs = METHODS[name].needs or "k-anonymity"
    policy = adult_policy(name, k=None if needs == "l-diversity" else 5, l=2 if needs == "l-diversity" else None)
    with pytest.raises(UnsupportedError, match=r"does not run on Spark.*use (top-down|dummies)"):
        sudare.anonymize(framed(spark, adult(200)), policy)


def test_every_method_is_either_run_or_refused():
    classes = {name for name, method in METHODS.items() if method.distributed in ("parts", "atoms")}
    drawn = {name for name, method in METHODS.items() if method.distributed == "cells"}
    refused = {name for name, method in METHODS.items() if method.one_machine}
    assert {*classes, *drawn, *refused} == set(METHODS)
    assert drawn == {"dummies", "pram"}
    assert refused == {"l-clustering", "microaggregation", "three-phase", "anatomy"}
    compared = {(SETTINGS[setting]["method"]["name"], way) for setting, way in (run.values for run in runs())}
    assert compared == {(method, way) for method in classes for way in WAYS}  # what is drawn is always written


def test_masked_records(spark, in_pieces, tmp_path):
    table = adult(1500)
    policy = adult_policy("full-domain", suppression=0.05)
    policy["suppression"]["records"] = "masked"
    assert_same(sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path))


def test_a_plan_is_applied_on_spark_too(spark, in_pieces, tmp_path):
    plan = sudare.anonymize(adult(2000), adult_policy("full-domain", suppression=0.1)).plan
    others = datasets.adult().slice(2000, 1500)
    local = sudare.apply(plan, others)
    for out in (None, tmp_path / "release.parquet"):
        assert_same(local, sudare.apply(plan, framed(spark, others), out=out))


@pytest.mark.parametrize("limit", [
    {"model": "t-closeness", "t": 0.6, "column": "occupation"},
    {"model": "beta-likeness", "beta": 9.0, "column": "occupation"},
    {"model": "alpha-k-anonymity", "alpha": 0.7, "k": 5, "column": "occupation"},
    {"model": "l-diversity", "l": 2.5, "variant": "entropy", "column": "occupation"},
    {"model": "k-anonymity", "k": 20, "columns": ["age", "sex"]},
])  # fmt: skip
def test_models_are_proven_alike(spark, in_pieces, limit):
    table, policy = adult(), adult_policy("top-down", k=5)
    policy["require"].append(limit)
    assert_same(sudare.anonymize(table, policy), sudare.anonymize(framed(spark, table), policy))


@pytest.mark.parametrize("seed", range(4))
def test_item_sets(spark, in_pieces, seed, tmp_path):
    random = np.random.default_rng(seed)
    rows = 1200
    sets = [[f"i{item}" for item in random.zipf(1.6, random.integers(0, 6)) if item < 30] for _ in range(rows)]
    lists = [None if random.random() < 0.03 else items for items in sets]
    table = pa.table({
        "age": random.integers(18, 60, rows), "town": random.choice(["a", "b", "c", None], rows).tolist(),
        "items": pa.array(lists, pa.list_(pa.string())), "ill": random.choice(list("uvwxyz"), rows),
    })  # fmt: skip
    asked = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "ill"}]
    policy = {
        "version": 1,
        "columns": {
            "age": {"role": "quasi"}, "town": {"role": "quasi"}, "items": {"role": "quasi", "kind": "items"},
            "ill": {"role": "sensitive"},
        },
        "require": asked[: 1 + seed % 2],
        "method": {"name": "top-down"}, "suppression": {"limit": 0.01 * (seed // 2)},
    }  # fmt: skip
    way = WAYS[seed in (1, 2)]  # with and without each of both
    assert_same(sudare.anonymize(table, policy), made(spark, table, policy, way, tmp_path))


@pytest.mark.parametrize(
    "options",
    [{"objective": "items", "rank": {"items": {"i1": 0.5, "i2": 3}}}, {"order": "global", "rank": "information"}],
    ids=["objective", "order"],
)
def test_options_about_item_sets(spark, in_pieces, options, tmp_path):
    random = np.random.default_rng(7)
    sets = [[f"i{item}" for item in random.zipf(1.6, random.integers(0, 6)) if item < 30] for _ in range(800)]
    table = pa.table({"age": random.integers(18, 60, 800), "items": pa.array(sets, pa.list_(pa.string()))})
    policy = {
        "version": 1, "columns": {"age": {"role": "quasi"}, "items": {"role": "quasi", "kind": "items"}},
        "require": [{"model": "k-anonymity", "k": 4}], "method": {"name": "top-down", **options},
    }  # fmt: skip
    assert_same(sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path))


def test_people_are_counted_and_numbered(spark, in_pieces, tmp_path):
    random = np.random.default_rng(5)
    table = pa.table({
        "who": [f"p{number}" for number in random.integers(0, 400, 1000)], "age": random.integers(20, 50, 1000),
        "sex": random.choice(["m", "f"], 1000),
    })  # fmt: skip
    for numbers, way in (("per-class", "folder"), ("linked", "frame")):
        policy = {
            "version": 1,
            "columns": {"who": {"role": "subject"}, "age": {"role": "quasi"}, "sex": {"role": "quasi"}},
            "require": [{"model": "k-anonymity", "k": 4, "count": "subjects"}],
            "method": {"name": "top-down"}, "release": {"subjects": numbers},
        }  # fmt: skip
        local, spread = sudare.anonymize(table, policy), made(spark, table, policy, way, tmp_path)
        assert_same(local, spread, rows=False)
        if numbers == "linked":
            found = spread.data.toArrow()
            links = set(zip(found.column("who").to_pylist(), found.column("sex").to_pylist(), strict=True))
            assert len({who for who, _ in links}) == len(set(table.column("who").to_pylist()))


def test_people_of_classes_that_look_alike_are_not_numbered_twice(spark, in_pieces, monkeypatch):
    """No table is known that comes to this, so the audit is made to find a class less than were made."""
    table = pa.table(
        {"who": [f"p{number % 300}" for number in range(900)], "age": [number % 40 for number in range(900)]}
    )
    policy = {
        "version": 1, "columns": {"who": {"role": "subject"}, "age": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 4, "count": "subjects"}], "method": {"name": "top-down"},
    }  # fmt: skip
    found = spread.prove

    def fewer(*given, **more):
        proven = found(*given, **more)
        return replace(proven, classes=proven.classes - 1)

    monkeypatch.setattr(spread, "prove", fewer)
    with pytest.raises(UnsupportedError, match="have equal cells"):
        sudare.anonymize(framed(spark, table), policy)
    policy["release"] = {"subjects": "linked"}
    assert sudare.anonymize(framed(spark, table), policy).certificate["rows_out"] == 900


@pytest.mark.parametrize("frequencies", ["uniform", "observed"])
def test_dummies(spark, in_pieces, frequencies, tmp_path):
    policy = adult_policy("dummies", k=None, l=3, frequencies=frequencies)
    table = adult(1200)
    local, spread = sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path)
    assert_same(local, spread, rows=False)
    assert local.certificate["mechanism"] == spread.certificate["mechanism"]
    found = pq.read_table(spread.path)
    assert found.num_rows == 1200
    assert all(len(set(cell)) == 3 for cell in found.column("occupation").to_pylist())
    quasi = ["age", "sex", "race", "education"]
    one, other = ([tuple(row.values()) for row in some.select(quasi).to_pylist()] for some in (table, found))
    assert sorted(one, key=str) == sorted(other, key=str)
    assert one != other  # shuffled


@pytest.mark.parametrize("method", ["dummies", "pram"])
def test_what_is_drawn_has_to_be_written_down(spark, method):
    policy = adult_policy(method, k=None, l=3) if method == "dummies" else adult_policy(method, k=None)
    if method == "pram":
        policy["require"] = [{"model": "pk-anonymity", "k": 2}]
    with pytest.raises(UnsupportedError, match=r"must be stored.*out="):
        sudare.anonymize(framed(spark, adult(200)), policy)


def test_records_of_one_person_show_parts_of_one_draw(spark, in_pieces, tmp_path):
    random = np.random.default_rng(1)
    table = pa.table({
        "who": random.integers(0, 150, 600), "age": random.integers(20, 50, 600),
        "ill": random.choice(list("abcdef"), 600),
    })  # fmt: skip
    policy = {
        "version": 1,
        "columns": {"who": {"role": "subject"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "ill"}], "method": {"name": "dummies"},
    }  # fmt: skip
    local, spread = sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path)
    assert local.certificate["mechanism"] == spread.certificate["mechanism"]
    assert spread.certificate["mechanism"]["columns"]["ill"]["repeated"]


@pytest.mark.parametrize("kind", ["uniform", "invariant"])
def test_pram(spark, in_pieces, kind, tmp_path):
    policy = adult_policy("pram", k=None, kind=kind)
    policy["require"] = [{"model": "pk-anonymity", "k": 2}]
    table = adult(1500)
    local, spread = sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path)
    assert_same(local, spread, rows=False)
    assert local.certificate["mechanism"] == spread.certificate["mechanism"]


def test_pram_against_all_columns(spark, in_pieces, tmp_path):
    """How columns go together is counted on the executors: the mechanism is that of one machine."""
    policy = adult_policy("pram", k=None)
    policy["columns"]["age"] = {"role": "insensitive"}
    policy["require"] = [{"model": "alpha-gamma", "column": "occupation", "alpha": 0.3, "gamma": 0.0}]
    table = adult(1500)
    local, spread = sudare.anonymize(table, policy), made(spark, table, policy, "folder", tmp_path)
    assert_same(local, spread, rows=False)
    told = local.certificate["mechanism"]
    assert told == spread.certificate["mechanism"]
    assert len(told["together"][0]["combinations"]) > 5
    assert spread.certificate["guarantees"][0]["parameters"]["against"] == "all-columns"


def test_pram_with_strata_is_refused(spark):
    policy = adult_policy("pram", k=None, strata=["sex"])
    policy["require"] = [{"model": "pk-anonymity", "k": 2}]
    with pytest.raises(UnsupportedError, match="strata does not run on Spark"):
        sudare.anonymize(framed(spark, adult(200)), policy, out="release.parquet")
