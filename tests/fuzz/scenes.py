"""Small scenes that have every block of a scene file between them, and the files that they name."""

import math

import numpy as np

import weft
from weft.scene.schema import SceneFile

SHEET = "cloth: {sheet: {nx: 5, ny: 4}}\npins: [{corners: top}]\nseconds: 0.1 s\n"

SMALL = {
    "sheet": SHEET,
    "moving": """cloth: {sheet: {nx: 5, ny: 6, pattern: alternating},
  fabric: {preset: linen, damping: 5 ms}}
pins: [{corners: top, path: {keyframes: [{time: 0, translation: [0, 0, 0]},
  {time: 1, translation: [0, 10 cm, 0], rotation: 20}], axis: [0, 1, 0], hold: true}}]
integrator: {bdf2: {tolerance: 1 mm/s, max_iterations: 30, linear: pcg}}
step: 10 ms
""",
    "contact": """cloths:
- {name: a, sheet: {nx: 4, ny: 5, width: 30 cm, height: 30 cm}, translation: [0, 2 cm, 0]}
- {name: b, sheet: {nx: 5, ny: 4, width: 30 cm, height: 30 cm}, translation: [0, 4 cm, 0]}
contact: {gap: 4 mm, friction: {static: 0.4, kinetic: 0.2}, thickness: 1 mm,
  pairs: [{between: [a, b], friction: 0.1}]}
bodies:
- {name: ball, sphere: {radius: 10 cm, size: 6 cm}, translation: [0, -10 cm, 0]}
- {box: {width: 1 m, height: 10 cm, depth: 1 m, size: 30 cm}, translation: [0, -40 cm, 0]}
""",
    "panel": """cloth: {panel: {outline: [[0, 0], [40 cm, 0], [40 cm, 30 cm], [0, 30 cm]],
  size: 12 cm}}
integrator: baraff_witkin_1998
adaptive: {limit: 0.1}
pins: [{box: {low: [-1, -1, -1], high: [-0.1, 1, 1]}}]
""",
    "spline": """cloth: {sheet: {nx: 6, ny: 6}, discretization: bspline,
  spline: {density: 2, rule: full}}
pins: [{corners: top}]
law: {name: stvk, warp: [1, 0]}
damping: 1 ms
""",
    "buckling": """cloth: {sheet: {nx: 5, ny: 5}}
law: {name: immediate_buckling}
buckling: {compression: 30 N/m}
integrator: bdf2_semi_implicit
velocity: [0, 1, 0]
pins: [{corners: all, until: 20 ms}]
""",
    "attachments": """cloths:
- {name: a, sheet: {nx: 4, ny: 4, width: 30 cm, height: 30 cm}, translation: [0, 20 cm, 0]}
- {name: b, sheet: {nx: 4, ny: 4, width: 30 cm, height: 30 cm}}
bodies:
- {name: rod, capsule: {radius: 2 cm, length: 40 cm, size: 3 cm}, rotation: [0, 0, 90],
   translation: [0, 25 cm, -15 cm]}
attachments:
- {name: clip, kind: body, cloth: a, corners: top, body: rod, within: 10 cm, stiffness: 1 kN/m,
   release: {at: 50 ms, force: 3 N}}
- {name: lace, kind: cloth, cloth: a, border: bottom, to: {cloth: b, border: bottom}, within: 30 cm,
   length: {keys: [[0 s, 20 cm], [1 s, 10 cm]], between: smooth}, closing: 20 ms}
- {name: line, kind: rope, cloth: b, vertices: [0], at: [0, 1 m, 0], length: 1 m, onset: 0.02,
   path: {keyframes: [{time: 0}, {time: 1 s, translation: [10 cm, 0, 0]}], hold: true}}
- {name: coil, kind: spring, cloth: b, corners: top-left, at: [0, 1 m, 0], stiffness: 10 N/m,
   damping: 10 ms, length: 90 cm}
- {name: rings, kind: slide, cloth: b, border: top, every: 2, along: [[-30 cm, 2 cm, -15 cm],
   [30 cm, 2 cm, -15 cm]], radius: 2 cm, friction: 0.1, spacing: 1 cm, within: 20 cm}
""",
    "rigid": """cloth: {name: c, sheet: {nx: 4, ny: 4, width: 40 cm, height: 40 cm}}
pins: [{border: left}]
contact: {gap: 4 mm, friction: 0.3, pinch: thin}
bodies:
- name: ball
  sphere: {radius: 5 cm, size: 4 cm}
  translation: [0, 15 cm, 0]
  rigid: {mass: 100 g, velocity: [0, -1 m/s, 0], spin: [0, 1 rad/s, 0],
    stiffness: 10 MPa, air: true,
    joints: [{kind: rope, name: cord, point: [0, 20 cm, 0], at: [0, 50 cm, 0], length: 30 cm,
      release: {force: 10 N}}]}
- name: arm
  box: {width: 10 cm, height: 4 cm, depth: 4 cm, size: 5 cm}
  translation: [0, -20 cm, 0]
  rigid: {density: 500 kg/m^3, joints: [
    {kind: hinge, point: [-5 cm, -20 cm, 0], axis: [0, 0, 1], stiffness: 1e6 N/m},
    {kind: spring, to: ball, stiffness: 10 N/m, damping: 10 ms}]}
wind: {velocity: [1 m/s, 0, 0]}
step: 10 ms
""",
    "wind": """cloth: {sheet: {nx: 5, ny: 4}, fabric: silk, rotation: [90, 0, 0]}
pins: [{border: left}]
wind: {velocity: [{keys: [[0 s, 3 m/s], [1 s, 5 m/s]]}, 0, 1 m/s], density: 1.2 kg/m^3, drag: 1.1,
  lift: 1, crossflow: true, gusts: {intensity: 0.2, length: 50 cm, seed: 3, bands: 4}}
gravity: [0, {keys: [[0 s, -9.8], [1 s, -3 m/s^2]], between: hold}, 0]
damping: 2 ms
step: 10 ms
""",
    "limits": """cloth:
  sheet: {nx: 5, ny: 5, width: 20 cm, height: 20 cm}
  fabric: {preset: jersey, curve_warp: [[5 %, 12 N/m], [10 %, 30 N/m], [20 %, 130 N/m]],
    curve_weft: [[5 %, 7 N/m], [20 %, 60 N/m]], limit: [14 %, 18 %], limit_shear: 20 deg,
    crease_yield: 20 1/m, crease_hardening: 2, crease_recovery: 5 s, crease_lasting: 50 %}
pins: [{corners: top}]
law: {name: measured}
pressed: [{line: [[10 cm, 0], [10 cm, 20 cm]], angle: 30}]
damping: 5 ms
step: 10 ms
""",
    "closed": """cloth: {mesh: {file: tent.obj, scale: 1 m, uv_scale: 1 m}, fabrics: {left: denim,
  right: {preset: silk, density: 80 gsm}}, thickness: fabric, rest_angles: as-given}
pins: [{group: left}]
pressure: {pressure: 10 Pa, volume: {keys: [[0 s, 9 dm^3], [1 s, 12000 cm^3]]}, ambient: 101 kPa}
contact: {gap: 1 mm, friction: 0.2, pairs: [{between: [left, right], ignore: true}]}
step: 10 ms
""",
    "settled": """cloth: {sheet: {nx: 5, ny: 4, width: 40 cm, height: 40 cm}}
pins: [{corners: top, path: {keyframes: [{time: 0}, {time: 100 ms, translation: [0, 1 cm, 0]}],
  hold: true}}]
integrator: {quasi_static: {tolerance: 0.1 mm, force_tolerance: 0.01, max_iterations: 400,
  load_steps: 2, imperfection: 0.001, seed: 1, try_exact: true}}
seconds: 0.1 s
""",
    "bodies": """cloth: {sheet: {nx: 4, ny: 4, width: 20 cm, height: 20 cm},
  translation: [0, 90 cm, 0]}
contact: {gap: 4 mm, stick: 1 mm/s, friction_from: 10 ms, lags: 2, resolve: true}
record: [stress]
bodies:
- {name: ground, height_field: {file: heights.csv, width: 1 m, depth: 1 m, low: -10 cm,
   high: 0 m, base: 10 cm}}
- {name: blob, distance_grid: {file: blob.npz}, translation: [0, 40 cm, 0]}
- {name: moves, mesh: {file: frames.npz, fps: 10, start: 0 s, hold: true, scale: 1 m}}
- {name: cone, cone: {radius: 6 cm, top: 1 cm, height: 2 cm, size: 3 cm}, translation: [1 m, 0, 0],
   thickness: 1 mm, path: {keyframes: [{time: 0}, {time: 1 s, rotation: 90}],
   axis: [0, 1, 0], center: [0, 0, 0]}}
- {name: tube, cylinder: {radius: 4 cm, length: 9 cm, size: 3 cm}, translation: [2 m, 0, 0]}
- {name: hoop, ring: {radius: 10 cm, thickness: 2 cm, size: 2 cm}, translation: [3 m, 0, 0]}
- {name: dish, disk: {radius: 10 cm, size: 5 cm}, translation: [4 m, 0, 0]}
- {name: floor, plane: {extent: 10 m}, translation: [0, -1 m, 0]}
""",
    "conditions": """cloth: {sheet: {nx: 4, ny: 4}, fabric: cotton}
pins: [{corners: top}]
conditions: {p: 0.75, variant: exact, bend: [1e-5 J, 1e-5 J], damping: [1 ms, 1 ms, 1 ms]}
integrator: {baraff_witkin_1998: {psd: exact, tolerance: 0.01, linear: pcg,
  stop: preconditioned, most_speed: 100 m/s}}
adaptive: {limit: 0.1, successes: 2, patience: 1.5, most_successes: 8, most_halvings: 3}
step: 10 ms
""",
    "garment": """cloths:
- {name: bag, garment: {pattern: bag.yaml, size: 8 cm, measures: {width: 30 cm}, seed: 1}}
contact: {gap: 2 mm, friction: 0.3}
law: {name: immediate_buckling}
sewing: {closing: 100 ms, settle: 100 ms, stiffness: 10, drag: 5, onset: 10 ms}
integrator: {backward_euler: {effort: interactive}}
step: 10 ms
""",
}

PATTERN = """measures: {width: 30 cm, height: 20 cm, half: width/2}
fabric: cotton
panels:
  front:
    outline:
      - {at: [-half, 0], edge: bottom}
      - {at: [half, 0], edge: right, quadratic: [half + 1 cm, height/2]}
      - {at: [half, height], edge: top}
      - {at: [-half, height], edge: left}
    grain: 0 deg
    layer: 1
    darts: [{name: waist, edge: top, at: 0.5, width: 2 cm, depth: 6 cm}]
    folds: [{points: [[0, 2 cm], [0, 8 cm]], angle: 30 deg}]
    placement: {translation: [0, 0, 5 cm]}
  back: {copy: front, fabric: denim, placement: {translation: [0, 0, -5 cm], rotation: [0, 180, 0]}}
seams:
  left: [front.left, back.right]
  right: {join: [front.right, back.left], angle: 10 deg, fold_stiffness: 1e-4 N, strength: 300 N/m,
    closing: zip, open_at: 100 ms, window: [0.1, 0.9]}
elastics:
  top: {edges: [front.top, back.top], ratio: 0.9, stiffness: 20 N}
"""


def fields():
    """Names of all fields of a scene file."""
    found, left = set(), [SceneFile.model_json_schema()]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            found |= set(part.get("properties", ()))
            left += part.values()
        elif isinstance(part, list):
            left += part
    return found


def write_files(folder):
    """What the small scenes name, into a folder."""
    t = np.linspace(0, 1, 3)
    (folder / "heights.csv").write_text("0,0.5,0\n0.5,1,0.5\n0,0.5,0\n")
    axis = np.linspace(-0.2, 0.2, 6)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    np.savez(
        folder / "blob.npz",
        distance=np.sqrt(x**2 + y**2 + z**2) - 0.12,
        origin=[-0.2] * 3,
        spacing=0.08,
    )
    ball = weft.contact.sphere(0.1, 0.1)
    moved = ball.move((0.0, 1.5, 0.0))
    places = np.stack([moved.vertices + [0.0, 0.01 * k, 0.0] for k in t])
    np.savez(folder / "frames.npz", positions=places, faces=ball.faces)
    (folder / "tent.obj").write_text(tent())
    (folder / "bag.yaml").write_text(PATTERN)


def tent():
    """A closed ball as OBJ text, each half a group and a region; every face lies flat by itself."""
    ball = weft.contact.sphere(0.15, 0.08)
    x, lines = ball.vertices, [f"v {a} {b} {c}" for a, b, c in ball.vertices.tolist()]
    right = x[ball.faces].mean(axis=1)[:, 0] > 0
    for side in (False, True):
        name = ("left", "right")[side]
        lines += [f"g {name}", f"usemtl {name}"]
        for k in np.flatnonzero(right == side).tolist():
            a, b, c = x[ball.faces[k]]
            long = float(np.linalg.norm(b - a))
            u = float((c - a) @ (b - a)) / long
            v = math.sqrt(float((c - a) @ (c - a)) - u * u)
            lines += [f"vt {5 * k} 0", f"vt {5 * k + long} 0", f"vt {5 * k + u} {v}"]
            lines.append("f " + " ".join(f"{i + 1}/{j - 3}" for j, i in enumerate(ball.faces[k])))
    return "\n".join(lines) + "\n"
