"""What derivatives of runs take from energies: contact by its numbers, what is by differences."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, landing, noise, quotient
from weft import kernel
from weft.adjoint.adjoint import Adjoint
from weft.adjoint.recorded_run import RecordedRun
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_term import ContactTerm
from weft.contact.derivatives.contact_derivative import ContactDerivative
from weft.contact.memory import SLIP
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import vec3
from weft.solve.newton.psd import Psd


def touching_at(count, gap=0.003, crumpled=0.0):
    """Contact in a step of a sheet that slides, rubs and has rubbed before; its vertices then moved
    by chance, so that neighbors touch.
    """
    contact = weft.SelfContact(gap=gap, thickness=1e-4, friction=weft.contact.Friction(0.4, 0.3))
    scene = landing().with_(contact=contact)
    forward = RecordedRun(scene, count, 200.0)
    place = forward.start()
    for _ in range(count):
        place, parts = forward.step(place)
    taken = parts[-1]
    phi = forward.inner.potential(forward.model, taken.state, taken.memory, taken.dt)
    term = next(t for t in phi.terms_of_phi if isinstance(t, ContactTerm))
    noisy = crumpled * np.random.default_rng(1).normal(size=taken.x.shape)
    x = kernel.points(np.ascontiguousarray(taken.x + noisy))
    assert np.abs(taken.memory[SLIP]).max() > 0
    return forward.model.contact, ContactDerivative(term.frozen, phi.step, x), phi.step, x, term


def other(contact, name, factor):
    """The same contact with one of its constants times a factor."""
    made = dataclasses.replace(contact)
    sides, settings = contact.mesh.sides, contact.settings
    if name in ("thickness", "static", "kinetic"):
        sides = dataclasses.replace(sides, **{name: factor * getattr(sides, name)})
        mesh = CollisionMesh(contact.mesh.faces, contact.mesh.rest, sides, contact.mesh.gap)
        made = dataclasses.replace(made, mesh=mesh)
    elif name != "stiffness":
        settings = dataclasses.replace(settings, **{name: factor * getattr(settings, name)})
        made = dataclasses.replace(made, settings=settings)
    stiffness = contact.stiffness * (factor if name == "stiffness" else 1.0)
    made.__dict__.update(stiffness=stiffness, stiffness_of=lambda gap: stiffness)
    return made


@pytest.fixture(scope="module", params=["coarse", "fine"])
def touching(request):
    if request.param == "coarse":
        return touching_at(3)
    found = touching_at(3, gap=0.03, crumpled=0.012)
    own = found[4].frozen.contacts_at(found[3])[1].parameters["gap"] < 0.03
    assert 1 < own.sum() < len(own) - 3  # pairs of both kinds
    return found


@pytest.mark.parametrize("name", ["stiffness", "gap", "thickness", "static", "kinetic", "stick"])
def test_contact_by_its_numbers(touching, name):
    """Forces, and the slip that is kept, against contacts with other numbers."""
    contact, at_end, step, x, term = touching
    values = contact.constants[name]

    def of(factor):
        scaled, g = ContactTerm(other(contact, name, factor)), kernel.zeros(x.shape[0], vec3)
        scaled.freeze(step)
        scaled.add_gradient(x, g)
        return np.array(kernel.numpy(g)), np.array(scaled.remember(x)[SLIP])

    h = 2e-4
    at = {k: of(1 + k * h) for k in (-2, -1, 1, 2)}
    expected = [(8 * (at[1][i] - at[-1][i]) - at[2][i] + at[-2][i]) / (12 * h) for i in (0, 1)]
    forces, kept = at_end.along_constants({name: values})
    for got, wanted in zip((forces, kept[SLIP]), expected):
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(got, wanted, atol=1e-7 * max(scale, 1e-4))
    slides = name == "static" and contact.gap > 0.01  # where neighbors touch, all that touches does
    assert slides or np.abs(forces).max() > 0
    rng, back = np.random.default_rng(0), ContactDerivative(term.frozen, step, x)
    by, into = [rng.normal(size=a.shape) for a in (forces, kept[SLIP])], StepCotangents.zeros(step)
    back.pull_back_memory({SLIP: by[1]}, into)
    back.pull(by[0], into)
    expected = float((by[0] * forces).sum() + (by[1] * kept[SLIP]).sum())
    assert back.pull_back_constants({name: values}) == pytest.approx(expected, rel=1e-7, abs=1e-12)


class Springs:
    """An energy of NumPy: 1/2 k |x_0 - x_9|^2."""

    name, stencil = "springs", np.array([[0, 9]], np.int32)
    signs = np.array([-1.0, 1.0])

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def value(self, x):
        return 0.5 * self.stiffness * ((x[9] - x[0]) ** 2).sum()[None]

    def gradient(self, x):
        return self.stiffness * self.signs[None, :, None] * (x[9] - x[0])

    def hessian(self, x, psd=Psd.EXACT):
        outer = np.einsum("a,b,ij->abij", self.signs, self.signs, np.eye(3))
        return self.stiffness * outer[None]


class Known(Springs):
    """One that says how its forces change."""

    structure = ()

    @property
    def constants(self):
        return {"stiffness": np.array([self.stiffness])}

    def mixed_derivatives(self, x, step=None):
        return {"stiffness": self.signs[None, :, None] * (x[9] - x[0])}


@pytest.mark.filterwarnings("ignore:energy 'springs' has no kernels")
@pytest.mark.parametrize("kind", [Springs, Known])
def test_an_energy_of_numpy(kind):
    """Differentiated either way; what is by differences is named."""
    scene = hung(energies=[kind(2.0)])
    parameter = weft.Parameter("k", 2.0, lambda s, k: s.with_(energies=[kind(k)]))
    found = Adjoint(scene, noise(16), [parameter, "fabric.shear"], frames=2, fps=100)()
    expected = {"k": ["springs"]} if kind is Springs else {}
    assert found.report.differences == expected
    assert ("k: differences of the forces of springs" in str(found.report)) is bool(expected)
    plain = weft.Parameter("k", 2.0, parameter.apply)
    moved = Adjoint(scene, noise(16), [plain], frames=2, fps=100)
    slope = quotient(lambda s: moved.with_values({"k": 2.0 + s}).value(), 1e-3)
    assert float(found.gradient["k"]) == pytest.approx(slope, rel=1e-6)


def test_no_number_of_a_scene_is_by_differences():
    """Of fabrics, forces, contact and paths."""
    wind = weft.Wind((1.0, 0.2, 0.5))
    for scene in (hung(wind=wind), landing()):
        adjoint = Adjoint(scene, noise(16), frames=1, fps=200)
        every = [n for n in adjoint.names if n not in ("rest", "positions", "velocities")]
        every = [n for n in every if not n.endswith(".targets")]
        found = Adjoint(scene, noise(16), every, frames=1, fps=200)()
        assert found.report.differences == {}
        assert {n for n in every if np.abs(found.gradient[n]).max() > 0} >= {"fabric.density"}
