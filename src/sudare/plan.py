"""Plans: a finished global recoding, saved so that it can be applied to other records of the same kind.

A plan holds the policy, its hierarchies and the level of every quasi-identifier. It holds nothing of the records that
it was decided on, and needs no other file. It promises nothing about new records: these are audited like any others.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sudare import hierarchies
from sudare.errors import PolicyError, Problem, SudareError, TargetError
from sudare.policy import Policy

FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """What was decided: ``levels`` of ``heights`` per quasi-identifier, under a policy with its hierarchies inside."""

    method: Mapping[str, Any]
    levels: Mapping[str, int]
    heights: Mapping[str, int]
    policy: Mapping[str, Any]
    policy_sha256: str
    hierarchies: Mapping[str, str]
    plan: int = FORMAT

    @classmethod
    def of(cls, policy: Policy, method: Mapping[str, Any], facts: Mapping[str, Any]) -> Plan:
        """Make a plan of what a method tells about its decision."""
        written = policy.model_dump(exclude_none=True)
        texts: dict[str, str] = {}
        for number, (name, spec) in enumerate(policy.columns.items()):
            if spec.hierarchy is not None and spec.hierarchy.file is not None:
                tree = hierarchies.load(policy.folder / spec.hierarchy.file, spec.hierarchy.delimiter)
                file = f"{number}.csv"
                texts[file] = hierarchies.csv_text(tree)
                written["columns"][name]["hierarchy"] = {"file": file, "delimiter": ";"}
        return cls(dict(method), facts["levels"], facts["heights"], written, policy.sha256, texts)

    def save(self, path: str | Path) -> None:
        """Write the plan, under another name first: it is whole or not there."""
        path = Path(path)
        new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            new.write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            new.replace(path)
        except OSError as error:
            raise TargetError(Problem(str(path), f"cannot be written: {error.strerror}.")) from None
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan, or raise what is wrong with it."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PolicyError(Problem(str(path), "there is no such file.")) from None
        except OSError as error:
            raise PolicyError(Problem(str(path), f"cannot be read: {error.strerror}.")) from None
        except (ValueError, RecursionError):
            raise PolicyError(Problem(str(path), "is not a plan: it is not JSON.")) from None
        if not isinstance(data, dict) or data.get("plan") != FORMAT or not _well_formed(data):
            what = f"is not a plan of this version ({FORMAT})."
            raise PolicyError(Problem(str(path), what, "`sudare anonymize ... --plan FILE` writes one."))
        return cls(**data)

    def policy_in(self, folder: Path, methods: Mapping[str, Any]) -> Policy:
        """Return the policy, with its hierarchies as files in this folder."""
        for name, text in self.hierarchies.items():
            (folder / name).write_text(text, encoding="utf-8")
        try:
            policy = Policy.parse(self.policy, methods=methods)
        except SudareError as error:
            raise PolicyError([Problem(f"plan: {p.where}", p.what, p.hint) for p in error.problems]) from None
        wrong = sorted(set(policy.quasi) ^ set(self.levels))
        if wrong:
            raise PolicyError(Problem("plan", f"its levels and its policy differ in {', '.join(map(repr, wrong))}."))
        return policy.kept_in(folder, self.policy_sha256)


def _well_formed(data: Mapping[str, Any]) -> bool:
    """Say whether a plan has all its parts, and names no file outside of its own."""
    parts = {"method": dict, "levels": dict, "heights": dict, "policy": dict, "policy_sha256": str, "hierarchies": dict}
    if set(data) != {"plan", *parts} or not all(isinstance(data[key], kind) for key, kind in parts.items()):
        return False
    numbers = [*data["levels"].values(), *data["heights"].values()]
    files = [str(name) for name in data["hierarchies"]]
    return (
        all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
        and all(isinstance(text, str) for text in data["hierarchies"].values())
        and all(name == f"{name.partition('.')[0]}.csv" and name.partition(".")[0].isdigit() for name in files)
    )
