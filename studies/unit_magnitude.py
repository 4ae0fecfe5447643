"""What does it change to hold lengths constant (Pritchard 2012, section 5.3: BODY against EXACT)?

The notes found stretch energy halved and a more pleasing cloth with the approximation, for shear
and bend at once. Here the two are taken apart: all four pairs of shear (w_u.w_v, or the cosine of
the angle) and bend (frozen, or differentiated in full), on one sheet at rest, with Table 1 and with
a bend stiffness at which bending carries load. Shear is measured as the angle in every case, so
that its energies can be compared.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.drape import model, outline, square, step_for
from studies.study import INK, Say, Study, StudyTable
from weft.base.arrays import Floats, Positions
from weft.cloth.cloth import Cloth
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.condition import Conditions, Variant, condition_energies
from weft.energies.state import State

SIDE, SECONDS = 40, 4.0  # vertices, [s] of simulation
BENDS = (1e-5, 1e-1)  # [J] k_bend: Table 1's, and one at which bending matters
PAIRS = [(shear, bend) for shear in Variant for bend in Variant]


def study(say: Say, side: int = SIDE, seconds: float = SECONDS) -> Study:
    """Energies and shapes of the four pairs, for two stiffnesses of bending."""
    cloth = square(side)
    rows: list[list[float | str]] = []
    shapes: dict[tuple[float, Variant, Variant], Positions] = {}
    for k_bend, (shear, bend) in itertools.product(BENDS, PAIRS):
        x = drape(cloth, k_bend, shear, bend, seconds)
        shapes[k_bend, shear, bend] = x
        far = float(np.linalg.norm(x - shapes[k_bend, Variant.BODY, Variant.BODY], axis=1).max())
        stretch, angle, bending = measured(cloth, k_bend, x)
        rows.append([k_bend, shear.value, bend.value, stretch, angle, bending, far])
        say(f"k_bend {k_bend:g}, shear {shear.value}, bend {bend.value}: stretch {stretch:.4g} J")
    columns = (
        "k_bend [J]",
        "shear",
        "bend",
        "stretch energy [J]",
        "shear energy of the angle [J]",
        "bend energy [J]",
        "largest distance to body, body [m]",
    )

    def draw(figure: Any) -> None:
        _draw(figure, cloth, rows, shapes)

    return Study(
        "pritchard-unit-magnitude",
        "Lengths held constant (body), or not (exact)",
        StudyTable(columns, rows),
        findings(rows),
        draw,
    )


def drape(cloth: Cloth, k_bend: float, shear: Variant, bend: Variant, seconds: float) -> Positions:
    """(n,3) [m] after so long at two corners, with each condition in its own variant."""
    of = {
        v: condition_energies(cloth.mesh, Conditions(bend=(k_bend, k_bend), p=0.75, variant=v))
        for v in Variant
    }
    energies = (of[shear][0], of[shear][1], of[bend][2])
    assert isinstance(energies[2], FrozenLengthBending) == (bend is Variant.BODY)
    state, _ = step_for(model(cloth, energies), State.at_rest(cloth.vertices), seconds)
    return state.x


def measured(cloth: Cloth, k_bend: float, x: Positions) -> tuple[float, float, float]:
    """[J] of stretch, of the shear angle, and of bend."""
    c = Conditions(bend=(k_bend, k_bend), p=0.75, variant=Variant.EXACT)
    stretch, shear, bend = (float(e.value(x).sum()) for e in condition_energies(cloth.mesh, c))
    return stretch, shear, bend


def findings(rows: Sequence[Sequence[float | str]]) -> list[str]:
    """Ratios of energies, one change at a time."""
    out = []
    for k_bend in BENDS:
        mine = {(r[1], r[2]): [float(v) for v in r[3:]] for r in rows if r[0] == k_bend}
        base = mine["body", "body"]
        for changed, key in (
            ("shear exact", ("exact", "body")),
            ("bend exact", ("body", "exact")),
            ("both exact", ("exact", "exact")),
        ):
            now = mine[key]
            ratio = [100 * (a / b - 1) for a, b in zip(now[:3], base[:3])]
            out.append(
                f"k_bend = {k_bend:g} J, {changed}: stretch energy {ratio[0]:+.2g} %, shear "
                f"{ratio[1]:+.2g} %, bend {ratio[2]:+.2g} %, shape moved by up to "
                f"{1e3 * now[3]:.2g} mm."
            )
    return out


def _draw(
    figure: Any,
    cloth: Cloth,
    rows: Sequence[Sequence[float | str]],
    shapes: dict[tuple[float, Variant, Variant], Floats],
) -> None:
    panels = figure.subplots(1, 4, width_ratios=[1.4, 1, 1.4, 1])
    for k_bend, (bars, view) in zip(BENDS, (panels[:2], panels[2:])):
        mine = [r for r in rows if r[0] == k_bend]
        base = [float(v) for v in mine[0][3:6]]
        for i, (row, ink) in enumerate(zip(mine, INK)):
            heights = [float(v) / b for v, b in zip(row[3:6], base)]
            label = f"shear {row[1]}, bend {row[2]}"
            bars.bar(np.arange(3) + 0.2 * (i - 1.5), heights, 0.2, color=ink, label=label)
            shear, bend = PAIRS[i]
            o = outline(cloth, shapes[k_bend, shear, bend])
            view.plot(o[:, 0], o[:, 1], color=ink, lw=1)
        bars.set_xticks(range(3), ["stretch", "shear", "bend"])
        bars.set_title(f"energy over body, body; k_bend = {k_bend:g} J", fontsize=8)
        bars.tick_params(labelsize=8)
        view.set_aspect("equal")
        view.set_title("seen from the front [m]", fontsize=8)
        view.tick_params(labelsize=7)
    panels[0].legend(fontsize=7, loc="lower left")
