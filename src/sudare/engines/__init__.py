"""Engines: where rows live. Here: files and tables in Python."""

from sudare.engines.files import TextForm, check_columns, file_columns, file_kind, read_file
from sudare.engines.frames import adopt

__all__ = ["TextForm", "adopt", "check_columns", "file_columns", "file_kind", "read_file"]
