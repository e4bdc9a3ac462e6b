"""Memory: how much is available, how much a table needs, and the error if it does not fit.

An estimate is made before anything is read: a run that would be killed half-way is better not begun.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sudare.core.errors import DataError, ParameterError, Problem
from sudare.core.process_memory import available_on_windows
from sudare.core.sizes import GIB, MIB

FLOOR = 256 << 20
"""The memory that every table needs: libraries, buffers for reading and writing, and dictionaries."""

RESERVE = 640 << 20
"""What is left for the libraries and for the buffers of reading and writing where the rest is limited."""

FLOOR_PER_ROW = 20
"""The memory per record that cannot be in files: its share of the arrays of clusters and classes."""

ITEMS_PER_SET = 8
"""The assumed number of items of a record, if the source does not give it."""

COUNTING = GIB
"""The most that the table takes in which records that agree are counted."""

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class Demand:
    """The size of a table, for the estimate of memory.

    ``single`` and ``tallied`` count encoded columns with one value per record: all of them, and those that are not
    quasi-identifiers. ``items`` is the number of items of each item-set column, if it is known, and ``carried`` the
    bytes of a record in unchanged columns.
    """

    rows: int
    single: int = 0
    tallied: int = 0
    items: Sequence[int | None] = ()
    carried: int = 0

    @property
    def needed(self) -> int:
        """The bytes that a run takes at its height: the codes, a method's own copy of them, and its classes.

        With item sets the copy has a cell for each set and tallied column beside every record, and the largest cluster
        is moved through working space as large as itself. Without, records that agree are counted in a table first.
        """
        held = [2 * (self.rows * ITEMS_PER_SET if count is None else count) for count in self.items]
        sets, quasi, beside = len(self.items), self.single - self.tallied, 1 + self.tallied + len(self.items)
        codes = self.rows * (2 * self.single + 8 * sets) + sum(held)
        work = self.rows * (2 * quasi + 4 + 4 * beside)
        if sets:
            work += self.rows * (2 * sets + 2 + 4 * max(quasi, beside) + 4) + sum(held) + max(held)
        else:
            work += self.rows * (4 + 2 * (quasi + beside)) + min(64 * self.rows, COUNTING)
        classes = 12 * self.rows
        return FLOOR + codes + work + classes + self.rows * self.carried

    @property
    def least(self) -> int:
        """The bytes below which not even files help."""
        return FLOOR + FLOOR_PER_ROW * self.rows


def parse_size(size: int | str) -> int:
    """Return a number of bytes, from a number or a text such as 4GiB, 500MB or 4G (G is GiB, GB is a thousand MB)."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(iB|B)?\s*", str(size), re.IGNORECASE)
    if isinstance(size, bool) or found is None or not 0 < float(found[1]) < 1 << 60:
        shown = size if isinstance(size, int | float) else f"'{size}'"
        raise ParameterError(Problem("memory", f"must be a size; got {shown}.", "write it as in 4GiB, 500MB or 4G."))
    unit = 1000 if (found[3] or "").upper() == "B" and found[2] else 1024
    return min(int(float(found[1]) * unit ** _UNITS[found[2].upper()]), 1 << 60)


def show_size(size: int) -> str:
    """Return a number of bytes as text; never less than it is."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB")):
        if size >= 10 * unit:
            return f"{-(-size // unit)} {name}"
    return f"{-(-size // MIB)} MiB"


def available() -> int | None:
    """Return the bytes of memory that this process can still get, or None if the system does not report this."""
    return min(_known(), default=None)


def storage_limit(demand: Demand, memory: int) -> int:
    """Return how many bytes of arrays may stay in memory if the whole run may take ``memory``, or raise."""
    if demand.least > memory:
        what = f"{show_size(memory)} are too little for {demand.rows:,} records."
        raise DataError(Problem("memory", what, f"use --memory {_option(demand.least)} or more."))
    return max(memory - RESERVE - FLOOR_PER_ROW * demand.rows, memory // 8)


def check_fits(demand: Demand, free: int | None) -> None:
    """Raise if a table needs more memory than there is."""
    if free is None or demand.needed <= free:
        return
    what = f"{demand.rows:,} records need about {show_size(demand.needed)}, and {show_size(free)} are free."
    if demand.least > free:
        raise DataError(Problem("memory", what, "use a machine with more memory, or fewer records."))
    limit = max(free * 3 // 4, demand.least)
    hint = f'use --memory {_option(limit)} (in Python memory="{_option(limit)}"): temporary files hold the rest.'
    raise DataError(Problem("memory", what, hint))


def _option(size: int) -> str:
    return show_size(size).replace(" ", "")


def _known() -> Iterator[int]:
    """Yield every limit that can be found: of the machine, and of the control groups this process is in."""
    try:
        about = Path("/proc/meminfo").read_text(encoding="ascii")
        yield 1024 * int(re.search(r"^MemAvailable:\s+(\d+) kB", about, re.MULTILINE)[1])  # type: ignore[index]
    except (OSError, TypeError, ValueError):
        yield from _of_machine()
    for folder, limit, used in _groups():
        try:
            allowed, taken = (int((folder / name).read_text(encoding="ascii")) for name in (limit, used))
            stat = (folder / "memory.stat").read_text(encoding="ascii")
            files = re.findall(r"^(?:total_)?(?:in)?active_file (\d+)$", stat, re.M)
            yield max(allowed - taken + sum(map(int, files[:2])), 0)  # what caches files is given back when needed
        except (OSError, ValueError):  # there is none, or its limit is "max"
            continue


def _of_machine() -> Iterator[int]:
    """Yield the memory of a machine that is not Linux: what is free on Windows, all of it elsewhere."""
    free = available_on_windows()
    if free is not None:
        yield free
    elif hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _groups() -> Iterator[tuple[Path, str, str]]:
    new, old = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        if kinds in ("", "memory"):
            if kinds == "":
                root, names = new, ("memory.max", "memory.current")
            else:
                root, names = old, ("memory.limit_in_bytes", "memory.usage_in_bytes")
            own = root / path.lstrip("/")
            for folder in (own, *own.parents):
                yield folder, *names
                if folder == root:
                    break
