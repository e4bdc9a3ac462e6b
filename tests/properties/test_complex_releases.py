"""From a table with item sets to a proven release, for any table: the audit judges, and so do the tests themselves."""

from __future__ import annotations

import itertools
import json
import mmap
from collections import Counter, defaultdict
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyError, PolicyUnmetError

from .tables import effective

many = partial(
    settings, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
NO_EFFECT = "has no effect on this table"
"""What is said of options for item sets where none takes part in the classes."""
ITEMS = ["a", "b", "c", "d", "é", "日本", "A 1"]
TREE = {"low": {"ab": ["a", "b"], "c": ["c"]}, "high": {"de": ["d", "é"], "rest": ["日本", "A 1"]}}
ABOVE = {"a": ["ab", "low"], "b": ["ab", "low"], "c": ["low"], "d": ["de", "high"], "é": ["de", "high"],
         "日本": ["rest", "high"], "A 1": ["rest", "high"]}  # fmt: skip

WAYS = [
    {}, {"order": "global"}, {"objective": "items"}, {"items": "one-by-one"}, {"remainder": "close"}, {"beta": 0.4},
    {"split": "widest"}, {"rank": "information"}, {"polish": True}, {"polish": True, "objective": "items"},
]  # fmt: skip


class Complex:
    """A table with item sets and a policy for it."""

    def __init__(self, columns, policy):
        self.columns, self.policy = columns, policy

    def __repr__(self):
        return f"Complex({self.columns!r}, {self.policy!r})"

    @property
    def rows(self):
        return len(self.columns["who"])

    @property
    def arrow(self):
        kinds = {"age": pa.int64(), "job": pa.string(), "illness": pa.string(), "who": pa.string()}
        return pa.table(
            {name: pa.array(cells, kinds.get(name, pa.list_(pa.string()))) for name, cells in self.columns.items()}
        )

    @property
    def sets(self):
        return [name for name, spec in self.policy["columns"].items() if spec.get("kind") == "items"]

    @property
    def quasi(self):
        return [name for name, spec in self.policy["columns"].items() if spec["role"] == "quasi"]

    def free(self, name):
        groups = [spec for spec in self.policy["require"] if spec["model"] != "km-anonymity"]
        return all(
            spec["model"] == "k-anonymity" and name not in spec.get("columns", [name]) for spec in groups
        ) and any(spec["model"] == "km-anonymity" and spec["column"] == name for spec in self.policy["require"])


@st.composite
def complex_tables(draw, *, limits=(0.0, 0.1, 0.4), orders=("class", "keep"), missing=True):
    rows = draw(st.integers(1, 30))

    def column(cell):
        return draw(st.lists(cell, min_size=rows, max_size=rows))

    item = st.sampled_from([*ITEMS, *ITEMS[:2], " a", "", None] if missing else ITEMS)
    sets = st.lists(item, max_size=5)
    columns = {
        "age": column(st.integers(20, 29)),
        "job": column(st.sampled_from(["x", "y", None])),
        "first": column(st.one_of(sets, sets, st.none()) if missing else sets),
        "second": column(sets),
        "illness": column(st.sampled_from(["flu", "flu", "cold", "rash"])),
        "who": column(st.sampled_from([f"p{n}" for n in range(max(rows // 2, 1))])),
    }
    tree = {"hierarchy": {"tree": TREE}} if draw(st.booleans()) else {}
    specs = {
        "age": {"role": draw(st.sampled_from(["quasi", "insensitive"]))},
        "job": {"role": draw(st.sampled_from(["quasi", "identifier"]))},
        "first": {"role": "quasi", "kind": "items", "weight": draw(st.sampled_from([1.0, 1.0, 3.0, 0.0])), **tree},
        "second": {"role": "quasi", "kind": "items"} if draw(st.booleans()) else {"role": "identifier"},
        "illness": {"role": "sensitive"},
        "who": {"role": "subject"},
    }
    k = draw(st.integers(2, 4))
    require = draw(
        st.sampled_from(
            [
                [{"model": "k-anonymity", "k": k}],
                [{"model": "k-anonymity", "k": k, "count": "subjects"}],
                [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": 2, "column": "illness"}],
                [{"model": "t-closeness", "t": 0.4, "column": "illness"}],
                [{"model": "k-anonymity", "k": 2}, {"model": "km-anonymity", "k": k, "m": 2, "column": "first"}],
                [{"model": "km-anonymity", "k": k, "m": draw(st.integers(1, 3)), "column": "first"}],
                *(
                    [[{"model": "k-anonymity", "k": k, "columns": ["age"]},
                      {"model": "km-anonymity", "k": 2, "m": 2, "column": "first"}]]
                    if specs["age"]["role"] == "quasi"
                    else []
                ),
            ]
        )
    )  # fmt: skip
    policy = {
        "columns": specs,
        "require": require,
        "method": {"name": "top-down", **draw(st.sampled_from(WAYS))},
        "suppression": {"limit": draw(st.sampled_from(limits))},
        "release": {"order": draw(st.sampled_from(orders))},
    }
    return Complex(columns, effective(policy))


def released(drawn, **more):
    try:
        return sudare.anonymize(drawn.arrow, drawn.policy, **more)
    except (PolicyUnmetError, PolicyError) as error:
        assert isinstance(error, PolicyUnmetError) or NO_EFFECT in str(error)
        event("unmet")
        return None


def items_of(cell):
    """The items of a cell as they are understood: trimmed, each once; None is a missing set."""
    return None if cell is None else {item.strip() for item in cell if item is not None and item.strip()}


def key(value):
    return tuple(sorted(value)) if isinstance(value, list) else value


@many(max_examples=150)
@given(complex_tables())
def test_a_release_with_item_sets_keeps_its_policy(drawn):
    release = released(drawn)
    if release is None:
        return
    facts, rows = release.certificate, release.data.to_pylist()
    assert len(rows) + facts["suppressed"] == drawn.rows
    assert facts["suppressed"] <= drawn.policy["suppression"]["limit"] * drawn.rows
    assert sudare.audit(release.data, drawn.policy).passed
    for spec in drawn.policy["require"]:
        if spec["model"] == "km-anonymity":
            combinations = Counter(
                chosen
                for row in rows
                for size in range(1, spec["m"] + 1)
                for chosen in itertools.combinations(sorted(set(row[spec["column"]] or [])), size)
            )
            assert all(count >= spec["k"] for count in combinations.values())
            continue
        classes = defaultdict(list)
        for row in rows:
            classes[tuple(key(row[name]) for name in spec.get("columns", drawn.quasi))].append(row)
        if spec["model"] == "k-anonymity":
            who = "who" if spec.get("count") == "subjects" else None
            assert all(len({row[who] for row in part} if who else part) >= spec["k"] for part in classes.values())
        elif spec["model"] == "l-diversity":
            assert all(len({row["illness"] for row in part}) >= spec["l"] for part in classes.values())
    for name in drawn.sets:
        figures = facts["item_sets"][name]
        held = sum(len(items) if (items := items_of(cell)) is not None else 1 for cell in drawn.columns[name])
        assert 0 <= figures["disclosed"] <= held
        assert -1e-9 <= figures["ncp"] <= 1 + 1e-9


@many(max_examples=100)
@given(complex_tables(limits=(0.0,), orders=("keep",)))
def test_what_is_shown_of_a_set_is_true(drawn):
    release = released(drawn)
    if release is None:
        return
    for name in drawn.sets:
        tree = "hierarchy" in drawn.policy["columns"][name]
        exact = 0
        for cell, shown in zip(drawn.columns[name], release.data.column(name).to_pylist(), strict=True):
            held = items_of(cell)
            if shown is None:
                assert held is None
                exact += 1
                continue
            assert len(set(shown)) == len(shown)
            allowed = Counter(held or ())
            exact += sum(item in allowed for item in shown)
            if tree:  # a node stands for an item below it
                for item in held or ():
                    allowed.update(ABOVE[item])
            assert all(allowed[item] for item in shown)
        assert exact == release.certificate["item_sets"][name]["disclosed"]


@many(max_examples=60)
@given(drawn=complex_tables(missing=False))
def test_text_says_what_parquet_says(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    policy = {**drawn.policy, "release": {"order": "keep"}}
    policy["columns"] = {
        name: {**spec, **({"separator": "|"} if spec.get("kind") == "items" else {})}
        for name, spec in drawn.policy["columns"].items()
    }
    try:
        sudare.anonymize(drawn.arrow, policy, out=folder / "r.csv")
    except (PolicyUnmetError, PolicyError) as error:
        assert isinstance(error, PolicyUnmetError) or NO_EFFECT in str(error)
        return
    assert sudare.audit(folder / "r.csv", policy).passed
    made = sudare.anonymize(drawn.arrow, policy)
    lines = (folder / "r.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == made.data.num_rows + 1
    place = lines[0].split(",").index("first")
    for line, shown in zip(lines[1:], made.data.column("first").to_pylist(), strict=True):
        if '"' not in line:
            assert line.split(",")[place] == "|".join(shown or [])


@many(max_examples=40)
@given(drawn=complex_tables())
def test_a_release_from_files_is_the_release_in_memory(drawn, tmp_path_factory):
    """Here every array that could be large lives in a file, however small it is, and there are many blocks."""
    folder = tmp_path_factory.mktemp("memory")
    spilled = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sudare.table.array_storage.SMALL", 1)
        patch.setattr("sudare.core.memory.storage_limit", lambda demand, memory: 0)
        patch.setattr("sudare.methods.topdown.frame.BLOCK", 4)
        patch.setattr("mmap.mmap", lambda *given, mmap=mmap.mmap, **more: spilled.append(given) or mmap(*given, **more))
        try:
            sudare.anonymize(drawn.arrow, drawn.policy, out=folder / "a.parquet", seed=1, memory="1GiB")
        except (PolicyUnmetError, PolicyError) as error:
            assert isinstance(error, PolicyUnmetError) or NO_EFFECT in str(error)
            return
    assert spilled
    sudare.anonymize(drawn.arrow, drawn.policy, out=folder / "b.parquet", seed=1)
    assert (folder / "a.parquet").read_bytes() == (folder / "b.parquet").read_bytes()
    one, other = (json.loads((folder / f"{name}.parquet.sudare.json").read_text()) for name in "ab")
    assert {**one, "seconds": 0, "date": 0} == {**other, "seconds": 0, "date": 0}
