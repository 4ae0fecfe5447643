"""Material files of ARCSim (Narain, Samii & O'Brien 2012), in SI.

A file has ``density`` [kg/m^2] and the tables ``stretching`` and ``bending`` (``ArcsimTables``). Or
it is a material of a scene of ARCSim, whose ``data`` names such a file, with multiples of its
numbers.
"""

import re
import warnings
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from weft.base.errors import FabricError, WeftError, error_text
from weft.base.input_file import read_input
from weft.base.schema.block import Block
from weft.base.schema.document import YamlDocument, parse_document
from weft.base.trees import Json
from weft.fabric.arcsim import ArcsimTables, Table

# What a material may have besides, which has no counterpart here.
LEFT_OUT = ("yield_curv", "yield_stretch", "weakening", "plastic_flow")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


class _Material(Block):
    """Fields of a material of a scene of ARCSim besides its tables."""

    density_mult: float = Field(1.0, gt=0)
    stretching_mult: float = Field(1.0, gt=0)
    bending_mult: float = Field(1.0, gt=0)
    thicken: float = Field(1.0, gt=0)
    damping: float | None = Field(None, ge=0)
    strain_limits: tuple[float, float] | None = None
    yield_curv: float | None = None
    yield_stretch: float | None = None
    weakening: float = 0.0
    plastic_flow: float = 0.0
    plastic_limit: float | None = None


class _Data(Block):
    """Fields of a file with the tables."""

    density: Annotated[float, Field(gt=0)]
    stretching: Table
    bending: Table


class _Document(YamlDocument):
    """A material file; JSON with comments is YAML without them."""

    what: ClassVar[str] = "ARCSim material"
    error: ClassVar[type[WeftError]] = FabricError


def read_arcsim(path: Path) -> Json:
    """Return the fields of a ``Fabric`` in a material file.

    Raises:
        FabricError: a file that cannot be read, or a field that is missing or wrong, with its line.
    """
    document = _read(path)
    own = {k: v for k, v in document.tree.items() if k not in (*_Data.model_fields, "data")}
    material = document.read_block(_Material, own)
    tables = {k: v for k, v in document.tree.items() if k in _Data.model_fields}
    if "data" in document.tree:
        document = _read(path.parent / str(document.tree["data"]))
        tables = dict(document.tree)
    data = document.read_block(_Data, tables)
    ignored = [name for name in LEFT_OUT if getattr(material, name)]
    if ignored:
        warnings.warn(
            f"{path.name}: {', '.join(ignored)} left out (docs/guides/arcsim.md)", stacklevel=2
        )
    stretch, bend = material.stretching_mult, material.bending_mult
    try:
        made = ArcsimTables(
            _multiply(data.stretching, stretch * material.thicken),
            _multiply(data.bending, bend * material.thicken),
        )
    except FabricError as error:
        raise document.add_line(error, tuple(error.what.split(".")[:1])) from None
    density = data.density * material.density_mult * material.thicken
    fields: Json = {"arcsim": made, "density": density, **made.numbers}
    if material.damping is not None:
        fields["damping"] = material.damping
    if material.strain_limits is not None:
        limit = material.strain_limits[1] - 1
        fields |= {"limit_warp": limit, "limit_weft": limit}
    return fields


def _multiply(table: Table, factor: float) -> Table:
    """Return a table with every number multiplied."""
    return tuple(tuple(factor * number for number in row) for row in table)


def _read(path: Path) -> _Document:
    """Read the JSON of a file, in which ARCSim takes comments."""
    try:
        text = read_input(path).decode("utf-8-sig")
    except (OSError, ValueError) as problem:
        raise FabricError(
            "ARCSim file", got=error_text(problem), where=path, expected="a readable JSON file"
        ) from problem
    plain = _COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)
    fields = "`density`, `stretching` and `bending`, or `data`"
    document = parse_document(_Document, plain.replace("\t", " "), path.name, fields)
    return _Document(path, document.tree, document.lines)
