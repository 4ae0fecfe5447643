"""The scene of a pattern alone: a standing mannequin wears it."""

import json
import os
from importlib import resources
from pathlib import Path

from weft.io.files import write_file


def write_worn_scene(pattern: Path, scene: Path) -> None:
    """Write the scene in which a standing woman wears a pattern.

    Args:
        pattern: the pattern's file.
        scene: the scene's file.

    Raises:
        RunError: the file cannot be written.
    """
    standing = (resources.files("weft") / "scenes" / "worn.yaml").read_text("utf-8")
    place = os.path.relpath(pattern.resolve(), scene.resolve().parent)
    write_file(scene, standing.replace("PATTERN", json.dumps(place)))


def find_worn_scene(pattern: Path, folder: Path | None = None) -> Path:
    """Return the scene file of a pattern in a folder (None: the current one); write it if it is not
    there.
    """
    scene = (folder or Path()) / f"{pattern.stem}.scene.yaml"
    if not scene.exists():
        write_worn_scene(pattern, scene)
    return scene
