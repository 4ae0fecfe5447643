"""Script that Blender runs: writes meshes with point caches to Alembic, and Alembic to arrays.

The script runs in Blender's Python with nothing but its standard library; weft never imports it.
"""

import array
import json
import pathlib
import struct
import sys
from typing import Any

Tree = dict[str, Any]  # a tree of JSON


def numbers(path: str, code: str) -> "array.array[float]":
    """Return the numbers in a file; ``code`` is their type in the module array."""
    data: array.array[float] = array.array(code)
    data.frombytes(pathlib.Path(path).read_bytes())
    return data


def write_alembic(bpy: Any, job: Tree) -> Tree:
    """Write meshes that point caches move to an .abc file."""
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = job["fps"], job["fps_base"]
    scene.frame_start, scene.frame_end = job["first"], job["last"]
    for shape in job["shapes"]:
        x, f = numbers(shape["x"], "f"), numbers(shape["faces"], "i")
        mesh = bpy.data.meshes.new(shape["name"])
        mesh.from_pydata(
            [tuple(x[i : i + 3]) for i in range(0, len(x), 3)],
            [],
            [tuple(f[i : i + 3]) for i in range(0, len(f), 3)],
        )
        if shape["uv"]:
            mesh.uv_layers.new(name="st").data.foreach_set("uv", numbers(shape["uv"], "f"))
        thing = bpy.data.objects.new(shape["name"], mesh)
        scene.collection.objects.link(thing)
        if shape["cache"]:
            add_cache(thing, shape["cache"], job["first"])
    export_alembic(bpy, job, face_sets=False)
    return {}


def export_alembic(bpy: Any, job: Tree, *, face_sets: bool) -> None:
    """Write the scene as an .abc file."""
    bpy.ops.wm.alembic_export(
        filepath=job["out"],
        start=job["first"],
        end=job["last"],
        uvs=True,
        normals=False,
        face_sets=face_sets,
        export_hair=False,
        export_particles=False,
        as_background_job=False,
    )


def write_alembic_over(bpy: Any, job: Tree) -> Tree:
    """Write the meshes of an .abc file as point caches move them, with all else as it is there."""
    scene = bpy.context.scene
    bpy.ops.wm.alembic_import(filepath=job["file"], as_background_job=False)
    scene.render.fps, scene.render.fps_base = job["fps"], job["fps_base"]
    scene.frame_start, scene.frame_end = job["first"], job["last"]
    things = {o.name: o for o in scene.objects if o.type == "MESH"}
    for k, mesh in enumerate(job["meshes"]):
        thing = things[mesh["name"]] if mesh["name"] else next(iter(things.values()))
        for old in [m for m in thing.modifiers if m.type == "MESH_SEQUENCE_CACHE"]:
            thing.modifiers.remove(old)
        x, n = numbers(mesh["x"], "f"), len(thing.data.vertices)
        moved, path = thing.data.copy(), pathlib.Path(job["folder"]) / f"over{k}.pc2"
        frames = range(job["first"], job["last"] + 1)
        with path.open("wb") as file:
            file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, n, 0.0, 1.0, len(frames)))
            for i, frame in enumerate(frames):
                scene.frame_set(frame)
                moved.vertices.foreach_set("co", x[3 * n * i : 3 * n * (i + 1)])
                moved.transform(thing.matrix_world.inverted())
                local = array.array("f", bytes(12 * n))
                moved.vertices.foreach_get("co", local)
                file.write(local.tobytes())
        add_cache(thing, str(path), job["first"])
    export_alembic(bpy, job, face_sets=True)
    return {}


def add_cache(thing: Any, path: str, first: int) -> None:
    """Let a point cache, in the axes of Blender, move a mesh from frame ``first`` on."""
    cache = thing.modifiers.new("weft", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", path, first
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"


def read_alembic(bpy: Any, job: Tree) -> Tree:
    """Write the positions of all meshes of an .abc file at all frames as arrays, and describe
    them.
    """
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = job["fps"], job["fps_base"]
    bpy.ops.wm.alembic_import(filepath=job["file"], as_background_job=False)
    things = sorted((o for o in scene.objects if o.type == "MESH"), key=lambda o: o.name)
    frames = range(scene.frame_start, scene.frame_end + 1)
    folder = pathlib.Path(job["folder"])
    meshes: list[Tree] = [{"name": thing.name} for thing in things]
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for k, thing in enumerate(things):
            shown = thing.evaluated_get(graph)
            mesh = shown.to_mesh()
            mesh.transform(shown.matrix_world)
            x = array.array("f", bytes(12 * len(mesh.vertices)))
            mesh.vertices.foreach_get("co", x)
            with (folder / f"x{k}").open("ab") as file:
                file.write(x.tobytes())
            if frame == frames[0]:
                meshes[k].update(topology(mesh, folder, k))
            shown.to_mesh_clear()
    return {"meshes": meshes, "frames": len(frames)}


def topology(mesh: Any, folder: pathlib.Path, k: int) -> Tree:
    """Write the faces and texture coordinates of a mesh as arrays, and describe them."""
    counts = array.array("i", bytes(4 * len(mesh.polygons)))
    mesh.polygons.foreach_get("loop_total", counts)
    ids = array.array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("vertex_index", ids)
    (folder / f"counts{k}").write_bytes(counts.tobytes())
    (folder / f"ids{k}").write_bytes(ids.tobytes())
    layer = mesh.uv_layers.active
    if layer is not None:
        uv = array.array("f", bytes(8 * len(mesh.loops)))
        layer.data.foreach_get("uv", uv)
        (folder / f"uv{k}").write_bytes(uv.tobytes())
    return {"vertices": len(mesh.vertices), "uv": layer is not None}


def main() -> None:
    """Run the task of job.json in an empty scene."""
    import bpy

    job = json.loads(pathlib.Path(sys.argv[-1]).read_text())
    bpy.ops.wm.read_factory_settings(use_empty=True)
    tasks = (write_alembic, write_alembic_over, read_alembic)
    result = {task.__name__: task for task in tasks}[job["task"]](bpy, job)
    (pathlib.Path(job["folder"]) / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.stderr.write(f"weft: {type(error).__name__}: {error}\n")
        sys.exit(3)
