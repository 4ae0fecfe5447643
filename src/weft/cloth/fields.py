"""Fields on cloth for runs and exports: strain, stress, curvature, pressure, air, velocity.

Fields are defined on the triangles and vertices of the mesh that is shown. For splines these are
the triangles between their samples; more samples (``density``) approximate the patch better.

strain     (m,3) warp and weft strain [1], |f0| - 1 and |f1| - 1, and shear [rad], by which the
           angle between the yarns is smaller than 90 degrees. F = (f0, f1) is constant on a face.
stress     (m,3) [N/m] of warp, weft and shear, from the law psi alone (without damping and without
           the barrier of strain limits). P = dpsi/dF = F S is the force per width at rest (P is the
           first Piola-Kirchhoff stress; S, the second, is symmetric). The force across a cut along
           the weft is P e0 = S00 f0 + S01 f1: warp yarns carry S00 |f0| along themselves, weft
           yarns S11 |f1|, and the shear is S01 sqrt(|f0||f1|). A pull along the warp has only the
           first component, force over width.
curvature  (n,2) [1/m] largest and smallest principal curvature, positive where cloth folds towards
           its front: eigenvalues of the tensor of Cohen-Steiner & Morvan (2003). This tensor is the
           sum of l theta t t^T / 2 over the hinges of the faces around a vertex, divided by the
           area of these faces, with t perpendicular to the hinge. A cylinder has (1/r, 0). Faces at
           borders lack a hinge and do not count. A vertex that has only such faces gets the mean of
           the vertices around it, and in narrow strips the tensor of all its faces.
pressure   (n,) [Pa] of contact: normal forces over the rest area around the vertex. The sum of
           pressure times area is the total normal force; if cloth presses on cloth, both sides have
           this pressure.
air        (m,3) [Pa] lift and drag over the rest area, with the velocity of the frame.
velocity   (n,3) [m/s].
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats, Gradients, Ints, Positions, Velocities
from weft.base.errors import SceneError, check_known
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import normalize, triangle_sides
from weft.discretization.samples import principal_stretches
from weft.energies.air.wind import Wind
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.laws.base import Law

AT_FACES, AT_VERTICES = ("strain", "stress", "air"), ("curvature", "pressure", "velocity")
FIELDS = ("strain", "stress", "curvature", "pressure", "air", "velocity")
VECTORS = ("air", "velocity")
TINY = 1e-300
RECORDED = "field."  # prefix of the names of fields among the arrays of a frame


@dataclass(frozen=True, eq=False)
class Physics:
    """The laws and the wind from which stress and air are computed.

    Args:
        laws: laws of the membrane, each with its number of faces (then in the order of the faces)
            or with the indices of its faces; None: no law is known, or there is none (conditions of
            1998).
        wind: the wind; None: there is no air.
        changing: function that returns the physics at a time [s], for scenes with keyframes; None:
            nothing changes in time.
    """

    laws: Sequence[tuple[Law, int | Ints]] | None = None
    wind: Wind | None = None
    changing: "Callable[[float], Physics] | None" = None

    def at(self, t: float) -> "Physics":
        """Return the physics at time t [s]."""
        return self if self.changing is None else self.changing(t)


@dataclass(frozen=True, eq=False)
class Recorder:
    """The fields that a run records in its frames."""

    names: Sequence[str]
    mesh: TriangleMesh
    physics: Physics

    def arrays(
        self, x: Positions, v: Velocities, t: float, pressure: Floats | None
    ) -> dict[str, Floats]:
        """Return the recorded fields of a frame, by name with the prefix ``RECORDED``.

        Args:
            x: (N,3) [m] positions; rows after the vertices of the mesh are ignored.
            v: (N,3) [m/s] velocities.
            t: [s] time.
            pressure: (n,) [Pa] contact pressure; None: no contact.
        """
        n = self.mesh.n_vertices
        given = (t, self.physics, pressure)
        return {RECORDED + m: compute_field(m, self.mesh, x[:n], v[:n], *given) for m in self.names}


def missing_input(name: str, *, has_law: bool, has_wind: bool, has_contact: bool) -> str:
    """Return a text that says what is missing to compute a field; empty if nothing is missing."""
    lacking = {
        "stress": "" if has_law else "no law of the membrane",
        "air": "" if has_wind else "no wind",
        "pressure": "" if has_contact else "no contact",
    }
    return lacking.get(name, "")


def compute_field(
    name: str,
    mesh: TriangleMesh,
    x: Positions,
    v: Velocities,
    t: float,
    physics: Physics,
    pressure: Floats | None = None,
) -> Floats:
    """Compute a field; the module docstring defines the fields.

    Args:
        name: one of ``FIELDS``.
        mesh: mesh with material coordinates.
        x: (n,3) [m] positions of the vertices.
        v: (n,3) [m/s] velocities of the vertices.
        t: [s] time.
        physics: laws and wind.
        pressure: (n,) [Pa] contact pressure; None: no contact.

    Returns:
        The field, of the shape that the module docstring gives.

    Raises:
        SceneError: something that the field is computed from is missing.
    """
    check_known(name, FIELDS, "field", SceneError)
    physics = physics.at(t)
    lack = missing_input(
        name,
        has_law=bool(physics.laws),
        has_wind=physics.wind is not None,
        has_contact=pressure is not None,
    )
    if lack:
        raise SceneError(
            f"field {name}", got=lack, expected="the values that the law is built from"
        )
    made: Mapping[str, Callable[[], Floats]] = {
        "strain": lambda: face_strain(gradients(mesh, x)),
        "stress": lambda: face_stress(gradients(mesh, x), physics.laws or ()),
        "curvature": lambda: curvatures(mesh, x),
        "pressure": lambda: np.asarray(pressure),
        "air": lambda: air_force(mesh, x, v, t, physics.wind or Wind()),
        "velocity": lambda: np.asarray(v),
    }
    return made[name]()


def gradients(mesh: TriangleMesh, x: Positions) -> Gradients:
    """Return the deformation gradients F (m,3,2) of the faces."""
    return linear_triangle(mesh).deformation_gradient(x)


def face_strain(F: Gradients) -> Floats:
    """Return the strain (m,3) of warp and weft [1], and the shear [rad], from F (m,3,2)."""
    warp, weft = _lengths(F)
    cosine = np.einsum("mi,mi->m", F[:, :, 0], F[:, :, 1]) / np.maximum(warp * weft, 1e-300)
    return np.stack([warp - 1, weft - 1, np.arcsin(np.clip(cosine, -1, 1))], axis=1)


def face_stress(F: Gradients, laws: Sequence[tuple[Law, int | Ints]]) -> Floats:
    """Return the stress (m,3) [N/m] of warp, weft and shear from F (m,3,2).

    Raises:
        SceneError: the laws are for another number of faces.
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
    """Return largest and smallest principal Cauchy stress (m,) [N/m], force over deformed width.

    The stress sigma = F S F^T/J in the plane of a face has the eigenvalues of S C/J, with C = F^T
    F.

    Args:
        F: (m,3,2) deformation gradients.
        stress: (m,3) [N/m] stress of warp, weft and shear, from ``face_stress``.
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
    """Return the principal curvatures (n,2) [1/m], the largest first."""
    h = mesh.hinges
    if len(h) == 0:
        return np.zeros((mesh.n_vertices, 2))
    theta, edge = dihedral_angles(x, h), x[h[:, 1]] - x[h[:, 0]]
    length = np.linalg.norm(edge, axis=1)
    ends = [np.cross(edge, x[h[:, 2]] - x[h[:, 0]]), np.cross(edge, x[h[:, 3]] - x[h[:, 1]])]
    one, other = (normalize(n) for n in ends)
    across = normalize(np.cross(one - other, edge))
    tensor = 0.5 * (length * theta)[:, None, None] * across[:, :, None] * across[:, None, :]
    of_face = np.zeros((len(mesh.faces), 3, 3))
    for side in (0, 1):
        np.add.at(of_face, mesh.hinge_faces[:, side], tensor)
    whole = np.bincount(mesh.hinge_faces.ravel(), minlength=len(mesh.faces)) == 3
    # The eigenvalue of the normal's direction is about 0; the other two are the curvatures.
    k = np.linalg.eigvalsh(_vertex_tensors(mesh, of_face, whole))
    normal = np.argmin(np.abs(k), axis=1)
    kept = np.arange(3)[None, :] != normal[:, None]
    return np.asarray(k[kept].reshape(-1, 2)[:, ::-1])


def _vertex_tensors(mesh: TriangleMesh, of_face: Floats, whole: Bools) -> Floats:
    """Average tensors of faces (m,3,3) around every vertex, weighted by area.

    Only faces with three hinges (``whole``) count. A vertex without such faces gets the mean of the
    vertices around it; if these have none either, the average over all its faces.
    """
    some, area = _sum_tensors(mesh, of_face, whole)
    every, size = _sum_tensors(mesh, of_face, np.ones_like(whole))
    known = area > 0
    mean = some / np.maximum(area, TINY)[:, None, None]
    sums, count = np.zeros_like(mean), np.zeros(len(mean))
    for corner in mesh.faces.T:
        np.add.at(sums, corner, mean[mesh.faces].sum(axis=1))
        np.add.at(count, corner, known[mesh.faces].sum(axis=1))
    near = np.where((count > 0)[:, None, None], sums, every)
    near = near / np.where(count > 0, count, np.maximum(size, TINY))[:, None, None]
    return np.where(known[:, None, None], mean, near)


def _sum_tensors(mesh: TriangleMesh, of_face: Floats, chosen: Bools) -> tuple[Floats, Floats]:
    """Return the sums (n,3,3) of the chosen faces around each vertex, and their area (n,) [m^2]."""
    total, area = np.zeros((mesh.n_vertices, 3, 3)), np.zeros(mesh.n_vertices)
    for corner in mesh.faces[chosen].T:
        np.add.at(total, corner, of_face[chosen])
        np.add.at(area, corner, mesh.rest_area[chosen])
    return total, area


def air_force(mesh: TriangleMesh, x: Positions, v: Velocities, t: float, wind: Wind) -> Floats:
    """Return the force of the air over the rest area (m,3) [Pa].

    On the deformed area it is rho |u|/2 [(C_D - C_L) u + C_L (u.n) n], with u the velocity of the
    air relative to the middle of the face; in crossflow the second |u| is |u.n|.
    """
    corners = x[mesh.faces]
    normal = np.cross(*triangle_sides(corners))
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    n = normal / np.maximum(size, 1e-300)
    u = wind.at(corners.mean(1), t) - v[mesh.faces].mean(1)
    speed, through = np.linalg.norm(u, axis=1, keepdims=True), (u * n).sum(1, keepdims=True)
    push = (wind.drag - wind.lift) * speed * u
    push += wind.lift * (np.abs(through) if wind.crossflow else speed) * through * n
    return np.asarray(0.5 * wind.density * push * (0.5 * size / mesh.rest_area[:, None]))


def _lengths(F: Gradients) -> tuple[Floats, Floats]:
    return np.linalg.norm(F[:, :, 0], axis=1), np.linalg.norm(F[:, :, 1], axis=1)


def vertex_mean(mesh: TriangleMesh, values: Floats) -> Floats:
    """Return (n,) the area-weighted mean at the vertices of values (m,) on the faces."""
    ids, w = mesh.faces.reshape(-1), np.repeat(mesh.rest_area, 3)
    total = np.bincount(ids, w * np.repeat(values, 3), mesh.n_vertices)
    return total / np.maximum(np.bincount(ids, w, mesh.n_vertices), 1e-300)


def largest_strain(mesh: TriangleMesh, x: Positions) -> Floats:
    """Return (n,) the largest principal strain [%] at positions x (n,3) [m]."""
    high, _ = principal_stretches(linear_triangle(mesh).deformation_gradient(x))
    return 100 * (vertex_mean(mesh, high) - 1)
