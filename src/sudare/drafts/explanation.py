"""The explanation of a draft: for each column what is proposed, why, and the figures behind it.

It holds names of columns, counts and shares, and no value of a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from sudare.drafts.draft_text import check_table, written
from sudare.drafts.identifying_power import added_uniqueness, costs, suda_shares
from sudare.drafts.open_questions import questions_of
from sudare.drafts.presets import find_preset
from sudare.drafts.proposals import MOST_QUASI, Proposals, Proposed, propose
from sudare.drafts.rarity import FEW
from sudare.drafts.source_notes import SourceNotes
from sudare.policy import Role

_HEADS = ("column", "proposal", "distinct", "alone", "singles out", "adds", "cost", "why")
_NOTES = (
    "proposal      transform: round it or shorten it first; the draft does not release it as it is",
    f"alone         records whose value fewer than {FEW} records hold",
    "singles out   share of the SUDA scores with this column, by one or two columns, in a sample",
    f"adds          records that it brings into groups of fewer than {FEW}, beyond the columns that bring more",
    f"cost          records in groups of fewer than {FEW} by this column and one other: they have to become coarser",
)


@dataclass(frozen=True)
class ColumnExplanation:
    """What a draft proposes for a column.

    Attributes:
        column: the name of the column.
        proposal: quasi, sensitive, subject, transform or drop; with a preset also insensitive.
        role: the role in the draft.
        why: the reason, as it stands in the draft.
        distinct: the number of different values.
        alone: the share of its cells whose value fewer than five records hold.
        singles_out: the share of the SUDA scores with this column; None if it is not released, or is an item set.
        adds: the share of the records that it brings into small groups, beyond other quasi-identifiers.
        cost: the share of the records in small groups by this column and one other; None if it was not a candidate.
        repeats: what it duplicates, in words.
    """

    column: str
    proposal: Proposed
    role: Role
    why: str
    distinct: int
    alone: float
    singles_out: float | None
    adds: float | None
    cost: float | None
    repeats: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """A drafted policy, and an explanation of each of its columns.

    Attributes:
        policy: the text of the draft, as `draft` returns it.
        records: the number of records.
        columns: the explanation of each column, in the order of the table.
        unchanged: the share of the records that the columns released unchanged single out together.
        questions: what only you can decide; the draft has them above `source`, or beside the column of a preset.
        notices: in a line each, the sheet that was taken of several, and what each question is about.
    """

    policy: str = field(repr=False)
    records: int
    columns: tuple[ColumnExplanation, ...]
    unchanged: float
    questions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it in the types that JSON has."""
        columns = [{**asdict(each), "repeats": list(each.repeats)} for each in self.columns]
        return {
            "policy": self.policy,
            "records": self.records,
            "columns": columns,
            "unchanged": self.unchanged,
            "questions": list(self.questions),
            "notices": list(self.notices),
        }

    def named(self, proposal: Proposed) -> list[str]:
        """Return the columns of which this is proposed."""
        return [each.column for each in self.columns if each.proposal == proposal]

    @property
    def rows(self) -> list[list[str]]:
        """The table as text, its heads first."""
        return [list(_HEADS), *(_row(each) for each in self.columns)]

    @property
    def notes(self) -> Sequence[str]:
        """What the heads of the table mean."""
        return _NOTES

    def __str__(self) -> str:
        from sudare.core.text_tables import TextColumn, text_table

        words, figures = TextColumn(right=False, gap=0), TextColumn()
        layout = [words, TextColumn(right=False), *[figures] * 5, TextColumn(right=False)]
        return "\n".join([*text_table(layout, self.rows), "", *self.notes])


def explain_policy(
    table: pa.Table, *, name: str = "", source: SourceNotes | None = None, preset: str | None = None
) -> Explanation:
    """Return a drafted policy with an explanation; the arguments are those of :func:`~sudare.drafts.draft_policy`."""
    check_table(table)
    purpose = None if preset is None else find_preset(preset)
    found = propose(table, source)
    found = found if purpose is None else purpose.over(found, table)
    compared = [each for each in found.named("quasi") + found.named("sensitive") if not found.facts[each].constant]
    quasi = found.named("quasi")
    weights = suda_shares(table, compared)
    adds = added_uniqueness(table, quasi) if len(quasi) <= MOST_QUASI else {}
    cost = found.cost or costs(table, quasi)
    columns = tuple(
        ColumnExplanation(
            column=column,
            proposal=found.words[column],
            role=guess.role,
            why=guess.reason,
            distinct=found.facts[column].distinct,
            alone=float(found.facts[column].alone),
            singles_out=weights.get(column),
            adds=adds.get(column),
            cost=cost.get(column),
            repeats=_repeats(found, column),
        )
        for column, guess in found.guesses.items()
    )
    text = written(found, name=name, source=source, preset=purpose)
    asked = questions_of(found.guesses, source, purpose)
    questions, notices = tuple(asked.questions), tuple(asked.notices)
    return Explanation(text, table.num_rows, columns, found.unchanged, questions, notices)


def _repeats(found: Proposals, column: str) -> tuple[str, ...]:
    return tuple(each.words for each in found.repeats.get(column, []))


def _row(each: ColumnExplanation) -> list[str]:
    why = each.why
    told = [words for words in each.repeats if words not in why]
    figures = (each.alone, each.singles_out, each.adds, each.cost)
    return [
        each.column,
        each.proposal,
        f"{each.distinct:,}",
        *("" if figure is None else _percent(figure) for figure in figures),
        "; ".join([why, *told[:1]]),
    ]


def _percent(share: float) -> str:
    """Return a share as a percentage that is 100.0 only if it is all."""
    return f"{int(1000 * share) / 10:.1f}%"
