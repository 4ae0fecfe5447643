import pytest

from weft.mannequin import mannequin


@pytest.fixture(scope="session")
def woman():
    return mannequin("woman")
