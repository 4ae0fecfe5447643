"""Bodies in the published layout of SMPL, from files that the user has: shape, pose and skin.

The model is Loper et al., *SMPL: A Skinned Multi-Person Linear Model* (ACM Transactions on Graphics
34(6), 2015), and equation numbers are those of this paper. A shape is the mean body plus a sum of
blend shapes, joints are weighted means of vertices, and a pose adds blend shapes that correct the
linear blend skinning. SMPL-H and SMPL-X have the same layout with more joints. weft has none of
these models: their licenses do not allow it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Faces, Floats, Positions
from weft.base.errors import MannequinError
from weft.base.machine import gib, memory
from weft.io.archive import read_npz
from weft.plugins.garments.mannequin.motions import smoothstep
from weft.plugins.garments.mannequin.skinning import BLOCK
from weft.plugins.garments.mannequin.stance import chain_joints, rotations

BODY_JOINTS = 22  # the first joints of SMPL, SMPL-H and SMPL-X are the same, pelvis to wrists
FAMILY = (24, 52, 55)  # numbers of joints of these three models
SHOULDERS = (16, 17)  # left and right, of these models
UPRIGHT = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # from z up, as AMASS has it, to y up
MODEL = {  # shapes of the arrays: n vertices, S blend shapes, J joints, P = 9 (J - 1), m faces
    "v_template": "n3",
    "shapedirs": "n3S",
    "posedirs": "n3P",
    "J_regressor": "Jn",
    "weights": "nJ",
    "kintree_table": "2J",
    "f": "m3",
}
MOTION = {"poses": "kA", "trans": "k3"}  # k frames, A angles
MOST = 0.2  # largest part of the machine's memory that the frames may take
HINT = (
    "pickles are not read, because they may run code: docs/guides/smpl.md says how to convert one"
)


@dataclass(frozen=True, eq=False)
class SmplModel:
    """A body model: y up, at the rest pose with level arms, looking along +z.

    Args:
        mean: (n,3) [m] vertices of the mean body.
        shapes: (n,3,S) [m] blend shapes of the body.
        correctives: (n,3,9(J-1)) [m] blend shapes of the pose.
        regressor: (J,n) weights of vertices, which give joints.
        weights: (n,J) skinning weights; they sum to one.
        parents: the number of every joint's parent, which comes before it; -1 for the first.
        faces: (m,3).
    """

    mean: Positions
    shapes: Floats
    correctives: Floats
    regressor: Floats
    weights: Floats
    parents: Sequence[int]
    faces: Faces

    def shape(self, betas: Sequence[float]) -> tuple[Positions, Floats]:
        """Return the vertices (n,3) [m] and joints (J,3) [m] of a body at rest, equations 8 and 10.

        Args:
            betas: coefficients of the first blend shapes; the others are zero.

        Raises:
            MannequinError: more coefficients than blend shapes, or some that are not finite.
        """
        b, most = np.asarray(betas, dtype=np.float64), self.shapes.shape[2]
        if len(b) > most:
            expected = f"at most {most}, the number in the model"
            raise MannequinError("smpl.betas", got=f"{len(b)} numbers", expected=expected)
        _check_finite("smpl.betas", b, None)
        x = self.mean + self.shapes[:, :, : len(b)] @ b
        return x, self.regressor @ x

    def pose(self, body: tuple[Positions, Floats], turns: Floats, places: Floats) -> Floats:
        """Return the vertices (k,n,3) [m] of a body in k poses, equations 2 to 7 and 9.

        Args:
            body: vertices and joints at rest.
            turns: (k,J,3,3) rotations of joints relative to their parents; of the first, in space.
            places: (k,3) [m] of the first joint.
        """
        x, joints = body
        out = np.empty((len(turns), *x.shape))
        whole, at = chain_joints(turns, places, joints, self.parents)
        shift = at - np.einsum("kjab,jb->kja", whole, joints)
        bends = (turns[:, 1:] - np.eye(3)).reshape(len(turns), self.correctives.shape[2])
        directions = self.correctives.reshape(3 * len(x), -1).T
        matrices = whole.reshape(*whole.shape[:2], 9)
        for first in range(0, len(turns), BLOCK):
            some = slice(first, first + BLOCK)
            bent = x + (bends[some] @ directions).reshape(-1, *x.shape)
            blend = (self.weights @ matrices[some]).reshape(*bent.shape, 3)
            out[some] = (blend @ bent[..., None])[..., 0] + self.weights @ shift[some]
        return out


@dataclass(frozen=True, eq=False)
class SmplMotion:
    """A motion in the layout of AMASS (Mahmood et al. 2019).

    Args:
        poses: (k,J,3) [rad] rotation vectors of joints relative to their parents.
        places: (k,3) [m] displacements of the body.
        fps: [1/s] frames per second.
        betas: of the person; empty: not stated.
    """

    poses: Floats
    places: Floats
    fps: float
    betas: Floats


def read_smpl(path: Path) -> SmplModel:
    """Return the model in an .npz of the published arrays: ``v_template, shapedirs, posedirs,
    J_regressor, weights, kintree_table, f``.

    Raises:
        MannequinError: another file, or arrays that are missing, of other shapes, not finite or
            out of range.
    """
    a = _read(path, MODEL, "smpl.file")
    sizes = _check_shapes(a, MODEL, "smpl.file", path)
    if sizes["P"] != 9 * (sizes["J"] - 1):
        _refuse("smpl.file", "posedirs", a, f"(n, 3, {9 * (sizes['J'] - 1)})", path)
    above, own = np.where(
        a["kintree_table"] >= 2**31, -1, a["kintree_table"]
    )  # the parent of the first joint is 2**32 - 1
    numbers = np.arange(sizes["J"])
    if (own != numbers).any() or above[0] >= 0 or (above[1:] < 0).any() or (above >= numbers).any():
        raise MannequinError(
            "smpl.file: kintree_table",
            got=above.tolist(),
            expected="joints in order, each with a parent that comes before",
            where=path,
        )
    faces = a["f"]
    if len(faces) == 0 or faces.min() < 0 or faces.max() >= sizes["n"]:
        got = f"vertex {faces.max()}" if len(faces) else "no faces"
        expected = f"vertices 0 to {sizes['n'] - 1}"
        raise MannequinError("smpl.file: f", got=got, expected=expected, where=path)
    w = a["weights"]
    if w.min() < -1e-6 or np.abs(w.sum(1) - 1).max() > 1e-3:
        got = f"sums from {w.sum(1).min():.4g} to {w.sum(1).max():.4g}, least {w.min():.3g}"
        expected = ">= 0, with sums of 1"
        raise MannequinError("smpl.file: weights", got=got, expected=expected, where=path)
    return SmplModel(
        a["v_template"],
        a["shapedirs"],
        a["posedirs"],
        a["J_regressor"],
        w,
        above.tolist(),
        faces.astype(np.int32),
    )


def read_motion(path: Path, n_joints: int) -> SmplMotion:
    """Return the motion of an .npz with ``poses, trans, mocap_framerate`` and perhaps ``betas``.

    A motion of another model of the family moves the first 22 joints; hands and face then rest.

    Args:
        path: the file; its vertical axis is z, the motion's is y.
        n_joints: J of the model.

    Raises:
        MannequinError: another file, or arrays that are missing, of other shapes or not finite.
    """
    what = "smpl.motion"
    a = _read(path, MOTION, what, rates=("mocap_framerate", "mocap_frame_rate"))
    k, angles = (_check_shapes(a, MOTION, what, path)[n] for n in "kA")
    rate = a.get("mocap_framerate", a.get("mocap_frame_rate"))
    fps = float(rate.reshape(-1)[0]) if rate is not None and rate.size == 1 else np.nan
    if k == 0 or not (np.isfinite(fps) and fps > 0):
        got = f"{k} frames, a rate of {fps:g}"
        expected = "frames, and mocap_framerate > 0 [1/s]"
        raise MannequinError(what, got=got, expected=expected, where=path)
    other = n_joints in FAMILY and angles in [3 * j for j in FAMILY]
    if angles != 3 * n_joints and not other:
        expected = f"(frames, {3 * n_joints}), three angles for each joint of the model"
        _refuse(what, "poses", a, expected, path)
    poses = np.zeros((k, n_joints, 3))
    used = n_joints if angles == 3 * n_joints else BODY_JOINTS
    poses[:, :used] = a["poses"][:, : 3 * used].reshape(k, used, 3)
    betas = a.get("betas", np.zeros(0)).reshape(-1)
    _check_finite(f"{what}: betas", betas, path)
    return SmplMotion(poses, a["trans"], fps, betas)


def stand(model: SmplModel, betas: Sequence[float], arms: float = 0.0) -> Positions:
    """Return the vertices (n,3) [m] of a body that stands on y = 0, looking along +z.

    Args:
        model: the model.
        betas: its shape.
        arms: [rad] by which level arms are let down.

    Raises:
        MannequinError: betas of another number, or arms of a model that has no such joints.
    """
    body = model.shape(betas)
    turns = rotations(_rest_pose(model, arms))[None]
    x = model.pose(body, turns, body[1][:1])[0]
    return np.asarray(x - [0.0, x[:, 1].min(), 0.0])


def animate(
    model: SmplModel,
    motion: SmplMotion,
    betas: Sequence[float],
    *,
    arms: float = 0.0,
    hold: float = 0.0,
    blend: float = 1.0,
    fps: float = 60.0,
) -> tuple[Floats, Floats]:
    """Return times (k,) [s] and vertices (k,n,3) [m] of a body that moves.

    It first stands at rest where the motion begins, upright on y = 0 and turned as the motion is.
    The motion is then blended in, as motions of the mannequin are, with rotations along their
    shorter arcs.

    Args:
        model: the model.
        motion: the motion.
        betas: shape of the body.
        arms: [rad] by which level arms are let down at rest.
        hold: [s] at rest.
        blend: [s] from rest into the motion, which already runs; 0 with ``hold`` 0: the motion.
        fps: [1/s] frames that are kept, about: every so many of the motion's.

    Raises:
        MannequinError: for the reasons of ``stand``, or more frames than fit in memory.
    """
    from scipy.spatial.transform import Rotation

    body = model.shape(betas)
    thin = max(1, round(motion.fps / fps))
    rate, poses = motion.fps / thin, motion.poses[::thin]
    n_hold, n_blend = round(hold * rate), round(blend * rate)
    count = n_hold + max(len(poses), n_blend + 1)
    size = 24 * count * len(model.mean)
    if size > MOST * memory():
        raise MannequinError(
            "smpl.motion",
            got=f"{count} frames: {gib(size)}",
            expected=f"at most {gib(int(MOST * memory()))}",
            hint="keep fewer frames a second (fps), or a part of the motion",
        )
    since = np.arange(count) - n_hold  # frames since the blend began
    frame = np.clip(since, 0, len(poses) - 1)
    share = smoothstep(since / n_blend) if n_blend else (since >= 0).astype(np.float64)
    turns = rotations(poses[frame])
    turns[:, 0] = UPRIGHT @ turns[:, 0]
    places = (motion.places[::thin][frame] + body[1][0]) @ UPRIGHT.T
    still = rotations(_rest_pose(model, arms))
    low = model.pose(body, still[None], body[1][:1])[0][:, 1].min()
    ahead = rotations(poses[0, 0]) @ [0.0, 0.0, 1.0] @ UPRIGHT.T
    still[0] = rotations(np.array([0.0, np.arctan2(ahead[0], ahead[2]), 0.0]))
    before = np.array([places[n_hold, 0], body[1][0, 1] - low, places[n_hold, 2]])
    mixed = share < 1
    way = Rotation.from_matrix((turns[mixed] @ np.swapaxes(still, 1, 2)).reshape(-1, 3, 3))
    part = way.as_rotvec().reshape(-1, len(still), 3) * share[mixed, None, None]
    turns[mixed] = rotations(part) @ still
    places = before + share[:, None] * (places - before)
    return np.arange(count) / rate, model.pose(body, turns, places)


def _rest_pose(model: SmplModel, arms: float) -> Floats:
    """Return rotation vectors (J,3) of standing with the arms let down from level by an angle."""
    pose = np.zeros((len(model.parents), 3))
    if arms:
        if len(pose) not in FAMILY:
            raise MannequinError(
                "smpl.arms",
                got=f"{np.degrees(arms):g} degrees of a model of {len(pose)} joints",
                expected=f"0, or a model of {', '.join(map(str, FAMILY))} joints",
            )
        pose[SHOULDERS, 2] = -arms, arms
    return pose


def _read(
    path: Path, wanted: Mapping[str, str], what: str, rates: Sequence[str] = ()
) -> dict[str, AnyArray]:
    """Return the arrays of a file that have names in ``wanted`` or ``rates``, or are ``betas``:
    float64, or int64 of indices.
    """
    names = (*wanted, *rates, "betas")
    expected = f"an .npz with {', '.join(wanted)}" + (f" and {rates[0]}" if rates else "")
    if path.suffix.lower() != ".npz":
        got = path.suffix or "no suffix"
        raise MannequinError(what, got=got, expected=expected, where=path, hint=HINT)
    found = read_npz(path, what=what, expected=expected, error=MannequinError, names=names)
    missing = [n for n in wanted if n not in found]
    missing += [] if not rates or any(n in found for n in rates) else [rates[0]]
    if missing:
        got = f"no {', '.join(missing)}"
        raise MannequinError(what, got=got, expected=expected, where=path)
    for name, values in found.items():
        ids = name in ("f", "kintree_table")
        if values.dtype.kind not in ("iu" if ids else "iuf"):
            _refuse(what, name, found, "numbers", path)
        found[name] = values.astype(np.int64 if ids else np.float64)
    return found


def _check_shapes(
    a: Mapping[str, AnyArray], wanted: Mapping[str, str], what: str, path: Path
) -> dict[str, int]:
    """Return the size that each letter stands for, after arrays were compared with their shapes."""
    sizes: dict[str, int] = {}
    for name, letters in wanted.items():
        shape = a[name].shape
        same = len(shape) == len(letters) and all(
            n == (int(c) if c.isdigit() else sizes.setdefault(c, n)) for c, n in zip(letters, shape)
        )
        if not same:
            wants = ", ".join(str(sizes.get(c, c)) for c in letters)
            _refuse(what, name, a, f"numbers ({wants})", path)
        _check_finite(f"{what}: {name}", a[name], path)
    return sizes


def _refuse(what: str, name: str, a: Mapping[str, AnyArray], expected: str, path: Path) -> None:
    got = f"{a[name].dtype} {a[name].shape}"
    raise MannequinError(f"{what}: {name}", got=got, expected=expected, where=path)


def _check_finite(what: str, values: AnyArray, path: Path | None) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = None if path is None else str(path)
        got = f"{values[tuple(bad[0])]} at {bad[0].tolist()}"
        raise MannequinError(what, got=got, expected="finite numbers", where=where)
