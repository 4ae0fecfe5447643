"""Mass properties of closed meshes: volume, center and second moments.

A solid is the signed sum of tetrahedra from one point to every face (Mirtich 1996 uses Green's
theorem instead). For a tetrahedron with corners 0, a, b, c the volume is det(a,b,c)/6, and the
integral of x x^T is det/120 (s s^T + a a^T + b b^T + c c^T), with s = a + b + c.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.base.errors import SceneError
from weft.discretization.mesh import half_edges

FLAT = 1e-9  # ratio of the volume to that of a ball of the same size, below which a mesh is flat


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass properties of the solid of uniform density that a closed mesh encloses."""

    volume: float  # [m^3]
    center: Floats  # (3,) [m]
    second: Floats  # (3,3) [m^2] mean of (x - center) (x - center)^T

    @property
    def unit_inertia(self) -> Floats:
        """(3,3) [m^2] inertia tensor about the center, per unit mass."""
        return np.asarray(np.trace(self.second) * np.eye(3) - self.second)


def mass_properties(x: Positions, faces: Faces, name: str = "body") -> MassProperties:
    """Compute the mass properties of a closed mesh whose faces all look outwards, or all inwards.

    Args:
        x: (n,3) [m] vertices.
        faces: (m,3) vertex indices of the triangles.
        name: name of the body for messages.

    Raises:
        SceneError: the mesh is open, its faces are not oriented consistently, or it encloses no
            volume.
    """
    _check_closed(faces, name)
    used = np.unique(faces)
    # An apex inside the mesh keeps the signed volumes small, and with them their cancellation.
    origin = x[used].mean(0)
    a, b, c = np.moveaxis(x[faces] - origin, 1, 0)
    det = np.einsum("mi,mi->m", a, np.cross(b, c))
    volume = float(det.sum()) / 6
    size = float(np.linalg.norm(x[used] - origin, axis=1).max(initial=0.0))
    if not abs(volume) > FLAT * 4.2 * size**3:  # 4.2 is 4 pi/3
        raise SceneError(
            f"{name}.rigid",
            got=f"a volume of {abs(volume):.3g} m^3",
            expected="a body with a volume: a closed mesh that is not flat",
            hint="give the body a thickness, or leave out `rigid`",
        )
    s = a + b + c
    mean = np.einsum("m,mi->i", det, s) / 24 / volume
    outer = sum(np.einsum("m,mi,mj->ij", det, v, v) for v in (s, a, b, c))
    second = np.asarray(outer) / 120 / volume - np.outer(mean, mean)
    return MassProperties(abs(volume), origin + mean, second)


def _check_closed(faces: Faces, name: str) -> None:
    """Check that every edge has two faces, which run along it in opposite directions."""
    edges = half_edges(faces).astype(np.int64)
    n = int(faces.max()) + 1
    low, high = edges.min(1), edges.max(1)
    _, number, count = np.unique(low * n + high, return_inverse=True, return_counts=True)
    turns = np.bincount(number.reshape(-1), np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0))
    hint = "close its holes (`mesh.weld: true` where vertices coincide), or leave out `rigid`"
    if (count != 2).any():
        got = f"{int((count == 1).sum())} border edges, {int((count > 2).sum())} with more faces"
    elif (turns != 0).any():
        got = f"{int((turns != 0).sum())} edges between faces that look opposite ways"
        hint = "make all faces look outwards"
    else:
        return
    raise SceneError(f"{name}.rigid", got=got, expected="a closed mesh: it has a volume", hint=hint)
