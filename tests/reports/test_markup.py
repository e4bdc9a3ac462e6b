"""Templates and marks: whatever is put into them is text, in elements and in attributes."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from sudare.reports.markup import TEMPLATES, clean, phrase, rendered
from sudare.reports.sections import Cell, Section
from sudare.reports.svg.marks import box, element, group, page_picture, picture, words

HOSTILE = ['" onload="x', "' onload='x", '"><script>x</script>', "&quot; onload=x", "</title><b>", "日本 'a' \"b\""]

TAGS = {"p", "ul", "li", "i", "div", "table", "thead", "tbody", "tr", "th", "td", "strong", "br", "span"}


class Attributes(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", HOSTILE)
def test_quotes_in_an_attribute_end_nothing(text):
    mark = ElementTree.fromstring(element("text", text, fill=text, data_name=text))
    assert mark.attrib == {"fill": text, "data-name": text}
    assert mark.text == text
    assert not list(mark)


@pytest.mark.parametrize("text", HOSTILE)
def test_quotes_in_the_head_of_a_table_end_nothing(text):
    facts = {"head": ["attribute", text], "rows": [[text, Cell(text, strong=text, note=text)]]}
    shown = {"colours": [(text, text)], "picture": "", "notes": [text]}
    found = Attributes(Section.of("attributes", text, facts | shown).body).found
    assert {tag for tag, _ in found} <= TAGS
    assert {name for _, attributes in found for name in attributes} <= {"class", "style", "data-name"}
    assert [attributes["data-name"] for _, attributes in found if "data-name" in attributes] == [text]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_in_a_frame_comes_out_as_it_went_in(text):
    page = f"<p title='{text}'>\n{text}</p>\n"
    ((tag, attributes),) = Attributes(rendered("frame.html", page=page)).found
    assert tag == "iframe"
    assert set(attributes) == {"srcdoc", "style", "sandbox", "title"}
    assert attributes["srcdoc"] == page


@pytest.mark.parametrize("text", HOSTILE)
def test_pictures_hold_names_as_text(text):
    marks = [group(text, [words(1, 2, text), box(0, 0, 3, 4, fill="none")])]
    for made in (picture(10, 20, text, text, marks), page_picture(10, 20, text, marks)):
        root = ElementTree.fromstring(made)
        assert {mark.tag.split("}")[-1] for mark in root.iter()} <= {"svg", "title", "desc", "rect", "g", "text"}
        assert "onload" not in {name for mark in root.iter() for name in mark.attrib}
        assert text in {mark.text for mark in root.iter()}


def test_what_xml_has_no_place_for_is_replaced():
    assert clean("a\x00b\ud800c\td\n") == "a\ufffdb\ufffdc d "
    assert clean(Markup("<b>\n</b>")) == "<b>\n</b>"
    assert phrase("<code>{}</code>", "<\x00>") == "<code>&lt;\ufffd&gt;</code>"


def test_no_template_leaves_anything_unescaped():
    texts = [path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*") if path.is_file()]
    assert len(texts) > 10
    assert not any(word in text for text in texts for word in ("|safe", "| safe", "autoescape", "<script", "http://e"))
