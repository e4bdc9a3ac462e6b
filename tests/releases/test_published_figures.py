"""What an intruder can solve for in the figures of a certificate: not the value of somebody who was left out."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import sudare

OUTLIER = 1_234_567


def incomes(outlier=OUTLIER):
    random = np.random.default_rng(3)
    return pa.table({"income": np.append(random.integers(0, 90_000, 400), outlier), "sex": ["F", "M"] * 200 + ["F"]})


def policy(**more):
    columns = {"income": {"role": "quasi"}, "sex": {"role": "insensitive"}}
    return {"columns": columns, "require": [{"model": "k-anonymity", "k": 5}], **more}


def widths(cells):
    found = []
    for cell in cells:
        low, _, high = cell.strip("[]").partition(", ")
        found.append(float(high or low) - float(low))
    return np.array(found)


def test_the_range_of_the_source_does_not_follow_from_the_loss():
    release = sudare.anonymize(incomes(), policy(suppression={"limit": 0.03}))
    suppressed = release.certificate["suppressed"]
    cells = release.data["income"].to_pylist()
    assert suppressed > 0
    assert str(OUTLIER) not in json.dumps(release.certificate)
    visible = widths(cells).sum()
    assert "uncertainty" not in release.loss
    for figures in (release.loss, release.certificate["loss_by_column"]["income"]):
        for name, figure in figures.items():
            if name in ("discernibility", "average_class_size"):
                continue
            # as in: (range * lost + visible) / (range * rows) = figure
            for share in (figure, 1 - figure):
                solved = visible / max(share * 401 - suppressed, 1e-9)
                assert not 0.9 * OUTLIER < solved < 1.1 * OUTLIER, name


def everything_but_times(certificate):
    volatile = ("seconds", "release_sha256", "date")
    return {key: value for key, value in certificate.items() if key not in volatile}


@pytest.mark.parametrize(
    "more",
    [
        {"suppression": {"limit": 0.03}},
        {"suppression": {"limit": 0.03, "records": "masked"}, "method": {"name": "full-domain"}},
        {"method": {"name": "full-domain"}},
        {"method": {"name": "mondrian"}},
    ],
)
def test_a_certificate_is_the_same_whatever_the_hidden_value_is(more):
    one = sudare.anonymize(incomes(), policy(**more), seed=1)
    other = sudare.anonymize(incomes(1_911_911), policy(**more), seed=1)
    assert one.data.equals(other.data)
    assert everything_but_times(one.certificate) == everything_but_times(other.certificate)


def test_losses_are_shares_of_what_the_release_shows():
    release = sudare.anonymize(incomes(), policy(suppression={"limit": 0.03}))
    cells = release.data["income"].to_pylist()
    ends = [float(end) for cell in cells for end in cell.strip("[]").split(", ")]
    rows, lost = release.certificate["rows_in"], release.certificate["suppressed"]
    expected = (widths(cells).sum() / (max(ends) - min(ends)) + lost) / rows
    assert release.loss["gcp"] == pytest.approx(expected, abs=1e-4)


def test_how_many_items_one_person_hides_does_not_show():
    def made(many):
        sets = [["a", "b"]] * 20 + [["a", *(f"x{number}" for number in range(many))]]
        given = {
            "columns": {"items": {"role": "quasi", "kind": "items"}},
            "require": [{"model": "k-anonymity", "k": 3}],
        }
        return sudare.anonymize(pa.table({"items": sets}), given | {"suppression": {"limit": 0.2}}, seed=1)

    one, other = made(500), made(700)
    assert one.data.equals(other.data)
    assert everything_but_times(one.certificate) == everything_but_times(other.certificate)
