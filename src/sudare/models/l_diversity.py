"""l-diversity, in its four variants.

Definition: every group holds at least ``l`` well-represented values of the sensitive column. A missing value is
a value of its own. With the counts of a group's values in descending order r1, r2, ..., rm:

- ``distinct``: m >= l;
- ``entropy``: the entropy of the values is at least ln l (equivalently, its exponential is at least l);
- ``recursive``, (c, l): r1 < c * (r_l + ... + r_m); a group with fewer than l values fails.

The fourth variant is for item sets, of which a record holds one:

- ``frequency``: a group has at least l records, and at most 1/l of them hold any one item. So nobody infers an item of
  a person with a probability above 1/l from the group. Items that are ``harmless`` may be inferred. A missing set and
  an empty one hold no item: such records count, and nothing limits how many they are.

Reference: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity: privacy beyond
k-anonymity", ACM TKDD 1(1), 2007 (ICDE 2006). For item sets: G. Ghinita, Y. Tao, P. Kalnis, "On the anonymization of
sparse high-dimensional data", ICDE 2008 (where l is called the degree of privacy p).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import Problem
from sudare.models import parameters
from sudare.models.group_counts import Groups, Histograms
from sudare.models.segment_sums import TOLERANCE, maxima, shares, sums
from sudare.table import SetValues


@dataclass(frozen=True)
class LDiversity:
    """At least ``l`` well-represented sensitive values per group.

    Monotone: merging loses no value; entropy is concave, so that a mixture has at least the smaller of the two
    entropies; and the most frequent value of a union has at most the sum of both r1, while what is left
    after its l - 1 most frequent values is at least what is left in both parts together. For item sets: of two groups
    with n and m records, at most n / l and m / l hold an item, so of the union at most (n + m) / l do.
    Reference: Machanavajjhala et al. 2007.
    """

    name: ClassVar[str] = "l-diversity"
    scope: ClassVar[Literal["group", "column", "mechanism", "release"]] = "group"
    monotone: ClassVar[bool] = True
    depends_on_whole: ClassVar[bool] = False
    l: float  # noqa: E741 - the literature's letter
    column: str
    variant: Literal["distinct", "entropy", "recursive", "frequency"] = "distinct"
    c: float | None = None
    harmless: Sequence[str] | None = None

    def __post_init__(self) -> None:
        parameters.require(
            self._unfit_l(),
            parameters.column(f"{self.name}.column", self.column),
            parameters.word(f"{self.name}.variant", self.variant, ("distinct", "entropy", "recursive", "frequency")),
            self._unfit_c(),
            self._unfit_harmless(),
        )
        if self.harmless is not None:
            object.__setattr__(self, "harmless", tuple(self.harmless))

    @property
    def remedy(self) -> str:
        """What to ask for where a table cannot satisfy it, in this variant."""
        others = {"recursive": ", or a larger c", "frequency": ", or name items that may be inferred as harmless"}
        return f"require a possible l{others.get(self.variant, '')}."

    @property
    def least_rows(self) -> int:
        """A group with l values has l records; an entropy of ln l takes at least l values, too."""
        return math.ceil(self.l * math.exp(-TOLERANCE)) if self.variant == "entropy" else int(self.l)

    def measure(self, groups: Groups) -> NDArray[np.float64]:
        """Return per group the number of values, the exponential of their entropy, or r1 / (r_l + ... + r_m).

        For item sets it is the largest l that the group keeps.
        """
        histograms = groups.histograms[self.column]
        if self.variant == "frequency":
            return (groups.rows // np.maximum(self._most_held(histograms), 1)).astype(np.float64)
        if self.variant == "distinct":
            return np.diff(histograms.start).astype(np.float64)
        if self.variant == "entropy":
            effective: NDArray[np.float64] = np.exp(_entropy(histograms))
            return effective
        first, tail = _head_and_tail(histograms, int(self.l))
        ratio: NDArray[np.float64] = np.divide(first, tail, out=np.full(len(first), np.inf), where=tail > 0)
        return ratio

    def holds(self, groups: Groups) -> NDArray[np.bool_]:
        """Return which groups are diverse enough."""
        histograms = groups.histograms[self.column]
        if self.variant == "frequency":
            # whole numbers, so that nothing is lost to rounding
            return np.maximum(self._most_held(histograms), 1) * int(self.l) <= groups.rows
        if self.variant == "distinct":
            return np.diff(histograms.start) >= self.l
        if self.variant == "entropy":
            return _entropy(histograms) >= math.log(self.l) - TOLERANCE
        first, tail = _head_and_tail(histograms, int(self.l))
        return first < (self.c or 0.0) * tail - TOLERANCE

    def best_possible(self, whole: Groups) -> str:
        """Return how diverse the group of all records is, and so which l is possible."""
        histograms = whole.histograms[self.column]
        if self.variant == "frequency":
            return self._best_share(whole)
        values = int(np.diff(histograms.start).sum())
        found = f"column '{self.column}' has {values:,} different value{'s' if values != 1 else ''}"
        if values < 2:  # of which no variant makes anything
            return f"no l is possible, as {found}"
        if self.variant == "entropy":
            # rounded down, so that the message never shows the very number that was asked for
            figure = math.floor(100 * float(self.measure(whole)[0])) / 100
            return f"the entropy l of column '{self.column}' over the whole table is {figure:.2f}"
        if self.variant == "recursive":
            if values >= self.l:
                first, tail = (int(count[0]) for count in _head_and_tail(histograms, int(self.l)))
                found = (
                    f"in column '{self.column}' the most frequent value has {first:,} records, "
                    f"and those from number {int(self.l)} on have {tail:,} together"
                )
            most = self._largest_l(histograms)
            possible = f"the largest l possible with this c is {most:,}" if most else "with this c no l is possible"
            return f"{possible}: {found}"
        return found

    def _most_held(self, histograms: Histograms) -> NDArray[np.int64]:
        """Return how many records of each group hold the item that most of them hold, harmless ones aside."""
        sets = _sets(histograms)
        return sets.most_held(histograms.start, histograms.codes, histograms.counts, self._harmless)

    def _best_share(self, whole: Groups) -> str:
        """Return how many items are too frequent in all records, and which l is possible; no item is named."""
        histograms, rows = whole.histograms[self.column], int(whole.rows.sum())
        held = _sets(histograms).held(histograms.total, self._harmless)
        most = int(held.max(initial=0))
        if most * self.l <= rows:
            return f"the table has {rows:,} record{'s' if rows != 1 else ''}"
        # rounded up, so that the message never shows the very share that was asked for
        share = math.ceil(1000 * most / rows) / 10
        many = int(np.count_nonzero(held * int(self.l) > rows))
        possible = rows // most
        return (
            f"{f'the largest l possible is {possible:,}' if possible > 1 else 'no l is possible'}: in column "
            f"'{self.column}', {many:,} item{'s are' if many != 1 else ' is'} held by more than 1/{int(self.l)} of all "
            f"records, and the most frequent one by {share:.1f}%"
        )

    @property
    def _harmless(self) -> tuple[str, ...]:
        return tuple(self.harmless or ())

    def _largest_l(self, whole: Histograms) -> int:
        """Return the largest l that all records as one group satisfy with this c, 0 if there is none."""
        falling = np.sort(whole.counts)[::-1]
        tails = np.cumsum(falling[::-1])[::-1]  # of l - 1, the more of them the less is left
        enough = int(np.count_nonzero(falling[0] < (self.c or 0.0) * tails - TOLERANCE))
        return enough if enough > 1 else 0

    def _unfit_l(self) -> Problem | None:
        where = f"{self.name}.l"
        if self.variant == "entropy":
            return parameters.number(where, self.l, above=1)
        problem = parameters.number(where, self.l, least=2)
        if problem is None and self.l == int(self.l):
            return None
        return parameters.refusal(where, self.l, "a whole number of at least 2 (for entropy, any above 1)")

    def _unfit_c(self) -> Problem | None:
        where = f"{self.name}.c"
        if self.variant == "recursive":
            return parameters.number(where, self.c, above=0)
        return None if self.c is None else parameters.refusal(where, self.c, "nothing, unless variant is recursive")

    def _unfit_harmless(self) -> Problem | None:
        where = f"{self.name}.harmless"
        if self.harmless is None or self.variant == "frequency":
            return parameters.texts(where, self.harmless)
        return parameters.refusal(where, self.harmless, "nothing, unless variant is frequency")


def _sets(histograms: Histograms) -> SetValues:
    """Return the sets that the values of a column are."""
    assert histograms.column.sets is not None  # the policy was checked
    return histograms.column.sets


def _entropy(histograms: Histograms) -> NDArray[np.float64]:
    """Return the entropy of each group's values, in nats."""
    within, _ = shares(histograms)
    entropy: NDArray[np.float64] = -sums(within * np.log(within), histograms.start)
    return entropy


def _head_and_tail(histograms: Histograms, l: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: E741
    """Return r1 and r_l + ... + r_m of each group; the latter is 0 where there are fewer than l values."""
    start, counts = histograms.start, histograms.counts
    first = maxima(counts, start)
    if not len(counts):
        return first, first
    # Group and falling count packed into one number sort faster than two keys; groups and the largest count are
    # both bounded by the number of records, so that this fits below three billion of them.
    span = int(counts.max()) + 1
    owner = histograms.owner
    falling = span - 1 - np.sort(owner * span + (span - 1 - counts)) % span
    place = np.arange(len(counts)) - np.repeat(start[:-1], np.diff(start))
    return first, sums(np.where(place >= l - 1, falling, 0), start)
