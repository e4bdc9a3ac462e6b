"""The sections of a report, each from plain data: figures, and a sentence on what each of them means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.reports.explanations import (
    ROLES,
    TREATMENTS,
    limits,
    meaning,
    usage,
)
from sudare.reports.svg.marks import plain
from sudare.reports.svg.report_charts import (
    FORMS,
    bars,
    histogram,
    matrix,
    percent,
    shares,
)


@dataclass(frozen=True)
class Section:
    """A section: its key, which links lead to, its title, and its body as HTML."""

    key: str
    title: str
    body: str


Found = Mapping[str, Any]


def sections_of(found: Found) -> list[Section]:
    """Return the sections of a report in their order."""
    parts: list[tuple[str, str, Callable[[Found], str]]] = [
        ("promises", "What was promised, and proven", _promises),
        ("columns", "Each column before and after", _columns),
        ("relations", "How columns go together", _relations),
        ("classes", "How many look alike", _classes),
        ("attributes", "What became of the cells", _attributes),
        ("risk", "Risk before and after", _risk),
        ("use", "How to use the release", _use),
        ("policy", "The policy", _policy),
        ("certificate", "The certificate", _certificate),
        ("blurring", "What this report does not show", _blurring),
    ]
    return [Section(key, title, make(found)) for key, title, make in parts]


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of plain text."""
    kind = f' class="{style}"' if style else ""
    return f"<p{kind}>{plain(text)}</p>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = (), raw: bool = False) -> str:
    """Return a table that becomes a list on narrow screens; ``raw``: cells are HTML already."""

    def cell(text: str, place: int, tag: str) -> str:
        kind = ' class="n"' if place in numbers else ""
        name = f' data-name="{plain(head[place]).replace(chr(34), "&quot;")}"' if tag == "td" and place else ""
        return f"<{tag}{kind}{name}>{text if raw and tag == 'td' else plain(text)}</{tag}>"

    top = "".join(cell(name, place, "th") for place, name in enumerate(head))
    body = "".join(f"<tr>{''.join(cell(text, n, 'td') for n, text in enumerate(row))}</tr>" for row in rows)
    return f'<table class="stack"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def key(*entries: tuple[str, str]) -> str:
    """Return what colours mean: the variable of each, and its meaning."""
    lines = (f'<li><i style="background:var(--{colour})"></i>{plain(text)}</li>' for colour, text in entries)
    return f'<ul class="key">{"".join(lines)}</ul>'


BEFORE_AFTER = (("before", "before, in the data (rounded)"), ("after", "after, as read from the release"))


def _figure(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_figure(part)}" for name, part in value.items())
    if value is None:
        return "no finite number"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _promises(found: Found) -> str:
    rows = []
    for one in found["guarantees"]:
        verdict = (
            '<span class="verdict holds">holds</span>' if one["holds"] else '<span class="verdict broken">broken</span>'
        )
        limited = one["required"] not in (0, None) or not str(one["model"]).endswith("absent")
        note = f'<br><span class="note">{plain(one["note"])}</span>' if one["note"] else ""
        rows.append([
            f"<strong>{plain(_asked(one))}</strong><br>{plain(meaning(one))}{note}",
            plain(_figure(one["required"])) if limited else "none",
            plain(_figure(one["achieved"])) if limited else plain(_figure(one["achieved"] or "none")),
            verdict,
        ])  # fmt: skip
    intro = paragraph(
        "The policy lists promises. Before the release was handed over, a second program that shares nothing with the "
        "first read the written file and proved each of them; a release that breaks one is never written."
    )
    not_proven = paragraph(
        "Nobody can prove that the roles in the policy are right, that its limits are strict enough, or that nothing "
        "is learned from this release together with another one about the same people. People decide that.",
        "note",
    )
    body = table(["promise", "required", "achieved", "verdict"], rows, numbers=(1, 2), raw=True)
    return intro + body + "".join(paragraph(line) for line in limits(found)) + not_proven


def _asked(one: Found) -> str:
    given = ", ".join(
        f"{name} = {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in one["parameters"].items()
        if value not in (None, [], {}, "")
    )
    return f"{one['model']} ({given})" if given else str(one["model"])


def _columns(found: Found) -> str:
    cards = "".join(f'<article class="card">{"".join(_column(column))}</article>' for column in found["columns"])
    intro = paragraph(
        "Each picture shows which share of the records has a value, in the data and in the release. A generalized cell "
        "is read as an analyst would read it: an interval counts evenly for all numbers that it covers, a set for "
        "each of its members, a group of a hierarchy for each value below it. The difference is the share of the "
        "records that would have to change places to turn one distribution into the other: 0% is the same, 100% has "
        "nothing in common."
    )
    return f'{intro}{key(*BEFORE_AFTER)}<div class="flow">{cards}</div>'


def _column(column: Found) -> Iterator[str]:
    yield f"<h3>{plain(column['name'])}</h3>"
    about = f"{ROLES[column['role']]}; {TREATMENTS[column['treatment']]}."
    if column["distance"] is not None:
        about += f" Difference {percent(column['distance'])}."
    yield paragraph(about, "quiet")
    if column["parts"]:
        title = f"Shares of {column['name']} before and after"
        upright = column["kind"] in ("number", "date", "time", "duration") and len(column["parts"]) > 3
        yield histogram(column["parts"], title=title) if upright else bars(column["parts"], title=title)
    for note in column["notes"]:
        yield paragraph(note, "note")


def _relations(found: Found) -> str:
    facts = found["relations"]
    if facts is None:
        return paragraph(
            "There are fewer than two columns that can be compared, or too few records to compare them without telling "
            "something about each."
        )
    intro = paragraph(
        "How strongly two columns go together, from 0 (not at all) to 1 (one follows from the other): the correlation "
        "of two numbers (below 0 if one falls as the other grows), the correlation ratio of a number and a category, "
        "and Cramér's V of two categories. What is weaker after than before is what an analysis of the release will "
        "miss."
    )
    squares = {side: matrix(facts["names"], facts[side], title=f"Associations {side}") for side in ("before", "after")}
    pair = "".join(f'<article class="card"><h3>{side}</h3>{each}</article>' for side, each in squares.items())
    names = "".join(f"<li>{plain(name)}</li>" for name in facts["names"])
    notes = []
    if any(value is None for line in facts["after"] for value in line):
        notes.append("A dash stands where values are hidden in sets or groups: estimates tell what they go with.")
    if found["method"] == "pram":
        notes.append(
            "Cells of the release were drawn at random, which makes them go together less than their truth does."
        )
    if facts["drawn"]:
        notes.append(f"From {facts['drawn']:,} records that were drawn at random.")
    if facts["left_out"]:
        notes.append(f"Not compared, for want of room: {', '.join(facts['left_out'])}.")
    moved = _moved(facts)
    return (
        f'{intro}{paragraph(moved) if moved else ""}<div class="cards">{pair}</div><ol class="names">{names}</ol>'
        + "".join(paragraph(note, "note") for note in notes)
    )


def _moved(facts: Found) -> str:
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
        return "No two columns go together more or less than before."
    return f"The largest change is that of {first} and {second}: {before:.2f} before, {after:.2f} after."


def _classes(found: Found) -> str:
    facts = found["classes"]
    if facts is None:
        return paragraph("The policy names no quasi-identifiers by which records could look alike.")
    bins = facts["bins"]
    intro = (
        f"A person can be found among the records that look the same in {', '.join(facts['columns'])}. The picture "
        "shows in how large a crowd the records stand: which share of them is in groups of one record, of two to "
        "three, and so on."
    )
    if bins[0]["after"] is None:
        untouched = (
            "This method leaves these columns as they were, or draws them anew, so that the release has no such "
            "groups. The picture is that of the data. What protects the people is what the promises above say."
        )
        return paragraph(intro) + paragraph(untouched) + f'<div class="wide">{bars(bins, title="Group sizes")}</div>'
    few = any(part["few"] for part in bins)
    note = paragraph(f"“few”: fewer than {found['threshold']} records.", "note") if few else ""
    smallest = found["smallest_class"]
    told = f"In the release the smallest group has {smallest:,} {'people' if found['people'] else 'records'}."
    return (
        paragraph(intro) + paragraph(told) + key(*BEFORE_AFTER)
        + f'<div class="wide">{bars(bins, title="Group sizes before and after")}</div>{note}'
    )  # fmt: skip


def _attributes(found: Found) -> str:
    quasi = [column for column in found["columns"] if column["shares"]]
    if not quasi:
        return paragraph("No quasi-identifier was changed.")
    used = {form for column in quasi for form, share in column["shares"].items() if share}
    colours = {"single": "after", "generalized": "general", "hidden": "hidden", "drawn": "drawn", "left_out": "gone"}
    intro = paragraph(
        "For each quasi-identifier, which share of the records shows a single value, a generalized one, or nothing. "
        "For item sets it is the share of the items."
    )
    legend = key(*((colours[form], FORMS[form]) for form in FORMS if form in used))
    head = ["attribute", *(FORMS[form] for form in FORMS if form in used), "mean width of a generalized cell"]
    rows = [
        [
            column["name"],
            *(percent(column["shares"].get(form) or 0.0) for form in FORMS if form in used),
            _width(column),
        ]
        for column in quasi
    ]
    lost = found["records"]["left_out"]
    told = ""
    if "below" in lost:
        told = paragraph(
            f"Fewer than {lost['below']} records are not shown at all; they are not in these figures.", "note"
        )
    picture = f'<div class="wide">{shares(quasi, title="Shares of cells by what became of them")}</div>'
    return intro + legend + picture + table(head, rows, numbers=range(1, len(head))) + told


def _width(column: Found) -> str:
    width = column.get("width")
    if width is None:
        return "–"
    unit = {"category": "values", "text": "values", "date": "days", "time": "hours", "duration": "seconds"}
    return f"{width:,g} {unit.get(column['kind'], '')}".rstrip()


def _risk(found: Found) -> str:
    facts = found["exposure"]
    if facts is None:
        return paragraph("The policy names no quasi-identifiers by which a person could be recognised.")
    before, after = facts["before"], facts["after"]
    who = "of people who look like nobody else" if found["people"] else "like no other"

    def line(name: str, about: str, take: Callable[[Found], float | None]) -> list[str]:
        told = "see the promises" if after is None else percent(take(after))
        return [f"<strong>{plain(name)}</strong><br>{plain(about)}", plain(_share(take(before), found)), plain(told)]

    largest = (
        "How likely the most exposed record is connected with the right person, by somebody who knows that the person "
        "is in the table: one divided by the size of the smallest group."
    )
    mean = "The same on average: the share of the records that would be connected rightly if somebody tried with all."
    rows = [
        line("largest risk", largest, lambda side: side["largest"]),
        line("mean risk", mean, lambda side: side["mean"]),
        line("alone", f"Which share of the records is {who}.", lambda side: side["unique"]),
    ]
    for limit in before["above"]:
        about = (
            f"Which share of the records stands above a risk of {limit}, that is in groups of fewer than "
            f"{_crowd(limit)}."
        )
        rows.append(line(f"above {limit}", about, lambda side, limit=limit: side["above"][limit]))  # type: ignore[misc]
    classes = found["classes"]
    intro = paragraph(
        f"How likely it is that somebody who knows {', '.join(classes['columns'])} of a person finds the record of "
        "this person."
    )
    if classes["outside"]:
        intro += paragraph(
            f"Not in these figures: {', '.join(classes['outside'])}, which km-anonymity alone limits. Whoever knows "
            "more of it than that allows for may find a record by it."
        )
    body = intro + table(["figure", "before", "after"], rows, numbers=(1, 2), raw=True)
    if found["risk"] is None:
        return body + paragraph("Attacks on the data and on the release were not tried for this report.", "note")
    return body + _attacks(found["risk"], found)


def _crowd(limit: str) -> int:
    return {"0.05": 20, "0.09": 11, "0.2": 5, "0.33": 3}.get(limit) or round(1 / float(limit))


def _share(share: float | None, found: Found) -> str:
    return f"fewer than {found['threshold']} records" if share is None else percent(share)


def _attacks(risk: Found, found: Found) -> str:
    """Return what attacks on both sides achieved."""
    rows = []
    linkage = risk["linkage"]
    if linkage["before"] or linkage["after"]:
        about = (
            "Which share of the people who were looked for was connected with the right record."
            if found["people"]
            else "Which share of the records that were looked for was found."
        )
        rows.append(["linking", about, *(_success(linkage[side]) for side in ("before", "after"))])
    singled = risk["singled_out"]
    if singled["before"]:
        about = (
            f"Which share of the records is the only one with some combination of up to {risk['most_columns']} columns."
        )
        rows.append(["singling out", about, *(_singled(singled[side], found) for side in ("before", "after"))])
    for each in risk["inference"]:
        about = (
            f"How often {each['target']} is guessed rightly from what the record's group shows, and how often "
            f"without it."
        )
        rows.append([f"inferring {each['target']}", about, *(_success(each[side]) for side in ("before", "after"))])
    if not rows:
        return ""
    lines = [[f"<strong>{plain(name)}</strong><br>{plain(about)}", plain(first), plain(second)]
             for name, about, first, second in rows]  # fmt: skip
    head = paragraph("Attacks that were tried on the data and on the release, with intervals of 95%:")
    body = head + table(["attack", "before", "after"], lines, numbers=(1, 2), raw=True)
    if risk["combinations"]:
        worst = "; ".join(f"{', '.join(one['columns'])} ({percent(one['share'])})" for one in risk["combinations"][:5])
        body += paragraph(f"In the data, these combinations of columns single out most records: {worst}.")
    return body


def _success(one: Found | None) -> str:
    if one is None:
        return "not measured"
    return (
        f"{percent(one['success'])} ({percent(one['low'])} to {percent(one['high'])}); by chance "
        f"{percent(one['baseline'])}"
    )


def _singled(one: Found | None, found: Found) -> str:
    if one is None:
        return "not measured"
    return f"fewer than {found['threshold']} records" if one["few"] else percent(one["share"])


def _use(found: Found) -> str:
    lines = "".join(f"<li>{text}</li>" for text in usage(found))
    return f"<ul>{lines}</ul>"


def _policy(found: Found) -> str:
    policy = found["policy"]
    rows = [
        [
            column["name"],
            f"{column['role']}: {ROLES[column['role']]}",
            ", ".join(
                str(part)
                for part in (
                    column["kind"],
                    column["hierarchy"] and f"hierarchy: {column['hierarchy']}",
                    column["ordered"] and f"{column['ordered']} values in order",
                )
                if part
            )
            or "–",
        ]
        for column in policy["columns"]
    ]
    required = "".join(
        f"<li><code>{plain(', '.join(f'{name}: {value}' for name, value in one.items()))}</code></li>"
        for one in policy["require"]
    )
    method = ", ".join(f"{name}: {value}" for name, value in policy["method"].items())
    allowed = policy["suppression"]
    return (
        paragraph(
            "What each column is to somebody who tries to recognise a person, and what the release has to promise."
        )
        + table(["column", "role", "form"], rows)
        + f"<h3>Required</h3><ul>{required}</ul>"
        + f"<h3>Method</h3><p><code>{plain(method)}</code></p>"
        + paragraph(f"Up to {percent(allowed['limit'])} of the records may be left out ({allowed['records']}).")
        + f'<p class="quiet">SHA-256 of the policy: <code>{plain(policy["sha256"])}</code></p>'
    )


LOSSES = {
    "gcp": "how wide the released cells are on average; 0 is untouched, 1 is nothing shown",
    "arx": "the same, by the leaves of the hierarchies",
    "discernibility": "the sum of the squares of group sizes; it grows with the table",
    "average_class_size": "records of a group, on average",
    "precision": "1 is untouched, 0 is everything at the top of its hierarchy",
    "entropy": "the share of information that is lost by not knowing values exactly",
    "uncertainty": "by how much cells have grown, in all",
    "relative_uncertainty": "the same, as a share of what it could be",
}


def _size(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _certificate(found: Found) -> str:
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
    intro = paragraph(
        "The certificate is a file beside the release. Whoever gets the release can prove it again with sudare audit; "
        "the digests tell whether the files are those that this page speaks of."
    )
    rounded = (
        f"Fewer than {found['threshold']} records were left out, and how many would follow from exact figures: shares "
        "are rounded, and sums are not shown."
    )
    return (
        intro + table(["entry", "content"], rows) + "<h3>Loss</h3>"
        + paragraph("What the release loses by the usual measures. Less is better in each but precision.")
        + (paragraph(rounded, "note") if facts["rounded"] else "")
        + table(["measure", "what it means", "figure"], losses, numbers=(2,))
    )  # fmt: skip


def _blurring(found: Found) -> str:
    least = found["threshold"]
    who = "people" if found["people"] else "records"
    lines = [
        f"A value, or a range of numbers, that fewer than {least} {who} have is not shown by itself; it is merged "
        f"with others.",
        "The smallest and the largest number of a column are not shown: the outer bins are open, and begin at round "
        "numbers.",
        f"Shares of the data are those of counts rounded to multiples of {least}, so that nothing can be found out by "
        "subtracting what the release shows. Shares of the release are exact, as anybody who has it can count them.",
        "What attacks on a sensitive value achieved, and how many people they single out, are rounded in the same way, "
        "and their intervals outwards.",
        "Columns with more than 200 different values, or mostly with values that occur once, are described without "
        "any value.",
        "Identifiers were not read at all.",
    ]
    return "<ul>" + "".join(f"<li>{plain(line)}</li>" for line in lines) + "</ul>"
