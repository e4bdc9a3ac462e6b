"""The picture of a calibration: whole, well-formed, and true to what was found."""

from xml.etree import ElementTree

import pytest

from sudare.reports import calibration_picture

SVG = "{http://www.w3.org/2000/svg}"
GRID = [step / 100 for step in range(101)]


def curve(condition, column, limit, figure):
    return {"condition": condition, "column": column, "limit": limit, "p": GRID, "figure": [figure(p) for p in GRID]}


def found(p=0.33431, **more):
    curves = [
        curve("pk", None, 3.0, lambda p: 1 + 32_560 * (1 - p) ** 20),
        curve("alpha", "income", 0.8, lambda p: 0.759 + 0.241 * p * p),
        curve("gamma", "income", 0.1, lambda p: 0.241 * (1 - p * p)),
    ]
    return {
        "p": p,
        "bounds": {"pk": p, "alpha": 0.46782, "gamma": 0.8113},
        "binding": "pk",
        "retention": {"race": p, "income": p},
        "held_by": {"race": "pk", "income": "pk"},
        "records": 32_561,
        "values": {"race": 5, "income": 2},
        "curves": curves,
    } | more


def drawn(data):
    return ElementTree.fromstring(calibration_picture(data).encode())


def texts(picture):
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def test_p_and_every_limit_are_written_out():
    picture = drawn(found())
    said = texts(picture)
    assert said[0] == picture[0].text == "Each value may be kept with probability p = 0.3343"
    assert said[1] == "32,561 records; by pk-anonymity up to 0.3343, alpha up to 0.4678, gamma up to 0.8113"
    assert {"≥ 3", "≤ 0.8", "≥ 0.1", "pk-anonymity", "alpha", "gamma", "income"} <= set(said)
    assert "alpha of income has to be at most 0.8; it goes from 0.7590" in picture[1].text


def test_p_is_never_shown_larger_than_it_is():
    assert "0.3343" in calibration_picture(found(0.33439999))
    assert "p = 1.0000" in texts(drawn(found(1.0)))
    assert "p = 0.0000" in texts(drawn(found(0.0)))


def test_every_curve_has_a_panel_with_its_limit_and_p():
    picture = drawn(found())
    panels = list(picture.iter(f"{SVG}g"))
    assert [panel[0].text for panel in panels] == ["pk-anonymity ≥ 3", "alpha of income ≤ 0.8", "gamma of income ≥ 0.1"]
    for panel in panels:
        [points] = panel.iter(f"{SVG}polyline")
        assert len(points.get("points").split()) == 101
        limit, mark = panel.iter(f"{SVG}line")
        assert limit.get("y1") == limit.get("y2")
        assert limit.get("stroke-dasharray")
        assert mark.get("x1") == mark.get("x2")
        assert float(mark.get("x1")) == pytest.approx(96 + 694 * 0.33431, abs=0.1)


def test_the_curve_meets_its_limit_where_the_bound_is():
    """At the bound of alpha, sqrt(0.041 / 0.241) = 0.4125, curve and limit are at the same height."""
    panel = list(drawn(found()).iter(f"{SVG}g"))[1]
    points = [tuple(map(float, point.split(","))) for point in next(panel.iter(f"{SVG}polyline")).get("points").split()]
    height = float(next(panel.iter(f"{SVG}line")).get("y1"))
    assert points[41][1] > height > points[42][1]


def test_columns_may_have_their_own_p():
    picture = drawn(found(retention={"race": 0.2, "income": 0.46}))
    assert {"p = 0.3343", "p = 0.4600"} <= set(texts(picture))


@pytest.mark.parametrize("p", [0.0, 0.5, 0.97, 1.0])
def test_everything_lies_on_the_page(p):
    flat = curve("alpha", "x" * 200, 1.0, lambda p: 1.0)
    picture = drawn(found(p, curves=[*found()["curves"], flat], records=None))
    height = float(picture.get("height"))
    for mark in picture.iter():
        if mark.tag in {f"{SVG}text", f"{SVG}rect"}:
            assert 0 <= float(mark.get("x")) <= 1000
            assert 0 <= float(mark.get("y")) + float(mark.get("height", 0)) <= height


def test_it_stands_on_its_own_whatever_columns_are_called():
    text = calibration_picture(found(curves=[curve("gamma", '<a href="x">&\x00', 0.1, lambda p: 0.2)]))
    picture = ElementTree.fromstring(text.encode())
    assert not list(picture.iter("a"))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not any(mark.get("id") or mark.get("style") for mark in picture.iter())
