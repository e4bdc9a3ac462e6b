"""The report: whole, self-contained, escaped, and blurred; and refused where release and data do not belong "
"together."""

import json
import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import sudare
from sudare.core.errors import DataError, TargetError
from sudare.policy import MODEL_NAMES
from sudare.reports.explanations import meaning

from .people import ODD_NUMBERS, POLICY, SECRETS, report_on, table

SECTIONS = ("promises", "columns", "relations", "classes", "attributes", "risk", "use", "policy", "certificate",
            "blurring", "checklists")  # fmt: skip


class Outline(HTMLParser):
    """The tags of a page, its text, and whether they are closed in order."""

    VOID = ("meta", "link", "br")

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text, self.ids, self.addresses = [], [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        about = dict(attrs)
        self.ids += [about["id"]] if "id" in about else []
        self.addresses += [about[name] for name in ("href", "src", "srcset", "action", "data") if name in about]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def report():
    return report_on(POLICY, table())


@pytest.fixture(scope="module")
def outline(report):
    return Outline(report.html)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_every_model_is_explained(model):
    assert meaning({"model": model, "parameters": {}})


def test_every_section_is_there_and_linked(outline):
    assert [name for name in outline.ids if name in SECTIONS] == list(SECTIONS)
    assert [each for each in outline.addresses if each.startswith("#")] == [f"#{name}" for name in SECTIONS]
    assert outline.open == []


def test_it_needs_nothing_else(report, outline):
    assert "script" not in outline.tags
    assert [each for each in outline.addresses if not each.startswith("#")] == ["data:,"]
    assert "http:" not in report.html.replace("http-equiv", "")
    assert "https:" not in report.html
    assert "url(" not in report.html
    assert "@import" not in report.html
    assert "default-src 'none'" in report.html
    assert len(report.html.encode()) < 5_000_000


def test_it_is_for_light_dark_and_paper(report):
    for part in ("color-scheme: light dark", "@media (prefers-color-scheme: dark)", "@media print", "@page"):
        assert part in report.html
    assert '<meta name="viewport"' in report.html


def test_no_rare_value_is_in_it(report):
    everything = report.html + json.dumps(report.figures)
    assert [secret for secret in SECRETS if secret in everything] == []
    assert [number for number in ODD_NUMBERS if number in everything.replace(",", "")] == []
    assert "Person " not in everything
    assert "1911" not in everything
    assert "2099" not in everything


def test_frequent_values_are_in_it(report):
    for value in (
        "Aburg",
        "Bstadt",
        "flu",
        "cold",
        "aspirin",
        "Fewer than 5 records have any other value",
    ):
        assert value in report.html


def test_shares_are_of_counts_rounded_to_the_threshold(report):
    data, least = table(), report.figures["threshold"]
    assert least == 5
    disease = next(each for each in report.figures["columns"] if each["name"] == "disease")
    # two rare values are too few to be a part of their own: they count for the most frequent one
    counts = {name: data["disease"].to_pylist().count(name) for name in ("flu", "pox", "cold")}
    counts["flu"] += data.num_rows - sum(counts.values())
    rounded = [least * int(count / least + 0.5) for count in counts.values()]
    assert [part["label"] for part in disease["parts"]] == ["flu", "pox", "cold"]
    assert [part["before"] for part in disease["parts"]] == [round(each / sum(rounded), 6) for each in rounded]


def test_the_release_is_read_as_analysts_read_it():
    data = pa.table({"age": [20, 21, 22, 23] * 10 + [40, 41, 42, 43] * 10, "x": ["a", "b"] * 40})
    rules = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"bands": [4]}}, "x": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 10}],
        "method": {"name": "full-domain"},
    }
    found = report_on(rules, data).figures
    age = next(each for each in found["columns"] if each["name"] == "age")
    assert age["parts"][0]["after"] == pytest.approx(0.125, abs=1e-6)
    assert age["distance"] == pytest.approx(0.0, abs=1e-6)
    assert found["smallest_class"] == 10 or found["smallest_class"] == 40
    assert [part["after"] for part in next(c for c in found["columns"] if c["name"] == "x")["parts"]] == [0.5, 0.5]


def test_html_in_names_and_values_is_text():
    evil = "<script>alert(1)</script>"
    attribute = "\" onload='x' <b>&amp;"
    data = pa.table(
        {evil: [1, 2, 3, 4] * 30, attribute: ["a</td>", evil] * 60, "z": [f"<i>{n % 3}" for n in range(120)]}
    )
    rules = {
        "columns": {evil: {"role": "quasi"}, attribute: {"role": "sensitive"}, "z": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    page = report_on(rules, data).html
    found = Outline(page)
    assert {"script", "b", "i"} & set(found.tags) == {"i"} & set(found.tags)  # keys of colours are <i>
    assert found.open == []
    assert evil in "".join(found.text)
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("method", ["top-down", "mondrian", "full-domain", "l-clustering"])
def test_every_way_of_generalizing_can_be_described(method):
    data = table().select(["age", "town", "disease", "pay"])
    hierarchies = {"age": {"bands": [10, 20]}, "town": "flat"} if method == "full-domain" else {}
    columns = {name: dict(spec) for name, spec in POLICY["columns"].items() if name in data.column_names}
    for name, tree in hierarchies.items():
        columns[name]["hierarchy"] = tree
    promises = [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "disease"}]
    rules = {"columns": columns, "method": {"name": method}, "require": promises}
    found = report_on(rules, data).figures
    assert found["smallest_class"] >= 5
    for column in found["columns"]:
        if (column["shares"] or {}).get("hidden") == 1:
            assert {part["after"] for part in column["parts"]} == {None}
        else:
            assert sum(part["after"] for part in column["parts"]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("method", ["dummies", "anatomy", "pram"])
def test_hidden_values_are_estimated(method):
    data = sudare.datasets.adult("test").select(["age", "sex", "occupation"])
    promise = (
        {"model": "pk-anonymity", "k": 3}
        if method == "pram"
        else {"model": "l-diversity", "l": 3, "column": "occupation"}
    )
    rules = {
        "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "occupation": {"role": "sensitive"}},
        "require": [promise],
        "method": {"name": method},
    }  # fmt: skip
    found = report_on(rules, data)
    occupation = next(each for each in found.figures["columns"] if each["name"] == "occupation")
    assert occupation["treatment"] in ("sets", "apart", "drawn")
    assert occupation["distance"] < 0.15
    assert found.figures["smallest_class"] is None
    assert "estimate" in found.html
    # guesses from drawn values are not those of somebody who knows how they were drawn
    assert ("these guesses take drawn values as true" in found.html) == (method == "pram")


def test_people_are_counted_where_it_is_known_who_they_are():
    """A value of thirty records of two people is as rare as two people."""
    rows = 400
    data = pa.table(
        {
            "who": [0] * 15 + [1] * 15 + list(range(2, rows - 28)),
            "town": ["Qville"] * 30 + ["a", "b"] * ((rows - 30) // 2),
            "x": [place % 4 for place in range(rows)],
        }
    )
    rules = {
        "columns": {"who": {"role": "subject"}, "x": {"role": "quasi"}, "town": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 5, "count": "subjects"}],
    }
    report = report_on(rules, data)
    assert "Qville" not in report.html
    assert report.figures["people"]


def test_few_records_left_out_are_not_counted_out():
    data = table(300)
    ages = data["age"].to_pylist()
    ages[0] = ages[1] = 5000
    data = data.set_column(1, "age", pa.array(ages))
    rules = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"bands": [10, 100]}}, "disease": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 20}], "method": {"name": "full-domain"},
        "suppression": {"limit": 0.05},
    }  # fmt: skip
    release = sudare.anonymize(data, rules)
    if not 0 < release.certificate["suppressed"] < 20:
        pytest.skip("this many were left out: " + str(release.certificate["suppressed"]))
    found = sudare.report(release, data, rules)
    assert found.figures["records"]["left_out"] == {"below": 20}
    assert found.figures["records"]["source_is_rounded"]
    assert "about 300" in found.html
    assert "5000" not in found.html


def test_tiny_tables_say_that_there_is_too_little():
    data = pa.table({"age": [1, 2, 3, 4], "x": ["Qa", "Qb", "Qa", "Qb"]})
    rules = {
        "columns": {"age": {"role": "quasi"}, "x": {"role": "sensitive"}}, "require": [{"model": "k-anonymity", "k": 4}]
    }  # fmt: skip
    report = report_on(rules, data)
    assert "Qa" not in report.html
    assert "too few records" in report.html


def test_a_table_of_one_column():
    data = pa.table({"age": list(range(20, 60)) * 5})
    report = report_on({"columns": {"age": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 5}]}, data)
    assert report.figures["relations"] is None
    assert Outline(report.html).open == []


def test_a_column_of_one_value_and_a_column_of_none():
    data = pa.table({"age": [7] * 50, "x": pa.nulls(50, pa.string()), "y": ["a", "b"] * 25})
    rules = {
        "columns": {"age": {"role": "quasi"}, "x": {"role": "quasi"}, "y": {"role": "insensitive"}},
        "require": [{"model": "k-anonymity", "k": 5}],
    }
    assert Outline(report_on(rules, data).html).open == []


def test_another_table_is_refused():
    data = table()
    release = sudare.anonymize(data, POLICY)
    with pytest.raises(DataError, match=r"release: was made of 600 records, and the data has 599") as refused:
        sudare.report(release, data.slice(0, 599), POLICY)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize("change", ["disease", "age", "town"])
def test_a_table_of_the_same_size_is_refused(change):
    data = table()
    release = sudare.anonymize(data, POLICY)
    cells = {"disease": ["gout", "flu"] * 300, "age": [200 + n % 9 for n in range(600)], "town": ["Elsewhere"] * 600}[
        change
    ]
    other = data.set_column(data.column_names.index(change), change, pa.array(cells))
    with pytest.raises(DataError, match=rf"'{change}'( of the release)? shows values") as refused:
        sudare.report(release, other, POLICY)
    assert [secret for secret in SECRETS if secret in str(refused.value)] == []


def test_another_policy_is_refused():
    data = table()
    release = sudare.anonymize(data, POLICY)
    with pytest.raises(DataError, match="was made under another policy than this one"):
        sudare.report(release, data, {**POLICY, "require": [{"model": "k-anonymity", "k": 6}]})


def test_saving_leaves_nothing_half_written(report, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("older")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(TargetError, match="No space left"):
        report.save(target)
    assert target.read_text() == "older"
    assert list(tmp_path.iterdir()) == [target]
    monkeypatch.undo()
    assert report.save(target).read_text(encoding="utf-8") == report.html
    assert list(tmp_path.iterdir()) == [target]


def test_a_report_takes_no_file_that_it_is_about(tmp_path):
    data, path = table(), tmp_path / "release.csv"
    rules = {**POLICY, "columns": {name: spec for name, spec in POLICY["columns"].items() if name != "drugs"}}
    sudare.anonymize(data, rules, out=path)
    for taken in (path, tmp_path / "release.csv.sudare.json"):
        with pytest.raises(TargetError, match="is an input of the report"):
            sudare.report(path, data, rules, out=taken)
    with pytest.raises(TargetError, match="is a folder"):
        sudare.report(path, data, rules, out=tmp_path)
    with pytest.raises(TargetError, match="there is no such folder"):
        sudare.report(path, data, rules, out=tmp_path / "none" / "report.html")


def test_a_release_in_text_is_read_like_one_in_memory(tmp_path):
    rules = {**POLICY, "columns": {name: spec for name, spec in POLICY["columns"].items() if name != "drugs"}}
    data = table()
    release = sudare.anonymize(data, rules, out=tmp_path / "release.csv", seed=1)
    kept = sudare.anonymize(data, rules, out=tmp_path / "release.parquet", seed=1)
    first, second = (sudare.report(each, data, rules).figures["columns"] for each in (release, kept))
    assert first == second


def test_notebooks_show_it_in_a_frame(report):
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<section" not in shown
    assert "&lt;section" in shown


def test_notebooks_show_releases_and_audits():
    data = table()
    release = sudare.anonymize(data, POLICY)
    for shown in (release._repr_html_(), sudare.audit(release.data, POLICY)._repr_html_()):
        assert "k-anonymity" in shown
        assert "holds" in shown
        assert Outline(shown).open == []
    assert re.search(r"GCP 0\.\d{4}", release._repr_html_())


def test_figures_are_plain(report):
    assert json.loads(json.dumps(report.figures)) == report.figures


def test_numbers_under_labels_of_a_file_count_for_its_leaves(tmp_path):
    (tmp_path / "age.csv").write_text("".join(f"{age};{'young' if age < 40 else 'old'};*\n" for age in range(20, 60)))
    data = pa.table({"age": list(range(20, 60)) * 5, "x": ["a", "b"] * 100})
    columns = {"age": {"role": "quasi", "hierarchy": str(tmp_path / "age.csv")}, "x": {"role": "insensitive"}}
    rules = {"columns": columns, "require": [{"model": "k-anonymity", "k": 50}], "method": {"name": "full-domain"}}
    age = report_on(rules, data).figures["columns"][0]
    assert age["shares"]["generalized"] == 1
    assert age["distance"] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_any_type_are_told_of(tmp_path, ending):
    rows = 200
    seconds = [1_700_000_000 + 40_000 * place for place in range(rows)]
    data = pa.table(
        {
            "q": [place % 4 for place in range(rows)],
            "zone": pa.array(seconds, pa.timestamp("s", "UTC")),
            "clock": pa.array([place * 400 for place in range(rows)], pa.time32("s")),
            "wait": pa.array([place * 60 for place in range(rows)], pa.duration("s")),
            "raw": [b"x", b"y"] * (rows // 2),
            "endless": [float("inf"), 1.0] * (rows // 2),
        }
    )
    others = {name: {"role": "insensitive"} for name in data.column_names[1:]}
    rules = {"columns": {"q": {"role": "quasi"}, **others}, "require": [{"model": "k-anonymity", "k": 5}]}
    release = sudare.anonymize(data, rules, out=tmp_path / f"release.{ending}")
    found = {column["name"]: column for column in sudare.report(release, data, rules).figures["columns"]}
    assert {found[name]["kind"] for name in ("raw", "endless")} == {"other"}
    for name in ("zone", "clock", "wait"):
        assert found[name]["distance"] < 0.05, name


def test_a_text_file_is_read_once(tmp_path, monkeypatch):
    """The description and the attacks share it."""
    import pyarrow.csv

    from sudare.engines import delimited_text

    data = pa.table({"age": [str(20 + place % 40) for place in range(200)], "sex": ["F", "M"] * 100})
    rules = {
        "columns": {name: {"role": "quasi"} for name in data.column_names},
        "require": [{"model": "k-anonymity", "k": 3}],
    }
    pyarrow.csv.write_csv(data, tmp_path / "data.csv")
    release = sudare.anonymize(tmp_path / "data.csv", rules, out=tmp_path / "release.csv", seed=1)
    read, times = delimited_text.read_text, []
    monkeypatch.setattr(delimited_text, "read_text", lambda path, *rest: times.append(path.name) or read(path, *rest))
    found = sudare.report(release, tmp_path / "data.csv", rules)
    assert found.figures["risk"] is not None
    assert times.count("data.csv") == 1
