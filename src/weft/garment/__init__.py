"""From flat patterns to meshes.

``read_pattern`` reads pattern files of every format; it is loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.garment.reading import read_pattern as read_pattern

__all__ = ["read_pattern"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'weft.garment' has no attribute {name!r}")
    return getattr(import_module("weft.garment.reading"), name)
