"""Cloth: a mesh made of a fabric. What ``weft.sheet`` and ``weft.load`` give."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.errors import MeshError, check_known
from weft.fabric import Fabric, fabric
from weft.garment.triangulate import triangulated
from weft.mesh import Pattern, TriangleMesh, grid

_CORNERS = {
    "bottom-left": (0, 0),
    "bottom-right": (1, 0),
    "top-left": (0, 1),
    "top-right": (1, 1),
}


@dataclass(frozen=True, eq=False)
class Part:
    """One of several cloths that are simulated together.

    Args:
        name: for messages, and for pairs of the scene's contact.
        fabric: of its faces.
        vertices: ids.
        faces: numbers of its faces.
        thickness: [m] kept in contact; None: that of the scene's contact.
    """

    name: str
    fabric: Fabric
    vertices: Ints
    faces: Ints
    thickness: float | None = None


@dataclass(frozen=True, eq=False)
class Cloth:
    """A mesh and its fabric. The mesh's tables can be read here too.

    ``joined`` makes one of several; ``parts`` are these then, and ``fabric`` is the first one's.
    """

    mesh: TriangleMesh
    fabric: Fabric
    given: Sequence[Part] = ()  # parts; none: it is one

    @cached_property
    def parts(self) -> Sequence[Part]:
        """The cloths that this one is made of; of one, itself, called ``cloth``."""
        if self.given:
            return self.given
        vertices = np.arange(self.n_vertices, dtype=np.int32)
        faces = np.arange(len(self.faces), dtype=np.int32)
        return (Part("cloth", self.fabric, vertices, faces),)

    def part(self, name: str) -> Part:
        """One of them.

        Raises:
            MeshError: no such part.
        """
        check_known(name, tuple(p.name for p in self.parts), "cloth", MeshError)
        return next(p for p in self.parts if p.name == name)

    @cached_property
    def by_fabric(self) -> Sequence[tuple[Fabric, TriangleMesh]]:
        """Every fabric with its faces, on the vertices of the whole."""
        fabrics = list({id(p.fabric): p.fabric for p in self.parts}.values())
        if len(fabrics) == 1:
            return ((fabrics[0], self.mesh),)
        found = []
        for one in fabrics:
            faces = np.concatenate([p.faces for p in self.parts if p.fabric is one])
            m = self.mesh
            found.append(
                (one, TriangleMesh(m.vertices, m.faces[faces], m.corner_uv[faces], {}, m.source))
            )
        return tuple(found)

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
    def edges(self) -> Ints:
        """(ne,2)."""
        return self.mesh.edges

    @property
    def hinges(self) -> Ints:
        """(nh,4)."""
        return self.mesh.hinges

    @property
    def boundary(self) -> Ints:
        """Ids of border vertices."""
        return self.mesh.boundary

    @property
    def corner_uv(self) -> CornerUv:
        """(m,3,2) [m]."""
        return self.mesh.corner_uv

    @property
    def mass(self) -> Floats:
        """(n,) [kg] lumped vertex masses."""
        masses = [one.density * mesh.vertex_area for one, mesh in self.by_fabric]
        return np.asarray(np.sum(masses, axis=0))

    def corners(self, which: str = "all", part: Part | None = None) -> Ints:
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
            raise MeshError(
                "corners",
                got=repr(which),
                expected=f"top, bottom, left, right, all, {', '.join(_CORNERS)}",
            )
        uv, ids = self._material_points(part)
        low, high = uv.min(0), uv.max(0)
        found = []
        for name in names:
            corner = np.where(_CORNERS[name], high, low)
            found.append(ids[np.argmin(((uv - corner) ** 2).sum(1))])
        return np.unique(found).astype(np.int32)

    def border(self, which: str, part: Part | None = None) -> Ints:
        """Vertices on one side of the bounding box in material coordinates.

        Args:
            which: ``top``, ``bottom``, ``left`` or ``right``.
            part: of this one of several cloths; None: of all.

        Raises:
            MeshError: another word.
        """
        sides = {"left": (0, False), "right": (0, True), "bottom": (1, False), "top": (1, True)}
        if which not in sides:
            raise MeshError("border", got=repr(which), expected="top, bottom, left or right")
        axis, high = sides[which]
        uv, ids = self._material_points(part)
        value = uv[:, axis]
        limit = value.max() if high else value.min()
        near = np.abs(value - limit) <= 1e-6 * max(np.ptp(value), 1e-12)
        return np.unique(ids[near]).astype(np.int32)

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

    def in_box(self, low: Any, high: Any) -> Ints:
        """Vertices whose position lies in the box from ``low`` to ``high`` (3,) [m].

        May be empty.
        """
        inside = ((self.vertices >= np.asarray(low)) & (self.vertices <= np.asarray(high))).all(1)
        return np.flatnonzero(inside).astype(np.int32)

    def moved(self, translation: Any = (0, 0, 0), rotation: Any = (0, 0, 0)) -> "Cloth":
        """The cloth rotated about the origin by angles about x, y, z in turn [degrees], then moved
        [m].
        """
        from scipy.spatial.transform import Rotation

        turned = Rotation.from_euler("xyz", rotation, degrees=True).apply(np.array(self.vertices))
        return self.with_vertices(turned + np.asarray(translation, dtype=np.float64))

    def with_vertices(self, vertices: Positions) -> "Cloth":
        """The same cloth at other positions."""
        return dataclasses.replace(self, mesh=self.mesh.with_vertices(vertices))

    def _material_points(self, part: Part | None) -> tuple[Floats, Ints]:
        faces = slice(None) if part is None else part.faces
        return self.mesh.corner_uv[faces].reshape(-1, 2), self.mesh.faces[faces].reshape(-1)


def joined(
    cloths: Sequence[Cloth],
    names: Sequence[str] | None = None,
    thickness: Sequence[float | None] | None = None,
) -> Cloth:
    """Several cloths as one, to be simulated together; they meet by contact alone.

    Args:
        cloths: at least one, each where it starts.
        names: of them; None: ``cloth 1``, ``cloth 2``, ...
        thickness: [m] each keeps in contact; None: that of the scene's contact.

    Raises:
        MeshError: no cloths, or a name that is given twice.
    """
    names = [f"cloth {k + 1}" for k in range(len(cloths))] if names is None else names
    if not cloths or len(set(names)) < len(cloths):
        raise MeshError("cloths", got=list(names), expected="one name for each, all different")
    parts, groups, vertex, face = [], {}, 0, 0
    for k, (cloth, name) in enumerate(zip(cloths, names)):
        ids = np.arange(vertex, vertex + cloth.n_vertices, dtype=np.int32)
        faces = np.arange(face, face + len(cloth.faces), dtype=np.int32)
        parts.append(Part(name, cloth.fabric, ids, faces, thickness[k] if thickness else None))
        groups[name] = ids
        groups.update({f"{name} {g}": ids[v] for g, v in cloth.mesh.groups.items()})
        vertex, face = vertex + len(ids), face + len(faces)
    mesh = TriangleMesh(
        np.concatenate([c.vertices for c in cloths]),
        np.concatenate([c.faces + p.vertices[0] for c, p in zip(cloths, parts)]),
        np.concatenate([c.corner_uv for c in cloths]),
        groups,
        ", ".join(dict.fromkeys(c.mesh.source for c in cloths)),
    )
    return Cloth(mesh, cloths[0].fabric, tuple(parts))


def sheet(
    nx: int,
    ny: int,
    width: float = 1.0,
    height: float = 1.0,
    *,
    pattern: Pattern = "regular",
    fabric: str | Fabric = "cotton",
    seed: int = 0,
) -> Cloth:
    """A rectangle of nx by ny vertices, lying on y = 0 and centered at the origin; its "top" edge
    is at the back.

    Args:
        nx: vertices along the width (warp), at least 2.
        ny: vertices along the height (weft), at least 2.
        width: [m].
        height: [m].
        pattern: ``regular``, ``alternating`` or ``random`` triangles.
        fabric: a preset's name, or a Fabric.
        seed: of the random pattern.

    Raises:
        MeshError: sizes out of range.
        FabricError: an unknown fabric.
    """
    return Cloth(grid(nx, ny, width, height, pattern, seed), _fabric(fabric))


def triangulate(
    outline: Any,
    holes: Sequence[Any] = (),
    size: float = 0.02,
    *,
    divide: bool = True,
    fabric: str | Fabric = "cotton",
    seed: int = 0,
) -> Cloth:
    """A piece of any shape, of irregular, nearly equilateral triangles; it lies on y = 0, centered
    at the origin, with the outline as its material coordinates.

    Args:
        outline: (k,2) [m] polygon, warp along the first coordinate. Vertices 0, 1, ... of the mesh
            are its points in turn, then those of the holes (groups ``outline``, ``hole 0``, ...).
        holes: polygons inside it.
        size: [m] edge length inside; triangles are smaller along shorter edges of the outline.
        divide: add points on edges of the outline that are longer than ``size``, closer together
            towards sharp corners; False keeps the outline's points and no others. Given points are
            never moved.
        fabric: a preset's name, or a Fabric.
        seed: of the points inside: other seeds give other meshes of the same piece.

    Raises:
        MeshError: a size out of range, or polygons that cross.
        FabricError: an unknown fabric.
    """
    return Cloth(triangulated(outline, holes, size, divide, seed), _fabric(fabric))


def load(
    path: str | Path,
    *,
    fabric: str | Fabric = "cotton",
    scale: float = 1.0,
    uv_scale: float | None = None,
    warp: tuple[float, float, float] | None = None,
) -> Cloth:
    """A cloth from an OBJ or PLY file.

    Args:
        path: the file.
        fabric: a preset's name, or a Fabric.
        scale: meters per unit of the file (0.01 for centimeters).
        uv_scale: meters per unit of its texture coordinates; None: the same as ``scale``.
        warp: where the file has no texture coordinates, the direction of the warp yarns in space.

    Raises:
        MeshError: a file that cannot be read, or a mesh that cannot be simulated.
        FabricError: an unknown fabric.
    """
    from weft.io import read_mesh

    mesh = read_mesh(Path(path), scale=scale, uv_scale=uv_scale, warp=warp)
    return Cloth(mesh, _fabric(fabric))


def _fabric(value: str | Fabric) -> Fabric:
    return value if isinstance(value, Fabric) else fabric(value)
