"""The figures of a release: numbers of records, and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sudare.core.sizes import MANY_ROWS
from sudare.metrics import PUBLISHED, Loss, as_released, item_figures, published
from sudare.metrics.partial_sums import Sums, losses, sums_of
from sudare.releases.certificate_parts import Mechanism, Search
from sudare.table import Column, Cover, Generalized, ItemSets, Recoding, Table


@dataclass(frozen=True)
class Figures:
    """The figures of a release: numbers of records, and the loss in total, by column and of item sets.

    ``suppressed`` counts dropped records, and masked ones, which are also in ``rows_out``.
    """

    rows_in: int
    rows_out: int
    suppressed: int
    totals: dict[str, float]
    by_column: dict[str, dict[str, float]]
    item_sets: dict[str, dict[str, float]]
    classes: int | None = None
    """How many classes there are, where some columns take no part in them; the audit groups by all columns."""
    search: Search = field(default_factory=Search)
    """The facts of the method about its decision."""
    mechanism: Mechanism = field(default_factory=Mechanism)
    """The facts that an analyst needs to estimate from hidden sensitive values."""
    other: dict[str, int] = field(default_factory=dict)
    """How many rare categories a column shows as one, by column."""
    spellings: dict[str, int] = field(default_factory=dict)
    """How many spellings of each sensitive column were merged with another spelling of the same value."""


def merged_spellings(table: Table) -> dict[str, int]:
    """Return how many spellings were merged, of each column in which they are."""
    return {name: column.merged for name, column in table.sensitive.items() if column.merged is not None}


def measure(given: Generalized) -> Figures:
    """Measure every published loss in total, and per quasi-identifier where the metric has such figures.

    They are shares of what the release shows (see :mod:`sudare.metrics.released_loss`). Very many classes are measured
    in parts, whose sums are added up.
    """
    if given.own or len(given.sizes) <= MANY_ROWS:
        shown = as_released(given)
        found, item_sets = {name: metric(shown) for name, metric in PUBLISHED.items()}, item_figures(shown)
    else:
        found, item_sets = _measured_in_parts(given)
    return _figures(
        given.rows,
        int(given.sizes.sum()),
        given.lost,
        found,
        item_sets,
        {name: cover.column for name, cover in given.covers.items() if isinstance(cover, Cover)},
        classes=len(given.sizes) if given.own else None,
        search=Search(given.partition.facts),
    )


def _measured_in_parts(given: Generalized) -> tuple[dict[str, Loss], dict[str, dict[str, float]]]:
    """Return the losses of a release, and the figures of its item sets, from sums over parts of it."""
    columns = {name: cover.column for name, cover in given.covers.items()}
    frequencies = {name: column.frequencies() for name, column in columns.items() if isinstance(column, Column)}
    sums = Sums()
    for part in given.parts():
        sums.add(sums_of(part, frequencies))
    found = losses(sums, given.rows, columns, frequencies)
    return found, _set_figures(found, columns, sums.columns)


def _set_figures(
    found: Mapping[str, Loss], columns: Mapping[str, Column | ItemSets], sums: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    return {
        name: {"disclosed": int(sums[name]["disclosed"]), "ncp": published(found["gcp"].attributes[name])}
        for name, column in columns.items()
        if isinstance(column, ItemSets)
    }


def added_up(
    rows: int,
    kept: int,
    found: Mapping[str, Loss],
    columns: Mapping[str, Column | ItemSets],
    sums: Mapping[str, Mapping[str, float]],
) -> Figures:
    """Return the figures of a release that was measured in parts; ``sums`` has the sums of the parts by column."""
    sets = _set_figures(found, columns, sums)
    single = {name: column for name, column in columns.items() if isinstance(column, Column)}
    return _figures(rows, kept, rows - kept, found, sets, single)


def _figures(
    rows_in: int,
    rows_out: int,
    suppressed: int,
    found: Mapping[str, Loss],
    item_sets: dict[str, dict[str, float]],
    columns: Mapping[str, Column],
    *,
    classes: int | None = None,
    search: Search | None = None,
) -> Figures:
    attributes: dict[str, dict[str, float]] = {}
    for name, loss in found.items():
        for column, figure in loss.attributes.items():
            attributes.setdefault(column, {})[name] = published(figure)
    return Figures(
        rows_in,
        rows_out,
        suppressed,
        {name: published(loss.total) for name, loss in found.items()},
        attributes,
        item_sets,
        classes,
        search or Search(),
        other={name: column.other[1] for name, column in columns.items() if column.other is not None},
    )


def resized(figures: Figures, classes: int, squares: int) -> Figures:
    """Return figures with those that follow from the sizes of classes in the release."""
    lost = figures.rows_in - figures.rows_out
    sizes = {
        "discernibility": published(float(squares) + float(lost) * figures.rows_in),
        "average_class_size": published(figures.rows_out / classes if classes else 0.0),
    }
    return replace(figures, totals=figures.totals | sizes)


UNTOUCHED = {"gcp": 0.0, "arx": 0.0, "precision": 1.0, "entropy": 0.0, "relative_uncertainty": 0.0}
"""The loss of unchanged quasi-identifiers; measures of classes do not apply."""


def untouched_figures(table: Table, recoding: Recoding) -> Figures:
    """Return the figures of a release of all records with unchanged quasi-identifiers."""
    facts = dict(recoding.facts)
    notes = facts.pop("notes", None)
    search = Search({} if notes is None else {"notes": notes})
    return Figures(table.rows, table.rows, 0, dict(UNTOUCHED), {}, {}, None, search, Mechanism(facts))
