"""The registry of methods.

A method is a function ``(table, requirements, *, its options, seed=None, progress=None) -> Recoding``. It only
decides: it knows nothing of files, rendering or reports. ``METHODS`` names them all; the modules load when used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from sudare.core.errors import Problem, did_you_mean
from sudare.methods.option_effects import Beside, check_sets, idle_options
from sudare.methods.options import (
    ByColumn,
    ColumnGroups,
    ColumnName,
    ColumnNames,
    Combinations,
    Either,
    Flag,
    ItemWeights,
    Option,
    Positive,
    Seconds,
    Share,
    Transitions,
    Weight,
    Whole,
    Words,
)
from sudare.table import Recoding

OF_MECHANISMS = ("pk-anonymity", "alpha-gamma")
"""The models that no classes of records keep, but only the mechanism by which values are drawn."""
OF_RELEASES = ("uniqueness",)
"""The models that no method uses: the audit decides on the written release."""
BLIND_TO = ("k-anonymity", "l-diversity", "alpha-k-anonymity", "km-anonymity")
"""The models that classes can keep regardless of who has which sensitive value (see
:mod:`sudare.methods.topdown.blind_splits`)."""


RecodingKind = Literal["classes", "sets", "apart", "drawn"]
"""What a method does to records.

- ``classes``: quasi-identifiers are generalized, so that records form classes
- ``sets``: a sensitive value is hidden in a set of values
- ``apart``: sensitive values are in a second table, by groups of records
- ``drawn``: values are drawn at random
"""


@dataclass(frozen=True)
class Method:
    """An entry of the registry: where the function is, what its options may be, and whether it knows item sets.

    ``recoding`` is what it does to records. ``needs`` is a model that the policy must require. ``recodes_globally``
    says that each value shows the same everywhere, so that the decision can be saved as a plan. ``makes`` are the
    models that it can keep, by default all except those of a mechanism. ``heeds`` is what else it uses: of
    quasi-identifiers their kind, hierarchy, order and weight; the limit of suppression; and how sets of sensitive
    values are separated.

    ``sensitive_sets`` says that it can keep promises about sensitive item sets. ``aggregates`` says that columns may
    show one value for a group, as numbers show their mean.

    ``distributed_function`` decides the same where rows are on many machines, with its module. ``one_machine`` says why
    the method cannot run on several machines, and ``instead`` is the method to use there.
    """

    name: str
    summary: str
    module: str
    function: str
    options: Mapping[str, Option] = field(default_factory=dict)
    item_sets: bool = False
    sensitive_sets: bool = True
    aggregates: bool = False
    needs: str | None = None
    recodes_globally: bool = False
    recoding: RecodingKind = "classes"
    makes: tuple[str, ...] | None = None
    heeds: tuple[str, ...] = ("kind", "hierarchy", "weight")
    distributed_function: tuple[str, str] | None = None
    one_machine: str = ""
    instead: str = "top-down"

    @property
    def leaves_quasi(self) -> bool:
        """Whether quasi-identifiers are unchanged and sensitive values are hidden, or values are drawn at random."""
        return self.recoding != "classes"

    @property
    def perturbs(self) -> bool:
        """Whether it draws values at random, both quasi-identifiers and sensitive ones."""
        return self.recoding == "drawn"

    @property
    def second_table(self) -> bool:
        """Whether a release has a second table."""
        return self.recoding == "apart"

    @property
    def distributed(self) -> Literal["parts", "atoms", "cells"] | None:
        """What is done where rows are on many machines; None if the method needs all of them on one.

        ``parts`` of the table are solved there, ``cells`` are drawn there, or ``atoms`` are counted there and one
        machine decides.
        """
        if self.one_machine:
            return None
        if self.distributed_function is not None:
            return "parts"
        return "cells" if self.leaves_quasi else "atoms"

    def load(self) -> Callable[..., Recoding]:
        """Return the function itself."""
        found: Callable[..., Recoding] = _function(self.module, self.function)
        return found

    def load_distributed(self) -> Callable[..., Any]:
        """Return the function that plans how parts of a table are solved on many machines."""
        assert self.distributed_function is not None  # callers look at ``distributed`` first
        return _function(*self.distributed_function)

    def problems(self, options: Mapping[str, Any]) -> list[Problem]:
        """Return what is wrong with the values of given options (their names were checked with the policy)."""
        problems = []
        for key, value in options.items():
            allowed = self.options.get(key)
            if allowed is None or _fits(value, allowed):
                continue
            words = allowed if isinstance(allowed, tuple) else ()
            what = f"got {value!r}. Allowed: {', '.join(map(str, words)) or allowed}."
            near = did_you_mean(str(value), [word for word in words if isinstance(word, str)])
            problems.append(Problem(f"method.{key}", what, near))
        return problems or _beside_blind(options)

    def lacking(
        self, options: Mapping[str, Any], models: Collection[object], roles: Mapping[str, Any]
    ) -> list[Problem]:
        """Return what this method misses in a policy: a model that it needs, a column that an option has to name."""
        of_classes = {str(model) for model in models} - set(OF_RELEASES)
        problems = self._unable(of_classes)
        if options.get("sensitive") == "blind" and (others := sorted(of_classes - set(BLIND_TO))):
            what = f"blind cannot keep {' and '.join(others)}."
            problems.append(Problem("method.sensitive", what, f"require {', '.join(BLIND_TO)} only, or remove it."))
        if self.needs is not None and self.needs not in models and (self.makes is not None or not problems):
            what = f"{self.name} needs a requirement of the model {self.needs}, but there is none."
            hint = "add it, or use full-domain, which accepts every requirement."
            problems.append(Problem("method.name", what, hint))
        for key, several in self.options.items():
            value = options.get(key)
            if isinstance(several, ByColumn | Either | ColumnNames | ColumnGroups | Combinations) and value in several:
                for column in dict.fromkeys(several.named(value)):
                    problems += self._wrong_column(key, column, several, roles)
        for key, allowed in self.options.items():
            if not isinstance(allowed, ColumnName) or not isinstance(options.get(key, ""), str):
                continue
            name = options.get(key)
            if name is None:
                problems.append(Problem(f"method.{key}", f"{self.name} needs {allowed} here."))
            else:
                problems += self._wrong_column(key, name, allowed, roles)
        return problems

    def problems_of_sets(self, options: Mapping[str, Any], sets: Sequence[str]) -> list[Problem]:
        """Return why promises about these sensitive item sets cannot be kept."""
        if not sets:
            return []
        named = ", ".join(f"'{name}'" for name in sets)
        if not self.sensitive_sets:
            what = f"{self.name} works with single sensitive values; {named} holds item sets."
            return [Problem("method.name", what, "use top-down, or remove the column.")]
        if options.get("target") in sets:
            what = f"'{options['target']}' holds item sets; classifiers predict a single value."
            return [Problem("method.target", what, "name another column.")]
        if options.get("sensitive") == "blind":
            what = f"blind works with single sensitive values; {named} holds item sets."
            return [Problem("method.sensitive", what, "remove it, or the column.")]
        return []

    def idle(
        self,
        options: Mapping[str, Any],
        columns: Mapping[str, Mapping[str, Any]],
        promises: Sequence[Mapping[str, Any]],
        free: Collection[str],
    ) -> list[Problem]:
        """Return the options that have no effect in a policy; ``free`` are the item sets that no class is by."""
        return list(idle_options(self.name, Beside(options, columns, promises, free)))

    def check_table(self, options: Mapping[str, Any], with_sets: bool) -> None:
        """Raise if options have no effect on a table; ``with_sets`` says that item sets take part in its classes."""
        if self.item_sets:
            check_sets(options, with_sets)

    def _unable(self, models: Collection[str]) -> list[Problem]:
        """Return that this method cannot keep some models, in one problem."""
        if self.makes is None:
            if not (others := [model for model in OF_MECHANISMS if model in models]):
                return []
            what = f"{self.name} draws no values, and cannot keep {' and '.join(others)}."
            return [Problem("method.name", what, "use pram, and require nothing else.")]
        others = sorted(set(models) - set(self.makes))
        if self.perturbs:
            what = f"{self.name} draws values at random, and cannot keep {', '.join(others)}."
            if not others and not set(models) & set(self.makes):
                what = f"{self.name} needs a requirement of {' or '.join(self.makes)}, but there is none."
            hint = "use top-down for these, or require pk-anonymity or alpha-gamma alone."
            return [Problem("method.name", what, hint)] if others or not models else []
        what = f"{self.name} keeps quasi-identifiers unchanged, and cannot keep {', '.join(others)}."
        hint = "use top-down or l-clustering, or require l-diversity alone."
        return [Problem("method.name", what, hint)] if others else []

    def _wrong_column(self, key: str, name: str, allowed: Any, roles: Mapping[str, Any]) -> list[Problem]:
        """Return that an option names a column that is not there, or has another role than it needs."""
        if name not in roles:
            what = f"'{name}' is not a column of this policy."
            return [Problem(f"method.{key}", what, did_you_mean(name, map(str, roles)))]
        if roles[name] not in allowed.roles:
            needed = allowed if isinstance(allowed, ColumnName) else f"role {' or '.join(allowed.roles)}"
            return [Problem(f"method.{key}", f"'{name}' has role: {roles[name]}; this needs {needed}.")]
        return []

    def columns(self, options: Mapping[str, Any]) -> list[str]:
        """Return the columns that options name."""
        return [options[key] for key, allowed in self.options.items() if isinstance(allowed, ColumnName)]


def method_of(name: str) -> Method:
    """Return the entry of a method; a name that is not registered, which a file may have, stands for one of classes."""
    return METHODS[name] if name in METHODS else Method(name, "", "", "")


def _function(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"sudare.methods.{module}"), name)
    return found


def _beside_blind(options: Mapping[str, Any]) -> list[Problem]:
    """Return which options do not go with deciding blindly, or only with that."""
    if options.get("sensitive") != "blind":
        what, hint = "has an effect only with sensitive: blind.", "add sensitive: blind, or remove this option."
        return [Problem("method.slack", what, hint)] if "slack" in options else []
    unable = {"polish": (True, "moves records by the content of classes"), "order": ("global", "compares all clusters")}
    return [
        Problem(f"method.{key}", f"{why}, which sensitive: blind does not do.", "remove one of them.")
        for key, (value, why) in unable.items()
        if options.get(key) == value
    ]


def _fits(value: object, allowed: Option) -> bool:
    """Return whether an option may have a value; of words and numbers that are listed, true is not 1, nor is 1.0."""
    if isinstance(allowed, tuple):
        return any(type(value) is type(word) and value == word for word in allowed)
    return value in allowed


_LEVELS: Mapping[str, Any] = {
    "module": "lattice.full_domain",
    "function": "full_domain",
    "options": {
        "loss": ("arx", "gcp", "discernibility", "class-size", "entropy", "precision"),
        "time_limit": Seconds(),
    },
    "item_sets": True,
    "recodes_globally": True,
    "heeds": ("kind", "hierarchy", "weight", "suppression"),
}

_DISTRIBUTED = "topdown.distributed.distributed_frame"
_DRAWN = ("quasi", "sensitive")
_BLIND: Mapping[str, Option] = {"sensitive": ("seen", "blind"), "slack": Share()}

METHODS: dict[str, Method] = {
    "top-down": Method(
        "top-down",
        "each cluster makes the split that leaves the least loss",
        "topdown.top_down",
        "top_down",
        {
            "split": ("least-loss", "widest"),
            "order": ("per-cluster", "global"),
            "objective": ("loss", "items"),
            "items": ("rank-choose-split", "one-by-one"),
            "remainder": ("join", "close"),
            "beta": Share(),
            "rank": Either((Words(("frequency", "information")), ByColumn(("quasi",), ItemWeights()))),
            "polish": Flag(),
            **_BLIND,
        },
        item_sets=True,
        heeds=("kind", "hierarchy", "weight", "suppression"),
        distributed_function=(_DISTRIBUTED, "spread_top_down"),
    ),
    "mondrian": Method(
        "mondrian",
        "each cluster is cut at the median of its widest attribute",
        "topdown.mondrian",
        "mondrian",
        {"polish": Flag(), **_BLIND},
        heeds=("kind", "hierarchy", "weight", "order"),
        distributed_function=(_DISTRIBUTED, "spread_mondrian"),
    ),
    "l-clustering": Method(
        "l-clustering",
        "records that are near each other become a class, the cheapest classes first",
        "clustering.l_clustering",
        "l_clustering",
        {"variant": ("fast", "reference"), "weights": ("domain", 1), "loss": ("gcp", "arx")},
        item_sets=True,
        heeds=("kind", "hierarchy", "weight", "order"),
        one_machine="it compares all records with each other.",
    ),
    "microaggregation": Method(
        "microaggregation",
        "numbers of near records are replaced by their mean, or another value, and stay numbers",
        "microaggregation.microaggregation",
        "microaggregation",
        {
            "k": Whole(2, 10**9),
            "representative": ("mean", "median", "mode", "medoid"),
            "columns": ColumnNames(("quasi",)),
        },
        item_sets=True,
        aggregates=True,
        heeds=("kind", "hierarchy", "weight", "order"),
        one_machine="it compares all records with each other.",
    ),
    "three-phase": Method(
        "three-phase",
        "groups of equal records stay unchanged, and as few records as possible leave them",
        "clustering.three_phase",
        "three_phase",
        {"residue": ("split", "one")},
        sensitive_sets=False,
        needs="l-diversity",
        one_machine="it moves records between groups of the whole table.",
    ),
    "dummies": Method(
        "dummies",
        "sensitive values are hidden among others drawn at random; all else is unchanged",
        "hiding.dummies",
        "dummies",
        {"frequencies": ("uniform", "observed"), "missing": ("value", "error")},
        sensitive_sets=False,
        needs="l-diversity",
        recoding="sets",
        makes=("l-diversity",),
        heeds=("sets",),
    ),
    "anatomy": Method(
        "anatomy",
        "sensitive values are in a separate table, by groups of records; all else is unchanged",
        "hiding.anatomy",
        "anatomy",
        sensitive_sets=False,
        needs="l-diversity",
        recoding="apart",
        makes=("l-diversity",),
        heeds=(),
        one_machine="it distributes the records of the whole table to groups.",
        instead="dummies",
    ),
    "pram": Method(
        "pram",
        "every value is kept with a probability and otherwise drawn at random; promises are about the mechanism",
        "pram.perturbation",
        "pram",
        {
            "p": Either((Words(("calibrated", "per-column")), Weight(), ByColumn(_DRAWN, Weight()))),
            "weights": ByColumn(_DRAWN, Positive()),
            "kind": ("uniform", "invariant"),
            "matrices": ByColumn(_DRAWN, Transitions()),
            "strata": ColumnNames(("quasi", "insensitive")),
            "never": Combinations(("quasi", "sensitive", "insensitive")),
            "joint": ColumnGroups(_DRAWN),
        },
        sensitive_sets=False,
        recoding="drawn",
        makes=OF_MECHANISMS,
        heeds=("kind",),
    ),
    "tds": Method(
        "tds",
        "the values that best predict a class are shown first, the same everywhere",
        "tds.top_down_specialization",
        "tds",
        {
            "target": ColumnName(("sensitive", "insensitive")),
            "score": ("table-info", "info-gain", "gain-ratio", "anony-loss"),
            "w": Weight(),
            "stop": ("end", "least"),
            "search": ("greedy", "beam"),
            "width": Whole(2, 64),
        },
        heeds=("kind", "hierarchy"),
    ),
    "full-domain": Method("full-domain", "one level of its hierarchy for each column, with the least loss", **_LEVELS),
    "incognito": Method("incognito", "full-domain generalization under k-anonymity", needs="k-anonymity", **_LEVELS),
    "l-incognito": Method(
        "l-incognito", "full-domain generalization under l-diversity", needs="l-diversity", **_LEVELS
    ),
}
