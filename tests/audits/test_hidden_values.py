"""Releases that hide sensitive values: what the audit proves of them, and what it finds if they were touched."""

from __future__ import annotations

import csv
import json
import math
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.audits import audit_release
from sudare.core.errors import AuditFailedError, DataError
from sudare.policy import Policy

from .tables import paper, required, write

ILLNESSES = ["cold", "cut", "flu", "rash"]
ENDINGS = [".csv", ".parquet", ".arrow"]


def rules(method="dummies", l=2, **ill):  # noqa: E741 - the literature's letter
    return Policy.parse(
        {
            "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive", **ill}, "name": {"role": "identifier"}},
            "require": [{"model": "l-diversity", "l": l, "column": "ill"}],
            "method": {"name": method},
        }
    )


def sets(*cells, kind=None):
    """A release that shows these sets."""
    kind = kind or pa.list_(pa.string())
    return pa.table({"age": range(len(cells)), "ill": pa.array(cells, kind)})


def proven(release, l=2, **more):  # noqa: E741
    return required(audit_release(release, rules(l=l), **more))


def broken(report):
    return [guarantee.model for guarantee in report.guarantees if not guarantee.holds]


# ---- sets


def test_sets_of_l_values_are_proven():
    report = audit_release(sets(["a", "b", "c"], ["b", "d", None], ["d", "c", "a"]), rules(l=3))
    assert report.passed
    assert (report.rows, report.classes) == (3, None)
    assert (report.guarantees[0].achieved, report.guarantees[0].offending_classes) == (3, 0)
    assert "method is responsible for" in report.guarantees[0].note


@pytest.mark.parametrize(
    ("bad", "least"),
    [
        (["a", "b"], 2),
        (["a"], 1),
        ([], 0),
        (None, 0),
        ([None], 1),
        (["a", "b", "b"], 2),
        (["b", "a", "b"], 2),
        (["b", "b", "b", "b"], 1),
        ([None, "a", None], 2),
        ([None, None, None], 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_set_that_tells_too_much(bad, least, place):
    cells = [["a", "b", "c"], ["d", "b", "a"]]
    cells.insert(place, bad)
    guarantee = proven(sets(*cells), l=3)
    assert not guarantee.holds
    assert (guarantee.required, guarantee.achieved, guarantee.offending_classes) == (3, least, 1)


def test_all_that_fall_short_are_counted():
    guarantee = proven(sets(["a"], ["a", "b"], None, [], ["a", "a"], ["b", None]))
    assert (guarantee.achieved, guarantee.offending_classes) == (0, 4)
    assert not proven(sets(None, None)).holds
    assert not proven(sets([], [])).holds


def test_a_release_without_rows_proves_nothing():
    with pytest.raises(DataError, match="no rows"):
        audit_release(sets(), rules())


NUMBERS = [[-0.0, 0.0], [math.nan, None], [0.0, 0.0], [math.nan, math.nan], [1.0, 1.0]]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("pair", NUMBERS, ids=str)
@pytest.mark.parametrize("ending", ["memory", ".parquet", ".arrow"])
def test_spellings_of_one_number_are_no_diversity(kind, pair, ending, tmp_path):
    release = stored(sets([0.5, 1.5], pair, kind=pa.list_(kind)), tmp_path, ending)
    guarantee = proven(release)
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, 1, 1)
    assert proven(stored(sets([0.5, 1.5], [-0.0, math.nan], kind=pa.list_(kind)), tmp_path, ending)).holds


def stored(table, folder, ending):
    """Return a release in memory, or the path of its file."""
    path = folder / f"release{ending}"
    if ending == ".parquet":
        pq.write_table(table, path)
    elif ending == ".arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    elif ending == ".csv":
        joined = [[row["age"], ",".join(row["ill"])] for row in table.to_pylist()]
        write(path, table.column_names, joined)
    return table if ending == "memory" else path


KINDS = {
    "text": (["a", "b"], pa.list_(pa.string())),
    "large list": (["a", "b"], pa.large_list(pa.string())),
    "large text": (["a", "b"], pa.list_(pa.large_string())),
    "dictionary": (["a", "b"], pa.list_(pa.dictionary(pa.int32(), pa.string()))),
    "fixed": (["a", "b"], pa.list_(pa.string(), 2)),
    "whole": ([10, 9], pa.list_(pa.int64())),
    "short": ([1, 2], pa.list_(pa.uint8())),
    "truth": ([True, False], pa.list_(pa.bool_())),
    "date": ([date(2020, 1, 1), date(2020, 1, 2)], pa.list_(pa.date32())),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["memory", ".parquet", ".arrow"])
def test_lists_of_any_kind(kind, ending, tmp_path):
    (one, other), form = KINDS[kind]
    good = sets([one, other], [other, one], [other, one], kind=form)
    assert proven(stored(good, tmp_path, ending)).holds
    bad = sets([one, other], [other, other], [one, other], kind=form)
    guarantee = proven(stored(bad, tmp_path, ending))
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, 1, 1)


def test_what_only_a_dictionary_has_does_not_occur(tmp_path):
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int32()), pa.array(["a", "b", "a", "z"]))
    release = pa.table({"age": [1, 2], "ill": pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), values)})
    assert proven(release).holds
    path = stored(release, tmp_path, ".arrow")
    assert audit_release(path, rules(), certificate=certificate(path, 2, ["a", "b"])).passed
    # an entry that is there twice is one value
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 0], pa.int32()), values.dictionary)
    alike = pa.table({"age": [1, 2], "ill": pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), twice)})
    assert not proven(alike).holds


# ---- sets in text


def text(tmp_path, *cells, **ill):
    path = write(tmp_path / "release.csv", ["age", "ill"], [[n, cell] for n, cell in enumerate(cells)])
    return required(audit_release(path, rules(**ill)))


def test_sets_in_text(tmp_path):
    assert text(tmp_path, "a,b", "b,c,d", "a,").holds
    assert text(tmp_path, "a|b", "c,d|e", separator="|").holds
    for bad, least in {"a": 1, "": 0, "a,a": 1, "a, a": 1, " a,a ": 1, ",": 1, "a;b": 1}.items():
        guarantee = text(tmp_path, "a,b", bad)
        assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, least, 1), bad
    assert not text(tmp_path, "a,b", "a,c", separator="|").holds


# ---- what a certificate says of sets


def certificate(path, rows, values, **more):
    told = {"columns": {"ill": {"l": 2, "values": values, "frequencies": "uniform"}}, "randomness": "a coin"}
    said = paper(path, rules(), mechanism=told)
    assert said["rows_out"] == rows
    return said | more


def test_values_that_the_certificate_does_not_tell(tmp_path):
    path = stored(sets(["a", "b"], ["b", None]), tmp_path, ".parquet")
    assert audit_release(path, rules(), certificate=certificate(path, 2, ["a", "b", "c", None])).passed
    for values in (["a", "b"], ["a", "c", None], [], [1, 2], None, "ab"):
        report = audit_release(path, rules(), certificate=certificate(path, 2, values))
        assert not report.passed, values
        assert not broken(report)
        assert all("mechanism" in problem for problem in report.to_dict()["problems"])
    for mechanism in ({}, {"columns": {}}, {"columns": {"ill": None}}, None, []):
        report = audit_release(path, rules(), certificate=certificate(path, 2, [], mechanism=mechanism))
        assert not report.passed, mechanism


def test_a_certificate_of_another_file(tmp_path):
    path = stored(sets(["a", "b"], ["b", "a"]), tmp_path, ".parquet")
    for said in ({"rows_out": 3}, {"release_sha256": "0" * 64}):
        assert not audit_release(path, rules(), certificate=certificate(path, 2, ["a", "b"]) | said).passed


# ---- releases as they are made, and what becomes of them


def people(rows=24):
    return pa.table({"age": range(rows), "ill": [ILLNESSES[n % 4] for n in range(rows)], "name": ["n"] * rows})


def made(folder, method, ending=".parquet", **more):
    given = rules(method, **more)
    sudare.anonymize(people(), given, out=folder / f"r{ending}")
    assert sudare.audit(folder / f"r{ending}", given).passed
    return folder / f"r{ending}"


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_auditor_tells_how_it_was_made_and_not_the_certificate(method, ending, tmp_path):
    given = rules("top-down")
    path = tmp_path / f"r{ending}"
    sudare.anonymize(people(), given, method=method, out=path)
    assert sudare.audit(path, given, method=method).passed
    try:
        report = sudare.audit(path, given)
        assert not report.passed
        said = str(report.problems)
    except AuditFailedError as error:  # a table of groups has no sensitive column
        said = str(error)
    assert "certificate.method.name" in said
    assert f"--method {method}" in said


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_without_a_certificate_the_policy_tells_how_it_was_made(method, tmp_path):
    path = made(tmp_path, method)
    (tmp_path / "r.parquet.sudare.json").unlink()
    assert sudare.audit(path, rules(method)).passed
    try:
        assert not sudare.audit(path, rules("top-down")).passed
    except DataError as error:
        assert method == "anatomy"
        assert "ill: is not a column of the release" in str(error)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_a_generalized_release_does_not_pass_for_a_hidden_one(method, ending, tmp_path):
    path = made(tmp_path, "top-down", ending)
    paper = tmp_path / f"r{ending}.sudare.json"
    told = json.loads(paper.read_text())
    told["method"] = {"name": method}
    told["mechanism"] = {"columns": {"ill": {"l": 2, "values": ILLNESSES}}}
    paper.write_text(json.dumps(told))
    assert not sudare.audit(path, rules("top-down")).passed
    try:
        report = sudare.audit(path, rules("top-down"), method=method)
        assert broken(report) == ["l-diversity"]
        assert report.guarantees[0].offending_classes == 24
    except DataError as error:
        assert method == "anatomy"
        assert "r.sensitive" in str(error)


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_unique_records_do_not_pass_since_a_certificate_names_a_method_that_leaves_them(method, tmp_path):
    """The quasi-identifiers are unique, the sets are sets of l: under the policy's method this proves nothing."""
    path = tmp_path / "r.parquet"
    sudare.anonymize(people(), rules(method), out=path)
    asked = rules("top-down")
    paper = tmp_path / "r.parquet.sudare.json"
    paper.write_text(json.dumps(json.loads(paper.read_text()) | {"policy_sha256": asked.sha256}))
    try:
        assert not sudare.audit(path, asked).passed
    except AuditFailedError as error:
        assert method == "anatomy"
        assert "--method anatomy" in str(error)


@pytest.mark.parametrize("forged", [{"name": "unheard-of"}, {"name": None}, {}, None, "dummies", ["dummies"]])
def test_whatever_stands_for_the_method_in_a_certificate(forged, tmp_path):
    path = made(tmp_path, "top-down")
    paper = tmp_path / "r.parquet.sudare.json"
    paper.write_text(json.dumps(json.loads(paper.read_text()) | {"method": forged}))
    report = sudare.audit(path, rules("top-down"))
    assert not report.passed
    assert not broken(report)
    assert "certificate.method" in str(report.problems)


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
def test_promises_that_hiding_cannot_keep(method, tmp_path):
    path = made(tmp_path, method)
    asked = Policy.parse(
        {
            "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "require": [{"model": "l-diversity", "l": 2, "column": "ill"}, {"model": "k-anonymity", "k": 2}],
        }
    )
    with pytest.raises(DataError, match=f"{method} proves only l-diversity"):
        audit_release(path, asked, method=method)
    for variant in ({"variant": "entropy"}, {"variant": "recursive", "c": 2.0}):
        spec = {"model": "l-diversity", "l": 2, "column": "ill", **variant}
        with pytest.raises(DataError, match=f"{method} proves only l-diversity"):
            audit_release(path, asked.model_copy(update={"require": [*Policy.parse(
                {"columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}, "require": [spec]}
            ).require]}), method=method)  # fmt: skip


@pytest.mark.parametrize("method", ["dummies", "anatomy"])
@pytest.mark.parametrize(("extra", "promise"), [("name", "identifiers absent"), ("x", "unnamed columns absent")])
def test_a_column_that_was_left_in(method, extra, promise, tmp_path):
    path = made(tmp_path, method)
    table = pq.read_table(path)
    pq.write_table(table.append_column(extra, table["age"]), path)
    assert broken(sudare.audit(path, rules(method))) == [promise]


# ---- groups


def changed(path, change, second=True):
    """Change the rows of one of the two tables of a release in text, without the certificate that would tell."""
    file = path.with_name("r.sensitive.csv") if second else path
    with file.open(encoding="utf-8", newline="") as opened:
        header, *lines = csv.reader(opened)
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    rows = change(rows) or rows
    write(file, list(rows[0]), [list(row.values()) for row in rows])
    path.with_name("r.csv.sudare.json").unlink(missing_ok=True)
    return required(audit_release(path, rules("anatomy", l=4)))


@pytest.fixture
def groups(tmp_path):
    """Six groups with each of four values."""
    path = made(tmp_path, "anatomy", ".csv", l=4)
    guarantee = changed(path, lambda rows: None)
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (True, 4, 0)
    return path


def put(place, **cells):
    return lambda rows: rows[place].update(cells)


def test_a_group_with_fewer_values(groups):
    guarantee = changed(groups, lambda rows: rows[1:])
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, 3, 1)


def test_a_value_in_too_many_records_of_a_group(groups):
    def more(rows):
        rows[0]["count"], rows[1]["count"] = "2", "0"

    assert changed(groups, more).offending_classes == 1


def test_a_value_in_too_many_records_though_all_agree(groups):
    # a fifth record joins the first group, with a value that is there already
    def join(rows):
        rows.append({**rows[0], "group": "1"})

    changed(groups, join, second=False)
    guarantee = changed(groups, put(0, count="2"))
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, 4, 1)
    assert "agree" not in guarantee.note


@pytest.mark.parametrize(
    "cells",
    [
        {"count": "2"}, {"count": "0"}, {"count": "-1"}, {"count": ""}, {"count": "1.0"}, {"count": "0.6"},
        {"count": "1e0"}, {"count": "one"}, {"count": "99999999999999999999"}, {"group": "2"}, {"group": ""},
        {"group": "7"}, {"group": "01"}, {"ill": "cut"},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_the_second_table_that_does_not_agree(groups, cells):
    guarantee = changed(groups, put(0, **cells))
    assert not guarantee.holds
    assert guarantee.offending_classes in (1, 2)
    assert "do not agree on" in guarantee.note
    assert "cut" not in guarantee.note


@pytest.mark.parametrize("group", ["7", "", "0", "x"])
def test_a_record_of_a_group_that_there_is_not(groups, group):
    guarantee = changed(groups, put(0, group=group), second=False)
    assert (guarantee.holds, guarantee.achieved, guarantee.offending_classes) == (False, 0, 2)


def test_a_record_more_or_less(groups):
    assert not changed(groups, lambda rows: rows[1:], second=False).holds
    groups_again = changed(groups, lambda rows: [*rows, *rows], second=False)
    assert groups_again.offending_classes == 6


def test_a_group_that_no_record_has(groups):
    guarantee = changed(groups, lambda rows: [*rows, *({**rows[n], "group": "8"} for n in range(4))])
    assert (guarantee.holds, guarantee.offending_classes) == (False, 1)


def test_a_missing_value_is_a_value_of_its_own(groups):
    assert changed(groups, put(0, ill="")).holds
    assert not changed(groups, put(1, ill="")).holds


def test_the_sensitive_column_left_in_the_first_table(groups):
    with pytest.raises(DataError, match="shows 'ill' beside the quasi-identifiers"):
        changed(groups, lambda rows: [{**row, "ill": "flu"} for row in rows], second=False)


@pytest.mark.parametrize("extra", ["age", "name", "x"])
def test_a_column_more_in_the_second_table(groups, extra):
    with pytest.raises(DataError, match=r"r\.sensitive\.csv: has 1 columns beside"):
        changed(groups, lambda rows: [{**row, extra: "1"} for row in rows])


@pytest.mark.parametrize(("lost", "second"), [("group", False), ("group", True), ("ill", True), ("count", True)])
def test_a_column_less(groups, lost, second):
    with pytest.raises(DataError, match=f"has no column '{lost}'"):
        changed(groups, lambda rows: [{k: v for k, v in row.items() if k != lost} for row in rows], second)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_second_table_that_is_not_the_one(ending, tmp_path):
    path = made(tmp_path, "anatomy", ending)
    second = tmp_path / f"r.sensitive{ending}"
    whole = second.read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    sudare.anonymize(people().slice(4), rules("anatomy"), out=other / f"r{ending}")
    second.write_bytes((other / f"r.sensitive{ending}").read_bytes())
    report = sudare.audit(path, rules("anatomy"))
    assert broken(report) == ["l-diversity"]
    assert "certificate.mechanism.second_sha256" in [problem.where for problem in report.problems]
    second.unlink()
    with pytest.raises(DataError, match="there is no such file"):
        sudare.audit(path, rules("anatomy"))
    second.write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        sudare.audit(path, rules("anatomy"))
    second.write_bytes(whole)
    assert sudare.audit(path, rules("anatomy")).passed


def test_the_digest_of_the_second_table(tmp_path):
    path = made(tmp_path, "anatomy", ".csv")
    second = tmp_path / "r.sensitive.csv"
    header, *lines = second.read_text().splitlines()
    second.write_text("\n".join([header, *lines[::-1]]) + "\n")
    report = sudare.audit(path, rules("anatomy"))
    assert not report.passed
    assert not broken(report)
    assert "certificate.mechanism.second_sha256" in [problem.where for problem in report.problems]
    paper = tmp_path / "r.csv.sudare.json"
    told = json.loads(paper.read_text())
    del told["mechanism"]["second_sha256"]
    paper.write_text(json.dumps(told))
    assert not sudare.audit(path, rules("anatomy")).passed


def test_a_second_table_that_two_readers_read_differently(groups):
    file = groups.with_name("r.sensitive.csv")
    file.write_text(file.read_text() + "1,flu\n")
    groups.with_name("r.csv.sudare.json").unlink(missing_ok=True)
    with pytest.raises(DataError, match=r"r\.sensitive\.csv"):
        audit_release(groups, rules("anatomy", l=4))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("pair", [[-0.0, 0.0], [math.nan, None], [1.5, 1.5]], ids=str)
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_spellings_of_one_number_are_no_diversity_in_a_group(kind, pair, ending, tmp_path):
    path = stored(pa.table({"age": [1, 2, 3, 4], "group": [1, 1, 2, 2]}), tmp_path, ending)
    for values, holds in ((pair, False), ([0.0, math.nan], True)):
        told = {"group": [1, 1, 2, 2], "ill": pa.array([0.5, 1.5, *values], kind), "count": [1, 1, 1, 1]}
        stored(pa.table(told), tmp_path, ending).rename(tmp_path / f"release.sensitive{ending}")
        stored(pa.table({"age": [1, 2, 3, 4], "group": [1, 1, 2, 2]}), tmp_path, ending)
        assert required(audit_release(path, rules("anatomy"))).holds == holds


def test_groups_in_memory_have_no_second_table():
    with pytest.raises(DataError, match="second table, which is a file beside the release"):
        audit_release(pa.table({"age": [1, 2], "group": [1, 1]}), rules("anatomy"))


def test_no_message_holds_a_value(groups):
    guarantee = changed(groups, put(0, ill="cut", count="secret"))
    assert not guarantee.holds
    assert "secret" not in str(guarantee)
    assert "cut" not in str(guarantee)
