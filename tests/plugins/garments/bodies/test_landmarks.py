"""Landmarks on bodies, compared with the measurements that the mannequin knows of itself."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from weft.base.errors import MeshError
from weft.cli.commands import app
from weft.contact import load_body
from weft.io import write_mesh
from weft.plugins.garments.bodies.landmarks import UP, find_landmarks, landmarks_of_mesh
from weft.plugins.garments.bodies.sections import cut_loop, tape_length
from weft.plugins.garments.bodies.sizes import size_of
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.mannequin.joints import NUMBER
from weft.scene.build import load_scene

LEVELS = {
    "neck_back": "neck_height",
    "bust": "chest_height",
    "waist": "waist_height",
    "hip": "hips_height",
    "crotch": "crotch_height",
    "knee_left": "knee_height",
    "ankle_right": "ankle_height",
}


@pytest.fixture(scope="module")
def woman():
    return mannequin("woman")


def check_known(landmarks, measured, x=(0.0, 0.0, 0.0), *, level=0.016, girth=0.02):
    """Check levels and girths [m] against the mannequin's own, over its height."""
    height = measured.height
    for name, known in LEVELS.items():
        error = landmarks.points[name][1] - getattr(measured, known)
        assert abs(error) < level * height, f"{name}: {1000 * error:.0f} mm"
    for name, value in landmarks.girths.items():
        error = value - getattr(measured, name)
        assert abs(error) < girth * height, f"{name}: {1000 * error:.0f} mm"
    for side in ("left", "right"):
        error = landmarks.points[f"shoulder_{side}"] - getattr(measured, f"{side}_shoulder")
        assert np.linalg.norm(error) < 0.025 * height, f"shoulder {side}: {1000 * error} mm"


def tall_man():
    return mannequin("man", height=2.05)


def child():
    return mannequin("child", height=1.04)


def small_child():
    return mannequin("child", height=0.9)


def size_48():
    return mannequin("woman", **size_of(48).body)


@pytest.mark.parametrize(
    "make",
    [mannequin, lambda: mannequin("man"), tall_man, size_48, child, small_child],
    ids=["woman", "man", "205", "48", "child", "90"],
)
def test_landmarks_are_where_the_mannequin_has_them(make):
    body = make()
    found = landmarks_of_mesh(body.vertices, body.faces)
    check_known(found, body.measurements)
    joints = {n: body.joints[NUMBER[f"left_{n}"]] for n in ("elbow", "wrist", "knee", "ankle")}
    for name, joint in joints.items():
        error = np.linalg.norm(found.points[f"{name}_left"] - joint)
        assert error < 0.02 * found.height, f"{name}: {1000 * error:.0f} mm"


def test_landmarks_go_with_a_body_that_is_turned_moved_and_small(woman):
    """A child of 1.1 m that looks aside, away from the origin."""
    turn, shift, scale = Rotation.from_euler("y", 130, degrees=True), [2.0, 0.3, -1.0], 1.1 / 1.68
    x = scale * turn.apply(np.array(woman.vertices)) + shift
    found, own = landmarks_of_mesh(x, woman.faces), landmarks_of_mesh(woman.vertices, woman.faces)
    assert found.forward == pytest.approx(turn.apply([0.0, 0, 1]), abs=0.02)
    for name, point in own.points.items():
        moved = scale * turn.apply(point) + shift
        assert found.points[name] == pytest.approx(moved, abs=0.012), name
    for name, girth in own.girths.items():
        assert found.girths[name] == pytest.approx(scale * girth, abs=0.01), name


@pytest.mark.parametrize("hole", [(0.85, 0.875), (0.87, 2.0)], ids=["band", "no head"])
def test_a_hole_at_the_neck_changes_nothing_below(woman, hole):
    y = woman.vertices[woman.faces, 1].mean(axis=1) / 1.68
    faces = woman.faces[(y < hole[0]) | (y > hole[1])]
    found, known = landmarks_of_mesh(woman.vertices, faces), woman.measurements
    for name in ("bust", "waist", "hip", "crotch"):
        level = getattr(known, LEVELS[name])
        assert found.points[name][1] == pytest.approx(level, abs=0.025), name
    assert found.points["neck_back"][1] == pytest.approx(known.neck_height, abs=0.035)
    assert found.girths["chest"] == pytest.approx(known.chest, abs=0.02)


@pytest.mark.parametrize("pose", ["t_pose", "arms_down"])
def test_arms_may_be_up_or_down(woman, pose):
    x, known = woman.pose_vertices(pose), woman.measurements
    found = landmarks_of_mesh(x, woman.faces)
    shoulder = np.linalg.norm(woman.vertices - known.left_shoulder, axis=1).argmin()
    assert np.linalg.norm(found.points["shoulder_left"] - x[shoulder]) < 0.03
    assert found.girths["chest"] == pytest.approx(known.chest, abs=0.03)
    assert found.girths["wrist"] == pytest.approx(known.wrist, abs=0.01)


def test_a_tape_lies_around_the_posed_skin():
    """With arms down the man's trunk is narrower, because skin at the armpits goes with them."""
    man = mannequin("man")
    x = man.pose_vertices("arms_down")
    found = landmarks_of_mesh(x, man.faces)
    for name, level in (("chest", "bust"), ("waist", "waist")):
        center = found.points[level] * [0, 1, 0]
        around = tape_length(cut_loop(x, man.faces, center, UP), UP)
        assert found.girths[name] == pytest.approx(around, abs=1e-6)
    assert found.girths["chest"] < man.measurements.chest - 0.05


def test_stated_landmarks_are_not_searched(woman):
    stated = {"waist": 1.0, "crotch": 0.815, "shoulder_left": (0.2, 1.4, 0.0)}
    found = landmarks_of_mesh(woman.vertices, woman.faces, stated)
    assert found.points["waist"][1] == pytest.approx(1.0)
    assert found.girths["waist"] > woman.measurements.waist + 0.05  # measured at the stated level
    assert found.points["shoulder_left"].tolist() == [0.2, 1.4, 0.0]
    assert found.points["crotch"][1] == pytest.approx(0.815)


@pytest.mark.parametrize(
    ("change", "stated", "what", "hint"),
    [
        (lambda x: 100 * x, {}, "height", "1 cm"),
        (lambda x: 39.37 * x, {}, "height", "1 in"),
        (lambda x: x[:, [0, 2, 1]], {}, "height", "z up: `rotation: [-90, 0, 0]`"),
        (lambda x: 100 * x[:, [0, 2, 1]], {}, "height", "`scale: 1 cm` of the mesh; it lies"),
        (lambda x: 0.2 * x, {}, "height", None),
        (lambda x: np.where(np.isclose(x, x.max()), np.nan, x), {}, "body", None),
        (lambda x: x, {"wiast": 1.0}, "landmarks", "waist"),
        (lambda x: x, {"wrist_left": 1.0}, "landmarks.wrist_left", None),
    ],
)
def test_a_body_that_is_none_is_refused_with_the_reason(woman, change, stated, what, hint):
    with pytest.raises(MeshError) as refused:
        landmarks_of_mesh(change(woman.vertices), woman.faces, stated)
    assert what in refused.value.what
    assert hint is None or hint in refused.value.hint


def test_a_seated_body_has_no_crotch(woman):
    with pytest.raises(MeshError) as refused:
        landmarks_of_mesh(woman.pose_vertices("sit"), woman.faces)
    assert "crotch" in refused.value.what and "landmarks" in refused.value.hint


def test_a_scan_in_centimeters_with_z_up_noise_and_a_hole_is_a_body(woman, tmp_path):
    """What the file is in is said first; then landmarks are found in spite of 2 mm of noise."""
    y = woman.vertices[woman.faces, 1].mean(axis=1) / 1.68
    noise = np.random.default_rng(0).normal(0, 0.002 / np.sqrt(3), woman.vertices.shape)
    scan = 100 * (
        (woman.vertices + noise) @ Rotation.from_euler("x", 90, degrees=True).as_matrix().T
    )
    file = tmp_path / "scan.obj"
    write_mesh(file, scan, woman.faces[(y < 0.85) | (y > 0.875)], None)
    asked = ["landmarks", str(file)]
    first = CliRunner().invoke(app, asked)
    assert first.exit_code == 1 and "scale: 1 cm" in first.output and "-90" in first.output
    done = CliRunner().invoke(app, [*asked, "--scale", "1 cm", "--rotation=-90,0,0"])
    assert done.exit_code == 0, done.output
    body = load_body(file, 0.01, "scan").move((0, 0, 0), rotation=(-90, 0, 0))
    found, known = find_landmarks(body), woman.measurements
    for name in ("chest", "waist", "hips"):
        assert found.girths[name] == pytest.approx(getattr(known, name), abs=0.02), name
    for name in ("bust", "waist", "hip", "crotch", "knee_left"):
        level = found.points[name][1] - body.vertices[:, 1].min()
        assert level == pytest.approx(getattr(known, LEVELS[name]), abs=0.03), name


def test_the_command_draws_a_body_and_scenes_state_landmarks(woman, tmp_path):
    write_mesh(tmp_path / "anna.obj", woman.vertices, woman.faces, None)
    done = CliRunner().invoke(app, ["landmarks", str(tmp_path / "anna.obj")])
    assert done.exit_code == 0 and "waist girth" in done.output
    assert (tmp_path / "anna.landmarks.png").stat().st_size > 10_000
    scene = tmp_path / "scene.yaml"
    scene.write_text("""
cloth: {sheet: {nx: 3, ny: 3, width: 0.2, height: 0.2}, translation: [0, 2, 0]}
bodies: [{name: anna, mesh: {file: anna.obj}, landmarks: {waist: 1 m, top: [0, 170 cm, 0]}}]
contact: {}
seconds: 0.1
""")
    (body,) = load_scene(scene).scene.bodies
    assert find_landmarks(body).points["top"].tolist() == [0.0, 1.7, 0.0]
    assert find_landmarks(body).points["waist"][1] == pytest.approx(1.0)
