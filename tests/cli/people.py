"""A small table of people whose values would be noticed anywhere, and ways to run the command line on it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sudare.cli import app

COLUMNS = ("name", "age", "zip", "job", "disease")
ROWS = (
    ("Qanna Zweighaupt", 34, "90411", "qnurse", "xpox"),
    ("Qbodo Lindqvist", 36, "90412", "qnurse", "xcold"),
    ("Qcyra Ruxworthy", 41, "90499", "qcook", "xpox"),
    ("Qdora Vannemar", 47, "80411", "qcook", "xulcer"),
    ("Qedda Nollekens", 29, "80412", "qjudge", "xcold"),
    ("Qfynn Holmqvist", 31, "80413", "qjudge", "xpox"),
)
SECRETS = tuple({str(cell) for row in ROWS for cell in row if not isinstance(cell, int)})
POLICY: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric"},
        "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"prefix": [5, 3, 2]}},
        "job": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 2}],
}


def text(
    rows: Iterable[Sequence[Any]] = ROWS, columns: Sequence[str] = COLUMNS, delimiter: str = ",", end: str = "\n"
) -> str:
    """Return a CSV file."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([columns, *rows])
    return file.getvalue()


def with_cell(column: str, cell: Any, rows: Sequence[Sequence[Any]] = ROWS) -> list[list[Any]]:
    """Return the rows with another cell in the first of them."""
    changed = [list(row) for row in rows]
    changed[0][COLUMNS.index(column)] = cell
    return changed


def policy(columns: Mapping[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """Return the policy with some parts replaced, and some columns added or replaced.

    Methods that leave quasi-identifiers as they are get them without kinds and hierarchies, which would be errors.
    """
    if parts.get("method", {}).get("name") in ("dummies", "anatomy"):
        columns = {name: {"role": spec["role"]} for name, spec in POLICY["columns"].items()} | dict(columns or {})
    return {**POLICY, **parts, "columns": {**POLICY["columns"], **(columns or {})}}


class Place:
    """A folder with a table and a policy, and an empty folder ``out`` for the release."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.out.mkdir()
        self.secrets = list(SECRETS)

    def data(self, content: str | bytes | None = None, name: str = "people.csv") -> Path:
        """Write the table."""
        path = self.folder / name
        content = text() if content is None else content
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def policy(self, content: Any = None, name: str = "policy.json") -> Path:
        """Write the policy, from a mapping or as it is given."""
        path = self.folder / name
        content = POLICY if content is None else content
        content = json.dumps(content) if isinstance(content, Mapping) else content
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, *arguments: Any) -> Any:
        """Run the command line in this process; whatever it says must hold no secret and no traceback."""
        result = run(*arguments)
        self.check_said(result.output)
        return result

    def anonymize(self, data: Path, policy: Path, *more: str, out: str = "release.csv") -> Any:
        """Make a release in ``out``."""
        return self.run("anonymize", data, "--policy", policy, "--out", self.out / out, *more)

    def check_said(self, said: str) -> None:
        """Fail if a message tells something of a person, or more than a message should."""
        by_chance = re.sub(r'[0-9a-f]{64}|"seconds": \{[^}]*\}', "", said)  # digests and times may hold any digits
        assert not [secret for secret in self.secrets if secret in by_chance]
        assert "Traceback" not in said
        assert "unexpected" not in said, said

    def refused(
        self, content: Any = None, rules: Any = None, *more: str, code: int = 2, name: str = "people.csv", **others: Any
    ) -> str:
        """Run on bad input; return the one message, after making sure that nothing was left behind."""
        data = content if isinstance(content, Path) else self.data(content, name)
        given = rules if isinstance(rules, Path) else self.policy(rules, others.pop("policy_name", "policy.json"))
        before = sorted(self.folder.rglob("*"))
        result = self.anonymize(data, given, *more, **others)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("sudare: ")
        assert result.stderr.count("sudare: ") == 1
        assert sorted(self.folder.rglob("*")) == before
        return str(result.stderr)

    def released(
        self, content: Any = None, rules: Any = None, *, name: str = "people.csv", out: str = "release.csv"
    ) -> Path:
        """Run on good input; return where the release is."""
        data = content if isinstance(content, Path) else self.data(content, name)
        result = self.anonymize(data, self.policy(rules), out=out)
        assert result.exit_code == 0, result.output
        assert sorted(path.name for path in self.out.iterdir()) == [out, f"{out}.sudare.json"]
        return self.out / out


def read(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """Read a release as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def run(*arguments: Any) -> Any:
    """Run the command line in this process, which saves the start of another."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def command(
    *arguments: Any, preexec: Callable[[], None] | None = None, decode: str | None = None, **environment: str
) -> Any:
    """Run the real command to its end; ``decode``: what it says is in this encoding."""
    return subprocess.run(
        line(*arguments),
        capture_output=True,
        text=True,
        encoding=decode,
        timeout=600,
        env={**os.environ, **environment},
        preexec_fn=preexec,
        check=False,
    )


def line(*arguments: Any) -> list[str]:
    """Return the command line of the real command."""
    return [str(Path(sys.executable).with_name("sudare")), *map(str, arguments)]
