"""How the tables in this folder were made from what the UCI Machine Learning Repository gives out.

- ``python -m sudare.datasets.preparation adult TRAIN.csv TEST.csv OUT.parquet``
- ``python -m sudare.datasets.preparation diabetes DIABETIC_DATA.csv OUT.parquet [PATIENTS]``: 6300 patients were
  taken for the file here; without a number, all are
- ``python -m sudare.datasets.preparation diagnoses WHOLE_TABLE.parquet OUT.csv``: the hierarchy of the diagnoses
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

DIABETES_DRUGS = (
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glipizide"),
    *("glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose", "miglitol", "troglitazone"),
    *("tolazamide", "examide", "citoglipton", "insulin", "glyburide-metformin", "glipizide-metformin"),
    *("glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone"),
)
"""The columns of the source that say whether, and how, a drug was given."""
_DIAGNOSES = ("diag_1", "diag_2", "diag_3")
_ITEMS = pa.list_(pa.string())
_CHAPTERS = (
    "001-139 infectious and parasitic",
    "140-239 neoplasms",
    "240-279 endocrine and metabolic",
    "280-289 blood",
    "290-319 mental",
    "320-389 nervous system and senses",
    "390-459 circulatory",
    "460-519 respiratory",
    "520-579 digestive",
    "580-629 genitourinary",
    "630-679 pregnancy and childbirth",
    "680-709 skin",
    "710-739 muscles and bones",
    "740-759 congenital",
    "760-779 perinatal",
    "780-799 symptoms and ill-defined",
    "800-999 injury and poisoning",
)


def make_adult(train: Path, test: Path, out: Path) -> None:
    """Put the two CSV files (with a header, gzip allowed) into one Parquet file.

    Spaces around cells go, ``?`` becomes null, whole numbers take 32 bits, and a column ``part`` says which file a
    row came from.
    """
    parts = []
    for name, path in (("train", train), ("test", test)):
        table = pyarrow.csv.read_csv(path)
        columns = [_cleaned(column.combine_chunks()) for column in table.columns]
        columns.append(pa.repeat(name, table.num_rows))
        parts.append(pa.table(columns, names=[*table.column_names, "part"]))
    pq.write_table(pa.concat_tables(parts), out, compression="zstd", compression_level=19)


def make_diabetes(csv: Path, out: Path, patients: int | None = None) -> None:
    """Put the encounters of so many patients, or of all, into a Parquet file with two item sets.

    The patients whose numbers have the smallest digests are taken, with all their encounters, in the order of the
    source: a sample that is the same every time, and has nothing to do with what the numbers stand for.
    """
    text = ["race", "gender", "age", *_DIAGNOSES, *DIABETES_DRUGS, "readmitted"]
    numbers = {"encounter_id": pa.int64(), "patient_nbr": pa.int64()}
    numbers |= {"admission_type_id": pa.int8(), "time_in_hospital": pa.int8()}
    types = numbers | dict.fromkeys(text, pa.string())
    wanted = pyarrow.csv.ConvertOptions(column_types=types, include_columns=list(types))
    table = pyarrow.csv.read_csv(csv, convert_options=wanted)
    if patients is not None:
        everybody = sorted(table["patient_nbr"].unique().to_pylist(), key=_digest)
        table = table.filter(pc.is_in(table["patient_nbr"], pa.array(everybody[:patients], pa.int64())))
    codes = zip(*(table[name].to_pylist() for name in _DIAGNOSES), strict=True)
    given = zip(*(table[name].to_pylist() for name in DIABETES_DRUGS), strict=True)
    columns = {
        "encounter": table["encounter_id"],
        "patient": table["patient_nbr"],
        "race": _cleaned(table["race"].combine_chunks()),
        "gender": table["gender"],
        "age": table["age"],
        "admission_type": table["admission_type_id"],
        "time_in_hospital": table["time_in_hospital"],
        "diagnoses": pa.array([[code for code in dict.fromkeys(row) if code != "?"] for row in codes], _ITEMS),
        "drugs": pa.array(
            [[drug for drug, dose in zip(DIABETES_DRUGS, row, strict=True) if dose != "No"] for row in given], _ITEMS
        ),
        "readmitted": table["readmitted"],
    }
    pq.write_table(pa.table(columns), out, compression="zstd", compression_level=19)


def make_diagnoses(table: Path, out: Path) -> None:
    """Write the hierarchy of the diagnoses in a table: code, ICD-9 category, chapter, root."""
    codes = pc.unique(pc.list_flatten(pq.read_table(table, columns=["diagnoses"])["diagnoses"])).to_pylist()
    lines = sorted(_icd9(code) for code in codes)
    text = "".join(f"{code};{category}.x;{chapter};*\n" for category, code, chapter in lines)
    out.write_text(text, encoding="utf-8", newline="\n")


def _icd9(code: str) -> tuple[str, str, str]:
    """Return the category of a code, the code and its chapter. The source dropped leading zeros: 8 is 008."""
    category = code.partition(".")[0]
    if category[0] == "V":
        return category, code, "V01-V91 health status and contact with services"
    if category[0] == "E":
        return category, code, "E000-E999 external causes"
    number = int(category)
    return f"{number:03}", code, next(name for name in reversed(_CHAPTERS) if int(name[:3]) <= number)


def _digest(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def _cleaned(column: pa.Array) -> pa.Array:
    if pa.types.is_integer(column.type):
        return pc.cast(column, pa.int32())
    stripped = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(stripped, "?"), pa.scalar(None, pa.string()), stripped)


def main(kind: str, *arguments: str) -> None:
    """Make the table of this kind from these files."""
    if kind == "adult":
        make_adult(*(Path(argument) for argument in arguments))
    elif kind == "diagnoses":
        make_diagnoses(*(Path(argument) for argument in arguments))
    else:
        csv, out, *patients = arguments
        make_diabetes(Path(csv), Path(out), int(patients[0]) if patients else None)


if __name__ == "__main__":
    main(*sys.argv[1:])
