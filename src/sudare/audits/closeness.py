"""t-closeness as SQL: the earth mover's distance between each class and the whole release.

Reference: Li, Li and Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007,
whose three ground distances these are. All three are computed from the values that occur in a class: the rows
needed stay proportional to the release, however many values the column has.
"""

from __future__ import annotations

import pyarrow as pa

from sudare.audits.audit_report import Guarantee
from sudare.audits.equivalence_classes import Classes
from sudare.audits.hierarchy import read_tree
from sudare.audits.value_spellings import TWICE, check_once, in_order, merges
from sudare.core.errors import DataError, Problem
from sudare.policy import TOLERANCE, TClosenessSpec

_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


def t_closeness(classes: Classes, spec: TClosenessSpec) -> Guarantee:
    """The distribution of the sensitive values in every class is within distance t of the whole release's."""
    _, whole = classes.spread(spec.column)
    [(values,)] = classes.run(f"SELECT count(*) FROM {whole}")
    if values == 1:
        distances = "SELECT class_id, CAST(0 AS DOUBLE) AS figure FROM class"
    elif spec.distance == "ordered":
        distances = _ordered(classes, spec.column)
    elif spec.distance == "hierarchical":
        distances = _hierarchical(classes, spec.column)
    else:
        distances = _equal(classes, spec.column)
    found = classes.judge(
        f"SELECT *, figure <= $t + $slack AS holds FROM ({distances})", {"t": spec.t, "slack": TOLERANCE}
    )
    return Guarantee(spec.model, spec.parameters(), spec.t, found.highest, found.holds, found.offending)


def _equal(classes: Classes, column: str) -> str:
    """Half the sum of |share - overall|, which is the sum over the values whose share is the larger.

    What a class has too much of one value it has too little of the others, so the two halves are equal.
    """
    spread, _ = classes.spread(column)
    return f"SELECT class_id, sum(greatest(share - overall, 0.0)) AS figure FROM {spread} GROUP BY class_id"


def _ordered(classes: Classes, column: str) -> str:
    """The sum over the m ordered values of |cumulative share - cumulative overall|, divided by m - 1.

    Between two values that a class has, its own cumulative share (``level``) stands still while the overall one
    (``reached``) climbs through it. So each such stretch of places is two sums over ``reached``, one up to the
    place ``turn`` where it passes the level and one behind it; ``area`` holds these sums as running totals.
    """
    spread, whole = classes.spread(column)
    classes.run("CREATE OR REPLACE TEMP TABLE place (value_id BIGINT, place BIGINT)")
    classes.run(f"INSERT INTO place {_order(classes, column)}")
    classes.run(f"""
        CREATE OR REPLACE TEMP TABLE axis AS
        SELECT place, value_id, reached, sum(reached) OVER (ORDER BY place) AS area
        FROM (SELECT place, value_id, sum(overall) OVER (ORDER BY place) AS reached
              FROM {whole} JOIN place USING (value_id))
        UNION ALL SELECT 0, NULL, 0.0, 0.0
    """)
    return f"""
        WITH own AS (
            SELECT class_id, place,
                   sum(share) OVER running AS level,
                   coalesce(lead(place) OVER running, (SELECT max(place) + 1 FROM axis)) AS next
            FROM {spread} JOIN axis USING (value_id)
            WINDOW running AS (PARTITION BY class_id ORDER BY place)
        ),
        stretch AS (SELECT class_id, place AS first, next - 1 AS last, level FROM own
                    UNION ALL SELECT class_id, 1, min(place) - 1, 0.0 FROM own GROUP BY class_id),
        turned AS (
            SELECT stretch.*, least(greatest(axis.place, first - 1), last) AS turn
            FROM stretch ASOF JOIN axis ON stretch.level >= axis.reached
        )
        SELECT class_id, sum(
                   level * (turn - first + 1) - (middle.area - start.area)
                   + (finish.area - middle.area) - level * (last - turn)
               ) / (SELECT max(place) - 1 FROM axis) AS figure
        FROM turned
        JOIN axis AS start ON start.place = first - 1
        JOIN axis AS middle ON middle.place = turn
        JOIN axis AS finish ON finish.place = last
        GROUP BY class_id
    """


def _order(classes: Classes, column: str) -> str:
    """Return SQL that gives each value its place: the policy's order, otherwise numbers, dates or text; missing last.

    A column that the policy calls categorical is always text.
    """
    _, whole = classes.spread(column)
    order = classes.policy.columns[column].order
    if order is not None:
        words = classes.as_released(column, order)
        if merges(classes.policy.columns[column]):
            check_once(order, words, f"columns.{column}.order")
        classes.connection.register("ordering", pa.table({"label": words, "rank": range(len(words))}))
        classes.run("CREATE OR REPLACE TEMP TABLE rank AS SELECT label, min(rank) AS rank FROM ordering GROUP BY label")
        classes.connection.unregister("ordering")
        [(unknown,)] = classes.run(
            f"SELECT count(*) FROM {whole} WHERE label IS NOT NULL AND label NOT IN (SELECT label FROM rank)"
        )
        if unknown:
            raise DataError(Problem(column, f"distinct values that are not in the policy's order: {unknown}."))
        ranked = f"{whole} LEFT JOIN rank USING (label)"
        return f"SELECT value_id, row_number() OVER (ORDER BY rank NULLS LAST) FROM {ranked}"
    if merges(classes.policy.columns[column]):
        return _natural_order(classes, column)
    kind = classes.policy.columns[column].kind
    # Leading zeros speak for codes, unless the policy speaks for numbers; and only ISO dates are dates.
    codes = "false" if kind == "numeric" else "regexp_matches(label, '^[+-]?0[0-9]')"
    number = f"CASE WHEN regexp_full_match(label, '{_NUMBER}') AND NOT {codes} THEN TRY_CAST(label AS DOUBLE) END"
    moment = "regexp_matches(label, '^[0-9]{4}-[0-9]{2}-[0-9]{2}')"
    instant = f"CASE WHEN {moment} AND isfinite(TRY_CAST(label AS TIMESTAMP)) THEN TRY_CAST(label AS TIMESTAMP) END"
    [(numbers, instants, labels)] = classes.run(f"SELECT count({number}), count({instant}), count(label) FROM {whole}")
    key = number if numbers == labels else instant if instants == labels else "label"
    if kind == "categorical":
        key = "label"
    # Numbers too large to differ as DOUBLE still have one order, the same on every machine.
    return f"SELECT value_id, row_number() OVER (ORDER BY {key} NULLS LAST, label NULLS LAST) FROM {whole}"


def _natural_order(classes: Classes, column: str) -> str:
    """Return SQL that gives each value its place where spellings are merged: numbers by size, then text by itself.

    Dates and times go by when they are, if all values are such and the policy does not call them categorical.
    """
    _, whole = classes.spread(column)
    spec = classes.policy.columns[column]
    moment = "regexp_matches(label, '^[0-9]{4}-[0-9]{2}-[0-9]{2}')"
    instant = f"CASE WHEN {moment} AND isfinite(TRY_CAST(label AS TIMESTAMP)) THEN TRY_CAST(label AS TIMESTAMP) END"
    [(instants, labels)] = classes.run(f"SELECT count({instant}), count(label) FROM {whole}")
    if labels and instants == labels and spec.kind != "categorical":
        return f"SELECT value_id, row_number() OVER (ORDER BY {instant} NULLS LAST, label NULLS LAST) FROM {whole}"
    found = in_order([label for (label,) in classes.run(f"SELECT label FROM {whole} WHERE label IS NOT NULL")], spec)
    classes.connection.register(
        "ordering", pa.table({"label": pa.array(found, pa.string()), "rank": range(len(found))})
    )
    classes.run("CREATE OR REPLACE TEMP TABLE rank AS SELECT * FROM ordering")
    classes.connection.unregister("ordering")
    return f"""
        SELECT value_id, row_number() OVER (ORDER BY rank NULLS LAST) FROM {whole} LEFT JOIN rank USING (label)
    """


def _hierarchical(classes: Classes, column: str) -> str:
    """The cost of moving earth at every inner node: height / height of the root * min(surplus, lack) below it.

    The extra of a node is share minus overall, summed over its leaves. The surplus of a node is the sum of its
    children's positive extras, the lack that of the negative ones; surplus - lack is the node's own extra, so
    children that a class has nothing of need no row.
    """
    spread, whole = classes.spread(column)
    spec = classes.policy.columns[column].hierarchy
    if spec is None:
        raise DataError(Problem(column, "hierarchical distance needs a hierarchy."))
    values = classes.run(f"SELECT value_id, label FROM {whole}")
    labels, policy = [label for _, label in values if label is not None], classes.policy
    tree = read_tree(spec, policy.folder, column, labels, anywhere=policy.allows_outside)
    leaves: dict[str, int] = {}
    for word, node in zip(classes.as_released(column, list(tree.leaves)), tree.leaves.values(), strict=True):
        if tree.parent[leaves.setdefault(word, node)] != tree.parent[node]:
            raise DataError(Problem(f"columns.{column}.hierarchy", "has one value twice, in two spellings.", TWICE))
    missing = sum(label is not None and label not in leaves for _, label in values)
    if missing:
        raise DataError(Problem(column, f"distinct values that are not leaves of its hierarchy: {missing}."))
    under = [
        (value, node)
        for value, label in values
        for node in (tree.path(leaves[label]) if label is not None else [tree.missing, tree.root])
    ]
    for name, table in {
        "node": pa.table({"node": range(len(tree.parent)), "parent": tree.parent, "height": tree.heights()}),
        "under": pa.table({"value_id": [value for value, _ in under], "node": [node for _, node in under]}),
    }.items():
        classes.connection.register("given", table)
        classes.run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM given")
        classes.connection.unregister("given")
    return f"""
        WITH overall AS (SELECT node, sum(overall) AS overall FROM {whole} JOIN under USING (value_id) GROUP BY node),
        extra AS (
            SELECT class_id, node, parent, sum(share) - any_value(overall.overall) AS extra
            FROM {spread} AS spread JOIN under USING (value_id) JOIN overall USING (node) JOIN node USING (node)
            GROUP BY class_id, node, parent
        ),
        surplus AS (
            SELECT class_id, parent AS node, sum(greatest(extra, 0.0)) AS surplus
            FROM extra WHERE parent IS NOT NULL GROUP BY class_id, parent
        )
        SELECT class_id,
               sum(height * least(surplus, greatest(surplus - extra, 0.0))) / (SELECT max(height) FROM node) AS figure
        FROM surplus JOIN extra USING (class_id, node) JOIN node USING (node)
        GROUP BY class_id
    """
