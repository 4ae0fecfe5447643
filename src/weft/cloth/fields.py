"""Numbers on cloth that runs record and exports carry: strain, stress, curvature, pressure, air and
velocity, on the triangles and vertices of the mesh that is shown. Of splines these are the
triangles between their samples; more of them (``density``) are nearer to the patch.

strain     (m,3) of warp and weft [1], |f0| - 1 and |f1| - 1; shear [rad], by which they leave the
           right angle. F = (f0, f1) is constant on a triangle.
stress     (m,3) [N/m] of warp, weft and shear, from the law psi alone (no damping, no barrier of
           limits): P = dpsi/dF = F S, force per width at rest (first Piola-Kirchhoff; S, the
           second, is symmetric). Across a cut along the weft goes P e0 = S00 f0 + S01 f1: warp
           yarns carry S00 |f0| along themselves, the weft S11 |f1|, and S01 sqrt(|f0||f1|) is the
           shear. A pull along the warp has the first alone, force over width.
curvature  (n,2) [1/m] principal ones, largest and smallest, positive where cloth folds towards its
           front: eigenvalues of the mean over a vertex's faces of the sum of l theta t t^T / 2 of
           a face's hinges, over its area, with t across the hinge (Cohen-Steiner & Morvan 2003). A
           cylinder has (1/r, 0). Faces at borders lack a hinge and do not count; a vertex that
           has no others gets the mean of those around it, in narrow strips of all faces.
pressure   (n,) [Pa] of contact: normal forces over the area at rest around the vertex. Their sum
           with these areas is what presses; of cloth on cloth both sides have it.
air        (m,3) [Pa] lift and drag over the area at rest, with the velocity of the frame.
velocity   (n,3) [m/s].
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats, Gradients, Ints, Positions, Velocities
from weft.base.errors import SceneError, check_known
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.energies.air.wind import Wind
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.laws.base import Law

AT_FACES, AT_VERTICES = ("strain", "stress", "air"), ("curvature", "pressure", "velocity")
FIELDS = ("strain", "stress", "curvature", "pressure", "air", "velocity")
VECTORS = ("air", "velocity")
TINY = 1e-300
RECORDED = "field."  # prefix of their names among a frame's arrays


@dataclass(frozen=True, eq=False)
class Physics:
    """What stress and air need besides a mesh that moves.

    Args:
        laws: of the membrane, with the number of faces of each, in their order, or the faces
            themselves; None: no law is known, or there is none (conditions of 1998).
        wind: None: there is no air.
        carried: [m] by which a wind that changes has carried its gusts; None: it does not change.
        changing: all this at a time [s], where numbers of the scene change; None: they do not.
    """

    laws: Sequence[tuple[Law, int | Ints]] | None = None
    wind: Wind | None = None
    carried: tuple[float, float, float] | None = None
    changing: "Callable[[float], Physics] | None" = None

    def at(self, t: float) -> "Physics":
        """What it is at the time t [s]."""
        return self if self.changing is None else self.changing(t)


@dataclass(frozen=True, eq=False)
class Recorder:
    """What a run records of its frames."""

    names: Sequence[str]
    mesh: TriangleMesh
    physics: Physics

    @staticmethod
    def of(scene: Any, mesh: TriangleMesh) -> "Recorder":
        """Of a scene that has ``record`` and ``physics``; others record nothing."""
        names = tuple(getattr(scene, "record", ()))
        return Recorder(names, mesh, scene.physics() if names else Physics())

    def arrays(
        self, x: Positions, v: Velocities, t: float, pressure: Floats | None
    ) -> dict[str, Floats]:
        """Arrays of a frame, at vertices x (n,3) that move with v; further points are left out."""
        n = self.mesh.n_vertices
        given = (t, self.physics, pressure)
        return {RECORDED + m: field_of(m, self.mesh, x[:n], v[:n], *given) for m in self.names}


def check_fields(names: Sequence[str], where: str) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        SceneError: one that is no field's.
    """
    if isinstance(names, str):
        raise SceneError(where, got=repr(names), expected=f"a list of {', '.join(FIELDS)}")
    for name in names:
        check_known(name, FIELDS, where, SceneError)
    return tuple(dict.fromkeys(names))


def missing(name: str, physics: Physics, *, pressed: bool) -> str:
    """What a field lacks, in words; empty where nothing."""
    lacking = {
        "stress": "" if physics.laws else "no law of the membrane",
        "air": "" if physics.wind else "no wind",
        "pressure": "" if pressed else "no contact",
    }
    return lacking.get(name, "")


def field_of(
    name: str,
    mesh: TriangleMesh,
    x: Positions,
    v: Velocities,
    t: float,
    physics: Physics,
    pressure: Floats | None = None,
) -> Floats:
    """A field's array, as the module says.

    Args:
        name: one of ``FIELDS``.
        mesh: with material coordinates.
        x: (n,3) [m].
        v: (n,3) [m/s].
        t: [s].
        physics: law and wind.
        pressure: (n,) [Pa] of contact; None: there is none.

    Raises:
        SceneError: what the field is made from is missing.
    """
    check_known(name, FIELDS, "field", SceneError)
    physics = physics.at(t)
    lack = missing(name, physics, pressed=pressure is not None)
    if lack:
        raise SceneError(f"field {name}", got=lack, expected="what it is made from")
    made: Mapping[str, Callable[[], Floats]] = {
        "strain": lambda: strain_of(gradients(mesh, x)),
        "stress": lambda: stress_of(gradients(mesh, x), physics.laws or ()),
        "curvature": lambda: curvatures(mesh, x),
        "pressure": lambda: np.asarray(pressure),
        "air": lambda: air_of(mesh, x, v, t, physics.wind or Wind(), physics.carried),
        "velocity": lambda: np.asarray(v),
    }
    return made[name]()


def gradients(mesh: TriangleMesh, x: Positions) -> Gradients:
    """(m,3,2) F of the faces."""
    return linear_triangle(mesh).deformation_gradient(x)


def strain_of(F: Gradients) -> Floats:
    """(m,3) of warp, weft and shear."""
    warp, weft = _lengths(F)
    cosine = np.einsum("mi,mi->m", F[:, :, 0], F[:, :, 1]) / np.maximum(warp * weft, 1e-300)
    return np.stack([warp - 1, weft - 1, np.arcsin(np.clip(cosine, -1, 1))], axis=1)


def stress_of(F: Gradients, laws: Sequence[tuple[Law, int | Ints]]) -> Floats:
    """(m,3) [N/m] of warp, weft and shear.

    Raises:
        SceneError: laws of another number of faces.
    """
    counts = [count if isinstance(count, int) else len(count) for _, count in laws]
    if sum(counts) != len(F):
        raise SceneError("field stress", got=f"laws of {sum(counts)} faces", expected=f"{len(F)}")
    P = np.zeros_like(F)
    start = 0
    for (law, faces), count in zip(laws, counts):
        rows = slice(start, start + count) if isinstance(faces, int) else faces
        P[rows] = law.stress(F[rows])
        start += count
    S = np.linalg.pinv(F) @ P
    warp, weft = _lengths(F)
    shear = 0.5 * (S[:, 0, 1] + S[:, 1, 0]) * np.sqrt(warp * weft)
    return np.stack([S[:, 0, 0] * warp, S[:, 1, 1] * weft, shear], axis=1)


def principal_stress(F: Gradients, stress: Floats) -> tuple[Floats, Floats]:
    """Largest and smallest principal stress of Cauchy, force over width as it is (m,) [N/m] each,
    of the stress (m,3) of warp, weft and shear: sigma = F S F^T/J in the plane of a face has the
    eigenvalues of S C/J, C = F^T F.
    """
    C = np.einsum("mki,mkj->mij", F, F)
    warp, weft = _lengths(F)
    a, b = stress[:, 0] / np.maximum(warp, 1e-300), stress[:, 1] / np.maximum(weft, 1e-300)
    c = stress[:, 2] / np.sqrt(np.maximum(warp * weft, 1e-300))
    J = np.sqrt(np.maximum(C[:, 0, 0] * C[:, 1, 1] - C[:, 0, 1] ** 2, 1e-300))
    mean = 0.5 * (a * C[:, 0, 0] + 2 * c * C[:, 0, 1] + b * C[:, 1, 1]) / J
    radius = np.sqrt(np.maximum(mean * mean - (a * b - c * c), 0.0))
    return mean + radius, mean - radius


def curvatures(mesh: TriangleMesh, x: Positions) -> Floats:
    """(n,2) [1/m] principal curvatures."""
    h = mesh.hinges
    if len(h) == 0:
        return np.zeros((mesh.n_vertices, 2))
    theta, edge = dihedral_angles(x, h), x[h[:, 1]] - x[h[:, 0]]
    length = np.linalg.norm(edge, axis=1)
    ends = [np.cross(edge, x[h[:, 2]] - x[h[:, 0]]), np.cross(edge, x[h[:, 3]] - x[h[:, 1]])]
    one, other = (n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300) for n in ends)
    across = np.cross(one - other, edge)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    tensor = 0.5 * (length * theta)[:, None, None] * across[:, :, None] * across[:, None, :]
    of_face = np.zeros((len(mesh.faces), 3, 3))
    for side in (0, 1):
        np.add.at(of_face, mesh.hinge_faces[:, side], tensor)
    whole = np.bincount(mesh.hinge_faces.ravel(), minlength=len(mesh.faces)) == 3
    k = np.linalg.eigvalsh(_around(mesh, of_face, whole))  # one is the normal's: about 0
    normal = np.argmin(np.abs(k), axis=1)
    kept = np.arange(3)[None, :] != normal[:, None]
    return np.asarray(k[kept].reshape(-1, 2)[:, ::-1])


def _around(mesh: TriangleMesh, of_face: Floats, whole: Bools) -> Floats:
    """(n,3,3) sums (m,3,3) of the whole faces around a vertex over their area; where there are
    none, the mean of the vertices around it; where these have none either, of all faces.
    """
    some, area = _summed(mesh, of_face, whole)
    every, size = _summed(mesh, of_face, np.ones_like(whole))
    known = area > 0
    mean = some / np.maximum(area, TINY)[:, None, None]
    sums, count = np.zeros_like(mean), np.zeros(len(mean))
    for corner in mesh.faces.T:
        np.add.at(sums, corner, mean[mesh.faces].sum(axis=1))
        np.add.at(count, corner, known[mesh.faces].sum(axis=1))
    near = np.where((count > 0)[:, None, None], sums, every)
    near = near / np.where(count > 0, count, np.maximum(size, TINY))[:, None, None]
    return np.asarray(np.where(known[:, None, None], mean, near))


def _summed(mesh: TriangleMesh, of_face: Floats, chosen: Bools) -> tuple[Floats, Floats]:
    """(n,3,3) sums of the chosen faces around each vertex, and (n,) [m^2] their area."""
    total, area = np.zeros((mesh.n_vertices, 3, 3)), np.zeros(mesh.n_vertices)
    for corner in mesh.faces[chosen].T:
        np.add.at(total, corner, of_face[chosen])
        np.add.at(area, corner, mesh.rest_area[chosen])
    return total, area


def air_of(
    mesh: TriangleMesh,
    x: Positions,
    v: Velocities,
    t: float,
    wind: Wind,
    carried: tuple[float, float, float] | None = None,
) -> Floats:
    """(m,3) [Pa] rho |u|/2 [(C_D - C_L) u + C_L (u.n) n] times the area over that at rest, with u
    the air's velocity past the middle of the face; in crossflow the second |u| is |u.n|.
    ``carried`` is as in ``Physics``.
    """
    corners = x[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    n = normal / np.maximum(size, 1e-300)
    u = wind.at(corners.mean(1), t, carried) - v[mesh.faces].mean(1)
    speed, through = np.linalg.norm(u, axis=1, keepdims=True), (u * n).sum(1, keepdims=True)
    push = (wind.drag - wind.lift) * speed * u
    push += wind.lift * (np.abs(through) if wind.crossflow else speed) * through * n
    return np.asarray(0.5 * wind.density * push * (0.5 * size / mesh.rest_area[:, None]))


def _lengths(F: Gradients) -> tuple[Floats, Floats]:
    return np.linalg.norm(F[:, :, 0], axis=1), np.linalg.norm(F[:, :, 1], axis=1)
