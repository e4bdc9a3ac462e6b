"""Files of SPSS (``.sav``, ``.zsav``, ``.por``), Stata (``.dta``) and SAS (``.sas7bdat``, ``.xpt``).

Cells are read as these programs show them: a code as its value label, a number of days as a date, and a missing code as
a missing cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.core.errors import DataError, MissingExtraError, Problem
from sudare.engines.batches import open_table
from sudare.engines.delimited_text import TextForm
from sudare.engines.file_errors import no_records
from sudare.engines.opened_file import OpenedFile
from sudare.engines.whole_numbers import whole_numbers

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""The library's function for each ending."""

_STATA = re.compile(r"%-?(?:t?(?P<day>d)|t(?P<moment>[cC]))")  # how the parts are set follows: %tdD_m_Y
_STATA_PERIOD = re.compile(r"%-?t(?P<period>[mqhMQH])")
_MONTHS = {"m": 1, "q": 3, "h": 6}
"""The months of the periods that Stata counts from 1960; a period is shown as its first day."""
_SAS_DAY = re.compile(
    r"(?P<day>DATE|DDMMYY|MMDDYY|YYMMDD|JULIAN|MONYY|YYMM|MMYY|YYQ|WEEKDAT|WORDDAT|NLDATE|EURDFDD|EURDFDE"
    r"|[EB]8601DA|IS8601DA)[A-Z]*\d*(\.\d*)?"
)
_SAS_MOMENT = re.compile(
    r"(?P<moment>DATETIME|DATEAMPM|MDYAMPM|NLDATM|EURDFDT|[EB]8601D[TZ]|IS8601D[TZ])[A-Z]*\d*(\.\d*)?"
)
_SPSS = re.compile(r"(?P<day>[AEJS]?DATE|QYR|MOYR|WKYR)\d*|(?P<moment>DATETIME|YMDHMS)\d*(\.\d*)?")
_FROM_1960, _FROM_1582 = np.datetime64("1960-01-01", "us"), np.datetime64("1582-10-14", "us")
_STATA_START, _STATA_END = b"<stata_dta>", b"</stata_dta>"
_DAY = 86_400
_MANY_MONTHS = 20_000  # beyond, the years have no four digits


def open_statistics(path: Path, form: TextForm) -> OpenedFile:
    """Open a file of a statistics program. Only the requested columns are read."""
    try:
        import pyreadstat
    except ImportError:
        what, hint = "needs the package pyreadstat.", "pip install 'sudare[statistics]'"
        raise MissingExtraError(Problem(path.name, what, hint)) from None
    reader: Callable[..., tuple[Mapping[str, list[Any]], Any]] = getattr(pyreadstat, READERS[path.suffix.lower()])

    def loaded(**options: Any) -> tuple[Mapping[str, list[Any]], Any]:
        if form.encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            options["encoding"] = form.encoding  # the files say which they are in; a policy may know better
        try:
            return reader(str(path), output_format="dict", disable_datetime_conversion=True, **options)
        except UnicodeError:
            what = "holds text that is not in the encoding which the file states."
            hint = "set source: {encoding: ...}; cp1252 is that of many older files from Windows."
            raise DataError(Problem(path.name, what, hint)) from None
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError):
            what = "cannot be read: it is damaged, or its format does not match its ending."
            raise DataError(Problem(path.name, what)) from None

    _check_end(path)
    names = list(loaded(metadataonly=True)[1].column_names)

    def read(columns: list[str]) -> pa.Table:
        cells, about = loaded(usecols=columns)
        if not columns or not len(cells[columns[0]]):
            raise no_records(path)
        problems: list[Problem] = []
        found = [_column(name, cells[name], about, path.suffix.lower(), form.labels, problems) for name in columns]
        if problems:
            raise DataError(problems)
        return pa.table(found, names=columns)

    return OpenedFile(names, read, lambda columns, _: open_table(read(columns)))


def _check_end(path: Path) -> None:
    """Raise if the end of a file of Stata is missing, which the library reads without its labels."""
    with path.open("rb") as file:
        if file.read(len(_STATA_START)) != _STATA_START:
            return
        file.seek(-min(path.stat().st_size, 64), 2)
        if _STATA_END not in file.read():
            what = "cannot be read: it is damaged, or its format does not match its ending."
            raise DataError(Problem(path.name, what))


def _column(name: str, cells: list[Any], about: Any, ending: str, labels: bool, problems: list[Problem]) -> pa.Array:
    """Return a column as the program shows it."""
    if about.readstat_variable_types.get(name) == "string":
        text = pa.array(cells, pa.large_string())
        plain = pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)  # these programs know no empty text
    else:
        numbers = pa.array(cells, pa.float64(), from_pandas=True)
        plain = _times(numbers, str(about.original_variable_types.get(name) or ""), ending)
        plain = whole_numbers(numbers) if plain is None else plain
    shown = about.variable_value_labels.get(name)
    if not labels or not shown or pa.types.is_temporal(plain.type):
        return plain
    return _labelled(name, plain, shown, problems)


def _labelled(name: str, codes: pa.Array, labels: Mapping[Any, str], problems: list[Problem]) -> pa.Array:
    """Return labels instead of codes, if each code that occurs has one; else the codes are numbers with exceptions."""
    encoded = codes.dictionary_encode()
    texts = [labels.get(code) for code in encoded.dictionary.to_pylist()]
    if any(text is None for text in texts):
        return codes
    if len(set(texts)) < len(texts):
        what = f"has {len(texts)} codes, but only {len(set(texts))} different labels for them."
        problems.append(Problem(f"column '{name}'", what, "set source: {labels: false} to keep the codes."))
    return pa.array(texts, pa.large_string()).take(encoded.indices)


def _times(numbers: pa.Array, shown: str, ending: str) -> pa.Array | None:
    """Return days or moments, if the format in which a number is shown is one of them."""
    if ending == ".dta" and (period := _STATA_PERIOD.match(shown)):
        return _periods(numbers, _MONTHS[period["period"].lower()])
    if ending == ".dta":
        found, start, per_second = _STATA.match(shown), _FROM_1960, 1e3
    elif ending in (".sas7bdat", ".xpt"):
        name = shown.upper()
        found, start, per_second = _SAS_MOMENT.fullmatch(name) or _SAS_DAY.fullmatch(name), _FROM_1960, 1.0
    else:
        found, start, per_second = _SPSS.fullmatch(shown.upper()), _FROM_1582, 1.0
    if found is None:
        return None
    there = np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False))
    values = np.where(there, np.asarray(numbers.fill_null(0.0).to_numpy(), np.float64), 0.0)
    moment = "moment" in found.groupdict() and found["moment"] is not None
    days = start is _FROM_1960 and not moment  # only SPSS keeps days as seconds
    seconds = values * _DAY if days else values / per_second
    if np.abs(seconds).max(initial=0.0) > 3e11:  # ten thousand years: these are no times
        return None
    whole = start + np.round(seconds * 1e6).astype("timedelta64[us]")
    found_times = pa.array(whole, pa.timestamp("us"), mask=~there)
    return found_times if moment else found_times.cast(pa.date32(), safe=False)


def _periods(numbers: pa.Array, months: int) -> pa.Array | None:
    """Return the first days of months, quarters or half years."""
    there = np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False))
    counts = np.where(there, np.asarray(numbers.fill_null(0.0).to_numpy(), np.float64), 0.0) * months
    if np.abs(counts).max(initial=0.0) > _MANY_MONTHS:
        return None
    first = np.datetime64("1960-01", "M") + np.floor(counts).astype("timedelta64[M]")
    return pa.array(first.astype("datetime64[D]"), pa.date32(), mask=~there)
