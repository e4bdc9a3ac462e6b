"""From a partition to rows: their order, the people in them, and the columns that are carried along."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sudare.table import SUPPRESSED, Partition, Table, encode_column

from .rows import in_one_piece

AGES = [20, 21, 50, 51, 52, 90]
CLASSES = [0, 0, 1, 1, 1, SUPPRESSED]
WHO = ["p", "q", "p", "r", "r", "s"]
NOTES = ["a", "b", "c", "d", "e", "f"]


def table(sensitive=None, **carried) -> Table:
    cells = {"note": pa.array(NOTES), **(sensitive or {}), **carried}
    return Table(
        len(AGES),
        {"age": encode_column("age", pa.array(AGES))},
        {name: encode_column(name, array) for name, array in (sensitive or {}).items()},
        encode_column("who", pa.array(WHO), kind="categorical"),
        pa.table(cells),
    )


def rendered(given, columns=("age", "who", "note"), **more):
    return in_one_piece(given, Partition(np.array(CLASSES), 2), columns, **more)


def test_kept_order_leaves_only_the_suppressed_out():
    rows, shown = rendered(table(), order="keep")
    assert rows.to_pydict() == {
        "age": ["[20, 21]", "[20, 21]", "[50, 52]", "[50, 52]", "[50, 52]"],
        "note": ["a", "b", "c", "d", "e"],
    }
    assert (shown.rows, shown.suppressed, shown.sizes.tolist()) == (6, 1, [2, 3])


def test_class_order_puts_classes_together_and_shuffles_within():
    seen = set()
    for seed in range(100):
        rows, _ = rendered(table(), order="class", seed=seed)
        assert rows.column("age").to_pylist() == ["[20, 21]"] * 2 + ["[50, 52]"] * 3
        notes = "".join(rows.column("note").to_pylist())
        assert (sorted(notes[:2]), sorted(notes[2:])) == (["a", "b"], ["c", "d", "e"])
        seen.add(notes)
    assert len(seen) == 2 * 6  # every order within the classes turns up
    again, _ = rendered(table(), order="class", seed=7)
    assert again.equals(rendered(table(), order="class", seed=7)[0])


def test_without_a_seed_the_order_is_drawn_anew():
    found = {"".join(rendered(table())[0].column("note").to_pylist()) for _ in range(40)}
    assert len(found) > 1


def test_columns_come_in_the_order_asked_for():
    rows, _ = rendered(table(), ("note", "who", "age"), subjects="linked")
    assert rows.column_names == ["note", "who", "age"]


def test_subjects_are_left_out_unless_they_are_counted():
    assert rendered(table())[0].column_names == ["age", "note"]


@pytest.mark.parametrize("order", ["class", "keep"])
def test_numbers_per_class_start_from_one_and_do_not_link(order):
    for seed in range(10):
        rows, _ = rendered(table(), order=order, subjects="per-class", seed=seed)
        by_note = dict(zip(rows.column("note").to_pylist(), rows.column("who").to_pylist(), strict=True))
        assert {by_note["a"], by_note["b"]} == {1, 2}
        assert {by_note["c"], by_note["d"]} == {1, 2}
        assert by_note["d"] == by_note["e"]
        # numbered by first appearance
        assert rows.column("who").to_pylist()[0] == 1


def test_linked_numbers_are_the_same_person_everywhere():
    orders = set()
    for seed in range(30):
        rows, _ = rendered(table(), order="keep", subjects="linked", seed=seed)
        p, q, again, r, r_again = rows.column("who").to_pylist()
        assert p == again
        assert r == r_again
        assert len({p, q, r}) == 3
        assert all(1 <= number <= 4 for number in (p, q, r))
        orders.add((p, q, r))
    assert len(orders) > 5  # not the order of the names


def test_a_missing_subject_is_one_person():
    given = table()
    given = Table(
        given.rows, given.quasi, {}, encode_column("who", pa.array([None, "q", None, None, "r", None])), given.carried
    )
    rows, _ = rendered(given, order="keep", subjects="linked", seed=0)
    one, _, two, three, _ = rows.column("who").to_pylist()
    assert one == two == three


def test_carried_columns_keep_their_type_and_their_values():
    nan = math.nan
    odd = pa.array([1.5, nan, None, -0.0, 0.0, 1.0])
    lists = pa.array([["a"], [], None, ["b", None], ["c"], ["d"]])
    chunked = pa.chunked_array([[1, 2], [3, 4, 5], [6]])
    rows, _ = rendered(table(odd=odd, lists=lists, chunked=chunked), ("age", "odd", "lists", "chunked"), order="keep")
    assert str(rows.column("odd").to_pylist()) == "[1.5, nan, None, -0.0, 0.0]"
    assert rows.column("lists").to_pylist() == [["a"], [], None, ["b", None], ["c"]]
    assert rows.column("chunked").to_pylist() == [1, 2, 3, 4, 5]
    assert rows.schema.field("chunked").type == pa.int64()


@pytest.mark.parametrize(
    ("array", "expected", "kind"),
    [
        (pa.array([math.nan, None, -0.0, 0.0, 1.5, 9.0]), [None, None, 0.0, 0.0, 1.5], pa.float64()),
        (pa.array([math.nan, None, -0.0, 0.0, 1.5, 9.0], pa.float32()), [None, None, 0.0, 0.0, 1.5], pa.float32()),
        (pa.array(["1", "1.0", "+1", " 2", None, "nan"]), [1.0, 1.0, 1.0, 2.0, None], pa.float64()),
        (pa.array(["x", "1.0", "1", " x", None, "nan"]), ["x", "1.0", "1", " x", None], pa.string()),
        (pa.array(["x", "y", "x", None, "", "z"]).dictionary_encode(), ["x", "y", "x", None, ""], pa.string()),
        (pa.array([True, None, False, True, True, True]), [True, None, False, True, True], pa.bool_()),
        (pa.array([3, None, 1, 2, 2, 2], pa.int8()), [3, None, 1, 2, 2], pa.int8()),
        (pa.nulls(6, pa.string()), [None] * 5, pa.string()),
        (pa.nulls(6, pa.float64()), [None] * 5, pa.float64()),
    ],
    ids=["float", "float32", "numbers in text", "text", "dictionary", "truth", "integers", "no text", "no number"],
)
def test_equal_values_of_a_required_column_are_written_alike(array, expected, kind):
    rows, _ = rendered(table({"s": array}), ("age", "s"), order="keep")
    assert rows.column("s").to_pylist() == expected
    assert all(math.copysign(1, v) == 1 for v in rows.column("s").to_pylist() if v == 0)
    assert rows.schema.field("s").type == kind


def test_nothing_suppressed_loses_nothing():
    given = table()
    rows, _ = in_one_piece(given, Partition(np.array([0, 1, 0, 1, 0, 1]), 2), ("age", "note"))
    assert Counter(rows.column("note").to_pylist()) == Counter(NOTES)
