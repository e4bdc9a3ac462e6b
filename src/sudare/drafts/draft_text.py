"""The text of a drafted policy: YAML that parses, with the reason for every guess beside it."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from sudare.core.errors import DataError, Problem
from sudare.drafts.facts import Facts
from sudare.drafts.guesses import Guess
from sudare.drafts.header_row import check_header
from sudare.drafts.open_questions import OpenQuestions, questions_of
from sudare.drafts.presets import Preset, find_preset
from sudare.drafts.proposals import MOST_QUASI, Proposals, propose
from sudare.drafts.rarity import SKEWED
from sudare.drafts.source_notes import SourceNotes
from sudare.drafts.yaml_words import quoted, scalar

K = 5
"""How many share each combination: a common floor for data that leaves the house."""

L = 3
"""How many different sensitive values each group holds, where the column has so many."""

T = 0.5
"""How far the distribution in a group may be from that of all records, where nearly all hold the same value."""

_MANY_PROMISES = 5  # of more sensitive columns, those of few values hold two different ones in each group
_FEW_VALUES = 10

_LINE = 120  # a comment stands beside its column where the line has room for it, else above
_WIDEST_KEY, _WIDEST_SPEC = 40, 40  # up to these widths names and specs are set in columns
_WIDEST_TRANSFORMED = 100  # a longer column with transformations has a line for each key
_LONGEST_KEY = 900  # YAML allows a thousand characters before the colon; longer keys are written with a question mark

_FIELDS = re.compile(r", (?=(?:kind|hierarchy|separator|transform): )")

_TOGETHER = "::::"  # as long as what it stands for, where textwrap would part it

_HEADER = """\
# Drafted by looking at the columns: read every line before you use it.
# {name}{records}, {columns}.
#
# What each column is to somebody who tries to recognise a person:
#   identifier   points at a person, or is left out for the reason beside it; never released
#   subject      names the person of a record; people are counted by it, and it is released as new numbers
#   quasi        an outsider may know it; released as ranges and sets
#   sensitive    nobody may learn it about a known person; released unchanged, in groups that are diverse enough
#   insensitive  released unchanged, without protection; never guessed: only you can decide this
"""


def draft_policy(
    table: pa.Table, *, name: str = "", source: SourceNotes | None = None, preset: str | None = None
) -> str:
    """Return the text of a commented YAML policy for a table about people, to be read and corrected by hand.

    The table is typed, or all text as a CSV file is. ``name`` is shown in the header;
    ``source`` is how the file was read, and ``preset`` names a purpose. The text parses as a policy
    that names every column in the table's order; the same table always gives the same text. It holds names of
    columns and counts, but no value of a person. A table without columns or records, with a name that is used
    twice, or with nothing but identifiers raises :class:`~sudare.core.errors.DataError`.
    """
    return draft_with_questions(table, name=name, source=source, preset=preset)[0]


def draft_with_questions(
    table: pa.Table, *, name: str = "", source: SourceNotes | None = None, preset: str | None = None
) -> tuple[str, OpenQuestions]:
    """Return a draft, as :func:`draft_policy` does, and all questions that stand in it."""
    check_table(table)
    purpose = None if preset is None else find_preset(preset)
    found = propose(table, source)
    found = found if purpose is None else purpose.over(found, table)
    text = written(found, name=name, source=source, preset=purpose)
    return text, questions_of(found.guesses, source, purpose)


def written(
    found: Proposals, *, name: str = "", source: SourceNotes | None = None, preset: Preset | None = None
) -> str:
    """Return the text of proposals, as :func:`draft_policy` does."""
    facts, guesses = found.facts, found.guesses
    title = f"Table {quoted(name)}: " if name else ""
    records = next(iter(facts.values())).records
    parts = [
        _HEADER.format(name=title, records=_count(records, "record"), columns=_count(len(facts), "column"))
        + _purpose(preset)
        + _warning(found),
        "version: 1\n",
        _columns(guesses),
        _require(guesses, facts, preset),
        _closing(),
        preset.closing(guesses, facts) if preset else "",
        (source or SourceNotes()).text(guesses, facts),
    ]
    return "\n".join(part for part in parts if part)


def check_table(table: pa.Table) -> None:
    """Raise if nothing can be drafted from a table."""
    names = table.column_names
    if not names:
        raise DataError("the table has no columns.", hint="name a table or file with at least one column.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            Problem(f"column '{name}'", f"{names.count(name)} columns have this name.", "give each its own name.")
            for name in twice
        )
    if not table.num_rows:
        raise DataError(
            "the table has no records, so there is nothing to draft from.", hint="draft from a table with records."
        )
    check_header(table)


def _purpose(preset: Preset | None) -> str:
    """Return what a preset says of itself."""
    return "".join(f"# {line}".rstrip() + "\n" for line in ("", *preset.about.split("\n"))) if preset else ""


def _warning(found: Proposals) -> str:
    """Return what the draft says of columns that nothing generalizes, and of columns that it leaves out."""
    lines = []
    if found.wide:
        lines.append(
            f"More columns than {MOST_QUASI} may be known to an intruder. A release that generalizes all of them keeps "
            "nothing, so some are left out: read why beside them."
        )
    sensitive = found.named("sensitive")
    if sensitive:
        who = f"{len(sensitive)} columns are" if len(sensitive) > 1 else "One column is"
        by = "Together they single" if len(sensitive) > 1 else "It singles"
        records = next(iter(found.facts.values())).records
        among = "records" if found.looked_at == records else f"first {found.looked_at:,} records"
        lines.append(
            f"{who} released unchanged. {by} out {percent(found.unchanged)} of the {among}: somebody who knows such "
            "values of a person may find the record. Measure this: sudare risk DATA --policy POLICY --columns NAMES"
        )
    wrapped = [line for text in lines for line in textwrap.wrap(text, _LINE - 2, break_on_hyphens=False)]
    return "".join(f"# {line}\n" for line in ["", *wrapped]).replace("# \n", "#\n") if wrapped else ""


def percent(share: float) -> str:
    """Return a share as a percentage that is 0 or 100 only if it is none or all."""
    if 0 < share < 0.001:
        return "less than 0.1%"
    return f"{int(1000 * share) / 10:.1f}%"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _columns(guesses: Mapping[str, Guess]) -> str:
    keys = [scalar(name) for name in guesses]
    specs = [_spec(guess) for guess in guesses.values()]
    margin = max([_width(key) for key in keys if _width(key) <= _WIDEST_KEY], default=0)
    indent = max([len(spec) for spec in specs if len(spec) <= _WIDEST_SPEC], default=0)
    lines = ["columns:"]
    for key, spec, guess in zip(keys, specs, guesses.values(), strict=True):
        space = " " * max(margin - _width(key), 0)
        entry = f"  {key}:{space} {spec}" if len(key) <= _LONGEST_KEY else f"  ? {key}\n  : {spec}"
        comment = f"{' ' * max(indent - len(spec), 0)}  # {guess.reason}"
        beside = _width(entry) + len(comment) <= _LINE
        if guess.steps and len(spec) > _WIDEST_TRANSFORMED and len(key) <= _LONGEST_KEY:
            lines += [*_above(guess.reason), *_block(key, guess)]
            continue
        lines += [entry + comment] if beside else [*_above(guess.reason), entry]
    return "\n".join(lines) + "\n"


def _above(why: str) -> list[str]:
    """Return a reason as lines of its own."""
    said = why if why.endswith("?") else f"{why}:"
    return textwrap.wrap(said, _LINE, initial_indent="  # ", subsequent_indent="  # ", break_on_hyphens=False)


def _spec(guess: Guess) -> str:
    fields = [f"role: {guess.role}"]
    if guess.kind:
        fields.append(f"kind: {guess.kind}")
    if guess.builtin:
        fields.append(f"hierarchy: {guess.builtin}")
    if guess.prefix:
        fields.append(f"hierarchy: {{prefix: [{', '.join(map(str, guess.prefix))}]}}")
    if guess.separator:
        fields.append(f"separator: {quoted(guess.separator)}")
    if guess.steps:
        fields.append(f"transform: {guess.steps[0] if len(guess.steps) == 1 else '[' + ', '.join(guess.steps) + ']'}")
    return f"{{{', '.join(fields)}}}"


def _block(key: str, guess: Guess) -> list[str]:
    """Return a column with a line for each key, and for each transformation."""
    fields = _spec(replace(guess, steps=()))[1:-1]
    lines = [f"  {key}:", *(f"    {field}" for field in _FIELDS.split(fields)), "    transform:"]
    for step in guess.steps:
        whole = step.replace('": "', _TOGETHER)  # a value stays on the line of its key
        wrapped = textwrap.wrap(
            whole,
            _LINE,
            initial_indent="      - ",
            subsequent_indent=" " * 10,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += [line.replace(_TOGETHER, '": "') for line in wrapped]
    return lines


def _require(guesses: Mapping[str, Guess], facts: Mapping[str, Facts], preset: Preset | None = None) -> str:
    subject = next((name for name, guess in guesses.items() if guess.role == "subject"), None)
    held = facts[subject].distinct if subject is not None else next(iter(facts.values())).records
    who = "records" if subject is None else "people"
    wanted = preset.k if preset else K
    k = wanted if held >= wanted else 2
    lines = ["require:"]
    if k < wanted:
        lines.append(f"  # There are fewer than {wanted} {who}, so k is only 2, which protects little.")
    if preset and preset.k_why:
        lines += textwrap.wrap(preset.k_why, _LINE - 4, initial_indent="  # ", subsequent_indent="  # ")
    lines += [
        f"  # At least k = {k} {who} share each combination of released quasi-identifiers, so nobody stands out.",
        "  # A larger k protects better and shows less detail; change it here.",
        f"  - {{model: k-anonymity, k: {k}{', count: subjects' if subject is not None else ''}}}",
    ]
    sensitive = {name: guess for name, guess in guesses.items() if guess.role == "sensitive"}
    if preset and not preset.diverse:
        lines += [f"  # - {{model: l-diversity, l: 2, column: {scalar(name)}}}" for name in list(sensitive)[:1]]
        return "\n".join(lines) + "\n"
    lines += _diversity([name for name, guess in sensitive.items() if guess.kind != "items"], facts)
    lines += _frequency([name for name, guess in sensitive.items() if guess.kind == "items"], facts)
    if not sensitive:
        lines.append("  # No column was guessed to be sensitive: if one is, give it that role and require l-diversity.")
    lines += _item_sets([name for name, guess in guesses.items() if guess.kind == "items" and guess.role == "quasi"], k)
    return "\n".join(lines) + "\n"


def _diversity(sensitive: Sequence[str], facts: Mapping[str, Facts]) -> list[str]:
    lines, explained = [], False
    skewed = [name for name in sensitive if facts[name].distinct > 1 and _is_skewed(facts[name])]
    for name in sensitive:
        if name in skewed:
            continue
        many = len(sensitive) > _MANY_PROMISES and facts[name].distinct <= _FEW_VALUES
        values = min(2 if many else L, facts[name].distinct)
        if values < 2:
            lines.append("  # A sensitive column holds fewer than two values, so no group of it can be diverse.")
            continue
        if not explained:
            lines += [
                "  # People who share a combination have at least l different values, so the group does not give",
                "  # a value away. A larger l protects better and shows less detail; change it here.",
            ]
            explained = True
        lines.append(f"  - {{model: l-diversity, l: {values}, variant: distinct, column: {scalar(name)}}}")
    if skewed:
        lines += [
            "  # In these columns nearly all records hold the same value. In no group is the share of any value more",
            "  # than t above its share in the whole table, so a group does not give rare values away. A smaller t",
            "  # protects better and shows less detail; change it here.",
        ]
    return lines + [f"  - {{model: t-closeness, t: {T}, column: {scalar(name)}}}" for name in skewed]


def _is_skewed(facts: Facts) -> bool:
    return facts.modal > SKEWED * facts.records


def _frequency(names: Sequence[str], facts: Mapping[str, Facts]) -> list[str]:
    """Return the promises about sensitive item sets, with the largest l up to L that is possible."""
    if not names:
        return []
    lines = [
        "  # Of the people who share a combination, at most 1/l hold any one item, so the group gives none away. A",
        "  # larger l protects better and shows less detail. `harmless: [...]` names items that may be inferred.",
    ]
    for name in names:
        most = min(L, facts[name].records // facts[name].commonest)
        lines.append(f"  - {{model: l-diversity, l: {most}, variant: frequency, column: {scalar(name)}}}")
    return lines


def _item_sets(names: list[str], k: int) -> list[str]:
    if not names:
        return []
    notes = [
        "  # If an intruder knows at most m items of a person rather than all, more can be shown: give the k-anonymity",
        "  # above `columns: [...]` without the item sets (and let it count rows), and ask instead for",
    ]
    return [*notes, *(f"  # - {{model: km-anonymity, k: {k}, m: 2, column: {scalar(name)}}}" for name in names)]


def _closing() -> str:
    return (
        "method: {name: top-down}\n\n"
        "# The share of the records that may be left out to keep the others more exact: 0.01 is one in a hundred.\n"
        "suppression: {limit: 0.0}\n"
    )


def _width(text: str) -> int:
    """Count the places that a text takes in a terminal: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
