"""Sweeps: which combinations there are, what they mean for the policy, and what is refused."""

from __future__ import annotations

import pytest

from sudare.comparisons import configurations_for, parse_sweep
from sudare.comparisons.sweeps import MOST_CONFIGURATIONS
from sudare.core.errors import ParameterError, UnsupportedError
from sudare.methods import METHODS
from sudare.pipeline import requirements_of
from sudare.policy import Policy

COLUMNS = {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "sick": {"role": "sensitive"}}
REQUIRE = [
    {"model": "k-anonymity", "k": 5},
    {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 4, "column": "sick"},
    {"model": "l-diversity", "l": 2, "column": "sick"},
]


def policy(require=REQUIRE, **more):
    return Policy.parse({"columns": COLUMNS, "require": require, **more}, methods=METHODS)


def ways(sweep=None, asked=("top-down", "mondrian"), target=None, **more):
    given = policy(**more)
    return configurations_for(given, target, requirements_of, asked=asked, sweep=sweep)


def ks(way):
    return [model.k for model in way.requirements.models if hasattr(model, "k")]


def test_k_stands_for_all_requirements_that_have_it():
    found = ways({"k": [3, 9]})
    assert [way.name for way in found] == ["top-down, k=3", "top-down, k=9", "mondrian, k=3", "mondrian, k=9"]
    assert [ks(way) for way in found[:2]] == [[3, 3], [9, 9]]
    assert all(way.requirements.models[2].l == 2 for way in found)
    assert found[0].swept == {"k": 3}


def test_every_combination_is_a_way():
    found = ways({"l": [2, 3], "alpha": [0.25, 0.5, 1.0]}, asked=["top-down"])
    assert len(found) == 6
    assert found[-1].name == "top-down, l=3, alpha=1.0"
    assert found[-1].requirements.models[1].alpha == 1.0
    assert found[-1].requirements.models[1].k == 4


def test_an_option_concerns_the_methods_that_have_it():
    found = ways({"split": ["least-loss", "widest"]})
    assert [way.name for way in found] == ["top-down, split=least-loss", "top-down, split=widest", "mondrian"]
    assert found[1].options == {"split": "widest"}
    assert [way.problems for way in found] == [(), (), ()]


def test_what_the_policy_requires_comes_before_an_option_of_the_same_name():
    require = [{"model": "k-anonymity", "k": 5}, {"model": "beta-likeness", "beta": 1.0, "column": "sick"}]
    [found] = ways({"beta": [2.0]}, asked=["top-down"], require=require)
    assert found.options == {}
    assert found.requirements.models[1].beta == 2.0
    [found] = ways({"beta": [0.5]}, asked=["top-down"])
    assert found.options == {"beta": 0.5}


def test_the_policys_method_keeps_its_options_unless_they_are_swept():
    own = {"name": "top-down", "split": "widest", "polish": True}
    found = ways({"split": ["least-loss"]}, method=own)
    assert found[0].options == {"split": "least-loss", "polish": True}
    assert found[1].options == {}


def test_without_methods_all_that_fit_are_there_once():
    names = {way.method for way in ways({"k": [2]}, asked=None)}
    assert {"top-down", "mondrian", "full-domain", "three-phase"} <= names
    assert not {"tds", "dummies", "pram", "incognito"} & names, "they lack a target or another model, or are an alias"
    assert "tds" in {way.method for way in ways(asked=None, target="sick")}


def test_a_method_that_does_not_fit_is_a_way_with_the_reason_if_it_is_asked_for():
    [found] = ways({"k": [3]}, asked=["pram"])
    assert "cannot keep" in str(found.problems[0])


def test_a_value_that_only_some_take_is_a_problem_of_the_others():
    found = ways({"loss": ["gcp", "precision"]}, asked=["full-domain", "l-clustering"])
    assert [bool(way.problems) for way in found] == [False, False, False, True]
    assert "got 'precision'. Allowed: gcp, arx" in str(found[3].problems[0])


WRONG = {
    "unknown": ({"kk": [2]}, "sweep: 'kk' is neither a parameter of a requirement", "Did you mean 'k'?"),
    "not required": ({"t": [0.1]}, "'t' is neither a parameter", "there are k, alpha, l, split"),
    "option of others": ({"variant": ["fast"]}, "'variant' is neither a parameter", "there are"),
    "misspelt": ({"splt": ["widest"]}, "'splt' is neither a parameter", "Did you mean 'split'?"),
    "no list": ({"k": 5}, "sweep.k: needs a list of at least one value", ""),
    "text": ({"k": "25"}, "sweep.k: needs a list of at least one value", ""),
    "empty": ({"k": []}, "sweep.k: needs a list of at least one value", ""),
    "no mapping": ([("k", [2])], "sweep: must be a mapping of lists, such as {'k': [2, 5, 10]}; got list.", ""),
    "one": ({"k": [1]}, "sweep.k: 1 is refused by all methods: input should be greater than or equal to 2", ""),
    "half": ({"k": [2.5, 3]}, "sweep.k: 2.5 is refused by all", ""),
    "word": ({"k": ["x"]}, "sweep.k: x is refused by all", ""),
    "no option": ({"split": ["wides"]}, "sweep.split: wides is refused by all", "Did you mean 'widest'?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_sweep_is_one_clear_error(case):
    sweep, message, hint = WRONG[case]
    with pytest.raises(ParameterError) as caught:
        ways(sweep)
    assert message in str(caught.value)
    assert hint in str(caught.value)
    assert len(caught.value.problems) == 1


def test_what_would_change_nothing_is_refused():
    with pytest.raises(
        ParameterError, match=r"sweep\.frequencies: is not an option of any method that the policy allows"
    ):
        ways({"frequencies": ["observed"]}, asked=None)
    with pytest.raises(ParameterError, match="'target' is neither a parameter"):
        ways({"target": ["sick"]}, asked=["tds"])


def test_combinations_that_exclude_each_other_are_ways_with_the_reason():
    require = [{"model": "alpha-gamma", "column": "sick", "alpha": 0.9, "gamma": 0.1}]
    found = ways({"alpha": [0.3, 0.8], "gamma": [0.1, 0.5]}, asked=["pram"], require=require)
    assert [bool(way.problems) for way in found] == [False, True, False, False]
    assert "gamma must be below alpha" in str(found[1].problems[0])


def test_too_many_ways_are_refused():
    with pytest.raises(ParameterError, match="combinations; at most 1,000"):
        ways({"k": list(range(2, 3 + MOST_CONFIGURATIONS))}, asked=["top-down"])


def test_a_value_counts_once():
    assert len(ways({"k": [2, 2, 3]}, asked=["top-down"])) == 2


def test_methods_are_a_list():
    with pytest.raises(ParameterError, match="must be a list of names"):
        ways(asked="top-down")
    with pytest.raises(UnsupportedError, match="Did you mean 'mondrian'"):
        ways(asked=["mondrain"])


def test_sweeps_in_words():
    assert parse_sweep(["k=2,5, 10", "t = 0.1,0.2", "split=least-loss,widest", "polish=true,false"]) == {
        "k": [2, 5, 10],
        "t": [0.1, 0.2],
        "split": ["least-loss", "widest"],
        "polish": [True, False],
    }
    for wrong in (["k"], ["=2"], ["k=2", "k=3"]):
        with pytest.raises(ParameterError):
            parse_sweep(wrong)


def test_methods_and_sweep_are_told_of_together():
    with pytest.raises(ParameterError) as caught:
        ways({"kk": [2], "k": []}, asked=["top-dwn", "mondrian"])
    text = str(caught.value)
    assert len(caught.value.problems) == 3
    assert "'top-dwn' is not a method" in text
    assert "'kk'" in text
    assert "sweep.k" in text
