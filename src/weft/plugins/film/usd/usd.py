"""USD writer: .usda, .usdc and .usdz.

Each surface is one prim below a default prim: ``points`` and ``extent`` at every frame,
``velocities`` of the cloth, face-varying ``st``, no subdivision, a ``GeomSubset`` for every cloth
or panel. Axes, units and frame rate are the stage's metadata. ``UsdValidation`` finds no errors.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import AnyArray
from weft.base.errors import RunError
from weft.io.animation import Animation, AnimationFrame, Convention, SurfaceTopology, distinct
from weft.io.extra import optional
from weft.io.files import atomic_path
from weft.plugins.film.usd.usd_materials import MATERIAL_UV, Materials
from weft.plugins.film.usd.usd_tiles import save_tiles

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

ROOT = "weft"  # the default prim
FAMILY = "part"  # family name of the subsets
BOUND = "materialBind"  # family name of subsets with materials, which the specification wants


def write_usd(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames to a USD file, and return notes for the user.

    Raises:
        RunError: ``usd-core`` is missing, or the file cannot be written.
    """

    def write(new: Path, name: Path) -> None:
        folder = name.with_name(f"{name.stem}_textures")
        _write(new, animation.with_layers(), folder)

    save_stage(path, write)
    return ()


def save_stage(path: Path, write: Callable[[Path, Path], None]) -> None:
    """Write a stage to a file, which is replaced when it is whole.

    Args:
        path: the file; a .usdz is a package of the stage and its images.
        write: gets the temporary path of the stage, and the path that images are named after.

    Raises:
        RunError: ``usd-core`` is missing, or the file cannot be written.
    """
    optional("pxr.Usd", "usd", "USD files", RunError)
    with atomic_path(path) as new, _system_errors():
        if path.suffix.lower() != ".usdz":
            write(new, path)
            return
        from pxr import Sdf, UsdUtils

        with TemporaryDirectory(dir=path.parent) as folder:
            layer = Path(folder) / f"{path.stem}.usdc"
            write(layer, layer)
            if not UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(layer)), str(new)):
                raise OSError("the package could not be made")


@contextmanager
def _system_errors() -> Iterator[None]:
    """Raise errors of USD as ``OSError``: a missing folder, a full disk."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise OSError("USD cannot save it: a full disk, or a folder without permission") from error


def new_stage(path: Path, c: Convention, fps: float, first: int, last: int) -> "Usd.Stage":
    """Return a new stage with its units, axes, frames a second, and first and last frame."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, c.meters)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y if c.up == "y" else UsdGeom.Tokens.z)
    stage.SetFramesPerSecond(fps)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetStartTimeCode(first)
    stage.SetEndTimeCode(last)
    stage.SetMetadata("comment", "weft")
    return stage


def _write(path: Path, animation: Animation, folder: Path) -> None:
    """Write a stage, whose images are in a folder."""
    from pxr import UsdGeom

    about = animation.convention, animation.fps, animation.first, animation.last
    stage = new_stage(path, *about)
    root = UsdGeom.Xform.Define(stage, f"/{ROOT}")
    stage.SetDefaultPrim(root.GetPrim())
    shapes = list(animation.shapes)
    if animation.udim:
        shapes[0] = save_tiles(folder, shapes[0])
    names = distinct([s.name for s in shapes])
    tracks = [
        MeshTrack(define_mesh(stage, f"/{ROOT}/{name}", shape), always=k == 0)
        for k, (name, shape) in enumerate(zip(names, shapes))
    ]
    materials = Materials(f"/{ROOT}/{distinct([*names, 'materials'])[-1]}", folder)
    for track, shape in zip(tracks, shapes):
        materials.bind(track.mesh, shape)
    for number, moment in zip(animation.numbers, animation):
        velocities = [moment.velocities, *moment.body_velocities()]
        for track, x, v in zip_longest(tracks, moment.positions, velocities):
            track.add(number, x, v)
        _add_fields(tracks[0].mesh, number, moment, animation.fields)
    stage.GetRootLayer().Save()
    del stage


def define_mesh(stage: "Usd.Stage", path: str, shape: SurfaceTopology) -> "UsdGeom.Mesh":
    """Define a mesh with everything that does not change: triangles, texture coordinates,
    subsets.
    """
    from pxr import Sdf, UsdGeom, Vt

    mesh = UsdGeom.Mesh.Define(stage, path)
    m = len(shape.faces)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(m, 3, dtype=np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.array(shape.faces.reshape(-1))))
    image_uv = shape.corner_uv if shape.image_uv is None else shape.image_uv
    meters, material_uv = UsdGeom.GetStageMetersPerUnit(stage), None
    if shape.corner_uv is not None and (shape.image_uv is not None or meters != 1):
        material_uv = shape.corner_uv / meters  # in the stage's units, as readers expect
    for name, uv in (("st", image_uv), (MATERIAL_UV, material_uv)):
        if uv is not None:
            st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
                name, Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying
            )
            st.Set(Vt.Vec2fArray.FromNumpy(uv.reshape(-1, 2).astype(np.float32)))
    for (_, faces), name in zip(shape.regions, distinct([n for n, _ in shape.regions])):
        UsdGeom.Subset.CreateGeomSubset(
            mesh,
            name,
            UsdGeom.Tokens.face,
            Vt.IntArray.FromNumpy(np.array(faces, dtype=np.int32)),
            BOUND if shape.appearances else FAMILY,
            UsdGeom.Tokens.partition,
        )
    return mesh


def _add_fields(
    mesh: "UsdGeom.Mesh", number: float, moment: AnimationFrame, names: Sequence[str]
) -> None:
    """Write the fields of a frame as primvars: at vertices, or one value per face (uniform)."""
    from pxr import Sdf, UsdGeom, Vt

    if not names:
        return
    api, found = UsdGeom.PrimvarsAPI(mesh), moment.fields
    kinds = {
        1: (Sdf.ValueTypeNames.FloatArray, Vt.FloatArray),
        2: (Sdf.ValueTypeNames.Float2Array, Vt.Vec2fArray),
        3: (Sdf.ValueTypeNames.Float3Array, Vt.Vec3fArray),
    }
    for name in names:
        at_points = name in found.points
        values = np.asarray((found.points if at_points else found.cells)[name], dtype=np.float32)
        kind, array = kinds[1 if values.ndim == 1 else values.shape[1]]
        where = UsdGeom.Tokens.vertex if at_points else UsdGeom.Tokens.uniform
        primvar = api.CreatePrimvar(name, kind, where)
        primvar.Set(array.FromNumpy(np.ascontiguousarray(values)), number)


class MeshTrack:
    """The time samples of one mesh, in float32; a mesh that never moves has a single sample.

    Args:
        mesh: the mesh.
        always: write a sample at every frame, also where nothing moves.
    """

    def __init__(self, mesh: "UsdGeom.Mesh", *, always: bool = False) -> None:
        self.mesh, self.always = mesh, always
        self.points, self.extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
        self.before: tuple[float, list[AnyArray]] | None = None  # the frame that was added last
        self.sampled: float | None = None  # the last frame that has a sample of its own

    def add(self, number: float, x: AnyArray, v: AnyArray | None) -> None:
        """Add frame ``number`` with positions and velocities (n,3)."""
        now = [np.asarray(a, dtype=np.float32) for a in (x, v) if a is not None]
        if self.before is None and not self.always:
            self.sample(None, now[0])
        elif self.before is None or self.always:
            self.sample(number, *now)
        elif not all(map(np.array_equal, now, self.before[1])):
            if self.sampled != self.before[0]:  # at rest until then: end the constant part
                self.sample(self.before[0], *self.before[1])
            self.sample(number, *now)
            self.sampled = number
        self.before = number, now

    def sample(self, number: float | None, x: AnyArray, v: AnyArray | None = None) -> None:
        """Write positions x (n,3), their extent and velocities at frame ``number``; None: at all
        times.
        """
        from pxr import Usd, Vt

        at = Usd.TimeCode.Default() if number is None else Usd.TimeCode(number)
        self.points.Set(Vt.Vec3fArray.FromNumpy(x), at)
        self.extent.Set(Vt.Vec3fArray.FromNumpy(np.stack([x.min(0), x.max(0)])), at)
        if v is not None:
            self.mesh.CreateVelocitiesAttr().Set(Vt.Vec3fArray.FromNumpy(v), at)
