"""Fit of the solids to the requested girths, by a fixed-point iteration over measured girths."""

import dataclasses

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MannequinError
from weft.plugins.garments.bodies.sections import hull_perimeter
from weft.plugins.garments.mannequin.joints import Levels, rest_joints
from weft.plugins.garments.mannequin.limbs import limbs, thigh_width
from weft.plugins.garments.mannequin.measures import Measures
from weft.plugins.garments.mannequin.solids import Union
from weft.plugins.garments.mannequin.torso import Factors, torso

RAYS = 72  # rays around a cut
CLOSE, ROUNDS = 5e-4, 25  # [m] tolerance of girths; limit of the fixed-point iteration
ARMS = ("arm", "hand")  # parts that no girth of the trunk includes


@dataclasses.dataclass(frozen=True, eq=False)
class FigureShape:
    """Solids and joints of a figure in its rest pose."""

    measures: Measures
    union: Union
    joints: Floats  # (J,3) [m]


def fit_shape(m: Measures, size: float) -> FigureShape:
    """Return the shape whose chest, waist and hips have the requested girths.

    The neck is as near to its own girth as head and shoulders allow.

    Args:
        m: the requested measures.
        size: [m] edge length of the later mesh; no part is much thinner.

    Raises:
        MannequinError: girths that no such shape has.
    """
    factors, at = Factors(), Levels(m)
    joints = rest_joints(m, thigh_width(m))
    asked = np.array([m.chest, m.waist, m.hips, m.neck])
    heights = [at["chest"], at["waist"], at["hips"], at["throat"]]
    found = asked
    for _ in range(ROUNDS):
        trunk = _unite(m, factors, joints, size).without(*ARMS)
        found = np.array([girth_at(trunk, y) for y in heights])
        if np.abs(found - asked)[:3].max() < CLOSE:
            break
        new = np.array(dataclasses.astuple(factors)) * np.clip(asked / found, 0.7, 1.4)
        new[3] = np.clip(new[3], 0.6, 1.6)
        factors = Factors(*(float(f) for f in new))
    else:
        worst = int(np.argmax(np.abs(found - asked)[:3]))
        name = ("chest", "waist", "hips")[worst]
        raise MannequinError(
            f"mannequin.{name}",
            got=f"{asked[worst]:.4g} m",
            expected=f"about {found[worst]:.3g} m with the other measures",
            hint="thighs may be too large for the hips" if name == "hips" else None,
        )
    return FigureShape(m, _unite(m, factors, joints, size), joints)


def _unite(m: Measures, factors: Factors, joints: Floats, size: float) -> Union:
    """Return the union of all solids of a figure, with blends as wide as its size asks for."""
    solids = [*torso(m, factors), *limbs(m, joints, size)]
    return Union([dataclasses.replace(s, blend=m.unit * s.blend) for s in solids])


def girth_at(shape: Union, y: float) -> float:
    """Return the girth [m] at height y [m]: the perimeter of the convex hull of the cut."""
    return hull_perimeter(cross_section(shape, y))


def cross_section(shape: Union, y: float, rays: int = RAYS) -> Floats:
    """Return the points (rays,2) [m], x and z, where rays from the middle leave the shape.

    The outermost of 31 samples inside is found first, then the surface by bisection.

    Args:
        shape: the solids.
        y: [m] height of the cut.
        rays: number of rays.
    """
    angle = 2 * np.pi * np.arange(rays) / rays
    ahead = np.stack([np.cos(angle), np.zeros(rays), np.sin(angle)], axis=1)
    start = np.array([0.0, y, 0.0])
    radii = np.linspace(0.0, 0.45, 31)
    points = (start + radii[:, None, None] * ahead).reshape(-1, 3)
    inside = (shape.distance(points) < 0).reshape(len(radii), rays)
    last = len(radii) - 1 - np.argmax(inside[::-1], axis=0)  # the outermost sample inside
    low = radii[last]
    high = low + radii[1]
    near = shape.near(start + low[:, None] * ahead, radii[1])
    for _ in range(13):
        middle = 0.5 * (low + high)
        out = shape.distance(start + middle[:, None] * ahead, near) >= 0
        low, high = np.where(out, low, middle), np.where(out, middle, high)
    return np.asarray((0.5 * (low + high)[:, None] * ahead)[:, [0, 2]])
