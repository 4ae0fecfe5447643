"""Random gestures on five scenes: nothing intersects, nothing is not finite, no step hangs."""

import pytest

from tests.engine.live.gestures import campaign


def check(found, gestures):
    assert sum(t.gestures for t in found.values()) == gestures
    assert all(t.intersections == 0 for t in found.values()), found
    assert all(t.slowest < 2.0 for t in found.values()), found
    # Most gestures do something: refused are changes of thickness without room, and little else.
    assert all(t.refused < 0.2 * t.steps for t in found.values()), found


def test_a_few_gestures():
    """Five scenes of their own, each with steps of a second: 5 s and more."""
    check(campaign(20, seed=3, say=lambda text: None), 20)


@pytest.mark.campaign
def test_two_hundred_gestures():
    check(campaign(200, seed=5, say=lambda text: None), 200)
