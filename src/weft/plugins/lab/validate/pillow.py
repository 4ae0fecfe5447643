"""Inflated pillows of two flat pieces, joined along their outline: mylar balloon and teabag.

The cloth resists tension only and hardly stretches. A disc of radius a whose radii keep their
length and which is slack across them becomes the mylar balloon (Paulsen 1994): its radius is
0.762760 a, its thickness 0.913893 a, its volume 1.218524 a^3. The warp runs along the radii here,
and a little bending stiffness keeps it round: lobes would hold even more.

The largest volume of a teabag, two unit squares, is not known; it is between 0.2055, which has been
reached numerically, and 0.217, an upper bound. The cloth here keeps the length of warp and weft and
shears freely.
"""

import numpy as np

from weft.base.arrays import CornerUv, Positions
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import normalize, unit_vectors
from weft.discretization.triangulate import triangulate_piece
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.loads.pressure import Pressure
from weft.laws.immediate_buckling import ImmediateBuckling
from weft.plugins.lab.validate.check import Check, Rows, attempt, compare
from weft.plugins.lab.validate.strip import membrane_model, settle

STIFFNESS, PRESSURE = 1e4, 1.0  # [N/m], [Pa]: strain of 1e-4 at a radius of 1 m
ROUND = 2e-4  # [N m] bending stiffness of the balloon
RADIUS, THICKNESS, VOLUME = 0.762760, 0.913893, 1.218524  # in units of a, a, a^3
TEABAG = (0.2055, 0.217)  # [m^3]


def checks() -> Rows:
    """Compare the mylar balloon to 1 %, and a teabag with its bounds."""
    yield from attempt("mylar-balloon", _balloon)
    yield from attempt("teabag", _teabag)


def _balloon() -> Rows:
    volume, radius, thickness = balloon()
    yield compare("mylar-balloon/radius", RADIUS, radius, 1e-2)
    yield compare("mylar-balloon/thickness", THICKNESS, thickness, 1e-2)
    yield compare("mylar-balloon/volume", VOLUME, volume, 1e-2)


def _teabag() -> Rows:
    low, high = TEABAG
    middle, got = (low + high) / 2, teabag()
    error, allowed = abs(got - middle) / middle, (high - low) / 2 / middle
    yield Check("teabag/volume", middle, got, error, allowed, low <= got <= high)


def balloon(sectors: int = 60, rings: int = 20) -> tuple[float, float, float]:
    """Return volume [m^3], radius and thickness [m] of an inflated pair of unit discs."""
    disc = polar_disc(sectors, rings)
    mesh = pillow(disc)
    radial = TriangleMesh(mesh.vertices, mesh.faces, radial_warp(mesh.corner_uv))
    x, volume = inflate(radial, disc.n_vertices, ROUND)
    rim = np.linalg.norm(x[disc.boundary][:, [0, 2]], axis=1)
    return volume, float(rim.mean()), float(np.ptp(x[:, 1]))


def teabag() -> float:
    """Return the volume [m^3] of an inflated pair of unit squares."""
    square = triangulate_piece([(0, 0), (1, 0), (1, 1), (0, 1)], (), 0.03)
    return inflate(pillow(square), square.n_vertices)[1]


def polar_disc(sectors: int, rings: int) -> TriangleMesh:
    """Return a unit disc about the origin, of rings around a center vertex: its radii are edges."""
    here = np.arange(sectors)
    after = (here + 1) % sectors
    angle = 2 * np.pi * here / sectors
    around = unit_vectors(angle)
    radii = np.arange(1, rings + 1) / rings
    uv = np.concatenate([[[0.0, 0.0]], (radii[:, None, None] * around).reshape(-1, 2)])
    faces = [np.stack([np.zeros_like(here), 1 + here, 1 + after], axis=1)]
    for ring in range(rings - 1):
        a, b = 1 + ring * sectors + here, 1 + ring * sectors + after
        c, d = a + sectors, b + sectors
        flip = ((here + ring) % 2 == 0)[:, None]
        faces.append(np.where(flip, np.stack([a, c, d], 1), np.stack([a, c, b], 1)))
        faces.append(np.where(flip, np.stack([a, d, b], 1), np.stack([b, c, d], 1)))
    corners = np.concatenate(faces).astype(np.int32)
    vertices = np.stack([uv[:, 0], np.zeros(len(uv)), -uv[:, 1]], axis=1)
    return TriangleMesh(vertices, corners, uv[corners], source="disc")


def pillow(piece: TriangleMesh) -> TriangleMesh:
    """Join a piece that lies on y = 0 and its mirror image below along the border.

    The vertices of the piece come first.
    """
    piece = without_ears(piece)
    n, inner = piece.n_vertices, np.setdiff1d(np.arange(piece.n_vertices), piece.boundary)
    below = np.arange(n)
    below[inner] = n + np.arange(len(inner))
    faces = np.concatenate([piece.faces, below[piece.faces][:, ::-1]])
    uv = np.concatenate([piece.corner_uv, piece.corner_uv[:, ::-1]])
    vertices = np.concatenate([piece.vertices, piece.vertices[inner]])
    return TriangleMesh(vertices, faces, uv, source="pillow")


def without_ears(piece: TriangleMesh) -> TriangleMesh:
    """Flip the inner edge of triangles that have two edges on the border.

    Joined to their mirror images, such triangles would close on themselves.
    """
    faces, uv = np.array(piece.faces), piece.vertex_uv
    assert uv is not None
    sides = np.bincount(piece.hinge_faces.reshape(-1), minlength=len(faces))
    for f in np.flatnonzero(sides == 1).tolist():
        (h,) = np.flatnonzero((piece.hinge_faces == f).any(1))
        a, b, left, right = piece.hinges[h].tolist()  # of the faces (a, b, left), (b, a, right)
        one, two = piece.hinge_faces[h].tolist()
        faces[one], faces[two] = (left, a, right), (right, b, left)
    return TriangleMesh(piece.vertices, faces, uv[faces], piece.groups, piece.source)


def radial_warp(corner_uv: CornerUv) -> CornerUv:
    """Return material coordinates of a disc about the origin, with the warp along its radii.

    They are turned in every face, so that the warp runs along the radius of the face's center.
    """
    center = corner_uv.mean(1)
    c, s = normalize(center).T
    turn = np.stack([np.stack([c, s], axis=1), np.stack([-s, c], axis=1)], axis=1)
    return np.asarray(np.einsum("mij,maj->mai", turn, corner_uv))


def inflate(mesh: TriangleMesh, n: int, bending: float = 0.0) -> tuple[Positions, float]:
    """Return positions (n,3) [m] at equilibrium and the volume [m^3] inside a pillow.

    The first ``n`` vertices of ``mesh`` are those of the upper piece.

    Raises:
        SimulationError: no equilibrium is found.
    """
    start = np.array(mesh.vertices)
    border = np.zeros(len(start), dtype=bool)
    lower = np.unique(mesh.faces[len(mesh.faces) // 2 :])
    border[lower[lower < n]] = True
    start[:, 1] = np.where(border, 0.0, np.where(np.arange(len(start)) < n, 0.1, -0.1))
    law = ImmediateBuckling((STIFFNESS, STIFFNESS), (0.0, 0.0))
    pressure = Pressure.of(mesh, PRESSURE)
    bend = (HingeBending.of(mesh, (bending, bending)),) if bending else ()
    x = settle(membrane_model(mesh, law, 0.1, (), pressure, *bend), start, 1e-6, 1e-5).x
    return x, float(pressure.volumes(x).sum())
