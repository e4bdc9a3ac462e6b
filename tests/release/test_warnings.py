"""The warnings of a certificate."""

import json

from sudare.release.certificate import Figures, make_certificate
from sudare.release.warnings import ReleaseWarning


def certificate(found, added):
    return make_certificate(
        figures=Figures(3, 3, 0, {}, {}, {}),
        order="class",
        method={"name": "top-down"},
        columns={},
        audit={"classes": 1, "guarantees": [], "release_sha256": "", "warnings": found},
        seconds={},
        policy_sha256="",
        warnings=added,
    )


def test_a_certificate_has_what_the_audit_warns_of_and_then_what_the_maker_does():
    found = {"kind": "one", "columns": ["a"], "figures": {"share": 0.5}, "text": "One."}
    told = certificate([found], [ReleaseWarning("two", "Two.", ("b",), {"share": 0.25})])
    assert told["warnings"] == [
        found,
        {"kind": "two", "columns": ["b"], "figures": {"share": 0.25}, "text": "Two."},
    ]
    assert json.loads(json.dumps(told))["warnings"] == told["warnings"]


def test_a_release_that_nobody_warns_of_says_so():
    assert certificate([], [])["warnings"] == []
