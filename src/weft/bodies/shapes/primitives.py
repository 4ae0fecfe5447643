"""Primitive shapes of bodies: sphere, plate, capsule, box, ring; and bodies from mesh files."""

import dataclasses
import warnings
from pathlib import Path as FilePath
from typing import Annotated

import numpy as np

from weft.base.arrays import Faces, Floats
from weft.base.errors import SceneError
from weft.base.machine import PER_BODY_VERTEX, require_memory
from weft.base.runtime_types import checked
from weft.base.settings import Setting, Size
from weft.base.units import Quantity
from weft.bodies.body import Body, Core
from weft.discretization.mesh import divide_faces, grid, unique_edges
from weft.discretization.polygon import normalize, unit_vectors
from weft.io import read_surface

MOST_FACES = 200_000  # of a sphere that is divided once more
MOST_PLATE_CELLS, MOST_BOX_CELLS = 500, 200  # along a side
UNITLESS = (".obj", ".ply", ".stl")  # formats of meshes without a unit
LARGE = 30.0  # [m] size of a body of such a file that is more often in millimeters or centimeters
TALL = 300.0  # size up to which it is rather in centimeters
Sizes = Annotated[tuple[Quantity, Quantity, Quantity], Setting("", "m", above=0)]
Width = Annotated[Quantity, Setting("along x", "m", above=0)]
Depth = Annotated[Quantity, Setting("along z", "m", above=0)]
ByFaces = Annotated[bool, Setting("contact with the faces, instead of the exact shape")]
Edge = Annotated[Quantity, Setting("approximate length of the edges", "m", above=0)]
LongestEdge = Annotated[Quantity, Setting("largest length of the edges", "m", above=0)]


@checked(SceneError)
def load_body(
    path: str | FilePath,
    scale: Size | None = None,
    name: str = "body",
    prim: str | None = None,
    weld: bool | Size | None = None,
) -> Body:
    """Load a body at rest from a mesh file.

    Args:
        path: the file.
        scale: meters per unit of its positions; None: as the file says, else 1.
        name: name for messages.
        prim: path or name of the mesh in a file of several meshes; None: all.
        weld: True: vertices that coincide become one; a distance [m], or text with a unit: also
            those that are so near.

    Raises:
        MeshError: the file cannot be read.
    """
    unit = None if scale is None else float(scale)
    x, faces = read_surface(FilePath(path), unit, prim)
    across = float(np.ptp(x, axis=0).max())
    if unit is None and FilePath(path).suffix.lower() in UNITLESS and across > LARGE:
        warnings.warn(
            f"{path}: the file has no unit, and the body is {across:.4g} m across: give the unit, "
            f"for example `scale: 1 {'cm' if across < TALL else 'mm'}`",
            stacklevel=2,
        )
    return Body(x, faces, None, name).weld(weld)


@checked(SceneError)
def sphere(radius: Size, size: Edge = 0.03, name: str = "sphere", mesh: ByFaces = False) -> Body:
    """Create a sphere about the origin.

    Args:
        radius: [m].
        size: [m] approximate edge length of the faces that are drawn.
        name: name for messages.
        mesh: whether contact is with the faces; else it is with the exact sphere, unless it
            rotates, forces move it or cloth is attached to it.

    Raises:
        SceneError: the radius or size is not > 0.
    """
    radius, size = float(radius), float(size)
    x, faces = _icosahedron()
    edge = 1.05 * radius
    while edge > size and len(faces) < MOST_FACES:
        x, faces = _divide(x, faces)
        edge /= 2
    if edge > size:
        _warn_of_longer_edges(name, size, len(faces))
    core = None if mesh else Core(np.zeros((1, 3)), radius)
    return Body(radius * normalize(x), faces, None, name, core=core)


@checked(SceneError)
def plate(
    width: Width = 4.0, depth: Depth = 4.0, size: LongestEdge = 0.2, name: str = "plate"
) -> Body:
    """Create a level rectangle about the origin: a floor, or a table.

    Args:
        width: [m] along x.
        depth: [m] along z.
        size: [m] largest edge length.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0.
    """
    width, depth, size = float(width), float(depth), float(size)
    nx, nz = (_cells(side, size, MOST_PLATE_CELLS) + 1 for side in (width, depth))
    mesh = grid(nx, nz, width, depth)
    if max(width, depth) > size * MOST_PLATE_CELLS:
        _warn_of_longer_edges(name, size, len(mesh.faces))
    return Body(mesh.vertices, mesh.faces, None, name)


@checked(SceneError)
def capsule(
    radius: Size,
    length: Annotated[
        Quantity, Setting("distance between the centers of the half spheres", "m", above=0)
    ],
    size: Edge = 0.03,
    name: str = "capsule",
    mesh: ByFaces = False,
) -> Body:
    """Create a cylinder with half spheres at both ends, along y, about the origin.

    Args:
        radius: [m].
        length: [m] of the cylinder between the half spheres.
        size: [m] approximate edge length of the faces that are drawn.
        name: name for messages.
        mesh: as of ``sphere``.

    Raises:
        SceneError: a length is not > 0.
    """
    radius, length, size = float(radius), float(length), float(size)
    check_vertices(name, size, 2 * np.pi * radius, np.pi * radius + length)
    around = max(6, int(np.ceil(2 * np.pi * radius / size)))
    rings = max(2, int(np.ceil(np.pi / 2 * radius / size)))
    along = max(1, int(np.ceil(length / size)))
    up = np.linspace(0, np.pi / 2, rings, endpoint=False)
    cap = np.stack([radius * np.cos(up), length / 2 + radius * np.sin(up)], axis=1)
    middle = np.stack(
        [np.full(along - 1, radius), np.linspace(-length / 2, length / 2, along + 1)[1:-1]], 1
    )
    profile = np.concatenate([(cap * [1, -1])[::-1], middle, cap])
    body = lathe(profile, around, (-length / 2 - radius, length / 2 + radius), name)
    if mesh:
        return body
    ends = np.array([[0.0, -length / 2, 0.0], [0.0, length / 2, 0.0]])
    return dataclasses.replace(body, core=Core(ends, radius))


@checked(SceneError)
def box(size: Sizes, edge: Size = 0.1, name: str = "box") -> Body:
    """Create a box about the origin, with sides along the axes.

    Args:
        size: (3,) [m] lengths along x, y and z.
        edge: [m] largest edge length.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0.
    """
    lengths, length = [float(side) for side in size], float(edge)
    half = np.asarray(lengths, dtype=np.float64) / 2
    points, faces, first = [], [], 0
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        nu, nv = (_cells(lengths[k], length, MOST_BOX_CELLS) + 1 for k in (u, v))
        side = grid(nu, nv, 2.0, 2.0)
        for sign in (-1.0, 1.0):
            x = np.empty((side.n_vertices, 3))
            x[:, axis] = sign
            x[:, u], x[:, v] = side.vertices[:, 0], -side.vertices[:, 2]
            points.append(x * half)
            faces.append((side.faces if sign > 0 else side.faces[:, ::-1]) + first)
            first += len(x)
    if max(lengths) > length * MOST_BOX_CELLS:
        _warn_of_longer_edges(name, length, sum(map(len, faces)))
    return _weld(np.concatenate(points), np.concatenate(faces), name)


@checked(SceneError)
def ring(
    radius: Annotated[
        Quantity, Setting("radius of the circle in the middle of the tube", "m", above=0)
    ],
    thickness: Annotated[Quantity, Setting("radius of the tube", "m", above=0)],
    size: Edge = 0.02,
    name: str = "ring",
) -> Body:
    """Create a torus about the y axis, at the origin.

    Args:
        radius: [m] of the circle in its middle.
        thickness: [m] radius of its cross section, less than ``radius``.
        size: [m] approximate edge length.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0, or the cross section fills the ring.
    """
    radius, thickness, size = float(radius), float(thickness), float(size)
    if thickness >= radius:
        raise SceneError(f"{name} thickness", got=thickness, expected=f"less than {radius:g} [m]")
    check_vertices(name, size, 2 * np.pi * (radius + thickness), 2 * np.pi * thickness)
    n = max(8, int(np.ceil(2 * np.pi * (radius + thickness) / size)))
    m = max(6, int(np.ceil(2 * np.pi * thickness / size)))
    a, b = np.meshgrid(2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m, indexing="ij")
    r = radius + thickness * np.cos(b)
    x = np.stack([r * np.cos(a), thickness * np.sin(b), r * np.sin(a)], axis=2).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    corner = [
        ((i + di) % n * m + (j + dj) % m).reshape(-1) for di, dj in ((0, 0), (0, 1), (1, 1), (1, 0))
    ]
    faces = np.concatenate([np.stack([corner[k] for k in t], 1) for t in ((0, 1, 2), (0, 2, 3))])
    return Body(x, faces, None, name)


def lathe(profile: Floats, around: int, poles: tuple[float, float], name: str) -> Body:
    """Create a closed surface of revolution about the y axis.

    Args:
        profile: (k,2) [m] radius and height of every ring, from below.
        around: number of vertices of a ring.
        poles: [m] heights of the lower and the upper pole.
        name: name for messages.
    """
    k = len(profile)
    angle = 2 * np.pi * np.arange(around) / around
    circle = unit_vectors(angle)
    x = np.empty((k, around, 3))
    x[..., 0], x[..., 2] = profile[:, :1] * circle[:, 0], profile[:, :1] * circle[:, 1]
    x[..., 1] = profile[:, 1:]
    i, j = np.meshgrid(np.arange(k - 1), np.arange(around), indexing="ij")
    c = [
        ((i + di) * around + (j + dj) % around).reshape(-1)
        for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]
    low, high, turn = k * around, k * around + 1, np.arange(around)
    following = (turn + 1) % around
    last = (k - 1) * around
    faces = np.concatenate(
        [
            np.stack([c[0], c[1], c[2]], 1),
            np.stack([c[0], c[2], c[3]], 1),
            np.stack([np.full(around, low), turn, following], 1),
            np.stack([np.full(around, high), last + following, last + turn], 1),
        ]
    )
    tips = np.array([[0, poles[0], 0], [0, poles[1], 0]])
    return Body(np.concatenate([x.reshape(-1, 3), tips]), faces, None, name)


def check_vertices(name: str, size: float, around: float, along: float) -> None:
    """Raise a SceneError if the vertices of a body need more memory than the machine has.

    Args:
        name: name of the body.
        size: [m] length of its edges.
        around: [m] the longest circle of its vertices.
        along: [m] the length across the circles.
    """
    count = (around / size) * (along / size)
    require_memory(PER_BODY_VERTEX * count, f"{name}.size", f"{size:g} m", SceneError)


def _cells(side: float, size: float, most: int) -> int:
    """Return the number of cells of a size [m] along a side [m], which is at most ``most``."""
    return int(min(np.ceil(side / size), most))


def _warn_of_longer_edges(name: str, size: float, faces: int) -> None:
    """Warn that a body has its largest number of faces, and edges longer than ``size`` [m]."""
    warnings.warn(
        f"{name}.size = {size:g} m: the body has at most {faces} faces, with longer edges",
        stacklevel=4,
    )


def _weld(x: Floats, faces: Faces, name: str) -> Body:
    """Return a body in which vertices at the same place are merged."""
    _, first, number = np.unique(np.round(x, 12), axis=0, return_index=True, return_inverse=True)
    return Body(x[first], number.reshape(-1)[faces].astype(np.int32), None, name)


def _icosahedron() -> tuple[Floats, Faces]:
    """Return vertices on the unit sphere and the 20 faces of an icosahedron."""
    g = (1 + np.sqrt(5)) / 2
    x = np.array(
        [
            [-1, g, 0],
            [1, g, 0],
            [-1, -g, 0],
            [1, -g, 0],
            [0, -1, g],
            [0, 1, g],
            [0, -1, -g],
            [0, 1, -g],
            [g, 0, -1],
            [g, 0, 1],
            [-g, 0, -1],
            [-g, 0, 1],
        ]
    )
    faces = np.array(
        [
            [0, 11, 5],
            [0, 5, 1],
            [0, 1, 7],
            [0, 7, 10],
            [0, 10, 11],
            [1, 5, 9],
            [5, 11, 4],
            [11, 10, 2],
            [10, 7, 6],
            [7, 1, 8],
            [3, 9, 4],
            [3, 4, 2],
            [3, 2, 6],
            [3, 6, 8],
            [3, 8, 9],
            [4, 9, 5],
            [2, 4, 11],
            [6, 2, 10],
            [8, 6, 7],
            [9, 8, 1],
        ],
        dtype=np.int32,
    )
    return x / np.linalg.norm(x[0]), faces


def _divide(x: Floats, faces: Faces) -> tuple[Floats, Faces]:
    """Divide every triangle into four, with the new vertices on the unit sphere."""
    edges, number = unique_edges(faces)
    middle = normalize(x[edges].mean(1))
    divided = divide_faces(faces, len(x) + number.reshape(-1, 3))
    return np.concatenate([x, middle]), divided.astype(np.int32)
