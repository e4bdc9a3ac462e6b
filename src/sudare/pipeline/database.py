"""A release of a table that stays in its database: the database sends counts, and gets the decision.

1. The database counts its records by the columns that the method uses. Records that agree in all of them are one
   *atom*. No other column and no single record leaves the database.
2. The method decides on codes as usual: each atom counts as many times as it has records.
3. The decision goes to the database: a line for each atom with its class, and a line for each class with its cells. The
   database joins them with its records, and makes the release.
4. The database counts the release, and the audit proves it from these counts. Then the release gets its name.

Columns that the policy transforms are derived first (:mod:`sudare.pipeline.derived_columns`), as far as their different
values are enough for that.

Item sets change record by record, sensitive ones are written anew, and random values are drawn cell by cell. In all
these cases the rows are read (see :mod:`sudare.pipeline.local`).
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare import engines
from sudare.audits import audit_release
from sudare.core.errors import DataError, Problem
from sudare.engines import Decision, Place
from sudare.pipeline.derived_columns import can_derive, derived
from sudare.pipeline.request import Request, Result
from sudare.pipeline.stages import certify, note_spellings, protect_rare_values
from sudare.pipeline.targets import counted
from sudare.policy import Policy
from sudare.releases import class_labels, people_numbers, required_values
from sudare.releases.release_figures import measure
from sudare.sources.encoded_table import encode
from sudare.sources.used_columns import looked_at
from sudare.table import SUPPRESSED, Column, Generalized, Partition, Table, published_classes

Ints = NDArray[np.int64]
_CLASS = "\0class"  # no column of a table can have this name


def stays_in_database(request: Request) -> bool:
    """Return whether the records can stay: source and target are in one database, and no item set is rewritten."""
    origin, target = request.origin, request.target
    if origin is None or not isinstance(target, Place) or not request.makes_classes:
        return False
    if not origin.shares_database(target):
        return False
    with engines.open_database(origin) as database:
        schema = database.columns(origin)
        engines.check_columns(origin.shown, request.policy.columns, schema.names)
        kinds = dict(zip(schema.names, database.types(origin), strict=True))
    policy = request.policy
    if policy.transforms and not can_derive(request, kinds):
        return False
    sets = [name for name in policy.quasi if _holds_sets(policy, schema, name)] + policy.sensitive_sets
    return not sets


def _holds_sets(policy: Policy, schema: pa.Schema, name: str) -> bool:
    return policy.columns[name].kind == "items" or bool(pa.types.is_nested(schema.field(name).type))


def make_in_database(request: Request) -> Result:
    """Make, prove and place a release in the database that its records are in."""
    policy, origin, target = request.policy, request.origin, request.target
    assert origin is not None
    assert isinstance(target, Place)
    with engines.open_database(origin, dry_run=request.preview is not None) as database:
        with ExitStack() as derivation:
            with request.timed("read"):
                database.check_target(target, policy.released, origin)
                cells = derivation.enter_context(derived(request, database, origin))
                names = looked_at(request.view.policy, request.view.also)
                atoms = database.tally(cells, names)
                if not len(atoms.counts) or not atoms.counts.sum():
                    raise DataError(Problem(origin.shown, "has no records."))
                table, owner = repeated(request, atoms)
                table = protect_rare_values(request, table)
            with request.timed("method"):
                recoding = request.decide(table)
                assert isinstance(recoding, Partition)
            with request.timed("render"):
                classes = published_classes(table, recoding)
                decision = _decision(request, table, classes, atoms, owner)
                figures = note_spellings(request, measure(classes), table)
            with request.timed("write"):
                del table, owner, classes
                draft = database.apply(cells, target, decision)
        with request.timed("audit"):
            report = audit_release(
                counted(database, draft, target.shown),
                policy,
                method=str(request.method["name"]),
                transformations=request.transformations,
                memory=request.memory,
            )
        certificate = certify(request, figures, report, origin.shown, "does a column treat different values as equal?")
        if request.preview is not None:
            return Result(certificate, database.first(draft, request.preview))
        database.place(draft, target, certificate.to_dict())
    return Result(certificate)


def repeated(request: Request, atoms: engines.Tally) -> tuple[Table, Ints]:
    """Encode the atoms, and let each stand for all of its records; returned with the atom of each record."""
    view = request.view.policy
    kept = {name: spec for name, spec in view.columns.items() if name in atoms.cells.column_names}
    encoded = encode(
        atoms.cells,
        view.model_copy(update={"columns": kept}),
        progress=request.listener,
        unknown=request.unknown,
        also=request.view.also,
    )
    owner = np.repeat(np.arange(len(atoms.counts)), atoms.counts)
    if request.unknown is not None:
        request.unknown.records = {name: rows[owner] for name, rows in request.unknown.records.items()}
    if len(owner) == len(atoms.counts):
        return replace(encoded, carried=None), owner

    def spread(column: Column) -> Column:
        return replace(column, codes=column.codes[owner])

    return Table(
        rows=len(owner),
        quasi={name: spread(column) for name, column in encoded.single.items()},
        sensitive={name: spread(column) for name, column in encoded.sensitive.items()},
        subject=None if encoded.subject is None else spread(encoded.subject),
        target=None if encoded.target is None else spread(encoded.target),
        context={name: spread(column) for name, column in encoded.context.items()},
        runs=atoms.counts,
    ), owner


def _decision(request: Request, table: Table, shown: Generalized, atoms: engines.Tally, owner: Ints) -> Decision:
    """Return the class of each record: by its quasi-identifiers alone if possible, otherwise by its atom."""
    policy, numbering = request.policy, request.policy.numbers_subjects
    names = [
        name
        for name in policy.released
        if numbering is not None or policy.columns[name].role != "subject" or name in policy.carried
    ]
    starts = np.concatenate(([0], np.cumsum(atoms.counts)))
    classes = shown.partition.classes.astype(np.int64)
    lowest, highest = (edge.reduceat(classes, starts[:-1]) for edge in (np.minimum, np.maximum))
    also = required_values(table, atoms.cells, starts[:-1])
    labels = class_labels(shown, names)
    if set(names) <= set(labels.column_names):  # records show nothing of their own
        return Decision(names, atoms.cells.slice(0, 0), classes[:0], labels, shown.sizes)
    plain = Decision(names, atoms.cells, lowest, labels, shown.sizes, by_class=policy.release.order == "class")
    if (lowest == highest).all():
        row = starts[:-1]
        if not also and numbering is None:
            return _kept(_by_quasi(plain, policy.quasi))
    else:
        # records of one atom go to several classes: so many to each, whichever they are
        order = np.lexsort((classes, owner))
        changes = (np.diff(owner[order]) != 0) | (np.diff(classes[order]) != 0)
        first = np.concatenate(([0], np.flatnonzero(changes) + 1))
        last = np.append(first[1:], len(order))
        row = order[first]
        of_line = owner[row]
        also = {name: cells.take(pa.array(of_line)) for name, cells in also.items()}
        begin = starts[of_line]
        plain = replace(
            plain,
            keys=atoms.cells.take(pa.array(of_line)),
            classes=classes[row],
            first=first - begin + 1,
            last=last - begin,
        )
    if numbering is not None and table.subject is not None:
        numbers = people_numbers(table.subject, shown, numbering, request.seed)
        also[table.subject.name] = pa.array(numbers[row], pa.int64())
    return _kept(replace(plain, also=pa.table(also) if also else None))


def _by_quasi(decision: Decision, quasi: list[str]) -> Decision:
    """Return a decision by fewer columns, if records that agree on these go to the same class."""
    used = [name for name in decision.keys.column_names if name in quasi]
    if not used or len(used) == decision.keys.num_columns:
        return decision
    numbered = decision.keys.select(used).append_column(_CLASS, pa.array(decision.classes))
    found = numbered.group_by(used).aggregate([(_CLASS, "min"), (_CLASS, "max")])
    least, most = (found.column(f"{_CLASS}_{edge}").to_numpy() for edge in ("min", "max"))
    return replace(decision, keys=found.select(used), classes=least) if (least == most).all() else decision


def _kept(decision: Decision) -> Decision:
    """Return a decision without the lines of suppressed records."""
    lines = np.flatnonzero(decision.classes != SUPPRESSED)
    if len(lines) == len(decision.classes):
        return decision
    taken = pa.array(lines)
    return replace(
        decision,
        keys=decision.keys.take(taken),
        classes=decision.classes[lines],
        first=None if decision.first is None else decision.first[lines],
        last=None if decision.last is None else decision.last[lines],
        also=None if decision.also is None else decision.also.take(taken),
    )
