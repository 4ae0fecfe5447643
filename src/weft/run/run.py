"""The ``Run`` class: a run folder on disk with its frames; ``weft.simulate`` returns one."""

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Arrays, CornerUv, Faces, Floats, Positions, Velocities
from weft.base.errors import RunError, SceneError, abbreviate
from weft.base.runtime_types import checked
from weft.base.settings import Rate
from weft.base.trees import Json
from weft.cloth.attachments.drawing import NAMES
from weft.cloth.fields import FIELDS, RECORDED, Physics, compute_field
from weft.cloth.regions import faces_by_region
from weft.discretization.compound_surface import Surfaces
from weft.discretization.mesh import TriangleMesh
from weft.discretization.surface import Tessellation
from weft.io.animation import Animation, Convention
from weft.io.part_appearance import PartAppearance
from weft.run.frame_selection import FrameSelection, Shutter
from weft.run.run_folder import RunFolder
from weft.run.strands import Tubes

if TYPE_CHECKING:
    from weft.show.looks import Field
    from weft.show.picture.renderer import Style
    from weft.show.viewer.notebook import NotebookViewer

TUBE = 0.003  # radius of drawn ropes over the largest extent of cloth and bodies


@checked(RunError, "run", modules=("weft.show.looks", "weft.show.picture.renderer"))
class Run:
    """A run folder that holds at least the start of a simulation.

    A warning names missing frames. A damaged file raises an error when it is read.

    Raises:
        RunError: the path holds no run.
    """

    def __init__(self, path: str | Path) -> None:
        self.folder = RunFolder.open(path)
        numbers = self.folder.numbers()
        pairs = zip([-1, *numbers], numbers)
        missing = [k for a, b in pairs for k in range(a + 1, min(b, a + 8))]
        if missing:
            text = f"frames {abbreviate(missing)} of {path} are missing; a run with `resume=True` "
            warnings.warn(text + "computes them anew", stacklevel=2)
        self._tessellated: dict[int | None, Tessellation] = {}

    def __repr__(self) -> str:
        """Return two lines of text: the contents of the run and its last step."""
        lines, frames = self.metrics, len(self)
        last = f"last step at t = {lines[-1]['t']:.4g} s" if lines else "no step yet"
        return (
            f"Run {str(self.path)!r}: {frames} frames at {self.fps:g} fps "
            f"({max(frames - 1, 0) / self.fps:.4g} s), {self.mesh.n_vertices} vertices, "
            f"{len(self.faces)} triangles\n"
            f"  {last}, {len(lines)} steps; of {self.manifest['frames']} frames that were asked for"
        )

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the last frame, and the progress of the run."""
        from weft.show.viewer.notebook import format_run

        return format_run(self)

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    def __len__(self) -> int:
        return (self.folder.numbers() or [-1])[-1] + 1

    @cached_property
    def manifest(self) -> Json:
        """The contents of ``manifest.json``: the scene, versions of packages and the frame rate."""
        return self.folder.manifest()

    @cached_property
    def appearances(self) -> dict[str, PartAppearance]:
        """The appearance of each cloth or panel that has a ``surface``, by its name."""
        told = self.manifest.get("surfaces", {})
        return {name: PartAppearance.of_json(tree, self.path) for name, tree in told.items()}

    @property
    def fps(self) -> float:
        """The number of frames per second."""
        return float(self.manifest["fps"])

    @property
    def faces(self) -> Faces:
        """(m,3) vertex indices of the triangles of ``mesh``."""
        return self.mesh.faces

    @property
    def corner_uv(self) -> CornerUv:
        """(m,3,2) [m] material coordinates of the corners of the triangles."""
        return self.mesh.corner_uv

    @cached_property
    def mesh(self) -> TriangleMesh:
        """The cloth mesh with its vertices before the first frame."""
        m, where = self.folder.mesh(), str(self.path)
        return TriangleMesh(
            m["vertices"], m["faces"], m["corner_uv"], {}, where, {}, faces_by_region(m)
        )

    @cached_property
    def body_faces(self) -> Faces:
        """(m,3) faces of all bodies that the cloth meets; they index ``body_positions``."""
        result: Faces = self.folder.mesh().get("body_faces", np.zeros((0, 3), np.int32))
        return result

    def _frame(self, number: int) -> Arrays:
        return self.folder.frame(number if number >= 0 else len(self) + number)

    def body_positions(self, frame: int = -1) -> Positions:
        """Return the (b,3) [m] vertices of the bodies in a frame; -1 is the last frame."""
        result: Positions = self._frame(frame).get("body", np.zeros((0, 3)))
        return result

    def strands(self, frame: int = -1) -> tuple[Floats, Floats, Floats] | None:
        """Return ropes and springs in a frame (-1 is the last); None of a run without any.

        Returns:
            Ends (k,2,3) [m], lengths at rest (k,) [m], and kinds (k,): 1 for ropes, 2 for springs,
            0 for strands that have let go.
        """
        arrays = self._frame(frame)
        if NAMES[0] not in arrays:
            return None
        ends, lengths, kinds = (arrays[name] for name in NAMES)
        return ends, lengths, kinds

    @cached_property
    def _tubes(self) -> Tubes | None:
        """The ropes and springs as drawn tubes."""
        first = self.strands(0) if len(self) else None
        if first is None:
            return None
        every = np.concatenate([self.positions(0), self.body_positions(0)])
        return Tubes(len(first[0]), TUBE * float(np.ptp(every, axis=0).max()))

    @cached_property
    def solid_faces(self) -> Faces:
        """(m,3) faces of bodies, and after them of ropes and springs.

        Their vertices are ``solid_positions``.
        """
        if self._tubes is None:
            return self.body_faces
        first = len(self.body_positions(0))
        tubes: Faces = self._tubes.faces + np.int32(first)
        return np.concatenate([self.body_faces, tubes])

    def solid_positions(self, frame: int = -1) -> Positions:
        """Return (b,3) [m] of the vertices of bodies, ropes and springs in a frame; -1 is
        the last.
        """
        return self.solids_of(self._frame(frame))

    def solids_of(self, arrays: Arrays) -> Positions:
        """Return (b,3) [m] of the vertices of bodies, ropes and springs in a frame's arrays."""
        bodies: Positions = arrays.get("body", np.zeros((0, 3)))
        if NAMES[0] not in arrays or self._tubes is None:
            return bodies
        return np.concatenate([bodies, self._tubes.positions(*(arrays[n] for n in NAMES))])

    def contacts(self, frame: int = -1) -> tuple[Positions, Floats, Floats]:
        """Return contact points, forces and pressure of a frame.

        Args:
            frame: number of the frame; -1 is the last.

        Returns:
            Points (k,3) [m] where the cloth touches, the forces (k,) [N] at these points, and the
            contact pressure (n,) [Pa] on the vertices of the cloth.

        Raises:
            RunError: the run has no contact.
        """
        arrays = self._frame(frame)
        if "pressure" not in arrays:
            got, wanted = "a run without contact", "a scene with a contact block"
            raise RunError("contacts", got=got, expected=wanted, where=self.path)
        return arrays["contact_points"], arrays["contact_forces"], arrays["pressure"]

    @property
    def metrics(self) -> list[Json]:
        """The metrics: one record per step."""
        return self.folder.log.records()

    @cached_property
    def surfaces(self) -> Surfaces:
        """The triangle meshes and spline surfaces that the cloth consists of."""
        return Surfaces.of_arrays(self.folder.mesh(), self.mesh)

    def points(self, frame: int = -1) -> Positions:
        """Return the (N,3) [m] degrees of freedom of the cloth in a frame (-1 is the last): control
        points of splines, vertices of triangle meshes.
        """
        result: Positions = self._frame(frame)["x"]
        return result[: len(self.surfaces.points)]

    def positions(self, frame: int = -1, density: int | None = None) -> Positions:
        """Return the (n,3) [m] vertices in a frame.

        Args:
            frame: number of the frame; -1 is the last.
            density: samples per knot span of splines; None: the vertices of ``mesh``.
        """
        return self.shown(density).embedding.of(self.points(frame))

    def velocities(self, frame: int = -1, density: int | None = None) -> Velocities:
        """Return the (n,3) [m/s] velocities of the vertices; arguments as of ``positions``."""
        v: Velocities = self._frame(frame)["v"]
        return self.shown(density).embedding.of(v[: len(self.surfaces.points)])

    def pressure(self, frame: int = -1) -> Floats | None:
        """Return the (n,) [Pa] contact pressure on the vertices of ``mesh``; None without
        contact.
        """
        result: Floats | None = self._frame(frame).get("pressure")
        return result

    def field_names(self, frame: int = -1) -> tuple[str, ...]:
        """Return the names of the fields that a frame stores."""
        return tuple(n for n in FIELDS if RECORDED + n in self._frame(frame))

    def field(
        self,
        name: str,
        frame: int = -1,
        *,
        density: int | None = None,
        physics: Physics | None = None,
    ) -> Floats:
        """Return a field of a frame: the recorded one, or one computed from the frame.

        Args:
            name: one of ``weft.cloth.fields.FIELDS``, where shapes and units are listed.
            frame: number of the frame; -1 is the last.
            density: as of ``positions``.
            physics: ``weft.physics(scene)``, for stress and air that the run did not record.

        Raises:
            RunError: there is no such field, or the run alone does not suffice to compute it.
        """
        arrays = self._frame(frame)
        kept: Floats | None = arrays.get(RECORDED + name) if density is None else None
        if kept is not None:
            return kept
        faces, corner_uv = self.tessellation(density)
        x, v = self.positions(frame, density), self.velocities(frame, density)
        mesh = TriangleMesh(x, faces, corner_uv, source=str(self.path))
        t, parts = float(arrays["t"]), self.parts(density)
        physics = (physics or Physics()).at(t)
        if physics.laws is not None and len(physics.laws) == len(parts):
            laws = [(law, n) for (law, _), (_, n) in zip(physics.laws, parts)]
            physics = Physics(laws, physics.wind)
        pressure = arrays.get("pressure") if density is None else None
        try:
            return compute_field(name, mesh, x, v, t, physics, pressure)
        except SceneError as error:
            raise RunError(
                f"field {name}",
                got=str(error),
                expected="one that this run can give",
                where=self.path,
                hint="`record` in the scene keeps it; `weft export --fields` takes laws and wind "
                "from the run's scene file, Python as physics=weft.physics(scene)",
            ) from None

    def parts(self, density: int | None = None) -> Sequence[tuple[str, int]]:
        """Return the names of the cloths of the run, each with its number of faces."""
        listed, pieces = self.manifest["scene"].get("parts", []), self.surfaces.pieces
        shown = [p.shown if density is None else p.tessellate(density) for p in pieces]
        made, counts = [len(t.faces) for t in shown], [int(p["faces"]) for p in listed]
        if len(made) > 1 and len(made) == len(listed):
            counts = made
        if len(listed) < 2 or sum(counts) != sum(made):
            return [(str(listed[0]["name"]) if listed else "cloth", sum(made))]
        return [(str(p["name"]), n) for p, n in zip(listed, counts)]

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
        """Write frames into one animation file (``docs/files.md``); the suffix chooses the format.

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

    def tessellation(self, density: int | None = None) -> tuple[Faces, CornerUv]:
        """Return the faces (m,3) and their material coordinates (m,3,2) [m].

        Args:
            density: samples per knot span of splines; None: those of ``mesh``.
        """
        shown = self.shown(density)
        return shown.faces, shown.corner_uv

    def shown(self, density: int | None) -> Tessellation:
        """Return the triangles with ``density`` samples per knot span of splines; None: those of
        ``mesh``. The result is cached by density.
        """
        if density not in self._tessellated:
            self._tessellated[density] = self.surfaces.tessellate(density)
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
        style: "Style | None" = None,
        look: str | None = None,
        field: "Field | None" = None,
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
    ) -> "NotebookViewer":
        """Return an interactive viewer for notebooks; show it as the last line of a cell.

        Args:
            frames: as of ``animation``; fewer frames make a smaller notebook.
            height: [pixels].
            density: samples per knot span of splines; None: the vertices of ``mesh``.
            looks: names of the numbers by which the cloth can be colored (docs/viewing.md); None:
                strain, and pressure if there is contact.
            physics: as of ``field``.

        Raises:
            RunError: the frames or looks do not exist, or need more than 200 MB.
        """
        from weft.show.viewer.notebook import NotebookViewer
        from weft.show.viewer.page import content_of

        found = content_of(self, frames, density=density, looks=looks, physics=physics)
        return NotebookViewer(found, height)
