"""The picture of a lattice: whole, well-formed, and true to what was found."""

import json
import math
from xml.etree import ElementTree

import pytest

from sudare.reports import lattice_picture
from sudare.reports.svg.marks import INK, SCALE, figure, shade, shorten

SVG = "{http://www.w3.org/2000/svg}"


def node(levels, loss, suppressed, **more):
    sizes = {"smallest": 5, "average": 9.5, "largest": 31}
    return {"levels": levels, "loss": loss, "suppressed": suppressed, "classes": 12, "class_sizes": sizes, **more}


def found(levels, heights, **facts):
    """What an exploration gives: finer nodes leave out too much, coarser ones lose more."""
    around = [
        node({**levels, name: level + step}, 0.3 + step / (10 + place), 700 - 500 * step + place, keeps=step > 0)
        for step in (-1, 1)
        for place, (name, level) in enumerate(levels.items())
        if 0 <= level + step <= heights[name]
    ]
    search = {
        "loss": "arx",
        "value": 0.3,
        "at_least": 0.3,
        "optimal": True,
        "levels": levels,
        "heights": heights,
        "ties": 0,
        "nodes": math.prod(height + 1 for height in heights.values()),
        "checked": 101,
    }
    return {"search": search | facts, "best": [node(levels, 0.3, 400)], "minimal": None, "around": around}


def many(number, level=1, height=3, **facts):
    names = [f"column {index}" for index in range(number)]
    return found(dict.fromkeys(names, level), dict.fromkeys(names, height), **facts)


def drawn(data):
    return ElementTree.fromstring(lattice_picture(data).encode())


def texts(picture):
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def titles(picture):
    return [title.text for title in picture.iter(f"{SVG}title")]


def boxes(picture):
    """The place of every box of a node."""
    for part in picture.iter(f"{SVG}g"):
        if " → " in part[0].text or part[0].text == "best node":
            yield tuple(float(part[1].get(name)) for name in ("x", "y", "width", "height"))


def overlap(one, other):
    return all(one[i] < other[i] + other[i + 2] and other[i] < one[i] + one[i + 2] for i in (0, 1))


def test_the_best_node_and_its_proof_are_written_out():
    picture = drawn(many(3))
    assert titles(picture)[0] == texts(picture)[0] == "Best of 64 nodes, proven (101 counted)"
    assert {"loss 0.3000", "400 records suppressed", "12 classes of 5 to 31 records", "1 of 3"} <= set(texts(picture))


@pytest.mark.parametrize("columns", [1, 2, 5, 8, 9, 15, 16, 20])
def test_every_neighbour_is_there_and_none_covers_another(columns):
    data = many(columns)
    picture = drawn(data)
    for index in range(columns):
        assert any(title.startswith(f"column {index} 1 → 0: does not keep") for title in titles(picture))
        assert any(title.startswith(f"column {index} 1 → 2: keeps") for title in titles(picture))
        assert f"suppresses {1200 + index:,}" in texts(picture)
        assert f"{200 + index} suppressed" in texts(picture)
    places = list(boxes(picture))
    assert len(places) == 2 * columns + 1
    assert not any(overlap(one, other) for i, one in enumerate(places) for other in places[:i])
    assert all(x >= 0 and x + width <= 1000 for x, _, width, _ in places)
    rows = [y for _, y, _, _ in places]
    assert max(map(rows.count, rows)) <= 8


def test_finer_nodes_are_below_and_coarser_ones_above():
    picture = drawn(many(10))
    best = next(y for _, y, width, _ in boxes(picture) if width == 300)
    for part in picture.iter(f"{SVG}g"):
        if " 1 → 0" in part[0].text:
            assert float(part[1].get("y")) > best and part[1].get("stroke-dasharray")
        if " 1 → 2" in part[0].text:
            assert float(part[1].get("y")) < best and not part[1].get("stroke-dasharray")


def test_everything_lies_on_the_page():
    picture = drawn(many(16))
    height = float(picture.get("height"))
    for mark in picture.iter():
        if mark.tag in {f"{SVG}text", f"{SVG}rect"}:
            assert 0 <= float(mark.get("x")) <= 1000
            assert 0 <= float(mark.get("y")) + float(mark.get("height", 0)) <= height


@pytest.mark.parametrize(("level", "missing"), [(0, "no node has more detail"), (3, "no node has less detail")])
def test_an_end_of_the_lattice_is_said_to_be_one(level, missing):
    assert missing in texts(drawn(many(4, level)))


def test_a_lattice_of_one_node():
    picture = drawn(many(1, 0, 0))
    assert "Best of 1 node, proven (101 counted)" in texts(picture)
    assert {"no node has more detail", "no node has less detail", "0 of 0"} <= set(texts(picture))


def test_a_search_that_did_not_end_says_what_it_knows():
    picture = drawn(many(2, optimal=False, at_least=0.19009))
    # rounded down: 0.1901 would be too much
    assert titles(picture)[0] == "Best found of 16 nodes; no node loses less than 0.1900"
    assert "not proven" in titles(drawn(many(2, optimal=False, at_least=0.0)))[0]
    assert "no node loses less than 0.2900" in titles(drawn(many(2, optimal=False, at_least=0.29)))[0]


def test_ties_are_told():
    assert any("2 other nodes lose as little" in text for text in texts(drawn(many(2, ties=2))))


@pytest.mark.parametrize("name", ['<a&"b>', "]]>", "</svg><script>", "tab\tand\nline", "職業", "' onload='x"])
def test_names_of_columns_stay_text(name):
    picture = drawn(found({name: 1, "age": 1}, {name: 2, "age": 2}))
    shown = " ".join(name.split())
    assert any(title.startswith(f"{shown} 1 → 2") for title in titles(picture))
    assert {part.tag.removeprefix(SVG) for part in picture.iter()} <= {
        "svg",
        "title",
        "desc",
        "rect",
        "text",
        "path",
        "g",
    }


def test_characters_that_xml_cannot_hold_are_replaced():
    for name in ("a\x00b", "a\x1bb", "a\ud800b", "a\uffffb"):
        assert any(title.startswith("a\ufffdb 1 → 2") for title in titles(drawn(found({name: 1}, {name: 2}))))


def test_long_names_are_shortened_in_boxes_and_whole_in_titles():
    name = "the country in which the mother was born"
    picture = drawn(found({name: 1}, {name: 2}))
    assert name not in texts(picture)
    assert any(text.startswith("the country") and text.endswith("…") for text in texts(picture))
    assert any(title.startswith(f"{name} 1 → 0") for title in titles(picture))


def test_a_node_that_leaves_out_few_is_not_blamed_for_that():
    data = many(2)
    data["around"][0]["suppressed"] = 3
    assert "breaks a limit" in texts(drawn(data))


def test_losses_without_end_and_large_ones_are_drawn():
    data = many(3)
    data["around"][0]["loss"] = math.inf
    assert "loss ∞" in texts(drawn(data))
    assert [figure(x) for x in (0.26963, 12.345, 4321.9, 2.5e9)] == ["0.2696", "12.3", "4,322", "2.500e+09"]


def test_it_needs_nothing_from_elsewhere_and_is_the_same_each_time():
    data = many(5)
    picture = lattice_picture(data)
    for word in ("href", "url(", "<style", "<script", "@import", " id="):
        assert word not in picture
    assert picture.count("http") == 1  # the name of the format
    assert lattice_picture(json.loads(json.dumps(data))) == picture


def test_the_scale_darkens_steadily_and_text_can_be_read_on_it():
    shades = [luminance(shade(step / 50)) for step in range(51)]
    assert shades == sorted(shades, reverse=True)
    assert (shades[-1] + 0.05) / (luminance(INK) + 0.05) >= 4.5
    assert shade(-1) == shade(0) == "#{:02x}{:02x}{:02x}".format(*SCALE[0])


def luminance(colour):
    values = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_shortening_cuts_only_what_does_not_fit():
    assert shorten("age", 100, 12) == "age"
    assert shorten("mmmmmmmmmmmmmmmm", 100, 12) == "mmmmmmm…"
    assert len(shorten("職" * 20, 100, 12)) < len(shorten("e" * 20, 100, 12))
