"""Sizes that several rooms go by: what is worked on at a time, and what the types of the machine can hold."""

from __future__ import annotations

MIB = 1 << 20
"""A mebibyte, in bytes."""
GIB = 1 << 30
"""A gibibyte, in bytes."""
MANY_ROWS = 1 << 20
"""About a million rows: what is read, rendered, written and proven at a time."""
FEW_ROWS = 1 << 16
"""Rows, or codes, that are so few that one core does them sooner than several, and a table of counts costs nothing."""
CODES_16 = 1 << 16
"""How many codes 16 bits can tell apart."""
LARGEST_INT32 = (1 << 31) - 1
"""The largest signed number of 32 bits; also the bytes of text, and the items, that one array of Arrow may hold."""
LARGEST_INT64 = (1 << 63) - 1
"""The largest signed number of 64 bits."""
WORDS = 1 << 32
"""How many words of 32 bits there are."""
EXACT = 1 << 53
"""Whole numbers up to this one are exact as floating-point numbers."""
