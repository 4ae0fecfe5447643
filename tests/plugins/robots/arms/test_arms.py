"""Arms: forward kinematics against MuJoCo's, grasps against closed forms, and bad files."""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import TIGHT, compared, landing, noise
from tests.plugins.robots.arms.arm_files import GRIPPER, MJCF, URDF, write, write_urdf
from tests.refusals import refused
from weft.adjoint import Adjoint
from weft.base.errors import SceneError
from weft.plugins.robots.arms.read_arm import load_arm
from weft.scene.build import load_scene

mujoco = pytest.importorskip("mujoco", reason="arms are read by MuJoCo: pip install 'weft[arms]'")
UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up to y up


def reference(path):
    """MuJoCo's own model of a file, with the names of its links."""
    text = path.read_text().replace("package://pkg", str(path.parents[1]))
    text = text.replace(
        '<robot name="arm">',
        '<robot name="arm"><mujoco><compiler '
        'fusestatic="false" strippath="false" discardvisual="true"/></mujoco>',
    )
    text = "\n".join(line for line in text.splitlines() if "visual><geometry" not in line)
    return mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_forward_kinematics_is_mujocos(tmp_path, kind):
    path = write_urdf(tmp_path) if kind == "urdf" else write(tmp_path, MJCF)
    arm = load_arm(path)[0].link.arm
    m = reference(path)
    data = mujoco.MjData(m)
    for seed in range(5):
        q = np.random.default_rng(seed).uniform(-1, 1, m.nq)
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        frames = arm.frames(q)[0]
        assert [m.body(k).name for k in range(m.nbody)] == list(arm.links)
        assert frames[:, :3, 3] == pytest.approx(data.xpos @ UP.T, abs=1e-12)
        turned = UP @ data.xmat.reshape(-1, 3, 3)
        assert frames[:, :3, :3] == pytest.approx(turned, abs=1e-12)


def test_colliders_are_where_mujoco_has_them(tmp_path):
    """Of the mesh every vertex, and of a primitive its bounds; what is only seen is no collider."""
    bodies = {b.name: b for b in load_arm(write_urdf(tmp_path), {"shoulder": 0.4, "wrist": -1})}
    assert list(bodies) == [f"arm.{n}" for n in ("base", "upper", "hand", "left", "right")]
    m = reference(tmp_path / "pkg/urdf/arm.urdf")
    data = mujoco.MjData(m)
    data.qpos[:2] = 0.4, -1
    mujoco.mj_kinematics(m, data)
    vertices = m.mesh_vert @ data.geom_xmat[2].reshape(3, 3).T + data.geom_xpos[2]
    assert bodies["arm.hand"].at(0.0) == pytest.approx(vertices @ UP.T, abs=1e-7)
    middle, turn = data.geom_xpos[1] @ UP.T, UP @ data.geom_xmat[1].reshape(3, 3)
    own = (bodies["arm.upper"].vertices - middle) @ turn
    assert np.ptp(own, axis=0) == pytest.approx([0.06, 0.06, 0.3], abs=4e-3)  # a polygon


def test_a_plane_without_end_is_level(tmp_path):
    text = MJCF.replace('type="capsule" size="0.05 0.1"', 'type="plane" size="0 0 1"')
    ground = load_arm(write(tmp_path, text))[0]
    assert ground.vertices[:, 1] == pytest.approx(-0.5)
    assert np.ptp(ground.vertices, axis=0)[[0, 2]] == pytest.approx([20, 20])


def test_a_link_does_not_move_without_its_arm(tmp_path):
    with refused(SceneError, "arm.base", expected="load_arm"):
        load_arm(write_urdf(tmp_path))[0].move((0, 1, 0))


def test_mimics_follow_and_ranges_bound(tmp_path):
    arm = load_arm(write_urdf(tmp_path), {"grip": weft.Keys([(0, 0.0), (1, 0.04)])})[0].link.arm
    assert [j.name for j in arm.leaders] == ["shoulder", "wrist", "grip"]
    assert arm.coordinates(0.5) == pytest.approx([0, 0, 0.02, 0.011])
    text = MJCF.replace('ref="0.3" range="-1 2"', 'range="0.5 2"')
    assert load_arm(write(tmp_path, text))[0].link.arm.coordinates(0)[0] == 0.5


@pytest.mark.parametrize(
    "joints, what, parts",
    [
        ({"elbow": 0.1}, "arm.joints", {"got": "elbow"}),
        ({"shoulder": "90 deg"}, "arm.joints.shoulder", {"got": "90 deg"}),
        ({"grip": "5 cm"}, "arm.joints.grip", {"expected": "0.04 m"}),
        ({"follow": 0.0}, "arm.joints", {"got": "follow"}),  # it mimics another
        ({"shoulder": {"keys": [["0 s", "0 deg"]], "force": "1 N"}}, "force", {"got": "hinge"}),
        ({"grip": {"keys": [[0, 0]], "force": "-1 N"}}, "grip.force", {"got": "-1 N"}),
    ],
)
def test_targets_that_cannot_be(tmp_path, joints, what, parts):
    with refused(weft.base.errors.WeftError, what, **parts):
        load_arm(write_urdf(tmp_path), joints)


@pytest.mark.parametrize(
    "text, got",
    [
        (URDF.replace("meshes/hand.obj", "meshes/foot.obj"), "foot.obj"),
        (URDF.replace('type="continuous"', 'type="floating"'), "free joint"),
        (MJCF.replace('<joint name="bend" axis="1 0 0"/>', '<joint type="ball"/>'), "mjJNT_BALL"),
        (
            MJCF.replace("</mujoco>", '<equality><weld body1="first" body2="second"/>')
            + "</equality></mujoco>",
            "mjEQ_WELD",
        ),
        (GRIPPER.replace("<geom ", '<geom contype="0" conaffinity="0" '), "no link"),
        (
            MJCF.replace(
                "<worldbody>",
                """<asset><hfield name="h" nrow="2" ncol="2"
              size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="h"/>""",
            ),
            "hfield",
        ),
    ],
)
def test_files_that_are_no_arms(tmp_path, text, got):
    path = write_urdf(tmp_path, text) if text.startswith("<robot") else write(tmp_path, text)
    with refused(SceneError) as error:
        load_arm(path)
    assert got in str(error.value)


def held(tmp_path, mu=0.5, force=2.0, end=0.03, **more):
    """A strip that is pinned below and gripped above, by a hand that is lifted from 0.4 s on."""
    cloth = weft.sheet(5, 13, 0.04, 0.12, fabric="cotton").move((0, -0.04, 0), (-90, 0, 0))
    close = {"keys": [["0 s", "0 cm"], ["0.2 s", "2 cm"]], "force": f"{force} N"}
    lift = weft.Keys([(0.3, 0.0), (1.3, end)])
    bodies = load_arm(write(tmp_path, GRIPPER), {"lift": lift, "left": close}, size=0.01)
    pins = [weft.Pin(cloth.border("bottom"))]
    contact = weft.SelfContact(friction=mu)
    return weft.Scene(cloth, pins, bodies=bodies, contact=contact, step=0.01, **more)


def test_cloth_pulls_out_of_two_pads_at_two_mu_n(tmp_path):
    """The pads slide up along the taut strip, each with the force mu N, pressed by N."""
    run = weft.simulate(held(tmp_path), seconds=0.6, fps=20, out=tmp_path / "run")
    last = run.metrics[-10:]
    left, right = (
        np.mean([line["contact"]["links"][f"arm.{n}"]["force"] for line in last], axis=0)
        for n in ("left", "right")
    )
    line = last[-1]
    assert left[2] - right[2] == pytest.approx(4.0, rel=5e-3)  # 2 N
    assert -(left + right)[1] == pytest.approx(2 * 0.5 * 2.0, rel=2e-2)
    drives = [line["attachments"][f"drive 0 of arm.{n}"]["force"] for n in ("left", "right")]
    assert drives == pytest.approx([2.0, 2.0], rel=1e-6)
    assert line["intersections"] == 0


def test_a_tray_carries_the_weight_of_a_cloth(tmp_path):
    """The force on the link is the weight, and the torque about its hinge the weight times arm."""
    text = """<mujoco><worldbody><body name="tray"><joint name="tilt" axis="0 1 0"/>
      <geom type="box" size="0.1 0.1 0.01" pos="0.2 0 0"/></body></worldbody></mujoco>"""
    bodies = load_arm(write(tmp_path, text), translation=(0, 1, 0), size=0.1)
    cloth = weft.sheet(5, 5, 0.12, 0.12, fabric="denim").move((0.23, 1.0112, 0))
    step, stick = weft.StepSettings(tolerance=1e-6), weft.SelfContact(friction=0.5)
    scene = weft.Scene(cloth, bodies=bodies, settings=step, step=0.02, contact=stick)
    run = weft.simulate(scene, seconds=0.6, fps=10, out=tmp_path / "run")
    arm, line = bodies[0].link.arm, run.metrics[-1]
    loads = arm.link_loads(line["contact"]["links"])
    weight = 9.81 * cloth.mass.sum()
    assert loads[1, :3] == pytest.approx([0, -weight, 0], abs=1e-9 * weight)
    assert not loads[0].any()
    # about the file's y axis, which is -z here
    assert arm.joint_forces(0.6, loads) == pytest.approx([0.23 * weight], rel=1e-5)


def test_a_scene_file_with_an_arm(tmp_path):
    """Blocks keep their numbers, and keyframes of joints are those of the arm."""
    write(tmp_path, GRIPPER, "hand.xml")
    (tmp_path / "scene.yaml").write_text("""
cloth: {sheet: {nx: 4, ny: 4, width: 4 cm, height: 4 cm}, fabric: cotton, translation: [2, 0, 0]}
bodies:
  - name: robot
    mjcf: hand.xml
    translation: [0, 1 m, 0]
    joints:
      lift: {keys: [[0 s, 0 cm], [1 s, 10 cm]], between: smooth}
      left: {keys: [[0 s, 0 cm]], force: 3 N}
  - name: ball
    sphere: {radius: 3 cm}
    translation: [1, 0, 0]
    rigid: {mass: 100 g, joints: [{kind: rope, at: [1, 1, 0], length: {keys: [[0, 1.1], [1, 2]]}}]}
contact: {friction: 0.3, pairs: [{between: [cloth, robot.left], friction: 0.9}]}
step: 20 ms
seconds: 40 ms
fps: 50
""")
    loaded = load_scene(tmp_path / "scene.yaml")
    names = [b.name for b in loaded.scene.bodies]
    assert names == ["robot.hand", "ball", "robot.left", "robot.right"]
    assert list(loaded.scene.keyed) == ["bodies.1.rigid.joints.0.length"]
    hand = loaded.scene.bodies[0]
    assert hand.at(1.0) - hand.at(0.0) == pytest.approx(
        np.tile([0, 0.1, 0], (len(hand.vertices), 1))
    )
    weft.simulate(loaded.scene, seconds=0.04, fps=50, out=tmp_path / "run")


def test_a_grasp_resumes_bitwise(tmp_path):
    scene = held(tmp_path)
    whole = weft.simulate(scene, seconds=0.3, fps=20, out=tmp_path / "whole")
    weft.simulate(scene, seconds=0.2, fps=20, out=tmp_path / "part")
    again = weft.simulate(held(tmp_path), seconds=0.3, fps=20, out=tmp_path / "part", resume=True)
    assert np.array_equal(whole.points(), again.points())
    assert np.array_equal(whole.body_positions(), again.body_positions())


def compare_gradient(scene, h, frames, fps):
    """Compare the gradient by all targets of joints with differences of whole runs."""
    n = scene.cloth.n_vertices
    names = [name for name in Adjoint(scene, noise(n), frames=1).names if ".joints." in name]
    got, expected, _ = compared(scene, names, frames=frames, fps=fps, h=h)
    assert got == pytest.approx(expected, rel=1e-6)
    return names


def test_gradient_by_joint_angles(tmp_path):
    """A cloth slides on a tray that is tilted and pushed, by one target and by keys."""
    text = """<mujoco><worldbody><body name="arm" pos="-0.3 0 0"><joint name="tilt" axis="0 1 0.2"/>
      <body name="tray" pos="0.3 0 -0.01"><joint name="push" type="slide" axis="0 1 0"/>
      <geom type="box" size="0.1 0.1 0.01"/></body></body></worldbody></mujoco>"""
    keys = weft.Keys([(0, 0.0), (0.012, 0.002), (0.02, -0.003)], "smooth")
    bodies = load_arm(write(tmp_path, text), {"tilt": keys, "push": 0.001}, size=0.07)
    scene = landing().with_(bodies=bodies, settings=TIGHT)
    names = compare_gradient(scene, 1e-6, 2, 100)
    assert names == ["bodies.arm.joints.tilt.keys", "bodies.arm.joints.push"]


def test_gradient_through_a_grasp(tmp_path):
    """The fingers start pressed to the cloth, also by the angle at which the hand starts."""
    text = GRIPPER.replace("0.02 0", "0.0057 0").replace(
        'type="slide" axis="0 0 1" range="-0.5 0.5"', 'axis="0.1 0.4 1"'
    )
    cloth = weft.sheet(4, 5, 0.04, 0.05, fabric="cotton").move((0, -0.02, 0), (-90, 0, 0))
    x = np.array(cloth.points)
    x[:, 2] += 1e-4 * np.sin(80 * x[:, 0] + 50 * x[:, 1])
    close = {"keys": [["0 s", "0 mm"], ["0.01 s", "5 mm"]], "force": "2 N"}
    bodies = load_arm(write(tmp_path, text), {"left": close}, size=0.03)
    scene = weft.Scene(
        cloth.with_points(x),
        [weft.Pin(cloth.border("bottom"))],
        bodies=bodies,
        contact=weft.SelfContact(friction=0.4),
        settings=weft.StepSettings(tolerance=1e-9),
        step=0.004,
    )
    names = compare_gradient(scene, 3e-6, 2, 125)
    assert names == ["bodies.arm.joints.lift", "bodies.arm.joints.left.keys"]


def in_batch(tmp_path, force):
    """A scene whose hand is still open, and the scene with keyframes that grip and lift."""
    moves = {"lift": [0.0, 0.0, 0.002, 0.001], "left": [0.0146] * 4}
    scene, times = held(tmp_path).with_(step=0.02), 0.04 * np.arange(5)
    bodies = []
    for said in ({n: [0.0] * 4 for n in moves}, moves):
        keys = {
            n: {"keys": list(zip(times.tolist(), [0.0, *values]))} for n, values in said.items()
        }
        keys["left"] |= {"force": "2 N"} if force else {}
        bodies.append(load_arm(tmp_path / "arm.xml", keys, size=0.01))
    still, moved = (scene.with_(bodies=b) for b in bodies)
    return still, moved, np.array(list(moves.values())).T


@pytest.mark.parametrize(
    "force, processes", [(True, 1), (False, 1), pytest.param(True, 2, marks=pytest.mark.slow)]
)
def test_targets_of_joints_in_every_step_of_a_batch(tmp_path, force, processes):
    """Worlds go as with keyframes that say the same, also after a reset."""
    still, moved, targets = in_batch(tmp_path, force)
    batch = weft.batch([still] * 2, fps=25, processes=processes)
    assert batch.joints == ["arm.lift", "arm.left"]
    for target in targets:
        x = batch.step(joints=[target] * 2)
    run = weft.simulate(moved, seconds=0.16, fps=25, out=tmp_path / "run")
    assert x[0] == pytest.approx(run.positions(), abs=1e-9)
    arm = moved.bodies[0].link.arm
    expected = arm.link_loads(run.metrics[-1]["contact"]["links"])
    assert batch.link_loads()[1] == pytest.approx(expected, abs=1e-5)
    assert abs(expected[2, 2]) > 0.1  # the left finger presses
    batch.reset()
    for target in targets:
        again = batch.step(joints=[target] * 2)
    assert np.array_equal(again, x)
    batch.close()


def test_targets_of_a_batch_that_cannot_be(tmp_path):
    batch = weft.batch([in_batch(tmp_path, False)[0]] * 2, fps=25)
    with refused(SceneError, "joints of world 1, arm.left", got="0.05 m"):
        batch.step(joints=[[0, 0.01], [0, 0.05]])
