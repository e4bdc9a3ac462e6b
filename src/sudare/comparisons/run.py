"""The run of a comparison: reads the data once, and encodes it for each compared method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from sudare.comparisons import (
    Bench,
    Comparison,
    Configuration,
    Query,
    check_installed,
    check_request,
    compare_configurations,
    configurations_for,
    draw_queries,
)
from sudare.core.errors import ParameterError, SudareError
from sudare.core.progress import Listener, silent
from sudare.methods import METHODS
from sudare.pipeline import requirements_of
from sudare.pipeline.request_checks import view_of
from sudare.policy import Policy, UniquenessSpec
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import Data, read
from sudare.sources.rare_value_limits import (
    Rarity,
    rarity,
    without_rare,
)
from sudare.table import Table

UNCOUNTED = "uniqueness is counted on written releases only: a configuration here may break that limit."


def compare_of(
    data: Data,
    policy: Policy,
    *,
    methods: Sequence[str] | None = None,
    sweep: Any = None,
    target: str | None = None,
    folds: int = 5,
    queries: int = 200,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Comparison:
    """Compare configurations on a table; see :func:`sudare.api.compare`."""
    started, listener = time.monotonic(), progress or silent
    if target is not None:
        check_installed()
    roles = {name: spec.role for name, spec in policy.columns.items()}
    configs = _checked_configurations(
        partial(check_request, target, roles, folds, seed, queries=queries, time_limit=time_limit),
        partial(
            configurations_for,
            policy,
            target if isinstance(target, str) else None,
            requirements_of,
            asked=methods,
            sweep=sweep,
        ),
    )
    # nothing is released, so that the seed may draw what is random
    source, _ = read(data, policy, seed=seed)
    untouched = [config for config in configs if METHODS[config.method].leaves_quasi and not config.problems]
    # these methods encode the rows themselves, in the order of the file
    whole = source.table() if untouched else None
    secrets = [name for name in policy.sensitive if _single(policy, source.schema, name)]
    table = encode(source if whole is None else whole, policy, progress=listener, target=target, also=secrets)
    view = _TableView(policy, table, whole, target)
    # methods that leave quasi-identifiers unchanged train nothing new: they are judged only if named, with a remark
    judged = [config for config in configs if methods is not None or not METHODS[config.method].leaves_quasi]
    asks = _Asks(view, queries, seed)
    bench = Bench(view.untouched, requirements_of(policy), asks.of(policy), view, seed, asks)
    found = compare_configurations(
        bench,
        configs,
        target=target,
        judged=judged,
        folds=folds,
        wanted=queries,
        until=math.inf if time_limit is None else started + time_limit,
        progress=listener,
    )
    limited = any(isinstance(spec, UniquenessSpec) for spec in policy.require)
    notes = [*_transformed(policy), *([UNCOUNTED] if limited else [])]
    return replace(found, notes=(*found.notes, *notes)) if notes else found


def _transformed(policy: Policy) -> list[str]:
    """Return what was done to the table before all methods, which look at the same cells."""
    done = [f"{name} ({', '.join(step.name for step in steps)})" for name, steps in policy.transformed.items()]
    notes = []
    if done:
        notes.append(
            f"transformed before: {', '.join(done)}. All configurations see the same cells, and loss, risk and query "
            "errors are measured from these on."
        )
    if policy.sample is not None:
        notes.append(f"the records are one random sample of {100 * policy.sample.share:g}%, the same for all.")
    return notes


def _checked_configurations(
    check: Callable[[], None], configs: Callable[[], list[Configuration]]
) -> list[Configuration]:
    """Return the configurations, or raise all problems of the request: parameters, methods and sweep."""
    try:
        check()
    except SudareError as error:
        try:
            configs()
        except SudareError as other:
            raise ParameterError([*error.problems, *other.problems]) from None
        raise
    return configs()


class _TableView:
    """The table as methods read it, with only the columns that they use."""

    def __init__(self, policy: Policy, table: Table, whole: pa.Table | None, target: str | None) -> None:
        self.policy, self.table, self.whole, self.target = policy, table, whole, target
        self.required = {getattr(spec, "column", None) for spec in policy.require}
        self.hidden: dict[Rarity | None, Table] = {}
        self.others: dict[frozenset[str] | None, Table] = {}
        self.untouched = self._needed(table)

    def whole_of(self, policy: Policy) -> Table:
        """Return the table with all sensitive columns, and rare values as a policy shows them."""
        rule = rarity(policy)
        if rule not in self.hidden:
            self.hidden[rule] = without_rare(self.table, policy)
        return self.hidden[rule]

    def looked_at(self, policy: Policy) -> Table:
        """Return the policy as most methods read it."""
        return self._needed(self.whole_of(policy))

    def _needed(self, table: Table) -> Table:
        sensitive = {name: column for name, column in table.sensitive.items() if name in self.required}
        return replace(table, sensitive=sensitive)

    def policy_of(self, config: Configuration) -> Policy:
        """Return the policy of a configuration, with the parameters of the sweep."""
        return self.policy.asking({key: value for key, value in config.swept.items() if key in self.policy.parameters})

    def __call__(self, config: Configuration) -> Table:
        """Return the table of a configuration, or raise if the policy releases a column that its method cannot hide."""
        method = METHODS[config.method]
        if not method.leaves_quasi:
            return self.looked_at(self.policy_of(config))
        view = view_of(method, config.options, self.policy)
        key = view.also if method.perturbs else None
        if key not in self.others:
            assert self.whole is not None
            self.others[key] = encode(self.whole, view.policy, target=self.target, also=view.also)
        return self.others[key]


class _Asks:
    """The queries of each configuration, drawn from its publishable values."""

    def __init__(self, view: _TableView, wanted: int, seed: int) -> None:
        self.view, self.wanted, self.seed = view, wanted, seed
        self.drawn: dict[Rarity | None, list[Query]] = {}

    def of(self, policy: Policy) -> list[Query]:
        """Return the queries under a policy."""
        rule = rarity(policy)
        if rule not in self.drawn:
            self.drawn[rule] = draw_queries(self.view.whole_of(policy), self.wanted, self.seed)
        return self.drawn[rule]

    def __call__(self, config: Configuration) -> list[Query]:
        """Return the queries of a configuration."""
        return self.of(self.view.policy if METHODS[config.method].leaves_quasi else self.view.policy_of(config))


def _single(policy: Policy, schema: pa.Schema, name: str) -> bool:
    """Return whether a column holds single values that can be counted."""
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    several = pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return not several and policy.columns[name].kind != "items"
