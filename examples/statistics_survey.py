"""A survey that a statistics office publishes: the same categories for every record, and tables that can be made of it.

Run it with ``python examples/statistics_survey.py``, or open it as a notebook: ``# %%`` begins a cell. It needs nothing
but sudare: the survey is the Adult census extract that comes with it.
"""

# %%
import tempfile
from collections import Counter
from pathlib import Path

import sudare
from sudare.reports import frontier_picture

everybody = sudare.datasets.adult("all")
survey, following = everybody.slice(0, 26_000), everybody.slice(26_000)  # this year's survey, and the next
trees = sudare.datasets.adult_hierarchies()
print(f"{survey.num_rows:,} respondents: {', '.join(survey.column_names)}")

# %% [markdown]
# ## 1. The policy
#
# Tables of the office have fixed categories: ages in bands, occupations in groups. A *hierarchy* lists them, from the
# finest to the coarsest. `full-domain` gives each column one level everywhere, so that categories never overlap. Rare
# combinations may be left out, up to 5% of the respondents.

# %%
quasi = ("age", "sex", "race", "marital-status", "education", "workclass")
columns: dict[str, object] = {name: {"role": "quasi", "hierarchy": str(trees[name])} for name in quasi}
columns["occupation"] = {"role": "sensitive"}
columns["hours-per-week"] = {"role": "insensitive"}
policy = {
    "columns": columns,
    "require": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "occupation"}],
    "method": {"name": "full-domain", "loss": "gcp"},
    "suppression": {"limit": 0.05},
}

# %% [markdown]
# ## 2. How exposed are the respondents?
#
# The survey is a sample: about one in a thousand people was asked. Being unique in the sample need not mean to be
# unique in the country, and the models of `sudare risk` estimate how often it does.

# %%
before = sudare.risk(survey, policy, fraction=0.001, most_columns=3).before
assert before.records is not None
assert before.singling_out is not None
print(f"{before.records.unique:,} respondents are unique ({before.records.unique_share:.0%}).")
print(f"Three columns suffice to single out {before.singling_out.records:,} of them.")

# %% [markdown]
# ## 3. What does strictness cost?
#
# Two methods, four values of k. The figure below is written as an SVG file that needs nothing else.

# %%
found = sudare.compare(survey, policy, methods=["full-domain", "top-down"], sweep={"k": [3, 5, 10, 30]}, queries=100)
print(found)
with tempfile.TemporaryDirectory() as folder:
    picture = Path(folder) / "frontier.svg"
    picture.write_text(frontier_picture(found.to_dict()), encoding="utf-8")
    print(f"\nThe picture has {picture.stat().st_size:,} bytes.")

# %% [markdown]
# `top-down` loses less, as it decides class by class. But its cells overlap, and the office needs a table.

# %%
release = sudare.anonymize(survey, policy)
print("Levels, 0 is untouched:", release.certificate["search"]["levels"])
print(f"{release.certificate['suppressed']:,} respondents are left out.")
print("Ages:", ", ".join(sorted(set(release.data["age"].to_pylist()))))

# %% [markdown]
# ## 4. The audit
#
# It reads the release alone, with definitions of its own.

# %%
report = sudare.audit(release.data, policy)
assert report.passed
for guarantee in report.guarantees:
    print(f"{guarantee.model}: required {guarantee.required}, achieved {guarantee.achieved}")

# %% [markdown]
# ## 5. A table from the release
#
# Sex is at its lowest level, so that these counts are right but for who was left out.

# %%
print(f"\n{'sex':<8}{'occupation':<20}{'released':>9}{'truth':>8}")
truth = Counter(zip(survey["sex"].to_pylist(), survey["occupation"].to_pylist(), strict=True))
rows = sorted(sudare.estimate(release, of="occupation", by="sex"), key=lambda row: -(row["estimate"] or 0))
for row in rows[:8]:
    there = truth[row["cell"]["sex"], row["value"]]
    print(f"{row['cell']['sex']:<8}{row['value']!s:<20}{row['estimate']:>9,.0f}{there:>8,}")

# %% [markdown]
# ## 6. Next year
#
# The plan holds the levels: the next survey is released in the same categories, and proven anew. If it is another kind
# of table, so that too many respondents would be left out, that is said instead.

# %%
assert release.plan is not None
later = sudare.apply(release.plan, following)
print(f"\nThe next survey: {later}")
