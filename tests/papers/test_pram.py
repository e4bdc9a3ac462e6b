"""PRAM with two guarantees: the published table, how often values are drawn, and what may not be drawn."""

from __future__ import annotations

import json
import math
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sudare
from sudare import datasets
from sudare.core.errors import DataError, PolicyError, PolicyUnmetError, SudareError, UnsupportedError
from sudare.core.randomness import Entropy
from sudare.methods import METHODS
from sudare.methods.pram import invariant_matrix, least_ratio, pk_figure, uniform_alpha, uniform_gamma, uniform_matrix
from sudare.methods.random_columns import CodeDraw
from sudare.models import MODELS, AlphaGamma, KAnonymity, PkAnonymity, Requirements
from sudare.pipeline.request_checks import view_of
from sudare.policy import Policy
from sudare.sources.encoded_table import encode
from sudare.sources.opened_source import read
from sudare.table import Column

from .published_pram import PUBLISHED, ROUNDED

ROWS = 32_561
PERTURBED = ["income", "marital-status", "relationship", "race"]
PK = {"model": "pk-anonymity", "k": 3}
LIMIT = {"model": "alpha-gamma", "column": "income", "alpha": 0.8, "gamma": 0.1, "against": "column"}


def believed(prior, matrix) -> float:
    """The most that is believed of a true value, on average over what is shown."""
    weights = np.asarray(prior)[:, None] * matrix
    return float((matrix * weights / weights.sum(axis=0)).sum(axis=1).max())


def policy(*require, columns=None, **options) -> dict:
    roles = {name: {"role": "quasi"} for name in PERTURBED} | {"income": {"role": "sensitive"}}
    roles |= {"sex": {"role": "insensitive"}, "age": {"role": "insensitive"}} | (columns or {})
    return {"columns": roles, "require": list(require), "method": {"name": "pram", **options}}


def decided(*require, data=None, columns=None, seed=7, **options):
    """Return the encoded table, and what the method decides."""
    checked = sudare.load_policy(policy(*require, columns=columns, **options))
    view = view_of(METHODS["pram"], checked.method.options, checked)
    source, _ = read(datasets.adult() if data is None else data, checked)
    table = encode(source, view.policy, also=view.also)
    models = tuple(MODELS[spec.model](**spec.parameters()) for spec in checked.require)
    return table, METHODS["pram"].load()(table, Requirements(models), seed=seed, **checked.method.options)


def cut(figure) -> float:
    return math.floor(figure * 10_000) / 10_000


def column(codes, values) -> Column:
    return Column("c", "categorical", np.asarray(codes, np.uint8), pa.array([f"v{n}" for n in range(values)]))


def drawn(table, made, name) -> tuple[np.ndarray, np.ndarray]:
    """Return the true codes of a column, and the released ones."""
    truth = {**table.sensitive, **table.context}[name].codes
    return truth, made.draws[name].cells(np.arange(table.rows))


def texts(column: Column) -> np.ndarray:
    return np.array([*column.values.to_pylist(), None], dtype=object)


def fits(counts, expected) -> bool:
    """Whether counts are as expected, by a chi-square test at about five standard deviations."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    assert (counts[expected == 0] == 0).all()
    inside = expected > 0
    figure = ((counts[inside] - expected[inside]) ** 2 / expected[inside]).sum()
    freedom = np.count_nonzero(inside) - len(counts)
    return figure < freedom + 5 * math.sqrt(2 * freedom) + 10


def transitions(truth, shown, size) -> np.ndarray:
    return np.bincount(truth.astype(np.int64) * size + shown, minlength=size * size).reshape(size, size)


# ---- the published table


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_published_table_by_policies(case):
    sensitive, k, alpha, gamma, *expected = case
    limit = {**LIMIT, "column": sensitive, "alpha": alpha, "gamma": gamma}
    _, made = decided({**PK, "k": k}, {**limit, "prior": ROUNDED[sensitive]})
    told = made.facts["calibration"]
    bounds = told["bounds"]
    assert [cut(p) for p in (bounds["pk"], bounds["alpha"], bounds["gamma"], told["p"])] == expected
    assert told["binding"] == ("pk" if expected[3] == expected[0] else "alpha")
    assert told["retention"] == dict.fromkeys(PERTURBED, told["p"])
    assert sorted(made.facts["columns"][sensitive]["prior"]) == sorted(ROUNDED[sensitive].values())


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_published_table_from_the_data(case):
    """From the data both the exact prior and the one that is told, with three digits, are kept."""
    sensitive, k, alpha, gamma, *expected = case
    _, made = decided({**PK, "k": k}, {**LIMIT, "column": sensitive, "alpha": alpha, "gamma": gamma})
    told = made.facts["calibration"]
    bounds = told["bounds"]
    found = [cut(p) for p in (bounds["pk"], bounds["alpha"], bounds["gamma"], told["p"])]
    assert found == pytest.approx(expected, abs=0.006)
    names = sudare.datasets.adult()[sensitive].value_counts()
    shares = np.array([entry["counts"].as_py() for entry in names], float)
    shares /= shares.sum()
    assert uniform_alpha(shares, told["p"]) <= alpha
    assert uniform_gamma(shares, told["p"]) >= gamma
    assert made.facts["columns"][sensitive]["prior"] == pytest.approx(
        [ROUNDED[sensitive][value] for value in made.facts["columns"][sensitive]["values"]], abs=0.0005
    )
    if sensitive == "relationship":
        assert found[1] == pytest.approx(expected[1], abs=0.0006)


# ---- how often values are drawn


@pytest.mark.parametrize("kind", ["uniform", "invariant"])
def test_transitions_are_as_often_as_the_matrix_says(kind):
    """Ten million cells of a column of Adult, repeated."""
    table, made = decided(PK, kind=kind)
    relationship = table.sensitive["relationship"]
    codes = np.tile(relationship.codes, 10_000_000 // ROWS + 1)[:10_000_000]
    many = column(codes, relationship.size)
    told = made.facts["columns"]["relationship"]["matrix"]
    matrix = uniform_matrix(6, told["p"]) if "p" in told else np.array(told["rows"])
    draw = CodeDraw(many, Entropy(3), **({"keep": told["p"]} if "p" in told else {"matrix": matrix}))
    shown = draw.cells(np.arange(len(codes)))
    assert fits(transitions(codes, shown, 6), np.bincount(codes)[:, None] * matrix)


def test_ten_million_cells_of_a_whole_table():
    """The way of a release: Adult 77 times over, all of its columns, drawn by what the certificate tells."""
    data = pa.concat_tables([datasets.adult().select([*PERTURBED, "sex", "age"])] * 77)
    table, made = decided({**PK, "k": 155}, LIMIT, data=data)
    assert table.rows * len(PERTURBED) > 10_000_000
    assert 0.33 < made.facts["calibration"]["p"] < 0.34
    for name in PERTURBED:
        truth, shown = drawn(table, made, name)
        size, p = table.sensitive[name].size, made.facts["columns"][name]["matrix"]["p"]
        counts, found = np.bincount(truth, minlength=size)[:, None], transitions(truth, shown, size)
        assert fits(found, counts * uniform_matrix(size, p))
        for wrong in (p - 0.01, p + 0.01):  # the test can fail
            assert not fits(found, counts * uniform_matrix(size, wrong))
        if size > 2:
            assert not fits(found, counts * invariant_matrix(counts[:, 0] / counts.sum(), p))


def test_a_hundred_million_cells_take_seconds():
    codes = column(np.tile(np.arange(7, dtype=np.uint8), 1_500_000)[:10_000_000], 7)
    draw = CodeDraw(codes, Entropy(), keep=0.33)
    draw.cells(np.arange(1000))
    started = time.process_time()
    rows = np.arange(1 << 20)
    for _ in range(10):
        draw.cells(rows)
    assert time.process_time() - started < 2.0  # of a tenth of them, and on a busy machine


def test_a_perturbed_table_has_the_transitions_of_its_certificate():
    table, made = decided(PK, LIMIT)
    for name in PERTURBED:
        truth, shown = drawn(table, made, name)
        size = table.sensitive[name].size
        matrix = uniform_matrix(size, made.facts["columns"][name]["matrix"]["p"])
        counts = np.bincount(truth, minlength=size)
        enough = counts > 500
        assert fits(transitions(truth, shown, size)[enough], (counts[:, None] * matrix)[enough])


def test_invariant_matrices_leave_the_distribution_as_it_is():
    table, made = decided({**LIMIT, "gamma": 0.05}, kind="invariant")
    assert made.facts["kind"] == "invariant"
    for name in PERTURBED:
        truth, shown = drawn(table, made, name)
        size = table.sensitive[name].size
        matrix = np.array(made.facts["columns"][name]["matrix"]["rows"])
        shares = np.bincount(truth, minlength=size) / ROWS
        assert shares @ matrix == pytest.approx(shares, abs=0.0005)  # three digits of the shares are used
        spread = np.sqrt(shares @ (matrix * (1 - matrix)) / ROWS)
        assert (np.abs(np.bincount(shown, minlength=size) / ROWS - shares @ matrix) < 5 * spread + 1e-9).all()
    prior = made.facts["columns"]["income"]["prior"]
    p = made.facts["calibration"]["p"]
    assert believed(prior, invariant_matrix(prior, p)) <= 0.8
    assert believed(prior, invariant_matrix(prior, p + 0.01)) > 0.8


# ---- strata, structural zeros, joint attributes


def test_strata_stay_and_confine_what_is_drawn():
    table, made = decided(PK, strata=["age"], columns={"age": {"role": "quasi"}, "race": {"role": "insensitive"},
                          "marital-status": {"role": "insensitive"}}, data=grown_up())  # fmt: skip
    assert list(made.draws) == ["income", "relationship"]
    age = table.context["age"].codes
    for name in ("income", "relationship"):
        truth, shown = drawn(table, made, name)
        there = set(zip(age.tolist(), truth.tolist(), strict=True))
        assert {*zip(age.tolist(), shown.tolist(), strict=True)} <= there
        assert (truth != shown).any()
    told = made.facts["strata"]
    assert told["columns"] == ["age"]
    assert len(told["cells"]) == len(np.unique(age))
    assert "matrix" not in made.facts["columns"]["relationship"]
    # the figure is that of the worst stratum, with its own number of records
    p, figures, above = made.facts["calibration"]["p"], [], []
    for cell in told["cells"]:
        rows = int(np.count_nonzero(texts(table.context["age"])[age] == cell["cell"]["age"]))
        parts = {name: part.get("values", made.facts["columns"][name]["values"])
                 for name, part in cell["columns"].items()}  # fmt: skip
        assert all(part["matrix"] == {"p": p} for part in cell["columns"].values())
        figures.append(pk_figure(rows, [least_ratio(uniform_matrix(len(part), p)) for part in parts.values()]))
        more = [least_ratio(uniform_matrix(len(part), p + 0.0001)) for part in parts.values()]
        above.append(pk_figure(rows, more))
    assert min(figures) >= 3 > min(above)


def grown_up() -> pa.Table:
    data = datasets.adult()
    return data.filter((pa.compute.field("age") >= 25) & (pa.compute.field("age") < 45))


def test_beliefs_in_strata_are_by_their_own_distribution():
    table, made = decided({**LIMIT, "alpha": 0.92, "gamma": 0.02}, strata=["sex"])
    figures = []
    for cell in made.facts["strata"]["cells"]:
        mine = texts(table.context["sex"])[table.context["sex"].codes] == cell["cell"]["sex"]
        shares = np.bincount(table.sensitive["income"].codes[mine]) / np.count_nonzero(mine)
        part = cell["columns"]["income"]
        assert part["prior"] == pytest.approx(shares, abs=0.001)
        figures.append(believed(part["prior"], uniform_matrix(2, part["matrix"]["p"])))
    assert 0.9199 < max(figures) <= 0.92  # of p, four digits are used
    with pytest.raises(PolicyUnmetError, match=r"worst stratum.* nearest that can be kept are alpha = 0\.8"):
        decided(LIMIT, strata=["sex"])


def test_what_must_never_be_made_is_never_made():
    never = [{"age": 17, "marital-status": "Widowed"}, {"age": 17, "marital-status": "Divorced"}]
    table, made = decided(PK, LIMIT, never=never)
    truth, shown = drawn(table, made, "marital-status")
    seventeen = texts(table.context["age"])[table.context["age"].codes] == 17
    values = texts(table.sensitive["marital-status"])
    assert set(values[truth[seventeen]]) & {"Widowed", "Divorced"} == set()
    assert set(values[shown[seventeen]]) & {"Widowed", "Divorced"} == set()
    assert len(set(values[shown[seventeen]])) == 5
    assert set(values[shown[~seventeen]]) == set(made.facts["columns"]["marital-status"]["values"])
    first, rest = made.facts["strata"]["cells"]
    assert (first["cell"], rest["cell"]) == ({"age": 17}, {})
    assert len(first["columns"]["marital-status"]["values"]) == 5
    # what does not depend on age is told once, and its prior is that of the table
    assert list(first["columns"]) == list(rest["columns"]) == ["marital-status"]
    assert made.facts["columns"]["income"]["prior"] == [0.759, 0.241]


@pytest.mark.parametrize("kind", ["uniform", "invariant"])
def test_joint_columns_are_drawn_as_one(kind):
    never = [{"marital-status": "Never-married", "relationship": "Husband"}]
    table, made = decided(PK, joint=[["relationship", "marital-status"]], never=never, kind=kind)
    (first, a), (second, b) = drawn(table, made, "relationship"), drawn(table, made, "marital-status")
    told = made.facts["joint"]
    assert [part["columns"] for part in told] == [["relationship", "marital-status"]]
    matrix = np.array(told[0]["rows"])
    assert matrix.shape == (42, 42)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(42))
    truth, shown = first.astype(int) * 7 + second, a.astype(int) * 7 + b
    counts = np.bincount(truth, minlength=42)
    enough = counts > 500
    small = (counts[:, None] * matrix > 0) & (counts[:, None] * matrix < 5)
    found, expected = transitions(truth, shown, 42), counts[:, None] * matrix
    assert fits(np.where(small, 0, found)[enough], np.where(small, 0, expected)[enough])
    values = made.facts["columns"]["relationship"]["values"], made.facts["columns"]["marital-status"]["values"]
    zero = values[0].index("Husband") * 7 + values[1].index("Never-married")
    assert (shown != zero).all()
    assert (matrix[:, zero] == 0).all()
    assert "matrix" not in made.facts["columns"]["relationship"]
    if kind == "uniform":
        p = made.facts["calibration"]["p"]
        ratios = [least_ratio(uniform_matrix(size, p)) for size in (2, 41, 5)]
        assert 3 <= pk_figure(ROWS, ratios) < 3.01
        assert (truth == shown).mean() == pytest.approx(p + (1 - p) / 41, abs=0.01)


def test_beliefs_in_a_column_that_is_drawn_jointly():
    """Whoever sees both columns uses both: by the definition, one joint truth at a time."""
    _, made = decided(LIMIT, joint=[["relationship", "income"]])
    [told] = made.facts["joint"]
    prior, matrix = np.array(told["prior"]), np.array(told["rows"])
    worst = 0.0
    for truth in np.flatnonzero(prior):
        believed = sum(
            matrix[truth, shown] * (prior * matrix[:, shown])[truth % 2 :: 2].sum() / (prior @ matrix)[shown]
            for shown in range(12)
        )
        worst = max(worst, believed)
    assert 0.799 < worst <= 0.8 + 1e-9  # the prior as it is binds, not the one that is told
    assert made.facts["calibration"]["p"] < decided(LIMIT)[1].facts["calibration"]["p"]


def test_without_anything_between_them_joint_columns_are_like_their_product():
    matrix = np.kron(uniform_matrix(2, 0.3), uniform_matrix(3, 0.3))
    assert least_ratio(matrix) < least_ratio(uniform_matrix(6, 0.3))  # one draw for both hides more than two


# ---- how much is kept


def test_a_probability_for_each_column():
    plain = decided(PK, LIMIT)[1].facts["calibration"]
    _, made = decided(PK, LIMIT, p="per-column", weights={"income": 3})
    kept = made.facts["calibration"]["retention"]
    assert kept["income"] > plain["p"] > kept["marital-status"]
    assert made.facts["calibration"]["p"] is None  # there is none for all
    assert made.facts["calibration"]["calibrated"] == plain["p"] == plain["calibrated"]
    ratios = [least_ratio(uniform_matrix(len(part["values"]), part["matrix"]["p"]))
              for part in made.facts["columns"].values()]  # fmt: skip
    assert pk_figure(ROWS, ratios) >= 3


def test_given_probabilities_are_checked():
    told = decided(PK, LIMIT, p=0.212345678)[1].facts["calibration"]
    assert told["retention"] == dict.fromkeys(PERTURBED, 0.212345678)  # as it is given
    assert (told["p"], told["calibrated"]) == (0.212345678, 0.3343)
    given = {"income": 0.5, "marital-status": 0.2, "relationship": 0.2, "race": 0}
    told = decided(PK, p=given)[1].facts["calibration"]
    assert (told["retention"], told["p"], told["calibrated"]) == (given, None, 0.3343)
    with pytest.raises(PolicyUnmetError, match=r"method\.p: does not keep .*k = 1\.0.*alpha = 0\.80.* is 0\.334351"):
        decided(PK, LIMIT, p=0.5)
    with pytest.raises(PolicyError, match="does not name 'race'"):
        decided(PK, p={name: 0.1 for name in PERTURBED if name != "race"})
    with pytest.raises(PolicyError, match="differs between income, race, which are drawn jointly"):
        decided(PK, p=given, joint=[["income", "race"]])


def test_matrices_of_the_policy():
    own = {"<=50K": {"<=50K": 0.7, ">50K": 0.3}, ">50K": {"<=50K": 0.4, ">50K": 0.6}}
    table, made = decided(PK, LIMIT, matrices={"income": own})
    assert made.facts["columns"]["income"]["matrix"] == {"rows": [[0.7, 0.3], [0.4, 0.6]]}
    assert list(made.facts["calibration"]["retention"]) == ["marital-status", "relationship", "race"]
    truth, shown = drawn(table, made, "income")
    assert fits(transitions(truth, shown, 2), np.bincount(truth)[:, None] * np.array([[0.7, 0.3], [0.4, 0.6]]))
    p = made.facts["calibration"]["p"]
    assert pk_figure(ROWS, [0.5, *(least_ratio(uniform_matrix(size, p)) for size in (7, 6, 5))]) >= 3 - 1e-9


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"<=50K": {"<=50K": 1.0}, "other": {">50K": 1.0}}, "row 2 is for a value that the column does not have"),
        ({"<=50K": {"<=50K": 0.5, ">50K": 0.5}, ">50K": {">50K": 0.9}}, "row 2 adds up to 0.9"),
        ({"<=50K": {"<=50K": 0.5, "x": 0.5}, ">50K": {">50K": 1.0}}, "row 1 names a value that the column"),
        ({"<=50K": {"<=50K": 0.5, ">50K": 0.5}, ">50K": {"<=50K": 0.5, ">50K": 0.5}}, "is singular"),
    ],
)
def test_matrices_that_are_none(own, said):
    with pytest.raises(PolicyError, match=rf"method\.matrices\.income: {said}") as caught:
        decided(PK, matrices={"income": own})
    assert ">50K" not in str(caught.value)


# ---- what is refused


@pytest.mark.parametrize(
    ("require", "options", "error", "said"),
    [
        ([{**LIMIT, "alpha": 0.7, "gamma": 0.3}], {}, PolicyUnmetError, "are alpha = 0.7592, gamma = 0.2408"),
        ([{**PK, "k": 40_000}], {}, PolicyUnmetError, "the table has 32,561 records. Hint: require at most k = 32561"),
        ([{**PK, "k": 20_000}], {"strata": ["sex"]}, PolicyUnmetError, "the smallest stratum has 10,771 records"),
        ([{**LIMIT, "prior": {"a": 0.5, "b": 0.5}}], {}, PolicyError, "names 2 values that column 'income'"),
        ([{**LIMIT, "prior": {"<=50K": 0.7, ">50K": 0.3}}], {}, PolicyUnmetError, "is not the distribution"),
        ([{**LIMIT, "prior": {"<=50K": 1.0, ">50K": 0.0}}], {}, PolicyError, "greater than 0"),
        ([{**LIMIT, "prior": {"<=50K": 0.7, ">50K": 0.2}}], {}, PolicyError, "adds up to 0.9"),
        ([{**LIMIT, "prior": ROUNDED["income"]}], {"strata": ["sex"]}, PolicyError, "by strata"),
        ([PK], {"strata": ["sex", "age"]}, DataError, "strata there is one value of '"),
        ([PK], {"strata": ["income"]}, PolicyError, "this needs role quasi or insensitive"),
        ([PK], {"strata": ["sexx"]}, PolicyError, "Did you mean 'sex'"),
        ([{**LIMIT, "column": "race"}], {"strata": ["race"]}, PolicyError, "'race' is not perturbed"),
        ([PK], {"strata": PERTURBED[1:], "joint": [["income", "race"]]}, PolicyError, "'race' is not perturbed"),
        ([PK], {"joint": [["income", "race"], ["race", "relationship"]]}, PolicyError, "no column twice"),
        ([PK], {"weights": {"income": 2}}, PolicyError, "belong to p: per-column"),
        ([PK], {"p": "per-column", "strata": ["sex"]}, PolicyError, "per-column is for uniform matrices"),
        ([PK], {"never": [{"race": "Black", "income": ">50K"}]}, PolicyError, "name them in `joint`"),
        ([PK], {"never": [{"age": 17, "sex": "Male"}]}, PolicyError, "names no perturbed column"),
        ([PK], {"never": [{"sex": "Male", "race": "Blck"}]}, PolicyError, "names a value that column 'race'"),
        ([PK], {"never": [{"sex": "Male", "race": "Black"}]}, DataError, "already have such a combination"),
        ([PK], {"p": 1.5}, PolicyError, "calibrated, per-column, or a number from 0 to 1"),
        ([{"model": "k-anonymity", "k": 3}], {}, PolicyError, "draws values at random, and cannot keep k-anonymity"),
    ],
)
def test_what_is_refused(require, options, error, said):
    with pytest.raises(error) as caught:
        decided(*require, **options)
    assert said in str(caught.value)


def test_a_column_with_one_value_is_named():
    data = datasets.adult().append_column("country", pa.array(["somewhere"] * ROWS))
    with pytest.raises(DataError, match="column 'country': has one value, which cannot be perturbed") as caught:
        decided(PK, data=data, columns={"country": {"role": "quasi"}})
    assert "role insensitive" in str(caught.value)
    assert "somewhere" not in str(caught.value)


def test_as_many_strata_as_records():
    data = datasets.adult().append_column("number", pa.array(range(ROWS)))
    with pytest.raises(DataError, match="make 32,561 strata of 32,561 records"):
        decided(PK, data=data, columns={"number": {"role": "insensitive"}}, strata=["number"])


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables(rows):
    with pytest.raises(SudareError):
        decided(PK, data=datasets.adult().slice(0, rows))


def test_other_methods_cannot_make_it_and_it_makes_nothing_else():
    for name, method in METHODS.items():
        given = policy(PK, LIMIT)
        given["method"] = {"name": name} | ({"target": "income"} if "target" in method.options else {})
        if method.perturbs:
            assert sudare.load_policy(given)
            continue
        with pytest.raises(PolicyError, match=r"cannot keep .*pk-anonymity"):
            sudare.load_policy(given)
    table, _ = decided(PK)
    with pytest.raises(PolicyUnmetError, match="promises only pk-anonymity and alpha-gamma"):
        METHODS["pram"].load()(table, Requirements((PkAnonymity(2), KAnonymity(2))))
    with pytest.raises(PolicyError, match="needs a requirement of pk-anonymity or alpha-gamma"):
        METHODS["pram"].load()(table, Requirements(()))
    with pytest.raises(PolicyError, match="full-domain draws no values"):
        sudare.explore(datasets.adult(), policy(PK))


def test_rows_in_their_order_would_tell_whose_they_are():
    with pytest.raises(PolicyError, match=r"release\.order: keep reveals which record belongs to whom"):
        sudare.anonymize(datasets.adult(), policy(PK) | {"release": {"order": "keep"}})
    kept = sudare.anonymize(datasets.adult(), policy(LIMIT) | {"release": {"order": "keep"}})
    assert kept.data.column("age").to_pylist() == datasets.adult().column("age").to_pylist()


def test_item_sets_are_refused():
    data = datasets.adult().append_column("tags", pa.array([["a"]] * ROWS))
    for kind, error in (({}, DataError), ({"kind": "items"}, UnsupportedError)):
        with pytest.raises(error):
            decided(PK, data=data, columns={"tags": {"role": "quasi", **kind}})


def test_matrices_that_a_certificate_cannot_tell():
    data = datasets.adult()
    with pytest.raises(UnsupportedError, match="too large for a certificate"):
        decided(PK, data=data, columns={"fnlwgt": {"role": "quasi"}}, kind="invariant")
    _, made = decided(PK, data=data, columns={"fnlwgt": {"role": "quasi"}})
    assert len(made.facts["columns"]["fnlwgt"]["values"]) > 20_000


# ---- from end to end


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "invariant"},
        {"p": "per-column"},
        {"strata": ["sex"]},
        {"joint": [["relationship", "marital-status"]]},
        {"never": [{"age": 17, "marital-status": "Widowed"}]},
    ],
    ids=str,
)
def test_from_end_to_end(options, ending, tmp_path):
    path = tmp_path / f"r{ending}"
    against = "column" if "never" in options else "all-columns"
    given = policy(PK, {**LIMIT, "alpha": 0.92, "against": against}, **options)
    release = sudare.anonymize(datasets.adult(), given, out=path)
    facts = release.certificate
    assert (facts["rows_in"], facts["rows_out"], facts["suppressed"], facts["classes"]) == (ROWS, ROWS, 0, None)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["mechanism"]["randomness"] == "the operating system's"
    assert any("random order" in note for note in facts["search"]["notes"])
    report = sudare.audit(path, given)
    assert report.passed, report.problems
    released = pq.read_table(path) if ending == ".parquet" else pa.csv.read_csv(path)
    assert released.column_names == list(given["columns"])
    data = datasets.adult()
    # what is not perturbed leaves as it came, in another order
    pairs = [Counter(zip(*(table[name].to_pylist() for name in ("sex", "age")), strict=True))
             for table in (data, released)]  # fmt: skip
    assert pairs[0] == pairs[1]
    assert released["age"].to_pylist() != data["age"].to_pylist()


def test_numbers_missing_cells_and_categories_keep_their_types(tmp_path):
    random = np.random.default_rng(0)
    rows = 3000
    cells = {
        "a": pa.array([None if n == 3 else int(n) for n in random.integers(0, 5, rows)], pa.int16()),
        "b": pa.array(random.choice([0.5, 1.5, float("nan")], rows)),
        "c": pa.array(random.choice(["x", "y", ""], rows)).dictionary_encode(),
        "d": pa.array(random.integers(0, 2, rows).astype(bool)),
        "who": pa.array([f"p{n // 2}" for n in range(rows)]),
    }
    columns = {name: {"role": "quasi"} for name in "abd"} | {"c": {"role": "sensitive"}, "who": {"role": "subject"}}
    limit = {"model": "alpha-gamma", "column": "a", "alpha": 0.9, "gamma": 0.01}
    given = {"columns": columns, "require": [{**PK, "k": 2}, limit], "method": {"name": "pram"}}
    path = tmp_path / "r.parquet"
    release = sudare.anonymize(pa.table(cells), given, out=path)
    schema = pq.read_schema(path)
    assert [(field.name, field.type) for field in schema] == [
        ("a", pa.int16()), ("b", pa.float64()), ("d", pa.bool_()), ("c", pa.string()),
    ]  # fmt: skip
    told = release.certificate["mechanism"]["columns"]
    assert told["a"]["values"] == [0, 1, 2, 4, None]
    assert told["b"]["values"] == [0.5, 1.5, None]
    assert any("several records" in note for note in release.certificate["search"]["notes"])
    assert set(pq.read_table(path)["a"].to_pylist()) == {0, 1, 2, 4, None}


def test_a_seed_is_for_tests():
    def rows(seed):
        return sudare.anonymize(datasets.adult("test"), policy(PK), seed=seed).data.to_pylist()

    assert rows(5) == rows(5)
    assert rows(5) != rows(6)
    assert rows(None) != rows(None)


def test_the_input_stays_as_it_was():
    table, _ = decided(PK)
    for part in table.sensitive.values():
        part.codes.flags.writeable = False
    made = METHODS["pram"].load()(table, Requirements((PkAnonymity(3), AlphaGamma("income", 0.8, 0.1))), seed=1)
    made.draws["income"].cells(np.arange(10))


def test_a_policy_of_it_is_read_from_a_file(tmp_path):
    (tmp_path / "p.yaml").write_text(
        "columns:\n  income: {role: sensitive}\n  race: {role: quasi}\n"
        "require:\n  - {model: alpha-gamma, column: income, alpha: 0.8, gamma: 0.1, "
        'prior: {"<=50K": 0.759, ">50K": 0.241}}\n'
        "method: {name: pram, p: {income: 0.2, race: 1}}\n"
    )
    release = sudare.anonymize(datasets.adult(), tmp_path / "p.yaml")
    assert release.certificate["mechanism"]["calibration"]["retention"] == {"income": 0.2, "race": 1.0}
    assert Policy.parse(policy(PK)).carrying_quasi(["race"]).columns["race"].role == "sensitive"
    assert Counter(release.data["race"].to_pylist()) == Counter(datasets.adult()["race"].to_pylist())


def test_a_prior_that_is_not_the_distribution_is_refused_however_little_is_kept():
    """With little kept, what is shown is nearly the same by any prior, and would not tell."""
    sick = ["yes"] * 71 + ["no"] * 529
    data = pa.table({"q": [f"v{row % 5}" for row in range(600)], "hiv": sick})
    limit = {"model": "alpha-gamma", "column": "hiv", "alpha": 0.55, "gamma": 0.4, "prior": {"yes": 0.5, "no": 0.5}}
    policy = {
        "columns": {"q": {"role": "quasi"}, "hiv": {"role": "sensitive"}},
        "require": [{"model": "pk-anonymity", "k": 50}, limit],
        "method": {"name": "pram"},
    }
    with pytest.raises(PolicyUnmetError, match="not the distribution of the column"):
        sudare.anonymize(data, policy)
    with pytest.raises(PolicyUnmetError, match="not the distribution of the column"):
        sudare.calibrate(policy, data)


def test_a_prior_beside_values_that_must_not_be_made():
    data = pa.table({
        "age": [20 + 10 * (row % 3) for row in range(300)],
        "note": ["n1" if row % 3 == 0 else "n0" for row in range(300)],
        "ill": ["a" if row % 4 else "b" for row in range(300)],
    })  # fmt: skip
    limit = {**LIMIT, "column": "ill", "alpha": 0.9, "gamma": 0.05, "prior": {"a": 0.75, "b": 0.25}}
    policy = {
        "columns": {"age": {"role": "quasi"}, "note": {"role": "insensitive"}, "ill": {"role": "sensitive"}},
        "require": [limit],
        "method": {"name": "pram", "never": [{"note": "n0", "age": "20"}]},
    }
    release = sudare.anonymize(data, policy)
    shown = zip(release.data["note"].to_pylist(), release.data["age"].to_pylist(), strict=True)
    assert not [pair for pair in shown if pair == ("n0", 20)]
