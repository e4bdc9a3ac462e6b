"""Engines: where rows live. Here: files and tables in Python."""

from sudare.engines.batches import Source, open_file, open_table
from sudare.engines.files import check_columns, file_columns, file_kind, read_file
from sudare.engines.frames import adopt
from sudare.engines.text import TextForm

__all__ = [
    "Source",
    "TextForm",
    "adopt",
    "check_columns",
    "file_columns",
    "file_kind",
    "open_file",
    "open_table",
    "read_file",
]
