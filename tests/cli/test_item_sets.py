"""Item sets on the command line: what is odd about them is defined, and what cannot be done is said clearly."""

from __future__ import annotations

import csv
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.private_folders import PREFIX

from .people import command, run

PEOPLE = 60


def write(folder, sets, *, k=5, kind=None, spec=None, **more):
    """Write a table with one item-set column and its policy; return the arguments to release it."""
    if kind == "text":
        lines = "\n".join(f"{place % 7},{cell}" for place, cell in enumerate(sets))
        source = folder / "people.csv"
        source.write_text(f"age,things\n{lines}\n")
    else:
        ages = [place % 7 for place in range(len(sets))]
        source = folder / "people.parquet"
        pq.write_table(pa.table({"age": ages, "things": pa.array(sets, kind or pa.list_(pa.string()))}), source)
    policy = {
        "columns": {"age": {"role": "quasi"}, "things": {"role": "quasi", "kind": "items", **(spec or {})}},
        "require": [{"model": "k-anonymity", "k": k}],
        **more,
    }
    (folder / "policy.json").write_text(json.dumps(policy))
    out = folder / f"release{source.suffix}"
    return ["anonymize", source, "--policy", folder / "policy.json", "--out", out, "--json"], out


def made(given):
    done = run(*given)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def shown(out):
    return pq.read_table(out).column("things").to_pylist()


def texts(out):
    with out.open(encoding="utf-8", newline="") as file:
        return {record["things"] for record in csv.DictReader(file)}


def refused(given, out, code=2):
    done = run(*given)
    assert done.exit_code == code
    assert "Traceback" not in done.stderr
    assert not out.exists()
    assert not [path for path in out.parent.iterdir() if path.name.startswith(PREFIX)]
    return json.loads(done.stdout)["error"]["message"]


def test_by_the_real_command(tmp_path):
    given, out = write(tmp_path, [["a", "b"], ["a"]] * 30)
    done = command(*given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["item_sets"]["things"]["disclosed"] == 90
    assert sorted(map(tuple, shown(out))) == [("a",)] * 30 + [("a", "b")] * 30


def test_all_sets_empty(tmp_path):
    given, out = write(tmp_path, [[]] * PEOPLE)
    assert made(given)["item_sets"]["things"] == {"disclosed": 0, "ncp": 0.0}
    assert shown(out) == [[]] * PEOPLE


def test_all_sets_null(tmp_path):
    given, out = write(tmp_path, [None] * PEOPLE)
    assert made(given)["item_sets"]["things"]["ncp"] == 0.0
    assert shown(out) == [None] * PEOPLE


def test_null_and_empty_sets_differ_and_few_nulls_are_not_told(tmp_path):
    given, out = write(tmp_path, [None] * 20 + [[]] * 38 + [None] * 2, release={"order": "keep"})
    made(given)
    found = shown(out)
    assert found.count(None) + found.count([]) == PEOPLE
    assert all(cell == [] for cell in found[20:58])
    assert found.count(None) >= 5
    given, out = write(tmp_path, [None] * 3 + [[]] * 57)
    made(given)
    assert shown(out) == [[]] * PEOPLE


def test_repeated_empty_and_null_items_and_blanks_count_once_or_not(tmp_path):
    given, out = write(tmp_path, [["b", "a", "a", " a ", "", None]] * PEOPLE)
    assert made(given)["item_sets"]["things"]["disclosed"] == 2 * PEOPLE
    assert shown(out) == [["a", "b"]] * PEOPLE


def test_one_item_in_every_record_is_always_shown(tmp_path):
    given, out = write(tmp_path, [["all", f"own {place}"] for place in range(PEOPLE)])
    assert made(given)["item_sets"]["things"]["disclosed"] == PEOPLE
    assert shown(out) == [["all"]] * PEOPLE


def test_a_million_different_items(tmp_path):
    sets = [[f"i{place * 20 + item}" for item in range(20)] + ["all"] for place in range(50_000)]
    given, out = write(tmp_path, sets)
    assert made(given)["item_sets"]["things"]["disclosed"] == 50_000
    assert set(map(tuple, shown(out))) == {("all",)}


def test_sets_of_ten_thousand_items(tmp_path):
    draw = random.Random(1)
    everything = [f"i{item}" for item in range(12_000)]
    sets = [draw.sample(everything, 10_000) for _ in range(12)] + [["i0"]] * 12
    given, out = write(tmp_path, sets)
    figures = made(given)["item_sets"]["things"]
    assert figures["disclosed"] == sum(map(len, shown(out))) > 0


def test_more_items_than_a_record_may_have(tmp_path):
    given, out = write(tmp_path, [[f"secret {item}" for item in range(70_000)]] * 10)
    message = refused(given, out)
    assert "65,535" in message
    assert "things" in message
    assert "secret" not in message


def test_a_separator_that_never_occurs(tmp_path):
    given, out = write(tmp_path, ["a b", "a b", "c"] * 20, kind="text", spec={"separator": ";"})
    made(given)
    assert texts(out) <= {"a b", "c", ""}
    assert sudare.audit(out, tmp_path / "policy.json").passed


def test_text_with_a_separator(tmp_path):
    given, out = write(tmp_path, ["b; a;;a", "", "c"] * 20, kind="text", spec={"separator": ";"})
    assert made(given)["item_sets"]["things"]["disclosed"] == 60
    assert texts(out) == {"a;b", "", "c"}


def test_an_item_that_text_cannot_show(tmp_path):
    given, out = write(tmp_path, [["secret, thing"]] * PEOPLE)
    given[given.index(out)] = out = out.with_suffix(".csv")
    message = refused(given, out)
    assert "separator" in message
    assert "secret" not in message


def test_what_is_not_a_set(tmp_path):
    given, out = write(tmp_path, [{"a": 1}] * PEOPLE, kind=pa.struct([("a", pa.int64())]))
    assert "not a list of items" in refused(given, out)


def test_items_that_the_hierarchy_lacks(tmp_path):
    spec = {"hierarchy": {"tree": {"all": ["a", "b"]}}}
    given, out = write(tmp_path, [["a", "secret"], ["b"]] * 30, spec=spec)
    message = refused(given, out)
    assert "1 of the column's 3 distinct values" in message
    assert "secret" not in message


def test_an_item_is_released_as_its_lowest_ancestor(tmp_path):
    tree = {"bacterial": ["cholera", "typhoid"], "viral": ["measles", "mumps"]}
    sets = [["cholera"] if place < 2 else ["typhoid"] if place < 8 else ["measles"] for place in range(PEOPLE)]
    given, out = write(tmp_path, sets, k=8, spec={"hierarchy": {"tree": tree}, "weight": 100.0})
    figures = made(given)["item_sets"]["things"]
    assert sorted(map(tuple, shown(out))) == [("bacterial",)] * 8 + [("measles",)] * 52
    assert figures["disclosed"] == 52
    assert figures["ncp"] == pytest.approx(8 * 0.5 / PEOPLE, abs=1e-4)


def test_methods_without_item_sets_say_so(tmp_path):
    given, out = write(tmp_path, [["a"]] * PEOPLE)
    assert "top-down" in refused([*given, "--method", "mondrian"], out)


@pytest.mark.parametrize("wrong", [{"beta": 1.5}, {"beta": True}, {"order": "local"}, {"items": "two"}])
def test_wrong_options(tmp_path, wrong):
    given, out = write(tmp_path, [["a"]] * PEOPLE, method={"name": "top-down", **wrong})
    assert "Allowed" in refused(given, out)


def test_km_alone_keeps_what_each_record_has(tmp_path):
    sets = [["a", "b"], ["a", "c"], ["b"]] * 19 + [["a", "rare"], ["c"], []]
    given, out = write(
        tmp_path,
        sets,
        require=[
            {"model": "k-anonymity", "k": 5, "columns": ["age"]},
            {"model": "km-anonymity", "k": 5, "m": 2, "column": "things"},
        ],
        release={"order": "keep"},
    )
    made(given)
    found = [set(cell) for cell in shown(out)]
    assert found == [set(cell) - {"rare"} for cell in sets]


SENSITIVE = {
    "columns": {"age": {"role": "quasi"}, "things": {"role": "sensitive", "kind": "items"}},
    "require": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "column": "things", "l": 2, "variant": "frequency"},
    ],
}
PIPES = [f"flu|{'abcdefgh'[place % 8]}|{place}" for place in range(PEOPLE)]


@pytest.mark.parametrize("more", [{}, SENSITIVE], ids=["quasi", "sensitive"])
def test_a_separator_that_no_cell_has_is_refused_where_another_is_plain(tmp_path, more):
    """Each cell would be one item: everybody has flu here, and the promise would be "kept"."""
    given, out = write(tmp_path, PIPES, kind="text", **more)
    done = run(*given)
    assert done.exit_code == 2
    [problem] = json.loads(done.stdout)["error"]["problems"]
    assert problem["where"] == "column 'things'"
    assert problem["what"] == "no cell has the separator ',', and 100% of them have '|'."
    assert 'separator: "|"' in problem["hint"]
    assert "flu" not in done.output
    assert not out.exists()


def test_a_separator_that_some_cell_has_is_taken_as_it_is(tmp_path):
    given, _ = write(tmp_path, [*PIPES, "x;y"], kind="text", spec={"separator": ";"})
    assert made(given)["rows_out"] == PEOPLE + 1


def test_single_items_need_no_separator(tmp_path):
    given, _ = write(tmp_path, ["ale", "rum"] * 30 + ["ale/rum"] * 3, kind="text")
    assert made(given)["rows_out"] == PEOPLE + 3


def test_one_item_in_every_sensitive_set_ends_with_the_reason(tmp_path):
    """No class could hide it, whatever is generalized; 1 is the exit code of a policy that cannot be met."""
    sets = [["flu", "abcdefgh"[place % 8]] for place in range(PEOPLE)]
    given, out = write(tmp_path, sets, **SENSITIVE)
    done = run(*given)
    assert done.exit_code == 1
    said = json.loads(done.stdout)["error"]
    assert "things" in json.dumps(said)
    assert "100" in json.dumps(said)
    assert "flu" not in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet", "policy.json"]
    assert not out.exists()
