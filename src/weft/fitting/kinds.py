"""Registry of the kinds of measurement: one line each.

The module of a kind has the settings of its block, and ``read(block)``, which returns measurements;
the annotation of ``block`` names the settings. The first paragraph of the module's docstring is the
help text of the kind.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, cast, get_args, get_type_hints

from weft.base.errors import FabricError, check_known
from weft.base.schema.block import block_of
from weft.base.trees import Yaml
from weft.base.yaml_lines import Loc
from weft.fitting.block import FitDocument, MeasurementSettings, PlacedBlock
from weft.fitting.measurement import FixedFields, Measurement

KINDS: Mapping[str, str] = {  # kind: name of its module in weft.fitting
    "value": "value",
    "ratio": "ratio",
    "tensile": "tensile",
    "shear": "shear",
    "bending": "bending",
    "cantilever": "cantilever",
    "cusick": "cusick",
    "fast": "fast",
    "kes": "kes",
    "drape": "drape",
    "silhouette": "silhouette",
    "track": "track",
    "depth": "depth",
}


def settings_of(kind: str) -> type[MeasurementSettings]:
    """Return the settings of the block of a kind."""
    (settings,) = get_args(get_type_hints(_module(kind).read)["block"])
    made: type[MeasurementSettings] = settings
    return made


def fields_of(kind: str) -> Mapping[str, str]:
    """Return the fields of the block of a kind, with their meaning."""
    fields = block_of(cast(Any, settings_of(kind))).model_fields
    return {name: field.description or "" for name, field in fields.items()}


def describe_kind(kind: str) -> str:
    """Return the description of a kind: the first paragraph of the docstring of its module."""
    return " ".join((_module(kind).__doc__ or "").split("\n\n")[0].split())


def read_measurement(
    document: FitDocument, loc: Loc, tree: Yaml
) -> tuple[MeasurementSettings, Sequence[Measurement | FixedFields]]:
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
    found: Sequence[Measurement | FixedFields] = _module(kind).read(
        PlacedBlock(document, loc, given)
    )
    return given, found


def _module(kind: str) -> ModuleType:
    return import_module(f"weft.fitting.{KINDS[kind]}")
