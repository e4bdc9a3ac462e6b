"""What a certificate says of transformations: one entry for each step of each column, and one for the sample.

Column, transformation and parameters follow from the policy, and so does whether the cells prove a step: these are
verified. The fingerprint of a key, figures, and what is said in words are claimed. Nothing may look like a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sudare.audits.json_agreement import differences, is_finite, is_number, plain
from sudare.audits.transformation_forms import decimal_of
from sudare.core.errors import Problem
from sudare.policy import Policy, PseudonymSpec, ShiftSpec, Transformation

KEY = "transformations"
"""The key of a certificate."""
COLUMN, NAME, PARAMETERS, FINGERPRINT = "column", "transformation", "parameters", "key"
PROVEN, GUARANTEES, DOES_NOT, FIGURES = "proven", "guarantees", "does_not", "figures"
ENTRY = (COLUMN, NAME, PARAMETERS, FINGERPRINT, PROVEN, GUARANTEES, DOES_NOT, FIGURES)
"""The keys of an entry; it has all of them, and no other."""
LIMIT = "limit"
"""The figure of top and bottom coding by a share: the limit that was found."""
SAMPLE = "sample"
"""The last entry, if records were sampled; it is of no column."""
_FINGERPRINT = re.compile(r"[0-9a-f]{8}")
_LIKE_A_KEY = re.compile(r"[0-9A-Fa-f]{32,}|[A-Za-z0-9+/=_-]{40,}")
_LONGEST = 2_000


def limits_of(told: Any, column: str, steps: Sequence[Transformation]) -> dict[int, Decimal]:
    """Return the limits that entries state for the steps of a column which have only a share."""
    mine = [each for each in told if isinstance(each, Mapping) and each.get(COLUMN) == column] if _listed(told) else []
    found = {}
    for number, (step, entry) in enumerate(zip(steps, mine, strict=False)):
        figures = entry.get(FIGURES)
        limit = figures.get(LIMIT) if isinstance(figures, Mapping) and entry.get(NAME) == step.name else None
        if getattr(step.step, "share", None) is not None and is_number(limit):
            found[number] = decimal_of(limit)
    return found


def entry_problems(told: Any, policy: Policy, proven: Mapping[str, Sequence[bool]], *, other: bool) -> list[Problem]:
    """Return what is wrong with the entries of a certificate; of another policy only their form is looked at.

    ``proven`` says, for each transformed column, which steps its cells prove.
    """
    if not _listed(told) or not all(_is_entry(each) for each in told):
        return [Problem(f"certificate.{KEY}", "is not a list of transformations, each with all of its keys.")]
    problems = [found for number, entry in enumerate(told) for found in _unsound(f"certificate.{KEY}.{number}", entry)]
    if other:
        return problems
    expected = list(_expected(policy))
    if len(told) != len(expected):
        what = f"has {len(told)} entries; the policy has {len(expected)} transformations."
        return [*problems, Problem(f"certificate.{KEY}", what, "audit with the policy of this release.")]
    by_place: dict[str, str] = {}
    for number, (entry, (column, step, parameters)) in enumerate(zip(told, expected, strict=True)):
        where = f"certificate.{KEY}.{number}"
        name = SAMPLE if step is None else step.name
        if entry[COLUMN] != column or entry[NAME] != name:
            whose = "of the sample" if step is None else f"{name} of column '{column}'"
            problems.append(Problem(where, f"is not about {whose}, which the policy has here."))
            continue
        problems += _otherwise(entry[PARAMETERS], parameters, f"{where}.{PARAMETERS}")
        problems += _fingerprint(where, entry[FINGERPRINT], step, by_place)
    return problems + _overclaimed(told, proven)


def claimed_keys(told: Any) -> list[str]:
    """Return what of the entries is only claimed."""
    if not _listed(told) or not told or not all(_is_entry(each) for each in told):
        return []
    found = [f"{KEY}.{GUARANTEES}", f"{KEY}.{DOES_NOT}"]
    found += [f"{KEY}.{key}" for key in (FINGERPRINT, FIGURES) if any(entry[key] for entry in told)]
    return found


def _listed(told: Any) -> bool:
    return isinstance(told, list | tuple)


def _is_entry(told: Any) -> bool:
    return (
        isinstance(told, Mapping)
        and set(told) == set(ENTRY)
        and isinstance(told[COLUMN], str | None)
        and isinstance(told[NAME], str)
        and isinstance(told[PARAMETERS], Mapping)
        and isinstance(told[FINGERPRINT], str | None)
        and isinstance(told[PROVEN], bool | str)
        and isinstance(told[FIGURES], Mapping)
    )


def _unsound(where: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with an entry, whatever the policy is."""
    for key in (GUARANTEES, DOES_NOT):
        if not isinstance(entry[key], str) or not entry[key].strip() or len(entry[key]) > _LONGEST:
            yield Problem(f"{where}.{key}", "is not text.")
    if entry[FINGERPRINT] is not None and not _FINGERPRINT.fullmatch(entry[FINGERPRINT]):
        yield Problem(f"{where}.{FINGERPRINT}", "is not a fingerprint, which has 8 hexadecimal digits.")
    figures = entry[FIGURES]
    if not all(isinstance(each, str | bool | int | float) for each in figures.values()) or not is_finite(figures):
        yield Problem(f"{where}.{FIGURES}", "holds something other than numbers, texts and truth values.")
    texts = [*figures, *figures.values(), *(entry[key] for key in (NAME, PROVEN, GUARANTEES, DOES_NOT, FINGERPRINT))]
    if any(isinstance(text, str) and _LIKE_A_KEY.search(text) for text in texts):
        yield Problem(where, "holds what looks like a secret key.", "if it is one, no longer use it.")


def _expected(policy: Policy) -> Iterator[tuple[str | None, Transformation | None, Mapping[str, Any]]]:
    """Yield the column, the step and the parameters of each entry."""
    for name, steps in policy.transformed.items():
        for step in steps:
            yield name, step, step.parameters()
    if policy.sample is not None:
        # people are sampled where there is a column of them
        per = policy.sample.per or ("subject" if policy.subject is not None else "record")
        yield None, None, {"share": policy.sample.share, "per": per}


def _otherwise(told: Any, expected: Mapping[str, Any], where: str) -> list[Problem]:
    found = differences(plain(told), plain(expected), where)
    return [Problem(each.where, "is not what the policy says.") for each in found]


def _fingerprint(where: str, told: str | None, step: Transformation | None, by_place: dict[str, str]) -> list[Problem]:
    """Return what is wrong with the fingerprint of a key: one key has one, and what has no key has none."""
    spec = None if step is None else step.step
    key = spec.key if isinstance(spec, PseudonymSpec | ShiftSpec) else None
    where = f"{where}.{FINGERPRINT}"
    if key is None:
        return [] if told is None else [Problem(where, "is there, but the policy names no key here.")]
    if told is None:
        return [Problem(where, "is missing: the policy names a key here.")]
    same = by_place.setdefault(str(key), told)
    return [] if same == told else [Problem(where, "differs from another fingerprint of the same key.")]


def _overclaimed(told: Sequence[Mapping[str, Any]], proven: Mapping[str, Sequence[bool]]) -> list[Problem]:
    """Return the steps that are called proven, and are not."""
    problems, place = [], dict.fromkeys(proven, 0)
    for number, entry in enumerate(told):
        column = entry[COLUMN]
        steps = proven.get(column, ())
        at = place.get(column, 0)
        place[column] = at + 1
        if entry[PROVEN] is True and not (at < len(steps) and steps[at]):
            what = "says that the cells prove this transformation, and they do not."
            problems.append(Problem(f"certificate.{KEY}.{number}.{PROVEN}", what))
    return problems
