"""Joints, ropes and springs between rigid bodies: derivatives, what they hold, motions, runs, air,
and bad input. Closed forms of motions: ``weft validate jointed``.
"""

from functools import partial

import numpy as np
import pytest

import weft
from tests.checks import InStep, assert_derivative, clamp, dense, rotations, scatter
from tests.refusals import refused
from tests.stepping import stepped
from tests.together.contact.test_rigid import AWAY, scene_of
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.contact import Joint, Rigid, box, plate, sphere
from weft.energies.springs.joint_springs import Guides
from weft.energies.springs.point_springs import PointSprings
from weft.plugins.lab.validate.jointed import double
from weft.plugins.lab.validate.rigid import rigid_body
from weft.run.plausibility import about_joints
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.solve.newton.psd import Psd

FIRM = ("ball", "hinge", "slider", "fixed_rotation", "weld")
AXIS = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
POINT = np.array([0.2, 0.4, 0.1])


def pair(kind, first=0, **how):
    """Two bodies, the first with a joint to the second."""
    joint = Joint(kind, tuple(POINT), tuple(AXIS), to="other", **how)
    one = AffineBody(box((0.1, 0.2, 0.3), 0.3, "one"), Rigid(1e3, joints=[joint]), first)
    other = box((0.2, 0.1, 0.1), 0.3, "other").move((0.5, 0.1, 0.0), None, (10, 20, 30))
    return RigidBodies([one, AffineBody(other, Rigid(1e3), first + 4)], first + 8)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def check_derivatives(energy, x, d):
    force = scatter(energy, x)
    assert_derivative(lambda y: energy.value(y).sum(), (force * d).sum(), x, d, 1e-7)
    exact = (dense(energy, x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: scatter(energy, y), exact, x, d, 1e-7)


@pytest.mark.parametrize("kind", FIRM)
def test_derivatives_and_balance(kind, rng):
    """Gradients and Hessians; forces between two bodies sum to zero. Turned with both bodies, they
    turn, and have no torque.
    """
    rigid_bodies = pair(kind)
    x = np.array(rigid_bodies.points) + 0.03 * rng.normal(size=(8, 3))
    for energy in rigid_energies(rigid_bodies)[1:]:
        check_derivatives(energy, x, rng.normal(size=x.shape))
        force = scatter(energy, x)
        size = np.abs(force).max()
        assert np.abs(force.sum(0)).max() < 1e-9 * size
        assert np.abs(np.cross(x, force).sum(0)).max() < 1e-9 * size
        R = rotations(1)[0]
        np.testing.assert_allclose(scatter(energy, x @ R.T + 1.0), force @ R.T, atol=1e-8 * size)


@pytest.mark.parametrize("psd", list(Psd))
def test_production_face_of_guides(psd, rng, device):
    """Value, gradient and matrix beside other points; projected, local Hessians are clamped."""
    rigid_bodies = pair("slider", first=2)
    energy = next(e for e in rigid_energies(rigid_bodies) if isinstance(e, Guides))
    x = np.concatenate([np.ones((2, 3)), rigid_bodies.points + 0.03 * rng.normal(size=(8, 3))])
    face, force = InStep(energy, len(x)), scatter(energy, x)
    assert face.value(x) == pytest.approx(energy.value(x).sum(), rel=1e-12)
    np.testing.assert_allclose(face.gradient(x), force, atol=1e-12 * np.abs(force).max())
    found = face.matrix(x, psd)
    exact = energy.hessian(x).transpose(0, 1, 3, 2, 4).reshape(-1, 24, 24)
    if psd is Psd.GAUSS_NEWTON:
        assert np.linalg.eigvalsh(found).min() > -1e-9 * np.abs(found).max()
        return
    wanted = (exact if psd is Psd.EXACT else clamp(exact)).sum(0)
    np.testing.assert_allclose(found[6:, 6:], wanted, atol=1e-9 * np.abs(exact).max())
    assert not found[:6].any() and not found[:, :6].any()


@pytest.mark.parametrize("kind", FIRM)
def test_what_joints_between_bodies_hold(kind):
    """Each joint lets through its own motions of one body in the frame of the other, wherever this
    has gone and turned, and holds all others.
    """
    turn, moved = rotations(2)
    K = np.cross(np.eye(3), AXIS)
    about = np.eye(3) * np.cos(0.7) + np.outer(AXIS, AXIS) * (1 - np.cos(0.7)) - K * np.sin(0.7)
    motions = {
        "turn about the point": lambda x: (x - POINT) @ turn.T + POINT,
        "turn about the axis": lambda x: (x - POINT) @ about.T + POINT,
        "slide": lambda x: x + 0.2 * AXIS,
        "move": lambda x: x + (0.1, -0.2, 0.3),
        "stay": lambda x: x,
    }
    free = {
        "ball": {"turn about the point", "turn about the axis"},
        "hinge": {"turn about the axis"},
        "slider": {"slide"},
        "fixed_rotation": {"slide", "move"},
        "weld": set(),
    }[kind] | {"stay"}
    x = np.array(pair(kind).points)
    for name, motion in motions.items():
        y = np.concatenate([motion(x[:4]), x[4:]]) @ moved.T + (1.0, -2.0, 0.3)
        energy = sum(e.value(y).sum() for e in rigid_energies(pair(kind))[1:])
        assert (energy < 1e-9) == (name in free), (name, energy)


def test_a_double_pendulum_to_second_order():
    """BDF2's distance from Lagrange's equations falls as h^2."""
    off = [np.abs(np.subtract(*double(h, 0.15))).max() for h in (6e-3, 3e-3)]
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "quasi_static"])
def test_a_chain_hangs(integrator):
    """Three links on ball joints and a rope, moved aside: links keep together, and come to hang."""
    weight = sphere(0.03, 0.03, "weight").move((0.0, -0.6, 0.0))
    rope = Joint("rope", to="link 2", at=(0.0, -0.39, 0.0), name="last")
    hung = rigid_body(weight, mass=0.2, joints=[rope])
    scene = scene_of([*chain(spin=0.0), hung], integrator=integrator)
    model, state, reports = stepped(scene, 2 if integrator == "quasi_static" else 12)
    joints = next(
        e for e in model.energies if e.name.startswith("joints") and e.stencil.shape[1] == 8
    )
    assert joints.coordinate(state.x).max() < 1e-5
    said = reports[-1].attachments["last"]
    rope = next(e for e in model.energies if isinstance(e, PointSprings) and e.strand)
    assert said["largest"] == pytest.approx(0.2 * 9.81, rel=0.1)
    assert rope.forces_along(state.x)[0, 0] == pytest.approx(said["largest"])


@pytest.mark.parametrize(
    "joint",
    [Joint("weld", to="crank"), Joint("hinge", (0.0, 0.0, 0.06), (0.0, 0.0, 1.0), to="crank")],
    ids=["weld", "hinge"],
)
def test_a_crank_turns_what_is_jointed_to_it(joint):
    """To a body on a path: it turns with it, by the axis of the hinge, too."""
    turning = Path([Keyframe(0.0), Keyframe(0.2, (0.1, 0.0, 0.0), 0.8)], "linear", hold=True)
    crank = box((0.1, 0.1, 0.1), 0.1, "crank").move((0, 0, 0), turning)
    flag = box((0.04, 0.04, 0.2), 0.2, "flag").move((0.0, 0.0, 0.17))
    flag = rigid_body(flag, mass=0.1, joints=[joint])
    model, state, _ = stepped(scene_of([crank, flag], gravity=(0.0, 0.0, 0.0)), 20)
    (body,), x = model.rigid_bodies.affine, np.asarray(state.x)
    c, s = np.cos(0.8), np.sin(0.8)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    expected = turn @ (0.0, 0.0, 0.17) + (0.1, 0.0, 0.0)
    np.testing.assert_allclose(x[body.own].mean(0), expected, atol=1e-3)
    np.testing.assert_allclose(body.shape(x)[0], turn, atol=2e-2)


def test_a_joint_to_a_body_that_stands_is_one_to_the_world():
    """To the last bit, with every kind."""
    for kind in FIRM:
        states = []
        for to in ("", "wall"):
            wall = plate(0.2, 0.2, 0.2, "wall").move((0.0, -0.5, 0.0))
            joint = Joint(kind, (0.0, 0.1, 0.0), (1.0, 0.3, 0.0), to=to)
            arm = rigid_body(
                box((0.2, 0.04, 0.04), 0.2, "arm"), mass=0.1, joints=[joint], spin=(0.3, 0.2, 0.1)
            )
            states.append(stepped(scene_of([arm, wall]), 2)[1].x)
        np.testing.assert_array_equal(*states)


@pytest.mark.parametrize(
    "body, area, rel",
    [
        (box((0.2, 0.2, 0.01), 0.2), 1.17 * 0.04 + 0.05 * 2 * 0.2 * 0.01, 1e-3),
        # C = 2 (C_D - C_L) + 2/3 C_L, of its circle: half of the sum over its surface
        (sphere(0.1, 0.02), np.pi * 0.01 * (2 * 0.05 + 2 / 3 * 1.12), 2e-2),
    ],
    ids=["plate", "ball"],
)
def test_a_plate_in_a_wind_is_carried_off(body, area, rel):
    """And a ball: at rest in air that flows they are pushed with 1/2 rho C_D A w^2."""
    made = rigid_body(body, mass=0.05, air=True)
    wind = weft.Wind(velocity=(0.0, 0.0, 3.0))
    _, state, _ = stepped(scene_of([made], wind=wind, gravity=(0.0, 0.0, 0.0)), 1, 1e-4)
    push = 0.5 * 1.2 * 9.0 * area
    assert state.v[-4:, 2].mean() == pytest.approx(push / 0.05 * 1e-4, rel=rel)


def chain(spin=3.0):
    """Three links on ball joints, of which the last one turns."""
    links = []
    for k in range(3):
        joint = Joint("ball", (0.0, -0.14 * k, 0.0), to=f"link {k - 1}" if k else "")
        spins = (0.0, 0.0, spin if k == 2 else 0.0)
        link = box((0.02, 0.1, 0.02), 0.2, f"link {k}").move((0.0, -0.07 - 0.14 * k, 0.0))
        links.append(rigid_body(link, mass=0.1, spin=spins, joints=[joint]))
    return links


def arm_in_socket():
    """An arm that swings on a hinge in its socket."""
    socket = rigid_body(box((0.1, 0.1, 0.1), 0.1, "socket"), mass=1.0, joints=[Joint("weld")])
    arm = rigid_body(
        box((0.2, 0.04, 0.04), 0.2, "arm").move((0.1, 0.0, 0.0)),
        mass=0.2,
        joints=[Joint("hinge", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), to="socket")],
    )
    return [socket, arm]


IGNORED = weft.contact.Between(("socket", "arm"), ignore=True)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize("bodies", [chain, arm_in_socket])
def test_every_linear_solver_moves_bodies_to_the_tolerance(bodies, integrator):
    """Of 1e-2 m/s, over 0.2 s; joints are stiff, and what they leave free is not."""
    pairs = (IGNORED,) if bodies is arm_in_socket else ()
    contact = weft.SelfContact(gap=2e-3, pairs=pairs)

    def moved(**settings):
        how = weft.StepSettings(**settings)
        scene = scene_of(bodies(), integrator=integrator, contact=contact, settings=how)
        return np.asarray(stepped(scene, 20)[1].x)[AWAY.n_vertices :]

    exact = moved(linear="splu", tolerance=1e-6)
    for linear in ("auto", "splu", "multigrid", "pcg"):
        assert np.abs(moved(linear=linear) - exact).max() < 1e-2 * 0.2, linear


def test_far_anchors_are_asked_about():
    """Those farther from a body than it is large, at both ends."""
    near = rigid_body(box((0.1, 0.1, 0.1), 0.1, "near"), mass=1.0)
    rope = Joint("rope", (1.0, 0.5, 0.0), to="near", at=(0.5, 0.0, 0.0))
    far = rigid_body(box((0.1, 0.1, 0.1), 0.1, "far").move((1, 0, 0)), mass=1.0, joints=[rope])
    point, at = about_joints([near, far])
    assert "far.rigid.joints 0: its point is 0.45 m from far, which is 0.1 m large" in point
    assert "far.rigid.joints 0: its at is 0.45 m from near" in at


def jointed(*others, bodies=(), air=False, integrator="backward_euler", **how):
    """The model of an arm with a joint, and with other joints."""
    joints, body = [Joint(**how), *others], box((0.1, 0.1, 0.1), 0.1, "arm")
    arm = rigid_body(body, mass=1.0, joints=joints, air=air)
    return prepare(scene_of([arm, *bodies], integrator=integrator)).model


def overlapping():
    return prepare(scene_of(arm_in_socket())).model


UP = {"kind": "rope", "at": (0, 1, 0)}
CRANK = plate(0.1, 0.1, name="crank").move((0, 1, 0), Path([Keyframe(0.0)], hold=True))
REFUSED = {
    "itself": (partial(jointed, to="arm"), ("arm.rigid.joints 0.to", "'arm'")),
    "unknown": (partial(jointed, to="amr"), ("joints 0.to", "'amr'", "'arm'")),
    "slider": (
        partial(jointed, kind="slider", to="crank", bodies=[CRANK]),
        ("arm.rigid.joints 0.to", "slider to 'crank'"),
    ),
    "short rope": (partial(jointed, **UP, length=0.9), ("joints 0.length", "0.9 m", "1 m")),
    "names": (partial(jointed, Joint(**UP, name="a"), **UP, name="a"), ("joints 1.name", "'a'")),
    "name of an energy": (partial(jointed, **UP, name="membrane"), ("name of a joint", "membrane")),
    "equilibria": (
        partial(jointed, **UP, release=weft.Release(force=1.0), integrator="quasi_static"),
        ("joints 0.release", "quasi_static"),
    ),
    "no wind": (partial(jointed, air=True), "arm.rigid.air"),
    "overlap": (overlapping, ("bodies at the start", "arm and socket")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, words = REFUSED[case]
    with refused(SceneError, words):
        make()


FILE = """cloth: {sheet: {nx: 3, ny: 3}, translation: [3, 0, 0]}
bodies:
  - {name: post, box: {width: 10 cm, height: 10 cm, depth: 10 cm}, rigid: {mass: 1 kg}}
  - name: arm
    box: {width: 10 cm, height: 10 cm, depth: 10 cm}
    translation: [20 cm, 0, 0]
    rigid:
      mass: 300 g
      air: true
      joints:
        - {kind: hinge, point: [10 cm, 0, 0], to: post}
        - {kind: rope, at: [20 cm, 1 m, 0], length: 120 cm, release: {at: 2 s}, name: line}
wind: {}
"""


def test_scene_files(tmp_path):
    """Units, ends and releases of joints; what is wrong, at its line."""
    path = tmp_path / "scene.yaml"
    path.write_text(FILE)
    _, arm = load_scene(path).scene.bodies
    hinge, rope = arm.rigid.joints
    assert hinge.to == "post" and hinge.point == (0.1, 0.0, 0.0) and arm.rigid.air
    assert rope.length == 1.2 and rope.release == weft.Release(at=2.0) and rope.name == "line"
    path.write_text(FILE.replace("length: 120 cm", "length: -1 m"))
    with refused(WeftError, "joints.1.length", where="scene.yaml:12"):
        load_scene(path)
