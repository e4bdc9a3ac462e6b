"""Replacing values by a list: from the policy, or from a CSV file with the header ``from,to``."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import PolicyError, Problem
from sudare.core.input_limits import UnreadableError, content
from sudare.core.sizes import MIB
from sudare.policy import ReplaceSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.step import Findings, Place, text_kind

LARGEST = 256 * MIB
"""The largest file of replacements, in bytes."""


@dataclass(frozen=True)
class Replacement:
    """Replaces values by a list; values are compared as pseudonyms compare them, so 1 and 1.0 are the same."""

    place: Place
    spec: ReplaceSpec
    old: pa.Array
    new: pa.Array
    beside: tuple[str, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, place: Place, spec: ReplaceSpec, folder: Path) -> Replacement:
        """Return a replacement whose list has been read; raise if something is wrong with the list."""
        pairs = spec.values if spec.file is None else _read(place, folder / spec.file)
        assert pairs is not None
        old = normal_texts(pa.array(list(pairs), pa.large_string()))
        if old.null_count or pc.count_distinct(old).as_py() < len(old):
            what = "names a value twice: 1 and 1.0 are one, and so are texts that differ in blanks around them."
            raise PolicyError(Problem(place.where, what, "name each value once, and no empty one."))
        return cls(place, spec, old, pa.array(list(pairs.values()), pa.large_string()))

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return what the list says of the cells."""
        kind = self.kind(cells.type)
        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        texts = normal_texts(coded.dictionary)
        at = pc.index_in(texts, value_set=self.old)
        found = self.new.take(at)
        if self.spec.other == "keep":
            found = pc.if_else(at.is_valid(), found, texts)
        elif self.spec.other == "error":
            gaps = pc.and_(texts.is_valid(), at.is_null()).take(coded.indices)
            hint = "add them, or set else: keep or else: null."
            findings.note(self.place, gaps, "are not in the list of replacements", hint)
        return found.take(coded.indices).cast(kind)


def _read(place: Place, path: Path) -> dict[str, str | None]:
    """Return the pairs of a file, or raise what is wrong with it. No message repeats what is in it."""
    where = f"{place.where}.file"
    try:
        text = content(path, LARGEST).decode("utf-8-sig")
    except UnreadableError as error:
        raise PolicyError(Problem(where, error.what, error.hint)) from None
    except UnicodeDecodeError:
        raise PolicyError(Problem(where, "is not UTF-8 text.", "save it as UTF-8.")) from None
    head = text.splitlines()[0].strip() if text.strip() else ""
    if head not in ("from,to", "from;to"):
        what = "needs the header from,to (or from;to), and then a line for each value."
        raise PolicyError(Problem(where, what, "write it as CSV with two columns."))
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=head[4], strict=True))[1:]
    except csv.Error:
        raise PolicyError(Problem(where, "is not well-formed CSV.", "check its quotation marks.")) from None
    lines = [line for line in lines if line]
    ragged = [number for number, line in enumerate(lines, 2) if len(line) != 2]
    if ragged or not lines:
        what = f"line {ragged[0]} has not two fields." if ragged else "lists no values."
        raise PolicyError(Problem(where, what, "write one old and one new value on each line."))
    if len({line[0] for line in lines}) < len(lines):
        raise PolicyError(Problem(where, "names a value twice.", "name each value once."))
    return {old: new or None for old, new in lines}
