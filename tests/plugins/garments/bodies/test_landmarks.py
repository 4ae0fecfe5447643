"""Landmarks on bodies, compared with the measurements that the mannequin knows of itself."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from studies.garments.solid_people import ARMS, PEOPLE
from tests.plugins.garments.builders import BESIDE, scene_of
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.cli.commands import app
from weft.contact import load_body
from weft.io import write_mesh
from weft.plugins.garments.bodies.arms import find_arms, measure_arm
from weft.plugins.garments.bodies.landmarks import find_landmarks, landmarks_of_mesh
from weft.plugins.garments.bodies.sections import cut_loop, tape_length
from weft.plugins.garments.bodies.sizes import size_of
from weft.plugins.garments.bodies.skin import UP, Skin
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.mannequin.joints import NUMBER
from weft.plugins.garments.mannequin.stance import a_pose

LEVELS = {
    "neck_back": "neck_height",
    "bust": "chest_height",
    "waist": "waist_height",
    "hip": "hips_height",
    "crotch": "crotch_height",
    "knee_left": "knee_height",
    "ankle_right": "ankle_height",
}


@pytest.mark.parametrize(
    "figure, measures",
    [
        ("woman", {}),
        ("man", {}),
        pytest.param("man", {"height": 2.05}, marks=pytest.mark.campaign),
        pytest.param("woman", size_of(48).body, marks=pytest.mark.campaign),
        ("child", {"height": 1.04}),
        pytest.param("child", {"height": 0.9}, marks=pytest.mark.campaign),
    ],
    ids=["woman", "man", "205", "48", "child", "90"],
)
def test_landmarks_are_where_the_mannequin_has_them(figure, measures):
    """Levels, girths and joints, over the height of the body."""
    body = mannequin(figure, **measures)
    found, measured = landmarks_of_mesh(body.vertices, body.faces), body.measurements
    height = measured.height
    for name, known in LEVELS.items():
        error = found.points[name][1] - getattr(measured, known)
        assert abs(error) < 0.01 * height, f"{name}: {1000 * error:.0f} mm"
    for name, value in found.girths.items():
        error = value - getattr(measured, name)
        assert abs(error) < 0.02 * height, f"{name}: {1000 * error:.0f} mm"
    for side in ("left", "right"):
        error = found.points[f"shoulder_{side}"] - getattr(measured, f"{side}_shoulder")
        assert abs(error[0]) < 0.015, f"shoulder {side}: {1000 * error} mm"
        assert np.linalg.norm(error) < 0.025, f"shoulder {side}: {1000 * error} mm"
    for name in ("elbow", "wrist", "knee", "ankle"):  # the mannequin's hand tapers above its joint
        error = found.points[f"{name}_left"] - body.joints[NUMBER[f"left_{name}"]]
        assert np.linalg.norm(error) < 0.025 * found.height, f"{name}: {1000 * error} mm"


def errors_of(person, x, faces, pose):
    """Return how far [m] landmarks and girths are from those that a person of solids has.

    Errors of bust points and wrists are distances; those of levels are differences in height, and
    those of shoulders are horizontal distances from the joint below.
    """
    found, errors = landmarks_of_mesh(x, faces), {}
    for name, known in person.landmarks(pose).items():
        error = found.points[name] - known
        level = name in ("bust", "waist", "hip", "crotch")
        errors[name] = abs(error[1]) if level else np.linalg.norm(error)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joint = person.height * person.joints(pose, sign)["shoulder"]
        errors[f"shoulder_{side}"] = np.hypot(*(found.points[f"shoulder_{side}"] - joint)[[0, 2]])
    girths = person.girths()
    return errors | {name: abs(found.girths[name] - girths[name]) for name in girths}


def test_the_bust_is_on_the_breasts_and_the_wrists_are_above_the_hands():
    person = PEOPLE["small breasts"]
    errors = errors_of(person, *person.mesh("a_pose", 0.0075), "a_pose")
    assert {"bust_left", "bust_right", "wrist_left", "chest"} < set(errors)
    assert max(errors.values()) < 0.015, errors


@pytest.mark.slow
@pytest.mark.parametrize("pose", ARMS)
@pytest.mark.parametrize("name", PEOPLE)
def test_people_with_fingers_toes_breasts_and_hair_are_measured_within_15_mm(name, pose):
    """On a scan with 2 mm of noise that leans to one side, and on a mesh of other triangles.

    Shoulders are within 25 mm of the joint: the acromion lies outwards of it.
    """
    person, random = PEOPLE[name], np.random.default_rng(1)
    x, faces = person.mesh(pose, 0.006)
    noise = random.normal(0, 0.002 / np.sqrt(3), x.shape)
    scan = x + noise + 0.004 * np.sin(6 * x[:, 1:2]) * [1, 0, 1]
    for mesh in ((scan, faces), person.mesh(pose, 0.007, relax=True)):
        errors = errors_of(person, *mesh, pose).items()
        assert not {n: e for n, e in errors if e > (0.025 if "shoulder" in n else 0.015)}


@pytest.mark.parametrize("pose", ["t_pose", "arms_down"])
def test_arms_may_be_up_or_down(woman, pose):
    x, known = woman.pose_vertices(pose), woman.measurements
    found = landmarks_of_mesh(x, woman.faces)
    shoulder = np.linalg.norm(woman.vertices - known.left_shoulder, axis=1).argmin()
    assert np.linalg.norm(found.points["shoulder_left"] - x[shoulder]) < 0.02
    around = tape_length(cut_loop(x, woman.faces, found.points["bust"] * [0, 1, 0], UP), UP)
    assert found.girths["chest"] == pytest.approx(around, abs=1e-6)
    assert found.girths["wrist"] == pytest.approx(known.wrist, abs=0.004)


def test_an_arm_held_forward_has_its_shoulder(woman):
    """By 57 degrees, with a bent elbow."""
    arms = np.broadcast_to([0.4, 1.0, 0.5], (1, 2, 3))
    x = np.asarray(woman.apply_stance(replace(a_pose(woman.joints), arms=arms))[0])
    shoulder = np.linalg.norm(woman.vertices - woman.measurements.left_shoulder, axis=1).argmin()
    found = landmarks_of_mesh(x, woman.faces).points["shoulder_left"]
    assert np.linalg.norm(found - x[shoulder]) < 0.02


def test_a_shoulder_that_is_not_found_is_refused(woman):
    skin = Skin(woman.vertices, woman.faces, 1.68, woman.measurements.crotch_height)
    arm = find_arms(skin)["right"]
    with refused(MeshError, "right shoulder"):
        measure_arm(skin, replace(arm, armpit=np.array([-0.1, 2.0, 0.0])))


def test_a_tape_lies_around_the_posed_skin():
    """With arms down the man's trunk is narrower, because skin at the armpits goes with them."""
    man = mannequin("man")
    x = man.pose_vertices("arms_down")
    found = landmarks_of_mesh(x, man.faces)
    around = tape_length(cut_loop(x, man.faces, found.points["waist"] * [0, 1, 0], UP), UP)
    assert found.girths["waist"] == pytest.approx(around, abs=1e-6)
    assert found.girths["chest"] < man.measurements.chest - 0.05


@pytest.mark.parametrize(
    "change, stated, what, hint",
    [
        (lambda x: 39.37 * x, {}, "height", "1 in"),
        (lambda x: x / 1000, {}, "height", "1000 times too small"),
        (lambda x: x[:, [0, 2, 1]], {}, "height", "z up: `rotation: [-90, 0, 0]`"),
        (lambda x: 100 * x[:, [0, 2, 1]], {}, "height", "`scale: 1 cm` of the mesh; the body lies"),
        (lambda x: x * [1, -1, -1], {}, "upright", "on its head: `rotation: [180, 0, 0]`"),
        (lambda x: np.where(np.isclose(x, x.max()), np.nan, x), {}, "body", ""),
        (lambda x: x, {"wiast": 1.0}, "landmarks", "waist"),
        (lambda x: x, {"wrist_left": 1.0}, "landmarks.wrist_left", ""),
    ],
)
def test_a_body_that_is_none_is_refused_with_the_reason(woman, change, stated, what, hint):
    with refused(MeshError, what, hint=hint):
        landmarks_of_mesh(change(woman.vertices), woman.faces, stated)


def test_a_seated_body_has_no_crotch(woman):
    with refused(MeshError, "crotch", hint="landmarks"):
        landmarks_of_mesh(woman.pose_vertices("sit"), woman.faces)


@pytest.mark.parametrize("hole", [(0.85, 0.875), (0.87, 2.0)], ids=["band", "no head"])
def test_a_scan_in_centimeters_with_z_up_noise_and_a_hole_is_a_body(woman, tmp_path, hole):
    """What the file is in is said first; then landmarks are found in spite of 2 mm of noise."""
    y = woman.vertices[woman.faces, 1].mean(axis=1) / 1.68
    noise = np.random.default_rng(0).normal(0, 0.002 / np.sqrt(3), woman.vertices.shape)
    scan = 100 * Rotation.from_euler("x", 90, degrees=True).apply(woman.vertices + noise)
    file = tmp_path / "scan.obj"
    write_mesh(file, scan, woman.faces[(y < hole[0]) | (y > hole[1])], None)
    first = CliRunner().invoke(app, ["landmarks", str(file)])
    assert first.exit_code == 1 and "scale: 1 cm" in first.output and "-90" in first.output
    body = load_body(file, 0.01, "scan").move((0, 0, 0), rotation=(-90, 0, 0))
    found, known = find_landmarks(body), woman.measurements
    for name in ("chest", "waist", "hips"):
        assert found.girths[name] == pytest.approx(getattr(known, name), abs=0.02), name
    for name in ("neck_back", "bust", "waist", "hip", "crotch", "knee_left"):
        level = found.points[name][1] - body.vertices[:, 1].min()
        assert level == pytest.approx(getattr(known, LEVELS[name]), abs=0.035), name


def test_the_command_draws_a_body_and_scenes_state_landmarks(woman, tmp_path):
    lying = 100 * woman.vertices[:, [0, 2, 1]] * [1, -1, 1]
    write_mesh(tmp_path / "anna.obj", lying, woman.faces, None)
    words = ["landmarks", str(tmp_path / "anna.obj"), "--scale", "1 cm", "--rotation=-90,0,0"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and "waist girth" in done.output
    assert (tmp_path / "anna.landmarks.png").stat().st_size > 10_000
    write_mesh(tmp_path / "anna.obj", woman.vertices, woman.faces, None)
    body = "bodies: [{mesh: {file: anna.obj}, landmarks: {waist: 1 m, top: [0, 170 cm, 0]}}]"
    found = find_landmarks(*scene_of(tmp_path, BESIDE + body).bodies)
    assert found.points["top"].tolist() == [0.0, 1.7, 0.0]
    assert found.points["waist"][1] == pytest.approx(1.0)
    assert found.girths["waist"] > woman.measurements.waist + 0.05  # at the level that is stated
