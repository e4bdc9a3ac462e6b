"""A risk report as it may be shown: shares and probabilities stay, counts of few records do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.describing.blurring import Crowd


def blurred_risk(risk: Mapping[str, Any], crowd: Crowd) -> dict[str, Any]:
    """Return what a report shows of ``Risk.to_dict()``: attacks on both sides, and the combinations that single out.

    Parts that are not there, or not in the form that is known here, are left out.
    """
    before, after = risk.get("before") or {}, risk.get("after") or {}
    sides = {"before": before, "after": after}
    return {
        "columns": [str(name) for name in risk.get("columns", ())],
        "linkage": {name: _success((side.get("linkage") or {}).get("linked")) for name, side in sides.items()},
        "singled_out": {
            "before": _singled(before, crowd, crowd.rows),
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
                "before": _success((each.get("before") or {}).get("by_class")),
                "after": _success((each.get("after") or {}).get("by_class")),
                "certain": {name: _certain(each.get(name), crowd) for name in sides},
            }
            for each in risk.get("inference", ())
        ],
        "wp216": {
            name: {side: _above(one) for side, one in found.items()}
            for name, found in (risk.get("wp216") or {}).items()
        },
        "notes": [],  # those of a risk report count records
    }


def _success(one: Mapping[str, Any] | None) -> dict[str, float] | None:
    if one is None:
        return None
    return {key: float(f"{one[key]:.3g}") for key in ("success", "low", "high", "baseline")}


def _above(one: Mapping[str, Any] | None) -> dict[str, float] | None:
    if one is None:
        return None
    return {key: float(f"{one[key]:.3g}") for key in ("above", "above_low", "above_high")}


def _singled(side: Mapping[str, Any], crowd: Crowd, rows: int) -> dict[str, Any] | None:
    found = side.get("singling_out")
    if found is None or not rows:
        return None
    count = int(found["records"])
    return {"few": 0 < count < crowd.least, "share": 0.0 if count < crowd.least else round(count / rows, 3)}


def _certain(guesses: Mapping[str, Any] | None, crowd: Crowd) -> float | None:
    """Return the share of records about which a value is certain, rounded as counts are."""
    if guesses is None or guesses.get("certain") is None:
        return None
    return crowd.share(float(guesses["certain"]) * crowd.rows)
