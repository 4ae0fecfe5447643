"""UsdSkel writer: a skeleton, its animation, and a skin of weights, in place of moving points.

Prims are a ``SkelRoot`` with the mesh, a ``Skeleton`` with bind and rest transforms, and a
``SkelAnimation`` with a sample for every frame. The skin asks for dual quaternions
(``primvars:skel:skinningMethod``); programs that do not know this attribute blend linearly.
"""

from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.io.animation import Convention, SkinnedMotion, SurfaceTopology
from weft.plugins.film.usd.usd import ROOT, MeshTrack, define_mesh, new_stage, save_stage


def write_skinned(path: Path, motion: SkinnedMotion) -> None:
    """Write a skin and the motion of its joints to a USD file.

    Raises:
        RunError: ``usd-core`` is missing, or the file cannot be written.
    """
    save_stage(path, lambda new, _: _write(new, motion))


def joint_paths(motion: SkinnedMotion) -> list[str]:
    """Return the path of every joint through those above it: ``pelvis/spine``."""
    paths: list[str] = []
    for name, parent in zip(motion.joints, motion.parents):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    return paths


def _write(path: Path, motion: SkinnedMotion) -> None:
    from pxr import Gf, Sdf, UsdSkel, Vt

    stage = new_stage(path, Convention(), motion.fps, 0, len(motion.turns) - 1)
    root = UsdSkel.Root.Define(stage, f"/{ROOT}")
    stage.SetDefaultPrim(root.GetPrim())
    paths, parents = joint_paths(motion), np.array(motion.parents)
    local = motion.rest - np.where(parents[:, None] < 0, 0.0, motion.rest[parents])
    skeleton = UsdSkel.Skeleton.Define(stage, f"/{ROOT}/skeleton")
    skeleton.CreateJointsAttr(paths)
    for create, places in (
        (skeleton.CreateBindTransformsAttr, motion.rest),
        (skeleton.CreateRestTransformsAttr, local),
    ):
        create([Gf.Matrix4d(1).SetTranslate(Gf.Vec3d(*p.tolist())) for p in places])
    mesh = define_mesh(stage, f"/{ROOT}/body", SurfaceTopology("body", motion.faces))
    MeshTrack(mesh).sample(None, motion.vertices.astype(np.float32))
    skin, width = UsdSkel.BindingAPI.Apply(mesh.GetPrim()), motion.skin.shape[1]
    skin.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    skin.CreateGeomBindTransformAttr(Gf.Matrix4d(1))
    ids, weights = motion.skin.ravel().astype(np.int32), motion.weights.ravel().astype(np.float32)
    skin.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(ids))
    skin.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray.FromNumpy(weights))
    skin.CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    animation = UsdSkel.Animation.Define(stage, f"/{ROOT}/motion")
    animation.CreateJointsAttr(paths)
    animation.CreateScalesAttr(Vt.Vec3hArray(len(paths), Gf.Vec3h(1)))
    turned, moved = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
    for k, (turns, shifts) in enumerate(zip(*_relative(motion))):
        turned.Set(Vt.QuatfArray([Gf.Quatf(*q) for q in turns.tolist()]), k)
        moved.Set(Vt.Vec3fArray.FromNumpy(shifts.astype(np.float32)), k)
    bound = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    bound.CreateAnimationSourceRel().SetTargets([Sdf.Path(f"/{ROOT}/motion")])
    stage.GetRootLayer().Save()
    del stage


def _relative(motion: SkinnedMotion) -> tuple[Floats, Floats]:
    """Return the quaternions (k,J,4), real part first, and the positions (k,J,3) [m] of joints
    relative to their parents; signs do not change from frame to frame.
    """
    from scipy.spatial.transform import Rotation

    turns, places = motion.turns.copy(), motion.places.copy()
    for j, parent in enumerate(motion.parents):
        if parent >= 0:
            back = np.swapaxes(motion.turns[:, parent], -1, -2)
            turns[:, j] = back @ motion.turns[:, j]
            apart = motion.places[:, j] - motion.places[:, parent]
            places[:, j] = np.einsum("kab,kb->ka", back, apart)
    q = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_quat().reshape(*turns.shape[:2], 4)
    same = np.where((q[1:] * q[:-1]).sum(-1) < 0, -1.0, 1.0)
    q[1:] *= np.cumprod(same, axis=0)[..., None]
    return np.roll(q, 1, axis=-1), places
