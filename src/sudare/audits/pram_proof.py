"""The proof for values drawn at random (PRAM): what follows from the release, and what from the mechanism.

**Pk-anonymity** follows from the matrices. Let r be the product, over all attributes that are drawn, of the least ratio
of the probabilities with which two truths show the same. Exchanging the records of two persons changes the likelihood
by r² at least, and each of n - 1 others may be the partner: no record is anybody's with a probability of more than 1 /
(1 + (n - 1) r²). If some columns are unchanged, partners are only in the same stratum.

**P(alpha, gamma)** follows from a matrix and a prior (:mod:`sudare.audits.transitions`), if the intruder looks at the
column alone. Against an intruder who uses all columns it follows from all matrices, the prior, and the combinations
that the certificate lists (:mod:`sudare.audits.whole_record_proof`).

A release does not show how it was drawn. The audit tests what it does show:

- every value is one of the domain;
- no value is more or less frequent than the matrix allows, whatever the truth;
- no two values of different attributes are together more or less often than their matrices allow, which draw apart:
  unchanged columns show combinations that never occur;
- where the certificate lists combinations: values of these columns are together as often as the combinations and the
  matrices lead to, whatever the remaining records hold; all of them, and every two;
- where there is a prior: values are as frequent as prior and matrix lead to. A prior from a table is published with
  three digits, so each of its shares may be wrong by one part in a hundred.

All this is tested in each stratum, and in the sum of all strata. In small strata chance hides much, but a prior that is
wrong in the same direction in many strata is visible in the sum. The prior of a whole column, if all strata use the
same matrix, is compared only in the sum. Where strata have priors of their own, that of the whole column has to be
their mean, weighed by the records.

Counts are sums of independent draws whose variance V = n sum of pi(t) R[t, o] (1 - R[t, o]) is known. By Bernstein's
inequality they are off by more than L / 3 + sqrt((L / 3)² + 2 L V) with a probability below 2 exp(-L). L is 18, so that
this is 6 + 6 sqrt(1 + V), some six standard errors; or more, if there are so many counts that one of a million true
releases would be refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sudare.audits.audit_report import Guarantee
from sudare.audits.cell_equality import is_list
from sudare.audits.equivalence_classes import Classes
from sudare.audits.hidden_values import as_text
from sudare.audits.mechanism import METHOD as METHOD
from sudare.audits.mechanism import Attribute, Domain, Mechanism, needs_own_priors, read_mechanism
from sudare.audits.release_columns import Release
from sudare.audits.transitions import least_ratio
from sudare.audits.value_spellings import merges, same_texts
from sudare.audits.whole_record_proof import MOST_VALUES, Inferred, Listed, ends, from_one_value, inferred, read_listed
from sudare.core.errors import DataError, Problem
from sudare.core.sizes import FEW_ROWS
from sudare.policy import TOLERANCE, ColumnSpec, Policy

PK, ALPHA_GAMMA = "pk-anonymity", "alpha-gamma"
ALL_COLUMNS = "all-columns"
BATCH = FEW_ROWS
CERTAINTY = 18.0
"""A count is refused if its probability is below 2 exp(-18): it is some six standard errors off."""
ALARMS = 1e-6
"""How many of all true releases are refused at most."""
MOST_PAIRS, MOST_CELLS = 100, 10_000
"""Pairs of attributes that are compared, and combinations of values of each."""
ROUNDED = 0.0102
"""The largest relative error of a share of a prior that was published with three digits."""

UNPROVEN = "is a promise about values drawn at random: the proof needs the mechanism, not only the rows."
IN_PK = (
    "Proven from the matrices of the certificate and the records of the file; each record counts as another person. "
    "The method is responsible for drawing values by these matrices: the audit detects a large difference, but not a "
    "small change of a matrix."
)
IN_BELIEFS = (
    "Proven from the matrix and the prior of the certificate, for this column alone. The values of the file are as "
    "frequent as both imply, within six standard errors. The method is responsible for drawing values by this matrix: "
    "the audit does not detect a small change of it."
)
IN_WHOLE = (
    "Proven from the matrix and the prior of the certificate. The prior is that of the whole column, because all "
    "strata use the same matrix. The values of the file, over all strata, are as frequent as both imply, within six "
    "standard errors. The method is responsible for drawing values by this matrix: the audit does not detect a small "
    "change of it."
)
IN_RECORDS = (
    "Proven from all matrices, the prior and the combinations of the certificate, against an intruder who sees all "
    "drawn columns and knows their distribution. `one value` and `one record` are the largest beliefs if one value of "
    "the column, or one record, is shown; they are not limited. The file agrees with all of these, within six standard "
    "errors. The method is responsible for drawing values by these matrices: the audit does not detect a small change "
    "of them. Columns that are released unchanged are not included, except strata."
)
ALONE = " Other columns of the release that correlate with this one reveal more. Who uses them may exceed alpha."
NO_OWN_PRIORS = (
    "Against all columns, every stratum needs a prior of its own in the certificate. The prior of the whole column "
    "does not describe it."
)
TOO_MANY = f"The column has more than {MOST_VALUES:,} values, too many for a proof against all columns."
PRIOR_NEAR = 0.0052
"""By how much a share that the policy gives may differ from that in the table."""
NO_PRIOR = "The certificate has no prior of this column, so nothing can be proven."
NO_OWN_PRIOR = (
    "In {:,} of {:,} strata the certificate has no prior of this column. Someone who knows a person's stratum knows "
    "the distribution in it, and the prior of the whole column does not describe that distribution."
)
NEVER_SHOWN = (
    "The prior of the certificate has values that the matrix never shows, so it cannot be compared with the file."
)
OTHER_PRIOR = "The prior of the certificate is not the one of the policy."
NOT_THEIR_MEAN = "The prior of the {} is not the sum of the priors of the strata, or of the joint columns."
DOUBTED = "The release does not agree with the certificate."


@dataclass
class Drawn:
    """A release whose values were drawn: the mechanism, and how many records there are in each stratum.

    ``problems`` is what does not agree between the two. ``policy`` says what the strata are.
    """

    policy: Policy
    mechanism: Mechanism
    rows: int
    sizes: dict[int, int]
    problems: list[Problem] = field(default_factory=list)
    listed: dict[int, list[Listed]] = field(default_factory=dict)

    def groups(self) -> Iterator[tuple[int, list[Attribute]]]:
        """Yield the number of records of each stratum of the release, and what is drawn in it."""
        for group, size in self.sizes.items():
            yield size, self.mechanism.groups[group]


def only_of_drawn_values(classes: Classes, spec: Any) -> Guarantee:
    """Refuse to prove a promise of drawn values on a release that nobody says was drawn."""
    raise DataError(Problem(spec.model, UNPROVEN, f"audit a release that was made by {METHOD}, with its certificate."))


def look_at(connection: Any, release: Release, policy: Policy, told: Mapping[str, Any] | None) -> Drawn:
    """Read a release, and compare it with the mechanism; raise if there is none."""
    if not isinstance(told, Mapping) or not told:
        what = "cannot be proven without the certificate, which states how values were drawn."
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
            raise DataError(Problem(release.where, "has no rows, so there is nothing to prove."))
        found = Drawn(policy, mechanism, rows, {}, list(mechanism.problems))
        if not found.problems:
            reader = _Reader(connection, release, source, mechanism)
            reader.outside(found)
            if not found.problems:
                found.sizes = {group or 0: some.total() for group, some in reader.tally(()).items()}
                _read_listed(found)
            if not found.problems:
                _compare(reader, found)
            if not found.problems:
                _compare_pairs(reader, found)
            if not found.problems:
                _compare_listed(reader, found)
    release.check_read(rows)
    return found


def pk_anonymity(found: Drawn, policy: Policy, spec: Any) -> Guarantee:
    """No record belongs to any given person with a probability of more than 1/k."""
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
        note, holds = "Records are in the order of the source. Someone who knows this order can link them.", False
    return Guarantee(spec.model, spec.parameters(), spec.k, least, holds, short, note)


def alpha_gamma(found: Drawn, spec: Any) -> Guarantee:
    """On average, a true value is inferred with a probability of at most alpha, and any value with at least gamma."""
    required = {name: limit for name in ("alpha", "gamma") if (limit := getattr(spec, name, None)) is not None}
    if found.problems:
        return Guarantee(spec.model, spec.parameters(), required, None, False, 0, DOUBTED)
    cells = [
        (size, next((one for one in attributes if spec.column in one.columns), None))
        for size, attributes in found.groups()
    ]
    limited = [(size, one) for size, one in cells if one is not None and one.prior is not None]
    if not limited or (len(limited) < len(cells) and not found.mechanism.strata):
        return Guarantee(spec.model, spec.parameters(), required, None, False, 1, NO_PRIOR)
    unfounded = _unfounded(found, spec, len(cells), limited)
    if unfounded is not None:
        note, strata = unfounded
        return Guarantee(spec.model, spec.parameters(), required, None, False, strata, note)
    whole: list[Inferred] = []
    if spec.against == ALL_COLUMNS and any(len(attributes) > 1 for _, attributes in found.groups()):
        if not all(one.own_prior for _, one in limited):
            return Guarantee(spec.model, spec.parameters(), required, None, False, len(limited), NO_OWN_PRIORS)
        if any(len(one.prior or ()) > MOST_VALUES for _, one in limited):
            return Guarantee(spec.model, spec.parameters(), required, None, False, len(limited), TOO_MANY)
        whole = [_inferred(found, group, spec.column) for group in found.sizes]
    if limited[0][1].own_prior:
        note, figures = IN_BELIEFS, [_believed(attribute, spec.column) for _, attribute in limited]
    else:  # all are alike, and a large matrix takes its time
        note, figures = IN_WHOLE, [_believed(limited[0][1], spec.column)] * len(limited)
    if whole:
        note = IN_RECORDS
        figures = [
            (max(alpha, one.alpha), min(gamma, one.gamma)) for (alpha, gamma), one in zip(figures, whole, strict=True)
        ]
    else:
        note += ALONE if spec.against != ALL_COLUMNS else ""
    short = sum(
        alpha > required.get("alpha", 1) + TOLERANCE or gamma < required.get("gamma", 0) - TOLERANCE
        for alpha, gamma in figures
    )
    worst = {"alpha": max(alpha for alpha, _ in figures), "gamma": min(gamma for _, gamma in figures)}
    achieved = {name: worst[name] for name in required}
    achieved["one value"] = max(
        from_one_value(one.prior or (), one.parts(spec.column), one.matrix) for _, one in limited
    )
    if whole:
        achieved["one record"] = max(one.record for one in whole)
    return Guarantee(spec.model, spec.parameters(), required, achieved, not short, short, note)


def _unfounded(
    found: Drawn, spec: Any, strata: int, limited: Sequence[tuple[int, Attribute]]
) -> tuple[str, int] | None:
    """Return why the priors of a column prove nothing, and in how many strata; None if they are valid.

    Each stratum was compared with the file before; here priors are compared with each other. So the prior of a whole
    column, or of the policy, is always compared with the file, if there is one.
    """
    own = [attribute for _, attribute in limited if attribute.own_prior]
    if len(own) < strata and not _shared(found, [attribute for _, attribute in limited]):
        return NO_OWN_PRIOR.format(strata - len(own), strata), strata - len(own)
    never = sum(
        any(share > 0 and not high for share, (_, high) in zip(one.prior or (), one.matrix.spans(), strict=True))
        for _, one in limited
    )
    if never:
        # such a prior may lead to what the file shows, and be as wrong as one likes
        return NEVER_SHOWN, never
    domain, whole = found.mechanism.domains[spec.column], found.mechanism.priors.get(spec.column)
    told = getattr(spec, "prior", None)
    asked = _by_place(told, domain, found.policy.columns[spec.column]) if told else None
    if told and (asked is None or (whole is not None and not _near(asked, whole, TOLERANCE, 0))):
        return OTHER_PRIOR, 1
    mean = [0.0] * len(domain)
    for size, attribute in limited:
        places = [domain.place(value) or 0 for value in attribute.values[attribute.columns.index(spec.column)].values]
        for part, share in zip(attribute.parts(spec.column), attribute.prior or (), strict=True):
            mean[places[part]] += share * size / found.rows
    for prior, what in ((whole, "whole column"), (asked, "policy")):
        # both were told with three digits
        if prior is not None and not _near(prior, mean, TOLERANCE, 2 * ROUNDED):
            return NOT_THEIR_MEAN.format(what), 1
    return None


def _shared(found: Drawn, attributes: Sequence[Attribute]) -> bool:
    """Return whether the prior of all records counts: every stratum uses the same matrix."""
    first = attributes[0]
    return (
        len(attributes) == len(found.sizes)
        and all(not one.own_prior and one.columns == first.columns and one.alike(first) for one in attributes)
        and not needs_own_priors(found.policy, found.mechanism.strata, first.columns)
    )


def _believed(attribute: Attribute, column: str) -> tuple[float, float]:
    """Return what is believed most and least of a column.

    Where it is drawn together with others, the truth is a combination, and what is believed of a value is the sum over
    all combinations with it. What nobody has is no truth, and no value that could be believed.
    """
    prior = attribute.prior or ()
    if len(attribute.columns) == 1:
        return attribute.matrix.beliefs(prior)
    return attribute.matrix.full().beliefs(prior, attribute.parts(column))


def _inferred(found: Drawn, group: int, column: str) -> Inferred:
    """Return what all columns of a stratum reveal about one of them."""
    attributes = found.mechanism.groups[group]
    own = next(one for one in attributes if column in one.columns)
    listed = next((one for one in found.listed.get(group, []) if one.columns[0] == own.columns), None)
    names = () if listed is None else listed.columns[1:]
    others = [next(one.matrix for one in attributes if one.columns == some) for some in names]
    unlisted = [one.matrix for one in attributes if one is not own and one.columns not in names]
    rows = found.sizes[group]
    return inferred(own.prior or (), own.parts(column), own.matrix, (listed, others), unlisted, rows)


def _read_listed(found: Drawn) -> None:
    """Read the combinations that the certificate lists, and note what is wrong with them."""
    for group, rows in found.sizes.items():
        attributes = found.mechanism.groups[group]
        sizes = {one.columns: math.prod(map(len, one.values)) for one in attributes}
        read = read_listed(found.mechanism.together[group], sizes, rows)
        if isinstance(read, str):
            found.problems.append(Problem("mechanism.together", f"{read}."))
            return
        found.listed[group] = read
        for listed in read:
            own = next(one for one in attributes if one.columns == listed.columns[0])
            if own.prior is None or not own.own_prior:
                found.problems.append(Problem("mechanism.together", "lists combinations of a column without a prior."))
            elif _exceeds(listed, own.prior, rows, _prior_of_policy(found.policy, own.columns)):
                what = "lists more records with a value than its prior allows."
                found.problems.append(Problem("mechanism.together", what))


def _prior_of_policy(policy: Policy, columns: Sequence[str]) -> bool:
    return any(getattr(spec, "prior", None) and getattr(spec, "column", None) in columns for spec in policy.require)


def _exceeds(listed: Listed, prior: Sequence[float], rows: int, of_policy: bool) -> bool:
    """Return whether combinations have more of a value than its prior, which is rounded or the policy's."""
    shares = [0.0] * len(prior)
    for places, records in zip(listed.places, listed.records, strict=True):
        shares[places[0]] += records / rows
    off = PRIOR_NEAR if of_policy else 0.0
    return any(one > share * (1 + ROUNDED) + off + TOLERANCE for one, share in zip(shares, prior, strict=True))


def _compare_listed(reader: _Reader, found: Drawn) -> None:
    """Note columns that show values together more or less often than the listed combinations lead to.

    All columns of a list are compared together, and every two of them: pairs show more.
    """
    for columns in sorted({listed.columns for some in found.listed.values() for listed in some}):
        odd = 0
        tallies = reader.tally([name for some in columns for name in some])
        for group, shown in tallies.items():
            listed = next((one for one in found.listed.get(group or 0, []) if one.columns == columns), None)
            if listed is not None:
                odd += _odd_combinations(found, group or 0, listed, shown)
        if odd:
            where = " and ".join(name for some in columns for name in some)
            what = f"show {odd:,} combinations more or less often than those that the certificate lists lead to."
            found.problems.append(Problem(f"columns '{where}'", what))


def _odd_combinations(found: Drawn, group: int, listed: Listed, shown: Counter[tuple[Any, ...]]) -> int:
    """Count the combinations of a stratum that are shown more or less often than is believable."""
    attributes = [next(one for one in found.mechanism.groups[group] if one.columns == some) for some in listed.columns]
    own, rows = attributes[0], found.sizes[group]
    widths = [math.prod(map(len, one.values)) for one in attributes]
    seen = np.zeros(widths)
    for cells, n in shown.items():
        place, start = [], 0
        for one in attributes:
            place.append(one.place(cells[start : start + len(one.columns)]) or 0)
            start += len(one.columns)
        seen[tuple(place)] += n
    off = PRIOR_NEAR if _prior_of_policy(found.policy, own.columns) else 0.0
    axes = range(len(widths))
    tests = sorted({tuple(axes), *combinations(axes, 2)})
    compared = sum(math.prod(widths[axis] for axis in kept) + 1 for kept in tests)
    certainty = max(CERTAINTY, math.log(2 * compared * len(found.sizes) / ALARMS))
    odd = 0
    for kept in tests:
        matrices = [attributes[axis].matrix for axis in kept]
        least, most = ends(listed, kept, matrices, own.prior or (), rows, (ROUNDED, off))
        there = seen.sum(axis=tuple(axis for axis in axes if axis not in kept))
        odd += _off_by_chance(there, least, most, rows, certainty)
    return odd


def _off_by_chance(there: Any, least: Any, most: Any, rows: int, certainty: float) -> int:
    """Count what is outside of two means by more than chance explains: single counts, and all together.

    All together, the distances by their standard errors have a norm of at most sqrt(cells) in the mean. It is above
    that by more than t with a probability of exp(-t² / (2 (1 + 2 b sqrt(cells)) + 3 b t)), where b is the most that one
    record changes (T. Klein, E. Rio, 2005).
    """
    third = certainty / 3
    most = np.minimum(most, 1.0)

    def room(mean: Any) -> Any:
        return third + np.sqrt(third * third + 2 * certainty * rows * mean * (1 - mean))

    odd = int(np.count_nonzero((there < rows * least - room(least)) | (there > rows * most + room(most))))
    there, least, most = there[most > 0], least[most > 0], most[most > 0]
    distance = np.maximum(np.maximum(rows * least - there, there - rows * most), 0.0) / np.sqrt(rows * most)
    cells, step = len(most), 1 / math.sqrt(rows * float(most.min()))
    linear, constant = 3 * step * certainty, 2 * (1 + 2 * step * math.sqrt(cells)) * certainty
    limit = math.sqrt(cells) + (linear + math.sqrt(linear**2 + 4 * constant)) / 2
    return odd + int(float(np.linalg.norm(distance)) > limit)


def _by_place(told: Mapping[Any, float], values: Domain, spec: ColumnSpec) -> list[float] | None:
    """Return a prior of the policy, by value, in the order of the certificate; None if it is of other values."""
    known = [value for value in values.values if isinstance(value, str)] if merges(spec) else []
    spelled = {same: value for value, same in same_texts(known, spec).items()}

    def place(word: Any) -> int | None:
        if word in ("", None):
            return values.place(None)
        found = values.place(word)
        if found is not None or not known:
            return found
        same = same_texts([str(word)], spec)[str(word)]
        return values.place(None if same is None else spelled.get(same, word))

    shares = {place(value): share for value, share in told.items()}
    if None in shares or len(shares) < len(told) or len(shares) != len(values):
        return None
    return [shares[place] for place in range(len(values))]


def _near(one: Sequence[float], two: Sequence[float], off: float, in_proportion: float) -> bool:
    return all(abs(a - b) <= off + in_proportion * max(a, b) for a, b in zip(one, two, strict=True))


# ---- the file


class _Reader:
    """Counts what the columns of a release show."""

    def __init__(self, connection: Any, release: Release, source: str, mechanism: Mechanism) -> None:
        self.connection, self.release, self.source = connection, release, source
        self.mechanism = mechanism

    def outside(self, found: Drawn) -> None:
        """Collect values outside the domain, and strata without a mechanism."""
        for name, domain in self.mechanism.domains.items():
            cells, counts = self._read([name], {name: domain})
            strange = [n for cell, n in zip(cells, counts, strict=True) if domain.place(cell[0]) is None]
            if strange:
                what = (
                    f"shows {len(strange):,} values, in {sum(strange):,} records, that the certificate does not list."
                )
                found.problems.append(Problem(f"column '{name}'", what))
        if not found.problems and None in self.tally(()):
            what = "does not have all strata of the release."
            found.problems.append(Problem("mechanism.strata.cells", what))

    def tally(self, columns: Sequence[str]) -> dict[int | None, Counter[tuple[Any, ...]]]:
        """Return the value counts of the columns in each stratum; None is the stratum without a mechanism."""
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
                raise DataError(Problem(f"column '{name}'", "holds lists, not single values."))
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
    """Return cells as numbers if the domain has numbers, otherwise as their released text."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if numbers and (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return [None if value != value else value for value in values.to_pylist()]  # not a number: missing
    cells: list[Any] = as_text(values, kind).to_pylist()
    return cells


# ---- the released cells, compared with the mechanism in the certificate


class _ValueCount(NamedTuple):
    """How often a value is shown, and how often it may be: between two means, or at one; each with its variance.

    ``rounded`` is the largest error of the mean by the prior, which was published with few digits.
    """

    seen: float
    low: float
    low_variance: float
    high: float
    high_variance: float
    mean: float
    variance: float
    rounded: float

    def plus(self, other: _ValueCount) -> _ValueCount:
        """Add what another stratum shows, which was drawn independently."""
        return _ValueCount._make(map(add, self, other))


def _compare(reader: _Reader, found: Drawn) -> None:
    """Note attributes that show values more or less often than their matrix, and their prior, lead to."""
    columns = {attribute.columns for attributes in found.mechanism.groups for attribute in attributes}
    certainty = _certainty(found)
    for names in sorted(columns):
        off: Counter[str] = Counter()
        attributes: list[Attribute] = []
        together: dict[int, _ValueCount] = {}
        for group, shown in reader.tally(names).items():
            attribute = next((one for one in found.mechanism.groups[group or 0] if one.columns == names), None)
            if attribute is None:
                continue  # drawn otherwise in this stratum
            counts = [0] * math.prod(map(len, attribute.values))
            for cells, n in shown.items():
                place = attribute.place(cells)
                if place is None:
                    off["that do not occur in their stratum"] += 1
                else:
                    counts[place] += n
            there = _led_to(attribute, counts)
            off.update(_unlikely(there, attribute.prior is not None and attribute.own_prior, certainty))
            attributes.append(attribute)
            for place, one in zip(attribute.among(found.mechanism.domains), there, strict=True):
                together[place] = together[place].plus(one) if place in together else one
        if found.mechanism.strata and not off:
            off.update(_unlikely(list(together.values()), _lead_to_the_sum(found, attributes), certainty))
        for what, number in off.items():
            where = " and ".join(names)
            found.problems.append(Problem(f"column '{where}'", f"shows {number:,} values {what}."))


def _compare_pairs(reader: _Reader, found: Drawn) -> None:
    """Note pairs of attributes that show two values together more or less often than their matrices allow."""
    names = sorted({attribute.columns for attributes in found.mechanism.groups for attribute in attributes})
    pairs = list(combinations(names, 2))[:MOST_PAIRS]
    certainty = math.log(2 * MOST_PAIRS * MOST_CELLS * max(len(found.sizes), 1) / ALARMS)
    for one, other in pairs:
        odd = 0
        for group, shown in reader.tally((*one, *other)).items():
            both = [
                next((each for each in found.mechanism.groups[group or 0] if each.columns == columns), None)
                for columns in (one, other)
            ]
            if both[0] is not None and both[1] is not None:
                odd += _odd_cells(both[0], both[1], shown, certainty)
        if odd:
            where = " and ".join((*one, *other))
            what = f"show {odd:,} combinations more or less often than the matrices of the certificate allow."
            found.problems.append(Problem(f"columns '{where}'", what))


def _odd_cells(one: Attribute, other: Attribute, shown: Counter[tuple[Any, ...]], certainty: float) -> int:
    """Count combinations of two attributes that are shown more or less often than is believable, in one stratum."""
    first, second = one.matrix.spans(), other.matrix.spans()
    if len(first) * len(second) > MOST_CELLS:
        return 0
    counts: Counter[tuple[int | None, int | None]] = Counter()
    for cells, n in shown.items():
        counts[one.place(cells[: len(one.columns)]), other.place(cells[len(one.columns) :])] += n
    rows, odd = shown.total(), 0
    for a, (low_a, high_a) in enumerate(first):
        for b, (low_b, high_b) in enumerate(second):
            low, high, seen = low_a * low_b, high_a * high_b, counts[a, b]
            odd += seen < rows * low - _room(rows * low * (1 - low), certainty) or seen > rows * high + _room(
                rows * high * (1 - high), certainty
            )
    return odd


def _lead_to_the_sum(found: Drawn, attributes: Sequence[Attribute]) -> bool:
    """Return whether the priors imply the counts over all strata.

    Priors of strata do. That of the whole column implies nothing in one stratum, and the sum only if all strata use the
    same matrix.
    """
    if any(attribute.prior is None for attribute in attributes):
        return False
    if all(attribute.own_prior for attribute in attributes):
        return True
    return len(attributes) == len(found.sizes) and all(
        not one.own_prior and one.alike(attributes[0]) for one in attributes
    )


def _led_to(attribute: Attribute, counts: Sequence[int]) -> list[_ValueCount]:
    """Return what matrix and prior lead to in a stratum with these counts."""
    rows, spans, nothing = sum(counts), attribute.matrix.spans(), [0.0] * len(counts)
    means, variances, rounded = nothing, nothing, nothing
    if attribute.prior is not None:
        means, variances = attribute.matrix.shown(attribute.prior), attribute.matrix.variances(attribute.prior)
        rounded = [ROUNDED * (mean - low) for mean, (low, _) in zip(means, spans, strict=True)]
    return [
        _ValueCount(
            seen,
            rows * low,
            rows * low * (1 - low),
            rows * high,
            rows * high * (1 - high),
            rows * mean,
            rows * variance,
            rows * off,
        )
        for seen, (low, high), mean, variance, off in zip(counts, spans, means, variances, rounded, strict=True)
    ]


def _unlikely(shown: Sequence[_ValueCount], by_prior: bool, certainty: float) -> Iterator[str]:
    """Return, for each value with an implausible count, the reason."""
    for one in shown:
        if one.seen and not one.high:
            yield "that the matrix of the certificate never shows"
        elif one.seen < one.low - _room(one.low_variance, certainty) or one.seen > one.high + _room(
            one.high_variance, certainty
        ):
            yield "more or less often than the matrix of the certificate allows"
        elif by_prior and abs(one.seen - one.mean) > _room(one.variance, certainty) + one.rounded:
            yield "not as often as the prior and the matrix of the certificate lead to"


def _certainty(found: Drawn) -> float:
    """Return how unlikely a count has to be so that hardly any true release is refused: each has many of them."""
    sizes = [math.prod(map(len, one.values)) for _, attributes in found.groups() for one in attributes]
    # each value is looked at in its stratum and in all together, from both sides, by its matrix and by its prior
    looks = 2 * 4 * sum(sizes)
    return max(CERTAINTY, math.log(looks / ALARMS))


def _room(variance: float, certainty: float) -> float:
    """Return how far a sum of independent draws may be off."""
    third = certainty / 3
    return third + math.sqrt(third * third + 2 * certainty * max(variance, 0.0))
