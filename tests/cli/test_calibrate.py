"""Calibrating on the command line: from data or without, the published figures, and what is refused."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import pytest
from pyarrow import csv

from papers.published_pram import PUBLISHED, ROUNDED
from sudare import api
from sudare.datasets import adult

from .people import text

SIZES = {"marital-status": 7, "relationship": 6, "race": 5, "income": 2}


def rules(k=3, alpha=0.8, gamma=0.1, sensitive="income", *, prior=True, method=None, **columns):
    """A policy that needs no data: every column has an order, or a prior."""
    described = {
        name: {"role": "sensitive" if name == sensitive else "quasi", "order": [f"v{code}" for code in range(size)]}
        for name, size in SIZES.items()
    }
    require = [] if k is None else [{"model": "pk-anonymity", "k": k}]
    if alpha is not None:
        limit = {"model": "alpha-gamma", "column": sensitive, "alpha": alpha, "gamma": gamma, "against": "column"}
        described[sensitive].pop("order")
        require.append(limit | ({"prior": ROUNDED[sensitive]} if prior else {}))
    return {"columns": described | columns, "require": require, "method": {"name": "pram", **(method or {})}}


def cut(p):
    return math.floor(p * 10_000) / 10_000


@pytest.fixture
def asked(place):
    """Run the command on a policy; returns its result."""

    def run(policy, *words):
        return place.run("calibrate", "--policy", place.policy(policy), *words)

    return run


@pytest.fixture
def told(asked):
    def run(policy, *words):
        result = asked(policy, *words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


@pytest.fixture
def refused(asked):
    """Run the command on what it has to refuse; returns what it says."""

    def run(policy, *words, code=2):
        result = asked(policy, *words)
        assert result.exit_code == code, result.output
        assert not result.stdout
        return result.stderr

    return run


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    path = tmp_path_factory.mktemp("census") / "census.csv"
    csv.write_csv(adult().select(list(SIZES)), path)
    return path


class TestWithoutData:
    @pytest.mark.parametrize("case", PUBLISHED, ids=str)
    def test_the_published_table(self, told, case):
        sensitive, k, alpha, gamma, *expected = case
        found = told(rules(k, alpha, gamma, sensitive), "--records", 32_561)
        bounds = found["bounds"]
        assert [cut(p) for p in (bounds["pk"], bounds["alpha"], bounds["gamma"], found["p"])] == expected
        assert found["binding"] == ("pk" if expected[3] == expected[0] else "alpha")
        assert found["retention"] == dict.fromkeys(found["retention"], found["p"])
        assert set(found["retention"]) == set(SIZES)
        assert (found["records"], found["values"]) == (32_561, SIZES)

    def test_what_a_person_reads(self, asked):
        said = asked(rules(), "--records", 32_561).stdout.splitlines()
        assert said[0].startswith("p = 0.3343")
        assert said[1].startswith("  pk-anonymity allows up to 0.3343")
        assert said[1].endswith("; this is the tightest limit")
        assert said[2].startswith("  alpha allows up to 0.4678")
        assert said[3].startswith("  gamma allows up to 0.8113")
        assert "  column 'race' of 5 values: 0.3343" in said[6]
        assert asked(rules(), "--records", 32_561, "--quiet").stdout == ""

    def test_pk_alone(self, told):
        found = told(rules(alpha=None), "--records", 32_561)
        assert found["bounds"] == {"pk": found["p"], "alpha": None, "gamma": None}

    def test_alpha_and_gamma_alone_need_no_records_and_no_other_sizes(self, told):
        found = told(rules(None, 0.77, 0.22, race={"role": "quasi"}))
        assert cut(found["p"]) == 0.2476
        assert found["records"] is None
        assert "race" not in found["values"]

    def test_a_vector(self, told):
        found = told(rules(method={"p": "per-column", "weights": {"race": 3}}), "--records", 32_561)
        assert cut(found["p"]) == 0.3343
        assert found["retention"]["race"] > found["retention"]["relationship"] > found["retention"]["marital-status"]
        equal = told(rules(method={"p": "per-column"}), "--records", 32_561)
        assert found["retention"]["race"] > equal["retention"]["race"]
        assert math.prod(equal["retention"].values()) >= found["p"] ** 4

    def test_a_vector_is_not_shown_as_one_p(self, asked):
        shown = asked(rules(method={"p": "per-column", "weights": {"race": 3}}), "--records", 32_561).stdout
        first, second, third, *_ = shown.splitlines()
        assert first.startswith("Each column has a p of its own: its values are kept with at most this probability")
        assert second == "  one p for all columns would be at most 0.334351:"
        assert third == "    pk-anonymity allows up to 0.334351; this is the tightest limit"
        assert asked(rules(), "--records", 32_561).stdout.startswith("p = 0.334351: each value is kept")

    def test_leaves_of_a_hierarchy_are_values(self, told):
        tree = {"role": "quasi", "hierarchy": {"tree": {"a": ["v1", "v2"], "b": ["v3", "v4", "v5"]}}}
        assert told(rules(race=tree), "--records", 32_561)["values"]["race"] == 5

    def test_the_p_of_the_policy_does_not_matter(self, told):
        assert cut(told(rules(method={"p": 0.9}), "--records", 32_561)["p"]) == 0.3343

    def test_a_thousand_values(self, told):
        prior = {f"v{code}": (code + 1) / 500_500 for code in range(1000)}
        policy = rules(alpha=0.05, gamma=1e-6)
        policy["require"][1]["prior"] = prior
        assert told(policy, "--records", 1_000_000)["values"]["income"] == 1000

    def test_a_picture(self, asked, place):
        path = place.folder / "figures.svg"
        assert asked(rules(), "--records", 32_561, "--picture", path).exit_code == 0
        picture = ElementTree.fromstring(path.read_bytes())
        assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 3
        again = asked(rules(), "--records", 32_561, "--picture", path)
        assert again.exit_code == 2
        assert "exists already" in again.stderr


class TestWithData:
    def test_the_first_case(self, told, census):
        policy = rules(prior=False)
        for column in policy["columns"].values():
            column.pop("order", None)
        found = told(policy, census)
        assert [cut(p) for p in found["bounds"].values()] == [0.3343, 0.467, 0.8112]  # by the prior as it is
        assert found["values"] == SIZES
        assert found["records"] == 32_561

    @pytest.mark.parametrize(
        "method",
        [
            {"kind": "invariant"},
            {"strata": ["race"]},
            {"joint": [["race", "income"]]},
            {"p": "per-column"},
            {"p": 0.1},
        ],
        ids=str,
    )
    def test_it_is_what_a_release_keeps(self, census, method):
        policy = rules(3, 0.99, 0.0001, prior=False, method=method)
        for column in policy["columns"].values():
            column.pop("order", None)
        found = api.calibrate(policy, census).to_dict(curves=True)
        told = api.anonymize(census, policy).certificate["mechanism"]["calibration"]
        # a release keeps a little less, and tells it in few digits
        assert told["binding"] == found["binding"]
        assert told["calibrated"] == pytest.approx(found["p"], rel=0.001)
        assert told["bounds"] == pytest.approx(found["bounds"], rel=0.02)
        if method != {"p": 0.1}:
            assert told["retention"] == pytest.approx(found["retention"], rel=0.001)
            assert all(told["retention"][name] <= kept for name, kept in found["retention"].items())
        assert [curve["condition"] for curve in found["curves"]] == ["pk", "alpha", "gamma"]
        for curve in found["curves"]:
            # the figure at the bound lies between those of its neighbours on the curve
            bound = found["bounds"][curve["condition"]]
            place = next(place for place, p in enumerate(curve["p"]) if p >= bound)
            low, high = sorted((curve["figure"][max(place - 1, 0)], curve["figure"][place]))
            assert low - 1e-9 <= curve["limit"] <= high + 1e-9 or bound == 1

    def test_nothing_is_kept_in_a_stratum_of_few_that_asks_for_all(self, told, place):
        rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
        data = place.data(text(rows, ("zone", "ill")))
        policy = {
            "columns": {"zone": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "require": [{"model": "pk-anonymity", "k": 4}],
            "method": {"name": "pram"},
        }
        assert told(policy, data)["p"] == 0
        assert "would be pure noise" in place.run("calibrate", "--policy", place.policy(policy), data).stdout


class TestRefused:
    @pytest.mark.parametrize("given", [True, False])
    def test_a_mapping_that_a_release_refuses(self, refused, place, census, given):
        """The same problems as of ``anonymize``, with the data and without."""
        policy = rules(prior=not given, method={"p": {"income": 0.1, "race": 0.5}})
        if given:
            for column in policy["columns"].values():
                column.pop("order", None)
        said = refused(policy, *([census] if given else ["--records", 32_561]))
        for name in ("marital-status", "relationship"):
            assert f"method.p: does not name '{name}', which is also perturbed." in said
        if given:
            made = place.run("anonymize", "--policy", place.policy(policy), census, "--out", "release.csv")
            assert made.exit_code == 2
            assert said == made.stderr

    def test_alpha_below_the_largest_share(self, refused):
        said = refused(rules(alpha=0.75), "--records", 32_561, code=1)
        assert "alpha-gamma (column = income): alpha = 0.75, gamma = 0.1 cannot be kept" in said
        assert "the nearest that can be kept are alpha = 0.7591, gamma = 0.1" in said

    def test_gamma_above_the_smallest_share(self, refused, census):
        said = refused(rules(gamma=0.3), "--records", 32_561, code=1)
        assert "the nearest that can be kept are alpha = 0.8, gamma = 0.2409" in said
        policy = rules(gamma=0.3, prior=False)
        for column in policy["columns"].values():
            column.pop("order", None)
        assert "the nearest that can be kept are alpha = 0.8, gamma = 0.24" in refused(policy, census, code=1)

    def test_more_than_there_are(self, refused, place):
        assert "pk-anonymity (k = 11)" in refused(rules(11), "--records", 10, code=1)
        columns = {"zip": {"role": "quasi"}, "disease": {"role": "sensitive"}}
        policy = {"columns": columns, "require": [{"model": "pk-anonymity", "k": 7}], "method": {"name": "pram"}}
        assert "6 records" in refused(policy, place.data(), code=1)

    def test_one_value(self, refused, place):
        said = refused(rules(race={"role": "quasi", "order": ["v1"]}), "--records", 100)
        assert "columns.race: has one value, which cannot be perturbed" in said
        data = place.data(text([("a", "x"), ("a", "y")] * 5, ("zone", "ill")))
        columns = {"zone": {"role": "quasi"}, "ill": {"role": "sensitive"}}
        policy = {"columns": columns, "require": [{"model": "pk-anonymity", "k": 2}], "method": {"name": "pram"}}
        assert "column 'zone': has one value, which cannot be perturbed" in refused(policy, data)

    @pytest.mark.parametrize("prior", [{"a": 1.0, "b": 0.0}, {"a": 1.2, "b": -0.2}, {"a": 0.5, "b": 0.4}], ids=str)
    def test_no_prior(self, refused, prior):
        policy = rules()
        policy["require"][1]["prior"] = prior
        assert "require.1" in refused(policy, "--records", 100)

    def test_neither_data_nor_prior(self, refused):
        said = refused(rules(prior=False, race={"role": "quasi"}))
        assert "require.1.prior: nothing gives the distribution of 'income'" in said
        assert "records: nothing gives the number of records" in said
        assert "columns.race: nothing gives the number of its values" in said

    def test_records_that_are_none(self, refused, place, census):
        assert "records: got 0" in refused(rules(), "--records", 0)
        assert "records: must not be given together with data" in refused(rules(), census, "--records", 5)
        assert place.run("calibrate", "--policy", place.policy(rules()), "--records", "many").exit_code == 2

    @pytest.mark.parametrize("method", [{"kind": "invariant"}, {"strata": ["race"]}, {"joint": [["race", "income"]]}])
    def test_what_takes_the_data(self, refused, method):
        assert "can only be calibrated with the data" in refused(rules(method=method), "--records", 32_561)

    def test_another_method(self, refused):
        columns = {"zip": {"role": "quasi"}}
        policy = {"columns": columns, "require": [{"model": "k-anonymity", "k": 2}]}
        assert "the policy's method is top-down, which draws no values" in refused(policy)

    def test_weights_without_a_vector(self, refused):
        assert "method.weights" in refused(rules(method={"weights": {"race": 2}}), "--records", 100)

    def test_no_such_file(self, refused):
        assert "there is no such file" in refused(rules(), "nothing.csv")

    def test_as_json(self, asked):
        result = asked(rules(alpha=0.75), "--records", 32_561, "--json")
        error = json.loads(result.stdout)["error"]
        assert (result.exit_code, error["exit_code"], error["kind"]) == (1, 1, "PolicyUnmetError")


def test_it_says_what_it_is():
    found = api.calibrate(rules(), records=32_561)
    assert repr(found).startswith("<sudare.Calibrated: p = 0.3343")
    assert "bound by pk; 4 columns" in repr(found)
