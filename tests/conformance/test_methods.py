"""What every method in the registry has to keep, whatever it prefers.

Most of it is about classes; of methods that leave quasi-identifiers as they are, see ``test_hiding.py``.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sudare.core.errors import PolicyUnmetError, UnsupportedError
from sudare.hierarchies import build
from sudare.methods import (
    BLIND_TO,
    METHODS,
    ByColumn,
    ColumnGroups,
    ColumnName,
    ColumnNames,
    Combinations,
    Either,
    Flag,
    Seconds,
    Share,
    Weight,
    Whole,
    Words,
)
from sudare.models import MODELS, Requirements
from sudare.policy import HierarchySpec
from sudare.table import SUPPRESSED, Column, Partition, Table, encode_column, encode_items


def values_of(name, option) -> tuple:
    """Some values that an option may have: all words, numbers of a share, or more seconds than are needed."""
    allowed = METHODS[name].options[option]
    if isinstance(allowed, tuple):
        return allowed
    if isinstance(allowed, ColumnName):
        return ()  # see `decide`
    if option == "slack":
        return ()  # belongs to another option: see tests/properties/test_blindness.py
    if option == "k":
        return ()  # makes larger groups than the tests below ask for: see tests/methods/test_microaggregation.py
    if isinstance(allowed, Either):
        return tuple(word for kind in allowed.kinds if isinstance(kind, Words) for word in kind.words)
    if isinstance(allowed, ByColumn | ColumnNames | ColumnGroups | Combinations):
        return ()  # these name columns of a table: see tests/papers/test_pram.py
    return {Seconds: (60, 90.5), Whole: (3,), Weight: (0, 0.5, 1.0), Share: (0.0, 0.1), Flag: (False, True)}[
        type(allowed)
    ]


def default_of(name, option):
    return inspect.signature(METHODS[name].load()).parameters[option].default


FIRST_NAMES = {(method.module, method.function): name for name, method in reversed(METHODS.items())}.values()


def ways_of(methods, without=()) -> list[tuple[str, dict]]:
    """Every method without options, and with every other value of every option, one at a time.

    A function that has more than one name is tried with options under the first. Options that have no effect on the
    tables in question are refused, and left out here.
    """
    return [(name, {}) for name in methods] + [
        (name, {option: value})
        for name in methods
        if name in FIRST_NAMES
        for option in METHODS[name].options
        if option not in without
        for value in values_of(name, option)
        if value != default_of(name, option)
    ]


OF_SETS = ("objective", "items", "remainder", "beta", "rank")
"""Options that matter where there are item sets, which have a suite of their own."""
WAYS = ways_of([name for name, method in METHODS.items() if not method.leaves_quasi], OF_SETS)
every_method = pytest.mark.parametrize("name", METHODS)
every_way = pytest.mark.parametrize(
    ("name", "options"),
    WAYS,
    ids=["-".join((name, *(f"{option}-{value}" for option, value in options.items()))) for name, options in WAYS],
)
# One variant draws at random, and leaves classes that show the same to be joined when they are rendered.
STEADY = [(name, options) for name, options in WAYS if options.get("variant") != "reference"]
every_steady_way = pytest.mark.parametrize(
    ("name", "options"),
    STEADY,
    ids=["-".join((name, *(f"{option}-{value}" for option, value in options.items()))) for name, options in STEADY],
)


def lumps(options) -> bool:
    """Whether few classes are made of small tables, down to one.

    All records that cannot stay as they are may become one; or nobody looks at who has which value; or detail that
    does not help predict a class is not shown.
    """
    return options.get("residue") == "one" or options.get("sensitive") == "blind" or stops_early(options)


def stops_early(options) -> bool:
    """Whether detail may be left out that all promises allow."""
    return options.get("stop") == "least"


def check_classes(partition, expected, options):
    """The classes are these; or unions of them, if detail may be left out."""
    found = canonical(partition)
    assert found == expected or (
        stops_early(options) and all(any(part <= whole for whole in found) for part in expected)
    )


without_item_sets = pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if not method.item_sets and not method.leaves_quasi]
)

# Each model with parameters that the tables below can meet, and that keep some splits from being made.
SETTINGS = {
    "k-anonymity": [{"k": 5}, {"k": 4, "count": "subjects"}, {"k": 3, "columns": ["age"]}],
    "l-diversity": [
        {"l": 3, "column": "illness"},
        {"l": 2.5, "column": "illness", "variant": "entropy"},
        {"l": 2, "column": "illness", "variant": "recursive", "c": 2.0},
    ],
    "t-closeness": [
        *({"t": 0.35, "column": "illness", "distance": d} for d in ("equal", "ordered", "hierarchical")),
        {"t": 0.2, "column": "cost", "distance": "ordered"},
    ],
    "alpha-k-anonymity": [
        {"alpha": 0.6, "k": 3, "column": "illness"},
        {"alpha": 0.3, "k": 3, "column": "illness", "values": ["flu"]},
    ],
    "beta-likeness": [{"beta": 1.5, "column": "illness", "variant": v} for v in ("basic", "enhanced")],
    "delta-disclosure": [{"delta": 1.2, "column": "illness"}],
    "km-anonymity": [],
    "pk-anonymity": [],  # of mechanisms, which no classes keep
    "alpha-gamma": [],
    "uniqueness": [],  # of the release as it is written
}
ASKED = [(model, setting) for model, settings in SETTINGS.items() for setting in settings]
TOGETHER = [
    ("k-anonymity", {"k": 3}),
    ("k-anonymity", {"k": 2, "count": "subjects"}),
    ("l-diversity", {"l": 2, "column": "illness"}),
    ("t-closeness", {"t": 0.5, "column": "cost", "distance": "ordered"}),
    ("alpha-k-anonymity", {"alpha": 0.8, "k": 2, "column": "illness"}),
]
ILLNESSES = {"lungs": ["flu", "cold", "asthma"], "skin": ["rash", "burn"], "none": ["well"]}


def required(*asked, limit=0.0) -> Requirements:
    return Requirements(tuple(MODELS[model](**setting) for model, setting in asked), limit)


def with_hierarchy(column, spec):
    tree = build(HierarchySpec.model_validate(spec), column.values, folder=Path(), column=column.name)
    return column.reordered(*tree.taxonomy(column.values, column.missing))


def as_table(quasi, sensitive=None, subject=None, hierarchies=None, **kinds) -> Table:
    def encoded(name, cells):
        column = encode_column(name, cells if isinstance(cells, pa.Array) else pa.array(cells), kind=kinds.get(name))
        return with_hierarchy(column, hierarchies[name]) if name in (hierarchies or {}) else column

    rows = len(next(iter(quasi.values())))
    return Table(
        rows,
        {name: encoded(name, cells) for name, cells in quasi.items()},
        {name: encoded(name, cells) for name, cells in (sensitive or {}).items()},
        None if subject is None else encode_column("who", pa.array(subject), kind="categorical"),
    )


def kept(table: Table) -> Table:
    """A table for several tests: nothing can be written to it."""
    for column in (*table.single.values(), *table.sensitive.values(), *([table.subject] if table.subject else [])):
        column.codes.flags.writeable = False
    return table


@cache
def patients(rows: int, seed: int = 0, order: tuple[int, ...] | None = None) -> Table:
    """A table with all kinds of columns, missing values in each of them, and 3 records per person at most."""
    random = np.random.default_rng(seed)

    def holes(cells, share=0.1):
        return [None if random.random() < share else cell for cell in cells]

    illness = random.choice([i for group in ILLNESSES.values() for i in group], rows, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.2])
    columns = {
        "age": holes(random.integers(18, 90, rows).tolist()),
        "height": holes((random.normal(170, 10, rows).round(1)).tolist()),
        "job": holes(random.choice(["nurse", "cook", "smith", "clerk", "judge"], rows).tolist()),
        "zip": holes([f"{random.integers(10, 14)}{random.integers(0, 99):02d}" for _ in range(rows)]),
        "illness": holes(illness.tolist(), 0.05),
        "cost": random.integers(1, 200, rows).tolist(),
        "who": holes([f"p{random.integers(0, rows // 2 + 1)}" for _ in range(rows)], 0.02),
    }
    if order is not None:
        columns = {name: [cells[i] for i in order] for name, cells in columns.items()}
    return kept(
        as_table(
            {name: columns[name] for name in ("age", "height", "job", "zip")},
            {name: columns[name] for name in ("illness", "cost")},
            columns["who"],
            {"zip": {"prefix": [4, 2]}, "illness": {"tree": ILLNESSES}},
            zip="categorical",
        )
    )


def decide(name, options, table, requirements, **more) -> Partition:
    if options.get("sensitive") == "blind" and not {model.name for model in requirements.models} <= set(BLIND_TO):
        pytest.skip("a policy that asks for this is refused")
    if METHODS[name].aggregates and not any(
        column.taxonomy is None and (column.positions is not None or column.ordered) for column in table.single.values()
    ):
        with pytest.raises(UnsupportedError, match="no quasi-identifier holds numbers"):
            METHODS[name].load()(table, requirements, **options, **more)
        pytest.skip("nothing can be aggregated, which is refused")
    if "target" in METHODS[name].options:
        told = table.sensitive["illness"].codes if "illness" in table.sensitive else np.arange(table.rows)
        table = replace(table, target=Column("class", "categorical", (told % 2).astype(np.uint8), pa.array(["u", "v"])))
        more["target"] = table.target.name
    if all(requirements.free(column) for column in table.sets):
        options = {key: value for key, value in options.items() if key not in OF_SETS}  # refused where there are none
    return METHODS[name].load()(table, requirements, **options, **more)


def members(partition: Partition) -> dict[int, list[int]]:
    found = defaultdict(list)
    for row, number in enumerate(partition.classes.tolist()):
        if number != SUPPRESSED:
            found[number].append(row)
    return found


def canonical(partition: Partition, order=None) -> set[frozenset[int]]:
    """The classes as sets of records; ``order`` says which record of the original stands at each place."""
    names = range(len(partition.classes)) if order is None else order
    return {frozenset(names[row] for row in rows) for rows in members(partition).values()}


def texts(column, rows) -> list:
    values = [*column.values.to_pylist(), None]
    return [values[column.codes[row]] for row in rows]


def distance(kind, column, part, whole) -> float:
    """The earth mover's distance of two lists of values, by its definitions."""
    values = [*column.values.to_pylist(), None]
    present = [value for value in values if value in set(whole)]
    p, q = Counter(part), Counter(whole)
    extra = {value: p[value] / len(part) - q[value] / len(whole) for value in present}
    if len(present) < 2:
        return 0.0
    if kind == "equal":
        return sum(map(abs, extra.values())) / 2
    if kind == "ordered":
        return sum(abs(sum(extra[v] for v in present[: i + 1])) for i in range(len(present))) / (len(present) - 1)
    groups = [[extra.get(v, 0.0) for v in group] for group in ILLNESSES.values()]
    above = [sum(group) for group in groups] + [extra.get(None, 0.0)]
    cost = sum(min(sum(e for e in group if e > 0), -sum(e for e in group if e < 0)) / 2 for group in groups)
    return cost + min(sum(e for e in above if e > 0), -sum(e for e in above if e < 0))


def keeps(model, setting, table, partition) -> bool:
    """Test all classes in plain Python."""
    classes = members(partition)
    released = [row for rows in classes.values() for row in rows]
    if model == "k-anonymity":
        who = texts(table.subject, range(table.rows)) if setting.get("count") == "subjects" else range(table.rows)
        if "columns" in setting and partition.cuts:  # the records that show the same in these columns
            shown = defaultdict(list)
            for row in released:
                shown[tuple(partition.cuts[name][table.quasi[name].codes[row]] for name in setting["columns"])].append(
                    row
                )
            classes = shown
        return all(len({who[row] for row in rows}) >= setting["k"] for rows in classes.values())
    column = table.sensitive[setting["column"]]
    whole = texts(column, released)
    parts = [texts(column, rows) for rows in classes.values()]
    overall = {value: n / len(whole) for value, n in Counter(whole).items()}
    for part in parts:
        counts = sorted(Counter(part).values(), reverse=True)
        share = {value: n / len(part) for value, n in Counter(part).items()}
        if model == "l-diversity":
            variant = setting.get("variant", "distinct")
            entropy = -sum(s * math.log(s) for s in share.values())
            good = {
                "distinct": len(counts) >= setting["l"],
                "entropy": entropy >= math.log(setting["l"]) - 1e-9,
                "recursive": counts[0] < setting.get("c", 0) * sum(counts[int(setting["l"]) - 1 :]),
            }[variant]
        elif model == "t-closeness":
            good = distance(setting.get("distance", "equal"), column, part, whole) <= setting["t"] + 1e-9
        elif model == "alpha-k-anonymity":
            named = setting.get("values", list(share))
            good = len(part) >= setting["k"] and all(share.get(v, 0) <= setting["alpha"] + 1e-9 for v in named)
        elif model == "beta-likeness":
            enhanced = setting["variant"] == "enhanced"
            good = all(
                (s - overall[v]) / overall[v]
                <= (min(setting["beta"], -math.log(overall[v])) if enhanced else setting["beta"]) + 1e-9
                for v, s in share.items()
                if s > overall[v]
            )
        else:
            assert model == "delta-disclosure"
            good = set(share) == set(overall) and all(
                abs(math.log(share[v] / overall[v])) < setting["delta"] for v in share
            )
        if not good:
            return False
    return True


# ---- the form of a method


@every_method
def test_the_module_says_what_has_to_be_known(name):
    text = sys.modules[METHODS[name].load().__module__].__doc__
    for section in ("Steps", "Cost", "Guarantee", "Reference"):
        assert f"\n{section}" in text, section
    assert METHODS[name].load().__doc__
    assert METHODS[name].name == name
    assert METHODS[name].summary


@every_method
def test_the_signature_is_the_common_one(name):
    first, second, *rest = inspect.signature(METHODS[name].load()).parameters.values()
    assert [first.name, second.name] == ["table", "requirements"]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest)
    assert [parameter.name for parameter in rest] == [*METHODS[name].options, "seed", "progress"]
    assert [rest[-2].default, rest[-1].default] == [None, None]
    for parameter in rest[:-2]:
        assert parameter.default is None or parameter.default in METHODS[name].options[parameter.name]


@every_method
def test_a_wrong_option_value_is_named_with_what_is_allowed(name):
    for option, allowed in METHODS[name].options.items():
        words = allowed if isinstance(allowed, tuple) else ()
        wrong = [f"{words[0]}x", None, 0] if words else [None, -0.1, math.nan, math.inf]
        wrong += [] if isinstance(allowed, Flag) else [True]
        wrong += {Seconds: ["1", 0], Share: ["0", 1, 1.0], Weight: ["1", 1.1], Whole: ["3", 3.5, 0]}.get(
            type(allowed), []
        )
        for value in wrong:
            [problem] = METHODS[name].problems({option: value})
            assert option in str(problem)
            assert all(str(word) in str(problem) for word in words or [allowed])
        for value in values_of(name, option):
            assert METHODS[name].problems({option: value}) == []


# ---- what it gives back


@every_way
def test_every_record_has_a_class_and_the_input_stays_as_it_was(name, options):
    table = patients(300)
    arrays = [column.codes for column in (*table.single.values(), *table.sensitive.values(), table.subject)]
    assert not any(array.flags.writeable for array in arrays)
    before = [array.copy() for array in arrays]
    partition = decide(name, options, table, required(*TOGETHER, limit=0.1))
    assert isinstance(partition, Partition)
    assert partition.classes.shape == (300,)
    assert sorted(members(partition)) == list(range(partition.count))
    assert partition.classes.min() >= SUPPRESSED
    assert partition.count > 1 or lumps(options)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


@every_steady_way
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("asked", [[("k-anonymity", {"k": 4})], TOGETHER], ids=["rows", "several"])
def test_it_depends_on_the_records_not_on_their_order(name, options, limit, asked):
    order = tuple(np.random.default_rng(5).permutation(400).tolist())
    once = decide(name, options, patients(400, 3), required(*asked, limit=limit))
    again = decide(name, options, patients(400, 3), required(*asked, limit=limit), seed=1)
    mixed = decide(name, options, patients(400, 3, order), required(*asked, limit=limit), seed=2)
    np.testing.assert_array_equal(once.classes, again.classes)
    assert canonical(once) == canonical(mixed, order)
    # stronger: even the numbers of the classes are the same
    np.testing.assert_array_equal(once.classes[list(order)], mixed.classes)


def test_what_is_drawn_depends_on_the_seed():
    found = [
        decide("l-clustering", {"variant": "reference"}, patients(200), required(("k-anonymity", {"k": 4})), seed=seed)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(found[0].classes, found[1].classes)
    assert canonical(found[0]) != canonical(found[2])


@every_steady_way
def test_many_workers_decide_what_one_does(name, options, monkeypatch):
    table, asked = patients(6000, 8), required(("k-anonymity", {"k": 10}), limit=0.02)
    found = []
    for count in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        found.append(decide(name, options, table, asked).classes)
    np.testing.assert_array_equal(*found)


@every_way
@pytest.mark.parametrize(("model", "setting"), ASKED, ids=[f"{m}-{list(s.values())}" for m, s in ASKED])
@pytest.mark.parametrize("limit", [0.0, 0.15])
def test_every_class_keeps_what_is_required(name, options, model, setting, limit):
    table = patients(250, 1)
    partition = decide(name, options, table, required((model, setting), limit=limit))
    assert keeps(model, setting, table, partition)
    assert partition.suppressed <= limit * table.rows
    assert partition.count > 1 or partition.cuts or lumps(options)


def test_every_model_of_groups_is_among_those_asked_for():
    assert set(SETTINGS) == set(MODELS)
    assert all(SETTINGS[name] for name, model in MODELS.items() if model.scope == "group")


@every_way
@pytest.mark.parametrize("seed", range(4))
def test_several_requirements_are_kept_together(name, options, seed):
    table = patients(300, seed)
    partition = decide(name, options, table, required(*TOGETHER, limit=0.05 * seed))
    for model, setting in TOGETHER:
        assert keeps(model, setting, table, partition)
    assert partition.suppressed <= 0.05 * seed * 300


@every_way
@pytest.mark.parametrize("limit", [0.0, 0.01, 0.3, 0.9])
def test_no_more_is_left_out_than_allowed(name, options, limit):
    table = patients(200, 9)
    partition = decide(name, options, table, required(("k-anonymity", {"k": 20}), limit=limit))
    assert partition.suppressed <= limit * 200
    assert all(len(rows) >= 20 for rows in members(partition).values())


@every_way
@pytest.mark.parametrize(
    "asked",
    [("k-anonymity", {"k": 61}), ("k-anonymity", {"k": 45, "count": "subjects"}),
     ("l-diversity", {"l": 8, "column": "illness"}),
     ("alpha-k-anonymity", {"alpha": 0.05, "k": 2, "column": "illness"})],
    ids=["k", "subjects", "l", "alpha"],
)  # fmt: skip
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_what_the_whole_table_falls_short_of_is_an_error(name, options, asked, limit):
    with pytest.raises(PolicyUnmetError) as caught:
        decide(name, options, patients(60, 2), required(asked, limit=limit))
    assert asked[0] in str(caught.value)


@every_way
def test_all_unmet_requirements_are_told_at_once(name, options):
    asked = [("k-anonymity", {"k": 61}), ("l-diversity", {"l": 8, "column": "illness"})]
    with pytest.raises(PolicyUnmetError) as caught:
        decide(name, options, patients(60, 2), required(*asked))
    assert len(caught.value.problems) == 2


@without_item_sets
def test_item_sets_are_refused_with_a_hint(name):
    table = Table(2, {"basket": encode_items("basket", pa.array([["a"], ["a"]]))})
    with pytest.raises(UnsupportedError, match="basket") as caught:
        decide(name, {}, table, required(("k-anonymity", {"k": 2})))
    knowing = [other for other, method in METHODS.items() if method.item_sets]
    assert any(other in str(caught.value) for other in knowing)


# ---- odd tables


@every_way
def test_one_record_cannot_hide(name, options):
    with pytest.raises(PolicyUnmetError):
        decide(name, options, as_table({"a": [1]}), required(("k-anonymity", {"k": 2})))


@every_way
def test_one_record_may_be_its_own_class_where_no_k_is_asked_for(name, options):
    table = as_table({"a": [1]}, {"s": ["x"]})
    partition = decide(name, options, table, required(("t-closeness", {"t": 0.0, "column": "s"})))
    assert partition.classes.tolist() == [0]


@every_steady_way
@pytest.mark.parametrize("value", [7, "seven", None, 1.5])
def test_equal_records_are_one_class(name, options, value):
    table = as_table({"a": pa.array([value] * 50), "b": ["x"] * 50})
    partition = decide(name, options, table, required(("k-anonymity", {"k": 2}), limit=0.5))
    assert partition.classes.tolist() == [0] * 50
    assert partition.count == 1


@every_way
@pytest.mark.parametrize("cells", [[1, 1, 2, 2, 9, 9], list("aabbcc"), [None, None, "x", "x", "y", "y"]], ids=str)
def test_one_quasi_identifier_is_split_to_the_end(name, options, cells):
    partition = decide(name, options, as_table({"a": cells}), required(("k-anonymity", {"k": 2})))
    check_classes(partition, {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}, options)


@every_steady_way
def test_constant_columns_change_nothing(name, options):
    random = np.random.default_rng(0)
    own = {"a": random.integers(0, 30, 100).tolist(), "b": random.choice(list("pqrs"), 100).tolist()}
    constant = {"c1": [3] * 100, "c2": ["x"] * 100, "c3": pa.nulls(100, pa.string()), "c4": pa.nulls(100, pa.int64())}
    asked = required(("k-anonymity", {"k": 5}), limit=0.0)
    plain = decide(name, options, as_table(own), asked)
    mixed = {"c1": constant["c1"], "a": own["a"], "c2": constant["c2"], "c3": constant["c3"], "b": own["b"]}
    padded = decide(name, options, as_table({**mixed, "c4": constant["c4"]}), asked)
    assert canonical(plain) == canonical(padded)


@every_way
def test_missing_values_in_every_column_are_values_of_their_own(name, options):
    table = as_table(
        {
            "n": [None, None, 1, 1, 50, 50],
            "c": [None, None, "a", "a", "b", "b"],
            "t": [None, None, "x1", "x1", "y1", "y1"],
        },
        {"s": [None, 1, None, 1, None, 1]},
        hierarchies={"t": {"prefix": [2, 1]}},
    )
    asked = required(("k-anonymity", {"k": 2}), ("l-diversity", {"l": 2, "column": "s"}))
    partition = decide(name, options, table, asked)
    # six records may be parted so that somebody shares a class with nobody who has another value
    blind = {frozenset(range(6))} if options.get("sensitive") == "blind" else None
    check_classes(partition, blind or {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}, options)


@every_way
def test_a_column_of_missing_values_alone_is_constant(name, options):
    table = as_table({"n": pa.nulls(4, pa.float64()), "a": [1, 1, 2, 2]})
    partition = decide(name, options, table, required(("k-anonymity", {"k": 2})))
    check_classes(partition, {frozenset({0, 1}), frozenset({2, 3})}, options)


@every_way
def test_a_taxonomy_is_split_along_its_branches(name, options):
    cells = ["aa"] * 2 + ["ab"] * 2 + ["ba"] * 2 + ["bb"] * 2
    table = as_table({"t": cells}, hierarchies={"t": {"prefix": [2, 1]}})
    coarse = decide(name, options, table, required(("k-anonymity", {"k": 4})))
    assert canonical(coarse) == {frozenset(range(4)), frozenset(range(4, 8))} or lumps(options)
    fine = decide(name, options, table, required(("k-anonymity", {"k": 2})))
    check_classes(fine, {frozenset({at, at + 1}) for at in (0, 2, 4, 6)}, options)


@cache
def very_many(hierarchy: bool) -> Table:
    """A table of so many categories that whatever grows faster than the rows would not end."""
    rows = 80_000
    cells = pa.array([f"{i:06d}" for i in range(rows)])
    spec = {"t": {"prefix": [6, 4, 2]}} if hierarchy else {}
    return kept(as_table({"t": cells, "n": list(range(rows))}, hierarchies=spec, t="categorical"))


@every_steady_way
@pytest.mark.parametrize("hierarchy", [False, True], ids=["set", "tree"])
def test_very_many_categories(name, options, hierarchy):
    table = very_many(hierarchy)
    partition = decide(name, options, table, required(("k-anonymity", {"k": 2})))
    assert partition.sizes.min() >= 2
    assert partition.count >= (1 if partition.cuts or lumps(options) else table.rows / 4)


@every_way
def test_numbers_far_apart_and_near_each_other(name, options):
    table = as_table({"n": [-1e300, -1e300, 0.0, 1e-300, 1e300, 1e300]})
    partition = decide(name, options, table, required(("k-anonymity", {"k": 2})))
    assert min(map(len, members(partition).values())) >= 2
    assert sum(map(len, members(partition).values())) == 6


# ---- progress


@every_way
@pytest.mark.parametrize("asked", [[("k-anonymity", {"k": 4})], TOGETHER], ids=["rows", "several"])
def test_progress_only_goes_up_and_reaches_the_end(name, options, asked):
    heard = defaultdict(list)
    decide(
        name,
        options,
        patients(500),
        required(*asked, limit=0.2),
        progress=lambda stage, done, total: heard[stage].append((done, total)),
    )
    assert heard["decide"]
    for stage, told in heard.items():
        assert told == sorted(told), stage
        assert all(done <= total or total == 0 for done, total in told)
    assert heard["decide"][-1] == (1.0, 1.0)
    assert heard["decide"][0][0] >= 0.0


@every_way
@pytest.mark.parametrize(
    ("model", "setting"),
    [
        ("t-closeness", {"t": 0.35, "column": "illness"}),
        ("beta-likeness", {"beta": 1.5, "column": "illness"}),
        ("t-closeness", {"t": 0.2, "column": "cost", "distance": "ordered"}),
    ],
    ids=["t", "beta", "ordered"],
)
def test_limits_against_the_whole_hold_for_what_is_left_of_it(name, options, model, setting):
    # leaving records out changes what the classes are measured against
    table, heard = patients(120, 0), defaultdict(list)
    partition = decide(
        name, options, table, required((model, setting), limit=0.3), progress=lambda *told: heard[told[0]].append(told)
    )
    assert keeps(model, {"variant": "enhanced", **setting}, table, partition)
    for told in heard.values():
        assert told == sorted(told)
