"""From what a column's name says and what it holds to its role: careful first, and always with a reason.

The order of the questions below is the order of care. Reasons are facts in words and counts, never values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sudare.draft.facts import Facts
from sudare.draft.names import NameSays, read_name
from sudare.errors import DataError
from sudare.policy import Kind, Role

NEARLY_UNIQUE = 0.9
"""Text of which more than this share of the values differ points at single records ..."""

ENOUGH_RECORDS = 20
"""... where there are more records than this; in a handful of records everything differs."""

_FEW_VALUES = 50  # an id of a thing that many records share, such as a hospital's, has about so many values at most
_RECORDS_PER_VALUE = 5
_FEWEST_PERSONS = 10  # a column "customer" with fewer values says yes or no, or what kind, rather than who
_PREFIXES: Mapping[int, Sequence[int]] = {
    3: (3, 2, 1), 4: (4, 2, 1), 5: (5, 3, 2), 6: (6, 4, 2), 7: (7, 3, 2), 8: (8, 5, 3), 9: (9, 5, 3),
}  # fmt: skip
"""Where codes of digits are cut, by their length: the places at which postal codes of that length name regions."""

_BY_NAME = "the name says so"
_IN_DOUBT = "in doubt, so treated as known to an intruder"


@dataclass(frozen=True)
class Guess:
    """What is guessed about one column, why, and how surely it could say whom a record is about (``rank``)."""

    role: Role
    why: str
    kind: Kind | None = None
    prefix: tuple[int, ...] = ()
    separator: str = ""
    rank: int = 0


def guess_roles(facts: Mapping[str, Facts]) -> dict[str, Guess]:
    """Return a guess for each column, with at most one subject and at least one quasi-identifier."""
    guesses = {name: _guess(read_name(name), found) for name, found in facts.items()}
    _keep_one_subject(guesses, facts)
    if not any(guess.role == "quasi" for guess in guesses.values()):
        _find_quasi(guesses, facts)
    return guesses


def _guess(says: NameSays, facts: Facts) -> Guess:
    if facts.shape == "other":
        return Guess("identifier", "binary or structured data cannot be generalized")
    if says.identifier:
        return Guess("identifier", _BY_NAME)
    if says.free_text:
        return Guess("identifier", "the name says free text, which may mention people")
    whose = _guess_subject(says, facts)
    if whose:
        return whose
    why = _gives_away(says, facts)
    if why:
        return Guess("identifier", why)
    if facts.shape == "items" or facts.separator:
        return _guess_items(says, facts)
    if says.sensitive and facts.shape != "date":
        return _with_kind("sensitive", _BY_NAME, says, facts)
    return _guess_quasi(says, facts)


def _guess_subject(says: NameSays, facts: Facts) -> Guess | None:
    """Tell who from which one: a person's id that comes back is the subject, one that never does an identifier."""
    rank = says.subject_rank
    if not rank or facts.shape in ("date", "items") or (rank == 2 and facts.distinct < _FEWEST_PERSONS):
        return None
    # Records of one person that were counted as several people would make k a promise about nobody: where the name
    # speaks of persons one repetition is enough. A bare id must repeat in general.
    repeats = facts.repeated > 0 if rank > 1 else 2 * facts.repeated > facts.distinct
    if repeats and facts.distinct > 1:
        what = _BY_NAME if rank > 1 else "an id by its name"
        return Guess("subject", f"{what}, and values come back: one person, several records", rank=rank)
    return Guess("identifier", f"an id by its name; {_how_many_differ(facts)}")


def _gives_away(says: NameSays, facts: Facts) -> str:
    """Return why the values identify people or records, or an empty string."""
    postal = says.postal and facts.digits > 0
    many = facts.share > 0.5 or facts.distinct > _FEW_VALUES
    expected = facts.date_text or postal or ((says.quasi or says.sensitive) and facts.share <= NEARLY_UNIQUE)
    if facts.pattern and (facts.sure_pattern or (many and not expected)):
        return f"values look like {facts.pattern}"
    if facts.free_text:
        return "looks like free text, which may mention people"
    if facts.running and not says.quasi and not says.sensitive and facts.records > ENOUGH_RECORDS:
        return "a running number, which leads back to the record"
    if says.id_like and facts.shape != "date" and not _is_shared(says, facts):
        return f"an id by its name; {_how_many_differ(facts)}"
    text = facts.shape == "text" and not (facts.date_text or facts.separator or postal)
    if text and facts.share > NEARLY_UNIQUE and facts.records > ENOUGH_RECORDS:
        return f"text, and {_how_many_differ(facts)}"
    return ""


def _is_shared(says: NameSays, facts: Facts) -> bool:
    """Whether an id is one of a thing that many records have in common, such as a hospital."""
    if says.quasi or says.sensitive:
        return facts.share <= 0.5
    return facts.distinct <= _FEW_VALUES and facts.present >= _RECORDS_PER_VALUE * facts.distinct


def _guess_items(says: NameSays, facts: Facts) -> Guess:
    what = "lists of items" if facts.shape == "items" else "most cells are lists of items"
    if says.sensitive:
        what += "; sensitive by its name, but sets can only be quasi"
    elif not says.quasi:
        what += f"; {_IN_DOUBT}"
    return Guess("quasi", what, kind="items", separator=facts.separator)


def _guess_quasi(says: NameSays, facts: Facts) -> Guess:
    if not facts.present:
        return _with_kind("quasi", "every cell is missing", says, facts)
    if facts.distinct == 1:
        return _with_kind("quasi", "constant: all values are the same", says, facts)
    if facts.shape == "date":
        why = "dates; hierarchy: {dates: [day, month, year]} is there for calendar levels"
        return _with_kind("quasi", why, says, facts)
    if facts.date_text:
        why = "looks like dates, but only YYYY-MM-DD is read as such"
        return _with_kind("quasi", why, says, facts)
    return _with_kind("quasi", _BY_NAME if says.quasi else _IN_DOUBT, says, facts)


def _with_kind(role: Role, why: str, says: NameSays, facts: Facts) -> Guess:
    """Add how the values generalize, and why so where that is not plain."""
    codes = facts.digits and (says.postal or (facts.shape == "text" and not facts.hyphen))
    if role == "quasi" and codes and not facts.date_text and facts.distinct > 1:
        lengths = (facts.digits, facts.hyphen, 2) if facts.hyphen > 2 else _PREFIXES[facts.digits]
        return Guess(role, f"{why}; codes whose ends are hidden first", "categorical", tuple(lengths))
    if facts.infinite:
        why += "; holds infinite numbers: correct them, and make it numeric"
    if facts.shape == "text":
        return Guess(role, why, "categorical")
    if facts.shape == "number" and (says.nominal or says.postal):
        return Guess(role, f"{why}; numbers that stand for categories", "categorical")
    return Guess(role, why, "numeric")


def _how_many_differ(facts: Facts) -> str:
    if not facts.present:
        return "every cell is missing"
    if facts.distinct == facts.present:
        return "all values differ"
    return f"{int(100 * facts.share)}% of the values differ"  # rounded down: 99.9% is not all


def _keep_one_subject(guesses: dict[str, Guess], facts: Mapping[str, Facts]) -> None:
    """Keep the surest subject, then the one with the most values; drop what else could say who."""
    candidates = [name for name, guess in guesses.items() if guess.role == "subject"]
    ranked = sorted(candidates, key=lambda name: (-guesses[name].rank, -facts[name].distinct))
    for name in ranked[1:]:
        guesses[name] = Guess("identifier", "could say whom a record is about as well, but one column does so already")


def _find_quasi(guesses: dict[str, Guess], facts: Mapping[str, Facts]) -> None:
    """Without a quasi-identifier there is no policy: take the sensitive column that tells least."""
    sensitive = [name for name, guess in guesses.items() if guess.role == "sensitive"]
    if not sensitive:
        raise DataError(
            "every column looks like an identifier, so there is nothing that could be released.",
            hint="write the policy by hand, and give role: quasi to the columns that can be generalized.",
        )
    least = min(sensitive, key=lambda name: facts[name].distinct)
    why = "sensitive by its name, but a policy needs a quasi-identifier and there is no other"
    guesses[least] = replace(guesses[least], role="quasi", why=why)
