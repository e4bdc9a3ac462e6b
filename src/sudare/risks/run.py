"""Wiring of the risk report: reads data, release and population, and checks that they belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sudare.core.errors import DataError, ParameterError, Problem, SudareError, did_you_mean
from sudare.core.progress import Listener, silent
from sudare.policy import ColumnSpec, LDiversitySpec, Policy
from sudare.releases.certificate import Certificate
from sudare.releases.opened_release import Released
from sudare.releases.pairing import check_rows, check_values, comparable, in_text, open_under
from sudare.risks import (
    MOST,
    ReleasedCodes,
    ReleaseView,
    Risk,
    Transformed,
    Votes,
    assess,
    check_installed,
    from_groups,
    from_sets,
    from_values,
    group_rows,
    read_released_codes,
)
from sudare.risks.drawn_cells import has_axis, loosely, on_axis, telling_nothing
from sudare.risks.nearest_records import Witness
from sudare.risks.population_risk import row_codes
from sudare.risks.released_columns import Coded, Unique, coded, unique_by
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import Data, read
from sudare.sources.rare_value_limits import without_rare
from sudare.sources.repeated_steps import (
    CHANGED,
    PERMUTED,
    REPEATED,
    UNKNOWN,
    RepeatedSteps,
    repeated_steps,
    untransformed,
)
from sudare.sources.unknown_values import UnknownValues
from sudare.table import Column, Table, encode_column
from sudare.table.rare_values import only_held

UNNAMED = "the table"
"""What messages call a table in memory."""


def risk_of(
    data: Data,
    policy: Policy,
    *,
    release: Any = None,
    population: Data | None = None,
    fraction: float | None = None,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    most_columns: int = 3,
    model: bool = False,
    seed: int = 0,
    progress: Listener | None = None,
) -> Risk:
    """Measure the risk of a table, and of a release of it; see :func:`sudare.api.risk`."""
    listener = progress or silent
    known = _checked(policy, population, fraction, columns, target, most_columns, seed)
    if model:
        check_installed()
    opened = None if release is None else _opened(release, policy, known)
    text = release is not None and in_text(release)
    plain = untransformed(policy) if policy.transforms else policy
    source, _ = read(data, plain, transform=False)
    targets = (
        [target]
        if target is not None
        else [name for name in policy.sensitive if name not in policy.sensitive_sets and _single(source.schema, name)]
    )
    targets = [name for name in targets if name not in known]
    table, others = _encoded(source, plain, population, known, blanks_are_missing=text, also=targets, progress=listener)
    sensitive = {name: found for name in targets if (found := _column(table, name)) is not None}
    view, later, unguessed = None, None, {} if target is not None else _not_inferred(policy, source.schema)
    if opened is not None:
        again = repeated_steps(policy, _entries(opened.certificate), unshifted={*policy.quasi, *known})
        _check_records(opened, policy, table)
        compared = table
        if policy.transforms:
            later = _transformed(data, again, population, known, targets, text, listener)
            compared, unguessed = later.table, unguessed | _unguessed(again, policy, targets)
        shown = {name: column for name in targets if (column := _column(compared, name)) is not None}
        guessed = {name: column for name, column in shown.items() if name not in unguessed}
        view = _view(opened, policy, compared, guessed, text, again)
    measured = assess(
        table, known, sensitive, release=view, transformed=later, population=others, fraction=fraction,
        most=most_columns, model=model, seed=seed, progress=listener,
    )  # fmt: skip
    listener("count what is unique", 0, 0)
    after = None if opened is None or view is None else _unique_after(opened, policy, view)
    return replace(
        measured,
        unique={"before": _unique_before(table, policy), "after": after},
        not_inferred=unguessed,
        transformed={name: [step.name for step in steps] for name, steps in policy.transformed.items()},
        notes=(*measured.notes, *_notes(policy, known, None if opened is None else again)),
    )


def _entries(certificate: Certificate) -> list[dict[str, Any]]:
    return [entry.to_dict() for entry in certificate.transformations or ()]


def _check_records(opened: Released, policy: Policy, table: Table) -> None:
    """Raise if a release was made of other records than the data has, or of no sample of these."""
    sample = policy.sample
    people = None if sample is None or sample.per == "record" or table.subject is None else table.subject.codes
    check_rows(opened, table.rows, None if sample is None else sample.share, people)


def _notes(policy: Policy, known: Sequence[str], again: RepeatedSteps | None) -> list[str]:
    """Return what to know of the figures where a policy transforms columns."""
    notes = []
    if policy.transformed:
        names = ", ".join(f"'{name}'" for name in policy.transformed)
        notes.append(f"the policy transforms {names}: figures before are those of the table before that.")
    if policy.sample is not None:
        notes.append(
            "the release is a sample: figures after are about the records in it, and say what an intruder achieves who "
            "knows that a person is among them."
        )
    if again is None:
        return notes
    linked = [f"'{name}'" for name in known if policy.shows_pseudonym(name) and again.ways.get(name) == REPEATED]
    if linked:
        notes.append(
            f"pseudonyms in {', '.join(linked)} are compared by their key: figures after are those of an intruder who "
            "has it."
        )
    return [*notes, *again.notes]


def _transformed(
    data: Data,
    again: RepeatedSteps,
    population: Data | None,
    known: Sequence[str],
    targets: Sequence[str],
    text: bool,
    listener: Listener,
) -> Transformed:
    """Return the data as it is transformed, as far as that can be repeated; with a population that has the same codes.

    The population is not transformed, so it is of use only if no known column is.
    """
    policy = _as_read(again, known)
    source, _ = read(data, policy)
    also = [name for name in policy.columns if _witnessed(policy, name, known) and _single(source.schema, name)]
    wanted = [*(name for name in targets if name in policy.columns), *also]
    usable = population if not set(known) & set(again.ways) else None
    table, others = _encoded(
        source, policy, usable, known, blanks_are_missing=text, also=list(dict.fromkeys(wanted)), progress=listener
    )
    found = {name: column for name in targets if (column := _column(table, name)) is not None}
    return Transformed(table, found, others)


def _as_read(again: RepeatedSteps, known: Sequence[str]) -> Policy:
    """Return the policy by which transformed data is encoded.

    Columns that cannot be compared are left out, unless they are known or quasi-identifiers, which form classes.
    Hierarchies of values that were drawn need not have those of the data.
    """
    columns = dict(again.policy.columns)
    for name, way in again.ways.items():
        spec = columns[name]
        if way == UNKNOWN and spec.role != "quasi" and name not in known:
            del columns[name]
        elif way == UNKNOWN:
            kept = {"transform": spec.transform, "separator": spec.separator}
            columns[name] = ColumnSpec(role=spec.role, kind="items" if spec.kind == "items" else None).model_copy(
                update=kept
            )
        elif name in known and spec.order is not None:  # swapped categories are near to each other, or far
            columns[name] = ColumnSpec(role="quasi", kind=spec.kind, order=spec.order)
        elif way == CHANGED and spec.hierarchy is not None and (spec.hierarchy.file or spec.hierarchy.tree):
            columns[name] = spec.model_copy(update={"hierarchy": None})
    lost = set(again.named(UNKNOWN, CHANGED))
    required = [each for each in again.policy.require if getattr(each, "column", None) not in lost]
    return again.policy.model_copy(update={"columns": columns, "require": required})


def _witnessed(policy: Policy, name: str, known: Sequence[str]) -> bool:
    """Return whether a column, unknown to the intruder, may show which records are whose."""
    spec = policy.columns[name]
    return spec.role in ("sensitive", "insensitive") and spec.kind != "items" and name not in known


def _unguessed(again: RepeatedSteps, policy: Policy, targets: Sequence[str]) -> dict[str, str]:
    """Return why values of transformed columns cannot be guessed after the release, by column."""
    reasons = {
        CHANGED: "after release, cells were changed at random, and the attack guesses exact values.",
        UNKNOWN: "after release, cells cannot be compared with the data: a key is not here, or they were drawn.",
    }
    found = {name: reasons[way] for name in targets if (way := again.ways.get(name)) in reasons}
    empty = [name for name in targets if any(step.name == "redact" for step in policy.transformed.get(name, ()))]
    return found | dict.fromkeys(empty, "after release, every cell is empty.")


def _opened(release: Any, policy: Policy, known: Sequence[str]) -> Released:
    """Open a release; raise if it hides a column that the intruder is said to know."""
    opened = open_under(release, policy)
    hidden = [name for name in known if name in opened.sealed]
    if hidden:
        what = f"'{hidden[0]}' is hidden in the release, so nobody can find a record by it."
        raise ParameterError(Problem("columns", what, "remove it."))
    return opened


def _encoded(
    source: Any, policy: Policy, population: Data | None, known: Sequence[str], **asked: Any
) -> tuple[Table, Table | None]:
    """Return the data and, if there is one, its population, in the same codes."""
    asking = _knowing(policy, known)
    # records with values that a hierarchy lacks were left out, where the policy says so
    asked["unknown"] = UnknownValues() if policy.suppression.unseen == "suppress" else None
    if population is None:
        return encode(source, asking, **asked), None
    own = source.table()
    both = encode(_with_population(own, policy, population, known), asking, **asked)
    return both.taken(np.arange(own.num_rows)), both.taken(np.arange(own.num_rows, both.rows))


def _knowing(policy: Policy, known: Sequence[str]) -> Policy:
    """Return the policy as if all columns that an intruder knows were quasi-identifiers."""
    spec = policy.columns
    others = {name: ColumnSpec(role="quasi", kind=spec[name].kind) for name in known if name not in policy.quasi}
    return policy.model_copy(update={"columns": {**spec, **others}}) if others else policy


def _insensitive(policy: Policy) -> list[str]:
    """Return the insensitive columns by which an outsider may find a record: nobody knows a person's pseudonym."""
    return [name for name in policy.named("insensitive") if not policy.shows_pseudonym(name)]


def _unique_before(table: Table, policy: Policy) -> Unique | None:
    """Return what is unique in the data, by the columns that a release has."""
    plain: dict[str, Coded] = {}
    for name in _insensitive(policy):
        if name in table.quasi:
            plain[name] = row_codes([table.quasi[name]])
        elif table.carried is not None and name in table.carried.column_names:
            plain[name] = coded(table.carried.column(name))
    people = None if table.subject is None or not policy.counts_subjects else table.subject.codes
    return unique_by([row_codes([table.quasi[name]]) for name in policy.quasi], plain, table.rows, people)


def _unique_after(opened: Released, policy: Policy, view: ReleaseView) -> Unique | None:
    """Return the unique records of the release, without drawn columns, whose cells may be wrong."""
    names = [name for name in _insensitive(policy) if name in opened.columns]
    if not names:
        return None
    strata = policy.method.options.get("strata") or ()
    quasi = [name for name in policy.quasi if not view.drawn or name in strata]
    released = opened.read([*quasi, *names])
    people, within = view.people, None
    if people is not None and policy.numbers_subjects == "per-class":
        within = view.shown.grouped(policy.quasi).of_row
    return unique_by(
        [coded(released.column(name)) for name in quasi],
        {name: coded(released.column(name)) for name in names},
        released.num_rows, people, within,
    )  # fmt: skip


def _checked(
    policy: Policy, population: Any, fraction: Any, columns: Any, target: Any, most: Any, seed: Any
) -> list[str]:
    """Return the known columns, or raise all problems of the request."""
    known = policy.quasi if columns is None else list(dict.fromkeys(columns))
    problems = _wrong_columns(policy, known) + _wrong_fraction(fraction, population) + _wrong_target(policy, target)
    if target is not None and target in known:
        problems.append(Problem("target", f"'{target}' is already known to the intruder.", "name another column."))
    if not _is_whole(most) or not 1 <= most <= MOST:
        problems.append(Problem("most_columns", f"must be a whole number from 1 to {MOST}; got {most!r}."))
    if not _is_whole(seed) or seed < 0:
        problems.append(Problem("seed", f"must be a whole number from 0; got {seed!r}."))
    if problems:
        raise ParameterError(problems)
    return known


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _wrong_columns(policy: Policy, known: list[str]) -> list[Problem]:
    """Return what is wrong with the columns that an intruder is said to know."""
    able = [name for name, spec in policy.columns.items() if spec.role not in ("identifier", "subject")]
    problems = []
    for name in known:
        if name in able:
            continue
        what = f"'{name}' is not a column of the policy."
        if name in policy.columns:
            what = f"'{name}' has role: {policy.columns[name].role}; nobody can find a released record by it."
        hint = did_you_mean(str(name), able) or f"it has {', '.join(able)}."
        problems.append(Problem("columns", what, hint))
    if problems or len(known) > 1:
        return problems
    knows, got = ("one column", repr(known[0])) if known else ("no column", "none")
    hint = "name two or more." if len(able) > 1 else "give more columns of the policy the role quasi."
    return [Problem("columns", f"an intruder who knows {knows} cannot combine columns; got {got}.", hint)]


def _wrong_fraction(fraction: Any, population: Any) -> list[Problem]:
    """Return what is wrong with the fraction of the population that the data is said to be."""
    problems = []
    if population is not None and fraction is not None:
        problems.append(Problem("fraction", "must not be given together with a population table."))
    if fraction is not None and (
        isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 < fraction <= 1
    ):
        problems.append(Problem("fraction", f"must be a number above 0, up to 1; got {fraction!r}."))
    return problems


def _wrong_target(policy: Policy, target: Any) -> list[Problem]:
    """Return that the target is no column whose values can be guessed."""
    able = [
        name
        for name, spec in policy.columns.items()
        if spec.role in ("sensitive", "insensitive") and name not in policy.sensitive_sets
    ]
    if target in policy.sensitive_sets:
        return [Problem("target", f"'{target}' holds item sets, and no single value to infer.", "name another column.")]
    if target is None or target in able:
        return []
    hint = did_you_mean(str(target), able) or f"it has {', '.join(able) or 'none'}."
    return [Problem("target", f"'{target}' is not a sensitive or insensitive column of the policy.", hint)]


def _column(table: Table, name: str) -> Column | None:
    """Return the codes of a sensitive or insensitive column, if it holds single values."""
    return table.sensitive.get(name) or table.context.get(name)


def _not_inferred(policy: Policy, schema: pa.Schema) -> dict[str, str]:
    """Return why the attack on sensitive values cannot guess some columns, by column."""
    found = {}
    for name in policy.sensitive:
        if name in policy.sensitive_sets:
            about = [spec for spec in policy.require if isinstance(spec, LDiversitySpec) and spec.column == name]
            aside = ", unless it is harmless" if any(spec.harmless for spec in about) else ""
            limits = [f"at most 1/{int(spec.l)} of the records of a class hold it{aside}" for spec in about]
            found[name] = (
                "it holds item sets, and the attack guesses single values. What limits the inference of an item is the "
                f"promise: {'; '.join(limits)}."
            )
        elif not _single(schema, name):
            found[name] = "it holds lists, structures or bytes, and the attack guesses single values."
    return found


def _single(schema: pa.Schema, name: str) -> bool:
    """Return whether a column holds single values that can be guessed."""
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _with_population(own: pa.Table, policy: Policy, population: Data, known: Sequence[str]) -> pa.Table:
    """Return a table with its population below it: encoded together they have the same codes for the same values."""
    asked = policy.model_copy(
        update={"columns": {name: _as_quasi(policy.columns.get(name)) for name in known}}  # read as the data is
    )
    try:
        there = read(population, asked, described=False)[0].table()
    except SudareError as error:
        # what is in memory has no name of its own, and "the table" would be taken for the data
        told = [replace(each, where=_of_population(each.where)) for each in error.problems]
        raise type(error)(told) from None
    cells = {}
    for field in own.schema:
        if field.name not in known:
            cells[field.name] = pa.nulls(there.num_rows, field.type)
            continue
        try:
            cells[field.name] = there.column(field.name).cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            what = f"column '{field.name}' holds {there.schema.field(field.name).type} in the population, and "
            raise DataError(
                Problem("population", f"{what}{field.type} in the data.", "convert both to one type.")
            ) from None
    return pa.concat_tables([own, pa.table(cells, schema=own.schema)])


def _as_quasi(spec: ColumnSpec | None) -> ColumnSpec:
    """Return a column as an intruder looks at it, with its kind, its order and its separator."""
    return ColumnSpec(role="quasi") if spec is None else spec.model_copy(update={"role": "quasi", "exact": None})


def _of_population(where: str) -> str:
    if where == UNNAMED:
        return "population"
    return f"population, {where}" if where.startswith("column ") else where


def _view(
    opened: Released, policy: Policy, table: Table, targets: Mapping[str, Column], text: bool, again: RepeatedSteps
) -> ReleaseView:
    """Read a release as an intruder sees it, in the codes of the data."""
    recoding = opened.certificate.recoding
    generalized, drawn = recoding == "classes", recoding == "drawn"
    subject = policy.subject if policy.subject in opened.columns else None
    also = [name for name in table.quasi if name not in policy.quasi]
    near = [name for name, column in table.quasi.items() if _is_near(policy, again, name, column)]
    silent = [name for name in again.named(CHANGED, PERMUTED, UNKNOWN) if name in table.quasi and name not in near]
    beside = [name for name in (*table.sensitive, *table.context) if _is_witness(opened, table, again, name)]
    wanted = [*table.quasi, *(name for name in targets if name in opened.columns), *(beside if near else [])]
    released = opened.read([*dict.fromkeys(wanted), *([subject] if subject else [])])
    aggregated = set(opened.certificate.search.aggregated) - set(also)
    apart = {name: telling_nothing(table.quasi[name], released.column(name)) for name in silent}
    for name in near:
        column = table.quasi[name]
        if isinstance(column, Column) and name not in aggregated:
            apart[name] = on_axis(column, released.column(name))
    if again.sampled and generalized:
        for name, column in table.single.items():
            if name in apart or name in also or name in aggregated:
                continue
            if (found := loosely(column, released.column(name))) is not None:
                apart[name] = found
    rest = replace(table, quasi={name: column for name, column in table.quasi.items() if name not in apart})
    shown = read_released_codes(
        rest, released, generalized=generalized, untouched=also, drawn=drawn, text=text,
        missing=[token for token in policy.source.missing_everywhere if token],
        separators={name: spec.separator for name, spec in policy.columns.items()},
        published=without_rare(only_held(table), policy) if generalized else None,
        aggregated=aggregated,
    )  # fmt: skip
    if apart:
        shown = replace(shown, cells={**shown.cells, **apart})
    sampled_out = table.rows - int(opened.certificate.rows_in)
    lost = int(opened.certificate.suppressed) + sampled_out
    return ReleaseView(
        shown=shown,
        votes={name: _votes(opened, released, policy, name, column) for name, column in targets.items()},
        people=None if subject is None else _people(shown, released.column(subject), policy),
        rows_in=table.rows,
        lost=lost,
        masked=shown.shows_nothing(table) if lost and policy.suppression.records == "masked" and not also else None,
        drawn=drawn,
        beliefs=_beliefs(opened) if drawn else {},
        silent=frozenset(silent),
        moved=frozenset(again.named(PERMUTED)),
        witness=_witness(table, released, policy, beside) if near else None,
        sampled_out=sampled_out,
    )


def _is_near(policy: Policy, again: RepeatedSteps, name: str, column: Any) -> bool:
    """Return whether cells of a column are near to what records hold: it was changed at random, and has an axis."""
    steps = [step.name for step in policy.transformed.get(name, ())]
    way = again.ways.get(name)
    return has_axis(column) and (way == CHANGED or (way == PERMUTED and "shuffle" not in steps))


def _is_witness(opened: Released, table: Table, again: RepeatedSteps, name: str) -> bool:
    """Return whether records show the true value of a column, so that it says which records cannot be whose."""
    column = _column(table, name)
    there = name in opened.columns and name not in opened.hidden and name not in table.quasi
    return there and column is not None and column.sets is None and again.ways.get(name) in (None, REPEATED)


def _witness(table: Table, released: pa.Table, policy: Policy, names: Sequence[str]) -> Witness:
    """Return what records show in columns without a random change, equal cells as equal numbers."""
    missing = [token for token in policy.source.missing_everywhere if token]
    codes, sizes = [], []
    for name in names:
        column = _column(table, name)
        assert column is not None
        try:
            shown = from_values(column, released.column(name), missing).value
        except SudareError:  # times in text, which are not read
            continue
        codes.append(np.concatenate((shown, column.codes.astype(np.int64))) + 1)
        sizes.append(column.size + 2)
    rows = released.num_rows
    of_row = group_rows(codes, sizes, rows + table.rows).of_row.astype(np.int64)
    return Witness(of_row[:rows], of_row[rows:])


def _beliefs(opened: Released) -> dict[str, dict[str, float]]:
    """Return what may be believed of each column that alpha-gamma limits, by the certificate; the worst of several."""
    found: dict[str, dict[str, float]] = {}
    for one in opened.certificate.guarantees:
        column = one.parameters.get("column") if isinstance(one.parameters, Mapping) else None
        if one.model != "alpha-gamma" or not isinstance(column, str) or not isinstance(one.achieved, Mapping):
            continue
        there = found.setdefault(column, {})
        for key in ("alpha", "gamma", "one value", "one record"):
            figure = one.achieved.get(key)
            if isinstance(figure, int | float) and 0 <= figure <= 1:
                worst = min if key == "gamma" else max
                there[key] = float(worst(there.get(key, figure), figure))
    return {name: there for name, there in found.items() if there}


def _votes(opened: Released, released: pa.Table, policy: Policy, name: str, column: Column) -> Votes:
    missing = [token for token in policy.source.missing_everywhere if token]
    if name in opened.apart:
        second = opened.second(name)
        assert second is not None
        return from_groups(column, released.column("group"), second, missing)
    if name in opened.sealed:
        return from_sets(column, released.column(name), policy.columns[name].separator)
    votes = from_values(column, released.column(name), missing)
    if name not in opened.hidden and comparable(column):
        check_values(column, votes.value)
    return votes


def _people(shown: ReleasedCodes, pseudonyms: pa.ChunkedArray, policy: Policy) -> Any:
    """Return the person of each row; numbers that are valid only within a class differ between classes."""
    numbers = encode_column("subject", pseudonyms, kind="categorical")
    if policy.numbers_subjects != "per-class":
        return numbers.codes
    classes = shown.grouped(policy.quasi)
    return group_rows([classes.of_row, numbers.codes], [len(classes.sizes), numbers.size], shown.rows).of_row
