"""Errors of Spark in our own words, because messages of Spark and of Python on executors may quote cells."""

from __future__ import annotations

import base64
import logging
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sudare.core.errors import DataError, Problem, SudareError, TargetError
from sudare.core.operating_system import FULL_DISK

_MARK = re.compile(r"sudare-says:([A-Za-z0-9+/=]+):")


class ReportedError(Exception):
    """What an executor raises: one of our own errors, written down, or the name of any other."""


@contextmanager
def shielded() -> Iterator[None]:
    """On an executor: let nothing out but our own errors, in a form that the driver can read."""
    try:
        yield
    except SudareError as error:
        told = base64.b64encode(pickle.dumps((type(error), error.problems))).decode()
        raise ReportedError(f"sudare-says:{told}:") from None
    except GeneratorExit:
        raise
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise ReportedError(f"sudare-failed:{type(error).__name__}") from None
        raise ReportedError("sudare-failed:No space left on device") from None
    except Exception as error:
        raise ReportedError(f"sudare-failed:{type(error).__name__}") from None


@contextmanager
def speaking(where: str = "Spark") -> Iterator[None]:
    """On the driver: turn any error of Spark into one of our errors, without its message."""
    teller = logging.getLogger("SQLQueryContextLogger")  # it tells errors with the cells that they are about
    told, teller.disabled = teller.disabled, True
    try:
        yield
    except SudareError:
        raise
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise _in_our_words(error, where) from None
    finally:
        teller.disabled = told


def _is_of_spark(error: BaseException) -> bool:
    kinds = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(kinds & {"pyspark", "py4j", "grpc"}) or isinstance(error, ConnectionError | EOFError)


def _in_our_words(error: Exception, where: str) -> SudareError:
    text = str(error)
    told = _MARK.search(text)
    if told is not None:
        kind, problems = pickle.loads(base64.b64decode(told.group(1)))
        raised: SudareError = kind(problems)
        return raised
    kinds = {kind.__name__ for kind in type(error).__mro__}
    condition = _condition(error)
    if "JAVA_GATEWAY_EXITED" in text:
        return DataError(Problem(where, "could not be started.", "it needs Java 17 or later, and valid settings."))
    if "PATH_NOT_FOUND" in text or "PATH_DOES_NOT_EXIST" in text:
        return DataError(Problem(where, "there is no such file."))
    if "TABLE_OR_VIEW_NOT_FOUND" in text or "SCHEMA_NOT_FOUND" in text:
        return DataError(Problem(where, "Spark has no such table.", "a Parquet path ends in .parquet."))
    if "UNABLE_TO_INFER_SCHEMA" in text or "is not a Parquet file" in text:
        return DataError(Problem(where, "is not a Parquet file that Spark can read."))
    if "No space left on device" in text:
        return TargetError(
            Problem(
                where,
                "the disk is full, or the file is too large.",
                "free some space, or choose another folder.",
            )
        )
    if "OutOfMemoryError" in text or "MemoryError" in text:
        hint = "give executors more (spark.executor.memory, spark.driver.memory)."
        return DataError(Problem(where, "Spark ran out of memory.", hint))
    if "Permission denied" in text or "AccessControl" in text:
        return TargetError(Problem(where, "Spark has no permission to read or write this place."))
    if "No module named 'sudare" in text or "ModuleNotFoundError" in text:
        hint = "install the same version of sudare there."
        return DataError(Problem(where, "sudare is not installed on the executors of Spark.", hint))
    if "AnalysisException" in kinds or "ParseException" in kinds:
        return DataError(Problem(where, f"Spark refused the request{condition}."))
    failed = re.search(r"sudare-failed:(\w+)", text)
    if failed is not None:
        return DataError(Problem(where, f"a task of Spark failed ({failed.group(1)})."))
    lost = "stopped SparkContext" in text or "SparkContext was shut down" in text or isinstance(error, ConnectionError)
    if lost or "Py4JNetworkError" in kinds:
        return DataError(Problem(where, "the session of Spark was stopped, or the connection was lost."))
    return DataError(Problem(where, f"Spark failed ({type(error).__name__}{condition})."))


def _condition(error: Exception) -> str:
    """Return the name of Spark's condition, which is a fixed word and holds no data."""
    for name in ("getCondition", "getErrorClass"):
        found = getattr(error, name, None)
        if callable(found):
            word = found()
            if isinstance(word, str) and re.fullmatch(r"[A-Z0-9_.]+", word):
                return f": {word}"
    return ""
