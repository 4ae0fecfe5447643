"""The meshes of the robots' scenes: garments laid flat, a sleeve, and a mannequin's arm.

``python -m studies.garments.lay_flat src/weft/plugins/robots/learning/scenes`` writes ``tee.obj``
and ``trousers.obj`` (GarmentCode patterns of ``examples/garments``, sewn on a table and pressed by
a plate), ``sleeve.obj`` (a tube) and ``arm.obj`` (the left arm of the mannequin ``woman``). Texture
coordinates are the rest shape [m].
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import yaml

import weft
from weft.scene.build import load_scene

PATTERNS = Path(__file__).parents[2] / "examples" / "garments" / "garmentcode"
FIRST, LAYER = 1.5, 0.25  # [cm] height of the lowest panel over the middle, and of one over another
SHOULDER = 0.22  # [m] from the mannequin's middle, where the arm is cut off
HAND, HEIGHT = -0.15, 0.3  # [m] place of the fingertips, and height of the arm
RADIUS, LENGTH, AROUND, ALONG = 0.08, 0.25, 20, 8  # [m], and cells of the sleeve


def lay_garment(name: str, size: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, faces and material coordinates of the corners of a flat garment."""
    pattern = json.loads((PATTERNS / f"{name}_specification.json").read_text())
    for k, panel in enumerate(pattern["pattern"]["panels"].values()):
        place = panel["translation"]
        place[2] = (FIRST if place[2] > 0 else -FIRST) + LAYER * (k % 4)
    flat, pressed = {"time": "2 s"}, {"translation": [0, "-38.6 cm", 0]}
    way = [{"time": 0}, flat, {"time": "3.4 s", **pressed}, {"time": "3.8 s", **pressed}]
    plate = {"width": "3 m", "depth": "3 m", "size": "1 m"}
    scene = {
        "cloth": {
            "garment": {"pattern": "pattern.json", "size": size, "start": "pattern"},
            "rotation": [-90, 0, 0],
            "translation": [0, "3 cm", "1 m"],
        },
        "contact": {"gap": "3 mm", "friction": 0.3},
        "law": {"name": "immediate_buckling"},
        "bodies": [
            {"name": "table", "plate": plate},
            {
                "name": "press",
                "plate": plate,
                "translation": [0, "40 cm", 0],
                "path": {"hold": True, "keyframes": [*way, {"time": "4.6 s"}]},
            },
        ],
        "sewing": {"closing": "1 s", "settle": "1 s", "onset": "0.2 s"},
        "integrator": {"backward_euler": {"effort": "interactive"}},
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pattern.json").write_text(json.dumps(pattern))
        Path(folder, "scene.yaml").write_text(yaml.safe_dump({**scene, "seconds": 6}))
        loaded = load_scene(Path(folder, "scene.yaml"))
        run = weft.simulate(loaded.scene, frames=150, fps=25, out=Path(folder, "run"))
        assert loaded.builder is not None
        mesh, _ = loaded.builder.made[0].weld(run.positions(150))
    x = mesh.vertices - 0.5 * (mesh.vertices.min(0) + mesh.vertices.max(0)) * [1, 0, 1]
    return x, mesh.faces, mesh.corner_uv


def make_sleeve() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a tube about the arm's axis, before the hand."""
    flat = weft.sheet(ALONG + 1, AROUND + 1, 1.0, 1.0, pattern="alternating").mesh
    u, v = flat.vertices[:, 0] + 0.5, flat.vertices[:, 2] + 0.5
    turn = np.round(2 * np.pi * (v % (1 - 1e-9)), 6)
    x = np.stack([LENGTH * u - LENGTH - 0.05 + HAND, np.cos(turn), np.sin(turn)], axis=1)
    x[:, 1:] = RADIUS * x[:, 1:] + [HEIGHT, 0]
    keep, new = np.unique(np.round(x, 6), axis=0, return_inverse=True)
    chord = 2 * RADIUS * AROUND * np.sin(np.pi / AROUND)  # rest edges are those of the polygon
    uv = np.stack([LENGTH * u, chord * v], axis=1)
    return keep, new.reshape(-1)[flat.faces], uv[flat.faces]


def cut_arm() -> tuple[np.ndarray, np.ndarray]:
    """Return positions and faces of the mannequin's left arm, with the hand towards -x."""
    made = weft.Mannequin.of("woman")
    x = made.pose_vertices("t_pose")
    ids, new = np.unique(made.faces[(x[made.faces, 0] > SHOULDER).all(1)], return_inverse=True)
    x = x[ids] * [-1, 1, 1]
    middle = 0.5 * (x.min(0) + x.max(0))
    return x - [x[:, 0].min() - HAND, middle[1] - HEIGHT, middle[2]], new.reshape(-1, 3)[:, ::-1]


def write_obj(path: Path, x: np.ndarray, faces: np.ndarray, uv: np.ndarray | None = None) -> None:
    """Write a mesh, with its material coordinates if it has any."""
    lines = [f"v {a:.7f} {b:.7f} {c:.7f}" for a, b, c in x]
    if uv is None:
        lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    else:
        every, index = np.unique(np.round(uv, 7).reshape(-1, 2), axis=0, return_inverse=True)
        lines += [f"vt {u:.7f} {v:.7f}" for u, v in every]
        corners = np.stack([faces, index.reshape(-1, 3)], axis=2) + 1
        lines += ["f " + " ".join(f"{v}/{t}" for v, t in face) for face in corners]
    path.write_text("\n".join([f"# {path.stem}, by studies/garments/lay_flat.py", *lines, ""]))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write_obj(folder / "sleeve.obj", *make_sleeve())
    write_obj(folder / "arm.obj", *cut_arm())
    for name, size in (("tee", "5 cm"), ("trousers", "6 cm")):
        write_obj(folder / f"{name}.obj", *lay_garment(name, size))
