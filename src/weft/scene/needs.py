"""Estimates of what a scene needs at least: vertices, faces, memory, from its file alone.

A scene that needs more than the machine has is refused before memory is allocated, with the field
that causes it. The estimate is not printed: it does not follow what files refer to, such as the
layers of USD.
"""

import math
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.lib.format as npy

from weft.base.errors import SceneError, SceneProblems, WeftError
from weft.base.input_file import open_input
from weft.base.machine import gib, memory
from weft.base.schema.document import dotted_path
from weft.base.yaml_lines import Loc
from weft.discretization.polygon import arc_lengths
from weft.discretization.rod import SIDES
from weft.io.archive import Broken
from weft.plugins.garments.patterns.formats import read_pattern
from weft.run.simulation import MOST_FRAMES, MOST_STEPS
from weft.scene.body_schema import BodyBlock
from weft.scene.field_schema import FieldBlock
from weft.scene.file import Source
from weft.scene.schema import ClothBlock, SceneFile
from weft.scene.shape_block import ShapeBlock

# [bytes] at the peak of a simulation, measured at 1 600 to 40 000 vertices (docs/reliability.md)
PER_VERTEX, PER_BODY_VERTEX = 16_000, 2_000
LEAST = 240e6  # [bytes] memory of the smallest scene
FILE_SPACE = 16  # memory of a mesh over the size of its file


@dataclass(frozen=True)
class SizedPart:
    """A cloth or body with its estimated size.

    Args:
        loc: the field that decides its size.
        vertices: estimated number, with control points of splines; of a file, by its size.
        faces: estimated number.
        size: [bytes] of memory at the peak.
    """

    loc: Loc
    vertices: float
    faces: float
    size: float


def check_needs(source: Source, file: SceneFile) -> None:
    """Check that the machine has what a scene needs at least, and warn of bodies with fewer faces
    than their ``size`` asks for.

    Raises:
        SceneProblems: more than the machine has, or too many frames or steps.
    """
    problems: list[WeftError] = []

    def refuse(loc: Loc, got: str, expected: str) -> None:
        where = source.where(loc)
        problems.append(SceneError(dotted_path(loc), got=got, expected=expected, where=where))

    frames, steps = file.seconds * file.fps, file.seconds / file.step
    if not frames <= MOST_FRAMES:
        refuse(
            ("seconds",),
            f"{file.seconds:g} s at {file.fps:g} fps: {frames:.3g} frames",
            f"at most {MOST_FRAMES}",
        )
    elif round(frames) == 0:
        refuse(
            ("seconds",),
            f"{file.seconds:g} s at {file.fps:g} fps: no frame at all",
            f"one frame or more, {1 / file.fps:.3g} s",
        )
    if not steps <= MOST_STEPS:
        refuse(("step",), f"{file.step:g} s: {steps:.3g} steps", f"at most {MOST_STEPS:g}")
    one: list[tuple[Loc, ClothBlock]] = [(("cloth",), file.cloth)] if file.cloth else []
    several: list[tuple[Loc, ClothBlock]] = [(("cloths", i), c) for i, c in enumerate(file.cloths)]
    folder = source.path.parent
    cloths = [p for loc, block in (*one, *several) for p in _cloth(loc, block, folder)]
    bodies = [p for i, b in enumerate(file.bodies) for p in _body(("bodies", i), b, folder)]
    parts, has = [*cloths, *bodies], memory()
    needed = LEAST + sum(p.size for p in parts)
    if needed > has:
        largest = max(parts, key=lambda p: p.size)
        got = f"about {largest.vertices:.3g} points, {largest.faces:.3g} faces, "
        refuse(
            largest.loc,
            f"{got}{gib(largest.size)} (the scene: {gib(needed)})",
            f"at most the {gib(has)} of this machine",
        )
    if problems:
        raise SceneProblems(problems)
    for text in find_excess(file):
        warnings.warn(text, stacklevel=2)


def find_excess(file: SceneFile) -> Iterator[str]:
    """Yield a text for each body whose ``size`` asks for more faces than its shape may have."""
    for i, block in enumerate(file.bodies):
        kind, shape = block.shape
        if isinstance(shape, ShapeBlock) and 2 * shape.vertices() > shape.most_faces:
            yield (
                f"bodies.{i}.{kind}.size asks for {2 * shape.vertices():.3g} faces: it has at most "
                f"{shape.most_faces}, with longer edges"
            )


def _cloth(loc: Loc, b: ClothBlock, folder: Path) -> Iterator[SizedPart]:
    splines = b.discretization == "bspline"
    spline_loc: Loc = (*loc, "spline", "spans")
    dense = b.spline.density**2
    if b.sheet is not None:
        n = float(b.sheet.nx * b.sheet.ny)
        shown = n * dense if splines else 0.0
        yield SizedPart((*loc, "sheet", "nx"), n + shown, 2 * n, PER_VERTEX * (2 * n + shown))
    if b.panel is not None:
        size = max(b.panel.size, 1e-300)
        n = _area(b.panel.outline) / (0.75**0.5 * size) / size
        sides = _perimeter(b.panel.outline) / size
        yield SizedPart((*loc, "panel", "size"), n + sides, 2 * n + sides, PER_VERTEX * (n + sides))
        if splines and b.spline.span_size is not None:
            step = max(b.spline.span_size, 1e-300)
            spans = _area(b.panel.outline) / step / step
            yield _spans((*loc, "spline", "span_size"), spans, dense)
    if splines and b.spline.spans is not None:
        n1, n2 = (float(abs(k)) for k in b.spline.spans)
        yield _spans(spline_loc, n1 * n2 + n1 + n2, dense)
    if b.mesh is not None:
        yield from _file((*loc, "mesh", "file"), [folder / b.mesh.file])
    if b.rod is not None:
        length = float(arc_lengths(np.asarray(b.rod.along))[-1])
        n = SIDES * length / max(b.rod.size, 1e-300)
        yield SizedPart((*loc, "rod", "size"), n, 2 * n, PER_VERTEX * 2 * n)
    if b.garment is not None:
        try:
            panels = read_pattern(folder / b.garment.pattern, dict(b.garment.measures)).panels
        except WeftError:
            return  # ``Builder`` reports it
        size = max(b.garment.size, 1e-300)
        n = sum(_area(p.corners.tolist()) / (0.75**0.5 * size) / size for p in panels)
        n += sum(_perimeter(p.corners.tolist()) / size for p in panels)
        yield SizedPart((*loc, "garment", "size"), n, 2 * n, PER_VERTEX * n)
        if splines and b.spline.span_size is not None:
            step = max(b.spline.span_size, 1e-300)
            count = sum(_area(p.corners.tolist()) / step / step for p in panels)
            yield _spans((*loc, "spline", "span_size"), count, 0)


def _spans(loc: Loc, spans: float, dense: int) -> SizedPart:
    """Return the size of spline spans, with the vertices that are drawn of them."""
    n = spans * (1 + dense)
    return SizedPart(loc, n, 2 * n, PER_VERTEX * n)


def _body(loc: Loc, b: BodyBlock, folder: Path) -> Iterator[SizedPart]:
    kind, shape = b.shape
    if isinstance(shape, FieldBlock):
        yield from _file((*loc, kind, "file"), [folder / f for f in shape.files])
    if isinstance(shape, ShapeBlock):
        n = shape.vertices()
        size = (PER_BODY_VERTEX + 2 * 24 * shape.frames()) * min(n, shape.most_vertices)
        yield SizedPart((*loc, kind, "size"), n, 2 * n, size)
    if b.mesh is not None:
        path = folder / b.mesh.file
        try:
            files = [path]
            if b.mesh.fps is not None and path.suffix.lower() != ".npz":
                files = list(path.parent.glob(path.name))
        except (OSError, ValueError, NotImplementedError, IndexError):
            files = []
        frames = _frames_of(path)
        if frames is None:
            files += [] if b.mesh.motion is None else [folder / b.mesh.motion]
            yield from _file((*loc, "mesh", "file"), files)
        else:
            k, n = frames
            yield SizedPart((*loc, "mesh", "file"), n, 2 * n, PER_BODY_VERTEX * n + 2 * 24 * k * n)


def _frames_of(path: Path) -> tuple[int, int] | None:
    """Return the numbers of frames and vertices in an .npz; None: another file, or a damaged one.

    Only the header of the array is read.
    """
    if path.suffix.lower() != ".npz":
        return None
    try:
        with (
            open_input(path) as data,
            zipfile.ZipFile(data) as archive,
            archive.open("positions.npy") as file,
        ):
            read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            shape = read[npy.read_magic(file)](file)[0]
    except Broken:
        return None
    return (int(shape[0]), int(shape[1])) if len(shape) == 3 else None


def _file(loc: Loc, paths: Sequence[Path]) -> Iterator[SizedPart]:
    """Yield the size of what files hold, at 100 bytes of text or binary per vertex."""
    size = 0
    for path in paths:
        try:
            size += path.stat().st_size
        except (OSError, ValueError):
            continue
    n = size / 100
    yield SizedPart(loc, n, 2 * n, FILE_SPACE * size)


def _area(outline: Sequence[tuple[float, float]]) -> float:
    pairs = zip(outline, [*outline[1:], outline[0]])
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in pairs)) / 2


def _perimeter(outline: Sequence[tuple[float, float]]) -> float:
    return sum(math.dist(a, b) for a, b in zip(outline, [*outline[1:], outline[0]]))
