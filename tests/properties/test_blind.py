"""Classes that are decided without looking at who has which sensitive value."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from soak import minimality
from sudare.core.errors import PolicyError, UnsupportedError
from sudare.methods import METHODS
from sudare.methods.topdown.blind_splits import Blindness, allowed
from sudare.methods.topdown.shortfall import NEVER, Shortfall, safe_size
from sudare.models import AlphaKAnonymity, Groups, Histograms, KAnonymity, LDiversity, Requirements
from sudare.table import Table, encode_column, encode_items

MODELS = [
    LDiversity(2, "ill"),
    LDiversity(3, "ill"),
    LDiversity(1.5, "ill", variant="entropy"),
    LDiversity(2.4, "ill", variant="entropy"),
    LDiversity(2, "ill", variant="recursive", c=1.0),
    LDiversity(3, "ill", variant="recursive", c=2.5),
    AlphaKAnonymity(0.5, 2, "ill"),
    AlphaKAnonymity(0.4, 3, "ill"),
    AlphaKAnonymity(0.3, 2, "ill", values=["b", "d"]),
    AlphaKAnonymity(1.0, 2, "ill"),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)
ILL = encode_column("ill", pa.array(list("abcd")), kind="categorical")


def keeps(model, counts):
    """Whether a group of so many of each value keeps a model."""
    codes = np.flatnonzero(counts)
    held = Histograms(np.array([0, len(codes)]), codes, np.array(counts)[codes], np.array(counts), ILL)
    return bool(model.holds(Groups(np.array([sum(counts)]), None, {"ill": held}))[0])


@every_model
@settings(deadline=None)
@given(counts=st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any))
def test_the_safe_size_is_the_least_from_which_nothing_falls_short(model, counts):
    codes = np.flatnonzero(counts)
    found = safe_size(model, codes, np.array(counts)[codes], ILL)
    total = sum(counts)
    parts = [part for part in product(*(range(n + 1) for n in counts)) if any(part)]
    safe = [all(keeps(model, part) for part in parts if sum(part) >= size) for size in range(1, total + 1)]
    expected = next((size for size, good in enumerate(safe, 1) if good), None)
    assert found == expected or (expected is None and found > total)


def people(rows, seed, kinds=8):
    rng = np.random.default_rng(seed)
    quasi = {
        "age": encode_column("age", pa.array(rng.integers(18, 90, rows)), kind="numeric"),
        "job": encode_column("job", pa.array(rng.choice(["cook", "judge", "nurse"], rows)), kind="categorical"),
    }
    share = np.arange(kinds, 0, -1.0)
    values = rng.choice(kinds, rows, p=share / share.sum())
    ill = encode_column("ill", pa.array([f"v{value}" for value in values]), kind="categorical")
    who = encode_column("who", pa.array([f"p{n}" for n in rng.integers(0, rows // 2, rows)]), kind="categorical")
    return Table(rows, quasi, {"ill": ill}, who)


ASKED = {
    "distinct": [LDiversity(2, "ill")],
    "several": [KAnonymity(4), LDiversity(2, "ill"), AlphaKAnonymity(0.75, 3, "ill")],
    "entropy": [LDiversity(1.5, "ill", variant="entropy")],
    "people": [KAnonymity(3, count="subjects"), LDiversity(2, "ill")],
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("method", ["top-down", "mondrian"])
@pytest.mark.parametrize("seed", range(4))
def test_the_classes_do_not_depend_on_who_has_which_value(method, asked, seed):
    """Every assignment of values within the released classes ends in the same classes: nothing is told by them."""
    table, requirements = people(400, seed), Requirements(tuple(ASKED[asked]), 0.1)
    decide = METHODS[method].load()
    made = decide(table, requirements, sensitive="blind", slack=0)
    assert made.count > 3 and made.suppressed == 0
    rng = np.random.default_rng(seed)
    for _ in range(5):
        order = np.lexsort((rng.random(400), made.classes))
        codes = np.empty_like(table.sensitive["ill"].codes)
        codes[np.argsort(made.classes, kind="stable")] = table.sensitive["ill"].codes[order]
        other = replace(table, sensitive={"ill": replace(table.sensitive["ill"], codes=codes)})
        np.testing.assert_array_equal(decide(other, requirements, sensitive="blind", slack=0).classes, made.classes)


def test_classes_of_methods_that_look_do_depend_on_it():
    """Else the test above would show nothing."""
    found = set()
    for seed in range(8):
        table = people(60, 1)
        codes = np.random.default_rng(seed).permutation(table.sensitive["ill"].codes)
        other = replace(table, sensitive={"ill": replace(table.sensitive["ill"], codes=codes)})
        found.add(METHODS["mondrian"].load()(other, Requirements((LDiversity(3, "ill"),))).classes.tobytes())
    assert len(found) > 1


@every_model
@settings(deadline=None)
@given(counts=st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(lambda counts: sum(counts) > 1))
def test_no_choice_of_records_falls_short_more_often_than_the_bound_says(model, counts):
    codes, total = np.flatnonzero(counts), sum(counts)
    found = Shortfall(Requirements((model,)), total, {"ill": (codes, np.array(counts)[codes], ILL)})
    sizes = np.arange(1, total + 1)
    bounds = found.of_sizes(sizes)
    exact = np.zeros(total)
    for part in product(*(range(n + 1) for n in counts)):
        if any(part) and not keeps(model, part):
            ways = math.prod(math.comb(n, taken) for n, taken in zip(counts, part, strict=True))
            exact[sum(part) - 1] += ways / math.comb(total, sum(part))
    assert (bounds >= exact - 1e-12).all()
    assert (bounds[exact == 0] == 0).all()
    np.testing.assert_allclose(found.of_splits(sizes[:-1]), np.minimum(bounds[:-1] + bounds[:-1][::-1], 1))


def test_bounds_in_large_clusters_are_near_the_truth():
    """Against a million draws: what is bounded by a sum over sets or values is not much more than it."""
    counts = np.array([300, 250, 200, 150, 60, 40])
    column = encode_column("ill", pa.array(list("abcdef")), kind="categorical")
    rng = np.random.default_rng(0)
    for model, size in ((LDiversity(4, "ill"), 8), (AlphaKAnonymity(0.5, 2, "ill"), 20)):
        held = {"ill": (np.arange(6), counts, column)}
        bound = Shortfall(Requirements((model,)), 1000, held).of_sizes(np.array([size]))[0]
        drawn = rng.multivariate_hypergeometric(counts, size, 200_000)
        short = (drawn > 0).sum(axis=1) < 4 if isinstance(model, LDiversity) else drawn.max(axis=1) > size // 2
        assert short.mean() <= bound * 1.05 and bound <= 1.5 * short.mean()


def test_what_is_too_unlikely_to_be_computed_is_not_impossible():
    counts, column = np.array([40_000, 60_000]), encode_column("ill", pa.array(list("ab")), kind="categorical")
    found = Shortfall(Requirements((LDiversity(2, "ill"),)), 100_000, {"ill": (np.arange(2), counts, column)})
    assert found.of_sizes(np.array([60_000, 60_001])).tolist() == [1e-300, 0]
    assert (found.of_splits(np.array([1, 50_000, 39_999])) > 0).all()


@pytest.mark.parametrize("method", ["top-down", "mondrian"])
def test_more_slack_makes_more_classes(method):
    table, requirements = people(2000, 3), Requirements((LDiversity(4, "ill"),))
    decide = METHODS[method].load()
    counts = [decide(table, requirements, sensitive="blind", slack=slack, seed=1).count for slack in (0, 0.05, 0.5)]
    assert counts[0] < counts[1] < counts[2]
    same = [decide(table, requirements, sensitive="blind", slack=0.3, seed=seed).classes for seed in (1, 1, 2)]
    np.testing.assert_array_equal(same[0], same[1])
    assert (same[0] != same[2]).any()


def test_many_workers_toss_the_same_coins(monkeypatch):
    table, requirements, found = people(9000, 8), Requirements((LDiversity(3, "ill"),)), []
    for count in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        found.append(METHODS["mondrian"].load()(table, requirements, sensitive="blind", slack=0.2, seed=4).classes)
    np.testing.assert_array_equal(*found)


def test_coins_fall_as_they_are_said_to():
    places = np.stack([np.arange(100_000), np.arange(100_000) + 1], axis=1)
    for against in (0.0, 0.1, 0.5, 1.0):
        fell = allowed(b"secret", places, np.full(len(places), against))
        assert fell.mean() == pytest.approx(1 - against, abs=0.01)
    assert allowed(b"secret", places, np.zeros(len(places))).all()
    assert not allowed(b"secret", places, np.ones(len(places))).any()


def test_a_coin_is_against_a_split_so_often_that_failure_is_not_likelier_than_the_slack():
    failing = np.array([0.0, 1e-9, 0.001, 0.01, 0.05, 0.2, 1.0])
    for slack in (0.01, 0.05, 0.3):
        against = Blindness(slack, b"").against(failing)
        likely = failing[failing <= slack] / (failing + against * (1 - failing))[failing <= slack].clip(1e-300)
        assert against[0] == 0 and (against[failing >= slack] == 1).all() and (likely <= slack * (1 + 1e-9)).all()
    assert Blindness(0.0, b"").against(failing).tolist() == [0, 1, 1, 1, 1, 1, 1]


PROMISING = [way for way in minimality.WAYS if way.slack is not None]


@pytest.mark.parametrize("way", PROMISING, ids=lambda way: way.name)
def test_nothing_above_the_bound_is_believed_where_all_worlds_are_enumerated(way):
    number = minimality.WAYS.index(way)
    assert minimality.case(number).startswith(way.name)


def test_something_is_told_where_there_is_slack():
    """Else the bound would be no achievement: in some table more is believed than the class shows, by a coin."""
    way = next(way for way in PROMISING if way.slack)
    found = [minimality.worst(way, minimality.population(table, way)) for table in range(3)]
    assert 0 < max(each.above_share for each in found) <= way.slack


@pytest.mark.parametrize("name", ["l-clustering", "three-phase"])
def test_methods_that_look_let_somebody_be_certain(name):
    """What the warning in the certificate is about."""
    way = next(way for way in minimality.WAYS if way.name == name)
    assert any(minimality.worst(way, minimality.population(table, way)).belief == 1 for table in range(4))


# ---- as users meet it


def rules(more=None, **method):
    columns = {"age": {"role": "quasi"}, "job": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    required = more or [{"model": "l-diversity", "l": 2, "column": "ill"}]
    return {"columns": columns, "require": required, "method": method}


def records(rows=300):
    table = people(rows, 5)
    return pa.table({name: column.values.take(pa.array(column.codes)) for name, column in
                     (*table.single.items(), *table.sensitive.items())})  # fmt: skip


@pytest.mark.parametrize("method", ["top-down", "mondrian"])
@pytest.mark.parametrize("slack", [None, 0, 0.3])
def test_a_release_is_made_and_proven(method, slack, tmp_path):
    options = {"sensitive": "blind"} | ({} if slack is None else {"slack": slack})
    release = sudare.anonymize(records(), rules(name=method, **options), out=tmp_path / "release.csv")
    assert release.certificate["method"] == {"name": method, **options}
    assert release.certificate["classes"] > 3
    assert sudare.audit(tmp_path / "release.csv", rules(name=method, **options)).passed


@pytest.mark.parametrize("method", ["top-down", "mondrian"])
def test_a_table_of_a_database_gives_what_a_table_here_does(method, tmp_path):
    data, policy = records(), rules(name=method, sensitive="blind", slack=0.3)
    with duckdb.connect(str(tmp_path / "home.duckdb")) as database:
        database.register("given", data)
        database.execute("CREATE TABLE people AS SELECT * FROM given")
    address = f"{tmp_path / 'home.duckdb'}#people"
    there = sudare.anonymize(address, policy, out=tmp_path / "release.parquet", seed=1)
    here = sudare.anonymize(data, policy, seed=1)
    assert there.certificate["classes"] == here.certificate["classes"] and there.loss == here.loss


K = [{"model": "k-anonymity", "k": 3}]


@pytest.mark.parametrize(
    ("method", "more", "warned"),
    [
        *(({"name": name}, None, True) for name in ("top-down", "mondrian", "l-clustering", "three-phase")),
        ({"name": "full-domain"}, None, True),
        ({"name": "mondrian"}, [{"model": "t-closeness", "t": 0.5, "column": "ill"}], True),
        ({"name": "mondrian"}, K, False),
        ({"name": "tds", "target": "ill"}, K, True),
        ({"name": "l-clustering"}, K, False),
        ({"name": "mondrian", "sensitive": "blind"}, None, False),
        ({"name": "anatomy"}, None, False),
        ({"name": "dummies"}, None, False),
    ],
    ids=str,
)
def test_certificates_warn_where_the_method_looks_at_sensitive_values(method, more, warned):
    release = sudare.anonymize(records(), rules(more, **method))
    found = [warning for warning in release.certificate["warnings"] if warning["kind"] == "minimality"]
    assert [warning["columns"] for warning in found] == ([["ill"]] if warned else [])
    assert all("minimality attack" in warning["text"] for warning in found)
    possible = more is None or more[0]["model"] not in ("t-closeness", "k-anonymity")
    assert all(("sensitive: blind" in warning["text"]) == possible for warning in found)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ({"name": "top-down", "slack": 0.2}, "method.slack: has an effect only with sensitive: blind"),
        (
            {"name": "mondrian", "sensitive": "seen", "slack": 0.2},
            "method.slack: has an effect only with sensitive: blind",
        ),
        (
            {"name": "mondrian", "sensitive": "blind", "slack": 1},
            "method.slack: got 1. Allowed: a number from 0, below 1",
        ),
        ({"name": "mondrian", "sensitive": "blind", "polish": True}, "method.polish: moves records"),
        ({"name": "top-down", "sensitive": "blind", "order": "global"}, "method.order: compares all clusters"),
        ({"name": "top-down", "sensitive": "deaf"}, "method.sensitive: got 'deaf'. Allowed: seen, blind"),
        ({"name": "l-clustering", "sensitive": "blind"}, "sensitive"),
    ],
)
def test_options_that_do_not_go_together_are_named(method, says):
    with pytest.raises(PolicyError) as caught:
        sudare.anonymize(records(), rules(**method))
    assert says in str(caught.value)


def test_limits_against_the_whole_are_refused():
    more = [{"model": "t-closeness", "t": 0.3, "column": "ill"}, {"model": "k-anonymity", "k": 3}]
    with pytest.raises(PolicyError, match=r"method\.sensitive: blind cannot keep t-closeness"):
        sudare.anonymize(records(), rules(more, name="top-down", sensitive="blind", slack=0))


@pytest.mark.parametrize("method", ["top-down", "mondrian"])
def test_item_sets_are_refused(method):
    table = Table(4, {"basket": encode_items("basket", pa.array([["a"], ["a"], ["b"], ["b"]]))})
    with pytest.raises(UnsupportedError, match="item set"):
        METHODS[method].load()(table, Requirements((KAnonymity(2),)), sensitive="blind", slack=0)


def test_a_size_that_nothing_has():
    assert safe_size(LDiversity(3, "ill"), np.array([0, 1]), np.array([5, 5]), ILL) == NEVER
