"""Files of SPSS (``.sav``, ``.zsav``, ``.por``), Stata (``.dta``) and SAS (``.sas7bdat``, ``.xpt``).

Cells are read as these programs show them: a code as its value label, a number of days as a date, a number with leading
zeros as text with these zeros, and a missing code as a missing cell. Times of day and durations are numbers of seconds.
"""

from __future__ import annotations

import codecs
import re
import string
from collections.abc import Callable, Collection, Mapping
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
_STATA_PERIOD = re.compile(r"%-?t(?P<period>[wmqhWMQH])")
_STATA_NUMBER = re.compile(r"%-?t[yg]")  # years are what they are, and so is what only has an order in time
_STATA_TIME = re.compile(r"%-?t")
_MONTHS = {"m": 1, "q": 3, "h": 6}
"""The months of the periods that Stata counts from 1960; a period is shown as its first day."""
_WEEKS = 52
"""The weeks of each year of Stata. The first begins on 1 January, and the last has the days that are left."""
_LANGUAGES = "AFR|CAT|CRO|CZE|DAN|DES|DEU|ENG|ESP|EUR|FIN|FRA|FRS|HUN|ITA|MAC|NLD|NOR|POL|PTG|RUS|SLO|SVE"
_WIDTH = r"\d*(\.\d*)?"
_SAS_DAY = re.compile(
    r"(?P<day>(DATE|DDMMYY|MMDDYY|YYMMDD|JULIAN|MONYY|YYMM|YYMON|MMYY|YYQ|WEEKDAT|WORDDAT|NLDATE|EURDFDD|EURDFDE"
    rf"|[EB]8601DA|IS8601DA)[A-Z]*|({_LANGUAGES})DF(DD|DE|MY|WDX|WKX)){_WIDTH}"
)
_SAS_MOMENT = re.compile(
    r"(?P<moment>(DATETIME|DATEAMPM|MDYAMPM|NLDATM|EURDFDT|[EB]8601(D[TXZ]|LX)|IS8601D[TZ])[A-Z]*"
    rf"|({_LANGUAGES})DFDT){_WIDTH}"
)
_SAS_DAY_OF_MOMENT = re.compile(rf"(?P<cut>DT(DATE|MONYY|WKDATX|YEAR|YYQC)|([EB]8601|IS8601)DN){_WIDTH}")
_SAS_SECONDS = re.compile(rf"(TIME|HHMM|HOUR|MMSS|NLTIME|[EB]8601(T[MXZ]|LZ)|IS8601T[MZ]){_WIDTH}")
_SAS_CLOCK = re.compile(rf"(TOD|TIMEAMPM|NLTIMAP){_WIDTH}")
"""The formats of SAS that show the time of day, also of a moment."""
_SAS_TIME = re.compile(
    r"(DAY|DOWNAME|JULDAY|MONNAME|MONTH|QTRR?|WEEK[UVW]|WEEKDAY|YEAR|YYWEEK[UVW]|NENGO|MINGUO|HDATE|HEBDATE|PDJUL[GI]"
    r"|(NLDAT|NLTIM|[EB]8601|IS8601)[A-Z]*"
    rf"|({_LANGUAGES})DF(DN|DWN|MN)){_WIDTH}"
)
"""All other formats of SAS for dates and times. They show a part of a date, or one in another calendar."""
_SAS_KNOWN = (_SAS_MOMENT, _SAS_DAY, _SAS_DAY_OF_MOMENT, _SAS_SECONDS, _SAS_CLOCK)
_SPSS = re.compile(r"(?P<day>[AEJS]?DATE|QYR|MOYR|WKYR)\d*|(?P<moment>DATETIME|YMDHMS)\d*(\.\d*)?")
_STATA_ZEROS, _SAS_ZEROS, _SPSS_ZEROS = (
    re.compile(pattern)
    for pattern in (r"%-?0(?P<width>\d{1,2})[.,]0f", r"Z(?P<width>\d{1,2})(\.0?)?", r"N(?P<width>\d{1,2})(\.0?)?")
)
"""The formats that show a whole number with leading zeros."""
_FROM_1960, _FROM_1582 = np.datetime64("1960-01-01", "us"), np.datetime64("1582-10-14", "us")
_SAS = (".sas7bdat", ".xpt")
_STATA_START, _STATA_END = b"<stata_dta>", b"</stata_dta>"
_DAY = 86_400
_MANY_MONTHS = 20_000  # beyond, the years have no four digits
_UTF_8 = ("utf-8", "utf-8-sig")
_COMMON = string.ascii_letters + string.digits + "_."


def open_statistics(path: Path, form: TextForm) -> OpenedFile:
    """Open a file of a statistics program. Only the requested columns are read."""
    try:
        import pyreadstat
    except ImportError:
        what, hint = "needs the package pyreadstat.", "pip install 'sudare[statistics]'"
        raise MissingExtraError(Problem(path.name, what, hint)) from None
    reader: Callable[..., tuple[Mapping[str, list[Any]], Any]] = getattr(pyreadstat, READERS[path.suffix.lower()])

    encoding = _encoding(form.encoding)

    def loaded(**options: Any) -> tuple[Mapping[str, list[Any]], Any]:
        if encoding:
            options["encoding"] = encoding  # the files say which they are in; a policy may know better
        try:
            return reader(str(path), output_format="dict", disable_datetime_conversion=True, **options)
        except UnicodeError:
            raise DataError(_misread(path, form.encoding if encoding else "")) from None
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError) as error:
            if encoding and "character set" in str(error):
                raise DataError(_no_encoding(form.encoding, "is not known to pyreadstat.")) from None
            if "convert string" in str(error):
                raise DataError(_misread(path, form.encoding if encoding else "")) from None
            raise DataError(_damaged(path)) from None

    _check_end(path)
    names = list(loaded(metadataonly=True)[1].column_names)

    def read(columns: list[str]) -> pa.Table:
        cells, about = loaded(usecols=columns)
        if not columns or not len(cells[columns[0]]):
            raise no_records(path)
        problems: list[Problem] = []
        found = [_column(name, cells[name], about, path.suffix.lower(), form, problems) for name in columns]
        if problems:
            raise DataError(problems)
        return pa.table(found, names=columns)

    return OpenedFile(names, read, lambda columns, _: open_table(read(columns)))


def _encoding(name: str) -> str:
    """Return the name that the library has for an encoding; nothing for UTF-8, which files say themselves.

    Raises if text in it cannot stand in such files: names and formats are in ASCII, whatever the encoding is.
    """
    try:
        if codecs.lookup(name).name in _UTF_8:
            return ""
        common = _COMMON.encode(name) == _COMMON.encode("ascii")
    except (LookupError, ValueError):
        raise DataError(_no_encoding(name, "is no encoding of text.")) from None
    if not common:
        raise DataError(
            _no_encoding(name, "is no encoding of files of SPSS, Stata and SAS: it does not contain ASCII.")
        )
    return codecs.lookup(name).name.replace("_", "-")


def _no_encoding(name: str, what: str) -> Problem:
    hint = "leave it out, for the files say theirs; if that is wrong, cp1252 is that of many older files from Windows."
    return Problem("encoding", f"{name!r} {what}", hint)


def _misread(path: Path, encoding: str) -> Problem:
    """Return what is wrong with a file that is not in an encoding that was given, or else in the one that it states."""
    stated = f"that is not in {encoding}." if encoding else "that is not in the encoding which the file states."
    hint = "set source: {encoding: ...}; cp1252 is that of many older files from Windows."
    return Problem(path.name, f"holds text {stated}", hint)


def _damaged(path: Path) -> Problem:
    what = "cannot be read: it is damaged, or its format does not match its ending."
    return Problem(path.name, what, "open it in the program that wrote it, and save it again.")


def _check_end(path: Path) -> None:
    """Raise if the end of a file of Stata is missing, which the library reads without its labels."""
    with path.open("rb") as file:
        if file.read(len(_STATA_START)) != _STATA_START:
            return
        file.seek(-min(path.stat().st_size, 64), 2)
        if _STATA_END not in file.read():
            raise DataError(_damaged(path))


def _column(name: str, cells: list[Any], about: Any, ending: str, form: TextForm, problems: list[Problem]) -> pa.Array:
    """Return a column as the program shows it."""
    labels: Mapping[Any, str] = (about.variable_value_labels.get(name) or {}) if form.labels else {}
    if about.readstat_variable_types.get(name) == "string":
        text = pa.array(cells, pa.large_string())
        codes = plain = pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)  # there is no empty text
    else:
        codes = pa.array(cells, pa.float64(), from_pandas=True)
        plain = _shown(name, codes, str(about.original_variable_types.get(name) or ""), ending, problems)
    if not labels:
        return plain
    if not pa.types.is_temporal(plain.type) and (labelled := _labelled(name, codes, labels, problems)) is not None:
        return labelled
    listed = [*form.missing, *form.missing_labels.get(name, ())]
    lost = [code for code, label in labels.items() if label and label in listed]
    return _without(plain, codes, lost)


def _labelled(name: str, codes: pa.Array, labels: Mapping[Any, str], problems: list[Problem]) -> pa.Array | None:
    """Return labels instead of codes, if each code that occurs has one; else the codes are numbers with exceptions."""
    encoded = codes.dictionary_encode()
    texts = [labels.get(code) for code in encoded.dictionary.to_pylist()]
    if any(text is None for text in texts):
        return None
    if len(set(texts)) < len(texts):
        what = f"has {len(texts)} codes, but only {len(set(texts))} different labels for them."
        problems.append(Problem(f"column '{name}'", what, "set source: {labels: false} to keep the codes."))
    return pa.array(texts, pa.large_string()).take(encoded.indices)


def _without(cells: pa.Array, codes: pa.Array, lost: Collection[Any]) -> pa.Array:
    """Return cells without those whose code is missing, because its label stands for a missing cell."""
    text = pa.types.is_large_string(codes.type)
    alike = [code for code in lost if isinstance(code, str) == text]  # labels of .a and others of Stata are not numbers
    if not alike:
        return cells
    return pc.if_else(pc.is_in(codes, value_set=pa.array(alike, codes.type)), pa.scalar(None, cells.type), cells)


def _shown(name: str, numbers: pa.Array, shown: str, ending: str, problems: list[Problem]) -> pa.Array:
    """Return numbers in the format that the file has for them."""
    if _is_strange_time(shown, ending):
        program, example = ("Stata", "%td or %tc") if ending == ".dta" else ("SAS", "DATE9. or DATETIME20.")
        what = (
            f"is shown in the format {shown} of {program}. sudare does not know what its numbers mean in this format."
        )
        hint = f"in {program}, give the column the format {example}, or put what it shows into a new column."
        problems.append(Problem(f"column '{name}'", what, hint))
        return numbers
    times = _times(numbers, shown, ending)
    if times is not None:
        return times
    if ending in _SAS and _SAS_CLOCK.fullmatch(shown.upper()):
        days = pc.multiply(pc.floor(pc.divide(numbers, _DAY)), _DAY)
        return whole_numbers(pc.subtract(numbers, days))
    whole = whole_numbers(numbers)
    pattern = _STATA_ZEROS if ending == ".dta" else _SAS_ZEROS if ending in _SAS else _SPSS_ZEROS
    zeros = pattern.fullmatch(shown if ending == ".dta" else shown.upper())
    if zeros is None or not pa.types.is_integer(whole.type) or pc.any(pc.less(whole, 0)).as_py():
        return whole
    return pc.utf8_lpad(whole.cast(pa.large_string()), width=int(zeros["width"]), padding="0")


def _is_strange_time(shown: str, ending: str) -> bool:
    """Whether a format shows dates or times in a way that is not read; SPSS has no such format."""
    if ending == ".dta":
        known = any(each.match(shown) for each in (_STATA, _STATA_PERIOD, _STATA_NUMBER))
        return not known and _STATA_TIME.match(shown) is not None
    if ending not in _SAS:
        return False
    known = any(each.fullmatch(shown.upper()) for each in _SAS_KNOWN)
    return not known and _SAS_TIME.fullmatch(shown.upper()) is not None


def _times(numbers: pa.Array, shown: str, ending: str) -> pa.Array | None:
    """Return days or moments, if the format in which a number is shown is one of them."""
    if ending == ".dta" and (period := _STATA_PERIOD.match(shown)):
        return _periods(numbers, period["period"].lower())
    if ending == ".dta":
        found, start, per_second = _STATA.match(shown), _FROM_1960, 1e3
    elif ending in _SAS:
        name = shown.upper()
        found = _SAS_MOMENT.fullmatch(name) or _SAS_DAY_OF_MOMENT.fullmatch(name) or _SAS_DAY.fullmatch(name)
        start, per_second = _FROM_1960, 1.0
    else:
        found, start, per_second = _SPSS.fullmatch(shown.upper()), _FROM_1582, 1.0
    if found is None:
        return None
    there = np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False))
    values = np.where(there, np.asarray(numbers.fill_null(0.0).to_numpy(), np.float64), 0.0)
    kind = next(key for key in ("day", "moment", "cut") if found.groupdict().get(key))
    days = start is _FROM_1960 and kind == "day"  # SPSS keeps days as seconds, and SAS those that it cuts
    seconds = values * _DAY if days else values / per_second
    if np.abs(seconds).max(initial=0.0) > 3e11:  # ten thousand years: these are no times
        return None
    whole = start + np.round(seconds * 1e6).astype("timedelta64[us]")
    found_times = pa.array(whole, pa.timestamp("us"), mask=~there)
    return found_times if kind == "moment" else found_times.cast(pa.date32(), safe=False)


def _periods(numbers: pa.Array, period: str) -> pa.Array | None:
    """Return the first days of weeks, months, quarters or half years."""
    there = np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False))
    counts = np.where(there, np.asarray(numbers.fill_null(0.0).to_numpy(), np.float64), 0.0)
    weeks = np.zeros_like(counts)
    if period == "w":
        years, weeks = np.divmod(np.floor(counts), _WEEKS)
        counts = years * 12
    else:
        counts = np.floor(counts * _MONTHS[period])
    if np.abs(counts).max(initial=0.0) > _MANY_MONTHS:
        return None
    first = (np.datetime64("1960-01", "M") + counts.astype("timedelta64[M]")).astype("datetime64[D]")
    return pa.array(first + (7 * weeks).astype("timedelta64[D]"), pa.date32(), mask=~there)
