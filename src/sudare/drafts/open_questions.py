"""The open questions of a draft: what only a person can decide, wherever it stands in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sudare.drafts.guesses import Guess
from sudare.drafts.source_notes import SourceNotes

if TYPE_CHECKING:
    from sudare.drafts.presets import Preset

_SENTENCE = re.compile(r".*?[.?](?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class OpenQuestions:
    """The questions about how a table is written, which stand above ``source``, and those of a preset."""

    source: SourceNotes = field(default_factory=SourceNotes)
    of_preset: Sequence[str] = ()

    @property
    def questions(self) -> list[str]:
        """All questions, in full."""
        return [*self.source.questions, *self.of_preset]

    @property
    def notices(self) -> list[str]:
        """What somebody must hear who does not open the draft: which sheet was taken, and what each question is about.

        The first sentence of a question says that; the draft has the whole of it.
        """
        found = []
        if "sheet" in self.source.reasons:
            found.append(f"sheet '{self.source.spec.sheet}' was read: {self.source.reasons['sheet']}.")
        count = len(self.questions)
        if count:
            asks = "one question" if count == 1 else f"{count} questions"
            where = "; look for 'Question' in it" if self.of_preset else ", above source"
            found.append(f"the draft has {asks} that you must answer{where}:")
            found += [f"  {_first_sentence(question)}" for question in self.questions]
        return found


def questions_of(guesses: Mapping[str, Guess], source: SourceNotes | None, preset: Preset | None) -> OpenQuestions:
    """Return the questions of a draft, those about columns in the order of the table."""
    asked = [f"Column '{name}': {guess.asks}" for name, guess in guesses.items() if guess.asks]
    if preset is not None and preset.question:
        asked.append(f"{preset.question[0].upper()}{preset.question[1:]}")
    return OpenQuestions(source or SourceNotes(), asked)


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text)
    return found[0] if found else f"{text}."
