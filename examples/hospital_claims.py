"""Hospital claims for research: several claims per patient, and sets of diseases that would give patients away.

Run it with ``python examples/hospital_claims.py``, or open it as a notebook: ``# %%`` begins a cell. It needs nothing
but sudare. The claims are synthetic; no person stands behind them.
"""

# %%
import tempfile
from pathlib import Path

import sudare

claims = sudare.datasets.claims(50_000)
print(f"{claims.num_rows:,} claims of {len(claims['patient'].unique()):,} patients: {', '.join(claims.column_names)}")

# %% [markdown]
# ## 1. How exposed are the patients?
#
# A neighbour knows when somebody was born, their sex, and about when they were in hospital. The policy says so: these
# are *quasi-identifiers*. Claim numbers lead straight to a person, so that they never leave. The patient number tells
# which claims belong together: promises are then about people, and not about rows.

# %%
columns: dict[str, object] = {
    "claim": {"role": "identifier"},
    "patient": {"role": "subject"},
    "born": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "month": {"role": "quasi"},
    "beds": {"role": "quasi"},
    "claim_type": {"role": "sensitive"},
}
policy: dict[str, object] = {
    "columns": columns,
    "require": [{"model": "k-anonymity", "k": 10, "count": "subjects"}],
}

before = sudare.risk(claims, policy, most_columns=2).before
assert before.records is not None
print(f"{before.records.unique_share:.0%} of the claims are alone with what a neighbour knows.")
print(f"Who looks for a claim finds the right one in {before.records.mean_risk:.0%} of cases.")

# %% [markdown]
# ## 2. Diseases are known in part, too
#
# Whoever visits a patient knows some of the diseases. `diseases` is an *item set*: the release may show those items
# that all patients of a class have in common, and hides the others. No claim is left out of the table.

# %%
columns["diseases"] = {"role": "quasi", "kind": "items"}

# %% [markdown]
# ## 3. How strict can we be?
#
# Each way makes its decision in memory, and nothing is written. The researchers want to count claims by age, sex and
# type: `queries` is how wrong such counts would be.

# %%
found = sudare.compare(claims, policy, methods=["top-down"], sweep={"k": [3, 10, 30]})
print(found)

# %% [markdown]
# ## 4. The release
#
# It is written, and then proven from the written file, before it gets its name. The certificate beside it tells what
# was promised and what was lost.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "claims.parquet"
    release = sudare.anonymize(claims, policy, out=path)
    sets = release.certificate["item_sets"]["diseases"]
    print(release)
    print(
        f"{sets['disclosed']:,} diseases are shown unchanged; a record loses {sets['ncp']:.0%} of its own on average."
    )

    # %% [markdown]
    # ## 5. The audit, by whoever receives it
    #
    # It needs the file and the policy, and nothing of ours.

    # %%
    for guarantee in sudare.audit(path, policy).guarantees:
        print(f"{guarantee.model}: required {guarantee.required}, achieved {guarantee.achieved}")

    # %% [markdown]
    # ## 6. What a researcher reads from it
    #
    # Claims by type, for people born from 1940 to 1959. A class that shows `[1938, 1943]` counts in part.

    # %%
    answer = sudare.estimate(path, of="claim_type", by="sex", where={"born": (1940, 1959)})
    print(f"\n{'sex':<8}{'type':<12}{'estimate':>10}{'truth':>8}")
    for row in answer:
        truth = sum(
            sex == row["cell"]["sex"] and kind == row["value"] and 1940 <= born <= 1959
            for sex, kind, born in zip(
                *(claims[name].to_pylist() for name in ("sex", "claim_type", "born")), strict=True
            )
        )
        print(f"{row['cell']['sex']:<8}{row['value']:<12}{row['estimate']:>10,.0f}{truth:>8,}")
