"""Hierarchies as users write them: CSV files from leaf to root, and nested trees."""

from __future__ import annotations

import csv
import datetime
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from sudare.core.errors import HierarchyError, Problem, did_you_mean
from sudare.core.input_limits import Bounded, BoundsError, UnreadableError, content
from sudare.core.sizes import GIB, MIB
from sudare.hierarchies.hierarchy import ROOT, Hierarchy
from sudare.hierarchies.label_rows import Rows
from sudare.policy import BUILTIN_NAMES

_DELIMITERS = (";", "\t", ",")
_SAMPLE = 5000
"""So many lines decide which delimiter a file has."""

LARGEST, LARGEST_TREE = GIB, 64 * MIB
"""The file of a hierarchy, in bytes: as CSV, and as a nested tree in YAML or JSON."""

_DEEPEST = 64
"""A tree that nests deeper than this is a mistake, or a YAML alias that holds itself."""


def load(path: str | Path, delimiter: str | None = None) -> Hierarchy:
    """Read a hierarchy from a file: a nested tree if its name ends in .yaml, .yml or .json, otherwise CSV."""
    return read_rows(Path(path), delimiter, str(path)).hierarchy(str(path))


def from_csv(path: str | Path, delimiter: str | None = None) -> Hierarchy:
    """Read a CSV file without a header: on each line a leaf and its groups, the root last.

    The delimiter is ``;``, a tab or ``,``: the one by which the lines have the same number of fields, unless it is
    given. Fields may be quoted; the text is UTF-8. Empty lines are passed over, and a line that stands twice
    counts once. Raises one :class:`~sudare.core.errors.HierarchyError` with all that is wrong, by line.
    """
    return _csv_rows(Path(path), delimiter, str(path)).hierarchy(str(path))


def from_tree(nested: Mapping[Any, Any] | list[Any], *, source: str = "tree") -> Hierarchy:
    """Make a hierarchy of nested mappings and lists, as YAML gives them.

    Keys are groups, and what stands below a key are its children; leaves are entries of a list, or keys with
    nothing below them. One single key at the top, with children, is the root; otherwise the root is ``*``.
    """
    return tree_rows(nested, source).hierarchy(source)


def to_csv(hierarchy: Hierarchy, path: str | Path, delimiter: str = ";") -> None:
    """Write a hierarchy as a CSV file from leaf to root, which :func:`from_csv` reads back unchanged."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text(hierarchy, delimiter))


def csv_text(hierarchy: Hierarchy, delimiter: str = ";") -> str:
    """Return what :func:`to_csv` writes."""
    columns = [[_quoted(label, delimiter) for label in column.to_pylist()] for column in hierarchy.columns()]
    return "".join(delimiter.join(row) + "\n" for row in zip(*columns, strict=True))


def _quoted(label: str, delimiter: str) -> str:
    # Not csv.writer: it leaves a lone carriage return unquoted, and no reader takes that back.
    if any(mark in label for mark in (delimiter, '"', "\r", "\n", "\ufeff")):
        return '"' + label.replace('"', '""') + '"'
    return label


def read_rows(path: Path, delimiter: str | None, where: str) -> Rows:
    """Read the rows of a file without asking whether they form a tree; ``where`` names the file in messages."""
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return _csv_rows(path, delimiter, where)
    text = _text(path, where, LARGEST_TREE)
    try:
        # Every scalar stays the text it was: 007 keeps its zeros, and Norway's NO is no falsehood.
        nested = yaml.load(text, Loader=_TextLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" near line {mark.line + 1}" if mark else ""
        what = str(error) if isinstance(error, _RepeatedKeyError | BoundsError) else "is not well-formed YAML"
        raise HierarchyError(Problem(where, f"{what}{place}.")) from None
    return tree_rows(nested, where, named=False)


def tree_rows(nested: Any, where: str, *, named: bool = True) -> Rows:
    """Turn a nested tree into rows from leaf to root; raises all that is wrong with its form.

    Labels are ``named`` in messages only where they stand in the policy itself: a file may be any file.
    """
    if not isinstance(nested, Mapping | list) or not nested:
        raise HierarchyError(Problem(where, "a tree must be a mapping or a list, and must not be empty."))
    root = ROOT
    problems: list[Problem] = []
    if isinstance(nested, Mapping) and len(nested) == 1:
        (only,) = nested
        if isinstance(nested[only], Mapping | list):
            root, nested = _label(only, where, problems), nested[only]
    rows = list(_walk(nested, (root,), where, problems, named))
    if problems:
        raise HierarchyError(dict.fromkeys(problems))
    return Rows.of(rows) if named else Rows.of(rows, range(1, len(rows) + 1), unit="leaf")


def _csv_rows(path: Path, delimiter: str | None, where: str) -> Rows:
    text = _text(path, where, LARGEST)
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda mark: _consistency(*_parsed(text, mark, _SAMPLE)))
    rows, lines, flaw = _parsed(text, delimiter)
    if flaw:
        raise HierarchyError(Problem(where, flaw, "write a quotation mark inside a quoted field twice."))
    return Rows.of(rows, lines)


def _text(path: Path, where: str, most: int) -> str:
    try:
        text = content(path, most).decode("utf-8-sig")
    except UnreadableError as error:
        if not error.absent:
            raise HierarchyError(Problem(where, error.what, error.hint)) from None
        hint = "" if path.is_absolute() else "a relative path starts from the folder of the policy's file."
        if not path.suffix:
            hint = did_you_mean(path.name, BUILTIN_NAMES) or f"built-in ones are {', '.join(BUILTIN_NAMES)}."
        raise HierarchyError(Problem(where, f"there is no such file: {path}.", hint)) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise HierarchyError(Problem(where, f"is not UTF-8 (line {line:,}).", "save the file as UTF-8.")) from None
    if not text.strip():
        raise HierarchyError(Problem(where, "the file is empty.", "write a line leaf;group;* for every value."))
    return text


def _parsed(text: str, delimiter: str, most: int | None = None) -> tuple[list[list[str]], list[int], str]:
    """Return rows (the first ``most`` of them) and their lines, and what kept the rest from being read."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        for row in islice(reader, most):
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error:
        return rows, lines, f"line {reader.line_num:,} cannot be parsed: a quoted field has no end."
    return rows, lines, ""


def _consistency(rows: list[list[str]], _: list[int], flaw: str) -> tuple[bool, float, bool]:
    """Rank a delimiter: no error, then the most lines of one length, then a common root."""
    length, agreeing = Counter(len(row) for row in rows).most_common(1)[0] if rows else (0, 0)
    return not flaw, agreeing / len(rows) if length > 1 else 0.0, len({row[-1] for row in rows}) == 1


def _walk(
    nested: Any, above: tuple[str, ...], where: str, problems: list[Problem], named: bool
) -> Iterator[tuple[str, ...]]:
    """Yield the chain of every leaf; ``above`` are the labels over it, the nearest first."""
    place = f"'{' > '.join(reversed(above))}'" if named else "a group"
    if len(above) > _DEEPEST:
        problems.append(Problem(where, f"the tree nests deeper than {_DEEPEST} levels."))
    elif isinstance(nested, Mapping | list) and not nested:
        problems.append(Problem(where, f"{place} has nothing below it.", "name its leaves, or remove the value."))
    elif isinstance(nested, Mapping):
        for key, below in nested.items():
            chain = (_label(key, where, problems), *above)
            if below is None:
                yield chain
            else:
                yield from _walk(below, chain, where, problems, named)
    elif isinstance(nested, list):
        for entry in nested:
            if isinstance(entry, Mapping) and entry:
                yield from _walk(entry, above, where, problems, named)
            elif isinstance(entry, Mapping | list):
                problems.append(Problem(where, f"below {place} a list has a group without a name.", "name the group."))
            else:
                yield (_label(entry, where, problems), *above)
    else:
        yield (_label(nested, where, problems), *above)


def _label(scalar: Any, where: str, problems: list[Problem]) -> str:
    if isinstance(scalar, bool):
        words = "yes, true or on" if scalar else "no, false or off"
        hint = 'put labels such as "NO" or "yes" into quotation marks.'
        problems.append(Problem(where, f"a label was read as a truth value ({words}).", hint))
    if isinstance(scalar, datetime.date | datetime.datetime):
        return scalar.isoformat(" ") if isinstance(scalar, datetime.datetime) else scalar.isoformat()
    return "" if scalar is None else str(scalar)


class _RepeatedKeyError(yaml.YAMLError):
    """A mapping names one key twice; YAML would silently keep the last."""


class _TextLoader(Bounded, yaml.BaseLoader):
    def construct_scalar(self, node: yaml.ScalarNode) -> Any:
        if node.style is None and node.value in ("", "~", "null"):
            return None
        return super().construct_scalar(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise _RepeatedKeyError(f"names a label twice near line {key.start_mark.line + 1:,}")
            seen.add(key.value)
        return super().construct_mapping(node, deep)
