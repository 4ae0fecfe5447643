"""The step of 1998 against its equations, backward Euler's Newton, and under constraints."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.transform import Rotation

import weft
from tests.checks import dense, scatter
from tests.engine.solve.systems import solution, spd
from tests.refusals import refused
from weft.base.errors import SolverError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.discretization.mesh import grid
from weft.energies.elastic.condition import Conditions, Variant, condition_energies
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.model import Model
from weft.laws import Psd
from weft.solve.linear.constraints import Constraint, Filter, solve_constrained
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import Outcome, Stop
from weft.solve.sparse.block_csr import BlockCsr

pytestmark = pytest.mark.quick

MESH = grid(6, 5, 0.5, 0.4, "random", 2)
MASS = 0.1 * MESH.vertex_area
DT = 0.02


def model(pins=(), gravity=True, **changes):
    c = Conditions((500.0, 400.0), 60.0, (1e-3, 5e-4), **changes)
    energies = condition_energies(MESH, c)
    if gravity:
        energies = (*energies, Gravity(MASS))
    return Model(MASS, energies, tuple(pins), MESH.vertices)


def moving_state(size=0.01, speed=0.5):
    rng = np.random.default_rng(3)
    x = np.array(MESH.vertices) + size * rng.normal(size=MESH.vertices.shape)
    return State(x, speed * rng.normal(size=x.shape))


def damping_of(system):
    """(n,3) [N] of all conditions."""
    return sum(f for name, f in system.forces.items() if name.endswith("damping"))


EXACT = {"tolerance": 1e-12, "linear": "splu"}


@pytest.mark.parametrize("variant", Variant)
def test_system_is_that_of_the_paper(variant):
    """A = M - h D - h^2 K and b = h (f + h K v), each from local arrays added up by NumPy."""
    beta = 0.07
    m, s = model(variant=variant), moving_state()
    system = BaraffWitkin1998(Settings1998(damping=beta)).system(m, s, DT)
    parts = m.energies[:3]
    G = sum(dense(e, s.x, Psd.GAUSS_NEWTON) for e in parts)
    np.testing.assert_allclose(system.dfdv.toarray(), -beta * G, atol=1e-9)
    np.testing.assert_allclose(
        damping_of(system).reshape(-1), -beta * G @ s.v.reshape(-1), atol=1e-9
    )
    for e in m.energies:
        np.testing.assert_allclose(system.forces[e.name], -scatter(e, s.x), atol=1e-10)
    M = sp.diags(np.repeat(MASS, 3)).toarray()
    A = M - DT * system.dfdv.toarray() - DT**2 * system.dfdx.toarray()
    np.testing.assert_allclose(system.A.toarray(), A, atol=1e-12)
    f = sum(system.forces.values()).reshape(-1)
    b = DT * (f + DT * system.dfdx @ s.v.reshape(-1))
    np.testing.assert_allclose(system.b.reshape(-1), b, atol=1e-12)


@pytest.mark.parametrize("variant", Variant)
def test_damping_jacobian_keeps_the_symmetric_part(variant):
    """df/dx of damping is -k_d d2C dC/dt; what is dropped, -k_d dC (d2C v)^T, is not symmetric.

    So the numeric Jacobian less ours has its image in the span of the dC: a triangle pair, a hinge.
    """
    rng = np.random.default_rng(0)
    beta = 0.3
    corners = np.array([[[0, 0], [1, 0.1], [0.2, 0.9]], [[1, 0.1], [1.2, 1.0], [0.2, 0.9]]])
    mesh = weft.TriangleMesh(
        [[0, 0, 0], [1, 0, 0.1], [0.2, 0.9, 0], [1.2, 1, 0.3]], [[0, 1, 2], [1, 3, 2]], corners
    )
    v = rng.normal(size=(4, 3))
    x = np.array(mesh.vertices) + 0.05 * rng.normal(size=(4, 3))
    for energy in condition_energies(
        mesh, Conditions((3.0, 2.0), 1.5, (1.0, 1.0), variant=variant)
    ):
        m = Model(np.ones(4), (energy,))
        stepper = BaraffWitkin1998(Settings1998(damping=beta))
        ours = stepper.system(m, State(x, v), DT).dfdx.toarray() + dense(energy, x)

        def force(y, energy=energy):
            return -beta * (dense(energy, y, Psd.GAUSS_NEWTON) @ v.reshape(-1))

        steps = 1e-6 * np.eye(12).reshape(12, 4, 3)
        numeric = np.stack([force(x + d) - force(x - d) for d in steps], axis=1) / 2e-6
        np.testing.assert_allclose(ours, ours.T, atol=1e-9)
        if energy.name == "bend" and variant is Variant.BODY:
            continue  # its second derivative is not that of its first (eq. 57 keeps denominators)
        left = numeric - ours
        G = dense(energy, x, Psd.GAUSS_NEWTON)
        image = np.linalg.svd(G)[0][:, : np.linalg.matrix_rank(G, tol=1e-9)]
        np.testing.assert_allclose(left, image @ (image.T @ left), atol=1e-5)
        assert np.abs(ours).max() > 1e-3


@pytest.mark.parametrize("variant", Variant)
def test_rigid_motion_is_undamped(variant):
    """dC/dt = 0 for v = a + w x r (eq. 58): no damping force."""
    m, s = model(variant=variant, gravity=False), moving_state()
    v = np.array([1.0, -2.0, 0.5]) + np.cross([0.3, 2.0, -1.0], s.x)
    system = BaraffWitkin1998(Settings1998(damping=0.2)).system(m, State(s.x, v), DT)
    scale = np.abs(damping_of(BaraffWitkin1998(Settings1998(damping=0.2)).system(m, s, DT))).max()
    assert np.abs(damping_of(system)).max() < 1e-10 * scale


def test_pins_are_where_they_should_be():
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.1, 0.2, 0.3))], "linear")
    pins = [Pin(MESH.groups["top"], path=path), Pin(MESH.groups["left"][:1])]
    m, stepper = model(pins), BaraffWitkin1998(Settings1998(damping=0.01))
    s = State.at_rest(MESH.vertices)
    for _ in range(5):
        s, _, report = stepper.step(m, s, {}, DT)
        assert report.outcome.ok
        ids = pins[0].vertices
        np.testing.assert_allclose(s.x[ids], path.positions(MESH.vertices[ids], s.t), atol=1e-12)


@pytest.mark.parametrize("linear", ["pcg", "splu", "multigrid"])
def test_one_two_and_three_constrained_directions(linear, rng):
    """Against the reduced dense system in a basis of the free directions."""
    A, full = spd(30, rng)
    n, b = A.n, rng.normal(size=(A.n, 3))
    constraints = [
        Constraint([3, 4], [[1.0, 1.0, 0.0]], rng.normal(size=(2, 3))),
        Constraint([7], [[0, 0, 1.0], [0, 1.0, 0]], rng.normal(size=(1, 3))),
        Constraint([9, 11], np.eye(3), rng.normal(size=(2, 3))),
        Constraint([3], [[0.0, 0.0, 1.0]], rng.normal(size=(1, 3))),
    ]
    f = Filter.of(n, constraints)
    work = BlockCsr.zeros(A.pattern)
    got = solve_constrained(A, b, f, work, linear_solver(linear), 1e-10)
    assert got.linear.outcome.ok
    S = sp.block_diag(f.S).toarray()
    values, vectors = np.linalg.eigh(S)
    basis = vectors[:, values > 0.5]
    assert basis.shape[1] == 3 * n - 2 - 2 - 6 - 1
    y = np.linalg.solve(basis.T @ full @ basis, basis.T @ (b.reshape(-1) - full @ f.z.reshape(-1)))
    expected = f.z + (basis @ y).reshape(-1, 3)
    np.testing.assert_allclose(got.change, expected, atol=1e-7 * np.abs(expected).max())
    for c in constraints:
        along = np.einsum("ij,kj->ki", c.directions, got.change[c.vertices])
        np.testing.assert_allclose(along, np.einsum("ij,kj->ki", c.directions, c.change), atol=1e-9)
    # The constraints' impulse closes the equation, and lies in the constrained directions.
    np.testing.assert_allclose(
        (full @ got.change.reshape(-1)).reshape(-1, 3), b + got.impulse, atol=1e-6
    )
    np.testing.assert_allclose(f.apply(got.impulse), 0, atol=1e-12)


def test_contradicting_constraints():
    """The fast path of full constraints checks what is held already, in either order."""
    full = Constraint([1, 2], np.eye(3), [[1.0, 0, 0], [0, 2.0, 0]])
    single = Constraint([2], [[0, 1.0, 0]], [[0, 3.0, 0]])
    other = Constraint([2], [[0, 1.0, 0]], [[0, 2.0, 0]])
    for pair in ([full, single], [single, full], [single, other]):
        with refused(SolverError, "constraints of vertex 2"):
            Filter.of(4, pair)
    f = Filter.of(4, [full, other])  # agrees along y
    np.testing.assert_array_equal(f.S[1:3], 0)
    np.testing.assert_array_equal(f.z[1:3], full.change)


def test_position_alteration_moves_without_velocity():
    """b gains h K y, so forces answer the alteration y before it happens."""
    m, s = model(), moving_state()
    stepper = BaraffWitkin1998(Settings1998())
    y = np.zeros_like(s.x)
    y[7] = [0, 0.01, 0]
    plain, altered = stepper.system(m, s, DT), stepper.system(m, s, DT, y)
    expected = DT * (plain.dfdx @ y.reshape(-1)).reshape(-1, 3)
    np.testing.assert_allclose(altered.b - plain.b, expected, atol=1e-12)


def test_indefinite_matrix_is_solved_again_with_projected_terms():
    """Strong compression: the exact matrix is indefinite, which is noticed and counted."""
    m = model()
    squeezed = State.at_rest(np.array(MESH.vertices) * [0.3, 1, 0.3])
    stepper = BaraffWitkin1998(Settings1998())
    exact = stepper.solve(m, squeezed, DT, [], Psd.EXACT)
    assert exact.linear.outcome is Outcome.INDEFINITE
    after, _, report = stepper.step(m, squeezed, {}, DT)
    assert report.outcome.ok and report.iterations == 2 and np.isfinite(after.x).all()


def on_a_plane(normal, height=0.0):
    """Vertices below the plane are held on it along its normal only, and lifted onto it."""

    def constrain(state, dt):
        gap = state.x @ normal - height
        low = np.flatnonzero(gap <= 1e-9).astype(np.int32)
        y = np.zeros_like(state.x)
        y[low] = -gap[low, None] * normal
        if len(low) == 0:
            return [], None
        stop = -(state.v[low] @ normal)[:, None] * normal
        return [Constraint(low, [normal], stop, one_sided=True)], y

    return constrain


def test_cloth_slides_down_a_plane():
    """Held along the normal alone (two free directions), it accelerates with g sin(a)."""
    angle = 0.5
    turn = Rotation.from_rotvec([0, 0, -angle]).as_matrix()
    normal = np.array([0, 1.0, 0]) @ turn
    stepper = BaraffWitkin1998(Settings1998(**EXACT), on_a_plane(normal))
    m, s = model(), State.at_rest(MESH.vertices @ turn)
    for _ in range(10):
        s, _, report = stepper.step(m, s, {}, DT)
        assert report.outcome.ok and report.released == 0
    np.testing.assert_allclose(np.abs(s.x @ normal).max(), 0, atol=1e-12)
    speed = np.linalg.norm(s.v, axis=1)
    np.testing.assert_allclose(speed, 9.81 * np.sin(angle) * 10 * DT, rtol=1e-9)


def test_constraint_that_pulls_is_released():
    """One-sided constraints hold what gravity presses, and let go of what is lifted off."""
    up = np.array([0, 1.0, 0])
    stepper = BaraffWitkin1998(Settings1998(**EXACT), on_a_plane(up))
    corner = MESH.groups["top"][:1]
    path = Path([Keyframe(0.0), Keyframe(1.0, (0, 1.0, 0))], "linear")
    m, s = model([Pin(corner, path=path)]), State.at_rest(MESH.vertices)
    released = 0
    for _ in range(8):
        s, _, report = stepper.step(m, s, {}, DT)
        assert report.outcome.ok
        released += report.released
    assert released >= 1  # neighbors of the lifted corner
    lifted = s.x @ up > 1e-6
    assert lifted[corner].all() and 1 < lifted.sum() < len(lifted)
    # What stays is on the plane, and pressed: its impulse is upward.
    constraints, y = stepper._constraints(stepper.plan(m, s, DT))
    solution = stepper.solve(m, s, DT, constraints, Psd.EXACT, y)
    others = np.setdiff1d(np.flatnonzero(s.x @ up <= 1e-9), corner)
    assert (solution.impulse[others] @ up >= -1e-9).all()
    assert solution.impulse[others].sum() > 0


def test_constraint_force_balances_the_weight():
    """At rest on a plane the impulses are h times the weight of each vertex's share."""
    up = np.array([0, 1.0, 0])
    stepper = BaraffWitkin1998(Settings1998(**EXACT), on_a_plane(up))
    m, s = model(), State.at_rest(MESH.vertices)
    constraints, y = stepper._constraints(stepper.plan(m, s, DT))
    solution = stepper.solve(m, s, DT, constraints, Psd.EXACT, y)
    np.testing.assert_allclose(solution.impulse @ up, 9.81 * MASS * DT, rtol=1e-9)


@pytest.mark.parametrize("linear", ["pcg", "multigrid"])
def test_stop_rule_of_1998(linear, rng):
    """sqrt(r.P^-1 r) falls below the tolerance times its start, and the rule is reported."""
    A, full = spd(30, rng)
    b, errors = rng.normal(size=(A.n, 3)), []
    exact = np.linalg.solve(full, b.reshape(-1)).reshape(-1, 3)
    prepared = linear_solver(linear, A.n, Stop.PRECONDITIONED).prepare(A)
    for tolerance in (1e-2, 1e-8):
        found, x = solution(prepared, b, tolerance)
        assert found.outcome.ok and found.residual <= tolerance
        errors.append(np.abs(x - exact).max())
    assert errors[1] < 1e-5 * errors[0] or errors[1] < 1e-9
