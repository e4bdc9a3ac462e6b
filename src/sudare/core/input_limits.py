"""Files and texts that a user names, read within bounds.

A policy, a plan or a hierarchy may come from anywhere, and may name any file. So only regular files are read (a pipe
would be waited for, a device never ends), only up to a size, and YAML only up to a depth and with few aliases: some
hundred bytes of them can stand for billions of nodes. No message holds anything that was read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sudare.core.operating_system import FOR_READING
from sudare.core.sizes import GIB, MIB

DEEPEST = 100
"""Mappings and lists inside each other, at most."""
LARGEST_CERTIFICATE = GIB
"""The largest size of a certificate's file, in bytes: it may contain large matrices."""
ALIASED = 10_000
"""What aliases of YAML stand for, in nodes, at most."""


class UnreadableError(Exception):
    """A file that is not read: ``what`` is wrong with it, and a ``hint``; ``absent`` if it is not there."""

    def __init__(self, what: str, hint: str = "", *, absent: bool = False) -> None:
        super().__init__(what)
        self.what, self.hint, self.absent = what, hint, absent


class BoundsError(yaml.YAMLError):
    """YAML that nests too deep, has too many aliases or too many nodes; the text says which."""


def content(path: Path, most: int) -> bytes:
    """Return what a regular file of at most so many bytes holds, or raise :class:`UnreadableError`."""
    try:
        # without waiting: opening a pipe that nobody writes to would not come back
        descriptor = os.open(path, FOR_READING)
    except FileNotFoundError:
        raise UnreadableError("there is no such file.", absent=True) from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}.") from None
    except ValueError:
        raise UnreadableError("is not the name of a file.") from None
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise UnreadableError("cannot be read: Is a directory.")
        raise UnreadableError("is not a regular file.", "copy its content to a file.")
    with os.fdopen(descriptor, "rb") as file:
        try:
            found = b"" if facts.st_size > most else file.read(most + 1)
        except OSError as error:
            raise UnreadableError(f"cannot be read: {error.strerror}.") from None
    if facts.st_size > most or len(found) > most:
        raise UnreadableError(f"is larger than {most // MIB:,} MiB.")
    return found


def certificate_text(path: Path) -> str:
    """Return the text of a certificate; raises as reading any file does, and ValueError if it is no text."""
    try:
        return content(path, LARGEST_CERTIFICATE).decode("utf-8")
    except UnreadableError as error:
        raise (FileNotFoundError if error.absent else ValueError)(error.what) from None


class Bounded(yaml.composer.Composer):
    """The base of a YAML loader with limits; a subclass sets ``most_nodes``."""

    most_nodes = 10_000_000

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)  # type: ignore[call-arg]
        self.depth = self.deepest = self.nodes = self.aliased = 0
        self.known: dict[int, tuple[int, int]] = {}
        """The size and the height of each node that is whole."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node as ever, and count: an alias counts as all that it stands for."""
        if self.check_event(yaml.AliasEvent):  # type: ignore[attr-defined]
            node: Any = super().compose_node(parent, index)
            if id(node) not in self.known:
                raise BoundsError("has an alias inside its own target")
            size, height = self.known[id(node)]
            self.nodes, self.aliased = self.nodes + size, self.aliased + size
            self._reach(self.depth + height)
        else:
            node = self._counted(parent, index)
        if self.aliased > ALIASED:
            raise BoundsError(f"has aliases that expand to more than {ALIASED:,} nodes")
        if self.nodes > self.most_nodes:
            raise BoundsError(f"has more than {self.most_nodes:,} nodes")
        return node

    def _counted(self, parent: Any, index: Any) -> Any:
        outer, before = self.deepest, self.nodes
        self.depth, self.nodes, self.deepest = self.depth + 1, self.nodes + 1, 0
        self._reach(self.depth)
        node: Any = super().compose_node(parent, index)
        self.known[id(node)] = self.nodes - before, self.deepest - self.depth + 1
        self.depth, self.deepest = self.depth - 1, max(outer, self.deepest)
        return node

    def _reach(self, depth: int) -> None:
        self.deepest = max(self.deepest, depth)
        if depth > DEEPEST:
            raise BoundsError(f"is nested deeper than {DEEPEST} levels")


def out_of_bounds(data: Any) -> str:
    """Return which limit nested mappings and lists exceed: their depth, or how often parts of them are repeated."""
    known: dict[int, tuple[int, int]] = {}  # of each part its size and its height
    repeated = 0
    waiting: list[tuple[Any, int, bool]] = [(data, 1, False)]
    while waiting:
        part, depth, whole = waiting.pop()
        inside = _inside(part)
        if inside is None:
            continue
        if whole:
            sizes, heights = zip(*(known.get(id(each), (1, 1)) for each in inside), strict=True) if inside else ((), ())
            known[id(part)] = 1 + sum(sizes), 1 + max(heights, default=0)
            continue
        size, height = known.get(id(part), (0, 0))
        if depth + height > DEEPEST:
            return f"is nested deeper than {DEEPEST} levels"
        repeated += size
        if repeated > ALIASED:
            return f"repeats parts of more than {ALIASED:,} values"
        if not size:
            waiting.append((part, depth, True))
            waiting += [(each, depth + 1, False) for each in inside]
    return ""


def _inside(part: Any) -> list[Any] | None:
    if isinstance(part, Mapping):
        return [*part.values()]
    return list(part) if isinstance(part, list | tuple) else None
