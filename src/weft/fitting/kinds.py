"""Registry of the kinds of measurement: one line each.

The module of a kind has ``FIELDS``, the fields of its block, and ``read(block)``, which returns
measurements. The first paragraph of its docstring is the help text of the kind.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from weft.base.yaml_lines import Loc
from weft.fitting.block import COMMON, DataBlock, FieldPlace
from weft.fitting.measurement import Given, Measurement

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


def fields_of(kind: str) -> Mapping[str, str]:
    """Return the fields of the block of a kind, with their meaning."""
    return {**COMMON, **_module(kind).FIELDS}


def about(kind: str) -> str:
    """Return the description of a kind: the first paragraph of the docstring of its module."""
    return " ".join((_module(kind).__doc__ or "").split("\n\n")[0].split())


def measured(place: FieldPlace, loc: Loc, tree: Any) -> Sequence[Measurement | Given]:
    """Return the measurements of a block.

    Args:
        place: the file.
        loc: location of the block in the file.
        tree: the block.

    Raises:
        FabricError: the kind or a field is unknown, or a value is not a valid number.
        UnitError: a quantity has no unit or the wrong one.
    """
    every = {name: "" for kind in KINDS for name in fields_of(kind)}
    kind = DataBlock(place, loc, tree, every).word("kind", list(KINDS))
    block = DataBlock(place, loc, tree, fields_of(kind))
    block.truth("unusual")
    block.text("source")
    found: Sequence[Measurement | Given] = _module(kind).read(block)
    return found


def _module(kind: str) -> Any:
    return import_module(f"weft.fitting.{KINDS[kind]}")
