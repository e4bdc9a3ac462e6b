"""Checks of a certificate against the findings of the audit and the policy.

Anyone can write a certificate. So nothing in it decides how a release is proven: only the policy and the auditor's
arguments do. Every key is one of two kinds:

- **verified**: it agrees with the findings of the audit or with the policy; anything else is a problem;
- **claimed**: it does not follow from the release. It must have the expected form and agree with the other figures. Who
  relies on it trusts the maker of the certificate.

A missing or unknown key, another type or another format is a problem, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from sudare.audits.audit_report import AuditWarning, Guarantee
from sudare.audits.auditor_input import AGGREGATED, APART, DRAWN, SETS, AuditorInput
from sudare.audits.cell_counts import CellCounts
from sudare.audits.json_agreement import (
    are_figures,
    differences,
    is_count,
    is_finite,
    is_number,
    is_warning,
    outside,
    plain,
    same,
)
from sudare.audits.losses import HALF, MEANS, Figure, Losses, Records, losses
from sudare.audits.signatures import TIME, Signature, look_at
from sudare.audits.transformation_entries import KEY as TRANSFORMATIONS
from sudare.audits.transformation_entries import claimed_keys, entry_problems
from sudare.audits.value_spellings import merges
from sudare.audits.warnings import COUNTED, ONE_CLASS
from sudare.core.errors import Problem
from sudare.core.sizes import EXACT
from sudare.policy import TOLERANCE, Policy, TextLayout

FORMAT = 1
KEYS = (
    "certificate",
    "rows_in",
    "rows_out",
    "suppressed",
    "classes",
    "guarantees",
    "warnings",
    "loss",
    "loss_by_column",
    "item_sets",
    "other",
    "spellings",
    "seconds",
    "method",
    "search",
    "mechanism",
    "columns",
    "order",
    "randomness",
    "missing",
    "versions",
    "date",
    "about",
    "source",
    "policy_sha256",
    "release_sha256",
)
"""The keys of a certificate; it has all of them, and no other."""
OPTIONAL = (TRANSFORMATIONS, "layout", "signature")
"""But for these, which it has if there is something to say; older ones have no word of transformations."""
ROLES = ("quasi", "sensitive", "insensitive", "subject", "identifier")
STAGES = {"read", "method", "render", "write", "audit"}
OF_SIZES = ("discernibility", "average_class_size")
LOSSES = {"gcp", "arx", "precision", "entropy", "relative_uncertainty"}
NO_LOSS = {name: float(name == "precision") for name in LOSSES}
"""The loss of unchanged quasi-identifiers."""
ORDERS = {
    "class": "class by class, shuffled within each class",
    "keep": "as in the source, which the policy asked for",
    "shuffled": "all rows shuffled",
}
RANDOMNESS = ("the operating system's", "made from a seed, for tests alone")
MISSING = (
    "A missing value is a value of its own: missing values form classes with each other, match nothing else, "
    "and are never dropped. A class that mixes missing and present values shows '*' for numbers and hierarchies, "
    "and a set that lists null for categories."
)
MISSING_AGGREGATED = " A class that mixes them in an aggregated column shows an empty cell."
OF_ANY = ("rows_out", "method", "policy_sha256", "release_sha256")
"""What is compared even if the certificate is of another file."""
MOST = 20
"""The most differences that are reported for one key."""


@dataclass(frozen=True)
class Sizes:
    """How records are spread over classes: their number, the sum of their squared sizes, and what masked ones may be.

    ``blank`` has the sizes of classes that show nothing. ``apart`` says that some columns take no part in the classes.
    """

    classes: int
    squares: int
    blank: tuple[int, ...] = ()
    apart: bool = False


@dataclass(frozen=True)
class Found:
    """What the audit found in a release, without looking at its certificate.

    ``sizes`` is None where there are no classes. ``seen`` has the values that sets, or groups, show of each column.
    ``shown`` is what quasi-identifiers show, where there are figures to compare with it.
    """

    rows: int
    guarantees: Sequence[Guarantee]
    sha256: str | None
    sizes: Sizes | None = None
    seen: Mapping[str, set[str | None]] = field(default_factory=dict)
    warnings: Sequence[AuditWarning] = ()
    groups: int | None = None
    second_sha256: str | None = None
    shown: Mapping[str, CellCounts] | None = None
    asked: TextLayout | None = None
    """How the policy has a text file of this name laid out; None if the release is no text."""
    transformed: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """For each transformed column, which steps its cells prove."""


@dataclass
class Compared:
    """What came of it: problems, and the keys that are verified, and that are only claimed; and claimed warnings."""

    problems: list[Problem] = field(default_factory=list)
    verified: list[str] = field(default_factory=list)
    claimed: list[str] = field(default_factory=list)
    signature: Signature | None = None
    warnings: list[str] = field(default_factory=list)


def compare(told: AuditorInput, policy: Policy, found: Found) -> Compared:
    """Compare every key of a certificate with what was found."""
    comparison = _Comparison(told, policy, found)
    comparison.signature()
    if told.certificate is not None:
        comparison.run(told.certificate)
    return comparison.result


class _Comparison:
    """Goes through a certificate key by key."""

    def __init__(self, told: AuditorInput, policy: Policy, found: Found) -> None:
        self.told, self.policy, self.found = told, policy, found
        self.maker = told.maker(policy)
        # of another policy no figure is compared, be that allowed or not: what is wrong with it is then said once
        self.other = told.certificate is not None and not told.is_of(policy)
        self.result = Compared()

    def run(self, paper: Mapping[str, Any]) -> None:
        if not same(paper.get("certificate"), FORMAT):
            what = f"is not {FORMAT}, the certificate format that this audit supports."
            self.wrong("certificate", what)
            self.result.claimed += [key for key in KEYS if key in paper]
            return
        self.result.verified.append("certificate")
        absent = [key for key in KEYS if key not in paper]
        for key in absent:
            self.wrong(key, "is missing.")
        strange = [key for key in paper if key not in (*KEYS, *OPTIONAL)]
        if strange:
            self.result.problems.append(Problem("certificate", f"has {len(strange)} unknown keys."))
        keys = [key for key in KEYS[1:] if key not in absent]
        if paper.get("release_sha256") != self.found.sha256:
            # nothing that it says is about this file
            self.result.claimed += [key for key in keys if key not in OF_ANY]
            keys = [key for key in keys if key in OF_ANY]
        for key in keys:
            getattr(self, f"_{key}")(paper[key], paper)
        if paper.get("release_sha256") == self.found.sha256:
            self._layout(paper.get("layout"))
            self._transformations(paper)
        else:
            self.result.claimed += [key for key in (TRANSFORMATIONS, "layout") if key in paper]
        if self.maker in (SETS, APART) and "mechanism" in keys:
            self._hidden(paper["mechanism"])

    def signature(self) -> None:
        """See who signed the certificate: a signature that no key was given for is claimed."""
        self.result.signature, problems = look_at(self.told.certificate, self.told.keys)
        self.result.problems += problems
        if self.told.certificate is not None and "signature" in self.told.certificate:
            (self.result.verified if self.told.keys else self.result.claimed).append("signature")

    def wrong(self, key: str, what: str) -> None:
        self.result.problems.append(Problem(f"certificate.{key}", what))

    def verify(self, key: str, told: Any, found: Any, *, off: float = 0.0) -> None:
        """Note that a key is verified, or how it differs."""
        self.result.verified.append(key)
        for number, problem in enumerate(differences(told, found, f"certificate.{key}", off)):
            if number < MOST:
                self.result.problems.append(problem)

    def claim(self, key: str, sound: bool, form: str) -> None:
        """Note that a key is claimed; it has to have its form all the same."""
        self.result.claimed.append(key)
        if not sound:
            self.wrong(key, f"is not {form}.")

    # -- records

    def _rows_out(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.verify("rows_out", told, self.found.rows)

    def _rows_in(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.found.sizes is None:
            self.verify("rows_in", told, self.found.rows)
            return
        self.claim("rows_in", is_count(told) and told >= self.found.rows, "a number of at least the released records")

    def _suppressed(self, told: Any, paper: Mapping[str, Any]) -> None:
        """Records that show nothing are those that are not there, and perhaps one class of masked ones."""
        if self.found.sizes is None:
            self.verify("suppressed", told, 0)
            return
        self.result.claimed.append("suppressed")
        given = paper.get("rows_in")
        if not is_count(told) or not is_count(given):
            self.wrong("suppressed", "is not a number of records.")
            return
        if told - (given - self.found.rows) not in (0, *self.found.sizes.blank):
            self.wrong("suppressed", "does not agree with rows_in and the rows of the release.")
        most = int(self.policy.suppression.limit * given + TOLERANCE) if given < EXACT else 0
        if told > most and not self.other:
            self.wrong(
                "suppressed", f"says {told:,} of {given:,} records; the policy allows {most:,} suppressed records."
            )

    # -- classes

    def _classes(self, told: Any, paper: Mapping[str, Any]) -> None:
        sizes = self.found.sizes
        if self.other:
            self.claim("classes", told is None or is_count(told), "a number of classes")
        elif sizes is not None and sizes.apart and same(told, sizes.classes + 1) and sizes.blank:
            self.result.verified.append("classes")  # masked records are apart from a class that looks like theirs
        else:
            self.verify("classes", told, None if sizes is None else sizes.classes)

    def _guarantees(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.other:
            self.claim("guarantees", isinstance(told, list) and bool(told), "a list of guarantees")
            return
        self.verify("guarantees", told, [one.to_dict() for one in self.found.guarantees])

    def _warnings(self, told: Any, paper: Mapping[str, Any]) -> None:
        """All warnings that the audit counts must be present; others are estimates or additions."""
        if not isinstance(told, list) or not all(map(is_warning, told)):
            self.result.claimed.append("warnings")
            self.wrong("warnings", "is not a list of warnings.")
            return
        found = [] if self.other else [warning.to_dict() for warning in self.found.warnings]
        if any(warning in told[:number] for number, warning in enumerate(told)):
            self.wrong("warnings", "has a warning twice.")
        lacking = sum(warning["kind"] in COUNTED and warning not in told for warning in found)
        for kind, expected in ({} if self.other else self._warned_by_policy()).items():
            lacking += expected and not any(warning["kind"] == kind for warning in told)
            if not expected and any(warning["kind"] == kind for warning in told):
                self.wrong("warnings", "has a warning that does not apply to this policy.")
        several = not self.other and (self.found.sizes is None or self.found.sizes.classes > 1)
        if several and any(warning["kind"] == ONE_CLASS for warning in told):
            self.wrong("warnings", "says that all records are in one class, which is not so.")
        if lacking:
            self.wrong("warnings", f"does not have {lacking} of the warnings that apply to this release.")
        for number, warning in enumerate(told):
            if warning in found:
                self.result.verified.append(f"warnings.{number}")
            elif warning["kind"] in COUNTED and not self.other:
                self.wrong(f"warnings.{number}", "differs from the count of the audit.")
            else:  # estimated, or told by whoever made it
                self.result.claimed.append(f"warnings.{number}")
                self.result.warnings.append(warning["text"])
        if any(warning not in told for warning in found):
            self.result.claimed.append("warnings")  # estimates may differ from time to time, or be left out

    def _warned_by_policy(self) -> dict[str, bool]:
        """Return the kinds of warnings that the policy gives reason for, or does not."""
        options = self.policy.method.options if self.maker == self.policy.method.name else {}
        classes = self.found.sizes is not None
        limited = any(hasattr(spec, "column") for spec in self.policy.require if spec.model != "km-anonymity")
        looked_at = limited or options.get("target") in self.policy.sensitive
        return {
            "minimality": classes and looked_at and options.get("sensitive") != "blind",
            "tight-ranges": classes and self.policy.release.ranges == "tight",
        }

    def _loss(self, told: Any, paper: Mapping[str, Any]) -> None:
        sizes = self.found.sizes
        if sizes is None:
            self.verify("loss", told, NO_LOSS)
            return
        if not isinstance(told, Mapping) or set(told) != {*LOSSES, *OF_SIZES}:
            self.result.claimed.append("loss")
            self.wrong("loss", "does not have the expected loss measures.")
            return
        expected, found = self._by_sizes(sizes, paper), self._losses(paper)
        for name in sorted(told):
            key = f"loss.{name}"
            if name in expected and not self.other:
                self.verify(key, told[name], expected[name], off=HALF)
            elif self._judge(key, told[name], None if found is None else found.totals[name]) and name in MEANS:
                self._mean(key, name, told[name], paper)

    def _judge(self, key: str, told: Any, figure: Figure | None) -> bool:
        """Compare a figure with what the release leaves room for; say whether it is claimed, and may be true."""
        if figure is None:
            self.claim(key, is_number(told) and told >= 0, "a number from 0")
            return False
        if figure.known:
            self.result.verified.append(key)
            if not is_number(told) or not figure.fits(told):
                nearest = figure.nearest(told if is_number(told) else 0.0)
                self.wrong(key, f"does not agree with what the audit finds: {nearest:.4f}.")
            return False
        low, high = figure.hull
        sound = is_number(told) and figure.fits(told)
        self.claim(key, sound, f"from {low:.4f} to {high:.4f}, the range that the release allows")
        return sound

    def _mean(self, key: str, name: str, told: float, paper: Mapping[str, Any]) -> None:
        """See that a loss that is claimed is the mean of those of columns."""
        columns = paper.get("loss_by_column")
        if not isinstance(columns, Mapping) or not are_figures(columns):
            return  # the check of the columns reports that
        each = [part[name] for part in columns.values() if name in part]
        if each and abs(sum(each) / len(each) - told) > 2 * HALF:
            self.wrong(key, "is not the mean of the losses by column.")

    def _losses(self, paper: Mapping[str, Any]) -> Losses | None:
        """Return the losses of the release, over the records that the certificate states."""
        given, lost, other = paper.get("rows_in"), paper.get("suppressed"), paper.get("other")
        if not is_count(given) or not is_count(lost) or not self.found.rows <= given <= EXACT:
            return None
        if self.found.shown is None or self.other or not self._is_other(other):
            return None
        left = given - self.found.rows
        records = Records(given, left, max(lost - left, 0))
        return losses(self.found.shown, self.policy, other, records, self._aggregated())

    def _aggregated(self) -> list[str]:
        """Return the quasi-identifiers that may show one value in place of those of a class, if any does."""
        if self.maker != AGGREGATED:
            return []
        named = self.policy.method.options.get("columns") if self.maker == self.policy.method.name else None
        if named is not None:
            return [name for name in self.policy.quasi if name in named]
        specs = {name: self.policy.columns[name] for name in self.policy.quasi}
        return [
            name
            for name, spec in specs.items()
            if spec.hierarchy is None and (spec.order is not None or spec.kind in (None, "numeric"))
        ]

    def _by_sizes(self, sizes: Sizes, paper: Mapping[str, Any]) -> dict[str, float]:
        """Return the measures that follow from the sizes of classes; masked records are not of any."""
        given, lost = paper.get("rows_in"), paper.get("suppressed")
        if not is_count(given) or not is_count(lost) or max(given, lost) > EXACT:
            return dict.fromkeys(OF_SIZES, math.nan)  # nothing agrees with it
        masked = lost - (given - self.found.rows)
        told, separate = paper.get("classes"), 0
        if sizes.apart and same(told, sizes.classes + 1):
            separate = 1  # the masked ones, of a class that looks alike
        classes = sizes.classes + separate - (1 if masked else 0)
        kept = self.found.rows - masked
        squares = sizes.squares - masked * masked
        if separate and masked:
            whole = next((size for size in sizes.blank if size >= masked), masked)
            squares = sizes.squares - whole * whole + (whole - masked) ** 2
        return {
            "discernibility": float(squares) + float(lost) * given,
            "average_class_size": kept / classes if classes else 0.0,
        }

    def _loss_by_column(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.found.sizes is None:
            self.verify("loss_by_column", told, {})
            return
        found = self._losses(paper)
        sound = isinstance(told, Mapping) and (self.other or set(told) == set(self.policy.quasi)) and are_figures(told)
        if not sound or found is None:
            self.claim("loss_by_column", sound, "one entry per quasi-identifier, with figures")
            return
        for name, figures in found.columns.items():
            if set(told[name]) != set(figures):
                self.result.claimed.append(f"loss_by_column.{name}")
                self.wrong(f"loss_by_column.{name}", "does not have the expected loss measures.")
                continue
            for measure, figure in figures.items():
                self._judge(f"loss_by_column.{name}.{measure}", told[name][measure], figure)
            if name in found.disclosed:
                part = told[name]  # all of them are the share of items that is lost
                if not same(part["arx"], part["gcp"]) or abs(part["precision"] - (1 - part["gcp"])) > 2 * HALF:
                    self.wrong(f"loss_by_column.{name}", "has measures that do not agree with each other.")

    def _item_sets(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.found.sizes is None:
            self.verify("item_sets", told, {})
            return
        found, form = self._losses(paper), "one entry per column of item sets, with figures"
        sound = isinstance(told, Mapping) and (self.other or set(told) <= set(self.policy.quasi)) and are_figures(told)
        if not sound or found is None:
            self.claim("item_sets", sound, form)
            return
        if set(told) != set(found.disclosed) or any(set(part) != {"disclosed", "ncp"} for part in told.values()):
            self.claim("item_sets", False, form)
            return
        if not told:
            self.result.verified.append("item_sets")
        columns = paper.get("loss_by_column")
        for name, part in told.items():
            key = f"item_sets.{name}.disclosed"
            if self._judge(key, part["disclosed"], found.disclosed[name]) and not is_count(part["disclosed"]):
                self.wrong(key, "is not a number of items.")
            self._judge(f"item_sets.{name}.ncp", part["ncp"], found.columns[name]["gcp"])
            lost = columns.get(name) if isinstance(columns, Mapping) else None
            if isinstance(lost, Mapping) and not same(part["ncp"], lost.get("gcp")):
                self.wrong(f"item_sets.{name}.ncp", "is not the loss of the column.")

    def _spellings(self, told: Any, paper: Mapping[str, Any]) -> None:
        """The number of merged spellings is that of the source; the release may have fewer."""
        merging = {name for name, spec in self.policy.columns.items() if merges(spec)}
        sound = isinstance(told, Mapping) and (self.other or set(told) <= merging)
        sound = sound and all(is_count(many) for many in told.values())
        self.claim("spellings", sound, "one number per sensitive column whose spellings are merged")

    def _other(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.found.sizes is None:
            self.verify("other", told, {})
            return
        self.claim("other", self._is_other(told), "a number of rare categories by column")

    def _is_other(self, told: Any) -> TypeGuard[Mapping[str, int]]:
        sound = isinstance(told, Mapping) and (self.other or set(told) <= set(self.policy.quasi))
        return sound and all(is_count(count) and 0 < count <= EXACT for count in told.values())

    # -- how it was made

    def _seconds(self, told: Any, paper: Mapping[str, Any]) -> None:
        sound = isinstance(told, Mapping) and set(told) == STAGES
        sound = sound and all(is_number(spent) and spent >= 0 for spent in told.values())
        self.claim("seconds", sound, "the time of each stage")

    def _method(self, told: Any, paper: Mapping[str, Any]) -> None:
        problem = self.told.method_problem(self.policy)
        if problem is not None:
            self.result.verified.append("method")
            self.result.problems.append(problem)
            return
        if self.other:
            self.result.verified.append("method.name")
            self.claim("method", isinstance(told, Mapping), "a method with its options")
            return
        options = self.policy.method.options if self.maker == self.policy.method.name else {}
        expected = {"name": self.maker, **plain(options)}
        if isinstance(told, Mapping) and told.get("applied") is True:
            self.result.claimed.append("method.applied")
            expected["applied"] = True
        self.verify("method", told, expected)

    def _search(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.claim("search", isinstance(told, Mapping) and is_finite(told), "a mapping")

    def _mechanism(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.found.sizes is not None:
            self.verify("mechanism", told, {})
        elif self.maker == DRAWN:
            # what follows from it is compared with the release, and with the guarantees
            self.claim("mechanism", isinstance(told, Mapping) and is_finite(told), "a mechanism")

    def _hidden(self, told: Any) -> None:
        """Compare the facts about sets, or about groups."""
        if not isinstance(told, Mapping) or not isinstance(told.get("columns"), Mapping):
            self.wrong("mechanism", "does not state how values are hidden.")
            return
        self.claim("mechanism.randomness", isinstance(told.get("randomness"), str), "text")
        rest = {key: value for key, value in told.items() if key not in ("randomness", "columns")}
        expected = {"groups": self.found.groups, "second_sha256": self.found.second_sha256}
        self.verify("mechanism", rest, expected if self.maker == APART else {})
        asked: dict[str, float] = {}
        for spec in self.policy.require:
            column = getattr(spec, "column", None)
            if column is not None:  # of several promises about a column the strictest counts
                asked[column] = max(asked.get(column, 0), getattr(spec, "l", 0))
        if not self.other:
            self.verify("mechanism.columns", sorted(map(str, told["columns"])), sorted(asked))
        for name, about in told["columns"].items():
            if name in asked and isinstance(about, Mapping):
                self._hidden_column(f"mechanism.columns.{name}", name, about, asked[name] or None)
            else:
                self.wrong("mechanism.columns", "has an entry for a column that is not hidden.")

    def _hidden_column(self, where: str, name: str, about: Mapping[str, Any], least: Any) -> None:
        told = dict(about)
        values = told.pop("values", None)
        self.claim(f"{where}.values", isinstance(values, list) and bool(values), "a list of values")
        self.result.problems += outside(self.found.seen.get(name, set()), name, self.told.certificate)
        expected: dict[str, Any] = {"l": None if least is None else int(least)}
        if self.maker == SETS:
            options = self.policy.method.options if self.maker == self.policy.method.name else {}
            expected["frequencies"] = options.get("frequencies", "uniform")
            if "repeated" in told:
                self.claim(f"{where}.repeated", told.pop("repeated") is True, "true")
            if expected["frequencies"] == "observed":
                weights = told.pop("weights", None)
                sound = isinstance(weights, list) and isinstance(values, list) and len(weights) == len(values)
                sound = sound and all(is_number(weight) and weight > 0 for weight in weights or ())
                self.claim(f"{where}.weights", sound, "a weight above 0 for each value")
        if self.other:
            self.claim(where, True, "")
        else:
            self.verify(where, told, expected)

    # -- what is said in words, and digests

    def _columns(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.other:
            self.claim("columns", isinstance(told, Mapping), "the columns of each role")
        else:
            self.verify("columns", told, {role: self.policy.named(role) for role in ROLES})  # type: ignore[arg-type]

    def _order(self, told: Any, paper: Mapping[str, Any]) -> None:
        order = self.policy.release.order
        shuffled = self.found.sizes is None and order == "class"
        if self.other:
            self.claim("order", told in ORDERS.values(), "one of the known orders")
        else:
            self.verify("order", told, ORDERS["shuffled" if shuffled else order])

    def _randomness(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.claim("randomness", told in RANDOMNESS, "a known source of randomness")

    def _missing(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.verify("missing", told, MISSING + (MISSING_AGGREGATED if self.maker == AGGREGATED else ""))

    def _versions(self, told: Any, paper: Mapping[str, Any]) -> None:
        sound = isinstance(told, Mapping) and "sudare" in told
        self.claim("versions", sound and all(isinstance(text, str) for text in told.values()), "versions, as text")

    def _date(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.claim("date", isinstance(told, str) and TIME.fullmatch(told) is not None, "a time in UTC")

    def _about(self, told: Any, paper: Mapping[str, Any]) -> None:
        if self.other:
            self.claim("about", isinstance(told, Mapping), "the purpose of the release")
        else:
            self.verify("about", told, self.policy.about.model_dump(exclude_none=True))

    def _layout(self, told: Any) -> None:
        """Compare the layout of a text file with what the policy asks for; its bytes were read by it already."""
        asked = self.found.asked
        if told is None:
            if asked is not None and not self.other and self.policy.release.layout_keys and not asked.plain:
                self.wrong("layout", "is missing: the policy asks for another layout than the usual one.")
            return
        self.result.verified.append("layout")
        found = TextLayout.from_dict(told)
        if asked is None:
            self.wrong("layout", "is that of a text file, and the release is none.")
        elif found is None:
            self.wrong("layout", "is not written as one writes a layout.")
        elif not self.other and (
            replace(found, numbers=()) != asked
            or not set(found.numbers) <= set(self.policy.columns)
            or (found.numbers and found.decimal == ".")
        ):
            self.wrong("layout", "is not the one that the policy asks for.")

    def _transformations(self, paper: Mapping[str, Any]) -> None:
        """Compare what is said of transformations with the policy, and with what the cells prove."""
        if TRANSFORMATIONS not in paper:
            if self.policy.transforms and not self.other:
                self.wrong(TRANSFORMATIONS, "is missing: the policy transforms columns, or samples records.")
            return
        told = paper[TRANSFORMATIONS]
        (self.result.claimed if self.other else self.result.verified).append(TRANSFORMATIONS)
        self.result.claimed += [] if self.other else claimed_keys(told)
        found = entry_problems(told, self.policy, self.found.transformed, other=self.other)
        self.result.problems += found[:MOST]

    def _source(self, told: Any, paper: Mapping[str, Any]) -> None:
        sound = isinstance(told, Mapping) and set(told) == {"kind"} and isinstance(told["kind"], str)
        self.claim("source", sound, "a kind of source")

    def _policy_sha256(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.result.verified.append("policy_sha256")
        if not self.told.is_of(self.policy) and not self.told.is_of_other_policy(self.policy):
            what = "is not the digest of this policy: the release was made under another policy, or names none."
            hint = "audit with the original policy, or add --other-policy to prove this policy."
            self.result.problems.append(Problem("certificate.policy_sha256", what, hint))

    def _release_sha256(self, told: Any, paper: Mapping[str, Any]) -> None:
        self.result.verified.append("release_sha256")
        if self.found.sha256 is None:
            what = "is the digest of a file; a table in memory has no digest to compare."
            self.result.problems.append(Problem("certificate", what, "audit the file."))
        elif told != self.found.sha256:
            self.wrong("release_sha256", "is not the digest of this file.")
