"""The part of a risk report that may be shown: probabilities, but no counts of few records.

The numbers of correct guesses, of guesses by chance and of singled-out people are counts of people. Exact counts would
reveal the value of a single suppressed record, because the release shows the same about all others. So they are rounded
like counts, and their intervals outwards. Linking is different: it is a mean of one probability per record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sudare.reports.describe.disclosure_control import Crowd


def blurred_risk(risk: Mapping[str, Any], crowd: Crowd) -> dict[str, Any]:
    """Return what a report shows of ``Risk.to_dict()``: attacks on both sides, and the combinations that single out.

    Missing parts, and parts of another form, are ignored.
    """
    before, after = risk.get("before") or {}, risk.get("after") or {}
    sides = {"before": before, "after": after}
    return {
        "columns": [str(name) for name in risk.get("columns", ())],
        "linkage": {"before": _linked(before, crowd), "after": _linked(after)},
        "singled_out": {
            "before": _singled(before, crowd),
            "after": _singled(after, crowd, int(risk.get("released") or 0)),
        },
        "most_columns": (before.get("singling_out") or {}).get("most_columns"),
        "combinations": [
            {"columns": list(each["columns"]), "share": crowd.share(each["records"])}
            for each in (before.get("singling_out") or {}).get("combinations", ())[:8]
            if each["records"] >= crowd.least
        ],
        "inference": [
            {
                "target": str(each["target"]),
                "before": _guessed(each.get("before"), crowd),
                "after": _guessed(each.get("after"), crowd),
                "certain": {name: _certain(each.get(name), crowd) for name in sides},
            }
            for each in risk.get("inference", ())
        ],
        "not_inferred": {str(name): str(why) for name, why in (risk.get("not_inferred") or {}).items()},
        "wp216": {
            name: {side: _above(name, one, crowd) for side, one in found.items()}
            for name, found in (risk.get("wp216") or {}).items()
        },
        "notes": [],  # those of a risk report count records
    }


def _linked(side: Mapping[str, Any], crowd: Crowd | None = None) -> dict[str, float] | None:
    """Return how often linking succeeds; its baseline is one of all records, and would reveal their number."""
    one = (side.get("linkage") or {}).get("linked")
    if one is None:
        return None
    told = {key: _short(one[key]) for key in ("success", "low", "high", "baseline")}
    if crowd is None or not one["baseline"]:
        return told
    return told | {"baseline": _short(1 / max(crowd.rounded(1 / one["baseline"]), crowd.least))}


def _guessed(guesses: Mapping[str, Any] | None, crowd: Crowd) -> dict[str, float] | None:
    one = (guesses or {}).get("by_class")
    return None if one is None else _rounded(one, crowd, ("success", "baseline"), ("low", "high"))


def _above(name: str, one: Mapping[str, Any] | None, crowd: Crowd) -> dict[str, float] | None:
    """Return by how much an attack is better than its baseline."""
    if one is None:
        return None
    if name == "linkability":
        return {key: _short(one[key]) for key in ("above", "above_low", "above_high")}
    return _rounded(one, crowd, ("above",), ("above_low", "above_high"))


def _rounded(one: Mapping[str, Any], crowd: Crowd, shares: Sequence[str], ends: tuple[str, str]) -> dict[str, float]:
    """Return figures that count people by multiples of the threshold, the ends of an interval outwards."""
    people = int(one.get("attacked") or crowd.rows)
    told = {key: crowd.nearby(one[key], people) for key in shares}
    return told | {key: crowd.nearby(one[key], people, side=side) for key, side in zip(ends, (-1, 1), strict=True)}


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def _singled(side: Mapping[str, Any], crowd: Crowd, released: int | None = None) -> dict[str, Any] | None:
    """Return the share of records that few columns single out; anyone can count those of a release exactly."""
    found = side.get("singling_out")
    if found is None or released == 0:
        return None
    count = int(found["records"])
    few = 0 < count < crowd.least
    share = crowd.share(count) if released is None else round(count / released, 3)
    return {"few": few, "share": 0.0 if few or share is None else share}


def _certain(guesses: Mapping[str, Any] | None, crowd: Crowd) -> float | None:
    """Return the share of records about which a value is certain, rounded as counts are."""
    if guesses is None or guesses.get("certain") is None:
        return None
    return crowd.share(float(guesses["certain"]) * crowd.rows)
