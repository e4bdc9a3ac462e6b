"""How the cells of a table are written, found out from its different texts: blanks, letters, numbers and dates.

Reasons name columns and counts, never a text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.policy import DateFormat
from sudare.sources.local_dates import parse_dates
from sudare.sources.local_numbers import LocalNumbers

NEARLY_ALL = 0.9
"""Of the different texts of a column, so many must be numbers, or dates, for the others to be mistakes."""

_FEW_WORDS = 200  # a column of more different texts has no spellings that a person would merge
_SAMPLE = 20_000  # different texts in which formats are looked for
_NAMED = 3  # columns that a reason names
_DATE = re.compile(
    r"\s*(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{2})"
    r"(?P<clock>[T ]\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?:[.,]\d+)?)?\s*"
)
_WORDED = re.compile(r"\s*\d{1,2}(?P<first>\.? |-)[^\W\d_]{3,12}\.?(?P<second> |-)(?P<year>\d{4}|\d{2})\s*")
_ISO = re.compile(r"\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?\s*")
_ISO_DAY = r"^\s*\d{4}-\d{2}-\d{2}\s*$"
_EUROPEAN, _ENGLISH = LocalNumbers(",", "."), LocalNumbers(".", ",")
_MARKED = r"\d[.,]\d|^[.,]\d"
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?\s*$"
_WHOLE = r"^\s*[+-]?\d+\s*$"
_UNGROUPED = r"^\s*[+-]?\d{4,}\s*$"  # who writes points between thousands does not write these
_FEWEST_POINTS = 3  # different numbers
_NO_FRACTIONS = "a point stands between thousands, so that a fraction would begin with a comma"


@dataclass
class CellFindings:
    """What the cells of a table say about how they are written: keys of ``source``, each with its reason.

    ``questions`` are what only a person can decide.
    """

    keys: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    def note(self, key: str, value: Any, why: str) -> None:
        """Note a key with its reason."""
        self.keys[key], self.reasons[key] = value, why


def find_cells(table: pa.Table) -> CellFindings:
    """Return how the texts of a table are written."""
    texts = {
        each.name: pc.unique(table[each.name].cast(pa.large_string())).drop_null()
        for each in table.schema
        if _is_text(each.type)
    }
    found = CellFindings()
    trimmed = {name: pc.utf8_trim_whitespace(values) for name, values in texts.items()}
    blank = [name for name, values in texts.items() if not values.equals(trimmed[name])]
    if blank:
        found.note("trim", True, f"texts in {_columns(blank)} begin or end with blanks")
        texts = {name: pc.unique(values) for name, values in trimmed.items()}
    texts = {name: values.filter(pc.not_equal(values, "")) for name, values in texts.items()}
    dates = _find_dates(texts, found)
    numbers = _find_numbers({name: values for name, values in texts.items() if name not in dates}, found)
    rest = {name: values for name, values in texts.items() if name not in dates and name not in numbers}
    _find_case(rest, found)
    return found


def _find_case(texts: Mapping[str, pa.Array], found: CellFindings) -> None:
    """Find columns in which the case of letters makes several values of one."""
    cases = {}
    for name, values in texts.items():
        if not 1 < len(values) <= _FEW_WORDS:
            continue
        lower, upper = pc.utf8_lower(values), pc.utf8_upper(values)
        if len(pc.unique(lower)) < len(values):
            most = pc.sum(pc.equal(upper, values)).as_py() or 0
            cases[name] = "upper" if 2 * most >= len(values) else "lower"
    if cases:
        found.note("case", cases, f"values of {_columns(cases)} differ by the case of letters alone")


def _find_numbers(texts: Mapping[str, pa.Array], found: CellFindings) -> set[str]:
    """Find the decimal mark: columns that can be read in one way only decide for all."""
    decided: dict[LocalNumbers, list[str]] = {_EUROPEAN: [], _ENGLISH: []}
    either, pointed, grouped = list[str](), list[str](), False
    plain = set[str]()
    for name, values in texts.items():
        if not len(values):
            continue
        whole = pc.match_substring_regex(values, _WHOLE)
        marked = values.filter(pc.and_not(pc.match_substring_regex(values, _MARKED), whole))
        fits = {way: _share_of_numbers(way, values) for way in decided}
        likely = [way for way, share in fits.items() if share >= NEARLY_ALL]
        if pc.mean(whole.cast(pa.float64())).as_py() >= NEARLY_ALL:
            plain.add(name)
        if not len(marked) or not likely:
            continue
        if not pc.any(pc.match_substring(marked, ",")).as_py() and _ENGLISH in likely:
            # numbers with a point alone: plain ones, unless other columns have decimal commas and these are grouped
            if all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", text) for text in marked.slice(0, _SAMPLE).to_pylist()):
                grouped = True
                if len(marked) >= _FEWEST_POINTS and not pc.any(pc.match_substring_regex(values, _UNGROUPED)).as_py():
                    pointed.append(name)
            plain.add(name)
            continue
        if len(likely) == 1 or fits[likely[0]] != fits[likely[1]]:
            way = max(likely, key=lambda each: fits[each])
            decided[way].append(name)
            plain.add(name)
        else:
            either.append(name)
    european, english = decided[_EUROPEAN], decided[_ENGLISH]
    if not european and not english and _find_rare_marks(texts, plain, found):
        return plain
    if european and english:
        found.questions.append(
            f"Numbers in {_columns(european)} have decimal commas, those in {_columns(english)} commas between "
            "thousands. One file has one way of writing numbers: write them alike."
        )
        return plain
    if european:
        fractions = [name for name in european if pc.any(pc.match_substring(texts[name], ",")).as_py()]
        why = f"numbers in {_columns(fractions)} have a comma before their fraction" if fractions else _NO_FRACTIONS
        found.note("decimal", ",", why)
        points = [name for name in european if pc.any(pc.match_substring_regex(texts[name], _GROUPED)).as_py()]
        if points or grouped:
            shown = _columns(points) if points else "some columns"
            found.note("thousands", ".", f"numbers in {shown} have a point between thousands")
        return plain | set(either)
    if english:
        found.note("thousands", ",", f"numbers in {_columns(english)} have a comma between thousands")
        return plain | set(either)
    if pointed:
        found.questions.append(
            f"Numbers in {_columns(pointed)} have a point with three digits behind it. It is read as a decimal mark. "
            'Is it between thousands? Then write decimal: "," and thousands: "." below source.'
        )
    if either:
        found.questions.append(
            f"Numbers in {_columns(either)} have a comma with three digits behind it. Is it a decimal mark, or between "
            'thousands? Write decimal: "," or thousands: "," below source.'
        )
    return plain


def _find_rare_marks(texts: Mapping[str, pa.Array], plain: set[str], found: CellFindings) -> bool:
    """Find blanks and apostrophes between thousands, with either decimal mark."""
    for thousands, what in (("'", "an apostrophe"), (" ", "a blank")):
        for decimal in (".", ","):
            way = LocalNumbers(decimal, thousands)
            names = [
                name
                for name, values in texts.items()
                if name not in plain
                and len(values)
                and pc.any(pc.match_substring_regex(values, way.grouped)).as_py()
                and _share_of_numbers(way, values) >= NEARLY_ALL
            ]
            if names and not (decimal == "." and _prefers_comma(texts, names)):
                if decimal == ",":
                    found.note("decimal", ",", f"numbers in {_columns(names)} have a comma before their fraction")
                found.note("thousands", thousands, f"numbers in {_columns(names)} have {what} between thousands")
                plain.update(names)
                return True
    return False


def _prefers_comma(texts: Mapping[str, pa.Array], names: Sequence[str]) -> bool:
    return any(pc.any(pc.match_substring_regex(texts[name], r",\d{1,2}$")).as_py() for name in names)


def _share_of_numbers(way: LocalNumbers, values: pa.Array) -> float:
    """Return the share of different texts that are numbers when they are read in a way, or are plain whole numbers."""
    plain, foreign = way.plain_texts(values)
    good = pc.and_not(pc.match_substring_regex(plain, r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"), foreign)
    return float(pc.mean(good.cast(pa.float64())).as_py() or 0.0)


def _find_dates(texts: Mapping[str, pa.Array], found: CellFindings) -> set[str]:
    """Find the formats of dates; two that all texts of a column have are a question."""
    formats: dict[str, list[str]] = {}
    asked = dict[tuple[tuple[str, ...], ...], list[str]]()
    to_come = dict[str, tuple[str, ...]]()
    for name, values in texts.items():
        candidates = _candidates(values.slice(0, _SAMPLE).to_pylist()) or _broken_iso_dates(values)
        if not candidates:
            continue
        ways = _ways([text for text in candidates if _fit(values, text)])
        fits = {way: _fit(values, *way) for way in ways}
        best = max(fits.values(), default=0.0)
        likely = [way for way, share in fits.items() if share == best]
        if best < NEARLY_ALL:
            continue
        if len(likely) > 1:
            asked.setdefault(tuple(likely), []).append(name)
        elif _some_are_to_come(values, likely[0]):
            to_come[name] = likely[0]
        else:
            formats[name] = list(likely[0])
    if formats:
        written = {name: each[0] if len(each) == 1 else each for name, each in formats.items()}
        found.note("dates", written, f"dates in {_columns(formats)} are written in this way")
    for readings, names in asked.items():
        lines = " or ".join(f"{{{', '.join(f'{name}: {_shown(way)}' for name in names)}}}" for way in readings)
        found.questions.append(
            f"Dates in {_columns(names)} can be read in {len(readings)} ways. Until you decide, they are read as text. "
            f"Write below source: dates: {lines}"
        )
    for name, way in to_come.items():
        found.questions.append(
            f"Dates in {_columns([name])} have years of two digits, and up to 68 these are of this century, so that "
            "some are still to come. Until you decide, they are read as text. Write their years with four digits; if "
            f"they are right, write below source: dates: {{{name}: {_shown(way)}}}"
        )
    return set(formats) | set(to_come) | {name for names in asked.values() for name in names}


def _ways(formats: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the ways in which all texts of a column may be meant: with the day before the month, or behind it."""
    sides = {text: text[:2] for text in formats if text[:2] in ("dd", "mm") and "mmm" not in text}
    clear = [text for text in formats if text not in sides]
    ways = [tuple(text for text in formats if text in clear or sides[text] == side) for side in ("dd", "mm")]
    return [way for way in dict.fromkeys(ways) if way and (len(way) > len(clear) or not sides)]


def _shown(way: Sequence[str]) -> str:
    return way[0] if len(way) == 1 else f"[{', '.join(way)}]"


def _candidates(texts: Sequence[str]) -> list[str]:
    """Return the formats that some texts may be in; none if they are all written as computers do."""
    shapes = dict[str, None]()
    matched = 0
    for text in texts:
        if _ISO.fullmatch(text):
            matched += 1
            continue
        if (match := _DATE.fullmatch(text)) is not None:
            matched += 1
            mark, year = match["mark"], "y" * len(match["c"])
            clock = "" if not match["clock"] else " hh:mm:ss" if match["seconds"] else " hh:mm"
            if len(match["a"]) == 4:
                shapes[f"yyyy{mark}mm{mark}dd{clock}"] = None
            elif len(match["a"]) <= 2:
                shapes[f"dd{mark}mm{mark}{year}{clock}"] = None
                shapes[f"mm{mark}dd{mark}{year}{clock}"] = None
        elif (match := _WORDED.fullmatch(text)) is not None:
            matched += 1
            shapes[f"dd{match['first']}mmm{match['second']}{'y' * len(match['year'])}"] = None
    if not shapes or matched < NEARLY_ALL * len(texts):
        return []
    return list(shapes)


def _some_are_to_come(values: pa.Array, formats: Sequence[str]) -> bool:
    """Return whether years of two digits make dates that are still to come, of people that were born before."""
    if not any(DateFormat.of(text).short_years for text in formats):
        return False
    parsed, bad = parse_dates(values, [DateFormat.of(text) for text in formats])
    return bool(
        pc.any(pc.and_(pc.invert(bad), pc.fill_null(pc.greater_equal(parsed, _soon(parsed.type)), False))).as_py()
    )


def _soon(kind: pa.DataType) -> pa.Scalar:
    """Return the day from which on a date is taken for one of another century."""
    return pa.scalar(datetime.date.today() + datetime.timedelta(days=366)).cast(kind)


def _broken_iso_dates(values: pa.Array) -> list[str]:
    """Return the format of computers, if some dates in it do not exist: with the format, a release names them."""
    written = float(pc.mean(pc.match_substring_regex(values, _ISO_DAY).cast(pa.float64())).as_py() or 0.0)
    return ["yyyy-mm-dd"] if written >= NEARLY_ALL and _fit(values, "yyyy-mm-dd") < 1 else []


def _fit(values: pa.Array, *formats: str) -> float:
    """Return the share of texts that are dates in some formats; a date to come is a mistake of the century."""
    parsed, bad = parse_dates(values, [DateFormat.of(text) for text in formats])
    right = pc.invert(bad)
    if any(DateFormat.of(text).short_years for text in formats):
        right = pc.and_(right, pc.fill_null(pc.less(parsed, _soon(parsed.type)), False))
    return float(pc.mean(right.cast(pa.float64())).as_py() or 0.0)


def _columns(names: Iterable[str]) -> str:
    shown = [f"'{name}'" for name in names]
    if len(shown) == 1:
        return f"column {shown[0]}"
    if len(shown) <= _NAMED:
        return f"columns {', '.join(shown[:-1])} and {shown[-1]}"
    return f"columns {', '.join(shown[:_NAMED])} and {len(shown) - _NAMED} more"


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
