"""`sudare risk`: what it prints, and one clear message for each kind of bad input."""

from __future__ import annotations

import json

import pytest

from .people import POLICY, ROWS, policy, text

RULES = policy()


def run(place, *more, rules=None):
    return place.run("risk", place.data(), "--policy", place.policy(rules), *more)


def refused(place, *more, rules=None):
    result = run(place, *more, rules=rules)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("sudare: ") == 1
    return result.stderr


def test_a_table_alone(place):
    result = run(place)
    assert result.exit_code == 0, result.output
    assert "6 records. The intruder knows age, zip, job." in result.stdout
    assert "unique records" in result.stdout
    for criterion in ("singling out: before", "linkability: before", "inference: before"):
        assert criterion in result.stdout
    assert "after" not in result.stdout


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_before_and_after(place, name):
    release = place.released(out=name)
    result = run(place, "--release", release)
    assert result.exit_code == 0, result.output
    assert "6 records; 6 released." in result.stdout
    assert "before  " in result.stdout
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["smallest", "class", "1", "3"] in lines  # two classes of three: round ends make more of them alike
    assert "linkage attack, after: " in result.stdout


def test_as_json(place):
    release = place.released()
    result = run(
        place, "--release", release, "--json", "--fraction", "0.5", "--columns", "age, job", "--target", "disease"
    )
    found = json.loads(result.stdout)
    assert found["columns"] == ["age", "job"]
    assert found["after"]["records"]["smallest"] >= 2
    assert found["wp216"]["singling_out"]["after"]["success"] == 0
    assert found["before"]["uniqueness"]["fraction"] == 0.5
    assert set(found["before"]) == {"records", "people", "journalist", "uniqueness", "singling_out", "linkage"}
    assert run(place, "--quiet").stdout == ""


def test_a_population_from_a_file(place):
    everybody = place.data(text([*ROWS, *ROWS]), name="everybody.csv")
    result = run(place, "--population", everybody, "--most-columns", "2")
    assert result.exit_code == 0, result.output
    assert "journalist, from a population table (12 records):" in result.stdout
    assert "combinations of up to 2 columns" in result.stdout


def test_a_release_that_does_not_belong_to_the_data(place):
    release = place.released()
    place.data(text([*ROWS, ROWS[0]]), name="more.csv")
    result = place.run("risk", place.folder / "more.csv", "--policy", place.policy(), "--release", release)
    assert result.exit_code == 2
    assert "was made of 6 records, and the data has 7" in result.stderr
    assert "not a release of this data" in result.stderr
    said = refused(place, "--release", release, rules=policy(require=[{"model": "k-anonymity", "k": 3}]))
    assert "was made under another policy" in said
    assert "certificate of this release is missing" in refused(place, "--release", place.data(name="other.csv"))


def test_a_missing_population_file(place):
    assert "nowhere.csv: there is no such file." in refused(place, "--population", "nowhere.csv")


def test_one_column_only(place):
    assert "knows one column cannot combine columns; got 'age'" in refused(place, "--columns", "age")
    rules = {"columns": {"age": {"role": "quasi"}}, "require": POLICY["require"]}
    assert "give more columns of the policy the role quasi" in refused(place, rules=rules)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--columns", "age,name"], "'name' has role: identifier"),
        (["--target", "age"], "'age' is not a sensitive or insensitive column"),
        (["--fraction", "1.5"], "above 0, up to 1; got 1.5"),
        (["--fraction", "0.5", "--population", "people.csv"], "together with a population table"),
        (["--most-columns", "0"], "from 1 to 8; got 0"),
    ],
)
def test_what_is_asked_wrongly(place, arguments, what):
    assert what in refused(place, *arguments)
