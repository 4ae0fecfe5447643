"""Hands: points of cloth or of a rigid body that are pulled to moving places with a limited force.

A hand holds one point p = sum_a w_a x_a of a surface and pulls it to its place q with the energy
k |p - q|^2 / 2, where k is such that the force reaches its limit at the distance ``REACH``. At the
start of every step the place is brought as near to p as the limit of the force demands. A hand
without a limit is a pin that can be set and taken away at any time.

A hand is at the place of its last key that is not after the start of the step. A simulation that
is played therefore needs to know nothing of the future, and a run that reads the same keys from a
file has the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.energies.point_masses import StepEnergy
from weft.energies.springs.point_springs import PointSprings, PointSpringsTerm
from weft.energies.step import Step
from weft.energies.term import Term
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

REACH = 0.02  # [m] from its place at which a hand pulls with its largest force
PIN = 1e6  # [N/m] of a hand without a limit
_TIME = "a time itself"


@checked(SceneError, "hand")
@documented
@dataclass(frozen=True, eq=False)
class Hand:
    """A hand that holds a point of a surface from its first time on, and moves it.

    Raises:
        SceneError: points without weights, negative ids, or times without places or that do not
            increase.
    """

    points: Sequence[int] = setting(
        REQUIRED,
        "ids of the points that move the held point",
        constant="the held points cannot change",
    )
    weights: Sequence[float] = setting(
        REQUIRED,
        "weights of these points; their sum is 1",
        constant="the held points cannot change",
    )
    times: Sequence[float] = setting(
        REQUIRED, "time at which the hand reaches each place", "s", least=0, constant=_TIME
    )
    places: Sequence[tuple[float, float, float]] = setting(
        REQUIRED, "places of the hand", "m", constant="the places are keyframes"
    )
    until: float | None = setting(None, "time of release; none: never", "s", constant=_TIME)
    force: float | None = setting(
        None,
        "largest force of the hand; none: it holds like a pin",
        "N",
        above=0,
        constant="the hand's strength",
    )

    def __post_init__(self) -> None:
        pairs = (("points", "weights"), ("times", "places"))
        for a, b in pairs:
            counts = len(getattr(self, a)), len(getattr(self, b))
            if counts[0] != counts[1] or not counts[0]:
                raise SceneError(
                    f"hand.{b}", got=counts[1], expected=f"as many as {a}, {counts[0]}"
                )
        if min(self.points) < 0:
            raise SceneError("hand.points", got=min(self.points), expected="ids from 0 on")
        if not (np.diff(self.times) > 0).all():
            raise SceneError("hand.times", got=list(self.times), expected="increasing times [s]")
        if abs(sum(self.weights) - 1) > 1e-6:
            raise SceneError("hand.weights", got=sum(self.weights), expected="a sum of 1")

    @property
    def stiffness(self) -> float:
        """Stiffness [N/m] of the spring between point and place."""
        return PIN if self.force is None else self.force / REACH

    def holds(self, t: float) -> bool:
        """Return whether the hand holds its point in a step that starts at t [s]."""
        return self.times[0] <= t and (self.until is None or t < self.until)

    def place(self, t: float) -> Floats:
        """Return the place (3,) [m] in a step that starts at t [s]."""
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        return np.asarray(self.places[max(k, 0)], dtype=np.float64)

    def held_point(self, x: Positions) -> Floats:
        """Return the held point (3,) [m] for points x (n,3)."""
        return np.asarray(np.asarray(self.weights) @ x[np.asarray(self.points)])

    def pulled_to(self, x: Positions, t: float) -> Floats:
        """Return where the point is pulled (3,) [m] in a step from x (n,3) at t [s]: the place, or
        as far towards it as the force reaches.
        """
        place = self.place(t)
        if self.force is None:
            return place
        point = self.held_point(x)
        way = place - point
        far = float(np.linalg.norm(way))
        return place if far <= REACH else point + way * (REACH / far)


@dataclass(eq=False)
class Hands(StepEnergy):
    """The energy of all hands of a simulation. ``hands`` may be replaced between steps."""

    hands: Sequence[Hand]
    name = "hands"
    changes = True  # in time

    @property
    def stencil(self) -> Ints:
        """No points: the hands use blocks that the elements of the surface have."""
        return np.zeros((0, 1), dtype=np.int32)

    def springs(self, t: float, x: Positions) -> PointSprings | None:
        """Return the springs in a step from x (n,3) [m] at t [s]; None if no hand holds."""
        held = [h for h in self.hands if h.holds(t)]
        if not held:
            return None
        most = max(len(h.points) for h in held)
        points, weights = np.zeros((len(held), most), np.int32), np.zeros((len(held), most))
        for k, h in enumerate(held):
            points[k] = h.points[0]
            points[k, : len(h.points)], weights[k, : len(h.points)] = h.points, h.weights
        place = np.array([h.pulled_to(x, t) for h in held])
        stiffness = np.array([h.stiffness for h in held])
        return PointSprings(points, weights, stiffness, self.name, place=place, reported=False)

    def bind(self, pattern: BlockPattern) -> "HandsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return HandsTerm(self, pattern)


class HandsTerm(Term):
    """The hands that hold something in the present step, bound to a block pattern."""

    energy: Hands

    def __init__(self, energy: Hands, pattern: BlockPattern) -> None:
        self.energy, self.name, self._pattern = energy, energy.name, pattern
        self._springs: PointSpringsTerm | None = None

    def freeze(self, step: Step) -> None:
        """Take the hands that hold, and their places."""
        now, before = self.energy.springs(step.state.t, step.state.x), self._springs
        if now is None:
            self._springs = None
            return
        if before is None or not np.array_equal(before.energy.points, now.points):
            before = now.bind(self._pattern)
        else:
            before.update_constants(now)
        before.freeze(step)
        self._springs = before

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return 0.0 if self._springs is None else self._springs.value(x)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx [N] to g."""
        if self._springs is not None:
            self._springs.add_gradient(x, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 [N/m] to A and return A."""
        return A if self._springs is None else self._springs.add_hessian(x, psd, A)
