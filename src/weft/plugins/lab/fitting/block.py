"""Blocks of a fit file: the settings of a measurement, with their file, lines and uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError, WeftError
from weft.base.input_file import is_file
from weft.base.schema.document import DocumentBlock, YamlDocument
from weft.base.schema.quantities import QuantityIn
from weft.base.settings import REQUIRED, setting
from weft.base.yaml_lines import Loc

MOST_NUMBERS = 10_000  # in one field
ASSUMED = 0.05  # relative standard deviation if a file gives none
UNCERTAINTY = (
    "standard deviation of every number: relative (`2 %`) or in its unit (`0.1 gf/cm`); default 5 %"
)
LEAST, MOST = 1e-9, 1.0  # bounds of a relative one: no data are better; worse ones are useless


class FitDocument(YamlDocument):
    """A fit file that is read."""

    what: ClassVar[str] = "fit"
    error: ClassVar[type[WeftError]] = FabricError


@dataclass(frozen=True, kw_only=True)
class MeasurementSettings:
    """Fields that every kind of measurement has."""

    units_required: ClassVar[bool] = True

    kind: str = setting(REQUIRED, "kind of measurement: see `weft fabrics fit --kinds`")
    name: str | None = setting(None, "name in reports; none: kind and direction")
    source: str | None = setting(None, "source of the numbers, for the preset")
    unusual: bool = setting(
        False, "true: accept numbers that are far from all fabrics that weft knows"
    )


@dataclass(frozen=True)
class Noise:
    """A standard deviation."""

    size: float  # [1] if relative, else in the SI unit of the data
    relative: bool
    assumed: bool = False

    def of(self, values: Floats) -> Floats:
        """Return the standard deviation of each value (SI), as many as there are values.

        It is 0 for a value of 0 with a relative error.
        """
        if self.relative:
            return self.size * np.abs(values)
        return np.full_like(values, max(self.size, LEAST * float(np.abs(values).max(initial=0.0))))

    def mean(self, values: Floats) -> tuple[float, float]:
        """Return the mean of repeated readings (k,) and the standard deviation of this mean.

        The latter comes from the scatter of several readings if the file gives no uncertainty, and
        from the uncertainty of one reading otherwise.
        """
        scatter = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        one = scatter if self.assumed and scatter > 0 else float(self.of(values).mean())
        return float(values.mean()), float(one / np.sqrt(len(values)))


S = TypeVar("S", bound=MeasurementSettings)


@dataclass(frozen=True, eq=False)
class PlacedBlock(DocumentBlock[S]):
    """One block of a fit file: the settings of a measurement."""

    def one_of(self, *names: str) -> str:
        """Return the one field of ``names`` that the block gives.

        Raises:
            FabricError: the block gives none of them, or several.
        """
        given = [n for n in names if getattr(self.given, n) is not None]
        if len(given) != 1:
            raise self.error("", " and ".join(given) or None, f"one of {', '.join(names)}")
        return given[0]

    def in_si(self, value: object, unit: str, loc: Loc, *, per_angle: bool = False) -> float:
        """Return a value below this block in SI; it needs a unit unless ``unit`` is 1."""
        try:
            return QuantityIn(unit, bare=False, per_angle=per_angle)(value)
        except ValueError as error:
            raise self.document.field_error((*self.loc, *loc), value, str(error)) from None

    def noise(self, unit: str, *, per_angle: bool = False) -> Noise:
        """Return the field ``uncertainty`` of a block whose data have this unit.

        For numbers without a unit it is relative.

        Raises:
            FabricError: it is not positive, or has another unit.
        """
        said = getattr(self.given, "uncertainty", None)
        if said is None:
            return Noise(ASSUMED, True, assumed=True)
        relative = unit == "1" or (isinstance(said, str) and said.rstrip().endswith("%"))
        least, most = (LEAST, MOST) if relative else (0.0, np.inf)
        per_angle = per_angle and not relative
        size = self.in_si(said, "1" if relative else unit, ("uncertainty",), per_angle=per_angle)
        if not least < size <= most:
            raise self.error("uncertainty", said, f"must be > {least:g} and <= {most:g}")
        return Noise(size, relative)

    def file(self, name: str) -> Path:
        """Return the path of an existing file, given relative to the fit file."""
        return self._file(name, str(getattr(self.given, name)))

    def files(self, name: str, most: int) -> Sequence[Path]:
        """Return the paths of one or several different existing files, given relative to the fit
        file.
        """
        listed: Sequence[str] = getattr(self.given, name)
        if not 0 < len(listed) <= most:
            raise self.error(name, f"{len(listed)} files", f"1 to {most}")
        for i, said in enumerate(listed):
            if said in listed[:i]:
                raise self.error(name, f"{said} twice", "a different file for each")
        return [self._file(name, said) for said in listed]

    def _file(self, name: str, said: str) -> Path:
        path = self.document.path.parent / said
        if not is_file(path):
            raise self.error(name, str(path), "a file, relative to this one")
        return path


MeasurementBlock = PlacedBlock[Any]  # of any kind of measurement
