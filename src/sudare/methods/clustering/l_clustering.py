"""L-clustering: l-diversity, and k-anonymity, by clustering with free generalization.

Steps (``fast``)
    1. Records that agree in all quasi-identifiers and keep the requirements by themselves are a cluster that loses
       nothing; it may give away records that it does not need.
    2. In rounds with a rising limit: a record that has no place yet begins a cluster, which takes in the nearest record
       again and again (of a sensitive value that it lacks, while it lacks some) until it keeps the requirements; or the
       record joins a cluster nearby. It goes the way that loses less per record without a place, if that is below
       the limit of the round: clusters that cost little are made first, and what fits nowhere joins what is there.
    3. Requirements beyond k and distinct values are tested then; a cluster that fails joins the one that grows least.
    4. Records are moved between clusters while that loses less (:mod:`sudare.methods.clustering.polish`).
    A class shows intervals of numbers and sets of categories, or nodes of a hierarchy, that cover its records.

Steps (``reference``)
    As published: while the records left carry l different values, one is taken at random and becomes a cluster; it
    takes in the nearest record of a value that it lacks, or is joined with the nearest finished cluster if that is
    nearer; what is left over goes to the nearest cluster, in random order. The distance of two is what both lose.

Cost
    ``fast``: the nearest records are found in a tree over distinct records, in about the logarithm of their number;
    nearly linear in all. ``reference``: quadratic, as each new cluster is compared with all others.

Guarantee
    Every class keeps all requirements; no record is left out, whatever the policy allows. ``fast`` depends on the
    multiset of records alone; ``reference`` on chance, from the operating system unless a test gives a seed.

Deviations
    The paper knows neither hierarchies nor requirements beyond distinct l-diversity, nor numbers of records without a
    sensitive column: with k-anonymity alone clusters take in the nearest records of any value.

References
    A clustering-based approach for data anonymization, Journal of Software (Chinese); see docs/papers/l_clustering.md.
    Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques. DASFAA 2007.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from sudare.core.errors import PolicyUnmetError
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.kernels.clustering import growth as kernel
from sudare.kernels.clustering.cover_losses import Needs
from sudare.kernels.clustering.published_steps import cluster_as_published
from sudare.kernels.topdown.value_orders import SET
from sudare.methods.class_counts import everybody, refuse_item_sets, tallied
from sudare.methods.clustering.neighbourhoods import Field, Ints, expanded, in_order, main_diversity, space_of
from sudare.methods.clustering.polish import Polisher, joined, polish
from sudare.models import Requirements
from sudare.table import Partition, Table

FIRST_LIMIT = 1 / 256
"""The limit of the first round, as a part of losing everything; on Adult hardly any cluster costs less."""
FACTOR = 3.0
"""By which the limit rises; on Adult 2 loses no less after polishing, and takes a quarter longer."""


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
    refuse_item_sets(table)
    order, given = in_order(table), table
    table = table.taken(order)
    field = Field(table, loss if weights == "domain" else "raw")
    unmet = requirements.unmet(everybody(table, requirements))
    if unmet:
        raise PolicyUnmetError(unmet)
    listener("decide", 0.0, 1.0)
    if variant == "reference":
        classes, count = _as_published(table, requirements, field, weights, seed)
        listener("decide", 0.8, 1.0)
        if not requirements.holds(tallied(table, requirements, classes, count)).all():
            classes, count = joined(Polisher(table, requirements, field, field.around()), classes, count)
        partition = Partition(classes.astype(np.int32), count)
    else:
        near = field.around()
        listener("decide", 0.3, 1.0)
        classes, count = _grown(table, requirements, field, near)
        listener("decide", 0.8, 1.0)
        work = Polisher(table, requirements, field, near)
        if not work.simple:
            classes, count = joined(work, classes, count)
        partition = Partition(classes.astype(np.int32), count)
        partition = polish(table, requirements, partition, field=field, near=near)
    listener("decide", 1.0, 1.0)
    classes = np.empty(given.rows, dtype=np.int32)
    classes[order] = partition.classes
    return replace(partition, classes=classes)


def _grown(table: Table, requirements: Requirements, field: Field, near: Ints) -> tuple[Ints, int]:
    """Grow clusters from near records, and let what is left over join them."""
    sensitive, diverse = main_diversity(table, requirements)
    k = max(requirements.least_rows, diverse)
    values = np.zeros(table.rows, np.int64) if sensitive is None else sensitive.codes.astype(np.int64)
    kinds = 1 if sensitive is None else sensitive.size
    atoms = len(field)
    pair = field.of_row * kinds + values
    have = np.bincount(pair, minlength=atoms * kinds).astype(np.int32).reshape(atoms, kinds)
    total, distinct = have.sum(axis=1).astype(np.int64), (have > 0).sum(axis=1)
    stock = kernel.Stock(have, total, distinct, (total >= k) & (distinct >= diverse), np.zeros(atoms, np.uint64))
    room = table.rows // k + int(np.count_nonzero(stock.whole)) + 1
    attributes = field.codes.shape[1]
    clusters = kernel.Clusters(
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.int64),
        np.zeros((room, attributes), np.uint64),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros((atoms, kernel.OWNERS), np.int64),
    )
    atom, value, cluster = (np.empty(table.rows + k, np.int64) for _ in range(3))
    taken = kernel.Taken(atom, value, cluster)
    seen = kernel.Atoms(field.codes, field.space, field.tree, near)
    limits = kernel.Limits(FIRST_LIMIT, FACTOR)
    done, count = kernel.grow_clusters(seen, field.nodes, stock, Needs(k, diverse), limits, clusters, taken)
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
    kernel.join_rest(field.codes, field.of_row[left], left, field.space, clusters, count, classes)
    return classes, count


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
        by_domain[space.axes.kind != SET] = kept[space.axes.kind != SET]
        space = space._replace(axes=space.axes._replace(weight=by_domain))
    draws = Entropy(seed).words(2 * (table.rows + 1)).view(np.uint64) >> np.uint64(1)
    classes = np.full(table.rows, -1, dtype=np.int64)
    k = np.int64(max(requirements.least_rows, diverse))
    count = cluster_as_published(field.codes[field.of_row], values, space, k, np.int64(diverse), draws, classes)
    return classes, int(count)
