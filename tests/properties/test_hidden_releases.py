"""Releases that hide sensitive values and leave all else as it was, for any texts, names and formats."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import event, given
from hypothesis import strategies as st

import sudare
from sudare.core.errors import DataError, PolicyUnmetError, TargetError, UnsupportedError
from sudare.methods import METHODS

from .tables import NAMES, NASTY, effective, unwritable
from .test_releases import many

WAYS = [
    {"name": name, **option}
    for name, method in METHODS.items()
    if method.leaves_quasi and not method.perturbs
    for option in ({}, *({key: word} for key, words in method.options.items() for word in words))
]
cells = st.lists(st.sampled_from([*NASTY, None]), min_size=1, max_size=30)
few = st.lists(st.sampled_from(NASTY), min_size=3, max_size=5, unique=True).flatmap(
    lambda values: st.lists(st.sampled_from(values), min_size=1, max_size=30)
)


@many(max_examples=150)
@given(
    method=st.sampled_from(WAYS),
    cells=st.one_of(cells, few),
    names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
    l=st.integers(2, 4),
    ending=st.sampled_from([".csv", ".parquet", ".arrow"]),
    separator=st.sampled_from([None, ";", "§"]),
)
def test_nasty_values_and_names(method, cells, names, l, ending, separator, tmp_path):  # noqa: E741
    for old in tmp_path.iterdir():
        old.unlink()
    quasi, hidden = names
    data = pa.table({quasi: pa.array(cells[::-1], pa.string()), hidden: pa.array(cells, pa.string())})
    spec = {"role": "sensitive", "kind": "categorical", "exact": True} | ({"separator": separator} if separator else {})
    policy = {
        "columns": {quasi: {"role": "quasi"}, hidden: spec},
        "require": [{"model": "l-diversity", "l": l, "column": hidden}],
        "method": method,
    }
    policy = effective(policy)
    path = tmp_path / f"r{ending}"
    try:
        release = sudare.anonymize(data, policy, out=path)
    except (PolicyUnmetError, UnsupportedError, DataError, TargetError) as error:
        event(type(error).__name__)
        values = Counter(cell or None if ending == ".csv" else cell for cell in cells)
        unmet = len(values) < l or (method["name"] == "anatomy" and max(values.values()) * l > len(cells))
        assert {
            PolicyUnmetError: unmet,
            UnsupportedError: ending == ".csv" and method["name"] == "dummies",
            TargetError: ending == ".csv" and unwritable(cells),
            DataError: method.get("missing") == "error" and None in values,
        }[type(error)]
        assert list(tmp_path.iterdir()) == []
        return
    report = sudare.audit(path, policy)
    assert report.passed, report.problems
    assert report.rows == release.certificate["rows_out"] == len(cells)
    if ending == ".parquet":
        assert Counter(pq.read_table(path).column(quasi).to_pylist()) == Counter(cells)
