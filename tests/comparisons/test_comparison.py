"""Comparing methods, from the verb down: what is known by hand, what is refused, and that it is the same again."""

from __future__ import annotations

import json
import sys
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.comparisons import CLASSIFIERS, Configuration, classifiers, evaluate, show, stratified
from sudare.core.errors import DataError, MissingExtraError, ParameterError, UnsupportedError
from sudare.models import KAnonymity, Requirements
from sudare.table import Table, encode_column, encode_items

ROWS = 120
POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "city": {"role": "quasi"},
        "name": {"role": "identifier"},
        "class": {"role": "sensitive"},
        "unit": {"role": "insensitive"},
        "cost": {"role": "insensitive"},
        "empty": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 4}],
    "method": {"name": "mondrian"},
}


def people(**changed):
    """The class is a function of the city: a third of the records, in Oslo, have 'yes'."""
    cities = ["Oslo", "Rome", "Bern"] * (ROWS // 3)
    columns = {
        "age": [20 + number % 40 for number in range(ROWS)],
        "city": cities,
        "name": [f"n{number}" for number in range(ROWS)],
        "class": ["yes" if city == "Oslo" else "no" for city in cities],
        "unit": ["u"] * ROWS,
        "cost": [number + 0.5 for number in range(ROWS)],
        "empty": ["x"] * ROWS,
    }
    return pa.table(columns | changed)


def compared(target="class", data=None, policy=POLICY, **asked):
    return sudare.compare(
        people() if data is None else data, policy, target=target, folds=asked.pop("folds", 3), **asked
    )


@pytest.fixture(scope="module")
def comparison():
    return compared()


def outcome(comparison, name):
    return next(each for each in comparison.outcomes if each.name == name)


def test_every_method_that_applies_is_there_once_after_the_baselines(comparison):
    names = [each.name for each in comparison.outcomes]
    assert names[:3] == ["raw", "majority", "no quasi-identifiers"]
    assert {"top-down", "mondrian", "tds", "full-domain"} <= set(names[3:])
    assert not {"incognito", "l-incognito"} & set(names), "one is another name of full-domain, the other lacks a model"
    assert all(list(each.scores) == list(CLASSIFIERS) for each in comparison.outcomes)
    assert outcome(comparison, "tds").options == {"target": "class"}


def test_a_class_that_follows_from_a_quasi_identifier_is_learned_from_raw_records(comparison):
    for score in outcome(comparison, "raw").scores.values():
        assert (score.accuracy, score.auc) == (1.0, 1.0)


def test_the_majority_is_that_of_two_thirds(comparison):
    # 40 of 120 records are 'yes': every fold has 13 or 14 of them among 40
    found = outcome(comparison, "majority")
    for score in found.scores.values():
        assert score.accuracy == pytest.approx(2 / 3)
        assert score.auc == 0.5
    assert found.class_info == pytest.approx(np.log2(3) - 2 / 3, abs=0.01)
    assert (found.split_info, found.gcp, found.records) == (0, 1, 80)


def test_tds_shows_the_city_and_loses_nothing_of_the_class(comparison):
    found = outcome(comparison, "tds")
    assert found.class_info == pytest.approx(0)
    assert all(score.accuracy == 1 for score in found.scores.values())


def test_without_other_columns_no_quasi_identifiers_is_the_majority():
    columns = {name: POLICY["columns"][name] for name in ("age", "city", "class")}
    found = compared(policy=POLICY | {"columns": columns}, methods=[])
    assert outcome(found, "no quasi-identifiers").scores == outcome(found, "majority").scores


def test_raw_groups_are_those_of_equal_records(comparison):
    raw = outcome(comparison, "raw")
    assert (raw.class_info, raw.gcp) == (0, 0)
    assert 0 < outcome(comparison, "tds").split_info < raw.split_info
    assert raw.table_info == pytest.approx(0.02 * raw.split_info)


def test_it_is_the_same_again(comparison):
    assert compared().to_dict() == comparison.to_dict()
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_the_policys_method_keeps_its_options_and_name():
    found = compared(policy=POLICY | {"method": {"name": "incognito", "loss": "gcp"}})
    names = [each.name for each in found.outcomes]
    assert "full-domain" not in names
    assert outcome(found, "incognito").options == {"loss": "gcp"}


def test_the_target_is_set_whatever_the_policy_predicts():
    own = {"name": "tds", "target": "unit", "w": 0.5}
    found = compared(policy=POLICY | {"method": own}, methods=["tds"])
    assert outcome(found, "tds").options == {"target": "class", "w": 0.5}
    assert found.w == 0.5


def test_methods_that_are_refused_are_reported_and_stop_nobody():
    found = compared(methods=["l-incognito", "mondrian"])
    refused = outcome(found, "l-incognito")
    assert "needs a requirement of the model l-diversity" in refused.problem
    assert (refused.scores, refused.gcp) == ({}, None)
    assert outcome(found, "mondrian").problem is None
    assert any("no release" in line for line in show(found))
    assert any(line.startswith("l-incognito: ") for line in show(found))


def test_a_policy_that_cannot_be_met_is_reported_for_each_method():
    found = compared(policy=POLICY | {"require": [{"model": "k-anonymity", "k": 100}]})
    assert len(found.outcomes) >= 7
    assert all(each.problem and not each.scores for each in found.outcomes[3:])
    assert outcome(found, "raw").scores["decision tree"].accuracy == 1


TARGETS = {
    "one value": ("unit", {}, DataError, "has only one value: there is nothing to predict"),
    "missing": ("class", {"class": [None, *["a", "b"] * 59, "a"]}, DataError, "is missing in 1 records"),
    "no column": ("clas", {}, ParameterError, "'clas' is not a column of this policy. Did you mean 'class'?"),
    "quasi": ("city", {}, ParameterError, "'city' has role: quasi; this needs the name of a column with role sens"),
    "identifier": ("name", {}, ParameterError, "'name' has role: identifier; this needs the name of a column"),
    "not a name": (5, {}, ParameterError, "target: must be the name of a column; got int"),
}


@pytest.mark.parametrize("case", TARGETS)
def test_a_bad_target_is_one_clear_error(case):
    target, changed, kind, message = TARGETS[case]
    with pytest.raises(kind) as caught:
        compared(target, people(**changed))
    assert message in str(caught.value)
    assert len(caught.value.problems) == 1


def test_thousands_of_numbers_are_no_class():
    data = pa.concat_tables([people(cost=[n + 1000 * part for n in range(ROWS)]) for part in range(9)])
    with pytest.raises(DataError, match="has 1,080 values; at most 256 are possible") as caught:
        compared("cost", data)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(("folds", "seed"), [(1, 0), ("5", 0), (True, 0), (2, -1), (2, 1.5)])
def test_bad_numbers_are_refused(folds, seed):
    with pytest.raises(ParameterError, match="must be a whole number from"):
        compared(folds=folds, seed=seed)


def test_everything_wrong_is_said_at_once():
    with pytest.raises(ParameterError) as caught:
        compared("city", folds=1, seed=-1)
    assert [problem.where for problem in caught.value.problems] == ["target", "folds", "seed"]


def test_an_unknown_method_is_refused():
    with pytest.raises(UnsupportedError, match=r"'mondrain' is not a method\. Did you mean 'mondrian'"):
        compared(methods=["mondrain"])


def test_item_sets_are_refused():
    target = encode_column("class", pa.array(["a", "b"] * 4))
    table = Table(8, {"drugs": encode_items("drugs", pa.array([["x"]] * 8))}, target=target)
    with pytest.raises(UnsupportedError, match="cannot learn from item sets; got 'drugs'"):
        evaluate(table, Requirements((KAnonymity(2),)), [], stratified(table, 2))


def test_without_scikit_learn_the_hint_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"needs scikit-learn.*pip install scikit-learn"):
        compared()


def test_progress_goes_from_nothing_to_all():
    told = []
    compared(methods=["mondrian", "l-incognito"], progress=lambda *step: told.append(step))
    steps = [(done, total) for stage, done, total in told if stage == "compare"]
    assert steps[0] == (0, 15)
    assert steps[-1] == (15, 15)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_the_text_has_a_line_for_each_and_fits(comparison):
    lines = show(comparison)
    assert lines[0] == "Predicting 'class', 2 classes, from 120 records in 3 folds."
    for each in comparison.outcomes:
        assert any(line.startswith(each.name) for line in lines)
    assert "100.0 ±0.0" in next(line for line in lines if line.startswith("raw"))
    assert max(map(len, lines)) <= 111
    assert str(comparison) == "\n".join(lines)
    assert "majority" in repr(comparison)


def test_auc_of_several_classes_is_the_mean_of_each_against_the_rest():
    # class 0 is ranked right (1), class 1 as badly as can be (0), class 2 is tied (1/2)
    chances = np.array([[0.8, 0.1, 0.1], [0.5, 0.0, 0.1], [0.2, 0.7, 0.1]])
    accuracy, area = classifiers.marks(chances, np.array([0, 1, 2]))
    assert accuracy == pytest.approx(1 / 3)
    assert area == pytest.approx(0.5)


def test_there_is_no_auc_if_a_class_is_not_asked_about():
    assert classifiers.marks(np.full((2, 3), 1 / 3), np.array([0, 1]))[1] is None
    score = classifiers._score([(0.5, 0.5), (0.7, None)])
    assert (score.accuracy, score.auc, score.auc_error) == (pytest.approx(0.6), None, None)
    assert score.accuracy_error == pytest.approx(0.1)
    assert classifiers._score([(0.5, 0.5)]).accuracy_error is None


def test_a_release_without_one_of_the_classes_is_learned_from_all_the_same():
    # the only record of 'b' that is in no test fold is left out by neither; class 'c' is in the test records alone
    target = encode_column("class", pa.array(["a"] * 6 + ["b"] * 4 + ["c"] * 2))
    age = encode_column("age", pa.array([*range(10), 3, 4]))
    table = Table(12, {"age": age}, target=target)
    for training in (np.arange(10), np.arange(6)):
        test = np.setdiff1d(np.arange(12), training)
        found = evaluate(table, Requirements((KAnonymity(2),)), [Configuration("m", "mondrian")], [(training, test)])
        assert all(score.auc is None for each in found for score in each.scores.values())
        assert all(0 <= score.accuracy <= 1 for each in found for score in each.scores.values())


def test_suppressed_records_are_counted_off():
    # one record in ten is alone with its city; half of that may be left out
    cities = [f"c{number}" if number % 10 == 0 else "Oslo" for number in range(100)]
    table = Table(
        100,
        {"city": encode_column("city", pa.array(cities))},
        target=encode_column("class", pa.array(["a", "b", "b", "a"] * 25)),
    )
    splits = stratified(table, 2)
    way = Configuration("levels", "full-domain")
    (with_budget,) = evaluate(table, Requirements((KAnonymity(5),), 0.2), [way], splits, baselines=False)
    (without,) = evaluate(table, Requirements((KAnonymity(5),), 0.0), [way], splits, baselines=False)
    assert with_budget.records == 45
    assert without.records == 50
    assert without.gcp == 1


def test_every_kind_of_column_is_learned_from():
    values = list(product(["a", "b", None], [1, 2, None], [True, False]))
    data = people(
        city=[values[n % 18][0] for n in range(ROWS)],
        age=[values[n % 18][1] for n in range(ROWS)],
        unit=[values[n % 18][2] for n in range(ROWS)],
        cost=pa.array(range(ROWS), pa.date32()),
        empty=pa.array([None] * ROWS, pa.string()),
    )
    found = compared(data=data)
    assert [each.problem for each in found.outcomes if each.problem] == []


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(ParameterError) as caught:
        compared(target="nobody", queries=-1, methods=["top-dwn"], sweep={"kk": [3]})
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    assert all(word in text for word in ("nobody", "queries", "'top-dwn' is not a method", "'kk'"))
