"""The loss metrics against their definitions, record by record, and on tables worked out by hand.

GCP and the loss of ARX are those that other systems were measured with: GCP is the mean over records and attributes of
released range / domain range, or values in the released set / domain size (0 if one); ARX's loss is (mean share -
1/size) / (1 - 1/size) per attribute, share being leaves below the released node by leaves of the hierarchy. A
suppressed record counts 1 everywhere.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.hierarchies import build
from sudare.metrics import METRICS, Loss
from sudare.metrics.loss import published
from sudare.policy import HierarchySpec
from sudare.table import SUPPRESSED, Partition, Table, cut_at, encode_column, generalize

TREE = {"*": {"hot": ["red", "amber"], "cold": ["blue", "green", "grey"], "none": ["white"]}}
COLORS = [color for group in TREE["*"].values() for color in group]


def column(name, cells, hierarchy=None):
    encoded = encode_column(name, cells if isinstance(cells, pa.Array) else pa.array(cells))
    if hierarchy is None:
        return encoded
    tree = build(HierarchySpec.model_validate(hierarchy), encoded.values, folder=Path(), column=name)
    return encoded.reordered(*tree.taxonomy(encoded.values, encoded.missing))


def shown(columns, classes):
    table = Table(len(classes), {c.name: c for c in columns})
    numbers = np.array(classes, dtype=np.int64)
    return generalize(table, Partition(numbers, int(numbers.max()) + 1))


def measured(columns, classes) -> dict[str, Loss]:
    given_table = shown(columns, classes)
    return {name: metric(given_table) for name, metric in METRICS.items()}


# ---- the definitions, in plain Python


class Naive:
    """One attribute of a partitioned table; cells are values, None for a missing one."""

    def __init__(self, cells, classes, kind):
        self.cells, self.classes, self.kind = cells, classes, kind
        self.domain = set(cells)
        self.numbers = [cell for cell in self.domain if cell is not None]

    def covered(self, row) -> set | None:
        """The values that the released cell of a record covers; None for everything."""
        if self.classes[row] == SUPPRESSED:
            return None
        held = {cell for cell, c in zip(self.cells, self.classes, strict=True) if c == self.classes[row]}
        if len(held) == 1:
            return held
        if self.kind == "number":
            return None if None in held else {n for n in self.numbers if min(held) <= n <= max(held)}
        if self.kind == "tree":
            return next((set(group) for group in TREE["*"].values() if held <= set(group)), None)
        return held

    def ncp(self, row) -> float:
        covered = self.covered(row)
        if covered is None:
            return 1.0
        if len(covered) == 1:
            return 0.0
        if self.kind == "number":
            return (max(covered) - min(covered)) / (max(self.numbers) - min(self.numbers))
        return len(covered) / (len(COLORS) if self.kind == "tree" else len(self.domain))

    def size(self) -> int:
        return len(COLORS) if self.kind == "tree" else len(self.domain)

    def leaf_share(self, row) -> float:
        covered = self.covered(row)
        return 1.0 if covered is None else len(covered) / self.size()

    def height(self, row) -> float:
        if self.kind != "tree":
            return self.ncp(row)
        covered = self.covered(row)
        return 1.0 if covered is None else 0.0 if len(covered) == 1 and not self.is_group(row) else 0.5

    def is_group(self, row) -> bool:
        held = {cell for cell, c in zip(self.cells, self.classes, strict=True) if c == self.classes[row]}
        return len(held) > 1

    def bits(self, row, covered) -> float:
        same = sum(cell == self.cells[row] for cell in self.cells)
        near = len(self.cells) if covered is None else sum(cell in covered for cell in self.cells)
        return -math.log2(same / near)


def mean(figures) -> float:
    figures = list(figures)
    return sum(figures) / len(figures)


def definition(name, attribute: Naive) -> float:
    rows = range(len(attribute.cells))
    if name == "gcp":
        return mean(attribute.ncp(row) for row in rows)
    if name == "arx":
        size = attribute.size()
        return (mean(map(attribute.leaf_share, rows)) - 1 / size) / (1 - 1 / size) if size > 1 else 0.0
    if name == "precision":
        return 1 - mean(attribute.height(row) for row in rows)
    needed = sum(attribute.bits(row, attribute.covered(row)) for row in rows)
    most = sum(attribute.bits(row, None) for row in rows)
    return needed / most if most > 0 else 0.0


@st.composite
def partitioned(draw):
    rows = draw(st.integers(1, 14))
    classes = draw(st.lists(st.integers(-1, 3), min_size=rows, max_size=rows).filter(lambda c: max(c) >= 0))
    used = sorted(set(classes) - {SUPPRESSED})
    classes = [used.index(c) if c >= 0 else SUPPRESSED for c in classes]
    columns = {}
    for name, cell in {
        "number": st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, 10.0, -4.0])),
        "set": st.one_of(st.none(), st.sampled_from("abcd")),
        "tree": st.one_of(st.none(), st.sampled_from(COLORS)),
    }.items():
        columns[name] = draw(st.lists(cell, min_size=rows, max_size=rows))
    return columns, classes


@settings(deadline=None, max_examples=300)
@given(partitioned())
def test_every_metric_is_what_its_definition_says(drawn):
    cells, classes = drawn
    types = {"number": pa.float64(), "set": pa.string(), "tree": pa.string()}
    columns = [
        column(name, pa.array(cells[name], types[name]), {"tree": TREE} if name == "tree" else None) for name in cells
    ]
    found = measured(columns, classes)
    for name in ("gcp", "arx", "precision", "entropy"):
        expected = {kind: definition(name, Naive(cells[kind], classes, kind)) for kind in cells}
        assert found[name].attributes == pytest.approx(expected, abs=1e-12), name
        assert found[name].total == pytest.approx(mean(expected.values()), abs=1e-12)
    sizes = [classes.count(c) for c in range(max(classes) + 1)]
    assert found["discernibility"].total == sum(n * n for n in sizes) + classes.count(SUPPRESSED) * len(classes)
    assert found["average_class_size"].total == pytest.approx(mean(sizes))


@settings(deadline=None, max_examples=200)
@given(partitioned(), st.booleans())
def test_a_masked_record_loses_what_a_suppressed_one_does(drawn, cutting):
    cells, classes = drawn
    types = {"number": pa.float64(), "set": pa.string(), "tree": pa.string()}
    columns = [
        column(name, pa.array(cells[name], types[name]), {"tree": TREE} if name == "tree" else None) for name in cells
    ]
    if cutting:  # each record is a class, and shows what it would show with all others
        classes = [SUPPRESSED if c < 0 else sum(other >= 0 for other in classes[:row]) for row, c in enumerate(classes)]
    cuts = {c.name: cut_at(c, 1) for c in columns} if cutting else {}
    count = max(classes) + 1
    masked = [count if c == SUPPRESSED else c for c in classes]
    table = Table(len(classes), {c.name: c for c in columns})
    out = generalize(table, Partition(np.array(classes), count, cuts))
    within = generalize(table, Partition(np.array(masked), max(masked) + 1, cuts, masked=SUPPRESSED in classes))
    assert (out.suppressed, out.masked) == (within.masked, within.suppressed)
    for name, metric in METRICS.items():
        assert metric(within) == metric(out), name


# ---- tables worked out by hand

AGES = [20, 30, 40, 60]
JOBS = ["cook", "cook", "smith", "clerk"]
HUES = ["red", "amber", "blue", "white"]


def test_two_classes_by_hand():
    # {0, 1}: age [20, 30], cook, hot; {2, 3}: age [40, 60], {smith, clerk}, *
    found = measured(
        [column("age", AGES), column("job", JOBS), column("hue", HUES, {"tree": TREE})], [0, 0, 1, 1]
    )  # fmt: skip
    gcp = found["gcp"]
    assert gcp.attributes == pytest.approx(
        {
            "age": (10 / 40 + 20 / 40) / 2,
            "job": (0 + 2 / 3) / 2,
            "hue": (2 / 6 + 1) / 2,  # two of the hierarchy's six leaves, although the table has four
        }
    )
    assert gcp.total == pytest.approx((0.375 + 1 / 3 + 2 / 3) / 3)
    # ARX: shares of distinct values. age 2/4; job 1/3 and 2/3; hue 2/6 and 1
    assert found["arx"].attributes == pytest.approx(
        {
            "age": (1 / 2 - 1 / 4) / (3 / 4),
            "job": (1 / 2 - 1 / 3) / (2 / 3),
            "hue": (2 / 3 - 1 / 6) / (5 / 6),
        }
    )
    # precision: the hierarchy is two levels high
    assert found["precision"].attributes["hue"] == pytest.approx(1 - (1 / 2 + 1) / 2)
    # entropy of job: cook costs nothing (2 of 2), smith and clerk one bit each (1 of 2). Restoring all of it takes
    # 2 * log2(4/2) + 2 * log2(4/1) = 6 bits.
    assert found["entropy"].attributes["job"] == pytest.approx(2 / 6)
    assert found["discernibility"].total == 8
    assert found["average_class_size"].total == 2


def test_a_suppressed_record_loses_everything():
    found = measured([column("age", AGES), column("hue", HUES, {"tree": TREE})], [0, 0, 0, SUPPRESSED])
    assert found["gcp"].attributes == pytest.approx({"age": (3 * 20 / 40 + 1) / 4, "hue": 1.0})
    assert found["arx"].attributes["age"] == pytest.approx(((3 * 3 / 4 + 1) / 4 - 1 / 4) / (3 / 4))
    assert found["discernibility"].total == 9 + 4
    assert found["average_class_size"].total == 3


def test_a_masked_record_is_in_the_release_and_in_no_class():
    columns = [column("age", AGES), column("hue", HUES, {"tree": TREE})]
    table = Table(4, {c.name: c for c in columns})
    given_table = generalize(table, Partition(np.array([0, 0, 0, 1]), 2, masked=True))
    found = {name: metric(given_table) for name, metric in METRICS.items()}
    assert (given_table.suppressed, given_table.masked, given_table.sizes.tolist()) == (0, 1, [3, 1])
    assert found["gcp"].attributes == pytest.approx({"age": (3 * 20 / 40 + 1) / 4, "hue": 1.0})
    assert found["discernibility"].total == 9 + 4
    assert found["average_class_size"].total == 3


def test_cuts_by_hand():
    # each record is a class of its own, and shows what the whole table shows for its values
    columns = [column("age", AGES), column("job", JOBS), column("hue", HUES, {"tree": TREE})]
    # ages up to 30, and from 40; clerk and cook, and smith; groups of hues
    cuts = {"age": np.array([0, 0, 1, 1]), "job": np.array([0, 0, 1]), "hue": cut_at(columns[2], 1)}
    given_table = generalize(Table(4, {c.name: c for c in columns}), Partition(np.arange(4), 4, cuts))
    found = {name: metric(given_table) for name, metric in METRICS.items()}
    assert found["gcp"].attributes == pytest.approx(
        {
            "age": (2 * 10 / 40 + 2 * 20 / 40) / 4,
            "job": (3 * 2 / 3 + 0) / 4,
            "hue": (2 * 2 / 6 + 3 / 6 + 1 / 6) / 4,  # white is shown as its group, one of six leaves
        }
    )
    assert found["arx"].attributes["hue"] == pytest.approx(((2 * 2 + 3 + 1) / 6 / 4 - 1 / 6) / (5 / 6))
    assert found["precision"].attributes["hue"] == pytest.approx(1 / 2)
    # cook is two of three of its cell, clerk one of them, and smith is alone; restoring all takes 6 bits, as above
    bits = 2 * math.log2(3 / 2) + math.log2(3)
    assert found["entropy"].attributes["job"] == pytest.approx(bits / 6)


def test_missing_is_a_value_of_its_own():
    # {0, 1} mixes missing and present: everything for numbers and trees, two of three categories for sets
    numbers = column("n", pa.array([None, 1.0, 3.0, 3.0]))
    sets = column("s", pa.array([None, "a", "b", "b"]))
    trees = column("t", pa.array([None, "red", "blue", "blue"]), {"tree": TREE})
    found = measured([numbers, sets, trees], [0, 0, 1, 1])
    assert found["gcp"].attributes == pytest.approx({"n": 0.5, "s": (2 / 3) / 2, "t": 0.5})
    alone = measured([numbers, sets, trees], [0, 1, 2, 2])
    assert alone["gcp"].total == 0.0
    assert alone["arx"].total == pytest.approx(0.0)
    assert alone["precision"].total == 1.0
    assert alone["entropy"].total == 0.0


def test_untouched_and_fully_generalized_tables():
    columns = [column("age", AGES), column("job", list("abcd")), column("hue", HUES, {"tree": TREE})]
    untouched = measured(columns, [0, 1, 2, 3])
    assert [untouched[name].total for name in ("gcp", "arx", "precision", "entropy")] == pytest.approx([0, 0, 1, 0])
    nothing = measured(columns, [0, 0, 0, 0])
    assert [nothing[name].total for name in ("gcp", "arx", "precision", "entropy")] == pytest.approx([1, 1, 0, 1])


@pytest.mark.parametrize("cells", [[5, 5], ["x", "x"], [None, None]])
def test_a_constant_column_loses_nothing(cells):
    found = measured([column("c", cells)], [0, 0])
    assert [found[name].total for name in ("gcp", "arx", "precision", "entropy")] == [0, 0, 1, 0]


def test_a_hierarchy_without_values_loses_nothing():
    with np.errstate(all="raise"):
        found = measured([column("c", pa.nulls(2, pa.string()), "flat")], [0, 0])
    assert [found[name].total for name in ("gcp", "arx", "precision", "entropy")] == [0, 0, 1, 0]


def test_nothing_is_divided_by_nothing():
    columns = [column("n", pa.array([None, 7.0])), column("m", pa.nulls(2, pa.int64())), column("k", [1, 1])]
    with np.errstate(all="raise"):
        found = measured(columns, [0, 0])
    assert found["gcp"].attributes == {"n": 1.0, "m": 0.0, "k": 0.0}
    assert all(math.isfinite(loss.total) for loss in found.values())


def test_the_widest_floats_there_are():
    found = measured([column("n", [-1.7e308, 0.0, 1.7e308, 1.7e308])], [0, 0, 1, 1])
    assert found["gcp"].total == pytest.approx(0.25)


def test_a_published_zero_has_no_sign():
    assert math.copysign(1, published(-1e-17)) == 1
    assert published(0.12344) == 0.1234
