"""Flat sheets of several kinds of triangles for the study of bending energies."""

import numpy as np
from scipy.spatial import Delaunay

from weft.base.arrays import Floats, Ints
from weft.discretization.mesh import TriangleMesh

LONG = 4  # how many times longer than high the cells of stretched kinds are
KINDS = ("parallel", "alternating", "irregular", "stretched", "irregular stretched")


def cells(kind: str, nx: int, ny: int) -> tuple[int, int]:
    """Return the numbers of cells of a kind that has as many as nx by ny square ones."""
    return (nx // 2, 2 * ny) if "stretched" in kind else (nx, ny)


def sheet(
    kind: str, nx: int, ny: int, width: float, height: float, straight: tuple[int, int] = (1, 1)
) -> TriangleMesh:
    """Return a flat rectangle on z = 0 with nx by ny cells.

    The outermost ``straight`` columns and rows of points are regular ones in every kind.

    Irregular kinds are Delaunay triangles of points that are up to 3/10 of a cell away from those
    of a grid; stretched ones are such a mesh (or grid) that was stretched along x.
    """
    u, v = np.meshgrid(np.arange(nx + 1.0), np.arange(ny + 1.0))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    ids = np.arange(len(uv)).reshape(ny + 1, nx + 1)
    if "irregular" in kind:
        inner = ids[straight[1] : -straight[1], straight[0] : -straight[0]].ravel()
        uv[inner] += 0.3 * np.random.default_rng(0).uniform(-1, 1, (len(inner), 2))
        faces = delaunay(uv)
    else:
        a, b, c, d = (k.ravel() for k in (ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]))
        other = (np.sum(np.divmod(a, nx + 1), axis=0) % 2 == 1) & (kind == "alternating")
        halves = [
            np.stack([a, b, np.where(other, d, c)], 1),
            np.stack([np.where(other, b, a), c, d], 1),
        ]
        faces = np.concatenate(halves).astype(np.int32)
    return flat_mesh(uv * [width / nx, height / ny], faces)


def turned_strip(degrees: float, nx: int, ny: int, width: float, height: float) -> TriangleMesh:
    """Return a strip cut from a grid with parallel diagonals that is turned against it.

    The points of the border, and the first three columns, are those of an upright grid.
    """
    step = np.array([width / nx, height / ny])
    upright = sheet("parallel", nx, ny, width, height).vertices[:, :2]
    border = (upright[:, 0] < 2.5 * step[0]) | (upright[:, 0] > width - step[0] / 2)
    border |= np.abs(upright[:, 1] - height / 2) > (height - step[1]) / 2
    n = int(2 * max(nx, ny))
    lattice = np.stack(np.meshgrid(np.arange(-n, n), np.arange(-n, n)), axis=-1).reshape(-1, 2)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    # A little shear decides which diagonal is Delaunay's.
    points = lattice @ np.array([[1.0, 0.0], [1e-3, 1.0]]) @ np.array([[c, s], [-s, c]]) * step[0]
    points += [width / 2, height / 2]
    room = 0.55 * step
    inside = (points > [2 * step[0] + room[0], room[1]]) & (
        points < [width - room[0], height - room[1]]
    )
    uv = np.concatenate([upright[border], points[inside.all(1)]])
    return flat_mesh(uv, delaunay(uv))


def flat_mesh(uv: Floats, faces: Ints) -> TriangleMesh:
    """Return the mesh of points (n,2) on z = 0."""
    return TriangleMesh(np.column_stack([uv, np.zeros(len(uv))]), faces, uv[faces])


def delaunay(uv: Floats) -> Ints:
    """Return the Delaunay triangles of points (n,2) of a convex piece, without flat ones."""
    faces = Delaunay(uv).simplices.astype(np.int32)
    area = areas(uv[faces])
    faces[area < 0] = faces[area < 0][:, ::-1]
    return np.asarray(faces[np.abs(area) > 1e-9 * np.abs(area).mean()])


def areas(corners: Floats) -> Floats:
    """Return the signed areas of triangles (m,3,2)."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.asarray((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2)
