"""Analytic against numeric derivatives (Pritchard 2012, section 4), of any energy or law.

Central differences are taken with many step sizes. The error of a right derivative falls with the
square of the step (slope 2) until round-off; that of a wrong one stays. The result reports the
least relative error, the step at which it occurs, and the slope.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Gradients, Ints, Positions
from weft.base.errors import WeftError
from weft.base.runtime_types import checked
from weft.energies.energy import Energy
from weft.laws.base import Law
from weft.solve.newton.psd import Psd

STEPS = tuple(10.0 ** -(k / 2) for k in range(4, 16))  # relative to the size of an element
TOLERANCE = 1e-6
ROUND_OFF = 1e-9  # an error below this need not fall with the step


@dataclass(frozen=True)
class Difference:
    """Comparison of an analytic derivative with central differences."""

    name: str  # gradient, hessian, ...
    error: float  # least one over the steps, relative to the largest entry
    step: float  # at which it occurs, relative to the size of an element
    slope: float  # of log error against log step; nan if the error is round-off at every step
    ok: bool  # the error is within the tolerance and the slope, if any, is at least 1.8

    def __str__(self) -> str:
        slope = "at round-off" if np.isnan(self.slope) else f"slope {self.slope:.2f} (2 is right)"
        return (
            f"{self.name}: {'ok' if self.ok else 'WRONG'}, relative error {self.error:.1e} at step "
            f"{self.step:.0e}, {slope}"
        )


def compare_derivative(
    name: str,
    numeric: Callable[[float], Floats],
    analytic: Floats,
    steps: Sequence[float] = STEPS,
    tolerance: float = TOLERANCE,
) -> Difference:
    """Compare ``numeric(step)``, a difference quotient of second order, with ``analytic``.

    Args:
        name: of the derivative.
        numeric: returns the quotient for a step, in the shape of ``analytic``.
        analytic: derivative, any shape.
        steps: step sizes in descending order.
        tolerance: of the least error, relative to the largest entry of ``analytic``.
    """
    scale = max(float(np.abs(analytic).max(initial=0.0)), 1e-300)
    errors = [float(np.abs(numeric(h) - analytic).max(initial=0.0)) / scale for h in steps]
    best = int(np.argmin(errors))
    slope = _slope(steps, errors)
    ok = errors[best] <= tolerance and not slope < 1.8
    return Difference(name, errors[best], steps[best], slope, ok)


def _slope(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Return the median slope over the steps before round-off; 0 for an error that does not
    fall.
    """
    best = int(np.argmin(errors))
    slopes = [
        np.log(errors[i] / errors[i + 1]) / np.log(steps[i] / steps[i + 1])
        for i in range(best)
        if errors[i + 1] > 10 * errors[best] and np.isfinite(errors[i])
    ]
    if slopes:
        return float(np.median(slopes))
    return float("nan") if errors[best] <= ROUND_OFF else 0.0


@checked(WeftError)
def check_derivatives(
    thing: Energy | Law, x: Positions | Gradients | None = None, seed: int = 0
) -> list[Difference]:
    """Compare the derivatives of an energy or a law with central differences.

    Compared are gradient and Hessian of an energy, or stress and Hessian of a law, along three
    random directions:

        for difference in weft.check_derivatives(law):
            print(difference)

    An energy is an object with ``stencil`` (m,k), ``value(x)`` (m,), ``gradient(x)`` (m,k,3) and
    ``hessian(x, psd)`` (m,k,k,3,3): every local value is compared, so one wrong element shows.

    Args:
        thing: an energy or a law.
        x: point of evaluation. Of an energy the positions (n,3) [m], required; of a law deformation
            gradients (n,3,2), or None: random ones near rest, stretched, compressed, sheared and
            crumpled.
        seed: of the directions, and of the law's gradients.

    Returns:
        One comparison for each derivative.

    Raises:
        WeftError: arrays of other shapes, or an energy without positions.
    """
    if isinstance(thing, Law):
        return _of_law(thing, _gradients(seed) if x is None else np.asarray(x), seed)
    if x is None:
        raise WeftError("x", got="nothing", expected=f"positions (n,3) [m] for {thing.name}")
    return _of_energy(thing, np.asarray(x, dtype=np.float64), seed)


def quotients(
    f: Callable[[Floats], Floats], x: Floats, directions: Sequence[Floats]
) -> Callable[[float], Floats]:
    """Return a function of the step that gives the central differences of f at x along each
    direction.
    """
    return lambda h: np.stack([(f(x + h * d) - f(x - h * d)) / (2 * h) for d in directions])


def _of_energy(energy: Energy, x: Positions, seed: int) -> list[Difference]:
    """Compare gradient and Hessian of an energy at x (n,3) [m].

    Raises:
        WeftError: its arrays do not have the shapes that its stencil implies.
    """
    stencil = np.asarray(energy.stencil)
    if stencil.ndim != 2 or len(stencil) == 0:
        raise WeftError(f"{energy.name}.stencil", got=stencil.shape, expected="(m,k), m > 0")
    m, k = stencil.shape
    value, gradient, hessian = energy.value(x), energy.gradient(x), energy.hessian(x, Psd.EXACT)
    for part, array, shape in (
        ("value", value, (m,)),
        ("gradient", gradient, (m, k, 3)),
        ("hessian", hessian, (m, k, k, 3, 3)),
    ):
        if np.shape(array) != shape:
            raise WeftError(
                f"{energy.name}.{part}",
                got=np.shape(array),
                expected=f"shape {shape} for a stencil of shape {(m, k)}",
            )
    rng, size = np.random.default_rng(seed), _element_size(x, stencil)
    directions = [rng.normal(size=x.shape) * size for _ in range(3)]
    slopes = np.stack([np.einsum("mki,mki->m", gradient, d[stencil]) for d in directions])
    curvatures = np.stack([np.einsum("mabij,mbj->mai", hessian, d[stencil]) for d in directions])
    return [
        compare_derivative("gradient", quotients(energy.value, x, directions), slopes),
        compare_derivative("hessian", quotients(energy.gradient, x, directions), curvatures),
    ]


def _gradients(seed: int) -> Gradients:
    """Return (64,3,2) random deformation gradients.

    They are rotations in space times stretches from 0.6 to 1.6 and shears; every fourth one is
    crumpled.
    """
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(64, 3, 3)))[0][:, :, :2]
    stretch = np.zeros((64, 2, 2))
    stretch[:, [0, 1], [0, 1]] = rng.uniform(0.6, 1.6, (64, 2))
    stretch[:, 0, 1] = rng.uniform(-0.4, 0.4, 64)
    crumpled = 0.3 * rng.normal(size=(64, 3, 2)) * (np.arange(64) % 4 == 0)[:, None, None]
    return np.asarray(turned @ stretch + crumpled)


def _of_law(law: Law, F: Gradients, seed: int) -> list[Difference]:
    """Compare stress and Hessian of a law at F (n,3,2). Each direction changes all samples."""
    if F.ndim != 3 or F.shape[1:] != (3, 2):
        raise WeftError("F", got=f"shape {F.shape}", expected="(n,3,2), one for every sample")
    rng = np.random.default_rng(seed)
    directions = [rng.normal(size=F.shape) for _ in range(3)]
    stress, hessian = law.stress(F), law.hessian(F, Psd.EXACT)

    def vec(A: Gradients) -> Floats:
        return np.swapaxes(A, 1, 2).reshape(len(A), 6)

    def stresses(G: Gradients) -> Floats:
        return vec(law.stress(G))

    slopes = np.stack([np.einsum("nij,nij->n", stress, d) for d in directions])
    curvatures = np.stack([np.einsum("nij,nj->ni", hessian, vec(d)) for d in directions])
    return [
        compare_derivative("stress", quotients(law.energy, F, directions), slopes),
        compare_derivative("hessian", quotients(stresses, F, directions), curvatures),
    ]


def _element_size(x: Positions, stencil: Ints) -> float:
    """Return the typical distance [m] between the vertices of an element."""
    if stencil.shape[1] == 1:
        return max(float(np.ptp(x, axis=0).max()), 1e-30)
    corners = x[stencil]
    return max(float(np.median(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1))), 1e-30)
