"""Runs end where they ended before: what a change of the machinery must not change."""

from contextlib import nullcontext

import numpy as np
import pytest

from tests.disturbance import disturbed
from tests.reference.runs import LOOSE, SCENES, STORED, end_of

pytestmark = pytest.mark.campaign

ELSEWHERE = 1e-6  # searches end at 1e-7 m/s, but where other sums may end them an iteration later


@pytest.mark.parametrize("seed", [None, 1], ids=["exact", "disturbed"])
@pytest.mark.parametrize("name", SCENES)
def test_a_short_run_ends_where_it_did(name, seed, device):
    """On the CPU to round-off, of the start too; elsewhere as far as two searches of one tolerance
    agree.
    """
    with np.load(STORED) as stored:
        before = stored[name]
    with disturbed(seed) if seed else nullcontext():
        x, _ = end_of(SCENES[name]())
    size = np.ptp(before, axis=0).max()
    near = LOOSE.get(name, 1e-10)
    assert np.abs(x - before).max() <= (near if device == "cpu" else max(near, ELSEWHERE)) * size
