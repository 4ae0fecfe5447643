"""File formats: the functions that read and write the files of one suffix.

Formats are registered by suffix (``weft.extensions``, kind ``formats``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.io.animation import Animation, SkinnedMotion
from weft.io.surface import Contents, MovingMesh


@dataclass(frozen=True)
class Format:
    """The functions that read and write files of one suffix; None: not supported."""

    # (path, prim, one=) -> contents: ``prim`` chooses a mesh, ``one`` refuses several meshes
    read: Callable[..., Contents] | None = None
    stage: bool = False  # ``read`` and ``moving`` take StageOptions, too
    moving: Callable[..., MovingMesh] | None = None  # (path, fps, prim)
    cache: Callable[[Path, float | None], tuple[Floats, Floats]] | None = None  # positions only
    # one frame; the fields only if the format carries fields
    write: Callable[..., None] | None = None  # (path, x, faces, corner_uv[, fields])
    animate: Callable[[Path, Animation], Sequence[str]] | None = None  # all frames; returns notes
    skinned: Callable[[Path, SkinnedMotion], None] | None = None  # a skeleton and its skin
    carries_fields: bool = False  # numbers at vertices and faces
    even: bool = False  # frames at equal distances of time alone, so that no shutter is possible
    shot: Callable[[Path], tuple[float, float, float]] | None = None  # rate, first and last frame


def read_alone(read: Callable[[Path], Contents]) -> Callable[..., Contents]:
    """Return a reader with the arguments of ``Format.read`` for files that hold one mesh."""

    def read_one(path: Path, prim: str | None, *, one: bool) -> Contents:
        if prim is not None:
            raise MeshError(
                "prim",
                got=repr(prim),
                where=path,
                expected="no name, because the file contains one mesh",
            )
        return read(path)

    return read_one
