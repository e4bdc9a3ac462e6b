"""Sessions of Spark: the existing one, or a new one that reveals nothing about its data."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from contextlib import suppress
from typing import Any

from sudare.core.errors import DataError, MissingExtraError, Problem
from sudare.engines.spark.spark_errors import speaking

PATIENCE = 10.0
"""The seconds that a cluster has to answer when a session begins."""


def find_session(master: str | None) -> Any:
    """Return the session there is, or one at a master; raise if nothing answers at this address."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError(Problem("engine", "Spark is not installed.", "pip install pyspark")) from None
    with speaking("Spark"):
        active = SparkSession.getActiveSession()
        if active is not None and master is None:
            return active
        remote = (master or "").startswith("sc://")
        _check_answers(master or "")
        builder = SparkSession.builder
        if not remote:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            if (master or "local").startswith("local"):
                os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = builder.appName("sudare").config("spark.ui.showConsoleProgress", "false")
            builder = builder.config("spark.log.level", "OFF")  # what it logs of failures may quote cells
            builder = builder if master is None else builder.master(master)
        else:
            builder = builder.remote(master)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return builder.getOrCreate()


def _check_answers(master: str) -> None:
    """Raise if nothing answers where a cluster is said to be: Spark itself would go on trying for minutes."""
    kind, _, places = master.partition("://")
    if master and not master.startswith(("local", "spark://", "sc://", "yarn", "k8s://")):
        what = "is not an address of Spark."
        raise DataError(
            Problem("master", what, "use local[4], spark://host:7077, yarn, k8s://..., or sc://host:15002.")
        )
    if kind not in ("spark", "sc"):
        return
    hint = "is it running? A master looks like spark://host:7077, Spark Connect like sc://host:15002."
    for place in places.partition("/")[0].partition(";")[0].split(","):
        host, _, port = place.rpartition(":") if ":" in place else (place, "", "7077" if kind == "spark" else "15002")
        with suppress(OSError, ValueError, OverflowError):
            socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
            return
    raise DataError(Problem(master.partition(";")[0], "nothing answers at this address.", hint))
