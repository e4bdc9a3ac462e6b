"""Plans: a finished global recoding, saved to be applied to new records of the same kind.

A plan holds the policy, its hierarchies and the level of every quasi-identifier. It holds nothing of the original
records, and needs no other file. It promises nothing about new records: they are audited like any others.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sudare import hierarchies
from sudare.core.errors import DataError, PolicyError, Problem, SudareError, TargetError
from sudare.core.input_limits import UnreadableError, content, out_of_bounds
from sudare.core.sizes import GIB
from sudare.policy import HierarchySpec, Policy, TClosenessSpec

FORMAT = 1
LARGEST = GIB
"""A plan's file, in bytes: it holds its hierarchies."""


@dataclass(frozen=True)
class Plan:
    """A decision without the data: the level of each quasi-identifier, the policy, and its hierarchies.

    Attributes:
        method: the name and the options of the method that decided.
        levels: the level of each quasi-identifier; 0 is unchanged.
        heights: the level at which each of them shows nothing.
        policy: the policy, as a mapping.
        policy_sha256: the digest of the policy.
        hierarchies: the hierarchies and lists of replacements that the policy names, as text.
        plan: the version of this format.
    """

    method: Mapping[str, Any]
    levels: Mapping[str, int]
    heights: Mapping[str, int]
    policy: Mapping[str, Any]
    policy_sha256: str
    hierarchies: Mapping[str, str]
    plan: int = FORMAT

    @classmethod
    def of(cls, policy: Policy, method: Mapping[str, Any], facts: Mapping[str, Any]) -> Plan:
        """Make a plan from the facts of a method about its decision."""
        written = policy.model_dump(exclude_none=True)
        texts: dict[str, str] = {}
        for number, (name, spec) in enumerate(policy.columns.items()):
            if spec.hierarchy is None:
                continue
            if not _asked_for(name, policy):
                del written["columns"][name]["hierarchy"]  # nobody read it, so that it may not even be there
            elif spec.hierarchy.file is not None or spec.hierarchy.tree is not None:
                file = f"{number}.csv"
                texts[file] = hierarchies.csv_text(hierarchies.given(spec.hierarchy, policy.folder))
                written["columns"][name]["hierarchy"] = {"file": file, "delimiter": ";"}
        for number, (name, step, path) in enumerate(_lists(policy), len(policy.columns)):
            texts[f"{number}.csv"] = content(policy.folder / path, LARGEST).decode("utf-8-sig")
            written["columns"][name]["transform"][step]["replace"]["file"] = f"{number}.csv"
        return cls(dict(method), facts["levels"], facts["heights"], written, policy.sha256, texts)

    def save(self, path: str | Path) -> None:
        """Write the plan, under another name first: it is whole or not there."""
        path = Path(path)
        with _beside(path) as new:
            new.write_text(
                json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
            )
            new.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan, or raise what is wrong with it."""
        try:
            data = json.loads(content(Path(path), LARGEST).decode("utf-8"))
            if out_of_bounds(data):
                raise RecursionError
            json.dumps(data, ensure_ascii=False).encode()  # half a character, which JSON can spell, cannot be written
        except UnreadableError as error:
            raise PolicyError(Problem(str(path), error.what, error.hint)) from None
        except RecursionError:
            raise PolicyError(Problem(str(path), "is not a plan: it is nested too deeply.")) from None
        except ValueError:
            raise PolicyError(Problem(str(path), "is not a plan: it is not JSON.")) from None
        if not isinstance(data, dict) or not _well_formed(data):
            what = f"is not a plan of this version ({FORMAT})."
            raise PolicyError(Problem(str(path), what, "`sudare anonymize ... --plan FILE` writes one."))
        return cls(**data)

    def policy_in(self, folder: Path, methods: Mapping[str, Any], keys: Path | None = None) -> Policy:
        """Return the policy, with its hierarchies as files in this folder; ``keys`` is the folder of secret keys."""
        try:
            policy = Policy.parse(self.policy, methods=methods, stored=True)
        except SudareError as error:
            raise PolicyError([Problem(f"plan: {p.where}", p.what, p.hint) for p in error.problems]) from None
        wrong = sorted({*policy.quasi} ^ {*self.levels} | {*policy.quasi} ^ {*self.heights})
        if wrong:
            raise PolicyError(Problem("plan", f"its levels do not match its policy in {', '.join(map(repr, wrong))}."))
        specs = [spec.hierarchy for spec in policy.columns.values() if spec.hierarchy is not None]
        named = {spec.file for spec in specs if spec.file is not None} | {path for _, _, path in _lists(policy)}
        if named != set(self.hierarchies):
            raise PolicyError(Problem("plan", "its policy names hierarchies that it does not contain."))
        for name, text in self.hierarchies.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        problems = [problem for name in policy.quasi for problem in self._wrong_height(name, policy, folder)]
        if problems:
            raise PolicyError(problems)
        return policy.kept_in(folder, self.policy_sha256, keys)

    def check_heights(self, heights: Mapping[str, int]) -> None:
        """Raise if the columns of a table have other levels than those that were decided on.

        Dates and times may: a day is a level only above times of day.
        """
        problems = [
            Problem(
                f"column '{name}'",
                f"has {height} levels above its values; in the plan it has {self.heights[name]}.",
                "make a new plan for these records.",
            )
            for name, height in heights.items()
            if height != self.heights.get(name, height)
        ]
        if problems:
            raise DataError(problems)

    def _wrong_height(self, name: str, policy: Policy, folder: Path) -> list[Problem]:
        """Return what is wrong with a hierarchy, its height, and the level in it."""
        where, level, height = f"plan: column '{name}'", self.levels[name], self.heights[name]
        try:
            possible = _heights(policy.columns[name].hierarchy, folder)
        except SudareError as error:
            return [Problem(where, problem.what, problem.hint) for problem in error.problems]
        if height not in possible:
            return [Problem(where, f"its hierarchy has {max(possible)} levels above the values, not {height}.")]
        if not 0 <= level <= height:
            return [Problem(where, f"a level must be from 0 to {height}; got {level}.")]
        return []


def _lists(policy: Policy) -> list[tuple[str, int, str]]:
    """Return the files with lists of replacements: the column, the number of the step, and the file."""
    return [
        (name, number, step.replace.file)
        for name, steps in policy.transformed.items()
        for number, step in enumerate(steps)
        if step.replace is not None and step.replace.file is not None
    ]


def check_room(path: Path, taken: Mapping[str, Iterable[Path]]) -> None:
    """Raise if a plan cannot be saved at this path; ``taken`` lists other paths in use."""
    with _beside(path) as new:
        new.touch()
        folds_case = new.with_name(new.name.swapcase()).exists()
        for what, others in taken.items():
            if any(_same(path, other, folds_case) for other in others):
                raise TargetError(Problem(str(path), what, "choose another name for the plan."))


def _same(one: Path, other: Path, folds_case: bool) -> bool:
    """Return whether two paths are of one file, now or later; ``folds_case``: letters a and A are the same in names."""
    names = [str(each.resolve()) for each in (one, other)]
    if names[0] == names[1] or (folds_case and names[0].casefold() == names[1].casefold()):
        return True
    return one.exists() and other.exists() and one.samefile(other)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder, and remove the file; errors name the final path."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield new
    except OSError as error:
        raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def _asked_for(name: str, policy: Policy) -> bool:
    """Return whether a column's hierarchy is of any use: that of a sensitive column is where distances are measured."""
    return policy.columns[name].role in ("quasi", "subject") or any(
        isinstance(spec, TClosenessSpec) and spec.column == name and spec.distance == "hierarchical"
        for spec in policy.require
    )


def _heights(spec: HierarchySpec | None, folder: Path) -> set[int]:
    """Return the heights that a hierarchy may have; the level of days is there only above times of day."""
    if spec is None or spec.flat:
        return {1}
    if spec.prefix is not None:
        return {len(spec.prefix)}
    if spec.builtin is not None:
        return hierarchies.builtin_heights(spec.builtin)
    if spec.bands is not None:
        return {len(spec.bands) + 1}
    if spec.dates is not None:
        return {len(spec.dates) + 1, len([level for level in spec.dates if level != "day"]) + 1}
    return {hierarchies.given(spec, folder).depth}


def _well_formed(data: Mapping[str, Any]) -> bool:
    """Return whether a plan has all its parts, and names no file outside of its own."""
    parts = {"method": dict, "levels": dict, "heights": dict, "policy": dict, "policy_sha256": str, "hierarchies": dict}
    if type(data.get("plan")) is not int or data["plan"] != FORMAT:
        return False
    if set(data) != {"plan", *parts} or not all(isinstance(data[key], kind) for key, kind in parts.items()):
        return False
    numbers = [*data["levels"].values(), *data["heights"].values()]
    files = [str(name) for name in data["hierarchies"]]
    return (
        isinstance(data["method"].get("name"), str)
        and all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
        and all(isinstance(text, str) for text in data["hierarchies"].values())
        and all(re.fullmatch(r"[0-9]{1,6}\.csv", name) for name in files)
    )
