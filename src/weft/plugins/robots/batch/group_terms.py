"""Terms of the potentials of several worlds: evaluated together, or world by world.

A term that differs between worlds in numbers only is bound once, to the arrays of all worlds, and
evaluated for the active ones in one launch (``kernel.shares``). Any other is bound once a world, to
that world's part of the same arrays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.energies.base import Bound
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


@dataclass(frozen=True, eq=False)
class JoinedTerm:
    """A term that is bound to the arrays of all worlds: x and g are (worlds * n,) vec3."""

    bound: Bound
    of: int  # number of worlds

    def freeze(self, together: Step) -> None:
        """Begin a step that joins those of all worlds."""
        self.bound.freeze(together)

    def value(self, active: Sequence[int], x: WarpArray) -> Floats:
        """Return the energy [J] of every world."""
        with kernel.shares(self.of, active):
            return np.broadcast_to(self.bound.value(x), self.of)

    def add_gradient(self, active: Sequence[int], x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx of the active worlds to g."""
        with kernel.shares(self.of, active):
            self.bound.add_gradient(x, g)

    def add_hessian(
        self, active: Sequence[int], x: WarpArray, psd: Psd, A: BlockCsr, own: dict[int, BlockCsr]
    ) -> None:
        """Add the Hessians of the active worlds to A, the matrix of all worlds."""
        with kernel.shares(self.of, active):
            self.bound.add_hessian(x, psd, A)

    def terms(self, active: Sequence[int], x: WarpArray) -> Iterator[tuple[int, str, float]]:
        """Yield the energies [J] of the active worlds by name."""
        with kernel.shares(self.of, active):
            energies = self.bound.terms(x)
        for name, values in energies.items():
            every = np.broadcast_to(values, self.of).tolist()
            for w in active:
                yield w, name, every[w]


@dataclass(frozen=True, eq=False)
class SeparateTerms:
    """A term that is bound once a world, to the world's part of the arrays."""

    bound: Sequence[Bound]
    n: int  # points of a world
    # The parts of each array of all worlds, with the array: a group has three, as long as it lives.
    _parts: dict[int, tuple[WarpArray, list[WarpArray]]] = field(default_factory=dict)

    def freeze(self, together: Step) -> None:
        """Do nothing: a world's own term begins with the world's step."""

    def _of(self, a: WarpArray, w: int) -> WarpArray:
        """Return the part of an array that belongs to a world."""
        found = self._parts.get(id(a))
        if found is None:
            n, count = self.n, len(self.bound)
            found = self._parts[id(a)] = a, [a[n * k : n * (k + 1)] for k in range(count)]
        return found[1][w]

    def value(self, active: Sequence[int], x: WarpArray) -> Floats:
        """Return the energy [J] of every world; 0 of those that are not active."""
        found = np.zeros(len(self.bound))
        for w in active:
            found[w] = self.bound[w].value(self._of(x, w))
        return found

    def add_gradient(self, active: Sequence[int], x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx of the active worlds to g."""
        for w in active:
            self.bound[w].add_gradient(self._of(x, w), self._of(g, w))

    def add_hessian(
        self, active: Sequence[int], x: WarpArray, psd: Psd, A: BlockCsr, own: dict[int, BlockCsr]
    ) -> None:
        """Add the Hessians of the active worlds to their own parts of A.

        A world whose term has more blocks than its part gets another matrix in ``own``.
        """
        with kernel.shares(len(self.bound), active):
            A.finish()
        for w in active:
            own[w] = self.bound[w].add_hessian(self._of(x, w), psd, own[w])

    def terms(self, active: Sequence[int], x: WarpArray) -> Iterator[tuple[int, str, float]]:
        """Yield the energies [J] of the active worlds by name."""
        for w in active:
            for name, value in self.bound[w].terms(self._of(x, w)).items():
                yield w, name, value


GroupTerm = JoinedTerm | SeparateTerms
