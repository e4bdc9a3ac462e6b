"""Released tables as numbers, for charts, statistics and models."""

from sudare.releases.numeric.numeric_options import MOST_CATEGORIES, NumericOptions
from sudare.releases.numeric.numeric_table import ColumnRoles, NumericLayout, layout_of, masked_rows

__all__ = ["MOST_CATEGORIES", "ColumnRoles", "NumericLayout", "NumericOptions", "layout_of", "masked_rows"]
