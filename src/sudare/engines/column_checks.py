"""Checks of a table's columns: each has a name of its own, and those that the policy names are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sudare.core.errors import DataError, Problem, did_you_mean


def check_names(place: str, names: Sequence[str]) -> None:
    """Raise if two columns have one name; it is not shown, for without a header it is a cell of the first record."""
    places: dict[str, list[str]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(number))
    repeated = [" and ".join(numbers) for numbers in places.values() if len(numbers) > 1]
    if repeated:
        hint = "give each column a different name, in the first line."
        raise DataError([Problem(place, f"columns {numbers} have the same name.", hint) for numbers in repeated])


def check_columns(place: str, wanted: Iterable[str], names: Sequence[str]) -> None:
    """Raise if the policy names columns that the table does not have.

    The names of the table are shown only if the policy knows some of them: without a header they are the cells of
    the first record.
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
                did_you_mean(name, names) or f"its columns: {', '.join(names[:40])}.",
            )
            for name in absent
        ]
    )


def _simple(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
