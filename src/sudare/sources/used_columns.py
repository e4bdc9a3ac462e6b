"""Which columns a method or a requirement looks at, and what encoding them takes up."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from sudare import engines
from sudare.core.memory import Demand
from sudare.policy import ColumnSpec, Policy


def looked_at(policy: Policy, also: Collection[str] = ()) -> list[str]:
    """Return the columns that a method or a requirement uses, in the policy's order."""
    return encoded_columns(policy, target_of(policy), also)


def encoded_columns(policy: Policy, target: str | None, also: Collection[str]) -> list[str]:
    """Return the columns that a method or a requirement uses; all others are released unchanged, or not at all."""
    needed = required_columns(policy) | set(also)
    return [
        name
        for name, spec in policy.columns.items()
        if spec.role in ("quasi", "subject")
        or (spec.role == "sensitive" and name in needed)
        or name == target
        or name in also
    ]


def required_columns(policy: Policy) -> set[str | None]:
    """Return the columns that requirements read."""
    return {getattr(spec, "column", None) for spec in policy.require}


def target_of(policy: Policy) -> str | None:
    """Return the class that the release is to help predict, where the method asks for one."""
    name = policy.method.options.get("target")
    return name if name in policy.columns else None


def holds_sets(spec: ColumnSpec, kind: pa.DataType) -> bool:
    """Return whether a column is one of item sets: the policy says so, or it holds lists."""
    return spec.kind == "items" or bool(pa.types.is_nested(kind))


def needs(source: engines.Source, policy: Policy, also: Collection[str] = ()) -> Demand:
    """Return the estimated memory for encoding a table and working on it."""
    names = encoded_columns(policy, target_of(policy), also)
    sets = [name for name in names if holds_sets(policy.columns[name], source.schema.field(name).type)]
    return Demand(
        rows=source.rows or source.likely,
        single=len(names) - len(sets),
        tallied=sum(policy.columns[name].role != "quasi" for name in names),
        items=[source.items.get(name) for name in sets],
        carried=sum(_width(field.type) for field in source.schema if field.name not in names),
    )


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a cell; text and other types without a fixed length count as twenty."""
    try:
        return int(kind.bit_width + 7) // 8
    except ValueError:
        return 24
