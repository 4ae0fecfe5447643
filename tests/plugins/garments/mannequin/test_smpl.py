"""Bodies in SMPL's layout: a prism of two joints, whose poses are known in closed form."""

import numpy as np
import pytest

from tests.plugins.garments.builders import BESIDE, scene_of
from tests.refusals import refused
from weft.base.errors import MannequinError
from weft.plugins.garments.mannequin.smpl import animate, read_motion, read_smpl, stand

SQUARE = np.array([[-0.1, 0, -0.1], [0.1, 0, -0.1], [0.1, 0, 0.1], [-0.1, 0, 0.1]])
RINGS = np.concatenate([SQUARE + [0, y, 0] for y in (-1.0, 0.0, 1.0)])


def model():
    """A column from y = -1 to 1 m: joints at its foot and its middle, where weights are halves.

    The only blend shape makes it taller by 10 % a unit; one corrective moves the top ring along x
    by the entry (1, 2) of the rotation of the second joint.
    """
    faces = []
    for first in (0, 4):
        for k in range(4):
            a, b = first + k, first + (k + 1) % 4
            faces += [[a, a + 4, b], [b, a + 4, b + 4]]
    faces += [[0, 1, 2], [0, 2, 3], [8, 10, 9], [8, 11, 10]]
    weights = np.repeat([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], 4, axis=0)
    posedirs = np.zeros((12, 3, 9))
    posedirs[8:, 0, 5] = 0.2
    regressor = np.zeros((2, 12))
    regressor[0, :4] = regressor[1, 4:8] = 0.25
    return {
        "v_template": RINGS,
        "shapedirs": (RINGS * [0.0, 0.1, 0.0])[..., None],
        "posedirs": posedirs,
        "J_regressor": regressor,
        "weights": weights,
        "kintree_table": np.array([[2**32 - 1, 0], [0, 1]], dtype=np.uint32),
        "f": np.array(faces, dtype=np.uint32),
        "bs_type": np.array([b"lrotmin"]),
        "J": np.array([None]),  # an object, which is not looked at
    }


def motion(frames=3):
    """The column stands in AMASS's space, z up; its second joint bends to the front."""
    poses = np.zeros((frames, 6))
    poses[:, 0] = np.pi / 2  # y up to z up; it then looks along -y
    poses[:, 3] = np.linspace(0, np.pi / 2, frames)
    trans = np.outer(np.arange(frames), [0.1, 0.0, 0.0]) + [0.0, 0.0, 2.0]
    return {"poses": poses, "trans": trans, "mocap_framerate": 10.0, "gender": "neutral"}


@pytest.fixture
def file(tmp_path):
    def write(name="model.npz", **changes):
        arrays = (model() if name == "model.npz" else motion()) | changes
        np.savez(tmp_path / name, **{k: v for k, v in arrays.items() if v is not None})
        return tmp_path / name

    return write


def test_shape_follows_the_blend_shapes_and_stands_on_the_floor(file):
    x = stand(read_smpl(file()), [2.0])
    np.testing.assert_allclose(x, RINGS * [1, 1.2, 1] + [0, 1.2, 0], atol=1e-12)


def test_a_bent_joint_is_the_linear_blend_with_its_corrective(file):
    """The second joint turns by 90 degrees about x: z' = y, y' = -z; the ring between is the mean
    of both motions; the corrective moves the top by 0.2 R_12 = -0.2 before it turns."""
    body = read_smpl(file())
    read = read_motion(file("walk.npz"), 2)
    times, x = animate(body, read, [], blend=0.0)
    np.testing.assert_allclose(times, [0, 0.1, 0.2])
    # The first joint, (0, -1, 0) at rest, is at (0, -1, 2) with z up: (0, 2, 1) with y up.
    np.testing.assert_allclose(x[0], RINGS + [0, 3, 1], atol=1e-12)
    at = np.array([0.2, 3.0, 1.0])
    top, middle, low = RINGS[8:] - [0.2, 0, 0], RINGS[4:8], RINGS[:4]
    bent = np.stack([top[:, 0], -top[:, 2], top[:, 1]], axis=1)
    turned = np.stack([middle[:, 0], -middle[:, 2], middle[:, 1]], axis=1)
    expected = np.concatenate([low, 0.5 * (middle + turned), bent]) + at
    np.testing.assert_allclose(x[2], expected, atol=1e-12)


def test_a_motion_is_blended_in_from_standing(file):
    """Held for 0.2 s at rest on the floor, then on its way for 0.3 s, then the motion."""
    body, read = read_smpl(file()), read_motion(file("walk.npz", **motion(9)), 2)
    times, x = animate(body, read, [1.0], hold=0.2, blend=0.3)
    assert len(times) == 2 + 9
    rest = stand(body, [1.0]) + [0, 0, 1.1]
    for k in range(3):
        np.testing.assert_allclose(x[k], rest, atol=1e-12)
    _, whole = animate(body, read, [1.0], blend=0.0)
    np.testing.assert_allclose(x[5:], whole[3:], atol=1e-12)
    heights = x[:6, :4, 1].mean(1)
    assert (np.diff(heights[2:]) > 0).all()


def test_motions_of_a_larger_model_move_the_first_joints(file):
    """156 angles of SMPL-H on the 24 joints of SMPL: hands stay."""
    poses = np.ones((2, 156))
    read = read_motion(file("walk.npz", poses=poses, trans=np.zeros((2, 3))), 24)
    assert (read.poses[:, :22] == 1).all() and (read.poses[:, 22:] == 0).all()


def test_frames_are_thinned_to_about_the_rate(file):
    arrays = motion(25) | {"mocap_framerate": np.array(120)}
    read = read_motion(file("walk.npz", **arrays), 2)
    times, _ = animate(read_smpl(file()), read, [], blend=0.0, fps=40.0)
    np.testing.assert_allclose(times, np.arange(9) / 40)


def test_a_scene_has_such_a_body(file, tmp_path):
    file()
    file("walk.npz", **motion(5), betas=np.array([1.0, 9.0]))
    column = "bodies: [{name: column, smpl: {file: model.npz, motion: walk.npz, hold: 0.1 s}}]"
    (body,) = scene_of(tmp_path, BESIDE + column).bodies
    assert body.frames is not None and body.frames.hold and len(body.vertices) == 12
    assert np.ptp(body.vertices[:, 1]) == pytest.approx(2.2)  # betas of the motion, as many as fit


BROKEN = {
    "missing": ({"posedirs": None, "f": None}, "smpl.file", "no posedirs, f"),
    "shape": ({"weights": np.ones((11, 2))}, "weights", "(11, 2)"),
    "kind": ({"f": np.zeros((4, 3))}, "smpl.file: f", "float64"),
    "finite": ({"v_template": np.full((12, 3), np.nan)}, "v_template", "[0, 0]"),
    "sums": ({"weights": np.ones((12, 2))}, "weights", "2"),
    "faces": ({"f": np.array([[0, 1, 12]])}, "smpl.file: f", "vertex 12"),
    "tree": ({"kintree_table": np.array([[-1, 1], [0, 1]])}, "kintree_table", "[-1, 1]"),
    "zero": ({"mocap_framerate": 0.0}, "smpl.motion", "rate of 0"),
    "text": ({"mocap_framerate": "fast"}, "mocap_framerate", "()"),
    "joints": ({"poses": np.zeros((3, 72))}, "poses", "(3, 72)"),
    "frames": ({"trans": np.zeros((4, 3))}, "trans", "(4, 3)"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_no_model_or_motion_has_is_named(file, case):
    changes, what, got = BROKEN[case]
    name = "walk.npz" if changes.keys() <= motion().keys() else "model.npz"
    path = file(name, **changes)
    with refused(MannequinError, what, got=got, where=name):
        read_motion(path, 2) if name == "walk.npz" else read_smpl(path)


def test_shapes_and_arms_that_a_model_has_not_are_named(file):
    body = read_smpl(file())
    with refused(MannequinError, "smpl.betas", got="2 numbers", expected="1"):
        stand(body, [0.0, 1.0])
    with refused(MannequinError, "smpl.arms", got="2 joints"):
        stand(body, [], 0.5)


def test_pickles_are_not_read(tmp_path):
    (tmp_path / "model.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with refused(MannequinError, "smpl.file", got=".pkl", hint="docs/guides/smpl.md"):
        read_smpl(tmp_path / "model.pkl")
