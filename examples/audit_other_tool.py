"""Audit a file that another tool made: sudare needs only the file and the policy it is said to keep.

Run it with ``python examples/audit_other_tool.py``. Two hand-made files are audited: one fails, one passes.
"""

import tempfile
from pathlib import Path

import sudare

POLICY = {
    "version": 1,
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi"},
        "zip": {"role": "quasi"},
        "disease": {"role": "sensitive"},
    },
    "require": [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2, "column": "disease"},
    ],
}

# The second class has two records only, and the first shows one disease: who is in it is known to have it.
CARELESS = """\
age,zip,disease
20-29,902**,influenza
20-29,902**,influenza
20-29,902**,influenza
30-39,902**,asthma
30-39,902**,influenza
"""

# One class of five records and two diseases.
CAREFUL = """\
age,zip,disease
20-39,902**,influenza
20-39,902**,influenza
20-39,902**,influenza
20-39,902**,asthma
20-39,902**,influenza
"""


def main() -> None:
    """Audit both files and print what the audit found."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"careless.csv": CARELESS, "careful.csv": CAREFUL}.items():
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            report = sudare.audit(path, POLICY)
            print(f"{name}: {report.rows} records in {report.classes} classes: {verdict(report.passed)}")
            for guarantee in report.guarantees:
                print(
                    f"  {guarantee.model}: required {guarantee.required}, achieved {guarantee.achieved},"
                    f" offending {guarantee.offending_classes}"
                )
            try:
                report.raise_if_failed()
            except sudare.SudareError as error:
                print(f"  As an exception, for scripts that must stop: {type(error).__name__}")
            print()


def verdict(passed: bool) -> str:
    """Say in words whether an audit passed."""
    return "passed" if passed else "FAILED"


if __name__ == "__main__":
    main()
