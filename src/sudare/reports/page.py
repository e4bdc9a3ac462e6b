"""The page of a report: one self-contained HTML file, for wide and narrow screens, light and dark, and paper.

There is no script in it, and nothing is fetched: a policy in its head forbids both.
"""

from __future__ import annotations

from typing import Any

from sudare.reports.checklists import STYLES, checklists, verdicts
from sudare.reports.describe.figure_types import Figures
from sudare.reports.explanations import signed
from sudare.reports.markup import rendered
from sudare.reports.sections import sections_of


def report_page(found: Figures) -> str:
    """Return the whole report as HTML, from what :func:`sudare.reports.describe.figures.describe` gives."""
    title = f"Report on {found['names'].get('release') or 'a release'}"
    return str(rendered("page.html", title=title, parts=[*sections_of(found), checklists(found)], **_lead(found)))


def _lead(found: Figures) -> dict[str, Any]:
    """Return what stands before all sections."""
    records = found["records"]
    lost = records["left_out"]
    told = f"fewer than {lost['below']}" if "below" in lost else f"{lost['about']:,}"
    held = sum(bool(one["holds"]) for one in found["guarantees"])
    named = {"made of": found["names"].get("data"), "under the policy": found["names"].get("policy")}
    return {
        "made": ", ".join(f"{word} {name}" for word, name in named.items() if name),
        "least": found["threshold"],
        "who": "people" if found["people"] else "records",
        "verdicts": _verdicts(found),
        "facts": [
            ("records in the data", f"{'about ' if records['source_is_rounded'] else ''}{records['source']:,}"),
            *([] if records["sampled"] is None else [("records in the sample", f"{records['sampled']:,}")]),
            ("records released", f"{records['released']:,}"),
            ("records masked" if records["masked"] else "records suppressed", told),
            ("promises that hold", f"{held} of {len(found['guarantees'])}"),
            ("method", found["method"]),
        ],
        # what the release gives away although it keeps its promises stands in a box that is not overlooked
        "warnings": [one["text"] for one in found.get("warnings") or ()],
        "about": _about(found),
    }


def _verdicts(found: Figures) -> list[tuple[str, str, str, str]]:
    """Return the verdicts on the whole, first of all what is not kept or not met."""
    broken = sum(not one["holds"] for one in found["guarantees"])
    count = len(found["guarantees"])
    told = f"{broken} of {count} broken" if broken else f"all {count} hold"
    warned = len(found.get("warnings") or ())
    style = "broken" if broken else "judge" if warned else "holds"
    warnings = f"{warned} {'warning' if warned == 1 else 'warnings'}"
    beside = f"with {warnings}: what they do not cover is below" if warned else ""
    lines = [("promises of the policy", style, told, beside)]
    return lines + [(title, STYLES[verdict], verdict, rules) for title, verdict, rules in verdicts(found)]


def _about(found: Figures) -> list[list[str]]:
    """Return what the release is for, when it was made, and who answers for it."""
    facts = found["certificate"]
    names = {"legal_basis": "legal basis"}
    rows = [[names.get(key, key), text] for key, text in facts["about"].items()]
    if facts["date"]:
        rows.append(["made", f"{facts['date']}, with sudare {facts['versions'].get('sudare', '')}"])
    return [*rows, ["signed", signed(facts["signature"])]]
