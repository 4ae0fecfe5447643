"""One step: everything that the potential of a step of time, or of an equilibrium, is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Positions, Velocities
from weft.energies.state import State
from weft.kernel import WarpArray


@dataclass(frozen=True, eq=False)
class Step:
    """A step of ``dt`` from ``state``. Its potential is |x - predicted|_M^2 / (2 scale) + sum E(x).

    Multi-step methods, adaptive steps and equilibria differ in these numbers, and in nothing else.
    ``model.step`` makes one; it knows pins and bodies.

    What an element measures, theta, changes at the rate (theta - theta_r)/span with theta_r = (1 +
    a) theta_n - a theta_(n-1). It is measured at both states of the past, not at ``origin``, where
    what has turned is longer than it ever was.
    """

    state: State  # where it begins
    dt: float  # [s]
    predicted: Positions  # (n,3) [m] y, where inertia alone would lead
    scale: float | None  # [s^2] s; None: no inertia (an equilibrium)
    origin: Positions  # (n,3) [m] the new velocity is (x - origin)/span
    span: float  # [s]; infinite: nothing moves fast enough to be damped
    fixed: Bools  # (n,) prescribed vertices
    target: Positions  # (n,3) [m] where those are at the end; zeros elsewhere
    bodies: tuple[Positions, Positions]  # (b,3) [m] of vertices of bodies, at the start and the end
    past: tuple[Positions, float] | None = None  # (n,3) [m] x_(n-1), and a with which it counts
    kept: Mapping[str, Floats] = field(default_factory=dict)  # what terms keep from step to step
    anew: Positions | None = None  # (n,3) [m] where wind was taken anew; None: where it is expected
    slip: float | None = None  # [m] elastic slip of friction in an equilibrium; None: nothing rubs
    same_pattern: bool = (
        False  # whether matrices may keep the blocks of steps before, where none is
    )
    lumps: bool = False  # whether a search may end early, so that a few pairs may be lumped

    @property
    def t(self) -> float:
        """[s] at its end."""
        return self.state.t + self.dt

    @property
    def free(self) -> Bools:
        """(n,) what the potential is a function of."""
        return ~self.fixed

    @property
    def moves_bodies(self) -> bool:
        """Whether bodies are elsewhere at the end."""
        return not np.array_equal(*self.bodies)

    def pinned(self, x: Positions) -> Positions:
        """A copy of x (n,3) with prescribed vertices at their targets."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(self.fixed[:, None], self.target, x)

    def velocity(self, x: Positions) -> Velocities:
        """(n,3) [m/s] that belongs to the new positions x."""
        return np.asarray((x - self.origin) / self.span)

    @cached_property
    def start(self) -> Floats:
        """(n,3) the prediction, with pins at their targets."""
        return self.pinned(self.predicted)

    @cached_property
    def device_origin(self) -> WarpArray:
        """``origin`` on the device."""
        return kernel.points(np.array(self.origin))

    @cached_property
    def device_state(self) -> WarpArray:
        """``state.x`` on the device."""
        return kernel.points(np.array(self.state.x))

    @cached_property
    def device_past(self) -> WarpArray:
        """x_(n-1) on the device; x_n where it does not count."""
        return self.device_state if self.past is None else kernel.points(np.array(self.past[0]))

    @property
    def past_part(self) -> float:
        """a, with which x_(n-1) counts."""
        return 0.0 if self.past is None else self.past[1]

    @cached_property
    def device_velocity(self) -> WarpArray:
        """``state.v`` on the device."""
        return kernel.points(np.array(self.state.v))
