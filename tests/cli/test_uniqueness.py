"""Records that are unique by columns which no promise is about: what the commands say, against pandas."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import sudare
from sudare.cli import app

QUASI, PLAIN = ["race", "gender", "age"], ["admission_type", "time_in_hospital", "diagnoses", "drugs"]


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    """Encounters of a hospital under a policy that looks sensible, and their release."""
    folder = tmp_path_factory.mktemp("hospital")
    table = sudare.datasets.diabetes()
    for place, name in enumerate(table.column_names):
        if name in ("diagnoses", "drugs") and not pd.api.types.is_string_dtype(
            table.column(name).type.to_pandas_dtype()
        ):
            joined = ["+".join(items or ()) for items in table.column(name).to_pylist()]
            table = table.set_column(place, name, [joined])
    csv.write_csv(table, folder / "data.csv")
    policy = {
        "columns": {
            "encounter": {"role": "identifier"},
            "patient": {"role": "identifier"},
            **{name: {"role": "quasi"} for name in QUASI},
            **{name: {"role": "insensitive"} for name in PLAIN},
            "readmitted": {"role": "sensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 10}],
    }
    (folder / "policy.json").write_text(json.dumps(policy))
    made = run("anonymize", folder / "data.csv", "-p", folder / "policy.json", "-o", folder / "release.csv")
    assert made.exit_code == 0
    return folder, policy, made.stdout


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def unique(folder, names):
    frame = pd.read_csv(folder / "release.csv", dtype=str, keep_default_na=False)
    return float((~frame.duplicated(list(names), keep=False)).mean())


def sentences(folder):
    """What has to be said of the release, from what pandas counts."""
    together, alone = unique(folder, [*QUASI, *PLAIN]), unique(folder, PLAIN)
    assert 0.5 < alone < together < 0.999
    return (
        f"{100 * together:.1f}% of the records are unique by quasi-identifiers and insensitive columns together",
        f"{100 * alone:.1f}% of the records are unique by insensitive columns alone",
    )


def test_verdicts_and_warnings_are_one_line(hospital, tmp_path):
    folder, _, said = hospital
    count = len(json.loads((folder / "release.csv.sudare.json").read_text())["warnings"])
    assert count > 1
    assert said.splitlines()[0].endswith(f"The policy's promises hold, with {count} warnings.")
    given = (folder / "release.csv", "-p", folder / "policy.json")
    audited = run("audit", *given)
    assert audited.stdout.startswith(f"{folder / 'release.csv'} keeps its policy, with {count} warnings: ")
    made = run("report", *given, "--data", folder / "data.csv", "-o", tmp_path / "report.html")
    assert f"promises hold, with {count} warnings; " in made.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    line = page.partition('aria-label="Verdict">')[2].partition("</li>")[0]
    assert 'class="verdict judge"' in line
    assert f"with {count} warnings" in line
    report = sudare.audit(folder / "release.csv", folder / "policy.json")
    assert f"The audit passed, with {count} warnings" in report._repr_html_()


def test_verdicts_with_warnings_have_their_colour_on_a_terminal(hospital, tmp_path):
    folder, _, _ = hospital
    words = ["audit", str(folder / "release.csv"), "-p", str(folder / "policy.json")]
    lines = CliRunner().invoke(app, words, color=True).stdout.splitlines()
    assert lines[0].startswith("\x1b[33m")
    assert all(line.startswith("\x1b[33m") == (" warning: " in line) for line in lines[1:])


def test_anonymize_says_how_many_records_are_unique(hospital):
    folder, _, said = hospital
    assert all(f"warning: {sentence}" in said for sentence in sentences(folder))
    certificate = json.loads((folder / "release.csv.sudare.json").read_text())
    for one in certificate["warnings"]:
        if one["kind"].startswith(("unique", "nearly")):
            assert one["figures"]["share"] == round(unique(folder, one["columns"]), 3)
    kinds = [one["kind"] for one in certificate["warnings"]]
    assert kinds[:2] == ["unique-released", "unique-insensitive"]
    assert {"unique-column", "unique-combination"} & set(kinds)


def test_audit_says_the_same_without_a_certificate(hospital, tmp_path):
    folder, _, said = hospital
    (tmp_path / "alone.csv").write_bytes((folder / "release.csv").read_bytes())
    found = run("audit", tmp_path / "alone.csv", "-p", folder / "policy.json")
    assert found.exit_code == 0
    told = [line for line in said.splitlines() if "warning:" in line]
    assert [line for line in found.stdout.splitlines() if "warning:" in line] == told
    assert all(sentence in found.stdout for sentence in sentences(folder))


def test_an_audit_fails_if_the_certificate_keeps_silent(hospital, tmp_path):
    folder, _, _ = hospital
    certificate = json.loads((folder / "release.csv.sudare.json").read_text()) | {"warnings": []}
    (tmp_path / "release.csv").write_bytes((folder / "release.csv").read_bytes())
    (tmp_path / "release.csv.sudare.json").write_text(json.dumps(certificate))
    found = run("audit", tmp_path / "release.csv", "-p", folder / "policy.json")
    assert found.exit_code == 1
    assert "certificate.warnings" in found.output


def test_risk_has_the_figures_and_takes_any_released_column(hospital):
    folder, _, _ = hospital
    asked = ("risk", folder / "data.csv", "-p", folder / "policy.json", "-r", folder / "release.csv")
    found = run(*asked, "--columns", "gender,time_in_hospital,drugs", "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["unique"]["after"]["together"] == pytest.approx(unique(folder, [*QUASI, *PLAIN]))
    assert told["unique"]["after"]["insensitive"] == pytest.approx(unique(folder, PLAIN))
    for name, share in told["unique"]["after"]["columns"].items():
        assert share == pytest.approx(unique(folder, [name]))
    alone = unique(folder, ["gender", "time_in_hospital", "drugs"])
    assert told["after"]["records"]["unique_share"] == pytest.approx(alone)
    assert "unique records, by released columns:" in run(*asked).stdout


def test_the_report_shows_the_warnings_before_anything_else(hospital, tmp_path):
    folder, _, _ = hospital
    made = run(
        "report", folder / "release.csv", "--data", folder / "data.csv", "-p", folder / "policy.json",
        "-o", tmp_path / "report.html",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    page = (tmp_path / "report.html").read_text()
    for sentence in sentences(folder):
        assert 0 < page.index(sentence) < page.index("<section")


@pytest.mark.parametrize("method", ["top-down", "mondrian", "full-domain"])
def test_a_limit_that_is_not_kept_leaves_nothing_behind(hospital, tmp_path, method):
    folder, policy, _ = hospital
    limited = policy | {"require": [*policy["require"], {"model": "uniqueness", "columns": "released", "most": 0.05}]}
    (tmp_path / "limited.json").write_text(json.dumps(limited))
    made = run(
        "anonymize", folder / "data.csv", "-p", tmp_path / "limited.json", "-o", tmp_path / "out.csv", "-m", method
    )
    assert made.exit_code == 1
    assert "uniqueness: required 0.05" in made.output
    assert "without 'diagnoses'" in made.output
    assert "role: identifier" in made.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["limited.json"]


def test_a_limit_that_is_kept_is_proven(hospital, tmp_path):
    folder, policy, _ = hospital
    share = unique(folder, ["gender", "time_in_hospital"])
    limit = {"model": "uniqueness", "columns": ["gender", "time_in_hospital"], "most": 0.05}
    (tmp_path / "limited.json").write_text(json.dumps(policy | {"require": [*policy["require"], limit]}))
    made = run("anonymize", folder / "data.csv", "-p", tmp_path / "limited.json", "-o", tmp_path / "out.csv", "--json")
    assert made.exit_code == 0, made.output
    [one] = [one for one in json.loads(made.stdout)["guarantees"] if one["model"] == "uniqueness"]
    assert one["holds"]
    assert one["achieved"] == pytest.approx(share, abs=0.05)


LDIV = [{"model": "l-diversity", "l": 2, "column": "age"}]
PK = [{"model": "pk-anonymity", "k": 2}]


@pytest.mark.parametrize(("method", "require"), [("dummies", LDIV), ("anatomy", LDIV), ("pram", PK)])
def test_methods_that_generalize_nothing_are_held_to_a_limit_as_well(hospital, tmp_path, method, require):
    folder, policy, _ = hospital
    limit = {"model": "uniqueness", "columns": PLAIN, "most": 0.05}
    columns = policy["columns"] | {"age": {"role": "sensitive"}, "readmitted": {"role": "insensitive"}}
    held = policy | {"columns": columns, "require": [*require, limit], "method": {"name": method}}
    (tmp_path / "held.json").write_text(json.dumps(held))
    made = run("anonymize", folder / "data.csv", "-p", tmp_path / "held.json", "-o", tmp_path / "out.csv")
    assert made.exit_code == 1, made.output
    assert "uniqueness: required 0.05" in made.output
    loose = held | {"require": [*require, limit | {"most": 0.99}]}
    (tmp_path / "held.json").write_text(json.dumps(loose))
    made = run("anonymize", folder / "data.csv", "-p", tmp_path / "held.json", "-o", tmp_path / "out.csv")
    assert made.exit_code == 0, made.output
    assert run("audit", tmp_path / "out.csv", "-p", tmp_path / "held.json").exit_code == 0


@pytest.mark.parametrize(
    ("spec", "where", "what"),
    [
        ({"columns": "all", "most": 0.05}, "require.1.columns", "released"),
        ({"columns": [], "most": 0.05}, "require.1.columns", "released"),
        ({"columns": ["gender", "gender"], "most": 0.05}, "require.1.columns", "twice"),
        ({"columns": ["gendre"], "most": 0.05}, "require.1.columns", "Did you mean 'gender'"),
        ({"columns": ["patient"], "most": 0.05}, "require.1.columns", "role: identifier"),
        ({"columns": "released"}, "require.1.most", "missing"),
        ({"most": 1}, "require.1.most", "less than 1"),
        ({"most": -0.1}, "require.1.most", "greater than or equal to 0"),
        ({"most": 0.1, "k": 3}, "require.1.k", "not a key"),
    ],
)
def test_a_limit_that_says_nothing_sensible_is_refused(hospital, tmp_path, spec, where, what):
    folder, policy, _ = hospital
    wrong = policy | {"require": [*policy["require"], {"model": "uniqueness", **spec}]}
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    made = run("anonymize", folder / "data.csv", "-p", tmp_path / "wrong.json", "-o", tmp_path / "out.csv")
    assert made.exit_code == 2
    assert where in made.output
    assert what in made.output


def test_a_limit_needs_another_model_beside_it(hospital, tmp_path):
    folder, policy, _ = hospital
    (tmp_path / "bare.json").write_text(json.dumps(policy | {"require": [{"model": "uniqueness", "most": 0.5}]}))
    made = run("anonymize", folder / "data.csv", "-p", tmp_path / "bare.json", "-o", tmp_path / "out.csv")
    assert made.exit_code == 2
    assert "no method generalizes for" in made.output


@pytest.mark.parametrize(("name", "what"), [("patient", "role: identifier"), ("gendre", "Did you mean 'gender'")])
def test_risk_refuses_columns_that_nobody_finds_a_record_by(hospital, name, what):
    folder, _, _ = hospital
    found = run("risk", folder / "data.csv", "-p", folder / "policy.json", "--columns", f"age,{name}")
    assert found.exit_code == 2
    assert what in found.output
