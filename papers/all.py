"""All experiments of the five papers, one script after the other.

    python papers/all.py --data FOLDER                   # measures what is not kept yet, and writes all pages
    python papers/all.py --data FOLDER --folder EMPTY    # everything anew, figures and pages in another folder

FOLDER has the public tables that do not come with sudare, each in a folder: ``diabetes130``, ``transactions`` and
``census-income-kdd`` (see the pages for the files). A run that was stopped goes on where it was. The minutes of each
script are kept in ``minutes.json``, and those of all runs add up. At the end a line for each script says how long it
took in all, and whether it failed now.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "docs" / "papers"
MINUTES = "minutes.json"


def commands(data: Path, folder: Path) -> dict[str, list[str]]:
    """Return what each script is given; the longest comes last."""
    given = {
        "pram": [],
        "l_clustering": ["--resume"],
        "classification": ["--resume"],
        "keep_qid": ["--resume", "--census", str(data / "census-income-kdd")],
        "complex_topdown": ["--data", str(data)],
    }
    return {
        name: [sys.executable, str(HERE / f"{name}.py"), *options, "--folder", str(folder)]
        for name, options in given.items()
    }


def minutes(folder: Path) -> dict[str, float]:
    """Return how many minutes each script has taken for what is kept in a folder."""
    path = folder / MINUTES
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scripts, and end with an error if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the public tables are")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where figures and pages are kept")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    spent, failed = minutes(given.folder), set()
    asked = commands(given.data, given.folder)
    for number, (name, command) in enumerate(asked.items(), start=1):
        print(f"== {number} of {len(asked)}: {name}", flush=True)
        started = time.perf_counter()
        try:
            if subprocess.run(command, check=False).returncode:
                failed.add(name)
        finally:  # a script that is stopped keeps figures, so its minutes are kept, too
            spent[name] = round(spent.get(name, 0.0) + (time.perf_counter() - started) / 60, 1)
            (given.folder / MINUTES).write_text(json.dumps(spent, indent=1) + "\n", encoding="utf-8")
    for name in asked:
        print(f"{name:16} {spent[name]:6.1f} min{'  failed' if name in failed else ''}")
    print(f"{'all':16} {sum(spent.values()):6.1f} min")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
