"""The published retention probability: few digits, which reveal hardly more than the published shares.

A calibrated p is a function of the shares of a column, and so steep that four of its digits may reveal a count of
32,561 records exactly. Rounding alone is therefore not enough. The published value is computed in two steps:

1. p is calibrated for the *published* shares, with three digits, and rounded down to :data:`DIGITS` digits. This is a
   function of what the certificate contains anyway.
2. If the exact shares would break the promise, p is lowered along :data:`RUNGS`, to the first that keeps it. This
   reveals only which of nine rungs it was: some three bits, for any number of records.

Less retention is safe, and what is used is tested again in any case.
"""

from __future__ import annotations

from decimal import Decimal

DIGITS = 4
"""Significant digits of published probabilities."""
RUNGS = (1.0, 0.99, 0.97, 0.93, 0.85, 0.7, 0.4, 0.1, 0.0)
"""By what p is multiplied, one after the other, until all promises are kept; with the last nothing is kept of values.

Each drop is about twice the one before. So no more is given up than about twice what was needed, and there are few.
"""


def cut(p: float, digits: int = DIGITS) -> float:
    """Return a probability rounded down to some significant digits: never above ``p`` itself."""
    # by its shortest spelling, so that 0.3 stays 0.3; what is cut of that cannot become a larger float
    exact = Decimal(repr(float(p)))
    if exact <= 0:
        return 0.0
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact // unit * unit)
