"""Text cells that a spreadsheet would run as formulas: an apostrophe before them makes them harmless.

A spreadsheet reads a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end as a formula, which may run
programs or send cells elsewhere. An apostrophe before it marks it as text. A text that already has apostrophes before
such a sign gets one more, so that reading can reverse this: it removes one apostrophe before a sign. A negative number
is a number for spreadsheets, too, and stays unchanged.

==========  ============  ==========
text        ``escape``    ``keep``
==========  ============  ==========
``=1+1``    ``'=1+1``     ``=1+1``
``'=1+1``   ``''=1+1``    ``''=1+1``
``-``       ``'-``        ``-``
``-5``      ``-5``        ``-5``
``it's``    ``it's``      ``it's``
==========  ============  ==========
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SIGNS = "=+@\t\r\n＝＋－＠-"
"""What formulas begin with; some spreadsheets know the full-width signs as well."""
_FORMULA = rf"^'*[{SIGNS}]"
_MARKED = rf"^'+[{SIGNS}]"
_NUMBER = r"^-([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_ONE_MARKED = re.compile(_MARKED)
_ONE_NUMBER = re.compile(_NUMBER.replace("$", r"\Z"))
_ONE_FORMULA = re.compile(_FORMULA)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet could take a text for a formula."""
    return bool(_ONE_FORMULA.match(text)) and not _ONE_NUMBER.match(text)


def plain(text: str) -> str:
    """Return a cell without the apostrophe that stands for being text."""
    return text[1:] if _ONE_MARKED.match(text) else text


def escape(texts: pa.Array, *, keep: bool) -> pa.Array:
    """Return texts, also those of a dictionary, with an apostrophe where one is needed."""
    if pa.types.is_dictionary(texts.type):
        return pa.DictionaryArray.from_arrays(texts.indices, escape(texts.dictionary, keep=keep))
    if not is_text(texts.type):
        return texts
    needed = pc.match_substring_regex(texts, _MARKED if keep else _FORMULA)
    if not pc.any(needed).as_py():
        return texts
    needed = pc.and_not(needed, pc.match_substring_regex(texts, _NUMBER))
    marked = pc.binary_join_element_wise(pa.scalar("'", texts.type), texts, pa.scalar("", texts.type))
    return pc.if_else(needed, marked, texts)


def read_back(table: pa.Table) -> pa.Table:
    """Return a table from a text file with all its cells unescaped."""
    for place, field in enumerate(table.schema):
        if is_text(field.type):
            texts = table.column(place)
            marked = pc.match_substring_regex(texts, _MARKED)
            if pc.any(marked).as_py():
                table = table.set_column(place, field, pc.if_else(marked, pc.utf8_slice_codeunits(texts, 1), texts))
    return table


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is a readable text type."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
