"""What differs between operating systems: locks, the flags of an open file, what reaches the disk, and names of files.

No other file uses what only some systems have; a test sees to that. Linux and macOS are alike here. Windows differs:

- It locks bytes of files and no folders, so there a lock is a byte of a small file.
- It neither removes nor renames a file that somebody has open.
- A file opened by its number changes line ends, unless a flag forbids it.
- Some names mean devices, whatever their ending.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sudare.core.errors import Problem

LOCK_OF_FOLDER = ".sudare-lock"
"""The name of the file by which a folder is locked on Windows; it is removed after use."""
_AGAIN = 0.05
"""The seconds between two attempts to get a lock, where the system cannot wait."""
_PORTS = tuple(f"{kind}{number}" for kind in ("COM", "LPT") for number in "0123456789¹²³")
_DEVICES = frozenset(("CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", *_PORTS))
_FORBIDDEN = frozenset('<>:"|?*') | {chr(number) for number in range(32)}


def _flags(*names: str) -> int:
    """Return those flags of :func:`os.open` that this system has."""
    found = 0
    for name in names:
        found |= getattr(os, name, 0)
    return found


FOR_READING = os.O_RDONLY | _flags("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
"""How any file that a user names is opened: a pipe is not waited for, and no byte is changed."""
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flags("O_NOFOLLOW", "O_BINARY")
"""How a file is made that must not be there yet."""
LOG_FILE = os.O_RDWR | os.O_CREAT | os.O_APPEND | _flags("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
"""How a file is opened to which lines are added."""
NOT_A_LINK = _flags("O_NOFOLLOW")
"""The flag by which a link is not followed."""
FULL_DISK = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""The numbers of errors that say that nothing more can be written."""


STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""The signals that ask a process to stop; Windows has a key of its own for that."""
ALARM = tuple(getattr(signal, name) for name in ("SIGALRM",) if hasattr(signal, name))
"""The signal of :func:`ring_again`, where there is one: elsewhere the signal that was given comes once more."""


def is_ours(owner: int) -> bool:
    """Return whether a file's owner, by its number, is the user of this process; where files have none, it is."""
    own: Callable[[], int] | None = getattr(os, "geteuid", None)
    return own is None or owner == own()


if sys.platform == "win32":
    import _thread
    import msvcrt
    import threading
    import time

    def user_name() -> str:
        """Return the name by which the system knows the user of this process."""
        return os.getlogin()

    def ring_again(seconds: float, number: int) -> None:
        """Let a signal come once more, after so many seconds."""
        timer = threading.Timer(seconds, _thread.interrupt_main, (number,))
        timer.daemon = True
        timer.start()

    def ring_no_more() -> None:
        """Let no signal come any more; one that is on its way finds that the process has stopped."""

    def lock(descriptor: int, *, wait: bool) -> None:
        """Lock an open file until it is closed, or raise BlockingIOError if it is locked and nobody may ``wait``."""
        while True:
            try:
                os.lseek(descriptor, 0, os.SEEK_SET)
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
                time.sleep(_AGAIN)
            else:
                return

    @contextlib.contextmanager
    def locked_folder(folder: Path) -> Iterator[Callable[[], None]]:
        """Hold the lock of a folder; yield what makes sure that its names are on the disk."""
        beside = folder / LOCK_OF_FOLDER
        with contextlib.ExitStack() as undo:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT)
            undo.callback(_remove_unused, beside)
            undo.callback(os.close, descriptor)
            lock(descriptor, wait=True)
            yield lambda: None  # the system has no call for a folder

    def _remove_unused(path: Path) -> None:
        with contextlib.suppress(OSError):  # somebody waits for it: the system keeps it, and they remove it
            path.unlink()

    def flush_file(path: Path) -> None:
        """Make sure that the content of a file is on the disk."""
        with path.open("rb+") as file:  # one that is open for reading alone cannot be flushed
            os.fsync(file.fileno())

else:
    import fcntl
    import pwd

    def user_name() -> str:
        """Return the name by which the system knows the user of this process; what the environment says is no proof."""
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # as in a container
            return f"user {os.getuid()}"

    def ring_again(seconds: float, number: int) -> None:
        """Let the alarm clock ring after so many seconds, on account of a signal."""
        del number
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def ring_no_more() -> None:
        """Stop the alarm clock."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def lock(descriptor: int, *, wait: bool) -> None:
        """Lock an open file until it is closed, or raise BlockingIOError if it is locked and nobody may ``wait``."""
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    @contextlib.contextmanager
    def locked_folder(folder: Path) -> Iterator[Callable[[], None]]:
        """Hold the lock of a folder; yield what makes sure that its names are on the disk."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            lock(descriptor, wait=True)
            yield lambda: os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def flush_file(path: Path) -> None:
        """Make sure that the content of a file is on the disk."""
        with path.open("rb") as file:
            os.fsync(file.fileno())


def backslash_is_letter() -> bool:
    """Return whether a backslash is a letter of a name, and not what separates folders."""
    return os.sep != "\\"


def name_problems(path: Path) -> list[Problem]:
    """Return why a file cannot have this name on this system."""
    if backslash_is_letter():
        return []
    wrong = windows_name_problem(path.name)
    return [Problem(str(path), wrong, "choose another name.")] if wrong else []


def windows_name_problem(name: str) -> str:
    """Return what is wrong with the name of a file on Windows; empty if nothing is."""
    if name.partition(".")[0].rstrip(" ").upper() in _DEVICES:
        return "is the name of a device on Windows."
    if set(name) & _FORBIDDEN:
        return 'has a character that Windows does not allow in names (< > : " | ? * or a control character).'
    if name.endswith((".", " ")):
        return "ends with a dot or a blank, which Windows drops."
    return ""
