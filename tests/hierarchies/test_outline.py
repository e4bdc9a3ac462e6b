"""A hierarchy as text."""

import numpy as np
import pyarrow as pa

from sudare.hierarchies import bands, flat, from_tree, level_names, levels, show

JOBS = {"Any": {"Desk": ["clerk", "lawyer"], "Other": ["Other"]}}


def test_levels_are_counted_from_the_leaves():
    assert levels(from_tree(JOBS)) == (3, 2, 1)
    assert level_names(from_tree(JOBS)) == ("values", "groups", "all")
    assert level_names(bands([5], 0, pa.array([1]))) == ("number", "bands of 5", "all")


def test_a_short_tree_is_shown_whole():
    assert show(from_tree(JOBS, source="jobs.csv")).split("\n") == [
        "jobs.csv",
        "level 2  all     1 label   Any",
        "level 1  groups  2 labels  Desk",
        "level 0  values  3 leaves  clerk",
        "",
        "Any (3)",
        "├── Desk (2)",
        "│   ├── clerk",
        "│   └── lawyer",
        "└── Other",
    ]


def test_long_lists_are_abbreviated_from_the_root_down():
    text = show(bands([10, 100], 0, pa.array(np.arange(1000))), max_lines=25)
    tree = text.split("\n\n")[1].split("\n")
    assert len(tree) <= 25
    assert tree[0] == "* (1,000)"
    assert sum(line.startswith(("├── [", "└── [")) for line in tree) == 10
    text = show(flat(pa.array(np.arange(1000))), max_lines=10)
    assert text.endswith("└── … 992 more")
    text = show(bands([10], 0, pa.array(np.arange(1000))), max_lines=5)
    assert text.endswith("└── … 97 more (970 leaves)")


def test_one_line_and_no_leaf_are_enough():
    assert show(from_tree(JOBS), max_lines=1).endswith("\nAny (3)")
    assert show(flat(pa.array([], pa.string()))).endswith("* (0)")
