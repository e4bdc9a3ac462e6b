"""Checklists on the sizes of groups: EMA's threshold of 0.09, and cells of at least 11."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.reports.checklist_items import JUDGE, MET, UNMET, Item
from sudare.reports.describe.figure_types import Figures


def smallest_crowd(found: Figures) -> tuple[int | None, str]:
    """Return the size of the smallest group, and how it is known."""
    if found["smallest_class"] is not None:
        who = "people" if found["people"] else "records"
        return int(found["smallest_class"]), f"The smallest group of the release has {found['smallest_class']:,} {who}"
    drawn = [one for one in found["guarantees"] if one["model"] == "pk-anonymity" and one["holds"]]
    if drawn:
        least = float(drawn[0]["achieved"] or 0)
        return int(least + 1e-9), f"Pk-anonymity holds: each record could be that of {least:.3g} people"
    return None, "The release keeps quasi-identifiers unchanged, so people may be recognised by them"


def crowded(found: Figures) -> tuple[str, str]:
    """Return what is known of the smallest crowd, and whether it is one of 11."""
    size, told = smallest_crowd(found)
    outside = found["classes"]["outside"] if found["classes"] else []
    if size is None or size < 11:
        return told, UNMET
    if outside:  # whoever knows these, too, may see smaller groups
        return f"{told}, without {', '.join(outside)}, which only km-anonymity limits", JUDGE
    return told, MET


def few_share(found: Figures) -> tuple[list[str], list[str]]:
    """Return the columns with values that few records share: those where it was seen, and those that are hidden."""
    columns = found["columns"]
    hidden = [column["name"] for column in columns if column["treatment"] in ("sets", "apart")]
    return [column["name"] for column in columns if column.get("rare")], hidden


def ema(found: Figures) -> list[Item]:
    """Return the rules of EMA's policy 0070 that apply to a table."""
    size, _ = smallest_crowd(found)
    told, verdict = crowded(found)
    risk = None if size is None else 1 / max(size, 1)
    seen = f"{told}." if risk is None else f"{told}: a largest risk of {risk:.4f}."
    measured = (found.get("risk") or {}).get("wp216") or {}
    return [
        Item(
            "The largest risk of being recognised is at most 0.09",
            seen,
            verdict,
        ),
        *_criteria(measured),
        Item("The expected use, and who gets the data, were considered", "A tool cannot know.", JUDGE),
    ]


def _criteria(measured: Mapping[str, Any]) -> Iterator[Item]:
    names = {
        "singling_out": "No record can be singled out",
        "linkability": "Records about a person cannot be linked",
        "inference": "Nothing can be inferred about a person",
    }
    for name, rule in names.items():
        after = (measured.get(name) or {}).get("after")
        seen = "Not measured in this report."
        if after is not None:
            seen = (
                f"Measured: attacks succeed {100 * after['above']:.1f} percentage points more often than chance (95%: "
                f"{100 * after['above_low']:.1f} to {100 * after['above_high']:.1f})."
            )
        yield Item(rule, seen, JUDGE)


def cell_size(found: Figures) -> list[Item]:
    """Return the rule of cells of at least 11."""
    told, verdict = crowded(found)
    small = [column["name"] for column in found["columns"] if column.get("small")]
    _, hidden = few_share(found)
    about = (
        as_they_came(found, small, "with values of 1 to 10 records")
        if small
        else "No column outside the groups shows a value of 1 to 10 records."
    )
    if hidden:
        about += f" Values of {', '.join(hidden)} are hidden among others; some values may be rare."
    return [
        Item("No group of quasi-identifiers has 1 to 10 records", f"{told}.", verdict),
        Item("No other column shows a value of 1 to 10 records", about, UNMET if small else JUDGE if hidden else MET),
        Item(
            "This report shows no count of 1 to 10",
            f"Counts of the data below {found['threshold']} are blurred, and others rounded to multiples of it.",
            MET if found["threshold"] >= 11 else UNMET if verdict == UNMET or small else JUDGE,
        ),
        Item("Tables made from the release show no cell of 1 to 10", "The publisher must check this.", JUDGE),
    ]


def as_they_came(found: Figures, names: Sequence[str], what: str) -> str:
    """Say something of columns that no method changed, of unchanged and of transformed ones apart."""
    steps = {column["name"]: ", ".join(column.get("steps") or ()) for column in found["columns"]}
    bare = [name for name in names if not steps.get(name)]
    done = [f"{name} ({steps[name]})" for name in names if steps.get(name)]
    told = [f"Released unchanged, {what}: {', '.join(bare)}."] if bare else []
    return " ".join([*told, *([f"Released transformed, {what}: {', '.join(done)}."] if done else [])])
