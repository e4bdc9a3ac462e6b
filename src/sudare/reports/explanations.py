"""What things in a report mean, in sentences for readers who know the people rather than the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.methods import method_of
from sudare.reports.markup import phrase

ROLES = {
    "identifier": "names a person, and is never released",
    "subject": "says whom a record is about, and is used for counting",
    "quasi": "others may know it, and recognise a person by it",
    "sensitive": "nobody may learn it about a known person",
    "insensitive": "may leave as it is",
}
TREATMENTS = {
    "generalized": "generalized in the release",
    "untouched": "in the release as it was",
    "drawn": "drawn at random in the release, and estimated from it here",
    "sets": "hidden among others in the release, and estimated from it here",
    "apart": "in a table of its own, by groups, and estimated from it here",
}
ABOUT_VALUES = ("l-diversity", "t-closeness", "alpha-k-anonymity", "beta-likeness", "delta-disclosure")
"""Promises about what somebody's group tells of a sensitive value."""


def meaning(one: Mapping[str, Any]) -> str:
    """Return what a promise means."""
    given = one["parameters"]
    column = given.get("column", "the column")
    k, m, least = given.get("k"), given.get("m"), given.get("l")
    who = "people" if given.get("count") == "subjects" else "records"
    represented = ", well represented" if given.get("variant", "distinct") != "distinct" else ""
    sentences = {
        "k-anonymity": f"Everybody is in a crowd: each combination of quasi-identifiers that the release shows "
        f"belongs to at least {k} {who}.",
        "l-diversity": f"Finding somebody's group does not tell {column} for certain: each group has at least {least} "
        f"different values of it{represented}.",
        "t-closeness": f"Finding somebody's group tells little about {column}: its values are distributed in each "
        "group nearly as they are overall.",
        "alpha-k-anonymity": f"Each group has at least {k} records, and no value of {column} takes more than a share "
        f"{given.get('alpha')} of them.",
        "beta-likeness": f"No value of {column} is much likelier in a group than it is overall.",
        "delta-disclosure": f"In every group each value of {column} is about as frequent as overall.",
        "km-anonymity": f"Whoever knows up to {m} items of somebody finds at least {k} records that have them.",
        "pk-anonymity": f"Whoever knows the whole table connects a record with its person with a probability of at "
        f"most 1/{k}.",
        "alpha-gamma": f"What anybody can believe about somebody's {column} stays between the two limits.",
        "uniqueness": f"Few records are unique: at most a share {given.get('most')} of them are alone with "
        "what they show.",
        "identifiers absent": "No column that names a person is in the file.",
        "unnamed columns absent": "No column is in the file that the policy does not name.",
        "subjects per class": "Numbers of people start anew in each group, so that they link no two groups.",
    }
    return sentences.get(str(one["model"]), "")


def limits(found: Mapping[str, Any]) -> Iterator[str]:
    """Say what is not promised, by the kind of method."""
    recoding = method_of(found["method"]).recoding
    if recoding in ("sets", "apart"):
        yield (
            "Quasi-identifiers are as they were: whoever knows those of a person can tell that the person is in the "
            "table. What is protected is the sensitive value."
        )
    elif recoding == "drawn":
        yield "Cells were drawn at random: any of them may be wrong, and nobody can tell which."
    elif not any(one["model"] in ABOUT_VALUES for one in found["guarantees"]):
        sensitive = [column["name"] for column in found["columns"] if column["role"] == "sensitive"]
        if sensitive:
            yield (
                f"Nothing is promised about {', '.join(sensitive)}: if all records of a group agree there, the group "
                "gives the value away."
            )


def usage(found: Mapping[str, Any]) -> Iterator[str]:
    """Give sentences for an analyst; those with examples are HTML."""
    name = found["names"].get("release") or "RELEASE"
    yield from _reading(found["columns"])
    yield from _counting(found["columns"], method_of(found["method"]).recoding, name)
    yield from _cautions(found["columns"], found["records"])
    yield "Do not join the release with other tables about the same people, and do not try to recognise anybody."
    yield phrase("Prove the release again before you use it: <code>sudare audit {} --policy POLICY</code>.", name)


def _reading(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say how the cells of columns are read."""
    untouched = [each["name"] for each in columns if each["treatment"] == "untouched"]
    if untouched:
        yield f"These columns are exact, and can be analysed as usual: {', '.join(untouched)}."
    if any(each["treatment"] == "generalized" for each in columns):
        yield phrase(
            "Generalized cells read so: <code>[17, 25]</code> is some number from 17 to 25, <code>{{A, B}}</code> is A "
            "or B, <code>*</code> is anything. The label of a group stands for some value below it. Do not take the "
            "middle of an interval, or the first of a set, for the truth: count evenly."
        )
    if any(each["kind"] == "items" for each in columns):
        yield (
            "An item set shows what all records of a group hold. An item that is not shown may still be there: counts "
            "of records with an item are at least as large as they look."
        )


def _counting(columns: Sequence[Mapping[str, Any]], recoding: str, name: str) -> Iterator[str]:
    """Say how records of a release are counted."""
    if recoding == "drawn":
        yield phrase(
            "Do not count cells of columns that were drawn at random: correct for the drawing first. The certificate "
            "has the probabilities, and <code>sudare estimate</code> does it."
        )
    if recoding in ("sets", "apart"):
        yield phrase(
            "Hidden values cannot be counted record by record; <code>sudare estimate</code> tells how they are "
            "distributed."
        )
    of = next((each["name"] for each in columns if each["role"] in ("sensitive", "insensitive")), None)
    by = next((each["name"] for each in columns if each["role"] == "quasi" and each["kind"] != "items"), None)
    if of is not None:
        asked = f" --by {by}" if by is not None and by != of else ""
        yield phrase(
            "Counts with intervals: <code>sudare estimate {} --of {}{}</code>. Cells with fewer than 30 records are "
            "flagged: leave them out of a publication.", name, of, asked
        )  # fmt: skip


def _cautions(columns: Sequence[Mapping[str, Any]], lost: Mapping[str, Any]) -> Iterator[str]:
    """Say what a release does not have, or has changed much."""
    if lost["left_out"].get("about") != 0:
        masked = "show no quasi-identifier" if lost["masked"] else "are not in the release"
        yield (
            f"Some records {masked}. They are not a random sample: those with rare values go first. Say so where you "
            "publish shares."
        )
    far = [each for each in columns if (each["distance"] or 0) > 0.1]
    if far:
        yield (
            f"Take care with {', '.join(each['name'] for each in far)}: read from the release, the "
            "distribution differs from that of the data by more than 10%."
        )


def signed(signature: Mapping[str, Any] | None) -> str:
    """Say who signed a certificate, when, and whether that was proven."""
    if signature is None:
        return "The certificate is not signed: nothing proves who made it."
    told = f"by {signature['who']}, at {signature['time']}, with the key {signature['key']}"
    if signature["verified"]:
        return f"{told}; verified with the public key of {signature['verified_by']}."
    return f"{told}; not verified: no public key was given."
