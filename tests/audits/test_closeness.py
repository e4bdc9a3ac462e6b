"""t-closeness: by hand, against the paper, and against the plain definition on random tables."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sudare.audits import audit_release
from sudare.core.errors import DataError, HierarchyError
from sudare.policy import Policy

from .tables import classes, policy, prove, required

SALARIES = classes(a=["3", "4", "5"], b=["6", "11", "8"], c=["7", "9", "10"])
"""Table 3 of Li et al. 2007, in thousands."""

TREE = {
    "respiratory and digestive": {
        "respiratory": ["flu", "pneumonia", "bronchitis"],
        "digestive": {"stomach": ["gastric ulcer", "gastritis"], "colon": ["colitis", "colon cancer"]},
    }
}


def t(limit, distance="equal"):
    return {"model": "t-closeness", "t": limit, "column": "illness", "distance": distance}


def test_equal_distance():
    table = classes(a=["flu", "flu", "ulcer"], b=["ulcer"])
    found = prove(table, t(0.5))  # b: ulcer 1 against 1/2
    assert (found.achieved, found.holds) == (0.5, True)
    found = prove(table, t(0.49))
    assert (found.holds, found.offending_classes) == (False, 1)


def test_ordered_distance_of_the_paper():
    # the paper's worked figures: 0.375 for {3k, 4k, 5k} and 0.167 for {6k, 8k, 11k}
    assert prove(SALARIES, t(0.375, "ordered")).holds
    found = prove(SALARIES, t(0.37, "ordered"))
    assert (found.achieved, found.offending_classes) == (pytest.approx(0.375), 1)
    table = classes(a=["6", "8", "11"], b=["3", "4", "5", "7", "9", "10"])
    own = audit_release(table, policy(t(0.166, "ordered")))
    assert required(own).offending_classes == 1
    assert prove(table, t(1 / 6, "ordered")).achieved == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-05", "2023-11-30", "2024-02-01", "2024-10-01"],
        ["9", "-10", "10", "100"],
        ["b", "a", "c", "d"],
    ],
)
def test_order_of_numbers_dates_and_text(values):
    # the second value is the least; a class that holds it alone is (3/4 + 2/4 + 1/4) / 3 away
    table = classes(a=[values[1]], b=[values[0], values[2], values[3]])
    assert prove(table, t(1, "ordered")).achieved == pytest.approx(0.5)


def test_order_of_the_policy_and_missing_last():
    order = {"illness": {"role": "sensitive", "order": ["low", "middle", "high"]}}
    table = classes(a=["low"], b=["middle", "high", None])
    assert prove(table, t(1, "ordered"), **order).achieved == pytest.approx(0.5)
    table = classes(a=[None], b=["middle", "high", "low"])
    assert prove(table, t(1, "ordered"), **order).achieved == pytest.approx(0.5)


def test_values_outside_the_order_are_counted_not_named():
    order = {"illness": {"role": "sensitive", "order": ["low", "middle"]}}
    with pytest.raises(DataError) as error:
        prove(classes(a=["low", "secret", "hush"]), t(1, "ordered"), **order)
    assert "not in the policy's order: 2." in str(error.value)
    assert "secret" not in str(error.value)


def test_one_value_is_at_distance_0():
    for distance in ("equal", "ordered"):
        assert prove(classes(a=["x"], b=["x"]), t(0, distance)).achieved == 0


@pytest.mark.parametrize("kind", ["tree", "csv", "json", "yaml", "given"])
def test_hierarchical_distance_by_hand(kind, tmp_path):
    # overall 1/4 each; class a is all flu: flu +3/4, pneumonia -1/4 below respiratory (height 1 of 3): 1/4 * 1/3;
    # the other 1/2 has to come from the digestive side, over the root: 1/2 * 1
    table = classes(a=["flu"], b=["pneumonia", "colitis", "gastritis"])
    hierarchy = {"tree": TREE}
    if kind == "csv":
        (tmp_path / "tree.csv").write_text(
            "flu;flu;respiratory;*\npneumonia;pneumonia;respiratory;*\n"
            "gastritis;stomach;digestive;*\ncolitis;colon;digestive;*\n"
        )
        hierarchy = {"file": str(tmp_path / "tree.csv")}
    elif kind == "json":
        (tmp_path / "tree.json").write_text(json.dumps(TREE))
        hierarchy = {"file": str(tmp_path / "tree.json")}
    elif kind == "yaml":
        (tmp_path / "tree.yaml").write_text(
            "respiratory:\n  flu:\n  pneumonia: ~\ndigestive:\n  stomach: [gastritis]\n  colon: [colitis]\n"
        )
        hierarchy = {"file": str(tmp_path / "tree.yaml")}
    elif kind == "given":
        (tmp_path / "tree.csv").write_text("flu|R|*\npneumonia|R|*\ngastritis|G|D|*\ncolitis|C|D|*\n")
        hierarchy = {"file": str(tmp_path / "tree.csv"), "delimiter": "|"}
    found = prove(table, t(0.6, "hierarchical"), illness={"role": "sensitive", "hierarchy": hierarchy})
    assert found.achieved == pytest.approx(0.25 / 3 + 0.5)
    assert found.holds
    assert not prove(table, t(0.58, "hierarchical"), illness={"role": "sensitive", "hierarchy": hierarchy}).holds


def test_a_hierarchy_file_starts_from_the_policys_folder(tmp_path):
    (tmp_path / "tree.csv").write_text("flu,x,*\nulcer,y,*\n")
    (tmp_path / "policy.json").write_text(
        json.dumps(
            {
                "columns": {"zone": {"role": "quasi"}, "illness": {"role": "sensitive", "hierarchy": "tree.csv"}},
                "require": [t(0.5, "hierarchical")],
            }
        )
    )
    report = audit_release(classes(a=["flu"], b=["ulcer"]), Policy.load(tmp_path / "policy.json"))
    assert required(report).achieved == pytest.approx(0.5)


def test_a_missing_value_hangs_below_the_root():
    table = classes(a=["flu"], b=["pneumonia", None, "colitis"])
    found = prove(table, t(1, "hierarchical"), illness={"role": "sensitive", "hierarchy": {"tree": TREE}})
    assert found.achieved == pytest.approx(0.25 / 3 + 0.5)


@pytest.mark.parametrize(
    ("hierarchy", "values", "expected"),
    [
        ("flat", ["1", "2", "3", "4"], 3 / 4),
        # a = {first}: 1/4 from the nearest at 1/2 of the height, 1/2 from the others over the root
        ({"prefix": [2, 1]}, ["11", "12", "21", "22"], 1 / 4 / 2 + 1 / 2),
        ({"bands": [10]}, ["11", "12", "21", "22"], 1 / 4 / 2 + 1 / 2),
        ({"bands": [1, 10]}, ["11", "12", "21", "22"], 1 / 4 / 2 + 1 / 2),  # a band of one number is the number
        ({"bands": [10], "origin": 5}, ["5", "14", "15", "24"], 1 / 4 / 2 + 1 / 2),
        ({"bands": [0.1, 0.2]}, ["0.3", "0.35", "0.2", "0.9"], 1 / 4 / 3 + 1 / 4 * 2 / 3 + 1 / 4),
        (
            {"dates": ["day", "month", "year"]},
            ["2024-01-01", "2024-01-02", "2024-02-01", "2023-01-01"],
            1 / 4 / 3 + 1 / 4 * 2 / 3 + 1 / 4,
        ),
        ({"dates": ["quarter"]}, ["2024-01-01", "2024-03-31", "2024-04-01", "2023-12-31"], 1 / 4 / 2 + 1 / 2),
        (
            {"dates": ["day"]},
            ["2024-01-01 10:00", "2024-01-01 11:00", "2024-01-02 10:00", "2024-01-03 10:00"],
            1 / 4 / 2 + 1 / 2,
        ),
        # a value that is also the prefix of others has its leaf below that prefix
        ({"prefix": [2, 1]}, ["1", "12", "2", "22"], 1 / 4 / 2 + 1 / 2),
    ],
)
def test_hierarchies_made_by_rules(hierarchy, values, expected):
    table = classes(a=values[:1], b=values[1:])
    found = prove(table, t(1, "hierarchical"), illness={"role": "sensitive", "hierarchy": hierarchy})
    assert found.achieved == pytest.approx(expected)


@pytest.mark.parametrize("hierarchy", [{"tree": TREE}, {"bands": [5]}, {"dates": ["year"]}])
def test_values_outside_the_hierarchy_are_counted_not_named(hierarchy):
    with pytest.raises(DataError) as error:
        prove(
            classes(a=["secret", "hush"]), t(1, "hierarchical"), illness={"role": "sensitive", "hierarchy": hierarchy}
        )
    assert str(error.value) == "illness: distinct values that are not leaves of its hierarchy: 2."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.csv", None),
        ("empty.csv", b"\n"),
        ("latin.csv", b"\xe9;*\n"),
        ("twice.csv", b"flu;x;*\nflu;y;*\n"),
        ("open.csv", b'"flu;x\n'),
        ("tree.yaml", b"x: [flu\n"),
        ("tree.json", b"{"),
    ],
)
def test_hierarchies_that_cannot_be_read(name, content, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    spec = {"role": "sensitive", "hierarchy": {"file": str(tmp_path / name)}}
    with pytest.raises(HierarchyError):
        prove(classes(a=["flu", "ulcer"]), t(1, "hierarchical"), illness=spec)


def test_a_typed_column_meets_the_words_of_the_policy():
    ranked = {"role": "sensitive", "order": ["2", "1", "3"]}
    spec = {"role": "sensitive", "hierarchy": {"tree": {"x": [1, 2], "y": [3]}}}
    table = classes(a=[2.0], b=[1.0, 3.0])
    assert prove(table, t(1, "ordered"), illness=ranked).achieved == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert prove(table, t(1, "hierarchical"), illness=spec).achieved == pytest.approx(1 / 3 / 2 + 1 / 3)


def naive_ordered(group, whole):
    carried = moved = 0.0
    values = sorted(set(whole))
    inside, outside = Counter(group), Counter(whole)
    for value in values:
        carried += inside[value] / len(group) - outside[value] / len(whole)
        moved += abs(carried)
    return moved / (len(values) - 1)


def naive_hierarchical(group, whole, nested):
    inside, outside = Counter(group), Counter(whole)
    cost = 0.0

    def walk(node):
        """Return the height and the extra of a node, and add up the costs."""
        nonlocal cost
        if not isinstance(node, list):
            return 0, inside[node] / len(group) - outside[node] / len(whole)
        below = [walk(child) for child in node]
        height = 1 + max(h for h, _ in below)
        cost += height * min(sum(max(e, 0) for _, e in below), sum(max(-e, 0) for _, e in below))
        return height, sum(e for _, e in below)

    height, _ = walk(nested)
    return cost / height


@pytest.mark.parametrize("seed", range(25))
def test_random_tables_against_the_plain_definition(seed):
    random = np.random.default_rng(seed)
    rows, values = int(random.integers(5, 300)), int(random.integers(2, 40))
    zone = random.integers(0, random.integers(1, 12), rows)
    illness = np.minimum(random.geometric(0.1, rows), values) + 99
    table = pa.table({"zone": zone, "illness": illness})
    first, second, third = list(range(100, 110)), list(range(110, 125)), list(range(127, 141))
    nested = [first, [second, [125, 126]], [[[leaf] for leaf in third], 141]]
    words = {
        "all": {
            "g0": first,
            "g1": {"g2": second, "g3": [125, 126]},
            "g4": [{"g5": {f"only {leaf}": [leaf] for leaf in third}}, 141],
        }
    }
    spec = {"illness": {"role": "sensitive", "hierarchy": {"tree": words}}}
    whole = illness.tolist()
    assert len(set(whole)) > 1
    groups = [illness[zone == z].tolist() for z in set(zone.tolist())]
    ordered = prove(table, t(0.3, "ordered"))
    figures = [naive_ordered(group, whole) for group in groups]
    assert ordered.achieved == pytest.approx(max(figures), abs=1e-12)
    assert ordered.offending_classes == sum(figure > 0.3 + 1e-9 for figure in figures)
    hierarchical = prove(table, t(0.3, "hierarchical"), **spec)
    figures = [naive_hierarchical(group, whole, nested) for group in groups]
    assert hierarchical.achieved == pytest.approx(max(figures), abs=1e-12)
    assert hierarchical.offending_classes == sum(figure > 0.3 + 1e-9 for figure in figures)
