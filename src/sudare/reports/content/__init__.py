"""What the cells of a release show: identifiers that are found by how they are written, in every cell of every column.

Names of columns say little about what is in them, so they never decide that something is absent. What is found here
follows from the release alone, so the numbers of records are exact.
"""

from sudare.reports.content.content_scan import scan

__all__ = ["scan"]
