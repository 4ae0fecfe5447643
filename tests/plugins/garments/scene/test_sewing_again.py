"""A run whose seams are caught on a body starts again, with these seams sewn earlier; it goes back
to the first order if that was better.
"""

from dataclasses import replace

import numpy as np
import pytest

import weft
from tests.plugins.garments.builders import scene_of
from weft.base.errors import SimulationError
from weft.energies.springs.bonds import Bonds
from weft.integrators.backward_euler import BackwardEuler
from weft.run.sewing_pace import about_slow_sewing
from weft.solve.linear.solver import Outcome

PATTERN = """
panels:
  front:
    outline:
      - {at: [-14 cm, 0], edge: hem}
      - {at: [14 cm, 0], edge: right}
      - {at: [14 cm, 12 cm], edge: top}
      - {at: [-14 cm, 12 cm], edge: left}
    placement: {translation: [10 cm, 10 cm, 10 cm]}
  back:
    copy: front
    placement: {translation: [10 cm, 10 cm, -10 cm], rotation: [0, 180, 0]}
seams:
  first: {join: [front.right, back.left], window: [0, 0.3]}
  second: {join: [front.left, back.right], window: [SECOND]}
"""
SCENE = """
cloth: {garment: {pattern: tube.yaml, size: 5 cm, start: pattern}}
bodies:
  - name: limb
    capsule: {radius: 8 cm, length: 40 cm, size: 3 cm, mesh: true}
    translation: [0, 15 cm, 0]
contact: {gap: 2 mm, friction: 0.5}
sewing: {closing: 0.5 s, settle: 0.05 s}
integrator: {backward_euler: {effort: interactive}}
seconds: 0.6
fps: 20
"""


def scene_in(folder, second, *, narrow=False):
    """Return a scene in which two panels beside a limb are sewn to a tube around it."""
    text = PATTERN.replace("SECOND", second)
    if narrow:  # and in front of the limb
        text = text.replace("[10 cm, 10 cm,", "[0 cm, 10 cm,").replace("14 cm", "9 cm")
    return scene_of(folder, SCENE, tube=text)


def simulated(scene, folder, warned, **how):
    """Return the run of a scene, and what it is warned of, which some words are part of."""
    with pytest.warns(UserWarning, match=warned) as told:
        run = weft.simulate(scene, frames=12, fps=20.0, out=folder, progress=False, **how)
    return run, [str(w.message) for w in told]


def test_slow_sewing_names_the_seam_that_is_farthest_behind(tmp_path):
    scene = scene_in(tmp_path, "0.5, 1")
    x = scene.cloth.mesh.vertices
    told = about_slow_sewing(scene.cloth, scene.energies, x, 0.15, 12)
    assert "the last 12 steps" in told
    assert "seam first is farthest behind, open by" in told  # the second one may be open


def cut_off(run):
    """Take the last frame from a run, which has to begin again at the one before."""
    run.folder.drop_frames_after(11)
    run.folder.files.remove("checkpoint.npz")


def widest(scene, run):
    """Return the widest gap [m] of the seams in the last frame."""
    x = run.positions(-1)
    gaps = [x[p[:, 0]] - x[p[:, 1]] for _, p in scene.cloth.seams]
    return max(float(np.linalg.norm(gap, axis=1).max()) for gap in gaps)


def test_a_seam_that_an_earlier_one_traps_on_a_limb_is_sewn_with_it(tmp_path):
    scene, out = scene_in(tmp_path, "0.6, 1"), tmp_path / "run"
    run, _ = simulated(scene, out, "starts again: seams second")
    assert widest(scene, run) < 1e-3
    before = run.positions(11)
    cut_off(run)
    run, _ = simulated(scene, out, "damaged", resume=True)
    np.testing.assert_array_equal(run.positions(11), before)
    assert widest(scene, run) < 1e-3


def test_a_seam_that_the_second_try_traps_is_sewn_with_both(tmp_path, monkeypatch):
    """As the other sleeve of a pair: seams that were sewn earlier stay so."""
    scene, gaps = scene_in(tmp_path, "0.6, 1"), iter([[0.0, 0.05], [0.06, 0.0], [0.0, 0.0]])

    def open_by(cloth, x):
        return [(n, p, np.array([g])) for (n, p), g in zip(cloth.seams, next(gaps))]

    monkeypatch.setattr("weft.run.simulation.sewn_gaps", open_by)
    monkeypatch.setattr("weft.run.sewing_order.close_earlier", lambda energies, pairs: energies)
    run, _ = simulated(scene, tmp_path / "run", "starts again: seams first")
    assert run.manifest["description"]["sewn_earlier"] == {
        "seams": ["second", "first"],
        "gap": 0.05,
    }


# Some seconds: a run of one try, one of two tries, and the second resumed.
@pytest.mark.campaign
def test_a_second_try_that_is_worse_is_taken_back(tmp_path, monkeypatch):
    """The last try has the bits of a run that does not start again, also after a resume."""
    scene, out = scene_in(tmp_path, "0.6, 1"), tmp_path / "run"
    monkeypatch.setattr("weft.run.sewing_order.close_earlier", lambda energies, pairs: None)
    run, _ = simulated(scene, tmp_path / "once", "does not start again")
    once = run.positions(-1)

    def close_never(energies, pairs):
        return [replace(e, closing=e.closing + 10) if isinstance(e, Bonds) else e for e in energies]

    monkeypatch.setattr("weft.run.sewing_order.close_earlier", close_never)
    run, told = simulated(scene, out, "in the first order")
    assert sum("starts again" in text for text in told) == 3
    np.testing.assert_array_equal(run.positions(-1), once)
    cut_off(run)
    run, told = simulated(scene, out, "damaged", resume=True)
    assert not any("starts again" in text for text in told)
    np.testing.assert_array_equal(run.positions(-1), once)


def test_a_garment_that_is_too_small_is_not_sewn_again(tmp_path):
    """Seams that pull on tight cloth are open by millimeters, and no order helps."""
    scene = scene_in(tmp_path, "0, 0.3", narrow=True)
    run, told = simulated(scene, tmp_path / "run", "it is too small there, or a seam or a body")
    assert not any("again" in text for text in told)
    assert widest(scene, run) > 1e-3


def test_a_step_that_fails_while_seams_close_gets_advice_about_seams(tmp_path, monkeypatch):
    step = BackwardEuler.step

    def stalls(self, *state):
        x, memory, report = step(self, *state)
        return x, memory, replace(report, outcome=Outcome.STALLED)

    scene = scene_in(tmp_path, "0.6, 1")
    monkeypatch.setattr(BackwardEuler, "step", stalls)
    with pytest.raises(SimulationError) as failed:
        weft.simulate(scene, frames=1, fps=20.0, out=tmp_path / "run", progress=False)
    assert "seams are still closing" in failed.value.hint and "`sewing`" in failed.value.hint
    assert not any(word in failed.value.hint for word in ("psd", "Hessian", "definite"))
