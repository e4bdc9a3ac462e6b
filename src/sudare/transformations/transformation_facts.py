"""What a certificate says of transformations: what each guarantees and what not, and figures that analysts need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sudare.transformations.step import Place

if TYPE_CHECKING:
    from sudare.transformations.transformed_columns import Transformed

GUARANTEES: Mapping[str, tuple[str, str]] = {
    "pseudonym": (
        "Without the key nobody can compute a pseudonym, or the value behind one. Equal values have equal pseudonyms "
        "wherever this key is used.",
        "Pseudonyms are not anonymity. They link all records of a person, and anyone who has the key can compute them "
        "for anybody whose value they know.",
    ),
    "shift": (
        "All dates of a person move by the same number of days, from 1 to the largest one forwards or backwards, and "
        "all numbers are equally likely. Intervals between the dates of a person are exact.",
        "Someone who knows one date of a person can compute all others. Seasons and weekdays are not kept, and a date "
        "is never further from the truth than the largest number of days.",
    ),
    "top": (
        "No value above the limit is shown.",
        "Values within the limit are unchanged by this step.",
    ),
    "bottom": (
        "No value below the limit is shown.",
        "Values within the limit are unchanged by this step.",
    ),
    "round": (
        "Every number is a multiple of the grid's unit.",
        "A number shows its original value up to half a unit if it went to the nearest multiple, and up to one unit if "
        "it went up, down, or to one of the two at random. Sums of rounded numbers differ from rounded sums.",
    ),
    "truncate": (
        "Nothing finer than the period, or than the first characters, is shown.",
        "The period, or the first characters, are unchanged.",
    ),
    "band": (
        "Only the band of a number is shown.",
        "Bands with few records are shown like all others.",
    ),
    "mask": (
        "Only the first and last characters that the policy names are shown.",
        "The length of the text is shown, and different texts may remain different.",
    ),
    "replace": (
        "Values are those of the list (with `else: keep`, values that the list does not name are unchanged).",
        "How rare a value is, is not hidden.",
    ),
    "redact": ("Every cell is empty.", "That the column exists is shown."),
    "noise": (
        "A random number is added to each value, or multiplies it. Its variance is published, so that means, variances "
        "and correlations can be estimated.",
        "A value is shown up to the noise: extreme values remain extreme, and no single value is certain.",
    ),
    "swap": (
        "The column keeps all its values, and so its mean, its variance and its quantiles.",
        "Each value is shown, in another record. Relations to other columns are weaker than in the data.",
    ),
    "shuffle": (
        "The column keeps all its values within each group, and so their mean and variance.",
        "Each value is shown, in another record of its group. Relations to other columns within groups are lost.",
    ),
    "sample": (
        "Each person, or record, was in the sample with the same probability, independently of all others.",
        "Someone who knows that a person is in the sample has gained nothing from it for that person.",
    ),
}
"""For each transformation, what it guarantees and what it does not."""


def facts(work: Transformed) -> list[dict[str, Any]]:
    """Return an entry for each transformation, in the order of the policy, and one for the sample."""
    policy = work.policy
    entries = [
        _entry(
            name,
            step.name,
            step.parameters(),
            key=work.keys.fingerprint(step),
            figures=dict(work.findings.figures.get(Place(name, number, step.name), {})),
        )
        for name, steps in policy.transformed.items()
        if name in work.steps
        for number, step in enumerate(steps)
    ]
    if policy.sample is not None:
        parameters = {"share": policy.sample.share, "per": "record" if work.sample is None else _per(work)}
        entries.append(_entry(None, "sample", parameters, key=None, figures={}))
    return entries


def _per(work: Transformed) -> str:
    return "subject" if work.sample is not None and work.sample.person is not None else "record"


def _entry(
    column: str | None, name: str, parameters: Mapping[str, Any], *, key: str | None, figures: object
) -> dict[str, Any]:
    guarantees, does_not = GUARANTEES[name]
    return {
        "column": column,
        "transformation": name,
        "parameters": dict(parameters),
        "key": key,
        "proven": False,  # until the audit has read the cells
        "guarantees": guarantees,
        "does_not": does_not,
        "figures": figures,
    }
