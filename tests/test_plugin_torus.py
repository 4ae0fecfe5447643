"""The plugin in examples/plugin_torus: an implicit collider, and what every such collider promises.

Energies are tried here, without the plugin's registration; the scene block in another process.
"""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
import warp as wp
from implicit_collider import ColliderPoint, ColliderShape, ImplicitCollider, sag_of
from weft_torus import CIRCLE

import weft
from tests.checks import InStep, assert_derivative, dense, scatter, still
from tests.engine.adjoint.cases import quotient
from tests.refusals import refused
from tests.stepping import stepped
from tests.test_plugins import install, python
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Keyframe, Path
from weft.contact import plate
from weft.contact.settings import Friction, SelfContact
from weft.discretization.mesh import grid
from weft.energies.by_constants import by_constants
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Scalar, mat33, vec3
from weft.laws import Psd
from weft.solve.linear.solver import Outcome

EXAMPLE = pathlib.Path(__file__).parents[1] / "examples" / "plugin_torus"
R, TUBE, GAP, DT = 0.1, 0.03, 2e-3, 0.01


@wp.func
def middle(x: vec3, p: ColliderPoint):
    return p.place


@wp.func
def no_turning(x: vec3, p: ColliderPoint):
    return mat33(Scalar(0.0))


BALL = ColliderShape("ball", middle, no_turning)
SHAPES = {"ball": (BALL, {"radius": R}), "torus": (CIRCLE, {"size": R, "radius": TUBE})}


def sheet(n=9, height=0.2):
    mesh = grid(n, n, 0.3, 0.3, "alternating")
    return mesh.with_vertices(mesh.vertices + [0.011, height, 0.007])


def collider(shape="torus", friction=0.0):
    mesh = sheet()
    kind, sizes = SHAPES[shape]
    mass = np.full(mesh.n_vertices, 1e-4)
    more = {"place": (0.001, 0.0, 0.002), "axis": (0.1, 1.0, -0.2), "gap": GAP}
    return ImplicitCollider.of(kind, mesh, mass, friction=friction, **more, **sizes)


def axis_of(energy):
    return energy.axis / np.linalg.norm(energy.axis)


def core_distance(energy, x):
    """Distances (k,) from the core of a collider, by NumPy."""
    r = x - energy.place
    if energy.shape is BALL:
        return np.linalg.norm(r, axis=1)
    up = r @ axis_of(energy)
    out = np.linalg.norm(r - up[:, None] * axis_of(energy), axis=1)
    return np.hypot(out - energy.size, up)


def on_core(energy, n, rng):
    """(n,3) points of the core, and unit vectors (n,3) away from it there."""
    d, core = rng.normal(size=(n, 3)), np.tile(energy.place, (n, 1))
    if energy.shape is CIRCLE:
        t = np.cross(rng.normal(size=(n, 3)), axis_of(energy))  # along the circle
        t /= np.linalg.norm(t, axis=1)[:, None]
        core += energy.size * np.cross(axis_of(energy), t)
        d -= (d * t).sum(1)[:, None] * t
    return core, d / np.linalg.norm(d, axis=1)[:, None]


def kept(energy):
    return np.hypot(energy.radius, energy.sag)


def near(energy, rng, low=0.05, high=1.1):
    """(n,3) points at ``low`` to ``high`` gaps beyond what is kept, all around."""
    core, d = on_core(energy, energy.n_vertices, rng)
    far = kept(energy) + rng.uniform(low, high, len(core)) * GAP
    return core + far[:, None] * d


def step_at(x, lag=None):
    """A step of DT from rest at x, with friction."""
    return dataclasses.replace(still(x, dt=DT, span=DT), scale=DT**2, lag_point=lag)


@pytest.mark.parametrize("shape", SHAPES)
def test_energy_and_its_derivatives(shape, device, rng):
    """Distance and barrier are those of NumPy; gradient and matrix are their derivatives."""
    energy = collider(shape)
    x = near(energy, rng)
    d = core_distance(energy, x)
    np.testing.assert_allclose(energy.distances(x), d - energy.radius, atol=1e-14)
    y, Y = d**2 - kept(energy) ** 2, GAP * (GAP + 2 * kept(energy))
    value = np.where(y < Y, -((y - Y) ** 2) * np.log(y / Y), 0.0)
    np.testing.assert_allclose(energy.value(x), energy.stiffness * value, rtol=1e-8, atol=1e-15)
    way = 1e-3 * rng.normal(size=x.shape)
    slope = (scatter(energy, x) * way).sum()
    assert_derivative(lambda z: np.array([energy.value(z).sum()]), slope, x, way, 1e-6)
    exact = (dense(energy, x) @ way.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda z: scatter(energy, z), exact, x, way, 1e-5)
    projected = np.linalg.eigvalsh(dense(energy, x, Psd.PROJECTED))
    assert projected.min() > -1e-12 * projected.max()
    InStep(energy, len(x)).assert_equals(energy, x, 1e-9)


def test_friction_is_the_law_of_contact(device, rng):
    """Vertices that slide are held back by mu times the normal force; energy, force and matrix with
    friction are derivatives of one another.
    """
    energy = collider(friction=Friction(0.4, 0.3))
    x = near(energy, rng, 0.2, 0.9)
    made, normal = InStep(energy, len(x), step_at(x)), scatter(energy, x)
    load = np.linalg.norm(normal, axis=1)[:, None]
    way = np.cross(normal, rng.normal(size=x.shape))
    way /= np.linalg.norm(way, axis=1)[:, None]
    e = DT * energy.stick
    rubs = made.gradient(x + 10 * e * way) - scatter(energy, x + 10 * e * way)
    np.testing.assert_allclose(rubs, 0.3 * load * way, rtol=1e-7, atol=1e-12)
    at = x + 0.4 * e * way + 1e-6 * rng.normal(size=x.shape)
    made.assert_derivatives(at, 3e-4 * rng.normal(size=x.shape), 1e-5, 1e-4)
    assert not InStep(collider(), len(x), step_at(x)).bound.lag(kernel.points(x))
    assert made.bound.lag(kernel.points(at))  # the normal forces there
    assert abs(made.gradient(at) - scatter(energy, at)).max() > 1e-3 * load.max()


@pytest.mark.parametrize("lagged", [False, True])
def test_derivatives_by_constants_and_by_the_start(lagged, device, rng):
    """By all numbers, and by the positions from which friction is evaluated."""
    energy = collider(friction=Friction(0.4, 0.3))
    start = near(energy, rng, 0.3, 0.8)
    end = start + 2e-6 * rng.normal(size=start.shape)
    by = rng.normal(size=start.shape)
    at = start + 1e-6 * rng.normal(size=start.shape) if lagged else None

    def s(e=energy, x0=start, lag=at):
        return float((e.gradient(end, e.parameters_in(step_at(x0, lag)))[:, 0] * by).sum())

    def along(h, name, change):
        """Derivative along the change that a function of c makes to a field."""
        return quotient(lambda c: s(dataclasses.replace(energy, **{name: change(c)})), h)

    found = by_constants(energy, end, by, step_at(start, at))
    for name in ("radius", "size", "gap", "stiffness", "place", "axis"):
        value = np.asarray(getattr(energy, name))
        move = np.abs(value).max() * rng.uniform(0.5, 1, value.shape)
        slope = along(1e-6, name, lambda c, x=value, d=move: x + c * d)
        assert (found[name] * move).sum() == pytest.approx(slope, rel=1e-5), name
    slope = along(1e-4, "friction", lambda c: Friction(0.4 + c, 0.3))
    assert found["mu_static"].sum() == pytest.approx(slope, rel=1e-6)

    into = StepCotangents.zeros(step_at(start), at)
    term = InStep(energy, len(start), step_at(start)).bound
    term.pull_back(step_at(start), kernel.points(end), by, into)
    way = rng.normal(size=start.shape)
    slope = quotient(lambda c: s(x0=start + c * way), 1e-8)
    assert (into.state_x * way).sum() == pytest.approx(slope, rel=1e-4)
    if lagged:
        slope = quotient(lambda c: s(lag=at + c * way), 1e-8)
        assert (into.place * way).sum() == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_path_passes_through(shape, device, rng):
    """On long random paths every vertex keeps a tenth of its room at every time; a path that leads
    away is gone in full.
    """
    energy = collider(shape)
    bound = InStep(energy, energy.n_vertices, step_at(near(energy, rng))).bound
    for _ in range(20):
        x, d = near(energy, rng, 0.05, 20.0), 0.3 * rng.normal(size=(energy.n_vertices, 3))
        at, by = kernel.points(x), kernel.points(d)
        part = np.array(kernel.numpy(bound.reaches(at, by)))
        room = core_distance(energy, x) - kept(energy)
        for t in np.linspace(0, 1, 40):
            now = core_distance(energy, x + (t * part)[:, None] * d) - kept(energy)
            assert (now > 0.0999 * room).all()
        assert bound.max_step(at, by) == part.min() < 1
        shorter = np.array(kernel.numpy(bound.truncate(at, by)))
        np.testing.assert_array_equal(shorter, part[:, None] * d)
        assert bound.carry(x + d, step_at(x)) == pytest.approx(x + part.min() * d)
        pinned = np.arange(len(x)) == 3
        assert bound.carry(x + d, dataclasses.replace(step_at(x), fixed=pinned)) is None
        if shape == "ball":
            assert bound.max_step(at, kernel.points(0.3 * (x - energy.place))) == 1.0


@pytest.mark.parametrize("shape", SHAPES)
def test_triangles_inside_are_refused(shape, device, rng):
    """The check at the end of a step refuses a triangle whose corners are outside and whose inside
    is not, and no triangle that was refused at the start.
    """
    energy = collider(shape)
    x = np.array(sheet().vertices)
    bound = InStep(energy, len(x), step_at(x)).bound
    assert not bound.has_new_intersections(kernel.points(x))
    for _ in range(30):
        y, f = x.copy(), energy.faces[rng.integers(len(energy.faces))]
        core, d = on_core(energy, 1, rng)
        u = np.cross(d[0], rng.normal(size=3))  # a large triangle that dips in by a tenth
        u /= np.linalg.norm(u)
        center = core[0] + 0.9 * energy.radius * d[0]
        turns = [np.cos(a) * u + np.sin(a) * np.cross(d[0], u) for a in (0, 2.1, 4.2)]
        y[f] = center + 0.06 * np.array(turns)
        assert bound.has_new_intersections(kernel.points(y))
        here = InStep(energy, len(x), step_at(y)).bound
        assert not here.has_new_intersections(kernel.points(y))
    y = x.copy()
    y[0] = np.nan
    assert bound.has_new_intersections(kernel.points(y))


def test_no_point_of_a_triangle_is_nearer(rng):
    """Than the corners, squared, by more than the square of the radius of the smallest circle."""
    for _ in range(100):
        x, w, c = rng.normal(size=(3, 3)), rng.dirichlet(np.ones(3), 2000), rng.normal(size=3)
        e, f = x[1] - x[0], x[2] - x[0]
        u = e / np.linalg.norm(e)
        flat = np.array([[0, 0], [e @ u, 0], [f @ u, np.linalg.norm(f - (f @ u) * u)]])
        rho = sag_of(np.array([[0, 1, 2]]), flat[None], 3)[0]
        squares = (np.linalg.norm(x - c, axis=1) ** 2 * w).sum(1)
        lost = squares - np.linalg.norm(w @ x - c, axis=1) ** 2
        assert 0.97 * rho**2 < lost.max() <= rho**2 + 1e-12  # no larger than it has to be


def test_a_start_inside_is_refused():
    mesh, near_enough = sheet(height=0.02), {"place": (0, 0, 0), "radius": R}
    with refused(SceneError, "collider and cloth at the start", got="inside"):
        ImplicitCollider.of(BALL, mesh, np.full(mesh.n_vertices, 1e-4), **near_enough)
    with refused(SceneError, "collider", got="splines"):
        ImplicitCollider.of(BALL, mesh, np.ones(3), **near_enough)


def scene_with(shape, height=0.05, friction=0.3, **more):
    """A napkin that falls on a collider about the origin, with contact with itself."""
    cloth = weft.sheet(17, 17, 0.4, 0.4, fabric="cotton").move((0.02, height, 0.01))
    kind, sizes = SHAPES[shape]
    energy = ImplicitCollider.of(
        kind, cloth.mesh, cloth.mass, place=(0, 0, 0), gap=GAP, friction=friction, **sizes
    )
    return weft.Scene(cloth, energies=[energy], contact=SelfContact(4e-3), **more), energy


def points_of(faces, x, k=8):
    """Points all over triangles, (m,3)."""
    w = np.array([(i, j, k - i - j) for i in range(k + 1) for j in range(k + 1 - i)]) / k
    return np.einsum("wk,fki->fwi", w, x[faces]).reshape(-1, 3)


def test_cloth_on_a_torus_is_never_nearer_than_its_surface(device):
    """Nor are the insides of triangles, at any step, and it lies in the gap in the end; in the
    first one it would move by twice the thickness of the torus.
    """
    scene, energy = scene_with("torus", integrator="bdf2", velocity=(0.0, -12.0, 0.0))
    lows = []

    def watch(model, state, report):
        inside = points_of(energy.faces, state.x)
        lows.append((core_distance(energy, inside) - energy.radius).min())
        assert (energy.distances(state.x) > np.hypot(TUBE, energy.sag) - TUBE).all()

    stepped(scene, 40, DT, watch)
    assert min(lows) > 0
    assert lows[-1] < GAP + np.hypot(TUBE, energy.sag.max()) - TUBE


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998"])
def test_one_linear_solve_refuses_a_barrier(integrator):
    """It would go past it."""
    scene, _ = scene_with("torus", integrator=integrator)
    with refused(SceneError, "energy", got="barrier", expected="backward_euler"):
        stepped(scene.with_(contact=None), 1, DT)


def test_a_body_does_not_push_cloth_through(device):
    """A plate that moves down in one step, farther than the torus is thick, has no room."""
    cloth = weft.sheet(9, 9, 0.1, 0.1, fabric="cotton").move((0.05, 0.02, 0.01))
    about = {"place": (0, 0, 0), "size": 0.05, "radius": 0.002, "gap": 1e-3}
    energy = ImplicitCollider.of(CIRCLE, cloth.mesh, cloth.mass, **about)
    down = Path([Keyframe(0.0), Keyframe(DT, (0.0, -0.1, 0.0))], hold=True)
    press = dataclasses.replace(plate(0.3, 0.3).move((0, 0.03, 0)), path=down)
    scene = weft.Scene(cloth, energies=[energy], bodies=[press], contact=SelfContact(2e-3))
    with pytest.raises(AssertionError, match=Outcome.BLOCKED.name):
        stepped(scene, 1, DT)
    _, state, _ = stepped(scene.with_(energies=[]), 1, DT)
    assert state.x[:, 1].max() < 0  # without a torus there is room


PROGRAM = """
import json
import numpy as np
import weft
from weft.scene.build import load_scene

small = ["cloth.sheet.nx=11", "cloth.sheet.ny=11", "bodies.0.ring.size=3 cm", "seconds=0.3"]
small += ["cloth.translation=[6 cm, 39 mm, -3 cm]"]
scene = load_scene("scene.yaml", small).scene
(torus,) = (e for e in weft.prepare(scene).model.energies if e.name == "torus")
whole = weft.simulate(scene, frames=3, out="whole", progress=False, fsync=False)
weft.simulate(scene, frames=1, out="part", progress=False, fsync=False)
part = weft.simulate(scene, frames=3, out="part", progress=False, fsync=False, resume=True)
ends = [np.asarray(run.positions()) for run in (whole, part)]
still = load_scene("scene.yaml", [*small, "torus.friction=0"]).scene
(smooth,) = (e for e in weft.prepare(still).model.energies if e.name == "torus")
errors = [d.error for d in weft.check_derivatives(smooth, ends[0])]

rng = np.random.default_rng(0)
weight = rng.normal(size=(121, 3))
def loss(x, v, t):
    by_x = np.zeros_like(x)
    by_x[-1] = weight
    return float((by_x * x).sum()), by_x, np.zeros_like(v)
names = ["torus.radius", "torus.thickness", "torus.friction"]
tight = weft.StepSettings(tolerance=1e-10, max_iterations=400)  # so that no step is halved
adjoint = weft.Adjoint(scene.with_(settings=tight), loss, names, frames=2)
found, quotients = adjoint(), {}
for name in names:
    value, gradient = float(adjoint.parameter(name).value), float(found.gradient[name])
    h = 1e-6 * value
    two = [adjoint.with_values({name: value + s * h}).value() for s in (1, -1)]
    quotients[name] = [gradient, (two[0] - two[1]) / (2 * h)]

wrong = []
for change in ("torus.radius=-1 cm", "torus.gap=3 s", "cloth.translation=[0, 1 cm, 0]"):
    try:
        weft.prepare(load_scene("scene.yaml", [*small, change]).scene)
    except weft.errors.SceneError as error:
        wrong.append(str(error))
print(json.dumps({
    "least": [float(torus.distances(whole.positions(k)).min()) for k in range(4)],
    "same": bool((ends[0] == ends[1]).all()),
    "errors": errors,
    "quotients": quotients,
    "wrong": wrong,
}))
"""


@pytest.mark.campaign
def test_the_package(tmp_path):  # 15 s: a process of its own, with seven runs for derivatives
    """Installed, its block runs, stays outside, resumes to the same bits, has derivatives by its
    numbers, and names errors.
    """
    install(tmp_path / "packages", "torus", "weft_torus", "")
    (tmp_path / "packages" / "weft_torus.py").unlink()
    (tmp_path / "scene.yaml").write_text((EXAMPLE / "scene.yaml").read_text())
    out, _ = python(PROGRAM, tmp_path / "packages", EXAMPLE, cwd=tmp_path)
    found = json.loads(out.splitlines()[-1])
    assert min(found["least"]) > 0 and found["least"][-1] < 0.02
    assert found["same"]
    assert max(found["errors"]) < 1e-5
    for name, (gradient, quotient_) in found["quotients"].items():
        assert gradient == pytest.approx(quotient_, rel=1e-3) and abs(gradient) > 1e-5, name
    for text, named in zip(found["wrong"], ("torus.radius", "torus.gap", "torus and cloth")):
        assert named in text
    assert len(found["wrong"]) == 3
