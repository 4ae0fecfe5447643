"""What do stiffnesses of 1 : 10 do to a square that hangs by two corners, which come closer?

Bending of the warp yarns ten times as stiff as of the weft, or the other way round, and the same
for stretching, all with immediate buckling on irregular triangles.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.buckling import FABRIC, immediate_buckling, meshes, row, simulated
from studies.study import Say, Study, StudyTable
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.show.picture.renderer import Image, Renderer, Style

SIDE, CLOSER, SIZE, SECONDS = 0.8, 0.12, 0.025, 4.0  # [m], [m], [m], [s]
BENDING, STRETCH = 2e-5, 300.0  # [N m], [N/m] geometric means
CASES = {
    "alike": (1.0, 1.0),
    "bending of the warp : weft = 1 : 10": (0.1, 1.0),
    "bending of the warp : weft = 10 : 1": (10.0, 1.0),
    "stretch of the warp : weft = 1 : 10": (1.0, 0.1),
    "stretch of the warp : weft = 10 : 1": (1.0, 10.0),
}
STYLE = Style(width=420, height=400, azimuth=25.0, elevation=12.0)


def study(say: Say, size: float = SIZE, seconds: float = SECONDS) -> Study:
    """Shapes and lengths for five fabrics."""
    rows: list[list[float | str]] = []
    images: list[Image] = []
    for name, (bend, stretch) in CASES.items():
        b, s = np.sqrt(bend), np.sqrt(stretch)
        fabric = dataclasses.replace(
            FABRIC,
            bending_warp=b * BENDING,
            bending_weft=BENDING / b,
            stretch_warp=s * STRETCH,
            stretch_weft=STRETCH / s,
        )
        cloth = meshes(SIDE, SIDE, size, fabric)["irregular 0"].move((0, 0, 0), (75, 0, 0))
        x = simulated(cloth, immediate_buckling(cloth), _pins(cloth), seconds).x
        middle = row(cloth, x, SIDE / 2)
        rows.append(
            [
                name,
                float(-row(cloth, x, SIDE - 1e-6)[200, 1] + x[:, 1].max()),
                float(x[:, 1].max() - x[:, 1].min()),
                float(np.ptp(middle[:, 0])),
                float(np.ptp(middle[:, 2])),
            ]
        )
        images.append(Renderer(cloth.mesh, [x], STYLE).image(x))
        say(f"{name}: {rows[-1][2]:.3f} m long, {rows[-1][3]:.3f} m wide")
    columns = (
        "stiffness",
        "sag of the upper edge [m]",
        "length [m]",
        "width at half height [m]",
        "depth at half height [m]",
    )

    def draw(figure: Any) -> None:
        for axes, image, name in zip(figure.subplots(1, len(CASES)), images, CASES):
            axes.imshow(np.asarray(image))
            axes.set_title(name.replace(" = ", "\n= "), fontsize=7)
            axes.axis("off")

    title = "A square of 0.8 m at two corners: anisotropy 1 : 10"
    table = StudyTable(columns, rows)
    return Study("buckling-anisotropy", title, table, findings(rows), draw, height=2.8)


def _pins(cloth: Cloth) -> list[Pin]:
    """The upper corners, moved towards each other during one second."""
    pins = []
    for corner, side in (("top-left", 1.0), ("top-right", -1.0)):
        path = Path([Keyframe(0.0), Keyframe(1.0, (side * CLOSER, 0.0, 0.0))], hold=True)
        pins.append(Pin(cloth.corners(corner), path=path))
    return pins


def findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    """Each fabric beside the isotropic one."""
    base = [float(v) for v in rows[0][1:]]
    out = []
    for name, *values in rows[1:]:
        sag, long, wide, deep = (float(v) - b for v, b in zip(values, base))
        out.append(
            f"{name}: the upper edge sags {1e3 * sag:+.0f} mm, the square is {1e3 * long:+.0f} mm "
            f"long, {1e3 * wide:+.0f} mm wide and {1e3 * deep:+.0f} mm deep beside the isotropic."
        )
    return out
