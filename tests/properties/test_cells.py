"""Released cells as text and back, for any texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.releases import Anything, Choice, Interval, parse_cell
from sudare.releases.cell_writer import cell_labels
from sudare.table import Partition, Table, encode_column, generalize

from .tables import NASTY

texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec="utf-8"), max_size=6))
cells = st.one_of(st.none(), texts)


def labels(column, classes):
    table = Table(len(column), {"c": column})
    partition = Partition(np.array(classes, dtype=np.int64), max(classes) + 1)
    return cell_labels(generalize(table, partition).covers["c"]).to_pylist()


@settings(deadline=None, max_examples=400)
@given(st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=5))
def test_categories_come_back_as_they_were(groups):
    flat = [cell for group in groups for cell in group]
    column = encode_column("c", pa.array(flat, pa.string()), kind="categorical")
    owners = [number for number, group in enumerate(groups) for _ in group]
    for group, text in zip(groups, labels(column, owners), strict=True):
        parsed, held = parse_cell(text), set(group)
        if len(held) == 1:
            assert parsed == group[0]
            assert (text is None) == (group[0] is None)
        elif len(held) == len(set(flat)):
            assert parsed == Anything()
        else:
            assert isinstance(parsed, Choice)
            assert set(parsed.members) == held
            assert len(parsed.members) == len(held)


@settings(deadline=None, max_examples=200)
@given(st.sets(st.frozensets(cells, min_size=1, max_size=4), min_size=2, max_size=5))
def test_different_cells_have_different_texts(groups):
    groups = [sorted(group, key=repr) for group in groups]
    flat = [cell for group in groups for cell in group] + ["one more", None]
    column = encode_column("c", pa.array(flat, pa.string()), kind="categorical")
    owners = [number for number, group in enumerate(groups) for _ in group] + [len(groups)] * 2
    shown = labels(column, owners)[:-1]
    assert len(set(shown)) == len(shown)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_numbers_come_back_exactly(groups):
    flat = [cell for group in groups for cell in group]
    column = encode_column("c", pa.array(flat, pa.float64()))
    owners = [number for number, group in enumerate(groups) for _ in group]
    for group, text in zip(groups, labels(column, owners), strict=True):
        parsed, held = parse_cell(text), set(group)
        if None in held:
            assert parsed == (None if len(held) == 1 else Anything())
        elif len(held) == 1:
            assert float(parsed) == group[0]
        else:
            assert isinstance(parsed, Interval)
            assert (float(parsed.low), float(parsed.high)) == (min(held), max(held))
