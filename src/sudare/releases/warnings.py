"""Warnings of a certificate: what readers should know of a release although it keeps its promises.

Most say what it may reveal, and one that it shows nothing. A warning breaks no promise, so the release is placed all
the same. The audit finds the warnings that follow from the rows (see :mod:`sudare.audits.uniqueness`). Code that makes
a release adds others to ``Request.warnings``, one line each::

    asked.warnings.append(ReleaseWarning("tight-ranges", "Ranges end at values of single records."))

They are in the certificate after those of the audit, below the summary of a release, and at the top of its report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pyarrow as pa

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
