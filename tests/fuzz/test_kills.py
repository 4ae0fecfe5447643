"""A seeded part of the campaign of kills (`make kill`)."""

from tests.fuzz.kills import campaign


def test_kills_at_any_instant():
    done = campaign(kills=40, seed=7, seconds=18)
    assert not done.wrong
    assert done.kills >= 8 and done.late < done.kills
