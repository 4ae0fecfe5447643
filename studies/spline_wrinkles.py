"""Do splines and triangles wrinkle with the right wavelength (Wong & Pellegrino 2006, shear)?

A strip of height H between two clamps that slide apart along it wrinkles at 45 degrees. Half a
wavelength across the wrinkles is lambda with lambda^4 = 2 pi^2 H^2 D/N1, N1 the tension along them;
that is measured in the middle of the strip.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import sheet, spline_sheet, triangulate
from weft.discretization.samples import Samples
from weft.fabric.fabric import Fabric
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.laws import StVK
from weft.laws.base import Law
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

HEIGHT, WIDTH, SHEAR = 0.128, 0.384, 0.02  # [m], [m], displacement of a clamp over the height
STRETCH, POISSON, DENSITY = 2000.0, 0.3, 0.05  # [N/m], [1], [kg/m^2]
BENDING = 2e-5  # [N m]
STEP, SECONDS = 0.02, 3.0  # [s]
GRIDS = (("triangles", 49), ("triangles", 97), ("spline", 33), ("spline", 49))  # along the width
SEED = 3


def study(say: Say, grids: Sequence[tuple[str, int]] = GRIDS) -> Study:
    """Wavelengths on all grids, against the formula."""
    rows: list[list[float | str]] = []
    profiles: dict[str, tuple[Floats, Floats]] = {}
    for kind, n in grids:
        cloth = strip(kind, n)
        model, x, law = sheared(cloth)
        tension = middle_tension(cloth, model, x, law)
        half, profile = half_wavelength(cloth, model.vertices(x))
        expected = (2 * np.pi**2 * HEIGHT**2 * BENDING / tension) ** 0.25
        label = f"{kind} {n}"
        profiles[label] = profile
        wrinkles = WIDTH / (2 * np.sqrt(2) * half)
        deep = 1e3 * float(np.ptp(profile[1]))
        rows.append(
            [
                label,
                float(3 * len(model.mass)),
                tension,
                1e3 * half,
                1e3 * expected,
                100 * (half / expected - 1),
                wrinkles,
                deep,
            ]
        )
        say(
            f"{label}: N1 {tension:.1f} N/m, half wavelength {1e3 * half:.1f} mm, expected "
            f"{1e3 * expected:.1f} mm"
        )
    columns = (
        "grid",
        "unknowns",
        "N1 [N/m]",
        "half wavelength [mm]",
        "expected [mm]",
        "off [%]",
        "wrinkles in the width",
        "depth [mm]",
    )

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(profiles), 1, sharex=True, squeeze=False)
        for axes, (label, (s, z)), ink in zip(panels[:, 0], profiles.items(), INK):
            axes.plot(1e3 * s, 1e3 * z, color=ink, lw=1.2)
            axes.set_ylabel("height [mm]", fontsize=7)
            axes.set_title(label, fontsize=8)
            axes.grid(alpha=0.25)
        panels[-1, 0].set_xlabel("along the middle of the strip [mm]")

    title = f"Wrinkles of a strip sheared by {100 * SHEAR:g} %"
    found = [
        f"{r[0]}: half a wavelength is {float(r[3]):.1f} mm, the formula's {float(r[4]):.1f} mm "
        f"({float(r[5]):+.0f} %); {float(r[6]):.1f} wrinkles."
        for r in rows
    ]
    return Study("spline-wrinkles", title, StudyTable(columns, rows), found, draw, height=5.5)


def strip(kind: str, n: int) -> Cloth:
    """A level strip with n points along it, with a smooth random ripple."""
    m = max(round(n * HEIGHT / WIDTH), 7)
    made_of = Fabric(DENSITY, STRETCH, STRETCH, STRETCH, BENDING, BENDING, damping=0.02)
    half = (WIDTH / 2, HEIGHT / 2)
    corners = [(x * half[0], y * half[1]) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    make = {
        "spline": lambda: spline_sheet(n, m, WIDTH, HEIGHT, made_of),
        "triangles": lambda: sheet(n, m, WIDTH, HEIGHT, fabric=made_of, pattern="alternating"),
        "irregular": lambda: triangulate(corners, size=WIDTH / (n - 1), fabric=made_of),
    }
    cloth = make[kind]()
    rng = np.random.default_rng(SEED)
    x = np.array(cloth.points)
    inside = np.cos(np.pi * x[:, 2] / HEIGHT) ** 2
    for k, a, b in zip(range(3, 30), rng.normal(size=27), rng.uniform(0, 2 * np.pi, 27)):
        wave = np.sin(2 * np.pi * k * (x[:, 0] + x[:, 2]) / WIDTH + b)
        x[:, 1] += 2e-5 * a * inside * wave
    return cloth.with_points(x)


def sheared(cloth: Cloth) -> tuple[Model, Positions, Law]:
    """The strip at rest after its upper clamp has moved: where its points are, and its law."""
    move = [Keyframe(0.0), Keyframe(0.2, (SHEAR * HEIGHT, 0.0, 0.0))]
    pins = [Pin(cloth.border("bottom")), Pin(cloth.border("top"), path=Path(move, hold=True))]
    law = StVK(STRETCH / (2 * (1 + POISSON)), STRETCH * POISSON / (1 - POISSON**2))
    made = Scene(
        cloth,
        pins,
        gravity=(0, 0, 0),
        law=law,
        step=STEP,
        settings=StepSettings(tolerance=1e-3, max_iterations=400),
    )
    ready = prepare(made)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(round(SECONDS / STEP)):
        state, memory, report = stepper.step(model, state, memory, STEP)
        assert report.outcome.ok, report.outcome
    return model, state.x, law


def middle_tension(cloth: Cloth, model: Model, x: Positions, law: Law) -> float:
    """[N/m] mean first principal Cauchy tension in the middle third of the height, clamps' ends
    left out.
    """
    samples: Samples = cloth.samples()
    F = samples.deformation_gradient(x)
    P = law.stress(F)
    J = np.linalg.norm(np.cross(F[:, :, 0], F[:, :, 1]), axis=1)
    S = np.einsum("qik,qjk->qij", P, F) / J[:, None, None]
    first = np.linalg.eigvalsh(S)[:, -1]
    place = np.einsum(
        "qa,qai->qi",
        np.full(samples.stencil.shape, 1 / samples.stencil.shape[1]),
        cloth.points[samples.stencil],
    )
    inside = (np.abs(place[:, 2]) < HEIGHT / 6) & (np.abs(place[:, 0]) < WIDTH / 3)
    return float(np.average(first[inside], weights=samples.weight[inside]))


def half_wavelength(cloth: Cloth, vertices: Positions) -> tuple[float, tuple[Floats, Floats]]:
    """[m] across the wrinkles, from where the middle line's height crosses its running mean; and
    that line.
    """
    from scipy.interpolate import griddata

    rest = cloth.vertices
    s = np.linspace(-0.4 * WIDTH, 0.4 * WIDTH, 800)
    z = griddata(rest[:, [0, 2]], vertices[:, 1], (s, np.zeros_like(s)), method="cubic")
    z = z - np.polyval(np.polyfit(s, z, 3), s)
    sign = np.sign(z)
    at = s[1:][(sign[1:] != sign[:-1])]
    spacing = float((at[-1] - at[0]) / (len(at) - 1)) if len(at) > 2 else float("nan")
    return spacing / np.sqrt(2), (s, z)
