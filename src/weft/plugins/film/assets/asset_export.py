"""Exports onto an asset: its own file, with the meshes that a run has moved."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from weft.base.errors import RunError
from weft.cli.export import number_frames, numbers
from weft.cli.options import say
from weft.io import check_times
from weft.io.animation import Animation
from weft.plugins.film.assets.asset_cloth import AssetCloth
from weft.plugins.film.assets.asset_cloths import asset_cloths
from weft.plugins.film.assets.obj_asset import write_obj_over
from weft.plugins.film.plugin import USD
from weft.plugins.film.usd.usd_layer import write_usd_layer
from weft.run.run import Run

# (path, asset, animation, cloths, first) -> notes: an asset of this format, moved by cloth
Over = Callable[[Path, Path, Animation, Sequence[AssetCloth], float | None], Sequence[str]]
OVER: Mapping[str, Over] = {".obj": write_obj_over, **dict.fromkeys(USD, write_usd_layer)}


def export_onto(
    run: Run,
    out: Path,
    asset: Path,
    prims: Sequence[str],
    first: int | None,
    frames: str | None,
    **how: object,
) -> None:
    """Write the meshes of an asset as the cloths of a run move them.

    Args:
        run: the run.
        out: the new file; with ``#`` in its name, one for every frame.
        asset: the file of the asset.
        prims: paths of its meshes, one for each cloth; none: found.
        first: number of the first frame in the file; None: as the asset has it.
        frames: which, as ``0:10:2``; None: all.
        **how: ``fps`` and ``shutter`` of ``Run.animation``.
    """
    cloths, begin = asset_cloths(run, asset, prims)
    if "#" in out.name:
        for path, one in number_frames(run, out, frames, first, **how):  # type: ignore[arg-type]
            write_over(path, asset, one, cloths)
    else:
        if first is None and begin is not None:
            first = begin + numbers(run, frames)[0]
        animation = run.animation(frames, first=first or 0, **how)  # type: ignore[arg-type]
        for note in write_over(out, asset, animation, cloths, first):
            say(f"note     {note}")
    say(f"wrote    {out} onto {asset}")


def write_over(
    path: Path,
    asset: Path,
    animation: Animation,
    cloths: Sequence[AssetCloth],
    first: float | None = None,
) -> Sequence[str]:
    """Write the meshes of an asset as the cloth of a run moves them, with all else as it is there.

    Args:
        path: the new file; of USD, a layer that goes over the asset.
        asset: the file of the asset, of the same format.
        animation: the run, in meters, y up; of OBJ, one frame.
        cloths: the meshes that move.
        first: number of the first frame in the file; None: as the asset has it.

    Returns:
        Notes for the user.

    Raises:
        RunError: formats for which this is not possible, or a file that cannot be written.
        MeshError: an asset that cannot be moved.
    """
    over = OVER.get(path.suffix.lower())
    if over is None or over is not OVER.get(asset.suffix.lower()):
        expected = f"both of one format: {', '.join(OVER)}"
        raise RunError("onto", got=f"{path.name} onto {asset.name}", expected=expected)
    check_times(path, animation)
    return over(path, asset, animation, cloths, first)
