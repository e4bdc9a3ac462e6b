"""The page of ``keep_qid.py``: what is said about what was measured."""

from __future__ import annotations

from collections.abc import Iterable

from keep_qid_claims import (
    EARLY,
    KINDS,
    METHODS,
    OURS,
    PAPER,
    Claim,
    better,
    claims,
    lowest,
    of_set,
    ordered,
    possible,
    ratio,
    shared,
)
from keep_qid_predicate_page import error as _error
from keep_qid_predicate_page import figures_part, predicates_part
from keep_qid_queries import MOST_COUNTS, OTHERS, WAYS
from page_parts import Figures, wrapped
from page_parts import table as tabled


def page(kept: Figures) -> str:
    """Return the page, from the figures alone."""
    parts = [
        "# Experiment: dummies and anatomy",
        wrapped(
            "A paper in the Journal of the Information Processing Society of Japan (56(5), 1377-1387, 2015) "
            "proposes l-diversity that leaves quasi-identifiers alone, so that an analyst can group by any "
            "of them. This page repeats its experiments with the method [dummies](../policy.md#method). It is written "
            "by `papers/keep_qid.py` from a file of figures."
        ),
        *_paper_part(),
        *_measured_part(kept),
        *figures_part(kept),
        *_claims_part(kept),
        *predicates_part(kept),
        *_possible_part(kept["adult"]),
        "## A harder workload: cells",
        wrapped(
            "Here each combination of the picked values that has records is a question of its own, as for an analyst "
            "who makes a table by all of these columns. There are hundreds of cells in a query, and most have very few "
            "records. The paper does not do this. Errors are larger: on the census table by about two orders of "
            "magnitude."
        ),
        *_adult_part(kept["adult"]),
        *(_census_part(kept["census"]) if "census" in kept else []),
        *_picture_part(kept["picture"]),
        *_times_part(kept["times"]),
        "## Run it again",
        "    pip install --group bench\n"
        "    python papers/keep_qid.py --census FOLDER\n"
        "    python papers/keep_qid.py --resume --census FOLDER\n"
        "    python papers/keep_qid.py --times\n"
        "    python papers/keep_qid.py --page",
        wrapped(
            "FOLDER has `census-income.data` and `census-income.test` of *Census-Income (KDD)* (UCI Machine Learning "
            "Repository), as they are or compressed with xz; without it, what is kept of that table stays. Figures are "
            "kept as they are found, and `--resume` goes on where a run ended. `--times` measures the times alone. "
            "`--page` writes this page and its figures from what was kept."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _paper_part() -> list[str]:
    return [
        "## What the paper says",
        wrapped(
            "A record shows a set of l values instead of its sensitive one: the truth, and l - 1 others drawn at "
            "random. Everything else stays as it was. In any group of records each value then has at most 1/l of what "
            "is shown, and this needs no more than l different values, while other methods need that no value has more "
            "than 1/l of all records. How many records of a group have a value is estimated by repeating Bayes' rule "
            "until no count moves by 1 or more."
        ),
        wrapped(
            "The paper compares this with Anatomy, with Mondrian, and with TP (three-phase), by random queries on "
            "Adult and on 600,000 census records. Its error is the least in nearly all settings, often by an order of "
            "magnitude or more: from about 0.000001 to 0.0001 where that of Mondrian is about 0.001. It can anonymize "
            "the most tables. Estimation took seconds on Adult, and about a minute on a hundred copies of it."
        ),
    ]


def _measured_part(kept: Figures) -> list[str]:
    adult, census = kept["adult"], kept.get("census")
    tables = (
        f"*Adult*, {adult['records']:,} complete records, with each of its 15 columns as the sensitive one and the 14 "
        "others as quasi-identifiers"
    )
    if census:
        columns = ", ".join(f"{name} ({size} values)" for name, size in census["columns"].items())
        tables += (
            f"; and *Census-Income (KDD)*, {census['all records']:,} records, with the detailed occupation as the "
            f"sensitive column, and as quasi-identifiers {columns}. We do not have the census table of the paper. Half "
            "of the people in this one have no occupation, which is a value like others to a method; so mostly we take "
            f"the {census['records']:,} records that have one, with {census['occupation']['values']} values, of which "
            f"the most frequent has {100 * census['occupation']['most']:.1f}% of the records"
        )
    return [
        "## What we measured",
        wrapped(f"{tables}."),
        "| way | what it is |\n|---|---|\n"
        "| em-shrunk | `dummies`, and the default estimator of sudare: maximum likelihood on the sets, drawn towards "
        "the whole table |\n"
        "| em | the same without the whole table |\n"
        "| closed-form | the unbiased estimate, made to be not negative |\n"
        "| bayes, eps 1 | the estimator of the paper |\n"
        "| bayes, converged | the same until no count moves by 0.0001; on three tables its error was within 1% of that "
        "with 0.000001 |\n"
        "| anatomy | groups in which l values occur once each; a record counts for all values of its group |\n"
        "| mondrian | `mondrian` with classes in which no value has more than 1/l of the records, which is what the "
        "other methods promise |\n"
        "| mondrian, distinct | `mondrian` with classes of l different values, which promises less |\n"
        "| three-phase | `three-phase`, its residue split |",
        wrapped(
            "A **query** picks g quasi-identifiers at random, and b = ceil(|A| s^(1/(g+1))) of the |A| values of each. "
            "Values of numeric columns are picked like any other, and not as a range. In the workload of the paper, "
            "the query is *one predicate*, and asks about all records with one of the picked values in each column. "
            "In a second, harder workload, each combination of picked values that has records is a *cell*, and a "
            "question of its own. "
            "If nothing else is said, l = 10, g = 3 and s = 0.07, as in the paper. "
            "A generalized record counts by the share of its values that are asked about: ages 72 to 77 count 1/6 for "
            "73."
        ),
        wrapped(
            "The **error** of a query or a cell is the mean, over all sensitive values, of the squared difference "
            "between true and estimated share: of count by records. It is averaged over the cells of a query, and then "
            "over queries. Most cells have very few records, and no method tells much of these; so for cells there are "
            f"also errors of {KINDS['large']} alone. Where quasi-identifiers are generalized, the number of "
            "records is an estimate as well, and a wrong one makes the error large. The paper divides by the "
            "true number, and so do the tables here. If we divide by the estimated number, these methods have smaller "
            "errors. Where we compare methods, we also give these results."
        ),
        *_amounts(kept),
        "Ours differ from the paper in this:",
        "- The census table is another one, and smaller; its columns have other numbers of values.\n"
        "- It has only two classes of income. The hourly wage of those who have one stands for it, in 50 bands.\n"
        "- A query without records is drawn again. We do not know what the paper does with it.\n"
        "- `three-phase` splits what cannot stay as it is into classes, rather than making one of it.\n"
        "- `mondrian` shows the smallest interval or set that covers a class; categories have no hierarchy.\n"
        "- `em-shrunk`, `em` and `closed-form` are not in the paper.",
    ]


def _amounts(kept: Figures) -> list[str]:
    """Tell how many queries there are."""
    adult, census = kept["adult"], kept.get("census")
    grid = [one["queries"] for by_l in adult["grid"].values() for one in by_l.values()]
    head = [one["queries"] for one in adult["headline"].values()]
    text = (
        "The paper has 1,000 queries for each setting; our numbers for its workload are below. Of the harder one, we "
        f"have {max(grid)} on Adult for each column and l, and {max(head)} for each column at one l"
    )
    if census:
        usual = census["headline"]["queries"]
        rest = {one["queries"] for what in ("g", "l", "s", "d") for one in census.get(what, {}).values()} - {usual}
        more = f", and {min(rest)} to {max(rest)} for other settings" if rest else ""
        text += f"; on the census table {usual:,} at the default{more}"
    text += ". These are few, so single figures of it are rough. All l of a column have the same queries, and all ways."
    for name, about in adult["sets"].items():
        if about["values"] > MOST_COUNTS // 1_000:
            text += (
                f" The {about['values']:,} values of {name} take long: there are {min(grid)} queries for each l and "
                f"{min(head)} at one l, and each looks at up to {MOST_COUNTS // about['values']} cells, drawn from all."
            )
    return [wrapped(text)]


def claims_lines(found: Iterable[Claim]) -> list[list[str]]:
    """Return the lines of the table of claims."""
    return [[one.said, "holds" if one.holds else "**fails**", one.found] for one in found]


def _claims_part(kept: Figures) -> list[str]:
    return [
        "## What was said beforehand, and what came out",
        tabled(["said", "", "found"], claims_lines(claims(kept))),
        wrapped(
            "Errors of methods that generalize are those of the paper's formula, which divides by the true number of "
            "records. mondrian is both variants, of which `distinct` promises less than all others. The estimator of "
            f"the paper is meant as it is when it has converged. {_early(kept)}"
        ),
    ]


def _early(kept: Figures) -> str:
    """Tell what is different with the paper's own eps."""
    shares = {name: ratio(one, "mse", OURS, EARLY) for name, one in kept["adult"]["headline"].items()}
    worst = max(shares, key=lambda name: shares[name])
    told = f"With its eps of 1, ours has at most {shares[worst]:.3f} times its error on Adult at one l ({worst})"
    if "census" in kept:
        one = kept["census"]["headline"]
        early, large = (ratio(one, kind, EARLY, PAPER) for kind in KINDS)
        told += (
            f"; on the census table this eps gives it {early:.2f} times the error that it has when it converges over "
            f"all cells, and {large:.2f} times over large ones"
        )
    return f"{told}."


def _possible_part(adult: Figures) -> list[str]:
    counts = possible(adult)
    pairs = len(adult["sets"]) * len(adult["ls"])
    useless = sum(str(about["values"]) in adult["grid"][name] for name, about in adult["sets"].items())
    lines = [
        [way, *(str(count) for count in by_l.values()), f"{100 * sum(by_l.values()) / pairs:.0f}%"]
        for way, by_l in counts.items()
    ]
    return [
        "## What can be anonymized",
        "![Lines: of 15 columns of Adult, how many can be sensitive, by l, for each method](keep_qid_possible.svg)",
        tabled(["method", *(f"l = {diverse}" for diverse in adult["ls"]), "of all"], lines),
        wrapped(
            f"Of the {len(adult['sets'])} columns of Adult, those that can be the sensitive one. dummies need l "
            "different values in the table, and so does mondrian if it only has to have as many in a class. The three "
            "others need that the most frequent value has no more than 1/l of the records, and end at the same l. In "
            f"{useless} of the pairs that dummies can do, l is the number of values: all sets are the same, and "
            "nothing can be learnt."
        ),
    ]


def _adult_part(adult: Figures) -> list[str]:
    head = ["sensitive", "values", "most frequent", "l", *WAYS, "em-shrunk by converged", "the same, all l"]
    lines = []
    for name, one in adult["headline"].items():
        about = adult["sets"][name]
        errors = [_error(one, "mse", way) for way in WAYS]
        shares = [f"{ratio(one):.3f}", f"{of_set(adult, name):.3f}" if name in adult["grid"] else "-"]
        most = 100 * about["most"]
        figures = [f"{about['values']:,}", f"{most:.{1 if most > 0.1 else 2}f}%", str(one["l"]), *errors, *shares]
        lines.append([name, *figures])
    both = shared(adult)
    best: list[list[str]] = []
    ahead: dict[str, set[str]] = {}
    for kind, which in KINDS.items():
        line = [which]
        for own in (False, True):
            won, settings = lowest(both.values(), kind, own=own)
            line.append(f"{won} of {settings}")
            for (name, _), one in both.items():
                if one[kind] and (others := better(one, kind, own=own)):
                    ahead.setdefault(name, set()).update(others)
        best.append(line)
    rest = "; ".join(f"{' or '.join(sorted(others))} if {name} is sensitive" for name, others in sorted(ahead.items()))
    early, early_of = lowest(both.values(), "mse", EARLY)
    each = {(name, need): ratio(one) for name, by_l in adult["grid"].items() for need, one in by_l.items()}
    above = {key: share for key, share in each.items() if share > 1.0005}
    (worst, worst_l), greatest = max(each.items(), key=lambda item: item[1])
    return [
        "### Cells of Adult",
        "![Points: the error of each estimator by that of the paper's, converged, for each column](keep_qid_adult.svg)",
        tabled(head, lines),
        wrapped(
            "Errors over all cells, at l = 10, or at the largest l at which something can be learnt: one less than "
            "there are values. With two values there is none, and all estimators say that both are equally frequent. "
            "`-`: the method cannot. The last column has the mean over all l up to 10."
        ),
        wrapped(
            f"All methods can do {len(both)} of the pairs of a column and an l. In how many of these do dummies with "
            "our estimator have the least error?"
        ),
        tabled(["cells", "divided by the true number of records", "divided by the estimated number"], best),
        wrapped(
            f"In the other cases another method has an error that is as small or smaller: {rest}. With the estimator "
            f"of the paper, dummies have the least error in {early} of {early_of} over all cells."
        ),
        wrapped(
            f"By column and l, our estimator has more error than the paper's in {len(above)} of {len(each)} pairs, at "
            f"most {greatest:.3f} times as much ({worst}, l = {worst_l})."
        ),
    ]


def _census_part(census: Figures) -> list[str]:
    words = {
        "g": "g, the quasi-identifiers in a query",
        "l": "l",
        "s": "s, which says how many values a query has",
        "d": "d, the quasi-identifiers of the table, in the order above",
    }
    parts = [
        "### Cells of the census table",
        "![Panels: errors by g, l, s and d, of all cells and of large ones, a line per way](keep_qid_census.svg)",
    ]
    for what, word in words.items():
        if what not in census:
            continue
        for kind, which in KINDS.items():
            lines = [
                [setting, *(_error(one, kind, way) for way in WAYS)] for setting, one in ordered(census[what]).items()
            ]
            parts += [
                f"By {word}; {which}:",
                tabled([what, *WAYS], lines),
            ]
    one = census["headline"]
    scale = [
        f"{way} {_error(one, 'own', way)} ({_error(one, 'own large', way)})" for way in OTHERS if way in one["own"]
    ]
    parts.append(
        wrapped(
            f"At the default, of {one['queries']:,} queries with {one['cells']:,.0f} cells each, "
            f"{one['large queries']:,} have {KINDS['large']}. Divided by the estimated number of records "
            f"rather than by the true one, the errors of methods that generalize are: {', '.join(scale)} (in brackets "
            f"those of large cells). Our estimator has {ratio(one):.2f} times the error of the paper's, converged, "
            f"over all cells, and {ratio(one, 'large'):.2f} times over large ones; with its eps of 1 it is "
            f"{ratio(one, 'mse', OURS, EARLY):.2f} and {ratio(one, 'large', OURS, EARLY):.2f} times."
        )
    )
    parts.append(wrapped(_ahead(census)))
    if "everybody" in census and "figures" in census["everybody"]:
        parts.append(wrapped(_of_everybody(census)))
    return parts


def _ahead(census: Figures) -> str:
    """Tell in how many of all settings dummies are best, the default counting once."""
    every = [census["headline"]]
    every += [one for what in ("g", "l", "s", "d") for one in census.get(what, {}).values() if one != every[0]]
    told = []
    for kind, which in KINDS.items():
        won, settings = lowest(every, kind)
        others = sorted({other for one in every if one[kind] for other in better(one, kind)})
        rest = f" (else {' or '.join(others)} has as little or less)" if others else ""
        told.append(f"in {won} of {settings} over {which}{rest}")
    return f"Of all these settings, dummies with our estimator have the least error {', and '.join(told)}."


def _of_everybody(census: Figures) -> str:
    about, one = census["everybody"]["occupation"], census["everybody"]["figures"]
    cannot = [way for way in METHODS if way not in one["possible"]]
    ways = (OURS, PAPER, "mondrian, distinct")
    whole, large = ([_error(one, kind, way) for way in ways] for kind in KINDS)
    return (
        f"With all {census['all records']:,} records, the value of those without an occupation has "
        f"{100 * about['most']:.1f}% of them. At l = 10 these methods cannot: {', '.join(cannot)}. The error over all "
        f"cells is {whole[0]} for em-shrunk, {whole[1]} for the paper's estimator, converged, and {whole[2]} for "
        f"mondrian, distinct; over {KINDS['large']} {large[0]}, {large[1]} and {large[2]}."
    )


def _picture_part(found: Figures) -> list[str]:
    parts = [
        "## Relationship by sex",
        "![Two panels of bars, women and men: shares of relationships, true and by method](keep_qid_picture.svg)",
        wrapped(
            f"Adult with relationship sensitive and l = {found['l']}, the largest that all methods can do. Shares of "
            "the records of each sex; where quasi-identifiers are generalized, of those that are estimated to be "
            "there. mondrian, distinct hardly had to generalize sex: a class may have any share of one value, as long "
            "as there is another."
        ),
    ]
    for at, sex in enumerate(found["sexes"]):
        lines = [[way, *(_percent(share) for share in shares[at])] for way, shares in found["shares"].items()]
        lines += [
            [f"dummies, l = {diverse}", *(_percent(share) for share in shares[at])]
            for diverse, shares in found["dummies"].items()
            if int(diverse) != found["l"]
        ]
        parts += [f"{sex}:", tabled(["", *found["relationships"]], lines)]
    return parts


def _times_part(times: Figures) -> list[str]:
    sizes = [key for key in times if key.isdigit()]
    made, asked = [], []
    for size in sizes:
        one = times[size]
        made.append([f"{int(size):,}", *(f"{one['release'][w]:.3g}" if w in one["release"] else "" for w in METHODS)])
        asked.append([f"{int(size):,}", *(f"{one['query'][w]:.3g}" if w in one["query"] else "" for w in WAYS)])
    cores = "one core" if times["cores"] == 1 else f"{times['cores']} cores"
    return [
        "## Time",
        f"Seconds to make a release, from encoded columns, on {cores}:",
        tabled(["records", *METHODS], made),
        "Seconds for a query:",
        tabled(["records", *WAYS], asked),
        wrapped(
            f"{times['sensitive'].capitalize()} sensitive ({times['values']} values), l = {times['l']}, the largest "
            f"that all methods can do; the least of {times['runs']} runs (one for the copies), and the mean of "
            f"{times['queries']} queries of the harder workload with g = 3 and s = 0.07. Reading, writing and the "
            "audit of a release are not in it. The larger table has a hundred copies of every record."
        ),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
