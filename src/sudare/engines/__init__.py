"""Engines: where rows live. Files and tables in Python, and tables of databases."""

from sudare.engines.addresses import Place, Remote, find_place, find_remote, shown_place
from sudare.engines.batches import ROWS, Source, open_table
from sudare.engines.certificate_text import parse_certificate, read_certificate
from sudare.engines.column_checks import check_columns
from sudare.engines.database.sql_tables import CERTIFICATE, Database, Decision, Tally, open_database
from sudare.engines.dataframes import adopt
from sudare.engines.delimited_text import TextForm
from sudare.engines.file_errors import check_file, reading
from sudare.engines.file_formats import (
    file_columns,
    file_format,
    formats_with,
    open_file,
    open_path,
    read_file,
    unpacked_size,
)
from sudare.engines.spark.spark import is_spark

__all__ = [
    "CERTIFICATE",
    "ROWS",
    "Database",
    "Decision",
    "Place",
    "Remote",
    "Source",
    "Tally",
    "TextForm",
    "adopt",
    "check_columns",
    "check_file",
    "file_columns",
    "file_format",
    "find_place",
    "find_remote",
    "formats_with",
    "is_spark",
    "open_database",
    "open_file",
    "open_path",
    "open_table",
    "parse_certificate",
    "read_certificate",
    "read_file",
    "reading",
    "shown_place",
    "unpacked_size",
]
