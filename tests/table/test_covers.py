"""What classes show: covers of numbers, sets and trees, and the taxonomies below them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.hierarchies import build
from sudare.policy import HierarchySpec
from sudare.table import SUPPRESSED, Partition, Table, encode_column, encode_items, generalize, merge_alike

TREE = {"*": {"hot": ["red", "amber"], "cold": ["blue", "green", "grey"], "white": ["white"]}}


def column(cells, hierarchy=None, **more):
    encoded = encode_column("c", cells if isinstance(cells, pa.Array) else pa.array(cells), **more)
    if hierarchy is None:
        return encoded
    tree = build(HierarchySpec.model_validate(hierarchy), encoded.values, folder=Path(), column="c")
    return encoded.reordered(*tree.taxonomy(encoded.values, encoded.missing))


def shown(encoded, classes, kind=np.int64):
    numbers = np.array(classes, dtype=kind)
    return generalize(Table(len(classes), {"c": encoded}), Partition(numbers, int(numbers.max()) + 1))


def test_rows_stand_class_by_class_and_suppressed_ones_nowhere():
    given = shown(column([1, 2, 3, 4, 5]), [1, 0, SUPPRESSED, 1, 0])
    assert given.order.tolist() == [1, 4, 0, 3]
    assert given.start.tolist() == [0, 2, 4]
    assert given.sizes.tolist() == [2, 2]
    assert (given.rows, given.suppressed) == (5, 1)
    narrow = shown(column([1, 2, 3, 4, 5]), [1, 0, SUPPRESSED, 1, 0], np.int32)
    assert narrow.order.tolist() == [1, 4, 0, 3]
    assert (narrow.sizes.tolist(), narrow.suppressed) == ([2, 2], 1)


def test_numbers():
    cover = shown(column([0, 10, 5, None, 0, None, 10, 10]), [0, 0, 1, 1, 2, 3, 4, 4]).covers["c"]
    assert cover.low.tolist() == [0, 1, 0, 3, 2]
    assert cover.high.tolist() == [2, 3, 0, 3, 2]
    assert cover.distinct.tolist() == [2, 2, 1, 1, 1]
    assert cover.everything.tolist() == [False, True, False, False, False]
    assert cover.share.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    low, high = cover.reach
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(0, 2), (0, 3), (0, 0), (3, 3), (2, 2)]


def test_sets():
    cover = shown(column(["a", "b", "c", None, "a", "c", "a", "b", None, "c"]), [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]).covers[
        "c"
    ]
    assert cover.codes.tolist() == [0, 1, 2, 3, 0, 2, 0, 1, 2, 3]
    assert cover.share.tolist() == [0.5, 0.5, 0.5, 1.0]
    assert cover.everything.tolist() == [False, False, False, True]


def test_trees():
    cells = ["red", "amber", "red", "blue", "grey", "grey", "white", None, "white", "green", "blue"]
    cover = shown(column(cells, {"tree": TREE}), [0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5]).covers["c"]
    labels = cover.column.taxonomy.labels
    assert [labels[node] for node in cover.node] == ["hot", "*", "grey", "white", "*", "cold"]
    # leaves of the hierarchy as given: 2, 3 and 1 of 6
    assert cover.share.tolist() == pytest.approx([2 / 6, 1.0, 0.0, 0.0, 1.0, 3 / 6])
    assert cover.everything.tolist() == [False, True, False, False, True, False]
    values = [*cover.column.values.to_pylist(), None]
    low, high = cover.reach
    covered = [set(values[a : b + 1]) for a, b in zip(low, high, strict=True)]
    assert covered[0] == {"red", "amber"}
    assert covered[5] == {"blue", "green", "grey"}
    assert covered[1] == covered[4] == set(values)
    assert covered[3] == {"white"}


def test_numbers_with_a_hierarchy_are_covered_by_it():
    cover = shown(column([1, 4, 12, 18, 25], {"bands": [5, 10]}), [0, 0, 1, 1, 2]).covers["c"]
    labels = cover.column.taxonomy.labels
    assert [labels[node] for node in cover.node] == ["[0, 4]", "[10, 19]", "25"]


def test_a_reordered_column_is_the_same_column():
    plain = column(["red", "blue", None, "amber", "blue"])
    ordered = column(["red", "blue", None, "amber", "blue"], {"tree": TREE})
    values = [*ordered.values.to_pylist(), None]
    assert [values[code] for code in ordered.codes] == ["red", "blue", None, "amber", "blue"]
    assert ordered.codes.dtype == plain.codes.dtype
    assert ordered.missing_code == plain.missing_code == 3
    assert ordered.domain == 6.0


def test_taxonomies_know_what_stands_below_their_nodes():
    taxonomy = column(["red", "blue", "grey", None], {"tree": TREE}).taxonomy
    first, last = taxonomy.span
    at = {label: node for node, label in enumerate(taxonomy.labels)}
    assert (first[0], last[0]) == (0, 3)
    assert last[at["cold"]] - first[at["cold"]] == 1
    assert (first[at["green"]], last[at["green"]]) == (0, -1)  # no such value in the data
    assert taxonomy.size == 6
    assert taxonomy.share[0] == 1.0
    assert taxonomy.share[at["white"]] == 0.0
    assert taxonomy.is_leaf[at["white"]]
    assert not taxonomy.is_leaf[at["hot"]]


def test_partitions_count():
    partition = Partition(np.array([0, 2, SUPPRESSED, 2]), 3)
    assert partition.sizes.tolist() == [1, 0, 2]
    assert partition.suppressed == 1


def items(cells, tree=None, name="c"):
    encoded = encode_items(name, pa.array(cells, pa.list_(pa.string())))
    if tree is None:
        return encoded
    built = build(HierarchySpec.model_validate({"tree": tree}), encoded.values, folder=Path(), column="c")
    return encoded.reordered(*built.taxonomy(encoded.values, encoded.missing))


def test_item_sets_show_what_all_records_hold():
    cells = [["a", "b", "c"], ["b", "c"], [], ["a"], None, None, None, ["a"], ["b"]]
    encoded = items(cells)
    assert encoded.missing is True
    cover = shown(encoded, [0, 0, 1, 1, 2, 2, 3, 3, SUPPRESSED]).covers["c"]
    assert [cover.nodes[a:b].tolist() for a, b in pairwise(cover.start)] == [[1, 2], [], [3], []]
    assert cover.null.tolist() == [False, False, True, False]
    # of a, b, c one is hidden; of the lone a all; the null sets of the last class are no longer shown as such
    assert cover.share.tolist() == pytest.approx([(1 / 3 + 0) / 2, (0 + 1) / 2, 0.0, 1.0])
    assert cover.disclosed.tolist() == [4, 0, 2, 0]
    assert cover.cell.tolist() == [0, 1, 2, 1]


def test_item_sets_with_a_hierarchy_show_the_lowest_nodes_that_all_records_hold():
    cells = [["red", "blue"], ["amber", "blue"], ["red", "amber"], ["amber", "white"], None, None]
    cover = shown(items(cells, TREE["*"]), [0, 0, 1, 1, 2, 2]).covers["c"]
    labels = cover.column.taxonomy.labels
    told = [{labels[node] for node in cover.nodes[a:b]} for a, b in pairwise(cover.start)]
    assert told[:2] == [{"blue", "hot"}, {"amber"}]
    assert cover.null.tolist() == [False, False, True]
    # hot is 2 of 6 leaves; in the second class red is hidden, and white
    assert cover.share.tolist() == pytest.approx([(0 + 2 / 6) / 2, 1 / 2, 0.0])
    assert cover.disclosed.tolist() == [2, 2, 2]
    for low, high in pairwise(cover.start):
        assert cover.nodes[low:high].tolist() == sorted(cover.nodes[low:high].tolist())


def test_records_show_their_own_items_where_there_is_a_cut():
    encoded = items([["a", "b"], ["b", "c"], [], ["c"]], name="i")
    partition = Partition(np.array([0, 0, 0, SUPPRESSED]), 1, {"i": np.array([-1, 1, 2])})
    given = generalize(Table(4, {"i": encoded, "c": column([1, 2, 3, 4])}), partition)
    assert list(given.covers) == ["c"]
    assert given.own["i"].share == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert given.own["i"].disclosed == 3


def test_classes_that_show_the_same_become_one_and_keep_their_cuts():
    sets = items([["a", "b"], ["a", "c"], ["a", "d"], ["a", "e"]])
    table = Table(4, {"c": sets, "free": items([["x"]] * 4, name="free")})
    partition = Partition(np.array([0, 0, 1, 1]), 2, {"free": np.array([0])})
    merged = merge_alike(partition, generalize(table, partition))
    assert (merged.classes.tolist(), merged.count) == ([0, 0, 0, 0], 1)
    assert list(merged.cuts) == ["free"]


def test_tables_tell_single_columns_from_sets():
    table = Table(1, {"a": column([1]), "i": encode_items("i", pa.array([["x"]]))})
    assert (list(table.single), list(table.sets)) == (["a"], ["i"])
