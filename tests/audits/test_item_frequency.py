"""l-diversity of item sets as the audit defines it, over lists and text, and of files that somebody has changed."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.audits import audit_release
from sudare.core.errors import DataError
from sudare.policy import Policy

from .tables import classes, prove, write

SETS = {"role": "sensitive", "kind": "items"}


def asked(l, **more):  # noqa: E741
    return {"model": "l-diversity", "l": l, "column": "illness", "variant": "frequency", **more}


def proven(release, l, *, separator=None, exact=None, **more):  # noqa: E741
    column = SETS | ({"separator": separator} if separator else {}) | ({"exact": exact} if exact else {})
    return prove(release, asked(l, **more), illness=column)


@pytest.mark.parametrize(
    ("sets", "achieved"),
    [
        ([["flu"], ["cold"], ["gout"]], 3),
        ([["flu", "HIV"], ["flu"], ["cold"], []], 2),
        ([["flu", "flu"], []], 2),  # an item that is named twice is held once
        ([["hiv"], ["HIV "], ["flu"], None], 2),  # spellings of one item
        ([["h\u200biv"], ["HIV"], [" "], [None]], 2),  # blank and null items are none
        ([None, None, None], 3),
        ([["flu"], ["flu"]], 1),
        ([["1"], ["1.0"], ["2"]], 1),
    ],
)
def test_the_largest_l_of_a_class(sets, achieved):
    release = classes(a=sets)
    found = proven(release, 2)
    assert found.achieved == achieved
    assert found.holds == (achieved >= 2)
    assert found.offending_classes == (achieved < 2)


def test_the_worst_class_counts():
    release = classes(a=[["flu"], ["cold"], []], b=[["flu"], ["flu"], ["cold"]])
    found = proven(release, 3)
    assert (found.achieved, found.holds, found.offending_classes) == (1, False, 1)


def test_harmless_items_may_be_frequent():
    release = classes(a=[["flu", "HIV"], ["Flu"], ["flu "]])
    assert not proven(release, 2).holds
    assert proven(release, 3, harmless=["FLU"]).achieved == 3
    assert not proven(release, 3, harmless=["FLU"], exact=True).holds
    assert not proven(release, 3, harmless=["HIV"]).holds


def test_text_is_cut_at_the_separator(tmp_path):
    rows = [("a", "flu|HIV"), ("a", " flu | cold"), ("a", ""), ("a", "gout")]
    release = write(tmp_path / "r.csv", ["zone", "illness"], rows)
    assert proven(release, 2, separator="|").achieved == 2
    assert proven(release, 2, separator=";").achieved == 4  # each cell is one item then


def test_exact_items_are_compared_as_they_are_written():
    release = classes(a=[["hiv"], ["HIV"], ["flu"]])
    assert not proven(release, 3).holds
    assert proven(release, 3, exact=True).holds


item = st.sampled_from(["a", "A", "b", "c", " "])
records = st.lists(st.tuples(st.sampled_from("xyz"), st.one_of(st.none(), st.lists(item, max_size=3))), min_size=1)


@given(records)
def test_agrees_with_plain_python(rows):
    release = pa.table(
        {"zone": [zone for zone, _ in rows], "illness": pa.array([cell for _, cell in rows], pa.list_(pa.string()))}
    )
    worst = len(rows)
    for zone in {zone for zone, _ in rows}:
        cells = [{each.strip().lower() for each in cell or ()} - {""} for other, cell in rows if other == zone]
        most = max((sum(each in cell for cell in cells) for each in "abc"), default=0)
        worst = min(worst, len(cells) // max(most, 1))
    found = proven(release, 2)
    assert found.achieved == worst
    assert found.holds == (worst >= 2)


def test_a_changed_file_does_not_pass(tmp_path):
    table = pa.table({"age": [20, 21, 22, 23] * 5, "illness": [["a"], ["b"], ["c"], []] * 5})
    policy = {
        "columns": {"age": {"role": "quasi"}, "illness": SETS | {"separator": "|"}},
        "require": [{"model": "k-anonymity", "k": 4}, asked(2)],
    }
    path = tmp_path / "r.csv"
    sudare.anonymize(table, policy, out=path)
    assert sudare.audit(path, policy).passed
    lines = path.read_text().splitlines()
    # one item more in every set, in spellings of its own
    forged = [f"{line}|{mark}iv" if "," in line and not line.endswith(",") else f"{line}HIV" for line, mark in
              zip(lines[1:], "hH" * len(lines), strict=False)]  # fmt: skip
    path.write_text("\n".join([lines[0], *forged]) + "\n")
    report = sudare.audit(path, policy)
    assert not report.passed
    wrong = [each for each in report.guarantees if each.model == "l-diversity"]
    assert [(each.holds, each.achieved) for each in wrong] == [(False, 1)]


@pytest.mark.parametrize("separator", [None, "|"])
def test_rare_items_are_counted_and_not_only_rare_sets(tmp_path, separator):
    items = ["flu", "cold", "gout"]
    sets = [[items[row % 3], items[(row + row // 3) % 3]] for row in range(60)]
    for row in range(6):
        sets[row] = [*sets[row], f"Zz{row // 2}", f"zZ{row // 2} "]  # three items of two records each, in two spellings
    cells = pa.array(sets) if separator is None else pa.array(["|".join(each) for each in sets])
    policy = {
        "columns": {"age": {"role": "quasi"}, "illness": SETS | ({"separator": separator} if separator else {})},
        "require": [{"model": "k-anonymity", "k": 3}, asked(2, harmless=items)],
    }
    release = sudare.anonymize(pa.table({"age": list(range(60)), "illness": cells}), policy)
    [told] = [each for each in release.certificate["warnings"] if each["kind"] == "rare-values"]
    assert told["figures"] == {"fewer_than": 3, "items": 3, "sets": 6}
    assert "3 of its items and 6 of its sets are held by fewer than 3 records each" in told["text"]
    assert "Remove rare items" in told["text"] and "zz" not in str(told).lower()


def test_sets_that_few_hold_are_counted_where_no_item_is_rare():
    pairs = [["a", "b"], ["b", "c"], ["c", "a"], ["a"], ["b"], ["c"]]
    policy = {
        "columns": {"age": {"role": "quasi"}, "illness": SETS},
        "require": [{"model": "k-anonymity", "k": 3}, asked(2, harmless=["a", "b", "c"])],
    }
    release = sudare.anonymize(pa.table({"age": list(range(6)), "illness": pa.array(pairs)}), policy)
    [told] = [each for each in release.certificate["warnings"] if each["kind"] == "rare-values"]
    assert told["figures"] == {"fewer_than": 3, "sets": 6}
    assert "role: quasi" in told["text"]


@pytest.mark.parametrize("separator", [None, ";"])
def test_a_separator_that_no_set_has_proves_nothing(separator):
    """Whole texts are rarer than the items in them: everybody in the class has flu."""
    release = classes(a=["flu|x", "flu|y", "flu|z"])
    with pytest.raises(DataError, match=r"no cell has the separator '[,;]', and 100% of them have '\|'") as caught:
        proven(release, 3, separator=separator)
    assert 'separator: "|"' in caught.value.problems[0].hint
    assert "flu" not in str(caught.value)
    assert proven(release, 3, separator="|").achieved == 1


def test_other_marks_within_items_are_no_mistake():
    found = proven(classes(a=["w/o finding", "flu,HIV"]), 2)
    assert found.achieved == 2
    rare = [f"{number}" for number in range(19)] + ["w/o finding"]  # below a tenth
    assert proven(classes(a=rare), 2).achieved == 20
    single = ["HIV/AIDS", "flu", "ENT w/o finding", "gout"]  # the promise holds in both ways of reading
    assert proven(classes(a=single), 2).achieved == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_sets_of_one_item_with_other_marks_are_released_and_proven(tmp_path, ending):
    items = [["HIV/AIDS"], ["flu"], ["ENT w/o finding"], ["gout"]] * 3
    data = pa.table({"zone": [f"{number % 2}" for number in range(12)], "illness": items})
    policy = {
        "columns": {"zone": {"role": "quasi"}, "illness": SETS},
        "require": [{"model": "k-anonymity", "k": 2}, asked(2)],
    }
    release = sudare.anonymize(data, policy, out=tmp_path / f"release.{ending}")
    assert sudare.audit(release, policy).passed


def test_two_promises_about_one_set_look_at_the_other_mark_each():
    release = classes(a=["flu/x", "flu/y", "flu/z", "cold", "gout", "mumps"])
    columns = {"zone": {"role": "quasi"}, "illness": SETS}
    twice = Policy.parse({"columns": columns, "require": [asked(2), asked(2, harmless=["gout"])]})
    assert audit_release(release, twice).passed
    stricter = Policy.parse({"columns": columns, "require": [asked(2), asked(3)]})
    with pytest.raises(DataError, match="50% of them have '/'"):
        audit_release(release, stricter)
