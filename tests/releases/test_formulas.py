"""Cells that a spreadsheet would run as formulas: escaped in text files, read back everywhere, and counted rightly."""

from __future__ import annotations

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.audits import audit_release
from sudare.core.errors import TargetError
from sudare.policy import Policy
from sudare.releases.opened_release import open_released
from sudare.releases.spreadsheet_formulas import escape, is_formula, plain, read_back

SHOWN = {
    "=1+1": ("'=1+1", "=1+1"),
    "'=1+1": ("''=1+1", "''=1+1"),
    "+1": ("'+1", "+1"),
    "-": ("'-", "-"),
    "-5": ("-5", "-5"),
    "-0.5e3": ("-0.5e3", "-0.5e3"),
    "-5\n": ("'-5\n", "-5\n"),
    "'-5": ("''-5", "''-5"),
    "@SUM(A1)": ("'@SUM(A1)", "@SUM(A1)"),
    "\tx": ("'\tx", "\tx"),
    "\r=x": ("'\r=x", "\r=x"),
    "＝1": ("'＝1", "＝1"),
    "it's": ("it's", "it's"),
    "'tis": ("'tis", "'tis"),
    "[-5, 3]": ("[-5, 3]", "[-5, 3]"),
    "": ("", ""),
}
VALUES = ["=1+1", "'=1+1", "-", "x"]
DATA = pa.table({"job": [value for value in VALUES for _ in range(4)], "n": [-5] * 16, "ill": VALUES * 4})


def rules(formulas="escape", job="job"):
    return {
        "columns": {job: {"role": "quasi"}, "n": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 4, "column": "ill"}],
        "release": {"formulas": formulas},
    }


@pytest.mark.parametrize(("text", "shown"), SHOWN.items(), ids=ascii)
def test_what_is_escaped(text, shown):
    for keep, expected in zip((False, True), shown, strict=True):
        for cells in (pa.array([text, None]), pa.array([text, None], pa.large_string()).dictionary_encode()):
            assert escape(cells, keep=keep).to_pylist() == [expected, None]
        assert read_back(pa.table({"c": [expected]})).column("c").to_pylist() == [text]
        assert plain(expected) == text


@given(text=st.text(st.sampled_from("'=+-@5.eE\t\r\nx"), max_size=6), keep=st.booleans())
def test_every_text_can_be_read_back(text, keep):
    [shown] = escape(pa.array([text]), keep=keep).to_pylist()
    assert plain(shown) == text
    assert keep or not is_formula(shown[1:] if shown.startswith("'") else shown) or shown != text


@pytest.mark.parametrize("formulas", ["escape", "keep"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_releases_say_the_same_in_every_format(tmp_path, formulas, ending):
    path = tmp_path / f"r{ending}"
    sudare.anonymize(DATA, rules(formulas), out=path)
    report = sudare.audit(path, rules(formulas))
    assert (report.passed, report.classes) == (True, 4)
    found = open_released(path).read(["job", "n", "ill"])
    assert sorted(found.column("ill").to_pylist()) == sorted(DATA.column("ill").to_pylist())
    assert {sudare.parse_cell(cell) for cell in found.column("job").to_pylist()} == set(VALUES)
    if ending == ".parquet":
        assert set(pq.read_table(path).column("ill").to_pylist()) == set(VALUES)
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if ending == ".tsv" else ","))
    assert {row["n"] for row in rows} == {"-5"}
    assert any(is_formula(row["ill"]) and row["ill"][0] != "'" for row in rows) == (formulas == "keep")
    assert {sudare.parse_cell(row["job"]) for row in rows} == set(VALUES)


@pytest.mark.parametrize("method", ["dummies", "pram"])
def test_hidden_values_are_proven_and_estimated(tmp_path, method):
    given = rules() | {"method": {"name": method}}
    given["columns"]["n"] = {"role": "insensitive"}
    given["require"] = [{"model": "l-diversity", "l": 2, "column": "ill"}]
    if method == "pram":
        given["require"] = [{"model": "pk-anonymity", "k": 2}]
    sudare.anonymize(DATA, given, out=tmp_path / "r.csv")
    assert sudare.audit(tmp_path / "r.csv", given).passed
    found = sudare.estimate(tmp_path / "r.csv", of="ill")
    assert {row["value"] for row in found} == set(VALUES)


@pytest.mark.parametrize(("one", "other"), [("=a", "'=a"), ("-5", "'-5"), ("'=a", "''=a")])
@pytest.mark.parametrize("formulas", ["escape", "keep"])
def test_cells_that_differ_in_a_file_are_no_class(tmp_path, formulas, one, other):
    path = tmp_path / "r.csv"
    path.write_text(f"zone\n{one}\n{other}\n")
    given = {
        "columns": {"zone": {"role": "quasi"}},
        "require": [{"model": "k-anonymity", "k": 2}],
        "release": {"formulas": formulas},
    }
    assert audit_release(path, Policy.parse(given)).classes == 2


def test_a_name_that_is_a_formula_is_refused_in_text(tmp_path):
    data = DATA.rename_columns(["=cmd()", "n", "ill"])
    with pytest.raises(TargetError, match="would run as a formula"):
        sudare.anonymize(data, rules(job="=cmd()"), out=tmp_path / "r.csv")
    sudare.anonymize(data, rules("keep", job="=cmd()"), out=tmp_path / "r.csv")
    sudare.anonymize(data, rules(job="=cmd()"), out=tmp_path / "r.parquet")
