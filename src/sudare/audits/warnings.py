"""The warnings of the audit: unique records, classes with one sensitive value, rare values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sudare.audits.audit_report import AuditWarning

# the kinds of warnings, in the order in which they are listed
RELEASED = "unique-released"
INSENSITIVE = "unique-insensitive"
COLUMN = "unique-column"
NEARLY = "nearly-unique-column"
COMBINATION = "unique-combination"
ALIKE = "homogeneous"
RARE = "rare-values"
ONE_CLASS = "one-class"
"""A kind that whoever made the release adds: the quasi-identifiers of all records show the same."""
COUNTED = (RELEASED, INSENSITIVE, COLUMN, NEARLY, ALIKE, RARE)
"""The kinds whose figures are always counted, never estimated."""
HALF = 0.5
"""A column that singles out this share of the records is nearly an identifier."""
WORTH, MORE = 0.01, 0.05
"""A combination is listed if it singles out the first share, and more than any part of it by the second."""
LISTED = 5
"""The most combinations that are listed."""


def about_columns(
    quasi: Sequence[str],
    plain: Sequence[str],
    shares: Mapping[tuple[str, ...], float],
    few: float,
    *,
    bounds: bool = False,
) -> list[AuditWarning]:
    """Return warnings about records that are unique by quasi-identifiers and insensitive columns, or by the latter.

    ``bounds`` says that shares are upper bounds. If the release numbers people within their classes, equal records in
    different classes may belong to one person or to several.
    """
    known, found = (*quasi, *plain), []
    if shares[known]:
        what = "quasi-identifiers" if not plain else "insensitive columns" if not quasi else ""
        by = f"{what} together" if what else "quasi-identifiers and insensitive columns together"
        text = (
            f"{shown_share(shares[known], bounds)} of the records are unique by {by}: "
            "someone who knows these values of a person finds the record."
        )
        found.append(_warning(RELEASED, text, known, shares[known]))
    if quasi and plain and shares[tuple(plain)]:
        text = f"{shown_share(shares[tuple(plain)], bounds)} of the records are unique by insensitive columns alone."
        found.append(_warning(INSENSITIVE, text, plain, shares[tuple(plain)]))
    for name in sorted(plain, key=lambda each: -shares.get((each,), 0.0)):
        share = shares.get((name,), 0.0)
        if share >= HALF:
            text = (
                f"column '{name}' is insensitive, and nearly unique: "
                f"alone it singles out {shown_share(share, bounds)} of the records. "
                "Is it an identifier, a subject or a quasi-identifier?"
            )
            found.append(_warning(NEARLY, text, [name], share))
        elif share >= few:
            text = f"column '{name}' is insensitive, and alone singles out {shown_share(share, bounds)} of the records."
            found.append(_warning(COLUMN, text, [name], share))
    return found


def about_combinations(shares: Mapping[tuple[str, ...], float], *, bounds: bool = False) -> list[AuditWarning]:
    """Return warnings about the combinations of few columns that single out most, and more than any part of them."""

    def parts(names: tuple[str, ...]) -> float:
        smaller = [shares[part] for part in shares if set(part) < set(names)]
        return max(smaller, default=0.0)

    told = [names for names in shares if len(names) > 1 and shares[names] >= max(WORTH, parts(names) + MORE)]
    worst = sorted(told, key=lambda names: (-shares[names], names))[:LISTED]
    return [
        _warning(
            COMBINATION,
            f"columns {' + '.join(repr(name) for name in names)} together single out "
            f"{shown_share(shares[names], bounds)} of the records.",
            names,
            shares[names],
        )
        for names in worst
    ]


def about_values(shares: Mapping[str, float]) -> list[AuditWarning]:
    """Return warnings about sensitive columns with one value in whole classes, by their shares of the records."""
    return [
        _warning(
            ALIKE,
            f"for {shown_share(share)} of the records, all records of the class show the same '{name}', and no "
            "requirement is about it. Someone who finds the class knows the value. Require l-diversity or t-closeness "
            "of it.",
            [name],
            share,
        )
        for name, share in shares.items()
        if share
    ]


def about_rare_values(
    counts: Mapping[str, int], least: int, *, people: bool = False, bounds: bool = False
) -> list[AuditWarning]:
    """Return warnings about values of sensitive columns that fewer than ``least`` records, or ``people``, hold.

    A number below ``least`` is not shown. ``bounds`` says that numbers are lower bounds.
    """
    who = "people" if people else "records"
    found = []
    for name, count in counts.items():
        if not count:
            continue
        told = f"{'at least ' if bounds else ''}{count:,}" if count >= least else f"some (fewer than {least})"
        figures = {"fewer_than": least} | ({"values": count} if count >= least else {})
        text = (
            f"Column '{name}' is sensitive, and {told} of its values are held by fewer than {least} {who} each. "
            "Someone who knows such a value of a person finds the record. Group or suppress rare values first."
        )
        found.append(AuditWarning(RARE, text, (name,), figures))
    return found


def about_rare_items(name: str, items: int, sets: int, least: int) -> list[AuditWarning]:
    """Return the warning about items of a sensitive column that fewer than ``least`` records hold, and about such sets.

    A number below ``least`` is not shown.
    """
    found = {"items": items, "sets": sets}
    if not any(found.values()):
        return []
    told = " and ".join(
        f"{f'{count:,}' if count >= least else f'some (fewer than {least})'} of its {what}"
        for what, count in found.items()
        if count
    )
    known = "such an item of a person, or many items," if items else "many items of a person"
    advice = (
        "Remove rare items from the sets first, or replace them by broader ones."
        if items
        else "If outsiders may know so many, give the column role: quasi."
    )
    text = (
        f"Column '{name}' is sensitive, and {told} are held by fewer than {least} records each. Someone who knows "
        f"{known} finds the record. {advice}"
    )
    figures = {what: count for what, count in found.items() if count >= least}
    return [AuditWarning(RARE, text, (name,), {"fewer_than": least} | figures)]


def _warning(kind: str, text: str, columns: Sequence[str], share: float) -> AuditWarning:
    return AuditWarning(kind, f"{text[0].upper()}{text[1:]}", tuple(columns), {"share": rounded(share)})


def rounded(share: float) -> float:
    """Return a share with three digits; one that is neither nothing nor everything stays so."""
    return share if share in (0.0, 1.0) else min(max(round(share, 3), 0.001), 0.999)


def shown_share(share: float, bounds: bool = False) -> str:
    """Return a share in percent, with a digit; one that is neither nothing nor everything does not look like it."""
    if 0 < share < 0.001:
        return "fewer than 0.1%"
    up_to = "up to " if bounds else ""
    if 0.999 < share < 1:
        return "up to 100%" if bounds else "more than 99.9%"
    return f"{up_to}{100 * share:.1f}%".replace(".0%", "%")
