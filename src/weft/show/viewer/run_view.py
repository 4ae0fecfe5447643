"""A run as viewers see it: its surfaces, looks and frames, read when they are needed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import RunError
from weft.cloth.fields import Physics
from weft.discretization.mesh import TriangleMesh
from weft.io.animation import SurfaceTopology
from weft.run.animation import bodies_of, regions_of
from weft.run.run import Run
from weft.show.looks import Scale
from weft.show.viewer.corners import Corners
from weft.show.viewer.measures import MEASURES, At, available

CHECKERS = 16  # squares along the longer side of the cloth
FOR_SCALE = 12  # frames that the range of a color scale must suit


@dataclass(frozen=True)
class ShownPin:
    """Pinned vertices, and the time of their release [s]; None: never."""

    vertices: list[int]
    until: float | None


class Subject:
    """A run with its surface, looks and frames.

    Args:
        run: the run.
        density: of splines, samples a knot span; None: those of the run's mesh.
        physics: of the run's scene, for stress that it did not record.
        first: number of the frame that shows which data the run has.

    Raises:
        RunError: no such frame, or a damaged one.
    """

    def __init__(
        self,
        run: Run,
        density: int | None = None,
        physics: Physics | None = None,
        first: int = 0,
    ) -> None:
        self.run, self.density, self.physics = run, density, physics
        faces, corner_uv = run.tessellation(density)
        self.mesh = TriangleMesh(run.positions(first, density), faces, corner_uv)
        regions = regions_of(self.mesh, run.parts(density))
        self.cloth = SurfaceTopology("cloth", faces, corner_uv, regions)
        self.corners = Corners.of(self.cloth)
        self.bodies = [shape.name for shape, _ in bodies_of(run)]
        self.has_contacts = run.pressure(first) is not None
        self.pins = pins_of(run)
        self.first = first

    @property
    def cell(self) -> float:
        """The side [m] of a square of the checker."""
        return self.corners.side / CHECKERS

    def looks(self) -> tuple[str, ...]:
        """Return the names of all colorings of the cloth.

        They are panels if there are several, checker, plain, and measures that the run has.
        """
        several = len(self.cloth.regions) > 1
        found = available(self.at(self.first))
        return (*(["panels"] if several else []), "checker", "plain", *found)

    def region_of_faces(self) -> Ints:
        """Return (m,) the index of each face's region."""
        found = np.zeros(len(self.cloth.faces), np.int32)
        for k, (_, faces) in enumerate(self.cloth.regions):
            found[faces] = k
        return found

    def positions(self, frame: int) -> Positions:
        """Return (n,3) [m] positions of the cloth.

        Raises:
            RunError: no such frame, a damaged one, or positions that are not finite.
        """
        x = self.run.positions(frame, self.density)
        if not np.isfinite(x).all():
            bad = int((~np.isfinite(x).all(1)).sum())
            raise RunError(
                f"frame {frame}",
                got=f"{bad} positions that are not finite",
                where=str(self.run.path),
                expected="numbers",
                hint="look at earlier frames (--frames)",
            )
        return x

    def body_positions(self, frame: int) -> Positions:
        """Return (b,3) [m] of all bodies, ropes and springs; empty for a run without any."""
        return self.run.solid_positions(frame) if self.bodies else np.zeros((0, 3))

    def contacts(self, frame: int) -> Positions:
        """Return (k,3) [m] the contact points; empty for a run without contact."""
        return self.run.contacts(frame)[0] if self.has_contacts else np.zeros((0, 3))

    def held(self, frame: int) -> list[int]:
        """Return the vertices that pins hold in a frame."""
        t = frame / self.run.fps
        return [v for p in self.pins if p.until is None or t <= p.until for v in p.vertices]

    def at(self, frame: int, x: Positions | None = None) -> At:
        """Return a frame as measures need it; x (n,3) [m] are its positions if they are known."""
        found = self.positions(frame) if x is None else x
        return At(self.run, frame, self.mesh, found, self.density, self.physics)

    def values(self, look: str, frame: int, x: Positions | None = None) -> Floats:
        """Return (n,) the values of a look that is a measure.

        Raises:
            RunError: the run has none in that frame.
        """
        return MEASURES[look].of(self.at(frame, x))

    def sample(self, look: str, frames: "range | list[int]") -> Floats:
        """Return the values of a measure in a sample of frames, for a color scale."""
        return np.concatenate([self.values(look, k) for k in spread(frames)])


def spread(frames: "range | list[int]") -> Iterator[int]:
    """Return the first frame, the last, and some between, which a color scale must suit."""
    places = np.unique(np.linspace(0, len(frames) - 1, FOR_SCALE).astype(int))
    return (frames[k] for k in places.tolist())


def pins_of(run: Run) -> list[ShownPin]:
    """Return the pins of a run; none of splines, whose pins hold control points."""
    if run.surfaces.embedding is not None:
        return []
    told = run.manifest["scene"].get("pins", [])
    return [ShownPin(list(map(int, p["vertices"])), _finite(p.get("until"))) for p in told]


def _finite(value: object) -> float | None:
    number = None if value is None else float(value)  # type: ignore[arg-type]
    return number if number is not None and np.isfinite(number) else None
