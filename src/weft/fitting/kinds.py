"""Registry of the kinds of measurement: one line each.

A kind is a function that reads a block and returns measurements. The annotation of its argument
``block`` names the settings of the block, whose docstring is the help text of the kind.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast, get_args, get_type_hints

from weft.base.errors import FabricError, check_known
from weft.base.schema.block import block_of
from weft.base.trees import Yaml
from weft.base.yaml_lines import Loc
from weft.fitting.block import FitDocument, MeasurementBlock, MeasurementSettings, PlacedBlock
from weft.fitting.measurement import FixedFields, Measurement

Found = Sequence[Measurement | FixedFields]
KINDS: Mapping[str, str] = {  # kind: module in weft.fitting
    "value": "value",
    "ratio": "value",
    "tensile": "tensile",
    "shear": "slopes",
    "bending": "slopes",
    "cantilever": "cantilever",
    "cusick": "drape",
    "fast": "sheets",
    "kes": "sheets",
    "drape": "drape",
    "silhouette": "silhouette",
    "track": "track",
    "depth": "depth",
}


def reader_of(kind: str) -> Callable[[MeasurementBlock], Found]:
    """Return the function ``read_KIND`` that reads a block of a kind."""
    read: Callable[[MeasurementBlock], Found] = getattr(
        import_module(f"weft.fitting.{KINDS[kind]}"), f"read_{kind}"
    )
    return read


def settings_of(kind: str) -> type[MeasurementSettings]:
    """Return the settings of the block of a kind."""
    (settings,) = get_args(get_type_hints(reader_of(kind))["block"])
    made: type[MeasurementSettings] = settings
    return made


def fields_of(kind: str) -> Mapping[str, str]:
    """Return the fields of the block of a kind, with their meaning."""
    fields = block_of(cast(Any, settings_of(kind))).model_fields
    return {name: field.description or "" for name, field in fields.items()}


def describe_kind(kind: str) -> str:
    """Return the description of a kind: the docstring of its settings."""
    return " ".join((settings_of(kind).__doc__ or "").split())


def read_measurement(
    document: FitDocument, loc: Loc, tree: Yaml
) -> tuple[MeasurementSettings, Found]:
    """Return the settings of a block, and its measurements.

    Args:
        document: the file.
        loc: path of the block in the file.
        tree: the block.

    Raises:
        FabricError: the kind or a field is unknown, or a value is not a valid number.
        UnitError: a quantity has no unit or the wrong one.
    """
    if not isinstance(tree, Mapping):
        raise document.field_error(loc, repr(tree), "a block of fields")
    kind = tree.get("kind")
    if not isinstance(kind, str):
        raise document.field_error((*loc, "kind"), kind, f"one of {', '.join(KINDS)}")
    try:
        check_known(kind, KINDS, ".".join(map(str, (*loc, "kind"))), FabricError)
    except FabricError as error:
        raise document.add_line(error, (*loc, "kind")) from None
    given = document.read_settings(settings_of(kind), tree, loc)
    return given, reader_of(kind)(PlacedBlock(document, loc, given))
