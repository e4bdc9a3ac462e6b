"""What a checklist says of a rule: what a tool saw, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

MET, UNMET, JUDGE = "met", "not met", "for a human to judge"
STYLES = {MET: "met", UNMET: "unmet", JUDGE: "judge"}


@dataclass(frozen=True)
class Item:
    """A rule, what the tool saw, and the verdict."""

    rule: str
    seen: str
    verdict: str
