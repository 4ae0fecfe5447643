"""Wind: the force law, its potential in a step, gusts with their spectrum, fields, and limits."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import InStep, scatter, still
from tests.engine.adjoint.cases import quotient
from tests.reference.air import along_spectrum, blown, frozen_air
from tests.refusals import refused
from tests.stepping import steps as advance
from weft import kernel
from weft.base.errors import SceneError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.air.gusts import Gusts
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.step_cotangents import StepCotangents
from weft.laws import Psd

MESH = grid(6, 5, 1.0, 0.8, "random", seed=4)
RNG = np.random.default_rng(2)
X = np.array(MESH.vertices) + 0.05 * RNG.normal(size=MESH.vertices.shape)
V = RNG.normal(size=X.shape)
WIND = Wind((3.0, 1.0, -0.5), 1.3, 1.1, 0.9, Gusts(0.3, 0.5, seed=3))


def spline():
    return weft.spline_sheet(7, 6, 1.0, 0.8)


@pytest.mark.parametrize("kind", ["triangles", "splines"])
@pytest.mark.parametrize("span", [0.02, np.inf])
@pytest.mark.parametrize("crossflow", [False, True])
def test_production_face_equals_numpys(kind, span, crossflow, device):
    """Energy, forces and matrix of a step, on the device and in NumPy."""
    cloth = spline()
    samples = linear_triangle(MESH) if kind == "triangles" else cloth.samples()
    x = X
    if kind == "splines":
        x = np.array(cloth.points) + 0.05 * RNG.normal(size=cloth.points.shape)
    at = still(x, dt=0.02, span=span, v=RNG.normal(size=x.shape))
    at = dataclasses.replace(at, origin=x - 0.003)
    energy = AirForce(samples, dataclasses.replace(WIND, crossflow=crossflow))
    made, y = InStep(energy, len(x), at), x + 0.02 * RNG.normal(size=x.shape)
    made.assert_equals(frozen_air(energy, at), y)
    assert np.linalg.eigvalsh(made.matrix(y)).min() > -1e-12


@pytest.mark.parametrize("span", [0.02, 2.0, np.inf], ids=["short", "long", "equilibrium"])
def test_derivatives_by_positions_in_gusts(span):
    """Gusts change from place to place in every step, however long, and act in no equilibrium."""
    rng, energy = np.random.default_rng(0), AirForce(linear_triangle(MESH), WIND)
    end, by, way = X + 0.02 * rng.normal(size=X.shape), *rng.normal(size=(2, *X.shape))

    def step(c):
        return dataclasses.replace(still(X + c * way, dt=0.02, span=span, v=V), origin=X - 0.003)

    into = StepCotangents.zeros(step(0.0))
    InStep(energy, len(X), step(0.0)).bound.pull_back(step(0.0), kernel.points(end), by, into)
    slope = quotient(lambda c: (InStep(energy, len(X), step(c)).gradient(end) * by).sum(), 1e-5)
    assert (into.state_x * way).sum() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("degrees", [0, 10, 35, 90])
def test_lift_and_drag_of_a_plate(degrees):
    """From their definition: along the wind and across it, at an incidence; turned over alike."""
    speed, wind = 4.0, Wind((4.0, 0.0, 0.0), 1.2, 1.1, 0.8)
    beside = dataclasses.replace(wind, crossflow=True)
    mesh, a = grid(5, 5, 0.5, 0.4), np.radians(degrees)
    flat = np.array(mesh.vertices)
    c, s = np.cos(a), np.sin(a)
    turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])  # the edge in front goes up
    for faces in (mesh, mesh.with_vertices(flat * [1, 1, -1])):
        x = np.array(faces.vertices) @ turn.T
        at = still(x, dt=0.01, span=0.01)
        force = -scatter(frozen_air(AirForce(linear_triangle(faces), wind), at), x).sum(0)
        q = 0.5 * 1.2 * speed**2 * 0.2
        drag, lift = q * (1.1 - 0.8 * c * c), q * 0.8 * s * c
        np.testing.assert_allclose(force, [drag, lift, 0], atol=1e-12)
        force = -scatter(frozen_air(AirForce(linear_triangle(faces), beside), at), x).sum(0)
        across = q * 0.8 * s * s  # along the normal, of second order in small incidences
        np.testing.assert_allclose(force, [q * 0.3 + across * s, across * c, 0], atol=1e-12)


def test_waves():
    """No divergence, the same variance in all directions, the same for the same seed."""
    gusts = Gusts(0.25, 0.7, seed=5)
    waves = gusts.waves(4.0)
    assert np.abs((waves.wave * waves.amplitude).sum(1)).max() < 1e-12
    variance = 0.5 * waves.amplitude.T @ waves.amplitude
    np.testing.assert_allclose(variance, np.eye(3), atol=2e-3)  # (0.25 * 4)^2
    assert np.array_equal(waves.phase, gusts.waves(4.0).phase)
    assert not np.allclose(waves.phase, Gusts(0.25, 0.7, seed=6).waves(4.0).phase)


def test_spectrum_at_a_place():
    """Frequencies and powers of the waves at a place, over many seeds, against von Karman's."""
    U, L, edges, seeds = 5.0, 0.5, [0.1, 0.3, 1, 3, 9, 27], 400
    power = np.zeros(len(edges) - 1)
    for seed in range(seeds):
        waves = Gusts(1 / U, L, seed).waves(U)
        f = np.abs(waves.wave[:, 0]) * U / (2 * np.pi)
        power += np.histogram(f, edges, weights=waves.amplitude[:, 0] ** 2 / 2)[0] / seeds
    f = np.geomspace(0.1, 27, 20001)
    S = along_spectrum(f, 1.0, L, U)
    for got, low, high in zip(power, edges[:-1], edges[1:]):
        band = (f >= low) & (f < high)
        assert got == pytest.approx(np.trapezoid(S[band], f[band]), rel=0.12), (low, high)


def test_the_device_blows_as_numpy_does(device):
    """Gusts at places and a time, carried with the wind."""
    x, waves = RNG.normal(size=(40, 3)), WIND.gusts.waves(WIND.speed)
    U = np.array(WIND.velocity)
    np.testing.assert_allclose(WIND.at(x, 3.7), U + blown(waves, x, 3.7 * U), atol=1e-11)
    np.testing.assert_allclose(WIND.at(x + 0.5 * U, 0.5), WIND.at(x, 0.0), atol=1e-11)


def test_a_function_of_places_and_time():
    made = Wind((1.0, 0, 0), field=lambda x, t: t * x**2)
    np.testing.assert_allclose(made.at(X, 0.3), [1, 0, 0] + 0.3 * X**2)


BAD = {
    ("wind.lift", 1.1): lambda: Wind(drag=1.0, lift=1.1),
    "wind.gusts": lambda: Wind(gusts=Gusts(0.1)),
    ("wind.field", "3"): lambda: Wind(field=3),
    ("wind.field", "finite"): lambda: Wind(field=lambda x, t: x * np.nan).at(X, 0.0),
    ("wind.field", "30,", "30, 3"): lambda: Wind(field=lambda x, t: x[:, 0]).at(X, 0.0),
    "scene.wind": lambda: weft.Scene(weft.sheet(3, 3), wind=3.0),
}


@pytest.mark.parametrize("said", BAD)
def test_errors(said):
    with refused(SceneError, said):
        BAD[said]()


INTEGRATORS = ("backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_terminal_velocity_with_every_integrator(integrator):
    """Of a horizontal sheet that falls through still air: sqrt(2 rho_s g/(rho C_D))."""
    cloth = weft.sheet(6, 6)
    wind = Wind(density=1.2, drag=1.1, lift=1.0)
    # One linear solve a step: what multigrid leaves of it at 1e-2 drifts, 0.08 m/s to the side.
    kind_of = {
        "bdf2_semi_implicit": weft.SemiImplicitSettings,
        "baraff_witkin_1998": weft.Settings1998,
    }
    settings = kind_of.get(integrator, weft.StepSettings)(linear="splu")
    scene = weft.Scene(
        cloth, wind=wind, integrator=integrator, step=0.02, damping=0.0, settings=settings
    )
    *_, (state, _, report) = advance(scene, 60)
    speed = np.sqrt(2 * cloth.fabric.density * 9.81 / (1.2 * 1.1))
    mean = (cloth.mass[:, None] * state.v).sum(0) / cloth.mass.sum()
    np.testing.assert_allclose(mean, [0, -speed, 0], atol=2e-3 * speed)
    assert "wind" in report.terms


SOFT = {"preset": "freecloth", "stretch": "20 N/m", "shear": "5 N/m", "bending": "1e-3 N*m"}


@pytest.mark.filterwarnings("ignore:fabric.*all fabrics")
@pytest.mark.parametrize("integrator", ["bdf2", "bdf2_semi_implicit"])
def test_order_stays_two_in_wind(integrator):
    """Lagged speeds, normals and areas are extrapolated: half the step, a quarter of the error."""
    from weft.integrators.base import StepSettings
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitSettings

    def swing(steps):
        cloth = weft.sheet(4, 4, 0.4, 0.4, fabric=SOFT)
        wind = Wind((2.0, 0.5, 1.0), gusts=Gusts(0.2, 0.5))
        settings = SemiImplicitSettings(Psd.EXACT, linear="splu")
        if integrator == "bdf2":
            settings = StepSettings(tolerance=1e-9, linear="splu")
        pins = [weft.Pin(cloth.border("top"))]
        how = {"integrator": integrator, "settings": settings, "damping": 0.0}
        scene = weft.Scene(cloth, pins, wind=wind, **how)
        *_, (state, _, _) = advance(scene, steps, 0.2 / steps)
        return state.x

    a, b, c = (swing(40 * 2**i) for i in range(3))
    order = np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c))
    assert order == pytest.approx(2.0, abs=0.15)
