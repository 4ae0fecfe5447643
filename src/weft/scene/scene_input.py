"""Files that commands take in place of a scene, such as sewing patterns.

They are registered by name (``weft.extensions``, kind ``scene inputs``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from weft import extensions


class NewScene(NamedTuple):
    """A scene file, and its content if it is not written yet."""

    path: Path
    text: str | None = None


@dataclass(frozen=True)
class SceneInput:
    """A kind of file of which a scene can be made.

    Args:
        recognizes: (path) -> whether a file is of this kind.
        scene_text: (path, scene) -> the content of the scene file ``scene`` that is made of it.
        check: (path, overrides, picture) prints what is wrong with it and draws it.
        export: (path, target) writes it in another format.
        overrides: (overrides) -> those of the scene: ``--set`` may name fields of the file itself.
        doubts: (builder) -> warnings about the scene that was built of it.
    """

    recognizes: Callable[[Path], bool]
    scene_text: Callable[[Path, Path], str]
    check: Callable[[Path, Sequence[str], Path | None], None]
    export: Callable[[Path, Path], None]
    overrides: Callable[[Sequence[str]], list[str]]
    doubts: Callable[[Any], Sequence[str]]


def scene_input(path: Path) -> SceneInput | None:
    """Return the source that recognizes a file; None: none does."""
    kinds = extensions.Registry[SceneInput]("scene inputs").values()
    return next((kind for kind in kinds if kind.recognizes(path)), None)


def scene_beside(path: Path, folder: Path, text: Callable[[Path, Path], str]) -> NewScene:
    """Return the scene file of a file in a folder, NAME.scene.yaml; one that is there is kept.

    Args:
        path: the file.
        folder: of the scene file.
        text: as ``scene_text`` of a ``SceneInput``.
    """
    scene = folder / f"{path.stem}.scene.yaml"
    return NewScene(scene, None if scene.exists() else text(path, scene))
