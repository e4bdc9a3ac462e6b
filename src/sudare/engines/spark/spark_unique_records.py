"""Unique records on Spark, counted as in :mod:`sudare.engines.database.unique_records`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sudare.engines.database.unique_records import Names, Single, in_passes, marks
from sudare.engines.spark.spark_errors import speaking

if TYPE_CHECKING:
    from sudare.engines.spark.spark import Spark


def single_on(
    spark: Spark, frame: Any, sets: Sequence[Sequence[str]], of: str | None, within: Sequence[str]
) -> list[Single]:
    """Count on Spark."""
    at_once = partial(_at_once, spark, frame) if of is None else None
    return in_passes(sets, at_once, lambda names: _together_on(spark, frame, names, of, within))


def _at_once(spark: Spark, frame: Any, part: Sequence[Names]) -> dict[Names, Single]:
    """Count by several sets of columns, in one pass."""
    from pyspark.sql import functions as made

    names, mark = marks(part)
    with speaking():
        given = spark.positions(frame, names)
        cell = dict(zip(names, given.columns, strict=True))
        groups = given.groupingSets([[cell[name] for name in each] for each in part], *cell.values()).agg(
            made.grouping_id(*cell.values()).alias("mark"), made.count(made.lit(1)).alias("n")
        )
        once = made.sum(made.when(made.col("n") == 1, 1).otherwise(0))
        lines = spark.ask(
            lambda: groups.groupBy("mark").agg(made.count(made.lit(1)).alias("d"), once.alias("a")).toArrow()
        ).to_pylist()
    told = {int(line["mark"]): (int(line["d"]), int(line["a"])) for line in lines}
    return {each: told.get(mark[each], (0, 0)) for each in part}


def _together_on(spark: Spark, frame: Any, names: Names, of: str | None, within: Sequence[str]) -> Single:
    from pyspark.sql import functions as made

    wanted = list(dict.fromkeys([*names, *(within if of is not None else ()), *([] if of is None else [of])]))
    with speaking():
        given = spark.positions(frame, wanted)
        cell = dict(zip(wanted, given.columns, strict=True))
        keys = [cell[name] for name in names]
        count = made.count(made.lit(1))
        if of is None:
            groups = given.groupBy(*keys).agg(count.alias("n"), count.alias("p"))
        else:
            who = cell[of]
            values = made.count_distinct(made.col(who)) + made.when(made.count(who) < count, 1).otherwise(0)
            parts = list(dict.fromkeys([*keys, *(cell[name] for name in within)]))
            groups = given.groupBy(*parts).agg(count.alias("n"), values.alias("p"))
            if within:
                groups = groups.groupBy(*keys).agg(made.sum("n").alias("n"), made.max("p").alias("p"))
        kept = made.sum(made.when(made.col("p") == 1, made.col("n")).otherwise(0))
        [line] = spark.ask(lambda: groups.agg(count.alias("d"), kept.alias("a")).toArrow()).to_pylist()
    return int(line["d"]), int(line["a"] or 0)


def rare_on(spark: Spark, frame: Any, name: str, least: int, of: str | None, within: Sequence[str]) -> int:
    """Count the values of a column that fewer than ``least`` records hold, or values ``of``, ``within`` others."""
    from pyspark.sql import functions as made

    wanted = list(dict.fromkeys([name, *([] if of is None else [of, *within])]))
    with speaking():
        given = spark.positions(frame, wanted)
        cell = given.columns[0]
        held = given.where(made.col(cell).isNotNull())
        groups = (held if of is None else held.distinct()).groupBy(cell).agg(made.count(made.lit(1)).alias("n"))
        few = groups.where(made.col("n") < least)
        [line] = spark.ask(lambda: few.agg(made.count(made.lit(1)).alias("d")).toArrow()).to_pylist()
    return int(line["d"])
