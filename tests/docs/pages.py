"""Reading the pages: their code blocks, links and words, and running what they show.

What a block is follows from its language:

- ``python``: is executed; the blocks of a page share a namespace and a temporary folder;
- any block with ``title="NAME"``: is written to the file NAME in that folder;
- ``console`` and ``shell``: lines that begin with ``$ sudare`` are run there, by the real command on the pages that
  everybody begins with, and in this process on all others. The lines below one are what it has to print, and
  ``$ echo $?`` after it gives its exit code (0 if it is not shown);
- ``text`` straight below a ``python`` block: what that block has to print.

In expected output ``...`` stands for anything, and runs of blanks are equal, as in doctest.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sudare.cli import app

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]
BY_REAL_COMMAND = ("README.md", "quickstart.md")
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title, its text, the line it begins in, and if it touches the one before."""

    language: str
    title: str
    text: str
    line: int
    follows: bool


@dataclass(frozen=True)
class Command:
    """A command of a console block, what it has to print, and its exit code."""

    text: str
    output: str
    code: int


def blocks(page: Path) -> Iterator[Block]:
    """Give the fenced blocks of a page in their order."""
    text, end = page.read_text(encoding="utf-8"), 0
    for match in _FENCE.finditer(text):
        indent, info, body = match.groups()
        title = re.search(r'title="([^"]+)"', info)
        lines = [line.removeprefix(indent) for line in body.splitlines(keepends=True)]
        yield Block(
            language=info.split()[0] if info.split() else "",
            title=title[1] if title else "",
            text="".join(lines),
            line=text.count("\n", 0, match.start()) + 1,
            follows=not text[end : match.start()].strip(),
        )
        end = match.end()


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(block: Block) -> Iterator[Command]:
    """Give the commands of a console block that begin with ``sudare``."""
    text = block.text.replace("\\\n", " ")
    parts = [part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    for index, (line, _, output) in enumerate(parts):
        if line.startswith("sudare"):
            after = parts[index + 1] if index + 1 < len(parts) else ("", "", "")
            yield Command(line, output, int(after[2]) if after[0].strip() == "echo $?" else 0)


def run_page(page: Path, folder: Path) -> int:
    """Execute everything a page shows, inside a folder; return how many things were run."""
    space: dict[str, Any] = {"__name__": "__main__"}
    done, printed = 0, None
    with contextlib.chdir(folder):
        for block in blocks(page):
            where = f"{page.name}:{block.line}"
            if block.title:
                (folder / block.title).write_text(block.text, encoding="utf-8")
            if block.language == "python":
                printed = _execute(block, where, space)
                done += 1
            elif block.language == "text" and block.follows and printed is not None:
                _compare(block.text, printed, where)
                printed = None
            else:
                printed = None
            if block.language in ("console", "shell"):
                for command in commands(block):
                    _run(command, folder, where, real=page.name in BY_REAL_COMMAND)
                    done += 1
    return done


def _execute(block: Block, where: str, space: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, where, "exec"), space)
    return out.getvalue()


def _run(command: Command, folder: Path, where: str, *, real: bool) -> None:
    words = shlex.split(command.text, comments=True)
    code, printed = (_by_real_command if real else _in_this_process)(words, folder)
    said = f"{where}: $ {command.text}\n{printed}"
    assert code == command.code, said
    if command.output.strip():
        _compare(command.output, printed, said)


def _by_real_command(words: list[str], folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    finished = subprocess.run(
        words,
        cwd=folder,
        env=os.environ | {"PATH": path} | _PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return finished.returncode, finished.stdout


def _in_this_process(words: list[str], folder: Path) -> tuple[int, str]:
    assert words[0] == "sudare" and Path.cwd() == folder
    result = CliRunner().invoke(app, words[1:], env=_PLAIN, prog_name="sudare")
    return result.exit_code, result.output


def _compare(expected: str, got: str, where: str) -> None:
    assert doctest.OutputChecker().check_output(expected.strip() + "\n", got.strip() + "\n", _FLAGS), (
        f"{where}\n--- the page shows\n{expected}\n--- it printed\n{got}"
    )
