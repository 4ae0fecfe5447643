"""The model of a scene: masses, energies, pins and contact."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from weft.base.arrays import Ints
from weft.base.errors import SceneError, StartError, WeldError
from weft.base.machine import PER_BODY_VERTEX, PER_CLOTH_VERTEX, require_memory
from weft.base.memoize import memoize
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.rigid_bodies import single
from weft.cloth.attachments import AttachCloth
from weft.contact.contact import Contact
from weft.discretization.manifold import coinciding_vertices, mesh_faults
from weft.discretization.mesh import TriangleMesh
from weft.discretization.triangles import Triangles
from weft.energies.springs.hand import Hands
from weft.integrators.model import Model
from weft.scene.build_energies import build_elastic, build_loads
from weft.scene.changing_scene import ChangingScene
from weft.scene.checks import check_energies, check_hands, check_names, check_ropes
from weft.scene.elastic import check_start
from weft.scene.points import attached_points, pinned_points, rigid_bodies
from weft.scene.regions import pieces_of
from weft.scene.scene import Scene
from weft.scene.spline_pins import ANCHOR


@memoize
def build_changed_model(scene: Scene) -> Model:
    """Build the model of a scene that begins while another one is simulated: where cloth and bodies
    are at the start of the scene does not matter.

    Raises:
        SceneError: as ``build_model``.
    """
    return _build(scene, is_start=False)


@memoize
def build_model(scene: Scene) -> Model:
    """Build the model of a scene: masses, energies, pins and contact.

    Raises:
        SceneError: more memory than the machine has;
            frozen bend conditions with an integrator that minimizes an energy; faces that
            intersect, if there is contact; an energy of vertices that do not exist.
    """
    resolves = scene.contact is not None and scene.contact.resolve
    return _build(scene, is_start=not resolves)


def _build(scene: Scene, is_start: bool) -> Model:
    """Build the model; ``is_start``: surfaces must be apart at its start."""
    cloth = scene.cloth
    n, of_bodies = cloth.n_vertices, sum(len(body.vertices) for body in scene.bodies)
    size = PER_CLOTH_VERTEX * n + PER_BODY_VERTEX * of_bodies
    require_memory(size, "scene", f"{n} vertices of cloth, {of_bodies} of bodies", SceneError)
    held, moved = pinned_points(scene), rigid_bodies(scene)
    meshes = tuple(_meshes(scene))
    for mesh in meshes:
        for text in mesh_faults(*mesh):
            warnings.warn(text, stacklevel=2)
    special = {
        "pressure": scene.pressure is not None,
        "buckling": scene.buckling is not None,
        "bending": scene.bending is not None,
        "rest_angles": not (isinstance(scene.rest_angles, str) and scene.rest_angles == "flat"),
        "pressed": bool(scene.pressed),
        "conditions.bend": scene.conditions is not None and scene.conditions.bend is not None,
    }
    cloth.surfaces.require(*(name for name, given in special.items() if given))
    mass = np.concatenate([cloth.mass, np.full(held.anchors, ANCHOR), moved.point_mass])
    *air, weight = build_loads(scene, mass)
    cloth_energies = (*build_elastic(scene), *air, *held.energies)
    ties, joints = attached_points(scene), rigid_energies(moved, scene.prescribed_bodies)
    check_ropes(joints, [e.name for e in (*cloth_energies, weight)])
    energies = (*cloth_energies, *joints, weight)
    check_energies(ties.energies, [e.name for e in energies], len(mass), "attachments")
    energies = (*energies, *ties.energies)
    check_energies(scene.energies, [e.name for e in energies], len(cloth.points))
    check_hands(scene.hand, len(mass))
    energies = (*energies, *scene.energies, *((Hands(scene.hand),) if scene.hand else ()))
    changing = None
    if scene.keyed:
        changing = ChangingScene(scene, mass)
        check_names(energies, changing(0.0).energies)
    check_start(energies, held.points)
    embedding = cloth.embedding
    if embedding is not None:
        embedding = embedding.wider(len(mass))
    elif len(moved):
        embedding = single(cloth.n_vertices, len(mass))
    contact = None
    if scene.contact is not None:
        pieces = pieces_of(cloth, scene.contact.thickness)
        with _welding_first(any(len(coinciding_vertices(*mesh)) for mesh in meshes)):
            contact = Contact.of(
                cloth.mesh,
                cloth.vertex_mass,
                scene.contact,
                scene.prescribed_bodies,
                pieces,
                embedding,
                cloth.sewn,
                moved,
                ties.ties,
                check_start=is_start,
            )
    start = np.concatenate([held.points, moved.points])
    rest = (contact, embedding, changing, _largest_gravity(scene))
    return Model(mass, energies, held.pins, start, *rest)


def _largest_gravity(scene: Scene) -> float:
    """Return the largest magnitude of gravity [m/s^2] at a key; 0 if gravity does not change."""
    times = {t for p, k in scene.keyed.items() if p.startswith("gravity") for t, _ in k.points}
    return max((sum(g * g for g in scene.at_keys(t).gravity) ** 0.5 for t in times), default=0.0)


def _meshes(scene: Scene) -> Iterator[tuple[TriangleMesh, Ints]]:
    """Yield the triangles of each cloth, with the (k,2) vertices that seams or attachments tie."""
    cloth = scene.cloth
    ties = [np.zeros((0, 2), dtype=np.int32), *(pairs for _, pairs in cloth.seams)]
    for held in scene.attachments:
        if isinstance(held, AttachCloth) and len(held.to) in (1, len(held.vertices)):
            ties.append(np.stack(np.broadcast_arrays(held.vertices, held.to), axis=1))
    tied = np.concatenate(ties)
    for part, surface in cloth.pieces:
        if not isinstance(surface, Triangles):
            continue
        mesh, own = surface.mesh, surface.own
        if len(cloth.parts) > 1:  # in the numbers of this cloth
            inside = np.searchsorted(own, tied[np.isin(tied, own).all(axis=1)]).astype(np.int32)
            faces, source = np.searchsorted(own, mesh.faces).astype(np.int32), part.name
            yield TriangleMesh(mesh.vertices[own], faces, mesh.corner_uv, source=source), inside
        else:
            yield mesh, tied


@contextmanager
def _welding_first(split: bool) -> Iterator[None]:
    """Let an error about the start of cloth say that vertices coincide, where some do."""
    try:
        yield
    except StartError as error:
        if not split:
            raise
        raise WeldError(
            error.what,
            got=error.got,
            where=error.where,
            expected=error.expected,
            hint=(
                "first join the vertices that coincide: `weld: true` of the mesh "
                "(weft.load(..., weld=True))"
            ),
        ) from None
