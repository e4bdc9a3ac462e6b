"""Whole releases in databases: for every method the same classes and the same figures as the local engine gives."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare import datasets
from sudare.core.errors import UnsupportedError
from sudare.methods import METHODS

from .cases import ADULT, QUASI, claims, coded, policy
from .homes import rows

DIVERSE = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "income"}]
HIDDEN = [{"model": "l-diversity", "l": 2, "column": "income"}]
BALANCED = [{"model": "l-diversity", "l": 2, "column": "marital-status"}]
LEVELS = {
    name: {"role": "quasi", "hierarchy": str(path)}
    for name, path in datasets.adult_hierarchies().items()
    if name in QUASI
}
ALL_LEVELS = {"age": {"role": "quasi", "hierarchy": {"bands": [10, 20, 40]}}, **LEVELS}
POLICIES = {
    "top-down": policy(require=DIVERSE),
    "mondrian": policy(require=DIVERSE),
    "l-clustering": policy(require=DIVERSE),
    "microaggregation": policy(require=DIVERSE),
    "three-phase": policy({"marital-status": {"role": "sensitive"}}, require=BALANCED),
    "dummies": policy(require=HIDDEN),
    "anatomy": policy({"income": {"role": "insensitive"}, "marital-status": {"role": "sensitive"}}, require=BALANCED),
    "pram": policy(require=[{"model": "pk-anonymity", "k": 3}]),
    "tds": policy(ALL_LEVELS, require=DIVERSE, method={"name": "tds", "target": "income"}),
    "full-domain": policy(ALL_LEVELS, require=DIVERSE, suppression={"limit": 0.1}),
    "incognito": policy(ALL_LEVELS, require=DIVERSE),
    "l-incognito": policy(ALL_LEVELS, require=DIVERSE),
}
RANDOM = ("dummies", "pram")
APART = ("l-clustering", "three-phase", "microaggregation")
"""These part records that agree on all that they look at; which of them goes where is drawn."""
NOT_COMPARED = ("seconds", "versions", "release_sha256", "policy_sha256", "date", "source")


def figures(certificate, *but):
    return {key: value for key, value in certificate.items() if key not in (*NOT_COMPARED, *but)}


def rounded(figure):
    """Sums in another order differ in their last digits."""
    if isinstance(figure, dict):
        return {key: rounded(value) for key, value in figure.items()}
    if isinstance(figure, list):
        return [rounded(value) for value in figure]
    return float(f"{figure:.8g}") if isinstance(figure, float) else figure


def compared(home, data, rules, names=None, **options):
    """Make a release here and there; return both, after comparing their figures and the rows of some columns."""
    local = sudare.anonymize(data, rules, seed=1, **options)
    address = home.load("source", data)
    there = sudare.anonymize(address, rules, out=home.address("release"), seed=1, **options)
    assert home.tables() == ["release", "release_sudare", "source"]
    found = home.read("release")
    assert found.column_names == local.data.column_names
    # where it is drawn which of some equal records goes where, so is how many are unique by columns beside
    but = () if names is None else ("warnings",)
    assert rounded(figures(there.certificate, *but)) == rounded(figures(local.certificate, *but))
    assert rows(found, names or found.column_names) == rows(local.data, names or found.column_names)
    assert sudare.audit(home.address("release"), rules).passed
    return local, there


def test_there_is_a_policy_for_every_method():
    assert set(POLICIES) == set(METHODS)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in (*RANDOM, "anatomy")])
def test_every_method_gives_what_it_gives_here(home, method):
    rules = {"method": {"name": method}, **POLICIES[method]}
    looked_at = [*QUASI, rules["require"][-1]["column"]] if method in APART else None
    _, there = compared(home, ADULT, rules, looked_at)
    assert rows(home.read("release"), ["hours-per-week"]) == rows(ADULT, ["hours-per-week"]) or method == "full-domain"
    assert there.certificate["method"]["name"] == method
    assert there.certificate["classes"] > 1


@pytest.mark.parametrize("method", RANDOM)
def test_methods_that_draw_have_the_same_mechanism(home, method):
    rules = {"method": {"name": method}, **POLICIES[method]}
    local = sudare.anonymize(ADULT, rules)
    there = sudare.anonymize(home.load("source", ADULT), rules, out=home.address("release"))
    drawn = ("guarantees",) if method == "pram" else ()
    assert rounded(figures(there.certificate, *drawn)) == rounded(figures(local.certificate, *drawn))
    assert sudare.audit(home.address("release"), rules).passed
    found = home.read("release")
    assert found.num_rows == ADULT.num_rows
    assert rows(found, ["hours-per-week"]) == rows(ADULT, ["hours-per-week"])
    if method == "dummies":
        assert rows(found, list(QUASI)) == rows(ADULT, list(QUASI))


def test_anatomy_is_refused(home):
    rules = {"method": {"name": "anatomy"}, **POLICIES["anatomy"]}
    address = home.load("source", ADULT)
    with pytest.raises(UnsupportedError) as caught:
        sudare.anonymize(address, rules, out=home.address("release"))
    assert "dummies" in caught.value.problems[0].hint
    assert home.tables() == ["source"]


def test_anatomy_takes_its_source_from_a_database(home, tmp_path):
    rules = {"method": {"name": "anatomy"}, **POLICIES["anatomy"]}
    sudare.anonymize(home.load("source", ADULT), rules, out=tmp_path / "release.csv")
    assert sudare.audit(tmp_path / "release.csv", rules).passed


@pytest.mark.parametrize("records", ["left-out", "masked"])
@pytest.mark.parametrize("method", ["top-down", "full-domain"])
def test_suppression(home, method, records):
    columns = ALL_LEVELS if method == "full-domain" else None
    rules = policy(columns, require=DIVERSE, method={"name": method}, suppression=suppressing(records))
    _, there = compared(home, ADULT, rules)
    if method == "full-domain":
        assert there.certificate["suppressed"] > 0


def suppressing(records):
    return {"limit": 0.1} if records == "left-out" else {"limit": 0.1, "records": "masked"}


@pytest.mark.parametrize("order", ["class", "keep"])
def test_order(home, order):
    compared(home, ADULT, policy(release={"order": order}))


def test_hierarchies_without_global_recoding(home):
    compared(home, ADULT, policy(ALL_LEVELS, require=DIVERSE))


def test_hierarchies_that_come_with_sudare(home):
    compared(home, *coded())


def test_limits_on_distributions(home):
    compared(home, ADULT, policy(require=[*DIVERSE, {"model": "t-closeness", "t": 0.3, "column": "income"}]))


def test_missing_values(home):
    """In quasi-identifiers, in sensitive values, and texts that stand for them."""
    data = ADULT.set_column(
        5, "income", pa.array([None if at % 7 == 0 else v for at, v in enumerate(ADULT["income"].to_pylist())])
    )
    data = data.set_column(
        0, "age", pa.array([None if at % 5 == 0 else v for at, v in enumerate(ADULT["age"].to_pylist())], pa.int64())
    )
    compared(home, data, policy(require=DIVERSE, source={"missing": ["", "Private"]}))


def test_numbers_that_are_none(home):
    ages = [float("nan") if at % 9 == 0 else float(v) for at, v in enumerate(ADULT["age"].to_pylist())]
    compared(home, ADULT.set_column(0, "age", pa.array(ages)), policy(require=DIVERSE))


def test_values_of_many_types(home):
    import datetime

    first = datetime.date(1990, 1, 1)
    count = ADULT.num_rows
    data = pa.table(
        {
            "born": [first + datetime.timedelta(days=at * 37 % 900) for at in range(count)],
            "seen": pa.array(
                [datetime.datetime(2020, 1, 1 + at % 9, at % 24) for at in range(count)], pa.timestamp("us")
            ),
            "yes": [at % 3 == 0 for at in range(count)],
            "share": [round(at % 11 * 0.1, 1) for at in range(count)],
            "small": pa.array([at % 13 for at in range(count)], pa.int16()),
            "text": [["é", "e\u0301", "", "日本", "a,b", 'q"'][at % 6] for at in range(count)],
            "ill": [["flu", "pox", "cold"][at % 3] for at in range(count)],
        }
    )
    rules = {
        "columns": {name: {"role": "quasi"} for name in data.column_names[:-1]} | {"ill": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "ill"}],
    }
    compared(home, data, rules)


def test_many_alike(home):
    """Few atoms with many records, which go to several classes."""
    data = pa.table({"age": [30] * 90 + [31] * 10, "sex": ["F", "M"] * 50, "ill": ["flu"] * 50 + ["pox", "cold"] * 25})
    rules = {
        "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "column": "ill"}],
    }
    home.load("alike", data)
    for method in ("top-down", "l-clustering", "mondrian"):
        local = sudare.anonymize(data, rules, method=method, seed=1)
        there = sudare.anonymize(home.address("alike"), rules, method=method, out=home.address("release"), seed=1)
        assert rounded(figures(there.certificate)) == rounded(figures(local.certificate))
        assert rows(home.read("release")) == rows(local.data)


CLAIMS = {
    "columns": {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "codes": {"role": "quasi"},
        "cost": {"role": "insensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 5}],
}


class TestItemSets:
    @pytest.mark.parametrize("limit", [0, 0.1])
    def test_lists(self, home, limit):
        compared(home, claims(), {**CLAIMS, "suppression": {"limit": limit}})

    def test_texts(self, home):
        data = claims()
        joined = [None if items is None else ";".join(items) for items in data["codes"].to_pylist()]
        data = data.set_column(2, "codes", pa.array(joined))
        columns = {**CLAIMS["columns"], "codes": {"role": "quasi", "kind": "items", "separator": ";"}}
        compared(home, data, {**CLAIMS, "columns": columns})

    def test_numbers(self, home):
        data = claims()
        codes = [[int(code[1:]) for code in items] for items in data["codes"].to_pylist()]
        compared(home, data.set_column(2, "codes", pa.array(codes, pa.list_(pa.int32()))), CLAIMS)

    def test_missing_sets(self, home):
        data = claims()
        sets = [None if at % 6 == 0 else items for at, items in enumerate(data["codes"].to_pylist())]
        compared(home, data.set_column(2, "codes", pa.array(sets, pa.list_(pa.string()))), CLAIMS)

    def test_combinations(self, home):
        require = [{"model": "km-anonymity", "k": 3, "m": 2, "column": "codes"}]
        columns = {**CLAIMS["columns"], "codes": {"role": "quasi", "kind": "items"}}
        columns |= {"age": {"role": "insensitive"}, "sex": {"role": "insensitive"}}
        compared(home, claims(), {"columns": columns, "require": require})

    def test_lists_that_are_carried(self, home):
        columns = {**CLAIMS["columns"], "codes": {"role": "insensitive"}}
        compared(home, claims(), {**CLAIMS, "columns": columns})


class TestSubjects:
    """People with several records."""

    @pytest.mark.parametrize("how", ["per-class", "linked"])
    @pytest.mark.parametrize("sets", [False, True], ids=["single values", "item sets"])
    def test_they_are_counted(self, home, how, sets):
        columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "person": {"role": "subject"}}
        columns |= {"codes": {"role": "quasi"}} if sets else {}
        rules = {
            "columns": {**columns, "cost": {"role": "sensitive"}},
            "require": [{"model": "k-anonymity", "k": 4, "count": "subjects"}],
            "release": {"subjects": how},
        }
        data = claims()
        names = [name for name in ("age", "sex", "codes", "cost") if name in rules["columns"]]
        _, there = compared(home, data, rules, names)
        found = home.read("release")
        assert not set(map(str, found["person"].to_pylist())) & set(data["person"].to_pylist())
        people = {
            (*key, person)
            for *key, person in zip(
                found["age"].to_pylist(),
                found["sex"].to_pylist(),
                map(str, found["codes"].to_pylist()) if sets else [0] * found.num_rows,
                found["person"].to_pylist(),
                strict=True,
            )
        }
        counts = {}
        for *key, _ in people:
            counts[tuple(key)] = counts.get(tuple(key), 0) + 1
        assert min(counts.values()) >= 4
        if how == "linked":
            assert len(set(found["person"].to_pylist())) == len(set(data["person"].to_pylist()))
        assert there.certificate["guarantees"][0]["holds"]

    def test_they_are_left_out_where_records_are_counted(self, home):
        columns = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "person": {"role": "subject"}}
        rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 4}]}
        local = sudare.anonymize(claims(), rules, seed=1)
        sudare.anonymize(home.load("source", claims()), rules, out=home.address("release"), seed=1)
        assert home.read("release").column_names == local.data.column_names
        assert rows(home.read("release")) == rows(local.data)


class TestPlans:
    RULES = policy(ALL_LEVELS, require=DIVERSE, method={"name": "full-domain"}, suppression={"limit": 0.2})

    def test_a_plan_from_a_database_is_that_of_the_local_engine(self, home):
        local, there = compared(home, ADULT, self.RULES)
        assert there.plan.levels == local.plan.levels

    @pytest.mark.parametrize("unseen", ["reject", "suppress"])
    def test_a_plan_is_applied_in_a_database(self, home, unseen):
        rules = {**self.RULES, "suppression": {"limit": 0.3, "unseen": unseen}}
        plan = sudare.anonymize(ADULT, rules).plan
        others = datasets.adult("test").slice(0, 500).select(ADULT.column_names)
        if unseen == "suppress":
            countries = ["Atlantis" if at % 50 == 0 else v for at, v in enumerate(others["native-country"].to_pylist())]
            others = others.set_column(
                others.column_names.index("native-country"), "native-country", pa.array(countries)
            )
        local = sudare.apply(plan, others, seed=1)
        there = sudare.apply(plan, home.load("others", others), out=home.address("release"), seed=1)
        assert rounded(figures(there.certificate)) == rounded(figures(local.certificate))
        assert rows(home.read("release")) == rows(local.data)
        if unseen == "suppress":
            assert there.certificate["search"]["unseen"]["native-country"]["records"] == 10


class TestFromHereToThere:
    RULES = policy(require=DIVERSE)

    @pytest.fixture
    def expected(self):
        return sudare.anonymize(ADULT, self.RULES, seed=1)

    def check(self, found, expected):
        assert rows(found) == rows(expected.data)

    def test_file_to_database(self, home, tmp_path, expected):
        pq.write_table(ADULT, tmp_path / "adult.parquet")
        made = sudare.anonymize(tmp_path / "adult.parquet", self.RULES, out=home.address("release"), seed=1)
        self.check(home.read("release"), expected)
        assert rounded(figures(made.certificate)) == rounded(figures(expected.certificate))

    def test_text_to_database(self, home, tmp_path):
        import pyarrow.csv

        pyarrow.csv.write_csv(ADULT, tmp_path / "adult.csv")
        local = sudare.anonymize(tmp_path / "adult.csv", self.RULES, out=tmp_path / "release.parquet", seed=1)
        sudare.anonymize(tmp_path / "adult.csv", self.RULES, out=home.address("release"), seed=1)
        self.check(home.read("release"), type(local)({}, pq.read_table(tmp_path / "release.parquet")))

    def test_frame_to_database(self, home, expected):
        sudare.anonymize(ADULT.to_pandas(), self.RULES, out=home.address("release"), seed=1)
        assert rows(home.read("release"), list(QUASI)) == rows(expected.data, list(QUASI))

    def test_database_to_file(self, home, tmp_path, expected):
        sudare.anonymize(home.load("source", ADULT), self.RULES, out=tmp_path / "release.parquet", seed=1)
        self.check(pq.read_table(tmp_path / "release.parquet"), expected)
        assert home.tables() == ["source"]
        assert sudare.audit(tmp_path / "release.parquet", self.RULES).passed

    def test_database_to_text(self, home, tmp_path):
        sudare.anonymize(home.load("source", ADULT), self.RULES, out=tmp_path / "release.csv", seed=1)
        sudare.anonymize(ADULT, self.RULES, out=tmp_path / "local.csv", seed=1)
        one, other = ((tmp_path / name).read_text().splitlines() for name in ("release.csv", "local.csv"))
        assert one[0] == other[0]
        assert sorted(one) == sorted(other)

    def test_database_to_here(self, home, expected):
        made = sudare.anonymize(home.load("source", ADULT), self.RULES, seed=1)
        self.check(made.data, expected)
        assert made.place is None

    @pytest.mark.parametrize("method", ["top-down", "dummies"])
    def test_postgres_to_duckdb(self, postgres_home, duck_home, method):
        rules = {**POLICIES[method], "method": {"name": method}}
        expected = sudare.anonymize(ADULT, rules, seed=1)
        sudare.anonymize(postgres_home.load("source", ADULT), rules, out=duck_home.address("release"), seed=1)
        assert rows(duck_home.read("release"), list(QUASI)) == rows(expected.data, list(QUASI))
        assert (duck_home.tables(), postgres_home.tables()) == (["release", "release_sudare"], ["source"])
        assert sudare.audit(duck_home.address("release"), rules).passed

    def test_duckdb_to_postgres(self, postgres_home, duck_home, expected):
        sudare.anonymize(duck_home.load("source", ADULT), self.RULES, out=postgres_home.address("release"), seed=1)
        self.check(postgres_home.read("release"), expected)

    def test_to_a_new_duckdb_file(self, duck_home, tmp_path, expected):
        sudare.anonymize(duck_home.load("source", ADULT), self.RULES, out=f"{tmp_path}/new.duckdb#release", seed=1)
        assert sudare.audit(f"{tmp_path}/new.duckdb#release", self.RULES).passed

    def test_one_duckdb_file_by_two_names(self, duck_home, expected, monkeypatch):
        """It is one database still, and records stay in it."""
        duck_home.load("source", ADULT)
        monkeypatch.chdir(duck_home.path.parent)
        sudare.anonymize(duck_home.address("source"), self.RULES, out="home.duckdb#release", seed=1)
        self.check(duck_home.read("release"), expected)
        with pytest.raises(sudare.core.errors.TargetError, match="would replace the source itself"):
            sudare.anonymize(duck_home.address("release"), self.RULES, out="./home.duckdb#release")

    def test_two_databases_of_one_server(self, server, postgres_home, expected):
        from .homes import PostgresHome

        other = PostgresHome(server, f"{postgres_home.plain}_other")
        try:
            sudare.anonymize(postgres_home.load("source", ADULT), self.RULES, out=other.address("release"), seed=1)
            self.check(other.read("release"), expected)
            assert postgres_home.tables() == ["source"]
        finally:
            other.drop()
