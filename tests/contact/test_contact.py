"""Contact in the potential of a step: nothing passes through, momentum stays, derivatives hold."""

import dataclasses

import ipctk
import numpy as np
import pytest

import weft
from tests.checks import assert_derivative, touching
from tests.contact.test_barrier import sheets
from tests.reference.contact_sets import contact_set
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.contact import intersections
from weft.contact.assembly.contact_matrix import ExtendedMatrix, PairBlocks, pattern_with_pairs
from weft.contact.contact import Contact, SelfContact
from weft.discretization.mesh import TriangleMesh, grid
from weft.fabric.fabric import fabric
from weft.kernel import vec3
from weft.laws import Psd
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


def run(scene, steps, dt=0.02, watch=lambda state, report: None):
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
    memory = stepper.init(model, state)
    for _ in range(steps):
        state, memory, report = stepper.step(model, state, memory, dt)
        assert report.outcome.ok, report.outcome
        watch(state, report)
    return model, state


@pytest.mark.parametrize("thickness", [0.0, 2e-3])
@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_a_sheet_that_falls_on_another_stays_on_it(integrator, thickness):
    cloth, corners = stack()
    form = weft.SelfContact(GAP, thickness)
    scene = Scene(cloth, [Pin(corners)], contact=form, integrator=integrator)
    contact = scene.model().contact
    iterations = []

    def watch(state, report):
        assert len(intersections(state.x, cloth.faces)) == 0
        assert contact.least_distance(state.x) > thickness
        assert report.terms["contact"] >= 0
        iterations.append(report.iterations)

    _, state = run(scene, 25, watch=watch)
    n = 81
    over = state.x[n:, 1].mean() - state.x[:n, 1].mean()
    assert -0.02 < over < 0.03 and contact.least_distance(state.x) < GAP + thickness
    assert np.mean(iterations) < 15
    without = run(scene.with_(contact=None), 25)[1]
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
    touched = []
    _, state = run(scene, 8, 0.005, lambda s, r: touched.append(r.terms["contact"]))
    assert max(touched) > 1e-6
    after = (cloth.mass[:, None] * state.v).sum(0)
    np.testing.assert_allclose(after, before, atol=1e-6 * cloth.mass.sum())
    assert state.v[49:, 1].mean() > -0.6  # the upper one has been slowed down


def test_potential_in_hand(rng, device):
    """Value, gradient and matrix of Phi with contact, away from where pairs come and go."""
    cloth, corners = stack(6, 0.003)
    scene = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.02))
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
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
    mesh = TriangleMesh(x, faces, X[faces][:, :, [0, 2]])
    term = touching(Contact.of(mesh, np.ones(len(x)), SelfContact(0.01)), x)
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
    mesh = TriangleMesh(x, faces, X[faces][:, :, [0, 2]])
    term = touching(Contact.of(mesh, np.ones(len(x)), SelfContact(0.04)), x)
    pattern = BlockPattern.of(len(x), [faces])
    rng = np.random.default_rng(0)
    A = BlockCsr(pattern, kernel.array(rng.normal(size=(pattern.n_blocks, 3, 3)), kernel.mat33))
    joined = term.add_hessian(kernel.points(x), Psd.PROJECTED, A)
    set_ = term.search.contacts(kernel.points(x))
    assert len(set_) > 20
    H = np.zeros((len(x), 3, len(x), 3))
    for stencil, blocks in zip(set_.stencil, set_.hessian(x, Psd.PROJECTED)):
        for a, i in enumerate(stencil):
            for b, j in enumerate(stencil):
                H[i, :, j, :] += blocks[a, b]
    expected = A.to_scipy().toarray() + H.reshape(3 * len(x), -1)
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
    mesh = TriangleMesh(x, faces, X[faces][:, :, [0, 2]])
    old = touching(Contact.of(mesh, np.ones(len(x)), SelfContact(0.04)), x).search
    for shift in (0.3, 0.1, 0.01):
        old.contacts(kernel.points(x + shift * np.sin(37 * x[:, ::-1])))
    new = touching(Contact.of(mesh, np.ones(len(x)), SelfContact(0.04)), x).search
    one, two = (search.contacts(kernel.points(x)) for search in (old, new))
    assert len(one) > 20
    np.testing.assert_array_equal(one.stencil, two.stencil)
    np.testing.assert_array_equal(one.touch, two.touch)


@pytest.mark.exact_start
def test_pins_do_not_push_cloth_through_cloth(tmp_path):
    """A sheet that two others close on is refused where it has no way out; another one is pushed.
    Pinned pairs themselves are not looked at.
    """
    cloth, corners = stack(6, 0.02)
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.0, -0.2, 0.0))], "linear", hold=True)
    pins = [Pin(corners), Pin(np.arange(36, 72, dtype=np.int32), path=path)]
    scene = Scene(cloth, pins, contact=weft.SelfContact(0.01))
    between = weft.sheet(6, 6, 0.1, 0.1).moved((0, 0.01, 0))
    three = weft.joined([cloth, between])
    closing = [Pin(np.arange(36, dtype=np.int32)), pins[1]]
    caught = Scene(three, closing, contact=weft.SelfContact(0.008))
    model, stepper, state = caught.model(), caught.stepper(), caught.state()
    after, _, report = stepper.step(model, state, stepper.init(model, state), 1.0)
    assert report.outcome is Outcome.BLOCKED and after is state and report.place is not None
    pushed = weft.simulate(scene, frames=10, fps=50, out=tmp_path / "run", progress=False)
    for frame in range(len(pushed)):
        assert len(intersections(pushed.positions(frame), cloth.faces)) == 0
    x = pushed.positions(-1)
    np.testing.assert_allclose(x[36:, 1], cloth.vertices[36:, 1] - 0.04, atol=1e-9)
    assert x[:36, 1].min() < -0.02


def test_runs_resume_bitwise(tmp_path):
    cloth, corners = stack(6)
    scene = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.01, friction=0.3))
    whole = weft.simulate(scene, frames=12, fps=50, out=tmp_path / "whole", progress=False)
    weft.simulate(scene, frames=7, fps=50, out=tmp_path / "parts", progress=False)
    fresh = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.01, friction=0.3))
    parts = weft.simulate(
        fresh, frames=12, fps=50, out=tmp_path / "parts", resume=True, progress=False
    )
    np.testing.assert_array_equal(*(r.folder.frame(12)["memory.slip"] for r in (whole, parts)))
    assert np.abs(whole.folder.frame(7)["memory.slip"]).max() > 0  # went on from it
    assert whole.metrics[-1]["energies"]["contact"] > 0
    np.testing.assert_array_equal(whole.positions(-1), parts.positions(-1))


def test_a_search_without_inertia_passes_through_nothing():
    """Equilibrium of a sheet that hangs over another one; its path is limited all the same."""
    cloth, corners = stack(7, 0.02)
    scene = Scene(cloth, [Pin(corners)], contact=weft.SelfContact(0.01), integrator="quasi_static")
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
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
    with refused(SceneError, "contact.gap"):
        Scene(cloth, contact=weft.SelfContact(0.1)).model()
    with refused(SceneError, "contact.gap", got="0"):
        Scene(cloth, contact=weft.SelfContact(0.0)).model()
    with refused(SceneError, "thickness"):
        Scene(cloth, contact=weft.SelfContact(GAP, -1.0)).model()
    through = np.array(cloth.vertices)
    through[81:, 1] += 0.2 * through[81:, 0] - 0.02
    crossing = dataclasses.replace(cloth, mesh=cloth.mesh.with_vertices(through))
    with refused(SceneError, "cloth at the start", got="42 pairs of faces", hint="`weft check`"):
        Scene(crossing, contact=weft.SelfContact(GAP)).model()
