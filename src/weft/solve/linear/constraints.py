"""Velocity constraints of particles, and the system of the free directions (Baraff & Witkin 1998,
section 5): the filter S and the prescribed change z of the velocity.

A constraint of contact is one-sided: where its impulse pulls, it is released, and the system is
solved again.

Their modified conjugate gradients are ordinary ones on S A S in the range of S, preconditioned by
S P^-1 S. So the filter is applied to the matrix once, and every solver of weft can be used; what
the constrained directions lack, A dv - b, is the impulse that the constraints exert.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Velocities
from weft.base.errors import SolverError
from weft.base.runtime_types import checked
from weft.kernel import mat33, vec3
from weft.solve.linear.solver import LinearSolution, LinearSolver, PreparedSolver
from weft.solve.sparse.block_csr import BlockCsr

_module = wp.get_module("weft.constraints")
SAME = 1e-9  # relative: prescribed changes that differ by less agree
DEPENDENT = 1e-6  # length of what is left of a direction that is held already
MOST_RELEASES = 10  # rounds of releasing constraints that pull, in one step


@wp.kernel(module=_module)
def filter_rows(
    o: int,
    row_start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    held: wp.array(dtype=wp.int32),
    S: wp.array(dtype=mat33),
    values: wp.array(dtype=mat33),
    out: wp.array(dtype=mat33),
):
    """S A S, plus I - S on the diagonal so that it stays invertible.

    ``held`` is the place in S of a vertex that is not free, else -1.
    """
    v = o + wp.tid()
    i = held[v]
    for b in range(row_start[v], row_start[v + 1]):
        block = values[b]
        j = held[column[b]]
        if j >= 0:
            block = block * S[j]
        if i >= 0:
            block = S[i] * block
            if column[b] == v:
                block += wp.identity(n=3, dtype=wp.float64) - S[i]
        out[b] = block


@checked(SolverError, "constraint", unchecked=("of",))
@dataclass(frozen=True, eq=False)
class Constraint:
    """Prescribed velocity changes of vertices along some directions.

    Raises:
        SolverError: more than three directions, or directions that are not independent.
    """

    vertices: Ints  # (k,)
    directions: Floats  # (d,3), d from 1 to 3; need not be orthonormal
    change: Velocities  # (k,3) [m/s] of which the components along the directions count
    one_sided: bool = False  # may push along directions[0] only: released where it pulls

    def __post_init__(self) -> None:
        rows = np.atleast_2d(np.asarray(self.directions, dtype=np.float64))
        ids = np.asarray(self.vertices, dtype=np.int32).reshape(-1)
        if rows.shape[1:] != (3,) or not 1 <= np.linalg.matrix_rank(rows) == len(rows):
            raise SolverError(
                "constraint directions", got=rows.tolist(), expected="1 to 3 independent directions"
            )
        object.__setattr__(self, "directions", _orthonormal(rows))
        object.__setattr__(self, "vertices", ids)
        change = np.broadcast_to(np.asarray(self.change, dtype=np.float64), (len(ids), 3))
        object.__setattr__(self, "change", change)

    @property
    def normal(self) -> Floats:
        """(3,) the first direction: the side of a one-sided constraint."""
        return np.asarray(self.directions[0])

    def of(self, which: Bools) -> "Constraint":
        """The same of some of its vertices, (k,) bool."""
        return dataclasses.replace(self, vertices=self.vertices[which], change=self.change[which])


def _orthonormal(rows: Floats) -> Floats:
    """Orthonormal rows of the same span, the first along the given first."""
    q, r = np.linalg.qr(rows.T)
    return np.asarray((q * np.sign(np.diag(r))).T)


@dataclass(frozen=True, eq=False)
class Filter:
    """All constraints of a step."""

    S: Floats  # (n,3,3) projection onto the free directions
    z: Velocities  # (n,3) [m/s] prescribed change of velocity, zero in free directions

    @staticmethod
    def of(n: int, constraints: Sequence[Constraint]) -> "Filter":
        """The filter of n vertices.

        Raises:
            SolverError: two constraints that prescribe different changes along one direction.
        """
        S, z = np.broadcast_to(np.eye(3), (n, 3, 3)).copy(), np.zeros((n, 3))
        for c in constraints:
            ids, change = c.vertices, c.change
            if len(c.directions) == 3:  # nothing stays free: all at once, where nothing is held yet
                fresh = np.array([(S[i] == np.eye(3)).all() for i in ids.tolist()], dtype=bool)
                S[ids[fresh]], z[ids[fresh]] = 0.0, change[fresh]
                ids, change = ids[~fresh], change[~fresh]
            for i, wanted in zip(ids.tolist(), change):
                for direction in c.directions:
                    _hold(i, S, z, direction, float(direction @ wanted))
        return Filter(S, z)

    @cached_property
    def held(self) -> Ints:
        """Vertices that are not free in all directions."""
        return np.flatnonzero((np.eye(3) != self.S).any(axis=(1, 2))).astype(np.int32)

    def apply(self, a: Velocities) -> Velocities:
        """S a."""
        out = np.array(a)
        out[self.held] = np.einsum("nij,nj->ni", self.S[self.held], a[self.held])
        return out

    def matrix(self, A: BlockCsr, out: BlockCsr) -> None:
        """out = S A S + (I - S)."""
        p = A.pattern
        rows = (p.device_row_start, p.device_column)
        place = np.full(p.n, -1, dtype=np.int32)
        place[self.held] = np.arange(len(self.held))
        S = kernel.array(self.S[self.held], mat33)
        held = kernel.array(place, wp.int32)
        kernel.launch(filter_rows, p.n, *rows, held, S, A.values, out.values)


def _hold(i: int, S: Floats, z: Velocities, direction: Floats, wanted: float) -> None:
    """Take one direction of vertex i from S, and put its change into z."""
    free = S[i] @ direction
    length, has = float(np.linalg.norm(free)), float(direction @ z[i])
    if length < DEPENDENT:
        if abs(wanted - has) > SAME * max(abs(wanted), abs(has), 1.0):
            raise SolverError(
                f"constraints of vertex {i}",
                got=f"changes {has:.6g} and {wanted:.6g} m/s",
                expected="one along each direction",
                hint=f"direction {direction.round(3).tolist()} is held twice",
            )
        return
    unit = free / length
    z[i] += (wanted - has) / length * unit
    S[i] -= np.outer(unit, unit)


@dataclass(frozen=True, eq=False)
class ConstrainedSolution:
    """dv with S (A dv - b) = 0 and (I - S) dv = z."""

    change: Velocities  # (n,3) [m/s]
    impulse: Floats  # (n,3) [N s] of the constraints: A dv - b, zero in free directions
    linear: LinearSolution
    prepared: PreparedSolver
    released: int = 0  # one-sided constraints


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of some vertices of a symmetric matrix: all that its products need where a vector,
    or what is asked of the result, lives on these vertices alone.
    """

    row: Ints  # (k,) vertex of each block
    column: Ints  # (k,)
    block: Floats  # (k,3,3)

    @staticmethod
    def of(A: BlockCsr, vertices: Ints) -> "_Rows":
        """From a matrix on the device."""
        p = A.pattern
        count = np.diff(p.row_start)[vertices]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        which = np.repeat(p.row_start[vertices], count) + within
        blocks = kernel.numpy(A.values)[which]
        return _Rows(np.repeat(vertices, count), p.column[which], blocks)

    def times(self, x: Floats) -> Floats:
        """A x at the vertices, zero elsewhere."""
        out = np.zeros_like(x)
        np.add.at(out, self.row, np.einsum("kij,kj->ki", self.block, x[self.column]))
        return out

    def times_transposed(self, x: Floats) -> Floats:
        """A x of an x that is zero elsewhere."""
        out = np.zeros_like(x)
        np.add.at(out, self.column, np.einsum("kji,kj->ki", self.block, x[self.row]))
        return out


def solve_constrained(
    A: BlockCsr,
    b: Floats,
    filter_: Filter,
    work: BlockCsr,
    solver: LinearSolver,
    tolerance: float,
    previous: PreparedSolver | None = None,
) -> ConstrainedSolution:
    """Solve A dv = b in the free directions, dv = z in the others.

    Args:
        A: (n,) block rows, symmetric.
        b: (n,3).
        filter_: constraints.
        work: a matrix on A's pattern, overwritten.
        solver: of the filtered system.
        tolerance: of an iterative solver.
        previous: what the last solve on this pattern prepared.
    """
    filter_.matrix(A, work)
    rows = _Rows.of(A, filter_.held)
    rhs = filter_.apply(b - rows.times_transposed(filter_.z))
    prepared = solver.prepare(work, previous)
    solution = prepared.solve(kernel.array(rhs, vec3), tolerance)
    change = filter_.z + filter_.apply(np.array(kernel.numpy(solution.x)))
    rest = np.zeros_like(change)
    rest[filter_.held] = (rows.times(change) - b)[filter_.held]
    impulse = rest - filter_.apply(rest)
    return ConstrainedSolution(change, impulse, solution, prepared)


def solve_releasing(
    A: BlockCsr,
    b: Floats,
    constraints: Sequence[Constraint],
    work: BlockCsr,
    solver: LinearSolver,
    tolerance: float,
    previous: PreparedSolver | None = None,
) -> ConstrainedSolution:
    """As ``solve_constrained``; one-sided constraints whose impulse pulls are released in rounds.

    Impulses below ``tolerance`` times the largest count as none.
    """
    held, released = list(constraints), 0
    for _ in range(MOST_RELEASES):
        filter_ = Filter.of(A.n, held)
        solution = solve_constrained(A, b, filter_, work, solver, tolerance, previous)
        previous = solution.prepared
        kept, dropped = _without_pulling(held, solution.impulse, tolerance)
        if not solution.linear.outcome.ok or dropped == 0:
            break
        held, released = kept, released + dropped
    return dataclasses.replace(solution, released=released)


def _without_pulling(
    held: Sequence[Constraint], impulse: Floats, tolerance: float
) -> tuple[list[Constraint], int]:
    """The constraints without vertices that are pulled, and how many those are."""
    kept, dropped = [], 0
    largest = float(np.abs(impulse).max(initial=0.0))
    for c in held:
        push = impulse[c.vertices] @ c.normal
        stays = (push >= -tolerance * largest) if c.one_sided else np.ones(len(push), dtype=bool)
        dropped += int((~stays).sum())
        if stays.any():
            kept.append(c.of(stays))
    return kept, dropped
