"""Unique records of a release, also by columns that no promise is about.

A record is *unique* by some columns if no other record shows the same in all of them: someone who knows these values of
the person finds the record. Cells are compared as they are released; a missing cell equals a missing cell, a set the
same set in any order. If people are counted, a record is unique if all records that show the same may belong to one
person. Numbers of people that are valid only within a class are compared within it. A pseudonym is nothing that an
outsider knows of a person, so pseudonyms are left out, unless a policy names their column.

What a policy limits (``model: uniqueness``) is counted by the cells themselves. Figures of warnings are counted by
digests of the cells, of 64 bits each, and combinations of few columns, in a large release, by a part of them that is
drawn by their digests. Two different records may have the same digest, and then seem less unique than they are. Among n
records n² / 2⁶⁵ such pairs are expected: 0.0003 pairs in 100 million records, which does not change a share of three
digits. If the release is stored elsewhere, its engine counts.

Reading a text file takes longer than counting. So it is read once, for the classes and for the counts here:
:func:`read_along` says which columns are needed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

from sudare.audits.audit_report import AuditWarning, Guarantee
from sudare.audits.cell_equality import Cell, comparable, person, value
from sudare.audits.equivalence_classes import Classes
from sudare.audits.release_columns import Alone, Release
from sudare.audits.warnings import (
    about_columns,
    about_combinations,
    about_rare_items,
    about_rare_values,
    about_values,
    shown_share,
)
from sudare.core.errors import DataError, Problem
from sudare.policy import TOLERANCE, KAnonymitySpec, Policy, UniquenessSpec

UNTOUCHED = ("dummies", "anatomy")
"""Methods that keep quasi-identifiers unchanged."""
DRAWN = "pram"
"""The method that draws quasi-identifiers: a person may not have the shown value, and is not found by it."""
LOOKED_AT = 4
"""The number of columns, those with most different values, whose combinations of two and three are counted."""
ENOUGH = 1 << 17
"""The records that are counted, about, for each combination of few columns of a larger release."""
COUNTED = 20_000_000
"""The most records that are counted for combinations of few columns by an engine."""
FEW = 0.001
"""The smallest share of singled-out records, and of different values, for a warning about a column."""
ONE_BY_ONE = 3
"""The most combinations that an engine counts if people are counted."""
LEFT_OUT = 40
"""The number of columns that are removed in turn, to suggest one if a limit is broken."""


SHOWN = ("quasi", "insensitive", "sensitive")
"""The roles of released columns."""


@dataclass
class Found:
    """What was found: whether limits are kept, and what to warn of."""

    guarantees: list[Guarantee] = field(default_factory=list)
    warnings: list[AuditWarning] = field(default_factory=list)


class _Counts(Protocol):
    """Counts records that are alone in groups by some columns."""

    rows: int

    def single(
        self, sets: Sequence[Sequence[str]], of: str | None = None, within: Sequence[str] = (), *, exact: bool = False
    ) -> list[Alone]:
        """Return for each set of columns how many groups there are, and how many records are in those of one record.

        With ``of``, a group counts if all of its records have the same value there; with ``within``, if that is so in
        every part of it that agrees in these columns.
        """

    def nearly(self, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        """Return the same for as many sets as are worth it; large numbers may be estimated."""

    def expect(self, names: Sequence[str]) -> None:
        """Record the quasi-identifiers whose combinations with others will be counted."""

    def rare(self, name: str, least: int, of: str | None, within: Sequence[str]) -> int:
        """Return how many values of a column fewer than ``least`` records hold, or cells ``of``, ``within`` others."""


def parted(policy: Policy) -> tuple[Policy, list[UniquenessSpec]]:
    """Return a policy without its limits of uniqueness, and these."""
    limits = [spec for spec in policy.require if isinstance(spec, UniquenessSpec)]
    if not limits:
        return policy, []
    others = [spec for spec in policy.require if not isinstance(spec, UniquenessSpec)]
    return policy.model_copy(update={"require": others}).kept_in(policy.folder, policy.sha256), limits


def of_the_release(classes: Any, spec: UniquenessSpec) -> Guarantee:
    """Refuse to prove a limit of uniqueness on classes: it may be about other columns, see :func:`look`."""
    raise DataError(Problem(spec.model, "is counted on the whole release, not on its classes."))


def read_along(release: Release, policy: Policy, maker: str) -> dict[str, str]:
    """Return SQL columns to compute while the classes of a slow release are read.

    They are digests of what :func:`look` counts; none if it counts nothing.
    """
    if not release.slow:
        return {}
    study = _Study(_Read(None, release, policy, 0), release, policy, maker)
    return _Cells(release, policy).digests([], study.told) if study.warns else {}


def look(
    connection: Any,
    release: Release,
    policy: Policy,
    limits: Sequence[UniquenessSpec],
    rows: int,
    maker: str,
    classes: Classes | None = None,
    loaded: Collection[str] = (),
) -> Found:
    """Count what is unique in a release of so many rows that ``maker`` made; ``limits`` are what the policy allows.

    ``classes`` are those of its quasi-identifiers, if it has any. ``loaded`` are the columns of :func:`read_along`, if
    the table ``source`` has them.
    """
    if release.count is not None and release.single is None:
        if limits:
            raise DataError(Problem(release.where, "unique records cannot be counted where the release is stored."))
        return Found()
    counts: _Counts = _Kept(release, rows)
    if release.single is None:
        counts = _Read(connection, release, policy, rows, classes, loaded)
    study = _Study(counts, release, policy, maker, classes)
    found = Found([study.judged(spec) for spec in limits], study.warnings())
    release.check_read(rows)
    return found


class _Study:
    """A release, the columns that a stranger may know, and who counts as alone."""

    def __init__(
        self, counts: _Counts, release: Release, policy: Policy, maker: str, classes: Classes | None = None
    ) -> None:
        self.counts, self.release, self.policy, self.maker, self.classes = counts, release, policy, maker, classes
        drawn = maker == DRAWN
        told = policy.method.options.get("strata")
        strata = told if isinstance(told, list) else ()
        known = [name for name in policy.columns if not policy.shows_pseudonym(name)]
        self.quasi = [name for name in policy.quasi if name in known and (not drawn or name in strata)]
        self.insensitive = [name for name in policy.named("insensitive") if name in release.names and name in known]
        self.of: str | None = None
        self.within: list[str] = []
        if policy.counts_subjects and policy.subject in release.names:
            self.of = policy.subject
            self.within = policy.quasi if policy.numbers_subjects == "per-class" else []
        limited = {getattr(spec, "column", None) for spec in policy.require}
        hidden = maker in (*UNTOUCHED, DRAWN)
        self.told = [] if hidden else [name for name in policy.sensitive if name in release.names]
        self.free = [name for name in self.told if name not in limited]

    @property
    def warns(self) -> bool:
        """Whether there is anything to count that could be warned of."""
        return bool(self.told) or self._tells

    @property
    def _tells(self) -> bool:
        """Whether a record may be unique by quasi-identifiers and insensitive columns."""
        covered = self.maker not in UNTOUCHED and any(
            isinstance(spec, KAnonymitySpec) and spec.columns is None for spec in self.policy.require
        )
        return bool(self.insensitive or (self.quasi and not covered and self.maker != DRAWN))

    def single(self, sets: Sequence[Sequence[str]], *, exact: bool = False) -> list[Alone]:
        """Return how many records are alone by each set of columns."""
        return self.counts.single(sets, self.of, self.within, exact=exact)

    # -- what the policy limits

    def judged(self, spec: UniquenessSpec) -> Guarantee:
        """Return whether a limit is kept, and where it is not, which columns to begin with."""
        names = self._named(spec)
        [alone] = self.single([names], exact=True)
        share = alone.records / self.counts.rows
        holds = share <= spec.most + TOLERANCE
        note = "" if holds else self._remedy(names, spec.most)
        left_out = [name for name in self._released() if self.policy.shows_pseudonym(name) and name not in names]
        if left_out:
            listed = ", ".join(f"'{name}'" for name in left_out)
            note = f"{note} Left out, since outsiders know no pseudonyms: {listed}.".lstrip()
        return Guarantee(spec.model, spec.parameters(), spec.most, share, holds, 0 if holds else alone.records, note)

    def _named(self, spec: UniquenessSpec) -> list[str]:
        if spec.columns == "released":
            names = [name for name in self._released() if not self.policy.shows_pseudonym(name)]
        else:
            names = list(spec.columns)
        absent = [name for name in names if name not in self.release.names]
        if absent or not names:
            what = f"'{absent[0]}' is not a column of the release." if absent else "the release has no such column."
            raise DataError(Problem(spec.model, what))
        return names

    def _released(self) -> list[str]:
        shown = [name for name, spec in self.policy.columns.items() if spec.role in SHOWN]
        return [name for name in shown if name in self.release.names]

    def _remedy(self, names: Sequence[str], most: float) -> str:
        """Suggest a column to remove or generalize, from the unique records without each of them."""
        tried = names[:LEFT_OUT] if len(names) > 1 else []
        left = self.single([[other for other in names if other != name] for name in tried]) if tried else []
        ranked = sorted(zip(tried, left, strict=True), key=lambda pair: (pair[1].records, pair[0]))[:3]
        told = ", ".join(f"{shown_share(alone.records / self.counts.rows)} without '{name}'" for name, alone in ranked)
        least = f" It would be {told}." if told else ""
        enough = [name for name, alone in ranked if alone.records <= most * self.counts.rows]
        much = "" if enough or not told else " Removing one column is not enough."
        return (
            f"At most {shown_share(most)} of the records may be unique by {len(names)} "
            f"column{'s' if len(names) != 1 else ''}.{least}{much} "
            "Remove a column (role: identifier), generalize it (role: quasi), or round its values first."
        )

    # -- what is warned of

    def warnings(self) -> list[AuditWarning]:
        """Return what the release gives away although it keeps its promises."""
        return [*self._unique(), *self._alike(), *self._rare()]

    def _unique(self) -> list[AuditWarning]:
        quasi, plain, rows = self.quasi, self.insensitive, self.counts.rows
        known = [*quasi, *plain]
        if not self._tells:
            return []
        first = [[name] for name in quasi] if plain else []
        found = dict(zip(map(tuple, first), self.single(first), strict=True)) if first else {}
        self.counts.expect([name for (name,) in self._apart(found)])
        sets = [known, *([plain] if plain and quasi else []), *([name] for name in plain if len(known) > 1)]
        found |= zip(map(tuple, sets), self.single(sets), strict=True)
        shares = {names: alone.records / rows for names, alone in found.items()}
        told = about_columns(quasi, plain, shares, FEW, bounds=bool(self.within))
        if not plain or not found[tuple(known)].records:
            return told
        return told + self._combined({names: alone for names, alone in found.items() if len(names) == 1})

    def _combined(self, singles: dict[tuple[str, ...], Alone]) -> list[AuditWarning]:
        """Count combinations of two and three columns, of those with most different values."""
        rows, most = self.counts.rows, self._apart(singles)
        chosen = [name for name in self.policy.columns if (name,) in most]

        def possible(names: tuple[str, ...]) -> int:
            return math.prod(singles[name,].different for name in names)

        # first those that can tell most records apart
        sets = [names for size in (2, 3) for names in combinations(chosen, size)]
        sets = [names for names in sets if any(name in self.insensitive for name in names)]
        sets = sorted((names for names in sets if possible(names) >= FEW * rows), key=lambda names: -possible(names))
        counted = self.counts.nearly(sets, self.of, self.within)
        shares = {names: alone.records / rows for names, alone in singles.items()}
        shares |= {names: alone.records / rows for names, alone in zip(sets, counted, strict=False)}
        return about_combinations(shares, bounds=bool(self.within))

    def _apart(self, singles: dict[tuple[str, ...], Alone]) -> list[tuple[str, ...]]:
        """Return the columns with most different values, of those that alone do not single out most records."""
        apart = [names for names, alone in singles.items() if 2 * alone.records < self.counts.rows]
        return sorted(apart, key=lambda names: -singles[names].different)[:LOOKED_AT]

    def _alike(self) -> list[AuditWarning]:
        """Find sensitive columns that no promise is about, and of which whole classes show one value."""
        rows = self.counts.rows
        shares = {name: self.counts.single([self.policy.quasi], name)[0].records / rows for name in self.free}
        return about_values(shares)

    def _rare(self) -> list[AuditWarning]:
        """Find sensitive columns that show values which few records, or people, hold."""
        least = fewest(self.policy)
        known = [name for name in self.told if not self.policy.shows_pseudonym(name)]
        counts = {name: self.counts.rare(name, least, self.of, self.within) for name in known}
        found = []
        for name, rare in counts.items():
            items = None if self.classes is None else self.classes.rare_items(name, least)
            if items is None:
                found += about_rare_values({name: rare}, least, people=self.of is not None, bounds=bool(self.within))
            else:
                found += about_rare_items(name, items, rare, least)
        return found


def fewest(policy: Policy) -> int:
    """Return how many have to hold a value that is not rare: the largest k, without one the largest l, at least 2."""
    for letter in ("k", "l"):
        asked = [
            math.ceil(float(number)) for spec in policy.require if (number := getattr(spec, letter, None)) is not None
        ]
        if asked:
            return max(2, *asked)
    return 2


class _Kept:
    """Counts by the keeper of a release."""

    def __init__(self, release: Release, rows: int) -> None:
        self.release, self.rows = release, rows

    def single(
        self, sets: Sequence[Sequence[str]], of: str | None = None, within: Sequence[str] = (), *, exact: bool = False
    ) -> list[Alone]:
        """Ask the keeper, who counts by the cells."""
        assert self.release.single is not None
        return self.release.single(sets, of, within)

    def nearly(self, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        """Ask for some of the sets; of few where people are counted, since each takes a pass of its own."""
        most = max(COUNTED // max(self.rows, 1), 2) if of is None else ONE_BY_ONE
        return self.single(sets[:most], of, within)

    def expect(self, names: Sequence[str]) -> None:
        """Do nothing: the keeper has all columns."""

    def rare(self, name: str, least: int, of: str | None, within: Sequence[str]) -> int:
        """Ask the keeper; nothing is found where it does not count them."""
        return 0 if self.release.rare is None else self.release.rare(name, least, of, within)


class _Cells:
    """The cells of a release as SQL, and digests of them: ``h`` and the position of a column, ``v`` for its value.

    ``hq`` is the digest of all quasi-identifiers.
    """

    def __init__(self, release: Release, policy: Policy) -> None:
        self.release, self.policy = release, policy
        self.insensitive = [name for name in policy.named("insensitive") if name in release.names]

    def digests(self, others: Sequence[str], told: Sequence[str]) -> dict[str, str]:
        """Return the digests of all insensitive columns, of all quasi-identifiers together, and of ``others``.

        Also those of the values in the columns ``told``, and of the person if people are counted.
        """
        policy, made = self.policy, {}
        if policy.quasi:
            made["hq"] = f"hash({', '.join(self.cell(name) for name in policy.quasi)})"
        made |= {self.alias(name): f"hash({self.cell(name)})" for name in (*self.insensitive, *others)}
        people = policy.named("subject") if policy.counts_subjects else []
        there = [name for name in (*told, *people) if name in self.release.names]
        return made | {self.alias(name, told=True): self.tale(name) for name in there}

    def tale(self, name: str) -> str:
        """Return the digest of the value of a cell, NULL if it is missing."""
        cell = self.cell(name, told=True)
        return f"CASE WHEN {cell} IS NOT NULL THEN hash({cell}) END"

    def alias(self, name: str, *, told: bool = False) -> str:
        """Return what the digest of a column is called."""
        return f"{'v' if told else 'h'}{self.release.names.index(name)}"

    def cell(self, name: str, *, told: bool = False) -> str:
        """Return a cell as written, or as its value, where spellings of one value are equal."""
        cell = self._form(name, told=told)
        return cell.of(cell.raw)

    def shown(self, name: str, alias: str) -> str:
        """Return the value of a cell of another table, which has the written cell under another name."""
        return self._form(name).of(alias)

    def _form(self, name: str, *, told: bool = False) -> Cell:
        place, spec = self.release.names.index(name), self.policy.columns[name]
        form = comparable if not told else person if spec.role == "subject" else value
        return form(f"c{place}", self.release.types[place], spec)


class _Read:
    """Counts what is read from a file or a table in memory, in a table that has one number for each cell.

    That is ``source`` if the numbers were made when the classes were read, otherwise ``digests``. For quasi-identifiers
    alone, the classes are counted.
    """

    def __init__(
        self,
        connection: Any,
        release: Release,
        policy: Policy,
        rows: int,
        classes: Classes | None = None,
        loaded: Collection[str] = (),
    ) -> None:
        self.connection, self.release, self.policy, self.rows = connection, release, policy, rows
        self.cells, self.classes = _Cells(release, policy), classes
        self.table, self.made = ("source", set(loaded)) if loaded else ("digests", set())
        self.expected: list[str] | None = None
        self.holds = False
        self.there = [*policy.quasi] if loaded else []  # these stand in the table as they are

    def expect(self, names: Sequence[str]) -> None:
        """Note which quasi-identifiers are needed besides all of them together."""
        self.expected = list(names)

    def single(
        self, sets: Sequence[Sequence[str]], of: str | None = None, within: Sequence[str] = (), *, exact: bool = False
    ) -> list[Alone]:
        """Count by the cells themselves if it must be ``exact``, otherwise by digests of them."""
        if exact:
            return [self._by_cells(names, of, within) for names in sets]
        if of is None and self.classes is not None and all(name in self.policy.quasi for each in sets for name in each):
            return [self._in_classes(names, self.classes) for names in sets]
        self._make([*sets, within], of)
        parts = self._digest(within) if within else ""
        return [self._counted(self.table, [self._digest(names)], of, parts) for names in sets]

    def nearly(self, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        """Count a part of the different combinations of a large release, each of them wholly."""
        self._make([*sets, within], of)
        part = max(self.rows // ENOUGH, 1)
        found = []
        for names in sets:
            key, parts = self._digest(names), self._digest(within) if within else ""
            counted = self._counted(f"(SELECT * FROM {self.table} WHERE {key} % {part} = 0)", [key], of, parts)
            found.append(Alone(counted.different * part, min(counted.records * part, self.rows)))
        return found

    def rare(self, name: str, least: int, of: str | None, within: Sequence[str]) -> int:
        """Count by digests of the values, which missing cells do not have."""
        told = [*self.policy.sensitive, *([] if of is None else [of])]
        made = {self.cells.alias(each, told=True): self.cells.tale(each) for each in told if each in self.release.names}
        if within:
            made["hq"] = f"hash({', '.join(map(self.cells.cell, within))})"
        table = self.table if set(made) <= self.made else self._held(made, [*told, *within])
        cell, who = self.cells.alias(name, told=True), "*"
        if of is not None:
            who = f"DISTINCT hash({', '.join([self.cells.alias(of, told=True), *(['hq'] if within else [])])})"
        [(count,)] = self.connection.execute(
            f"SELECT count(*) FROM (SELECT count({who}) AS n FROM {table} WHERE {cell} IS NOT NULL GROUP BY {cell}) "
            f"WHERE n < {least}"
        ).fetchall()
        return int(count)

    def _held(self, made: Mapping[str, str], names: Sequence[str]) -> str:
        """Return a table of these digests alone, for releases without other counts."""
        if not self.holds:
            self.holds = True
            self._load("held", made, [name for name in names if name in self.release.names])
        return "held"

    def _load(self, table: str, made: Mapping[str, str], names: Sequence[str]) -> None:
        """Make a table of digests of some columns, of all records."""
        with self.release.reading():
            source = self.release.source(self.connection, names, again=False)
            digests = ", ".join(f"{digest} AS {alias}" for alias, digest in made.items())
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT {digests} FROM {source}")
        [(rows,)] = self.connection.execute(f"SELECT count(*) FROM {table}").fetchall()
        if rows != self.rows:
            raise DataError(Problem(self.release.where, "returned different records when it was read again."))

    def _by_cells(self, names: Sequence[str], of: str | None, within: Sequence[str]) -> Alone:
        alias = self.cells.alias
        cells = {alias(name): self.cells.cell(name) for name in (*names, *within)}
        wanted = [*names, *within]
        if of is not None:
            wanted.append(of)
            cells[alias(of, told=True)] = self.cells.cell(of, told=True)
        with self.release.reading():
            source = self.release.source(self.connection, wanted, again=False)
            shown = ", ".join(f"{cell} AS {alias}" for alias, cell in cells.items())
            parts = ", ".join(map(alias, within))
            return self._counted(f"(SELECT {shown} FROM {source})", list(map(alias, names)), of, parts)

    def _in_classes(self, names: Sequence[str], classes: Classes) -> Alone:
        """Count by quasi-identifiers alone, from the classes and their sizes."""
        keys = ", ".join(self.cells.shown(name, classes.quasi[name]) for name in names)
        [(different, records)] = self.connection.execute(
            f"SELECT count(*), count(*) FILTER (WHERE n = 1) FROM (SELECT sum(size) AS n FROM class GROUP BY {keys})"
        ).fetchall()
        return Alone(int(different), int(records))

    def _make(self, sets: Sequence[Sequence[str]], of: str | None) -> None:
        """Make ``digests``, with what sets of columns need; where more is needed than expected, with everything."""
        needed = {alias for names in sets for alias in self._aliases(names)}
        needed -= {self.cells.alias(name) for name in self.there}
        if of is not None:
            needed.add(self.cells.alias(of, told=True))
        if needed <= self.made:
            return
        shown = [name for name, spec in self.policy.columns.items() if spec.role in ("quasi", "sensitive")]
        others = [name for name in shown if name in self.release.names]
        if self.expected is not None and not self.made:
            others = self.expected
        made = self.cells.digests(others, self.policy.sensitive)
        names = [name for name in self.policy.columns if self.policy.columns[name].role in SHOWN]
        names = [name for name in (*names, *self.policy.named("subject")) if name in self.release.names]
        self._load("digests", made, names)
        self.table, self.made, self.there = "digests", set(made), []

    def _counted(self, source: str, keys: Sequence[str], of: str | None, within: str) -> Alone:
        """Count groups by ``keys``, and the records of those that count."""
        named = ", ".join(f"{key} AS k{number}" for number, key in enumerate(keys))
        groups = f"SELECT {named}, count(*) AS n, {self._one(of)} AS one FROM {source} GROUP BY {', '.join(keys)}"
        if of is not None and within:
            joined = ", ".join(f"k{number}" for number in range(len(keys)))
            groups = f"SELECT sum(n) AS n, bool_and(one) AS one FROM ({groups}, {within}) GROUP BY {joined}"
        [(different, records)] = self.connection.execute(
            f"SELECT count(*), CAST(coalesce(sum(n) FILTER (WHERE one), 0) AS BIGINT) FROM ({groups})"
        ).fetchall()
        return Alone(int(different), int(records))

    def _one(self, of: str | None) -> str:
        """Return SQL that says whether a group counts: it has one record, or one value; a missing one is one, too."""
        if of is None:
            return "count(*) = 1"
        cell = self.cells.alias(of, told=True)
        return f"(count({cell}) = 0 OR count({cell}) = count(*) AND min({cell}) = max({cell}))"

    def _digest(self, names: Sequence[str]) -> str:
        """Return the digest of some columns together, as SQL over the table that there is."""
        aliases = self._aliases(names)
        cells = {self.cells.alias(name): self.cells.cell(name) for name in names if name in self.there}
        return f"hash({', '.join(alias if alias in self.made else cells[alias] for alias in aliases)})"

    def _aliases(self, names: Sequence[str]) -> list[str]:
        """Return the digests that some columns take: all quasi-identifiers have one together."""
        quasi = self.policy.quasi
        together = bool(quasi) and set(quasi) <= set(names)
        return [
            *(["hq"] if together else ()),
            *(self.cells.alias(name) for name in names if not together or name not in quasi),
        ]
