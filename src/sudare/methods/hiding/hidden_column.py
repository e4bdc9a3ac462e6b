"""The hidden column and its l, for all methods that keep quasi-identifiers unchanged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.core.errors import PolicyUnmetError, Problem, UnsupportedError
from sudare.models import LDiversity, Requirements, describe
from sudare.table import Column, Table

INSTEAD = "use top-down or l-clustering, which generalize quasi-identifiers."


def hidden_columns(table: Table, requirements: Requirements, method: str, *, balanced: bool = False) -> dict[str, int]:
    """Return how many values each sensitive column is to hide among, or raise what cannot be promised so.

    ``balanced`` says that no value may have more than 1/l of the records, so that less may be possible than there are
    values.
    """
    asked: dict[str, int] = {}
    problems = []
    for model in requirements.models:
        if model.scope == "release":
            continue  # which the audit counts
        if isinstance(model, LDiversity) and model.variant == "distinct":
            asked[model.column] = max(asked.get(model.column, 0), math.ceil(model.l))
            continue
        what = f"{method} keeps quasi-identifiers unchanged, and promises only l-diversity (variant: distinct)."
        problems.append(Problem(describe(model), what, INSTEAD))
    problems += [
        Problem(
            f"columns.{name}",
            f"is sensitive, but no promise is about it; {method} would show it unchanged.",
            "require l-diversity of it, or give it the role identifier.",
        )
        for name in table.sensitive
        if name not in asked
    ]
    for name, least in asked.items():
        counts = np.bincount(table.sensitive[name].codes)
        there = int(np.count_nonzero(counts))
        if there < least:
            what = f"requires {least} different values, but column '{name}' has {there}."
            possible = table.rows // int(counts.max(initial=1)) if balanced else there
            problems.append(Problem("l-diversity", what, f"require at most l = {possible}." if possible > 1 else ""))
    if problems:
        raise PolicyUnmetError(problems)
    if not asked:
        raise UnsupportedError(f"{method} needs a requirement of l-diversity, but there is none.")
    return asked


def domain(column: Column) -> list[Any]:
    """Return the values of a column in the types that JSON has, by their codes; None stands for a missing one.

    A value that is neither a number nor text becomes its released text.
    """
    values, kind = column.values, column.values.type
    if pa.types.is_timestamp(kind) and kind.unit == "s":  # which leave as milliseconds
        values = values.cast(pa.timestamp("ms", kind.tz))
    elif kind == pa.time32("s"):
        values = values.cast(pa.time32("ms"))
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    told = values.to_pylist() if plain else values.cast(pa.string()).to_pylist()
    return [*told, None] if column.missing else told
