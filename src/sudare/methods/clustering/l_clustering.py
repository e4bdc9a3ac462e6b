"""L-clustering: l-diversity, and k-anonymity, by clustering with free generalization.

Steps (``fast``)
    1. Records that agree in all quasi-identifiers and keep the requirements by themselves are a cluster that loses
       nothing; it may give away records that it does not need.
    2. In rounds with a rising limit: a record that has no place yet begins a cluster, which takes in the nearest record
       again and again (of a sensitive value that it lacks, while it lacks some) until it keeps the requirements; or the
       record joins a cluster nearby, which keeps them with it. It goes the way that loses less per record without a
       place, if that is below the limit of the round: clusters that cost little are made first, and what fits nowhere
       joins what is there.
    3. Requirements beyond k and distinct values are those of their models, with nothing stricter in their place (see
       :mod:`sudare.kernels.clustering.promise_gaps`). After some records of any value, a cluster takes the nearest
       record that brings it nearer to what it promises. Values that need far more others than most (a rare one
       under beta-likeness) begin their clusters first, while others are there.
    4. What the kernels cannot test (people, or more than 64 kinds of sensitive values) is tested then. A cluster
       that fails joins the one that grows least.
    5. Records are moved between clusters while that loses less (:mod:`sudare.methods.clustering.polish`).
    6. Top-down with polish decides, too. Its classes are taken if they lose less, and ``classes_by`` says so.
    A class shows intervals of numbers and sets of categories, or nodes of a hierarchy, that cover its records. Of
    categories with an ``order`` it shows all from the lowest to the highest, missing cells being the last. Of item sets
    it shows what all its records hold; clusters are compared by the items and nodes with most weight (see
    :mod:`sudare.methods.clustering.item_columns`). Then records move by what they lose in all items (see
    :mod:`sudare.methods.clustering.item_polish`).

Steps (``reference``)
    As published: while the records left carry l different values, one is taken at random and becomes a cluster; it
    takes in the nearest record of a value that it lacks, or is joined with the nearest finished cluster if that is
    nearer; what is left over goes to the nearest cluster, in random order. The distance of two is what both lose.

Cost
    ``fast``: the nearest records are found in a tree over distinct records, in about the logarithm of their number;
    nearly linear in all. Clusters that have to be given up are limited by the number of records. Top-down runs beside
    this, on another core. ``reference``: quadratic, as each new cluster is compared with all others.

Guarantee
    Every class keeps all requirements; no record is left out, whatever the policy allows. ``fast`` loses no more than
    top-down with polish that leaves out nobody and shows the same intervals (with ``loss: gcp``, the loss of that
    polish). It depends on the
    multiset of records alone; ``reference`` on chance, from the operating system unless a test gives a seed.

Deviations
    The paper knows neither hierarchies nor requirements beyond distinct l-diversity, nor numbers of records without a
    sensitive column: with k-anonymity alone clusters take in the nearest records of any value.

References
    A clustering-based approach for data anonymization, Journal of Software (Chinese); see docs/papers/l_clustering.md.
    Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques. DASFAA 2007.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.core.errors import PolicyUnmetError, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.kernels.clustering import growth as kernel
from sudare.kernels.clustering.cover_losses import RANKED
from sudare.kernels.clustering.promise_gaps import keepers, least_sizes
from sudare.kernels.clustering.published_steps import cluster_as_published
from sudare.kernels.clustering.set_moves import LARGEST as LARGEST_POLISHED
from sudare.kernels.topdown.splits import LEAST_LOSS
from sudare.kernels.topdown.value_orders import SET
from sudare.methods.class_counts import everybody, refuse_free_sets, tallied
from sudare.methods.clustering.item_columns import set_ranks, with_items
from sudare.methods.clustering.item_polish import polish_item_sets
from sudare.methods.clustering.neighbourhoods import (
    Field,
    Ints,
    Weighing,
    expanded,
    in_order,
    main_diversity,
    ordered_categories,
    space_of,
)
from sudare.methods.clustering.polish import Polisher, joined, polish
from sudare.methods.clustering.promise_arrays import Rules, rules_of
from sudare.methods.topdown.frame import split_down
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import METRICS, uncertainty
from sudare.models import Requirements
from sudare.table import Partition, Table, generalize

FIRST_LIMIT = 1 / 256
"""The limit of the first round, as a part of losing everything; on Adult hardly any cluster costs less."""
FACTOR = 3.0
"""By which the limit rises; on Adult 2 loses no less after polishing, and takes a quarter longer."""

LARGEST = 4096
"""Records that a cluster may need, at most, as far as is thought of before it is grown."""
FREE = 1
"""Clusters take so many times as many records of any kind as they need at least, and then those that help.

On Adult, 0 loses half as much again under entropy l-diversity, and 2 three times as much under t = 0.15.
"""
HEAVY = 4
"""Kinds of records that need more than so many times as many others as the least begin their clusters first."""
IN_VAIN = 30
"""For each record of a table, so many may be taken in vain."""
NO_END = 1 << 60


def l_clustering(
    table: Table,
    requirements: Requirements,
    *,
    variant: Literal["fast", "reference"] = "fast",
    weights: Literal["domain", 1] = "domain",
    loss: Literal["gcp", "arx"] = "gcp",
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Cluster records that are near each other (see the module's description).

    ``weights`` are those of the distance: ``domain`` makes every column count equally, 1 counts differences in their
    own units. ``loss`` is the loss to minimize, with ``domain``. ``seed`` is for tests of ``reference``.
    """
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    if table.sets:
        _check_sets(table, requirements, variant)
        requirements = requirements.for_groups(())
    ranks = set_ranks(table)
    order, given = in_order(table, then=ranks), table
    table = table.taken(order)
    seen = with_items(table)
    unmet = requirements.unmet(everybody(table, requirements))
    if unmet:
        raise PolicyUnmetError(unmet)
    if not seen.single:  # all sets are alike
        return Partition(np.zeros(given.rows, np.int32), 1, facts={"classes_by": "clusters"})
    field = Field(seen, loss if weights == "domain" else "raw", intervals=True)
    listener("decide", 0.0, 1.0)
    if variant == "reference":
        classes, count = _as_published(table, requirements, field, weights, seed)
        listener("decide", 0.8, 1.0)
        if not requirements.holds(tallied(table, requirements, classes, count)).all():
            classes, count = joined(Polisher(table, requirements, field, field.around()), classes, count)
        partition = Partition(classes.astype(np.int32), count, intervals=ordered_categories(field.columns))
    else:
        told = None if ranks is None else ranks[order]
        partition = _better((table, seen, told), requirements, field, loss if weights == "domain" else "raw", listener)
    listener("decide", 1.0, 1.0)
    classes = np.empty(given.rows, dtype=np.int32)
    classes[order] = partition.classes
    return replace(partition, classes=classes)


def _check_sets(table: Table, requirements: Requirements, variant: str) -> None:
    if variant == "reference":
        raise UnsupportedError("variant: reference knows no item sets.", hint="use variant: fast.")
    refuse_free_sets(table, requirements)


def _better(
    tables: tuple[Table, Table, Ints | None],
    requirements: Requirements,
    field: Field,
    loss: Weighing,
    listener: Listener,
) -> Partition:
    """Return grown clusters, or the classes of top-down with polish if these lose less; the records are in order.

    ``tables`` are the table, its columns as they are compared, and the ranks of its item sets.
    """
    table, seen, _ = tables
    near = field.around()
    listener("decide", 0.2, 1.0)
    with ThreadPoolExecutor(2) as pool:  # neither knows of the other, so that the result is the same
        grown = pool.submit(_clusters, seen, requirements, field, near)
        split = pool.submit(_splits, tables, requirements, field, near)
        found = [grown.result(), *split.result()]
    differ = len(seen.single) > len(table.single)
    if differ and loss != "raw" and requirements.least_rows <= LARGEST_POLISHED:  # by all items, and not by some
        found += [polish_item_sets(table, requirements, partition) for partition in found]
    lost = uncertainty if loss == "raw" else METRICS[loss]
    return min(found, key=lambda partition: lost(generalize(table, partition)).total)


def _clusters(table: Table, requirements: Requirements, field: Field, near: Ints) -> Partition:
    """Return grown clusters, polished."""
    classes, count = _grown(table, requirements, field, near)
    work = Polisher(table, requirements, field, near)
    if not work.rules.exact:
        classes, count = joined(work, classes, count)
    shown = ordered_categories(field.columns)
    grown = Partition(classes.astype(np.int32), count, facts={"classes_by": "clusters"}, intervals=shown)
    return polish(table, requirements, grown, field=field, near=near)


def _splits(
    tables: tuple[Table, Table, Ints | None], requirements: Requirements, field: Field, near: Ints
) -> list[Partition]:
    """Return the classes of top-down, polished; with item sets unpolished ones, too: some items are not compared."""
    table, seen, ranks = tables
    if table.sets:
        split = top_down(table, Requirements(requirements.models))
    else:
        split = split_down(table, Requirements(requirements.models), LEAST_LOSS)
    split = replace(
        split,
        classes=_ascending(table, split.classes, ranks),
        facts={"classes_by": "top-down"},
        intervals=ordered_categories(field.columns),
    )
    polished = polish(seen, requirements, split, field=field, near=near)
    return [polished, split] if table.sets else [polished]


def _ascending(table: Table, classes: NDArray[np.int32], ranks: Ints | None) -> NDArray[np.int32]:
    """Return classes that ascend among equal records, which stand together: so does polish put them in order."""
    columns = [*table.single.values(), *table.sensitive.values(), *([table.subject] if table.subject else [])]
    fresh = np.zeros(table.rows, dtype=np.bool_)
    for codes in [*(column.codes for column in columns), *([] if ranks is None else [ranks])]:
        fresh[1:] |= codes[1:] != codes[:-1]
    return np.asarray(classes[np.lexsort((classes, np.cumsum(fresh)))])


def _grown(table: Table, requirements: Requirements, field: Field, near: Ints) -> tuple[Ints, int]:
    """Grow clusters from near records, and let what is left over join them."""
    rules = rules_of(table, requirements)
    values, kinds, promise = rules.values, rules.kinds, rules.promise
    needs = rules.needs._replace(k=max(rules.needs))
    atoms = len(field)
    pair = field.of_row * kinds + values
    have = np.bincount(pair, minlength=atoms * kinds).astype(np.int32).reshape(atoms, kinds)
    total, distinct = have.sum(axis=1).astype(np.int64), (have > 0).sum(axis=1)
    whole = (total >= needs.k) & (distinct >= needs.diverse)
    limits = kernel.Limits(FIRST_LIMIT, FACTOR, np.full(kinds, needs.k), 0, kernel.EVERYTHING, NO_END)
    if not rules.plain:
        keeping = np.zeros(atoms, np.bool_)
        keepers(have, total, promise, keeping)
        whole &= keeping
        limits = _bounds(limits, rules, needs.k, table.rows)
    stock = kernel.Stock(have, total, distinct, whole, np.zeros(atoms, np.uint64))
    room = table.rows // needs.k + int(np.count_nonzero(stock.whole)) + 1
    attributes = field.codes.shape[1]
    clusters = kernel.Clusters(
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.uint64),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros((atoms, kernel.OWNERS), np.int64),
        np.zeros((0 if rules.plain else room, kinds), np.int32),
    )
    atom, value, cluster = (np.empty(table.rows + needs.k, np.int64) for _ in range(3))
    taken = kernel.Taken(atom, value, cluster)
    seen = kernel.Atoms(field.codes, field.space, field.tree, near)
    done, count = kernel.grow_clusters(seen, field.nodes, stock, needs, promise, limits, clusters, taken)
    classes = np.full(table.rows, -1, dtype=np.int64)
    by_pair = np.argsort(pair, kind="stable")
    begin = np.searchsorted(pair[by_pair], np.arange(atoms * kinds + 1))
    given = taken.atom[:done] * kinds + taken.value[:done]
    order = np.argsort(given, kind="stable")
    rank = np.arange(done) - np.searchsorted(given[order], given[order])
    classes[by_pair[begin[given[order]] + rank]] = taken.cluster[:done][order]
    own = stock.whole[field.of_row] & (classes < 0)
    classes[own] = clusters.owners[field.of_row[own], 0]
    left = np.flatnonzero(classes < 0)
    if count == 0:
        return np.zeros(table.rows, np.int64), 1
    kernel.join_rest(
        field.codes, field.of_row[left], left, values[left], field.space, promise, clusters, count, classes
    )
    return classes, count


def _bounds(limits: kernel.Limits, rules: Rules, k: int, rows: int) -> kernel.Limits:
    """Find how large clusters have to be to keep their promises, and bound the work by that."""
    expected = np.zeros(rules.kinds, np.int64)
    least_sizes(np.bincount(rules.values, minlength=rules.kinds), k, LARGEST, rules.promise, expected)
    least = int(expected.min())
    light = sum(1 << int(kind) for kind in np.flatnonzero(expected <= HEAVY * least))
    return limits._replace(expected=expected, free=FREE * least, light=np.uint64(light), vain=IN_VAIN * rows)


def _as_published(
    table: Table, requirements: Requirements, field: Field, weights: Literal["domain", 1], seed: int | None
) -> tuple[Ints, int]:
    """Cluster by the paper's steps."""
    sensitive, diverse = main_diversity(table, requirements)
    values = np.zeros(table.rows, np.int64) if sensitive is None else sensitive.codes.astype(np.int64)
    space = space_of(field.columns, "raw")
    if weights == "domain":
        sizes = np.array([column.domain or 1.0 for _, column in expanded(field.columns)])
        kept = space.axes.weight > 0
        # an interval loses its width by the range of its column, a set one less than its size by the number of values
        by_domain = np.where(kept, np.maximum(space.scale, 1.0) / sizes, 0.0)
        ranges = (space.axes.kind != SET) & (space.axes.kind != RANKED)
        by_domain[ranges] = kept[ranges]
        space = space._replace(axes=space.axes._replace(weight=by_domain))
    draws = Entropy(seed).words(2 * (table.rows + 1)).view(np.uint64) >> np.uint64(1)
    classes = np.full(table.rows, -1, dtype=np.int64)
    k = np.int64(max(requirements.least_rows, diverse))
    count = cluster_as_published(field.codes[field.of_row], values, space, k, np.int64(diverse), draws, classes)
    return classes, int(count)
