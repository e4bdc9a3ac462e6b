"""Top-down specialization: the worked example of the paper, to the four digits it gives (it cuts off the rest)."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.methods.tds.cuts import Cut
from sudare.methods.tds.top_down_specialization import tds
from sudare.metrics import information
from sudare.models import KAnonymity, Requirements
from sudare.sources.encoded_table import encode

# sex, job, salary, records of class Y and N
RECORDS = [
    ("Male", "Janitor", 30, 0, 3), ("Male", "Mover", 32, 0, 4), ("Male", "Carpenter", 35, 2, 3),
    ("Female", "Technician", 37, 3, 1), ("Female", "Manager", 42, 4, 2), ("Female", "Manager", 44, 3, 0),
    ("Male", "Accountant", 44, 3, 0), ("Female", "Accountant", 44, 3, 0), ("Male", "Lawyer", 44, 2, 0),
    ("Female", "Lawyer", 44, 1, 0),
]  # fmt: skip
JOBS = {
    "ANY": {
        "Blue-collar": {"Non-Technical": ["Janitor", "Mover"], "Technical": ["Carpenter", "Technician"]},
        "White-collar": {"Manager": ["Manager"], "Professional": ["Accountant", "Lawyer"]},
    }
}
SEXES = {"ANY": ["Male", "Female"]}
W = 0.98

COLLARS = {"Janitor": "Blue", "Mover": "Blue", "Carpenter": "Blue", "Technician": "Blue"}
TECHNICAL = {"Janitor": "Non-Technical", "Mover": "Non-Technical", "Carpenter": "Technical", "Technician": "Technical"}
PROFESSIONAL = TECHNICAL | {"Manager": "Manager", "Accountant": "Professional", "Lawyer": "Professional"}


def raw(value):
    return value


def anything(value):
    return "ANY"


def by(groups):
    return lambda job: groups.get(job, "White")


def below(*bounds):
    return lambda salary: sum(salary >= bound for bound in bounds)


# the cut, and what the paper says of it: ClassInfo, SplitInfo, TableInfo
TABLE = [
    ("raw values", raw, raw, raw, "0.4002", "3.2010", "0.4562"),
    ("everything", anything, anything, anything, "0.9596", "0.0000", "0.9404"),
    ("T1", anything, anything, below(37), "0.6012", "0.9366", "0.6079"),
    ("T2", anything, by(COLLARS), below(37), "0.5912", "1.3792", "0.6070"),
    ("T3", anything, by(TECHNICAL), below(37), "0.5046", "1.7251", "0.5290"),
    ("T4", anything, by(TECHNICAL), below(35, 37), "0.5046", "1.7251", "0.5290"),
    ("T5", raw, by(TECHNICAL), below(35, 37), "0.4750", "2.1763", "0.5090"),
    ("Tfinal", raw, by(PROFESSIONAL), below(35, 37), "0.4405", "2.5168", "0.4820"),
]


def rows():
    for sex, job, salary, yes, no in RECORDS:
        yield from [(sex, job, salary, "Y")] * yes
        yield from [(sex, job, salary, "N")] * no


@pytest.fixture(scope="module")
def table():
    names = ("sex", "job", "salary", "class")
    data = pa.table(dict(zip(names, map(list, zip(*rows(), strict=True)), strict=True)))
    policy = {
        "columns": {
            "sex": {"role": "quasi", "hierarchy": {"tree": SEXES}},
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "salary": {"role": "quasi", "kind": "numeric"},
            "class": {"role": "insensitive"},
        },
        "require": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "tds", "target": "class"},
    }
    return encode(data, sudare.load_policy(policy))


def cut_off(figure: float) -> str:
    return f"{math.floor(figure * 10_000 + 1e-9) / 10_000:.4f}"


@pytest.mark.parametrize(("cut", "sex", "job", "salary", "class_info", "split_info", "table_info"), TABLE)
def test_the_table_of_the_paper(table, cut, sex, job, salary, class_info, split_info, table_info):
    shown = [(sex(a), job(b), salary(c)) for a, b, c, _ in rows()]
    numbers = {tuple_: number for number, tuple_ in enumerate(dict.fromkeys(shown))}
    found = information(np.array([numbers[tuple_] for tuple_ in shown]), table.target)
    figures = (found.class_info, found.split_info, found.table_info(W))
    assert tuple(map(cut_off, figures)) == (class_info, split_info, table_info)


def test_the_first_score_and_the_first_cut_of_the_salary(table):
    cut = Cut(table, Requirements((KAnonymity(2),)), W)
    assert cut_off(cut.information) == "0.9404"
    best = cut.ranked()[0]
    assert cut.columns[best[0]].name == "salary"
    assert cut_off(cut.open[best]) == "0.3325"
    cut.specialize(best)
    assert cut_off(cut.information) == "0.6079"
    salary = cut.columns[best[0]]
    shown = dict(zip(salary.values.to_pylist(), cut.trees[best[0]].now.tolist(), strict=True))
    assert shown[30] == shown[32] == shown[35] != shown[37] == shown[42] == shown[44]


def test_the_older_score_is_gain_by_split_information(table):
    cut = Cut(table, Requirements((KAnonymity(2),)), W, "gain-ratio")
    # sex by hand: Y and N of 17 men and 17 women
    men, women = 17, 17
    counts = {"Male": (7, 10), "Female": (14, 3)}

    def doubt(yes, no):
        return -sum(n / (yes + no) * math.log2(n / (yes + no)) for n in (yes, no) if n)

    assert sum(counts["Male"]) == men
    assert sum(counts["Female"]) == women
    gain = doubt(21, 13) - men / 34 * doubt(*counts["Male"]) - women / 34 * doubt(*counts["Female"])
    assert cut.open[0, 0] == pytest.approx(gain / doubt(men, women))


def test_the_score_of_icde_2005_by_hand(table):
    """Information gain by what the smallest group loses: 34 records are in one group at first."""
    k = Requirements((KAnonymity(2),))
    plain, lost = Cut(table, k, W, "info-gain"), Cut(table, k, W, "anony-loss")
    doubt = {counts: -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts if n) for counts in COUNTS}
    gains = {
        "sex": doubt[21, 13] - 17 / 34 * doubt[7, 10] - 17 / 34 * doubt[14, 3],
        "job": doubt[21, 13] - 16 / 34 * doubt[5, 11] - 18 / 34 * doubt[16, 2],
        "salary": doubt[21, 13] - 12 / 34 * doubt[2, 10] - 22 / 34 * doubt[19, 3],
    }
    for index, (name, left) in enumerate((("sex", 17), ("job", 16), ("salary", 12))):
        assert plain.scored((index, 0)) == pytest.approx(gains[name])
        assert lost.scored((index, 0)) == pytest.approx(gains[name] / (34 - left))
    # 0.3584 / 22 for the salary, 0.2715 / 18 for the job
    names = ("sex", "job", "salary")
    assert [cut_off(plain.scored((index, 0))) for index in (1, 2)] == ["0.2715", "0.3584"]
    assert [names[index] for index, _ in lost.ranked()] == ["salary", "job", "sex"]


COUNTS = [(21, 13), (7, 10), (14, 3), (5, 11), (16, 2), (2, 10), (19, 3)]
"""Records of class Y and N: all, men, women, blue and white collar, salaries below 37 and from there on."""


def test_only_subsets_with_the_column_lose_anonymity(table):
    """Sex is in one of two sets of columns, job in both, salary in none: then the gain itself is the score."""
    asked = Requirements((KAnonymity(2, columns=("sex", "job")), KAnonymity(3, columns=("job",))))
    plain, lost = (Cut(table, asked, W, score) for score in ("info-gain", "anony-loss"))
    assert lost.scored((0, 0)) == pytest.approx(plain.scored((0, 0)) / 17)
    assert lost.scored((1, 0)) == pytest.approx(plain.scored((1, 0)) / 18)
    assert lost.scored((2, 0)) == plain.scored((2, 0))


def test_subsets_have_a_k_of_their_own(table):
    several = Requirements((KAnonymity(8, columns=("sex", "job")), KAnonymity(12, columns=("salary",))))
    partition = tds(table, several, target="class")
    for names, k in ((("sex", "job"), 8), (("salary",), 12)):
        shown = np.stack([partition.cuts[name][table.quasi[name].codes] for name in names], axis=1)
        assert np.unique(shown, axis=0, return_counts=True)[1].min() >= k
    # all columns together may be in smaller groups than either asks for
    assert partition.sizes.min() < 8
