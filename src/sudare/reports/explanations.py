"""Explanations of roles, promises and limits in a report, for readers who do not know privacy models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.methods import method_of
from sudare.reports.derived_codes import derived_codes
from sudare.reports.markup import phrase

ROLES = {
    "identifier": "names a person, and is never released",
    "subject": "names the person of a record, and is used to count people",
    "quasi": "an outsider may know it, and recognise a person by it",
    "sensitive": "nobody may learn it about a known person",
    "insensitive": "may be released unchanged",
}
TREATMENTS = {
    "generalized": "generalized in the release",
    "untouched": "unchanged in the release",
    "drawn": "drawn at random in the release; this page shows estimates",
    "sets": "hidden among other values in the release; this page shows estimates",
    "apart": "in a second table, by groups; this page shows estimates",
}
PSEUDONYM = "shown as a pseudonym, which only the holder of the key can connect with its value"
ABOUT_VALUES = ("l-diversity", "t-closeness", "alpha-k-anonymity", "beta-likeness", "delta-disclosure")
"""Promises about the sensitive value of a person in a known group."""


def role_of(column: Mapping[str, Any]) -> str:
    """Return what a column means to somebody who tries to recognise a person."""
    steps = column.get("steps") or ()
    if "pseudonym" in steps and column["role"] in ("insensitive", "subject"):
        return PSEUDONYM
    if steps and column["role"] == "insensitive":
        return "may be released as it is transformed"
    return ROLES[str(column["role"])]


def treatment_of(column: Mapping[str, Any]) -> str:
    """Return what became of a column in the release, and before."""
    steps, treatment = column.get("steps") or (), TREATMENTS[str(column["treatment"])]
    if not steps:
        return treatment
    names = ", ".join(steps)
    if column["treatment"] == "untouched":
        return f"transformed ({names}), and shown like that"
    return f"transformed ({names}), and then {treatment}"


def meaning(one: Mapping[str, Any]) -> str:
    """Return what a promise means."""
    given = one["parameters"]
    column = given.get("column", "the column")
    k, m, least = given.get("k"), given.get("m"), given.get("l")
    who = "people" if given.get("count") == "subjects" else "records"
    by_item = given.get("variant") == "frequency"
    harmless = ", harmless ones aside" if given.get("harmless") else ""
    represented = ", well represented" if given.get("variant", "distinct") != "distinct" else ""
    alone = given.get("against", "column") == "column"
    intruder = "someone who looks at this column alone" if alone else "someone who uses all perturbed columns"
    sentences = {
        "k-anonymity": f"Nobody stands out: each combination of quasi-identifiers that the release shows "
        f"belongs to at least {k} {who}.",
        "l-diversity": f"A person's group reveals no item of {column} with a probability above 1/{least}: in each "
        f"group, at most 1/{least} of the records hold any one item{harmless}."
        if by_item
        else f"A person's group does not reveal {column} with certainty: each group has at least {least} "
        f"different values of it{represented}.",
        "t-closeness": f"A person's group reveals little about {column}: in each group, its values are distributed "
        "nearly as in the whole release.",
        "alpha-k-anonymity": f"Each group has at least {k} records, and no value of {column} has more than a share of "
        f"{given.get('alpha')} in a group.",
        "beta-likeness": f"No value of {column} is much more likely in a group than in the whole release.",
        "delta-disclosure": f"In every group, each value of {column} is about as frequent as in the whole release.",
        "km-anonymity": f"Someone who knows up to {m} items of a person finds at least {k} records with these items.",
        "pk-anonymity": f"Even someone who knows the whole table links a record with its person with a probability "
        f"of at most 1/{k}.",
        "alpha-gamma": f"On average, the probability that {intruder} assigns to a person's {column} stays within the "
        "two limits.",
        "uniqueness": f"Few records are unique: at most a share {given.get('most')} of them are alone with "
        "what they show.",
        "transformation": f"The cells of {column} have the form that the transformations of the policy leave.",
        "identifiers absent": "No column that names a person is in the file.",
        "unnamed columns absent": "The file has no column that the policy does not name.",
        "subjects per class": "People are numbered separately in each group, so the numbers do not link groups.",
    }
    return sentences.get(str(one["model"]), "")


def limits(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the release does not promise, by the kind of method."""
    recoding = method_of(found["method"]).recoding
    if recoding in ("sets", "apart"):
        yield (
            "Quasi-identifiers are unchanged: someone who knows those of a person can see that the person is in the "
            "table. Only the sensitive value is protected."
        )
    elif recoding == "drawn":
        yield "Cells were drawn at random: any cell may be wrong, and nobody can know which."
    elif not any(one["model"] in ABOUT_VALUES for one in found["guarantees"]):
        sensitive = [column["name"] for column in found["columns"] if column["role"] == "sensitive"]
        if sensitive:
            yield (
                f"No promise is about {', '.join(sensitive)}: if all records of a group have the same value, the group "
                "gives it away."
            )


def usage(found: Mapping[str, Any]) -> Iterator[str]:
    """Give sentences for an analyst; those with examples are HTML."""
    name = found["names"].get("release") or "RELEASE"
    yield from _reading(found["columns"])
    yield from _transformed(found["columns"], list(derived_codes(found)))
    yield from _generalized(found["columns"])
    yield from _counting(found["columns"], method_of(found["method"]).recoding, name)
    yield from _cautions(found["columns"], found["records"])
    yield "Do not join the release with other tables about the same people, and do not try to recognise anybody."
    yield phrase("Prove the release again before you use it: <code>sudare audit {} --policy POLICY</code>.", name)


def _reading(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say how the cells of columns are read."""
    untouched = [each["name"] for each in columns if each["treatment"] == "untouched" and not each.get("steps")]
    if untouched:
        yield f"These columns are exact, and can be analysed as usual: {', '.join(untouched)}."


def _generalized(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say how generalized cells and item sets are read."""
    if any(each["treatment"] == "generalized" for each in columns):
        yield phrase(
            "How to read a generalized cell: <code>[17, 25]</code> is some number from 17 to 25, <code>{{A, B}}</code> "
            "is A or B, <code>*</code> is any value. The label of a group is some value below it. Do not replace an "
            "interval by its middle, or a set by its first member: spread the count evenly."
        )
    if any(each["kind"] == "items" and each["treatment"] != "untouched" for each in columns):
        yield (
            "An item set shows only the items that all records of a group have. A record may have more items, so "
            "counts of records with an item are lower bounds."
        )


def _transformed(columns: Sequence[Mapping[str, Any]], pseudonyms: Sequence[str]) -> Iterator[str]:
    """Say how transformed columns are read."""

    def with_step(*names: str) -> str:
        return ", ".join(each["name"] for each in columns if set(names) & set(each.get("steps") or ()))

    if pseudonyms:
        yield f"These columns show pseudonyms: {', '.join(pseudonyms)}. Records with the same one belong together."
    if found := with_step("shift"):
        yield (
            f"Dates in {found} were shifted: intervals between the dates of a person are exact, and calendar dates, "
            "seasons and weekdays are not."
        )
    if found := with_step("noise"):
        yield (
            f"Noise was added to {found}. The section on transformations has its variance: take it off variances, and "
            "correct correlations for it."
        )
    if found := with_step("top", "bottom"):
        yield (
            f"Extreme values of {found} show a limit, which also stands for everything beyond it. This changes means "
            "and variances, and no quantile within the limit."
        )
    if found := with_step("round"):
        yield (
            f"Numbers in {found} are rounded. The section on what was done to columns before has the unit: do not take "
            "differences below it for real."
        )
    if found := with_step("truncate", "band", "mask", "replace", "redact"):
        yield (
            f"Cells of {found} were made coarser, or replaced: one may stand for several values. The section on what "
            "was done to columns before says how."
        )
    if found := with_step("swap", "shuffle"):
        yield (
            f"Values of {found} stand in other records: counts of this column alone are exact, and its relations to "
            "other columns are weaker than in the data."
        )


def _counting(columns: Sequence[Mapping[str, Any]], recoding: str, name: str) -> Iterator[str]:
    """Say how records of a release are counted."""
    if recoding == "drawn":
        yield phrase(
            "Do not count cells of columns that were drawn at random without a correction. "
            "<code>sudare estimate</code> corrects counts with the probabilities in the certificate."
        )
    if recoding in ("sets", "apart"):
        yield phrase(
            "Hidden values cannot be counted record by record; <code>sudare estimate</code> estimates their "
            "distribution."
        )
    able = [each for each in columns if each["role"] in ("sensitive", "insensitive") and each["kind"] != "other"]
    # each pseudonym and each shifted date is that of a person, and a changed number is hardly ever that of two
    counts = [
        each for each in able if not _steps(each) & _UNCOUNTED and not (each["kind"] == "number" and _steps(each))
    ]
    counted = next((each for each in counts if not each.get("unique")), next(iter(counts), None))
    of = None if counted is None else counted["name"]
    # in text, only the policy says what separates the items of a set
    given = " --policy policy.yaml" if counted is not None and counted["kind"] == "items" else ""
    by = next(
        (
            each["name"]
            for each in columns
            if each["role"] == "quasi" and each["kind"] != "items" and not _steps(each) & _UNCOUNTED
        ),
        None,
    )
    if of is not None:
        asked = f" --by {by}" if by is not None and by != of else ""
        yield phrase(
            "Counts with intervals: <code>sudare estimate {} --of {}{}{}</code>. Cells with fewer than 30 records are "
            "flagged: do not publish them.", name, of, asked, given
        )  # fmt: skip
    measured = next((each["name"] for each in able if each["kind"] == "number" and _MEASURED & _steps(each)), None)
    if measured is not None:
        yield phrase(
            "Means of numbers that were changed: <code>sudare estimate {} --mean {}</code> knows what was done to "
            "them, and says how far the mean may be off.", name, measured
        )  # fmt: skip


_UNCOUNTED = frozenset(["pseudonym", "shift", "redact"])
"""Steps whose cells nobody counts value by value."""
_MEASURED = frozenset(["top", "bottom", "round", "noise", "swap", "shuffle"])
"""Steps that leave numbers whose mean can be estimated."""


def _steps(column: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(column.get("steps") or ())


def _cautions(columns: Sequence[Mapping[str, Any]], lost: Mapping[str, Any]) -> Iterator[str]:
    """Say what a release does not have, or has changed much."""
    if lost["left_out"].get("about") != 0:
        masked = "show no quasi-identifier" if lost["masked"] else "are not in the release"
        yield (
            f"Some records {masked}. They are not a random sample: records with rare values are suppressed first. "
            "Mention this where you publish shares."
        )
    far = [each for each in columns if (each["distance"] or 0) > 0.1]
    if far:
        yield (
            f"Take care with {', '.join(each['name'] for each in far)}: in the release, the distribution "
            "differs from that of the data by more than 10%."
        )


def signed(signature: Mapping[str, Any] | None) -> str:
    """Return who signed a certificate, when, and whether this was verified."""
    if signature is None:
        return "The certificate is not signed: nothing proves who made it."
    told = f"by {signature['who']}, at {signature['time']}, with the key {signature['key']}"
    if signature["verified"]:
        return f"{told}; verified with the public key of {signature['verified_by']}."
    return f"{told}; not verified: no public key was given."
