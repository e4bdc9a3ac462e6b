"""Tables on which clustering is hard or cannot be done: one clear message that says what is possible, or a release."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
import yaml

import sudare

from .people import COLUMNS, ROWS, policy, read, text, with_cell

VARIANTS = ("fast", "reference")
WEIGHTS = ("domain", 1)
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_method = pytest.mark.parametrize("method", ["l-clustering", "top-down", "mondrian", "full-domain"])


def diverse(l=2, variant="distinct", *, k=None, method="l-clustering", c=None, **options):  # noqa: E741
    """Return a policy of l-diversity, and of k-anonymity if that is asked for."""
    model = {"model": "l-diversity", "l": l, "column": "disease", "variant": variant} | ({} if c is None else {"c": c})
    require = [model, *([] if k is None else [{"model": "k-anonymity", "k": k}])]
    return policy(require=require, method={"name": method, **options})


def clustered(variant, weights="domain", **asked):
    """Return a policy of l-diversity by one of the variants of l-clustering."""
    return diverse(**asked) | {"method": {"name": "l-clustering", "variant": variant, "weights": weights}}


def people(diseases, **cells):
    """Return a table with a record for each disease; other cells go through the rows, unless they are given."""
    rows = [dict(zip(COLUMNS, ROWS[number % len(ROWS)], strict=True)) for number in range(len(diseases))]
    rows = [row | cells | {"disease": disease} for row, disease in zip(rows, diseases, strict=True)]
    return text([tuple(row.values()) for row in rows])


def classes(path):
    """Return the diseases of each class of a release."""
    found = defaultdict(list)
    for row in read(path):
        found[row["age"], row["zip"], row["job"]].append(row["disease"])
    return list(found.values())


class TestValues:
    """What the sensitive column has to have."""

    @every_method
    def test_fewer_values_than_l(self, place, method):
        message = place.refused(rules=diverse(4, method=method), code=1)
        assert "even one class of all records falls short: column 'disease' has 3 different values." in message
        assert "Hint: require a possible l" in message

    @every_method
    @pytest.mark.parametrize("variant", ["distinct", "entropy", "recursive"])
    def test_one_value(self, place, method, variant):
        rules = diverse(2, variant, method=method, c=3 if variant == "recursive" else None)
        message = place.refused(people(["xpox"] * 9), rules, code=1)
        assert "no l is possible, as column 'disease' has 1 different value." in message

    @every_method
    def test_most_records_have_one_value_and_entropy_tells_which_l_is_possible(self, place, method):
        table = people(["xpox"] * 90 + ["xcold"] * 10)
        message = place.refused(table, diverse(2, "entropy", method=method), code=1)
        # 0.9^-0.9 * 0.1^-0.1 = 1.384...
        assert "the entropy l of column 'disease' over the whole table is 1.38." in message

    def test_the_entropy_l_that_was_told_is_possible(self, place):
        released = place.released(people(["xpox"] * 90 + ["xcold"] * 10), diverse(1.38, "entropy"))
        assert len(read(released)) == 100

    @every_method
    def test_most_records_have_one_value_and_recursive_tells_which_l_is_possible(self, place, method):
        # with c = 10: 90 < 10 * (5 + 3 + 2) does, from number 2 on, is 100; from number 3 on it is 50
        table = people(["xpox"] * 90 + ["xcold"] * 5 + ["xulcer"] * 3 + ["xgout"] * 2)
        place.secrets.append("xgout")
        message = place.refused(table, diverse(3, "recursive", method=method, c=10), code=1)
        assert "the largest l possible with this c is 2: in column 'disease' the most frequent value has 90" in message
        assert "those from number 3 on have 5 together." in message

    @pytest.mark.parametrize("l", [2, 5])
    def test_no_l_is_possible_with_this_c(self, place, l):  # noqa: E741
        message = place.refused(people(["xpox"] * 90 + ["xcold"] * 10), diverse(l, "recursive", c=2), code=1)
        assert "with this c no l is possible: " in message

    def test_the_recursive_l_that_was_told_is_possible(self, place):
        table = people(["xpox"] * 90 + ["xcold"] * 5 + ["xulcer"] * 3 + ["xgout"] * 2)
        assert len(read(place.released(table, diverse(2, "recursive", c=10)))) == 100

    @every_variant
    def test_most_records_have_one_value_and_distinct_does_not_mind(self, place, variant):
        released = place.released(people(["xpox"] * 90 + ["xcold"] * 10), clustered(variant))
        assert all(len(set(group)) == 2 for group in classes(released))

    @every_variant
    def test_missing_is_one_of_the_values(self, place, variant):
        rules = clustered(variant)
        released = place.released(people(["xpox", ""] * 6), rules)
        found = classes(released)
        assert sum(map(len, found)) == 12
        assert all({*group} == {"xpox", ""} for group in found)
        report = sudare.audit(released, place.policy(rules))
        assert report.passed, report.problems

    def test_missing_is_no_more_than_one_value(self, place):
        message = place.refused(people(["xpox", ""] * 6), diverse(3), code=1)
        assert "column 'disease' has 2 different values." in message

    @every_method
    def test_all_are_missing(self, place, method):
        message = place.refused(people([""] * 6), diverse(2, method=method), code=1)
        assert "column 'disease' has 1 different value." in message


class TestRecords:
    """How many there are, and how they differ."""

    @every_method
    def test_fewer_records_than_l(self, place, method):
        message = place.refused(text(ROWS[:2]), diverse(3, method=method), code=1)
        assert "column 'disease' has 2 different values." in message

    @every_method
    def test_fewer_records_than_k(self, place, method):
        assert "the table has 6 records." in place.refused(rules=diverse(2, k=7, method=method), code=1)

    @every_method
    def test_one_record(self, place, method):
        message = place.refused(text(ROWS[:1]), diverse(2, k=2, method=method), code=1)
        assert "2 problems" in message
        assert "the table has 1 records." in message
        assert "column 'disease' has 1 different value." in message

    @every_variant
    def test_as_many_records_as_are_needed(self, place, variant):
        rules = clustered(variant, l=3, k=6)
        assert [len(group) for group in classes(place.released(rules=rules))] == [6]

    @every_variant
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_all_quasi_identifiers_are_equal(self, place, variant, weights):
        """Whatever classes are made, they show the same, and so they are one."""
        rules = clustered(variant, weights=weights)
        table = people(["xpox"] * 60 + ["xcold"] * 20, age=30, zip="90411", job="qcook")
        released = place.released(table, rules)
        [group] = classes(released)
        assert len(group) == 80
        assert {(row["age"], row["zip"], row["job"]) for row in read(released)} == {("30", "90411", "qcook")}
        certificate = json.loads(released.with_name("release.csv.sudare.json").read_text())
        assert certificate["classes"] == 1
        assert certificate["loss"]["gcp"] == 0
        assert certificate["loss"]["relative_uncertainty"] == 0

    @every_variant
    def test_all_quasi_identifiers_are_missing(self, place, variant):
        rules = clustered(variant)
        released = place.released(people(["xpox", "xcold"] * 5, age="", zip="", job=""), rules)
        assert {(row["age"], row["zip"], row["job"]) for row in read(released)} == {("", "", "")}

    def test_a_cell_that_is_no_number(self, place):
        place.secrets.append("Qsecretcell")
        assert "column 'age'" in place.refused(text(with_cell("age", "Qsecretcell")), diverse(2))


class TestWeights:
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_the_certificate_says_what_was_asked_for(self, place, weights):
        released = place.released(rules=diverse(2, weights=weights))
        certificate = json.loads(released.with_name("release.csv.sudare.json").read_text())
        assert certificate["method"]["weights"] == weights
        assert type(certificate["method"]["weights"]) is type(weights)

    def test_one_in_yaml(self, place):
        rules = place.policy(yaml.safe_dump(diverse(2, weights=1)), "policy.yaml")
        assert "weights: 1" in rules.read_text()
        told = place.anonymize(place.data(), rules, "--json")
        assert told.exit_code == 0
        assert json.loads(told.stdout)["method"]["weights"] == 1

    @pytest.mark.parametrize("weights", [True, False, 1.0, "1", 0, 2, "raw", "domian", None, [1]])
    def test_others_are_refused(self, place, weights):
        message = place.refused(rules=diverse(2, weights=weights))
        assert "method.weights: got" in message
        assert "Allowed: domain, 1." in message
