"""``size: auto`` of sheets, panels and patterns: edges that resolve the folds of their weight."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from weft.base.errors import WeftError
from weft.base.trees import Json
from weft.contact.contact import GRAVITY
from weft.fabric.fabric import FabricLike, fabric
from weft.fabric.folds import RESOLVED, millimeters, weight_fold
from weft.scene.cloth_sources import SheetBlock
from weft.scene.schema import SOURCES, ClothBlock

MOST_VERTICES = 20_000


def choose_sizes(tree: Json, folder: Path) -> Iterator[str]:
    """Write numbers in place of ``size: auto`` into the tree of a scene file, and yield a line
    about each.

    Edges are a sixth of the folds that the cloth's weight makes, or of a piece that is too small
    for a fold, but so long that there are no more than about ``MOST_VERTICES`` vertices. Blocks
    with errors, which are reported where they are used, get the default.

    Args:
        tree: of a scene file.
        folder: of the scene file.
    """
    cloths = tree.get("cloths")
    for block in [tree.get("cloth"), *(cloths if isinstance(cloths, list) else [])]:
        for kind in SOURCES:
            own = block.get(kind) if isinstance(block, dict) else None
            if isinstance(own, dict) and own.get("size") == "auto":
                del own["size"]
                with suppress(WeftError, ValueError):
                    yield f"{kind}.size: auto is {_write_size(block, own, folder)}"


def _write_size(block: Json, own: Json, folder: Path) -> str:
    """Write a size into the sheet, panel or garment ``own`` of a cloth's block; return it, and
    why.
    """
    cloth = ClothBlock.model_validate(block)
    given: FabricLike = cloth.fabric
    if isinstance(given, str) and given.endswith((".yaml", ".yml")):
        given = folder / given
    if cloth.source.sizes is not None:
        own_fabric = given if "fabric" in cloth.model_fields_set else None
        pieces, worn = cloth.source.sizes(cloth, folder, own_fabric)
        size = np.full(2, pieces.max())  # panels hang on one another, along any direction
    else:
        s, p = cloth.sheet or SheetBlock(), cloth.panel
        size = np.ptp(p.outline, axis=0) if p else np.array([s.width, s.height])
        pieces, worn = size[None], {"": fabric(given)}
    folds = []
    for made in worn.values():
        fold = weight_fold(made, made.density * GRAVITY, tuple(size.tolist()))
        folds.append((fold.length if fold else float(size.min()), made.name))
    wave, name = min(folds)
    least = float(np.sqrt(pieces.prod(axis=1).sum() / MOST_VERTICES))
    edge = max(least, wave / RESOLVED)
    if cloth.sheet is None:
        own["size"] = millimeters(edge)
    for count, length in zip(("nx", "ny"), size.tolist() if cloth.sheet else ()):
        own.setdefault(count, round(length / edge) + 1)
    limit = f", and at most {MOST_VERTICES} vertices" if edge == least else ""
    return (
        f"{millimeters(edge)} for {RESOLVED} edges in folds of {millimeters(wave)} ({name}){limit}"
    )
