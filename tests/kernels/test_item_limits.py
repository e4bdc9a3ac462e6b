"""Limits for the items of sets: every step of polishing keeps them, and gains what it says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from kernels.test_regroups import number, total_by_hand, word
from sudare.kernels.clustering import item_limits, moves, regroups
from sudare.methods.clustering.neighbourhoods import Field
from sudare.methods.clustering.polish import Polisher, polish
from sudare.methods.clustering.promise_arrays import rules_of
from sudare.models import KAnonymity, LDiversity, Requirements
from sudare.table import Partition, Table
from sudare.table.encode_sets import encode_sets

HARMLESS = "a"


def random_sets(seed, rows=150):
    """Return a table, and the items of each record that count."""
    random = np.random.default_rng(seed)
    shares = np.array([0.9, 0.2, 0.15, *([0.08] * 12)])
    held = random.random((rows, len(shares))) < shares
    items = [["abcdefghijklmno"[at] for at in np.flatnonzero(line)] for line in held]
    quasi = {
        "x": number("x", random.integers(0, 12, rows)),
        "y": word("y", random.integers(0, 5, rows), "abcde"),
    }
    table = Table(rows=rows, quasi=quasi, sensitive={"s": encode_sets("s", pa.array(items))})
    return table, [set(line) - {HARMLESS} for line in items]


def limited(k, l):  # noqa: E741
    return Requirements((KAnonymity(k), LDiversity(l, "s", variant="frequency", harmless=(HARMLESS,))))


def keeps(rows, sets, l):  # noqa: E741
    """Return whether some records hold no item too often, counted by hand."""
    return max(Counter(item for row in rows for item in sets[row]).values(), default=0) * l <= len(rows)


def beginning(table, sets, k, l):  # noqa: E741
    """Return runs of records as they stand, each just long enough to keep the limits."""
    start, first, cluster = np.zeros(table.rows, np.int64), 0, 0
    for row in range(table.rows):
        start[row] = cluster
        if row + 1 - first >= k and keeps(range(first, row + 1), sets, l):
            first, cluster = row + 1, cluster + 1
    start[start == cluster] = max(cluster - 1, 0)
    return start


@pytest.mark.parametrize("seed", range(8))
def test_each_step_gains_what_it_says_and_keeps_the_limits(seed):
    k, l = 4, 2  # noqa: E741
    table, sets = random_sets(seed)
    field = Field(table)
    work = Polisher(table, limited(k, l), field, field.around())
    start = beginning(table, sets, k, l)
    count = int(start.max()) + 1
    holding = [np.flatnonzero(start == cluster) for cluster in range(count)]
    assert sum(not keeps(rows, sets, l) for rows in holding[:-1]) == 0
    if not keeps(holding[-1], sets, l):  # the rest of the table may have to go further back
        start[:], count = 0, 1
    members, shapes = work.shaped(start, count + 5)
    needs, promise, space = work.rules.needs, work.rules.promise, field.space
    done = 0
    for _ in range(4):
        for step in (
            lambda: moves.move_records(work.codes, work.values, space, work.around, needs, promise, members, shapes),
            lambda: regroups.dissolve(work.codes, work.values, space, work.around, promise, members, shapes),
            lambda: regroups.part_anew(work.codes, work.values, space, work.around, needs, promise, members, shapes),
        ):
            before = total_by_hand(table, members.of_row)
            times, gained = step()
            done += times
            assert total_by_hand(table, members.of_row) == pytest.approx(before - gained, abs=1e-9)
            for cluster in np.unique(members.of_row):
                rows = np.flatnonzero(members.of_row == cluster)
                assert len(rows) >= k
                assert keeps(rows, sets, l)
            assert not promise.items.held.any()
    assert done


@pytest.mark.parametrize("seed", range(8))
def test_single_questions_are_answered_as_by_hand(seed):
    l = 3  # noqa: E741
    table, sets = random_sets(seed, rows=40)
    limits = rules_of(table, limited(3, l)).promise.items
    random = np.random.default_rng(seed)
    members = moves.Members(random.integers(0, 5, table.rows), *(np.full(n, -1) for n in (5, table.rows, table.rows)))
    for row, cluster in enumerate(members.of_row):
        moves.chain(cluster, row, members)
    answers = Counter()
    for row in range(table.rows):
        for cluster in range(5):
            held = np.flatnonzero(members.of_row == cluster)
            rest = [other for other in held if other != row]
            if members.of_row[row] == cluster:
                goes = item_limits.may_go(row, cluster, len(held), members, limits)
                assert goes == keeps(rest, sets, l)
                answers["goes", goes] += 1
                continue
            comes = item_limits.may_come(row, cluster, len(held), members, limits)
            others = {item for item in "bcdefghijklmno" if sum(item in sets[other] for other in held) * l > len(held)}
            if not others - sets[row]:  # otherwise the cluster keeps nothing as it is, which it is never asked
                assert comes == keeps([*held, row], sets, l)
                answers["comes", comes] += 1
            assert not limits.held.any()
        rows = random.permutation(table.rows)[: random.integers(3, 20)]
        alone = item_limits.may_stand_alone(rows, np.arange(len(rows)), 0, len(rows), limits)
        assert alone == keeps(rows, sets, l)
        went = random.integers(0, 5, 2)
        sizes = np.array([np.count_nonzero(members.of_row == cluster) for cluster in range(5)])
        guests = [other for other in range(table.rows) if members.of_row[other] not in went][:2]
        if len(guests) == 2:
            np.add.at(sizes, went, 1)
            all_come = item_limits.may_all_come(np.array(guests), went, 2, sizes, members, limits)
            wanted = all(
                keeps(
                    [*np.flatnonzero(members.of_row == to), *(g for g, w in zip(guests, went, strict=True) if w == to)],
                    sets,
                    l,
                )
                for to in set(went.tolist())
            )
            assert all_come == wanted
            answers["all come", all_come] += 1
        assert not limits.held.any()
    assert answers["comes", True] and answers["comes", False]


def test_polish_loses_less_although_items_are_limited():
    table, sets = random_sets(3)
    start = beginning(table, sets, 4, 2)
    given = Partition(start.astype(np.int32), int(start.max()) + 1)
    found = polish(table, limited(4, 2), given)
    assert total_by_hand(table, found.classes) < 0.8 * total_by_hand(table, given.classes)
    for cluster in range(found.count):
        assert keeps(np.flatnonzero(found.classes == cluster), sets, 2)


def test_large_classes_stay_as_they_are():
    table, _ = random_sets(0, rows=40)
    limits = rules_of(table, limited(3, 2)).promise.items
    members = moves.Members(np.zeros(table.rows, np.int64), *(np.full(n, -1) for n in (2, table.rows, table.rows)))
    assert not item_limits.may_go(0, 0, item_limits.LARGEST + 1, members, limits)
    assert not item_limits.may_come(0, 1, item_limits.LARGEST, members, limits)
