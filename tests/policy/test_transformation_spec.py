"""Policies with transformations: what is accepted, and what is said of mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from sudare.core.errors import PolicyError
from sudare.policy import Policy

KEY = "00112233445566778899aabbccddeeff" * 2
BASE = {"q": {"role": "quasi"}, "p": {"role": "subject"}}


def parse(column: Any, name: str = "x", require: Any = (), **more: Any) -> Policy:
    promises = [{"model": "k-anonymity", "k": 2}, *require]
    return Policy.parse({"columns": {**BASE, name: column}, "require": promises, **more})


def refused(column: Any, **more: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        parse(column, **more)
    return str(caught.value)


def insensitive(step: Any, **more: Any) -> dict[str, Any]:
    return {"role": "insensitive", "transform": step, **more}


SHORT = [
    ({"top": 89}, {"top": {"at": 89}}),
    ({"round": 5}, {"round": {"to": 5}}),
    ({"band": 10}, {"band": {"width": 10}}),
    ({"truncate": "year"}, {"truncate": {"to": "year"}}),
    ({"truncate": 3}, {"truncate": {"keep": 3}}),
    ({"swap": 0.1}, {"swap": {"within": 0.1}}),
    ({"noise": 0.1}, {"noise": {"sd": 0.1}}),
    ({"shift": 30}, {"shift": {"days": 30}}),
    ("shift", {"shift": {}}),
    ("redact", {"redact": {}}),
    ({"redact": None}, [{"redact": {}}]),
    ("mask", {"mask": {}}),
    ({"shuffle": ["q"]}, {"shuffle": {"within": ["q"]}}),
    ({"replace": "list.csv"}, {"replace": {"file": "list.csv"}}),
]


@pytest.mark.parametrize("short, long", SHORT)
def test_short_forms(short, long):
    assert parse(insensitive(short)).columns["x"] == parse(insensitive(long)).columns["x"]


def test_policies_without_transformations_keep_their_digests():
    policy = Policy.parse({"columns": BASE, "require": [{"model": "k-anonymity", "k": 2}]})
    assert policy.content_sha256 == "654ffbae85a37d06448df91ce86670b28b8094bdd8466df0c4be3f25dd802795"


@pytest.mark.parametrize(
    "given",
    [KEY, {"env": KEY}, {"file": KEY}, {"value": KEY}, {"env": "A", "file": "b"}, {"env": ""}, {"env": "9 a"}, 5, None],
)
def test_keys_are_not_in_policies_and_never_repeated(given):
    said = refused(insensitive({"pseudonym": {"key": given}}))
    assert "columns.x.transform.0.pseudonym" in said
    assert KEY not in said
    assert KEY[:20] not in said


@pytest.mark.parametrize(
    "path",
    [
        "study.key",
        "/home/hospital/research/secrets/sudare/projectkey",
        "../keys/thelongnameofakeyfileofmystudyingermany",
    ],
)
def test_paths_of_keys(path):
    assert parse(insensitive({"pseudonym": {"key": {"file": path}}}))


MISTAKES = [
    ("rownd", "is a mapping with one key"),
    ({"rownd": 5}, "Did you mean 'round'?"),
    ({"round": 5, "top": 6}, "write a list, so that their order is clear"),
    ({"round": 0}, "greater than 0"),
    ({"round": {"to": 5, "how": "sideways"}}, "nearest, up, down, random"),
    ({"top": {"at": 5, "share": 0.1}}, "exactly one of at and share"),
    ({"top": {"at": 5, "shows": 4}}, "shows must not be below at"),
    ({"bottom": {"at": 5, "shows": 6}}, "shows must not be above at"),
    ({"top": {"share": 0.1, "shows": 7}}, "shows must be a text with share"),
    ({"truncate": {}}, "exactly one of to"),
    ({"truncate": "decade"}, "year, quarter, month, week"),
    ({"band": {"edges": [3, 2]}}, "edges must grow"),
    ({"mask": {"with": "**"}}, "one visible character"),
    ({"replace": {"values": {}}}, "at least 1"),
    ({"replace": {"values": {"a": ["b"]}}}, "a mapping of values"),
    ({"replace": {"values": {1: "a", "1": "b"}}}, "names a value twice"),
    ({"noise": {"sd": 0.1, "scale": 3}}, "exactly one of sd and scale"),
    ({"noise": {"scale": 3, "correlated_with": ["q"]}}, "correlated_with needs kind: normal and sd"),
    ({"noise": {"sd": 0.1, "bounds": [5, 3]}}, "bounds must grow"),
    ({"noise": {"sd": 0.1, "bounds": [0, 3], "keep_total": True}}, "keep_total cannot be kept within bounds"),
    ({"noise": {"sd": 0.1, "correlated_with": ["nobody"]}}, "'nobody' is not a column"),
    ({"swap": 0}, "greater than 0"),
    ({"shuffle": ["x"]}, "names the shuffled column itself"),
    ({"pseudonym": {"key": {"env": "K"}, "length": 3}}, "length must be from 5 to 64"),
    ({"pseudonym": {"key": {"env": "K"}, "form": "digits", "length": 78}}, "length must be from 7 to 77"),
    ([{"band": 5}, {"round": 5}], "round works with numbers; here are texts (after band)"),
    ([{"truncate": 3}, {"shift": 5}], "shift works with dates; here are texts (after truncate)"),
    ([{"round": 5}, "mask"], "mask does not work with numbers; here are numbers (after round)"),
    (["redact", {"round": 5}], "has no effect: redact leaves empty cells"),
    ([], "at least 1"),
]


@pytest.mark.parametrize("step, said", MISTAKES)
def test_mistakes_are_named(step, said):
    assert said in refused(insensitive(step))


def test_noise_on_categories_and_masks_on_numbers():
    assert "noise works with numbers; here are categories" in refused(
        {"role": "quasi", "kind": "categorical", "transform": {"noise": 0.1}}
    )
    assert "mask does not work with numbers" in refused({"role": "quasi", "kind": "numeric", "transform": "mask"})
    assert "makes texts of it" in refused({"role": "quasi", "kind": "numeric", "transform": {"band": 5}})


def test_item_sets_have_few_transformations():
    sets = {"role": "quasi", "kind": "items"}
    assert "the column holds item sets" in refused({**sets, "transform": {"round": 5}})
    assert "the column holds item sets" in refused({**sets, "transform": {"truncate": "year"}})
    assert parse({**sets, "transform": {"truncate": 2}})


def test_roles():
    pseudonym = {"pseudonym": {"key": {"env": "K"}}}
    assert "an identifier is not released" in refused({"role": "identifier", "transform": "redact"})
    assert parse({"role": "identifier", "transform": pseudonym}).columns["x"].role == "insensitive"
    assert parse({"role": "identifier"}).columns["x"].role == "identifier"
    with pytest.raises(PolicyError, match="use pseudonym alone"):
        parse({"role": "subject", "transform": [pseudonym, {"truncate": 3}]}, name="p")
    with pytest.raises(PolicyError, match="the subject column shows pseudonyms"):
        parse({"role": "subject", "transform": pseudonym}, name="p", release={"subjects": "linked"})


@pytest.mark.parametrize(
    "step", [{"noise": 0.1}, {"swap": 0.1}, "shuffle", "redact", {"round": {"to": 5, "how": "random"}}]
)
def test_promises_are_not_counted_on_what_nobody_holds(step):
    promise = {"model": "l-diversity", "l": 2, "column": "x"}
    said = refused({"role": "sensitive", "transform": step}, require=[promise])
    assert "a promise is about this column" in said
    assert parse({"role": "sensitive", "transform": {"round": 5}}, require=[promise])


def test_samples():
    assert parse(insensitive({"round": 5}), sample={"share": 0.1}).sample is not None
    assert "Did you mean 'share'" in refused(insensitive({"round": 5}), sample={"shore": 0.1})
    for share in (0, 1, 2, "a tenth"):
        assert "sample.share" in refused(insensitive({"round": 5}), sample={"share": share})
    with pytest.raises(PolicyError, match="needs a column with role: subject"):
        Policy.parse(
            {
                "columns": {"q": {"role": "quasi"}},
                "require": [{"model": "k-anonymity", "k": 2}],
                "sample": {"share": 0.1, "per": "subject"},
            }
        )


def test_limits_that_exclude_each_other():
    said = refused(insensitive([{"top": 100}, {"bottom": 500}]))
    assert "all cells would show the same" in said
    assert parse(insensitive([{"bottom": 100}, {"top": 500}]))


def test_what_lacks_keys_is_shown_how():
    assert "pseudonym needs keys, such as {pseudonym: {key: {env: SUDARE_KEY}}}" in refused(insensitive("pseudonym"))
    assert "noise needs keys, such as {noise: {sd: 0.1}}" in refused(insensitive({"noise": None}))
    assert "0.05 is 5%" in refused(insensitive({"swap": 5}))
    assert "{share: 0.1}" in refused(insensitive({"round": 5}), sample=10)


@pytest.mark.parametrize("known", ["12ab", 12345678, "G" * 8, KEY])
def test_fingerprints_have_a_form(known):
    said = refused(insensitive({"pseudonym": {"key": {"env": "K", "fingerprint": known}}}))
    assert "8 hexadecimal digits" in said
    assert KEY not in said


def test_an_empty_transform_in_a_file_is_an_error(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("columns:\n  x: {role: quasi}\n  y:\n    role: insensitive\n    transform:\nrequire: []\n")
    with pytest.raises(PolicyError, match="is empty, so the column would be released as it is") as caught:
        Policy.load(path)
    assert len(caught.value.problems) == 2  # and that nothing is required
    assert parse(
        Policy.parse({"columns": BASE, "require": [{"model": "k-anonymity", "k": 2}]}).model_dump()["columns"]["q"]
    )
