"""`sudare.sklearn.ReleaseEncoder`: scikit-learn's own checks, and models that learn from releases."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sudare
from sudare import datasets
from sudare.core.errors import DataError, ParameterError
from sudare.sklearn import ReleaseEncoder

EXPECTED_TO_FAIL: dict[str, str] = {}
"""Checks of scikit-learn that cannot pass, each with its reason: there are none."""
TRAINING = pd.DataFrame({"age": ["[17, 42]", "39", "*"], "sex": ["{F, M}", "F", "M"]})
RAW = pd.DataFrame({"age": [20, 39], "sex": ["M", "X"]})


@parametrize_with_checks(
    [ReleaseEncoder(), ReleaseEncoder(ranges="ends"), ReleaseEncoder(ranges="draw", random_state=0)],
    expected_failed_checks=lambda _: EXPECTED_TO_FAIL,
)
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def test_raw_records_are_cells_of_one_value():
    encoder = ReleaseEncoder().fit(TRAINING)
    assert encoder.get_feature_names_out().tolist() == ["age", "sex=F", "sex=M"]
    assert encoder.transform(TRAINING).tolist() == [[29.5, 0.5, 0.5], [39, 1, 0], [29.5, 0, 1]]
    assert encoder.transform(RAW).tolist() == [[20, 0, 1], [39, 0.5, 0.5]]
    assert encoder.transform(pl.from_pandas(RAW)).tolist() == encoder.transform(RAW).tolist()
    assert encoder.transform(pa.Table.from_pandas(RAW)).tolist() == encoder.transform(RAW).tolist()


def test_unknown_categories():
    raw = pd.DataFrame({"age": ["20"], "sex": ["X"]})
    assert ReleaseEncoder(handle_unknown="ignore").fit(TRAINING).transform(raw).tolist() == [[20, 0, 0]]
    with pytest.raises(DataError) as error:
        ReleaseEncoder(handle_unknown="error").fit(TRAINING).transform(raw)
    assert str(error.value).startswith("column 'sex': has 1 categories that it did not have before.")
    rare = TRAINING.assign(sex=["{F, other}", "F", "other"])
    assert ReleaseEncoder().fit(rare).transform(raw).tolist() == [[20, 0, 1]]


def test_unknown_cells_of_numbers():
    odd = pd.DataFrame({"age": ["old"], "sex": ["F"]})
    assert ReleaseEncoder().fit(TRAINING).transform(odd).tolist() == [[29.5, 1, 0]]
    assert np.isnan(ReleaseEncoder(handle_unknown="ignore").fit(TRAINING).transform(odd)[0, 0])
    with pytest.raises(DataError, match="has cells that are no numbers"):
        ReleaseEncoder(handle_unknown="error").fit(TRAINING).transform(odd)


def test_items():
    training = pd.DataFrame({"drugs": [["a", "b"], [], None]})
    encoder = ReleaseEncoder().fit(training)
    found = encoder.transform(training)
    assert found[:2].tolist() == [[1, 1], [0, 0]]
    assert np.isnan(found[2]).all()
    raw = pd.DataFrame({"drugs": [["b", "c"]]})
    assert encoder.transform(raw).tolist() == [[0, 1]]
    with pytest.raises(DataError, match="has 1 items that it did not have before"):
        ReleaseEncoder(handle_unknown="error").fit(training).transform(raw)


def test_a_certificate_tells_values_from_cells():
    paper = {"certificate": 1, "method": {"name": "top-down"}, "columns": {"quasi": ["age"], "insensitive": ["sex"]}}
    found = ReleaseEncoder(certificate=paper).fit(TRAINING).get_feature_names_out().tolist()
    assert found == ["age", "sex=F", "sex=M", "sex={F, M}"]


def test_a_certificate_tells_how_numbers_are_written():
    layout = {"delimiter": ";", "decimal": ",", "encoding": "utf-8", "bom": True, "numbers": ["age"]}
    paper = {"certificate": 1, "method": {"name": "top-down"}, "columns": {"quasi": ["age", "sex"]}, "layout": layout}
    training = TRAINING.assign(age=["[17,5; 42]", "39,25", "*"])
    encoder = ReleaseEncoder(certificate=paper, ranges="ends").fit(training)
    assert encoder.get_feature_names_out().tolist() == ["age_low", "age_high", "sex=F", "sex=M"]
    assert encoder.transform(training)[:, :2].tolist() == [[17.5, 42], [39.25, 39.25], [17.5, 42]]
    assert encoder.transform(RAW)[:, :2].tolist() == [[20, 20], [39, 39]]
    assert ReleaseEncoder(certificate=paper).fit(training[["age"]]).n_features_in_ == 1
    with pytest.raises(DataError, match="certificate: does not name the column 'job'"):
        ReleaseEncoder(certificate=paper).fit(training.assign(job="x"))


def test_columns_that_show_nothing_are_dropped():
    training = TRAINING.assign(age="*", zip=None)
    encoder = ReleaseEncoder(kinds={"age": "numeric"}).fit(training)
    assert encoder.get_feature_names_out().tolist() == ["sex=F", "sex=M"]
    assert encoder.n_features_in_ == 3
    assert encoder.transform(training.assign(age=5)).shape == (3, 2)


def test_it_can_be_cloned_kept_and_described():
    encoder = ReleaseEncoder(ranges="ends", kinds={"sex": "categorical"})
    again = pickle.loads(pickle.dumps(clone(encoder).fit(TRAINING)))
    assert again.get_params() == encoder.get_params()
    assert again.get_feature_names_out().tolist() == ["age_low", "age_high", "sex=F", "sex=M"]
    assert again.transform(RAW).tolist() == clone(encoder).fit(TRAINING).transform(RAW).tolist()
    with pytest.raises(NotFittedError):
        encoder.transform(RAW)


def test_names_and_containers_of_the_output():
    encoder = ReleaseEncoder().fit(TRAINING)
    with pytest.raises(ValueError, match="input_features is not equal"):
        encoder.get_feature_names_out(["a", "b"])
    frame = encoder.set_output(transform="pandas").transform(RAW.set_axis(["p", "q"]))
    assert frame.columns.tolist() == ["age", "sex=F", "sex=M"]
    assert frame.index.tolist() == ["p", "q"]
    unnamed = ReleaseEncoder().fit(TRAINING.to_numpy())
    assert unnamed.get_feature_names_out().tolist() == ["x0", "x1=F", "x1=M"]
    assert unnamed.get_feature_names_out(["age", "sex"]).tolist() == ["age", "sex=F", "sex=M"]
    assert unnamed.transform(RAW.to_numpy()).tolist() == [[20, 0, 1], [39, 0.5, 0.5]]


def test_draws_can_be_repeated():
    one, other = (ReleaseEncoder(ranges="draw", random_state=seed).fit(TRAINING) for seed in (1, 2))
    many = pd.concat([TRAINING] * 50)
    assert (one.transform(many) == one.transform(many)).all()
    assert (one.transform(many) != other.transform(many)).any()


def test_wrong_parameters_are_refused():
    with pytest.raises(ParameterError) as error:
        ReleaseEncoder(ranges="mean", handle_unknown="drop", most_categories=0).fit(TRAINING)
    assert [problem.where for problem in error.value.problems] == ["ranges", "handle_unknown", "most_categories"]


def test_in_a_pipeline_with_other_columns():
    training = TRAINING.assign(weight=[1.0, 2.0, 3.0])
    both = ColumnTransformer([("released", ReleaseEncoder(), ["age", "sex"])], remainder="passthrough")
    model = make_pipeline(both, LogisticRegression()).fit(training, [0, 1, 0])
    assert model.predict(RAW.assign(weight=1.0)).shape == (2,)
    assert model[:-1].get_feature_names_out().tolist() == [
        "released__age", "released__sex=F", "released__sex=M", "remainder__weight",
    ]  # fmt: skip


def test_a_model_learns_as_much_from_a_release_as_from_raw_records():
    training, test = datasets.adult("train").to_pandas(), datasets.adult("test").to_pandas()
    release = sudare.anonymize(training, datasets.adult_policy(), seed=0)
    columns = [name for name in release.data.columns if name != "income"]

    def accuracy(rows):
        known = SimpleImputer(strategy="constant", fill_value=0)
        model = make_pipeline(ReleaseEncoder(), known, MinMaxScaler(), LogisticRegression(max_iter=1000))
        return model.fit(rows[columns], rows["income"]).score(test[columns], test["income"])

    raw = accuracy(training)
    assert raw > 0.82
    assert accuracy(release.data) > raw - 0.01


def test_without_scikit_learn_the_message_says_what_to_install():
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import sudare\n"
        "try:\n    import sudare.sklearn\n"
        "except sudare.SudareError as error:\n    print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=True)
    assert said.stdout.startswith("MissingExtraError sudare.sklearn needs scikit-learn")
    assert "Hint: pip install scikit-learn" in said.stdout
