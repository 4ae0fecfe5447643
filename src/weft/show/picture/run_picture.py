"""Pictures of a run: choice of frames and values, and writing of PNG, MP4 and WebP."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.cloth.fields import Physics
from weft.discretization.mesh import TriangleMesh
from weft.run.animation import bodies_of
from weft.run.run_reader import RunReader
from weft.show.looks import LOOKS, Field, ShownFrame, default_look
from weft.show.picture.paint import Paint
from weft.show.picture.picture_sheet import PictureSheet
from weft.show.picture.renderer import Image, Renderer, save_png, save_webp
from weft.show.picture.style import Style
from weft.show.picture.video import save_mp4

SMOOTH = 3  # samples per knot span of splines in pictures


def choose_style(run: RunReader, style: Style | None, look: str | None) -> Style:
    """Return the style with a look: the one given, that of the style, or that of the run."""
    chosen = style or Style()
    return dataclasses.replace(chosen, look=look or chosen.look or default_look(run))


def draw(
    run: RunReader,
    path: Path,
    *,
    frame: int,
    style: Style,
    field: Field | None,
    sheet: int | None,
    on_frame: Callable[[int, int], None] | None,
    contacts: bool,
    density: int | None,
    physics: Physics | None = None,
) -> None:
    """Draw a frame as PNG, or all frames as MP4 or animated WebP; see ``Run.render``.

    Raises:
        RunError: another suffix, no such frame, contacts or bodies of a run without any, or a file
            that cannot be written.
    """
    kind = _format_of(path, style, sheet)
    count = len(run)
    shown = [frame] if kind == ".png" else sorted({*range(0, count, max(1, count // 12))})
    several = None if sheet is None else PictureSheet.of(style, sheet, count)
    if several is not None:
        shown, style = list(several.numbers), several.cell
    chosen = LOOKS[style.look or default_look(run)]
    if density is None and not chosen.needs_run and field is None:
        density = max(SMOOTH, run.surfaces.density)
    mesh = _drawn_mesh(run, density)

    def numbers(k: int) -> Floats:
        return chosen.numbers(ShownFrame(mesh, run.positions(k, density), run, k, density, physics))

    has_numbers = chosen.values is not None and field is None
    loads = np.concatenate([numbers(k) for k in shown]) if has_numbers else None
    if has_numbers and style.top is not None:
        loads = np.array([style.top])
    bodies = run.solid_faces if style.bodies else None
    frames = [_drawn_positions(run, k, density, style.bodies) for k in shown]
    painted = chosen.needs_surface and field is None
    paint = None
    if painted:
        fabrics = run.fabrics if run.appearances or chosen.name == "fabric" else None
        paint = Paint(mesh, run.parts(density), run.appearances, fabrics)
    own = [vertices for _, vertices in bodies_of(run)]
    known = run.folder.mesh()
    sharp = known.get("fold_edges") if mesh.n_vertices == len(known["vertices"]) else None
    renderer = Renderer(mesh, frames, style, None, field, bodies, loads, paint, own, sharp)

    failure = run.folder.failure_place(count - 1)

    def image(k: int) -> Image:
        values = numbers(k) if has_numbers else None
        dots = run.contacts(k)[0] if contacts else failure if k % count == count - 1 else None
        motion = renderer.camera_path
        camera = None if motion is None else motion.camera(k % count)
        return renderer.image(_drawn_positions(run, k, density, style.bodies), values, dots, camera)

    def images(frames: Sequence[int]) -> Iterator[Image]:
        for done, k in enumerate(frames, start=1):
            yield image(k)
            if on_frame is not None:
                on_frame(done, len(frames))

    if several is not None:
        labels = [f"frame {k}, {k / run.fps:.3g} s" for k in shown]
        save_png(path, several.join_images(list(images(shown)), labels))
    elif kind == ".png":
        save_png(path, image(frame))
    else:
        (save_mp4 if kind == ".mp4" else save_webp)(path, images(range(count)), run.fps)


def _format_of(path: Path, style: Style, sheet: int | None) -> str:
    """Return the suffix of a picture's file; raise a RunError if it cannot be of that format."""
    kind = path.suffix.lower()
    wanted = (".png",) if sheet is not None else (".png", ".mp4", ".webp")
    if kind not in wanted:
        raise RunError("picture", got=path.suffix or "no suffix", expected=", ".join(wanted))
    if kind == ".mp4" and style.transparent:
        hint = "write a .webp, or a .png for each frame"
        raise RunError("picture", got=".mp4", expected="a format with alpha", hint=hint)
    return kind


def _drawn_mesh(run: RunReader, density: int | None) -> TriangleMesh:
    """Return the mesh of the cloth, with the regions of the run where it is the run's own."""
    mesh = run.shown(density).mesh(run.points(0), str(run.path))
    if len(mesh.faces) == len(run.mesh.faces):
        mesh = dataclasses.replace(mesh, regions=run.mesh.regions)
    return mesh


def _drawn_positions(run: RunReader, frame: int, density: int | None, bodies: bool) -> Positions:
    """Return (n+b,3) [m] positions of the cloth and of bodies."""
    x = run.positions(frame, density)
    if len(run.solid_faces) == 0 or not bodies:
        return x
    return np.concatenate([x, run.solid_positions(frame)])
