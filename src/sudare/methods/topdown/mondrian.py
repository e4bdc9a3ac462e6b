"""Mondrian: strict multidimensional partitioning.

Steps
    1. One cluster holds the whole table.
    2. In each open cluster the attributes are tried from the widest (largest loss) to the narrowest: the cluster is
       cut at the attribute's median. Categories stand in the order of their codes; with a hierarchy, the
       largest child of the lowest node over the cluster is cut off.
    3. The first cut both sides of which keep every requirement is made; without one the cluster is a class.
    With ``sensitive: blind`` a cut is made where both sides keep them, regardless of who has which sensitive value;
    see :mod:`sudare.methods.topdown.blind_splits`.

Cost
    Each level reads every open row once per attribute; there are about log2(n / k) levels.

Guarantee
    Every class keeps all requirements. No record is left out of the release, whatever the policy allows.

Deviations
    Classes show the smallest cell that covers their records rather than the half-open region of the cut. A category
    that stands for several rare ones is cut off before anything else, where that is worth it.

Reference
    LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006.
"""

from __future__ import annotations

from typing import Literal

from sudare.core.progress import Listener
from sudare.methods.class_counts import refuse_item_sets
from sudare.methods.topdown.frame import split_down
from sudare.models import Requirements
from sudare.table import Partition, Table


def mondrian(
    table: Table,
    requirements: Requirements,
    *,
    polish: bool = False,
    sensitive: Literal["seen", "blind"] = "seen",
    slack: float = 0.05,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Cut the table at medians of its widest attributes (see the module's description).

    ``polish`` moves records between the classes afterwards (see :mod:`sudare.methods.clustering.polish`). ``sensitive``
    and ``slack`` say whether sensitive values are used (see :mod:`sudare.methods.topdown.blind_splits`). ``seed`` is
    for tests of that; nothing else is drawn.
    """
    from sudare.kernels.topdown.splits import MEDIAN

    job = None
    if sensitive == "blind":
        from sudare.methods.topdown.blind_splits import blind_job

        refuse_item_sets(table)
        job = blind_job(slack, seed)
    partition = split_down(table, Requirements(requirements.models), MEDIAN, progress=progress, job=job)
    if not polish:
        return partition
    from sudare.methods.clustering.polish import polish as move

    return move(table, requirements, partition, progress=progress)
