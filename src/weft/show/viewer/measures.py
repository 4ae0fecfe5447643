"""Measures, that is, numbers on cloth that viewers show as colors, with units and scales."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.bodies.nearest_points import NearestPoints
from weft.cloth.fields import Physics, largest_strain, vertex_mean
from weft.discretization.mesh import TriangleMesh
from weft.run.run import Run
from weft.show.looks import (
    BLUE_RED,
    VIRIDIS,
    Scale,
    curvature,
    largest_stress,
    nice_limit,
)


@dataclass(frozen=True, eq=False)
class At:
    """A frame with the data from which measures are computed.

    Args:
        run: the run.
        frame: its number.
        mesh: the shown mesh, with material coordinates.
        x: (n,3) [m] of its vertices.
        density: of splines, samples a knot span; None: those of the run's mesh.
        physics: laws, for stress that the run did not record.
    """

    run: Run
    frame: int
    mesh: TriangleMesh
    x: Positions
    density: int | None = None
    physics: Physics | None = None


@dataclass(frozen=True)
class VertexMeasure:
    """A number at every vertex.

    Args:
        title: text of the legend.
        unit: of the values.
        of: returns values (n,) at a frame, or raises RunError if the run has none.
        signed: both sides of 0 are shown.
    """

    title: str
    unit: str
    of: Callable[[At], Floats]
    signed: bool = False

    def scale(self, values: Floats) -> Scale:
        """Return a scale of round numbers for values of any shape.

        If only one side of 0 is shown, the scale suits the positive values alone, because zeros are
        cloth without load.
        """
        limit = nice_limit(self._colored(values))
        low, anchors = (-limit, BLUE_RED) if self.signed else (0.0, VIRIDIS)
        return Scale(self.title, low, limit, self.unit, anchors)

    def has_range(self, values: Floats) -> bool:
        """Return whether values of any shape determine a scale; zeros do not."""
        return bool(self._colored(values).any())

    def _colored(self, values: Floats) -> Floats:
        return values if self.signed else values[values > 0]


def _pressure(at: At) -> Floats:
    """Return the contact pressure [Pa] at the run's own vertices."""
    found = at.run.pressure(at.frame) if at.density is None else None
    if found is None:
        got = "a run without contact" if at.density is None else f"density {at.density}"
        raise RunError("pressure", got=got, expected="contact, and the run's own samples")
    return found


def _stress(component: int) -> Callable[[At], Floats]:
    """Return a function of the stress along warp, along weft or of shear (``weft.cloth.fields``).

    Values at vertices are means of the faces around them.
    """

    def of(at: At) -> Floats:
        made = at.run.field("stress", at.frame, density=at.density, physics=at.physics)
        return vertex_mean(at.mesh, made[:, component])

    return of


def _largest_stress(at: At) -> Floats:
    """Return the largest principal stress [N/m], as means of the faces around a vertex."""
    made = at.run.field("stress", at.frame, density=at.density, physics=at.physics)
    return largest_stress(at.mesh, at.x, made)


def _fit(at: At) -> Floats:
    faces = at.run.body_faces
    if len(faces) == 0:
        raise RunError("fit", got="a run without bodies", expected="a scene with bodies")
    return 1e3 * NearestPoints.of(at.x, at.run.body_positions(at.frame), faces).distance


def _speed(at: At) -> Floats:
    return np.asarray(np.linalg.norm(at.run.velocities(at.frame, at.density), axis=1))


MEASURES: Mapping[str, VertexMeasure] = {
    "strain": VertexMeasure(
        "largest principal strain", "%", lambda at: largest_strain(at.mesh, at.x), True
    ),
    "pressure": VertexMeasure("pressure of contact", "Pa", _pressure),
    "stress": VertexMeasure("largest principal stress", "N/m", _largest_stress),
    "stress-warp": VertexMeasure("stress along the warp", "N/m", _stress(0), True),
    "stress-weft": VertexMeasure("stress along the weft", "N/m", _stress(1), True),
    "stress-shear": VertexMeasure("shear stress", "N/m", _stress(2), True),
    "curvature": VertexMeasure("mean curvature", "1/m", lambda at: curvature(at.mesh, at.x), True),
    "fit": VertexMeasure("distance from the body", "mm", _fit),
    "speed": VertexMeasure("speed", "m/s", _speed),
}


def available(at: At, names: Sequence[str] = tuple(MEASURES)) -> tuple[str, ...]:
    """Return those of the names that a run has, tried at one frame."""

    def has(name: str) -> bool:
        try:
            MEASURES[name].of(at)
        except RunError:
            return False
        return True

    return tuple(filter(has, names))
