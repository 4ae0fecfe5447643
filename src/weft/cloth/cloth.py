"""Cloth: a mesh made of a fabric. What ``weft.sheet`` and ``weft.load`` give."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from weft.base.arrays import Angles, CornerUv, Faces, Floats, Ints, Point, Positions
from weft.base.errors import MeshError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import Accepts
from weft.cloth.regions import Kept, Region, kept_of
from weft.discretization.compound_surface import Surfaces, gathered
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.discretization.spline_surface import side_of
from weft.discretization.surface import Surface
from weft.discretization.triangles import Triangles
from weft.fabric.fabric import Fabric, FabricLike
from weft.fabric.fabric import fabric as as_fabric

_CORNERS = {
    "bottom-left": (0, 0),
    "bottom-right": (1, 0),
    "top-left": (0, 1),
    "top-right": (1, 1),
}


@dataclass(frozen=True, eq=False)
class ClothPart:
    """One of several cloths that are simulated together.

    Args:
        name: for messages, and for pairs of the scene's contact.
        fabric: of its faces; the first region's.
        vertices: ids.
        faces: numbers of its faces.
        thickness: [m] kept in contact, or keyframes; ``fabric``: its fabric's, as that changes in
            time; None: that of the scene's contact.
        regions: of other fabrics each; none: all faces are of ``fabric``.
    """

    name: str
    fabric: Fabric
    vertices: Ints
    faces: Ints
    thickness: Kept = None
    regions: Sequence[Region] = ()

    def kept(self, t: float = 0.0) -> float | None:
        """[m] kept in contact at the time t [s]; None: that of the scene's contact."""
        return kept_of(self.thickness, self.fabric, t)

    @property
    def kinds(self) -> Sequence[Region]:
        """Its regions; itself where there are none."""
        return self.regions or (Region(self.name, self.fabric, self.faces, self.thickness),)

    def with_fabric(self, old: Fabric, new: Fabric) -> "ClothPart":
        """The same with another fabric in the place of one."""
        regions = [
            dataclasses.replace(r, fabric=new) if r.fabric is old else r for r in self.regions
        ]
        fabric = new if self.fabric is old else self.fabric
        return dataclasses.replace(self, fabric=fabric, regions=tuple(regions))


@checked(MeshError, "cloth", unchecked=("mass_at", "at_vertices"))
@dataclass(frozen=True, eq=False, repr=False)
class Cloth:
    """A mesh and its fabric. The mesh's tables can be read here too.

    ``joined`` makes one of several; ``parts`` are these then, and ``fabric`` is the first one's.
    What moves a spline are its control points, and its mesh are samples of it.
    """

    mesh: TriangleMesh
    fabric: Annotated[
        Fabric, Accepts(FabricLike)
    ]  # or what `sheet` takes: a preset's name, a .yaml file, fields
    given: Sequence[ClothPart] = ()  # parts; none: it is one
    made_of: Surfaces | None = None  # for every part; None: the mesh's triangles
    # (n,) the same number for vertices that seams bring together; None: none. What has one of them
    # does not meet in contact what has the other.
    sewn: Ints | None = None
    seams: Sequence[tuple[str, Ints]] = ()  # names, and (k,2) vertices that seams bring together

    def __post_init__(self) -> None:
        object.__setattr__(self, "fabric", as_fabric(self.fabric, "cloth.fabric"))

    def __repr__(self) -> str:
        """Two lines: size and mass, and where it comes from."""
        kind = "vertices"
        if self.embedding is not None:
            kind = f"samples, {len(self.points)} control points"
        width, height = np.ptp(self.corner_uv.reshape(-1, 2), axis=0)
        fabrics = self.fabric_names
        several = f" {len(self.parts)} parts," if len(self.parts) > 1 else ""
        names = [name for name in self.mesh.groups if not name.startswith("_")]
        groups = f"; groups {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"
        return (
            f"Cloth:{several} {self.n_vertices} {kind}, {len(self.faces)} triangles, "
            f"{width:.4g} x {height:.4g} m of {fabrics}, {self.mass.sum():.4g} kg\n"
            f"  from {self.mesh.source}{groups if names else ''}"
        )

    @cached_property
    def parts(self) -> Sequence[ClothPart]:
        """The cloths that this one is made of; of one, itself, called ``cloth``."""
        if self.given:
            return self.given
        vertices = np.arange(self.n_vertices, dtype=np.int32)
        faces = np.arange(len(self.faces), dtype=np.int32)
        return (ClothPart("cloth", self.fabric, vertices, faces),)

    def part(self, name: str) -> ClothPart:
        """One of them.

        Raises:
            MeshError: no such part.
        """
        check_known(name, tuple(p.name for p in self.parts), "cloth", MeshError)
        return next(p for p in self.parts if p.name == name)

    @cached_property
    def surfaces(self) -> Surfaces:
        """The points that move, and what they move: a piece for every part."""
        return self.made_of or Surfaces.of_mesh(self.mesh)

    @property
    def pieces(self) -> Sequence[tuple[ClothPart, Surface]]:
        """Parts with what they are made of."""
        return tuple(zip(self.parts, self.surfaces.pieces, strict=True))

    @property
    def regions(self) -> Sequence[Region]:
        """Of all parts; a part that has none is one."""
        return [region for part in self.parts for region in part.kinds]

    @property
    def region_of_faces(self) -> Ints:
        """(m,) the number of every face's region, among those of all parts."""
        found = np.zeros(len(self.faces), dtype=np.int32)
        for k, region in enumerate(self.regions):
            found[region.faces] = k
        return found

    @cached_property
    def made_pieces(self) -> Sequence[tuple[Fabric, Surface]]:
        """Every region's fabric with what it is made of, on the points."""
        found: list[tuple[Fabric, Surface]] = []
        for part, surface in self.pieces:
            if not part.regions:
                found.append((part.fabric, surface))
                continue
            assert isinstance(surface, Triangles)
            first = int(part.faces[0])
            found += [(r.fabric, surface.of_faces(r.faces - first)) for r in part.regions]
        return found

    @property
    def fabrics(self) -> Sequence[Fabric]:
        """Of all parts and regions, each once."""
        return list({id(r.fabric): r.fabric for r in self.regions}.values())

    @property
    def fabric_names(self) -> str:
        """Of all parts and regions, each once, in words."""
        return ", ".join(dict.fromkeys(r.fabric.name for r in self.regions))

    @property
    def elements(self) -> Sequence[tuple[Fabric, Surface]]:
        """What energies are made of: every fabric with its surfaces, on the points."""
        return [
            (fabric, surface)
            for fabric in self.fabrics
            for surface in gathered([s for f, s in self.made_pieces if f is fabric])
        ]

    @property
    def vertices(self) -> Positions:
        """(n,3) [m]."""
        return self.mesh.vertices

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.mesh.n_vertices

    @property
    def faces(self) -> Faces:
        """(m,3)."""
        return self.mesh.faces

    @property
    def corner_uv(self) -> CornerUv:
        """(m,3,2) [m]."""
        return self.mesh.corner_uv

    @property
    def points(self) -> Positions:
        """(N,3) [m] what moves: control points of splines, vertices of triangles."""
        return self.surfaces.points

    @property
    def embedding(self) -> Embedding | None:
        """Vertices as combinations of the points; None where they are the points."""
        return self.surfaces.embedding

    @property
    def vertex_mass(self) -> Floats:
        """(n,) [kg] lumped to the vertices of the mesh, at the start."""
        density = np.zeros(self.n_vertices)
        for part in self.parts:
            density[part.vertices] = part.fabric.at(0.0).density
        mass = density * self.mesh.vertex_area
        for part in self.parts:
            if part.regions:
                mass[part.vertices] = 0.0
            for region in part.regions:
                density_here = region.fabric.at(0.0).density
                third = density_here * self.mesh.rest_area[region.faces] / 3
                np.add.at(mass, self.mesh.faces[region.faces].reshape(-1), np.repeat(third, 3))
        return mass

    @property
    def mass(self) -> Floats:
        """(N,) [kg] lumped to the points, at the start."""
        return self.mass_at(0.0)

    def mass_at(self, t: float) -> Floats:
        """(N,) [kg] at the time t [s], where densities change."""
        return np.asarray(sum(fabric.at(t).density * s.area for fabric, s in self.made_pieces))

    def at_vertices(self, value: Callable[[Fabric], float]) -> Floats:
        """(n,) the largest that a number of the fabrics has at each vertex; 0 without faces."""
        found = np.zeros(self.n_vertices)
        for region in self.regions:
            ids = np.unique(self.mesh.faces[region.faces])
            found[ids] = np.maximum(found[ids], value(region.fabric))
        return found

    def samples(self) -> Samples:
        """Where membranes are sampled, of all pieces.

        Triangles beside splines are sampled like these, with stencils that repeat a vertex.
        """
        return Samples.joined([s.samples() for s in self.surfaces.pieces])

    def corners(self, which: str = "all", part: ClothPart | None = None) -> Ints:
        """Vertices at the corners of the cloth's bounding box in material coordinates.

        Args:
            which: ``top``, ``bottom``, ``left``, ``right`` (two each), ``all``, or one such as
                ``top-left``.
            part: of this one of several cloths; None: of all.

        Raises:
            MeshError: another word.
        """
        names = [n for n in _CORNERS if which == "all" or which == n or which in n.split("-")]
        if not names:
            known = f"top, bottom, left, right, all, {', '.join(_CORNERS)}"
            raise MeshError("corners", got=repr(which), expected=known)
        uv, ids = self._material_points(part)
        low, high = uv.min(0), uv.max(0)
        found = []
        for name in names:
            corner = np.where(_CORNERS[name], high, low)
            found.append(ids[np.argmin(((uv - corner) ** 2).sum(1))])
        return np.unique(found).astype(np.int32)

    def border(self, which: str, part: ClothPart | None = None) -> Ints:
        """Vertices on one side of the bounding box in material coordinates,
        or along that side of a spline patch, curved or not.

        Args:
            which: ``top``, ``bottom``, ``left`` or ``right``.
            part: of this one of several cloths; None: of all.

        Raises:
            MeshError: another word.
        """
        sides = {"left": (0, False), "right": (0, True), "bottom": (1, False), "top": (1, True)}
        if which not in sides:
            raise MeshError("border", got=repr(which), expected="top, bottom, left or right")
        along = self._side(which, part)
        if along is not None:
            return along
        axis, high = sides[which]
        uv, ids = self._material_points(part)
        value = uv[:, axis]
        limit = value.max() if high else value.min()
        near = np.abs(value - limit) <= 1e-6 * max(np.ptp(value), 1e-12)
        return np.unique(ids[near]).astype(np.int32)

    def _side(self, which: str, part: ClothPart | None) -> Ints | None:
        """Samples along a side of the only patch of a part; None where it is not one patch."""
        found = [(own, s.shown.grids) for own, s in self.pieces if part in (None, own)]
        if len(found) != 1 or len(found[0][1]) != 1:
            return None
        ((own, (grid,)),) = found
        return np.sort(own.vertices[side_of(grid, which)])

    def group(self, name: str) -> Ints:
        """Vertices of a named group of the mesh.

        Raises:
            MeshError: no such group.
        """
        if name not in self.mesh.groups:
            known = ", ".join(self.mesh.groups) or "none"
            raise MeshError(
                "group", got=repr(name), expected=f"one of: {known}", where=self.mesh.source
            )
        return self.mesh.groups[name]

    def weighted(self, name: str, above: float = 0.5, part: ClothPart | None = None) -> Ints:
        """Vertices whose painted weight of that name is greater than a number.

        Args:
            name: of the weights in the mesh file (``mesh.weights``).
            above: the number.
            part: of this one of several cloths; None: of all.

        Raises:
            MeshError: no such weights, or none that are greater.
        """
        if name not in self.mesh.weights:
            known = ", ".join(self.mesh.weights) or "none"
            raise MeshError(
                "weights", got=repr(name), expected=f"one of: {known}", where=self.mesh.source
            )
        values = self.mesh.weights[name]
        ids = np.flatnonzero(values > above).astype(np.int32)
        ids = ids if part is None else np.intersect1d(ids, part.vertices)
        if len(ids) == 0:
            of = values if part is None else values[part.vertices]
            raise MeshError(
                f"weights {name!r}",
                got=f"none above {above:g}",
                where=self.mesh.source,
                expected=f"some: they go from {of.min():g} to {of.max():g}",
            )
        return ids

    def in_box(self, low: Point, high: Point) -> Ints:
        """Vertices whose position lies in the box from ``low`` to ``high`` (3,) [m], or text with
        units.

        May be empty, which ``nearest_to_box`` explains.
        """
        inside = ((self.vertices >= low) & (self.vertices <= high)).all(1)
        return np.flatnonzero(inside).astype(np.int32)

    def nearest_to_box(self, low: Point, high: Point, part: ClothPart | None = None) -> str:
        """Which vertex is nearest to a box without any, where, and how far outside, in words."""
        ids = np.arange(self.n_vertices) if part is None else part.vertices
        x = self.vertices[ids]
        distance = np.linalg.norm(x - np.clip(x, low, high), axis=1)
        k = int(np.argmin(distance))
        place = ", ".join(f"{c:.4g}" for c in x[k])
        return f"the nearest vertex is {ids[k]} at ({place}) m, {1e3 * distance[k]:.3g} mm outside"

    def moved(self, translation: Point = (0, 0, 0), rotation: Angles = (0, 0, 0)) -> "Cloth":
        """The cloth rotated about the origin by angles about x, y, z in turn [degrees], then moved
        [m]; or text with units.
        """
        from scipy.spatial.transform import Rotation

        turned = Rotation.from_euler("xyz", rotation, degrees=True).apply(np.array(self.points))
        return self.with_points(turned + np.asarray(translation))

    def with_points(self, points: Positions) -> "Cloth":
        """The same cloth with what moves it elsewhere: (N,3) [m]."""
        points = np.array(points, dtype=np.float64)
        x = points if self.embedding is None else self.embedding.of(points)
        made_of = None if self.made_of is None else self.made_of.at(points)
        return dataclasses.replace(self, mesh=self.mesh.with_vertices(x), made_of=made_of)

    def _material_points(self, part: ClothPart | None) -> tuple[Floats, Ints]:
        faces = slice(None) if part is None else part.faces
        return self.mesh.corner_uv[faces].reshape(-1, 2), self.mesh.faces[faces].reshape(-1)
