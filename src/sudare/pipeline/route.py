"""The route of a request: who makes the release, by where its rows are."""

from __future__ import annotations

from sudare.pipeline.database import make_in_database, stays_in_database
from sudare.pipeline.key_changes import check_keys
from sudare.pipeline.local import make_locally
from sudare.pipeline.request import Request, Result
from sudare.pipeline.request_checks import check_layout


def make(request: Request) -> Result:
    """Make, prove and place a release where its rows are."""
    check_keys(request)
    check_layout(None if request.spark else request.target, request.policy)
    if request.spark:
        from sudare.pipeline.spark.spark_release import make_on_spark

        return make_on_spark(request)
    return make_in_database(request) if stays_in_database(request) else make_locally(request)
