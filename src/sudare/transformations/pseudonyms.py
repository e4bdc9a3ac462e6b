"""Pseudonyms: keyed digests of values, as short texts.

A pseudonym is made of HMAC-SHA256 of the value's normal text (:mod:`sudare.transformations.normal_texts`) under the
secret key, or, within a ``space``, under the key derived for it. Of the digest it shows

- ``hex``: the first hexadecimal digits;
- ``base32``: the first bits, five in a character (RFC 4648, in small letters, without padding);
- ``digits``: the last decimal digits of the digest as a number whose first byte is the largest.

So anyone who has the key can make them with any other tool, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.policy.transformation_spec import FORMS, PseudonymSpec
from sudare.transformations.secret_keys import DIGEST, SecretKey, in_pieces
from sudare.transformations.text_buffers import text_buffers, texts_of_characters

_PARTS = 32
"""The parts in which numbers are kept."""
_FEW = 1 << 15
"""The rows of a part that are worth putting in order."""


def key_of_space(key: SecretKey, space: str | None) -> SecretKey:
    """Return the key of pseudonyms: of a space, the key that is derived for it."""
    return key if space is None else key.derived(f"space:{space}")


def pseudonyms(key: SecretKey, spec: PseudonymSpec, texts: pa.Array) -> pa.Array:
    """Return the pseudonyms of normal texts, under the key that the policy names; nulls stay null."""
    own = key_of_space(key, spec.space)
    buffers = text_buffers(texts)
    found = np.empty((len(buffers.nulls), spec.characters), np.uint8)

    def write(first: int, last: int) -> None:
        digests = np.zeros((last - first, DIGEST), np.uint8)
        own.digest_rows(buffers, first, last, digests)
        write_characters(spec.form, digests, found[first:last])

    in_pieces(write, len(found))
    return texts_of_characters(found, buffers.nulls)


def write_characters(form: str, digests: NDArray[np.uint8], result: NDArray[np.uint8]) -> None:
    """Write the characters of pseudonyms, a row for each digest."""
    from sudare.kernels.transformations.digest_characters import decimal_characters, leading_characters

    if form == "digits":
        decimal_characters(digests, result)
        return
    alphabet, bits, *_ = FORMS[form]
    leading_characters(digests, int(bits), np.frombuffer(alphabet.encode(), np.uint8), result)


class PseudonymCheck:
    """Finds out whether pseudonyms are one to one, and whether one of them is also a value of the column.

    It keeps 16 bytes for each different value (24 if a pseudonym may have more than 64 bits), and 8 (16) for each that
    looks like a pseudonym. Values and pseudonyms themselves are not kept.
    """

    def __init__(self, spec: PseudonymSpec) -> None:
        self._spec = spec
        alphabet, bits, *_ = FORMS[spec.form]
        self._radix = len(alphabet)
        self._values = np.zeros(256, np.uint8)
        self._values[list(alphabet.encode())] = range(self._radix)
        self._wide = spec.characters * math.ceil(bits) > 64
        """Whether the second number of a pseudonym does not tell it from all others."""
        self._made = _Distinct(3 if self._wide else 2)
        self._alike = _Distinct(2 if self._wide else 1)

    def add(self, texts: pa.Array, made: pa.Array) -> None:
        """Note the normal texts of some records, and the pseudonyms that were made of them."""
        from sudare.kernels.transformations.digest_characters import hashes_of_texts

        valid = texts.is_valid()
        if texts.null_count:
            texts, made = texts.filter(valid), made.filter(valid)
        buffers = text_buffers(texts)
        hashes = np.empty(len(texts), np.uint64)
        hashes_of_texts(buffers.offsets, buffers.data, hashes)
        self._made.add(np.column_stack([self._numbers(made), hashes]))
        lengths = np.diff(buffers.offsets)
        if (lengths == self._spec.characters).any():
            like = pc.match_substring_regex(texts, self._shape)
            self._alike.add(self._numbers(texts.filter(like)))

    def take(self) -> PseudonymCheck:
        """Return what was noted so far as a check of its own, and begin anew."""
        found = PseudonymCheck(self._spec)
        found._made, self._made = self._made, found._made
        found._alike, self._alike = self._alike, found._alike
        return found

    def merge(self, other: PseudonymCheck) -> None:
        """Note what another check has noted, of other records of the column."""
        self._made.merge(other._made)
        self._alike.merge(other._alike)

    @property
    def _shape(self) -> str:
        return shape(self._spec)

    def _numbers(self, texts: pa.Array) -> NDArray[np.uint64]:
        """Return the numbers that tell pseudonyms apart, a row for each."""
        from sudare.kernels.transformations.digest_characters import numbers_of_texts

        buffers = text_buffers(texts)
        found = np.empty((len(texts), 2), np.uint64)
        numbers_of_texts(buffers.offsets, buffers.data, self._radix, self._values, found)
        return found[:, ::-1] if self._wide else found[:, 1:]

    def problems(self, column: str) -> list[Problem]:
        """Return what is wrong with the pseudonyms of a column."""
        same = shown = 0
        for made, alike in zip(self._made.parts(), self._alike.parts(), strict=True):
            numbers = made[:, :-1]
            again = (numbers[1:] == numbers[:-1]).all(axis=1)  # rows differ, so their values do
            same += int(again[:1].sum() + (again[1:] & ~again[:-1]).sum())  # each is counted once
            if len(alike):
                both = _in_order(np.concatenate([_without_repeats(numbers), alike]))
                shown += int((both[1:] == both[:-1]).all(axis=1).sum())
        found = []
        if same:
            what = f"{same:,} pseudonym{' stands' if same == 1 else 's stand'} for different values."
            found.append(Problem(f"column '{column}'", what, f"give pseudonyms a longer length than {self._length}."))
        if shown:
            what = f"{shown:,} pseudonym{' is' if shown == 1 else 's are'} also a value of the column."
            hint = f"give pseudonyms another form, or another length than {self._length}."
            found.append(Problem(f"column '{column}'", what, hint))
        return found

    @property
    def _length(self) -> int:
        return self._spec.characters


def shape(spec: PseudonymSpec) -> str:
    """Return the regular expression that all pseudonyms match."""
    allowed = {"hex": "0-9a-f", "base32": "a-z2-7", "digits": "0-9"}[spec.form]
    return f"^[{allowed}]{{{spec.characters}}}$"


class _Distinct:
    """Different rows of numbers, in parts by their first number, as putting a part in order takes little memory."""

    def __init__(self, width: int) -> None:
        self._kept = [np.empty((0, width), np.uint64) for _ in range(_PARTS)]
        self._waiting: list[list[NDArray[np.uint64]]] = [[] for _ in range(_PARTS)]

    def add(self, rows: NDArray[np.uint64]) -> None:
        """Add rows."""
        part = (rows[:, 0] % np.uint64(_PARTS)).astype(np.uint8)
        rows = rows[np.argsort(part, kind="stable")]
        ends = np.cumsum(np.bincount(part, minlength=_PARTS))
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            self._waiting[number].append(_distinct(rows[start:end]))
            if sum(map(len, self._waiting[number])) > max(len(self._kept[number]) // 2, _FEW):
                self._merge(number)

    def merge(self, other: _Distinct) -> None:
        """Add the rows of another one."""
        for number, rows in enumerate(other.parts()):
            self._waiting[number].append(rows)
            self._merge(number)

    def _merge(self, number: int) -> None:
        self._kept[number] = _distinct(np.concatenate([self._kept[number], *self._waiting[number]]))
        self._waiting[number] = []

    def parts(self) -> Iterator[NDArray[np.uint64]]:
        """Yield the different rows of each part, in order."""
        for number in range(_PARTS):
            if self._waiting[number]:
                self._merge(number)
            yield self._kept[number]


def _distinct(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return _without_repeats(_in_order(rows))


def _in_order(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return rows in order, the first number first."""
    rows = rows[np.argsort(rows[:, 0])]
    if rows.shape[1] == 1:
        return rows
    tied = np.zeros(len(rows) + 1, np.bool_)
    tied[1:-1] = rows[1:, 0] == rows[:-1, 0]
    places = np.flatnonzero(tied[1:] | tied[:-1])  # few, or repeats of values: to sort all by all numbers takes longer
    if len(places):
        some = rows[places]
        rows[places] = some[np.lexsort(some.T[::-1])]
    return rows


def _without_repeats(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return rows that are in order without those that are like the one before them."""
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows if new.all() else rows[new]
