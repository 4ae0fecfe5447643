"""Contact of a surface whose vertices are combinations x = W c of the points c that move it.

Everything is measured at the vertices, and pulled back: energies as they are, gradients as W^T g,
Hessians as W^T H W. What the collision detection allows is exact for the triangles between the
vertices, so these never intersect.
"""

import dataclasses
from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Bools, Floats, Positions
from weft.contact.contact import Contact
from weft.contact.friction import FrictionSet
from weft.contact.galerkin import DeviceWeights, PulledPattern
from weft.contact.search import MOST_CARRIES, ContactSearch, led
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.phases import Phases
from weft.solve.block_csr import BlockCsr


def search_of(
    contact: Contact, t: float, fixed: Bools, phases: Phases
) -> "ContactSearch | PulledBack":
    """The search of a contact: of points that are vertices, or move them."""
    if contact.weights is None:
        return ContactSearch(contact, t, fixed, phases)
    return PulledBack(contact, contact.weights, t, fixed, phases)


class PulledBack:
    """As ``ContactSearch``, for points (N,3) that move the vertices.

    Args:
        contact: of the vertices.
        weights: of the vertices in the points.
        t: [s] at which bodies are where they are.
        fixed: (N,) points that are prescribed.
        phases: where seconds are counted.
    """

    def __init__(
        self, contact: Contact, weights: DeviceWeights, t: float, fixed: Bools, phases: Phases
    ) -> None:
        self._W, self._weights = weights.embedding, weights
        self._inner = ContactSearch(contact, t, self._whole(fixed), phases)
        self._pulled: PulledPattern | None = None
        self.contact, self.phases, self.body = contact, phases, self._inner.body

    def _whole(self, fixed: Bools) -> Bools:
        """(n,) vertices all of whose points are of those given (N,)."""
        return np.asarray((self._W.matrix @ (~fixed).astype(np.float64)) == 0.0)

    @property
    def thin(self) -> float:
        """Part of the thickness that is kept."""
        return self._inner.thin

    @property
    def tight(self) -> tuple[float, Positions] | None:
        """Part of the thickness there was room for, and where."""
        return self._inner.tight

    @property
    def friction(self) -> FrictionSet | None:
        """Of the step."""
        return self._inner.friction

    def look(self, x: Positions) -> None:
        """Find the candidates at x alone."""
        self._inner.look(self._W.of(x))

    def begin(
        self, x: Positions, origin: Positions, before: Positions, dt: float, span: float
    ) -> None:
        """Begin a step of dt [s] from x; see ``ContactSearch.begin``."""
        self._inner.begin(self._W.of(x), self._W.of(origin), before, dt, span)

    def lag(self, x: Positions) -> bool:
        """Take friction anew from the contacts at x."""
        return self._inner.lag(self._W.of(x))

    def pinch(self, part: float, place: Positions | None = None) -> None:
        """From now on keep this part of the thickness."""
        self._inner.pinch(part, place)

    def limit(self, x: Positions, d: Floats, before: Positions | None = None) -> float:
        """Part of d, in [0, 1], that the points may go."""
        return self._inner.limit(self._W.of(x), self._W.of(d), before)

    def truncated(self, x: Positions, d: Floats) -> Floats:
        """d with every point held to what the nearest neighbors of its vertices leave these.

        A vertex moves by at most W |d|, of which each of its points keeps no more than is safe.
        """
        far = self._W.of(np.linalg.norm(d, axis=1)[:, None])[:, 0]
        part = np.ones(len(d))
        used = self._W.weight > 0
        safe = np.broadcast_to(self._inner.parts(self._W.of(x), far)[:, None], used.shape)
        np.minimum.at(part, self._W.stencil[used], safe[used])
        return np.asarray(part[:, None] * d)

    def carried(
        self, x: Positions, d: Floats, free: Bools, before: Positions | None
    ) -> Positions | None:
        """(N,3) x + d, with free points whose vertices would be met carried along; as
        ``ContactSearch.carried``, with all points of a vertex in its place.
        """
        n, W = len(self._W), self._W
        d = np.array(d)
        leads: Bools = ~free
        held: Bools = ~free
        body = np.ones(len(self.body), dtype=bool)
        for _ in range(MOST_CARRIES):
            y, dy = self._inner.way(W.of(x), W.of(d), before)
            stencil = self._inner.meeting(y, dy)
            if len(stencil) == 0:
                return np.asarray(x + d)
            moves, still = (
                np.concatenate([self._whole(points), body])[stencil] for points in (leads, held)
            )
            leading: Bools = np.asarray(moves)
            if still.all(1).any():
                return None
            mean = led(leading, dy[stencil])
            pair, place = np.nonzero(~leading & (stencil < n))
            rows = stencil[pair, place]
            used: Bools = (W.weight[rows] > 0) & ~held[W.stencil[rows]]
            points = W.stencil[rows][used]
            d[points] = np.repeat(mean[pair], W.stencil.shape[1], axis=0)[used.reshape(-1)]
            leads = leads.copy()
            pulls: Bools = np.any(leading, axis=1)
            follows = np.repeat(pulls[pair], W.stencil.shape[1])[used.reshape(-1)]
            leads[points[follows]] = True
        return None

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs."""
        return self._inner.value(self._weights.of(x))

    def friction_value(self, x: WarpArray) -> float:
        """[J] potential of friction."""
        return self._inner.friction_value(self._weights.of(x))

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += W^T dE/dx."""
        local = kernel.zeros(len(self._W), vec3)
        self._inner.add_gradient(self._weights.of(x), local)
        with self.phases("pull back"):
            self._weights.pull_back(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + W^T H W, on a pattern that holds both."""
        H = self._inner.add_hessian(self._weights.of(x), psd, self._weights.nothing)
        if H is self._weights.nothing:
            return A
        with self.phases("pull back"):
            p = self._pulled
            if p is None or p.elastic is not A.pattern or p.surface is not H.pattern:
                p = self._pulled = PulledPattern.of(A.pattern, H.pattern, self._weights)
            blocks = np.abs(kernel.numpy(H.values)).max(axis=(1, 2)) > 0.0
            active = np.add.reduceat(blocks, H.pattern.row_start[:-1]) > 0
            matrix = p.add(A, H, active.astype(np.int32), self._weights)
        return dataclasses.replace(matrix)

    def report(self, x: Positions, dt: float) -> dict[str, Any]:
        """What a step of dt [s] that ended at x (N,3) says of contact."""
        return self._inner.report(self._W.of(x), dt)
