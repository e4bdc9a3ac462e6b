"""`sudare.sklearn.ReleaseEncoder`: scikit-learn's own checks, and models that learn from releases."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
import warnings

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


BORN = {"columns": {"born": {"role": "quasi", "hierarchy": {"dates": ["year"]}}},
        "require": [{"model": "k-anonymity", "k": 2}]}  # fmt: skip
YEARS = pd.DataFrame({"born": ["1971", "1970", "*"]})
DATES = [datetime.date(1970, 1, 3), datetime.date(1972, 11, 28)]
FORMS = [
    pd.Series(DATES), pd.Series(pd.to_datetime(DATES)), pd.Series([str(date) for date in DATES]), pl.Series(DATES),
]  # fmt: skip


@pytest.mark.parametrize("dates", FORMS, ids=["objects", "timestamps", "text", "polars"])
@pytest.mark.parametrize("more", [{"policy": BORN}, {"kinds": {"born": "dates"}}])
def test_a_release_that_shows_years_takes_raw_dates(dates, more):
    raw = (pl.DataFrame if isinstance(dates, pl.Series) else pd.DataFrame)({"born": dates})
    encoder = ReleaseEncoder(**more).fit(YEARS)
    assert encoder.transform(YEARS).tolist() == [[365 + 182], [182], [364.5]]
    assert encoder.transform(raw).tolist() == [[2], [1062]]
    # pandas takes the years of a text file for numbers, if no cell is hidden there
    numbers = YEARS[:2].astype(int)
    assert encoder.transform(numbers).tolist() == [[365 + 182], [182]]
    assert ReleaseEncoder(**more).fit(numbers).transform(raw).tolist() == [[2], [1062]]
    with pytest.raises(DataError, match="has numbers here, and had dates before"):
        encoder.transform(pd.DataFrame({"born": [5, 6]}))


@pytest.mark.parametrize("dates", FORMS, ids=["objects", "timestamps", "text", "polars"])
@pytest.mark.parametrize("training", [YEARS, YEARS[:2].astype(int)], ids=["text", "numbers"])
@pytest.mark.parametrize("unknown", ["share", "ignore", "error"])
def test_dates_in_a_column_of_numbers_are_refused_with_what_helps(dates, training, unknown):
    raw = (pl.DataFrame if isinstance(dates, pl.Series) else pd.DataFrame)({"born": dates})
    with pytest.raises(DataError) as error:
        ReleaseEncoder(handle_unknown=unknown).fit(training).transform(raw)
    assert str(error.value) == (
        "column 'born': has dates here, and had numbers before. Hint: if it shows dates as years, pass the policy, or "
        'say so: kinds={"born": "dates"}.'
    )


def test_other_kinds_of_cells_are_refused():
    for had, given, kinds in (
        ("39", "08:30:00", "times"),
        ("08:30:00", "2020-01-05", "dates"),
        ("39", "2020-Q1", "da"),
    ):
        with pytest.raises(DataError, match=f"has {kinds}.* before. Hint: give it"):
            ReleaseEncoder().fit(pd.DataFrame({"x": [had]})).transform(pd.DataFrame({"x": [given, "*", None]}))
    # one of many is a mistake in the data, and what to do with it can be chosen
    age = pd.DataFrame({"age": ["39", "2020-01-05"], "sex": "F"})
    assert ReleaseEncoder().fit(TRAINING).transform(age)[:, 0].tolist() == [39, 29.5]


def test_a_column_without_any_known_category_is_told():
    raw = pd.DataFrame({"born": DATES})
    encoder = ReleaseEncoder(kinds={"born": "categorical"}).fit(YEARS)
    with pytest.warns(UserWarning) as told:
        assert encoder.transform(raw).tolist() == [[0.5, 0.5]] * 2
    assert [str(each.message) for each in told] == [
        "column 'born': has no category that it had before, so that it says nothing. Hint: if it shows dates, say so: "
        'kinds={"born": "dates"}.'
    ]
    assert told[0].filename == __file__
    for unknown in ("share", "ignore"):
        encoder = ReleaseEncoder(handle_unknown=unknown).fit(TRAINING)
        with pytest.warns(
            UserWarning, match="'sex': has no category .* Hint: are its values written as in the release"
        ):
            encoder.transform(pd.DataFrame({"age": [1, 2], "sex": ["male", "female"]}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            encoder.transform(RAW)
            encoder.transform(pd.DataFrame({"age": ["*"], "sex": ["*"]}))
            encoder.transform(pd.DataFrame({"age": [1], "sex": [None]}))
    rare = ReleaseEncoder().fit(TRAINING.assign(sex=["F", "other", "F"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rare.transform(pd.DataFrame({"age": [1], "sex": ["X"]})).tolist() == [[1, 0, 1]]


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
