"""`sudare compare`: what it prints, its picture, stopping, and one clear message for each kind of bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from xml.etree import ElementTree

import pytest

from .people import ROWS, line, policy, text

MANY = text([*ROWS] * 10)


def run(place, *more, rules=None):
    return place.run("compare", place.data(MANY), "--policy", place.policy(rules), *more)


def refused(place, *more):
    result = run(place, *more)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("sudare: ") == 1
    return result.stderr


def test_a_table_of_ways(place):
    result = run(place, "--methods", "top-down,mondrian", "--sweep", "k=2,20", "--queries", "20")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "60 records, 4 configurations. 20 queries."
    assert [each.split(",")[0] for each in lines[2:6]] == ["top-down", "top-down", "mondrian", "mondrian"]
    assert run(place, "--methods", "top-down", "--quiet").stdout == ""


def test_as_json_with_costs(place):
    found = json.loads(run(place, "--methods", "top-down", "--sweep", "k=2,5", "--json").stdout)
    assert [way["swept"] for way in found["ways"]] == [{"k": 2}, {"k": 5}]
    assert found["ways"][0]["seconds"] > 0
    assert found["ways"][0]["risk"]["unit"] == "records"
    assert found["target"] is None
    assert found["stopped"] is None


def test_two_sweeps_and_words(place):
    found = json.loads(
        run(place, "--methods", "top-down", "--sweep", "k=2,5", "--sweep", "split=widest", "--json").stdout
    )
    assert [way["name"] for way in found["ways"]] == ["top-down, k=2, split=widest", "top-down, k=5, split=widest"]


def test_a_picture(place):
    path = place.folder / "frontier.svg"
    result = run(place, "--methods", "top-down", "--sweep", "k=2,20", "--picture", path)
    assert result.exit_code == 0, result.output
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert "exists already" in refused(place, "--picture", path)


def test_with_a_target(place):
    result = run(place, "--methods", "mondrian", "--target", "disease", "--folds", "2", "--queries", "5")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Predicting 'disease', 3 classes, from 60 records in 2 folds.")
    assert "60 records, 1 configuration. 5 queries." in result.stdout


def test_if_no_way_finishes_the_exit_code_says_so(place):
    result = run(place, "--sweep", "k=1000", "--methods", "top-down")
    assert result.exit_code == 1
    assert "no release" in result.stdout
    assert "falls short" in result.stdout
    assert run(place, "--methods", "top-down", "--time-limit", "0.000001").exit_code == 1
    assert run(place, "--sweep", "k=2,1000", "--methods", "top-down").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--sweep", "kk=2"], "'kk' is neither a parameter"),
        (["--sweep", "k"], "'k' is not a sweep. Hint: write k=2,5,10."),
        (["--sweep", "k=1"], "sweep.k: 1 is refused by all"),
        (["--methods", "mondrain"], "Did you mean 'mondrian'?"),
        (["--target", "age"], "'age' has role: quasi"),
        (["--time-limit", "-1"], "must be a number of seconds above 0"),
        (["--queries", "-1"], "must be a whole number from 0"),
    ],
)
def test_what_is_asked_wrongly(place, arguments, what):
    assert what in refused(place, *arguments)


def test_ctrl_c_shows_what_is_finished(place):
    place.policy(policy(method={"name": "l-clustering"}))
    data = place.data(text([*ROWS] * 5_000))
    ks = ",".join(map(str, range(2, 402)))
    given = ["compare", data, "--policy", place.folder / "policy.json", "--methods", "top-down", "--sweep", f"k={ks}"]
    for seconds in (8, 30, 120):
        with subprocess.Popen(
            line(*given, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            said, errors = process.communicate(timeout=600)
        if process.returncode == 0:  # else nothing was finished yet on so slow a machine
            break
    assert process.returncode == 0, errors
    found = json.loads(said)
    assert 0 < len(found["ways"]) < 400
    assert found["stopped"].startswith("stopped early")
