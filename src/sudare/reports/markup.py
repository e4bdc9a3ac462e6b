"""HTML and SVG from templates: every value is escaped, quotes included, unless it is markup."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, **facts: Any) -> Markup:
    """Return a template filled with facts."""
    return Markup(_environment().get_template(template).render(facts))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=clean,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def phrase(text: str, *parts: Any) -> Markup:
    """Return a sentence of HTML with parts put in for its ``{}``, which are escaped."""
    return Markup(text).format(*(clean(part) for part in parts))


def safe(content: Any) -> Markup:
    """Return text escaped for HTML or XML, in an element or an attribute; markup stays unchanged."""
    return escape(clean(content))


def clean(content: Any) -> Any:
    """Return text without control characters and halves of characters, which XML has no place for."""
    if isinstance(content, Markup) or not isinstance(content, str):
        return content
    return "".join(_allowed(letter) for letter in content)


def _allowed(letter: str) -> str:
    if letter.isspace():
        return " "
    kind = unicodedata.category(letter)
    return "\ufffd" if kind in {"Cc", "Cs"} or ord(letter) in (0xFFFE, 0xFFFF) else letter
