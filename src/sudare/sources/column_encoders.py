"""How the policy has a column encoded: its kind, its order, and the tree over its values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare import engines, hierarchies
from sudare.core.errors import HierarchyError, Problem
from sudare.hierarchies.value_kinds import is_number
from sudare.policy import ColumnSpec, Policy, TClosenessSpec
from sudare.sources.unknown_values import UnknownValues
from sudare.sources.used_columns import holds_sets
from sudare.table import MEMORY, Column, ItemSets, Storage
from sudare.table.encode import ColumnEncoder, ItemsEncoder, SetsEncoder
from sudare.table.value_spellings import TWICE, fold, folded_words


def encoder(
    name: str,
    spec: ColumnSpec,
    source: engines.Source,
    missing: Sequence[str],
    *,
    nulls: bool = True,
    storage: Storage = MEMORY,
) -> ColumnEncoder | ItemsEncoder | SetsEncoder:
    """Return the encoder of a column, as the policy describes it."""
    rows = source.rows or 0
    sensitive_sets = spec.role == "sensitive" and spec.kind == "items"
    if sensitive_sets or holds_sets(spec, source.schema.field(name).type):
        items = ItemsEncoder(
            name,
            separator=spec.separator,
            missing=missing,
            nulls=nulls,
            weight=spec.weight,
            storage=storage,
            expected=rows,
            expected_items=source.items.get(name, 0),
        )
        return SetsEncoder(items, merge=not spec.exact) if sensitive_sets else items
    return ColumnEncoder(
        name,
        kind=_kind(spec),
        missing=missing,
        order=spec.order,
        weight=spec.weight,
        tags=spec.role == "subject" and spec.hierarchy is None and spec.order is None,
        merge=spec.role == "sensitive" and not spec.exact,
        by_worth=spec.hierarchy is None or not spec.hierarchy.of_text,
        storage=storage,
        expected=rows,
    )


def finished_column(
    each: ColumnEncoder | ItemsEncoder | SetsEncoder,
    spec: ColumnSpec,
    policy: Policy,
    unknown: UnknownValues | None,
    kind: pa.DataType,
) -> Column | ItemSets:
    """Return an encoded column, with a taxonomy over its values or items if the policy gives it a hierarchy.

    ``kind`` is the type that its cells have in the source.
    """
    column = each.finish()
    if spec.hierarchy is None or (spec.role == "sensitive" and not _measured_by_tree(column.name, policy)):
        return column
    check_codes(column, spec, kind)
    if unknown is not None and isinstance(column, Column) and spec.role == "quasi":
        column = unknown.noted(column, spec, policy.folder)
    values = as_in_tree(column, spec, policy.folder)
    tree = hierarchies.build(spec.hierarchy, values, folder=policy.folder, column=column.name)
    order, taxonomy = tree.taxonomy(values, column.missing)
    return column.reordered(order, taxonomy)


def check_codes(column: Column | ItemSets, spec: ColumnSpec, kind: pa.DataType) -> None:
    """Raise if codes were numbers in the source, where they have lost what tells them apart; by now they are text."""
    while hasattr(kind, "value_type"):  # lists and dictionaries
        kind = kind.value_type
    if is_number(kind) and spec.hierarchy is not None and spec.hierarchy.codes is not None:
        where = f"columns.{column.name}.hierarchy"
        hierarchies.check_numbers(spec.hierarchy.codes, column.values, source=where)


def as_in_tree(column: Column | ItemSets, spec: ColumnSpec, folder: Path) -> pa.Array:
    """Return the values of a column in the spelling of its tree, if spellings are merged; otherwise unchanged."""
    if not isinstance(column, Column) or column.keys is None or spec.hierarchy is None:
        return column.values
    if spec.hierarchy.file is None and spec.hierarchy.tree is None:
        return column.keys
    try:
        tree = hierarchies.given(spec.hierarchy, folder)
    except HierarchyError:
        return column.values  # what is wrong with it is reported where it is built
    parents: dict[str, set[int]] = {}
    for leaf, parent in zip(tree.leaves.to_pylist(), tree.parents[0].tolist(), strict=True):
        parents.setdefault(fold(leaf, numbers=column.by_worth), set()).add(parent)
    apart = sum(len(each) > 1 for each in parents.values())
    if apart:
        what = f"has {apart} values twice, in two spellings."
        raise HierarchyError(Problem(f"columns.{column.name}.hierarchy", what, TWICE))
    words = folded_words(column.keys.to_pylist(), tree.leaves.to_pylist(), numbers=column.by_worth)
    return pa.array(words, pa.large_string())


def _kind(spec: ColumnSpec) -> Any:
    """Return the kind to encode as: a subject is always categorical, and a column with prefixes or codes is text."""
    if spec.role == "subject" or (spec.hierarchy is not None and spec.hierarchy.of_text):
        return "categorical"
    return spec.kind


def _measured_by_tree(name: str, policy: Policy) -> bool:
    """Return whether a sensitive column needs its tree; without, its values stay in their own order."""
    return any(
        isinstance(spec, TClosenessSpec) and spec.column == name and spec.distance == "hierarchical"
        for spec in policy.require
    )
