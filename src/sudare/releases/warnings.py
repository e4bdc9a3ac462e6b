"""Warnings of a certificate: what readers should know of a release although it keeps its promises.

Most say what it may reveal, and one that it shows nothing. A warning breaks no promise, so the release is placed all
the same. The audit finds the warnings that follow from the rows (see :mod:`sudare.audits.uniqueness`). Code that makes
a release adds others to ``Request.warnings``, one line each::

    asked.warnings.append(ReleaseWarning("tight-ranges", "Ranges end at values of single records."))

They are in the certificate after those of the audit, below the summary of a release, and at the top of its report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pyarrow as pa

from sudare.policy import NoiseSpec, Policy, ShiftSpec, SwapSpec, Transformation
from sudare.table import Column, Table
from sudare.table.value_spellings import fold


@dataclass(frozen=True)
class ReleaseWarning:
    """One warning: its kind in a word or two, the sentence that is shown, the columns that it is about, and figures.

    Neither the sentence nor a figure may be, or lead to, a value of a person.
    """

    kind: Annotated[str, "what it is about, in a word or two"]
    text: Annotated[str, "the warning as it is shown; it holds no value of a person"]
    columns: Annotated[tuple[str, ...], "the columns that it is about, by their names in the policy"] = ()
    figures: Annotated[Mapping[str, float], "its figures, by name; shares of records are rounded"] = field(
        default_factory=dict
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the warning in the form of a certificate."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "figures": dict(self.figures),
            "text": self.text,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ReleaseWarning:
        """Return a warning from a certificate."""
        columns = tuple(str(name) for name in given.get("columns") or ())
        return cls(str(given.get("kind", "")), str(given.get("text", "")), columns, dict(given.get("figures") or {}))


TIGHT = ReleaseWarning(
    "tight-ranges",
    "The policy sets tight ranges. Ends of ranges and members of sets may be values that only one person has.",
)
"""What to say where rare values are shown."""


def about_one_class(classes: int | None, lost: Mapping[str, float]) -> list[ReleaseWarning]:
    """Warn of a release whose quasi-identifiers tell no two records apart, although they did so before.

    ``classes`` is how many different combinations of cells they show. ``lost`` is the loss (GCP) of each of them: in a
    table of equal records nothing is lost.
    """
    told = [name for name, loss in lost.items() if loss > 0]
    if classes != 1 or not told:
        return []
    text = (
        "All records are in one class: the quasi-identifiers show the same for everybody, and nothing can be analysed "
        "by them. Ask for less, add hierarchies, or take another method."
    )
    return [ReleaseWarning("one-class", text, tuple(told))]


def about_spellings(table: Table) -> list[ReleaseWarning]:
    """Warn of quasi-identifiers with values that differ only in spelling; the warning gives their number.

    Spellings of a sensitive value are one value. Those of a quasi-identifier count as different values: they separate
    people with the same value, and a set may consist of them.
    """
    found = []
    for name, column in table.quasi.items():
        if isinstance(column, Column) and column.positions is not None:
            continue
        texts = [text for text in column.values.cast(pa.large_string()).to_pylist() if text is not None]
        again = len(texts) - len({fold(text, numbers=False) for text in texts})
        if again:
            values = f"{again:,} {'value' if again == 1 else 'values'}"
            text = (
                f"Column '{name}' is a quasi-identifier, and has {values} that differ from another one only in case, "
                "blanks or other ways to write the same characters. They count as different values. Write each value "
                "in one way before."
            )
            found.append(ReleaseWarning("spellings", text, (name,), {"values": again}))
    return found


SMALL_NOISE = 0.1
"""Noise with a smaller share of the column's standard deviation leaves values nearly as they were."""
SMALL_SWAP = 0.01
"""Values that change places within a smaller share of the ranks stay nearly where they were."""


def about_transformations(policy: Policy) -> list[ReleaseWarning]:
    """Warn of what transformations do not protect, although they do what the policy says."""
    return list(_about_transformations(policy))


def _about_transformations(policy: Policy) -> Iterator[ReleaseWarning]:
    pseudonyms = [name for name in policy.carried if policy.shows_pseudonym(name)]
    if pseudonyms:
        text = (
            f"Pseudonyms are not anonymity: those in {_listed(pseudonyms)} link all records of a person, in this "
            "release and in all others that use the key. Whoever knows one record of a person knows all of them."
        )
        yield ReleaseWarning("pseudonyms", text, tuple(pseudonyms))
    shifted = _with_step(policy, lambda step: isinstance(step.step, ShiftSpec) and step.step.key is None)
    if shifted:
        text = (
            f"Dates in {_listed(shifted)} are shifted by a key that is forgotten: in the next release the same people "
            "have other offsets, and their dates do not go together with these. Name a key if there will be another "
            "release."
        )
        yield ReleaseWarning("forgotten-shift", text, tuple(shifted))
    for name, steps in policy.transformed.items():
        for spec in (step.step for step in steps):
            if isinstance(spec, NoiseSpec):
                small = spec.scale if spec.kind == "multiplicative" else spec.sd
                if small is not None and small < SMALL_NOISE:
                    of = "values themselves" if spec.kind == "multiplicative" else "column's standard deviation"
                    text = (
                        f"The noise on '{name}' is small: {small:g} of the {of}. Values are shown nearly as they were, "
                        "and extreme ones are recognised."
                    )
                    yield ReleaseWarning("small-noise", text, (name,), {"sd": small})
            elif isinstance(spec, SwapSpec) and spec.within < SMALL_SWAP:
                text = (
                    f"Values of '{name}' change places within {100 * spec.within:g}% of the ranks: they are shown "
                    "nearly where they were."
                )
                yield ReleaseWarning("small-swap", text, (name,), {"within": spec.within})
    if policy.sample is not None:
        text = (
            f"The release is a random sample of {100 * policy.sample.share:g}% of the data. Promises and figures of "
            "risk are about the records in it. Another sample of the same people is another release, and both together "
            "show more than each."
        )
        yield ReleaseWarning("sample", text, (), {"share": policy.sample.share})


def about_figures(entries: Iterable[Mapping[str, Any]]) -> list[ReleaseWarning]:
    """Warn of what transformations found in the data; ``entries`` are what a certificate says of them."""
    found = list(entries)
    alone = [entry for entry in found if entry["figures"].get("alone")]
    return [*map(_about_alone, alone), *_about_lost_zeros(found)]


def _about_alone(entry: Mapping[str, Any]) -> ReleaseWarning:
    name, share = str(entry["column"]), float(entry["figures"]["alone"])
    text = (
        f"{100 * share:g}% of the records are alone in their group, so the shuffled '{name}' shows their own "
        "value. Shuffle within larger groups."
    )
    return ReleaseWarning("lone-shuffle", text, (name,), {"share": share})


def _about_lost_zeros(entries: Iterable[Mapping[str, Any]]) -> list[ReleaseWarning]:
    """Warn of codes that probably were numbers once."""
    names = tuple(str(entry["column"]) for entry in entries if entry["figures"].get("lost_zeros"))
    if not names:
        return []
    text = (
        f"Texts in {_listed(list(names))} are digits of several lengths, and none begins with a zero. If these are "
        "codes that were numbers once, their zeros are lost, and their first characters are those of other codes."
    )
    return [ReleaseWarning("lost-zeros", text, names)]


def _with_step(policy: Policy, wanted: Callable[[Transformation], bool]) -> list[str]:
    return [name for name, steps in policy.transformed.items() if any(map(wanted, steps))]


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
