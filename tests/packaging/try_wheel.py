"""Install a built wheel into an empty environment and make a small release with it, as a user would.

    python tests/packaging/try_wheel.py DIST FOLDER

DIST is the folder with the wheel. FOLDER is made, and stays, so that a failure can be looked into.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

VISITS = "age,disease\n23,asthma\n25,influenza\n27,asthma\n41,influenza\n44,migraine\n48,asthma\n"
POLICY = """\
columns:
  age:     {role: quasi}
  disease: {role: sensitive}
require:
  - {model: k-anonymity, k: 3}
"""


def main(dist: Path, folder: Path) -> None:
    """Install the only wheel of a folder, and use it."""
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    venv.create(folder / "venv", with_pip=True, clear=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    (folder / "visits.csv").write_text(VISITS, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    # -I: the installed wheel is used, and no source that PYTHONPATH or the folder might offer
    version = run(python, "-I", "-m", "sudare", "--version", cwd=folder)
    assert wheel.name.split("-")[1] in version, version
    run(python, "-I", "-m", "sudare", "anonymize", "visits.csv", "-p", "policy.yaml", "-o", "release.csv", cwd=folder)
    run(python, "-I", "-m", "sudare", "audit", "release.csv", "-p", "policy.yaml", cwd=folder)
    # whose templates are files that have to be in the wheel
    about = ("release.csv", "--data", "visits.csv", "-p", "policy.yaml", "-o", "report.html")
    run(python, "-I", "-m", "sudare", "report", *about, cwd=folder)
    sys.stdout.write(f"{wheel.name} installs, makes a release and reports on it; {source.name} is built.\n")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command and return what it printed; fail with that if it fails."""
    finished = subprocess.run(
        [Path(command[0]).absolute(), *command[1:]], cwd=cwd, capture_output=True, text=True, check=False
    )
    if finished.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{finished.stdout}{finished.stderr}")
    return finished.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
