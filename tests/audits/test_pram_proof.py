"""Releases whose values were drawn: what is proven from matrices and counts, and what is found if they were touched."""

from __future__ import annotations

import hashlib
import json
import math
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.audits import audit_release
from sudare.audits.mechanism import Domain
from sudare.audits.transitions import Even, Full, least_ratio, read_matrix, read_prior, read_rows
from sudare.core.errors import AuditFailedError, DataError
from sudare.methods import pram
from sudare.policy import Policy

from .tables import paper, required, write

ROWS = 32_561
SIZES = {"income": 2, "marital": 7, "relationship": 6, "race": 5}
PRIORS = {"income": [0.759, 0.241], "relationship": [0.405, 0.255, 0.156, 0.106, 0.048, 0.030]}
PUBLISHED = [
    # sensitive, k, alpha, gamma, and p, cut after 4 digits
    ("income", 3, 0.8, 0.1, 0.3343),
    ("income", 3, 0.77, 0.22, 0.2476),
    ("income", 5, 0.77, 0.22, 0.2476),
    ("income", 10, 0.77, 0.22, 0.2476),
    ("relationship", 3, 0.5, 0.02, 0.3343),
    ("relationship", 3, 0.47, 0.025, 0.2756),
    ("relationship", 5, 0.47, 0.025, 0.2756),
    ("relationship", 10, 0.47, 0.025, 0.2738),
]


def rules(*require, quasi=("zone",), sensitive=("ill",), method=None, **columns):
    described = {name: {"role": "quasi"} for name in quasi} | {name: {"role": "sensitive"} for name in sensitive}
    asked = {"columns": described | columns, "require": list(require), "method": {"name": "pram", **(method or {})}}
    return Policy.parse(asked)


def pk(k):
    return {"model": "pk-anonymity", "k": k}


def limits(column="ill", alpha=0.9, gamma=0.01, **more):
    limit = {"model": "alpha-gamma", "column": column, "alpha": alpha, "gamma": gamma}
    return {**limit, "against": "column", **more}


def rows_of(m, p):
    """Keep with p, else any value."""
    return [[(1 - p) / m + (p if t == o else 0.0) for o in range(m)] for t in range(m)]


def believed(prior, rows):
    """B by its definition, in three loops."""
    m, outs = len(prior), range(len(rows[0]))
    shown = [sum(prior[t] * rows[t][o] for t in range(m)) for o in outs]
    table = [
        [sum(rows[t][o] * prior[s] * rows[s][o] / shown[o] for o in outs if shown[o]) for s in range(m)]
        for t in range(m)
    ]
    return max(table[s][s] for s in range(m)), min(map(min, table))


def apportioned(shares, total):
    """Whole numbers that are as near to shares of a total as they can be."""
    counts = [math.floor(share * total) for share in shares]
    counts[0] += total - sum(counts)
    return [value for value, count in enumerate(counts) for _ in range(count)]


def expected(prior, p, rows):
    """A column of codes that shows exactly what is expected of uniform PRAM."""
    m = len(prior)
    return apportioned([(1 - p) / m + p * share for share in prior], rows)


def uniform(p, columns, **priors):
    told = {name: {"values": values, "matrix": {"p": p}} for name, values in columns.items()}
    for name, prior in priors.items():
        told[name]["prior"] = prior
    return {"kind": "uniform", "columns": told}


def simple(p=0.5, prior=(0.6, 0.4), zones="ab", rows=1000):
    """A release of two columns and what is told of it."""
    ill = ["no", "yes"]
    table = pa.table(
        {
            "zone": [zones[row % len(zones)] for row in range(rows)],
            "ill": [ill[code] for code in expected(prior, p, rows)],
        }
    )
    return table, uniform(p, {"zone": list(zones), "ill": ill}, ill=list(prior))


def audit(table, facts, policy, **more):
    return audit_release(table, policy, mechanism=facts, **more)


# ---- matrices


def test_by_hand():
    """Two values, 3/4 and 1/4, kept with 1/2: shown 5/8 and 3/8."""
    matrix = read_matrix({"p": 0.5}, 2)
    assert matrix.shown([0.75, 0.25]) == pytest.approx([0.625, 0.375])
    assert least_ratio(matrix) == pytest.approx((1 - 0.5) / (1 + 0.5))
    # of a: 3/4 (9/16 / (5/8) + 1/16 / (3/8)), of b where the truth is a: 1/4 (3/16 / (5/8) + 3/16 / (3/8))
    assert matrix.beliefs([0.75, 0.25]) == pytest.approx((0.8, 0.2))
    assert matrix.variances([0.75, 0.25]) == pytest.approx([0.1875, 0.1875])


def test_any_rows_by_hand():
    rows = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
    matrix = read_rows(rows, 3)
    assert isinstance(matrix, Full)
    assert least_ratio(matrix) == 0
    assert matrix.spans() == [(0.0, 0.5), (0.5, 0.5), (0.0, 0.5)]
    assert matrix.beliefs([0.5, 0.25, 0.25]) == pytest.approx(believed([0.5, 0.25, 0.25], rows))


@pytest.mark.parametrize("p", [0.0, 0.2, 0.9, 1.0])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_ratios_of_uniform_matrices(m, p):
    assert least_ratio(read_matrix({"p": p}, m)) == pytest.approx(1 if m == 1 else (1 - p) / (1 + (m - 1) * p))


def test_a_value_that_nobody_shows_tells_nobody_apart():
    assert least_ratio(read_rows([[0.5, 0.5, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]], 3)) == 0.5


def shares(least=1, most=7):
    numbers = st.lists(st.integers(1, 1000), min_size=least, max_size=most)
    return numbers.map(lambda some: [number / sum(some) for number in some])


@given(shares(), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_the_closed_form_is_the_slow_one(prior, p):
    rows = rows_of(len(prior), p)
    slow = believed(prior, rows)
    assert read_matrix({"p": p}, len(prior)).beliefs(prior) == pytest.approx(slow, abs=1e-12)
    assert Full(rows).beliefs(prior) == pytest.approx(slow, abs=1e-12)


@given(shares(2), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_it_is_what_the_method_computes_in_its_own_way(prior, p):
    matrix = read_matrix({"p": p}, len(prior))
    assert matrix.beliefs(prior) == pytest.approx(
        (pram.uniform_alpha(prior, p), pram.uniform_gamma(prior, p)), abs=1e-12
    )
    assert least_ratio(matrix) == pytest.approx(pram.uniform_ratio(len(prior), p), abs=1e-12)


@given(shares(2), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_invariant_matrices_have_a_closed_form_too(prior, p):
    rows = pram.invariant_matrix(prior, p).tolist()
    matrix = read_rows(rows, len(prior))
    assert isinstance(matrix, Even)
    assert matrix.full().rows == [pytest.approx(row, abs=1e-15) for row in rows]
    assert matrix.beliefs(prior) == pytest.approx(believed(prior, rows), abs=1e-12)
    assert matrix.shown(prior) == pytest.approx(prior)
    assert matrix.variances(prior) == pytest.approx(Full(rows).variances(prior), abs=1e-12)
    assert least_ratio(matrix) == pytest.approx(pram.least_ratio(rows), abs=1e-12)


@given(st.integers(2, 5).flatmap(lambda m: st.tuples(shares(m, m), st.lists(shares(m, m), min_size=m, max_size=m))))
@settings(max_examples=100, deadline=None)
def test_any_matrix(case):
    prior, rows = case
    matrix = read_rows(rows, len(prior))
    assert matrix.beliefs(prior) == pytest.approx(believed(prior, rows), abs=1e-12)
    assert least_ratio(matrix) == pytest.approx(pram.least_ratio(rows), abs=1e-12)


def test_a_thousand_values():
    prior = [number / 500_500 for number in range(1, 1001)]
    expected = pram.uniform_alpha(prior, 0.3), pram.uniform_gamma(prior, 0.3)
    assert read_matrix({"p": 0.3}, 1000).beliefs(prior) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (None, "neither"),
        ({"p": 0.5, "rows": []}, "neither"),
        ({"q": 0.5}, "neither"),
        ({"p": 1.01}, "not a number from 0 to 1"),
        ({"p": True}, "not a number from 0 to 1"),
        ({"p": math.nan}, "not a number from 0 to 1"),
        ({"p": "0.5"}, "not a number from 0 to 1"),
        ({"rows": [[1.0, 0.0]]}, "a row for each"),
        ({"rows": [[1.0, 0.0], [1.0]]}, "in row 1"),
        ({"rows": [[1.0, 0.0], [0.5, 0.4]]}, "not a distribution: row 1"),
        ({"rows": [[1.5, -0.5], [0.5, 0.5]]}, "not a distribution: row 0"),
        ({"rows": [[math.inf, 0.0], [0.5, 0.5]]}, "in row 0"),
    ],
    ids=str,
)
def test_matrices_that_are_none(told, what):
    assert what in read_matrix(told, 2)


@pytest.mark.parametrize("told", [None, [1.0], [0.5, 0.6], [1.0, 0.0], [1.5, -0.5], ["0.5", 0.5]], ids=str)
def test_priors_that_are_none(told):
    assert isinstance(read_prior(told, 2), str)


# ---- domains


def test_cells_are_found_in_a_domain_however_they_are_written():
    domain = Domain([1, 2.5, 0.10000000149011612, None])
    assert [domain.place(cell) for cell in ("1", "1.0", 1, "2.50", "0.1", None, "1_0", "x", 3)] == [
        0, 0, 0, 1, 2, 3, None, None, None,
    ]  # fmt: skip
    assert Domain(["1", "01"]).place("01") == 1
    assert Domain(["1"]).place(1) is None


# ---- Pk-anonymity


def test_pk_by_hand():
    """Two columns of two values with p = 1/2: the ratio is 1/9, and 1 + 999 / 81 = 13 1/3."""
    table, facts = simple()
    report = audit(table, facts, rules(pk(13)))
    report.raise_if_failed()
    assert (report.rows, report.classes) == (1000, None)
    given = required(report)
    assert given.achieved == pytest.approx(1 + 999 / 81)
    assert (given.required, given.offending_classes) == (13, 0)
    assert "method is responsible for" in given.note
    assert not audit(table, facts, rules(pk(14))).passed


def test_all_columns_have_a_part_in_it():
    table, facts = simple()
    assert required(audit(table, facts, rules(pk(2)))).achieved == pytest.approx(13.333333)
    del facts["columns"]["zone"]["matrix"]
    report = audit(table, facts, rules(pk(2)))
    assert not report.passed
    assert required(report).achieved is None


@pytest.mark.parametrize("name", ["zone", "ill"])
def test_a_column_of_which_nothing_is_told(name):
    table, facts = simple()
    del facts["columns"][name]
    report = audit(table, facts, rules(pk(2)))
    assert not report.passed
    assert f"mechanism.columns.{name}.values" in str(report.problems[0])


def test_rows_and_p_are_the_same():
    table, facts = simple()
    facts["columns"]["zone"]["matrix"] = {"rows": rows_of(2, 0.5)}
    assert required(audit(table, facts, rules(pk(2)))).achieved == pytest.approx(1 + 999 / 81)


def test_a_truth_that_gives_itself_away():
    table, facts = simple()
    facts["columns"]["zone"]["matrix"] = {"rows": [[1.0, 0.0], [0.0, 1.0]]}
    assert required(audit(table, facts, rules(pk(2)))).achieved == 1


def test_joint_columns_are_one_attribute():
    table, facts = simple(prior=(0.5, 0.5))
    for told in facts["columns"].values():
        del told["matrix"]
        told.pop("prior", None)
    facts["joint"] = [{"columns": ["zone", "ill"], "rows": rows_of(4, 0.4)}]
    report = audit(table, facts, rules(pk(2)))
    assert required(report).achieved == pytest.approx(1 + 999 * (0.6 / 2.2) ** 2)
    facts["joint"][0]["columns"] = ["zone", "zone"]
    assert not audit(table, facts, rules(pk(2))).passed


def test_the_order_of_the_source_gives_records_away():
    table, facts = simple()
    kept = Policy.parse({**rules(pk(2)).model_dump(exclude_none=True), "release": {"order": "keep"}})
    report = audit(table, facts, kept)
    assert not report.passed
    assert "order of the source" in required(report).note


@pytest.mark.parametrize("spread", [0.3, 0.9])
def test_strata_count_by_themselves(spread):
    """300 records in one stratum and 700 in the other: the smaller one counts, unless its matrix keeps less."""
    sides = ["l"] * 300 + ["r"] * 700
    table = pa.table(
        {
            "side": sides,
            "zone": ["a", "b"] * 500,
            "ill": ["no", "no", "yes", "yes"] * 250,
        }
    )
    told = {name: {"values": values} for name, values in {"zone": ["a", "b"], "ill": ["no", "yes"]}.items()}
    cells = [
        {"cell": {"side": side}, "columns": {name: {"matrix": {"p": p}} for name in told}}
        for side, p in (("l", 0.5), ("r", spread))
    ]
    facts = {"columns": told, "strata": {"columns": ["side"], "cells": cells}}
    policy = rules(pk(2), side={"role": "quasi"}, method={"strata": ["side"]})
    figures = [1 + 299 * (0.5 / 1.5) ** 4, 1 + 699 * ((1 - spread) / (1 + spread)) ** 4]
    report = audit(table, facts, policy)
    assert required(report).achieved == pytest.approx(min(figures))
    assert required(report).offending_classes == sum(figure < 2 for figure in figures)
    del cells[1]
    report = audit(table, facts, policy)
    assert not report.passed
    assert "does not have all strata" in str(report.problems[0])


def test_values_of_a_stratum_are_those_that_occur_there():
    table = pa.table(
        {"side": ["l"] * 400 + ["r"] * 600, "zone": ["a", "b"] * 200 + ["b", "c"] * 300, "ill": ["no", "yes"] * 500}
    )
    ill = {"matrix": {"p": 0.5}, "prior": [0.5, 0.5]}
    cells = [
        {"cell": {"side": "l"}, "columns": {"zone": {"values": ["a", "b"], "matrix": {"p": 0.5}}, "ill": ill}},
        {"cell": {"side": "r"}, "columns": {"zone": {"values": ["b", "c"], "matrix": {"p": 0.5}}, "ill": ill}},
    ]
    facts = {
        "columns": {"zone": {"values": ["a", "b", "c"]}, "ill": {"values": ["no", "yes"]}},
        "strata": {"columns": ["side"], "cells": cells},
    }
    policy = rules(pk(2), limits(), side={"role": "insensitive"}, method={"strata": ["side"]})
    report = audit(table, facts, policy)
    report.raise_if_failed()
    assert report.guarantees[0].achieved == pytest.approx(1 + 399 / 81)
    assert report.guarantees[1].achieved == pytest.approx({"alpha": 0.625, "gamma": 0.375, "one value": 0.75})
    cells[0]["columns"]["zone"]["values"] = ["a", "c"]
    assert "do not occur in their stratum" in str(audit(table, facts, policy).problems[0])
    cells[0]["columns"]["zone"]["values"] = ["a", "d"]
    assert "are not values of the column" in str(audit(table, facts, policy).problems[0])


def test_a_stratum_may_stand_for_all_others():
    table = pa.table({"side": ["l"] * 400 + ["m", "r"] * 300, "zone": ["a", "b"] * 500, "ill": ["no", "yes"] * 500})
    cells = [
        {"cell": {"side": "l"}, "columns": {"zone": {"matrix": {"p": 0.5}}, "ill": {"matrix": {"p": 0.5}}}},
        {"cell": {}, "columns": {"zone": {"matrix": {"p": 0.5}}, "ill": {"matrix": {"p": 0.5}}}},
    ]
    facts = {
        "columns": {"zone": {"values": ["a", "b"]}, "ill": {"values": ["no", "yes"]}},
        "strata": {"columns": ["side"], "cells": cells},
    }
    policy = rules(pk(2), side={"role": "insensitive"})
    report = audit(table, facts, policy)
    report.raise_if_failed()
    assert required(report).achieved == pytest.approx(1 + 399 / 81)
    facts["strata"]["cells"] = [cells[0], cells[0]]
    assert "lists a stratum twice" in str(audit(table, facts, policy).problems[0])


@pytest.mark.parametrize("strata", [{"columns": ["ill"], "cells": []}, {"columns": ["name"], "cells": []}, ["zone"], 3])
def test_strata_that_are_none(strata):
    table, facts = simple()
    assert not audit(table, {**facts, "strata": strata}, rules(pk(2))).passed


# ---- P(alpha, gamma)


def test_alpha_and_gamma_by_hand():
    table, facts = simple(prior=(0.75, 0.25))
    report = audit(table, facts, rules(limits(alpha=0.8, gamma=0.2)))
    report.raise_if_failed()
    given = required(report)
    assert given.achieved == pytest.approx({"alpha": 0.8, "gamma": 0.2, "one value": 0.9})
    assert given.required == {"alpha": 0.8, "gamma": 0.2}
    assert "prior" in given.note
    for alpha, gamma in ((0.79, 0.2), (0.8, 0.21)):
        report = audit(table, facts, rules(limits(alpha=alpha, gamma=gamma)))
        assert not report.passed
        assert required(report).offending_classes == 1


def test_without_a_prior_nothing_is_proven():
    table, facts = simple()
    del facts["columns"]["ill"]["prior"]
    assert "has no prior" in required(audit(table, facts, rules(limits()))).note


def test_the_prior_of_the_policy():
    table, facts = simple(prior=(0.75, 0.25))
    audit(table, facts, rules(limits(prior={"yes": 0.25, "no": 0.75}))).raise_if_failed()
    for prior in ({"no": 0.74, "yes": 0.26}, {"no": 0.75, "perhaps": 0.25}, {"no": 0.5, "yes": 0.25, "x": 0.25}):
        report = audit(table, facts, rules(limits(prior=prior)))
        assert not report.passed
        assert "not the one of the policy" in required(report).note


def test_a_column_of_joint_ones():
    """Drawn evenly or kept together, both of two columns: B by its definition, over combinations."""
    table, facts = simple(prior=(0.5, 0.5))
    prior = [0.25, 0.25, 0.5, 0.0]
    rows = rows_of(4, 0.5)
    for told in facts["columns"].values():
        told.pop("matrix")
        told.pop("prior", None)
    shown = [sum(prior[t] * rows[t][o] for t in range(4)) for o in range(4)]
    counts = apportioned(shown, 1000)
    table = pa.table(
        {"zone": ["ab"[code // 2] for code in counts], "ill": [["no", "yes"][code % 2] for code in counts]}
    )
    facts["joint"] = [{"columns": ["zone", "ill"], "rows": rows, "prior": prior}]

    def b(t, s):
        return sum(rows[t][o] * sum(prior[c] * rows[c][o] for c in range(4) if c % 2 == s) / shown[o] for o in range(4))

    truths = [t for t in range(4) if prior[t]]
    expected = {"alpha": max(b(t, t % 2) for t in truths), "gamma": min(b(t, s) for t in truths for s in (0, 1))}
    achieved = required(audit(table, facts, rules(limits()))).achieved
    assert {name: achieved[name] for name in expected} == pytest.approx(expected)
    del facts["joint"][0]["prior"]
    assert "has no prior" in required(audit(table, facts, rules(limits()))).note


def test_missing_cells_are_a_value(tmp_path):
    table, facts = simple(prior=(0.75, 0.25))
    facts["columns"]["ill"]["values"] = ["no", None]
    nulls = pa.array([None if cell == "yes" else cell for cell in table["ill"].to_pylist()])
    table = table.set_column(1, "ill", nulls)
    for path in (tmp_path / "r.parquet", tmp_path / "r.csv"):
        if path.suffix == ".csv":
            write(path, table.column_names, [(z, i or "") for z, i in zip(*table.to_pydict().values(), strict=True)])
        else:
            pq.write_table(table, path)
        audit(path, facts, rules(pk(3), limits(prior={"no": 0.75, "": 0.25}))).raise_if_failed()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pa.array([1, 2], pa.int8()), [1, 2]),
        (pa.array([0.1, 2.0], pa.float32()), [0.10000000149011612, 2.0]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([0, 1], pa.date32()), ["1970-01-01", "1970-01-02"]),
        (pa.array([0, 1500], pa.timestamp("ms")), ["1970-01-01 00:00:00.000", "1970-01-01 00:00:01.500"]),
        (pa.array([0, 1500], pa.duration("ms")), ["0", "1500"]),
        (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
        (pa.array([float("nan"), 1.0]), [None, 1.0]),
    ],
    ids=lambda part: str(getattr(part, "type", "")),
)
@pytest.mark.parametrize("form", ["memory", "parquet"])
def test_values_of_any_type(tmp_path, cells, values, form):
    release = pa.table({"zone": cells.take(pa.array([0, 1] * 500)), "ill": ["no", "yes"] * 500})
    facts = uniform(0.5, {"zone": values, "ill": ["no", "yes"]})
    if form == "parquet":
        pq.write_table(release, tmp_path / "r.parquet")
        release = tmp_path / "r.parquet"
    audit(release, facts, rules(pk(13))).raise_if_failed()


# ---- the published table


@pytest.mark.parametrize("case", PUBLISHED, ids=str)
def test_published_cases_hold_at_their_p_and_not_above(case):
    sensitive, k, alpha, gamma, p = case
    values = {name: [f"{name} {code}" for code in range(size)] for name, size in SIZES.items()}
    others = {name: [1 / size] * size for name, size in SIZES.items() if name != sensitive}
    policy = rules(
        pk(k),
        limits(sensitive, alpha, gamma),
        quasi=[name for name in SIZES if name != sensitive],
        sensitive=[sensitive],
    )

    def proven(p):
        shown = {name: expected(prior, p, ROWS) for name, prior in {**others, sensitive: PRIORS[sensitive]}.items()}
        chance = random.Random(1)
        table = pa.table(
            {name: chance.sample([values[name][code] for code in codes], ROWS) for name, codes in shown.items()}
        )
        return audit(table, uniform(p, values, **{sensitive: PRIORS[sensitive]}), policy)

    proven(p).raise_if_failed()
    above = proven(p + 0.001)
    assert not above.passed
    assert not above.problems


# ---- what was touched


@pytest.fixture
def drawn(tmp_path):
    """A release that was truly drawn, on disk, with a certificate: 20,000 records, p = 0.4."""
    chance = random.Random(7)
    zones, ill = ["a", "b", "c"], ["no", "yes"]
    prior, size = [0.8, 0.2], 20_000

    def keep(value, values):
        return value if chance.random() < 0.4 else chance.choice(values)

    rows = [
        (
            keep("a" if row % 10 < 9 else chance.choice("bc"), zones),
            keep("no" if row % 10 < 8 else "yes", ill),
        )
        for row in range(size)
    ]
    chance.shuffle(rows)
    path = write(tmp_path / "release.csv", ["zone", "ill"], rows)
    told = uniform(0.4, {"zone": zones, "ill": ill}, ill=prior)
    return path, json.loads(json.dumps(paper(path, ASKED, mechanism=told)))


ASKED = rules(pk(3), limits(alpha=0.9, gamma=0.05))


def test_a_true_release_passes(drawn):
    path, certificate = drawn
    report = audit_release(path, ASKED, certificate=certificate)
    report.raise_if_failed()
    assert [given.model for given in report.guarantees[:2]] == ["pk-anonymity", "alpha-gamma"]


def told(report):
    with pytest.raises(AuditFailedError) as caught:
        report.raise_if_failed()
    return str(caught.value)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.7])
def test_a_very_different_p_is_found(drawn, p):
    path, certificate = drawn
    for column in certificate["mechanism"]["columns"].values():
        column["matrix"]["p"] = p
    said = told(audit_release(path, ASKED, certificate=certificate))
    assert "certificate" in said


def test_without_a_prior_too_low_a_p_is_found_by_what_is_frequent(drawn):
    """Nine in ten are 'a', and with p = 0.1 nothing could be shown in more than four of ten records."""
    path, certificate = drawn
    del certificate["mechanism"]["columns"]["ill"]["prior"]
    certificate["mechanism"]["columns"]["zone"]["matrix"]["p"] = 0.1
    said = told(audit_release(path, rules(pk(3)), certificate=certificate))
    assert "column 'zone': shows" in said
    assert "than the matrix of the certificate allows" in said


def test_a_slightly_different_p_is_not_found_and_the_note_says_so(drawn):
    path, certificate = drawn
    for column in certificate["mechanism"]["columns"].values():
        column["matrix"]["p"] = 0.39
    assert "certificate.guarantees.0.achieved" in told(audit_release(path, ASKED, certificate=certificate))
    certificate = paper(path, ASKED, mechanism=certificate["mechanism"])
    report = audit_release(path, ASKED, certificate=certificate)
    report.raise_if_failed()
    assert all("the audit" in given.note and "small change" in given.note for given in report.guarantees[:2])


def test_a_forged_prior_is_found(drawn):
    path, certificate = drawn
    certificate["mechanism"]["columns"]["ill"]["prior"] = [0.6, 0.4]
    said = told(audit_release(path, ASKED, certificate=certificate))
    assert "not as often as the prior and the matrix of the certificate lead to" in said


def test_a_rounded_prior_is_none(drawn):
    path, certificate = drawn
    certificate["mechanism"]["columns"]["ill"]["prior"] = [0.804, 0.196]
    certificate = paper(path, ASKED, mechanism=certificate["mechanism"])
    audit_release(path, ASKED, certificate=certificate).raise_if_failed()


def test_a_value_outside_the_domain(drawn):
    path, certificate = drawn
    with path.open("a", encoding="utf-8") as file:
        file.write("secretvalue,no\n")
    certificate["rows_out"] += 1
    certificate["release_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    said = told(audit_release(path, ASKED, certificate=certificate))
    assert "column 'zone': shows 1 values, in 1 records, that the certificate does not list" in said
    assert "secretvalue" not in said


def test_a_domain_that_is_too_large(drawn):
    """More values than there are would make the ratio smaller, but also every value rarer."""
    path, certificate = drawn
    certificate["mechanism"]["columns"]["zone"]["values"] += ["d"]
    assert "column 'zone': shows" in told(audit_release(path, ASKED, certificate=certificate))


def test_another_file(drawn):
    path, certificate = drawn
    with path.open("a", encoding="utf-8") as file:
        file.write("a,no\n")
    said = told(audit_release(path, ASKED, certificate=certificate))
    assert "is not the digest of this file" in said
    assert "rows_out" in said


def test_rows_that_are_no_distribution(drawn):
    path, certificate = drawn
    certificate["mechanism"]["columns"]["ill"]["matrix"] = {"rows": [[0.7, 0.2], [0.3, 0.7]]}
    assert "mechanism.columns.ill.matrix: has a row that is not a distribution: row 0" in told(
        audit_release(path, ASKED, certificate=certificate)
    )


def test_a_structural_zero_that_is_shown_after_all():
    table, facts = simple(zones="abc")
    facts["columns"]["zone"]["matrix"] = {"rows": [[0.5, 0.5, 0.0]] * 3}
    table = pa.table({"zone": ["a", "b"] * 499 + ["a", "c"], "ill": table["ill"]})
    assert "never shows" in told(audit(table, facts, rules(pk(2))))


@pytest.mark.parametrize(
    "mechanism",
    [
        {"columns": 3},
        {"columns": {"zone": 3, "ill": 3}},
        {"columns": {"zone": {"values": []}, "ill": {"values": ["no"]}}},
        {"columns": {"zone": {"values": ["a", "a"]}, "ill": {"values": ["no"]}}},
        {"columns": {"zone": {"values": [["a"]]}, "ill": {"values": ["no"]}}},
        {"joint": 3},
        {"joint": [{"columns": ["zone", "none"], "rows": []}]},
        {"strata": {"columns": ["zone"], "cells": [3]}},
    ],
    ids=str,
)
def test_a_damaged_mechanism_proves_nothing(drawn, mechanism):
    path, certificate = drawn
    certificate["mechanism"] |= mechanism
    report = audit_release(path, ASKED, certificate=certificate)
    assert not any(given.holds for given in report.guarantees[:2])
    assert "mechanism" in told(report)


@pytest.mark.parametrize("certificate", [None, {}, {"method": {"name": "pram"}}, {"mechanism": {}}], ids=str)
def test_without_a_certificate_nothing_can_be_said(drawn, certificate):
    with pytest.raises((DataError, AuditFailedError), match="without the certificate, which states how"):
        audit_release(drawn[0], ASKED, certificate=certificate)


def test_a_certificate_of_another_method_does_not_do(drawn):
    path, certificate = drawn
    for name in ("top-down", "dummies"):
        certificate["method"]["name"] = name
        assert f"--method {name}" in told(audit_release(path, ASKED, certificate=certificate))
        with pytest.raises(DataError):
            audit_release(path, ASKED, certificate=certificate, method=name)


def test_other_promises_are_not_proven_of_drawn_values(drawn):
    path, certificate = drawn
    with pytest.raises(DataError, match="proves only pk-anonymity and alpha-gamma; got k-anonymity"):
        audit_release(path, rules(pk(3), {"model": "k-anonymity", "k": 2}), certificate=certificate)


def test_columns_that_should_not_be_there(drawn):
    path, certificate = drawn
    policy = rules(pk(3), quasi=["zone"], sensitive=[], ill={"role": "identifier"})
    del certificate["mechanism"]["columns"]["ill"]
    report = audit_release(path, policy, certificate=certificate)
    assert [given.model for given in report.guarantees if not given.holds] == ["identifiers absent"]


def test_a_release_without_rows(tmp_path):
    path = write(tmp_path / "none.csv", ["zone", "ill"], [])
    with pytest.raises(DataError, match="has no rows"):
        audit(path, simple()[1], rules(pk(2)))


def test_lists_are_no_single_values():
    table, facts = simple()
    lists = table.set_column(0, "zone", pa.array([["a"]] * 1000))
    with pytest.raises(DataError, match="holds lists"):
        audit(lists, facts, rules(pk(2)))


@pytest.mark.parametrize(
    "rows", [rows_of(3, 0.4), [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]], ids=["even", "any"]
)
def test_what_nobody_has_is_neither_a_truth_nor_believed(rows):
    """Without its row and its share, the others are believed as before."""
    prior = [0.7, 0.0, 0.3]
    there = [0, 2]
    slow = believed([prior[t] for t in there], [rows[t] for t in there])
    assert read_rows(rows, 3).beliefs(prior) == pytest.approx(slow, abs=1e-12)


# ---- what the method makes


def people(rows=4000):
    chance = random.Random(3)
    sex = [chance.choice("fm") for _ in range(rows)]
    region = [chance.choice("ns") for _ in range(rows)]
    return pa.table(
        {
            "age": [chance.choice([20, 30, 40, None] if side == "n" else [30, 40, None]) for side in region],
            "weight": [chance.choice([0.1, 2.5, -1.0]) for _ in range(rows)],
            "sex": sex,
            "child": ["yes" if each == "f" and chance.random() < 0.3 else "no" for each in sex],
            "region": region,
            "ill": chance.choices(["flu", "cold", None, "ulcer"], [5, 3, 1, 1], k=rows),
        }
    )


MADE = {
    "uniform": {},
    "invariant": {"kind": "invariant"},
    "strata": {"strata": ["region"]},
    "joint": {"joint": [["sex", "child"]], "never": [{"sex": "m", "child": "yes"}]},
    "limited and joint": {"joint": [["sex", "ill"]]},
    "never by a column that stays": {"never": [{"region": "s", "age": 20}]},
    "a matrix": {"matrices": {"sex": {"f": {"f": 0.6, "m": 0.4}, "m": {"f": 0.3, "m": 0.7}}}},
    "per column": {"p": "per-column"},
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("case", MADE)
def test_what_the_method_promises_is_what_the_audit_finds(tmp_path, case, ending):
    """The p that was calibrated holds here, too, and Pk by no more than a last digit where it binds."""
    policy = rules(
        pk(3),
        limits(alpha=0.9, gamma=0.001),
        quasi=("age", "sex", "child", "weight"),
        region={"role": "insensitive"},
        method=MADE[case],
    )
    path = tmp_path / f"release.{ending}"
    release = sudare.anonymize(people(), policy, out=path, seed=1)
    report = sudare.audit(path, policy)
    report.raise_if_failed()
    assert release.certificate["mechanism"]["calibration"]["binding"] == "pk"
    assert 3 <= report.guarantees[0].achieved < 3.01  # what is kept was rounded down
    assert set(report.guarantees[1].achieved) == {"alpha", "gamma", "one value"}


def test_chance_alone_raises_no_alarm():
    policy = rules(pk(3), limits(), quasi=("age", "sex"), sensitive=("ill",))
    table = people().select(["age", "sex", "ill"])
    for seed in range(25):
        sudare.anonymize(table.slice(0, 200 + 100 * seed), policy, seed=seed)


def test_columns_that_were_left_as_they_are_show_combinations_that_never_occur(tmp_path):
    """With equally frequent values, or matrices that leave frequencies as they are, one column alone shows nothing."""
    chance = random.Random(3)
    values = {"zone": ["a", "b", "c", "d"], "ill": ["no", "yes", "some", "much"]}
    policy, facts_of = rules(pk(3), quasi=["zone"], sensitive=["ill"]), uniform(0.2, values)

    def keep(value, domain):
        return value if chance.random() < 0.2 else chance.choice(domain)

    truth = [chance.randrange(4) for _ in range(8000)]
    left = [(values["zone"][n], values["ill"][n]) for n in truth]
    drawn = [(keep(zone, values["zone"]), keep(ill, values["ill"])) for zone, ill in left]
    for rows, right in ((drawn, True), (left, False)):
        path = write(tmp_path / "release.csv", ["zone", "ill"], rows)
        report = audit_release(path, policy, certificate=paper(path, policy, mechanism=facts_of))
        assert report.passed == right
    assert "combinations more or less often" in told(report)
