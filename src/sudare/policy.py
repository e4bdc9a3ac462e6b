"""The policy: what a lawyer reads, what the method is asked for, and what the audit proves.

A policy is YAML, JSON or a Python mapping. :meth:`Policy.load` reads a file, :meth:`Policy.parse` takes a
mapping; both either return a :class:`Policy` or raise one :class:`~sudare.errors.PolicyError` that lists
everything that is wrong, each with the nearest allowed word. The classes below are the whole vocabulary:
one field is one key.

This module imports nothing but the errors, so that the audit can rest on it alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from sudare.errors import PolicyError, Problem, did_you_mean

TOLERANCE = 1e-9
"""Real-valued limits are compared with this slack, so that a value exactly at its limit is not lost to rounding.

It belongs to the meaning of a policy and is therefore the one number that models and audit share.
"""

Role = Literal["identifier", "subject", "quasi", "sensitive", "insensitive"]
Kind = Literal["numeric", "categorical", "items"]
DateLevel = Literal["day", "month", "quarter", "year"]


class _Part(BaseModel):
    """A piece of a policy: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _one_mark(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n\0':
        raise ValueError("a delimiter is one ASCII character, and neither a quotation mark nor a line break")
    return text


def _known_encoding(name: str) -> str:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"{name!r} is not an encoding of text that Python knows") from None
    return name


_Delimiter = Annotated[str, AfterValidator(_one_mark)]
_Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Positive = Annotated[_Real, Field(gt=0)]
_Count = Annotated[int, Field(strict=True, ge=2)]


class HierarchySpec(_Part):
    """Where the levels of a column come from: exactly one of the keys below (a bare string means ``file``)."""

    file: str | None = None
    delimiter: _Delimiter | None = None
    tree: dict[str, Any] | list[Any] | None = None
    prefix: list[Annotated[int, Field(strict=True, ge=1)]] | None = Field(default=None, min_length=1)
    bands: list[_Positive] | None = Field(default=None, min_length=1)
    origin: _Real = 0.0
    dates: list[DateLevel] | None = Field(default=None, min_length=1)
    flat: Literal[True] | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if value == "flat":
            return {"flat": True}
        return {"file": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_source(self) -> HierarchySpec:
        given = [key for key in ("file", "tree", "prefix", "bands", "dates", "flat") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(
                f"needs exactly one of file, tree, prefix, bands, dates, flat; got {' and '.join(given) or 'none'}"
            )
        if self.prefix and sorted(set(self.prefix), reverse=True) != self.prefix:
            raise ValueError("prefix lengths must fall, as in [5, 3, 2]")
        if self.bands and sorted(set(self.bands)) != self.bands:
            raise ValueError("band widths must grow, as in [5, 10, 20]")
        for narrow, wide in zip(self.bands or [], (self.bands or [])[1:], strict=False):
            if abs(wide / narrow - round(wide / narrow)) > TOLERANCE:
                raise ValueError("each band width must be a multiple of the one before it, or the bands do not nest")
        if self.dates and self.dates != [level for level in get_args(DateLevel) if level in self.dates]:
            raise ValueError("date levels must go from day to year, as in [day, month, year]")
        return self


class ColumnSpec(_Part):
    """One column: what it is to an intruder (``role``) and how its values generalize."""

    role: Role
    kind: Kind | None = None
    hierarchy: HierarchySpec | None = None
    separator: str | None = Field(default=None, min_length=1)
    order: list[str] | None = Field(default=None, min_length=1)
    weight: Annotated[_Real, Field(ge=0)] = 1.0

    @model_validator(mode="after")
    def _consistent(self) -> ColumnSpec:
        if self.separator is not None and self.kind != "items":
            raise ValueError("separator belongs to kind: items")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("order names a value twice")
        return self


class _Requirement(_Part):
    """A model that the release has to keep, with its parameters."""

    def describe(self) -> str:
        """Return the requirement in one line, as reports and messages show it."""
        fields = self.parameters()
        return f"{self.model} ({', '.join(f'{key} = {value}' for key, value in fields.items())})"  # type: ignore[attr-defined]

    def parameters(self) -> dict[str, Any]:
        """Return what was asked for, without the model's name and without keys left unset."""
        return self.model_dump(exclude={"model"}, exclude_none=True)


class KAnonymitySpec(_Requirement):
    """At least k records (or data subjects) share each combination of the released quasi-identifiers."""

    model: Literal["k-anonymity"]
    k: _Count
    count: Literal["rows", "subjects"] = "rows"
    columns: list[str] | None = Field(default=None, min_length=1)


class LDiversitySpec(_Requirement):
    """Each class holds l well-represented sensitive values."""

    model: Literal["l-diversity"]
    l: Annotated[_Real, AfterValidator(lambda l: int(l) if l == int(l) else l)]  # noqa: E741
    column: str
    variant: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: _Positive | None = None

    @model_validator(mode="after")
    def _consistent(self) -> LDiversitySpec:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError("c is needed by variant: recursive, and belongs to no other")
        if self.variant != "entropy" and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for variant: {self.variant}")
        if self.l <= 1 or (self.variant != "entropy" and self.l < 2):
            raise ValueError("l must be at least 2 (for entropy, above 1): l = 1 asks for nothing")
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
    m: Annotated[int, Field(strict=True, ge=1)]
    column: str


RequirementSpec = (
    KAnonymitySpec
    | LDiversitySpec
    | TClosenessSpec
    | AlphaKAnonymitySpec
    | BetaLikenessSpec
    | DeltaDisclosureSpec
    | KmAnonymitySpec
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


class SuppressionSpec(_Part):
    """The largest share of the records that may be left out of the release."""

    limit: Annotated[_Real, Field(ge=0, lt=1)] = 0.0


class ReleaseSpec(_Part):
    """How the rows leave: their order, and what stands in the subject column."""

    order: Literal["class", "keep"] = "class"
    subjects: Literal["per-class", "linked"] = "per-class"


class SourceSpec(_Part):
    """How text files are to be read; only what cannot be told from the file needs to be said."""

    delimiter: _Delimiter | None = None
    encoding: Annotated[str, AfterValidator(_known_encoding)] = "utf-8"
    missing: list[str] = Field(default_factory=lambda: [""])


class Policy(_Part):
    """A whole policy. ``columns`` keeps the order of the file; a column it does not name is never released."""

    version: Literal[1] = 1
    columns: dict[str, ColumnSpec] = Field(min_length=1)
    require: list[Annotated[RequirementSpec, Field(discriminator="model")]] = Field(min_length=1)
    method: MethodSpec = MethodSpec()
    suppression: SuppressionSpec = SuppressionSpec()
    release: ReleaseSpec = ReleaseSpec()
    source: SourceSpec = SourceSpec()

    _folder: Path = PrivateAttr(default=Path())
    _sha256: str = PrivateAttr(default="")

    @property
    def folder(self) -> Path:
        """Where relative paths in the policy start from: the folder of its file, or the working folder."""
        return self._folder

    @property
    def sha256(self) -> str:
        """The digest of the policy's file, byte by byte; of its canonical JSON where it came from Python."""
        if self._sha256:
            return self._sha256
        canonical = json.dumps(self.model_dump(exclude_none=True), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def named(self, role: Role) -> list[str]:
        """Return the columns with a role, in the policy's order."""
        return [name for name, spec in self.columns.items() if spec.role == role]

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.named("quasi")

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return self.named("sensitive")

    @property
    def subject(self) -> str | None:
        """The data-subject column, where there is one."""
        return next(iter(self.named("subject")), None)

    @property
    def released(self) -> list[str]:
        """The columns a release has, in the policy's order: all but identifiers."""
        return [name for name, spec in self.columns.items() if spec.role != "identifier"]

    @classmethod
    def load(cls, path: str | Path, **checks: Any) -> Policy:
        """Read a policy from a YAML or JSON file; see :meth:`parse` for ``checks``."""
        path = Path(path)
        try:
            raw = path.read_bytes()
            text = raw.decode("utf-8-sig")
            kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
            data = json.loads(text, object_pairs_hook=_unique) if kind == "JSON" else yaml.load(text, _StrictLoader)
        except FileNotFoundError:
            raise PolicyError(Problem(str(path), "there is no such file.")) from None
        except OSError as error:
            raise PolicyError(Problem(str(path), f"cannot be read: {error.strerror}.")) from None
        except UnicodeDecodeError:
            raise PolicyError(Problem(str(path), "is not UTF-8 text.", "save the policy as UTF-8.")) from None
        except _DuplicateKeyError as error:
            raise PolicyError(Problem(str(path), f"names {error} twice.")) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            place = f" near line {mark.line + 1}, column {mark.column + 1}" if mark else ""
            if isinstance(error, json.JSONDecodeError):
                place = f" near line {error.lineno}, column {error.colno}"
            raise PolicyError(Problem(str(path), f"is not well-formed {kind}{place}.")) from None
        policy = cls.parse(data, **checks)
        policy._folder = path.parent
        policy._sha256 = hashlib.sha256(raw).hexdigest()
        return policy

    @classmethod
    def parse(cls, data: Any, *, methods: Mapping[str, Any] | None = None) -> Policy:
        """Make a policy of a mapping, or raise one error that lists everything wrong with it.

        ``methods`` is the registry of methods; with it, the ``method`` part is checked in the same pass (the caller
        knows the methods, this module does not).
        """
        if isinstance(data, Policy):
            return data
        if not isinstance(data, Mapping):
            what = "a policy is a mapping with the keys version, columns and require."
            raise PolicyError(what, hint="see `sudare init`.")
        problems: list[Problem] = []
        policy: Policy | None = None
        try:
            policy = cls.model_validate(dict(data))
        except ValidationError as error:
            problems += [_problem(details) for details in error.errors()]
        problems += _unfit(policy) if policy else _roughly_unfit(data)
        problems += _method_problems(data.get("method"), methods)
        if problems or policy is None:
            raise PolicyError(dict.fromkeys(problems))
        return policy


class _DuplicateKeyError(ValueError):
    """A mapping names one key twice; YAML and JSON would silently keep the last."""


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a mapping of pairs, unless a key is there twice."""
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _DuplicateKeyError(f"the key '{key}'")
        seen.add(key)
    return dict(pairs)


class _StrictLoader(yaml.SafeLoader):
    """YAML as it is safe to read, with repeated keys refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        _unique([(key, None) for key in keys if isinstance(key, str | int | float | bool)])
        return super().construct_mapping(node, deep)


def _problem(details: Any) -> Problem:
    """Turn one pydantic error into our own form, with the nearest allowed word."""
    kind, context, given = details["type"], details.get("ctx", {}), details.get("input")
    path = [str(part) for part in details["loc"]]
    if len(path) > 2 and path[0] == "require" and path[2] in MODEL_NAMES:
        del path[2]  # the union's tag is not a key of the policy
    where = ".".join(path)
    shown = f" (got {given!r})" if isinstance(given, str | int | float | bool) else ""
    if path[-1:] == ["[key]"]:
        return Problem(path[0], f"the name {given!r} is not text.", "put it in quotation marks.")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return Problem(where, f"needs a mapping of keys{shown}.", "write it as {key: value}.")
    if kind == "extra_forbidden":
        allowed = _keys_at(path[:-1], details["loc"])
        return Problem(where, f"is not a key here. Allowed: {', '.join(allowed)}.", did_you_mean(path[-1], allowed))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        got = given.get("model") if isinstance(given, Mapping) else None
        what = f"'{got}' is not a model." if got is not None else "names no model."
        return Problem(where, f"{what} Allowed: {', '.join(MODEL_NAMES)}.", did_you_mean(str(got), MODEL_NAMES))
    if kind == "literal_error":
        allowed = [word.strip("'\" ") for word in context["expected"].replace(" or ", ", ").split(", ")]
        return Problem(where, f"got {given!r}. Allowed: {', '.join(allowed)}.", did_you_mean(str(given), allowed))
    if kind == "missing":
        return Problem(where, "is missing.")
    if kind == "value_error":
        return Problem(where, f"{context['error']}.")
    return Problem(where, f"{details['msg'][0].lower()}{details['msg'][1:]}{shown}.")


def _keys_at(path: list[str], loc: tuple[Any, ...]) -> list[str]:
    """Return the keys that are allowed where an unknown one was found."""
    part: Any = Policy
    if path[:1] == ["columns"]:
        part = HierarchySpec if path[2:3] == ["hierarchy"] else ColumnSpec
    elif path[:1] == ["require"]:
        specs = {get_args(spec.model_fields["model"].annotation)[0]: spec for spec in get_args(RequirementSpec)}
        part = specs.get(str(loc[2]), _Requirement)
    elif path:
        part = {"suppression": SuppressionSpec, "release": ReleaseSpec, "source": SourceSpec}[path[0]]
    return list(part.model_fields)


def _unfit(policy: Policy) -> list[Problem]:
    """Check what holds between the parts of a policy that is well formed in itself."""
    problems = []
    if not policy.quasi:
        problems.append(
            Problem("columns", "no column has role: quasi.", "mark the columns an intruder may know from elsewhere.")
        )
    if len(policy.named("subject")) > 1:
        problems.append(Problem("columns", "more than one column has role: subject.", "a record is about one person."))
    distances = {(spec.column, spec.distance) for spec in policy.require if isinstance(spec, TClosenessSpec)}
    problems += [
        Problem(
            "require", f"ordered and hierarchical distance of '{column}' exclude each other.", "ask for one of them."
        )
        for column, distance in sorted(distances)
        if distance == "hierarchical" and (column, "ordered") in distances
    ]
    for number, spec in enumerate(policy.require):
        where = f"require.{number}"
        column = getattr(spec, "column", None)
        if isinstance(spec, KAnonymitySpec):
            if spec.count == "subjects" and policy.subject is None:
                problems.append(Problem(f"{where}.count", "subjects are counted, but no column has role: subject."))
            for name in spec.columns or ():
                problems += _wrong_column(f"{where}.columns", name, policy, "quasi")
        elif isinstance(spec, KmAnonymitySpec):
            problems += _wrong_column(f"{where}.column", spec.column, policy, "quasi")
            if column in policy.columns and policy.columns[spec.column].kind != "items":
                problems.append(Problem(f"{where}.column", f"'{column}' is not of kind: items."))
        elif column is not None:
            problems += _wrong_column(f"{where}.column", column, policy, "sensitive")
            hierarchical = isinstance(spec, TClosenessSpec) and spec.distance == "hierarchical"
            if hierarchical and column in policy.columns and policy.columns[column].hierarchy is None:
                problems.append(Problem(f"{where}.distance", f"hierarchical distance needs a hierarchy of '{column}'."))
    return problems


def _wrong_column(where: str, name: str, policy: Policy, role: Role) -> list[Problem]:
    if name not in policy.columns:
        return [Problem(where, f"'{name}' is not a column of this policy.", did_you_mean(name, policy.columns))]
    if policy.columns[name].role != role:
        return [Problem(where, f"'{name}' has role: {policy.columns[name].role}; this needs role: {role}.")]
    return []


def _roughly_unfit(data: Mapping[str, Any]) -> list[Problem]:
    """Find dangling column names although other parts are broken, so that one message tells all."""
    columns, require = data.get("columns"), data.get("require")
    if not isinstance(columns, Mapping) or not isinstance(require, list):
        return []
    known, problems = [str(name) for name in columns], []
    for number, spec in enumerate(require):
        if not isinstance(spec, Mapping):
            continue
        several = spec.get("columns")
        for name in [spec.get("column"), *(several if isinstance(several, list) else [])]:
            if isinstance(name, str) and name not in known:
                what = f"'{name}' is not a column of this policy."
                problems.append(Problem(f"require.{number}.column", what, did_you_mean(name, known)))
    return problems


def _method_problems(method: Any, methods: Mapping[str, Any] | None) -> list[Problem]:
    if methods is None or not isinstance(method, Mapping):
        return []
    name = method.get("name", "top-down")
    if not isinstance(name, str) or name not in methods:
        what = f"'{name}' is not a method. Allowed: {', '.join(methods)}."
        return [Problem("method.name", what, did_you_mean(str(name), methods))]
    options = methods[name].options
    what = f"is not an option of {name}. Allowed: {', '.join(options) or 'none'}."
    unknown = [key for key in method if key != "name" and key not in options]
    problems = [Problem(f"method.{key}", what, did_you_mean(str(key), options)) for key in unknown]
    return problems + list(methods[name].problems(method))
