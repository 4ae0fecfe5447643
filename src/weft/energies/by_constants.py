"""Mixed derivatives d2E/dx dc of energies, by their constants c.

An energy may say which numbers it is made from that may change a little, and how its gradient
changes with them, beside that gradient:

    constants   by name, (m,...): a number, or some, of every local energy
    structure   what else it is made from: two energies of one structure differ by constants alone
    mixed(x, step)  by name, (m,k,3,...): d gradient/dc; without a step of what is at rest, with one
                of all that its gradient is in that step, damping and what was lagged included

One number of a scene is many of these: a rigidity is a weight of every hinge. ``by_constants`` and
``along_constants`` contract them, either way; an energy with a shorter way than by local arrays
(``Membrane``) has methods of these names. ``weft.adjoint`` asks for nothing else of an energy; of
one without constants it takes differences of its gradient.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import LawError, SceneError
from weft.base.runtime_types import checked
from weft.energies.step import Step

ByName = Mapping[str, Floats]


@runtime_checkable
class Differentiable(Protocol):
    """An energy that knows its mixed derivatives."""

    @property
    def stencil(self) -> Ints:
        """(m,k)."""

    @property
    def constants(self) -> ByName:
        """By name, (m,...)."""

    @property
    def structure(self) -> Any:
        """What else it is made from."""

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """By name, (m,k,3,...)."""


@checked(SceneError)
def by_constants(energy: Any, x: Positions, by: Floats, step: Step | None = None) -> ByName:
    """By name, (m,...) d(by . dE/dx)/dc at positions x (n,3), in a step or at rest.

    Args:
        energy: one that is ``Differentiable``.
        x: (n,3) [m].
        by: (n,3).
        step: that it is frozen for; None: undamped.

    Raises:
        LawError: an energy that does not know its mixed derivatives, or arrays of another shape.
    """
    check(energy)
    if hasattr(energy, "by_constants"):
        found: ByName = energy.by_constants(x, by, step)
        return found
    local = np.asarray(by)[energy.stencil]
    mixed = _checked(energy, energy.mixed(x, step))
    return {name: np.einsum("mak...,mak->m...", d, local) for name, d in mixed.items()}


@checked(SceneError)
def along_constants(energy: Any, x: Positions, change: ByName, step: Step | None = None) -> Floats:
    """(n,3) [N] d2E/dx dc . change.

    Args:
        energy: one that is ``Differentiable``.
        x: (n,3) [m].
        change: by name, (m,...) of some constants.
        step: that it is frozen for; None: undamped.

    Raises:
        LawError: as ``by_constants``.
    """
    check(energy)
    if hasattr(energy, "along_constants"):
        return np.asarray(energy.along_constants(x, change, step))
    mixed = _checked(energy, energy.mixed(x, step))
    m, k = energy.stencil.shape
    total = np.zeros((m, k, 3))
    for name, by in change.items():
        d = mixed[name].reshape(m, k, 3, -1)
        total += np.einsum("maic,mc->mai", d, np.asarray(by).reshape(m, -1))
    out = np.zeros((len(x), 3))
    np.add.at(out, energy.stencil, total)
    return out


def check(energy: Any) -> None:
    """Raise a LawError for an energy that does not know its mixed derivatives.

    Raises:
        LawError: such an energy.
    """
    if not isinstance(energy, Differentiable):
        raise LawError(
            f"energy {getattr(energy, 'name', '')}",
            got="no mixed derivatives",
            expected="constants, structure and mixed(x, step)",
            hint="docs/extending.md says what to write",
        )


def _checked(energy: Any, mixed: ByName) -> ByName:
    constants, shape = energy.constants, energy.stencil.shape
    out = {}
    for name, d in mixed.items():
        wanted = (*shape, 3, *np.shape(constants[name])[1:]) if name in constants else None
        if np.shape(d) != wanted:
            raise LawError(
                f"{energy.name}.mixed: {name}",
                got=f"shape {np.shape(d)}",
                expected="a constant" if wanted is None else f"shape {wanted}",
            )
        out[name] = np.asarray(d)
    return out


def everywhere(value: Any, m: int) -> Floats:
    """(m,...) of a number, or some, that all local energies share."""
    a = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(a, (m, *a.shape))


def rate_of(step: Step | None) -> float:
    """[1/s] that damping's time constant is multiplied by; 0 where nothing is damped."""
    return 0.0 if step is None or not np.isfinite(step.span) else 1.0 / step.span
