"""What the transformations of a column leave, step by step: the form of its cells, and which steps it proves.

The last step that leaves a form decides what the file shows. Earlier ones count only where all later steps provably
keep what they did: a limit stays one if numbers are rounded, with the limit rounded, too; and values that change places
remain the same values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from sudare.audits.transformation_forms import (
    AnyOf,
    Anything,
    Bands,
    Beginnings,
    Empty,
    Form,
    Listed,
    Marker,
    Masked,
    Numbers,
    Others,
    Periods,
    Pseudonyms,
    decimal_of,
    multiple,
    rounded,
    same_value,
)
from sudare.core.errors import PolicyError, Problem
from sudare.core.input_limits import UnreadableError, content
from sudare.core.sizes import GIB
from sudare.policy import (
    BandSpec,
    BottomSpec,
    MaskSpec,
    NoiseSpec,
    PseudonymSpec,
    RedactSpec,
    ReplaceSpec,
    RoundSpec,
    ShuffleSpec,
    SwapSpec,
    TopSpec,
    Transformation,
    TruncateSpec,
)

HEADERS = ("from,to", "from;to")
"""The first line of a file of replacements."""
YEARS = Numbers(Decimal(1), Decimal(9999), Decimal(1))
ANYTHING = Anything()

Pairs = Mapping[str, str | None]
"""Replaced values, and what stands in place of each; None is an empty cell."""


@dataclass(frozen=True)
class Left:
    """The form that transformations leave, and for each of them whether the cells prove it."""

    form: Form
    proven: tuple[bool, ...]


def left_by(steps: Sequence[Transformation], limits: Mapping[int, Decimal], lists: Mapping[int, Pairs]) -> Left:
    """Return what steps leave.

    ``limits`` are those that a share of the records decided, and ``lists`` the lists of replacements, by step.
    """
    form: Form = ANYTHING
    proven: set[int] = set()
    for number, step in enumerate(steps):
        spec = step.step
        if isinstance(spec, SwapSpec | ShuffleSpec):
            continue
        before = form
        form = _after(step, form, limits.get(number), lists.get(number, {}))
        kept = {each for each in proven if _keeps(steps[each], step, before)}
        proven = kept | ({number} if not isinstance(form, Anything) else set())
    return Left(form, tuple(number in proven for number in range(len(steps))))


def aggregated(left: Left, steps: Sequence[Transformation]) -> Left:
    """Return what is left where numbers are means of several records: their bounds."""
    low, high = left.form.bounds()
    if not _is_of_numbers(left.form):
        return left
    form: Form = ANYTHING if low is None and high is None else Numbers(low, high)
    bounding = (TopSpec, BottomSpec, NoiseSpec)
    proven = (found and isinstance(step.step, bounding) for found, step in zip(left.proven, steps, strict=True))
    return Left(form, tuple(proven))


def _is_of_numbers(form: Form) -> bool:
    return isinstance(form, Numbers) or (isinstance(form, AnyOf) and all(map(_is_of_numbers, form.forms)))


def _keeps(earlier: Transformation, later: Transformation, form: Form) -> bool:
    """Return whether what an earlier step promises of a form still holds after a later one."""
    if isinstance(later.step, TopSpec | BottomSpec):
        return _is_of_numbers(form)
    bounding = isinstance(earlier.step, TopSpec | BottomSpec | NoiseSpec)
    return bounding and _is_of_numbers(form) and isinstance(later.step, RoundSpec | BandSpec)


def _after(step: Transformation, form: Form, limit: Decimal | None, pairs: Pairs) -> Form:
    """Return the form after a step."""
    spec = step.step
    if isinstance(spec, PseudonymSpec):
        return Pseudonyms(spec.form, spec.characters)
    if isinstance(spec, TopSpec | BottomSpec):
        return _limited(spec, form, limit)
    if isinstance(spec, RoundSpec):
        grid = decimal_of(spec.to)
        low, high = form.bounds()
        return Numbers(
            None if low is None else rounded(True, grid, spec.how)(low),
            None if high is None else rounded(False, grid, spec.how)(high),
            grid,
        )
    if isinstance(spec, TruncateSpec):
        if spec.keep is not None:
            return Beginnings(spec.keep)
        return YEARS if spec.to == "year" else Periods(str(spec.to))
    if isinstance(spec, BandSpec):
        width = None if spec.width is None else decimal_of(spec.width)
        return Bands(width, tuple(map(decimal_of, spec.edges or ())), *form.bounds())
    if isinstance(spec, MaskSpec):
        return Masked(spec.keep_first, spec.keep_last, spec.mark)
    if isinstance(spec, ReplaceSpec):
        return _replaced(spec, form, pairs)
    if isinstance(spec, RedactSpec):
        return Empty()
    if isinstance(spec, NoiseSpec) and spec.bounds is not None:
        return Numbers(*map(decimal_of, spec.bounds))
    return ANYTHING  # shifts, and noise without bounds


def _limited(spec: TopSpec | BottomSpec, form: Form, limit: Decimal | None) -> Form:
    """Return the form of numbers up to a limit, or from it on, and of what stands for all others."""
    at = limit if spec.at is None else decimal_of(spec.at)
    if at is None:
        return ANYTHING  # only the certificate has the limit
    top = isinstance(spec, TopSpec)
    parts = [
        clipped for each in _numbers(form) if (clipped := _clipped(each, None if top else at, at if top else None))
    ]
    if isinstance(spec.shows, str):
        return AnyOf((*parts, Marker(spec.shows)))
    shown = at if spec.shows is None else decimal_of(spec.shows)
    if any(part.accepts(str(shown)) for part in parts):
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))
    return AnyOf((*parts, Numbers(shown, shown)))


def _numbers(form: Form) -> list[Numbers]:
    """Return the parts of a form that are numbers; all numbers where it says nothing of them."""
    if isinstance(form, Numbers):
        return [form]
    found = [part for part in form.forms if isinstance(part, Numbers)] if isinstance(form, AnyOf) else []
    return found or [Numbers()]


def _clipped(form: Numbers, low: Decimal | None, high: Decimal | None) -> Numbers | None:
    """Return the numbers of a form within further bounds; None if there are none."""
    lows = [each for each in (form.low, low) if each is not None]
    highs = [each for each in (form.high, high) if each is not None]
    found = replace(form, low=max(lows, default=None), high=min(highs, default=None))
    if found.low is not None and found.high is not None and found.low > found.high:
        return None
    if found.grid is not None and found.low is not None and found.high is not None:
        return found if multiple(found.low, found.grid, up=True) <= found.high else None
    return found


def _replaced(spec: ReplaceSpec, form: Form, pairs: Pairs) -> Form:
    new = [value for value in pairs.values() if value]
    listed = Listed.of(new, "one of the new values of the list")
    if spec.other != "keep":
        return listed if new else Empty()
    kept = Others(form, frozenset(map(same_value, pairs)))
    return AnyOf((listed, kept)) if new else kept


def list_of(spec: ReplaceSpec, folder: Path, where: str) -> Pairs:
    """Return the list of replacements, from the policy or from its file; raise if it cannot be read."""
    if spec.file is None:
        return spec.values or {}
    try:
        text = content(folder / spec.file, GIB).decode("utf-8-sig")
        head, _, rest = text.partition("\n")
        if head.strip() not in HEADERS:
            raise ValueError
        lines = [
            line for line in csv.reader(io.StringIO(rest, newline=""), delimiter=head.strip()[4], strict=True) if line
        ]
        return {old: new or None for old, new in lines}
    except UnreadableError as error:
        raise PolicyError(Problem(where, f"its file of replacements {error.what}", error.hint)) from None
    except (csv.Error, ValueError):
        what = "its file of replacements is not UTF-8 text with the header from,to and two fields on each line."
        raise PolicyError(Problem(where, what)) from None
