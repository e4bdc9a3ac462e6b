"""Engines: where rows live. Here: files and tables in Python."""

from sudare.engines.files import TextForm, file_columns, file_kind, missing_columns, read_file
from sudare.engines.frames import adopt

__all__ = ["TextForm", "adopt", "file_columns", "file_kind", "missing_columns", "read_file"]
