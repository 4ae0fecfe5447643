"""Runs end where they ended before: what a change of the machinery must not change."""

import numpy as np
import pytest

from tests.reference.runs import LOOSE, SCENES, STORED, end_of

ELSEWHERE = 1e-6  # searches end at 1e-7 m/s, but where other sums may end them an iteration later


@pytest.mark.parametrize("name", SCENES)
def test_a_short_run_ends_where_it_did(name, device):
    """On the CPU to round-off; elsewhere as far as two searches of one tolerance agree."""
    with np.load(STORED) as stored:
        before = stored[name]
    x, _ = end_of(SCENES[name]())
    size = np.ptp(before, axis=0).max()
    near = LOOSE.get(name, 1e-10)
    assert np.abs(x - before).max() <= (near if device == "cpu" else max(near, ELSEWHERE)) * size
