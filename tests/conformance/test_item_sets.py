"""What every method that knows item sets has to keep, whatever it prefers; single columns: see test_methods."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from test_methods import (
    ASKED,
    TOGETHER,
    as_table,
    canonical,
    decide,
    keeps,
    members,
    patients,
    required,
    ways_of,
    with_hierarchy,
    without_item_sets,
)

from sudare.core.errors import PolicyUnmetError, UnsupportedError
from sudare.methods import METHODS
from sudare.methods.lattice.apriori_items import HIDDEN
from sudare.methods.topdown import frame
from sudare.models import MODELS, Requirements
from sudare.table import SUPPRESSED, ItemSets, Partition, Table, encode_items, generalize

WAYS = ways_of([name for name, method in METHODS.items() if method.item_sets])
KNOWING = [
    (name, options)
    for name, options in WAYS
    # what is refused beside item sets
    if options.get("sensitive") != "blind"
    and options.get("loss") != "entropy"
    and options.get("variant") != "reference"
]
LOCAL = [(name, options) for name, options in KNOWING if not METHODS[name].recodes_globally]


def ways(given):
    return pytest.mark.parametrize(
        ("name", "options"), given, ids=["-".join((name, *map(str, options.values()))) for name, options in given]
    )


every_way, every_local_way = ways(KNOWING), ways(LOCAL)
every_free_way = ways([(name, options) for name, options in KNOWING if name == "top-down"])
"""The only method that recodes sets which take no part in the classes."""
DRUGS = {
    "pain": {"mild": ["aspirin", "ibuprofen"], "strong": ["codeine", "morphine", "tramadol"]},
    "heart": {"beta": ["atenolol", "bisoprolol"], "statin": ["lovastatin"]},
    "skin": {"cream": ["zinc", "urea", "tar"]},
}
NAMES = [leaf for group in DRUGS.values() for leaves in group.values() for leaf in leaves]
SIGNS = [f"s{number}" for number in range(8)]
SINGLE = ["age", "height", "job", "zip"]


def baskets(random, names, rows):
    """Sets of up to five items, some far more frequent than others, with nulls and empty sets among them."""
    weights = 1.0 / np.arange(1, len(names) + 1)
    cells = []
    for _ in range(rows):
        drawn = random.choice(names, random.integers(0, 6), p=weights / weights.sum())
        cells.append(None if random.random() < 0.07 else sorted(set(drawn.tolist())))
    return cells


def item_sets(name, cells, tree=None, weight=1.0) -> ItemSets:
    sets = encode_items(name, pa.array(cells, pa.list_(pa.string())), weight=weight)
    return sets if tree is None else with_hierarchy(sets, {"tree": tree})


def clients(rows, seed=0, order=None) -> Table:
    """The patients of the other suite, with drugs, which have a hierarchy, and signs, which have none."""
    random = np.random.default_rng(seed + 1000)
    drugs, signs = baskets(random, NAMES, rows), baskets(random, SIGNS, rows)
    places = range(rows) if order is None else order
    table = patients(rows, seed, None if order is None else tuple(order))
    sets = {
        "drugs": item_sets("drugs", [drugs[place] for place in places], DRUGS),
        "signs": item_sets("signs", [signs[place] for place in places]),
    }
    # an item set stands between single columns, too
    quasi = {"age": table.quasi["age"], **sets, **table.quasi}
    return replace(table, quasi=quasi)


def only_sets(*columns) -> Table:
    return Table(len(columns[0]), {column.name: column for column in columns})


def held(sets: ItemSets, row) -> list[int]:
    return sets.items[sets.offsets[row] : sets.offsets[row + 1]].tolist()


def paths(sets: ItemSets) -> list[list[int]]:
    """The node of each item at each depth below the root, the item itself last."""
    if sets.taxonomy is None:
        return [[code] for code in range(sets.size)]
    return sets.taxonomy.path[: sets.size, 1:].tolist()


def lowest_in_common(records, path) -> set[int]:
    """What a class shows: from the leaves up, the nodes that all records hold by items that are not shown yet."""
    shown: set[int] = set()
    for depth in range(len(path[0]) - 1 if path else -1, -1, -1):
        each = [
            {path[item][depth] for item in record if not shown & set(path[item][depth + 1 :])} for record in records
        ]
        shown |= set.intersection(*each)
    return shown


def check_truth(table: Table, partition: Partition) -> None:
    """Every shown node is an item of every record of its class, or stands over one; nothing lower could be shown.

    Where a column has one level everywhere, a class shows what that level makes of the items of each of its records.
    """
    covers = generalize(table, partition).covers
    for name, sets in table.sets.items():
        if name in partition.by_sets:
            cover, cut = covers[name], partition.cuts[name]
            for number, rows in members(partition).items():
                nodes = cover.nodes[cover.start[number] : cover.start[number + 1]].tolist()
                for row in rows:
                    assert sorted({int(cut[item]) for item in held(sets, row)} - {-1}) == nodes
            continue
        if name in partition.cuts:
            continue
        cover, path = covers[name], paths(sets)
        for number, rows in members(partition).items():
            nodes = cover.nodes[cover.start[number] : cover.start[number + 1]].tolist()
            records = [held(sets, row) for row in rows]
            assert all(any(node in path[item] for item in record) for node in nodes for record in records)
            assert sorted(nodes) == sorted(lowest_in_common(records, path))


def asked_of(limit, *asked) -> Requirements:
    return required(*asked, limit=limit)


# ---- guarantees


def check_cuts(name, table, partition):
    """Only global recoding says what each item is shown as, and then classes agree in it."""
    everywhere = METHODS[name].recodes_globally
    assert set(partition.cuts) == (set(table.quasi) if everywhere else set())
    assert partition.by_sets == (set(table.sets) if everywhere else set())


@every_way
@pytest.mark.parametrize(("model", "setting"), ASKED, ids=[f"{m}-{list(s.values())}" for m, s in ASKED])
@pytest.mark.parametrize("limit", [0.0, 0.15])
def test_every_class_keeps_what_is_required(name, options, model, setting, limit):
    table = clients(250, 1)
    partition = decide(name, options, table, required((model, setting), limit=limit))
    assert keeps(model, setting, table, partition)
    assert partition.suppressed <= limit * table.rows
    assert partition.count > 1 or METHODS[name].recodes_globally  # a level for all may leave one class
    check_cuts(name, table, partition)


@every_way
@pytest.mark.parametrize("seed", range(4))
def test_several_requirements_are_kept_together_and_what_is_shown_is_true(name, options, seed):
    table = clients(300, seed)
    partition = decide(name, options, table, required(*TOGETHER, limit=0.05 * seed))
    for model, setting in TOGETHER:
        assert keeps(model, setting, table, partition)
    assert partition.suppressed <= 0.05 * seed * 300
    assert sorted(members(partition)) == list(range(partition.count))
    check_truth(table, partition)


@every_way
@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_what_is_shown_is_true(name, options, k, limit):
    table = clients(400, k)
    partition = decide(name, options, table, asked_of(limit, ("k-anonymity", {"k": k})))
    check_truth(table, partition)
    assert partition.sizes.min() >= k
    if k == 2 and not METHODS[name].recodes_globally:  # a large k leaves nothing of sets beside four other columns
        covers = generalize(table, partition).covers
        assert covers["drugs"].disclosed.sum() > 0
        assert covers["signs"].disclosed.sum() > 0


@every_way
@pytest.mark.parametrize("limit", [0.0, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("alone", [False, True], ids=["with single columns", "sets alone"])
def test_no_more_is_left_out_than_allowed(name, options, limit, alone):
    table = clients(200, 9)
    table = table.without(SINGLE) if alone else table
    partition = decide(name, options, table, asked_of(limit, ("k-anonymity", {"k": 20})))
    assert partition.suppressed <= limit * 200
    assert all(len(rows) >= 20 for rows in members(partition).values())


@every_way
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_what_the_whole_table_falls_short_of_is_an_error(name, options, limit):
    with pytest.raises(PolicyUnmetError, match="k-anonymity"):
        decide(name, options, clients(60, 2), asked_of(limit, ("k-anonymity", {"k": 61})))


@every_way
def test_the_input_stays_as_it_was(name, options):
    table = clients(300)
    arrays = [array for sets in table.sets.values() for array in (sets.items, sets.offsets)]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    partition = decide(name, options, table, required(*TOGETHER, limit=0.1))
    assert partition.classes.shape == (300,)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


# ---- k^m-anonymity


@every_way
def test_a_limit_of_a_column_of_the_classes_is_kept_by_their_size(name, options):
    table = clients(300, 4)
    asked = asked_of(0.1, ("k-anonymity", {"k": 2}), ("km-anonymity", {"k": 6, "m": 2, "column": "signs"}))
    partition = decide(name, options, table, asked)
    check_cuts(name, table, partition)
    assert partition.sizes.min() >= 6
    check_truth(table, partition)


@pytest.mark.parametrize("name", ["l-clustering", "full-domain", "incognito", "l-incognito"])
def test_other_methods_refuse_sets_that_take_no_part_in_the_classes(name):
    asked = asked_of(0.0, ("km-anonymity", {"k": 3, "m": 2, "column": "signs"}))
    with pytest.raises(UnsupportedError, match="only km-anonymity limits"):
        decide(name, {}, clients(100, 6), asked)


@every_free_way
@pytest.mark.parametrize(
    ("free", "others"), [(["signs"], ["drugs"]), (["drugs"], ["signs"]), (["drugs", "signs"], [])], ids=str
)
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_a_column_that_only_km_anonymity_limits_takes_no_part_in_the_classes(name, options, free, others, limit):
    table = clients(300, 5)
    asked = asked_of(
        limit,
        ("k-anonymity", {"k": 4, "columns": (*SINGLE, *others)}),
        *[("km-anonymity", {"k": 3, "m": 2, "column": column}) for column in free],
        *[("km-anonymity", {"k": 5, "m": 1, "column": column}) for column in free],
    )
    partition = decide(name, options, table, asked)
    assert sorted(partition.cuts) == sorted(free)
    assert partition.sizes.min() >= 4
    assert partition.suppressed <= limit * 300
    check_truth(table, partition)
    # the classes are those of the table without it
    alone = decide(name, options, table.without(free), asked_of(limit, ("k-anonymity", {"k": 4})))
    np.testing.assert_array_equal(partition.classes, alone.classes)
    kept = np.flatnonzero(partition.classes != SUPPRESSED).tolist()
    for column in free:
        sets, cut = table.sets[column], partition.cuts[column].tolist()
        assert len(cut) == sets.size
        path = paths(sets)
        assert all(node == HIDDEN or node in path[code] for code, node in enumerate(cut))
        for k, m in ((3, 2), (5, 1)):
            times = Counter()
            for row in kept:
                nodes = {cut[item] for item in held(sets, row) if item != sets.missing_code} - {HIDDEN}
                times.update(c for size in range(1, m + 1) for c in combinations(sorted(nodes), size))
            assert times
            assert min(times.values()) >= k
        if sets.missing:
            assert cut[sets.missing_code] == path[sets.missing_code][-1]


@every_free_way
def test_free_columns_alone_leave_one_class(name, options):
    table = clients(100, 6).without([*SINGLE, "drugs"])
    partition = decide(name, options, table, asked_of(0.0, ("km-anonymity", {"k": 3, "m": 2, "column": "signs"})))
    assert partition.classes.tolist() == [0] * 100
    assert list(partition.cuts) == ["signs"]


# ---- independence


@every_way
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("asked", [[("k-anonymity", {"k": 4})], TOGETHER], ids=["rows", "several"])
@pytest.mark.parametrize("alone", [False, True], ids=["with single columns", "sets alone"])
def test_it_depends_on_the_records_not_on_their_order(name, options, limit, asked, alone):
    order = np.random.default_rng(5).permutation(400).tolist()
    plain, shuffled = clients(400, 3), clients(400, 3, order)
    if alone:
        plain, shuffled = plain.without(SINGLE), shuffled.without(SINGLE)
    once = decide(name, options, plain, required(*asked, limit=limit))
    again = decide(name, options, plain, required(*asked, limit=limit), seed=1)
    mixed = decide(name, options, shuffled, required(*asked, limit=limit), seed=2)
    np.testing.assert_array_equal(once.classes, again.classes)
    # even the numbers of the classes are the same, unless records are equal and stand for each other
    if alone:
        assert signatures(plain, once) == signatures(shuffled, mixed)
    else:
        np.testing.assert_array_equal(once.classes[order], mixed.classes)


def signatures(table: Table, partition: Partition) -> dict[int, list]:
    """What each class holds, so that records that are equal in everything may stand for each other."""
    found = defaultdict(list)
    for row, number in enumerate(partition.classes.tolist()):
        found[number].append(tuple(tuple(held(sets, row)) for sets in table.sets.values()))
    return {number: sorted(records) for number, records in found.items()}


@every_way
@pytest.mark.parametrize("seed", range(6))
def test_equal_gains_do_not_go_by_the_order_of_the_records(name, options, seed):
    # items p and q stand in equally many records with sets of the same sizes, in another order: their gains are sums of
    # the same fractions, and a tie must not be decided by how these were rounded
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 12, 7).tolist()
    records = []
    for item in "pqrs":
        records += [[item, *(f"{item}{size}-{turn}-{n}" for n in range(size - 1))] for turn, size in enumerate(sizes)]
    records += [["lone"]]
    plain = only_sets(item_sets("i", records))
    expected = decide(name, options, plain, asked_of(0.0, ("k-anonymity", {"k": 3})))
    for turn in range(8):
        order = np.random.default_rng(turn).permutation(len(records)).tolist()
        mixed = only_sets(item_sets("i", [records[place] for place in order]))
        found = decide(name, options, mixed, asked_of(0.0, ("k-anonymity", {"k": 3})))
        np.testing.assert_array_equal(expected.classes[order], found.classes)


@every_way
@pytest.mark.parametrize("asked", [[("k-anonymity", {"k": 10})], TOGETHER], ids=["rows", "several"])
def test_many_workers_and_small_blocks_decide_what_one_does(name, options, asked, monkeypatch):
    table = clients(frame.SMALL_TABLE + 400, 8)  # fewer records have one worker
    found = []
    for count, block in ((1, 1 << 20), (3, 64)):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        monkeypatch.setattr(frame, "BLOCK", block)
        found.append(decide(name, options, table, required(*asked, limit=0.02)).classes)
    np.testing.assert_array_equal(found[0], found[1])


@every_way
@pytest.mark.parametrize("asked", [[("k-anonymity", {"k": 4})], TOGETHER], ids=["rows", "several"])
def test_progress_only_goes_up_and_reaches_the_end(name, options, asked):
    heard = defaultdict(list)
    decide(
        name,
        options,
        clients(500),
        required(*asked, limit=0.2),
        progress=lambda stage, done, total: heard[stage].append((done, total)),
    )
    for stage, told in heard.items():
        assert told == sorted(told), stage
        assert all(done <= total or total == 0 for done, total in told)
    assert heard["decide"][-1] == (1.0, 1.0)


# ---- odd tables


@every_way
@pytest.mark.parametrize("tree", [None, DRUGS], ids=["plain", "tree"])
def test_tables_with_item_sets_only(name, options, tree):
    random = np.random.default_rng(0)
    table = only_sets(
        item_sets("drugs", baskets(random, NAMES, 300), tree), item_sets("signs", baskets(random, SIGNS, 300))
    )
    for limit in (0.0, 0.1):
        partition = decide(name, options, table, asked_of(limit, ("k-anonymity", {"k": 5})))
        assert partition.count > 5 or METHODS[name].recodes_globally
        assert partition.sizes.min() >= 5
        assert partition.suppressed <= limit * 300
        check_truth(table, partition)


@every_way
def test_one_record(name, options):
    table = only_sets(item_sets("i", [["a", "b"]]))
    with pytest.raises(PolicyUnmetError):
        decide(name, options, table, asked_of(0.0, ("k-anonymity", {"k": 2})))
    for cells in ([["a", "b"]], [[]], [None]):
        table = replace(as_table({"a": [1]}, {"s": ["x"]}), quasi={"i": item_sets("i", cells)})
        partition = decide(name, options, table, asked_of(0.0, ("t-closeness", {"t": 0.0, "column": "s"})))
        assert partition.classes.tolist() == [0]


@every_way
@pytest.mark.parametrize("cell", [[], None, ["a"], ["a", "b", "c"]], ids=str)
@pytest.mark.parametrize("tree", [None, {"A": ["a", "b"], "C": ["c"]}], ids=["plain", "tree"])
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_equal_sets_are_one_class(name, options, cell, tree, limit):
    table = only_sets(item_sets("i", [cell] * 30, tree))
    partition = decide(name, options, table, asked_of(limit, ("k-anonymity", {"k": 2})))
    assert partition.classes.tolist() == [0] * 30
    check_truth(table, partition)


@pytest.mark.parametrize(
    ("name", "options"),
    # polish has other moves where there are item sets
    [(name, options) for name, options in KNOWING if "polish" not in options],
    ids=str,
)
@pytest.mark.parametrize("cell", [[], None, ["a"]], ids=str)
def test_sets_that_are_all_alike_change_nothing(name, options, cell):
    plain = patients(200, 7)
    padded = replace(plain, quasi={**plain.quasi, "i": item_sets("i", [cell] * 200)})
    asked = asked_of(0.0, ("k-anonymity", {"k": 5}))
    assert canonical(decide(name, options, padded, asked)) == canonical(decide(name, options, plain, asked))


@every_way
def test_null_and_empty_sets_are_told_apart(name, options):
    table = only_sets(item_sets("i", [None, None, [], [], ["a"], ["a"]]))
    partition = decide(name, options, table, asked_of(0.0, ("k-anonymity", {"k": 2})))
    assert canonical(partition) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}
    assert generalize(table, partition).covers["i"].null[partition.classes].tolist() == [True, True] + [False] * 4


@every_local_way
def test_one_item_in_every_record_is_shown_in_all_of_them(name, options):
    random = np.random.default_rng(2)
    cells = [sorted({*(items or []), "all"}) for items in baskets(random, SIGNS, 200)]
    table = only_sets(item_sets("i", cells))
    partition = decide(name, options, table, asked_of(0.1, ("k-anonymity", {"k": 5})))
    cover = generalize(table, partition).covers["i"]
    everywhere = table.sets["i"].values.to_pylist().index("all")
    assert all(everywhere in cover.nodes[low:high] for low, high in pairwise(cover.start))


@every_way
def test_sets_of_ten_thousand_items(name, options):
    random = np.random.default_rng(1)
    names = np.array([f"i{n:05d}" for n in range(20_000)])
    groups = [random.permutation(20_000)[:10_000] for _ in range(3)]
    cells = [names[np.sort(groups[row % 3])].tolist() for row in range(30)]
    table = only_sets(item_sets("i", cells), item_sets("j", [["x"] if row % 2 else [] for row in range(30)]))
    partition = decide(name, options, table, asked_of(0.0, ("k-anonymity", {"k": 5})))
    assert partition.sizes.min() >= 5
    # three groups of equal sets, of ten records each, in halves
    cover = generalize(table, partition).covers["i"]
    assert cover.share.max() < 0.6


@every_local_way
def test_a_million_different_items(name, options):
    rows, each = 200_000, 5
    numbers = np.arange(rows * each)
    numbers[::each] = numbers[::each] % 997  # one item of each record is shared with others
    offsets = np.arange(0, rows * each + 1, each)
    numbers = np.sort(numbers.reshape(rows, each), axis=1).reshape(-1).astype(np.uint32)
    sets = ItemSets("i", offsets.astype(np.int64), numbers, pa.array([f"{n:07d}" for n in range(rows * each)]))
    table = replace(as_table({"n": (np.arange(rows) % 100).tolist()}), quasi={"i": sets})
    partition = decide(name, options, table, asked_of(0.0, ("k-anonymity", {"k": 5})))
    assert partition.sizes.min() >= 5
    if not options.get("beta"):  # none of the items is that frequent
        assert generalize(table, partition).covers["i"].disclosed.sum() >= 0.9 * rows


@every_way
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_a_column_of_weight_nothing(name, options, limit):
    table = clients(300, 11)
    quasi = {**table.quasi, "signs": replace(table.sets["signs"], weight=0.0)}
    table = replace(table, quasi=quasi)
    partition = decide(name, options, table, asked_of(limit, ("k-anonymity", {"k": 5})))
    assert partition.sizes.min() >= 5
    assert partition.suppressed <= limit * 300
    check_truth(table, partition)
    alone = only_sets(replace(table.sets["signs"], weight=0.0))
    partition = decide(name, options, alone, asked_of(limit, ("k-anonymity", {"k": 5})))
    assert partition.sizes.min() >= 5
    assert partition.suppressed == 0  # nothing can be gained by it


@every_way
def test_many_columns(name, options):
    # more than there are bits in a word
    random = np.random.default_rng(4)
    table = as_table({f"c{n}": random.integers(0, 3, 60).tolist() for n in range(70)})
    table = replace(table, quasi={**table.quasi, "i": item_sets("i", baskets(random, SIGNS, 60))})
    partition = decide(name, options, table, asked_of(0.0, ("k-anonymity", {"k": 5})))
    assert partition.sizes.min() >= 5


@every_way
def test_leaving_out_a_record_is_not_free_where_another_column_is_shown(name, options):
    # i: two records show a, and the third could be left out for that; but it would lose y, which weighs more
    table = only_sets(item_sets("i", [["a"], ["a"], ["b"]]), item_sets("j", [["y"]] * 3, weight=5.0))
    partition = decide(name, options, table, asked_of(0.34, ("k-anonymity", {"k": 2})))
    if options.get("loss") not in ("discernibility", "class-size"):  # to which no item matters
        assert partition.suppressed == 0


@every_way
@pytest.mark.parametrize("beta", [0.0, 0.35])
def test_nothing_is_left_out_for_a_node_that_is_shown_already(name, options, beta):
    # all hold an item of their own below A, so that A is shown; common 0, 1 and 2, below A as well, are in three
    # records each, which is too few for beta = 0.35. To show A once more gains nothing.
    cells = [[f"own {row}"] + [f"common {row // 3}"] * (row < 9) for row in range(10)]
    leaves = sorted({item for cell in cells for item in cell})
    table = only_sets(item_sets("i", cells, {"A": leaves, "B": ["b"]}))
    given = {**options, "beta": beta} if "beta" in METHODS[name].options else options
    partition = decide(name, given, table, asked_of(0.1, ("k-anonymity", {"k": 3})))
    cover = generalize(table, partition).covers["i"]
    loss = (partition.sizes * cover.share).sum() + partition.suppressed
    whole = generalize(table, Partition(np.zeros(10, np.int32), 1)).covers["i"]
    assert loss <= 10 * whole.share[0] + 1e-9


def test_limits_of_the_whole_are_checked_however_many_classes_and_people_there_are():
    # class numbers are of 32 bits: their products with numbers of values are not
    people = 70_000
    subject = as_table({"a": [1] * people}, subject=[f"p{n}" for n in range(people)])
    classes = (np.arange(people) // 2).astype(np.int32)
    asked = Requirements((MODELS["k-anonymity"](k=2, count="subjects"),))
    partition = Partition(classes, people // 2)
    assert frame._holds_after_all(subject, asked, partition)


# ---- methods without


@without_item_sets
@pytest.mark.parametrize("rows", [2, 50])
def test_methods_that_do_not_know_item_sets_say_so(name, rows):
    table = clients(rows, 0)
    with pytest.raises(UnsupportedError) as caught:
        decide(name, {}, table, asked_of(0.0, ("k-anonymity", {"k": 2})))
    assert all(word in str(caught.value) for word in ("'drugs'", "'signs'", "top-down"))
