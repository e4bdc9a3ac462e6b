"""A released table as numbers: which columns become what, and the new table.

What a column becomes is decided once, from a table (:func:`layout_of`), and can then be applied to other tables with
the same columns, such as raw records: a raw value is a cell of one value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, Problem, SudareError, did_you_mean
from sudare.releases.certificate import Certificate
from sudare.releases.decimal_commas import column_without_commas
from sudare.releases.numeric.category_column import CategoryColumn
from sudare.releases.numeric.item_column import ItemColumn
from sudare.releases.numeric.number_column import NumberColumn
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import Leaves, ShownColumn
from sudare.releases.numeric.spans import Mask
from sudare.table import nearest_numbers

Encoder = NumberColumn | CategoryColumn | ItemColumn
Generator = np.random.Generator
_PUBLISHED = ("quasi", "sensitive", "insensitive")


@dataclass(frozen=True, eq=False)
class ColumnRoles:
    """What is known about the columns of a release.

    ``generalized`` columns show cells, all others show values. ``hidden`` ones show several values of which one is
    true. ``quasi`` is None if nothing is known: then all columns count as quasi-identifiers that are generalized.
    ``masked`` says that some rows may show nothing at all. ``published`` columns are in every release of the
    certificate, and it says something about ``named`` ones. Those of ``commas`` may have decimal commas. Those of
    ``dates`` show dates, even where each cell is a year.
    """

    quasi: frozenset[str] | None = None
    generalized: bool = True
    sets: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    masked: bool = False
    published: Sequence[str] = ()
    named: frozenset[str] | None = None
    commas: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    leaves: Mapping[str, Leaves] = field(default_factory=dict)
    separators: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        certificate: Certificate | None,
        *,
        leaves: Mapping[str, Leaves] | None = None,
        separators: Mapping[str, str] | None = None,
        commas: Iterable[str] = (),
        dates: Iterable[str] = (),
    ) -> ColumnRoles:
        """Return what a certificate says, and a policy: leaves below labels, what joins the items of sets, dates."""
        known = {
            "leaves": leaves or {},
            "separators": separators or {},
            "commas": frozenset(commas),
            "dates": frozenset(dates),
        }
        if certificate is None:
            return cls(**known)  # type: ignore[arg-type]
        recoding = certificate.recoding
        group = ["group"] if recoding == "apart" else []
        apart = certificate.mechanism.columns if group else {}
        roles = certificate.columns.items()
        return cls(
            frozenset(certificate.columns["quasi"]),
            recoding == "classes",
            frozenset(certificate.item_sets),
            frozenset(certificate.mechanism.columns) if recoding == "sets" else frozenset(),
            frozenset([*certificate.columns.get("subject", ()), *group]),
            certificate.suppressed > 0 and recoding == "classes",
            # subjects are released where a promise counts them, identifiers never
            [*(name for role, names in roles if role in _PUBLISHED for name in names if name not in apart), *group],
            frozenset([*(name for _, names in roles for name in names), *group]),
            **known,  # type: ignore[arg-type]
        )

    def is_quasi(self, name: str) -> bool:
        """Return whether a column is a quasi-identifier."""
        return self.quasi is None or name in self.quasi

    def shown(self, table: pa.Table) -> dict[str, ShownColumn]:
        """Return the columns of a table as the cells that they show; what was read of them once is kept."""
        return {name: self._shown(name, cells) for name, cells in zip(table.column_names, table.columns, strict=True)}

    def check_release(self, table: Mapping[str, ShownColumn]) -> None:
        """Raise if a whole table cannot be a release of the certificate.

        A table may have columns of its own, but the certificate would have to name one of ranges or sets.
        """
        names = list(table)
        whole = (
            "pass all columns of the release, and choose with columns=[...]; or is it another release's certificate?"
        )
        problems = [
            Problem("the table", f"has no column '{name}', which the certificate names.", whole)
            for name in self.published
            if name not in table
        ]
        unnamed = [name for name in names if self.named is not None and name not in self.named]
        problems += [self._unnamed(name) for name in unnamed if ShownColumn(name, table[name].column).generalized]
        if problems:
            raise DataError(problems)

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise if the certificate does not name some columns of a table, which may have only a part of them."""
        problems = [self._unnamed(name) for name in names if self.named is not None and name not in self.named]
        if problems:
            raise DataError(problems)

    def _unnamed(self, name: str) -> Problem:
        hint = did_you_mean(name, sorted(self.named or ())) or "is it the certificate of this release?"
        return Problem("certificate", f"does not name the column '{name}'.", hint)

    def _shown(self, name: str, cells: pa.ChunkedArray) -> ShownColumn:
        literal = not (self.generalized and self.is_quasi(name))
        if name in self.commas:
            cells = column_without_commas(cells)
        shown = ShownColumn(name, cells, literal=literal)
        if name in self.commas and literal and shown.is_text and name not in self.hidden:
            return ShownColumn(name, pa.chunked_array([nearest_numbers(name, shown.plain())]), literal=True)
        return shown


@dataclass(frozen=True, eq=False)
class NumericLayout:
    """What each column becomes; None for one that is kept, and nothing at all for one that is ``dropped``."""

    columns: Mapping[str, Encoder | None]
    options: NumericOptions
    roles: ColumnRoles
    dropped: frozenset[str] = frozenset()

    def without_empty(self) -> NumericLayout:
        """Return a layout without the columns of numbers that show none: there is nothing to learn from them."""
        empty = (name for name, made in self.columns.items() if isinstance(made, NumberColumn) and made.empty)
        return replace(self, dropped=frozenset(empty))

    def silent(self) -> list[str]:
        """Return the columns that become no new column, because they show neither a category nor an item."""
        return [name for name, made in self.columns.items() if made is not None and not made.names(self.options)]

    def strange(self, table: Mapping[str, ShownColumn]) -> list[Problem]:
        """Return the columns of categories in which a table has none that was there before: they tell nothing."""
        categorical = {name: made for name, made in self.columns.items() if isinstance(made, CategoryColumn)}
        found = [made.strangeness(table[name], self.options) for name, made in categorical.items()]
        return [problem for problem in found if problem is not None]

    def names(self, called: Mapping[str, str] | None = None) -> list[str]:
        """Return the names of the new table's columns, if the old ones are called like this."""
        now = {name: name for name in self.columns} | dict(called or {})
        return [
            new
            for name, made in self.columns.items()
            if name not in self.dropped
            for new in ([now[name]] if made is None else replace(made, name=now[name]).names(self.options))
        ]

    def encode(
        self, table: Mapping[str, ShownColumn], generator: Generator | None = None, *, masked: Mask | None = None
    ) -> pa.Table:
        """Return a table with these columns as numbers; its missing cells are nulls.

        In ``masked`` rows all quasi-identifiers are missing.
        """
        _check_there(self.columns, list(table))
        masked = None if masked is None or not masked.any() else pa.array(masked)
        made_columns: dict[str, Any] = {}
        for name, made in self.columns.items():
            if name in self.dropped:
                continue
            if made is None:
                made_columns[name] = table[name].column
                continue
            new = made.encode(table[name], self.options, generator)
            if masked is not None and self.roles.is_quasi(name):
                new = {key: pc.if_else(masked, pa.scalar(None, cells.type), cells) for key, cells in new.items()}
            made_columns |= new
        return pa.table(made_columns)


def masked_rows(table: Mapping[str, ShownColumn], roles: ColumnRoles) -> Mask | None:
    """Return which rows of a whole release show nothing in any quasi-identifier; None if there are none."""
    if not roles.masked or not roles.quasi:
        return None
    empty = [
        shown.empty_rows(roles.leaves.get(name, {}), sets=name in roles.sets)
        for name, shown in table.items()
        if name in roles.quasi
    ]
    return np.asarray(np.logical_and.reduce(empty), dtype=np.bool_)


def layout_of(table: Mapping[str, ShownColumn], roles: ColumnRoles, options: NumericOptions) -> NumericLayout:
    """Decide what each column of a table becomes; raise all problems at once."""
    columns: dict[str, Encoder | None] = {}
    problems: list[Problem] = []
    for name, shown in table.items():
        unchanged = not roles.is_quasi(name) and name not in roles.hidden
        if name in roles.links or (unchanged and options.unchanged == "keep"):
            columns[name] = None
            continue
        try:
            columns[name] = _encoder(shown, roles, options)
        except SudareError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    layout = NumericLayout(columns, options, roles)
    names = Counter(layout.names())
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        what = "would be the name of two new columns."
        raise DataError([Problem(f"column '{name}'", what, "rename the column that is there.") for name in twice])
    return layout


def _check_there(wanted: Iterable[str], names: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in names]
    if absent:
        raise DataError(
            [Problem("the table", f"has no column '{name}'.", did_you_mean(name, names)) for name in absent]
        )


def _encoder(shown: ShownColumn, roles: ColumnRoles, options: NumericOptions) -> Encoder:
    name, kind = shown.name, options.kinds.get(shown.name)
    leaves = roles.leaves.get(name, {})
    if name in roles.hidden or shown.is_list or name in roles.sets or kind == "items":
        separator = roles.separators.get(name)
        return ItemColumn.of(shown, leaves, options.most, separator, alternatives=name in roles.hidden)
    numbers = NumberColumn.of(shown, leaves, kind, dates=name in roles.dates)
    return CategoryColumn.of(shown, leaves, options.most) if numbers is None else numbers
