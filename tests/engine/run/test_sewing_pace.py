"""Sewing that does not get on is seen from the processor time of its steps."""

from weft.run.sewing_pace import PATIENCE, SewingPace


def test_a_run_that_slows_down_is_seen_once_and_one_that_is_slow_throughout_is_not():
    pace, steady = SewingPace(), SewingPace()
    assert not any(pace.add(0.1) for _ in range(100))
    found = [n for n in (pace.add(5.0) for _ in range(40)) if n]
    assert len(found) == 1
    assert found[0] * 5.0 > PATIENCE
    assert not any(steady.add(5.0) for _ in range(100))
