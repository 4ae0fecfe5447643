"""Compatible worlds as one system: arrays one after the other, and a block-diagonal matrix.

Terms that differ in numbers only (membranes, hinges, gravity, inertia) are evaluated for all active
worlds in one launch. All other terms (contact, friction, wind, pressure, energies of your own) are
evaluated world by world, on the world's part of the same arrays. No pair ever joins two worlds.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound
from weft.energies.batched import join_energies
from weft.energies.inertia import Inertia
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.assembly import bind_term
from weft.integrators.potential import Potential, zero_at_fixed
from weft.kernel import Vec3Array, WarpArray, vec3
from weft.plugins.robots.batch.batched_solver import GroupLanes
from weft.plugins.robots.batch.group_contact import GroupContact
from weft.plugins.robots.batch.group_terms import GroupTerm, JoinedTerm, SeparateTerms
from weft.plugins.robots.batch.world import World
from weft.solve.linear.batched_cholesky import SymbolicCholesky
from weft.solve.linear.solver import LinearSolver
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern, close


class WorldGroup:
    """Worlds with the same points, stencils and step settings.

    Args:
        worlds: the worlds.
        symbolic: symbolic factorization of their pattern, if matrices are factorized side by side.
    """

    def __init__(self, worlds: Sequence[World], symbolic: SymbolicCholesky | None = None) -> None:
        self.worlds, first = tuple(worlds), worlds[0].model
        self.of, self.n = len(worlds), len(first.mass)
        # A copy, because terms that are bound to one pattern share its scratch memory.
        self.pattern = dataclasses.replace(first.assembly.pattern)
        self.joined_pattern = _repeat_pattern(self.pattern, self.of)
        self.matrix = BlockCsr.zeros(self.joined_pattern)
        rows = self.of * self.n
        self.x, self.g, self.trial = (kernel.zeros(rows, vec3) for _ in range(3))
        self.parts = [
            tuple(self._of(a, w, self.n) for a in (self.x, self.g, self.trial))
            for w in range(self.of)
        ]
        self.own = [
            BlockCsr(self.pattern, self._of(self.matrix.values, w, self.pattern.n_blocks))
            for w in range(self.of)
        ]
        self.psd: Psd = worlds[0].integrator.settings.psd
        self.lanes = None if symbolic is None else GroupLanes(self.pattern, self.of, symbolic)
        # solver that the search of each world sees
        self.linear: Sequence[LinearSolver] = [w.linear for w in worlds]
        if self.lanes is not None:
            self.linear = self.lanes.worlds
        self._bind()

    @staticmethod
    def _of(a: WarpArray, w: int, each: int) -> WarpArray:
        return a[each * w : each * (w + 1)]

    def _bind(self) -> None:
        """Bind the terms in the order of a single world, each for all worlds or for one."""
        models = [w.model for w in self.worlds]
        self.terms: list[GroupTerm] = []
        self.apart: list[list[Bound]] = [[] for _ in models]  # terms of each world alone
        for energies in zip(*(m.energies for m in models), strict=True):
            one = join_energies(energies, self.n)
            if one is None:
                self._add_separate([bind_term(e, self.pattern) for e in energies])
            else:
                self.terms.append(JoinedTerm(bind_term(one, self.joined_pattern), self.of))
        inertia = Inertia(np.concatenate([m.mass for m in models]))
        self.terms.append(JoinedTerm(inertia, self.of))
        for m, own in zip(models, self.own):
            vars(m.assembly).update(pattern=self.pattern, matrix=own)
        self.contact: GroupContact | None = None  # of several worlds with contact
        if models[0].contact is not None:
            touching: list[ContactEnergy] = []
            for m in models:
                assert m.contact is not None
                touching.append(ContactEnergy(m.contact, m.assembly.phases))
            self._add_separate(touching)
            if self.of > 1:
                self.contact = GroupContact(touching)

    def _add_separate(self, terms: Sequence[Bound]) -> None:
        """Add a term that is evaluated world by world."""
        self.terms.append(SeparateTerms(terms, self.n))
        for mine, term in zip(self.apart, terms):
            mine.append(term)

    def begin(self, steps: Sequence[Step]) -> list[Potential]:
        """Begin a step; return the potentials of the terms that are evaluated world by world."""
        together = self._together(steps)
        self._fixed = kernel.array(together.fixed.astype(np.int32), wp.int32)
        self._any_fixed = bool(together.fixed.any())
        for term in self.terms:
            term.freeze(together)
        if self.contact is not None:
            self.contact.begin(steps)
        return [
            Potential(world.model, step, self.psd, terms)
            for world, step, terms in zip(self.worlds, steps, self.apart)
        ]

    def _together(self, steps: Sequence[Step]) -> Step:
        """Return one step that joins the steps of all worlds.

        Worlds may be at different times, so the step has none; no joined term depends on the time.
        """

        def every(name: str) -> Any:
            return np.concatenate([getattr(s, name) for s in steps])

        x, v = (np.concatenate([getattr(s.state, k) for s in steps]) for k in "xv")
        first, none = steps[0], np.zeros((0, 3))
        return Step(
            State(x, v),
            first.dt,
            every("predicted"),
            first.scale,
            every("origin"),
            first.span,
            every("fixed"),
            every("target"),
            (none, none),
        )

    def values(self, active: Sequence[int], x: WarpArray) -> dict[int, float]:
        """Return Phi [J] of the active worlds at x (of * n,) vec3, by index in the group."""
        total = np.zeros(self.of)
        for term in self.terms:
            total = total + term.value(active, x)
        return {w: float(total[w]) for w in active}

    def gradients(self, active: Sequence[int]) -> None:
        """Write the gradients of the active worlds at ``x`` into ``g``."""
        x, g, rows = self.x, self.g, self.of * self.n
        with kernel.shares(self.of, active):
            kernel.launch(clear, rows, g)
        for term in self.terms:
            term.add_gradient(active, x, g)
        if self._any_fixed:
            with kernel.shares(self.of, active):
                kernel.launch(zero_at_fixed, rows, self._fixed, 1, g)

    def matrices(self, active: Sequence[int]) -> dict[int, BlockCsr]:
        """Return the Hessians of the active worlds at ``x``, with identity blocks at pins.

        A matrix is valid until the next call for the same world.
        """
        A = self.matrix.begin()
        found = {w: self.own[w] for w in active}
        for term in self.terms:
            term.add_hessian(active, self.x, self.psd, A, found)
        with kernel.shares(self.of, active):
            close(A.finish(), self._fixed)
        for w in active:
            if found[w] is not self.own[w]:
                close(found[w], self._of(self._fixed, w, self.n))
            if self.lanes is not None:
                A, own = found[w], self.own[w]
                self.lanes.worlds[w].in_lane = A is own or A.fits_base(own)
        return found

    def solve_together(self, stale: Sequence[int], now: Sequence[int]) -> None:
        """Factorize the matrices of the worlds ``stale``, and solve for the gradients of ``now``.

        Only solvers whose matrices are factorized side by side do so; others wait for their search.
        """
        if self.lanes is not None:
            if stale:
                self.lanes.prepare(self.matrix.values, stale)
            self.lanes.solve(self.g, now)

    def terms_of(self, active: Sequence[int]) -> dict[int, dict[str, float]]:
        """Return the energies [J] of the active worlds at ``x`` by name."""
        found: dict[int, dict[str, float]] = {w: {} for w in active}
        for term in self.terms:
            for w, name, value in term.terms(active, self.x):
                found[w][name] = found[w].get(name, 0.0) + value
        return found


@wp.kernel(module=wp.get_module("weft.plugins.robots.batch"))
def clear(o: int, g: Vec3Array):
    """Set g to zero."""
    g[o + wp.tid()] = vec3(wp.float64(0.0))


def _repeat_pattern(p: BlockPattern, times: int) -> BlockPattern:
    """Return the block-diagonal pattern of ``times`` matrices of one pattern."""
    starts = [p.row_start[:-1] + np.int32(p.n_blocks * w) for w in range(times)]
    columns = [p.column + np.int32(p.n * w) for w in range(times)]
    last = np.array([p.n_blocks * times], dtype=np.int32)
    return BlockPattern(
        p.n * times,
        np.concatenate([*starts, last]).astype(np.int32),
        np.concatenate(columns).astype(np.int32),
    )
