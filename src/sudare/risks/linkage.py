"""The linkage attack: an intruder knows some columns of a person, and looks for that person's record in the release.

The records that may be the person's are those whose cells allow everything that is known: an interval with the person's
value in it, a set or a label that it belongs to, item sets that show only items which the person holds. The intruder
takes one of them, each with the same chance. So the attack is right with the probability 1 / (number of such records)
if the person's record is among them, which is always so unless it was suppressed. (An outsider cannot see who was
suppressed: people with some such record count as if they were in the release, so the figure is rather too high.)

Where it is known who records are about, the intruder takes one of the *people* whose records fit: several records of
one person, all alike, do not hide that person. What is said of records here is then true of people. A release that does
not say so leaves a record to be taken, and each of the person's own is right.

The baseline is a guess among all records of the release. With k-anonymity by all known columns at least k records fit
every person who is in the release, so that success is 1/k at the most.

Two criteria of WP216 are measured by it: a person is *singled out* if exactly one released record fits; records are
*linkable* as far as the guess succeeds above the baseline.

Reference: Article 29 Data Protection Working Party: Opinion 05/2014 on anonymisation techniques (WP216).
Domingo-Ferrer, Torra: Disclosure risk assessment in statistical microdata protection via advanced record linkage.
Statistics and Computing 13, 343-354 (2003).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.risks.class_risk import Classes, people_by_class
from sudare.risks.intervals import Success, success

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Linkage:
    """What an intruder achieves: the expected share of right matches, and the share of people singled out.

    ``matches`` is the mean number of records that fit a person, ``unmatched`` the number of people whom none fits.
    """

    linked: Success
    singled_out: Success
    matches: float
    unmatched: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types that JSON has."""
        return asdict(self)


def link(fitting: Floats, records: int, own: Floats | None = None, baseline: float | None = None) -> Linkage:
    """Judge the attack from the number of released records (or people), of ``records`` in all, that fit each person.

    ``own`` is how many of the fitting records are the person's, one unless it is given; ``baseline`` the chance of a
    guess among all records to be right.
    """
    people = len(fitting)
    some = fitting > 0.5
    own = np.ones(people) if own is None else np.minimum(own, fitting)
    right = np.zeros(people)
    right[some] = own[some] / fitting[some]
    share = float(right.mean()) if people else 0.0
    alone = float(np.mean(some & (fitting - own < 0.5))) if people else 0.0
    usual = (1.0 / records if records else 0.0) if baseline is None else baseline
    return Linkage(
        linked=success(share, usual, people, known=True),
        # without a release nobody is singled out
        singled_out=success(alone, 0.0, people, known=True),
        matches=float(fitting.mean()) if people else 0.0,
        unmatched=int(np.count_nonzero(~some)),
    )


def link_as_it_is(classes: Classes, people: Ints, subjects: NDArray[np.integer[Any]] | None = None) -> Linkage:
    """Judge the attack on the original table: the records of a person's class match, or their people.

    ``people`` are the records of the attacked people, ``subjects`` the person of each record.
    """
    if subjects is None:
        return link(classes.own_size[people].astype(np.float64), len(classes.of_row))
    together = people_by_class(classes, subjects)
    return link(together[classes.of_row[people]].astype(np.float64), len(np.unique(subjects)))
