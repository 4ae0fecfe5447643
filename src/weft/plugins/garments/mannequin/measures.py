"""Measures of a figure: girths and lengths of a person, their defaults and their bounds.

Defaults of height, chest, waist and hips are a common size of clothes (EN 13402-3: a woman's bust
88, waist 72, hips 96 cm; a man's chest 100, waist 88 cm, with hips that weft chooses). All other
measures follow from these by the proportions of ANSUR II (Gordon et al., 2012 Anthropometric Survey
of U.S. Army Personnel: Methods and Summary Statistics, NATICK/TR-15/007, 2014; public domain):
lengths from the height, girths of legs from the hips, girths of arms from the chest. They are
ratios of means over all 6068 people measured, or over the 4082 men and 1986 women if these differ.
Departures: thighs are 4 % slimmer, so that they leave a gap; neck and shoulders grow a little with
a chest that is large for the height.

A child's proportions follow from its height: means of about 4 000 children by age, both sexes
(Snyder et al., Anthropometry of Infants, Children, and Youths to Age 18 for Product Safety Design,
UM-HSRI-77-17, 1977, for the U.S. Consumer Product Safety Commission; tables published by NIST as
AnthroKids, math.nist.gov/~SRessler/anthrokids).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from weft.base.errors import MannequinError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, Size, documented, setting, settings_by_field
from weft.base.trees import YamlMapping
from weft.base.yaml_lines import read_yaml
from weft.plugins.garments.bodies.body_measures import HEIGHTS

CHILDREN = Path(__file__).with_name("children.yaml")
FIGURES = ("woman", "man", "child")

# Default height, chest, waist and hips [m].
SIZES: Mapping[str, tuple[float, float, float, float]] = {
    "woman": (1.68, 0.88, 0.72, 0.96),
    "man": (1.76, 1.00, 0.88, 1.00),
    "child": (1.10, 0.557, 0.513, 0.568),
}
TALLEST_CHILD = 1.65  # [m]
# Least measures of adults [m]; those of the fields are a child's.
ADULTS: Mapping[str, float] = {
    "height": 1.40,
    "chest": 0.70,
    "waist": 0.50,
    "hips": 0.72,
    "neck": 0.26,
    "shoulders": 0.28,
    "inseam": 0.60,
    "arm": 0.42,
    "thigh": 0.38,
    "calf": 0.26,
    "upper_arm": 0.20,
}
# Bounds of ratios of girths; beyond these, no smooth torso has both girths.
RATIOS = (("waist", "chest", 0.55, 1.25), ("waist", "hips", 0.5, 1.2), ("chest", "hips", 0.7, 1.4))

# ANSUR II: means [mm] of women and men, and means over all (1714.41 mm: mean stature of all).
STATURE = {"woman": 1628.5, "man": 1756.2}
NECK = {"woman": 330.1, "man": 397.6}
BIACROMIAL = {"woman": 365.3, "man": 415.7}
CHEST_HEIGHT = {"woman": 1178.0, "man": 1288.0}
INSEAM_OVER_HEIGHT = HEIGHTS["crotch"]
FOOT_OVER_HEIGHT = 263.03 / 1714.41
ARM_OVER_HEIGHT = (327.37 + 259.19) / 1714.41  # acromion to radiale, to stylion
SLIM = 0.96  # factor of thigh girths, so that there is a gap between the thighs
THIGH_OVER_HIPS = 622.20 / 1020.08
CALF_OVER_HIPS = 386.04 / 1020.08
UPPER_ARM_OVER_CHEST = 0.92 * 340.93 / 1022.10  # flexed in the survey; a hanging arm has 8 % less

# Snyder et al.: parts of the stature of the oldest group (17.5 to 19 years), which the two surveys
# measure in different ways: a child's are in proportion to those of ANSUR II.
GROWN = {"legs": 81.5 / 170.9, "arm": 63.3 / 170.9}


@checked(MannequinError, "mannequin")
@documented
@dataclass(frozen=True)
class Measures:
    """Measures of a figure; every length may be text with a unit.

    Beyond their bounds the shapes between the girths are no longer a person's.

    Raises:
        MannequinError: an unknown figure, a measure out of its bounds, or girths that do not go
            together.
        UnitError: text that is no length.
    """

    figure: str = setting(REQUIRED, "shape and proportions", choices=FIGURES)
    height: float = setting(
        REQUIRED, "from the floor to the top of the head", "m", least=0.90, most=2.10
    )
    chest: float = setting(
        REQUIRED, "girth at the fullest part of the bust or chest", "m", least=0.42, most=1.40
    )
    waist: float = setting(
        REQUIRED, "girth between the lowest rib and the hip bone", "m", least=0.35, most=1.35
    )
    hips: float = setting(
        REQUIRED, "girth at the fullest part of the buttocks", "m", least=0.42, most=1.45
    )
    neck: float = setting(REQUIRED, "girth of the neck", "m", least=0.18, most=0.52)
    shoulders: float = setting(
        REQUIRED,
        "breadth between the ends of the shoulder blades (biacromial)",
        "m",
        least=0.17,
        most=0.50,
    )
    inseam: float = setting(REQUIRED, "from the floor to the crotch", "m", least=0.36, most=1.00)
    arm: float = setting(
        REQUIRED, "from the end of the shoulder to the wrist", "m", least=0.25, most=0.75
    )
    thigh: float = setting(
        REQUIRED, "girth of the thigh, just below the crotch", "m", least=0.22, most=0.80
    )
    calf: float = setting(REQUIRED, "girth of the calf", "m", least=0.16, most=0.52)
    upper_arm: float = setting(REQUIRED, "girth of the upper arm", "m", least=0.12, most=0.45)

    def __post_init__(self) -> None:
        if self.figure == "child" and self.height > TALLEST_CHILD:
            hint = "a woman or a man"
            self._refuse("height", f"0.9 to {TALLEST_CHILD:g} m of a child", hint)
        for name, least in () if self.figure == "child" else ADULTS.items():
            if getattr(self, name) < least:
                self._refuse(name, f">= {least:g} m of a {self.figure}", "`figure: child`")
        for one, two, low, high in RATIOS:
            ratio = getattr(self, one) / getattr(self, two)
            if not low <= ratio <= high:
                raise MannequinError(
                    f"mannequin.{one}",
                    got=f"{getattr(self, one):.4g} m with {two} {getattr(self, two):.4g} m",
                    expected=f"{low:g} to {high:g} times {two}",
                )
        low, high = 0.40 if self.figure == "child" else 0.43, 0.53
        if not low <= self.inseam / self.height <= high:
            raise MannequinError(
                "mannequin.inseam",
                got=f"{self.inseam:.4g} m at a height of {self.height:.4g} m",
                expected=f"{low * self.height:.3g} to {high * self.height:.3g} m",
            )

    def _refuse(self, name: str, expected: str, hint: str) -> None:
        got = f"{getattr(self, name):.4g} m"
        raise MannequinError(f"mannequin.{name}", got=got, expected=expected, hint=hint)

    @property
    def unit(self) -> float:
        """The factor of lengths that are drawn for an adult and follow from no measure."""
        return self.height / SIZES["man"][0] if self.figure == "child" else 1.0

    @property
    def foot_growth(self) -> float:
        """A foot's length over that of an adult with the same inseam."""
        if self.figure != "child":
            return 1.0
        grown = FOOT_OVER_HEIGHT / INSEAM_OVER_HEIGHT * self.inseam
        return child_mean("foot", self.height) / grown

    @property
    def head(self) -> float:
        """The mean height [m] of the head of a child, from the chin to the top."""
        return child_mean("head", self.height)


@cache
def child_means() -> YamlMapping:
    """Return the means [cm] of measures of children by name, as ``children.yaml`` has them."""
    means: YamlMapping = read_yaml(CHILDREN, "table of children", MannequinError).value
    return means


def child_mean(name: str, height: float) -> float:
    """Return the mean [m] of a measure of children of a height [m]: a part of the height, which is
    linear between the means, and constant below the smallest ones.
    """
    tall, mean = child_means()["height"], child_means()[name]
    return height * float(np.interp(100 * height, tall, np.divide(mean, tall)))


LENGTHS = tuple(name for name in settings_by_field(Measures) if name != "figure")


@checked(MannequinError, "mannequin")
def measures_of(figure: str = "woman", **given: Size | None) -> Measures:
    """Return the measures of a figure; those that are not given, or None, follow from the tables.

    Args:
        figure: ``woman``, ``man`` or ``child``.
        given: [m] any of the lengths of ``Measures``.

    Raises:
        MannequinError: an unknown figure or measure, or values that ``Measures`` refuses.
        UnitError: text that is no length.
    """
    check_known(figure, FIGURES, "mannequin.figure", MannequinError)
    for name in given:
        check_known(name, LENGTHS, "mannequin", MannequinError)
    said = {k: float(v) for k, v in given.items() if v is not None}
    if figure == "child":
        return Measures(figure, **(_child_measures(said.get("height", SIZES[figure][0])) | said))
    names = ("height", "chest", "waist", "hips")
    tall = said.get("height", SIZES[figure][0])
    growth = tall / SIZES[figure][0]
    size = {n: said.get(n, growth * v) for n, v in zip(names, SIZES[figure])}
    height, chest, hips = size["height"], size["chest"], size["hips"]
    stout = chest / (growth * SIZES[figure][1])  # necks and shoulders grow with height and chest
    rest = {
        "neck": NECK[figure] / STATURE[figure] * height * math.sqrt(stout),
        "shoulders": BIACROMIAL[figure] / STATURE[figure] * height * stout**0.3,
        "inseam": INSEAM_OVER_HEIGHT * height,
        "arm": ARM_OVER_HEIGHT * height,
        "thigh": SLIM * THIGH_OVER_HIPS * hips,
        "calf": CALF_OVER_HIPS * hips,
        "upper_arm": UPPER_ARM_OVER_CHEST * chest,
    }
    return Measures(figure, **{**size, **rest, **said})


def _child_measures(height: float) -> dict[str, float]:
    """Return the mean measures [m] of children of a height [m]."""
    names = ("chest", "waist", "hips", "neck", "shoulders", "thigh", "calf", "legs", "arm")
    mean = {name: child_mean(name, height) for name in names}
    return {"height": height} | {
        **{name: mean[name] for name in names if name not in GROWN},
        "thigh": SLIM * mean["thigh"],
        "inseam": INSEAM_OVER_HEIGHT / GROWN["legs"] * mean["legs"],
        "arm": ARM_OVER_HEIGHT / GROWN["arm"] * mean["arm"],
        "upper_arm": UPPER_ARM_OVER_CHEST * mean["chest"],
    }
