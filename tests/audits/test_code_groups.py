"""The audit's own reading of codes agrees with that of the hierarchies, also on what is nearly a code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.audits.code_groups import answers, groups_of, level_of_group
from sudare.hierarchies.code_systems import CODE_SYSTEMS

CODES = {
    "icd-10": ["I21.0", "E11.-", "G63.2*", "C7A.1", "S72.001A", "E10.30†", "O9A", "E119-", "U07.1!"],
    "icd-9": ["250.83", "V57.89", "E909.1", "8", "4280", "250.-", "042", "25083"],
    "atc": ["A10BA02", "A10", "A", "A10B", "V09XX03"],
    "iso-3166": ["DE", "deu", "Germany", "United-States", "aq", "south korea", "Côte d'Ivoire", "Congo (Kinshasa)"],
    "us-states": ["NY", "new york", "PR", "dc", "Washington, D.C."],
    "us-zip": ["90210", "90210-1234", "902101234", "601"],
    "de-plz": ["80331", "D-1067", "DE-80331"],
    "jp-postal": ["100-0001", "1000001", "〒 060-0001", "600001"],
    "nuts": ["DE212", "uki3", "FR"],
}
SIGNS = "0123456789.-*!+ AEVXZdm"


@st.composite
def nearly(draw, system):
    """A code with up to three changes."""
    text = list(draw(st.sampled_from(CODES[system])))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        change = draw(st.sampled_from(["put", "take", "swap"]))
        if change == "put" or place == len(text):
            text.insert(place, draw(st.sampled_from(SIGNS)))
        elif change == "take":
            del text[place]
        else:
            text[place] = draw(st.sampled_from(SIGNS))
    return "".join(text)


@pytest.mark.parametrize("system", CODES)
@given(data=st.data())
def test_both_readings_agree(system, data):
    text = data.draw(nearly(system))
    [made] = CODE_SYSTEMS[system].above([text])
    wanted = None if made is None else [group for group in reversed(made) if group is not None]
    assert (groups_of(system, text) if text.strip() else None) == wanted
    for number, group in enumerate(wanted or []):
        assert level_of_group(system, group) == answers(system)[0][number]
        assert CODE_SYSTEMS[system].above([group]) == [None]
    if wanted is not None:
        assert level_of_group(system, text) is None


@pytest.mark.parametrize("system", ["icd-10", "icd-9"])
def test_all_categories_agree(system):
    from sudare.hierarchies.code_systems import _categories
    from sudare.policy.classifications import ICD_9, ICD_10

    known = _categories(ICD_10 if system == "icd-10" else ICD_9)
    assert len(known) > 1_200
    for category, (block, chapter) in known.items():
        assert groups_of(system, category) == [chapter, block, f"{category}.*"]


def test_numbers_of_three_digits_have_their_zeros():
    """Longer codes have to be text with their zeros, so the audit reads these as they stand."""
    for number in range(1_000):
        assert groups_of("icd-9", str(number)) == groups_of("icd-9", f"{number:03d}")
    assert groups_of("icd-9", "0389") == groups_of("icd-9", "038.9") != groups_of("icd-9", "389")


@pytest.mark.parametrize("system", ["iso-3166", "us-states"])
def test_all_places_agree(system):
    from sudare.hierarchies.code_systems import _country, _places, _us_state
    from sudare.policy.classifications import COUNTRIES, OTHER_COUNTRY_NAMES, US_STATES

    look, tables = (_country, (COUNTRIES, OTHER_COUNTRY_NAMES, 2)) if system == "iso-3166" else (_us_state, None)
    names = (
        _places(*tables)
        if tables
        else [code for code in US_STATES.replace(";", " ").split() if len(code) == 2 and code.isupper()]
    )
    assert len(names) > 50
    for name in names:
        made = look(name)
        assert made is not None
        assert groups_of(system, name) == [group for group in reversed(made) if group]


def test_there_are_249_countries_and_51_states():
    import re

    from sudare.policy.classifications import COUNTRIES, US_STATES

    codes = re.findall(r"(?:[;:] |\n )\s*([A-Z]{2}) ([A-Z]{3}) ", COUNTRIES)
    assert len({two for two, _ in codes}) == len({three for _, three in codes}) == len(codes) == 249
    assert len(set(re.findall(r"(?:[;:] |\n )\s*([A-Z]{2}) [A-Z]", US_STATES))) == 51
