"""Files: meshes and animations in and out.

Read in this order: ``surface`` (the contents of a mesh file, and their conversion to a mesh) and
``animation`` (the surfaces and frames that a writer gets); ``obj``, ``ply`` and the folder
``formats`` (one module per format); ``safe_folder`` (atomic writing, and opening without links,
below one folder), ``files`` (the same for a single path) and ``folder_lock`` (one writer).

``FORMATS`` maps suffixes to formats (``format``), which are registered by the engine
(``formats.builtin``) and by plugins. Packages that a format needs are imported when it is used.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from weft import extensions
from weft.base.arrays import CornerUv, Faces, Floats, Positions, Vector
from weft.base.errors import MeshError, RunError
from weft.discretization.correspondence import find_mismatch
from weft.discretization.manifold import turn_corners
from weft.discretization.mesh import (
    TriangleMesh,
    have_same_sides,
)
from weft.discretization.weld import Weld
from weft.io.animation import Animation, Fields
from weft.io.format import Format
from weft.io.left_out import FOREIGN, faces_of_body, warn_of_left_out, without_sides
from weft.io.rest_shape import RestSource
from weft.io.surface import (
    PLAIN,
    Contents,
    MovingMesh,
    StageOptions,
    build_mesh,
    connect,
)

FORMATS: Mapping[str, Format] = extensions.Registry("formats")


def suffixes(*what: str) -> str:
    """Return the suffixes of the formats that support an operation: ``.obj, .ply or .usd``.

    Args:
        what: names of fields of ``Format``; one of them is enough.
    """
    names = [s for s, f in FORMATS.items() if any(getattr(f, w) is not None for w in what)]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def read_shot(path: Path) -> tuple[float, float, float]:
    """Return frames per second, first and last time code of the stage of a shot.

    Raises:
        MeshError: a file that says none of them, or cannot be read.
    """
    shot = _format(path).shot
    if shot is None:
        raise MeshError("shot", got=str(path), expected=suffixes("shot"))
    return shot(path)


def read_mesh(
    path: Path,
    *,
    scale: float | None = None,
    uv_scale: float | None = None,
    warp: Vector | None = None,
    prim: str | None = None,
    rest: str | Path | float | None = None,
    weld: Weld = None,
    sewing: Literal["edges"] | None = None,
    options: StageOptions = PLAIN,
) -> TriangleMesh:
    """Return the mesh in a file, whose format follows from its suffix.

    Args:
        path: the file.
        scale: meters per unit of its positions; None: the unit of the file, or 1 if it has none.
        uv_scale: meters per unit of its texture coordinates; None: the same as ``scale``.
        warp: direction of the warp yarns in space, on the mesh of the rest shape; None: that of the
            first texture coordinate.
        prim: path or name of one mesh, in a file of several meshes.
        rest: the rest shape: ``mesh``, the mesh of the file; ``uv``, its texture coordinates;
            another mesh file of the same faces; a number, the mesh at that time code (USD). None:
            the mesh if a warp is given, or if texture coordinates are far from isometric, which is
            a warning; else the texture coordinates.
        weld: whether vertices that coincide become one, or the distance [m] up to which; None: only
            those that texture coordinates by vertex have split (PLY, glTF).
        sewing: ``edges``: the mesh has the loose edges of the file; None: a warning says how many
            the file has.
        options: how the stage of a USD file is read.

    Raises:
        MeshError: another suffix, a file that cannot be read or simulated, or ``sewing`` of a file
            without loose edges.
    """
    found = _contents(path, prim, one=True, options=options)
    if sewing is not None and len(found.loose_edges) == 0:
        raise MeshError(
            "sewing",
            got=sewing,
            where=f"{path}{found.prim}",
            expected="edges without faces in the file (`l` of OBJ, the element `edge` of PLY)",
        )
    source: RestSource | None = "mesh"
    shape = None
    if rest is None or rest in ("mesh", "uv"):
        source = cast("RestSource | None", rest)
    else:
        shape = _rest_positions(path, found, prim, rest, scale, options)
        unit = found.meters if scale is None else scale
        mismatch = find_mismatch(unit * found.x, shape, found.faces)
        if mismatch is not None and mismatch.kind != "axes":
            raise MeshError(
                "rest",
                got=f"{mismatch.text}, relative to the mesh",
                where=rest,
                expected=f"order of vertices and unit of {path}{found.prim}",
                hint="export both with the same settings",
            )
        if mismatch is not None and warp is not None:
            warnings.warn(
                f"{rest}: {mismatch.text}, relative to {path}{found.prim}; `warp` is a direction "
                "in the axes of the rest shape",
                stacklevel=2,
            )
    numbers = {"scale": scale, "uv_scale": uv_scale}
    mesh = build_mesh(path, found, **numbers, warp=warp, rest=source, shape=shape, weld=weld)
    edges = len(found.loose_edges) if sewing is None else 0
    warn_of_left_out(path, found.left_out, edges, ", along which `sewing: edges` sews")
    if sewing is None:
        return mesh
    loose = found.loose_edges if mesh.welded is None else mesh.welded[found.loose_edges]
    return replace(mesh, loose_edges=loose[loose[:, 0] != loose[:, 1]])


def read_texture_coordinates(
    path: Path,
    prim: str | None = None,
    options: StageOptions = PLAIN,
    *,
    scale: float | None = None,
    weld: Weld = None,
) -> CornerUv | None:
    """Return the texture coordinates of a mesh file as it gives them; None: it has none.

    Args:
        path: the file.
        prim: path or name of one mesh, in a file of several meshes.
        options: how the stage of a USD file is read.
        scale: meters per unit of its positions; None: the unit of the file.
        weld: as in ``read_mesh``.

    Returns:
        (m,3,2) at the corners of the faces that ``read_mesh`` returns.
    """
    found = _contents(path, prim, one=True, options=options)
    if found.corner_uv is None:
        return None
    x = (found.meters if scale is None else scale) * found.x
    joined, turn = connect(found, x, weld, str(path))
    return turn_corners(found.corner_uv[joined.remaining], turn)


def _rest_positions(
    path: Path,
    found: Contents,
    prim: str | None,
    rest: str | Path | float,
    scale: float | None,
    options: StageOptions,
) -> Positions:
    """Return the positions (n,3) [m] of a mesh in its rest shape.

    Args:
        path: the file of the mesh.
        found: its contents.
        prim: path or name of the mesh.
        rest: the file of the rest shape, or a time code.
        scale: meters per unit of both files.
        options: how the stage of a USD file is read.

    Raises:
        MeshError: a file that cannot be read, or that has another topology.
    """
    if isinstance(rest, str | Path):
        file = Path(rest)
        prim = prim if file.suffix.lower() == path.suffix.lower() else None
        options = options if _format(file).stage else PLAIN
    else:
        file, options = path, replace(options, frame=float(rest))
    x, faces = read_surface(file, scale, prim, one=True, options=options)
    if len(x) != len(found.x) or not have_same_sides(found.faces, faces):
        raise MeshError(
            "rest",
            got=f"{len(x)} vertices and {len(faces)} triangles",
            where=file,
            expected=(
                f"the same {len(found.x)} vertices and {len(found.faces)} triangles as in "
                f"{path}{found.prim}, with the same numbers"
            ),
        )
    return x


def read_surface(
    path: Path,
    scale: float | None = None,
    prim: str | None = None,
    *,
    one: bool = False,
    options: StageOptions = PLAIN,
) -> tuple[Positions, Faces]:
    """Return the positions and triangles of a mesh file, without material coordinates.

    Args:
        path: the file.
        scale: meters per unit of its positions; None: the unit of the file, or 1 if it has none.
        prim: path or name of one mesh, in a file of several meshes; None: all.
        one: refuse several meshes.
        options: how the stage of a USD file is read.

    Returns:
        Positions (n,3) [m] and triangles (m,3).

    Raises:
        MeshError: another suffix, a file that cannot be read, or one without faces.
    """
    found = _contents(path, prim, one=one, options=options)
    if len(found.faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=path)
    faces = faces_of_body(path, found.faces, found.left_out, len(found.loose_edges))
    return (found.meters if scale is None else scale) * found.x, faces


def read_motion(
    path: Path,
    fps: float | None = None,
    scale: float | None = None,
    prim: str | None = None,
    options: StageOptions = PLAIN,
) -> MovingMesh:
    """Return the motion and triangles of a file whose meshes move.

    Args:
        path: the file.
        fps: frames per second, in place of the file's own.
        scale: meters per unit of its positions; None: the unit of the file.
        prim: path or name of one of its meshes; None: all.
        options: how the stage of a USD file is read.

    Returns:
        The mesh with positions in meters.

    Raises:
        MeshError: another suffix, or a file that cannot be read.
    """
    moving = _format(path).moving
    if moving is None:
        raise MeshError("animated file", got=str(path), expected=suffixes("moving"))
    found = moving(path, fps, prim, **stage_keywords(path, options))
    unit = found.meters if scale is None else scale
    faces = faces_of_body(path, found.faces, found.left_out)
    return replace(found, positions=unit * found.positions, faces=faces, meters=1.0)


def read_cache(path: Path, fps: float | None = None) -> tuple[Floats, Floats]:
    """Return the motion in a point cache, which has no faces.

    Args:
        path: the file.
        fps: frames per second; None: those of the file.

    Returns:
        Times (k,) [s] from 0 on and positions (k,n,3) in the file's units.

    Raises:
        MeshError: another suffix, or a file that cannot be read.
    """
    cache = _format(path).cache
    if cache is None:
        raise MeshError("motion", got=str(path), expected=suffixes("cache"))
    return cache(path, fps)


def write_mesh(
    path: Path,
    x: Positions,
    faces: Faces,
    corner_uv: CornerUv | None,
    fields: Fields | None = None,
) -> None:
    """Write a mesh to a file, whose format follows from its suffix.

    Args:
        path: the file.
        x: (n,3) [m] positions.
        faces: (m,3).
        corner_uv: (m,3,2) [m] material coordinates; None: none.
        fields: numbers at vertices and faces, if the format stores them (PLY).

    Raises:
        RunError: another suffix, or a file that cannot be written.
    """
    chosen = format_to_write(path)
    if chosen.write is None:
        raise RunError("mesh file", got=path.suffix, expected=suffixes("write"))
    carried = (fields,) if chosen.carries_fields else ()
    chosen.write(path, x, faces, corner_uv, *carried)


def write_animation(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames into one file, whose format follows from its suffix.

    Returns:
        Notes for the user, for example on data that the format cannot store.

    Raises:
        RunError: another suffix, a package that is missing, or a file that cannot be written.
    """
    chosen = format_to_write(path)
    if chosen.animate is None:
        raise RunError("animation file", got=path.suffix, expected=suffixes("animate"))
    check_times(path, animation)
    notes = list(chosen.animate(path, animation))
    if animation.fields and not chosen.carries_fields:
        notes.append(f"{path.suffix} files carry no fields: {', '.join(animation.fields)} left out")
    return notes


def check_times(path: Path, animation: Animation) -> None:
    """Raise a RunError if a file cannot have frames between whole numbers."""
    if animation.shutter_numbers and format_to_write(path).even:
        raise RunError(
            "shutter", got=path.suffix, expected="a file format with times: USD, .npz, ..."
        )


def format_to_write(path: Path) -> Format:
    """Return the format that writes files of this suffix.

    Raises:
        RunError: no format does.
        PluginError: a format of a plugin of weft that is not installed.
    """
    found = _format(path)
    if found.write is None and found.animate is None:
        raise RunError(
            "export format", got=path.suffix or "no suffix", expected=suffixes("write", "animate")
        )
    return found


def knows_motion(path: Path) -> bool:
    """Return whether files of this suffix store how their meshes move."""
    return _format(path).moving is not None


def _contents(
    path: Path, prim: str | None, *, one: bool, options: StageOptions = PLAIN
) -> Contents:
    read = _format(path).read
    if read is None:
        hint = FOREIGN.get(path.suffix.lower())
        raise MeshError("mesh file", got=str(path), expected=suffixes("read"), hint=hint)
    found: Contents = read(path, prim, one=one, **stage_keywords(path, options))
    return replace(found, loose_edges=without_sides(found.loose_edges, found.faces))


def stage_keywords(path: Path, options: StageOptions) -> Mapping[str, StageOptions]:
    """Return options of a stage as keywords of the reader of a file.

    Raises:
        MeshError: variants, levels of subdivision or a time code of a file of another format.
    """
    if _format(path).stage:
        return {"options": options}
    for name in ("variants", "subdivide", "frame"):
        value = getattr(options, name)
        if value != getattr(PLAIN, name):
            raise MeshError(
                name,
                got=value,
                where=path,
                expected="no layer, because the file is not a USD stage",
            )
    return {}


def _format(path: Path) -> Format:
    """Return the format of a suffix; an unknown suffix gets a format that supports nothing.

    Raises:
        PluginError: a format of a plugin of weft that is not installed.
    """
    suffix = path.suffix.lower()
    extensions.check_installed(suffix)
    return FORMATS[suffix] if suffix in FORMATS else Format()
