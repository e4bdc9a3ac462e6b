"""`sudare report`: a page where it was asked for, and one message where it cannot be."""

import json

import pytest

from .people import ROWS, policy, text

SECRET = "Qzweighaupt"


@pytest.fixture
def made(place):
    """A release of a table with a rare disease."""
    rows = [
        (f"{SECRET} {n}", 20 + n % 40, f"904{n % 9:02d}", "qcook" if n % 2 else "qjudge", "xcold") for n in range(200)
    ]
    rows[3] = (*rows[3][:4], "xsecretpox")
    place.secrets = [SECRET, "xsecretpox"]  # what many share may be shown
    data = place.data(text(rows))
    given = place.policy()
    assert place.anonymize(data, given).exit_code == 0
    return data, given, place.out / "release.csv"


def report(place, made, *more, out="report.html", data=None, rules=None):
    return place.run("report", made[2], "--data", data or made[0], "--policy", rules or made[1],
                     "--out", place.out / out, *more)  # fmt: skip


def refused(place, made, **others):
    before = sorted(place.folder.rglob("*"))
    result = report(place, made, **others)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("sudare: ") == 1
    assert sorted(place.folder.rglob("*")) == before
    return result.stderr


def test_a_page_is_written_and_said_to_be(place, made):
    result = report(place, made)
    assert result.exit_code == 0, result.output
    page = (place.out / "report.html").read_text(encoding="utf-8")
    assert f"{place.out / 'report.html'}: 3 of 3 promises hold, with 2 warnings; 4 columns described." in result.stdout
    assert "Report on release.csv" in page
    assert "made of people.csv, under the policy policy.json" in page
    assert SECRET not in page
    assert "xsecretpox" not in page


def test_an_older_page_is_replaced(place, made):
    (place.out / "report.html").write_text("older")
    assert report(place, made, "--quiet").stdout == ""
    assert "older" not in (place.out / "report.html").read_text(encoding="utf-8")[:20]


def test_json_has_the_figures(place, made):
    result = report(place, made, "--json")
    found = json.loads(result.stdout)
    assert found["report"] == str(place.out / "report.html")
    assert found["threshold"] == 3
    assert [column["name"] for column in found["columns"]] == ["age", "zip", "job", "disease"]


def test_other_data_is_refused(place, made):
    other = place.data(text(ROWS), "other.csv")
    said = refused(place, made, data=other)
    assert "release: was made of 200 records, and the data has 6: it is not a release of this data. Hint: " in said


def test_another_policy_is_refused(place, made):
    other = place.policy(policy(require=[{"model": "k-anonymity", "k": 3}]), "other.json")
    assert "release: was made under another policy than this one." in refused(place, made, rules=other)


def test_a_release_that_was_changed_is_refused(place, made):
    with made[2].open("a", encoding="utf-8") as file:
        file.write("44,90411,qcook,xcold\n")
    assert "is not the file of its certificate" in refused(place, made)


def test_a_release_without_its_certificate_is_refused(place, made):
    (place.out / "release.csv.sudare.json").unlink()
    assert "the certificate of this release is missing" in refused(place, made)


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(place, made):
    assert "there is no such folder" in refused(place, made, out="none/report.html", data=place.folder / "gone.csv")


def test_data_that_is_not_there(place, made):
    assert "there is no such file" in refused(place, made, data=place.folder / "gone.csv")


def test_the_release_is_not_overwritten(place, made):
    assert "is an input of the report" in refused(place, made, out="release.csv")
