"""The first cases of every trial; ``make soak`` tries them all."""

from __future__ import annotations

import pytest

from soak.__main__ import trials

TRIALS = trials()


@pytest.mark.parametrize("name", TRIALS)
def test_the_first_cases_keep_the_promise(name):
    trial = TRIALS[name]
    assert 0 < trial.REDUCED <= trial.FULL
    for number in range(trial.REDUCED):
        # spread over all of them: neighbours are often of one kind
        trial.case(number * trial.FULL // trial.REDUCED)
