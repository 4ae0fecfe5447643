"""Rows of docs/guides/extend-laws.md that are mechanics: an energy and an integrator, each in one
file.

They are used in a run with contact and in an adjoint; the energy in a batch, too.
"""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import landing, noise, quotient
from tests.plugins.garments.adjoint.recut import of_runs
from tests.sources import loaded
from tests.stepping import stepped
from weft.adjoint.adjoint import Adjoint

ENERGY = '''
from dataclasses import dataclass, replace

import numpy as np

from weft.energies.elastic.hinge_bending import hinge_weight
from weft.energies.elastic.hinge_weights import HingeGeometry


@dataclass(frozen=True, eq=False)
class Flat:
    """1/2 k w |x_2 + x_3 - x_0 - x_1|^2 of every inner edge, w the weight of a hinge."""

    hinges: np.ndarray
    weight: np.ndarray
    k: float
    name = "flat"
    rest_tables = ("weight",)
    signs = np.array([-1.0, -1.0, 1.0, 1.0])

    @staticmethod
    def of(mesh, k):
        return Flat(mesh.hinges, hinge_weight(mesh, (1.0, 1.0)), k)

    @property
    def stencil(self):
        return self.hinges

    def off(self, x):
        return np.einsum("a,mai->mi", self.signs, x[self.hinges])

    def value(self, x):
        return 0.5 * self.k * self.weight * (self.off(x) ** 2).sum(1)

    def gradient(self, x):
        return self.k * self.weight[:, None, None] * self.mixed_derivatives(x)["weight"] / self.k

    def hessian(self, x, psd=None):
        outer = np.einsum("a,b,ij->abij", self.signs, self.signs, np.eye(3))
        return self.k * self.weight[:, None, None, None, None] * outer

    @property
    def constants(self):
        return {"weight": self.weight, "k": np.full(len(self.weight), self.k)}

    @property
    def structure(self):
        return self.hinges

    def mixed_derivatives(self, x, step=None):
        unit = self.signs[:, None] * self.off(np.asarray(x))[:, None]
        return {"weight": self.k * unit, "k": self.weight[:, None, None] * unit}

    def by_corner_uv(self, by, rest):
        geometry = HingeGeometry.between(rest, self.hinges, np.ones_like(rest.rigidity))
        return geometry.by_corner(rest.mesh, by["weight"])

    def recut(self, mesh, mass):
        return replace(self, weight=hinge_weight(mesh, (1.0, 1.0)))
'''
INTEGRATOR = '''
from weft.energies.state import StateDerivatives
from weft.integrators.base import Integrator
from weft.integrators.reversible import Reversible

PART = 0.9  # of the velocity that inertia carries on


class Slowed(Integrator, Reversible):
    """Backward Euler whose prediction uses a part of the velocity."""

    order = 1

    def init(self, model, state):
        return {}

    def plan(self, model, state, memory, dt):
        return model.step(state, dt, state.x + PART * dt * state.v, dt * dt, (state.x, dt))

    def remember(self, state, memory, dt):
        return memory

    def pull_back(self, part, by, after):
        x = by.state_x + by.predicted + by.origin
        return StateDerivatives(x, by.state_v + PART * part.dt * by.predicted, dict(by.memory))
'''


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A sheet that slides onto a table, with both."""
    folder = tmp_path_factory.mktemp("own")
    flat = loaded(folder, "own_energy", ENERGY).Flat
    slowed = loaded(folder, "own_integrator", INTEGRATOR).Slowed
    made = landing().with_(settings=None)
    energies = [flat.of(made.cloth.mesh, 3.0)]
    return made.with_(energies=energies, integrator=slowed(weft.StepSettings(tolerance=1e-9)))


pytestmark = pytest.mark.filterwarnings("ignore:energy 'flat' has no kernels")


def test_both_in_gradients(scene):
    """By its constant, the start and the rest shape, against runs with other values."""
    loss, one = noise(scene.cloth.n_vertices), scene.energies[0]
    kind = type(one)

    def other(s, k):
        return s.with_(energies=[kind(one.hinges, one.weight, float(k))])

    parameter = weft.Parameter("k", one.k, other)
    adjoint = Adjoint(scene, loss, [parameter], frames=2, fps=200.0)
    found = adjoint()
    assert found.report.differences == {}
    expected = quotient(lambda s: adjoint.with_values({"k": 3.0 + s}).value(), 1e-3)
    assert float(found.gradient["k"]) == pytest.approx(expected, rel=1e-5)
    tangent, velocity = adjoint.tangent("k")
    _, by_x, by_v = loss(tangent, velocity, np.arange(3.0))
    assert float((by_x * tangent).sum() + (by_v * velocity).sum()) == pytest.approx(
        float(found.gradient["k"]), rel=1e-6
    )
    got, wanted = of_runs(scene, h=4e-7, fps=200)
    assert got == pytest.approx(wanted, rel=1e-4)


def worlds_go_alike(scene, energy):
    """Check that worlds of a batch go the way of a scene alone, which has contact and an energy."""
    worlds = weft.batch([scene, scene], fps=200.0)
    worlds.step()
    _, alone, (report,) = stepped(scene, 1, 1 / 200)
    assert report.contact["count"] > 0 and report.terms[energy] > 0
    for x in worlds.positions():
        np.testing.assert_array_equal(x, alone.x)


def test_the_energy_in_a_batch(scene):
    """A batch takes no integrator of one's own."""
    worlds_go_alike(scene.with_(integrator="backward_euler"), "flat")
