"""Privacy models: limits for each group of records, or for a release as a whole."""

from sudare.models.alpha_gamma import AlphaGamma
from sudare.models.alpha_k_anonymity import AlphaKAnonymity, named_codes
from sudare.models.beta_likeness import BetaLikeness
from sudare.models.delta_disclosure import DeltaDisclosure
from sudare.models.group_counts import Groups, Histograms
from sudare.models.k_anonymity import KAnonymity
from sudare.models.km_anonymity import KmAnonymity
from sudare.models.l_diversity import LDiversity
from sudare.models.pk_anonymity import PkAnonymity
from sudare.models.registry import MODELS
from sudare.models.requirements import Model, Requirements, describe
from sudare.models.segment_sums import TOLERANCE
from sudare.models.t_closeness import TCloseness
from sudare.models.uniqueness import Uniqueness

__all__ = [
    "MODELS",
    "TOLERANCE",
    "AlphaGamma",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "Groups",
    "Histograms",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "Model",
    "PkAnonymity",
    "Requirements",
    "TCloseness",
    "Uniqueness",
    "describe",
    "named_codes",
]
