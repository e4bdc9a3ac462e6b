"""Polishing's kernels on random tables: what they keep of covers agrees with the records, and the loss falls by what
they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.kernels.clustering import moves, regroups
from sudare.methods.clustering.l_clustering import l_clustering
from sudare.methods.clustering.neighbourhoods import Field
from sudare.methods.clustering.polish import Polisher, _roots, polish
from sudare.models import KAnonymity, LDiversity, Requirements
from sudare.table import Column, Partition, Table


def number(name, codes):
    return Column(name, "numeric", np.asarray(codes, np.uint8), pa.array(range(12)), positions=np.arange(12.0))


def word(name, codes, values):
    return Column(name, "categorical", np.asarray(codes, np.uint8), pa.array(list(values)))


def random_table(seed, rows=120):
    random = np.random.default_rng(seed)
    x, y, s = (random.integers(0, high, rows) for high in (12, 5, 6))
    quasi = {"x": number("x", x), "y": word("y", y, "abcde")}
    return Table(rows=rows, quasi=quasi, sensitive={"s": word("s", s, "uvwxyz")})


def total_by_hand(table, classes):
    """Return the NCP of all records, from the records of each class alone."""
    x, y = table.quasi["x"].codes.astype(int), table.quasi["y"].codes
    lost = 0.0
    for number in np.unique(classes):
        held = classes == number
        kinds = len(set(y[held]))
        lost += held.sum() * ((x[held].max() - x[held].min()) / 11 + (kinds / 5 if kinds > 1 else 0)) / 2
    return lost


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("k", "diverse"), [(3, 1), (4, 3)])
def test_each_step_gains_what_it_says_and_keeps_the_requirements(seed, k, diverse):
    table = random_table(seed)
    models = (KAnonymity(k),) if diverse == 1 else (KAnonymity(k), LDiversity(diverse, "s"))
    required = Requirements(models)
    field = Field(table)
    work = Polisher(table, required, field, field.around())
    # a poor beginning: runs of records as they stand, joined until they keep the requirements
    start = np.arange(table.rows) // (2 * k)
    for number in range(int(start.max()), 0, -1):
        held = table.sensitive["s"].codes[start == number]
        if len(held) < k or len(set(held)) < diverse:
            start[start == number] = number - 1
    members, shapes = work.shaped(start, int(start.max()) + 1)
    codes, values, space = work.codes, work.values, field.space
    needs, promise = work.rules.needs, work.rules.promise
    assert needs == (k, diverse) and work.rules.plain
    done = [0, 0, 0]
    for _ in range(4):
        for step, run in enumerate(
            (
                lambda: moves.move_records(codes, values, space, work.around, needs, promise, members, shapes),
                lambda: regroups.dissolve(codes, values, space, work.around, promise, members, shapes),
                lambda: regroups.part_anew(codes, values, space, work.around, needs, promise, members, shapes),
            )
        ):
            before = total_by_hand(table, members.of_row)
            times, gained = run()
            done[step] += times
            after = total_by_hand(table, members.of_row)
            assert after == pytest.approx(before - gained, abs=1e-9)
            assert (shapes.size * shapes.loss).sum() == pytest.approx(after, abs=1e-9)
            assert gained >= 0 and (times > 0 or gained == 0)
            again, fresh = work.shaped(members.of_row, len(shapes.size))
            for name in ("low", "high", "bits", "size", "counts", "distinct"):
                held = shapes.size > 0
                assert np.array_equal(getattr(fresh, name)[held], getattr(shapes, name)[held]), name
            assert np.array_equal(again.of_row, members.of_row)
            assert fresh.size[fresh.size > 0].min() >= k
            assert fresh.distinct[fresh.size > 0].min() >= diverse
    assert done[0] and done[2]


def two_columns(pairs):
    points, words = zip(*pairs, strict=True)
    quasi = {"x": number("x", points), "y": word("y", words, "abcde")}
    return Table(rows=len(points), quasi=quasi, sensitive={})


def test_two_classes_that_no_single_move_can_mend_are_parted_anew():
    table = two_columns([(0, 0), (0, 0), (11, 1), (11, 1)])
    crossed = Partition(np.array([0, 1, 0, 1], np.int32), 2)
    found = polish(table, Requirements((KAnonymity(2),)), crossed)
    assert found.classes[0] == found.classes[1] != found.classes[2] == found.classes[3]


def test_a_class_between_two_others_is_dissolved():
    table = two_columns([(0, 0)] * 2 + [(1, 0), (9, 0)] + [(10, 0)] * 2)
    between = Partition(np.array([0, 0, 1, 1, 2, 2], np.int32), 3)
    found = polish(table, Requirements((KAnonymity(2),)), between)
    assert found.count == 2
    assert found.classes.tolist() in ([0] * 3 + [1] * 3, [1] * 3 + [0] * 3)


def test_a_class_that_is_large_enough_is_parted_by_itself():
    table = two_columns([(0, 0)] * 3 + [(11, 1)] * 3 + [(5, 2), (6, 3)])
    large = Partition(np.array([0] * 6 + [1, 1], np.int32), 2)
    found = polish(table, Requirements((KAnonymity(2),)), large)
    assert total_by_hand(table, found.classes) < total_by_hand(table, large.classes)
    assert np.bincount(found.classes).min() >= 2


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_records_makes_no_difference(seed):
    table = random_table(seed, rows=200)
    required = Requirements((LDiversity(3, "s"),))
    shuffled = np.random.default_rng(seed).permutation(table.rows)
    one = l_clustering(table, required).classes
    other = np.empty_like(one)
    other[shuffled] = l_clustering(table.taken(shuffled), required).classes
    sums = [total_by_hand(table, classes) for classes in (one, other)]
    assert sums[0] == pytest.approx(sums[1], abs=1e-12)


def roots_by_hand(into):
    """Walk from each until someone is met again: from there on it is a circle, whose least number is the end."""
    found = []
    for at in range(len(into)):
        way = [at]
        while into[way[-1]] not in way:
            way.append(into[way[-1]])
        found.append(min(way[way.index(into[way[-1]]) :]))
    return found


@pytest.mark.parametrize("into", [[1, 2, 0], [0], [1, 0], [3, 0, 1, 2, 2], [1, 2, 3, 4, 0, 6, 7, 5, 8]])
def test_who_joins_whom_may_go_round_in_circles(into):
    assert _roots(np.array(into)).tolist() == roots_by_hand(into)


@pytest.mark.parametrize("seed", range(200))
def test_whoever_joins_whom_all_of_a_circle_and_those_that_lead_to_it_end_together(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 40))
    into = random.permutation(count) if seed % 3 == 0 else random.integers(0, count, count)
    ends = _roots(into)
    assert ends.tolist() == roots_by_hand(into.tolist())
    assert (ends == ends[into]).all()  # who joins someone ends where they end
    assert (ends[ends] == ends).all()


@pytest.mark.parametrize("method", [{"name": "top-down", "polish": True}, {"name": "l-clustering"}], ids=str)
def test_classes_that_join_in_a_circle_come_to_an_end_on_adult(method):
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "income"]
    diverse = {"model": "l-diversity", "variant": "recursive", "c": 1, "l": 5, "column": "occupation"}
    policy = {
        "columns": {**{name: {"role": "quasi"} for name in quasi}, "occupation": {"role": "sensitive"}},
        "require": [diverse],
        "method": method,
    }
    people = sudare.datasets.adult().slice(0, 20_000).select([*quasi, "occupation"])
    assert sudare.anonymize(people, policy).data.num_rows == 20_000
