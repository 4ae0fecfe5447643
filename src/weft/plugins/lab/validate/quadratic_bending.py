"""Quadratic bending (Bergou et al. 2006) against closed forms, on an uneven mesh of random
diagonals.

If a sheet is folded along a line, or rolled up along warp or weft, it has dihedral angles only at
the lines across, whatever the diagonals: the energies are w (1 - cos theta) and P kappa^2/2 per
area, P that of a sheet that is forced onto a cylinder (``docs/explanations/bending.md``; 5/4 D if
warp and weft are alike). Only affine maps of the material cost no energy. A strip clamped at one
end drops by rho g L^4/(8 D), D that of its yarns, as long as the drop is small; with quadrics on
any mesh.
"""

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.mesh import Pattern, TriangleMesh
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare, measure
from weft.plugins.lab.validate.strip import GRAVITY, Material, clamped_strip, rest, strip_model, tip

RIGIDITY = (3e-5, 1e-5)  # [N m] bending rigidity along warp and weft
LENGTH, WIDTH = 1.0, 0.4  # [m]
LINES = (61, 25)  # lines of the uneven mesh, across warp and weft
RANDOM = 0.25  # tolerance: strips of random triangles are too stiff by 9 to 22 %
FOLDS = (0.5, 1.5, 3.0)  # [rad]
RADIUS = 1.5  # [m] of the cylinder
LOAD = 0.1  # rho g L^3/D of the cantilever: it drops by 1/80 of its length
SEGMENTS = 80  # elements along the cantilever


def checks() -> Rows:
    """Compare the null space, folds, and cylinders and cantilevers of two rigidities."""
    mesh = uneven(0)
    bending = QuadraticBending.of(mesh, RIGIDITY)
    yield from attempt("quadratic-bending/null-space", _null_space)
    name = "quadratic-bending/turned"
    yield from measure(name, 0.0, 1e-11, _rotation, mesh, bending, basis=RowBasis.SELF)
    for angle in FOLDS:
        yield from attempt(f"quadratic-bending/fold-{angle:g}", _fold, mesh, bending, angle)
    drop = LOAD / 8
    for axis, yarns in enumerate(("warp", "weft")):
        name = f"quadratic-bending/cylinder-{yarns}"
        yield from measure(name, bending_moment(axis), 1e-3, _cylinder, mesh, bending, axis)
        yield from measure(f"quadratic-bending/cantilever-{yarns}", drop, 2e-2, _cantilever, axis)
    name, indicative = "quadratic-bending/cantilever-random", RowBasis.INDICATIVE
    yield from measure(name, drop, RANDOM, _cantilever, 0, "random", basis=indicative)
    for pattern in ("regular", "random"):
        name = f"quadratic-bending/fitted-{pattern}"
        yield from measure(name, drop, 2e-2, _cantilever, 0, pattern, FittedBending)
    name, how = "quadratic-bending/fitted-alternating", (0, "alternating", FittedBending)
    yield from measure(name, drop, 5e-2, _cantilever, *how, basis=indicative)


def uneven(seed: int, lines: tuple[int, int] = LINES) -> TriangleMesh:
    """Return a flat sheet on y = 0 with uneven lines and random diagonals.

    Distances between neighboring lines differ by up to a factor of three.
    """
    rng = np.random.default_rng(seed)
    u, v = (
        size * np.concatenate([[0.0], np.cumsum(gap := rng.uniform(1, 3, n - 1))]) / gap.sum()
        for size, n in zip((LENGTH, WIDTH), lines)
    )
    flat = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1).reshape(-1, 2)
    ids = np.arange(len(flat)).reshape(lines)
    a, b, c, d = (i.reshape(-1) for i in (ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]))
    one = rng.random(len(a)) < 0.5
    faces = np.concatenate(
        [np.stack([a, b, np.where(one, c, d)], 1), np.stack([np.where(one, a, b), c, d], 1)]
    )
    x = np.stack([flat[:, 0], np.zeros(len(flat)), -flat[:, 1]], axis=1)
    return TriangleMesh(x, faces.astype(np.int32), flat[faces])


def roll(mesh: TriangleMesh, axis: int, radius: float) -> Positions:
    """Return (n,3) [m] the sheet on a cylinder; axis 0 bends the warp yarns, 1 the weft yarns."""
    u, v = mesh.vertices[:, 0], -mesh.vertices[:, 2]
    along, across = (u, v) if axis == 0 else (v, u)
    s, c = radius * np.sin(along / radius), radius * np.cos(along / radius)
    return np.stack([s, c, -across], axis=1)


def fold(mesh: TriangleMesh, line: float, angle: float) -> Positions:
    """Return (n,3) [m] the sheet, bent up by the angle [rad] beyond u = line."""
    u = mesh.vertices[:, 0]
    beyond = np.maximum(u - line, 0.0)
    x = np.minimum(u, line) + beyond * np.cos(angle)
    return np.stack([x, beyond * np.sin(angle), mesh.vertices[:, 2]], axis=1)


def _null_space() -> Rows:
    """Check that the null space of each coordinate is spanned by 1, u and v.

    The null space of the energy therefore contains all rotations and translations of the flat
    sheet.
    """
    mesh = uneven(1, (12, 9))
    form = QuadraticBending.of(mesh, (1.0, 0.5))
    values = np.linalg.eigvalsh(form.matrix(mesh.n_vertices).toarray())
    affine = np.abs(values[:3]).max() / values[-1]
    yield compare("quadratic-bending/null-space", 0.0, affine, 1e-12)
    count = float((values < 1e-9 * values[-1]).sum())
    yield compare("quadratic-bending/null-space-dimension", 3.0, count, 0.0)


def _rotation(mesh: TriangleMesh, bending: QuadraticBending) -> float:
    """Return the relative change of a cylinder's energy by a rigid motion."""
    from scipy.spatial.transform import Rotation

    x = roll(mesh, 0, RADIUS)
    turn = Rotation.from_euler("xyz", [40.0, -110.0, 75.0], degrees=True)
    before, after = bending.value(x).sum(), bending.value(turn.apply(x) + [3.0, -1.0, 0.5]).sum()
    return float((after - before) / before)


def _fold(mesh: TriangleMesh, bending: QuadraticBending, angle: float) -> Rows:
    """Compare the energy of a fold along one line with w (1 - cos theta).

    The line's weight w is P of the warp times its length, over half the widths on both sides.
    """
    lines = np.unique(mesh.vertices[:, 0])
    k = len(lines) // 2
    weight = bending_moment(0) * WIDTH / ((lines[k + 1] - lines[k - 1]) / 2)
    got = bending.value(fold(mesh, lines[k], angle)).sum()
    name = f"quadratic-bending/fold-{angle:g}"
    yield compare(name, weight * (1 - np.cos(angle)), got, 1e-10)


def _cylinder(mesh: TriangleMesh, bending: QuadraticBending, axis: int) -> float:
    """Return the energy per area over kappa^2/2 [N m].

    The area leaves out half a row at either end, because no edge bends there.
    """
    at = mesh.vertices[:, 0] if axis == 0 else -mesh.vertices[:, 2]
    lines = np.unique(at)
    length = (lines[-1] + lines[-2] - lines[1] - lines[0]) / 2
    area = length * (WIDTH if axis == 0 else LENGTH)
    return float(bending.value(roll(mesh, axis, RADIUS)).sum() / area * 2 * RADIUS**2)


def bending_moment(axis: int) -> float:
    """Return P [N m] of a sheet with RIGIDITY, from the free deformation of a strip.

    It is found by search, not by the formula that weft solves.
    """
    from scipy.optimize import fsolve

    def missing(p: Floats) -> Floats:
        diagonal = 2 * p.sum()  # stiffness against z_uv, which comes from the diagonals
        return np.asarray(diagonal * p / (p + diagonal) / RIGIDITY - 1)

    return float(fsolve(missing, np.array(RIGIDITY), xtol=1e-12)[axis])


def _cantilever(
    axis: int, pattern: Pattern = "regular", kind: type[QuadraticBending] = QuadraticBending
) -> float:
    """Return the drop over the length."""
    mesh, clamp = clamped_strip(LENGTH, SEGMENTS, pattern=pattern)
    if axis == 1:  # the strip lies along the weft
        turned = np.stack([-mesh.corner_uv[..., 1], mesh.corner_uv[..., 0]], axis=-1)
        mesh = TriangleMesh(mesh.vertices, mesh.faces, turned, mesh.groups)
    density = LOAD * RIGIDITY[axis] / (GRAVITY * LENGTH**3)
    stretch = 1e5 * RIGIDITY[axis] / LENGTH**2
    material = Material(stretch, stretch / 4, RIGIDITY[axis], density)
    plain = pattern != "regular" and kind is QuadraticBending
    bending = kind.of(mesh, (RIGIDITY[axis], RIGIDITY[axis]) if plain else RIGIDITY)
    found = rest(strip_model(mesh, material, [clamp], bending=bending), mesh.vertices)
    return float(-tip(found.start, mesh)[1] / LENGTH)
