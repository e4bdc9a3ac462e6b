"""Blurring: whatever the table, no part of a report stands for fewer records than the threshold."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.policy import Policy
from sudare.reports.describe.category_ranks import ranked
from sudare.reports.describe.chart_axes import Axis, cut
from sudare.reports.describe.disclosure_control import Crowd, merged, threshold
from sudare.reports.describe.scales import before, scale_of
from sudare.table import encode_column


def column(cells, kind=None):
    return encode_column("x", pa.chunked_array([cells]), kind=kind)


def rules(*promises):
    return Policy.parse({"columns": {"a": {"role": "quasi"}, "b": {"role": "sensitive"}}, "require": list(promises)})


def test_the_threshold_is_the_largest_k():
    assert (
        threshold(
            rules(
                {"model": "k-anonymity", "k": 7}, {"model": "alpha-k-anonymity", "k": 12, "alpha": 0.5, "column": "b"}
            )
        )
        == 12
    )
    assert threshold(rules({"model": "k-anonymity", "k": 2})) == 3
    assert threshold(rules({"model": "l-diversity", "l": 4, "column": "b"})) == 10


def test_a_count_is_told_as_a_multiple_or_as_few():
    crowd = Crowd(1000, 10)
    assert [crowd.rounded(count) for count in (10, 14, 15, 1000)] == [10, 10, 20, 1000]
    assert crowd.share(3) is None
    assert crowd.share(0) == 0
    assert crowd.share(250) == 0.25


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 12))
def test_merged_bins_hold_a_crowd_each(heads, least):
    part = merged(np.array(heads), Crowd(sum(heads), least))
    assert part[0] == 0
    assert set(np.diff(part)) <= {0, 1}
    sums = np.bincount(part, heads)
    assert np.all(sums >= least) or len(sums) == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.integers(-500, 500), st.floats(-1e6, 1e6, allow_nan=False)), min_size=1, max_size=200
    ),
    st.integers(3, 12),
)
def test_bins_of_numbers_hold_a_crowd_and_show_no_end(cells, least):
    found = column(pa.array(cells, pa.float64()), "numeric")
    counts = np.bincount(found.codes, minlength=found.size)
    scale = scale_of(found, counts, Crowd(len(cells), least))
    if scale is None:
        return
    part = scale.of_code[found.codes]
    assert np.all(np.bincount(part[part >= 0], minlength=len(scale)) >= least)
    assert scale.labels[0].startswith(("below", "up to"))
    assert any(label.endswith("and more") for label in scale.labels[-2:])
    assert len(scale) <= 31
    assert abs(sum(before(scale, found, Crowd(len(cells), least))) - 1) < 1e-4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=1, max_size=120), st.integers(3, 12))
def test_parts_of_categories_hold_a_crowd(cells, least):
    found = column(pa.array(cells, pa.string()), "categorical")
    counts = np.bincount(found.codes, minlength=found.size)
    scale = scale_of(found, counts, Crowd(len(cells), least))
    if scale is None:
        return
    part = scale.of_code[found.codes]
    assert np.all(np.bincount(part[part >= 0], minlength=len(scale)) >= least)
    assert np.count_nonzero(part < 0) < least
    assert scale.few == bool(np.any(part < 0))


def test_three_unknown_do_not_make_half_of_all_people_vanish():
    cells = ["Female"] * 540 + ["Male"] * 460 + ["Unknown"] * 3
    found = column(pa.array(cells))
    counts = np.bincount(found.codes, minlength=found.size)
    scale = scale_of(found, counts, Crowd(len(cells), 5))
    assert scale.labels == ["Female", "Male"]
    assert scale.few
    assert before(scale, found, Crowd(len(cells), 5)) == [round(545 / 1005, 6), round(460 / 1005, 6)]


@given(st.integers(1, 4), st.integers(20, 200), st.integers(20, 200))
def test_how_many_are_not_shown_does_not_follow_from_what_is(few, women, men):
    """Whoever knows the number of all records finds the same shares whichever way they are divided."""
    crowd = Crowd(women + men + few, 5)
    told = []
    for unknown in (few, 0):
        cells = ["f"] * (women + few - unknown) + ["m"] * men + ["u"] * unknown
        found = column(pa.array(cells))
        scale = scale_of(found, np.bincount(found.codes, minlength=found.size), crowd)
        told.append(dict(zip(scale.labels, before(scale, found, crowd), strict=True)))
    assert women < men or told[0] == told[1]


def test_many_records_of_few_people_are_not_missed_in_a_sum():
    people = np.array([0] * 50 + list(range(1, 101)))
    found = column(pa.array(["rare"] * 50 + ["a"] * 60 + ["b"] * 40))
    scale = scale_of(found, np.bincount(found.codes, minlength=found.size), Crowd(150, 5, people))
    assert scale.labels == ["a", "all other values"]
    assert not scale.few


def test_bands_stand_in_their_order():
    bands = [f"[{10 * number}-{10 * number + 10})" for number in range(10)]
    cells = [band for place, band in enumerate(bands) for _ in range(10 + 7 * place % 40)] + [None] * 20
    found = column(pa.array(cells), "categorical")
    scale = scale_of(found, np.bincount(found.codes, minlength=found.size), Crowd(len(cells), 5))
    assert scale.labels == [*bands, "(missing)"]


@pytest.mark.parametrize(
    "labels",
    [
        ["<18", "18-24", "25-64", "65+"],
        ["under 5", "5 to 9", "10 to 19", "20 and more"],
        ["[0-25)", "[25-50)", "[100-125)", ">200"],
        ["1", "2", "10"],
        ["-5", "0.5", "1,5"],
        ["18 – 30 years", "31 – 40 years", "über 40"],
    ],
)
def test_bands_and_numbers_have_an_order(labels):
    mixed = labels[::-1]
    assert [mixed[place] for place in ranked(mixed)] == labels


def test_other_categories_have_the_order_that_is_given_or_none():
    assert ranked(["NO", ">30", "<30"]) is None
    assert ranked(["severe", "mild"], ["mild", "moderate", "severe"]) == [1, 0]
    assert ranked(["severe", "odd"], ["mild", "moderate", "severe"]) is None
    assert ranked([]) is None


def test_people_count_once_however_many_records_they_have():
    people = np.array([0] * 50 + list(range(1, 51)))
    found = column(pa.array(["secret"] * 50 + ["a", "b"] * 25))
    counts = np.bincount(found.codes, minlength=found.size)
    assert "secret" in scale_of(found, counts, Crowd(100, 5)).labels
    assert "secret" not in scale_of(found, counts, Crowd(100, 5, people)).labels


def test_text_is_not_shown_value_by_value():
    found = column(pa.array([f"note {n}" for n in range(201)] * 20))
    counts = np.bincount(found.codes, minlength=found.size)
    assert scale_of(found, counts, Crowd(4020, 5)) is None


def test_bins_begin_at_round_numbers():
    found = column(pa.array(np.arange(17, 91).repeat(20)), "numeric")
    counts = np.bincount(found.codes, minlength=found.size)
    bins = cut(Axis.of(found), counts, found.codes, Crowd(len(found), 10))
    assert bins.labels[0] == "up to 19"
    assert bins.labels[1] == "20 to 24"
    assert bins.labels[-1] == "90 and more"
    shares = bins.spread(np.array([20.0, 22.0]), np.array([29.0, 22.0]))
    assert shares[0, 1:3].tolist() == [0.5, 0.5]
    assert shares[1, 1] == 1
