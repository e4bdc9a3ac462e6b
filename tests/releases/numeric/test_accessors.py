"""The accessor `sudare` of pandas and Polars."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest

import sudare.accessors  # noqa: F401 - which registers the accessor
from sudare.core.errors import DataError

CELLS = {
    "age": ["[17, 42]", "39", "*", None],
    "born": ["[2020-01-01, 2020-03-31]", "2021-02-03", None, "2020-Q1"],
    "sex": ["F", "{F, M}", "M", "*"],
}
LIBRARIES = pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def plain(column):
    """The cells of a column, None for the missing ones."""
    cells = column.to_list()
    return [None if cell is None or cell is pd.NA or cell != cell else cell for cell in cells]


@LIBRARIES
def test_the_ends_and_the_middles_of_a_column(kind):
    frame = kind(CELLS)
    assert plain(frame["age"].sudare.low) == [17, 39, None, None]
    assert plain(frame["age"].sudare.high) == [42, 39, None, None]
    assert plain(frame["age"].sudare.middle) == [29.5, 39, None, None]
    names = [getattr(frame["age"].sudare, part).name for part in ("low", "middle", "high")]
    assert names == ["age_low", "age", "age_high"]


@LIBRARIES
def test_dates_come_as_dates(kind):
    born = kind(CELLS)["born"].sudare
    assert plain(born.low)[:2] == [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 2, 3)]
    assert plain(born.high)[3] == datetime.datetime(2020, 3, 31)
    assert plain(born.middle)[0] == datetime.datetime(2020, 2, 15)
    assert plain(born.low)[2] is None


@LIBRARIES
def test_a_column_is_split_where_it_stands(kind):
    found = kind(CELLS).sudare.split("age", "born")
    assert list(found.columns) == ["age_low", "age_high", "born_low", "born_high", "sex"]
    assert plain(found["age_high"]) == [42, 39, None, None]
    assert list(kind(CELLS).sudare.split().columns) == ["age", "born", "sex"]


def test_the_index_of_pandas_stays():
    frame = pd.DataFrame(CELLS, index=[7, 5, 5, 1])
    assert frame["age"].sudare.low.index.tolist() == [7, 5, 5, 1]
    assert frame.sudare.split("age").index.tolist() == [7, 5, 5, 1]
    assert frame.sudare.to_numeric().index.tolist() == [7, 5, 5, 1]


@LIBRARIES
def test_a_table_becomes_numbers(kind):
    found = kind(CELLS).sudare.to_numeric(ranges="ends")
    assert list(found.columns) == ["age_low", "age_high", "born_low", "born_high", "sex=F", "sex=M"]
    assert plain(found["sex=F"]) == [1, 0.5, 0, 0.5]


@LIBRARIES
def test_no_rows_and_no_name(kind):
    assert plain(kind(CELLS)[:0]["age"].sudare.low) == []
    series = pd.Series if kind is pd.DataFrame else pl.Series
    assert plain(series(["[1, 5]", "3"]).sudare.low) == [1, 3]
    assert plain(series([4, 6]).sudare.high) == [4, 6]


@LIBRARIES
def test_columns_that_do_not_fit_are_refused(kind):
    with pytest.raises(DataError, match="has no column 'aeg'"):
        kind(CELLS).sudare.split("aeg")
    with pytest.raises(DataError, match="has a column 'age_low' already"):
        kind({"age": ["1"], "age_low": ["2"]}).sudare.split("age")
    with pytest.raises(DataError) as error:
        _ = kind({"job": ["cook", "1"]})["job"].sudare.low
    assert str(error.value) == "column 'job': holds other cells than numbers, dates or times."


def test_importing_sudare_loads_neither_library():
    program = "import sys, sudare; sudare.numeric; print({'pandas', 'polars', 'sklearn'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=True)
    assert said.stdout == "set()\n"


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {names}:
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Missing())
import sudare
"""
"""A program that goes on without some libraries."""


def said_without(names, program):
    whole = WITHOUT.replace("{names}", repr(names)) + program
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=200, check=True)
    return done.stdout


def test_one_library_is_enough():
    program = "import sudare.accessors, polars; print(polars.Series(['[1, 5]']).sudare.high[0])"
    assert said_without(["pandas"], program) == "5\n"
    program = "import sudare.accessors, pandas; print(pandas.Series(['[1, 5]']).sudare.high[0])"
    assert said_without(["polars"], program) == "5\n"


def test_without_any_library_the_message_says_what_to_install():
    program = "try:\n    import sudare.accessors\nexcept sudare.SudareError as error:\n    print(error)"
    said = said_without(["pandas", "polars"], program)
    assert said.startswith("sudare.accessors needs pandas or Polars; neither is installed. Hint: pip install")
