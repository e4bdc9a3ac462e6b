"""Offsets of dates: uniform, never 0, and the same for a person everywhere."""

from __future__ import annotations

import hmac
import math

import numpy as np
import pyarrow as pa
import pytest

from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.secret_keys import SecretKey
from sudare.transformations.shift_offsets import Offsets, offsets

KEY = SecretKey(bytes(range(3, 35)))
PEOPLE = pa.array([f"person {number}" for number in range(100_000)])


def deviation(counts):
    """How many standard deviations the chi-square of equal counts is off (Wilson and Hilferty)."""
    mean, free = counts.mean(), len(counts) - 1
    chi_square = float(((counts - mean) ** 2 / mean).sum())
    return ((chi_square / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))


@pytest.mark.parametrize("days", [1, 7, 30, 365])
def test_offsets_of_many_people_are_uniform_and_never_zero(days):
    found = offsets(KEY, PEOPLE, days)
    counts = np.bincount(found + days, minlength=2 * days + 1)
    assert len(counts) == 2 * days + 1
    assert counts[days] == 0
    assert abs(deviation(np.delete(counts, days))) < 3.5


@pytest.mark.parametrize("days", [1, 2, 365, 36_500])
def test_against_plain_python(days):
    key = bytes.fromhex(KEY.derived("shift").hex)
    for person, found in zip(PEOPLE[:200].to_pylist(), offsets(KEY, PEOPLE[:200], days), strict=True):
        drawn = int.from_bytes(hmac.digest(key, person.encode(), "sha256")[:8]) % (2 * days) - days
        assert found == drawn + (drawn >= 0)


def test_a_person_has_one_offset_whatever_the_type_and_the_order():
    ids = np.arange(1000)
    first = offsets(KEY, normal_texts(pa.array(ids)), 365)
    assert (first == offsets(KEY, normal_texts(pa.array([f" {number}.0" for number in ids])), 365)).all()
    assert (first[::-1] == offsets(KEY, normal_texts(pa.array(ids[::-1])), 365)).all()
    assert (first != offsets(SecretKey(bytes(32)), normal_texts(pa.array(ids)), 365)).mean() > 0.98


def test_the_measure_of_the_test_notices_what_is_not_uniform():
    counts = np.delete(np.bincount(offsets(KEY, PEOPLE, 365) + 365), 365)
    counts[:365] += 15
    assert deviation(counts) > 3.5


def test_records_without_a_person_have_a_secret_offset_too():
    nobody = {int(offsets(SecretKey.random(), pa.nulls(2, pa.string()), 365)[0]) for _ in range(50)}
    assert len(nobody) > 10
    assert 0 not in nobody


def test_offsets_say_nothing_of_pseudonyms():
    """They come from a derived key: the same text has another digest."""
    assert (KEY.derived("shift").digests(PEOPLE[:10]) != KEY.digests(PEOPLE[:10])).any(axis=1).all()


@pytest.mark.parametrize(
    "batches",
    [
        [[5, None, 7, -3], [None], [], [100_000, 5, None], [1 << 40, 1], [-50, 70_000], [1 << 60]],
        [[f" p{number % 50}" if number % 7 else None for number in range(40_000)]],
        [[f"p{number} " if number % 7 else None for number in range(40_000)]],
        [["1", "1.0", None], ["01"]],
    ],
)
def test_offsets_that_are_kept_or_looked_up_are_the_same(batches):
    kept = Offsets(KEY, 30)
    kind = pa.int64() if isinstance(batches[0][0], int) else pa.string()
    for cells in batches:
        persons = pa.array(cells, kind)
        plain = offsets(KEY, normal_texts(persons), 30).tolist()
        assert kept.of(persons).to_pylist() == [
            None if cell is None else days for cell, days in zip(cells, plain, strict=True)
        ]
