"""The methods, a folder for each family, and the registry of them."""

from sudare.methods.options import (
    ByColumn,
    ColumnGroups,
    ColumnName,
    ColumnNames,
    Combinations,
    Either,
    Flag,
    Option,
    Positive,
    Seconds,
    Share,
    Transitions,
    Weight,
    Whole,
    Words,
)
from sudare.methods.registry import BLIND_TO, METHODS, OF_MECHANISMS, OF_RELEASES, Method

__all__ = [
    "BLIND_TO",
    "METHODS",
    "OF_MECHANISMS",
    "OF_RELEASES",
    "ByColumn",
    "ColumnGroups",
    "ColumnName",
    "ColumnNames",
    "Combinations",
    "Either",
    "Flag",
    "Method",
    "Option",
    "Positive",
    "Seconds",
    "Share",
    "Transitions",
    "Weight",
    "Whole",
    "Words",
]
