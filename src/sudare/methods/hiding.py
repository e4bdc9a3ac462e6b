"""What methods share that leave quasi-identifiers as they are: which column is to hide behind how many values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.errors import PolicyUnmetError, Problem
from sudare.models import LDiversity, Requirements, describe
from sudare.table import Column, Table

INSTEAD = "use top-down or l-clustering, which generalize quasi-identifiers."


def asked_of(table: Table, requirements: Requirements, method: str) -> dict[str, int]:
    """Return how many values each sensitive column is to hide among, or raise what cannot be promised so."""
    asked: dict[str, int] = {}
    problems = []
    for model in requirements.models:
        if isinstance(model, LDiversity) and model.variant == "distinct":
            asked[model.column] = max(asked.get(model.column, 0), math.ceil(model.l))
            continue
        what = f"{method} leaves quasi-identifiers as they are, and promises l-diversity (variant: distinct) alone."
        problems.append(Problem(describe(model), what, INSTEAD))
    problems += [
        Problem(f"columns.{name}", f"is sensitive, and nothing is promised about it; {method} would show it as it is.",
                "require l-diversity of it, or give it the role identifier.")
        for name in table.sensitive
        if name not in asked
    ]  # fmt: skip
    for name, least in asked.items():
        there = int(np.count_nonzero(np.bincount(table.sensitive[name].codes, minlength=table.sensitive[name].size)))
        if there < least:
            what = f"asks for {least} different values, and column '{name}' has {there}."
            problems.append(Problem("l-diversity", what, f"ask for l = {there} at most." if there > 1 else ""))
    if problems:
        raise PolicyUnmetError(problems)
    return asked


def domain(column: Column) -> list[Any]:
    """Return the values of a column in the types that JSON has, by their codes; None stands for a missing one."""
    kind = column.values.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    values = column.values.to_pylist() if plain else column.values.cast(pa.string()).to_pylist()
    return [*values, None] if column.missing else values
