"""The formats of release files, by the ending of their names; compressed text has one ending more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sudare.policy import Policy, TextLayout

COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class ReleaseFormat:
    """A format of release files.

    ``text`` has no types, and is laid out as a policy says. ``flat`` formats have no lists, and an empty cell is a
    missing one there; item sets are joined.
    """

    name: str
    endings: tuple[str, ...]
    text: bool = False
    flat: bool = False


TEXT = ReleaseFormat("text", (".csv", ".tsv"), text=True, flat=True)
PARQUET = ReleaseFormat("parquet", (".parquet",))
ARROW = ReleaseFormat("arrow", (".arrow", ".feather", ".ipc"))
JSON_LINES = ReleaseFormat("json lines", (".jsonl",))
EXCEL = ReleaseFormat("excel", (".xlsx",), flat=True)
RELEASE_FORMATS = (TEXT, PARQUET, ARROW, JSON_LINES, EXCEL)
ENDINGS = (
    *TEXT.endings,
    *(ending + packed for ending in TEXT.endings for packed in COMPRESSED),
    *(ending for known in RELEASE_FORMATS[1:] for ending in known.endings),
)
"""Every ending that a release may have, in the order in which messages name them."""


def release_ending(path: Path) -> str:
    """Return the ending of a release's name, with that of its compression, as it is written; its last, if unknown."""
    endings = path.suffixes
    if len(endings) > 1 and endings[-2].lower() + endings[-1] in ENDINGS:  # readers know .gz, and not .GZ
        return endings[-2] + endings[-1]
    return path.suffix


def release_format(path: Path) -> ReleaseFormat | None:
    """Return the format of a release by its name; None if it has none."""
    ending = release_ending(path).lower()
    if ending not in ENDINGS:
        return None
    first = "." + ending.split(".")[1]
    return next(known for known in RELEASE_FORMATS if first in known.endings)


def compression(path: Path) -> str | None:
    """Return the ending of a release's compression, if it has one."""
    ending = release_ending(path).lower()
    return path.suffix.lower() if ending in ENDINGS and ending.count(".") > 1 else None


def with_tabs(path: Path) -> bool:
    """Return whether a text file has tabs between its fields, by its name."""
    return release_ending(path).lower().startswith(".tsv")


def text_layout(path: Path, policy: Policy) -> TextLayout | None:
    """Return how a policy has a text file of this name laid out; None for other formats."""
    known = release_format(path)
    return policy.release.layout(tabs=with_tabs(path)) if known is not None and known.text else None


def is_text(path: Path) -> bool:
    """Return whether a release of this name is text, where cells have no types."""
    known = release_format(path)
    return known is not None and known.text


def is_flat(path: Path) -> bool:
    """Return whether a release of this name has no lists, and an empty cell is a missing one."""
    known = release_format(path)
    return known is not None and known.flat
