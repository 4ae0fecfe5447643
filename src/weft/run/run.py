"""A simulation on disk, as users handle it; ``weft.simulate`` makes one."""

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import CornerUv, Faces, Floats, Json, Positions, Velocities
from weft.base.errors import RunError, shortened
from weft.base.runtime_types import checked
from weft.base.settings import Rate
from weft.cloth.fields import FIELDS, RECORDED, Physics
from weft.cloth.regions import numbered
from weft.discretization.compound_surface import Surfaces
from weft.discretization.mesh import TriangleMesh
from weft.discretization.surface import Tessellation
from weft.io import format_to_write, write_animation
from weft.io.animation import Animation, Convention
from weft.io.frames import RunFolder
from weft.io.selection import FrameSelection
from weft.render.solids import Solids
from weft.run.animation import animation_of, parts_of
from weft.run.frame_export import made_now, save_frame

if TYPE_CHECKING:
    from weft.render.looks import Field
    from weft.render.picture import Style
    from weft.view.notebook import NotebookViewer


@checked(RunError, "run", modules=("weft.render.looks", "weft.render.picture"))
class Run(Solids):
    """A run folder that holds at least the start of a simulation.

    Frames that are missing are named in a warning; damaged files are errors once they are used.

    Raises:
        RunError: no run there.
    """

    def __init__(self, path: str | Path) -> None:
        self.folder = RunFolder.open(path)
        numbers = self.folder.numbers()
        pairs = zip([-1, *numbers], numbers)
        missing = [k for a, b in pairs for k in range(a + 1, min(b, a + 8))]
        if missing:
            text = f"frames {shortened(missing)} of {path} are missing; `weft run ... --resume` "
            warnings.warn(text + "computes them anew", stacklevel=2)
        self._tessellated: dict[int | None, Tessellation] = {}

    def __repr__(self) -> str:
        """Two lines: what there is, and where it stands."""
        lines, frames = self.metrics, len(self)
        last = f"last step at t = {lines[-1]['t']:.4g} s" if lines else "no step yet"
        return (
            f"Run {str(self.path)!r}: {frames} frames at {self.fps:g} fps "
            f"({max(frames - 1, 0) / self.fps:.4g} s), {self.mesh.n_vertices} vertices, "
            f"{len(self.faces)} triangles\n"
            f"  {last}, {len(lines)} steps; of {self.manifest['frames']} frames that were asked for"
        )

    def _repr_html_(self) -> str:
        """For notebooks: the last frame, and where the run stands."""
        from weft.view.notebook import of_run, shown

        return shown(*of_run(self))

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    def __len__(self) -> int:
        return (self.folder.numbers() or [-1])[-1] + 1

    @cached_property
    def manifest(self) -> Json:
        """Scene, versions and frame rate."""
        return self.folder.manifest()

    @property
    def fps(self) -> float:
        """Frames per second."""
        return float(self.manifest["fps"])

    @property
    def faces(self) -> Faces:
        """(m,3)."""
        return self.mesh.faces

    @property
    def corner_uv(self) -> CornerUv:
        """(m,3,2) [m] material coordinates."""
        return self.mesh.corner_uv

    @cached_property
    def mesh(self) -> TriangleMesh:
        """The mesh as it was before the first frame."""
        m, where = self.folder.mesh(), str(self.path)
        return TriangleMesh(m["vertices"], m["faces"], m["corner_uv"], {}, where, {}, numbered(m))

    @cached_property
    def body_faces(self) -> Faces:
        """(m,3) faces of the bodies that the cloth met; their vertices are ``body_positions``."""
        result: Faces = self.folder.mesh().get("body_faces", np.zeros((0, 3), np.int32))
        return result

    def _frame(self, number: int) -> dict[str, Any]:
        return self.folder.frame(number if number >= 0 else len(self) + number)

    def body_positions(self, frame: int = -1) -> Positions:
        """(b,3) [m] of the vertices of bodies in a frame; -1 is the last."""
        result: Positions = self._frame(frame).get("body", np.zeros((0, 3)))
        return result

    def contacts(self, frame: int = -1) -> tuple[Positions, Floats, Floats]:
        """Where the cloth touches in a frame (-1 is the last): points (k,3) [m], the forces (k,)
        [N] there, and the pressure (n,) [Pa] of contact on the cloth.

        Raises:
            RunError: a run without contact.
        """
        arrays = self._frame(frame)
        if "pressure" not in arrays:
            got, wanted = "a run without contact", "a scene with a contact block"
            raise RunError("contacts", got=got, expected=wanted, where=str(self.path))
        return arrays["contact_points"], arrays["contact_forces"], arrays["pressure"]

    @property
    def metrics(self) -> list[Json]:
        """One record a step."""
        return self.folder.metrics()

    @cached_property
    def surfaces(self) -> Surfaces:
        """What the cloth is made of."""
        return Surfaces.of_arrays(self.folder.mesh(), self.mesh)

    def points(self, frame: int = -1) -> Positions:
        """(N,3) [m] what moves the cloth, in a frame (-1 is the last): control points of splines,
        vertices of triangles.
        """
        result: Positions = self._frame(frame)["x"]
        return result[: len(self.surfaces.points)]

    def positions(self, frame: int = -1, density: int | None = None) -> Positions:
        """(n,3) [m] of the vertices in a frame; -1 is the last.

        Args:
            frame: its number.
            density: of splines, samples a knot span; None: those of ``mesh``.
        """
        return self.shown(density).embedding.of(self.points(frame))

    def velocities(self, frame: int = -1, density: int | None = None) -> Velocities:
        """(n,3) [m/s] of the vertices in a frame; arguments as of ``positions``."""
        v: Velocities = self._frame(frame)["v"]
        return self.shown(density).embedding.of(v[: len(self.surfaces.points)])

    def pressure(self, frame: int = -1) -> Floats | None:
        """(n,) [Pa] of contact on the vertices of ``mesh`` in a frame; None without contact."""
        result: Floats | None = self._frame(frame).get("pressure")
        return result

    def recorded(self, frame: int = -1) -> tuple[str, ...]:
        """Names of the fields that a frame has."""
        return tuple(n for n in FIELDS if RECORDED + n in self._frame(frame))

    def field(
        self,
        name: str,
        frame: int = -1,
        *,
        density: int | None = None,
        physics: Physics | None = None,
    ) -> Floats:
        """A field of a frame (-1 is the last): as the run recorded it, else made now.

        Args:
            name: one of ``weft.cloth.fields.FIELDS``, which says shapes and units.
            frame: as of ``positions``.
            density: as of ``positions``.
            physics: ``scene.physics()``, for stress and air that the run did not record.

        Raises:
            RunError: no such field, or one that the run alone cannot give.
        """
        arrays = self._frame(frame)
        kept: Floats | None = arrays.get(RECORDED + name) if density is None else None
        return made_now(self, name, frame, density, physics, arrays) if kept is None else kept

    def parts(self, density: int | None = None) -> Sequence[tuple[str, int]]:
        """Names of the cloths that the run is of, and how many faces each has."""
        return parts_of(self.manifest, self.surfaces, density)

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
    ) -> Animation:
        """Frames as writers of files take them, read one by one.

        Args:
            frames: ``A:B`` or ``A:B:STEP``, the last one included; None: all.
            fps: frames a second, between those of the run where it is another rate; None: theirs.
            up: ``y`` or ``z``.
            units: ``m``, ``cm``, ``mm`` or ``in``.
            first: number of the first frame in the file; None: the one with which a frame's number
                over the rate is its time in the run.
            density: of splines, samples a knot span; None: those of ``mesh``.
            fields: that formats carry (``field``); none: those that the run recorded.
            physics: as of ``field``.

        Raises:
            RunError: no such frames, rate, axis, units or fields.
        """
        chosen = FrameSelection.of(frames)
        convention = Convention(up, units)  # type: ignore[arg-type]
        return animation_of(
            self,
            selection=chosen,
            fps=fps,
            first=first,
            convention=convention,
            density=density,
            fields=fields,
            physics=physics,
        )

    def export(
        self,
        path: str | Path,
        frames: str | None = None,
        *,
        fps: Rate | None = None,
        up: str = "y",
        units: str = "m",
        first: int | None = None,
        density: int | None = None,
        fields: Sequence[str] = (),
        physics: Physics | None = None,
    ) -> Sequence[str]:
        """Write frames into one file that holds an animation (``docs/files.md``), by suffix.

        Args:
            path: the file: .usdc, .glb, .vtkhdf, .pc2, .npz, ...
            frames: which; this and what follows are as of ``animation``.

        Returns:
            What is worth knowing about the file, for people.

        Raises:
            RunError: another suffix, no such frames, or a package that is missing.
        """
        format_to_write(Path(path))
        film = self.animation(
            frames,
            fps=fps,
            up=up,
            units=units,
            first=first,
            density=density,
            fields=fields,
            physics=physics,
        )
        return write_animation(Path(path), film)

    def tessellation(self, density: int | None = None) -> tuple[Faces, CornerUv]:
        """Faces and their material coordinates, with ``density`` samples a knot span of splines."""
        shown = self.shown(density)
        return shown.faces, shown.corner_uv

    def shown(self, density: int | None) -> Tessellation:
        """Triangles, with ``density`` samples a knot span of splines; None: those of ``mesh``."""
        if density not in self._tessellated:
            self._tessellated[density] = self.surfaces.tessellated(density)
        return self._tessellated[density]

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
        """Write a frame as a mesh file (``weft.io.FORMATS``), by suffix.

        Args:
            path: the file.
            frame: its number; -1 is the last.
            density: of splines, samples a knot span; None: those of ``mesh``.
            net: write the control points of splines, as quadrilaterals of two triangles each.
            weld: join what seams have brought together: one vertex, with the material coordinates
                of every panel.
            fields: that a .ply carries as properties; none: those that were recorded.
            physics: as of ``field``.

        Raises:
            RunError: another suffix, no such frame or field, the net of a run without splines, or a
                run without seams to weld, or to weld at another density.
        """
        chosen = {"density": density, "net": net, "weld": weld, "fields": fields}
        return save_frame(self, Path(path), frame, physics=physics, **chosen)  # type: ignore[arg-type]

    def render(
        self,
        path: str | Path,
        *,
        frame: int = -1,
        style: "Style | None" = None,
        look: str | None = None,
        field: "Field | None" = None,
        on_frame: Callable[[int, int], None] | None = None,
        contacts: bool = False,
        density: int | None = None,
        sheet: int | None = None,
        physics: Physics | None = None,
    ) -> Path:
        """Draw a frame as PNG, or all frames as MP4 or animated WebP, by suffix.

        Args:
            path: ``.png``, ``.mp4`` or ``.webp``.
            frame: of a PNG; -1 is the last.
            style: size, camera, antialiasing.
            look: checker, panels, plain, strain, stress (largest principal), curvature, pressure
                (of contact) or fit (distance from bodies); None: the style's.
            field: a number at every vertex to color the cloth by, in place of a look.
            on_frame: called with the number of pictures done and of all.
            contacts: draw a dot where cloth touches.
            density: of splines, samples a knot span; None: at least three, or where the picture
                shows a number at every vertex those of ``mesh``.
            sheet: of a PNG, so many frames side by side; the style's size is that of all.
            physics: as of ``field``, for the look ``stress`` of a run that did not record it.

        Raises:
            RunError: another suffix, no such frame, contacts or their pressure of a run without
                any, or a file that cannot be written.
        """
        from weft.render.of_run import draw

        draw(
            self,
            Path(path),
            frame=frame,
            style=style,
            look=look,
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
    ) -> "NotebookViewer":
        """A viewer to play, turn and zoom in, for notebooks: show it as the last line of a cell.

        Args:
            frames: as of ``animation``; fewer make a smaller notebook.
            height: [pixels].
            density: of splines, samples a knot span; None: those of ``mesh``.
            looks: numbers to color the cloth by (docs/viewing.md); None: strain, and pressure where
                there is contact.
            physics: as of ``field``.

        Raises:
            RunError: no such frames or looks, or more than 200 MB of them.
        """
        from weft.view.content import content_of
        from weft.view.notebook import NotebookViewer

        found = content_of(self, frames, density=density, looks=looks, physics=physics)
        return NotebookViewer(found, height)
