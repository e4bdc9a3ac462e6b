"""The rooms of sudare: what is in each, and which others it may import.

This table is the only source. The test of imports reads it, and ``docs/inside.md`` shows it: run this file to write it
there anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[2] / "docs" / "inside.md"
BEGIN, END = "<!-- rooms: begin -->", "<!-- rooms: end -->"


class Room(NamedTuple):
    """A room: what is in it, and whom it may import besides itself."""

    purpose: str
    imports: str = ""

    @property
    def allowed(self) -> frozenset[str]:
        return frozenset(self.imports.split())


ROOMS = {
    "core": Room("errors, progress, randomness, memory, and limits on files that users name"),
    "kernels": Room("compiled loops on plain arrays, in folders that mirror `methods/`; the only room with numba"),
    "policy": Room("what the user asks for: the words of a policy, and everything that can be wrong with one", "core"),
    "table": Room("encoded columns, item sets, atoms, taxonomies, recodings and covers", "core kernels"),
    "hierarchies": Room(
        "trees of values: files, prefixes, bands of numbers, dates, and those that come with sudare",
        "core policy table",
    ),
    "models": Room("privacy models, one file each", "core table"),
    "metrics": Room("loss measures, one definition each", "table"),
    "methods": Room(
        "the registry of methods, their options, and a folder for each family", "core kernels metrics models table"
    ),
    "engines": Room("where rows live and are read: file formats, data frames, DuckDB, PostgreSQL, Spark", "core"),
    "transformations": Room(
        "what a policy has done to columns beside generalizing them: pseudonyms, shifted dates, limits, noise, swaps",
        "core kernels policy",
    ),
    "sources": Room(
        "the user's table, opened, transformed and encoded as the policy says",
        "core engines hierarchies models policy table transformations",
    ),
    "releases": Room(
        "rendering, writing, certificate, placing; and the way back: opening a release, reading its cells, also as "
        "numbers, plans",
        "core engines hierarchies kernels methods metrics policy sources table",
    ),
    "audits": Room("the independent proof: it shares no code with what it proves", "core policy"),
    "pipeline": Room(
        "from a request to a placed release: local, database, Spark; and the audit and calibration by request",
        "audits core engines hierarchies kernels methods metrics models policy releases sources table transformations",
    ),
    "estimates": Room("what an analyst can estimate from a release", "core kernels releases"),
    "risks": Room("how exposed people are, before and after a release", "core kernels policy releases sources table"),
    "comparisons": Room(
        "several methods and settings on one table",
        "core estimates kernels methods metrics models pipeline policy releases risks sources table",
    ),
    "reports": Room(
        "the report: `describe/` makes its figures, `content/` reads its cells, `svg/` draws its charts, `templates/` "
        "and `sections.py` show them",
        "core engines estimates hierarchies methods policy releases sources table",
    ),
    "drafts": Room("drafts of policies, from the columns of a table", "core hierarchies policy risks table"),
    "datasets": Room("sample data, and synthetic claims of any size", "core"),
    "api": Room(
        "the verbs: each checks its arguments and calls one room",
        "audits comparisons core drafts engines estimates hierarchies methods pipeline policy releases reports "
        "risks sources transformations",
    ),
    "sklearn": Room("releases in scikit-learn: a transformer", "api core engines policy releases"),
    "accessors": Room("released cells in pandas and Polars: the accessor `sudare`", "api core engines releases"),
    "cli": Room(
        "the command line, thin over `api`",
        "api comparisons core datasets drafts hierarchies policy releases reports",
    ),
}

FILES = ("api", "sklearn", "accessors")
"""Rooms that are a single file."""


def table() -> str:
    """Return the rooms as a table of Markdown."""
    lines = ["| room | what is in it | may import |", "|---|---|---|"]
    for name, room in ROOMS.items():
        shown = f"`{name}.py`" if name in FILES else f"`{name}/`"
        lines.append(f"| {shown} | {room.purpose} | {', '.join(sorted(room.allowed)) or 'nothing of ours'} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the text of a page with the table between its two marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
