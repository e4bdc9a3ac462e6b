"""Levels: how high a column is, and what its values show so many steps up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.hierarchies import build
from sudare.policy import HierarchySpec
from sudare.table import cut_at, encode_column, height

# a branch of three steps, a group of one leaf, a leaf that fills two levels, and one that fills three
TREE = {
    "*": {
        "warm": {"hot": ["red", "amber"]},
        "cold": {"bluish": ["blue"], "grey": ["grey"]},
        "white": {"white": ["white"]},
    }
}
PATHS = {
    "red": ["red", "hot", "warm", "*"],
    "amber": ["amber", "hot", "warm", "*"],
    "blue": ["blue", "bluish", "cold", "*"],
    "grey": ["grey", "grey", "cold", "*"],
    "white": ["white", "white", "white", "*"],
    None: ["", "", "", "*"],
}


def column(cells, hierarchy=None, **more):
    encoded = encode_column("c", pa.array(cells), **more)
    if hierarchy is None:
        return encoded
    tree = build(HierarchySpec.model_validate(hierarchy), encoded.values, folder=Path(), column="c")
    return encoded.reordered(*tree.taxonomy(encoded.values, encoded.missing))


@pytest.mark.parametrize("cells", [list(PATHS), ["blue"], ["white", None], [None]])
def test_with_a_hierarchy_a_level_is_a_step_towards_the_root(cells):
    given = column(pa.array(cells, pa.string()), {"tree": TREE})
    assert height(given) == 3
    values = [*given.values.to_pylist(), None]
    for level in range(4):
        cut = cut_at(given, level)
        assert (cut.dtype, len(cut)) == (np.int64, given.size)
        labels = {values[code]: given.taxonomy.labels[node] for code, node in enumerate(cut)}
        assert labels == {cell: PATHS[cell][level] for cell in cells}


def test_bands_of_numbers_have_levels_too():
    given = column([1, 7, 12, 25], {"bands": [5, 10]})
    assert height(given) == 3
    assert [given.taxonomy.labels[node] for node in cut_at(given, 1)] == ["[0, 4]", "[5, 9]", "[10, 14]", "[25, 29]"]
    assert [given.taxonomy.labels[node] for node in cut_at(given, 2)] == ["[0, 9]", "[0, 9]", "[10, 19]", "[20, 29]"]


@pytest.mark.parametrize("cells", [[3, 1, None, 1], ["a", "b", None, "c"], ["x"], [None, None]])
def test_without_one_there_is_everything_or_nothing(cells):
    given = column(cells)
    assert height(given) == 1
    assert len(set(cut_at(given, 0).tolist())) == given.size
    assert cut_at(given, 1).tolist() == [-1] * given.size


@pytest.mark.parametrize(("hierarchy", "level"), [(None, -1), (None, 2), ({"tree": TREE}, -1), ({"tree": TREE}, 4)])
def test_other_levels_there_are_not(hierarchy, level):
    with pytest.raises(ValueError, match="a level of 'c' must be from 0 to"):
        cut_at(column(["red", "blue"], hierarchy), level)
