"""Resolution of folds: whether the mesh of a scene is fine enough for those that it can make.

``scene_folds`` is the estimate before a run (``weft check``). It assumes that cloth hangs with its
whole length, and stays flat between pins; other loads, gathers and bodies make other folds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.cloth.cloth import Cloth, ClothPart
from weft.cloth.regions import Region, material_pieces
from weft.discretization.rod import Rod
from weft.discretization.spline_surface import SplineSurface
from weft.discretization.surface import Surface
from weft.fabric.fabric import Fabric
from weft.fabric.folds import (
    FEWEST,
    FEWEST_POINTS,
    RESOLVED,
    FoldEstimate,
    bending_length,
    millimeters,
    pull_fold,
    weight_fold,
)
from weft.scene.build_model import build_model
from weft.scene.scene import Scene

LEAST_STRAIN = 1e-3  # between pins, below which it is no pull
MOST_TIMES = 50  # at which pulls are looked for
MOST_PINNED = 100  # pinned vertices of a piece, between which pulls are looked for


@dataclass(frozen=True)
class RegionFold:
    """Folds that a region of a scene can have, beside its mesh and its contact.

    Args:
        region: its name.
        fabric: its fabric.
        fold: the folds.
        edge: [m] median width of its triangles across the folds; of splines, of their cells.
        fewest: number of these along a fold below which it is not seen.
        room: [m] that contact keeps between layers of cloth.
    """

    region: str
    fabric: Fabric
    fold: FoldEstimate
    edge: float
    fewest: float
    room: float

    @property
    def edges(self) -> float:
        """The number of edges along a fold."""
        return self.fold.length / self.edge

    def __str__(self) -> str:
        return f"folds of about {millimeters(self.fold.length)} by {self.fold.cause}"


def scene_folds(scene: Scene) -> Iterator[RegionFold]:
    """Yield the folds that the regions of a scene can have by their weight and between pins."""
    cloth, model = scene.cloth, build_model(scene)
    held = scene.bodies or scene.attachments or model.pins
    pieces, paths = material_pieces(cloth.mesh), _pinned_paths(scene)
    surfaces = iter(cloth.region_surfaces)
    for parts in [cloth.parts] if cloth.seams else [[part] for part in cloth.parts]:
        density, size = _hanging(cloth, parts)
        for region in [region for part in parts for region in part.kinds]:
            fabric, surface = next(surfaces)
            if isinstance(surface, Rod):
                continue
            hung = weight_fold(fabric, density * model.gravity, size) if held else None
            fewest = FEWEST_POINTS if isinstance(surface, SplineSurface) else FEWEST
            room = 0.0
            if model.contact is not None:
                thickness = model.contact.mesh.sides.thickness[cloth.faces[region.faces]]
                room = model.contact.gap + float(thickness.max())
            for fold in (_pull(cloth, region, pieces, *paths), hung):
                if fold is not None:
                    edge = _width_across(cloth, region, surface, np.asarray(fold.across))
                    yield RegionFold(region.name, fabric, fold, edge, fewest, room)


def _hanging(cloth: Cloth, parts: Sequence[ClothPart]) -> tuple[float, tuple[float, float]]:
    """Return the mean density [kg/m^2] of parts, and the largest size [m] of any along warp and
    weft; panels of a garment hang on one another, along any of their directions.
    """
    regions = [region for part in parts for region in part.kinds]
    area = [cloth.mesh.rest_area[r.faces].sum() for r in regions]
    density = np.average([r.fabric.density for r in regions], weights=area)
    each = [np.ptp(cloth.corner_uv[p.faces].reshape(-1, 2), axis=0) for p in parts]
    warp, weft = np.max(each, axis=0).tolist()
    longest = max(warp, weft)
    return float(density), (longest, longest) if cloth.seams else (warp, weft)


def fold_facts(scene: Scene) -> tuple[list[str], list[str]]:
    """Return lines about the folds that a scene can make, and warnings about its mesh and contact.

    Of all regions with one fabric and one cause the line is about the coarsest.
    """
    worst: dict[tuple[str, str], RegionFold] = {}
    for one in scene_folds(scene):
        key = one.fabric.name, one.fold.cause.split(" of ")[0]
        worst[key] = min(one, worst.get(key, one), key=lambda found: found.edges)
    facts, warnings, gravity = [], [], build_model(scene).gravity
    for one in worst.values():
        wave, edge, cloth = one.fold.length, millimeters(one.edge), one.fabric.name
        if gravity:
            cloth += f", bending length {millimeters(bending_length(one.fabric, gravity))}"
        facts.append(f"{one} ({cloth}): {one.edges:.2g} edges of {edge}, {RESOLVED} resolve one")
        if one.edges < one.fewest:
            needed = millimeters(wave / one.fewest)
            warnings.append(f"{one.region}: {one} need edges below {needed}; this mesh has {edge}")
        if wave < 2 * one.room:
            warnings.append(
                f"{one.region}: {one} are too small for contact, which keeps layers "
                f"{millimeters(one.room)} apart: gap plus thickness should be below "
                f"{millimeters(wave / 2)}"
            )
    return facts, warnings


def _pinned_paths(scene: Scene) -> tuple[Ints, Floats]:
    """Return pinned vertices (p,), and where they are (t,p,3) [m] at the start, at keyframes
    and when pins let go, or at some of these times; NaN after that.
    """
    pins = scene.pins
    keys = {k.time for pin in pins if pin.path is not None for k in pin.path.keyframes}
    keys |= {pin.until for pin in pins if pin.until is not None}
    ids = np.concatenate([np.zeros(0, dtype=np.int32), *(pin.vertices for pin in pins)])
    frames = []
    for t in sorted({0.0, *keys})[:: len(keys) // MOST_TIMES + 1]:
        x = [np.zeros((0, 3))]
        for pin in pins:
            targets = pin.targets(scene.cloth.vertices[pin.vertices], t)
            x.append(targets if pin.holds(t) else np.full_like(targets, np.nan))
        frames.append(np.concatenate(x))
    return ids, np.array(frames)


def _pull(cloth: Cloth, region: Region, pieces: Ints, ids: Ints, x: Floats) -> FoldEstimate | None:
    """Return the folds between the pinned vertices of a region that are moved apart most.

    Args:
        cloth: the cloth.
        region: the region.
        pieces: (m,) number of each face's piece of the material plane, in which it is flat.
        ids: (p,) pinned vertices.
        x: (t,p,3) [m] where they are.
    """
    place, piece = np.zeros((cloth.n_vertices, 2)), np.full(cloth.n_vertices, -1)
    faces = cloth.faces[region.faces]
    place[faces], piece[faces] = cloth.corner_uv[region.faces], pieces[region.faces, None]
    own = np.flatnonzero(piece[ids] >= 0)
    own = own[:: len(own) // MOST_PINNED + 1]
    i, j = own[np.array(np.triu_indices(len(own), 1))]
    made = region.fabric
    rest = (place[ids[i]] - place[ids[j]]) * [made.rest_stretch_warp, made.rest_stretch_weft]
    length = np.where(piece[ids[i]] == piece[ids[j]], np.linalg.norm(rest, axis=1), 0.0)
    apart = np.linalg.norm(x[:, i] - x[:, j], axis=2)
    strain = np.nan_to_num(apart / np.where(length > 0, length, np.inf)).max(axis=0) - 1
    if not (strain > LEAST_STRAIN).any():
        return None
    k = int(np.argmax(strain))
    return pull_fold(made, rest[k], float(strain[k]))


def _width_across(cloth: Cloth, region: Region, surface: Surface, across: Floats) -> float:
    """Return the median width [m] of triangles, or of spline cells, along a direction (2,) of the
    material plane.
    """
    if isinstance(surface, SplineSurface):
        nets = [patch.rest @ across for patch in surface.patches]
        cells = [
            np.maximum(np.abs(np.diff(x, axis=0))[:, 1:], np.abs(np.diff(x, axis=1))[1:]).ravel()
            for x in nets
        ]
        return float(np.median(np.concatenate(cells)))
    return float(np.median(np.ptp(cloth.corner_uv[region.faces] @ across, axis=1)))
