"""Mixed derivatives of the barrier: of its gradient by the stiffness, gap and thickness of every
pair.

With y = D - xi^2 and Y = dhat (dhat + 2 xi), forces are linear in k b and k b', and

    db/dY = 2 (y - Y) ln(y/Y) + (y - Y)^2/Y
    db'/dY = 2 ln(y/Y) - Y/y + 1 - (Y - y) (2/Y + 1/y)

They also give the derivatives of the normal forces that friction uses (``load_changes``).
"""

import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.barrier.barrier import (
    BarrierArray,
    BarrierParameters,
    barrier,
    mollify,
    spread,
    width,
)
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import closest, combination
from weft.kernel import IntArray2d, Scalar, Vec3Array, Vec3Array2d, WarpArray, corners, vec3


@wp.kernel(module=wp.get_module("weft.contact.barrier.by_constants"))
def barrier_mixed(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    change: BarrierArray,
    out: Vec3Array2d,
):
    """Write the derivative of dE/dx of every pair in the direction ``change`` of its parameters."""
    i = o + wp.tid()
    t = touch[i]
    h = change[i]
    two = Scalar(2.0)
    a, b, c, d = corners(i, x, stencil)
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    y = wp.max(wp.dot(v, v) - t.thickness * t.thickness, Scalar(1e-300))
    Y = width(t)
    value, slope, second = barrier(y, Y)
    dy = -two * t.thickness * h.thickness
    dY = two * ((t.gap + t.thickness) * h.gap + t.gap * h.thickness)
    dvalue = slope * dy
    dslope = second * dy
    if y < Y:
        logarithm = wp.log(y / Y)
        dvalue += dY * (y - Y) * (two * logarithm + (y - Y) / Y)
        dslope += dY * (
            two * logarithm - Y / y + Scalar(1.0) - (Y - y) * (two / Y + Scalar(1.0) / y)
        )
    dvalue = h.stiffness * value + t.stiffness * dvalue
    dslope = h.stiffness * slope + t.stiffness * dslope
    m, dm = mollify(t, a, b, c, d)
    spread(i, p, v, two * m * dslope, two * dvalue * dm, b - a, d - c, out)


def gradient_changes(
    contacts: ContactSet,
    x: Positions | WarpArray,
    stiffness: Floats | float = 0.0,
    gap: Floats | float = 0.0,
    thickness: Floats | float = 0.0,
) -> WarpArray:
    """Return the change of dE/dx of the pairs of a set, (m,4) vec3 [N] on the device.

    Args:
        contacts: the set.
        x: (n,3) [m] positions.
        stiffness: (m,), or one for all, change of the stiffness [J/m^4].
        gap: (m,), or one for all, change of the gap [m].
        thickness: (m,), or one for all, change of the thickness [m].
    """
    numbers = {"stiffness": stiffness, "gap": gap, "thickness": thickness}
    change = kernel.array(
        kernel.records(BarrierParameters, len(contacts), **numbers), BarrierParameters
    )
    out = kernel.empty((len(contacts), 4), vec3)
    return contacts.evaluate(barrier_mixed, kernel.points(x), out, after=(change,))
