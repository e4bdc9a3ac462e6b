"""Real databases for the tests of engines; a PostgreSQL server is started by the tests themselves.

It needs the programs of the Debian package ``postgresql`` (no service of it need run). Without them these tests are
skipped, but not where the environment says CI=true: there they fail.
"""

from __future__ import annotations

import itertools
import os

import pytest

from .homes import PACKAGES, DuckHome, PostgresHome, Server, postgres_programs

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
