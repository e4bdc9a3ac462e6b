"""Checklists of legal rules: filled where a tool can decide, open where a person must judge.

What the cells of the release hold decides: every cell was read for it (:mod:`sudare.reports.content`), and a column in
which few records share each value may be any kind of identifying number. Names of columns only add suspicion. A rule
is never met because no column is called like it. Every list ends with a line to be signed by someone who knows the
data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.reports.appi_checklist import appi
from sudare.reports.checklist_items import JUDGE, MET, STYLES, UNMET, Item
from sudare.reports.describe.figure_types import Figures
from sudare.reports.group_checklists import cell_size, ema
from sudare.reports.safe_harbor_checklist import HELD, KNOWLEDGE, cells_read, safe_harbor
from sudare.reports.sections import Cell, Section

__all__ = [
    "HELD",
    "JUDGE",
    "MET",
    "STYLES",
    "UNMET",
    "appi",
    "cell_size",
    "checklists",
    "ema",
    "safe_harbor",
    "verdicts",
]


def checklists(found: Figures) -> Section:
    """Return the section of all checklists."""
    return Section.of("checklists", "Checklists", {"lists": [_list(*each) for each in _lists(found)]})


def verdicts(found: Figures) -> list[tuple[str, str, str]]:
    """Return the verdict of each checklist as a whole: its title, the worst of its rules, and how many there are."""
    whole = []
    for title, _, items in _lists(found):
        counts = {each: sum(item.verdict == each for item in items) for each in (UNMET, JUDGE, MET)}
        worst = next(each for each, count in counts.items() if count)
        told = ", ".join(f"{count} {each}" for each, count in counts.items() if count)
        whole.append((title, worst, f"{len(items)} rules: {told}" if len(items) > 1 else "1 rule"))
    return sorted(whole, key=lambda each: (UNMET, JUDGE, MET).index(each[1]))


def _lists(found: Figures) -> list[tuple[str, str, list[Item]]]:
    return [
        (
            "HIPAA Safe Harbor: the eighteen identifiers",
            f"45 CFR 164.514(b)(2). {cells_read(found)} The names of columns only add suspicion.",
            [*safe_harbor(found), KNOWLEDGE],
        ),
        (
            "EMA policy 0070: a threshold of 0.09",
            "Publication of clinical data: the largest risk that a participant is recognised stays at or below 0.09. "
            "That is read as one in a group of 11, which is 0.0909 before rounding.",
            ema(found),
        ),
        (
            "Cells of at least 11",
            "The rule of the US Centers for Medicare and Medicaid Services: no cell of 1 to 10 is shown, or can be "
            "derived.",
            cell_size(found),
        ),
        (
            "Japan: anonymously processed information (匿名加工情報)",
            "Act on the Protection of Personal Information, Article 43, and its Enforcement Rules, Article 34.",
            appi(found),
        ),
    ]


def _list(title: str, about: str, items: Sequence[Item]) -> dict[str, Any]:
    counts = ", ".join(f"{sum(item.verdict == each for item in items)} {each}" for each in STYLES)
    rows = [
        [item.rule, item.seen, Cell(item.verdict, style=STYLES[item.verdict], sign=item.verdict == JUDGE)]
        for item in items
    ]
    return {"title": title, "about": f"{about} {counts}.", "rows": rows}
