"""Layouts of released text files: delimiter, decimal mark, encoding and byte order mark, and those of Excel.

Excel opens a text file by the settings of the country: where a comma stands in numbers, it expects semicolons between
fields. Only a byte order mark tells it that a file is UTF-8. The layouts are part of what a policy means, so releases
and audits share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Decimal = Literal[".", ","]
Country = Literal[
    "at", "au", "be", "br", "ca", "ch", "cn", "cz", "de", "dk", "es", "fi", "fr", "gr", "hu", "ie", "in", "it",
    "jp", "kr", "mx", "nl", "no", "nz", "pl", "pt", "pt-br", "ru", "se", "tr", "uk", "us",
]  # fmt: skip
WITH_COMMAS = frozenset(
    (
        *("at", "be", "br", "cz", "de", "dk", "es", "fi", "fr", "gr"),
        *("hu", "it", "nl", "no", "pl", "pt", "pt-br", "ru", "se", "tr"),
    )
)
"""Where Excel expects a comma in numbers, and semicolons between fields."""
WITH_SEMICOLONS = WITH_COMMAS | {"ch"}
"""Where it expects semicolons between fields; Switzerland writes numbers with a point."""


@dataclass(frozen=True)
class TextLayout:
    """How a text file is written. ``numbers`` are the columns whose numbers and ranges have the decimal mark."""

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    bom: bool = False
    numbers: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it is how releases are laid out unless a policy says otherwise."""
        return self.delimiter in (",", "\t") and (self.decimal, self.encoding, self.bom) == (".", "utf-8", False)

    def to_dict(self) -> dict[str, Any]:
        """Return the layout as a certificate has it."""
        facts = {"delimiter": self.delimiter, "decimal": self.decimal, "encoding": self.encoding, "bom": self.bom}
        return facts | {"numbers": list(self.numbers)}

    @classmethod
    def from_dict(cls, given: Any) -> TextLayout | None:
        """Return what a certificate says, or None if it is not written as one writes it."""
        if not isinstance(given, dict) or set(given) != {"delimiter", "decimal", "encoding", "bom", "numbers"}:
            return None
        numbers = given["numbers"]
        sound = (
            all(isinstance(given[key], str) for key in ("delimiter", "decimal", "encoding"))
            and len(given["delimiter"]) == 1
            and given["delimiter"].isascii()
            and given["delimiter"] not in '"\r\n\0'
            and given["decimal"] in (".", ",")
            and isinstance(given["bom"], bool)
            and isinstance(numbers, list)
            and all(isinstance(name, str) for name in numbers)
            and len(set(numbers)) == len(numbers)
        )
        if not sound or keeps_ascii(given["encoding"]) is None:
            return None
        return cls(given["delimiter"], given["decimal"], given["encoding"], given["bom"], tuple(numbers))


def of_country(country: str) -> TextLayout:
    """Return the layout that Excel opens by a double click in a country."""
    return TextLayout(
        delimiter=";" if country in WITH_SEMICOLONS else ",",
        decimal="," if country in WITH_COMMAS else ".",
        bom=True,
    )


_STATEFUL = ("iso2022", "hz", "utf_7", "utf_8_sig", "punycode", "idna", "unicode_escape", "raw_unicode_escape")
_ASCII = bytes(range(128))


def keeps_ascii(name: str) -> str | None:
    """Return the usual name of an encoding in which ASCII is itself and nothing else; None if a name is none of these.

    Delimiters, quotes and line ends are then the same bytes in all of them.
    """
    import codecs

    try:
        found = codecs.lookup(name).name
        plain = found.replace("-", "_")
        if plain.startswith(_STATEFUL):
            return None
        same = _ASCII.decode(found) == _ASCII.decode("ascii") and _ASCII.decode("ascii").encode(found) == _ASCII
    except (LookupError, ValueError, TypeError, AttributeError):
        return None
    return found if same else None
