"""The forms that transformations leave: what a value of a column may be, from the words of the policy alone.

Each form says of a text whether it is such a value (``accepts``), what such values are in words (``words``), and, where
SQL can say so quickly of most of them, how (``quick``). SQL only ever says yes to what ``accepts`` would accept.

Numbers are compared as decimals, by what their text says: 0.3 is a multiple of 0.1, and 0.30000000000000004 is none.
A number of eight bytes holds every decimal of 15 digits, and is then written like it. So only a multiple that has more
digits than that may differ from what is written, and only behind the 15th digit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Protocol

from sudare.audits.value_spellings import number
from sudare.policy import FORMS

DIGITS = 15
"""The digits of a decimal that eight bytes hold surely."""
_FAR = 400
"""No number of eight bytes has more digits before or behind the point."""
_LONGEST_REPEAT = 900
"""The most repetitions that a pattern in SQL may ask for, about."""
_PLACES, _LARGE = 15, 10**18
_PLAIN_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)")
_CANONICAL = r"-?(?:0\.[0-9]*[1-9]|[1-9][0-9]*(?:\.[0-9]*[1-9])?)|0"
_BAND = re.compile(rf"\[({_CANONICAL}), ({_CANONICAL})([])])")
"""A label of a band; a number in it has one spelling."""
_ALONE = re.compile(_CANONICAL)
_OUTER = re.compile(rf"(<|>=) ({_CANONICAL})")
_PERIODS = {
    "month": (re.compile(r"([0-9]{4})-([0-9]{2})"), "a month, such as 2024-03"),
    "quarter": (re.compile(r"([0-9]{4})-Q([0-9])"), "a quarter, such as 2024-Q1"),
    "week": (re.compile(r"([0-9]{4})-W([0-9]{2})"), "a week, such as 2024-W05"),
}


class Form(Protocol):
    """What a value of a column may be."""

    @property
    def words(self) -> str:
        """What such a value is, in words."""

    def accepts(self, text: str) -> bool:
        """Return whether a text is such a value."""

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return SQL that is true only of accepted texts; None if there is none.

        ``cell`` is the SQL of the text, and ``number`` that of the number, if cells are integers or of eight bytes.
        """

    def bounds(self) -> Bounds:
        """Return the smallest and the largest number that a value may be; None where there is none."""


Bounds = tuple[Decimal | None, Decimal | None]
NO_BOUNDS: Bounds = (None, None)


def number_of(text: str) -> Decimal | None:
    """Return the number that a text is; None if it is none, or beyond what eight bytes hold."""
    found = number(text.lower())
    if found is None or not found:
        return found
    return found if abs(found.adjusted()) < _FAR else None


def decimal_of(given: float) -> Decimal:
    """Return a number of a policy as the decimal that it is written as."""
    return Decimal(str(given))


def plain(value: Decimal) -> str:
    """Return a number as text, without an exponent."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def same_value(text: str) -> str:
    """Return the text that spellings of one value share where values are replaced: 1 and 1.0; blanks around it."""
    bare = unicodedata.normalize("NFC", text).strip()
    found = number_of(bare) if _PLAIN_NUMBER.fullmatch(bare) else None
    return bare if found is None else str(found)


@dataclass(frozen=True)
class Anything:
    """Any value: nothing follows from the transformations."""

    words = "anything"

    def accepts(self, text: str) -> bool:
        """Return True."""
        return True

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return what is always true."""
        return "true"

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Numbers:
    """Numbers from ``low`` to ``high``, multiples of ``grid``; each of them may be None."""

    low: Decimal | None = None
    high: Decimal | None = None
    grid: Decimal | None = None

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        if self.low is not None and self.low == self.high:
            return plain(self.low)
        kind = "a number" if self.grid is None else "a whole number"
        if self.grid not in (None, 1):
            kind = f"a multiple of {plain(self.grid)}"
        if self.low is not None and self.high is not None:
            return f"{kind} from {plain(self.low)} to {plain(self.high)}"
        if self.high is not None:
            return f"{kind} up to {plain(self.high)}"
        return kind if self.low is None else f"{kind} from {plain(self.low)}"

    def accepts(self, text: str) -> bool:
        """Return whether a text is such a number."""
        found = number_of(text)
        return found is not None and self.within(found) and (self.grid is None or on_grid(found, self.grid))

    def within(self, found: Decimal) -> bool:
        """Return whether a number is within the bounds."""
        return (self.low is None or found >= self.low) and (self.high is None or found <= self.high)

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return a comparison of numbers: strict, so that what is rounded on the way to it does not matter."""
        places = 1 if self.grid is None else max(1, -int(self.grid.as_tuple().exponent))
        if places > _PLACES or (self.grid is not None and self.grid >= _LARGE):
            return None
        parts = [f"isfinite(CAST({number} AS DOUBLE))"]
        if number is None:
            digits = str(places) if self.grid is not None else ""
            parts = [rf"regexp_full_match({cell}, '-?[0-9]{{1,18}}(\.[0-9]{{1,{digits}}})?')"]
        measured = f"TRY_CAST({cell} AS DOUBLE)" if number is None else number
        if self.low is not None:
            parts.append(f"{measured} > {float(self.low)!r}::DOUBLE")
        if self.high is not None:
            parts.append(f"{measured} < {float(self.high)!r}::DOUBLE")
        if self.grid is not None:
            parts.append(self._quick_grid(cell, number, f"DECIMAL(38, {places})"))
        return f"({' AND '.join(parts)})"

    def _quick_grid(self, cell: str, number: str | None, kind: str) -> str:
        assert self.grid is not None
        if number is not None and self.grid == self.grid.to_integral_value():
            return f"{number} % {plain(self.grid)} = 0"
        multiple = f"TRY_CAST({cell if number is None else number} AS {kind})"
        found = f"{multiple} % CAST('{plain(self.grid)}' AS {kind}) = 0"
        # of a number of eight bytes: it is the one that is nearest to the multiple
        return found if number is None else f"{found} AND CAST({multiple} AS DOUBLE) = {number}"

    def bounds(self) -> Bounds:
        """Return its bounds."""
        return self.low, self.high


@dataclass(frozen=True)
class Listed:
    """Some texts; numbers among them are compared as such. ``name`` is what they are called."""

    texts: frozenset[str]
    name: str

    @classmethod
    def of(cls, texts: Iterable[str], name: str) -> Listed:
        """Return the form of some texts."""
        return cls(frozenset(map(same_value, texts)), name)

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return self.name

    def accepts(self, text: str) -> bool:
        """Return whether a text is one of them."""
        return same_value(text) in self.texts

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing: there are few such values."""
        return None

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Marker:
    """One text, exactly as the policy has it."""

    text: str

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return f"'{self.text}'"

    def accepts(self, text: str) -> bool:
        """Return whether a text is this one."""
        return text == self.text

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing: there is one such value."""
        return None

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Others:
    """Values of a form that are none of some texts, which were replaced."""

    form: Form
    replaced: frozenset[str]

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        rest = "a value that the list does not replace"
        return rest if isinstance(self.form, Anything) else f"{rest}, and {self.form.words}"

    def accepts(self, text: str) -> bool:
        """Return whether a text was not replaced."""
        return same_value(text) not in self.replaced and self.form.accepts(text)

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing: spellings of a replaced value are compared."""
        return None

    def bounds(self) -> Bounds:
        """Return the bounds of the form."""
        return self.form.bounds()


@dataclass(frozen=True)
class AnyOf:
    """Values of one of some forms."""

    forms: tuple[Form, ...]

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return " or ".join(form.words for form in self.forms)

    def accepts(self, text: str) -> bool:
        """Return whether a text is of one of the forms."""
        return any(form.accepts(text) for form in self.forms)

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return SQL that is true if one of the forms is quickly seen."""
        found = [sql for form in self.forms if (sql := form.quick(cell, number)) is not None]
        return f"({' OR '.join(found)})" if found else None

    def bounds(self) -> Bounds:
        """Return the outermost bounds of those that are numbers."""
        return hull(form.bounds() for form in self.forms if not isinstance(form, Marker))


@dataclass(frozen=True)
class Pseudonyms:
    """Texts of one length, of the characters of a form: there is one spelling of each."""

    form: str
    length: int

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return f"a text of {self.length} characters of the form {self.form}"

    def accepts(self, text: str) -> bool:
        """Return whether a text has the length and the characters."""
        return len(text) == self.length and set(text) <= set(FORMS[self.form][0])

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return a comparison with a pattern."""
        return f"regexp_full_match({cell}, '[{FORMS[self.form][0]}]{{{self.length}}}')"

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Periods:
    """Months, quarters or weeks that there are."""

    of: str

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return _PERIODS[self.of][1]

    def accepts(self, text: str) -> bool:
        """Return whether a text names such a period."""
        found = _PERIODS[self.of][0].fullmatch(text)
        if found is None:
            return False
        year, part = map(int, found.groups())
        if self.of == "week":
            try:
                date.fromisocalendar(year, part, 1)
            except ValueError:
                return False
            return True
        return year > 0 and 1 <= part <= {"month": 12, "quarter": 4}[self.of]

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing: there are few periods."""
        return None

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Beginnings:
    """Texts of few characters."""

    most: int

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        return f"a text of at most {self.most} character{'s' if self.most != 1 else ''}"

    def accepts(self, text: str) -> bool:
        """Return whether a text is short enough."""
        return len(text) <= self.most

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return a comparison of the length."""
        return f"length({cell}) <= {self.most}"

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Masked:
    """Texts that are marks but for their first and last characters; one that has no more than these is marks alone."""

    first: int
    last: int
    mark: str

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        sides = (("first", self.first), ("last", self.last))
        kept = [f"{side} {f'{many} characters' if many > 1 else 'character'}" for side, many in sides if many]
        return f"a text of marks, but for its {' and its '.join(kept)}" if kept else "a text of marks alone"

    def accepts(self, text: str) -> bool:
        """Return whether a text is masked."""
        inner = text[self.first : len(text) - self.last] if len(text) > self.first + self.last else text
        return bool(text) and set(inner) == {self.mark}

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return a comparison with a pattern."""
        if max(self.first, self.last) > _LONGEST_REPEAT:
            return None
        mark = f"\\x{{{ord(self.mark):x}}}"
        return f"regexp_full_match({cell}, '.{{{self.first}}}{mark}+.{{{self.last}}}', 's')"

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Bands:
    """Labels of bands, of one ``width`` from 0 on or between ``edges``, that have numbers within bounds."""

    width: Decimal | None
    edges: tuple[Decimal, ...]
    low: Decimal | None = None
    high: Decimal | None = None

    @property
    def words(self) -> str:
        """What such a value is, in words."""
        bands = f"bands of width {plain(self.width)}" if self.width is not None else "bands between the edges"
        within = Numbers(self.low, self.high).words.removeprefix("a number")
        return f"a label of the {bands}{within and ' that has numbers'}{within}"

    def accepts(self, text: str) -> bool:
        """Return whether a text is such a label."""
        found = _ends_of_band(text)
        if found is None:
            return False
        low, high, kind = found
        known = self._of_width(low, high, kind) if self.width is not None else self._between(low, high, kind)
        if not known or (self.high is not None and low is not None and low > self.high):
            return False
        return self.low is None or high is None or high > self.low or (kind == "closed" and high == self.low)

    def kind(self, text: str) -> str:
        """Return how the band of a label is written: closed, open, or outer, which says nothing about the others."""
        found = _ends_of_band(text)
        return "outer" if found is None else found[2]

    def _of_width(self, low: Decimal | None, high: Decimal | None, kind: str) -> bool:
        if low is None or high is None or self.width is None or kind == "outer":
            return False
        wide = self.width if kind == "open" else self.width - 1
        whole = kind == "open" or self.width == self.width.to_integral_value()
        return whole and high - low == wide and _is_multiple(low, self.width)

    def _between(self, low: Decimal | None, high: Decimal | None, kind: str) -> bool:
        edges = self.edges
        if low is None:
            return high == edges[0]
        if high is None:
            return low == edges[-1]
        if kind == "closed":
            if any(edge != edge.to_integral_value() for edge in edges):
                return False
            high += 1
        return (low, high) in set(pairwise(edges))

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing: there are few bands."""
        return None

    def bounds(self) -> Bounds:
        """Return that there are none: labels are texts."""
        return NO_BOUNDS


@dataclass(frozen=True)
class Empty:
    """Nothing: every cell is missing."""

    words = "empty"

    def accepts(self, text: str) -> bool:
        """Return False: there is a text."""
        return False

    def quick(self, cell: str, number: str | None = None) -> str | None:
        """Return nothing."""
        return None

    def bounds(self) -> Bounds:
        """Return that there are none."""
        return NO_BOUNDS


def _ends_of_band(text: str) -> tuple[Decimal | None, Decimal | None, str] | None:
    """Return the ends of a label, and whether it is closed, open or outer; None if it is no label."""
    found = _BAND.fullmatch(text)
    if found is not None:
        low, high = Decimal(found[1]), Decimal(found[2])
        # a closed band of one number is that number
        return (low, high, "closed" if found[3] == "]" else "open") if low < high else None
    if _ALONE.fullmatch(text):
        return Decimal(text), Decimal(text), "closed"
    outer = _OUTER.fullmatch(text)
    if outer is None:
        return None
    return (None, Decimal(outer[2]), "outer") if outer[1] == "<" else (Decimal(outer[2]), None, "outer")


def hull(parts: Iterable[Bounds]) -> Bounds:
    """Return the outermost of some bounds."""
    lows, highs = zip(*parts, strict=True) if (parts := list(parts)) else ((None,), (None,))
    found_low = None if None in lows else min(low for low in lows if low is not None)
    return found_low, None if None in highs else max(high for high in highs if high is not None)


# -- multiples


def _units(*numbers: Decimal) -> list[int]:
    """Return numbers as whole numbers of the smallest digit that any of them has."""
    least = min(int(each.as_tuple().exponent) for each in numbers)
    return [_whole(each) * 10 ** (int(each.as_tuple().exponent) - least) for each in numbers]


def _is_multiple(found: Decimal, unit: Decimal) -> bool:
    whole, step = _units(found, unit)
    return whole % step == 0


def on_grid(found: Decimal, grid: Decimal) -> bool:
    """Return whether a number is a multiple of a unit, or as near to one of more than 15 digits as eight bytes are."""
    whole, step = _units(found, grid)
    if whole % step == 0:
        return True
    near = (2 * whole + step) // (2 * step) * step
    digits = len(str(abs(near)).rstrip("0"))
    return digits > DIGITS and 2 * abs(whole - near) <= 10 ** max(len(str(abs(whole))) - DIGITS, 0)


def multiple(found: Decimal, grid: Decimal, *, up: bool) -> Decimal:
    """Return the next multiple of a unit that is not above a number, or not below it."""
    whole, step = _units(found, grid)
    count = -(-whole // step) if up else whole // step
    return _times(grid, count)


def _times(grid: Decimal, count: int) -> Decimal:
    whole = _whole(grid) * count  # put together by its digits, so that no digit is lost
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), int(grid.as_tuple().exponent)))


def _whole(found: Decimal) -> int:
    """Return all digits of a number as one whole number."""
    sign, digits, _ = found.as_tuple()
    whole = int("".join(map(str, digits)))
    return -whole if sign else whole


def rounded(low_end: bool, grid: Decimal, how: str) -> Callable[[Decimal], Decimal]:
    """Return how rounding moves a bound; a tie may go either way, so that the wider bound is returned."""

    def move(bound: Decimal) -> Decimal:
        below, above = (multiple(bound, grid, up=up) for up in (False, True))
        if how == "random":
            return below if low_end else above
        if how in ("up", "down"):
            return above if how == "up" else below
        if bound - below == above - bound:
            return below if low_end else above
        return below if bound - below < above - bound else above

    return move


def is_round_beyond(end: Decimal, bounds: Bounds, grid: Decimal | None) -> bool:
    """Return whether a range may end in a round number that is no value: where rare values were rounded outward.

    Such an end is a multiple of 1, 2 or 5 times a power of ten. Less than that step away from it is a value, and two
    values at least share it: so it is beyond the bounds by less than a step, and a step is wider than the grid.
    """
    step = _roundest(end)
    if step is None:
        return True
    low, high = bounds
    if high is not None and end > high and end - step >= high:
        return False
    if low is not None and end < low and end + step <= low:
        return False
    return grid is None or on_grid(end, grid) or step > grid


def _roundest(found: Decimal) -> Decimal | None:
    """Return the largest number of 1, 2 or 5 times a power of ten that a number is a multiple of; None for 0."""
    if not found:
        return None
    shortest = found.normalize()
    factor = next(factor for factor in (5, 2, 1) if _whole(shortest) % factor == 0)
    return Decimal((0, (factor,), int(shortest.as_tuple().exponent)))
