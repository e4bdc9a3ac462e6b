"""The vocabulary of a policy: one class is one part, one field is one key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from sudare.policy.part import Part
from sudare.policy.text_layouts import Country, Decimal, TextLayout, keeps_ascii, of_country
from sudare.policy.transformation_spec import Transformations

TOLERANCE = 1e-9
"""Real-valued limits are compared with this slack, so that a value exactly at its limit is not lost to rounding.

It belongs to the meaning of a policy and is therefore the one number that models and audit share.
"""

Role = Literal["identifier", "subject", "quasi", "sensitive", "insensitive"]
Kind = Literal["numeric", "categorical", "items"]
DateLevel = Literal["day", "month", "quarter", "year"]
BuiltinName = Literal[
    "icd-10", "icd-9", "atc", "iso-3166", "us-states", "us-zip", "de-plz", "jp-postal", "nuts", "ages", "money"
]
"""The hierarchies that come with sudare. No name has an ending, as files have."""
BUILTIN_NAMES: tuple[str, ...] = get_args(BuiltinName)
BAND_WIDTHS: Mapping[str, tuple[float, ...]] = {
    "ages": (5, 10, 20),
    "money": (5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000),
}
"""The built-in hierarchies that are bands of numbers, and the widths of these; all others are of codes and names."""


def _one_mark(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n\0':
        raise ValueError("a delimiter must be one ASCII character, but not a quotation mark or a line break")
    return text


def _release_delimiter(text: str) -> str:
    if text not in tuple(",;|\t"):
        raise ValueError("delimiter must be a comma, a semicolon, a bar or a tab")
    return text


def _release_encoding(name: str) -> str:
    found = keeps_ascii(name)
    if found is None:
        raise ValueError(f"{name!r} is not a text encoding for releases; use utf-8, or one such as windows-1252")
    return found


Delimiter = Annotated[str, AfterValidator(_one_mark)]
"""One character between the fields of a text file."""
_Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Positive = Annotated[_Real, Field(gt=0)]
_MOST = 10**9
_Count = Annotated[int, Field(strict=True, ge=2, le=_MOST)]


_SOURCES = ("file", "tree", "prefix", "bands", "dates", "flat", "builtin", "auto")


def long_form(word: str) -> dict[str, Any]:
    """Return what a single word says about a hierarchy: ``flat``, ``auto``, a built-in one, or else a file."""
    if word in ("flat", "auto"):
        return {word: True}
    return {"builtin" if word in BUILTIN_NAMES else "file": word}


class HierarchySpec(Part):
    """Where the levels of a column come from: exactly one of the keys below (a bare string means ``file``)."""

    file: str | None = None
    delimiter: Delimiter | None = None
    tree: dict[str, Any] | list[Any] | None = None
    prefix: list[Annotated[int, Field(strict=True, ge=1, le=10_000)]] | None = Field(default=None, min_length=1)
    bands: list[_Positive] | None = Field(default=None, min_length=1)
    origin: _Real = 0.0
    dates: list[DateLevel] | None = Field(default=None, min_length=1)
    flat: Literal[True] | None = None
    builtin: BuiltinName | None = None
    auto: Literal[True] | None = None

    @property
    def codes(self) -> str | None:
        """The name of a built-in hierarchy of codes or names, such as icd-10; None for all others."""
        return None if self.builtin is None or self.builtin in BAND_WIDTHS else self.builtin

    @property
    def of_text(self) -> bool:
        """Whether the levels are made from the text of a value, so that ``01`` is not ``1``."""
        return self.prefix is not None or self.codes is not None

    @property
    def widths(self) -> list[float] | None:
        """The widths of bands, given or built in; None for all other hierarchies."""
        found = BAND_WIDTHS.get(self.builtin or "")
        return self.bands if found is None else list(found)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return long_form(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_source(self) -> HierarchySpec:
        given = [key for key in _SOURCES if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(_SOURCES)}; got {' and '.join(given) or 'none'}")
        if self.prefix and sorted(set(self.prefix), reverse=True) != self.prefix:
            raise ValueError("prefix lengths must fall, as in [5, 3, 2]")
        if self.bands and sorted(set(self.bands)) != self.bands:
            raise ValueError("band widths must grow, as in [5, 10, 20]")
        for narrow, wide in zip(self.bands or [], (self.bands or [])[1:], strict=False):
            if abs(wide / narrow - round(wide / narrow)) > TOLERANCE:
                raise ValueError("each band width must be a multiple of the one before it")
        if self.dates and self.dates != [level for level in get_args(DateLevel) if level in self.dates]:
            raise ValueError("date levels must go from day to year, as in [day, month, year]")
        return self


class ColumnSpec(Part):
    """One column: what it is to an intruder (``role``) and how its values generalize."""

    role: Role
    kind: Kind | None = None
    hierarchy: HierarchySpec | None = None
    separator: str | None = Field(default=None, min_length=1)
    order: list[str] | None = Field(default=None, min_length=1)
    weight: Annotated[_Real, Field(ge=0)] = 1.0
    exact: Annotated[bool, Field(strict=True)] | None = None
    transform: Transformations | None = None

    @model_validator(mode="after")
    def _consistent(self) -> ColumnSpec:
        if self.exact is not None and self.role != "sensitive":
            raise ValueError("exact is only for role: sensitive")
        if self.order is not None and self.kind == "items":
            raise ValueError("order ranks single values, so it is not for kind: items")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("order names a value twice")
        return self


class _Requirement(Part):
    """A model that the release has to keep, with its parameters."""

    def describe(self) -> str:
        """Return the requirement in one line, as reports and messages show it."""
        fields = self.parameters()
        return f"{self.model} ({', '.join(f'{key} = {value}' for key, value in fields.items())})"  # type: ignore[attr-defined]

    def parameters(self) -> dict[str, Any]:
        """Return the given parameters, without the model's name and without unset keys."""
        return self.model_dump(exclude={"model"}, exclude_none=True)


class KAnonymitySpec(_Requirement):
    """At least k records (or data subjects) share each combination of the released quasi-identifiers."""

    model: Literal["k-anonymity"]
    k: _Count
    count: Literal["rows", "subjects"] = "rows"
    columns: list[str] | None = Field(default=None, min_length=1)


class LDiversitySpec(_Requirement):
    """Each class holds l well-represented sensitive values; of item sets, no item has more than 1/l of its records."""

    model: Literal["l-diversity"]
    l: Annotated[_Real, Field(le=_MOST), AfterValidator(lambda l: int(l) if l == int(l) else l)]  # noqa: E741
    column: str
    variant: Literal["distinct", "entropy", "recursive", "frequency"] = "distinct"
    c: _Positive | None = None
    harmless: list[str] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> LDiversitySpec:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError("c is required for variant: recursive, and only for this variant")
        if self.harmless is not None and self.variant != "frequency":
            raise ValueError("harmless lists items, so it is only for variant: frequency")
        if self.harmless is not None and len(set(self.harmless)) != len(self.harmless):
            raise ValueError("harmless names an item twice")
        if self.variant != "entropy" and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for variant: {self.variant}")
        if self.l <= 1 or (self.variant != "entropy" and self.l < 2):
            raise ValueError("l must be at least 2 (for entropy, above 1): l = 1 requires nothing")
        return self


class TClosenessSpec(_Requirement):
    """Each class's sensitive distribution is within distance t of the whole release's."""

    model: Literal["t-closeness"]
    t: Annotated[_Real, Field(ge=0, le=1)]
    column: str
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"


class AlphaKAnonymitySpec(_Requirement):
    """Each class has k records, and no sensitive value takes more than a share alpha of them."""

    model: Literal["alpha-k-anonymity"]
    alpha: Annotated[_Positive, Field(le=1)]
    k: _Count
    column: str
    values: list[str] | None = Field(default=None, min_length=1)


class BetaLikenessSpec(_Requirement):
    """No sensitive value is more than beta times likelier in a class than overall (relative gain)."""

    model: Literal["beta-likeness"]
    beta: _Positive
    column: str
    variant: Literal["basic", "enhanced"] = "enhanced"


class DeltaDisclosureSpec(_Requirement):
    """In each class the log-ratio of every sensitive value's share to its overall share stays below delta."""

    model: Literal["delta-disclosure"]
    delta: _Positive
    column: str


class KmAnonymitySpec(_Requirement):
    """Every combination of at most m released items that occurs, occurs in at least k records."""

    model: Literal["km-anonymity"]
    k: _Count
    m: Annotated[int, Field(strict=True, ge=1, le=65_535)]  # a record has no more items
    column: str


class PkAnonymitySpec(_Requirement):
    """Nobody connects a record with its person with a probability above 1/k, even knowing the whole true table."""

    model: Literal["pk-anonymity"]
    k: _Count


class AlphaGammaSpec(_Requirement):
    """The value of anybody's cell is inferred with a probability from gamma to alpha, and no other."""

    model: Literal["alpha-gamma"]
    column: str
    alpha: Annotated[_Positive, Field(le=1)]
    gamma: Annotated[_Real, Field(ge=0, lt=1)]
    prior: dict[str, _Positive] | None = Field(default=None, min_length=2)
    against: Literal["all-columns", "column"] = "all-columns"

    @model_validator(mode="after")
    def _consistent(self) -> AlphaGammaSpec:
        if self.gamma >= self.alpha:
            raise ValueError("gamma must be below alpha")
        if self.prior is not None and abs(math.fsum(self.prior.values()) - 1) > TOLERANCE:
            raise ValueError(
                f"prior adds up to {math.fsum(self.prior.values()):.10g}; shares of all values add up to 1"
            )
        return self


class UniquenessSpec(_Requirement):
    """At most a share of the released records is unique in what some columns show, or all that are released."""

    model: Literal["uniqueness"]
    most: Annotated[_Real, Field(ge=0, lt=1)]
    columns: Literal["released"] | list[str] = "released"

    @field_validator("columns", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        listed = isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
        if value != "released" and not listed:
            raise ValueError("columns must be a list of names, or the word released for all released columns")
        if listed and len(set(value)) < len(value):
            raise ValueError("columns names a column twice")
        return value


RequirementSpec = (
    KAnonymitySpec
    | LDiversitySpec
    | TClosenessSpec
    | AlphaKAnonymitySpec
    | BetaLikenessSpec
    | DeltaDisclosureSpec
    | KmAnonymitySpec
    | PkAnonymitySpec
    | AlphaGammaSpec
    | UniquenessSpec
)
MODEL_NAMES: tuple[str, ...] = tuple(
    get_args(spec.model_fields["model"].annotation)[0] for spec in get_args(RequirementSpec)
)


class MethodSpec(BaseModel):
    """The method's name; every other key is an option of that method."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str = "top-down"

    @property
    def options(self) -> dict[str, Any]:
        """The options, without the name."""
        return dict(self.model_extra or {})


class SuppressionSpec(Part):
    """The largest share of the records that may be suppressed, and what becomes of them.

    ``records``: they are ``dropped``, or ``masked``, which leaves them in as rows that show no quasi-identifier.
    ``unseen``: whether a plan may suppress records with values that its hierarchies do not have.
    """

    limit: Annotated[_Real, Field(ge=0, le=1)] = 0.0
    records: Literal["dropped", "masked"] = "dropped"
    unseen: Literal["reject", "suppress"] = "reject"


LAYOUT_KEYS = ("delimiter", "decimal", "encoding", "bom")
"""The keys of a release that say how a text file is laid out."""


class ReleaseSpec(Part):
    """How the rows leave: their order, what stands in the subject column, what ranges and sets may name, and formulas.

    ``ranges``: with ``safe``, values that fewer than k records hold are neither ends of ranges nor members of sets.
    With ``tight`` they are, and ranges are as narrow as they can be. ``formulas``: whether text files escape cells that
    spreadsheets would run. ``delimiter``, ``decimal``, ``encoding`` and ``bom`` are the layout of text files, and
    ``excel`` is the one that Excel expects in a country.
    """

    order: Literal["class", "keep"] = "class"
    subjects: Literal["per-class", "linked"] = "per-class"
    ranges: Literal["safe", "tight"] = "safe"
    formulas: Literal["escape", "keep"] = "escape"
    excel: Country | None = None
    delimiter: Annotated[str, AfterValidator(_release_delimiter)] | None = None
    decimal: Decimal | None = None
    encoding: Annotated[str, AfterValidator(_release_encoding)] | None = None
    bom: Annotated[bool, Field(strict=True)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> ReleaseSpec:
        if self.excel is not None:
            whole = of_country(self.excel)
            for key in LAYOUT_KEYS:
                given = getattr(self, key)
                if given is not None and given != getattr(whole, key):
                    raise ValueError(
                        f"{key} contradicts excel: {self.excel}, which stands for delimiter {whole.delimiter!r}, "
                        f"decimal {whole.decimal!r}, encoding utf-8 and bom true"
                    )
        if self.bom and (self.encoding or "utf-8") != "utf-8":
            raise ValueError("bom is for encoding: utf-8 only; other encodings have none")
        if self.decimal == "," and self.delimiter == ",":
            raise ValueError("decimal and delimiter are both a comma; give another delimiter, such as ;")
        return self

    @property
    def layout_keys(self) -> list[str]:
        """The keys that are given and only text files can follow."""
        return [key for key in ("excel", *LAYOUT_KEYS) if getattr(self, key) is not None]

    def layout(self, *, tabs: bool) -> TextLayout:
        """Return the layout of a text file, with tabs between the fields or not."""
        whole = TextLayout() if self.excel is None else of_country(self.excel)
        given = {key: getattr(self, key) for key in LAYOUT_KEYS if getattr(self, key) is not None}
        decimal = given.get("decimal", whole.decimal)
        if tabs:
            delimiter = "\t"
        elif "delimiter" in given:
            delimiter = given["delimiter"]
        else:
            delimiter = ";" if decimal == "," else whole.delimiter
        return TextLayout(delimiter, decimal, given.get("encoding", whole.encoding), given.get("bom", whole.bom))


def _one_text(text: str) -> str:
    if not text.strip() or len(text) > 2000 or any(not mark.isprintable() and mark != "\n" for mark in text):
        raise ValueError("must be text of up to 2000 characters, without control characters")
    return text


_Text = Annotated[str, AfterValidator(_one_text)]


class AboutSpec(Part):
    """The purpose of a release, in the words of the person responsible; the certificate and the report show it."""

    title: _Text | None = None
    purpose: _Text | None = None
    recipient: _Text | None = None
    legal_basis: _Text | None = None
    contact: _Text | None = None
