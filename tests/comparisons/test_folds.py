"""Folds: every record is asked about once, with the classes in proportion."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sudare.comparisons import stratified
from sudare.core.errors import DataError
from sudare.table import Table, encode_column

CLASS = ["a"] * 53 + ["b"] * 21 + ["c"] * 7


def table_of(classes=CLASS, people=None):
    subject = None if people is None else encode_column("person", pa.array(people))
    return Table(len(classes), {}, subject=subject, target=encode_column("class", pa.array(classes)))


@pytest.mark.parametrize("folds", [2, 5, 7])
def test_folds_are_disjoint_and_stratified(folds):
    table = table_of()
    splits = stratified(table, folds, seed=3)
    asked = np.concatenate([test for _, test in splits])
    assert sorted(asked.tolist()) == list(range(81))
    for training, test in splits:
        assert sorted([*training.tolist(), *test.tolist()]) == list(range(81))
        assert len(test) in (81 // folds, 81 // folds + 1)
        for code, size in enumerate((53, 21, 7)):
            assert np.count_nonzero(table.target.codes[test] == code) in (size // folds, -(-size // folds))


def test_the_seed_alone_decides():
    first, again, other = (stratified(table_of(), 3, seed) for seed in (0, 0, 1))
    assert [test.tolist() for _, test in first] == [test.tolist() for _, test in again]
    assert [test.tolist() for _, test in first] != [test.tolist() for _, test in other]


def test_nobody_is_on_both_sides():
    people = [f"p{number % 30}" for number in range(81)]
    table = table_of(people=people)
    for training, test in stratified(table, 4):
        assert not set(table.subject.codes[training].tolist()) & set(table.subject.codes[test].tolist())


def test_more_folds_than_records_or_people_are_refused():
    with pytest.raises(DataError, match=r"has 3 records, fewer than folds\. Hint: use at most 3 folds"):
        stratified(table_of(["a", "b", "b"]), 4)
    with pytest.raises(DataError, match="has 2 data subjects"):
        stratified(table_of(["a", "b", "b"], ["x", "y", "y"]), 3)
