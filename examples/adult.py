"""Anonymize the Adult census table, see what each column lost, and prove the release once more.

Run it with ``python examples/adult.py``. It needs nothing but sudare: the table comes with the package.
"""

import tempfile
from pathlib import Path

import sudare


def main() -> None:
    """Make a release of Adult in a temporary folder and tell what became of the table."""
    policy = sudare.datasets.adult_policy()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "adult-release.csv"
        release = sudare.anonymize(sudare.datasets.adult(), policy, out=target)
        facts = release.certificate
        print(f"{facts['rows_out']:,} of {facts['rows_in']:,} records, in {facts['classes']:,} classes.")

        print("\nLoss per column, from 0 (every cell as it was) to 1 (nothing is left):")
        for column, figures in facts["loss_by_column"].items():
            print(f"  {column:<16}{figures['gcp']:.3f}  {'#' * round(40 * figures['gcp'])}")
        print(f"  {'all together':<16}{release.loss['gcp']:.3f}")

        with target.open(encoding="utf-8") as file:
            header, first = next(file), next(file)
        print(f"\nThe first record of the file:\n  {header.strip()}\n  {first.strip()}")

        report = sudare.audit(target, policy)
        print("\nThe audit reads the file and nothing else:")
        for guarantee in report.guarantees:
            verdict = "holds" if guarantee.holds else "DOES NOT HOLD"
            print(f"  {guarantee.model:<24}required {guarantee.required}, achieved {guarantee.achieved}: {verdict}")


if __name__ == "__main__":
    main()
