"""What it costs that a release shows no rare value: hardly more loss than with tight ranges."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.kernels.covers import cover_loss
from sudare.methods.clustering import Field
from sudare.table import hide_rare
from sudare.table.encode import encode_column
from sudare.table.table import Table

QUASI = ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"]
ALLOWED = 1.02


def released(table, k, ranges, method):
    rules = {
        "columns": {name: {"role": "quasi"} for name in QUASI},
        "require": [{"model": "k-anonymity", "k": k}],
        "release": {"ranges": ranges},
        "method": {"name": method},
    }
    return sudare.anonymize(table, rules)


@pytest.mark.parametrize("k", [2, 5, 10, 25, 100])
@pytest.mark.parametrize("method", ["top-down", "mondrian"])
def test_hiding_rare_values_costs_at_most_two_percent_of_the_loss_on_adult(k, method):
    adult = sudare.datasets.adult(complete=True).select(QUASI)
    tight, safe = (released(adult, k, ranges, method) for ranges in ("tight", "safe"))
    assert safe.certificate["loss"]["gcp"] <= ALLOWED * tight.certificate["loss"]["gcp"] + 0.00005
    for name in ("workclass", "marital-status", "occupation", "native-country"):
        values, counts = np.unique(adult[name].to_numpy(zero_copy_only=False), return_counts=True)
        shown = safe.data[name].unique().to_pylist()
        listed = {item for cell in shown for item in (cell.strip("{}").split(", ") if cell else ())}
        assert not listed & set(values[counts < k])


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_records_are_found_also_where_a_category_stands_for_several(seed):
    random = np.random.default_rng(seed)
    rows = 400
    texts = [f"v{number:02d}" for number in random.zipf(1.4, rows) % 40]
    columns = {
        "a": encode_column("a", pa.array(texts)),
        "b": encode_column("b", pa.array(random.integers(0, 50, rows))),
        "c": encode_column("c", pa.array([f"w{number}" for number in random.integers(0, 4, rows)])),
    }
    table = hide_rare(Table(rows, columns), 8)
    assert table.single["a"].other[1] > 1
    field = Field(table)
    low, high = (np.empty(3, np.int64) for _ in range(2))
    bits = np.empty(3, np.uint64)

    def together(one, two):
        for a, column in enumerate(field.columns):
            codes = field.codes[[one, two], a].astype(np.int64)
            plain = column.positions is None
            low[a], high[a] = (0, 0) if plain else (codes.min(), codes.max())
            bits[a] = np.bitwise_or.reduce(np.uint64(1) << codes.astype(np.uint64)) if plain else 0
        return cover_loss(field.space, low, high, bits)

    near = field.around()
    for one in range(0, len(field), 7):
        losses = sorted(together(one, two) for two in range(len(field)) if two != one)[: near.shape[1]]
        np.testing.assert_allclose(sorted(together(one, two) for two in near[one]), losses, rtol=1e-12)
