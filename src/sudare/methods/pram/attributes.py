"""Perturbed attributes (a column, or several jointly), and the cells of records within which values are drawn.

A **cell** is a set of records whose values are drawn by the same matrices, among the same values. Strata make cells,
and so do combinations that must never be made (``never``) where they depend on columns that are not perturbed. Without
either there is one cell, of all records.

The **domain** of an attribute in a cell are the values that can be drawn there: those that occur in the stratum (for
joint attributes all combinations of them), but for combinations that must never be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.core.errors import DataError, PolicyError, Problem
from sudare.core.sizes import FEW_ROWS
from sudare.kernels.random_cells import MOST_VALUES
from sudare.methods.hiding.hidden_column import domain
from sudare.models import named_codes
from sudare.table import Column, smallest
from sudare.table.value_spellings import fold

Codes = NDArray[np.unsignedinteger[Any]]
Flags = NDArray[np.bool_]
Combination = Mapping[str, Any]

MOST_COUNTS = 1 << 26
"""Values times cells at most: they are counted in a table."""


@dataclass(frozen=True, eq=False)
class Attribute:
    """Columns that are drawn together as one value; mostly one column alone. The last of them runs fastest."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each of its columns has."""
        return tuple(column.size for column in self.columns)

    @property
    def size(self) -> int:
        """The number of values, or of combinations of them."""
        size = 1
        for column in self.columns:
            size *= column.size
        return size

    @cached_property
    def whole(self) -> Column:
        """The attribute as one column, whose codes number the combinations."""
        if len(self.columns) == 1:
            return self.columns[0]
        codes = np.zeros(len(self.columns[0]), np.int64)
        for column in self.columns:
            codes *= column.size
            codes += column.codes
        values = pa.array(np.arange(self.size))
        return Column(", ".join(self.names), "categorical", smallest(codes, self.size), values)

    def matching(self, given: Mapping[str, int]) -> Flags:
        """Return which combinations have the given codes in the columns that are named."""
        axes = [
            np.arange(column.size) == given[column.name] if column.name in given else np.ones(column.size, bool)
            for column in self.columns
        ]
        return product(axes)


@dataclass(frozen=True, eq=False)
class Cell:
    """Records that share their matrices: their common values, their number, and their domains by attribute.

    ``domains[i]`` are the codes of attribute i that can be drawn, ascending; ``counts[i]`` how many records have each:
    of this cell, or of all cells if the attribute has one matrix in all of them.
    """

    key: Mapping[str, Any]
    rows: int
    domains: tuple[NDArray[np.int64], ...]
    counts: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """All attributes, all cells, and the number of each record's cell (None if there is but one).

    ``by`` are the columns that divide records into cells, and ``strata`` those of them that the policy names.
    ``shared`` says which attributes have one matrix in all cells.
    """

    attributes: tuple[Attribute, ...]
    cells: tuple[Cell, ...]
    shared: tuple[bool, ...]
    of_row: Codes | None = None
    by: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """What a message calls a cell: a policy without strata would not know what is meant."""
        return "stratum" if self.strata else "group that `never` makes of the records"

    def place(self, column: str) -> tuple[int, int]:
        """Return the attribute that a column belongs to, and its place in it."""
        return next(
            (number, attribute.names.index(column))
            for number, attribute in enumerate(self.attributes)
            if column in attribute.names
        )


def product(axes: Sequence[Flags]) -> Flags:
    """Return which combinations are true in all columns, the last of which runs fastest."""
    result = np.ones(1, bool)
    for axis in axes:
        result = (result[:, None] & axis[None, :]).reshape(-1)
    return result


def code_of(column: Column, value: Any) -> int:
    """Return the code of a value as a policy writes it, -1 if there is none.

    Null is a missing cell, and so is an empty text, unless the column has empty texts: keys of JSON are always text.
    """
    if value is None:
        return column.missing_code
    text = str(value).lower() if isinstance(value, bool) else str(value)
    code = named_codes(column, [text])[0]
    blank = text == "" or (column.keys is not None and not fold(text))
    return column.missing_code if code < 0 and blank else code


def attributes_of(columns: Mapping[str, Column], joint: Sequence[Sequence[str]]) -> tuple[Attribute, ...]:
    """Return what is drawn, in the order of the columns; a group stands where its first column does."""
    problems = [
        Problem(f"column '{name}'", "has one value, which cannot be perturbed.", "give it the role insensitive.")
        for name, column in columns.items()
        if column.size < 2
    ]
    if problems:
        raise DataError(problems)
    group = {name: tuple(names) for names in joint for name in names}
    attributes = []
    for name, column in columns.items():
        together = group.get(name, (name,))
        if name != next(other for other in columns if other in together):
            continue
        # in the order that the policy gives them: it is how joint values are numbered
        made = Attribute(tuple(columns[other] for other in together) if len(together) > 1 else (column,))
        if made.size >= MOST_VALUES:
            what = f"{', '.join(made.names)} have {made.size:,} combinations, too many to draw from."
            raise DataError(Problem("method.joint", what, "join fewer columns."))
        attributes.append(made)
    return tuple(attributes)


class Never:
    """Combinations that must not be made, by codes: what each says of columns that stay, and of one attribute."""

    def __init__(
        self, given: Sequence[Combination], attributes: Sequence[Attribute], fixed: Mapping[str, Column]
    ) -> None:
        self.rules: list[tuple[dict[str, int], int, dict[str, int]]] = []
        drawn = {name: number for number, attribute in enumerate(attributes) for name in attribute.names}
        problems = []
        for number, combination in enumerate(given):
            where = f"method.never.{number}"
            columns = {column.name: column for attribute in attributes for column in attribute.columns} | dict(fixed)
            codes = {name: code_of(columns[name], value) for name, value in combination.items()}
            problems += [
                Problem(where, f"names a value that column '{name}' does not have.", "write it as in the data.")
                for name, code in codes.items()
                if code < 0
            ]
            about = {drawn[name] for name in combination if name in drawn}
            if not about:
                problems.append(Problem(where, "names no perturbed column, so no draw can produce it."))
            elif len(about) > 1:
                names = ", ".join(name for name in combination if name in drawn)
                what = f"names several columns that are perturbed ({names}), each by itself."
                problems.append(Problem(where, what, "draw them jointly: name them in `joint`."))
            else:
                self.rules.append(
                    (
                        {name: code for name, code in codes.items() if name not in drawn},
                        about.pop(),
                        {name: code for name, code in codes.items() if name in drawn},
                    )
                )
        if problems:
            raise PolicyError(problems)

    def named(self, column: str) -> list[int]:
        """Return the codes of a column that stays which combinations name, ascending."""
        return sorted({context[column] for context, _, _ in self.rules if column in context})

    @property
    def context(self) -> list[str]:
        """The unchanged columns on which draws depend."""
        return list(dict.fromkeys(name for context, _, _ in self.rules for name in context))

    def depends(self, number: int) -> bool:
        """Return whether what is drawn of an attribute depends on columns that stay."""
        return any(about == number and context for context, about, _ in self.rules)

    def forbidden(self, attribute: Attribute, number: int, cell: Mapping[str, int]) -> Flags:
        """Return which values of an attribute are not to be drawn for records with these codes."""
        flags = np.zeros(attribute.size, bool)
        for context, about, codes in self.rules:
            if about == number and all(cell.get(name) == code for name, code in context.items()):
                flags |= attribute.matching(codes)
        return flags


def lay_out(
    attributes: tuple[Attribute, ...],
    fixed: Mapping[str, Column],
    strata: Sequence[str],
    never: Sequence[Combination],
    *,
    occurring: bool,
) -> Layout:
    """Return the cells of a table; with ``occurring`` only what records of a cell hold is drawn there (invariant PRAM).

    ``fixed`` are the unchanged columns that ``strata`` or ``never`` name.
    """
    rules = Never(never, attributes, fixed)
    rows = len(attributes[0].whole)
    by = [*strata, *(name for name in rules.context if name not in strata)]
    stratum, lines = _combined([_codes(fixed[name]) for name in strata], rows if by else 0)
    if len(lines) > max(rows // 2, 1):
        what = f"make {len(lines):,} strata of {rows:,} records: fewer than two records each on average."
        raise DataError(Problem("method.strata", what, "take fewer columns, or coarser ones."))
    parts = [stratum, *(_told_apart(fixed[name], rules.named(name)) for name in by[len(strata) :])]
    of_row, keys = _combined(parts, rows) if by else (stratum, np.zeros((1, 1), np.int64))
    tables = [_counted(attribute.whole, of_row, len(keys)) for attribute in attributes]
    cells, held, alone = [], 0, {name: 0 for attribute in attributes for name in [", ".join(attribute.names)]}
    occurs = [_occurring(attribute, stratum, len(lines)) for attribute in attributes]
    shared = tuple(not strata and not rules.depends(index) for index in range(len(attributes)))
    for number, key in enumerate(keys.tolist()):
        line = lines[key[0]].tolist()
        codes = dict(zip(strata, line, strict=True))
        codes |= {name: code for name, code in zip(by[len(strata) :], key[1:], strict=True) if code < fixed[name].size}
        domains, counts = [], []
        for index, attribute in enumerate(attributes):
            there = tables[index].sum(axis=0) if shared[index] else tables[index][number]
            allowed = product([axis[key[0]] for axis in occurs[index]])
            allowed &= ~rules.forbidden(attribute, index, codes)
            held += 0 if shared[index] and number else int(there[~allowed].sum())
            if occurring:
                allowed &= there > 0
            alone[", ".join(attribute.names)] += int(np.count_nonzero(allowed) < 2)
            domains.append(np.flatnonzero(allowed))
            counts.append(there[allowed])
        shown = {name: domain(fixed[name])[code] for name, code in codes.items()}
        cells.append(Cell(shown, int(tables[0][number].sum()), tuple(domains), tuple(counts)))
    _refuse(held, alone, len(cells), strata, never)
    numbers = smallest(of_row, len(cells)) if len(cells) > 1 else None
    return Layout(attributes, tuple(cells), shared, numbers, tuple(by), tuple(strata))


def _refuse(
    held: int, alone: Mapping[str, int], cells: int, strata: Sequence[str], never: Sequence[Combination]
) -> None:
    """Raise what cannot be drawn, where the policy says what leads to it."""
    problems = []
    if held:
        what = f"{held:,} records already have such a combination."
        problems.append(Problem("method.never", what, "correct these records, or remove the combination."))
    else:
        for name, count in alone.items():
            if not count:
                continue
            left = f"one value of '{name}', which cannot be perturbed. Allowed: two or more."
            if strata:
                what = f"in {count:,} of {cells:,} strata there is {left}"
                hint = f"take fewer or coarser columns as strata{', or forbid less' if never else ''}."
                problems.append(Problem("method.strata", what, hint))
            elif never:
                where = f"to {count:,} of {cells:,} groups of records" if cells > 1 else "to records"
                problems.append(Problem("method.never", f"leaves {where} {left}", "forbid less."))
            else:  # what nobody has is not drawn where the distribution is to stay
                what = f"records hold {left}"
                problems.append(Problem(f"column '{name}'", what, "give it the role insensitive."))
    if problems:
        raise DataError(problems)


def _codes(column: Column) -> NDArray[np.int64]:
    return column.codes.astype(np.int64)


def _told_apart(column: Column, named: Sequence[int]) -> NDArray[np.int64]:
    """Return the codes of a column, with one number above all of them for those that nobody names."""
    new = np.full(column.size, column.size, np.int64)
    new[list(named)] = list(named)
    return np.asarray(new[column.codes])


def _combined(parts: Sequence[NDArray[np.int64]], rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different lines of some columns, in ascending order: the number of each record, and the lines."""
    number, lines = np.zeros(rows, np.int64), np.zeros((1, 0), np.int64)
    for part in parts:
        width = int(part.max(initial=0)) + 1
        key, span = number * width + part, len(lines) * width
        if span <= max(4 * rows, FEW_ROWS):
            there = np.bincount(key, minlength=span) > 0
            found, number = np.flatnonzero(there), (np.cumsum(there) - 1)[key]
        else:
            found, number = np.unique(key, return_inverse=True)
        lines = np.column_stack((lines[found // width], found % width))
    return number.reshape(-1), lines


def _counted(column: Column, of_row: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
    """Return how many records of each cell have each value."""
    if cells * column.size > MOST_COUNTS:
        what = f"{cells:,} strata with {column.size:,} values of '{column.name}' each are too many to count."
        raise DataError(Problem("method.strata", what, "take fewer or coarser columns."))
    if cells == 1:
        return np.bincount(column.codes, minlength=column.size).reshape(1, -1)
    found = np.bincount(of_row * column.size + column.codes, minlength=cells * column.size)
    return found.reshape(cells, column.size)


def _occurring(attribute: Attribute, stratum: NDArray[np.int64], strata: int) -> list[NDArray[np.bool_]]:
    """Return, by column, which values occur in each stratum."""
    return [_counted(column, stratum, strata) > 0 for column in attribute.columns]


def local_columns(layout: Layout, number: int) -> Iterator[Column]:
    """Give, for each cell, an attribute as a column of its own: codes are places in the domain of the record's cell.

    All of them share one array of codes, for all records.
    """
    whole = layout.attributes[number].whole
    places = np.zeros((len(layout.cells), whole.size), np.int64)
    for index, cell in enumerate(layout.cells):
        places[index, cell.domains[number]] = np.arange(len(cell.domains[number]))
    of_row = np.int64(0) if layout.of_row is None else layout.of_row
    codes = smallest(places[of_row, whole.codes], whole.size)
    for cell in layout.cells:
        codes_there = cell.domains[number]
        missing = bool(whole.missing and codes_there[-1] == whole.missing_code)
        values = whole.values.take(pa.array(codes_there[:-1] if missing else codes_there))
        yield replace(whole, codes=codes, values=values, missing=missing, positions=None, taxonomy=None)
