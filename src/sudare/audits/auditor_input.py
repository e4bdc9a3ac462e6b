"""The input of an audit besides the release: its certificate, and the method and policy that the auditor names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sudare.audits.signatures import PublicKey
from sudare.core.errors import Problem
from sudare.policy import Policy

SETS, APART, DRAWN = "dummies", "anatomy", "pram"
"""The methods that keep quasi-identifiers unchanged, or draw them: there are no classes."""
AGGREGATED = "microaggregation"
"""The method by which the records of a class may show one value in place of their own."""


@dataclass(frozen=True)
class AuditorInput:
    """The input of an auditor: a certificate, if there is one, and settings.

    ``method`` made the release, if that is not the policy's. ``other_policy`` says that the release was made under
    another policy, so that the certificate's figures are not those of this one. One of the ``keys`` must have signed
    the certificate, if there are any.
    """

    certificate: Mapping[str, Any] | None = None
    method: str | None = None
    other_policy: bool = False
    keys: tuple[PublicKey, ...] = ()
    digests: tuple[str, ...] = ()
    """The digests of the policy: of its file, and of its content."""
    drawn: Mapping[str, Any] | None = None
    """The mechanism of random draws, where there is no certificate to read it from."""
    transformed: Any = None
    """What will be said of transformations, where there is no certificate to read it from."""

    def about(self, policy: Policy) -> AuditorInput:
        """Return the same of a policy: one from a file may have been given from Python when the release was made."""
        return replace(self, digests=(policy.sha256, policy.content_sha256))

    def is_of(self, policy: Policy) -> bool:
        """Return whether the certificate is of a policy."""
        told = None if self.certificate is None else self.certificate.get("policy_sha256")
        return isinstance(told, str) and told in (self.digests or (policy.sha256,))

    def has_figures_of(self, policy: Policy) -> bool:
        """Return whether there are losses to compare: a certificate, and one that is of the policy."""
        return self.certificate is not None and self.is_of(policy)

    def maker(self, policy: Policy) -> str:
        """Return the method that a release is proven as one of; what a certificate says of it decides nothing."""
        return self.method or policy.method.name

    def mechanism(self) -> Any:
        """Return the mechanism of random draws, from the certificate if there is one."""
        return self.drawn if self.certificate is None else self.certificate.get("mechanism")

    def transformations(self) -> Any:
        """Return what is said of transformations, by the certificate if there is one."""
        return self.transformed if self.certificate is None else self.certificate.get("transformations")

    def is_of_other_policy(self, policy: Policy) -> bool:
        """Return whether the certificate is of another policy, and may be."""
        return (
            self.other_policy
            and self.certificate is not None
            and isinstance(self.certificate.get("policy_sha256"), str)
            and not self.is_of(policy)
        )

    def method_problem(self, policy: Policy) -> Problem | None:
        """Return what is wrong if the certificate names another method than the release is proven by."""
        if self.certificate is None:
            return None
        told = self.certificate.get("method")
        name = told.get("name") if isinstance(told, Mapping) else None
        maker = self.maker(policy)
        if name == maker or (self.is_of_other_policy(policy) and _kind(name) == _kind(maker)):
            return None
        whose = "the policy names" if self.method is None else "was asked for"
        hint = ""
        if isinstance(name, str) and name.isascii() and name.replace("-", "").isalnum() and len(name) < 40:
            hint = f"if this method made the release on purpose, add --method {name}."
        return Problem("certificate.method.name", f"is not the method that {whose}, {maker}.", hint)


def _kind(method: Any) -> Any:
    """Return how a release by a method is proven."""
    return method if method in (SETS, APART, DRAWN) else "classes" if isinstance(method, str) else None
