"""Classes that show the same become one, and releases with very many classes are worked on in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sudare.hierarchies import build
from sudare.kernels.class_rows import mix_runs
from sudare.policy import HierarchySpec
from sudare.releases import cell_writer, item_set_cells, release_figures
from sudare.releases.release_figures import measure
from sudare.releases.render import Layout, render
from sudare.table import SUPPRESSED, Partition, Table, chunks, covers, encode_column, encode_items, equal_cells
from sudare.table.equal_cells import merge_alike, published_classes

TREE = {"tree": {"hot": ["red", "amber"], "cold": ["blue", "grey"]}}
COLORS = ["red", "amber", "blue", "grey"]
ALL = ["color", "tree", "number", "items", "nodes"]


def with_tree(encoded):
    built = build(HierarchySpec.model_validate(TREE), encoded.values, folder=Path(), column=encoded.name)
    return encoded.reordered(*built.taxonomy(encoded.values, encoded.missing))


@st.composite
def decisions(draw):
    """A table with every kind of column, and a partition of it; few values, so that classes look alike."""
    rows = draw(st.integers(2, 12))

    def cells(values):
        return draw(st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows))

    def sets(values):
        each = st.none() | st.lists(st.sampled_from(values), unique=True, max_size=3).map(sorted)
        return pa.array(draw(st.lists(each, min_size=rows, max_size=rows)), pa.list_(pa.string()))

    columns = [
        encode_column("color", pa.array(cells(COLORS), pa.string())),
        with_tree(encode_column("tree", pa.array(cells(COLORS), pa.string()))),
        encode_column("number", pa.array(cells([1, 2, 9]), pa.int64())),
        encode_items("items", sets(COLORS)),
        with_tree(encode_items("nodes", sets(COLORS))),
    ]
    named = draw(st.lists(st.sampled_from(ALL), unique=True, min_size=1))
    table = Table(rows, {one.name: one for one in columns if one.name in named})
    count = draw(st.integers(1, rows))
    others = st.lists(st.integers(SUPPRESSED, count - 1), min_size=rows - count, max_size=rows - count)
    classes = draw(st.permutations([*range(count), *draw(others)]))
    return table, Partition(np.array(classes, np.int32), count, masked=count > 1 and draw(st.booleans()))


@pytest.fixture(params=["whole", "parts"], autouse=True)
def parts(request, monkeypatch):
    """Work on everything at once, or on two classes at a time."""
    if request.param == "parts":
        for module in (covers, equal_cells, cell_writer, item_set_cells):
            monkeypatch.setattr(module, "chunks", lambda rows: chunks(rows, 2))
        monkeypatch.setattr(release_figures, "MANY_ROWS", 0)
        monkeypatch.setattr(equal_cells, "_BUCKET", 2)


def naive(partition, shown):
    """Number classes by all their cells, by first appearance."""
    keys = list(zip(*(cover.cell.tolist() for cover in shown.covers.values()), strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[keys[group]] if group >= 0 else SUPPRESSED for group in partition.classes.tolist()]


same_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


@same_fixture
@given(decision=decisions())
def test_classes_with_equal_cells_become_one(decision):
    table, partition = decision
    shown = covers.generalize(table, partition)
    merged = merge_alike(partition, shown)
    assert merged.classes.tolist() == naive(partition, shown)
    assert merged.count == max(merged.classes.tolist()) + 1
    assert (merged is partition) == (merged.count == partition.count)
    if merged.masked:
        last = merged.classes == merged.count - 1
        assert partition.masked
        assert np.array_equal(last, partition.classes == partition.count - 1)


@same_fixture
@given(decision=decisions())
def test_digests_that_collide_merge_nothing(decision, monkeypatch):
    table, partition = decision
    shown = covers.generalize(table, partition)
    expected = naive(partition, shown)
    with monkeypatch.context() as patched:
        patched.setattr(equal_cells, "_digests", lambda shown, _: np.zeros(len(shown.sizes), np.uint64))
        assert merge_alike(partition, shown).classes.tolist() == expected


@same_fixture
@given(decision=decisions())
def test_figures_and_rows_do_not_depend_on_the_parts(decision):
    """The same in both kinds of run, each against what is worked out for all classes at once."""
    table, partition = decision
    layout = Layout([name for name in ALL if name in table.quasi])
    rows, shown = render(table, partition, layout, seed=1)
    made = pa.Table.from_batches(list(rows.batches(3))).to_pylist() if rows.count else []
    figures = measure(shown)
    with pytest.MonkeyPatch.context() as whole:
        for module in (covers, equal_cells, cell_writer, item_set_cells):
            whole.setattr(module, "chunks", chunks)
        whole.setattr(release_figures, "MANY_ROWS", 1 << 20)
        rows, again = render(table, partition, layout, seed=1)
        assert made == (pa.Table.from_batches(list(rows.batches())).to_pylist() if rows.count else [])
        assert figures == measure(again)


def test_a_class_that_must_stay_apart_does():
    """Where records show their own items, the masked class does not join another one that shows nothing."""
    numbers = encode_column("number", pa.array([1, None, 1, None, 1, None], pa.int64()))
    items = encode_items("items", pa.array([["a"]] * 6))
    partition = Partition(np.array([0, 0, 1, 1, 2, 2]), 3, {"items": np.array([0])}, masked=True)
    shown = published_classes(Table(6, {"number": numbers, "items": items}), partition)
    assert shown.partition.classes.tolist() == [0, 0, 0, 0, 1, 1]
    assert shown.partition.masked


def test_a_digest_depends_on_where_runs_end():
    parts = np.array([5, 7, 7], np.int64)
    first, second = np.zeros(2, np.uint64), np.zeros(2, np.uint64)
    mix_runs(np.array([0, 1, 3]), parts, first)
    mix_runs(np.array([0, 2, 3]), parts, second)
    assert len({*first.tolist(), *second.tolist()}) == 4
