"""Rods: ropes, cords and wires."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import weft
from tests.refusals import refused
from weft.base.errors import MeshError, SceneError
from weft.contact.exact.intersections import intersections
from weft.discretization.rod import RIGID, SIDES
from weft.scene.build import load_scene
from weft.scene.elastic import elastic_energies
from weft.solve.newton.psd import Psd

NUMBERS = {"diameter": "8 mm", "mass": "40 g/m", "stretch": "2 kN", "bending": 0.05}
LINE = [[0, 0, 0], [1, 0, 0]]


def energies_of(cloth):
    ((fabric, surface),) = cloth.elements
    return elastic_energies(weft.Scene(cloth), fabric, surface, "")


def total(cloth, x):
    return sum(float(e.value(x).sum()) for e in energies_of(cloth))


def turned(cloth, angle):
    """Points of a straight rod along x whose sections turn evenly, by an angle in all."""
    x = np.array(cloth.points).reshape(-1, 4, 3)
    c = x.mean(1, keepdims=True)
    a = angle * c[..., 0]
    y, z = (x - c)[..., 1], (x - c)[..., 2]
    turned = np.stack(
        [(x - c)[..., 0], np.cos(a) * y - np.sin(a) * z, np.sin(a) * y + np.cos(a) * z], -1
    )
    return (c + turned).reshape(-1, 3)


def test_a_cantilever_is_the_heavy_elastica():
    """EI theta'' = w (L - s) cos(theta), clamped and free; second order in the segments."""
    w, EI = 0.04 * 9.81, 0.05

    def slope(s, y):
        return np.stack([y[1], w / EI * (1 - s) * np.cos(y[0])])

    s = np.linspace(0, 1, 101)
    exact = solve_bvp(slope, lambda a, b: np.array([a[0], b[1]]), s, np.zeros((2, 101)), tol=1e-10)
    theta = exact.sol(np.linspace(0, 1, 20001))[0]
    end = np.array([np.trapezoid(np.cos(theta)), -np.trapezoid(np.sin(theta)) * -1]) / 20000
    errors = []
    for size in (0.1, 0.05):
        rope = weft.rod(LINE, size, **NUMBERS | {"stretch": 1e6})
        scene = weft.Scene(rope, [weft.Pin(rope.group("start"))], integrator="quasi_static")
        x = weft.simulate(scene, seconds=0.04, fps=25).positions(-1)
        errors.append(np.linalg.norm(x[-SIDES:].mean(0)[:2] - [end[0], -abs(end[1])]))
    assert errors[1] < 2e-3 and errors[0] / errors[1] == pytest.approx(4, rel=0.3)


def test_stretch_twist_and_rigid_motion():
    """EA e^2/2 and GJ a^2/2 of a meter; nothing of a motion without strain."""
    rope = weft.rod(LINE, 0.02, **NUMBERS, twist=0.03)
    x = np.array(rope.points)
    assert total(rope, x) == pytest.approx(0, abs=1e-20)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    assert total(rope, x @ turn.T + 1) == pytest.approx(0, abs=1e-18)
    assert total(rope, turned(rope, 0.5)) == pytest.approx(0.03 * 0.5**2 / 2, rel=1e-4)
    # the third director takes 1 / RIGID of the stretch, in the least energy
    sections = x.reshape(-1, 4, 3)
    c = sections.mean(1, keepdims=True)
    e = 1e-5
    along = np.array([1 + e / RIGID, 1, 1])
    pulled = (c * [1 + e, 1, 1] + (sections - c) * along).reshape(-1, 3)
    assert total(rope, pulled) == pytest.approx(2000 * e**2 / 2, rel=1e-4)


def test_a_clamped_rod_buckles_at_greenhills_torque():
    """A twisted straight rod with clamped ends is unstable above 8.987 EI/L (Greenhill 1883)."""
    rope = weft.rod(LINE, 0.04, **NUMBERS | {"stretch": 1e5}, twist=0.05)

    def least(angle):
        """The least eigenvalue of the Hessian in the straight equilibrium."""
        x = turned(rope, angle)
        for _ in range(6):
            g, K = derivatives(energies_of(rope), x)
            free = np.s_[12:-12]
            x.reshape(-1)[free] -= np.linalg.solve(K[free, free], g[free])
        assert np.abs(g[free]).max() < 1e-6
        return np.linalg.eigvalsh(K[free, free])[0]

    critical = 8.987  # GJ = EI, so the angle of a meter is the torque over EI
    assert least(0.97 * critical) > 0 > least(1.03 * critical)


def derivatives(energies, x):
    """Gradient (3 n,) and Hessian (3 n, 3 n) of energies."""
    g, H = np.zeros_like(x), np.zeros((len(x), 3, len(x), 3))
    for energy in energies:
        for ids, force, block in zip(
            energy.stencil, energy.gradient(x), energy.hessian(x, Psd.EXACT), strict=True
        ):
            g[ids] += force
            H[np.ix_(ids, range(3), ids, range(3))] += block.transpose(0, 2, 1, 3)
    return g.reshape(-1), H.reshape(x.size, x.size)


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


def test_a_rope_with_cloth(tmp_path):
    """It twists with its end, carries what is tied to it and what lies on it; 0 intersections, and
    a resume has the same bits.
    """
    path = tmp_path / "rope.yaml"
    path.write_text(CLOTHS)
    scene = load_scene(path).scene
    whole = weft.simulate(scene, seconds=0.2, fps=20, out=tmp_path / "whole")
    weft.simulate(scene, seconds=0.1, fps=20, out=tmp_path / "part")
    part = weft.simulate(scene, seconds=0.2, fps=20, out=tmp_path / "part", resume=True)
    np.testing.assert_array_equal(whole.positions(-1), part.positions(-1))
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
    with refused(SceneError, "holds of world 1", got="determine none"):
        worlds.step(holds=[[], [weft.Hold([0], (0, 0, 0))]])


def test_what_does_not_fit():
    with refused(MeshError, "twist", got="0.2"):
        weft.rod(LINE, **NUMBERS, twist=0.2)
    with refused(MeshError, "along"):
        weft.rod([[0, 0, 0], [0, 0, 0]], **NUMBERS)
    rope = weft.rod(LINE, **NUMBERS)
    with refused(SceneError, "rod", got="bdf2_semi_implicit"):
        weft.Scene(rope, integrator="bdf2_semi_implicit").model()
