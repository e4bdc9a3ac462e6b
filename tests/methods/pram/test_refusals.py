"""What post-randomization refuses: limits beside the shares of values, and bad input, each in one clear message."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
import yaml
from pyarrow import csv
from typer.testing import CliRunner

import sudare
from sudare.cli import app
from sudare.core.errors import PolicyError, PolicyUnmetError
from sudare.policy import Policy

ROWS, SICK = 32_561, 7_841  # as incomes in Adult: shares of 0.75919 and 0.24081, told as 0.759 and 0.241
PRIOR = {"well": 0.759, "sick": 0.241}


def people(rows=ROWS, sick=SICK):
    ill = ["sick"] * sick + ["well"] * (rows - sick)
    cells = {"q": [f"q{row % 3}" for row in range(rows)], "zone": [f"z{row % 2}" for row in range(rows)]}
    return pa.table({**cells, "ill": ill})


def policy(*require, columns=None, **method):
    roles = {"q": {"role": "quasi"}, "zone": {"role": "insensitive"}, "ill": {"role": "sensitive"}}
    return {"columns": roles | (columns or {}), "require": list(require), "method": {"name": "pram", **method}}


def limit(alpha, gamma, prior=None):
    given = {"model": "alpha-gamma", "column": "ill", "alpha": alpha, "gamma": gamma, "against": "column"}
    return given | ({} if prior is None else {"prior": prior})


def pk(k):
    return {"model": "pk-anonymity", "k": k}


# ---- limits beside the shares


WAYS = {
    "none": {},
    "invariant": {"kind": "invariant"},
    "strata": {"strata": ["zone"]},
    "never": {"never": [{"zone": "z1", "q": "q9"}]},
    "never of the column": {"never": [{"zone": "z9", "ill": "sick"}]},
    "joint": {"joint": [["q", "ill"]]},
    "per column": {"p": "per-column"},
    "given": {"p": 0.01},
}


def data_for(way):
    """People, with what the combinations of ``never`` name."""
    data = people()
    if way == "never":  # somebody has q9, in the other zone
        q = data["q"].to_pylist()
        q[0] = "q9"
        return data.set_column(0, "q", [q])
    if way == "never of the column":  # nobody in this zone is sick; there are two other values
        extra = pa.table({"q": ["q0", "q1"] * 500, "zone": ["z9"] * 1000, "ill": ["well", "dull"] * 500})
        return pa.concat_tables([data, extra])
    return data


@pytest.mark.parametrize("verb", ["calibrate", "anonymize"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("alpha", "gamma"), [(0.5, 0.0), (0.7591, 0.0), (0.9999, 0.4), (0.99995, 0.24085), (0.4, 0.3)])
def test_what_is_out_of_reach_is_told_with_the_nearest_that_is_not(verb, way, alpha, gamma):
    """Also between the share as it is and as it is told; and what is suggested can be kept."""
    data, given = data_for(way), policy(limit(alpha, gamma), **WAYS[way])

    def run(asked):
        return sudare.calibrate(asked, data) if verb == "calibrate" else sudare.anonymize(data, asked)

    with pytest.raises(PolicyUnmetError) as caught:
        run(given)
    [problem] = caught.value.problems
    assert problem.where.startswith("alpha-gamma (column = ill)")
    assert f"alpha = {alpha:g}, gamma = {gamma:g} cannot be kept" in problem.what
    assert "Allowed: alpha from the former, gamma up to the latter" in problem.what
    said = str(caught.value)
    assert not re.search(r"sick|well|dull|z9|q9|limits\[|method\.", said)
    assert ("stratum" in said) == (way == "strata")
    found = re.search(r"nearest that can be kept are alpha = ([\d.e-]+), gamma = ([\d.e-]+)\.$", problem.hint)
    nearest = float(found[1]), float(found[2])
    assert nearest[0] >= alpha or nearest[0] == 1
    assert nearest[1] <= gamma
    # a p of the policy may be too large for it, as it is told then
    run(policy(limit(*nearest), **({} if way == "given" else WAYS[way])))


@pytest.mark.parametrize("way", ["none", "invariant", "strata", "per column"])  # joint shares are rounded each
@pytest.mark.parametrize("sick", [2500, 2501, 2499])
def test_limits_at_the_shares_themselves_leave_noise(way, sick):
    """Neither refused by a last digit, nor is anything kept."""
    data = pa.concat_tables([people(10_000, sick).set_column(1, "zone", [[zone] * 10_000]) for zone in ("z0", "z1")])
    exact, told = 1 - sick / 10_000, 0.75
    alpha, gamma = max(exact, told), min(1 - exact, 1 - told)
    release = sudare.anonymize(data, policy(limit(alpha, gamma), **WAYS[way]))
    kept = release.certificate["mechanism"]["calibration"]["retention"]
    assert kept["ill"] == pytest.approx(0, abs=1e-3)
    for beyond in ((alpha - 1e-6, gamma), (alpha, gamma + 1e-6)):
        with pytest.raises(PolicyUnmetError, match="cannot be kept"):
            sudare.anonymize(data, policy(limit(*beyond), **WAYS[way]))


@pytest.mark.parametrize(("alpha", "gamma"), [(0.758, 0.1), (0.9, 0.242)])
def test_limits_beside_the_prior_of_the_policy(alpha, gamma):
    sudare.anonymize(people(), policy(limit(0.759, 0.241, PRIOR)))
    for verb in (sudare.anonymize, lambda data, asked: sudare.calibrate(asked, data)):
        with pytest.raises(PolicyUnmetError, match=r"^alpha-gamma \(column = ill\): .* gamma = [\d.]+\.$"):
            verb(people(), policy(limit(alpha, gamma, PRIOR)))
    with pytest.raises(PolicyUnmetError, match=r"^alpha-gamma \(column = ill\): "):
        sudare.calibrate(policy(limit(alpha, gamma, PRIOR)))


def test_what_is_given_is_blamed_and_nothing_else():
    """A policy without matrices or strata is not told of them."""
    with pytest.raises(PolicyUnmetError, match=r"^method\.p: does not keep .*the largest p that does.* is 0\.\d+\.$"):
        sudare.anonymize(people(), policy(limit(0.77, 0.1), p=0.5, strata=["zone"]))
    own = {"ill": {"sick": {"sick": 0.9, "well": 0.1}, "well": {"sick": 0.1, "well": 0.9}}}
    with pytest.raises(PolicyUnmetError, match=r"^method\.matrices: .* draw more of the values at random\.$"):
        sudare.anonymize(people(), policy(limit(0.77, 0.1), matrices=own))
    data = pa.table({"q": ["q0", "q1", "q0"] * 9, "zone": ["z0", "z0", "z1"] * 9, "ill": ["sick", "well", "well"] * 9})
    with pytest.raises(sudare.SudareError, match=r"^method\.never: leaves to 1 of 2 groups of records one value of"):
        sudare.anonymize(data, policy(pk(2), never=[{"zone": "z1", "q": "q1"}]))
    with pytest.raises(sudare.SudareError, match=r"1\. method\.strata: in 1 of 2 strata there is one value of 'q'"):
        sudare.anonymize(data, policy(pk(2), strata=["zone"]))
    with pytest.raises(PolicyUnmetError, match="the smallest group that `never` makes of the records has"):
        sudare.anonymize(data_for("never"), policy(pk(30_000), never=WAYS["never"]["never"]))


# ---- bad input, from the command line


ONE = {"sick": {"sick": 0.9, "well": 0.1}}
BAD = {
    # what is given, the exit code, and what is said: 2 is bad input, 1 a promise that this table cannot keep
    "k above n": (policy(pk(13)), {}, 1, "pk-anonymity (k = 13): cannot be kept: the table has 12 records."),
    "k above a stratum": (policy(pk(7), strata=["zone"]), {}, 1, "stratum has 6 records. Hint: require at most k"),
    "k of one": (policy(pk(1)), {}, 2, "require.0.k"),
    "no stochastic matrix": (
        policy(pk(2), matrices={"ill": {**ONE, "well": {"sick": 0.5, "well": 0.4}}}), {}, 2,
        "method.matrices.ill: row 2 adds up to 0.9, and not to 1.",
    ),
    "a singular matrix": (
        policy(pk(2), matrices={"ill": {v: {"sick": 0.5, "well": 0.5} for v in PRIOR}}), {}, 2,
        "method.matrices.ill: is singular",
    ),
    "a row too few": (policy(pk(2), matrices={"ill": {**ONE, "x": {"sick": 1.0}}}), {}, 2, "method.matrices.ill: "),
    "one value": (policy(pk(2)), {"q": ["q0"] * 12}, 2, "column 'q': has one value, which cannot be perturbed."),
    "a prior with a zero": (policy(limit(0.9, 0.0, {"sick": 0.0, "well": 1.0})), {}, 2, "require.0.prior.sick"),
    "a prior without a value": (policy(limit(0.9, 0.0, {"sick": 0.5, "x": 0.5})), {}, 2, "ill).prior: names 1 values"),
    "as many strata as records": (
        policy(pk(2), strata=["zone"]), {"zone": [f"z{row}" for row in range(12)]}, 2,
        "method.strata: make 12 strata of 12 records",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_message_and_leaves_nothing(case, tmp_path):
    given, cells, code, said = BAD[case]
    csv.write_csv(pa.table({**people(12, 6).to_pydict(), **cells}), tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
    words = ["people.csv", "--policy", "policy.yaml", "--out", "release.csv"]
    words = [str(tmp_path / word) if "." in word else word for word in words]
    result = CliRunner().invoke(app, ["anonymize", *words])
    assert result.exit_code == code, result.output
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output
    if "prior" not in case:  # whose place is told by its key
        assert not re.search(r"\b(sick|well)\b", result.output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.yaml"]


# ---- null as a value of a policy


def missing_cells():
    ill = np.array(["sick", None] * 300, dtype=object)
    return pa.table({"q": ["q0", "q1", "q2"] * 200, "zone": ["z"] * 600, "ill": ill.tolist()})


def with_null(order=(None, "sick")):
    return {a: {b: 0.7 if a == b else 0.3 for b in order} for a in order}


def test_null_is_a_key_of_a_matrix(tmp_path):
    given = policy(pk(2), matrices={"ill": with_null()})
    release = sudare.anonymize(missing_cells(), given)
    told = release.certificate["mechanism"]["columns"]["ill"]
    assert (told["values"], told["matrix"]) == (["sick", None], {"rows": [[0.7, 0.3], [0.3, 0.7]]})
    digest = sudare.load_policy(given).sha256
    assert release.certificate["policy_sha256"] == digest
    # whatever the order of keys; and the text "null" is another value
    assert sudare.load_policy(policy(pk(2), matrices={"ill": with_null(("sick", None))})).sha256 == digest
    assert sudare.load_policy(policy(pk(2), matrices={"ill": with_null(("null", "sick"))})).sha256 != digest
    assert sudare.load_policy(policy(pk(2), matrices={"ill": with_null((None, "well"))})).sha256 != digest
    out = tmp_path / "r.csv"
    sudare.anonymize(missing_cells(), given, out=out)
    assert sudare.audit(out, given).passed


@pytest.mark.parametrize("order", [(1, "x"), (True, "x"), (2.5, None), (None, 1)])
def test_keys_of_several_types(order):
    one, other = (sudare.load_policy(policy(pk(2), matrices={"ill": with_null(keys)})) for keys in (order, order[::-1]))
    assert one.sha256 == other.sha256


def test_a_policy_without_null_has_the_digest_that_it_had():
    plain = Policy.parse(policy(pk(2), matrices={"ill": with_null(("sick", "well"))}))
    assert plain.sha256 == "7387ef3e74bcb5c0e2ec3f43f8d9844e23fc24961bd0f373a67f6e5c19f38c03"
    numbers = Policy.parse(policy(pk(2), matrices={"ill": with_null((2, 10))}))
    assert numbers.sha256 == "1374e84a6a001ddcc50e0054bbb784b72aea9bb15ddb9de63cd4caff2626c754"


def test_null_twice_in_a_file(tmp_path):
    lines = "{null: {null: 1.0}, x: {x: 1.0}, null: {x: 1.0}}"
    (tmp_path / "p.yaml").write_text(f"method: {{name: pram, matrices: {{ill: {lines}}}}}\n")
    with pytest.raises(PolicyError, match="names the key null twice"):
        Policy.load(tmp_path / "p.yaml")
