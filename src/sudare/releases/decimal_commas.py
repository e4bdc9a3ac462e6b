"""Numbers and ranges with a decimal comma, as text files have them that a policy wants so; and the way back.

Only columns of numbers, and those whose cells are ranges, are written like this. The certificate lists them. In these
columns a point between digits becomes a comma, and the ends of a range are parted by a semicolon and a blank:

==============  ==============
plain           with commas
==============  ==============
``17.5``        ``17,5``
``-1.5e-07``    ``-1,5e-07``
``[17.5, 42]``  ``[17,5; 42]``
``[0.5, 1)``    ``[0,5; 1)``
``39``, ``*``   the same
==============  ==============

Both directions are exact. No other text of such a column has this form.
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from sudare.sources.local_numbers import plainly_spelled

_POINT = r"^(-?[0-9]*)\.([0-9]+(?:[eE][-+]?[0-9]+)?)$"
_COMMA = r"^(-?[0-9]*),([0-9]+(?:[eE][-+]?[0-9]+)?)$"
_RANGE = r"^\[(?P<low>[^,;\[\]]*), (?P<high>[^,;\[\]]*)(?P<end>[\])])$"
_COMMA_RANGE = r"^\[(?P<low>[^;\[\]]*); (?P<high>[^;\[\]]*)(?P<end>[\])])$"
LIKE_A_NUMBER = r"^ *[+-]?([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+([eE][-+]?[0-9]+)? *$"
"""Texts that a reader who expects decimal commas takes for numbers."""
_ANOTHER_FORM = (
    r"^'?[+-]?(?:[0-9]+,[0-9]*|[0-9]*[.,][0-9]+|[0-9]{1,3}(?:[., '][0-9]{3})+(?:[.,][0-9]*)?)(?:[eE][-+]?[0-9]+)?$"
)
"""Numbers as people write them; the audit takes none of them in a column of numbers."""


def with_commas(texts: pa.Array) -> pa.Array:
    """Return texts, also those of a dictionary, with decimal commas."""
    return _changed(texts, _POINT, r"\1,\2", _RANGE, "; ")


def without_commas(texts: pa.Array) -> pa.Array:
    """Return texts with decimal commas as they were."""
    return _changed(texts, _COMMA, r"\1.\2", _COMMA_RANGE, ", ")


def numbers_among_words(cells: pa.ChunkedArray) -> bool:
    """Return whether texts have numbers with a point among them, and nobody takes another for a number or a range.

    Then the numbers can be written with a comma, and read back as they were.
    """
    some = False
    for chunk in cells.chunks:
        texts = chunk.unique().drop_null()
        numbers = pc.match_substring_regex(texts, _POINT)
        words = texts.filter(pc.invert(numbers))
        spelled = pc.utf8_trim_whitespace(plainly_spelled(words))
        if pc.any(pc.or_(pc.match_substring_regex(spelled, _ANOTHER_FORM), pc.starts_with(words, "["))).as_py():
            return False
        some = some or bool(pc.any(numbers).as_py())
    return some


def read_without_commas(table: pa.Table, numbers: Collection[str]) -> pa.Table:
    """Return a table from a text file with the numbers and ranges of these columns as they were."""
    for place, field in enumerate(table.schema):
        if field.name in numbers and pa.types.is_string(field.type):
            chunks = [without_commas(chunk) for chunk in table.column(place).chunks]
            table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def column_without_commas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of some library's table with its numbers and ranges as they were; it may have none of text."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string_view(kind):
        column, kind = column.cast(pa.large_string()), pa.large_string()
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    return pa.chunked_array([without_commas(chunk) for chunk in column.chunks], column.type)


def _changed(texts: pa.Array, number: str, written: str, ranges: str, between: str) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        changed = _changed(texts.dictionary, number, written, ranges, between)
        return pa.DictionaryArray.from_arrays(texts.indices, changed)
    found = pc.extract_regex(texts, ranges)
    whole = pc.replace_substring_regex(texts, number, written)
    if found.null_count == len(found):
        return whole
    low, high = (
        pc.replace_substring_regex(pc.struct_field(found, end), number, written).cast(texts.type)
        for end in ("low", "high")
    )
    end = pc.struct_field(found, "end").cast(texts.type)
    first, mark, none = (pa.scalar(text, texts.type) for text in ("[", between, ""))
    joined = pc.binary_join_element_wise(first, low, mark, high, end, none)
    return pc.if_else(pc.is_valid(joined), joined, whole)
