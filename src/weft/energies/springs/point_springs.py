"""Point springs (ties): attachments of cloth points to places, to one another, and to rails.

The potential of a tie, and its derivatives, are in ``point_spring_kernels``. A step takes places,
rails and lengths as they are at its end. The force with which a ring presses on its rail limits
friction (times mu); it is lagged like the normal forces of contact friction. Friction is that of a
bristle between ring and rail. After a step in which the ring slid, the bristle is rooted one slip
distance behind the ring. So a ring sticks with a finite stiffness and does not creep (Dahl 1968),
independent of the time step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.energies.base import Bound
from weft.energies.by_constants import ByName
from weft.energies.element_energy import damping_of
from weft.energies.gather import SHARED, GatherMap, Shared
from weft.energies.springs.point_spring_kernels import (
    PointSpringSet,
    respond,
    shared_out,
    tie_records,
)
from weft.energies.springs.point_springs_by_constants import ties_constants, ties_mixed
from weft.energies.springs.point_springs_numpy import PointSpringsOfStep, Response
from weft.energies.springs.rail import feet_on
from weft.energies.springs.release import NEVER, Held, Release
from weft.energies.springs.springs_by_start import check_places, pull_back_springs
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Scalar, Scratch, WarpArray, mat33, vec2, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

FARTHEST = 20.0  # [m/s] largest speed along a rail; it bounds the search for feet in a step
NOWHERE = (-np.inf, np.inf)  # search interval of feet that is not bounded


class MovedPlaces(Protocol):
    """Places that a body or an animation moves."""

    @property
    def follows_bodies(self) -> bool:
        """Whether the places depend on the vertices of bodies."""

    @property
    def start(self) -> Positions:
        """Places at t = 0, (m,3) [m]."""

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places, (m,3) [m], for body vertices (b,3) [m] at the time t [s]."""

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add derivatives by body vertices to ``to`` (b,3), from those by the places, (m,3)."""


@dataclass(frozen=True, eq=False)
class PointSprings:
    """An attachment of m points. Local arrays are those of the start, without damping or friction.

    Args:
        stencil: (m,k) points that move each attached point.
        c: (m,k) their weights; they sum to one, or to zero for the vector between two points.
        n_vertices: points of the cloth.
        stiffness: (m,) [N/m].
        name: of the energy, and in metrics.
        length: (m,) [m] rest length.
        first: (m,) [m] rest length at t = 0, which changes to ``length``; None: the same.
        closing: [s] in which it does.
        pulls: whether it only pulls (a rope).
        onset: (m,) [m] beyond the length within which a rope becomes stiff.
        damping: [s] over its stiffness.
        place: what holds; None: the spring is between two points, or on a rail.
        rail: (p,3) points of a rail, which moves; None: none.
        along: (p,) [m] lengths along it at the start.
        friction: coefficient on the rail.
        slip: [m] over which friction rises.
        release: when it lets go.
        strand: of ropes and springs, how many of the points make the first end, in pictures.
    """

    stencil: Ints
    c: Floats
    n_vertices: int
    stiffness: Floats
    name: str = "ties"
    length: Floats | float = 0.0
    first: Floats | None = None
    closing: float = 0.0
    pulls: bool = False
    onset: Floats | float = 0.0
    damping: float = 0.0
    place: MovedPlaces | None = None
    rail: MovedPlaces | None = None
    along: Floats | None = None
    friction: float = 0.0
    slip: float = 1e-4
    release: Release = NEVER
    strand: int = 0

    rest_tables = ()

    def __len__(self) -> int:
        return len(self.stencil)

    def lengths(self, t: float) -> Floats:
        """Return the rest lengths at the time t [s], (m,) [m].

        They change smoothly (3 s^2 - 2 s^3) while they close.
        """
        last = np.broadcast_to(np.asarray(self.length, dtype=np.float64), (len(self),))
        if self.first is None or t >= self.closing:
            return last
        return np.asarray(self.first + (last - self.first) * self.closed(t))

    def closed(self, t: float) -> float:
        """Return the part of the way to the last length, at the time t [s]."""
        if self.first is None or t >= self.closing:
            return 1.0
        s = max(t, 0.0) / self.closing
        return s * s * (3 - 2 * s)

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m], lengths [m], and time constant of damping [s].

        Ropes also have the onset [m], rings the friction coefficient and its slip [m].
        """
        return ties_constants(self)

    @property
    def structure(self) -> Any:
        """Data besides the constants: points and what holds them, without forces of release."""
        held = (self.place, self.rail, self.along, self.pulls, self.closing, self.release.at)
        return self.stencil, self.c, *held

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,k,3) (``energies.by_constants``)."""
        return ties_mixed(self, x, step)

    def check_variant(self, other: "PointSprings", parameter: str) -> None:
        """Raise an error for a parameter that moves the nearest places of a body, if springs use
        them.

        The nearest places are searched in single precision, so that differences of them are rough.
        Clips hold the place where they are, wherever that is on the body.

        Args:
            other: the same attachment with another value of the parameter.
            parameter: name of the parameter.

        Raises:
            SceneError: such a parameter.
        """
        places = [p for p in (self.place, other.place) if p is not None and p.follows_bodies]
        if len(places) == 2 and not np.array_equal(places[0].start, places[1].start):
            raise SceneError(
                f"parameter {parameter}",
                got=f"where the body of attachment {other.name} starts",
                expected="an attachment of `kind: body` (a clip), or a motion after the start",
                hint="ropes and springs are tied to the nearest place of a body",
            )

    def points(self, x: Positions) -> Positions:
        """Return the attached points A at positions x (n,3), (m,3) [m]."""
        return np.asarray(np.einsum("ma,mai->mi", self.c, np.asarray(x)[self.stencil]))

    @property
    def start(self) -> PointSpringsOfStep:
        """The springs at t = 0."""
        place = np.zeros((len(self), 3)) if self.place is None else self.place.start
        rail = None if self.rail is None else self.rail.start
        return self._frozen(np.full(len(self), np.inf), 0.0, place, rail)

    def _frozen(
        self, released: Floats, t: float, place: Positions, rail: Positions | None
    ) -> PointSpringsOfStep:
        """Return the springs at the time t without damping and friction, on the whole rail.

        Released springs have the stiffness 0.
        """
        m = len(self)
        holds = np.isinf(released) & (not self.release.expired(t))
        zero, onset = np.zeros(m), np.broadcast_to(np.asarray(self.onset, np.float64), (m,))
        return PointSpringsOfStep(
            self.stencil,
            self.c,
            np.where(holds, self.stiffness, 0.0),
            self.lengths(t),
            onset,
            self.pulls,
            place,
            rail,
            self.along,
            zero,
            0.0,
            zero,
            zero,
            self.slip,
            np.full(m, NOWHERE[0]),
            np.full(m, NOWHERE[1]),
        )

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J], at the start."""
        return self.start.respond(x).energy

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k,3) [N]."""
        return np.asarray(self.c[:, :, None] * self.start.respond(x).g[:, None])

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,k,k,3,3) [N/m]."""
        K = self.start.respond(x, psd).K
        return np.asarray(np.einsum("ma,mb,mij->mabij", self.c, self.c, K))

    def at_end(self, step: Step) -> PointSpringsOfStep:
        """Return the springs at the end of a step, with the step's memory."""
        released = step.kept.get(f"{self.name} released")
        if released is None:
            released = np.full(len(self), np.inf)
        (before, after), t, m = step.bodies, step.t, len(self)
        moves = bool(np.isfinite(step.span))
        place = np.zeros((m, 3)) if self.place is None else self.place.at(after, t)
        rail = None if self.rail is None else self.rail.at(after, t)
        frozen = self._frozen(released, t, place, rail)
        if self.damping > 0 and moves:
            frozen = replace(frozen, damping=self.damping / step.span, before=self._measured(step))
        if self.rail is not None:
            assert self.along is not None
            was = self.rail.at(before, step.state.t)
            foot = feet_on(self.points(step.state.x), was, self.along)
            reach = FARTHEST * step.dt + float(np.diff(self.along).max())
            frozen = replace(frozen, low=foot.s - reach, high=foot.s + reach)
            if self.friction > 0 and moves:
                root = step.kept.get(f"{self.name} root", foot.s)
                press = np.abs(replace(frozen, rail=was).respond(step.state.x).tension)
                frozen = replace(frozen, root=np.asarray(root), rub=self.friction * press)
        return frozen

    def _measured(self, step: Step) -> Floats:
        """Return r from which the rate is measured, (m,) [m]: of x_n, and weighted x_(n-1)."""
        before, _ = step.bodies
        place = 0.0 if self.place is None else self.place.at(before, step.state.t)
        r = np.linalg.norm(self.points(step.state.x) - place, axis=1)
        if step.past is None:
            return np.asarray(r)
        x, part = step.past
        return np.asarray(r + part * (r - np.linalg.norm(self.points(x) - place, axis=1)))

    def bind(self, pattern: BlockPattern) -> "BoundPointSprings":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        rows = GatherMap.of(self.stencil, self.n_vertices, pattern)
        return BoundPointSprings(self, rows, pattern.scratch)


class BoundPointSprings(Bound):
    """An attachment bound to a block pattern."""

    remembers_jumps = True  # springs that let go; friction on rails is refused

    def __init__(self, energy: PointSprings, rows: GatherMap, scratch: Scratch) -> None:
        self.energy, self.name, self.rows, self.scratch = energy, energy.name, rows, scratch
        m, self._set = len(energy), PointSpringSet()
        self._set.stencil = rows_of(energy.stencil)
        self._set.c = kernel.array(energy.c, Scalar)
        along = np.zeros(0) if energy.along is None else energy.along
        self._set.along = kernel.array(along, Scalar)
        self._energy, self._g = kernel.empty(m, vec2), kernel.empty(m, vec3)
        self._K = kernel.empty(m, mat33)
        self._t, self._released, self._span = 0.0, np.full(m, np.inf), np.inf
        self._take(energy.start)

    def update_constants(self, energy: PointSprings) -> None:
        """Take lengths, stiffness, damping, friction and release of another energy; ends stay."""
        self.energy = energy

    def freeze(self, step: Step) -> None:
        """Take the springs that hold at the end of the step, and their places."""
        self._t, self._span = step.t, step.span
        kept = step.kept.get(f"{self.name} released")
        self._released = np.full(len(self.energy), np.inf) if kept is None else np.asarray(kept)
        self._take(self.energy.at_end(step))

    @property
    def device(self) -> Any:
        """The ``PointSpringSet`` of the step."""
        return self._set

    @property
    def holding(self) -> Bools:
        """Springs that hold in the step, (m,)."""
        return np.asarray(np.isinf(self._released) & (not self.energy.release.expired(self._t)))

    def _take(self, frozen: PointSpringsOfStep) -> None:
        """Copy the springs of a step to the device."""
        self._frozen = frozen
        self._set.tie = frozen.records(tie_records(len(self.energy)))
        rail = np.zeros((0, 3)) if frozen.rail is None else frozen.rail
        self._set.rail = kernel.array(rail, vec3)

    def _respond(self, x: WarpArray, psd: Psd = Psd.PROJECTED) -> None:
        """Compute energies, forces and Hessians of all springs on the device."""
        out = (self._energy, self._g, self._K)
        exact = int(Psd(psd) is Psd.EXACT)
        kernel.launch(respond, len(self.energy), x, self._set, exact, *out)

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        self._respond(x)
        return kernel.total(self._energy)

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energy [J] of the springs, and of damping and friction if any, by name."""
        self._respond(x)
        elastic, lost = kernel.numpy(self._energy).sum(axis=0).tolist()
        if self.energy.damping == 0 and self.energy.friction == 0:
            return {self.name: elastic}
        return {self.name: elastic, damping_of(self.name): lost}

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        self._respond(x)
        local = self.scratch.take(self.energy.stencil.shape, vec3)
        kernel.launch(shared_out, len(self.energy), self._set.c, self._g, local)
        self.rows.add_gradient(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 to A and return A."""
        self._respond(x, psd)
        local = Shared()
        local.N, local.K, local.scale = self._set.c, self._K, Scalar(1.0)
        self.rows.add_rows(SHARED, local, A)
        return A

    def lag(self, x: WarpArray) -> bool:
        """Evaluate the forces with which rings press on their rail again, at x."""
        if self.energy.friction == 0 or not np.isfinite(self._span):
            return False
        press = np.abs(self._at(x).tension)
        self._take(replace(self._frozen, rub=self.energy.friction * press))
        return True

    def check_derivatives(self) -> None:
        """Raise an error for rails with friction or on a body, or places of an unknown kind."""
        super().check_derivatives()
        e, got = self.energy, ""
        if e.rail is not None and e.friction > 0:
            got = "friction on a rail"
        elif e.rail is not None and e.rail.follows_bodies:
            got = "a rail on a body"
        check_places(self.name, e.place, got)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by places, and by the length that damping is measured from."""
        pull_back_springs(self, step, x, by, into)

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return release times and roots of bristles, as far as the springs have these."""
        energy, kept = self.energy, dict[str, Floats]()
        if energy.release.depends:
            kept[f"{self.name} released"] = self._after(x)
        if energy.friction > 0:
            s, root, u = self._at(x).s, self._frozen.root, energy.slip
            kept[f"{self.name} root"] = np.clip(root, s - u, s + u)
        return kept

    def forces(self, x: WarpArray) -> Mapping[str, Any]:
        """Return the force on the cloth, the number of springs that hold, and release, by name."""
        found, after = self._at(x), self._after(x)
        holds = np.isinf(after) & (not self.energy.release.expired(self._t))
        size = np.linalg.norm(found.g, axis=1)
        said: dict[str, Any] = {
            "force": (-found.g.sum(axis=0)).tolist(),
            "largest": float(size.max(initial=0.0)),
            "holds": int(holds.sum()),
        }
        if not holds.all():
            gone = after[np.isfinite(after)]
            at = self.energy.release.at
            said["released"] = float(gone.max()) if len(gone) else at
        return {self.name: said}

    def _after(self, x: WarpArray) -> Floats:
        """Return release times at the end of the step, (m,) [s]; infinite for springs that hold."""
        release = self.energy.release
        if not release.depends:
            return self._released
        holds = self.holding
        found = self._at(x)
        force = np.where(holds, np.linalg.norm(found.g, axis=1), 0.0)
        go = release.released_points(Held(self._t, found.x, force, holds))
        return np.where(go, self._t, self._released)

    def _at(self, x: WarpArray) -> Response:
        """Return energies, forces and Hessians at x in NumPy."""
        return self._frozen.respond(np.array(kernel.numpy(x)))


def rows_of(stencil: Ints) -> WarpArray:
    """Return a stencil as (m,k) int32 on the device."""
    import warp as wp

    return kernel.array(np.ascontiguousarray(stencil, dtype=np.int32), wp.int32)
