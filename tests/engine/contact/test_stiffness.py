"""Cloth that is pressed hard: contact gets as stiff as that needs; forces stay what they are."""

import numpy as np
import pytest

from tests.resuming import resumes_bitwise
from tests.stepping import model_steps
from weft.bodies.body import Body
from weft.bodies.motion.point_sequence import BodyFrames
from weft.cloth.cloth import Cloth
from weft.contact import sphere
from weft.contact.barrier.stiffness import AdaptiveStiffness
from weft.contact.contact_forces import contact_loads
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh
from weft.fabric.fabric import fabric
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

GAP = 3e-3


def bag(grow=1.3):
    """A closed bag of cotton around a sphere of 10 cm, which grows from 0.1 s to 0.5 s."""
    ball, shell = sphere(0.1, 0.035), sphere(0.1 + 1.5 * GAP, 0.035)
    corner = shell.vertices[shell.faces]
    e, f = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    length = np.linalg.norm(e, axis=1)
    along = (e * f).sum(1) / length
    across = np.sqrt((f**2).sum(1) - along**2)
    zero = np.zeros(len(e))
    uv = np.stack([zero, zero, length, zero, along, across], axis=1).reshape(-1, 3, 2)
    cloth = Cloth(TriangleMesh(shell.vertices, shell.faces, uv), fabric("cotton"))
    places = np.stack([ball.vertices, ball.vertices, grow * ball.vertices])
    frames = BodyFrames(np.array([0.0, 0.1, 0.5]), places, hold=True)
    body = Body(ball.vertices, ball.faces, frames=frames, name="ball")
    return Scene(cloth, bodies=[body], contact=SelfContact(GAP, friction=0.3))


def test_a_sphere_that_grows_in_a_bag():
    """It is 30 % larger after 0.4 s: every step of 20 ms finds room, the bag stays an eighth of the
    gap away (it sat at 1 um and less, and steps were halved to 1.25 ms), and is hardly sheared.
    """
    scene = bag()
    model, samples = prepare(scene).model, scene.cloth.samples()
    taken = list(model_steps(scene, model, 30, 0.02))
    assert min(report.contact["least_distance"] for _, _, report in taken) > GAP / 8
    state, memory, report = taken[-1]
    assert len(model.contact.crossings(state.x, state.t)) == 0
    F = samples.deformation_gradient(state.x)
    stretch = np.linalg.norm(F, axis=1)
    assert stretch.min() > 1.2 and stretch.max() < 1.32
    assert np.abs(np.einsum("qi,qi->q", F[..., 0], F[..., 1])).max() < 0.07

    # At rest contact carries what the bag pulls with: sum f.x is dE/ds of x -> (1 + s) x, for both.
    area, stiffness = scene.cloth.mesh.vertex_area, memory["stiffness"][0]
    loads = contact_loads(model.contact, state.x, state.t, area, stiffness)
    pressing = loads["contact_forces"] @ np.linalg.norm(loads["contact_points"], axis=1)
    h = 1e-6
    stored = [
        sum(float(e.value((1 + s * h) * state.x).sum()) for e in model.energies) for s in (1, -1)
    ]
    assert pressing == pytest.approx((stored[0] - stored[1]) / (2 * h), rel=0.02)
    assert stiffness > 20 and report.contact["least_distance"] > GAP / 3


def test_runs_resume_bitwise(tmp_path):
    """Firmness and the slip of friction are saved with the state."""
    whole = resumes_bitwise(bag, 12, [9], tmp_path)
    before = whole.folder.frame(9)
    assert before["memory.stiffness"][1] > 1 and np.abs(before["memory.slip"]).max() > 0
    assert whole.metrics[-1]["energies"]["contact"] > 0


def test_stiffness():
    """It follows what presses by a factor of 8 a step at most, from 1 to 1000; and not at all where
    it is about right, where there is room (cloth that is pinched), or where little presses.
    """
    one, near, up = AdaptiveStiffness(), 1e-3, AdaptiveStiffness(1.0, 8.0)
    for load, room in ((0.0, near), (2.0, near), (1e6, 0.5), (1e6, 0.4)):
        assert one.after(load, room) == one
    there = AdaptiveStiffness(64.0, 64.0)
    assert one.after(100.0, near) == up and up.after(0.0, 1.0).now == 1.0
    assert up.after(100.0, near).after(100.0, 0.4) == there == there.after(60.0, 0.5)
    assert there.after(10.0, 0.5) == AdaptiveStiffness(64.0, 10.0)
    assert there.after(0.0, 1.0) == AdaptiveStiffness(64.0, 8.0)
    assert AdaptiveStiffness(1.0, 900.0).after(1e9, near).now == 1000.0
    assert AdaptiveStiffness.of(up.memory()) == up and AdaptiveStiffness.of(None) == one
