"""The ``transform`` key of a column, and the ``sample`` part of a policy: what is done to cells beside generalizing.

A transformation is a mapping with one key, its name: ``{round: {to: 5}}``, or shorter ``{round: 5}``. A list of them is
applied in order. A secret key never is in a policy: ``key`` says where it is, ``{env: NAME}`` or ``{file: PATH}``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from sudare.policy.part import Part

_Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Positive = Annotated[_Real, Field(gt=0)]
_Share = Annotated[_Real, Field(gt=0, lt=1)]
_Length = Annotated[int, Field(strict=True, ge=1, le=10_000)]
_Kept = Annotated[int, Field(strict=True, ge=0, le=10_000)]

FORMS: Mapping[str, tuple[str, float, int, int]] = {
    "hex": ("0123456789abcdef", 4.0, 16, 64),
    "base32": ("abcdefghijklmnopqrstuvwxyz234567", 5.0, 13, 51),
    "digits": ("0123456789", math.log2(10), 20, 77),
}
"""For each form of a pseudonym: its characters, the bits in one of them, the usual length, and the longest."""
LEAST_BITS = 20
"""A pseudonym has at least so many bits: with fewer, different people could hardly have different ones."""

TruncatedTo = Literal["year", "quarter", "month", "week"]
_FINGERPRINT = re.compile(r"[0-9a-f]{8}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_A_KEY = re.compile(r"[0-9A-Fa-f]{32,}|[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+=_-]{40,}")
"""Digits of a key, its 43 characters in base 64, or another long word; paths have slashes, backslashes or points."""


class KeySpec(Part):
    """Where a secret key is: in an environment variable, or in a file (a relative path starts at the policy).

    ``fingerprint`` is that of the key: with another one there is no release.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    env: str | None = None
    file: str | None = None
    fingerprint: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_key(cls, value: Any) -> Any:
        """Raise if the key itself may be here. No message repeats what was given."""
        if not isinstance(value, Mapping):
            raise ValueError("says where the key is, {env: NAME} or {file: PATH}; the key itself is never in a policy")
        known = value.get("fingerprint", "0" * 8)
        if not isinstance(known, str) or not _FINGERPRINT.fullmatch(known):
            raise ValueError("fingerprint must be 8 hexadecimal digits in quotation marks, as `sudare key new` shows")
        places = [key for key in value if key != "fingerprint"]
        if places not in (["env"], ["file"]):
            raise ValueError("needs one of env and file; the key itself is never in a policy")
        where, given = places[0], value[places[0]]
        if not isinstance(given, str) or not given.strip() or "\0" in given:
            raise ValueError(f"{where} must be a text: the name of a variable, or a path")
        path = where == "file" and given.startswith(("/", "./", "../", "~")) and not given.endswith("=")
        if not path and _LIKE_A_KEY.fullmatch(given.strip()):
            raise ValueError(f"{where} looks like a key; it must say where the key is, not what it is")
        if where == "env" and not _VARIABLE.fullmatch(given):
            raise ValueError("env must be the name of an environment variable: letters, digits and underscores")
        return value


class PseudonymSpec(Part):
    """A keyed digest of the value: the same in every table and every release that use the key and the ``space``."""

    key: KeySpec
    form: Literal["hex", "base32", "digits"] = "hex"
    length: _Length | None = None
    space: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @property
    def characters(self) -> int:
        """How many characters a pseudonym has."""
        return FORMS[self.form][2] if self.length is None else self.length

    @property
    def bits(self) -> float:
        """How many bits of the digest a pseudonym shows."""
        return min(self.characters * FORMS[self.form][1], 256.0)

    @model_validator(mode="after")
    def _consistent(self) -> PseudonymSpec:
        _, bits, _, longest = FORMS[self.form]
        least = math.ceil(LEAST_BITS / bits)
        if not least <= self.characters <= longest:
            raise ValueError(f"length must be from {least} to {longest} for form: {self.form}")
        return self


class ShiftSpec(Part):
    """All dates of one person move by one number of days, from 1 to ``days`` forwards or backwards."""

    days: Annotated[int, Field(strict=True, ge=1, le=36_500)] = 365
    per: str | None = None
    key: KeySpec | None = None


class _LimitSpec(Part):
    """Values beyond a limit show the limit, or what ``shows`` says."""

    at: _Real | None = None
    share: Annotated[_Share, Field(lt=0.5)] | None = None
    shows: Annotated[_Real, Field()] | Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> _LimitSpec:
        if (self.at is None) == (self.share is None):
            raise ValueError("needs exactly one of at and share")
        if isinstance(self.shows, str) and self.shows.strip() != self.shows:
            raise ValueError("shows must not begin or end with a blank")
        if isinstance(self.shows, float) and self.share is not None:
            raise ValueError("shows must be a text with share: the limit is only known when the data are read")
        return self


class TopSpec(_LimitSpec):
    """Top coding: larger values show the limit."""

    @model_validator(mode="after")
    def _beyond(self) -> TopSpec:
        if isinstance(self.shows, float) and self.at is not None and self.shows < self.at:
            raise ValueError("shows must not be below at")
        return self


class BottomSpec(_LimitSpec):
    """Bottom coding: smaller values show the limit."""

    @model_validator(mode="after")
    def _beyond(self) -> BottomSpec:
        if isinstance(self.shows, float) and self.at is not None and self.shows > self.at:
            raise ValueError("shows must not be above at")
        return self


class RoundSpec(Part):
    """Numbers are rounded to multiples of ``to``; at ``random`` up or down, so that the mean is kept on average."""

    to: _Positive
    how: Literal["nearest", "up", "down", "random"] = "nearest"


class TruncateSpec(Part):
    """Dates are cut to a period, or texts to their first characters."""

    to: TruncatedTo | None = None
    keep: _Length | None = None

    @model_validator(mode="after")
    def _one_way(self) -> TruncateSpec:
        if (self.to is None) == (self.keep is None):
            raise ValueError("needs exactly one of to (for dates) and keep (for texts)")
        return self


class BandSpec(Part):
    """Numbers show the band that they are in: of one ``width``, or between ``edges``."""

    width: _Positive | None = None
    edges: list[_Real] | None = Field(default=None, min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _one_way(self) -> BandSpec:
        if (self.width is None) == (self.edges is None):
            raise ValueError("needs exactly one of width and edges")
        if self.edges is not None and sorted(set(self.edges)) != self.edges:
            raise ValueError("edges must grow, as in [18, 40, 65]")
        return self


def _one_character(text: str) -> str:
    if len(text) != 1 or not text.isprintable() or text in '" ,;|\t':
        raise ValueError("with must be one visible character, and no delimiter or quotation mark")
    return text


class MaskSpec(Part):
    """All characters but the first and last few are replaced; a text that has no more than these is masked whole."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    keep_first: _Kept = 0
    keep_last: _Kept = 0
    mark: Annotated[str, AfterValidator(_one_character)] = Field(default="*", alias="with")


def _as_whole(value: Any) -> Any:
    """Return whole numbers as integers, also in lists."""
    if isinstance(value, list):
        return [_as_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _texts(value: Any) -> Any:
    """Return a mapping whose keys and values are texts: YAML reads ``1: one`` as a number."""
    if not isinstance(value, Mapping):
        raise ValueError("must be a mapping, as in {old: new}")
    if any(isinstance(each, Mapping | list | bool) for each in (*value, *value.values())):
        raise ValueError("must be a mapping of values, each a text, a number, or null for an empty cell")
    if None in value:
        raise ValueError("replaces no empty cells: these stay empty")
    found = {str(old): None if new is None else str(new) for old, new in value.items()}
    if len(found) < len(value):
        raise ValueError("names a value twice")
    return found


class ReplaceSpec(Part):
    """Values are replaced by a list: a mapping, or a CSV file with two columns. ``else`` is for all other values."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    values: Annotated[dict[str, str | None], BeforeValidator(_texts), Field(min_length=1)] | None = None
    file: Annotated[str, Field(min_length=1)] | None = None
    other: Literal["error", "keep", "null"] = Field(default="error", alias="else")

    @field_validator("other", mode="before")
    @classmethod
    def _null_word(cls, value: Any) -> Any:
        return "null" if value is None else value  # YAML reads null without quotation marks as nothing

    @model_validator(mode="after")
    def _one_list(self) -> ReplaceSpec:
        if (self.values is None) == (self.file is None):
            raise ValueError("needs exactly one of values and file")
        return self


class RedactSpec(Part):
    """All cells are empty."""


class NoiseSpec(Part):
    """Random noise is added to numbers: ``sd`` is a share of the column's standard deviation, ``scale`` a number."""

    sd: Annotated[_Positive, Field(le=10)] | None = None
    scale: _Positive | None = None
    kind: Literal["normal", "laplace", "multiplicative"] = "normal"
    correlated_with: list[str] | None = Field(default=None, min_length=1)
    bounds: list[_Real] | None = Field(default=None, min_length=2, max_length=2)
    keep_total: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _consistent(self) -> NoiseSpec:
        if (self.sd is None) == (self.scale is None):
            raise ValueError("needs exactly one of sd and scale")
        if self.correlated_with is not None:
            if self.kind != "normal" or self.sd is None:
                raise ValueError("correlated_with needs kind: normal and sd")
            if len(set(self.correlated_with)) < len(self.correlated_with):
                raise ValueError("correlated_with names a column twice")
        if self.kind == "multiplicative" and (self.sd is not None or self.keep_total):
            raise ValueError(
                "kind: multiplicative needs scale, the standard deviation of the factor, and has no keep_total"
            )
        if self.bounds is not None and self.bounds[0] >= self.bounds[1]:
            raise ValueError("bounds must grow, as in [0, 100]")
        if self.bounds is not None and self.keep_total:
            raise ValueError("keep_total cannot be kept within bounds; remove one of them")
        return self


def _share_of_ranks(share: float) -> float:
    if share > 1:
        raise ValueError("within is a share of the records: 0.05 is 5%")
    return share


class SwapSpec(Part):
    """Rank swapping: each value changes places with one whose rank differs by at most this share of the records."""

    within: Annotated[_Positive, AfterValidator(_share_of_ranks)]


class ShuffleSpec(Part):
    """Values change places at random, within groups of records that agree on some columns, or in the whole table."""

    within: list[str] | None = Field(default=None, min_length=1)


Step = (
    PseudonymSpec
    | ShiftSpec
    | TopSpec
    | BottomSpec
    | RoundSpec
    | TruncateSpec
    | BandSpec
    | MaskSpec
    | ReplaceSpec
    | RedactSpec
    | NoiseSpec
    | SwapSpec
    | ShuffleSpec
)

_SHORT: Mapping[str, str] = {
    "top": "at", "bottom": "at", "round": "to", "band": "width", "swap": "within", "shift": "days", "noise": "sd",
}  # fmt: skip
"""The key that a bare number stands for."""
EXAMPLES: Mapping[str, str] = {
    "pseudonym": "{pseudonym: {key: {env: SUDARE_KEY}}}",
    "top": "{top: {at: 89}}",
    "bottom": "{bottom: {at: 18}}",
    "round": "{round: {to: 5}}",
    "truncate": "{truncate: {to: year}} or {truncate: {keep: 3}}",
    "band": "{band: {width: 10}}",
    "replace": "{replace: {values: {old: new}}}",
    "noise": "{noise: {sd: 0.1}}",
    "swap": "{swap: {within: 0.05}}",
}
"""How transformations that need keys may be written."""
_ALONE = ("redact", "shuffle", "mask", "shift")
"""The transformations that may be written as one word."""


class Transformation(Part):
    """One transformation: a mapping with one key, its name."""

    pseudonym: PseudonymSpec | None = None
    shift: ShiftSpec | None = None
    top: TopSpec | None = None
    bottom: BottomSpec | None = None
    round: RoundSpec | None = None
    truncate: TruncateSpec | None = None
    band: BandSpec | None = None
    mask: MaskSpec | None = None
    replace: ReplaceSpec | None = None
    redact: RedactSpec | None = None
    noise: NoiseSpec | None = None
    swap: SwapSpec | None = None
    shuffle: ShuffleSpec | None = None

    @property
    def name(self) -> str:
        """The name of the transformation."""
        return next(name for name in TRANSFORMATIONS if getattr(self, name) is not None)

    @property
    def step(self) -> Step:
        """Its keys."""
        found: Step = getattr(self, self.name)
        return found

    def parameters(self) -> dict[str, Any]:
        """Return its keys as a certificate shows them: not where a secret key or a file is, and no list of values."""
        found = self.step.model_dump(exclude={"key", "file", "values"}, exclude_none=True, by_alias=True)
        return {key: _as_whole(value) for key, value in found.items()}

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, value: Any) -> Any:
        if isinstance(value, str) and value in _ALONE:
            return {value: {}}
        if isinstance(value, str) and value in EXAMPLES:
            raise ValueError(f"{value} needs keys, such as {EXAMPLES[value]}")
        if not isinstance(value, Mapping):
            raise ValueError("is a mapping with one key, such as {round: {to: 5}}")
        if len(value) != 1:
            raise ValueError("names several transformations; write a list, so that their order is clear")
        [(name, given)] = value.items()
        if given is None and name in _ALONE:
            return {name: {}}
        if name == "truncate" and isinstance(given, str | int) and not isinstance(given, bool):
            return {name: {"to" if isinstance(given, str) else "keep": given}}
        if name == "replace" and isinstance(given, str):
            return {name: {"file": given}}
        if name == "shuffle" and isinstance(given, list):
            return {name: {"within": given}}
        if name in _SHORT and isinstance(given, int | float) and not isinstance(given, bool):
            return {name: {_SHORT[name]: given}}
        if given is None and name in EXAMPLES:
            raise ValueError(f"{name} needs keys, such as {EXAMPLES[name]}")
        return value


TRANSFORMATIONS: tuple[str, ...] = tuple(Transformation.model_fields)
"""The names of all transformations."""


def listed(value: Any) -> Any:
    """Return the transformations of a column as a list; one of them may stand alone."""
    return value if isinstance(value, list) or value is None else [value]


Transformations = Annotated[list[Transformation], BeforeValidator(listed), Field(min_length=1, max_length=20)]


class SampleSpec(Part):
    """A random sample: each person, or each record, is in it with this probability, independently of all others."""

    share: _Share
    per: Literal["subject", "record"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_share(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError("needs a share between 0 and 1, as in {share: 0.1}")
        return value


assert set(get_args(Step)) == {get_args(each.annotation)[0] for each in Transformation.model_fields.values()}
