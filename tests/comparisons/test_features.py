"""What classifiers are given, cell by cell, worked out by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sudare.comparisons import features
from sudare.hierarchies import build
from sudare.policy import HierarchySpec
from sudare.table import Partition, Table, encode_column, generalize

AGES = [20, 30, 40, 50, None, 60]
CITIES = ["Oslo", "Rome", "Bern", "Rome", "Oslo", "Bern"]  # codes: Bern 0, Oslo 1, Rome 2
TREE = {"north": ["Oslo"], "south": ["Bern", "Rome"]}
DRAWS = 3000


def city_tree():
    column = encode_column("city", pa.array(CITIES))
    tree = build(HierarchySpec(tree=TREE), column.values, folder=None, column="city")
    order, taxonomy = tree.taxonomy(column.values, column.missing)
    return column.reordered(order, taxonomy)


def node_of(column, label):
    return column.taxonomy.labels.index(label)


def rows(*numbers):
    return np.array(numbers, dtype=np.int64)


def test_numbers_stay_and_a_missing_one_is_the_median_of_training_with_a_flag():
    age = encode_column("age", pa.array(AGES))
    known, asked = features.raw([age], rows(0, 1, 2, 4), rows(3, 4, 5))
    assert known.tolist() == [[20, 0], [30, 0], [40, 0], [30, 1]]
    assert asked.tolist() == [[50, 0], [30, 1], [60, 0]]


def test_numbers_without_missing_cells_have_no_flag():
    age = encode_column("age", pa.array([20, 30, 40]))
    known, asked = features.raw([age], rows(0, 2), rows(1))
    assert (known.tolist(), asked.tolist()) == ([[20], [40]], [[30]])


def test_only_missing_numbers_are_0():
    age = encode_column("age", pa.array([20, None, None]))
    known, asked = features.raw([age], rows(1, 2), rows(0))
    assert (known.tolist(), asked.tolist()) == ([[0, 1], [0, 1]], [[20, 0]])


def test_categories_have_a_column_for_each_value_of_the_whole_table():
    city = encode_column("city", pa.array(CITIES))
    known, asked = features.raw([city], rows(0, 1), rows(2))
    assert known.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert asked.tolist() == [[1, 0, 0]]


def test_of_many_categories_the_most_frequent_in_training_have_columns(monkeypatch):
    monkeypatch.setattr(features, "MOST", 2)
    known, asked = features.one_hot(np.array([3, 3, 1, 0, 1]), np.array([2, 3]), 4)
    assert known.tolist() == [[0, 1], [0, 1], [1, 0], [0, 0], [1, 0]]
    assert asked.tolist() == [[0, 0], [0, 1]]


def released(table, partition, training, test, seed=0):
    shown = generalize(table.taken(training), partition)
    return features.released(table, shown, training, test, np.random.default_rng(seed))


def test_a_global_recoding_describes_training_and_test_records_by_their_cells():
    age, city = encode_column("age", pa.array([20, 30, 40, 50, 25, 60])), city_tree()
    table = Table(6, {"age": age, "city": city})
    # ages by code: 20, 25, 30, 40, 50, 60; no training record has 25 or 60, whose nearest numbers are 20 (or 30) and 50
    south, oslo = node_of(city, "south"), node_of(city, "Oslo")
    cut = np.where(city.codes == city.codes[0], oslo, south)
    by_code = np.empty(city.size, dtype=np.int64)
    by_code[city.codes] = cut
    cuts = {"age": np.array([1, 0, 1, 2, 2, 0]), "city": by_code}
    partition = Partition(np.array([0, 1, 2, 2]), 3, cuts)
    known, asked = released(table, partition, rows(0, 1, 2, 3), rows(4, 5))
    # columns: ages up to 30, ages from 40; Oslo and the south, in the order of their nodes
    cells = {oslo: [1, 0], south: [0, 1]} if oslo < south else {oslo: [0, 1], south: [1, 0]}
    assert known.tolist() == [[1, 0, *cells[oslo]], [1, 0, *cells[south]], [0, 1, *cells[south]], [0, 1, *cells[south]]]
    assert asked.tolist() == [[1, 0, *cells[oslo]], [0, 1, *cells[south]]]


def test_an_unseen_value_gets_the_node_above_it_that_is_shown():
    city = city_tree()
    codes = {value: code for code, value in enumerate(city.values.to_pylist())}
    # the training records hold Bern and Oslo; the cut shows the south, and leaves Rome, which it never met, as it is
    cut = np.empty(city.size, dtype=np.int64)
    cut[codes["Bern"]], cut[codes["Oslo"]] = node_of(city, "south"), node_of(city, "Oslo")
    cut[codes["Rome"]] = node_of(city, "Rome")
    cells = features.cell_of(city, cut, np.sort([codes["Bern"], codes["Oslo"]]))
    assert cells[codes["Rome"]] == node_of(city, "south")
    shown_alone = features.cell_of(city, np.arange(3) * 0 + cut[codes["Oslo"]], np.array([codes["Oslo"]]))
    assert shown_alone[codes["Rome"]] == -1, "nothing that is shown stands above it"


def test_an_unseen_category_without_a_hierarchy_has_no_cell():
    city = encode_column("city", pa.array(CITIES))
    assert features.cell_of(city, np.arange(3), np.array([0, 2])).tolist() == [0, -1, 2]


def test_numbers_that_a_cut_leaves_as_they_are_stay_numbers():
    age = encode_column("age", pa.array([20, 30, 40]))
    table = Table(3, {"age": age})
    known, asked = released(table, Partition(np.array([0, 1]), 2, {"age": np.arange(3)}), rows(0, 2), rows(1))
    assert (known.tolist(), asked.tolist()) == ([[20], [40]], [[30]])


def test_a_cut_that_shows_nothing_is_one_column_that_tells_nothing():
    age = encode_column("age", pa.array([20, 30, 40]))
    cuts = {"age": np.full(3, -1)}
    known, asked = released(Table(3, {"age": age}), Partition(np.array([0, 0]), 1, cuts), rows(0, 2), rows(1))
    assert (known.tolist(), asked.tolist()) == ([[1], [1]], [[1]])


def test_a_local_recoding_draws_numbers_from_the_interval_and_leaves_test_records_alone():
    # class 0 holds 20 and 40 and so covers 20, 30, 40 (30 is of a test record); class 1 shows 50 itself
    age = encode_column("age", pa.array([20, 40, 50, 30] + [20, 40] * DRAWS))
    table = Table(len(age), {"age": age})
    training = np.delete(np.arange(len(age)), 3)
    classes = np.where(age.codes[training] == 3, 1, 0)
    known, asked = released(table, Partition(classes, 2), training, rows(3))
    assert asked.tolist() == [[30]]
    values, counts = np.unique(known[classes == 0], return_counts=True)
    assert values.tolist() == [20, 30, 40]
    assert counts / counts.sum() == pytest.approx([1 / 3] * 3, abs=0.03)
    assert known[classes == 1].tolist() == [[50]]


def test_a_local_recoding_draws_categories_from_the_set():
    city = encode_column("city", pa.array(["Bern", "Oslo", "Rome"] + ["Bern", "Rome"] * DRAWS))
    table = Table(len(city), {"city": city})
    training = np.arange(len(city))
    classes = np.where(city.codes == 1, 1, 0)
    known, _ = released(table, Partition(classes, 2), training, rows(0))
    assert known.sum(axis=0)[1] == 1, "Oslo is in no set but its own"
    assert known.mean(axis=0)[[0, 2]] == pytest.approx([0.5, 0.5], abs=0.03)


def test_a_local_recoding_draws_from_the_codes_below_a_node():
    city = city_tree()
    table = Table(6, {"city": city})
    training = np.flatnonzero(np.array(CITIES) != "Oslo")
    known, _ = released(table, Partition(np.zeros(4, dtype=np.int64), 1), training, rows(0))
    oslo = city.values.to_pylist().index("Oslo")
    assert known[:, oslo].tolist() == [0] * 4
    assert known.sum(axis=1).tolist() == [1] * 4


def test_the_same_seed_draws_the_same():
    age = encode_column("age", pa.array(list(range(50))))
    table = Table(50, {"age": age})
    partition = Partition(np.zeros(50, dtype=np.int64), 1)
    first, again, other = (released(table, partition, np.arange(50), rows(0), seed)[0].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_records_that_are_left_out_or_masked_are_not_learned_from():
    age = encode_column("age", pa.array([20, 30, 40, 50]))
    table = Table(4, {"age": age})
    left_out = generalize(table, Partition(np.array([0, -1, 0, 1]), 2))
    assert features.kept(left_out).tolist() == [0, 2, 3]
    masked = generalize(table, Partition(np.array([0, 1, 0, 1]), 2, masked=True))
    assert features.kept(masked).tolist() == [0, 2]
    assert len(features.released(table, masked, np.arange(4), rows(0), np.random.default_rng(0))[0]) == 2


def test_what_leaves_as_it_came_is_a_feature_unless_it_is_the_class():
    carried = pa.table({"income": ["a", "b"], "hours": [40, 20], "tags": [["x"], []], "unit": ["u", "v"]})
    target = encode_column("income", carried["income"])
    table = Table(2, {"age": encode_column("age", pa.array([1, 2]))}, carried=carried, target=target)
    assert [column.name for column in features.others(table)] == ["hours", "unit"]
    known, asked = features.raw(features.others(table), rows(0), rows(1))
    assert (known.tolist(), asked.tolist()) == ([[40, 1, 0]], [[20, 0, 1]])
