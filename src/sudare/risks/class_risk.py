"""Classes of equal records, and the risk that a record is recognised within its class.

With f the number of records in a record's class:

- **prosecutor risk**: an intruder who knows that a person is in the table, and what the columns say of that person,
  finds the class and guesses: 1/f is the chance to be right. Figures are the largest and the mean over records, and the
  share of records above some thresholds.
- **marketer risk**: an intruder who guesses for everybody is right in the mean of 1/f, which is classes / records.
- **sample uniques**: records with f = 1.

If the policy has a subject, the same figures are given per data subject: a person's risk is one over the people in the
class of a record, and the largest of this over all records of that person. (An intruder who knows several records of a
person can combine them; figures of classes do not show this.)

Reference: El Emam, Dankar: Protecting privacy using k-anonymity. JAMIA 15(5), 627-637 (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
THRESHOLDS = {"0.05": 20, "0.09": 11, "0.2": 5, "0.33": 3}
"""Usual thresholds of risk, and the size of classes below which a record is above them: 1/20, 1/11, 1/5, 1/3."""
SPAN = 1 << 63


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each record, numbered from 0, and how many records each class has."""

    of_row: NDArray[np.integer[Any]]
    sizes: Ints

    @property
    def own_size(self) -> Ints:
        """The size of each record's class."""
        return np.asarray(self.sizes[self.of_row])


@dataclass(frozen=True)
class Exposure:
    """How exposed units are, records or people: the largest and mean risk, the share above thresholds, the unique."""

    units: int
    classes: int
    smallest: int
    largest_risk: float
    mean_risk: float
    above: dict[str, float]
    unique: int
    unique_share: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return dict(vars(self))


def group_rows(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> Classes:
    """Group records that agree in all columns, whose codes are below ``sizes``; without columns all are one class."""
    from sudare.kernels.class_rows import count_classes, gather_keys

    key: NDArray[Any] = np.zeros(rows, dtype=np.uint64)
    span = 1
    of_row = np.zeros(rows, dtype=np.uint32)
    for codes, size in zip(columns, sizes, strict=True):
        if span * max(size, 1) >= SPAN:
            span = len(gather_keys(key, of_row))
            key = of_row.astype(np.uint64)
        key = key * np.uint64(max(size, 1)) + codes.astype(np.uint64, copy=False)
        span *= max(size, 1)
    count = len(gather_keys(key, of_row)) if rows else 0
    return Classes(of_row, np.asarray(count_classes(of_row, count)))


def exposure(classes: Classes) -> Exposure:
    """Return the prosecutor and marketer risk of records."""
    sizes = classes.sizes
    return _exposure(sizes, sizes, len(sizes))


def exposure_of_people(classes: Classes, people: NDArray[np.integer[Any]]) -> Exposure:
    """Return the risk of data subjects; ``people`` says who each record is about, by numbers from 0."""
    count = int(people.max()) + 1 if len(people) else 0
    first = _meetings(classes, people)
    in_class = np.bincount(classes.of_row[first], minlength=len(classes.sizes))
    fewest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(fewest, people[first], in_class[classes.of_row[first]])
    fewest = fewest[np.bincount(people[first], minlength=count) > 0]
    return _exposure(fewest, np.ones(len(fewest), dtype=np.int64), len(classes.sizes))


def people_by_class(classes: Classes, people: NDArray[np.integer[Any]], some: NDArray[np.bool_] | None = None) -> Ints:
    """Return how many people there are in each class, by all records or by ``some``."""
    if some is None:
        first = _meetings(classes, people)
        return np.bincount(classes.of_row[first], minlength=len(classes.sizes))
    part = Classes(classes.of_row[some], classes.sizes)
    return people_by_class(part, people[some])


def _meetings(classes: Classes, people: NDArray[np.integer[Any]]) -> Ints:
    """Return one record of each person in each of that person's classes."""
    count = int(people.max()) + 1 if len(people) else 0
    pairs = group_rows([classes.of_row, people], [len(classes.sizes), count], len(people))
    first = np.zeros(len(pairs.sizes), dtype=np.int64)
    first[pairs.of_row] = np.arange(len(people))
    return first


def _exposure(sizes: Ints, units: Ints, classes: int) -> Exposure:
    """Return the exposure of ``units[i]`` units each that are hidden among ``sizes[i]``."""
    total = int(units.sum())
    if not total:
        return Exposure(0, 0, 0, 0.0, 0.0, dict.fromkeys(THRESHOLDS, 0.0), 0, 0.0)
    unique = int(units[sizes == 1].sum())
    return Exposure(
        units=total,
        classes=classes,
        smallest=int(sizes.min()),
        largest_risk=float(1.0 / sizes.min()),
        mean_risk=float((units / sizes).sum() / total),
        above={name: float(units[sizes < least].sum() / total) for name, least in THRESHOLDS.items()},
        unique=unique,
        unique_share=unique / total,
    )
