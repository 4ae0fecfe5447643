"""Friction: against ipctk, its derivatives, and cloth that sticks to a slope or slides down it."""

import ipctk
import numpy as np
import pytest

import weft
from tests.checks import assert_derivative
from tests.engine.contact.test_barrier import GAP, SCENES, contacts
from tests.reference.contact_sets import contact_set, uniform_friction
from tests.refusals import refused
from tests.stepping import steps
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.contact import intersections, plate
from weft.contact.distance.distance import closest_of
from weft.contact.friction.friction import FrictionSet, normal_forces
from weft.discretization.mesh import TriangleMesh, grid
from weft.fabric.fabric import Fabric
from weft.kernel import vec3
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

MU, SMOOTH = 0.3, 2e-3


def gradient_of(friction, x):
    local = friction.gradient(kernel.points(x))
    g = np.zeros_like(x)
    np.add.at(g, friction.stencil.reshape(-1), np.array(kernel.numpy(local)).reshape(-1, 3))
    return g


@pytest.mark.parametrize("scene", ["crumpled", "close"])
def test_energy_and_force_are_ipctk_s(scene, rng):
    """Frozen at x, displaced by d: ipctk takes d as the velocity, and leaves out nearly parallel
    edges, which we do not.
    """
    x, X, faces = SCENES[scene]
    mesh = ipctk.CollisionMesh(X, ipctk.edges(faces), faces)
    collisions, tangential = ipctk.NormalCollisions(), ipctk.TangentialCollisions()
    collisions.build(mesh, x, GAP)
    tangential.build(mesh, x, collisions, ipctk.BarrierPotential(GAP, 3.0), MU)
    potential = ipctk.FrictionPotential(SMOOTH)
    every = contacts(x, X, faces)
    apart = every.parameters["parallel"] == 0
    friction = FrictionSet.of(
        every.among(apart),
        x,
        x,
        uniform_friction(MU),
        SMOOTH,
    )
    for size in (1e-4, 1e-2):
        d = size * rng.normal(size=x.shape)
        expected = potential.gradient(tangential, mesh, d).reshape(-1, 3)
        got = gradient_of(friction, x + d)
        np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(expected).max())
        value = kernel.total(friction.energies(kernel.array(x + d, vec3)))
        assert value == pytest.approx(potential(tangential, mesh, d), rel=1e-9)


@pytest.mark.parametrize("held", [False, True], ids=["", "held"])
@pytest.mark.parametrize("KINETIC", [MU, 0.4 * MU], ids=["one coefficient", "falling"])
def test_derivatives(rng, KINETIC, held):
    x, X, faces = SCENES["crumpled"]
    slip = rng.uniform(-0.5, 0.5, x.shape) if held else None
    table = uniform_friction(MU, KINETIC)
    friction = FrictionSet.of(contacts(x, X, faces), x, x, table, SMOOTH, slip)
    y, d = x + 1e-3 * rng.normal(size=x.shape), 1e-3 * rng.normal(size=x.shape)

    def value(p):
        return kernel.total(friction.energies(kernel.array(p, vec3)))

    assert_derivative(value, (gradient_of(friction, y) * d).sum(), y, d, 1e-6)
    f = np.array(kernel.numpy(friction.factors(kernel.points(y))))
    along = np.einsum("mrai,mai->mr", f, d[friction.stencil])
    Hd = np.zeros_like(x)
    local = np.einsum("mr,mrai->mai", along, f)
    np.add.at(Hd, friction.stencil.reshape(-1), local.reshape(-1, 3))
    h = 1e-4
    difference = (gradient_of(friction, y + h * d) - gradient_of(friction, y - h * d)) / (2 * h)
    if KINETIC == MU:
        np.testing.assert_allclose(Hd, difference, atol=1e-4 * np.abs(Hd).max())
    else:
        assert (Hd * d).sum() >= (difference * d).sum() - 1e-12  # less what falls


@pytest.mark.parametrize("KINETIC", [MU, 0.4 * MU], ids=["one coefficient", "falling"])
@pytest.mark.parametrize("size", [1e-4, 1e-3, 1e-2], ids=["sticks", "turns around", "slides"])
def test_bound_is_nowhere_below_the_energy(rng, KINETIC, size):
    """Newton's model, for each pair: below it, the line search refuses directions."""
    x, X, faces = SCENES["crumpled"]
    slip = rng.uniform(-0.5, 0.5, x.shape)
    friction = FrictionSet.of(
        contacts(x, X, faces), x, x, uniform_friction(MU, KINETIC), SMOOTH, slip
    )
    y, d = x + 1e-3 * rng.normal(size=x.shape), size * rng.normal(size=x.shape)

    def energies(p):
        return np.array(kernel.numpy(friction.energies(kernel.points(p))))

    local, at = d[friction.stencil], kernel.points(y)
    slope = (np.array(kernel.numpy(friction.gradient(at))) * local).sum((1, 2))
    f = np.array(kernel.numpy(friction.factors(at, bound=True)))
    curve = (np.einsum("mrai,mai->mr", f, local) ** 2).sum(1)
    before, after = energies(y), energies(y + d)
    assert (after <= before + slope + 0.5 * curve + 1e-9 * after.max()).all()


def test_slip_is_kept(rng):
    """One point on a face, by hand: a force without motion, the plane's part of what it moves,
    length 1 at most, nothing where nothing presses; and shared where both sides have a slip.
    """
    x = np.array([[0.2, 0.01, 0.2], [0, 0, 0], [0, 0, 1], [1, 0, 0], [5.0, 5, 5]])
    one = contact_set(np.array([[0, 1, 2, 3]]), np.zeros(1, np.int32), 3.0, 0.05)
    q = np.zeros((5, 3))
    q[0] = [0.3, 0.7, -0.2]

    def of(slip):
        return FrictionSet.of(one, x, x, uniform_friction(MU), SMOOTH, slip)

    def after(friction, y, slip):
        return np.array(kernel.numpy(friction.update_slips(kernel.points(y), kernel.points(slip))))

    load = normal_forces(one, x)[3][0]
    on_body = of(q[:1])  # the face is of a body
    u = np.array([0.3, 0, -0.2])  # over e
    size = np.linalg.norm(u)
    force = MU * load * (2 * size - size**2) * u / size
    np.testing.assert_allclose(gradient_of(on_body, x)[0], force, atol=1e-12 * load)
    moved = x + SMOOTH * np.array([[0.1, 2.0, 0.4], *np.zeros((4, 3))])
    np.testing.assert_allclose(after(on_body, moved, q[:1]), [[0.4, 0.7, 0.2]], atol=1e-12)
    far = after(on_body, x + [[9.0, 0, 0], *np.zeros((4, 3))], q[:1])
    assert np.linalg.norm(far) == pytest.approx(1.0) and far[0, 0] > 0.99
    shared = of(q)
    size = np.linalg.norm(u / 2)
    force = MU * load * (2 * size - size**2) * u / 2 / size
    np.testing.assert_allclose(gradient_of(shared, x)[0], force, atol=1e-12 * load)
    kept = after(shared, moved, q)
    np.testing.assert_allclose(kept[1:4], [[-0.1, 0, -0.4]] * 3, atol=1e-12)
    assert (kept[4] == 0).all()


def test_normal_forces_are_the_barrier_s():
    x, X, faces = SCENES["close"]
    set_ = contacts(x, X, faces)
    push, w, normal, force = normal_forces(set_, x)
    stencil = set_.stencil[push]
    assert (force > 0).all() and np.allclose(np.linalg.norm(normal, axis=1), 1)
    smooth = set_.parameters["parallel"] == 0
    g = set_.gradient(x)
    rebuilt = -force[:, None, None] * w[:, :, None] * normal[:, None]
    where = [tuple(s) for s in stencil.tolist()]
    for s, local in zip(set_.stencil[smooth], g[smooth]):
        if tuple(s) in where:
            np.testing.assert_allclose(rebuilt[where.index(tuple(s))], local, atol=1e-9)
            break
    assert len(closest_of(x, stencil, np.zeros(len(stencil)))[0]) == len(force)


FLAT = Fabric(0.2, 2000.0, 2000.0, 500.0, 1e-3, 1e-3, damping=0.0, name="stiff")


def slope(degrees, friction, seconds=0.4, dt=0.01):
    """Mean displacement and speed of a square on a pinned one, along the fall of the slope."""
    below, above = grid(13, 13, 0.6, 0.6), grid(6, 6, 0.2, 0.2)
    upper = np.array(above.vertices) @ np.array([[0.9, 0, 0.436], [0, 1, 0], [-0.436, 0, 0.9]])
    upper += [-0.1, 1.2e-3, 0.013]
    faces = np.concatenate([below.faces, above.faces + below.n_vertices])
    uv = np.concatenate([below.corner_uv, above.corner_uv + [2.0, 0]])
    cloth = Cloth(TriangleMesh(np.concatenate([below.vertices, upper]), faces, uv), FLAT)
    n, angle = below.n_vertices, np.radians(degrees)
    pull = (9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0)
    scene = Scene(
        cloth,
        [Pin(np.arange(n, dtype=np.int32))],
        gravity=pull,
        damping=0.0,
        contact=weft.SelfContact(2e-3, friction=friction, stick=2e-4),
        settings=weft.StepSettings(tolerance=1e-5),
    )
    speeds = []
    for state, _, _ in steps(scene, round(seconds / dt), dt):
        speeds.append(float(state.v[n:, 0].mean()))
    assert len(intersections(state.x, faces)) == 0
    return float((state.x[n:, 0] - upper[:, 0]).mean()), np.array(speeds)


def test_sticks_below_the_angle_of_friction():
    """tan 14 degrees = 0.249 < 0.3: after it has landed it does not move any more. (It crept at
    0.6 of the sticking speed, 0.2 mm in these two seconds.)
    """
    moved, speeds = slope(14.0, 0.3, seconds=2.2, dt=0.02)
    assert abs(moved) < 1e-3 and abs(0.02 * speeds[10:].sum()) < 1e-6
    assert abs(speeds[-50:]).max() < 1e-9


@pytest.mark.parametrize("integrator", ["bdf2", "bdf2_semi_implicit", "baraff_witkin_1998"])
def test_every_integrator_sticks(integrator):
    """A square of felt on a slope comes to rest, and shorter steps hold the same load."""
    cloth = weft.sheet(4, 4, 0.1, 0.1, fabric="felt").move((0, 2e-3, 0))
    angle = np.radians(14.0)
    pull = (9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0)
    contact = weft.SelfContact(3e-3, friction=0.4)
    scene = Scene(
        cloth, bodies=[plate(1.0, 1.0)], gravity=pull, contact=contact, integrator=integrator
    )
    *_, (state, memory, _) = steps(scene, 60, 0.02)
    *_, (before, _, _), (state, memory, _) = steps(scene, 20, 0.005, begin=(state, memory))
    assert np.abs(state.x - before.x).max() < 1e-9
    assert np.linalg.norm(memory["slip"], axis=1).min() > 0.1  # it is held


def test_a_body_carries_what_lies_on_it():
    """A plate is pushed away under a cloth: it takes it along, and it stops where it stops."""
    cloth = weft.sheet(4, 4, 0.1, 0.1, fabric="felt").move((0, 2e-3, 0))
    path = Path([Keyframe(0.2), Keyframe(0.8, (0.1, 0, 0.05), 0.0)], hold=True)
    contact = weft.SelfContact(3e-3, friction=0.6)
    scene = Scene(cloth, bodies=[plate(1.0, 1.0).move((0, 0, 0), path)], contact=contact)
    # Cloth may creep by the tolerance of a step; iterative solvers use more of it than direct ones.
    stepper = weft.BackwardEuler(weft.StepSettings(tolerance=1e-6))
    moved = steps(scene, 60, 0.02, stepper)
    places = [state.x.mean(0) - cloth.vertices.mean(0) for state, _, _ in moved]
    np.testing.assert_allclose(places[-1][[0, 2]], [0.1, 0.05], atol=2e-4)
    assert np.abs(places[-1] - places[-5]).max() < 1e-7


def test_slides_above_it():
    """tan 22 degrees = 0.404 > 0.3: with g (sin - mu cos)."""
    _, speeds = slope(22.0, 0.3)
    angle = np.radians(22.0)
    expected = 9.81 * (np.sin(angle) - 0.3 * np.cos(angle))
    late = speeds[len(speeds) // 2 :]
    slope_of_speed = np.polyfit(0.01 * np.arange(len(late)), late, 1)[0]
    assert slope_of_speed == pytest.approx(expected, rel=0.01)


def test_without_friction():
    _, speeds = slope(14.0, 0.0)
    late = speeds[len(speeds) // 2 :]
    expected = 9.81 * np.sin(np.radians(14.0))
    assert np.polyfit(0.01 * np.arange(len(late)), late, 1)[0] == pytest.approx(expected, rel=5e-3)


def test_errors():
    cloth = weft.sheet(5, 5)
    with refused(SceneError, "contact.friction", got="-0.1"):
        prepare(Scene(cloth, contact=weft.SelfContact(1e-3, friction=-0.1)))
    with refused(SceneError, "contact.stick", got="0"):
        prepare(Scene(cloth, contact=weft.SelfContact(1e-3, stick=0.0)))
