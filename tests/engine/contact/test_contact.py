"""Contact in the potential of a step: nothing passes through, momentum stays, derivatives hold."""

import dataclasses

import ipctk
import numpy as np
import pytest

import weft
from tests.checks import assert_derivative, dense, touching
from tests.engine.contact.test_barrier import sheets
from tests.reference.contact_sets import contact_set
from tests.refusals import refused
from tests.stepping import stepped
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.contact import intersections
from weft.contact.assembly.contact_matrix import ExtendedMatrix, PairBlocks, pattern_with_pairs
from weft.contact.contact import Contact
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh, grid
from weft.fabric.fabric import fabric
from weft.kernel import vec3
from weft.laws import Psd
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

GAP = 4e-3


def stack(n=9, height=0.02, turn=0.5):
    """Two squares of cotton, one turned and above the other; a cloth of two pieces."""
    below, above = grid(n, n, 0.3, 0.3), grid(n, n, 0.2, 0.2)
    c, s = np.cos(turn), np.sin(turn)
    turned = above.vertices @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) + [0.01, height, 0.02]
    faces = np.concatenate([below.faces, above.faces + below.n_vertices])
    uv = np.concatenate([below.corner_uv, above.corner_uv + [1.0, 0.0]])
    mesh = TriangleMesh(np.concatenate([below.vertices, turned]), faces, uv)
    corners = np.array([0, n - 1, n * n - n, n * n - 1], dtype=np.int32)
    return Cloth(mesh, fabric("cotton")), corners


def term_of(x, X, faces, gap):
    """Contact of a mesh at rest at X, at x."""
    mesh = TriangleMesh(x, faces, X[faces][:, :, [0, 2]])
    return touching(Contact.of(mesh, np.ones(len(x)), SelfContact(gap)), x)


@pytest.mark.parametrize("thickness", [0.0, 2e-3])
@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_a_sheet_that_falls_on_another_stays_on_it(integrator, thickness):
    cloth, corners = stack()
    form = weft.SelfContact(GAP, thickness)
    scene = Scene(cloth, [Pin(corners)], contact=form, integrator=integrator)

    def watch(model, state, report):
        assert len(intersections(state.x, cloth.faces)) == 0
        assert model.contact.least_distance(state.x) > thickness
        assert report.terms["contact"] >= 0

    model, state, reports = stepped(scene, 25, 0.02, watch)
    n, contact = 81, model.contact
    over = state.x[n:, 1].mean() - state.x[:n, 1].mean()
    assert -0.02 < over < 0.03 and contact.least_distance(state.x) < GAP + thickness
    assert np.mean([report.iterations for report in reports]) < 15
    without = stepped(scene.with_(contact=None), 25, 0.02)[1]
    assert without.x[n:, 1].mean() < state.x[n:, 1].mean() - 0.2  # it falls through


def test_momentum_and_moment_of_two_free_sheets():
    """Thrown at each other without gravity: contact is internal, so both stay to the tolerance."""
    cloth, _ = stack(7, 0.02)
    v = np.zeros_like(cloth.vertices)
    v[49:, 1], v[:49, 1] = -1.0, 0.5
    scene = Scene(
        cloth,
        gravity=(0, 0, 0),
        velocity=v,
        contact=weft.SelfContact(GAP),
        damping=0.0,
        settings=weft.StepSettings(tolerance=1e-7),
    )
    before = (cloth.mass[:, None] * v).sum(0)
    _, state, reports = stepped(scene, 8, 0.005)
    assert max(report.terms["contact"] for report in reports) > 1e-6
    after = (cloth.mass[:, None] * state.v).sum(0)
    np.testing.assert_allclose(after, before, atol=1e-6 * cloth.mass.sum())
    assert state.v[49:, 1].mean() > -0.6  # the upper one has been slowed down


def test_potential_in_hand(rng, device):
    """Value, gradient and matrix of Phi with contact, away from where pairs come and go."""
    cloth, corners = stack(6, 0.003)
    scene = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.02))
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    phi = stepper.potential(model, state, stepper.init(model, state), 0.02)
    x = state.x + 1e-4 * rng.normal(size=state.x.shape)
    d = 1e-4 * rng.normal(size=x.shape)
    assert phi.terms(x)["contact"] > 0
    assert sum(phi.terms(x).values()) == pytest.approx(phi.value(x), rel=1e-12)
    assert_derivative(phi.value, (phi.gradient(x) * d).sum(), x, d, 1e-5)
    H = phi.hessian(x, Psd.PROJECTED).toarray()
    free = np.repeat(phi.free, 3)
    assert np.linalg.eigvalsh(H[np.ix_(free, free)]).min() > 0


@pytest.mark.parametrize("seed", range(3))
def test_directions_of_a_search(seed, device):
    """What ``limit`` allows, and what ``truncated`` gives, passes through nothing."""
    x, X, faces = sheets(seed, apart=0.05, noise=0.004)
    rng = np.random.default_rng(seed)
    term = term_of(x, X, faces, 0.01)
    d = 0.1 * rng.normal(size=x.shape)
    oracle = ipctk.CollisionMesh(X, ipctk.edges(faces), faces)
    at, along = kernel.points(x), kernel.points(d)
    part = term.max_step(at, along)
    assert 0 < part < 1 and ipctk.is_step_collision_free(oracle, x, x + part * d)
    held = np.array(kernel.numpy(term.truncate(at, along)))
    assert ipctk.is_step_collision_free(oracle, x, x + held)
    length = np.linalg.norm(held, axis=1) / np.linalg.norm(d, axis=1)
    assert (length <= 1 + 1e-12).all() and length.mean() > part
    assert term.max_step(at, kernel.points(held)) == 1.0
    cosine = (held * d).sum(1) / np.linalg.norm(held, axis=1) / np.linalg.norm(d, axis=1)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)


def test_joined_matrix_is_the_sum():
    x, X, faces = sheets(3)
    term = term_of(x, X, faces, 0.04)
    pattern = BlockPattern.of(len(x), [faces])
    rng = np.random.default_rng(0)
    A = BlockCsr(pattern, kernel.array(rng.normal(size=(pattern.n_blocks, 3, 3)), kernel.mat33))
    joined = term.add_hessian(kernel.points(x), Psd.PROJECTED, A)
    set_ = term.workspace.search.contacts(kernel.points(x))
    assert len(set_) > 20
    expected = A.to_scipy().toarray() + dense(set_, x, Psd.PROJECTED)
    np.testing.assert_allclose(
        joined.to_scipy().toarray(), expected, atol=1e-12 * np.abs(expected).max()
    )
    kept = ExtendedMatrix.of(pattern_with_pairs(pattern, set_.device[0]))

    def fits(pairs, part=1.0):
        some = contact_set(pairs, np.zeros(len(pairs)), 1.0, 1.0)
        ones = kernel.array(np.full((len(pairs), 3, 4, 3), part), vec3)
        return kept.add(A, [PairBlocks(some, ones)]) is not None

    assert fits(set_.stencil[:5]) and kept.extends(A)
    apart = np.array([[0, 1, len(x) - 1, len(x) // 2]], dtype=np.int32)
    assert not fits(apart) and fits(apart, 0.0)  # blocks of zeros need no place


def test_order_of_contacts_does_not_depend_on_the_past():
    """A tree that was refitted on the way and a new one give the same set, row by row."""
    x, X, faces = sheets(3)
    old, new = (term_of(x, X, faces, 0.04).workspace.search for _ in range(2))
    for shift in (0.3, 0.1, 0.01):
        old.contacts(kernel.points(x + shift * np.sin(37 * x[:, ::-1])))
    one, two = (search.contacts(kernel.points(x)) for search in (old, new))
    assert len(one) > 20
    np.testing.assert_array_equal(one.stencil, two.stencil)
    np.testing.assert_array_equal(one.parameters, two.parameters)


@pytest.mark.exact_start
def test_pins_do_not_push_cloth_through_cloth(tmp_path):
    """A sheet that two others close on is refused where it has no way out; another one is pushed.
    One pinned sheet would pass through the other.
    """
    cloth, corners = stack(6, 0.02)
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.0, -0.2, 0.0))], "linear", hold=True)
    pins = [Pin(corners), Pin(np.arange(36, 72, dtype=np.int32), path=path)]
    scene = Scene(cloth, pins, contact=weft.SelfContact(0.01))
    between = weft.sheet(6, 6, 0.1, 0.1).move((0, 0.01, 0))
    three = weft.join([cloth, between])
    closing = [Pin(np.arange(36, dtype=np.int32)), pins[1]]
    caught = Scene(three, closing, contact=weft.SelfContact(0.008))
    ready = prepare(caught)
    model, stepper, state = ready.model, ready.stepper, ready.state
    after, _, report = stepper.step(model, state, stepper.init(model, state), 1.0)
    assert report.outcome is Outcome.PASSES and after is state and report.place is not None
    pushed = weft.simulate(scene, frames=10, fps=50, out=tmp_path / "run", progress=False)
    for frame in range(len(pushed)):
        assert len(intersections(pushed.positions(frame), cloth.faces)) == 0
    x = pushed.positions(-1)
    np.testing.assert_allclose(x[36:, 1], cloth.vertices[36:, 1] - 0.04, atol=1e-9)
    assert x[:36, 1].min() < -0.02


def test_a_search_without_inertia_passes_through_nothing():
    """Equilibrium of a sheet that hangs over another one; its path is limited all the same."""
    cloth, corners = stack(7, 0.02)
    scene = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.01), integrator="quasi_static")
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    lowest = []

    def watch(iterate, x):
        assert len(intersections(x, cloth.faces)) == 0
        lowest.append(x[:, 1].min())

    stepper.watch = watch
    stepper.settings = dataclasses.replace(stepper.settings, max_iterations=40)
    stepper.step(model, state, stepper.init(model, state), 0.1)
    assert lowest[-1] < -0.005


def test_errors():
    cloth, _ = stack()
    with refused(SceneError, "contact.gap", got="0"):
        prepare(Scene(cloth, contact=weft.SelfContact(0.0)))
    with refused(SceneError, "thickness"):
        prepare(Scene(cloth, contact=weft.SelfContact(GAP, -1.0)))
    through = np.array(cloth.vertices)
    through[81:, 1] += 0.2 * through[81:, 0] - 0.02
    crossing = dataclasses.replace(cloth, mesh=cloth.mesh.with_vertices(through))
    with refused(SceneError, "cloth at the start", got="42 pairs of faces", hint="`weft check`"):
        prepare(Scene(crossing, contact=weft.SelfContact(GAP)))
