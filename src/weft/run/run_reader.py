"""Frames, fields and metrics of a run folder on disk."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from weft.base.arrays import Arrays, CornerUv, Faces, Floats, Positions, Velocities
from weft.base.errors import RunError, SceneError, abbreviate
from weft.base.runtime_types import checked
from weft.base.trees import Json
from weft.cloth.attachments.drawing import NAMES
from weft.cloth.fields import FIELDS, RECORDED, Physics, compute_field
from weft.cloth.regions import faces_by_region
from weft.discretization.compound_surface import Surfaces
from weft.discretization.mesh import TriangleMesh
from weft.discretization.surface import Tessellation
from weft.io.part_appearance import PartAppearance
from weft.run.run_folder import RunFolder
from weft.run.strands import Tubes

TUBE = 0.003  # radius of drawn ropes over the largest extent of cloth and bodies


@checked(RunError, "run")
class RunReader:
    """Frames, fields and metrics of a run folder that holds at least the start of a simulation.

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
            warnings.warn(text + "computes them again", stacklevel=2)
        self._tessellated: dict[int | None, Tessellation] = {}

    def __repr__(self) -> str:
        """Return two lines of text: the contents of the run and its last step."""
        lines, frames = self.metrics, len(self)
        last = f"last step at t = {lines[-1]['t']:.4g} s" if lines else "no step yet"
        return (
            f"Run {str(self.path)!r}: {frames} frames at {self.fps:g} fps "
            f"({max(frames - 1, 0) / self.fps:.4g} s), {self.mesh.n_vertices} vertices, "
            f"{len(self.faces)} triangles\n  {last}, {len(lines)} steps; of "
            f"{self.manifest['frames']} requested frames"
        )

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
                got=error.got or str(error),
                expected="a field that this run can give",
                where=self.path,
                hint=(
                    "add it to `record` in the scene; `weft export --fields` reads laws and "
                    "wind from the run's scene file; in Python give "
                    "physics=weft.physics(scene)"
                ),
            ) from None

    @property
    def fabrics(self) -> dict[str, str]:
        """The name and title of the fabric of each cloth or panel, by its name."""
        listed = self.manifest["scene"].get("parts", [])
        told = {str(p["name"]): p.get("fabric", {}) for p in listed}
        return {name: f"{f.get('name', '')} {f.get('title', '')}" for name, f in told.items()}

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
