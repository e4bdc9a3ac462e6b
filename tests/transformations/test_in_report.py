"""The report on a release with transformed columns: what was done, what it guarantees, and no value of a person."""

from __future__ import annotations

import json

import pytest

import sudare
from sudare.policy.transformation_spec import TRANSFORMATIONS
from sudare.releases.warnings import about_transformations
from sudare.reports.transformation_words import figures_in_words, in_words, pseudonym_form

from .every_step import KEY, NAMED, RULES, people, rules


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SUDARE_TEST_KEY", KEY)


def made(given=RULES, rows=800):
    data = people(rows)
    release = sudare.anonymize(data, given, seed=1)
    return release, sudare.report(release, data, given)


def column(report, name):
    return next(each for each in report.figures["columns"] if each["name"] == name)


def test_every_transformation_is_in_the_policy_of_these_tests_and_on_the_page():
    steps = [spec["transform"] for spec in RULES["columns"].values() if "transform" in spec]
    flat = [each for step in steps for each in (step if isinstance(step, list) else [step])]
    assert {each if isinstance(each, str) else next(iter(each)) for each in flat} == set(TRANSFORMATIONS)
    release, report = made()
    assert "What was done to columns before" in report.html
    told = report.figures["transformations"]
    assert {each["transformation"] for each in told} == set(TRANSFORMATIONS)
    assert len(told) == len(release.certificate["transformations"])
    for each in told:
        assert each["guarantees"] in report.html.replace("&#39;", "'").replace("&#34;", '"')
    assert report.figures["unmatched"] == []
    assert json.loads(json.dumps(report.figures, default=str))


def test_nothing_is_said_of_transformations_where_there_are_none():
    given = {**RULES, "columns": {name: {"role": spec["role"]} for name, spec in RULES["columns"].items()}}
    _, report = made(given, 200)
    assert "What was done to columns before" not in report.html
    assert report.figures["transformations"] == []


@pytest.mark.parametrize("with_key", [True, False])
def test_no_pseudonym_no_key_and_no_value_of_a_person_is_on_the_page(with_key, monkeypatch):
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    if not with_key:
        monkeypatch.delenv("SUDARE_TEST_KEY")
    report = sudare.report(release, data, RULES)
    text = report.html + json.dumps(report.figures, default=str)
    assert KEY not in text
    shown = {each for cells in release.data["drugs"].to_pylist() for each in cells}
    hidden = {*release.data["visit"].to_pylist(), *shown, *data["visit"].to_pylist(), *data["note"].to_pylist()}
    assert not [each for each in hidden if each in text]
    assert bool(report.figures["unmatched"]) is not with_key
    assert report.html.count("is not here, so what depends on it") == (0 if with_key else 3)


def test_a_pseudonym_is_not_called_unchanged():
    _, report = made()
    visit = column(report, "visit")
    assert visit["parts"] is None
    assert visit["notes"] == ["Pseudonyms: 16 characters of 0 to 9 and a to f. None of them is shown here."]
    card = report.html.split("<h3>visit</h3>")[1].split("</article>")[0]
    assert "shown as a pseudonym" in card
    assert "unchanged" not in card


def test_columns_are_compared_before_and_after_their_steps():
    _, report = made()
    age = column(report, "age")
    beyond = next(each for each in report.figures["transformations"] if each["column"] == "age")["beyond"]
    assert 0.05 < beyond < 0.2
    # the top bin has everybody beyond the limit, after as before
    assert sum(part["before"] for part in age["done"]) == pytest.approx(1, abs=1e-4)
    assert sum(part["after"] for part in age["done"]) == pytest.approx(1, abs=1e-4)
    band = column(report, "debt")["done"]
    assert sum(part["after"] for part in band) == pytest.approx(1, abs=1e-4)
    assert column(report, "born")["done"] is not None
    for name in ("zip", "height", "beds", "visit"):  # first characters have no axis, and draws are compared elsewhere
        assert not column(report, name).get("done")
    assert report.html.count("Before and after the transformation, in the data") == 5


def test_drawn_columns_say_how_they_were_compared():
    _, report = made()
    notes = {each["name"]: " ".join(each["notes"]) for each in report.figures["columns"]}
    assert "Mean 170 before and" in notes["height"]
    assert "cannot be compared one by one" in notes["height"]
    assert "in other records" in notes["beds"]
    assert "in other records" in notes["town"]
    assert column(report, "beds")["distance"] < 0.05  # the values are the same, but for suppressed records


def test_few_beyond_a_limit_are_not_counted():
    given = rules(age={"role": "quasi", "kind": "numeric", "transform": {"top": 98}})
    data = people(120)
    count = sum(each > 98 for each in data["age"].to_pylist())
    assert 0 < count < 4
    report = sudare.report(sudare.anonymize(data, given, seed=1), data, given)
    step = next(each for each in report.figures["transformations"] if each["column"] == "age")
    assert step["beyond"] is None


def test_a_sample_says_how_many_records_were_taken():
    release, report = made({**RULES, "sample": {"share": 0.5}})
    assert report.figures["records"]["source"] == 800
    assert report.figures["records"]["sampled"] in (
        release.certificate["rows_in"],
        round(release.certificate["rows_in"] / 4) * 4,
    )
    assert "records in the sample" in report.html
    assert "each person was taken with a probability of 50%" in report.html


# -- words and warnings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "figures", "words"),
    [
        ("pseudonym", {"form": "digits", "length": 12, "space": "s"}, {}, "12 characters of 0 to 9"),
        ("shift", {"days": 30}, {}, "at most 30 forwards"),
        ("top", {"at": 89, "shows": "90+"}, {}, "Values above 89 show “90+”."),
        ("bottom", {"at": 18}, {}, "Values below 18 show 18."),
        ("top", {"share": 0.05}, {"limit": 40_000}, "Values above 40,000 show 40,000."),
        ("top", {"share": 0.05}, {}, "The largest 5% of the values"),
        ("round", {"to": 5.0, "how": "random"}, {}, "multiples of 5: the multiple above or below, at random"),
        ("truncate", {"to": "month"}, {}, "Dates show their month."),
        ("truncate", {"keep": 1}, {}, "first 1 character."),
        ("band", {"edges": [18.0, 40.0, 65.0]}, {}, "between 18, 40 and 65"),
        ("band", {"width": 5.0}, {}, "of width 5"),
        ("mask", {"keep_first": 1, "keep_last": 2, "with": "#"}, {}, "but the first 1 and the last 2 show #."),
        ("replace", {"else": "null"}, {}, "Other values become empty cells."),
        ("redact", {}, {}, "Every cell is empty."),
        ("noise", {"sd": 0.1, "kind": "normal", "correlated_with": ["a"]}, {}, "correlated with a"),
        ("noise", {"scale": 0.2, "kind": "multiplicative"}, {}, "multiplied by a random factor"),
        ("noise", {"scale": 2.0, "kind": "laplace", "bounds": [0.0, 9.0], "keep_total": True}, {}, "within 0 and 9"),
        ("swap", {"within": 0.05}, {}, "at most 5% of the ranks"),
        ("shuffle", {"within": ["sex", "age"]}, {}, "records that agree on sex and age"),
        ("shuffle", {}, {}, "the whole table"),
        ("sample", {"share": 0.1, "per": "record"}, {}, "each record was taken with a probability of 10%"),
    ],
)
def test_words(name, given, figures, words):
    assert words in in_words(name, given, figures)


def test_figures_and_forms():
    told = figures_in_words({"error_variance": 0.73, "inflation": 1.04, "rounded": True, "bounded": False, "groups": 1})
    assert told == "variance of the error 0.73; all covariances grow by the factor 1.04; numbers stay whole; in 1 group"
    assert pseudonym_form({"form": "base32"}) == "13 characters of a to z and 2 to 7"


def test_warnings():
    plain = about_transformations(sudare.load_policy(RULES))
    assert [each.kind for each in plain] == ["pseudonyms"]
    assert plain[0].columns == ("visit", "drugs")
    weak = rules(
        height={"role": "insensitive", "transform": {"noise": {"sd": 0.05}}},
        beds={"role": "insensitive", "transform": {"swap": 0.005}},
        admitted={"role": "insensitive", "transform": {"shift": {"days": 9}}},
        debt={"role": "insensitive", "transform": {"noise": {"scale": 0.02, "kind": "multiplicative"}}},
    )
    found = about_transformations(sudare.load_policy({**weak, "sample": {"share": 0.5}}))
    assert [each.kind for each in found] == [
        "pseudonyms", "forgotten-shift", "small-noise", "small-noise", "small-swap", "sample"
    ]  # fmt: skip
    assert {name for each in found for name in each.columns} == {
        "visit", "drugs", "admitted", "height", "debt", "beds"
    }  # fmt: skip
    fine = rules(visit=None, drugs=None)
    assert about_transformations(sudare.load_policy(fine)) == []


def test_warnings_are_in_the_certificate_and_pass_the_audit(tmp_path):
    given = rules(height={"role": "insensitive", "transform": {"noise": {"sd": 0.05}}})
    out = tmp_path / "release.parquet"
    release = sudare.anonymize(people(300), given, out=out, seed=1)
    kinds = [each["kind"] for each in release.certificate["warnings"]]
    assert "pseudonyms" in kinds
    assert "small-noise" in kinds
    sudare.audit(out, given).raise_if_failed()


# -- other verbs ------------------------------------------------------------------------------------------------------


def test_a_comparison_says_what_was_done_before_and_repeats_it_by_its_seed():
    data = people(400)
    given = {**rules(age={"role": "quasi", "transform": {"noise": {"sd": 0.2}}}), "sample": {"share": 0.9}}
    found = sudare.compare(data, given, methods=["top-down", "mondrian"], sweep={"k": [3, 6]}, queries=20)
    assert found.finished == 4
    assert any("age (noise)" in note and "pay (top, round)" in note for note in found.notes)
    assert any("one random sample of 90%" in note for note in found.notes)
    assert "transformed before: " in str(found)
    assert found.records < 400
    again = sudare.compare(data, given, methods=["top-down", "mondrian"], sweep={"k": [3, 6]}, queries=20)
    assert again.to_dict() == found.to_dict()


def test_a_notebook_shows_what_was_done():
    release = sudare.anonymize(people(300), RULES, seed=1)
    shown = release._repr_html_()
    assert "Transformed before: visit (pseudonym), age (top), " in shown
    assert "<td>transformation</td>" not in shown


def test_terminal_and_view_say_what_was_done(tmp_path, capsys):
    from sudare.cli.terminal import show_release
    from sudare.releases.certificate import Certificate

    given = {**rules(), "sample": {"share": 0.9}}
    out = tmp_path / "release.parquet"
    release = sudare.anonymize(people(300), given, out=out, seed=1)
    told = Certificate.from_dict(release.certificate).transformed
    assert told.startswith("visit (pseudonym), age (top), ")
    assert told.endswith("disease (replace), a random sample of 90%")
    show_release(str(out), release.certificate)
    lines = capsys.readouterr().out.splitlines()
    assert f"  transformed before: {told}" in lines
    assert "  proven: cells of age after top. Every value is a number up to 89, or missing." in lines
    assert [line for line in lines if line.startswith("  not proven: cells of beds after swap. Nothing follows")]

    from typer.testing import CliRunner

    from sudare.cli.commands import app

    shown = CliRunner().invoke(app, ["view", str(out)])
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[-1] == f"transformed before: {told}"
    assert NAMED["env"] not in shown.stdout
