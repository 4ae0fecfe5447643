"""The ``Run`` class: a run folder on disk with its frames; ``weft.simulate`` returns one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.base.settings import Rate
from weft.cloth.fields import Physics
from weft.io.animation import Animation, Convention
from weft.run.frame_selection import FrameSelection, Shutter
from weft.run.run_reader import RunReader
from weft.show.looks import Field
from weft.show.picture.renderer import Style
from weft.show.viewer.notebook import NotebookViewer


@checked(RunError, "run")
class Run(RunReader):
    """A run folder on disk, with its frames; ``weft.simulate`` returns one.

    A warning names missing frames. A damaged file raises an error when it is read.

    Raises:
        RunError: the path holds no run.
    """

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the last frame, and the progress of the run."""
        from weft.show.viewer.notebook import format_run

        return format_run(self)

    def animation(
        self,
        frames: str | None = None,
        *,
        fps: Rate | None = None,
        up: str = "y",
        units: str = "m",
        first: int | None = None,
        density: int | None = None,
        fields: Sequence[str] = (),
        physics: Physics | None = None,
        shutter: Shutter | None = None,
    ) -> Animation:
        """Return frames in the form that file writers take; frames are read one by one.

        Args:
            frames: ``A:B`` or ``A:B:STEP``, including the last one; None: all.
            fps: frames per second of the animation; at a rate other than the run's, frames are
                interpolated. None: the rate of the run.
            up: ``y`` or ``z``.
            units: ``m``, ``cm``, ``mm`` or ``in``.
            first: number of the first frame in the file; None: the number that, divided by the
                rate, is the time of this frame in the run.
            density: samples per knot span of splines; None: the vertices of ``mesh``.
            fields: names of the fields that the file carries (see ``field``); empty: the recorded
                ones.
            physics: as of ``field``.
            shutter: samples around every frame, for motion blur; None: the frames alone.

        Raises:
            RunError: the frames, rate, axis, units or fields do not exist or are not allowed.
        """
        from weft.run.animation import build_animation

        chosen = FrameSelection.of(frames)
        convention = Convention(up, units)  # type: ignore[arg-type]
        return build_animation(
            self,
            selection=chosen,
            fps=fps,
            first=first,
            convention=convention,
            density=density,
            fields=fields,
            physics=physics,
            shutter=shutter,
        )

    def export(
        self, path: str | Path, frames: str | None = None, **options: object
    ) -> Sequence[str]:
        """Write frames into one animation file (``docs/guides/export.md``); the suffix chooses the
        format.

        Args:
            path: the file: .usdc, .glb, .vtkhdf, .pc2, .npz, ...
            frames: which frames.
            **options: fps, up, units, first, density, fields, physics and shutter, as of
                ``animation``.

        Returns:
            Remarks about the file for its users.

        Raises:
            RunError: the suffix is unknown, the frames do not exist, or a package is missing.
        """
        from weft.io import format_to_write, write_animation

        format_to_write(Path(path))
        film = self.animation(frames, **options)  # type: ignore[arg-type]
        return write_animation(Path(path), film)

    def save(
        self,
        path: str | Path,
        frame: int = -1,
        *,
        density: int | None = None,
        net: bool = False,
        weld: bool = False,
        fields: Sequence[str] = (),
        physics: Physics | None = None,
    ) -> Path:
        """Write a frame as a mesh file (``weft.io.FORMATS``); the suffix chooses the format.

        Args:
            path: the file.
            frame: number of the frame; -1 is the last.
            density: samples per knot span of splines; None: the vertices of ``mesh``.
            net: write the control points of splines, as quadrilaterals of two triangles each.
            weld: merge the vertices that seams have brought together into one vertex, with the
                material coordinates of every panel.
            fields: names of the fields that a .ply carries as properties; empty: the recorded ones.
            physics: as of ``field``.

        Raises:
            RunError: the suffix, frame or field does not exist; ``net`` for a run without splines;
                ``weld`` for a run without seams or together with ``density``.
        """
        from weft.run.animation import save_frame

        chosen = {"density": density, "net": net, "weld": weld, "fields": fields}
        return save_frame(self, Path(path), frame, physics=physics, **chosen)  # type: ignore[arg-type]

    def render(
        self,
        path: str | Path,
        *,
        frame: int = -1,
        style: Style | None = None,
        look: str | None = None,
        field: Field | None = None,
        on_frame: Callable[[int, int], None] | None = None,
        contacts: bool = False,
        density: int | None = None,
        sheet: int | None = None,
        physics: Physics | None = None,
    ) -> Path:
        """Draw a frame as PNG, or all frames as MP4 or animated WebP, chosen by the suffix.

        Args:
            path: ``.png``, ``.mp4`` or ``.webp``.
            frame: number of the frame of a PNG; -1 is the last.
            style: size, camera, antialiasing.
            look: one of ``weft.show.looks.LOOKS``; None: that of the style, and without a style
                ``surface`` of cloth that has one.
            field: a number at every vertex by which the cloth is colored instead of a look.
            on_frame: called with the number of finished pictures and the number of all pictures.
            contacts: draw a dot at every contact point.
            density: samples per knot span of splines; None: at least three, or the vertices of
                ``mesh`` if the picture shows a number at every vertex.
            sheet: draw this number of frames side by side in a PNG; the style's size is that of the
                whole picture.
            physics: as of ``field``, for the look ``stress`` of a run that did not record it.

        Raises:
            RunError: the suffix or frame does not exist, contacts or pressure are asked for in a
                run without contact, or the file cannot be written.
        """
        from weft.show.picture.run_picture import choose_style, draw

        draw(
            self,
            Path(path),
            frame=frame,
            style=choose_style(self, style, look),
            field=field,
            sheet=sheet,
            on_frame=on_frame,
            contacts=contacts,
            density=density,
            physics=physics,
        )
        return Path(path)

    def view(
        self,
        frames: str | None = None,
        *,
        height: int = 480,
        density: int | None = None,
        looks: Sequence[str] | None = None,
        physics: Physics | None = None,
    ) -> NotebookViewer:
        """Return an interactive viewer for notebooks; show it as the last line of a cell.

        Args:
            frames: as of ``animation``; fewer frames make a smaller notebook.
            height: [pixels].
            density: samples per knot span of splines; None: the vertices of ``mesh``.
            looks: names of the numbers by which the cloth can be colored (docs/guides/pictures.md);
            None:
                strain, and pressure if there is contact.
            physics: as of ``field``.

        Raises:
            RunError: the frames or looks do not exist, or need more than 200 MB.
        """
        from weft.show.viewer.notebook import NotebookViewer
        from weft.show.viewer.page import content_of

        found = content_of(self, frames, density=density, looks=looks, physics=physics)
        return NotebookViewer(found, height)
