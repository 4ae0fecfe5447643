import pytest

from tests.plugins.garments.patterns.people import person
from weft.plugins.garments.patterns.figure import Figure


@pytest.fixture(scope="session")
def woman():
    """A woman as a body."""
    return person("woman", size="2 cm")


@pytest.fixture(scope="session")
def figure(woman):
    return Figure.of(woman)
