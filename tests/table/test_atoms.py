"""Atoms: records that agree in everything."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.table import find_atoms


def check(columns, sizes, rows):
    atoms = find_atoms([np.array(c) for c in columns], sizes, rows)
    lines = list(zip(*(c.tolist() for c in map(np.array, columns)), strict=True)) if columns else [()] * rows
    counted = Counter(lines)
    found = [tuple(line) for line in atoms.codes.tolist()]
    assert found == sorted(counted)
    assert atoms.count.tolist() == [counted[line] for line in found]
    assert [found[atom] for atom in atoms.of_row] == lines
    return atoms


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1)))
def test_atoms_are_the_different_lines_in_order(lines):
    columns = [np.array(column, np.uint8) for column in zip(*lines, strict=True)]
    check(columns, [4] * len(columns), len(lines))


@pytest.mark.parametrize("columns", [2, 3, 5, 9])
def test_keys_that_do_not_fit_into_64_bits_are_renumbered(columns):
    random = np.random.default_rng(columns)
    few = [random.choice(np.array([0, 7, 2**31, 2**32 - 1], np.uint32), 300) for _ in range(columns)]
    atoms = check(few, [2**32] * columns, 300)
    assert atoms.codes.dtype == np.uint32


def test_a_key_that_just_fits():
    check([np.array([2**31 - 1, 0, 2**31 - 1], np.uint32), np.array([2**31 - 1, 5, 5], np.uint32)], [2**31] * 2, 3)
    check([np.array([2**32 - 1, 0], np.uint32), np.array([2**31 - 1, 5], np.uint32)], [2**32, 2**31], 2)


def test_columns_with_one_code_or_none():
    check([np.zeros(3, np.uint8), np.array([1, 0, 1], np.uint8)], [1, 2], 3)
    atoms = find_atoms([], [], 4)
    assert (atoms.count.tolist(), atoms.of_row.tolist(), atoms.codes.shape) == ([4], [0, 0, 0, 0], (1, 0))


def test_small_codes_share_one_type():
    assert find_atoms([np.array([0, 1], np.uint8)], [2], 2).codes.dtype == np.uint16
    assert find_atoms([np.array([0, 1], np.uint8), np.array([0, 70_000], np.uint32)], [2, 70_001], 2).codes.dtype == (
        np.uint32
    )


@pytest.mark.parametrize("span", [3, 200])
def test_runs_of_equal_records_make_the_same_atoms(span):
    random = np.random.default_rng(1)
    some = random.integers(0, span, (400, 3))
    runs = random.integers(1, 9, 400)
    columns = [codes.astype(np.uint16) for codes in np.repeat(some, runs, axis=0).T]
    rows = int(runs.sum())
    plain, joined = (find_atoms(columns, [span] * 3, rows, runs=given) for given in (None, runs))
    assert (plain.codes == joined.codes).all()
    assert (plain.count == joined.count).all()
    assert (plain.of_row == joined.of_row).all()
