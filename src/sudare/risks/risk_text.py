"""A risk report as text: figures before and after, the worst combinations, attacks and criteria."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from sudare.core.text_tables import TextColumn, text_table

if TYPE_CHECKING:
    from sudare.risks.class_risk import Exposure
    from sudare.risks.inference import Guesses
    from sudare.risks.intervals import Success
    from sudare.risks.population_risk import Journalist
    from sudare.risks.population_uniqueness import Uniqueness
    from sudare.risks.released_columns import Unique
    from sudare.risks.risk_report import Risk
    from sudare.risks.singling_out import SinglingOut

Part = TypeVar("Part")

COMBINATIONS = 8
"""So many combinations of columns are listed."""
CRITERIA = {"singling_out": "singling out", "linkability": "linkability", "inference": "inference"}


def show(found: Risk) -> list[str]:
    """Return the lines that tell a report."""
    before, after = found.before, found.after
    sides = [before] if after is None else [before, after]
    heads = ["before", "after"][: len(sides)]
    released = "" if found.released is None else f"; {found.released} released"
    lines = [f"{found.rows} records{released}. The intruder knows {', '.join(found.columns)}."]
    lines += _table(["", *heads], _exposures("records", [side.records for side in sides], "prosecutor and marketer"))
    if before.people is not None:
        lines += _table(["", *heads], _exposures("people", [side.people for side in sides], "per data subject"))
    if before.journalist is not None:
        lines += _table(["", *heads], _journalist(before.journalist, [side.journalist for side in sides]))
    if before.uniqueness is not None:
        lines += _table(["", *heads], _uniqueness([side.uniqueness for side in sides]))
    lines += _released([found.unique.get(head) for head in heads], heads)
    if before.singling_out is not None:
        lines += _combinations(before.singling_out, None if after is None else after.singling_out)
    lines += _attacks(found)
    lines += ["WP216, measured (95% intervals):"]
    criteria = found.criteria
    for name, title in CRITERIA.items():
        told = [f"{head} {_criterion(criteria[name][head])}" for head in heads]
        lines.append(f"  {title}: {'; '.join(told)}")
    reasons = [f"inference of '{name}' is not measured: {why}" for name, why in found.not_inferred.items()]
    return [*lines, *(f"note: {note}" for note in (*reasons, *found.notes))]


def _row(name: str, parts: Sequence[Part | None], value: Callable[[Part], str]) -> list[str]:
    return [name, *("-" if part is None else value(part) for part in parts)]


def _exposures(key: str, parts: Sequence[Exposure | None], title: str) -> list[list[str]]:
    thresholds = next(part.above for part in parts if part is not None)
    return [
        [f"{title}:", *[""] * len(parts)],
        _row("  smallest class", parts, lambda part: str(part.smallest)),
        _row("  classes", parts, lambda part: str(part.classes)),
        _row("  largest risk", parts, lambda part: _share(part.largest_risk)),
        _row("  mean risk", parts, lambda part: _share(part.mean_risk)),
        *(
            [f"  {key} above {name}", *("-" if part is None else _share(part.above[name]) for part in parts)]
            for name in thresholds
        ),
        _row(f"  unique {key}", parts, lambda part: f"{part.unique} ({_share(part.unique_share)})"),
    ]


def _journalist(first: Journalist, parts: Sequence[Journalist | None]) -> list[list[str]]:
    expected = "" if first.source == "population table" else ", expected"
    rows = [
        [f"journalist, from a {first.source} ({first.population:.0f} records):", *[""] * len(parts)],
        _row(f"  k-map{expected}", parts, lambda part: f"{part.k_map:.0f}"),
        _row("  largest risk", parts, lambda part: _share(part.largest_risk)),
        _row("  mean risk", parts, lambda part: _share(part.mean_risk)),
    ]
    if first.unique is not None:
        rows.append(_row("  records that match one person", parts, lambda part: str(part.unique)))
    if first.presence is not None:
        rows.append(_row("  delta-presence", parts, lambda part: _bounds(part.presence)))
    return rows


def _uniqueness(parts: Sequence[Uniqueness | None]) -> list[list[str]]:
    def estimated(value: float | None) -> str:
        return "-" if value is None else _share(value)

    return [
        ["unique in the population, estimated:", *[""] * len(parts)],
        _row("  pitman", parts, lambda part: estimated(part.pitman)),
        _row("  zayatz", parts, lambda part: estimated(part.zayatz)),
        _row("  snb", parts, lambda part: estimated(part.snb)),
        _row("  Dankar's rule", parts, lambda part: f"{_share(part.dankar)} ({part.rule})"),
    ]


def _released(parts: Sequence[Unique | None], heads: list[str]) -> list[str]:
    """Return the lines on unique records: by all released columns, and by insensitive columns that single out."""
    there = [part for part in parts if part is not None]
    if not there:
        return []
    telling = [name for name in there[0].columns if any(part.columns.get(name) for part in there)]
    rows = [
        ["unique records, by released columns:", *[""] * len(parts)],
        _row("  quasi-identifiers and insensitive", parts, lambda part: _share(part.together)),
        _row("  insensitive alone", parts, lambda part: _share(part.insensitive)),
    ]
    rows += [
        [f"  {name} alone", *("-" if part is None else _share(part.columns.get(name, 0.0)) for part in parts)]
        for name in telling
    ]
    return _table(["", *heads], rows)


def _combinations(found: SinglingOut, later: SinglingOut | None) -> list[str]:
    now = "" if later is None else f"; after: {later.records} ({_share(later.share)})"
    lines = [
        f"combinations of up to {found.most} columns single out {found.records} records ({_share(found.share)}){now}"
    ]
    listed = found.combinations
    lines += [f"  {records:>9} by {' + '.join(names)}" for names, records in listed[:COMBINATIONS]]
    if len(listed) > COMBINATIONS:
        lines.append("  ... and more (--json)")
    if found.records:
        ranked = sorted(found.contribution.items(), key=lambda pair: -pair[1])
        told = ", ".join(f"{name} {_share(share)}" for name, share in ranked)
        lines.append(f"  share of the SUDA scores with each column: {told}")
    return lines


def _attacks(found: Risk) -> list[str]:
    lines, unit = [], found.unit
    for head, side in (("before", found.before), ("after", found.after)):
        if side is not None and side.linkage is not None:
            lines.append(f"linkage attack, {head}: {_success(side.linkage.linked, unit)}")
    for each in found.inference:
        for head, guesses in (("before", each.before), ("after", None if found.after is None else each.after)):
            if guesses is not None:
                lines += _guessed(f"inference of '{each.target}', {head}", guesses, unit)
    return lines + [_believed(name, one) for name, one in (found.beliefs or {}).items()]


def _believed(name: str, one: Mapping[str, float]) -> str:
    """Return the line on the beliefs of an intruder who knows how the values of a column were drawn."""
    words = {"alpha": "on average", "one value": "for one shown value", "one record": "for one shown record"}
    most = [f"{_upper(one[key])} {words[key]}" for key in words if key in one]
    alone = "" if "one record" in one else " (by this column alone; others may reveal more)"
    return f"belief in a true value of '{name}', at most, by the certificate: {', '.join(most)}{alone}"


def _upper(figure: float) -> str:
    """Return a probability in percent that is no smaller than it is."""
    return f"{math.ceil(figure * 1e4 - 1e-6) / 100:.2f}%"


def _guessed(title: str, guesses: Guesses, unit: str) -> list[str]:
    held = "" if guesses.held_out is None else f"; own record held out {_share(guesses.held_out)}"
    lines = [f"{title}: {_success(guesses.by_class, unit)}{held}"]
    if guesses.by_model is not None:
        held = _share(guesses.model_held_out) if guesses.model_held_out is not None else "-"
        lines.append(f"  by a model: {_success(guesses.by_model, unit)}; held-out records {held}")
    lines.append(
        f"  certain for {_share(guesses.certain)}, nearly for {_share(guesses.nearly_certain)} of "
        f"records; largest shift {guesses.largest_shift:.4f}, mean {guesses.mean_shift:.4f}"
    )
    return lines


def _success(one: Success, unit: str) -> str:
    return (
        f"{_share(one.success)} right ({_share(one.low)} to {_share(one.high)}), baseline "
        f"{_share(one.baseline)}, {one.attacked} {unit}"
    )


def _criterion(one: Success | None) -> str:
    if one is None:
        return "not measured"
    return f"{_signed(one.above)} ({_signed(one.above_low)} to {_signed(one.above_high)}) above baseline"


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


def _bounds(presence: tuple[float, float] | None) -> str:
    return "-" if presence is None else f"{presence[0]:.4f} to {presence[1]:.4f}"
