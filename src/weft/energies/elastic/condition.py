"""Energies E = k/2 C^T C of the condition functions of Baraff & Witkin (1998).

The formulas are those of Pritchard (2012), on weft's samples and hinges. A condition of a triangle
is alpha times a function of F = [w_u w_v] (eqs. 2-12), so its energy is a membrane law weighted by
alpha^2 = a^(2p) in place of the area a. With p = 1/2 that *is* the finite element energy (Kim
2020); p = 1 is Baraff & Witkin's, p = 3/4 Pritchard's. Unless p = 1/2 the stiffness has other units
than N/m, and the behavior of the cloth depends on the mesh.
"""

import dataclasses
import enum
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.hinge_bending import HingeBending, material_share
from weft.energies.elastic.membrane import Membrane
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.shear import AngleShear, DotShear

POWERS = (1.0, 0.75, 0.5)  # p of alpha = a^p: 1998, Pritchard, finite elements


class Variant(enum.Enum):
    """Formulas of shear and bend: those of the body of Pritchard's notes, or of their appendix."""

    BODY = "body"  # shear w_u.w_v; bend with frozen lengths
    EXACT = "exact"  # shear of the unit axes; bend differentiated in full


@checked(LawError, "conditions")
@dataclass(frozen=True)
class Conditions:
    """Stiffness and variant of the conditions. The defaults are Pritchard's Table 1.

    Raises:
        LawError: a stiffness or rest stretch out of range, or another p.
    """

    stretch: tuple[float, float] = (5000.0, 5000.0)  # (u, v) [N/m] for p = 1/2
    shear: float = 500.0
    bend: tuple[float, float] = (1e-5, 1e-5)  # of edges along u and along v [J]
    rest_stretch: tuple[float, float] = (1.0, 1.0)
    p: float = 0.5
    variant: Variant = Variant.BODY
    damping: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [s] k_d/k of stretch, shear and bend

    def __post_init__(self) -> None:
        if self.p not in POWERS:
            raise LawError("conditions.p", got=self.p, expected="must be 1, 0.75 or 0.5")
        if not all(np.isfinite(k) and k >= 0 for k in self.bend):
            raise LawError("Conditions.bend", got=self.bend, expected="must be two numbers >= 0")


@checked(LawError, "conditions")
@documented
@dataclass(frozen=True)
class ConditionForm:
    """Baraff & Witkin's condition energies in Pritchard's (2012) form, in place of weft's law; the
    stiffness is that of the fabric.
    """

    p: float = setting(
        0.5,
        "of alpha = area^p: 1 (Baraff & Witkin), 0.75 (Freecloth) or 0.5 (finite elements, the "
        "only one that does not depend on the mesh)",
        choices=POWERS,
    )
    variant: Variant = setting(
        Variant.BODY,
        "body: shear w_u.w_v, bend with lengths held constant; exact: shear of the unit axes, bend "
        "differentiated in full",
    )
    bend: tuple[float, float] | None = setting(
        None, "k_bend of edges along warp and weft; none: the fabric's rigidity", "J", least=0
    )
    damping: tuple[float, float, float] | None = setting(
        None, "k_d/k of stretch, shear and bend; none: the scene's or the fabric's", "s", least=0
    )


@checked(LawError)
def condition_energies(
    mesh: TriangleMesh,
    c: Conditions,
    weight: Floats | None = None,
    rest_angle: Floats | None = None,
) -> tuple[Membrane, Membrane, FrozenLengthBending | HingeBending]:
    """Build the energies of stretch, shear and bend of a mesh.

    The equations are Pritchard's 13-18 (stretch), 19-23 or A.5-A.7 (shear), and 24-57 or A.8-A.13
    (bend).

    Args:
        mesh: the mesh.
        c: stiffness and variant.
        weight: (h,) [J] k_bend of every hinge, instead of ``c.bend``.
        rest_angle: (h,) [rad] where the bend condition is zero; None is flat.

    Returns:
        The energies of stretch, shear and bend.
    """
    stretch, shear = condition_membranes(linear_triangle(mesh), c)
    k = bend_stiffness(mesh, c.bend) if weight is None else weight
    rest = np.zeros(len(mesh.hinges)) if rest_angle is None else rest_angle
    kind = FrozenLengthBending if c.variant is Variant.BODY else HingeBending
    return stretch, shear, kind(mesh.hinges, k, rest, mesh.n_vertices, "bend", c.damping[2])


def condition_membranes(samples: Samples, c: Conditions) -> tuple[Membrane, Membrane]:
    """Build the energies of stretch and shear at any samples.

    The weights of the samples take the place of the triangles' areas.
    """
    samples = dataclasses.replace(samples, weight=samples.weight ** (2 * c.p))
    law = BaraffWitkin(c.stretch, 0.0, c.rest_stretch)
    stretch = Membrane(samples, law, name="stretch", damping=c.damping[0])
    shear = DotShear(c.shear) if c.variant is Variant.BODY else AngleShear(c.shear)
    return stretch, Membrane(samples, shear, name="shear", damping=c.damping[1])


def bend_stiffness(mesh: TriangleMesh, bend: tuple[float, float]) -> Floats:
    """Return k_bend by the direction of each edge, (h,): (k_u du^2 + k_v dv^2)/(du^2 + dv^2)."""
    return np.asarray((material_share(mesh) * bend).sum(-1).mean(1))
