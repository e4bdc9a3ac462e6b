"""A dry run: a release is made and proven as ever, and what remains of it are its figures and its first rows.

The rows are those of a proven release in their released order, so they show no more than the release would. Nothing of
the release itself stays: rows are in a private folder that is removed, in temporary tables of a transaction that is
undone, or in the memory of Spark.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sudare import engines
from sudare.core import process_memory
from sudare.core.errors import ParameterError, Problem
from sudare.pipeline.deciders import Decider
from sudare.pipeline.request import Request
from sudare.pipeline.route import make
from sudare.policy import Policy
from sudare.releases.certificate import Certificate
from sudare.sources.opened_source import Data

MOST_ROWS = 1000
"""The most rows that a dry run shows: whoever wants all of them wants a release, with its certificate."""
OF_A_RELEASE = ("certificate", "policy_sha256", "release_sha256", "date", "versions", "randomness")
"""What a certificate says of a release that is there."""


@dataclass(frozen=True, eq=False)
class Preview:
    """The figures and the first rows of a release that was made, proven and not kept.

    Attributes:
        figures: what the certificate would say, without digests and dates.
        rows: the first rows, in the kind of table that you passed; of files and databases an Arrow table.
        second: the first rows of the second table of a release by `anatomy`.
        memory: the most bytes of memory that the process held; on Linux during the dry run, elsewhere since it began.
            None if the system does not report it, or if Spark did the work.
    """

    figures: dict[str, Any]
    rows: Any
    second: Any = None
    memory: int | None = None

    @property
    def loss(self) -> dict[str, float]:
        """The loss figures, by metric."""
        return dict(self.figures["loss"])

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(sum(self.figures["seconds"].values()))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in the types that JSON has; each row is a mapping of names to cells."""
        second = {} if self.second is None else {"second": list(json_rows(self.second))}
        return self.figures | {"memory": self.memory, "rows": list(json_rows(self.rows))} | second

    def __repr__(self) -> str:
        facts = self.figures
        classes = "" if facts["classes"] is None else f" in {facts['classes']} classes"
        return (
            f"<sudare.Preview: {facts['rows_out']} of {facts['rows_in']} records{classes}, "
            f"GCP {facts['loss']['gcp']:.4f}; nothing was written>"
        )


def preview_of(data: Data, policy: Policy, decider: Decider, *, rows: int, **rest: Any) -> Preview:
    """Make a release, prove it, and return its figures and first rows."""
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
        raise ParameterError(Problem("rows", f"must be a whole number from 1 to {MOST_ROWS}."))
    request = Request.of(data, policy, decider, **rest)
    request.preview = rows
    process_memory.reset_peak()
    result = make(request)
    memory = None if request.spark else process_memory.peak()
    return Preview(_figures(result.certificate), result.data, result.second, memory)


def json_rows(rows: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table as mappings of the types that JSON has; cells of other types become texts."""
    table = engines.adopt(rows)[0]
    for row in table.to_pylist():
        yield {name: _plain(cell) for name, cell in row.items()}


def _figures(certificate: Certificate) -> dict[str, Any]:
    """Return what a certificate says without what is only true of a release that is there."""
    found = {key: value for key, value in certificate.to_dict().items() if key not in OF_A_RELEASE}
    found["mechanism"] = {key: value for key, value in found["mechanism"].items() if key != "second_sha256"}
    return found


def _plain(cell: Any) -> Any:
    if isinstance(cell, list):
        return [_plain(item) for item in cell]
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return cell if cell is None or isinstance(cell, bool | int | str) else str(cell)
