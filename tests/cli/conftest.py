import pytest

from .people import Place


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
