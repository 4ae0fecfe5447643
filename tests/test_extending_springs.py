"""Rows of docs/guides/extend-laws.md about springs: each adds one of a kind from one file, and uses
it."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.sources import loaded
from weft.bodies.rigid.settings import Rigid
from weft.contact import box
from weft.energies.by_constants import by_constants
from weft.kernel import numpy, points, zeros
from weft.scene.prepare import prepare
from weft.solve.sparse.block_csr import BlockPattern

ATTACHMENT = '''
"""Suction: points are held on a line through a place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.cloth.attachments import Attached, Attachment
from weft.energies.springs.release import NEVER, Release


@dataclass(frozen=True, eq=False)
class OnLine(Attachment):
    vertices: Any
    place: tuple
    along: tuple
    stiffness: float | None = None
    release: Release = NEVER
    name: str = ""

    kind = "line"

    def build(self, site):
        m = len(self.vertices)
        place, axis = (np.tile(np.asarray(v, float), (m, 1)) for v in (self.place, self.along))
        return Attached((site.ties(self, *site.single(self.vertices), place=place, axis=axis),))
'''


def test_an_attachment(tmp_path):
    """Points on a line slide down on it, with contact, and are released."""
    OnLine = loaded(tmp_path, "mine", ATTACHMENT).OnLine
    cloth = weft.sheet(5, 5, 0.2, 0.2, fabric="cotton").move((0, 0.3, 0), (90, 0, 0))
    corner = cloth.corners("top")[:1]
    x0 = cloth.vertices[corner][0]
    made = OnLine(
        corner,
        tuple(x0),
        (0.0, 0.8, 0.6),
        stiffness=1e4,
        release=weft.Release(at=0.15),
        name="line",
    )
    floor = box((1.0, 0.1, 1.0), 0.5, "floor").move((0, -0.4, 0))
    scene = weft.Scene(
        cloth, attachments=[made], bodies=[floor], contact=weft.SelfContact(), step=5e-3
    )
    run = weft.simulate(scene, frames=5, fps=20, out=tmp_path / "run", progress=False)
    held = run.positions(2)[corner][0] - x0
    assert held[1] < -0.02
    np.testing.assert_allclose(held - held @ [0, 0.8, 0.6] * np.array([0, 0.8, 0.6]), 0, atol=1e-4)
    said = [m["attachments"]["line"]["holds"] for m in run.metrics]
    assert said[1] == 1 and said[-1] == 0
    with refused(weft.errors.SceneError, "line.vertices"):
        weft.Scene(cloth, attachments=[OnLine(corner[:0], (0, 0, 0), (0, 1, 0), name="line")])


JOINT = '''
"""A joint that holds a point of a body on a line, along which it has limits."""

from dataclasses import dataclass

from weft.bodies.joints.mechanisms import KINDS, JointKind, JointRow
from weft.bodies.joints.settings import Joint


def held(j):
    yield JointRow(j.ids, j.body.weights(j.point[None])[0], j.point, j.stiffness, j.axis)


ON_LINE = JointKind(
    held, lambda j: [(None, j.axis)], "way", "drive", "stops of lines", KINDS["slider"].bounds
)


@dataclass(frozen=True)
class OnLine(Joint):
    @property
    def mechanism(self):
        return ON_LINE
'''


def test_a_joint(tmp_path):
    """A body falls along the line to its limit, and its point stays on the line."""
    OnLine = loaded(tmp_path, "mine", JOINT).OnLine
    joint = OnLine(axis=(0.0, 1.0, 0.0), way=(-0.02, 0.05))
    body = box((0.1, 0.2, 0.3), 0.3, "one").move((0.5, 0.0, 0.0))
    body = dataclasses.replace(body, rigid=Rigid(1e3, joints=[joint]))
    cloth = weft.sheet(3, 3, 0.1, 0.1, fabric="cotton").move((5.0, 0, 0))
    scene = weft.Scene(cloth, [weft.Pin(cloth.border("left"))], bodies=[body], step=5e-3)
    run = weft.simulate(scene, frames=3, fps=20, out=tmp_path / "run", progress=False)
    center = np.array(run.metrics[-1]["bodies"][0]["center"])
    np.testing.assert_allclose(center[[0, 2]], (0.5, 0.0), atol=1e-6)
    assert center[1] == pytest.approx(-0.02, abs=2e-3) and center[1] > -0.02
    names = [e.name for e in prepare(scene).model.energies]
    assert "stops of lines" in names and "joints" in names


SPRING = '''
"""A spring whose force grows with the third power of its elongation."""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft.base.arrays import Floats
from weft.energies.springs.distance import DISTANCE, AttachedPoints
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.spring import Curvature, SpringLaw, spring_kernels
from weft.energies.springs.spring_law import SpringNumbers
from weft.kernel import Scalar, vec2
from weft.solve.newton.psd import Psd


@wp.func
def energy(q: vec2, p: SpringNumbers):
    e = q[0] - p.length
    return vec2(Scalar(0.25) * p.stiffness * e * e * e * e, Scalar(0.0))


@wp.func
def force(q: vec2, p: SpringNumbers):
    e = q[0] - p.length
    return vec2(p.stiffness * e * e * e, Scalar(0.0))


@wp.func
def stiffness(q: vec2, p: SpringNumbers):
    e = q[0] - p.length
    return vec2(Scalar(3.0) * p.stiffness * e * e, Scalar(0.0))


CUBIC = SpringLaw(SpringNumbers, energy, force, stiffness)


class Cubic(PointSprings):
    kernels = spring_kernels(
        "test_cubic",
        AttachedPoints,
        DISTANCE,
        CUBIC,
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.CLAMPED),
    )
'''


def test_a_spring(tmp_path):
    """Forces and derivatives by its constants follow from the functions of its law."""
    Cubic = loaded(tmp_path, "mine", SPRING).Cubic
    x = np.array([[0.0, 0, 0], [0.3, 0.4, 0]])
    ids, c = np.array([[0, 1]], np.int32), np.array([[-1.0, 1.0]])
    spring = Cubic(ids, c, np.array([3.0]), "cubic", length=0.3)
    assert spring.value(x)[0] == pytest.approx(3 * 0.2**4 / 4)
    bound, g = spring.bind(BlockPattern.of(2, [ids])), zeros(2, points(x).dtype)
    bound.add_gradient(points(x), g)
    np.testing.assert_allclose(numpy(g)[1], 3 * 0.2**3 * np.array([0.6, 0.8, 0]), atol=1e-14)
    by = by_constants(spring, x, np.array([[0.0, 0, 0], [0.6, 0.8, 0]]))
    assert by["stiffness"][0] == pytest.approx(0.2**3)
    assert by["length"][0] == pytest.approx(-9 * 0.2**2)
