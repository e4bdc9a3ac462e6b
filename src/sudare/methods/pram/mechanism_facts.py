"""The facts of PRAM in a certificate: matrices, retention probabilities and notes.

It publishes the values of a table, shares with three digits if a promise or an invariant matrix needs them, and what
follows from these: matrices, and a p that is calibrated for them (:mod:`sudare.methods.pram.published_retention`). For
promises against all columns it publishes frequent combinations (:mod:`sudare.methods.pram.known_combinations`). An
invariant matrix is made of the rounded shares, so it reveals no more than they do. Matrices and a p from the policy are
published unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.methods.hiding.hidden_column import domain
from sudare.methods.pram import Calibration, cut
from sudare.methods.pram.attributes import Attribute
from sudare.methods.pram.known_combinations import unit
from sudare.methods.pram.promises import Matrix, Promise, Promises, Retention
from sudare.table import Table

REPEATED = (
    "Some people have several records. Each is drawn separately and counts as another person. Someone who knows which "
    "records belong to one person can link them with a probability above 1/k, and learns more about a value that they "
    "share."
)
MEASURES = "Values were drawn at random; the loss measures describe generalization only."
ORDER = "The rows are in random order, as Pk-anonymity requires."
NOISE = "Some columns keep no values: they show only noise."
ALL_COLUMNS = (
    "alpha-gamma against all-columns is about an intruder who sees all perturbed columns of a record, knows its "
    "stratum and knows the whole distribution of these columns."
)
ONE_COLUMN = (
    "alpha-gamma against column is about an intruder who looks at {} alone. Other columns of the release that "
    "correlate with it reveal more. Who uses them may exceed alpha."
)
UNCHANGED = "Not included are the columns that are released unchanged, because they are assumed to be unknown: {}."
KEPT = "The promises allow some columns to stay unchanged, so they are unchanged."
FEW = 10
"""Records of a stratum below which the certificate warns: the largest of the usual minimum frequencies, 3 to 10, of
statistical disclosure control (A. Hundepool et al., Statistical Disclosure Control, Wiley 2012)."""
IN_FEW = (
    "The certificate lists the values of each stratum, and their shares if a promise needs them. For a small stratum "
    "this is nearly everything except who has which value: someone who knows the values of all others knows the last."
)


@dataclass(frozen=True)
class Calibrated:
    """The retention that the published shares allow, rounded down: for all columns together, and by each condition."""

    p: float | None
    bounds: Mapping[str, float | None]
    binding: str | None

    @classmethod
    def of(cls, promises: Promises, found: Calibration, lowered_for: str | None) -> Calibrated:
        """Return the publishable figures of a calibration for the published shares."""
        retention, lowered = promises.published([found.p] * len(found.retention), alike=True)
        p = next((each for each in retention if each is not None), None)
        bounds = {key: None if bound is None else cut(bound) for key, bound in found.bounds.items()}
        return cls(p, bounds, lowered_for or lowered or found.binding)


def facts_of(promises: Promises, retention: Retention, calibrated: Calibrated) -> dict[str, Any]:
    """Return what an analyst and the audit have to know."""
    mechanism = promises.mechanism
    layout = mechanism.layout
    columns = {column.name: column for attribute in layout.attributes for column in attribute.columns}
    published: dict[str, Any] = {name: {"values": domain(column)} for name, column in columns.items()}
    facts: dict[str, Any] = {"kind": "invariant" if mechanism.invariant else "uniform", "columns": published}
    everywhere = _published_cell(promises, 0, retention, shared=True)
    for name, part in everywhere["columns"].items():
        published[name] |= part
    facts |= {key: value for key, value in everywhere.items() if key == "joint"}
    if not layout.by:
        facts |= _published_together(promises, 0)
    if layout.by:
        cells = [
            {
                "cell": dict(cell.key),
                **_published_cell(promises, number, retention, shared=False),
                **_published_together(promises, number),
            }
            for number, cell in enumerate(layout.cells)
        ]
        facts["strata"] = {"columns": list(layout.by), "cells": cells}
    kept = {
        name: retention[number]
        for number, attribute in enumerate(layout.attributes)
        for name in attribute.names
        if retention[number] is not None
    }
    in_order = {name: kept[name] for name in columns if name in kept}
    facts["calibration"] = {
        "p": next(iter(kept.values())) if len(set(kept.values())) == 1 else None,
        "retention": in_order,
        "calibrated": calibrated.p,
        "bounds": dict(calibrated.bounds),
        "binding": calibrated.binding,
    }
    return facts


def _published_cell(promises: Promises, index: int, retention: Retention, *, shared: bool) -> dict[str, Any]:
    """Return the matrices of a cell, by column and of joint columns, with the priors of what is limited.

    Either those that all cells share, or those that are its own.
    """
    mechanism = promises.mechanism
    cell = mechanism.layout.cells[index]
    columns: dict[str, Any] = {}
    joint = []
    for number, attribute in enumerate(mechanism.layout.attributes):
        if mechanism.layout.shared[number] != shared:
            continue
        p, codes = retention[number], cell.domains[number]
        prior = next((limit.priors[index] for limit in promises.limits if limit.number == number), None)
        if len(attribute.columns) > 1:
            joint.append(_published_joint(attribute, codes, mechanism.matrix(cell, number, p), prior))
            continue
        column = attribute.columns[0]
        part: dict[str, Any] = {}
        if len(codes) < column.size:
            values = domain(column)
            part["values"] = [values[code] for code in codes.tolist()]
        even = p is not None and not mechanism.invariant
        part["matrix"] = {"p": p} if even else {"rows": mechanism.matrix(cell, number, p).tolist()}
        if prior is not None:
            part["prior"] = prior.tolist()
        columns[column.name] = part
    return {"columns": columns} | ({"joint": joint} if joint else {})


def _published_together(promises: Promises, index: int) -> dict[str, Any]:
    """Return the frequent combinations in a cell of columns that are limited against all columns."""
    seen: dict[int, Promise] = {}
    for limit in promises.limits:
        if limit.known is not None and limit.known.others:
            seen.setdefault(limit.number, limit)
    published = [_published_combinations(promises, index, limit) for limit in seen.values()]
    return {"together": published} if published else {}


def _published_combinations(promises: Promises, index: int, limit: Promise) -> dict[str, Any]:
    """Return combinations by the places of their values, each with its number of records, rounded down."""
    layout = promises.mechanism.layout
    cell, known = layout.cells[index], limit.known
    assert known is not None
    axes = [limit.number, *known.others]
    places = np.nonzero(known.counts[index])
    # for a joint attribute all combinations of its columns are published, also those that cannot be drawn
    published = [
        cell.domains[at][place] if len(layout.attributes[at].columns) > 1 else place
        for at, place in zip(axes, places, strict=True)
    ]
    lines = np.column_stack([*published, known.counts[index][places]])
    return {
        "columns": [list(layout.attributes[at].names) for at in axes],
        "unit": unit(cell.rows),
        "combinations": lines.tolist(),
    }


def _published_joint(attribute: Attribute, codes: Any, matrix: Matrix, prior: Any) -> dict[str, Any]:
    """Return a joint matrix over all combinations; what is never drawn has a column of zeros.

    Nobody has such a combination either. Its row is what would be drawn for it if nothing were kept.
    """
    rows = np.zeros((attribute.size, attribute.size))
    rows[:, codes] = _fresh(matrix)
    rows[np.ix_(codes, codes)] = matrix
    published: dict[str, Any] = {"columns": list(attribute.names), "rows": rows.tolist()}
    if prior is not None:
        shares = np.zeros(attribute.size)
        shares[codes] = prior
        published["prior"] = shares.tolist()
    return published


def _fresh(matrix: Matrix) -> Any:
    """Return the distribution of a fresh draw: what all truths but o show as o, made to add up to 1."""
    others = matrix.min(axis=0)
    total = float(others.sum())
    return others / total if total > 0 else np.full(len(matrix), 1 / len(matrix))


def notes_of(table: Table, promises: Promises, retention: Retention) -> list[str]:
    """Return the notes that a reader of the certificate needs besides the promises."""
    notes = [MEASURES]
    perturbed = [name for attribute in promises.mechanism.layout.attributes for name in attribute.names]
    if promises.k is not None:
        notes.append(ORDER)
    if any(limit.known is not None for limit in promises.limits):
        strata = promises.mechanism.layout.strata
        carried = [] if table.carried is None else table.carried.column_names
        unchanged = [name for name in dict.fromkeys([*table.context, *carried]) if name not in (*strata, *perturbed)]
        notes.append(f"{ALL_COLUMNS} {UNCHANGED.format(', '.join(unchanged))}" if unchanged else ALL_COLUMNS)
    alone = list(dict.fromkeys(limit.model.column for limit in promises.limits if limit.model.against == "column"))
    if alone:
        notes.append(ONE_COLUMN.format(", or at ".join(f"'{name}'" for name in alone)))
    if table.subject is not None and len(np.unique(table.subject.codes)) < table.rows:
        notes.append(REPEATED)
    if 0.0 in retention:
        notes.append(NOISE)
    attributes = promises.mechanism.layout.attributes
    own = promises.mechanism.own
    kept = [number for number, p in enumerate(retention) if p == 1.0]
    kept += [number for number, matrix in own.items() if (matrix == np.eye(len(matrix))).all()]
    if kept:
        names = ", ".join(name for number in sorted(kept) for name in attributes[number].names)
        notes.append(f"{KEPT} These are: {names}.")
    cells = promises.mechanism.layout.cells
    few = [cell.rows for cell in cells if cell.rows < FEW] if len(cells) > 1 else []
    if few:
        notes.append(
            f"{len(few):,} of {len(cells):,} strata have fewer than {FEW} records, the least {min(few)}. {IN_FEW}"
        )
    return notes
