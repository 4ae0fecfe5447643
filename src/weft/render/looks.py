"""What cloth is colored by: a checker in material coordinates, panels, strain, ..."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.cloth.fields import curvatures, gradients, principal_stress
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import principal_stretches


class Look(enum.Enum):
    """What the color of the cloth shows."""

    CHECKER = "checker"
    PANELS = "panels"
    PLAIN = "plain"
    STRAIN = "strain"
    STRESS = "stress"
    CURVATURE = "curvature"
    PRESSURE = "pressure"
    FIT = "fit"


@dataclass(frozen=True)
class Scale:
    """A color map and its range, for the legend."""

    title: str
    low: float
    high: float
    unit: str
    anchors: tuple[str, ...]

    def colors(self, values: Floats) -> Floats:
        """(...,3) sRGB in 0 to 1."""
        t = np.clip((values - self.low) / (self.high - self.low), 0, 1) * (len(self.anchors) - 1)
        table = np.array([rgb(a) for a in self.anchors])
        return np.stack([np.interp(t, np.arange(len(table)), c) for c in table.T], axis=-1)


@checked(RunError, "field", unchecked=("scale",))
@dataclass(frozen=True)
class Field:
    """A number at every vertex that a picture shows as color.

    Args:
        title: what the legend says.
        unit: of the values.
        of: values (n,) at positions (n,3).
        signed: show both sides of 0.
    """

    title: str
    unit: str
    of: Callable[[Positions], Floats]
    signed: bool = False

    def scale(self, frames: Sequence[Positions]) -> Scale:
        """A range that suits all frames."""
        limit = nice_limit(np.concatenate([self.of(x) for x in frames]))
        if self.signed:
            return Scale(self.title, -limit, limit, self.unit, BLUE_RED)
        return Scale(self.title, 0.0, limit, self.unit, VIRIDIS)


VIRIDIS = ("440154", "46327e", "365c8d", "277f8e", "1fa187", "4ac16d", "a0da39", "fde725")
BLUE_RED = ("2166ac", "67a9cf", "d1e5f0", "f7f7f7", "fddbc7", "ef8a62", "b2182b")
CLOTH = "4f86b0"  # checker and plain
PANELS = ("4f86b0", "d98b5f", "6fa573", "b9789f", "c9b458", "7c7fb5", "5fb0ad", "b56b6b")
CONTACT = "f2c230"  # points of contact
HELD = "e02121"  # vertices that pins hold
MARK = "e02020"  # faces that `check` points at
GRAY = "b8b8b8"


def rgb(code: str) -> tuple[float, float, float]:
    """Red, green and blue from 0 to 1 of six hexadecimal digits, sRGB as they are."""
    return (int(code[:2], 16) / 255, int(code[2:4], 16) / 255, int(code[4:], 16) / 255)


def plain(m: int, code: str = CLOTH) -> Floats:
    """(m,3,3) one sRGB color at every corner."""
    return np.broadcast_to(np.array(rgb(code)), (m, 3, 3))


def panel_colors(mesh: TriangleMesh) -> Floats:
    """(m,3,3): one color for each region, and each piece that hangs together in material
    coordinates.
    """
    table, label = np.array([rgb(c) for c in PANELS]), panels(mesh)
    first = int(label.max()) + 1
    for k, faces in enumerate(mesh.regions.values()):
        label[faces] += k * first
    color = table[label % len(table)]
    return np.repeat(color[:, None, :], 3, axis=1)


def panels(mesh: TriangleMesh) -> Ints:
    """(m,) number of the piece of each face: faces that share a material edge belong together."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    corners = np.concatenate([mesh.faces[..., None], np.round(mesh.corner_uv * 1e7)], axis=2)
    _, ids = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    f = ids.reshape(-1, 3)
    n = int(f.max()) + 1
    pairs = np.concatenate([f[:, [0, 1]], f[:, [1, 2]]])
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    return np.asarray(label[f[:, 0]], dtype=np.int32)


def vertex_mean(mesh: TriangleMesh, values: Floats) -> Floats:
    """(n,) area-weighted mean at the vertices of values (m,) on the faces."""
    ids, w = mesh.faces.reshape(-1), np.repeat(mesh.rest_area, 3)
    total = np.bincount(ids, w * np.repeat(values, 3), mesh.n_vertices)
    return np.asarray(total / np.maximum(np.bincount(ids, w, mesh.n_vertices), 1e-300))


def largest_stress(mesh: TriangleMesh, x: Positions, stress: Floats) -> Floats:
    """(n,) [N/m] the largest principal stress of Cauchy at positions x (n,3), as means of the faces
    around a vertex, of their stress (m,3).
    """
    return vertex_mean(mesh, principal_stress(gradients(mesh, x), stress)[0])


def strain(mesh: TriangleMesh, x: Positions) -> Floats:
    """(n,) largest principal strain [%]."""
    high, _ = principal_stretches(linear_triangle(mesh).deformation_gradient(x))
    return 100 * (vertex_mean(mesh, high) - 1)


def curvature(mesh: TriangleMesh, x: Positions) -> Floats:
    """(n,) mean curvature [1/m], positive where the cloth folds towards its front.

    Half of the sum of principal ones (``weft.cloth.fields``), of all faces around a vertex: that of
    its hinges alone depends on how many diagonals end there.
    """
    return np.asarray(0.5 * curvatures(mesh, x).sum(axis=1))


def pressure_scale(values: Floats) -> Scale:
    """A range for pressures of contact [Pa]: those of the cloth that is pressed."""
    return Scale("pressure of contact", 0.0, nice_limit(values[values > 0]), "Pa", VIRIDIS)


def stress_scale(values: Floats) -> Scale:
    """A range for tensions [N/m]: what is compressed has the color of 0."""
    return Scale("largest principal stress", 0.0, nice_limit(values[values > 0]), "N/m", VIRIDIS)


def fit_scale(values: Floats) -> Scale:
    """A range for distances from the body [mm]."""
    return Scale("distance from the body", 0.0, nice_limit(values), "mm", VIRIDIS)


MEASURED = {  # looks of numbers that are given
    Look.STRESS: stress_scale,
    Look.PRESSURE: pressure_scale,
    Look.FIT: fit_scale,
}


def nice_limit(values: Floats) -> float:
    """A round number that holds 99 % of the absolute values."""
    top = float(np.percentile(np.abs(values), 99)) if len(values) else 0.0
    if not top > 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(top))
    return float(min(m * unit for m in (1.0, 2.0, 5.0, 10.0) if m * unit >= top * (1 - 1e-9)))
