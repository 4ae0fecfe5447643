# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth of Blender through weft and back: a folder of files, a run, a mesh cache."""

import re
import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np

from .meshes import (
    CACHE,
    Problem,
    append_pc2,
    before_cache,
    count_pc2,
    each_frame,
    frame_rate,
    from_weft,
    members,
    meters,
    points,
    to_weft,
    uv_length,
    weights,
    without_cloth,
    write_body,
    write_motion,
    write_obj,
    write_pc2,
)
from .said import write_scene
from .settings import UNITS

PLACED = "placed.npz"  # where the object is in each frame
PIN = 1e5  # [N/m] of a pin that moves, at a vertex with the mean area


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
    common, folder, stiffness = scene.weft, folder_of(thing), []
    folder.mkdir(parents=True, exist_ok=True)
    posed, matrices = [], []
    with without_cloth(thing):
        for _, x, matrix in each_frame(thing, scene):
            posed.append(x)
            matrices.append(matrix)
            stiffness.append(float(thing.weft.goal_stiffness))
    if len(posed[0]) != len(thing.data.vertices):
        raise Problem(f"{thing.name}: a modifier that moves vertices makes others, too")
    if not (np.abs(np.linalg.det(np.array(matrices)[:, :3, :3])) > 0).all():
        raise Problem(f"{thing.name} is scaled to nothing")
    g = scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
    tree: dict = {
        "description": f"{thing.name}, from Blender",
        "cloth": _write_mesh(folder, thing, posed[0], matrices[0], meters(scene)),
        "gravity": [float(g[0]), float(g[2]), -float(g[1])],
        "step": float(common.step),
        "seconds": (scene.frame_end - scene.frame_start) / frame_rate(scene),
        "fps": frame_rate(scene),
    }
    tree |= _held(folder, thing, scene, np.array(posed), stiffness)
    bodies = [
        b
        for b in (common.bodies.all_objects if common.bodies else ())
        if b.type == "MESH" and b != thing
    ]
    if bodies:
        tree["bodies"] = [write_body(folder, f"body{k}", b, scene) for k, b in enumerate(bodies)]
    if bodies or common.contact:
        tree["contact"] = {"gap": float(common.gap), "friction": _friction(thing, scene)}
    write_scene(folder / "scene.yaml", tree)
    np.savez(folder / PLACED, matrices=matrices, unit=meters(scene), first=scene.frame_start)
    shutil.rmtree(folder / "run", ignore_errors=True)
    (folder / "cloth.pc2").unlink(missing_ok=True)
    return folder / "scene.yaml"


def _write_mesh(
    folder: Path, thing: bpy.types.Object, start: np.ndarray, matrix: np.ndarray, unit: float
) -> dict:
    """The mesh where it starts (n,3) [m], as it is at rest, and painted weights; returns what a
    scene file says of the cloth.
    """
    own, mesh = thing.weft, thing.data
    numbers = [m.number for m in own.maps]
    if len(set(numbers)) < len(numbers):
        raise Problem(f"two maps change the same number: {', '.join(sorted(numbers))}")
    rest = to_weft(points(mesh), matrix, unit)
    used = sorted(
        {min(f.material_index, max(len(thing.material_slots) - 1, 0)) for f in mesh.polygons}
    )
    names = [region_name(s.material, k) for k, s in enumerate(thing.material_slots)]
    textured = mesh.uv_layers.active is not None
    write_obj(folder / "cloth.obj", mesh, start, names, textured=textured)
    said: dict = {"file": "cloth.obj"}
    if textured and own.rest == "UV":
        length = own.uv_length * unit if own.uv_length > 0 else uv_length(mesh, rest)
        said |= {"rest": "uv", "uv_scale": float(length)}
    elif np.array_equal(rest, start):
        said["rest"] = "mesh"
    else:
        write_obj(folder / "rest.obj", mesh, rest, names, textured=textured)
        said["rest"] = "rest.obj"
    if not textured:
        said["warp"] = {"X": [1, 0, 0], "Y": [0, 0, -1], "Z": [0, 1, 0]}[own.warp]
    cloth: dict = {"name": "cloth", "mesh": said, "thickness": "fabric"}
    fabrics = {names[k]: _fabric_of(thing, k) for k in used} if names else {}
    if len({str(f) for f in fabrics.values()}) > 1:
        cloth["fabrics"] = fabrics
    else:
        cloth["fabric"] = next(iter(fabrics.values()), _with_maps(thing, own.fabric))
    paint = {}
    groups = [m.group for m in own.maps] + ([own.goals] if own.goals else [])
    for k, group in enumerate(dict.fromkeys(groups)):
        paint[group] = f"weights{k}.npy"
        np.save(folder / paint[group], weights(thing, group))
    return cloth | ({"paint": paint} if paint else {})


def _fabric_of(thing: bpy.types.Object, slot: int) -> str | dict:
    """The fabric of a material, or the cloth's where it has none."""
    material = thing.material_slots[slot].material
    own = material.weft_fabric if material is not None else ""
    return _with_maps(thing, own or str(thing.weft.fabric))


def _with_maps(thing: bpy.types.Object, fabric: str) -> str | dict:
    """A fabric with the numbers that vertex groups change."""
    maps = {
        m.number: {
            "map": m.group,
            "from": f"{m.low:.7g} {UNITS[m.number]}",
            "to": f"{m.high:.7g} {UNITS[m.number]}",
        }
        for m in thing.weft.maps
        if m.number != "friction"
    }
    return {"preset": fabric} | maps if maps else fabric


def _friction(thing: bpy.types.Object, scene: bpy.types.Scene) -> float | dict:
    """Friction: that of the scene, or one that a vertex group changes."""
    for m in thing.weft.maps:
        if m.number == "friction":
            if not 0 <= m.low <= m.high or m.high == 0:
                raise Problem("friction: where weights are 1 it has to be the greater one")
            return {"static": float(m.high), "map": m.group, "low": float(m.low / m.high)}
    return float(scene.weft.friction)


def _held(
    folder: Path,
    thing: bpy.types.Object,
    scene: bpy.types.Scene,
    posed: np.ndarray,
    stiffness: list[float],
) -> dict:
    """Pins and goals, as a scene file has them.

    Args:
        folder: where the guide goes.
        thing: the cloth.
        scene: its frames.
        posed: (k,n,3) [m] of the vertices in each frame, as they are animated.
        stiffness: (k,) [N/m^3] of goals.
    """
    own, tree = thing.weft, {}
    motion = write_motion(folder / "guide.pc2", posed, scene)
    ends = {"guide": {"name": "animation", "mesh": {"file": "cloth.obj"} | motion}}
    if not motion:
        ends = {}  # drawn to where they start
    if own.pins:
        held = members(thing, own.pins, own.above)
        tree["pins"] = [{"name": own.pins, "vertices": held}]
        if not (posed[:, held] == posed[0, held]).all():
            hard = {"kind": "goal", "name": own.pins, "vertices": held, **ends}
            hard["stiffness_per_area"] = f"{PIN / _vertex_area(thing, posed[0]):.4g} N/m^3"
            tree = {"attachments": [hard]}
    if own.goals:
        goal = {"kind": "goal", "name": f"goal {own.goals}", "weight": {"map": own.goals}}
        if own.guide is not None:
            guide = write_body(folder, "guide_mesh", own.guide, scene)
            same = len(own.guide.data.polygons) == len(thing.data.polygons)
            ends = {"guide": guide, "nearest": not same}
        keys = [[k / frame_rate(scene), value] for k, value in enumerate(stiffness)]
        constant = len(set(stiffness)) == 1
        goal["stiffness_per_area"] = stiffness[0] if constant else {"keys": keys}
        goal["damping"] = float(own.goal_damping)
        tree.setdefault("attachments", []).append(goal | ends)
    return tree


def _vertex_area(thing: bpy.types.Object, x: np.ndarray) -> float:
    """[m²] of cloth at a vertex, in the mean, where it is at x (n,3) [m]."""
    thing.data.calc_loop_triangles()
    ids = np.array([t.vertices for t in thing.data.loop_triangles])
    p = x[ids]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum() / 2
    return float(area) / len(x)


def frames_of(folder: Path) -> list[Path]:
    """Files of the frames that a run has, in their order."""
    return sorted((folder / "run" / "frames").glob("*.npz"))


def read_back(thing: bpy.types.Object, *, anew: bool = True) -> int:
    """The run of a cloth as a mesh cache of the object; returns the number of its frames.

    Args:
        thing: the cloth.
        anew: read all frames; otherwise those that the cache does not have.

    Raises:
        Problem: no run, or one of other vertices.
    """
    folder = folder_of(thing)
    cache, found = folder / "cloth.pc2", frames_of(folder)
    if not found or not (folder / PLACED).exists():
        raise Problem(f"no run in {folder}")
    known = 0 if anew else count_pc2(cache)
    with np.load(folder / PLACED) as placed:
        matrices, unit, first = placed["matrices"], float(placed["unit"]), float(placed["first"])
    new = []
    for k, file in enumerate(found[known:], known):
        with np.load(file) as frame:
            x = frame["x"]
        if len(x) != len(thing.data.vertices):
            raise Problem(
                f"the run has {len(x)} vertices, {thing.name} "
                f"{len(thing.data.vertices)}: simulate again"
            )
        new.append(from_weft(x, matrices[min(k, len(matrices) - 1)], unit))
    if new and known:
        append_pc2(cache, np.array(new))
    elif new:
        write_pc2(cache, np.array(new))
    _show(thing, cache, first)
    return known + len(new)


def _show(thing: bpy.types.Object, cache: Path, first: float) -> None:
    """The modifier with a cache whose first frame has this number."""
    modifier = thing.modifiers.get(CACHE) or thing.modifiers.new(CACHE, "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(cache)
    modifier.frame_start, modifier.play_mode = first, "SCENE"
    modifier.time_mode, modifier.deform_mode, modifier.factor = "FRAME", "OVERWRITE", 1.0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    place = len(before_cache(thing))  # the cache is after what animates the mesh
    if thing.modifiers.find(CACHE) != place:
        thing.modifiers.move(thing.modifiers.find(CACHE), place)
    thing.update_tag()
