"""The policy: roles of columns, promises and settings, in the words that users write.

A policy is YAML, JSON or a Python mapping. :meth:`Policy.load` reads a file, :meth:`Policy.parse` takes a mapping; both
either return a :class:`Policy` or raise one :class:`~sudare.core.errors.PolicyError` that lists every problem, each
with the nearest allowed word. The classes below are the whole vocabulary: one field is one key.

This room imports only the errors, so the audit can depend on it.
"""

from sudare.policy.date_format import DateFormat
from sudare.policy.policy import Policy
from sudare.policy.source_spec import ALL, SourceSpec
from sudare.policy.text_layouts import TextLayout
from sudare.policy.transformation_spec import (
    FORMS,
    TRANSFORMATIONS,
    BandSpec,
    BottomSpec,
    KeySpec,
    MaskSpec,
    NoiseSpec,
    PseudonymSpec,
    RedactSpec,
    ReplaceSpec,
    RoundSpec,
    SampleSpec,
    ShiftSpec,
    ShuffleSpec,
    SwapSpec,
    TopSpec,
    Transformation,
    TruncateSpec,
)
from sudare.policy.vocabulary import (
    BUILTIN_NAMES,
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
    TClosenessSpec,
    UniquenessSpec,
)

__all__ = [
    "ALL",
    "BUILTIN_NAMES",
    "FORMS",
    "MODEL_NAMES",
    "TOLERANCE",
    "TRANSFORMATIONS",
    "AlphaGammaSpec",
    "AlphaKAnonymitySpec",
    "BandSpec",
    "BetaLikenessSpec",
    "BottomSpec",
    "ColumnSpec",
    "DateFormat",
    "DeltaDisclosureSpec",
    "HierarchySpec",
    "KAnonymitySpec",
    "KeySpec",
    "Kind",
    "KmAnonymitySpec",
    "LDiversitySpec",
    "MaskSpec",
    "NoiseSpec",
    "PkAnonymitySpec",
    "Policy",
    "PseudonymSpec",
    "RedactSpec",
    "ReplaceSpec",
    "RequirementSpec",
    "Role",
    "RoundSpec",
    "SampleSpec",
    "ShiftSpec",
    "ShuffleSpec",
    "SourceSpec",
    "SwapSpec",
    "TClosenessSpec",
    "TextLayout",
    "TopSpec",
    "Transformation",
    "TruncateSpec",
    "UniquenessSpec",
]
