"""Releases: rendered, written, placed, and read again."""

from sudare.releases.cell_reader import Anything, Choice, Interval, parse_cell
from sudare.releases.file_writers import (
    check_columns,
    check_rows,
    check_target,
    telling,
    write_batches,
)
from sudare.releases.placement import (
    PAPER,
    certificate_beside,
    certificate_path,
    check_folder,
    place,
    place_folder,
    private_folder,
    second_table,
)
from sudare.releases.release_formats import is_flat, is_text, text_layout
from sudare.releases.render import Layout, Rows, class_labels, people_numbers, render
from sudare.releases.render_unchanged import render_untouched
from sudare.releases.spreadsheet_formulas import read_back
from sudare.releases.unchanged_columns import plain_type, required_values

__all__ = [
    "PAPER",
    "Anything",
    "Choice",
    "Interval",
    "Layout",
    "Rows",
    "certificate_beside",
    "certificate_path",
    "check_columns",
    "check_folder",
    "check_rows",
    "check_target",
    "class_labels",
    "is_flat",
    "is_text",
    "parse_cell",
    "people_numbers",
    "place",
    "place_folder",
    "plain_type",
    "private_folder",
    "read_back",
    "render",
    "render_untouched",
    "required_values",
    "second_table",
    "telling",
    "text_layout",
    "write_batches",
]
