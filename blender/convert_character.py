# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert a character that Blender can import (FBX, glTF) to a USD file with moving points.

    blender --background --python blender/convert_character.py -- walk.fbx walk.usdc

Modifiers and armatures are applied frame by frame: weft reads what Blender shows. Frames are those
of the file's actions.
"""

import argparse
import sys
from pathlib import Path
from typing import Any


def parse(words: "list[str]") -> argparse.Namespace:
    """Return the arguments after ``--``."""
    parser = argparse.ArgumentParser(prog="convert_character.py", description=__doc__)
    parser.add_argument("source", type=Path, help=".fbx, .glb or .gltf")
    parser.add_argument("target", type=Path, help=".usdc, .usda or .usd")
    parser.add_argument("--mesh", action="append", default=[], help="only these objects")
    return parser.parse_args(words)


def read(bpy: Any, source: Path) -> None:
    """Import a file into an empty scene, whose frames become those of its actions."""
    if not source.is_file():
        raise FileNotFoundError(f"no file {source}")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    importers = {
        ".fbx": bpy.ops.import_scene.fbx,
        ".glb": bpy.ops.import_scene.gltf,
        ".gltf": bpy.ops.import_scene.gltf,
    }
    importer = importers.get(source.suffix.lower())
    if importer is None:
        raise ValueError(f"{source.suffix or 'no suffix'}: expected {', '.join(importers)}")
    importer(filepath=str(source))
    ranges = [action.frame_range for action in bpy.data.actions]
    if ranges:
        bpy.context.scene.frame_start = int(min(r[0] for r in ranges))
        bpy.context.scene.frame_end = int(max(r[1] for r in ranges))


def select(bpy: Any, names: "list[str]") -> None:
    """Select the meshes that are written: all, or those of these names."""
    meshes = {o.name: o for o in bpy.context.scene.objects if o.type == "MESH"}
    missing = [n for n in names if n not in meshes]
    if missing or not meshes:
        raise ValueError(f"no mesh {', '.join(missing)}; there are: {', '.join(meshes) or 'none'}")
    for name, thing in meshes.items():
        thing.select_set(not names or name in names)


def main() -> None:
    """Convert the file that the command line names."""
    import bpy

    said = parse(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    read(bpy, said.source)
    select(bpy, said.mesh)
    bpy.ops.wm.usd_export(
        filepath=str(said.target.absolute()),
        selected_objects_only=True,
        export_animation=True,
        export_armatures=False,
        export_shapekeys=False,
        export_materials=False,
    )
    scene = bpy.context.scene
    sys.stdout.write(f"wrote {said.target}, frames {scene.frame_start} to {scene.frame_end}\n")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, RuntimeError) as error:
        sys.stderr.write(f"convert_character: {error}\n")
        sys.exit(2)
