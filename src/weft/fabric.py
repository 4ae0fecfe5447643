"""Fabric: what a laboratory measures of a cloth, in SI. Presets stand in ``fabrics/*.yaml``, each number with its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from weft.errors import FabricError, UnitError
from weft.units import to_si

UNITS: Mapping[str, str] = {
    "density": "kg/m^2",
    "stretch_warp": "N/m",
    "stretch_weft": "N/m",
    "shear": "N/m",
    "bending_warp": "N*m",
    "bending_weft": "N*m",
    "thickness": "m",
    "damping": "s",
    "rest_stretch_warp": "1",
    "rest_stretch_weft": "1",
}


@dataclass(frozen=True)
class Fabric:
    """A fabric in SI units.

    Raises:
        FabricError: a value out of range.
    """

    density: float  # [kg/m^2] mass per area
    stretch_warp: float  # [N/m] force per width and strain, along the warp
    stretch_weft: float  # [N/m]
    shear: float  # [N/m] shear force per width and radian
    bending_warp: float  # [N m] moment per width and curvature, of bending the warp yarns
    bending_weft: float  # [N m]
    thickness: float = 5e-4  # [m]
    damping: float = 0.0  # [s] time constant of stiffness-proportional damping
    rest_stretch_warp: float = 1.0  # [1] stretch at which the warp carries no force
    rest_stretch_weft: float = 1.0  # [1]
    name: str = "custom"
    title: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)  # field -> where the number comes from

    def __post_init__(self) -> None:
        positive = (
            "density",
            "stretch_warp",
            "stretch_weft",
            "thickness",
            "rest_stretch_warp",
            "rest_stretch_weft",
        )
        for name, unit in UNITS.items():
            value = getattr(self, name)
            bound = "must be > 0" if name in positive else "must be >= 0"
            fine = np.isfinite(value) and (value > 0 if name in positive else value >= 0)
            if not fine:
                raise FabricError(
                    f"fabric.{name}",
                    got=f"{value:g} {unit}",
                    expected=bound,
                    hint="`weft fabrics` lists typical values",
                )


@lru_cache(maxsize=1)
def preset_names() -> tuple[str, ...]:
    """Names of the fabrics that weft ships."""
    folder = resources.files("weft") / "fabrics"
    return tuple(
        sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))
    )
