"""How hard is it to push a strip together: immediate buckling, Baraff-Witkin, StVK, and Euler?

A strip's ends are pushed together, free to turn. A thin strip carries Euler's load P = pi^2 D/L^2
and then follows the elastica: P/P_E = (2 K(m)/pi)^2 and shortening 2 - 2 E(m)/K(m), m the square of
the sine of half the end's slope. A strip that is kept flat shows what its mesh can carry before
anything buckles.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ellipe, ellipk

from studies.buckling import FABRIC, MODELS, meshes
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.cloth.cloth import Cloth
from weft.energies.energy import Energy
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.show.picture.renderer import Renderer, Style

LENGTH, WIDTH, SIZE = 0.3, 0.03, 0.01  # [m]
BENDING = 1e-5  # [N m]: that of the studies' fabric
EULER = float(np.pi**2) * BENDING / LENGTH**2  # [N/m] force per width
SHORTENINGS = (0.001, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
CASES = (  # model, mesh, stretch stiffness over that of the studies' fabric
    ("immediate buckling", "regular", 1.0),
    ("immediate buckling", "regular", 10.0),
    ("immediate buckling", "irregular 0", 10.0),
    ("Baraff-Witkin", "regular", 1.0),
    ("Baraff-Witkin", "irregular 0", 1.0),
    ("StVK", "regular", 1.0),
)
SETTINGS = QuasiStaticSettings(1e-6, 1e-5, max_iterations=6000, imperfection=0.0)


def study(say: Say, shortenings: Sequence[float] = SHORTENINGS, size: float = SIZE) -> Study:
    """Force against shortening of a bent strip, and force of a flat one."""
    rows: list[list[float | str]] = []
    curves: dict[str, Floats] = {}
    shapes: dict[str, Any] = {}
    for label, kind, stiffer in CASES:
        k = stiffer * FABRIC.stretch_warp
        fabric = dataclasses.replace(FABRIC, stretch_warp=k, stretch_weft=k)
        cloth = meshes(LENGTH, WIDTH, size, fabric)[kind]
        name = f"{label}, {kind.split()[0]}, k = {k:g} N/m"
        forces, x = push(cloth, MODELS[label](cloth), shortenings)
        flat = flat_force(cloth, MODELS[label](cloth))
        curves[name] = forces
        shapes[label] = (cloth, x)
        for shortening, force in zip(shortenings, forces):
            rows.append([name, shortening, force, force / EULER, elastica(shortening), flat])
        worst = np.abs(forces[1:] / EULER / [elastica(s) for s in shortenings[1:]] - 1).max()
        say(f"{name}: within {100 * worst:.0f} % of the elastica; kept flat {flat:.3g} N/m")
    columns = (
        "model, mesh",
        "shortening over length",
        "force per width [N/m]",
        "over Euler's load",
        "elastica",
        "force of a flat strip at 1e-3 [N/m]",
    )

    def draw(figure: Any) -> None:
        one, two = figure.subplots(1, 2)
        s = np.linspace(0, 0.52, 80)
        one.plot(s, [elastica(v) for v in s], "k--", lw=1, label="elastica")
        for i, (name, forces) in enumerate(curves.items()):
            style = "o-" if "irregular" not in name else "s:"
            one.plot(shortenings, forces / EULER, style, color=INK[i % len(INK)], ms=4, label=name)
        one.set(xlabel="shortening over length", ylabel="force over Euler's load", ylim=(0, 4))
        one.legend(fontsize=7)
        one.grid(alpha=0.25)
        cloth, x = shapes["immediate buckling"]
        look = Style(width=520, height=420, azimuth=20.0, elevation=15.0)
        two.imshow(np.asarray(Renderer(cloth.mesh, [x], look).image(x)))
        two.set_title("immediate buckling, irregular triangles, half its length", fontsize=8)
        two.axis("off")

    title = "A strip pushed together from its ends"
    return Study(
        "buckling-compression", title, StudyTable(columns, rows), findings(rows, size), draw
    )


def elastica(shortening: float) -> float:
    """Load over Euler's at a shortening (of the length), by bisection for m."""
    low, high = 0.0, 1 - 1e-12
    for _ in range(200):
        m = (low + high) / 2
        low, high = (m, high) if 2 - 2 * ellipe(m) / ellipk(m) < shortening else (low, m)
    return float((2 * ellipk((low + high) / 2) / np.pi) ** 2)


def push(
    cloth: Cloth, energies: Sequence[Energy], shortenings: Sequence[float]
) -> tuple[Floats, Positions]:
    """[N/m] force per width at every shortening, and the last shape.

    Raises:
        SimulationError: no equilibrium.
    """
    uv = cloth.mesh.vertex_uv
    assert uv is not None
    x = np.array(cloth.vertices)
    # An arch of the first shortening, so that the branch is the bent one.
    height = LENGTH * 2 / np.pi * np.sqrt(shortenings[0])
    x[:, 1] += height * np.sin(np.pi * uv[:, 0] / LENGTH)
    forces = []
    for shortening in shortenings:
        x, force = _settled(cloth, energies, x, shortening, flat=False)
        forces.append(force)
    return np.array(forces), x


def flat_force(cloth: Cloth, energies: Sequence[Energy], shortening: float = 1e-3) -> float:
    """[N/m] force per width of a strip that is kept in its plane."""
    x = np.array(cloth.vertices)
    x[:, 0] *= 1 - shortening
    return _settled(cloth, energies, x, shortening, flat=True)[1]


def _settled(
    cloth: Cloth, energies: Sequence[Energy], x: Positions, shortening: float, flat: bool
) -> tuple[Positions, float]:
    left, right = cloth.border("left"), cloth.border("right")
    held = np.array(cloth.vertices)
    held[left, 0] += shortening * LENGTH / 2
    held[right, 0] -= shortening * LENGTH / 2
    mass = cloth.mass
    model = Model(mass, tuple(energies), (Pin(np.concatenate([left, right])),), held)
    x = np.array(x)
    inner = np.setdiff1d(np.arange(len(x)), [*left, *right])
    x[inner, 0] *= held[right, 0].mean() / max(x[right, 0].mean(), 1e-9)
    found = QuasiStatic(SETTINGS).solve(model, x)
    if not found.outcome.ok and not flat:
        raise SimulationError(
            f"strip pushed by {shortening:g}", got=found.outcome.name, hint=found.outcome.advice
        )
    reaction = Potential(model, model.step(State.at_rest(found.x), 0.0)).reaction(found.x)
    return found.x, float(-reaction[right, 0].sum() / WIDTH)


def findings(rows: Sequence[Sequence[float | str]], size: float) -> list[str]:
    """What the strip says."""
    out = []
    names = list(dict.fromkeys(str(r[0]) for r in rows))
    for name in names:
        mine = [r for r in rows if r[0] == name]
        ratio = [float(r[3]) / float(r[4]) for r in mine if float(r[1]) >= 0.03]
        out.append(
            f"{name}: from a shortening of 3 % on, {min(ratio):.2f} to {max(ratio):.2f} times the "
            f"elastica's force; kept flat it carries {float(mine[0][5]):.3g} N/m at 0.1 %."
        )
    return out
