"""Pairs that slide in a step, and the derivatives of their friction."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Bools, Floats
from weft.contact.barrier.kinks import places_around
from weft.contact.derivatives.mollifier_slopes import by_rest_positions, threshold_slopes
from weft.contact.derivatives.sliding_pair_slopes import Slopes, slopes_of, smoothed_friction
from weft.contact.distance.distance import closest_of
from weft.contact.friction.friction import normal_forces
from weft.energies.step import Step
from weft.kernel import WarpArray

if TYPE_CHECKING:
    from weft.contact.contact_energy import ContactEnergy


class Slips(NamedTuple):
    """Slips of pairs in a step, and the slip q of each vertex before it is cut to length 1."""

    change: Floats  # (m,3) slip of each pair, in units of e
    share: Floats  # (m,4) [N] load of each vertex of a pair
    total: Floats  # (n,3) [N] sum of shares times changes
    safe: Floats  # (n,1) [N] sum of absolute shares; 1 where nothing presses
    pressed: Bools  # (n,1) whether a pair presses
    length: Floats  # (n,1) of q
    unit: Floats  # (n,3) direction of q

    def cut(self, dq: Floats) -> Floats:
        """Return the change (n,3) of the slip that is remembered, from a change of q; or the
        derivative by q from the one by that slip, because the map is symmetric.
        """
        along = (self.unit * dq).sum(1, keepdims=True)
        cut = (dq - self.unit * along) / np.maximum(self.length, 1.0)
        return np.where(self.pressed, np.where(self.length > 1, cut, dq), 0.0)


class SlidingPairs:
    """Pairs that slide in a step, with data that are frozen at one position.

    Attributes:
        start: (n+b,3) [m] vertices of cloth and bodies at which normal forces and planes are
            evaluated.
        contacts: pairs there, of which those of ``push`` slide.
    """

    @staticmethod
    def of(term: "ContactEnergy", step: Step, y: Floats, at: Floats | None) -> "list[SlidingPairs]":
        """Build the sliding pairs of a step that ended at y (n+b,3) [m].

        ``at`` (n,3) [m] are the positions at which friction was evaluated; None: the beginning of
        the step. At a kink there is one object for each side, and their mean counts
        (``contact.barrier.kinks``).
        """
        bodies = step.bodies[0 if at is None else 1]
        start = np.concatenate([term.embedded.of(step.state.x if at is None else at), bodies])
        term.push_as(before=at is None)
        places = places_around(term.search, kernel.points(start))
        found = [SlidingPairs(term, y, place) for place in places]
        term.push_as(before=False)
        return found

    def __init__(self, term: "ContactEnergy", y: Floats, place: WarpArray) -> None:
        self.y, self.n, self.start = y, term.embedded.n, np.array(kernel.numpy(place))
        self.contacts = term.search.contacts(place)
        f = term.friction_of(place, self.contacts)
        self.slide: AnyArray = np.array(kernel.numpy(f.device[1]))
        self.stencil = np.array(f.stencil)
        self.origin = np.array(kernel.numpy(f.origin))
        self.slip = np.array(kernel.numpy(term._slip))
        self.push = normal_forces(self.contacts, self.start)[0]
        self.slopes: Slopes = slopes_of(self.contacts, self.start, self.push, self.slide)
        kind = self.contacts.touch[self.push]["kind"]
        one, other = term.contact.mesh.sides.of_pairs(self.stencil, kind)
        self.part = np.where((one < self.n) & (other < self.n), 0.5, 1.0) * self.slide["smooth"]
        self.own, self.ids = self.stencil < self.n, np.minimum(self.stencil, self.n - 1)
        self.held = np.where(self.own[:, :, None], self.slip[self.ids], 0.0)
        self.forces = np.zeros(
            len(self.stencil)
        )  # derivatives by normal forces, of all ``pull_back``
        self._none()

    def _none(self) -> None:
        m = len(self.stencil)
        self.by_w, self.by_load = np.zeros((m, 4)), np.zeros(m)
        self.by_t = [np.zeros((m, 3)), np.zeros((m, 3))]
        self.by_origin, self.by_end = np.zeros((m, 4, 3)), np.zeros((m, 4, 3))

    def by_threshold(self, rest: Floats) -> Floats:
        """Return (n+b,3) derivatives by rest positions, through the normal forces of ``pull_back``.

        The normal forces of nearly parallel edges are those of the mollified barrier.
        """
        contacts, start = self.contacts, self.start
        some = np.flatnonzero(contacts.touch[self.push]["parallel"] > 0)
        if len(some) == 0:
            return np.zeros_like(self.y)
        rows = self.push[some]
        stencil = contacts.stencil[rows]
        _, w, _, _ = closest_of(start, stencil, contacts.touch[rows]["kind"])
        v = np.einsum("ma,mai->mi", w, start[stencil])
        n = v / np.linalg.norm(v, axis=1, keepdims=True)
        slope = threshold_slopes(contacts, start, rows)
        force = -np.einsum("ma,mai,mi->m", w, slope, n) / (w * w).sum(1)
        return by_rest_positions(rest, stencil, self.forces[some] * force)

    def _scatter(self, local: Floats) -> Floats:
        out = np.zeros_like(self.y)
        np.add.at(out, self.stencil, local)
        return out

    def _displacements(self) -> tuple[Floats, Floats]:
        """Return displacements since the step began, (m,4,3) of corners and (m,3) of pairs."""
        corners = (self.y - self.origin)[self.stencil]
        return corners, np.einsum("ma,mai->mi", self.slide["w"], corners)

    def in_plane(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the directions of sliding (m,2,3), the displacements d (m,3) of pairs, their slips
        u (m,2) along the directions, and what their own vertices have saved (m,3).
        """
        s, (_, d) = self.slide, self._displacements()
        t = np.stack([s["t0"], s["t1"]], axis=1)
        u = np.einsum("mki,mi->mk", t, d) + np.stack([s["before0"], s["before1"]], axis=1)
        return t, d, u, np.einsum("ma,mai->mi", np.where(self.own, s["w"], 0.0), self.held)

    def slips(self) -> "Slips":
        """Return what friction remembers after the step (``friction.kernels.update_slips``)."""
        s, n = self.slide, self.n
        _, d = self._displacements()
        change = sum((d * a).sum(1)[:, None] * a for a in (s["t0"], s["t1"]))
        change = change / s["smooth"][:, None]
        share = np.where(self.own, s["load"][:, None] * s["w"], 0.0)
        load, total = np.zeros(n), np.zeros((n, 3))
        np.add.at(load, self.ids, np.abs(share))
        np.add.at(total, self.ids, share[:, :, None] * change[:, None])
        pressed = (load > 0)[:, None]
        safe = np.where(pressed, load[:, None], 1.0)
        q = self.slip + total / safe
        length = np.linalg.norm(q, axis=1, keepdims=True)
        unit = q / np.maximum(length, 1e-300)
        return Slips(change, share, total, safe, pressed, length, unit)

    def pull_back_slip(self, by: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives by the end (n+b,3) and by the slip before (n,3).

        ``by`` (n,3) are the derivatives by the slip after the step.
        """
        s, w, r = self.slide, np.asarray(self.slide["w"]), self.slips()
        corners, d = self._displacements()
        t = (s["t0"], s["t1"])
        smooth, ids = s["smooth"][:, None], self.ids
        inner = r.cut(by)
        at = np.where(self.own[:, :, None], inner[ids], 0.0) / r.safe[ids]
        by_change = np.einsum("ma,mai->mi", r.share, at)
        by_share = np.einsum("mi,mai->ma", r.change, at)
        by_share -= np.sign(r.share) * (at * (r.total / r.safe)[ids]).sum(2)
        self.by_load += (by_share * w).sum(1)
        self.by_w += by_share * s["load"][:, None]
        by_d = np.zeros_like(d)
        for k in range(2):
            on = (by_change * t[k]).sum(1)[:, None]
            by_d += on * t[k] / smooth
            along = (d * t[k]).sum(1)[:, None]
            self.by_t[k] += (on * d + along * by_change) / smooth
        self.by_w += np.einsum("mi,mai->ma", by_d, corners)
        self.by_origin -= w[:, :, None] * by_d[:, None]
        return self._scatter(w[:, :, None] * by_d[:, None]), inner

    def pull_back(self, by: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
        """Return the derivatives of s = by . (friction force), and reset the accumulators.

        Returns:
            Derivatives by the vertices at which pairs were frozen, by the origin, and by the end
            (used at bodies only: the rest belongs to the Hessian), (n+b,3) each; by the slip before
            (n,3); and the sum of derivatives by normal forces times these.
        """
        s, w = self.slide, np.asarray(self.slide["w"])
        corners, (t, d, u, held) = self._displacements()[0], self.in_plane()
        L = np.einsum("ma,mai->mi", w, by[self.stencil])
        L2, length = np.einsum("mki,mi->mk", t, L), np.linalg.norm(u, axis=1)
        over, second = smoothed_friction(length, s)
        unit = np.where(length[:, None] > 0, u / np.maximum(length, 1e-300)[:, None], [1.0, 0.0])
        on = (unit * L2).sum(1)[:, None] * unit
        q = s["load"][:, None] * (second[:, None] * on + over[:, None] * (L2 - on))
        push = (s["load"] * over)[:, None] * np.einsum("mk,mki->mi", u, t)
        self.by_load += over * (u * L2).sum(1)
        by_d = np.einsum("mk,mki->mi", q, t)
        by_held = self.part[:, None] * by_d
        for k in range(2):
            self.by_t[k] += (s["load"] * over * u[:, k])[:, None] * L
            self.by_t[k] += q[:, k, None] * (d + self.part[:, None] * held)
        self.by_w += np.einsum("mi,mai->ma", push, by[self.stencil])
        self.by_w += np.einsum("mi,mai->ma", by_d, corners)
        self.by_w += np.einsum("mi,mai->ma", by_held, self.held)
        self.by_origin -= w[:, :, None] * by_d[:, None]
        end = w[:, :, None] * by_d[:, None]
        on_own = np.where(self.own, w, 0.0)[:, :, None]
        by_slip = self._scatter(on_own * by_held[:, None])
        start = self.slopes.pull_back_frame(self.by_w, self.by_load, *self.by_t)
        out = (self._scatter(start), self._scatter(self.by_origin), self._scatter(end))
        total = float((self.by_load * s["load"]).sum())
        self.last_forces = self.by_load
        self._none()
        return *out, by_slip[: self.n], total
