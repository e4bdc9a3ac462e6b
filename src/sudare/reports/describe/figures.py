"""All figures of a report, from a release and its data.

What follows from the release alone is exact; what follows from the data is blurred (see
:mod:`sudare.reports.describe.disclosure_control`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sudare.core.progress import Listener, silent
from sudare.policy import ColumnSpec, Policy
from sudare.releases.certificate_parts import Guarantee
from sudare.releases.pairing import Pair, open_pair
from sudare.reports.content import scan
from sudare.reports.describe import class_sizes
from sudare.reports.describe.columns import Described
from sudare.reports.describe.disclosure_control import Crowd, threshold
from sudare.reports.describe.exposure import blurred_risk
from sudare.reports.describe.figure_types import ClassFigures, Contents, Figures, Records
from sudare.reports.describe.losses import published_losses
from sudare.reports.describe.relations import relations
from sudare.reports.describe.transformation_figures import TRANSFORMATION, steps_of
from sudare.sources.opened_source import Data
from sudare.sources.repeated_steps import REPEATED
from sudare.table import Column

SECRETIVE = ("values", "prior", "order", "tree", "matrices", "matrix", "never", "priors")
"""Keys under which a policy may name values of the data; a report says that they are there, and no more."""


def describe(
    release: Any,
    data: Data,
    policy: Policy,
    *,
    names: Mapping[str, str] | None = None,
    risk: Callable[[], Mapping[str, Any] | None] | None = None,
    progress: Listener | None = None,
) -> Figures:
    """Describe a release of some data under a policy, in the types that JSON has; raise if they do not belong together.

    ``names`` are the names of the release, the data and the policy. ``risk`` returns the ``to_dict`` of a risk report,
    if there is one; it is called last, when the release is known to be of this data.
    """
    listener = progress or silent
    pair = open_pair(release, data, policy, listener)
    crowd = Crowd(pair.rows, threshold(policy), pair.people)
    described = Described(pair, crowd, listener)
    listener("compare columns", 0, 0)
    single = {name: column for name, column in pair.columns.items() if isinstance(column, Column)}
    few = 0 < int(pair.certificate.suppressed) < crowd.least
    untouched = [
        column["name"]
        for column in described.plain
        if few
        and column["treatment"] == "untouched"
        and not pair.sampled
        and pair.ways.get(column["name"], REPEATED) == REPEATED
    ]
    found = relations(single, described.scales, described.shown, crowd, pair.released.num_rows, untouched)
    listener("count classes", 0, 0)
    alike, exposed, smallest = _alike(pair, crowd)
    certificate = pair.certificate
    measured = None if risk is None else risk()
    return {
        "names": dict(names or {}),
        "threshold": crowd.least,
        "people": pair.people is not None,
        "method": pair.method,
        "records": _records(pair, crowd),
        # the proofs of transformations stand where these are described, unless one failed
        "guarantees": [
            _guarantee(one) for one in certificate.guarantees if one.model != TRANSFORMATION or not one.holds
        ],
        "warnings": [one.to_dict() for one in certificate.warnings],
        "columns": described.plain,
        "contents": _contents(pair, crowd, listener),
        "transformations": steps_of(pair, crowd),
        "unmatched": list(pair.notes),
        "withheld": policy.named("identifier"),
        "relations": found,
        "classes": alike,
        "exposure": exposed,
        "smallest_class": smallest,
        "risk": None if measured is None else blurred_risk(measured, crowd),
        "policy": _policy(policy),
        "certificate": _certificate(pair, replace(crowd, rows=pair.rows_in)),
    }


def _records(pair: Pair, crowd: Crowd) -> Records:
    """Return the numbers of source, released and suppressed records; exact only if they reveal no small number."""
    lost = int(pair.certificate.suppressed)
    few = 0 < lost < crowd.least
    return {
        "released": int(pair.certificate.rows_out),
        "source": crowd.rounded(pair.rows) if few else pair.rows,
        "source_is_rounded": few,
        "sampled": (crowd.rounded(pair.rows_in) if few else pair.rows_in) if pair.sampled else None,
        "left_out": {"below": crowd.least} if few else {"about": lost},
        "left_out_share": replace(crowd, rows=pair.rows_in).share(lost),
        "masked": pair.policy.suppression.records == "masked" and lost > 0,
        "classes": pair.certificate.classes,
    }


def _contents(pair: Pair, crowd: Crowd, listener: Listener) -> Contents:
    """Return what the cells of the release hold, those of its second table, too."""
    opened, tables = pair.opened, [pair.released]
    others = [name for name in opened.columns if name not in pair.released.column_names]
    tables += [opened.load(others)] if others else []
    beside = opened.load_second() if opened.apart else None
    tables += [] if beside is None else [beside]
    specs = pair.policy.columns
    separators = {name: spec.separator for name, spec in specs.items() if spec.separator is not None}
    rounded = pair.touched and pair.policy.release.ranges == "safe"
    date = str(pair.certificate.date)[:4]
    year = int(date) if date.isdigit() else None
    return scan(tables, separators=separators, few=crowd.least, year=year, rounded=rounded, listener=listener)


def _alike(pair: Pair, crowd: Crowd) -> tuple[ClassFigures | None, Mapping[str, Any] | None, int | None]:
    """Return the sizes of classes, what they leave exposed, and the smallest class of the release."""
    names = class_sizes.class_columns(pair.policy)
    if not names:
        return None, None, None
    outside = [name for name in pair.policy.quasi if name not in names]
    own = class_sizes.grouped(class_sizes.before_keys({**pair.columns, **pair.raw}, names), pair.rows)
    sizes, people = class_sizes.sizes_of(own, pair.people)
    earlier = class_sizes.blurred_exposure(class_sizes.exposure(sizes, people), crowd)
    exposed: dict[str, Any] = {"before": earlier, "after": None}
    if not pair.touched:
        return {"columns": names, "outside": outside, "bins": class_sizes.histogram(sizes, None, crowd)}, exposed, None
    rows = pair.released.num_rows
    shown = class_sizes.grouped(class_sizes.after_keys(pair.released, names), rows)
    subject = pair.policy.subject
    numbers = None
    if subject is not None and subject in pair.released.column_names:
        _, numbers = np.unique(pair.released.column(subject).to_numpy(), return_inverse=True)
    shown_sizes, shown_people = class_sizes.sizes_of(shown, numbers)
    found = class_sizes.exposure(shown_sizes, shown_people)
    exposed["after"] = class_sizes.plain_exposure(found, rows)
    bins = class_sizes.histogram(sizes, shown_sizes, crowd)
    return {"columns": names, "outside": outside, "bins": bins}, exposed, int(found["smallest"])


def _guarantee(one: Guarantee) -> dict[str, Any]:
    told = {key: _discreet(key, value) for key, value in one.parameters.items()}
    steps = one.parameters.get("steps")
    if isinstance(steps, list):  # what each of them does stands in a section of its own
        told["steps"] = [name for step in steps if isinstance(step, Mapping) for name in step]
    return one.to_dict() | {"parameters": told}


def _discreet(key: str, value: Any) -> Any:
    """Return a setting without values of the data that it may name."""
    if key in SECRETIVE and isinstance(value, list | tuple | Mapping):
        return f"({len(value)} given)"
    if isinstance(value, Mapping):
        return {name: _discreet(str(name), part) for name, part in value.items()}
    return value


def _policy(policy: Policy) -> dict[str, Any]:
    """Return the policy as it may be shown: all of it but values of the data."""
    options = {
        key: value if isinstance(value, str | int | float | bool) or value is None else _columns_only(value, policy)
        for key, value in policy.method.options.items()
    }
    return {
        "columns": [{"name": name, **_spec(spec)} for name, spec in policy.columns.items()],
        "require": [
            {"model": spec.model, **{key: _discreet(key, value) for key, value in spec.parameters().items()}}
            for spec in policy.require
        ],
        "method": {"name": policy.method.name, **options},
        "suppression": policy.suppression.model_dump(),
        "release": policy.release.model_dump(),
        "sha256": policy.sha256,
    }


def _columns_only(value: Any, policy: Policy) -> Any:
    known = isinstance(value, list) and all(isinstance(each, str) and each in policy.columns for each in value)
    return value if known else "(given)"


def _spec(spec: ColumnSpec) -> dict[str, Any]:
    """Return what a policy says of a column: of its hierarchy the kind, of its order the length."""
    tree = spec.hierarchy
    levels = None
    if tree is not None:
        given = {key: getattr(tree, key) for key in ("prefix", "bands", "dates")}
        told = [
            f"{key} {', '.join(f'{part:g}' if isinstance(part, float) else str(part) for part in value)}"
            for key, value in given.items()
            if value
        ]
        named = f"built-in {tree.builtin}" if tree.builtin else "auto" if tree.auto else "flat"
        levels = told[0] if told else f"file {Path(tree.file).name}" if tree.file else "tree" if tree.tree else named
    return {
        "role": spec.role,
        "kind": spec.kind,
        "hierarchy": levels,
        "ordered": None if spec.order is None else len(spec.order),
        "steps": [step.name for step in spec.transform or ()],
    }


def _certificate(pair: Pair, crowd: Crowd) -> dict[str, Any]:
    """Return the certificate without values, and without counts below the threshold."""
    facts, records = pair.certificate, _records(pair, crowd)
    return {
        **published_losses(facts, crowd),
        "rounded": records["source_is_rounded"],
        "notes": [str(note) for note in facts.search.notes],
        "levels": dict(facts.search.levels),
        "hidden": {name: len(column.get("values") or ()) for name, column in facts.mechanism.columns.items()},
        "order": facts.order,
        "missing": facts.missing,
        "versions": dict(facts.versions),
        "seconds": round(sum(facts.seconds.values()), 2),
        "date": str(facts.date),
        "about": {str(key): str(text) for key, text in facts.about.items()},
        "source": str(facts.source.get("kind") or ""),
        "signature": None,
        "policy_sha256": facts.policy_sha256,
        "release_sha256": facts.release_sha256,
        "second_sha256": facts.mechanism.second_sha256,
    }
