"""Pseudonyms as a step: values become keyed digests, and no two of them the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from sudare.core.errors import Problem
from sudare.policy import PseudonymSpec
from sudare.transformations.normal_texts import normal_texts
from sudare.transformations.pseudonyms import PseudonymCheck, pseudonyms
from sudare.transformations.secret_keys import SecretKey
from sudare.transformations.step import Findings, Place, text_kind


@dataclass(frozen=True)
class Pseudonyms:
    """Replaces values by pseudonyms under a key."""

    place: Place
    spec: PseudonymSpec
    key: SecretKey
    check: PseudonymCheck
    beside: tuple[str, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, place: Place, spec: PseudonymSpec, key: SecretKey) -> Pseudonyms:
        """Return a step that has not seen any values yet."""
        return cls(place, spec, key, PseudonymCheck(spec))

    def kind(self, given: pa.DataType) -> pa.DataType:
        """Return the type of the cells afterwards."""
        return text_kind(given)

    def apply(self, cells: pa.Array, beside: Mapping[str, pa.Array], findings: Findings) -> pa.Array:
        """Return the pseudonyms of the cells."""
        coded = cells if pa.types.is_dictionary(cells.type) else None
        texts = normal_texts(cells if coded is None else coded.dictionary)
        found = pseudonyms(self.key, self.spec, texts)
        self.check.add(texts, found)
        findings.checks[self.place] = self.problems
        return (found if coded is None else found.take(coded.indices)).cast(self.kind(cells.type))

    def problems(self) -> list[Problem]:
        """Return what is wrong with all pseudonyms together."""
        return self.check.problems(self.place.column)
