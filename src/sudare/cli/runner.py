"""The frame around each command: signals, errors as a message and an exit code, progress, output files."""

from __future__ import annotations

import codecs
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

from sudare.core.errors import SudareError, printable
from sudare.core.operating_system import ALARM, NEW_FILE, STOPS, name_problems, ring_again, ring_no_more


def run(command: Callable[[], Any]) -> NoReturn:
    """Run a command line to its end, and exit."""
    _show_every_letter()
    for number in (*STOPS, *ALARM):
        signal.signal(number, _terminate)
    try:
        command()
    except (SystemExit, KeyboardInterrupt) as ended:
        code = ended.code if isinstance(ended, SystemExit) and isinstance(ended.code, int) else 1
    else:
        code = 0
    for number in (*STOPS, *ALARM):
        signal.signal(number, signal.SIG_IGN)  # nothing is left that could be stopped
    if code and _received and not _told:  # before a command had begun; one that has succeeded was quicker
        code = 128 + _received[0]
        typer.echo(f"sudare: {_STOPPED}", err=True)
    # everything is written and closed; taking the compiled libraries down piece by piece would only take time
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


_STOPPED = "stopped; no unfinished files were left behind."
_received: list[int] = []
"""The signals to stop that this process received."""
_told: list[str] = []
"""The kinds of errors that were reported."""

_SOON = 0.02
"""The seconds after which a stop is tried again."""
_NOT_WITHIN = ("importlib", "llvmlite", "private_folders", "placement")
"""Parts of paths: whatever these files call must not be interrupted by an exception."""
_NOT_IN = "contextlib"
"""A part of a path: the code of this file itself must not be interrupted, but what it calls may be."""


def _show_every_letter() -> None:
    """Let letters that the output cannot encode be shown as JSON escapes them.

    On Windows the output has the old encoding of the country if it is not a terminal.
    """
    codecs.register_error("sudare", _as_escapes)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # somebody put something else in its place
            stream.reconfigure(errors="sudare")  # type: ignore[union-attr]


def _as_escapes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _terminate(number: int, frame: FrameType | None) -> None:
    """End in order, so that temporary files are removed.

    At some places the alarm clock rings again a little later instead:

    - In the middle of an import. An exception there may leave the interpreter's lock on imports taken for good, and
      other threads would wait for it.
    - While LLVM loads compiled code. It asks for the code by a call into Python that loses exceptions; the function
      would be left without code, and using it would end the process.
    - While a private folder is made or removed, and while a release is placed. Half removed, a folder would stay.
    - Where ``with`` enters or leaves a block. Between what a context manager did and the block, nobody would undo it.
    """
    if number not in ALARM:
        _received.append(number)
        sys.unraisablehook = lambda _: None  # what is lost on the way is raised again by the next step of progress
    within = frame is not None and _NOT_IN in frame.f_code.co_filename
    while frame is not None:
        if within or any(name in frame.f_code.co_filename for name in _NOT_WITHIN):
            ring_again(_SOON, number)
            return
        frame = frame.f_back
    _stop_if_asked()


def _stop_if_asked() -> None:
    if _received:
        ring_no_more()
        raise KeyboardInterrupt if _received[0] == signal.SIGINT else SystemExit(128 + _received[0])


def stop_was_heard() -> None:
    """Record that a command stopped on request, and still has a result."""
    if _received and _received[0] == signal.SIGINT:
        _received.clear()


def say(text: str, nl: bool = True, *, colour: str | None = None) -> None:
    """Print a result, on a terminal in a colour.

    An output that is closed or full does not undo the work.
    """
    try:
        typer.secho(printable(text), nl=nl, fg=colour)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_new(path: Path, text: str, *, private: bool = False) -> None:
    """Write a new file; ``private``: only the user may read it."""
    from sudare.core.errors import Problem, TargetError

    try:
        with os.fdopen(os.open(path, NEW_FILE, 0o600 if private else 0o666), "wb") as file:
            file.write(text.encode("utf-8"))
    except FileExistsError:
        raise TargetError(Problem(str(path), "exists already.", "choose another name, or remove it.")) from None
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None


def check_new(path: Path) -> None:
    """Raise if a new file cannot be written, before any work is done."""
    from sudare.core.errors import Problem, TargetError
    from sudare.releases import check_folder

    check_folder(path.parent)
    if problems := name_problems(path):
        raise TargetError(problems)
    if path.exists() or path.is_symlink():
        raise TargetError(Problem(str(path), "exists already.", "choose another name, or remove it."))


@contextmanager
def reporting(as_json: bool) -> Iterator[None]:
    """Turn errors into one message and an exit code; never a traceback, never a value of a person."""
    try:
        yield
    except BaseException as error:
        if _received or isinstance(error, KeyboardInterrupt):
            # a library that was interrupted may have turned the signal into an error of its own
            number = _received[0] if _received else signal.SIGINT
            _fail("Stopped", _STOPPED, 128 + number, as_json)
        if isinstance(error, SystemExit | typer.Exit):
            raise
        if isinstance(error, SudareError):
            _fail(type(error).__name__, str(error), error.exit_code, as_json, [vars(p) for p in error.problems])
        if os.environ.get("SUDARE_DEBUG"):
            raise
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "an unknown place"
        # the text of an unforeseen error may quote data, so only its kind and place are shown
        what = f"unexpected {type(error).__name__} in {place}; please report it (SUDARE_DEBUG=1 shows the details)."
        _fail("Unforeseen", what, 2, as_json)


def _fail(kind: str, text: str, code: int, as_json: bool, problems: list[dict[str, Any]] | None = None) -> NoReturn:
    if as_json:
        error = {"kind": kind, "exit_code": code, "message": text, "problems": problems or []}
        say(json.dumps({"error": error}, ensure_ascii=False))
    typer.echo(f"sudare: {printable(text)}", err=True)
    _told.append(kind)
    raise typer.Exit(code)


@contextmanager
def progress(silenced: bool) -> Iterator[Callable[[str, float, float], None]]:
    """Show one line per stage on the terminal: a bar where the end is known, a pulse where it is not."""
    if silenced or not sys.stderr.isatty():
        yield lambda stage, done, total: _stop_if_asked()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description:<28}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def listen(stage: str, done: float, total: float) -> None:
            _stop_if_asked()  # where the signal's own exception was lost on the way
            if stage not in tasks:
                for task in tasks.values():
                    bars.update(task, total=1, completed=1)
                label = "prepare (first run compiles)" if stage == "prepare kernels" else printable(stage)
                tasks[stage] = bars.add_task(label, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield listen
