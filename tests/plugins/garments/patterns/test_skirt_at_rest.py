"""The skirt that its waistband's friction holds on a mannequin: examples/garments."""

from pathlib import Path

import numpy as np
import pytest

import weft
from weft.scene.build import load_scene

SCENE = Path(__file__).parents[4] / "examples" / "garments" / "skirt_at_rest.yaml"
COARSE = ["cloth.garment.size=6 cm", "bodies.0.mannequin.size=2.1 cm"]
RESTS = "integrator={quasi_static: {friction: true, slip: 0.5 mm, lags: 150}}"  # as it says
SEWN, LAST, FPS = 20, 25, 10.0


@pytest.mark.slow
def test_it_settles_and_does_not_slip(tmp_path):
    """Sewn in time, then equilibria while the weight grows: the elastic keeps its place to half of
    a millimeter where it is sewn on, and presses as a ring of its tension does, 2 pi T in all.

    The folds of the band between these points stand out from the body, and lean by millimeters.
    """
    how = {"fps": FPS, "out": tmp_path / "run", "progress": False}
    weft.simulate(load_scene(SCENE, COARSE).scene, frames=SEWN, **how)
    scene = load_scene(SCENE, [*COARSE, RESTS]).scene.with_(step=1 / FPS)
    run = weft.simulate(scene, frames=LAST, from_frame=SEWN, **how)
    assert all(m["outcome"] == "CONVERGED" for m in run.metrics)
    groups = scene.cloth.mesh.groups
    upper = np.unique(np.concatenate([ids for name, ids in groups.items() if "upper" in name]))
    (bands,) = (e for e in scene.energies if e.name == "elastics")
    held = np.unique(bands.pairs)
    moved = run.positions(LAST) - run.positions(SEWN)
    assert len(held) > 20 and np.isin(held, upper).all()
    assert np.abs(moved[held]).max() < 5e-4
    assert np.linalg.norm(moved[upper], axis=1).max() < 0.02
    tension = bands.tension(run.positions(LAST), LAST / FPS).mean()
    arrays = run.folder.frame(LAST)
    height = arrays["contact_points"][:, 1]
    force = arrays["contact_forces"][height > run.positions(LAST)[upper, 1].min() - 0.03].sum()
    assert force == pytest.approx(2 * np.pi * tension, rel=0.1)
    part = (LAST / FPS - 2.0) / 1.0  # of the weight
    assert 0.05 * part < scene.cloth.mass.sum() * 9.81 * part < 0.3 * force
