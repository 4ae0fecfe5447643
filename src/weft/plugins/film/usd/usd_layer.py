"""USD layer writer: cloth as opinions on the prims of an asset, in a layer over its stage.

The layer has ``over`` prims with time samples of ``points``, ``velocities``, ``accelerations`` and
``extent``, and of normals if the asset has some, in the space of each prim and the units, axes and
time codes of the stage. All else stays that of the asset: polygons, creases, primvars, subsets,
materials. Beside ``NAME.usdc``, ``NAME_stage.usda`` has the layer and the asset as sublayers.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import AnyArray, Floats, Ints, Positions, Velocities
from weft.base.errors import MeshError, RunError
from weft.io.animation import Animation, Convention
from weft.io.surface import PLAIN
from weft.plugins.film.assets.asset_cloth import AssetCloth
from weft.plugins.film.usd.usd import save_stage
from weft.plugins.film.usd.usd_open import open_stage
from weft.plugins.film.usd.usd_read import UsdMesh, select_meshes, stage_meters

if TYPE_CHECKING:
    from pxr import Sdf, Usd


def write_usd_layer(
    path: Path,
    asset: Path,
    animation: Animation,
    cloths: Sequence[AssetCloth],
    first: float | None,
) -> Sequence[str]:
    """Write the motion of meshes of a stage as a layer, and a stage of both; return notes.

    Args:
        path: the layer.
        asset: the file of the stage, which is not changed.
        animation: the run, in meters, y up.
        cloths: which meshes move.
        first: time code of the first frame; None: the run begins at the first one of the stage.

    Raises:
        RunError: ``usd-core`` is missing, or a file cannot be written.
        MeshError: a prim that a layer cannot move, or a stage without a default prim or with too
            few time codes.
    """
    if path.suffix.lower() == ".usdz":
        raise RunError("onto", got=path.name, expected=".usdc, .usda or .usd: a layer")
    with open_stage(asset, cloths[0].prim, PLAIN) as stage:
        code = _time_codes(stage, asset, animation, first)
        start = code(animation.moment(0).t)
        targets = [_Target(stage, asset, cloth, start) for cloth in cloths]
        notes = list[str]()

        def write(new: Path, _: Path) -> None:
            layer = _new_layer(new, stage)
            stage.GetSessionLayer().subLayerPaths.append(layer.identifier)
            stage.SetEditTarget(layer)
            for target in targets:
                notes.extend(target.release())
            for moment in animation:
                for target in targets:
                    target.add(moment.positions[0], moment.velocities, code(moment.t))
            for target in targets:
                target.add_accelerations()
            layer.Save()

        def write_stage(new: Path, _: Path) -> None:
            layer = _new_layer(new, stage)
            if not stage.HasAuthoredTimeCodeRange():
                end = code(animation.moment(animation.count - 1).t)
                layer.startTimeCode, layer.endTimeCode = start, end
            for file in (path, asset):
                name = Path(os.path.relpath(file.resolve(), path.parent.resolve())).as_posix()
                layer.subLayerPaths.append(name if name.startswith(".") else f"./{name}")
            layer.Save()

        save_stage(path, write)
        whole = path.with_name(f"{path.stem}_stage.usda")
        save_stage(whole, write_stage)
    return [f"{whole.name} is the layer over {asset.name}", *notes]


def _new_layer(path: Path, stage: "Usd.Stage") -> "Sdf.Layer":
    """Return a new layer with the units, axes, time codes and default prim of a stage."""
    from pxr import Sdf

    layer, root = Sdf.Layer.CreateNew(str(path)), stage.GetRootLayer().pseudoRoot
    for key in set(root.ListInfoKeys()) - {"subLayers", "subLayerOffsets"}:
        layer.pseudoRoot.SetInfo(key, root.GetInfo(key))
    return layer


def _time_codes(
    stage: "Usd.Stage", asset: Path, animation: Animation, first: float | None
) -> Callable[[float], float]:
    """Return the function from times [s] of a run to time codes of a stage.

    Raises:
        MeshError: no default prim, or time codes that end before the frames.
    """
    prim, end = stage.GetDefaultPrim(), stage.GetEndTimeCode()
    if not prim:
        roots = ", ".join(str(p.GetPath()) for p in stage.GetPseudoRoot().GetChildren())
        raise MeshError("defaultPrim", got="none", where=asset, expected=f"one of {roots}")
    begin, start = 0.0, stage.GetStartTimeCode()
    if first is not None:
        before = (animation.first - animation.numbers[0]) / animation.fps  # opens the shutter
        begin, start = animation.moment(0).t + before, first

    def code(t: float) -> float:
        return float(round(start + (t - begin) * stage.GetTimeCodesPerSecond(), 6))

    last = code(animation.moment(animation.count - 1).t)
    if stage.HasAuthoredTimeCodeRange() and last >= end + 1:  # a shutter closes after the end
        raise MeshError(
            "time codes",
            got=f"frames up to {last:g}",
            where=f"{asset}{prim.GetPath()}",
            expected=f"at most {end:g}, where the stage ends",
            hint="choose frames (`frames=0:48`), or make the stage longer",
        )
    return code


class _Target:
    """A mesh of a stage that the cloth moves.

    Args:
        stage: the stage; the edit target is the layer when samples are added.
        asset: its file.
        cloth: the mesh, and how it follows the cloth.
        start: time code at which the cloth begins.

    Raises:
        MeshError: no such mesh, or a point instance.
    """

    def __init__(self, stage: "Usd.Stage", asset: Path, cloth: AssetCloth, start: float) -> None:
        from pxr import UsdGeom

        (mesh,) = select_meshes(stage, asset, cloth.prim, True, PLAIN)
        if mesh.placed.within:
            raise MeshError(
                "prim",
                got="a point instance, which shares its mesh with all others",
                where=f"{asset}{mesh.placed.name}",
                expected="its own mesh",
            )
        up = Convention("z" if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z else "y")
        self.stage, self.path, self.placed = stage, mesh.placed.name, mesh.placed
        self.cloth = replace(cloth, to_file=up.of(np.eye(3)) / stage_meters(stage, asset))
        self.velocities: dict[float, AnyArray] = {}  # by time code
        # By name of their attribute, with pairs of a normal and a vertex.
        self.normals: dict[str, tuple[Floats, tuple[Ints, Ints]]] = {}
        M = np.linalg.inv(mesh.placed.to_world(start)[:3, :3]).T @ self.cloth.to_file.T
        for name in ("normals", "primvars:normals"):
            attribute = mesh.placed.prim.GetAttribute(name)
            if attribute.HasAuthoredValue():
                values = np.array(attribute.Get(start), dtype=np.float64)
                self.normals[name] = values @ M, _users(mesh, attribute, start)

    def release(self) -> Iterator[str]:
        """Free the mesh of instances and of a skeleton, which would move it; say so."""
        from pxr import Sdf, UsdSkel

        for path in Sdf.Path(self.path).GetPrefixes():
            prim = self.stage.GetPrimAtPath(path)
            # Not ``IsInstance``: instances of skins are separated in the session layer.
            if any(spec.GetInfo("instanceable") for spec in prim.GetPrimStack()):
                prim.SetInstanceable(False)
                yield f"{path} becomes a prim without instancing, because its mesh moves alone"
        binding = UsdSkel.BindingAPI(self.stage.GetPrimAtPath(self.path))
        if binding.GetInheritedSkeleton() and binding.GetJointIndicesAttr().IsAuthored():
            binding.GetSkeletonRel().SetTargets([])
            yield f"{self.path} is no longer bound to its skeleton, which would move it again"

    def add(self, x: Positions, v: Velocities, code: float) -> None:
        """Write the samples at a time code, for the cloth at x with velocities v [m, s], y up."""
        K, before, after = (np.linalg.inv(self.placed.to_world(code + d)) for d in (0, -0.5, 0.5))
        rate = (after - before) * self.stage.GetTimeCodesPerSecond()  # of the prim's transform
        p, w = self.cloth.positions(x), self.cloth.velocities(x, v)
        local = p @ K[:3, :3] + K[3, :3]
        self.velocities[code] = w @ K[:3, :3] + p @ rate[:3, :3] + rate[3, :3]
        self._set("points", code, local)
        self._set("velocities", code, self.velocities[code])
        self._set("extent", code, np.stack([local.min(0), local.max(0)]))
        for name, (directions, users) in self.normals.items():
            turned = self.cloth.surface.turn(x, directions, users) @ self.cloth.to_file
            turned = turned @ np.linalg.inv(K[:3, :3]).T
            self._set(name, code, turned / np.linalg.norm(turned, axis=1, keepdims=True))

    def add_accelerations(self) -> None:
        """Write accelerations, the differences of the velocities at the samples."""
        t = np.array(list(self.velocities)) / self.stage.GetTimeCodesPerSecond()
        if len(t) > 1:
            found = np.gradient(np.array(list(self.velocities.values())), t, axis=0)
            for code, a in zip(self.velocities, found):
                self._set("accelerations", code, a)

    def _set(self, name: str, code: float, values: AnyArray) -> None:
        from pxr import Vt

        attribute = self.stage.GetAttributeAtPath(f"{self.path}.{name}")
        attribute.Set(Vt.Vec3fArray.FromNumpy(np.float32(values)), code)


def _users(mesh: UsdMesh, attribute: "Usd.Attribute", code: float) -> tuple[Ints, Ints]:
    """Return pairs (p,) of a normal of an attribute and a vertex that has it."""
    from pxr import UsdGeom

    sizes, ids = mesh.shape.counts, mesh.shape.ids
    primvar = UsdGeom.Primvar(attribute)
    kind = primvar.GetInterpolation() if primvar else mesh.mesh.GetNormalsInterpolation()
    rows = np.arange(mesh.n_points, dtype=np.int32)
    if kind == UsdGeom.Tokens.faceVarying:
        rows = mesh.corners
    elif kind == UsdGeom.Tokens.uniform:
        rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    else:
        ids = rows
    if primvar and primvar.IsIndexed():
        rows = np.array(primvar.GetIndices(code))[rows]
    return rows, ids
