"""Conversion of frames of a run into mesh files and into an ``io.animation.Animation``.

That is: selection of frames, times, axes, units, and fields on the cloth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np

from weft.base.arrays import AnyArray, Faces, Floats, Ints, Positions, Velocities
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.cloth.fields import (
    AT_FACES,
    AT_VERTICES,
    VECTORS,
    Physics,
    face_strain,
    gradients,
    largest_strain,
    principal_stress,
    vertex_mean,
)
from weft.cloth.regions import material_pieces
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import principal_stretches
from weft.discretization.weld import merge_vertices
from weft.io import format_to_write, write_mesh
from weft.io.animation import Animation, AnimationFrame, Convention, Fields, SurfaceTopology
from weft.io.part_appearance import PartAppearance
from weft.run.cloth_layers import cloth_layers
from weft.run.frame_selection import FrameSelection, Shutter
from weft.run.run_reader import RunReader
from weft.run.step_replay import StepReplay
from weft.scene.scene import Scene

STRANDS = "ropes and springs"  # name of the surface that holds all of them
_Moment: TypeAlias = tuple[Positions, Velocities, Positions]  # cloth, and vertices of bodies
MOST_PANELS = 256  # of one cloth; a cloth with more is exported as one region without panels


def build_animation(
    run: RunReader,
    *,
    selection: FrameSelection | None = None,
    fps: float | None = None,
    first: int | None = None,
    convention: Convention | None = None,
    density: int | None = None,
    fields: Sequence[str] = (),
    physics: Physics | None = None,
    shutter: Shutter | None = None,
) -> Animation:
    """Return frames of a run in the form that file writers take.

    Args:
        run: the run.
        selection: which frames; None: all.
        fps: frames per second. Between frames of the run, positions are the cubic Hermite
            interpolant of positions and velocities, and bodies move linearly. None: the rate of the
            run, divided by the step of the selection.
        first: number of the first frame in the file; None: the number that, divided by the rate, is
            the time of this frame in the run.
        convention: axes and units; None: meters, y up.
        density: samples per knot span of splines; None: those of the run's mesh.
        fields: names (``weft.cloth.fields``); empty: those that the first selected frame recorded.
        physics: physics of the run's scene, for fields that the run did not record.
        shutter: samples around every frame; None: the frames alone.

    Raises:
        RunError: the frames or fields do not exist, the rate is not positive, or the times of the
            frames are not whole numbers at the rate.
    """
    chosen = selection or FrameSelection()
    numbers = chosen.numbers(len(run), str(run.path))
    c, (times, rate, number) = convention or Convention(), _frame_times(run, chosen, fps, first)
    mesh = TriangleMesh(run.positions(numbers[0], density), *run.tessellation(density))
    cloth, bodies = cloth_of(run, mesh, density), bodies_of(run)
    names = tuple(fields) or run.field_names(numbers[0])
    begin, between = times[0], list[float]()
    if shutter is not None:
        start = number - begin * rate
        between = shutter.numbers(
            number, len(times), (start, start + (len(run) - 1) / run.fps * rate)
        )
        times = [begin + (k - number) / rate for k in between]
    states = _States(run, density, shutter.scene if shutter else None)
    reader = _FrameReader(run, mesh, c, [b for _, b in bodies], density, names, physics, states)
    about: Json = {k: run.manifest[k] for k in ("versions", "scene") if k in run.manifest}
    return Animation(
        [cloth, *(s for s, _ in bodies)],
        len(times),
        lambda k: reader.read(times[k]),
        rate,
        number,
        c,
        about,
        names,
        layers=lambda udim: cloth_layers(cloth, c.meters, stitches=not udim),
        shutter_numbers=between,
    )


def _frame_times(
    run: RunReader, chosen: FrameSelection, fps: float | None, first: int | None
) -> tuple[list[float], float, int]:
    """Return times [s] of the frames, their rate [1/s], and the number of the first one.

    Arguments and errors are those of ``build_animation``.
    """
    numbers = chosen.numbers(len(run), str(run.path))
    if fps is not None and not (math.isfinite(fps) and fps > 0):
        raise RunError("fps", got=fps, expected="must be > 0 [1/s]")
    if fps is not None and chosen.step != 1:
        raise RunError(
            "frames, fps",
            got=f"a step of {chosen.step}, and {fps:g} fps",
            expected="one of the two",
        )
    rate = run.fps / chosen.step if fps is None else fps
    start, end = (number / run.fps * rate for number in (numbers[0], numbers[-1]))
    # The first whole number at or after the start; the tolerances absorb round-off.
    own = math.ceil(start * (1 - 1e-12) - 1e-9)
    if first is None and (own > end + 1e-9 or (fps is None and own > start + 1e-9)):
        raise RunError(
            "frames",
            got=f"frame {numbers[0]} of {run.fps:g} fps",
            where=run.path,
            expected=f"frames with whole numbers at {rate:g} fps, so that they keep their times",
            hint="begin at another frame, or give a number to the first frame (`first=`)",
        )
    times = [k / run.fps for k in numbers]
    if fps is not None:
        begin = own if first is None else start
        count = math.floor((end - begin) * (1 + 1e-12) + 1e-9) + 1
        times = [(begin + j) / rate for j in range(count)]
    return times, rate, own if first is None else first


def cloth_of(run: RunReader, mesh: TriangleMesh, density: int | None) -> SurfaceTopology:
    """Return the cloth of a run with its regions and their appearances.

    Regions are named sets of faces: one per cloth, or one per region or panel of the cloth.

    Args:
        run: the run.
        mesh: its cloth.
        density: samples per knot span of splines; None: those of the run's mesh.
    """
    regions, looks = list[tuple[str, Ints]](), list[PartAppearance | None]()
    said, label, start = _regions_from_manifest(run, len(mesh.faces)), material_pieces(mesh), 0
    for name, count in run.parts(density):
        own = said.get(name) or _panels_of(name, np.arange(start, start + count), label)
        regions += own
        looks += [run.appearances.get(name)] * len(own)
        start += count
    cloth = SurfaceTopology("cloth", mesh.faces, mesh.corner_uv, regions)
    if not run.appearances:
        return cloth
    image_uv = np.array(cloth.corner_uv)
    for look, (_, faces) in zip(looks, regions):
        if look is not None and look.image is not None:
            image_uv[faces] = look.image_coordinates(mesh.corner_uv[faces])
    return replace(cloth, appearances=looks, image_uv=image_uv)


@dataclass(frozen=True, eq=False)
class _FrameReader:
    """Reader of the frames of an animation.

    Args:
        run: the run.
        mesh: the cloth with its material coordinates.
        convention: axes and units of the file.
        bodies: the vertices of every body in ``Run.solid_positions``.
        density: samples per knot span of splines; None: those of the run's mesh.
        names: of the requested fields.
        physics: as of ``build_animation``.
        states: of the run, at frames and steps.
    """

    run: RunReader
    mesh: TriangleMesh
    convention: Convention
    bodies: Sequence[slice]
    density: int | None
    names: Sequence[str]
    physics: Physics | None
    states: "_States"

    def read(self, t: float) -> AnimationFrame:
        """Return the frame at time t [s] of the run."""
        run, c, place = self.run, self.convention, t * self.run.fps
        near, (x, v, b) = round(place), self.states.at(place)
        check_finite(run, near, x)
        positions = [c.of(x), *(c.of(b[own]) for own in self.bodies)]
        fields, moves = partial(self._fields, near, x), partial(self._body_velocities, place)
        return AnimationFrame(t, positions, c.of(v), fields, moves)

    def _body_velocities(self, place: float) -> list[Velocities]:
        """Return the velocity (b,3) of every body, from its positions half a step before and
        after.
        """
        half = 0.5 / self.states.steps
        ends = np.clip([place - half, place + half], 0, len(self.run) - 1)
        before, after = (self.states.at(float(end))[2] for end in ends)
        rate = self.run.fps / max(float(np.ptp(ends)), 1e-9)
        return [self.convention.of(rate * (after[own] - before[own])) for own in self.bodies]

    def _fields(self, frame: int, x: Positions) -> Fields:
        """Return the numbers on the cloth at positions x (n,3) [m] near a frame.

        ``strain`` [1] is the largest principal strain. On faces, ``strain_max`` and ``strain_min``
        are the principal strains, ``strain_warp`` and ``strain_weft`` the strains along the yarns,
        and ``shear`` [rad] is 90 degrees minus the angle between the yarns. The contact pressure is
        that of the frame, and known without ``density`` alone. Requested fields follow, vectors in
        the axes of the file; ``stress`` with its principal values ``stress_max`` and ``stress_min``
        on faces, and ``stress_max`` at vertices.
        """
        run, mesh, density = self.run, self.mesh, self.density
        F = gradients(mesh, x)
        high, low = principal_stretches(F)
        warp, weft, shear = face_strain(F).T
        cells = {"strain_max": high - 1, "strain_min": low - 1}
        cells |= {"strain_warp": warp, "strain_weft": weft, "shear": shear}
        points = {"strain": largest_strain(mesh, x) / 100}
        pressure = run.pressure(frame) if density is None else None
        if pressure is not None:
            points["contact_pressure"] = pressure
        found = {n: run.field(n, frame, density=density, physics=self.physics) for n in self.names}
        axes = Convention(self.convention.up)
        asked = as_fields({n: axes.of(a) if n in VECTORS else a for n, a in found.items()})
        points.update(asked.points)
        cells.update(asked.cells)
        if "stress" in found:
            F = gradients(mesh, run.positions(frame, density))
            high, low = principal_stress(F, found["stress"])
            points["stress_max"] = vertex_mean(mesh, high)
            cells |= {"stress_max": high, "stress_min": low}
        return Fields(points, cells)


class _States:
    """Positions and velocities of a run at any time: those of frames, of steps where a scene
    computes them again, and else interpolated.

    Args:
        run: the run.
        density: samples per knot span of splines; None: those of the run's mesh.
        scene: of the run; None: frames alone.
    """

    def __init__(self, run: RunReader, density: int | None, scene: Scene | None) -> None:
        self.run, self.density, self.steps = run, density, 1
        # A time and those around it need no more than these.
        self._frame, self._interval = lru_cache(3)(self._of_frame), self._of_frames
        if scene is not None and run.manifest["steps_per_frame"] > 1:
            self.replay = StepReplay(scene, run.folder)
            self.steps, self._interval = self.replay.loop.steps, lru_cache(2)(self._of_steps)

    def _of_frame(self, k: int) -> _Moment:
        run = self.run
        bodies = run.solid_positions(k) if len(run.solid_faces) else np.zeros((0, 3))
        return run.positions(k, self.density), run.velocities(k, self.density), bodies

    def _of_frames(self, k: int) -> Sequence[_Moment]:
        return self._frame(k), self._frame(k + 1)

    def _of_steps(self, k: int) -> Sequence[_Moment]:
        run, vertices = self.run, self.run.shown(self.density).embedding.of
        steps = self.replay.interval(k)
        return [(vertices(a["x"]), vertices(a["v"]), run.solids_of(a)) for a in steps]

    def at(self, place: float) -> _Moment:
        """Return the state ``place`` frames after the start.

        Between steps vertices are the cubic Hermite interpolant, and bodies move linearly.
        """
        near = round(place)
        if abs(place - near) < 1e-6:
            return self._frame(near)
        k = math.floor(place)
        j, s = divmod((place - k) * self.steps, 1)
        states = self._interval(k)[int(j) : int(j) + 2]
        if min(s, 1 - s) < 1e-6:
            return states[round(s)]
        (p, u, c), (q, w, d) = states
        h = 1 / (self.run.fps * self.steps)
        a, b = 2 * p - 2 * q + h * (u + w), 3 * q - 3 * p - h * (2 * u + w)
        x = ((a * s + b) * s + h * u) * s + p
        v = ((3 * a * s + 2 * b) * s + h * u) / h
        return x, v, (1 - s) * c + s * d


def as_fields(arrays: Mapping[str, Floats]) -> Fields:
    """Sort arrays by name into fields at vertices and fields on faces."""
    points = {n: a for n, a in arrays.items() if n in AT_VERTICES}
    return Fields(points, {n: a for n, a in arrays.items() if n in AT_FACES})


def _regions_from_manifest(run: RunReader, count: int) -> dict[str, list[tuple[str, Ints]]]:
    """Return the regions with their faces, by the name of their cloth, as the manifest of a run
    with ``count`` faces lists them.
    """
    told = run.manifest.get("scene", {}).get("parts", [])
    stored = any(part.get("regions") for part in told)
    label = run.folder.mesh().get("region") if stored else None
    if label is None or len(label) != count:  # another density: labels do not fit these faces
        return {}
    found: dict[str, list[tuple[str, Ints]]] = {}
    number = 0
    for part in told:
        for region in part.get("regions", []):
            faces = np.flatnonzero(label == number).astype(np.int32)
            found.setdefault(str(part["name"]), []).append((str(region["name"]), faces))
            number += 1
        number += not part.get("regions")
    return found


def _panels_of(name: str, faces: AnyArray, label: Ints) -> list[tuple[str, Ints]]:
    """Return the faces of a cloth, or of its panels: faces whose pieces of material are one."""
    kinds = np.unique(label[faces])
    if not 1 < len(kinds) <= MOST_PANELS:
        return [(name, faces)]
    return [(f"{name}_panel_{i + 1}", faces[label[faces] == k]) for i, k in enumerate(kinds)]


def bodies_of(run: RunReader) -> list[tuple[SurfaceTopology, slice]]:
    """Return every body with the slice of its vertices in ``solid_positions``.

    If the manifest does not distinguish the bodies, they are one surface. Ropes and springs follow
    as one more surface.
    """
    faces, first = run.body_faces, len(run.body_faces)
    found = _list_bodies(run, faces) if first else []
    if len(run.solid_faces) > first:
        n = len(run.body_positions(0)) if first else 0
        if len(found) == 1:
            found = [(found[0][0], slice(0, n))]
        found.append(
            (SurfaceTopology(STRANDS, run.solid_faces[first:] - np.int32(n)), slice(n, None))
        )
    return found


def _list_bodies(run: RunReader, faces: Faces) -> list[tuple[SurfaceTopology, slice]]:
    """Return the bodies that the manifest distinguishes, each with the slice of its vertices."""
    told = run.manifest.get("bodies", [])
    sizes = np.array([(0, 0), *((int(b["vertices"]), int(b["faces"])) for b in told)])
    ends = np.cumsum(sizes, axis=0).tolist()
    if len(told) < 2 or ends[-1][1] != len(faces):
        name = str(told[0]["name"]) if ends[-1][1] == len(faces) else "bodies"
        return [(SurfaceTopology(name, faces), slice(None))]
    return [
        (SurfaceTopology(str(body["name"]), faces[f:g] - v), slice(v, w))
        for body, (v, f), (w, g) in zip(told, ends, ends[1:])
    ]


def check_finite(run: RunReader, frame: int, x: Positions) -> None:
    """Check the positions (n,3) [m] of a frame.

    Raises:
        RunError: some are not finite.
    """
    bad = int((~np.isfinite(x).all(1)).sum())
    if bad:
        raise RunError(
            f"frame {frame}",
            got=f"{bad} positions that are not finite",
            where=run.path,
            expected="numbers",
            hint="choose earlier frames (`frames=`)",
        )


def save_frame(
    run: RunReader,
    path: Path,
    frame: int,
    *,
    density: int | None,
    net: bool,
    weld: bool,
    fields: Sequence[str],
    physics: Physics | None,
) -> Path:
    """Write a frame of a run as a mesh file; arguments and errors as of ``Run.save``."""

    def refuse(what: str, got: str, expected: str) -> NoReturn:
        raise RunError(what, got=got, expected=expected, where=run.path)

    chosen = format_to_write(path)
    if net and run.surfaces.embedding is None:
        refuse("control net", "a run of triangles", "a run of splines")
    faces, corner_uv = run.surfaces.net() if net else run.tessellation(density)
    x = run.points(frame) if net else run.positions(frame, density)
    if weld:
        if density is not None and run.surfaces.embedding is not None:
            expected = "no density, because seams join the vertices of the run's mesh"
            refuse("weld", f"density {density}", expected)
        sewn = run.folder.mesh().get("sewn")
        if sewn is None:
            refuse("weld", "a run without seams", "a garment's")
        x, new = merge_vertices(sewn, x)
        faces = new[faces]
    check_finite(run, frame, x)
    carried = None
    if chosen.carries_fields and not (net or weld):
        names = fields or run.field_names(frame)
        values = {n: run.field(n, frame, density=density, physics=physics) for n in names}
        carried = as_fields(values)
    write_mesh(path, x, faces, corner_uv, carried)
    return path
