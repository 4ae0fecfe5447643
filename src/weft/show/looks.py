"""The table of looks, that is, colorings of cloth, for pictures, pages and the viewer.

A look is a ``Look``: its name, the title and unit of its legend, and how its numbers are computed.
Looks are registered by name (``weft.extensions``, kind ``looks``). ``surface``, ``fabric``,
``panels``, ``checker`` and ``plain`` are colors without numbers. The viewer has no ``fabric``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from weft import extensions
from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.cloth.fields import (
    Physics,
    curvatures,
    gradients,
    largest_strain,
    principal_stress,
    vertex_mean,
)
from weft.cloth.regions import material_pieces
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import interpolate_points
from weft.io.part_appearance import CLOTH, PANELS, rgb
from weft.run.run_reader import RunReader

VIRIDIS = ("440154", "46327e", "365c8d", "277f8e", "1fa187", "4ac16d", "a0da39", "fde725")
BLUE_RED = ("2166ac", "67a9cf", "d1e5f0", "f7f7f7", "fddbc7", "ef8a62", "b2182b")
CONTACT = "f2c230"  # points of contact
PINNED = "e02121"  # vertices that pins hold
MARK = "e02020"  # faces that `weft check` marks
CHECKERS = 16  # squares along the longer side of the cloth


@dataclass(frozen=True)
class Scale:
    """A color map and its range, for the legend."""

    title: str
    low: float
    high: float
    unit: str
    anchors: tuple[str, ...]

    @staticmethod
    def for_values(title: str, unit: str, values: Floats, *, signed: bool) -> "Scale":
        """Return a scale of round numbers for values of any shape.

        Args:
            title, unit: of the values.
            values: that the scale must suit.
            signed: both sides of 0 are shown.
        """
        limit = nice_limit(values)
        low, anchors = (-limit, BLUE_RED) if signed else (0.0, VIRIDIS)
        return Scale(title, low, limit, unit, anchors)

    def colors(self, values: Floats) -> Floats:
        """Return (...,3) sRGB colors in 0 to 1 of values (...)."""
        t = np.clip((values - self.low) / (self.high - self.low), 0, 1) * (len(self.anchors) - 1)
        table = np.array([rgb(a) for a in self.anchors])
        return interpolate_points(t, np.arange(len(table)), table)


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
        values = np.concatenate([self.of(x) for x in frames])
        return Scale.for_values(self.title, self.unit, values, signed=self.signed)


@dataclass(frozen=True, eq=False)
class ShownFrame:
    """Cloth at one time, with the data from which looks are computed.

    Args:
        mesh: the shown mesh, with material coordinates.
        x: (n,3) [m] of its vertices.
        run: the run; None: a mesh alone.
        frame: number of the frame in the run.
        density: of splines, samples a knot span; None: those of the run's mesh.
        physics: laws, for stress that the run did not record.
    """

    mesh: TriangleMesh
    x: Positions
    run: RunReader | None = None
    frame: int = -1
    density: int | None = None
    physics: Physics | None = None

    def of_run(self, look: str) -> RunReader:
        """Return the run.

        Raises:
            RunError: there is none.
        """
        if self.run is None:
            raise RunError(f"look {look}", got="a mesh alone", expected="a frame of a run")
        return self.run


@dataclass(frozen=True)
class Look:
    """A coloring of cloth.

    Args:
        name: by which users choose it.
        title: text of the legend.
        unit: of its numbers.
        values: returns the numbers (n,) at the vertices of a frame, or raises RunError if there are
            none; None: colors without numbers.
        signed: both sides of 0 are shown. If only one side is, the scale suits the positive values
            alone, because zeros are cloth without load.
        needs_run: the numbers follow from a frame of a run, not from a mesh alone.
        needs_surface: it shows what the cloth looks like, if anything says so.
    """

    name: str
    title: str = ""
    unit: str = ""
    values: Callable[[ShownFrame], Floats] | None = None
    signed: bool = False
    needs_run: bool = False
    needs_surface: bool = False

    def numbers(self, frame: ShownFrame) -> Floats:
        """Return the numbers (n,) of a look that has some.

        Raises:
            RunError: the frame has none.
        """
        assert self.values is not None
        return self.values(frame)

    def scale(self, values: Floats) -> Scale:
        """Return a color scale for numbers of any shape."""
        return Scale.for_values(
            self.title, self.unit, self._color_values(values), signed=self.signed
        )

    def has_range(self, values: Floats) -> bool:
        """Return whether numbers of any shape determine a scale; zeros do not."""
        return bool(self._color_values(values).any())

    def _color_values(self, values: Floats) -> Floats:
        return values if self.signed else values[values > 0]


def _strain(frame: ShownFrame) -> Floats:
    return largest_strain(frame.mesh, frame.x)


def _curvature(frame: ShownFrame) -> Floats:
    return mean_curvature(frame.mesh, frame.x)


def _pressure(frame: ShownFrame) -> Floats:
    """Return the contact pressure [Pa] at the run's own vertices."""
    found = frame.of_run("pressure").pressure(frame.frame) if frame.density is None else None
    if found is None:
        got = "a run without contact" if frame.density is None else f"density {frame.density}"
        raise RunError("look pressure", got=got, expected="contact, and the run's own samples")
    return found


def _stress(frame: ShownFrame) -> Floats:
    """Return the stress (m,3) [N/m] of the faces: along the warp, along the weft, shear."""
    run = frame.of_run("stress")
    return run.field("stress", frame.frame, density=frame.density, physics=frame.physics)


def _largest_stress(frame: ShownFrame) -> Floats:
    return largest_stress(frame.mesh, frame.x, _stress(frame))


def _stress_component(k: int) -> Callable[[ShownFrame], Floats]:
    """Return a function of one component of the stress, as means of the faces at a vertex."""
    return lambda frame: vertex_mean(frame.mesh, _stress(frame)[:, k])


def _fit(frame: ShownFrame) -> Floats:
    from weft.bodies.nearest_points import NearestPoints

    run = frame.of_run("fit")
    faces = run.body_faces
    if len(faces) == 0:
        got, wanted = "a run without bodies", "a scene with bodies"
        raise RunError("look fit", got=got, expected=wanted, where=run.path)
    return 1e3 * NearestPoints.of(frame.x, run.body_positions(frame.frame), faces).distance


def _speed(frame: ShownFrame) -> Floats:
    velocities = frame.of_run("speed").velocities(frame.frame, frame.density)
    return np.asarray(np.linalg.norm(velocities, axis=1))


OWN: Mapping[str, Look] = {  # of the engine
    look.name: look
    for look in (
        Look("surface", needs_surface=True),
        Look("fabric", needs_surface=True),
        Look("panels"),
        Look("checker"),
        Look("plain"),
        Look("strain", "largest principal strain", "%", _strain, signed=True),
        Look("pressure", "pressure of contact", "Pa", _pressure, needs_run=True),
        Look("stress", "largest principal stress", "N/m", _largest_stress, needs_run=True),
        Look("stress-warp", "stress along the warp", "N/m", _stress_component(0), True, True),
        Look("stress-weft", "stress along the weft", "N/m", _stress_component(1), True, True),
        Look("stress-shear", "shear stress", "N/m", _stress_component(2), True, True),
        Look("curvature", "mean curvature", "1/m", _curvature, signed=True),
        Look("fit", "distance from the body", "mm", _fit, needs_run=True),
        Look("speed", "speed", "m/s", _speed, needs_run=True),
    )
}


LOOKS: Mapping[str, Look] = extensions.Registry("looks")  # with those of plugins


def default_look(run: RunReader) -> str:
    """Return the look of pictures of a run for which none is chosen."""
    return "surface" if run.appearances else "fabric"


def available_looks(frame: ShownFrame, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return those of the looks with numbers (none named: of all) that a frame has."""

    found = []
    for name in names or LOOKS:
        with suppress(RunError):
            if LOOKS[name].values is not None:
                LOOKS[name].numbers(frame)
                found.append(name)
    return tuple(found)


def uniform_color(m: int, code: str = CLOTH) -> Floats:
    """Return (m,3,3) one sRGB color at every corner."""
    return np.broadcast_to(rgb(code), (m, 3, 3))


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


def mean_curvature(mesh: TriangleMesh, x: Positions) -> Floats:
    """Return (n,) the mean curvature [1/m], positive where the cloth folds towards its front.

    It is half of the sum of the principal curvatures (``weft.cloth.fields``) of all faces around a
    vertex. Taken from the hinges alone, it would depend on how many diagonals end at the vertex.
    """
    return np.asarray(0.5 * curvatures(mesh, x).sum(axis=1))


def nice_limit(values: Floats) -> float:
    """Return a round number that is at least 99 % of the absolute values."""
    top = float(np.percentile(np.abs(values), 99)) if len(values) else 0.0
    if not top > 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(top))
    return float(min(m * unit for m in (1.0, 2.0, 5.0, 10.0) if m * unit >= top * (1 - 1e-9)))
