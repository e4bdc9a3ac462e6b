"""The picture of estimates: whole, well-formed, and true to the answer."""

import json
import math
from xml.etree import ElementTree

import pytest

from sudare.reports import estimate_picture
from sudare.reports.svg.estimate_chart import MOST_PANELS, MOST_VALUES

SVG = "{http://www.w3.org/2000/svg}"


def row(cell, value, share, records=200.0, width=0.1, **more):
    count = share * records
    figures = {"estimate": count, "share": share, "se": width * records / 4, "records": records}
    limits = {"low": max(count - width * records, 0), "high": min(count + width * records, records)}
    return {"cell": cell, "value": value} | figures | limits | more


def answer(cells, values, share=lambda cell, value: 0.25, few=(), notes=(), **more):
    rows = [row(cell, value, share(place, number), **more) for place, cell in enumerate(cells)
            for number, value in enumerate(values)]  # fmt: skip
    by = list(cells[0]) if cells else []
    about = {"of": "disease", "by": by, "method": "dummies", "estimator": "em-shrunk", "level": 0.95}
    about["limits"] = "intervals"
    return about | {"rows": rows, "few": list(few), "notes": list(notes)}


def many(cells, values, **more):
    return answer([{"area": place} for place in range(cells)], [f"value {n}" for n in range(values)], **more)


def drawn(data):
    return ElementTree.fromstring(estimate_picture(data).encode())


def texts(picture):
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def titles(picture):
    return [title.text for title in picture.iter(f"{SVG}title")]


def rects(part):
    return [tuple(float(mark.get(name)) for name in ("x", "y", "width", "height")) for mark in part.iter(f"{SVG}rect")]


def bars(picture):
    """The group of each bar, by its title."""
    return {part[0].text: part for part in picture.iter(f"{SVG}g") if "%" in part[0].text or "?" in part[0].text}


def test_cells_values_and_shares_are_written_out():
    picture = drawn(answer([{"sex": "F", "age": "[20, 29]"}, {"sex": "M", "age": None}], ["flu", None]))
    assert titles(picture)[0] == "Estimated shares of disease by sex, age"
    shown = texts(picture)
    assert shown[0] == "disease by sex, age"
    assert {"sex F, age [20, 29]", "sex M, age (missing)", "flu", "(missing)", "25.0%", "200 records"} <= set(shown)
    assert any("estimated by em-shrunk; lines contain the true count in 95% of cases." in text for text in shown)
    assert "sex F, age [20, 29], flu: 25.0%, 15.0% to 35.0%" in titles(picture)
    told = next(picture.iter(f"{SVG}desc")).text
    assert "sex M, age (missing) (200 records): flu: 25.0%, 15.0% to 35.0%" in told


def test_bars_and_limits_are_as_long_as_they_should_be():
    """Over all panels one length stands for one share."""
    shares = [[0.1, 0.3], [0.2, 0.4]]
    picture = drawn(answer([{"x": 0}, {"x": 1}], ["a", "b"], lambda cell, value: shares[cell][value], width=0.05))
    found = bars(picture)
    scale = set()
    for cell in range(2):
        for number, value in enumerate("ab"):
            share = shares[cell][number]
            title = f"x {cell}, {value}: {100 * share:.1f}%, {100 * share - 5:.1f}% to {100 * share + 5:.1f}%"
            bar, line, left, right = rects(found[title])
            scale.add(round(bar[2] / share, 3))
            # numbers are written with six digits
            assert line[2] / bar[2] == pytest.approx(0.1 / share, rel=1e-4)
            assert left[0] + 0.75 == pytest.approx(line[0], abs=1e-2)
            assert right[0] + 0.75 == pytest.approx(line[0] + line[2], abs=1e-2)
            assert line[0] < bar[0] + bar[2] < line[0] + line[2]
    assert max(scale) - min(scale) < 0.02


@pytest.mark.parametrize(("cells", "values"), [(1, 1), (1, 20), (2, 5), (3, 3), (4, 20), (12, 20), (40, 60)])
def test_everything_lies_on_the_page_and_no_panel_on_another(cells, values):
    picture = drawn(many(cells, values, notes=["a note " * 60]))
    height = float(picture.get("height"))
    for mark in picture.iter():
        if mark.tag in {f"{SVG}text", f"{SVG}rect"}:
            assert float(mark.get("x")) >= 0 and float(mark.get("x")) + float(mark.get("width", 0)) <= 1000
            assert float(mark.get("y")) >= 0 and float(mark.get("y")) + float(mark.get("height", 0)) <= height
            assert not math.isnan(float(mark.get("width", 0))) and float(mark.get("width", 1)) >= 0
    names = [(round(float(text.get("x"))), round(float(text.get("y")))) for text in picture.iter(f"{SVG}text")]
    assert len(set(names)) == len(names)


def test_what_does_not_fit_is_counted():
    picture = drawn(many(MOST_PANELS + 3, MOST_VALUES + 5, share=lambda cell, value: (value + 1) / 1000))
    assert "3 more cells are not shown." in texts(picture)
    assert f"5 of {MOST_VALUES + 5} values, with the smallest shares, are not shown." in texts(picture)
    assert "value 4" not in texts(picture) and texts(picture).count("value 5") == MOST_PANELS
    assert "area 11" in texts(picture) and "area 12" not in texts(picture)
    assert not any("not shown" in text for text in texts(drawn(many(MOST_PANELS, MOST_VALUES))))
    assert "1 more cell is not shown." in texts(drawn(many(MOST_PANELS + 1, 1)))


def test_values_stand_in_the_order_of_the_answer():
    picture = drawn(answer([{"x": 1}], ["b", "c", "a"], lambda cell, value: value / 10 + 0.1))
    assert [text for text in texts(picture) if text in {"a", "b", "c"}] == ["b", "c", "a"]


def test_cells_with_few_records_are_marked():
    cells = [{"x": 1}, {"x": 2}]
    picture = drawn(answer(cells, ["a"], few=[{"x": 2}], records=12.0))
    assert {"12 records", "12 records, few"} <= set(texts(picture))
    whole, few = (part for title, part in bars(picture).items())
    assert whole[2].get("stroke-dasharray") is None and few[2].get("stroke-dasharray")


def test_an_unknown_interval_is_a_faint_band_over_the_whole_width():
    picture = drawn(answer([{"x": 1}], ["a", "b"], se=None))
    part = bars(picture)["x 1, a: 25.0%, unknown"]
    band, bar = rects(part)
    assert band[0] == bar[0] and band[2] >= bar[2]
    other = drawn(answer([{"x": 1}], ["a"], se=None, low=None, high=None, share=lambda *_: 0.0))
    assert "unknown" in next(iter(bars(other)))


def test_a_cell_without_records():
    data = answer([{"x": 1}], ["a"], records=0.0)
    data["rows"][0]["share"] = None
    assert "?" in texts(drawn(data)) and "0 records" in texts(drawn(data))


def test_limits_beyond_the_end_of_the_scale_have_no_end():
    picture = drawn(answer([{"x": 1}], ["a"], lambda *_: 0.9, high=300.0))
    (part,) = bars(picture).values()
    _bar, line, *ends = rects(part)
    assert len(ends) == 1 and line[0] + line[2] < 1000


def test_no_columns_to_count_by_and_no_rows():
    picture = drawn(answer([{}], ["a"]))
    assert texts(picture)[0] == "disease" and "all records" in texts(picture)
    assert texts(drawn(answer([], [])))[0] == "disease"


@pytest.mark.parametrize("name", ['<a&"b>', "]]>", "</svg><script>", "tab\tand\nline", "職業", "' onload='x"])
def test_names_and_values_stay_text(name):
    picture = drawn(answer([{name: name}], [name]) | {"of": name})
    shown = " ".join(name.split())
    assert texts(picture)[0] == f"{shown} by {shown}"
    assert any(title.startswith(f"{shown} {shown}, {shown}: 25.0%") for title in titles(picture))
    tags = {part.tag.removeprefix(SVG) for part in picture.iter()}
    assert tags <= {"svg", "title", "desc", "rect", "text", "g"}


def test_characters_that_xml_cannot_hold_are_replaced():
    for name in ("a\x00b", "a\x1bb", "a\ud800b", "a\uffffb"):
        assert "a\ufffdb" in texts(drawn(answer([{"x": 1}], [name])))


def test_long_names_are_shortened_and_whole_in_titles():
    name = "works in a place that has a very long name indeed, and more of it"
    picture = drawn(answer([{"x": 1}, {"x": 2}, {"x": 3}], [name]))
    assert name not in texts(picture) and any(
        text.startswith("works in") and text.endswith("…") for text in texts(picture)
    )
    assert any(name in title for title in titles(picture))


def test_notes_are_wrapped():
    note = "some words that are to be read " * 12
    shown = texts(drawn(answer([{"x": 1}], ["a"], notes=[note, "short"])))
    assert "Note: short" in shown
    assert "Note: " + note.strip() == " ".join(text for text in shown if "words" in text or "read" in text)


def test_it_needs_nothing_from_elsewhere_and_is_the_same_each_time():
    data = many(5, 5, notes=["x"])
    picture = estimate_picture(data)
    for word in ("href", "url(", "<style", "<script", "@import", " id=", " class="):
        assert word not in picture
    assert picture.count("http") == 1  # the name of the format
    assert estimate_picture(json.loads(json.dumps(data))) == picture


def test_of_many_cells_some_are_drawn():
    assert "11,988 more cells are not shown." in texts(drawn(many(12_000, 3, few=[{"area": n} for n in range(12_000)])))


def test_bounds_are_called_bounds_and_drawn_without_an_error():
    found = answer([{"sex": "F"}], ["flu", "cold"], se=None) | {"limits": "bounds", "level": None}
    picture = drawn(found)
    assert any("lines are bounds: the true count is always between them." in text for text in texts(picture))
    assert not any("of cases" in text or "unknown" in text for text in [*texts(picture), *titles(picture)])
