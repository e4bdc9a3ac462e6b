"""PRAM: each value is kept with a probability p and otherwise drawn at random, so that two promises hold.

Steps
    1. All quasi-identifiers and sensitive columns are perturbed, but for those that are ``strata``; numbers as
       categories of the values that there are, and a missing cell is a value like others. What else the policy
       names is unchanged.
    2. ``p`` is calibrated: the largest with which Pk-anonymity and P(alpha, gamma) hold (see
       :mod:`sudare.methods.pram`), for all columns alike, or with ``per-column`` for each, rounded down to four
       digits. One that the policy gives is checked instead, and used as it is.
    3. With probability p a value stays. Else one is drawn from all values of the column, its own included: all equally
       likely (``kind: uniform``), or by how frequent they are (``invariant``: the distribution stays as it is, up to
       rounding). A column may have a matrix of its own (``matrices``).
    4. ``joint`` columns are drawn as one attribute, whose values are their combinations. With ``strata``, values are
       drawn only among those that occur in the record's stratum. A combination of ``never`` is not in the domain.
    5. Rows are shuffled.

Cost
    Linear in the records, with one or two random words for each cell. Records are drawn in blocks when they are
    written; joint attributes are drawn at once, and held as codes.

Guarantee
    - **pk-anonymity**: an intruder who knows everybody's true values in all perturbed columns, and everything in the
      certificate, connects a released record with its person with a probability of 1/k at most. Each record counts as
      another person, and rows have to be in random order; ``release.order: keep`` is refused with it. With strata, or
      ``never`` that depends on other columns, records are confused within their cell alone: n is the records of the
      cell, and the worst cell counts.
    - **alpha-gamma**: an intruder who knows the distribution of all perturbed columns (with strata, that of the
      stratum), and sees all of them in a record, gives a person's true value a probability of at most alpha on average,
      and every value a probability of at least gamma (:mod:`sudare.methods.pram.whole_record`). With ``against:
      column`` the intruder looks at that column alone. If columns correlate, more may then be inferred.

    Figures are computed from the matrices by which values are drawn, with the general bound.

    Not promised: the guarantees take it that nobody knows the unchanged columns. A second release of the same records
    reveals more. The certificate publishes the values of a column and, in strata, which of them occur there. It
    publishes shares of a column, to three digits, where alpha-gamma or ``invariant`` need them. In fewer than a
    thousand records such shares are as good as counts, and so are those of values that fewer than a hundred records
    have. Against all columns it publishes frequent combinations (:mod:`sudare.methods.pram.known_combinations`). The
    calibrated p reveals hardly more (:mod:`sudare.methods.pram.published_retention`).

Deviations
    The paper has one p and uniform matrices. Vectors, invariant and custom matrices, strata and joint attributes are
    ours. Promises hold for the exact prior of the data and for the published one, with three digits. A combination of
    ``never`` that records hold is an error: a matrix that shows it only where it is true would give it away. Columns
    that only ``never`` names distinguish records as far as combinations name their values, and no further.

Reference
    P. Kooiman, L. Willenborg, J. Gouweleeuw: PRAM: a method for disclosure limitation of microdata. Statistics
    Netherlands, 1997. D. Ikarashi, K. Chida, K. Takahashi: probabilistic k-anonymity, 2009.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, ParameterError, PolicyError, PolicyUnmetError, Problem, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.core.randomness import Entropy
from sudare.methods.class_counts import refuse_item_sets
from sudare.methods.pram import Calibration, check_matrix
from sudare.methods.pram.attributes import Attribute, Cell, Layout, attributes_of, code_of, lay_out, local_columns
from sudare.methods.pram.mechanism_facts import Calibrated, facts_of, notes_of
from sudare.methods.pram.promises import Matrix, Mechanism, Promises, Retention, check_priors, promises_of, retained
from sudare.methods.random_columns import CellDraw, CodeDraw, Joint
from sudare.models import Requirements
from sudare.table import Column, Draw, Perturbation, Table

MOST_TOLD = 1 << 20
"""The most cells of all matrices, because the certificate contains them."""


def pram(
    table: Table,
    requirements: Requirements,
    *,
    p: float | str | Mapping[str, float] = "calibrated",
    weights: Mapping[str, float] | None = None,
    kind: Literal["uniform", "invariant"] = "uniform",
    matrices: Mapping[str, Mapping[Any, Mapping[Any, float]]] | None = None,
    strata: Sequence[str] | None = None,
    never: Sequence[Mapping[str, Any]] | None = None,
    joint: Sequence[Sequence[str]] | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Perturbation:
    """Draw the values of all quasi-identifiers and sensitive columns at random (see the module's description)."""
    listener = progress or silent
    listener("prepare kernels", 0, 0)
    listener("decide", 0.0, 1.0)
    promises, calibration = weighed(
        table,
        requirements,
        p=p,
        weights=weights,
        kind=kind,
        matrices=matrices,
        strata=strata,
        never=never,
        joint=joint,
        published=True,
    )
    mechanism = promises.mechanism
    attributes = mechanism.layout.attributes
    retention, lowered_for = retained(p, promises, calibration)
    _check_kept(promises, retention)
    calibrated = Calibrated.of(promises, calibration, lowered_for)
    check_priors(promises, retention)
    entropy = Entropy(seed)
    draws: dict[str, Draw] = {}
    for number, attribute in enumerate(attributes):
        draws |= _draws(mechanism, number, attribute, retention[number], entropy)
        listener("decide", (number + 1) / len(attributes), 1.0)
    facts = facts_of(promises, retention, calibrated) | {"randomness": entropy.source}
    facts["notes"] = notes_of(table, promises, retention)
    in_order = {name: draws[name] for name in (*table.single, *table.sensitive) if name in draws}
    return Perturbation(in_order, facts)


def weighed(
    table: Table,
    requirements: Requirements,
    *,
    p: float | str | Mapping[str, float] = "calibrated",
    weights: Mapping[str, float] | None = None,
    kind: Literal["uniform", "invariant"] = "uniform",
    matrices: Mapping[str, Mapping[Any, Mapping[Any, float]]] | None = None,
    strata: Sequence[str] | None = None,
    never: Sequence[Mapping[str, Any]] | None = None,
    joint: Sequence[Sequence[str]] | None = None,
    published: bool = False,
) -> tuple[Promises, Calibration]:
    """Return the promises for a table, and the retention that they allow; nothing is drawn yet.

    ``published`` calibrates only for the published shares, so that the result may be published, too.
    """
    refuse_item_sets(table)
    if not table.rows:
        raise DataError(Problem("table", "has no records."))
    perturbed, fixed = _divided(table, strata or (), never or ())
    attributes = attributes_of(perturbed, _groups(joint, perturbed))
    layout = lay_out(attributes, fixed, strata or (), never or (), occurring=kind == "invariant")
    mechanism = Mechanism(layout, kind == "invariant", _own(matrices or {}, layout, perturbed))
    if p == "per-column" and not mechanism.plain:
        what = "per-column is for uniform matrices of single columns, the same for all records."
        raise PolicyError(Problem("method.p", what, "use calibrated, or remove joint, strata, never and matrices."))
    _check_size(layout, mechanism)
    promises = promises_of(requirements, mechanism)
    return promises, promises.calibrated(_weights(weights, p, layout), published=published)


def _divided(
    table: Table, strata: Sequence[str], never: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the perturbed columns, and the unchanged ones on which draws depend."""
    drawn = {**table.single, **table.sensitive}
    known = {**drawn, **table.context}
    named = dict.fromkeys([*strata, *(name for combination in never for name in combination)])
    absent = [name for name in named if name not in known]
    if absent:
        raise ParameterError([Problem("strata, never", f"the table has no column '{name}'.") for name in absent])
    perturbed = {name: column for name, column in drawn.items() if name not in strata}
    times = [name for name in named if name not in perturbed and _is_time(known[name])]
    if times:
        what = f"column '{times[0]}' holds times, by which records cannot be divided."
        raise UnsupportedError(what, hint="convert it to dates, numbers or text.")
    if not perturbed:
        raise PolicyError(Problem("method.strata", "leave no perturbed column."))
    return perturbed, {name: known[name] for name in named if name not in perturbed}


def _is_time(column: Column) -> bool:
    """Return whether values have several spellings, so that a certificate could not name them."""
    kind = column.values.type
    return bool(pa.types.is_temporal(kind) and not pa.types.is_date(kind))


def _groups(joint: Sequence[Sequence[str]] | None, perturbed: Mapping[str, Column]) -> Sequence[Sequence[str]]:
    problems = [
        Problem("method.joint", f"'{name}' is not perturbed.", "remove it from strata.")
        for names in joint or ()
        for name in names
        if name not in perturbed
    ]
    if problems:
        raise PolicyError(problems)
    return joint or ()


def _own(given: Mapping[str, Any], layout: Layout, perturbed: Mapping[str, Column]) -> dict[int, Matrix]:
    """Return the matrices that the policy gives, by attribute; raise all that is wrong with them."""
    problems: list[Problem] = []
    found = {}
    for name, lines in given.items():
        where = f"method.matrices.{name}"
        if name not in perturbed:
            problems.append(Problem(where, "is not perturbed.", "remove it from strata."))
            continue
        number, _ = layout.place(name)
        attribute = layout.attributes[number]
        if len(attribute.columns) > 1:
            problems.append(Problem(where, "is drawn jointly with others.", "remove it from joint, or from matrices."))
        elif any(len(cell.domains[number]) < attribute.size for cell in layout.cells):
            what = "is for all values of the column, and strata or never allow only some of them."
            problems.append(Problem(where, what, "use matrices without strata and never."))
        else:
            matrix, wrong = _parsed(lines, perturbed[name], where)
            problems += wrong
            found[number] = matrix
    if problems:
        raise PolicyError(problems)
    return found


def _parsed(lines: Mapping[Any, Mapping[Any, float]], column: Column, where: str) -> tuple[Matrix, list[Problem]]:
    """Return a matrix by codes; messages name rows by their number in the policy, from 1."""
    matrix = np.zeros((column.size, column.size))
    truths = [code_of(column, truth) for truth in lines]
    problems = []
    strange = [place for place, code in enumerate(truths, 1) if code < 0]
    if strange:
        problems.append(Problem(where, f"row {strange[0]} is for a value that the column does not have."))
    absent = column.size - len(set(truths) - {-1})
    if absent:
        what = f"has no row for {absent} of the {column.size} values of the column."
        problems.append(Problem(where, what, "name all values; null is a missing value."))
    elif len(set(truths)) < len(truths):
        problems.append(Problem(where, "names a value twice, in two spellings."))
    for place, (truth, line) in enumerate(zip(truths, lines.values(), strict=True), 1):
        codes = [code_of(column, shown) for shown in line]
        if -1 in codes:
            problems.append(Problem(where, f"row {place} names a value that the column does not have."))
        elif abs(sum(line.values()) - 1) > 1e-9:
            problems.append(Problem(where, f"row {place} adds up to {sum(line.values()):.10g}, and not to 1."))
        elif truth >= 0:
            np.add.at(matrix[truth], codes, list(line.values()))
    if problems:
        return matrix, problems
    try:
        return check_matrix(matrix), []
    except ParameterError as error:
        return matrix, [Problem(where, problem.what, problem.hint) for problem in error.problems]


def _weights(weights: Mapping[str, float] | None, p: object, layout: Layout) -> list[float] | None:
    names = [attribute.names[0] for attribute in layout.attributes]
    drawn = {name for attribute in layout.attributes for name in attribute.names}
    strange = [name for name in weights or {} if name not in drawn]
    if strange:
        raise PolicyError([Problem("method.weights", f"'{name}' is not perturbed.") for name in strange])
    if p != "per-column":
        if weights:
            raise PolicyError(Problem("method.weights", "belong to p: per-column."))
        return None
    return [float((weights or {}).get(name, 1.0)) for name in names]


def _check_kept(promises: Promises, retention: Retention) -> None:
    """Raise if what the policy says is to be kept is too much, with the most that would do."""
    unmet = promises.unmet(retention)
    if not unmet:
        return
    what = f"does not keep the requirements: {', '.join(unmet)}."
    if all(p is None for p in retention):
        raise PolicyUnmetError(Problem("method.matrices", what, "draw more of the values at random."))
    most = math.floor(promises.calibrated().p * 1e6) / 1e6
    if not promises.unmet([None if p is None else most for p in retention]):
        hint = f"the largest p that does, for all columns alike, is {most:.6f}."
        raise PolicyUnmetError(Problem("method.p", what, hint))
    if promises.mechanism.own:
        hint = "no p of the other columns can fix this: draw more of the values at random."
        raise PolicyUnmetError(Problem("method.matrices", what, hint))
    raise PolicyUnmetError(Problem("method.p", what, "remove p: it is then calibrated."))


def _check_size(layout: Layout, mechanism: Mechanism) -> None:
    """Raise if the matrices are too large for the certificate."""
    cells = 0
    for place, cell in enumerate(layout.cells):
        for number, attribute in enumerate(layout.attributes):
            if layout.shared[number] and place:
                continue
            size = attribute.size if len(attribute.columns) > 1 else len(cell.domains[number])
            if mechanism.invariant or number in mechanism.own or len(attribute.columns) > 1:
                cells += size * size
    if cells > MOST_TOLD:
        what = (
            f"matrices with {cells:,} cells are too large for a certificate; at most {MOST_TOLD:,} cells are possible."
        )
        raise UnsupportedError(what, hint="use kind: uniform, fewer joint columns, or coarser values.")


def _draws(
    mechanism: Mechanism, number: int, attribute: Attribute, p: float | None, entropy: Entropy
) -> dict[str, Draw]:
    """Return what draws the columns of an attribute."""
    layout = mechanism.layout

    def made(column: Column, cell: Cell) -> CodeDraw:
        if p is not None and not mechanism.invariant:
            return CodeDraw(column, entropy, keep=p)
        return CodeDraw(column, entropy, matrix=mechanism.matrix(cell, number, p))

    whole = attribute.whole
    if layout.shared[number] and len(layout.cells[0].domains[number]) == whole.size:
        draw: CodeDraw | CellDraw = made(whole, layout.cells[0])
    else:
        each = [made(column, cell) for column, cell in zip(local_columns(layout, number), layout.cells, strict=True)]
        draw = CellDraw(whole, layout.of_row, each, [cell.domains[number] for cell in layout.cells])
    if len(attribute.columns) == 1:
        return {whole.name: draw}
    return dict(Joint(draw, attribute.columns).views())
