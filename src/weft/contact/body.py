"""Bodies that cloth meets: triangle meshes that stand still or move along a path."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Faces, Floats, Positions
from weft.errors import SceneError
from weft.mesh import edges_of, grid
from weft.pins import Path


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid surface. It need not be closed, and its faces may look either way.

    Args:
        vertices: (b,3) [m] at the start.
        faces: (m,3).
        path: its motion; None: it stands still.
        name: for messages.

    Raises:
        SceneError: positions that are not finite, or faces out of range.
    """

    vertices: Positions
    faces: Faces
    path: Path | None = None
    name: str = "body"

    def __post_init__(self) -> None:
        x = np.asarray(self.vertices, dtype=np.float64)
        f = np.asarray(self.faces, dtype=np.int32)
        if x.ndim != 2 or x.shape[1:] != (3,) or not np.isfinite(x).all():
            raise SceneError(f"{self.name}.vertices", got=x.shape, expected="finite, (b, 3) [m]")
        if len(f) == 0 or f.min() < 0 or f.max() >= len(x):
            raise SceneError(f"{self.name}.faces", expected=f"ids from 0 to {len(x) - 1}")
        object.__setattr__(self, "vertices", x)
        object.__setattr__(self, "faces", f)

    def at(self, t: float) -> Positions:
        """(b,3) [m] at time t."""
        return self.vertices if self.path is None else self.path.positions(self.vertices, t)

    def moved(self, translation: tuple[float, float, float], path: Path | None = None) -> "Body":
        """The same elsewhere, with another motion where one is given."""
        return Body(
            self.vertices + np.asarray(translation), self.faces, path or self.path, self.name
        )


def joined_faces(bodies: Sequence[Body]) -> Faces:
    """(m,3) faces of all bodies, on their vertices one body after the other."""
    faces, first = [np.zeros((0, 3), dtype=np.int32)], 0
    for body in bodies:
        faces.append(body.faces + first)
        first += len(body.vertices)
    return np.concatenate(faces).astype(np.int32)


def joined_positions(bodies: Sequence[Body], t: float) -> Positions:
    """(b,3) [m] vertices of all bodies at time t."""
    return np.concatenate([np.zeros((0, 3)), *(body.at(t) for body in bodies)])


def sphere(radius: float, size: float, name: str = "sphere") -> Body:
    """A sphere about the origin.

    Args:
        radius: [m].
        size: [m] of its edges, about.
        name: for messages.

    Raises:
        SceneError: a radius or size that is not > 0.
    """
    if not (radius > 0 and size > 0 and np.isfinite([radius, size]).all()):
        raise SceneError(f"{name} radius, size", got=(radius, size), expected="must be > 0 [m]")
    x, faces = _icosahedron()
    edge = 1.05 * radius
    while edge > size and len(faces) < 200_000:
        x, faces = _divided(x, faces)
        edge /= 2
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return Body(radius * x, faces, None, name)


def plate(width: float, depth: float, size: float = 0.2, name: str = "plate") -> Body:
    """A level rectangle about the origin: a floor, or a table.

    Args:
        width: [m] along x.
        depth: [m] along z.
        size: [m] of its edges, at most.
        name: for messages.

    Raises:
        SceneError: a length that is not > 0.
    """
    given = (width, depth, size)
    if not (np.isfinite(given).all() and min(given) > 0):
        raise SceneError(f"{name} width, depth, size", got=given, expected="must be > 0 [m]")
    nx, nz = (min(int(np.ceil(side / size)), 500) + 1 for side in (width, depth))
    mesh = grid(nx, nz, width, depth)
    return Body(mesh.vertices, mesh.faces, None, name)


def _icosahedron() -> tuple[Floats, Faces]:
    g = (1 + np.sqrt(5)) / 2
    x = np.array([
        [-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g],
        [0, -1, -g], [0, 1, -g], [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1],
    ])  # fmt: skip
    faces = np.array([
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4],
        [11, 10, 2], [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
        [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ], dtype=np.int32)  # fmt: skip
    return x / np.linalg.norm(x[0]), faces


def _divided(x: Floats, faces: Faces) -> tuple[Floats, Faces]:
    """Every triangle as four, new vertices on the unit sphere."""
    edges, number = edges_of(faces)
    middle = x[edges].mean(1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    ab, bc, ca = (len(x) + number.reshape(-1, 3)).astype(np.int32).T
    a, b, c = faces.T
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([x, middle]), np.concatenate([np.stack(p, axis=1) for p in parts])
