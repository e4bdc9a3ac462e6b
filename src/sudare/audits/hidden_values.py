"""Proofs about hidden sensitive values: in a set of values, or in a second table of groups.

Quasi-identifiers are unchanged in such a release, so classes mean little. The promises limit how much a cell, or a
group, reveals about the value of a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare.audits.audit_report import Guarantee
from sudare.audits.cell_equality import DEFAULT_SEPARATOR, is_list, value
from sudare.audits.dummy_draws import Order, SetCounts, doubts, order_of
from sudare.audits.plain_copies import COMPRESSED
from sudare.audits.release_columns import Release
from sudare.audits.value_spellings import merge_labels, merges, same_texts
from sudare.core.errors import DataError, Problem
from sudare.core.sizes import LARGEST_INT32, MANY_ROWS
from sudare.policy import ColumnSpec, LDiversitySpec, Policy

SETS, APART = "dummies", "anatomy"
"""The methods of the policy that hide values in sets, and in a table of their own."""
GROUP, COUNT = "group", "count"
BATCH = MANY_ROWS
MOST = LARGEST_INT32
"""No set has so many values."""

IN_SETS = (
    "Every set holds at least l different values, so no value takes more than 1/l of the places in any group of "
    "records. The method is responsible for including the true value and drawing the others at random: the audit "
    "detects a large difference from such a draw, but not a small one."
)
IN_GROUPS = (
    "Every group holds at least l different values, none of them in more than 1/l of its records. The method is "
    "responsible for giving each group the values of its records."
)


def second_table(release: Path) -> Path:
    """Return where the table of groups stands that belongs to a release: R.sensitive.csv for R.csv."""
    first = Path(release.name.removesuffix(release.suffix)) if release.suffix.lower() in COMPRESSED else release
    ending = release.name[len(first.stem) :]
    return release.parent / f"{first.stem}.sensitive{ending}"


@dataclass
class Sets:
    """What is found in the sets of a column: the fewest values of one, how many sets fall short, what occurs at all."""

    least: int | None = None
    short: int = 0
    seen: set[str | None] = field(default_factory=set)
    shown: SetCounts = field(default_factory=SetCounts)


def count_rows(connection: Any, release: Release) -> int:
    """Return the number of records of a release."""
    source = release.source(connection, release.names[:1], again=False)
    with release.reading():
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {source}").fetchall()
    return int(rows)


def sets_of_l(
    connection: Any, release: Release, policy: Policy, spec: LDiversitySpec, mechanism: Any
) -> tuple[Guarantee, set[str | None], list[Problem]]:
    """Every record shows a set of at least l different values; a missing value is a value of its own.

    Returned with the values that occur, as text, and with differences from a random draw by the mechanism.
    """
    told = facts_of(mechanism, spec.column)
    found = read_sets(connection, release, policy, spec.column, int(spec.l), order_of(told))
    return judged_sets(found, spec), found.seen, doubts(found.shown, spec.column, told, people=bool(policy.subject))


def facts_of(mechanism: Any, column: str) -> Any:
    """Return the facts of a mechanism about a column."""
    columns = mechanism.get("columns") if isinstance(mechanism, Mapping) else None
    return columns.get(column) if isinstance(columns, Mapping) else None


def judged_sets(found: Sets, spec: LDiversitySpec) -> Guarantee:
    """Return what the sets of a column guarantee."""
    holds = found.least is not None and found.short == 0
    return Guarantee(spec.model, spec.parameters(), int(spec.l), found.least, holds, found.short, IN_SETS)


def read_sets(connection: Any, release: Release, policy: Policy, column: str, least: int, order: Order | None) -> Sets:
    """Read a column of sets, and note those with fewer different values, or not in an order of the values."""
    found, spec = Sets(), policy.columns[column]
    place = release.names.index(column)
    kind = release.types[place].value_type if is_list(release.types[place]) else None
    # DuckDB takes durations for calendar intervals, which Arrow cannot compare
    cell = f"[epoch_us(item) FOR item IN c{place}]" if kind is not None and pa.types.is_duration(kind) else f"c{place}"
    with release.reading():
        source = release.source(connection, [column], again=False)
        for batch in connection.sql(f"SELECT {cell} FROM {source}").to_arrow_reader(BATCH):
            _look(batch.column(0), spec, least, kind, order, found)
    return found


def _look(cells: Any, spec: ColumnSpec, least: int, kind: Any, order: Order | None, found: Sets) -> None:
    """Check some sets of a type; in text their items are joined by a separator, and an empty one is missing."""
    text = not is_list(cells.type)
    lists = pc.split_pattern(cells.cast(pa.string()), spec.separator or DEFAULT_SEPARATOR) if text else cells
    different = _different(lists, spec, found, kind, order, blanks=text)
    length = pc.fill_null(pc.list_value_length(lists), 0)
    lowest = pc.min(different).as_py()
    if lowest is not None:
        found.least = lowest if found.least is None else min(found.least, lowest)
    # a value that is there twice takes more of the places than it may
    short = pc.or_(pc.less(different, min(least, MOST)), pc.less(different, length))
    found.short += pc.sum(short).as_py() or 0


def _different(lists: Any, spec: ColumnSpec, found: Sets, kind: Any, order: Order | None, *, blanks: bool) -> Any:
    """Return how many different values each list holds; ``found`` gets those that occur, as written."""
    lists = lists.cast(pa.large_list(lists.type.value_type))
    length = pc.fill_null(pc.list_value_length(lists), 0)
    flat = lists.flatten()
    if not len(flat):
        return length
    if pa.types.is_dictionary(flat.type):
        flat = flat.dictionary_decode()  # what nobody shows may stand in a dictionary
    words = flat.dictionary_encode()
    texts = as_text(words.dictionary, kind)
    if blanks:  # and those around an item are no part of it
        texts = pc.utf8_trim_whitespace(texts)
        texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    places = words.indices
    found.seen.update(texts.to_pylist())
    if places.null_count or texts.null_count:
        found.seen.add(None)
    owner = pc.list_parent_indices(lists)
    found.shown.count(texts.to_pylist(), places, length)
    if order is not None:
        found.shown.look_at_order(texts.to_pylist(), places, owner, order)
    if merges(spec):
        same = same_texts(texts.to_pylist(), spec)
        texts = pa.array([same[text] for text in texts.to_pylist()], pa.string())
    # ranks from 1, equal texts alike; a missing value has 0
    rank = pc.fill_null(pc.if_else(pc.is_valid(texts), pc.rank(texts, tiebreaker="dense"), None), 0)
    ranks = pc.fill_null(rank.take(places), 0)
    same = pc.equal(owner.slice(1), owner.slice(0, len(owner) - 1))
    rising = pc.greater(ranks.slice(1), ranks.slice(0, len(ranks) - 1))
    if not pc.any(pc.and_not(same, rising)).as_py():
        return length  # in ascending order no value is there twice
    counted = pa.table({"owner": owner, "rank": ranks}).group_by("owner").aggregate([("rank", "count_distinct")])
    numbers = counted.sort_by("owner").column("rank_count_distinct").combine_chunks()
    return pc.replace_with_mask(pc.cast(length, pa.int64()), pc.greater(length, 0), numbers)


def as_text(values: Any, kind: Any) -> Any:
    """Return values as the text that they have in the type of the release; spellings of one number are no diversity."""
    if pa.types.is_floating(values.type):
        values = pc.add(pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values), 0.0)
    elif kind is not None and pa.types.is_duration(kind):
        values = values.cast(pa.duration("us")).cast(kind)
    elif kind is not None and (pa.types.is_timestamp(kind) or pa.types.is_time(kind)):
        values = values.cast(kind)  # in its own zone, and with its own digits
    return values.cast(pa.string())


def groups_of_l(connection: Any, release: Release, second: Release, policy: Policy, spec: LDiversitySpec) -> Guarantee:
    """Every group holds at least l different values, none in more than 1/l of its records, and both tables agree."""
    for one, names in ((release, (GROUP,)), (second, (GROUP, spec.column, COUNT))):
        absent = [name for name in names if name not in one.names]
        if absent:
            raise DataError(Problem(one.where, f"has no column '{absent[0]}'."))
    if spec.column in release.names:
        raise DataError(Problem(release.where, f"shows '{spec.column}' beside the quasi-identifiers."))
    if len(second.names) > 3:
        what = f"has {len(second.names) - 3} columns beside '{GROUP}', '{spec.column}' and '{COUNT}'."
        raise DataError(Problem(second.where, what))
    _load(connection, "grouped", release, (GROUP,))
    second.check_read(_load(connection, "told", second, (GROUP, spec.column, COUNT)))
    cell = value("c1", second.types[second.names.index(spec.column)], ColumnSpec(role="sensitive"))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE line AS SELECT *, {cell.of(cell.raw)} AS label FROM told")
    merge_labels(connection, "line", policy.columns[spec.column])
    [(least, failing, apart)] = connection.execute(
        """
        WITH size AS (SELECT CAST(c0 AS VARCHAR) AS g, count(*) AS n FROM grouped GROUP BY ALL),
             given AS (SELECT CAST(c0 AS VARCHAR) AS g, coalesce('v' || label, 'n') AS v,
                              TRY_CAST(c2 AS BIGINT) AS n, CAST(c2 AS VARCHAR) AS written FROM line),
             part AS (SELECT g, sum(n) AS n, count(DISTINCT v) AS kinds, max(n) AS most,
                             count(*) = count(DISTINCT v) AND
                                 bool_and(coalesce(n > 0 AND CAST(n AS VARCHAR) = written, false)) AS plain
                      FROM given GROUP BY g),
             both_tables AS (SELECT coalesce(kinds, 0) AS kinds,
                                    coalesce(kinds >= $l AND most * $l <= part.n, false) AS diverse,
                                    coalesce(plain AND size.n = part.n, false) AS agrees
                             FROM size FULL JOIN part USING (g))
        SELECT min(kinds), count(*) FILTER (WHERE NOT (diverse AND agrees)), count(*) FILTER (WHERE NOT agrees)
        FROM both_tables
        """,
        {"l": int(spec.l)},
    ).fetchall()
    note = f"Groups that the two tables do not agree on: {apart}." if apart else IN_GROUPS
    return Guarantee(spec.model, spec.parameters(), int(spec.l), least, failing == 0, failing, note)


def values_in_groups(connection: Any, second: Release, column: str) -> tuple[int, set[str | None]]:
    """Return the number of groups, and their values, after :func:`groups_of_l` has read them."""
    cell = value("c1", second.types[second.names.index(column)], ColumnSpec(role="sensitive"))
    [(groups,)] = connection.execute("SELECT count(DISTINCT c0) FROM told").fetchall()
    kind = second.types[second.names.index(column)]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        # DuckDB writes these in a form that certificates do not use, and reads durations as calendar intervals
        raw = "epoch_us(c1)" if pa.types.is_duration(kind) else "c1"
        found = connection.sql(f"SELECT DISTINCT {raw} AS v FROM told").to_arrow_table().column(0)
        return int(groups), set(as_text(found.combine_chunks(), kind).to_pylist())
    values = connection.execute(f"SELECT DISTINCT {cell.of(cell.raw)} FROM told").fetchall()
    return int(groups), {text for (text,) in values}


def _load(connection: Any, name: str, release: Release, columns: tuple[str, ...]) -> int:
    """Make a table of some columns, named by their position; return its number of rows."""
    source = release.source(connection, columns, again=False)
    chosen = ", ".join(f"c{release.names.index(column)} AS c{place}" for place, column in enumerate(columns))
    with release.reading():
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {chosen} FROM (SELECT * FROM {source})")
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    return int(rows)
