"""What a release does not promise, and its reader should know: the ``warnings`` of a certificate.

A warning breaks no promise, so that the release is handed over all the same. The audit finds those that follow from the
rows (see :mod:`sudare.audit.uniqueness`). Whoever makes a release adds others to ``Asked.warnings``, one line each::

    asked.warnings.append(ReleaseWarning("tight-ranges", "Ranges end at values of single records."))

They stand in the certificate after those of the audit, are printed after the summary of a release, and head its report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ReleaseWarning:
    """One warning: its kind in a word or two, the sentence that is shown, the columns that it is about, and figures.

    Neither the sentence nor a figure may be, or lead to, a value of a person.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()
    figures: Mapping[str, int | float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as it stands in a certificate."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "figures": dict(self.figures),
            "text": self.text,
        }


TIGHT = ReleaseWarning(
    "tight-ranges",
    "The policy asks for tight ranges. Their ends and the members of sets may be values that only one person has.",
)
"""What to say where rare values are shown."""
