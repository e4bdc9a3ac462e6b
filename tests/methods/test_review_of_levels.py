"""What a review found in global recodings: each of these once went wrong."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.methods.lattice import lattice
from sudare.methods.lattice.full_domain import full_domain
from sudare.methods.tds.cuts import Cut
from sudare.models import KAnonymity, Requirements
from sudare.table import Table, encode_column


def test_classes_are_in_the_order_of_what_they_show_even_where_all_records_differ(monkeypatch):
    # a large table without atoms: the order of its records must not come through
    monkeypatch.setattr(lattice, "find_atoms", lambda *given, **more: None)
    cells = ["b", "a", "c", "a", "c", "b"]
    found = []
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]):
        column = encode_column("q", pa.array([cells[row] for row in order]))
        table = Table(6, {"q": column})
        found.append(full_domain(table, Requirements((KAnonymity(2),))).classes)
    np.testing.assert_array_equal(found[0][::-1], found[1])
    assert [found[0][cells.index(cell)] for cell in "abc"] == [0, 1, 2]


@pytest.mark.parametrize(
    "method", [{"name": "full-domain"}, {"name": "tds", "target": "s"}], ids=["full-domain", "tds"]
)
@pytest.mark.parametrize("subjects", ["per-class", "linked"])
def test_people_by_some_columns_are_counted_as_the_audit_sees_them(method, subjects):
    data = pa.table({"a": ["x"] * 6, "b": list("pppqqq"), "who": [1, 2, 3, 4, 5, 6], "s": list("mnmnmn")})
    policy = {
        "columns": {
            "a": {"role": "quasi"},
            "b": {"role": "quasi"},
            "who": {"role": "subject"},
            "s": {"role": "insensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 5, "count": "subjects", "columns": ["a"]}],
        "method": method,
        "release": {"subjects": subjects},
    }
    assert sudare.anonymize(data, policy).certificate["rows_out"] == 6


def test_a_column_of_very_many_values_is_not_counted_for_every_group():
    random = np.random.default_rng(0)
    rows, wide = 40_000, 30_000
    quasi = {
        "a": encode_column("a", pa.array(random.integers(0, 60, rows).astype(str)), kind="categorical"),
        "b": encode_column("b", pa.array(random.integers(0, 60, rows).astype(str)), kind="categorical"),
        "c": encode_column("c", pa.array(random.integers(0, wide, rows).astype(str)), kind="categorical"),
    }
    target = encode_column("y", pa.array(random.choice(["u", "v"], rows)))
    cut = Cut(Table(rows, quasi, target=target), Requirements((KAnonymity(2, columns=("a",)),)), 0.1)
    for candidate in [(0, 0), (1, 0)]:
        assert cut.valid(candidate)
        cut.specialize(candidate)
    assert cut.groups.count > 3000
    parts = cut.groups.parts((2, 0), cut.trees[2])
    assert len(parts.owner) <= rows  # not groups times values
    cut.specialize((2, 0))
    assert cut.groups.count == len(parts.owner)


def test_what_can_not_be_valid_is_not_counted():
    quasi = {"c": encode_column("c", pa.array([str(i) for i in range(100)]), kind="categorical")}
    target = encode_column("y", pa.array(["u", "v"] * 50))
    cut = Cut(Table(100, quasi, target=target), Requirements((KAnonymity(2),)), 0.98)
    cut.groups.parts = None  # would be called to count
    assert not cut.valid((0, 0))
