"""What was done to columns before classes were made: the steps, and what became of the data.

A chart compares the data before the steps with the data after them. Both come from the data, so both are blurred. What
was drawn at random is compared in the release itself, by the chart that every column has.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.policy import BottomSpec, TopSpec, Transformation, TruncateSpec
from sudare.releases.cell_reader import Interval, ReadCell, read_cell
from sudare.releases.pairing import Pair
from sudare.releases.value_texts import value_texts
from sudare.reports.describe.cell_shares import HIDDEN, CellShares, read_parsed
from sudare.reports.describe.chart_axes import kind_of, places_of
from sudare.reports.describe.disclosure_control import Crowd
from sudare.reports.describe.figure_types import Part, Step
from sudare.reports.describe.relations import FEWEST
from sudare.reports.describe.scales import Scale, before, scale_of
from sudare.sources.repeated_steps import CHANGED, PERMUTED, REPEATED, UNKNOWN
from sudare.table import Column

Floats = NDArray[np.float64]
ON_AXIS = ("top", "bottom", "round", "band", "truncate")
"""Steps whose cells have a place on the axis that they came from; the first characters of a text have none."""
_BELOW = re.compile(r"^< (?P<end>.+)$")
_FROM = re.compile(r"^>= (?P<end>.+)$")
TRANSFORMATION = "transformation"
"""The guarantee of the audit about the cells of a transformed column."""
_VALUES = ("values", "file")
"""What a list of replacements says: values of the data, and the path of a file."""


def steps_of(pair: Pair, crowd: Crowd) -> list[Step]:
    """Return the transformations of a release, as its certificate has them, without values of the data."""
    found: list[Step] = []
    proofs = {
        str(one.parameters.get("column")): one for one in pair.certificate.guarantees if one.model == TRANSFORMATION
    }
    seen: dict[str | None, int] = {}
    for entry in pair.certificate.transformations or ():
        number = seen.get(entry.column, 0)
        seen[entry.column] = number + 1
        step: Step = {
            "column": None if entry.column is None else str(entry.column),
            "transformation": str(entry.transformation),
            "parameters": {str(key): value for key, value in entry.parameters.items() if key not in _VALUES},
            "key": None if entry.key is None else str(entry.key),
            "proven": bool(entry.proven),
            "guarantees": str(entry.guarantees),
            "does_not": str(entry.does_not),
            "figures": dict(entry.figures),
        }
        steps = pair.policy.transformed.get(str(entry.column), ())
        if entry.column in proofs and number == len(steps) - 1:  # the cells are those of the last step
            step["proof"] = str(proofs[entry.column].note)
        if entry.column is not None and number == 0:
            step |= _beyond(pair, entry.column, crowd)  # type: ignore[typeddict-item]
        found.append(step)
    return found


def _beyond(pair: Pair, name: str, crowd: Crowd) -> dict[str, Any]:
    """Return which share of the records had a value beyond the limit of a first step; blurred, None if few had."""
    raw, steps = pair.raw.get(name), pair.policy.transformed.get(name)
    if not steps or not isinstance(raw, Column) or raw.positions is None or kind_of(raw) != "number":
        return {}
    spec = steps[0].step
    if not isinstance(spec, TopSpec | BottomSpec) or spec.at is None:
        return {}
    places = np.append(places_of(raw), [np.nan] * raw.missing)[raw.codes]
    beyond = places > spec.at if isinstance(spec, TopSpec) else places < spec.at
    return {"beyond": crowd.share(int(np.count_nonzero(beyond)))}


def done_parts(pair: Pair, name: str, crowd: Crowd) -> list[Part] | None:
    """Return the shares of a column before and after its steps; None if they have no common axis, or were drawn."""
    raw, done, steps = pair.raw.get(name), pair.transformed.get(name), pair.policy.transformed.get(name)
    if not steps or pair.ways.get(name) != REPEATED or not all(map(_has_axis, steps)):
        return None
    if not isinstance(raw, Column) or not isinstance(done, Column) or kind_of(raw) not in ("number", "date"):
        return None
    counts = np.bincount(raw.codes, minlength=raw.size).astype(np.int64)
    scale = scale_of(raw, counts, crowd)
    if scale is None:
        return None
    shown = _on_axis_of(raw, done, scale, steps)
    shares = None if shown is None else shown.distribution(len(scale))
    if shares is None:
        return None
    rounded = [crowd.rounded(share * crowd.rows) for share in shares]
    whole = max(sum(rounded), 1)
    return [
        {"label": label, "before": first, "after": round(later / whole, 6)}
        for label, first, later in zip(scale.labels, before(scale, raw, crowd), rounded, strict=True)
    ]


def _has_axis(step: Transformation) -> bool:
    return step.name in ON_AXIS and not (isinstance(step.step, TruncateSpec) and step.step.to is None)


def _on_axis_of(raw: Column, done: Column, scale: Scale, steps: list[Transformation]) -> CellShares | None:
    """Read the cells after the steps on the axis of the cells before; None if one has no place there."""
    assert scale.bins is not None
    ends = {
        spec.shows: str(spec.at)
        for spec in (step.step for step in steps)
        if isinstance(spec, TopSpec | BottomSpec) and isinstance(spec.shows, str) and spec.at is not None
    }
    texts = [*value_texts(done).to_pylist(), *([None] if done.missing else [])]
    low, high = scale.bins.reach
    told = [None if text is None else _told(ends.get(text, text), low, high) for text in texts]
    found = read_parsed(done.codes.astype(np.int64), told, raw, scale)
    strange = (found.form == HIDDEN) & np.array([cell is not None for cell in told], dtype=np.bool_)
    return None if strange.any() else found


def _told(text: str, low: float, high: float) -> ReadCell:
    """Return a cell; one that is open at an end ends where all but the outermost people do."""
    below, above = _BELOW.match(text), _FROM.match(text)
    if below is not None:
        return Interval(str(min(low, float(below["end"]))), below["end"])
    if above is not None:
        return Interval(above["end"], str(max(high, float(above["end"]))))
    return read_cell(text)


def notes_of(
    pair: Pair, name: str, crowd: Crowd, *, scale: Scale | None = None, shown: CellShares | None = None
) -> list[str]:
    """Return what to say of a transformed column and of how it was compared."""
    way = pair.ways.get(name)
    if way == PERMUTED:
        return ["The values are those of the data, in other records."]
    if way == UNKNOWN:
        return ["The release cannot be compared with the data: a key is not here, or values were drawn and replaced."]
    if way != CHANGED:
        return []
    drawn = "Cells were changed at random, so records cannot be compared one by one, only the distributions."
    moments = _moments(pair, name, crowd, scale, shown)
    return [drawn, *([moments] if moments else [])]


def _moments(pair: Pair, name: str, crowd: Crowd, scale: Scale | None, shown: CellShares | None) -> str | None:
    """Return mean and standard deviation on both sides; of many records alone, and without the outermost ones."""
    column = pair.columns.get(name)
    if scale is None or scale.bins is None or scale.kind != "number" or shown is None or not isinstance(column, Column):
        return None
    earlier = np.append(places_of(column), [np.nan] * column.missing)[column.codes]
    later = ((shown.low + shown.high) / 2)[shown.kind]
    sides = [np.clip(side[np.isfinite(side)], *scale.bins.reach) for side in (earlier, later)]
    if min(map(len, sides)) < max(FEWEST, 3 * crowd.least):
        return None
    means, deviations = ([f"{take(side):.3g}" for side in sides] for take in (np.mean, np.std))
    return (
        f"Mean {means[0]} before and {means[1]} after; standard deviation {deviations[0]} and {deviations[1]} "
        "(extreme values capped)."
    )
