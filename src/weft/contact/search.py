"""Contact during one search for a minimum.

A search asks in turn: ``limit`` along a direction (one broad phase over the way, and continuous
collision detection), then values at points of that way, then gradient and matrix where it went. The
candidates of the way serve all of these.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Bools, Floats, Ints, Positions
from weft.contact.barrier import barrier_energy, barrier_factors, barrier_gradient
from weft.contact.candidates import Candidates
from weft.contact.ccd import max_step, step_lengths
from weft.contact.contact import Contact
from weft.contact.contact_set import ContactSet, distances_of
from weft.contact.friction import FrictionSet
from weft.contact.rows import JoinedPattern
from weft.energies.base import gather_gradient
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.phases import Phases
from weft.solve.block_csr import BlockCsr
from weft.solve.incidence import Incidence

PART = 0.9  # of the room that a vertex has, in truncated directions
FARTHEST = 3.0  # reaches beyond which truncated directions do not look for neighbors
MOST_CARRIES = 60  # rounds in which free vertices take the motion of what meets them
MARGIN = 1.5  # of the reach: pairs within it have blocks in the matrix beforehand


class ContactSearch:
    """Contact during one search for a minimum.

    Args:
        contact: what must not pass through itself.
        t: [s] at which bodies are where they are.
        fixed: (n,) vertices that are prescribed; None: none.
        phases: where seconds are counted.
    """

    def __init__(
        self,
        contact: Contact,
        t: float = 0.0,
        fixed: Bools | None = None,
        phases: Phases | None = None,
    ) -> None:
        self.contact, self.t = contact, t
        self.phases = Phases() if phases is None else phases
        self.body = contact.body_positions(t)  # (b,3)
        contact.surface.hold(np.zeros(0, dtype=bool) if fixed is None else fixed)
        self.thin = 1.0  # part of the thickness that is kept
        self.tight: tuple[float, Positions] | None = None  # part there was room for, and where
        self.candidates: Candidates | None = None
        self._way: tuple[Floats, Floats] | None = None  # boxes (n+b,3) that they were found for
        self.friction: FrictionSet | None = None
        self._step: tuple[Positions, float] | None = None  # where sliding begins, and its span
        self._joined: JoinedPattern | None = None
        self._last: tuple[Candidates, float, Positions, ContactSet] | None = None

    def look(self, x: Positions) -> None:
        """Find the candidates at x alone."""
        y = self._all(x)
        self._sweep(y, np.zeros_like(y))

    def _sweep(self, y: Positions, dy: Floats) -> Candidates:
        """The candidates of the way from y (n+b,3) to y + dy; those of an earlier way where no
        vertex leaves its box there by more than the margin allows.
        """
        low, high = np.minimum(y, y + dy), np.maximum(y, y + dy)
        reach = self.contact.reach
        if self.candidates is not None and self._way is not None:
            spare = (MARGIN - 1) / 2 * reach * (1 - 1e-9)
            if (low >= self._way[0] - spare).all() and (high <= self._way[1] + spare).all():
                return self.candidates
        with self.phases("broad"):
            self.candidates = self.contact.surface.candidates(y, MARGIN * reach, y + dy)
        self._way = low, high
        return self.candidates

    def _all(self, x: Positions) -> Positions:
        """(n+b,3) with the vertices of bodies."""
        return np.concatenate([x, self.body]) if len(self.body) else x

    def begin(
        self, x: Positions, origin: Positions, before: Positions, dt: float, span: float
    ) -> None:
        """Begin a step of dt [s] from x, in which bodies come from ``before`` (b,3), and whose
        velocity is (x' - origin)/span: what room there is, and friction from the contacts at x.
        """
        c, y = self.contact, np.concatenate([x, before])
        if c.settings.pinch == "thin" and c.surface.who.thickest > 0:
            self._measure_room(y)
        if not c.surface.who.has_friction:
            return
        moved = self.body - (self.body - before) * (span / dt)
        self._step = np.concatenate([origin, moved]), span
        with self.phases("broad"):
            candidates = c.surface.candidates(y, c.reach)
        with self.phases("friction"):
            self._freeze(y, c.surface.contacts(y, candidates, c.stiffness, c.gap, self.thin))

    def lag(self, x: Positions) -> bool:
        """Take friction anew from the contacts at x (n,3), where the step has led; False where
        there is none to take.
        """
        if self._step is None:
            return False
        set_ = self.contacts(x)
        with self.phases("friction"):
            self._freeze(self._all(x), set_)
        return len(set_) > 0

    def _freeze(self, y: Positions, set_: ContactSet) -> None:
        assert self._step is not None
        start, span = self._step
        mu = self.contact.surface.who.friction_of(set_.stencil, set_.touch["kind"])
        self.friction = FrictionSet.of(set_, y, start, *mu, self.contact.settings.stick * span)

    def _measure_room(self, y: Positions) -> None:
        """Keep less than the thickness where y (n+b,3) has less: what bodies leave that pinch."""
        c = self.contact
        near = c.surface.candidates(y, c.surface.who.thickest)
        if len(near) == 0:
            return
        keep = c.surface.thickness(near)
        part = distances_of(y, near.stencil, near.kind) / np.maximum(keep, 1e-300)
        k = int(np.argmin(part))
        if part[k] <= 1.0:
            self.pinch(0.9 * float(part[k]), y[near.stencil[k]].mean(0))

    def pinch(self, part: float, place: Positions | None = None) -> None:
        """From now on keep this part of the thickness."""
        self.thin = part
        if place is None:
            place = self.tight[1] if self.tight else np.full(3, np.nan)
        self.tight, self._last = (part, place), None

    def limit(self, x: Positions, d: Floats, before: Positions | None = None) -> float:
        """Part of d, in [0, 1], that the cloth may go; finds the candidates of the way.

        With ``before`` (b,3), bodies come from there meanwhile.
        """
        y, dy = self.way(x, d, before)
        candidates = self._sweep(y, dy)
        with self.phases("ccd"):
            return max_step(y, dy, candidates, self._thickness(candidates))

    def _thickness(self, candidates: Candidates) -> Floats:
        """[m] that candidates keep."""
        return self.contact.surface.thickness(candidates, self.thin)

    def carried(
        self, x: Positions, d: Floats, free: Bools, before: Positions | None
    ) -> Positions | None:
        """(n,3) x + d, with free vertices that would be met carried along by what meets them.

        What is prescribed, pinned vertices and bodies, goes all its way. A free vertex in a pair
        that would meet takes the displacement of the pair's prescribed vertices (or of those that
        are carried already), or, where there are none, the pair's mean. None where that does not
        come to an end: something is caught between what is prescribed.
        """
        n = len(x)
        y, dy = self.way(x, d, before)
        leads = np.concatenate([~free, np.ones(len(self.body), dtype=bool)])
        held = leads.copy()
        for _ in range(MOST_CARRIES):
            stencil = self.meeting(y, dy)
            if len(stencil) == 0:
                return np.asarray(x + dy[:n])
            leading = leads[stencil]
            if held[stencil].all(1).any():
                return None
            mean = led(leading, dy[stencil])
            follow = ~held[stencil]
            dy[stencil[follow]] = np.repeat(mean, 4, axis=0).reshape(-1, 4, 3)[follow]
            leads[stencil[follow & leading.any(1, keepdims=True)]] = True
        return None

    def way(self, x: Positions, d: Floats, before: Positions | None) -> tuple[Positions, Floats]:
        """(n+b,3) where everything is, and its displacement, with bodies that come from
        ``before``.
        """
        start = self.body if before is None else before
        return np.concatenate([x, start]), np.concatenate([d, self.body - start])

    def meeting(self, y: Positions, dy: Floats) -> Ints:
        """(m,4) pairs that meet on the way from y (n+b,3) to y + dy; notes where the first is."""
        candidates = self._sweep(y, dy)
        met = step_lengths(y, dy, candidates, self._thickness(candidates)) < 1.0
        if not met.any():
            return np.zeros((0, 4), dtype=np.int32)
        stencil = candidates.stencil[met]
        self.tight = (self.thin, y[stencil[0]].mean(0))
        return np.asarray(stencil)

    def truncated(self, x: Positions, d: Floats) -> Floats:
        """d with every vertex held to what its nearest neighbors leave it, and no others.

        No vertex moves by more than ``PART`` of half the distance between anything it belongs to
        and anything else, so nothing can meet, whatever the directions.
        """
        return np.asarray(self.parts(x, np.linalg.norm(d, axis=1))[:, None] * d)

    def parts(self, x: Positions, length: Floats) -> Floats:
        """(n,) parts of displacements of these lengths (n,) [m] that are safe in any direction."""
        c = self.contact
        n, y = len(x), self._all(x)
        thickest = c.surface.who.thickest
        far = min(2 * float(length.max()), FARTHEST * c.reach) + thickest
        with self.phases("broad"):
            near = c.surface.candidates(y, far)
        distance = distances_of(y, near.stencil, near.kind) - self._thickness(near)
        room = np.full(len(y), far - thickest)
        np.minimum.at(room, near.stencil.reshape(-1), np.repeat(distance, 4))
        return np.minimum(1.0, PART * room[:n] / 2 / np.maximum(length, 1e-300))

    def contacts(self, x: Positions) -> ContactSet:
        """Pairs in contact at x (n,3), of the candidates."""
        if self.candidates is None:
            self.look(x)
        assert self.candidates is not None
        if self._last is not None:
            candidates, thin, where, found = self._last
            same = candidates is self.candidates and thin == self.thin
            if same and np.array_equal(where, x):
                return found  # value, gradient and matrix at one x share a set
        c = self.contact
        with self.phases("narrow"):
            y = self._all(x)
            found = c.surface.contacts(y, self.candidates, c.stiffness, c.gap, self.thin)
        self._last = self.candidates, self.thin, np.array(x), found
        return found

    def _device(self, x: WarpArray) -> WarpArray:
        """(n+b,) vec3 with the vertices of bodies."""
        return kernel.array(self._all(kernel.numpy(x)), vec3) if len(self.body) else x

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs; infinite where one is closer than the thickness."""
        set_, x = self.contacts(kernel.numpy(x)), self._device(x)
        with self.phases("barrier"):
            out = kernel.empty(len(set_))
            kernel.launch(barrier_energy, len(set_), x, *set_.device, out)
            return kernel.total(out)

    def friction_value(self, x: WarpArray) -> float:
        """[J] potential of friction."""
        return self.friction.value(self._device(x)) if self.friction else 0.0

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        set_, x = self.contacts(kernel.numpy(x)), self._device(x)
        with self.phases("barrier"):
            if len(set_):
                local = kernel.empty((len(set_), 4), vec3)
                kernel.launch(barrier_gradient, len(set_), x, *set_.device, local)
                _gather(set_.stencil, local, g)
            if self.friction:
                local = kernel.empty((len(self.friction), 4), vec3)
                self.friction.gradient(x, local)
                _gather(self.friction.stencil, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A plus the projected Hessian of all pairs, on a pattern that holds both.

        EXACT gets the projected one too.
        """
        set_, rubbing = self.contacts(kernel.numpy(x)), self.friction
        m = len(set_)
        if m == 0 and not rubbing and self._joined is None:
            return A
        with self.phases("contact matrix"):
            y = self._device(x)
            factors = kernel.zeros((m, 3, 4), vec3)
            turn = int(psd != Psd.GAUSS_NEWTON)
            kernel.launch(barrier_factors, m, y, *set_.device, turn, factors)
            stencil = set_.stencil
            if rubbing:
                more = kernel.empty((len(rubbing), 3, 4), vec3)
                rubbing.factors(y, more)
                both = np.concatenate([kernel.numpy(factors), kernel.numpy(more)])
                factors = kernel.array(both, vec3)
                stencil = np.concatenate([stencil, rubbing.stencil])
            matrix = None
            if self._joined is not None and self._joined.elastic is A.pattern:
                matrix = self._joined.add(A, stencil, factors)
            if matrix is None:
                wide = self._wide(kernel.numpy(y), stencil)
                self._joined = JoinedPattern.of(A.pattern, wide)
                matrix = self._joined.add(A, stencil, factors)
            assert matrix is not None  # the new pattern has every pair's blocks
            return matrix

    def _wide(self, x: Positions, stencil: Ints) -> Ints:
        """(k,4) the given pairs, and those that soon may be in contact."""
        c = self.contact
        assert self.candidates is not None
        near = c.surface.near(x, self.candidates, MARGIN * c.reach)
        return np.concatenate([stencil, near])

    def report(self, x: Positions, dt: float) -> dict[str, Any]:
        """What a step of dt [s] that ended at x (n,3) says of contact: number of pairs, least
        distance [m], work of friction [J], and where bodies pinched the cloth.
        """
        set_ = self.contacts(x)
        found: dict[str, Any] = {"count": len(set_), "least_distance": None, "friction_work": 0.0}
        if len(set_):
            found["least_distance"] = float(set_.distances(self._all(x)).min())
        if self.friction and self._step is not None:
            work = self.friction.work(self._all(x))
            found["friction_work"] = work * dt / self._step[1]
        if self.thin < 1.0 and self.tight is not None:
            place = [float(c) for c in self.tight[1]]
            found["pinched"] = {"t": self.t, "part": self.thin, "place": place}
        return found


def led(leading: Bools, dy: Floats) -> Floats:
    """(m,3) displacement that pairs (m,4) take: the mean of those that lead, or of all."""
    share = np.where(leading.any(1, keepdims=True), leading, True)
    mean = np.einsum("ma,mai->mi", share, dy) / share.sum(1, keepdims=True)
    return np.asarray(mean)


def _gather(stencil: Ints, local: WarpArray, g: WarpArray) -> None:
    """g += local gradients (m,4) of pairs (m,4), those of bodies' vertices left out."""
    n = g.shape[0]
    i = Incidence.of(stencil, max(n, int(stencil.max()) + 1))
    kernel.launch(gather_gradient, n, i.start, i.element, i.place, local, g)
