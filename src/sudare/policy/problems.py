"""Checks of a policy: every problem with its place and the nearest allowed word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from sudare.core.errors import Problem, did_you_mean
from sudare.policy.source_spec import SourceSpec
from sudare.policy.transformation_spec import SampleSpec, Transformation
from sudare.policy.vocabulary import (
    MODEL_NAMES,
    AlphaGammaSpec,
    ColumnSpec,
    HierarchySpec,
    KAnonymitySpec,
    KmAnonymitySpec,
    LDiversitySpec,
    ReleaseSpec,
    RequirementSpec,
    Role,
    SuppressionSpec,
    TClosenessSpec,
    UniquenessSpec,
)

if TYPE_CHECKING:
    from sudare.policy.policy import Policy

_SHOWN = 80
"""As many characters of what was given are shown."""


def problem(details: Any, keys: list[str]) -> Problem:
    """Turn one pydantic error into our own form, with the nearest allowed word; ``keys`` are those of a policy."""
    kind, context, given = details["type"], details.get("ctx", {}), details.get("input")
    path = [str(part) for part in details["loc"]]
    if len(path) > 2 and path[0] == "require" and path[2] in MODEL_NAMES:
        del path[2]  # the union's tag is not a key of the policy
    where = ".".join(path)
    shown = f" (got {_short(given)})" if isinstance(given, str | int | float | bool) else ""
    if path[-1:] == ["[key]"]:
        return Problem(path[0], f"the name {_short(given)} is not text.", "put it in quotation marks.")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return Problem(where, f"needs a mapping of keys{shown}.", "write it as {key: value}.")
    if kind == "extra_forbidden":
        allowed = _keys_at(path[:-1], details["loc"]) or keys
        return Problem(where, f"is not a key here. Allowed: {', '.join(allowed)}.", did_you_mean(path[-1], allowed))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        got = given.get("model") if isinstance(given, Mapping) else None
        what = f"'{got}' is not a model." if got is not None else "names no model."
        return Problem(where, f"{what} Allowed: {', '.join(MODEL_NAMES)}.", did_you_mean(str(got), MODEL_NAMES))
    if kind == "literal_error":
        allowed = [word.strip("'\" ") for word in context["expected"].replace(" or ", ", ").split(", ")]
        return Problem(where, f"got {_short(given)}. Allowed: {', '.join(allowed)}.", did_you_mean(str(given), allowed))
    if kind == "missing":
        return Problem(where, "is missing.")
    if kind == "value_error":
        return Problem(where, f"{context['error']}.")
    hint = "put it in quotation marks." if kind == "string_type" and isinstance(given, int | float) else ""
    return Problem(where, f"{details['msg'][0].lower()}{details['msg'][1:]}{shown}.", hint)


def _short(given: object) -> str:
    """Return what was given, as Python writes it; of a long text its beginning is enough."""
    text = repr(given[:_SHOWN]) if isinstance(given, str) else repr(given)[:_SHOWN]
    return f"{text} and so on" if isinstance(given, str) and len(given) > _SHOWN else text


def _keys_at(path: list[str], loc: tuple[Any, ...]) -> list[str]:
    """Return the keys that are allowed where an unknown one was found; none at the top."""
    part: Any = None
    if path[:1] == ["columns"]:
        part = HierarchySpec if path[2:3] == ["hierarchy"] else _transformation_at(path[2:]) or ColumnSpec
    elif path[:1] == ["require"]:
        specs = {get_args(spec.model_fields["model"].annotation)[0]: spec for spec in get_args(RequirementSpec)}
        part = specs.get(str(loc[2]))
    elif path:
        parts = {"suppression": SuppressionSpec, "release": ReleaseSpec, "source": SourceSpec, "sample": SampleSpec}
        part = parts[path[0]]
    return [] if part is None else [field.alias or name for name, field in part.model_fields.items()]


def _transformation_at(path: list[str]) -> Any:
    """Return the class of the keys at a place below a column, if it is in a transformation."""
    if path[:1] != ["transform"] or len(path) < 2:
        return None
    if len(path) == 2:
        return Transformation
    found = Transformation.model_fields.get(path[2])
    return None if found is None else get_args(found.annotation)[0]


def unfit(policy: Policy) -> list[Problem]:
    """Check what holds between the parts of a policy that is well formed in itself."""
    problems = []
    if not policy.quasi:
        problems.append(Problem("columns", "no column has role: quasi.", "mark the columns that an outsider may know."))
    if len(policy.named("subject")) > 1:
        problems.append(Problem("columns", "more than one column has role: subject.", "a record is about one person."))
    distances = {(spec.column, spec.distance) for spec in policy.require if isinstance(spec, TClosenessSpec)}
    problems += [
        Problem(
            "require", f"ordered and hierarchical distance of '{column}' cannot be combined.", "require one of them."
        )
        for column, distance in sorted(distances)
        if distance == "hierarchical" and (column, "ordered") in distances
    ]
    if all(isinstance(spec, UniquenessSpec) for spec in policy.require):
        what = "no method generalizes for a limit of uniqueness alone."
        problems.append(Problem("require", what, "also require another model, such as k-anonymity."))
    for key, names in policy.source.named_columns().items():
        problems += [
            Problem(f"source.{key}", f"'{name}' is not a column of this policy.", did_you_mean(name, policy.columns))
            for name in names
            if name not in policy.columns
        ]
        problems += [
            Problem(f"source.{key}.{name}", "has no effect: a column with role: identifier is not read.", "remove it.")
            for name in names
            if name in policy.columns and policy.columns[name].role == "identifier"
        ]
    for number, spec in enumerate(policy.require):
        problems += _unfit_requirement(f"require.{number}", spec, policy)
    return problems


def _unfit_requirement(where: str, spec: Any, policy: Policy) -> list[Problem]:
    """Check one requirement against the columns of its policy."""
    problems = []
    column = getattr(spec, "column", None)
    if isinstance(spec, KAnonymitySpec):
        if spec.count == "subjects" and policy.subject is None:
            problems.append(Problem(f"{where}.count", "a promise counts subjects, but no column has role: subject."))
        for name in spec.columns or ():
            problems += _wrong_column(f"{where}.columns", name, policy, "quasi")
    elif isinstance(spec, KmAnonymitySpec):
        about = policy.columns.get(spec.column)
        if about is not None and about.role == "sensitive" and about.kind == "items":
            what = f"km-anonymity hides items of quasi-identifiers, and '{column}' has role: sensitive."
            hint = "require l-diversity with variant: frequency, or give the column role: quasi."
            return [Problem(f"{where}.column", what, hint)]
        problems += _wrong_column(f"{where}.column", spec.column, policy, "quasi")
        if column in policy.columns and policy.columns[spec.column].kind != "items":
            problems.append(Problem(f"{where}.column", f"'{column}' is not of kind: items."))
    elif isinstance(spec, UniquenessSpec):
        for name in [] if spec.columns == "released" else spec.columns:
            problems += _wrong_column(f"{where}.columns", name, policy, "quasi", "insensitive", "sensitive")
    elif isinstance(spec, AlphaGammaSpec):
        problems += _wrong_column(f"{where}.column", spec.column, policy, "sensitive", "quasi")
    elif column is not None:
        problems += _wrong_column(f"{where}.column", column, policy, "sensitive")
        hierarchical = isinstance(spec, TClosenessSpec) and spec.distance == "hierarchical"
        if hierarchical and column in policy.columns and policy.columns[column].hierarchy is None:
            problems.append(Problem(f"{where}.distance", f"hierarchical distance needs a hierarchy of '{column}'."))
        if hierarchical and column in policy.columns:
            found = policy.columns[column].hierarchy
            if found is not None and found.auto:
                what = "hierarchy: auto is made from the original values, so the audit cannot prove a distance in it."
                hint = f"write it to a file first: sudare hierarchy make DATA --column {column} --auto --out FILE."
                problems.append(Problem(f"columns.{column}.hierarchy", what, hint))
    return problems + _unfit_for_sets(where, spec, policy)


def _unfit_for_sets(where: str, spec: Any, policy: Policy) -> list[Problem]:
    """Check that promises about item sets and about single values each have a column of their kind."""
    column = getattr(spec, "column", None)
    about = policy.columns.get(column or "")
    if about is None or isinstance(spec, KmAnonymitySpec):
        return []
    by_item = isinstance(spec, LDiversitySpec) and spec.variant == "frequency"
    if by_item and about.kind != "items":
        what = f"frequency is for item sets, and '{column}' is not of kind: items."
        hint = "set kind: items; for single values alpha-k-anonymity limits shares."
        return [Problem(f"{where}.variant", what, hint)]
    if by_item and policy.counts_subjects:
        what = "frequency counts records, but another promise counts subjects."
        hint = "make one record of all records of a person, with the items of all of them, and count rows."
        return [Problem(f"{where}.variant", what, hint)]
    if about.kind != "items" or by_item or about.role == "quasi":
        return []
    if isinstance(spec, LDiversitySpec):
        what = f"{spec.variant} is for single values, and '{column}' holds item sets."
        return [Problem(f"{where}.variant", what, "set variant: frequency, which limits the share of each item.")]
    what = f"{spec.model} is about single values, and '{column}' holds item sets."
    return [Problem(f"{where}.column", what, "require l-diversity with variant: frequency.")]


def _wrong_column(where: str, name: str, policy: Policy, *roles: Role) -> list[Problem]:
    if name not in policy.columns:
        return [Problem(where, f"'{name}' is not a column of this policy.", did_you_mean(name, policy.columns))]
    if policy.columns[name].role not in roles:
        what = f"'{name}' has role: {policy.columns[name].role}; this needs role: {' or '.join(roles)}."
        return [Problem(where, what)]
    return []


def roughly_unfit(data: Mapping[str, Any]) -> list[Problem]:
    """Find unknown column names even if other parts are broken, so that one message reports all problems."""
    columns, require = data.get("columns"), data.get("require")
    if not isinstance(columns, Mapping) or not isinstance(require, list):
        return []
    known, problems = [str(name) for name in columns], []
    for number, spec in enumerate(require):
        if not isinstance(spec, Mapping):
            continue
        several = spec.get("columns")
        for name in [spec.get("column"), *(several if isinstance(several, list) else [])]:
            if isinstance(name, str) and name not in known:
                what = f"'{name}' is not a column of this policy."
                problems.append(Problem(f"require.{number}.column", what, did_you_mean(name, known)))
    return problems


def method_problems(data: Mapping[str, Any], methods: Mapping[str, Any] | None) -> list[Problem]:
    """Check the name of the method, its options and what else it needs in a policy, against the registry."""
    method, require, columns = data.get("method"), data.get("require"), data.get("columns")
    if methods is None or not isinstance(method, Mapping):
        return []
    name = method.get("name", "top-down")
    if not isinstance(name, str) or name not in methods:
        what = f"'{name}' is not a method. Allowed: {', '.join(methods)}."
        return [Problem("method.name", what, did_you_mean(str(name), methods))]
    options = methods[name].options
    what = f"is not an option of {name}. Allowed: {', '.join(options) or 'none'}."
    unknown = [key for key in method if key != "name" and key not in options]
    problems = [Problem(f"method.{key}", what, did_you_mean(str(key), options)) for key in unknown]
    asked = [spec.get("model") for spec in require if isinstance(spec, Mapping)] if isinstance(require, list) else []
    specs = columns.items() if isinstance(columns, Mapping) else ()
    roles = {str(column): spec.get("role") for column, spec in specs if isinstance(spec, Mapping)}
    problems += list(methods[name].problems(method)) + list(methods[name].lacking(method, asked, roles))
    kinds = {str(column): spec.get("kind") for column, spec in specs if isinstance(spec, Mapping)}
    sets = [column for column, role in roles.items() if role == "sensitive" and kinds[column] == "items"]
    return problems + list(methods[name].problems_of_sets(method, sets))
