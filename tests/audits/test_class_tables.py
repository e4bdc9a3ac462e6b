"""Classes are made from cells as they stand; the result is the one that looking at every record gives."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.audits import audit_release, equivalence_classes
from sudare.core.private_folders import PREFIX
from sudare.policy import Policy

from .tables import write

POLICY = Policy.parse(
    {
        "columns": {
            "zone": {"role": "quasi"},
            "bought": {"role": "quasi", "kind": "items", "separator": "|"},
            "illness": {"role": "sensitive"},
            "who": {"role": "subject"},
        },
        "require": [
            {"model": "k-anonymity", "k": 2},
            {"model": "k-anonymity", "k": 2, "count": "subjects"},
            {"model": "k-anonymity", "k": 2, "columns": ["zone"], "count": "subjects"},
            {"model": "k-anonymity", "k": 2, "columns": ["bought"]},
            {"model": "l-diversity", "l": 2, "column": "illness"},
            {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 2, "column": "illness"},
            {"model": "km-anonymity", "k": 2, "m": 2, "column": "bought"},
        ],
    }
)
NAMES = list(POLICY.columns)


def naive(rows):
    """Return the number of classes and what the promises achieve, and the classes whose people are not numbered."""
    groups, by_zone, by_set = defaultdict(list), defaultdict(set), Counter()
    support = Counter()
    for zone, bought, illness, who in rows:
        items = None if bought is None else tuple(bought)  # in another order it is another cell
        groups[zone, items].append((illness, who))
        by_zone[zone].add(who)
        by_set[items] += 1
        for size in (1, 2):
            support.update(frozenset(chosen) for chosen in combinations(frozenset(items or ()), size))
    people = [{who for _, who in group} for group in groups.values()]
    values = [Counter(illness for illness, _ in group) for group in groups.values()]
    linked = sum(found != set(range(1, len(found) + 1)) for found in people)
    return len(groups), [
        min(map(len, groups.values())),
        min(map(len, people)),
        min(map(len, by_zone.values())),
        min(by_set.values()),
        min(map(len, values)),
        {
            "alpha": pytest.approx(max(max(v.values()) / v.total() for v in values)),
            "k": min(map(len, groups.values())),
        },
        min(support.values(), default=None),
        linked,
    ]


def found(release, **options):
    report = audit_release(release, POLICY, **options)
    return report.classes, [guarantee.achieved for guarantee in report.guarantees[:8]]


def table_of(rows):
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    types = [pa.string(), pa.list_(pa.string()), pa.string(), pa.int64()]
    return pa.table({name: pa.array(columns[name], kind) for name, kind in zip(NAMES, types, strict=True)})


def tables(items, most):
    zones = st.sampled_from(["a", "b", "", None])
    sets = st.none() | st.lists(items, max_size=most)
    return st.lists(
        st.tuples(
            zones, sets, st.sampled_from(["flu", "ulcer", None]), st.sampled_from([1, 2, 3, 125, 126, 2**40, None])
        ),
        min_size=1,
        max_size=25,
    )


@settings(deadline=None, max_examples=60)
@given(rows=tables(st.sampled_from(["x", "y", "z", "n", "v", "", None]), 4))
def test_lists_in_any_order_with_repeats_and_nulls(rows):
    table = table_of(rows)
    expected = naive(rows)
    assert found(table) == expected
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.parquet"
        pq.write_table(table, path, row_group_size=7)
        assert found(path) == expected


@settings(deadline=None, max_examples=30)
@given(rows=tables(st.sampled_from(["x", "y", "z w"]), 4))
def test_texts_in_any_order(rows):
    rows = [(zone or None, bought or None, illness, who) for zone, bought, illness, who in rows]
    with tempfile.TemporaryDirectory() as folder:
        cells = [(zone, "|".join(bought or ()), illness, who) for zone, bought, illness, who in rows]
        path = write(Path(folder) / "release.csv", NAMES, cells)
        assert found(path) == naive(rows)


@settings(deadline=None, max_examples=30)
@given(rows=tables(st.sampled_from(["x", "y"]), 2))
def test_counts_in_one_number_are_those_of_the_groups(rows):
    packed = found(table_of(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equivalence_classes, "_DIGITS", 0)
        assert found(table_of(rows)) == packed


def test_sets_written_in_different_orders_are_different_classes(tmp_path):
    """They mean the same, and every reader tells them apart: whose set is written otherwise is singled out."""
    rows = [("a", order, illness, 1) for order in (["x", "y"], ["y", "x"], ["y", "y", "x"]) for illness in "st"]
    path = tmp_path / "release.parquet"
    pq.write_table(table_of(rows), path)
    report = audit_release(path, POLICY)
    assert (report.rows, report.classes) == (6, 3)
    assert [guarantee.achieved for guarantee in report.guarantees[:5]] == [2, 1, 1, 2, 2]


def test_a_column_may_be_called_like_a_table_of_the_audit():
    table = table_of([("a", ["x"], illness, number) for illness, number in (("s", 1), ("t", 2))])
    described = POLICY.model_dump(exclude_none=True)
    described["columns"]["people"] = described["columns"].pop("illness")
    described["require"] = [
        {"model": "l-diversity", "l": 2, "column": "people"},
        {"model": "k-anonymity", "k": 2, "count": "subjects"},
    ]
    assert audit_release(table.rename_columns({"illness": "people"}), Policy.parse(described)).passed


def test_an_empty_set_is_no_missing_set(tmp_path):
    path = tmp_path / "release.parquet"
    pq.write_table(table_of([("a", bought, "flu", 1) for bought in ([], [], None)]), path)
    assert found(path)[0] == 2


def test_little_memory_spills_and_proves_the_same(tmp_path):
    rows = 400_000
    table = pa.table(
        {
            "zone": [f"a zone with a long name {row // 4}" for row in range(rows)],
            "bought": pa.array([[f"x{row % 7}", f"y{row % 11}"] for row in range(rows)]),
            "illness": [f"illness {row % 3}" for row in range(rows)],
            "who": pa.array(range(rows), pa.int64()),
        }
    )
    path = tmp_path / "release.parquet"
    pq.write_table(table, path)
    spilled = 0

    def look(_):
        nonlocal spilled
        spilled += sum(file.stat().st_size for file in tmp_path.glob(f"{PREFIX}*/**/*") if file.is_file())

    assert found(path, scratch=tmp_path, memory=1 << 26, progress=look) == found(path)
    assert spilled
    assert [file.name for file in tmp_path.iterdir()] == ["release.parquet"]
