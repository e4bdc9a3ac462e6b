"""Bad parameters: one error, every problem in one form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sudare.core.errors import ParameterError
from sudare.models import (
    MODELS,
    TOLERANCE,
    AlphaGamma,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    PkAnonymity,
    Requirements,
    TCloseness,
    describe,
)
from sudare.policy import TOLERANCE as POLICY_TOLERANCE
from sudare.policy import Policy

from .groupings import NAME, as_groups

BAD = [
    (KAnonymity, {"k": 1}, "k"),
    (KAnonymity, {"k": 2.0}, "k"),
    (KAnonymity, {"k": True}, "k"),
    (KAnonymity, {"k": "5"}, "k"),
    (KAnonymity, {"k": 2, "count": "people"}, "count"),
    (KAnonymity, {"k": 2, "columns": []}, "columns"),
    (KAnonymity, {"k": 2, "columns": "age"}, "columns"),
    (LDiversity, {"l": 1, "column": "d"}, "l"),
    (LDiversity, {"l": 2.5, "column": "d"}, "l"),
    (LDiversity, {"l": 2.5, "column": "d", "variant": "recursive", "c": 1}, "l"),
    (LDiversity, {"l": 1, "column": "d", "variant": "entropy"}, "l"),
    (LDiversity, {"l": math.inf, "column": "d"}, "l"),
    (LDiversity, {"l": None, "column": "d"}, "l"),
    (LDiversity, {"l": 2, "column": 3}, "column"),
    (LDiversity, {"l": 2, "column": "d", "variant": "recusive"}, "variant"),
    (LDiversity, {"l": 2, "column": "d", "variant": "recursive"}, "c"),
    (LDiversity, {"l": 2, "column": "d", "variant": "recursive", "c": 0}, "c"),
    (LDiversity, {"l": 2, "column": "d", "c": 2.0}, "c"),
    (TCloseness, {"t": -0.1, "column": "d"}, "t"),
    (TCloseness, {"t": 1.1, "column": "d"}, "t"),
    (TCloseness, {"t": math.nan, "column": "d"}, "t"),
    (TCloseness, {"t": 0.1, "column": "d", "distance": "order"}, "distance"),
    (AlphaKAnonymity, {"alpha": 0, "k": 2, "column": "d"}, "alpha"),
    (AlphaKAnonymity, {"alpha": 1.1, "k": 2, "column": "d"}, "alpha"),
    (AlphaKAnonymity, {"alpha": 0.5, "k": 0, "column": "d"}, "k"),
    (AlphaKAnonymity, {"alpha": 0.5, "k": 2, "column": "d", "values": [1]}, "values"),
    (BetaLikeness, {"beta": 0, "column": "d"}, "beta"),
    (BetaLikeness, {"beta": 1, "column": "d", "variant": "strong"}, "variant"),
    (DeltaDisclosure, {"delta": -1, "column": "d"}, "delta"),
    (KmAnonymity, {"k": 1, "m": 2, "column": "d"}, "k"),
    (KmAnonymity, {"k": 2, "m": 0, "column": "d"}, "m"),
    (PkAnonymity, {"k": 1}, "k"),
    (PkAnonymity, {"k": 2.5}, "k"),
    (AlphaGamma, {"column": 3, "alpha": 0.8, "gamma": 0.1}, "column"),
    (AlphaGamma, {"column": "d", "alpha": 0, "gamma": 0}, "alpha"),
    (AlphaGamma, {"column": "d", "alpha": 1.1, "gamma": 0.1}, "alpha"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": -0.1}, "gamma"),
    (AlphaGamma, {"column": "d", "alpha": 0.2, "gamma": 0.2}, "gamma"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": 0.1, "prior": {"a": 1.0}}, "prior"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": 0.1, "prior": {"a": 1.0, "b": 0}}, "prior"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": 0.1, "prior": {"a": 0.5, "b": 0.4}}, "prior"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": 0.1, "prior": {1: 0.5, 2: 0.5}}, "prior"),
    (AlphaGamma, {"column": "d", "alpha": 0.8, "gamma": 0.1, "prior": [0.5, 0.5]}, "prior"),
    (Requirements, {"models": (), "limit": 1.01}, "limit"),
    (Requirements, {"models": (), "limit": -0.1}, "limit"),
]


@pytest.mark.parametrize(("model", "given", "where"), BAD)
def test_says_what_was_got_and_what_is_allowed(model, given, where):
    with pytest.raises(ParameterError) as caught:
        model(**given)
    (problem,) = caught.value.problems
    assert problem.where.endswith(where)
    assert problem.what.startswith("got ")
    assert " Allowed: " in problem.what


def test_everything_wrong_comes_at_once():
    with pytest.raises(ParameterError) as caught:
        AlphaKAnonymity(2, 1, NAME, [])
    assert [problem.where for problem in caught.value.problems] == [
        "alpha-k-anonymity.alpha",
        "alpha-k-anonymity.k",
        "alpha-k-anonymity.values",
    ]


def test_points_to_the_nearest_word():
    with pytest.raises(ParameterError, match="Did you mean 'ordered'"):
        TCloseness(0.1, NAME, "orderd")


def test_numbers_of_numpy_are_numbers():
    assert KAnonymity(np.int64(3)).least_rows == 3
    assert TCloseness(np.float64(0.5), NAME).t == 0.5


def test_the_slack_is_that_of_the_policy():
    assert TOLERANCE == POLICY_TOLERANCE


REQUIRE = [
    {"model": "k-anonymity", "k": 5, "columns": ["age"]},
    {"model": "k-anonymity", "k": 3, "count": "subjects"},
    {"model": "l-diversity", "l": 3, "column": "disease"},
    {"model": "l-diversity", "l": 2.5, "column": "disease", "variant": "entropy"},
    {"model": "l-diversity", "l": 3, "column": "disease", "variant": "recursive", "c": 2},
    {"model": "t-closeness", "t": 0.2, "column": "disease", "distance": "ordered"},
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 4, "column": "disease", "values": ["flu"]},
    {"model": "beta-likeness", "beta": 1, "column": "disease"},
    {"model": "delta-disclosure", "delta": 1, "column": "disease"},
    {"model": "km-anonymity", "k": 3, "m": 2, "column": "drugs"},
    {"model": "pk-anonymity", "k": 3},
    {"model": "alpha-gamma", "column": "disease", "alpha": 0.8, "gamma": 0.1},
    {"model": "alpha-gamma", "column": "age", "alpha": 0.8, "gamma": 0.1, "prior": {"20": 0.7, "30": 0.3}},
    {"model": "uniqueness", "most": 0.05},
    {"model": "uniqueness", "most": 0.5, "columns": ["age", "disease"]},
]


def test_a_policy_makes_models_with_the_same_words():
    columns = {
        "person": {"role": "subject"},
        "age": {"role": "quasi"},
        "drugs": {"role": "quasi", "kind": "items"},
        "disease": {"role": "sensitive"},
    }
    policy = Policy.parse({"columns": columns, "require": REQUIRE})
    assert {spec.model for spec in policy.require} == set(MODELS)
    for spec in policy.require:
        model = MODELS[spec.model](**spec.parameters())
        assert model.least_rows >= 1  # a figure that is kept once it is computed is no parameter
        assert describe(model) == spec.describe()
        assert isinstance(hash(model), int)


def test_subjects_are_never_guessed_from_rows():
    with pytest.raises(ParameterError, match="data subjects"):
        KAnonymity(2, count="subjects").holds(as_groups([[0, 1]]))


def test_a_hierarchical_distance_needs_a_hierarchy():
    with pytest.raises(ParameterError, match="needs a hierarchy"):
        TCloseness(0.1, NAME, "hierarchical").holds(as_groups([[0], [1]]))
