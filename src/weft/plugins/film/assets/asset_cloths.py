"""The cloths of a run on the meshes of an asset, from which they came or which they stand for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from weft.base.arrays import Faces, Positions
from weft.base.errors import MeshError, RunError
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.correspondence import turns_of_axes, unit_mismatch
from weft.io import read_surface
from weft.io.surface import PLAIN
from weft.plugins.film.assets.asset_cloth import AssetCloth
from weft.plugins.film.surface_embedding import SurfaceEmbedding
from weft.run.recorded_scene import recorded_source
from weft.run.run import Run
from weft.scene.file import first_frame, validate
from weft.scene.schema import ClothBlock

SAMPLED = 200  # vertices of an asset with which its axes are found
FAR = 0.05  # largest distance of an asset's vertices from the cloth at its start, over its size


def asset_cloths(
    run: Run, asset: Path, prims: Sequence[str] = ()
) -> tuple[list[AssetCloth], int | None]:
    """Return the meshes of an asset that the cloths of a run move, and the number that its first
    frame has in its shot; None: it has no shot.

    The vertices of a mesh follow the triangles that were simulated, where they were at the start.

    Args:
        run: the run.
        asset: the file.
        prims: path or name of the mesh of each cloth, in their order; empty: the scene file of the
            run says from which meshes of the asset its cloths came.

    Raises:
        RunError: no cloth came from the asset, or too many prims. MeshError: a mesh that is not in
        the asset, or is elsewhere.
    """
    source, parts = recorded_source(run.manifest, run.path), run.parts()
    folder = source.path.parent
    file = validate(source) if source.tree else None  # Python made the run
    blocks = [] if file is None else [file.cloth] if file.cloth else file.cloths
    files = [b.mesh and (folder / b.mesh.file).resolve() for b in blocks]
    chosen: dict[int, str | None] = dict(enumerate(prims))
    if not prims:
        chosen = {k: blocks[k].mesh.prim for k, f in enumerate(files) if f == asset.resolve()}
    if not chosen and len(parts) == 1:
        chosen = {0: None}
    if not chosen or len(prims) > len(parts):
        raise RunError(
            "onto, prim",
            got=f"{asset.name}, and {len(prims)} meshes of it for {len(parts)} cloths",
            expected=(
                "the asset from which the cloth came, or a mesh for each cloth: "
                f"{', '.join(str(f) for f in files if f)}"
            ),
            where=run.path,
        )
    ends = np.cumsum([0, *(count for _, count in parts)])
    found = []
    for k, prim in chosen.items():
        faces = run.mesh.faces[ends[k] : ends[k + 1]]
        found.append(_on_mesh(run, faces, blocks[k] if blocks else None, asset, prim))
    first = None if file is None else first_frame(file, folder)
    return found, None if first is None else round(first)


def _on_mesh(
    run: Run, faces: Faces, block: ClothBlock | None, asset: Path, prim: str | None
) -> AssetCloth:
    """Return the mesh of an asset on the triangles (m,3) of a cloth.

    Args:
        run: the run.
        faces: of the cloth.
        block: of the cloth in the scene file; None: Python made the run.
        asset: the file.
        prim: the mesh.

    Raises:
        MeshError: a mesh that is elsewhere.
    """
    from scipy.spatial.transform import Rotation

    scale, turn, shift, options = None, np.eye(3), np.zeros(3), PLAIN
    if block and block.mesh and Path(block.mesh.file).suffix == asset.suffix:
        options = replace(block.mesh, subdivide=0)  # the cage follows its surface
        scale, shift = block.mesh.scale, np.array(block.translation)
        turn = Rotation.from_euler("xyz", block.rotation, degrees=True).as_matrix()
    points = read_surface(asset, scale, prim, one=True, options=options)[0] @ turn.T + shift
    x = run.mesh.vertices
    place = NearestPoints.of(points, x, faces)
    size = float(np.linalg.norm(np.ptp(x[faces].reshape(-1, 3), axis=0)))
    far = int(np.argmax(place.distance))
    few = points[np.linspace(0, len(points) - 1, min(len(points), SAMPLED)).astype(int)]
    unit = unit_mismatch(float(np.linalg.norm(np.ptp(points, axis=0))) / size)
    if unit is not None and _is_near(few / unit.factor, x, faces, FAR * size):
        raise MeshError(
            "asset of the cloth",
            got=f"{unit.text}, relative to the cloth",
            where=f"{asset}{prim or ''}",
            expected="the same unit as `scale` of the scene",
        )
    if place.distance[far] > FAR * size:
        raise MeshError(
            f"vertex {far}",
            got=f"{place.distance[far]:.3g} m from the cloth at its start",
            where=f"{asset}{prim or ''}",
            expected=f"at most {FAR * size:.3g} m, which is {FAR:.0%} of the cloth",
            hint=_axes_hint(few, x, faces, FAR * size),
        )
    surface = SurfaceEmbedding.of_points(points, x, faces, place.face)
    return AssetCloth(prim, surface, turn / (1.0 if scale is None else scale))


def _axes_hint(points: Positions, x: Positions, faces: Faces, most: float) -> str | None:
    """Return the axes with which the points (n,3) of an asset are near the cloth, for a message."""
    for turn, name, _ in turns_of_axes():
        if _is_near(points @ turn.T, x, faces, most):
            return f"the asset has other axes: in the cloth {name}"
    return None


def _is_near(points: Positions, x: Positions, faces: Faces, most: float) -> bool:
    """Return whether points (n,3) are within ``most`` [m] of a surface."""
    return bool(NearestPoints.of(points, x, faces).distance.max() <= most)
