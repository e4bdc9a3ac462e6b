"""Counts of transformed columns: exact for what the release shows, and what that stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sudare.estimates.published_errors import entries_of
from sudare.estimates.run import Answer
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_parts import TransformationEntry

GRID: Mapping[str, str] = {
    "nearest": "{to:g} stands for numbers from {half:g} to {end:g}",
    "up": "{to:g} stands for numbers above 0, up to {to:g}",
    "down": "{to:g} stands for numbers from {to:g} to below {twice:g}",
    "random": "{to:g} stands for numbers between 0 and {twice:g}; each went up or down at random",
}
"""What the first multiple of a grid stands for."""
WORDS: Mapping[str, str] = {
    "pseudonym": "shows pseudonyms: each stands for one value.",
    "shift": "has shifted dates: they are near the true ones, but none is true.",
    "truncate": "is cut: a value stands for all that begin like it, or for the whole period.",
    "band": "shows bands: each stands for all numbers in it.",
    "mask": "is masked: a value may stand for several.",
    "replace": "was recoded by a list: a value may stand for several.",
    "redact": "is empty.",
    "noise": "has noise. Counts are of the changed numbers; ask for --mean, --variance, --correlation or --regress.",
}
SAMPLED = "The release is a random sample ({share:g} of the {whom}). Counts are those of the sample."
WHOM: Mapping[Any, str] = {"subject": "people"}


def with_notes(found: Answer, certificate: Certificate) -> Answer:
    """Return counts with notes on what was done to the columns of the question, and to the table."""
    notes = [
        f"Column '{name}' {said}"
        for name in found.question.columns
        for entry in entries_of(certificate, name)
        if (said := _said(entry, alone=len(found.question.columns) == 1))
    ]
    for entry in entries_of(certificate, None):
        share = entry.parameters.get("share")
        if entry.transformation == "sample" and isinstance(share, int | float):
            whom = WHOM.get(entry.parameters.get("per"), "records")
            notes.append(SAMPLED.format(share=share, whom=whom))
    return replace(found, notes=(*found.notes, *notes)) if notes else found


def _said(entry: TransformationEntry, *, alone: bool) -> str:
    """Return what a transformation means for counts; nothing if they are those of the data."""
    given, to = entry.parameters, entry.parameters.get("to")
    if entry.transformation == "round" and isinstance(to, int | float):
        meaning = GRID.get(str(given.get("how", "nearest")), "").format(to=to, half=to / 2, end=1.5 * to, twice=2 * to)
        return f"was rounded to multiples of {to:g}: {meaning}."
    if entry.transformation in ("top", "bottom"):
        at = given.get("at", entry.figures.get("limit"))
        side = "above" if entry.transformation == "top" else "below"
        shown = given.get("shows", at)
        return f"is coded: {shown} also stands for everything {side} {at}."
    if entry.transformation in ("swap", "shuffle"):
        within = given.get("within") if entry.transformation == "shuffle" else None
        groups = f" in the groups of {', '.join(map(str, within))}" if isinstance(within, list | tuple) else ""
        if alone:
            return "" if not groups else f"has its values in other records{groups}. Its counts are exact."
        kept = f"Counts are exact{groups}" if groups else "Counts are exact only for the whole table"
        return f"has its values in other records. {kept}; its relations to other columns are not kept."
    return WORDS.get(entry.transformation, "")
