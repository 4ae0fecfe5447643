"""Files that commands take in place of a scene, such as sewing patterns.

They are registered by name (``weft.extensions``, kind ``scene inputs``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import extensions


@dataclass(frozen=True)
class SceneInput:
    """A kind of file of which a scene can be made.

    Args:
        recognizes: (path) -> whether a file is of this kind.
        scene_file: (path, folder) -> the scene file that is made of it in a folder (None: the
            current one); one that is there already is kept.
        check: (path, overrides, picture) prints what is wrong with it and draws it.
        export: (path, target) writes it in another format.
        overrides: (overrides) -> those of the scene: ``--set`` may name fields of the file itself.
        doubts: (builder) -> warnings about the scene that was built of it.
    """

    recognizes: Callable[[Path], bool]
    scene_file: Callable[[Path, Path | None], Path]
    check: Callable[[Path, Sequence[str], Path | None], None]
    export: Callable[[Path, Path], None]
    overrides: Callable[[Sequence[str]], list[str]]
    doubts: Callable[[Any], Sequence[str]]


def scene_input(path: Path) -> SceneInput | None:
    """Return the source that recognizes a file; None: none does."""
    kinds = extensions.Registry[SceneInput]("scene inputs").values()
    return next((kind for kind in kinds if kind.recognizes(path)), None)
