"""The walk of ``sudare anonymize FILE``, as docs/inside.md lists it, against a trace of a real run.

The page has a numbered list of functions, each followed by those that it calls, indented. The trace records which of
our functions call which, so that the page cannot say what the code does not do.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sudare
from sudare import datasets
from sudare.cli import app

from .rooms import PAGE

SOURCE = str(Path(sudare.__file__).parent)
BEGIN, END = "<!-- walk: begin -->", "<!-- walk: end -->"
STEP = re.compile(r"^( *)(?:\d+\.|-) `([\w.]+)`", re.MULTILINE)


def listed():
    """Return the functions of the page, in their order, each with the one that it stands below."""
    part = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    found, above = [], []
    for blanks, name in STEP.findall(part):
        depth = len(blanks) // 3
        del above[depth:]
        found.append((above[-1] if above else None, name))
        above.append(name)
    return found


def name_of(frame):
    """Return what the page calls a function of ours; None for functions of others."""
    code = frame.f_code
    if not code.co_filename.startswith(SOURCE):
        return None
    module = Path(code.co_filename).relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    return f"{module.removesuffix('.__init__')}.{code.co_qualname}"


class Trace:
    """Our functions in the order in which they are first called, and those on the stack at each of those calls."""

    def __init__(self):
        self.first, self.within, self.below, self.back = [], {}, {}, []

    def __call__(self, frame, event, argument):
        if event != "call" or (name := name_of(frame)) is None:
            return
        stack, caller = [], frame.f_back
        while caller is not None:
            if (above := name_of(caller)) is not None:
                stack.append(above)
            caller = caller.f_back
        if stack:
            self.below.setdefault(stack[0], set()).add(name)
        if name.startswith("api.") and any(above.startswith("pipeline.") for above in stack):
            self.back.append(name)
        if name not in self.within:
            self.first.append(name)
            self.within[name] = set()
        self.within[name] |= set(stack)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    names = ["age", "sex", "occupation"]
    datasets.adult(complete=True).slice(0, 500).select(names).to_pandas().to_csv(folder / "people.csv", index=False)
    rules = "columns:\n  age: {role: quasi}\n  sex: {role: quasi}\n  occupation: {role: sensitive}\n"
    (folder / "policy.yaml").write_text(f"{rules}require:\n  - {{model: k-anonymity, k: 5}}\n", encoding="utf-8")
    words = [folder / "people.csv", "--policy", folder / "policy.yaml", "--out", folder / "release.csv", "--quiet"]
    found = Trace()
    sys.setprofile(found)
    try:
        result = CliRunner().invoke(app, ["anonymize", *map(str, words)])
    finally:
        sys.setprofile(None)
    assert result.exit_code == 0, result.output
    return found


def test_every_step_is_taken_within_the_one_above_it(trace):
    for above, name in listed():
        assert name in trace.within, f"{name} is on the page, and nobody called it"
        assert above is None or above in trace.within[name], f"{name} was not called by way of {above}"


def test_the_steps_are_in_the_order_of_the_page(trace):
    names = [name for _, name in listed()]
    assert names == [name for name in trace.first if name in set(names)]


def test_the_page_lists_all_stages(trace):
    """Whatever the local way calls in its own file is a step of the page."""
    way = "pipeline.local.make_locally"
    own = {name for name in trace.below[way] if name.startswith("pipeline.local.") and "<" not in name}
    assert own - {"pipeline.local.Ends.without_source"} <= {name for _, name in listed()}


def test_nobody_goes_back_up(trace):
    assert not trace.back, f"the pipeline called {trace.back}"
