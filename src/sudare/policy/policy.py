"""A whole policy, and how it is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, PrivateAttr, ValidationError

from sudare.errors import PolicyError, Problem
from sudare.policy.problems import method_problems, problem, roughly_unfit, unfit
from sudare.policy.vocabulary import (
    ColumnSpec,
    KAnonymitySpec,
    MethodSpec,
    Part,
    ReleaseSpec,
    RequirementSpec,
    Role,
    SourceSpec,
    SuppressionSpec,
)


class Policy(Part):
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
        return hashlib.sha256(_canonical(self.model_dump(exclude_none=True)).encode()).hexdigest()

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
    def counts_subjects(self) -> bool:
        """Whether some promise counts data subjects; only then are they in the release at all."""
        return any(isinstance(spec, KAnonymitySpec) and spec.count == "subjects" for spec in self.require)

    @property
    def released(self) -> list[str]:
        """The columns a release has, in the policy's order: all but identifiers."""
        return [name for name, spec in self.columns.items() if spec.role != "identifier"]

    def carrying_quasi(self, perturbed: Collection[str] = ()) -> Policy:
        """Return the policy with quasi-identifiers that nobody looks at: all of them leave as they came.

        Those that are ``perturbed`` are encoded as sensitive columns are, value by value, without their hierarchies.
        """

        def plain(name: str, spec: ColumnSpec) -> ColumnSpec:
            if spec.role != "quasi":
                return spec
            if name not in perturbed:
                return ColumnSpec(role="insensitive")
            codes = spec.hierarchy is not None and spec.hierarchy.prefix is not None  # prefixes are of text
            kind = "categorical" if codes else spec.kind
            return ColumnSpec(role="sensitive", kind=kind, order=spec.order, exact=True)

        return self.model_copy(update={"columns": {name: plain(name, spec) for name, spec in self.columns.items()}})

    @property
    def parameters(self) -> list[str]:
        """The numbers that requirements ask for, by their keys, each once: k, l, t and so on."""
        found = [
            key
            for spec in self.require
            for key, value in spec.parameters().items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        return list(dict.fromkeys(found))

    def asking(self, parameters: Mapping[str, Any]) -> Policy:
        """Return the policy with other parameters, in all requirements that have them, or raise what is wrong."""
        problems: list[Problem] = []
        changed = []
        for number, spec in enumerate(self.require):
            own = spec.parameters()
            asked = {key: value for key, value in parameters.items() if own.get(key) is not None}
            try:
                changed.append(type(spec).model_validate({"model": spec.model, **own, **asked}))
            except ValidationError as error:
                for details in error.errors():
                    found = problem(details, list(own))
                    where = ".".join(["require", str(number), *map(str, details["loc"])])
                    problems.append(Problem(where, found.what, found.hint))
        if problems:
            raise PolicyError(problems)
        policy = self.model_copy(update={"require": changed})
        if unwanted := unfit(policy):
            raise PolicyError(unwanted)
        return policy

    def kept_in(self, folder: Path, sha256: str) -> Policy:
        """Return the policy as if it had been read from a folder, from a file with this digest."""
        policy = self.model_copy()
        policy._folder, policy._sha256 = folder, sha256
        return policy

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
            problems += [problem(details, list(cls.model_fields)) for details in error.errors()]
        problems += unfit(policy) if policy else roughly_unfit(data)
        problems += method_problems(data, methods)
        if problems or policy is None:
            raise PolicyError(dict.fromkeys(problems))
        return policy


def _canonical(part: Any) -> str:
    """Return JSON that is the same for the same policy, in whatever order its keys are.

    Values of a column may be keys (in the matrices of a method), and so may be null, numbers and dates. JSON has text
    alone: these would be mixed up with it, and cannot be sorted together. Mappings are then lists of keys and values.
    """
    if not _has_null_key(part):
        try:
            return json.dumps(part, sort_keys=True, ensure_ascii=False, default=str)
        except TypeError:  # keys of several types, or dates
            pass
    return json.dumps(_listed(part), ensure_ascii=False, default=str)


def _has_null_key(part: Any) -> bool:
    if isinstance(part, Mapping):
        return None in part or any(_has_null_key(value) for value in part.values())
    return isinstance(part, list | tuple) and any(map(_has_null_key, part))


def _listed(part: Any) -> Any:
    """Return a policy without mappings: each is a sorted list of keys, with their types, and values."""
    if isinstance(part, Mapping):
        lines = [[type(key).__name__, str(key), _listed(value)] for key, value in part.items()]
        return sorted(lines, key=lambda line: line[:2])
    return [_listed(each) for each in part] if isinstance(part, list | tuple) else part


class _DuplicateKeyError(ValueError):
    """A mapping names one key twice; YAML and JSON would silently keep the last."""


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a mapping of pairs, unless a key is there twice."""
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise _DuplicateKeyError("the key null" if key is None else f"the key '{key}'")
        seen.add(key)
    return dict(pairs)


class _StrictLoader(yaml.SafeLoader):
    """YAML as it is safe to read, with repeated keys refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        _unique([(key, None) for key in keys if key is None or isinstance(key, str | int | float | bool | date)])
        return super().construct_mapping(node, deep)
