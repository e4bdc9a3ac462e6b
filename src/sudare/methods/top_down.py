"""Top-down specialization of single-valued quasi-identifiers, by local recoding.

Steps
    1. One cluster holds the whole table; every quasi-identifier covers its whole domain.
    2. In each open cluster all binary splits are scored: numbers at every threshold; categories most frequent
       first, at every place of that order, and each category alone against the others; with a hierarchy the same
       for the children of the lowest node over the cluster.
    3. ``least-loss``: the split that leaves the least loss, over all records and attributes of the cluster.
       ``widest``: the attribute with the largest loss, cut nearest to its median.
    4. Only splits both sides of which keep every requirement count. One side may be left out of the release
       instead, if the cluster's share of the suppression budget covers its records and the loss falls although
       a record left out loses everything. Budgets are handed down in proportion to the records.
    5. A cluster without such a split is a class. Its records show the smallest cell that covers them.

Cost
    Each level reads every open row once for each pair of attributes; there are about log2(n / k) levels. With
    more than row counts required, at most 1000 splits of a cluster are tested, from the best downwards.

Guarantee
    Every class keeps all requirements, which are monotone: a cluster that keeps them is split only into sides that
    do. The result depends on the multiset of records alone; ties go to the first attribute, then to the first place.

Deviations
    The frame is that of the reference, which takes one attribute for all clusters per round; here each cluster
    takes its own best split, as Mondrian does.

References
    Takahashi, Sobataka, Takenouchi, Toyoda, Mori: Efficient set-value recoding for anonymizing complex data.
    Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding. KDD 2006.
"""

from __future__ import annotations

from typing import Literal

from sudare.methods.splitting import split_down
from sudare.models import Requirements
from sudare.progress import Listener
from sudare.table import Partition, Table


def top_down(
    table: Table,
    requirements: Requirements,
    *,
    split: Literal["least-loss", "widest"] = "least-loss",
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Split the table top-down into classes that keep the requirements (see the module's description).

    ``split`` is how a cluster chooses among its splits. ``seed`` is there for the common signature: nothing is drawn.
    """
    from sudare.kernels.splits import LEAST_LOSS, WIDEST

    del seed
    return split_down(table, requirements, LEAST_LOSS if split == "least-loss" else WIDEST, progress=progress)
