"""Looks, that is, colorings of cloth: checker, panels, strain, and others, with their color
scales.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.cloth.fields import (
    curvatures,
    gradients,
    principal_stress,
    vertex_mean,
)
from weft.cloth.regions import material_pieces
from weft.discretization.mesh import TriangleMesh


class Look(enum.Enum):
    """Colorings of the cloth."""

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
        """Return (...,3) sRGB colors in 0 to 1 of values (...)."""
        t = np.clip((values - self.low) / (self.high - self.low), 0, 1) * (len(self.anchors) - 1)
        table = np.array([rgb(a) for a in self.anchors])
        return np.stack([np.interp(t, np.arange(len(table)), c) for c in table.T], axis=-1)


@checked(RunError, "field", unchecked=("scale",))
@dataclass(frozen=True)
class Field:
    """A number at every vertex that a picture shows as color.

    Args:
        title: text of the legend.
        unit: of the values.
        of: returns values (n,) at positions (n,3) [m].
        signed: show both sides of 0.
    """

    title: str
    unit: str
    of: Callable[[Positions], Floats]
    signed: bool = False

    def scale(self, frames: Sequence[Positions]) -> Scale:
        """Return a color scale whose range suits all frames."""
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
MARK = "e02020"  # faces that `weft check` marks
GRAY = "b8b8b8"


def rgb(code: str) -> tuple[float, float, float]:
    """Return red, green and blue from 0 to 1 of six hexadecimal digits, sRGB without conversion."""
    return (int(code[:2], 16) / 255, int(code[2:4], 16) / 255, int(code[4:], 16) / 255)


def plain(m: int, code: str = CLOTH) -> Floats:
    """Return (m,3,3) one sRGB color at every corner."""
    return np.broadcast_to(np.array(rgb(code)), (m, 3, 3))


def panel_colors(mesh: TriangleMesh) -> Floats:
    """Return (m,3,3) sRGB colors: one for each region, and each piece of material.

    A piece is a set of faces that are connected in material coordinates.
    """
    table, label = np.array([rgb(c) for c in PANELS]), material_pieces(mesh)
    first = int(label.max()) + 1
    for k, faces in enumerate(mesh.regions.values()):
        label[faces] += k * first
    color = table[label % len(table)]
    return np.repeat(color[:, None, :], 3, axis=1)


def largest_stress(mesh: TriangleMesh, x: Positions, stress: Floats) -> Floats:
    """Return (n,) [N/m] the largest principal Cauchy stress at positions x (n,3) [m].

    It is the mean over the faces around a vertex, computed from their stress (m,3) [N/m].
    """
    return vertex_mean(mesh, principal_stress(gradients(mesh, x), stress)[0])


def curvature(mesh: TriangleMesh, x: Positions) -> Floats:
    """Return (n,) the mean curvature [1/m], positive where the cloth folds towards its front.

    It is half of the sum of the principal curvatures (``weft.cloth.fields``) of all faces around a
    vertex. Taken from the hinges alone, it would depend on how many diagonals end at the vertex.
    """
    return np.asarray(0.5 * curvatures(mesh, x).sum(axis=1))


def pressure_scale(values: Floats) -> Scale:
    """Return a scale for contact pressures [Pa], from those of pressed cloth."""
    return Scale("pressure of contact", 0.0, nice_limit(values[values > 0]), "Pa", VIRIDIS)


def stress_scale(values: Floats) -> Scale:
    """Return a scale for tensions [N/m]; compressed cloth has the color of 0."""
    return Scale("largest principal stress", 0.0, nice_limit(values[values > 0]), "N/m", VIRIDIS)


def fit_scale(values: Floats) -> Scale:
    """Return a scale for distances from the body [mm]."""
    return Scale("distance from the body", 0.0, nice_limit(values), "mm", VIRIDIS)


MEASURED = {  # looks whose values the caller of the renderer gives
    Look.STRESS: stress_scale,
    Look.PRESSURE: pressure_scale,
    Look.FIT: fit_scale,
}


def nice_limit(values: Floats) -> float:
    """Return a round number that is at least 99 % of the absolute values."""
    top = float(np.percentile(np.abs(values), 99)) if len(values) else 0.0
    if not top > 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(top))
    return float(min(m * unit for m in (1.0, 2.0, 5.0, 10.0) if m * unit >= top * (1 - 1e-9)))
