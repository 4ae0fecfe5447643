import pytest

from weft.plugins.garments.mannequin import mannequin


@pytest.fixture(scope="session")
def woman():
    return mannequin("woman")
