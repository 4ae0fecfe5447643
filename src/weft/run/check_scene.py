"""Checks of a scene or mesh: every problem at once, and the faces to draw that have one."""

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from weft import extensions
from weft.base.arrays import Faces, Floats, Ints, Positions, Vector
from weft.base.errors import (
    DegenerateFacesError,
    Outlook,
    SceneProblems,
    WeftError,
    point_text,
)
from weft.bodies.body import Body, arms_of
from weft.cloth.attachments.build import name_of
from weft.cloth.cloth import Cloth
from weft.contact import intersections
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.manifold import mesh_faults
from weft.discretization.mesh import TriangleMesh, isolated_error, unique_edges
from weft.discretization.samples import principal_stretches, stretch_text
from weft.discretization.spline_fit.patch_error import PatchDrawing, PatchError
from weft.fabric.fabric import SETTINGS
from weft.run.plausibility import about_rest_shape, scene_warnings, start_problems
from weft.run.resolution import fold_facts
from weft.scene.build import Builder
from weft.scene.build_model import build_model
from weft.scene.file import first_frame, read_source, validate
from weft.scene.prepare import make_stepper, untangled_start
from weft.scene.scene import Scene

LISTED = 40  # largest number of meshes of bodies that are listed
RIGID = 1e-4  # change of an edge, over the longest one, up to which a mesh moves as a whole


@dataclass
class Findings:
    """Errors, warnings and facts that ``weft check`` reports."""

    errors: list[WeftError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    marked: tuple[TriangleMesh, Ints] | None = None  # a mesh to draw, and the faces to point at
    crossing: tuple[TriangleMesh, Ints] | None = None  # a mesh, and (k,2) faces that intersect
    # meshes, each with the title, the unit and the numbers (n,) of a map, to draw
    maps: list[tuple[TriangleMesh, str, str, Floats]] = field(default_factory=list)
    piece: PatchDrawing | None = None  # drawing of a piece that no spline patch fits


def check(
    path: str | Path,
    overrides: Sequence[str] = (),
    *,
    scale: float | None = None,
    uv_scale: float | None = None,
    warp: Vector | None = None,
    prim: str | None = None,
    rest: str | float | None = None,
    weld: bool | float | None = None,
) -> Findings:
    """Check a scene (.yaml) or a mesh file; the keywords are those of ``weft.load``.

    Errors are collected in the findings, not raised.
    """
    from weft.io import read_mesh

    found = Findings()
    path = Path(path)
    try:
        if path.suffix.lower() in (".yaml", ".yml"):
            mesh = _check_scene(path, overrides, found)
        else:
            with warnings.catch_warnings(record=True, action="always") as caught:
                how = {"warp": warp, "prim": prim, "rest": rest, "weld": weld}
                mesh = read_mesh(path, scale=scale, uv_scale=uv_scale, **how)  # type: ignore[arg-type]
            found.warnings += [str(w.message) for w in caught]
            if len(mesh.isolated_vertices):
                found.errors.append(isolated_error(mesh))
            found.warnings += mesh_faults(mesh)
            found.warnings += about_rest_shape(linear_triangle(mesh), mesh.vertices)
        describe(mesh, found)
    except SceneProblems as problems:
        found.errors += problems.problems
        if isinstance(problems.scene, Scene):
            show_crossings(problems.scene, found)
    except WeftError as error:
        found.errors.append(error)
    for problem in found.errors:
        if isinstance(problem, DegenerateFacesError):
            found.marked = (_drawable(problem.vertices, problem.faces), problem.ids)
        if isinstance(problem, PatchError):
            found.piece = problem.drawing
    return found


def _check_scene(path: Path, overrides: Sequence[str], found: Findings) -> TriangleMesh:
    """Add facts and warnings of a scene file to the findings and return the mesh of its cloth.

    Raises:
        SceneProblems: all problems of the file.
    """
    source = read_source(path, overrides)
    file = validate(source)
    builder = Builder(source, file)
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            loaded = builder.build()
        finally:
            # what was built suffices; the scene need not be one that can be built
            for add_findings in extensions.Registry[Any]("scene checks").values():
                add_findings(builder, found)
            found.warnings += sorted({str(w.message) for w in caught})
    scene, cloth = loaded.scene, loaded.scene.cloth
    problems = [(p.outlook is Outlook.RESOLVES, str(p)) for p in start_problems(scene)]
    found.warnings += [text for resolves, text in problems if not resolves]
    about_folds, coarse = fold_facts(scene)
    found.warnings += [*scene_warnings(scene, make_stepper(scene)), *coarse]
    mesh = cloth.mesh
    held = np.unique(np.concatenate([[], *(p.vertices for p in scene.pins)]))
    for body in scene.bodies:
        for flaw in body.flaws:
            found.warnings.append(
                f"{body.name} is {flaw} (contact needs neither closed nor outward faces)"
            )
    if scene.bodies:
        corners = sum(len(b.vertices) for b in scene.bodies)
        found.facts.append(f"bodies: {len(scene.bodies)}, with {corners} vertices")
    contact = build_model(scene).contact
    exact = set() if contact is None else {core.name for core in contact.cores}
    colliders = [line for b in scene.bodies for line in _collider_facts(b, b.name in exact)]
    found.facts += colliders[:LISTED]
    if len(colliders) > LISTED:
        found.facts.append(f"... and {len(colliders) - LISTED} more meshes of bodies")
    for arm in arms_of(scene.bodies):
        joints = ", ".join(f"{joint.name} ({joint.range})" for joint in arm.leaders)
        found.facts.append(f"{arm.name}: joints {joints}")
    found.facts += _rigid_facts(scene)
    if (untangled := untangled_start(scene)) is not None:
        found.facts.append(str(untangled))
    found.facts += [f"{p.name}: {s.facts()}" for p, s in cloth.pieces if s.facts()]
    found.facts += _region_facts(cloth)
    add_maps(scene, found)
    found.facts += [text for resolves, text in problems if resolves]
    found.facts += [*source.notes, *about_folds]
    first = first_frame(file, path.parent)
    if first is not None:
        found.facts.append(
            f"{file.shot}: {file.preroll} frames of pre-roll; frame 0 is number {first:g} "
            f"(`weft export RUN FILE --first {first:g}`)"
        )
    found.facts.append(
        f"{loaded.frames} frames at {loaded.fps:g} fps, fabric {cloth.fabric_names}, "
        f"{cloth.mass.sum():.4g} kg, {len(held)} vertices pinned"
    )
    return mesh


def add_maps(scene: Scene, found: Findings) -> None:
    """Add the maps of fabrics, attachments and friction of a scene to the findings."""
    cloth, several = scene.cloth, len(scene.cloth.fabrics) > 1
    shown: list[tuple[str, str, Floats]] = []
    for fabric in cloth.fabrics:
        first = f"{fabric.name} " if several else ""
        for name in fabric.maps or {}:
            shown.append((f"{first}{name}", SETTINGS[name].unit, cloth.number(fabric, name)))
    for k, attachment in enumerate(scene.attachments):
        if attachment.weight is not None and np.ndim(attachment.weight):
            values = np.zeros(cloth.n_vertices)
            values[attachment.vertices] = attachment.weights(len(attachment.vertices))
            shown.append((f"{name_of(attachment, k)} weight", "1", values))
    contact = build_model(scene).contact
    if contact is not None and contact.mesh.sides.friction_factor.min() < 1:
        shown.append(
            ("friction factor", "1", contact.mesh.sides.friction_factor[: cloth.n_vertices])
        )
    for title, unit, values in shown:
        found.maps.append((cloth.mesh, title, unit, values))
        found.facts.append(f"map of {title}: {values.min():.4g} to {values.max():.4g} {unit}")


def _region_facts(cloth: Cloth) -> list[str]:
    """Return size, fabric and mass of each region of the cloths."""
    told = []
    for r in [r for part in cloth.parts for r in part.regions]:
        density = r.fabric.number("density", partial(cloth.face_weights, faces=r.faces))
        mass = (density * cloth.mesh.rest_area[r.faces]).sum()
        told.append(
            f"{r.name}: region of {len(r.faces)} faces, fabric {r.fabric.name}, {mass:.4g} kg"
        )
    return told


def _collider_facts(body: Body, is_exact: bool) -> Iterator[str]:
    """Yield a line for each mesh of a body: faces, whether it is closed, moves and deforms, and
    whether contact is with an exact ball or capsule.
    """
    x = body.vertices[None] if body.frames is None else body.frames.positions
    first, moved = 0, any((body.path, body.rigid, body.link))
    for path, n in body.parts or [("", x.shape[1])]:
        faces = body.faces[(body.faces[:, 0] >= first) & (body.faces[:, 0] < first + n)]
        edges, half = unique_edges(faces)
        sides = np.linalg.norm(np.diff(x[:, edges], axis=2), axis=-1)
        if (np.ptp(sides, axis=0) > RIGID * sides.max()).any():
            motion = "deforms"
        else:
            motion = "moves" if moved or np.ptp(x[:, faces], axis=0).any() else "at rest"
        closed = "closed" if (np.bincount(half) == 2).all() else "open"
        exact = "; contact uses the exact shape" * is_exact
        yield f"  {f'{body.name} {path}'.rstrip()}: {len(faces)} faces, {closed}, {motion}{exact}"
        first += n


def _rigid_facts(scene: Scene) -> list[str]:
    """Return masses and moments of inertia of rigid bodies."""
    told = []
    for body in build_model(scene).rigid_bodies.affine:
        moments = np.linalg.eigvalsh(body.mass * body.solid.unit_inertia)
        told.append(
            f"{body.body.name}: rigid, {body.mass:.4g} kg, {body.solid.volume:.4g} m^3, moments of "
            f"inertia {', '.join(f'{m:.4g}' for m in moments)} kg m^2"
        )
    return told


def show_crossings(scene: Scene, found: Findings) -> None:
    """Add the pairs of faces of cloth and bodies that intersect at the start to ``found``."""
    if scene.contact is None:
        return
    with warnings.catch_warnings(action="ignore"):  # the findings have them
        trial = scene.with_(contact=dataclasses.replace(scene.contact, resolve=True))
        model = build_model(trial)
    contact = model.contact
    assert contact is not None and model.start is not None
    moved = contact.all_vertices(model.start)
    pairs = contact.crossings(moved)
    if len(pairs) == 0:
        return
    x = np.concatenate([moved, contact.body_positions(0.0)])
    faces = contact.mesh.faces
    names = [contact.name_of(int(v)) for v in faces[:, 0]]
    for i, j in pairs[:20].tolist():
        place = point_text(x[faces[[i, j]]].mean((0, 1)))
        found.warnings.append(f"{names[i]} face {i} and {names[j]} face {j} near ({place})")
    if len(pairs) > 20:
        found.warnings.append(f"... and {len(pairs) - 20} more pairs, see the picture")
    found.crossing = (_drawable(x, faces), pairs)


def describe(mesh: TriangleMesh, found: Findings) -> None:
    """Add sizes of a mesh, and warnings about what is allowed but unusual, to ``found``."""
    found.facts.append(
        f"{mesh.n_vertices} vertices, {len(mesh.faces)} faces, {len(mesh.hinges)} hinges, "
        f"{mesh.rest_area.sum():.4g} m^2 of cloth"
    )
    F = linear_triangle(mesh).deformation_gradient(mesh.vertices)
    found.facts.append(f"mesh over rest shape: {stretch_text(*principal_stretches(F))}")
    if mesh.groups:
        found.facts.append(f"groups: {', '.join(mesh.groups)}")
    if mesh.regions:
        sizes = (f"{name} ({len(faces)} faces)" for name, faces in mesh.regions.items())
        found.facts.append(f"regions: {', '.join(sizes)}")
    if mesh.weights:
        found.facts.append(f"painted weights: {', '.join(mesh.weights)}")
    mirrored = int((mesh.signed_material_area < 0).sum())
    if 0 < mirrored < len(mesh.faces):
        found.facts.append(
            f"{mirrored} faces are mirrored in material coordinates (this is not a problem)"
        )
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    size = float((high - low).max())
    if not 0.01 < size < 100:
        found.warnings.append(
            f"the cloth is {size:.3g} m large: check the scale (scale: 1 cm for centimeters)"
        )
    pairs = intersections(mesh.vertices, mesh.faces)
    if len(pairs):
        found.crossing = (mesh, pairs)
        found.warnings.append(_crossing_text(mesh, pairs))


def _crossing_text(mesh: TriangleMesh, pairs: Ints) -> str:
    """Return how many pairs of faces intersect, and where the first five are."""
    shown = []
    for i, j in pairs[:5].tolist():
        place = point_text(mesh.vertices[mesh.faces[[i, j]]].mean((0, 1)))
        shown.append(f"{i} and {j} near ({place})")
    more = ", ..." if len(pairs) > 5 else ""
    return f"{len(pairs)} pairs of faces intersect at the start: {'; '.join(shown)}{more}"


def _drawable(x: Positions, faces: Faces) -> TriangleMesh:
    """Return a mesh with stand-in material coordinates, which a picture does not need."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return TriangleMesh(x, faces, np.broadcast_to(corners, (len(faces), 3, 2)))
