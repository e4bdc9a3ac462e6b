"""Releases with hierarchies that come with sudare or follow from the values: each is made, audited, and forged."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest

import sudare
from sudare.audits.hierarchy import read_tree
from sudare.core.errors import HierarchyError, PolicyError, SudareError, UnsupportedError
from sudare.hierarchies import csv_text, from_csv
from sudare.policy import BUILTIN_NAMES, HierarchySpec

GIVEN = {
    "icd-10": ["I21.0", "I21", "I22.1", "i25.9", "I63.3", "E11.9", "E11.-", "E10.30†", "J45.0", "C7A.1", "U07.1!"],
    "icd-9": ["250.83", "250", "428", "V57", "V57.89", "E909", "8", "38", "414.01", "745.2", "280.9"],
    "atc": ["A10BA02", "A10BA", "A10", "C09AA05", "C09AA02", "N02BE01", "N", "J01CA04"],
    "iso-3166": ["DE", "DEU", "Germany", "France", "AT", "Mexico", "Cuba", "US", "Japan", "TW", "Antarctica"],
    "us-states": ["NY", "NJ", "Texas", "OK", "CA", "Oregon", "PR", "GU", "IL"],
    "us-zip": ["90210", "90211", "90301", "10001", "10002-1234", "2134", "60601", "60611"],
    "de-plz": ["80331", "80333", "80469", "10115", "10117", "1067", "20095"],
    "jp-postal": ["100-0001", "100-0002", "1010021", "060-0001", "530-0001", "531-0041"],
    "nuts": ["DE212", "DE211", "DE21", "DE300", "FR101", "FRK26", "AT"],
    "ages": [1, 5, 17, 18, 19, 33, 34, 47, 62, 88, 93, 101],
    "money": [0, 12, 480, 1_999, 2_000, 35_000, 36_500, 250_000, 1_400_000],
    "auto": [*range(17, 60), 70, 71, 85, 98],
}
"""Some values of every hierarchy."""
SPECS = {
    **{name: name for name in GIVEN},
    "auto-floats": "auto",
    "ragged": {"prefix": [5, 3, 1]},
}
VALUES = {
    **GIVEN,
    "auto-floats": [number / 7 for number in range(-40, 160, 3)],
    "ragged": ["E11.9", "E11.8", "E11", "E1", "I21.0", "I21", "J45"],
}
every_hierarchy = pytest.mark.parametrize("name", SPECS)


def table(name, rows=600):
    """Records whose values are drawn from a few, some of them rare, and some missing."""
    draw = np.random.default_rng(7)
    values = VALUES[name]
    weight = 1 / np.arange(1, len(values) + 1)
    chosen = draw.choice(len(values), rows, p=weight / weight.sum())
    cells = [None if draw.random() < 0.02 else values[place] for place in chosen]
    return pa.table(
        {
            "value": pa.array(cells),
            "zone": pa.array([f"zone {number}" for number in draw.integers(0, 4, rows)]),
            "illness": pa.array([f"illness {number}" for number in draw.integers(0, 5, rows)]),
        }
    )


def policy(name, **more):
    return {
        "columns": {
            "value": {"role": "quasi", "hierarchy": SPECS[name]},
            "zone": {"role": "quasi"},
            "illness": {"role": "sensitive"},
        },
        "require": [
            {"model": "k-anonymity", "k": 5},
            {"model": "l-diversity", "l": 2, "column": "illness"},
        ],
        **more,
    }


def written(name, folder, method="top-down", **more):
    """Return the source, and the release, as files; the audit reads the second alone."""
    source, target = Path(folder) / "source.csv", Path(folder) / "release.csv"
    pcsv.write_csv(table(name), source)
    rules = policy(name, method={"name": method}, **more)
    release = sudare.anonymize(source, rules, out=target, seed=1)
    return source, target, release


def test_every_name_is_tried():
    assert {*BUILTIN_NAMES, "auto"} == set(GIVEN)


@every_hierarchy
@pytest.mark.parametrize("method", ["top-down", "full-domain", "mondrian"])
def test_a_release_is_made_and_proven(name, method, tmp_path):
    more = {"suppression": {"limit": 0.2}} if method == "full-domain" else {}
    _, target, release = written(name, tmp_path, method, **more)
    report = sudare.audit(target, policy(name, method={"name": method}, **more))
    assert report.passed, report.problems
    cells = pcsv.read_csv(target, convert_options=pcsv.ConvertOptions(strings_can_be_null=True))["value"].to_pylist()
    assert len(cells) == release.certificate["rows_out"]
    assert len(set(cells)) > 1


@every_hierarchy
def test_labels_are_those_of_the_hierarchy(name, tmp_path):
    from sudare import api

    source, target, _ = written(name, tmp_path)
    made = api.make_hierarchy(source, "value", SPECS[name])
    labels = {label for column in made.labels for label in column.to_pylist()} | {""}
    column = pcsv.ConvertOptions(column_types={"value": pa.string()})
    shown = set(pcsv.read_csv(target, convert_options=column)["value"].to_pylist())
    assert shown <= labels


@every_hierarchy
def test_a_file_of_it_gives_the_same_release(name, tmp_path):
    from sudare import api

    source, target, release = written(name, tmp_path)
    made = api.make_hierarchy(source, "value", SPECS[name])
    file = tmp_path / "levels.csv"
    file.write_text(csv_text(made), encoding="utf-8")
    assert from_csv(file).depth == made.depth
    rules = policy(name)
    rules["columns"]["value"]["hierarchy"] = {"file": str(file)}
    again = sudare.anonymize(source, rules, out=tmp_path / "again.csv", seed=1)
    one, two = (
        Counter(map(tuple, (row.values() for row in pcsv.read_csv(path).to_pylist())))
        for path in (target, tmp_path / "again.csv")
    )
    assert one == two
    assert again.certificate["loss"]["gcp"] == release.certificate["loss"]["gcp"]


@every_hierarchy
def test_a_forged_loss_is_found(name, tmp_path):
    """Nothing is lost, says the certificate, or everything; or a little less, where the release shows how much."""
    _, target, _ = written(name, tmp_path)
    place = Path(f"{target}.sudare.json")
    told = json.loads(place.read_text(encoding="utf-8"))
    true = told["loss"]["precision"]
    assert 0 < true < 1
    for forged in (0.0, 1.0) if name.startswith("auto") else (0.0, 1.0, true + 0.01):
        told["loss"]["precision"] = forged
        place.write_text(json.dumps(told), encoding="utf-8")
        report = sudare.audit(target, policy(name))
        assert not report.passed
        assert any("precision" in problem.where for problem in report.problems), report.problems
    told["loss"]["precision"] = true
    place.write_text(json.dumps(told), encoding="utf-8")
    assert sudare.audit(target, policy(name)).passed


@every_hierarchy
def test_a_finer_cell_is_found(name, tmp_path):
    """A record that shows its own value, in a class of its own."""
    _, target, _ = written(name, tmp_path)
    lines = target.read_text(encoding="utf-8").splitlines()
    rare = str(VALUES[name][-1])
    changed = next(number for number, line in enumerate(lines) if (number and line.startswith('"*"')) or number)
    rest = lines[changed].rsplit(",", 2)[1:]
    lines[changed] = ",".join([f"9{rare}", *rest])
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = sudare.audit(target, policy(name))
    assert not report.passed
    assert any(not guarantee.holds for guarantee in report.guarantees)


@pytest.mark.parametrize("name", sorted(set(SPECS) - {"auto", "auto-floats"}))
def test_distances_in_a_hierarchy_are_proven(name, tmp_path):
    rules = {
        "columns": {"zone": {"role": "quasi"}, "value": {"role": "sensitive", "hierarchy": SPECS[name]}},
        "require": [
            {"model": "k-anonymity", "k": 5},
            {"model": "t-closeness", "t": 0.3, "column": "value", "distance": "hierarchical"},
        ],
    }
    release = sudare.anonymize(table(name), rules, out=tmp_path / "release.csv")
    assert sudare.audit(tmp_path / "release.csv", rules).passed
    assert any("t-closeness" in str(promise) for promise in release.certificate["guarantees"])


def test_distances_in_auto_are_refused():
    rules = {
        "columns": {"zone": {"role": "quasi"}, "value": {"role": "sensitive", "hierarchy": "auto"}},
        "require": [{"model": "t-closeness", "t": 0.3, "column": "value", "distance": "hierarchical"}],
    }
    with pytest.raises(PolicyError, match="the audit cannot prove a distance in it") as caught:
        sudare.load_policy(rules)
    assert "sudare hierarchy make DATA --column value --auto" in str(caught.value)
    with pytest.raises(HierarchyError, match="cannot be rebuilt"):
        read_tree(HierarchySpec(auto=True), Path(), "value", ["1"])


@every_hierarchy
def test_plans(name, tmp_path):
    source, _, release = written(name, tmp_path, "full-domain", suppression={"limit": 0.2})
    if name.startswith("auto"):
        from sudare.api import check_plan

        assert release.plan is None
        with pytest.raises(UnsupportedError, match="a plan holds nothing of them"):
            check_plan(policy(name), "full-domain", tmp_path / "plan.json")
        return
    release.plan.save(tmp_path / "plan.json")
    again = sudare.apply(tmp_path / "plan.json", source, out=tmp_path / "again.csv")
    assert again.certificate["rows_out"] == release.certificate["rows_out"]


def test_a_plan_suppresses_records_with_unknown_codes(tmp_path):
    _, _, release = written("icd-10", tmp_path, "full-domain", suppression={"limit": 0.2, "unseen": "suppress"})
    release.plan.save(tmp_path / "plan.json")
    new = table("icd-10").append_column("row", pa.array(range(600))).drop_columns(["row"])
    cells = ["nonsense" if number == 3 else cell for number, cell in enumerate(new["value"].to_pylist())]
    new = new.set_column(0, "value", pa.array(cells))
    applied = sudare.apply(tmp_path / "plan.json", new, out=tmp_path / "again.csv")
    assert "nonsense" not in (tmp_path / "again.csv").read_text(encoding="utf-8")
    assert applied.certificate["rows_out"] <= 599


@pytest.mark.parametrize("name", sorted(set(BUILTIN_NAMES) - {"ages", "money"}))
def test_unknown_codes_are_counted(name, tmp_path):
    bad = table(name)
    bad = bad.set_column(0, "value", pa.array([*map(str, bad["value"].to_pylist()[:-2]), "Ada Lovelace", "1815-12-10"]))
    with pytest.raises(SudareError) as caught:
        sudare.anonymize(bad, policy(name), out=tmp_path / "release.csv")
    assert "columns.value.hierarchy" in str(caught.value)
    assert "Ada" not in str(caught.value) and "1815" not in str(caught.value)
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.dictionary(pa.int32(), pa.int32()), pa.decimal128(19)])
def test_numbers_that_may_be_several_codes_are_refused(kind, tmp_path):
    """0389 and 389 are one number, and codes in two chapters."""
    codes = ["0389", "0380", "0381", "4019", "4010"] * 40
    rules = policy("icd-9")
    texts = table("icd-9", 200).set_column(0, "value", pa.array(codes))
    whole = pa.array(map(int, codes))
    cells = whole.cast(kind.value_type).dictionary_encode() if pa.types.is_dictionary(kind) else whole.cast(kind)
    numbers = texts.set_column(0, "value", cells)
    sudare.anonymize(texts, rules, out=tmp_path / "release.csv")
    assert "380-389" not in (tmp_path / "release.csv").read_text(encoding="utf-8")
    with pytest.raises(SudareError, match="have lost their leading zeros") as caught:
        sudare.anonymize(numbers, rules, out=tmp_path / "other.csv")
    assert "columns.value.hierarchy" in str(caught.value) and "give the codes as text" in str(caught.value)
    assert not any(str(int(code)) in str(caught.value) for code in codes)
    assert not (tmp_path / "other.csv").exists()
    with pytest.raises(SudareError, match="have lost their leading zeros"):
        sudare.api.make_hierarchy(numbers, "value", "icd-9")


def test_numbers_are_refused_where_a_plan_is_applied(tmp_path):
    _, _, release = written("icd-9", tmp_path, "full-domain", suppression={"limit": 0.2, "unseen": "suppress"})
    release.plan.save(tmp_path / "plan.json")
    new = table("icd-9").set_column(0, "value", pa.array([389, 4019] * 300))
    with pytest.raises(SudareError, match="have lost their leading zeros"):
        sudare.apply(tmp_path / "plan.json", new, out=tmp_path / "again.csv")


def test_numbers_of_three_digits_are_codes(tmp_path):
    numbers = table("icd-9", 200).set_column(0, "value", pa.array([8, 38, 428, 250] * 50))
    sudare.anonymize(numbers, policy("icd-9"), out=tmp_path / "release.csv")
    assert sudare.audit(tmp_path / "release.csv", policy("icd-9")).passed


def test_item_sets_of_codes(tmp_path):
    draw = np.random.default_rng(3)
    codes = [code for code in GIVEN["icd-9"] if code]
    cells = [";".join(sorted(set(draw.choice(codes, 2)))) for _ in range(400)]
    data = pa.table({"codes": cells, "zone": [f"zone {number}" for number in draw.integers(0, 3, 400)]})
    rules = {
        "columns": {
            "codes": {"role": "quasi", "kind": "items", "separator": ";", "hierarchy": "icd-9"},
            "zone": {"role": "quasi"},
        },
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    pcsv.write_csv(data, tmp_path / "source.csv")
    sudare.anonymize(tmp_path / "source.csv", rules, out=tmp_path / "release.csv")
    assert sudare.audit(tmp_path / "release.csv", rules).passed


@pytest.mark.parametrize("name", ["icd-10", "us-zip", "ages", "auto", "ragged"])
def test_reports_and_risks_know_the_levels(name, tmp_path):
    source, target, _ = written(name, tmp_path)
    page = sudare.report(target, source, policy(name, method={"name": "top-down"}), out=tmp_path / "report.html")
    assert page is not None
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert {"auto": "auto", "ragged": "prefix 5, 3, 1"}.get(name, f"built-in {name}") in text
    found = sudare.risk(source, policy(name, method={"name": "top-down"}), release=target)
    assert found.to_dict()["after"]["records"]
