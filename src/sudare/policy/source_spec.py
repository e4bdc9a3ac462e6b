"""The ``source`` part of a policy: how the cells of a table are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from sudare.core.errors import ParameterError, Problem
from sudare.policy.date_format import DateFormat
from sudare.policy.part import Part
from sudare.policy.vocabulary import Delimiter

ALL = "*"
"""What stands for all columns where a key of ``source`` has an entry for each column."""

FILE_KEYS = frozenset({"delimiter", "encoding", "skip_rows", "sheet", "labels"})
"""The keys that say how a file is laid out; each concerns some formats."""

CELL_KEYS = frozenset({"decimal", "thousands", "dates", "trim", "case"})
"""The keys that say how cells are read, of files and of tables in Python."""

Case = Literal["keep", "lower", "upper"]
Grouping = Literal[".", ",", " ", "'"]


def _known_encoding(name: str) -> str:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"{name!r} is not a text encoding that Python knows") from None
    return name


def _known_texts(value: Any) -> Any:
    """Raise if the texts for missing are no texts: the numbers of YAML need quotation marks."""
    lists = value if isinstance(value, Mapping) else {None: value}
    for name, texts in lists.items():
        where = "" if name is None else f" of '{name}'"
        if not isinstance(texts, list):
            raise ValueError(f"the texts{where} must be a list, or a list for each column, such as ['', 'NA']")
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"a text{where} is not in quotation marks: write numbers and words alike, such as ['999']")
    return value


_Formats = Annotated[list[str], Field(min_length=1)]


class SourceSpec(Part):
    """How to read a table; only what cannot be detected is needed.

    ``missing``, ``dates``, ``trim`` and ``case`` hold for all columns of text, or have an entry for each column; an
    entry ``"*"`` is for all others. What ``missing`` lists for a column adds to what it lists for all. The numbers of a
    table have one ``decimal`` mark, and one for ``thousands``.
    """

    delimiter: Delimiter | None = None
    encoding: Annotated[str, AfterValidator(_known_encoding)] = "utf-8"
    skip_rows: Annotated[int, Field(strict=True, ge=0, le=100_000)] = 0
    sheet: Annotated[str, Field(min_length=1)] | Annotated[int, Field(strict=True, ge=1)] | None = None
    labels: Annotated[bool, Field(strict=True)] = True
    missing: Annotated[list[str] | dict[str, list[str]], BeforeValidator(_known_texts)] = Field(
        default_factory=lambda: [""]
    )
    decimal: Literal[".", ","] = "."
    thousands: Grouping | None = None
    dates: dict[str, _Formats] = Field(default_factory=dict)
    trim: dict[str, Annotated[bool, Field(strict=True)]] = Field(default_factory=dict)
    case: dict[str, Case] = Field(default_factory=dict)

    @field_validator("dates", mode="before")
    @classmethod
    def _formats(cls, value: Any) -> Any:
        entries = value if isinstance(value, Mapping) else {ALL: value}
        found = {name: [given] if isinstance(given, str) else given for name, given in entries.items()}
        for given in found.values():
            if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
                raise ValueError("formats are texts such as dd.mm.yyyy, or lists of them")
            for text in given:
                DateFormat.of(text)
        return found

    @field_validator("trim", "case", mode="before")
    @classmethod
    def _by_column(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping) else {ALL: value}

    @model_validator(mode="after")
    def _consistent(self) -> SourceSpec:
        if self.thousands == self.decimal:
            raise ValueError("thousands and decimal cannot be the same mark")
        return self

    @model_serializer(mode="wrap")
    def _given_keys(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not set, so that policies without the newer keys keep their digests."""
        written: dict[str, Any] = plain(self)
        fields = type(self).model_fields
        newer = [key for key in written if key not in ("delimiter", "encoding", "missing")]
        idle = [key for key in newer if written[key] == fields[key].get_default(call_default_factory=True)]
        return {key: value for key, value in written.items() if key not in idle}

    @classmethod
    def checked(cls, *, encoding: str, delimiter: str | None) -> SourceSpec:
        """Make one of words that stand in no policy, or raise what is wrong with them."""
        try:
            return cls(encoding=encoding, delimiter=delimiter)
        except ValidationError as error:
            raise ParameterError(
                [Problem(str(details["loc"][0]), f"{details['ctx']['error']}.") for details in error.errors()]
            ) from None

    @property
    def missing_everywhere(self) -> tuple[str, ...]:
        """The texts for missing that hold for all columns without an entry."""
        return tuple(self.missing if isinstance(self.missing, list) else self.missing.get(ALL, [""]))

    @property
    def missing_by_column(self) -> dict[str, list[str]]:
        """The texts for missing of single columns, which add to those of all."""
        return (
            {name: texts for name, texts in self.missing.items() if name != ALL}
            if isinstance(self.missing, dict)
            else {}
        )

    @property
    def cleans(self) -> bool:
        """Whether cells are changed when they are read."""
        changed = self.decimal != "." or self.thousands is not None
        return bool(
            changed
            or self.missing_by_column
            or self.dates
            or any(self.trim.values())
            or set(self.case.values()) - {"keep"}
        )

    def given(self) -> list[str]:
        """Return the keys that say something else than they do without being there."""
        fields = type(self).model_fields
        return [key for key in fields if getattr(self, key) != fields[key].get_default(call_default_factory=True)]

    def named_columns(self) -> dict[str, list[str]]:
        """Return the columns that keys have entries for, by key."""
        given = {"missing": self.missing, "dates": self.dates, "trim": self.trim, "case": self.case}
        return {
            key: [name for name in entries if name != ALL]
            for key, entries in given.items()
            if isinstance(entries, dict)
        }
