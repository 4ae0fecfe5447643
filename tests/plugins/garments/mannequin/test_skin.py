"""Weights, skinning and inverse kinematics."""

import numpy as np
import pytest

from tests.plugins.garments.mannequin.test_shape import volume
from tests.refusals import refused
from weft.base.errors import MannequinError
from weft.contact.exact.intersections import intersections
from weft.plugins.garments.mannequin import POSES
from weft.plugins.garments.mannequin.joints import NAMES, NUMBER, parents
from weft.plugins.garments.mannequin.skinning import cotangents, skin_vertices
from weft.plugins.garments.mannequin.stance import a_pose, rotations, solve_joints


def test_weights_are_a_partition_of_unity(woman):
    w = woman.weights
    assert w.shape == (len(woman.vertices), 4)
    assert w.min() >= 0
    np.testing.assert_allclose(w.sum(1), 1, atol=1e-12)


def test_weights_are_smooth(woman):
    """Along an edge of 1.3 cm hardly any weight changes by more than a third."""
    dense = np.zeros((len(woman.vertices), len(NAMES)))
    np.put_along_axis(dense, woman.skin, woman.weights, axis=1)
    f = woman.faces
    change = np.abs(dense[f] - dense[np.roll(f, 1, axis=1)]).max(2)
    assert np.percentile(change, 99.9) < 1 / 3 and change.max() < 0.6


def test_laplacian_of_a_linear_function_vanishes_inside_a_plane():
    x = np.array([[0, 0, 0], [1, 0, 0], [0.2, 1, 0], [-1, 0.3, 0], [-0.2, -1, 0]], float)
    f = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]], np.int32)
    matrix, area = cotangents(x, f)
    assert abs((matrix @ x[:, 0])[0]) < 1e-9 and abs((matrix @ x[:, 1])[0]) < 1e-9
    twice = np.cross(x[f[:, 1]] - x[f[:, 0]], x[f[:, 2]] - x[f[:, 0]])[:, 2]
    assert area.sum() == pytest.approx(0.5 * np.abs(twice).sum())


def test_the_rest_pose_is_the_mesh(woman):
    turns, places = solve_joints(a_pose(woman.joints), woman.joints)
    np.testing.assert_allclose(turns, np.broadcast_to(np.eye(3), turns.shape), atol=1e-6)
    x = woman.apply_stance(a_pose(woman.joints))[0]
    np.testing.assert_allclose(x, woman.vertices, atol=1e-6)
    np.testing.assert_allclose(places[0], woman.joints, atol=1e-6)


@pytest.mark.parametrize("name", POSES)
def test_poses_are_rigid_at_the_ends_of_bones(woman, name):
    """Where (nearly) one joint alone moves the skin, (nearly) nothing stretches."""
    x = woman.pose_vertices(name)
    rigid = woman.weights[:, 0] > 0.98
    f = woman.faces
    same = rigid[f].all(1) & (np.ptp(woman.skin[f, 0], axis=1) == 0)
    assert same.sum() > 400
    for i in range(3):
        a, b = f[same, i], f[same, i - 1]
        before = np.linalg.norm(woman.vertices[a] - woman.vertices[b], axis=1)
        np.testing.assert_allclose(np.linalg.norm(x[a] - x[b], axis=1), before, rtol=0.08)


@pytest.mark.parametrize("name", POSES)
def test_poses_do_not_intersect_themselves(woman, name):
    assert len(intersections(woman.pose_vertices(name), woman.faces)) == 0


def test_joints_keep_their_volume(woman):
    """Knees bent by a right angle: no collapse (a linear blend loses more than twice as much)."""
    before, after = (volume(x, woman.faces) for x in (woman.vertices, woman.pose_vertices("sit")))
    assert after == pytest.approx(before, rel=0.05)


def test_a_rigid_motion_of_all_joints_is_one_of_the_skin(woman):
    turn, shift = rotations(np.array([0.3, 2.0, -0.4])), np.array([0.1, 0.2, 0.3])
    turns = np.broadcast_to(turn, (1, len(NAMES), 3, 3))
    places = (woman.joints @ turn.T + shift)[None]
    x = skin_vertices(woman.vertices, woman.skin, woman.weights, woman.joints, turns, places)[0]
    np.testing.assert_allclose(x, woman.vertices @ turn.T + shift, atol=1e-12)


def test_rotation_vectors():
    v = np.array([[0, 0, 0], [0, np.pi / 2, 0], [1e-10, 0, 0]])
    r = rotations(v)
    np.testing.assert_allclose(r[1] @ [0, 0, 1], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(
        r @ np.swapaxes(r, 1, 2), np.broadcast_to(np.eye(3), r.shape), atol=1e-15
    )


def test_legs_reach_where_ankles_are_put(woman):
    """Bones keep their lengths, the knee goes to the front."""
    stance = a_pose(woman.joints)
    low = stance.mix(stance, np.zeros(3))
    root = np.array([[0, -0.1, 0], [0.05, -0.2, -0.1], [0, -0.3, 0.1]])
    low = type(low)(root, low.trunk, low.arms, low.ankles, low.feet)
    turns, places = solve_joints(low, woman.joints)
    for side in ("left_", "right_"):
        hip, knee, ankle = (NUMBER[side + n] for n in ("hip", "knee", "ankle"))
        np.testing.assert_allclose(
            places[:, ankle], low.ankles[:, int(side == "right_")], atol=1e-9
        )
        for a, b in ((hip, knee), (knee, ankle)):
            bone = np.linalg.norm(woman.joints[b] - woman.joints[a])
            np.testing.assert_allclose(np.linalg.norm(places[:, b] - places[:, a], axis=1), bone)
            moved = np.einsum("kab,b->ka", turns[:, a], woman.joints[b] - woman.joints[a])
            np.testing.assert_allclose(moved, places[:, b] - places[:, a], atol=1e-9)
        middle = 0.5 * (places[:, hip] + places[:, ankle])
        assert (places[:, knee, 2] > middle[:, 2]).all()


def test_the_skeleton_is_a_tree():
    assert len(parents()) == len(NAMES) and all(p < j for j, p in enumerate(parents()))
    assert NAMES[parents()[NUMBER["right_wrist"]]] == "right_elbow"


def test_unknown_pose(woman):
    with refused(MannequinError, "mannequin.pose", got="'tpose'", hint="'t_pose'"):
        woman.pose_vertices("tpose")
