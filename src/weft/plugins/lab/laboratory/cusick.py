"""Cusick's drape test (Cusick 1968; BS 5058, ISO 9073-9): how far a round specimen hangs down.

A specimen of 30 cm diameter is held between two disks of 18 cm, level with a shelf; the shelf goes
down, and the ring hangs from the rim in folds. Light along the vertical throws the shadow of cloth
and disk; with the areas of the disk, 254.5 cm^2, and the flat specimen, 706.9 cm^2,

    DC = (A_shadow - 254.5)/(706.9 - 254.5).

The disks hold the cloth by position and slope, so the ring is clamped, not laid over an edge. The
cloth between the disks does not move and is left out, except for a row of triangles whose middle is
the rim (a hinge at a row's edge stands for half an element on either side:
``docs/explanations/bending.md``).

As the shelf sinks it bears less and less of the weight. The simulation follows it by undamped
equilibria under growing parts of the weight. Each one starts from the equilibrium before it, with
bumps of a tenth of a millimeter, because no cloth is flat. Draped cloth has many equilibria, and a
coefficient differs by several points from one to another, in laboratories too: the standard takes
the mean of six. So does this test, with seeded bumps for chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import WeftError
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import unit_vectors
from weft.discretization.triangulate import triangulate_piece
from weft.energies.energy import Energy
from weft.fabric.fabric import Fabric
from weft.fabric.hysteresis import bending_friction
from weft.integrators.base import Memory
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.laboratory.plate import plate_friction, plate_hinges
from weft.plugins.lab.laboratory.shadow import Shadow, shadow
from weft.plugins.lab.laboratory.specimen import find_equilibrium, require, specimen_model

SPECIMEN, DISK = 0.15, 0.09  # [m] radii
LOADS = (0.1, 0.25, 0.5, 1.0)  # parts of the weight that the shelf no longer carries
BUMPS = 1e-4  # [m] unevenness of nominally flat cloth, root mean square at the border
WAVES = (2, 16)  # least and largest number of waves of the bumps around the ring
ON_THE_WAY = QuasiStaticSettings(3e-4, 1e-2, max_iterations=1000)
AT_LAST = QuasiStaticSettings(max_iterations=3000)


@dataclass(frozen=True, eq=False)
class Draping:
    """Result of one drape of a specimen."""

    x: Positions  # (n,3) [m]
    shadow: Shadow
    energy: float  # [J] elastic and of weight; 0 when flat
    iterations: int  # of Newton's method
    seed: int  # seed of its bumps

    @property
    def coefficient(self) -> float:
        """The drape coefficient, 1 when flat."""
        return drape_coefficient(self.shadow.area)

    @property
    def under(self) -> bool:
        """Return whether cloth swings in under the disk, where a tester's disk would stop it."""
        return bool(np.hypot(self.x[:, 0], self.x[:, 2]).min() < 0.9 * DISK)


@dataclass(frozen=True, eq=False)
class Cusick:
    """Result of the drape test, with all drapes of the specimen."""

    fabric: Fabric
    mesh: TriangleMesh
    drapings: Sequence[Draping]

    @property
    def coefficient(self) -> float:
        """The mean drape coefficient, 0 to 1."""
        return float(np.mean([d.coefficient for d in self.drapings]))

    @property
    def spread(self) -> float:
        """The standard deviation of the coefficient of one draping; 0 for a single one."""
        several = len(self.drapings) > 1
        return float(np.std([d.coefficient for d in self.drapings], ddof=int(several)))

    @property
    def nodes(self) -> float:
        """The mean number of folds."""
        return float(np.mean([d.shadow.nodes for d in self.drapings]))

    @property
    def typical(self) -> Draping:
        """The draping whose coefficient is nearest to the mean."""
        return min(self.drapings, key=lambda d: abs(d.coefficient - self.coefficient))


def drape_coefficient(area: float) -> float:
    """Return the drape coefficient of a shadow's area [m^2]."""
    disk, flat = np.pi * DISK**2, np.pi * SPECIMEN**2
    return float((area - disk) / (flat - disk))


def cusick(
    fabric: Fabric,
    size: float = 5e-3,
    drapings: int = 3,
    seed: int = 0,
    mesh_seed: int = 0,
    on_draping: Callable[[Draping], None] | None = None,
) -> Cusick:
    """Drape a fabric's specimen several times.

    Args:
        fabric: what to test.
        size: [m] of edges; 5 mm makes 2 200 vertices.
        drapings: number of drapes.
        seed: of the bumps; draping i has seed + i.
        mesh_seed: of the irregular mesh.
        on_draping: called after each.

    Returns:
        All drapes, with their mean coefficient.

    Raises:
        WeftError: a size or count out of range. FabricError: a fabric with no rigidity.
        SimulationError: no equilibrium was found.
    """
    if not (1e-3 <= size <= 15e-3):
        raise WeftError("size", got=f"{size:g} m", expected="1 mm to 15 mm, for a ring of 6 cm")
    if drapings < 1:
        raise WeftError("drapings", got=drapings, expected="at least 1")
    mesh, held, _ = specimen(size, mesh_seed)
    done = []
    for i in range(drapings):
        done.append(drape(fabric, mesh, held, seed + i))
        if on_draping is not None:
            on_draping(done[-1])
    return Cusick(fabric, mesh, done)


def drape(fabric: Fabric, mesh: TriangleMesh, held: Ints, seed: int) -> Draping:
    """Drape a specimen (``specimen``) once: the shelf goes down, with seeded bumps.

    Raises:
        FabricError: a fabric with no rigidity. SimulationError: no equilibrium was found.
    """
    for field in ("bending_warp", "bending_weft"):
        require(fabric, field, "a drape test", "its folds would have no size")
    bending: list[Energy] = [plate_hinges(mesh, (fabric.bending_warp, fabric.bending_weft))]
    if fabric.has_bending_friction:
        bending.append(plate_friction(mesh, *bending_friction(fabric)))
    rng, x, iterations = np.random.default_rng(seed), mesh.vertices, 0
    kept: Memory = {}
    for load in LOADS:
        model = specimen_model(mesh, fabric, [Pin(held)], bending, weight=load)
        settings = AT_LAST if load == LOADS[-1] else ON_THE_WAY
        what = f"drape of {fabric.name}, seed {seed}, under {load:.0%} of its weight"
        found = find_equilibrium(model, x + _bumps(mesh, rng), settings, what, kept)
        kept = found.phi.remember(found.x)
        x, iterations = found.x, iterations + found.counts.iterations
    energy = sum(found.phi.terms(x).values())
    seen = shadow(x, mesh.faces, mesh.groups["rim"], DISK)
    return Draping(x, seen, energy, iterations, seed)


def _bumps(mesh: TriangleMesh, rng: np.random.Generator) -> Positions:
    """Return (n,3) [m] waves around the ring that grow from the disk outwards.

    They are the same function on every mesh, so that a seed means the same draping.
    """
    u, v = mesh.vertices[:, 0], -mesh.vertices[:, 2]
    radius, angle = np.hypot(u, v), np.arctan2(v, u)
    k = np.arange(WAVES[0], WAVES[1] + 1)
    one, two = rng.normal(size=(2, len(k), 1))
    wave = (one * np.cos(k[:, None] * angle) + two * np.sin(k[:, None] * angle)).sum(0)
    out = np.clip((radius - DISK) / (SPECIMEN - DISK), 0.0, 1.0) ** 2
    bumps = np.zeros_like(mesh.vertices)
    bumps[:, 1] = BUMPS / np.sqrt(len(k)) * wave * out
    return bumps


def specimen(size: float, seed: int) -> tuple[TriangleMesh, Ints, Ints]:
    """Build the ring, flat on y = 0 about the origin, with the warp along +x.

    The clamped vertices are two circles, half a row inside and outside of the disk's rim.

    Args:
        size: [m] of edges, approximately.
        seed: of the irregular mesh.

    Returns:
        The mesh, whose group ``rim`` is its border in order; its clamped vertices; its free ones.
    """
    inner = DISK + size / 2
    border = _circle(SPECIMEN, size)
    hole = _circle(inner, size)
    piece = triangulate_piece(border, [hole], size, divide=False, seed=seed)
    uv, first = piece.vertex_uv, piece.groups["hole 0"]
    assert uv is not None
    n, k = len(uv), len(first)
    inside = np.arange(n, n + k)
    after, behind = np.roll(first, -1), np.roll(inside, -1)
    row = np.concatenate(
        [np.stack([inside, first, after], 1), np.stack([inside, after, behind], 1)]
    )
    uv = np.concatenate([uv, uv[first] * ((inner - size) / inner)])
    one, two = uv[row[:, 1]] - uv[row[:, 0]], uv[row[:, 2]] - uv[row[:, 0]]
    backward = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] < 0
    row[backward] = row[backward][:, ::-1]
    faces = np.concatenate([piece.faces, row]).astype(np.int32)
    x = np.stack([uv[:, 0], np.zeros(n + k), -uv[:, 1]], axis=1)
    held = np.concatenate([first, inside]).astype(np.int32)
    groups = {"rim": piece.groups["outline"], "held": held}
    mesh = TriangleMesh(x, faces, uv[faces], groups, f"Cusick specimen of {n + k} points")
    return mesh, held, np.setdiff1d(np.arange(n + k), held)


def _circle(radius: float, size: float) -> Floats:
    """Return (k,2) corners of a polygon with the area of the circle and edges of about ``size``."""
    k = max(round(2 * np.pi * radius / size), 8)
    turn = 2 * np.pi * np.arange(k) / k
    same_area = np.sqrt(2 * np.pi / (k * np.sin(2 * np.pi / k)))
    return np.asarray(same_area * radius * unit_vectors(turn))
