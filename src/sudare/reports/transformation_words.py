"""Transformations in plain words: what each does to a column, and what its figures say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Told = Mapping[str, Any]
ROUNDED = {
    "nearest": "the nearest multiple",
    "up": "the next multiple above",
    "down": "the next multiple below",
    "random": "the multiple above or below, at random",
}
ELSE = {
    "error": "A value that the list lacks is an error.",
    "keep": "Other values are unchanged.",
    "null": "Other values become empty cells.",
}


def in_words(name: str, given: Told, figures: Told | None = None) -> str:
    """Return what a transformation does, with its parameters; no value of the data is in it."""
    figures = figures or {}
    match name:
        case "pseudonym":
            return _pseudonym(given)
        case "shift":
            days = given.get("days", 365)
            return f"All dates of a person move by one number of days, at most {days} forwards or backwards."
        case "top" | "bottom":
            return _limit(name, given, figures)
        case "round":
            how = ROUNDED.get(str(given.get("how", "nearest")), "a multiple")
            return f"Numbers are rounded to multiples of {_number(given.get('to'))}: {how}."
        case "truncate":
            if given.get("to") is not None:
                return f"Dates show their {given['to']}."
            return f"Texts show their first {_many(given.get('keep'), 'character')}."
        case "band":
            if given.get("width") is not None:
                return f"Numbers show the band that they are in, of width {_number(given['width'])}."
            return f"Numbers show the band that they are in, between {_listed(given.get('edges'))}."
        case "mask":
            return _mask(given)
        case "replace":
            return f"Values are replaced by a list. {ELSE.get(str(given.get('else', 'error')), '')}".rstrip()
        case "redact":
            return "Every cell is empty."
        case "noise":
            return _noise(given)
        case "swap":
            return f"Values change places with others, at most {_percent(given.get('within'))} of the ranks away."
        case "shuffle":
            within = given.get("within")
            where = f"records that agree on {_listed(within)}" if within else "the whole table"
            return f"Values change places at random, within {where}."
        case "sample":
            who = "person" if given.get("per") == "subject" else "record"
            return f"A random sample: each {who} was taken with a probability of {_percent(given.get('share'))}."
    return f"{name}."


def figures_in_words(figures: Told) -> str:
    """Return what the figures of a transformation say."""
    words: dict[str, Callable[[Any], str]] = {
        "error_variance": lambda value: f"variance of the error {_number(value)}",
        "factor_sd": lambda value: f"standard deviation of the factor {_number(value)}",
        "inflation": lambda value: f"all covariances grow by the factor {_number(value)}",
        "limit": lambda value: f"limit {_number(value)}",
        "share": lambda value: f"{_percent(value)} of the records are beyond it",
        "largest_move": lambda value: f"largest move {_percent(value)} of the ranks",
        "groups": lambda value: f"in {_many(value, 'group')}",
        "rounded": lambda value: "numbers stay whole" if value else "",
        "bounded": lambda value: "cut off at the bounds" if value else "",
    }
    told = [words[key](value) for key, value in figures.items() if key in words]
    return "; ".join(each for each in told if each)


def pseudonym_form(given: Told) -> str:
    """Return what pseudonyms look like, without showing one."""
    form = str(given.get("form", "hex"))
    length = given.get("length") or {"hex": 16, "base32": 13, "digits": 20}.get(form)
    letters = {
        "hex": "of 0 to 9 and a to f",
        "base32": "of a to z and 2 to 7",
        "digits": "of 0 to 9",
    }
    return f"{_many(length, 'character')} {letters.get(form, '')}".rstrip()


def _pseudonym(given: Told) -> str:
    space = f", in the space '{given['space']}'" if given.get("space") else ""
    return f"Each value becomes a pseudonym: {pseudonym_form(given)}, computed with a secret key{space}."


def _limit(name: str, given: Told, figures: Told) -> str:
    side, least = ("above", "largest") if name == "top" else ("below", "smallest")
    limit = given.get("at") if given.get("at") is not None else figures.get("limit")
    shown = given.get("shows")
    if limit is None:
        return f"The {least} {_percent(given.get('share'))} of the values show the limit that they are {side}."
    shows = _number(limit) if shown is None else f"“{shown}”" if isinstance(shown, str) else _number(shown)
    return f"Values {side} {_number(limit)} show {shows}."


def _mask(given: Told) -> str:
    kept = [
        f"the {side} {_number(given[key])}"
        for side, key in (("first", "keep_first"), ("last", "keep_last"))
        if given.get(key)
    ]
    but = f" but {' and '.join(kept)}" if kept else ""
    return f"All characters{but} show {given.get('with', '*')}."


def _noise(given: Told) -> str:
    kind = given.get("kind", "normal")
    if kind == "multiplicative":
        spread = _number(given.get("scale"))
        told = [f"Each number is multiplied by a random factor around 1, with a standard deviation of {spread}"]
    elif given.get("sd") is not None:
        told = [f"Random noise ({kind}) is added, with {_number(given['sd'])} of the column's standard deviation"]
    else:
        told = [f"Random noise ({kind}) is added, of scale {_number(given.get('scale'))}"]
    if given.get("correlated_with"):
        told.append(f"correlated with {_listed(given['correlated_with'])}")
    if given.get("bounds"):
        told.append(f"kept within {_listed(given['bounds'])}")
    if given.get("keep_total"):
        told.append("the total is kept")
    return f"{'; '.join(told)}."


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.10g}"


def _percent(share: Any) -> str:
    return f"{100 * share:.3g}%" if isinstance(share, int | float) else "a share"


def _many(count: Any, noun: str) -> str:
    return f"{_number(count)} {noun}{'' if count == 1 else 's'}"


def _listed(values: Any) -> str:
    if not isinstance(values, list | tuple):
        return str(values)
    texts = [_number(each) for each in values[:10]]
    more = f" and {len(values) - 10} more" if len(values) > 10 else ""
    if more or len(texts) < 2:
        return ", ".join(texts) + more
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
