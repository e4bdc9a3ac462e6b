"""Calibration of PRAM under a policy, from a table, or from priors and a number of records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sudare import hierarchies
from sudare.core.errors import ParameterError, PolicyError, PolicyUnmetError, Problem, UnsupportedError
from sudare.core.progress import Listener, silent
from sudare.methods import METHODS
from sudare.methods.pram import Calibration, Curve, Limit
from sudare.methods.pram.unseen_table import calibrate_unseen, figures
from sudare.models import MODELS, Requirements
from sudare.pipeline.request_checks import view_of
from sudare.policy import AlphaGammaSpec, PkAnonymitySpec, Policy
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import Data, read

METHOD = "pram"
NEEDS_DATA = ("strata", "never", "joint", "matrices")
POINTS = 101
"""Points of a curve."""

CurveData = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Calibrated:
    """How much may be kept of each perturbed column.

    ``p`` is the largest common probability, and ``retention`` the probability of each column under the policy's method;
    a release keeps a little less, because it publishes the value (:mod:`sudare.methods.pram.published_retention`).
    ``bounds`` has the largest p by each condition (None: not required), ``binding`` the condition that limits p (None:
    all may be kept), and ``held_by`` that of each column. ``records`` is None if the number is not known. ``beliefs``
    has, for each limited column and with this retention, the promised ``alpha`` and ``gamma``, and two largest beliefs,
    which are not limited: for one shown ``value``, and against all columns for one shown ``record``.
    """

    p: float
    bounds: Mapping[str, float | None]
    binding: str | None
    retention: Mapping[str, float]
    held_by: Mapping[str, str | None]
    records: int | None
    values: Mapping[str, int]
    beliefs: Mapping[str, Mapping[str, float]]
    _curves: Callable[[], list[CurveData]] = field(repr=False)

    def to_dict(self, *, curves: bool = False) -> dict[str, Any]:
        """Return all of it in the types that JSON has; with ``curves``, how each figure changes with p, too."""
        found: dict[str, Any] = {
            "p": self.p,
            "bounds": dict(self.bounds),
            "binding": self.binding,
            "retention": dict(self.retention),
            "held_by": dict(self.held_by),
            "records": self.records,
            "values": dict(self.values),
            "beliefs": {name: dict(figures) for name, figures in self.beliefs.items()},
        }
        return found | {"curves": self._curves()} if curves else found

    def __repr__(self) -> str:
        bound = f"bound by {self.binding}" if self.binding else "bound by nothing"
        return f"<sudare.Calibrated: p = {self.p:.6f}, {bound}; {len(self.retention)} columns>"


def calibrate(
    policy: Policy, data: Data | None = None, *, records: int | None = None, progress: Listener | None = None
) -> Calibrated:
    """Return how much may be kept under a checked policy (see :func:`sudare.api.calibrate`)."""
    if policy.method.name != METHOD:
        what = f"the policy's method is {policy.method.name}, which draws no values."
        raise UnsupportedError(what, hint=f"calibrate a policy with method: {{name: {METHOD}}}.")
    # what the policy says of p is to be judged by what comes out
    options = policy.method.options
    given = options.get("p")
    options["p"] = "per-column" if given == "per-column" else "calibrated"
    if data is None:
        return _beforehand(policy, options, records, given)
    if records is not None:
        raise ParameterError(Problem("records", "must not be given together with data.", "remove one of them."))
    from sudare.methods.pram.perturbation import weighed
    from sudare.methods.pram.promises import check_given

    view = view_of(METHODS[METHOD], options, policy)
    source, _ = read(data, policy)
    table = encode(source, view.policy, progress=progress or silent, also=view.also)
    promises, found = weighed(table, _requirements(policy), **options)
    layout, own = promises.mechanism.layout, promises.mechanism.own
    check_given(given, [attribute.names for attribute in layout.attributes], own)
    columns = {
        name: number
        for number, attribute in enumerate(layout.attributes)
        if number not in own
        for name in attribute.names
    }

    def curves() -> list[CurveData]:
        if found.curves:
            names = [attribute.names[0] for attribute in layout.attributes]
            return list(_named(found.curves, names))
        return list(_traced(promises, [number not in own for number in range(len(layout.attributes))]))

    order = [name for name in (*table.single, *table.sensitive) if name in columns]
    return Calibrated(
        p=found.p,
        bounds=found.bounds,
        binding=found.binding,
        retention={name: found.retention[columns[name]] for name in order},
        held_by={name: found.held_by[columns[name]] for name in order},
        records=table.rows,
        values={name: (table.single.get(name) or table.sensitive[name]).size for name in order},
        beliefs=_beliefs(promises, [None if at in own else p for at, p in enumerate(found.retention)]),
        _curves=curves,
    )


def _requirements(policy: Policy) -> Requirements:
    return Requirements(tuple(MODELS[spec.model](**spec.parameters()) for spec in policy.require))


def _beliefs(promises: Any, retention: Sequence[float | None]) -> dict[str, dict[str, float]]:
    """Return what is believed of each limited column."""
    found: dict[str, dict[str, float]] = {}
    for limit in promises.limits:
        alpha, gamma = promises.figures(limit, retention)
        there = found.setdefault(limit.model.column, {"alpha": alpha, "gamma": gamma})
        there |= {"alpha": max(there["alpha"], alpha), "gamma": min(there["gamma"], gamma)}
        there |= promises.worst_beliefs(limit, retention)
    return found


def _traced(promises: Any, free: Sequence[bool]) -> Iterator[CurveData]:
    """Yield the figures of a mechanism that has no closed form, at evenly spaced p."""
    grid = [step / (POINTS - 1) for step in range(POINTS)]
    if promises.k is not None:
        figures = [promises.pk([p if each else None for each in free]) for p in grid]
        yield {"condition": "pk", "column": None, "limit": float(promises.k), "p": grid, "figure": figures}
    for limit in promises.limits:
        if not free[limit.number]:
            continue
        both = [promises.figures(limit, [p if each else None for each in free]) for p in grid]
        for place, condition in enumerate(("alpha", "gamma")):
            yield {
                "condition": condition,
                "column": limit.model.column,
                "limit": float(getattr(limit.model, condition)),
                "p": grid,
                "figure": [figures[place] for figures in both],
            }


def _named(curves: Sequence[Curve], names: Sequence[str]) -> Iterator[CurveData]:
    for curve in curves:
        yield {
            "condition": curve.condition,
            "column": None if curve.attribute is None else names[curve.attribute],
            "limit": curve.limit,
            "p": curve.p.tolist(),
            "figure": curve.figure.tolist(),
        }


# ---- before there is a table


def _beforehand(policy: Policy, options: Mapping[str, Any], records: int | None, given: Any) -> Calibrated:
    """Calibrate from what the policy says of its columns; raise all that it does not say.

    ``given`` is the policy's p, of which only a mapping can be wrong.
    """
    from sudare.methods.pram.promises import check_given

    _refuse_what_needs_data(options)
    names = [*policy.quasi, *policy.sensitive]
    check_given(given, [[name] for name in names])
    asked = [(number, spec) for number, spec in enumerate(policy.require) if isinstance(spec, AlphaGammaSpec)]
    ks = [spec.k for spec in policy.require if isinstance(spec, PkAnonymitySpec)]
    priors = {spec.column: spec.prior for _, spec in asked if spec.prior is not None}
    values = {name: _size(policy, name, priors.get(name)) for name in names}
    problems = [
        Problem(f"require.{number}.prior", f"nothing gives the distribution of '{spec.column}'.",
                "give its prior, or the data.")
        for number, spec in asked
        if spec.prior is None
    ]  # fmt: skip
    problems += _wrong_records(records, needed=bool(ks))
    # without Pk, a column that has no limits may have any number of values
    limited = {spec.column for _, spec in asked}
    against_all = [spec.against == "all-columns" for _, spec in asked]
    needed = [name for name in names if (ks or any(against_all)) and name not in limited]
    problems += _wrong_sizes(values, needed)
    if problems:
        raise PolicyError(problems)
    limits = [Limit(names.index(spec.column), list((spec.prior or {}).values()), spec.alpha, spec.gamma)
              for _, spec in asked]  # fmt: skip
    sizes = [values[name] or 2 for name in names]
    found = _solved(policy, records, sizes, max(ks, default=None), limits, against_all, options)
    beliefs: dict[str, dict[str, float]] = {}
    for limit, every in zip(limits, against_all, strict=True):
        beliefs[names[limit.attribute]] = figures(limit, sizes, found.retention, against_all=every)
    return Calibrated(
        p=found.p,
        bounds=found.bounds,
        binding=found.binding,
        retention=dict(zip(names, found.retention, strict=True)),
        held_by=dict(zip(names, found.held_by, strict=True)),
        records=records,
        values={name: size for name, size in values.items() if size is not None},
        beliefs=beliefs,
        _curves=lambda: list(_named(found.curves, names)),
    )


def _refuse_what_needs_data(options: Mapping[str, Any]) -> None:
    """Raise about options of the method that can only be calibrated with the data."""
    needing = [key for key in NEEDS_DATA if options.get(key)]
    if options.get("kind", "uniform") != "uniform":
        needing.append("kind: invariant")
    if needing:
        what = f"the method's {', '.join(needing)} can only be calibrated with the data."
        raise UnsupportedError(what, hint="name the data as well.")


def _wrong_records(records: Any, *, needed: bool) -> list[Problem]:
    """Return what is wrong with the number of records."""
    if records is None:
        what = "nothing gives the number of records."
        return [Problem("records", what, "give their number, or the data.")] if needed else []
    if isinstance(records, int) and not isinstance(records, bool) and records >= 1:
        return []
    return [Problem("records", f"got {records!r}. Allowed: a whole number of at least 1.")]


def _wrong_sizes(values: Mapping[str, int | None], needed: Collection[str]) -> list[Problem]:
    """Return the columns whose number of values is needed and not known, and those that have one value."""
    unknown = [
        Problem(f"columns.{name}", "nothing gives the number of its values.",
                "give its order, a hierarchy from a file or a tree, or the data.")
        for name in needed
        if values[name] is None
    ]  # fmt: skip
    return unknown + [
        Problem(f"columns.{name}", "has one value, which cannot be perturbed.", "give it the role insensitive.")
        for name, size in values.items()
        if size == 1
    ]


def _solved(
    policy: Policy,
    records: int | None,
    sizes: Sequence[int],
    k: int | None,
    limits: Sequence[Limit],
    against_all: Sequence[bool],
    options: Mapping[str, Any],
) -> Calibration:
    """Calibrate; report a failure as a requirement of the policy that cannot be met."""
    names = [*policy.quasi, *policy.sensitive]
    given = options.get("weights") or {}
    if options["p"] != "per-column" and given:
        raise PolicyError(Problem("method.weights", "belong to p: per-column."))
    weights = [float(given.get(name, 1.0)) for name in names] if options["p"] == "per-column" else None
    try:
        return calibrate_unseen(records or 1, sizes, k=k, limits=limits, against_all=against_all, weights=weights)
    except ParameterError as error:
        asked = [f"alpha-gamma (column = {names[limit.attribute]})" for limit in limits]
        words = {f"limits[{place}]": name for place, name in enumerate(asked)} | {"k": f"pk-anonymity (k = {k})"}
        raise PolicyUnmetError(
            [Problem(words.get(each.where, each.where), each.what, each.hint) for each in error.problems]
        ) from None


def _size(policy: Policy, name: str, prior: Mapping[str, float] | None) -> int | None:
    """Return how many values a column has by the policy: by a prior, its order, or its hierarchy.

    A hierarchy may have more leaves than the data has values. That is safe: with more values, less may be kept.
    """
    spec = policy.columns[name]
    if prior is not None:
        return len(prior)
    if spec.order is not None:
        return len(spec.order)
    where = spec.hierarchy
    if where is None or (where.file is None and where.tree is None):
        return None
    return len(hierarchies.given(where, policy.folder).leaves)
