"""The audit's own limits for hierarchy files: regular files up to a size; YAML up to a depth, with few aliases.

A policy may name any file. No message quotes the content of a file.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import yaml

from sudare.core.errors import HierarchyError, Problem
from sudare.core.operating_system import FOR_READING
from sudare.core.sizes import GIB

LARGEST = GIB
"""The bytes of a CSV file; a nested tree may have a sixteenth of them."""
DEEPEST = 100
COPIED = 10_000
"""How many nodes aliases may add to a tree."""


def read_text(path: Path, folder: Path, column: str, *, anywhere: bool) -> str:
    """Return the text of a hierarchy file, or raise; it lies in the folder of the policy unless it may be anywhere."""

    def refused(what: str) -> HierarchyError:
        return HierarchyError(Problem(column, f"its hierarchy {path} {what}."))

    most = LARGEST if not is_nested(path) else LARGEST // 16
    try:
        if not anywhere and folder.resolve() not in path.resolve().parents:
            raise refused("is outside the folder of the policy")
        descriptor = os.open(path, FOR_READING)  # a pipe is not waited for
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            os.close(descriptor)
            raise refused("is not a regular file")
        with os.fdopen(descriptor, "rb") as file:
            held = file.read(most + 1) if facts.st_size <= most else b""
    except OSError as error:
        raise refused(f"cannot be read: {error.strerror}") from None
    except (ValueError, RuntimeError):
        raise refused("is not the name of a file") from None
    if facts.st_size > most or len(held) > most:
        raise refused(f"is larger than {most >> 20:,} MiB")
    return held.decode("utf-8-sig")


def is_nested(path: Path) -> bool:
    """Return whether a file is a nested tree, by its name."""
    return path.suffix.lower() in (".yaml", ".yml", ".json")


def check_events(text: str, loader: Any) -> None:
    """Raise ValueError if YAML nests too deep, or if its aliases stand for too much; nothing is built of it."""
    sizes: dict[str, int] = {}
    heights: dict[str, int] = {}
    open_parts: list[list[Any]] = []  # of each its anchor, its size and its height so far
    copied = 0

    def finish(anchor: str | None, size: int, height: int) -> None:
        if anchor is not None:
            sizes[anchor], heights[anchor] = size, height
        if len(open_parts) + height > DEEPEST:
            raise ValueError("nested too deeply")
        if open_parts:
            open_parts[-1][1] += size
            open_parts[-1][2] = max(open_parts[-1][2], height + 1)

    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ValueError("an alias without a target, or inside its own target")
            copied += sizes[event.anchor]
            if copied > COPIED:
                raise ValueError("too many copies")
            finish(None, sizes[event.anchor], heights[event.anchor])
        elif isinstance(event, yaml.ScalarEvent):
            finish(event.anchor, 1, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            sizes.pop(event.anchor or "", None)
            open_parts.append([event.anchor, 1, 1])
            if len(open_parts) > DEEPEST:
                raise ValueError("nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            finish(*open_parts.pop())
