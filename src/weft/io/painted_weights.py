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
from weft.io.texture_tiles import tile_coordinates


def paint_mesh(
    mesh: TriangleMesh,
    files: Mapping[str, Path],
    corner_uv: CornerUv | None = None,
    panels: Mapping[str, range] | None = None,
) -> TriangleMesh:
    """Return the mesh with more painted weights.

    Args:
        mesh: the mesh.
        files: by name of the weights, an image, whose gray from 0 to 1 is read at the texture
            coordinates of each vertex (the mean of its corners, v up, repeated outside of 0 to 1);
            or an array of one number for each vertex.
        corner_uv: (m,3,2) texture coordinates; None: the mesh has none.
        panels: faces of each panel of a garment, whose coordinates are those of its tile
            (``texture_tiles``). Where ``<PANEL>`` or ``<UDIM>`` is in the name of a file, panels
            have files of their own: their name, or 1001 and so on. Weights are 0 where there is
            none.

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
                values = mesh.of_file(values) if values.ndim == 1 else values
            elif corner_uv is None and panels is None:
                raise MeshError(
                    what,
                    got="an image, for a mesh without texture coordinates",
                    where=mesh.source,
                    expected=f"texture coordinates (UVs) of {len(mesh.faces)} faces",
                )
            else:
                corners = _at_corners(mesh, path, corner_uv, panels or {})
                values = mean_at_vertices(mesh.faces.ravel(), corners.ravel(), mesh.n_vertices)
        except Broken as error:
            expected = "an image (.png, .jpg, ...) or an array (.npy)"
            raise MeshError(what, got=error_text(error), where=path, expected=expected) from error
        if values.shape != (mesh.n_vertices,) or not np.isfinite(values).all():
            got = f"shape {values.shape}, {np.isfinite(values).sum()} of them finite"
            expected = f"{mesh.n_vertices} numbers, one for each vertex of {mesh.source}"
            raise MeshError(what, got=got, where=path, expected=expected)
        found[name] = values
    return replace(mesh, weights={**mesh.weights, **found})


def _at_corners(
    mesh: TriangleMesh, path: Path, uv: CornerUv | None, panels: Mapping[str, range]
) -> Floats:
    """Return the gray of an image, or of those of panels, at the corners of faces (m,3)."""
    if uv is not None:
        return _sample(path, uv)
    out, names = np.zeros(mesh.faces.shape), {}
    for k, panel in enumerate(panels):
        own = path.name.replace("<UDIM>", str(1001 + k)).replace("<PANEL>", panel)
        names[panel] = path.with_name(own)
    there = [panel for panel, file in names.items() if file.exists()]
    for panel in there or list(panels)[:1]:
        faces = slice(panels[panel].start, panels[panel].stop)
        out[faces] = _sample(names[panel], tile_coordinates(mesh.corner_uv[faces])[0])
    return out


def _sample(path: Path, uv: CornerUv) -> Floats:
    """Return the gray (m,3) of an image, linear between pixels, at texture coordinates (m,3,2)."""
    from scipy.ndimage import map_coordinates

    with open_image(path) as image:
        gray = np.asarray(image.convert("F"), np.float64)
        gray = gray / (65535 if image.mode[0] == "I" else 255)
    h, w = gray.shape
    at = [(1 - uv[..., 1]) * h - 0.5, uv[..., 0] * w - 0.5]
    return np.asarray(map_coordinates(gray, at, order=1, mode="grid-wrap"))
