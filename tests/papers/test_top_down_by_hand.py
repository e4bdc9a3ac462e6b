"""Top-down specialization worked out by hand, decision by decision.

    record  n  s
    0       0  a
    1       0  a
    2       1  b
    3       2  b
    4       4  a
    5       8  c
    6       8  c
    7       8  b

k = 2. The range of n is 8, s has three categories. A record loses width / 8 in n, and in s the number of categories of
its class by 3, or nothing if there is one. Below, L and R are the losses of the sides, records times loss of each.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.kernels.topdown import splits, value_orders
from sudare.methods import METHODS
from sudare.methods.attribute_arrays import describe_axes
from sudare.models import KAnonymity, Requirements
from sudare.table import SUPPRESSED, Table, encode_column

N = [0, 0, 1, 2, 4, 8, 8, 8]
S = ["a", "a", "b", "b", "a", "c", "c", "b"]
NUMBER, CATEGORY = 0, 1
PREFIX, SINGLE = value_orders.PREFIX, value_orders.SINGLE


def table(n=N, s=S) -> Table:
    return Table(
        len(n), {"n": encode_column("n", pa.array(n)), "s": encode_column("s", pa.array(s))}
    )  # fmt: skip


def scores(records: list[int], least: int = 2) -> dict[tuple[int, int, int], float]:
    """What the kernel says of every split of some records: (attribute, place, shape) to the loss after it."""
    columns = list(table().single.values())
    axes = describe_axes(columns)
    rows = np.stack([column.codes[records] for column in columns], axis=1).astype(np.uint16)
    out = splits.splits(200)
    cluster = np.array([[0, len(rows), 0, len(rows)]])
    [found] = splits.score_splits(
        value_orders.Atoms(rows, np.ones(len(rows), np.uint32)),
        cluster,
        splits.Search(least, splits.LEAST_LOSS, -1, every=True),
        axes,
        value_orders.scratch(axes, len(rows)),
        value_orders.covers(axes, len(rows)),
        splits.Found(out, out, np.zeros(1)),
    )
    names = zip(out.attribute[:found].tolist(), out.place[:found].tolist(), out.shape[:found].tolist(), strict=True)
    return dict(zip(names, out.score[:found].tolist(), strict=True))


def test_the_first_decision():
    # before: 8 * (8/8 + 3/3) = 16
    expected = {
        # n <= 0: {0, 1} | rest           L 0                       R 6 * (7/8 + 3/3) = 11.25
        (NUMBER, 0, PREFIX): 11.25,
        # n <= 1: {0, 1, 2} | rest        L 3 * (1/8 + 2/3) = 2.375   R 5 * (6/8 + 3/3) = 8.75
        (NUMBER, 1, PREFIX): 11.125,
        # n <= 2: {0, 1, 2, 3} | rest     L 4 * (2/8 + 2/3) = 11/3    R 4 * (4/8 + 3/3) = 6
        (NUMBER, 2, PREFIX): 11 / 3 + 6,
        # n <= 4: {0, 1, 2, 3, 4} | rest  L 5 * (4/8 + 2/3) = 35/6    R 3 * (0 + 2/3) = 2
        (NUMBER, 3, PREFIX): 35 / 6 + 2,
        # a, b and c have 3, 3 and 2 records and stand in this order
        # a: {0, 1, 4} | rest             L 3 * (4/8 + 0) = 1.5       R 5 * (7/8 + 2/3) = 185/24
        (CATEGORY, 0, PREFIX): 1.5 + 185 / 24,
        # a, b: all but {5, 6} | {5, 6}   L 6 * (8/8 + 2/3) = 10      R 0
        (CATEGORY, 1, PREFIX): 10.0,
        # b alone: {2, 3, 7} | rest       L 3 * (7/8 + 0) = 2.625     R 5 * (8/8 + 2/3) = 25/3
        (CATEGORY, 1, SINGLE): 2.625 + 25 / 3,
    }
    assert scores(list(range(8))) == pytest.approx(expected)
    assert min(expected, key=expected.get) == (NUMBER, 3, PREFIX)


def test_the_second_decision():
    # {0, 1, 2, 3, 4}, before: 35/6
    expected = {
        # n <= 0: {0, 1} | {2, 3, 4}    L 0                         R 3 * (3/8 + 2/3) = 3.125
        (NUMBER, 0, PREFIX): 3.125,
        # n <= 1: {0, 1, 2} | {3, 4}    L 3 * (1/8 + 2/3) = 2.375     R 2 * (2/8 + 2/3) = 11/6
        (NUMBER, 1, PREFIX): 2.375 + 11 / 6,
        # n <= 2 leaves one record on the right: not allowed
        # a: {0, 1, 4} | {2, 3}         L 3 * 4/8 = 1.5               R 2 * 1/8 = 0.25
        (CATEGORY, 0, PREFIX): 1.75,
    }
    assert scores([0, 1, 2, 3, 4]) == pytest.approx(expected)
    assert min(expected, key=expected.get) == (CATEGORY, 0, PREFIX)


@pytest.mark.parametrize("records", [[5, 6, 7], [0, 1, 4], [2, 3]])
def test_the_last_decisions(records):
    # three records or two cannot be cut into two and two
    assert scores(records) == {}


def test_the_whole_way():
    partition = METHODS["top-down"].load()(table(), Requirements((KAnonymity(2),)))
    assert partition.classes.tolist() == [0, 0, 1, 1, 0, 2, 2, 2]
    made = sudare.anonymize(
        pa.table({"n": N, "s": S}),
        {
            "columns": {"n": {"role": "quasi"}, "s": {"role": "quasi"}},
            "require": [{"model": "k-anonymity", "k": 2}],
            "release": {"order": "keep", "ranges": "tight"},
        },
    )
    assert made.data.to_pydict() == {
        "n": ["[0, 4]", "[0, 4]", "[1, 2]", "[1, 2]", "[0, 4]", "8", "8", "8"],
        "s": ["a", "a", "b", "b", "a", "{b, c}", "{b, c}", "{b, c}"],
    }
    # (1.5 + 0.25 + 2) / (8 records * 2 attributes)
    assert made.loss["gcp"] == round(3.75 / 16, 4)


def test_the_widest_attribute_at_its_median():
    # n and s are both of width 1: n comes first. 2, 1, 1, 1, 3 records: after 4 of 8 (n <= 2) is the median.
    # {0, 1, 2, 3}: n 2/8, s 2/3: s is cut, {0, 1} | {2, 3}. {4, 5, 6, 7}: n 4/8, s 3/3: s has c, a, b with 2, 1, 1
    # records in this order, the median is after c: {5, 6} | {4, 7}.
    partition = METHODS["top-down"].load()(table(), Requirements((KAnonymity(2),)), split="widest")
    found = {frozenset(np.flatnonzero(partition.classes == number).tolist()) for number in range(partition.count)}
    assert found == {frozenset({0, 1}), frozenset({2, 3}), frozenset({5, 6}), frozenset({4, 7})}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # Without a budget: n <= 0 leaves 4 * 90/100 = 3.6; the four others cannot be cut.
        (0.0, [0, 0, 0, 1, 1, 1, 1]),
        # One record may go. Of the seven: n <= 10, the right side left out: 6 * 10/100 + 1 = 1.6, less than the
        # 3.6 of n <= 0. The budget is spent. Then n <= 0 leaves nothing to lose.
        (1 / 7, [0, 0, 0, 1, 1, 1, SUPPRESSED]),
        # A larger budget changes nothing: leaving out three more records would lose 3.
        (6 / 7, [0, 0, 0, 1, 1, 1, SUPPRESSED]),
        # Six sevenths of a record are none.
        (0.12, [0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_an_outlier_is_left_out_if_the_policy_allows_it(limit, expected):
    alone = Table(7, {"n": encode_column("n", pa.array([0, 0, 0, 10, 10, 10, 100]))})
    partition = METHODS["top-down"].load()(alone, Requirements((KAnonymity(3),), limit))
    assert partition.classes.tolist() == expected
