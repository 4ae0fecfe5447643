"""The scene of a pattern alone: a standing mannequin wears it."""

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import yaml

from weft.scene.file import scene_text

OF_PATTERN = "cloth.garment."  # where a worn scene has the pattern


def worn_scene_text(pattern: Path, scene: Path) -> str:
    """Return the content of the scene file in which a standing woman wears a pattern.

    Args:
        pattern: the pattern's file.
        scene: the scene's file.
    """
    standing = (resources.files("weft") / "scenes" / "worn.yaml").read_text("utf-8")
    tree = yaml.safe_load(standing)
    tree["cloth"]["garment"]["pattern"] = os.path.relpath(pattern.resolve(), scene.resolve().parent)
    return scene_text(tree)


def worn_overrides(overrides: Sequence[str]) -> list[str]:
    """Return overrides ``path=value`` of the scene; ``measures.NAME`` is a measure of the
    pattern, and splines, which weft cannot untangle, start as they are.
    """
    texts = [text.lstrip() for text in overrides]
    splines = any(t.startswith("cloth.discretization=") and "bspline" in t for t in texts)
    own = ["contact.resolve=false"] if splines else []
    return own + [f"{OF_PATTERN}{t}" if t.startswith("measures.") else t for t in texts]
