"""Risk against a population that the table is a sample of: journalist and marketer risk, k-map, delta-presence.

An intruder who does not know who is in the table looks for anybody, in a register of the population. With f records in
a class of the table and F people of the population who fit it:

- **journalist risk** is 1/F; **marketer risk** is its mean over the records, the sum of f/F over classes / records;
- the table satisfies **k-map** for the smallest F;
- **delta-presence**: a person of the population is in the table with the probability f/F as far as the intruder can
  tell; the bounds are the smallest and the largest over the population. Where a person fits several classes of a
  release, as happens with local recoding, the probabilities are added up, to 1 at the most.

**With a population table**, F is counted. **With a sampling fraction pi**, F is unknown. Given f, it is taken to be
negative binomial (the number of people until f were drawn, each with the probability pi), so that the expected risk is
E[1/F | f], the integral of s^(f-1) pi / (pi + (1 - pi) s) over s from 0 to 1. For f = 1 this is -pi ln(pi) / (1 - pi).

References: El Emam, Dankar: JAMIA 15(5), 627-637 (2008). Sweeney: k-anonymity. IJUFKS 10(5), 557-570 (2002), for k-map.
Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases. SIGMOD 2007. Benedetti, Franconi:
Statistical and technological solutions for controlled data dissemination. Pre-proceedings of NTTS 1998, 225-232.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.risks.class_risk import THRESHOLDS, Classes, group_rows
from sudare.risks.nearest_classes import matching as match
from sudare.risks.released_codes import ReleasedCodes
from sudare.table import Column, ItemSets

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
COMPARED = 2e10
"""Pairs of a class and different people of the population that are compared at the most."""
FEWEST = 200
"""As many classes are compared in any case."""


@dataclass(frozen=True)
class Journalist:
    """Risk against a population; with a fraction alone the figures are expected ones, and ``presence`` is unknown.

    ``k_map`` is the smallest number of people who fit a record, ``unique`` counts the records that fit one person only.
    ``uncovered`` are records whose class has more records than the population has people: it does not hold all of
    the table, and so many people are counted as there are records. ``looked_at`` is the share of the records that
    figures rest on, where not all classes could be compared.
    """

    source: str
    population: float
    k_map: float
    largest_risk: float
    mean_risk: float
    above: dict[str, float]
    unique: int | None
    presence: tuple[float, float] | None
    uncovered: int = 0
    looked_at: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        bounds = None if self.presence is None else {"low": self.presence[0], "high": self.presence[1]}
        return dict(vars(self)) | {"presence": bounds}


def from_fraction(sizes: Ints, fraction: float) -> Journalist:
    """Return the expected risk of the classes of a sample."""
    found, counts = np.unique(sizes, return_counts=True)
    risk = expected_risk(found, fraction)
    records = found * counts
    total = max(int(records.sum()), 1)
    return Journalist(
        source="sampling fraction",
        population=float(records.sum() / fraction),
        k_map=float(found[0] / fraction) if len(found) else 0.0,
        largest_risk=float(risk.max(initial=0.0)),
        mean_risk=float((records * risk).sum() / total),
        above={name: float(records[risk > (1 + 1e-9) / k].sum() / total) for name, k in THRESHOLDS.items()},
        unique=None,
        presence=None,
    )


def expected_risk(sizes: Ints, fraction: float) -> Floats:
    """Return E[1/F | f] for class sizes f of a sample."""
    if fraction >= 1.0:
        return 1.0 / np.maximum(sizes, 1)
    rest = 1 - fraction
    nodes, weights = np.polynomial.legendre.leggauss(400)
    places, weights = (nodes + 1) / 2, weights / 2
    far, heavy = np.polynomial.laguerre.laggauss(40)
    result = np.empty(len(sizes), dtype=np.float64)
    for place, size in enumerate(sizes.tolist()):
        if size == 1:
            result[place] = -fraction * math.log(fraction) / rest
        elif size < 40:
            result[place] = (weights * places ** (size - 1) * fraction / (fraction + rest * places)).sum()
        else:  # s = exp(-t / f): smooth in t, and weighed by exp(-t)
            result[place] = (heavy * fraction / (fraction + rest * np.exp(-far / size))).sum() / size
    return result


def from_table(
    columns: Mapping[str, Column | ItemSets], population: Mapping[str, Column | ItemSets], rows: int, people: int
) -> Journalist:
    """Return the risk of the original table against a population, whose columns have the same codes."""
    both = _grouped_together(columns, population, rows, people)
    own = np.bincount(both.of_row[:rows], minlength=len(both.sizes))
    there = both.sizes - own
    presence = np.minimum(own[there > 0] / there[there > 0], 1.0)
    return _journalist(own[own > 0], there[own > 0], people, _bounds(presence))


def from_release(
    shown: ReleasedCodes,
    grouped: Classes,
    columns: Mapping[str, Column | ItemSets],
    population: Mapping[str, Column | ItemSets],
    people: int,
    generator: np.random.Generator,
) -> Journalist:
    """Return the risk of a release against a population; ``grouped`` are its classes by these columns."""
    names = list(columns)
    alike = _grouped_together({}, population, 0, people)
    first = np.zeros(len(alike.sizes), dtype=np.int64)
    first[alike.of_row] = np.arange(people)
    sizes = grouped.sizes
    most = max(FEWEST, int(COMPARED / max(len(first), 1)))
    only = None
    if len(sizes) > most:
        only = np.sort(generator.choice(len(sizes), most, replace=False))
    matching = match(shown, names, grouped, columns, only)
    weight = alike.sizes.astype(np.float64)
    there = np.rint(matching.weigh_classes(population, first, weight)).astype(np.int64)
    chosen = sizes if only is None else sizes[only]
    bounds = None
    if only is None:
        covered = np.maximum(there, chosen)
        bounds = _bounds(np.minimum(matching.weigh_people(population, first, chosen / covered), 1.0))
    found = _journalist(chosen, there, people, bounds)
    if only is None:
        return found
    return Journalist(**(vars(found) | {"looked_at": float(chosen.sum() / sizes.sum())}))


def _journalist(own: Ints, there: Ints, people: int, presence: tuple[float, float] | None) -> Journalist:
    """Return the risk of classes with ``own`` records each, which ``there`` people of the population fit."""
    fitting = np.maximum(there, own)
    total = max(int(own.sum()), 1)
    return Journalist(
        source="population table",
        population=float(people),
        k_map=float(fitting.min()) if len(own) else 0.0,
        largest_risk=float(1.0 / fitting.min()) if len(own) else 0.0,
        mean_risk=float((own / fitting).sum() / total) if len(own) else 0.0,
        above={name: float(own[fitting < k].sum() / total) for name, k in THRESHOLDS.items()},
        unique=int(own[fitting == 1].sum()),
        presence=presence,
        uncovered=int(own[there < own].sum()),
    )


def _bounds(presence: Floats) -> tuple[float, float] | None:
    return (float(presence.min()), float(presence.max())) if len(presence) else None


def _grouped_together(
    columns: Mapping[str, Column | ItemSets], population: Mapping[str, Column | ItemSets], rows: int, people: int
) -> Classes:
    """Group the records of two tables that agree; those of the first come first."""
    codes: list[NDArray[Any]] = []
    sizes: list[int] = []
    for name, other in population.items():
        mine = columns.get(name)
        found, size = row_codes([each for each in (mine, other) if each is not None])
        codes.append(found)
        sizes.append(size)
    return group_rows(codes, sizes, rows + people)


def row_codes(columns: Sequence[Column | ItemSets]) -> tuple[NDArray[Any], int]:
    """Return one number per record for a column, or for several of the same codes one after the other.

    Item sets have the same number where they are the same as a whole.
    """
    single = [column.codes for column in columns if isinstance(column, Column)]
    if single:
        return (single[0] if len(single) == 1 else np.concatenate(single)), max(column.size for column in columns)
    from sudare.kernels.class_rows import number_runs

    sets = [column for column in columns if isinstance(column, ItemSets)]
    offsets, at = [np.zeros(1, dtype=np.int64)], 0
    for column in sets:
        offsets.append(column.offsets[1:] + at)
        at += int(column.offsets[-1])
    items = sets[0].items if len(sets) == 1 else np.concatenate([column.items for column in sets])
    numbers = np.asarray(number_runs(np.concatenate(offsets), items))
    return numbers, int(numbers.max(initial=-1)) + 1
