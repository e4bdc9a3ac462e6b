"""The description of a release and its data, in plain figures that anyone may see.

All figures from this room are already blurred: no count of fewer records than the policy's threshold, no value that
fewer share, no smallest and no largest number. So a picture of them is safe.
"""

from sudare.reports.describe.figures import describe

__all__ = ["describe"]
