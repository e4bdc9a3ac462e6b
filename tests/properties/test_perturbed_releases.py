"""Releases whose values are drawn anew, for any texts, names and formats."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import event, given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError, PolicyError, PolicyUnmetError, TargetError

from .tables import NAMES, NASTY, unwritable
from .test_releases import many

cells = st.sampled_from([*NASTY, None])
BETWEEN = ((2, 6), (2, 6), (1, 2))
"""Values of the columns, from the fewest to the most."""


@st.composite
def tables(draw):
    """Three columns with nasty names: two that are perturbed, and one that stays; few values, or many."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=3, unique=True))
    rows = draw(st.integers(1, 60))
    pools = [draw(st.lists(cells, min_size=least, max_size=most, unique=True)) for least, most in BETWEEN]
    return {
        name: draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        for name, pool in zip(names, pools, strict=True)
    }


@many(max_examples=120)
@given(
    columns=tables(),
    way=st.sampled_from(["plain", "invariant", "strata", "joint", "never", "number", "per-column"]),
    limit=st.sampled_from([None, (0.95, 0.0), (1, 0.001)]),
    ending=st.sampled_from([".csv", ".parquet", ".arrow"]),
)
def test_nasty_values_and_names(columns, way, limit, ending, tmp_path):
    for old in tmp_path.iterdir():
        old.unlink()
    first, second, beside = columns
    held = set(zip(columns[beside], columns[first], strict=True))
    never = [{beside: one, first: two} for one in set(columns[beside]) for two in set(columns[first])
             if (one, two) not in held]  # fmt: skip
    options = {
        "plain": {},
        "invariant": {"kind": "invariant"},
        "strata": {"strata": [beside]},
        "joint": {"joint": [[second, first]]},
        "never": {"never": never[:1]} if never else {},
        "number": {"p": 0.05},
        "per-column": {"p": "per-column", "weights": {first: 2}},
    }[way]
    require = [{"model": "pk-anonymity", "k": 2}]
    if limit is not None:
        require.append({"model": "alpha-gamma", "column": first, "alpha": limit[0], "gamma": limit[1]})
    text = {"kind": "categorical"}
    policy = {
        "columns": {
            first: {"role": "sensitive", **text}, second: {"role": "quasi", **text}, beside: {"role": "insensitive"},
        },
        "require": require,
        "method": {"name": "pram", **options},
    }  # fmt: skip
    data = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    path = tmp_path / f"r{ending}"
    try:
        release = sudare.anonymize(data, policy, out=path)
    except (PolicyUnmetError, DataError, PolicyError, TargetError) as error:
        event(f"{way}: {type(error).__name__}")
        assert list(tmp_path.iterdir()) == []
        if isinstance(error, TargetError):
            assert ending == ".csv"
            assert any(unwritable(values) for values in columns.values())
        return
    event(f"{way}: released")
    report = sudare.audit(path, policy)
    assert report.passed, report.problems
    assert report.rows == release.certificate["rows_out"] == len(columns[first])
    if ending == ".parquet":
        made = pq.read_table(path)
        assert Counter(made.column(beside).to_pylist()) == Counter(columns[beside])
        blank = (
            {None}
            if any(value is not None and not value.strip().strip("\u200b") for value in columns[first])
            else set()
        )
        assert set(made.column(first).to_pylist()) <= set(columns[first]) | blank
        if way == "never" and never:
            shown = zip(made.column(beside).to_pylist(), made.column(first).to_pylist(), strict=True)
            assert (never[0][beside], never[0][first]) not in set(shown)
