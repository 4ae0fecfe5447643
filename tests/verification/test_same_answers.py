"""Runs end where they ended before: what a change of the machinery must not change."""

import numpy as np
import pytest

from tests.reference.runs import LOOSE, SCENES, STORED, end_of


@pytest.mark.parametrize("name", SCENES)
def test_a_short_run_ends_where_it_did(name):
    with np.load(STORED) as stored:
        before = stored[name]
    x, _ = end_of(SCENES[name]())
    size = np.ptp(before, axis=0).max()
    assert np.abs(x - before).max() <= LOOSE.get(name, 1e-10) * size
