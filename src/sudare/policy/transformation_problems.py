"""What can be wrong with the transformations of a policy that is well formed in itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sudare.core.errors import Problem, did_you_mean
from sudare.policy.transformation_spec import (
    BottomSpec,
    NoiseSpec,
    ReplaceSpec,
    RoundSpec,
    ShiftSpec,
    ShuffleSpec,
    TopSpec,
    Transformation,
    TruncateSpec,
)

if TYPE_CHECKING:
    from sudare.policy.policy import Policy
    from sudare.policy.vocabulary import ColumnSpec

OF_NUMBERS = ("top", "bottom", "round", "band", "noise")
"""What works with numbers alone."""
OF_TEXTS = ("mask",)
"""What works with texts alone; so does truncate with keep."""
OF_ITEMS = ("pseudonym", "replace", "truncate", "redact")
"""What works with the items of a set, one by one."""
UNTRUE = ("noise", "swap", "shuffle", "shift", "redact")
"""After these a cell is not what the record holds, so no promise about sensitive values can be counted on them."""


def transformation_problems(policy: Policy) -> list[Problem]:
    """Return what is wrong with the transformations and the sample of a policy."""
    problems = [
        found
        for name, spec in policy.columns.items()
        if spec.transform is not None
        for found in _of_column(policy, name, spec, spec.transform)
    ]
    if policy.sample is not None and policy.sample.per == "subject" and policy.subject is None:
        what = "a sample of people needs a column with role: subject."
        problems.append(Problem("sample.per", what, "mark the column that says whom a record is about."))
    subject = policy.subject
    if subject is not None and policy.columns[subject].transform and policy.release.subjects != "per-class":
        what = "has no effect: the subject column shows pseudonyms."
        problems.append(Problem("release.subjects", what, "remove it."))
    return problems


def empty_problems(data: object) -> list[Problem]:
    """Return where a file says ``transform:`` and nothing else: somebody forgot what was to be done.

    In Python nothing is the same as None, which a policy without transformations has.
    """
    columns = data.get("columns") if isinstance(data, Mapping) else None
    what, hint = (
        "is empty, so the column would be released as it is.",
        "say what is to be done to it, or remove the key.",
    )
    return [
        Problem(f"columns.{name}.transform", what, hint)
        for name, spec in (columns.items() if isinstance(columns, Mapping) else ())
        if isinstance(spec, Mapping) and "transform" in spec and spec["transform"] is None
    ]


def _of_column(policy: Policy, name: str, spec: ColumnSpec, steps: list[Transformation]) -> Iterator[Problem]:
    where = f"columns.{name}.transform"
    names = [step.name for step in steps]
    if spec.role == "identifier" and "pseudonym" not in names:
        what = f"{names[0]} has no effect: an identifier is not released, except as a pseudonym."
        yield Problem(where, what, "remove it, or add pseudonym to the list.")
    if spec.role == "subject" and names != ["pseudonym"]:
        what = "a subject is released as a pseudonym or as a number; nothing else can be done to it."
        yield Problem(where, what, "use pseudonym alone.")
    promised = any(getattr(each, "column", None) == name for each in policy.require)
    if spec.role == "sensitive" and promised:
        yield from _untrue(where, steps)
    yield from _order(where, spec, steps)
    yield from _limits(where, steps)
    for number, step in enumerate(steps):
        yield from _named(policy, f"{where}.{number}.{step.name}", name, step)


def _untrue(where: str, steps: list[Transformation]) -> Iterator[Problem]:
    """Yield why a promise about a sensitive column cannot be counted on what is released of it."""
    for number, step in enumerate(steps):
        random = isinstance(step.step, RoundSpec) and step.step.how == "random"
        if step.name in UNTRUE or random:
            how = "round with how: random" if random else step.name
            what = f"a promise is about this column, but after {how} cells do not show what records hold."
            yield Problem(f"{where}.{number}", what, "remove the promise, or coarsen the values: top, round or band.")


def _order(where: str, spec: ColumnSpec, steps: list[Transformation]) -> Iterator[Problem]:
    """Yield which steps cannot work on what the steps before them give, or on the kind of the column."""
    kind = {"items": "item sets", "categorical": "categories"}.get(spec.kind or "")  # numeric may be dates, too
    if spec.order is not None:
        kind = "categories"
    given, by = (kind, "the policy says so") if kind else (None, "")
    for number, step in enumerate(steps):
        at, name = f"{where}.{number}.{step.name}", step.name
        if by == "after redact":
            yield Problem(at, "has no effect: redact leaves empty cells.", "remove one of them.")
            return
        if spec.kind == "items":
            fits = name in OF_ITEMS and not (isinstance(step.step, TruncateSpec) and step.step.to is not None)
            if not fits:
                what = f"{name} works with single values, and the column holds item sets."
                yield Problem(at, what, "use pseudonym, replace, truncate with keep, or redact.")
                return
        elif given in ("categories", "texts") and (name in OF_NUMBERS or name == "shift" or _of_dates(step)):
            wanted = "numbers" if name in OF_NUMBERS else "dates"
            yield Problem(
                at, f"{name} works with {wanted}; here are {given} ({by}).", "change the order, or remove it."
            )
            return
        elif given in ("categories", "texts") and name == "swap" and spec.order is None:
            yield Problem(
                at, f"swap ranks values; here are {given} ({by}).", "give the column an order, or use shuffle."
            )
            return
        elif given == "numbers" and (name in (*OF_TEXTS, "shift") or isinstance(step.step, TruncateSpec)):
            hint = "use top, round or band for numbers; set kind: categorical for codes."
            yield Problem(at, f"{name} does not work with numbers; here are numbers ({by}).", hint)
            return
        result = result_of(step)
        if result is not None:
            given, by = result, f"after {name}"
    if spec.kind == "numeric" and steps[0].name in OF_TEXTS:
        yield Problem(
            where, f"{steps[0].name} does not work with numbers, and the column is kind: numeric.", "use top or round."
        )
    if spec.kind == "numeric" and given not in ("numbers", None):
        what = f"the column is kind: numeric, but {steps[-1].name} makes {given} of it."
        hint = "remove kind, or let shows be a number." if steps[-1].name in ("top", "bottom") else "remove kind."
        yield Problem(where, what, hint)


def _limits(where: str, steps: list[Transformation]) -> Iterator[Problem]:
    """Yield that an upper limit is not above the lower one, so that all cells would show the same."""
    highest = [step.top.at for step in steps if step.top is not None and step.top.at is not None]
    lowest = [step.bottom.at for step in steps if step.bottom is not None and step.bottom.at is not None]
    if highest and lowest and min(highest) <= max(lowest):
        what = "the limit of top is not above that of bottom, so that all cells would show the same."
        yield Problem(where, what, "exchange the two limits.")


def _of_dates(step: Transformation) -> bool:
    return isinstance(step.step, TruncateSpec) and step.step.to is not None


def result_of(step: Transformation) -> str | None:
    """Return what cells are after a step, if the step decides that."""
    spec = step.step
    if isinstance(spec, TopSpec | BottomSpec) and isinstance(spec.shows, str):
        return "texts"
    if isinstance(spec, TruncateSpec):
        return "numbers" if spec.to == "year" else "texts"
    if isinstance(spec, ReplaceSpec):
        return None if spec.other == "keep" else "texts"
    known = {"pseudonym": "texts", "band": "texts", "mask": "texts", "redact": "empty cells"}
    if step.name in known:
        return known[step.name]
    return "numbers" if step.name in OF_NUMBERS else None


def _named(policy: Policy, where: str, name: str, step: Transformation) -> Iterator[Problem]:
    """Yield what is wrong with the columns that a step names."""
    spec = step.step
    named: list[tuple[str, str]] = []
    if isinstance(spec, ShiftSpec):
        if spec.per is None and policy.subject is None:
            what = "all dates of a person move together, but nothing says whom a record is about."
            yield Problem(where, what, "add per: COLUMN, or mark a column with role: subject.")
        elif spec.per == name:
            yield Problem(f"{where}.per", "names the shifted column itself.", "name the column of people.")
        named = [("per", spec.per)] if spec.per is not None else []
    if isinstance(spec, ShuffleSpec):
        named = [("within", each) for each in spec.within or ()]
        if name in (spec.within or ()):
            yield Problem(f"{where}.within", "names the shuffled column itself.", "remove it from the list.")
    if isinstance(spec, NoiseSpec):
        named = [("correlated_with", each) for each in spec.correlated_with or ()]
        yield from _uncorrelated(policy, where, name, spec)
    for key, each in named:
        if each not in policy.columns:
            what = f"'{each}' is not a column of this policy."
            yield Problem(f"{where}.{key}", what, did_you_mean(each, policy.columns))
        elif policy.columns[each].kind == "items":
            yield Problem(f"{where}.{key}", f"'{each}' holds item sets.", "name a column of single values.")


def _uncorrelated(policy: Policy, where: str, name: str, spec: NoiseSpec) -> Iterator[Problem]:
    """Yield which columns cannot share correlated noise: all of them list each other, with the same sd."""
    for each in spec.correlated_with or ():
        if each == name:
            yield Problem(f"{where}.correlated_with", "names the column itself.", "remove it from the list.")
        elif each in policy.columns:
            steps = [step.step for step in policy.columns[each].transform or ()]
            theirs = next((step for step in steps if isinstance(step, NoiseSpec)), None)
            others = {*(spec.correlated_with or ()), name} - {each}
            if theirs is None or set(theirs.correlated_with or ()) != others or theirs.sd != spec.sd:
                what = f"'{each}' needs noise with the same sd, correlated_with the same columns."
                yield Problem(f"{where}.correlated_with", what, "write it at each of these columns.")
