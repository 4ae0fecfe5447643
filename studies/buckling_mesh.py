"""Does a curtain fold alike on regular, alternating and irregular triangles, and as they get finer?

A curtain hangs from five rings that come closer to one another, on every mesh from the same start.
Counted are ridges and valleys at half height; measured, where it ends to the sides and below, and
its energies.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.buckling import MODELS, folds, meshes, row, simulated
from studies.study import Say, Study, StudyTable
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.show.picture.renderer import Image, Renderer, Style

WIDTH, HEIGHT, RINGS, CLOSER = 1.2, 1.0, 5, 0.35  # [m], [m], number, part of the width
SIZE = 0.025  # [m] of the edges; irregular triangles also of twice and half that
LEAST_FOLD = 0.01  # [m] by which a ridge stands out
SECONDS = 4.0
STYLE = Style(width=420, height=380)
COMPARED = ("immediate buckling", "Baraff-Witkin")


def study(say: Say, size: float = SIZE, seconds: float = SECONDS) -> Study:
    """Folds, silhouette and energy for every mesh, with two models."""
    cloths = {f"{name}, {1e3 * size:g} mm": c for name, c in meshes(WIDTH, HEIGHT, size).items()}
    for other in (2 * size, size / 2):
        found = meshes(WIDTH, HEIGHT, other)["irregular 0"]
        cloths[f"irregular 0, {1e3 * other:g} mm"] = found
    rows: list[list[float | str]] = []
    images: dict[tuple[str, str], Image] = {}
    for label in COMPARED:
        for name, flat in cloths.items():
            cloth = hung(flat)
            energies = MODELS[label](cloth)
            x = simulated(cloth, energies, rings(cloth), seconds).x
            middle, low = row(cloth, x, HEIGHT / 2), row(cloth, x, 0.01 * HEIGHT)
            values = [float(e.value(x).sum()) for e in energies]
            fall = float((cloth.mass * x[:, 1]).sum() / cloth.mass.sum())
            rows.append(
                [
                    label,
                    name,
                    cloth.n_vertices,
                    folds(middle[:, 2], LEAST_FOLD),
                    float(np.ptp(low[:, 0])),
                    float(np.ptp(middle[:, 2])),
                    float(x[:, 1].min()),
                    fall,
                    *values,
                ]
            )
            say(f"{label}, {name}: {rows[-1][3]} folds, bending {1e3 * values[1]:.2f} mJ")
            images[label, name] = Renderer(cloth.mesh, [x], STYLE).image(x)
    columns = (
        "model",
        "mesh",
        "vertices",
        "folds at half height",
        "width of the hem [m]",
        "depth [m]",
        "lowest point [m]",
        "center of mass [m]",
        "membrane [J]",
        "bending [J]",
    )

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(COMPARED), len(cloths))
        for axes, ((label, name), image) in zip(panels.reshape(-1), images.items()):
            axes.imshow(np.asarray(image))
            axes.set_title(f"{label}\n{name}", fontsize=7)
            axes.axis("off")

    title = "One curtain on six meshes"
    return Study(
        "buckling-mesh", title, StudyTable(columns, rows), findings(rows), draw, height=4.2
    )


def hung(flat: Cloth) -> Cloth:
    """Upright, with a slight wave that says which way it goes first."""
    cloth = flat.move((0, 0, 0), (90, 0, 0))
    uv = cloth.mesh.vertex_uv
    assert uv is not None
    x = np.array(cloth.vertices)
    wave = np.sin(2 * np.pi * (RINGS - 1) * uv[:, 0] / WIDTH)
    x[:, 2] += 1e-3 * wave * np.sin(np.pi * uv[:, 1] / HEIGHT)
    return cloth.with_points(x)


def rings(cloth: Cloth) -> list[Pin]:
    """Pins on the upper edge, which come closer during one second."""
    uv = cloth.mesh.vertex_uv
    assert uv is not None
    pins = []
    for u in np.linspace(0, WIDTH, RINGS):
        i = int(np.argmin(((uv - [u, HEIGHT]) ** 2).sum(1)))
        move = (-CLOSER * float(cloth.vertices[i, 0]), 0.0, 0.0)
        path = Path([Keyframe(0.0), Keyframe(1.0, move)], hold=True)
        pins.append(Pin(np.array([i], dtype=np.int32), path=path))
    return pins


def findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    """The spread of each model's numbers over the meshes."""
    out = []
    for label in COMPARED:
        mine = [r for r in rows if r[0] == label]
        count = [int(r[3]) for r in mine]
        bend, width = [float(r[9]) for r in mine], [float(r[4]) for r in mine]
        center = [float(r[7]) for r in mine]
        out.append(
            f"{label}: {min(count)} to {max(count)} folds; hem {min(width):.3f} to "
            f"{max(width):.3f} m wide; center of mass at {min(center):.4f} to {max(center):.4f} m; "
            f"bending energy {1e3 * min(bend):.2f} to {1e3 * max(bend):.2f} mJ."
        )
    return out
