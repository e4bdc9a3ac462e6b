"""Hierarchies: how the values of a column become coarser, level by level, up to one root.

A hierarchy comes from a file (:func:`load`, :func:`from_csv`), from a nested tree (:func:`from_tree`), or follows
from the values (:func:`prefix`, :func:`bands`, :func:`dates`, :func:`flat`, :func:`quantiles`), or comes with sudare
(:func:`builtin`); :func:`build` picks by what the policy says. :meth:`Hierarchy.taxonomy` turns it into arrays over the
codes of a column.
"""

from sudare.hierarchies.bands import bands
from sudare.hierarchies.builders import dates, flat, prefix
from sudare.hierarchies.builtin import builtin, builtin_heights, check_numbers, strange_values
from sudare.hierarchies.builtin_fit import fitting_builtin
from sudare.hierarchies.from_policy import build, given
from sudare.hierarchies.hierarchy import Hierarchy, missing_values
from sudare.hierarchies.hierarchy_files import csv_text, from_csv, from_tree, load, to_csv
from sudare.hierarchies.outline import level_names, levels, show
from sudare.hierarchies.quantiles import quantiles

__all__ = [
    "Hierarchy",
    "bands",
    "build",
    "builtin",
    "builtin_heights",
    "check_numbers",
    "csv_text",
    "dates",
    "fitting_builtin",
    "flat",
    "from_csv",
    "from_tree",
    "given",
    "level_names",
    "levels",
    "load",
    "missing_values",
    "prefix",
    "quantiles",
    "show",
    "strange_values",
    "to_csv",
]
