"""Data that comes with sudare, to try it on: the Adult census table, with hierarchies and a policy.

The table is read from a file inside the package; nothing is fetched. See ATTRIBUTION.md for its origin and licence.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sudare.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["adult", "adult_hierarchies", "adult_policy"]


def adult(part: Literal["train", "test", "all"] = "train", *, complete: bool = False) -> pa.Table:
    """Return the Adult (Census Income) table: 32,561 rows for training, 16,281 for testing, or all 48,842.

    Cells that the source marks as unknown are null. ``complete`` leaves out the rows that have any, as most of the
    literature does: 30,162 and 15,060 rows remain.
    """
    # Imported here so that a look at the policy or the hierarchies does not load Arrow.
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if part not in ("train", "test", "all"):
        raise ParameterError(f"part: got {part!r}. Allowed: train, test, all.")
    stored = files(__name__).joinpath("adult.parquet").read_bytes()
    table = pq.read_table(pa.BufferReader(stored))
    if part != "all":
        table = table.filter(pc.equal(table["part"], part))
    table = table.drop_columns(["part"])
    return table.drop_null() if complete else table


def adult_hierarchies() -> dict[str, Path]:
    """Return a hierarchy file, from leaf to root, for each column of Adult that has levels."""
    folder = Path(str(files(__name__).joinpath("adult_hierarchies")))
    return {path.stem: path for path in sorted(folder.glob("*.csv"))}


def adult_policy() -> Path:
    """Return the file of a policy for Adult: k = 10, and two different incomes in every class."""
    return Path(str(files(__name__).joinpath("adult_policy.yaml")))
