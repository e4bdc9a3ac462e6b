"""Every model but t-closeness on tables small enough to be worked by hand."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from sudare.audits import audit_release
from sudare.audits.model_proofs import PROOFS
from sudare.policy import MODEL_NAMES

from .tables import classes, policy, prove, required


def test_every_model_is_proven():
    assert list(PROOFS) == list(MODEL_NAMES)


class TestKAnonymity:
    table = pa.table({"zone": list("aaabb"), "age": list("11222"), "who": ["p", "p", "q", "r", "s"]})

    def k(self, k, **more):
        given = policy(
            {"model": "k-anonymity", "k": k, **more}, quasi=("zone", "age"), sensitive=(), who={"role": "subject"}
        )
        return audit_release(self.table, given)

    def test_smallest_class(self):
        # (a,1) twice, (a,2) once, (b,2) twice
        report = self.k(2)
        assert (report.rows, report.classes) == (5, 3)
        found = required(report)
        assert (found.achieved, found.required, found.holds, found.offending_classes) == (1, 2, False, 1)

    def test_on_a_subset_of_the_columns(self):
        assert required(self.k(2, columns=["zone"])).achieved == 2
        assert required(self.k(2, columns=["zone"])).holds
        found = required(self.k(3, columns=["zone"]))
        assert (found.holds, found.offending_classes) == (False, 1)

    def test_people_instead_of_rows(self):
        found = required(self.k(2, columns=["zone"], count="subjects"))
        assert (found.achieved, found.holds) == (2, True)  # zone a: p, q
        found = required(self.k(2, count="subjects"))
        assert (found.achieved, found.holds, found.offending_classes) == (1, False, 2)  # p twice; q once

    def test_rows_without_a_subject_are_one_person(self):
        table = pa.table({"zone": list("aaaab"), "who": [None, None, "p", "q", None]})
        spec = {"model": "k-anonymity", "k": 2, "count": "subjects"}
        found = required(audit_release(table, policy(spec, sensitive=(), who={"role": "subject"})))
        assert (found.achieved, found.offending_classes) == (1, 1)
        found = required(audit_release(table.slice(0, 4), policy(spec, sensitive=(), who={"role": "subject"})))
        assert found.achieved == 3


class TestLDiversity:
    table = classes(a=["flu", "flu", "flu", "ulcer"], b=["flu", "ulcer", "cancer"])

    def l(self, l, **more):  # noqa: E743, E741
        return prove(self.table, {"model": "l-diversity", "l": l, "column": "illness", **more})

    def test_distinct(self):
        assert (self.l(2).achieved, self.l(2).holds) == (2, True)
        assert (self.l(3).holds, self.l(3).offending_classes) == (False, 1)

    def test_entropy(self):
        entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
        found = self.l(1.7, variant="entropy")
        assert found.achieved == pytest.approx(math.exp(entropy))  # 1.7548
        assert found.holds
        assert not self.l(1.76, variant="entropy").holds

    def test_entropy_exactly_at_its_limit(self):
        table = classes(a=["flu", "ulcer", "cancer"] * 7)
        assert prove(table, {"model": "l-diversity", "l": 3, "column": "illness", "variant": "entropy"}).holds

    def test_recursive(self):
        # class a: 3 < c * 1 needs c above 3; class b: 1 < c * (1 + 1) for l = 2
        assert not self.l(2, variant="recursive", c=3).holds  # strict: 3 < 3 is false
        assert self.l(2, variant="recursive", c=3).achieved == 1  # 3 < 3 * 4
        found = self.l(2, variant="recursive", c=3.01)
        assert (found.achieved, found.holds) == (2, True)
        found = self.l(3, variant="recursive", c=100)
        assert (found.achieved, found.holds, found.offending_classes) == (2, False, 1)

    def test_recursive_that_nothing_keeps(self):
        found = self.l(2, variant="recursive", c=0.5)
        assert (found.achieved, found.offending_classes) == (0, 2)


class TestAlphaK:
    table = classes(a=["flu", "flu", "flu", "ulcer"], b=["flu", "ulcer", "ulcer"])

    def alpha(self, alpha, k=3, **more):
        return prove(self.table, {"model": "alpha-k-anonymity", "alpha": alpha, "k": k, "column": "illness", **more})

    def test_both_limits(self):
        found = self.alpha(0.75)
        assert (found.achieved, found.required) == ({"alpha": 0.75, "k": 3}, {"alpha": 0.75, "k": 3})
        assert found.holds
        assert (self.alpha(0.74).holds, self.alpha(0.74).offending_classes) == (False, 1)
        assert (self.alpha(0.75, k=4).holds, self.alpha(0.75, k=4).offending_classes) == (False, 1)

    def test_listed_values_only(self):
        found = self.alpha(0.7, values=["ulcer"])
        assert found.achieved["alpha"] == pytest.approx(2 / 3)
        assert found.holds
        assert not self.alpha(0.6, values=["ulcer"]).holds

    def test_a_listed_value_that_does_not_occur_is_noted(self):
        found = self.alpha(0.1, values=["ulcers"])
        assert found.holds
        assert found.note == "Named values that do not occur in the release: 1 of 1."

    def test_listed_values_of_a_typed_column(self):
        table = classes(a=[1.0, 1.0, 2.0], b=[1.0, 2.0, 2.0])
        spec = {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "column": "illness", "values": ["1"]}
        found = prove(table, spec)
        assert found.achieved["alpha"] == pytest.approx(2 / 3)
        assert not found.note


class TestBetaLikeness:
    # overall flu 1/2, ulcer 1/2; in a flu 3/4: a gain of 1/2
    table = classes(a=["flu", "flu", "flu", "ulcer"], b=["flu", "ulcer", "ulcer", "ulcer"])

    def beta(self, beta, variant, table=None):
        spec = {"model": "beta-likeness", "beta": beta, "column": "illness", "variant": variant}
        return prove(self.table if table is None else table, spec)

    def test_basic(self):
        assert (self.beta(0.5, "basic").achieved, self.beta(0.5, "basic").holds) == (0.5, True)
        assert (self.beta(0.49, "basic").holds, self.beta(0.49, "basic").offending_classes) == (False, 2)

    def test_enhanced_bounds_frequent_values_more_tightly(self):
        assert self.beta(0.5, "enhanced").holds  # -ln(1/2) is 0.693
        # overall flu 0.8, so -ln is 0.223; class a is all flu: a gain of 0.25
        table = classes(a=["flu"] * 5, b=["flu", "flu", "flu", "ulcer", "ulcer"])
        assert self.beta(1, "basic", table).holds
        found = self.beta(1, "enhanced", table)
        assert found.achieved == pytest.approx(1.0)  # ulcer in b: 0.4 against 0.2
        assert (found.holds, found.offending_classes) == (False, 1)

    def test_one_value_gains_nothing(self):
        assert self.beta(0.1, "enhanced", classes(a=["flu", "flu"], b=["flu"])).holds


class TestDeltaDisclosure:
    table = classes(a=["flu", "flu", "flu", "ulcer"], b=["flu", "ulcer", "ulcer", "ulcer"])

    def delta(self, delta, table=None):
        spec = {"model": "delta-disclosure", "delta": delta, "column": "illness"}
        return prove(self.table if table is None else table, spec)

    def test_largest_log_ratio(self):
        assert self.delta(1).achieved == pytest.approx(math.log(2))  # 1/4 against 1/2
        assert self.delta(0.7).holds
        assert self.delta(0.69).offending_classes == 2

    def test_strictly_below(self):
        assert not self.delta(math.log(2)).holds

    def test_an_absent_value_is_infinitely_far(self):
        found = self.delta(50, classes(a=["flu", "ulcer"], b=["flu", "flu"]))
        assert (found.achieved, found.holds, found.offending_classes) == (None, False, 1)
        assert found.note == "Classes that lack a value of the release: 1."


ITEMS = {"zone": {"role": "quasi", "kind": "items", "separator": "|"}}


class TestKm:
    def km(self, sets, k, m, columns=None):
        table = sets if isinstance(sets, pa.Table) else pa.table({"zone": sets})
        spec = {"model": "km-anonymity", "k": k, "m": m, "column": "zone"}
        return required(audit_release(table, policy(spec, sensitive=(), **(columns or ITEMS))))

    def test_single_items_and_pairs(self):
        sets = ["x|y", "y|x", "x", "y|z", "z"]  # x 3, y 3, z 2; xy 2, yz 1
        found = self.km(sets, 2, 1)
        assert (found.achieved, found.holds) == (2, True)
        found = self.km(sets, 2, 2)
        assert (found.achieved, found.holds, found.offending_classes) == (1, False, 1)
        found = self.km(sets, 3, 2)
        assert found.offending_classes == 3  # z, xy, yz

    def test_triples(self):
        sets = ["x|y|z", "x|y", "y|z", "x|z", "x|y|z"]
        assert self.km(sets, 3, 2).holds
        found = self.km(sets, 3, 3)
        assert (found.achieved, found.offending_classes) == (2, 1)
        assert self.km(sets, 2, 7).holds

    def test_an_item_twice_in_a_record_counts_once(self):
        assert self.km(["x|x", "x"], 2, 2).achieved == 2

    def test_lists_and_no_items(self):
        assert self.km([["x", "y"], ["y", "x"], []], 2, 2).holds
        found = self.km(pa.table({"zone": pa.array([[], None], pa.list_(pa.string()))}), 2, 2)
        assert (found.achieved, found.holds, found.note) == (None, True, "No record holds an item.")

    def test_a_separator_may_be_a_quote(self):
        columns = {"zone": {"role": "quasi", "kind": "items", "separator": "'"}}
        assert self.km(["x'y", "y'x"], 2, 2, columns).achieved == 2


def test_identifiers_and_unnamed_columns_must_be_absent():
    table = classes(a=["flu"] * 3).append_column("name", pa.array(["Ann", "Bob", "Cy"]))
    table = table.append_column("shoe", pa.array([1, 2, 3]))
    spec = {"model": "k-anonymity", "k": 2}
    report = audit_release(table, policy(spec, name={"role": "identifier"}))
    assert [guarantee.holds for guarantee in report.guarantees] == [True, False, False]
    assert not report.passed
    assert report.guarantees[1].note == "In the release: name."
    report = audit_release(table.select(["zone", "illness"]), policy(spec, name={"role": "identifier"}))
    assert report.passed
