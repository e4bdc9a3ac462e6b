"""The pipeline: from a request to a placed release.

There are three variants, which differ only in where the rows are. ``local`` reads the rows, encodes them, runs the
method, renders the release and writes it to a target. ``database`` leaves the rows in their database: it reads counts,
sends the decision back, and the database makes the release. ``spark`` leaves the rows on the executors of a cluster.
"""

from sudare.pipeline.request import Request, Result, requirements_of
from sudare.pipeline.route import make

__all__ = ["Request", "Result", "make", "requirements_of"]
