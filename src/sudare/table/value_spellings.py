"""Spellings: texts that differ only in spelling are one value of a sensitive column.

``HIV``, ``HIV `` and ``hiv`` are one diagnosis. If they counted as three, a class in which everybody has the same value
would seem diverse. So sensitive texts are compared *folded*:

- in Unicode's compatibility form (NFKC), and without regard to case;
- without blanks at their ends, and with one blank for any run of them, whatever kind of blank it is;
- without characters that nobody sees: formatting (zero-width blanks, soft hyphens, byte order marks), variation
  selectors, fillers and control characters;
- with one kind of hyphen for all dashes, and one kind of quotation mark for straight and curly ones;
- numbers by what they are worth: ``1``, ``1.0``, ``+1``, ``1e0`` and ``01``.

A text that folds to nothing is missing. Merging too much is the safe direction: a class then needs more values, not
fewer. Folded texts are only used for counting, and are never written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

TWICE = "name it once, or set exact: true to compare values exactly."
"""What to do about words of a policy that are one value."""

_NUMBER = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:e([+-]?[0-9]{1,9}))?")
_FIRST = frozenset("+-.0123456789")
_UNSEEN = frozenset(  # which have another category than Cf, and are ignored wherever text is shown
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0)
) | frozenset((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
_QUOTES = dict.fromkeys(map(ord, "‘’‚‛ʼʹ′`"), "'") | dict.fromkeys(map(ord, "“”„‟"), '"')


class _Folding(dict[int, Any]):
    """What becomes of each character, found out when it is first met."""

    def __missing__(self, code: int) -> Any:
        kind = unicodedata.category(chr(code))
        shown: Any = code
        if code in _QUOTES:
            shown = _QUOTES[code]
        elif kind == "Pd" or code == 0x2212:  # a dash, or a minus sign
            shown = "-"
        elif kind == "Cf" or code in _UNSEEN or (kind == "Cc" and not chr(code).isspace()):
            shown = None
        self[code] = shown
        return shown


_FOLDING = _Folding()


def fold(text: str, *, numbers: bool = True) -> str:
    """Return what a text is compared by; without ``numbers`` these are texts like others."""
    if text.isascii():
        if "`" in text or not text.isprintable():
            text = text.translate(_FOLDING)
        text = " ".join(text.lower().split())
    else:
        text = _folded(text)
    return _worth(text) if numbers and text and text[0] in _FIRST else text


def _folded(text: str) -> str:
    """Fold until nothing changes: what is left out may have kept characters apart that belong together."""
    while True:
        # without case only when decomposed, and again when nothing stands between marks and their order
        plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).translate(_FOLDING)).casefold()
        plain = " ".join(unicodedata.normalize("NFKC", plain).split())
        if plain == text:
            return text
        text = plain


def _worth(text: str) -> str:
    """Return a number in its canonical form, and any other text unchanged."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    sign, mantissa, power = found.groups()
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    exponent = int(power or 0) - len(fraction) + len(digits) - len(significant)
    minus = "-" if sign == "-" else ""
    if exponent == 0:
        return minus + significant
    if 0 < exponent <= 20:
        return minus + significant + "0" * exponent
    return f"{minus}{significant}e{exponent}"


def fold_all(values: pa.Array, *, numbers: bool = True) -> pa.Array:
    """Return what texts are compared by; null where nothing is left."""
    folded = (None if text is None else fold(text, numbers=numbers) or None for text in values.to_pylist())
    return pa.array(folded, pa.large_string())


def in_order(keys: pa.Array, *, numbers: bool = True) -> NDArray[np.int64]:
    """Return the order of folded texts: numbers by size, and then all others by their text."""
    texts = keys.to_pylist()
    if not numbers or not any(_is_number(text) for text in texts):
        return np.asarray(pc.array_sort_indices(keys).to_numpy(), dtype=np.int64)
    ranks = [(0, Decimal(text), "") if _is_number(text) else (1, Decimal(0), text) for text in texts]
    return np.array(sorted(range(len(texts)), key=ranks.__getitem__), dtype=np.int64)


def _is_number(text: str) -> bool:
    return text[0] in _FIRST and _NUMBER.fullmatch(text) is not None


def repeated(words: Iterable[str], *, numbers: bool = True) -> int:
    """Return how many of a policy's words are another spelling of one before them."""
    folded = [fold(word, numbers=numbers) for word in words]
    return len(folded) - len(set(folded))


def most_frequent(values: pa.Array, codes: NDArray[Any], counts: NDArray[np.int64], size: int) -> pa.Array:
    """Return the spelling that stands for each of ``size`` values: the most frequent, the first by its text if tied.

    ``codes`` has the value of each spelling, ``counts`` how often it occurs. A code from ``size`` on is no value.
    """
    rank = np.empty(len(values), np.int64)
    rank[pc.array_sort_indices(values).to_numpy()] = np.arange(len(values))
    order = np.lexsort((rank, -counts, codes))
    order = order[codes[order] < size]
    first = np.ones(len(order), np.bool_)
    np.not_equal(codes[order][1:], codes[order][:-1], out=first[1:])
    return values.take(pa.array(order[first]))


def folded_words(words: Sequence[str], leaves: Sequence[str], *, numbers: bool = True) -> list[str]:
    """Return folded texts in the spelling of the leaves of a tree; other texts stay unchanged."""
    spelled = {fold(leaf, numbers=numbers): leaf for leaf in reversed(leaves)}
    return [spelled.get(word, word) for word in words]
