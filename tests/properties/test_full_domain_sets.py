"""Item sets in full-domain generalization: every node of the lattice by hand, releases, plans and exploration."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import inf

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError, UnsupportedError

TREE = {"pain": {"mild": ["aspirin", "ibuprofen"], "strong": ["codeine"]}, "skin": {"cream": ["zinc", "urea"]}}
PATHS = {
    leaf: (leaf, group, top) for top, groups in TREE.items() for group, leaves in groups.items() for leaf in leaves
}
LEAVES = {"mild": 2, "strong": 1, "cream": 2, "pain": 3, "skin": 2}
DRUGS = list(PATHS)
SEX = ["f", "m"]

drugs = st.one_of(st.none(), st.lists(st.sampled_from(DRUGS), max_size=3))
records = st.lists(st.tuples(st.sampled_from(SEX), drugs), min_size=1, max_size=25)


def policy(k, limit=0.0, tree=True, masked=False, loss="gcp", **more):
    column = {"role": "quasi", "kind": "items", "separator": "|"} | ({"hierarchy": {"tree": TREE}} if tree else {})
    return {
        "columns": {"sex": {"role": "quasi"}, "drugs": column},
        "require": [{"model": "k-anonymity", "k": k}],
        "method": {"name": "full-domain", "loss": loss},
        "suppression": {"limit": limit, **({"records": "masked"} if masked and limit else {})},
        **more,
    }


def table_of(rows) -> pa.Table:
    return pa.table(
        {"sex": [sex for sex, _ in rows], "drugs": pa.array([cell for _, cell in rows], pa.list_(pa.string()))}
    )


def shown(cell, level, tree=True):
    """What a set shows at a level: None for a missing one, unless everything is hidden."""
    top = 3 if tree else 1
    if level == top:
        return frozenset()
    return None if cell is None else frozenset(PATHS[item][level] for item in cell)


def lost(cell, level, tree=True) -> float:
    """The share of its items that a record loses; a missing set holds one item."""
    top = 3 if tree else 1
    items = ["missing"] if cell is None else sorted(set(cell))
    if not items:
        return 0.0
    if level == top:
        return 1.0
    if cell is None or level == 0:
        return 0.0
    # a node of one leaf stands above it all the same
    return sum(LEAVES[PATHS[item][level]] / len(DRUGS) for item in items) / len(items)


def best(rows, k, limit, tree=True) -> float:
    """The least loss of all nodes, counted one by one."""
    budget = int(limit * len(rows) + 1e-9)
    found = inf
    sexes = len({sex for sex, _ in rows})
    for hidden, level in product((0, 1), range(4 if tree else 2)):
        classes = defaultdict(list)
        for sex, cell in rows:
            classes[None if hidden else sex, shown(cell, level, tree)].append(cell)
        kept = [cells for cells in classes.values() if len(cells) >= k]
        out = len(rows) - sum(map(len, kept))
        if out > budget or not kept:
            continue
        single = 1.0 if hidden and sexes > 1 else 0.0
        loss = sum((single + lost(cell, level, tree)) / 2 for cells in kept for cell in cells) + out * 1.0
        found = min(found, loss / len(rows))
    return found


@settings(deadline=None, max_examples=60)
@given(records, st.integers(2, 4), st.sampled_from([0.0, 0.3]), st.booleans())
def test_no_node_loses_less(rows, k, limit, tree):
    if len({sex for sex, _ in rows}) < 2:
        rows = [*rows, *(("f", None), ("m", None))]
    asked = policy(k, limit, tree)
    least = best(rows, k, limit, tree)
    try:
        release = sudare.anonymize(table_of(rows), asked)
    except PolicyUnmetError:
        assert least == inf
        return
    search = release.certificate["search"]
    assert search["optimal"]
    assert search["value"] == pytest.approx(least, abs=1e-9)
    level, hidden = search["levels"]["drugs"], search["levels"]["sex"]
    cells = Counter(
        (row["sex"], None if row["drugs"] is None else frozenset(row["drugs"])) for row in release.data.to_pylist()
    )
    expected = Counter(("*" if hidden else sex, shown(cell, level, tree)) for sex, cell in rows)
    assert all(cells[cell] == count for cell, count in expected.items() if count >= k)
    assert not any(cells[cell] for cell, count in expected.items() if count < k)
    assert sudare.audit(release.data, asked).passed


@settings(deadline=None, max_examples=25)
@given(records, st.randoms(use_true_random=False))
def test_the_order_of_records_makes_no_difference(rows, random):
    other = list(rows)
    random.shuffle(other)
    try:
        one = sudare.anonymize(table_of(rows), policy(2, 0.2, masked=True))
    except PolicyUnmetError:
        with pytest.raises(PolicyUnmetError):
            sudare.anonymize(table_of(other), policy(2, 0.2, masked=True))
        return
    two = sudare.anonymize(table_of(other), policy(2, 0.2, masked=True))
    assert Counter(map(str, one.data.to_pylist())) == Counter(map(str, two.data.to_pylist()))
    for key in ("loss", "item_sets", "search"):
        assert one.certificate[key] == two.certificate[key]


def many():
    return [(SEX[n % 2], [DRUGS[n % 5], DRUGS[(n * n) % 3]] if n % 7 else None) for n in range(300)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("loss", ["arx", "gcp", "precision", "discernibility", "class-size"])
def test_files_and_losses(tmp_path, ending, loss):
    path = tmp_path / f"r.{ending}"
    asked = policy(12, 0.05, loss=loss)
    release = sudare.anonymize(table_of(many()), asked, out=path)
    assert sudare.audit(path, asked).passed
    if loss == "gcp":
        assert release.certificate["search"]["value"] == pytest.approx(release.certificate["loss"]["gcp"], abs=1e-4)


def test_plans_are_applied_to_new_records(tmp_path):
    asked, plan = policy(12), tmp_path / "plan.json"
    first = sudare.anonymize(table_of(many()), asked, out=tmp_path / "one.parquet")
    first.plan.save(plan)
    again = sudare.apply(plan, table_of(many()[::-1]), out=tmp_path / "two.parquet")
    assert again.certificate["search"]["levels"] == first.certificate["search"]["levels"]
    rows = [pq.read_table(tmp_path / name).to_pylist() for name in ("one.parquet", "two.parquet")]
    assert Counter(map(str, rows[0])) == Counter(map(str, rows[1]))


def test_exploration_lists_their_levels():
    found = sudare.explore(table_of(many()), policy(12)).to_dict()
    assert set(found["best"][0]["levels"]) == {"sex", "drugs"}
    assert found["search"]["heights"] == {"sex": 1, "drugs": 3}


def test_sensitive_sets_beside_them():
    asked = policy(3)
    asked["columns"]["told"] = {"role": "sensitive", "kind": "items"}
    asked["require"].append({"model": "l-diversity", "l": 3, "column": "told", "variant": "frequency"})
    told = pa.array(
        [[["a"], ["b"], ["c"], [], ["d", "c", "e"], ["f"]][n % 6] for n in range(300)], pa.list_(pa.string())
    )
    release = sudare.anonymize(table_of(many()).append_column("told", told), asked)
    by_class = defaultdict(list)
    for row in release.data.to_pylist():
        by_class[row["sex"], str(row["drugs"])].append(row["told"])
    for cells in by_class.values():
        held = Counter(item for cell in cells for item in cell)
        assert max(held.values(), default=0) * 3 <= len(cells)


def test_what_it_does_not_do():
    with pytest.raises(UnsupportedError, match="entropy is not defined for item sets"):
        sudare.anonymize(table_of(many()), policy(2, loss="entropy"))
    free = policy(2)
    free["require"] = [
        {"model": "k-anonymity", "k": 2, "columns": ["sex"]},
        {"model": "km-anonymity", "k": 2, "m": 2, "column": "drugs"},
    ]
    with pytest.raises(UnsupportedError, match="only km-anonymity limits"):
        sudare.anonymize(table_of(many()), free)


def test_km_anonymity_beside_k_anonymity_is_kept():
    asked = policy(2)
    asked["require"].append({"model": "km-anonymity", "k": 9, "m": 2, "column": "drugs"})
    release = sudare.anonymize(table_of(many()), asked)
    assert sudare.audit(release.data, asked).passed
