"""What the pages and the examples show is run, and has to come out as shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from docs.pages import PAGES, ROOT, Block, blocks, commands, run_page

RUNNING = [page for page in PAGES if page.name not in ("CONTRIBUTING.md", "CHANGELOG.md")]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.name)
def test_what_a_page_shows_runs(page, tmp_path):
    shown = [block for block in blocks(page) if block.language == "python"]
    shown += [
        command for block in blocks(page) if block.language in ("console", "shell") for command in commands(block)
    ]
    assert run_page(page, tmp_path) == len(shown)


def test_the_pages_that_teach_have_something_to_run():
    for name in ("README.md", "docs/quickstart.md", "docs/policy.md", "docs/release.md", "docs/cli.md"):
        assert any(block.language == "python" or list(commands(block)) for block in blocks(ROOT / name)), name


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_prints(example, tmp_path):
    finished = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert finished.returncode == 0, finished.stderr
    assert len(finished.stdout.splitlines()) > 8
    assert not list(tmp_path.iterdir())


def test_there_are_examples():
    assert {path.name for path in EXAMPLES} >= {"adult.py", "patients.py", "audit_other_tool.py"}


def test_commands_of_a_console_block_are_told_apart():
    text = "$ sudare a \\\n  --b\nout 1\nout 2\n$ echo $?\n2\n$ head x\ny\n$ sudare c\n"
    found = list(commands(Block("console", "", text, 1, False)))
    assert [(command.text.split(), command.output, command.code) for command in found] == [
        (["sudare", "a", "--b"], "out 1\nout 2\n", 2),
        (["sudare", "c"], "", 0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```python\nraise SystemError\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```console\n$ sudare x\n```\n",
    ],
    ids=["an error", "another output", "another exit code"],
)
def test_a_page_that_does_not_run_is_noticed(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, SystemError)):
        run_page(page, tmp_path)
