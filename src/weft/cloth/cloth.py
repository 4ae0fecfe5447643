"""The ``Cloth`` class, which ``weft.sheet`` and ``weft.load`` return: a mesh with its fabrics."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from weft.base.arrays import Angles, CornerUv, Faces, Floats, Ints, Point, Positions
from weft.base.errors import MeshError, check_known, did_you_mean, point_text
from weft.base.runtime_types import checked
from weft.base.settings import Accepts
from weft.cloth.regions import ContactThickness, Region, contact_thickness
from weft.discretization.compound_surface import Surfaces, merge_pieces
from weft.discretization.embedding import Embedding
from weft.discretization.manifold import orient
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.discretization.spline_surface import SplineSurface, side_of
from weft.discretization.surface import Surface
from weft.discretization.triangles import Triangles
from weft.fabric.fabric import Fabric, FabricLike
from weft.fabric.fabric import fabric as as_fabric
from weft.io.part_appearance import PartAppearance

_CORNERS = {
    "bottom-left": (0, 0),
    "bottom-right": (1, 0),
    "top-left": (0, 1),
    "top-right": (1, 1),
}
SIDES = {"top": (1, True), "bottom": (1, False), "left": (0, False), "right": (0, True)}
CORNERS = (*SIDES, "all", *_CORNERS)  # words that select corners: sides have two


@dataclass(frozen=True, eq=False)
class ClothPart:
    """A cloth that is simulated together with others, as a part of one ``Cloth``.

    Args:
        name: name of the part in messages and in the pairs of the scene's contact.
        fabric: fabric of its faces; with regions, the fabric of the first one.
        vertices: indices of its vertices.
        faces: indices of its faces.
        thickness: [m] distance kept in contact; ``fabric``: the thickness of its fabric; None: that
            of the scene's contact.
        regions: sets of faces with fabrics of their own; empty: all faces are of ``fabric``.
    """

    name: str
    fabric: Fabric
    vertices: Ints
    faces: Ints
    thickness: ContactThickness = None
    regions: Sequence[Region] = ()

    def contact_distance(self) -> float | None:
        """Return the distance [m] kept in contact; None: as the scene's contact has it."""
        return contact_thickness(self.thickness, self.fabric)

    @property
    def kinds(self) -> Sequence[Region]:
        """The regions of the part, or one region with all its faces if it has none."""
        return self.regions or (Region(self.name, self.fabric, self.faces, self.thickness),)

    def with_fabric(self, old: Fabric, new: Fabric) -> "ClothPart":
        """Return the part with fabric ``old`` replaced by ``new``."""
        regions = [
            dataclasses.replace(r, fabric=new) if r.fabric is old else r for r in self.regions
        ]
        fabric = new if self.fabric is old else self.fabric
        return dataclasses.replace(self, fabric=fabric, regions=tuple(regions))


@checked(MeshError, "cloth", unchecked=("vertex_maximum",))
@dataclass(frozen=True, eq=False, repr=False)
class Cloth:
    """A mesh and its fabric; the arrays of the mesh are available as properties.

    ``join`` makes one ``Cloth`` of several: ``parts`` lists them, and ``fabric`` is the first
    one's. The degrees of freedom of a spline are its control points; its mesh consists of samples
    of it.

    Args:
        mesh: the triangle mesh; faces that look the other way round than their neighbors are
            turned, with a warning.
        fabric: the fabric, or what ``sheet`` takes: a preset's name, a .yaml file, or fields.
        given: the parts; empty: the cloth is one part.
        made_of: the surfaces of all parts; None: the triangles of the mesh.
        sewn: (n,) group number of every vertex: vertices that seams bring together share it, and
            contact ignores pairs of primitives that share a number; None: no seams.
        seams: names of the seams, each with the (k,2) vertices that it brings together.
        folded: faces that lie behind others, between the folds of pressed pleats; None: none.
        fold_edges: (k,2) vertices of the edges along pressed folds, which pictures show sharp;
            None: none.
        appearances: what parts look like in pictures and exported files, by name of the part.
    """

    mesh: TriangleMesh
    fabric: Annotated[
        Fabric, Accepts(FabricLike)
    ]  # or what `sheet` takes: a preset's name, a .yaml file, fields
    given: Sequence[ClothPart] = ()
    made_of: Surfaces | None = None
    sewn: Ints | None = None
    seams: Sequence[tuple[str, Ints]] = ()
    folded: Ints | None = None
    fold_edges: Ints | None = None
    appearances: Mapping[str, PartAppearance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fabric", as_fabric(self.fabric, "cloth.fabric"))
        if self.made_of is None:
            object.__setattr__(self, "mesh", orient(self.mesh))
        for fabric in self.fabrics:
            self._check_maps(fabric)

    def _check_maps(self, fabric: Fabric) -> None:
        """Raise unless the weights of a fabric's maps are there, and from 0 to 1."""
        for name, painted in (fabric.maps or {}).items():
            self.mesh.painted(painted.weights, f"fabric {fabric.name}.{name}", (0, 1))

    def __repr__(self) -> str:
        """Return two lines of text: size, fabric and mass; source and groups."""
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
        """The cloths that were joined; a single cloth has one part, called ``cloth``."""
        if self.given:
            return self.given
        vertices = np.arange(self.n_vertices, dtype=np.int32)
        faces = np.arange(len(self.faces), dtype=np.int32)
        return (ClothPart("cloth", self.fabric, vertices, faces),)

    def part(self, name: str) -> ClothPart:
        """Return the part with a name.

        Raises:
            MeshError: there is no such part.
        """
        check_known(name, tuple(p.name for p in self.parts), "cloth", MeshError)
        return next(p for p in self.parts if p.name == name)

    def name_of(self, vertex: int) -> str:
        """Return a vertex for messages: ``vertex 5``, or with parts ``vertex 5 of sleeve``."""
        if len(self.parts) == 1:
            return f"vertex {vertex}"
        part = next(p for p in self.parts if vertex in p.vertices)
        return f"vertex {np.flatnonzero(part.vertices == vertex)[0]} of {part.name}"

    @cached_property
    def surfaces(self) -> Surfaces:
        """The surfaces of the cloth, one piece per part, with the points that move them."""
        return self.made_of or Surfaces.of_mesh(self.mesh)

    @property
    def pieces(self) -> Sequence[tuple[ClothPart, Surface]]:
        """The parts, each with its surface."""
        return tuple(zip(self.parts, self.surfaces.pieces, strict=True))

    @property
    def regions(self) -> Sequence[Region]:
        """The regions of all parts; a part without regions counts as one region."""
        return [region for part in self.parts for region in part.kinds]

    @property
    def region_of_faces(self) -> Ints:
        """(m,) index of every face's region in ``regions``."""
        found = np.zeros(len(self.faces), dtype=np.int32)
        for k, region in enumerate(self.regions):
            found[region.faces] = k
        return found

    @cached_property
    def region_surfaces(self) -> Sequence[tuple[Fabric, Surface]]:
        """The fabric of every region with its surface, in indices of the cloth's points."""
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
        """The fabrics of all parts and regions, without repetitions."""
        return list({id(r.fabric): r.fabric for r in self.regions}.values())

    def with_fabrics(self, fabrics: Sequence[Fabric]) -> "Cloth":
        """Return the cloth with other fabrics in place of ``fabrics``, in the same order."""
        cloth = self
        for old, new in zip(self.fabrics, fabrics, strict=True):
            if new is not old:
                parts = tuple(p.with_fabric(old, new) for p in cloth.parts) if cloth.given else ()
                first = new if cloth.fabric is old else cloth.fabric
                cloth = dataclasses.replace(cloth, fabric=first, given=parts)
        return cloth

    @property
    def fabric_names(self) -> str:
        """The names of all fabrics, without repetitions, separated by commas."""
        return ", ".join(dict.fromkeys(r.fabric.name for r in self.regions))

    @property
    def elements(self) -> Sequence[tuple[Fabric, Surface]]:
        """The pairs of a fabric and one of its surfaces from which energies are built."""
        return [
            (fabric, surface)
            for fabric in self.fabrics
            for surface in merge_pieces([s for f, s in self.region_surfaces if f is fabric])
        ]

    @property
    def vertices(self) -> Positions:
        """(n,3) [m] vertices of the mesh."""
        return self.mesh.vertices

    @property
    def n_vertices(self) -> int:
        """The number of vertices."""
        return self.mesh.n_vertices

    @property
    def faces(self) -> Faces:
        """(m,3) vertex indices of the triangles."""
        return self.mesh.faces

    @property
    def corner_uv(self) -> CornerUv:
        """(m,3,2) [m] material coordinates of the corners of the triangles."""
        return self.mesh.corner_uv

    @property
    def points(self) -> Positions:
        """(N,3) [m] degrees of freedom: control points of splines, vertices of triangle meshes."""
        return self.surfaces.points

    @property
    def embedding(self) -> Embedding | None:
        """The vertices as linear combinations of the points; None if they are the points."""
        return self.surfaces.embedding

    @property
    def vertex_mass(self) -> Floats:
        """(n,) [kg] mass lumped to the vertices of the mesh, at the start."""
        density = np.zeros(self.n_vertices)
        for part in self.parts:
            density[part.vertices] = self.number(part.fabric, "density")[part.vertices]
        mass = density * self.mesh.vertex_area
        for part in self.parts:
            if part.regions:
                mass[part.vertices] = 0.0
            for region in part.regions:
                faces = self.mesh.faces[region.faces]
                density_here = self.number(region.fabric, "density")[faces]
                third = density_here * self.mesh.rest_area[region.faces, None] / 3
                np.add.at(mass, faces.reshape(-1), third.reshape(-1))
        return mass

    @property
    def mass(self) -> Floats:
        """(N,) [kg] mass lumped to the points, at the start."""
        pairs = self.region_surfaces
        each = [f.number("density", self.point_weights) * s.area for f, s in pairs]
        return np.asarray(sum(each))

    def number(self, fabric: Fabric, name: str) -> Floats:
        """Return a number (n,) of a fabric at every vertex, as its map has it."""
        value = fabric.number(name, self.mesh.weights.__getitem__)
        return np.array(np.broadcast_to(value, self.n_vertices))

    def point_weights(self, name: str) -> Floats:
        """Return painted weights (N,) at the points.

        A control point of a spline has those where it is in the material plane, so that weights
        which are linear there are so on the spline.
        """
        from weft.discretization.spline_fit.lift import lift

        w = self.mesh.weights[name]
        if self.embedding is None:
            return w
        out: Floats = self.embedding.matrix.T @ w  # right for vertices of triangles
        for part, surface in self.pieces:
            if isinstance(surface, SplineSurface):
                faces, uv = self.faces[part.faces], self.corner_uv[part.faces]
                for k, (patch, ids) in enumerate(zip(surface.patches, surface.ids)):
                    own, rest = surface.shown.patch == k, patch.rest.reshape(-1, 2)
                    out[ids.ravel()] = lift(rest, uv[own], w[faces[own]][..., None])[:, 0]
        return np.asarray(np.clip(out, 0.0, 1.0))

    def element_weights(self, name: str, stencil: Ints, shares: Floats | None = None) -> Floats:
        """Return painted weights (m,) of elements.

        Args:
            name: of the weights.
            stencil: (m,k) points of each element.
            shares: (m,k) values of their shape functions; None: all alike.
        """
        w = self.point_weights(name)[stencil]
        return np.asarray(w.mean(axis=1) if shares is None else (shares * w).sum(axis=1))

    def face_weights(self, name: str, faces: Ints) -> Floats:
        """Return painted weights (m,) of some triangles of the mesh."""
        return np.asarray(self.mesh.weights[name][self.faces[faces]].mean(axis=1))

    def vertex_maximum(self, value: Callable[[Fabric], float]) -> Floats:
        """Return the largest value (n,) that a number of the fabrics has around each vertex; 0 for
        vertices without faces.

        Args:
            value: function that returns the number of a fabric.
        """
        found = np.zeros(self.n_vertices)
        for region in self.regions:
            ids = np.unique(self.mesh.faces[region.faces])
            found[ids] = np.maximum(found[ids], value(region.fabric))
        return found

    def samples(self) -> Samples:
        """Return the quadrature points of the membrane energy, of all pieces.

        Triangles beside splines have stencils as wide as those of the splines, with one vertex
        repeated.
        """
        return Samples.concatenate([s.samples() for s in self.surfaces.pieces])

    def corners(self, which: str = "all", part: ClothPart | None = None) -> Ints:
        """Return the vertices at the corners of the cloth's bounding box in material coordinates.

        Args:
            which: ``top``, ``bottom``, ``left``, ``right`` (two corners each), ``all``, or one
                corner such as ``top-left``.
            part: only this part; None: all of the cloth.

        Raises:
            MeshError: ``which`` is another word.
        """
        check_known(which, CORNERS, "corners", MeshError)
        names = [n for n in _CORNERS if which == "all" or which == n or which in n.split("-")]
        uv, ids = self._material_points(part)
        low, high = uv.min(0), uv.max(0)
        found = []
        for name in names:
            corner = np.where(_CORNERS[name], high, low)
            found.append(ids[np.argmin(((uv - corner) ** 2).sum(1))])
        return np.unique(found).astype(np.int32)

    def border(self, which: str, part: ClothPart | None = None) -> Ints:
        """Return the vertices on one side of the bounding box in material coordinates, or along
        that side of a spline patch, which may be curved.

        Args:
            which: ``top``, ``bottom``, ``left`` or ``right``.
            part: only this part; None: all of the cloth.

        Raises:
            MeshError: ``which`` is another word.
        """
        check_known(which, SIDES, "border", MeshError)
        along = self._side(which, part)
        if along is not None:
            return along
        axis, high = SIDES[which]
        uv, ids = self._material_points(part)
        value = uv[:, axis]
        limit = value.max() if high else value.min()
        # The tolerance, relative to the size of the cloth, is for coordinates rounded by a file.
        near = np.abs(value - limit) <= 1e-6 * max(np.ptp(value), 1e-12)
        return np.unique(ids[near]).astype(np.int32)

    def _side(self, which: str, part: ClothPart | None) -> Ints | None:
        """Return the samples along a side of the part's patch; None if it is not a single patch."""
        found = [(own, s.shown.grids) for own, s in self.pieces if part in (None, own)]
        if len(found) != 1 or len(found[0][1]) != 1:
            return None
        ((own, (grid,)),) = found
        return np.sort(own.vertices[side_of(grid, which)])

    def group(self, name: str, part: ClothPart | None = None) -> Ints:
        """Return the vertices of a named group of the mesh.

        Args:
            name: name of the group; of joined cloths, with the name of the part before it.
            part: the part whose mesh file has the group; None: ``name`` is the whole name.

        Raises:
            MeshError: there is no such group.
        """
        whole = name if part is None else f"{part.name} {name}"
        if len(self.parts) == 1 and whole not in self.mesh.groups:
            whole = name  # a cloth that was not joined
        if whole not in self.mesh.groups:
            known = ", ".join(self.mesh.groups) or "none"
            raise MeshError(
                "group",
                got=repr(whole),
                expected=f"one of: {known}",
                where=self.mesh.source,
                hint=did_you_mean(whole, self.mesh.groups),
            )
        return self.mesh.groups[whole]

    def weighted(self, name: str, above: float = 0.5, part: ClothPart | None = None) -> Ints:
        """Return the vertices whose painted weight is greater than a number.

        Args:
            name: name of the weights in the mesh file (``mesh.weights``).
            above: the number.
            part: only this part; None: all of the cloth.

        Raises:
            MeshError: there are no such weights, or none is greater.
        """
        values = self.mesh.painted(name, "weights")
        ids = np.flatnonzero(values > above).astype(np.int32)
        ids = ids if part is None else np.intersect1d(ids, part.vertices)
        if len(ids) == 0:
            of = values if part is None else values[part.vertices]
            raise MeshError(
                f"weights {name!r}",
                got=f"none above {above:g}",
                where=self.mesh.source,
                expected=f"a number below {of.max():g}, because the weights are {of.min():g} to "
                f"{of.max():g}",
            )
        return ids

    def in_box(self, low: Point, high: Point) -> Ints:
        """Return the vertices inside the box from ``low`` to ``high`` (3,) [m], or text with units.

        The result may be empty; ``nearest_to_box`` then helps to explain why.
        """
        inside = ((self.vertices >= low) & (self.vertices <= high)).all(1)
        return np.flatnonzero(inside).astype(np.int32)

    def nearest_to_box(self, low: Point, high: Point, part: ClothPart | None = None) -> str:
        """Return a text for messages about a box without vertices: the nearest vertex, counted in
        the part if there is one, its position, and its distance from the box.
        """
        x = self.vertices if part is None else self.vertices[part.vertices]
        distance = np.linalg.norm(x - np.clip(x, low, high), axis=1)
        k = int(np.argmin(distance))
        place = point_text(x[k])
        return f"the nearest vertex is {k} at ({place}) m, {1e3 * distance[k]:.3g} mm outside"

    def move(self, translation: Point = (0, 0, 0), rotation: Angles = (0, 0, 0)) -> "Cloth":
        """Return the cloth rotated about the origin, then translated.

        Args:
            translation: (3,) [m], or text with units.
            rotation: angles about x, y, z in turn [degrees], or text with units.
        """
        from scipy.spatial.transform import Rotation

        turned = Rotation.from_euler("xyz", rotation, degrees=True).apply(np.array(self.points))
        return self.with_points(turned + np.asarray(translation))

    def with_points(self, points: Positions) -> "Cloth":
        """Return the cloth with its points at other positions (N,3) [m]."""
        points = np.array(points, dtype=np.float64)
        x = points if self.embedding is None else self.embedding.of(points)
        made_of = None if self.made_of is None else self.made_of.at(points)
        return dataclasses.replace(self, mesh=self.mesh.with_vertices(x), made_of=made_of)

    def _material_points(self, part: ClothPart | None) -> tuple[Floats, Ints]:
        faces = slice(None) if part is None else part.faces
        return self.mesh.corner_uv[faces].reshape(-1, 2), self.mesh.faces[faces].reshape(-1)
