"""What a certificate says about the errors of a column of numbers, and which figures can then be estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sudare.core.errors import DataError, Problem
from sudare.estimates.error_moments import Error, Multiplied, grid, noise, whole_noise
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_parts import TransformationEntry

ROUNDED = 1 / 12
"""What a published variance of noise has for rounding to whole numbers."""
DIGITS = 4
"""The digits of a published variance."""
_NEAR = 1e-9
"""The part of a number by which it may miss a multiple because of rounding."""
RANDOM = ("noise", "swap", "shuffle", "shift")
"""Transformations after which a cell is not about its own record, or is not its value."""
NO_NUMBERS: Mapping[str, str] = {
    "pseudonym": "shows pseudonyms. Their records can be counted: --of, or --by the pseudonyms.",
    "shift": "has shifted dates. Days between two dates of a person are exact, but no date is.",
    "truncate": "is cut to periods or first characters, which can be counted: --of.",
    "band": "shows bands. How many records are in each is known (--of), and what lies in a band is not.",
    "mask": "is masked. Its values can be counted as they are shown: --of.",
    "replace": "was recoded by a list. Its values can be counted: --of.",
    "redact": "is empty.",
}
"""Transformations after which there is no figure of numbers, and what there is."""


@dataclass(frozen=True)
class Grid:
    """Rounding to multiples, and the number of errors before it."""

    to: float
    how: str
    before: int

    @property
    def least(self) -> float:
        """How much smaller than its rounded value a number is at most."""
        return {"nearest": self.to / 2, "down": 0.0}.get(self.how, self.to)

    @property
    def most(self) -> float:
        """How much larger than its rounded value a number is at most."""
        return {"nearest": self.to / 2, "up": 0.0}.get(self.how, self.to)

    def multiples(self, number: float) -> set[float]:
        """Return the multiples that a number may become; two if it is nearly where they part."""
        place = number / self.to
        near = _NEAR * max(abs(place), 1.0)
        ways = {"nearest": [math.floor(place + 0.5 + each) for each in (-near, near)]}
        ways["down"] = [math.floor(place + each) for each in (-near, near)]
        ways["up"] = [math.ceil(place + each) for each in (-near, near)]
        return {each * self.to for each in ways.get(self.how, [*ways["down"], *ways["up"]])}


@dataclass(frozen=True)
class Coded:
    """Top coding, or bottom coding: values beyond ``at`` show something else.

    ``seen`` is all that they can be in the release after later steps, numbers or a text; it is None if noise hides
    them. ``before`` is the number of errors before the limit. ``noise`` says that it is where noise was cut off.
    """

    below: bool
    at: float
    shows: Any = None
    seen: frozenset[float | str] | None = frozenset()
    before: int = 0
    noise: bool = False

    def coded(self, values: Iterable[float | str]) -> frozenset[float | str]:
        """Return what this limit makes of values."""
        shown = self.at if self.shows is None else self.shows
        return frozenset(
            value if isinstance(value, str) or (value >= self.at if self.below else value <= self.at) else shown
            for value in values
        )

    def rounded(self, made: Grid) -> Coded:
        """Return the same limit where a grid followed."""
        if self.seen is None:
            return self
        found = {
            multiple for each in self.seen for multiple in ([each] if isinstance(each, str) else made.multiples(each))
        }
        return replace(self, seen=frozenset(found))


@dataclass(frozen=True)
class Published:
    """What is known about the errors of a column, from its certificate.

    ``kept`` is the part of the errors' variance that adds up to 0 over the whole column, ``drawn`` the variance of
    noise that is correlated with that of the columns in ``group``, ``growth`` by how much it makes covariances larger.
    ``first`` says whether nothing came before that noise. ``doubt`` is the standard deviation of what the published
    variance lost by rounding. ``moved`` says that cells changed places, and ``within`` in
    groups of which columns.
    """

    name: str
    errors: tuple[Error, ...] = ()
    grids: tuple[Grid, ...] = ()
    limits: tuple[Coded, ...] = ()
    kept: float = 0.0
    drawn: float = 0.0
    growth: float = 1.0
    group: frozenset[str] = frozenset()
    first: bool = True
    doubt: float = 0.0
    moved: Literal["", "swap", "shuffle"] = ""
    within: frozenset[str] | None = None

    @property
    def multiplied(self) -> bool:
        """Whether there is a random factor."""
        return any(isinstance(each, Multiplied) for each in self.errors)

    @property
    def random(self) -> bool:
        """Whether errors were drawn at random."""
        return len(self.errors) > len(self.grids) or any(each.how == "random" for each in self.grids)

    @property
    def shift(self) -> float:
        """By how much numbers are too large on average."""
        return sum(each.mean for each in self.errors)


def entries_of(certificate: Certificate, name: str | None) -> list[TransformationEntry]:
    """Return what was done to a column, in this order; None: to the table as a whole."""
    return [each for each in certificate.transformations or () if each.column == name]


def published(certificate: Certificate, name: str, where: str, *, whole: bool) -> Published:
    """Return what is known about the errors of a column, or raise if it shows no numbers.

    ``whole`` says that the column holds whole numbers by its type.
    """
    found = Published(name)
    for entry in entries_of(certificate, name):
        kind, given, figures = entry.transformation, entry.parameters, entry.figures
        if kind in NO_NUMBERS:
            raise DataError(Problem(where, f"column '{name}' {NO_NUMBERS[kind]}"))
        if kind in ("swap", "shuffle"):
            found = _moved(found, kind, given)
        elif kind in ("top", "bottom"):
            at = _number(name, given.get("at", figures.get("limit")))
            found = _limited(found, Coded(kind == "bottom", at, given.get("shows"), before=len(found.errors)))
        elif kind == "round":
            to, how = _number(name, given.get("to"), least=0.0), str(given.get("how", "nearest"))
            of_whole = bool(figures.get("whole", whole)) and to.is_integer()
            made = Grid(to, how, len(found.errors))
            found = replace(
                found,
                grids=(*found.grids, made),
                errors=(*found.errors, grid(to, how, whole=of_whole)),
                limits=tuple(each.rounded(made) for each in found.limits),
            )
        elif kind == "noise":
            found = _noisy(found, given, figures)
        else:
            what = f"column '{name}' has the transformation '{kind}', which this version does not know."
            raise DataError(Problem(where, what, "install the version of sudare that made the release."))
    return found


def _moved(found: Published, kind: Any, given: Mapping[str, Any]) -> Published:
    within = given.get("within") if kind == "shuffle" else None
    groups = frozenset(map(str, within)) if isinstance(within, list | tuple) else frozenset()
    if found.moved and found.within is not None:
        groups = groups & found.within
    return replace(found, moved=kind, within=groups)


def _limited(found: Published, limit: Coded) -> Published:
    """Return what is known once there is a limit; earlier ones may show less than it."""
    before = (each if each.seen is None else replace(each, seen=limit.coded(each.seen)) for each in found.limits)
    shown = limit.at if limit.shows is None else limit.shows
    own = limit.seen or frozenset({shown if isinstance(shown, str) else float(shown)})
    return replace(found, limits=(*before, replace(limit, seen=own)))


def _noisy(found: Published, given: Mapping[str, Any], figures: Mapping[str, Any]) -> Published:
    """Return what is known once noise was added, or multiplied."""
    name, rounded = found.name, bool(figures.get("rounded"))
    error: Error
    drawn = 0.0
    if given.get("kind") == "multiplicative":
        error = Multiplied(_number(name, figures.get("factor_sd", given.get("scale")), least=0.0))
        errors: tuple[Error, ...] = (error, grid(1.0, "nearest")) if rounded else (error,)
    else:
        kind: Literal["normal", "laplace"] = "laplace" if given.get("kind") == "laplace" else "normal"
        drawn = _variance(name, given, figures, kind, rounded)
        if given.get("scale") is None and drawn > 0:
            last = 10.0 ** (math.floor(math.log10(float(figures["error_variance"]))) - DIGITS + 1)
            found = replace(found, doubt=math.hypot(found.doubt, last / math.sqrt(12)))
        added = whole_noise(kind, drawn) if rounded else noise(kind, drawn)
        errors = (added,)
        if given.get("keep_total"):
            found = replace(found, kept=found.kept + added.variance)
    if given.get("correlated_with"):
        if found.group:
            raise DataError(Problem(f"certificate.transformations.{name}", "has correlated noise twice."))
        found = replace(
            found,
            drawn=drawn,
            growth=_number(name, figures.get("inflation"), least=1.0),
            group=frozenset({name, *map(str, given["correlated_with"])}),
            first=not found.errors,
        )
    hidden = tuple(replace(each, seen=None) for each in found.limits)
    found = replace(found, errors=(*found.errors, *errors), limits=hidden)
    bounds = given.get("bounds")
    if isinstance(bounds, list | tuple) and len(bounds) == 2:
        for below, value in ((True, _number(name, bounds[0])), (False, _number(name, bounds[1]))):
            # whole numbers are cut off at the last ones within the bounds
            last = (math.ceil if below else math.floor)(value)
            seen = frozenset({value, float(last)} if rounded else {value})
            found = _limited(found, Coded(below, value, seen=seen, before=len(found.errors), noise=True))
    return found


def _variance(name: str, given: Mapping[str, Any], figures: Mapping[str, Any], kind: str, rounded: bool) -> float:
    """Return the variance of noise before it was rounded; from its scale, where that says it in all digits."""
    if given.get("scale") is not None:
        scale = _number(name, given["scale"], least=0.0)
        return 2 * scale**2 if kind == "laplace" else scale**2
    found = _number(name, figures.get("error_variance"), least=0.0)
    return max(found - ROUNDED, 0.0) if rounded else found


def _number(name: str, value: Any, *, least: float = -math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < least:
        what = "does not contain the figures that an estimate needs."
        raise DataError(Problem(f"certificate.transformations.{name}", what, "is the certificate complete?"))
    return float(value)
