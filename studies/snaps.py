"""What do derivatives say where contact begins, and where cloth snaps?

Two runs, each along one number. A strip falls past the edge of a table that is moved beneath it:
first it misses it, then it lands on it. An arch, clamped at both ends, carries more and more of
its own weight until it snaps through. Beside the loss stand its derivative (``weft.Adjoint``) and
the difference quotient of the two neighbors: of what is smooth they are one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.adjoint.adjoint import Adjoint
from weft.adjoint.losses import Mean
from weft.adjoint.parameters import Parameter
from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.bodies.shapes.primitives import plate
from weft.cloth.create import sheet
from weft.contact.settings import SelfContact
from weft.integrators.base import StepSettings
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.scene.scene import Scene

SAMPLES = 25  # along each number
REACH = (-0.004, 0.002)  # [m] of the table under the strip: it starts to touch within the gap
LOADS = (6.0, 14.0)  # [m/s^2]
SHORTER = 0.04  # of the span of the arch than of its strip
STEP, FPS, FRAMES = 0.005, 20.0, 2
SMOOTH = 0.1  # of the median slope: differences from the quotient below it are those of sampling


@dataclass(frozen=True)
class Along:
    """A loss along one number."""

    name: str
    p: Floats  # (k,)
    loss: Floats  # (k,)
    slope: Floats  # (k,) by the adjoint
    indefinite: Floats  # (k,) steps that ended where the Hessian is not definite

    @property
    def quotient(self) -> Floats:
        """(k-1,) between neighbors."""
        return np.asarray(np.diff(self.loss) / np.diff(self.p))

    @property
    def off(self) -> Floats:
        """(k-1,) of the mean slope of two neighbors from the quotient, over the largest slope of a
        smooth piece.
        """
        mean, size = (self.slope[1:] + self.slope[:-1]) / 2, np.abs(self.slope[self.slope != 0])
        return np.asarray(np.abs(mean - self.quotient) / np.median(size))


def study(say: Say, samples: int = SAMPLES) -> Study:
    """Both runs, as a table, a plot and findings."""
    found = [landing(samples), arch(samples)]
    rows: list[Sequence[float | str]] = []
    for a in found:
        ahead = [*a.quotient.tolist(), float("nan")]
        rows += [[a.name, *row] for row in zip(a.p, a.loss, a.slope, ahead, a.indefinite)]
        say(f"{a.name}: {samples} runs")
    columns = ("number", "value", "loss [m]", "derivative", "quotient to the next", "indefinite")
    return Study(
        "gradients-at-snaps",
        "A contact that begins, and a snap",
        StudyTable(columns, rows),
        findings(*found),
        lambda figure: _draw(figure, found),
    )


def landing(samples: int) -> Along:
    """Mean height of a strip's end, by where the edge of a table is."""
    cloth = sheet(3, 9, 0.03, 0.12, fabric="denim").move((0, 0.008, 0), (0, 0, 0))
    x = np.array(cloth.vertices)
    far = float(x[:, 2].max())
    table = plate(0.1, 0.1, 0.05, "table").move((0.0013, 0.0, far + 0.05))
    hold = Pin(cloth.border("top"))
    scene = Scene(
        cloth,
        [hold],
        bodies=[table],
        step=STEP,
        contact=SelfContact(0.002, friction=0.2),
        settings=StepSettings(tolerance=1e-8),
    )

    def at(s: Any, v: float) -> Any:
        return s.with_(bodies=[table.move((0.0, 0.0, -v))])

    loss = Mean((0.0, 1.0, 0.0), cloth.border("bottom"))
    values = np.linspace(*REACH, samples)
    return _along("overlap of the table [m]", scene, at, values, loss, 1e-7)


def arch(samples: int) -> Along:
    """Height of an arch's middle, by gravity, from the same start each time."""
    cloth = sheet(13, 3, 0.12, 0.02, fabric="canvas")
    x = np.array(cloth.vertices)
    part = np.pi * (x[:, 0] / 0.12 + 0.5)
    clamped = np.flatnonzero(np.abs(x[:, 0]) > 0.045).astype(np.int32)
    x[:, 0] *= 1 - SHORTER
    x[:, 1] += 0.12 * 2 / np.pi * np.sqrt(SHORTER) * np.sin(part) ** 2
    x[clamped, 1] = 0.0
    scene = Scene(
        cloth.with_points(x),
        [Pin(clamped)],
        integrator="quasi_static",
        step=1.0,
        settings=QuasiStaticSettings(1e-9, 1e-8, 2000, imperfection=0.0),
    )

    def at(s: Any, v: float) -> Any:
        return s.with_(gravity=(0.0, -v, 0.0))

    middle = np.flatnonzero(np.abs(cloth.vertices[:, 0]) < 1e-6).astype(np.int32)
    values = np.linspace(*LOADS, samples)
    return _along("gravity [m/s^2]", scene, at, values, Mean((0.0, 1.0, 0.0), middle), None)


def _along(
    name: str, scene: Scene, at: Any, values: Floats, loss: Mean, near: float | None
) -> Along:
    static = scene.integrator == "quasi_static"
    found = []
    for p in values.tolist():
        mine = Parameter("p", p, lambda s, v: at(scene, v), near=near)
        made = Adjoint(
            at(scene, p), loss, [mine], frames=1 if static else FRAMES, fps=1.0 if static else FPS
        )()
        bad = len(made.report.indefinite) + len(made.report.singular)
        found.append((made.value, float(made.gradient["p"]), float(bad)))
    heights, slopes, bad_steps = (np.array(c) for c in zip(*found))
    return Along(name, values, heights, slopes, bad_steps)


def findings(contact: Along, snap: Along) -> list[str]:
    """Where derivatives are the quotients, and where not."""
    jump = int(np.argmax(np.abs(np.diff(snap.loss))))
    away = np.delete(snap.off, jump)
    touched = int(np.argmax(contact.slope != 0.0))
    worst, after = int(np.argmax(contact.off)), contact.off[max(touched - 1, 0) :]
    return [
        f"Contact: before the table is reached the derivative is exactly zero ({touched} of "
        f"{len(contact.p)} samples). From there on the mean of two derivatives is the quotient "
        f"between them, but for {SMOOTH:.0%} of the median slope, in {int((after < SMOOTH).sum())} "
        f"of {len(after)} intervals; at worst it is {contact.off[worst]:.2g} times that slope off, "
        f"between {1e3 * contact.p[worst]:.2f} and {1e3 * contact.p[worst + 1]:.2f} mm, where the "
        "strip either slips past the edge or stays on it.",
        f"Snap: between {snap.p[jump]:.3g} and {snap.p[jump + 1]:.3g} m/s^2 the middle falls by "
        f"{1e3 * abs(np.diff(snap.loss)[jump]):.1f} mm. The quotient there is "
        f"{snap.quotient[jump]:.3g} m per m/s^2, the derivatives beside it are "
        f"{snap.slope[jump]:.3g} and {snap.slope[jump + 1]:.3g}: each is right for its side, and "
        "neither knows of the other.",
        f"Everywhere else they are within {away.max():.2g} of the median slope of the quotients.",
        f"Steps that ended where the Hessian is not definite: {int(contact.indefinite.sum())} and "
        f"{int(snap.indefinite.sum())}.",
    ]


def _draw(figure: Any, found: Sequence[Along]) -> None:
    axes = figure.subplots(2, 2)
    for column, a in enumerate(found):
        top, bottom = axes[0][column], axes[1][column]
        top.plot(a.p, 1e3 * a.loss, ".-", color=INK[0], lw=0.8, ms=4)
        top.set_ylabel("height [mm]")
        middle = (a.p[1:] + a.p[:-1]) / 2
        bottom.plot(middle, a.quotient, "o", mfc="none", color=INK[1], ms=5, label="quotient")
        bottom.plot(a.p, a.slope, ".-", color=INK[0], lw=0.8, ms=4, label="derivative")
        most = 1.3 * np.abs(a.slope).max()
        for p, q in zip(middle, a.quotient):
            if abs(q) > most:
                bottom.annotate(
                    f"{q:.2g}",
                    (p, np.sign(q) * most),
                    fontsize=8,
                    ha="center",
                    va="bottom" if q < 0 else "top",
                    color=INK[1],
                )
        bottom.set_ylim(
            -most if a.slope.min() < 0 else -0.1 * most, most if a.slope.max() > 0 else 0.1 * most
        )
        bottom.set_xlabel(a.name)
        bottom.legend(fontsize=8)
