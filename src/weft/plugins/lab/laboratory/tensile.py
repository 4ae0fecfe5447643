"""Tensile test of a strip (ISO 13934-1's shape, KES-FB1's small loads): force per width at strains.

A strip of 20 cm by 5 cm, cut along the warp, the weft or the bias (45 degrees), is held at its ends
and pulled. Along warp and weft Baraff & Witkin's law gives k times the strain, because it has no
contraction across. On the bias the threads turn towards the pull and the strip narrows; the force
is that of ``weft validate bias`` except for the ends, which may not narrow. The strip is kept flat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import WeftError
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh, grid
from weft.discretization.polygon import rotation_matrix
from weft.energies.elastic.hinge_bending import HingeBending
from weft.fabric.fabric import Fabric
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.laboratory.specimen import find_equilibrium, require, specimen_model

Cut = Literal["warp", "weft", "bias"]

CUTS: Sequence[Cut] = ("warp", "weft", "bias")
TURN = {"warp": 0.0, "weft": np.pi / 2, "bias": np.pi / 4}  # [rad] between warp and pull
LENGTH, WIDTH = 0.2, 0.05  # [m] between the jaws
SLENDER = 20.0  # length over width, at most
STRAINS = {
    "warp": (0.005, 0.01, 0.02, 0.03, 0.04, 0.05),
    "weft": (0.005, 0.01, 0.02, 0.03, 0.04, 0.05),
    "bias": (0.01, 0.02, 0.04, 0.06, 0.08, 0.1),
}
CELLS = 8  # across
EXACT_ENOUGH = QuasiStaticSettings(1e-8, 1e-6, imperfection=0.0)


@dataclass(frozen=True, eq=False)
class Tensile:
    """Result of the tensile test of one cut."""

    cut: Cut
    strain: Floats  # (k,)
    force: Floats  # (k,) [N/m] per width
    narrowing: Floats  # (k,) width lost in the middle, over the width

    @property
    def stiffness(self) -> float:
        """The stiffness [N/m]: the chord to the first strain."""
        return float(self.force[0] / self.strain[0])


def tensile(
    fabric: Fabric,
    cut: Cut,
    strains: Sequence[float] | None = None,
    size: tuple[float, float] = (LENGTH, WIDTH),
) -> Tensile:
    """Pull a strip to a sequence of strains.

    Args:
        fabric: what to test.
        cut: direction of the strip's length in the fabric.
        strains: > 0, each more than the one before; None: ``STRAINS``.
        size: [m] length between the jaws and width.

    Returns:
        Strains, forces and narrowing.

    Raises:
        WeftError: strains that do not grow, a strip too wide or too narrow.
        FabricError: no shear stiffness, on the bias. SimulationError: no equilibrium.
    """
    if cut == "bias":
        require(fabric, "shear", "a pull on the bias", "its threads would turn freely")
    pulls = np.array(STRAINS[cut] if strains is None else strains, dtype=np.float64)
    if pulls.ndim != 1 or len(pulls) == 0 or not (np.diff(pulls, prepend=0.0) > 0).all():
        raise WeftError(
            "strains", got=pulls.tolist(), expected="above 0, each larger than the last"
        )
    if not 0 < size[1] <= size[0] <= SLENDER * size[1]:
        raise WeftError(
            "size",
            got=f"{size[0]:g} by {size[1]:g} m",
            expected=f"1 to {SLENDER:g} times longer than wide",
        )
    mesh = _strip(cut, size)
    left, right = mesh.groups["left"], mesh.groups["right"]
    bending = HingeBending.of(mesh, (fabric.bending_warp, fabric.bending_weft))
    middle = np.isclose(mesh.vertices[:, 0], 0.0)
    x, stretched, forces, narrowing = mesh.vertices, 0.0, [], []
    for strain in pulls:
        x = x * [(1 + strain) / (1 + stretched), 1.0, 1.0]
        pin = Pin(np.concatenate([left, right]))
        model = specimen_model(mesh, fabric, [pin], [bending], weight=0, start=x)
        found = find_equilibrium(
            model, x, EXACT_ENOUGH, f"{cut} strip of {fabric.name} at {strain:.1%}"
        )
        x, stretched = found.x, float(strain)
        forces.append(abs(float(found.phi.reaction(x)[right, 0].sum())) / size[1])
        narrowing.append(1 - float(np.ptp(x[middle, 2])) / size[1])
    return Tensile(cut, pulls, np.array(forces), np.array(narrowing))


def _strip(cut: Cut, size: tuple[float, float]) -> TriangleMesh:
    """Return a strip along +x whose material coordinates are turned."""
    along = 2 * round(CELLS * size[0] / size[1] / 2)  # even: points at the middle
    flat = grid(along + 1, CELLS + 1, *size, "alternating")
    uv = flat.corner_uv @ rotation_matrix(TURN[cut])
    return TriangleMesh(flat.vertices, flat.faces, uv, flat.groups, f"{cut} strip")
