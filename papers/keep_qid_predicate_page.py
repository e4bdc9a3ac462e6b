"""The part of the page of ``keep_qid.py`` about the paper's own workload, and the table of the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from keep_qid_claims import (
    CLEAR,
    EARLY,
    NEARLY,
    NOISE,
    OURS,
    PROMISE,
    ahead,
    lowest,
    ordered,
    possible,
    predicate_settings,
    ratio,
    rises,
    sinks,
)
from keep_qid_queries import OTHERS, WAYS
from page_parts import Figures, listed, table, wrapped

NAMES = {"OCC": "occupation", "SAL": "hourly wage"}
MANY = "fnlwgt"
"""The column of Adult with very many values."""


def error(one: Figures, kind: str, way: str) -> str:
    """Return an error as text; a dash where there is none."""
    if way not in one[kind]:
        return "-"
    return f"{one[kind][way]:.2g}" if one[kind][way] < 100 else f"{one[kind][way]:,.0f}"


# Figures of the paper


def figures_part(kept: Figures) -> list[str]:
    """Return the table that says of each figure and table of the paper where it is here."""
    return [
        "## The figures and tables of the paper",
        table(["in the paper", "here", "where, and why"], list(_figure_lines(kept))),
        wrapped(
            "One command makes all of them: `python papers/keep_qid.py --census FOLDER`. We know the paper's errors as "
            "ranges, and not each by itself. So we compare orders of magnitude, trends and the order of methods. With "
            "`--resume`, settings that are kept with fewer queries than are asked for are measured again."
        ),
    ]


def _figure_lines(kept: Figures) -> Iterator[list[str]]:
    predicates, adult = kept["predicates"], kept["adult"]
    women, aged = kept["examples"]["anatomy"], kept["examples"]["generalized"]
    yield [
        "example of a release: each record shows a set of l values",
        "differs",
        "the sets are drawn at random; tests check that each has l values, the truth among them",
    ]
    yield [
        "example of Anatomy: Cancer among the women, 3/8 where the truth is 0",
        "reproduced" if women["cancer"] / women["women"] == 3 / 8 else "differs",
        f"by the groups of the paper {women['cancer']:g} of {women['women']} women, which is 3/8",
    ]
    low, high = aged["shown"]
    yield [
        "example of generalized data: ages 72 to 77 count 1/6 for 73",
        "reproduced" if abs(aged["share"] - 1 / 6) < 1e-9 else "differs",
        f"a record that shows ages {low} to {high} counts {aged['share']:.4f} for {aged['age']}",
    ]
    pairs = {way: sum(by_l.values()) for way, by_l in possible(adult).items()}
    every = len(adult["sets"]) * len(adult["ls"])
    yield [
        "share of (Adult set, l) that can be anonymized: highest for dummies",
        "reproduced" if all(pairs["dummies"] > pairs[way] for way in PROMISE) else "differs",
        f"[What can be anonymized](#what-can-be-anonymized): {100 * pairs['dummies'] / every:.0f}% against "
        f"{100 * max(pairs[way] for way in PROMISE) / every:.0f}% at the same promise",
    ]
    on_adult = [one for by_l in predicates["adult"].values() for one in by_l.values()]
    won, settings = lowest(on_adult, way=EARLY)
    shared, shared_of = lowest(
        (one for one in on_adult if set(PROMISE) <= set(one["possible"])), way=EARLY, others=PROMISE
    )
    alone = sum(not set(PROMISE) & set(one["possible"]) for one in on_adult)
    yield [
        "error on Adult(1) to Adult(15), l = 2 to 10",
        f"{'reproduced' if shared >= NEARLY * shared_of else 'differs in part'}, with {_asked(predicates['adult'])}",
        f"[Adult](#adult): least of all methods that are possible in {won} of {settings} settings, but in {shared} of "
        f"the {shared_of} that all methods with the same promise can do. In {alone} no other method with "
        "this promise is possible",
    ]
    for name, words in NAMES.items():
        if name not in predicates:
            continue
        one = predicates[name]
        what = "another census table, and smaller" if name == "OCC" else "another, much smaller table; wages in bands"
        steady = {
            d: rises([each["mse"][EARLY] for each in ordered(by_g).values()])
            for d, by_g in ordered(one["grid"]).items()
        }
        unsteady = ", ".join(f"d = {d}" for d, so in steady.items() if not so)
        yield [
            f"error on {name}-3, {name}-5 and {name}-7 by g",
            "reproduced, on other data" if not unsteady else f"differs in part: no steady growth with g for {unsteady}",
            f"[By g](#{_anchor(name)}); {what}",
        ]
        for key, said in (("l", "grows with l"), ("s", "falls with s")):
            errors = [each["mse"][EARLY] for each in ordered(one[key]).values()]
            so = rises(errors) if key == "l" else sinks(errors)
            yield [
                f"error on {name}-5 by {key}: it {said}",
                "reproduced, on other data" if so else "differs",
                f"[{words.capitalize()}](#{_anchor(name)}): {errors[0]:.2g} to {errors[-1]:.2g} with the paper's "
                "estimator",
            ]
    if "OCC" in predicates:
        on_census = [one for _, one in predicate_settings(predicates)]
        won, settings = lowest(on_census, way=EARLY, others=PROMISE)
        ours, _ = lowest(on_census, others=PROMISE)
        yield [
            "least error of the four methods in nearly all settings of OCC and SAL",
            "reproduced" if won >= NEARLY * settings else "differs",
            f"in {won} of {settings} settings with the paper's estimator, in {ours} with ours, against methods with "
            f"the same promise ({_by_table(predicates)}); [where, and where "
            "not](#where-the-trends-agree-with-the-paper)",
        ]
    yield [
        "600,000 census records, with Birth place 124, Education 24 and Work class 9 values",
        "not possible",
        "we do not have this table; Census-Income (KDD) is the nearest public one",
    ]
    sizes = sorted((size for size in kept["times"] if size.isdigit()), key=int)
    early = [kept["times"][size]["query"][EARLY] for size in sizes]
    yield [
        "time of an estimate: seconds on Adult, about a minute on 100 copies",
        "reproduced, faster" if early[0] < 1 and early[-1] < 60 else "differs: slower",
        f"[Time](#time): {early[0]:.2g} and {early[-1]:.2g} seconds with the paper's estimator, on another machine",
    ]


def _anchor(name: str) -> str:
    return f"{name.lower()}-{NAMES[name].replace(' ', '-')}-is-sensitive"


# The workload of the paper


def predicates_part(kept: Figures) -> list[str]:
    """Return what came out for queries of one predicate."""
    predicates = kept["predicates"]
    parts = [
        "## The workload of the paper: one predicate",
        wrapped(
            "A query asks one question: of the records with A1 in set1 and ... and Ag in setg, how many have each "
            "sensitive value? Each set has b = ceil(|A| s^(1/(g+1))) random values. This is the workload of Anatomy "
            "(Xiao and Tao, VLDB 2006), in which s is the expected share of the records, with one of g + 1 conditions "
            f"on the sensitive value. For each setting there are {_queries(predicates)}, the same for every l. "
            "A query without records is drawn again."
        ),
    ]
    if "OCC" in predicates:
        parts += [
            "![Ten panels: error by g for d = 3, 5 and 7, by l and by s, of two tables](keep_qid_predicates.svg)",
            *_agreement_part(predicates),
        ]
        for name in NAMES:
            parts += _table_part(name, predicates[name])
        parts += [*_copies_part(predicates), *_everybody_part(predicates)]
    return [*parts, *_adult_part(predicates["adult"], kept["adult"])]


def _queries(predicates: Figures) -> str:
    """Tell how many queries there are for each setting."""
    told = []
    census = {one["queries"] for _, one in predicate_settings(predicates)}
    if census:
        told.append(f"{_between(census)} queries on the census table")
    told.append(f"{_asked(predicates['adult'])} on Adult")
    return " and ".join(told)


def _asked(adult: Figures) -> str:
    """Tell how many queries each setting of Adult has."""
    said = f"{_between({one['queries'] for one in _common(adult)})} queries"
    rest = {one["queries"] for one in adult.get(MANY, {}).values()}
    return f"{said} ({_between(rest)} for {MANY})" if rest else said


def _between(counts: set[int]) -> str:
    return f"{min(counts):,}" if len(counts) == 1 else f"{min(counts):,} to {max(counts):,}"


def _common(by_name: Figures) -> list[Figures]:
    """Return the settings of Adult but for a column with very many values, which has fewer queries."""
    return [one for name, by_l in by_name.items() if name != MANY for one in by_l.values()]


def _agreement_part(predicates: Figures) -> list[str]:
    every = dict(predicate_settings(predicates))
    shown = [one["mse"][EARLY] for one in every.values()]
    told = [one["mse"]["mondrian, distinct"] for one in every.values() if "mondrian, distinct" in one["mse"]]
    points = [
        (
            f"The paper's errors are between about 0.000001 and 0.0001 where Mondrian is near 0.001. Here its "
            f"estimator has {min(shown):.1g} to {max(shown):.1g}, and mondrian with l different values in a class "
            f"{min(told):.1g} to {max(told):.1g}, over all settings of both tables."
        ),
    ]
    for key, said, test in (
        ("s", "falls as s grows", sinks),
        ("l", "grows with l", rises),
        ("g", "grows with g", rises),
    ):
        points.append(_trend(predicates, key, said, test))
    won, settings = lowest(every.values(), way=EARLY, others=PROMISE)
    ours, _ = lowest(every.values(), others=PROMISE)
    points.append(
        f"Of the methods with the same promise, dummies have the least error in {won} of {settings} settings "
        f"with the paper's estimator{ahead(every, EARLY, PROMISE)}, and in {ours} with ours"
        f"{ahead(every, OURS, PROMISE)}."
    )
    weak, _ = lowest(every.values(), way=EARLY, others=("mondrian, distinct",))
    fair, _ = lowest(every.values(), way=EARLY, others=("mondrian, distinct",), own=True)
    points.append(
        f"`mondrian, distinct` promises less: a class may have any share of one value. dummies with the paper's "
        f"estimator have less error in {weak} of {settings} settings, and in {fair} if we divide by the estimated "
        "number of records rather than by the true one. The paper divides by the true number, and this "
        "decides: generalized data tell the distribution within a query well, but not how many records it has."
    )
    low = sum(one["median"]["mondrian, distinct"] < one["median"][EARLY] for one in every.values())
    points.append(
        f"Errors are means, as in the paper, and few queries decide them. By the median over queries, `mondrian, "
        f"distinct` is below the paper's estimator in {low} of {settings} settings."
    )
    rule = wrapped(
        f"An error grows if its last value is at least {CLEAR:g} times its first one, and no step falls by more than a "
        f"factor of {NOISE:g}; it falls if the reverse is so. *Nearly all* settings are at least {NEARLY:.0%} of them, "
        "*often* is in more than half."
    )
    return ["### Where the trends agree with the paper", rule, listed(points)]


def _by_table(predicates: Figures) -> str:
    """Tell for each table in how many settings dummies have the least error, with the paper's estimator."""
    told = []
    for name in NAMES:
        own = [one for words, one in predicate_settings(predicates) if words.startswith(name)]
        if own:
            won, settings = lowest(own, way=EARLY, others=PROMISE)
            told.append(f"{name}: {won} of {settings}")
    return ", ".join(told)


def _trend(predicates: Figures, key: str, said: str, test: Callable[[Sequence[float]], bool]) -> str:
    """Tell for which tables and estimators a trend shows."""
    found = []
    for name in NAMES:
        series = (
            {f"d = {d}": one for d, one in predicates[name]["grid"].items()}
            if key == "g"
            else {"": predicates[name][key]}
        )
        for words, by_setting in series.items():
            for way in (EARLY, OURS):
                errors = [one["mse"][way] for one in ordered(by_setting).values()]
                if len(errors) > 1:
                    found.append((f"{name}{' ' if words else ''}{words}, {way}", test(errors), errors))
    agree = [words for words, so, _ in found if so]
    differ = [words for words, so, _ in found if not so]
    rest = f" It does not for {'; '.join(differ)}." if differ else ""
    first, last = found[0][2][0], found[0][2][-1]
    return (
        f"The error {said}: in {len(agree)} of {len(found)} series (table and estimator). Example: {found[0][0]}, "
        f"from {first:.2g} to {last:.2g}.{rest}"
    )


def _table_part(name: str, found: Figures) -> list[str]:
    about = found["table"]
    parts = [
        f"### {name}: {NAMES[name]} is sensitive",
        wrapped(
            f"{about['records']:,} records, {about['values']} sensitive values, of which the most frequent has "
            f"{100 * about['most']:.1f}% of the records. Quasi-identifiers are the first d of "
            f"{', '.join(f'{column} ({size})' for column, size in about['columns'].items())}. l = 10, g = 3, s = 0.07 "
            "and d = 5, if nothing else is said."
            + (
                " The census files have income in two classes only. The wage per hour is the nearest column, of the "
                "people who have one, in 50 bands of about equal size."
                if name == "SAL"
                else ""
            )
        ),
    ]
    lines = []
    for d, by_g in ordered(found["grid"]).items():
        for g, one in ordered(by_g).items():
            lines.append([d, g, f"{one['records']:,.0f}", *(error(one, "mse", way) for way in WAYS)])
    parts += ["By d and g:", table(["d", "g", "records", *WAYS], lines)]
    for key in ("l", "s"):
        lines = [
            [setting, f"{one['records']:,.0f}", *(error(one, "mse", way) for way in WAYS)]
            for setting, one in ordered(found[key]).items()
        ]
        parts += [f"By {key}:", table([key, "records", *WAYS], lines)]
    one = found["s"].get("0.07") or next(iter(found["s"].values()))
    own = ", ".join(f"{way} {error(one, 'own', way)}" for way in OTHERS if way in one["own"])
    parts.append(
        wrapped(
            f"`records` is the mean number of records of a query. At the default, {100 * one['of few']:.1f}% of the "
            f"queries have fewer than 500 records, and half have at most {one['median records']:,.0f}. Our estimator "
            f"has {ratio(one):.2f} times the error of the paper's, converged, and {ratio(one, 'mse', OURS, EARLY):.2f} "
            f"times that of the paper's with its eps of 1. Divided by the estimated number of records, the errors of "
            f"methods that generalize are: {own}."
        )
    )
    return parts


def _copies_part(predicates: Figures) -> list[str]:
    about, found = predicates["SAL, copies"]["table"], predicates["SAL, copies"]["default"]
    usual = predicates["SAL"]["grid"]["5"]["3"]
    ways = [way for way in WAYS if way in found["mse"]]
    lines = [
        [f"{predicates['SAL']['table']['records']:,}", *(error(usual, "mse", way) for way in ways)],
        [f"{about['records']:,} ({about['copies']} copies)", *(error(found, "mse", way) for way in ways)],
    ]
    return [
        "### Why anatomy has less error for the wage",
        wrapped(
            "In OCC dummies are ahead of anatomy, in SAL they are not. SAL is small, and wages depend little on these "
            "columns. The error of dummies is chance, and falls in proportion to the records of a query. That of "
            "anatomy is mostly bias, towards the distribution of all records, and stays. To see this, we take every "
            f"record of SAL {about['copies']} times, about as many as the paper has ({found['queries']:,} queries):"
        ),
        table(["records", *ways], lines),
    ]


def _everybody_part(predicates: Figures) -> list[str]:
    lines = []
    for name in NAMES:
        one = predicates[f"{name}, everybody"]
        about, found = one["table"], one["default"]
        lines.append(
            [
                NAMES[name],
                f"{about['records']:,}",
                f"{100 * about['most']:.1f}%",
                *(error(found, "mse", way) for way in WAYS),
            ]
        )
    counts = sorted({predicates[f"{name}, everybody"]["default"]["queries"] for name in NAMES})
    queries = " and ".join(f"{count:,}" for count in counts)
    return [
        "### A value that most people have",
        wrapped(
            f"The same tables ({queries} queries) with the people who have no occupation, or no hourly wage. That is a "
            "value like others, and most have it. Then only dummies, and mondrian with l different values in a class, "
            "can keep l = 10."
        ),
        table(["sensitive", "records", "most frequent", *WAYS], lines),
    ]


def _adult_part(found: Figures, adult: Figures) -> list[str]:
    lines = []
    for name, by_l in found.items():
        size = adult["sets"][name]["values"]
        best = max((diverse for diverse in by_l if int(diverse) < size), key=int, default=next(iter(by_l)))
        one = by_l[best]
        lines.append([name, f"{size:,}", best, f"{one['queries']:,}", *(error(one, "mse", way) for way in WAYS)])
    every = {f"{name}, l = {diverse}": one for name, by_l in found.items() for diverse, one in by_l.items()}
    same = {key: one for key, one in every.items() if set(PROMISE) <= set(one["possible"])}
    won, settings = lowest(every.values(), way=EARLY)
    ours, _ = lowest(every.values())
    fair, _ = lowest(every.values(), own=True)
    shared, shared_of = lowest(same.values(), way=EARLY, others=PROMISE)
    ours_shared, _ = lowest(same.values(), others=PROMISE)
    growing = [name for name, by_l in found.items() if len(by_l) > 2]
    rising = [name for name in growing if rises([one["mse"][EARLY] for one in ordered(found[name]).values()])]
    most = max(ratio(one) for one in every.values())
    few = f" {MANY} has fewer queries, for time." if MANY in found else ""
    return [
        "### Adult",
        wrapped(
            "Each column of Adult is the sensitive one in turn, with all others as quasi-identifiers, g = 3, s = 0.07. "
            "The table shows the largest l up to 10 at which something can be learnt; the JSON file has all l from 2. "
            "A column of two values has l = 2, where each set has both values and nothing can be learnt." + few
        ),
        table(["sensitive", "values", "l", "queries", *WAYS], lines),
        wrapped(
            f"Over all {settings} pairs of a column and an l, dummies have the least error of the methods that are "
            f"possible in {won} with the paper's estimator and in {ours} with ours ({fair}, if methods that generalize "
            f"are divided by the estimated number of records). In the {shared_of} pairs that all methods with the same "
            f"promise can do, it is {shared} and {ours_shared}{ahead(same, OURS, PROMISE)}. The error of the paper's "
            f"estimator grows with l in {len(rising)} of {len(growing)} columns with more than two l. Our estimator "
            f"has at most {most:.3f} times the error of the paper's, converged."
        ),
    ]
