"""Counts from perturbed columns: against explicit Kronecker products, over many draws, and what is refused."""

from collections import Counter
from datetime import date, datetime
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, ParameterError
from sudare.estimates import pram_counts
from sudare.estimates.pram_counts import along

SEX, AGES = ["F", "M"], list(range(20, 35))
INCOME = ["high", "low", "middle", None]


def uniform(m, p):
    return p * np.eye(m) + (1 - p) / m


def skewed(m, seed):
    """A matrix without any symmetry."""
    rng = np.random.default_rng(seed)
    return 0.6 * np.eye(m) + 0.4 * rng.dirichlet(np.ones(m), m)


def truths(seed, rows):
    rng = np.random.default_rng(seed)
    sex = rng.choice(2, rows, p=[0.4, 0.6])
    age = np.minimum(rng.geometric(0.15, rows) - 1, len(AGES) - 1)
    income = (rng.random(rows)[:, None] > np.cumsum([0.2, 0.5, 0.2])).sum(axis=1)
    income = np.where((sex == 1) & (rng.random(rows) < 0.3), 0, income)
    town = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    return {"sex": sex, "age": age, "income": income, "town": town}


def show(codes, matrix, rng):
    return (rng.random(len(codes))[:, None] > np.cumsum(matrix, axis=1)[codes]).sum(axis=1).clip(max=len(matrix) - 1)


DOMAINS = {"sex": SEX, "age": AGES, "income": INCOME, "town": ["A", "B", "C"]}


def table_of(codes):
    return pa.table({name: [DOMAINS[name][code] for code in own] for name, own in codes.items()})


def certificate(columns, **more):
    """A certificate with matrices: a number is the probability to keep the truth."""
    told = {
        name: {"values": DOMAINS[name]}
        | ({} if way is None else {"matrix": {"p": way} if isinstance(way, float) else {"rows": way.tolist()}})
        for name, way in columns.items()
    }
    return {
        "method": {"name": "pram"},
        "columns": {"quasi": list(columns), "sensitive": [], "insensitive": []},
        "mechanism": {"kind": "uniform", "columns": told} | more,
    }


def released(codes, paper):
    return SimpleNamespace(data=table_of(codes), certificate=paper)


def matrices_of(ways):
    return {
        name: uniform(len(DOMAINS[name]), way) if isinstance(way, float) else way
        for name, way in ways.items()
    }  # fmt: skip


def perturbed(truth, ways, seed):
    rng, given = np.random.default_rng(seed), matrices_of(ways)
    return {name: show(own, given[name], rng) if name in given else own for name, own in truth.items()}


def counted(codes, names):
    shape = [len(DOMAINS[name]) for name in names]
    return np.bincount(np.ravel_multi_index([codes[name] for name in names], shape), minlength=np.prod(shape))


def inverted(shown, names, ways):
    """The unbiased estimate by the product of all matrices, and its covariances as the truth would have them."""
    whole = reduce(np.kron, [matrices_of(ways).get(name, np.eye(len(DOMAINS[name]))) for name in names])
    return counted(shown, names) @ np.linalg.inv(whole), whole


def grid(found, *names):
    """The estimates of an answer in the order of the domains."""
    shape = [len(DOMAINS[name]) for name in names]
    result = np.zeros(shape)
    for row in found:
        places = [DOMAINS[name].index(row["cell"][name]) for name in names[:-1]]
        result[(*places, DOMAINS[names[-1]].index(row["value"]))] = row["estimate"]
    return result.ravel()


WAYS = {"sex": 0.7, "income": 0.5}


@pytest.mark.parametrize(
    ("of", "by"),
    [("income", ()), ("income", ("sex",)), ("sex", ("income",)), ("income", ("town",)), ("town", ("income",)),
     ("income", ("town", "sex")), ("sex", ("income", "town")), ("town", ("sex", "income"))],
)  # fmt: skip
@pytest.mark.parametrize("ways", [WAYS, {"sex": skewed(2, 1), "income": skewed(4, 2)}], ids=["uniform", "rows"])
def test_inversion_is_that_of_the_whole_matrix(of, by, ways):
    shown = perturbed(truths(0, 4000), ways, 1)
    found = sudare.estimate(released(shown, certificate(ways)), of=of, by=by, estimator="inversion")
    expected, _ = inverted(shown, [*by, of], ways)
    assert grid(found, *by, of) == pytest.approx(expected, abs=1e-6)
    assert found.counts.sum() == pytest.approx(4000)


def test_three_ways_at_once():
    ways = {"sex": 0.8, "age": 0.9, "income": skewed(4, 3)}
    shown = perturbed(truths(0, 3000), ways, 1)
    found = sudare.estimate(released(shown, certificate(ways)), of="income", by="age,sex", estimator="inversion")
    assert grid(found, "age", "sex", "income") == pytest.approx(
        inverted(shown, ["age", "sex", "income"], ways)[0], abs=1e-6
    )
    likely = sudare.estimate(released(shown, certificate(ways)), of="income", by="age,sex")
    assert likely.estimator == "em"
    assert likely.counts.min() >= 0
    assert likely.counts.sum() == pytest.approx(3000)


def test_em_is_what_many_plain_steps_lead_to():
    ways = {"sex": 0.4, "income": 0.3}
    shown = perturbed(truths(2, 300), ways, 3)
    found = sudare.estimate(released(shown, certificate(ways)), of="income", by="sex")
    whole = inverted(shown, ["sex", "income"], ways)[1]
    seen = counted(shown, ["sex", "income"])
    counts = np.full(8, 300 / 8)
    for _ in range(20_000):
        counts = counts * (whole @ (seen / (counts @ whole)))
    assert grid(found, "sex", "income") == pytest.approx(counts, abs=0.05)


@pytest.mark.parametrize("ways", [{"age": 0.5, "income": 0.6}, {"age": skewed(15, 5), "income": 0.6}])
def test_bands_are_sums_of_values(ways):
    shown = perturbed(truths(0, 5000), ways, 7)
    release = released(shown, certificate(ways))
    found = sudare.estimate(release, of="income", by="age:5", estimator="inversion")
    assert [cell["age"] for cell in found.cells] == ["[20, 24]", "[25, 29]", "[30, 34]"]
    values, whole = inverted(shown, ["age", "income"], ways)
    sums = values.reshape(3, 5, 4).sum(axis=1)
    assert found.counts == pytest.approx(sums, abs=1e-6)
    assert found.records == pytest.approx(sums.sum(axis=1), abs=1e-6)
    # the variance of sums by all covariances of the values, for the same counts
    likely = sudare.estimate(release, of="income", by="age").counts.ravel()
    onto = np.kron(np.kron(np.eye(3), np.ones((5, 1))), np.eye(4))
    adds = np.linalg.inv(whole) @ onto
    variance = sum(count * ((line @ adds**2) - (line @ adds) ** 2) for count, line in zip(likely, whole, strict=True))
    assert found.se.ravel() == pytest.approx(np.sqrt(variance), rel=0.02)


def test_values_that_are_drawn_alike_are_one():
    """Both kinds of matrices that are not told line by line, and others that happen to be such, become small."""
    ways = {"age": 0.5}
    shown = perturbed(truths(0, 5000), ways, 7)
    by_p = sudare.estimate(released(shown, certificate(ways)), of="income", by="age:5", where="age=22..31")
    told = certificate({"age": uniform(15, 0.5)})
    by_rows = sudare.estimate(released(shown, told), of="income", by="age:5", where="age=22..31")
    assert [cell["age"] for cell in by_p.cells] == ["[20, 24]", "[25, 29]", "[30, 34]"]
    for name in ("counts", "se", "low", "high", "records"):
        assert getattr(by_p, name) == pytest.approx(getattr(by_rows, name), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("age", [0.5, skewed(15, 6)], ids=["uniform", "rows"])
def test_conditions_on_perturbed_columns_restrict_estimates(age):
    ways = {"age": age, "income": 0.6}
    shown = perturbed(truths(0, 5000), ways, 7)
    release = released(shown, certificate(ways))
    some = sudare.estimate(release, of="income", by="town", where=["age=22..26", "town=A,B"], estimator="inversion")
    values = inverted(shown, ["town", "age", "income"], ways)[0].reshape(3, 15, 4)
    assert some.counts == pytest.approx(values[:2, 2:7].sum(axis=1), abs=1e-6)
    assert some.notes == (pram_counts.ESTIMATED,)
    whole = sudare.estimate(release, of="income", where="age=22", estimator="inversion")
    assert whole.counts == pytest.approx(values[:, 2].sum(axis=0)[None], abs=1e-6)
    assert whole.cells == [{}]
    missing = sudare.estimate(release, of="town", where={"income": [None, "low"]}, estimator="inversion")
    assert missing.counts == pytest.approx(values[:, :, [1, 3]].sum(axis=(1, 2))[None], abs=1e-6)


def test_columns_that_were_drawn_together_are_one_axis():
    matrix = skewed(8, 9)
    rng, truth = np.random.default_rng(3), truths(0, 4000)
    both = show(truth["sex"] * 4 + truth["income"], matrix, rng)
    shown = truth | {"sex": both // 4, "income": both % 4}
    paper = certificate({"sex": None, "income": None}, joint=[{"columns": ["sex", "income"], "rows": matrix.tolist()}])
    release = released(shown, paper)
    values = (np.bincount(both, minlength=8) @ np.linalg.inv(matrix)).reshape(2, 4)
    for of, by, expected in (
        ("income", "sex", values), ("sex", "income", values.T), ("income", (), values.sum(axis=0)[None]),
        ("sex", (), values.sum(axis=1)[None]),
    ):  # fmt: skip
        found = sudare.estimate(release, of=of, by=by, estimator="inversion")
        names = {"sex": SEX, "income": INCOME}
        order = [names[by].index(cell[by]) for cell in found.cells] if by else [0]
        assert found.counts == pytest.approx(expected[order], abs=1e-6)
    town = sudare.estimate(release, of="income", by="town", where="sex=M", estimator="inversion")
    for line, code in enumerate(range(3)):
        own = np.bincount(both[truth["town"] == code], minlength=8) @ np.linalg.inv(matrix)
        assert town.counts[line] == pytest.approx(own[4:], abs=1e-6)


def test_every_stratum_has_its_matrix():
    truth = truths(0, 6000)
    truth["income"] = np.where((truth["town"] == 2) & (truth["income"] > 1), 0, truth["income"])
    rng = np.random.default_rng(4)
    ways = [uniform(4, 0.5), skewed(4, 5), uniform(2, 0.4)]  # in the third, two values occur
    income = truth["income"].copy()
    for code, way in enumerate(ways):
        own = truth["town"] == code
        income[own] = show(truth["income"][own], way, rng)
    cells = [
        {"cell": {"town": "A"}, "columns": {"income": {"matrix": {"p": 0.5}}}},
        {"cell": {"town": "B"}, "columns": {"income": {"matrix": {"rows": ways[1].tolist()}}}},
        {"cell": {"town": "C"}, "columns": {"income": {"values": ["high", "low"], "matrix": {"p": 0.4}}}},
    ]
    paper = certificate({"income": None}, strata={"columns": ["town"], "cells": cells})
    release = released(truth | {"income": income}, paper)
    by_town = sudare.estimate(release, of="income", by="town", estimator="inversion")
    for code, way in enumerate(ways):
        own = np.bincount(income[truth["town"] == code], minlength=len(way)) @ np.linalg.inv(way)
        assert by_town.counts[code, : len(way)] == pytest.approx(own, abs=1e-6)
    assert list(by_town.counts[2, 2:]) == list(by_town.high[2, 2:]) == [0, 0]
    for estimator in ("em", "inversion"):
        parts = sudare.estimate(release, of="income", by="town", estimator=estimator)
        whole = sudare.estimate(release, of="income", estimator=estimator)
        assert whole.counts[0] == pytest.approx(parts.counts.sum(axis=0), abs=1e-3)
        assert whole.se[0] == pytest.approx(np.sqrt((parts.se**2).sum(axis=0)), rel=1e-3)
        assert (whole.low <= whole.counts).all()
        assert (whole.counts <= whole.high).all()
        assert (whole.high - whole.low)[0] == pytest.approx(2 * 1.96 * whole.se[0], rel=0.05)
    exact = sudare.estimate(release, of="town", by="sex")
    assert exact.counts.sum() == 6000
    assert not exact.se.any()


def test_strata_may_be_all_others():
    """A stratum that does not name a column has the records whose values of it no other names."""
    truth, rng = truths(0, 3000), np.random.default_rng(4)
    ways = [uniform(4, 0.5), skewed(4, 5)]
    income = np.where(truth["town"] == 1, show(truth["income"], ways[0], rng), show(truth["income"], ways[1], rng))
    cells = [
        {"cell": {}, "columns": {"income": {"matrix": {"rows": ways[1].tolist()}}}},
        {"cell": {"town": "B"}, "columns": {"income": {"matrix": {"p": 0.5}}}},
    ]
    paper = certificate({"income": None}, strata={"columns": ["town"], "cells": cells})
    found = sudare.estimate(released(truth | {"income": income}, paper), of="income", by="town", estimator="inversion")
    for code, way in enumerate([ways[1], ways[0], ways[1]]):
        own = np.bincount(income[truth["town"] == code], minlength=4) @ np.linalg.inv(way)
        assert found.counts[code] == pytest.approx(own, abs=1e-6)


def test_combinations_that_nobody_has_are_not_estimated():
    matrix = np.zeros((8, 8))
    there = np.array([0, 1, 2, 4, 5, 6, 7])  # the fourth is never made
    matrix[np.ix_(there, there)] = uniform(7, 0.6)
    matrix[3, there] = 1 / 7
    rng, truth = np.random.default_rng(3), truths(0, 4000)
    both = truth["sex"] * 4 + truth["income"]
    both = show(np.where(both == 3, 0, both), matrix, rng)
    paper = certificate({"sex": None, "income": None}, joint=[{"columns": ["sex", "income"], "rows": matrix.tolist()}])
    release = released(truth | {"sex": both // 4, "income": both % 4}, paper)
    found = sudare.estimate(release, of="income", by="sex", estimator="inversion")
    values = np.bincount(both, minlength=8)[there] @ np.linalg.inv(uniform(7, 0.6))
    assert found.counts.ravel()[there] == pytest.approx(values, abs=1e-6)
    assert found.counts[0, 3] == found.high[0, 3] == 0
    one = sudare.estimate(release, of="income", estimator="inversion")
    assert one.counts[0] == pytest.approx(found.counts.sum(axis=0), abs=1e-6)


def test_sums_of_single_values_are_what_the_matrix_alone_gives():
    """Both ways to the limits, for one stratum and for two that have the same matrix."""
    ways = {"income": skewed(4, 8)}
    shown = perturbed(truths(0, 2000), ways, 1)
    cells = [
        {"cell": {"sex": sex}, "columns": {"income": {"matrix": {"rows": ways["income"].tolist()}}}} for sex in SEX
    ]
    apart = certificate({"income": None}, strata={"columns": ["sex"], "cells": cells})
    one, two = (
        sudare.estimate(released(shown, paper), of="income", by="town", estimator="inversion")
        for paper in (certificate(ways), apart)
    )
    assert two.counts == pytest.approx(one.counts, abs=1e-6)
    for name in ("se", "low", "high"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=0.02)


@pytest.mark.parametrize("estimator", ["em", "inversion"])
def test_what_is_not_perturbed_is_exact(estimator):
    truth = truths(1, 1000)
    for paper in (certificate({"sex": 1.0, "income": np.eye(4)}), certificate({})):
        found = sudare.estimate(released(truth, paper), of="income", by=["sex", "town"], estimator=estimator)
        assert grid(found, "sex", "town", "income") == pytest.approx(
            counted(truth, ["sex", "town", "income"]), abs=1e-4
        )
        assert found.se == pytest.approx(0, abs=1e-6)
        assert found.low == pytest.approx(found.counts, abs=1e-4)
        assert found.high == pytest.approx(found.counts, abs=1e-4)


def test_inversion_is_unbiased():
    ways = {"sex": 0.6, "age": skewed(15, 2), "income": 0.5}
    truth = truths(5, 1500)
    expected = counted(truth, ["sex", "age", "income"]).reshape(2, 3, 5, 4).sum(axis=2)
    paper, drawn = certificate(ways), []
    for seed in range(60):
        release = released(perturbed(truth, ways, seed), paper)
        drawn.append(sudare.estimate(release, of="income", by="sex,age:5", estimator="inversion").counts)
    errors = np.mean(drawn, axis=0).ravel() - expected.ravel()
    scale = np.std(drawn, axis=0, ddof=1).ravel() / np.sqrt(60)
    assert (np.abs(errors) < 4 * scale).all()
    assert np.abs(errors / scale).mean() < 1.2


@pytest.mark.parametrize("estimator", ["em", "inversion"])
@pytest.mark.parametrize("age", [0.5, skewed(15, 2)], ids=["uniform", "rows"])
def test_intervals_hold_the_truth_as_often_as_they_say(age, estimator):
    """A thousand cells, of bands of a perturbed column: as often as asked for, and standard errors are those."""
    ways = {"age": age, "income": 0.6}
    inside, cells, errors, told = 0, 0, [], []
    for seed in range(28):
        truth = truths(seed, 4000)
        release = released(perturbed(truth, ways, 1000 + seed), certificate(ways))
        found = sudare.estimate(release, of="income", by="age:5,town", estimator=estimator)
        expected = counted(truth, ["age", "town", "income"]).reshape(3, 5, 3, 4).sum(axis=1).reshape(9, 4)
        inside += int(((found.low <= expected + 1e-9) & (expected - 1e-9 <= found.high)).sum())
        cells += found.counts.size
        errors.append((found.counts - expected) ** 2)
        told.append(found.se**2)
    assert cells > 1000
    assert 0.93 <= inside / cells <= 0.97
    assert 0.8 < np.sum(errors) / np.sum(told) < 1.1


def test_intervals_hold_over_strata_that_are_added_up():
    inside, cells = 0, 0
    for seed in range(85):
        truth, rng = truths(seed, 3000), np.random.default_rng(seed)
        ways = [uniform(4, 0.3), uniform(4, 0.6), skewed(4, 7)]
        income = truth["income"].copy()
        for code, way in enumerate(ways):
            income[truth["town"] == code] = show(truth["income"][truth["town"] == code], way, rng)
        told = [
            {"cell": {"town": town}, "columns": {"income": {"matrix": {"rows": way.tolist()}}}}
            for town, way in zip("ABC", ways, strict=True)
        ]
        paper = certificate({"income": None}, strata={"columns": ["town"], "cells": told})
        found = sudare.estimate(released(truth | {"income": income}, paper), of="income", by="sex,age:5")
        expected = counted(truth, ["sex", "age", "income"]).reshape(2, 3, 5, 4).sum(axis=2).reshape(6, 4)
        inside += int(((found.low <= expected) & (expected <= found.high)).sum())
        cells += found.counts.size
    assert cells > 2000
    assert 0.93 <= inside / cells <= 0.97


def test_cells_are_in_order_and_records_are_estimated():
    shown = perturbed(truths(0, 2000), WAYS, 1)
    found = sudare.estimate(released(shown, certificate(WAYS)), of="income", by=["sex", "town"])
    assert [(cell["sex"], cell["town"]) for cell in found.cells] == [(s, t) for s in "FM" for t in "ABC"]
    assert found.records == pytest.approx(found.counts.sum(axis=1))
    assert found.notes == (pram_counts.ESTIMATED,)
    exact = sudare.estimate(released(shown, certificate(WAYS)), of="income", by="town")
    assert exact.records.tolist() == np.bincount(shown["town"]).tolist()
    assert exact.notes == ()
    assert exact.values == INCOME


def test_from_files_with_text(tmp_path):
    """Certificates tell numbers as numbers; a file of text shows them as text, and missing ones as nothing."""
    import hashlib
    import json

    import pyarrow.csv

    ways = {"age": 0.7, "income": 0.6}
    shown = perturbed(truths(0, 800), ways, 2)
    path = tmp_path / "release.csv"
    pyarrow.csv.write_csv(table_of(shown), path)
    paper = certificate(ways) | {"certificate": 1, "release_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    (tmp_path / "release.csv.sudare.json").write_text(json.dumps(paper), encoding="utf-8")
    found = sudare.estimate(path, of="income", by="age:5")
    memory = sudare.estimate(released(shown, certificate(ways)), of="income", by="age:5")
    assert found.counts == pytest.approx(memory.counts)
    assert found.cells == memory.cells


def test_rectangular_products():
    rng = np.random.default_rng(0)
    parts = [rng.random((3, 2)), rng.random((4, 4)), rng.random((2, 5))]
    lines = rng.random((7, 24))
    assert along(lines, parts) == pytest.approx(lines @ reduce(np.kron, parts))


# -- what is refused --------------------------------------------------------------------------------------------------


def refused(paper, shown=None, **asked):
    with pytest.raises((DataError, ParameterError)) as caught:
        sudare.estimate(released(truths(0, 50) if shown is None else shown, paper), **({"of": "income"} | asked))
    return str(caught.value)


def test_a_certificate_that_does_not_tell_enough():
    matrix = "does not contain the matrix of the draws"
    assert matrix in refused(certificate({"income": None}))
    assert "certificate.mechanism.columns.income" in refused(certificate({"income": None}))
    assert matrix in refused(certificate({"sex": None, "income": None}, joint=[{"columns": ["sex", "income"]}]))
    for wrong in (-0.1, 1.5, float("nan")):
        assert "the probability of keeping the true value" in refused(certificate({"income": wrong}))
    for rows in (np.eye(3), np.ones((4, 4)), np.array([["a"]])):
        assert "a matrix of 4 rows" in refused(certificate({"income": rows}))
    for wrong in ({}, {"mechanism": {}}, {"mechanism": {"columns": ["income"]}}):
        whole = certificate({"income": 0.5})
        del whole["mechanism"]
        assert "does not list the perturbed columns" in refused(whole | wrong)
    bare = certificate({"income": 0.5})
    del bare["mechanism"]["columns"]["income"]["values"]
    assert "does not list the values of the column" in refused(bare)
    assert "the columns that were drawn jointly" in refused(certificate({"income": 0.5}, joint=[{}]))
    assert "the columns of the strata" in refused(certificate({"income": 0.5}, strata={"columns": 3}))
    assert "does not list its cells" in refused(certificate({"income": 0.5}, strata={"columns": ["town"]}))
    some = {"columns": ["town"], "cells": [{"cell": {"town": town}, "columns": {}} for town in "AB"]}
    assert "strata that its certificate does not list" in refused(certificate({"income": 0.5}, strata=some))
    two = {"values": ["high", "low"], "matrix": {"p": 0.5}}
    less = {"columns": ["town"], "cells": [{"cell": {"town": town}, "columns": {"income": two}} for town in "ABC"]}
    assert "a stratum shows values" in refused(certificate({"income": None}, strata=less))
    two["values"] = ["other"]
    assert "lists values that the column does not have" in refused(certificate({"income": None}, strata=less))


def test_a_release_that_is_not_its_certificates():
    paper = certificate({"income": 0.5})
    paper["mechanism"]["columns"]["income"]["values"] = ["high", "low"]
    told = refused(paper)
    assert "column 'income' shows values that its certificate does not list" in told
    assert "middle" not in told


def test_columns_that_a_matrix_depends_on_have_to_be_there():
    cells = [{"cell": {"town": town}, "columns": {"income": {"matrix": {"p": 0.5}}}} for town in "ABC"]
    for more in (
        {"strata": {"columns": ["town"], "cells": cells}},
        {"joint": [{"columns": ["town", "income"], "rows": uniform(12, 0.5).tolist()}]},
    ):
        some = {name: own for name, own in truths(0, 50).items() if name != "town"}
        assert "column 'town' is missing" in refused(certificate({"town": None, "income": None}, **more), some)


def test_what_cannot_be_estimated():
    told = refused(certificate({"income": 0.5}), estimator="bayes")
    assert "Allowed: em, ml, projection, inversion" in told
    assert "applies only to the estimator bayes" in refused(certificate({"income": 0.5}), eps=0.1)
    assert "has no inverse" in refused(certificate({"income": 0.0}))
    assert "no record" in refused(certificate({"age": 0.5}), where="age=70..80")
    assert "no ranges" in refused(certificate({"sex": 0.5}), where="sex=1..2")
    assert "no bands" in refused(certificate({"sex": 0.5}), by="sex:10")


def test_large_tables_are_refused(monkeypatch):
    monkeypatch.setattr(pram_counts, "LARGEST", 50)
    paper = certificate({"age": 0.5, "income": 0.5})
    assert "in bands" in refused(paper, by="age")
    rows = certificate({"age": skewed(15, 1), "income": 0.5})
    assert "more than 50 counts" in refused(rows, by="age:5")
    sudare.estimate(released(truths(0, 50), paper), of="income", by="age:5")


# -- releases as they are made ----------------------------------------------------------------------------------------


def people(rows=6000):
    truth = truths(11, rows)
    truth["income"] = np.where((truth["town"] == 2) & (truth["income"] == 2), 0, truth["income"])
    truth["age"] = np.where((truth["sex"] == 0) & (truth["age"] == 14), 0, truth["age"])
    return truth


def made(rows, out=None, **method):
    roles = {"sex": "quasi", "age": "quasi", "town": "insensitive", "income": "sensitive"}
    against = {"against": "column"} if "never" in method else {}
    policy = {
        "columns": {name: {"role": role} for name, role in roles.items()},
        "require": [{"model": "alpha-gamma", "column": "income", "alpha": 0.95, "gamma": 0.001} | against],
        "method": {"name": "pram", "p": 0.6} | method,
    }
    policy["columns"]["age"]["kind"] = "numeric"
    return sudare.anonymize(table_of(rows), policy, out=out, seed=5)


def labels(table, name):
    """A column as it is counted by: its values, or their bands of five."""
    column, _, width = name.partition(":")
    cells = table[column].to_pylist()
    return [f"[{cell // 5 * 5}, {cell // 5 * 5 + 4}]" for cell in cells] if width else cells


TEXTS = [value or "" for value in INCOME]
OWN = {value: {other: 0.7 if value == other else 0.1 for other in TEXTS} for value in TEXTS}
ASKED = [
    ("income", ["town"]),
    ("income", ["sex", "age:5"]),
    ("sex", ["income"]),
    ("town", ["age:5", "sex"]),
    ("sex", []),
]


@pytest.mark.parametrize(
    "method",
    [
        {}, {"kind": "invariant"}, {"p": {"sex": 0.9, "age": 0.5, "income": 0.4}}, {"matrices": {"income": OWN}},
        {"strata": ["town"]}, {"strata": ["town"], "kind": "invariant"}, {"joint": [["sex", "income"]]},
        {"never": [{"town": "C", "income": "middle"}]},
        {"joint": [["sex", "age"]], "never": [{"sex": "F", "age": 34}]},
        {"strata": ["town"], "joint": [["age", "income"]]},
    ],
    ids=["uniform", "invariant", "vector", "matrix", "strata", "invariant-strata", "joint", "never", "never-joint",
         "strata-joint"],
)  # fmt: skip
@pytest.mark.parametrize("estimator", ["em", "inversion"])
def test_estimates_from_releases_are_near_the_truth(method, estimator):
    truth = people()
    release, table = made(truth, **method), table_of(truth)
    apart, inside = [], []
    for of, by in ASKED:
        found = sudare.estimate(release, of=of, by=by, estimator=estimator)
        true = Counter(zip(*(labels(table, name) for name in [*by, of]), strict=True))
        for row in found:
            exact = true[*row["cell"].values(), row["value"]]
            apart.append(abs(row["estimate"] - exact) / max(row["se"], 1e-6))
            inside.append(row["low"] - 1e-6 <= exact <= row["high"] + 1e-6)
    assert max(apart) < 5
    assert np.mean(inside) > 0.8


def test_a_release_in_a_file_says_the_same(tmp_path):
    release = made(people(2000))
    path = tmp_path / "release.csv"
    written = made(people(2000), out=path)
    expected = sudare.estimate(release, of="income", by="age:5,town")
    for source in (path, written):
        found = sudare.estimate(source, of="income", by="age:5,town")
        assert found.cells == expected.cells
        assert found.counts == pytest.approx(expected.counts, abs=1e-3)


@pytest.mark.parametrize("ending", ["csv", "parquet", None])
def test_values_of_every_kind(ending, tmp_path):
    """Certificates tell dates, times and truth values as text; files show them in their own ways."""
    rng = np.random.default_rng(0)
    born, seen, ill = rng.integers(0, 6, 2000), rng.integers(0, 3, 2000), rng.random(2000) < 0.3
    table = pa.table({
        "born": [date(1990 + code // 2, 1 + 6 * (code % 2), 3) for code in born.tolist()],
        "seen": [datetime(2020, 1, 1 + code, 12, 30) for code in seen.tolist()],
        "pay": rng.choice([1.5, 2.0, 3.25], 2000),
        "ill": ill,
    })  # fmt: skip
    policy = {
        "columns": {name: {"role": "quasi"} for name in ("born", "seen", "pay")} | {"ill": {"role": "sensitive"}},
        "require": [{"model": "alpha-gamma", "column": "ill", "alpha": 0.99, "gamma": 0.001}],
        "method": {"name": "pram", "p": 0.8},
    }
    path = None if ending is None else tmp_path / f"release.{ending}"
    release = sudare.anonymize(table, policy, out=path, seed=3)
    years = sudare.estimate(release, of="ill", by="born:year", where="seen=2020-01-01..2020-01-02")
    assert [cell["born"] for cell in years.cells] == ["1990", "1991", "1992"]
    assert years.values == ["false", "true"]
    expected = [
        [int(((born // 2 == year) & (seen < 2) & (ill == one)).sum()) for one in (False, True)] for year in range(3)
    ]
    assert (np.abs(years.counts - expected) < 4 * years.se).all()
    pay = sudare.estimate(release, of="pay", by="seen:day", where="ill=true")
    assert pay.values == [1.5, 2, 3.25]
    assert [cell["seen"] for cell in pay.cells] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert pay.counts.sum() == pytest.approx(ill.sum(), abs=100)
