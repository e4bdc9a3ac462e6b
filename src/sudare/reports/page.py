"""The frame of a report: one HTML file that needs nothing else, for screens wide and narrow, light and dark, and paper.

There is no script in it, and nothing is fetched: a policy in its head forbids both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sudare.reports.checklists import (
    STYLES,
    checklists,
    verdicts,
)
from sudare.reports.explanations import signed
from sudare.reports.sections import (
    Section,
    sections_of,
    table,
)
from sudare.reports.svg.marks import plain

STYLE = """
:root { color-scheme: light dark;
  --paper: #fbfbf8; --card: #ffffff; --ink: #0b1118; --quiet: #52606d; --faint: #d5dbe1; --before: #8d9bab;
  --after: #0f766e; --on: #ffffff; --good: #0f766e; --bad: #9a3412; --open: #7a4f01; --hidden: #3b4653;
  --general: #5aa9a1; --drawn: #6b5ca5; --gone: #c9826b; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #11171d; --card: #182028; --ink: #e6ecf1; --quiet: #a5b3c0; --faint: #313d48; --before: #73849a;
  --after: #3cc4b4; --on: #06110f; --good: #4fd1c1; --bad: #f19a79; --open: #e8b95b; --hidden: #9aa8b6;
  --general: #1f8379; --drawn: #a99be0; --gone: #b8674d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5; font-size: 16px;
  font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 48px 0 6px; padding-top: 10px; border-top: 2px solid var(--faint); }
h3 { font-size: 1.02rem; margin: 20px 0 4px; overflow-wrap: anywhere; }
p { margin: 6px 0 10px; max-width: 76ch; }
a { color: var(--after); }
nav ol { columns: 3 220px; margin: 16px 0 0; padding-left: 1.4em; }
.quiet, .note { color: var(--quiet); font-size: 0.92rem; }
.warned { background: var(--card); border: 2px solid var(--bad); border-radius: 8px; padding: 4px 16px 10px;
  margin: 18px 0; }
.warned h3 { margin: 8px 0 4px; color: var(--bad); } .warned ul { margin: 0; padding-left: 1.2em; }
.warned li { margin: 4px 0; max-width: 76ch; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 18px 0;
  padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--faint); border-radius: 8px; padding: 10px 14px; }
.facts dt { color: var(--quiet); font-size: 0.85rem; } .facts dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr)); gap: 16px; }
.card { background: var(--card); border: 1px solid var(--faint); border-radius: 8px; padding: 12px 14px; min-width: 0; }
.card h3 { margin: 0; } .card p { margin: 2px 0 6px; font-size: 0.88rem; }
.flow { columns: 3 320px; column-gap: 16px; }
.flow .card { display: inline-block; width: 100%; break-inside: avoid; margin: 0 0 16px; }
.wide { max-width: 450px; }
svg { display: block; width: 100%; height: auto; max-width: 560px; overflow: visible; }
svg text { fill: var(--ink); } svg text.q { fill: var(--quiet); } svg text.on { fill: var(--on); }
svg text.mid { fill: #06110f; }
svg .before { fill: var(--before); } svg .after { fill: var(--after); } svg .cell { fill: var(--after); }
svg .g { stroke: var(--faint); stroke-width: 0.8; }
svg .form-single { fill: var(--after); } svg .form-generalized { fill: var(--general); }
svg .form-hidden { fill: var(--hidden); } svg .form-drawn { fill: var(--drawn); }
svg .form-left_out { fill: var(--gone); }
svg text.on-single, svg text.on-hidden, svg text.on-drawn { fill: var(--on); }
svg text.on-generalized, svg text.on-left_out { fill: #06110f; }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 12px; padding: 0; list-style: none;
  font-size: 0.88rem; }
.key i { display: inline-block; width: 0.85em; height: 0.85em; border-radius: 2px; margin-right: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.93rem; margin: 8px 0 14px; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px 6px 0; border-bottom: 1px solid var(--faint);
  overflow-wrap: anywhere; }
td:first-child { min-width: 11em; }
th { font-weight: 600; overflow-wrap: normal; color: var(--quiet); font-size: 0.85rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.86em;
  overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; }
.whole { list-style: none; padding-left: 0; }
.met, .holds { color: var(--good); } .unmet, .broken { color: var(--bad); } .judge { color: var(--open); }
.sign { display: block; margin-top: 10px; border-bottom: 1px solid var(--quiet); height: 1.3em; min-width: 150px; }
ol.names { columns: 2 150px; max-width: 450px; font-size: 0.9rem; margin: 8px 0; }
@media (max-width: 640px) {
  main { padding: 16px 14px 48px; } h1 { font-size: 1.35rem; }
  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; width: 100%; }
  table.stack thead { display: none; } table.stack tr { border-bottom: 1px solid var(--faint); padding: 8px 0; }
  table.stack td { border: 0; padding: 1px 0; } table.stack td.n { text-align: left; white-space: normal; }
  table.stack td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); font-size: 0.85rem; }
}
@media print {
  :root { --paper: #ffffff; --card: #ffffff; --ink: #000000; --quiet: #444444; --faint: #bbbbbb; --before: #8d9bab;
    --after: #0f766e; --on: #ffffff; --good: #0f766e; --bad: #9a3412; --open: #7a4f01; --hidden: #3b4653;
    --general: #5aa9a1; --drawn: #6b5ca5; --gone: #c9826b; }
  @page { margin: 16mm 14mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; } .card, tr { break-inside: avoid; } .cards { grid-template-columns: repeat(2, 1fr); }
  .flow { columns: 2; }
  a { color: inherit; text-decoration: none; }
}
"""


def report_page(found: Mapping[str, Any]) -> str:
    """Return the whole report as HTML, from what :func:`sudare.reports.describe.describe` gives."""
    parts = [*sections_of(found), checklists(found)]
    name = found["names"].get("release") or "a release"
    body = "\n".join(_section(part) for part in parts)
    contents = "".join(f'<li><a href="#{part.key}">{plain(part.title)}</a></li>' for part in parts)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>Report on {plain(name)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>Report on {plain(name)}</h1>\n{_lead(found)}</header>\n"
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _section(part: Section) -> str:
    return f'<section id="{part.key}">\n<h2>{plain(part.title)}</h2>\n{part.body}\n</section>'


def _lead(found: Mapping[str, Any]) -> str:
    records = found["records"]
    lost = records["left_out"]
    told = f"fewer than {lost['below']}" if "below" in lost else f"{lost['about']:,}"
    held = sum(bool(one["holds"]) for one in found["guarantees"])
    facts: Sequence[tuple[str, str]] = [
        ("records in the data", f"{'about ' if records['source_is_rounded'] else ''}{records['source']:,}"),
        ("records released", f"{records['released']:,}"),
        ("records masked" if records["masked"] else "records left out", told),
        ("promises that hold", f"{held} of {len(found['guarantees'])}"),
        ("method", found["method"]),
    ]
    named = {"made of": found["names"].get("data"), "under the policy": found["names"].get("policy")}
    made = [f"{word} {name}" for word, name in named.items() if name]
    line = f'<p class="quiet">{plain(", ".join(made))}</p>\n' if made else ""
    cells = "".join(f"<div><dt>{plain(name)}</dt><dd>{plain(value)}</dd></div>" for name, value in facts)
    return (
        f"{line}<p>This page tells what was promised about the people in this release, what was proven, and what the "
        f"release is still good for. It shows no value that fewer than {found['threshold']} "
        f"{'people' if found['people'] else 'records'} share.</p>\n"
        f'{_verdict(found)}<dl class="facts">{cells}</dl>\n{_warned(found.get("warnings") or [])}{_about(found)}'
    )


def _verdict(found: Mapping[str, Any]) -> str:
    """Return the verdict on the whole, first of all what is not kept or not met."""
    broken = sum(not one["holds"] for one in found["guarantees"])
    count = len(found["guarantees"])
    told = f"{broken} of {count} broken" if broken else f"all {count} hold"
    warned = len(found.get("warnings") or ())
    style = "broken" if broken else "judge" if warned else "holds"
    warnings = f"{warned} {'warning' if warned == 1 else 'warnings'}"
    beside = f"with {warnings}: what they do not cover is below" if warned else ""
    lines = [("promises of the policy", style, told, beside)]
    lines += [(title, STYLES[verdict], verdict, rules) for title, verdict, rules in verdicts(found)]
    rows = "".join(
        f'<li><span class="verdict {style}">{plain(verdict)}</span> {plain(title)}'
        f"{f' ({plain(rules)})' if rules else ''}</li>"
        for title, style, verdict, rules in lines
    )
    return f'<ul class="whole" aria-label="Verdict">{rows}</ul>\n'


def _about(found: Mapping[str, Any]) -> str:
    """Return what the release is for, when it was made, and who answers for it."""
    facts = found["certificate"]
    names = {"legal_basis": "legal basis"}
    rows = [[names.get(key, key), text] for key, text in facts["about"].items()]
    if facts["date"]:
        rows.append(["made", f"{facts['date']}, with sudare {facts['versions'].get('sudare', '')}"])
    rows.append(["signed", signed(facts["signature"])])
    return table(["about this release", ""], rows)


def _warned(warnings: Sequence[Mapping[str, Any]]) -> str:
    """Return what the release gives away although it keeps its promises, in a box that is not overlooked."""
    if not warnings:
        return ""
    lines = "".join(f"<li>{plain(one['text'])}</li>" for one in warnings)
    title = "What the promises do not cover"
    return f'<aside class="warned" aria-label="{title}"><h3>{title}</h3>\n<ul>{lines}</ul></aside>\n'
