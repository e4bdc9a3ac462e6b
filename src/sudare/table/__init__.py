"""The table model: encoded columns, item sets, taxonomies, atoms and recodings."""

from sudare.table.array_storage import (
    MEMORY,
    Storage,
    chunks,
)
from sudare.table.atoms import find_atoms
from sudare.table.axis_places import placed, places_of
from sudare.table.column import Column, ItemSets, SetValues, kind_name, smallest
from sudare.table.covers import Cover, Generalized, SetCover, first_of_each, generalize, inside_runs
from sudare.table.encode import encode_column, encode_items, encode_like, looks_numeric, nearest_numbers, plain_numbers
from sudare.table.equal_cells import merge_alike, published_classes
from sudare.table.levels import cut_at, height
from sudare.table.rare_values import OTHER, hide_rare
from sudare.table.recoding import SUPPRESSED, Draw, Partition, Perturbation, Recoding, Representatives, Separation
from sudare.table.table import Table
from sudare.table.taxonomy import Taxonomy, depths

__all__ = [
    "MEMORY",
    "OTHER",
    "SUPPRESSED",
    "Column",
    "Cover",
    "Draw",
    "Generalized",
    "ItemSets",
    "Partition",
    "Perturbation",
    "Recoding",
    "Representatives",
    "Separation",
    "SetCover",
    "SetValues",
    "Storage",
    "Table",
    "Taxonomy",
    "chunks",
    "cut_at",
    "depths",
    "encode_column",
    "encode_items",
    "encode_like",
    "find_atoms",
    "first_of_each",
    "generalize",
    "height",
    "hide_rare",
    "inside_runs",
    "kind_name",
    "looks_numeric",
    "merge_alike",
    "nearest_numbers",
    "placed",
    "places_of",
    "plain_numbers",
    "published_classes",
    "smallest",
]
