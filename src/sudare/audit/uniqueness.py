"""How many records of a release are unique in what it shows, also in columns that no promise is about.

A record is *unique* by some columns if no other record shows the same in all of them: whoever knows these of the person
finds the record. Cells are compared as they are released; a missing cell equals a missing cell, a set the same set in
any order. Where people are counted, a record is unique if all records that show the same may be one person's: numbers
of people that mean something within a class only are compared there.

What a policy limits (``model: uniqueness``) is counted by the cells themselves. Figures of warnings are counted by
digests of the cells, of 64 bits each, and combinations of few columns, in a large release, by a part of them that is
drawn by their digests. Where the release is kept elsewhere, its keeper counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

from sudare.audit.cells import comparable, person, value
from sudare.audit.sources import Alone, Release
from sudare.audit.verdict import AuditWarning, Guarantee
from sudare.audit.warned import about_columns, about_combinations, about_values, shown_share
from sudare.errors import DataError, Problem
from sudare.policy import TOLERANCE, KAnonymitySpec, Policy, UniquenessSpec

UNTOUCHED = ("dummies", "anatomy")
"""Methods that leave quasi-identifiers as they are."""
DRAWN = "pram"
"""The method that draws quasi-identifiers: one that shows something may not have it, and is not found by it."""
LOOKED_AT = 4
"""Of so many columns, those with most different values, all combinations of two and three are looked at."""
ENOUGH = 1 << 17
"""Of a release with more records, about so many are counted for each combination of few columns."""
COUNTED = 20_000_000
"""As many records are counted for combinations of few columns, at the most, where the release is kept elsewhere."""
FEW = 0.001
"""A column that singles out a smaller share is not warned of, nor can one with fewer different values."""
ONE_BY_ONE = 3
"""As many combinations are counted there at the most where people are."""
LEFT_OUT = 40
"""So many columns are left out in turn to find which one to begin with, where a limit is not kept."""


SHOWN = ("quasi", "insensitive", "sensitive")
"""The roles of columns that show something of a person."""


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


def parted(policy: Policy) -> tuple[Policy, list[UniquenessSpec]]:
    """Return a policy without its limits of uniqueness, and these."""
    limits = [spec for spec in policy.require if isinstance(spec, UniquenessSpec)]
    if not limits:
        return policy, []
    others = [spec for spec in policy.require if not isinstance(spec, UniquenessSpec)]
    return policy.model_copy(update={"require": others}).kept_in(policy.folder, policy.sha256), limits


def of_the_release(classes: Any, spec: UniquenessSpec) -> Guarantee:
    """Refuse to prove a limit of uniqueness on classes: it may be about other columns, see :func:`look`."""
    raise DataError(Problem(spec.model, "is counted on the whole release, and not on its classes."))


def look(
    connection: Any, release: Release, policy: Policy, limits: Sequence[UniquenessSpec], rows: int, maker: str
) -> Found:
    """Count what is unique in a release of so many rows that ``maker`` made; ``limits`` are what the policy allows."""
    if release.count is not None and release.single is None:
        if limits:
            raise DataError(Problem(release.where, "its keeper does not count what is unique in it."))
        return Found()
    counts: _Counts = _Kept(release, rows) if release.single is not None else _Read(connection, release, policy, rows)
    study = _Study(counts, release, policy, maker)
    found = Found([study.judged(spec) for spec in limits], study.warnings())
    release.check_read(rows)
    return found


class _Study:
    """A release, the columns that a stranger may know, and who counts as alone."""

    def __init__(self, counts: _Counts, release: Release, policy: Policy, maker: str) -> None:
        self.counts, self.release, self.policy, self.maker = counts, release, policy, maker
        drawn = maker == DRAWN
        told = policy.method.options.get("strata")
        strata = told if isinstance(told, list) else ()
        self.quasi = [name for name in policy.quasi if not drawn or name in strata]
        self.insensitive = [name for name in policy.named("insensitive") if name in release.names]
        self.of: str | None = None
        self.within: list[str] = []
        if policy.counts_subjects and policy.subject in release.names:
            self.of = policy.subject
            self.within = policy.quasi if policy.release.subjects == "per-class" else []

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
        return Guarantee(
            spec.model, spec.parameters(), spec.most, share, holds, 0 if holds else alone.records, note
        )  # fmt: skip

    def _named(self, spec: UniquenessSpec) -> list[str]:
        released = [name for name in self.policy.columns if self.policy.columns[name].role in SHOWN]
        if spec.columns == "released":
            names = [name for name in released if name in self.release.names]
        else:
            names = list(spec.columns)
        absent = [name for name in names if name not in self.release.names]
        if absent or not names:
            what = f"'{absent[0]}' is not a column of the release." if absent else "the release has no such column."
            raise DataError(Problem(spec.model, what))
        return names

    def _remedy(self, names: Sequence[str], most: float) -> str:
        """Say which columns to take out, or to show less of, from what is unique without each of them."""
        tried = names[:LEFT_OUT] if len(names) > 1 else []
        left = self.single([[other for other in names if other != name] for name in tried]) if tried else []
        ranked = sorted(zip(tried, left, strict=True), key=lambda pair: (pair[1].records, pair[0]))[:3]
        told = ", ".join(f"{shown_share(alone.records / self.counts.rows)} without '{name}'" for name, alone in ranked)
        least = f" It would be {told}." if told else ""
        enough = [name for name, alone in ranked if alone.records <= most * self.counts.rows]
        much = "" if enough or not told else " One column less is not enough."
        return (
            f"At most {shown_share(most)} of the records may be unique by {len(names)} columns.{least}{much} Take a "
            "column out (role: identifier), generalize it (role: quasi), or round its values before."
        )

    # -- what is warned of

    def warnings(self) -> list[AuditWarning]:
        """Return what the release gives away although it keeps its promises."""
        return [*self._unique(), *self._alike()]

    def _unique(self) -> list[AuditWarning]:
        quasi, plain, rows = self.quasi, self.insensitive, self.counts.rows
        known = [*quasi, *plain]
        covered = self.maker not in UNTOUCHED and any(
            isinstance(spec, KAnonymitySpec) and spec.columns is None for spec in self.policy.require
        )
        if not known or (not plain and (covered or self.maker == DRAWN)):
            return []
        sets = [known, *([plain] if plain and quasi else []), *([name] for name in known if plain and len(known) > 1)]
        found = dict(zip(map(tuple, sets), self.single(sets), strict=True))
        shares = {names: alone.records / rows for names, alone in found.items()}
        told = about_columns(quasi, plain, shares, FEW, bounds=bool(self.within))
        if not plain or not found[tuple(known)].records:
            return told
        return told + self._combined({names: alone for names, alone in found.items() if len(names) == 1})

    def _combined(self, singles: dict[tuple[str, ...], Alone]) -> list[AuditWarning]:
        """Look at combinations of two and three columns, of those with most different values."""
        rows = self.counts.rows
        apart = {names: alone for names, alone in singles.items() if 2 * alone.records < rows}
        most = sorted(apart, key=lambda names: -apart[names].different)[:LOOKED_AT]
        chosen = [name for name in self.policy.columns if (name,) in most]

        def possible(names: tuple[str, ...]) -> int:
            return math.prod(apart[name,].different for name in names)

        # first those that can tell most records apart
        sets = [names for size in (2, 3) for names in combinations(chosen, size)]
        sets = [names for names in sets if any(name in self.insensitive for name in names)]
        sets = sorted((names for names in sets if possible(names) >= FEW * rows), key=lambda names: -possible(names))
        counted = self.counts.nearly(sets, self.of, self.within)
        shares = {names: alone.records / rows for names, alone in singles.items()}
        shares |= {names: alone.records / rows for names, alone in zip(sets, counted, strict=False)}
        return about_combinations(shares, bounds=bool(self.within))

    def _alike(self) -> list[AuditWarning]:
        """Find sensitive columns that no promise is about, and of which whole classes show one value."""
        if self.maker in (*UNTOUCHED, DRAWN):
            return []
        limited = {getattr(spec, "column", None) for spec in self.policy.require}
        free = [name for name in self.policy.sensitive if name not in limited and name in self.release.names]
        shares = {name: self.counts.single([self.policy.quasi], name)[0].records / self.counts.rows for name in free}
        return about_values(shares)


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


class _Read:
    """Counts what is read from a file or a table in memory; ``digests`` has one number for each cell."""

    def __init__(self, connection: Any, release: Release, policy: Policy, rows: int) -> None:
        self.connection, self.release, self.policy, self.rows = connection, release, policy, rows
        self.made = False

    def single(
        self, sets: Sequence[Sequence[str]], of: str | None = None, within: Sequence[str] = (), *, exact: bool = False
    ) -> list[Alone]:
        """Count by the cells themselves if it has to be ``exact``, and else by digests of them."""
        if exact:
            return [self._by_cells(names, of, within) for names in sets]
        self._make()
        parts = self._digest(within) if within else ""
        return [self._counted("digests", [self._digest(names)], of, parts) for names in sets]

    def nearly(self, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]) -> list[Alone]:
        """Count a part of the different combinations of a large release, each of them wholly."""
        self._make()
        part = max(self.rows // ENOUGH, 1)
        found = []
        for names in sets:
            key, parts = self._digest(names), self._digest(within) if within else ""
            counted = self._counted(f"(SELECT * FROM digests WHERE {key} % {part} = 0)", [key], of, parts)
            found.append(Alone(counted.different * part, min(counted.records * part, self.rows)))
        return found

    def _by_cells(self, names: Sequence[str], of: str | None, within: Sequence[str]) -> Alone:
        cells = {self._alias(name): self._cell(name) for name in (*names, *within)}
        wanted = [*names, *within]
        if of is not None:
            wanted.append(of)
            cells[self._alias(of, told=True)] = self._cell(of, told=True)
        with self.release.reading():
            source = self.release.source(self.connection, wanted, again=False)
            shown = ", ".join(f"{cell} AS {alias}" for alias, cell in cells.items())
            parts = ", ".join(map(self._alias, within))
            return self._counted(f"(SELECT {shown} FROM {source})", list(map(self._alias, names)), of, parts)

    def _make(self) -> None:
        """Make ``digests``: for each record, a number for the cell of each column."""
        if self.made:
            return
        self.made = True
        policy = self.policy
        told = [*policy.sensitive, *(policy.named("subject") if policy.counts_subjects else ())]
        shown = [name for name, spec in policy.columns.items() if spec.role in SHOWN]
        cells = {self._alias(name): self._cell(name) for name in shown if name in self.release.names}
        cells |= {
            self._alias(name, told=True): self._cell(name, told=True) for name in told if name in self.release.names
        }
        names = [name for name in self.release.names if name in (*shown, *told)]
        with self.release.reading():
            source = self.release.source(self.connection, names, again=False)
            digests = ", ".join(f"hash({cell}) AS {alias}" for alias, cell in cells.items())
            self.connection.execute(f"CREATE TEMP TABLE digests AS SELECT {digests} FROM {source}")
        [(rows,)] = self.connection.execute("SELECT count(*) FROM digests").fetchall()
        if rows != self.rows:
            raise DataError(Problem(self.release.where, "gives other records when it is read again."))

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
        cell = self._alias(of, told=True)
        return f"(count({cell}) = 0 OR count({cell}) = count(*) AND min({cell}) = max({cell}))"

    def _alias(self, name: str, *, told: bool = False) -> str:
        return f"{'v' if told else 'h'}{self.release.names.index(name)}"

    def _digest(self, names: Sequence[str]) -> str:
        return f"hash({', '.join(map(self._alias, names))})"

    def _cell(self, name: str, *, told: bool = False) -> str:
        """Return a cell as SQL: as it stands, or as what it tells, where spellings of one value are the same."""
        place, spec = self.release.names.index(name), self.policy.columns[name]
        form = comparable if not told else person if spec.role == "subject" else value
        cell = form(f"c{place}", self.release.types[place], spec)
        return cell.of(cell.raw)
