"""With wefts along [3 1], why does a pulled sheet collapse, and what wrinkles (Kim 2020, figure 3)?

One fabric, k = 100, in several holds and pulls, with the caption's bending and with a hundredth of
it, which is that of a sheet ten times as long (``docs/explanations/kim.md``).
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.kim import (
    FRONT,
    GRAVITY,
    SETTINGS,
    ExperimentSetting,
    model,
    pictures,
    relief,
    settle,
    show_rows,
    stretched,
)
from studies.study import Say, Study, StudyTable
from weft.base.arrays import Positions
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.create import sheet
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.samples import principal_stretches
from weft.laws import BaraffWitkin

K, CAPTION, LONGER = 100.0, 1e-4, 1e-6  # [N/m]; [J] the caption's, and of a sheet of ten meters
WEFT = np.array([3.0, 1.0]) / np.sqrt(10)
FREE = 1 / WEFT[0] - 1  # pull from which the weft is too long however narrow the cloth is: 5.4 %
LOADS, ITERATIONS = 10, 900
COLLAPSED = 0.01  # least principal stretch


@dataclass(frozen=True)
class PulledSheet:
    """How a sheet is held and pulled."""

    hold: str  # patches in the corners, or whole edges
    pull: float  # of its length
    bending: float  # [J] k_theta
    vertices: int  # a side
    gravity: float = GRAVITY  # [m/s^2]

    @property
    def label(self) -> str:
        """For people."""
        weight = "" if self.gravity else ", no gravity"
        return f"{self.hold}{weight}, {100 * self.pull:g} %, {self.bending:g} J"


CASES = (
    PulledSheet("patches", 0.03, CAPTION, 33),
    PulledSheet("patches", 0.30, CAPTION, 33),
    PulledSheet("patches", 0.03, CAPTION, 33, 0.0),
    PulledSheet("patches", 0.30, CAPTION, 33, 0.0),
    PulledSheet("edges", 0.15, CAPTION, 33),
    PulledSheet("edges", 0.30, CAPTION, 33),
    PulledSheet("edges", 0.15, LONGER, 49),
    PulledSheet("patches", 0.30, LONGER, 41),
)


def study(say: Say, n: int | None = None, cases: Sequence[PulledSheet] = CASES) -> Study:
    """Eight sheets; ``n`` vertices a side of all, in place of each one's own."""
    rows: list[list[float | str]] = []
    shown = []
    for case in cases:
        one = case if n is None else dataclasses.replace(case, vertices=n)
        where = held(one)
        x, outcome = found(one, where, say)
        least, collapsed = collapse(where, x)
        rows.append(
            [
                one.hold,
                one.gravity,
                one.pull,
                one.bending,
                one.vertices,
                outcome,
                least,
                collapsed,
                relief(where, x),
            ]
        )
        shown.append((one.label, pictures(where, [x])[0]))
    columns = (
        "held",
        "gravity [m/s^2]",
        "pull",
        "k_theta [J]",
        "vertices a side",
        "search",
        "least stretch",
        "triangles collapsed",
        "relief [m]",
    )

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, (len(shown) + 1) // 2)
        show_rows(panels, [image for _, image in shown], [label for label, _ in shown])

    title = "Pulled sheets with wefts along [3 1]"
    return Study(
        "kim2020-fig3-skewed", title, StudyTable(columns, rows), conclusions(rows), draw, {}, 5.6
    )


def held(case: PulledSheet) -> ExperimentSetting:
    """A sheet in patches at its corners, or in whole edges."""
    if case.hold == "patches":
        return stretched(case.vertices, case.pull)
    cloth = sheet(case.vertices, case.vertices, fabric="freecloth").move((0, 0, 0), (90, 0, 0))
    X, pins = cloth.vertices, []
    for side, name in ((-1.0, "left"), (1.0, "right")):
        frames = [Keyframe(0.0), Keyframe(1.0, (0.5 * case.pull * side, 0.0, 0.0))]
        pins.append(Pin(cloth.border(name), path=Path(frames, "linear")))
    return ExperimentSetting(cloth.mesh, X, X * [1 + case.pull, 1, 1], pins, FRONT)


def found(case: PulledSheet, where: ExperimentSetting, say: Say) -> tuple[Positions, str]:
    """Where the sheet ends, and how the search for it did."""
    law = BaraffWitkin((K, K), K, weft=(float(WEFT[0]), float(WEFT[1])))
    what = model(where, law, case.bending, case.gravity)
    settings = dataclasses.replace(SETTINGS, max_iterations=ITERATIONS)
    ended = settle(what, where, case.label, say, settings, loads=LOADS)
    return ended.x, ended.outcome.name


def collapse(where: ExperimentSetting, x: Positions) -> tuple[float, int]:
    """The least principal stretch, and how many triangles are all but lines."""
    least = principal_stretches(linear_triangle(where.mesh).deformation_gradient(x))[1]
    return float(least.min()), int((least < COLLAPSED).sum())


def conclusions(rows: Sequence[Sequence[Any]]) -> list[str]:
    """In words."""
    said = [
        f"Beyond a pull of {100 * FREE:.1f} % the weft is too long however narrow the cloth is: "
        "only bending stands against a collapse to a line."
    ]
    for bending in dict.fromkeys(row[3] for row in rows):
        these = [row for row in rows if row[3] == bending]
        whole = sum(row[5] == "CONVERGED" and row[7] == 0 for row in these)
        deepest = max((row[8] for row in these if row[5] == "CONVERGED"), default=0.0)
        said.append(
            f"k_theta = {bending:g} J: {whole} of {len(these)} end in an equilibrium without a "
            f"collapsed triangle; the deepest of these that converged has a relief of "
            f"{1e3 * deepest:.2g} mm."
        )
    return said
