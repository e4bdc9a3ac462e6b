"""What a certificate says about the errors of a column of numbers, and which figures can then be estimated."""

from __future__ import annotations

import math
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Coded:
    """Top coding, or bottom coding: values beyond ``at`` show something else."""

    below: bool
    at: float
    shows: Any


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
    bounds: tuple[float, float] | None = None
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
            found = replace(found, limits=(*found.limits, Coded(kind == "bottom", at, given.get("shows"))))
        elif kind == "round":
            to, how = _number(name, given.get("to"), least=0.0), str(given.get("how", "nearest"))
            of_whole = bool(figures.get("whole", whole)) and to.is_integer()
            made = Grid(to, how, len(found.errors))
            found = replace(found, grids=(*found.grids, made), errors=(*found.errors, grid(to, how, whole=of_whole)))
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
    bounds = given.get("bounds")
    if isinstance(bounds, list | tuple) and len(bounds) == 2:
        found = replace(found, bounds=(_number(name, bounds[0]), _number(name, bounds[1])))
    return replace(found, errors=(*found.errors, *errors))


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
