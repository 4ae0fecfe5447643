"""Pressed lines: rest angles of hinges along a line in material coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.base.arrays import Bools, Floats, Ints
from weft.base.errors import MeshError, SceneError
from weft.base.runtime_types import checked
from weft.base.settings import MATERIAL, REQUIRED, documented, setting
from weft.discretization.mesh import TriangleMesh

NEAR = 0.02  # largest distance of an edge's ends from the line, over the length of the edge
WHOLE = 0.98  # least fraction of a line that edges of the mesh must follow


@checked(SceneError, "pressed")
@documented
@dataclass(frozen=True)
class Pressed:
    """A line with a rest angle: a pleat or a crease. Edges of the mesh have to follow it.

    Raises:
        SceneError: fewer than two points, or an angle beyond a half turn.
    """

    line: Sequence[tuple[float, float]] = setting(
        REQUIRED,
        "points in material coordinates, along edges of the mesh",
        "m",
        constant="the mesh is fixed; the simulation moves only its points",
    )
    angle: float = setting(
        REQUIRED,
        "angle of the fold at rest; 0: flat; positive if the right side is outside",
        "rad",
        constant=MATERIAL,
    )
    cloth: str | None = setting(None, "name of the cloth, if there are several")

    def __post_init__(self) -> None:
        if len(self.line) < 2:
            raise SceneError("pressed.line", got=self.line, expected="two points (u, v) or more")
        if not abs(self.angle) < np.pi:
            got = f"{np.degrees(self.angle):g} deg"
            raise SceneError("pressed.angle", got=got, expected="must be > -180 and < 180 deg")


def press_angles(mesh: TriangleMesh, rest: Floats, lines: Sequence[tuple[Pressed, Ints]]) -> Floats:
    """Return rest angles with lines pressed in, (h,) [rad].

    If two lines meet, the later one counts.

    Args:
        mesh: the mesh.
        rest: (h,) [rad] without them.
        lines: each with the vertices of its cloth.

    Raises:
        MeshError: a line that no edges follow, or only in part.
    """
    angle = np.array(rest)
    ends = _ends(mesh)
    for line, vertices in lines:
        own = np.isin(mesh.hinges[:, 0], vertices)
        for a, b in pairwise(np.asarray(line.line, dtype=np.float64)):
            on = own & _along(ends, a, b)
            found = float(np.linalg.norm(ends[on, 1] - ends[on, 0], axis=1).sum())
            length = float(np.linalg.norm(b - a))
            if found < WHOLE * length:
                place = f"({a[0]:g}, {a[1]:g}) to ({b[0]:g}, {b[1]:g}) m"
                raise MeshError(
                    f"pressed line {place}",
                    got=f"edges of the mesh on {found:.3g} m of the line",
                    expected=f"edges on all {length:.3g} m of the line",
                    hint=(
                        "choose the vertices of the sheet so that a row or column lies on "
                        "the line, or use fold lines of a pattern (docs/guides/garment-files.md); "
                        "a border cannot be folded"
                    ),
                )
            angle[on] = -line.angle  # a hinge's angle is positive for a valley fold
    return angle


def _ends(mesh: TriangleMesh) -> Floats:
    """Return both ends of each hinge's edge in the material of its first face, (h,2,2) [m]."""
    face = mesh.hinge_faces[:, 0]
    corners, uv, rows = mesh.faces[face], mesh.corner_uv[face], np.arange(len(face))
    ends = [uv[rows, np.argmax(corners == mesh.hinges[:, [k]], axis=1)] for k in (0, 1)]
    return np.stack(ends, axis=1)


def _along(ends: Floats, a: Floats, b: Floats) -> Bools:
    """Return which edges lie on the line from a to b, (h,)."""
    length = float(np.linalg.norm(b - a))
    if length == 0:
        return np.zeros(len(ends), dtype=bool)
    along = (b - a) / length
    slack = NEAR * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)[:, None]
    off = np.abs((ends - a) @ np.array([-along[1], along[0]]))
    at = (ends - a) @ along
    inside = (off <= slack) & (at >= -slack) & (at <= length + slack)
    return np.asarray(inside.all(axis=1))
