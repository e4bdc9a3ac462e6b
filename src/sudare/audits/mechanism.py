"""The mechanism in a certificate of randomly drawn values: domains, matrices, priors, joint columns and strata.

Everything in it is a claim. An incomplete mechanism is a problem, and proves nothing.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sudare.audits.transitions import Matrix, read_matrix, read_prior, read_rows
from sudare.audits.value_spellings import merges, same_texts
from sudare.core.errors import Problem
from sudare.policy import Policy

METHOD = "pram"
"""The method of the policy that draws values."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Domain:
    """The values that a column may show, and the place of each among them; None stands for a missing one."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self.numbers = any(isinstance(value, int | float) for value in values)
        self._places = {value: place for place, value in enumerate(values)}

    def __len__(self) -> int:
        return len(self.values)

    def place(self, cell: Any) -> int | None:
        """Return the place of a cell of the release, which is text, a number or None; None if it is not there."""
        if not self.numbers or not isinstance(cell, str):
            return self._places.get(cell)
        if not _NUMBER.fullmatch(cell):
            return None
        number = int(cell) if cell.lstrip("+-").isdigit() else float(cell)
        found = self._places.get(number)
        if found is not None or abs(number) > 3.4028235e38:  # the largest of 32 bits, in their digits
            return found
        # a number of 32 bits is written with fewer digits than it has as one of 64
        return self._places.get(struct.unpack("f", struct.pack("f", number))[0])


@dataclass(frozen=True)
class Attribute:
    """One column, or several that are drawn together: the values it has, and the matrix they are drawn by.

    ``prior`` is the distribution of those values. ``own_prior`` says that it is the one of these records: that of a
    whole column says nothing about how often values occur in a stratum, but for all strata together.
    """

    columns: tuple[str, ...]
    values: tuple[Domain, ...]
    matrix: Matrix
    prior: Sequence[float] | None = None
    own_prior: bool = True

    def place(self, cells: Sequence[Any]) -> int | None:
        """Return the place of what a record shows, the last column running fastest."""
        whole = 0
        for domain, cell in zip(self.values, cells, strict=True):
            place = domain.place(cell)
            if place is None:
                return None
            whole = whole * len(domain) + place
        return whole

    def alike(self, other: Attribute) -> bool:
        """Return whether two attributes are drawn by the same matrix."""
        same = all(one.values == two.values for one, two in zip(self.values, other.values, strict=True))
        return same and self.matrix == other.matrix

    def among(self, domains: Mapping[str, Domain]) -> list[int]:
        """Return the place of each value among those of the whole columns, of which a stratum may have some."""
        if all(domain is domains[name] for name, domain in zip(self.columns, self.values, strict=True)):
            return list(range(math.prod(map(len, self.values))))
        places = [0]
        for name, domain in zip(self.columns, self.values, strict=True):
            own = [domains[name].place(value) or 0 for value in domain.values]
            places = [place * len(domains[name]) + each for place in places for each in own]
        return places

    def parts(self, column: str) -> list[int]:
        """Return the place of the value that each combination has in one of the columns."""
        number = self.columns.index(column)
        inner = math.prod(len(domain) for domain in self.values[number + 1 :])
        size = len(self.values[number])
        return [whole // inner % size for whole in range(math.prod(map(len, self.values)))]


@dataclass
class Mechanism:
    """The attributes that are drawn, in every stratum; without strata there is one, of all records."""

    strata: tuple[str, ...]
    cells: list[dict[str, Any]]
    groups: list[list[Attribute]]
    domains: dict[str, Domain]
    priors: dict[str, list[float]]
    problems: list[Problem] = field(default_factory=list)
    together: list[Any] = field(default_factory=list)
    """The listed combinations of each stratum, as the certificate has them."""

    @cached_property
    def keys(self) -> dict[str, Domain]:
        """The values of strata columns that are named."""
        return {
            name: Domain(list(dict.fromkeys(cell[name] for cell in self.cells if name in cell))) for name in self.strata
        }

    @cached_property
    def _index(self) -> list[tuple[tuple[str, ...], dict[tuple[int | None, ...], int]]]:
        """The strata by the columns that they name, those that name most of them first."""
        found: dict[tuple[str, ...], dict[tuple[int | None, ...], int]] = {}
        for number, cell in enumerate(self.cells):
            names = tuple(name for name in self.strata if name in cell)
            found.setdefault(names, {})[tuple(self.keys[name].place(cell[name]) for name in names)] = number
        return sorted(found.items(), key=lambda item: -len(item[0]))

    def group(self, cells: Sequence[Any]) -> int | None:
        """Return the number of the stratum of a record, by its cells in the strata columns; None if there is none.

        A stratum may omit columns. A record is then in the stratum that names most columns and agrees in all of them;
        None if there are two such.
        """
        places = {name: self.keys[name].place(cell) for name, cell in zip(self.strata, cells, strict=True)}
        most = -1
        found: list[int] = []
        for names, index in self._index:
            if found and len(names) < most:
                break
            key = tuple(places[name] for name in names)
            if None not in key and key in index:
                most = len(names)
                found.append(index[key])
        return found[0] if len(found) == 1 else None


def needs_own_priors(policy: Policy, strata: Sequence[str], columns: Sequence[str]) -> bool:
    """Return whether some columns need a prior of their own in each stratum, and not that of the whole release.

    Everyone may know the strata, and so the distribution in each. This is not so if records are divided only because
    ``never`` of the policy forbids combinations of *other* columns.
    """
    options = (policy.method.model_extra or {}) if policy.method.name == METHOD else {}
    never = options.get("never")
    rules = [set(map(str, rule)) for rule in (never if isinstance(never, list) else []) if isinstance(rule, Mapping)]
    asked = options.get("strata")
    excused = set().union(*rules) - set(map(str, asked if isinstance(asked, list) else []))
    if not set(strata) <= excused:
        return True
    return any(rule & set(strata) and rule & set(columns) for rule in rules)


def read_mechanism(told: Mapping[str, Any], policy: Policy) -> Mechanism:
    """Read a mechanism, and collect all its problems."""
    reading = _Reading(policy)
    columns = told.get("columns")
    if not isinstance(columns, Mapping):
        reading.wrong("columns", "is missing")
        return Mechanism((), [], [], {}, {}, reading.problems)
    strata, cells = reading.strata(told.get("strata"))
    drawn = [name for name in (*policy.quasi, *policy.sensitive) if name not in strata]
    domains = {name: domain for name in drawn if (domain := reading.domain(name, columns.get(name))) is not None}
    strange = sorted(set(map(str, columns)) - set(drawn))
    if strange:
        reading.wrong(f"columns.{strange[0]}", "is not a column that may be drawn")
    if len(domains) < len(drawn):
        return Mechanism(strata, [], [], domains, {}, reading.problems)
    priors = dict(reading.priors(columns, domains))
    groups = [
        list(reading.attributes(told, cell, domains, priors, f"strata.cells.{number}." if strata else ""))
        for number, cell in enumerate(cells)
    ]
    together = [cell.get("together", None if strata else told.get("together")) for cell in cells]
    named = [dict(cell["cell"]) for cell in cells]
    return Mechanism(strata, named, groups, domains, priors, reading.problems, together)


class _Reading:
    """Reads the parts of a mechanism, and keeps what is wrong with them."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.problems: list[Problem] = []
        self._read: dict[tuple[int, int], Matrix | str] = {}

    def wrong(self, where: str, what: str) -> None:
        self.problems.append(Problem(f"mechanism.{where}", f"{what}."))

    def matrix(self, told: Any, size: int, *, rows: bool = False) -> Matrix | str:
        """Read a matrix once, however many strata share it."""
        key = (id(told), size)
        if key not in self._read:
            self._read[key] = read_rows(told, size) if rows else read_matrix(told, size)
        return self._read[key]

    def strata(self, told: Any) -> tuple[tuple[str, ...], list[Mapping[str, Any]]]:
        """Return the unchanged columns, and the facts of every stratum."""
        nothing: tuple[tuple[str, ...], list[Mapping[str, Any]]] = ((), [{"cell": {}}])
        if not told:
            return nothing
        names = told.get("columns") if isinstance(told, Mapping) else None
        cells = told.get("cells") if isinstance(told, Mapping) else None
        if not isinstance(names, list) or not isinstance(cells, list) or len(set(map(str, names))) < len(names):
            self.wrong("strata", "is not listed by columns and cells")
            return nothing
        for name in names:
            spec = self.policy.columns.get(name) if isinstance(name, str) else None
            if spec is None or spec.role not in ("quasi", "insensitive"):
                self.wrong("strata.columns", "names a column that must not stay unchanged")
                return nothing
        whole = all(_is_cell(cell, names) for cell in cells)
        if not whole:
            self.wrong("strata.cells", "does not list the values of every stratum")
            return nothing
        if len({frozenset(cell["cell"].items()) for cell in cells}) < len(cells):
            self.wrong("strata.cells", "lists a stratum twice")
            return nothing
        return tuple(names), cells

    def domain(self, name: str, told: Any) -> Domain | None:
        values = told.get("values") if isinstance(told, Mapping) else None
        domain = self._values(f"columns.{name}", values)
        if domain is not None and self._respelled(name, domain):
            self.wrong(f"columns.{name}.values", "names a value twice, in two spellings")
            return None
        return domain

    def _respelled(self, name: str, domain: Domain) -> bool:
        """Return whether two values of a sensitive column are one: what is believed of it would be cut in two."""
        spec = self.policy.columns[name]
        same = same_texts(dict.fromkeys(value if isinstance(value, str) else None for value in domain.values), spec)
        texts = [value for value in domain.values if isinstance(value, str)]
        missing = None in domain.values
        return merges(spec) and len({same[text] for text in texts} | ({None} if missing else set())) < (
            len(texts) + int(missing)
        )

    def _values(self, where: str, values: Any) -> Domain | None:
        if not isinstance(values, list) or not values or not all(_is_value(value) for value in values):
            self.wrong(f"{where}.values", "does not list the values of the column, which must be drawn")
            return None
        if len(set(values)) < len(values):
            self.wrong(f"{where}.values", "names a value twice")
            return None
        return Domain(values)

    def priors(self, columns: Mapping[str, Any], domains: Mapping[str, Domain]) -> Iterator[tuple[str, list[float]]]:
        """Yield the priors of whole columns."""
        for name, domain in domains.items():
            if columns[name].get("prior") is None:
                continue
            prior = read_prior(columns[name]["prior"], len(domain))
            if isinstance(prior, str):
                self.wrong(f"columns.{name}.prior", prior)
            else:
                yield name, prior

    def attributes(
        self,
        told: Mapping[str, Any],
        cell: Mapping[str, Any],
        domains: Mapping[str, Domain],
        priors: Mapping[str, list[float]],
        where: str,
    ) -> Iterator[Attribute]:
        """Yield the draws of a stratum; what a stratum does not state is as in the whole release."""
        local = cell.get("columns") or {}
        joint, everywhere = cell.get("joint") or [], told.get("joint") or []
        if not isinstance(local, Mapping) or not isinstance(joint, list) or not isinstance(everywhere, list):
            self.wrong(f"{where}columns", "is not listed by column")
            return
        there = self._values_there(local, domains, where)
        if there is None:
            return
        together: list[str] = []
        for attribute in self._together(joint, everywhere, there, where):
            together += attribute.columns
            yield attribute
        for name in domains:
            if name not in together:
                given = local.get(name) or {}
                matrix = given.get("matrix", told["columns"][name].get("matrix"))
                found = self._alone(name, given, matrix, there[name], domains[name], priors.get(name), where)
                if found is not None:
                    yield found

    def _values_there(
        self, local: Mapping[str, Any], domains: Mapping[str, Domain], where: str
    ) -> dict[str, Domain] | None:
        """Return the values of each column in a stratum, or None if they are not valid."""
        there: dict[str, Domain] = {}
        for name, domain in domains.items():
            given = local.get(name) or {}
            if not isinstance(given, Mapping):
                self.wrong(f"{where}columns.{name}", "does not have a matrix and values")
                return None
            some = self._values(f"{where}columns.{name}", given["values"]) if "values" in given else domain
            if some is None or any(domain.place(value) is None for value in some.values):
                self.wrong(f"{where}columns.{name}.values", "are not values of the column")
                return None
            there[name] = some
        return there

    def _together(
        self, joint: list[Any], everywhere: list[Any], there: Mapping[str, Domain], where: str
    ) -> Iterator[Attribute]:
        """Yield the columns that are drawn together: those of the stratum, then those of the whole release."""
        taken: list[str] = []
        told_here = {str(name) for one in joint for name in _named(one)}
        shared = [one for one in everywhere if not told_here & {str(name) for name in _named(one)}]
        for number, one in enumerate([*joint, *shared]):
            own = number < len(joint)
            place = f"{where}joint.{number}" if own else "joint"
            found = self._joint(place, one, there, taken, own or not where)
            if found is not None:
                taken += found.columns
                yield found

    def _alone(
        self,
        name: str,
        given: Mapping[str, Any],
        rows: Any,
        there: Domain,
        domain: Domain,
        everywhere: list[float] | None,
        where: str,
    ) -> Attribute | None:
        """Return a column that is drawn separately, or None if its facts are not valid."""
        place = f"{where}columns.{name}"
        matrix = self.matrix(rows, len(there))
        if isinstance(matrix, str):
            self.wrong(f"{place}.matrix", matrix)
            return None
        prior: list[float] | str | None = None
        if given.get("prior") is not None:
            # what occurs in a stratum may not occur in a part of it
            prior = read_prior(given["prior"], len(there), zeros=True)
        elif everywhere is not None:
            prior = _among(there, domain, everywhere)
        if isinstance(prior, str):
            self.wrong(f"{place}.prior", prior)
            return None
        return Attribute((name,), (there,), matrix, prior, not where or given.get("prior") is not None)

    def _joint(
        self, where: str, told: Any, there: Mapping[str, Domain], taken: Sequence[str], own: bool
    ) -> Attribute | None:
        names = told.get("columns") if isinstance(told, Mapping) else None
        if (
            not isinstance(names, list)
            or len(names) < 2
            or len(set(map(str, names))) < len(names)
            or any(not isinstance(name, str) or name not in there or name in taken for name in names)
        ):
            self.wrong(f"{where}.columns", "are not columns that can be drawn together")
            return None
        values = tuple(there[name] for name in names)
        size = math.prod(map(len, values))
        rows = "rows" in told
        matrix = self.matrix(told.get("rows" if rows else "matrix"), size, rows=rows)
        if isinstance(matrix, str):
            self.wrong(where, matrix)
            return None
        prior = None if told.get("prior") is None else read_prior(told["prior"], size, zeros=True)
        if isinstance(prior, str):
            self.wrong(f"{where}.prior", prior)
            return None
        return Attribute(tuple(names), values, matrix, prior, own)


def _among(some: Domain, whole: Domain, prior: Sequence[float]) -> list[float]:
    """Return the prior of a column among some of its values."""
    shares = [prior[whole.place(value) or 0] for value in some.values]
    total = sum(shares)
    return [share / total for share in shares]


def _named(joint: Any) -> Sequence[Any]:
    """Return the columns that are drawn jointly, by the certificate."""
    names = joint.get("columns") if isinstance(joint, Mapping) else None
    return names if isinstance(names, list) else ()


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int | float | None) and not isinstance(value, bool) and value == value


def _is_cell(cell: Any, names: Sequence[str]) -> bool:
    told = cell.get("cell") if isinstance(cell, Mapping) else None
    return isinstance(told, Mapping) and set(told) <= set(names) and all(_is_value(value) for value in told.values())
