"""Drawing sets and codes: against slow versions that read the same words, and by how often things are drawn."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels import random_cells


def words_of(seed, count):
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32)


def fits(counts, probabilities):
    """Whether counts are as probabilities say, by a chi-square test at about five standard deviations."""
    counts, expected = np.asarray(counts, float), np.asarray(probabilities, float) * np.sum(counts)
    assert (counts[expected == 0] == 0).all()
    inside = expected > 0
    assert expected[inside].min() > 5, "too few draws for the test"
    figure = ((counts[inside] - expected[inside]) ** 2 / expected[inside]).sum()
    freedom = np.count_nonzero(inside) - 1
    return figure < freedom + 5 * math.sqrt(2 * freedom) + 10


def in_a_word(codes, values, plan, words, lines):
    return random_cells.draw_in_a_word(codes, values, plan, words, lines)


def as_bits(codes, values, plan, words, lines):
    return random_cells.draw_as_bits(codes, values, plan, words, lines)


def as_lists(codes, values, plan, words, lines):
    return random_cells.draw_as_lists(codes, plan, words, lines)


def naive_set(truth, values, plan, words):
    """Floyd's draw, with whole numbers of any size, from an iterator over words."""
    drawn, first = [], 0
    for end in plan.ends.tolist():
        bounds = plan.bounds[first:end].tolist()
        product = math.prod(bounds)
        while True:
            number = int(next(words)) * product
            if number % 2**32 >= 2**32 % product:
                break
        number //= 2**32  # uniform below the product: the digits of a number with mixed radix
        digits = []
        for bound in reversed(bounds):
            number, digit = divmod(number, bound)
            digits.append(digit)
        drawn += reversed(digits)
        first = end
    chosen = set()
    for number, bound in zip(drawn, plan.bounds.tolist(), strict=True):
        chosen.add(bound - 1 if number in chosen else number)
    if plan.inverse:
        chosen = set(range(values - 1)) - chosen
    return sorted({truth} | {code + (code >= truth) for code in chosen})


@st.composite
def domains(draw):
    values = draw(st.one_of(st.integers(2, 70), st.sampled_from([129, 4096, 4097, 100_000, 5_000_000])))
    width = draw(st.integers(1, min(values - 1, 40)))
    codes = draw(st.lists(st.integers(0, values - 1), min_size=1, max_size=6))
    return values, width, codes


@settings(deadline=None, max_examples=150)
@given(domains(), st.integers(0, 1 << 30))
def test_sets_are_those_of_the_slow_version(domain, seed):
    values, width, codes = domain
    plan = random_cells.plan_sets(values, width)
    words = words_of(seed, 4 * len(codes) * width + 100)
    expected = [naive_set(code, values, plan, stream) for stream in [iter(words)] for code in codes]
    ways = [as_lists, as_bits] if not plan.inverse else []
    ways += [in_a_word] if values <= 64 else []
    for way in ways:
        lines = np.zeros((len(codes), width), np.uint32)
        done, used = way(np.array(codes, np.uint32), values, plan, words, lines)
        assert done == len(codes)
        assert used <= len(words)
        assert lines.tolist() == expected
    lines = np.zeros((len(codes), width), np.uint32)
    random_cells.draw_sets(np.array(codes, np.uint32), values, plan, words, lines)
    assert lines.tolist() == expected


@pytest.mark.parametrize(
    ("way", "values", "width"),
    [
        (in_a_word, 2, 1),
        (in_a_word, 6, 3),
        (in_a_word, 7, 6),
        (in_a_word, 9, 6),
        (as_bits, 6, 3),
        (as_bits, 8, 4),
        (as_lists, 6, 3),
        (as_lists, 8, 4),
    ],
)
def test_every_set_with_the_truth_is_equally_likely(way, values, width):
    rows, plan = 40_000, random_cells.plan_sets(values, width)
    for truth in (0, values // 2, values - 1):
        codes, lines = np.full(rows, truth, np.uint32), np.zeros((rows, width), np.uint32)
        done, _ = way(codes, values, plan, words_of(truth, rows * width * 2), lines)
        assert done == rows
        found = Counter(map(tuple, lines.tolist()))
        every = [chosen for chosen in itertools.combinations(range(values), width) if truth in chosen]
        assert set(found) <= set(every)
        assert fits([found[chosen] for chosen in every], np.full(len(every), 1 / len(every)))


@pytest.mark.parametrize(("values", "width"), [(50, 10), (64, 63), (64, 2), (300, 20), (200_000, 10)])
def test_every_dummy_is_equally_likely(values, width):
    rows, plan = 20_000, random_cells.plan_sets(values, width)
    truth = values // 3
    lines = np.zeros((rows, width), np.uint32)
    done, _ = random_cells.draw_sets(
        np.full(rows, truth, np.uint32), values, plan, words_of(1, rows * 2 * (len(plan.ends) + 1)), lines
    )
    assert done == rows
    assert (lines[:, 1:] > lines[:, :-1]).all()
    assert (lines == truth).any(axis=1).all()
    others = lines[lines != truth].astype(np.int64)
    counts = np.bincount(others - (others > truth), minlength=values - 1)
    if values > 1000:
        counts = counts[: 100 * (len(counts) // 100)].reshape(100, -1).sum(axis=1)
    assert fits(counts, np.full(len(counts), 1 / len(counts)))


@pytest.mark.parametrize("values", [1, 2, 50, 64, 65, 1000])
def test_a_set_of_all_values_takes_no_words(values):
    lines = np.zeros((3, values), np.uint32)
    plan = random_cells.plan_sets(values, values)
    codes = np.array([0, values - 1, values // 2], np.uint32)
    assert random_cells.draw_sets(codes, values, plan, np.empty(0, np.uint32), lines) == (3, 0)
    assert lines.tolist() == 3 * [list(range(values))]


@pytest.mark.parametrize(("values", "width"), [(3, 4), (3, 0), (1 << 31, 2)])
def test_impossible_sets_are_refused(values, width):
    with pytest.raises(ValueError, match="sets of"):
        random_cells.plan_sets(values, width)


def test_a_word_is_not_asked_for_too_much():
    for values, width in [(50, 10), (64, 33), (1000, 30), (1 << 30, 5)]:
        plan = random_cells.plan_sets(values, width)
        first = 0
        for end, least in zip(plan.ends.tolist(), plan.least.tolist(), strict=True):
            product = math.prod(plan.bounds[first:end].tolist())
            assert least == (1 << 32) % product
            assert product <= 1 << 28 or end == first + 1
            first = end
        assert first == len(plan.bounds)


def weighted_cases():
    return [([1.0, 1.0, 1.0, 1.0], 2), ([5.0, 0.2, 1.0, 3.0, 0.7], 3), ([0.9, 0.05, 0.03, 0.02], 3), ([1.0, 9.0], 2)]


@pytest.mark.parametrize(("weights", "width"), weighted_cases())
def test_sets_are_as_likely_as_the_product_of_the_weights(weights, width):
    rows, tables = 60_000, random_cells.weigh_sets(np.array(weights), width)
    factors = np.exp(random_cells.log_factors(np.array(weights), width))
    for truth in range(len(weights)):
        codes, lines = np.full(rows, truth, np.uint32), np.zeros((rows, width), np.uint32)
        done, used = random_cells.draw_weighted(codes, tables, words_of(truth, 2 * rows * width), lines)
        assert (done, used) == (rows, 2 * rows * width)
        found = Counter(map(tuple, lines.tolist()))
        every = [chosen for chosen in itertools.combinations(range(len(weights)), width) if truth in chosen]
        assert set(found) <= set(every)
        likely = np.array([math.prod(weights[code] for code in chosen if code != truth) for chosen in every])
        assert fits([found[chosen] for chosen in every], likely / likely.sum())
        products = [factors[truth] * math.prod(weights[code] for code in chosen) for chosen in every]
        assert products == pytest.approx(likely / likely.sum(), rel=1e-12)


def test_a_set_of_all_values_with_weights():
    lines = np.zeros((5, 5), np.uint32)
    tables = random_cells.weigh_sets(np.array([1e-9, 1.0, 5.0, 1e9, 0.1]), 5)
    random_cells.draw_weighted(np.arange(5, dtype=np.uint32), tables, words_of(0, 50), lines)
    assert lines.tolist() == 5 * [list(range(5))]


def test_factors_are_exact_where_weights_are_far_apart():
    weights = [Fraction(1, 10 ** (place % 9)) for place in range(30)]
    found = random_cells.log_factors(np.array(weights, float), 10)
    for truth in range(30):
        sums = [Fraction(1)] + [Fraction(0)] * 9
        for place, weight in enumerate(weights):
            if place != truth:
                sums = [sums[0]] + [sums[degree] + weight * sums[degree - 1] for degree in range(1, 10)]
        exact = weights[truth] * sums[9]
        assert found[truth] == pytest.approx(math.log(exact.denominator) - math.log(exact.numerator), abs=1e-11)


def test_factors_of_many_values_neither_overflow_nor_underflow():
    weights = 1.0 / np.arange(1, 5001) ** 2
    width = 400
    logs = -random_cells.log_factors(weights, width)  # log w_t e(all but t): summed up over t, l times e of degree l
    whole = random_cells.weigh_sets(weights, width + 1).before[width, -1]
    most = logs.max()
    assert most + math.log(np.exp(logs - most).sum()) == pytest.approx(whole + math.log(width), abs=1e-9)


def test_fractions_are_above_0_and_at_most_1():
    words = np.array([0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 1 << 31, 0], np.uint32)
    assert random_cells.fraction(words, 0) == 2.0**-53
    assert random_cells.fraction(words, 2) == 1.0
    assert random_cells.fraction(words, 4) == 0.5 + 2.0**-53


# ---- codes


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.99, 1.0])
@pytest.mark.parametrize("values", [1, 2, 7, 300])
def test_uniform_draws_keep_as_often_as_they_shall(keep, values):
    rows, truth = 60_000, values - 1
    codes, drawn = np.full(rows, truth, np.uint32), np.zeros(rows, np.uint32)
    kept = random_cells.units(np.float64(keep))[()]
    done, _ = random_cells.draw_uniform(codes, values, kept, words_of(3, 3 * rows), drawn)
    assert done == rows
    shares = np.full(values, (1 - keep) / values)
    shares[truth] += keep
    counts = np.bincount(drawn, minlength=values)
    if keep == 0.99 and values == 300:
        counts, shares = np.array([counts[:-1].sum(), counts[-1]]), np.array([shares[:-1].sum(), shares[-1]])
    assert fits(counts, shares)


MATRICES = [
    [[1.0]],
    [[0.0, 1.0], [0.25, 0.75]],
    [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.1, 0.2, 0.7]],
    [[0.2] * 5, [0, 0, 0, 0, 1], [0.96, 0.01, 0.01, 0.01, 0.01], [0.3, 0, 0.3, 0, 0.4], [1 / 3, 1 / 3, 0, 1 / 3, 0]],
]


@pytest.mark.parametrize("matrix", MATRICES, ids=len)
def test_lines_of_a_matrix_come_out_and_what_is_0_never_does(matrix):
    rows, alias = 60_000, random_cells.alias_of(np.array(matrix, float))
    for truth, shares in enumerate(matrix):
        codes, drawn = np.full(rows, truth, np.uint32), np.zeros(rows, np.uint32)
        done, used = random_cells.draw_by_matrix(codes, alias, words_of(truth, rows + 20), drawn)
        assert done == rows
        assert used >= rows
        assert fits(np.bincount(drawn, minlength=len(matrix)), shares)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from([0.0, 1e-12, 1e-3, 0.3, 1.0, 50.0]), min_size=6, max_size=6), min_size=1))
def test_tables_hold_the_very_probabilities(lines):
    lines = [line for line in lines if sum(line)] or [[1.0] * 6]
    matrix = np.array(lines) / np.array(lines).sum(axis=1, keepdims=True)
    alias = random_cells.alias_of(matrix)
    room = 1 << (63 - alias.bits)
    for number, line in enumerate(matrix.tolist()):
        mass = Counter()
        for slot, (own, other) in enumerate(zip(alias.own[number].tolist(), alias.other[number].tolist(), strict=True)):
            assert own <= room
            mass[slot] += own
            mass[other] += room - own
        assert sum(mass.values()) == 1 << 63
        for value, share in enumerate(line):
            assert (mass[value] == 0) == (share == 0)
            assert abs(mass[value] - share * 2**63) < 2**14  # the largest takes what rounding leaves
        assert all(mass[value] == 0 for value in range(6, 8))


def test_a_word_at_the_limit_is_decided_by_the_next():
    # kept with probability 1/2 + 2^-63: of the words that begin with 1 0 0 ..., only the first of all
    keep = np.uint64((1 << 62) + 1)
    codes = np.zeros(4, np.uint32)
    drawn = np.full(4, 9, np.uint32)
    top, last = 1 << 31, (1 << 32) - 1
    words = np.array([top - 1, top, 1, top, 2, last, top + 1, last], np.uint32)
    assert random_cells.draw_uniform(codes, 3, keep, words, drawn) == (4, 8)
    assert drawn.tolist() == [0, 0, 2, 2]
    # the second of two slots is full but for 2^13 units, which show the first value
    alias = random_cells.alias_of(np.array([[0.5 + 2.0**-50, 0.5 - 2.0**-50]]))
    words = np.array([0, top, last, 0, last, last], np.uint32)
    assert random_cells.draw_by_matrix(codes, alias, words, drawn) == (4, 6)
    assert drawn.tolist() == [0, 1, 1, 0]


# ---- words that end


def in_pieces(step, codes, lines, words, size):
    """Draw with a few words more each time."""
    done, begin, end = 0, 0, 0
    while done < len(codes):
        end = min(end + size, len(words))
        made, used = step(codes[done:], words[begin:end], lines[done:])
        done, begin = done + made, begin + used
        assert begin <= end
    return begin


WAYS = {
    "word": (lambda c, w, x: random_cells.draw_sets(c, 50, random_cells.plan_sets(50, 10), w, x), 50, 10),
    "bits": (lambda c, w, x: random_cells.draw_sets(c, 90, random_cells.plan_sets(90, 70), w, x), 90, 70),
    "lists": (lambda c, w, x: random_cells.draw_sets(c, 90_000, random_cells.plan_sets(90_000, 4), w, x), 90_000, 4),
    "weights": (
        lambda c, w, x: random_cells.draw_weighted(c, random_cells.weigh_sets(np.arange(1.0, 9), 4), w, x),
        8,
        4,
    ),
    "uniform": (lambda c, w, x: random_cells.draw_uniform(c, 5, np.uint64(1 << 61), w, x), 5, None),
    "matrix": (
        lambda c, w, x: random_cells.draw_by_matrix(c, random_cells.alias_of(np.full((5, 5), 0.2)), w, x),
        5,
        None,
    ),
}


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("name", WAYS)
def test_it_makes_no_difference_where_words_end(name, size):
    step, values, width = WAYS[name]
    codes = np.random.default_rng(2).integers(0, values, 40).astype(np.uint32)
    words = words_of(9, 8000)
    whole, parts = (np.zeros((40, width) if width else 40, np.uint32) for _ in range(2))
    done, used = step(codes, words, whole)
    assert done == 40
    assert in_pieces(step, codes, parts, words, size) == used
    assert (whole == parts).all()
