"""A look at the lattice on the command line: what it lists is what going through all nodes by hand finds."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from itertools import product

import pytest

from .people import COLUMNS, Place, command, policy, text

GROUPS = {"qnurse": "care", "qdoctor": "care", "qcook": "food", "qbaker": "food", "qjudge": "qjudge"}
HEIGHTS = {"age": 3, "zip": 3, "job": 2, "sex": 1}
NAMES = (*COLUMNS, "sex")


def people(count=90, seed=1):
    pick = random.Random(seed)
    return [
        (
            f"Qperson{row}",
            pick.randrange(20, 60),
            str(pick.choice((90411, 90412, 90499, 80411, 80412))),
            pick.choice(sorted(GROUPS)),
            pick.choice(("xpox", "xpox", "xcold")),
            pick.choice("fm"),
        )
        for row in range(count)
    ]


def at(column, value, level):
    """What a value shows at a level, told here once more."""
    if level == HEIGHTS[column]:
        return "*"
    if column == "age" and level:
        width = (5, 20)[level - 1]
        return value // width
    if column == "zip" and level:
        return value[: (3, 2)[level - 1]]
    return GROUPS[value] if column == "job" and level else value


def all_nodes(rows, k, limit, diverse=1):
    """Go through the whole lattice: per node whether it keeps the policy, what it leaves out, and the sizes."""
    found = {}
    for levels in product(*(range(height + 1) for height in HEIGHTS.values())):
        classes = defaultdict(list)
        for row in rows:
            person = dict(zip(NAMES, row, strict=True))
            key = tuple(at(name, person[name], level) for name, level in zip(HEIGHTS, levels, strict=True))
            classes[key].append(person["disease"])
        sizes = [len(ill) for ill in classes.values() if len(ill) >= k and len(set(ill)) >= diverse]
        left = len(rows) - sum(sizes)
        found[levels] = (bool(sizes) and left <= limit * len(rows), left, sizes)
    return found


def finer(one, other):
    return one != other and all(low <= high for low, high in zip(one, other, strict=True))


def minimal_of(nodes):
    kept = [levels for levels, (keeps, *_) in nodes.items() if keeps]
    return {levels for levels in kept if not any(finer(other, levels) for other in kept)}


def loss_of(name, rows, left, sizes):
    if name == "discernibility":
        return sum(size**2 for size in sizes) + left * rows
    return rows / len(sizes)


def rules(limit=0.1, k=4, diverse=1, **parts):
    require = [{"model": "k-anonymity", "k": k}]
    if diverse > 1:
        require.append({"model": "l-diversity", "l": diverse, "column": "disease"})
    columns = {
        "age": {"role": "quasi", "hierarchy": {"bands": [5, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 3, 2]}},
        "job": {"role": "quasi", "hierarchy": "jobs.csv"},
        "sex": {"role": "quasi"},
    }
    return policy(columns | parts.pop("columns", {}), require=require, suppression={"limit": limit}, **parts)


class Lattice(Place):
    def __init__(self, folder):
        super().__init__(folder)
        self.secrets += ["Qperson", "qdoctor", "qbaker"]
        (folder / "jobs.csv").write_text("".join(f"{leaf};{group};*\n" for leaf, group in GROUPS.items()))

    def look(self, *more, rows=None, said=None):
        data = self.data(text(people() if rows is None else rows, NAMES))
        return self.run("explore", data, "--policy", self.policy(said or rules()), *more)

    def seen(self, *more, **others):
        """Explore; return the JSON, which must be JSON to everybody."""
        result = self.look("--json", *more, **others)
        assert result.exit_code == 0, result.output
        assert list(self.out.iterdir()) == []
        return strict(result.stdout)

    def turned_down(self, *more, code=2, **others):
        result = self.look(*more, **others)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.count("sudare: ") == 1
        return result.stderr


def strict(said):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(said, parse_constant=refuse)


@pytest.fixture
def place(tmp_path):
    return Lattice(tmp_path)


def levels(node):
    return tuple(node["levels"][name] for name in HEIGHTS)


CASES = [(0.0, 4, 1), (0.1, 4, 1), (0.1, 3, 2), (0.0, 2, 2), (0.4, 8, 1), (1.0, 30, 1)]
"""Limits of suppression, k and l."""


class TestAgainstAllNodes:
    @pytest.mark.parametrize(("limit", "k", "diverse"), CASES)
    @pytest.mark.parametrize("seed", [1, 2])
    def test_minimal_nodes_are_all_of_them_and_no_others(self, place, limit, k, diverse, seed):
        nodes = all_nodes(people(seed=seed), k, limit, diverse)
        found = place.seen(rows=people(seed=seed), said=rules(limit, k, diverse))
        assert len(found["minimal"]) == len({levels(node) for node in found["minimal"]})
        assert {levels(node) for node in found["minimal"]} == minimal_of(nodes)
        self.check_figures(found["minimal"], nodes)
        losses = [node["loss"] for node in found["minimal"]]
        assert losses == sorted(losses)

    @pytest.mark.parametrize(("limit", "k", "diverse"), CASES)
    @pytest.mark.parametrize("loss", ["discernibility", "class-size"])
    def test_the_best_are_the_best(self, place, limit, k, diverse, loss):
        nodes = all_nodes(people(), k, limit, diverse)
        losses = {node: loss_of(loss, 90, left, sizes) for node, (keeps, left, sizes) in nodes.items() if keeps}
        found = place.seen("--loss", loss, "--best", "25", said=rules(limit, k, diverse))
        assert [node["loss"] for node in found["best"]] == pytest.approx(sorted(losses.values())[:25])
        for node in found["best"]:
            assert node["loss"] == pytest.approx(losses[levels(node)])
        assert len({levels(node) for node in found["best"]}) == min(25, len(losses))
        self.check_figures(found["best"], nodes)
        search = found["search"]
        assert search["optimal"] is True
        assert search["value"] == search["at_least"] == found["best"][0]["loss"]
        assert search["levels"] == found["best"][0]["levels"]
        assert search["heights"] == HEIGHTS
        assert search["nodes"] == len(nodes)
        assert search["ties"] == sum(loss == pytest.approx(min(losses.values())) for loss in losses.values()) - 1

    @pytest.mark.parametrize("loss", ["arx", "gcp", "entropy", "precision"])
    def test_the_best_are_sorted_and_the_first_is_what_is_released(self, place, loss):
        found = place.seen("--loss", loss, "--best", "400")
        nodes = all_nodes(people(), 4, 0.1)
        kept = {node for node, (keeps, *_) in nodes.items() if keeps}
        assert {levels(node) for node in found["best"]} == kept
        losses = [node["loss"] for node in found["best"]]
        assert losses == sorted(losses)
        assert len(set(losses)) > 3
        data, said = place.data(text(people(), NAMES)), rules(method={"name": "full-domain", "loss": loss})
        made = json.loads(place.anonymize(data, place.policy(said), "--json").stdout)
        assert made["search"]["levels"] == found["best"][0]["levels"]
        lost = 1 - made["loss"][loss] if loss == "precision" else made["loss"][loss]  # which is what is left
        assert made["search"]["value"] == found["best"][0]["loss"] == pytest.approx(lost, abs=1e-4)

    @pytest.mark.parametrize("loss", ["arx", "class-size"])
    @pytest.mark.parametrize(("limit", "k", "diverse"), CASES)
    def test_what_is_around_the_best(self, place, limit, k, diverse, loss):
        nodes = all_nodes(people(), k, limit, diverse)
        found = place.seen("--loss", loss, said=rules(limit, k, diverse))
        centre = levels(found["best"][0])
        steps = [sum(abs(a - b) for a, b in zip(node, centre, strict=True)) for node in nodes]
        near = {node for node, step in zip(nodes, steps, strict=True) if step == 1}
        assert {levels(node) for node in found["around"]} == near
        assert len(found["around"]) == len(near)
        for node in found["around"]:
            assert node["keeps"] == nodes[levels(node)][0]
        self.check_figures(found["around"], nodes)

    def check_figures(self, found, nodes):
        for node in found:
            _, left, sizes = nodes[levels(node)]
            assert (node["suppressed"], node["classes"]) == (left, len(sizes))
            assert node["class_sizes"]["smallest"] == min(sizes, default=0)
            assert node["class_sizes"]["largest"] == max(sizes, default=0)
            assert node["class_sizes"]["average"] == pytest.approx((90 - left) / max(len(sizes), 1), abs=1e-6)

    @pytest.mark.parametrize("ending", [".svg", ""])
    def test_an_endless_loss_is_json_and_can_be_drawn(self, place, ending):
        """A node that forms no class at all has no average size of them."""
        rows = [(f"Qperson{row}", 20 + row, "90411", "qcook", "xpox", "f") for row in range(20)]
        said = rules(0.0, 20)
        path = place.folder / f"lattice{ending}"
        found = place.seen("--loss", "class-size", "--picture", str(path), rows=rows, said=said)
        assert [node["loss"] for node in found["around"] if not node["classes"]] == [None]
        ET.fromstring(path.read_text(encoding="utf-8"))


class TestText:
    def test_all_parts(self, place):
        result = place.look()
        assert result.exit_code == 0
        found = place.seen()
        assert result.stderr == ""
        lines = result.stdout.splitlines()
        chosen = ", ".join(f"{name} {level}" for name, level in found["search"]["levels"].items())
        assert lines[0] == f"  levels: {chosen}"
        assert lines[1].startswith("  least arx loss of all 96 nodes, ")
        assert lines[2] == "The best:"
        assert lines[3].split() == ["loss", "suppressed", "classes", "smallest", "average", "largest", "levels"]
        end = lines.index(f"Minimal, {len(found['minimal'])} in all:")
        assert end == 4 + 10
        assert [line.split("  ")[-1] for line in lines[4:end]] == [
            ", ".join(f"{name} {level}" for name, level in node["levels"].items()) for node in found["best"]
        ]
        assert len(lines) == end + 2 + len(found["minimal"])

    def test_fewer_are_listed(self, place):
        count = len(place.seen()["minimal"])
        assert count > 1
        lines = place.look("--best", "1").stdout.splitlines()
        assert lines[-1] == f"  ... and {count - 1} more"
        assert len(place.seen("--best", "1")["best"]) == 1
        assert len(place.seen("--best", "1")["minimal"]) == count

    def test_quietly(self, place):
        result = place.look("--quiet")
        assert (result.exit_code, result.output) == (0, "")

    def test_by_the_real_command(self, place):
        data, said = place.data(text(people(), NAMES)), place.policy(rules())
        result = command("explore", data, "-p", said, "--json")
        assert (result.returncode, result.stderr) == (0, "")
        assert strict(result.stdout) == place.seen()

    def test_the_policy_says_which_loss(self, place):
        assert place.seen(said=rules(method={"name": "full-domain", "loss": "gcp"}))["search"]["loss"] == "gcp"
        said = rules(method={"name": "full-domain", "loss": "gcp"})
        assert place.seen("--loss", "entropy", said=said)["search"]["loss"] == "entropy"
        assert place.seen(said=rules(method={"name": "top-down"}))["search"]["loss"] == "arx"


class TestPicture:
    def test_well_formed(self, place):
        path = place.folder / "lattice.svg"
        result = place.look("--picture", str(path))
        assert result.exit_code == 0
        assert "The best:" in result.stdout
        content = path.read_text(encoding="utf-8")
        assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        place.check_said(content)
        titles = [part.text for part in ET.fromstring(content).iter("{http://www.w3.org/2000/svg}title")]
        for node in place.seen()["around"]:
            [changed] = [name for name in HEIGHTS if node["levels"][name] != place.seen()["best"][0]["levels"][name]]
            assert any(title.startswith(f"{changed} ") for title in titles)

    @pytest.mark.parametrize("content", ["mine", ""])
    def test_nothing_is_overwritten_nor_done_first(self, place, content, monkeypatch):
        monkeypatch.setattr("sudare.api.explore", None)
        path = place.folder / "lattice.svg"
        path.write_text(content)
        assert "exists already" in place.turned_down("--picture", str(path))
        assert path.read_text() == content

    def test_not_through_a_link(self, place):
        path = place.folder / "lattice.svg"
        path.symlink_to(place.folder / "elsewhere.svg")
        assert "exists already" in place.turned_down("--picture", str(path))
        assert not (place.folder / "elsewhere.svg").exists()

    def test_over_the_data_or_the_policy(self, place):
        for name in ("people.csv", "policy.json"):
            assert "exists already" in place.turned_down("--picture", str(place.folder / name))

    def test_no_such_folder(self, place):
        said = place.turned_down("--picture", str(place.folder / "none" / "lattice.svg"))
        assert "there is no such folder" in said

    def test_none_where_nothing_was_found(self, place):
        path = place.folder / "lattice.svg"
        place.turned_down("--picture", str(path), said=rules(k=91), code=1)
        assert not path.exists()


class TestBadInput:
    def test_wrong_word(self, place):
        said = place.turned_down("--loss", "axr")
        assert "loss: got 'axr'. Allowed: arx, gcp" in said
        assert "Did you mean 'arx'?" in said

    @pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "-inf"])
    def test_no_time(self, place, limit):
        assert "time_limit: got" in place.turned_down("--time-limit", limit)

    @pytest.mark.parametrize("more", [("--time-limit", "soon"), ("--best", "0"), ("--best", "-1"), ("--best", "2.5")])
    def test_not_even_a_number(self, place, more):
        result = place.look(*more)
        assert result.exit_code == 2
        assert more[0] in result.stderr

    def test_as_json(self, place):
        result = place.look("--json", "--time-limit", "nan")
        assert result.exit_code == strict(result.stdout)["error"]["exit_code"] == 2

    def test_item_sets_and_a_loss_that_is_not_defined_for_them(self, place):
        said = place.turned_down("--loss", "entropy", said=rules(columns={"job": {"role": "quasi", "kind": "items"}}))
        assert "entropy is not defined for item sets; got 'job'" in said

    def test_item_sets_have_levels(self, place):
        result = place.look(said=rules(columns={"job": {"role": "quasi", "kind": "items"}}))
        assert result.exit_code == 0
        assert "job 1" in result.output

    def test_item_sets_that_only_km_limits(self, place):
        said = rules(columns={"job": {"role": "quasi", "kind": "items"}})
        said["require"] = [{"model": "km-anonymity", "k": 2, "m": 1, "column": "job"}]
        place.turned_down(said=said)

    def test_more_records_asked_for_than_there_are(self, place):
        assert "the table has 90 records" in place.turned_down(said=rules(k=91), code=1)

    def test_more_values_asked_for_than_there_are(self, place):
        said = place.turned_down(said=rules(diverse=3), code=1)
        assert "column 'disease' has 2 different values" in said

    def test_unmet_as_json(self, place):
        result = place.look("--json", said=rules(k=91))
        assert result.exit_code == strict(result.stdout)["error"]["exit_code"] == 1

    def test_gap(self, place):
        rows = [(*row[:3], "qodd" if number < 4 else row[3], *row[4:]) for number, row in enumerate(people())]
        place.secrets.append("qodd")
        said = place.turned_down(rows=rows)
        assert "1 of the column's 6 distinct values" in said
        assert "job" in said

    def test_no_hierarchy_file(self, place):
        said = place.turned_down(said=rules(columns={"job": {"role": "quasi", "hierarchy": "none.csv"}}))
        assert "there is no such file" in said

    def test_no_records(self, place):
        assert "has columns but no records" in place.turned_down(rows=[])


class TestTime:
    def test_enough_of_it(self, place):
        found, timed = place.seen(), place.seen("--time-limit", "60")
        for part in ("best", "minimal", "around"):
            assert timed[part] == found[part]
        assert timed["search"]["optimal"] is True

    def test_too_little(self, place):
        """However little there is, what it tells is true."""
        result = place.look("--json", "--time-limit", "1e-9")
        assert result.exit_code == 0, result.output
        found = strict(result.stdout)
        assert found["minimal"] is None
        nodes = all_nodes(people(), 4, 0.1)
        assert all(nodes[levels(node)][0] for node in found["best"])
        assert found["search"]["at_least"] <= found["search"]["value"]
        assert found["search"]["optimal"] is False
        said = place.look("--time-limit", "1e-9").stdout
        assert "best found in time; arx loss of any node" in said
        assert "The search for minimal nodes did not finish" in said

    def test_counts_are_of_the_same_nodes_each_time(self, place):
        assert place.seen() == place.seen()


def test_the_lattice_here_is_the_one_that_is_explored(place):
    """Guards the code above: nodes differ in what they keep, and records are left out in some."""
    nodes = all_nodes(people(), 4, 0.1)
    assert len(nodes) == 96
    assert Counter(keeps for keeps, *_ in nodes.values()).keys() == {True, False}
    assert any(left for keeps, left, _ in nodes.values() if keeps)
