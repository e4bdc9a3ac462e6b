"""Folders that only this user can read, and that do not outlive the process for long.

They hold rows that nobody may find later. At the end they are removed. A folder that a killed process left behind is
swept away by the next run that needs one in the same place; a lock tells it from one in use.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sudare.core.operating_system import NOT_A_LINK, is_ours, lock

PREFIX = ".sudare-tmp-"
_LOCK = "lock"


@contextlib.contextmanager
def locked_private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder in ``parent`` or among temporary files; remove it at the end.

    Raises OSError, with the name of the parent, if there can be none.
    """
    parent = parent or Path(tempfile.gettempdir())
    _sweep(parent)
    with contextlib.ExitStack() as undo:
        try:
            folder = _made(parent, undo)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(parent)) from None
        yield folder


def _made(parent: Path, undo: contextlib.ExitStack) -> Path:
    while True:
        folder = parent / f"{PREFIX}{secrets.token_hex(8)}"
        undo.callback(_remove, folder)  # before it is there: a signal may come at any moment
        folder.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another run swept it away: once more
            held = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            undo.callback(os.close, held)
            lock(held, wait=False)
            if os.fstat(held).st_nlink:
                return folder


def _sweep(folder: Path) -> None:
    """Remove what killed processes left: private folders whose lock nobody holds."""
    for stale in folder.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = stale.lstat()
            if not stat.S_ISDIR(about.st_mode) or not is_ours(about.st_uid):
                continue  # a link, or somebody else's: not ours to remove
            try:
                held = os.open(stale / _LOCK, os.O_RDWR | NOT_A_LINK)
            except FileNotFoundError:
                stale.rmdir()  # which fails unless it is empty: only then was it never locked, or all but removed
                continue
            try:
                lock(held, wait=False)
                _remove(stale)
            finally:
                os.close(held)
            _remove(stale)  # what Windows kept, because the lock was open


def _remove(folder: Path) -> None:
    """Remove a private folder, its lock last: if this is interrupted, the next run can remove the rest."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
        shutil.rmtree(folder)
