"""Training data for a classifier: which release teaches it most, at the same promise?

Run it with ``python examples/training_data.py``, or open it as a notebook: ``# %%`` begins a cell. It needs
scikit-learn (``pip install scikit-learn``). The data are a sample of the Adult census extract.
"""

# %%
import numpy as np

import sudare
from sudare.core.errors import MissingExtraError

people = sudare.datasets.adult().take(np.random.default_rng(1).permutation(32_561)[:8000])
trees = sudare.datasets.adult_hierarchies()
print(f"{people.num_rows:,} records. Who earns more than 50,000?")

# %% [markdown]
# ## 1. The policy
#
# A partner is to train a model that predicts `income`. Nobody may be recognised among the records, and belonging to a
# class of records must not give the income away: a class has both incomes.

# %%
quasi = ("age", "education", "marital-status", "occupation", "relationship", "sex")
columns: dict[str, object] = {name: {"role": "quasi", "hierarchy": str(trees[name])} for name in quasi}
columns["hours-per-week"] = {"role": "insensitive"}
columns["income"] = {"role": "sensitive"}
policy = {
    "columns": columns,
    "require": [{"model": "k-anonymity", "k": 20}, {"model": "l-diversity", "l": 2, "column": "income"}],
    "method": {"name": "tds", "target": "income"},
}
before = sudare.risk(people, policy, most_columns=2).before
assert before.records is not None
print(f"Of the records as they are, {before.records.unique_share:.0%} are unique.")

# %% [markdown]
# ## 2. Which method?
#
# Each method makes a release of two thirds of the records; classifiers learn from it, and are asked about the others.
# Beside the methods stand the raw records, always saying the most frequent answer, and learning without any
# quasi-identifier. `tds` shows what tells most about the income, alike for all records, and gives up the rest: compare
# its accuracy with its GCP. `top-down` keeps more of everything.

# %%
try:
    found = sudare.compare(people, policy, target="income", methods=["tds", "top-down", "mondrian"], folds=3)
except MissingExtraError as error:
    raise SystemExit(str(error)) from None
print(found)

# %% [markdown]
# ## 3. How much promise can be had for how much accuracy?

# %%
found = sudare.compare(people, policy, target="income", methods=["tds"], sweep={"k": [10, 50, 200]}, folds=2, queries=0)
for outcome in found.outcomes[3:]:
    score = outcome.scores["gradient boosting"]
    print(f"{outcome.name:<12} accuracy {score.accuracy:.3f}, AUC {score.auc:.3f}, GCP {outcome.gcp:.3f}")

# %% [markdown]
# ## 4. The release, and its audit

# %%
release = sudare.anonymize(people, policy)
assert sudare.audit(release.data, policy).passed
after = sudare.risk(people, policy, release=release, most_columns=2).after
assert after is not None
assert after.records is not None
print(f"\n{release}")
print(f"The mean risk of a record fell from {before.records.mean_risk:.1%} to {after.records.mean_risk:.2%}.")

# %% [markdown]
# ## 5. What is in it
#
# A partner can count with it as well. `tds` recodes alike everywhere: the educations are groups of the hierarchy.

# %%
for row in sudare.estimate(release, of="income", by="education"):
    if row["value"] == ">50K":
        print(f"{row['cell']['education']!s:<28}{row['estimate']:>7,.0f} of {row['records']:>6,.0f} earn more")
