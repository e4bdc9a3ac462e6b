"""The way back from pseudonyms to the values behind them, for anyone who has the key and a table of the values.

Nothing can be computed back: the pseudonyms of all values of that table are computed, and compared with those that
were asked for. Before anybody gets a result, a line about the use is on the disk, in a log. It has neither a value nor
a pseudonym in it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sudare import __version__
from sudare.core.errors import ParameterError, PolicyError, Problem, TargetError, did_you_mean
from sudare.core.input_limits import UnreadableError, content
from sudare.core.operating_system import LOG_FILE, NEW_FILE, locked_folder, name_problems, user_name
from sudare.core.private_folders import locked_private_folder
from sudare.core.sizes import MIB
from sudare.policy import Policy, PseudonymSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import pseudonyms, shape
from sudare.transformations.secret_keys import SecretKey, load_key

LOG = "sudare-reidentify.jsonl"
"""The name of the log, in the folder of the policy, if the user names no other."""
LONGEST_REASON = 500
MOST = 256 * MIB
"""The largest list of pseudonyms, in bytes."""
_CHARACTERS = {"hex": "0 to 9 and a to f", "base32": "a to z and 2 to 7", "digits": "0 to 9"}


@dataclass(frozen=True)
class Reidentification:
    """What came of a question whose values certain pseudonyms stand for.

    Attributes:
        asked: how many different pseudonyms were asked for.
        found: how many of them have a value in the table.
        fingerprint: what the key is known by.
        log: the file with a line about this.
        path: the file with the values; None if none was found, and nothing was written.
    """

    asked: int
    found: int
    fingerprint: str
    log: Path
    path: Path | None

    @property
    def not_found(self) -> int:
        """How many of the pseudonyms have no value in the table."""
        return self.asked - self.found

    def to_dict(self) -> dict[str, Any]:
        """Return it in the types that JSON has."""
        return {
            "asked": self.asked,
            "found": self.found,
            "not_found": self.not_found,
            "key": self.fingerprint,
            "log": str(self.log),
            "out": None if self.path is None else str(self.path),
        }


@dataclass(frozen=True)
class Question:
    """A checked question: the pseudonyms of a column, their key, the reason, and the files for result and log."""

    column: str
    spec: PseudonymSpec
    key: SecretKey
    asked: pa.Array
    reason: str
    out: Path
    log: Path

    @classmethod
    def of(
        cls,
        policy: Policy,
        column: str,
        asked: str | Path | Iterable[str],
        *,
        reason: str,
        out: str | Path,
        log: str | Path | None = None,
    ) -> Question:
        """Check a question; ``asked`` is a pseudonym, several, or the path of a file with one in each line."""
        spec, where = pseudonyms_of(policy, column)
        key = load_key(spec.key, policy.folder, f"{where}.key")
        reason = " ".join(reason.split())
        found = list(dict.fromkeys(text.lower() for text in _listed(asked, column)))
        problems = [*_malformed(found, spec), *_reason_problems(reason, found)]
        if problems:
            raise ParameterError(problems)
        target, paper = Path(out), policy.folder / LOG if log is None else Path(log)
        _check_target(target, paper)
        return cls(column, spec, key, pa.array(found, pa.large_string()), reason, target, paper)

    def answer(self, ids: Iterable[pa.Array]) -> Reidentification:
        """Find the values among the cells of a table, note the use in the log, and then write them to a file."""
        pairs: dict[str, dict[str, None]] = {}
        for cells in ids:
            texts = normal_texts(cells.dictionary if pa.types.is_dictionary(cells.type) else cells).drop_null()
            made = pseudonyms(self.key, self.spec, texts)
            wanted = pc.is_in(made, value_set=self.asked)
            for pseudonym, text in zip(made.filter(wanted).to_pylist(), texts.filter(wanted).to_pylist(), strict=True):
                pairs.setdefault(pseudonym, {})[text] = None
        if any(
            re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self.reason) for texts in pairs.values() for text in texts
        ):
            what = "names a value that was found, but the log must not have any."
            raise ParameterError(Problem("reason", what, "say it without."))
        given = self.out if pairs else None
        result = Reidentification(len(self.asked), len(pairs), self.key.fingerprint, self.log, given)
        order = [pseudonym for pseudonym in self.asked.to_pylist() if pseudonym in pairs]
        rows = [(pseudonym, text) for pseudonym in order for text in pairs[pseudonym]]
        if given is None:
            append(self.log, self._entry(result))
        else:
            self._write(rows, result)
        return result

    def _entry(self, result: Reidentification) -> dict[str, Any]:
        """Return what the log says: who asked when and why for how many, and nothing of the people."""
        return {
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "user": user_name(),
            "reason": self.reason,
            "column": self.column,
            "space": self.spec.space,
            "key": result.fingerprint,
            "asked": result.asked,
            "found": result.found,
            "not_found": result.not_found,
            "sudare": __version__,
        }

    def _write(self, rows: Sequence[tuple[str, str]], result: Reidentification) -> None:
        """Write the result where nobody else sees it, then the log, and only then give the result its name."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([("pseudonym", "id"), *rows])
        try:
            with locked_private_folder(self.out.parent) as folder:
                written = folder / "result"
                with os.fdopen(os.open(written, NEW_FILE, 0o600), "wb") as file:
                    file.write(text.getvalue().encode("utf-8"))
                    file.flush()
                    os.fsync(file.fileno())
                append(self.log, self._entry(result))
                with locked_folder(self.out.parent) as flush:
                    _check_new(self.out)
                    written.rename(self.out)
                    flush()
        except OSError as error:
            raise TargetError(Problem(str(self.out), f"cannot be written: {error.strerror}.")) from None


def pseudonyms_of(policy: Policy, column: str) -> tuple[PseudonymSpec, str]:
    """Return how a policy makes the pseudonyms of a column, and where it says so; raise if it does not."""
    spec = policy.columns.get(column)
    if spec is None:
        what = f"there is no column '{column}' in the policy."
        raise PolicyError(Problem("column", what, did_you_mean(column, policy.columns)))
    steps = spec.transform or []
    where = f"columns.{column}.transform"
    if not any(step.pseudonym is not None for step in steps):
        named = [name for name, each in policy.columns.items() if any(step.pseudonym for step in each.transform or ())]
        hint = f"columns with pseudonyms: {', '.join(named)}." if named else "no column of this policy has them."
        raise PolicyError(Problem(where, "makes no pseudonyms.", hint))
    if len(steps) > 1 or steps[0].pseudonym is None:
        what = "pseudonym does not stand alone, so a cell of the release is not the pseudonym of an id."
        raise PolicyError(Problem(where, what, "compute the other steps yourself; sudare does not undo them."))
    return steps[0].pseudonym, f"{where}.0.pseudonym"


def _listed(asked: str | Path | Iterable[str], column: str) -> list[str]:
    """Return the pseudonyms that are asked for; those of a file without empty lines and a line with a name."""
    if isinstance(asked, Path):
        try:
            text = content(asked, MOST).decode("utf-8-sig", "replace")
        except UnreadableError as error:
            raise ParameterError(Problem(str(asked), error.what, error.hint)) from None
        lines = [line.strip().strip('"') for line in text.splitlines()]
        if lines and lines[0] in (column, "pseudonym"):
            del lines[0]
    else:
        lines = [asked.strip()] if isinstance(asked, str) else [each.strip() for each in asked]
    return [line for line in lines if line]


def _malformed(asked: Sequence[str], spec: PseudonymSpec) -> list[Problem]:
    """Return a problem if some of what is asked for cannot be a pseudonym; none of it is repeated."""
    form = f"{spec.characters} characters from {_CHARACTERS[spec.form]}"
    if not asked:
        return [Problem("pseudonyms", "there are none.", f"name some, or a file with one in each line: {form}.")]
    odd = sum(re.match(shape(spec), text) is None for text in asked)
    if not odd:
        return []
    what = f"{odd:,} of {len(asked):,} {'is no pseudonym' if odd == 1 else 'are no pseudonyms'} of this column."
    return [Problem("pseudonyms", what, f"a pseudonym has {form}; a file has one in each line, and nothing else.")]


def _reason_problems(reason: str, asked: Sequence[str]) -> list[Problem]:
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        what = f"must be a text of up to {LONGEST_REASON} characters that says why people have to be identified."
        return [Problem("reason", what)]
    known, length = set(asked), max(map(len, asked), default=1)
    if any(reason[start : start + length].lower() in known for start in range(len(reason))):
        return [Problem("reason", "names a pseudonym, but the log must not have any.", "say it without.")]
    return []


def _check_target(out: Path, log: Path) -> None:
    """Raise if the result or the log surely cannot be written; this is before anything is read."""
    for path in (out, log):
        if problems := name_problems(path):
            raise TargetError(problems)
        if not path.parent.is_dir():
            raise TargetError(Problem(str(path.parent), "is not a folder that exists.", "make it first."))
    if out.absolute() == log.absolute():
        raise TargetError(Problem(str(out), "is also the log.", "name another file."))
    _check_new(out)


def _check_new(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise TargetError(Problem(str(path), "exists already.", "choose another name, or remove it."))


def append(log: Path, entry: dict[str, Any]) -> None:
    """Append a line to a log and make sure that it is on the disk, or raise: then nobody may get a result."""
    hint = "name another log; without a log nothing is given."
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8") + b"\n"
    try:
        with locked_folder(log.parent) as flush:
            with os.fdopen(os.open(log, LOG_FILE, 0o600), "r+b", buffering=0) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise TargetError(Problem(str(log), "is not a regular file, so it would keep nothing.", hint))
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # somebody's line was cut off
                        line = b"\n" + line
                while line:
                    line = line[file.write(line) :]
                os.fsync(file.fileno())
            flush()
    except OSError as error:
        raise TargetError(Problem(str(log), f"the log cannot be written: {error.strerror}.", hint)) from None
