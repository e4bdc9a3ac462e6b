"""Mondrian: strict multidimensional partitioning.

Steps
    1. One cluster holds the whole table.
    2. In each open cluster the attributes are tried from the widest (largest loss) to the narrowest: the cluster is
       cut at the attribute's median. Categories stand in the order of their codes; with a hierarchy, the
       largest child of the lowest node over the cluster is cut off.
    3. The first cut both sides of which keep every requirement is made; without one the cluster is a class.

Cost
    Each level reads every open row once per attribute; there are about log2(n / k) levels.

Guarantee
    Every class keeps all requirements. No record is left out of the release, whatever the policy allows.

Deviations
    Classes show the smallest cell that covers their records rather than the half-open region of the cut.

Reference
    LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006.
"""

from __future__ import annotations

from sudare.methods.splitting import split_down
from sudare.models import Requirements
from sudare.progress import Listener
from sudare.table import Partition, Table


def mondrian(
    table: Table,
    requirements: Requirements,
    *,
    polish: bool = False,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Cut the table at medians of its widest attributes (see the module's description).

    ``polish`` moves records between the classes afterwards (see :mod:`sudare.methods.polishing`). ``seed`` is there for
    the common signature: nothing is drawn.
    """
    from sudare.kernels.splits import MEDIAN

    del seed
    partition = split_down(table, Requirements(requirements.models), MEDIAN, progress=progress)
    if not polish:
        return partition
    from sudare.methods.polishing import polish as move

    return move(table, requirements, partition, progress=progress)
