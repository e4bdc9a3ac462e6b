"""What certificates say of transformations, true and forged; and pseudonyms in the rest of the audit."""

from __future__ import annotations

import copy

import pyarrow as pa
import pytest

from sudare.audits import AuditorInput, audit_release
from sudare.audits.transformation_entries import SAMPLE
from sudare.audits.transformation_proofs import MODEL
from sudare.policy import Policy

from .tables import paper, write

KEY = {"env": "KEY"}
PRINT = "0a1b2c3d"
TRANSFORMED = {
    "zone": {"role": "quasi"},
    "person": {"role": "identifier", "transform": {"pseudonym": {"key": KEY, "length": 6}}},
    "seen": {"role": "insensitive", "transform": {"shift": {"per": "zone", "key": KEY}}},
    "paid": {"role": "insensitive", "transform": [{"top": {"share": 0.01}}, {"round": 5}, {"noise": {"sd": 0.1}}]},
    "age": {"role": "insensitive", "transform": [{"round": {"to": 5}}, {"top": {"share": 0.01}}]},
}
ROWS = [["a", f"abcde{number}", "2024-01-05", "17.25", str(5 * number)] for number in range(6)]


def policy(**more):
    return Policy.parse({"columns": TRANSFORMED, "require": [{"model": "k-anonymity", "k": 2}], **more})


def entry(column, name, parameters, *, key=None, proven=False, **figures):
    return {
        "column": column, "transformation": name, "parameters": parameters, "key": key, "proven": proven,
        "guarantees": "Something.", "does_not": "Something else.", "figures": figures,
    }  # fmt: skip


ENTRIES = [
    entry("person", "pseudonym", {"form": "hex", "length": 6}, key=PRINT, proven=True),
    entry("seen", "shift", {"days": 365, "per": "zone"}, key=PRINT),
    entry("paid", "top", {"share": 0.01}, limit=90, share=0.012),
    entry("paid", "round", {"to": 5, "how": "nearest"}),
    entry("paid", "noise", {"sd": 0.1, "kind": "normal", "keep_total": False}, variance=0.25, exact=True, of="paid"),
    entry("age", "round", {"to": 5, "how": "nearest"}, proven=True),
    entry("age", "top", {"share": 0.01}, proven=True, limit=25),
]


def audited(tmp_path, rules, entries, rows=ROWS, **changes):
    path = write(tmp_path / "release.csv", list(TRANSFORMED), rows)
    said = paper(path, rules)
    told = audit_release(path, rules, transformations=entries)
    said["guarantees"] = told.to_dict()["guarantees"]
    said["loss"] |= {"discernibility": float(len(rows) ** 2), "average_class_size": float(len(rows))}
    if entries is not None:
        said["transformations"] = entries
    return audit_release(path, rules, certificate=said | changes)


def test_a_true_certificate_passes(tmp_path):
    report = audited(tmp_path, policy(), ENTRIES)
    report.raise_if_failed()
    assert report.passed
    assert "transformations" in report.verified
    assert {f"transformations.{key}" for key in ("key", "figures", "guarantees", "does_not")} <= set(report.claimed)
    age = next(one for one in report.guarantees if one.model == MODEL and one.parameters["column"] == "age")
    assert (age.required, age.achieved) == (0, 0)
    assert "from" not in age.note
    assert "up to 25" in age.note


def test_the_limit_of_the_certificate_is_proven(tmp_path):
    lower = copy.deepcopy(ENTRIES)
    lower[-1]["figures"]["limit"] = 20
    report = audited(tmp_path, policy(), lower)
    assert [one.parameters["column"] for one in report.guarantees if not one.holds] == ["age"]
    assert not report.passed


def without(key):
    def change(entries):
        del entries[0][key]

    return change


def setting(number, key, value):
    def change(entries):
        entries[number][key] = value

    return change


def figure(value):
    return setting(2, "figures", {"limit": 90, "share": 0.012, "more": value})


FORGED = {
    "a key is missing": (without("does_not"), "is not a list of transformations"),
    "a key too many": (setting(0, "secret", 1), "is not a list of transformations"),
    "one entry less": (lambda entries: entries.pop(), "has 6 entries"),
    "one entry more": (lambda entries: entries.append(entries[-1]), "has 8 entries"),
    "another order": (lambda entries: entries.reverse(), "is not about"),
    "another column": (setting(0, "column", "age"), "is not about pseudonym of column 'person'"),
    "no column": (setting(0, "column", None), "is not about pseudonym of column 'person'"),
    "another step": (setting(3, "transformation", "band"), "is not about round of column 'paid'"),
    "other parameters": (setting(3, "parameters", {"to": 10, "how": "nearest"}), "is not what the policy says"),
    "a parameter less": (setting(3, "parameters", {"to": 5}), "is not what the policy says"),
    "the place of the key": (
        setting(0, "parameters", {"form": "hex", "length": 6, "key": {"env": "KEY"}}), "is not what the policy says",
    ),
    "no fingerprint": (setting(0, "key", None), "is missing: the policy names a key"),
    "a long fingerprint": (setting(0, "key", PRINT * 2), "is not a fingerprint"),
    "a fingerprint in capitals": (setting(0, "key", PRINT.upper()), "is not a fingerprint"),
    "the key itself": (setting(0, "key", "0a" * 32), "looks like a secret key"),
    "two fingerprints of a key": (setting(1, "key", "ffffffff"), "differs from another fingerprint"),
    "a fingerprint of nothing": (setting(3, "key", PRINT), "the policy names no key"),
    "more than is proven": (setting(1, "proven", True), "they do not"),
    "what noise has hidden": (setting(2, "proven", True), "they do not"),
    "no truth value": (setting(0, "proven", 1), "is not a list of transformations"),
    "a figure that is a list": (figure([1]), "something other than numbers"),
    "a figure that is missing": (figure(None), "something other than numbers"),
    "an endless figure": (figure(float("inf")), "something other than numbers"),
    "a key in a figure": (figure("AB" * 32), "looks like a secret key"),
    "a key in words": (setting(4, "guarantees", "The key is " + "9f" * 32), "looks like a secret key"),
    "no words": (setting(4, "guarantees", " "), "is not text"),
    "something else": (lambda entries: entries.__setitem__(0, "pseudonym"), "is not a list of transformations"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_entry_is_found(tmp_path, name):
    change, what = FORGED[name]
    entries = copy.deepcopy(ENTRIES)
    change(entries)
    report = audited(tmp_path, policy(), entries)
    assert not report.passed
    assert any(what in problem.what and problem.where.startswith("certificate.transf") for problem in report.problems)
    assert "0a0a0a" not in str(report.problems)


@pytest.mark.parametrize("entries", [None, [], {}, "pseudonym"])
def test_a_certificate_has_to_say_what_was_transformed(tmp_path, entries):
    report = audited(tmp_path, policy(), entries)
    assert any(problem.where == "certificate.transformations" for problem in report.problems)


def test_an_older_certificate_needs_no_word_of_it_where_nothing_is_transformed(tmp_path):
    rules = Policy.parse(
        {
            "columns": {"zone": {"role": "quasi"}, "age": {"role": "insensitive"}},
            "require": [{"model": "k-anonymity", "k": 2}],
        }
    )
    path = write(tmp_path / "release.csv", ["zone", "age"], [["a", "1"], ["a", "1"]])
    said = paper(path, rules)
    said["loss"] |= {"discernibility": 4.0, "average_class_size": 2.0}
    assert audit_release(path, rules, certificate=said).passed
    assert audit_release(path, rules, certificate=said | {"transformations": []}).passed
    forged = said | {"transformations": [entry("age", "round", {"to": 5, "how": "nearest"}, proven=True)]}
    report = audit_release(path, rules, certificate=forged)
    assert [problem.where for problem in report.problems] == ["certificate.transformations"]


@pytest.mark.parametrize(("asked", "per"), [(None, "record"), ("record", "record")])
def test_a_sample_is_the_last_entry(tmp_path, asked, per):
    rules = policy(sample={"share": 0.5} | ({"per": asked} if asked else {}))
    sampled = entry(None, SAMPLE, {"share": 0.5, "per": per})
    assert audited(tmp_path, rules, [*ENTRIES, sampled]).passed
    assert not audited(tmp_path, rules, ENTRIES).passed
    assert not audited(tmp_path, rules, [*ENTRIES, sampled | {"parameters": {"share": 0.4, "per": per}}]).passed
    assert not audited(tmp_path, rules, [*ENTRIES, sampled | {"column": "age"}]).passed
    assert not audited(tmp_path, rules, [*ENTRIES, sampled | {"proven": True}]).passed


def test_under_another_policy_entries_are_claimed(tmp_path):
    path = write(tmp_path / "release.csv", list(TRANSFORMED), ROWS)
    said = paper(path, policy()) | {"transformations": ENTRIES, "policy_sha256": "0" * 64}
    told = AuditorInput(said, other_policy=True)
    report = audit_release(path, policy(), told=told)
    assert not [problem for problem in report.problems if "transformations" in problem.where]
    assert "transformations" in report.claimed
    broken = said | {"transformations": [{"column": "x"}]}
    report = audit_release(path, policy(), told=AuditorInput(broken, other_policy=True))
    assert any("transformations" in problem.where for problem in report.problems)


# ---- pseudonyms in the rest of the audit


def of_people(count="rows", **more):
    return Policy.parse(
        {
            "columns": {
                "zone": {"role": "quasi"},
                "who": {"role": "subject", "transform": {"pseudonym": {"key": KEY, "length": 6}}},
                "stay": {"role": "insensitive"},
            },
            "require": [{"model": "k-anonymity", "k": 2, "count": count}, *more.get("require", ())],
        }
    )


def table(who, zones="aabb"):
    return pa.table({"zone": list(zones), "who": who, "stay": ["x"] * len(zones)})


def test_a_subject_may_be_released_as_a_pseudonym():
    who = ["abcde0", "abcde1", "abcde2", "abcde0"]
    assert audit_release(table(who), of_people()).passed
    report = audit_release(table(["abcde0", "abcde1", "abcde2", "7"]), of_people())
    assert [one.model for one in report.guarantees if not one.holds] == [MODEL]


def test_people_are_counted_by_their_pseudonyms():
    # a person in two classes: pseudonyms are the same everywhere
    report = audit_release(table(["abcde0", "abcde1", "abcde2", "abcde0"]), of_people("subjects"))
    assert report.passed
    assert "subjects per class" not in [one.model for one in report.guarantees]
    report = audit_release(table(["abcde0", "abcde0", "abcde2", "abcde0"]), of_people("subjects"))
    assert [one.model for one in report.guarantees if not one.holds] == ["k-anonymity"]


def test_an_identifier_is_released_as_a_pseudonym_alone(tmp_path):
    path = write(tmp_path / "release.csv", list(TRANSFORMED), ROWS)
    assert audit_release(path, policy()).passed
    plain = Policy.parse(
        {"columns": TRANSFORMED | {"person": {"role": "identifier"}}, "require": [{"model": "k-anonymity", "k": 2}]}
    )
    assert "identifiers absent" in [one.model for one in audit_release(path, plain).guarantees if not one.holds]


def test_nobody_knows_a_pseudonym():
    rows = pa.table({"zone": ["a"] * 4, "person": [f"abcde{number}" for number in range(4)], "stay": ["x"] * 4})
    limit = {"model": "uniqueness", "most": 0.1}

    def rules(role, **column):
        columns = {"zone": {"role": "quasi"}, "person": {"role": role, **column}, "stay": {"role": "insensitive"}}
        return Policy.parse({"columns": columns, "require": [{"model": "k-anonymity", "k": 2}, limit]})

    pseudonym = {"transform": {"pseudonym": {"key": KEY, "length": 6}}}
    open_report = audit_release(rows, rules("insensitive"))
    assert not open_report.passed
    assert "nearly-unique-column" in [one.kind for one in open_report.warnings]
    for role in ("identifier", "insensitive", "sensitive"):
        report = audit_release(rows, rules(role, **pseudonym))
        assert report.passed
        assert [one.kind for one in report.warnings if one.kind != "homogeneous"] == []
        unique = next(one for one in report.guarantees if one.model == "uniqueness")
        assert unique.achieved == 0
        assert "Left out, since outsiders know no pseudonyms: 'person'." in unique.note
    asked = rules("insensitive", **pseudonym)
    named = asked.model_copy(
        update={"require": [asked.require[0], asked.require[1].model_copy(update={"columns": ["person"]})]}
    )
    assert not audit_release(rows, named).passed
