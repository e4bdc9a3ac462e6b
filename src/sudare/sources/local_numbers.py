"""Numbers as people write them in their country (``1.234,5``), as plain numbers (``1234.5``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.table.value_spellings import fold

_GROUPINGS = {".": r"\.", ",": ",", " ": "[ \u00a0\u2009\u202f]", "'": "['`\u2019]"}
"""Marks between groups of three digits, with those that look the same in print."""
_POWER = r"(?:[eE][+-]?\d+)"
_UNUSUAL = r"[^ -_a-~]|  "
"""What texts in plain spelling do not have: other than visible ASCII, a backtick, blanks in a row."""
_LETTERS = r"a-df-zA-DF-Z\p{Han}\p{Hiragana}\p{Katakana}\p{Cyrillic}"
_MAYBE_A_NUMBER = rf"^[^{_LETTERS}]*\pN[^{_LETTERS}]*$"


@dataclass(frozen=True)
class LocalNumbers:
    """How the numbers of a table are written: their decimal mark, and the mark between thousands, if any."""

    decimal: str = "."
    thousands: str | None = None

    @property
    def plain(self) -> bool:
        """Whether numbers are written as computers do."""
        return self.decimal == "." and self.thousands is None

    @property
    def grouped(self) -> str:
        """The pattern of numbers with marks between thousands."""
        return f"^[+-]?[1-9]\\d{{0,2}}(?:{_GROUPINGS[self.thousands or ' ']}\\d{{3}})+"

    @cached_property
    def _number(self) -> str:
        mark = re.escape(self.decimal)
        # none of them has an exponent behind groups: in 1.234e2 the point may as well be a decimal one
        grouped = rf"|[1-9]\d{{0,2}}(?:{_GROUPINGS[self.thousands]}\d{{3}})+(?:{mark}\d*)?" if self.thousands else ""
        return rf"^[+-]?(?:(?:\d+(?:{mark}\d*)?|{mark}\d+){_POWER}?{grouped})$"

    @cached_property
    def _foreign(self) -> str:
        """What would be a number in the other way of writing, or is grouped wrongly."""
        other = r"\." if self.decimal == "," else ","
        rarely = _GROUPINGS[" "] + "|" + _GROUPINGS["'"]
        two_marks = rf"\d{{1,3}}(?:(?:\.\d{{3}})+,|(?:,\d{{3}})+\.|(?:(?:{rarely})\d{{3}})+[.,])\d+"
        grouped = rf"|\d{{1,3}}(?:{_GROUPINGS[self.thousands]}\d{{3}})+{_POWER}" if self.thousands else ""
        return rf"^[+-]?(?:(?:\d*{other}\d+|{two_marks}){_POWER}?{grouped})$"

    def plain_texts(self, values: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return texts with plain numbers instead of local ones, and which are numbers in another way of writing.

        A number may have another spelling: dashes for its minus, full-width digits, signs that nobody sees. A text that
        is no number stays as it is.
        """
        if not self._any_marks(values):
            return values, _none_of(values)
        bare = pc.utf8_trim_whitespace(values)
        numbers = pc.fill_null(pc.match_substring_regex(bare, self._number), True)
        foreign = _none_of(values)
        if not pc.all(numbers).as_py():
            others = pc.invert(numbers)
            rest = bare.filter(others)
            spelled = plainly_spelled(rest)
            wrong = pc.match_substring_regex(spelled, self._foreign)
            if spelled is not rest:
                found = pc.match_substring_regex(spelled, self._number)
                wrong = pc.and_not(wrong, found)
                bare, numbers = (
                    pc.replace_with_mask(bare, others, spelled),
                    pc.replace_with_mask(numbers, others, found),
                )
            foreign = pc.replace_with_mask(foreign, others, wrong)
        plain = pc.replace_substring_regex(bare, _GROUPINGS[self.thousands], "") if self.thousands else bare
        if self.decimal != ".":
            plain = pc.replace_substring(plain, self.decimal, ".")
            if pc.any(pc.starts_with(plain, "+")).as_py():  # before a whole number it may belong to a code
                plain = pc.replace_substring_regex(plain, r"^\+(\d*\.)", r"\1")
        return pc.if_else(numbers, plain, values), foreign

    def _any_marks(self, values: pa.Array) -> bool:
        """Return whether a text may have a mark of numbers, in whatever spelling."""
        marks = "[,.]" if self.thousands is None else f"[,.]|{_GROUPINGS[self.thousands]}"
        if pc.any(pc.match_substring_regex(values, marks)).as_py():
            return True
        if pc.all(pc.string_is_ascii(values)).as_py():
            return False
        return bool(pc.any(pc.match_substring_regex(plainly_spelled(values), marks)).as_py())


def plainly_spelled(texts: pa.Array) -> pa.Array:
    """Return texts, and those that may be a number in another spelling as sensitive values are compared.

    Only these are folded, which is slow: they have a digit, and no letter that a number has not.
    """
    odd = pc.match_substring_regex(texts, _UNUSUAL)
    if not pc.any(odd).as_py():
        return texts
    odd = pc.fill_null(pc.and_(odd, pc.match_substring_regex(texts, _MAYBE_A_NUMBER)), False)
    if not pc.any(odd).as_py():
        return texts
    folded = [fold(text, numbers=False) for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(folded, texts.type))


def _none_of(values: pa.Array) -> pa.Array:
    return pa.array(np.zeros(len(values), dtype=bool))
