"""The engine's sources of cloth, by their field in upper case."""

from typing import Annotated, Literal

from pydantic import Field, Strict

from weft.base.schema.block import Block, block_of
from weft.base.schema.quantities import Force, Length, MassPerLength, Point, RodStiffness, Size
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


class MeshBlock(block_of(StageOptions)):  # type: ignore[misc]
    """A mesh from a file."""

    file: str = Field(description=f"{suffixes('read')}, relative to the scene file")
    scale: Size | None = Field(
        None,
        description="[m] length of one unit of positions: 1 cm, 1 in; none: what the "
        "file says (USD), else 1 m",
    )
    uv_scale: Size | None = Field(
        None, description="[m] length of one unit of texture coordinates; none: as scale"
    )
    warp: tuple[float, float, float] | None = Field(
        None,
        description="direction of the warp yarns in space, on the mesh of the rest shape; none: "
        "that of the first texture coordinate",
    )
    rest: str | float | None = Field(
        None,
        description="the rest shape: mesh, as it is in space; uv, its texture coordinates; another "
        "mesh file of the same faces, relative to the scene file; or a time code of a USD file; "
        "none: mesh with a warp, or if texture coordinates are far from isometric; else uv",
    )
    prim: str | None = Field(
        None, description="of a USD or glTF file with several meshes: which, by path or name"
    )
    weld: Annotated[bool, Strict()] | Size | None = Field(
        None,
        description="true: vertices that coincide become one, and ids are those of what remains; a "
        "length [m]: also vertices that are so near; false: none do; none: those that texture "
        "coordinates by vertex have split (PLY, glTF)",
    )
    sewing: Literal["edges"] | None = Field(
        None,
        description="edges: the edges of the file without faces (OBJ `l`, PLY `edge`) close within "
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
