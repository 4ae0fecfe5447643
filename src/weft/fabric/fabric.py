"""The ``Fabric`` class: the numbers that a laboratory measures of a cloth, in SI.

Presets are stored in ``fabrics/*.yaml``. Every number has a source, which begins with its origin:
``measured: ...`` in a laboratory, ``published: ...`` as the constant of a paper or a trade name,
``estimated: ...`` by us from what is known of such cloth.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.curve import Curve
from weft.base.errors import FabricError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, Accepts, documented, setting, settings_by_field
from weft.base.trees import YamlMapping
from weft.fabric.arcsim import ArcsimTables

MOST_PRESETS = 20  # length of a chain of presets that refer to presets
ORIGINS = ("measured", "published", "estimated")
CURVES = ("curve_warp", "curve_weft")  # fields with a curve in place of a number
NEEDED = {  # fields that have a meaning only together with one of the listed fields
    "crease_hardening": ("crease_yield",),
    "crease_recovery": ("crease_yield",),
    "crease_lasting": ("crease_recovery",),
    "yield_hardening": ("yield_warp", "yield_weft"),
    "bending_slip": ("bending_hysteresis_warp", "bending_hysteresis_weft"),
    "shear_slip": ("shear_hysteresis",),
}
FAR = 5.0  # factor outside the range of all presets from which a number raises a warning


CurveLike = Accepts(Curve | Sequence[tuple[float, float]] | None)


@checked(FabricError, "fabric map")
@dataclass(frozen=True)
class FabricMap:
    """A map of a fabric's number: it is that of the fabric where painted weights are 0, goes to
    another linearly, and is that one where they are 1.

    Args:
        weights: name of painted weights of the mesh.
        to: the number where they are 1, in SI.
    """

    weights: str
    to: float


@checked(FabricError, "fabric")
@documented
@dataclass(frozen=True, repr=False)
class Fabric:
    """A fabric in SI units.

    ``maps`` are the numbers that change over the cloth, by their field (``FabricMap``): where the
    painted weights are 0 a number is that of the field.

    Raises:
        FabricError: a value out of range, or a map of a field that has none.
    """

    units_required: ClassVar[bool] = True  # in files

    density: float = setting(REQUIRED, "mass per area", "kg/m^2", above=0)
    stretch_warp: float = setting(
        REQUIRED, "force per width and strain, along the warp", "N/m", above=0
    )
    stretch_weft: float = setting(
        REQUIRED, "force per width and strain, along the weft", "N/m", above=0
    )
    shear: float = setting(
        REQUIRED, "shear force per width and radian", "N/m", least=0, per_angle=True
    )
    bending_warp: float = setting(
        REQUIRED,
        "moment per width and curvature, of bending the warp yarns",
        "N*m",
        least=0,
    )
    bending_weft: float = setting(
        REQUIRED, "the same moment, of bending the weft yarns", "N*m", least=0
    )
    thickness: float = setting(5e-4, "", "m", above=0)
    damping: float = setting(0.0, "time constant of stiffness-proportional damping", "s", least=0)
    rest_stretch_warp: float = setting(1.0, "stretch of the warp without force", "1", above=0)
    rest_stretch_weft: float = setting(1.0, "the same number for the weft", "1", above=0)
    name: str = "custom"
    title: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)  # source of each field's number
    limit_warp: float | None = setting(
        None, "upper limit of the strain of the warp; none: no limit", "1"
    )
    limit_weft: float | None = setting(None, "the same number for the weft", "1")
    limit_shear: float | None = setting(
        None, "upper limit of the angle of shear", "rad", above=0, below=np.pi / 2
    )
    # curves of force per width over strain, used instead of stretch_warp and stretch_weft
    curve_warp: Annotated[Curve | None, CurveLike] = None
    curve_weft: Annotated[Curve | None, CurveLike] = None
    crease_yield: float | None = setting(
        None,
        "elastic curvature above which bending leaves a crease",
        "1/m",
        least=0,
    )
    crease_hardening: float | None = setting(
        None,
        "hardening of the moment after yield: the fraction 1/(1 + hardening) of further bending "
        "remains",
        "1",
        least=0,
    )
    crease_recovery: float | None = setting(
        None,
        "time constant with which creases recover; none: they do not recover",
        "s",
        above=0,
    )
    crease_lasting: float | None = setting(
        None, "fraction of a crease that never recovers, 0 to 1", "1", least=0, most=1
    )
    yield_warp: float | None = setting(
        None, "strain above which the stretch of the warp is permanent", "1", least=0
    )
    yield_weft: float | None = setting(
        None, "strain above which the stretch of the weft is permanent", "1", least=0
    )
    yield_hardening: float | None = setting(
        None,
        "hardening of the force after yield: the fraction 1/(1 + hardening) of further stretch "
        "remains",
        "1",
        least=0,
    )
    bending_hysteresis_warp: float | None = setting(
        None,
        "internal friction: width of the loop of moment per width over curvature (2HB of KES), of "
        "bending the warp yarns",
        "N",
        least=0,
    )
    bending_hysteresis_weft: float | None = setting(
        None, "the same moment, of bending the weft yarns", "N", least=0
    )
    bending_slip: float | None = setting(
        None,
        "half of the curvature over which the loop changes sides; none: 15 1/m",
        "1/m",
        above=0,
    )
    shear_hysteresis: float | None = setting(
        None,
        "internal friction: width of the loop of force per width over angle (2HG of KES)",
        "N/m",
        least=0,
    )
    shear_slip: float | None = setting(
        None, "half of the angle over which the loop changes sides; none: 0.5 deg", "rad", above=0
    )

    maps: Mapping[str, FabricMap] | None = None
    # tables of stiffness over direction, strain and curvature, that the numbers above scale
    arcsim: ArcsimTables | None = None
    # fields and numbers [SI] that were compared with those of all presets when they were read
    compared: frozenset[tuple[str, float]] = field(default=frozenset(), compare=False)

    def __repr__(self) -> str:
        title = f" ({self.title})" if self.title else ""
        return (
            f"Fabric {self.name!r}{title}: {self.density:.4g} kg/m^2, {1e3 * self.thickness:.3g} "
            f"mm, damping {self.damping:g} s\n  stretch {self.stretch_warp:g} / "
            f"{self.stretch_weft:g} N/m, shear {self.shear:g} N/m, bending "
            f"{self.bending_warp:.3g} / {self.bending_weft:.3g} N*m (warp / weft)"
        )

    def painted(self) -> Iterator[tuple[str, "Fabric"]]:
        """Yield the names of painted weights, each with the fabric where they are 1 and all others
        are 0.
        """
        ends: dict[str, dict[str, float]] = {}
        for name, painted in (self.maps or {}).items():
            ends.setdefault(painted.weights, {})[name] = painted.to
        for weights, numbers in ends.items():
            yield weights, replace(self, maps=None, **numbers)  # type: ignore[arg-type]

    @property
    def numbers(self) -> list[tuple[str, float]]:
        """The fields that every fabric has, with their values [SI] and those of their maps."""
        maps = [(name, m.to) for name, m in (self.maps or {}).items() if name in UNITS]
        return [*((name, getattr(self, name)) for name in UNITS), *maps]

    def number(
        self, name: str, weights: Callable[[str], Floats], otherwise: float = 0.0
    ) -> float | Floats:
        """Return a number of the fabric, as its map has it: one for every element if it has one.

        Args:
            name: of the field.
            weights: function that returns painted weights (m,) of elements by their name.
            otherwise: the number of a field that is None.
        """
        value, painted = getattr(self, name), (self.maps or {}).get(name)
        if painted is not None:
            return np.asarray(value + (painted.to - value) * weights(painted.weights))
        return otherwise if value is None else float(value)

    @property
    def thickest(self) -> float:
        """The largest thickness [m] that the fabric has anywhere."""
        return max([self.thickness, *(f.thickness for _, f in self.painted())])

    @property
    def is_limited(self) -> bool:
        """True if the fabric has a limit that its strain never exceeds."""
        return any(getattr(self, name) is not None for name in LIMITS)

    @property
    def is_measured(self) -> bool:
        """True if the fabric has a measured stress-strain curve, or ARCSim's tables."""
        return any(getattr(self, name) is not None for name in (*CURVES, "arcsim"))

    @property
    def has_yield_strain(self) -> bool:
        """True if the fabric has a yield strain beyond which its stretch is permanent."""
        return self.yield_warp is not None or self.yield_weft is not None

    @property
    def without_friction(self) -> "Fabric":
        """This fabric without internal friction."""
        maps = {name: m for name, m in (self.maps or {}).items() if name not in FRICTION}
        return replace(self, **dict.fromkeys(FRICTION, None), maps=maps or None)  # type: ignore[arg-type]

    @property
    def has_bending_friction(self) -> bool:
        """True if the fabric has internal friction in bending."""
        bending = (self.bending_hysteresis_warp, self.bending_hysteresis_weft)
        return any(number is not None for number in bending)

    @property
    def remembers(self) -> bool:
        """True if the fabric keeps creases or a permanent stretch, or has internal friction."""
        numbers = (self.crease_yield, self.shear_hysteresis)
        kept = any(number is not None for number in numbers)
        return kept or self.has_yield_strain or self.has_bending_friction

    @classmethod
    def of(cls, value: "FabricLike") -> "Fabric":
        """Build a fabric from a preset's name, a .yaml file, or fields with units, as in YAML.

        Raises:
            FabricError: a name or field is unknown, or a value is missing or negative.
            UnitError: a value has no unit, or one of another dimension.
        """
        return fabric(value)

    def origin(self, field: str) -> str:
        """Return the origin of a field's number: ``measured``, ``published`` (the constant of a
        paper or a trade name), ``estimated``, ``given`` (by the user) or ``default``.
        """
        if field not in self.sources:
            return "default"
        word = self.sources[field].split(":")[0]
        return word if word in ORIGINS else "given"

    def __post_init__(self) -> None:
        self._check_limits()
        self._check_memory()
        self._check_tables()
        for name in self.maps or {}:
            if name not in MAPPED or getattr(self, name) is None:
                raise FabricError(
                    f"fabric.{name}",
                    got="a map",
                    expected="one number for all of the cloth",
                    hint=f"a number that can have a map: {', '.join(MAPPED)}",
                )
        if self.maps:  # the numbers of the maps are checked, alone and together
            list(self.painted())
            replace(self, maps=None, **{name: m.to for name, m in self.maps.items()})  # type: ignore[arg-type]

    def _check_tables(self) -> None:
        """Check that nothing stands beside ARCSim's tables that these replace."""
        rest = (self.rest_stretch_warp, self.rest_stretch_weft) != (1.0, 1.0)
        for name in ("rest_stretch", *CURVES, "crease_yield"):
            given = rest if name == "rest_stretch" else getattr(self, name) is not None
            if self.arcsim is not None and given:
                raise FabricError(
                    f"fabric.{name}", got="with arcsim", expected="only one of the two"
                )

    def _check_limits(self) -> None:
        """Check that limits are larger than the strain at rest, and convert points to curves."""
        rest = {"limit_warp": self.rest_stretch_warp - 1, "limit_weft": self.rest_stretch_weft - 1}
        for name, least in rest.items():
            value = getattr(self, name)
            if value is not None and not value > least:
                raise FabricError(
                    f"fabric.{name}",
                    got=value,
                    expected=f"must be > {least:g}",
                    hint="the strain at rest, at which the fiber carries no force",
                )
        for name in CURVES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, Curve):
                object.__setattr__(self, name, Curve(value))

    def _check_memory(self) -> None:
        """Check that every field that depends on another one comes with it."""
        for name, needed in NEEDED.items():
            value = getattr(self, name)
            if value is not None and all(getattr(self, other) is None for other in needed):
                raise FabricError(
                    f"fabric.{name}", got=f"{value:g}", expected=f"{' or '.join(needed)} beside it"
                )


SETTINGS = settings_by_field(Fabric)
_UNIT = {name: about.unit for name, about in SETTINGS.items()}
# units of the numbers of every fabric, and of those that may be None
UNITS: Mapping[str, str] = {k: u for k, u in _UNIT.items() if getattr(Fabric, k, 0) is not None}
OPTIONAL: Mapping[str, str] = {k: u for k, u in _UNIT.items() if k not in UNITS}
# Fields whose number may change over the cloth; a step freezes one damping for all of an energy,
# and forces of friction are linear in its other numbers.
MAPPED = tuple(n for n in _UNIT if n != "damping" and not n.endswith("slip"))
LIMITS: Mapping[str, str] = {k: u for k, u in OPTIONAL.items() if k.startswith("limit")}
HYSTERESIS: Mapping[str, str] = {k: u for k, u in OPTIONAL.items() if "hysteresis" in k}
FRICTION = (*HYSTERESIS, "bending_slip", "shear_slip")


@lru_cache(maxsize=1)
def preset_names() -> tuple[str, ...]:
    """Return the names of the presets that weft includes."""
    folder = resources.files("weft") / "fabrics"
    return tuple(
        sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml"))
    )


FabricLike = str | Path | YamlMapping | Fabric


def fabric(value: FabricLike, where: str = "fabric", depth: int = 0) -> Fabric:
    """Build a fabric from a preset's name, a YAML file, a mapping of the same fields, or a Fabric.

    In files and mappings every quantity needs a unit (``stretch_warp: 4000 N/m``); ``stretch`` and
    ``bending`` set warp and weft together, with one value or a pair; ``preset`` gives the fields
    that are left out. A warning is given if a number is more than five times outside the range of
    all presets, because the reason is mostly a wrong unit.

    Args:
        value: name, path ending in .yaml, mapping, or Fabric.
        where: name of the fabric in error messages.
        depth: number of presets that led to this one.

    Raises:
        FabricError: a name or field is unknown, or a value is missing or negative.
        UnitError: a value has no unit, or one of another dimension.
    """
    from weft.fabric.file import fabric_of_fields, read_fabric, read_preset  # loads pydantic

    if isinstance(value, Fabric):
        return value
    if isinstance(value, Mapping):
        return fabric_of_fields(value, where, depth)
    if not isinstance(value, str | Path):
        raise FabricError(where, got=repr(value), expected="a preset's name or a .yaml file")
    if depth > MOST_PRESETS:
        raise FabricError(
            where, got="a preset that refers to itself", expected="a chain of presets that ends"
        )
    if Path(value).suffix in (".yaml", ".yml"):
        return read_fabric(Path(value), depth)
    if Path(value).suffix == ".json":
        return fabric_of_fields({"arcsim": str(value), "name": Path(value).stem}, where, depth)
    check_known(str(value), preset_names(), where, FabricError)
    return read_preset(str(value), depth)


@lru_cache(maxsize=1)
def known_ranges() -> Mapping[str, tuple[float, float]]:
    """Return the smallest and largest value of every field over all presets, in SI."""
    presets = [fabric(name) for name in preset_names()]
    columns = {key: [getattr(p, key) for p in presets] for key in UNITS}
    return {key: (min(column), max(column)) for key, column in columns.items()}


def range_doubt(
    where: str, numbers: Iterable[tuple[str, float]], factor: float = FAR
) -> str | None:
    """Return a warning about the numbers of a fabric that are far from those of all presets.

    Args:
        where: name of the fabric in the warning.
        numbers: fields with their values [SI]; 0 is assumed to be intended.
        factor: factor outside the range of all presets from which a number is named.

    Returns:
        One sentence with all of these numbers, or None.
    """
    far = []
    for key, value in numbers:
        low, high = known_ranges()[key]
        if value == 0.0 or low / factor <= value <= factor * high:
            continue
        times, side = (low / value, "below") if value < low else (value / high, "above")
        unit = "" if UNITS[key] == "1" else f" {UNITS[key]}"
        far.append(f"{key} = {value:.3g}{unit}, {times:.2g} times {side} ({low:.3g} to {high:.3g})")
    if not far:
        return None
    units = "check the units" if len(far) > 1 else "check the unit"
    return f"{where} is unlike all fabrics that weft knows: {'; '.join(far)}; {units}"


def described_fields() -> list[tuple[str, str, str]]:
    """Return name, unit, and range over all presets or meaning of every field, as tables have
    them.
    """
    rows = []
    for name, unit in UNITS.items():
        low, high = known_ranges()[name]
        per = " (per rad)" if SETTINGS[name].per_angle else ""
        rows.append((name, unit + per, f"{low:.3g} to {high:.3g}" if low < high else f"{low:.3g}"))
    rows += [
        (name, unit, "no map, because a limit holds for all of the cloth")
        for name, unit in LIMITS.items()
    ]
    names = [name for name in OPTIONAL if name not in LIMITS]
    rows += [(name, SETTINGS[name].unit, f"none: {SETTINGS[name].meaning}") for name in names]
    rows += [
        (name, "1, N/m", "no map, because the values are pairs [strain, force per width]")
        for name in CURVES
    ]
    return [
        *rows,
        (
            "arcsim",
            "",
            "no map, because the value is a material file of ARCSim (docs/guides/arcsim.md)",
        ),
    ]
