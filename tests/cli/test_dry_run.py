"""Dry runs on the command line: the figures of the release, a readable table, and nothing that stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.cli.dry_run import WIDEST, cut, parts, show_preview
from sudare.core.text_tables import text_width

from .people import POLICY, line, policy, run, text, with_cell
from .test_terminal import EVIL, SHOWN, obeyed

ONLY_OF_A_RELEASE = ("certificate", "date", "versions", "randomness", "policy_sha256", "release_sha256", "seconds")


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    """A folder for temporary files, of which none may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def dry(place, data, rules, *more):
    """Make a dry run, which may change nothing in the folder."""
    before = {path: path.stat().st_mtime_ns for path in place.folder.rglob("*") if "temporary" not in path.parts}
    result = run("anonymize", data, "--policy", rules, *more)
    after = {path: path.stat().st_mtime_ns for path in place.folder.rglob("*") if "temporary" not in path.parts}
    assert after == before
    assert not obeyed(result.output)
    return result


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_nothing_is_written_and_the_figures_are_those_of_the_release(place, ending):
    data, rules, out = place.data(), place.policy(), place.out / f"release.{ending}"
    result = dry(place, data, rules, "--dry-run", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    made = json.loads(place.anonymize(data, rules, "--json", out=out.name).stdout)
    assert found.pop("release") is None
    assert found.pop("memory") > 1 << 20
    rows = found.pop("rows")
    assert found.pop("seconds").keys() == made["seconds"].keys()
    assert found == {key: value for key, value in made.items() if key not in ("release", *ONLY_OF_A_RELEASE)}
    assert len(rows) == 6
    assert set(rows[0]) == {"age", "zip", "job", "disease"}


def test_an_older_release_stays_as_it_is(place):
    released = place.released()
    result = dry(place, place.data(), place.policy(), "--dry-run", "--out", released)
    assert result.exit_code == 0
    assert "The first 6 rows of the release:" in result.stdout


@pytest.mark.parametrize("name", ["release.csv", "release.parquet", None])
def test_rows_are_those_of_the_release(place, name):
    rules = policy({"disease": {"role": "insensitive"}})
    rows = with_cell("disease", "=1+1")
    data = place.data(text(rows))
    place.policy(rules)
    out = None if name is None else place.out / name
    preview = sudare.preview(data, rules, out=out, rows=4, seed=3)
    made = sudare.anonymize(data, rules, out=out, seed=3)
    if name == "release.csv":
        texts = pa.csv.ConvertOptions(column_types=dict.fromkeys(preview.rows.column_names, pa.string()))
        released = pa.csv.read_csv(out, convert_options=texts)
        assert "'=1+1" in (out.read_text(encoding="utf-8"))
    else:
        released = made.data if out is None else pa.parquet.read_table(out)
    assert preview.rows.to_pylist() == released.slice(0, 4).to_pylist()
    assert preview.loss == made.loss
    assert repr(preview).startswith("<sudare.Preview: 6 of 6 records")


def test_frames_come_back_as_what_they_were():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [20, 21, 22, 50, 51, 52] * 3, "when": pandas.to_datetime(["2024-01-05"] * 18)})
    rules = {
        "columns": {"age": {"role": "quasi"}, "when": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 3}],
    }
    preview = sudare.preview(frame, rules, rows=5, seed=1)
    assert preview.rows.equals(sudare.anonymize(frame, rules, seed=1).data.head(5))
    assert json.dumps(preview.to_dict())
    assert preview.to_dict()["rows"][0]["when"] == "2024-01-05T00:00:00"


def test_the_second_table_is_shown_too(place):
    columns = {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "job": {"role": "quasi"}}
    columns |= {"disease": {"role": "sensitive"}, "name": {"role": "identifier"}}
    rules = {
        "columns": columns,
        "require": [{"model": "l-diversity", "l": 2, "column": "disease"}],
        "method": {"name": "anatomy"},
    }
    data = place.data()
    result = dry(place, data, place.policy(rules), "--preview", 3, "--out", place.out / "release.csv")
    assert result.exit_code == 0, result.output
    assert "The first 3 rows of the release:" in result.stdout
    assert "The first 3 rows of its second table:" in result.stdout
    assert "Do not give these rows to anyone beside" in result.stdout


def test_a_preview_alone_is_a_dry_run_and_says_how_many_rows(place):
    result = dry(place, place.data(), place.policy(), "--preview", 2)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Dry run, nothing was written: 6 of 6 records in ")
    at = lines.index("The first 2 rows of the release:")
    assert lines[at + 1].split() == ["age", "zip", "job", "disease"]
    assert len(lines) == at + 4
    assert any(one.startswith("  suppressed: 0 of 6 records") for one in lines)
    assert "Loss by column:" in lines
    assert dry(place, place.data(), place.policy(), "--dry-run", "--quiet").output == ""


@pytest.mark.parametrize(
    ("rules", "more", "code", "said"),
    [
        (policy(require=[{"model": "k-anonymity", "k": 7}]), (), 1, "the table has 6 records"),
        ({**POLICY, "columns": {}}, (), 2, "columns"),
        (POLICY, ("--sign", "key"), 2, "--sign: has no effect in a dry run"),
        (POLICY, ("--plan", "levels.json"), 2, "--plan: has no effect in a dry run"),
        (POLICY, ("--out", "nowhere/release.csv"), 2, "there is no such folder"),
        (POLICY, ("--out", "release.doc"), 2, "is not a file ending for a release"),
        (POLICY, ("--preview", "0"), 2, "--preview"),
        (POLICY, ("--preview", "1001"), 2, "--preview"),
        (POLICY, ("--method", "nothing"), 2, "is not a method"),
    ],
)
def test_bad_input_has_the_exit_code_of_a_release(place, rules, more, code, said):
    result = dry(place, place.data(), place.policy(rules), "--dry-run", *more)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert result.stdout == ""


def test_the_source_is_no_target_in_a_dry_run_either(place):
    data = place.data()
    result = dry(place, data, place.policy(), "--dry-run", "--out", data)
    assert result.exit_code == 2
    assert "is the source itself" in result.stderr


@pytest.mark.parametrize("rows", [0, -1, 1001, True, 2.5, "3"])
def test_numbers_of_rows_that_are_none(rows):
    with pytest.raises(sudare.SudareError, match="rows: must be a whole number from 1 to 1000"):
        sudare.preview(pa.table({name: [1, 1] for name in POLICY["columns"]}), POLICY, rows=rows)


def test_without_a_place_there_is_no_release(place):
    result = run("anonymize", place.data(), "--policy", place.policy())
    assert result.exit_code == 2
    assert "--out: is missing. Hint: " in result.stderr


def test_cells_cannot_command_the_terminal(place):
    rules = policy({"disease": {"role": "insensitive"}})
    data = place.folder / "people.parquet"
    pa.parquet.write_table(
        pa.table({"age": [1, 2, 3, 4], "zip": ["90411"] * 4, "job": ["a"] * 4, "name": ["x"] * 4,
                  "disease": [EVIL, "a\nb", "二" * 300, "e\u0301" * 2000]}), data
    )  # fmt: skip
    result = dry(place, data, place.policy(rules), "--dry-run", "--out", place.out / "release.parquet")
    assert result.exit_code == 0, result.output
    assert "\\u001b" not in result.stdout
    assert "�]0:owned�" in result.stdout
    assert len(result.stdout.split("The first 4 rows of the release:\n")[1].splitlines()) == 5
    assert SHOWN not in result.stdout
    said = dry(place, data, place.policy(rules), "--dry-run", "--json", "--out", place.out / "release.parquet")
    assert EVIL in {row["disease"] for row in json.loads(said.stdout)["rows"]}


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(place, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    names = [f"column {number}" for number in range(30)]
    row = {name: "糖尿病 " * (place % 5) for place, name in enumerate(names)}
    found = sudare.preview(place.data(), place.policy()).to_dict()
    show_preview(found | {"rows": [row, row], "loss_by_column": {name: {"gcp": 0.5} for name in names}})
    table = capsys.readouterr().out.split("Loss by column:\n")[1].splitlines()
    assert max(text_width(one) for one in table if not one.startswith(("The first", "note"))) <= width
    assert sum(one.count("column 29") for one in table) == 2


cells = st.lists(st.lists(st.text(max_size=60), min_size=3, max_size=3), min_size=1, max_size=4)


@settings(max_examples=100)
@given(cells, st.integers(5, 100))
def test_parts_have_every_column_once_and_fit(rows, width):
    shown = parts([[cut(cell, WIDEST) for cell in row] for row in rows], width)
    assert sum(len(part[0]) for part in shown) == 3
    assert all(len(part) == len(rows) for part in shown)
    room = max(width, 10)
    for part in shown:
        widths = [max(text_width(row[place]) for row in part) for place in range(len(part[0]))]
        assert sum(widths) + 2 * len(widths) <= room


@given(st.text(), st.integers(2, 50))
def test_what_is_cut_is_short_and_says_so(given_text, most):
    found = cut(given_text, most)
    assert text_width(found) <= most
    assert found == given_text or found.endswith("…")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes a second or two."""
    folder, draw = tmp_path_factory.mktemp("table"), np.random.default_rng(1)
    cells = {"age": draw.integers(0, 90, 100_000), "zip": draw.integers(10_000, 99_999, 100_000)}
    pyarrow.csv.write_csv(pa.table(cells), folder / "people.csv")
    columns = {name: {"role": "quasi"} for name in cells}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 5}]}
    (folder / "policy.json").write_text(json.dumps(rules), encoding="utf-8")
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals from other processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_removes_private_files(large, private, number):
    """As soon as the private folder is there, and once more when rows are in it."""
    environment = {**os.environ, "TMPDIR": str(private)}
    given = line("anonymize", large / "people.csv", "--policy", large / "policy.json", "--dry-run", "--memory", "500MB")
    for wanted in (".sudare-tmp-*", ".sudare-tmp-*/release.*"):
        with subprocess.Popen(
            given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            until = time.monotonic() + 300
            while not list(private.glob(wanted)) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.005)
            process.send_signal(number)
            said = process.communicate(timeout=600)
        assert list(private.iterdir()) == []
        if process.returncode:  # else it was quicker than the signal
            assert process.returncode == 128 + number
            assert said == ("", "sudare: stopped; no unfinished files were left behind.\n")
    assert sorted(path.name for path in large.iterdir()) == ["people.csv", "policy.json"]
