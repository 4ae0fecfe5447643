"""The membrane law that a fabric's numbers, curves or tables are of."""

from weft.fabric.fabric import Fabric
from weft.laws import BaraffWitkin, DataDriven, Law, Measured


def default_law(fabric: Fabric) -> Law:
    """Return the law of a fabric's tables or curves, or else Baraff & Witkin's of its stiffness."""
    if fabric.arcsim is not None:
        return data_driven(fabric)
    if fabric.is_measured:
        return measured(fabric)
    return BaraffWitkin(stretch_of(fabric), fabric.shear, rest_of(fabric))


def measured(fabric: Fabric) -> Measured:
    """Return the law of a fabric's curves; it is linear where the fabric has none."""
    curves = (fabric.curve_warp, fabric.curve_weft)
    return Measured.through(curves, stretch_of(fabric), fabric.shear, rest_of(fabric))


def data_driven(fabric: Fabric) -> DataDriven:
    """Return the law of a fabric's ARCSim tables; without any it is linear in Green's strain."""
    warp, weft = stretch_of(fabric)
    if fabric.arcsim is None:
        return DataDriven([[warp, 0.0, weft, 2 * fabric.shear]] * 6)
    return DataDriven(fabric.arcsim.stiffnesses((warp, weft), fabric.shear))


def stretch_of(fabric: Fabric) -> tuple[float, float]:
    """Return the stiffness of warp and weft [N/m]."""
    return fabric.stretch_warp, fabric.stretch_weft


def rest_of(fabric: Fabric) -> tuple[float, float]:
    """Return the stretch of warp and weft at rest [1]."""
    return fabric.rest_stretch_warp, fabric.rest_stretch_weft
