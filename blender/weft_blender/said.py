# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene files for weft as text; nothing of Blender's here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def yaml(value: Any) -> str:
    """A tree of numbers, words, lists and mappings as YAML in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{float(f'{value:.7g}'):.9f}"  # digits of Blender's numbers; never 1e-05
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)}: {yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml(v) for v in value) + "]"
    return str(int(value))


def write_scene(path: Path, tree: Mapping[str, Any]) -> None:
    """A scene file, a line for each field."""
    lines = [f"{name}: {yaml(value)}" for name, value in tree.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
