"""Sample data that comes with sudare.

- ``adult``: the Adult census table; one row per person.
- ``diabetes``: a sample of hospital encounters of people with diabetes; several rows per patient, with item sets.
- ``claims``: synthetic medical claims, as many as wanted.

The first two are read from files inside the package, with hierarchies and a policy for each; nothing is fetched. See
ATTRIBUTION.md for their origin and licence.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from sudare.core.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "adult",
    "adult_hierarchies",
    "adult_policy",
    "claims",
    "diabetes",
    "diabetes_hierarchies",
    "diabetes_policy",
]


def adult(part: Literal["train", "test", "all"] = "train", *, complete: bool = False) -> pa.Table:
    """Return the Adult (Census Income) table: 32,561 rows for training, 16,281 for testing, or all 48,842.

    Cells that the source marks as unknown are null. ``complete`` drops the rows that have any, as most of the
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
    return _hierarchies("adult_hierarchies")


def adult_policy() -> Path:
    """Return the file of a policy for Adult: k = 10, and two different incomes in every class."""
    return Path(str(files(__name__).joinpath("adult_policy.yaml")))


def diabetes() -> pa.Table:
    """Return a sample of Diabetes 130-US Hospitals: all 8,986 encounters of 6,300 patients.

    Two columns are item sets: ``diagnoses``, the different ICD-9 codes of an encounter, and ``drugs``, those of 23 for
    diabetes that were given. An unknown race is null.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stored = files(__name__).joinpath("diabetes.parquet").read_bytes()
    return pq.read_table(pa.BufferReader(stored))


def diabetes_hierarchies() -> dict[str, Path]:
    """Return hierarchy files, from leaf to root, for the item sets: ICD-9 chapters, and classes of drugs.

    They cover the whole data set, and not only the sample.
    """
    return _hierarchies("diabetes_hierarchies")


def diabetes_policy() -> Path:
    """Return the file of a policy for the encounters: at least five patients in every class."""
    return Path(str(files(__name__).joinpath("diabetes_policy.yaml")))


def claims(rows: int = 10_000, seed: int = 0) -> pa.Table:
    """Return synthetic medical claims; ``sudare generate claims`` writes any number of them to a file.

    The same rows and seed give the same table. :mod:`sudare.datasets.claims` describes how it is drawn.
    """
    from sudare.datasets.claims import claims_table

    return claims_table(rows, seed)


def _hierarchies(name: str) -> dict[str, Path]:
    folder = Path(str(files(__name__).joinpath(name)))
    return {path.stem: path for path in sorted(folder.glob("*.csv"))}


class _Package(ModuleType):
    """A verb keeps its name although its module is called the same: importing that leaves ``claims()`` alone."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name == "claims" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
