"""Added mass: Lighthill's force in small and large motion, its momentum and power, and limits."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import InStep, advance, assert_derivative, dense, scatter, still
from tests.reference.air import air_flow, frozen_added_mass, frozen_air
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.discretization.mesh import grid
from weft.energies.air.added_mass import AddedMass
from weft.energies.air.wind import Wind
from weft.scene.identity import identity

pytestmark = pytest.mark.quick

SPAN, DENSITY = 0.2, 1.3
MU = np.pi / 4 * DENSITY * SPAN
U = 3.0
WIND = Wind((U, 0.0, 0.0), DENSITY, span=SPAN)


def strip(cells, pattern="alternating"):
    """(n,) from 0 to 1 along x, and a mesh one long and a fifth wide, level."""
    mesh = grid(cells + 1, max(3, cells // 5 + 1), 1.0, SPAN, pattern)
    return np.array(mesh.vertices[:, 0]) - mesh.vertices[:, 0].min(), mesh


def order(error):
    """Least order of errors at meshes each twice as fine."""
    return np.log2(np.array(error[:-1]) / np.array(error[1:])).min()


def test_production_face_equals_numpys(device, rng):
    """Energy, forces and matrix of a step, on the device and in NumPy."""
    mesh = grid(6, 5, 1.0, 0.8, "random", seed=4)
    x = np.array(mesh.vertices) + 0.05 * rng.normal(size=mesh.vertices.shape)
    at = still(x, dt=0.02, span=0.02, v=rng.normal(size=x.shape))
    at = dataclasses.replace(at, scale=4e-4, predicted=x + 0.01, origin=x - 0.003)
    energy = AddedMass(mesh, dataclasses.replace(WIND, velocity=(3.0, 1.0, -0.5)))
    frozen, made = frozen_added_mass(energy, at), InStep(energy, len(x), at)
    y = x + 0.02 * rng.normal(size=x.shape)
    made.assert_equals(frozen, y)
    assert np.abs(scatter(frozen, y)).max() > 1e-3
    assert np.linalg.eigvalsh(made.matrix(y)).min() > -1e-12
    d = rng.normal(size=x.shape)
    assert_derivative(lambda z: frozen.value(z).sum(), (scatter(frozen, y) * d).sum(), y, d, 1e-8)
    exact = (dense(frozen, y) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda z: scatter(frozen, z), exact, y, d, 1e-8)
    assert made.bound.lag(kernel.points(y))  # taken anew, with the velocity that leads there
    again = frozen_added_mass(energy, at, (y, at.velocity(y)))
    np.testing.assert_allclose(made.gradient(y), scatter(again, y), atol=1e-12)
    assert np.abs(scatter(again, y) - scatter(frozen, y)).max() > 1e-4


A, B, C, M = -1e-6, 2e-6, 3e-6, MU * SPAN


def small(cells, pattern="alternating"):
    """Lengths, velocity, and minus the force on y = A (s^3 - 3 s^2), straight at its free end as
    strips are, which moves with B s^2 and is accelerated by C s.
    """
    s, mesh = strip(cells, pattern)
    x, v = np.array(mesh.vertices), np.zeros((len(s), 3))
    x[:, 1], v[:, 1] = A * (s**3 - 3 * s**2), B * s**2
    inertia, load = AddedMass(mesh, WIND).load(x, v, 0.0)
    return s, v, (inertia @ (C * s[:, None] * [0, 1, 0])[..., None])[..., 0] + load


@pytest.mark.parametrize("pattern", ["regular", "alternating"])
@pytest.mark.parametrize("power", [1, 2])
def test_small_motion_is_lighthills(pattern, power):
    """The work of -m (d/dt + U d/ds)^2 y on displacements s^power, to second order in the size of
    faces: m (C s + 4 U B s + 6 U^2 A (s - 1)).
    """
    error = []
    for cells in (10, 20, 40):
        s, _, g = small(cells, pattern)
        exact = (C + 4 * U * B + 6 * U**2 * A) / (power + 2) - 6 * U**2 * A / (power + 1)
        error.append(abs((g[:, 1] * s**power).sum() / (M * exact) - 1))
    assert order(error) > 1.8 and error[-1] < 3e-3, error


def test_power_leaves_through_the_trailing_edge():
    """Of small motion: force.v = -d/dt int m/2 (y_t^2 - U^2 y_s^2) - m U y_t (y_t + U y_s) at the
    end (Lighthill 1960): what does not come back goes into the wake.
    """
    _, v, g = small(60)
    stored = M * (B * C / 4 - U**2 * 2 * A * B * (3 / 4 - 2))  # int (y_t y_tt - U^2 y_s y_st)
    wake = M * U * B * (B - U * 3 * A)
    assert -(g * v).sum() == pytest.approx(-stored - wake, rel=5e-3)
    assert wake > 0.3 * abs(stored)  # the trailing edge counts


def test_large_motion_is_normal_and_lighthills():
    """An arc of a circle that turns about its end, in wind: the work on displacements is that of

        f = -mu n (n.a + 2 n.dv/dc + n.d2x/dc2 - w_n^2/2 n.d2x/dt2),

    to second order; the part along the sheet vanishes with the faces.
    """
    R, spin, faster = 0.7, 1.9, 5.0  # [m], [1/s], [1/s^2]
    error, along = [], []
    for cells in (20, 40, 80):
        s, mesh = strip(cells)
        z = np.array(mesh.vertices[:, 2])
        _, tangent, n, x, v, acceleration = _arc(s, z, R, spin, faster)
        M, load = AddedMass(mesh, WIND).load(x, v, 0.0)
        g = (M @ acceleration[..., None])[..., 0] + load
        push = (s**2 * (1 - s))[:, None]
        work = (g * push * n).sum(), (g * push * tangent).sum()
        t = (np.arange(4000) + 0.5) / 4000
        force, _, n, _, _, _ = _arc(t, 0 * t, R, spin, faster)
        exact = -SPAN * (t**2 * (1 - t) * (force * n).sum(1)).mean()
        error.append(abs(work[0] - exact) / abs(exact))
        along.append(abs(work[1] / exact))
    assert order(error) > 1.7 and error[-1] < 3e-3, error
    assert order(along) > 1.7 and along[-1] < 3e-3, along


def _arc(s, z, R, spin, faster):
    """Force an area by the formula, tangent, normal, place, velocity and acceleration at lengths s
    of an arc that begins in the origin along the wind and turns about it.
    """
    o, a = np.zeros_like(s), s / R
    x = np.stack([R * np.sin(a), R * (1 - np.cos(a)), z], 1)
    tangent, n = np.stack([np.cos(a), np.sin(a), o], 1), np.stack([-np.sin(a), np.cos(a), o], 1)
    lever = x * [1, 1, 0]
    turned = np.stack([-lever[:, 1], lever[:, 0], o], 1)
    v, acceleration = spin * turned, faster * turned - spin**2 * lever
    w = v - [U, 0, 0]
    across, c = (w * n).sum(1), -(w * tangent).sum(1)
    curved = 1 / R  # n . d2x/ds2
    size = (n * acceleration).sum(1) + 2 * c * spin + (c**2 - across**2 / 2) * curved
    return -MU * size[:, None] * n, tangent, n, x, v, acceleration


def test_momentum_goes_into_the_wake(rng):
    """Of a rigid strip that moves and turns: the force is minus the change of the momentum mu w_n n
    of the air, and of what leaves at the edges.
    """
    s, mesh = strip(20)
    rest = np.array(mesh.vertices)
    rest[:, 1] = 0.1 * np.sin(4 * s)
    spin, shift, pull = np.array([0.3, -0.4, 1.1]), np.array([0.2, 0.5, -0.1]), np.array([1, 2, 3])
    energy = AddedMass(mesh, dataclasses.replace(WIND, velocity=(U, 0.4, 0.3)))

    def moving(t):
        from scipy.spatial.transform import Rotation

        x = rest @ Rotation.from_rotvec(t * spin).as_matrix().T
        v = np.cross(spin, x) + shift + t * pull
        return x + t * shift + t**2 / 2 * pull, v

    def momentum(t):
        x, v = moving(t)
        flow = air_flow(energy, energy.samples, x, v, t)
        mass = MU * energy.samples.weight * flow.area
        return (mass[:, None] * flow.across[:, None] * flow.normal).sum(0)

    x, v = moving(0.0)
    acceleration = np.cross(spin, np.cross(spin, x)) + pull
    M, load = energy.load(x, v, 0.0)
    total = ((M @ acceleration[..., None])[..., 0] + load).sum(0)
    changed = (momentum(1e-5) - momentum(-1e-5)) / 2e-5
    edges, outward = energy.rim
    out = air_flow(energy, edges, x, v, 0.0)
    ways = (out.way * outward).sum(1)
    leaving = MU * (np.maximum(ways, 0.0) * out.area)[:, None] * out.stream
    np.testing.assert_allclose(total, changed + leaving.sum(0), atol=2e-4 * np.abs(total).max())
    assert (ways > 0).any() and (ways < 0).any() and np.abs(leaving.sum(0)).max() > 1e-3


@pytest.mark.parametrize("degrees", [2, 10, 25])
def test_a_slender_plate_has_its_lift_once(degrees):
    """At an incidence, in crossflow: pi/4 rho H^2 U^2 sin a cos a across the wind, Jones's lift of
    slender wings, and what of it is drag; and rho C H L (U sin a)^2/2 along the normal.
    """
    from weft.discretization.linear_triangle import linear_triangle
    from weft.energies.air.lift_and_drag import AirForce

    s, mesh = strip(20)
    a = np.radians(degrees)
    x = np.stack([s * np.cos(a), s * np.sin(a), np.array(mesh.vertices[:, 2])], 1)
    wind = dataclasses.replace(WIND, drag=1.1, lift=1.1, crossflow=True)
    n = np.array([-np.sin(a), np.cos(a), 0.0])
    reactive = -AddedMass(mesh, wind).load(x, 0 * x, 0.0)[1].sum(0)
    assert reactive @ n == pytest.approx(-MU * SPAN * U**2 * np.sin(a) * np.cos(a), rel=1e-9)
    at = still(x, dt=0.01, span=0.01)
    resistive = -scatter(frozen_air(AirForce(linear_triangle(mesh), wind), at), x).sum(0)
    size = 0.5 * DENSITY * 1.1 * SPAN * (U * np.sin(a)) ** 2
    np.testing.assert_allclose(resistive, -size * n, atol=1e-12)


INTEGRATORS = ("backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_sheet_starts_to_fall_with_the_air_before_it(integrator):
    """In still air, level: g rho_s/(rho_s + mu), with every integrator."""
    cloth = weft.sheet(5, 5, 0.5, 0.5)
    wind = Wind(density=1.2, drag=1e-9, lift=0.0, span=0.5)
    scene = weft.Scene(cloth, wind=wind, integrator=integrator, step=1e-3, damping=0.0)
    *_, (state, _, report) = advance(scene, 3)
    density = cloth.fabric.density
    part = density / (density + np.pi / 4 * 1.2 * 0.5)
    np.testing.assert_allclose(state.v[:, 1], -9.81 * part * 3e-3, rtol=1e-3)
    assert "added mass" in report.terms


@pytest.mark.filterwarnings("ignore:fabric.*all fabrics")
def test_order_stays_two():
    """What is lagged is extrapolated: half the step, a quarter of the error, with bdf2."""
    from weft.integrators.base import StepSettings

    fabric = {"preset": "freecloth", "stretch": "20 N/m", "shear": "5 N/m", "bending": "1e-3 N*m"}

    def swing(steps):
        cloth = weft.sheet(4, 4, 0.4, 0.4, fabric=fabric)
        wind = Wind((2.0, 0.5, 1.0), span=0.2)
        # At 1e-9 m/s a step of 0.6 ms ends within round-off of its minimum, and may stall there.
        settings = StepSettings(tolerance=1e-7, linear="splu")
        how = {"integrator": "bdf2", "settings": settings, "damping": 0.0, "wind": wind}
        scene = weft.Scene(cloth, [weft.Pin(cloth.border("top"))], **how)
        *_, (state, _, _) = advance(scene, steps, 0.2 / steps)
        return state.x

    a, b, c = (swing(80 * 2**i) for i in range(3))
    got = np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c))
    assert got == pytest.approx(2.0, abs=0.15)


def ribbon(**changes):
    cloth = weft.sheet(9, 4, 0.4, 0.1, fabric="silk")
    given = {"wind": Wind((4.0, 0.3, 0.1), span=0.1), "step": 2e-3, "integrator": "bdf2"}
    return weft.Scene(cloth, [weft.Pin(cloth.border("left"))], **{**given, **changes})


def test_resumed_runs_go_on_bit_by_bit(tmp_path):
    scene = ribbon(wind=Wind((4.0, 0.3, 0.1), span=0.1, crossflow=True))
    how = {"fps": 100, "progress": False}
    whole = weft.simulate(scene, frames=6, out=tmp_path / "whole", **how)
    weft.simulate(scene, frames=3, out=tmp_path / "parts", **how)
    parts = weft.simulate(scene, frames=6, out=tmp_path / "parts", resume=True, **how)
    np.testing.assert_array_equal(whole.positions(6), parts.positions(6))
    for change in ({"span": None}, {"crossflow": False}):
        wind = dataclasses.replace(scene.wind, **change)
        other = weft.simulate(ribbon(wind=wind), frames=6, out=tmp_path / str(change), **how)
        assert np.abs(whole.positions(6) - other.positions(6)).max() > 1e-3, change


def test_runs_of_before_there_was_a_span_go_on():
    """A scene without one is the scene that it was; with one it is another."""
    before = identity(ribbon(wind=Wind((4.0, 0.3, 0.1))))["wind"]
    assert "span" not in before and before["drag"] == 1.17
    assert identity(ribbon())["wind"]["span"] == 0.1
    assert identity(ribbon(wind=Wind(crossflow=True)))["wind"]["crossflow"] is True


def test_points_besides_the_cloths():
    """Those of a rigid body come after the cloth's, and carry nothing."""
    from weft.bodies.rigid.settings import Rigid
    from weft.bodies.shapes.primitives import box

    body = dataclasses.replace(box((0.1, 0.1, 0.1)).move((0, -1, 0)), rigid=Rigid(mass=0.1))
    scene = ribbon(bodies=[body])
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
    memory = stepper.init(model, state)
    state, memory, report = stepper.step(model, state, memory, scene.step)
    assert report.outcome.ok and len(state.x) == scene.cloth.n_vertices + 4
    term = next(t for t in model.assembly.terms if t.name == "added mass")
    M = kernel.numpy(term.air.M)
    assert len(M) == len(state.x) and not M[-4:].any() and M[:-4].any()


def test_a_wind_that_rises():
    """Keyframes of the density reach the added mass."""
    keyed = {"wind.density": weft.Keys([(0.0, 1.2), (1e-3, 2.4)])}
    scene = ribbon(keyed=keyed)
    model = scene.model()
    model.assembly.take(1.0)
    term = next(t for t in model.assembly.terms if t.name == "added mass")
    assert term.energy.wind.density == 2.4


def test_a_wind_that_changes_carries_its_gusts():
    """As far as its speed has, over time: the same air for added mass as for drag."""
    keyed = {"wind.velocity.0": weft.Keys([(0.0, 4.0), (1.0, 8.0)])}
    gusty = Wind((4.0, 0.3, 0.1), span=0.1, gusts=weft.Gusts(0.2, 0.5))
    scene = ribbon(wind=gusty, keyed=keyed)
    model = scene.model()
    model.assembly.take(1.0)
    terms = {t.name: t.energy for t in model.assembly.terms if hasattr(t, "energy")}
    assert terms["added mass"].carried == terms["wind"].carried
    assert terms["added mass"].carried[0] == pytest.approx(6.0)
    x = np.array(scene.cloth.vertices)
    energy, still_one = terms["added mass"], dataclasses.replace(terms["added mass"], carried=None)
    loads = [e.load(x, 0 * x, 1.0)[1] for e in (energy, still_one)]
    assert np.abs(loads[0] - loads[1]).max() > 1e-6


def test_long_steps_are_asked_about():
    """Where the air is heavy and goes over many faces."""
    from weft.run.plausibility import scene_warnings

    def asked(**changes):
        scene = ribbon(**changes)
        return [q for q in scene_warnings(scene, scene.stepper()) if "wind.span" in q]

    (text,) = asked(step=2e-2)
    share = np.pi / 4 * 1.2 * 0.1 / (np.pi / 4 * 1.2 * 0.1 + ribbon().cloth.fabric.density)
    cell = np.sqrt(0.05 * 0.1 / 3)
    speed = np.linalg.norm([4.0, 0.3, 0.1])
    assert f"over {2e-2 * speed / cell:.2g} faces, and {share:.2g} of" in text
    most = 0.5 / share * cell / speed
    assert f"a step of {most:.2g} s or less" in text
    assert not asked(step=0.99 * most) and asked(step=1.01 * most)
    assert not asked(step=0.1, wind=Wind((4.0, 0.3, 0.1)))


def test_what_is_refused():
    with refused(SceneError, "wind.span"):
        Wind(span=0.0)
    with refused(SceneError, "scene.wind.span"):
        weft.Scene(weft.spline_sheet(6, 6), wind=Wind(span=0.1)).model()
    with refused(SceneError, "wind.span"):
        still_one = ribbon(integrator="quasi_static")
        still_one.stepper().solve(still_one.model(), still_one.state().x)
