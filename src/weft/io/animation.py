"""Animations: the surfaces and their positions frame by frame that writers of files get.

A writer takes an ``Animation`` and a path. Frames are read while they are written. Positions are
already in the units and axes of the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from weft.base.arrays import AnyArray, CornerUv, Faces, Floats, Ints, Positions, Velocities
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.io.part_appearance import PartAppearance

Up = Literal["y", "z"]
UNITS: Mapping[str, float] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}  # [m]


@dataclass(frozen=True, eq=False)
class Convention:
    """Axes and units of a file. weft itself uses meters, y up.

    Raises:
        RunError: an axis or a unit that is not known.
    """

    up: Up = "y"
    units: str = "m"

    def __post_init__(self) -> None:
        if self.up not in get_args(Up):
            raise RunError("up", got=repr(self.up), expected="y or z")
        if self.units not in UNITS:
            raise RunError("units", got=repr(self.units), expected=f"one of {', '.join(UNITS)}")

    @property
    def meters(self) -> float:
        """Return the size [m] of a unit."""
        return UNITS[self.units]

    def of(self, vectors: Floats) -> Floats:
        """Return positions or velocities (..., 3) in this convention, from meters, y up."""
        x = vectors if self.meters == 1 else vectors / self.meters
        return x if self.up == "y" else np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1)


def turn_y_up(x: Positions) -> Positions:
    """Return positions (..., 3) of a file that is z up."""
    return np.stack([x[..., 0], x[..., 2], -x[..., 1]], axis=-1)


@dataclass(frozen=True, eq=False)
class SurfaceTopology:
    """A surface whose triangles do not change.

    Args:
        name: of the cloth, or of a body.
        faces: (m,3).
        corner_uv: (m,3,2) [m] texture coordinates, whatever the units of the file; None: none.
        regions: names with their faces; each face is in one region: cloths and their panels.
        appearances: of the regions in turn, None: usual ones; empty: no cloth has a surface.
        image_uv: (m,3,2) with appearances: coordinates in their images, in units of the repeat;
            texture coordinates where a region has no image.
    """

    name: str
    faces: Faces
    corner_uv: CornerUv | None = None
    regions: Sequence[tuple[str, Ints]] = ()
    appearances: Sequence[PartAppearance | None] = ()
    image_uv: CornerUv | None = None

    def split_corners(self, *columns: AnyArray) -> tuple[Faces, Ints]:
        """Split vertices such that all corners of each agree in some numbers (3m,...).

        Returns:
            Faces (m,3) of the split vertices, and (s,) the first corner of each.
        """
        rows = np.column_stack([self.faces.reshape(-1), *columns])
        _, first, ids = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return ids.reshape(-1, 3).astype(np.int32), first.astype(np.int32)

    @property
    def region_numbers(self) -> Ints:
        """Return (m,) the index of the region of every face; 0 without regions."""
        found = np.zeros(len(self.faces), dtype=np.int32)
        for k, (_, faces) in enumerate(self.regions):
            found[faces] = k
        return found


@dataclass(frozen=True, eq=False)
class Fields:
    """Numbers on the cloth: at its vertices (n,) or (n,3), and on its faces (m,) or (m,3)."""

    points: Mapping[str, Floats] = field(default_factory=dict)
    cells: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AnimationFrame:
    """One frame of an animation.

    Args:
        t: [s] time in the run.
        positions: (n,3) of every shape.
        velocities: (n,3) of the cloth, in units per second.
        measured: computes the fields, if a format needs them.
        body_velocities: computes velocities (b,3) of every body, in units per second.
    """

    t: float
    positions: Sequence[Positions]
    velocities: Velocities
    measured: Callable[[], Fields] = Fields
    body_velocities: Callable[[], Sequence[Velocities]] = tuple

    @property
    def fields(self) -> Fields:
        """Return the numbers on the cloth, computed anew at every access."""
        return self.measured()


# A surface that follows the cloth, for materials of one color: its triangles, and its positions
# (k,3) at positions (n,3) of the cloth, in the file's units.
ClothLayer = tuple[SurfaceTopology, Callable[[Positions], Positions]]


@dataclass(frozen=True, eq=False)
class Animation:
    """Shapes that move; the first one is the cloth.

    Args:
        shapes: cloth, then bodies.
        count: number of frames.
        moment: returns frame k, counted from 0; frames are read when it is called.
        fps: frames per second.
        first: number of the first frame in the file.
        convention: axes and units of the positions.
        about: origin of the animation as a plain tree: scene, versions.
        fields: requested names among ``AnimationFrame.fields``; their values are in SI units,
            whatever the file's units are.
        udim: USD files have one tile of images for every region of the cloth.
        layers: returns the layers of the cloth; True: without those that tiles show.
        shutter_numbers: the number of every frame in the file, where some lie between whole ones;
            empty: whole ones from ``first`` on.
    """

    shapes: Sequence[SurfaceTopology]
    count: int
    moment: Callable[[int], AnimationFrame]
    fps: float = 30.0
    first: int = 0
    convention: Convention = field(default_factory=Convention)
    about: Json = field(default_factory=dict)
    fields: Sequence[str] = ()
    udim: bool = False
    layers: Callable[[bool], Iterable[ClothLayer]] = lambda udim: ()
    shutter_numbers: Sequence[float] = ()

    def __iter__(self) -> Iterator[AnimationFrame]:
        return map(self.moment, range(self.count))

    @property
    def cloth(self) -> SurfaceTopology:
        """Return the first shape."""
        return self.shapes[0]

    @property
    def numbers(self) -> Sequence[float]:
        """Return the number of every frame in the file."""
        return self.shutter_numbers or range(self.first, self.first + self.count)

    @property
    def last(self) -> int:
        """Return the number of the last whole frame in the file."""
        return round(self.numbers[-1])

    def with_layers(self) -> "Animation":
        """Return the animation with the layers of the cloth as shapes, after all others."""
        moment, layers = self.moment, list(self.layers(self.udim))

        def with_positions(k: int) -> AnimationFrame:
            frame = moment(k)
            own = [follow(frame.positions[0]) for _, follow in layers]
            return replace(frame, positions=[*frame.positions, *own])

        shapes = [*self.shapes, *(shape for shape, _ in layers)]
        return replace(self, shapes=shapes, moment=with_positions)

    def thin(self, most: int) -> "Animation":
        """Return the animation with at most ``most`` frames at nearly even times.

        The first and the last frame are among them.
        """
        if self.count <= most:
            return self
        kept = np.unique(np.round(np.linspace(0, self.count - 1, most)).astype(int)).tolist()
        moment = self.moment
        return replace(self, count=len(kept), moment=lambda k: moment(kept[k]))


@dataclass(frozen=True, eq=False)
class SkinnedMotion:
    """A mesh whose vertices follow the joints of a skeleton; meters, y up.

    Args:
        vertices: (b,3) [m] at rest.
        faces: (m,3).
        joints: names of J joints.
        parents: (J,) number of every joint's parent, which comes before it; -1: none.
        rest: (J,3) [m] positions of the joints at rest, where no joint is rotated.
        skin: (b,w) joints that move every vertex.
        weights: (b,w) their weights, which sum to one.
        turns: (k,J,3,3) rotations of the joints in space, from rest.
        places: (k,J,3) [m] their positions.
        fps: [1/s] frames per second.
    """

    vertices: Positions
    faces: Faces
    joints: Sequence[str]
    parents: Sequence[int]
    rest: Floats
    skin: Ints
    weights: Floats
    turns: Floats
    places: Floats
    fps: float


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names as identifiers of letters, digits and _, made unique by numbers."""
    found: list[str] = []
    for name in names:
        plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
        plain = plain or "unnamed"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        number, tried = 1, plain
        while tried in found:
            number += 1
            tried = f"{plain}_{number}"
        found.append(tried)
    return found
