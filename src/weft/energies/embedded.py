"""Energies of vertices as energies of the points that move them: E(W x), y = W x.

Values stay the same, gradients are W^T g, Hessians W^T H W. So every energy that is written for the
vertices of triangles (bonds of seams, hinges across them) acts on splines, whose vertices are
combinations of control points, with its damping, its change in time and its memory.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.energies.by_constants import ByName, ContractedEnergy
from weft.energies.condition_term import ConditionTerm
from weft.energies.element_energy import ElementEnergy
from weft.energies.state import State
from weft.energies.step import Step
from weft.kernel import WarpArray, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft.solve.sparse.pull_back import Interpolation, PullBack

# Points of an element of a spline surface. ``BlockPattern.of`` takes the narrowest stencils for
# the elements of the surface, so stencils of embedded energies are always made wider than these.
WIDEST = 9


@dataclass(frozen=True, eq=False)
class EmbeddedEnergy(ContractedEnergy):
    """An energy of vertices as an energy of the points that move them.

    Args:
        source: the energy of vertices.
        weights: of all vertices in the points.
    """

    source: ElementEnergy
    weights: Embedding

    @property
    def name(self) -> str:
        """Name of the source energy."""
        return self.source.name

    @property
    def changes(self) -> bool:
        """True if numbers of the source have keyframes."""
        return bool(getattr(self.source, "changes", False))

    @property
    def stencil(self) -> Ints:
        """Points that move each element, (m,K).

        K is the largest number of points of an element, and at least ten; shorter rows repeat a
        point.
        """
        return self._shares[0]

    @cached_property
    def _shares(self) -> tuple[Ints, Floats]:
        """Stencils (m,K), and weights (m,k,K) of every point in the vertices of each element."""
        own = self.source.stencil
        m, k = own.shape
        ids = self.weights.stencil[own].reshape(m, -1)
        part = self.weights.weight[own].reshape(m, -1)
        first = np.take_along_axis(ids, np.argmax(part != 0, axis=1)[:, None], 1)
        ids = np.where(part != 0, ids, first)
        order = np.argsort(ids, axis=1, kind="stable")
        ids, part = np.take_along_axis(ids, order, 1), np.take_along_axis(part, order, 1)
        new = np.concatenate([np.zeros((m, 1), bool), ids[:, 1:] != ids[:, :-1]], axis=1)
        column = np.cumsum(new, axis=1)
        width = max(int(column.max(initial=0)) + 1, WIDEST + 1)
        stencil = np.repeat(ids[:, :1], width, axis=1)
        np.put_along_axis(stencil, column, ids, 1)
        share = np.zeros((m, k, width))
        rows = np.arange(m)[:, None]
        vertex = order // self.weights.stencil.shape[1]
        np.add.at(share, (rows, vertex, column), part)
        return stencil.astype(np.int32), share

    def value(self, x: Positions) -> Floats:
        """Return the local energies, (m,) [J], undamped."""
        return self.source.value(self.weights.of(x))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,K,3) [N], undamped."""
        local = self.source.gradient(self.weights.of(x))
        return np.asarray(np.einsum("mka,mki->mai", self._shares[1], local))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,K,K,3,3) [N/m], undamped."""
        local, share = self.source.hessian(self.weights.of(x), psd), self._shares[1]
        return np.asarray(np.einsum("mka,mklij,mlb->mabij", share, local, share, optimize=True))

    @property
    def constants(self) -> ByName:
        """Constants of the source energy."""
        found: ByName = self.source.constants  # type: ignore[attr-defined]
        return found

    @property
    def structure(self) -> object:
        """Data besides the constants: those of the source, and the weights."""
        inner: Any = self.source
        return type(inner), inner.structure, self.weights.stencil, self.weights.weight

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,...), for ``by`` (m,K,3)."""
        seen = None if step is None else of_vertices(step, self.weights)
        of_source = np.einsum("mka,mai->mki", self._shares[1], by)
        return self.source.contract(self.weights.of(x), of_source, seen)

    def bind(self, pattern: BlockPattern) -> "EmbeddedTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return EmbeddedTerm(self, pattern)


class EmbeddedTerm(ConditionTerm):
    """A bound energy of vertices, on a pattern of points."""

    is_elastic = True

    def __init__(self, energy: EmbeddedEnergy, pattern: BlockPattern) -> None:
        source, self.weights = energy.source, energy.weights
        own = BlockPattern.of(len(self.weights), [source.stencil])
        self.inner = source.bind(own)
        self.name, self.damping = self.inner.name, self.inner.damping
        self.is_condition, self.energy = self.inner.is_condition, energy
        used = np.zeros(len(self.weights))
        used[source.stencil] = 1.0
        W = (sp.diags(used) @ self.weights.matrix).tocsr()
        W.eliminate_zeros()
        self._interpolation = Interpolation(W)
        self._hessian = BlockCsr.zeros(own)
        self._pull_back = PullBack.of(self._interpolation, own, pattern)

    def _vertices(self, x: WarpArray) -> WarpArray:
        """Return W x, with zeros at vertices that the energy does not use."""
        out = kernel.empty(len(self.weights), vec3)
        self._interpolation.to_vertices(x, out)
        return out

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return self.inner.value(self._vertices(x))

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energy [J] of the elastic part and of damping, by name."""
        return self.inner.terms(self._vertices(x))

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add W^T dE/dy to g."""
        local = kernel.zeros(len(self.weights), vec3)
        self.inner.add_gradient(self._vertices(x), local)
        self._interpolation.pull_back(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add W^T d2E/dy2 W to A and return A."""
        H = self.inner.add_hessian(self._vertices(x), psd, self._hessian.begin())
        self._pull_back.add(H.finish(), A)
        return A

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add W^T H W to A, with H the source's Hessian of damped conditions."""
        y, H = self._vertices(x), self._hessian.begin()
        self.inner.add_condition_hessian(y, of_vertices(step, self.weights), beta, psd, H)
        self._pull_back.add(H.finish(), A)

    def freeze(self, step: Step) -> None:
        """Begin a step of the source energy."""
        self.inner.freeze(of_vertices(step, self.weights))

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the memory of the source energy."""
        return self.inner.remember(self._vertices(x))


def of_vertices(step: Step, weights: Embedding) -> Step:
    """Return a step with states of vertices in place of points, none of them prescribed."""
    of, state, n = weights.of, step.state, len(weights)
    return dataclasses.replace(
        step,
        state=State(of(state.x), of(state.v), state.t),
        predicted=of(step.predicted),
        origin=of(step.origin),
        fixed=np.zeros(n, dtype=bool),
        target=np.zeros((n, 3)),
        past=None if step.past is None else (of(step.past[0]), step.past[1]),
    )
