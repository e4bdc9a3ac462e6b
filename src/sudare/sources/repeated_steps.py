"""Transformations that are done to the data again, so that it can be compared with a release of it.

What becomes of a cell by its value alone (limits, grids, periods, bands, masks, lists) is done again. A pseudonym, and
a date that moves, also need the key. What is drawn at random cannot be repeated: these steps are left out, and the
column says how it may be compared all the same:

=============  ====================================================================================================
``REPEATED``   the data now has the cells of the release
``PERMUTED``   swapped or shuffled: the release has the values of the data, in other records
``CHANGED``    noise, random rounding, or dates whose offsets nobody knows: only distributions can be compared
``UNKNOWN``    nothing can be compared: the key is not here, or later steps need what was drawn
=============  ====================================================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sudare.core.errors import SudareError
from sudare.policy import (
    BottomSpec,
    ColumnSpec,
    KeySpec,
    Policy,
    RoundSpec,
    ShiftSpec,
    TopSpec,
    Transformation,
)
from sudare.transformations.secret_keys import load_key

Way = Literal["repeated", "permuted", "changed", "unknown"]
REPEATED: Way = "repeated"
PERMUTED: Way = "permuted"
CHANGED: Way = "changed"
UNKNOWN: Way = "unknown"
_AFTER_DRAWN = ("top", "bottom", "round", "band", "truncate", "mask", "redact")
"""Steps that take whatever a step before them draws: without that step, they take what is there."""


@dataclass(frozen=True)
class RepeatedSteps:
    """What is done to the data again: a ``policy`` with these steps alone, and how each column may be compared.

    ``notes`` say which keys were not here.
    """

    policy: Policy
    ways: Mapping[str, Way]
    notes: tuple[str, ...] = ()
    sampled: bool = False

    def named(self, *ways: Way) -> list[str]:
        """Return the transformed columns that may be compared in one of some ways."""
        return [name for name, way in self.ways.items() if way in ways]


def repeated_steps(
    policy: Policy, entries: Sequence[Mapping[str, Any]] = (), unshifted: Collection[str] = ()
) -> RepeatedSteps:
    """Return what can be done to the data again; ``entries`` is what the certificate says of the transformations.

    Its limits were found when the release was made, and its fingerprints say whether a key is still the same. Dates of
    ``unshifted`` columns stay as they are: an outsider does not have the key, and knows the true ones.
    """
    told = _by_step(entries)
    ways: dict[str, Way] = {}
    notes: list[str] = []
    columns = dict(policy.columns)
    for name, steps in policy.transformed.items():
        spec = policy.columns[name]
        if spec.role == "identifier":
            continue
        if spec.role == "subject":  # pseudonyms number people as the values do
            columns[name] = spec.model_copy(update={"transform": None})
            continue
        kept, ways[name] = _kept(policy, name, steps, told, notes, shifts=name not in unshifted)
        columns[name] = spec.model_copy(update={"transform": kept or None})
    again = policy.model_copy(update={"columns": columns, "sample": None})
    return RepeatedSteps(again, ways, tuple(dict.fromkeys(notes)), policy.sample is not None)


def untransformed(policy: Policy) -> Policy:
    """Return the policy for the table as it is, before any step.

    What a policy says of the values of a transformed column, such as its hierarchy, is about those afterwards.
    """
    changed = {
        name: ColumnSpec(role=spec.role, kind="items" if spec.kind == "items" else None, separator=spec.separator)
        for name, spec in policy.columns.items()
        if spec.transform
    }
    required = [each for each in policy.require if getattr(each, "column", None) not in changed]
    return policy.model_copy(update={"columns": {**policy.columns, **changed}, "require": required, "sample": None})


def _by_step(entries: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Return what a certificate says, by the column and the number of the step."""
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    seen: dict[str, int] = {}
    for entry in entries:
        name = str(entry.get("column"))
        number = seen.get(name, 0)
        found[name, number], seen[name] = entry, number + 1
    return found


def _kept(
    policy: Policy,
    name: str,
    steps: Sequence[Transformation],
    told: Mapping[tuple[str, int], Mapping[str, Any]],
    notes: list[str],
    *,
    shifts: bool,
) -> tuple[list[Transformation], Way]:
    """Return the steps of a column that can be repeated, and how it may then be compared."""
    kept: list[Transformation] = []
    way: Way = REPEATED
    for number, step in enumerate(steps):
        entry = told.get((name, number), {})
        spec = step.step
        if way == CHANGED and step.name not in _AFTER_DRAWN:
            return kept, UNKNOWN
        if step.name in ("swap", "shuffle"):
            way = CHANGED if way == CHANGED else PERMUTED
        elif step.name == "noise" or (isinstance(spec, RoundSpec) and spec.how == "random"):
            way = CHANGED
        elif isinstance(spec, ShiftSpec):
            # dates that came from other records have moved with these
            own = shifts and way == REPEATED
            known = own and spec.key is not None and _has_key(policy, name, spec.key, entry, notes)
            way = REPEATED if known else CHANGED
            kept += [step] if known else []
        elif step.name == "pseudonym":
            if not _has_key(policy, name, spec.key, entry, notes):  # type: ignore[union-attr]
                return kept, UNKNOWN
            kept.append(step)
        else:
            kept.append(_with_limit(step, entry))
    return kept, way


def _has_key(policy: Policy, name: str, key: KeySpec, entry: Mapping[str, Any], notes: list[str]) -> bool:
    """Return whether the key of a step is here, and is the one that made the release; note if it is not."""
    try:
        found = load_key(key, policy.key_folder, f"columns.{name}")
    except SudareError:
        notes.append(f"the key of '{name}' is not here, so what depends on it is not compared with the data.")
        return False
    made_by = entry.get("key")
    if made_by is not None and made_by != found.fingerprint:
        what = f"the key of '{name}' is another one now ({found.fingerprint}) than when the release was made"
        notes.append(f"{what} ({made_by}), so what depends on it is not compared with the data.")
        return False
    return True


def _with_limit(step: Transformation, entry: Mapping[str, Any]) -> Transformation:
    """Return a step with the limit that was found by a share, as the certificate says."""
    spec = step.step
    figures = entry.get("figures")
    limit = figures.get("limit") if isinstance(figures, Mapping) else None
    if not isinstance(spec, TopSpec | BottomSpec) or spec.share is None or not isinstance(limit, int | float):
        return step
    found = spec.model_copy(update={"share": None, "at": float(limit)})
    return step.model_copy(update={step.name: found})
