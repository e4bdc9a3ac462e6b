"""Columns, transformed: batch by batch where cells stand for themselves, and as a whole where they do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.randomness import Entropy
from sudare.policy import Policy
from sudare.transformations.column_steps import Keys, prepared, sample_of
from sudare.transformations.noise import Noise, correlated
from sudare.transformations.samples import Sample
from sudare.transformations.step import Findings, Step, inner, is_text


@dataclass
class Transformed:
    """The transformations of some columns of one table, while it is read."""

    policy: Policy
    keys: Keys
    steps: Mapping[str, list[Step]]
    sample: Sample | None
    entropy: Entropy
    findings: Findings = field(default_factory=Findings)

    @classmethod
    def of(
        cls, policy: Policy, kinds: Mapping[str, pa.DataType], names: Collection[str], seed: int | None = None
    ) -> Transformed:
        """Return the transformations of some columns, ready to be applied, or raise all that is wrong with them."""
        keys = Keys.of(policy, seed)
        steps = prepared(policy, kinds, names, keys, seed)
        return cls(policy, keys, steps, sample_of(policy, keys, seed), Entropy(seed))

    @property
    def whole(self) -> bool:
        """Whether some step needs all cells of a column at once."""
        return any(step.whole for steps in self.steps.values() for step in steps)

    def kind(self, name: str, given: pa.DataType) -> pa.DataType:
        """Return the type that a column has in the end."""
        for step in self.steps.get(name, ()):
            given = step.kind(given)
        return given

    def sampled(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the records of a batch that are in the sample; all of them if none is asked for."""
        if self.sample is None:
            return batch
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        return batch.filter(self.sample.chosen(len(batch), columns))

    def columns(self, given: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        """Return columns with their transformations applied. Steps take the columns beside them as they are given."""
        rows = len(next(iter(given.values()), ()))
        found = {name: self._without_missing(given[name]) for name in self.steps}
        place = dict.fromkeys(self.steps, 0)
        while any(place[name] < len(steps) for name, steps in self.steps.items()):
            moved = False
            for name, steps in self.steps.items():
                while place[name] < len(steps) and _group(steps[place[name]]) is None:
                    found[name] = steps[place[name]].apply(found[name], given, self.findings)
                    place[name] += 1
                    moved = True
            moved = self._correlated(found, place) or moved
            assert moved  # columns with correlated noise name each other, which the policy was checked for
        if self.findings.start is not None:
            self.findings.start += rows
        return {**given, **found}

    def _correlated(self, found: dict[str, pa.Array], place: dict[str, int]) -> bool:
        """Add correlated noise to the columns of one group, if all of them have come to that step."""
        for name in self.steps:
            group = _group(_next(self.steps, place, name))
            if group is None or not all(_group(_next(self.steps, place, each)) == group for each in group):
                continue
            noises = [
                (noise, found[each])
                for each in sorted(group)
                if isinstance(noise := _next(self.steps, place, each), Noise)
            ]
            for each, cells in zip(sorted(group), correlated(noises, self.entropy, self.findings), strict=True):
                found[each] = cells
                place[each] += 1
            return True
        return False

    def _without_missing(self, cells: pa.Array) -> pa.Array:
        """Return cells with null for texts that stand for missing ones."""
        if not is_text(cells.type):
            return cells
        tokens = pa.array(self.policy.source.missing_everywhere, inner(cells.type))
        coded = cells if pa.types.is_dictionary(cells.type) else None
        values = cells if coded is None else coded.dictionary
        values = pc.if_else(pc.is_in(values, value_set=tokens), pa.scalar(None, values.type), values)
        # as a dictionary with a null in it, not all functions would take it
        return values if coded is None else values.take(coded.indices)


def _group(step: Step | None) -> frozenset[str] | None:
    """Return the columns that share correlated noise with the column of a step."""
    if isinstance(step, Noise) and step.spec.correlated_with is not None:
        return frozenset({step.place.column, *step.spec.correlated_with})
    return None


def _next(steps: Mapping[str, list[Step]], place: Mapping[str, int], name: str) -> Step | None:
    return steps[name][place[name]] if name in steps and place[name] < len(steps[name]) else None
