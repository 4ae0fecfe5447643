"""Weights, skinning and inverse kinematics."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.plugins.garments.mannequin.test_shape import volume
from tests.refusals import refused
from weft.base.errors import MannequinError
from weft.contact.exact.intersections import intersections
from weft.discretization.polygon import signed_area
from weft.plugins.garments.mannequin import POSES
from weft.plugins.garments.mannequin.joints import NAMES, NUMBER
from weft.plugins.garments.mannequin.skinning import cotangents
from weft.plugins.garments.mannequin.stance import a_pose, rotations, solve_joints


def test_weights_are_a_smooth_partition_of_unity(woman):
    """Along an edge of 1.3 cm hardly any weight changes by more than a third."""
    w, f = woman.weights, woman.faces
    assert w.min() >= 0
    np.testing.assert_allclose(w.sum(1), 1, atol=1e-12)
    dense = np.zeros((len(w), len(NAMES)))
    np.put_along_axis(dense, woman.skin, w, axis=1)
    change = np.abs(dense[f] - dense[np.roll(f, 1, axis=1)]).max(2)
    assert np.percentile(change, 99.9) < 1 / 3 and change.max() < 0.6


def test_laplacian_of_a_linear_function_vanishes_inside_a_plane():
    x = np.array([[0, 0, 0], [1, 0, 0], [0.2, 1, 0], [-1, 0.3, 0], [-0.2, -1, 0]], float)
    f = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]], np.int32)
    matrix, area = cotangents(x, f)
    np.testing.assert_allclose((matrix @ x)[0], 0, atol=1e-9)
    assert area.sum() == pytest.approx(signed_area(x[1:, :2]))


@pytest.mark.parametrize("name", POSES)
def test_poses_are_rigid_at_the_ends_of_bones_and_do_not_intersect_themselves(woman, name):
    """Where (nearly) one joint alone moves the skin, (nearly) nothing stretches."""
    x = woman.pose_vertices(name)
    assert len(intersections(x, woman.faces)) == 0
    rigid = woman.weights[:, 0] > 0.98
    f = woman.faces
    same = rigid[f].all(1) & (np.ptp(woman.skin[f, 0], axis=1) == 0)
    assert same.sum() > 400
    for i in range(3):
        a, b = f[same, i], f[same, i - 1]
        before = np.linalg.norm(woman.vertices[a] - woman.vertices[b], axis=1)
        np.testing.assert_allclose(np.linalg.norm(x[a] - x[b], axis=1), before, rtol=0.08)


def test_joints_keep_their_volume(woman):
    """Knees bent by a right angle: no collapse (a linear blend loses more than twice as much)."""
    before, after = (volume(x, woman.faces) for x in (woman.vertices, woman.pose_vertices("sit")))
    assert after == pytest.approx(before, rel=0.05)


def test_rotation_vectors():
    v = np.array([[0, 0, 0], [0, np.pi / 2, 0], [1e-10, 0, 0], [0.3, 2.0, -0.4]])
    np.testing.assert_allclose(rotations(v), Rotation.from_rotvec(v).as_matrix(), atol=1e-14)


def test_legs_reach_where_ankles_are_put(woman):
    """Bones keep their lengths, the knee goes to the front."""
    rest = a_pose(woman.joints)
    root = np.array([[0, -0.1, 0], [0.05, -0.2, -0.1], [0, -0.3, 0.1]])
    low = replace(rest.mix(rest, np.zeros(3)), root=root)
    turns, places = solve_joints(low, woman.joints)
    for k, side in enumerate(("left_", "right_")):
        hip, knee, ankle = (NUMBER[side + n] for n in ("hip", "knee", "ankle"))
        np.testing.assert_allclose(places[:, ankle], low.ankles[:, k], atol=1e-9)
        for a, b in ((hip, knee), (knee, ankle)):
            bone = woman.joints[b] - woman.joints[a]
            np.testing.assert_allclose(turns[:, a] @ bone, places[:, b] - places[:, a], atol=1e-9)
        middle = 0.5 * (places[:, hip] + places[:, ankle])
        assert (places[:, knee, 2] > middle[:, 2]).all()


def test_unknown_pose(woman):
    with refused(MannequinError, "mannequin.pose", got="'tpose'", hint="'t_pose'"):
        woman.pose_vertices("tpose")
