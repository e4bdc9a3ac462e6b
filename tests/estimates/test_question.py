"""What an analyst writes becomes a question, or one message that names everything that is wrong."""

from datetime import date

import numpy as np
import pytest

from sudare.core.errors import ParameterError
from sudare.estimates import By, Range, ask

RELEASED = ["sex", "age", "born", "disease", "a:b", "a=b", "city, state", "x"]


def asked(by=(), where=None, of="disease", **more):
    return ask(of, by, where, RELEASED, **more)


def refused(*arguments, **more):
    with pytest.raises(ParameterError) as caught:
        asked(*arguments, **more)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sex", By("sex")),
        ("age:10", By("age", width=10)),
        ("age:2.5", By("age", width=2.5)),
        ("born:year", By("born", unit="year")),
        ("born:month", By("born", unit="month")),
        ("born:day", By("born", unit="day")),
        ("a:b", By("a:b")),
        ("a:b:5", By("a:b", width=5)),
        ("a=b", By("a=b")),
        ("city, state", By("city, state")),
        (By("age", width=5), By("age", width=5)),
    ],
)
def test_columns_to_count_by(written, meant):
    assert asked(written).by == asked([written]).by == (meant,)


def test_columns_in_one_text():
    assert asked("sex,age:10, born:year").by == (By("sex"), By("age", width=10), By("born", unit="year"))
    assert asked("sex,city, state,age:5").by == (By("sex"), By("city, state"), By("age", width=5))
    assert asked("age:10,sex,born:year,x").by == (By("age", width=10), By("sex"), By("born", unit="year"), By("x"))
    assert asked(None).by == asked(()).by == asked([]).by == ()


def test_a_width_is_only_one_if_no_column_has_that_name():
    question = ask("disease", "age:10", None, ["disease", "age", "age:10"])
    assert question.by == (By("age:10"),)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sex=F", {"sex": ("F",)}),
        ("sex=F,M", {"sex": ("F", "M")}),
        ("sex=F, M", {"sex": ("F", " M", "M")}),
        ("sex=", {"sex": ("", None)}),
        ("age=20..39", {"age": Range("20", "39")}),
        ("age=20..", {"age": Range("20", None)}),
        ("age=..39", {"age": Range(None, "39")}),
        ("age=-5..-1.5", {"age": Range("-5", "-1.5")}),
        ("born=1990-01-01..1999", {"born": Range("1990-01-01", "1999")}),
        ("a=b=c", {"a=b": ("c",)}),
        ("x=y=z", {"x": ("y=z",)}),
        ("a:b=1", {"a:b": ("1",)}),
        ("city, state=Rome", {"city, state": ("Rome",)}),
        ({"sex": "F"}, {"sex": ("F",)}),
        ({"sex": ["F", None]}, {"sex": ("F", None)}),
        ({"sex": ["F, maybe"]}, {"sex": ("F, maybe",)}),
        ({"age": (20, 39)}, {"age": Range(20, 39)}),
        ({"age": (None, 39)}, {"age": Range(None, 39)}),
        ({"age": [20, 39]}, {"age": ("20", "39")}),
        ({"age": 20}, {"age": ("20",)}),
        ({"age": float("nan")}, {"age": (None,)}),
        ({"age": Range(1)}, {"age": Range(1, None)}),
        ({"sex": (True, False)}, {"sex": ("true", "false")}),
        ({"sex": np.bool_(True)}, {"sex": ("true",)}),
        ({"sex": ("F", "M")}, {"sex": ("F", "M")}),
        ({"born": (date(1990, 1, 1), date(1990, 2, 1))}, {"born": Range(date(1990, 1, 1), date(1990, 2, 1))}),
        (["sex=F", "age=1..2"], {"sex": ("F",), "age": Range("1", "2")}),
        (None, {}),
    ],
)
def test_conditions(written, meant):
    assert asked(where=written).where == meant


def test_the_columns_that_are_needed():
    assert asked("sex,age:10", "sex=F").columns == ("disease", "sex", "age")


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("sec", "by: 'sec' is not a column of this release. Did you mean 'sex'?"),
        ("agee:10", "by: 'agee:10' is not a column of this release."),
        ("age:0", "by: '0' is no width of bands: a number above 0, or year, month, day for dates."),
        ("age:-5", "by: '-5' is no width of bands"),
        ("age:nan", "by: 'nan' is no width of bands"),
        ("age:inf", "by: 'inf' is no width of bands"),
        ("age:", "by: '' is no width of bands"),
        ("age:week", "by: 'week' is no width of bands"),
        (By("age", width=-1), "by: '-1' is no width of bands"),
        (By("age", width="1"), "by: '1' is no width of bands"),
        (By("age", unit="week"), "by: 'week' is no width of bands"),
        (By("nothing"), "by: 'nothing' is not a column of this release."),
        ("disease", "by: column 'disease' is the counted column"),
        ("sex,age,sex", "by: column 'sex' is named twice."),
        (["age", "age:10"], "by: column 'age' is named twice."),
        (7, "by: must be a list of columns; got int."),
        ("", "by: '' is not a column of this release."),
    ],
)
def test_what_cannot_be_counted_by(by, says):
    assert says in refused(by)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("sex", "where: 'sex' is not a condition. Hint: write column=value"),
        ({"sex": None}, "where: 'sex' is not a condition."),
        ("sec=F", "where: 'sec' is not a column of this release. Did you mean 'sex'?"),
        (["sex=F", "sex=M"], "where: column 'sex' is named twice."),
        ("disease=flu", "where: column 'disease' is the counted column; the answer has all its values."),
        (3, "where: must be a mapping or a list of texts; got int."),
    ],
)
def test_what_is_no_condition(where, says):
    assert says in refused(where=where)


@pytest.mark.parametrize("of", ["disese", "", None, 3, ["disease"]])
def test_what_cannot_be_asked_for(of):
    assert "of: " in refused(of=of) and "is not a column of this release." in refused(of=of)


def test_hidden_columns_can_be_asked_for_and_not_be_counted_by():
    assert asked("sex", hidden=["disease"]).of == "disease"
    assert (
        refused("x", hidden=["disease", "x"]) == "by: column 'x' has hidden values, so counts cannot be grouped by it."
    )
    assert "where: column 'x' has hidden values" in refused(where="x=1", hidden=["disease", "x"])


def test_everything_that_is_wrong_is_said_at_once():
    said = refused("sec,age:0", "agee=1", of="illness")
    assert said.startswith("4 problems in the parameters:")
