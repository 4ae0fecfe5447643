"""Kernels of added mass: the flow at faces and at border edges, and its gather to vertices.

weft's ``tests/reference/added_mass.py`` has the same in NumPy.
"""

import warp as wp

from weft.energies.air.lift_and_drag import ClothSamples, relative_velocity, tangents
from weft.kernel import (
    IntArray,
    Mat33Array,
    Scalar,
    ScalarArray,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    mat33,
    vec2,
    vec3,
)

_module = wp.get_module("weft_air.added_mass")

TINY = wp.constant(Scalar(1e-300))  # lower bound of divisors that may vanish


@wp.struct
class SampleFlow:
    """Flow of the air at a sample."""

    normal: vec3
    area: Scalar  # ratio of deformed to rest area
    across: Scalar  # [m/s]
    way: vec2  # [1/s]
    stream: vec3  # [m^2/s]
    turned: vec3  # [m/s^2] n.dv/dc n + w_n dn/dt


@wp.func
def flow_at(q: int, x: Vec3Array, v: Vec3Array, air: Vec3Array, s: ClothSamples):
    """Return the flow at sample q of cloth at x that moves with v."""
    f0, f1 = tangents(q, x, s)
    g0, g1 = tangents(q, v, s)
    w = relative_velocity(q, v, air, s)
    out = SampleFlow()
    normal = wp.cross(f0, f1)
    out.area = wp.length(normal)
    n = normal / wp.max(out.area, TINY)
    out.normal = n
    out.across = wp.dot(n, w)
    along = out.across * n - w
    uu = wp.dot(f0, f0)
    uv = wp.dot(f0, f1)
    vv = wp.dot(f1, f1)
    det = uu * vv - uv * uv
    over = Scalar(0.0)
    if det > Scalar(0.0):
        over = Scalar(1.0) / det
    i0 = over * (vv * f0 - uv * f1)  # rows of (F^T F)^-1 F^T
    i1 = over * (uu * f1 - uv * f0)
    out.way = vec2(wp.dot(i0, along), wp.dot(i1, along))
    t0 = wp.dot(n, g0)
    t1 = wp.dot(n, g1)
    shear = t0 * out.way[0] + t1 * out.way[1]
    out.turned = shear * n - out.across * (t0 * i0 + t1 * i1)
    pressed = Scalar(0.5) * out.across * out.across / wp.max(wp.dot(along, along), TINY)
    out.stream = out.across * n + pressed * along
    return out


@wp.kernel(module=_module)
def faces(
    o: int,
    x: Vec3Array,
    v: Vec3Array,
    air: Vec3Array,
    s: ClothSamples,
    mu: Scalar,
    own: Mat33Array,
    local: Vec3Array2d,
):
    """Compute the mass mu A/3 n n^T of each face at a vertex, and minus the forces on vertices."""
    q = o + wp.tid()
    f = flow_at(q, x, v, air, s)
    mass = mu * s.weight[q] * f.area
    share = mass / Scalar(3.0)
    own[q] = share * wp.outer(f.normal, f.normal)
    for a in range(s.stencil.shape[1]):
        carried = mass * wp.dot(s.dN[q, a], f.way)
        local[q, a] = share * f.turned - carried * f.stream


@wp.kernel(module=_module)
def edges(
    o: int,
    x: Vec3Array,
    v: Vec3Array,
    air: Vec3Array,
    s: ClothSamples,
    outward: Vec2Array,
    mu: Scalar,
    local: Vec3Array2d,
):
    """Compute minus the forces of momentum that leaves at each edge."""
    q = o + wp.tid()
    f = flow_at(q, x, v, air, s)
    leaving = mu * f.area * wp.max(wp.dot(f.way, outward[q]), Scalar(0.0))
    for a in range(s.stencil.shape[1]):
        local[q, a] = (s.N[q, a] * leaving) * f.stream


@wp.kernel(module=_module)
def gather_masses(
    o: int, start: IntArray, element: IntArray, own: Mat33Array, scale: Scalar, M: Mat33Array
):
    """Compute M[i], ``scale`` times the sum over the faces around i."""
    i = o + wp.tid()
    sum = mat33(Scalar(0.0))
    for m in range(start[i], start[i + 1]):
        sum += own[element[m]]
    M[i] = scale * sum


@wp.kernel(module=_module)
def energies(
    o: int,
    x: Vec3Array,
    M: Mat33Array,
    y: Vec3Array,
    load: Vec3Array,
    origin: Vec3Array,
    out: ScalarArray,
):
    """Compute (x - y).M (x - y)/2 + load.(x - origin) of every vertex."""
    i = o + wp.tid()
    d = x[i] - y[i]
    out[i] = Scalar(0.5) * wp.dot(d, M[i] * d) + wp.dot(load[i], x[i] - origin[i])


@wp.kernel(module=_module)
def add_gradients(o: int, x: Vec3Array, M: Mat33Array, y: Vec3Array, load: Vec3Array, g: Vec3Array):
    """Add M (x - y) + load to g."""
    i = o + wp.tid()
    g[i] += M[i] * (x[i] - y[i]) + load[i]


@wp.kernel(module=_module)
def add_blocks(o: int, diagonal: IntArray, M: Mat33Array, values: Mat33Array):
    """Add M to the diagonal blocks."""
    i = o + wp.tid()
    values[diagonal[i]] += M[i]
