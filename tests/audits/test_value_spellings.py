"""The audit counts spellings of one sensitive value once, and the policy may switch that off."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.audits import audit_release
from sudare.core.errors import DataError
from sudare.policy import Policy

from .tables import classes, policy, prove, required, write

HIV = ["HIV", "HIV ", "hiv", "H\u200bIV", "HIV\u00a0", "Hiv"]
DIVERSE = {"model": "l-diversity", "l": 2, "column": "illness"}
EXACT = {"role": "sensitive", "exact": True}


@pytest.mark.parametrize(
    "values",
    [
        HIV,
        ["Me\u0301nie\u0300re", "M\u00e9ni\u00e8re"],
        ["1", "1.0", "01", "1e0"],
        ["", None],
        ["co-infection", "co–infection"],
    ],
    ids=["hiv", "composed", "numbers", "missing", "dashes"],
)
def test_spellings_are_no_diversity(values):
    found = prove(classes(a=values), DIVERSE)
    assert (found.achieved, found.holds) == (1, False)
    exactly = prove(classes(a=values), DIVERSE, illness=EXACT)
    assert (exactly.achieved, exactly.holds) == (len(values), True)


def test_spellings_are_no_diversity_in_text_files(tmp_path):
    path = write(tmp_path / "release.csv", ["zone", "illness"], [("a", value) for value in HIV])
    assert prove(path, DIVERSE).achieved == 1
    assert prove(path, DIVERSE, illness=EXACT).achieved == 6


@pytest.mark.parametrize(
    ("spec", "achieved"),
    [
        ({"model": "l-diversity", "l": 1.5, "variant": "entropy", "column": "illness"}, 2.0),
        ({"model": "t-closeness", "t": 0.0, "column": "illness"}, 0.0),
        ({"model": "beta-likeness", "beta": 0.1, "column": "illness"}, 0.0),
        ({"model": "delta-disclosure", "delta": 0.1, "column": "illness"}, 0.0),
        ({"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "column": "illness"}, {"alpha": 0.5, "k": 2}),
    ],
    ids=lambda spec: spec["model"] if isinstance(spec, dict) and "model" in spec else "",
)
def test_every_model_counts_spellings_as_one_value(spec, achieved):
    table = classes(a=["HIV", "flu"], b=["hiv ", "FLU"], c=["Hiv", "Flu\u00a0"])
    found = prove(table, spec)
    assert found.holds
    assert found.achieved == (pytest.approx(achieved) if isinstance(achieved, float) else achieved)


def test_named_values_are_met_in_any_spelling():
    spec = {"model": "alpha-k-anonymity", "alpha": 0.4, "k": 2, "column": "illness", "values": ["hiv"]}
    found = prove(classes(a=["HIV", "HIV ", "flu"]), spec)
    assert (found.holds, found.achieved["alpha"], found.note) == (False, pytest.approx(2 / 3), "")


@pytest.mark.parametrize(
    ("spec", "columns"),
    [
        ({"model": "alpha-k-anonymity", "alpha": 0.9, "k": 2, "column": "illness", "values": ["hiv", "HIV"]}, {}),
        (
            {"model": "t-closeness", "t": 1.0, "column": "illness", "distance": "ordered"},
            {"illness": {"role": "sensitive", "order": ["flu", "hiv", "HIV"]}},
        ),
        (
            {"model": "t-closeness", "t": 1.0, "column": "illness", "distance": "hierarchical"},
            {"illness": {"role": "sensitive", "hierarchy": {"tree": {"a": ["flu", "hiv"], "b": ["HIV", "cold"]}}}},
        ),
    ],
    ids=["values", "order", "tree"],
)
def test_words_of_a_policy_that_are_one_value_are_an_error(spec, columns):
    with pytest.raises(DataError, match="two spellings"):
        prove(classes(a=["HIV", "flu", "cold"], b=["HIV", "flu", "cold"]), spec, **columns)


def test_orders_and_trees_are_met_in_any_spelling():
    table = classes(a=["Mild", "severe "], b=["MODERATE", "mild"])
    order = {"role": "sensitive", "order": ["mild", "moderate", "severe"]}
    tree = {"role": "sensitive", "hierarchy": {"tree": {"low": ["mild", "moderate"], "high": ["severe"]}}}
    plain = classes(a=["mild", "severe"], b=["moderate", "mild"])
    for distance, about in (("ordered", order), ("hierarchical", tree)):
        spec = {"model": "t-closeness", "t": 1.0, "column": "illness", "distance": distance}
        assert prove(table, spec, illness=about).achieved == prove(plain, spec, illness=about).achieved


def test_numbers_among_text_stand_in_their_order_of_size():
    spec = {"model": "t-closeness", "t": 1.0, "column": "illness", "distance": "ordered"}
    about = {"role": "sensitive", "kind": "categorical"}
    numbers = prove(classes(a=["2", "10"], b=["1", "1.0", "x"]), spec, illness=about)
    letters = prove(classes(a=["b", "c"], b=["a", "a", "d"]), spec)
    assert numbers.achieved == pytest.approx(letters.achieved)


def test_sets_that_hold_two_spellings_fall_short():
    wanted = Policy.parse(
        {
            "columns": {"zone": {"role": "quasi"}, "illness": {"role": "sensitive"}},
            "require": [DIVERSE],
            "method": {"name": "dummies"},
        }
    )
    lists = pa.table({"zone": ["a", "b"], "illness": [["HIV", "flu"], ["HIV", "hiv "]]})
    found = required(audit_release(lists, wanted))
    assert (found.achieved, found.holds, found.offending_classes) == (1, False, 1)


def test_groups_that_hold_two_spellings_fall_short(tmp_path):
    wanted = {
        "columns": {"zone": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "require": [DIVERSE],
        "method": {"name": "anatomy"},
    }
    write(tmp_path / "r.csv", ["zone", "group"], [("a", 1), ("b", 1)])
    write(tmp_path / "r.sensitive.csv", ["group", "illness", "count"], [(1, "HIV", 1), (1, "hiv ", 1)])
    assert not sudare.audit(tmp_path / "r.csv", wanted).passed
    wanted["columns"]["illness"] = EXACT
    assert sudare.audit(tmp_path / "r.csv", wanted).passed


def test_a_domain_that_names_a_value_in_two_spellings_is_not_believed(tmp_path):
    data = pa.table({"zone": ["a", "b"] * 200, "illness": ["HIV", "flu", "cold", "HIV"] * 100})
    wanted = {
        "columns": {"zone": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "require": [{"model": "pk-anonymity", "k": 2}],
        "method": {"name": "pram"},
    }
    out = tmp_path / "release.parquet"
    sudare.anonymize(data, wanted, out=out, seed=1)
    assert sudare.audit(out, wanted).passed
    paper = tmp_path / "release.parquet.sudare.json"
    told = json.loads(paper.read_text())
    values = told["mechanism"]["columns"]["illness"]["values"]
    told["mechanism"]["columns"]["illness"]["values"] = ["hiv" if value == "flu" else value for value in values]
    paper.write_text(json.dumps(told))
    report = sudare.audit(out, wanted)
    assert not report.passed
    assert any("in two spellings" in str(problem) for problem in report.problems)


def test_many_categories_are_merged(tmp_path):
    many = 200_000
    values = [f"Illness {number // 2}{' ' * (number % 2)}" for number in range(many)]
    path = tmp_path / "release.parquet"
    pq.write_table(pa.table({"zone": ["a"] * many, "illness": values}), path)
    assert prove(path, DIVERSE).achieved == many // 2


def test_the_key_is_for_sensitive_columns_only():
    for about in ({"role": "quasi", "exact": True}, {"role": "insensitive", "exact": False}):
        with pytest.raises(sudare.core.errors.PolicyError, match="exact is only for role: sensitive"):
            policy(DIVERSE, zone=about)
    with pytest.raises(sudare.core.errors.PolicyError, match=r"columns\.illness\.exact"):
        policy(DIVERSE, illness={"role": "sensitive", "exact": "yes"})
