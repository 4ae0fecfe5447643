"""Is a fabric recovered from its own drape, cantilever and strips, within the stated uncertainty?

Five presets are tested in the virtual laboratory: tensile along warp, weft and bias, cantilever
along both, weight, and a drape coefficient, each with 2 % of noise, and are fitted from polyester's
numbers. The drapes of the data, two for each trial, buckle from other waves than those of the fit,
on the same coarse mesh (edges of 15 mm): what a finer one would change is no part of the question.
What the data state for their mean drape coefficient includes the scatter of their drapings.

A trial counts as recovered where the true numbers are in the fit's joint region of 95.45 %.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.study import INK, Say, Study, StudyTable
from weft.fabric.fabric import Fabric, fabric
from weft.plugins.lab.fitting.cantilever import CantileverTest
from weft.plugins.lab.fitting.drape import CusickTest
from weft.plugins.lab.fitting.drape_equilibrium import DrapeContinuation, DrapeTester
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.tensile import TensileTest
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.validate.fitting import NOISE, PRESETS, START, WITHIN, Trial

SIZE, DRAPINGS = 15e-3, 2  # [m] edges; of a fit, and of its data
OF_DATA = 10_000  # the first seed of drapings that data are made of
STRAINS = {"warp": (0.01, 0.02, 0.03), "weft": (0.01, 0.02, 0.03), "bias": (0.02, 0.05)}
FIELDS = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "bending_weft")


def study(say: Say = lambda _: None, seeds: int = 10) -> Study:
    """Fit each preset ``seeds`` times, to data with other noise and other drapings."""
    trials = {name: _trials(name, seeds, say) for name in PRESETS}
    every = [t for of in trials.values() for t in of]
    z = np.array([t.z for t in every])
    rows = [_row(name, of) for name, of in trials.items()]
    recovered = sum(t.covered for t in every)
    chi = [t.found.squares for t in every]
    findings = [
        f"{recovered} of {len(every)} trials ({recovered / len(every):.0%}) are recovered: the "
        f"true numbers are in the fit's joint region of {WITHIN:.1%}",
        f"of {z.size} numbers {np.mean(np.abs(z) <= 1):.0%} are within one stated standard "
        f"deviation, {np.mean(np.abs(z) <= 2):.0%} within two (normal errors: 68 and 95 %)",
        f"errors over their standard deviations have a mean of {z.mean():+.2f} and a root mean "
        f"square of {np.sqrt((z**2).mean()):.2f}",
        f"the mean sum of squares is {np.mean(chi):.1f} for {every[0].found.freedom} degrees of "
        "freedom",
    ]
    columns = ("preset", "recovered", *(f"{f}: +-, rms z" for f in FIELDS))
    title = f"Fabrics recovered from drape, cantilever and strips with {NOISE:.0%} of noise"
    return Study(
        "fabric-recovery",
        title,
        StudyTable(columns, rows),
        findings,
        lambda figure: _draw(figure, z),
    )


def _trials(name: str, count: int, say: Say) -> list[Trial]:
    true, start = fabric(name), fabric(START)
    pulled = {cut: _forces(true, cut) for cut in STRAINS}
    found = []
    for k in range(count):
        rng = np.random.default_rng([PRESETS.index(name), k])
        data = measured(true, pulled, rng, k)
        found.append(Trial.of(fit(data, start), true))
        error = ", ".join(f"{v:+.1f}" for v in found[-1].z)
        say(f"{name} {k + 1} of {count}: errors over standard deviations {error}")
    return found


def measured(
    true: Fabric, pulled: dict[str, np.ndarray[Any, Any]], rng: np.random.Generator, trial: int
) -> list[Measurement]:
    """What a laboratory says of a fabric, with noise."""

    def read(exact: Any) -> Any:
        return exact * (1 + NOISE * rng.normal(size=np.shape(exact)))

    out: list[Measurement] = []
    for cut, force in pulled.items():
        strain = np.array(STRAINS[cut])
        out.append(TensileTest(f"tensile {cut}", cut, strain, read(force), NOISE * force))  # type: ignore[arg-type]
    for way in ("warp", "weft"):
        c = CantileverTest("", way, 1.0, 1.0).model(true)
        out.append(CantileverTest(f"cantilever {way}", way, float(read(c)), NOISE * c))
    out.append(Value("weight", "density", float(read(true.density)), NOISE * true.density))
    drapes = DrapeContinuation(DrapeTester.of(SIZE), DRAPINGS, OF_DATA + 10 * trial)
    draped = CusickTest("", 1.0, 1.0, drapes).near(true)
    mean = float(draped.model(true)[0])
    sigma = float(np.hypot(NOISE * mean, draped.scatter))
    drapes = DrapeContinuation(DrapeTester.of(SIZE), DRAPINGS, 10 * trial)
    return [*out, CusickTest("drape", float(read(mean)), sigma, drapes)]


def _forces(true: Fabric, cut: Any) -> np.ndarray[Any, Any]:
    strain = np.array(STRAINS[cut])
    return np.asarray(TensileTest("", cut, strain, strain, strain).model(true))


def _row(name: str, trials: Sequence[Trial]) -> list[str]:
    z = np.array([t.z for t in trials])
    size = np.mean([list(t.found.relative.values()) for t in trials], axis=0)
    each = [f"{s:.1%}, {np.sqrt((c**2).mean()):.2f}" for s, c in zip(size, z.T)]
    return [name, f"{sum(t.covered for t in trials)}/{len(trials)}", *each]


def _draw(figure: Any, z: Any) -> None:
    axes = figure.subplots()
    expected = np.linspace(-4, 4, 200)
    for k, field in enumerate(FIELDS):
        axes.plot(
            np.sort(z[:, k]),
            (np.arange(len(z)) + 0.5) / len(z),
            "o",
            ms=3,
            color=INK[k % len(INK)],
            label=field,
        )
    from scipy.stats import norm

    axes.plot(expected, norm.cdf(expected), "k-", lw=1, label="normal errors")
    axes.set(
        xlabel="error over stated standard deviation", ylabel="share of trials below", xlim=(-4, 4)
    )
    axes.legend(frameon=False, fontsize=8)
