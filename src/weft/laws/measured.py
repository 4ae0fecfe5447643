"""Law with measured stress-strain curves along warp and weft.

    psi(F) = W_warp(|f0| - b0) + W_weft(|f1| - b1) + 1/2 ks (f0 . f1)^2

W is the integral of a curve of force per width over strain in tension (``base/curve.py``), and k/2
e^2 with a constant stiffness in compression, as ``baraff_witkin`` has it; the shear is that of
``baraff_witkin`` too. With straight curves the two laws are equal. W is convex: along a fiber the
Hessian has W'' >= 0, across it W'/|f|, which PROJECTED clamps where the fiber is compressed (Kim
2020, eqs. 21-26).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import warp as wp

from weft.base.arrays import Floats
from weft.base.curve import MOST_POINTS, Curve
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32
from weft.laws.baraff_witkin import shear_hessian
from weft.laws.base import SingleLaw
from weft.laws.fiber import columns, from_columns, guarded_length, stretch_hessian
from weft.laws.functions import LawFunctions

if TYPE_CHECKING:
    Knots = Any
else:
    Knots = wp.types.vector(length=MOST_POINTS, dtype=Scalar)


@wp.func
def last_knot(x: Scalar, e: Knots, count: int):
    """Return the index of the last knot that is not beyond x.

    The loop is in a function of its own because Warp cannot reverse it inside ``on_curve``.
    """
    k = int(0)
    while k < count - 1 and e[k + 1] < x:
        k += 1
    return k


@wp.func
def on_curve(x: Scalar, e: Knots, s: Knots, d: Knots, w: Knots, compression: Scalar, count: int):
    """Return energy density, force and stiffness at the strain x.

    Below 0 the stiffness is ``compression``. Above 0 the force is a cubic Hermite polynomial
    between knots with strain e, force s, slope d and work w, and a straight line beyond the last
    knot.
    """
    work = Scalar(0.5) * compression * x * x
    force = compression * x
    stiffness = compression
    if x > Scalar(0.0):
        k = last_knot(x, e, count)
        u = x - e[k]
        if k == count - 1:
            work = w[k] + u * (s[k] + Scalar(0.5) * d[k] * u)
            force = s[k] + d[k] * u
            stiffness = d[k]
        else:
            h = e[k + 1] - e[k]
            m = (s[k + 1] - s[k]) / h
            c2 = (Scalar(3.0) * m - Scalar(2.0) * d[k] - d[k + 1]) / h
            c3 = (d[k] + d[k + 1] - Scalar(2.0) * m) / (h * h)
            force = s[k] + u * (d[k] + u * (c2 + u * c3))
            stiffness = d[k] + u * (Scalar(2.0) * c2 + Scalar(3.0) * c3 * u)
            half = Scalar(0.5) * d[k]
            third = c2 / Scalar(3.0)
            work = w[k] + u * (s[k] + u * (half + u * (third + Scalar(0.25) * c3 * u)))
    return work, force, stiffness


@wp.struct
class MeasuredParams:
    """Curves as knots, stiffness in compression and shear [N/m], stretch at rest [1]."""

    strain_warp: Knots
    force_warp: Knots
    slope_warp: Knots
    work_warp: Knots
    strain_weft: Knots
    force_weft: Knots
    slope_weft: Knots
    work_weft: Knots
    points_warp: wp.int32
    points_weft: wp.int32
    compression_warp: Scalar
    compression_weft: Scalar
    shear: Scalar
    rest_warp: Scalar
    rest_weft: Scalar


@wp.func
def at_warp(length: Scalar, p: MeasuredParams):
    """Return energy density, force and stiffness of the warp with this stretch."""
    w, s, k = on_curve(
        length - p.rest_warp,
        p.strain_warp,
        p.force_warp,
        p.slope_warp,
        p.work_warp,
        p.compression_warp,
        p.points_warp,
    )
    return w, s, k


@wp.func
def at_weft(length: Scalar, p: MeasuredParams):
    """Return energy density, force and stiffness of the weft with this stretch."""
    w, s, k = on_curve(
        length - p.rest_weft,
        p.strain_weft,
        p.force_weft,
        p.slope_weft,
        p.work_weft,
        p.compression_weft,
        p.points_weft,
    )
    return w, s, k


@wp.func
def psi(F: mat32, p: MeasuredParams):
    """Return the energy density."""
    f0, f1 = columns(F)
    l0, _a0, _o0, _c0 = guarded_length(wp.length(f0))
    l1, _a1, _o1, _c1 = guarded_length(wp.length(f1))
    w0, _s0, _k0 = at_warp(l0, p)
    w1, _s1, _k1 = at_weft(l1, p)
    I6 = wp.dot(f0, f1)
    return w0 + w1 + Scalar(0.5) * p.shear * I6 * I6


@wp.func
def pk1(F: mat32, p: MeasuredParams):
    """Return the first Piola-Kirchhoff stress."""
    f0, f1 = columns(F)
    l0, _a0, o0, _c0 = guarded_length(wp.length(f0))
    l1, _a1, o1, _c1 = guarded_length(wp.length(f1))
    _w0, s0, _k0 = at_warp(l0, p)
    _w1, s1, _k1 = at_weft(l1, p)
    I6 = p.shear * wp.dot(f0, f1)
    P0 = (s0 * o0) * f0 + I6 * f1
    P1 = (s1 * o1) * f1 + I6 * f0
    return from_columns(P0, P1)


@wp.func
def hessian(F: mat32, p: MeasuredParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), each term exact, clamped or Gauss-Newton."""
    f0, f1 = columns(F)
    l0, _a0, _o0, _c0 = guarded_length(wp.length(f0))
    l1, _a1, _o1, _c1 = guarded_length(wp.length(f1))
    _w0, s0, k0 = at_warp(l0, p)
    _w1, s1, k1 = at_weft(l1, p)
    uu, uv, vv = shear_hessian(f0, f1, wp.dot(f0, f1), psd)
    uu = p.shear * uu + stretch_hessian(f0, s0, k0, psd)
    vv = p.shear * vv + stretch_hessian(f1, s1, k1, psd)
    return uu, p.shear * uv, vv


@checked(LawError)
@documented
@dataclass(frozen=True, eq=False, repr=False)
class Measured(SingleLaw):
    """Measured curves along warp and weft, with a linear shear.

    Raises:
        LawError: curves that fall, or a number out of range.
    """

    curves: tuple[Any, Any] = setting(
        REQUIRED, "of warp and weft, each a ``Curve`` or its points (strain, N/m)"
    )
    shear: float = setting(REQUIRED, "ks", "N/m", least=0)
    compression: tuple[float, float] | None = setting(
        None,
        "stiffness of warp and weft; None: that of the curves at the origin, or where these begin "
        "without any, to their first point",
        "N/m",
        above=0,
    )
    rest_stretch: tuple[float, float] = setting((1.0, 1.0), "(bu, bv) at rest", "1", above=0)
    functions = LawFunctions("measured", MeasuredParams, psi, pk1, hessian)

    @staticmethod
    def through(
        curves: tuple[Any, Any],
        stretch: tuple[float, float],
        shear: float,
        rest: tuple[float, float] = (1.0, 1.0),
    ) -> "Measured":
        """Return the law of two curves; a curve that is None is straight with ``stretch`` [N/m].

        Args:
            curves: of warp and weft; None: a straight one.
            stretch: [N/m] stiffness of warp and weft, of straight curves and in compression.
            shear: [N/m] ks.
            rest: stretch of warp and weft at rest.
        """
        made = [Curve([(0.01, 0.01 * k)]) if c is None else c for c, k in zip(curves, stretch)]
        return Measured((made[0], made[1]), shear, stretch, rest)

    def __post_init__(self) -> None:
        curves = tuple(c if isinstance(c, Curve) else Curve(c) for c in self.curves)
        object.__setattr__(self, "curves", curves)
        if self.compression is None:
            first = [c.slopes[0] or c.points[0][1] / c.points[0][0] for c in curves]
            object.__setattr__(self, "compression", tuple(float(k) for k in first))

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``MeasuredParams``."""
        assert self.compression is not None
        out: dict[str, Any] = {"shear": self.shear}
        for k, word in enumerate(("warp", "weft")):
            names = (f"{part}_{word}" for part in ("strain", "force", "slope", "work"))
            out.update(zip(names, self.curves[k].pad()))
            out[f"points_{word}"] = len(self.curves[k].points) + 1
            out[f"compression_{word}"] = self.compression[k]
            out[f"rest_{word}"] = self.rest_stretch[k]
        return out
