"""What a report tells of the few records that are not in the release: nothing that subtracting could find."""

import json

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.releases.certificate import Certificate
from sudare.reports.describe.chart_axes import Axis, cut
from sudare.reports.describe.disclosure_control import Crowd
from sudare.reports.describe.exposure import blurred_risk
from sudare.reports.describe.losses import disclosed_share, published_items, published_losses
from sudare.table import encode_column

from .people import report_on

ROWS, LEAST = 300, 5
RULES = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric"},
        "town": {"role": "quasi"},
        "drugs": {"role": "quasi", "kind": "items"},
        "pay": {"role": "insensitive"},
        "city": {"role": "insensitive"},
        "flag": {"role": "sensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": LEAST, "columns": ["age", "town"]},
        {"model": "km-anonymity", "k": LEAST, "m": 1, "column": "drugs"},
    ],
    "suppression": {"limit": 0.02},
}


def people():
    """Return a table of which one record, far from all others, has to be left out."""
    draw = np.random.default_rng(4)
    age = draw.integers(20, 70, ROWS)
    pay = draw.integers(20_000, 90_000, ROWS)
    town = draw.choice(["Aburg", "Bstadt", "Cdorf"], ROWS).tolist()
    city = draw.choice(["Oslo", "Bergen"], ROWS).tolist()
    drugs = [draw.choice(["zinc", "statin", "insulin"], 2, replace=False).tolist() for _ in range(ROWS)]
    flag = ["n"] * ROWS
    flag[7] = flag[8] = flag[9] = "y"
    age[7], pay[7], town[7], drugs[7] = 117, 9_999_999, "Qville", ["Qitem"]
    return pa.table({"age": age, "town": town, "drugs": drugs, "pay": pay, "city": city, "flag": flag})


@pytest.fixture(scope="module")
def found():
    data = people()
    release = sudare.anonymize(data, RULES, seed=1)
    assert release.certificate["suppressed"] == 1
    return sudare.report(release, data, RULES).figures


def whole_steps(share, everybody):
    """Say whether a share is that of a multiple of the threshold, as far as three digits tell."""
    steps = share * everybody / LEAST
    return abs(steps - round(steps)) * LEAST / everybody <= 0.0006


def test_the_sensitive_value_of_the_one_left_out_does_not_follow(found):
    flag = next(each for each in found["risk"]["inference"] if each["target"] == "flag")
    for side in ("before", "after"):
        # 297 of 300 would say that the one record which the release lacks is one of the other three
        assert all(whole_steps(figure, ROWS) for figure in flag[side].values()), flag[side]
        assert flag[side]["low"] <= flag[side]["success"] <= flag[side]["high"]


def test_who_is_singled_out_is_rounded_like_a_count(found):
    told = found["risk"]["wp216"]["singling_out"]
    assert all(whole_steps(figure, ROWS) for side in told.values() for figure in side.values())
    assert whole_steps(found["risk"]["singled_out"]["before"]["share"], ROWS)


@pytest.mark.parametrize("alone", [1, 2, 3, 4])
def test_few_who_are_singled_out_look_all_the_same(alone):
    share = alone / ROWS
    one = {"above": share, "above_low": share / 2, "above_high": share * 1.5, "attacked": ROWS}
    told = blurred_risk({"wp216": {"singling_out": {"before": one, "after": None}}}, Crowd(ROWS, LEAST))
    before = told["wp216"]["singling_out"]["before"]
    assert before["above"] == pytest.approx(LEAST / ROWS, abs=1e-4)  # above nothing, and no small number
    assert before["above_low"] == 0


def test_the_number_of_records_does_not_follow_from_a_guess_among_them():
    one = {"success": 0.5, "low": 0.4, "high": 0.6, "baseline": 1 / 302}
    risk = {"before": {"linkage": {"linked": one}}, "after": {"linkage": {"linked": one}}}
    told = blurred_risk(risk, Crowd(302, LEAST))["linkage"]
    assert told["before"]["baseline"] == pytest.approx(1 / 300, abs=1e-5)
    assert told["after"]["baseline"] == pytest.approx(1 / 302, abs=1e-5)  # the release can be counted


def certificate(lost):
    loss = {"gcp": lost / ROWS, "precision": 1 - lost / ROWS, "discernibility": 9000.0 + lost * ROWS,
            "average_class_size": 6.36}  # fmt: skip
    items = {"disclosed": 500, "ncp": lost / ROWS}
    return Certificate(suppressed=lost, loss=loss, loss_by_column={"age": loss}, item_sets={"drugs": items})


def test_the_number_left_out_does_not_follow_from_losses():
    told = [published_losses(certificate(lost), Crowd(ROWS, LEAST)) for lost in range(1, LEAST)]
    assert all("discernibility" not in each["loss"] for each in told)
    assert len({each["loss_by_column"]["age"]["gcp"] for each in told}) == 1
    assert told[0]["loss"]["average_class_size"] == 6.36
    assert published_losses(certificate(LEAST), Crowd(ROWS, LEAST))["loss"]["discernibility"] == 9000 + LEAST * ROWS
    assert published_losses(certificate(0), Crowd(ROWS, LEAST))["loss"] == certificate(0).loss


def test_few_items_that_are_not_shown_are_not_counted():
    crowd = Crowd(ROWS, LEAST)
    assert len({disclosed_share(500, 500 + hidden, crowd) for hidden in range(1, LEAST)} - {1.0}) <= 1
    assert disclosed_share(500, 600, crowd) == pytest.approx(5 / 6, abs=0.01)
    assert disclosed_share(0, 0, crowd) == 0
    assert published_items({"disclosed": 500, "ncp": 0.2}, crowd, False) == {"disclosed": 500, "ncp": 0.2}


def test_a_report_says_no_exact_loss_where_few_were_left_out(found):
    told = found["certificate"]
    assert "discernibility" not in told["loss"]
    assert all(whole_steps(told["loss_by_column"]["town"][name], ROWS) for name in ("gcp", "arx"))
    assert "items" not in told["item_sets"]["drugs"]
    assert whole_steps(told["item_sets"]["drugs"]["ncp"], ROWS)


def test_one_far_outside_decides_no_correlation(found):
    names, matrices = found["relations"]["names"], found["relations"]
    age, pay = names.index("age"), names.index("pay")
    # by itself it makes 0.3 of nothing, which would tell of a record that has much of both
    data = people()
    assert np.corrcoef(data["age"].to_numpy(), data["pay"].to_numpy())[0, 1] > 0.25
    assert abs(matrices["before"][age][pay]) < 0.15
    assert abs(matrices["before"][age][pay] - matrices["after"][age][pay]) < 0.1


def test_columns_that_leave_as_they_came_go_together_as_in_the_release(found):
    names, matrices = found["relations"]["names"], found["relations"]
    pay, city = names.index("pay"), names.index("city")
    assert matrices["before"][pay][city] == matrices["after"][pay][city]


def test_somebody_with_many_records_far_outside_is_no_crowd():
    cells = np.concatenate((np.arange(2000) % 50, np.full(400, 5_000_000)))
    people = np.concatenate((np.arange(2000), np.full(400, 2000)))
    column = encode_column("pay", pa.chunked_array([cells]), kind="numeric")
    counts = np.bincount(column.codes, minlength=column.size)
    bins = cut(Axis.of(column), counts, column.codes, Crowd(2400, 10, people))
    assert bins is not None
    assert bins.reach[1] < 50
    assert len(bins) > 5  # and no step of a width that only this person's number can explain


def with_oldest(folder, oldest):
    ages = [*range(20, 70), oldest]
    (folder / "age.csv").write_text("".join(f"{age};{'young' if age < 45 else 'old'};*\n" for age in ages))
    data = pa.table({"age": list(range(20, 70)) * 6 + [oldest], "x": ["a", "b", "c"] * 100 + ["a"]})
    columns = {"age": {"role": "quasi", "hierarchy": str(folder / "age.csv")}, "x": {"role": "insensitive"}}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 20}], "method": {"name": "full-domain"}}
    return report_on(rules, data)


def test_labels_do_not_tell_how_far_their_values_reach(tmp_path):
    first, second = (with_oldest(tmp_path, oldest).figures for oldest in (84, 88))
    assert first["columns"][0]["shares"]["generalized"] == 1
    assert first["columns"] == second["columns"]
    assert first["relations"] == second["relations"]


def test_a_hierarchy_is_named_without_its_folder(tmp_path):
    report = with_oldest(tmp_path, 84)
    assert "file age.csv" in report.html
    assert str(tmp_path) not in report.html
    assert str(tmp_path) not in json.dumps(report.figures)


def test_item_sets_that_leave_as_they_came_are_not_said_to_be_hidden():
    data = people().select(["age", "town", "drugs"])
    columns = {"age": {"role": "quasi"}, "town": {"role": "quasi"}, "drugs": {"role": "insensitive"}}
    drugs = report_on({"columns": columns, "require": [{"model": "k-anonymity", "k": 5}]}, data).figures["columns"][2]
    assert drugs["shares"] is None
    assert drugs["rare"]  # one record's item is there for everybody
    assert "absence" not in " ".join(drugs["notes"])
    assert "about 0" not in " ".join(drugs["notes"])
