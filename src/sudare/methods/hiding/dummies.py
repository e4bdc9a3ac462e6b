"""Dummies: a sensitive cell becomes a set of l values with the true one among them; all else is unchanged.

Steps
    1. The domain S of a sensitive column is the values that it has; with ``missing: value`` a missing cell is one more.
    2. For each record l - 1 other values are drawn from S, without replacement: all equally likely, or (``frequencies:
       observed``) so that a set of them is as likely as the product of their frequencies in the column.
    3. The record shows the true value and these, in the order of S: the place of a value tells nothing.
    4. If it is said who records are about, the records of a person with several of them show the same set for the same
       value, and for others the same or one without a common value, all drawn at random
       (:mod:`sudare.kernels.hiding.partitions`). Only the sets of a person who has more different values than fit
       into sets without common ones (more than l * floor(|S| / l)) overlap.

Cost
    Linear in the records, whatever their values, with one or two random words per record for some ten dummies; with
    ``observed`` two for each value. Records are drawn in blocks when they are written. The sets of people with several
    records are drawn at once, and held.

Guarantee
    Each record shows l different values, the truth among them. So in any group of records, by whatever columns, no
    value has more than 1/l of what is shown. Any l up to the number of values is possible, however frequent one of them
    is. Nobody can draw the dummies again (see :mod:`sudare.core.randomness`).

    What an intruder believes of the values of a set is in proportion to how likely they were before, times a factor:

    - ``uniform``: the factor is the same for all values. So a frequent value stays more likely than the others of its
      set, as in any class that is l-diverse by the number of its values alone.
    - ``observed``: frequent values are dummies so much more often that this nearly makes up for it, and beliefs are
      near 1/l each, unless a value has more than 1/l of all records by itself: it then stays above that. With 50 values
      by Zipf's law (the first has 22% of the records) and l = 10, the likeliest value of a set has a belief of 0.45 on
      average under ``uniform``, and 0.8 at most; under ``observed`` 0.25 on average, and 0.33 at most. The price is
      that less can be learnt of frequent values, which now stand in most sets: shares estimated by maximum likelihood
      had 2.6 times the mean squared error with 1,000 records and 1.7 times with 10,000. For the five most frequent
      values it was 11 and 6 times, for all others 1.3 and 1.1 times. The frequencies, to three digits, are part of the
      release.

    Not promised: records can be re-identified as before, since the quasi-identifiers are as they were. A second release
    of the same records tells more, as what two sets of a record have in common is hardly more than the truth; so does a
    table that has several records of a person and does not say so. The sets of a person tell nothing about which of
    their values are true: with all values equally likely before, each value of each set is believed 1/l, whatever sets
    are compared, since the probability of what is shown is the same whichever values of the sets are the true ones.
    (This is exact for any |S| and l; a test enumerates small ones. Had the values that are left over where l does not
    divide |S| a set together with some of another, comparing both would lead to beliefs of 3/4 with |S| = 5, l = 2 and
    two records, and to more with more.) Whoever knows the value of one record of a person learns little about those of
    others, unless the person has more different values than fit: then all of them. Equal sets may link the records of a
    person. Each column is drawn on its own: where one tells about another, or any released column about it, both
    together tell more. With l = |S| nothing can be learnt at all.

Deviations
    The paper knows one sensitive column; here each is drawn on its own. It takes S as given, here it is what the column
    has. The drawing by frequency, and people with several records, are not in the paper.

Reference
    Journal of the Information Processing Society of Japan 56(5), 1377-1387, 2015: l-diversity without changes of the
    quasi-identifiers. Drawing by frequency is conditional Poisson sampling: Chen, Dempster, Liu: Weighted finite
    population sampling to maximize entropy. Biometrika 81(3), 1994.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import DataError, Problem
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.methods.class_counts import refuse_item_sets
from sudare.methods.hiding.hidden_column import domain, hidden_columns
from sudare.methods.random_columns import SetDraw
from sudare.models import Requirements
from sudare.table import Column, Perturbation, Table

REPEATED = (
    "Some people have several records, whose sets are one draw. Equal sets may link these records. Intervals of "
    "estimates are too narrow, because they treat records as independent."
)
TOGETHER = "Each sensitive column is drawn separately: sets of related columns together reveal more than each alone."
DIGITS = 3
"""Significant digits of the published frequencies."""


def dummies(
    table: Table,
    requirements: Requirements,
    *,
    frequencies: Literal["uniform", "observed"] = "uniform",
    missing: Literal["value", "error"] = "value",
    seed: int | None = None,
    progress: Listener | None = None,
) -> Perturbation:
    """Hide each sensitive value among l - 1 others, drawn at random (see the module's description).

    ``frequencies`` says how likely a value is to be a dummy, ``missing`` whether a missing cell is a value like others.
    """
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    refuse_item_sets(table)
    widths = hidden_columns(table, requirements, "dummies")
    if missing == "error":
        _refuse_missing([table.sensitive[name] for name in widths])
    listener("decide", 0.0, 1.0)
    entropy = Entropy(seed)
    draws, told, notes = {}, {}, []
    for done, (name, width) in enumerate(widths.items(), 1):
        column = table.sensitive[name]
        weights = _weights(column) if frequencies == "observed" else None
        draws[name] = SetDraw(column, width, entropy, weights=weights, same=table.subject)
        told[name] = {"l": width, "values": domain(column), "frequencies": frequencies}
        if weights is not None:
            told[name]["weights"] = weights.tolist()
        if draws[name].repeats:
            told[name]["repeated"] = True
            notes.append(REPEATED)
        listener("decide", done / len(widths), 1.0)
    if len(draws) > 1:
        notes.append(TOGETHER)
    facts = {"columns": told, "randomness": entropy.source}
    return Perturbation(draws, facts | ({"notes": list(dict.fromkeys(notes))} if notes else {}))


def _refuse_missing(columns: list[Column]) -> None:
    problems = []
    for column in columns:
        count = int(np.count_nonzero(column.codes == column.missing_code)) if column.missing else 0
        if count:
            hint = "remove these records, or treat a missing cell as a value (missing: value)."
            problems.append(Problem(f"column '{column.name}'", f"is missing in {count:,} records.", hint))
    if problems:
        raise DataError(problems)


def _weights(column: Column) -> NDArray[np.float64]:
    """Return the frequency of each value, to a few digits; a value that no record has counts as if one had it."""
    counts = np.maximum(np.bincount(column.codes, minlength=column.size), 1)
    return np.array([float(f"{count / max(len(column), 1):.{DIGITS}g}") for count in counts.tolist()])
