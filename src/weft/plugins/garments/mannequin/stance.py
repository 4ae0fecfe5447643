"""Stances: poses of a figure in terms of tasks instead of joint angles.

Ankles are given as positions, so that feet stay in place whatever the pelvis does; mixing two
stances with feet on the floor gives a stance with feet on the floor. ``solve_joints`` computes the
joints: legs by inverse kinematics of two bones, all others by forward kinematics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from weft.base.arrays import Floats
from weft.plugins.garments.mannequin.joints import ABDUCTION, LIMBS, NAMES, NUMBER, parents

CLAVICLE = 0.22  # part of the arm's abduction that the collar bone contributes
X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Stance:
    """k poses of a figure; sides are left and right.

    Args:
        root: (k,3) [m] displacement of the pelvis from rest.
        trunk: (k,5,3) [rad] rotation vectors of pelvis (in space), spine, chest, neck, head.
        arms: (k,2,3) [rad] abduction from hanging, flexion to the front, flexion of the elbow.
        ankles: (k,2,3) [m] positions in space.
        feet: (k,2,2) [rad] pitch of the foot and of its toes, toes up.
    """

    root: Floats
    trunk: Floats
    arms: Floats
    ankles: Floats
    feet: Floats

    def mix(self, other: "Stance", share: Floats) -> "Stance":
        """Return a mixture of this stance and another one; either may be a single pose.

        Args:
            other: the other stance.
            share: (k,) share of the other stance.
        """
        made = {}
        for field in fields(self):
            a, b = getattr(self, field.name), getattr(other, field.name)
            s = share.reshape(-1, *[1] * (a.ndim - 1))
            made[field.name] = (1 - s) * a + s * b
        return Stance(**made)

    def __len__(self) -> int:
        return len(self.root)


def a_pose(rest: Floats) -> Stance:
    """Return the rest pose, from joints (J,3) [m] at rest."""
    ankles = np.stack([rest[NUMBER["left_ankle"]], rest[NUMBER["right_ankle"]]])[None]
    arms = np.broadcast_to([ABDUCTION, 0.0, 0.0], (1, 2, 3))
    return Stance(np.zeros((1, 3)), np.zeros((1, 5, 3)), arms, ankles, np.zeros((1, 2, 2)))


def solve_joints(stance: Stance, rest: Floats) -> tuple[Floats, Floats]:
    """Compute the joints of a stance.

    Args:
        stance: k poses.
        rest: (J,3) [m] joints at rest.

    Returns:
        Rotations (k,J,3,3) of all joints in space, from rest, and their positions (k,J,3) [m].
    """
    k = len(stance)
    local = np.broadcast_to(np.eye(3), (k, len(NAMES), 3, 3)).copy()
    local[:, :5] = rotations(stance.trunk)
    for side, name in enumerate(("left_", "right_")):
        for joint, turn in _arm(stance.arms[:, side], rest, name).items():
            local[:, NUMBER[joint]] = turn
    turns, places = chain_joints(local, rest[0] + stance.root, rest, parents())
    for side, name in enumerate(("left_", "right_")):
        ids = [NUMBER[name + n] for n in LIMBS[4:]]
        _leg(turns, places, rest, ids, stance.ankles[:, side], stance.feet[:, side])
    return turns, places


def chain_joints(
    local: Floats, root: Floats, rest: Floats, above: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return the rotations (k,J,3,3) of joints in space, and their positions (k,J,3) [m].

    Args:
        local: (k,J,3,3) rotations relative to the parents; of the first joint, in space.
        root: (k,3) [m] positions of the first joint.
        rest: (J,3) [m] joints at rest.
        above: the number of every joint's parent, which comes before it; -1 for the first.
    """
    turns, places = local.copy(), np.empty(local.shape[:3])
    places[:, 0] = root
    for j, parent in enumerate(above[1:], start=1):
        turns[:, j] = turns[:, parent] @ local[:, j]
        places[:, j] = places[:, parent] + turns[:, parent] @ (rest[j] - rest[parent])
    return turns, places


def _arm(angles: Floats, rest: Floats, name: str) -> dict[str, Floats]:
    """Return the local rotations of collar bone, shoulder and elbow."""
    side = 1.0 if name == "left_" else -1.0
    abduction, flexion, elbow = angles.T
    collar = rotations(np.outer(CLAVICLE * side * (abduction - ABDUCTION), Z))
    hanging = rotations(np.outer(side * abduction, Z))
    whole = rotations(np.outer(-flexion, X)) @ hanging @ rotations(-side * ABDUCTION * Z)
    along = rest[NUMBER[name + "wrist"]] - rest[NUMBER[name + "elbow"]]
    axis = np.cross(along, Z)
    bend = rotations(np.outer(elbow, axis / np.linalg.norm(axis)))
    shoulder = np.swapaxes(collar, -1, -2) @ whole
    return {name + "clavicle": collar, name + "shoulder": shoulder, name + "elbow": bend}


def _leg(
    turns: Floats, places: Floats, rest: Floats, ids: list[int], ankle: Floats, pitch: Floats
) -> None:
    """Set hip, knee, ankle and ball of one leg in ``turns`` and ``places``: two bones from the hip
    to the ankle, with the knee to the front.
    """
    hip, knee, foot, ball = ids
    upper = float(np.linalg.norm(rest[knee] - rest[hip]))
    lower = float(np.linalg.norm(rest[foot] - rest[knee]))
    start = places[:, hip]
    way = ankle - start
    far = np.linalg.norm(way, axis=1)
    reach = np.minimum(far, upper + lower)
    along = way / far[:, None]
    # The knee lies at the distance `part` along the line to the ankle, and `beside` in front of it.
    part = (upper**2 - lower**2 + reach**2) / (2 * reach)
    beside = np.sqrt(np.maximum(upper**2 - part**2, 0.0))
    ahead = turns[:, NUMBER["pelvis"]] @ Z
    front = _perpendicular(ahead, along)
    middle = start + part[:, None] * along + beside[:, None] * front
    end = start + reach[:, None] * along
    straight = (rest[foot] - rest[hip])[None]
    frame = _frame(straight, _perpendicular(Z[None], straight / np.linalg.norm(straight)))
    for joint, bone in ((hip, middle - start), (knee, end - middle)):
        unit = bone / np.linalg.norm(bone, axis=1, keepdims=True)
        turns[:, joint] = _frame(bone, _perpendicular(ahead, unit)) @ np.swapaxes(frame, -1, -2)
    places[:, knee], places[:, foot] = middle, end
    turns[:, foot] = rotations(np.outer(-pitch[:, 0], X))
    turns[:, ball] = rotations(np.outer(-pitch[:, 1], X))
    places[:, ball] = end + turns[:, foot] @ (rest[ball] - rest[foot])


def _perpendicular(v: Floats, unit: Floats) -> Floats:
    """Return unit vectors (k,3) along the part of v at right angles to ``unit``."""
    part = v - (v * unit).sum(-1, keepdims=True) * unit
    return np.asarray(part / np.linalg.norm(part, axis=-1, keepdims=True))


def _frame(along: Floats, front: Floats) -> Floats:
    """Return right-handed frames (k,3,3) as columns: along, front, and across."""
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    return np.stack([along, front, np.cross(along, front)], axis=-1)


def rotations(vectors: Floats) -> Floats:
    """Return the rotation matrices (...,3,3) of rotation vectors (...,3) [rad], by Rodrigues'
    formula.
    """
    v = np.asarray(vectors, dtype=np.float64)
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    cross = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*v.shape[:-1], 3, 3)
    safe = np.where(angle > 1e-8, angle, 1.0)
    sine = np.where(angle > 1e-8, np.sin(safe) / safe, 1.0)
    cosine = np.where(angle > 1e-8, (1 - np.cos(safe)) / safe**2, 0.5)
    return np.asarray(np.eye(3) + sine * cross + cosine * cross @ cross)
