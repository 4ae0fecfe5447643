"""Membrane laws that a scene file may name, with the stiffness of a fabric.

They are registered by name (``weft.extensions``, kind ``laws``): functions of a fabric and of the
unit directions of warp and weft in the material.
"""

import warnings
from typing import Literal

from weft import extensions
from weft.base.errors import SceneError, check_known
from weft.fabric.fabric import Fabric
from weft.fabric.law import data_driven, measured, rest_of, stretch_of
from weft.laws import (
    Arap,
    BaraffWitkin,
    DotShear,
    ImmediateBuckling,
    Law,
    NeoHookean,
    StVK,
    StvkShear,
)

LAWS: tuple[str, ...] = tuple(extensions.names("laws"))
LawName = Literal[LAWS]  # type: ignore[valid-type]
Yarns = tuple[float, float]
SKEWED = ("baraff_witkin", "no_shear", "stvk_shear")  # laws with yarn directions


def law_of_fabric(
    fabric: Fabric,
    name: str = "baraff_witkin",
    warp: tuple[float, float] = (1.0, 0.0),
    weft: tuple[float, float] = (0.0, 1.0),
) -> Law:
    """Return a membrane law with a fabric's stiffness.

    ``arap`` takes the place of the stretch terms, as in Kim 2020, and keeps the shear; it and the
    other isotropic laws have one stiffness, the mean of warp and weft (k = 2 mu, lambda = 0).
    ``immediate_buckling`` has diagonals of 4 times the shear stiffness, which give the same shear
    modulus. ``measured`` has the fabric's curves, and ``data_driven`` its ARCSim tables; both are
    linear where the fabric has none, in the strain and in Green's strain.

    Args:
        fabric: stiffness.
        name: one of LAWS.
        warp: direction of the warp in the material, any length.
        weft: direction of the weft.

    Raises:
        SceneError: an unknown name, or yarn directions for a law that has none.
    """
    check_known(name, LAWS, "law", SceneError)
    aligned = tuple(warp) == (1.0, 0.0) and tuple(weft) == (0.0, 1.0)
    if name not in SKEWED and not aligned:
        raise SceneError(
            "law.warp, law.weft", got=f"with law {name}", expected=f"one of {', '.join(SKEWED)}"
        )
    law: Law = extensions.find("laws", name)(fabric, *(_unit(a) for a in (warp, weft)))
    return law


def baraff_witkin(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the law of Baraff and Witkin."""
    return _yarns(fabric, fabric.shear, warp, weft)


def no_shear(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the stretch terms of Baraff and Witkin's law alone."""
    return _yarns(fabric, 0.0, warp, weft)


def stvk_shear(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the stretch terms of Baraff and Witkin's law, with the fourth power of the shear."""
    return _yarns(fabric, 0.0, warp, weft) + StvkShear(fabric.shear, **_fibers(warp, weft))


def arap(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the rotation-invariant stretch of Kim 2020, with the shear of Baraff and Witkin."""
    _tell_mean("arap", fabric)
    return Arap(_mean_stretch(fabric)) + DotShear(fabric.shear)


def stvk(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the isotropic law of St. Venant and Kirchhoff."""
    _tell_mean("stvk", fabric, shear=0.5 * _mean_stretch(fabric))
    return StVK(0.5 * _mean_stretch(fabric))


def neo_hookean(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the isotropic Neo-Hookean law."""
    _tell_mean("neo_hookean", fabric, shear=0.5 * _mean_stretch(fabric))
    return NeoHookean(0.5 * _mean_stretch(fabric))


def immediate_buckling(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the tension-only springs of Choi and Ko."""
    diagonal = 4 * fabric.shear
    return ImmediateBuckling(stretch_of(fabric), (diagonal, diagonal), rest_of(fabric))


def measured_law(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the law of the fabric's curves."""
    return measured(fabric)


def data_driven_law(fabric: Fabric, warp: Yarns, weft: Yarns) -> Law:
    """Return the law of the fabric's ARCSim tables."""
    return data_driven(fabric)


def _yarns(fabric: Fabric, shear: float, warp: Yarns, weft: Yarns) -> BaraffWitkin:
    return BaraffWitkin(stretch_of(fabric), shear, rest_of(fabric), **_fibers(warp, weft))


def _fibers(warp: Yarns, weft: Yarns) -> dict[str, Yarns]:
    """Return yarn directions as keywords; none along the axes."""
    aligned = warp == (1.0, 0.0) and weft == (0.0, 1.0)
    return {} if aligned else {"warp": warp, "weft": weft}


def _mean_stretch(fabric: Fabric) -> float:
    warp, weft = stretch_of(fabric)
    return 0.5 * (warp + weft)


def _tell_mean(name: str, fabric: Fabric, shear: float | None = None) -> None:
    """Warn that a law has one stiffness for warp and weft, if the fabric has two, and a shear
    stiffness [N/m] of its own (None: the fabric's).
    """
    (warp, weft), mean = stretch_of(fabric), _mean_stretch(fabric)
    told = []
    if warp != weft:
        told.append(f"{mean:.4g} N/m for warp and weft ({fabric.name}: {warp:.4g} and {weft:.4g})")
    if shear is not None and shear != fabric.shear:
        told.append(
            f"a shear stiffness of {shear:.4g} N/m ({fabric.name}: {fabric.shear:.4g}) with "
            "Poisson's ratio 0"
        )
    if told:
        warnings.warn(
            f"law {name} uses {' and '.join(told)}; `baraff_witkin` uses the fabric's numbers",
            stacklevel=3,
        )


def _unit(a: tuple[float, float]) -> tuple[float, float]:
    length = float((a[0] ** 2 + a[1] ** 2) ** 0.5)
    if not length > 0:
        raise SceneError("law direction", got=a, expected="two numbers, not both zero")
    return a[0] / length, a[1] / length
