"""USD reader: cloth and bodies from .usd, .usda, .usdc and .usdz, static, animated or skinned.

Meshes that are drawn are read (``usd_stage``). Transforms are applied, axes are turned to y up, and
units are those of the stage. Subsets of faces and points become groups; primvars of one number per
vertex become painted weights. Skinned meshes (UsdSkel) are baked to points, by linear blending
or by dual quaternions where they say so, before they are read.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import CornerUv, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.base.input_file import MEMORY, SECONDS, USD_MESHES
from weft.base.machine import LIBRARY_THREADS, gib
from weft.discretization.mesh import mean_at_vertices
from weft.io.extra import optional
from weft.io.formats import usd_probe
from weft.io.formats.usd_materials import MATERIAL_UV
from weft.io.formats.usd_stage import Placed, all_meshes, list_drawn_meshes
from weft.io.surface import (
    PLAIN,
    SPACE,
    Contents,
    MovingMesh,
    PolygonTriangles,
    StageOptions,
    check_file,
    check_selection,
    join_contents,
    join_moving,
    triangulate_polygons,
)

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

SPEED = 5e6  # [bytes/s] least speed of the trial reading
WAIT = 10  # largest ratio of elapsed to processor time of the trial, on a busy machine
# primvars of texture coordinates; the first one is used
UV_NAMES = (MATERIAL_UV, "st", "UVMap", "map1", "uv")
UV_TYPES = ("texCoord2f[]", "float2[]", "texCoord2d[]")
WEIGHT_TYPES = ("float[]", "double[]", "half[]", "int[]")
COLOR_TYPES = ("color3f[]", "color4f[]", "color3d[]", "color4d[]", "color3h[]", "color4h[]")
COLORS = ("red", "green", "blue")


def usd_contents(
    path: Path, prim: str | None, *, one: bool, options: StageOptions = PLAIN
) -> Contents:
    """Return the meshes of a stage at its first time, or at that of ``options``.

    Args:
        path: the file.
        prim: path or name of one of them; None: all.
        one: refuse several meshes, because the result becomes one cloth.
        options: how the stage is read.

    Raises:
        MeshError: ``usd-core`` is missing, a damaged file, no such mesh, or several.
    """
    with _open(path) as stage:
        meshes = _select_meshes(stage, path, prim, one)
        codes = _times(stage, meshes)
        start = codes[0] if options.frame is None else options.frame
        if not codes[0] <= start <= codes[-1]:
            raise MeshError(
                "frame",
                got=f"{start:g}",
                where=f"{path}{meshes[0].placed.name}",
                expected=f"a time code from {codes[0]:g} to {codes[-1]:g}, where it has samples",
            )
        meters = _meters(stage, path)
        found = []
        for mesh in meshes:
            x = mesh.positions(start)
            triangles = mesh.triangles(x, start)
            groups, regions = mesh.subsets(len(x), triangles)
            if len(meshes) > 1:
                own = {mesh.mesh.GetPrim().GetName(): np.arange(len(x), dtype=np.int32)}
                groups, regions = own | groups, {}
            uv, weights = mesh.corner_uv(triangles, start), mesh.weights(len(x), start)
            at = mesh.placed.name
            found.append(Contents(x, triangles.faces, uv, groups, weights, meters, regions, at))
        return join_contents(found)


def usd_moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    """Return the meshes of a stage at all times at which one of them has a sample.

    Args:
        path: the file.
        fps: time codes per second; None: those of the stage.
        prim: path or name of one of them; None: all.

    Raises:
        MeshError: for the reasons of ``usd_contents``, or triangles that change.
    """
    with _open(path) as stage:
        meshes = _select_meshes(stage, path, prim, one=False)
        codes = _times(stage, meshes)
        x = [np.array([mesh.positions(code) for code in codes]) for mesh in meshes]
        faces = [mesh.triangles(p[0], codes[0]).faces for mesh, p in zip(meshes, x)]
        rate = fps or stage.GetTimeCodesPerSecond()
        if not rate > 0:
            raise MeshError("timeCodesPerSecond", got=rate, expected="must be > 0", where=path)
        times = (np.array(codes) - codes[0]) / rate
        return join_moving(times, x, faces, _meters(stage, path))


@contextmanager
def _open(path: Path) -> "Iterator[Usd.Stage]":
    """Open a stage, with skinned meshes baked in its session layer.

    Raises:
        MeshError: errors of USD and NumPy for damaged files, here and in the block.
    """
    optional("pxr.Usd", "usd", "USD files", MeshError)
    from pxr import Tf, Usd, UsdSkel

    check_file(path)
    _try(path)
    try:
        stage = Usd.Stage.Open(str(path))
        if any(p.IsA(UsdSkel.Root) for p in stage.Traverse()):
            session = stage.GetSessionLayer()
            # Time samples of a layer with another rate, such as the default of 24, are rescaled.
            session.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
            stage.SetEditTarget(session)
            UsdSkel.BakeSkinning(stage.Traverse())
        yield stage
    except (
        Tf.ErrorException,
        RuntimeError,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        try:
            said = str(error).strip().splitlines()[-1].partition(" : ")
            got = said[2] or said[0]
        except (UnicodeDecodeError, IndexError):  # names in damaged files may be arbitrary bytes
            got = type(error).__name__
        raise MeshError("USD file", got=got, where=path, expected="a whole one") from error


def _try(path: Path) -> None:
    """Read a file in a process with bounded memory and time, before it is read in this process.

    Raises:
        MeshError: it takes more memory or time than its size justifies, or USD cannot read it.
    """
    size = path.stat().st_size
    seconds = int(SECONDS + size / SPEED)
    words = [usd_probe.__file__, path, MEMORY + SPACE * size, seconds, USD_MESHES]
    quick = {"PXR_WORK_THREAD_LIMIT": "1", **dict.fromkeys(LIBRARY_THREADS, "1")}
    try:
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            env={**os.environ, **quick},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT * seconds,
        )
    except subprocess.TimeoutExpired:
        said, status = f"more than {WAIT * seconds} s to read", 1
    else:
        status = done.returncode
        said = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
    if status < 0:
        said = f"more than {seconds} s or {gib(MEMORY + SPACE * size)} to read, or USD crashes"
    if status:
        raise MeshError("USD file", got=said, where=path, expected="a whole one")


def _meters(stage: "Usd.Stage", path: Path) -> float:
    from pxr import UsdGeom

    meters = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not (np.isfinite(meters) and meters > 0):
        raise MeshError("metersPerUnit", got=meters, expected="must be > 0", where=path)
    return meters


def _select_meshes(stage: "Usd.Stage", path: Path, prim: str | None, one: bool) -> "list[UsdMesh]":
    """Return the drawn meshes with a name: a mesh's own path or name, or the path of a prim above
    it.

    A mesh that is named by its own path or name is returned whether it is drawn or not.
    """
    drawn = list_drawn_meshes(stage, path)
    meshes = drawn if prim is None else [p for p in drawn if _is_named(p.prim, p.name, prim)]
    if not meshes:
        every = [(p, str(p.GetPath())) for p in all_meshes(stage)]
        meshes = [Placed(p, at) for p, at in every if prim in (at, p.GetName())]
        hidden = [at for p, at in every if prim is None or _is_named(p, at, prim)]
        if hidden and not meshes:
            raise MeshError(
                "USD file",
                got=f"no mesh that is drawn{f' below {prim}' if prim else ''}",
                where=path,
                expected="one that is visible, of purpose default or render",
                hint=f"a mesh that is not drawn can be said by its path: prim: {hidden[0]}",
            )
    names, known = [p.name for p in meshes], [p.name for p in drawn]
    check_selection(names, known, prim, one=one, what="USD file", path=path)
    read: dict[str, UsdMesh] = {}  # meshes that several instances share are read once
    found = []
    for p in meshes:
        at = str(p.prim.GetPath())
        if at not in read:
            read[at] = _read_polygons(p, path)
        found.append(replace(read[at], placed=p))
    return found


def _is_named(prim: "Usd.Prim", name: str, said: str) -> bool:
    """Return whether ``said`` is a mesh's path or name, or the path of a prim above it."""
    return said in (name, prim.GetName()) or name.startswith(said.rstrip("/") + "/")


def _times(stage: "Usd.Stage", meshes: "Sequence[UsdMesh]") -> list[float]:
    """Return the time codes at which points or transforms have samples; one code if nothing
    moves.
    """
    codes = set[float]().union(*(mesh.placed.times() for mesh in meshes))
    return sorted(codes) or [float(stage.GetStartTimeCode())]


def _read_polygons(placed: Placed, path: Path) -> "UsdMesh":
    """Return a mesh with its polygons.

    Raises:
        MeshError: invalid faces, or faces that change in time.
    """
    from pxr import Usd, UsdGeom

    mesh, where = UsdGeom.Mesh(placed.prim), f"{path}{placed.name}"
    for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
        codes = attribute.GetTimeSamples()  # many programs write the same faces at every frame
        same = [np.array_equal(attribute.Get(codes[0]), attribute.Get(c)) for c in codes[1:]]
        if not all(same):
            expected = "the same at all times"
            raise MeshError("faces", got="some that change in time", where=where, expected=expected)
    first = Usd.TimeCode.EarliestTime()
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(first) or [], dtype=np.int64)
    ids = np.array(mesh.GetFaceVertexIndicesAttr().Get(first) or [], dtype=np.int64)
    if len(counts) == 0 or counts.min() < 3 or counts.sum() != len(ids):
        raise MeshError(
            "faces",
            got=f"{len(counts)} of {counts.sum()} corners, and {len(ids)} indices",
            where=where,
            expected="faces of three or more corners, and an index for each",
        )
    corners = np.split(np.arange(len(ids)), np.cumsum(counts)[:-1])
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        corners = [c[::-1] for c in corners]
    polygons = [ids[c].astype(np.int32) for c in corners]
    return UsdMesh(placed, mesh, str(path), polygons, np.concatenate(corners), int(ids.max()) + 1)


@dataclass(frozen=True, eq=False)
class UsdMesh:
    """One mesh of a stage, with its polygons, counter-clockwise seen from outside.

    Args:
        placed: its prim and transforms.
        mesh: the same prim.
        path: the file, for messages.
        polygons: vertices of each polygon.
        corners: (c,) place of the corners of all polygons in the arrays of the file.
        least: number of vertices that the polygons need.
    """

    placed: Placed
    mesh: "UsdGeom.Mesh"
    path: str
    polygons: Sequence[Ints]
    corners: Ints
    least: int

    def positions(self, code: float) -> Positions:
        """Return the world positions (n,3) at a time code, in the stage's units, y up.

        Raises:
            MeshError: points that are missing or not finite, or fewer than the faces need.
        """
        from pxr import UsdGeom

        where = f"{self.path}{self.placed.name}"
        x = _floats(self.mesh.GetPointsAttr().Get(code), (0, 3))
        if len(x) == 0:
            got = f"none at time code {code:g}"
            raise MeshError("points", got=got, where=where, expected="some")
        if len(x) < self.least:
            got = f"{len(x)} at time code {code:g}"
            expected = f"{self.least} or more, as faces need"
            raise MeshError("points", got=got, where=where, expected=expected)
        M = self.placed.to_world(code)
        with np.errstate(all="ignore"):
            x = x @ M[:3, :3] + M[3, :3]
        if not np.isfinite(x).all():
            bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
            raise MeshError(
                f"position of vertex {bad}", got=x[bad], where=where, expected="finite numbers"
            )
        up = UsdGeom.GetStageUpAxis(self.placed.prim.GetStage())
        return x if up != UsdGeom.Tokens.z else np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)

    def triangles(self, x: Positions, code: float) -> PolygonTriangles:
        """Return the triangles of the polygons, reversed if the transform mirrors.

        Args:
            x: (n,3) positions.
            code: time code of the transform.
        """
        found = triangulate_polygons(x, self.polygons, f"{self.path}{self.placed.name}")
        if np.linalg.det(self.placed.to_world(code)[:3, :3]) >= 0:
            return found
        return replace(found, faces=found.faces[:, ::-1], corners=found.corners[:, ::-1])

    def corner_uv(self, triangles: PolygonTriangles, code: float) -> CornerUv | None:
        """Return the texture coordinates (m,3,2) of triangles; None if the mesh has none.

        Raises:
            MeshError: values that are neither one per corner nor one per vertex.
        """
        from pxr import UsdGeom

        primvars = UsdGeom.PrimvarsAPI(self.mesh).GetPrimvars()
        found = {p.GetPrimvarName(): p for p in primvars if str(p.GetTypeName()) in UV_TYPES}
        names = [n for n in UV_NAMES if n in found] or list(found)
        if not names:
            return None
        primvar = found[names[0]]
        uv = _floats(primvar.ComputeFlattened(code), (0, 2))
        kind = primvar.GetInterpolation()
        at_vertices = kind in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying)
        if at_vertices and len(uv) >= self.least:
            return uv[triangles.faces]
        if kind == UsdGeom.Tokens.faceVarying and len(uv) == len(self.corners):
            return uv[self.corners[triangles.corners]]
        raise MeshError(
            f"primvar {names[0]}",
            got=f"{len(uv)} values, {kind}",
            where=self.placed.name,
            expected="one a corner (faceVarying) or a vertex",
        )

    def subsets(
        self, n: int, triangles: PolygonTriangles
    ) -> tuple[dict[str, Ints], dict[str, Ints]]:
        """Return the vertices of every subset by name, and the triangles of every subset of faces.

        Args:
            n: number of vertices.
            triangles: of the polygons.
        """
        from pxr import UsdGeom

        groups: dict[str, Ints] = {}
        regions: dict[str, Ints] = {}
        for subset in UsdGeom.Subset.GetAllGeomSubsets(self.mesh):
            name = subset.GetPrim().GetName()
            ids = np.array(subset.GetIndicesAttr().Get() or [], dtype=np.int64)
            kind = subset.GetElementTypeAttr().Get()
            of_faces = kind == UsdGeom.Tokens.face
            if of_faces:
                regions[name] = triangles.of_polygons(ids.tolist())
            valid = len(ids) > 0 and ids.min() >= 0
            if valid and of_faces and ids.max() < len(self.polygons):
                groups[name] = np.unique(np.concatenate([self.polygons[k] for k in ids]))
            elif valid and kind == UsdGeom.Tokens.point and ids.max() < n:
                groups[name] = np.unique(ids).astype(np.int32)
        return groups, regions

    def weights(self, n: int, code: float) -> dict[str, Floats]:
        """Return the primvars with one number for each of n vertices, or for each corner (their
        mean at a vertex), by name.

        Colors are three of them: red, green and blue of displayColor, and NAME.red of others. A
        primvar of another length is left out, with a warning.
        """
        from pxr import UsdGeom

        found: dict[str, Floats] = {}
        at_vertices = (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying)
        ids = np.concatenate(self.polygons)
        for p in UsdGeom.PrimvarsAPI(self.mesh).GetPrimvars():
            kind, name, place = str(p.GetTypeName()), p.GetPrimvarName(), p.GetInterpolation()
            at_corners = place == UsdGeom.Tokens.faceVarying
            is_color = kind in COLOR_TYPES
            if not (kind in WEIGHT_TYPES or is_color) or not (place in at_vertices or at_corners):
                continue
            values = _floats(p.ComputeFlattened(code), (0,))
            count = len(ids) if at_corners else n
            if len(values) != count:
                warnings.warn(
                    f"primvar {name} of {self.path}{self.placed.name} is left out: {len(values)} "
                    f"values ({place}), not {count}",
                    stacklevel=2,
                )
                continue
            if at_corners:
                values = mean_at_vertices(ids, values[self.corners], n)
            first = "" if name == "displayColor" else f"{name}."
            names = [first + color for color in COLORS] if is_color else [name]
            found.update(zip(names, values.reshape(n, -1).T))
        return found


def _floats(values: ArrayLike, none: tuple[int, ...]) -> Floats:
    """Return an array of USD in float64; a missing one is an empty array of shape ``none``."""
    with np.errstate(invalid="ignore"):  # signaling NaN
        return np.array(np.zeros(none) if values is None else values, dtype=np.float64)
