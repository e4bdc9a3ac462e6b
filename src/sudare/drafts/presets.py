"""Presets: drafts with transformations and promises for a purpose. A preset goes over a draft that is made as always.

A preset only makes a draft more careful, or the same in another form: what looks like an identifier stays one. It says
why beside every change, and asks where only a person can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sudare.core.errors import ParameterError, Problem, did_you_mean
from sudare.drafts.guesses import Guess
from sudare.drafts.proposals import Proposals, Proposed
from sudare.drafts.research_preset import ABOUT, RESEARCH, research_columns, research_text
from sudare.drafts.safe_harbor_preset import SAFE_HARBOR, safe_harbor_columns, safe_harbor_text
from sudare.drafts.survey_preset import SURVEY, survey_columns, survey_text

if TYPE_CHECKING:
    from sudare.drafts.facts import Facts

Columns = Callable[[Proposals, pa.Table], dict[str, Guess]]
Text = Callable[[Mapping[str, Guess], "Mapping[str, Facts]"], str]
_ROLES: Mapping[str, Proposed] = {
    "quasi": "quasi", "sensitive": "sensitive", "subject": "subject", "insensitive": "insensitive",
}  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """A purpose: what it says at the top, what it does with the columns, its k, and what stands at the end.

    ``diverse`` says whether it makes promises about sensitive columns. ``question`` stands in its closing; those about
    columns are in their guesses.
    """

    name: str
    about: str
    columns: Columns
    closing: Text
    k: int
    k_why: str
    diverse: bool = True
    question: str = ""

    def over(self, found: Proposals, table: pa.Table) -> Proposals:
        """Return the proposals for a table as this preset has them; at least one column stays a quasi-identifier."""
        guesses = self.columns(found, table)
        if not any(guess.role == "quasi" for guess in guesses.values()):
            kept = [name for name, guess in guesses.items() if guess.role == "sensitive"]
            if kept:
                why = f"{guesses[kept[0]].why}; a policy needs a quasi-identifier, and no other column can be one"
                guesses[kept[0]] = replace(guesses[kept[0]], role="quasi", kind=found.guesses[kept[0]].kind, why=why)
        words: dict[str, Proposed] = {
            name: _ROLES.get(guess.role, "transform" if found.words[name] == "transform" else "drop")
            for name, guess in guesses.items()
        }
        return replace(found, guesses=guesses, words=words)


PRESETS: Mapping[str, Preset] = {
    each.name: each
    for each in (
        Preset(
            "hipaa-safe-harbor",
            SAFE_HARBOR,
            safe_harbor_columns,
            safe_harbor_text,
            3,
            "Safe Harbor itself asks for no k. This one is low, and keeps what is left from pointing at one person.",
            diverse=False,
        ),
        Preset(
            "survey",
            SURVEY,
            survey_columns,
            survey_text,
            3,
            "Where researchers use a file under a contract, k is often 3; it is 5 or more where anybody can have it.",
        ),
        Preset("gdpr-research", RESEARCH, research_columns, research_text, 5, "", question=ABOUT),
    )
}
"""The presets by their names."""


def find_preset(name: str) -> Preset:
    """Return a preset by its name, or raise with the nearest one."""
    if name not in PRESETS:
        hint = did_you_mean(str(name), PRESETS) or _by_a_word(str(name)) or f"use one of {', '.join(PRESETS)}."
        raise ParameterError(Problem("preset", f"there is no preset '{name}'.", hint))
    return PRESETS[name]


def _by_a_word(name: str) -> str:
    """Return which preset has a word that is near, as in gdpr and hippa."""
    words = {word: each for each in PRESETS for word in each.split("-")}
    near = next((words[word] for word in words if did_you_mean(name, [word])), None)
    return f"Did you mean '{near}'?" if near else ""
