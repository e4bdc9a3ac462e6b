"""`sudare estimate`: what it prints, and one clear message for everything that is wrong."""

from __future__ import annotations

import json

import pytest

from .people import ROWS, policy, text

DISEASES = ("xpox", "xcold", "xulcer")


def rules(method, **more):
    return policy(require=[{"model": "l-diversity", "l": 2, "column": "disease"}], method={"name": method}, **more)


def crowd(times=20):
    """So many people that there is something to be told."""
    rows = [(*row[:4], DISEASES[number % 3]) for number, row in enumerate(ROWS * times)]
    return text(rows)


@pytest.fixture
def made(place):
    """Make a release by a method; return its path."""

    def make(method="dummies", name="release.csv", content=None):
        result = place.anonymize(place.data(content or crowd()), place.policy(rules(method)), out=name)
        assert result.exit_code == 0, result.output
        return place.out / name

    return make


def refused(place, *arguments):
    """Run on bad input; return the one message."""
    before = sorted(place.folder.rglob("*"))
    result = place.run("estimate", *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("sudare: ") and result.stderr.count("sudare: ") == 1
    assert sorted(place.folder.rglob("*")) == before
    return result.stderr.strip()


def asked(place, *arguments):
    """Run on good input; what is printed has values, since that is what was asked for."""
    kept, place.secrets = place.secrets, []
    result = place.run("estimate", *arguments)
    place.secrets = kept
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", ["release.csv", "release.tsv", "release.parquet", "release.arrow"])
@pytest.mark.parametrize(
    ("method", "estimator"), [("dummies", "em-shrunk"), ("anatomy", "groups"), ("mondrian", "spread")]
)
def test_counts_are_listed(place, made, method, estimator, name):
    said = asked(place, made(method, name), "--of", "disease", "--by", "job,age:10", "--where", "age=30..").splitlines()
    assert said[0].split() == ["job", "age", "disease", "estimate", "low", "high", "share", "records"]
    assert said[1].split()[0] == "qcook" and len({len(line) for line in said[1:4]}) <= 2
    meaning = {
        "dummies": "intervals contain the true count in 95% of cases",
        "anatomy": "low and high are bounds: the true count is always between them",
        "mondrian": "intervals contain the true count in 95% of cases, subject to the note",
    }
    assert f"by {estimator}; {meaning[method]}" in said


def test_json(place, made):
    found = json.loads(asked(place, made(), "--of", "disease", "--by", "job", "--estimator", "closed-form", "--json"))
    assert found["estimator"] == "closed-form" and found["level"] == 0.95 and found["by"] == ["job"]
    assert len(found["rows"]) == 9 and sum(row["estimate"] for row in found["rows"]) == pytest.approx(120)
    assert set(found["rows"][0]) == {"cell", "value", "estimate", "share", "se", "low", "high", "records", "few"}


def test_eps_level_and_several_conditions(place, made):
    options = ("--estimator", "bayes", "--eps", "0.001", "--level", "0.999", "--where", "job=qcook,qnurse", "--where")
    said = asked(place, made(), "--of", "disease", "--by", "job", *options, "age=..40")
    assert "intervals contain the true count in 99.9% of cases" in said and "qnurse" in said and "qcook" not in said


def test_lines_are_limited(place, made):
    said = asked(place, made(), "--of", "disease", "--by", "job", "--lines", "2").splitlines()
    assert len(said) == 5 and said[3].strip() == "... and 7 more (--lines, or --json)"


def test_quiet(place, made):
    assert asked(place, made(), "--of", "disease", "--quiet") == ""


def test_few_records_are_marked(place, made):
    said = asked(place, made(content=crowd(4)), "--of", "disease", "--by", "job")
    assert said.count("8.0 few") == 9


def test_a_picture(place, made):
    picture = place.folder / "estimates.svg"
    asked(place, made(), "--of", "disease", "--by", "job", "--picture", picture, "--quiet")
    assert picture.read_text(encoding="utf-8").startswith("<svg ")


def test_labels_of_hierarchies_are_spread_with_the_policy(place):
    tree = {"role": "quasi", "hierarchy": {"tree": {"care": ["qnurse", "qcook"], "law": ["qjudge"]}}}
    given = place.policy(rules("mondrian", columns={"job": tree}))
    place.anonymize(place.data(crowd()), given, out="r.csv")
    said = asked(place, place.out / "r.csv", "--of", "disease", "--by", "job", "--policy", given)
    assert {line.split()[0] for line in said.splitlines()[1:10]} == {"qnurse", "qcook", "qjudge"}


def test_letters_that_a_terminal_would_obey_are_not_printed(place):
    rows = [(*row[:3], "q\x1b[31mred", DISEASES[number % 3]) for number, row in enumerate(ROWS)]
    place.anonymize(place.data(text(rows)), place.policy(rules("dummies")), out="r.parquet")
    said = asked(place, place.out / "r.parquet", "--of", "disease", "--by", "job")
    assert "q\ufffd[31mred" in said and "\x1b" not in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--of", "diseas"), "of: 'diseas' is not a column of this release. Did you mean 'disease'?"),
        (("--of", "name"), "of: 'name' is not a column of this release."),
        (("--of", "disease", "--by", "name"), "by: 'name' is not a column of this release."),
        (("--of", "disease", "--by", "sex,age"), "by: 'sex' is not a column of this release."),
        (("--of", "disease", "--by", "disease"), "by: column 'disease' is the counted column"),
        (
            ("--of", "age", "--by", "disease"),
            "by: column 'disease' has hidden values, so counts cannot be grouped by it.",
        ),
        (("--of", "age", "--where", "disease=xpox"), "where: column 'disease' has hidden values"),
        (("--of", "disease", "--by", "job:10"), "by: column 'job' does not hold numbers, so it has no bands."),
        (("--of", "disease", "--by", "age:-5"), "by: '-5' is no width of bands"),
        (("--of", "disease", "--by", "age:year"), "by: column 'age' does not hold dates, so it has no year."),
        (("--of", "disease", "--where", "job"), "where: 'job' is not a condition."),
        (("--of", "disease", "--where", "job=1..5"), "where: column 'job' holds neither numbers nor dates"),
        (("--of", "disease", "--where", "age=a..b"), "where: the range of column 'age' must have numbers"),
        (("--of", "disease", "--where", "age=200.."), "where: no record of this release is in the requested cells"),
        (("--of", "disease", "--by", "job", "--where", "job=nobody"), "where: 'nobody' is not a value of column 'job'"),
        (("--of", "disease", "--level", "1"), "level: must be a number between 0 and 1; got 1.0."),
        (("--of", "disease", "--level", "-0.5"), "level: must be a number between 0 and 1; got -0.5."),
        (("--of", "disease", "--estimator", "me"), "estimator: 'me' is not an estimator for this release."),
        (("--of", "disease", "--eps", "1"), "eps: applies only to the estimator bayes."),
        (("--of", "disease", "--estimator", "bayes", "--eps", "-1"), "eps is -1.0; it must be a number above 0."),
        (("--of", "disease", "--policy", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_questions_that_make_no_sense(place, made, options, says):
    # the words of an analyst are no secrets
    place.secrets = [secret for secret in place.secrets if not any(secret in word for word in options)]
    assert says in refused(place, made(), *options)


def test_errors_in_json(place, made):
    result = place.run("estimate", made(), "--of", "name", "--json")
    error = json.loads(result.stdout)["error"]
    assert result.exit_code == error["exit_code"] == 2 and error["kind"] == "ParameterError"


def test_a_picture_that_is_there_already(place, made):
    picture = place.folder / "estimates.svg"
    picture.write_text("mine")
    assert "exists already" in refused(place, made(), "--of", "disease", "--picture", picture)
    assert picture.read_text() == "mine"
    assert "there is no such folder" in refused(place, made(), "--of", "disease", "--picture", place.folder / "a" / "b")


def test_a_generalized_column(place, made):
    said = refused(place, made("mondrian"), "--of", "age")
    assert "of: column 'age' is generalized; counts can be estimated only for unchanged columns." in said


def test_no_release(place, made):
    assert "there is no such file" in refused(place, place.out / "nothing.csv", "--of", "disease")
    assert "the certificate of this release is missing" in refused(place, place.data(), "--of", "disease")
    assert "is a folder" in refused(place, place.folder, "--of", "disease")


def test_a_release_without_its_certificate(place, made):
    release = made()
    (place.out / "release.csv.sudare.json").unlink()
    said = refused(place, release, "--of", "disease")
    assert "release.csv.sudare.json: the certificate of this release is missing." in said


def test_the_certificate_of_another_file(place, made):
    release = made()
    release.write_text(release.read_text() + '34,90411,qnurse,"xcold,xpox"\n')
    assert "release.csv: is not the file of its certificate." in refused(place, release, "--of", "disease")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "{}", '{"method": "dummies"}', '{"method": {"name": 4}}', "\udcff"]
)
def test_a_damaged_certificate(place, made, content):
    release = made()
    paper = place.out / "release.csv.sudare.json"
    paper.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert "is not a readable certificate" in refused(place, release, "--of", "disease")


@pytest.mark.parametrize("key", ["l", "values"])
@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_a_certificate_that_does_not_tell_enough(place, made, method, key):
    release = made(method)
    paper = place.out / "release.csv.sudare.json"
    certificate = json.loads(paper.read_text())
    del certificate["mechanism"]["columns"]["disease"][key]
    paper.write_text(json.dumps(certificate))
    said = refused(place, release, "--of", "disease")
    assert "certificate.mechanism.columns.disease: does not contain l and the values of the column." in said


def test_a_certificate_without_columns(place, made):
    release = made("mondrian")
    paper = place.out / "release.csv.sudare.json"
    certificate = json.loads(paper.read_text())
    del certificate["columns"]
    paper.write_text(json.dumps(certificate))
    assert "does not state how the columns were changed" in refused(place, release, "--of", "disease")


def test_a_second_table_that_is_not_there_or_another(place, made):
    release = made("anatomy")
    beside = place.out / "release.sensitive.csv"
    content = beside.read_text()
    beside.write_text(content + "1,xpox,9\n")
    said = refused(place, release, "--of", "disease")
    assert "release.sensitive.csv: is not the file of its certificate." in said
    beside.unlink()
    said = refused(place, release, "--of", "disease")
    assert "release: its second table, with the sensitive values by group, is missing." in said
    assert "90411" in asked(place, release, "--of", "zip")  # which does not need it
