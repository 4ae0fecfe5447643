"""Patterns in place of scenes: a standing mannequin wears them."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.base.errors import RunError
from weft.cli.options import say
from weft.plugins.garments.bodies.landmarks import find_landmarks
from weft.plugins.garments.cli.check_pattern import check_pattern, is_pattern
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.check import check_pattern as raise_problems
from weft.plugins.garments.scene.ease_check import add_ease
from weft.plugins.garments.scene.worn_scene import worn_overrides, worn_scene_text
from weft.plugins.garments.sheets.svg_writer import write_svg
from weft.run.check_scene import Findings
from weft.scene.scene_input import SceneInput


def export_pattern(path: Path, out: Path) -> None:
    """Write a pattern as SVG, with its side-car file."""
    if out.suffix.lower() != ".svg":
        raise RunError("export name", got=out.name, expected=".svg of a pattern")
    with warnings.catch_warnings(record=True, action="always") as caught:
        pattern = read_pattern(path)
        raise_problems(pattern)
        written = write_svg(out, pattern)
    for warning in caught:
        say(f"warning  {warning.message}")
    say(f"wrote    {written[0]} (to scale: print it at 100 %) and {written[1].name}")


def doubts(builder: Any) -> Sequence[str]:
    """Return warnings about the ease of garments on the first body.

    Raises:
        MeshError: the body is no person.
    """
    find_landmarks(builder.bodies[0])
    found = Findings()
    add_ease(builder, found)
    return found.warnings


PATTERN = SceneInput(
    is_pattern, worn_scene_text, check_pattern, export_pattern, worn_overrides, doubts
)
