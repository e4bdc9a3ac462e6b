"""Proofs of transformations: that the cells of a column have the form which the policy says.

There is one guarantee for each transformed column. It counts the cells that break the form; its note says what was
proven, and what rests on whoever made the release. Nothing is said about cells in which the file shows no form: no file
shows that dates were shifted, or that values changed places.

All columns are read in one pass. SQL leaves out the cells that it sees to have their form; the different others are
looked at one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.audits.audit_report import Guarantee
from sudare.audits.auditor_input import APART, DRAWN, SETS, AuditorInput
from sudare.audits.equivalence_classes import Classes
from sudare.audits.hierarchy import read_tree
from sudare.audits.release_columns import Release
from sudare.audits.rule_levels import is_written
from sudare.audits.transformation_cells import Checked, Groups, Tally, doubtful
from sudare.audits.transformation_entries import limits_of
from sudare.audits.transformation_forms import Anything, Empty
from sudare.audits.transformation_steps import aggregated, left_by, list_of
from sudare.core.sizes import MANY_ROWS
from sudare.policy import Policy, PseudonymSpec, ReplaceSpec, RoundSpec, Transformation

MODEL = "transformation"
AGGREGATED = "microaggregation"
"""The method whose columns show means of several records."""
_TRACELESS = ("shift", "swap", "shuffle", "noise")
"""What leaves no trace in the cells."""


@dataclass(frozen=True)
class Forms:
    """The transformed columns of a release, and for each of them which steps its cells prove."""

    policy: Policy
    columns: Mapping[str, Checked]
    proven: Mapping[str, tuple[bool, ...]]

    @classmethod
    def of(cls, policy: Policy, told: AuditorInput) -> Forms:
        """Return the forms that the transformations of a policy leave."""
        columns, proven = {}, {}
        maker = told.maker(policy)
        for name, steps in policy.transformed.items():
            lists = {
                number: list_of(step.step, policy.folder, f"columns.{name}.transform.{number}.replace")
                for number, step in enumerate(steps)
                if isinstance(step.step, ReplaceSpec)
            }
            left = left_by(steps, limits_of(told.transformations(), name, steps), lists)
            if name in _aggregated_columns(policy, maker):
                left = aggregated(left, steps)
            spec = policy.columns[name]
            generalized = spec.role == "quasi" and maker not in (SETS, APART, DRAWN)
            columns[name] = Checked(
                name,
                left.form,
                generalized,
                policy.release.ranges == "safe",
                spec.kind == "items" or (maker == SETS and spec.role == "sensitive"),
                _groups(policy, name) if generalized else None,
            )
            proven[name] = left.proven
        return cls(policy, columns, proven)

    def looked_at(self, names: Collection[str]) -> list[str]:
        """Return which of some columns have to be read."""
        return [name for name, each in self.columns.items() if name in names and not isinstance(each.form, Anything)]

    def beside(self, release: Release) -> dict[str, str]:
        """Return SQL columns to compute while a slow release is read: the cells of other columns than those of classes.

        There are none if the release is quick to read.
        """
        if not release.slow:
            return {}
        return {
            f"t{release.names.index(name)}": self._doubtful(release, name, f"c{release.names.index(name)}")
            for name in self.looked_at(release.names)
            if self.policy.columns[name].role != "quasi"
        }

    def look(
        self,
        connection: Any,
        release: Release,
        classes: Classes | None = None,
        loaded: Collection[str] = (),
        names: Collection[str] | None = None,
    ) -> dict[str, Tally]:
        """Look at the cells of all columns, or of these ``names``.

        Quasi-identifiers of ``classes`` are read from these, and what was ``loaded`` beside them from there.
        """
        wanted = [name for name in self.looked_at(release.names) if names is None or name in names]
        found = {name: Tally() for name in wanted}
        with release.reading():
            for query in self._queries(connection, release, wanted, classes, loaded):
                for place, cells in _read(connection, query):
                    found[wanted[place]].add(self.columns[wanted[place]].look(cells))
        return found

    def _queries(
        self,
        connection: Any,
        release: Release,
        wanted: Sequence[str],
        classes: Classes | None,
        loaded: Collection[str],
    ) -> Iterator[str]:
        """Yield SQL that gives cells with their number, and the place of their column among the wanted ones."""
        held = {} if classes is None else {name: cell for name, cell in classes.quasi.items() if name in wanted}
        if held:
            texts = {name: self._doubtful(release, name, cell, typed=False) for name, cell in held.items()}
            yield self._query(wanted, texts, "class", "size")
        rest = [name for name in wanted if name not in held]
        there = {name: f"t{release.names.index(name)}" for name in rest}
        texts = {name: self._doubtful(release, name, f"c{release.names.index(name)}") for name in rest}
        if rest and set(there.values()) <= set(loaded):
            yield self._query(wanted, there, "source")
        elif release.count is not None:
            for name in rest:
                source, _ = release.ways(connection, [name], "")
                yield self._query(wanted, {name: texts[name]}, source, "counted_rows")
        elif rest:
            yield self._query(wanted, texts, release.source(connection, rest, again=False))

    def _doubtful(self, release: Release, name: str, raw: str, *, typed: bool = True) -> str:
        kind = release.types[release.names.index(name)]
        return doubtful(raw, kind, self.policy.columns[name], self.columns[name], typed=typed)

    def _query(self, wanted: Sequence[str], texts: Mapping[str, str], source: str, weight: str = "1") -> str:
        """Return SQL that counts equal cells of each column; the source is read once."""
        every = ", ".join(f"{text} AS x{wanted.index(name)}" for name, text in texts.items())
        parts = []
        for name in texts:
            place = wanted.index(name)
            cell = f"unnest(x{place})" if self.columns[name].sets else f"x{place}"
            parts.append(
                f"SELECT {place} AS place, cell, CAST(sum(weight) AS BIGINT) AS many "
                f"FROM (SELECT {cell} AS cell, weight FROM doubtful WHERE x{place} IS NOT NULL) "
                "WHERE cell IS NOT NULL GROUP BY cell"
            )
        given = f"SELECT {every}, {weight} AS weight FROM {source}"
        return f"WITH doubtful AS MATERIALIZED ({given}) {' UNION ALL '.join(parts)}"

    def guarantees(self, found: Mapping[str, Tally], names: Collection[str]) -> list[Guarantee]:
        """Return what was found of each column; ``names`` are the columns of the release."""
        return [self._guarantee(name, found.get(name), name in names) for name in self.columns]

    def _guarantee(self, name: str, found: Tally | None, there: bool) -> Guarantee:
        """Return what the cells of a column prove; cells that nobody looked at prove nothing."""
        steps, checked = self.policy.transformed[name], self.columns[name]
        parameters = {"column": name, "steps": [{step.name: step.parameters()} for step in steps]}
        if not there:
            return Guarantee(MODEL, parameters, 0, 0, True, 0, "The release does not have this column.")
        note = " ".join(_notes(steps, self.proven[name], checked, found or Tally()))
        if isinstance(checked.form, Anything):
            return Guarantee(MODEL, parameters, None, None, True, 0, note)
        if found is None:
            return Guarantee(MODEL, parameters, 0, None, False, 0, "Its cells were not looked at.")
        return Guarantee(MODEL, parameters, 0, found.offending, not found.offending, found.offending, note)


def merged(parts: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """Add up what parts of a release showed."""
    whole: dict[str, Tally] = {}
    for part in parts:
        for name, found in part.items():
            whole.setdefault(name, Tally()).add(found)
    return whole


def _read(connection: Any, query: str) -> Iterator[tuple[int, Iterator[tuple[str, int]]]]:
    """Yield the cells of each column, in parts."""
    for batch in connection.sql(query).to_arrow_reader(MANY_ROWS):
        places, cells, many = (batch.column(at).to_pylist() for at in range(3))
        for place in set(places):
            yield place, ((cell, int(n)) for at, cell, n in zip(places, cells, many, strict=True) if at == place)


def _aggregated_columns(policy: Policy, maker: str) -> Collection[str]:
    """Return the quasi-identifiers that may show means of several records."""
    if maker != AGGREGATED:
        return ()
    options = policy.method.options if policy.method.name == maker else {}
    if options.get("representative") in ("mode", "medoid"):
        return ()
    named = options.get("columns")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str)]
    return [name for name in policy.quasi if policy.columns[name].hierarchy is None]


def _groups(policy: Policy, name: str) -> Groups | None:
    """Return the labels of groups of a column's hierarchy."""
    spec = policy.columns[name].hierarchy
    if spec is None:
        return None
    labels: frozenset[str] = frozenset()
    if is_written(spec):
        tree = read_tree(spec, policy.folder, name, (), anywhere=policy.allows_outside)
        leaves = set(tree.leaves.values())
        labels = frozenset(label for label, nodes in tree.labelled().items() if nodes - leaves)
    return Groups(spec, labels)


def _notes(steps: Sequence[Transformation], proven: Sequence[bool], checked: Checked, found: Tally) -> Iterator[str]:
    """Yield what was proven, or has to be so, and what was not."""
    if isinstance(checked.form, Anything):
        yield "Nothing follows from the cells."
    else:
        verb = "has to be" if found.offending else "is"
        empty = "" if isinstance(checked.form, Empty) else ", or missing"
        yield f"Every value {verb} {checked.form.words}{empty}."
    if found.groups:
        yield f"{found.groups:,} cells are groups of the hierarchy, which cover such values."
    if found.outward:
        yield f"{found.outward:,} cells are ranges that end in round numbers instead of rare values."
    unknown = [step for step, shown in zip(steps, proven, strict=True) if not shown]
    hidden = [step.name for step in steps if step.name in _TRACELESS or step in unknown]
    hidden += ["random rounding" for step in steps if isinstance(step.step, RoundSpec) and step.step.how == "random"]
    if hidden:
        yield f"The cells do not show {' and '.join(dict.fromkeys(hidden))}: this rests on whoever made the release."
    if any(getattr(step.step, "share", None) is not None for step in unknown):
        yield "Its limit is in the certificate alone."
    if any(isinstance(step.step, PseudonymSpec) for step in steps):
        yield "That pseudonyms come from a secret key rests on whoever made them. Pseudonyms are not anonymity."
