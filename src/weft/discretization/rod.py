"""Rods: ropes, cords and wires as chains of sections that stretch, bend and twist.

A section at a rest arc length is an affine frame, given by four points as a rigid body is (Lan et
al. 2022; ``bodies.rigid.affine_body``): p_a = c + s_1 (t_a1 d_1 + t_a2 d_2) + s_3 t_a3 d_3. So its
center c and its directors d_j are linear in the points, as are the vertices of the tube that is
drawn and that collides. Between two sections at the distance l the strains of a Cosserat rod
(Simo 1985; Bergou et al. 2008 for the discrete form without shear) are differences:

    stretch and shear   (c' - c) / l - (d_3 + d_3') / 2
    bending and twist   (d_j' - d_j) / l

Each squared difference is an energy that is quadratic in the points. A rotation phi of one section
against the next gives |d_j' - d_j|^2 = |phi|^2 - (phi . d_j)^2, to second order: with the weights
w_1 = w_2 = GJ/2 and w_3 = EI - GJ/2 it costs EI/(2 l) for bending and GJ/(2 l) for twist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from weft.base.arrays import Arrays, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.embedding import CORNERS, Embedding
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.polygon import normalize
from weft.discretization.samples import Samples
from weft.discretization.surface import Surface, Tessellation

SIDES = 6  # of the tube
RIGID = 10.0  # stretch stiffness of the third director, over that of the rod
OF_CLOTH = "a rod has its own stiffness numbers"


@dataclass(frozen=True, eq=False)
class Strains:
    """Differences sum_a c_a x_a, whose squares are energies, with their weights."""

    stencil: Ints  # (q,8)
    coefficient: Floats  # (q,8)
    weight: Floats  # (q,)


@dataclass(frozen=True, eq=False)
class Rod(Surface):
    """A rod; section k has the points ``first`` + 4 k to ``first`` + 4 k + 3."""

    arc: Floats  # (s,) [m] rest arc lengths of the sections
    radius: float  # [m]
    first: int
    n_points: int
    kind: ClassVar[str] = "rods"
    density = 1
    unsupported: ClassVar[Mapping[str, str]] = {
        "bending": OF_CLOTH,
        "buckling": OF_CLOTH,
        "conditions.bend": OF_CLOTH,
        "contact.resolve": "move the pieces apart",
        "pressure": OF_CLOTH,
        "rest_angles": OF_CLOTH,
    }

    @cached_property
    def share(self) -> Floats:
        """(s,) [m] length of the rod that each section represents."""
        half = np.diff(self.arc) / 2
        return np.asarray(np.concatenate([half, [0.0]]) + np.concatenate([[0.0], half]))

    @cached_property
    def sizes(self) -> Floats:
        """(s,3) [m] s_1, s_2 and s_3: radii of gyration of the piece of each section."""
        across = np.full(len(self.arc), self.radius / 2)
        return np.column_stack([across, across, self.share / np.sqrt(12)])

    @property
    def points(self) -> Ints:
        """(s,4) indices of the points of each section."""
        return (self.first + np.arange(4 * len(self.arc), dtype=np.int32)).reshape(-1, 4)

    @property
    def directors(self) -> Floats:
        """(s,4,3) [1/m] g_a, with which [d_1 d_2 d_3] = sum_a p_a g_a^T."""
        return np.asarray(CORNERS / (4 * self.sizes[:, None]))

    @property
    def perimeter(self) -> float:
        """[m] of the tube."""
        return 2 * SIDES * self.radius * float(np.sin(np.pi / SIDES))

    def start(self, centers: Positions) -> Positions:
        """Return points (4 s, 3) [m] of a rod with given centers, whose frames do not twist."""
        edges = normalize(np.diff(centers, axis=0))
        along = normalize(np.concatenate([edges[:1], edges[:-1] + edges[1:], edges[-1:]]))
        frame, found = np.eye(3)[np.argmin(np.abs(along[0]))], []
        for t in along:
            frame = normalize(frame - (frame @ t) * t)
            found.append([frame, np.cross(t, frame), t])
        moved = np.einsum("aj,sj,sji->sai", CORNERS, self.sizes, np.array(found))
        return np.asarray((centers[:, None] + moved).reshape(-1, 3))

    def strains(self, stretch: float, bending: float, twist: float) -> Strains:
        """Return the strains of all segments: first stretch, then the differences of d_1 to d_3.

        Args:
            stretch: EA [N].
            bending: EI [N m^2].
            twist: GJ [N m^2], at most 2 EI.
        """
        length, points, g = np.diff(self.arc), self.points, self.directors
        stencil = np.concatenate([points[:-1], points[1:]], axis=1)
        mean = np.concatenate([g[:-1], g[1:]], axis=1)
        sign = np.repeat([-1.0, 1.0], 4)
        moved = sign / (4 * length[:, None]) - mean[:, :, 2] / 2
        # in series with the third director, whose stiffness is RIGID EA, it gives EA
        weights = [stretch / (1 - 1 / RIGID) * length]
        weights += [w / length for w in (twist / 2, twist / 2, bending - twist / 2)]
        return Strains(
            np.tile(stencil, (4, 1)),
            np.concatenate([moved, *(sign * mean[:, :, j] for j in range(3))]),
            np.concatenate(weights),
        )

    @property
    def area(self) -> Floats:
        """Area [m^2] of the tube that each point represents, (N,)."""
        out = np.zeros(self.n_points)
        out[self.points] = self.perimeter * self.share[:, None] / 4
        return out

    def samples(self) -> Samples:
        """Return one quadrature point for each face of the tube."""
        shown, n = self.shown, self.n_points
        tube = shown.mesh(np.zeros((n, 3)), "rod")
        at, E = linear_triangle(tube), shown.embedding
        whole = np.sort(E.stencil[at.stencil][:, :, 0], axis=1)[:, [0, 2]]
        stencil = (whole[:, :, None] + np.arange(4)).reshape(-1, 8).astype(np.int32)
        same = E.stencil[at.stencil][:, :, :, None] == stencil[:, None, None]
        own = (same * E.weight[at.stencil][..., None]).sum(2)
        gradient = np.einsum("qcp,qcj->qpj", own, at.gradient)
        return Samples(stencil, gradient, at.weight, n, own.mean(1))

    def tessellate(self, density: int) -> Tessellation:
        """Return the tube; ``density`` is not used."""
        s, turn = len(self.arc), 2 * np.pi * np.arange(SIDES) / SIDES
        around = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(SIDES)])
        weight = 0.25 + 0.5 * around @ CORNERS.T  # because s_1 is half of the radius
        stencil = np.repeat(self.points, SIDES, axis=0)
        k, j = (a.reshape(-1) for a in np.indices((s - 1, SIDES)))
        after = (j + 1) % SIDES
        a, b, c, d = (r * SIDES + v for r, v in ((k, j), (k + 1, j), (k + 1, after), (k, after)))
        faces = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3)
        side = self.perimeter / SIDES
        u0, u1, v0, v1 = self.arc[k], self.arc[k + 1], side * j, side * (j + 1)
        one = np.stack([u0, v0, u1, v0, u1, v1], 1).reshape(-1, 3, 2)
        two = np.stack([u0, v0, u1, v1, u0, v1], 1).reshape(-1, 3, 2)
        uv = np.stack([one, two], 1).reshape(-1, 3, 2)
        embedding = Embedding(stencil, np.tile(weight, (s, 1)), self.n_points)
        return Tessellation(
            embedding, faces.astype(np.int32), uv, np.zeros(len(faces), dtype=np.int32)
        )

    def net(self) -> tuple[Faces, CornerUv]:
        """Return a face between the first three points of each section."""
        corners = np.array([[0, 0], [self.radius, 0], [0, self.radius]])
        return self.points[:, :3], np.tile(corners, (len(self.arc), 1, 1))

    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Return no places, and all points of the sections whose whole ring is pinned."""
        whole = self.points[pinned.reshape(-1, SIDES).all(1)].reshape(-1)
        none = np.zeros((0, 4), dtype=np.int32)
        return Embedding(none, none.astype(np.float64), self.n_points), whole

    def among(self, points: Positions, first: int) -> Self:
        """Return this rod as a piece of a larger cloth."""
        return replace(self, first=self.first + first, n_points=len(points))

    def arrays(self) -> Arrays:
        """Return rest arc lengths, radius and the first point."""
        return {"arc": self.arc, "radius": np.array(self.radius), "first": np.array(self.first)}

    @classmethod
    def of_arrays(cls, arrays: Arrays, n_points: int) -> Self:
        """Restore a rod from its arrays in a file."""
        return cls(arrays["arc"], float(arrays["radius"]), int(arrays["first"]), n_points)

    def facts(self) -> str:
        """Return length, diameter and the number of segments as text."""
        count = len(self.arc) - 1
        return f"a rod of {self.arc[-1]:.4g} m, {2e3 * self.radius:.3g} mm thick, {count} segments"
