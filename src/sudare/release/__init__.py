"""Releases: rendered cells, written files, and how they come into place."""

from sudare.release.carried import plain_type, required_values
from sudare.release.cells import Anything, Cell, Choice, Interval, parse_cell
from sudare.release.formulas import read_back
from sudare.release.placing import (
    PAPER,
    certificate_path,
    check_folder,
    place,
    place_folder,
    private_folder,
    second_table,
)
from sudare.release.render import Rows, class_labels, people_numbers, render
from sudare.release.text_form import check_names
from sudare.release.untouched import render_untouched
from sudare.release.writing import check_target, is_text, telling, write_batches

__all__ = [
    "PAPER",
    "Anything",
    "Cell",
    "Choice",
    "Interval",
    "Rows",
    "certificate_path",
    "check_folder",
    "check_names",
    "check_target",
    "class_labels",
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
    "write_batches",
]
