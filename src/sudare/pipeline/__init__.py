"""From a request to a placed release.

There are three ways, which differ only in where rows are. Where rows come to us (``local``), they are encoded, decided
on, rendered and written to a target. Where they stay in their database (``database``), counts come up, the decision
goes down, and the database does the rest. On a cluster (``spark``), executors hold the rows.
"""

from sudare.pipeline.request import Request, Result, requirements_of
from sudare.pipeline.route import make

__all__ = ["Request", "Result", "make", "requirements_of"]
