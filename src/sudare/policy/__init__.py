"""The policy: what a lawyer reads, what the method is asked for, and what the audit proves.

A policy is YAML, JSON or a Python mapping. :meth:`Policy.load` reads a file, :meth:`Policy.parse` takes a
mapping; both either return a :class:`Policy` or raise one :class:`~sudare.core.errors.PolicyError` that lists
everything that is wrong, each with the nearest allowed word. The classes below are the whole vocabulary:
one field is one key.

This room imports nothing but the errors, so that the audit can rest on it alone.
"""

from sudare.policy.policy import Policy
from sudare.policy.vocabulary import (
    MODEL_NAMES,
    TOLERANCE,
    AlphaGammaSpec,
    AlphaKAnonymitySpec,
    BetaLikenessSpec,
    ColumnSpec,
    DeltaDisclosureSpec,
    HierarchySpec,
    KAnonymitySpec,
    Kind,
    KmAnonymitySpec,
    LDiversitySpec,
    PkAnonymitySpec,
    RequirementSpec,
    Role,
    SourceSpec,
    TClosenessSpec,
    UniquenessSpec,
)

__all__ = [
    "MODEL_NAMES",
    "TOLERANCE",
    "AlphaGammaSpec",
    "AlphaKAnonymitySpec",
    "BetaLikenessSpec",
    "ColumnSpec",
    "DeltaDisclosureSpec",
    "HierarchySpec",
    "KAnonymitySpec",
    "Kind",
    "KmAnonymitySpec",
    "LDiversitySpec",
    "PkAnonymitySpec",
    "Policy",
    "RequirementSpec",
    "Role",
    "SourceSpec",
    "TClosenessSpec",
    "UniquenessSpec",
]
