"""Single words of YAML: names and texts, quoted where a reader would take them for something else."""

from __future__ import annotations

import yaml


def scalar(text: str) -> str:
    """Write a name as YAML: plain if every parser reads it as the same text, otherwise quoted."""
    plain = text.replace("-", "_").isidentifier() and not text.startswith("-") and text.isprintable()
    # Some readers take y and n for yes and no; ours does not.
    return text if plain and text.lower() not in ("y", "n") and yaml.safe_load(text) == text else quoted(text)


def one_line(text: str) -> str:
    """Return a text for a comment: names of columns may hold line breaks, which would end it."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def quoted(text: str) -> str:
    """Write a text as YAML, in quotation marks."""
    written: str = yaml.dump(text, default_style='"', allow_unicode=True, width=float("inf"))
    return written.removesuffix("\n")
