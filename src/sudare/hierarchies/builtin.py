"""Hierarchies that come with sudare, by their name: ``icd-10``, ``iso-3166``, ``ages`` and others.

The leaves are the column's distinct values. So the levels of a release do not depend on which other codes there are.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.bands import bands
from sudare.hierarchies.builders import constant
from sudare.hierarchies.code_systems import CODE_SYSTEMS, Groups
from sudare.hierarchies.hierarchy import ROOT, Hierarchy
from sudare.hierarchies.leaf_labels import TEXT, distinct, text
from sudare.hierarchies.value_kinds import is_number
from sudare.policy.vocabulary import BAND_WIDTHS


def builtin(name: str, values: pa.Array, *, source: str = "builtin", column: str = "NAME") -> Hierarchy:
    """Return the built-in hierarchy of this name over some values.

    Raises :class:`~sudare.core.errors.HierarchyError` with the number of values that are no such code, never with a
    value.
    """
    if name in BAND_WIDTHS:
        return bands(BAND_WIDTHS[name], 0, values, source=source)
    system = CODE_SYSTEMS[name]
    values = distinct(values)
    if is_number(values.type):
        check_numbers(name, values, source=source)
    leaves = pc.unique(text(values))
    texts = leaves.to_pylist()
    above = system.above(texts)
    unknown = sum(groups is None for groups in above)
    if unknown:
        verb = "is" if unknown == 1 else "are"
        raise HierarchyError(
            Problem(
                source,
                f"{unknown:,} of the column's {len(texts):,} distinct values {verb} not among the {system.plural}.",
                f"`sudare hierarchy gaps DATA --policy P --column {column} --out FILE` lists them; correct them, list "
                "them under source.missing, or use a hierarchy file.",
            )
        )
    first = 0 if system.has_depth(texts) else 1
    columns = [
        pa.array([_label(groups, level, leaf) for leaf, groups in zip(texts, above, strict=True)], TEXT)
        for level in range(first, len(system.levels))
    ]
    names = ["value", *system.levels[first:], "all"]
    return Hierarchy.stacked([leaves, *columns, constant(ROOT, len(leaves))], source=source, names=names)


def check_numbers(name: str, values: pa.Array, *, source: str = "builtin") -> None:
    """Raise if values that were numbers, and may be written as text by now, do not tell which codes they stand for."""
    system = CODE_SYSTEMS[name]
    if system.loses_zeros(text(distinct(values)).to_pylist()):
        what = (
            f"the column holds {system.plural} without their dots as numbers. These have lost their leading zeros, so "
            "nobody can tell a category from a code of another chapter."
        )
        hint = "give the codes as text, with their leading zeros, and with their dots if they have them."
        raise HierarchyError(Problem(source, what, hint))


def _label(groups: Groups | None, level: int, leaf: str) -> str:
    """Return the group at a level; where the branch is shorter the leaf is repeated."""
    assert groups is not None
    return groups[level] or leaf


def strange_values(name: str, values: pa.Array) -> NDArray[np.bool_]:
    """Return which values are no codes of a built-in hierarchy of codes."""
    above = CODE_SYSTEMS[name].above(text(values).to_pylist())
    return np.fromiter((groups is None for groups in above), np.bool_, len(above))


def builtin_heights(name: str) -> set[int]:
    """Return how many levels a built-in hierarchy may have above its values; some depend on how long the codes are."""
    if name in BAND_WIDTHS:
        return {len(BAND_WIDTHS[name]) + 1}
    system = CODE_SYSTEMS[name]
    return {len(system.levels) + 1} | ({len(system.levels)} if system.deep else set())
