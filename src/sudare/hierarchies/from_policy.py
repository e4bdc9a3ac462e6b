"""Hierarchies from their description in a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import HierarchyError
from sudare.hierarchies.bands import bands
from sudare.hierarchies.builders import dates, flat, prefix
from sudare.hierarchies.builtin import builtin
from sudare.hierarchies.hierarchy import Hierarchy, absence
from sudare.hierarchies.hierarchy_files import from_tree, load, read_rows, tree_rows
from sudare.hierarchies.label_rows import Rows
from sudare.hierarchies.leaf_labels import distinct, spellings
from sudare.hierarchies.quantiles import quantiles


class Spec(Protocol):
    """What a policy says about a hierarchy: exactly one source is not None."""

    @property
    def file(self) -> str | None:
        """A file, from leaf to root or nested."""

    @property
    def delimiter(self) -> str | None:
        """The delimiter of the file, if it cannot be detected."""

    @property
    def tree(self) -> Mapping[str, Any] | list[Any] | None:
        """A nested tree."""

    @property
    def prefix(self) -> Sequence[int] | None:
        """The lengths of prefixes."""

    @property
    def bands(self) -> Sequence[float] | None:
        """The widths of bands."""

    @property
    def origin(self) -> float:
        """Where a band begins."""

    @property
    def dates(self) -> Sequence[str] | None:
        """The levels of dates."""

    @property
    def flat(self) -> bool | None:
        """No levels but the root."""

    @property
    def builtin(self) -> str | None:
        """The name of one that comes with sudare."""

    @property
    def auto(self) -> bool | None:
        """Bands that follow from the values."""


def build(spec: Spec, values: pa.Array, *, folder: Path, column: str) -> Hierarchy:
    """Return the hierarchy of a column with these distinct values; relative paths start from ``folder``.

    Raises one :class:`~sudare.core.errors.HierarchyError` with everything wrong: what keeps the hierarchy from being
    a tree, and how many of the values it lacks.
    """
    source = f"columns.{column}.hierarchy"
    if spec.prefix is not None:
        return prefix(spec.prefix, values, source=source)
    if spec.bands is not None:
        return bands(spec.bands, spec.origin, values, source=source)
    if spec.dates is not None:
        return dates(spec.dates, values, source=source)
    if spec.builtin is not None:
        return builtin(spec.builtin, values, source=source, column=column)
    if spec.auto:
        return quantiles(values, source=source)
    if spec.file is not None:
        rows = read_rows(folder / spec.file, spec.delimiter, f"{source} ({spec.file})")
        return _covering(rows, values, f"{source} ({spec.file})", column)
    if spec.tree is not None:
        return _covering(tree_rows(spec.tree, source), values, source, column)
    return flat(values, source=source)


def given(spec: Spec, folder: Path) -> Hierarchy:
    """Return a hierarchy that is written down, in a file or as a tree."""
    return load(folder / spec.file, spec.delimiter) if spec.file else from_tree(spec.tree or {})


def _covering(rows: Rows, values: pa.Array, source: str, column: str) -> Hierarchy:
    """Return the hierarchy of the rows; missing values and other problems are reported together."""
    problems = rows.problems(source)
    values = distinct(values)
    found = np.zeros(len(values), dtype=np.bool_)
    leaves = pc.unique(rows.leaves)
    for spelling in spellings(values):
        found |= np.asarray(pc.is_in(spelling, leaves, skip_nulls=True), dtype=np.bool_)
    absent = int(np.count_nonzero(~found))
    if absent:
        problems.append(absence(absent, len(values), source, column))
    if problems:
        raise HierarchyError(problems)
    return rows.hierarchy(source)
