"""Hinges that bend as a given plate, on an irregular mesh.

A hinge resists the angle across its edge, so the resistance of a mesh of hinges depends on its
edges: wrapped around a cylinder (no twist, no curvature across), the irregular meshes of
``garment.triangulate`` cost 1.22 to 1.28 times D with the weights that make strips of a grid right
(``docs/explanations/bending.md``). A sheet that hardly stretches bends in no other way. Therefore
the two numbers behind the weights are solved for here, such that cylinders along warp and weft cost
1/2 D kappa^2 each.

The angle across an edge is linear in the heights of a nearly flat sheet, and meshes of this kind do
not relax when their vertices are free to leave the cylinder (0.3 % less energy): the energy of the
quadric at the vertices is that of the plate.
"""

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import HingeBending, check_stiffness, hinge_weight
from weft.energies.elastic.internal_friction import BENDING_SLIP, HingeFriction
from weft.energies.elastic.quadratic_bending import QuadraticBending


def plate_hinges(
    mesh: TriangleMesh, stiffness: tuple[float, float], damping: float = 0.0
) -> HingeBending:
    """Build hinges with which cylinders along warp and weft cost (D_warp, D_weft) [N m].

    If one is so much larger than the other (about 5 times) that no weights >= 0 can do it, the
    softer direction is stiffer than asked for.

    Args:
        mesh: flat, with material coordinates at its vertices.
        stiffness: D >= 0 of bending the warp yarns and the weft yarns.
        damping: [s] time constant of stiffness-proportional damping.

    Raises:
        MeshError: a negative stiffness.
    """
    check_stiffness(stiffness)
    share = cylinder_energies(mesh)
    wanted = np.linalg.solve(share, stiffness)
    if wanted.min() < 0:
        soft = int(np.argmin(wanted))
        wanted[soft] = 0.0
        wanted[1 - soft] = stiffness[1 - soft] / share[1 - soft, 1 - soft]
    weight = hinge_weight(mesh, (float(wanted[0]), float(wanted[1])))
    return HingeBending(
        mesh.hinges, weight, np.zeros(len(weight)), mesh.n_vertices, damping=damping
    )


def plate_friction(
    mesh: TriangleMesh, hysteresis: tuple[float, float], curvature: float = BENDING_SLIP
) -> HingeFriction:
    """Build friction of hinges with which cylinders along warp and weft pay half of 2HB per area
    and curvature.

    Args:
        mesh: flat, with material coordinates at its vertices.
        hysteresis: 2HB [N] of bending the warp yarns and the weft yarns.
        curvature: [1/m] of slip.

    Raises:
        FabricError: a slip that is not above 0.
    """
    angles, unit = np.abs(cylinder_angles(mesh)), np.eye(2)
    friction = [HingeFriction.from_hysteresis(mesh, (w, f), curvature) for w, f in unit]
    paid = 2 * angles @ np.stack([e.weight * e.slip for e in friction], 1) / mesh.rest_area.sum()
    wanted = np.maximum(np.linalg.solve(paid, hysteresis), 0.0)
    return HingeFriction.from_hysteresis(mesh, (float(wanted[0]), float(wanted[1])), curvature)


def cylinder_angles(mesh: TriangleMesh) -> Floats:
    """Return the angles of hinges (2,h) [m] over the curvature of cylinders along warp and weft."""
    # its coefficients are the derivative of the angle
    form = QuadraticBending.of(mesh, (1.0, 1.0))
    uv = mesh.vertex_uv
    assert uv is not None
    return np.stack([(form.coefficient * (z**2 / 2)[mesh.hinges]).sum(1) for z in uv.T])


def cylinder_energies(mesh: TriangleMesh) -> Floats:
    """Return (2,2) energies of cylinders along warp (row 0) and weft, over kappa^2/2 and area.

    The columns are hinge weights of (1, 0) N m and (0, 1) N m.
    """
    weight = [hinge_weight(mesh, pair) for pair in ((1.0, 0.0), (0.0, 1.0))]
    return np.asarray(cylinder_angles(mesh) ** 2 @ np.stack(weight, 1) / mesh.rest_area.sum())
