"""A limit that is counted on a written release, where none is written."""

import sudare
from sudare.comparisons.run import UNCOUNTED


def test_a_comparison_says_that_it_does_not_count_what_is_unique():
    table = sudare.datasets.adult().slice(0, 300)
    columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "fnlwgt": {"role": "insensitive"}}
    require = [{"model": "k-anonymity", "k": 3}]
    limited = [*require, {"model": "uniqueness", "most": 0.1}]
    with_limit, without = (
        sudare.compare(table, {"columns": columns, "require": asked}, methods=["mondrian"], queries=20)
        for asked in (limited, require)
    )
    assert UNCOUNTED in with_limit.notes
    assert UNCOUNTED not in without.notes
