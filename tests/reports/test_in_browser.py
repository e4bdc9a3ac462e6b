"""The report in a headless Chromium: it renders, complains of nothing, and asks nobody for anything."""

import os

import pytest

import sudare

from . import browser
from .people import POLICY, report_on, table
from .test_report import SECTIONS


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if browser.find() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium, and CI has to have one")
        pytest.skip("there is no Chromium on this machine (apt-get install chromium)")
    opened = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    data, rules = sudare.datasets.adult("test"), sudare.datasets.adult_policy()
    release = sudare.anonymize(data, rules, seed=1)
    sudare.report(release, data, rules, out=folder / "adult.html")
    report_on(POLICY, table(), out=folder / "people.html")
    return folder


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["adult", "people"])
def test_it_renders(chromium, pages, name, width, dark):
    page = pages / f"{name}.html"
    chromium.open(page, width=width, dark=dark)
    assert chromium.ask("[...document.querySelectorAll('section')].map(one => one.id)") == list(SECTIONS)
    heights = chromium.ask("[...document.querySelectorAll('section')].map(one => one.offsetHeight)")
    assert min(heights) > 60
    assert chromium.ask("document.querySelectorAll('svg').length") > 8
    assert chromium.ask("document.documentElement.scrollWidth") <= width  # nothing sticks out
    background = chromium.ask("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(17, 23, 29)" if dark else "rgb(251, 251, 248)")
    assert chromium.complaints == []
    assert chromium.requests == [page.as_uri()]


@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_pictures_stay_inside_and_apart(chromium, pages, width):
    chromium.open(pages / "adult.html", width=width)
    outside = chromium.ask(
        """[...document.querySelectorAll('svg')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 3;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []
    overlaps = chromium.ask(
        """[...document.querySelectorAll('svg')].flatMap(svg => {
            const texts = [...svg.querySelectorAll('text')];
            const boxes = texts.map(text => [text.getBoundingClientRect(), text.textContent]);
            return boxes.flatMap(([a, one], place) => boxes.slice(place + 1).filter(([b]) =>
                Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > a.height * 0.45
            ).map(([b, other]) => `${one} / ${other}`));
        })"""
    )
    assert overlaps == []


def test_what_is_named_like_a_script_is_none(chromium, tmp_path):
    data = table()
    name = "<img src=x onerror=console.log(1)><script>console.log(2)</script>"
    data = data.rename_columns([name if each == "town" else each for each in data.column_names])
    columns = {name if each == "town" else each: spec for each, spec in POLICY["columns"].items()}
    report_on({**POLICY, "columns": columns}, data, out=tmp_path / "report.html")
    chromium.open(tmp_path / "report.html", width=800)
    assert chromium.complaints == []
    assert chromium.requests == [(tmp_path / "report.html").as_uri()]
    assert chromium.ask("document.querySelectorAll('script, img').length") == 0
    assert name in chromium.ask("document.body.textContent")


def test_it_can_be_printed(chromium, pages):
    chromium.open(pages / "adult.html", width=1280, dark=True)
    chromium.call("Emulation.setEmulatedMedia", media="print")
    assert chromium.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(chromium.call("Page.printToPDF", printBackground=True)["data"]) > 10_000
    chromium.call("Emulation.setEmulatedMedia", media="")
