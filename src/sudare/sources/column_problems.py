"""What can be wrong with the columns of a table that a policy describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from sudare.core.errors import Problem
from sudare.models import named_codes
from sudare.policy import AlphaKAnonymitySpec, LDiversitySpec, Policy, TClosenessSpec
from sudare.table import Column, looks_numeric
from sudare.table.value_spellings import TWICE, fold, repeated


def lists_that_are_no_sets(names: Iterable[str], policy: Policy, schema: pa.Schema) -> dict[str, list[Problem]]:
    """Return the problems of columns that hold lists, and are said to hold single values."""
    kinds = {name: policy.columns[name].kind for name in names}
    return {
        name: [Problem(f"column '{name}'", f"holds lists, which are not {kind}.", "set kind: items.")]
        for name, kind in kinds.items()
        if kind in ("numeric", "categorical") and pa.types.is_nested(schema.field(name).type)
    }


def misplaced_sets(sets: Iterable[str], policy: Policy, *, perturbed: bool = False) -> list[Problem]:
    """Return the problems of item sets that are not quasi-identifiers, and not declared as sensitive ones."""
    nor = ", nor perturbed" if perturbed else ""
    hints = {"sensitive": "set kind: items, and require l-diversity with variant: frequency."}
    return [
        Problem(f"columns.{name}", f"an item set cannot be {role}{nor}.", hints.get(role, ""))
        for name in sets
        if (role := policy.columns[name].role) != "quasi"
    ]


def can_be_carried(kind: pa.DataType) -> bool:
    """Return whether all formats of a release can hold a type, inside others too."""
    if pa.types.is_union(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_interval(kind):
        return False
    if pa.types.is_decimal(kind):
        return bool(kind.scale >= 0)
    inner = [kind.field(place) for place in range(kind.num_fields)]
    if pa.types.is_struct(kind) and len({field.name for field in inner}) < len(inner):
        return False
    return all(can_be_carried(field.type) for field in inner)


def absent_values(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find values that a promise names and the data does not have: misspelled, it would promise nothing."""
    problems = []
    for number, spec in enumerate(policy.require):
        if isinstance(spec, LDiversitySpec) and spec.harmless:
            exact = bool(policy.columns[spec.column].exact)
            once = {word.strip() if exact else fold(word) for word in spec.harmless}
            if len(once) < len(spec.harmless):
                twice = len(spec.harmless) - len(once)
                what = f"names {'an item' if twice == 1 else f'{twice} items'} twice, in two spellings."
                problems.append(Problem(f"require.{number}.harmless", what, "name it once." if exact else TWICE))
        if isinstance(spec, AlphaKAnonymitySpec) and spec.values and spec.column in sensitive:
            column = sensitive[spec.column]
            absent = named_codes(column, spec.values).count(-1)
            twice = 0 if column.keys is None else repeated(dict.fromkeys(spec.values), numbers=column.by_worth)
            if twice:
                what = f"names {twice} values twice, in two spellings."
                problems.append(Problem(f"require.{number}.values", what, TWICE))
            if absent:
                what = f"names {absent} values that column '{spec.column}' does not have."
                problems.append(Problem(f"require.{number}.values", what, "write them as in the data."))
    return problems


def unclear_orders(policy: Policy, sensitive: Mapping[str, Column]) -> list[Problem]:
    """Find ordered columns whose order does not follow from the release alone."""
    problems = []
    for number, spec in enumerate(policy.require):
        if not isinstance(spec, TClosenessSpec) or spec.distance != "ordered" or spec.column not in sensitive:
            continue
        column, given = sensitive[spec.column], policy.columns[spec.column]
        if pa.types.is_duration(column.values.type):
            what = f"column '{spec.column}' holds durations, whose text sorts differently."
            problems.append(Problem(f"require.{number}", what, "convert them to numbers."))
        elif (
            column.kind == "categorical"
            and (given.kind, given.order) == (None, None)
            and policy.suppression.limit > 0
            and looks_numeric(column.values)
        ):
            what = f"some values of '{spec.column}' look like numbers or dates, so its order is unclear."
            problems.append(Problem(f"require.{number}", what, "set kind: categorical, or give its order."))
    return problems
