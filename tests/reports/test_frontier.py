"""The picture of a comparison: whole, well-formed, and true to what was found."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sudare.reports import frontier_picture

SVG = "{http://www.w3.org/2000/svg}"


def way(method, risk, error, *, frontier=False, bound=False, problem=None, **swept):
    figures = None if bound or risk is None else {"unit": "records", "mean": risk, "largest": risk, "above": {}}
    name = ", ".join([method, *(f"{key}={value}" for key, value in swept.items())])
    return {
        "name": name,
        "method": method,
        "swept": swept,
        "gcp": error,
        "query_error": error,
        "risk": figures,
        "guarantee": risk if bound else None,
        "frontier": frontier,
        "problem": problem,
    }


def found(*ways, queries=200, stopped=None):
    return {"records": 32561, "queries": queries, "stopped": stopped, "ways": list(ways)}


WAYS = (
    way("top-down", 0.05, 0.06, k=10, frontier=True),
    way("top-down", 0.01, 0.12, k=50, frontier=True),
    way("mondrian", 0.048, 0.15, k=10),
    way("mondrian", 0.009, 0.3, k=50, frontier=True),
    way("dummies", 0.25, 0.02, bound=True, l=4),
    way("anatomy", None, None, problem="cannot be"),
)


def drawn(*ways, **more):
    return ElementTree.fromstring(frontier_picture(found(*ways, **more)).encode())


def texts(picture):
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def test_every_way_has_a_mark_that_says_what_it_is():
    picture = drawn(*WAYS)
    titles = [group[0].text for group in picture.iter(f"{SVG}g")]
    assert "top-down, k=10: risk 5%, utility 0.940" in titles
    assert "dummies, l=4: risk at most 25%, utility 0.980" in titles
    assert len(titles) == 5
    assert {"k=10", "k=50", "l=4", "top-down", "mondrian", "dummies (promised)"} <= set(texts(picture))
    assert "1 configurations are not in the chart." in texts(picture)
    assert "top-down, k=50: risk 1%, utility 0.880" in picture[1].text


def test_a_method_is_a_line_over_its_sweep():
    lines = list(drawn(*WAYS).iter(f"{SVG}polyline"))
    assert [len(line.get("points").split()) for line in lines] == [2, 2]
    split = [way("top-down", risk, 0.1, k=k, split=s) for s in ("a", "b") for k, risk in ((2, 0.2), (9, 0.05))]
    picture = drawn(*split)
    assert len(list(picture.iter(f"{SVG}polyline"))) == 2
    assert "top-down, split=b" in texts(picture)


def test_safer_is_to_the_left_on_a_logarithmic_scale_and_more_useful_is_higher():
    picture = drawn(way("m", 0.001, 0.4, k=9), way("m", 0.01, 0.3, k=5), way("m", 0.1, 0.2, k=2))
    a, b, c = picture.findall(f"{SVG}g/{SVG}circle")
    x = [float(mark.get("cx")) for mark in (a, b, c)]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert x[0] < x[1]
    assert float(a.get("cy")) > float(b.get("cy")) > float(c.get("cy"))


def test_only_the_frontier_is_filled():
    fills = {mark.get("fill") for mark in drawn(way("m", 0.1, 0.2)).iter(f"{SVG}circle")}
    assert "#ffffff" in fills
    assert len(list(drawn(*WAYS).iter(f"{SVG}path"))) == 1


def test_without_queries_utility_is_by_loss():
    said = " ".join(texts(drawn(*WAYS, queries=0)))
    assert "Utility is 1 - GCP" in said


@pytest.mark.parametrize("ways", [(), (way("m", None, None, problem="no"),)], ids=["none", "all failed"])
def test_nothing_to_show_is_said(ways):
    assert "No configuration has both a risk and a utility." in texts(drawn(*ways))


def test_what_was_stopped_is_said_and_names_are_only_text():
    picture = drawn(
        way("<script>&", 0.1, 0.2, k=3), stopped="the time limit was reached: 1 of 2 configurations are finished."
    )
    assert any("the time limit was reached" in text for text in texts(picture))
    assert "<script>&" in texts(picture)
    assert not list(picture.iter(f"{SVG}script"))


def test_one_way_alone_and_errors_above_one_have_a_place():
    for one in (way("m", 0.5, 0.0), way("m", 1.0, 1.7, k=2)):
        picture = drawn(one)
        for mark in picture.findall(f"{SVG}g/{SVG}circle"):
            assert 0 < float(mark.get("cx")) < 1000
            assert 0 < float(mark.get("cy")) < 620
