"""What users may add to a potential, as docs/extending.md says: drag, which depends on velocity and
time, and a limit of strain, which bounds steps.
"""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.energies.barrier import Barrier
from weft.energies.numpy_energy import NumpyEnergy
from weft.scene.prepare import prepare

pytestmark = [
    pytest.mark.filterwarnings("ignore:energy .* has no kernels"),
    pytest.mark.filterwarnings("ignore:fabric.*all fabrics"),
]
DT = 0.02


class Drag:
    """c m/2h |x - o - h u|^2: drag of c m [kg/s] in air of velocity u, v measured from o."""

    name = "drag"

    def __init__(self, mass, c, u):
        self.mass, self.c, self.u, self.times = mass, c, np.array(u), []
        self.stencil = np.arange(len(mass))[:, None]
        self.weight, self.goal = np.zeros(len(mass)), np.zeros((len(mass), 3))

    def value(self, x):
        return self.weight / 2 * ((x - self.goal) ** 2).sum(axis=1)

    def gradient(self, x):
        return (self.weight[:, None] * (x - self.goal))[:, None]

    def hessian(self, x, psd):
        return self.weight[:, None, None, None, None] * np.eye(3)

    def bind(self, pattern):
        return DragTerm(self, pattern)


class DragTerm(NumpyEnergy):
    def freeze(self, step):
        drag = self.energy
        drag.weight = drag.c * drag.mass / step.span
        drag.goal = step.origin + step.span * drag.u
        drag.times.append(step.t)


class StrainLimit:
    """k/2 l^2 b(e) of edges, b = -(e - a)^2 log((m - e)/(m - a)) for strains e > a = m/2."""

    name = "strain limit"

    def __init__(self, mesh, most, k=100.0):
        self.stencil, self.most, self.k = mesh.edges, most, k
        self.rest = np.linalg.norm(np.diff(mesh.vertices[mesh.edges], axis=1)[:, 0], axis=1)

    def strain(self, x):
        d = np.diff(x[self.stencil], axis=1)[:, 0]
        length = np.linalg.norm(d, axis=1)
        return length / self.rest - 1, d / length[:, None]

    def barrier(self, e):
        a, m = self.most / 2, self.most
        s, left = e - a, np.maximum(m - e, 1e-100)
        r = np.log(left / (m - a))
        b = -s * s * r, s * s / left - 2 * s * r, s * s / left**2 + 4 * s / left - 2 * r
        b, b1, b2 = (np.where(e > a, value, 0.0) for value in b)
        return np.where(e >= m, np.inf, b), b1, b2

    def value(self, x):
        return self.k * self.rest**2 * self.barrier(self.strain(x)[0])[0]

    def gradient(self, x):
        e, n = self.strain(x)
        f = (self.k * self.rest * self.barrier(e)[1])[:, None] * n
        return np.stack([-f, f], axis=1)

    def hessian(self, x, psd):
        e, n = self.strain(x)
        _, b1, b2 = (b[:, None, None] for b in self.barrier(e))
        N = n[:, :, None] * n[:, None, :]
        K = self.k * (b2 * N + b1 / (1 + e[:, None, None]) * (np.eye(3) - N))
        return np.stack([np.stack([K, -K], 1), np.stack([-K, K], 1)], 1)

    def bind(self, pattern):
        return LimitTerm(self, pattern)


class LimitTerm(NumpyEnergy, Barrier):
    def max_step(self, x, d):
        """Nine tenths of the way to the first edge at the limit."""
        limit = self.energy
        y, w = (np.diff(kernel.numpy(a)[limit.stencil], axis=1)[:, 0] for a in (x, d))
        a, b = (w * w).sum(axis=1), (y * w).sum(axis=1)
        c = (y * y).sum(axis=1) - (limit.rest * (1 + limit.most)) ** 2
        moving = a > 0
        t = (np.sqrt(b * b - a * c) - b)[moving] / a[moving]
        return min(1.0, 0.9 * float(np.min(t, initial=np.inf)))


@pytest.mark.parametrize(
    "integrator", ["backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998"]
)
def test_drag_leads_to_terminal_velocity(integrator):
    """u + g/c, whatever the integrator; the time it hears is the end of the step."""
    cloth = weft.sheet(5, 5)
    drag = Drag(cloth.mass, 8.0, [0.3, 0.0, -0.2])
    scene = weft.Scene(cloth, energies=[drag], integrator=integrator, step=DT)
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(150):
        state, memory, report = stepper.step(model, state, memory, DT)
        assert report.outcome.ok
    np.testing.assert_allclose(state.v, drag.u + [[0, -9.81 / 8.0, 0]] * 25, atol=1e-6)
    assert "drag" in report.terms
    assert min(drag.times) == pytest.approx(DT) and max(drag.times) == pytest.approx(150 * DT)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "quasi_static"])
def test_a_limit_of_strain_holds(integrator):
    """In every step, where the same cloth without it strains by more."""

    def largest(energies):
        fabric = {"preset": "cotton", "stretch": "6 N/m", "shear": "3 N/m"}
        cloth = weft.sheet(7, 7, fabric=fabric)
        pins = [weft.Pin(cloth.corners("top"))]
        kwargs = {"integrator": integrator, "energies": energies(cloth), "step": DT}
        scene = weft.Scene(cloth, pins, **kwargs)
        ready = prepare(scene)
        model, stepper, state = ready.model, ready.stepper, ready.state
        memory, found = stepper.init(model, state), 0.0
        for _ in range(15 if integrator != "quasi_static" else 1):
            state, memory, report = stepper.step(model, state, memory, DT)
            assert report.outcome.ok
            found = max(found, StrainLimit(cloth.mesh, 0.1).strain(state.x)[0].max())
        return found

    free, limited = largest(lambda _: []), largest(lambda c: [StrainLimit(c.mesh, 0.1)])
    assert limited < 0.1 < 0.12 < free


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998"])
def test_one_linear_solve_refuses_a_limit(integrator):
    """It would go past it."""
    cloth = weft.sheet(4, 4)
    scene = weft.Scene(cloth, energies=[StrainLimit(cloth.mesh, 0.1)], integrator=integrator)
    ready = prepare(scene)
    stepper, model, state = ready.stepper, ready.model, ready.state
    with refused(SceneError, "energy strain limit", got="barrier", expected="backward_euler"):
        stepper.step(model, state, stepper.init(model, state), DT)
