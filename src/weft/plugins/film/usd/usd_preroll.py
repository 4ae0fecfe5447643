"""Pre-roll of USD stages: skins and point caches come from their rest pose to their first frame.

The rest pose of a skin is its bind pose; that of a mesh with animated points is their default
value. Samples are written into the session layer. What has samples at the first frame of the
pre-roll, or before, keeps them: these are handles.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.plugins.film.usd.usd_stage import everything

if TYPE_CHECKING:
    from pxr import Usd, UsdSkel


def add_preroll(stage: "Usd.Stage", path: Path, origin: float, frames: int) -> None:
    """Write samples of the pre-roll of all skins and points.

    Args:
        stage: the stage; its edit target is the session layer.
        path: its file, for messages.
        origin: time code at which the pre-roll begins.
        frames: its length; the shot begins after it.

    Raises:
        MeshError: points without a default value, or a skeleton without a bind pose.
    """
    from pxr import UsdGeom, UsdSkel

    codes = np.linspace(origin, origin + frames, frames + 1)
    for prim in everything(stage):
        where = f"{path}{prim.GetPath()}"
        if prim.IsA(UsdGeom.Mesh) and not prim.IsInstanceProxy():
            points = UsdGeom.Mesh(prim).GetPointsAttr()
            _lead(points, points.Get(), codes, where)
        elif prim.IsA(UsdSkel.Skeleton):
            _lead_joints(UsdSkel.Skeleton(prim), codes, where)


def _lead_joints(skeleton: "UsdSkel.Skeleton", codes: Floats, where: str) -> None:
    """Write samples of the animation of a skeleton, joint by joint."""
    from pxr import UsdSkel, Vt

    motion = UsdSkel.Animation(UsdSkel.BindingAPI(skeleton).GetInheritedAnimationSource())
    joints, bind = skeleton.GetJointsAttr().Get() or [], skeleton.GetBindTransformsAttr().Get()
    if not motion:
        return
    moved = list(motion.GetJointsAttr().Get() or [])
    if len(bind or []) != len(joints) or not set(moved) <= set(joints):
        got = f"{len(bind or [])} bind transforms of {len(joints)} joints"
        raise MeshError("rest pose", got=got, where=where, expected="one for every animated joint")
    above = UsdSkel.Topology(joints).GetParentIndices()
    local = [b if p < 0 else b * bind[p].GetInverse() for b, p in zip(bind, above)]
    order = [local[list(joints).index(name)] for name in moved]
    rest = UsdSkel.DecomposeTransforms(Vt.Matrix4dArray(order))
    moves = motion.GetTranslationsAttr(), motion.GetRotationsAttr(), motion.GetScalesAttr()
    for attribute, value in zip(moves, rest):
        _lead(attribute, value, codes, where)


def _lead(attribute: "Usd.Attribute", rest: object, codes: Floats, where: str) -> None:
    """Write samples that go smoothly from a value at rest to the first sample."""
    samples = {code: attribute.Get(code) for code in attribute.GetTimeSamples()}
    start = min(samples, default=codes[0])
    if start <= codes[0]:
        return
    if rest is None:
        expected = "a default value, or samples from the first frame of the pre-roll on"
        raise MeshError("rest pose", got="none", where=where, expected=expected)
    # Stronger layers hide all samples of weaker ones: those of the stage are written again.
    end = min(start, codes[-1])
    for code, value in {**samples, codes[0]: rest, end: samples[start]}.items():
        attribute.Set(value, code)
    s = np.linspace(0.0, 1.0, len(codes))
    eased = codes[0] + (end - codes[0]) * s * s * (3 - 2 * s)
    between = [attribute.Get(code) for code in eased]  # USD interpolates, and turns joints
    for value, code in zip(between, codes[0] + (end - codes[0]) * s):
        attribute.Set(value, code)
