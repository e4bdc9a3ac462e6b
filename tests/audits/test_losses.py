"""Losses that the audit finds again: from cells of all kinds, whole or in parts, and the figures that it refuses."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pytest

import sudare
from sudare.audits.auditor_input import AuditorInput
from sudare.audits.cell_counts import Axis, Single, added
from sudare.audits.date_axis import place_of
from sudare.audits.distributed_audit import Counting, Layout, merged, prove_bucket
from sudare.audits.losses import Records, losses
from sudare.audits.rule_levels import heights, level_of
from sudare.policy import HierarchySpec, Policy

from .tables import lost, write

K = {"model": "k-anonymity", "k": 2}


def rules(**columns):
    return Policy.parse({"columns": columns, "require": [K]})


def figures(tmp_path, cells, spec=None, **given):
    """Return what a column of these cells has lost, as the audit finds it."""
    path = write(tmp_path / "release.csv", ["x"], [[cell] for cell in cells])
    return lost(path, rules(x={"role": "quasi", **(spec or {})}), len(cells), **given)


def test_a_range_is_a_share_of_what_is_shown(tmp_path):
    found = figures(tmp_path, ["[10, 20]", "[10, 20]", "30", "50", "*"])
    assert found.columns["x"]["gcp"].spans == ((pytest.approx((2 * 10 / 40 + 1) / 5),) * 2,)
    assert found.columns["x"]["relative_uncertainty"].known
    assert not found.columns["x"]["arx"].known
    assert found.columns["x"]["arx"].hull == (pytest.approx(0.2), pytest.approx(0.6))


def test_a_set_is_a_share_of_the_categories_that_are_named(tmp_path):
    found = figures(tmp_path, ["{a, b}", '{"c, d", null}', "e", "*"])
    assert found.columns["x"]["gcp"].hull[0] == pytest.approx((2 / 5 + 2 / 5 + 0 + 1) / 4)


def test_rare_categories_count_as_many_as_they_are(tmp_path):
    cells = ["{a, other}", "other", "b", "b"]
    plain = figures(tmp_path, cells).columns["x"]["gcp"]
    assert plain.hull[0] == pytest.approx((2 / 3) / 4)
    found = figures(tmp_path, cells, other={"x": 4}).columns["x"]["gcp"]
    assert found.hull[0] == pytest.approx((5 / 6 + 4 / 6) / 4)


def test_records_that_are_left_out_have_lost_everything(tmp_path):
    found = figures(tmp_path, ["a", "a", "b"], left=1)
    assert found.columns["x"]["gcp"].hull[0] == pytest.approx(1 / 4)
    assert found.columns["x"]["entropy"].hull == (0.0, 1.0)


def test_cells_that_no_release_writes_tell_little(tmp_path):
    found = figures(tmp_path, ["[a, b]", "[a, b]", "*", "x"])
    assert found.columns["x"]["gcp"].hull == (0.25, 1.0)


def test_a_hierarchy_that_is_written_down(tmp_path):
    tree = {"tree": {"any": {"left": ["a", "b", "c"], "right": ["d"]}}}
    found = figures(tmp_path, ["left", "a", "any", "right"], {"hierarchy": tree}).columns["x"]
    assert found["gcp"].hull[0] == pytest.approx((3 / 4 + 0 + 1 + 1 / 4) / 4)
    assert found["precision"].hull[0] == pytest.approx(1 - (0.5 + 0 + 1 + 0.5) / 4)
    assert found["arx"].hull[0] == pytest.approx((2 / 3 + 0 + 1 + 0) / 4)


def test_a_hierarchy_that_cannot_be_read_leaves_the_figures_open(tmp_path):
    found = figures(tmp_path, ["left", "a"], {"hierarchy": {"file": "gone.csv"}}).columns["x"]
    assert found["gcp"].hull == (0.0, 1.0)
    assert not found["precision"].known


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ({"bands": [5, 10]}, {"[20, 24]": 1 / 3, "[20, 29]": 2 / 3, "23": 0.0, "*": 1.0}),
        ({"bands": [1, 10]}, {"[20, 29]": 0.5, "23": 0.0, "*": 1.0}),
        ({"bands": [0.5, 5]}, {"[1.5, 2)": 1 / 3, "[-5, 0)": 2 / 3, "1.7": 0.0}),
        ({"prefix": [5, 3, 2]}, {"902**": 1 / 3, "90***": 2 / 3, "90210": 0.0, "*": 1.0}),
        ({"dates": ["month", "year"]}, {"2024-03": 1 / 3, "2024": 2 / 3, "2024-03-05": 0.0}),
        ({"dates": ["day", "quarter"]}, {"2024-03-05": 1 / 3, "2024-Q1": 2 / 3, "2024-03-05 10:00:00": 0.0}),
        ({"flat": True}, {"a": 0.0, "*": 1.0}),
    ],
)
def test_how_high_the_label_of_a_rule_stands(spec, labels):
    made = HierarchySpec.model_validate(spec)
    levels = {label: level_of(made, label) for label in labels}
    for answer in heights(made, levels.values()):
        assert {label: answer[level] for label, level in levels.items()} == pytest.approx(labels)


def test_days_may_be_values_or_groups_of_times():
    made = HierarchySpec.model_validate({"dates": ["day", "year"]})
    assert [answer["day"] for answer in heights(made, ["day"])] == [pytest.approx(1 / 3), 0.0]


@pytest.mark.parametrize(
    ("text", "unit", "at"),
    [
        ("1970-01-02", "day", 1.0),
        ("1970-01-01T00:00:01.5", "second", 1.5),
        ("1970-01-01 01:00:00+01:00", "second", 0.0),
        ("1970-01-01T00:00:00.000000001Z", "second", 1e-9),
        ("12:30", "second", 45_000.0),
        ("PT-2.5S", "second", -2.5),
    ],
)
def test_where_dates_and_times_stand(text, unit, at):
    assert place_of(text) == (unit, at)


@pytest.mark.parametrize("text", ["2001-02-30", "noon", "1970-01-01T00", "PTS", "5"])
def test_what_stands_nowhere(text):
    assert place_of(text) is None


def test_parts_of_a_column_of_numbers_may_show_no_range():
    one = Single(ranges=2, axis=Axis("number", 10.0, 20.0, 20.0, 1.0))
    two = Single(single=3, names={"1", "40"}, axis=Axis("number", 1.0, 40.0, 40.0))
    whole = added([{"x": one}, {"x": two}])["x"]
    found = losses({"x": whole}, rules(x={"role": "quasi"}), {}, Records(5, 0, 0))
    assert found.columns["x"]["gcp"].hull[0] == pytest.approx(20 / 39 / 5)
    assert found.columns["x"]["relative_uncertainty"].known


COLUMNS = {
    "age": {"role": "quasi", "weight": 2.0},
    "born": {"role": "quasi"},
    "zone": {"role": "quasi"},
    "job": {"role": "quasi", "hierarchy": {"tree": {"all": {"one": ["a", "b"], "two": ["c", "d", "e"]}}}},
    "bought": {"role": "quasi", "kind": "items", "separator": "|"},
}
POLICY = {"columns": COLUMNS, "require": [{"model": "k-anonymity", "k": 3}], "suppression": {"limit": 0.1}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    people = range(200)
    table = pa.table({
        "age": [i * 37 % 61 for i in people],
        "born": [f"19{50 + i * 13 % 40}-0{1 + i % 9}-11" for i in people],
        "zone": [["north", "south", "a, b", "east", "other"][i * i % 5] if i % 17 else f"rare {i}" for i in people],
        "job": ["abcde"[i * 7 % 5] for i in people],
        "bought": ["|".join(sorted({"uvw"[i % 3], "xyz"[i // 3 % 3]})) for i in people],
    })  # fmt: skip
    path = tmp_path_factory.mktemp("losses") / "release.csv"
    return path, sudare.anonymize(table, POLICY, out=path).certificate


def test_a_release_in_buckets_has_lost_the_same(made):
    path, certificate = made
    with path.open(newline="") as file:
        rows = [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
    release = pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in COLUMNS]))
    policy = Policy.parse(POLICY)
    layout = Layout("release", tuple(COLUMNS), (pa.string(),) * len(COLUMNS), policy)
    found = [
        prove_bucket(bucket, layout, None, figures=True)
        for _, bucket in Counting(layout, 5)(iter(release.to_batches()))
    ]
    assert len(found) > 1

    def audited(paper):
        paper = {**paper, "release_sha256": digest}
        told = AuditorInput(paper).about(policy)
        return merged(found, layout, lambda _: None, told=told)

    digest = merged(found, layout, lambda _: None).release_sha256
    report = audited(certificate)
    # warnings of what is unique were not looked for
    assert {problem.where for problem in report.problems} <= {"certificate.warnings"}
    whole = sudare.audit(path, POLICY)
    of_losses = [key for key in whole.verified if key.startswith(("loss", "item"))]
    assert of_losses == [key for key in report.verified if key.startswith(("loss", "item"))]
    assert {f"loss_by_column.{name}.gcp" for name in ("age", "born", "zone", "job")} <= set(of_losses)
    forged = json.loads(json.dumps(certificate))
    forged["loss_by_column"]["zone"]["gcp"] += 0.001
    assert "certificate.loss_by_column.zone.gcp" in {problem.where for problem in audited(forged).problems}


@pytest.mark.parametrize("measure", ["gcp", "precision", "relative_uncertainty", "arx", "entropy"])
@pytest.mark.parametrize("column", ["age", "job", None])
def test_a_loss_that_is_forged_is_refused(made, measure, column, tmp_path):
    path, certificate = made
    forged = json.loads(json.dumps(certificate))
    part = forged["loss"] if column is None else forged["loss_by_column"][column]
    part[measure] = round(part[measure] + 0.003 if part[measure] < 0.5 else part[measure] - 0.003, 4)
    copy = tmp_path / "release.csv"
    copy.write_bytes(path.read_bytes())
    copy.with_name("release.csv.sudare.json").write_text(json.dumps(forged))
    report = sudare.audit(copy, POLICY)
    assert not report.passed
    assert all(problem.where.startswith("certificate.loss") for problem in report.problems)


@pytest.mark.parametrize("other", [{"zone": 1}, {"zone": 9}, {}, {"zone": 1 << 60}, {"zone": True}])
def test_how_many_rare_categories_there_are_has_to_agree_with_the_losses(made, other, tmp_path):
    path, certificate = made
    assert set(certificate["other"]) == {"zone"}
    assert certificate["other"]["zone"] not in (1, 9)
    copy = tmp_path / "release.csv"
    copy.write_bytes(path.read_bytes())
    copy.with_name("release.csv.sudare.json").write_text(json.dumps({**certificate, "other": other}))
    assert not sudare.audit(copy, POLICY).passed
