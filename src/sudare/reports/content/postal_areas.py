"""Postal codes: more than three digits, and the areas of three digits with 20,000 people or fewer.

The 17 areas are those of the census of 2000, as in the guidance of the US Department of Health and Human Services.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow.compute as pc

from sudare.reports.content.released_values import Found, ReleasedValues


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SMALL_AREAS = _words("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
"""The first three digits of ZIP codes of areas with 20,000 people or fewer; 000 stands for them."""

_UNUSED = frozenset(
    _words("""
    000 001 002 003 004 099 213 269 343 345 348 353 419 428 429 517 518 519 529 533 536 552 568 578 579 589 621
    632 642 643 659 663 682 694 695 696 697 698 699 702 709 715 732 742 771 817 818 819 839 848 849 854 858 861
    862 866 867 868 869 876 886 887 888 892 896 899 909 929 987
""")
)
"""No ZIP code begins so; numbers of five digits that are no ZIP codes soon do."""
_FEWEST = 20
_SHORT = re.compile(r"(\d{3})(?:[*xX#•·.-]{0,6})?")
_LONG = re.compile(r"\d{4,}|\d{5}-\d{0,4}|(?=.*[A-Z])(?=.*\d)[A-Z0-9][A-Z0-9 -]{3,}")


def long_codes(column: ReleasedValues) -> Found:
    """Return the values of a column of postal codes that show more than three digits."""
    return column.of(
        place
        for place in range(len(column.texts))
        if any(_LONG.match(piece.partition("*")[0].strip()) for piece in column.pieces(place))
    )


def small_areas(column: ReleasedValues) -> Found:
    """Return the values of a column of postal codes that are areas with 20,000 people or fewer."""
    return column.of(
        place
        for place in range(len(column.texts))
        if any((found := _SHORT.fullmatch(piece)) and found[1] in SMALL_AREAS for piece in column.pieces(place))
    )


def understood(column: ReleasedValues) -> bool:
    """Return whether all values of a column of postal codes are numbers of at most three digits, and rest."""
    return all(
        re.fullmatch(r"\d{0,3}[*xX#•·.-]{0,6}|null|\*", piece) is not None
        for place in range(len(column.texts))
        for piece in column.pieces(place)
    )


def masked_codes(column: ReleasedValues) -> Found:
    """Return the values that are four digits and a mark, as postal codes are masked."""
    return column.matching(r"^\d{4}[*xX#]$") if not column.calendar else column.of(())


def looks_postal(column: ReleasedValues) -> bool:
    """Return whether all values are five digits that ZIP codes may be, and many."""
    if column.calendar or column.binary is not None:
        return False
    texts = column.texts.drop_null()
    if len(texts) < _FEWEST or not pc.all(pc.match_substring_regex(texts, r"^\d{5}$")).as_py():
        return False
    numbers = np.asarray(texts.to_pylist())
    round_ones = np.char.endswith(numbers, "00").mean()
    return bool(round_ones < 0.1) and not _UNUSED & {text[:3] for text in numbers.tolist()}
