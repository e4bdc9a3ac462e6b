"""The forms of transformed columns: releases that keep them pass, and one changed cell is found."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.audits import AuditorInput, Elsewhere, audit_release
from sudare.audits.distributed_audit import Counting, Layout, look_at_cells, merged, prove_bucket
from sudare.audits.transformation_proofs import MODEL, Forms
from sudare.core.errors import PolicyError
from sudare.policy import Policy

KEY = {"env": "KEY"}
BESIDE = "zone"


def policy(transform, role="insensitive", *, require=(), release=None, method=None, **column):
    about = {
        "columns": {BESIDE: {"role": "quasi"}, "x": {"role": role, "transform": transform, **column}},
        "require": [{"model": "k-anonymity", "k": 2}, *require],
    }
    return Policy.parse(about | ({"release": release} if release else {}) | ({"method": method} if method else {}))


def release(cells, form, tmp_path):
    """Each cell in two records, in a file of a form or in memory."""
    cells = [cell for cell in cells for _ in (0, 1)]
    table = pa.table({BESIDE: ["a"] * len(cells), "x": cells})
    path = tmp_path / f"release.{form}"
    if form == "parquet":
        pq.write_table(table.replace_schema_metadata(None), path)
        return path
    if form == "csv":
        texts = table.column("x").cast(pa.string()).to_pylist()
        quoted = [f'"{text}"' if text is not None and "," in text else text or "" for text in texts]
        path.write_text("zone,x\n" + "".join(f"a,{text}\n" for text in quoted), encoding="utf-8")
        return path
    return table


def found(report):
    [mine] = [one for one in report.guarantees if one.model == MODEL]
    return mine


def look(cells, transform, tmp_path, form="table", told=None, **more):
    given = release(cells, form, tmp_path)
    return found(audit_release(given, policy(transform, **more), transformations=told))


HEX = "0123456789abcdef"
LISTED = {"values": {1: "one", 2: "two"}}
KEPT = {"values": {1: "one", 2: "two", "x": "3"}, "else": "keep"}
EDGES = {"edges": [18, 40, 65, 66]}
FORMS = [
    # the transformation, cells that have its form, and cells that do not
    ({"top": 89}, [1, 89, -4, None], [90]),
    ({"top": {"at": 89, "shows": 95}}, [1.5, 88.99, 1e-7, 95.0], [94.0]),
    ({"top": {"at": 89, "shows": "90+"}}, ["1", "89", "90+"], ["91", "90", "90 +", "89+"]),
    ({"bottom": 18}, [18, 40], [17]),
    ([{"bottom": 18}, {"top": 89}], [18, 89], [17, 90]),
    ({"round": 5}, [5, 0, -15, None], [6]),
    ({"round": 0.1}, [0.3, 12345.7, 1e16, -0.1], [0.30000000000000004, 0.15, 1e-7]),
    ({"round": 0.25}, [0.5, 7.75], [0.3]),
    ({"truncate": "year"}, [1987, 2024], [20240]),
    ({"truncate": "month"}, ["2024-03"], ["2024-13", "2024-3", "2024-03-01"]),
    ({"truncate": "quarter"}, ["2024-Q4"], ["2024-Q5", "2024 Q1"]),
    ({"truncate": "week"}, ["2024-W05", "2020-W53"], ["2024-W54", "2021-W53", "2024-W00"]),
    ({"truncate": 3}, ["abc", "ä", "日本語"], ["abcd"]),
    ({"band": 5}, ["[20, 24]", "[-5, -1]", None], ["[21, 25]", "[20, 25]", "20", "[20, 24.5]", "[020, 24]", "[-0, 4]"]),
    ({"band": 5}, ["[20, 25)", "[0, 5)"], ["[21, 26)", "[20, 24)"]),
    ({"band": 0.1}, ["[0.3, 0.4)", "[-0.1, 0)"], ["[0.30, 0.4)", "[0.35, 0.45)", "[0.3, 0.4]"]),
    ({"band": 1}, ["20", "-3"], ["[20, 20]", "20.5"]),
    ({"band": EDGES}, ["< 18", "[18, 39]", "65", ">= 66"], ["< 40", ">= 65", "[18, 40]", "[40, 65]"]),
    ({"band": EDGES}, ["< 18", "[18, 40)", "[65, 66)"], ["[18, 39)", "<18"]),
    ({"mask": {"keep_first": 1}}, ["A***", "*", "ä*"], ["A", "A**B", "***B"]),
    ({"mask": {"keep_last": 2, "with": "#"}}, ["###45", "##"], ["#4", "###456", "****5"]),
    ("mask", ["***"], ["*x*"]),
    ({"replace": LISTED}, ["one", "two", None], ["1", "three", "One"]),
    ({"replace": KEPT}, ["one", "3", "3.0", "else"], ["1", "2.0", "x", " x"]),
    ("redact", [None], ["x"]),
    ({"noise": {"scale": 3, "bounds": [0, 2]}}, [0.0, 1.5, 2.0], [2.5, -0.1]),
    ({"pseudonym": {"key": KEY}}, [HEX], [HEX.upper(), HEX[:-1], HEX + "0", HEX[:-1] + "g", HEX[:-1] + " "]),
    ({"pseudonym": {"key": KEY, "form": "base32"}}, ["abcdefghij234"], ["abcdefghij231"]),
    ({"pseudonym": {"key": KEY, "form": "digits", "length": 9}}, ["012345678"], ["12345678"]),
    # only the last form is shown; limits outlive rounding and bands, and values that change places stay the same
    ([{"top": 89}, {"round": 5}], [85, 90], [95]),
    ([{"top": 89}, {"round": {"to": 5, "how": "down"}}], [85], [90]),
    ([{"round": 5}, {"top": 89}], [85, 89], [88, 90]),
    ([{"bottom": 18}, {"top": 89}, {"band": 5}], ["[15, 19]", "[85, 89]"], ["[90, 94]", "[10, 14]"]),
    ([{"top": 89}, "shuffle"], [89], [90]),
    ([{"round": 5}, {"swap": 0.1}], [5], [6]),
    ([{"noise": {"scale": 1}}, {"round": 1}], [3], [3.5]),
    ([{"truncate": 5}, {"mask": {"keep_first": 3}}], ["902**"], ["90210"]),
    ([{"pseudonym": {"key": KEY}}, {"truncate": 4}], ["01ab"], ["01abc"]),
    ([{"replace": {**LISTED, "else": "keep"}}, "redact"], [None], ["one"]),
]  # fmt: skip


@pytest.mark.parametrize("form", ["table", "csv", "parquet"])
@pytest.mark.parametrize(("transform", "good", "bad"), FORMS, ids=lambda value: str(value)[:40])
def test_each_changed_cell_is_found(transform, good, bad, form, tmp_path):
    mine = look(good, transform, tmp_path, form)
    assert (mine.holds, mine.required, mine.achieved, mine.offending_classes) == (True, 0, 0, 0), mine.note
    for cell in bad:
        one = look([*good, cell], transform, tmp_path, form)
        assert (one.holds, one.achieved, one.offending_classes) == (False, 2, 2), cell
        told = str(one.problem())
        assert told.startswith("transformation of 'x'")
        assert "Cells that do not have the form: 2." in told
        assert isinstance(cell, int | float) or len(cell) < 5 or f"{cell}" not in told


def test_the_guarantee_names_steps_and_never_a_key_or_a_list(tmp_path):
    steps = [{"replace": LISTED}, {"pseudonym": {"key": {"file": "secret.key"}, "space": "people"}}]
    mine = look([HEX], steps, tmp_path)
    told = mine.to_dict()
    assert told["parameters"] == {
        "column": "x",
        "steps": [{"replace": {"else": "error"}}, {"pseudonym": {"form": "hex", "space": "people"}}],
    }
    assert "secret.key" not in str(told)
    assert "one" not in str(told["parameters"])
    assert "Pseudonyms are not anonymity." in mine.note
    assert "do not show replace" in mine.note


@pytest.mark.parametrize(
    ("transform", "cells"),
    [
        ([{"shift": {"per": BESIDE}}], ["2024-01-05"]),
        ([{"noise": {"sd": 0.1}}], [1.5]),
        (["shuffle"], [1]),
        ([{"top": 89}, {"noise": {"sd": 0.1}}], [99.5]),
        ([{"top": {"share": 0.01}}], [99.5]),
    ],
)
def test_what_leaves_no_form_proves_nothing_and_says_so(transform, cells, tmp_path):
    mine = look(cells, transform, tmp_path)
    assert (mine.holds, mine.required, mine.achieved) == (True, None, None)
    assert mine.note.startswith("Nothing follows from the cells.")
    assert "rests on whoever made the release" in mine.note


def test_a_limit_that_was_found_is_proven_once_it_is_known(tmp_path):
    entry = {"column": "x", "transformation": "top", "figures": {"limit": 80, "share": 0.01}}
    transform = {"top": {"share": 0.01}}
    assert look([79, 80], transform, tmp_path, told=[entry]).required == 0
    assert look([79, 81], transform, tmp_path, told=[entry]).offending_classes == 2
    other = entry | {"column": "y"}
    assert look([79, 81], transform, tmp_path, told=[other]).required is None


def test_bands_are_written_in_one_way(tmp_path):
    mine = look(["[20, 24]", "[20, 24]", "[25, 30)"], {"band": 5}, tmp_path)
    assert (mine.holds, mine.offending_classes) == (False, 2)


def test_a_list_in_a_file(tmp_path):
    (tmp_path / "list.csv").write_text('from;to\n1;one\n"a;b";two\n3;\n', encoding="utf-8-sig")
    steps = {"replace": {"file": str(tmp_path / "list.csv"), "else": "null"}}
    assert look(["one", "two", None], steps, tmp_path).holds
    assert not look(["one", "1"], steps, tmp_path).holds
    for text in ("1;one\n", "from,to\n1\n", 'from,to\n"1,one\n'):
        (tmp_path / "list.csv").write_text(text, encoding="utf-8")
        with pytest.raises(PolicyError, match="replacements") as caught:
            look(["one"], steps, tmp_path)
        assert caught.value.exit_code == 2
    (tmp_path / "list.csv").unlink()
    with pytest.raises(PolicyError, match="no such file"):
        look(["one"], steps, tmp_path)


# ---- quasi-identifiers: values, and what covers them

COVERED = [
    ({"top": 89}, {}, ["12", "[12, 89]", "*", None], ["90", "[12, 91]", "[91, 95]", "[89, 12]", "[x, 89]", "90*"]),
    ({"top": 89}, {}, ["[12, 90]", "[12, 100]"], ["[12, 99]", "[95, 100]"]),
    ({"round": 7}, {}, ["7", "[14, 21]", "[10, 20]"], ["8", "[14, 22]", "[14, 23]"]),
    ({"round": 5}, {}, ["[15, 20]"], ["[15, 22]", "16"]),
    ({"top": {"at": 89, "shows": "90+"}}, {}, ["{12, 90+}", "{12, null}", "90+", "{12, other}"], ["{12, 91}", "90"]),
    ({"truncate": "month"}, {}, ["{2024-01, 2024-02}"], ["{2024-01, 2024-14}"]),
    ({"truncate": 3}, {}, ["abc", "{abc, d}", '{"a,b", "{}"}', '"*"'], ["{abc, defg}", "abcd"]),
    ({"band": 5}, {}, ['"[20, 24]"', '{"[20, 24]", "[25, 29]"}', "*"], ['"[21, 25]"', '{"[20, 24]", "[25, 30]"}']),
    ({"band": EDGES}, {}, ["< 18", '{< 18, "[18, 39]", null}'], ['{< 19, "[18, 39]"}']),
    ({"mask": {"keep_first": 2}}, {}, ["90***", "{90***, 91***}"], ["{90***, 91234}", "90210"]),
    ({"pseudonym": {"key": KEY, "length": 5}}, {}, ["{00000, abcde}"], ["{00000, ABCDE}"]),
    ("redact", {}, [None, "*"], ["x"]),
    # a hierarchy above the values
    ({"top": 89}, {"hierarchy": {"bands": [10, 20]}}, ["12", "[10, 19]", "[80, 99]", "*"], ["90", "[10, 18]", "95"]),
    ({"truncate": "month"}, {"hierarchy": {"dates": ["month", "year"]}}, ["2024-03", "2024"], ["2024-03-01"]),
    ({"truncate": 3}, {"hierarchy": {"prefix": [3, 2]}}, ["902", "90*", "*"], ["9021"]),
    (
        {"replace": {"values": {"a": "b"}, "else": "keep"}},
        {"hierarchy": {"tree": {"all": {"letters": ["a", "b", "c"], "digits": ["1"]}}}},
        ["b", "c", "letters", "all", "*"],
        ["a"],
    ),
    ({"top": 89}, {"hierarchy": {"tree": {"young": ["12", "30"], "old": ["89", "90"]}}}, ["young", "30"], ["90", "8s"]),
    ({"band": 5}, {"hierarchy": {"tree": {"kids": ["[0, 4]", "[5, 9]"], "old": ["x"]}}}, ["[0, 4]", "kids"], ["0"]),
]  # fmt: skip


@pytest.mark.parametrize("form", ["table", "csv"])
@pytest.mark.parametrize(("transform", "column", "good", "bad"), COVERED, ids=lambda value: str(value)[:30])
def test_cells_that_cover_values(transform, column, good, bad, form, tmp_path):
    def seen(cells):
        table = pa.table({BESIDE: ["a"] * (2 * len(cells)), "x": [cell for cell in cells for _ in (0, 1)]})
        given = table
        if form == "csv":
            texts = [
                '"' + cell.replace('"', '""') + '"' if cell and set(cell) & set('",') else cell or "" for cell in cells
            ]
            given = tmp_path / "release.csv"
            given.write_text("zone,x\n" + "".join(f"a,{text}\n" * 2 for text in texts), encoding="utf-8")
        return found(audit_release(given, policy(transform, "quasi", **column)))

    mine = seen(good)
    assert mine.holds, (mine, good)
    for cell in bad:
        one = seen([*good, cell])
        assert (one.holds, one.offending_classes) == (False, 2), cell


def test_what_covers_values_is_told(tmp_path):
    mine = look(["12", "[10, 19]", "*"], {"top": 89}, tmp_path, role="quasi", hierarchy={"bands": [10]})
    assert "4 cells are groups of the hierarchy" in mine.note
    mine = look(["12", "[12, 90]"], {"top": 89}, tmp_path, role="quasi")
    assert "2 cells are ranges that end in round numbers" in mine.note


def test_with_tight_ranges_every_end_is_a_value(tmp_path):
    tight = {"release": {"ranges": "tight"}, "role": "quasi"}
    assert look(["[12, 89]"], {"top": 89}, tmp_path, **tight).holds
    assert not look(["[12, 90]"], {"top": 89}, tmp_path, **tight).holds
    text = {"at": 89, "shows": "90+"}
    assert not look(["{12, other}"], {"top": text}, tmp_path, **tight).holds


def test_means_are_within_the_limits_and_prove_nothing_else(tmp_path):
    method = {"name": "microaggregation"}
    steps = [{"top": 89}, {"round": 5}]
    mine = look([12.3456, 90.0], steps, tmp_path, role="quasi", method=method)
    assert mine.holds
    assert "multiple" not in mine.note
    assert "do not show round" in mine.note
    assert not look([12.3456, 90.01], steps, tmp_path, role="quasi", method=method).holds
    nothing = look([12.3456], {"round": 5}, tmp_path, role="quasi", method=method)
    assert nothing.required is None
    exact = method | {"representative": "medoid"}
    assert not look([12.3456], {"round": 5}, tmp_path, role="quasi", method=exact).holds
    kept = method | {"columns": [BESIDE]}
    assert not look(["[12, 13]"], {"round": 5}, tmp_path, role="quasi", method=kept).holds


@pytest.mark.parametrize(
    ("role", "lists"), [("insensitive", True), ("insensitive", False), ("quasi", True), ("quasi", False)]
)
def test_items_one_by_one(role, lists, tmp_path):
    def seen(sets, transform):
        cells = sets if lists else [None if each is None else "|".join(each) for each in sets]
        return look(cells, transform, tmp_path, role=role, kind="items", separator="|")

    assert seen([["abc", "d"], [], None, ["abc"]], {"truncate": 3}).holds
    assert not seen([["abc", "defg"], []], {"truncate": 3}).holds
    assert seen([["one", "two"], ["one"]], {"replace": LISTED}).holds
    assert seen([["one", "three"], ["1"]], {"replace": LISTED}).offending_classes == 4
    pseudonym = {"pseudonym": {"key": KEY, "length": 5}}
    assert seen([["abcde", "01234"]], pseudonym).holds
    assert not seen([["abcde", "0123X"]], pseudonym).holds
    assert seen([[], None], "redact").holds
    assert not seen([["a"], None], "redact").holds


def test_items_under_a_hierarchy(tmp_path):
    more = {"role": "quasi", "kind": "items", "hierarchy": {"tree": {"fruit": ["app", "pea"], "nut": ["haz"]}}}
    assert look([["app", "nut"], ["fruit"]], {"truncate": 3}, tmp_path, **more).holds
    assert not look([["apple"]], {"truncate": 3}, tmp_path, **more).holds


def test_sets_with_a_true_value_are_looked_at_value_by_value():
    rules = policy(
        {"round": 5}, "sensitive", require=[{"model": "l-diversity", "l": 2, "column": "x"}], method={"name": "dummies"}
    )
    rules = rules.model_copy(update={"require": rules.require[1:]})
    facts = {"columns": {"x": {"l": 2, "values": [5, 10, 12]}}}

    def seen(sets):
        table = pa.table({BESIDE: ["a"] * len(sets), "x": pa.array(sets, pa.list_(pa.int64()))})
        return found(audit_release(table, rules, mechanism=facts))

    assert seen([[5, 10], [10, 15]]).holds
    assert seen([[5, 10], [10, 12]]).offending_classes == 1


def test_the_second_table_is_looked_at(tmp_path):
    rules = policy(
        {"round": 5}, "sensitive", require=[{"model": "l-diversity", "l": 2, "column": "x"}], method={"name": "anatomy"}
    )
    rules = rules.model_copy(update={"require": rules.require[1:]})
    (tmp_path / "release.csv").write_text("zone,group\na,1\nb,1\n", encoding="utf-8")
    for cell, holds in ((10, True), (11, False)):
        (tmp_path / "release.sensitive.csv").write_text(f"group,x,count\n1,5,1\n1,{cell},1\n", encoding="utf-8")
        assert found(audit_release(tmp_path / "release.csv", rules)).holds is holds


@pytest.mark.parametrize(("cells", "holds"), [(["17,5", "20"], True), (["17,4", "20"], False)])
def test_numbers_with_a_decimal_comma(cells, holds, tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("zone;x\n" + "".join(f"a;{cell}\n" * 2 for cell in cells), encoding="utf-8")
    rules = policy({"round": 2.5}, release={"decimal": ","})
    assert found(audit_release(path, rules)).holds is holds
    path.write_text("zone;x\n" + "".join(f'a;"[0; {cell}]"\n' * 2 for cell in cells), encoding="utf-8")
    rules = policy({"round": 2.5}, "quasi", release={"decimal": ",", "ranges": "tight"})
    assert found(audit_release(path, rules)).holds is holds


def test_cells_that_a_spreadsheet_would_run(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("zone,x\na,'===b\na,'=\n", encoding="utf-8")
    assert found(audit_release(path, policy({"mask": {"keep_last": 1, "with": "="}}))).holds


# ---- wherever rows are


def counted(table):
    def count(names):
        if not names:
            return pa.table({"n": [len(table)]})
        return table.select(list(names)).group_by(list(names)).aggregate([([], "count_all")])

    return Elsewhere("table", tuple(table.column_names), tuple(table.schema.types), count)


@pytest.mark.parametrize("role", ["insensitive", "quasi", "sensitive"])
def test_rows_that_a_database_counts(role):
    table = pa.table({BESIDE: ["a"] * 6, "x": [5, 5, 10, 10, 11, 11]})
    mine = found(audit_release(counted(table), policy({"round": 5}, role)))
    assert (mine.holds, mine.offending_classes) == (False, 2)
    good = pa.table({BESIDE: ["a"] * 6, "x": [5, 5, 10, 10, 15, 15]})
    assert found(audit_release(counted(good), policy({"round": 5}, role))).holds


def test_rows_on_many_machines_are_added_up():
    table = pa.table({BESIDE: ["a", "b"] * 5, "x": [5, 10, 15, 20, 25, 30, 31, 40, 45, 52], "y": ["1"] * 10})
    rules = policy({"round": 5})
    layout = Layout("release", tuple(table.column_names), tuple(table.schema.types), rules)
    parts = [table.slice(0, 4), table.slice(4, 6)]
    forms = Forms.of(rules, AuditorInput())
    cells = [look_at_cells(iter(part.select(["x"]).to_batches()), layout, forms) for part in parts]
    batches = table.select(layout.needed).to_batches()
    buckets = [prove_bucket(rows, layout, None) for _, rows in Counting(layout, 3)(iter(batches))]

    def count(names):
        return counted(table).count(names)

    told = merged(buckets, layout, count, cells=cells)
    alone = audit_release(table, rules)
    assert found(told) == found(alone)
    assert found(alone).offending_classes == 2
    # what no machine looked at is not proven
    assert not found(merged(buckets, layout, count)).holds


def test_a_column_that_is_not_there_shows_nothing():
    mine = found(audit_release(pa.table({BESIDE: ["a", "a"]}), policy({"round": 5})))
    assert mine.holds
    assert mine.note == "The release does not have this column."


def test_many_different_cells_of_many_columns_are_read_at_once(tmp_path):
    rows = 200_000
    names = [f"x{number}" for number in range(4)]
    steps = [{"round": 0.01}, {"pseudonym": {"key": KEY}}, {"truncate": 8}, {"top": 1e6}]
    about = {BESIDE: {"role": "quasi"}}
    about |= {name: {"role": "insensitive", "transform": step} for name, step in zip(names, steps, strict=True)}
    rules = Policy.parse({"columns": about, "require": [{"model": "k-anonymity", "k": 2}]})
    cells = {
        "x0": [round(number / 100, 2) for number in range(rows)],
        "x1": [f"{number:016x}" for number in range(rows)],
        "x2": [f"{number:08d}" for number in range(rows)],
        "x3": [number + 0.5 for number in range(rows)],
    }
    table = pa.table({BESIDE: ["a"] * rows} | cells)
    path = tmp_path / "release.parquet"
    pq.write_table(table.replace_schema_metadata(None), path)
    assert all(one.holds for one in audit_release(path, rules).guarantees if one.model == MODEL)
    cells["x1"][77] = "F" * 16
    pq.write_table(pa.table({BESIDE: ["a"] * rows} | cells).replace_schema_metadata(None), path)
    told = [one for one in audit_release(path, rules).guarantees if one.model == MODEL]
    assert [one.offending_classes for one in told] == [0, 1, 0, 0]
