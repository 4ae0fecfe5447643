"""What a search for a minimum knows of its way: candidates, contacts, and how far it may go.

Positions y are (n+b,) vec3 on the device: the vertices that meet, and those of bodies after them.
Candidates are found for a whole way at once and serve every point of it, and of later ways that
stay near.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Ints
from weft.contact.candidates import Candidates
from weft.contact.ccd import max_step, step_lengths
from weft.contact.collision_mesh import CollisionMesh, Excluded, Trees
from weft.contact.contact_set import ContactSet
from weft.contact.distance import closest, combination, separation
from weft.contact.narrow_phase import NarrowPhase
from weft.contact.neighborhood import Neighborhood
from weft.contact.truncation import ALONE, KEEP, cut_ways
from weft.kernel import Scalar, WarpArray, corners, vec3
from weft.phases import Phases
from weft.solve.vectors import combine, equal

_module = wp.get_module("weft.contact_search")
MARGIN = 1.5  # of the reach: pairs within it have blocks in the matrix beforehand


@wp.kernel(module=_module)
def mark_near(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    reach: Scalar,
    out: wp.array(dtype=wp.int32),
):
    """1 for pairs that are nearer than ``reach``."""
    i = o + wp.tid()
    out[i] = 0
    a, b, c, d = corners(i, x, stencil)
    if separation(kind[i], a, b, c, d) < reach:
        p = closest(kind[i], a, b, c, d)
        if wp.length(combination(p.w, a, b, c, d)) < reach:
            out[i] = 1


@wp.kernel(module=_module)
def keep_near(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    near: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    out: wp.array2d(dtype=wp.int32),
):
    """The marked pairs, one after the other."""
    i = o + wp.tid()
    if near[i] != 0:
        for a in range(4):
            out[place[i], a] = stencil[i, a]


class ContactSearch:
    """Candidates and contacts of a collision mesh in one search after another.

    Args:
        mesh: what must not pass through itself.
        stiffness: [J/m^4] of the barrier.
        gap: [m] from which on pairs push each other, beyond their thickness.
        phases: where seconds are counted.
        widest: [m] the largest gap at any time; None: it stays.
    """

    def __init__(
        self,
        mesh: CollisionMesh,
        stiffness: float,
        gap: float,
        phases: Phases | None = None,
        widest: float | None = None,
    ) -> None:
        self.mesh, self.stiffness, self.gap = mesh, stiffness, gap
        self.widest = gap if widest is None else widest
        self.phases = Phases() if phases is None else phases
        self.thickness_part = 1.0  # of the thickness that is kept
        self._trees, self.narrow = Trees(), NarrowPhase(mesh).contacts
        self.thickness = mesh.device_thickness  # (n,) [m]
        self._nearby = Neighborhood(mesh, self.reach)
        self._end, self._where = (kernel.empty(len(mesh.rest), vec3) for _ in range(2))
        self.begin(mesh.unheld)

    def begin(self, excluded: Excluded, thickness_part: float = 1.0) -> None:
        """Begin a search: nothing is known of its way yet.

        Args:
            excluded: pairs that are left out.
            thickness_part: of the thickness that is kept.
        """
        self._excluded = excluded
        self._nearby.begin(excluded)
        self.thin_to(thickness_part)

    def thin_to(self, part: float) -> None:
        """From now on keep this part of the thickness."""
        self.thickness_part = part
        self._contacts: tuple[Candidates, ContactSet] | None = None

    def thicken(self, thickness: WarpArray) -> None:
        """From now on vertices have this thickness (n,) [m], at most the largest at any time."""
        self.thickness, self._contacts = thickness, None

    def stiffen(self, stiffness: float, gap: float | None = None) -> None:
        """From now on the barrier has this stiffness [J/m^4], and this gap [m] (None: as it had),
        at most the largest at any time.
        """
        gap = self.gap if gap is None else gap
        if (stiffness, gap) != (self.stiffness, self.gap):
            self.stiffness, self.gap, self._contacts = stiffness, gap, None

    @property
    def reach(self) -> float:
        """[m] from which on pairs push each other, at most."""
        return self.widest + self.mesh.sides.thickest

    @property
    def kept(self) -> tuple[WarpArray, float]:
        """Thickness of the vertices, and the part of it that is kept."""
        return self.thickness, self.thickness_part

    def near(self, y: WarpArray, reach: float) -> Candidates:
        """Candidates at y, by a search of their own."""
        with self.phases("broad"):
            return self.mesh.candidates(y, reach, None, self._excluded, self._trees)

    def along(self, y: WarpArray, end: WarpArray) -> Candidates:
        """The candidates of the way from y to ``end``; those of an earlier way where no vertex
        leaves its box there by more than the margin allows.
        """
        with self.phases("broad"):
            return self._nearby.along(y, end)

    def max_step(self, y: WarpArray, dy: WarpArray) -> float:
        """Part of dy, in [0, 1], that may be gone before a pair comes closer than its thickness."""
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        with self.phases("ccd"):
            bounds = self._nearby.bounds
            return max_step(y, dy, candidates, *self.kept, reach=self.gap, bounds=bounds)

    def meeting(self, y: WarpArray, dy: WarpArray) -> Ints:
        """(m,4) pairs that would meet on the way from y to y + dy, on the host."""
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        with self.phases("ccd"):
            meets = step_lengths(y, dy, candidates, *self.kept) < 1.0
        return np.asarray(candidates.pairs[meets])

    def parts(self, y: WarpArray, dy: WarpArray, bound: WarpArray | None = None) -> WarpArray:
        """(n+b,) parts of dy, each of one vertex, with which all may go to the end without any pair
        coming closer than its thickness.

        Args:
            y: (n+b,) [m].
            dy: (n+b,) [m].
            bound: (n+b,) [m] how far each may go in any direction, where not along dy; such ways
            may meet what is not near that of dy, so ``max_step`` has the last word. None: along dy.
        """
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        thickness, scale = self.kept
        part = kernel.empty(y.shape[0])
        part.fill_(1.0)
        ways = (y, dy, kernel.empty(0) if bound is None else bound)
        with self.phases("ccd"):
            known = (Scalar(self.gap), candidates.bound, self._nearby.away)
            kept = (thickness, Scalar(scale), *known, Scalar(KEEP))
            arrays = (*ways, *candidates.device, *kept, part)
            kernel.launch(cut_ways, len(candidates), *arrays, slice_above=ALONE)
        return part

    def contacts(self, y: WarpArray) -> ContactSet:
        """Pairs in contact at y; value, gradient and matrix at one y share a set."""
        if self._contacts is not None:
            of, found = self._contacts
            if of is self._nearby.found and equal(y, self._where):
                return found
        candidates = self.along(y, y)
        with self.phases("narrow"):
            arguments = (y, candidates, self.stiffness, self.gap, self.thickness_part)
            found = self.narrow(*arguments, self._nearby.bounds, self.thickness)
        wp.copy(self._where, y)
        self._contacts = candidates, found
        return found

    def soon(self, y: WarpArray) -> WarpArray:
        """(k,4) candidates that soon may be in contact, on the device."""
        candidates = self.along(y, y)
        m = len(candidates)
        near, place = (kernel.empty(m, wp.int32) for _ in range(2))
        reach = Scalar(MARGIN * self.reach)
        kernel.launch(mark_near, m, y, *candidates.device, reach, near)
        out = kernel.empty((kernel.scan(near, place), 4), wp.int32)
        kernel.launch(keep_near, m, candidates.device[0], near, place, out)
        return out
