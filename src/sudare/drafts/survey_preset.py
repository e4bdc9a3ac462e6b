"""The preset for surveys of people and households: extreme amounts, exact ages and exact weights are coarsened."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError
from sudare.core.missing_words import MISSING_WORDS
from sudare.drafts.column_name_matches import read_name, split_words
from sudare.drafts.facts import Facts
from sudare.drafts.guesses import FEW_VALUES, Guess
from sudare.drafts.preset_columns import is_of_ages, is_of_births, pointed
from sudare.drafts.proposals import Proposals
from sudare.hierarchies.value_kinds import is_number
from sudare.table.encode import numbers

SURVEY = """\
Preset survey: the largest and smallest 0.5% of amounts are coded at a limit, amounts are rounded, ages become bands
of five years and more, and weights are kept, but rounded. Regions are hidden digit by digit, or become sets."""

_SHARE = 0.005
_WEIGHTS = frozenset("""
    fnlwgt wgt wgts wt wts pwgt pwgtp wgtp perwt hhwt asecwt finalwgt fwgt finalweight sampleweight samplingweight
    surveyweight designweight personweight householdweight weightfactor expansionfactor expansion calibrationweight
    gewichtungsfaktor hochrechnungsfaktor hochrechnung gewichtung ponderation ponderacion factorexpansion
    ウエイト ウェイト
""".split())  # fmt: skip  # noqa: SIM905
"""Names of survey weights; a bare weight is that of a body."""


def survey_columns(found: Proposals, table: pa.Table) -> dict[str, Guess]:
    """Return the guesses of a draft as surveys need them."""
    return {name: _column(name, guess, found, table) for name, guess in found.guesses.items()}


def _column(name: str, guess: Guess, found: Proposals, table: pa.Table) -> Guess:
    facts, says = found.facts[name], read_name(name)
    if is_weight(name) and facts.shape == "number":
        to = _grid(table, name, digits=2)
        why = f"survey weights, kept for estimates and rounded to {to}: an exact one leads to its record"
        return Guess("insensitive", why, steps=(f"{{round: {to}}}",))
    if guess.role == "subject" or (guess.role == "identifier" and not _is_amount(name, found)):
        return guess
    if is_of_ages(name, facts) and facts.shape == "number" and not facts.stray and guess.role == "quasi":
        why = pointed(guess.why, "bands of 5, 10 and 20 years")
        return replace(guess, why=why, kind="numeric", builtin="ages")
    if _is_amount(name, found):
        steps, said = _coded(table, name)
        secret = says.sensitive and guess.role != "quasi"
        role = guess.role if guess.role in ("quasi", "sensitive") else "sensitive" if secret else "quasi"
        why = (
            guess.why
            if guess.role != "identifier"
            else "exact amounts, which were too exact to be released as they are"
        )
        return Guess(role, pointed(why, said), "numeric", steps=steps)
    return guess


def is_weight(name: str) -> bool:
    """Return whether a column is a survey weight by its name."""
    words = split_words(name)
    return bool(_WEIGHTS & {*words, "".join(words), *("".join(pair) for pair in pairwise(words))})


def _is_amount(name: str, found: Proposals) -> bool:
    """Return whether a column holds amounts: many different numbers that are neither codes, ages nor years."""
    facts, says, guess = found.facts[name], read_name(name), found.guesses[name]
    if facts.shape != "number" or facts.stray or facts.infinite or facts.distinct <= FEW_VALUES:
        return False
    if says.nominal or says.postal or is_of_ages(name, facts) or is_of_births(name) or facts.date_text:
        return False
    released = guess.kind == "numeric" and not guess.prefix and not guess.builtin
    return released or found.words[name] == "transform"


def _coded(table: pa.Table, name: str) -> tuple[tuple[str, ...], str]:
    """Return the steps for a column of amounts, and what they do in words."""
    values = _numbers(table, name)
    if values is None:
        return (), ""
    low = pc.min(values).as_py()
    lowest = pc.mean(pc.equal(values, pa.scalar(low, values.type)).cast(pa.float64())).as_py()
    steps = [f"{{top: {{share: {_SHARE}}}}}"]
    if lowest < _SHARE:  # else the least value is a frequent one, such as 0
        steps.append(f"{{bottom: {{share: {_SHARE}}}}}")
    to = _grid(table, name, digits=1)
    said = f"the largest {'and smallest ' if len(steps) > 1 else ''}0.5% show a limit"
    if not (pa.types.is_integer(values.type) and to <= 1):
        steps.append(f"{{round: {to}}}")
        said += f", all others are rounded to {to}"
    return tuple(steps), said


def _grid(table: pa.Table, name: str, *, digits: int) -> float | int:
    """Return a power of ten that leaves so many digits after the first one of a middle value."""
    values = _numbers(table, name)
    above = None if values is None else values.filter(pc.greater(values, pa.scalar(0, values.type)))
    if above is None or not len(above):
        return 1
    middle = float(pc.quantile(above, 0.5)[0].as_py())
    power = math.floor(math.log10(middle)) - digits if middle > 0 and math.isfinite(middle) else 0
    return 10**power if power >= 0 else float(f"1e{power}")


def _numbers(table: pa.Table, name: str) -> pa.Array | None:
    cells = table[name].combine_chunks()
    cells = pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) else cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        bare = pc.utf8_lower(pc.utf8_trim_whitespace(cells)).cast(pa.large_string())
        lost = pc.is_in(bare, value_set=pa.array(sorted(MISSING_WORDS), pa.large_string()))
        cells = cells.cast(pa.large_string()).filter(pc.invert(lost)).drop_null()
    try:
        found = cells if is_number(cells.type) else numbers(name, cells, strict=False)
    except DataError:
        return None
    if not is_number(found.type):
        return None
    if pa.types.is_decimal(found.type):
        found = found.cast(pa.float64())
    if pa.types.is_floating(found.type):
        found = found.filter(pc.is_finite(found))
    found = found.drop_null()
    return found if len(found) else None


def survey_text(guesses: Mapping[str, Guess], facts: Mapping[str, Facts]) -> str:
    """Return the end of the draft: a sample, as a comment."""
    per = "subject" if any(guess.role == "subject" for guess in guesses.values()) else "record"
    who = "person" if per == "subject" else "record"
    return (
        f"# A random sample protects, too: nobody knows whether a {who} is in it. Multiply weights by 1 / share.\n"
        f"# sample: {{share: 0.5, per: {per}}}\n"
    )
