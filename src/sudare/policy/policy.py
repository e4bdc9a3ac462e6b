"""The class ``Policy``, and the reading of policy files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, PrivateAttr, ValidationError

from sudare.core.errors import PolicyError, Problem
from sudare.core.input_limits import Bounded, BoundsError, UnreadableError, content, out_of_bounds
from sudare.core.sizes import MIB
from sudare.policy.effects import idle
from sudare.policy.part import Part
from sudare.policy.problems import method_problems, problem, roughly_unfit, unfit
from sudare.policy.source_spec import SourceSpec
from sudare.policy.transformation_problems import empty_problems, result_of, transformation_problems
from sudare.policy.transformation_spec import SampleSpec, Transformation
from sudare.policy.vocabulary import (
    AboutSpec,
    ColumnSpec,
    KAnonymitySpec,
    MethodSpec,
    ReleaseSpec,
    RequirementSpec,
    Role,
    SuppressionSpec,
    long_form,
)

LARGEST = 2 * MIB
"""A policy's file, in bytes; a hierarchy that is larger has a file of its own."""


class Policy(Part):
    """A whole policy. ``columns`` keeps the order of the file; a column it does not name is never released."""

    version: Literal[1] = 1
    columns: dict[str, ColumnSpec] = Field(min_length=1)
    require: list[Annotated[RequirementSpec, Field(discriminator="model")]] = Field(min_length=1)
    method: MethodSpec = MethodSpec()
    suppression: SuppressionSpec = SuppressionSpec()
    release: ReleaseSpec = ReleaseSpec()
    source: SourceSpec = SourceSpec()
    about: AboutSpec = AboutSpec()
    sample: SampleSpec | None = None

    _file: Path | None = PrivateAttr(default=None)
    _folder: Path = PrivateAttr(default=Path())
    _key_folder: Path | None = PrivateAttr(default=None)
    _outside: bool = PrivateAttr(default=True)
    _sha256: str = PrivateAttr(default="")

    @property
    def folder(self) -> Path:
        """Where relative paths in the policy start from: the folder of its file, or the working folder."""
        return self._folder

    @property
    def key_folder(self) -> Path:
        """Where relative paths of secret keys start from: of a plan, the folder of its file."""
        return self._folder if self._key_folder is None else self._key_folder

    @property
    def file(self) -> Path | None:
        """The file that the policy came from, if it came from one."""
        return self._file

    @property
    def allows_outside(self) -> bool:
        """Whether hierarchies may lie outside of the folder."""
        return self._outside

    @property
    def sha256(self) -> str:
        """The digest of the policy's file, byte by byte; of its canonical JSON where it came from Python."""
        return self._sha256 or self.content_sha256

    @property
    def content_sha256(self) -> str:
        """The digest of the content of the policy, for a policy from any source."""
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
    def sensitive_sets(self) -> list[str]:
        """The sensitive columns of item sets that promises are about."""
        return [name for name in self.sensitive if self.columns[name].kind == "items"]

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

    @property
    def transformed(self) -> dict[str, list[Transformation]]:
        """The columns with transformations, and these in order."""
        return {name: spec.transform for name, spec in self.columns.items() if spec.transform}

    @property
    def transforms(self) -> bool:
        """Whether cells are transformed, or records are sampled, before anything else is done."""
        return self.sample is not None or bool(self.transformed)

    def shows_pseudonym(self, name: str) -> bool:
        """Return whether a release shows pseudonyms in a column, which nobody connects with values without the key."""
        return any(step.name == "pseudonym" for step in self.columns[name].transform or ())

    @property
    def numbers_subjects(self) -> Literal["per-class", "linked"] | None:
        """What numbers in the subject column mean; None if the release has no such numbers."""
        if self.subject is None or not self.counts_subjects or self.shows_pseudonym(self.subject):
            return None
        return self.release.subjects

    @property
    def carried(self) -> list[str]:
        """The columns that a release shows as they are after their transformations."""
        return [
            name
            for name, spec in self.columns.items()
            if spec.role in ("sensitive", "insensitive") or (spec.role == "subject" and self.shows_pseudonym(name))
        ]

    def with_pseudonyms(self) -> Policy:
        """Return the policy in which identifiers that are released as pseudonyms have a role that is released."""
        changed = {
            name: spec.model_copy(update={"role": "insensitive"})
            for name, spec in self.columns.items()
            if spec.role == "identifier" and self.shows_pseudonym(name)
        }
        return self.model_copy(update={"columns": {**self.columns, **changed}}) if changed else self

    def with_kinds(self) -> Policy:
        """Return the policy in which columns are categorical if transformations make texts of them."""
        changed = {
            name: spec.model_copy(update={"kind": "categorical"})
            for name, spec in self.columns.items()
            if spec.transform and spec.kind is None and spec.role in ("quasi", "sensitive") and self.shows_text(name)
        }
        return self.model_copy(update={"columns": {**self.columns, **changed}}) if changed else self

    def shows_text(self, name: str) -> bool:
        """Return whether transformations make texts of a column, such as labels or pseudonyms of digits."""
        steps = self.columns[name].transform or []
        return bool(steps) and result_of(steps[-1]) == "texts"

    def carrying_quasi(self, perturbed: Collection[str] = ()) -> Policy:
        """Return the policy with unchanged quasi-identifiers.

        Those that are ``perturbed`` are encoded like sensitive columns, value by value, without their hierarchies.
        """

        def plain(name: str, spec: ColumnSpec) -> ColumnSpec:
            if spec.role != "quasi":
                return spec
            if name not in perturbed:
                return ColumnSpec(role="insensitive")
            codes = spec.hierarchy is not None and spec.hierarchy.of_text
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

    def kept_in(self, folder: Path, sha256: str, keys: Path | None = None) -> Policy:
        """Return the policy as if read from a folder, from a file with this digest, and with its keys in ``keys``."""
        policy = self.model_copy()
        policy._folder, policy._sha256, policy._key_folder = folder, sha256, keys
        return policy

    @classmethod
    def load(cls, path: str | Path, *, allow_outside: bool = False, **checks: Any) -> Policy:
        """Read a policy from a YAML or JSON file; see :meth:`parse` for ``checks``.

        Hierarchies that it names have to lie in the folder of that file, or below it, unless ``allow_outside`` says
        that they may be anywhere.
        """
        path = Path(path)
        kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
        try:
            raw = content(path, LARGEST)
            text = raw.decode("utf-8-sig")
            data = json.loads(text, object_pairs_hook=_unique) if kind == "JSON" else yaml.load(text, _StrictLoader)
        except UnreadableError as error:
            raise PolicyError(Problem(str(path), error.what, error.hint)) from None
        except UnicodeDecodeError:
            raise PolicyError(Problem(str(path), "is not UTF-8 text.", "save the policy as UTF-8.")) from None
        except _DuplicateKeyError as error:
            raise PolicyError(Problem(str(path), f"names {error} twice.")) from None
        except BoundsError as error:
            raise PolicyError(Problem(str(path), f"{error}.")) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            place = f" near line {mark.line + 1}, column {mark.column + 1}" if mark else ""
            if isinstance(error, json.JSONDecodeError):
                place = f" near line {error.lineno}, column {error.colno}"
            raise PolicyError(Problem(str(path), f"is not well-formed {kind}{place}.")) from None
        empty = empty_problems(data)
        try:
            policy = cls.parse(data, folder=path.parent, **checks)
        except PolicyError as error:
            raise PolicyError([*error.problems, *empty]) from None
        if empty:
            raise PolicyError(empty)
        policy._file, policy._folder = path, path.parent
        policy._sha256 = hashlib.sha256(raw).hexdigest()
        return policy if allow_outside else policy.inside()

    def inside(self) -> Policy:
        """Return the policy, if the hierarchies that it names lie in its folder; raise those that do not."""
        problems = []
        hint = "copy it there, or allow it: --allow-outside, in Python load_policy(..., allow_outside=True)."
        for name, spec in self.columns.items():
            file = None if spec.hierarchy is None else spec.hierarchy.file
            files = [] if file is None else [(f"columns.{name}.hierarchy", file)]
            files += [
                (f"columns.{name}.transform.{number}.replace", step.replace.file)
                for number, step in enumerate(spec.transform or ())
                if step.replace is not None and step.replace.file is not None
            ]
            for where, path in files:
                if not _lies_in(self._folder, path):
                    what = f"its file is outside the folder of the policy: {path}."
                    problems.append(Problem(where, what, hint))
        if problems:
            raise PolicyError(problems)
        policy = self.model_copy()
        policy._outside = False
        return policy

    @classmethod
    def parse(
        cls, data: Any, *, methods: Mapping[str, Any] | None = None, stored: bool = False, folder: Path | None = None
    ) -> Policy:
        """Make a policy of a mapping, or raise one error that lists everything wrong with it.

        The short name of a built-in hierarchy means a file if there is one of this name in the ``folder``.
        ``methods`` is the registry of methods; with it, the ``method`` part is checked in the same pass (the caller
        knows the methods, this module does not). Of a policy that is ``stored``, in a plan, keys without an effect are
        let pass: an earlier version may have stored them, and nobody can edit them.
        """
        if isinstance(data, Policy):
            return data
        if not isinstance(data, Mapping):
            what = "a policy must be a mapping with the keys version, columns and require."
            raise PolicyError(what, hint="`sudare init` drafts one.")
        if too_much := out_of_bounds(data):
            raise PolicyError(f"the policy {too_much}.")
        data = _with_files(data, folder or Path())
        problems: list[Problem] = []
        policy: Policy | None = None
        try:
            policy = cls.model_validate(dict(data))
        except ValidationError as error:
            problems += [problem(details, list(cls.model_fields)) for details in error.errors()]
        problems += [*unfit(policy), *transformation_problems(policy)] if policy else roughly_unfit(data)
        problems += method_problems(data, methods)
        if not stored:
            told = {known.where for known in problems}  # of a key that is wrong in itself this is enough
            problems += [found for found in idle(data, methods) if found.where not in told]
        if problems or policy is None:
            raise PolicyError(dict.fromkeys(problems))
        return policy.with_pseudonyms().with_kinds()


def same_drive(folder: PurePath, file: str) -> bool:
    r"""Return whether a file is on the drive of a folder, or on its network share; only Windows has several.

    Nothing is asked of the system: merely to look for ``\\server\share`` would tell the server who is asking.
    """
    return (folder / file).drive.lower() == folder.drive.lower()


def _with_files(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a policy in which a single word that names a built-in hierarchy, and also a file, means the file."""
    columns = data.get("columns")
    if not isinstance(columns, Mapping):
        return dict(data)
    found = dict(columns)
    for name, spec in columns.items():
        word = spec.get("hierarchy") if isinstance(spec, Mapping) else None
        if isinstance(word, str) and "file" not in long_form(word) and word != "flat" and (folder / word).is_file():
            found[name] = {**spec, "hierarchy": {"file": word}}
    return {**data, "columns": found}


def _lies_in(folder: Path, file: str) -> bool:
    """Return whether a file is in a folder or below it, after following links."""
    if not same_drive(folder.absolute(), file):
        return False
    try:
        return (folder / file).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, or no name of a file
        return False


def _canonical(part: Any) -> str:
    """Return JSON that is the same for the same policy, in any order of its keys.

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


class _StrictLoader(Bounded, yaml.SafeLoader):
    """The safe YAML loader, with limits, and without repeated keys."""

    most_nodes = 100_000

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        _unique([(key, None) for key in keys if key is None or isinstance(key, str | int | float | bool | date)])
        return super().construct_mapping(node, deep)
