"""The shutter: which times it accepts, and the numbers of its samples."""

import pytest

from tests.refusals import refused
from weft.base.errors import RunError
from weft.run.frame_selection import Shutter

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("times", [(0.5, 0.25), (-1.5, 0.0), (0.0, 1.5), (0.0, 0.25, 1)])
def test_times_out_of_order_or_beyond_a_frame_are_refused(times):
    with refused(RunError, "shutter, samples", expected="from -1 to 1"):
        Shutter(*times)


def test_samples_are_exact_and_common_ones_are_there_once():
    third = Shutter(-1 / 3, 1 / 3, 3).numbers(1, 2, (0.0, 2.0))
    assert third == pytest.approx([2 / 3, 1, 4 / 3, 5 / 3, 2], rel=0, abs=1e-9)
    assert Shutter(-0.5, 0.5, 3).numbers(0, 3, (0.0, 2.0)) == [0.0, 0.5, 1.0, 1.5, 2.0]
