"""What do rest stretches b_u, b_v other than 1 do, which the notes "had no chance to investigate"?

Three things are measured for shear as in the body (w_u.w_v) and in the appendix (the angle), and
put beside closed forms: the size to which a free sheet relaxes, b_u by b_v; how stiff it is in
shear there, k_s (b_u b_v)^2 in the body and k_s in the appendix; and, clamped all around at its
woven size, the tension k (1 - b) of a sheet that wants to be smaller, and the height to which one
that wants to be larger buckles.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.drape import DENSITY
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.bodies.motion.pins import Pin
from weft.cloth.create import sheet
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.condition import Conditions, Variant, condition_energies
from weft.integrators.model import Model
from weft.plugins.lab.validate.strip import rest

SIDE = 24  # vertices
RESTS = ((0.8, 0.8), (0.9, 0.9), (0.8, 1.2), (1.0, 1.0), (1.2, 0.9), (1.1, 1.1), (1.25, 1.25))
CLAMPED = (0.9, 0.95, 1.0, 1.02, 1.05, 1.1)
STRETCH, SHEAR, BEND = 5000.0, 500.0, 1e-4  # [N/m], [N/m], [J]; bend keeps the buckles smooth
ANGLE = 1e-3  # [rad] of the small shear
IMPERFECTION = 1e-3  # [m] height of the first bump of what may buckle


def study(say: Say, side: int = SIDE) -> Study:
    """Sizes, shear stiffness, and clamped sheets, for both variants."""
    rows: list[list[float | str]] = []
    for variant in Variant:
        for b_u, b_v in RESTS:
            width, height = free_size(b_u, b_v, variant, side)
            rows.append(
                [
                    variant.value,
                    b_u,
                    b_v,
                    width,
                    height,
                    shear_stiffness(b_u, b_v, variant) / SHEAR,
                    (b_u * b_v) ** 2 if variant is Variant.BODY else 1.0,
                ]
            )
            say(f"{variant.value}, b = ({b_u}, {b_v}): relaxes to {width:.4f} x {height:.4f} m")
    clamped = {}
    for b in CLAMPED:
        x, mesh = clamp(b, side)
        clamped[b] = (mesh, x, pull(b, mesh, x))
        say(f"clamped, b = {b}: pulls {clamped[b][2]:.4g} N/m, height {np.ptp(x[:, 1]):.4f} m")
    columns = (
        "shear",
        "b_u",
        "b_v",
        "width [m]",
        "height [m]",
        "shear stiffness over k_s",
        "closed form",
    )

    def draw(figure: Any) -> None:
        _draw(figure, rows, clamped)

    return Study(
        "pritchard-rest-stretch",
        "Rest stretch other than 1",
        StudyTable(columns, rows),
        findings(rows, clamped),
        draw,
    )


def conditions(b_u: float, b_v: float, variant: Variant) -> Conditions:
    """Both with p = 1/2; bend is that of the appendix where forces must come from an energy."""
    return Conditions((STRETCH, STRETCH), SHEAR, (BEND, BEND), (b_u, b_v), variant=variant)


def energies(mesh: TriangleMesh, c: Conditions) -> tuple[Any, ...]:
    """Stretch and shear of the variant, and the bend of the appendix."""
    stretch, shear, _ = condition_energies(mesh, c)
    exact = Conditions(c.stretch, c.shear, c.bend, c.rest_stretch, variant=Variant.EXACT)
    return stretch, shear, condition_energies(mesh, exact)[2]


def free_size(b_u: float, b_v: float, variant: Variant, side: int) -> tuple[float, float]:
    """[m] width and height to which a free sheet of 1 m x 1 m relaxes; one vertex is held."""
    mesh = sheet(side, side, fabric="freecloth").mesh
    mass = DENSITY * mesh.vertex_area
    held = Pin(mesh.groups["top"][:1])
    m = Model(mass, energies(mesh, conditions(b_u, b_v, variant)), [held], mesh.vertices)
    x = rest(m, np.array(mesh.vertices), tolerance=1e-8).start
    g = mesh.groups
    across = np.linalg.norm(x[g["right"]] - x[g["left"]], axis=1).mean()
    along = np.linalg.norm(x[g["top"]] - x[g["bottom"]], axis=1).mean()
    return float(across), float(along)


def shear_stiffness(b_u: float, b_v: float, variant: Variant) -> float:
    """[N/m] second derivative of the energy per area by the shear angle, at rest size."""
    mesh = sheet(3, 3, fabric="freecloth").mesh
    shear = energies(mesh, conditions(b_u, b_v, variant))[1]

    def density(angle: float) -> float:
        X = mesh.vertices
        lean = np.stack(
            [b_u * X[:, 0] + b_v * X[:, 2] * np.sin(angle), X[:, 1], b_v * X[:, 2] * np.cos(angle)],
            axis=1,
        )
        return float(shear.value(lean).sum() / mesh.rest_area.sum())

    return (density(ANGLE) - 2 * density(0.0) + density(-ANGLE)) / ANGLE**2


def clamp(b: float, side: int) -> tuple[Positions, TriangleMesh]:
    """(n,3) [m] equilibrium of a sheet whose border is held where it was woven."""
    mesh = sheet(side, side, fabric="freecloth", pattern="alternating").mesh
    mass = DENSITY * mesh.vertex_area
    border = np.unique(np.concatenate(list(mesh.groups.values())))
    parts = energies(mesh, conditions(b, b, Variant.EXACT))
    m = Model(mass, parts, [Pin(border)], mesh.vertices)
    x = np.array(mesh.vertices)
    bump = np.cos(np.pi * x[:, 0]) * np.cos(np.pi * x[:, 2])
    x[:, 1] += IMPERFECTION * bump
    return rest(m, x, tolerance=1e-6).start, mesh


def pull(b: float, mesh: TriangleMesh, x: Positions) -> float:
    """[N/m] with which the sheet pulls its right border inwards."""
    g = np.zeros_like(x)
    for energy in energies(mesh, conditions(b, b, Variant.EXACT)):
        np.add.at(g, energy.stencil.reshape(-1), energy.gradient(x).reshape(-1, 3))
    return float(g[mesh.groups["right"], 0].sum())


def findings(
    rows: Sequence[Sequence[float | str]],
    clamped: dict[float, tuple[TriangleMesh, Positions, float]],
) -> list[str]:
    """Errors against the closed forms, and what follows."""
    size = max(max(abs(float(r[3]) - float(r[1])), abs(float(r[4]) - float(r[2]))) for r in rows)
    stiffness = max(abs(float(r[5]) / float(r[6]) - 1) for r in rows)
    least = min(float(r[5]) for r in rows if r[0] == "body")
    most = max(float(r[5]) for r in rows if r[0] == "body")
    taut = max(
        abs(force / (STRETCH * (1 - b)) - 1) for b, (_, _, force) in clamped.items() if b < 1
    )
    heights = ", ".join(
        f"{1e3 * np.ptp(x[:, 1]):.0f} mm at b = {b:g}" for b, (_, x, _) in clamped.items() if b > 1
    )
    return [
        f"A free sheet relaxes to b_u by b_v with either shear: largest error {_error(size)} m.",
        "There its shear stiffness is k_s (b_u b_v)^2 with w_u.w_v and k_s with the angle: error "
        f"{_error(stiffness)}. From b = {RESTS[0][0]:g} to {RESTS[-1][0]:g} the body goes from "
        f"{least:.2f} to {most:.2f} k_s.",
        f"Clamped and smaller (b < 1), it pulls with k (1 - b) a meter: error {_error(taut)}.",
        f"Clamped and larger (b > 1), it buckles instead of pushing: {heights}; its border is "
        f"pushed by less than {_largest_push(clamped):.2g} times k (b - 1).",
        "So b_u and b_v are what they say, a change of rest size, safe with both variants; only "
        "the shear of the body needs k_s divided by (b_u b_v)^2 to keep its stiffness.",
    ]


def _error(error: float) -> str:
    return f"{error:.0e}" if error > 1e-13 else "below 1e-13"


def _largest_push(clamped: dict[float, tuple[TriangleMesh, Positions, float]]) -> float:
    return max(-force / (STRETCH * (b - 1)) for b, (_, _, force) in clamped.items() if b > 1)


def _draw(
    figure: Any,
    rows: Sequence[Sequence[float | str]],
    clamped: dict[float, tuple[TriangleMesh, Positions, float]],
) -> None:
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.2])
    b = np.linspace(0.6, 1.6, 50)
    left.plot(b, b**2, color=INK[0], lw=1, label="(b_u b_v)²")
    left.plot(b, np.ones(50), color=INK[1], lw=1, label="1")
    for variant, ink in zip(Variant, INK):
        mine = [r for r in rows if r[0] == variant.value]
        areas = [float(r[1]) * float(r[2]) for r in mine]
        left.plot(
            areas,
            [float(r[5]) for r in mine],
            "o",
            color=ink,
            ms=5,
            label=f"measured, {variant.value}",
        )
    left.set(xlabel="b_u b_v", ylabel="shear stiffness over k_s")
    left.legend(fontsize=7)
    forces: Floats = np.array([[k, force] for k, (_, _, force) in clamped.items()])
    b = np.linspace(min(clamped), max(clamped), 50)
    middle.plot(b, STRETCH * (1 - b), color=INK[2], lw=1, label="k (1 - b)")
    middle.plot(forces[:, 0], forces[:, 1], "o", color=INK[0], ms=5, label="measured")
    middle.set(xlabel="b_u = b_v, border clamped", ylabel="pull on the border [N/m]")
    middle.legend(fontsize=7)
    largest = max(clamped)
    mesh, x, _ = clamped[largest]
    image = right.tripcolor(
        mesh.vertices[:, 0],
        mesh.vertices[:, 2],
        mesh.faces,
        1e3 * x[:, 1],
        shading="gouraud",
        cmap="viridis",
    )
    right.set_aspect("equal")
    right.set_title(f"height [mm] of a clamped sheet, b = {largest:g}", fontsize=9)
    right.set_xticks([])
    right.set_yticks([])
    figure.colorbar(image, ax=right, shrink=0.8)
