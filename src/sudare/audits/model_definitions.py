"""The privacy models as SQL over the classes of a release: one function per model.

Each function takes the classes and one requirement, and returns the guarantee. ``share`` is a value's share in
its class, ``overall`` its share in the whole release. Only values that occur in a class have a row there, so
every query is linear in the release; where an absent value matters, the definition says how it is counted.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from sudare.audits.audit_report import Guarantee
from sudare.audits.cell_equality import DEFAULT_SEPARATOR, USUAL_SEPARATORS, listed_items
from sudare.audits.equivalence_classes import Classes, Judgement
from sudare.audits.value_spellings import check_once, cut_items, merges, same_items, same_words
from sudare.core.errors import DataError, Problem
from sudare.policy import (
    TOLERANCE,
    AlphaKAnonymitySpec,
    BetaLikenessSpec,
    DeltaDisclosureSpec,
    KAnonymitySpec,
    KmAnonymitySpec,
    LDiversitySpec,
)


def k_anonymity(classes: Classes, spec: KAnonymitySpec) -> Guarantee:
    """Every class has at least k records; with ``count: subjects``, records of at least k people.

    With ``columns``, the classes are those of these quasi-identifiers alone. All records with a missing subject
    count as one and the same unknown person, for they may be. Reference: Sweeney, "k-anonymity: a model for
    protecting privacy", 2002.
    """
    groups = classes.count
    if spec.columns is None or set(spec.columns) == set(classes.quasi):
        sizes = "SELECT size AS figure FROM class"
        if spec.count == "subjects":
            sizes = f"SELECT people AS figure FROM {classes.people()}"
    else:
        keys = ", ".join(classes.quasi[name] for name in spec.columns)
        sizes = f"SELECT sum(size) AS figure FROM class GROUP BY {keys}"
        if spec.count == "subjects":
            # A class is a part of exactly one group of these columns: groups get numbers, and members their group.
            parts = f"SELECT class_id, dense_rank() OVER (ORDER BY {keys}) AS part FROM class"
            people = f"SELECT DISTINCT part, who FROM member JOIN ({parts}) USING (class_id)"
            sizes = f"SELECT count(*) AS figure FROM ({people}) GROUP BY part"
        [(groups,)] = classes.run(f"SELECT count(*) FROM (SELECT DISTINCT {keys} FROM class)")
    found = classes.judge(f"SELECT figure, figure >= $k AS holds FROM ({sizes})", {"k": spec.k}, of=groups)
    return Guarantee(spec.model, spec.parameters(), spec.k, int(found.lowest), found.holds, found.offending)


def l_diversity(classes: Classes, spec: LDiversitySpec) -> Guarantee:
    """Every class holds l well-represented sensitive values; a missing value is a value of its own.

    distinct: at least l different values. entropy: the entropy of the values is at least ln(l); achieved is
    exp of the smallest. recursive (c, l): with counts r1 >= r2 >= ... >= rm, r1 < c * (r_l + ... + r_m), and
    never with fewer than l values; achieved is the largest l that all classes keep with this c.
    frequency, for item sets: see :func:`item_frequency`.
    Reference: Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity", 2007.
    """
    if spec.variant == "frequency":
        return item_frequency(classes, spec)
    spread, _ = classes.spread(spec.column)
    limits: dict[str, Any] = {"l": spec.l}
    if spec.variant == "distinct":
        figure, holds = "count(*)", "figure >= $l"
    elif spec.variant == "entropy":
        figure, holds = "exp(-sum(share * ln(share)))", "ln(figure) >= ln($l) - $slack"
        limits["slack"] = TOLERANCE
    else:
        # The tail falls as l grows, so the ranks that keep the inequality are the first ones.
        figure, holds = "count(*) FILTER (WHERE largest < $c * tail - $slack)", "figure >= $l"
        limits |= {"c": spec.c, "slack": TOLERANCE}
        spread = f"""(
            SELECT class_id, max(n) OVER (PARTITION BY class_id) AS largest,
                   sum(n) OVER (PARTITION BY class_id ORDER BY n DESC, value_id
                                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS tail
            FROM {spread}
        )"""
    found = classes.judge(
        f"SELECT *, {holds} AS holds FROM (SELECT class_id, {figure} AS figure FROM {spread} GROUP BY class_id)",
        limits,
    )
    required = spec.l if spec.variant == "entropy" else int(spec.l)
    return Guarantee(spec.model, spec.parameters(), required, found.lowest, found.holds, found.offending)


def item_frequency(classes: Classes, spec: LDiversitySpec) -> Guarantee:
    """Every class has l records, and of those that hold any one item there are at most 1/l.

    Items that are harmless are not counted. Missing and empty sets hold no item; their records count. achieved is the
    largest l that all classes keep. Reference: Ghinita, Tao, Kalnis, "On the Anonymization of Sparse High-Dimensional
    Data", 2008.
    """
    found = _judged_by_item(classes, spec, f"item_{classes.sensitive[spec.column]}")
    if found.holds and spec.column in classes.others:
        _check_other_separator(classes, spec)
    return Guarantee(spec.model, spec.parameters(), int(spec.l), int(found.lowest), found.holds, found.offending)


def _judged_by_item(classes: Classes, spec: LDiversitySpec, items: str) -> Judgement:
    spread, _ = classes.spread(spec.column)
    harmless = same_items(spec.harmless or [], classes.policy.columns[spec.column])
    held = f"""
        SELECT class_id, label, sum(n) AS held FROM {spread} JOIN {items} USING (value_id)
        WHERE NOT list_contains($harmless, label) GROUP BY class_id, label
    """
    most = f"SELECT class_id, max(held) AS most FROM ({held}) GROUP BY class_id"
    return classes.judge(
        f"""
        SELECT *, figure >= $l AS holds
        FROM (SELECT class_id, CAST(size AS BIGINT) // CAST(coalesce(most, 1) AS BIGINT) AS figure
              FROM class LEFT JOIN ({most}) USING (class_id))
        """,
        {"l": int(spec.l), "harmless": [item for item in harmless if item is not None]},
    )


def _check_other_separator(classes: Classes, spec: LDiversitySpec) -> None:
    """Raise if the promise holds only because another mark parts the items: whole texts are rarer than items."""
    about, cell = classes.policy.columns[spec.column], classes.sensitive[spec.column]
    other, share = classes.others[spec.column]
    listed = listed_items("raw", pa.string(), about.model_copy(update={"separator": other}))
    cut_items(classes.connection, f"other_item_{cell}", f"word_{cell}", listed, about)
    if _judged_by_item(classes, spec, f"other_item_{cell}").holds:
        return
    mark = about.separator or DEFAULT_SEPARATOR
    what = f"no cell has the separator {USUAL_SEPARATORS.get(mark, repr(mark))}, and {share:.0%} of them have "
    hint = f"set separator: {json.dumps(other)} in the policy; or write Parquet, if each cell holds one item."
    raise DataError(Problem(f"column '{spec.column}'", f"{what}{USUAL_SEPARATORS[other]}.", hint))


def alpha_k_anonymity(classes: Classes, spec: AlphaKAnonymitySpec) -> Guarantee:
    """Every class has k records, and no sensitive value (or none of ``values``) takes more than a share alpha.

    Reference: Wong et al., "(alpha, k)-anonymity: an enhanced k-anonymity model", 2006.
    """
    spread, whole = classes.spread(spec.column)
    limits = {"alpha": spec.alpha, "k": spec.k, "slack": TOLERANCE}
    counted, note = "true", ""
    if spec.values is not None:
        # A name that no label is equal to may be written differently in the file: 5 for 5.00, a day for its midnight.
        # Generous on purpose: a value that is counted although another was meant only makes the promise harder to keep.
        exact = f"name IN (SELECT label FROM {whole})"
        alike = """(lower(name) = lower(label) OR TRY_CAST(name AS DOUBLE) = TRY_CAST(label AS DOUBLE)
                    OR TRY_CAST(name AS TIMESTAMP) = TRY_CAST(label AS TIMESTAMP))"""
        names = f"(SELECT name, {exact} AS exact FROM (SELECT unnest($named) AS name))"
        pairs = f"FROM {whole} JOIN {names} ON name = label OR (NOT exact AND {alike})"
        counted = f"value_id IN (SELECT value_id {pairs})"
        given, about = list(dict.fromkeys(spec.values)), classes.policy.columns[spec.column]
        named = same_words(given, about)
        if merges(about):
            check_once(given, named, f"{spec.model}.values")
        [(present,)] = classes.run(f"SELECT count(DISTINCT name) {pairs}", {"named": named})
        absent = len(named) - present
        note = f"Named values that do not occur in the release: {absent} of {len(named)}." if absent else ""
        limits |= {"named": named}  # type: ignore[dict-item]
    shares = f"""
        SELECT class_id, any_value(size) AS size, coalesce(max(share) FILTER (WHERE {counted}), 0.0) AS figure
        FROM {spread} GROUP BY class_id
    """
    found = classes.judge(f"SELECT *, figure <= $alpha + $slack AND size >= $k AS holds FROM ({shares})", limits)
    [(smallest,)] = classes.run("SELECT min(size) FROM class")
    return Guarantee(
        spec.model,
        spec.parameters(),
        {"alpha": spec.alpha, "k": spec.k},
        {"alpha": found.highest, "k": smallest},
        found.holds,
        found.offending,
        note,
    )


def beta_likeness(classes: Classes, spec: BetaLikenessSpec) -> Guarantee:
    """No value is relatively likelier in a class than overall by more than beta: (share - overall) / overall.

    Only gains count. enhanced: the gain of a value is also at most -ln(overall), which bounds frequent values
    more tightly. achieved is the largest gain of all. Reference: Cao and Karras, "Publishing Microdata with a
    Robust Privacy Guarantee", 2012.
    """
    spread, _ = classes.spread(spec.column)
    limit = "$beta" if spec.variant == "basic" else "least($beta, -ln(overall))"
    gains = f"SELECT class_id, greatest((share - overall) / overall, 0.0) AS gain, {limit} AS ceiling FROM {spread}"
    found = classes.judge(
        f"""
        SELECT class_id, max(gain) AS figure, bool_and(gain = 0 OR gain <= ceiling + $slack) AS holds
        FROM ({gains}) GROUP BY class_id
        """,
        {"beta": spec.beta, "slack": TOLERANCE},
    )
    return Guarantee(spec.model, spec.parameters(), spec.beta, found.highest, found.holds, found.offending)


def delta_disclosure(classes: Classes, spec: DeltaDisclosureSpec) -> Guarantee:
    """In every class, |ln(share / overall)| < delta for every value of the whole release.

    A value that is absent from a class makes this infinite there. Reference: Brickell and Shmatikov, "The Cost
    of Privacy", 2008.
    """
    spread, whole = classes.spread(spec.column)
    found = classes.judge(
        f"""
        SELECT *, complete AND figure < $delta - $slack AS holds
        FROM (
            SELECT class_id, max(abs(ln(share / overall))) AS figure,
                   count(*) = (SELECT count(*) FROM {whole}) AS complete
            FROM {spread} GROUP BY class_id
        )
        """,
        {"delta": spec.delta, "slack": TOLERANCE},
    )
    [(gaps,)] = classes.run(
        f"""
        SELECT count(*) FROM (SELECT class_id FROM {spread} GROUP BY class_id
                              HAVING count(*) < (SELECT count(*) FROM {whole}))
        """
    )
    note = f"Classes that lack a value of the release: {gaps}." if gaps else ""
    achieved = None if gaps else found.highest
    return Guarantee(spec.model, spec.parameters(), spec.delta, achieved, found.holds, found.offending, note)


def km_anonymity(classes: Classes, spec: KmAnonymitySpec) -> Guarantee:
    """Every combination of 1 to m released items that occurs in some record occurs in at least k records.

    The combinations of each size are enumerated from the sets of items that occur, each with the number of records
    that hold it. Reference: Terrovitis et al., "Privacy-preserving Anonymization of Set-valued Data", 2008.
    """
    narrow = classes.number
    classes.run(f"""
        CREATE OR REPLACE TEMP TABLE holding AS
        WITH pair AS (SELECT rowid AS set_id, n, unnest(items) AS label FROM set_{classes.quasi[spec.column]}),
             item AS (SELECT label, row_number() OVER () AS item_id FROM (SELECT DISTINCT label FROM pair))
        SELECT CAST(set_id AS {narrow}) AS set_id, CAST(n AS {narrow}) AS n, CAST(item_id AS {narrow}) AS item_id
        FROM pair JOIN item USING (label)
    """)
    achieved: int | None = None
    rare = 0
    for size in range(1, spec.m + 1):
        names = [f"h{number}.item_id" for number in range(size)]
        joins = "".join(
            f" JOIN holding AS h{number} ON h{number}.set_id = h0.set_id AND h{number}.item_id > h{number - 1}.item_id"
            for number in range(1, size)
        )
        [(combinations, lowest, below)] = classes.run(
            f"""
            SELECT count(*), min(support), count(*) FILTER (WHERE support < $k)
            FROM (SELECT sum(h0.n) AS support FROM holding AS h0{joins} GROUP BY {", ".join(names)})
            """,
            {"k": spec.k},
        )
        if not combinations:
            break
        achieved = int(lowest) if achieved is None else min(achieved, int(lowest))
        rare += below
    note = "" if achieved is not None else "No record holds an item."
    return Guarantee(spec.model, spec.parameters(), spec.k, achieved, rare == 0, rare, note)


def subjects_apart(classes: Classes) -> Guarantee:
    """The subject column of every class holds the numbers from 1 to its people, so that it links no two classes.

    A number that continues over classes, or an unchanged identifier, would reveal which records of different classes
    belong to one person.
    """
    [(linked,)] = classes.run(
        f"SELECT count(*) FROM {classes.people()} WHERE high IS DISTINCT FROM people OR others > 0"
    )
    note = "" if not linked else "Set release: {subjects: linked} if records may be linked by person."
    return Guarantee("subjects per class", {}, 0, linked, linked == 0, linked, note)
