"""Releases in JSON lines, read strictly: one way to write each line, so that nothing is hidden in how it is written.

Every line is an object with the same keys in the same order, once each. Between its parts there is nothing, or one
blank after each colon and comma, as in the first line. Characters are escaped in one manner throughout the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.core.sizes import EXACT

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HALF = re.compile("[\ud800-\udfff]")
_MANNERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: json.dumps(text, ensure_ascii=False),
    "ascii": json.dumps,
    "slashes": lambda text: json.dumps(text).replace("/", "\\/"),
}
"""How writers escape characters: as few as JSON allows, all that are not ASCII, and slashes as well."""
_STYLES = {"tight": re.compile(r"[^\s]*\n?"), "wide": re.compile(r"(?:[^\s:,]|: |, )*\n?")}
_HINT = "write it again, one object per line, such as with pandas' to_json(orient='records', lines=True)."


class _Literal(str):
    """A number with a point or a power, as it is written."""


def json_lines_table(path: Path) -> pa.Table:
    """Return the rows of a file, or raise DataError, which names the line and quotes nothing of it."""
    return _Lines(path).table()


class _Lines:
    """Reads a file line by line, and knows in which styles it may be written."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self.names: list[str] = []
        self.columns: list[list[Any]] = []
        self.styles, self.manners = set(_STYLES), set(_MANNERS)
        self.decode = json.JSONDecoder(
            object_pairs_hook=_Pairs, parse_float=_Literal, parse_int=self._whole, parse_constant=self._constant
        ).decode

    def wrong(self, what: str) -> DataError:
        return DataError(Problem(str(self.path), f"line {self.number} {what}.", _HINT))

    def table(self) -> pa.Table:
        with self.path.open("rb") as file:
            for line in file:
                self.number += 1
                self._take(line.decode("utf-8"))
        if not self.columns:
            raise DataError(Problem(str(self.path), "has no columns."))
        return pa.table([self._array(cells) for cells in self.columns], names=self.names)

    def _take(self, line: str) -> None:
        try:
            row = self.decode(line)
        except ValueError:
            raise self.wrong("is no object of JSON") from None
        except RecursionError:
            raise self.wrong("has lists in lists") from None
        if not isinstance(row, _Pairs):
            raise self.wrong("is no object of JSON")
        names = [name for name, _ in row]
        if not names:
            raise self.wrong("has no keys")
        if self.number == 1:
            self.names, self.columns = names, [[] for _ in names]
        if names != self.names:
            raise self.wrong("has other keys than the first, or in another order")
        if not all(map(_is_sound, names)):
            raise self.wrong("has half of a character")
        bare = _STRING.sub('""', line)
        self.styles = {style for style in self.styles if _STYLES[style].fullmatch(bare)}
        if not self.styles:
            raise self.wrong("has blanks where the lines before it have none")
        if "\\" in line or "/" in line or not line.isascii():
            for found in _STRING.findall(line):
                text = json.loads(found)
                self.manners = {manner for manner in self.manners if _MANNERS[manner](text) == found}
            if not self.manners:
                raise self.wrong("escapes characters in another manner than the lines before it")
        for cells, (_, value) in zip(self.columns, row, strict=True):
            parts = value if isinstance(value, list) else (value,)
            if isinstance(value, _Pairs) or any(isinstance(part, list) for part in parts):
                raise self.wrong("has objects or lists in a cell")
            if not all(map(_is_sound, parts)):
                raise self.wrong("has half of a character")
            cells.append(value)

    def _whole(self, literal: str) -> Any:
        number = int(literal) if len(literal) < 40 else None
        return number if str(number) == literal else _Literal(literal)

    def _constant(self, literal: str) -> Any:
        raise ValueError(literal)

    def _array(self, cells: list[Any]) -> pa.Array:
        """Return a column in the type of its cells; numbers stay text if their spelling says more than their value."""
        parts = [part for cell in cells for part in (cell if isinstance(cell, list) else (cell,))]
        lists = sum(isinstance(cell, list) for cell in cells)
        if lists and lists < sum(cell is not None for cell in cells):
            raise DataError(Problem(str(self.path), "has a column of lists and of other cells.", _HINT))
        kind, convert = _kind({type(part) for part in parts if part is not None}, parts)
        if kind is None:
            raise DataError(Problem(str(self.path), "has a column with cells of several types.", _HINT))
        if lists:
            made = [None if cell is None else [None if one is None else convert(one) for one in cell] for cell in cells]
            return pa.array(made, pa.list_(kind))
        return pa.array([None if cell is None else convert(cell) for cell in cells], kind)


def _is_sound(part: Any) -> bool:
    """Return whether a text consists of whole characters: JSON can write one half of a pair of surrogates."""
    return not isinstance(part, str) or part.isascii() or not _HALF.search(part)


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, in their order."""


def _is_short(part: Any, *, alone: bool) -> bool:
    """Return whether a number says no more than its value; not ``alone``, 2.0 could be taken for 2."""
    if not isinstance(part, _Literal):
        return bool(abs(part) <= EXACT)
    value = float(part)
    return str(part) == repr(value) and (alone or not value.is_integer())


def _kind(types: set[type], parts: list[Any]) -> tuple[Any, Callable[[Any], Any]]:
    """Return the type of a column with cells of these types, and what converts them to it; None if there is none."""
    if not types or types == {str}:
        return pa.string(), str
    if types == {bool}:
        return pa.bool_(), bool
    if types == {int} and all(part is None or abs(part) < 1 << 63 for part in parts):
        return pa.int64(), int
    if types <= {int, _Literal}:
        short = all(_is_short(part, alone=int not in types) for part in parts if part is not None)
        return (pa.float64(), float) if short else (pa.string(), str)
    return None, str
