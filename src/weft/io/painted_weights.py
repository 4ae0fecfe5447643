"""Painted weights from files: images in texture space, and arrays of one number for each vertex."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Floats
from weft.base.errors import MeshError, error_text
from weft.discretization.mesh import TriangleMesh, mean_at_vertices
from weft.io.archive import Broken
from weft.io.images import open_image


def paint_mesh(
    mesh: TriangleMesh, files: Mapping[str, Path], corner_uv: CornerUv | None
) -> TriangleMesh:
    """Return the mesh with more painted weights.

    Args:
        mesh: the mesh.
        files: by name of the weights, an image, whose gray from 0 to 1 is read at the texture
            coordinates of each vertex (the mean of its corners, v up, repeated outside of 0 to 1);
            or an array of one number for each vertex.
        corner_uv: (m,3,2) texture coordinates; None: the mesh has none.

    Raises:
        MeshError: a file that cannot be read, of another kind or length, or an image for a mesh
            without texture coordinates.
    """
    found = {}
    for name, path in files.items():
        what = f"paint.{name}"
        try:
            if path.suffix.lower() == ".npy":
                values = np.load(path, allow_pickle=False).astype(np.float64).squeeze()
            elif corner_uv is None:
                raise MeshError(
                    what,
                    got="an image, for a mesh without texture coordinates",
                    where=mesh.source,
                    expected=f"texture coordinates (UVs) of {len(mesh.faces)} faces",
                )
            else:
                with open_image(path) as image:
                    gray = np.asarray(image.convert("F")) / (65535 if image.mode[0] == "I" else 255)
                values = _sample(gray, corner_uv, mesh)
        except Broken as error:
            expected = "an image (.png, .jpg, ...) or an array (.npy)"
            raise MeshError(what, got=error_text(error), where=path, expected=expected) from error
        if values.shape != (mesh.n_vertices,) or not np.isfinite(values).all():
            got = f"shape {values.shape}, {np.isfinite(values).sum()} of them finite"
            expected = f"{mesh.n_vertices} numbers, one for each vertex of {mesh.source}"
            raise MeshError(what, got=got, where=path, expected=expected)
        found[name] = values
    return replace(mesh, weights={**mesh.weights, **found})


def _sample(gray: Floats, uv: CornerUv, mesh: TriangleMesh) -> Floats:
    """Return an image (h,w) at vertices (n,), linear between pixels, for texture coordinates
    (m,3,2).
    """
    from scipy.ndimage import map_coordinates

    h, w = gray.shape
    at = [(1 - uv[..., 1]) * h - 0.5, uv[..., 0] * w - 0.5]
    corners = map_coordinates(np.asarray(gray, np.float64), at, order=1, mode="grid-wrap")
    return mean_at_vertices(mesh.faces.reshape(-1), corners.reshape(-1), mesh.n_vertices)
