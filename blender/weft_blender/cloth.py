# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth of Blender through weft and back: a folder of files, a run, a mesh cache."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from .meshes import (
    Problem,
    from_weft,
    matrix_of,
    members,
    meters,
    points,
    read_pc2,
    to_weft,
    uv_length,
    write_body,
    write_obj,
    write_pc2,
)
from .process import asked
from .said import write_scene

CACHE = "Weft"  # name of the modifier


def folder_of(thing: bpy.types.Object) -> Path:
    """Where a cloth's files are: beside the .blend, or in a folder for this session."""
    name = re.sub(r"[^\w.-]", "_", thing.name)
    if bpy.data.filepath:
        blend = Path(bpy.data.filepath)
        return blend.with_name(f"{blend.stem}_weft") / name
    return Path(bpy.app.tempdir or tempfile.gettempdir()) / "weft" / name


def region_name(material: bpy.types.Material | None, number: int) -> str:
    """A material's name as an OBJ has it."""
    named = "" if material is None else re.sub(r"[#\\\s]+", " ", material.name).strip()
    return named or f"material {number}"


def write_cloth(thing: bpy.types.Object, scene: bpy.types.Scene) -> Path:
    """All files that weft needs for a cloth; returns the scene file.

    Raises:
        Problem: an object that cannot be cloth.
    """
    if thing is None or thing.type != "MESH" or len(thing.data.polygons) == 0:
        raise Problem("select a mesh with faces: it becomes the cloth")
    if scene.frame_end <= scene.frame_start:
        raise Problem("the scene's last frame is not after its first")
    own, common, folder = thing.weft, scene.weft, folder_of(thing)
    folder.mkdir(parents=True, exist_ok=True)
    unit, matrix, mesh = meters(scene), matrix_of(thing), thing.data
    if not abs(np.linalg.det(matrix[:3, :3])) > 0:
        raise Problem(f"{thing.name} is scaled to nothing")
    x = to_weft(points(mesh), matrix, unit)
    used = sorted(
        {min(f.material_index, max(len(thing.material_slots) - 1, 0)) for f in mesh.polygons}
    )
    names = [region_name(s.material, k) for k, s in enumerate(thing.material_slots)]
    textured = mesh.uv_layers.active is not None
    write_obj(folder / "cloth.obj", mesh, x, names, textured=textured)
    cloth: dict = {"name": "cloth", "mesh": {"file": "cloth.obj"}, "thickness": "fabric"}
    if textured:
        length = own.uv_length * unit if own.uv_length > 0 else uv_length(mesh, x)
        cloth["mesh"]["uv_scale"] = float(length)
    else:
        cloth["mesh"]["warp"] = {"X": [1, 0, 0], "Y": [0, 0, -1], "Z": [0, 1, 0]}[own.warp]
    fabrics = {names[k]: _fabric_of(thing, k) for k in used} if names else {}
    if len(set(fabrics.values())) > 1:
        cloth["fabrics"] = fabrics
    else:
        cloth["fabric"] = next(iter(fabrics.values()), own.fabric)
    frames = scene.frame_end - scene.frame_start
    rate = scene.render.fps / scene.render.fps_base
    g = scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
    tree: dict = {
        "description": f"{thing.name}, from Blender",
        "cloth": cloth,
        "gravity": [float(g[0]), float(g[2]), -float(g[1])],
        "step": float(common.step),
        "seconds": float(frames / rate),
        "fps": float(rate),
    }
    if own.pins:
        tree["pins"] = [{"name": own.pins, "vertices": members(thing, own.pins, own.above)}]
    bodies = [
        b
        for b in (common.bodies.all_objects if common.bodies else ())
        if b.type == "MESH" and b != thing
    ]
    if bodies:
        tree["bodies"] = [write_body(folder, k, b, scene) for k, b in enumerate(bodies)]
    if bodies or common.contact:
        tree["contact"] = {"gap": float(common.gap), "friction": float(common.friction)}
    write_scene(folder / "scene.yaml", tree)
    shutil.rmtree(folder / "run", ignore_errors=True)
    return folder / "scene.yaml"


def _fabric_of(thing: bpy.types.Object, slot: int) -> str:
    """The fabric of a material, or the cloth's where it has none."""
    material = thing.material_slots[slot].material
    own = material.weft_fabric if material is not None else ""
    return own or str(thing.weft.fabric)


def read_back(thing: bpy.types.Object, scene: bpy.types.Scene, command: Sequence[str]) -> int:
    """The run of a cloth as a mesh cache of the object; returns the number of its frames.

    Raises:
        Problem: no run, or one of other vertices.
    """
    folder = folder_of(thing)
    world, cache = folder / "world.pc2", folder / "cloth.pc2"
    if not (folder / "run" / "manifest.json").exists():
        raise Problem(f"no run in {folder}")
    asked(command, "export", str(folder / "run"), str(world), "--up", "z")
    x = read_pc2(world)
    if x.shape[1] != len(thing.data.vertices):
        raise Problem(
            f"the run has {x.shape[1]} vertices, {thing.name} "
            f"{len(thing.data.vertices)}: simulate again"
        )
    matrix, unit = matrix_of(thing), meters(scene)
    write_pc2(cache, np.array([from_weft(frame, matrix, unit) for frame in x]))
    modifier = thing.modifiers.get(CACHE) or thing.modifiers.new(CACHE, "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(cache)
    modifier.frame_start, modifier.play_mode = float(scene.frame_start), "SCENE"
    modifier.time_mode, modifier.deform_mode, modifier.factor = "FRAME", "OVERWRITE", 1.0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    place = thing.modifiers.find(CACHE)
    if place > 0:  # before what subdivides or thickens
        thing.modifiers.move(place, 0)
    return len(x)
