"""The growth of uncertainty, L and RL of the paper on clustering: by hand, and record by record.

L is the sum over records and attributes: the width of an interval, or the values of a set or the leaves of a node less
one. RL is L by what it is where all records agree in showing everything.
"""

from __future__ import annotations

import math
import sys
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sudare
from sudare.metrics import METRICS, relative_uncertainty, uncertainty
from sudare.table import SUPPRESSED, Partition, Table, cut_at, encode_items, generalize

from .test_loss import AGES, COLORS, HUES, JOBS, TREE, Naive, column, partitioned, shown

L, RL = METRICS["uncertainty"], METRICS["relative_uncertainty"]

# ---- the paper's ten patients, numbered from 1, and its classes of three illnesses each

PATIENT_AGES = [51, 50, 51, 54, 54, 54, 55, 52, 52, 53]
PATIENT_ZIPS = [12562, 12552, 12532, 12555, 12555, 12555, 12532, 12561, 12533, 12553]
PAPER = [{1, 2, 8}, {3, 7, 9}, {4, 5, 6, 10}]


def test_the_ten_patients():
    classes = [next(number for number, group in enumerate(PAPER) if row in group) for row in range(1, 11)]
    table = shown([column("age", PATIENT_AGES), column("zip", PATIENT_ZIPS)], classes)
    # {1, 2, 8}: [50, 52] and [12552, 12562]; {3, 7, 9}: [51, 55] and [12532, 12533];
    # {4, 5, 6, 10}: [53, 54] and [12553, 12555]
    ages, zips = 3 * 2 + 3 * 4 + 4 * 1, 3 * 10 + 3 * 1 + 4 * 2
    assert L(table).attributes == {"age": ages, "zip": zips}
    assert L(table).total == 22 + 41 == 63
    # all ten alike: [50, 55] and [12532, 12562]
    assert RL(table).attributes == pytest.approx({"age": 22 / (10 * 5), "zip": 41 / (10 * 30)})
    assert RL(table).total == pytest.approx(63 / (10 * 5 + 10 * 30))


def test_two_classes_by_hand():
    columns = [column("age", AGES), column("job", JOBS), column("hue", HUES, {"tree": TREE})]
    table = shown(columns, [0, 0, 1, 1])
    # {0, 1}: age [20, 30], cook, hot; {2, 3}: age [40, 60], {smith, clerk}, *
    assert L(table).attributes == {"age": 2 * 10 + 2 * 20, "job": 0 + 2 * 1, "hue": 2 * 1 + 2 * 5}
    assert L(table).total == 74
    assert RL(table).total == pytest.approx(74 / (4 * 40 + 4 * 2 + 4 * 5))
    assert uncertainty(table, "domain").attributes == pytest.approx({"age": 60 / 40, "job": 2 / 3, "hue": 12 / 6})
    assert relative_uncertainty(table, "domain").total == pytest.approx(
        (60 / 40 + 2 / 3 + 12 / 6) / (4 * 1 + 4 * 2 / 3 + 4 * 5 / 6)
    )


def test_dates_count_in_days():
    days = [date(2024, 2, 27), date(2024, 3, 1), date(2024, 3, 11), date(2024, 3, 11)]
    assert L(shown([column("day", days)], [0, 0, 1, 1])).total == 2 * 3


@pytest.mark.parametrize("weights", [1, "domain"])
def test_nothing_is_lost_or_everything(weights):
    columns = [column("age", AGES), column("job", JOBS), column("hue", HUES, {"tree": TREE})]
    untouched, one_class = shown(columns, [0, 1, 2, 3]), shown(columns, [0, 0, 0, 0])
    assert uncertainty(untouched, weights).total == relative_uncertainty(untouched, weights).total == 0
    found = relative_uncertainty(one_class, weights)
    assert found.total == pytest.approx(1)
    assert found.attributes == pytest.approx({"age": 1, "job": 1, "hue": 1})


def test_a_record_left_out_counts_as_one_that_shows_everything():
    columns = [column("age", AGES), column("job", JOBS), column("hue", HUES, {"tree": TREE})]
    out = shown(columns, [0, 0, 1, SUPPRESSED])
    masked = generalize(Table(4, {c.name: c for c in columns}), Partition(np.array([0, 0, 1, 2]), 3, masked=True))
    for table in (out, masked):
        assert L(table).attributes == {"age": 2 * 10 + 40, "job": 0 + 2, "hue": 2 * 1 + 5}
        assert RL(table).attributes == pytest.approx({"age": 60 / 160, "job": 2 / 8, "hue": 7 / 20})
    nobody = generalize(Table(4, {c.name: c for c in columns}), Partition(np.full(4, SUPPRESSED), 0))
    assert RL(nobody).total == pytest.approx(1)


def test_a_hierarchy_counts_its_leaves_also_those_without_data():
    hues = column("hue", ["blue", "green", "white", "white"], {"tree": TREE})
    table = shown([hues], [0, 0, 1, 1])
    assert L(table).total == 2 * 2  # cold has three leaves, of which the table has two
    cut = generalize(Table(4, {"hue": hues}), Partition(np.arange(4), 4, {"hue": cut_at(hues, 1)}))
    assert L(cut).total == 2 * 2 + 0  # white is the only leaf of its group
    everything = generalize(Table(4, {"hue": hues}), Partition(np.arange(4), 4, {"hue": cut_at(hues, 2)}))
    assert L(everything).total == 4 * 5
    assert RL(everything).total == 1


def test_a_node_below_the_root_is_not_everything():
    table = shown([column("hue", ["blue", "green"], {"tree": TREE})], [0, 0])
    assert RL(table).total == pytest.approx(2 / 5)


def test_missing_is_a_value_of_its_own():
    numbers = column("n", pa.array([None, 1.0, 3.0, 3.0]))
    sets = column("s", pa.array([None, "a", "b", "b"]))
    trees = column("t", pa.array([None, "red", "blue", "blue"]), {"tree": TREE})
    mixed = shown([numbers, sets, trees], [0, 0, 1, 1])
    # the whole range; one value more than one; all six leaves, and missing, less one
    assert L(mixed).attributes == {"n": 2 * 2, "s": 2 * 1, "t": 2 * 6}
    assert RL(mixed).attributes == pytest.approx({"n": 1 / 2, "s": 2 / 8, "t": 1 / 2})
    assert L(shown([numbers, sets, trees], [0, 1, 2, 2])).total == 0
    one = column("n", pa.array([None, 7.0]))
    assert L(shown([one], [0, 0])).total == 2
    assert RL(shown([one], [0, 0])).total == 1


@pytest.mark.parametrize("cells", [[5, 5], ["x", "x"], [None, None]])
@pytest.mark.parametrize("classes", [[0, 0], [0, SUPPRESSED]])
def test_a_constant_column_has_nothing_to_lose(cells, classes):
    table = shown([column("c", cells)], classes)
    for weights in (1, "domain"):
        with np.errstate(all="raise"):
            assert uncertainty(table, weights).total == relative_uncertainty(table, weights).total == 0
    beside = shown([column("c", cells), column("age", [1, 3])], [0, 0])
    assert L(beside).attributes == {"c": 0, "age": 4}
    assert RL(beside).attributes == {"c": 0, "age": 1}
    assert RL(beside).total == 1


def test_a_constant_column_that_shows_everything_has_nothing_to_lose():
    for cells in ([5, 5], ["x", "x"]):
        given_column = column("c", cells)
        table = generalize(
            Table(2, {"c": given_column}), Partition(np.zeros(2, int), 1, {"c": cut_at(given_column, 1)})
        )
        assert L(table).total == RL(table).total == 0


def test_no_columns():
    table = generalize(Table(3, {}), Partition(np.zeros(3, int), 1))
    assert (L(table).total, RL(table).total) == (0, 0)


def test_the_widest_floats_there_are():
    widest = [-1.7e308, 0.0, 1.7e308, 1.7e308]
    table = shown([column("n", widest), column("m", widest), column("o", widest)], [0, 0, 1, 1])
    assert RL(table).total == pytest.approx(0.25)
    assert L(table).total <= sys.float_info.max
    assert L(shown([column("n", widest)], [0, 0, 0, 0])).total == sys.float_info.max


def test_item_sets_count_what_they_hide():
    baskets = encode_items("basket", pa.array([["ale", "bread"], ["bread"], ["cheese", "ale"], [], None]))
    table = Table(5, {"basket": baskets})
    both = generalize(table, Partition(np.array([0, 0, 1, 1, 2]), 3))
    # bread is shown for the first two; nothing for the next two; that the last one is missing is shown
    assert L(both).total == 1 + 2
    assert RL(both).total == pytest.approx(3 / 6)
    assert uncertainty(both, "domain").total == pytest.approx(1 / 2 + 1)
    left_out = generalize(table, Partition(np.array([0, 0, 1, SUPPRESSED, SUPPRESSED]), 2))
    assert L(left_out).total == 1 + 0 + 0 + 1
    own = generalize(table, Partition(np.array([0, 0, 0, 0, 0]), 1, {"basket": np.array([-1, 1, 2, 3])}))
    assert L(own).total == 2  # ale is hidden everywhere
    assert uncertainty(own, "domain").total == pytest.approx(1 / 2 + 1 / 2)


# ---- the definition, record by record


def growth(attribute: Naive, row) -> float:
    covered, missing = attribute.covered(row), None in attribute.domain
    if attribute.kind == "tree":
        return len(COLORS) - 1 + missing if covered is None else len(covered) - 1
    if len(attribute.domain) == 1:
        return 0
    if attribute.kind == "set":
        return len(attribute.domain if covered is None else covered) - 1
    if covered is None:
        return (max(attribute.numbers) - min(attribute.numbers)) or 1
    return 0 if len(covered) == 1 else max(covered) - min(covered)


@settings(deadline=None, max_examples=300)
@given(partitioned())
def test_it_is_what_the_definition_says(drawn):
    cells, classes = drawn
    types = {"number": pa.float64(), "set": pa.string(), "tree": pa.string()}
    columns = [
        column(name, pa.array(cells[name], types[name]), {"tree": TREE} if name == "tree" else None) for name in cells
    ]
    table = shown(columns, classes)
    rows = range(len(classes))
    expected = {name: sum(growth(Naive(cells[name], classes, name), row) for row in rows) for name in cells}
    none = [SUPPRESSED] * len(classes)
    most = {name: sum(growth(Naive(cells[name], none, name), row) for row in rows) for name in cells}
    assert L(table).attributes == pytest.approx(expected)
    assert L(table).total == pytest.approx(sum(expected.values()))
    assert RL(table).attributes == pytest.approx({name: expected[name] / (most[name] or 1) for name in cells})
    assert RL(table).total == pytest.approx(sum(expected.values()) / (sum(most.values()) or 1))
    domains = {c.name: c.domain or 1.0 for c in columns}
    by_domain = {name: expected[name] / domains[name] for name in cells}
    assert uncertainty(table, "domain").attributes == pytest.approx(by_domain)
    if len(set(cells["number"])) > 1:  # where both measures know the whole range
        gcp = METRICS["gcp"](table).attributes["number"]
        assert by_domain["number"] / len(classes) == pytest.approx(gcp)


def test_a_certificate_tells_the_relative_one():
    data = pa.table({"age": PATIENT_AGES, "zip": PATIENT_ZIPS})
    columns = {name: {"role": "quasi", "kind": "numeric"} for name in ("age", "zip")}
    made = sudare.anonymize(data, {"columns": columns, "require": [{"model": "k-anonymity", "k": 10}]})
    assert "uncertainty" not in made.loss  # a sum in the unit of a column tells its range
    assert made.loss["relative_uncertainty"] == 1
    assert "uncertainty" not in made.certificate["loss_by_column"]["age"]
    assert all(math.isfinite(figure) for figure in made.loss.values())
