"""Synthetic claims: the same for the same seed, in bounded memory, and shaped as their description says."""

import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.core.errors import ParameterError, TargetError
from sudare.datasets import claims as claims_verb
from sudare.datasets import claims_chunks
from sudare.datasets.catalogue import DISEASES, DRUGS, LASTING_MOST, PASSING_MOST, world
from sudare.datasets.claims import GROUP, claims, claims_table, write_claims
from sudare.datasets.claims_chunks import CHUNK

SCHEMA = pa.schema(
    [
        ("claim", pa.int64()),
        ("patient", pa.int64()),
        ("born", pa.int16()),
        ("sex", pa.string()),
        ("month", pa.int16()),
        ("beds", pa.int16()),
        ("claim_type", pa.string()),
        ("first_day", pa.int8()),
        ("diseases", pa.list_(pa.string())),
        ("drugs", pa.list_(pa.string())),
    ]
)


@pytest.fixture(scope="module")
def table():
    return claims_table(200_000, 5)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of ten claims, so that small tables have many."""
    monkeypatch.setattr("sudare.datasets.claims_chunks.CHUNK", 10)
    monkeypatch.setitem(claims.__globals__, "CHUNK", 10)


def ask(table, sql):
    with duckdb.connect() as connection:
        connection.register("t", table)
        return connection.sql(sql).fetchall()


def test_the_verb_keeps_its_name_beside_the_module():
    assert claims_verb is sudare.datasets.claims
    assert sudare.datasets.claims(3).schema == SCHEMA
    assert sudare.datasets.claims().num_rows == 10_000


def test_schema_and_ranges(table):
    assert table.schema == SCHEMA
    assert all(column.null_count == 0 for column in table.columns)
    assert table["claim"].to_pylist() == list(range(1, 200_001))
    assert set(table["sex"].unique().to_pylist()) == {"female", "male"}
    assert set(table["claim_type"].unique().to_pylist()) == {"inpatient", "outpatient", "dental", "pharmacy"}
    limits = {"born": (1910, 2024), "month": (1, 24), "beds": (0, 1200), "first_day": (1, 31)}
    for name, (least, most) in limits.items():
        found = pc.min_max(table[name]).as_py()
        assert least <= found["min"] <= found["max"] <= most
    [[late]] = ask(table, "select count(*) from t where month = 2 and first_day > 28 or month = 14 and first_day > 29")
    assert late == 0


def test_a_patient_stays_the_same_person(table):
    [[patients, kinds]] = ask(
        table, "select count(distinct patient), count(distinct (patient, born, sex)) from (from t)"
    )
    assert patients == kinds
    assert 3.8 < table.num_rows / patients < 4.2
    many = pc.value_counts(table["patient"]).field("counts")
    assert 0.23 < pc.mean(pc.equal(many, 1).cast("int8")).as_py() < 0.27  # geometric: a quarter has one claim
    assert pc.max(many).as_py() > 20


def test_items_are_distinct_and_in_order():
    for row in claims_table(2000, 1).to_pylist():
        for name in ("diseases", "drugs"):
            assert row[name] == sorted(set(row[name]))
        assert 1 <= len(row["diseases"]) <= LASTING_MOST + PASSING_MOST


def test_sizes_and_codes(table):
    assert 4.7 < pc.mean(pc.list_value_length(table["diseases"])).as_py() < 5.3
    assert 7.5 < pc.mean(pc.list_value_length(table["drugs"])).as_py() < 8.5
    here = world()
    assert len(set(here.diseases)) == DISEASES
    assert len(set(here.drugs)) == DRUGS
    for name, codes, pattern in (("diseases", here.diseases, "[A-Z][0-9]{2}"), ("drugs", here.drugs, "^[A-Z][0-9]{2}")):
        flat = pc.list_flatten(table[name])
        assert set(flat.unique().to_pylist()) == set(codes)
        assert pc.all(pc.match_substring_regex(flat.unique(), pattern)).as_py()
        often = np.sort(pc.value_counts(flat).field("counts").to_numpy())[::-1]
        ranks = np.arange(10, 500)
        slope = np.polyfit(np.log(ranks), np.log(often[ranks]), 1)[0]
        assert -1.3 < slope < -0.7  # Zipf-like


def test_what_depends_on_what(table):
    old, young = ask(
        table,
        "select avg(len(diseases)), avg(len(drugs)), avg((claim_type = 'inpatient')::int) from t "
        "where born < 1950 or born > 2000 group by born < 1950 order by 1 desc",
    )
    assert old[0] > 2 * young[0]
    assert old[1] > 1.5 * young[1]
    assert old[2] > 1.3 * young[2]
    women = ask(table, "select avg((sex = 'female')::int) from t where born < 1940 or born > 1970 group by born < 1940")
    assert max(women)[0] > 0.58
    assert ask(table, "select count(*) from t where beds = 0 and claim_type = 'inpatient'") == [(0,)]
    [[clinics, sizes, stays]] = ask(
        table,
        "select avg((beds = 0)::int), count(distinct beds), "
        "avg((claim_type = 'inpatient')::int) filter (beds > 300) from t",
    )
    assert 0.75 < clinics < 0.81
    assert 130 <= sizes <= 170
    assert stays > 0.3


def test_some_diseases_are_of_one_sex_only(table):
    shares = ask(
        table,
        "select avg((sex = 'female')::int) from (select sex, unnest(diseases) d from t) "
        "group by d having count(*) > 200",
    )
    women, men = sum(share == 1 for [share] in shares), sum(share == 0 for [share] in shares)
    assert 0.05 < women / len(shares) < 0.15
    assert 0.01 < men / len(shares) < 0.1


def test_drugs_follow_diseases(table):
    """The usual first drug of a disease is given more often with it than without it."""
    here = world()
    disease = ask(table, "select d from (select unnest(diseases) d from t) group by 1 order by count(*) desc limit 20")
    for [code] in disease[5:]:
        drug = here.drugs[here.usual[here.diseases.index(code), 0]]
        [[given], [not_given]] = ask(
            table,
            f"select avg(list_contains(drugs, '{drug}')::int) from t "
            f"group by list_contains(diseases, '{code}') order by list_contains(diseases, '{code}') desc",
        )
        assert given > 1.05 * not_given


def test_lasting_diseases_come_back(table):
    """Two claims of a patient share more diseases than two claims of different patients of the same age and sex."""
    sql = """
        with once as (select *, row_number() over (partition by patient order by claim) n from t where born < 1960)
        select avg(len(list_intersect(a.diseases, b.diseases))) from once a join once b
        on a.n = 1 and b.n = 2 and a.born = b.born and a.sex = b.sex and {}
    """
    [[same]] = ask(table, sql.format("a.patient = b.patient"))
    [[other]] = ask(table, sql.format("a.patient <> b.patient and a.patient % 50 = 0 and b.patient % 50 = 0"))
    assert same > 2 * other


def test_the_same_seed_gives_the_same_table():
    assert claims_table(5000, 3).equals(claims_table(5000, 3))
    assert not claims_table(5000, 3).equals(claims_table(5000, 4))


@pytest.mark.usefixtures("small_chunks")
def test_threads_do_not_matter():
    one, three = (pa.Table.from_batches(claims(95, 7, threads=threads)) for threads in (1, 3))
    assert one.equals(three)
    assert [batch.num_rows for batch in claims(95, 7)] == [10] * 9 + [5]
    assert one["claim"].to_pylist() == list(range(1, 96))


@pytest.mark.usefixtures("small_chunks")
def test_chunks_are_drawn_from_the_children_of_the_seed():
    children = np.random.SeedSequence(7).spawn(3)
    for number, batch in enumerate(claims(30, 7)):
        assert batch.equals(claims_chunks.draw_chunk(number, 10, children[number]))


@pytest.mark.usefixtures("small_chunks")
def test_few_chunks_are_in_memory(monkeypatch):
    """No more are drawn than are asked for, and some for the threads to work on."""
    drawn = []

    class Counted(ThreadPoolExecutor):
        def submit(self, *given):
            drawn.append(given[1])
            return super().submit(*given)

    monkeypatch.setitem(claims.__globals__, "ThreadPoolExecutor", Counted)
    batches = claims(1000, 0)
    for taken in range(1, 6):
        next(batches)
        assert len(drawn) <= taken + 2
    before = threading.active_count()
    batches.close()
    assert threading.active_count() <= before - 2  # nobody goes on drawing


def test_a_row_group_is_a_million_rows():
    assert 900_000 < GROUP * CHUNK < 1_100_000


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("rows", [1, 9, 10, 11, 40, 41, 95])
def test_written_and_read_back(tmp_path, rows):
    told = []
    write_claims(tmp_path / "c.parquet", rows, 2, lambda *step: told.append(step))
    assert [path.name for path in tmp_path.iterdir()] == ["c.parquet"]
    table = pq.read_table(tmp_path / "c.parquet")
    assert [(field.name, str(field.type).replace("element", "item")) for field in table.schema] == [
        (field.name, str(field.type)) for field in SCHEMA
    ]
    assert table.to_pylist() == claims_table(rows, 2).to_pylist()
    assert told[-1] == ("generate claims", rows, rows)
    assert pq.ParquetFile(tmp_path / "c.parquet").num_row_groups == -(-rows // 40)


@pytest.mark.parametrize(
    ("rows", "seed", "message"),
    [(0, 0, "rows: got 0"), (-5, 0, "rows: got -5"), (1, -1, "seed: got -1"), (1.5, 0, "rows: got 1.5")],
)
def test_bad_parameters(tmp_path, rows, seed, message):
    for call in (lambda: claims(rows, seed), lambda: write_claims(tmp_path / "c.parquet", rows, seed)):
        with pytest.raises(ParameterError, match=message):
            call()
    assert not list(tmp_path.iterdir())


def test_targets_that_cannot_be(tmp_path):
    (tmp_path / "there.parquet").write_text("mine")
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / ".half.parquet.part").write_text("somebody's")
    cases = {
        "claims.csv": "does not end in",
        "there.parquet": "exists already",
        "folder.parquet": "exists already",
        "half.parquet": "no other run is writing it",
        "none/claims.parquet": "cannot be written: No such file",
        f"{'x' * 300}.parquet": "cannot be written: File name too long",
    }
    before = sorted(tmp_path.iterdir())
    for name, message in cases.items():
        with pytest.raises(TargetError, match=message):
            write_claims(tmp_path / name, 10)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "there.parquet").read_text() == "mine"
    assert (tmp_path / ".half.parquet.part").read_text() == "somebody's"


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_nothing_is_left_when_stopped(tmp_path, stop):
    def listener(stage, done, total):
        if done >= 50:
            raise stop

    with pytest.raises(stop):
        write_claims(tmp_path / "c.parquet", 200, 0, listener)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_chunks")
def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    out = tmp_path / "c.parquet"
    with pytest.raises(TargetError, match="exists already"):
        write_claims(out, 30, 0, lambda stage, done, total: out.write_text("mine") if done == 10 else None)
    assert [path.name for path in tmp_path.iterdir()] == ["c.parquet"]
    assert out.read_text() == "mine"
