"""Derivatives of contact and friction by the start of a step.

Friction is lagged: pairs, normal forces, weights and planes are those of x_n, and sliding is
measured from there. What is remembered from step to step (elastic slip, adaptive stiffness) is
differentiated as well: ``ContactSlopes.pull_back_memory`` goes back through what a step leaves,
``ContactSlopes.pull`` through what it was made from. The adaptive stiffness changes by jumps, by
the rules of ``contact.barrier.stiffness``. As long as it stays, derivatives pass through it; if it
changes, its derivative by the contact forces is left out (``StepCotangents.stiffness_adapted``).
"""

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.contact.assembly.embedding import WeightedEmbedding
from weft.contact.barrier.kinks import places_around
from weft.contact.derivatives.mollifier_slopes import by_rest_positions, threshold_slopes
from weft.contact.derivatives.sliding_pairs import SlidingPairs
from weft.contact.memory import FIRMNESS, SLIP
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray, vec3

if TYPE_CHECKING:
    from weft.contact.contact_energy import ContactEnergy


class ContactSlopes:
    """Derivatives of contact at the end x (n,) of a step that its term was frozen for.

    ``at`` (n,3) [m] are the positions at which friction was evaluated; None: the beginning of the
    step.
    """

    def __init__(
        self, term: "ContactEnergy", step: Step, x: WarpArray, at: Floats | None = None
    ) -> None:
        self.term: ContactEnergy = weakref.proxy(term)  # the term keeps its slopes
        self.step, self.x, self.at = step, x, at
        self.n, self.points = term.embedded.n, len(step.state.x)
        self.y = np.array(kernel.numpy(term.put(x)))
        self.by_stiffness = 0.0  # by the logarithm of contact's stiffness
        self.by = np.zeros((0, 3))  # (n,3) what ``pull`` got last
        self.slides: list[SlidingPairs] = (
            SlidingPairs.of(term, step, self.y, at) if term.friction else []
        )

    def pull_back_memory(self, kept: Mapping[str, Floats], into: StepCotangents) -> Floats:
        """Return (n,3) derivatives by the end of the step, from those by what it remembers.

        Derivatives by bodies and by the memory before are added to ``into``; those by the start of
        the step are stored, and added by ``pull``.
        """
        out = np.zeros((self.points, 3))
        if FIRMNESS in kept and self.step.scale is not None:
            before, now = kept[FIRMNESS]
            firm = self.term._firmness
            after = firm.after(*self.term._measure_pressing(self.x))
            into.stiffness_adapted = after.now != firm.now
            into.keep(FIRMNESS, np.array([0.0, before + (0.0 if into.stiffness_adapted else now)]))
        for slides in self.slides if SLIP in kept else ():
            by_y, by_slip = slides.pull_back_slip(kept[SLIP] / len(self.slides))
            into.keep(SLIP, by_slip)
            out += self._to_points(by_y[: self.n])
            into.after += by_y[self.n :]
        return out

    def pull_back_memory_at_rest(self, into: StepCotangents) -> Floats:
        """Return (n,3) derivatives of the friction that an equilibrium remembers, by its positions.

        They come by way of normal forces and sliding planes, which are evaluated at the equilibrium
        itself.
        """
        before = np.array(into.place)
        self.pull(np.zeros_like(before), into)
        by = into.place - before
        into.place[:] = before
        return np.asarray(by)

    def pull(self, by: Floats, into: StepCotangents) -> None:
        """Add ds/d(start of the step) to ``into``, with s = by . dE/dx and by (n,3)."""
        surface = self._of_surface(by)
        self.by = by
        self._by_firmness(surface, into)
        if len(into.after):
            self._by_bodies(surface, into)
        for slides in self.slides:
            self._pull_slides(slides, surface / len(self.slides), into)

    def by_rest_positions(self) -> Floats:
        """Return (n+b,3) derivatives by rest positions (mollifier), after ``pull``."""
        out = self._by_threshold(self._of_surface(self.by))
        for slides in self.slides:
            out += slides.by_threshold(self.term.contact.mesh.rest)
        return out

    def _of_surface(self, by: Floats) -> Floats:
        """Return (n+b,3) what ``by`` (points,3) is at the vertices; zero at bodies."""
        surface = np.zeros_like(self.y)
        surface[: self.n] = self.term.embedded.of(by)
        return surface

    def _pull_slides(self, slides: SlidingPairs, surface: Floats, into: StepCotangents) -> None:
        """Add the part of friction to ``pull``."""
        by_start, by_origin, by_end, by_slip, by_load = slides.pull_back(surface)
        self.by_stiffness += by_load
        slides.forces += slides.last_forces
        into.state_x += self._to_points(by_origin[: self.n])
        into.before += by_origin[self.n :]
        into.after += by_end[self.n :]
        into.keep(SLIP, by_slip)
        firm = self.term._firmness
        if self.at is None:
            into.state_x += self._to_points(by_start[: self.n])
            into.before += by_start[self.n :]
            into.keep(FIRMNESS, np.array([by_load / firm.before, 0.0]))
        else:
            into.place += self._to_points(by_start[: self.n])
            into.after += by_start[self.n :]
            into.keep(FIRMNESS, np.array([0.0, by_load / firm.now]))

    def by_place(self, by: Floats) -> Floats:
        """Return (n,3) ds/d(positions at which friction was evaluated), with s = by . dE/dx."""
        if not self.slides:
            return np.zeros_like(by)
        surface = self._of_surface(by) / len(self.slides)
        by_start = sum(slides.pull_back(surface)[0] for slides in self.slides)
        return self._to_points(np.asarray(by_start)[: self.n])

    def _by_firmness(self, surface: Floats, into: StepCotangents) -> None:
        """Add the derivative by the adaptive stiffness, which the barrier is proportional to."""
        y, contacts = self.term._at(self.x)
        if len(contacts) == 0:
            return
        g = kernel.zeros(self.n, vec3)
        self.term._gather(contacts, contacts.gradients(y), g)
        s = float((np.array(kernel.numpy(g)) * surface[: self.n]).sum())
        self.by_stiffness += s
        into.keep(FIRMNESS, np.array([0.0, s / self.term._firmness.now]))

    def _by_threshold(self, surface: Floats) -> Floats:
        """Return (n+b,3) derivatives of the barrier at the end of the step by rest positions."""
        _, contacts = self.term._at(self.x)
        rest = self.term.contact.mesh.rest
        if len(contacts) == 0:
            return np.zeros_like(surface)
        rows = np.flatnonzero(contacts.touch["parallel"] > 0).astype(np.int32)
        stencil = contacts.stencil[rows]
        slope = threshold_slopes(contacts, self.y, rows)
        return by_rest_positions(rest, stencil, np.einsum("mai,mai->m", slope, surface[stencil]))

    def _by_bodies(self, surface: Floats, into: StepCotangents) -> None:
        """Add the product of the Hessian with ``surface`` at the vertices of bodies."""
        search, out = self.term.search, np.zeros_like(self.y)
        places = places_around(search, kernel.points(self.y))
        for place in places:
            contacts = search.contacts(place)
            stencil = contacts.stencil if len(contacts) else np.zeros((0, 4), dtype=np.int32)
            rows = np.flatnonzero((stencil >= self.n).any(1))
            if len(rows) == 0:
                continue
            H = contacts.among(rows).hessian(kernel.numpy(place)) / len(places)
            local = np.einsum("mabij,mbj->mai", H, surface[stencil[rows]])
            np.add.at(out, stencil[rows], local)
        into.after += out[self.n :]

    def _to_points(self, by: Floats) -> Floats:
        """Return derivatives by points (points,3) from those by vertices (n,3)."""
        out = np.zeros((self.points, 3))
        embedded = self.term.embedded
        pulled = embedded.W.matrix.T @ by if isinstance(embedded, WeightedEmbedding) else by
        out[: len(pulled)] = pulled
        return out
