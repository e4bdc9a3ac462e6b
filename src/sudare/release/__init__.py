"""Releases: rendered cells, written files, and how they come into place."""

from sudare.release.carried import plain_type
from sudare.release.cells import Anything, Cell, Choice, Interval, parse_cell
from sudare.release.placing import certificate_path, check_folder, place, private_folder, second_table
from sudare.release.render import Rows, render
from sudare.release.untouched import render_untouched
from sudare.release.writing import check_target, is_text, write_batches

__all__ = [
    "Anything",
    "Cell",
    "Choice",
    "Interval",
    "Rows",
    "certificate_path",
    "check_folder",
    "check_target",
    "is_text",
    "parse_cell",
    "place",
    "plain_type",
    "private_folder",
    "render",
    "render_untouched",
    "second_table",
    "write_batches",
]
