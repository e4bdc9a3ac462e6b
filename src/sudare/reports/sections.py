"""The sections of a report, each with figures and a sentence on their meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from sudare.methods import method_of
from sudare.reports.describe.figure_types import ColumnFigures, Figures
from sudare.reports.explanations import limits, meaning, role_of, treatment_of, usage
from sudare.reports.markup import rendered
from sudare.reports.svg.report_charts import FORMS, bars, histogram, matrix, percent, shares
from sudare.reports.transformation_words import figures_in_words, in_words


@dataclass(frozen=True)
class Section:
    """A section: its key, which links lead to and its template is named by, its title, and its body as HTML."""

    key: str
    title: str
    body: Markup

    @classmethod
    def of(cls, key: str, title: str, facts: Mapping[str, Any]) -> Section:
        """Return a section with the facts that its template shows."""
        return cls(key, title, rendered(f"sections/{key}.html", **facts))


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is more than text: a heading, a note below it, a style that makes it a verdict, a line
    for a signature.
    """

    text: str
    strong: str = ""
    note: str = ""
    style: str = ""
    sign: bool = False


Facts = dict[str, Any]
"""What a template shows."""


def sections_of(found: Figures) -> list[Section]:
    """Return the sections of a report in their order."""
    parts: list[tuple[str, str, Callable[[Figures], Facts]]] = [
        ("promises", "Promises and proof", _promises),
        ("columns", "Each column before and after", _columns),
        ("relations", "Relations between columns", _relations),
        ("classes", "Sizes of groups", _classes),
        ("attributes", "Changes of the cells", _attributes),
        ("risk", "Risk before and after", _risk),
        ("use", "How to use the release", _use),
        ("policy", "The policy", _policy),
        ("certificate", "The certificate", _certificate),
        ("blurring", "What this report does not show", _blurring),
    ]
    if found["transformations"]:
        parts.insert(1, ("transformations", "What was done to columns before", _transformations))
    return [Section.of(key, title, make(found)) for key, title, make in parts]


BEFORE_AFTER = (("before", "before, in the data (rounded)"), ("after", "after, as read from the release"))


def _figure(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_figure(part)}" for name, part in value.items())
    if value is None:
        return "no finite number"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _promises(found: Figures) -> Facts:
    rows = []
    for one in found["guarantees"]:
        limited = one["required"] not in (0, None) or not str(one["model"]).endswith("absent")
        verdict = "holds" if one["holds"] else "broken"
        rows.append(
            [
                Cell(meaning(one), strong=_asked(one), note=one["note"] or ""),
                _figure(one["required"]) if limited else "none",
                _figure(one["achieved"]) if limited else _figure(one["achieved"] or "none"),
                Cell(verdict, style=verdict),
            ]
        )
    return {"rows": rows, "limits": list(limits(found))}


def _asked(one: Mapping[str, Any]) -> str:
    given = ", ".join(
        f"{name} = {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in one["parameters"].items()
        if value not in (None, [], {}, "")
    )
    return f"{one['model']} ({given})" if given else str(one["model"])


def _transformations(found: Figures) -> Facts:
    rows = []
    for step in found["transformations"]:
        figures = figures_in_words(step["figures"])
        if "beyond" in step:
            told = f"{percent(step['beyond'])} of the records are beyond it"
            figures = f"{figures}; {told}" if figures else told
        key = "" if step["key"] is None else f"the key has the fingerprint {step['key']}"
        does = in_words(step["transformation"], step["parameters"], step["figures"])
        rows.append(
            [
                "the records" if step["column"] is None else step["column"],
                Cell(does, strong=step["transformation"], note=key),
                figures or "–",
                step["guarantees"],
                step["does_not"],
                Cell("yes" if step["proven"] else "no", note=step.get("proof", "")),
            ]
        )
    return {"rows": rows, "notes": [f"{note[0].upper()}{note[1:]}" for note in found["unmatched"]]}


def _columns(found: Figures) -> Facts:
    return {"colours": BEFORE_AFTER, "cards": [_column(column) for column in found["columns"]]}


def _column(column: ColumnFigures) -> Facts:
    about = f"{role_of(column)}; {treatment_of(column)}."
    if column["distance"] is not None:
        about += f" Difference {percent(column['distance'])}."
    picture = ""
    if column["parts"]:
        title = f"Shares of {column['name']} before and after"
        upright = column["kind"] in ("number", "date", "time", "duration") and len(column["parts"]) > 3
        picture = histogram(column["parts"], title=title) if upright else bars(column["parts"], title=title)
    done = ""
    if column.get("done"):
        done = histogram(column["done"] or (), title=f"Shares of {column['name']} before and after it was transformed")
    return {"name": column["name"], "about": about, "picture": picture, "notes": column["notes"], "done": done}


def _relations(found: Figures) -> Facts:
    facts = found["relations"]
    if facts is None:
        return {"names": []}
    pictures = [
        (side, matrix(facts["names"], facts[side], title=f"Associations {side}")) for side in ("before", "after")
    ]
    notes = []
    if any(value is None for line in facts["after"] for value in line):
        notes.append(
            "A dash means that values are hidden in sets or groups; `sudare estimate` estimates their relations."
        )
    if method_of(found["method"]).perturbs:
        notes.append("Cells of the release were drawn at random, so columns are less related than in the data.")
    if facts["drawn"]:
        notes.append(f"From {facts['drawn']:,} records that were drawn at random.")
    if facts["left_out"]:
        notes.append(f"Not compared, for lack of space: {', '.join(facts['left_out'])}.")
    return {"names": facts["names"], "moved": _moved(facts), "pictures": pictures, "notes": notes}


def _moved(facts: Mapping[str, Any]) -> str:
    """Name the pair that changed most."""
    pairs = [
        (abs(before - after), facts["names"][a], facts["names"][b], before, after)
        for a, line in enumerate(facts["before"])
        for b, before in enumerate(line)
        if b < a and before is not None and (after := facts["after"][a][b]) is not None
    ]
    if not pairs:
        return ""
    gap, first, second, before, after = max(pairs)
    if gap < 0.005:
        return "No relation between two columns changed."
    return f"The largest change is between {first} and {second}: {before:.2f} before, {after:.2f} after."


def _classes(found: Figures) -> Facts:
    facts = found["classes"]
    shown: Facts = {"lines": [], "picture": "", "colours": (), "notes": []}
    if facts is None:
        return shown | {"lines": ["The policy names no quasi-identifiers, so there are no groups."]}
    bins = facts["bins"]
    intro = (
        f"Someone who knows a person can find the group of records with the same {', '.join(facts['columns'])}. The "
        "picture shows how large these groups are: which share of the records is in groups of one record, of two to "
        "three, and so on."
    )
    if bins[0]["after"] is None:
        untouched = (
            "This method keeps these columns unchanged, or draws them at random, so the release has no such groups. "
            "The picture shows the data. The promises above say how the release protects people."
        )
        return shown | {"lines": [intro, untouched], "picture": bars(bins, title="Group sizes")}
    few = any(part["few"] for part in bins)
    smallest = found["smallest_class"]
    told = f"In the release the smallest group has {smallest:,} {'people' if found['people'] else 'records'}."
    return {
        "lines": [intro, told],
        "colours": BEFORE_AFTER,
        "picture": bars(bins, title="Group sizes before and after"),
        "notes": [f"“few”: fewer than {found['threshold']} records."] if few else [],
    }


def _attributes(found: Figures) -> Facts:
    quasi = [column for column in found["columns"] if column["shares"]]
    if not quasi:
        return {"rows": []}
    used = {form for column in quasi for form, share in (column["shares"] or {}).items() if share}
    colours = {"single": "after", "generalized": "general", "hidden": "hidden", "drawn": "drawn", "left_out": "gone"}
    lost = found["records"]["left_out"]
    left = f"Fewer than {lost.get('below')} records are suppressed; these figures do not include them."
    return {
        "colours": [(colours[form], FORMS[form]) for form in FORMS if form in used],
        "picture": shares(quasi, title="Shares of cells by kind of change"),
        "head": ["attribute", *(FORMS[form] for form in FORMS if form in used), "mean width of a generalized cell"],
        "rows": [
            [
                column["name"],
                *(percent((column["shares"] or {}).get(form) or 0.0) for form in FORMS if form in used),
                _width(column),
            ]
            for column in quasi
        ],
        "notes": [left] if "below" in lost else [],
    }


def _width(column: ColumnFigures) -> str:
    width = column.get("width")
    if width is None:
        return "–"
    unit = {"category": "values", "text": "values", "date": "days", "time": "hours", "duration": "seconds"}
    return f"{width:,g} {unit.get(column['kind'], '')}".rstrip()


def _risk(found: Figures) -> Facts:
    facts, classes = found["exposure"], found["classes"]
    shown: Facts = {"lines": [], "rows": [], "notes": [], "attacks": [], "worst": []}
    if facts is None or classes is None:
        return shown | {"lines": ["The policy names no quasi-identifiers, so there is no risk of groups."]}
    before, after = facts["before"], facts["after"]
    who = "whose person is" if found["people"] else "that are"

    def line(name: str, about: str, take: Callable[[Mapping[str, Any]], float | None]) -> list[Cell | str]:
        told = "see the promises" if after is None else percent(take(after))
        return [Cell(about, strong=name), _share(take(before), found), told]

    largest = (
        "The probability that someone who knows that a person is in the table finds the record of this person, for the "
        "most exposed record: one divided by the size of the smallest group."
    )
    mean = "The same on average: the share of the records that would be found if someone searched for all."
    rows = [
        line("largest risk", largest, lambda side: side["largest"]),
        line("mean risk", mean, lambda side: side["mean"]),
        line("alone", f"The share of the records {who} alone in a group.", lambda side: side["unique"]),
    ]
    for limit in before["above"]:
        about = (
            f"The share of the records with a risk above {limit}, which means in groups of fewer than {_crowd(limit)}."
        )
        rows.append(line(f"above {limit}", about, lambda side, limit=limit: side["above"][limit]))  # type: ignore[misc]
    lines = [
        f"The probability that someone who knows {', '.join(classes['columns'])} of a person finds the record of "
        "this person."
    ]
    if classes["outside"]:
        lines.append(
            f"Not in these figures: {', '.join(classes['outside'])}, which only km-anonymity limits. Someone who knows "
            "more items than m may find a record by them."
        )
    shown |= {"lines": lines, "rows": rows}
    if found["risk"] is None:
        return shown | {"notes": ["This report does not include attacks on the data and on the release."]}
    return shown | _attacks(found["risk"], found)


def _crowd(limit: str) -> int:
    return {"0.05": 20, "0.09": 11, "0.2": 5, "0.33": 3}.get(limit) or round(1 / float(limit))


def _share(share: float | None, found: Figures) -> str:
    return f"fewer than {found['threshold']} records" if share is None else percent(share)


UNDRAWN = (
    "After the release, these guesses take drawn values as true. An intruder who knows how they were drawn does "
    "better. Only the promises limit that."
)


def _attacks(risk: Mapping[str, Any], found: Figures) -> Facts:
    """Return what attacks on both sides achieved."""
    rows = []
    linkage = risk["linkage"]
    if linkage["before"] or linkage["after"]:
        about = (
            "The share of the attacked people who were linked with the right record."
            if found["people"]
            else "The share of the attacked records that were found."
        )
        rows.append(["linking", about, *(_success(linkage[side]) for side in ("before", "after"))])
    singled = risk["singled_out"]
    if singled["before"]:
        about = f"The share of the records that are unique by a combination of up to {risk['most_columns']} columns."
        rows.append(["singling out", about, *(_singled(singled[side], found) for side in ("before", "after"))])
    drawn = any(column["treatment"] == "drawn" for column in found["columns"])
    for each in risk["inference"]:
        about = f"How often {each['target']} is guessed correctly from the record's group, and how often without it."
        about += f" {UNDRAWN}" if drawn else ""
        rows.append([f"inferring {each['target']}", about, *(_success(each[side]) for side in ("before", "after"))])
    for target, why in risk.get("not_inferred", {}).items():
        rows.append([f"inferring {target}", f"{why[0].upper()}{why[1:]}", "not measured", "not measured"])
    worst = "; ".join(f"{', '.join(one['columns'])} ({percent(one['share'])})" for one in risk["combinations"][:5])
    return {
        "attacks": [[Cell(about, strong=name), first, second] for name, about, first, second in rows],
        "worst": [f"In the data, these combinations of columns single out most records: {worst}."] if worst else [],
    }


def _success(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "not measured"
    return (
        f"{percent(one['success'])} ({percent(one['low'])} to {percent(one['high'])}); by chance "
        f"{percent(one['baseline'])}"
    )


def _singled(one: Mapping[str, Any] | None, found: Figures) -> str:
    if one is None:
        return "not measured"
    return f"fewer than {found['threshold']} records" if one["few"] else percent(one["share"])


def _use(found: Figures) -> Facts:
    return {"lines": list(usage(found))}


def _policy(found: Figures) -> Facts:
    policy = found["policy"]
    rows = [
        [
            column["name"],
            f"{column['role']}: {role_of(column)}",
            ", ".join(
                str(part)
                for part in (
                    column["kind"],
                    column["hierarchy"] and f"hierarchy: {column['hierarchy']}",
                    column["ordered"] and f"{column['ordered']} values in order",
                    column["steps"] and f"transformed: {', '.join(column['steps'])}",
                )
                if part
            )
            or "–",
        ]
        for column in policy["columns"]
    ]
    allowed = policy["suppression"]
    return {
        "rows": rows,
        "required": [", ".join(f"{name}: {value}" for name, value in one.items()) for one in policy["require"]],
        "method": ", ".join(f"{name}: {value}" for name, value in policy["method"].items()),
        "allowed": f"Up to {percent(allowed['limit'])} of the records may be suppressed ({allowed['records']}).",
        "sha256": policy["sha256"],
    }


LOSSES = {
    "gcp": "the average width of the released cells; 0 is unchanged, 1 shows nothing",
    "arx": "the same, by the leaves of the hierarchies",
    "discernibility": "the sum of the squares of group sizes; it grows with the table",
    "average_class_size": "the average number of records in a group",
    "precision": "1 is unchanged, 0 is everything at the top of its hierarchy",
    "entropy": "the share of information that is lost",
    "uncertainty": "the total growth of cells",
    "relative_uncertainty": "the same, as a share of its maximum",
}


def _size(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _certificate(found: Figures) -> Facts:
    facts = found["certificate"]
    losses = [[name.replace("_", " "), LOSSES.get(name, ""), _size(value)] for name, value in facts["loss"].items()]
    rows = [
        ["order of the rows", facts["order"]],
        ["missing values", facts["missing"]],
        ["versions", ", ".join(f"{name} {version}" for name, version in facts["versions"].items())],
        ["source", facts["source"]],
        ["time", f"{facts['seconds']:,} s"],
        ["SHA-256 of the policy", facts["policy_sha256"]],
        ["SHA-256 of the release", facts["release_sha256"] or "a table in memory"],
    ]
    rows += [["SHA-256 of the second table", facts["second_sha256"]]] if facts["second_sha256"] else []
    rows += (
        [["levels", ", ".join(f"{name} {level}" for name, level in facts["levels"].items())]] if facts["levels"] else []
    )
    rows += [[f"values of {name}", f"{count:,}, listed in the certificate"] for name, count in facts["hidden"].items()]
    rows += [["note", note] for note in facts["notes"]]
    rounded = (
        f"Fewer than {found['threshold']} records were suppressed. Exact figures would reveal how many, so shares are "
        "rounded and sums are not shown."
    )
    return {"rows": rows, "losses": losses, "notes": [rounded] if facts["rounded"] else []}


def _blurring(found: Figures) -> Facts:
    least = found["threshold"]
    who = "people" if found["people"] else "records"
    lines = [
        f"A value, or a range of numbers, that fewer than {least} {who} have is not shown alone; it is merged with "
        "others.",
        "The smallest and the largest number of a column are not shown: the outer bins are open, and begin at round "
        "numbers.",
        f"Shares of the data come from counts rounded to multiples of {least}, so subtracting the release reveals "
        "nothing. Shares of the release are exact, because anyone who has it can count them.",
        "Results of attacks on a sensitive value, and numbers of singled-out people, are rounded in the same way. "
        "Their intervals are rounded outwards.",
        "Columns with more than 200 different values, or mostly with values that occur once, are described without "
        "any value.",
        "Identifiers were not read at all.",
    ]
    return {"lines": lines}
