"""Risks, comparisons and reports of tables with sensitive item sets: they say what they measure, and nothing breaks."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import SudareError

POLICY = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "told": {"role": "sensitive", "kind": "items", "separator": "|"},
        "stay": {"role": "insensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 4},
        {"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency"},
    ],
}


@pytest.fixture
def files(tmp_path):
    pick = random.Random(4)
    items = ["flu", "cold", "gout", "asthma"]
    rows = 200
    table = pa.table(
        {
            "age": [pick.randrange(20, 60) for _ in range(rows)],
            "sex": [pick.choice("mf") for _ in range(rows)],
            "told": ["|".join(pick.sample(items, pick.choice([0, 1, 1, 2]))) for _ in range(rows)],
            "stay": [pick.randrange(5) for _ in range(rows)],
        }
    )
    data, release = tmp_path / "t.csv", tmp_path / "r.csv"
    pa_csv.write_csv(table, data)
    sudare.anonymize(data, POLICY, out=release)
    return data, release


def test_risks_leave_them_out(files):
    data, release = files
    report = sudare.risk(data, POLICY, release=release).to_dict()
    assert "told" not in str(report.get("inference"))
    assert "at most 1/2 of the records of a class hold it" in report["not_inferred"]["told"]
    assert "note: inference of 'told' is not measured: it holds item sets" in str(sudare.risk(data, POLICY))
    with pytest.raises(SudareError, match="holds item sets, and no single value to infer"):
        sudare.risk(data, POLICY, target="told")


def test_comparisons_ask_nothing_about_them(files):
    data, _ = files
    found = sudare.compare(data, POLICY, queries=20)
    names = {each["method"] for each in found.to_dict()["ways"]}
    assert {"top-down", "mondrian", "l-clustering", "full-domain"} <= names
    assert not names & {"three-phase", "dummies", "anatomy", "pram"}
    with pytest.raises(SudareError, match="holds item sets, and no single values to predict"):
        sudare.compare(data, POLICY, target="told")


def test_reports_say_what_is_promised(files, tmp_path):
    data, release = files
    sudare.report(release, data=data, policy=POLICY, out=tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "at most 1/2 of the records hold any one item" in text
    assert "The most frequent items, of about" in text
    assert "counts of records with an item are lower bounds" not in text  # these sets are whole
    assert "It holds item sets, and the attack guesses single values." in text
    assert "sudare estimate r.csv --of told --by age --policy policy.yaml" in text


def test_reports_show_frequent_items_with_their_shares(files, tmp_path):
    data, release = files
    figures = sudare.report(release, data=data, policy=POLICY, out=tmp_path / "report.html").figures
    [column] = [each for each in figures["columns"] if each["name"] == "told"]
    assert column["kind"] == "items"
    held = Counter(item for cell in pa_csv.read_csv(data)["told"].to_pylist() for item in filter(None, cell.split("|")))
    shares = {part["label"]: part["after"] for part in column["parts"] if part["label"] in held}
    assert shares == {item: pytest.approx(count / 200) for item, count in held.items()}


def test_estimates_count_items(files):
    data, release = files
    found = sudare.estimate(release, of="told", policy=POLICY)
    held = Counter(item for cell in pa_csv.read_csv(data)["told"].to_pylist() for item in filter(None, cell.split("|")))
    assert {row["value"]: (row["low"], row["estimate"], row["high"], row["records"]) for row in found} == {
        item: (count, count, count, 200) for item, count in held.items()
    }
    assert "several items" in found.notes[0]
    by_stay = sudare.estimate(release, of="told", by="stay", policy=POLICY)
    assert sum(row["estimate"] for row in by_stay if row["value"] == "flu") == pytest.approx(held["flu"])
    assert sum(by_stay.records) == 200
    with pytest.raises(SudareError, match="only the policy says what separates the items"):
        sudare.estimate(release, of="told")
    with pytest.raises(SudareError, match="holds sets of items, which cannot be counted"):
        sudare.estimate(release, of="stay", by="told", policy=POLICY)


@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.one_of(st.none(), st.lists(st.sampled_from("abcdef"), max_size=3))),
        min_size=4,
        max_size=40,
    )
)
def test_estimates_from_lists_are_exact_by_unchanged_columns(rows):
    columns = {"age": {"role": "quasi"}, "told": {"role": "sensitive", "kind": "items"}, "y": {"role": "insensitive"}}
    require = [{"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency", "harmless": list("abcdef")}]
    told = pa.array([cell for _, cell in rows], pa.list_(pa.string()))
    table = pa.table({"age": list(range(len(rows))), "y": [y for y, _ in rows], "told": told})
    held = Counter((y, item) for y, cell in rows for item in ([None] if cell is None else set(cell)))
    release = sudare.anonymize(table, {"columns": columns, "require": require})
    if not held:
        with pytest.raises(SudareError, match="no record of the release holds an item"):
            sudare.estimate(release, of="told", by="y")
        return
    found = sudare.estimate(release, of="told", by="y")
    assert {(row["cell"]["y"], row["value"]): row["estimate"] for row in found if row["estimate"]} == held
    records = Counter(y for y, _ in rows)
    assert all(row["records"] == records[row["cell"]["y"]] for row in found)


def test_the_certificate_warns_of_minimality_without_a_way_out_that_there_is_not(files):
    _, release = files
    warnings = [each["text"] for each in sudare.audit(release, POLICY).to_dict().get("warnings", [])]
    assert not any("sensitive: blind" in text for text in warnings)
    certificate = (release.parent / "r.csv.sudare.json").read_text(encoding="utf-8")
    assert "minimality attack" in certificate
    assert "sensitive: blind" not in certificate


def test_harmless_items_are_named_in_one_spelling_and_shown_in_one():
    columns = {"age": {"role": "quasi"}, "told": {"role": "sensitive", "kind": "items"}}
    promise = {"model": "l-diversity", "l": 2, "column": "told", "variant": "frequency"}
    table = pa.table({"age": [1, 2, 3, 4], "told": [["hiv ", "HIV"], ["250", "250.0"], [], ["flu"]]})
    policy = {"columns": columns, "require": [promise]}
    shown = sudare.anonymize(table, policy).data["told"].to_pylist()
    assert sorted(shown) == [[], ["250"], ["HIV"], ["flu"]]
    twice = {"columns": columns, "require": [promise | {"harmless": ["250", "250.0"]}]}
    with pytest.raises(SudareError, match="names an item twice, in two spellings"):
        sudare.anonymize(table, twice)
    exact = {"age": {"role": "quasi"}, "told": {"role": "sensitive", "kind": "items", "exact": True}}
    apart = {"columns": exact, "require": [promise | {"harmless": ["250", "250.0"]}]}
    assert ["HIV", "hiv"] in sudare.anonymize(table, apart).data["told"].to_pylist()
