"""Derivatives of contact and friction by everything that a step was made from, by reverse mode.

Friction is lagged: pairs, normal forces, weights and planes are those of x_n, and sliding is
measured from there. What is remembered from step to step (elastic slip, adaptive stiffness) is
differentiated as well: ``ContactDerivative.pull_back_memory`` goes back through what a step leaves,
``ContactDerivative.pull`` through what it was made from. The adaptive stiffness changes by jumps,
by the rules of ``contact.barrier.stiffness``. As long as it stays, derivatives pass through it; if
it changes, its derivative by the contact forces is left out (``StepCotangents.stiffness_adapted``).
"""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.contact.assembly.embedding import WeightedEmbedding
from weft.contact.barrier.kinks import places_around
from weft.contact.contact_set import ContactSet, Records
from weft.contact.derivatives.by_constants import Numbers, change_of_pairs, gradient_change
from weft.contact.derivatives.reverse_kernels import (
    FrictionCotangents,
    FrictionReverse,
    pull_back_barrier,
    pull_back_thresholds,
)
from weft.contact.frozen_contact import FrozenContact
from weft.contact.memory import SLIP, STIFFNESS
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray


class ContactDerivative:
    """Derivatives of contact at the end of a step. At a kink the mean of both sides counts
    (``contact.barrier.kinks``).

    Args:
        frozen: contact in the step.
        step: the step.
        x: (n,) vec3 [m] end of the step.
        at: (n,3) [m] positions at which friction was evaluated; None: the start of the step.
    """

    def __init__(
        self, frozen: FrozenContact, step: Step, x: WarpArray, at: Floats | None = None
    ) -> None:
        self.frozen, self.step, self.x, self.at = frozen, step, x, at
        self.n, self.points = frozen.embedding.n, len(step.state.x)
        self.y = kernel.points(np.array(kernel.numpy(frozen.workspace.update_vertices(x))))
        # Pairs with the derivatives by their barriers, and the derivatives by friction's numbers.
        self.by_pairs: list[tuple[ContactSet, Records]] = []
        self.by_friction: list[FrictionCotangents] = []
        self._of_friction = frozen.friction
        self.friction = self._freeze_friction() if frozen.friction else []

    def is_of(self, frozen: FrozenContact, x: WarpArray) -> bool:
        """Return whether these are the derivatives at x of ``frozen`` with its present friction."""
        same = self.frozen is frozen and self._of_friction is frozen.friction
        return same and self.x is x

    def _freeze_friction(self) -> list[FrictionReverse]:
        """Freeze friction again, on each side of a kink."""
        frozen, step, at = self.frozen, self.step, self.at
        bodies = step.bodies[0 if at is None else 1]
        start = np.concatenate([frozen.embedding.of(step.state.x if at is None else at), bodies])
        frozen.set_stiffness(before=at is None)
        places = places_around(frozen.search, kernel.points(start))
        inputs = frozen.friction_inputs
        found = [FrictionReverse(frozen.search.contacts(p), p, self.y, inputs) for p in places]
        frozen.set_stiffness(before=False)
        return found

    def pull_back_memory(self, memory: Mapping[str, Floats], into: StepCotangents) -> Floats:
        """Return (n,3) derivatives by the end of the step, from those by what it remembers.

        Derivatives by the start of the step, bodies and the memory before are added to ``into``. An
        equilibrium evaluates friction at its own positions: derivatives by these are returned, too.
        """
        out = np.zeros((self.points, 3))
        if STIFFNESS in memory and self.step.scale is not None:
            before, now = memory[STIFFNESS]
            factors = self.frozen.adaptive_stiffness
            after = factors.after(*self.frozen.measure_pressing(self.x))
            into.stiffness_adapted = after.now != factors.now
            into.keep(STIFFNESS, np.array([0.0, before + (0.0 if into.stiffness_adapted else now)]))
        at_rest = self.step.scale is None and self.at is not None
        place = np.array(into.place)
        for friction in self.friction if SLIP in memory else ():
            by = friction.pull_back(slip=memory[SLIP] / len(self.friction))
            self._add_friction(friction, by, into)
            out += self._to_points(by.end)
        if at_rest:
            out += into.place - place
            into.place[:] = place
        return out

    def pull(self, by: Floats, into: StepCotangents) -> None:
        """Add ds/d(start of the step) to ``into``, with s = by . dE/dx and by (n,3)."""
        surface = self._of_surface(by)
        search = self.frozen.search
        places = places_around(search, self.y) if len(into.after) else [self.y]
        for place in places:
            contacts = search.contacts(place)
            if len(contacts):
                by_y, by_touch = pull_back_barrier(contacts, place, surface / len(places))
                into.after += by_y[self.n :]
                self.by_pairs.append((contacts, by_touch))
                into.keep(STIFFNESS, np.array([0.0, self._by_stiffness_factor(contacts, by_touch)]))
        for friction in self.friction:
            cotangents = friction.pull_back(force=surface / len(self.friction))
            self._add_friction(friction, cotangents, into)

    def _add_friction(
        self, friction: FrictionReverse, by: FrictionCotangents, into: StepCotangents
    ) -> None:
        """Add derivatives by the data from which friction is frozen."""
        self.by_friction.append(by)
        self.by_pairs.append((friction.contacts, by.parameters))
        into.keep(SLIP, by.slip)
        into.state_x += self._to_points(by.origin)
        into.before += by.origin[self.n :]
        into.after += by.end[self.n :]
        if self.at is None:
            into.state_x += self._to_points(by.start)
            into.before += by.start[self.n :]
            by_factor = self._by_stiffness_factor(friction.contacts, by.parameters, before=True)
            into.keep(STIFFNESS, np.array([by_factor, 0.0]))
        else:
            into.place += self._to_points(by.start)
            into.after += by.start[self.n :]
            by_factor = self._by_stiffness_factor(friction.contacts, by.parameters)
            into.keep(STIFFNESS, np.array([0.0, by_factor]))

    def _by_stiffness_factor(
        self, contacts: ContactSet, by: Records, *, before: bool = False
    ) -> float:
        """Return the derivative by the adaptive stiffness, which stiffness is proportional to."""
        factors = self.frozen.adaptive_stiffness
        by_logarithm = float((by["stiffness"] * contacts.parameters["stiffness"]).sum())
        return by_logarithm / (factors.before if before else factors.now)

    def by_place(self, by: Floats) -> Floats:
        """Return (n,3) ds/d(positions at which friction was evaluated), with s = by . dE/dx."""
        if not self.friction:
            return np.zeros_like(by)
        surface = self._of_surface(by) / len(self.friction)
        parts = [f.pull_back(force=surface).start for f in self.friction]
        return self._to_points(np.sum(parts, axis=0))

    def by_stiffness(self) -> float:
        """Return the derivative by the logarithm of contact's stiffness, after ``pull``."""
        parts = (
            (by["stiffness"] * pairs.parameters["stiffness"]).sum() for pairs, by in self.by_pairs
        )
        return float(sum(parts))

    def by_rest_positions(self) -> Floats:
        """Return (n+b,3) derivatives by rest positions, after ``pull``.

        The mollifier of nearly parallel edges depends on these.
        """
        rest = self.frozen.contact.mesh.rest
        out = np.zeros((len(rest), 3))
        for pairs, by in self.by_pairs:
            rows = np.flatnonzero(pairs.parameters["parallel"] > 0)
            if len(rows):
                out += pull_back_thresholds(rest, pairs.stencil[rows], by["parallel"][rows])
        return out

    def along_constants(self, change: Numbers) -> tuple[Floats, dict[str, Floats]]:
        """Return the changes of dE/dx (points,3) [N] and of the memory with those of constants.

        They are difference quotients, independent of ``pull``.

        Args:
            change: changes of some of ``Contact.constants``, by name.
        """
        frictions = [(f.contacts, f.start, f.inputs) for f in self.friction]
        forces, slip = gradient_change(self.frozen, self.y, frictions, change)
        return self._to_points(forces), {SLIP: slip} if frictions else {}

    def pull_back_constants(self, change: Numbers) -> float:
        """Return the change of s and of the memory with constants, after ``pull``.

        Args:
            change: changes of some of ``Contact.constants``, by name.
        """
        total = 0.0
        for pairs, by in self.by_pairs:
            for name, d in change_of_pairs(self.frozen, change, pairs).items():
                total += float((by[name] * d).sum())
        for part in self.by_friction:
            for name in ("static", "kinetic"):
                if name in change:
                    total += float((getattr(part, name) * change[name]).sum())
            if "stick" in change and self.step.slip is None:
                total += part.smooth * float(change["stick"]) * self.step.dt
        return total

    def _of_surface(self, by: Floats) -> Floats:
        """Return (n+b,3) what ``by`` (points,3) is at the vertices; zero at bodies."""
        surface = np.zeros((self.y.shape[0], 3))
        surface[: self.n] = self.frozen.embedding.of(by)
        return surface

    def _to_points(self, by: Floats) -> Floats:
        """Return derivatives by points (points,3) from those by vertices (n+b,3)."""
        out, by = np.zeros((self.points, 3)), by[: self.n]
        embedding = self.frozen.embedding
        pulled = embedding.W.matrix.T @ by if isinstance(embedding, WeightedEmbedding) else by
        out[: len(pulled)] = pulled
        return out
