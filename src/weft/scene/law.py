"""Membrane laws that a scene file may name, with the stiffness of a fabric."""

from typing import Literal, get_args

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

LawName = Literal[
    "baraff_witkin",
    "arap",
    "stvk_shear",
    "no_shear",
    "stvk",
    "neo_hookean",
    "immediate_buckling",
    "measured",
    "data_driven",
]
LAWS: tuple[str, ...] = get_args(LawName)
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
    stretch, rest = stretch_of(fabric), rest_of(fabric)
    k = 0.5 * (stretch[0] + stretch[1])
    diagonal = 4 * fabric.shear
    without_fibers: dict[str, Law] = {
        "arap": Arap(k) + DotShear(fabric.shear),
        "stvk": StVK(0.5 * k),
        "neo_hookean": NeoHookean(0.5 * k),
        "immediate_buckling": ImmediateBuckling(stretch, (diagonal, diagonal), rest),
        "measured": measured(fabric),
        "data_driven": data_driven(fabric),
    }
    if name in without_fibers:
        return without_fibers[name]
    fibers: dict[str, tuple[float, float]] = (
        {} if aligned else {"warp": _unit(warp), "weft": _unit(weft)}
    )
    shear = fabric.shear if name == "baraff_witkin" else 0.0
    law: Law = BaraffWitkin(stretch, shear, rest, **fibers)
    return law + StvkShear(fabric.shear, **fibers) if name == "stvk_shear" else law


def _unit(a: tuple[float, float]) -> tuple[float, float]:
    length = float((a[0] ** 2 + a[1] ** 2) ** 0.5)
    if not length > 0:
        raise SceneError("law direction", got=a, expected="two numbers, not both zero")
    return a[0] / length, a[1] / length
