"""`sudare view`: a release on the terminal, in other formats, and as numbers."""

from __future__ import annotations

import csv
import json

import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sudare

from .people import run


@pytest.fixture
def release(place):
    return place.released()


def view(*arguments):
    result = run("view", *arguments)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = run("view", *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_the_first_rows_are_shown(release):
    lines = view(release, "--rows", "3").splitlines()
    assert lines[0] == f"{release}: 6 rows, 4 columns"
    assert lines[2].split() == ["age", "zip", "job", "disease"]
    assert len(lines) == 7
    assert lines[-1] == "  ... and 3 rows (--rows) more"
    assert len(view(release).splitlines()) == 9
    assert view(release, "--quiet") == ""


def test_columns_that_do_not_fit_beside_each_other_stand_below(release, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    lines = view(release).splitlines()
    assert all(len(line) <= 30 for line in lines[1:])
    assert sum("disease" in line for line in lines) == 1
    assert lines.count("") >= 2


def test_long_and_odd_cells_are_shown_on_one_line(place):
    place.data("age,note\n" + "".join(f'{age},"{"x" * 50}"\n' for age in range(4)))
    rules = {"columns": {"age": {"role": "quasi"}, "note": {"role": "insensitive"}},
             "require": [{"model": "k-anonymity", "k": 2}]}  # fmt: skip
    release = place.released(place.folder / "people.csv", rules)
    assert "x" * 29 + "…" in view(release)
    assert "x" * 30 not in view(release)


@pytest.mark.parametrize(
    ("form", "read"),
    [("parquet", pq.read_table), ("feather", pyarrow.feather.read_table), ("csv", pyarrow.csv.read_csv)],
)
def test_a_release_is_converted(release, form, read):
    out = release.parent / f"other.{form}"
    assert view(release, "--out", out) == f"{out}: 6 rows, 4 columns. It is not a release: it has no certificate.\n"
    with release.open() as file:
        wanted = [tuple(row.values()) for row in csv.DictReader(file)]
    assert [tuple(map(str, row.values())) for row in read(out).to_pylist()] == wanted
    assert sorted(path.name for path in out.parent.iterdir()) == [
        *sorted([out.name, release.name, f"{release.name}.sudare.json"])
    ]


def test_text_is_printed(release):
    assert view(release, "--as", "csv") == release.read_text()
    rows = json.loads(view(release, "--as", "json"))
    assert rows == [json.loads(line) for line in view(release, "--as", "jsonl").splitlines()]
    assert list(rows[0]) == ["age", "zip", "job", "disease"]
    assert len(rows) == 6
    assert json.loads(view(release, "--as", "json", "--columns", "job,age", "--rows", "1"))[0].keys() == {"job", "age"}


def test_numbers_need_no_data(release, place):
    (place.folder / "people.csv").unlink()
    (place.folder / "policy.json").unlink()
    out = release.parent / "numbers.parquet"
    view(release, "--numeric", "--as", "parquet", "--out", out)
    assert pq.read_table(out).equals(sudare.numeric(release))
    out.unlink()
    view(release, "--numeric", "--ranges", "draw", "--seed", "7", "--everything", "missing", "--out", out, "--quiet")
    assert pq.read_table(out).equals(sudare.numeric(release, ranges="draw", seed=7, everything="missing"))
    rows = json.loads(view(release, "--numeric", "--ranges", "ends", "--columns", "age", "--as", "json"))
    assert all(row["age_low"] <= row["age_high"] for row in rows)
    shown = view(release, "--numeric", "--unchanged", "encode", "--most-categories", "5")
    assert "disease=xpox" in shown


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
def test_columns_that_show_nothing_do_not_lose_the_rows(place, form):
    place.data("age,job,note\n" + "".join(f"{age},{job},x\n" for age, job in enumerate("abcdef")))
    rules = {"columns": {"age": {"role": "quasi", "kind": "numeric", "hierarchy": "flat"},
                         "job": {"role": "quasi", "hierarchy": "flat"}, "note": {"role": "insensitive"}},
             "require": [{"model": "k-anonymity", "k": 6}], "method": {"name": "full-domain"}}  # fmt: skip
    release = place.released(place.folder / "people.csv", rules)
    out = release.parent / f"numbers.{form}"
    said = refused(release, "--numeric", "--columns", "job,age", "--out", out)
    assert said.startswith("sudare: columns: nothing can become a number. All cells of 'job', 'age' are hidden (*)")
    assert not out.exists()
    assert "All cells of 'job'" in refused(release, "--numeric", "--columns", "job", "--as", "csv")
    assert "All cells of 'age'" in refused(release, "--numeric", "--columns", "age")
    policy = place.folder / "kinds.json"
    policy.write_text(json.dumps(rules))
    assert f"{out}: 6 rows, 1 columns." in view(
        release, "--numeric", "--columns", "job,age", "--policy", policy, "--out", out
    )
    printed = view(release, "--numeric", "--columns", "age", "--policy", policy, "--as", "jsonl")
    assert [json.loads(line) for line in printed.splitlines()] == [{"age": None}] * 6


@pytest.mark.parametrize("more", [["--as", "csv"], ["--numeric"], ["--as", "tsv"], []])
def test_no_column_is_no_choice(release, more):
    assert refused(release, "--columns", " ,", *more).startswith("sudare: --columns: names no column. Hint: ")


def test_the_format_is_the_one_that_is_named(release):
    out = release.parent / "numbers.txt"
    view(release, "--numeric", "--as", "tsv", "--out", out)
    assert out.read_text().splitlines()[0].startswith("age\tzip")


def test_what_cannot_be_is_refused(release):
    assert "--as: 'parqet' is not a format" in refused(release, "--as", "parqet")
    assert "Did you mean 'parquet'?" in refused(release, "--as", "parqet")
    assert "--out: 'xyz' is not a format" in refused(release, "--out", release.parent / "x.xyz")
    assert "parquet cannot be printed. Hint: name a file" in refused(release, "--as", "parquet")
    taken = release.parent / "taken.csv"
    taken.write_text("mine")
    assert "exists already" in refused(release, "--out", taken)
    assert taken.read_text() == "mine"
    assert "there is no such folder" in refused(release, "--out", release.parent / "no" / "x.csv")
    said = refused(release, "--ranges", "ends", "--seed", "3", "--policy", "p.yaml")
    assert "3 problems" in said
    assert "--policy: has an effect only with --numeric." in said
    assert "has no column 'aeg'. Did you mean 'age'?" in refused(release, "--columns", "aeg")
    assert "ranges: got 'mean'" in refused(release, "--numeric", "--ranges", "mean")
    assert "at most 1 become columns" in refused(release, "--numeric", "--most-categories", "1")
    assert refused("nothere.csv").startswith("sudare: ")


def test_a_file_that_is_no_release_is_refused(release):
    release.write_text(release.read_text() + "1,2,3,4\n")
    assert "is not the file of its certificate" in refused(release, "--numeric")
    (release.parent / "release.csv.sudare.json").unlink()
    assert "the certificate of this release is missing" in refused(release)
