"""Kernels of pairs of vertices: energy, force and Hessian of a function of their distance.

A pair is a buckled arc below the distance ``start`` (over the rest length), and a linear spring
above it: one that only pushes, or, of damping, one that pushes and pulls.
"""

import warp as wp

from weft.energies.buckled_arc import arc
from weft.kernel import Scalar, mat33, vec3
from weft.laws.fiber import guarded_length

_module = wp.get_module("weft.pairs")


@wp.struct
class Pair:
    """Parameters of a pair; r is the distance over ``length``."""

    length: Scalar  # [m] L
    arc: Scalar  # [J] e = k (A_i + A_l)/L^2
    spring: Scalar  # [J] C of C/2 (r - rest)^2
    rest: Scalar  # [1]
    start: Scalar  # [1] r below which the pair is an arc; < 0: never
    offset: Scalar  # [J] that makes the energy continuous there
    pulls: Scalar  # not 0: the spring pulls too


@wp.func
def of_distance(r: Scalar, p: Pair):
    """E, dE/dr, d2E/dr2."""
    energy = Scalar(0.0)
    force = Scalar(0.0)
    stiffness = Scalar(0.0)
    if r < p.start:
        energy, force, stiffness = arc(r)
        energy = p.arc * energy + p.offset
        force *= p.arc
        stiffness *= p.arc
    elif r < p.rest or p.pulls != Scalar(0.0):
        d = r - p.rest
        energy = Scalar(0.5) * p.spring * d * d
        force = p.spring * d
        stiffness = p.spring
    return energy, force, stiffness


@wp.kernel(module=_module)
def pair_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    pair: wp.array(dtype=Pair),
    out: wp.array(dtype=Scalar),
):
    """E of every pair."""
    i = o + wp.tid()
    p = pair[i]
    d = wp.length(x[stencil[i, 1]] - x[stencil[i, 0]])
    r, _s, _q, _c = guarded_length(d / p.length)
    energy, _force, _stiffness = of_distance(r, p)
    out[i] = energy


@wp.kernel(module=_module)
def pair_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    pair: wp.array(dtype=Pair),
    out: wp.array2d(dtype=vec3),
):
    """dE/dx of both vertices of every pair."""
    i = o + wp.tid()
    p = pair[i]
    e = (x[stencil[i, 1]] - x[stencil[i, 0]]) / p.length
    r, _slope, slope_over_r, _c = guarded_length(wp.length(e))
    _energy, force, _stiffness = of_distance(r, p)
    g = (force * slope_over_r / p.length) * e
    out[i, 0] = -g
    out[i, 1] = g


@wp.kernel(module=_module)
def pair_hessian(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    pair: wp.array(dtype=Pair),
    psd: int,
    out: wp.array(dtype=mat33),
):
    """d2E/dx2 of the second vertex: that of the pair is K (1, -1; -1, 1).

    PROJECTED clamps both eigenvalues: along the pair, where it is >= 0 already, and across, where a
    compressed pair has dE/dd / d < 0 (Choi & Ko 2002). GAUSS_NEWTON drops the one across.
    """
    i = o + wp.tid()
    p = pair[i]
    e = (x[stencil[i, 1]] - x[stencil[i, 0]]) / p.length
    s = wp.length(e)
    r, slope, slope_over_r, second = guarded_length(s)
    _energy, force, stiffness = of_distance(r, p)
    along = stiffness * slope * slope + force * second
    across = force * slope_over_r
    if psd != 0:
        along = wp.max(along, Scalar(0.0))
        across = wp.max(across, Scalar(0.0))
    if psd == 2:
        across = Scalar(0.0)
    n = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if s > Scalar(0.0):
        n = e / s
    K = across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)
    out[i] = K / (p.length * p.length)


@wp.kernel(module=_module)
def add_pair_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    block: wp.array2d(dtype=wp.int32),
    local: wp.array(dtype=mat33),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += K of the pairs around v, and -K in the column of the other vertex."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        K = local[element[m]]
        for b in range(2):
            if b == place[m]:
                values[block[m, b]] += K
            else:
                values[block[m, b]] -= K


@wp.kernel(module=_module)
def freeze_pairs(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    pair: wp.array(dtype=Pair),
    scale: Scalar,
    out: wp.array(dtype=Pair),
):
    """Springs of ``scale`` times the pairs' stiffness, at rest at x: their damping in a step."""
    i = o + wp.tid()
    p = pair[i]
    d = wp.length(x[stencil[i, 1]] - x[stencil[i, 0]])
    r, _s, _q, _c = guarded_length(d / p.length)
    _energy, _force, stiffness = of_distance(r, p)
    spring = Pair()
    spring.length = p.length
    spring.spring = scale * wp.max(stiffness, Scalar(0.0))
    spring.rest = r
    spring.start = -Scalar(1.0)
    spring.pulls = Scalar(1.0)
    out[i] = spring
