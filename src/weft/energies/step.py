"""Step: all numbers that determine the potential of one time step, or of an equilibrium."""

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
    ``model.step`` builds one with the pins and bodies of the model.

    A quantity theta that an element measures changes at the rate (theta - theta_r)/span with
    theta_r = (1 + a) theta_n - a theta_(n-1). It is measured at both states of the past and not at
    ``origin``, a combination of both, in which cloth that has rotated is longer than it ever was.
    """

    state: State  # at the start
    dt: float  # [s]
    predicted: Positions  # (n,3) [m] y, the positions that inertia alone leads to
    scale: float | None  # [s^2] s; None: no inertia (an equilibrium)
    origin: Positions  # (n,3) [m] the new velocity is (x - origin)/span
    span: float  # [s]; infinite: nothing moves fast enough to be damped
    fixed: Bools  # (n,) prescribed vertices
    target: Positions  # (n,3) [m] positions of prescribed vertices at the end; zeros elsewhere
    bodies: tuple[Positions, Positions]  # (b,3) [m] vertices of bodies, at the start and at the end
    past: tuple[Positions, float] | None = None  # (n,3) [m] x_(n-1), and its weight a
    memory: Mapping[str, Floats] = field(default_factory=dict)  # memory of terms, by name
    lag_point: Positions | None = (
        None  # (n,3) [m] where lagged wind is evaluated; None: extrapolated
    )
    slip: float | None = None  # [m] elastic slip of friction in an equilibrium; None: no friction
    # Whether the contact matrix may keep blocks of earlier steps that have no pair now.
    same_pattern: bool = False
    may_end_early: bool = False  # whether a search may end before it has converged

    @property
    def t(self) -> float:
        """Time [s] at the end of the step."""
        return self.state.t + self.dt

    @property
    def free(self) -> Bools:
        """Vertices that the potential is a function of, (n,)."""
        return ~self.fixed

    @property
    def moves_bodies(self) -> bool:
        """True if bodies have moved at the end of the step."""
        return not np.array_equal(*self.bodies)

    def move_pins(self, x: Positions) -> Positions:
        """Return a copy of x (n,3) with prescribed vertices at their targets."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(self.fixed[:, None], self.target, x)

    def velocity(self, x: Positions) -> Velocities:
        """Return the velocities (n,3) [m/s] that belong to the new positions x (n,3)."""
        return (x - self.origin) / self.span

    @cached_property
    def start(self) -> Floats:
        """The prediction with pins at their targets, (n,3) [m]."""
        return self.move_pins(self.predicted)

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
        """Positions x_(n-1) on the device, or x_n if x_(n-1) is not used."""
        return self.device_state if self.past is None else kernel.points(np.array(self.past[0]))

    @property
    def past_part(self) -> float:
        """Weight a of x_(n-1), 0 if it is not used."""
        return 0.0 if self.past is None else self.past[1]

    @cached_property
    def device_velocity(self) -> WarpArray:
        """``state.v`` on the device."""
        return kernel.points(np.array(self.state.v))
