"""Compilation of kernels, and how long a compiled one is kept.

numba keeps a compiled function until the function's own file changes. But it also has the code of all kernels that it
calls, and the layout of the tuples that it takes, and these may come from other files. With an old one beside a new
one, a process reads the wrong memory. So ours are kept until the text of their file, or of any kernel file that this
one imports, changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

HOME = "sudare.kernels"
FOLDER = Path(__file__).parent
_IMPORT = re.compile(rf"^from ({re.escape(HOME)}[\w.]*) import (\([^)]*\)|[^(\n]*)", re.MULTILINE)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on arrays when it is first called; what is compiled is kept on disk."""
    return _kept(njit(nogil=True, error_model="numpy")(function))


def part_of_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function into each kernel that calls it.

    In small clusters a call costs more than the work.
    """
    return _kept(njit(nogil=True, error_model="numpy", inline="always")(function))


def sum_of_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that adds numbers up, in whatever order is fastest.

    In the order of the source no two of them are added at a time. The last digits may differ between processors.
    """
    return _kept(njit(nogil=True, error_model="numpy", fastmath={"reassoc"})(function))


def _kept(compiled: Any) -> Any:
    compiled._cache = _Cache(compiled.py_func)
    return compiled


class _Cache(FunctionCache):  # type: ignore[misc]
    """Keeps a function as numba does, but knows all the files that it was made from."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=source_stamp(Path(function.__code__.co_filename), FOLDER),
        )


@cache
def source_stamp(file: Path, folder: Path) -> str:
    """Return a digest of a file with kernels, and of those in this folder that it imports, directly or not."""
    waiting, found = [file], set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path, folder)
    digest = blake2b(digest_size=16)
    for path in sorted(found):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _imported(path: Path, folder: Path) -> list[Path]:
    named = []
    for package, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        parts = re.findall(r"\w+", re.sub(r"#.*", "", names))
        named += [package, *(f"{package}.{name}" for name in parts)]
    return [found for module in named if (found := _path(module, folder)) is not None]


def _path(module: str, folder: Path) -> Path | None:
    """Return the file of a kernel module, or nothing if it is none."""
    inside = module.removeprefix(HOME).strip(".").split(".")
    path = folder.joinpath(*inside).with_suffix(".py")
    return path if module.startswith(f"{HOME}.") and path.is_file() else None
