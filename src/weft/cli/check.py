"""``weft check``: every problem of a scene, pattern or mesh at once."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import MeshError
from weft.cli.options import (
    Set,
    end_check,
    meters,
    picture_beside_results,
    png,
    say,
    say_problems,
)

if TYPE_CHECKING:
    from weft.base.arrays import Angles, Floats, Ints
    from weft.discretization.mesh import TriangleMesh
    from weft.run.check_scene import Findings
    from weft.show.looks import Field

# advice that this command follows itself
_HERE = re.compile(r"(; |\. | \()`weft check` (lists and )?draws (it|them|the piece)\)?")


def check(
    path: Annotated[
        Path,
        typer.Argument(
            help="A scene (.yaml), a garment's pattern, or a mesh (.obj, .ply, USD or glTF)."
        ),
    ],
    set_: Set = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="Length of one unit of the mesh's positions: 1 cm.",
            metavar="LENGTH",
            show_default="from the file, otherwise 1 m",
        ),
    ] = None,
    uv_scale: Annotated[
        str | None,
        typer.Option(help="Length of one unit of the texture coordinates.", metavar="LENGTH"),
    ] = None,
    warp: Annotated[
        str | None,
        typer.Option(help="Warp direction in space, in place of texture coordinates: 0,1,0."),
    ] = None,
    rest: Annotated[
        str | None,
        typer.Option(
            help="Rest shape: mesh, uv, another mesh file, or a time code of USD.",
            metavar="REST",
        ),
    ] = None,
    prim: Annotated[
        str | None, typer.Option(help="Path or name of the mesh in a USD or glTF file.")
    ] = None,
    weld: Annotated[
        str | None,
        typer.Option(
            help="Join vertices that coincide (true), or that are within a distance: 1 mm.",
            metavar="LENGTH",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Picture of the pattern, or of faces with a problem.", metavar="PNG", callback=png
        ),
    ] = None,
) -> None:
    """List every problem of a scene, pattern or mesh by name and place; exit status 1 if there is
    any.

    A picture beside the file shows faces that intersect or have no material area in red, a
    garment's pattern flat with its seams, and every map of a scene as colors.
    """
    from weft.run.check_scene import check as look_at
    from weft.scene.scene_input import scene_input

    source = scene_input(path)
    if source is not None:
        source.check(path, set_ or [], picture)
        return

    unit = None if scale is None else meters(scale, "--scale")
    uv_unit = None if uv_scale is None else meters(uv_scale, "--uv-scale")
    direction = three_numbers(warp, "--warp")
    try:
        shape: str | float | None = None if rest is None else float(rest)
    except ValueError:
        shape = rest
    joined: bool | float | None = None if weld is None else weld == "true"
    if weld not in (None, "true", "false"):
        joined = meters(str(weld), "--weld")
    how = {"warp": direction, "prim": prim, "rest": shape, "weld": joined}
    found = look_at(path, set_ or [], scale=unit, uv_scale=uv_unit, **how)  # type: ignore[arg-type]
    for fact in found.facts:
        say(f"         {fact}")
    say_problems(found.warnings, [_HERE.sub("", str(e)) for e in found.errors])
    target = picture or path.with_suffix(".check.png")
    with picture_beside_results():
        _draw_findings(found, target)
    end_check(len(found.warnings), found.errors)


def _draw_findings(found: "Findings", target: Path) -> None:
    """Draw the faces that have a problem, and the maps of a scene."""
    if found.marked is not None:
        mesh, ids = found.marked
        _draw(mesh, target, marked=ids)
        say(f"picture  {target} (marked in red: {', '.join(map(str, ids.tolist()))})")
    if found.crossing is not None:
        _show_crossing(found.crossing, target)
    for mesh, title, of, values in found.maps:
        shown = target.with_suffix(f".{title.replace(' ', '_')}.png")
        _draw_map(mesh, title, of, values, shown)
        say(f"picture  {shown} (map of {title})")
    if found.piece is not None:
        from weft.show.picture.panel_sketch import save_piece

        save_piece(target, found.piece)
        say(f"picture  {target} (the piece in the material plane, with the fault in red)")


def _draw(
    mesh: "TriangleMesh",
    target: Path,
    marked: "Ints | None" = None,
    field: "Field | None" = None,
) -> None:
    """Draw a mesh with some faces in red, or colored by a field."""
    from weft.show.picture.renderer import Renderer, save_png

    renderer = Renderer(mesh, [mesh.vertices], marked=marked, field=field)
    save_png(target, renderer.image(mesh.vertices))


def _draw_map(mesh: "TriangleMesh", title: str, unit: str, values: "Floats", target: Path) -> None:
    """Draw a mesh with the numbers (n,) of a map as colors."""
    from weft.show.looks import Field

    _draw(mesh, target, field=Field(title, unit, lambda x: values))


def _show_crossing(crossing: "tuple[TriangleMesh, Ints]", target: Path) -> None:
    """Draw the faces that intersect, and write an OBJ of them alone."""
    import numpy as np

    from weft.io.obj import write_obj

    mesh, pairs = crossing
    faces = np.unique(pairs)
    _draw(mesh, target, marked=faces)
    file = target.with_suffix(".obj")
    used, corners = np.unique(mesh.faces[faces], return_inverse=True)
    write_obj(
        file, mesh.vertices[used], corners.reshape(-1, 3).astype(np.int32), mesh.corner_uv[faces]
    )
    say(f"picture  {target} (intersecting faces in red), {file} (these faces)")


def three_numbers(text: str | None, option: str) -> "Angles | None":
    """Return the three numbers of an option's text; None: no text."""
    if text is None:
        return None
    try:
        x, y, z = (float(w) for w in text.split(","))
    except ValueError:
        raise MeshError(option, got=repr(text), expected="three numbers, like 0,1,0") from None
    return x, y, z
