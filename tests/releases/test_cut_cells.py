"""Global recoding as text: every record shows what a cut makes of its values, and masked ones show nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.hierarchies import build
from sudare.policy import HierarchySpec
from sudare.releases.certificate import make_certificate
from sudare.releases.release_figures import measure
from sudare.table import SUPPRESSED, Partition, Table, cut_at, encode_column, encode_items

from .rows import in_one_piece

TREE = {"Any": {"hot": ["red", "amber"], "cold": ["blue", "grey"], "pale": ["white"]}}
GROUP = {leaf: group for group, leaves in TREE["Any"].items() for leaf in leaves} | {None: None}
ORDERS = ("class", "keep")


def column(name, cells, hierarchy=None):
    encoded = encode_column(name, cells if isinstance(cells, pa.Array) else pa.array(cells))
    if hierarchy is None:
        return encoded
    tree = build(HierarchySpec.model_validate(hierarchy), encoded.values, folder=Path(), column=name)
    return encoded.reordered(*tree.taxonomy(encoded.values, encoded.missing))


def rendered(columns, classes, cuts, *, masked=False, order="keep", **more):
    table = Table(len(classes), {c.name: c for c in columns}, carried=more.pop("carried", None))
    partition = Partition(np.array(classes), max(classes) + 1, cuts, masked)
    names = [*table.quasi, *(table.carried.column_names if table.carried is not None else ())]
    return in_one_piece(table, partition, names, order=order, **more)


HUES = ["red", "amber", "blue", "white", None]


@pytest.mark.parametrize("block", [1, 2, 1000])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("level", "told"),
    [(0, HUES), (1, ["hot", "hot", "cold", "pale", None]), (2, ["Any"] * 5)],
)
def test_trees(level, told, order, block):
    hue = column("hue", HUES, {"tree": TREE})
    rows, _ = rendered([hue], [0, 1, 2, 3, 4], {"hue": cut_at(hue, level)}, order=order, block=block)
    assert rows.column("hue").to_pylist() == told


def test_bands():
    age = column("age", [1, 4, 12, None], {"bands": [5, 10]})
    rows, _ = rendered([age], [0, 0, 1, 2], {"age": cut_at(age, 1)})
    assert rows.column("age").to_pylist() == ["[0, 4]", "[0, 4]", "[10, 14]", None]


@pytest.mark.parametrize(
    ("cells", "cut", "told"),
    [
        ([1, 2, 5, 9], [0, 0, 1, 1], ["[1, 2]", "[1, 2]", "[5, 9]", "[5, 9]"]),
        ([1, 2, 5, 9], [0, 0, 0, 0], ["[1, 9]"] * 4),
        ([1, 2, 5, None], [0, 0, 0, 0], ["*"] * 4),
        ([1, 2, 5, None], [3, 0, 0, 1], ["1", "[2, 5]", "[2, 5]", None]),
        (["a", "b", "c", "d"], [0, 1, 1, 0], ["{a, d}", "{b, c}", "{b, c}", "{a, d}"]),
        (["a", "b", "c", None], [0, 1, 1, 0], ["{a, null}", "{b, c}", "{b, c}", "{a, null}"]),
        (["a", "b", "c", None], [7, 7, 7, 7], ["*"] * 4),
        (["a", "a", "a", "a"], [7], ["a"] * 4),
    ],
)
def test_without_a_hierarchy(cells, cut, told):
    rows, _ = rendered([column("c", cells)], [0, 1, 2, 3], {"c": np.array(cut)})
    assert rows.column("c").to_pylist() == told


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("separators", [None, {"drugs": ";", "signs": ";"}])
def test_masked_rows_show_nothing_and_carry_the_rest(order, separators):
    hue = column("hue", HUES, {"tree": TREE})
    age = column("age", [20, 30, 40, 50, 99])
    job = column("job", ["x"] * 5)
    drugs = encode_items("drugs", pa.array([["a"], ["a"], ["a"], ["b"], None]))
    signs = encode_items("signs", pa.array([["s"], [], ["t"], ["s"], None]))
    cuts = {"hue": cut_at(hue, 1), "age": np.zeros(5, np.int64), "signs": np.array([0, 1, 2])}
    rows, shown = rendered(
        [hue, age, job, drugs, signs], [0, 0, 1, 2, 2], cuts, masked=True, order=order, separators=separators,
        carried=pa.table({"note": list("abcde")}), seed=1,
    )  # fmt: skip
    by_note = {row.pop("note"): tuple(row.values()) for row in rows.to_pylist()}
    nothing, a, s, t = (None, "a", "s", "t") if separators else ([], ["a"], ["s"], ["t"])
    assert by_note == {
        "a": ("hot", "[20, 40]", "x", a, s),
        "b": ("hot", "[20, 40]", "x", a, nothing),
        "c": ("cold", "[20, 40]", "x", a, t),
        "d": ("Any", "*", "*", nothing, nothing),
        "e": ("Any", "*", "*", nothing, nothing),
    }
    assert (shown.suppressed, shown.masked) == (0, 2)


@pytest.mark.parametrize("order", ORDERS)
def test_masked_rows_and_others_that_show_nothing_are_one_class(order):
    job = column("job", list("abcd"))
    who = encode_column("who", pa.array(list("pqrs")), kind="categorical")
    table = Table(4, {"job": job}, subject=who)
    partition = Partition(np.array([0, 0, 0, 1]), 2, {"job": cut_at(job, 1)}, masked=True)
    rows, shown = in_one_piece(table, partition, ["job", "who"], order=order, subjects="per-class")
    assert rows.column("job").to_pylist() == ["*"] * 4
    assert sorted(rows.column("who").to_pylist()) == [1, 2, 3, 4]
    assert (shown.masked, shown.sizes.tolist()) == (0, [4])


def test_the_certificate_counts_masked_records_and_has_the_facts():
    age = column("age", [20, 30, 40, 50])
    cuts = {"age": np.array([0, 0, 1, 1])}
    table = Table(4, {"age": age})
    partition = Partition(np.array([0, 0, 1, SUPPRESSED]), 2, cuts, masked=True, facts={"checked": 3, "optimal": True})
    _, shown = in_one_piece(table, partition, ["age"])
    figures = measure(shown)
    assert (figures.rows_in, figures.rows_out, figures.suppressed) == (4, 3, 2)
    certificate = make_certificate(
        figures=figures, order="class", method={}, columns={}, seconds={}, policy_sha256="",
        audit={"classes": 2, "guarantees": [], "release_sha256": ""},
    )  # fmt: skip
    assert certificate.search.to_dict() == {"checked": 3, "optimal": True}
    assert (certificate.rows_out, certificate.suppressed) == (3, 2)
    plain = measure(in_one_piece(table, Partition(np.zeros(4, np.int64), 1), ["age"])[1])
    assert (plain.search.to_dict(), plain.suppressed) == ({}, 0)


# ---- against labels made row by row


def naive_cell(kind, cells, numbers, fates, row):
    """What a record shows: a text for all values that released records have whose number is the same."""
    if fates[row] == "masked":
        return "Any" if kind == "tree" else "*"
    domain = set(cells)
    if kind == "tree":
        return [cells[row], GROUP[cells[row]], "Any"][numbers]
    number = numbers[cells[row]]
    if kind == "set" and len(domain) > 1 and all(numbers[cell] == number for cell in domain):
        return "*"
    held = {cell for cell, fate in zip(cells, fates, strict=True) if fate == "kept" and numbers[cell] == number}
    if len(held) == 1:
        return None if cells[row] is None else str(cells[row])
    if kind == "number":
        return "*" if None in held else f"[{min(held)}, {max(held)}]"
    return "{" + ", ".join([*sorted(held - {None}), *(["null"] if None in held else [])]) + "}"


@st.composite
def recoded(draw):
    rows = draw(st.integers(1, 10))

    def listed(*choices):
        return draw(st.lists(st.sampled_from(choices), min_size=rows, max_size=rows))

    cells = {"number": listed(1, 2, 3, 7, 9, None), "set": listed(*"abcd", None), "tree": listed(*GROUP)}
    numbers = {"tree": draw(st.integers(0, 2))}
    for kind in ("number", "set"):
        numbers[kind] = {cell: draw(st.integers(0, 2)) for cell in dict.fromkeys(cells[kind])}
    return cells, numbers, listed("kept", "kept", "kept", "out", "masked"), listed(0, 1)


@settings(deadline=None, max_examples=300)
@given(recoded(), st.sampled_from([1, 3, 1000]))
def test_every_record_shows_what_the_cuts_make_of_it(drawn, block):
    cells, numbers, fates, split = drawn
    if set(fates) == {"out"}:
        return
    types = {"number": pa.int64(), "set": pa.string(), "tree": pa.string()}
    columns = [
        column(kind, pa.array(cells[kind], types[kind]), {"tree": TREE} if kind == "tree" else None) for kind in cells
    ]
    cuts = {"tree": cut_at(columns[2], numbers["tree"])}
    for one in columns[:2]:
        values = [*one.values.to_pylist(), None][: one.size]
        cuts[one.name] = np.array([numbers[one.name][value] for value in values])
    told = {
        row: tuple(naive_cell(kind, cells[kind], numbers[kind], fates, row) for kind in cells)
        for row, fate in enumerate(fates)
        if fate != "out"
    }
    # classes may be finer than what they show
    keys = [(*(cuts[c.name][c.codes[row]] for c in columns), split[row]) for row in range(len(fates))]
    order = list(dict.fromkeys(key for key, fate in zip(keys, fates, strict=True) if fate == "kept"))
    other = {"out": SUPPRESSED, "masked": len(order)}
    classes = [order.index(key) if fate == "kept" else other[fate] for key, fate in zip(keys, fates, strict=True)]
    rows, shown = rendered(columns, classes, cuts, masked="masked" in fates, block=block)
    found = list(zip(*(rows.column(kind).to_pylist() for kind in cells), strict=True))
    assert found == list(told.values())
    assert len(shown.sizes) == len(set(found))
    joined = any(label == ("*", "*", "Any") and fates[row] == "kept" for row, label in told.items())
    assert shown.masked == (0 if joined else fates.count("masked"))
    assert shown.suppressed == fates.count("out")
