"""Checks before a release is made: the method, the columns that it uses, and the target."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.core.errors import PolicyError, Problem, TargetError, UnsupportedError
from sudare.core.operating_system import name_problems
from sudare.engines import Place
from sudare.methods import METHODS, Method
from sudare.policy import PkAnonymitySpec, Policy, UniquenessSpec
from sudare.releases import (
    certificate_path,
    check_columns,
    check_folder,
    check_target,
    is_text,
    second_table,
    text_layout,
)
from sudare.releases.release_formats import with_tabs


@dataclass(frozen=True)
class PolicyView:
    """A policy as a method reads it: ``also`` are columns that it uses although no promise is about them."""

    policy: Policy
    also: frozenset[str] = frozenset()


def load_policy(policy: Policy | Mapping[str, Any] | str | Path, *, allow_outside: bool | None = None) -> Policy:
    """Read and check a policy. Everything that is wrong with it is reported at once.

    Args:
        policy: a path, a mapping, or a policy.
        allow_outside: whether hierarchies may be outside of the folder of the policy's file. By default they may not.
            A mapping may name any file, unless this is False: then only files in the working folder.
    """
    if isinstance(policy, str | Path):
        return Policy.load(policy, allow_outside=bool(allow_outside), methods=METHODS)
    checked = Policy.parse(policy, methods=METHODS)
    return checked.inside() if allow_outside is False else checked


def view_of(method: Method, options: Mapping[str, Any], policy: Policy) -> PolicyView:
    """Return the policy as a method reads it; raise if the policy releases a column that the method cannot hide.

    Unchanged quasi-identifiers are not encoded. For random draws, the drawn columns and those that the draws depend on
    are encoded.
    """
    if not method.leaves_quasi:
        return PolicyView(policy)
    if not method.perturbs:
        check_hidden(policy, method)
        return PolicyView(policy.carrying_quasi())
    if policy.release.order == "keep" and any(isinstance(spec, PkAnonymitySpec) for spec in policy.require):
        what = "keep reveals which record belongs to whom; pk-anonymity requires rows in random order."
        raise PolicyError(Problem("release.order", what, "remove it: rows are then shuffled."))
    strata = options.get("strata") or ()
    drawn = {name for name in (*policy.quasi, *policy.sensitive) if name not in strata}
    sets = [name for name in drawn if policy.columns[name].kind == "items"]
    if sets:
        what = f"{method.name} draws single values; '{sorted(sets)[0]}' holds item sets."
        raise UnsupportedError(what, hint="remove the column, or use top-down.")
    named = {name for combination in options.get("never") or () for name in combination}
    return PolicyView(policy.carrying_quasi(drawn), frozenset(drawn | set(strata) | named))


def check_classes(policy: Policy) -> None:
    """Raise if a policy asks for what no classes of records keep."""
    roles = {name: spec.role for name, spec in policy.columns.items()}
    lacking = METHODS["full-domain"].lacking({}, [spec.model for spec in policy.require], roles)
    if lacking:
        raise PolicyError(lacking)


def chosen_method(policy: Policy, override: str | None) -> tuple[Method, dict[str, Any]]:
    """Return the method that makes the release, and its options: the policy's, or another without any."""
    if override is None or override == policy.method.name:
        return METHODS[policy.method.name], policy.method.options
    if override not in METHODS:
        raise UnsupportedError(f"'{override}' is not a method.", hint=f"use one of {', '.join(METHODS)}.")
    roles = {name: spec.role for name, spec in policy.columns.items()}
    lacking = METHODS[override].lacking({}, [spec.model for spec in policy.require], roles)
    lacking += METHODS[override].problems_of_sets({}, policy.sensitive_sets)
    if lacking:
        raise PolicyError(lacking)
    return METHODS[override], {}


def check_hidden(policy: Policy, method: Method) -> None:
    """Raise if a sensitive column would be released unchanged beside unchanged quasi-identifiers."""
    held = {getattr(spec, "column", None) for spec in policy.require}
    what = f"is sensitive, but no promise is about it; {method.name} would show it unchanged."
    hint = "require l-diversity of it, or give it the role identifier."
    problems = [Problem(f"columns.{name}", what, hint) for name in policy.sensitive if name not in held]
    if method.second_table:
        taken = f"is the name of a column that {method.name} adds to a release."
        problems += [
            Problem(f"columns.{name}", taken, "rename it.") for name in ("group", "count") if name in policy.columns
        ]
        apart = "is in the second table, not in the release; uniqueness counts only the release."
        problems += [
            Problem(f"columns.{name}", apart, "name other columns in the limit of uniqueness.")
            for spec in policy.require
            if isinstance(spec, UniquenessSpec) and spec.columns != "released"
            for name in spec.columns
            if policy.columns[name].role == "sensitive"
        ]
    if problems:
        raise PolicyError(problems)


def check_layout(target: Any, policy: Policy) -> None:
    """Raise if a policy says how a text file is laid out, and there is none, or one that cannot be laid out so."""
    given = policy.release.layout_keys
    if isinstance(target, Path) and is_text(target):
        if with_tabs(target) and policy.release.delimiter not in (None, "\t"):
            what = "contradicts the name of the release: a .tsv file has tabs between its fields."
            raise PolicyError(Problem("release.delimiter", what, "name the release .csv, or remove the key."))
        return
    if given:
        what = "has no effect: only text files (.csv, .tsv) are laid out by it, and the release is none."
        hint = "remove it, or name the release .csv."
        if isinstance(target, Path) and target.suffix.lower() == ".xlsx":
            hint = "remove it: Excel opens .xlsx rightly in every country."
        raise PolicyError([Problem(f"release.{key}", what, hint) for key in given])


def is_new_file(place: Place) -> bool:
    """Return whether a table goes to a database file that is not there yet; raise if it cannot be made."""
    if place.engine != "duckdb" or Path(place.address).exists():
        return False
    check_folder(Path(place.address).parent)
    return True


def check_out(target: Path, data: Any, policy: Any, checked: Policy) -> None:
    """Raise if a release cannot be written to its target, or would overwrite its source or policy."""
    check_target(target)
    keep = checked.release.formulas == "keep"
    check_columns(target, checked.released, keep_formulas=keep, layout=text_layout(target, checked))
    given_trees = [spec.hierarchy.file for spec in checked.columns.values() if spec.hierarchy is not None]
    trees = [checked.folder / file for file in given_trees if file is not None]
    for path in (target, certificate_path(target), second_table(target)):
        for given in (data, policy, *trees):
            if isinstance(given, str | Path) and path.exists() and Path(given).exists() and path.samefile(given):
                what = "is the source itself." if given is data else "is part of the policy."
                raise TargetError(Problem(str(path), what, "choose another name for the release."))


def made_from_values(policy: Policy) -> list[str]:
    """Return the quasi-identifiers whose levels are made from their values; there is no plan with them."""
    specs = {name: policy.columns[name].hierarchy for name in policy.quasi}
    return [name for name, spec in specs.items() if spec is not None and spec.auto]


def check_plan(policy: Policy | Mapping[str, Any] | str | Path, method: str | None, path: Path) -> None:
    """Raise if the method makes no plan, or if it cannot be saved there."""
    entry, _ = chosen_method(load_policy(policy), method)
    if not entry.recodes_globally:
        able = ", ".join(name for name, other in METHODS.items() if other.recodes_globally)
        what = f"{entry.name} decides for each class separately, so there is no plan to save."
        raise UnsupportedError(what, hint=f"these methods recode a column the same way everywhere: {able}.")
    if names := made_from_values(load_policy(policy)):
        what = f"hierarchy: auto of '{names[0]}' is made from these records, and a plan holds nothing of them."
        hint = f"write it to a file and name this: sudare hierarchy make DATA --column {names[0]} --auto --out FILE."
        raise UnsupportedError(what, hint=hint)
    check_folder(path.parent)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a name is too long
        raise TargetError(Problem(str(path), "is a folder.", "name a file."))
    if problems := name_problems(path):
        raise TargetError(problems)
