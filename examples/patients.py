"""Hospital stays, several per patient: count people rather than rows. pandas in, pandas out.

Run it with ``python examples/patients.py``; it needs pandas. The table is made up by a random generator.
"""

import math
import random

import pandas as pd

import sudare
from sudare.releases import Interval

POLICY = {
    "version": 1,
    "columns": {
        "name": {"role": "identifier"},
        "patient": {"role": "subject"},
        "age": {"role": "quasi", "kind": "numeric"},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 3, 2]}},
        "admitted": {"role": "quasi", "hierarchy": {"dates": ["month", "quarter", "year"]}},
        "diagnosis": {"role": "sensitive"},
        "days": {"role": "insensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 5, "count": "subjects"},
        {"model": "l-diversity", "l": 3, "column": "diagnosis"},
    ],
    "suppression": {"limit": 0.01},
}


def make_stays(patients: int = 400, seed: int = 1) -> pd.DataFrame:
    """Make up hospital stays: every patient has one to four."""
    draw = random.Random(seed)
    zips = ["10115", "10117", "10243", "20095", "20099", "20359", "80331", "80333"]
    diagnoses = ["asthma", "diabetes", "fracture", "influenza", "migraine"]
    stays = []
    for patient in range(patients):
        age, home = draw.randint(18, 90), draw.choice(zips)
        for _ in range(draw.randint(1, 4)):
            day = pd.Timestamp("2024-01-01") + pd.Timedelta(days=draw.randrange(366))
            stays.append((f"Patient {patient}", patient, age, home, day, draw.choice(diagnoses), draw.randint(1, 14)))
    return pd.DataFrame(stays, columns=["name", "patient", "age", "zip", "admitted", "diagnosis", "days"])


def main() -> None:
    """Anonymize the stays and use the release as an analyst would."""
    stays = make_stays()
    release = sudare.anonymize(stays, POLICY)
    frame = release.data
    print(f"{len(stays)} stays of {stays['patient'].nunique()} patients became {release}\n")
    print(frame.head(8).to_string(index=False))

    quasi = ["age", "zip", "admitted"]
    people = frame.groupby(quasi)["patient"].nunique()
    print(f"\nThe smallest of the {len(people)} classes holds {people.min()} different patients.")
    print("Patient numbers mean something only within a class.")

    print("\nMean length of stay by diagnosis, before and after (sensitive and insensitive columns are not changed):")
    means = pd.DataFrame(
        {"before": stays.groupby("diagnosis")["days"].mean(), "after": frame.groupby("diagnosis")["days"].mean()}
    )
    print(means.round(2).to_string())

    middles = frame["age"].map(middle)
    print(f"\nMean age: {stays['age'].mean():.1f}; from the middles of the released intervals: {middles.mean():.1f}")


def middle(cell: str | None) -> float:
    """Return the middle of a released number: not a number where nothing is said about it."""
    match sudare.parse_cell(cell):
        case Interval(low, high):
            return (float(low) + float(high)) / 2
        case str(text):
            return float(text)
    return math.nan


if __name__ == "__main__":
    main()
