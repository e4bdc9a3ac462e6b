"""Rows of labels as a user gives them: the checks that they form a tree, and the hierarchy they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.hierarchy import Hierarchy
from sudare.hierarchies.leaf_labels import TEXT

_NAMED = 5
"""So many offenders of one kind are named; the rest are counted."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Chains of labels from leaf to root, all rows one after the other in ``flat``.

    ``lengths`` says how many labels each row has, ``lines`` where it stands in its file, counted in ``unit`` (None for
    a tree that stands in the policy). Labels are named in messages only if there are no lines: a file may be any file.
    """

    flat: pa.Array
    lengths: NDArray[np.int64]
    lines: NDArray[np.int64] | None = None
    unit: str = "line"

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], lines: Sequence[int] | None = None, unit: str = "line") -> Rows:
        """Gather rows of labels, and the lines they stand on."""
        flat = pa.array([label for row in rows for label in row], TEXT)
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        return cls(flat, lengths, None if lines is None else np.asarray(lines, dtype=np.int64), unit)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each row starts in ``flat``."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def leaves(self) -> pa.Array:
        """The first label of every row."""
        return self.flat.take(pa.array(self.starts))

    def hierarchy(self, source: str, names: Sequence[str] = ()) -> Hierarchy:
        """Return the hierarchy, or raise one error with everything that is wrong with the rows."""
        problems = self.problems(source)
        if problems:
            raise HierarchyError(problems)
        table = np.arange(len(self.flat)).reshape(len(self.lengths), -1)
        # Rows that say the same twice are one leaf.
        _, first = np.unique(np.asarray(pc.dictionary_encode(self.leaves).indices), return_index=True)
        columns = [self.flat.take(pa.array(place)) for place in table[np.sort(first)].T]
        return Hierarchy.stacked(columns, source=source, names=names)

    def problems(self, where: str) -> list[Problem]:
        """Return everything that keeps the rows from being a tree of even depth whose labels are unambiguous."""
        if not len(self.lengths):
            return []
        codes, labels = self._codes()
        row = np.repeat(np.arange(len(self.lengths)), self.lengths)
        blank = np.unique(row[np.array([not label.strip() for label in labels], dtype=np.bool_)[codes]])
        if len(blank):
            empty = f"a label is empty{self._on(blank)}."
            hint = "name every level; a delimiter at the end of a line adds an empty one."
            # The other rows are checked without these, or each gap would be reported as a stray group as well.
            return [Problem(where, empty, hint), *self._without(blank).problems(where)]
        texts = [*self._uneven(), *self._one_level()]
        texts += self._roots(labels, codes, row)
        texts += self._parents(labels, codes, row)
        texts += self._leaf_and_inner(labels, codes, row)
        if not texts:
            texts += self._repeated_groups(labels, codes)
        return [Problem(where, what, hint) for what, hint in texts]

    def _codes(self) -> tuple[NDArray[np.int64], list[str]]:
        encoded = pc.dictionary_encode(self.flat)
        return np.asarray(encoded.indices, dtype=np.int64), encoded.dictionary.to_pylist()

    def _edges(self, codes: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places in ``flat`` whose label has another label directly above it."""
        return np.flatnonzero((row[:-1] == row[1:]) & (codes[:-1] != codes[1:]))

    def _without(self, rows: NDArray[np.int64]) -> Rows:
        kept = np.ones(len(self.lengths), dtype=np.bool_)
        kept[rows] = False
        flat = self.flat.filter(pa.array(np.repeat(kept, self.lengths)))
        return Rows(flat, self.lengths[kept], None if self.lines is None else self.lines[kept], self.unit)

    def _one_level(self) -> Iterable[tuple[str, str]]:
        if len(self.lengths) and self.lengths.max() == 1:
            yield (
                "there is no level above the leaves.",
                "write leaf;group;* on a line (; , or tab between them), or use `hierarchy: flat` for no levels.",
            )

    def _uneven(self) -> Iterable[tuple[str, str]]:
        usual = int(np.argmax(np.bincount(self.lengths)))
        for length in np.unique(self.lengths[self.lengths != usual]):
            rows = np.flatnonzero(self.lengths == length)
            yield (
                f"the depth is uneven: {self._leaves_on(rows)} with {length} levels where most have {usual}.",
                "repeat the leaf to fill a shorter branch, as in Other;Other;*.",
            )

    def _roots(self, labels: list[str], codes: NDArray[np.int64], row: NDArray[np.int64]) -> Iterable[tuple[str, str]]:
        top = codes[self.starts + self.lengths - 1]
        roots, first, count = np.unique(top, return_index=True, return_counts=True)
        if len(roots) > 1:
            named = [
                f"{self._called('', labels[roots[i]], 'one')}{self._on(np.flatnonzero(top == roots[i]))}"
                for i in np.lexsort((first, -count))[:_NAMED]
            ]
            yield (
                f"there are {len(roots):,} roots, but a tree has one: {_listed(named, len(roots))}.",
                "end every line with the same label, such as *.",
            )
            return
        below = self._edges(codes, row)
        again = below[codes[below] == roots[0]] if len(roots) else below
        if len(again):
            root = self._called("the root", labels[roots[0]])
            yield f"{root} is below another label{self._on(np.unique(row[again]))}.", ""

    def _parents(
        self, labels: list[str], codes: NDArray[np.int64], row: NDArray[np.int64]
    ) -> Iterable[tuple[str, str]]:
        below = self._edges(codes, row)
        pairs, first = np.unique(codes[below] * len(labels) + codes[below + 1], return_index=True)
        children = pairs // max(len(labels), 1)
        several = np.flatnonzero(np.bincount(children, minlength=len(labels)) > 1)
        is_leaf = np.zeros(len(labels), dtype=np.bool_)
        is_leaf[codes[self.starts]] = True
        for kind, wanted in (("leaf", True), ("group", False)):
            offenders = several[is_leaf[several] == wanted]
            for child in offenders[:_NAMED]:
                at = below[np.sort(first[children == child])]
                above = [f"{self._called('', labels[codes[place + 1]], 'one')}{self._on(row[[place]])}" for place in at]
                called = self._called(f"the {kind}", labels[child], f"a {kind}")
                yield (
                    f"{called} has {len(at)} parents: {_listed(above[:_NAMED], len(above))}.",
                    "" if wanted else "two groups need different names, also on different branches.",
                )
            if len(offenders) > _NAMED:
                yield f"{len(offenders) - _NAMED:,} more labels of this kind ({kind}) have several parents.", ""

    def _leaf_and_inner(
        self, labels: list[str], codes: NDArray[np.int64], row: NDArray[np.int64]
    ) -> Iterable[tuple[str, str]]:
        leaves, leaf_row = np.unique(codes[self.starts], return_index=True)
        below = self._edges(codes, row)
        inner, at = np.unique(codes[below + 1], return_index=True)
        both, one, two = np.intersect1d(leaves, inner, assume_unique=True, return_indices=True)
        for code, i, j in list(zip(both, one, two, strict=True))[:_NAMED]:
            called = self._called("", labels[code], "a label")
            yield (
                f"{called} is a leaf{self._on(leaf_row[[i]])} and a group over others{self._on(row[below[at[[j]]]])}.",
                "a release could not distinguish them: give the group another name.",
            )
        if len(both) > _NAMED:
            yield f"{len(both) - _NAMED:,} more labels are both a leaf and a group.", ""

    def _repeated_groups(self, labels: list[str], codes: NDArray[np.int64]) -> Iterable[tuple[str, str]]:
        """Find groups that repeat as their own parent while the parent has other children too.

        Such a label would mean fewer leaves on one level than on the next. This is checked only for rows that are
        otherwise a tree, where it is the only remaining ambiguity.
        """
        grid = codes.reshape(len(self.lengths), -1)
        for level in range(grid.shape[1] - 1):
            pairs = np.unique(grid[:, level] * len(labels) + grid[:, level + 1])
            child, parent = pairs // len(labels), pairs % len(labels)
            crowded = np.bincount(parent, minlength=len(labels)) > 1
            for code in child[(child == parent) & crowded[parent]][:_NAMED]:
                rows = np.flatnonzero((grid[:, level] == code) & (grid[:, level + 1] == code))
                called = self._called("the group", labels[code], "a group")
                yield (
                    f"{called} is its own parent{self._on(rows)}, but also has other children.",
                    "fill a shorter branch by repeating its leaf, as in Other;Other;*, not the group.",
                )

    def _called(self, what: str, label: str, unnamed: str = "") -> str:
        """Name a label, or say only what it is where it stands in a file."""
        return f"{what} '{label}'".strip() if self.lines is None else unnamed or what

    def _on(self, rows: NDArray[np.int64]) -> str:
        """Return on which lines some rows stand; nothing where there are no lines."""
        if self.lines is None:
            return ""
        shown = [f"{line:,}" for line in self.lines[rows[:_NAMED]]]
        several = {"line": "lines", "leaf": "leaves"}[self.unit] if len(rows) > 1 else self.unit
        return f" ({several} {_listed(shown, len(rows))})"

    def _leaves_on(self, rows: NDArray[np.int64]) -> str:
        count = f"{len(rows):,} {'leaf' if len(rows) == 1 else 'leaves'}"
        if self.lines is not None:
            return f"{count}{self._on(rows)}"
        named = [f"'{leaf}'" for leaf in self.leaves.take(pa.array(rows[:_NAMED])).to_pylist()]
        return f"{count} ({_listed(named, len(rows))})"


def _listed(shown: list[str], total: int) -> str:
    """Join some of many in a sentence, and count the others."""
    if total > len(shown):
        return f"{', '.join(shown)} and {total - len(shown):,} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
