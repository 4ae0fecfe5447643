"""The plugin in examples/plugin_air: added mass, wind on a grid, its scene blocks, and flutter.

Energies are tried here, without the plugin's registration; scene blocks in another process.
"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from weft_air import flutter
from weft_air.added_mass import AddedMass
from weft_air.beam import Beam
from weft_air.settings import AddedMassSettings, WindGridSettings
from weft_air.wind_grid import WindGrid

import weft
from tests.checks import InStep, scatter, still
from tests.engine.adjoint.cases import hung, noise
from tests.reference.air import frozen_air
from tests.refusals import refused
from tests.stepping import stepped, steps
from tests.test_plugins import install, python
from weft import kernel
from weft.base.errors import SceneError
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.primitives import box
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.air.expected_motion import extrapolate
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin_air"


SPAN, DENSITY = 0.2, 1.3
MU = np.pi / 4 * DENSITY * SPAN
U = 3.0
WIND = Wind((U, 0.0, 0.0), DENSITY)
TURN = Rotation.random(random_state=np.random.RandomState(3)).as_matrix()
TURNED_WIND = Wind(tuple(TURN @ WIND.velocity), DENSITY)  # in axes of which none is the wind's


def strip(cells):
    """(n,) from 0 to 1 along x, and a mesh one long and a fifth wide, level."""
    mesh = grid(cells + 1, max(3, cells // 5 + 1), 1.0, SPAN, "alternating")
    return np.array(mesh.vertices[:, 0]) - mesh.vertices[:, 0].min(), mesh


def order(error):
    """Least order of errors at meshes each twice as fine."""
    return np.log2(np.array(error[:-1]) / np.array(error[1:])).min()


def test_potential_of_a_step(device, rng):
    """(x - y).M (x - y)/2 + load.(x - origin), whose gradient and matrix are its derivatives, for M
    and load at the expected end of the step; and anew where ``lag`` says it ends.
    """
    mesh = grid(6, 5, 1.0, 0.8, "random", seed=4)
    x = np.array(mesh.vertices) + 0.05 * rng.normal(size=mesh.vertices.shape)
    at = still(x, dt=0.02, span=0.02, v=rng.normal(size=x.shape))
    at = dataclasses.replace(at, scale=4e-4, predicted=x + 0.01, origin=x - 0.003)
    energy = AddedMass(mesh, dataclasses.replace(WIND, velocity=(3.0, 1.0, -0.5)), SPAN)
    made, y = InStep(energy, len(x), at), x + 0.02 * rng.normal(size=x.shape)
    found = []
    for flow in (extrapolate(at), (y, at.velocity(y))):
        M, load = energy.load(*flow, at.t)
        pull = ((M / at.scale) @ (y - at.predicted)[..., None])[..., 0]
        half = 0.5 * (pull * (y - at.predicted)).sum()
        assert made.value(y) == pytest.approx(half + (load * (y - at.origin)).sum(), rel=1e-12)
        np.testing.assert_allclose(made.gradient(y), pull + load, atol=1e-12)
        made.assert_derivatives(y, rng.normal(size=x.shape), 1e-8)
        assert np.linalg.eigvalsh(made.matrix(y)).min() > -1e-12
        found.append(made.gradient(y))
        assert made.bound.lag(kernel.points(y))
    assert np.abs(found[0] - found[1]).max() > 1e-4


def test_large_motion_is_normal_and_lighthills():
    """An arc of a circle that turns about its end, in wind: the work on displacements is that of

        f = -mu n (n.a + 2 n.dv/dc + n.d2x/dc2 - w_n^2/2 n.d2x/dt2),

    to second order; the part along the sheet vanishes with the faces. In small motion that is
    -mu (d/dt + U d/ds)^2 y.
    """
    R, spin, faster = 0.7, 1.9, 5.0  # [m], [1/s], [1/s^2]
    error, along = [], []
    for cells in (20, 40, 80):
        s, mesh = strip(cells)
        z = np.array(mesh.vertices[:, 2])
        _, tangent, n, x, v, acceleration = _arc(s, z, R, spin, faster)
        M, load = AddedMass(mesh, TURNED_WIND, SPAN).load(x @ TURN.T, v @ TURN.T, 0.0)
        g = ((M @ (acceleration @ TURN.T)[..., None])[..., 0] + load) @ TURN
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


def test_a_slender_plate_has_its_lift_once():
    """At an incidence, in crossflow: what leaves at the trailing edge, pi/4 rho H^2 U^2 sin a cos a
    across the plate, Jones's lift of slender wings and what of it is drag, and half of sin^2 a
    along it; and rho C H L (U sin a)^2/2 along the normal.
    """
    s, mesh = strip(20)
    a = np.radians(10)
    x = np.stack([s * np.cos(a), s * np.sin(a), np.array(mesh.vertices[:, 2])], 1)
    wind = dataclasses.replace(WIND, drag=1.1, lift=1.1, crossflow=True)
    n, t = np.array([-np.sin(a), np.cos(a), 0.0]), np.array([np.cos(a), np.sin(a), 0.0])
    reactive = -AddedMass(mesh, TURNED_WIND, SPAN).load(x @ TURN.T, 0 * x, 0.0)[1].sum(0) @ TURN
    leaving = np.sin(a) * np.cos(a) * n + np.sin(a) ** 2 / 2 * t
    np.testing.assert_allclose(reactive, -MU * SPAN * U**2 * leaving, atol=1e-9)
    at = still(x, dt=0.01, span=0.01)
    resistive = -scatter(frozen_air(AirForce(linear_triangle(mesh), wind), at), x).sum(0)
    size = 0.5 * DENSITY * 1.1 * SPAN * (U * np.sin(a)) ** 2
    np.testing.assert_allclose(resistive, -size * n, atol=1e-12)


def carried(scene, span):
    """The scene with added mass among its own energies."""
    return scene.with_(energies=AddedMassSettings(span).energies(scene))


INTEGRATORS = ("backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_sheet_starts_to_fall_with_the_air_before_it(integrator):
    """In still air, level: g rho_s/(rho_s + mu), with every integrator."""
    cloth = weft.sheet(5, 5, 0.5, 0.5)
    wind = Wind(density=1.2, drag=1e-9, lift=0.0)
    scene = weft.Scene(cloth, wind=wind, integrator=integrator, step=1e-3, damping=0.0)
    *_, (state, _, report) = steps(carried(scene, 0.5), 3)
    density = cloth.fabric.density
    part = density / (density + np.pi / 4 * 1.2 * 0.5)
    np.testing.assert_allclose(state.v[:, 1], -9.81 * part * 3e-3, rtol=1e-3)
    assert "added mass" in report.terms


@pytest.mark.filterwarnings("ignore:fabric.*all fabrics")
def test_order_stays_two():
    """Lagged quantities are extrapolated: half the step, a quarter of the error, with bdf2."""
    fabric = {"preset": "freecloth", "stretch": "20 N/m", "shear": "5 N/m", "bending": "1e-3 N*m"}

    def swing(n):
        cloth = weft.sheet(4, 4, 0.4, 0.4, fabric=fabric)
        wind = Wind((2.0, 0.5, 1.0))
        # At 1e-9 m/s a step of 0.6 ms ends within round-off of its minimum, and may stall there.
        settings = weft.StepSettings(tolerance=1e-7, linear="splu")
        how = {"integrator": "bdf2", "settings": settings, "damping": 0.0, "wind": wind}
        scene = carried(weft.Scene(cloth, [weft.Pin(cloth.border("top"))], step=1e-3, **how), 0.2)
        *_, (state, _, _) = steps(scene, n, 0.2 / n)
        return state.x

    a, b, c = (swing(80 * 2**i) for i in range(3))
    got = np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c))
    assert got == pytest.approx(2.0, abs=0.15)


def ribbon(span=0.1, **changes):
    cloth = weft.sheet(9, 4, 0.4, 0.1, fabric="silk")
    given = {"wind": Wind((4.0, 0.3, 0.1)), "step": 2e-3, "integrator": "bdf2"}
    scene = weft.Scene(cloth, [weft.Pin(cloth.border("left"))], **{**given, **changes})
    return carried(scene, span)


def test_points_besides_the_cloths():
    """Those of a rigid body come after the cloth's, and carry nothing."""
    body = dataclasses.replace(box((0.1, 0.1, 0.1)).move((0, -1, 0)), rigid=Rigid(mass=0.1))
    scene = ribbon(bodies=[body])
    model, state, _ = stepped(scene, 1)
    assert len(state.x) == scene.cloth.n_vertices + 4
    term = next(t for t in model.assembly.terms if t.name == "added mass")
    M = kernel.numpy(term.air.M)
    assert len(M) == len(state.x) and not M[-4:].any() and M[:-4].any()


def test_long_steps_are_warned_of():
    """Where the air is heavy and passes many faces."""
    mu = np.pi / 4 * 1.2 * 0.1
    share = mu / (mu + ribbon().cloth.fabric.density)
    most = 0.5 / share * np.sqrt(0.05 * 0.1 / 3) / np.linalg.norm([4.0, 0.3, 0.1])
    ribbon(step=0.99 * most)
    with pytest.warns(UserWarning, match=f"added_mass: .*a step of {most:.2g} s or less"):
        ribbon(step=1.01 * most)


def test_errors_of_added_mass():
    with refused(SceneError, "span"):
        AddedMassSettings(0.0)
    with refused(SceneError, "added_mass"):
        carried(weft.Scene(weft.spline_sheet(6, 6), wind=Wind()), 0.1)
    with refused(SceneError, "added_mass"):
        carried(weft.Scene(weft.sheet(3, 3)), 0.1)
    with refused(SceneError, "added_mass"):
        stepped(ribbon(integrator="quasi_static"), 1)
    with refused(SceneError, ("parameter rest", "energy added mass")):
        scene = carried(hung(wind=Wind((1.0, 0.0, 0.0))), 0.1)
        weft.Adjoint(scene, noise(scene.cloth.n_vertices), ["rest"], frames=1, fps=100)()


def linear_field(x, t):
    return np.stack([1 + 2 * x[:, 1], x[:, 2] - t, 0.5 * x[:, 0] * x[:, 1]], axis=1)


def a_grid(frames=3):
    spacing, origin, times = np.array([0.5, 0.25, 0.4]), [-1.0, 0.0, -0.4], np.arange(frames) * 0.5
    nodes = np.stack(np.meshgrid(*(np.arange(n) for n in (5, 4, 3)), indexing="ij"), -1)
    places = (origin + nodes * spacing).reshape(-1, 3)
    velocity = np.stack([linear_field(places, t).reshape(5, 4, 3, 3) for t in times])
    return WindGrid(velocity, origin, spacing, times)


def test_a_grid_is_linear_between_nodes_and_ends_at_its_border(device, rng):
    """A function that is linear along every axis and in time is exact; outside, the nearest
    place.
    """
    wind = Wind(field=a_grid())
    x = rng.uniform([-1, 0, -0.4], [1, 0.75, 0.4], size=(50, 3))
    for t in (0.0, 0.3, 0.7, 1.0):
        np.testing.assert_allclose(wind.at(x, t), linear_field(x, t), atol=1e-12)
    np.testing.assert_allclose(wind.at(x, 5.0), linear_field(x, 1.0), atol=1e-12)
    x[:, 0] = 1.0
    np.testing.assert_allclose(wind.at(x + [8, 0, 0], 0.2), linear_field(x, 0.2), atol=1e-12)


BAD = {
    ("wind_grid times", "3,", "3 times"): lambda: dataclasses.replace(
        a_grid(), times=[0.0, 0.0, 1.0]
    ),
    "wind_grid spacing": lambda: dataclasses.replace(a_grid(), spacing=[0.0, 1.0, 1.0]),
    ("wind_grid.file", "no-such.npz"): lambda: WindGrid.load("no-such.npz"),
    "wind_grid.file": lambda: WindGridSettings(),
}


@pytest.mark.parametrize("said", BAD)
def test_errors_of_grids(said):
    with refused(SceneError, said):
        BAD[said]()


FILE = """\
cloth: {sheet: {nx: 9, ny: 4, width: 40 cm, height: 10 cm}, fabric: silk}
pins: [{border: left}]
step: 2 ms
integrator: bdf2
seconds: 60 ms
fps: 100
"""
WINDY = """\
wind:
  velocity: [{keys: [[0 s, 4 m/s], [1 s, 8 m/s]]}, 30 cm/s, 10 cm/s]
  density: {keys: [[0 s, 1.2], [1 ms, 2.4]]}
  gusts: {intensity: 0.2, length: 50 cm}
added_mass: {span: {keys: [[0 s, 2 cm], [60 ms, 10 cm]]}}
"""
PROGRAM = """
import json
import numpy as np
import weft
from weft.scene.build import load_scene

def shown(name, *changes):
    try:
        load_scene(name, changes)
    except weft.WeftError as error:
        return str(error)

scene = load_scene("windy.yaml").scene
model = weft.prepare(scene).model
model.assembly.take(1.0)
terms = {t.name: t.energy for t in model.assembly.terms if hasattr(t, "energy")}

on_grid = load_scene("grid.yaml").scene
uniform = on_grid.with_(wind_grid=None, wind=weft.Wind((1.0, 2.0, 3.0)))
runs = [weft.simulate(s, frames=1, fps=100, progress=False) for s in (on_grid, uniform)]

free = load_scene("free.yaml").scene
rng = np.random.default_rng(0)
weight = rng.normal(size=(16, 3))
def loss(x, v, t):
    by_x = np.zeros_like(x)
    by_x[-1] = weight
    return float((by_x * x).sum()), by_x, np.zeros_like(v)
names = ["added_mass.span", "wind.velocity", "wind.density", "fabric.density", "fabric.shear"]
adjoint = weft.Adjoint(free, loss, names, frames=2, fps=100.0)
found, quotients = adjoint(), {}
for name in names:
    value, gradient = np.asarray(adjoint.parameter(name).value, float), found.gradient[name]
    h, way = 1e-4 * np.abs(value).max(), np.ones(value.shape)
    ends = [adjoint.with_values({name: value + s * h * way}).value() for s in (1, -1)]
    quotients[name] = [float((gradient * way).sum()), (ends[0] - ends[1]) / (2 * h)]
print(json.dumps({
    "offsets": [terms[n].wind.gust_offset for n in ("added mass", "wind")],
    "density": terms["added mass"].wind.density,
    "grid": float(np.abs(runs[0].positions(1) - runs[1].positions(1)).max()),
    "wrong": [
        shown("grid.yaml", "wind_grid.file=none.npz"),
        shown("grid.yaml", "wind.velocity=[1, 0, 0]"),
        shown("windy.yaml", "added_mass.span=-1 cm"),
        shown("splines.yaml"),
    ],
    "quotients": quotients,
}))
"""


@pytest.mark.campaign
def test_scene_blocks(tmp_path):  # 10 s: a process of its own, with eleven runs for derivatives
    """Keyframes, files, errors and gradients, as the engine's blocks."""
    install(tmp_path / "packages", "air", "weft_air", "")
    (tmp_path / "packages" / "weft_air.py").unlink()
    (tmp_path / "windy.yaml").write_text(FILE + WINDY)
    splines = FILE.replace("fabric: silk", "fabric: silk, discretization: bspline")
    (tmp_path / "splines.yaml").write_text(splines + "wind: {}\nadded_mass: {span: 10 cm}\n")
    (tmp_path / "grid.yaml").write_text(FILE + "wind_grid: {file: air.npz}\n")
    free = FILE.replace("nx: 9", "nx: 4").replace("integrator: bdf2\n", "").replace("2 ms", "10 ms")
    free += "wind: {velocity: [1 m/s, 20 cm/s, 50 cm/s]}\nadded_mass: {span: 30 cm}\n"
    free += "integrator: {backward_euler: {tolerance: 1e-9 m/s}}\n"
    (tmp_path / "free.yaml").write_text(free)
    uniform = np.tile([1.0, 2.0, 3.0], (2, 2, 2, 1))
    np.savez(tmp_path / "air.npz", velocity=uniform, origin=np.zeros(3), spacing=np.ones(3))
    out, _ = python(PROGRAM, tmp_path / "packages", EXAMPLE, cwd=tmp_path)
    told = json.loads(out.splitlines()[-1])
    first, second = told["offsets"]  # the same air for added mass as for drag
    assert first == second and first[0] == pytest.approx(6.0) and told["density"] == 2.4
    assert told["grid"] < 1e-14
    missing, both, span, splined = told["wrong"]
    assert "wind_grid.file" in missing and "none.npz" in missing
    assert "wind_grid" in both and "one of them" in both
    assert "added_mass.span" in span and "> 0" in span
    assert "added_mass" in splined and "cloth of triangles" in splined
    for ours, differences in told["quotients"].values():
        assert ours == pytest.approx(differences, rel=1e-5)


@pytest.mark.parametrize(
    "beam, u, omega",
    [
        (Beam(0.00023, 61.1), 6.15, 21.3),
        (Beam(0.00203, 42.4), 5.62, 19.5),
        (flutter.HUNG, *flutter.DAMPED),
    ],
)
def test_hanging_pipes_of_the_book(beam, u, omega):
    """Paidoussis 1998, table 3.4, without damping and with: to all its digits."""
    got = beam.critical()
    assert got == pytest.approx((u, omega), abs=0.05) and abs(got[0] - u) < 0.0066


@pytest.mark.parametrize("beam, u", [(flutter.LEVEL, 5.4), (flutter.HUNG, 5.75)])
def test_wefts_strip_moves_as_the_theory_has_it(beam, u):
    """Rate and frequency at a speed."""
    rate = beam.motion(u)[0]
    got = flutter.root(beam, u, segments=20)
    assert got.imag == pytest.approx(rate.imag, rel=0.03)
    assert got.real == pytest.approx(rate.real, abs=0.02 * rate.imag)


def test_drag_across_leaves_the_onset_where_it_is():
    """In crossflow it is of second order; else it is a lift that slender strips do not have."""
    size, drag = {"segments": 10, "step": 0.012}, {"drag": 1.1, "lift": 1.1}
    rate = flutter.root(flutter.LEVEL, 5.6, **size)
    same = flutter.root(flutter.LEVEL, 5.6, **size, **drag, crossflow=True)
    other = flutter.root(flutter.LEVEL, 5.6, **size, **drag)
    assert abs(same - rate) < 0.02 * abs(rate)
    assert abs(other - rate) > 0.2 * abs(rate)
