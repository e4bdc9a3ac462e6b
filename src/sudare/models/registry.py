"""The registry of privacy models; ``MODELS[name](**parameters)`` makes a model."""

from typing import Any

from sudare.models.alpha_gamma import AlphaGamma
from sudare.models.alpha_k_anonymity import AlphaKAnonymity
from sudare.models.beta_likeness import BetaLikeness
from sudare.models.delta_disclosure import DeltaDisclosure
from sudare.models.k_anonymity import KAnonymity
from sudare.models.km_anonymity import KmAnonymity
from sudare.models.l_diversity import LDiversity
from sudare.models.pk_anonymity import PkAnonymity
from sudare.models.t_closeness import TCloseness
from sudare.models.uniqueness import Uniqueness

MODELS: dict[str, type[Any]] = {
    "k-anonymity": KAnonymity,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k-anonymity": AlphaKAnonymity,
    "beta-likeness": BetaLikeness,
    "delta-disclosure": DeltaDisclosure,
    "km-anonymity": KmAnonymity,
    "pk-anonymity": PkAnonymity,
    "alpha-gamma": AlphaGamma,
    "uniqueness": Uniqueness,
}
"""Every privacy model, by the name that a policy uses."""
