"""Three-phase: examples by hand, its phases against slow ones, and its bound against the least residue there is."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import sudare
from sudare.core.errors import PolicyUnmetError
from sudare.methods.clustering.three_phase import three_phase
from sudare.methods.topdown.top_down import top_down
from sudare.metrics import METRICS
from sudare.models import AlphaKAnonymity, KAnonymity, LDiversity, Requirements
from sudare.sources.encoded_table import encode
from sudare.table import Table, encode_column, generalize

LETTERS = "abcdefgh"


def as_table(groups, **more) -> Table:
    """A table of groups, each of which is the numbers of its records by value; the groups' codes are their places."""
    cells = [(place, LETTERS[value]) for place, group in enumerate(groups) for value in spelled(group)]
    quasi = {"q": encode_column("q", pa.array([place for place, _ in cells]), kind="numeric")}
    sensitive = {"s": encode_column("s", pa.array([value for _, value in cells]), kind="categorical")}
    for name, column in more.items():
        sensitive[name] = encode_column(name, pa.array(column), kind="categorical")
    return Table(len(cells), quasi, sensitive)


def spelled(group):
    return [value for value, number in enumerate(group) for _ in range(number)]


def asked(diverse, *more) -> Requirements:
    return Requirements((LDiversity(diverse, "s"), *more))


def eligible(counts, diverse):
    counts = list(counts)
    return sum(counts) >= diverse * max(counts, default=0)


def together(groups):
    return tuple(map(sum, zip(*groups, strict=True)))


def solved(groups, diverse):
    """The residue that the method finds, by value, what it leaves of each group, and its facts."""
    table = as_table(groups)
    found = three_phase(table, asked(diverse), residue="one")
    last = found.count - 1 if found.facts["residue"] else -1
    left, residue = [[0] * len(group) for group in groups], [0] * len(groups[0])
    records = [(place, value) for place, group in enumerate(groups) for value in spelled(group)]
    shown = defaultdict(set)
    for (place, value), number in zip(records, found.classes.tolist(), strict=True):
        if number == last:
            residue[value] += 1
        else:
            left[place][value] += 1
            shown[number].add(place)
    assert all(len(places) == 1 for places in shown.values())  # what stays is shown as it is
    assert sum(residue) == found.facts["residue"]
    return tuple(residue), [tuple(group) for group in left], found.facts


# ---- the phases, one step after the other


class Slow:
    """The phases as the module tells them, with nothing remembered."""

    def __init__(self, groups, diverse):
        self.groups, self.diverse = [Counter(spelled(group)) for group in groups], diverse
        self.residue, self.phase, self.rounds = Counter(), 1, 0

    @staticmethod
    def pillars(counts):
        top = max(counts.values(), default=0)
        return {value for value, number in counts.items() if number == top > 0}

    @staticmethod
    def top(counts):
        return max(counts.values(), default=0)

    @property
    def short(self):
        return self.diverse * self.top(self.residue) - self.residue.total()

    def move(self, group, value):
        group[value] -= 1
        group += Counter()
        self.residue[value] += 1

    def fat(self, group):
        return group.total() > self.diverse * self.top(group)

    def spare(self, group):
        while self.short > 0 and self.fat(group):
            top = self.top(group)
            others = sorted(value for value in group if value not in self.pillars(self.residue))
            assert others
            for value in sorted(others, key=lambda value: self.residue[value]):
                if self.short > 0 and group.total() > self.diverse * top:
                    self.move(group, value)

    def drain(self, group):
        while self.short > 0 and group:
            self.spare(group)
            if self.short <= 0 or self.pillars(group) & self.pillars(self.residue):
                return
            for value in self.pillars(group):
                self.move(group, value)

    def chosen(self):
        common, found = self.pillars(self.residue), []
        while common:
            best = min(filter(None, self.groups), key=lambda g: (len(common & self.pillars(g)), len(self.pillars(g))))
            assert common - self.pillars(best)
            found.append(best)
            common &= self.pillars(best)
        return found

    def run(self):
        for group in self.groups:
            while not eligible(group.values(), self.diverse):
                self.move(group, min(self.pillars(group)))
        if self.short > 0:
            self.phase = 2
            for group in self.groups:
                self.spare(group)
        while self.short > 0:
            for group in sorted(self.groups, key=lambda group: len(self.pillars(group))):
                self.drain(group)
            if self.short <= 0:
                break
            assert all(not self.fat(g) and self.pillars(g) & self.pillars(self.residue) for g in self.groups if g)
            self.phase, self.rounds, before = 3, self.rounds + 1, self.short
            chosen = self.chosen()
            assert len(chosen) < self.diverse
            for group in chosen:
                for value in self.pillars(group) if self.short > 0 else ():
                    self.move(group, value)
            for group in chosen:
                self.spare(group)
            assert self.short <= max(before - self.diverse, 0)
        return self


def check_against_slow(groups, diverse):
    residue, left, facts = solved(groups, diverse)
    slow = Slow(groups, diverse).run()
    assert Counter(spelled(residue)) == slow.residue
    assert [Counter(spelled(group)) for group in left] == slow.groups
    assert (facts["phase"], facts["rounds"]) == (slow.phase, slow.rounds)
    return facts["phase"]


def check_bound(groups, diverse):
    residue, left, facts = solved(groups, diverse)
    assert eligible(residue, diverse)
    assert all(eligible(group, diverse) for group in left)
    assert sum(residue) + sum(map(sum, left)) == sum(map(sum, groups))
    least = least_residue(groups, diverse)
    if facts["phase"] == 1:
        assert sum(residue) == least
    elif facts["phase"] == 2:
        assert least <= sum(residue) <= least + diverse - 1
    assert least <= sum(residue) <= diverse * least
    return facts["phase"]


def least_residue(groups, diverse):
    """Try everything."""
    found = {(0,) * len(groups[0])}
    for group in groups:
        parts = [
            part for part in itertools.product(*(range(number + 1) for number in group)) if eligible(part, diverse)
        ]
        found = {
            tuple(r + n - kept for r, n, kept in zip(residue, group, part, strict=True))
            for residue in found
            for part in parts
        }
    return min(sum(residue) for residue in found if eligible(residue, diverse))


# ---- by hand


def test_an_example_by_hand():
    """Two a have to leave the first group; they lack two others, which only the second can give without its a.

    Its pillar b goes first; then it has one record more than it needs, and c is what the residue has least of.
    """
    groups = [(3, 1, 0, 0), (1, 2, 1, 0), (0, 0, 1, 1)]
    residue, left, facts = solved(groups, 2)
    assert residue == (2, 1, 1, 0)
    assert left == [(1, 1, 0, 0), (1, 1, 0, 0), (0, 0, 1, 1)]
    assert facts == {"residue": 4, "phase": 2, "rounds": 0}
    assert least_residue(groups, 2) == 4


def test_an_example_by_hand_that_needs_rounds():
    """What the first group can spare, a, is a pillar of the second, as d is of what stays of the first."""
    groups = [(1, 0, 1, 2, 1), (2, 2, 0, 0, 2)]
    residue, left, facts = solved(groups, 3)
    assert facts["phase"] == 3
    assert facts["rounds"] == 1
    assert sum(residue) <= 3 * least_residue(groups, 3) == 12
    assert eligible(residue, 3)
    assert all(eligible(group, 3) for group in left)


def test_groups_that_are_eligible_stay_as_they_are():
    groups = [(1, 1, 0), (2, 1, 1), (0, 5, 5)]
    residue, left, facts = solved(groups, 2)
    assert (sum(residue), left, facts["phase"]) == (0, groups, 1)


# ---- against the least residue, and against slow phases

SKEWED = [
    ([(1, 0, 1, 2, 1), (2, 2, 0, 0, 2)], 3),
    ([(2, 1, 2, 0, 1), (3, 1, 0, 0, 1), (1, 1, 1, 1, 2), (0, 1, 1, 1, 0)], 3),
    ([(0, 1, 1), (5, 1, 0), (0, 1, 0), (1, 2, 1)], 2),
    ([(2, 0, 0, 0), (0, 1, 1, 1), (1, 0, 1, 1), (0, 1, 1, 1)], 3),
    ([(2, 0, 0, 0, 0), (0, 2, 0, 0, 0), (1, 0, 1, 1, 0), (0, 1, 1, 0, 1), (0, 0, 1, 1, 1)], 3),
    ([(1, 0, 0, 0, 0), (0, 1, 1, 1, 1), (1, 1, 1, 0, 1)], 4),
]


@pytest.mark.parametrize(("groups", "diverse"), SKEWED, ids=str)
def test_the_bound_on_a_few_tables(groups, diverse):
    assert eligible(together(groups), diverse)
    check_bound(groups, diverse)
    check_against_slow(groups, diverse)


@pytest.mark.parametrize(("diverse", "values", "records"), [(2, 3, 6), (3, 4, 6)])
def test_the_bound_on_every_small_table(diverse, values, records):
    """All tables of so many records at most, but for the order of groups and the names of values."""
    vectors = [v for v in itertools.product(range(records + 1), repeat=values) if 0 < sum(v) <= records]
    phases = Counter()

    def grown(groups, first, room):
        totals = together(groups) if groups else ()
        if groups and list(totals) == sorted(totals, reverse=True) and eligible(totals, diverse):
            phases[check_bound(groups, diverse)] += 1
        for place in range(first, len(vectors)):
            if sum(vectors[place]) <= room:
                grown([*groups, vectors[place]], place, room - sum(vectors[place]))

    grown([], 0, records)
    assert min(phases[1], phases[2]) > 10


small = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any).map(tuple), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(small.filter(lambda groups: sum(map(sum, groups)) <= 12), st.integers(2, 4))
def test_the_bound_on_small_tables(groups, diverse):
    if eligible(together(groups), diverse):
        event(f"l = {diverse}, phase {check_bound(groups, diverse)}")


@st.composite
def stuck(draw):
    """Groups that have many records of some values, and thin ones that share these."""
    diverse = draw(st.integers(2, 4))
    number = st.integers(0, 6)
    groups = [
        tuple(draw(number) if value < diverse else 0 for value in range(diverse + 2)) for _ in range(draw(number) + 1)
    ]
    for _ in range(draw(st.integers(1, 12))):
        chosen, height = draw(st.permutations(range(diverse + 2)))[:diverse], draw(st.integers(1, 3))
        groups.append(tuple(height if value in chosen else 0 for value in range(diverse + 2)))
    return [group for group in groups if any(group)], diverse


@settings(max_examples=250, deadline=None)
@given(stuck())
def test_it_moves_what_the_slow_phases_move(drawn):
    groups, diverse = drawn
    if eligible(together(groups), diverse):
        event(f"l = {diverse}, phase {check_against_slow(groups, diverse)}")


def test_many_tables_that_need_rounds():
    random, phases = np.random.default_rng(4), Counter()
    while phases[3] < 25:
        groups = [tuple(map(int, random.multinomial(random.integers(1, 7), [0.4, 0.2, 0.2, 0.1, 0.1]))) for _ in "abc"]
        if eligible(together(groups), 3):
            phase = check_against_slow(groups, 3)
            phases[phase] += 1
            if phase == 3:
                check_bound(groups, 3)


# ---- whole tables, and what else is required


def classes_of(partition):
    found = defaultdict(list)
    for row, number in enumerate(partition.classes.tolist()):
        found[number].append(row)
    return list(found.values())


@settings(max_examples=80, deadline=None)
@given(data=st.data(), diverse=st.integers(2, 4), residue=st.sampled_from(["split", "one"]))
def test_every_class_is_eligible_and_keeps_the_rest(data, diverse, residue):
    rows = data.draw(st.integers(2, 60))
    cell = st.integers(0, 5)
    quasi = [data.draw(st.lists(cell, min_size=rows, max_size=rows)) for _ in "pq"]
    values = data.draw(st.lists(st.sampled_from("abcde"), min_size=rows, max_size=rows))
    others = data.draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))
    k, second = data.draw(st.integers(2, 6)), data.draw(st.sampled_from(["distinct", "entropy", "recursive"]))
    table = Table(
        rows,
        {name: encode_column(name, pa.array(cells)) for name, cells in zip("pq", quasi, strict=True)},
        {"s": encode_column("s", pa.array(values)), "t": encode_column("t", pa.array(others))},
    )
    more = LDiversity(2, "t", second, 2.0 if second == "recursive" else None)
    required = asked(diverse, KAnonymity(k), more)
    try:
        found = three_phase(table, required, residue=residue)
    except PolicyUnmetError:
        whole = Counter(others).most_common()
        tail = sum(number for _, number in whole[1:])
        enough = {"distinct": len(whole) > 1, "entropy": False, "recursive": whole[0][1] < 2 * tail}[second]
        assert not enough or rows < k or not eligible(Counter(values).values(), diverse)
        return
    assert found.count == len(classes_of(found))
    assert found.suppressed == 0
    for members in classes_of(found):
        assert len(members) >= k
        assert eligible(Counter(values[row] for row in members).values(), diverse)
        counts = sorted(Counter(others[row] for row in members).values(), reverse=True)
        assert len(counts) > 1
        if second == "entropy":
            shares = np.array(counts) / len(members)
            assert -(shares * np.log(shares)).sum() >= np.log(2) - 1e-9
        if second == "recursive":
            assert counts[0] < 2 * sum(counts[1:])
    if residue == "one":
        several = [members for members in classes_of(found) if len({(quasi[0][r], quasi[1][r]) for r in members}) > 1]
        assert len(several) <= 1


@settings(max_examples=60, deadline=None)
@given(data=st.data(), residue=st.sampled_from(["split", "one"]))
def test_a_release_is_proven_whatever_else_is_required(data, residue):
    rows = data.draw(st.integers(8, 50))

    def drawn(cells):
        return data.draw(st.lists(st.sampled_from(cells), min_size=rows, max_size=rows))

    cells = {"p": drawn(range(4)), "q": drawn("uvw"), "s": drawn("abcd"), "t": drawn("xyz"), "who": drawn(range(30))}
    roles = {"p": "quasi", "q": "quasi", "s": "sensitive", "t": "sensitive", "who": "subject"}
    more = [
        {"model": "k-anonymity", "k": 3, "count": "subjects"},
        {"model": "t-closeness", "t": 0.3, "column": "s"},
        {"model": "beta-likeness", "beta": 1.0, "column": "t"},
        {"model": "l-diversity", "l": 2, "column": "s", "variant": "recursive", "c": 1.0},
    ]
    require = [{"model": "l-diversity", "l": 2, "column": "s"}, *data.draw(st.lists(st.sampled_from(more), max_size=2))]
    policy = {
        "columns": {name: {"role": role} for name, role in roles.items()},
        "require": require,
        "method": {"name": "three-phase", "residue": residue},
    }
    try:
        release = sudare.anonymize(pa.table(cells), policy)
    except PolicyUnmetError as error:
        assert len(set(cells["who"])) < 3 or not eligible(Counter(cells["s"]).values(), 2) or "recursive" in str(error)
        return
    event(f"phase {release.certificate['search']['phase']}")
    classes = defaultdict(list)
    for row in release.data.to_pylist():
        classes[row["p"], row["q"]].append(row["s"])
    assert all(eligible(Counter(values).values(), 2) for values in classes.values())
    assert sum(map(len, classes.values())) == rows


def test_a_residue_too_small_for_other_requirements_takes_in_the_smallest_groups():
    groups = [(1, 0, 0), (0, 1, 0), (2, 2, 0), (3, 3, 0), (9, 9, 9)]
    found = three_phase(as_table(groups), asked(2, KAnonymity(4)), residue="one")
    assert found.facts["residue"] == 6
    assert sorted(map(len, classes_of(found))) == [6, 6, 27]


def test_groups_that_fail_other_requirements_leave_before_the_residue_is_filled_up():
    """The third group is too small for k = 3; with its records the two a of the first lack nothing."""
    groups = [(4, 1, 1), (3, 3, 0), (0, 1, 1)]
    found = three_phase(as_table(groups), asked(2, KAnonymity(3)), residue="one")
    assert found.facts == {"residue": 4, "phase": 1, "rounds": 0}


@pytest.mark.parametrize("variant", ["entropy", "recursive"])
def test_other_variants(variant):
    groups = [(4, 1, 1, 1), (2, 2, 2, 2), (0, 3, 1, 1)]
    table = as_table(groups)
    model = LDiversity(2, "s", variant, 1.5 if variant == "recursive" else None)
    found = three_phase(table, Requirements((model,)))
    assert sorted(map(len, classes_of(found))) == [2, 4, 6, 8]
    for members in classes_of(found):
        assert eligible(Counter(table.sensitive["s"].codes[members].tolist()).values(), 2)


def test_groups_that_are_eligible_and_not_recursively_diverse_are_given_up():
    """Of 6 a, 2 b, 2 c and 2 d no more than half are a, but as many as all others."""
    groups = [(6, 2, 2, 2), (1, 2, 2, 2)]
    model = LDiversity(2, "s", "recursive", 1.0)
    found = three_phase(as_table(groups), Requirements((model,)), residue="one")
    assert found.facts["residue"] == 19  # the first group by itself falls short as well
    kept = three_phase(as_table([*groups, (0, 1, 1, 1)]), Requirements((model,)), residue="one")
    assert kept.facts["residue"] == 15
    assert sorted(map(len, classes_of(kept))) == [7, 15]


def test_a_number_between_is_rounded_up():
    groups = [(2, 1, 1), (1, 1, 1)]
    with pytest.raises(PolicyUnmetError, match="more than 1/3 of a class"):
        three_phase(as_table([(3, 1, 1), (1, 1, 1)]), Requirements((LDiversity(2.2, "s", "entropy"),)))
    found = three_phase(as_table([*groups, (0, 1, 1)]), Requirements((LDiversity(2.2, "s", "entropy"),)))
    assert found.facts["residue"] == 3


def test_the_largest_l_is_the_one_that_is_kept():
    """Of column t only half of all records may have a value that two thirds of them have."""
    table = as_table([(2, 2, 2), (2, 1, 1), (0, 1, 1)], t=list("xyxxxyxxxyxy"))
    found = three_phase(table, Requirements((LDiversity(2, "t"), LDiversity(3, "s"))), residue="one")
    assert found.facts["residue"] == 3
    for members in classes_of(found):
        assert eligible(Counter(table.sensitive["s"].codes[members].tolist()).values(), 3)
        assert len(set(table.sensitive["t"].codes[members].tolist())) == 2


@pytest.mark.parametrize(("groups", "diverse", "largest"), [([(5, 1, 1), (1, 1, 1)], 2, "No l"), ([(4, 3, 3)], 3, "2")])
def test_a_table_that_is_not_eligible_is_refused(groups, diverse, largest):
    with pytest.raises(PolicyUnmetError) as caught:
        three_phase(as_table(groups), asked(diverse))
    [problem] = caught.value.problems
    assert f"more than 1/{diverse} of a class" in problem.what
    assert f"{max(together(groups))} of all {sum(together(groups))} records" in problem.what
    assert problem.what.endswith("No l is possible." if largest == "No l" else f"The largest l possible is {largest}.")
    assert "l-clustering" in problem.hint


# ---- Adult


@pytest.fixture(scope="module")
def adult():
    names = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "income"]
    columns = {name: {"role": "quasi", "kind": "numeric" if name == "age" else "categorical"} for name in names}
    policy = {
        "columns": columns | {"occupation": {"role": "sensitive"}},
        "require": [{"model": "l-diversity", "l": 2, "column": "occupation"}],
    }
    return encode(
        sudare.datasets.adult("all", complete=True).select([*names, "occupation"]), sudare.load_policy(policy)
    )


def loss(table, partition):
    return METRICS["gcp"](generalize(table, partition)).total


@pytest.mark.parametrize("diverse", [2, 4, 6])
def test_adult(adult, diverse):
    required = Requirements((LDiversity(diverse, "occupation"),))
    found = three_phase(adult, required)
    groups = defaultdict(Counter)
    codes = np.stack([column.codes for column in adult.single.values()], axis=1)
    for record, value in zip(map(bytes, codes), adult.sensitive["occupation"].codes.tolist(), strict=True):
        groups[record][value] += 1
    least = 0  # what has to leave the groups, whatever becomes of it
    for counts in groups.values():
        while counts and not eligible(counts.values(), diverse):
            counts -= Counter(dict.fromkeys([v for v in counts if counts[v] == max(counts.values())], 1))
        least += counts.total()
    assert found.facts == {"residue": adult.rows - least, "phase": 1, "rounds": 0}
    lost = loss(adult, found)
    assert lost < 0.5 * loss(adult, three_phase(adult, required, residue="one"))
    if diverse > 2:  # where few records can be split from others by their values and leave both sides eligible
        eligible_ones = Requirements((AlphaKAnonymity(1 / diverse, diverse, "occupation"),))
        assert lost < 0.5 * loss(adult, top_down(adult, eligible_ones))
    pairs = np.unique(np.stack([found.classes, adult.sensitive["occupation"].codes]), axis=1, return_counts=True)
    share = pairs[1] / found.sizes[pairs[0][0]]
    assert share.max() <= 1 / diverse + 1e-12
