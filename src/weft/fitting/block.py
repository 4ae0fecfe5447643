"""Blocks of a fit file: the settings of a measurement, with their file and lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from weft.base.errors import FabricError, WeftError
from weft.base.input_file import is_file
from weft.base.schema.document import DocumentBlock, YamlDocument
from weft.base.schema.quantities import QuantityIn
from weft.base.settings import REQUIRED, setting
from weft.base.yaml_lines import Loc

MOST_NUMBERS = 10_000  # in one field


class FitDocument(YamlDocument):
    """A fit file that is read."""

    what: ClassVar[str] = "fit"
    error: ClassVar[type[WeftError]] = FabricError


@dataclass(frozen=True, kw_only=True)
class MeasurementSettings:
    """Fields that every kind of measurement has."""

    units_required: ClassVar[bool] = True

    kind: str = setting(REQUIRED, "what it is: `weft fabrics fit --kinds`")
    name: str | None = setting(None, "what reports call it; none: its kind, with the direction")
    source: str | None = setting(None, "where the numbers come from, for the preset's sources")
    unusual: bool = setting(False, "true: numbers far from all fabrics that weft knows are meant")


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
                raise self.error(name, f"{said} twice", "another file for each")
        return [self._file(name, said) for said in listed]

    def _file(self, name: str, said: str) -> Path:
        path = self.document.path.parent / said
        if not is_file(path):
            raise self.error(name, str(path), "a file, relative to this one")
        return path


MeasurementBlock = PlacedBlock[Any]  # of any kind of measurement
