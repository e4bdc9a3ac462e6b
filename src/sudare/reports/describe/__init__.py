"""Describing a release beside its data, in plain figures that may be shown to anybody.

Whatever leaves this room is blurred already: no count of fewer records than the policy's threshold, no value that fewer
share, no smallest and no largest number. So nobody who draws a picture of it can give anything away.
"""

from sudare.reports.describe.figures import describe

__all__ = ["describe"]
