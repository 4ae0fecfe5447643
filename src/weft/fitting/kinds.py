"""Which kinds of measurement there are: a line each. A kind's module has ``FIELDS`` of its block,
and ``read(block)``, which gives measurements; its docstring is its help.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from weft.base.yaml_lines import Loc
from weft.fitting.block import COMMON, DataBlock, FieldPlace
from weft.fitting.measurement import Given, Measurement

KINDS: Mapping[str, str] = {  # to the module in weft.fitting
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
    """The fields of a kind's block, with what they mean."""
    return {**COMMON, **_module(kind).FIELDS}


def about(kind: str) -> str:
    """What a kind is: the first paragraph of its module's docstring."""
    return " ".join((_module(kind).__doc__ or "").split("\n\n")[0].split())


def measured(place: FieldPlace, loc: Loc, tree: Any) -> Sequence[Measurement | Given]:
    """The measurements of a block.

    Raises:
        FabricError: an unknown kind or field, or numbers that are none; UnitError.
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
