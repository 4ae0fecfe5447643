"""Friction: against ipctk, its derivatives, and cloth that sticks to a slope or slides down it."""

import ipctk
import numpy as np
import pytest

import weft
from tests.checks import assert_derivative
from tests.engine.contact.test_barrier import GAP, SCENES, contacts
from tests.reference.contact_sets import contact_set, energies, uniform_friction
from tests.stepping import steps
from weft import kernel
from weft.contact import plate
from weft.contact.friction.friction import FrictionSet, normal_forces
from weft.fabric.fabric import Fabric
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
    apart = every.among(every.parameters["parallel"] == 0)
    friction = FrictionSet.of(apart, x, x, uniform_friction(MU), SMOOTH)
    for size in (1e-4, 1e-2):
        d = size * rng.normal(size=x.shape)
        expected = potential.gradient(tangential, mesh, d).reshape(-1, 3)
        got = gradient_of(friction, x + d)
        np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(expected).max())
        value = energies(friction, x + d).sum()
        assert value == pytest.approx(potential(tangential, mesh, d), rel=1e-9)


def check_derivatives(friction, y, d, convex=True, value=True, h=1e-4):
    """Gradient and Hessians at y along d; factors make up the Hessians where they are convex, and
    more than these where friction falls.
    """

    def energy(p):
        return energies(friction, p).sum()

    if value:
        assert_derivative(energy, (gradient_of(friction, y) * d).sum(), y, d, 1e-6)
    local, at = d[friction.stencil], kernel.points(y)
    H = np.array(kernel.numpy(friction.hessians(at))).reshape(-1, 4, 4, 3, 3)
    f = np.array(kernel.numpy(friction.factors(at)))
    exact = np.einsum("mabij,mbj->mai", H, local)
    projected = np.einsum("mrai,mrbj,mbj->mai", f, f, local)
    if convex:
        np.testing.assert_allclose(projected, exact, atol=1e-9 * np.abs(exact).max())
    else:
        assert ((projected - exact) * local).sum((1, 2)).min() >= -1e-12
    Hd = np.zeros_like(y)
    np.add.at(Hd, friction.stencil, exact)
    expected = (gradient_of(friction, y + h * d) - gradient_of(friction, y - h * d)) / (2 * h)
    np.testing.assert_allclose(Hd, expected, atol=1e-4 * np.abs(Hd).max())


@pytest.mark.parametrize("held", [False, True], ids=["", "held"])
@pytest.mark.parametrize("KINETIC", [MU, 0.4 * MU], ids=["one coefficient", "falling"])
def test_derivatives(rng, KINETIC, held):
    x, X, faces = SCENES["crumpled"]
    slip = rng.uniform(-0.5, 0.5, x.shape) if held else None
    table = uniform_friction(MU, KINETIC)
    friction = FrictionSet.of(contacts(x, X, faces), x, x, table, SMOOTH, slip)
    y, d = x + 1e-3 * rng.normal(size=x.shape), 1e-3 * rng.normal(size=x.shape)
    check_derivatives(friction, y, d, KINETIC == MU)


def test_derivatives_before_anything_slides(rng):
    """The slip is zero, and has no direction."""
    x, X, faces = SCENES["crumpled"]
    friction = FrictionSet.of(contacts(x, X, faces), x, x, uniform_friction(MU), SMOOTH)
    check_derivatives(friction, x, 1e-3 * rng.normal(size=x.shape), value=False, h=1e-5)


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
    local, at = d[friction.stencil], kernel.points(y)
    slope = (np.array(kernel.numpy(friction.gradient(at))) * local).sum((1, 2))
    f = np.array(kernel.numpy(friction.factors(at, bound=True)))
    curve = (np.einsum("mrai,mai->mr", f, local) ** 2).sum(1)
    before, after = energies(friction, y), energies(friction, y + d)
    assert (after <= before + slope + 0.5 * curve + 1e-9 * after.max()).all()


def one_pair():
    """A point over a face, and another one."""
    x = np.array([[0.2, 0.01, 0.2], [0, 0, 0], [0, 0, 1], [1, 0, 0], [5.0, 5, 5]])
    return x, contact_set(np.array([[0, 1, 2, 3]]), np.zeros(1, np.int32), 3.0, 0.05)


def test_slip_is_kept(rng):
    """One point on a face, by hand: a force without motion, the plane's part of what it moves,
    length 1 at most, nothing where nothing presses; and shared where both sides have a slip.
    """
    x, one = one_pair()
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


FLAT = Fabric(0.2, 2000.0, 2000.0, 500.0, 1e-3, 1e-3, damping=0.0, name="stiff")


def slope(degrees, friction, seconds=0.4, dt=0.01):
    """Mean displacement and speed of a square on a plate, along the fall of the slope."""
    cloth = weft.sheet(6, 6, 0.2, 0.2, fabric=FLAT).move((-0.1, 1.2e-3, 0.013), (0, 25, 0))
    angle = np.radians(degrees)
    scene = Scene(
        cloth,
        bodies=[plate(2.0, 1.0)],
        gravity=(9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0),
        damping=0.0,
        contact=weft.SelfContact(2e-3, friction=friction, stick=2e-4),
        settings=weft.StepSettings(tolerance=1e-5),
    )
    states = [state for state, _, _ in steps(scene, round(seconds / dt), dt)]
    moved = (states[-1].x - cloth.vertices)[:, 0].mean()
    return float(moved), np.array([state.v[:, 0].mean() for state in states])


def test_sticks_below_the_angle_of_friction():
    """tan 14 degrees = 0.249 < 0.3: after it has landed it does not move any more. (It crept at
    0.6 of the sticking speed, 0.2 mm in these two seconds.)
    """
    moved, speeds = slope(14.0, 0.3, seconds=2.2, dt=0.02)
    assert abs(moved) < 1e-3 and abs(0.02 * speeds[10:].sum()) < 1e-6
    assert abs(speeds[-50:]).max() < 1e-9


@pytest.mark.parametrize(
    "make, axes, most",  # splines still breathe
    [(weft.sheet, slice(3), 1e-9), (weft.spline_sheet, slice(0, 3, 2), 1e-8)],
)
@pytest.mark.parametrize("integrator", ["bdf2", "bdf2_semi_implicit", "baraff_witkin_1998"])
def test_every_integrator_sticks(integrator, make, axes, most):
    """A square of felt on a slope comes to rest, and shorter steps hold the same load."""
    cloth = make(4, 4, 0.1, 0.1, fabric="felt").move((0, 2e-3, 0))
    angle = np.radians(14.0)
    pull = (9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0)
    contact = weft.SelfContact(3e-3, friction=0.4)
    scene = Scene(
        cloth, bodies=[plate(1.0, 1.0)], gravity=pull, contact=contact, integrator=integrator
    )
    *_, (state, memory, _) = steps(scene, 60, 0.02)
    *_, (before, _, _), (state, memory, _) = steps(scene, 20, 0.005, begin=(state, memory))
    assert np.abs(state.x - before.x)[:, axes].max() < most
    assert np.linalg.norm(memory["slip"], axis=1).min() > 0.1  # it is held


@pytest.mark.parametrize(
    "degrees, friction, rel", [(22.0, 0.3, 0.01), (14.0, 0.0, 5e-3)], ids=["some", "none"]
)
def test_slides_above_it(degrees, friction, rel):
    """tan 22 degrees = 0.404 > 0.3: with g (sin - mu cos)."""
    _, speeds = slope(degrees, friction)
    angle = np.radians(degrees)
    expected = 9.81 * (np.sin(angle) - friction * np.cos(angle))
    late = speeds[len(speeds) // 2 :]
    assert np.polyfit(0.01 * np.arange(len(late)), late, 1)[0] == pytest.approx(expected, rel=rel)
