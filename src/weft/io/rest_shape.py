"""Rest shapes of cloth from mesh files: material coordinates from a mesh, or from its UVs.

Texture coordinates are the flat pattern of a cloth only if they are nearly isometric to the mesh.
An atlas is not: it then gives the directions of warp and weft alone.
"""

import warnings
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from weft.base.arrays import Bools, CornerUv, Faces, Floats, Gradients, Ints, Positions
from weft.base.errors import DegenerateFacesError, MeshError, abbreviate
from weft.discretization.connectivity import face_islands
from weft.discretization.linear_triangle import triangle_gradients
from weft.discretization.mesh import degenerate_faces
from weft.discretization.polygon import cross, normalize, triangle_sides
from weft.discretization.samples import principal_stretches, stretch_text

# texture coordinates are far from isometric if SHARE of the area is stretched, or compressed, by
# more than FAR; a tight garment is stretched less
FAR, SHARE = 0.3, 0.25
FEW = 0.25  # largest part of an island that is a fold, and not its mirrored half
SLANT = 1e-6  # sine of the angle between warp and a face's normal, below which it has no direction
RestSource: TypeAlias = Literal["mesh", "uv"]  # a mesh in space, or its texture coordinates


def material_coordinates(
    x: Positions,
    faces: Faces,
    uv: CornerUv | None,
    warp: Sequence[float] | None,
    rest: RestSource | None,
    shape: Positions,
    where: str,
) -> CornerUv:
    """Return the material coordinates (m,3,2) [m] of a cloth, warp along the first.

    Args:
        x: (n,3) [m] positions at the start.
        faces: (m,3).
        uv: (m,3,2) [m] texture coordinates; None: the file has none.
        warp: (3,) direction of the warp yarns in space, on the mesh of the rest shape; None: that
            of the first texture coordinate.
        rest: what gives the rest shape; None: the mesh if a warp is given, or if texture
            coordinates are far from isometric, which is a warning; else texture coordinates.
        shape: (n,3) [m] the mesh in its rest shape: ``x``, or that of another file or time.
        where: file and mesh, for messages.

    Raises:
        MeshError: neither texture coordinates nor a warp, a warp without a direction on a face, or
            texture coordinates without area.
    """
    if uv is None and (warp is None or rest == "uv"):
        raise MeshError(
            "material coordinates",
            got="none",
            where=where,
            expected="texture coordinates, or a warp direction",
            hint="for example warp: [0, 1, 0] (weft.load(..., warp=(0, 1, 0)))",
        )
    if uv is None or (warp is not None and rest != "uv"):
        assert warp is not None
        return unfold(shape, faces, warp, where)
    flat = degenerate_faces(uv)
    if len(flat) and rest != "mesh":
        return uv  # TriangleMesh says what is wrong
    if len(flat):
        raise DegenerateFacesError(x, faces, flat, where)
    _warn_of_folds(faces, uv, where)
    F = np.einsum("mai,maj->mij", shape[faces], triangle_gradients(uv))
    if rest is None:
        rest = _choose(x, faces, F, where)
    if rest == "uv":
        return uv if warp is None else _turn(uv, F, faces, warp, where)
    left, _, right = np.linalg.svd(F, full_matrices=False)
    corners = shape[faces] - shape[faces[:, :1]]
    return np.asarray(corners @ (left @ right))  # the rotation nearest to F, in the face's plane


def _choose(x: Positions, faces: Faces, F: Gradients, where: str) -> RestSource:
    """Return the rest shape for a mesh over its texture coordinates, with gradients F (m,3,2)."""
    high, low = principal_stretches(F)
    with np.errstate(divide="ignore"):
        strain = np.maximum(high, 1 / low) - 1
    area = np.linalg.norm(np.cross(*triangle_sides(x[faces])), axis=1)
    if not area[strain > FAR].sum() > SHARE * area.sum():
        return "uv"
    warnings.warn(
        f"{where}: its texture coordinates are not a flat pattern of the cloth (mesh over "
        f"texture coordinates in meters: {stretch_text(high, low)}); weft takes the mesh as rest "
        "shape, and the texture coordinates only for the directions of warp and weft. If this is "
        "right, write `rest: mesh`; if they are the pattern, give their unit with `uv_scale`, or "
        "write `rest: uv`",
        stacklevel=2,
    )
    return "mesh"


def _warn_of_folds(faces: Faces, uv: CornerUv, where: str) -> None:
    """Warn of faces that texture coordinates turn over within an island."""
    folded = folded_faces(faces, uv)
    if len(folded):
        warnings.warn(
            f"{where}: texture coordinates fold over: {len(folded)} of {len(faces)} triangles "
            f"(first {abbreviate(folded.tolist())}) have the opposite orientation of their "
            "island; unfold them, or give `warp`, which replaces them",
            stacklevel=2,
        )


def folded_faces(faces: Faces, uv: CornerUv) -> Ints:
    """Return the faces that texture coordinates (m,3,2) turn over.

    They are mirrored although most of their island (faces that share vertices and coordinates) is
    not, or the other way round. A half that is mirrored as a whole is no fold.
    """
    island = face_islands(faces, uv)
    mirrored = cross(*triangle_sides(uv)) < 0
    share = (np.bincount(island, mirrored) / np.bincount(island))[island]
    few = np.where(mirrored, share, 1 - share) < FEW
    return np.flatnonzero(few).astype(np.int32)


def unfold(x: Positions, faces: Faces, warp: Sequence[float], where: str) -> CornerUv:
    """Return material coordinates (m,3,2) of each face in its own plane.

    The axis u is the direction of the warp, projected into the plane of the face.

    Args:
        x: (n,3) positions.
        faces: (m,3).
        warp: (3,) direction of the warp yarns in space.
        where: the file, for messages.

    Raises:
        MeshError: a warp that is zero, or at right angles to a face.
    """
    w = _direction(warp)
    corners = x[faces] - x[faces[:, :1]]
    normal = np.cross(corners[:, 1], corners[:, 2])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(length > 0, length, 1.0)
    u = w - (normal @ w)[:, None] * normal
    size = np.linalg.norm(u, axis=1, keepdims=True)
    _check_angles((size[:, 0] < SLANT * np.linalg.norm(w)) & (length[:, 0] > 0), warp, where)
    u = u / np.where(size > 0, size, 1.0)
    v = np.cross(normal, u)
    return np.stack([np.einsum("fci,fi->fc", corners, axis) for axis in (u, v)], axis=-1)


def _turn(uv: CornerUv, F: Gradients, faces: Faces, warp: Sequence[float], where: str) -> CornerUv:
    """Return texture coordinates turned, face by face, until the warp is along the first."""
    w = _direction(warp)
    d = np.asarray(np.linalg.pinv(F) @ w)
    size = np.linalg.norm(np.einsum("mij,mj->mi", F, d), axis=1)  # of w in the face's plane
    _check_angles(size < SLANT * np.linalg.norm(w), warp, where)
    d = normalize(d)
    across = np.stack([-d[:, 1], d[:, 0]], axis=1)
    return np.stack([np.einsum("mci,mi->mc", uv, axis) for axis in (d, across)], axis=-1)


def _direction(warp: Sequence[float]) -> Floats:
    w = np.asarray(warp, dtype=np.float64)
    if w.shape != (3,) or not np.isfinite(w).all() or not np.linalg.norm(w) > 0:
        raise MeshError("warp direction", got=list(warp), expected="three numbers, not all zero")
    return w


def _check_angles(bad: Bools, warp: Sequence[float], where: str) -> None:
    """Raise an error about faces, marked in ``bad`` (m,), to which the warp is normal."""
    ids = np.flatnonzero(bad)
    if len(ids):
        raise MeshError(
            "warp direction",
            got=list(warp),
            where=where,
            expected=(
                "a direction that is not perpendicular to a face; it is perpendicular to "
                f"{len(ids)} faces (first {ids[:5].tolist()})"
            ),
        )
