"""Sensitive values that are hidden: among others in a set, or in a table of groups beside the release.

Quasi-identifiers stand as they are in such a release, so that classes say little; what is limited is how much a cell,
or a group, tells about the value of a record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.audit.cells import DEFAULT_SEPARATOR, is_list
from sudare.audit.sources import Release
from sudare.audit.verdict import Guarantee
from sudare.errors import DataError, Problem
from sudare.policy import LDiversitySpec, Policy

SETS, APART = "dummies", "anatomy"
"""The methods of the policy that hide values in sets, and in a table of their own."""
GROUP, COUNT = "group", "count"
BATCH = 1 << 20

IN_SETS = (
    "Every set holds that many different values, so that no value takes more than 1/l of the places of any group of "
    "records. That the true one is among them, and the others were drawn at random, cannot be told from a release: it "
    "rests on the method."
)
IN_GROUPS = (
    "Every group holds that many different values, none of them in more than 1/l of its records. That each record has "
    "one of the values of its group rests on the method."
)


def second_table(release: Path) -> Path:
    """Return where the table of groups stands that belongs to a release: R.sensitive.csv for R.csv."""
    return release.with_name(f"{release.stem}.sensitive{release.suffix}")


@dataclass
class Sets:
    """What is found in the sets of a column: the fewest values of one, how many sets fall short, what occurs at all."""

    least: int | None = None
    short: int = 0
    seen: set[str | None] = field(default_factory=set)


def count_rows(connection: Any, release: Release) -> int:
    """Return the number of records of a release."""
    source = release.source(connection, release.names[:1], again=False)
    with release.reading():
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {source}").fetchall()
    return int(rows)


def sets_of_l(
    connection: Any, release: Release, policy: Policy, spec: LDiversitySpec
) -> tuple[Guarantee, set[str | None]]:
    """Every record shows a set of at least l different values; a missing value is a value of its own.

    Returned with the values that occur, as text.
    """
    found = read_sets(connection, release, policy, spec.column, int(spec.l))
    holds = found.least is not None and found.short == 0
    given = Guarantee(spec.model, spec.parameters(), int(spec.l), found.least, holds, found.short, IN_SETS)
    return given, found.seen


def read_sets(connection: Any, release: Release, policy: Policy, column: str, least: int) -> Sets:
    """Read a column of sets, and note those with fewer different values."""
    found, separator = Sets(), policy.columns[column].separator or DEFAULT_SEPARATOR
    place = release.names.index(column)
    with release.reading():
        source = release.source(connection, [column], again=False)
        for batch in connection.sql(f"SELECT c{place} FROM {source}").to_arrow_reader(BATCH):
            _look(batch.column(0), separator, least, found)
    return found


def _look(cells: Any, separator: str, least: int, found: Sets) -> None:
    """Look at some sets; in text their items are joined by a separator, and an empty one is a missing value."""
    text = not is_list(cells.type)
    lists = pc.split_pattern(cells.cast(pa.string()), separator) if text else cells
    different = _different(lists, found.seen, blanks=text)
    lowest = pc.min(different).as_py()
    if lowest is not None:
        found.least = lowest if found.least is None else min(found.least, lowest)
    found.short += pc.sum(pc.less(different, least)).as_py() or 0


def _different(lists: Any, seen: set[str | None], *, blanks: bool) -> Any:
    """Return how many different values each list holds; ``seen`` gets those that occur."""
    lists = lists.cast(pa.large_list(lists.type.value_type))
    length = pc.fill_null(pc.list_value_length(lists), 0)
    flat = lists.flatten()
    if not len(flat):
        return length
    words = flat.dictionary_encode()
    texts = _as_text(words.dictionary)
    if blanks:
        texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    places = words.indices
    seen.update(texts.to_pylist())
    if places.null_count or texts.null_count:
        seen.add(None)
    # ranks from 1, equal texts alike; a missing value has 0
    rank = pc.fill_null(pc.if_else(pc.is_valid(texts), pc.rank(texts, tiebreaker="dense"), None), 0)
    ranks = pc.fill_null(rank.take(places), 0)
    owner = pc.list_parent_indices(lists)
    same = pc.equal(owner.slice(1), owner.slice(0, len(owner) - 1))
    rising = pc.greater(ranks.slice(1), ranks.slice(0, len(ranks) - 1))
    if not pc.any(pc.and_not(same, rising)).as_py():
        return length  # in ascending order no value is there twice
    counted = pa.table({"owner": owner, "rank": ranks}).group_by("owner").aggregate([("rank", "count_distinct")])
    numbers = counted.sort_by("owner").column("rank_count_distinct").combine_chunks()
    return pc.replace_with_mask(pc.cast(length, pa.int64()), pc.greater(length, 0), numbers)


def _as_text(values: Any) -> Any:
    """Return values as text; spellings of one number are no diversity."""
    if pa.types.is_floating(values.type):
        values = pc.add(pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values), 0.0)
    return values.cast(pa.string())


def groups_of_l(connection: Any, release: Release, second: Release, spec: LDiversitySpec) -> Guarantee:
    """Every group holds at least l different values, none in more than 1/l of its records, and both tables agree."""
    for one, names in ((release, (GROUP,)), (second, (GROUP, spec.column, COUNT))):
        absent = [name for name in names if name not in one.names]
        if absent:
            raise DataError(Problem(one.where, f"has no column '{absent[0]}'."))
    if spec.column in release.names:
        raise DataError(Problem(release.where, f"shows '{spec.column}' beside the quasi-identifiers."))
    _load(connection, "grouped", release, (GROUP,))
    _load(connection, "told", second, (GROUP, spec.column, COUNT))
    [(least, failing, strangers, twice)] = connection.execute(
        """
        WITH size AS (SELECT c0 AS g, count(*) AS n FROM grouped GROUP BY c0),
             part AS (SELECT c0 AS g, sum(CAST(c2 AS BIGINT)) AS n, count(*) AS lines,
                             count(DISTINCT coalesce('v' || CAST(c1 AS VARCHAR), 'n')) AS kinds,
                             max(CAST(c2 AS BIGINT)) AS most, min(CAST(c2 AS BIGINT)) AS fewest
                      FROM told GROUP BY c0)
        SELECT min(kinds),
               count(*) FILTER (WHERE NOT coalesce(kinds >= $l AND most * $l <= part.n, false)),
               count(*) FILTER (WHERE size.n IS DISTINCT FROM part.n),
               count(*) FILTER (WHERE lines <> kinds OR fewest < 1)
        FROM size FULL JOIN part USING (g)
        """,
        {"l": int(spec.l)},
    ).fetchall()
    note = IN_GROUPS
    if strangers or twice:
        note = f"Groups that the two tables do not agree on: {max(strangers, twice)}."
    offending = failing + strangers + twice
    return Guarantee(spec.model, spec.parameters(), int(spec.l), least, offending == 0, offending, note)


def _load(connection: Any, name: str, release: Release, columns: tuple[str, ...]) -> None:
    """Make a table of some columns, called by their place among those asked for."""
    source = release.source(connection, columns, again=False)
    chosen = ", ".join(f"c{release.names.index(column)} AS c{place}" for place, column in enumerate(columns))
    with release.reading():
        connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {chosen} FROM (SELECT * FROM {source})")
