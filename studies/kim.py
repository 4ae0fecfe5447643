"""The quasi-static scenes of Kim (2020): a stretched sheet, a hung one and a draped one.

The paper gives k, the bending constant k_theta (of k_theta 3 l^2/a theta^2: weft's D is 24/5 of
it), gravity and the number of vertices. It does not give sizes, density, how far the sheet is
stretched, or where it is held: here it is 1 m x 1 m of 0.1 kg/m^2, pulled by STRETCH at its four
corners, hung by two corners that have come closer, or draped from four.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.study import Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.create import sheet
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import principal_stretches
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.integrators.model import Model
from weft.integrators.quasi_static import Equilibrium, QuasiStatic, QuasiStaticSettings
from weft.laws import Law
from weft.show.picture.renderer import Image, Renderer, Style
from weft.solve.newton.minimize import Iterate

VERTICES = 200  # a side: the paper's 40 000
DENSITY, GRAVITY, STRETCH, CLOSER = 0.1, 9.8, 0.3, 0.15  # [kg/m^2], [m/s^2], [1], [m]
PATCH = 0.06  # [m] side of what is held at a corner that is pulled: a vertex alone would tear out
SETTINGS = QuasiStaticSettings(tolerance=2e-4, force_tolerance=1e-3, max_iterations=250)
FRONT = Style(width=640, height=560, azimuth=0.0, elevation=6.0)
ABOVE = Style(width=640, height=560, azimuth=25.0, elevation=28.0)


@dataclasses.dataclass(frozen=True, eq=False)
class ExperimentSetting:
    """A mesh, where it starts, and its pins, which move from t = 0 to 1."""

    mesh: TriangleMesh
    held: Positions  # (n,3) [m] where pins are at t = 0
    start: Positions  # (n,3) [m] of a search at t = 1
    pins: Sequence[Pin]
    style: Style


def stretched(n: int, by: float = STRETCH) -> ExperimentSetting:
    """An upright sheet held in patches at its four corners, which are pulled apart sideways."""
    cloth = sheet(n, n, fabric="freecloth").move((0, 0, 0), (90, 0, 0))
    X = cloth.vertices
    corner = (np.abs(X[:, :2]) >= 0.5 - PATCH).all(1)
    x = np.array(X)
    x[:, 0] *= 1 + by
    x[corner, 0] = X[corner, 0] + 0.5 * by * np.sign(X[corner, 0])
    pins = []
    for side in (-1.0, 1.0):
        ids = np.flatnonzero(corner & (np.sign(X[:, 0]) == side)).astype(np.int32)
        frames = [Keyframe(0.0), Keyframe(1.0, (0.5 * by * side, 0.0, 0.0))]
        pins.append(Pin(ids, path=Path(frames, "linear")))
    return ExperimentSetting(cloth.mesh, X, x, pins, FRONT)


def hung(n: int, closer: float = CLOSER) -> ExperimentSetting:
    """An upright sheet at its two upper corners, which have come closer together."""
    cloth = sheet(n, n, fabric="freecloth").move((0, 0, 0), (90, 0, 0))
    x = np.array(cloth.vertices)
    depth = np.cos(np.pi * x[:, 0]) * np.sqrt(closer) / 2  # an arc of about the right length
    x[:, 2] += depth
    x[:, 0] *= 1 - closer
    return ExperimentSetting(cloth.mesh, x, x, [Pin(cloth.corners("top"))], FRONT)


def draped(n: int) -> ExperimentSetting:
    """A level sheet that falls between four corners, which have come a little closer."""
    cloth = sheet(n, n, fabric="freecloth")
    x = np.array(cloth.vertices)
    x[:, 1] -= 0.15 * np.cos(np.pi * x[:, 0]) * np.cos(np.pi * x[:, 2])
    x[:, [0, 2]] *= 0.94
    return ExperimentSetting(cloth.mesh, x, x, [Pin(cloth.corners("all"))], ABOVE)


def model(
    where: ExperimentSetting,
    membranes: Law | Sequence[Energy],
    k_theta: float,
    gravity: float = GRAVITY,
) -> Model:
    """Membrane, discrete shells, gravity."""
    mass = DENSITY * where.mesh.vertex_area
    energies: Sequence[Energy] = (
        (Membrane(linear_triangle(where.mesh), membranes),)
        if isinstance(membranes, Law)
        else membranes
    )
    D = 24 / 5 * k_theta
    bending = HingeBending.of(where.mesh, (D, D))
    weight = Gravity(mass, (0.0, -gravity, 0.0))
    return Model(mass, (*energies, bending, weight), where.pins, where.held)


def settle(
    what: Model,
    where: ExperimentSetting,
    label: str,
    say: Say,
    settings: QuasiStaticSettings = SETTINGS,
    watch: Callable[[Iterate, Positions], None] | None = None,
    loads: int = 1,
) -> Equilibrium:
    """The equilibrium from the setting's start with its imperfection; says how it goes.

    With several ``loads`` the pins get there in parts, from where they are held at first.
    """
    quasi = QuasiStatic(settings)
    count = 0

    def show(iterate: Iterate, x: Positions) -> None:
        nonlocal count
        count += 1
        if count % 25 == 0:
            now = f"energy {iterate.energy:.6g} J, force {iterate.force:.1e}"
            say(f"{label}: iteration {count}, {now}")
        if watch is not None:
            watch(iterate, x)

    x = where.start if loads == 1 else where.held
    history: list[Iterate] = []
    for load in range(loads):
        bumped = quasi.perturb(what, x)
        found = quasi.solve(what, bumped, (load + 1) / loads, watch=show)
        x, history = found.x, history + found.history
        if not found.outcome.ok:
            break
    say(f"{label}: {found.outcome.name} after {len(history)} iterations")
    return dataclasses.replace(found, history=history)


def energies(what: Model, x: Positions) -> dict[str, float]:
    """[J] by term."""
    return {e.name: float(e.value(x).sum()) for e in what.energies}


def relief(where: ExperimentSetting, x: Positions) -> float:
    """[m] root mean square distance from the plane that fits best: how deep the wrinkles are."""
    r = x - x.mean(0)
    return float(np.sqrt(max(np.linalg.eigvalsh(r.T @ r / len(r))[0], 0.0)))


def short_waves(height: Floats, n: int) -> float:
    """[m] root mean square height (n*n,) that smoothing over an eighth of the sheet takes away."""
    from scipy.ndimage import uniform_filter

    z = height.reshape(n, n)
    return float(np.sqrt(np.mean((z - uniform_filter(z, max(3, n // 8), mode="nearest")) ** 2)))


def least_stretch(where: ExperimentSetting, x: Positions) -> float:
    """Smallest principal stretch of all triangles: 0 where one has collapsed to a line."""
    F = linear_triangle(where.mesh).deformation_gradient(x)
    return float(principal_stretches(F)[1].min())


def pictures(where: ExperimentSetting, shapes: Sequence[Positions]) -> list[Image]:
    """Pictures with one camera."""
    renderer = Renderer(where.mesh, list(shapes), where.style)
    return [renderer.image(x) for x in shapes]


def show_rows(panels: Any, images: Sequence[Image], titles: Sequence[str]) -> None:
    """Pictures in the panels of a figure."""
    for axes in np.reshape(panels, -1):
        axes.axis("off")
    for axes, image, title in zip(np.reshape(panels, -1), images, titles):
        axes.imshow(np.asarray(image))
        axes.set_title(title, fontsize=8)


def compare(
    name: str,
    title: str,
    where: ExperimentSetting,
    membranes: Mapping[str, Law | Sequence[Energy]],
    k_theta: float,
    say: Say,
    conclude: Callable[[Mapping[str, Positions], Mapping[str, float]], Sequence[str]],
    loads: Mapping[str, int] | None = None,
) -> Study:
    """A study of several membranes in one setting: equilibria, pictures, energies and relief.

    ``conclude`` makes the findings from positions and relief [m] by label; ``loads`` says in how
    many parts a membrane is pulled, where that is not one.
    """
    shapes, deep = {}, {}
    rows: list[list[float | str]] = []
    for label, membrane in membranes.items():
        what = model(where, membrane, k_theta)
        found = settle(what, where, label, say, loads=(loads or {}).get(label, 1))
        shapes[label], deep[label] = found.x, relief(where, found.x)
        e = energies(what, found.x)
        elastic = sum(v for k, v in e.items() if k not in ("bending", "gravity"))
        rows.append(
            [
                label,
                found.outcome.name,
                len(found.history),
                found.history[-1].force,
                elastic,
                e["bending"],
                e["gravity"],
                deep[label],
                least_stretch(where, found.x),
            ]
        )
    columns = (
        "membrane",
        "outcome",
        "iterations",
        "largest force over the pins'",
        "membrane [J]",
        "bending [J]",
        "gravity [J]",
        "relief [m]",
        "least principal stretch",
    )
    images = pictures(where, list(shapes.values()))

    def draw(figure: Any) -> None:
        titles = [f"{k}, relief {1e3 * v:.1f} mm" for k, v in deep.items()]
        show_rows(figure.subplots(1, len(images)), images, titles)

    keys = [re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") for label in shapes]
    by_name = dict(zip(keys, images))
    table = StudyTable(columns, rows)
    return Study(name, title, table, list(conclude(shapes, deep)), draw, by_name, 3.4)
