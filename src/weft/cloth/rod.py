"""``weft.rod``, which creates ropes, cords and wires, and the energies of a rod."""

import dataclasses
import math
from typing import Annotated

import numpy as np

from weft.base.arrays import ArrayArgument, ArrayOf
from weft.base.errors import MeshError
from weft.base.runtime_types import checked
from weft.base.settings import Force, MassPerLength, RodStiffness, Size
from weft.bodies.rigid.rigidity import Rigidity
from weft.cloth.cloth import Cloth
from weft.discretization.compound_surface import Surfaces
from weft.discretization.polygon import arc_lengths, interpolate_points
from weft.discretization.rod import RIGID, SIDES, Rod
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.fabric.fabric import Fabric

ROD_PIECES = 100_000  # most segments of a rod


@checked(MeshError)
def rod(
    along: Annotated[ArrayArgument, ArrayOf("numbers", ((None, 3),), "m")],
    size: Size = 0.02,
    *,
    diameter: Size,
    mass: MassPerLength,
    stretch: Force,
    bending: RodStiffness,
    twist: RodStiffness | None = None,
) -> Cloth:
    """Create a rope, cord or wire: a Cosserat rod (``discretization.rod``), straight at rest.

    It is a cloth whose triangles are a tube; the vertices at its ends are the groups ``start`` and
    ``end``. Its fabric has the numbers of the rod over the tube's perimeter: ``stretch_warp`` and
    ``bending_warp`` those of stretch and bending, ``bending_weft`` that of twist.

    Args:
        along: (k,3) [m] line along which it starts, without stretch and without twist.
        size: [m] length of a segment, at most.
        diameter: [m].
        mass: [kg/m].
        stretch: EA [N], force over strain.
        bending: EI [N m^2], moment over curvature.
        twist: GJ [N m^2], torque over angle and length, at most 2 EI; None: EI, a round rod of
            Poisson's ratio 0.

    Raises:
        MeshError: numbers out of range, or a line without length.
    """
    size, radius, bent = float(size), float(diameter) / 2, float(bending)
    turned = bent if twist is None else float(twist)
    if turned > 2 * bent:
        raise MeshError(
            "rod.twist", got=turned, expected=f"at most 2 x bending, {2 * bent:g} N m^2"
        )
    line = np.asarray(along, dtype=np.float64)
    far = arc_lengths(line)
    if len(line) < 2 or not (np.diff(far) > 0).all():
        raise MeshError(
            "rod.along", got=f"{len(line)} points", expected="two or more, all different"
        )
    count = max(math.ceil(far[-1] / size - 1e-9), 2)
    if count > ROD_PIECES:
        raise MeshError(
            "rod.size", got=size, expected=f"at most {ROD_PIECES} segments, not {count}"
        )
    centers = interpolate_points(np.linspace(0.0, far[-1], count + 1), far, line)
    surface = Rod(arc_lengths(centers), radius, 0, 4 * len(centers))
    made_of, p = Surfaces(surface.start(centers), [surface]), surface.perimeter
    stiff = float(stretch) / p
    fabric = Fabric(float(mass) / p, stiff, stiff, stiff, bent / p, turned / p, name="rod")
    mesh = made_of.shown.mesh(made_of.points, "rod")
    ring = np.arange(SIDES, dtype=np.int32)
    groups = {"start": ring, "end": ring + np.int32(SIDES * count)}
    return Cloth(dataclasses.replace(mesh, groups=groups), fabric, (), made_of)


def rod_energies(fabric: Fabric, surface: Rod) -> tuple[QuadraticForm, Rigidity]:
    """Build stretch, bending and twist of a rod with the numbers of its fabric, and what keeps its
    sections rigid.
    """
    p = surface.perimeter
    stretch = p * fabric.stretch_warp
    at = surface.strains(stretch, p * fabric.bending_warp, p * fabric.bending_weft)
    return (
        QuadraticForm(at.stencil, at.coefficient, at.weight, "rod", of_rest=False),
        Rigidity(
            surface.points, surface.directors, RIGID * stretch * surface.share, "rod sections"
        ),
    )
