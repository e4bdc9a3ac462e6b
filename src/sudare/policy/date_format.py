"""Formats of dates as people write them down, such as ``dd.mm.yyyy`` or ``yyyy-mm-dd hh:mm``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_PARTS = {
    "yyyy": r"(?P<year>\d{4})",
    "yy": r"(?P<year>\d{2})",
    "mmm": r"(?P<month>\p{L}{3,12})\.?",
    "mm": r"(?P<month>\d{1,2})",
    "m": r"(?P<month>\d{1,2})",
    "dd": r"(?P<day>\d{1,2})",
    "d": r"(?P<day>\d{1,2})",
    "hh": r"(?P<hour>\d{1,2})",
    "h": r"(?P<hour>\d{1,2})",
    "ss": r"(?P<second>\d{2})",
}
_MINUTES = r"(?P<minute>\d{2})"
_FRACTION = r"(?:[.,]0+)?"  # what programs write behind whole seconds
_PIECES = re.compile(r"y+|m+|d+|h+|s+|[a-z]|[^a-z]+", re.IGNORECASE)
_HINT = "write it as dd.mm.yyyy, mm/dd/yyyy, yyyy-mm-dd, dd mmm yyyy or dd.mm.yyyy hh:mm:ss"


@dataclass(frozen=True)
class DateFormat:
    """A format: the pattern of its texts, with a group for each part.

    ``named_months`` says that months are words, and ``short_years`` that years have two digits; those up to 68 are of
    this century. ``timed`` says that there is a time of day.
    """

    text: str
    pattern: str
    groups: tuple[str, ...]
    named_months: bool
    short_years: bool

    @property
    def timed(self) -> bool:
        """Whether there is a time of day."""
        return "hour" in self.groups

    @classmethod
    def of(cls, text: str) -> DateFormat:
        """Read a format, or raise ValueError with what is wrong with it."""
        pieces, groups, behind = [], list[str](), ""
        words = _PIECES.findall(text.lower())
        # without a mark between them, only digits in full show where one part ends
        joined = any("t" not in pair and pair[0].isalpha() and pair[1].isalpha() for pair in pairwise(words))
        for word in words:
            if not word.isalpha():
                pieces.append(re.escape(word))
                continue
            if word == "t" and pieces:
                pieces.append("[Tt]")
                continue
            found = _MINUTES if word == "mm" and behind in ("h", "hh") else _PARTS.get(word)
            if found is None:
                raise ValueError(f"{text!r} is not a format of dates: {_HINT}")
            group = re.search(r"<(\w+)>", found)
            assert group is not None
            groups.append(group[1])
            found = found.replace("{1,2}", "{2}") if joined else found
            pieces.append(found + (_FRACTION if word == "ss" else ""))
            behind = word
        once = len(set(groups)) == len(groups)
        if not once or not {"year", "month", "day"} <= set(groups) or ("second" in groups and "minute" not in groups):
            raise ValueError(
                f"{text!r} is not a format of dates: it needs a day, a month and a year, once each. {_HINT}"
            )
        if "minute" in groups and "hour" not in groups:
            raise ValueError(f"{text!r} is not a format of dates: minutes need hours. {_HINT}")
        return cls(text, f"^{''.join(pieces)}$", tuple(groups), "mmm" in words, "yy" in words)
