"""Rows of docs/guides/extend-laws.md: a law and a mesh collider, each added from one file, and used
in a run with contact, in a batch and in an adjoint.
"""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import landing, noise, quotient
from tests.sources import loaded
from tests.test_extending_mechanics import worlds_go_alike
from weft.adjoint.adjoint import Adjoint

LAW = '''
"""Quartic warp and weft: psi = k/8 ((|F_u|^2 - 1)^2 + (|F_v|^2 - 1)^2) + g/2 (F_u . F_v)^2."""

from dataclasses import dataclass

import warp as wp

from weft.kernel import Scalar, mat32
from weft.laws.base import SingleLaw
from weft.laws.functions import LawFunctions


@wp.struct
class QuarticYarnParams:
    stretch: Scalar
    shear: Scalar


@wp.func
def psi(F: mat32, p: QuarticYarnParams):
    u, v = wp.vec3d(F[0, 0], F[1, 0], F[2, 0]), wp.vec3d(F[0, 1], F[1, 1], F[2, 1])
    a, b, c = wp.dot(u, u) - Scalar(1.0), wp.dot(v, v) - Scalar(1.0), wp.dot(u, v)
    return Scalar(0.125) * p.stretch * (a * a + b * b) + Scalar(0.5) * p.shear * c * c


@dataclass(frozen=True)
class QuarticYarn(SingleLaw):
    stretch: float
    shear: float

    functions = LawFunctions("quartic_yarn", QuarticYarnParams, psi)

    def parameters(self):
        return {"stretch": self.stretch, "shear": self.shear}
'''
COLLIDER = '''
"""A roof: two plates that meet in a ridge along x, at the origin."""

import numpy as np

from weft.contact import Body


def roof(slope, width, depth, name="roof"):
    x = np.array([[s * width / 2, -slope * abs(z), z] for s in (-1, 1) for z in (-depth, 0, depth)])
    return Body(x, np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]]), name=name)
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The law's class and the collider's function, of one temporary file each."""
    folder = tmp_path_factory.mktemp("own")
    law = loaded(folder, "own_law", LAW).QuarticYarn
    return law, loaded(folder, "own_collider", COLLIDER).roof


@pytest.fixture(scope="module")
def scene(made):
    """A sheet of the law that slides over the ridge of the roof."""
    law, roof = made
    body = roof(0.1, 0.6, 0.3).move((0.003, 0.0, 0.051))
    return landing().with_(law=law(300.0, 40.0), bodies=[body])


def test_in_a_batch(scene):
    worlds_go_alike(scene, "membrane")


def test_by_the_constants_of_the_law_and_the_slope_of_the_roof(made, scene):
    law, roof = made

    def other_law(s, v):
        return s.with_(law=law(*(float(a) for a in v)))

    def other_roof(s, slope):
        return s.with_(bodies=[roof(float(slope), 0.6, 0.3).move((0.003, 0.0, 0.051))])

    asked = [
        weft.Parameter("law", [300.0, 40.0], other_law),
        weft.Parameter("slope", 0.1, other_roof, near=1e-6),
        "bodies.roof.translation",
        "fabric.density",
    ]
    loss = noise(scene.cloth.n_vertices)
    adjoint = Adjoint(scene, loss, asked, frames=2, fps=200.0)
    found = adjoint()
    assert found.report.differences == {}
    rng = np.random.default_rng(1)
    for name, size in (("law", 1.0), ("slope", 1e-4), ("bodies.roof.translation", 1e-5)):
        start = adjoint.parameter(name).value
        way = size * rng.uniform(0.5, 1.5, start.shape)
        expected = quotient(
            lambda s, n=name, a=start, w=way: adjoint.with_values({n: a + s * w}).value(), 1e-1
        )
        assert float((found.gradient[name] * way).sum()) == pytest.approx(expected, rel=1e-4)
