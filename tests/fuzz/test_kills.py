"""A seeded part of the campaign of kills (`make kill`)."""

import pytest

from tests.fuzz.kills import campaign

pytestmark = pytest.mark.campaign


def test_kills_at_any_instant():
    done = campaign(kills=40, seed=7)
    assert not done.wrong
    assert done.kills >= 40 and done.late < done.kills
