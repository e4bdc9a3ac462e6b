"""Guesses of roles from the names and contents of columns, each with a reason.

The most careful roles are tried first. Reasons are words and counts, never values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sudare.core.errors import DataError
from sudare.core.shown_places import first_places
from sudare.drafts.column_name_matches import NameSays, read_name
from sudare.drafts.facts import Facts
from sudare.drafts.rarity import FEW, MOST_TO_COUNT
from sudare.drafts.yaml_words import scalar
from sudare.policy import Kind, Role

NEARLY_UNIQUE = 0.9
"""A column of which more than this share of the values differ points at single records ..."""

ENOUGH_RECORDS = 20
"""... where there are more records than this; in a handful of records everything differs."""

MOSTLY_RARE = 0.5
"""Where more than this share of the records hold values that few share, these lead to people (see `rarity`)."""

FEW_VALUES = 50
"""An id of a thing that many records share, such as a hospital's, has about so many values at most."""

_RECORDS_PER_VALUE = 5
_MANY_PER_VALUE = 20  # a hospital or a county has as many records at least; people hardly ever have
_MANY_WORDS = 20  # a small table has a dozen different jobs, each of a few people
_FEWEST_PERSONS = 10  # a column "customer" with fewer values says yes or no, or what kind, rather than who
_PREFIXES: Mapping[int, Sequence[int]] = {
    3: (3, 2, 1), 4: (4, 2, 1), 5: (5, 3, 2), 6: (6, 4, 2), 7: (7, 3, 2), 8: (8, 5, 3), 9: (9, 5, 3),
}  # fmt: skip
"""Where codes of digits are cut, by their length: the places at which postal codes of that length name regions."""

_BY_NAME = "the name says so"
_IN_DOUBT = "unclear, so treated as known to an intruder"
_TOO_FREQUENT = (
    "more than half of the records hold one item, which no promise can hide: released as a quasi-identifier; "
    "{role: sensitive} needs l-diversity with variant: frequency, and this item as harmless"
)
_BY_RECORD = (
    "sensitive, but the promise about sensitive sets counts records, and here people are counted: released "
    "as a quasi-identifier; make one record for each person for {role: sensitive}"
)
_IS_ONE_COLUMN = "the table has one column only: is the delimiter right? `sudare init --delimiter` says which it is."
_HOW_MANY_PEOPLE = (
    "may be how many people there are, since there are few values; if it is the number of a person, {role: subject} "
    "counts people by it"
)
_ONE_PERSON = "records that share a value agree in other columns, as those of one person do"
_IF_MEASURED = "if it measures something, {role: quasi, kind: numeric} releases ranges"
IF_PUBLIC = "if they are not names or codes of people, {role: quasi} releases sets"


@dataclass(frozen=True)
class Guess:
    """What is guessed about one column, why, and how surely it could say whom a record is about (``rank``).

    ``steps`` are the transformations of a preset, as YAML, and ``asks`` is its question about the column, or empty.
    """

    role: Role
    why: str
    kind: Kind | None = None
    prefix: tuple[int, ...] = ()
    builtin: str = ""
    separator: str = ""
    rank: int = 0
    steps: tuple[str, ...] = ()
    asks: str = ""

    @property
    def reason(self) -> str:
        """Why it is guessed, with the question that stands beside the column."""
        if not self.asks:
            return self.why
        asked = f"Question: {self.asks}"
        return f"{self.why}. {asked}" if self.why else asked


def guess_roles(facts: Mapping[str, Facts]) -> dict[str, Guess]:
    """Return a guess for each column, with at most one subject and at least one quasi-identifier."""
    guesses = {name: _guess(read_name(name), found) for name, found in facts.items()}
    _keep_one_subject(guesses, facts)
    if any(guess.role == "subject" for guess in guesses.values()):
        for name, guess in guesses.items():
            if guess.role == "sensitive" and guess.kind == "items":
                guesses[name] = replace(guess, role="quasi", why=_BY_RECORD)
    if not any(guess.role == "quasi" for guess in guesses.values()):
        _find_quasi(guesses, facts)
    return guesses


def _guess(says: NameSays, facts: Facts) -> Guess:
    if facts.shape == "other":
        return Guess("identifier", "binary or structured data cannot be generalized")
    if says.identifier and (not says.person_number or facts.shape == "items"):
        return Guess("identifier", _BY_NAME)
    if says.free_text:
        return Guess("identifier", "the name says free text, which may mention people")
    whose = _guess_subject(says, facts)
    if whose:
        return whose
    why = _gives_away(says, facts)
    if why:
        return _identifying(why, facts)
    if facts.shape == "items" or facts.separator:
        return _guess_items(says, facts)
    if _is_rare(facts) and (facts.rarity.longest or not (says.quasi or says.sensitive)):
        return _guess_rare(says, facts)
    if (says.sensitive or (facts.clinical and not says.quasi)) and facts.shape != "date":
        return _guess_sensitive(says, facts)
    return _guess_quasi(says, facts)


def _guess_subject(says: NameSays, facts: Facts) -> Guess | None:
    """Return the role of an id of people: the subject if it recurs, otherwise an identifier."""
    rank = says.subject_rank
    if not rank or facts.shape == "items" or (facts.shape == "date" and not says.person_number):
        return None
    few = facts.distinct < _FEWEST_PERSONS
    if says.counts_people and few:
        return _with_kind("quasi", _HOW_MANY_PEOPLE, says, facts)
    if not says.person_number and ((rank == 2 and few) or (says.record_id and (few or _is_shared(says, facts)))):
        return None
    # Records of one person that were counted as several people would make k a promise about nobody: where the name
    # speaks of persons one repetition is enough. A bare id must repeat in general, or for people who stay the same.
    repeats = facts.repeated > 0 if rank > 1 else 2 * facts.repeated > facts.distinct or facts.comes_back
    if repeats and facts.distinct > 1 and not (says.person_number and few):
        what = _BY_NAME if rank > 1 else "an id by its name"
        return Guess("subject", f"{what}, and values recur: one person, several records", rank=rank)
    return Guess("identifier", f"an id by its name; {_how_many_differ(facts)}")


def _identifying(why: str, facts: Facts) -> Guess:
    """Return the role of values that identify: where they come back with one person, people are counted by them."""
    if facts.comes_back:
        return Guess("subject", f"{why}; {_ONE_PERSON}")
    return Guess("identifier", why)


def _gives_away(says: NameSays, facts: Facts) -> str:
    """Return why the values identify people or records, or an empty string."""
    postal = says.postal and facts.digits > 0
    many = facts.share > 0.5 or facts.distinct > FEW_VALUES
    expected = facts.date_text or postal or ((says.quasi or says.sensitive) and facts.share <= NEARLY_UNIQUE)
    if facts.pattern and (facts.sure_pattern or (many and not expected)):
        return f"values look like {facts.pattern}"
    if facts.free_text:
        return "looks like free text, which may mention people"
    if facts.running and not says.quasi and not says.sensitive and facts.records > ENOUGH_RECORDS:
        return "a running number, which identifies the record"
    if says.id_like and (facts.shape != "date" or not says.quasi) and not _is_shared(says, facts):
        return f"an id by its name; {_how_many_differ(facts)}"
    text = facts.shape == "text" and not (facts.date_text or facts.separator or postal)
    if text and facts.share > NEARLY_UNIQUE and facts.records > ENOUGH_RECORDS:
        return f"text, and {_how_many_differ(facts)}"
    return ""


def _is_shared(says: NameSays, facts: Facts) -> bool:
    """Whether an id is one of a thing that many records have in common, such as a hospital.

    The number of a case stays one, however many records the case has; the first, second and third visit are no ids.
    """
    if says.record_id and not says.quasi and (facts.rarity.long or facts.rarity.codes):
        return False
    if (says.quasi or says.sensitive) and facts.present >= _MANY_PER_VALUE * facts.distinct:
        return True
    return facts.distinct <= FEW_VALUES and facts.present >= _RECORDS_PER_VALUE * facts.distinct


def _is_rare(facts: Facts) -> bool:
    """Return whether the values of a column identify people; in few records, all values would."""
    rare = facts.rarity
    if facts.records <= ENOUGH_RECORDS or facts.shape not in ("text", "number") or facts.date_text:
        return False
    if facts.shape == "number" and not rare.whole:
        return False
    if facts.share > NEARLY_UNIQUE:
        return True
    many = facts.distinct > (_FEWEST_PERSONS if rare.codes or rare.apart else _MANY_WORDS)
    if rare.exposed > MOSTLY_RARE and many and (facts.shape == "text" or rare.apart or facts.distinct > MOST_TO_COUNT):
        return True
    few_each = facts.present <= _MANY_PER_VALUE * facts.distinct
    if few_each and facts.comes_back and (rare.whole or rare.codes):
        return True
    return rare.long and rare.apart and facts.distinct > FEW_VALUES


def _guess_rare(says: NameSays, facts: Facts) -> Guess:
    """Return the role of a column whose values lead to people although nothing in its name says so."""
    rare = facts.rarity
    exposed = f"{int(100 * rare.exposed)}% of the records hold values that fewer than {FEW} records share"
    what = _how_many_differ(facts) if facts.share > NEARLY_UNIQUE else exposed
    if rare.exposed <= MOSTLY_RARE:
        what = f"{facts.distinct:,} different values"
    if facts.comes_back:
        return Guess("subject", f"{what}; {_ONE_PERSON}")
    if facts.shape == "number":
        return Guess("identifier", f"whole numbers, as ids are: {what}; {_IF_MEASURED}")
    if says.postal:
        return _guess_quasi(says, facts)
    return Guess("identifier", f"text, and {what}; {IF_PUBLIC}")


def _guess_sensitive(says: NameSays, facts: Facts) -> Guess:
    """Return the role of a column that is sensitive by its name.

    Sensitive values are released unchanged. So exact numbers that identify people are released as ranges instead.
    """
    rare = facts.rarity.exposed > MOSTLY_RARE and facts.distinct > MOST_TO_COUNT
    if facts.shape == "number" and facts.records > ENOUGH_RECORDS and (rare or facts.share > NEARLY_UNIQUE):
        why = (
            f"sensitive by its name, but {_how_many_differ(facts)}, so that an exact one identifies: released as "
            "ranges; {role: sensitive} releases the values as they are"
        )
        return _with_kind("quasi", why, says, facts)
    return _with_kind("sensitive", _why_sensitive(says, facts), says, facts)


def _why_sensitive(says: NameSays, facts: Facts) -> str:
    if facts.clinical:
        return f"values look like {facts.clinical}"
    return "a clinical detail by its name" if says.clinical else _BY_NAME


def _guess_items(says: NameSays, facts: Facts) -> Guess:
    what = "lists of items" if facts.shape == "items" else "most cells are lists of items"
    if (says.sensitive or (facts.clinical and not says.quasi)) and facts.commonest:
        how = f"values look like {facts.clinical}" if facts.clinical else "sensitive by its name"
        if 2 * facts.commonest <= facts.records:
            return Guess("sensitive", f"{what}; {how}", kind="items", separator=facts.separator)
        what += f"; {how}, but {_TOO_FREQUENT}"
    elif not says.quasi:
        what += f"; {_IN_DOUBT}"
    return Guess("quasi", what, kind="items", separator=facts.separator)


def _guess_quasi(says: NameSays, facts: Facts) -> Guess:
    if not facts.present:
        return _with_kind("quasi", "every cell is missing", says, facts)
    if facts.distinct == 1:
        return _with_kind("quasi", "constant: all values are the same", says, facts)
    if facts.shape == "date":
        why = "dates; hierarchy: {dates: [day, month, year]} gives calendar levels"
        return _with_kind("quasi", why, says, facts)
    if facts.date_text:
        return _with_kind("quasi", _how_to_read_dates(says.name, facts), says, facts)
    return _with_kind("quasi", _BY_NAME if says.quasi else _IN_DOUBT, says, facts)


def _how_to_read_dates(name: str, facts: Facts) -> str:
    if facts.date_asked:
        return "looks like dates: decide how they are read, see the question about them above source"
    if not facts.date_form:
        return "looks like dates, but in a format that source.dates has no words for: write them as YYYY-MM-DD"
    why = f"looks like dates: write their format below source, such as dates: {{{scalar(name)}: {facts.date_form}}}"
    short = "yy" in facts.date_form and "yyyy" not in facts.date_form
    return f"{why}; years up to 68 are read as 20xx, so write earlier ones in full" if short else why


def _with_kind(role: Role, why: str, says: NameSays, facts: Facts) -> Guess:
    """Add how the values generalize, and why so where that is not plain."""
    if role == "sensitive" and facts.distinct < 2:
        return Guess(role, why)  # no promise can be about it, and a kind would have no effect
    codes = facts.digits and (says.postal or (facts.shape == "text" and not facts.hyphen))
    if role == "quasi" and codes and not facts.date_text and facts.distinct > 1:
        lengths = (facts.digits, facts.hyphen, 2) if facts.hyphen > 2 else _PREFIXES[facts.digits]
        return Guess(role, f"{why}; codes whose ends are hidden first", "categorical", tuple(lengths))
    if role == "quasi" and facts.builtin and facts.distinct > 1:
        return Guess(role, f"{why}; codes that sudare knows", "categorical", builtin=facts.builtin)
    if facts.infinite:
        why += "; holds infinite numbers: correct them, and make it numeric"
    if facts.shape == "text" or (facts.stray and role != "quasi"):
        return Guess(role, why, "categorical")
    if facts.stray:
        where = first_places(facts.stray, "record")
        why += f"; some cells are not numbers ({where}): correct them, or list their texts in source.missing"
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
    """Keep the most certain subject, then the one with the most values; drop all others.

    If only the values suggest it, take the one with the fewest values. It counts the fewest people, which is safe: one
    person has several cases rather than one case several people.
    """
    candidates = [name for name, guess in guesses.items() if guess.role == "subject"]

    def order(name: str) -> tuple[int, int]:
        rank, values = guesses[name].rank, facts[name].distinct
        return -rank, -values if rank else values

    ranked = sorted(candidates, key=order)
    for name in ranked[1:]:
        guesses[name] = Guess(
            "identifier", "could also name the person of a record, but another column does so already"
        )


def _find_quasi(guesses: dict[str, Guess], facts: Mapping[str, Facts]) -> None:
    """A policy needs a quasi-identifier: take the least revealing sensitive column."""
    sensitive = [name for name, guess in guesses.items() if guess.role == "sensitive"]
    if not sensitive:
        raise DataError(
            "every column looks like an identifier, so there is nothing to release.",
            hint=_IS_ONE_COLUMN
            if len(guesses) == 1
            else "write the policy by hand, and give role: quasi to the columns that can be generalized.",
        )
    least = min(sensitive, key=lambda name: facts[name].distinct)
    why = "sensitive by its name, but a policy needs a quasi-identifier, and no other column can be one"
    guesses[least] = replace(guesses[least], role="quasi", why=why)
