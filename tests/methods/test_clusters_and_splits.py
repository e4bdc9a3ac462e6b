"""l-clustering under every model: it keeps what was required, and loses no more than top-down with polish."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError
from sudare.methods.class_counts import tallied
from sudare.methods.clustering.l_clustering import l_clustering
from sudare.methods.clustering.polish import polish
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import METRICS
from sudare.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    Requirements,
    TCloseness,
)
from sudare.sources.encoded_table import encode
from sudare.table import Partition, Table, generalize

MODELS = {
    "entropy": (LDiversity(2.5, "s", "entropy"),),
    "recursive": (LDiversity(3, "s", "recursive", 2.0),),
    "t": (KAnonymity(3), TCloseness(0.3, "s")),
    "t, ordered": (KAnonymity(2), TCloseness(0.15, "s", "ordered")),
    "beta": (BetaLikeness(1.5, "s"),),
    "delta": (DeltaDisclosure(1.5, "s"),),
    "alpha": (AlphaKAnonymity(0.5, 4, "s"),),
    "distinct": (LDiversity(3, "s"),),
    "k": (KAnonymity(4),),
}
TREE = {"north": ["p", "q", "r"], "south": ["t", "u", "v", "w"]}


def uniform(random, rows):
    return random.integers(18, 80, rows), random.choice(list("pqrtuvw"), rows), random.choice(list("abcde"), rows)


def skewed(random, rows):
    x, y, _ = uniform(random, rows)
    return x, y, random.choice(list("abcde"), rows, p=[0.45, 0.25, 0.15, 0.1, 0.05])


def correlated(random, rows):
    x, y, s = skewed(random, rows)
    return x, y, np.where(random.random(rows) < 0.5, np.array(list("abcde"))[(x - 18) * 5 // 62], s)


def few(random, rows):
    return random.choice([20, 30, 70], rows), random.choice(list("pt"), rows), random.choice(list("abcde"), rows)


def with_gaps(random, rows):
    x, y, s = skewed(random, rows)
    return x, np.where(random.random(rows) < 0.1, None, y), np.where(random.random(rows) < 0.1, None, s)


TABLES = {"uniform": uniform, "skewed": skewed, "correlated": correlated, "few": few, "gaps": with_gaps}


def made(kind: str, tree: bool = False, rows: int = 240, seed: int = 7) -> Table:
    x, y, s = TABLES[kind](np.random.default_rng(seed), rows)
    data = pa.table({"x": x, "y": pa.array(y.tolist()), "s": pa.array(s.tolist())})
    hierarchy = {"hierarchy": {"tree": TREE}} if tree else {}
    columns = {"x": {"role": "quasi"}, "y": {"role": "quasi"} | hierarchy, "s": {"role": "sensitive"}}
    policy = {"columns": columns, "require": [{"model": "l-diversity", "l": 2, "column": "s"}]}
    return encode(data, sudare.load_policy(policy))


def lost(table, partition):
    return METRICS["gcp"](generalize(table, partition)).total


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", TABLES)
def test_no_more_is_lost_than_by_top_down_with_polish(kind, model):
    table, required = made(kind), Requirements(MODELS[model])
    found = l_clustering(table, required)
    assert required.holds(tallied(table, required, found.classes, found.count)).all()
    assert found.facts["classes_by"] in ("clusters", "top-down")
    assert lost(table, found) <= lost(table, top_down(table, required, polish=True)) + 1e-12


@pytest.mark.parametrize("model", ["entropy", "recursive", "t", "alpha"])
def test_clusters_that_grow_until_they_keep_a_promise_lose_far_less(model):
    """Sufficient conditions in place of the model made these lose more than top-down."""
    table, required = made("uniform", rows=600), Requirements(MODELS[model])
    found = l_clustering(table, required)
    assert found.facts["classes_by"] == "clusters"
    assert lost(table, found) < 0.85 * lost(table, top_down(table, required))


@pytest.mark.parametrize("model", MODELS)
def test_a_hierarchy_is_heeded_in_both(model):
    table, required = made("correlated", tree=True), Requirements(MODELS[model])
    found = l_clustering(table, required)
    assert required.holds(tallied(table, required, found.classes, found.count)).all()
    assert lost(table, found) <= lost(table, top_down(table, required, polish=True)) + 1e-12


def test_classes_of_top_down_are_taken_where_they_lose_less():
    table, required = made("gaps"), Requirements(MODELS["beta"])
    found, split = l_clustering(table, required), top_down(table, required, polish=True)
    assert found.facts == {"classes_by": "top-down"}
    assert (found.count, lost(table, found)) == (split.count, lost(table, split))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(TABLES)), st.sampled_from(list(MODELS)), st.integers(0, 2**32 - 1), st.integers(8, 60))
def test_random_tables_keep_their_promises_and_lose_no_more_in_any_order_of_rows(kind, model, seed, rows):
    table, required = made(kind, rows=rows, seed=seed), Requirements(MODELS[model])
    try:
        found = l_clustering(table, required)
    except PolicyUnmetError:
        with pytest.raises(PolicyUnmetError):
            top_down(table, required)
        return
    assert required.holds(tallied(table, required, found.classes, found.count)).all()
    least = lost(table, found)
    assert least <= lost(table, top_down(table, required, polish=True)) + 1e-12
    shuffled = np.random.default_rng(seed).permutation(rows)
    assert lost(table.taken(shuffled), l_clustering(table.taken(shuffled), required)) == pytest.approx(least, abs=1e-12)


def test_two_sensitive_columns_are_kept_together():
    random = np.random.default_rng(3)
    rows = 300
    data = pa.table(
        {
            "x": random.integers(0, 50, rows),
            "s": random.choice(list("abcd"), rows),
            "r": random.choice(list("yn"), rows),
        }
    )
    columns = {"x": {"role": "quasi"}, "s": {"role": "sensitive"}, "r": {"role": "sensitive"}}
    models = [
        {"model": "l-diversity", "variant": "entropy", "l": 3, "column": "s"},
        {"model": "t-closeness", "t": 0.2, "column": "r"},
    ]
    method = {"name": "l-clustering"}
    done = sudare.anonymize(data, {"columns": columns, "require": models, "method": method})
    assert done.certificate["search"] == {"classes_by": "clusters"}
    assert done.certificate["classes"] > 20


@pytest.mark.parametrize("seed", range(6))
def test_masked_records_count_in_the_whole_while_classes_are_polished(seed):
    """t-closeness is measured against the release, of which masked records are a part."""
    random = np.random.default_rng(seed)
    rows = 400
    x = random.integers(0, 60, rows)
    s = np.where(
        random.random(rows) < 0.7, np.array(list("abc"))[np.minimum(x // 17, 2)], random.choice(list("abc"), rows)
    )
    s = np.where(x > 50, "d", s)
    data = pa.table({"x": x, "y": random.choice(list("pqr"), rows), "s": s})
    columns = {"x": {"role": "quasi"}, "y": {"role": "quasi"}, "s": {"role": "sensitive"}}
    policy = {"columns": columns, "require": [{"model": "l-diversity", "l": 2, "column": "s"}]}
    table = encode(data, sudare.load_policy(policy))
    required = Requirements((KAnonymity(3), TCloseness(0.34, "s")))
    # one value is masked, and everything else in classes that are close to the release
    classes = np.where(x > 50, 8, x % 8).astype(np.int32)
    given = Partition(classes, 9, masked=True)
    assert required.holds(tallied(table, required, classes, 9))[:-1].all()
    found = polish(table, required, given)
    assert found.masked and lost(table, found) < lost(table, given)
    assert required.holds(tallied(table, required, found.classes, found.count))[:-1].all()
