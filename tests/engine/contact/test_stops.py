"""Limits and motors of joints: derivatives, steps that end at limits, turns, keyframes, resume, and
what is refused. Closed forms: ``weft validate jointed``.
"""

import dataclasses
from functools import partial

import numpy as np
import pytest

import weft
from tests.checks import dense, derivative_error, scatter
from tests.refusals import refused
from tests.resuming import resumes_bitwise
from tests.together.scene.test_keys import check_jump, jump
from weft import kernel
from weft.base.errors import SceneError, SceneProblems
from weft.bodies.joints.motors import Drive, Motor
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.settings import Rigid
from weft.contact import box
from weft.energies.springs.joint_springs import JointLimits, Motors
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.solve.newton.psd import Psd

STEP = 0.01
AXIS = (0.3, 0.9, 0.2)
KINDS = {
    "hinge": {"kind": "hinge", "angles": (-0.6, 0.9), "motor": Motor(angle=0.4, stiffness=2.0)},
    "slider": {"kind": "slider", "way": (-0.05, 0.04), "drive": Drive(place=0.02, stiffness=30.0)},
    "ball": {"kind": "ball", "cone": 0.7},
    "weak": {"kind": "hinge", "motor": Motor(angle=0.4, stiffness=2.0, torque=0.1)},
}


def bodies(**joint):
    """Two, the first jointed to the world or to the second."""
    own = {"axis": AXIS, "point": None if joint["kind"] == "slider" else (0.05, 0.02, 0.0), **joint}
    one, two = box((0.1, 0.2, 0.3), 0.3, "one"), box((0.2, 0.1, 0.1), 0.2, "two")
    one = dataclasses.replace(one, rigid=Rigid(1e3, joints=[Joint(**own)]))
    return [one, dataclasses.replace(two.move((0.5, 0.1, 0.0)), rigid=Rigid(1e3))]


def scene(made, **more):
    cloth = weft.sheet(3, 3, 0.1, 0.1, fabric="cotton").move((5.0, 0, 0))
    pins = [weft.Pin(cloth.border("left"))]
    return weft.Scene(cloth, pins, bodies=made, step=STEP, **more)


def total(energy, x):
    return energy.value(x).sum()


@pytest.mark.parametrize("to", ["", "two"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind, to):
    """Against central differences, near the limits and inside, the bodies a little out of shape;
    no force and no torque on two bodies together.
    """
    made = bodies(to=to, **KINDS[kind])
    base = scene(made)
    rng = np.random.default_rng(3)
    for energy in (e for e in prepare(base).model.energies if isinstance(e, JointLimits | Motors)):
        wide = {"margin": energy.margin * 60} if isinstance(energy, JointLimits) else {}
        energy = dataclasses.replace(energy, **wide)  # so that they act at the start
        x = np.array(prepare(base).state.x)
        ids = np.unique(energy.stencil)
        x[ids] += 0.004 * rng.normal(size=(len(ids), 3))
        d = np.zeros_like(x)
        d[ids] = rng.normal(size=(len(ids), 3))
        g, along = scatter(energy, x), (dense(energy, x) @ d.reshape(-1)).reshape(-1, 3)
        assert np.abs(g).max() > 0
        assert derivative_error(partial(total, energy), (g * d).sum(), x, d)[0] < 1e-6
        assert derivative_error(partial(scatter, energy), along, x, d)[0] < 1e-5
        gauss = energy.hessian(x, Psd.GAUSS_NEWTON)
        m, k = gauss.shape[:2]
        full = np.moveaxis(gauss, 2, 3).reshape(m, 3 * k, 3 * k)
        assert np.linalg.eigvalsh(full).min() >= -1e-9 * np.abs(full).max()
        if to:
            assert np.abs(g.sum(0)).max() < 1e-9 * np.abs(g).max()
            moment = np.cross(x, g).sum(0)
            assert np.abs(moment).max() < 1e-9 * np.abs(g).max()


@pytest.mark.parametrize("to", ["", "two"])
@pytest.mark.parametrize("kind", ["hinge", "slider", "ball"])
def test_a_way_ends_at_the_limit(kind, to):
    """Where the parabola of a way meets a limit, the coordinate is that; nine tenths of it are
    gone, and what is beyond is infinite.
    """
    rng, met = np.random.default_rng(5), 0
    ready = prepare(scene(bodies(to=to, **KINDS[kind])))
    (stops,) = (e for e in ready.model.energies if isinstance(e, JointLimits))
    bound = next(b for b in ready.model.assembly.bound if b.name == stops.name)
    x, ids = np.array(ready.state.x), np.unique(stops.stencil)
    for _ in range(40):
        d = np.zeros_like(x)
        d[ids] = 0.4 * rng.normal(size=(len(ids), 3))
        device = [kernel.points(x), kernel.points(d)]
        part = kernel.least(bound.reaches(*device))
        for s in np.linspace(0, min(part, 1.0), 9)[:-1]:
            assert np.isfinite(stops.value(x + s * d)).all()
        if part <= 1.25:
            met += 1
            q = float(stops.coordinate(x + part * d)[0])
            ends = (float(stops.low[0]), float(stops.high[0]))
            assert min(abs(q - e) for e in ends if np.isfinite(e)) < 1e-9
            assert bound.max_step(*device) == pytest.approx(min(1.0, 0.9 * part))
            assert np.isinf(stops.value(x + (part + 1e-6) * d)).all()
    assert met > 5


def test_angles_count_whole_turns(tmp_path):
    """A motor of 20 rad/s for half a second turns a disk more than once; the angle of metrics is
    that of the disk, with whole turns.
    """
    disk = box((0.2, 0.02, 0.2), 0.2, "disk")
    motor = Motor(speed=20.0, resistance=0.05)
    joint = Joint("hinge", axis=(0.0, 1.0, 0.0), motor=motor, name="drum")
    disk = dataclasses.replace(disk, rigid=Rigid(mass=0.2, joints=[joint]))
    run = weft.simulate(scene([disk]), frames=5, fps=10, out=tmp_path / "a", progress=False)
    angle = run.metrics[-1]["attachments"]["drum"]["angle"]
    turn = np.array(run.metrics[-1]["bodies"][0]["rotation"])
    assert 1.2 * 2 * np.pi < angle < 10.0
    off = angle - np.arctan2(turn[0, 2], turn[0, 0])
    assert np.exp(1j * off) == pytest.approx(1.0, abs=1e-4)


def arm(angle=0.3, stiffness=2.0, damping=0.1, torque=0.5, **keyed):
    motor = Motor(angle=angle, stiffness=stiffness, damping=damping, torque=torque)
    joint = Joint("hinge", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angles=(-1.2, 1.2), motor=motor)
    body = box((0.24, 0.02, 0.02), 0.3, "arm").move((0.15, 0, 0))
    return scene([dataclasses.replace(body, rigid=Rigid(mass=0.2, joints=[joint]))], **keyed)


NUMBERS = {
    "angle": (0.3, -0.4),
    "stiffness": (2.0, 9.0),
    "torque": (0.5, 0.05),
}


@pytest.mark.parametrize("field", NUMBERS)
def test_numbers_of_motors_that_jump(field):
    before, after = NUMBERS[field]
    keyed = {f"bodies.0.rigid.joints.0.motor.{field}": jump(before, after)}
    check_jump(arm(**{field: before}, keyed=keyed), arm(**{field: before}), arm(**{field: after}))


FILE = """\
cloth: {sheet: {nx: 5, ny: 5, width: 20 cm, height: 20 cm}, translation: [0, 30 cm, 0], MADE}
bodies:
  - box: {width: 24 cm, height: 2 cm, depth: 2 cm}
    name: arm
    translation: [15 cm, 0, 0]
    rigid:
      mass: 200 g
      joints:
        - kind: hinge
          point: [0, 0, 0]
          axis: [0, 0, 1]
          angles: [-60 deg, 60 deg]
          motor:
            angle: {keys: [[0 s, 0 deg], [0.3 s, 80 deg]], between: smooth}
            stiffness: 20 N*m
            damping: 50 ms
  - box: {width: 5 cm, height: 5 cm, depth: 5 cm}
    name: lift
    translation: [60 cm, 0, 0]
    rigid:
      mass: 100 g
      joints:
        - {kind: slider, axis: [0, 1, 0], way: [-10 cm, 10 cm],
           drive: {speed: 0.5 m/s, resistance: 40 N*s/m, force: 20 N}}
        - {kind: ball, point: [60 cm, 3 cm, 0], axis: [0, 1, 0], cone: 20 deg, stiffness: 1 N/m}
        - {kind: rope, at: [60 cm, -30 cm, 0], release: {at: 0.1 s}, name: leash}
step: 10 ms
seconds: 0.4 s
"""


@pytest.mark.parametrize(
    "made, integrator", [("fabric: cotton", "bdf2"), ("discretization: bspline", "backward_euler")]
)
def test_resume_is_bitwise(tmp_path, made, integrator):
    (tmp_path / "s.yaml").write_text(FILE.replace("MADE", made))

    def made_anew():
        return load_scene(tmp_path / "s.yaml", [], integrator).scene

    whole = resumes_bitwise(made_anew, 10, [6], tmp_path, 25)
    told = whole.metrics[-1]["attachments"]
    held = [m["attachments"]["leash"]["holds"] for m in whole.metrics]
    assert held[0] == 1 and held[-1] == 0
    assert 0.97 * np.radians(60) < told["motor 0 of arm"]["angle"] < np.radians(60)
    assert 0.095 < told["drive 0 of lift"]["place"] < 0.1
    assert told["drive 0 of lift"]["force"] == pytest.approx(20.0, rel=1e-6)  # against its stop


SPEED = Motor(speed=1.0, resistance=1.0)
PATH = weft.Path([weft.Keyframe(0.0)], hold=True)
HELD = box((0.1, 0.1, 0.1), 0.1, "held").move((0.5, 0, 0), PATH)


def made(*more, integrator="backward_euler", **joint):
    """The model of a body with a joint beside others."""
    return prepare(scene([bodies(**joint)[0], *more], integrator=integrator)).model


REFUSED = {
    "angles of a ball": (
        partial(Joint, kind="ball", angles=(-0.1, 0.1)),
        ("angles", "kind ball"),
    ),
    "without the start": (
        partial(Joint, kind="hinge", angles=(0.1, 0.2)),
        ("rigid.joints.angles", "0.1, 0.2"),
    ),
    "no motor": (Motor, ("rigid.joints.motor", "nothing")),
    "no stiffness": (partial(Motor, angle=0.1), ("motor.stiffness", "angle")),
    "speed at rest": (
        partial(made, kind="hinge", motor=SPEED, integrator="quasi_static"),
        "one.rigid.joints 0.motor.speed",
    ),
    "to a path": (
        partial(made, HELD, kind="hinge", to="held", angles=(-0.1, 0.1)),
        ("joints 0.angles", "'held'"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, said = REFUSED[case]
    with refused(SceneError, said):
        make()


@pytest.mark.parametrize(
    "change, said",
    [
        ("angles.0={keys: [[0 s, -1]]}", ("joints.0.angles.0", "keyframes", "motor")),
        ("motor.angle=3 m", ("motor.angle", "'3 m'")),
    ],
)
def test_refused_in_a_file(tmp_path, change, said):
    (tmp_path / "s.yaml").write_text(FILE.replace("MADE", "fabric: cotton"))
    with refused(SceneProblems, said):
        load_scene(tmp_path / "s.yaml", [f"bodies.0.rigid.joints.0.{change}"])
