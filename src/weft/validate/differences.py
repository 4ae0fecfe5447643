"""Analytic against numeric derivatives (Pritchard 2012, section 4), for weft's energies and for
yours.

Central differences over many step sizes: the error of a right derivative falls with the square of
the step (slope 2) until round-off; that of a wrong one stays. What is reported is the least
relative error, the step where it was, and the slope.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints, Positions
from weft.energies.base import Energy
from weft.errors import WeftError
from weft.psd import Psd

STEPS = tuple(10.0 ** -(k / 2) for k in range(4, 16))  # relative to the size of an element
TOLERANCE = 1e-6
ROUND_OFF = 1e-9  # an error below need not fall any more


@dataclass(frozen=True)
class Difference:
    """How an analytic derivative compares with central differences."""

    name: str  # gradient, hessian, ...
    error: float  # least one over the steps, relative to the largest entry
    step: float  # where it was
    slope: float  # of log error against log step; nan where the error is round-off at every step
    ok: bool  # error <= TOLERANCE and, where there is a slope, at least 1.8


def compare_derivative(
    name: str,
    numeric: Callable[[float], Floats],
    analytic: Floats,
    steps: Sequence[float] = STEPS,
    tolerance: float = TOLERANCE,
) -> Difference:
    """Compare ``numeric(step)``, a difference quotient of second order, with ``analytic``."""
    scale = max(float(np.abs(analytic).max(initial=0.0)), 1e-300)
    errors = [float(np.abs(numeric(h) - analytic).max(initial=0.0)) / scale for h in steps]
    best = int(np.argmin(errors))
    slope = _slope(steps, errors)
    ok = errors[best] <= tolerance and not slope < 1.8
    return Difference(name, errors[best], steps[best], slope, ok)


def _slope(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Median slope over the steps before round-off; 0 for an error that does not fall."""
    best = int(np.argmin(errors))
    slopes = [
        np.log(errors[i] / errors[i + 1]) / np.log(steps[i] / steps[i + 1])
        for i in range(best)
        if errors[i + 1] > 10 * errors[best] and np.isfinite(errors[i])
    ]
    if slopes:
        return float(np.median(slopes))
    return float("nan") if errors[best] <= ROUND_OFF else 0.0


def check_derivatives(energy: Energy, x: Positions, seed: int = 0) -> list[Difference]:
    """Gradient and Hessian of an energy at positions x (n,3) [m], along random directions.

    Works on anything with ``stencil``, ``value(x)`` (m,), ``gradient(x)`` (m,k,3) and
    ``hessian(x, psd)`` (m,k,k,3,3): every local value is compared, so one wrong element shows.

    Raises:
        WeftError: arrays of other shapes.
    """
    x = np.asarray(x, dtype=np.float64)
    rng = np.random.default_rng(seed)
    stencil = np.asarray(energy.stencil)
    _check_shapes(energy, x)
    size = _element_size(x, stencil)
    directions = [rng.normal(size=x.shape) * size for _ in range(3)]
    gradient, hessian = energy.gradient(x), energy.hessian(x, Psd.EXACT)

    def along(f: Callable[[Positions], Floats]) -> Callable[[float], Floats]:
        return lambda h: np.stack([(f(x + h * d) - f(x - h * d)) / (2 * h) for d in directions])

    slopes = np.stack([np.einsum("mki,mki->m", gradient, d[stencil]) for d in directions])
    curvatures = np.stack([np.einsum("mabij,mbj->mai", hessian, d[stencil]) for d in directions])
    return [
        compare_derivative("gradient", along(energy.value), slopes),
        compare_derivative("hessian", along(energy.gradient), curvatures),
    ]


def _element_size(x: Positions, stencil: Ints) -> float:
    """[m] typical distance between the vertices of an element."""
    if stencil.shape[1] == 1:
        return max(float(np.ptp(x, axis=0).max()), 1e-30)
    corners = x[stencil]
    return max(float(np.median(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1))), 1e-30)


def _check_shapes(energy: Energy, x: Positions) -> None:
    stencil = np.asarray(energy.stencil)
    if stencil.ndim != 2 or len(stencil) == 0:
        raise WeftError(f"{energy.name}.stencil", got=stencil.shape, expected="(m,k), m > 0")
    m, k = stencil.shape
    shapes = {
        "value": (np.shape(energy.value(x)), (m,)),
        "gradient": (np.shape(energy.gradient(x)), (m, k, 3)),
        "hessian": (np.shape(energy.hessian(x, Psd.EXACT)), (m, k, k, 3, 3)),
    }
    for part, (got, expected) in shapes.items():
        if got != expected:
            raise WeftError(
                f"{energy.name}.{part}",
                got=got,
                expected=f"shape {expected} for a stencil of shape {(m, k)}",
            )
