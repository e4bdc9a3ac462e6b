"""The smallest and the largest that a model may meet."""

from __future__ import annotations

import time

import numpy as np
import pytest

from sudare.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    Requirements,
    TCloseness,
)
from sudare.table import Taxonomy

from .groupings import NAME, as_groups, sparse, tree

GROUP_MODELS = [
    KAnonymity(2),
    LDiversity(2, NAME),
    LDiversity(2, NAME, "entropy"),
    LDiversity(2, NAME, "recursive", 3.0),
    TCloseness(0.2, NAME),
    TCloseness(0.2, NAME, "ordered"),
    TCloseness(0.2, NAME, "hierarchical"),
    AlphaKAnonymity(0.6, 2, NAME),
    BetaLikeness(1, NAME),
    BetaLikeness(1, NAME, "basic"),
    DeltaDisclosure(1, NAME),
]
names = [f"{model.name}-{getattr(model, 'variant', getattr(model, 'distance', ''))}" for model in GROUP_MODELS]
every_model = pytest.mark.parametrize("model", GROUP_MODELS, ids=names)


@every_model
def test_no_groups(model):
    groups = as_groups([], taxonomy=tree([0, 1, 2, 3, 4, 5]))
    assert model.holds(groups).tolist() == []
    assert model.measure(groups).tolist() == []


@every_model
def test_one_record(model):
    groups = as_groups([[3]], taxonomy=tree([0, 1, 2, 3, 4, 5]))
    assert model.holds(groups).tolist() == [model.depends_on_whole]


@every_model
def test_one_value(model):
    groups = as_groups([[0], [0] * 5], domain=1, taxonomy=tree([0]))
    only_size = isinstance(model, KAnonymity)
    assert model.holds(groups).tolist() == [model.depends_on_whole, model.depends_on_whole or only_size]


@every_model
def test_only_missing(model):
    groups = as_groups([[None] * 3], domain=0, taxonomy=None)
    assert model.holds(groups).tolist() == [model.depends_on_whole or isinstance(model, KAnonymity)]


def two_levels(domain):
    """Make a taxonomy with four leaves to a node."""
    inner = -(-domain // 4)
    of = 1 + np.arange(domain) // 4
    parent = np.concatenate(([-1], np.zeros(inner), of)).astype(np.int32)
    path = np.stack((np.zeros(domain), of, 1 + inner + np.arange(domain)), axis=1).astype(np.int32)
    return Taxonomy(("",) * len(parent), parent, np.ones(len(parent), np.int32), path)


def drawn(groups, domain, values):
    """Draw groups with the same number of values each, every one from another stretch of the domain."""
    random = np.random.default_rng(1)
    stretch = domain // values
    codes = (random.integers(0, stretch, (groups, values)) + stretch * np.arange(values)).ravel()
    counts = random.integers(1, 9, groups * values)
    total = np.bincount(codes, weights=counts, minlength=domain).astype(np.int64)
    return sparse(np.arange(groups + 1) * values, codes, counts, total, taxonomy=two_levels(domain))


@pytest.fixture(scope="module")
def many_groups():
    return drawn(300_000, 12, 4)


@pytest.fixture(scope="module")
def many_values():
    return drawn(50_000, 1_000_000, 5)


@every_model
def test_many_groups_take_no_time(model, many_groups):
    began = time.process_time()
    assert len(model.holds(many_groups)) == 300_000
    assert time.process_time() - began < 1.5


@every_model
def test_a_million_categories(model, many_values):
    # a dense matrix would take 400 GB
    began = time.process_time()
    assert len(model.holds(many_values)) == 50_000
    assert time.process_time() - began < 1.5


def test_sparse_distances_stay_exact_over_a_million_categories(many_values):
    histograms = many_values.histograms[NAME]
    group = np.zeros(1_000_000)
    group[histograms.codes[:5]] = histograms.counts[:5]
    present = histograms.total > 0
    apart = group / group.sum() - histograms.total / histograms.total.sum()
    ordered = np.abs(np.cumsum(apart[present])).sum() / (present.sum() - 1)
    assert TCloseness(0.1, NAME).measure(many_values)[0] == pytest.approx(np.abs(apart).sum() / 2, abs=1e-12)
    assert TCloseness(0.1, NAME, "ordered").measure(many_values)[0] == pytest.approx(ordered, abs=1e-12)


def test_many_requirements_on_many_groups(many_groups):
    asked = Requirements((KAnonymity(20), LDiversity(3, NAME, "entropy"), TCloseness(0.4, NAME, "hierarchical")))
    began = time.process_time()
    answer = asked.holds(many_groups)
    assert time.process_time() - began < 2
    assert answer.tolist() == np.logical_and.reduce([model.holds(many_groups) for model in asked.models]).tolist()
