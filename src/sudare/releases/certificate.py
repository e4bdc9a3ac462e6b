"""The certificate of a release: its promises, proofs and losses. It contains no value of a person.

``docs/certificate.schema.json`` is generated from the types and the descriptions here and in
:mod:`sudare.releases.certificate_parts` (see :mod:`sudare.releases.certificate_schema`).
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from typing import Annotated, Any

from sudare.core.randomness import OPERATING_SYSTEM
from sudare.methods import RecodingKind, method_of
from sudare.releases.certificate_parts import Guarantee, Mechanism, Search, TransformationEntry
from sudare.releases.release_figures import Figures
from sudare.releases.signatures import utc
from sudare.releases.warnings import ReleaseWarning

FORMAT = 1
MISSING = (
    "A missing value is a value of its own: missing values form classes with each other, match nothing else, "
    "and are never dropped. A class that mixes missing and present values shows '*' for numbers and hierarchies, "
    "and a set that lists null for categories."
)
MISSING_AGGREGATED = " A class that mixes them in an aggregated column shows an empty cell."
ORDERS = {
    "class": "class by class, shuffled within each class",
    "keep": "as in the source, which the policy asked for",
    "shuffled": "all rows shuffled",
}
Measures = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a certificate says; keys that an older one lacks have a default."""

    certificate: Annotated[int, "the version of this format"] = FORMAT
    rows_in: Annotated[int, "records of the source"] = 0
    rows_out: Annotated[int, "records of the release, masked ones included"] = 0
    suppressed: Annotated[int, "records of which nothing is shown: dropped ones and masked ones"] = 0
    classes: Annotated[
        int | None, "classes of the release, as the audit counted them; null where quasi-identifiers are unchanged"
    ] = None
    guarantees: Annotated[tuple[Guarantee, ...], "one entry per promise, as the audit found it"] = ()
    warnings: Annotated[
        tuple[ReleaseWarning, ...], "what readers should know of the release although it keeps its promises"
    ] = ()
    loss: Annotated[Measures, "the loss measures"] = field(default_factory=dict)
    loss_by_column: Annotated[
        Mapping[str, Measures], "the same per quasi-identifier, for measures that have such figures"
    ] = field(default_factory=dict)
    item_sets: Annotated[
        Mapping[str, Measures],
        "for each item-set column: how many items the release shows unchanged (`disclosed`), and the mean share of a "
        "record's items that is lost (`ncp`)",
    ] = field(default_factory=dict)
    other: Annotated[
        Mapping[str, int], "for each column that shows rare categories as `other`: for how many categories it stands"
    ] = field(default_factory=dict)
    spellings: Annotated[
        Mapping[str, int],
        "for each sensitive column in a promise: how many spellings of the source were merged with another of the same "
        "value",
    ] = field(default_factory=dict)
    seconds: Annotated[Mapping[str, float], "the time of each stage"] = field(default_factory=dict)
    method: Annotated[Mapping[str, Any], "the method's name and options"] = field(default_factory=dict)
    search: Annotated[Search, "what the method says about its decision; empty if it says nothing"] = field(
        default_factory=Search
    )
    mechanism: Annotated[
        Mechanism, "how sensitive values are hidden, or values are drawn anew; empty if they are not"
    ] = field(default_factory=Mechanism)
    columns: Annotated[Mapping[str, list[str]], "the columns of each role"] = field(default_factory=dict)
    order: Annotated[str, "how the rows are ordered, in words"] = ""
    randomness: Annotated[str, "where the randomness of orders, pseudonyms and drawn values comes from"] = ""
    missing: Annotated[str, "what missing values mean, in words"] = ""
    versions: Annotated[Mapping[str, str], "of sudare, Python and the libraries that matter"] = field(
        default_factory=dict
    )
    date: Annotated[str, "when the certificate was made, in UTC"] = ""
    about: Annotated[Mapping[str, str], "what the release is for, as the policy says"] = field(default_factory=dict)
    source: Annotated[Mapping[str, str], "the `kind` of the source; it has no name, place or digest of it"] = field(
        default_factory=dict
    )
    policy_sha256: Annotated[str, "the digest of the policy's file (of its canonical JSON if it came from Python)"] = ""
    release_sha256: Annotated[
        str | None, "the digest of the release's file; null for rows that were not written to one"
    ] = None
    layout: Annotated[
        Mapping[str, Any] | None,
        "how the text file is laid out (`delimiter`, `decimal`, `encoding`, `bom`), and the columns of `numbers` that "
        "have the decimal mark; only if the policy asks for another layout than the usual one",
    ] = None
    transformations: Annotated[
        tuple[TransformationEntry, ...] | None,
        "what was done to columns before everything else, in the order of the policy; only if the policy asks for it",
    ] = None
    signature: Annotated[Mapping[str, str] | None, "who signed the certificate, and when; only if somebody did"] = None

    @property
    def method_name(self) -> str:
        """The method that made the release."""
        return str(self.method["name"])

    @property
    def recoding(self) -> RecodingKind:
        """What the method did to the records."""
        return method_of(self.method_name).recoding

    @property
    def transformed(self) -> str:
        """What was done to columns before everything else, in short; empty if nothing was."""
        columns: dict[str, list[str]] = {}
        sampled = ""
        for entry in self.transformations or ():
            if entry.column is None:
                share = entry.parameters.get("share")
                sampled = "a random sample" + (f" of {100 * share:g}%" if isinstance(share, int | float) else "")
            else:
                columns.setdefault(str(entry.column), []).append(str(entry.transformation))
        done = [f"{name} ({', '.join(names)})" for name, names in columns.items()]
        return ", ".join([*done, *([sampled] if sampled else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain JSON types; a layout and a signature only if there is one."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        found["guarantees"] = [each.to_dict() for each in self.guarantees]
        found["warnings"] = [each.to_dict() for each in self.warnings]
        found["search"], found["mechanism"] = self.search.to_dict(), self.mechanism.to_dict()
        if self.transformations is not None:
            found["transformations"] = [each.to_dict() for each in self.transformations]
        for optional in ("layout", "transformations", "signature"):
            if found[optional] is None:
                del found[optional]
        return found

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Certificate:
        """Return a certificate from a dictionary, which may be of an older version or by another tool."""
        found = {each.name: given[each.name] for each in fields(cls) if given.get(each.name) is not None}
        found["search"] = Search.from_dict(given.get("search"))
        found["mechanism"] = Mechanism.from_dict(given.get("mechanism"))
        found["guarantees"] = tuple(map(Guarantee.from_dict, _entries(given.get("guarantees"))))
        found["warnings"] = tuple(map(ReleaseWarning.from_dict, _entries(given.get("warnings"))))
        if "transformations" in found:
            found["transformations"] = tuple(map(TransformationEntry.from_dict, _entries(given["transformations"])))
        return cls(**found)


def _entries(given: Any) -> list[Mapping[str, Any]]:
    """Return the mappings of a list."""
    return [each for each in given if isinstance(each, Mapping)] if isinstance(given, list | tuple) else []


def make_certificate(
    *,
    figures: Figures,
    order: str,
    method: Mapping[str, Any],
    columns: Mapping[str, Iterable[str]],
    audit: Mapping[str, Any],
    seconds: Mapping[str, float],
    policy_sha256: str,
    randomness: str = OPERATING_SYSTEM,
    warnings: Iterable[ReleaseWarning] = (),
    about: Mapping[str, str] | None = None,
    source: str = "",
    layout: Mapping[str, Any] | None = None,
    transformations: Iterable[Mapping[str, Any]] = (),
) -> Certificate:
    """Put the certificate together; guarantees, digests and the first warnings are those that the audit found."""
    return Certificate(
        rows_in=figures.rows_in,
        rows_out=figures.rows_out,
        suppressed=figures.suppressed,
        classes=audit["classes"] if figures.classes is None else figures.classes,
        guarantees=tuple(map(Guarantee.from_dict, audit["guarantees"])),
        warnings=(*map(ReleaseWarning.from_dict, audit.get("warnings", ())), *warnings),
        loss=figures.totals,
        loss_by_column=figures.by_column,
        item_sets=figures.item_sets,
        other=figures.other,
        spellings=figures.spellings,
        seconds={stage: round(spent, 4) for stage, spent in seconds.items()},
        method=dict(method),
        search=figures.search,
        mechanism=figures.mechanism,
        columns={role: list(names) for role, names in columns.items()},
        order=ORDERS["shuffled" if figures.mechanism and order == "class" else order],
        randomness=randomness,
        missing=MISSING + (MISSING_AGGREGATED if method_of(str(method.get("name"))).aggregates else ""),
        versions={name: version(name) for name in ("sudare", "numpy", "numba", "pyarrow", "duckdb")}
        | {"python": platform.python_version()},
        date=utc(),
        about=dict(about or {}),
        source={"kind": source},
        policy_sha256=policy_sha256,
        release_sha256=audit["release_sha256"],
        layout=layout,
        transformations=tuple(map(TransformationEntry.from_dict, transformations)) or None,
    )
