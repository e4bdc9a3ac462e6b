"""The hierarchy of one column of a table, and the values that have no place in it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sudare import engines, hierarchies
from sudare.core.errors import ParameterError, PolicyError, Problem, did_you_mean
from sudare.policy import Policy, SourceSpec
from sudare.sources.column_encoders import as_in_tree, check_codes, encoder
from sudare.sources.detected_source import detect_source
from sudare.sources.opened_source import Data, read
from sudare.table import Column, ItemSets


def column_hierarchy(
    data: Data, policy: Policy, column: str, *, encoding: str | None = None, delimiter: str | None = None
) -> hierarchies.Hierarchy:
    """Return the hierarchy that a policy gives a column; how its cells are written is found out from the table."""
    SourceSpec.checked(encoding=encoding or "utf-8", delimiter=delimiter)
    if engines.find_place(data) is None:
        table = detect_source(data, encoding=encoding, delimiter=delimiter).table
        if column not in table.column_names:
            where = Path(data).name if isinstance(data, str | Path) else "the table"
            what = f"'{column}' is not a column of {where}."
            raise ParameterError(Problem("column", what, did_you_mean(column, table.column_names)))
        data = table.select([column])
    spec = policy.columns[column]
    assert spec.hierarchy is not None
    values = _encoded(data, policy, column).values
    return hierarchies.build(spec.hierarchy, values, folder=policy.folder, column=column)


def values_without_place(data: Data, policy: Policy, column: str) -> list[str]:
    """Return the values of a column that its hierarchy, from a file, a tree or of built-in codes, does not have."""
    spec = policy.columns.get(column)
    if spec is None:
        raise PolicyError(
            Problem("columns", f"'{column}' is not a column of this policy.", did_you_mean(column, policy.columns))
        )
    where = spec.hierarchy
    codes = None if where is None else where.codes
    written = where is not None and (where.file is not None or where.tree is not None)
    if where is None or not (written or codes) or spec.role == "identifier":
        raise PolicyError(Problem(f"columns.{column}", "has no hierarchy from a file or a tree, or of built-in codes."))
    found = _encoded(data, policy, column)
    if codes is not None:
        strange = pa.array(hierarchies.strange_values(codes, found.values))
        return [str(value) for value in found.values.filter(strange).to_pylist()]
    values = as_in_tree(found, spec, policy.folder)
    tree = hierarchies.given(where, policy.folder)
    return [str(value) for value in hierarchies.missing_values(tree, values).to_pylist()]


def _encoded(data: Data, policy: Policy, column: str) -> Column | ItemSets:
    source, _ = read(data, policy, only=[column])
    found = encoder(column, policy.columns[column], source, policy.source.missing_everywhere)
    for batch in source.batches([column]):
        found.add(batch.column(column))
    encoded = found.finish()
    check_codes(encoded, policy.columns[column], source.schema.field(column).type)
    return encoded
