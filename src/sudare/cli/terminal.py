"""The text of results on the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sudare.cli.runner import say
from sudare.core.text_tables import TextColumn, text_table

if TYPE_CHECKING:
    from sudare.releases.certificate_parts import Search

WARNING = "yellow"
"""The colour of warnings on a terminal, and of verdicts that come with some."""
LONGEST = 500
"""The most characters shown of a text that anyone may have written."""
CLASSES_BY = {
    "clusters": "classes: grown clusters",
    "top-down": "classes: those of top-down, which lost less than grown clusters",
}
"""How to say whose classes l-clustering took, by ``classes_by`` of its certificate."""


def show_release(out: str, certificate: dict[str, Any], *, table: bool = False) -> None:
    """Show the records, proofs and losses of a release; ``table``: it is a table of a database."""
    seconds = show_figures(out, certificate)
    say(f"  {seconds:.2f} s; certificate {out}{'_sudare' if table else '.sudare.json'}")


def show_figures(out: str, certificate: Mapping[str, Any]) -> float:
    """Show the records, proofs and losses of a certificate; return the seconds that it names."""
    from sudare.releases.certificate import Certificate

    facts = Certificate.from_dict(certificate)
    classes = "" if facts.classes is None else f" in {_count(facts.classes, 'class', 'classes')}"
    warned = _warned(len(facts.warnings))
    verdict = f" The policy's promises hold{warned}." if warned else ""
    say(f"{out}: {facts.rows_out} of {facts.rows_in} records{classes}.{verdict}", colour=_colour(warned))
    if facts.transformed:
        say(f"  transformed before: {word(facts.transformed)}")
    show_guarantees([one.to_dict() for one in facts.guarantees])
    if facts.recoding == "drawn":
        say("  values were drawn at random; `sudare estimate` estimates the true counts")
    elif facts.mechanism:
        say("  quasi-identifiers are unchanged; `sudare estimate` estimates counts of sensitive values")
    else:
        loss = facts.loss
        say(f"  loss: GCP {loss['gcp']:.4f}, ARX {loss['arx']:.4f}, entropy {loss['entropy']:.4f}")
    if facts.search.levels:
        show_search(facts.search.to_dict())
    if facts.search.table_info is not None:
        _show_information(facts.search)
    if facts.search.aggregated:
        _show_aggregated(facts.search)
    if facts.search.classes_by in CLASSES_BY:
        say(f"  {CLASSES_BY[facts.search.classes_by]}")
    for note in facts.search.notes:
        say(f"  note: {note}")
    show_warnings([one.to_dict() for one in facts.warnings])
    return sum(facts.seconds.values())


def _show_aggregated(search: Any) -> None:
    """Show how much of the variance aggregated columns keep, and the information loss."""
    kept = [
        f"{name} {100 * told['variance_kept']:.1f}%"
        for name, told in search.aggregated.items()
        if isinstance(told, Mapping) and isinstance(told.get("variance_kept"), int | float)
    ]
    if kept:
        say(f"  variance kept: {', '.join(kept)}")
    if search.information_loss is not None:
        say(f"  information loss of aggregated columns: {search.information_loss:.2f}% (100 SSE / SST)")


def show_certificate(verified: Sequence[str], claimed: Sequence[str], warned: Sequence[str] = ()) -> None:
    """Show which figures of a certificate were verified, and which are only claimed.

    ``warned`` are the texts of claimed warnings.
    """
    if verified or claimed:
        say(f"  certificate: {_count(len(verified), 'figure agrees', 'figures agree')} with the release and the policy")
        keys = [key for key in claimed if not (warned and key.startswith("warnings."))]
        say(f"  claimed by its maker, and not proven: {', '.join(_in_short(keys))}")
        for text in warned:
            more = " ..." if len(text) > LONGEST else ""
            say(f"  claimed warning: {word(text[:LONGEST])}{more}", colour=WARNING)


def _in_short(keys: Sequence[str]) -> list[str]:
    """Return keys of a certificate with the measures of columns in one, since there may be many columns."""
    by_column = "loss_by_column."
    measures = dict.fromkeys(key.rpartition(".")[2] for key in keys if key.startswith(by_column))
    short = {key: f"{by_column}*.({'|'.join(measures)})" if key.startswith(by_column) else key for key in keys}
    return list(dict.fromkeys(short.values()))


def show_signature(signature: Mapping[str, Any] | None) -> None:
    """Show who signed a certificate, and whether this was verified."""
    if signature is None:
        return
    proof = "not verified: name a public key with --signed-by"
    if signature["verified"]:
        proof = f"verified with the key of {signature['verified_by']}, {signature['key']}"
    say(f"  signed by {signature['who']} at {signature['time']}; {proof}")


def show_report(out: str, found: Mapping[str, Any]) -> None:
    """Show the path of a report, and its main figures."""
    held = sum(bool(one["holds"]) for one in found["guarantees"])
    described = _count(len(found["columns"]), "column")
    warned = _warned(len(found["warnings"]))
    promises = f"{held} of {len(found['guarantees'])} promises hold{warned}"
    say(f"{out}: {promises}; {described} described.", colour=_colour(warned))
    who = "people" if found["people"] else "records"
    say(f"  open it in a browser; it shows no value that fewer than {found['threshold']} {who} share")


def show_search(search: dict[str, Any]) -> None:
    """Show the chosen levels, and whether they are proven to be the best."""
    say(f"  levels: {_levels(search['levels'])}")
    for name, count in search.get("unseen", {}).items():
        values, records = _count(count["values"], "value"), _count(count["records"], "record")
        say(f"  column '{name}' has {values} that the plan does not know, in {records}: suppressed")
    if "optimal" not in search:
        return
    equal = _count(search["ties"], "other node loses", "other nodes lose")
    ties = f"; {equal} as little" if search["ties"] else ""
    if search["optimal"]:
        say(f"  least {search['loss']} loss of all {search['nodes']} nodes, {search['checked']} of them counted{ties}")
    else:
        say(f"  best found in time; {search['loss']} loss of any node: {search['at_least']:.4f} or more{ties}")


def _show_information(search: Search) -> None:
    """Show how much information a release for classification has about its class."""
    greedy = search.greedy_table_info
    gained = "" if greedy is None else f" (greedy: {greedy:.4f})"
    say(
        f"  about '{search.target}': class info {search.class_info:.4f}, split info {search.split_info:.4f}, "
        f"table info {search.table_info:.4f}{gained}"
    )


def _levels(levels: dict[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def show_calibration(found: dict[str, Any]) -> None:
    """Show the largest retention, the limit of each promise, and the retention of each column."""
    apart = any(p != found["p"] for p in found["retention"].values())
    chance = "kept with at most this probability, and otherwise drawn at random."
    if apart:
        say(f"Each column has a p of its own: its values are {chance}")
        say(f"  one p for all columns would be at most {_floor(found['p'])}:")
    else:
        say(f"p = {_floor(found['p'])}: each value is {chance}")
    names = {"pk": "pk-anonymity", "alpha": "alpha", "gamma": "gamma"}
    for key, bound in found["bounds"].items():
        if bound is not None:
            binds = "; this is the tightest limit" if key == found["binding"] else ""
            say(f"{'    ' if apart else '  '}{names[key]} allows up to {_floor(bound)}{binds}")
    for name, p in found["retention"].items():
        size = f" of {_count(found['values'][name], 'value')}" if name in found["values"] else ""
        held = found["held_by"][name]
        by = f", limited by {names[held]}" if apart and held is not None else ""
        say(f"  column '{name}'{size}: {_floor(p)}{by}")
    for name, one in found["beliefs"].items():
        say(f"  column '{name}': alpha = {_ceiling(one['alpha'])}, gamma = {_floor(one['gamma'])}")
        record = f", and for one shown record {_ceiling(one['record'])}" if "record" in one else ""
        say(f"    the largest belief, which is not limited: for one shown value {_ceiling(one['value'])}{record}")
    if found["p"] == 0:
        say("  note: no value may be kept; the release would be pure noise.")


def _floor(p: float) -> str:
    """Return a probability that is no larger than it is, with six digits."""
    return f"{math.floor(p * 1e6 + 1e-6) / 1e6:.6f}"


def _ceiling(figure: float) -> str:
    """Return a probability that is no smaller than it is, with six digits."""
    return f"{math.ceil(figure * 1e6 - 1e-6) / 1e6:.6f}"


def show_nodes(found: dict[str, Any], most: int) -> None:
    """List the best and the minimal nodes of a lattice."""
    left = TextColumn(right=False, least=10)
    figures = [TextColumn(gap=1, least=room) for room in (10, 8, 9, 9, 9)]

    def show(nodes: list[dict[str, Any]]) -> None:
        rows = [["loss", "suppressed", "classes", "smallest", "average", "largest", "levels"]]
        for node in nodes[:most]:
            sizes = node["class_sizes"]
            counts = [str(node["suppressed"]), str(node["classes"])]
            spread = [str(sizes["smallest"]), f"{sizes['average']:.1f}", str(sizes["largest"])]
            rows.append([f"{node['loss']:.6g}", *counts, *spread, _levels(node["levels"])])
        for line in text_table([left, *figures, TextColumn(right=False)], rows):
            say(line)
        if len(nodes) > most:
            say(f"  ... and {len(nodes) - most} more")

    show_search(found["search"])
    say("The best:")
    show(found["best"])
    if found["minimal"] is None:
        say("The search for minimal nodes did not finish: there are too many nodes, or too little time.")
    else:
        say(f"Minimal, {len(found['minimal'])} in all:")
        show(found["minimal"])


def show_estimates(found: dict[str, Any], total: int) -> None:
    """List estimated counts, a line each: the cell, the value, the count with its limits, and the share.

    ``total`` is how many rows there are in all.
    """
    few = {str(cell) for cell in found["few"]}
    header = [*map(word, found["by"]), word(found["of"]), "estimate", "low", "high", "share", "records"]
    lines = [
        [
            *(word(row["cell"][name]) for name in found["by"]),
            word(row["value"]),
            _number(row["estimate"]) + (" few" if row["few"] and str(row["cell"]) not in few else ""),
            *(_number(row[key]) for key in ("low", "high")),
            "" if row["share"] is None else f"{row['share']:.4f}",
            _number(row["records"]) + (" few" if str(row["cell"]) in few else ""),
        ]
        for row in found["rows"]
    ]
    words = len(found["by"]) + 1
    for line in text_table([TextColumn(right=place >= words) for place in range(len(header))], [header, *lines]):
        say(line)
    if total > len(lines):
        say(f"  ... and {total - len(lines)} more (--lines, or --json)")
    limited = ", subject to the note" if found["notes"] else ""
    hold = f"intervals contain the true count in {100 * found['level']:g}% of cases{limited}" if found["level"] else ""
    if not hold:
        bounds = found["limits"] == "bounds"
        hold = "low and high are bounds: the true count is always between them" if bounds else "without intervals"
    say(f"by {found['estimator']}; {hold}")
    for note in found["notes"]:
        say(f"note: {note}")


def show_estimated_figures(found: dict[str, Any], total: int) -> None:
    """List estimated figures, a line each: the cell, the figure, its limits, and its standard error.

    ``total`` is how many rows there are in all.
    """
    header = [*map(word, found["by"]), "figure", "estimate", "low", "high", "se", "records"]
    numbers = {row["note"]: 0 for row in found["rows"] if row["note"]}
    numbers = {note: place for place, note in enumerate(numbers, 1)}
    lines = [
        [
            *(word(row["cell"][name]) for name in found["by"]),
            word(row["figure"]) + (f" ({numbers[row['note']]})" if row["note"] else ""),
            *("?" if row[key] is None else f"{row[key]:.6g}" for key in ("estimate", "low", "high", "se")),
            str(row["records"]),
        ]
        for row in found["rows"]
    ]
    words = len(found["by"]) + 1
    for line in text_table([TextColumn(right=place >= words) for place in range(len(header))], [header, *lines]):
        say(line)
    if total > len(lines):
        say(f"  ... and {total - len(lines)} more (--lines, or --json)")
    limited = ", subject to the notes" if found["notes"] or numbers else ""
    held = {row["limits"] for row in found["rows"] if (row["low"], row["high"]) != (None, None)}
    if "interval" in held:
        say(f"intervals contain the true figure in {100 * found['level']:g}% of cases{limited}")
    if "bounds" in held:
        also = " of the figures with such a note" if "interval" in held else ""
        say(f"low and high{also} are bounds: the true figure is always between them")
    for note, place in numbers.items():
        say(f"({place}) {note}")
    for note in found["notes"]:
        say(f"note: {word(note)}")


def word(value: Any) -> str:
    """Return a value on one line, without what a terminal would obey."""
    if value is None:
        return "(missing)"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def show_guarantees(guarantees: list[dict[str, Any]]) -> None:
    """Show the guarantees, a line each."""
    for one in guarantees:
        if one["model"] == "transformation" and one["holds"]:
            _show_cells(one)
            continue
        asked = ", ".join(f"{key} = {value}" for key, value in one["parameters"].items() if value)
        achieved = f"; achieved {_figure(one['achieved'])}" if one["required"] else ""
        note = f" Note: {one['note']}" if one["note"] else ""
        say(f"  proven: {one['model']}{f' ({asked})' if asked else ''}{achieved}{note}")


def _show_cells(one: Mapping[str, Any]) -> None:
    """Show what the audit read from the cells of a transformed column, if that is anything."""
    given = one["parameters"]
    steps = ", ".join(name for step in given.get("steps") or () for name in step)
    proven = "proven" if one["required"] is not None else "not proven"
    say(f"  {proven}: cells of {word(given.get('column'))} after {word(steps)}. {word(one['note'])}")


def show_audit(out: str, report: Mapping[str, Any]) -> None:
    """Show that a release keeps its policy, its proofs and warnings; ``report`` is its JSON form."""
    told = report.get("certificate", {"verified": (), "claimed": (), "warnings": ()})
    warned = _warned(len(report["warnings"]) + len(told["warnings"]))
    classes = "" if report["classes"] is None else f" in {report['classes']} classes"
    say(f"{out} keeps its policy{warned}: {report['rows']} records{classes}.", colour=_colour(warned))
    show_guarantees(report["guarantees"])
    show_warnings(report["warnings"])
    show_certificate(told["verified"], told["claimed"], told["warnings"])
    show_signature(report.get("signature"))
    for note in report.get("notes", ()):
        say(f"Note: {note}")


def show_warnings(warnings: list[dict[str, Any]]) -> None:
    """Show the warnings of a release, a line each."""
    for one in warnings:
        say(f"  warning: {word(one['text'])}", colour=WARNING)


def _warned(count: int) -> str:
    """Return how many warnings there are, to be added to a verdict; nothing if there is none."""
    return f", with {_count(count, 'warning')}" if count else ""


def _colour(warned: str) -> str | None:
    return WARNING if warned else None


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _figure(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_figure(part)}" for key, part in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
