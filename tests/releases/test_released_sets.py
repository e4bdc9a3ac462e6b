"""Item sets in releases: lists where a format has lists, else texts that a reader can split again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import UnsupportedError
from sudare.releases import Layout, render, write_batches
from sudare.releases.item_set_cells import JoinedSets, Lists
from sudare.releases.row_blocks import Span
from sudare.table import ItemSets, Partition, SetCover, Table, Taxonomy, encode_column, encode_items

ITEMS = ["ale", "bread", "cheese", "dill"]
SHOWN = [["ale", "dill"], [], None, ["cheese"], ["ale", "dill"]]


def cover(shown, values=ITEMS, taxonomy=None):
    """Return a cover that shows these sets; what the records hold does not matter here."""
    names = list(values) if taxonomy is None else list(taxonomy.labels)
    missing = len(values) if taxonomy is None else len(names) - 1
    runs = [[missing] if row is None else sorted(names.index(item) for item in row) for row in shown]
    start = np.cumsum([0] + [len(run) for run in runs])
    column = ItemSets(
        "basket",
        np.zeros(1, np.int64),
        np.zeros(0, np.uint8),
        pa.array(values, pa.large_string()),
        missing=None in shown,
        taxonomy=taxonomy,
    )
    nodes = np.array([node for run in runs for node in run], dtype=np.int64)
    return SetCover(column, start, nodes, np.zeros(len(runs)), np.zeros(len(runs), np.int64))


def lists(given, classes, times, *, by_class=True):
    span = Span(np.array(classes), np.array(times), np.arange(sum(times)), 0 if by_class else None)
    made = Lists(given).block(span)["basket"]
    made.validate(full=True)
    return made


def test_each_class_shows_its_list_once_per_row():
    made = lists(cover(SHOWN), [0, 1, 2, 3, 4], [2, 1, 2, 3, 1])
    expected = [SHOWN[0]] * 2 + [[]] + [None] * 2 + [["cheese"]] * 3 + [SHOWN[4]]
    assert made.to_pylist() == expected
    assert sorted(made.values.dictionary.to_pylist()) == ["ale", "cheese", "dill"]  # nobody shows bread


def test_rows_in_any_order_of_classes():
    assert lists(cover(SHOWN), [3, 2, 0, 3, 1], [1] * 5, by_class=False).to_pylist() == [
        ["cheese"], None, ["ale", "dill"], ["cheese"], []
    ]  # fmt: skip


def test_a_block_knows_the_items_of_its_rows_only():
    made = lists(cover(SHOWN), [3], [4])
    assert made.values.dictionary.to_pylist() == ["cheese"]
    assert made.to_pylist() == [["cheese"]] * 4


def joined_labels(given, separator):
    classes = len(given.start) - 1
    return JoinedSets(given, np.ones(classes, np.int64), separator).labels(slice(0, classes))


def test_nodes_of_a_taxonomy_are_shown_by_their_labels():
    tree = Taxonomy(
        labels=("anything", "drink", "food", "ale", "bread", "(missing)"),
        parent=np.array([-1, 0, 0, 1, 2, 0], np.int32),
        leaves=np.array([2, 1, 1, 1, 1, 1], np.int32),
        path=np.array([[0, 1, 3], [0, 2, 4], [0, 5, 5]], np.int32),
    )
    shown = [["drink", "food"], ["ale"], None, []]
    given = cover(shown, ["ale", "bread"], tree)
    assert lists(given, [0, 1, 2, 3], [1, 2, 1, 1]).to_pylist() == [shown[0], ["ale"], ["ale"], None, []]
    assert joined_labels(given, "; ").to_pylist() == ["drink; food", "ale", None, None]


def test_joined_sets_are_null_where_they_are_empty_or_missing():
    labels = joined_labels(cover(SHOWN), ",")
    assert labels.to_pylist() == ["ale,dill", None, None, "cheese", "ale,dill"]
    assert len(set(labels.dictionary.to_pylist()) - {""}) == 2


@pytest.mark.parametrize(
    ("items", "separator"),
    [
        (["mead,port", "rum"], ","),
        ([" mead", "rum"], ","),
        (["mead\u3000", "rum"], ","),
        (["", "rum"], ","),
        (["mead;", "rum"], ";;"),  # they would come back as "mead" and ";rum"
        (["mead::port"], "::"),
    ],
)
def test_items_that_text_cannot_show_are_refused(items, separator):
    with pytest.raises(UnsupportedError, match=r"column 'basket' has items that .*separator") as error:
        joined_labels(cover([items], items), separator)
    assert "mead" not in str(error.value)
    assert "rum" not in str(error.value)
    assert "write Parquet, or give another separator" in str(error.value)


def test_items_that_no_class_shows_do_not_matter():
    assert joined_labels(cover([["c"], []], ["a,b", "c"]), ",").to_pylist() == ["c", None]
    assert joined_labels(cover([["a;b", "c"]], ["a;b", "c"]), "|").to_pylist() == ["a;b|c"]


BASKETS = [["ale", "dill"], ["ale", "dill", "bread"], None, None, [], [], ["cheese"], ["cheese", "dill"]]


def table(baskets=BASKETS):
    ages = encode_column("age", pa.array([20, 21, 30, 31, 40, 41, 50, 51]))
    return Table(8, {"age": ages, "basket": encode_items("basket", pa.array(baskets))})


PAIRS = Partition(np.array([0, 0, 1, 1, 2, 2, 3, 3]), 4)


@pytest.mark.parametrize("block", [1, 3, 100])
@pytest.mark.parametrize("order", ["class", "keep"])
def test_lists_in_files(block, order, tmp_path):
    for ending in ("parquet", "arrow"):
        rows, _ = render(table(), PAIRS, Layout(("age", "basket"), order=order))
        assert rows.schema.field("basket").type == pa.list_(pa.string())
        write_batches(rows.schema, rows.batches(block), tmp_path / f"r.{ending}")
    expected = [sorted(common) for common in ({"ale", "dill"},) * 2] + [None] * 2 + [[]] * 2 + [["cheese"]] * 2
    for found in (pq.read_table(tmp_path / "r.parquet"), pa.ipc.open_file(tmp_path / "r.arrow").read_all()):
        assert found.schema == rows.schema
        assert found.column("basket").to_pylist() == expected
    assert b"bread" not in (tmp_path / "r.parquet").read_bytes()


def test_lists_in_text(tmp_path):
    rows, _ = render(table(), PAIRS, Layout(("age", "basket"), separators={"basket": "|"}))
    write_batches(rows.schema, rows.batches(3), tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text().splitlines() == [
        "age,basket",
        *['"[20, 21]",ale|dill'] * 2,
        *['"[30, 31]",'] * 2,
        *['"[40, 41]",'] * 2,
        *['"[50, 51]",cheese'] * 2,
    ]


def test_a_release_that_text_cannot_show_leaves_nothing_behind(tmp_path):
    people = pa.table({"age": [30, 31] * 10, "basket": [["a,b", "c"]] * 20})
    policy = {
        "columns": {"age": {"role": "quasi"}, "basket": {"role": "quasi", "kind": "items"}},
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    with pytest.raises(UnsupportedError, match="separator"):
        sudare.anonymize(people, policy, out=tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
    sudare.anonymize(people, policy, out=tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet").column("basket").to_pylist() == [["a,b", "c"]] * 20


CUT = {"basket": np.array([0, -1, 2, 3, 4])}  # no bread; 4 stands for missing sets


@pytest.mark.parametrize("block", [1, 3, 100])
@pytest.mark.parametrize("order", ["class", "keep"])
def test_records_that_show_their_own_items(block, order, tmp_path):
    given = table()
    given = Table(8, given.quasi, carried=pa.table({"row": list(range(8))}))
    rows, shown = render(given, Partition(PAIRS.classes, 4, CUT), Layout(("age", "basket", "row"), order=order), seed=2)
    assert list(shown.covers) == ["age"]
    write_batches(rows.schema, rows.batches(block), tmp_path / "r.parquet")
    found = pq.read_table(tmp_path / "r.parquet")
    place = found.column("row").to_pylist()
    own = [None if items is None else sorted(set(items) - {"bread"}) for items in BASKETS]
    assert found.column("basket").to_pylist() == [own[row] for row in place]
    assert (place == list(range(8))) == (order == "keep")
    assert b"bread" not in (tmp_path / "r.parquet").read_bytes()


def test_own_items_are_shuffled_though_nothing_is_carried():
    orders = set()
    for seed in range(20):
        rows, _ = render(table(), Partition(np.zeros(8, np.int64), 1, CUT), Layout(("age", "basket")), seed=seed)
        [batch] = rows.batches()
        orders.add(str(batch.column("basket").to_pylist()))
    assert len(orders) > 10


def test_own_items_in_text(tmp_path):
    given, partition = table(), Partition(PAIRS.classes, 4, CUT)
    rows, _ = render(given, partition, Layout(("age", "basket"), order="keep", separators={"basket": "|"}))
    write_batches(rows.schema, rows.batches(3), tmp_path / "r.csv")
    cells = [line.rpartition(",")[2] for line in (tmp_path / "r.csv").read_text().splitlines()]
    assert cells == ["basket", "ale|dill", "ale|dill", "", "", "", "", "cheese", "cheese|dill"]
    odd = table([["a|b"]] * 8)
    for cut, refused in ((np.array([0]), True), (np.array([-1]), False)):
        try:
            render(odd, Partition(PAIRS.classes, 4, {"basket": cut}), Layout(("basket",), separators={"basket": "|"}))
        except UnsupportedError:
            assert refused
        else:
            assert not refused


def test_own_items_as_nodes_of_a_taxonomy():
    tree = Taxonomy(
        labels=("anything", "drink", "food", "ale", "bread", "cheese"),
        parent=np.array([-1, 0, 0, 1, 2, 2], np.int32),
        leaves=np.array([3, 1, 2, 1, 1, 1], np.int32),
        path=np.array([[0, 1, 3], [0, 2, 4], [0, 2, 5]], np.int32),
    )
    sets = encode_items("basket", pa.array([["ale", "bread", "cheese"], ["bread"], []])).reordered(np.arange(3), tree)
    given = Table(3, {"basket": sets})
    rows, _ = render(
        given, Partition(np.zeros(3, np.int64), 1, {"basket": np.array([3, 2, 2])}), Layout(("basket",), order="keep")
    )
    [batch] = rows.batches()
    assert batch.column("basket").to_pylist() == [["ale", "food"], ["food"], []]
