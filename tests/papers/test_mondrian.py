"""The patient table of LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (ICDE 2006), k = 2.

    record  age  sex  zipcode  disease
    0       25   M    53711    flu
    1       25   F    53712    hepatitis
    2       26   M    53711    bronchitis
    3       27   M    53710    broken arm
    4       27   F    53712    AIDS
    5       28   M    53711    hang nail

The paper's multidimensional anonymization has three classes: {0, 2}, {1, 4} and {3, 5}.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

import sudare

AGE = [25, 25, 26, 27, 27, 28]
SEX = ["M", "F", "M", "M", "F", "M"]
ZIP = [53711, 53712, 53711, 53710, 53712, 53711]
DISEASE = ["flu", "hepatitis", "bronchitis", "broken arm", "AIDS", "hang nail"]
PATIENTS = pa.table({"age": AGE, "sex": SEX, "zip": ZIP, "disease": DISEASE})

THE_PAPERS = [
    {"age": "[25, 26]", "sex": "M", "zip": "53711", "disease": "flu"},
    {"age": "[25, 27]", "sex": "F", "zip": "53712", "disease": "hepatitis"},
    {"age": "[25, 26]", "sex": "M", "zip": "53711", "disease": "bronchitis"},
    {"age": "[27, 28]", "sex": "M", "zip": "[53710, 53711]", "disease": "broken arm"},
    {"age": "[25, 27]", "sex": "F", "zip": "53712", "disease": "AIDS"},
    {"age": "[27, 28]", "sex": "M", "zip": "[53710, 53711]", "disease": "hang nail"},
]


def release(order: list[str], method: dict, k: int = 2):
    policy = {
        "columns": {**{name: {"role": "quasi"} for name in order}, "disease": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "release": {"order": "keep", "ranges": "tight"},  # as the paper prints them
    }
    made = sudare.anonymize(PATIENTS, policy)
    return made.data.select(["age", "sex", "zip", "disease"]).to_pylist(), made


@pytest.mark.parametrize("order", [["sex", "age", "zip"], ["sex", "zip", "age"], ["zip", "age", "sex"]])
def test_the_classes_of_the_paper(order):
    # All three attributes are as wide as can be (1, 2/2, 1), so that the first one is cut.
    #   sex first: by code F (2 records), M (4), the only cut.           {1, 4} | {0, 2, 3, 5}
    #   zip first: 1, 3 and 2 records; after 4 of 6 is nearer to the median than after 1.   the same sides
    # {1, 4} has two records and is a class. In {0, 2, 3, 5} the ages 25, 26, 27, 28 have width 1, the zips
    # 53711, 53711, 53710, 53711 width 1/2: age is cut after two of four records.          {0, 2} | {3, 5}
    rows, made = release(order, {"name": "mondrian"})
    assert rows == THE_PAPERS
    # GCP: {0, 2} age 1/3; {1, 4} age 2/3; {3, 5} age 1/3 and zip 1/2. (2/3 + 4/3 + 2/3 + 1) / 18 = 11/54
    assert made.loss["gcp"] == round(11 / 54, 4)
    assert made.loss["discernibility"] == 3 * 2**2
    assert made.loss["average_class_size"] == 2


def test_another_first_attribute_leads_elsewhere():
    # age first: 25, 26, 27, 28 hold 2, 1, 2, 1 records; after three of six is the median.  {0, 1, 2} | {3, 4, 5}
    # No side can be cut into two of two records.
    rows, made = release(["age", "sex", "zip"], {"name": "mondrian"})
    assert [(row["age"], row["sex"], row["zip"]) for row in rows] == [("[25, 26]", "*", "[53711, 53712]")] * 3 + [
        ("[27, 28]", "*", "[53710, 53712]")
    ] * 3
    # (3 * (1/3 + 1 + 1/2) + 3 * (1/3 + 1 + 1)) / 18
    assert made.loss["gcp"] == round(12.5 / 18, 4)


@pytest.mark.parametrize("order", [["age", "sex", "zip"], ["zip", "sex", "age"], ["sex", "age", "zip"]])
def test_least_loss_finds_the_classes_of_the_paper_whatever_comes_first(order):
    # The loss of six records is 6 * 3 = 18 before. After the splits that leave two records on each side:
    #   age <= 25   {0, 1} | {2, 3, 4, 5}    2 * (0 + 1 + 1/2) + 4 * (2/3 + 1 + 1)   = 13 2/3
    #   age <= 26   {0, 1, 2} | {3, 4, 5}    3 * (1/3 + 1 + 1/2) + 3 * (1/3 + 1 + 1) = 12 1/2
    #   sex, or zip <= 53711   {0, 2, 3, 5} | {1, 4}   4 * (1 + 0 + 1/2) + 2 * (2/3 + 0 + 0) = 7 1/3
    # and then in {0, 2, 3, 5}, age <= 26: 2 * 1/3 + 2 * (1/3 + 1/2) = 2 1/3 instead of 6.
    rows, _ = release(order, {"name": "top-down", "split": "least-loss"})
    assert rows == THE_PAPERS


def test_a_larger_k_leaves_one_class():
    # with k = 4 no cut of six records leaves four on both sides
    rows, _ = release(["age", "sex", "zip"], {"name": "mondrian"}, k=4)
    assert {(row["age"], row["sex"], row["zip"]) for row in rows} == {("[25, 28]", "*", "[53710, 53712]")}
