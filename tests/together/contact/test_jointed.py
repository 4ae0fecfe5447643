"""Joints, ropes and springs between rigid bodies: derivatives, what they hold, motions, runs, air,
and bad input. Closed forms of motions: ``weft validate jointed``.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import assert_derivative, clamp, dense, rotations, scatter
from tests.refusals import refused
from tests.stepping import stepped
from tests.together.contact.test_rigid import AWAY, door_and_bead, scene_of
from weft import kernel
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.contact import Joint, Rigid, box, plate, sphere
from weft.energies.springs.joint_springs import Guides
from weft.energies.springs.point_springs import PointSprings
from weft.integrators.bdf2 import Bdf2
from weft.kernel import vec3
from weft.plugins.lab.validate.jointed import double
from weft.plugins.lab.validate.rigid import RigidScene, rigid_body
from weft.run.plausibility import about_joints
from weft.scene.build import load_scene
from weft.scene.identity import identity
from weft.scene.prepare import prepare
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

FIRM = ("ball", "hinge", "slider", "fixed_rotation", "weld")
AXIS = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
POINT = np.array([0.2, 0.4, 0.1])


def pair(kind, first=0, **how):
    """Two bodies, the first with a joint to the second."""
    joint = Joint(kind, tuple(POINT), tuple(AXIS), to="other", **how)
    one = AffineBody(box((0.1, 0.2, 0.3), 0.3, "one"), Rigid(1e3, joints=[joint]), first)
    other = box((0.2, 0.1, 0.1), 0.3, "other").move((0.5, 0.1, 0.0), None, (10, 20, 30))
    return RigidBodies([one, AffineBody(other, Rigid(1e3), first + 4)], first + 8)


def joints_of(rigid_bodies):
    return rigid_energies(rigid_bodies)[1:]


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
    for energy in joints_of(rigid_bodies):
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
    energy = next(e for e in joints_of(rigid_bodies) if isinstance(e, Guides))
    x = np.concatenate([np.ones((2, 3)), rigid_bodies.points + 0.03 * rng.normal(size=(8, 3))])
    pattern = BlockPattern.of(len(x), [energy.stencil])
    bound, point, g = energy.bind(pattern), kernel.array(x, vec3), kernel.zeros(len(x), vec3)
    assert bound.value(point) == pytest.approx(energy.value(x).sum(), rel=1e-12)
    bound.add_gradient(point, g)
    force = scatter(energy, x)
    np.testing.assert_allclose(kernel.numpy(g), force, atol=1e-12 * np.abs(force).max())
    A = BlockCsr.zeros(pattern)
    bound.add_hessian(point, psd, A.begin()).finish()
    found = A.to_scipy().toarray()
    exact = energy.hessian(x)
    wanted = np.zeros_like(found)
    for ids, local in zip(energy.stencil, exact):
        own = (3 * ids[:, None] + np.arange(3)).reshape(-1)
        block = local.transpose(0, 2, 1, 3).reshape(24, 24)
        if psd is Psd.PROJECTED:
            block = clamp(block[None])[0]
        wanted[np.ix_(own, own)] += block
    if psd is Psd.GAUSS_NEWTON:
        assert np.linalg.eigvalsh(found).min() > -1e-9 * np.abs(found).max()
        return
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(exact).max())


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
        energy = sum(e.value(y).sum() for e in joints_of(pair(kind)))
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


def test_a_crank_turns_what_is_jointed_to_it():
    """A weld and a hinge to a body on a path: one turns with it, the other is carried."""
    turning = Path([Keyframe(0.0), Keyframe(0.2, (0.1, 0.0, 0.0), 0.8)], "linear", hold=True)
    crank = box((0.1, 0.1, 0.1), 0.1, "crank").move((0, 0, 0), turning)
    arm = rigid_body(
        box((0.2, 0.04, 0.04), 0.2, "arm").move((0.17, 0.0, 0.0)),
        mass=0.1,
        joints=[Joint("weld", to="crank")],
    )
    flag = rigid_body(
        box((0.04, 0.04, 0.2), 0.2, "flag").move((0.0, 0.0, 0.17)),
        mass=0.1,
        joints=[Joint("hinge", (0.0, 0.0, 0.06), (0.0, 0.0, 1.0), to="crank")],
    )
    scene = scene_of([crank, arm, flag], gravity=(0.0, 0.0, 0.0))
    model, state, _ = stepped(scene, 20)
    x = np.asarray(state.x)
    for body, expected in zip(model.rigid_bodies.affine, ((0.17, 0.0, 0.0), (0.0, 0.0, 0.17))):
        c, s = np.cos(0.8), np.sin(0.8)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        got = x[body.own].mean(0)
        np.testing.assert_allclose(got, turn @ expected + (0.1, 0.0, 0.0), atol=1e-3)
        np.testing.assert_allclose(body.shape(x)[0], turn, atol=2e-2)
    with refused(SceneError, "arm.rigid.joints 0.to", got="slider to 'crank'"):
        slid = dataclasses.replace(arm, rigid=Rigid(1e3, joints=[Joint("slider", to="crank")]))
        prepare(scene_of([crank, slid]))


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


def swing(folder, frames, resume=False, **more):
    """Two boxes on a hinge, on ropes of which one is cut, with a spring between, in a wind."""
    left = Joint(
        "rope",
        (-0.1, 0.0, 0.0),
        at=(-0.1, 0.2, 0.0),
        name="cut",
        release=weft.Release(when=lambda held: held.t > 0.09),
    )
    right = Joint("rope", (0.1, 0.0, 0.0), at=(0.1, 0.2, 0.0), name="kept")
    hinge = Joint("hinge", (0.0, -0.06, 0.0), (0.0, 0.0, 1.0), to="upper")
    spring = Joint(
        "spring", (0.1, -0.1, 0.0), to="upper", at=(0.1, 0.0, 0.0), stiffness=5.0, damping=0.05
    )
    upper = rigid_body(
        box((0.24, 0.03, 0.03), 0.3, "upper"),
        mass=0.1,
        joints=[left, right],
        spin=(0.0, 0.0, 0.5),
        air=True,
    )
    lower = rigid_body(
        box((0.24, 0.03, 0.03), 0.3, "lower").move((0.0, -0.1, 0.0)),
        mass=0.1,
        joints=[hinge, spring],
        air=True,
    )
    scene = scene_of(
        [upper, lower], AWAY, wind=weft.Wind(velocity=(0.0, 0.0, 2.0)), integrator="bdf2", **more
    )
    return weft.simulate(scene, frames=frames, fps=50, out=folder, resume=resume, progress=False)


def test_runs_resume_bitwise(tmp_path):
    """What a rope has let go of is in checkpoints; joints, springs and air go on as they were."""
    whole = swing(tmp_path / "whole", 10)
    held = [m["attachments"]["cut"]["holds"] for m in whole.metrics]
    assert held[0] == 1 and held[-1] == 0 and held == sorted(held, reverse=True)
    first = next(m["frame"] for m in whole.metrics if m["attachments"]["cut"]["holds"] == 0)
    assert 1 <= first < 10
    swing(tmp_path / "parts", first)
    parts = swing(tmp_path / "parts", 10, resume=True)
    np.testing.assert_array_equal(whole.body_positions(10), parts.body_positions(10))
    last = whole.metrics[-1]
    assert {"cut", "kept", "spring 1 of lower", "joints", "wind on bodies"} <= (
        last["energies"].keys()
    )
    assert last["attachments"] == parts.metrics[-1]["attachments"]
    assert whole.metrics[-1]["bodies"][0]["center"][2] > 1e-4  # blown


def test_identity_knows_what_joints_are():
    """`to`, ropes and air make another one; what is not given is left out."""
    body, plain = sphere(0.1, 0.05, "ball"), Joint("ball", (0.0, 1.0, 0.0))
    other = rigid_body(sphere(0.1, 0.05, "other").move((0.3, 0, 0)), mass=1.0)

    def described(**how):
        wind = weft.Wind() if how.get("air") else None
        scene = scene_of([rigid_body(body, mass=1.0, **how), other], wind=wind)
        return identity(scene)["bodies"][0]["rigid"]

    (known,) = described(joints=[plain])["joints"]
    assert known["kind"] == "ball" and known["point"] == [0.0, 1.0, 0.0] and "at" not in known
    assert described(air=True) == {**described(), "air": True}
    jointed = described(joints=[dataclasses.replace(plain, to="other")])["joints"][0]
    assert jointed == {**known, "to": "other"}
    released = Joint("rope", to="other", release=weft.Release(at=1.0))
    assert described(joints=[released])["joints"][0]["release"]["at"] == 1.0


def test_a_rope_is_not_called_as_an_energy_is():
    rope = Joint("rope", at=(0.0, 0.5, 0.0), name="membrane")
    scene = scene_of([rigid_body(box((0.2, 0.2, 0.02), 0.2, "sail"), mass=0.2, joints=[rope])])
    with refused(SceneError, "name of a joint", got="'membrane'"):
        prepare(scene)


def test_a_plate_in_a_wind_is_carried_off():
    """At rest in air that flows it is pushed with 1/2 rho C_D A w^2; without a wind it is refused,
    and wind may change in time.
    """
    made_plate = rigid_body(box((0.2, 0.2, 0.01), 0.2, "sail"), mass=0.05, air=True)
    still = {"gravity": (0.0, 0.0, 0.0)}
    scene = scene_of([made_plate], wind=weft.Wind(velocity=(0.0, 0.0, 3.0)), **still)
    _, state, _ = stepped(scene, 1, 1e-4)
    rim = 2 * 0.2 * 0.01
    push = 0.5 * 1.2 * 9.0 * (1.17 * 0.04 + 0.05 * rim)
    assert state.v[-4:, 2].mean() == pytest.approx(push / 0.05 * 1e-4, rel=1e-3)
    with refused(SceneError, "sail.rigid.air"):
        prepare(scene_of([made_plate]))
    keyed = {"wind.velocity.2": weft.Keys([(0.0, 0.0), (0.1, 5.0)])}
    scene = scene_of([made_plate], wind=weft.Wind(), keyed=keyed, **still)
    assert stepped(scene, 10)[1].v[-4:, 2].mean() > 1e-2


def test_a_ball_in_a_wind():
    """C = 2 (C_D - C_L) + 2/3 C_L, of its circle: half of the sum over its surface."""
    ball = rigid_body(sphere(0.1, 0.02, "ball"), mass=0.05, air=True)
    wind = weft.Wind(velocity=(0.0, 0.0, 3.0))
    _, state, _ = stepped(scene_of([ball], wind=wind, gravity=(0.0, 0.0, 0.0)), 1, 1e-4)
    push = 0.5 * 1.2 * 9.0 * np.pi * 0.01 * (2 * 0.05 + 2 / 3 * 1.12)
    assert state.v[-4:, 2].mean() == pytest.approx(push / 0.05 * 1e-4, rel=2e-2)


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
@pytest.mark.parametrize("bodies", [door_and_bead, chain, arm_in_socket])
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


def test_jointed_bodies_that_overlap_do_not_meet_where_a_pair_says_so():
    """An arm in its socket: refused, unless the pair is ignored; then it swings."""
    with refused(SceneError, "bodies at the start", got="socket and arm"):
        prepare(scene_of(arm_in_socket()))
    contact = weft.SelfContact(gap=2e-3, pairs=(IGNORED,))
    scene = scene_of(arm_in_socket(), contact=contact)
    _, state, _ = stepped(scene, 5)
    assert np.asarray(state.x)[-4:, 1].mean() < -5e-3


def test_a_sail_in_equilibrium_leans_by_its_drag():
    """On a rope from its center, tan of the angle is drag over weight, with `quasi_static`."""
    rope = Joint("rope", at=(0.0, 0.5, 0.0), name="line")
    sail = rigid_body(
        box((0.2, 0.2, 0.02), 0.2, "sail"),
        mass=0.2,
        air=True,
        joints=[rope, Joint("fixed_rotation")],
    )
    scene = scene_of([sail], wind=weft.Wind(velocity=(0.0, 0.0, 4.0)), integrator="quasi_static")
    _, state, _ = stepped(scene, 1)
    drag = 0.5 * 1.2 * 16.0 * (1.17 * 0.04 + 0.05 * 2 * 0.2 * 0.02)
    x, y, z = np.asarray(state.x)[-4:].mean(0)
    assert z / (0.5 - y) == pytest.approx(drag / (0.2 * 9.81), rel=1e-4) and abs(x) < 1e-6


def test_far_anchors_are_asked_about():
    """Those farther from a body than it is large, at both ends."""
    near = rigid_body(
        box((0.1, 0.1, 0.1), 0.1, "near"), mass=1.0, joints=[Joint("ball", (0.0, 0.12, 0.0))]
    )
    far = rigid_body(
        box((0.1, 0.1, 0.1), 0.1, "far").move((1, 0, 0)),
        mass=1.0,
        joints=[
            Joint("ball", (1.0, 0.5, 0.0)),
            Joint("rope", (1.0, 0.0, 0.0), to="near", at=(0.5, 0.0, 0.0)),
        ],
    )
    said = list(about_joints([near, far]))
    assert len(said) == 2
    assert "far.rigid.joints 0: its point is 0.45 m from far, which is 0.1 m large" in said[0]
    assert "far.rigid.joints 1: its at is 0.45 m from near" in said[1]


def jointed(*others, bodies=(), integrator="backward_euler", **how):
    """The model of an arm with a joint, and with other joints."""
    joints = [Joint(**how), *others]
    arm = rigid_body(box((0.1, 0.1, 0.1), 0.1, "arm"), mass=1.0, joints=joints)
    return prepare(scene_of([arm, *bodies], integrator=integrator)).model


TWINS = [plate(1, 1, name="twin").move((0, y, 0)) for y in (1, 2)]
REFUSED = {
    "itself": (lambda: jointed(to="arm"), ("arm.rigid.joints 0.to", "'arm'")),
    "unknown": (lambda: jointed(to="amr"), ("joints 0.to", "'amr'", "'arm'")),
    "twins": (lambda: jointed(to="twin", bodies=TWINS), ("joints 0.to", "2 bodies", "'twin'")),
    "short rope": (
        lambda: jointed(kind="rope", at=(0, 1, 0), length=0.9),
        ("joints 0.length", "0.9 m", "1 m"),
    ),
    "no rope": (lambda: jointed(kind="rope", at=(0, 0, 0)), ("length", "apart")),
    "spring": (
        lambda: jointed(kind="spring", at=(0, 0, 0), length=1.0, stiffness=1.0),
        ("length", "apart"),
    ),
    "no end": (lambda: Joint("rope"), ("joints.at", "rope", "`to`")),
    "no stiffness": (lambda: Joint("spring", at=(0, 1, 0)), ("stiffness", "spring")),
    "rope damping": (lambda: Joint("rope", at=(0, 1, 0), damping=1.0), ("damping", "spring")),
    "ball length": (lambda: Joint("ball", length=1.0), ("length", "kind ball", "rope or spring")),
    "ball release": (lambda: Joint("ball", release=weft.Release(at=1.0)), ("release", "kind ball")),
    "at": (lambda: Joint("rope", at=(0, np.nan, 0)), "joints.at"),
    "names": (
        lambda: jointed(Joint("rope", at=(0, 2, 0), name="a"), kind="rope", at=(0, 1, 0), name="a"),
        ("joints 1.name", "'a'"),
    ),
    "equilibria": (
        lambda: jointed(
            kind="rope", at=(0, 1, 0), release=weft.Release(force=1.0), integrator="quasi_static"
        ),
        ("joints 0.release", "quasi_static"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, words = REFUSED[case]
    with refused(SceneError, words):
        make()


def test_scene_files(tmp_path):
    """Units, ends and releases of joints; what is wrong, at its line; what is explained."""
    text = """cloth: {sheet: {nx: 3, ny: 3}, translation: [3, 0, 0]}
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
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    _, arm = load_scene(path).scene.bodies
    hinge, rope = arm.rigid.joints
    assert hinge.to == "post" and hinge.point == (0.1, 0.0, 0.0) and arm.rigid.air
    assert rope.length == 1.2 and rope.release == weft.Release(at=2.0) and rope.name == "line"
    path.write_text(text.replace("to: post", "to: pots"))
    with refused(WeftError, "joints 0.to", got="'pots'", hint="'post'"):
        load_scene(path)
    path.write_text(text.replace("length: 120 cm", "length: -1 m"))
    with refused(WeftError, "joints.1.length", where="scene.yaml:12"):
        load_scene(path)
    from weft.scene.explain import explain

    _, lines = explain("scene.bodies.rigid.joints")
    said = {line.path.rsplit(".", 1)[-1]: line.meaning for line in lines}
    fields = {f.name for f in dataclasses.fields(Joint)}
    assert fields <= said.keys() and "weld" in said["kind"] and "rope" in said["length"]


def test_momentum_of_a_chain_in_the_void():
    """Bodies on a slider and a spring, with spin: what all of them have together stays."""
    spring = Joint("spring", (0.0, 0.1, 0.0), to="b", at=(0.3, 0.1, 0.0), stiffness=50.0)
    bodies = [
        rigid_body(
            box((0.1, 0.1, 0.1), 0.1, "a"),
            mass=0.2,
            spin=(1.0, 2.0, 3.0),
            joints=[Joint("slider", axis=(1.0, 0.0, 0.0), to="b"), spring],
        ),
        rigid_body(
            box((0.1, 0.2, 0.1), 0.2, "b").move((0.3, 0.0, 0.0)),
            mass=0.4,
            velocity=(0.0, 0.5, 0.0),
        ),
    ]
    world = RigidScene.of(bodies, (0.0, 0.0, 0.0))

    def moments(state):
        p = np.asarray(world.model.mass)[-8:, None] * np.asarray(state.v)[-8:]
        return p.sum(0), np.cross(np.asarray(state.x)[-8:], p).sum(0)

    before = moments(world.state)
    # Increments below 2e-11 m are not told from round-off by the energies of stiff joints.
    *_, state = world.run(Bdf2(weft.StepSettings(tolerance=1e-7)), 0.1, 2e-3)
    after = moments(state)
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    np.testing.assert_allclose(after[1], before[1], atol=2e-3 * np.abs(before[1]).max())
    _, turned = (a.shape(np.asarray(state.x))[0] for a in world.model.rigid_bodies.affine)
    one, two = (np.asarray(state.x)[a.own].mean(0) for a in world.model.rigid_bodies.affine)
    off = (one - two) - turned @ (-0.3, 0.0, 0.0)
    assert np.abs(np.cross(off, turned @ (1.0, 0.0, 0.0))).max() < 1e-5
