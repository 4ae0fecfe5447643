"""Sewing of a garment: bonds that close its seams, and hinges across them.

The length of a bond goes from the gap at the start to nothing within ``closing`` seconds, so that
the bonds need no larger forces than the inertia of the panels at this pace. The stiffness of a bond
is ``stiffness`` times that of the fabric in stretch: at the tension f [N/m] of a seam its sides are
f/stiffness apart, micrometers in a garment that is worn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from weft.base.arrays import AnyArray, Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_weights import HingeGeometry
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.energy import Energy
from weft.energies.seams.seam_hinges import SeamHinges
from weft.energies.springs.bonds import Bonds

PACE = 0.4  # part of its seam's window in which a pair closes, of a seam that closes from an end

TIMES = "a time itself; zips and buttons have close_at and open_at, in the pattern"


@checked(SceneError, "sewing")
@documented
@dataclass(frozen=True)
class Sewing:
    """Settings for sewing a garment at the start of a run; its animation begins after that."""

    closing: float = setting(
        1.0, "time in which seams close, without gravity", "s", above=0, constant=TIMES
    )
    settle: float = setting(
        1.0,
        "time after closing, in which the garment comes to rest, with gravity and without friction",
        "s",
        least=0,
        constant=TIMES,
    )
    stiffness: float = setting(
        10.0,
        "stiffness of seams, divided by the stretch stiffness of the fabric",
        above=0,
        most=1e4,
        constant="this number only holds seams closed",
    )
    drag: float = setting(
        5.0,
        "rate of an extra drag until the animation begins; four times as high while seams close",
        "1/s",
        least=0,
        constant="the drag ends when the animation begins",
    )
    onset: float = setting(
        0.3, "time in which gravity grows after seams are closed", "s", least=0, constant=TIMES
    )

    def begin(self, turn: int) -> float:
        """Return the time [s] at which garments of a turn are sewn.

        It is the time at which the garments of the turn before have settled.
        """
        return turn * (self.closing + self.settle)


@dataclass(frozen=True, eq=False)
class SeamRows:
    """Two rows of points that are brought together, in the order of the seam.

    Args:
        pairs: (k,2) points of both sides.
        segments: (s,2) rows of ``pairs`` between which both sides have an edge; None: all in turn.
        name: of the seam.
        angle: [rad] fold between the panels, 0: flat.
        fold_stiffness: [N m/rad per m]; None: as the fabrics bend.
        strength: [N/m] at which it tears; infinite: never.
        life: (2,) [s] from when, and until when it holds.
        apart: [m] distance up to which its points are free: 0, or what zips leave.
        window: begin and end of its closing, as parts of the time that sewing takes.
        closes_from: the end at which it begins to close, ``start`` or ``end`` of its pairs, which
            then close one after the other; empty: all close at once.
        share: [m] of the seam that each point holds; None: half of the segments to both sides.
    """

    pairs: Ints
    segments: Ints | None = None
    name: str = ""
    angle: float = 0.0
    fold_stiffness: float | None = None
    strength: float = np.inf
    life: tuple[float, float] = (0.0, np.inf)
    apart: float = 0.0
    window: tuple[float, float] = (0.0, 1.0)
    closes_from: Literal["", "start", "end"] = ""
    share: float | None = None

    @property
    def rows(self) -> AnyArray:
        """Rows of ``pairs`` between which both sides have an edge, (s,2)."""
        if self.segments is not None:
            return self.segments
        return np.arange(len(self.pairs) - 1)[:, None] + [0, 1]

    def windows(self) -> Floats:
        """Return begin and end of the closing of pairs, (k,2), as parts of the time of sewing."""
        first, last = self.window
        count = len(self.pairs)
        if not self.closes_from:
            return np.tile([first, last], (count, 1))
        late = (1 - PACE) * np.linspace(0.0, 1.0, count)
        late = late if self.closes_from == "start" else late[::-1]
        return np.asarray(first + (last - first) * (late[:, None] + [0.0, PACE]))

    @property
    def edges(self) -> tuple[Ints, Ints]:
        """Points of the edges of the first side, and of the second, (s,2) each."""
        ends = np.asarray(self.pairs)[self.rows]
        return ends[:, :, 0], ends[:, :, 1]


@dataclass(frozen=True, eq=False)
class Facing:
    """Edges of both sides of a joint, in turn."""

    near: Ints  # (h,2) points of the first side's edges
    other: Ints  # (h,2) points of the second side's edges
    one: Ints  # (h,3) the first side's face, the vertex across, 1 if it runs along the edge
    two: Ints  # (h,3) the same for the second side
    start: Ints  # (h,) first vertex of a hinge's edge, on the first side
    end: Ints  # (h,) its second vertex


@dataclass(frozen=True, eq=False)
class SeamPanels:
    """Panels as seams see them: the mesh, and the stiffness of each face's fabric.

    Args:
        mesh: of all panels, not welded.
        stretch: (n,) [N/m] of the fabric at each vertex, the larger of warp and weft.
        bending: (m,2) [N m] flexural rigidity (warp, weft) at each face.
    """

    mesh: TriangleMesh
    stretch: Floats
    bending: Floats

    def bonds(self, joint: SeamRows, x: Positions, sewing: Sewing) -> Bonds:
        """Build the bonds of a joint, which close from the beginning of its life.

        Args:
            joint: the seam.
            x: (n,3) [m] positions at the start.
            sewing: settings.
        """
        pairs, reach = np.asarray(joint.pairs, dtype=np.int32), self.reach(joint)
        two = pairs[:, 0] != pairs[:, 1]  # at the end of a dart both sides are one point
        pairs, reach, windows = pairs[two], reach[two], joint.windows()[two]
        gap = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
        held = np.minimum(*self.stretch[pairs].T) * sewing.stiffness
        return Bonds(
            pairs,
            held,
            self.mesh.n_vertices,
            first=np.maximum(gap, joint.apart),
            last=joint.apart,
            closing=joint.life[0] + sewing.closing * windows,
            life=joint.life,
            strength=np.where(reach > 0, joint.strength * np.maximum(reach, 1e-300), np.inf),
            name=joint.name or "seam",
        )

    def reach(self, joint: SeamRows) -> Floats:
        """Return the length of seam that belongs to each pair, (k,) [m]."""
        if joint.share is not None:
            return np.full(len(joint.pairs), joint.share)
        lengths = np.mean([self.lengths(e) for e in joint.edges], axis=0)
        out = np.zeros(len(joint.pairs))
        np.add.at(out, joint.rows, lengths[:, None] / 2)
        return out

    def along(self, edges: Ints) -> Floats:
        """Return edges (s,2) as vectors in material coordinates, (s,2) [m]."""
        uv = self._corner_uv
        return uv[edges[:, 1]] - uv[edges[:, 0]]

    def lengths(self, edges: Ints) -> Floats:
        """Return the lengths of edges (s,2) in material coordinates, (s,) [m]."""
        return np.asarray(np.linalg.norm(self.along(edges), axis=1))

    @cached_property
    def _corner_uv(self) -> Floats:
        """Material coordinates of each vertex, (n,2) [m]; unique, because panels are not welded."""
        uv = np.zeros((self.mesh.n_vertices, 2))
        uv[self.mesh.faces.ravel()] = self.mesh.corner_uv.reshape(-1, 2)
        return uv

    def hinges(self, joints: Sequence[SeamRows], begin: float, damping: float = 0.0) -> SeamHinges:
        """Build hinges across joints that hold for good, which act from ``begin`` [s] on.

        There are none where a seam joins a right side to a wrong one, or where a side has no face.
        """
        stencils, angles, sides = [], [], []
        for joint in joints:
            found, across = self._across(joint)
            stencils.append(found)
            sides.append(across)
            angles.append(np.full(len(found), joint.angle))
        empty, every = np.zeros((0, 4), dtype=np.int32), HingeGeometry.concatenate(sides)
        return SeamHinges(
            np.concatenate([empty, *stencils]).astype(np.int32),
            every.weights(self.mesh),
            np.concatenate([np.zeros(0), *angles]),
            self.mesh.n_vertices,
            "seams",
            damping,
            begin,
            across=every,
        )

    def facing(self, joint: SeamRows) -> "Facing":
        """Return the edges of a joint that fold.

        They have a face on either side, of panels whose right sides agree.
        """
        near, other = joint.edges
        one = self._faces_at(*near.T)
        if near is other or np.array_equal(near, other):  # a line inside a panel
            two = self._faces_at(*near.T[::-1])
            two[:, 2] = 1 - two[:, 2]
        else:
            two = self._faces_at(*other.T)
        # If the right sides of two panels agree, one runs along its seam and the other against it.
        held = (one[:, 0] >= 0) & (two[:, 0] >= 0) & (one[:, 2] != two[:, 2])
        one, two, near, other = one[held], two[held], near[held], other[held]
        start = np.where(one[:, 2] > 0, near[:, 0], near[:, 1])
        end = np.where(one[:, 2] > 0, near[:, 1], near[:, 0])
        return Facing(near, other, one, two, start, end)

    def _across(self, joint: SeamRows) -> tuple[Ints, HingeGeometry]:
        """Return the hinges of a joint, (h,4), and the geometry of their weights."""
        f = self.facing(joint)
        stencil = np.stack([f.start, f.end, f.one[:, 1], f.two[:, 1]], axis=1)
        faces = np.stack([f.one[:, 0], f.two[:, 0]], axis=1)
        own = np.nan if joint.fold_stiffness is None else joint.fold_stiffness
        edges = np.stack([f.near, f.other], axis=1)
        return stencil, HingeGeometry(faces, edges, self.bending[faces], np.full(len(faces), own))

    def _faces_at(self, start: Ints, end: Ints) -> Ints:
        """Return for edges start -> end the face, the vertex across, and a direction, (k,3).

        The direction is 1 if the face runs along the edge, and 0 if against it. All are -1 if no
        face has the edge.
        """
        out = np.full((len(start), 3), -1, dtype=np.int32)
        for k, (a, b) in enumerate(zip(start.tolist(), end.tolist())):
            for along, key in ((1, (a, b)), (0, (b, a))):
                if key in self._half_edges:
                    out[k] = (*self._half_edges[key], along)
        return out

    @cached_property
    def _half_edges(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The face of every half-edge, and the vertex across from it."""
        table: dict[tuple[int, int], tuple[int, int]] = {}
        faces = self.mesh.faces
        for c in range(3):
            a, b, tip = (faces[:, (c + k) % 3].tolist() for k in range(3))
            table.update(zip(zip(a, b), zip(range(len(faces)), tip)))
        return table


def close_earlier(energies: Sequence[Energy], pairs: Sequence[Ints]) -> list[Energy] | None:
    """Return energies of which the bonds between pairs of vertices (k,2) begin to close with the
    first ones; None if they do already.
    """
    if not pairs:
        return None
    found, rows = list(energies), np.concatenate(pairs)
    for k, energy in enumerate(energies):
        bonds = energy.source if isinstance(energy, EmbeddedEnergy) else energy
        earlier = bonds.close_earlier(rows) if isinstance(bonds, Bonds) else None
        if earlier is not None:
            if isinstance(energy, EmbeddedEnergy):
                found[k] = EmbeddedEnergy(earlier, energy.weights)
            else:
                found[k] = earlier
            return found
    return None
