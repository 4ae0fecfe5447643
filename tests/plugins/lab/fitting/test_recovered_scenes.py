"""Fabrics recovered from cameras: a preset is simulated, what a camera sees gets 2 % of noise, and
the truth lies within the stated uncertainty of what is fitted from three times its rigidity.
"""

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2

from tests.plugins.lab.fitting.test_scenes import (
    AXES,
    PIXEL,
    STRIP,
    depth_of,
    draw_rectangle,
    drawn_silhouette,
    measurement,
    needs_scikit_image,
    run_of,
)
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.fit import fit

NOISE, WRONG = 0.02, 3.0
DRAWS, OF_DEPTH = 6, 2  # of noise; a fit to depth maps takes five seconds
HELD = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "damping")
FALLING = STRIP.replace(
    "step: 1 s\nseconds: 1 s\nfps: 1\nintegrator: {quasi_static: {tolerance: 1e-8 m, "
    "force_tolerance: 1e-9, max_iterations: 3000}}",
    "step: 20 ms\nseconds: 0.2 s\nfps: 10\nintegrator: {backward_euler: {tolerance: 1e-8 m/s}}",
)
SIDE, FOCAL = 80, 120.0  # [pixels] of a depth camera above the strip
EYE = np.array([0.0, 0.25, 0.0])


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
        # Noise in depths counts along the surface's normal, which is at an angle to them.
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

    def noisy(seen):
        wide, middle = sigma * rng.normal(size=(2, len(seen.left)))
        return dataclasses.replace(
            seen,
            drop=seen.drop + sigma * rng.normal(),
            left=seen.left + middle - wide / 2,
            right=seen.right + middle + wide / 2,
        )

    draws = [
        dataclasses.replace(exact, run=first.run, seen=noisy(exact.seen), sigma=sigma)
        for _ in range(DRAWS)
    ]
    assert_recovered(draws, name, 0.2)


@pytest.mark.slow
def test_depth(tmp_path):
    """The same strip, let go and seen from above at two times, 2 % of noise in every depth."""
    run = run_of(tmp_path, FALLING)
    x = run.positions(fabric("wool"))
    exact = np.array([depth_of(x[k], run.faces, SIDE, FOCAL, EYE) for k in (1, 2)])
    rng, draws = np.random.default_rng(4), []
    for _ in range(OF_DEPTH):
        np.savez(
            tmp_path / "depth.npz",
            time=np.array([0.1, 0.2]),
            eye=EYE,
            axes=AXES,
            depth=exact * (1 + NOISE * rng.normal(size=exact.shape)),
            focal=np.full(2, FOCAL),
            center=np.full(2, SIDE / 2),
        )
        error = 1e3 * NOISE * float(np.median(exact[exact > 0]))
        block = f"kind: depth, depth: depth.npz, error: {error:.4g} mm"
        draws.append(dataclasses.replace(measurement(tmp_path, block, FALLING), run=run))
    assert min(len(p) for p in draws[0].points) > 80
    assert_recovered(draws, "wool", 0.25)
