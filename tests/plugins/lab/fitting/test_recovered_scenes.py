"""Fabrics recovered from cameras: a preset is simulated, what a camera sees gets 2 % of noise, and
the truth lies within the stated uncertainty of what is fitted from three times its rigidity.
"""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2

from tests.plugins.lab.fitting.test_scenes import (
    PIXEL,
    STRIP,
    draw_rectangle,
    drawn_silhouette,
    measurement,
    needs_scikit_image,
)
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.fit import fit

NOISE, WRONG = 0.02, 3.0
DRAWS = 6  # of noise
HELD = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "damping")


def assert_recovered(draws, name, known):
    """Errors of the rigidity along weft, over their stated standard deviations, are normal ones:
    none beyond three, their mean square below what chance gives in one of two hundred; and
    ``known`` says how much is told at all.
    """
    true = fabric(name)
    start = dataclasses.replace(true, bending_weft=WRONG * true.bending_weft)
    z = []
    for draw in draws:
        found = fit([draw], start, HELD)
        assert found.fields == ("bending_weft",) and found.converged
        assert 0.4 < found.squares / found.freedom < 1.5
        size = found.relative["bending_weft"]
        assert size < known
        z.append(np.log(found.fabric.bending_weft / true.bending_weft) / size)
    assert np.abs(z).max() < 3 and np.square(z).sum() < chi2.isf(0.005, len(z))


@needs_scikit_image
@pytest.mark.slow
@pytest.mark.parametrize("name", ["wool", "cotton"])
def test_silhouette(name, tmp_path):
    """A clamped strip from aside, a pixel a millimeter, and 2 % of its drop in every number."""
    draw_rectangle(tmp_path, 160, 180)
    block = f"kind: silhouette, picture: p.png, pixel: {PIXEL} m, azimuth: 45 deg"
    first = measurement(tmp_path, block, STRIP)
    x = first.run.positions(fabric(name))[-1]
    across = np.sqrt(0.5) * (x[:, 0] - x[:, 2])
    drawn_silhouette(tmp_path, np.stack([across, x[:, 1], 0 * across], 1), first.run.faces)
    exact = measurement(tmp_path, block, STRIP)
    rng, sigma = np.random.default_rng(3), NOISE * exact.seen.drop
    seen, draws = exact.seen, []
    for _ in range(DRAWS):
        wide, middle = sigma * rng.normal(size=(2, len(seen.left)))
        sides = {"left": seen.left + middle - wide / 2, "right": seen.right + middle + wide / 2}
        noisy = dataclasses.replace(seen, drop=seen.drop + sigma * rng.normal(), **sides)
        draws.append(dataclasses.replace(exact, run=first.run, seen=noisy, sigma=sigma))
    assert_recovered(draws, name, 0.2)
