"""Keys of a policy without effect. Each is an error, because its author expects an effect.

``COLUMN_KEYS``, ``HIERARCHY_KEYS`` and ``PART_KEYS`` list the conditions under which a key has an effect, each with the
message if it does not hold. The registry of methods says which keys a method uses, and holds the conditions of its
options. A default value passes everywhere.

The rules read the policy as it was written, and skip malformed parts. So these problems are reported together with all
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, get_args

from sudare.core.errors import Problem
from sudare.policy.part import Part
from sudare.policy.transformation_spec import listed
from sudare.policy.vocabulary import (
    BAND_WIDTHS,
    ColumnSpec,
    HierarchySpec,
    ReleaseSpec,
    Role,
    SuppressionSpec,
    long_form,
)

NESTED = (".yaml", ".yml", ".json")
"""How the names of hierarchy files end that are nested trees; all others are CSV."""


@dataclass(frozen=True)
class Setting:
    """A policy as it was written, as far as it is well formed; ``method`` is the entry of the registry, if known."""

    columns: Mapping[str, Mapping[str, Any]]
    require: Sequence[Mapping[str, Any]]
    method: Any
    options: Mapping[str, Any]
    suppression: Mapping[str, Any]
    release: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any], methods: Mapping[str, Any] | None) -> Setting:
        """Return the setting of a policy, with the entry of its method."""
        columns, require = _mapping(data.get("columns")), data.get("require")
        method = _mapping(data.get("method"))
        name = method.get("name", "top-down")
        return cls(
            {name: _mapping(spec) for name, spec in columns.items() if isinstance(name, str)},
            [spec for spec in require if isinstance(spec, Mapping)] if isinstance(require, list) else [],
            (methods or {}).get(name) if isinstance(name, str) else None,
            {key: value for key, value in method.items() if key != "name"},
            _mapping(data.get("suppression")),
            _mapping(data.get("release")),
        )

    def heeds(self, what: str) -> bool:
        """Return whether the method uses something; an unknown method uses everything."""
        return self.method is None or bool(what in self.method.heeds)

    def reads(self, name: str) -> bool:
        """Return whether a promise or an option of the method is about a column that is not a quasi-identifier."""
        asked = any(spec.get("column") == name for spec in self.require)
        perturbed = self.method is not None and self.method.perturbs
        sensitive = self.columns[name].get("role") == "sensitive"
        return asked or bool(perturbed and sensitive) or name in _named(self.options)

    def measured(self, name: str, distance: str) -> bool:
        """Return whether t-closeness measures the values of a column by a distance."""
        return any(
            spec.get("model") == "t-closeness" and spec.get("column") == name and spec.get("distance") == distance
            for spec in self.require
        )

    def counts_values(self, spec: Mapping[str, Any]) -> bool:
        """Return whether ``sudare calibrate`` can learn the number of values of a column without data."""
        listed = spec.get("order") is not None or bool({"file", "tree"} & set(hierarchy_of(spec)))
        return self.method is not None and bool(self.method.perturbs) and listed

    def free(self) -> list[str]:
        """Return the item sets that no promise but k^m-anonymity concerns, and that take no part in the classes."""
        limited = [spec.get("column") for spec in self.require if spec.get("model") == "km-anonymity"]
        others = [spec for spec in self.require if spec.get("model") not in ("km-anonymity", "uniqueness")]
        return [
            name
            for name, spec in self.columns.items()
            if spec.get("kind") == "items"
            and name in limited
            and all(
                other.get("model") == "k-anonymity"
                and other.get("count") != "subjects"
                and isinstance(other.get("columns"), list)
                and name not in other["columns"]
                for other in others
            )
        ]

    @property
    def counts_subjects(self) -> bool:
        """Whether a promise counts people."""
        return any(spec.get("model") == "k-anonymity" and spec.get("count") == "subjects" for spec in self.require)

    @property
    def lists_rare(self) -> bool:
        """Whether sets list rare categories only where the policy declares them."""
        makes_sets = self.method is None or not self.method.leaves_quasi
        return makes_sets and self.release.get("ranges") != "tight"

    @property
    def generalizes(self) -> bool:
        """Return whether some quasi-identifier may show ranges or sets: none does where all of them are aggregated."""
        if self.method is None or not self.method.aggregates:
            return True
        named = self.options.get("columns")
        quasi = {name: spec for name, spec in self.columns.items() if spec.get("role") == "quasi"}
        if isinstance(named, list | tuple):
            return not set(quasi) <= {name for name in named if isinstance(name, str)}
        return any(
            bool(hierarchy_of(spec)) or (spec.get("kind") != "numeric" and spec.get("order") is None)
            for spec in quasi.values()
        )

    @property
    def limited(self) -> bool:
        """Whether records may be suppressed at all."""
        return bool(self.suppression.get("limit", 0.0) != 0)

    @property
    def knows_leaves(self) -> bool:
        """Whether some quasi-identifier has a hierarchy that lists its values, or knows which codes there are."""
        given = [hierarchy_of(spec) for spec in self.columns.values() if spec.get("role") == "quasi"]
        return any("file" in hierarchy or "tree" in hierarchy or _of_codes(hierarchy) for hierarchy in given)


@dataclass(frozen=True)
class Condition:
    """A condition for the effect of a key: ``holds`` takes the setting, the column's name, and its keys."""

    holds: Callable[[Setting, str, Mapping[str, Any]], bool]
    why: str
    hint: str = "remove it."


def _heeded(what: str, why: str, hint: str) -> Condition:
    return Condition(lambda setting, _, __: setting.heeds(what), why, hint)


_READ = Condition(
    lambda setting, name, _: setting.reads(name),
    "no promise is about this column, so it is released unchanged",
    "remove it, or require something of the column.",
)
_SINGLE = Condition(
    lambda _, __, spec: spec.get("kind") != "items",
    "a set that is {role} is released unchanged",
    "remove kind, or give the column role: quasi or sensitive.",
)
_KIND_HEEDED = _heeded("kind", "{method} keeps quasi-identifiers unchanged", "remove it, or use another method.")
_UNORDERED = Condition(
    lambda _, __, spec: spec.get("kind") != "numeric" or spec.get("order") is None,
    "order makes the column categorical",
    "remove one of the two.",
)
_NO_PREFIX = Condition(
    lambda _, __, spec: spec.get("kind") != "numeric" or "prefix" not in hierarchy_of(spec),
    "a prefix is text, so the column is categorical",
    "remove it, or use bands.",
)
_NO_CODES = Condition(
    lambda _, __, spec: spec.get("kind") != "numeric" or not _of_codes(hierarchy_of(spec)),
    "codes are text, so the column is categorical",
)
_NOT_STRATUM = Condition(
    lambda setting, name, _: name not in _listed(setting.options.get("strata")),
    "a stratum is released unchanged",
)

COLUMN_KEYS: Mapping[str, Mapping[str, tuple[Condition, ...]]] = {
    "kind": {
        "quasi": (_KIND_HEEDED, _UNORDERED, _NO_PREFIX, _NO_CODES, _NOT_STRATUM),
        "sensitive": (_READ, _UNORDERED),
        "insensitive": (_SINGLE, _READ),
    },
    "hierarchy": {
        "quasi": (
            Condition(
                lambda setting, _, spec: setting.heeds("hierarchy") or setting.counts_values(spec),
                "{method} does not generalize",
                "remove it, or use a method that generalizes, such as top-down.",
            ),
        ),
        "sensitive": (
            Condition(
                lambda setting, name, spec: setting.measured(name, "hierarchical") or setting.counts_values(spec),
                "sensitive values are not generalized, and no t-closeness with distance: hierarchical is about them",
                "remove it, or give the column role: quasi.",
            ),
        ),
    },
    "separator": {
        "quasi": (
            _KIND_HEEDED,
            Condition(lambda _, __, spec: spec.get("kind") == "items", "a separator belongs to kind: items"),
        ),
        "sensitive": (
            Condition(
                lambda setting, _, spec: spec.get("kind") == "items" or setting.heeds("sets"),
                "{method} shows single values",
                "remove it, or set kind: items; only dummies shows sets of sensitive values.",
            ),
            Condition(
                lambda setting, name, _: setting.reads(name),
                "no promise is about this column, so it shows no sets",
            ),
        ),
    },
    "order": {
        "quasi": (
            Condition(
                lambda setting, _, spec: setting.heeds("order") or setting.lists_rare or setting.counts_values(spec),
                "{method} does not use it, and sets list rare values anyway",
                "remove it; mondrian cuts categories in their order, and l-clustering shows intervals of them.",
            ),
            Condition(lambda _, __, spec: not hierarchy_of(spec), "the hierarchy decides which values are near"),
        ),
        "sensitive": (
            Condition(
                lambda setting, name, spec: setting.measured(name, "ordered") or setting.counts_values(spec),
                "no t-closeness with distance: ordered is about this column",
                "remove it, or require that distance.",
            ),
        ),
    },
    "weight": {
        "quasi": (
            _heeded("weight", "{method} does not weigh columns", "remove it, or use another method."),
            Condition(
                lambda setting, _, __: setting.options.get("loss") not in ("discernibility", "class-size"),
                "this loss has no parts by column",
                "remove it, or use another loss.",
            ),
            Condition(
                lambda setting, name, _: name not in setting.free(),
                "the set takes no part in the classes, and is recoded by itself",
            ),
            Condition(
                lambda setting, _, spec: spec.get("weight") == 0 or not _as_published(setting.options),
                "variant: reference weighs columns by their domains",
                "remove it, or set weights: 1.",
            ),
        ),
    },
    # on other roles it is malformed, and said to be so there
    "exact": {"sensitive": (_READ,), "quasi": (), "insensitive": (), "subject": (), "identifier": ()},
}
"""For each key of a column, the roles that it has an effect on, and what has to hold there."""

_ROLES: Mapping[str, tuple[str, str]] = {
    "identifier": ("an identifier is not even read", "remove it."),
    "subject": ("a subject is released as a pseudonym or not at all", "remove it."),
    "quasi": ("the column is a quasi-identifier", "remove it."),
    "sensitive": ("a sensitive column is not generalized", "remove it, or give the column role: quasi."),
    "insensitive": (
        "an insensitive column is released unchanged, with exact values",
        "remove it, or give the column role: quasi.",
    ),
}
"""Why a key has no effect on a role at all, and what to do."""

HIERARCHY_KEYS: Mapping[str, tuple[Condition, ...]] = {
    "delimiter": (
        Condition(lambda _, __, hierarchy: _is_csv(hierarchy.get("file")), "only a CSV file has one", "remove it."),
    ),
    "origin": (Condition(lambda _, __, hierarchy: "bands" in hierarchy, "only bands have an origin"),),
}
"""For each key of a hierarchy that is not its source, what has to hold there."""

_SUPPRESSES = _heeded("suppression", "{method} suppresses no records", "remove it, or use top-down or full-domain.")
_LIMITED = Condition(
    lambda setting, _, __: setting.limited, "no records may be suppressed", "give suppression a limit above 0."
)

PART_KEYS: Mapping[tuple[str, str], tuple[Condition, ...]] = {
    ("suppression", "limit"): (_SUPPRESSES,),
    ("suppression", "records"): (_SUPPRESSES, _LIMITED),
    ("suppression", "unseen"): (
        Condition(
            lambda setting, _, __: setting.method is None or setting.method.recodes_globally,
            "{method} makes no plan, and only a plan can meet unknown values",
            "remove it, or use full-domain.",
        ),
        _LIMITED,
        Condition(
            lambda setting, _, __: setting.knows_leaves,
            "no quasi-identifier has a hierarchy from a file or a tree, or of built-in codes; others take any value",
        ),
    ),
    ("release", "ranges"): (
        Condition(
            lambda setting, _, __: setting.method is None or not setting.method.leaves_quasi,
            "{method} makes neither ranges nor sets of quasi-identifiers",
        ),
        Condition(lambda setting, _, __: setting.generalizes, "all quasi-identifiers are aggregated"),
    ),
    ("release", "subjects"): (
        Condition(
            lambda setting, _, __: setting.counts_subjects,
            "no promise counts subjects, so the release has no subject column",
            "remove it, or set count: subjects in k-anonymity.",
        ),
    ),
}
"""For each key of another part of a policy that may be without effect, what has to hold."""


def idle(data: Mapping[str, Any], methods: Mapping[str, Any] | None) -> list[Problem]:
    """Return the keys of a policy that have no effect where they stand, each with the reason and what to do."""
    setting = Setting.of(data, methods)
    problems = [problem for name, spec in setting.columns.items() for problem in _idle_in_column(setting, name, spec)]
    parts: Mapping[str, type[Part]] = {"suppression": SuppressionSpec, "release": ReleaseSpec}
    for (part, key), conditions in PART_KEYS.items():
        keys = _mapping(data.get(part))
        if _given(keys, key, parts[part]):
            problems += _failing(setting, f"{part}.{key}", "", keys, conditions)
    if setting.method is not None:
        problems += setting.method.idle(setting.options, setting.columns, setting.require, setting.free())
    return problems


def _idle_in_column(setting: Setting, name: str, spec: Mapping[str, Any]) -> Iterator[Problem]:
    role = spec.get("role")
    if not isinstance(role, str) or role not in get_args(Role):
        return
    for key, roles in COLUMN_KEYS.items():
        if not _given(spec, key, ColumnSpec) or _for_transformation(spec, key):
            continue
        where = f"columns.{name}.{key}"
        if role not in roles:
            why, hint = _ROLES[role]
            yield Problem(where, f"has no effect: {why}.", hint)
        else:
            yield from _failing(setting, where, name, spec, roles[role])
    hierarchy = hierarchy_of(spec)
    for key, conditions in HIERARCHY_KEYS.items():
        if _given(hierarchy, key, HierarchySpec):
            yield from _failing(setting, f"columns.{name}.hierarchy.{key}", name, hierarchy, conditions)


def _for_transformation(spec: Mapping[str, Any], key: str) -> bool:
    """Return whether a transformation uses a key of its column: swap ranks by order, and items are told apart."""
    steps = [each for each in _listed(listed(spec.get("transform"))) if each is not None]
    if key == "order":
        return any("swap" in step for step in steps if isinstance(step, Mapping))
    return bool(steps) and spec.get("kind") == "items" and key in ("kind", "separator")


def _failing(
    setting: Setting, where: str, name: str, keys: Mapping[str, Any], conditions: Sequence[Condition]
) -> Iterator[Problem]:
    """Yield the first condition that does not hold, as a problem."""
    for condition in conditions:
        if not condition.holds(setting, name, keys):
            method = getattr(setting.method, "name", "the method")
            why = condition.why.format(role=keys.get("role"), method=method)
            yield Problem(where, f"has no effect: {why}.", condition.hint)
            return


def _given(keys: Mapping[str, Any], key: str, part: type[Part]) -> bool:
    """Return whether a key is there with another value than it has without being there."""
    return keys.get(key) is not None and keys[key] != part.model_fields[key].default


def hierarchy_of(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the hierarchy of a column as a mapping of the keys that are given."""
    given = spec.get("hierarchy")
    if isinstance(given, str):
        return long_form(given)
    return {key: value for key, value in _mapping(given).items() if value is not None}


def _as_published(options: Mapping[str, Any]) -> bool:
    return options.get("variant") == "reference" and options.get("weights", "domain") == "domain"


def _of_codes(hierarchy: Mapping[str, Any]) -> bool:
    builtin = hierarchy.get("builtin")
    return isinstance(builtin, str) and builtin not in BAND_WIDTHS


def _is_csv(file: object) -> bool:
    return isinstance(file, str) and PurePath(file).suffix.lower() not in NESTED


def _named(options: Mapping[str, Any]) -> set[str]:
    """Return the columns that a method uses because an option names them."""
    never = [name for part in _listed(options.get("never")) for name in _mapping(part)]
    return {name for name in [options.get("target"), *_listed(options.get("strata")), *never] if isinstance(name, str)}


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
