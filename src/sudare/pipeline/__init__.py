"""Making a release: from a source and a decision to what is written, proven and in its place.

There are two ways. Where rows come to us (``rows``), they are encoded, decided on, rendered and written to a target.
Where they stay in their database (``pushed``), counts come up, the decision goes down, and the database does the rest.
"""

from sudare.pipeline.database import make_in_database, stays_in_database
from sudare.pipeline.local import make_from_rows
from sudare.pipeline.request import (
    Asked,
    Made,
    requirements_of,
)
from sudare.pipeline.targets import counted

__all__ = ["Asked", "Made", "counted", "make", "requirements_of"]


def make(asked: Asked) -> Made:
    """Make, prove and place a release, where its rows live if that can be."""
    if asked.spark:
        from sudare.pipeline.spark.cluster import make_on_spark

        return make_on_spark(asked)
    return make_in_database(asked) if stays_in_database(asked) else make_from_rows(asked)
