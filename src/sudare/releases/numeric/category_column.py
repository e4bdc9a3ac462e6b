"""A column of categories: each category becomes a column, and a cell counts for it in proportion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, ParameterError, Problem
from sudare.releases.cell_reader import Anything, Choice, HalfOpen, Interval, ReadCell
from sudare.releases.numeric.numeric_options import NumericOptions
from sudare.releases.numeric.shown_column import Leaves, ShownColumn
from sudare.releases.numeric.spans import spans_on
from sudare.table import OTHER


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """How a column becomes shares: its categories, in order, and the leaves below labels of its hierarchy."""

    name: str
    categories: tuple[str, ...]
    leaves: Leaves = field(default_factory=dict)

    @classmethod
    def of(cls, shown: ShownColumn, leaves: Leaves, most: int) -> CategoryColumn:
        """Collect the categories of a column: all that a cell names, and the leaves below its labels."""
        found: dict[str, None] = {}
        for cell in shown.cells:
            found.update((each, None) for each in _members(cell, leaves) if each is not None)
        if leaves and shown.hidden.any():  # anything is one of the leaves
            found.update((leaf, None) for below in leaves.values() for leaf in below)
        if len(found) > most:
            raise too_many(shown.name, len(found), most, "categories")
        return cls(shown.name, tuple(sorted(found)), leaves)

    def names(self, _: NumericOptions) -> list[str]:
        """Return the names of the new columns."""
        return [f"{self.name}={category}" for category in self.categories]

    def strangeness(self, shown: ShownColumn, options: NumericOptions) -> Problem | None:
        """Return what is wrong if cells name categories, and none of those that were there when they were collected."""
        if not self.categories or (options.unknown == "share" and OTHER in self.categories):
            return None
        there = [cell for cell, missing in zip(shown.cells, shown.missing, strict=True) if not missing]
        named = {each for cell in there for each in _members(cell, self.leaves) if each is not None}
        if not named or not named.isdisjoint(self.categories):
            return None
        dates = spans_on("day", pa.array(self.categories, pa.large_string())).known.all()
        say = f'if it shows dates, say so: kinds={{"{self.name}": "dates"}}.'
        hint = say if dates else "are its values written as in the release?"
        return Problem(f"column '{self.name}'", "has no category that it had before, so that it says nothing.", hint)

    def encode(
        self, shown: ShownColumn, options: NumericOptions, _: np.random.Generator | None = None
    ) -> dict[str, pa.Array]:
        """Return the share of each category in each row; a missing cell has none."""
        place = {category: number for number, category in enumerate(self.categories)}
        count, size = len(shown.read), max(len(place), 1)
        missing, hidden = shown.missing.copy(), shown.nothing(self.leaves)
        cell_of: list[int] = []
        category: list[int] = []
        share: list[float] = []
        everywhere = np.zeros(count)  # what each cell counts for every category alike
        other = place.get(OTHER, -1) if options.unknown == "share" else -1  # which stands for categories that are rare
        unknown = 0
        for number, cell in enumerate(shown.cells):
            if missing[number]:
                continue
            if hidden[number]:
                everywhere[number] = 1 / size
                continue
            members = _members(cell, self.leaves)
            for each in members:
                found = -1 if each is None else place.get(each, other)
                if found >= 0:
                    cell_of.append(number)
                    category.append(found)
                    share.append(1 / len(members))
                elif each is not None:
                    unknown += 1
                    if options.unknown == "share":
                        everywhere[number] += 1 / (len(members) * size)
        if unknown and options.unknown == "error":
            what = f"has {unknown} categories that it did not have before."
            raise DataError(Problem(f"column '{self.name}'", what, "share or ignore unknown categories."))
        if options.everything == "missing":
            missing |= hidden
        row = shown.read.of_row
        order = np.argsort(np.array(category, dtype=np.int64), kind="stable")
        cells, shares = np.array(cell_of, dtype=np.int64)[order], np.array(share)[order]
        cuts = np.searchsorted(np.array(category, dtype=np.int64)[order], np.arange(len(place) + 1))
        gone = missing[row]
        mask = gone if gone.any() else None
        made = {}
        for name, begin, end in zip(self.names(options), cuts[:-1], cuts[1:], strict=True):
            of_cell = everywhere.copy()
            np.add.at(of_cell, cells[begin:end], shares[begin:end])
            made[name] = pa.array(of_cell[row], mask=mask)
        return made


def _members(cell: ReadCell, leaves: Leaves) -> tuple[str | None, ...]:
    """Return the categories that a cell stands for, each of them as likely; None is a missing value."""
    if cell is None or isinstance(cell, Anything):
        return ()
    if isinstance(cell, Choice):
        given = cell.members
    else:
        given = (cell.text if isinstance(cell, Interval | HalfOpen) else cell,)
    return tuple(leaf for each in given for leaf in ((each,) if each is None else leaves.get(each, (each,))))


def too_many(name: str, count: int, most: int, what: str) -> ParameterError:
    """Return what to raise about a column that would become too many columns."""
    hint = f"allow them with most_categories={count}, or remove the column."
    return ParameterError(Problem(f"column '{name}'", f"has {count:,} {what}; at most {most:,} become columns.", hint))
