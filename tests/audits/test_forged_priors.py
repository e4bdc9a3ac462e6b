"""Priors that were forged or left out, where records are divided: by strata, or by what must never be made."""

from __future__ import annotations

import copy
import json
import random

import pyarrow as pa
import pytest

import sudare
from sudare.audits import audit_release, transitions
from sudare.audits.transitions import Full, read_matrix, read_rows
from sudare.core.errors import AuditFailedError
from sudare.policy import Policy

from .tables import paper, write

ILL = ["no", "yes", "perhaps"]
ZONES = ["a", "b", "c"]
PRIOR = [0.7, 0.2, 0.1]
FORGED = [0.4, 0.3, 0.3]
STRAY = "not as often as the prior and the matrix of the certificate lead to"
NEVER = [{"side": "l", "zone": "c"}]


def asked(*, side="insensitive", prior=None, joint=None, **method):
    limit = {"model": "alpha-gamma", "column": "ill", "alpha": 0.95, "gamma": 0.001, "against": "column"}
    if prior:
        limit["prior"] = dict(zip(ILL, prior, strict=True))
    if joint:
        method["joint"] = joint
    return Policy.parse(
        {
            "columns": {"side": {"role": side}, "zone": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "require": [{"model": "pk-anonymity", "k": 2}, limit],
            "method": {"name": "pram", **method},
        }
    )


def drawn(truth, matrix, values, chance):
    return [values[chance.choices(range(len(values)), matrix[values.index(value)])[0]] for value in truth]


def even(m, p):
    return [[(1 - p) / m + (p if t == o else 0.0) for o in range(m)] for t in range(m)]


def people(seed=1, rows=9000, sides="lr", tilt=0.0):
    """Records whose illness may go together with their side; nobody on the left lives in c."""
    chance = random.Random(seed)
    side = [chance.choice(sides) for _ in range(rows)]
    zone = [chance.choice("ab" if each == "l" else "abc") for each in side]
    shares = {each: [PRIOR[0] + tilt * (1 if each == "l" else -1), PRIOR[1], 0] for each in sides}
    ill = [chance.choices(ILL, [*shares[each][:2], 1 - sum(shares[each][:2])])[0] for each in side]
    return side, zone, ill


def share(values, domain):
    return [values.count(value) / len(values) for value in domain]


def by_never(seed=1, p=0.4, tilt=0.05, rows=9000):
    """A release in which `never` divides the records: zones are drawn by side, and illness alike everywhere."""
    side, zone, ill = people(seed, rows, tilt=tilt)
    chance = random.Random(seed + 1000)
    there = {"l": ["a", "b"], "r": ZONES}
    shown = [drawn([z], even(len(there[s]), p), there[s], chance)[0] for s, z in zip(side, zone, strict=True)]
    table = pa.table({"side": side, "zone": shown, "ill": drawn(ill, even(3, p), ILL, chance)})
    cells = [
        {"cell": {"side": "l"}, "columns": {"zone": {"values": there["l"], "matrix": {"p": p}}}},
        {"cell": {}, "columns": {"zone": {"matrix": {"p": p}}}},
    ]
    facts = {
        "columns": {
            "zone": {"values": ZONES},
            "ill": {"values": ILL, "matrix": {"p": p}, "prior": share(ill, ILL)},
        },
        "strata": {"columns": ["side"], "cells": cells},
    }
    return table, facts


def by_strata(seed=1, p=0.4, tilt=0.05, rows=9000, sides="lr"):
    """A release by strata, each with a matrix and a prior of its own."""
    side, zone, ill = people(seed, rows, sides, tilt)
    chance = random.Random(seed + 1000)
    keep = {each: p * (1 if number % 2 else 0.8) for number, each in enumerate(sides)}
    table = pa.table(
        {
            "side": side,
            "zone": [drawn([z], even(3, p), ZONES, chance)[0] for z in zone],
            "ill": [drawn([i], even(3, keep[s]), ILL, chance)[0] for s, i in zip(side, ill, strict=True)],
        }
    )
    cells = []
    for each in sorted(set(side)):
        own = share([i for s, i in zip(side, ill, strict=True) if s == each], ILL)
        told = {"zone": {"matrix": {"p": p}}, "ill": {"matrix": {"p": keep[each]}, "prior": own}}
        cells.append({"cell": {"side": each}, "columns": told})
    facts = {
        "columns": {"zone": {"values": ZONES}, "ill": {"values": ILL}},
        "strata": {"columns": ["side"], "cells": cells},
    }
    return table, facts, share(ill, ILL)


def by_joint(seed=1, p=0.4, rows=9000):
    """A release in which zone is divided by `never`, and illness is drawn together with sex, alike everywhere."""
    chance = random.Random(seed)
    table, facts = by_never(seed, p, rows=rows)
    side = table["side"].to_pylist()
    pairs = [(sex, ill) for sex in "fm" for ill in ILL]
    # on the left most are women: the joint distribution is another one in each stratum
    truth = [(chance.choices("fm", [9, 1] if s == "l" else [1, 9])[0], chance.choices(ILL, PRIOR)[0]) for s in side]
    shown = drawn(truth, even(6, p), pairs, chance)
    table = table.drop_columns("ill").append_column("sex", pa.array([sex for sex, _ in shown]))
    table = table.append_column("ill", pa.array([ill for _, ill in shown]))
    facts["columns"] = {"zone": {"values": ZONES}, "sex": {"values": ["f", "m"]}, "ill": {"values": ILL}}
    facts["joint"] = [{"columns": ["sex", "ill"], "rows": even(6, p), "prior": share(truth, pairs)}]
    policy = asked(never=NEVER, joint=[["sex", "ill"]]).model_dump(exclude_none=True)
    policy["columns"]["sex"] = {"role": "quasi"}
    return table, facts, Policy.parse(policy)


def audit(table, facts, policy):
    return audit_release(table, policy, mechanism=facts)


def limited(report):
    return next(given for given in report.guarantees if given.model == "alpha-gamma")


def refused(report):
    assert not report.passed
    assert not limited(report).holds
    with pytest.raises(AuditFailedError) as caught:
        report.raise_if_failed()
    return str(caught.value)


# ---- records are divided by what must never be made


def test_the_prior_of_a_column_that_all_strata_share():
    table, facts = by_never()
    report = audit(table, facts, asked(never=NEVER))
    report.raise_if_failed()
    assert "over all strata" in limited(report).note


@pytest.mark.parametrize("forged", [FORGED, [0.6, 0.2, 0.2], [0.1, 0.2, 0.7]], ids=str)
def test_a_forged_one_is_found(forged):
    table, facts = by_never()
    facts["columns"]["ill"]["prior"] = forged
    assert STRAY in refused(audit(table, facts, asked(never=NEVER)))


def test_a_forged_one_is_found_by_any_matrix():
    table, facts = by_never()
    rows = even(3, 0.4)
    rows[0] = [rows[0][0], rows[0][1] - 1e-7, rows[0][2] + 1e-7]
    assert isinstance(read_rows(rows, 3), Full)
    facts["columns"]["ill"]["matrix"] = {"rows": rows}
    audit(table, facts, asked(never=NEVER)).raise_if_failed()
    facts["columns"]["ill"]["prior"] = FORGED
    assert STRAY in refused(audit(table, facts, asked(never=NEVER)))


def test_also_if_one_stratum_is_all_there_is():
    table, facts = by_never(tilt=0)
    table = table.filter(pa.compute.equal(table["side"], "r"))
    audit(table, facts, asked(never=NEVER)).raise_if_failed()
    facts["columns"]["ill"]["prior"] = FORGED
    assert STRAY in refused(audit(table, facts, asked(never=NEVER)))


def test_a_prior_of_the_policy_that_is_another():
    table, facts = by_never()
    facts["columns"]["ill"]["prior"] = PRIOR
    audit(table, facts, asked(never=NEVER, prior=PRIOR)).raise_if_failed()
    assert "not the one of the policy" in refused(audit(table, facts, asked(never=NEVER, prior=FORGED)))
    facts["columns"]["ill"]["prior"] = FORGED
    assert STRAY in refused(audit(table, facts, asked(never=NEVER, prior=FORGED)))


def test_joint_columns_that_all_strata_share():
    """A stratum on its own has another distribution, which is no reason to refuse; the sum is."""
    table, facts, policy = by_joint()
    audit(table, facts, policy).raise_if_failed()
    facts["joint"][0]["prior"] = [0.2, 0.2, 0.1, 0.2, 0.2, 0.1]
    assert STRAY in refused(audit(table, facts, policy))


def test_strata_may_tell_other_joint_columns():
    """What all strata share is told once, and what each has of its own, there."""
    chance = random.Random(5)
    n = 4000
    cells = {name: [chance.choice(values) for _ in range(n)] for name, values in
             {"side": "lr", "zone": "ab", "ill": ["no", "yes"], "sex": "fm", "job": "xy"}.items()}  # fmt: skip
    policy = asked(never=[{"side": "l", "sex": "f", "job": "x"}], joint=[["zone", "ill"], ["sex", "job"]])
    policy = policy.model_dump(exclude_none=True)
    policy["columns"] |= {name: {"role": "quasi"} for name in ("sex", "job")}
    told = {"columns": ["sex", "job"], "rows": even(4, 0.0)}
    facts = {
        "columns": {name: {"values": sorted(set(cells[name]))} for name in ("zone", "ill", "sex", "job")},
        "joint": [{"columns": ["zone", "ill"], "rows": even(4, 0.1), "prior": [0.25] * 4}],
        "strata": {
            "columns": ["side"],
            "cells": [{"cell": {"side": "l"}, "joint": [told]}, {"cell": {}, "joint": [told]}],
        },
    }
    audit(pa.table(cells), facts, Policy.parse(policy)).raise_if_failed()


def test_a_prior_of_what_is_never_shown():
    """Its row is a fresh draw, so that any share of it leads to what a smaller p would: it proves nothing."""
    chance = random.Random(2)
    p, pairs = 0.5, [(zone, ill) for zone in "ab" for ill in ("no", "yes")]
    fresh = [1 / 3, 1 / 3, 1 / 3, 0.0]
    rows = [[(1 - p) * f + (p if t == o else 0.0) for o, f in enumerate(fresh)] for t in range(3)] + [fresh]
    true = [0.8, 0.1, 0.1, 0.0]
    shown = drawn(chance.choices(pairs, true, k=6000), rows, pairs, chance)
    table = pa.table({"zone": [zone for zone, _ in shown], "ill": [ill for _, ill in shown]})
    facts = {
        "columns": {"zone": {"values": ["a", "b"]}, "ill": {"values": ["no", "yes"]}},
        "joint": [{"columns": ["zone", "ill"], "rows": rows, "prior": true}],
    }
    policy = Policy.parse(
        {
            "columns": {"zone": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "require": [{"model": "alpha-gamma", "column": "ill", "alpha": 0.99, "gamma": 0.001, "against": "column"}],
            "method": {"name": "pram", "joint": [["zone", "ill"]], "never": [{"zone": "b", "ill": "yes"}]},
        }
    )
    audit(table, facts, policy).raise_if_failed()
    facts["joint"][0]["prior"] = [(one - 0.09 / 3) for one in true[:3]] + [0.09]  # leads to the same
    assert "values that the matrix never shows" in refused(audit(table, facts, policy))
    # the same prior, without the truth that nobody has, is seen to be wrong
    facts["joint"][0]["prior"] = [0.5, 0.3, 0.2, 0.0]
    assert STRAY in refused(audit(table, facts, policy))


# ---- strata


@pytest.mark.parametrize("side", ["insensitive", "quasi"])
def test_strata_with_priors_of_their_own(side):
    table, facts, _ = by_strata()
    audit(table, facts, asked(side=side, strata=["side"])).raise_if_failed()


def test_a_forged_prior_of_a_stratum_is_found():
    table, facts, _ = by_strata()
    facts["strata"]["cells"][1]["columns"]["ill"]["prior"] = FORGED
    assert STRAY in refused(audit(table, facts, asked(strata=["side"])))


@pytest.mark.parametrize("whole", [None, PRIOR], ids=["no other", "that of the column"])
@pytest.mark.parametrize("cells", [[0], [1], [0, 1]], ids=str)
def test_a_stratum_without_a_prior(cells, whole):
    table, facts, _ = by_strata(tilt=0)
    for cell in cells:
        del facts["strata"]["cells"][cell]["columns"]["ill"]["prior"]
    if whole:
        facts["columns"]["ill"]["prior"] = whole
    report = audit(table, facts, asked(strata=["side"]))
    said = refused(report)
    if whole or len(cells) == 1:
        assert f"In {len(cells)} of 2 strata the certificate has no prior of this column" in said
    else:
        assert "has no prior of this column" in said


@pytest.mark.parametrize(
    "method",
    [
        {"strata": ["side"]},
        {"strata": ["side"], "never": NEVER},
        {},
        {"never": [{"side": "l", "ill": "perhaps"}]},
        {"never": 3, "strata": 4},
        {"never": [3, {"zone": "a"}], "strata": [["side"]]},
    ],
    ids=str,
)
def test_one_prior_for_all_strata_is_enough_only_where_they_come_from_never_of_other_columns(method):
    """Also if all of them have the same matrix: it is the policy that says what everybody knows."""
    table, facts = by_never(tilt=0)
    assert "In 2 of 2 strata the certificate has no prior" in refused(audit(table, facts, asked(**method)))


def test_another_matrix_in_one_stratum_asks_for_a_prior_there():
    table, facts = by_never(tilt=0)
    facts["strata"]["cells"][0]["columns"]["ill"] = {"matrix": {"p": 0.39}}
    assert "has no prior of this column" in refused(audit(table, facts, asked(never=NEVER)))


def test_small_strata_do_not_hide_what_is_forged_in_all_of_them():
    """In none of 60 strata, of 50 records each, can it be told from chance."""
    sides = [chr(ord("A") + number) for number in range(60)]
    table, facts, _ = by_strata(rows=3000, sides=sides, p=0.6, tilt=0)
    report = audit(table, facts, asked(strata=["side"]))
    assert not report.problems
    assert limited(report).holds
    for cell in facts["strata"]["cells"]:
        cell["columns"]["ill"]["prior"] = FORGED
    assert STRAY in refused(audit(table, facts, asked(strata=["side"])))


def test_small_strata_do_not_hide_a_matrix_either():
    """Seven in ten say no, which is more than a p of 0.1 could make of anything."""
    sides = [chr(ord("A") + number) for number in range(60)]
    table, facts, _ = by_strata(rows=3000, sides=sides, p=0.9, tilt=0)
    for cell in facts["strata"]["cells"]:
        cell["columns"]["ill"] = {"matrix": {"p": 0.1}}
    report = audit(table, facts, asked(strata=["side"]))
    assert any("than the matrix of the certificate allows" in str(problem) for problem in report.problems)


def test_the_prior_of_the_whole_column_is_the_mean_of_the_strata():
    table, facts, whole = by_strata(tilt=0.1)
    facts["columns"]["ill"]["prior"] = whole
    audit(table, facts, asked(strata=["side"])).raise_if_failed()
    facts["columns"]["ill"]["prior"] = FORGED
    assert "prior of the whole column is not the sum of the priors of the strata" in refused(
        audit(table, facts, asked(strata=["side"]))
    )


def test_the_prior_of_the_policy_is_compared_if_the_certificate_has_none_of_the_column():
    table, facts, whole = by_strata(tilt=0.1)
    audit(table, facts, asked(strata=["side"], prior=whole)).raise_if_failed()
    said = refused(audit(table, facts, asked(strata=["side"], prior=FORGED)))
    assert "prior of the policy is not the sum of the priors of the strata" in said
    policy = asked(strata=["side"], prior=whole).model_dump(exclude_none=True)
    policy["require"][1]["prior"]["other"] = policy["require"][1]["prior"].pop("no")
    assert "not the one of the policy" in refused(audit(table, facts, Policy.parse(policy)))


def test_the_prior_of_the_policy_is_compared_with_joint_columns():
    table, facts, policy = by_joint()
    told = policy.model_dump(exclude_none=True)
    for prior, passes in ((FORGED, False), (None, True)):
        joint = facts["joint"][0]["prior"]
        marginal = prior or [joint[place] + joint[place + 3] for place in range(3)]
        told["require"][1]["prior"] = dict(zip(ILL, marginal, strict=True))
        assert audit(table, facts, Policy.parse(told)).passed is passes


def test_values_that_only_some_strata_have_are_added_up_by_value():
    """The places of values differ between strata."""
    chance = random.Random(4)
    n, p = 6000, 0.5
    there = {"l": ["no", "yes"], "r": ["yes", "perhaps"]}
    side = [chance.choice("lr") for _ in range(n)]
    truth = [chance.choices(there[each], [0.8, 0.2])[0] for each in side]
    ill = [drawn([t], even(2, p), there[s], chance)[0] for s, t in zip(side, truth, strict=True)]
    table = pa.table({"side": side, "zone": chance.choices(ZONES, k=n), "ill": ill})
    cells = [
        {"cell": {"side": each}, "columns": {"ill": {"values": there[each], "matrix": {"p": p}, "prior": [0.8, 0.2]}}}
        for each in "lr"
    ]
    facts = {
        "columns": {
            "zone": {"values": ZONES, "matrix": {"p": p}},
            "ill": {"values": ILL, "prior": [0.4, 0.5, 0.1]},
        },
        "strata": {"columns": ["side"], "cells": cells},
    }
    audit(table, facts, asked(strata=["side"])).raise_if_failed()
    facts["columns"]["ill"]["prior"] = [0.5, 0.4, 0.1]
    assert "prior of the whole column" in refused(audit(table, facts, asked(strata=["side"])))


# ---- chance


def told_in_few_digits(facts):
    """Round all priors as a method does."""
    facts = copy.deepcopy(facts)
    parts = [facts, *facts["strata"]["cells"]]
    for one in [column for part in parts for column in part.get("columns", {}).values()] + facts.get("joint", []):
        if "prior" in one:
            few = [float(f"{each:.3g}") for each in one["prior"]]
            one["prior"] = [each / sum(few) for each in few]
    return facts


@pytest.mark.parametrize("seed", range(12))
def test_no_true_release_is_refused(seed):
    rows = random.Random(seed).choice([300, 1000, 3000])
    table, facts = by_never(seed, rows=rows, tilt=0.2)
    policies = [(table, facts, asked(never=NEVER)), by_joint(seed, rows=rows)]
    table, facts, _ = by_strata(seed, rows=rows, tilt=0.2, sides="lmnopq")
    policies.append((table, facts, asked(strata=["side"])))
    for table, facts, policy in policies:
        report = audit(table, told_in_few_digits(facts), policy)
        assert not report.problems
        assert limited(report).holds


@pytest.mark.parametrize("method", [{"never": NEVER}, {"strata": ["side"]}], ids=["never", "strata"])
def test_what_the_method_makes(tmp_path, method):
    """From the table to the forged certificate on disk."""
    side, zone, ill = people(rows=4000, tilt=0.1)
    policy = asked(**method)
    path = tmp_path / "release.csv"
    made = sudare.anonymize(pa.table({"side": side, "zone": zone, "ill": ill}), policy, out=path, seed=1)
    sudare.audit(path, policy).raise_if_failed()
    beside = path.with_name("release.csv.sudare.json")
    certificate = json.loads(beside.read_text())
    mechanism = certificate["mechanism"]
    assert mechanism == json.loads(json.dumps(made.certificate["mechanism"]))
    parts = [mechanism, *mechanism["strata"]["cells"]]
    for part in parts:
        if "prior" in part["columns"].get("ill", {}):
            part["columns"]["ill"]["prior"] = [0.34, 0.33, 0.33]
    beside.write_text(json.dumps(certificate))
    refused(sudare.audit(path, policy))


# ---- matrices


@pytest.mark.parametrize("parts", [None, [0, 0, 1, 1, 2]], ids=["one column", "joint"])
def test_large_matrices_are_multiplied_by_query(monkeypatch, parts):
    chance = random.Random(8)
    rows = [[chance.random() for _ in range(5)] for _ in range(5)]
    rows = [[each / sum(row) for each in row] for row in rows]
    prior = [0.4, 0.0, 0.3, 0.2, 0.1]
    by_hand = Full(rows).beliefs(prior, parts)
    monkeypatch.setattr(transitions, "MANY", 0)
    assert Full(rows).beliefs(prior, parts) == pytest.approx(by_hand, abs=1e-14)


@pytest.mark.parametrize(
    "told", [{"p": 10**400}, {"rows": [[10**400, 0], [0.5, 0.5]]}, {"rows": [[1e308, 1e308], [0, 1]]}]
)
def test_numbers_that_are_too_large_are_none(told):
    assert isinstance(read_matrix(told, 2), str)


def test_columns_are_named_by_text():
    table, facts, policy = by_joint(rows=500)
    facts["joint"][0]["columns"] = ["sex", 3]
    assert not audit(table, facts, policy).passed


def test_a_missing_value_in_a_matrix_of_the_policy(tmp_path):
    """Null is a key of a matrix in YAML, and stands beside text there."""
    chance = random.Random(6)
    lines = "\n".join(f"      {t}: {{a: {a}, b: {b}, null: {c}}}" for t, a, b, c in
                      (("a", 0.6, 0.2, 0.2), ("b", 0.2, 0.6, 0.2), ("null", 0.2, 0.2, 0.6)))  # fmt: skip
    text = f"""
version: 1
columns: {{zone: {{role: quasi}}, ill: {{role: sensitive}}}}
require: [{{model: pk-anonymity, k: 2}}]
method:
  name: pram
  matrices:
    zone:
{lines}
"""
    (tmp_path / "policy.yaml").write_text(text)
    policy = Policy.load(tmp_path / "policy.yaml")
    assert None in policy.method.model_extra["matrices"]["zone"]
    rows = [(chance.choice(["a", "b", ""]), chance.choice(["no", "yes"])) for _ in range(1000)]
    path = write(tmp_path / "release.csv", ["zone", "ill"], rows)
    matrix = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]
    facts = {
        "columns": {
            "zone": {"values": ["a", "b", None], "matrix": {"rows": matrix}},
            "ill": {"values": ["no", "yes"], "matrix": {"p": 0.2}},
        }
    }
    certificate = json.loads(json.dumps(paper(path, policy, mechanism=facts)))
    audit_release(path, policy, certificate=certificate).raise_if_failed()
