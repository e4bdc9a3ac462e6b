"""The command line under the rules of Windows, as far as Linux can play them: ``python like_windows.py anonymize ...``.

Names that the standard library has only elsewhere are taken away, ``fcntl`` and ``resource`` cannot be imported, and
there is an ``msvcrt``. Folders cannot be opened, what is open for reading alone cannot be flushed, and a file that is
open or mapped in this process can be neither removed nor renamed. ``rename`` replaces nothing.

Not played: the names and the rights of files, the console, the libraries in C, what other processes have open, and
``process_memory``, which asks the system itself.
"""

from __future__ import annotations

import errno
import fcntl
import os
import runpy
import shutil
import signal
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

GONE = {
    os: "geteuid getuid getegid getgid fork O_NONBLOCK O_CLOEXEC O_NOCTTY O_NOFOLLOW O_DIRECTORY posix_fallocate "
    "sysconf umask killpg setsid fchmod chown",
    signal: "SIGHUP SIGALRM SIGQUIT setitimer getitimer ITIMER_REAL alarm pause pthread_kill",
}
BINARY = 1 << 40
"""A flag that Linux does not know: who opens a file by a number has to name it."""
opened_as_text: list[str] = []
_open, _fsync, _rename, _replace, _unlink, _rmdir = os.open, os.fsync, os.rename, os.replace, os.unlink, os.rmdir


def used(path: Any, *, below: bool = False) -> bool:
    """Return whether this process has a file open or mapped, or, for a folder, any file below it."""
    name = os.path.realpath(os.fspath(path))
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(link.readlink()))
        except OSError:  # the one that the list itself was read by
            continue
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    found |= {line.split(maxsplit=5)[5] for line in maps if len(line.split(maxsplit=5)) == 6}
    return any(each.startswith(f"{name}/") if below else each == name for each in found)


def refused(path: Any) -> PermissionError:
    return PermissionError(errno.EACCES, "it is being used", os.fspath(path))


def open_number(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
    if Path(path).is_dir() and not flags & os.O_TMPFILE == os.O_TMPFILE:  # by which Python makes nameless files
        raise refused(path)
    if not flags & BINARY and "sudare" in sys._getframe(1).f_code.co_filename.replace(__file__, ""):
        opened_as_text.append(os.fspath(path))
    return _open(path, flags & ~BINARY, mode, **more)


def flush(descriptor: int) -> None:
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "it is open for reading alone")
    _fsync(descriptor)


def unless_used(function: Callable[..., None], *, replaces: bool = True) -> Callable[..., None]:
    def call(source: Any, target: Any = None, **more: Any) -> None:
        for path in (source, target):
            if path is not None and (used(path) or (Path(path).is_dir() and used(path, below=True))):
                raise refused(path)
        if target is not None and not replaces and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "it is there", os.fspath(target))
        function(source, *([] if target is None else [target]), **more)

    return call


def lock_byte(descriptor: int, kind: int, count: int) -> None:
    assert (kind, count) == (2, 1)
    assert os.lseek(descriptor, 0, os.SEEK_CUR) == 0
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def begin() -> None:
    """Take away what Windows does not have. Libraries of others, which have their own ways, are loaded before."""
    for name in ("duckdb", "numba", "numpy", "pyarrow.csv", "pyarrow.parquet", "pydantic", "rich.progress", "typer",
                 "yaml", "tempfile", "subprocess", "multiprocessing", "cryptography", "jinja2", "ctypes"):  # fmt: skip
        __import__(name)
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    fake = types.ModuleType("msvcrt")
    fake.LK_NBLCK, fake.locking = 2, lock_byte
    sys.modules |= {"msvcrt": fake, "fcntl": None, "resource": None}
    os.O_BINARY = BINARY
    sys.platform = "win32"
    import sudare.core.operating_system as system

    sys.platform = "linux"
    assert system.LOCK_OF_FOLDER
    assert not hasattr(system, "fcntl")
    os.open, os.fsync, os.rmdir = open_number, flush, remove_folder
    os.rename, os.replace = unless_used(_rename, replaces=False), unless_used(_replace)
    os.unlink = os.remove = unless_used(_unlink)
    shutil._use_fd_functions = False


def remove_folder(path: Any, **more: Any) -> None:
    if used(path, below=True):
        raise refused(path)
    _rmdir(path, **more)


def end() -> None:
    """Say which files were opened in a way that changes line ends; those that are only locked may be."""
    wrong = [path for path in opened_as_text if Path(path).name not in ("lock", ".sudare-lock", "null")]
    if wrong:
        sys.stderr.write(f"opened as text: {wrong}\n")


if __name__ == "__main__":
    begin()
    leave = os._exit
    os._exit = lambda code: (end(), sys.stderr.flush(), leave(code))
    if sys.argv[1:2] == ["-m"]:  # another program
        del sys.argv[0:2]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        from sudare.cli import main

        main()
