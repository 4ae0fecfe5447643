"""The engine's sources of cloth, by their field in upper case."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from weft.base.schema.block import Block
from weft.base.schema.quantities import Force, Length, MassPerLength, Point, RodStiffness, Size
from weft.base.settings import REQUIRED, setting
from weft.io import suffixes
from weft.io.surface import StageOptions
from weft.scene.cloth_source import ClothSource


class SheetBlock(Block):
    """A rectangle that lies on y = 0, warp along x, "top" at the back."""

    nx: int = Field(32, ge=2, le=5000, description="vertices along the width (warp)")
    ny: int = Field(32, ge=2, le=5000, description="vertices along the height (weft)")
    width: Size = Field(1.0, description="[m]")
    height: Size = Field(1.0, description="[m]")
    pattern: Literal["regular", "alternating", "random"] = Field(
        "regular", description="direction of the diagonals; random also moves inner vertices"
    )
    seed: int = Field(0, ge=0, description="of the random pattern")
    size: Literal["auto"] | None = Field(
        None, description="auto: those of nx and ny that are left out fit the folds of its weight"
    )


@dataclass(frozen=True, kw_only=True)
class MeshBlock(StageOptions):
    """A mesh from a file."""

    file: str = setting(REQUIRED, f"{suffixes('read')}, relative to the scene file")
    scale: float | None = setting(
        None,
        "length of one unit of positions: 1 cm, 1 in; none: what the file says (USD), else 1 m",
        "m",
        above=0,
    )
    uv_scale: float | None = setting(
        None, "length of one unit of texture coordinates; none: as scale", "m", above=0
    )
    warp: tuple[float, float, float] | None = setting(
        None,
        "direction of the warp yarns in space, on the mesh of the rest shape; none: "
        "that of the first texture coordinate",
    )
    rest: str | float | None = setting(
        None,
        "the rest shape: mesh, as it is in space; uv, its texture coordinates; another "
        "mesh file of the same faces, relative to the scene file; or a time code of a USD file; "
        "none: mesh with a warp, or if texture coordinates are far from isometric; else uv",
    )
    prim: str | None = setting(
        None, "of a USD or glTF file with several meshes: which, by path or name"
    )
    weld: bool | float | None = setting(
        None,
        "true: vertices that coincide become one, and ids are those of what remains; a "
        "length [m]: also vertices that are so near; false: none do; none: those that texture "
        "coordinates by vertex have split (PLY, glTF)",
        "m",
        above=0,
    )
    sewing: Literal["edges"] | None = setting(
        None,
        "edges: the edges of the file without faces (OBJ `l`, PLY `edge`) close within "
        "sewing.closing, as Blender sews; none: they are not read",
    )


class PanelBlock(Block):
    """A piece of any shape, of irregular, nearly equilateral triangles, on y = 0."""

    outline: list[tuple[Length, Length]] = Field(
        min_length=3, description="[m] corners of the piece, warp along the first coordinate"
    )
    holes: list[list[tuple[Length, Length]]] = Field([], description="[m] polygons inside it")
    size: Size = Field(0.02, description="[m] edge length; auto: for the folds of its weight")
    seed: int = Field(0, ge=0, description="of the points inside")


class RodBlock(Block):
    """A rope, cord or wire that stretches, bends and twists; straight at rest."""

    along: list[Point] = Field(min_length=2, description="[m] line along which it starts")
    size: Size = Field(0.02, description="[m] length of a segment, at most")
    diameter: Size = Field(description="[m]")
    mass: MassPerLength = Field(description="[kg/m]")
    stretch: Force = Field(description="[N] EA, force over strain")
    bending: RodStiffness = Field(description="[N*m^2] EI, moment over curvature")
    twist: RodStiffness | None = Field(
        None, description="[N*m^2] GJ, torque over angle and length, at most 2 EI; none: EI"
    )


SHEET = ClothSource(SheetBlock, "a rectangle")
PANEL = ClothSource(PanelBlock, "a piece of any shape")
MESH = ClothSource(MeshBlock, "a mesh file")
ROD = ClothSource(RodBlock, "a rope, cord or wire")
