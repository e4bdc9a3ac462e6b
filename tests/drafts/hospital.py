"""A table of hospital stays with fifty columns, drawn from a seed: the structure of real ones, and no real person."""

import numpy as np
import pyarrow as pa

IDENTIFIERS = ("encounter_id", "patient_nbr")
DRUGS = [f"drug{number:02d}" for number in range(21)]
CONSTANT = ("examide", "citoglipton")


def hospital(rows=4_000):
    """Return the table; drugs are taken by few, and two of them by nobody."""
    draw = np.random.default_rng(130)
    age, stay = draw.integers(0, 10, rows), draw.integers(1, 15, rows)
    codes = np.array([*(f"{draw.integers(1, 1000):03d}.{draw.integers(0, 100):02d}" for _ in range(60)), "V57", "E909"])

    def diagnosis():
        return codes[np.minimum(draw.exponential(12, rows).astype(int), len(codes) - 1)]

    def counts(mean):
        return draw.poisson(mean, rows)

    patient = draw.permutation(np.arange(rows) // 2)
    cells = {
        "encounter_id": 10_000_000 + 37 * draw.permutation(rows),
        "patient_nbr": 1_000_003 + 7_919 * patient,
        "race": draw.choice(["A", "B", "C", "?"], rows, p=[0.7, 0.2, 0.08, 0.02]),
        "gender": np.array(["Female", "Male"])[patient % 2],
        "age": np.array([f"[{10 * tens}-{10 * tens + 10})" for tens in range(10)])[age],
        "weight": draw.choice(["?", "[50-75)", "[75-100)"], rows, p=[0.96, 0.02, 0.02]),
        "admission_type_id": draw.integers(1, 9, rows),
        "discharge_disposition_id": np.minimum(draw.exponential(3, rows).astype(int), 25),
        "admission_source_id": np.minimum(draw.exponential(3, rows).astype(int), 16),
        "time_in_hospital": stay,
        "payer_code": draw.choice(["MC", "HM", "SP", "?"], rows),
        "medical_specialty": draw.choice([f"S{number}" for number in range(20)], rows),
        "num_lab_procedures": counts(40),
        "num_procedures": counts(1),
        "num_medications": counts(15),
        "number_outpatient": counts(0.1),
        "number_emergency": counts(0.1),
        "number_inpatient": counts(0.6),
        "diag_1": diagnosis(),
        "diag_2": diagnosis(),
        "diag_3": diagnosis(),
        "number_diagnoses": counts(7),
        "max_serum": draw.choice(["None", "Norm", ">200", ">300"], rows, p=[0.9, 0.05, 0.03, 0.02]),
        "A1Cresult": draw.choice(["None", "Norm", ">7", ">8"], rows, p=[0.8, 0.1, 0.05, 0.05]),
        **{name: draw.choice(["No", "Steady", "Up", "Down"], rows, p=[0.96, 0.02, 0.01, 0.01]) for name in DRUGS},
        **{name: np.full(rows, "No") for name in CONSTANT},
        "age_group": np.array(["child", "adult", "old"])[np.digitize(age, [2, 7])],
        "diabetesMed": draw.choice(["Yes", "No"], rows, p=[0.7, 0.3]),
        "readmitted": draw.choice(["NO", ">30", "<30"], rows, p=[0.5, 0.4, 0.1]),
    }
    assert len(cells) == 50
    return pa.table({name: pa.array(values) for name, values in cells.items()})
