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
        "regular", description="direction of the diagonals; random: also moves inner vertices"
    )
    seed: int = Field(0, ge=0, description="seed of the random pattern")
    size: Literal["auto"] | None = Field(
        None,
        description="auto: weft chooses nx and ny, if they are left out, for the folds under the "
        "weight of the cloth",
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
        None, "length of one unit of texture coordinates; none: the same as scale", "m", above=0
    )
    warp: tuple[float, float, float] | None = setting(
        None,
        "direction of the warp yarns in space, on the mesh of the rest shape; none: "
        "that of the first texture coordinate",
    )
    rest: str | float | None = setting(
        None,
        "the rest shape: mesh, as it is in space; uv, its texture coordinates; another mesh file "
        "of the same faces, relative to the scene file; or a time code of a USD file; none: mesh "
        "if `warp` is given or texture coordinates are far from isometric; otherwise uv",
    )
    prim: str | None = setting(
        None, "USD or glTF file with several meshes: path or name of the mesh"
    )
    weld: bool | float | None = setting(
        None,
        "true: join vertices that coincide, and number the remaining ones; a length [m]: also "
        "join vertices within this distance; false: join no vertices; none: join vertices that "
        "texture coordinates have split (PLY, glTF)",
        "m",
        above=0,
    )
    sewing: Literal["edges"] | None = setting(
        None,
        "edges: the edges of the file without faces (OBJ `l`, PLY `edge`) close within "
        "sewing.closing, like in Blender; none: weft ignores these edges",
    )


class PanelBlock(Block):
    """A piece of any shape, of irregular, nearly equilateral triangles, on y = 0."""

    outline: list[tuple[Length, Length]] = Field(
        min_length=3, description="[m] corners of the piece, warp along the first coordinate"
    )
    holes: list[list[tuple[Length, Length]]] = Field([], description="[m] polygons inside it")
    size: Size = Field(
        0.02, description="[m] edge length; auto: for the folds under the weight of the cloth"
    )
    seed: int = Field(0, ge=0, description="seed of the points inside")


class RodBlock(Block):
    """A rope, cord or wire that stretches, bends and twists; straight at rest."""

    along: list[Point] = Field(min_length=2, description="[m] line of the rod at the start")
    size: Size = Field(0.02, description="[m] largest length of a segment")
    diameter: Size = Field(description="[m]")
    mass: MassPerLength = Field(description="[kg/m]")
    stretch: Force = Field(description="[N] EA, force over strain")
    bending: RodStiffness = Field(description="[N*m^2] EI, moment over curvature")
    twist: RodStiffness | None = Field(
        None, description="[N*m^2] GJ, torque over angle and length, at most 2 EI; none: EI"
    )


SHEET = ClothSource(SheetBlock, "a rectangle", "top, bottom, left, right")
PANEL = ClothSource(PanelBlock, "a piece of any shape", "outline; hole 0, hole 1, ...")
MESH = ClothSource(
    MeshBlock,
    "a mesh file",
    "names in the file: OBJ g, o and usemtl, PLY face values, USD subsets, glTF materials",
)
ROD = ClothSource(RodBlock, "a rope, cord or wire", "start, end")
