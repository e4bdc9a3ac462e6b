"""The page on engines, and what the README says of them, against the code and real engines."""

import re
import shlex
from pathlib import Path

import pytest

from sudare.engines import find_place
from sudare.pipeline import engine_support

ROOT = Path(__file__).parents[2]


def test_the_table_of_what_runs_where_is_that_of_the_code():
    assert engine_support.table() in (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")


def readme_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = text.partition("## Where the data lives")[2].partition("\n## ")[0]
    return [shlex.split(line.strip()) for line in part.splitlines() if line.startswith("    sudare ")]


def test_the_readme_shows_the_same_policy_on_a_file_on_postgresql_and_on_spark():
    commands = readme_commands()
    assert [command[:2] for command in commands] == [["sudare", "anonymize"]] * 3
    assert len({command[command.index("--policy") + 1] for command in commands}) == 1
    places = [find_place(command[2]) for command in commands]
    assert [place and place.engine for place in places] == [None, "postgres", None]
    assert commands[2][-2:] == ["--engine", "spark"]


@pytest.mark.parametrize("word", ["postgresql://", "--engine spark", "duckdb"])
def test_the_page_speaks_of(word):
    assert re.search(re.escape(word), (ROOT / "docs" / "engines.md").read_text(encoding="utf-8"))
