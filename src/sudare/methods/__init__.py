"""The methods, a folder for each family, and the registry of them."""

from sudare.methods.options import (
    ByColumn,
    ColumnGroups,
    ColumnName,
    ColumnNames,
    Combinations,
    Either,
    Flag,
    Seconds,
    Share,
    Weight,
    Whole,
    Words,
)
from sudare.methods.registry import BLIND_TO, METHODS, Method, RecodingKind, method_of

__all__ = [
    "BLIND_TO",
    "METHODS",
    "ByColumn",
    "ColumnGroups",
    "ColumnName",
    "ColumnNames",
    "Combinations",
    "Either",
    "Flag",
    "Method",
    "RecodingKind",
    "Seconds",
    "Share",
    "Weight",
    "Whole",
    "Words",
    "method_of",
]
