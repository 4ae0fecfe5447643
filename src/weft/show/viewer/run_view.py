"""A run as viewers see it: its surfaces, looks and frames, read when they are needed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.cloth.fields import Physics
from weft.discretization.mesh import TriangleMesh
from weft.io.part_appearance import CLOTH, GRAY, PANELS
from weft.run.animation import bodies_of, check_finite, cloth_of
from weft.run.run_reader import RunReader
from weft.show.framing import framed_vertices
from weft.show.looks import CHECKERS, CONTACT, LOOKS, PINNED, ShownFrame, available_looks
from weft.show.viewer.metric_curves import CURVES, plots_of
from weft.show.viewer.packing import pack
from weft.show.viewer.page_surfaces import PageSurfaces

FOR_SCALE = 12  # frames that the range of a color scale must suit


@dataclass(frozen=True)
class ShownPin:
    """Pinned vertices, and the time of their release [s]; None: never."""

    vertices: list[int]
    until: float | None


class RunView:
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
        run: RunReader,
        density: int | None = None,
        physics: Physics | None = None,
        first: int = 0,
    ) -> None:
        self.run, self.density, self.physics = run, density, physics
        self.mesh = TriangleMesh(run.positions(first, density), *run.tessellation(density))
        self.cloth = cloth_of(run, self.mesh, density)
        self.surfaces = PageSurfaces(self.cloth)
        self.bodies = [shape.name for shape, _ in bodies_of(run)]
        self.has_contacts = run.pressure(first) is not None
        self.pins = pins_of(run)
        self.first = first

    def colors(self) -> tuple[str, ...]:
        """Return the names of the looks without numbers; panels only if there are several, and
        surface only if there is one. The page draws no weaves.
        """
        names = [name for name, look in LOOKS.items() if look.values is None]
        several, seen = len(self.cloth.regions) > 1, len(self.cloth.appearances) > 0
        left = {"panels": not several, "surface": not seen, "fabric": True}
        return tuple(name for name in names if not left.get(name))

    def looks(self) -> tuple[str, ...]:
        """Return the names of all looks that the run has."""
        return (*self.colors(), *available_looks(self.frame(self.first)))

    def positions(self, frame: int) -> Positions:
        """Return (n,3) [m] positions of the cloth.

        Raises:
            RunError: no such frame, a damaged one, or positions that are not finite.
        """
        x = self.run.positions(frame, self.density)
        check_finite(self.run, frame, x)
        return x

    def read_frames(self, frames: Iterable[int]) -> dict[int, Positions]:
        """Return the positions in the frames that can be read, (n,3) [m] by number of the frame.

        The other frames are named when they are shown.

        Raises:
            RunError: none of them can be read.
        """
        found: dict[int, Positions] = {}
        problem: RunError | None = None
        for frame in frames:
            try:
                found[frame] = self.positions(frame)
            except RunError as error:
                problem = error
        if problem is not None and not found:
            raise problem
        return found

    def box(self, frames: Mapping[int, Positions]) -> tuple[Floats, Floats]:
        """Return low and high corner (3,) [m] of the cloth and of the bodies in the shot.

        Args:
            frames: positions (n,3) [m] of the cloth, by number of the frame.
        """
        every = [np.concatenate([x, self.body_positions(k)]) for k, x in frames.items()]
        own, n = [vertices for _, vertices in bodies_of(self.run)], self.mesh.n_vertices
        framed = framed_vertices(every, n, self.run.solid_faces, own)
        points = np.concatenate([x[framed] for x in every])
        return points.min(axis=0), points.max(axis=0)

    def body_positions(self, frame: int) -> Positions:
        """Return (b,3) [m] of all bodies, ropes and springs; empty for a run without any."""
        return self.run.solid_positions(frame) if self.bodies else np.zeros((0, 3))

    def contacts(self, frame: int) -> Positions:
        """Return (k,3) [m] the contact points; empty for a run without contact."""
        return self.run.contacts(frame)[0] if self.has_contacts else np.zeros((0, 3))

    def frame(self, number: int, x: Positions | None = None) -> ShownFrame:
        """Return a frame as looks need it; x (n,3) [m] are its positions if they are known."""
        found = self.positions(number) if x is None else x
        return ShownFrame(self.mesh, found, self.run, number, self.density, self.physics)

    def numbers(self, look: str, frame: int, x: Positions | None = None) -> Floats:
        """Return the numbers (n,) of a look.

        Raises:
            RunError: the run has none in that frame.
        """
        return LOOKS[look].numbers(self.frame(frame, x))

    def sample(self, look: str, frames: Sequence[int]) -> Floats:
        """Return the numbers of a look in a sample of frames, for a color scale."""
        sample = self.read_frames(spread(frames))
        return np.concatenate([self.numbers(look, k, x) for k, x in sample.items()])

    def describe(
        self, frames: Sequence[int], low: Positions, high: Positions, floor: float
    ) -> Json:
        """Return what a page says of the run, as JSON.

        Args:
            frames: numbers of the shown frames.
            low, high: (3,) [m] corners of the box of the cloth and of the bodies in the shot.
            floor: [m] height of the lowest point of cloth and bodies.
        """
        side = float((high - low).max())
        return {
            "name": Path(self.run.path).resolve().name,
            "numbers": list(frames),
            "fps": self.run.fps,
            "vertices": self.mesh.n_vertices,
            "faces": len(self.cloth.faces),
            "regions": [name for name, _ in self.cloth.regions],
            "bodies": self.bodies,
            "cell": (float(np.ptp(self.mesh.corner_uv, axis=(0, 1)).max()) or 1.0) / CHECKERS,
            "box": [low.tolist(), high.tolist()],
            "floor": floor - 0.01 * side,
            "pins": [asdict(p) for p in self.pins],
            "contacts": self.has_contacts,
            "plots": self.plots(frames),
            "curves": [asdict(c) for c in CURVES],
            **self.surfaces.describe(),
            "colors": {
                "cloth": CLOTH,
                "body": GRAY,
                "contact": CONTACT,
                "pin": PINNED,
                "panels": list(PANELS),
            },
        }

    def plots(self, frames: Sequence[int]) -> dict[str, list[float | None]]:
        """Return the metrics by frame."""
        return plots_of(self.run.metrics, [k / self.run.fps for k in frames])

    def blocks(self) -> dict[str, str]:
        """Return the arrays of a page that are the same in all frames, packed, by name.

        Corners are the vertices for a graphics card: each one has one material coordinate [m] and
        one region.
        """
        cloth, uv = self.cloth, self.mesh.corner_uv.reshape(-1, 2)
        regions = np.repeat(cloth.region_numbers, 3)
        faces, first = cloth.split_corners(regions, np.round(uv * 1e7))
        blocks = {
            "corner_faces": pack(faces.astype(np.uint32)),
            "corner_vertex": pack(cloth.faces.reshape(-1)[first].astype(np.uint32)),
            "corner_region": pack(regions[first].astype(np.uint16)),
            "corner_uv": pack(uv[first].astype(np.float32)),
            **self.surfaces.blocks(),
        }
        if self.bodies:
            blocks["body_faces"] = pack(self.run.solid_faces.astype(np.uint32))
        return blocks


def spread(frames: Sequence[int]) -> Iterator[int]:
    """Return the first frame, the last, and some between, which a color scale must suit."""
    places = np.unique(np.linspace(0, len(frames) - 1, FOR_SCALE).astype(int))
    return (frames[k] for k in places.tolist())


def pins_of(run: RunReader) -> list[ShownPin]:
    """Return the pins of a run; none of splines, whose pins hold control points."""
    if run.surfaces.embedding is not None:
        return []
    listed = run.manifest["scene"].get("pins", [])
    return [ShownPin(list(map(int, p["vertices"])), _finite(p.get("until"))) for p in listed]


def _finite(value: object) -> float | None:
    number = None if value is None else float(value)  # type: ignore[arg-type]
    return number if number is not None and np.isfinite(number) else None
