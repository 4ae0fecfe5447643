"""Runs that stop in their middle and go on."""

import weft
from tests.engine.test_simulation import same_run


def whole_and_resumed(scene, folder, frames=4, fps=30):
    """A run of a scene, as which one that stopped in its middle ends, bit for bit."""
    how = {"fps": fps, "progress": False, "fsync": False}
    whole = weft.simulate(scene, frames=frames, out=folder / "whole", **how)
    weft.simulate(scene, frames=frames // 2, out=folder / "parts", **how)
    same_run(whole, weft.simulate(scene, frames=frames, out=folder / "parts", resume=True, **how))
    return whole
