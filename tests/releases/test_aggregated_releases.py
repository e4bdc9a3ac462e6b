"""Releases with aggregated columns: written in every format, proven, tampered with, and used."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import DataError
from sudare.releases.release_formats import ENDINGS

COLUMNS = {
    "age": {"role": "quasi"},
    "pay": {"role": "quasi", "kind": "numeric"},
    "born": {"role": "quasi", "kind": "numeric"},
    "sex": {"role": "quasi"},
    "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
    "ill": {"role": "sensitive"},
}
POLICY = {
    "columns": COLUMNS,
    "require": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "ill"}],
    "method": {"name": "microaggregation"},
}


def people(rows=90, seed=0) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "age": random.integers(18, 90, rows),
            "pay": random.lognormal(8, 1, rows).round(2),
            "born": pa.array(random.integers(0, 9000, rows), pa.int32()).cast(pa.date32()),
            "sex": random.choice(["f", "m"], rows).tolist(),
            "grade": random.choice(["low", "mid", "high"], rows).tolist(),
            "ill": random.choice(list("abcd"), rows).tolist(),
        }
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_has_numbers_and_is_proven(ending, tmp_path):
    path, table = tmp_path / f"release{ending}", people()
    release = sudare.anonymize(table, POLICY, out=path)
    report = sudare.audit(path, POLICY)
    assert report.passed, report.problems
    claimed = set(report.claimed)
    assert {"loss.gcp", "loss_by_column.age.gcp", "loss_by_column.grade.arx", "search"} <= claimed
    assert "loss_by_column.sex.gcp" in report.verified
    read = sudare.numeric(path)
    for name in ("age", "pay"):
        told, own = read.column(name).to_pylist(), table[name].to_pylist()
        assert math.fsum(told) == pytest.approx(math.fsum(own), rel=1e-12)
    assert release.certificate["search"]["aggregated"]["age"]["mean_kept"]


def test_types_are_those_of_numbers_and_dates(tmp_path):
    path = tmp_path / "release.parquet"
    sudare.anonymize(people(), POLICY, out=path)
    schema = pq.read_schema(path)
    assert [schema.field(name).type for name in ("age", "pay", "born")] == [pa.float64(), pa.float64(), pa.date32()]
    whole = {**POLICY, "method": {"name": "microaggregation", "representative": "median"}}
    sudare.anonymize(people(), whole, out=path)
    assert pq.read_schema(path).field("age").type == pa.int64()


def test_numbers_of_text_come_back_as_the_same_floats(tmp_path):
    columns = {"x": {"role": "quasi"}}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 3}], "method": {"name": "microaggregation"}}
    table = pa.table({"x": [1e-9, 2e-9, 4e-9, 0.1, 0.2, 0.7, 1e22, 3e22, 7e22, -0.0, -0.0, 0.0]})
    sudare.anonymize(table, rules, out=tmp_path / "a.csv", seed=1)
    exact = sudare.anonymize(table, rules, out=tmp_path / "a.parquet", seed=1)
    text = [float(line) for line in (tmp_path / "a.csv").read_text().split()[1:]]
    assert sorted(text) == sorted(pq.read_table(tmp_path / "a.parquet")["x"].to_pylist())
    assert "-0" not in (tmp_path / "a.csv").read_text().replace("e-0", "").split()
    assert exact.certificate["rows_out"] == 12


def test_decimal_commas(tmp_path):
    path, rules = tmp_path / "release.csv", {**POLICY, "release": {"decimal": ","}}
    sudare.anonymize(people(), rules, out=path)
    assert sudare.audit(path, rules).passed
    line = path.read_text().splitlines()[1].split(";")
    assert "," in line[0]
    assert "." not in line[1]


@pytest.mark.parametrize("column", ["age", "pay", "born", "grade"])
def test_a_number_that_is_changed_in_one_row_is_found(column, tmp_path):
    path = tmp_path / "release.parquet"
    sudare.anonymize(people(), POLICY, out=path)
    table = pq.read_table(path)
    cells = table[column].to_pylist()
    other = next(each for each in cells if each != cells[0])
    changed = [other if column == "grade" else _near(cells[0]), *cells[1:]]
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, table.schema.field(column), [changed]), path)
    report = sudare.audit(path, POLICY)
    assert not report.passed
    assert not next(each for each in report.guarantees if each.model == "k-anonymity").holds


def _near(cell):
    return math.nextafter(cell, math.inf) if isinstance(cell, float) else cell.replace(year=cell.year + 100)


def test_forged_losses_are_found_as_far_as_they_can_be(tmp_path):
    path = tmp_path / "release.csv"
    sudare.anonymize(people(), POLICY, out=path)
    paper = path.with_name("release.csv.sudare.json")
    said = json.loads(paper.read_text())
    for change in ({"gcp": -0.1}, {"gcp": 1.2}, {"gcp": 0.0}):
        paper.write_text(json.dumps({**said, "loss": {**said["loss"], **change}}))
        assert not sudare.audit(path, POLICY).passed
    paper.write_text(json.dumps({**said, "missing": said["missing"].removesuffix(" shows an empty cell.")}))
    assert not sudare.audit(path, POLICY).passed
    paper.write_text(json.dumps(said))
    assert sudare.audit(path, POLICY).passed


def test_nobody_is_singled_out_and_links_are_no_better_than_groups(tmp_path):
    path, table = tmp_path / "release.csv", people()
    sudare.anonymize(table, POLICY, out=path)
    found = sudare.risk(table, POLICY, release=path, model=True)
    assert found.after.records.largest_risk <= 1 / 3
    assert found.after.linkage.linked.success <= 1 / 3
    assert found.after.linkage.unmatched == 0
    assert any("nearest" in note for note in found.notes)
    assert found.inference[0].after.by_class.success < 1.0
    # a population of the same people
    assert sudare.risk(table, POLICY, release=path, population=table).after.journalist is not None


def test_the_nearest_class_is_that_of_a_slow_version():
    table = people(60, seed=4)
    rules = {**POLICY, "columns": {**{name: COLUMNS[name] for name in ("age", "pay", "sex")}, "ill": COLUMNS["ill"]}}
    release = sudare.anonymize(table, rules)
    told = release.data.select(["age", "pay", "sex"]).to_pylist()
    sizes = {tuple(row.values()): 0 for row in told}
    for row in told:
        sizes[tuple(row.values())] += 1
    spread = {name: float(np.std(table[name].to_numpy())) for name in ("age", "pay")}
    right = []
    for one in table.select(["age", "pay", "sex"]).to_pylist():
        same = [cells for cells in sizes if cells[2] == one["sex"]]
        far = {
            cells: sum(((cells[at] - one[name]) / spread[name]) ** 2 for at, name in enumerate(("age", "pay")))
            for cells in same
        }
        right.append(1 / sizes[min(far, key=far.get)])
    found = sudare.risk(table, rules, release=release)
    assert found.after.linkage.linked.success == pytest.approx(float(np.mean(right)))


def test_another_table_is_no_source_of_the_release(tmp_path):
    path, table = tmp_path / "release.csv", people()
    sudare.anonymize(table, POLICY, out=path)
    other = table.set_column(3, "sex", [["x"] * table.num_rows])
    with pytest.raises(DataError, match="not a release of this data"):
        sudare.risk(other, POLICY, release=path)


def test_counts_by_aggregated_columns_have_no_intervals(tmp_path):
    path = tmp_path / "release.csv"
    sudare.anonymize(people(), POLICY, out=path)
    by_age = sudare.estimate(path, of="ill", by="age:20")
    assert by_age.level is None
    assert all(line["low"] is None and line["high"] is None and line["se"] is None for line in by_age)
    assert sum(line["estimate"] for line in by_age) == 90
    by_sex = sudare.estimate(path, of="ill", by="sex")
    assert all(line["low"] == line["estimate"] == line["high"] for line in by_sex)


def test_it_is_compared_with_other_methods_and_reported(tmp_path):
    path, table = tmp_path / "release.csv", people()
    sudare.anonymize(table, POLICY, out=path)
    found = sudare.compare(table, POLICY, methods=["microaggregation", "l-clustering"], queries=10)
    assert "microaggregation" in str(found)
    page = tmp_path / "report.html"
    sudare.report(path, table, POLICY, out=page)
    assert "Aggregated: a record shows the mean of its group" in page.read_text()
