"""The preset for research under the GDPR: pseudonyms under a key, coarser dates, and no free text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from sudare.drafts.column_name_matches import read_name
from sudare.drafts.facts import Facts
from sudare.drafts.guesses import Guess
from sudare.drafts.preset_columns import is_of_births, pointed
from sudare.drafts.proposals import Proposals

RESEARCH = """\
Preset gdpr-research: people have pseudonyms under a secret key, dates become months, free text is not released, and
groups hold enough people and different sensitive values. Pseudonyms are personal data (recital 26): anyone with the
key can find the person. So keep the key apart from the data, and destroy it when nobody has to be found any more."""

KEY = "{pseudonym: {key: {env: SUDARE_KEY}}}"
ABOUT = (
    "what are the purpose, the legal basis, the recipient and the contact? Fill in `about`; the certificate and the "
    "report show it. Article 89 of the GDPR asks for safeguards in research, and articles 6 and 9 for a legal basis. "
    "None of this is legal advice."
)
"""The question above ``about``."""
_HOW = "`sudare key new FILE` makes the key"


def research_columns(found: Proposals, table: pa.Table) -> dict[str, Guess]:
    """Return the guesses of a draft as research needs them."""
    guesses = {name: _column(name, guess, found.facts[name]) for name, guess in found.guesses.items()}
    if not any(guess.role == "subject" for guess in guesses.values()):
        numbered = [name for name, guess in guesses.items() if guess.role == "identifier" and _names_a_person(name)]
        for name in numbered[:1]:
            why = pointed(guesses[name].why, f"released as a pseudonym, the same in all tables under the key; {_HOW}")
            guesses[name] = replace(guesses[name], why=why, steps=(KEY,))
    return guesses


def _column(name: str, guess: Guess, facts: Facts) -> Guess:
    if guess.role == "subject":
        why = pointed(guess.why, f"released as a pseudonym, the same in all tables under the key; {_HOW}")
        return replace(guess, why=why, steps=(KEY,))
    if guess.role == "quasi" and facts.shape == "date":
        if is_of_births(name):
            return Guess("quasi", "dates of birth, to the year", "numeric", steps=("{truncate: year}",))
        why = "dates to the month; for distances between dates of a person, see the comment on shift below"
        return Guess("quasi", why, prefix=(7, 4), steps=("{truncate: month}",))
    return guess


def _names_a_person(name: str) -> bool:
    says = read_name(name)
    return says.person_id or says.person_number


def research_text(guesses: Mapping[str, Guess], facts: Mapping[str, Facts]) -> str:
    """Return the end of the draft: shifted dates as a comment, and what the data protection officer must fill in."""
    lines = []
    if any("{truncate: month}" in guess.steps for guess in guesses.values()):
        lines += [
            "# All dates of a person can move by one secret number of days instead, which keeps their distances:",
            "#   {role: insensitive, transform: {shift: {days: 365, key: {env: SUDARE_KEY}}}}",
            "# An outsider does not know such dates, but whoever knows one date of a person knows all. They need a",
            "# column with role: subject, or per: COLUMN.",
        ]
    lines += [
        *textwrap.wrap(f"Question: {ABOUT}", 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False),
        "about:",
        '  purpose: "To be filled in: the research question, and why it needs these columns"',
        '  legal_basis: "To be filled in: articles 6 and 9 of the GDPR, consent or law, and the ethics board"',
        '  recipient: "To be filled in: who gets the release, and under which agreement"',
        '  contact: "To be filled in: who answers questions about the release"',
    ]
    return "\n".join(lines) + "\n"
