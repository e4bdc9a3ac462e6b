"""Sets that were not drawn at random: what of that a release shows, and true draws that are not refused."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.audits import audit_release
from sudare.audits.dummy_draws import SetCounts, doubts
from sudare.policy import Policy

from .tables import paper, write

VALUES = [f"v{n}" for n in range(8)]


def rules(l=3, **columns):  # noqa: E741 - the literature's letter
    return Policy.parse(
        {
            "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, **columns},
            "require": [{"model": "l-diversity", "l": l, "column": "ill"}],
            "method": {"name": "dummies"},
        }
    )


def told(l=3, **more):  # noqa: E741
    return {"columns": {"ill": {"l": l, "values": VALUES, "frequencies": "uniform", **more}}, "randomness": "a coin"}


def truths(rows, seed=1):
    """Truths that are far from equally likely."""
    return random.Random(seed).choices(range(len(VALUES)), weights=range(1, 9), k=rows)


def drawn(truth, chance, l=3):  # noqa: E741
    return sorted([truth, *chance.sample([v for v in range(len(VALUES)) if v != truth], l - 1)])


def audited(sets, tmp_path, policy=None, mechanism=None):
    """Audit sets of codes, with a certificate that says what the audit finds."""
    table = pa.table({"age": range(len(sets)), "ill": [[VALUES[code] for code in one] for one in sets]})
    pq.write_table(table, tmp_path / "r.parquet")
    policy = policy or rules()
    said = paper(tmp_path / "r.parquet", policy, mechanism=mechanism or told())
    return audit_release(tmp_path / "r.parquet", policy, certificate=said)


def refused(report, words):
    assert not report.passed
    assert words in str(report.problems)
    return True


@pytest.mark.parametrize("seed", range(5))
def test_true_draws_are_not_refused(seed, tmp_path):
    chance = random.Random(seed)
    report = audited([drawn(truth, chance) for truth in truths(4000, seed)], tmp_path)
    report.raise_if_failed()


def test_the_truth_first_is_found(tmp_path):
    chance, sets = random.Random(2), []
    for truth in truths(50):
        others = [code for code in drawn(truth, chance) if code != truth]
        sets.append([truth, *others])
    assert refused(audited(sets, tmp_path), "order")


def test_one_set_in_another_order_is_enough(tmp_path):
    chance = random.Random(2)
    sets = [drawn(truth, chance) for truth in truths(500)]
    audited(sets, tmp_path).raise_if_failed()
    sets[77] = sets[77][::-1]
    assert refused(audited(sets, tmp_path), "order")


def test_numbers_are_in_the_order_of_numbers(tmp_path):
    mechanism = told(2) | {"columns": {"ill": {"l": 2, "values": [2, 9, 10], "frequencies": "uniform"}}}
    for cells, right in ((["2,9", "9,10", "2,10"], True), (["9,2", "9,10", "2,10"], False), (["2,9", "10,9"], False)):
        path = write(tmp_path / "r.csv", ["age", "ill"], list(enumerate(cells)))
        report = audit_release(path, rules(2), certificate=paper(path, rules(2), mechanism=mechanism))
        assert report.passed == right, cells


def test_neighbours_for_dummies_are_found(tmp_path):
    sets = [sorted((truth + step) % 8 for step in range(3)) for truth in truths(2000)]
    assert refused(audited(sets, tmp_path), "random dummies")


def test_neighbours_are_found_where_all_values_are_equally_frequent(tmp_path):
    """How often each is shown tells nothing here, but how often two are."""
    sets = [sorted((truth % 8 + step) % 8 for step in range(3)) for truth in range(2000)]
    assert refused(audited(sets, tmp_path), "pairs of values")


def test_the_same_dummies_for_everybody_are_found(tmp_path):
    sets = [sorted({truth, 0, 1}) if truth > 1 else [0, 1, 2] for truth in truths(1500)]
    assert refused(audited(sets, tmp_path), "less often")


def test_the_same_dummies_for_the_same_value_are_found(tmp_path):
    chance = random.Random(4)
    chosen = {truth: drawn(truth, chance) for truth in range(8)}
    assert refused(audited([chosen[truth] for truth in truths(4000)], tmp_path), "random dummies")


def test_what_is_not_independent_is_not_looked_at_if_the_policy_names_a_subject(tmp_path):
    chance = random.Random(4)
    chosen = {truth: drawn(truth, chance) for truth in range(8)}
    sets = [chosen[truth] for truth in truths(4000)]
    policy = rules(who={"role": "subject"})
    audited(sets, tmp_path, policy, told(repeated=True)).raise_if_failed()
    assert refused(audited(sets, tmp_path, mechanism=told(repeated=True)), "names no subject")


def test_the_means_are_those_of_the_draw():
    """All sets of two truths, each as often as it is likely: every sum is 0."""
    from itertools import combinations

    found = SetCounts(width=3)
    for truth, weight in ((0, 3), (5, 11)):
        for others in combinations([v for v in range(8) if v != truth], 2):
            one = [VALUES[v] for v in sorted((truth, *others))]
            found.rows += weight
            for value in one:
                found.alone[value] += weight
            for pair in combinations(one, 2):
                found.together[pair] += weight
    n, q = found.rows, 2 / 7
    r = q / 6
    c = (q - r) / (1 - q)
    for a, b in combinations(VALUES, 2):
        mean = c * (found.alone[a] + found.alone[b] - 2 * n * q) + n * r
        assert math.isclose(found.together[a, b], mean)
    assert doubts(found, "ill", told()["columns"]["ill"], people=False) == []


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("frequencies", ["uniform", "observed"])
def test_releases_as_they_are_made_pass(ending, frequencies, tmp_path):
    chance = random.Random(3)
    data = pa.table(
        {"age": range(3000), "ill": chance.choices([1, 2, 3, 10, 20, None], weights=[9, 5, 3, 2, 1, 1], k=3000)}
    )
    policy = {
        "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 3, "column": "ill"}],
        "method": {"name": "dummies", "frequencies": frequencies},
    }
    sudare.anonymize(data, policy, out=tmp_path / f"r{ending}")
    sudare.audit(tmp_path / f"r{ending}", policy).raise_if_failed()
