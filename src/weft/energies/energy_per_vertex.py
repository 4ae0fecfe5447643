"""Energy per particle: the areal energy of triangles and pairs of triangles, lumped to vertices.

Source: Choi & Ko 2003, eq. 5 and figure 3. It is a diagnostic, for plots.
"""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.base.runtime_types import checked
from weft.discretization.mesh import TriangleMesh
from weft.energies.energy import Energy


def face_energy(energy: Energy, mesh: TriangleMesh, x: Positions) -> Floats:
    """Return the energy on every triangle, (m,) [J].

    A local energy that is sampled once on each triangle belongs to that triangle. A local energy of
    an inner edge is shared by its two triangles in proportion to their areas.

    Raises:
        MeshError: an energy with neither one local value per triangle nor one per inner edge.
    """
    value = energy.value(x)
    if len(value) == len(mesh.faces):
        return value
    if len(value) != len(mesh.hinges):
        raise MeshError(
            f"energy per particle of {energy.name}",
            got=f"{len(value)} local energies",
            expected=f"{len(mesh.faces)} (triangles) or {len(mesh.hinges)} (inner edges)",
            where=mesh.source,
        )
    area = mesh.rest_area[mesh.hinge_faces]
    share = value[:, None] * area / area.sum(1, keepdims=True)
    return _sums(mesh.hinge_faces, share, len(mesh.faces))


@checked(MeshError)
def vertex_energy(energy: Energy, mesh: TriangleMesh, x: Positions) -> Floats:
    """Return the energy at every vertex, (n,) [J]: a third of that of its triangles. Eq. 5.

    Divided by ``mesh.vertex_area`` it is the areal energy [J/m^2] to color a picture with
    (``weft.Field``).

    Raises:
        MeshError: see ``face_energy``.
    """
    third = np.repeat(face_energy(energy, mesh, x) / 3, 3)
    return _sums(mesh.faces, third, mesh.n_vertices)


def _sums(ids: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values with each id, (n,)."""
    out = np.zeros(n)
    np.add.at(out, ids.reshape(-1), values.reshape(-1))
    return out
