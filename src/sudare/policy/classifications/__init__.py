"""The public classifications behind the names of built-in hierarchies: tables of facts, without any code.

They are the meaning of words that a policy may use, such as ``icd-10``. So the room that makes hierarchies and the
audit read the same tables. Each has code of its own that finds the group of a value.
"""

from sudare.policy.classifications.countries import COUNTRIES, OTHER_COUNTRY_NAMES
from sudare.policy.classifications.icd_9 import ICD_9
from sudare.policy.classifications.icd_10 import ICD_10
from sudare.policy.classifications.us_states import US_AREAS, US_STATES

__all__ = ["COUNTRIES", "ICD_9", "ICD_10", "OTHER_COUNTRY_NAMES", "US_AREAS", "US_STATES"]
