"""Runs that stop and go on, beside one that does not stop."""

import weft
from tests.engine.test_simulation import same_run


def resumes_bitwise(make, frames, ends, folder, fps=50.0):
    """Simulate what ``make`` returns in one go, and with breaks at the frames ``ends``; assert that
    both runs are the same, and return the first.
    """
    how = {"fps": fps, "progress": False, "fsync": False}
    whole = weft.simulate(make(), frames=frames, out=folder / "whole", **how)
    for end in (*ends, frames):
        again = {"out": folder / "parts", "resume": end != ends[0]}
        parts = weft.simulate(make(), frames=end, **again, **how)
    same_run(whole, parts)
    return whole


def whole_and_resumed(scene, folder, frames=4, fps=30):
    """A run of a scene, as which one that stopped in its middle ends, bit for bit."""
    return resumes_bitwise(lambda: scene, frames, [frames // 2], folder, fps)
