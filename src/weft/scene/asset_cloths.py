"""The cloths of a run on the meshes of an asset, from which they came or which they stand for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from weft.base.arrays import Faces
from weft.base.errors import MeshError, RunError
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.surface_embedding import SurfaceEmbedding
from weft.io import read_shot, read_surface
from weft.io.asset_cloth import AssetCloth
from weft.io.surface import PLAIN
from weft.run.run import Run
from weft.scene.file import Source, validate
from weft.scene.schema import ClothBlock

FAR = 0.05  # largest distance of an asset's vertices from the cloth at its start, over its size


def asset_cloths(run: Run, asset: Path, prims: Sequence[str] = ()) -> list[AssetCloth]:
    """Return the meshes of an asset that the cloths of a run move.

    The vertices of a mesh follow the triangles that were simulated, where they were at the start.

    Args:
        run: the run.
        asset: the file.
        prims: path or name of the mesh of each cloth, in their order; empty: the scene file of the
            run says from which meshes of the asset its cloths came.

    Raises:
        RunError: no cloth came from the asset, or too many prims. MeshError: a mesh that is not in
        the asset, has other vertices than the cloth, or is elsewhere.
    """
    blocks, parts = _blocks(run), run.parts()
    chosen: dict[int, str | None] = dict(enumerate(prims))
    for k, (block, file) in enumerate(blocks):
        if not prims and block.mesh is not None and file == asset.resolve():
            chosen[k] = block.mesh.prim
    same = not prims and bool(chosen)
    if not chosen and len(parts) == 1:
        chosen = {0: None}
    if not chosen or len(prims) > len(parts):
        files = ", ".join(str(file) for _, file in blocks if file)
        raise RunError(
            "--onto, --prim",
            got=f"{asset.name}, and {len(prims)} meshes of it for {len(parts)} cloths",
            expected=f"an asset from which cloth came, or a mesh for each cloth: {files}",
            where=run.path,
        )
    ends = np.cumsum([0, *(count for _, count in parts)])
    found = []
    for k, prim in chosen.items():
        faces = run.mesh.faces[ends[k] : ends[k + 1]]
        block = blocks[k][0] if blocks else ClothBlock(sheet={})
        found.append(_on_mesh(run, faces, block, asset, prim, same=same))
    return found


def first_of_shot(run: Run) -> int | None:
    """Return the number that the first frame of a run has in its shot; None: it has no shot."""
    description = run.manifest["description"] or {}
    if not description.get("shot"):
        return None
    file = run.path / run.manifest.get("scene_file", "manifest.json")
    first = read_shot(file.parent / description["shot"])[1]
    return round(first) - int(description.get("preroll", 0))


def _blocks(run: Run) -> list[tuple[ClothBlock, Path | None]]:
    """Return the cloths of the scene file of a run, each with its mesh file; none of a run that
    Python made.
    """
    description = run.manifest["description"]
    if not description:
        return []
    path = run.path / run.manifest.get("scene_file", "manifest.json")
    file = validate(Source(path, description, {}))
    made = [file.cloth] if file.cloth else file.cloths
    return [(b, b.mesh and (path.parent / b.mesh.file).resolve()) for b in made]


def _on_mesh(
    run: Run, faces: Faces, block: ClothBlock, asset: Path, prim: str | None, *, same: bool
) -> AssetCloth:
    """Return the mesh of an asset on the triangles (m,3) of a cloth.

    Args:
        run: the run.
        faces: of the cloth.
        block: of the cloth in the scene file.
        asset: the file.
        prim: the mesh.
        same: the cloth was read from this mesh.

    Raises:
        MeshError: other vertices than the cloth's, or elsewhere.
    """
    from scipy.spatial.transform import Rotation

    scale, turn, shift, options = None, np.eye(3), np.zeros(3), PLAIN
    if block.mesh is not None and Path(block.mesh.file).suffix == asset.suffix:
        options = replace(block.mesh.make(), subdivide=0)  # the cage follows its surface
        same = same and not block.mesh.subdivide
        scale, shift = block.mesh.scale, np.array(block.translation)
        turn = Rotation.from_euler("xyz", block.rotation, degrees=True).as_matrix()
    points = read_surface(asset, scale, prim, one=True, options=options)[0] @ turn.T + shift
    where, own = f"{asset}{prim or ''}", len(np.unique(faces))
    if same and len(points) != own and block.discretization == "triangles":
        raise MeshError(
            "vertices",
            got=len(points),
            where=where,
            expected=f"the {own} of the cloth that was simulated from it",
            hint="the asset has changed since; --prim takes it as it is now, by its place",
        )
    x = run.mesh.vertices
    place = NearestPoints.of(points, x, faces)
    size = float(np.linalg.norm(np.ptp(x[faces].reshape(-1, 3), axis=0)))
    far = int(np.argmax(place.distance))
    if place.distance[far] > FAR * size:
        raise MeshError(
            f"vertex {far}",
            got=f"{place.distance[far]:.3g} m from the cloth at its start",
            where=where,
            expected=f"at most {FAR * size:.3g} m, which is {FAR:.0%} of the cloth",
        )
    surface = SurfaceEmbedding.of_points(points, x, faces, place.face)
    return AssetCloth(prim, surface, turn / (1.0 if scale is None else scale))
