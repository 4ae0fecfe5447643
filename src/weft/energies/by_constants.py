"""Mixed derivatives d2E/dx dc of energies by their constants c.

An energy may declare its constants, numbers that may change a little, and how its gradient changes
with them:

    constants   by name, (m,...): a number, or several, of every local energy
    structure   all other data: two energies of one structure differ by constants alone
    mixed_derivatives(x, step)
                by name, (m,k,3,...): d gradient/dc; without a step of the energy at rest, with one
                of all that its gradient contains in that step, damping and lagged quantities
                included

One number of a scene is many constants: a rigidity is a weight of every hinge. ``by_constants`` and
``along_constants`` contract the mixed derivatives with a vector or with a change of the constants.
Most energies know the first of these contractions (``ContractedEnergy.contract``), by reverse mode,
from which the mixed derivatives follow entry by entry of the gradient.
``weft.adjoint`` needs nothing else of an energy; for an energy without constants it takes
differences of the gradient.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.equality import are_equal
from weft.base.errors import LawError, SceneError
from weft.base.runtime_types import checked
from weft.energies.step import Step

ByName = Mapping[str, Floats]

# [s] time constant by which derivatives of damping are taken where there is none
TINY = 1e-200


class ContractedEnergy:
    """An energy that knows derivatives of its local gradients in a direction by its constants.

    A subclass may state ``mixed_derivatives`` beside ``contract`` where that costs less.
    """

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,...), for ``by`` (m,k,3) of every element."""
        raise NotImplementedError

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,k,3,...), entry by entry of the gradient."""
        energy: Any = self
        (m, k), constants = energy.stencil.shape, energy.constants
        out = {name: np.zeros((m, k, 3, *np.shape(c)[1:])) for name, c in constants.items()}
        for a, i in np.ndindex(k, 3):
            by = np.zeros((m, k, 3))
            by[:, a, i] = 1.0
            for name, d in self.contract(x, by, step).items():
                out[name][:, a, i] = d
        return out


def has_constants(thing: object) -> bool:
    """Return whether an energy, masses or contact tell their constants from the rest."""
    return hasattr(thing, "constants") and hasattr(thing, "structure")


def has_mixed(energy: object) -> bool:
    """Return whether an energy has mixed derivatives."""
    return (
        has_constants(energy)
        and hasattr(energy, "mixed_derivatives")
        and hasattr(energy, "stencil")
    )


@checked(SceneError)
def by_constants(energy: Any, x: Positions, by: Floats, step: Step | None = None) -> ByName:
    """Return d(by . dE/dx)/dc by name, (m,...), at positions x, in a step or at rest.

    Args:
        energy: one that ``has_mixed`` derivatives.
        x: (n,3) [m].
        by: (n,3) vector that the gradient is contracted with.
        step: for which the energy is frozen; None: undamped.

    Raises:
        LawError: an energy that does not know its mixed derivatives, or arrays of another shape.
    """
    check(energy)
    local = np.asarray(by)[energy.stencil]
    if isinstance(energy, ContractedEnergy):
        return energy.contract(x, local, step)
    mixed = _check_shapes(energy, energy.mixed_derivatives(x, step))
    return {name: np.einsum("mak...,mak->m...", d, local) for name, d in mixed.items()}


@checked(SceneError)
def along_constants(energy: Any, x: Positions, change: ByName, step: Step | None = None) -> Floats:
    """Return the change of the gradient along a change of constants, d2E/dx dc . change, (n,3) [N].

    Args:
        energy: one that ``has_mixed`` derivatives.
        x: (n,3) [m].
        change: by name, (m,...) of some constants.
        step: for which the energy is frozen; None: undamped.

    Raises:
        LawError: as ``by_constants``.
    """
    check(energy)
    mixed = _check_shapes(energy, energy.mixed_derivatives(x, step))
    m, k = energy.stencil.shape
    total = np.zeros((m, k, 3))
    for name, by in change.items():
        d = mixed[name].reshape(m, k, 3, -1)
        total += np.einsum("maic,mc->mai", d, np.asarray(by).reshape(m, -1))
    out = np.zeros((len(x), 3))
    np.add.at(out, energy.stencil, total)
    return out


def check(energy: object) -> None:
    """Check that an energy has mixed derivatives.

    Raises:
        LawError: an energy that has none.
    """
    if not has_mixed(energy):
        raise LawError(
            f"energy {getattr(energy, 'name', '')}",
            got="an energy without mixed derivatives",
            expected="constants, structure and mixed_derivatives(x, step)",
            hint="see docs/guides/extend-laws.md",
        )


def differ_by_constants(one: Any, other: Any) -> bool:
    """Return whether two energies of one kind differ by constants alone, if at all."""
    same = type(one) is type(other) and has_constants(one)
    return same and are_equal(one.structure, other.structure)


def _check_shapes(energy: Any, mixed: ByName) -> ByName:
    """Return mixed derivatives as arrays; raise a LawError if a name or shape is wrong."""
    constants, shape = energy.constants, energy.stencil.shape
    out = {}
    for name, d in mixed.items():
        wanted = (*shape, 3, *np.shape(constants[name])[1:]) if name in constants else None
        if np.shape(d) != wanted:
            raise LawError(
                f"{energy.name}.mixed_derivatives: {name}",
                got=f"shape {np.shape(d)}",
                expected="a constant" if wanted is None else f"shape {wanted}",
            )
        out[name] = np.asarray(d)
    return out


def repeat_per_element(value: object, m: int) -> Floats:
    """Return a number, or several, that all local energies share, repeated to (m,...)."""
    a = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(a, (m, *a.shape))


def damping_rate(step: Step | None) -> float:
    """Return the rate [1/s] that multiplies damping's time constant; 0 if nothing is damped."""
    return 0.0 if step is None or not np.isfinite(step.span) else 1.0 / step.span
