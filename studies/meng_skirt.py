"""Can a garment be converted to splines, sewn and worn (Meng et al. 2025, supplement, section 3)?

A skirt of two panels, which a pattern program would give as triangles with two islands of material
coordinates that share the vertices along their seams. Each panel becomes a patch, the seams close
exactly and bend like the cloth beside them; a body wears it and turns.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.meng_runs import SMOOTH
from studies.study import Say, Study, StudyTable
from weft.bodies.body import Body, join_faces, join_positions
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import as_splines
from weft.contact import capsule, sphere
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh
from weft.energies.state import State
from weft.fabric.fabric import fabric
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.show.picture.renderer import Renderer, Style

WAIST, HEM, LENGTH = 0.36, 0.66, 0.5  # [m] half the waist, half the hem, side
COLUMNS, ROWS, SPAN = 31, 31, 0.025  # vertices of a panel, [m] of a knot span
TURN, SECONDS, STEP = 75.0, 1.6, 0.02  # [degrees], [s], [s]
SHOWN = (0.31, 0.54, 1.0)  # of the seconds: hanging, turning, after
CURVE = 0.03  # [m] by which waist and hem of the flat panels are cut round
STYLE = Style(width=560, height=560, azimuth=30.0, elevation=8.0)


def skirt(columns: int = COLUMNS, rows: int = ROWS) -> Cloth:
    """Triangles: two panels around the y axis, sewn at both sides."""
    j, i = np.meshgrid(np.arange(rows) / (rows - 1), np.arange(columns) / (columns - 1))
    half = WAIST + (HEM - WAIST) * j
    u = (i - 0.5) * half
    v = -LENGTH * j - CURVE * (1 - (2 * i - 1) ** 2)
    around = 2 * (columns - 1)
    angle = 2 * np.pi * np.arange(around) / around
    radius = (WAIST + (HEM - WAIST) * np.linspace(0, 1, rows)) / np.pi
    y = -0.97 * LENGTH * np.linspace(0, 1, rows)
    c, s = np.outer(np.cos(angle), radius), np.outer(np.sin(angle), radius)
    x = np.stack([c, np.tile(y, (around, 1)), -s], axis=2)
    faces, uv = [], []
    for side in (0, 1):
        k, r = np.meshgrid(np.arange(columns - 1), np.arange(rows - 1), indexing="ij")
        corners = [(k, r), (k, r + 1), (k + 1, r + 1), (k + 1, r)]
        ids = [((side * (columns - 1) + a) % around) * rows + b for a, b in corners]
        flat = [np.stack([u[a, b] + 1.2 * side, v[a, b]], axis=-1) for a, b in corners]
        for triangle in ((0, 1, 2), (0, 2, 3)):
            faces.append(np.stack([ids[t].reshape(-1) for t in triangle], axis=1))
            uv.append(np.stack([flat[t].reshape(-1, 2) for t in triangle], axis=1))
    waist = np.arange(around) * rows
    groups = {"waist": waist.astype(np.int32)}
    every = np.concatenate(faces).astype(np.int32)
    mesh = TriangleMesh(x.reshape(-1, 3), every, np.concatenate(uv), groups, "skirt")
    return Cloth(mesh, fabric("cotton"))


def worn(cloth: Cloth) -> Scene:
    """On hips that turn by ``TURN`` and back."""
    turned = Keyframe(0.9, (0, 0, 0), np.radians(TURN))
    keys = [Keyframe(0.0), Keyframe(0.5), turned, Keyframe(1.3, (0, 0, 0), 0.0)]
    path = Path(keys, center=(0.0, 0.0, 0.0), hold=True)
    bodies: list[Body] = [
        sphere(0.125, 0.03, "hips").move((0.0, -0.16, 0.0), path),
        capsule(0.1, 0.7, 0.04, "legs").move((0.0, -0.3, 0.0), path),
    ]
    pins, contact = [Pin(cloth.group("waist"), path=path)], SelfContact(gap=0.004, friction=0.3)
    return Scene(cloth, pins, bodies=bodies, step=STEP, contact=contact)


def study(say: Say, span: float = SPAN, seconds: float = SECONDS) -> Study:
    """Triangles and splines of the skirt, worn: table and pictures at rest, turning and after."""
    flat = skirt()
    splines = as_splines(flat, span_size=span, smooth=True)
    rows: list[list[float | str]] = []
    images: list[Any] = []
    shown = tuple(STEP * round(part * seconds / STEP) for part in SHOWN)
    for label, cloth in (("triangles", flat), ("splines", splines)):
        made = worn(cloth)
        ready = prepare(made)
        model, stepper, state = ready.model, ready.stepper, ready.state
        memory, reports, shapes = stepper.init(model, state), [], []
        for step in range(1, round(seconds / STEP) + 1):
            state, memory, report = stepper.step(model, state, memory, STEP)
            assert report.outcome.ok, (label, step, report.outcome)
            reports.append(report)
            if any(abs(step * STEP - t) < STEP / 4 for t in shown):
                shapes.append(state)
        contact = model.contact
        assert contact is not None
        crossing = sum(len(contact.crossings(model.vertices(s.x), s.t)) for s in shapes)
        least = min(r.contact["least_distance"] or np.inf for r in reports)
        rows.append(
            [
                label,
                float(3 * len(model.mass)),
                float(np.mean([r.seconds for r in reports])),
                float(np.mean([r.iterations for r in reports])),
                float(crossing),
                1e3 * float(least),
                reports[-1].terms["membrane"],
                reports[-1].terms["bending"],
            ]
        )
        say(f"{label}: {rows[-1][2]:.2f} s and {rows[-1][3]:.1f} iterations a step")
        images += _pictures(made, shapes)
    columns = (
        "made of",
        "unknowns",
        "s a step",
        "Newton iterations",
        "pairs of faces that intersect",
        "least distance [mm]",
        "membrane [J]",
        "bending [J]",
    )

    def draw(figure: Any) -> None:
        for k, (axes, image) in enumerate(zip(figure.subplots(2, len(shown)).reshape(-1), images)):
            axes.imshow(np.asarray(image))
            made_of = rows[k // len(shown)][0]
            axes.set_title(f"{made_of}, {shown[k % len(shown)]:g} s", fontsize=8)
            axes.axis("off")

    found = [
        *[f"Two patches: {s.facts()}." for _, s in splines.pieces],
        *[
            f"{r[0]}: {float(r[1]):.0f} unknowns, {float(r[2]):.2f} s a step, {float(r[3]):.1f} "
            f"Newton iterations, {float(r[4]):.0f} intersections, never nearer than "
            f"{float(r[5]):.2f} mm."
            for r in rows
        ],
    ]
    pictures = {"triangles": images[len(shown) - 1], "splines": images[-1]}
    title, table = "A skirt of two panels, worn", StudyTable(columns, rows)
    return Study("meng2025-skirt", title, table, found, draw, pictures, 6.4)


def _pictures(scene: Scene, states: Sequence[State]) -> list[Any]:
    """One camera, bodies where they are."""
    fine = scene.cloth.surfaces.tessellate(SMOOTH)
    drawn = [
        np.concatenate([fine.embedding.of(s.x), join_positions(scene.bodies, s.t)]) for s in states
    ]
    mesh, bodies = fine.mesh(scene.cloth.points, "skirt"), join_faces(scene.bodies)
    renderer = Renderer(mesh, drawn, STYLE, body_faces=bodies)
    return [renderer.image(x) for x in drawn]
