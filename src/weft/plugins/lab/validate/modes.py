"""Normal modes of a flat sheet: small motion out of its plane, about a state of equilibrium."""

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential

ACROSS = 1  # axis normal to the sheets, which lie on y = 0


def normal_modes(
    model: Model, x: Positions, lowest: float, count: int = 1
) -> tuple[Floats, Floats]:
    """Return normal modes of a flat sheet, K z = w^2 M z.

    K is the exact Hessian of all energies and M the lumped mass, both of the free vertices. Motion
    out of the plane of a flat sheet does not couple with motion in it, so only the former is kept.

    Args:
        model: energies, masses and pins; the pinned vertices of ``x`` are where the model has them.
        x: (n,3) [m] on y = 0, where forces balance.
        lowest: [1/s^2] a bound below the lowest w^2; the modes nearest to it are found.
        count: number of modes.

    Returns:
        (count,) [1/s^2] w^2 in ascending order, negative where the flat sheet is unstable; and
        (n,count) [m] the modes, zero at pinned vertices.
    """
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    potential = Potential(model, model.step(State.at_rest(x), 0.0))
    free = np.flatnonzero(potential.free)
    rows = 3 * free + ACROSS
    K, M = potential.hessian(x)[rows][:, rows].tocsc(), diags(model.mass[free]).tocsc()
    # start vector of the Lanczos iteration, fixed for reproducible modes
    start = np.random.default_rng(0).normal(size=len(free))
    values, vectors = eigsh(K, count, M, sigma=lowest, which="LM", v0=start)
    order = np.argsort(values)
    modes = np.zeros((len(x), count))
    modes[free] = vectors[:, order]
    return values[order], modes


def critical_load(below: float, above: float, values: tuple[float, float]) -> float:
    """Return the load at which motion becomes unstable, where w^2 or the growth rate is zero.

    ``values`` are those at two loads, between which it is linear in the load.
    """
    return below + (above - below) * values[0] / (values[0] - values[1])
