"""Asked to stop at each line that makes or removes a private folder: the folder is gone afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

ASKED_AT_A_LINE = """
import contextlib, os, signal, sys, time
from pathlib import Path
import typer
from sudare.cli.runner import reporting, run
from sudare.core import private_folders
from sudare.releases.placement import private_folder

number, parent = int(sys.argv[1]), Path(sys.argv[2])
WATCHED = {private_folders.__file__, contextlib.__file__}
asked = []


def use():
    with reporting(False), private_folder(parent) as folder:
        (folder / "part").mkdir()
        (folder / "part" / "rows").write_text("x")
        if asked:
            time.sleep(0.05)  # a stop that was put off while the folder was made comes now


def one(line):
    # the child is asked to stop when it has come to this line, and says by its exit code whether it came so far
    passed = 0

    def watch(frame, event, argument):
        nonlocal passed
        if frame.f_code.co_filename not in WATCHED:
            return watch if event == "call" else None
        passed += event in ("line", "return")
        if passed == line:
            passed += 1
            asked.append(line)
            signal.getsignal(number)(number, frame)
        return watch

    def watched():
        sys.settrace(watch)
        try:
            use()
        except typer.Exit as ended:  # as typer does
            sys.exit(ended.exit_code)
        sys.settrace(None)
        os._exit(100 if passed < line else 0)

    run(watched)


stops, line = 0, 0
while True:
    line += 1
    child = os.fork()
    if child == 0:
        one(line)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = sorted(path.name for path in parent.iterdir())
    assert not left, (line, code, left)
    if code == 100:
        break
    assert code in (0, 128 + number), (line, code)
    stops += code != 0
print(line, stops)
"""
"""A command that uses a private folder, once for every line that it passes on the way."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_private_folder_never_stays(number, tmp_path):
    given = [sys.executable, "-c", ASKED_AT_A_LINE, str(int(number)), str(tmp_path)]
    ended = subprocess.run(given, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    lines, stops = map(int, ended.stdout.split())
    assert lines > 50
    assert stops > 20
    assert list(tmp_path.iterdir()) == []
