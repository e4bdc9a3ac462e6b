"""Numbers as people write them in their country (``1.234,5``), as plain numbers (``1234.5``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_GROUPINGS = {".": r"\.", ",": ",", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
"""Marks between groups of three digits, with those that look the same in print."""


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
        grouped = f"|[1-9]\\d{{0,2}}(?:{_GROUPINGS[self.thousands]}\\d{{3}})+" if self.thousands else ""
        return rf"^[+-]?(?:(?:\d+{grouped})(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?$"

    @cached_property
    def _foreign(self) -> str:
        """What would be a number in the other way of writing, or is grouped wrongly."""
        other = r"\." if self.decimal == "," else ","
        return rf"^[+-]?\d*{other}\d+(?:[eE][+-]?\d+)?$"

    def plain_texts(self, values: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return texts with plain numbers instead of local ones, and which are numbers in another way of writing.

        A text that is no number stays as it is.
        """
        marks = "[,.]" if self.thousands is None else f"[,.]|{_GROUPINGS[self.thousands]}"
        marked = pc.match_substring_regex(values, marks)
        if not pc.any(marked).as_py():
            return values, pa.array(np.zeros(len(values), dtype=bool))
        bare = pc.replace_substring(pc.utf8_trim_whitespace(values), "\u2212", "-")  # the minus of typesetters
        numbers = pc.match_substring_regex(bare, self._number)
        foreign = pc.and_not(pc.match_substring_regex(bare, self._foreign), numbers)
        plain = pc.replace_substring_regex(bare, _GROUPINGS[self.thousands], "") if self.thousands else bare
        plain = pc.replace_substring(plain, self.decimal, ".") if self.decimal != "." else plain
        return pc.if_else(numbers, plain, values), foreign
