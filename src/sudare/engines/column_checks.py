"""Checks of a table's columns: each has a name of its own, and those that the policy names are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sudare.core.errors import DataError, Problem, did_you_mean

_NO_NAMES = "does the first line name the columns?"


def check_names(place: str, names: Sequence[str], *, headed: bool = True) -> None:
    """Raise if two columns have one name. It is shown if the names surely are no first record (``headed``)."""
    places: dict[str, list[str]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(number))
    repeated = {name: " and ".join(numbers) for name, numbers in places.items() if len(numbers) > 1}
    if repeated:
        hint = "give each column a different name, in the first line"
        hint += "." if headed else ", if that is a line of names; if it is a record, put a line with names above it."
        problems = [
            Problem(place, f"columns {numbers} have the same name{f', {name!r}' if headed and name else ''}.", hint)
            for name, numbers in repeated.items()
        ]
        if len(repeated) > 1 and not headed:
            what = f"{len(repeated)} names occur more than once: the first line may be a record, not names."
            problems.insert(0, Problem(place, what, "put a line with the names of the columns above it."))
        raise DataError(problems)


def check_columns(place: str, wanted: Iterable[str], names: Sequence[str], *, headed: bool = True) -> None:
    """Raise if the policy names columns that the table does not have.

    The names of the table are shown only if the policy knows some of them, and if they surely are names: without a
    header they are the cells of the first record.
    """
    absent = [name for name in wanted if name not in names]
    if not absent:
        return
    if not {_simple(name) for name in wanted} & {_simple(name) for name in names}:
        raise DataError(
            Problem(
                place,
                f"the policy names none of its {len(names)} columns.",
                "the first line must name the columns; also check the delimiter (source: {delimiter: ...}).",
            )
        )
    raise DataError(
        [
            Problem(
                place,
                f"there is no column '{name}', which the policy names.",
                (did_you_mean(name, names) or f"its columns: {', '.join(names[:40])}.") if headed else _NO_NAMES,
            )
            for name in absent
        ]
    )


def _simple(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
