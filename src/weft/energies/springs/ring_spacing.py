"""Spacing of rings on one rail: neighbors closer than a given distance push each other apart.

    E = phi(w - (s_j - s_i)),   phi(e) = 0 where e < 0, k e^3/(6 o) up to the onset o,
    k (e - o/2)^2/2 + k o^2/24 beyond

s is the length along the rail of a ring's foot, so the push is along the rail, and C2 in s. The
distance is signed: rings that have passed one another are pushed back, so they keep their order.
This is the law of ropes with the coordinate s_i - s_j and the length -w. The second derivative of s
is zero between the nodes of a rail.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.springs.distance import RailFoot, foot_on
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.spring import (
    CoordinateFunctions,
    Curvature,
    SpringEnergy,
    SteppedSpring,
    spring_kernels,
)
from weft.energies.springs.spring_law import SPRING, SpringNumbers
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec3Array,
    WarpArray,
    WarpStruct,
    mat33,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

ONSET = 0.1  # part of the distance within which the push becomes stiff


@wp.struct
class Neighbors:
    """Parameters of pairs of neighbors; the rail is as in ``distance.AttachedPoints``."""

    c: ScalarArray2d  # (q,2k) weights of the points of both rings
    rail: Vec3Array
    nodes: ScalarArray2d
    along: ScalarArray
    low: ScalarArray2d  # (q,2) [m] part of the rail on which the feet are searched
    high: ScalarArray2d
    law: wp.array(dtype=SpringNumbers)


@wp.struct
class FeetOfPair:
    """Feet of two neighbors, and s_i - s_j."""

    q: vec2
    first: RailFoot
    second: RailFoot


@wp.func
def foot_of(side: int, q: int, x: Vec3Array, stencil: IntArray2d, p: Neighbors):
    """Return the foot of one ring of pair q."""
    k = stencil.shape[1] / 2
    A = vec3(Scalar(0.0))
    for a in range(side * k, (side + 1) * k):
        A += p.c[q, a] * x[stencil[q, a]]
    return foot_on(A, p.low[q, side], p.high[q, side], q, x, stencil, p)


@wp.func
def measure(q: int, x: Vec3Array, stencil: IntArray2d, p: Neighbors):
    """Return s_i - s_j of pair q."""
    m = FeetOfPair()
    m.first = foot_of(0, q, x, stencil, p)
    m.second = foot_of(1, q, x, stencil, p)
    m.q = vec2(m.first.s - m.second.s, Scalar(0.0))
    return m


@wp.func
def slope(c: int, m: FeetOfPair, q: int, a: int, p: Neighbors):
    """Return the derivative of s_i - s_j by point a."""
    if a < p.c.shape[1] / 2:
        return p.c[q, a] * m.first.step / m.first.size * m.first.t
    return -p.c[q, a] * m.second.step / m.second.size * m.second.t


@wp.func
def curvature(c: int, m: FeetOfPair, q: int, a: int, b: int, p: Neighbors):
    """Return zero."""
    return mat33(Scalar(0.0))


@dataclass(frozen=True, eq=False)
class RingSpacing(SpringEnergy):
    """Spacing energy of neighboring rings of an attachment.

    Args:
        rings: the attachment, on a rail that is not part of a rigid body.
        pairs: (q,2) neighbors, in the order of the rail.
        apart: [m] distance that they keep.
        stiffness: (q,) [N/m].
        name: of the energy.
    """

    rings: PointSprings
    pairs: Ints
    apart: float
    stiffness: Floats
    name: str = "spacing"
    damping = 0.0

    kernels = spring_kernels(
        "spacing",
        Neighbors,
        CoordinateFunctions(1, measure, slope, curvature),
        SPRING,
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.DROPPED),
    )

    @property
    def onset(self) -> float:
        """Distance [m] within which the push becomes stiff."""
        return ONSET * self.apart

    @cached_property
    def stencil(self) -> Ints:
        """Points of both rings of each pair, (q,2k)."""
        return np.concatenate([self.rings.stencil[ids] for ids in self.pairs.T], axis=1)

    @cached_property
    def _weights(self) -> WarpArray:
        """Weights of the points of both rings of each pair, (q,2k)."""
        return kernel.array(np.concatenate([self.rings.c[i] for i in self.pairs.T], axis=1), Scalar)

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters at the end of a step, of the rings that are on the rail."""
        rings, t = self.rings.parameters(step), 0.0 if step is None else step.t
        holds = self.rings.holding(t, {} if step is None else step.memory)
        p = Neighbors()
        p.c, p.rail, p.nodes, p.along = self._weights, rings.rail, rings.nodes, rings.along
        p.low, p.high = (
            kernel.array(kernel.numpy(b)[self.pairs], Scalar) for b in (rings.low, rings.high)
        )
        p.law = self.records(
            stiffness=self.stiffness,
            length=-self.apart,
            onset=self.onset,
            pulls=1,
            holds=holds[self.pairs].all(axis=1),
            slip=1.0,
        )
        return p

    @property
    def constants(self) -> ByName:
        """Constants by name: distance [m] and stiffness [N/m]."""
        return {
            "apart": repeat_per_element(self.apart, len(self.pairs)),
            "stiffness": self.stiffness,
        }

    @property
    def structure(self) -> object:
        """Data besides the constants: the rings and the pairs of neighbors."""
        return self.rings.structure, self.pairs

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,); the onset changes with the distance."""
        p = self.track(self.parameters(step))
        self.pull_back_gradient(x, by, p)
        law = self.derivatives(p)
        return {"apart": ONSET * law["onset"] - law["length"], "stiffness": law["stiffness"]}

    def bind(self, pattern: BlockPattern) -> SteppedSpring:
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return SteppedSpring(self, pattern)
