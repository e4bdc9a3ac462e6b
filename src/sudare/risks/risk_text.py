"""A risk report as text: what there is before and after side by side, the worst combinations, attacks and criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.core.text_tables import TextColumn, text_table

COMBINATIONS = 8
"""So many combinations of columns are listed."""
CRITERIA = {"singling_out": "singling out", "linkability": "linkability", "inference": "inference"}


def show(found: Mapping[str, Any]) -> list[str]:
    """Return the lines that tell a report, from what ``Risk.to_dict`` gives."""
    before, after = found["before"], found["after"]
    sides = [before] if after is None else [before, after]
    heads = ["before"] if after is None else ["before", "after"]
    released = "" if found["released"] is None else f"; {found['released']} released"
    lines = [f"{found['rows']} records{released}. The intruder knows {', '.join(found['columns'])}."]
    lines += _table(["", *heads], _exposures("records", sides, "prosecutor and marketer"))
    if before["people"] is not None:
        lines += _table(["", *heads], _exposures("people", sides, "per data subject"))
    if before["journalist"] is not None:
        lines += _table(["", *heads], _journalist(sides))
    if before["uniqueness"] is not None:
        lines += _table(["", *heads], _uniqueness(sides))
    lines += _released(found["unique"], heads)
    lines += _combinations(before, after)
    lines += _attacks(found, heads)
    lines += ["WP216, measured (95% intervals):"]
    for name, title in CRITERIA.items():
        told = [f"{head} {_criterion(found['wp216'][name][head])}" for head in heads]
        lines.append(f"  {title}: {'; '.join(told)}")
    return [*lines, *(f"note: {note}" for note in found["notes"])]


def _exposures(key: str, sides: list[dict[str, Any]], title: str) -> list[list[str]]:
    parts = [side[key] for side in sides]

    def row(name: str, value: Any) -> list[str]:
        return [name, *("-" if part is None else value(part) for part in parts)]

    thresholds = next(part["above"] for part in parts if part is not None)
    return [
        [f"{title}:", *[""] * len(parts)],
        row("  smallest class", lambda part: str(part["smallest"])),
        row("  classes", lambda part: str(part["classes"])),
        row("  largest risk", lambda part: _share(part["largest_risk"])),
        row("  mean risk", lambda part: _share(part["mean_risk"])),
        *(row(f"  {key} above {name}", lambda part, name=name: _share(part["above"][name])) for name in thresholds),
        row(f"  unique {key}", lambda part: f"{part['unique']} ({_share(part['unique_share'])})"),
    ]


def _journalist(sides: list[dict[str, Any]]) -> list[list[str]]:
    parts = [side["journalist"] for side in sides]
    first = parts[0]

    def row(name: str, value: Any) -> list[str]:
        return [name, *("-" if part is None else value(part) for part in parts)]

    rows = [
        [f"journalist, from a {first['source']} ({first['population']:.0f} records):", *[""] * len(parts)],
        row("  k-map" + ("" if first["source"] == "population table" else ", expected"), lambda p: f"{p['k_map']:.0f}"),
        row("  largest risk", lambda part: _share(part["largest_risk"])),
        row("  mean risk", lambda part: _share(part["mean_risk"])),
    ]
    if first["unique"] is not None:
        rows.append(row("  records that fit one person", lambda part: str(part["unique"])))
    if first["presence"] is not None:
        rows.append(row("  delta-presence", lambda part: _bounds(part["presence"])))
    return rows


def _uniqueness(sides: list[dict[str, Any]]) -> list[list[str]]:
    parts = [side["uniqueness"] for side in sides]
    rows = [["unique in the population, estimated:", *[""] * len(parts)]]
    rows += [
        [f"  {name}", *("-" if p is None or p[name] is None else _share(p[name]) for p in parts)]
        for name in ("pitman", "zayatz", "snb")
    ]
    rule = "  Dankar's rule"
    return [*rows, [rule, *("-" if p is None else f"{_share(p['dankar'])} ({p['rule']})" for p in parts)]]


def _released(unique: Mapping[str, Any], heads: list[str]) -> list[str]:
    """Return what is unique by all columns that are released, and by each insensitive one that singles somebody out."""
    parts = [unique[head] for head in heads]
    if all(part is None for part in parts):
        return []

    def row(name: str, value: Any) -> list[str]:
        return [name, *("-" if part is None else _share(value(part)) for part in parts)]

    names = next(list(part["columns"]) for part in parts if part is not None)
    telling = [name for name in names if any(part is not None and part["columns"].get(name) for part in parts)]
    return _table(
        ["", *heads],
        [
            ["unique records, by released columns:", *[""] * len(parts)],
            row("  quasi-identifiers and insensitive", lambda part: part["together"]),
            row("  insensitive alone", lambda part: part["insensitive"]),
            *(row(f"  {name} alone", lambda part, name=name: part["columns"].get(name, 0.0)) for name in telling),
        ],
    )


def _combinations(before: dict[str, Any], after: dict[str, Any] | None) -> list[str]:
    found = before["singling_out"]
    if found is None:
        return []
    later = None if after is None else after["singling_out"]
    now = "" if later is None else f"; after: {later['records']} ({_share(later['share'])})"
    lines = [
        f"combinations of up to {found['most_columns']} columns single out {found['records']} records "
        f"({_share(found['share'])}){now}"
    ]
    listed = found["combinations"]
    lines += [f"  {each['records']:>9} by {' + '.join(each['columns'])}" for each in listed[:COMBINATIONS]]
    if len(listed) > COMBINATIONS:
        lines.append("  ... and more (--json)")
    if found["records"]:
        ranked = sorted(found["contribution"].items(), key=lambda pair: -pair[1])
        told = ", ".join(f"{name} {_share(share)}" for name, share in ranked)
        lines.append(f"  share of the SUDA scores with each column: {told}")
    return lines


def _attacks(found: Mapping[str, Any], heads: list[str]) -> list[str]:
    lines, unit = [], found["unit"]
    for head in heads:
        linkage = found[head]["linkage"]
        if linkage is not None:
            lines.append(f"linkage attack, {head}: {_success(linkage['linked'], unit)}")
    for each in found["inference"]:
        for head in heads:
            guesses = each[head]
            if guesses is None:
                continue
            held = "" if guesses["held_out"] is None else f"; own record held out {_share(guesses['held_out'])}"
            lines.append(f"inference of '{each['target']}', {head}: {_success(guesses['by_class'], unit)}{held}")
            if guesses["by_model"] is not None:
                held = _share(guesses["model_held_out"]) if guesses["model_held_out"] is not None else "-"
                lines.append(f"  by a model: {_success(guesses['by_model'], unit)}; held-out records {held}")
            lines.append(
                f"  certain for {_share(guesses['certain'])}, nearly for {_share(guesses['nearly_certain'])} of "
                f"records; largest shift {guesses['largest_shift']:.4f}, mean {guesses['mean_shift']:.4f}"
            )
    return lines


def _success(one: Mapping[str, Any], unit: str) -> str:
    return (
        f"{_share(one['success'])} right ({_share(one['low'])} to {_share(one['high'])}), baseline "
        f"{_share(one['baseline'])}, {one['attacked']} {unit}"
    )


def _criterion(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "not measured"
    return f"{_signed(one['above'])} ({_signed(one['above_low'])} to {_signed(one['above_high'])}) above baseline"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    columns = [TextColumn(right=False, gap=0), *(TextColumn() for _ in head[1:])]
    return text_table(columns, [[rows[0][0], *head[1:]], *rows[1:]])


def _share(value: float) -> str:
    """Return a share in percent; what is above nothing never shows as nothing."""
    percent = 100 * value
    if 0 < percent < 0.005:
        return f"{percent:.1g}%"
    return f"{percent:.2f}%"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else ''}{_share(abs(value))}"


def _bounds(presence: Mapping[str, float] | None) -> str:
    return "-" if presence is None else f"{presence['low']:.4f} to {presence['high']:.4f}"
