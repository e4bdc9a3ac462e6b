"""The ``source`` part of a draft: how the table is read, with the reason for each key, and open questions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare.drafts.facts import Facts
from sudare.drafts.guesses import Guess
from sudare.drafts.yaml_words import one_line, quoted, scalar
from sudare.policy import ALL, SourceSpec

_LINE = 120
_MISSING = "these texts occur and usually say that a value is missing; take out what is an answer in your table"


@dataclass(frozen=True)
class SourceNotes:
    """How a table was read for a draft: the keys, their reasons, and what only a person can decide."""

    spec: SourceSpec = field(default_factory=SourceSpec)
    reasons: Mapping[str, str] = field(default_factory=dict)
    questions: Sequence[str] = ()

    def asks_about_dates(self, name: str) -> bool:
        """Whether a question is about the dates of a column: it shows what to write for each of its columns."""
        shown = re.compile(rf"[{{ ]{re.escape(name)}: ")
        return any(question.startswith("Dates") and shown.search(question) for question in self.questions)

    def text(self, guesses: Mapping[str, Guess], facts: Mapping[str, Facts]) -> str:
        """Return the part as YAML; an identifier is not read, so no key says how.

        ``missing`` names the texts for missing cells in columns that are released; the empty text always is one.
        """
        released = [name for name, guess in guesses.items() if guess.role != "identifier"]
        tokens = {token for name in released for token in facts[name].tokens}
        keys: dict[str, str] = {}
        for key in self.spec.given():
            written = _written(getattr(self.spec, key), released)
            if written:
                keys[key] = written
        reasons = {key: one_line(why) for key, why in self.reasons.items()}
        if tokens - {""}:
            keys["missing"] = f"[{', '.join(quoted(token) for token in sorted(tokens | {''}))}]"
            reasons["missing"] = _MISSING
        questions = [line for question in self.questions for line in _comment(f"Question: {one_line(question)}", "")]
        if not keys:
            return "".join(f"{line}\n" for line in questions)
        lines = [*questions, "source:"]
        for key, written in keys.items():
            entry = f"  {key}: {written}"
            why = reasons.get(key, "")
            if why and len(entry) + len(why) + 4 <= _LINE:
                entry += f"  # {why}"
            elif why:
                lines += _comment(f"{why}:", "  ")
            lines.append(entry)
        return "\n".join(lines) + "\n"


def _comment(text: str, indent: str) -> list[str]:
    mark = f"{indent}# "
    return textwrap.wrap(text, _LINE, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)


def _written(value: Any, released: Sequence[str]) -> str:
    """Return the value of a key as YAML; of one with entries for columns, those of released columns."""
    if not isinstance(value, dict):
        return str(value) if isinstance(value, int) else quoted(value)
    if list(value) == [ALL]:
        return _word(value[ALL])
    entries = [f"{scalar(name)}: {_word(each)}" for name, each in value.items() if name in released]
    return f"{{{', '.join(entries)}}}" if entries else ""


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return quoted(value[0]) if len(value) == 1 else f"[{', '.join(map(quoted, value))}]"
    return scalar(value)
