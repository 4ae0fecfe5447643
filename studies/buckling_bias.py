"""What does a square do that is sheared: does it wrinkle at once, and with what force?

The lower edge is held, the upper one moves sideways in its own line. A law with a shear angle
resists until the square buckles; tension along one diagonal alone lets the other one go at once.
"""

from typing import Any

import numpy as np

from studies.buckling import MODELS, meshes, simulated
from studies.study import INK, Say, Study, StudyTable
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.show.picture.renderer import Image, Renderer, Style

SIDE, SIZE = 0.2, 0.008  # [m]
MOST_SHEAR = 0.2
SECONDS = 2.0
KIND = "irregular 0"
STYLE = Style(width=460, height=400, azimuth=15.0, elevation=10.0, ground=False)


def study(say: Say, size: float = SIZE, seconds: float = SECONDS) -> Study:
    """Shear force and depth of the wrinkles against the shear."""
    rows: list[list[float | str]] = []
    curves: dict[str, list[tuple[float, float, float]]] = {}
    images: dict[str, Image] = {}
    cloth = meshes(SIDE, SIDE, size)[KIND].move((0, 0, 0), (90, 0, 0))
    rng = np.random.default_rng(0)
    x = np.array(cloth.vertices)
    x[:, 2] += 1e-3 * size * rng.uniform(-1, 1, len(x))
    cloth = cloth.with_points(x)
    top, bottom = cloth.border("top"), cloth.border("bottom")
    inner = np.setdiff1d(np.arange(len(x)), [*top, *bottom])
    frames = [Keyframe(0.0), Keyframe(seconds, (MOST_SHEAR * SIDE, 0.0, 0.0))]
    pins = [Pin(bottom), Pin(top, path=Path(frames, "linear"))]
    for label in MODELS:
        curve: list[tuple[float, float, float]] = []

        def watch(state: State, model: Model, curve: list[Any] = curve) -> None:
            pull = Potential(model, model.step(state, 0.0)).reaction(state.x)
            depth = float(np.std(state.x[inner, 2]))
            curve.append((MOST_SHEAR * state.t / seconds, float(pull[top, 0].sum()) / SIDE, depth))

        end = simulated(cloth, MODELS[label](cloth), pins, seconds, 0.02, 0.0, watch)
        curves[label] = curve
        every = max(1, len(curve) // 20)
        rows += [[label, *entry] for entry in curve[every - 1 :: every]]
        images[label] = Renderer(cloth.mesh, [end.x], STYLE).image(end.x)
        say(f"{label}: force {curve[-1][1]:.3g} N/m, wrinkles {1e3 * curve[-1][2]:.2f} mm")

    def draw(figure: Any) -> None:
        top_row, low_row = figure.subplots(2, 3)
        for i, (label, curve) in enumerate(curves.items()):
            shear, force, depth = np.array(curve).T
            top_row[0].plot(shear, force, color=INK[i], label=label)
            top_row[1].plot(shear, 1e3 * depth, color=INK[i], label=label)
            low_row[i].imshow(np.asarray(images[label]))
            low_row[i].set_title(label, fontsize=8)
            low_row[i].axis("off")
        top_row[0].set(xlabel="shear", ylabel="force per width [N/m]")
        top_row[1].set(xlabel="shear", ylabel="depth of wrinkles [mm]")
        top_row[0].legend(fontsize=7)
        top_row[2].axis("off")

    columns = ("model", "shear", "force per width [N/m]", "depth of wrinkles [m]")
    table = StudyTable(columns, rows)
    title = "A square that is sheared between two clamps"
    return Study("buckling-bias", title, table, findings(curves), draw, height=6.2)


def findings(curves: dict[str, list[tuple[float, float, float]]]) -> list[str]:
    """When each wrinkles, and what it takes."""
    out = []
    for label, curve in curves.items():
        shear, force, depth = np.array(curve).T
        deep = np.flatnonzero(depth > 2e-4)
        starts = f"at a shear of {shear[deep[0]]:.3f}" if len(deep) else "nowhere"
        half = float(np.interp(0.02, shear, force))
        out.append(
            f"{label}: wrinkles of 0.2 mm {starts}; {half:.3g} N/m at a shear of 0.02, "
            f"{force[-1]:.3g} N/m at {shear[-1]:.2f}, then {1e3 * depth[-1]:.2f} mm deep."
        )
    return out
