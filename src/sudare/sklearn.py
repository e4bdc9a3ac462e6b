"""Releases in scikit-learn: a transformer that learns from released cells, and encodes raw records alike.

>>> from sklearn.ensemble import HistGradientBoostingClassifier
>>> from sklearn.pipeline import make_pipeline
>>> from sudare.sklearn import ReleaseEncoder
>>> model = make_pipeline(ReleaseEncoder(), HistGradientBoostingClassifier())

This needs scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.api import load_policy
from sudare.core.errors import MissingExtraError
from sudare.engines import adopt
from sudare.policy import Policy
from sudare.releases.cell_values import is_missing, value_text
from sudare.releases.numeric import MOST_CATEGORIES, layout_of
from sudare.releases.numeric.run import certificate_of, generator_of, options_of, roles_of

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    what = "sudare.sklearn needs scikit-learn 1.6 or later, which is not installed."
    raise MissingExtraError(what, hint="pip install scikit-learn") from None

__all__ = ["ReleaseEncoder"]


class ReleaseEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encodes released cells as numbers, and raw records in the same way.

    A range becomes its middle, its two ends, or a number drawn within it. A category becomes a column with its share:
    the cell `{Cuba, Peru}` counts one half for each. A raw value is a cell of one value. So a model that was trained on
    a release can predict for raw records.

    Missing cells are NaN, in all columns of a category, too. A column that shows nothing in `fit` has no new column.

    Parameters:
        certificate: the certificate of the release, a mapping or its file. With it, columns that are no
            quasi-identifiers are read as values, and not as cells, and decimal commas are read as the release has them.
            It has to name all columns.
        policy: the policy of the release. With it, labels of hierarchies are divided among their leaves, and dates that
            are shown as years take raw dates.
        kinds: what columns hold, if it cannot be seen: "numeric", "dates", "categorical" or "items" for each column.
        ranges: what a range becomes: "middle", "ends" or "draw".
        everything: what a cell becomes that shows nothing: "share" divides it evenly among all values of the column,
            "missing" leaves it missing.
        handle_unknown: what to do with a category that was not there in `fit`. "share" counts it as `other` if the
            release has that, and otherwise divides it evenly among all categories; "ignore" counts it for none; "error"
            raises. A `UserWarning` names each column in which `transform` finds no category that was there in `fit`.
        most_categories: the largest number of categories or items of a column.
        random_state: makes "draw" repeatable.
    """

    def __init__(
        self,
        *,
        certificate: Mapping[str, Any] | str | Path | None = None,
        policy: Policy | Mapping[str, Any] | str | Path | None = None,
        kinds: Mapping[str, str] | None = None,
        ranges: str = "middle",
        everything: str = "share",
        handle_unknown: str = "share",
        most_categories: int = MOST_CATEGORIES,
        random_state: Any = None,
    ) -> None:
        self.certificate = certificate
        self.policy = policy
        self.kinds = kinds
        self.ranges = ranges
        self.everything = everything
        self.handle_unknown = handle_unknown
        self.most_categories = most_categories
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ReleaseEncoder:  # noqa: N803 - as scikit-learn calls it
        """Collect what the columns of a release show."""
        table = self._table(X, reset=True)
        policy = None if self.policy is None else load_policy(self.policy)
        given = {
            "ranges": self.ranges,
            "everything": self.everything,
            "unchanged": "encode",
            "unknown": self.handle_unknown,
            "most": self.most_categories,
            "kinds": self.kinds,
        }
        options = options_of(given, policy, table.column_names, {"unknown": "handle_unknown"})
        roles = roles_of(certificate_of(self.certificate), policy, table.column_names)
        roles.check_columns(table.column_names)
        # whether all quasi-identifiers are here, nobody knows: no row counts as masked
        roles = replace(roles, links=frozenset(), masked=False)
        self.layout_ = layout_of(roles.shown(table), roles, options).without_empty()
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return released cells, or raw values, as numbers."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.ranges == "draw" else 0
        shown = self.layout_.roles.shown(table)
        made = self.layout_.encode(shown, generator_of(seed))
        for problem in self.layout_.strange(shown):
            warnings.warn(str(problem), stacklevel=3)  # scikit-learn wraps this
        found = np.empty((table.num_rows, made.num_columns), order="F")
        for place, cells in enumerate(made.columns):
            found[:, place] = cells.cast(pa.float64(), safe=False).to_numpy()
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the new columns."""
        check_is_fitted(self)
        names = list(self.layout_.columns)
        if input_features is None:
            given = names
        else:
            given = [str(name) for name in input_features]
            if hasattr(self, "feature_names_in_") and given != names:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != len(names):
                raise ValueError(f"input_features should have length equal to number of features ({len(names)})")
        return np.array(self.layout_.names(dict(zip(names, given, strict=True))), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _table(self, given: Any, *, reset: bool) -> pa.Table:
        """Return rows as Arrow; those that have no names for columns get x0, x1, ..."""
        if isinstance(given, pa.Table) or hasattr(given, "columns"):
            validate_data(self, X=given, reset=reset, skip_check_array=True)
            table, _ = adopt(given)
            return table
        rows = validate_data(self, X=given, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return pa.table({f"x{place}": _cells(rows[:, place]) for place in range(rows.shape[1])})


def _cells(column: NDArray[Any]) -> pa.Array:
    """Return a column of an array as Arrow; what has no common type becomes text, as releases write it."""
    if column.dtype.kind != "O":
        return pa.array(np.ascontiguousarray(column))
    if any(isinstance(cell, list | tuple | set | np.ndarray) for cell in column):
        return pa.array([None if cell is None else [str(item) for item in cell] for cell in column])
    texts = [None if is_missing(cell) else cell if isinstance(cell, str) else value_text(cell) for cell in column]
    return pa.array(texts, pa.large_string())
