"""Values that were drawn at random (PRAM): what is proven of such a release, and what rests on the mechanism.

**Pk-anonymity** follows from the matrices. Let r be the product, over all attributes that are drawn, of the least
ratio of the probabilities with which two truths show the same. Exchanging the records of two persons changes the
likelihood by r² at least, and each of n - 1 others may be the partner: no record is anybody's with a probability of
more than 1 / (1 + (n - 1) r²). Where some columns stay as they are, partners are only found in the same stratum.

**P(alpha, gamma)** follows from a matrix and a prior (:mod:`sudare.audit.transitions`).

A release does not show how it was drawn. What it does show is looked at:

- every value is one of the domain;
- no value is more or less frequent than the matrix allows, whatever the truth;
- where there is a prior: values are as frequent as prior and matrix lead to. A prior that is taken from a table is told
  with three digits, so that each of its shares may be wrong by one part in a hundred.

Counts are sums of independent draws whose variance V = n sum of pi(t) R[t, o] (1 - R[t, o]) is known. By Bernstein's
inequality they are off by more than 6 + 6 sqrt(1 + V), some six standard errors, with a probability below 2 exp(-18).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any

import pyarrow as pa

from sudare.audit.cells import is_list
from sudare.audit.classes import Classes
from sudare.audit.hidden import as_text
from sudare.audit.mechanism import Attribute, Domain, Mechanism, read_mechanism
from sudare.audit.sources import Release
from sudare.audit.transitions import least_ratio
from sudare.audit.verdict import Guarantee
from sudare.errors import DataError, Problem
from sudare.policy import TOLERANCE, Policy

METHOD = "pram"
"""The method of the policy that draws values."""
PK, ALPHA_GAMMA = "pk-anonymity", "alpha-gamma"
BATCH = 1 << 16
ERRORS = 6
"""How many standard errors a count may be off."""
ROUNDED = 0.0102
"""How far a share of a prior may be from the truth, in proportion, if all of them were told with three digits."""

UNPROVEN = (
    "is a promise of values that are drawn at random: it follows from how they were drawn, not from the rows alone."
)
IN_PK = (
    "From the matrices of the certificate and the records of the file, each taken for another person's. That values "
    "were drawn by these matrices rests on the method: what is far from them shows in a release, but a small "
    "change of one cannot be found."
)
IN_BELIEFS = (
    "From the matrix and the prior of the certificate, for this column on its own; values are as frequent in the file "
    "as both lead to, within six standard errors. That they were drawn by this matrix rests on the method: a small "
    "change of it cannot be found."
)
IN_STRATA = (
    "From the matrices and the prior of the certificate, which is that of the whole column: it is not compared with "
    "how often values are in the strata, so that a forged one would not be found. That values were drawn by these "
    "matrices rests on the method."
)
DOUBTED = "The release is not what the certificate tells of it."


@dataclass
class Drawn:
    """A release whose values were drawn: the mechanism, and how often everything is shown in each stratum.

    ``problems`` is what does not agree between the two.
    """

    mechanism: Mechanism
    rows: int
    sizes: dict[int, int]
    problems: list[Problem] = field(default_factory=list)

    def groups(self) -> Iterator[tuple[int, list[Attribute]]]:
        """Give the number of records of each stratum of the release, and what is drawn in it."""
        for group, size in self.sizes.items():
            yield size, self.mechanism.groups[group]


def only_of_drawn_values(classes: Classes, spec: Any) -> Guarantee:
    """Refuse to prove a promise of drawn values on a release that nobody says was drawn."""
    raise DataError(Problem(spec.model, UNPROVEN, f"audit a release that was made by {METHOD}, with its certificate."))


def look_at(connection: Any, release: Release, policy: Policy, told: Mapping[str, Any] | None) -> Drawn:
    """Read a release, and compare it with what is told of the mechanism; raise if nothing is told of it."""
    if not isinstance(told, Mapping) or not told:
        what = "cannot be proven without the certificate, which tells how values were drawn."
        raise DataError(Problem(release.where, what, "keep the certificate beside the release."))
    mechanism = read_mechanism(told, policy)
    names = [*policy.quasi, *policy.sensitive]
    names += [name for name in mechanism.strata if name not in names]
    absent = [name for name in names if name not in release.names]
    if absent:
        raise DataError(Problem(absent[0], "is not a column of the release."))
    with release.reading():
        source = release.source(connection, names, again=True)
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {source}").fetchall()
        if not rows:
            raise DataError(Problem(release.where, "has no rows, so there is nothing to prove anything about."))
        found = Drawn(mechanism, rows, {}, list(mechanism.problems))
        if not found.problems:
            reader = _Reader(connection, release, source, mechanism)
            reader.outside(found)
            if not found.problems:
                found.sizes = {group or 0: some.total() for group, some in reader.tally(()).items()}
                _compare(reader, found)
    release.check_read(rows)
    return found


def pk_anonymity(found: Drawn, policy: Policy, spec: Any) -> Guarantee:
    """No record is anybody's with a probability of more than 1/k."""
    figures = [
        1 + (size - 1) * math.prod(least_ratio(attribute.matrix) for attribute in attributes) ** 2
        for size, attributes in ([] if found.problems else found.groups())
    ]
    short = sum(figure < spec.k * (1 - TOLERANCE) for figure in figures)
    least = min(figures, default=None)
    note, holds = IN_PK, bool(figures) and not short
    if found.problems:
        note, holds = DOUBTED, False
    elif policy.release.order == "keep":
        note, holds = "Records are in the order of the source, by which whoever knows it connects them.", False
    return Guarantee(spec.model, spec.parameters(), spec.k, least, holds, short, note)


def alpha_gamma(found: Drawn, spec: Any) -> Guarantee:
    """On average, nobody's value is believed more than alpha, and no value less than gamma, of anybody."""
    required = {name: limit for name in ("alpha", "gamma") if (limit := getattr(spec, name, None)) is not None}
    if found.problems:
        return Guarantee(spec.model, spec.parameters(), required, None, False, 0, DOUBTED)
    told = getattr(spec, "prior", None)
    whole = found.mechanism.priors.get(spec.column)  # in strata there may be none of the whole column
    if told and whole is not None and not _same(told, found.mechanism.domains[spec.column], whole):
        note = "The prior of the certificate is not the one of the policy."
        return Guarantee(spec.model, spec.parameters(), required, None, False, 1, note)
    most, least, short, note = 0.0, math.inf, 0, IN_BELIEFS
    for _, attributes in found.groups():
        attribute = next((one for one in attributes if spec.column in one.columns), None)
        if attribute is None or attribute.prior is None:
            note = "The certificate tells no prior of this column, so that nothing can be proven."
            return Guarantee(spec.model, spec.parameters(), required, None, False, 1, note)
        note = note if attribute.own_prior else IN_STRATA
        alpha, gamma = _believed(attribute, spec.column)
        most, least = max(most, alpha), min(least, gamma)
        kept = alpha <= required.get("alpha", 1) + TOLERANCE and gamma >= required.get("gamma", 0) - TOLERANCE
        short += not kept
    achieved = {name: figure for name, figure in (("alpha", most), ("gamma", least)) if name in required}
    return Guarantee(spec.model, spec.parameters(), required, achieved, not short, short, note)


def _believed(attribute: Attribute, column: str) -> tuple[float, float]:
    """Return what is believed most and least of a column.

    Where it is drawn together with others, the truth is a combination, and what is believed of a value is the sum over
    all combinations with it. What nobody has is no truth, and no value that could be believed.
    """
    prior = attribute.prior or ()
    if len(attribute.columns) == 1:
        return attribute.matrix.beliefs(prior)
    place = attribute.columns.index(column)
    inner = math.prod(len(domain) for domain in attribute.values[place + 1 :])
    size = len(attribute.values[place])
    codes = [whole // inner % size for whole in range(len(prior))]
    rows = attribute.matrix.full().rows
    shown = attribute.matrix.shown(prior)
    believed = {code: [0.0] * len(shown) for code, share in zip(codes, prior, strict=True) if share > 0}
    for code, share, row in zip(codes, prior, rows, strict=True):
        if share > 0:
            sofar = believed[code]
            believed[code] = [b + share * r / q if q > 0 else b for b, r, q in zip(sofar, row, shown, strict=True)]
    most, least = 0.0, math.inf
    for code, share, row in zip(codes, prior, rows, strict=True):
        if share > 0:
            figures = {value: sum(map(mul, row, column)) for value, column in believed.items()}
            most, least = max(most, figures[code]), min(least, *figures.values())
    return most, least


def _same(told: Mapping[Any, float], values: Domain, prior: Sequence[float]) -> bool:
    """Say whether a prior of the policy, by value, is the one of the certificate."""
    if len(told) != len(prior):
        return False
    places = [values.place(None if value in ("", None) else value) for value in told]
    return None not in places and all(
        abs(prior[place or 0] - share) <= TOLERANCE for place, share in zip(places, told.values(), strict=True)
    )


# ---- the file


class _Reader:
    """Counts what the columns of a release show."""

    def __init__(self, connection: Any, release: Release, source: str, mechanism: Mechanism) -> None:
        self.connection, self.release, self.source = connection, release, source
        self.mechanism = mechanism

    def outside(self, found: Drawn) -> None:
        """Note values that are in no domain, and strata that nothing is told of."""
        for name, domain in self.mechanism.domains.items():
            cells, counts = self._read([name], {name: domain})
            strange = [n for cell, n in zip(cells, counts, strict=True) if domain.place(cell[0]) is None]
            if strange:
                what = (
                    f"shows {len(strange):,} values, in {sum(strange):,} records, that the certificate does not know."
                )
                found.problems.append(Problem(f"column '{name}'", what))
        if not found.problems and None in self.tally(()):
            what = "does not have all strata of the release."
            found.problems.append(Problem("mechanism.strata.cells", what))

    def tally(self, columns: Sequence[str]) -> dict[int | None, Counter[tuple[Any, ...]]]:
        """Return how often the columns show what, in each stratum; None is that of which nothing is told."""
        strata = self.mechanism.strata
        names = [*strata, *columns]
        if not names:
            [(rows,)] = self.connection.execute(f"SELECT count(*) FROM {self.source}").fetchall()
            return {0: Counter({(): rows})}
        cells, counts = self._read(names, {**self.mechanism.domains, **self.mechanism.keys})
        tallies: dict[int | None, Counter[tuple[Any, ...]]] = {}
        for cell, n in zip(cells, counts, strict=True):
            group = self.mechanism.group(cell[: len(strata)])
            tallies.setdefault(group, Counter())[cell[len(strata) :]] += n
        return tallies

    def _read(self, names: Sequence[str], domains: Mapping[str, Domain]) -> tuple[list[tuple[Any, ...]], list[int]]:
        """Return the combinations that some columns show, and how many records show each."""
        places = [self.release.names.index(name) for name in names]
        kinds = [_plain(self.release.types[place]) for place in places]
        for name, kind in zip(names, kinds, strict=True):
            if is_list(kind):
                raise DataError(Problem(f"column '{name}'", "holds lists, and not single values."))
        # DuckDB takes durations for calendar intervals, which Arrow cannot compare
        cells = [f"epoch_us(c{p})" if pa.types.is_duration(k) else f"c{p}" for p, k in zip(places, kinds, strict=True)]
        chosen = ", ".join(f"{cell} AS v{number}" for number, cell in enumerate(cells))
        query = f"SELECT {chosen}, count(*) AS n FROM {self.source} GROUP BY ALL"
        table = self.connection.sql(query).to_arrow_reader(BATCH).read_all()
        lists = [
            _cells(table.column(number).combine_chunks(), kind, domains[name].numbers)
            for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]
        return list(zip(*lists, strict=True)), table.column(len(names)).to_pylist()


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _cells(values: Any, kind: Any, numbers: bool) -> list[Any]:
    """Return cells as numbers where the domain has them, else as the text that they have in the release."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if numbers and (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return [None if value != value else value for value in values.to_pylist()]  # not a number: missing
    cells: list[Any] = as_text(values, kind).to_pylist()
    return cells


# ---- what is shown, against what is told


def _compare(reader: _Reader, found: Drawn) -> None:
    """Note attributes that show values more or less often than their matrix, and their prior, lead to."""
    columns = {attribute.columns for attributes in found.mechanism.groups for attribute in attributes}
    off: Counter[tuple[str, str]] = Counter()
    for names in sorted(columns):
        for group, shown in reader.tally(names).items():
            attribute = next((one for one in found.mechanism.groups[group or 0] if one.columns == names), None)
            if attribute is None:
                continue  # drawn otherwise in this stratum
            counts = [0] * math.prod(map(len, attribute.values))
            for cells, n in shown.items():
                place = attribute.place(cells)
                if place is None:
                    off[(" and ".join(names), "that do not occur in their stratum")] += 1
                else:
                    counts[place] += n
            for what in _unlikely(attribute, counts):
                off[(" and ".join(names), what)] += 1
    for (name, what), number in off.items():
        found.problems.append(Problem(f"column '{name}'", f"shows {number:,} values {what}."))


def _unlikely(attribute: Attribute, counts: Sequence[int]) -> Iterator[str]:
    """Tell, for each value that is shown more or less often than is believable, why it is not."""
    rows, spans = sum(counts), attribute.matrix.spans()
    expected: Sequence[tuple[float, float] | None] = [None] * len(counts)
    if attribute.prior is not None and attribute.own_prior:
        shown, spread = attribute.matrix.shown(attribute.prior), attribute.matrix.variances(attribute.prior)
        expected = list(zip(shown, spread, strict=True))
    for n, (low, high), mean in zip(counts, spans, expected, strict=True):
        if n and not high:
            yield "that the matrix of the certificate never shows"
        elif n < rows * low - _room(rows * low * (1 - low)) or n > rows * high + _room(rows * high * (1 - high)):
            yield "more or less often than the matrix of the certificate allows"
        elif mean is not None and abs(n - rows * mean[0]) > _room(rows * mean[1]) + rows * ROUNDED * (mean[0] - low):
            yield "not as often as the prior and the matrix of the certificate lead to"


def _room(variance: float) -> float:
    """Return how far a sum of independent draws may be off."""
    return ERRORS + ERRORS * math.sqrt(1 + max(variance, 0.0))
