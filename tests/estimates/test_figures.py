"""From releases with transformed columns, in memory and in files, to estimated figures."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sudare
from sudare.cli import app
from sudare.core.errors import DataError, ParameterError, SudareError, UnsupportedError
from sudare.estimates import answer_figure, ask_figure
from sudare.estimates.error_moments import grid, noise, normal_quantile, t_quantile, whole_noise
from sudare.estimates.figure_answers import DEVIATION, INTERCEPT
from sudare.estimates.noise_moments import NOTHING_LEFT, TOO_FEW
from sudare.estimates.published_errors import published
from sudare.releases.certificate import Certificate
from sudare.releases.certificate_parts import TransformationEntry

ROWS = 1_200
KEYS = ["cell", "figure", "estimate", "se", "low", "high", "limits", "records", "note"]


def people(rows=ROWS):
    rng = np.random.default_rng(7)
    size = rng.normal(size=rows)
    return pa.table(
        {
            "person": [f"p{place // 3}" for place in range(rows)],
            "age": rng.integers(20, 80, rows),
            "ward": rng.choice(["east", "north", "west"], rows),
            "height": np.round(170 + 9 * size).astype(int),
            "weight": 72 + 12 * (0.6 * size + 0.8 * rng.normal(size=rows)),
            "income": rng.lognormal(8, 0.5, rows),
            "stay": rng.integers(0, 60, rows),
            "score": rng.normal(50, 10, rows),
            "disease": rng.choice(["ache", "cold", "flu"], rows),
        }
    )


def release(transform=None, data=None, out=None, seed=1, **more):
    """A release in which some columns are transformed; age is generalized."""
    data = people() if data is None else data
    columns = {name: {"role": "insensitive"} for name in data.column_names}
    columns |= {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}, "person": {"role": "identifier"}}
    for name, steps in (transform or {}).items():
        columns[name] = columns[name] | {"transform": steps}
    policy = {"columns": columns, "require": [{"model": "k-anonymity", "k": 40}], **more}
    return sudare.anonymize(data, policy, seed=seed, out=out)


def figures(given, **asked):
    """The rows of an answer by cell and figure."""
    return {(*row["cell"].values(), row["figure"]): row for row in sudare.estimate(given, **asked)}


def test_unchanged_columns_are_exact():
    data, made = people(), release()
    weight, height = data["weight"].to_numpy(), data["height"].to_numpy()
    for found, true in (
        (figures(made, mean="weight")["mean",], weight.mean()),
        (figures(made, variance="weight")["variance",], weight.var(ddof=1)),
        (figures(made, variance="weight")[DEVIATION,], weight.std(ddof=1)),
        (figures(made, correlation=("weight", "height"))["correlation",], np.corrcoef(weight, height)[0, 1]),
        (figures(made, regress="weight ~ height")["height",], np.polyfit(height, weight, 1)[0]),
        (figures(made, regress="weight ~ height")[INTERCEPT,], np.polyfit(height, weight, 1)[1]),
    ):
        assert found["estimate"] == pytest.approx(true)
        assert found["low"] == pytest.approx(true)
        assert found["high"] == pytest.approx(true)
        assert found["se"] == 0
        assert found["records"] == ROWS


@pytest.mark.parametrize("file", [None, "r.csv", "r.parquet"])
@pytest.mark.parametrize(
    "steps",
    [
        {"sd": 0.5},
        {"scale": 6.0},
        {"sd": 0.5, "kind": "laplace"},
        {"scale": 5.0, "kind": "laplace"},
        {"scale": 0.1, "kind": "multiplicative"},
        {"sd": 0.5, "correlated_with": ["height"]},
    ],
)
def test_noise_is_taken_off(steps, file, tmp_path):
    """The release itself is far off; an interval of 99.9% is not. (The seed is fixed, so this is no trial.)"""
    data, out = people(), None if file is None else tmp_path / file
    transform = {"weight": {"noise": steps}}
    if "correlated_with" in steps:
        transform["height"] = {"noise": {"sd": 0.5, "correlated_with": ["weight"]}}
    made = release(transform, out=out)
    weight, height = data["weight"].to_numpy(), data["height"].to_numpy()
    slope = np.polyfit(weight, height, 1)
    for asked, true in (
        ({"mean": "weight"}, {"mean": weight.mean()}),
        ({"variance": "weight"}, {"variance": weight.var(ddof=1), DEVIATION: weight.std(ddof=1)}),
        ({"correlation": "weight,height"}, {"correlation": np.corrcoef(weight, height)[0, 1]}),
        ({"regress": "height ~ weight"}, {"weight": slope[0], INTERCEPT: slope[1]}),
    ):
        found = figures(made if out is None else out, level=0.999, **asked)
        for name, value in true.items():
            row = found[name,]
            assert row["low"] < value < row["high"]
            assert row["low"] < row["estimate"] < row["high"]
            assert row["se"] > 0
            assert row["limits"] == "interval"


def test_releases_in_files_say_the_same(tmp_path):
    transform = {"weight": {"noise": {"sd": 0.4}}, "height": {"round": {"to": 5}}}
    asked = {"regress": "weight ~ height", "by": ["ward"]}
    rows = [list(sudare.estimate(release(transform), **asked))]
    for name in ("r.csv", "r.parquet"):
        release(transform, out=tmp_path / name)
        rows.append(list(sudare.estimate(tmp_path / name, **asked)))
    assert rows[0] == rows[1] == rows[2]


def test_cells_and_conditions():
    data, made = people(), release({"weight": {"noise": {"sd": 0.3}}})
    found = figures(made, mean="weight", by="ward", where={"stay": (0, 29)}, level=0.999)
    frame = data.to_pandas()
    means = frame[frame["stay"] <= 29].groupby("ward")["weight"].agg(["mean", "size"])
    assert {ward: found[ward, "mean"]["records"] for ward in means.index} == means["size"].to_dict()
    for ward, mean in means["mean"].items():
        assert found[ward, "mean"]["low"] < mean < found[ward, "mean"]["high"]


def test_a_kept_total_makes_the_mean_exact():
    data = people()
    made = release({name: {"noise": {"sd": 0.5, "keep_total": True}} for name in ("weight", "height")})
    for name in ("weight", "height"):
        row = figures(made, mean=name)["mean",]
        assert row["estimate"] == pytest.approx(data[name].to_numpy().mean(), rel=1e-11)
        assert (row["se"], row["low"], row["high"]) == (0, row["estimate"], row["estimate"])
    found = figures(made, mean="weight", by="ward")
    size = found["east", "mean"]["records"]
    weight = next(each for each in made.certificate["transformations"] if each["column"] == "weight")
    variance = weight["figures"]["error_variance"]
    assert found["east", "mean"]["se"] == pytest.approx(np.sqrt(variance * (1 / size - 1 / ROWS)))


@pytest.mark.parametrize("how", ["nearest", "up", "down", "random"])
@pytest.mark.parametrize("column", ["height", "weight"])
def test_rounding(how, column):
    """Whole numbers have whole errors: the mean of 0, 1, 2, 3 is not that of all numbers up to 4."""
    data, made = people(), release({column: {"round": {"to": 4, "how": how}}})
    values = data[column].to_numpy()
    answer = sudare.estimate(made, mean=column, level=0.999)
    [row] = answer
    assert row["low"] < values.mean() < row["high"]
    assert row["high"] - row["low"] < 0.4
    assert "rounded to multiples of 4" in answer.notes[0]
    found = figures(made, variance=column, level=0.999)["variance",]
    assert found["low"] < values.var(ddof=1) < found["high"]


@pytest.mark.parametrize("how", ["nearest", "up", "down"])
def test_a_coarse_grid_has_bounds(how):
    data, made = people(), release({"weight": {"round": {"to": 50, "how": how}}})
    values = data["weight"].to_numpy()
    [row] = sudare.estimate(made, mean="weight")
    assert row["limits"] == "bounds"
    assert row["low"] <= values.mean() <= row["high"]
    assert row["high"] - row["low"] == pytest.approx(50)
    assert row["se"] is None
    assert "coarse" in row["note"]
    for name, true in (("variance", values.var(ddof=1)), (DEVIATION, values.std(ddof=1))):
        row = figures(made, variance="weight")[name,]
        assert row["low"] <= true <= row["high"]
        assert row["estimate"] is None
    [row] = sudare.estimate(made, correlation=("weight", "height"))
    assert (row["estimate"], row["low"], row["high"]) == (None, None, None)


def test_a_coarse_random_grid_keeps_the_mean():
    data, made = people(), release({"weight": {"round": {"to": 50, "how": "random"}}})
    [row] = sudare.estimate(made, mean="weight", level=0.999)
    assert row["limits"] == "interval"
    assert row["se"] == pytest.approx(25 / np.sqrt(ROWS))
    assert row["low"] < data["weight"].to_numpy().mean() < row["high"]


@pytest.mark.parametrize("shows", [None, "50+", 55])
def test_top_coded_columns_have_a_bound(shows):
    data = people()
    stay = data["stay"].to_numpy()
    made = release({"stay": {"top": {"at": 50} | ({} if shows is None else {"shows": shows})}})
    [row] = sudare.estimate(made, mean="stay")
    assert (row["estimate"], row["se"], row["high"], row["limits"]) == (None, None, None, "bounds")
    assert row["low"] == pytest.approx(np.minimum(stay, 50).mean())
    found = figures(made, variance="stay")
    assert found["variance",]["low"] == pytest.approx(np.minimum(stay, 50).var(ddof=1))
    [row] = sudare.estimate(made, correlation=("stay", "weight"))
    assert row["estimate"] is None
    assert "beyond a limit" in row["note"]


def skewed(rows=3_000):
    """Costs with a few large ones, whole numbers and others."""
    rng = np.random.default_rng(3)
    cost = rng.lognormal(8, 0.8, rows)
    data = people(rows).append_column("cost", pa.array(cost))
    return data.append_column("bill", pa.array(np.round(cost).astype(int)))


@pytest.mark.parametrize("column", ["cost", "bill"])
@pytest.mark.parametrize(
    "steps",
    [
        [{"top": {"share": 0.01}}, {"noise": 0.5}],
        [{"top": 20_000}, {"noise": 0.5}],
        [{"top": {"share": 0.01}}, {"noise": {"sd": 0.5, "kind": "laplace"}}],
        [{"top": 20_000}, {"noise": {"sd": 0.5, "kind": "laplace"}}],
        [{"top": 20_000}, {"noise": {"scale": 0.1, "kind": "multiplicative"}}],
        [{"top": {"at": 20_000, "shows": 30_000}}, {"noise": 0.5}],
        [{"top": 12_050}, {"round": 100}],
        [{"top": 12_000}, {"round": 100}],
        [{"top": 12_050}, {"round": {"to": 100, "how": "up"}}],
        [{"top": 10_000}, {"round": {"to": 3_000, "how": "random"}}],
        [{"top": 9_000}, {"round": {"to": 3_000, "how": "random"}}],
        [{"noise": 0.1}, {"top": 9_000}],
        [{"top": 12_050}, {"round": 100}, {"noise": 0.1}],
    ],
)
def test_a_limit_is_known_whatever_later_steps_do(steps, column):
    """Neither noise nor a grid turns the figures of a limited column into those of the original one."""
    data = skewed()
    made = release({column: steps}, data=data)
    [row] = sudare.estimate(made, mean=column, level=0.999)
    assert (row["estimate"], row["se"], row["high"]) == (None, None, None)
    mean = data[column].to_numpy().mean()
    assert row["low"] > 0.8 * mean or "shows" in str(steps)
    assert row["low"] < mean
    for asked in ({"variance": column}, {"correlation": (column, "weight")}, {"regress": f"{column} ~ weight"}):
        for row in sudare.estimate(made, **asked):
            assert (row["estimate"], row["low"], row["high"]) == (None, None, None)
            assert "beyond" in row["note"]


@pytest.mark.parametrize(
    "steps",
    [
        [{"bottom": 1_530}, {"round": {"to": 100, "how": "down"}}],
        [{"bottom": {"share": 0.1}}, {"noise": 0.2}],
        [{"bottom": 1_500}, {"round": {"to": 400, "how": "random"}}],
    ],
)
def test_a_lower_limit_bounds_the_mean_from_above(steps):
    data = skewed()
    mean = data["cost"].to_numpy().mean()
    [row] = sudare.estimate(release({"cost": steps}, data=data), mean="cost", level=0.999)
    assert (row["estimate"], row["low"]) == (None, None)
    assert mean < row["high"] < 1.2 * mean


def test_limits_with_nobody_beyond_and_grids():
    """Without noise the cells themselves show that nobody is beyond a limit."""
    data = skewed()
    made = release({"cost": [{"top": 1e9}, {"round": 100}]}, data=data)
    [row] = sudare.estimate(made, mean="cost", level=0.999)
    assert row["low"] < data["cost"].to_numpy().mean() < row["high"]
    made = release({"cost": [{"top": 1e9}, {"noise": 0.1}]}, data=data)
    [row] = sudare.estimate(made, mean="cost")
    assert "up to 1e+09 before its noise" in row["note"]


def test_both_limits_leave_nothing_of_a_mean():
    made = release({"cost": [{"top": 9_000}, {"bottom": 1_000}, {"noise": 0.1}]}, data=skewed())
    [row] = sudare.estimate(made, mean="cost")
    assert (row["estimate"], row["low"], row["high"]) == (None, None, None)


def test_values_within_a_limit_are_exact():
    data = people()
    made = release({"stay": [{"top": {"at": 100}}, {"bottom": {"at": -5}}]})
    [row] = sudare.estimate(made, mean="stay")
    assert row["low"] == row["high"] == pytest.approx(data["stay"].to_numpy().mean())


def test_swapped_and_shuffled_columns():
    data = people()
    made = release({"weight": {"swap": 0.1}, "score": {"shuffle": ["ward"]}})
    for name in ("weight", "score"):
        row = figures(made, variance=name)["variance",]
        assert row["low"] == row["high"] == pytest.approx(data[name].to_numpy().var(ddof=1))
        with pytest.raises(UnsupportedError, match="changed places"):
            sudare.estimate(made, correlation=(name, "height"))
        with pytest.raises(UnsupportedError, match="changed places"):
            sudare.estimate(made, mean=name, by="stay:10")
    with pytest.raises(UnsupportedError, match="changed places"):
        sudare.estimate(made, mean="weight", by="ward")
    means = data.to_pandas().groupby("ward")["score"].mean()
    found = figures(made, mean="score", by="ward")
    for ward, mean in means.items():
        assert found[ward, "mean"]["estimate"] == pytest.approx(mean)
        assert found[ward, "mean"]["se"] == 0
    with pytest.raises(DataError, match="changed at random"):
        sudare.estimate(made, mean="height", by="score:10")


def test_a_sample_stands_for_its_table():
    data = people(4_000)
    made = release({"weight": {"noise": {"sd": 0.3}}}, data=data, sample={"share": 0.25})
    answer = sudare.estimate(made, mean="weight", level=0.999)
    [row] = answer
    variance = data["weight"].to_numpy().var(ddof=1)
    assert row["se"] ** 2 == pytest.approx(variance * (0.75 + 0.09) / row["records"], rel=0.1)
    assert row["low"] < data["weight"].to_numpy().mean() < row["high"]
    assert any("random sample" in note for note in answer.notes)
    counts = sudare.estimate(made, of="ward")
    assert any("0.25 of the records" in note for note in counts.notes)


def test_people_of_a_sample_are_its_clusters(monkeypatch):
    monkeypatch.setenv("SUDARE_TEST_KEY", "8d1c5b07f2a94e63b05c7791dd3e0a4f26c8b1597e4fa0d36b82c49e1f5703da")
    data = people(3_000)
    alike = np.repeat(np.random.default_rng(1).normal(size=1_000), 3)
    data = data.set_column(data.column_names.index("score"), "score", pa.array(alike))
    columns = {name: {"role": "insensitive"} for name in data.column_names} | {
        "age": {"role": "quasi"},
        "person": {"role": "subject", "transform": {"pseudonym": {"key": {"env": "SUDARE_TEST_KEY"}}}},
    }
    policy = {"columns": columns, "require": [{"model": "k-anonymity", "k": 3}], "sample": {"share": 0.5}}
    made = sudare.anonymize(data, policy, seed=1)
    [row] = sudare.estimate(made, mean="score")
    assert row["se"] == pytest.approx(np.sqrt(0.5 * alike.var() / (row["records"] / 3)), rel=0.1)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({"band": 10}, "shows bands"),
        ({"redact": {}}, "is empty"),
        ({"mask": {"keep_first": 1}}, "is masked"),
        ({"replace": {"values": {"1": "2"}, "else": "keep"}}, "recoded"),
    ],
)
def test_columns_without_numbers_say_what_is_possible(steps, says):
    data = people()
    if "mask" in steps:
        texts = pa.array([str(each) for each in data["stay"].to_pylist()])
        data = data.set_column(data.column_names.index("stay"), "stay", texts)
    made = release({"stay": steps}, data=data)
    with pytest.raises(DataError, match=says):
        sudare.estimate(made, mean="stay")
    if "redact" not in steps:
        assert sudare.estimate(made, of="stay").notes


def test_generalized_and_hidden_columns_are_refused():
    made = release()
    for asked in ({"mean": "age"}, {"correlation": ("age", "weight")}, {"mean": "weight", "by": "age"}):
        with pytest.raises(DataError, match="generalized"):
            sudare.estimate(made, **asked)
    with pytest.raises(DataError, match="does not hold numbers"):
        sudare.estimate(made, mean="disease")


def test_means_of_aggregated_columns_are_kept():
    data = people(300).select(["ward", "income", "weight"])
    columns = {"ward": {"role": "insensitive"}, "income": {"role": "quasi"}, "weight": {"role": "quasi"}}
    policy = {"columns": columns, "require": [{"model": "k-anonymity", "k": 3}]}
    made = sudare.anonymize(data, policy | {"method": {"name": "microaggregation", "representative": "mean"}}, seed=1)
    [row] = sudare.estimate(made, mean="income")
    assert row["low"] == row["high"] == pytest.approx(data["income"].to_numpy().mean())
    for asked in ({"variance": "income"}, {"mean": "income", "by": "ward"}, {"regress": "income ~ weight"}):
        with pytest.raises(UnsupportedError, match="is aggregated"):
            sudare.estimate(made, **asked)


def test_methods_that_hide_or_perturb_values():
    data = people(600).select(["ward", "weight", "stay", "disease"])
    columns = {name: {"role": "insensitive"} for name in ("weight", "stay")}
    columns |= {"ward": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    columns["weight"]["transform"] = {"noise": {"sd": 0.5}}
    policy = {"columns": columns, "method": {"name": "dummies"}}
    policy["require"] = [{"model": "l-diversity", "l": 2, "column": "disease"}]
    made = sudare.anonymize(data, policy, seed=1)
    assert len(sudare.estimate(made, mean="weight", by="ward")) == 3
    with pytest.raises(DataError, match="hidden or perturbed"):
        sudare.estimate(made, mean="weight", by="disease")
    with pytest.raises(UnsupportedError, match="hidden values"):
        sudare.estimate(made, mean="disease")


def test_counts_say_what_a_value_stands_for():
    made = release({"stay": {"round": 10}, "score": {"noise": {"sd": 0.1}}})
    assert "10 stands for numbers from 5 to 15" in " ".join(sudare.estimate(made, of="stay").notes)
    assert "--mean" in " ".join(sudare.estimate(made, of="score").notes)
    assert sudare.estimate(made, of="ward").notes == ()


def test_bounds_of_noise_are_noted():
    made = release({"stay": {"noise": {"sd": 1.0, "bounds": [0, 60]}}})
    for asked in ({"mean": "stay"}, {"variance": "stay"}, {"correlation": "stay,weight"}, {"regress": "weight ~ stay"}):
        answer = sudare.estimate(made, **asked)
        assert any("at the bounds of its noise" in note and "biases" in note for note in answer.notes)
        for row in answer:
            assert row["estimate"] is not None
            assert (row["se"], row["low"], row["high"]) == (None, None, None)
            assert "no interval" in row["note"]
    made = release({"stay": [{"noise": {"sd": 1.0, "bounds": [0, 60]}}, {"noise": {"scale": 1.0}}]})
    answer = sudare.estimate(made, mean="stay")
    assert "hides how often" in answer.notes[0]
    assert next(iter(answer))["low"] is None
    made = release({"stay": {"noise": {"sd": 0.1, "bounds": [-1000, 1000]}}})
    assert sudare.estimate(made, mean="stay").notes == ()


def test_few_records_and_no_spread_have_notes():
    data = people(60)
    data = data.set_column(data.column_names.index("score"), "score", pa.array([None] * 58 + [1.5, 2.5], pa.float64()))
    data = data.set_column(data.column_names.index("stay"), "stay", pa.array([3] * 60))
    made = release({"weight": {"noise": {"sd": 3.0}}, "income": {"noise": {"scale": 1e6}}}, data=data)
    for asked, note in (
        ({"variance": "score"}, TOO_FEW),
        ({"correlation": ("score", "weight")}, TOO_FEW),
        ({"regress": "weight ~ stay"}, "All numbers are equal"),
        ({"correlation": ("stay", "height")}, "All numbers are equal"),
    ):
        answer = sudare.estimate(made, **asked)
        for row in answer:
            assert row["estimate"] is None
            assert row["note"].startswith(note)
        assert "NaN" not in json.dumps(answer.to_dict())
    assert figures(made, mean="score")["mean",]["estimate"] == 2.0
    assert figures(made, variance="stay")["variance",]["estimate"] == 0
    seen = {row["note"] for seed in range(8) for row in _variance_of_noise(data, seed)}
    assert NOTHING_LEFT in seen


def _variance_of_noise(data, seed):
    """The variance where noise is all that can be seen; it comes out below 0 in half of all releases."""
    rows = list(
        sudare.estimate(release({"income": {"noise": {"scale": 1e6}}}, data=data, seed=seed), variance="income")
    )
    assert all(row["estimate"] >= 0 and row["low"] >= 0 and row["high"] > 0 for row in rows)
    return rows


def test_rows_as_tables_and_as_json():
    made = release({"weight": {"noise": {"sd": 0.2}}})
    answer = sudare.estimate(made, mean="weight", by=["ward", "stay:30"])
    assert [list(row) for row in answer] == [KEYS] * len(answer)
    assert answer.to_arrow().column_names == ["ward", "stay", *KEYS[1:]]
    assert answer.to_arrow().num_rows == len(answer) == 6
    assert answer.to_dict(2)["rows"] == list(answer)[:2]
    assert "mean of weight in 6 cells" in repr(answer)


def test_wrong_questions_are_refused():
    made = release()
    for asked in (
        {},
        {"of": "ward", "mean": "weight"},
        {"mean": "weight", "variance": "weight"},
        {"mean": "nobody"},
        {"mean": "weight", "by": "weight"},
        {"correlation": "weight"},
        {"correlation": ("weight", "weight")},
        {"regress": "weight"},
        {"regress": "weight ~ "},
        {"regress": "~ height"},
        {"regress": 3},
        {"mean": "weight", "estimator": "em"},
        {"mean": "weight", "eps": 1},
        {"mean": "weight", "level": 1},
    ):
        with pytest.raises(ParameterError):
            sudare.estimate(made, **asked)
    with pytest.raises(UnsupportedError, match="several regressors"):
        sudare.estimate(made, regress="weight ~ height + stay")


def test_formulas_know_names_with_signs():
    names = ["a~b", "c+d", "e", "a", "b"]
    assert ask_figure({"regress": "a~b ~ c+d"}, (), None, names).columns == ("a~b", "c+d")
    assert ask_figure({"regress": "e~a"}, (), None, names).columns == ("e", "a")
    assert ask_figure({"correlation": "x,y,z"}, (), None, ["x,y", "z"]).columns == ("x,y", "z")


def test_damaged_certificates_are_refused():
    made = release({"weight": {"noise": {"sd": 0.2}}})
    for figures_ in ({}, {"error_variance": -1}, {"error_variance": "much"}, {"error_variance": True}):
        paper = json.loads(json.dumps(made.certificate, default=float))
        paper["transformations"][0]["figures"] = figures_
        asked = ask_figure({"mean": "weight"}, (), None, ["weight"])
        with pytest.raises(SudareError, match="figures that an estimate needs"):
            answer_figure(people().select(["weight"]), Certificate.from_dict(paper), asked)
    paper["transformations"][0]["transformation"] = "melt"
    with pytest.raises(DataError, match="does not know"):
        published(Certificate.from_dict(paper), "weight", "mean", whole=False)
    assert isinstance(Certificate.from_dict(paper).transformations[0], TransformationEntry)


@pytest.mark.parametrize("asked", [["--mean", "weight", "--by", "ward"], ["--regress", "weight ~ height"]])
def test_the_command_line(asked, tmp_path):
    release({"weight": {"noise": {"sd": 0.2}}}, out=tmp_path / "r.csv")
    run = CliRunner().invoke(app, ["estimate", str(tmp_path / "r.csv"), *asked])
    assert run.exit_code == 0, run.output
    assert "estimate" in run.output
    assert "95% of cases" in run.output
    run = CliRunner().invoke(app, ["estimate", str(tmp_path / "r.csv"), *asked, "--json"])
    assert json.loads(run.output)["rows"][0]["figure"] in ("mean", INTERCEPT)
    for wrong in (["--of", "ward", *asked], [*asked, "--picture", str(tmp_path / "p.svg")], []):
        run = CliRunner().invoke(app, ["estimate", str(tmp_path / "r.csv"), *wrong])
        assert run.exit_code == 2
        assert "Traceback" not in run.output


def test_answers_without_limits_promise_nothing(tmp_path):
    steps = [{"top": {"share": 0.01}}, {"noise": 0.5}]
    release({"cost": steps}, data=skewed(), out=tmp_path / "r.csv")
    for asked in (["--variance", "cost"], ["--correlation", "cost,weight"]):
        run = CliRunner().invoke(app, ["estimate", str(tmp_path / "r.csv"), *asked])
        assert run.exit_code == 0, run.output
        assert "?" in run.output
        assert "of cases" not in run.output
        assert "bounds" not in run.output


def test_large_factors_are_noted():
    for scale, said in ((0.1, False), (0.5, True)):
        made = release({"income": {"noise": {"scale": scale, "kind": "multiplicative"}}})
        for asked in ({"variance": "income"}, {"correlation": "income,weight"}, {"regress": "weight ~ income"}):
            notes = sudare.estimate(made, **asked).notes
            assert any("multiplied by a factor" in note for note in notes) is said
        assert sudare.estimate(made, mean="income").notes == ()


def test_moments_of_errors():
    rng = np.random.default_rng(1)
    for kind, deviation in (("normal", 0.3), ("normal", 2.0), ("laplace", 0.7), ("laplace", 60.0)):
        scale = deviation / np.sqrt(2)
        drawn = rng.normal(0, deviation, 400_000) if kind == "normal" else rng.laplace(0, scale, 400_000)
        error = whole_noise(kind, deviation**2)
        assert np.var(np.round(drawn)) == pytest.approx(error.variance, rel=0.03)
        assert np.mean(np.round(drawn) ** 4) == pytest.approx(error.fourth, rel=0.12)
        assert np.mean(drawn**4) == pytest.approx(noise(kind, deviation**2).fourth, rel=0.12)
    numbers = np.arange(10_000)
    for to, how, shown in (
        (4, "nearest", np.floor(numbers / 4 + 0.5) * 4),
        (5, "nearest", np.floor(numbers / 5 + 0.5) * 5),
        (5, "up", np.ceil(numbers / 5) * 5),
        (4, "down", np.floor(numbers / 4) * 4),
    ):
        error = grid(to, how, whole=True)
        assert (shown - numbers).mean() == pytest.approx(error.mean)
        assert (shown - numbers).var() == pytest.approx(error.variance)
    assert grid(5, "random", whole=True).variance == pytest.approx(4)
    assert grid(5, "random").variance == pytest.approx(25 / 6)


def test_quantiles():
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    for freedom, expected in ((5, 2.570582), (10, 2.228139), (30, 2.042272), (1000, 1.962339)):
        assert t_quantile(0.95, freedom) == pytest.approx(expected, abs=2e-3)
