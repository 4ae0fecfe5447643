"""Selection of cloth vertices in a scene file, for pins and attachments."""

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from weft.base.arrays import Ints
from weft.base.errors import SceneError
from weft.base.schema.block import Block
from weft.base.schema.quantities import Point
from weft.base.settings import Setting
from weft.cloth.cloth import CORNERS, SIDES, Cloth

# Settings of numbers that do not change in time.
SELECTION = Setting(constant="weft selects points once, at the start")
PLACE = Setting(constant="places are given at the start; bodies and pins move along a path")
MOTION = Setting(constant="a path has its own keyframes: path.keyframes")

_KINDS = ("corners", "border", "group", "weights", "box", "vertices")  # ways to select


class BoxBlock(Block):
    """Vertices that start between two corners."""

    low: Point = Field(description="[m] smallest x, y, z")
    high: Point = Field(description="[m] largest x, y, z")


class NamedBlock(Block):
    """A block with a name."""

    name: str = Field("", description="for messages")


class SelectionBlock(Block):
    """Vertices of the cloth. Selections add up; at least one is needed."""

    cloth: str | None = Field(None, description="name of the cloth, if there are several")
    corners: str | None = Field(
        None, description=f"corners in material coordinates: {', '.join(CORNERS)}"
    )
    border: str | None = Field(
        None, description=f"a side in material coordinates: {', '.join(SIDES)}"
    )
    group: str | None = Field(
        None,
        description=(
            "a named group of vertices; the table of names lists those of each kind of cloth, "
            "`weft check SCENE` those of a scene"
        ),
    )
    weights: str | None = Field(
        None, description="painted weights of the mesh file (USD primvar, PLY property, glTF _NAME)"
    )
    above: Annotated[float, SELECTION] = Field(0.5, description="selects weights above this number")
    box: Annotated[BoxBlock | None, SELECTION] = Field(
        None, description="selects all vertices inside at the start"
    )
    vertices: Annotated[list[int] | None, SELECTION] = Field(
        None,
        description=(
            "ids, from 0, of the cloth that `cloth` names; without `cloth`: ids of all "
            "cloths, one after another"
        ),
    )

    @model_validator(mode="after")
    def _selects(self) -> "SelectionBlock":
        if not self.selects_all and all(getattr(self, kind) is None for kind in _KINDS):
            raise ValueError(f"select vertices: {', '.join(_KINDS[:-1])} or {_KINDS[-1]}")
        if "above" in self.model_fields_set and self.weights is None:
            raise ValueError("above needs weights")
        return self

    @property
    def selects_all(self) -> bool:
        """Return whether the block selects all vertices of its cloth if it names none."""
        return False

    @property
    def is_listed(self) -> bool:
        """Return whether the block selects by vertex ids alone, whose order then counts."""
        return [kind for kind in _KINDS if getattr(self, kind) is not None] == ["vertices"]


def select_vertices(cloth: Cloth, name: str, block: SelectionBlock) -> Ints:
    """Return (k,) vertex ids, in the order of the selections; one id may appear twice.

    Args:
        cloth: all cloth of the scene.
        name: of the pin or attachment, for messages.
        block: the selection.

    Raises:
        SceneError: a selection without vertices, or vertices that do not exist.
    """
    selections: list[Ints] = []
    part = None if block.cloth is None else cloth.part(block.cloth)
    known = np.arange(cloth.n_vertices, dtype=np.int32) if part is None else part.vertices
    sides = block.corners is not None or block.border is not None
    if part is None and sides and len(cloth.parts) > 1:
        raise SceneError(
            f"{name}.cloth",
            got="nothing",
            expected=f"one of {[p.name for p in cloth.parts]}",
            hint="corners and borders belong to one cloth",
        )
    if block.corners is not None:
        selections.append(cloth.corners(block.corners, part))
    if block.border is not None:
        selections.append(cloth.border(block.border, part))
    if block.group is not None:
        selections.append(cloth.group(block.group, part))
    if block.weights is not None:
        selections.append(cloth.weighted(block.weights, block.above, part))
    if block.box is not None:
        low, high = block.box.low, block.box.high
        inside = cloth.in_box(low, high)
        inside = inside if part is None else np.intersect1d(inside, part.vertices)
        if len(inside) == 0:
            nearest = cloth.nearest_to_box(low, high, part)
            raise SceneError(
                f"{name}.box",
                got="nothing",
                expected="at least one vertex inside",
                hint=nearest,
            )
        selections.append(inside)
    if block.vertices is not None:
        ids, n = np.array(block.vertices, dtype=np.int64), len(known)
        bad = ids[(ids < 0) | (ids >= n)]
        if len(bad):
            whose = "" if part is None else f", the vertices of {part.name}"
            raise SceneError(f"{name}.vertices", got=int(bad[0]), expected=f"0 to {n - 1}{whose}")
        selections.append(known[ids])
    return np.concatenate(selections or [known])
