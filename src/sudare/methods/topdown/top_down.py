"""Top-down specialization of single values and item sets, by local recoding.

Steps
    1. One cluster holds the whole table; every single value covers its whole domain, all items of a set are hidden.
    2. In each open cluster all binary splits of single values are scored: numbers at every threshold; categories most
       frequent first, at every place of that order, and each category alone against the others; with a hierarchy the
       same for the children of the lowest node over the cluster.
    3. ``least-loss``: the split that leaves the least loss, over all records and attributes of the cluster.
       ``widest``: the attribute with the largest loss, cut nearest to its median.
    4. Items of a set that all records of the cluster hold are disclosed at once. The others are offered by
       ``rank-choose-split``: rank them by the records that hold them, without those held by fewer than
       theta = max(beta |c|, k); each record chooses the best-ranked item it holds; records with the same choice
       become a cluster that discloses it. Choices of too few records, and records without one, are the remainder: a
       cluster of its own if that keeps the requirements; else it is left out, if the budget allows and the loss
       falls; else the choice that gains least joins it (``remainder: join``) or the cluster is not split
       (``close``). ``one-by-one`` is the earlier way: one item, who has it against who has it not.
    5. ``per-cluster``: each cluster goes the way that takes away most loss per bit, a bit being a halving of the
       cluster (a way that leaves many small clusters costs what others could gain later). ``global``: round by
       round, the attribute that loses most over the whole table is specialized in every cluster.
    6. ``objective: items`` turns to single values only in clusters that cannot disclose any further item, and does not
       rank an item that all but a few records hold, unless these few can be left out: the cluster would not be split.
       Small clusters are split in several ways, and keep the one that shows most items; see
       :mod:`sudare.methods.topdown.item_trials`. More items are shown, and single values lose more. ``rank`` says what
       else than frequency ranks items; see :mod:`sudare.methods.topdown.item_scores`.
    7. With a hierarchy of items, an item that fewer than k records of the cluster hold is replaced by its parent, and
       so are all that are left when a cluster cannot be split otherwise: the lowest disclosable ancestor is shown.
    8. Only clusters that keep every requirement are made. One side of a binary split may be left out of the release
       instead, if the cluster's share of the suppression budget covers its records and the loss falls although
       a record left out loses everything. Budgets are handed down in proportion to the records.
    9. A cluster that cannot be split is a class. Its records show the smallest cell that covers them, and of a set
       the items that all of them hold.
    10. With ``polish``, records move between classes while that loses less; see
        :mod:`sudare.methods.clustering.polish`, and :mod:`sudare.methods.clustering.item_polish` for item sets.
    11. With ``sensitive: blind``, clusters are split where that is safe regardless of who has which sensitive value,
        and nobody is suppressed; see :mod:`sudare.methods.topdown.blind_splits`.
    12. A set that no limit but k^m-anonymity concerns takes no part in this; see
        :mod:`sudare.methods.lattice.apriori_items`.

Cost
    Each level reads every open row once for each pair of single-valued attributes, and every item that can still be
    disclosed three times; there are about log2(n / k) levels. With more than row counts required, at most 1000 binary
    splits of a cluster are tested, from the best downwards. A record may have 65,535 items.

Guarantee
    Every class keeps all requirements, which are monotone: a cluster that keeps them is split only into clusters that
    do. The result depends on the multiset of records alone; ties go to the first attribute, place or item.

Deviations
    The frame is that of the first reference, which takes one attribute for all clusters per round (``global``) and
    closes a cluster whose remainder is too small (``close``); the defaults lose less. A cluster's share of the
    suppression budget is its own, not the table's, so that clusters can be solved anywhere. A category that stands for
    several rare ones is split off before anything else, where that is worth it.

References
    Takahashi, Sobataka, Takenouchi, Toyoda, Mori: Efficient set-value recoding for anonymizing complex data.
    Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding. KDD 2006.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from sudare.core.progress import Listener
from sudare.methods.topdown.frame import split_down
from sudare.methods.topdown.item_scores import Ints, Rank
from sudare.models import Requirements
from sudare.table import ItemSets, Partition, Table


def top_down(
    table: Table,
    requirements: Requirements,
    *,
    split: Literal["least-loss", "widest"] = "least-loss",
    order: Literal["per-cluster", "global"] = "per-cluster",
    objective: Literal["loss", "items"] = "loss",
    items: Literal["rank-choose-split", "one-by-one"] = "rank-choose-split",
    remainder: Literal["join", "close"] = "join",
    beta: float = 0.0,
    rank: Rank = "frequency",
    polish: bool = False,
    sensitive: Literal["seen", "blind"] = "seen",
    slack: float = 0.05,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Split the table top-down into classes that keep the requirements (see the module's description).

    ``split`` is how a cluster chooses among its splits, ``order`` whether clusters choose for themselves,
    ``objective`` whether they aim at the least loss or at the most items, ``items``, ``remainder``, ``beta`` and
    ``rank`` how item sets are split. ``polish`` moves records between the classes afterwards (see
    :mod:`sudare.methods.clustering.polish`). ``sensitive`` and ``slack`` say whether sensitive values are used (see
    :mod:`sudare.methods.topdown.blind_splits`). ``seed`` is for tests of that; nothing else is drawn.
    """
    from sudare.kernels.lattice.item_combinations import count_items
    from sudare.kernels.topdown.splits import LEAST_LOSS, WIDEST
    from sudare.methods.lattice.apriori_items import HIDDEN, cut_items
    from sudare.methods.topdown.item_sets import choices_of, job_with

    free = [name for name in table.sets if requirements.free(name)]
    sets = [column for name, column in table.sets.items() if name not in free]
    chosen = choices_of(
        sets,
        table.rows,
        lambda index: _held(sets[index], table.rows),
        order=order,
        objective=objective,
        items=items,
        remainder=remainder,
        beta=beta,
        rank=rank,
    )
    plain = order == "per-cluster" and len(free) == len(table.sets)
    for_groups, job = requirements.for_groups(free), None if plain else job_with(chosen)
    if sensitive == "blind":
        from sudare.methods.topdown.blind_splits import blind_job, check_blind

        check_blind(not plain)
        for_groups, job = Requirements(for_groups.models), blind_job(slack, seed)
    partition = split_down(
        table.without(free),
        for_groups,
        LEAST_LOSS if split == "least-loss" else WIDEST,
        progress=progress,
        job=job,
    )
    if polish:
        partition = _polished(table.without(free), requirements.for_groups(free), partition, objective, progress)
    if not free:
        return partition
    kept = np.flatnonzero(partition.shows_something)
    cuts = {}
    for name in free:
        limits = [model for model in requirements.of_columns if model.column == name]
        # one cut for all of them: combinations that are frequent enough for the strictest are so for the others
        k, m = max(model.k for model in limits), max(model.m for model in limits)
        column = table.sets[name]
        cuts[name] = cut_items(column, k, m, rows=kept, progress=progress)
        held = count_items(column.offsets, column.items, kept, column.size)
        cuts[name][held == 0] = HIDDEN  # nothing is published of suppressed records, not even which items exist
        if column.missing and held[column.missing_code] < k:
            cuts[name][column.missing_code] = HIDDEN  # that a set is missing is as rare as an item may not be
    return replace(partition, cuts=cuts)


def _polished(
    table: Table, requirements: Requirements, partition: Partition, objective: str, progress: Listener | None
) -> Partition:
    """Move records between the classes."""
    from sudare.methods.clustering.item_polish import polish_item_sets
    from sudare.methods.clustering.polish import polish

    if not table.sets:
        return polish(table, requirements, partition, progress=progress)
    return polish_item_sets(table, requirements, partition, items_first=objective == "items", progress=progress)


def _held(column: ItemSets, rows: int) -> Ints:
    """Return how many records hold each item of a column."""
    from sudare.kernels.lattice.item_combinations import count_items

    return np.asarray(count_items(column.offsets, column.items, np.arange(rows), column.size))
