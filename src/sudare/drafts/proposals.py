"""Proposals: what a draft does with each column, once the columns are seen together.

Guesses look at one column at a time, and treat an unclear column as known to an intruder. A table of fifty columns then
has forty quasi-identifiers, and a release of it shows nothing. So:

1. Of two columns that say the same, one is released. A column that would give a sensitive one away is not, nor is a
   sensitive one that would give away what ranges are to hide.
2. At most ``MOST_QUASI`` columns are quasi-identifiers. What an intruder surely knows (age, sex, postal code) comes
   first, then what the name says, then unclear columns, and among these those that cost least to generalize. An unclear
   column with a frequent value that gives a sensitive one away would be hidden nearly everywhere, and is none of them.
   All others are *not released*. The draft never releases a column unchanged because there is no room for it.

``transform`` is the proposal for a column that is worth releasing in another form: rounded, or as a year.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from sudare.drafts.column_name_matches import read_name
from sudare.drafts.duplicated_columns import Duplicate, find_duplicates
from sudare.drafts.facts import Facts, look_at_all
from sudare.drafts.guesses import FEW_VALUES, IF_PUBLIC, Guess, guess_roles
from sudare.drafts.identifying_power import LOOKED_AT, costs, unique_share
from sudare.drafts.rarity import FEW, MOST_TO_COUNT
from sudare.drafts.source_notes import SourceNotes
from sudare.drafts.telling_values import TellingValues

MOST_QUASI = 12
"""The most quasi-identifiers of a draft: with more, a release of them keeps little."""

Proposed = Literal["quasi", "sensitive", "subject", "insensitive", "transform", "drop"]

_UNCLEAR = 2
"""The tier of a column of which neither the name nor the values say what it is."""
_NEARLY_CONSTANT = 0.99
_MOSTLY = 0.5
_NOTED = 0.05  # from this share of exposed records on, a reason mentions it
_UNCHANGED = "{role: sensitive} releases it unchanged, if no outsider can know it"
_OTHERS = f"{MOST_QUASI} others come before it"


@dataclass(frozen=True)
class Proposals:
    """What is proposed for each column of a table, and what it rests on.

    ``cost`` is known of the columns of a wide table that may be quasi-identifiers. ``unchanged`` is the share of the
    records that the columns released unchanged single out together, and ``looked_at`` in how many records.
    """

    facts: Mapping[str, Facts]
    guesses: Mapping[str, Guess]
    words: Mapping[str, Proposed]
    repeats: Mapping[str, list[Duplicate]]
    looked_at: int
    cost: Mapping[str, float] = field(default_factory=dict)
    unchanged: float = 0.0
    wide: bool = False

    def named(self, word: Proposed) -> list[str]:
        """Return the columns of which this is proposed."""
        return [name for name, each in self.words.items() if each == word]


def propose(table: pa.Table, source: SourceNotes | None = None) -> Proposals:
    """Return what is proposed for each column of a table; at least one of them is a quasi-identifier.

    ``source`` is how the table was read, with the questions that the draft asks.
    """
    facts = look_at_all(table)
    if source is not None:
        facts = {name: replace(each, date_asked=source.asks_about_dates(name)) for name, each in facts.items()}
    draft = _Draft(table, facts, guess_roles(facts))
    draft.drop_ids()
    draft.drop_repeated()
    candidates = draft.quasi()
    cost: dict[str, float] = {}
    wide = len(candidates) > MOST_QUASI
    if wide:
        cost = costs(table, candidates)
        draft.keep_few(cost)
    draft.note_fates()
    draft.note_rare_values()
    sensitive = [name for name, guess in draft.guesses.items() if guess.role == "sensitive"]
    return Proposals(
        facts=facts,
        guesses=draft.guesses,
        words=draft.words(),
        repeats=draft.repeats,
        looked_at=min(table.num_rows, LOOKED_AT),
        cost=cost,
        unchanged=unique_share(table, sensitive),
        wide=wide,
    )


class _Draft:
    """Guesses that are changed step by step."""

    def __init__(self, table: pa.Table, facts: Mapping[str, Facts], guesses: dict[str, Guess]) -> None:
        self.table, self.facts, self.guesses = table, facts, guesses
        self.says = {name: read_name(name) for name in facts}
        self.transformed: set[str] = set()
        self.beside: dict[str, str] = {}
        known = [name for name in self._released() if guesses[name].kind != "items" and not facts[name].constant]
        self.repeats = find_duplicates(table, known)

    def quasi(self) -> list[str]:
        """Return the quasi-identifiers."""
        return [name for name, guess in self.guesses.items() if guess.role == "quasi"]

    def words(self) -> dict[str, Proposed]:
        """Return what is proposed, as one word for each column."""
        names: dict[str, Proposed] = {"quasi": "quasi", "sensitive": "sensitive", "subject": "subject"}
        return {
            name: "transform" if name in self.transformed else names.get(guess.role, "drop")
            for name, guess in self.guesses.items()
        }

    def drop_ids(self) -> None:
        """Drop unclear columns that stand for ids or names one for one: both lead to the same people."""
        unclear = [name for name in self.quasi() if self._may_be_an_id(name)]
        ids = [
            name
            for name, guess in self.guesses.items()
            if guess.role in ("identifier", "subject") and self.says[name].id_like and self.facts[name].repeated
        ]
        found = find_duplicates(self.table, [*ids, *unclear]) if unclear else {}
        texts = {name for name in unclear if self.facts[name].shape == "text"}
        for name in unclear:
            same = [other.of for other in found.get(name, []) if other.same and other.exact]
            an_id = next((other for other in same if other in ids), None)
            beside = next((other for other in same if name in texts or other in texts), None)
            if len(self.quasi()) > 1 and an_id is not None:
                self._drop(name, f"says the same as '{an_id}', which is an id")
            elif len(self.quasi()) > 1 and beside is not None:
                self._drop(name, f"says the same as '{beside}', as an id and a name do; {IF_PUBLIC}")

    def _may_be_an_id(self, name: str) -> bool:
        facts, says = self.facts[name], self.says[name]
        clear = says.quasi or says.sensitive or facts.clinical or facts.builtin or facts.date_text
        named = facts.shape == "text" or facts.rarity.whole
        return not clear and named and not facts.separator and facts.distinct > FEW_VALUES

    def drop_repeated(self) -> None:
        """Drop columns that repeat another one, where both cannot be released, or need not."""
        for name, others in self.repeats.items():
            for other in others:
                if self._is_released(name) and self._is_released(other.of):
                    self._settle(name, other)

    def keep_few(self, cost: Mapping[str, float]) -> None:
        """Keep the quasi-identifiers that are known best and cost least; drop or transform the others."""
        constant = [name for name in self._released() if self.facts[name].constant]
        for name in constant if not set(self.quasi()) <= set(constant) else []:
            self._drop(name, "constant, so it tells nothing about anybody")
        ranked = sorted(self.quasi(), key=lambda name: (self._tier(name), self._is_nearly_constant(name), cost[name]))
        secrets = [name for name, guess in self.guesses.items() if guess.role == "sensitive"]
        telling = TellingValues(self.table, self.quasi(), secrets)
        kept: list[str] = []
        for name in ranked:
            source = next((other for other in kept if self._follows(name, other)), None)
            coarser = next((other for other in kept if self._follows(other, name)), None)
            if source is not None:
                self._drop(name, self._link(name, source), beside=source)
            elif coarser is not None and self._is_exact(name):
                self._drop(name, f"too exact beside '{coarser}', which follows from it")
            elif coarser is not None:
                self._drop(coarser, self._link(coarser, name), beside=name)
                kept[kept.index(coarser)] = name
            elif self._tier(name) == _UNCLEAR and (secret := telling.gives_away(name)) is not None:
                self._drop(name, f"unclear, and one of its values gives '{secret}' away, which is sensitive")
            elif len(kept) < MOST_QUASI:
                kept.append(name)
            else:
                self._leave_out(name)

    def note_fates(self) -> None:
        """Say of columns that repeat others whether these are released; what comes later may have dropped them, too."""
        for name, other in self.beside.items():
            fate = "which is released" if self._is_released(other) else "which is not released either"
            self.guesses[name] = replace(self.guesses[name], why=f"{self.guesses[name].why}, {fate}")

    def note_rare_values(self) -> None:
        """Say of sensitive columns how many records hold values that point at few people."""
        for name, guess in self.guesses.items():
            alone = self.facts[name].alone
            if guess.role == "sensitive" and guess.kind != "items" and alone >= _NOTED:
                note = f"{int(100 * alone)}% of the records hold values that fewer than {FEW} share: group these first"
                self.guesses[name] = replace(guess, why=f"{guess.why}; {note}")

    def _settle(self, name: str, other: Duplicate) -> None:
        """Drop one of two columns of which the first follows from the second, if need be."""
        own, source = self.guesses[name].role, self.guesses[other.of].role
        if own == source == "quasi":
            if other.same and other.exact:
                worse, better = (name, other.of) if self._is_better(other.of, name) else (other.of, name)
                self._drop(worse, f"says the same as '{better}'", beside=better)
        elif own == "quasi" and (other.same or not self.says[name].quasi):
            if len(self.quasi()) > 1:
                self._drop(name, f"{other.words}, which is sensitive, and would give it away")
        elif {own, source} == {"quasi", "sensitive"}:
            # what is known gives the sensitive value away, or its unchanged values undo the ranges of what is known
            known, secret = (name, other.of) if own == "quasi" else (other.of, name)
            link = f"follows from '{known}'" if secret == name else f"gives '{known}' away"
            why = f"{link}, which an intruder may know: unchanged values would undo its ranges"
            self._drop(secret, f"{why}; compute it anew from the release" if secret == name else why)
            if secret == name:
                self.transformed.add(secret)

    def _follows(self, name: str, source: str) -> bool:
        return any(other.of == source for other in self.repeats.get(name, []))

    def _link(self, name: str, source: str) -> str:
        return next(other.words for other in self.repeats[name] if other.of == source)

    def _leave_out(self, name: str) -> None:
        facts, says = self.facts[name], self.says[name]
        if facts.shape == "date" or facts.date_text:
            self._drop(name, f"dates, and {_OTHERS}: make it a year or a number of days", transform=True)
        elif self._is_exact(name):
            secret = "role: sensitive" if says.sensitive or facts.clinical else "role: quasi, kind: numeric"
            self._drop(name, f"exact numbers identify: round them, then {{{secret}}}", transform=True)
        elif says.quasi:
            self._drop(name, f"an intruder may know it, but {_OTHERS}; {{role: quasi}} in place of one keeps it")
        else:
            self._drop(name, f"unclear, and {_OTHERS}; {_UNCHANGED}")

    def _drop(self, name: str, why: str, *, transform: bool = False, beside: str | None = None) -> None:
        self.guesses[name] = Guess("identifier", f"not released: {why}")
        if beside is not None:
            self.beside[name] = beside
        if transform:
            self.transformed.add(name)

    def _tier(self, name: str) -> int:
        """Return how surely an intruder knows a column, the surest first."""
        says = self.says[name]
        if says.sensitive or self.facts[name].clinical:
            return 3
        if says.core:
            return -1 if says.first else 0
        return 1 if says.quasi else _UNCLEAR

    def _is_better(self, one: str, other: str) -> bool:
        """Whether the first of two columns that say the same is rather to be released: numbers have ranges."""

        def order(name: str) -> tuple[int, bool]:
            return self._tier(name), self.guesses[name].kind != "numeric"

        return order(one) <= order(other)

    def _is_exact(self, name: str) -> bool:
        facts = self.facts[name]
        return facts.shape == "number" and (facts.alone > _MOSTLY or facts.distinct > MOST_TO_COUNT)

    def _is_nearly_constant(self, name: str) -> bool:
        facts = self.facts[name]
        return facts.modal >= _NEARLY_CONSTANT * facts.records

    def _released(self) -> list[str]:
        return [name for name, guess in self.guesses.items() if guess.role in ("quasi", "sensitive")]

    def _is_released(self, name: str) -> bool:
        return self.guesses[name].role in ("quasi", "sensitive")
