"""Cloth that is bent at the start and has another shape at rest: by how much it would open."""

from collections.abc import Iterator, Sequence

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import point_text
from weft.cloth.cloth import Cloth
from weft.discretization.mesh import TriangleMesh
from weft.discretization.triangles import Triangles
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.hinge_bending import HingeBending, dihedral_angles
from weft.energies.elastic.internal_friction import HingeFriction
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.energy import Energy

SHARP = np.radians(10)  # angle between start and rest at one edge, from which it is said
ROUND = np.radians(30)  # the same summed over the size of the cloth, of many small angles
SAME = 1e-4  # part of a length that is round-off


def about_bends(cloth: Cloth, energies: Sequence[Energy]) -> Iterator[str]:
    """Yield a warning about cloth that is bent at the start, with another rest shape.

    Panels of garments are left out: they are bent around the body, and flat at rest. So are the
    seams of a mesh, such as the rim of a pillow: they are folded when the pieces are sewn.
    """
    triangles = [(part, s.mesh) for part, s in cloth.pieces if isinstance(s, Triangles)]
    if not triangles or cloth.seams:
        return
    every = np.concatenate([mesh.hinges for _, mesh in triangles])
    hinges, rest = _rest_angles(cloth, every, energies)
    turn = dihedral_angles(cloth.vertices, hinges) - rest
    turn = np.abs((turn + np.pi) % (2 * np.pi) - np.pi)
    x, n = cloth.vertices, cloth.n_vertices
    seams = np.concatenate([_seam_edges(mesh) for _, mesh in triangles])
    whole_cloth = ~np.isin(np.sort(hinges[:, :2]) @ [n, 1], np.sort(seams) @ [n, 1])
    for part, mesh in triangles:
        own = np.isin(hinges[:, 0], part.vertices) & whole_cloth
        if not own.any():
            continue
        edges, angles = hinges[own, :2], turn[own]
        length, area = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1), mesh.rest_area.sum()
        whole = float((angles * length).sum() / np.sqrt(area))
        k = int(angles.argmax())
        if angles[k] < SHARP and whole < ROUND:
            continue
        flat = "flat at rest" if not rest[own].any() else "has other rest angles"
        yield (
            f"{part.name} is bent at the start and {flat}: it would open by up to "
            f"{np.degrees(angles[k]):.3g} degrees at an edge, most near "
            f"({point_text(x[edges[k]].mean(axis=0))}), by more than {np.degrees(SHARP):.0f} at "
            f"{(angles > SHARP).sum()} of {len(angles)} edges, and by {np.degrees(whole):.3g} "
            "degrees over its size. `rest_angles: as-given` keeps the angles of the mesh, "
            "`rest_shape: FILE` takes the angles of another mesh"
        )


def _seam_edges(mesh: TriangleMesh) -> Ints:
    """Return the edges (k,2) at which a mesh is sewn: in the plane of the material, the faces
    beside them have no edge in common, or lie on one side of it.
    """
    edges, sides = mesh.hinges[:, :2], mesh.hinge_faces.T
    first, second = (
        np.stack([mesh.corner_uv[f][mesh.faces[f] == edges[:, [k]]] for k in (0, 1)], axis=1)
        for f in sides
    )
    length = np.linalg.norm(first[:, 1] - first[:, 0], axis=-1)
    apart = np.abs(first - second).max(axis=(1, 2)) > SAME * length
    one, two = (mesh.signed_material_area[f] for f in sides)
    return np.asarray(edges[apart | (one * two < 0)], dtype=np.int64)


def _rest_angles(cloth: Cloth, every: Ints, energies: Sequence[Energy]) -> tuple[Ints, Floats]:
    """Return hinges (h,4) with their rest angles (h,) [rad], of all that bend.

    Args:
        cloth: at its start.
        every: (m,4) hinges of all triangles.
        energies: of the cloth.
    """
    rows, rest = [every[:0]], [np.zeros(0)]
    for e in energies:
        if isinstance(e, HingeBending) and not isinstance(e, HingeFriction):
            rows.append(e.hinges)
            rest.append(np.broadcast_to(e.rest_angle, len(e.hinges)))
        elif isinstance(e, QuadraticBending):  # of cloth that is flat at rest
            own = every[np.isin(every[:, 0], e.stencil)]
            rows.append(own)
            rest.append(np.zeros(len(own)))
        elif isinstance(e, BucklingBending):
            a, b = cloth.vertices[e.pairs.T]
            bent = np.linalg.norm(b - a, axis=1) < (1 - SAME) * e.length
            n = cloth.n_vertices
            own = every[np.isin(every[:, 2:] @ [n, 1], e.pairs[bent].astype(np.int64) @ [n, 1])]
            rows.append(own)
            rest.append(np.zeros(len(own)))
    return np.concatenate(rows), np.concatenate(rest)
