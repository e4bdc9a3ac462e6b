"""Real engines for the tests: PostgreSQL and Spark are started by the tests themselves.

They need the Debian packages ``postgresql`` (no service of it need run) and ``default-jre-headless``. Without them
these tests are skipped, but not where the environment says CI=true: there they fail.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import warnings

import pytest

from .homes import PACKAGES, DuckHome, PostgresHome, Server, postgres_programs
from .spark_cluster import QUICK

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server; with xdist each process has one of its own."""
    programs = postgres_programs()
    if programs is None:
        reason = f"there is no PostgreSQL server to start (apt-get install {PACKAGES})"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    started = Server(programs)
    yield started
    started.stop()


@pytest.fixture
def duck_home(tmp_path):
    folder = tmp_path / "duckdb home"
    folder.mkdir()
    return DuckHome(folder)


@pytest.fixture
def postgres_home(server):
    made = PostgresHome(server, f"home_{next(_numbers)}")
    yield made
    made.drop()


HOMES = ("duckdb", "postgres")
FIXTURES = {"duckdb": "duck_home", "postgres": "postgres_home"}


@pytest.fixture(params=HOMES)
def home(request):
    """An empty database, of each kind in turn."""
    return request.getfixturevalue(FIXTURES[request.param])


@pytest.fixture
def given_database(home):
    """The database as sudare's engine has it, in a transaction that is undone after the test."""
    from sudare.engines import find_place, open_database

    with open_database(find_place(home.address("any"))) as database:
        yield database


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session of Spark, one for all tests of a process: it takes some ten seconds to start."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        reason = "Spark needs Java, which is not installed (apt-get install default-jre-headless)"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    pytest.importorskip("pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2, 4]")  # a task that is lost is tried again
            .appName("sudare tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.log.level", "OFF")
            .config("spark.driver.extraJavaOptions", QUICK)
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
    yield session
    session.stop()


@pytest.fixture
def in_pieces(monkeypatch):
    """Cut small tables as if they were large."""
    from sudare.pipeline.spark import spark_audit as proving
    from sudare.pipeline.spark import spark_release as spread

    monkeypatch.setattr(spread, "SHARD", 600)
    monkeypatch.setattr(spread, "BUNDLE", 700)
    monkeypatch.setattr(proving, "BUCKET", 1000)
