"""Rods: ropes, cords and wires."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from weft.base.errors import MeshError, SceneError
from weft.contact.exact.intersections import intersections
from weft.discretization.rod import RIGID, SIDES
from weft.plugins.lab.validate.elastica import DROPS
from weft.plugins.lab.validate.rods import TORQUE, buckling_torque, drop, turn_evenly
from weft.scene.build import load_scene
from weft.scene.elastic import elastic_energies
from weft.scene.prepare import prepare

NUMBERS = {"diameter": "8 mm", "mass": "40 g/m", "stretch": "2 kN", "bending": 0.05}
LINE = [[0, 0, 0], [1, 0, 0]]


def energies_of(cloth):
    ((fabric, surface),) = cloth.elements
    return elastic_energies(weft.Scene(cloth), fabric, surface, "")


def total(cloth, x):
    return sum(float(e.value(x).sum()) for e in energies_of(cloth))


@pytest.mark.campaign
def test_a_cantilever_and_a_twisted_rod():
    """The heavy elastica, and Greenhill's torque; all rows: `weft validate rods`."""
    assert drop(50) == pytest.approx(DROPS[50], rel=1e-3)
    assert buckling_torque() == pytest.approx(TORQUE, rel=2e-3)


def test_stretch_twist_and_rigid_motion():
    """EA e^2/2 and GJ a^2/2 of a meter; nothing of a motion without strain."""
    rope = weft.rod(LINE, 0.02, **NUMBERS, twist=0.03)
    x = np.array(rope.points)
    assert total(rope, x) == pytest.approx(0, abs=1e-20)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    assert total(rope, x @ turn.T + 1) == pytest.approx(0, abs=1e-18)
    assert total(rope, turn_evenly(rope.points, 0.5)) == pytest.approx(0.03 * 0.5**2 / 2, rel=1e-4)
    # the third director takes 1 / RIGID of the stretch, in the least energy
    sections = x.reshape(-1, 4, 3)
    c = sections.mean(1, keepdims=True)
    e = 1e-5
    along = np.array([1 + e / RIGID, 1, 1])
    pulled = (c * [1 + e, 1, 1] + (sections - c) * along).reshape(-1, 3)
    assert total(rope, pulled) == pytest.approx(2000 * e**2 / 2, rel=1e-4)


CLOTHS = """
description: A cloth that is tied to a rope by two corners, and falls over it.
cloths:
  - name: rope
    rod:
      along: [[-20 cm, 0, 0], [20 cm, 0, 0]]
      size: 4 cm
      diameter: 6 mm
      mass: 25 g/m
      stretch: 1 kN
      bending: 1e-4 N*m^2
  - name: cloth
    sheet: {nx: 8, ny: 8, width: 20 cm, height: 20 cm}
    translation: [0, 1.2 cm, 2 cm]
pins:
  - {group: rope start}
  - group: rope end
    path: {axis: [1, 0, 0], keyframes: [{time: 0}, {time: 0.1 s, rotation: 180 deg}], hold: true}
attachments:
  - {kind: cloth, vertices: [66, 73], to: {vertices: [18, 48]}, closing: 0.1 s}
contact: {gap: 4 mm, friction: 0.5}
step: 10 ms
seconds: 0.2 s
"""


@pytest.mark.campaign
def test_a_rope_with_cloth(tmp_path):
    """It twists with its end, carries what is tied to it and what lies on it; 0 intersections, and
    a resume has the same bits.
    """
    path = tmp_path / "rope.yaml"
    path.write_text(CLOTHS)
    scene = load_scene(path).scene
    whole = whole_and_resumed(scene, tmp_path, fps=20)
    for k in range(len(whole)):
        assert len(intersections(whole.positions(k), whole.faces)) == 0


def test_a_robot_holds_a_rope():
    """Whole rings can be held in a batch, and move as commanded; a single vertex cannot."""
    rope = weft.rod(LINE, 0.1, **NUMBERS)
    worlds = weft.batch([weft.Scene(rope, step=0.01)] * 2, fps=50)
    up = weft.Hold(rope.group("start"), (0, 0.01, 0))
    for _ in range(3):
        x = worlds.step(holds=[[up], [up]])
    np.testing.assert_allclose(x[0][:SIDES], rope.vertices[:SIDES] + [0, 0.03, 0], atol=1e-9)
    assert x[0][-SIDES:, 1].mean() < -1e-3
    with refused(SceneError, "holds of world 1", got="do not determine a point"):
        worlds.step(holds=[[], [weft.Hold([0], (0, 0, 0))]])


def test_what_does_not_fit():
    with refused(MeshError, "twist", got="0.2"):
        weft.rod(LINE, **NUMBERS, twist=0.2)
    with refused(MeshError, "along"):
        weft.rod([[0, 0, 0], [0, 0, 0]], **NUMBERS)
    rope = weft.rod(LINE, **NUMBERS)
    with refused(SceneError, "rod", got="bdf2_semi_implicit"):
        prepare(weft.Scene(rope, integrator="bdf2_semi_implicit"))
